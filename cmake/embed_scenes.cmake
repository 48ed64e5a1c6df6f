# Writes OUTPUT, a C file with the scenes FOLDER/name.json, whose names stand line by line in the file
# LIST, as the table of src/scene/builtin.h. Run with cmake -P while building.

include(${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)
file(STRINGS "${LIST}" names)
set(arrays "")
set(table "")
set(count 0)
foreach(name IN LISTS names)
  embed_bytes("${FOLDER}/${name}.json" scene_${count} ${name} arrays)
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
