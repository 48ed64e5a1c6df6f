/* Ownership within a scene; see store.h. */
#include "scene/store.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Appends a pointer to a list; false without memory. */
static bool append(void ***list, int *count, int *capacity, void *item) {
  if (*count == *capacity) {
    int more = *capacity ? 2 * *capacity : 8;
    void **grown = realloc(*list, (size_t)more * sizeof *grown);
    if (!grown) return false;
    *list = grown;
    *capacity = more;
  }
  (*list)[(*count)++] = item;
  return true;
}

HkStatus hk_store_block(HkScene *scene, void *block, HkError *error) {
  struct HkSceneStore *s = scene->store;
  if (!block || append(&s->blocks, &s->block_count, &s->block_capacity, block)) return HK_OK;
  free(block);
  return hk_fail_memory(error, sizeof(void *), "a scene");
}

HkStatus hk_store_mesh(HkScene *scene, HkMesh *mesh, HkError *error) {
  struct HkSceneStore *s = scene->store;
  if (!mesh || append(&s->meshes, &s->mesh_count, &s->mesh_capacity, mesh)) return HK_OK;
  hk_mesh_destroy(&mesh);
  return hk_fail_memory(error, sizeof(void *), "a scene");
}

HkStatus hk_store_params(HkScene *scene, const HkSchema *schema, void *params, HkError *error) {
  HkStatus status = HK_OK;
  for (int k = 0; k < schema->param_count; k++) {
    const HkParam *p = &schema->params[k];
    void *at = (char *)params + p->offset;
    void *blocks[3] = {0};
    if (p->kind == HK_PARAM_TEXT) {
      blocks[0] = *(char **)at;
    } else if (p->kind == HK_PARAM_TABLE) {
      blocks[0] = ((HkTable *)at)->values;
    } else if (p->kind == HK_PARAM_SELECT) {
      HkSelect *select = at;
      blocks[0] = (char *)select->body;
      blocks[1] = (char *)select->set;
      blocks[2] = select->indices;
    }
    HkStatus stored = HK_OK;
    for (int b = 0; b < 3; b++) {
      HkStatus one = hk_store_block(scene, blocks[b], error);
      if (one < 0) stored = one;
    }
    if (stored >= 0) continue;
    status = stored;
    if (p->kind == HK_PARAM_TEXT) *(char **)at = NULL;
    if (p->kind == HK_PARAM_TABLE) *(HkTable *)at = (HkTable){0};
    if (p->kind == HK_PARAM_SELECT) *(HkSelect *)at = (HkSelect){0};
  }
  return status;
}

void hk_store_destroy(struct HkSceneStore *store) {
  if (!store) return;
  for (int k = 0; k < store->block_count; k++) free(store->blocks[k]);
  for (int k = 0; k < store->mesh_count; k++) hk_mesh_destroy(&(HkMesh *){store->meshes[k]});
  free(store->blocks);
  free(store->meshes);
  free(store);
}
