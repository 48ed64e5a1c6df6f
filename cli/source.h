/* Reads a scene from a file, or the built-in scene of that name. */
#ifndef HOOKE_CLI_SOURCE_H
#define HOOKE_CLI_SOURCE_H

#include "hooke/hooke.h"
#include "options.h"

/* The option of all commands that compile a scene, for a field bool libraries of S. 'hooke view'
 * has none: a page never loads machine code. */
#define OPTION_LIBRARIES(S)                                                                        \
  OPTION_FLAG(S, libraries, 0, "--libraries",                                                      \
              "allow the scene to load forces from shared libraries, whose code runs with all "    \
              "your rights")

/* Reads a scene; a file wins over a built-in scene of the same name. */
HkStatus source_read(const HkContext *context, const char *name, const TextList *sets,
                     HkScene **scene, HkError *error);
/* Fills the error that neither a file nor a built-in scene has this name, with the built-in scene
 * that was probably meant. */
HkStatus source_missing(const char *name, HkError *error);
/* Text of a built-in scene, or NULL. */
const char *source_builtin(const char *name);
/* Returns the built-in scene with the most similar name, or NULL. */
const char *source_nearest(const char *name);
/* Returns whether the ending is that of a mesh format. */
bool source_is_mesh(const char *path);
/* Writes "flag" for "dir/flag.json" into stem. */
void source_stem(const char *path, char *stem, size_t size);

#endif
