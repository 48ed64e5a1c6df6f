/* Pairs of vertices that resist bending. */
#ifndef HK_MESH_BENDING_H
#define HK_MESH_BENDING_H

#include "mesh/mesh.h"

typedef struct HkBending {
  int32_t *pairs; /* 2 a pair, with repetitions */
  int64_t count, capacity;
} HkBending;

HkStatus hk_bending_create(const HkMesh *mesh, HkBending *bending, HkError *error);
void hk_bending_destroy(const HkContext *context, HkBending *bending);

#endif
