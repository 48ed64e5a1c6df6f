/* Memory that a model holds, array by array, with the unused capacity of growing ones.
 *
 * Parameters of forces, motions and the integrator are not counted: they come from the C library
 * and are small.
 */
#include "force/force.h"
#include "model/build.h"
#include "model/part.h"

#include <string.h>

static size_t count_vertices(const HkModel *m) {
  size_t capacity = (size_t)m->capacity.vertices, n = (size_t)m->n;
  size_t bytes = capacity * (3 * sizeof *m->x0 + 3 * sizeof *m->v0 + sizeof *m->mass);
  return bytes + (n + 1) * sizeof *m->adj_start;
}

static size_t count_springs(const HkModel *m) {
  size_t one = sizeof *m->springs.i + sizeof *m->springs.j + sizeof *m->springs.k +
               sizeof *m->springs.l0 + sizeof *m->springs.kind;
  size_t neighbor = sizeof *m->adj_vertex + sizeof *m->adj_spring;
  if (m->springs.damping) one += sizeof *m->springs.damping;
  if (m->springs.tension) one += sizeof *m->springs.tension;
  return (size_t)m->capacity.springs * one + 2 * (size_t)m->springs.count * neighbor;
}

static size_t count_face_lists(const HkModel *m) {
  if (!m->face_start) return 0;
  return (size_t)(m->n + 1) * sizeof *m->face_start +
         (size_t)m->face_count * 3 * sizeof *m->face_at;
}

static size_t count_forces(const HkModel *m) {
  size_t bytes = (size_t)m->force_count * sizeof *m->forces;
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].data && m->forces[f].type->bytes)
      bytes += m->forces[f].type->bytes(m->forces[f].data);
  return bytes;
}

static size_t count_cells(const HkModel *m) {
  size_t bytes = (size_t)m->capacity.cells * (sizeof *m->cell_type + sizeof *m->cell_start);
  bytes += (size_t)m->capacity.corners * sizeof *m->cell_vertex;
  bytes += (size_t)m->capacity.faces * 3 * sizeof *m->face;
  return bytes + count_face_lists(m);
}

static size_t count_parts(const HkModel *m) {
  size_t bytes = (size_t)m->body_count * sizeof *m->bodies;
  if (m->folder) bytes += strlen(m->folder) + 1;
  for (int k = 0; k < m->body_count; k++)
    bytes += strlen(m->bodies[k].name) + 1 + hk_mesh_bytes(m->bodies[k].names);
  bytes += (size_t)m->probe_count * sizeof *m->probes;
  for (int k = 0; k < m->probe_count; k++)
    bytes += strlen(m->probes[k].name) + 1 + (size_t)m->probes[k].count * sizeof(int32_t);
  bytes += count_forces(m) + (size_t)m->motion_count * sizeof *m->motions;
  bytes += hk_obstacles_bytes(m) + (size_t)m->pair_count * sizeof *m->pairs;
  return bytes + (size_t)m->pin_count * (sizeof *m->pin_vertex + sizeof *m->pin_motion);
}

/* What a copy does not share with its origin (copy.c). */
static size_t count_copy(const HkModel *m) {
  size_t bytes = (size_t)m->n * sizeof *m->mass + (size_t)m->springs.count * sizeof *m->springs.k;
  bytes += (size_t)m->obstacle_count * sizeof *m->obstacles;
  bytes += (size_t)m->motion_count * sizeof *m->motions + count_forces(m);
  if (m->face_start != m->origin->face_start) bytes += count_face_lists(m);
  return sizeof *m + bytes;
}

size_t hk_model_bytes(const HkModel *m) {
  if (m->origin) return count_copy(m);
  return sizeof *m + count_vertices(m) + count_springs(m) + count_cells(m) + count_parts(m) +
         hk_part_bytes(m);
}
