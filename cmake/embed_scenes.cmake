# Writes OUTPUT, a C file with the scenes FOLDER/name.json, whose names stand line by line in the file
# LIST, as the table of src/scene/builtin.h. Run with cmake -P while building.
#
# The texts are arrays of numbers: a C compiler need not take string literals over 4095 characters.

file(STRINGS "${LIST}" names)
set(arrays "")
set(table "")
set(count 0)
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}.json" bytes HEX)
  # 24 bytes a line: two digits each.
  string(REGEX REPLACE "(................................................)" "\\1\n    " bytes
    "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char scene_${count}[] = { /* ${name} */\n"
    "    ${bytes}0};\n\n")
  file(READ "${FOLDER}/${name}.json" text)
  string(REGEX MATCH "\"title\": \"([^\"]*)\"" found "${text}")
  if(NOT found)
    message(FATAL_ERROR "scenes/${name}.json has no line \"title\": \"one sentence\"")
  endif()
  string(APPEND table
    "    {\"${name}\", \"${CMAKE_MATCH_1}\", (const char *)scene_${count}},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE "${OUTPUT}" "/* The built-in scenes, from scenes/ by cmake/embed_scenes.cmake. */\n"
  "#include \"scene/builtin.h\"\n\n#include <stddef.h>\n\n${arrays}"
  "const HkBuiltinScene hk_builtin_scenes[] = {\n${table}    {NULL, NULL, NULL}};\n\n"
  "const int hk_builtin_scene_count = ${count};\n")
