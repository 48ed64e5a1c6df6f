# Writes OUTPUT, a C file with all files of FOLDER, as the table of src/report/page.h. Run with cmake -P
# while building.

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

file(WRITE "${OUTPUT}" "/* The page of a report, from web/report/ by cmake/embed_report.cmake. */\n"
  "#include \"report/page.h\"\n\n#include <stddef.h>\n\n${arrays}"
  "const HkPageFile hk_page_files[] = {\n${table}    {NULL, NULL}};\n")
