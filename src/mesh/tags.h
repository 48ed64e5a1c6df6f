/* Maps the vertex numbers of a file, in any order and with gaps, to vertices. */
#ifndef HK_MESH_TAGS_H
#define HK_MESH_TAGS_H

#include "mesh/mesh.h"

/* Starts as {0}. Consecutive tags are not stored; others are in a hash table with open addressing,
 * at most half full. */
typedef struct HkTags {
  int64_t first, count; /* the tag of vertex 0, and how many tags there are */
  int64_t *keys;
  int32_t *vertices; /* plus 1; 0: the slot is free */
  uint64_t slots;    /* 0: the tags are first .. first + count - 1, in order */
} HkTags;

/* Assigns a tag to the next vertex (0, 1, 2 ...); *repeated becomes whether another vertex has it.
 */
HkStatus hk_tags_add(const HkContext *context, HkTags *tags, int64_t tag, bool *repeated,
                     HkError *error);
/* Returns the vertex of a tag, or -1. */
int32_t hk_tags_find(const HkTags *tags, int64_t tag);
void hk_tags_clear(const HkContext *context, HkTags *tags);

#endif
