/* From the numbers that a file gives its vertices, in any order and with gaps, to vertices. */
#ifndef HK_MESH_TAGS_H
#define HK_MESH_TAGS_H

#include "mesh/mesh.h"

/* Start with {0}. While the tags come one after the other nothing is stored; else they are hashed,
 * open addressing, at most half full. */
typedef struct HkTags {
  int64_t first, count; /* the tag of vertex 0, and how many tags there are */
  int64_t *keys;
  int32_t *vertices; /* plus 1; 0: the slot is free */
  uint64_t slots;    /* 0: first .. first + count - 1 in order */
} HkTags;

/* Gives the next vertex (0, 1, 2 ...) a tag; *repeated says that another one has it. */
HkStatus hk_tags_add(const HkContext *context, HkTags *tags, int64_t tag, bool *repeated,
                     HkError *error);
/* The vertex of a tag, or -1. */
int32_t hk_tags_find(const HkTags *tags, int64_t tag);
void hk_tags_clear(const HkContext *context, HkTags *tags);

#endif
