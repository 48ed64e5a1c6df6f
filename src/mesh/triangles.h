/* Triangles of a mesh: its faces cut into fans, or the boundary of its solids, with outward
 * normals, if it has no faces. */
#ifndef HK_MESH_TRIANGLES_H
#define HK_MESH_TRIANGLES_H

#include "mesh/mesh.h"

/* A list of triangles that grows; corner is freed with hk_free. */
typedef struct HkTriangles {
  int32_t *corner; /* 3 a triangle: the number of a vertex, plus first */
  int64_t count, capacity;
  int64_t first;
} HkTriangles;

/* Appends the triangles of a mesh, with memory of its context. */
HkStatus hk_mesh_triangles(const HkMesh *mesh, HkTriangles *triangles, HkError *error);

#endif
