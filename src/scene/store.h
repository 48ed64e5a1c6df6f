/* What a scene owns, and the text that it was read from.
 *
 * The structs of a scene are edited freely: a caller may assign a pointer of its own to any field.
 * So a scene never frees what a field points to; it frees the blocks and meshes listed here, which
 * are those that it made itself. */
#ifndef HK_SCENE_STORE_H
#define HK_SCENE_STORE_H

#include "base/schema.h"

struct HkSceneStore {
  void **blocks; /* strings, tables, lists of indices, from malloc */
  int block_count, block_capacity;
  void **meshes; /* HkMesh */
  int mesh_count, mesh_capacity;
  /* Where the scene was read from, for error messages; NULL if it was made in C. */
  const char *name, *text;
  const char *root;  /* the key that holds the scene in the text; NULL: none */
  const char **sets; /* assignments PATH=VALUE that changed the text before it was read */
  int set_count;
  bool is_course_format; /* errors name the keys of {"obj", "b", "k", "m"}, vertices from 1 */
};

/* Appends a block from malloc, or a mesh, to those that the scene frees; it is released after an
 * error. NULL: nothing. */
HkStatus hk_store_block(HkScene *scene, void *block, HkError *error);
HkStatus hk_store_mesh(HkScene *scene, HkMesh *mesh, HkError *error);

/* Appends the strings, tables and lists that the parameters of a part point to. Those that could
 * not be appended are released and their parameters set to 0. */
HkStatus hk_store_params(HkScene *scene, const HkSchema *schema, void *params, HkError *error);

/* Releases all that is listed. */
void hk_store_destroy(struct HkSceneStore *store);

#endif
