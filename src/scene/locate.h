/* Places in a JSON text, for error messages about values that jansson has already parsed. */
#ifndef HK_SCENE_LOCATE_H
#define HK_SCENE_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces // and slash-star comments by spaces, so that lines and columns stay. */
void hk_blank_comments(char *text, size_t size);

/* Line and column (from 1) of the value at a path such as bodies[0].springs.k, or of the key of
 * that name in it unless key is NULL; false if it is not in the text. An index into an object is
 * one into its "list": pins[0] is found in {"pins": {"list": [...]}} too. */
bool hk_locate(const char *text, size_t size, const char *path, const char *key, int *line,
               int *column);

#endif
