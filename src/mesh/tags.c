/* Tags of vertices; see tags.h. */
#include "mesh/tags.h"

/* Returns the slot of a tag, or the free slot for it. */
static uint64_t slot_of(const HkTags *t, int64_t tag) {
  uint64_t h = (uint64_t)tag * 0x9e3779b97f4a7c15ull;
  uint64_t slot = (h ^ h >> 32) & (t->slots - 1);
  while (t->vertices[slot] != 0 && t->keys[slot] != tag) slot = (slot + 1) & (t->slots - 1);
  return slot;
}

static void enter(HkTags *t, int64_t tag, int64_t vertex) {
  uint64_t slot = slot_of(t, tag);
  t->keys[slot] = tag;
  t->vertices[slot] = (int32_t)vertex + 1;
}

/* Doubles the number of slots, or allocates the first ones, and inserts all tags again. */
static HkStatus rehash(const HkContext *context, HkTags *t, HkError *error) {
  HkTags new = {.first = t->first, .count = t->count, .slots = 64};
  while (new.slots < 4 * (uint64_t)t->count) new.slots *= 2;
  HkStatus status = hk_alloc(context, &new.keys, (int64_t) new.slots, sizeof *new.keys,
                             "the numbers of the vertices", error);
  if (status >= 0)
    status = hk_alloc(context, &new.vertices, (int64_t) new.slots, sizeof *new.vertices,
                      "the numbers of the vertices", error);
  if (status < 0) {
    hk_free(context, &new.keys);
    return status;
  }
  if (t->slots == 0)
    for (int64_t v = 0; v < t->count; v++) enter(&new, t->first + v, v);
  for (uint64_t s = 0; s < t->slots; s++)
    if (t->vertices[s]) enter(&new, t->keys[s], t->vertices[s] - 1);
  hk_tags_clear(context, t);
  *t = new;
  return HK_OK;
}

HkStatus hk_tags_add(const HkContext *context, HkTags *t, int64_t tag, bool *repeated,
                     HkError *error) {
  if (t->count == 0) t->first = tag;
  *repeated = hk_tags_find(t, tag) >= 0;
  if (*repeated) return HK_OK;
  bool in_order = t->slots == 0 && tag - t->first == t->count;
  if (!in_order && 2 * ((uint64_t)t->count + 1) > t->slots) HK_TRY(rehash(context, t, error));
  if (t->slots) enter(t, tag, t->count);
  t->count++;
  return HK_OK;
}

int32_t hk_tags_find(const HkTags *t, int64_t tag) {
  if (t->slots) return t->vertices[slot_of(t, tag)] - 1;
  /* Tags have 18 digits at most, so that differences do not overflow. */
  return tag >= t->first && tag - t->first < t->count ? (int32_t)(tag - t->first) : -1;
}

void hk_tags_clear(const HkContext *context, HkTags *t) {
  hk_free(context, &t->keys);
  hk_free(context, &t->vertices);
  *t = (HkTags){0};
}
