# For the scripts that put files into the library.

# Appends to the variable RESULT the bytes of a file as the C array NAME, with a 0 behind them. Numbers,
# not a string: a C compiler need not take string literals over 4095 characters.
function(embed_bytes path name comment result)
  file(READ "${path}" bytes HEX)
  # 24 bytes a line: two digits each.
  string(REGEX REPLACE "(................................................)" "\\1\n    " bytes
    "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  set(${result} "${${result}}static const unsigned char ${name}[] = { /* ${comment} */\n    ${bytes}0};\n\n"
    PARENT_SCOPE)
endfunction()
