/* Faces with normals; see surface.h.
 *
 * The normal at a corner of a face is the mean, weighted by area, of the normals of those faces
 * around the vertex that are of its group. Groups are made at the start of the motion: a face joins
 * the first group whose first face it is within 60 degrees of. So cloth looks smooth however it
 * folds, and the edges of a block stay sharp. Faces may have either orientation; within a group the
 * normals of faces with the opposite orientation to the first are reversed.
 */
#include "surface.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float CREASE = 0.5F; /* cosine of 60 degrees */

/* A group is an index and, in the highest bit, whether the normal is reversed. */
enum { MAX_GROUP = 127, GROUP_TURNED = 128 };

/* ---- Creating -------------------------------------------------------------------------------- */

/* Lists the corners around each vertex by a counting sort. */
static bool find_around(Surface *s) {
  int32_t *placed = calloc((size_t)s->vertices + 1, sizeof *placed);
  if (!placed) return false;
  for (int64_t q = 0; q < 3 * s->face_count; q++) s->around_start[s->face[q] + 1]++;
  for (int64_t q = 0; q < s->vertices; q++) s->around_start[q + 1] += s->around_start[q];
  for (int64_t q = 0; q < 3 * s->face_count; q++) {
    int32_t vertex = s->face[q];
    s->around[s->around_start[vertex] + placed[vertex]++] = (int32_t)q;
  }
  free(placed);
  return true;
}

static float cosine(const Surface *s, int64_t a, int64_t b) {
  const float *m = s->normal + 4 * a, *n = s->normal + 4 * b;
  return m[0] * n[0] + m[1] * n[1] + m[2] * n[2];
}

static void group_corners(Surface *s, int64_t vertex) {
  int32_t first[MAX_GROUP]; /* face of each group */
  int count = 0;
  for (int64_t q = s->around_start[vertex]; q < s->around_start[vertex + 1]; q++) {
    int32_t corner = s->around[q], face = corner / 3;
    int group = 0;
    while (group < count && fabsf(cosine(s, face, first[group])) < CREASE) group++;
    if (group == MAX_GROUP) group = 0; /* more folds than are visible */
    if (group == count) first[count++] = face;
    bool turned = cosine(s, face, first[group]) < 0;
    s->group[corner] = (uint8_t)(group | (turned ? GROUP_TURNED : 0));
  }
}

static HkStatus group_all(const HkModel *model, Surface *s, HkError *error) {
  HkState *start;
  HkStatus status = hk_state_create(model, &start, error);
  if (status < 0) return status;
  float *x = calloc((size_t)s->vertices + 1, 3 * sizeof *x);
  for (int64_t q = 0; q < 3 * s->vertices && x; q++) x[q] = (float)hk_state_x(start)[q];
  if (x) surface_pose(s, x);
  for (int64_t q = 0; q < s->vertices && x; q++) group_corners(s, q);
  if (!x) status = text_fail(error, HK_ERROR_MEMORY, "no memory for drawing");
  hk_state_destroy(&start);
  free(x);
  return status;
}

HkStatus surface_create(const HkModel *model, Surface *s, HkError *error) {
  *s = (Surface){.vertices = hk_model_info(model).vertices};
  s->face = hk_model_faces(model, &s->face_count);
  size_t faces = (size_t)s->face_count + 1;
  s->around_start = calloc((size_t)s->vertices + 1, sizeof *s->around_start);
  s->around = calloc(faces, 3 * sizeof *s->around);
  s->group = calloc(faces, 3 * sizeof *s->group);
  s->normal = calloc(faces, 4 * sizeof *s->normal);
  bool good = s->around_start && s->around && s->group && s->normal && find_around(s);
  HkStatus status = good ? HK_OK
                         : text_fail(error, HK_ERROR_MEMORY, "no memory for drawing %s faces",
                                     text_count(s->face_count).c);
  if (good && s->face_count > 0) status = group_all(model, s, error);
  if (status < 0) surface_destroy(s);
  return status;
}

void surface_destroy(Surface *s) {
  free(s->around_start);
  free(s->around);
  free(s->group);
  free(s->normal);
  *s = (Surface){0};
}

/* ---- Normals --------------------------------------------------------------------------------- */

void surface_pose(Surface *s, const float *x) {
  for (int64_t q = 0; q < s->face_count; q++) {
    const int32_t *corner = s->face + 3 * q;
    const float *a = x + 3 * (int64_t)corner[0], *b = x + 3 * (int64_t)corner[1],
                *c = x + 3 * (int64_t)corner[2];
    float *n = s->normal + 4 * q, u[3], v[3];
    for (int k = 0; k < 3; k++) {
      u[k] = b[k] - a[k];
      v[k] = c[k] - a[k];
    }
    for (int k = 0; k < 3; k++)
      n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    n[3] = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3 && n[3] > 0; k++) n[k] /= n[3];
  }
}

void surface_normal(const Surface *s, int64_t corner, float sum[3]) {
  int64_t vertex = s->face[corner];
  memset(sum, 0, 3 * sizeof *sum);
  for (int64_t q = s->around_start[vertex]; q < s->around_start[vertex + 1]; q++) {
    unsigned differs = s->group[s->around[q]] ^ s->group[corner];
    const float *n = s->normal + 4 * (int64_t)(s->around[q] / 3);
    if (differs & MAX_GROUP) continue;
    float weight = differs ? -n[3] : n[3];
    for (int k = 0; k < 3; k++) sum[k] += weight * n[k];
  }
}

bool surface_has(const Surface *s, int64_t vertex) {
  return s->around_start[vertex + 1] > s->around_start[vertex];
}
