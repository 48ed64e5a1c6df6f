/* The faces of a model with normals for smooth shading. */
#ifndef HOOKE_CLI_SURFACE_H
#define HOOKE_CLI_SURFACE_H

#include "hooke/hooke.h"

/* Corners are counted over all faces: corner 3 q + k is corner k of face q. */
typedef struct Surface {
  int64_t vertices, face_count;
  const int32_t *face;   /* vertices of the corners; owned by the model */
  int64_t *around_start; /* corners at each vertex: around[around_start[vertex]] ... */
  int32_t *around;
  uint8_t *group; /* of each corner, among those at its vertex */
  float *normal;  /* of each face, then twice its area */
} Surface;

HkStatus surface_create(const HkModel *model, Surface *surface, HkError *error);
void surface_destroy(Surface *surface);
/* Sets the positions x of the vertices, three numbers each, and computes the normals. */
void surface_pose(Surface *surface, const float *x);
/* Computes the normal at a corner, which is not normalized. */
void surface_normal(const Surface *surface, int64_t corner, float normal[3]);
/* Returns whether a vertex is a corner of any face. */
bool surface_has(const Surface *surface, int64_t vertex);

#endif
