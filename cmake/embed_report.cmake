# Writes OUTPUT, a C file with all files of FOLDER and the modules of SHARED, as the table of
# src/report/page.h. Run with cmake -P while building.
#
# The modules of SHARED, which the page imports, become scripts: 'export' at the beginning of lines is
# removed. Anything else that only a module can say is an error.

include(${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)
file(GLOB names RELATIVE "${FOLDER}" "${FOLDER}/*.*")
set(arrays "")
set(table "")
set(count 0)
foreach(name IN LISTS names)
  embed_bytes("${FOLDER}/${name}" file_${count} ${name} arrays)
  string(APPEND table "    {\"${name}\", (const char *)file_${count}},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(GLOB modules RELATIVE "${SHARED}" "${SHARED}/*.js")
foreach(name IN LISTS modules)
  file(READ "${SHARED}/${name}" text)
  string(REGEX REPLACE "(^|\n)export (const|function|class) " "\\1\\2 " text "${text}")
  if(text MATCHES "(^|\n)(import|export)[^a-zA-Z]")
    message(FATAL_ERROR "${SHARED}/${name}: a shared module imports nothing, and exports by "
      "'export const', 'export function' or 'export class' at the beginning of a line")
  endif()
  if(text MATCHES "{{")
    message(FATAL_ERROR "${SHARED}/${name}: two opening braces mark what is filled in; write { {")
  endif()
  file(WRITE "${OUTPUT}.${name}" "'use strict';\n${text}")
  embed_bytes("${OUTPUT}.${name}" file_${count} ${name} arrays)
  file(REMOVE "${OUTPUT}.${name}")
  string(APPEND table "    {\"${name}\", (const char *)file_${count}},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE "${OUTPUT}" "/* The page of a report, from web/report/ and web/shared/ by cmake/embed_report.cmake. */\n"
  "#include \"report/page.h\"\n\n#include <stddef.h>\n\n${arrays}"
  "const HkPageFile hk_page_files[] = {\n${table}    {NULL, NULL}};\n")
