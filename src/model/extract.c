/* The part of one rank, taken out of a model; see part.h.
 *
 * A part has the vertices that the rank owns, the springs and faces with at least one of them, the
 * cells whose first vertex is one of them, and as ghosts all other vertices of such springs, faces
 * and cells. Everything keeps its order.
 */
#include "model/part.h"

#include <string.h>

typedef struct Extract {
  HkModel *source;
  const int32_t *owner;  /* of each vertex of the source */
  const int64_t *number; /* NULL: vertices of the source have their own numbers, and it is kept */
  int rank;
  int32_t *map; /* vertex of the source -> vertex of the part, or -1 */
  HkModel *model;
} Extract;

/* Frees an array of a source that is not kept, given by the address of its pointer. */
static void release(const Extract *e, void *array) {
  if (e->number) hk_free(&e->source->context, array);
}

static bool owns(const Extract *e, int32_t vertex) {
  return e->owner[vertex] == e->rank;
}

static bool owns_any(const Extract *e, const int32_t *vertices, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (owns(e, vertices[k])) return true;
  return false;
}

/* ---- Vertices ---- */

static void mark(const Extract *e, const int32_t *vertices, int64_t count) {
  for (int64_t k = 0; k < count; k++) e->map[vertices[k]] = 1;
}

/* map becomes 1 for the vertices of the part, else 0. */
static void mark_vertices(const Extract *e) {
  const HkModel *s = e->source;
  for (int64_t i = 0; i < s->n; i++) e->map[i] = owns(e, (int32_t)i);
  for (int64_t k = 0; k < s->springs.count; k++) {
    int32_t ends[2] = {s->springs.i[k], s->springs.j[k]};
    if (owns_any(e, ends, 2)) mark(e, ends, 2);
  }
  for (int64_t f = 0; f < s->face_count; f++)
    if (owns_any(e, s->face + 3 * f, 3)) mark(e, s->face + 3 * f, 3);
  for (int64_t c = 0; c < s->cell_count; c++) {
    int64_t count = s->cell_start[c + 1] - s->cell_start[c];
    const int32_t *corner = s->cell_vertex + s->cell_start[c];
    if (count > 0 && owns(e, corner[0])) mark(e, corner, count);
  }
}

/* Marks become vertices of the part. */
static void number_vertices(const Extract *e) {
  HkModel *m = e->model;
  for (int64_t i = 0; i < e->source->n; i++) {
    bool taken = e->map[i] != 0;
    e->map[i] = taken ? (int32_t)m->n++ : -1;
    m->part->owned += taken && owns(e, (int32_t)i);
  }
  m->part->ghost_count = m->n - m->part->owned;
}

/* *to (of m) becomes the rows of `from` (of the source) that the vertices of the part have. */
static HkStatus take_rows(const Extract *e, double **from, int width, double **to, HkError *error) {
  const HkModel *m = e->model;
  size_t bytes = (size_t)width * sizeof **to;
  HK_TRY(hk_alloc(&m->context, to, m->n + 1, bytes, "vertices", error)); /* HK_PAD */
  for (int64_t i = 0; i < e->source->n; i++)
    if (e->map[i] >= 0) memcpy(*to + width * (int64_t)e->map[i], *from + width * i, bytes);
  release(e, from);
  return HK_OK;
}

static HkStatus take_vertices(const Extract *e, int32_t **ghost_rank, HkError *error) {
  HkModel *s = e->source, *m = e->model;
  HkPart *p = m->part;
  const HkContext *c = &m->context;
  m->capacity.vertices = m->n + 1; /* kernels load four numbers at the last vertex: HK_PAD */
  HK_TRY(take_rows(e, &s->x0, 3, &m->x0, error));
  HK_TRY(take_rows(e, &s->v0, 3, &m->v0, error));
  HK_TRY(take_rows(e, &s->mass, 1, &m->mass, error));
  HK_TRY(hk_alloc(c, &p->number, m->n, sizeof *p->number, "vertices", error));
  HK_TRY(hk_alloc(c, &p->ghost, m->n, sizeof *p->ghost, "vertices", error));
  HK_TRY(hk_alloc(c, ghost_rank, p->ghost_count, sizeof **ghost_rank, "ghosts", error));
  for (int64_t i = 0, q = 0; i < s->n; i++) {
    int64_t to = e->map[i];
    if (to < 0) continue;
    p->number[to] = e->number ? e->number[i] : i;
    p->ghost[to] = !owns(e, (int32_t)i);
    if (p->ghost[to]) (*ghost_rank)[q++] = e->owner[i];
  }
  return HK_OK;
}

/* ---- Springs, faces, cells ---- */

static bool takes_spring(const Extract *e, int64_t spring) {
  const HkSpringArrays *s = &e->source->springs;
  return owns(e, s->i[spring]) || owns(e, s->j[spring]);
}

/* The array of the part whose pointer is at `to` becomes the values of the taken springs of that at
 * `from` in the source, and has `capacity` entries. */
static HkStatus take_values(const Extract *e, void *from, size_t size, int64_t capacity, void *to,
                            HkError *error) {
  const char *values;
  char *taken;
  HK_TRY(hk_alloc(&e->model->context, to, capacity, size, "springs", error));
  memcpy(&values, from, sizeof values);
  memcpy(&taken, to, sizeof taken);
  for (int64_t k = 0; k < e->source->springs.count; k++) {
    if (!takes_spring(e, k)) continue;
    memcpy(taken, values + (size_t)k * size, size);
    taken += size;
  }
  release(e, from);
  return HK_OK;
}

static HkStatus take_ends(const Extract *e, HkError *error) {
  HkSpringArrays *from = &e->source->springs, *to = &e->model->springs;
  const HkContext *c = &e->model->context;
  HK_TRY(hk_alloc(c, &to->i, to->count, sizeof *to->i, "springs", error));
  HK_TRY(hk_alloc(c, &to->j, to->count, sizeof *to->j, "springs", error));
  for (int64_t k = 0, at = 0; k < from->count; k++) {
    if (!takes_spring(e, k)) continue;
    to->i[at] = e->map[from->i[k]];
    to->j[at++] = e->map[from->j[k]];
  }
  release(e, &from->i);
  release(e, &from->j);
  return HK_OK;
}

static HkStatus take_springs(const Extract *e, HkError *error) {
  HkSpringArrays *from = &e->source->springs, *to = &e->model->springs;
  int64_t count = 0;
  for (int64_t k = 0; k < from->count; k++) count += takes_spring(e, k);
  to->count = e->model->capacity.springs = count;
  HK_TRY(take_values(e, &from->k, sizeof *from->k, count, &to->k, error));
  HK_TRY(take_values(e, &from->l0, sizeof *from->l0, count, &to->l0, error));
  HK_TRY(take_values(e, &from->kind, sizeof *from->kind, count, &to->kind, error));
  /* Arrays with a value that no spring of this part has are there nevertheless: all ranks have to
   * agree on what springs can have. One entry at least, so that NULL still means none. */
  if (from->damping)
    HK_TRY(take_values(e, &from->damping, sizeof *from->damping, count + 1, &to->damping, error));
  if (from->tension)
    HK_TRY(take_values(e, &from->tension, sizeof *from->tension, count + 1, &to->tension, error));
  return take_ends(e, error);
}

static HkStatus take_faces(const Extract *e, HkError *error) {
  const HkModel *s = e->source;
  HkModel *m = e->model;
  int64_t count = 0;
  for (int64_t f = 0; f < s->face_count; f++) count += owns_any(e, s->face + 3 * f, 3);
  HK_TRY(hk_alloc(&m->context, &m->face, 3 * count, sizeof *m->face, "faces", error));
  m->capacity.faces = count;
  for (int64_t f = 0; f < s->face_count; f++) {
    if (!owns_any(e, s->face + 3 * f, 3)) continue;
    for (int k = 0; k < 3; k++) m->face[3 * m->face_count + k] = e->map[s->face[3 * f + k]];
    m->face_count++;
  }
  release(e, &e->source->face);
  return HK_OK;
}

static HkStatus take_cells(const Extract *e, HkError *error) {
  const HkModel *s = e->source;
  const HkContext *c = &e->model->context;
  HkModel *m = e->model;
  int64_t cells = 0, corners = 0;
  for (int64_t k = 0; k < s->cell_count; k++) {
    int64_t count = s->cell_start[k + 1] - s->cell_start[k];
    if (count == 0 || !owns(e, s->cell_vertex[s->cell_start[k]])) continue;
    cells++;
    corners += count;
  }
  HK_TRY(hk_alloc(c, &m->cell_type, cells + 1, sizeof *m->cell_type, "cells", error));
  HK_TRY(hk_alloc(c, &m->cell_start, cells + 1, sizeof *m->cell_start, "cells", error));
  HK_TRY(hk_alloc(c, &m->cell_vertex, corners, sizeof *m->cell_vertex, "cells", error));
  m->capacity.cells = cells + 1;
  m->capacity.corners = corners;
  for (int64_t k = 0, used = 0; k < s->cell_count; k++) {
    int64_t begin = s->cell_start[k], end = s->cell_start[k + 1];
    if (begin == end || !owns(e, s->cell_vertex[begin])) continue;
    m->cell_type[m->cell_count] = s->cell_type[k];
    for (int64_t q = begin; q < end; q++) m->cell_vertex[used++] = e->map[s->cell_vertex[q]];
    m->cell_start[++m->cell_count] = used;
  }
  release(e, &e->source->cell_type);
  release(e, &e->source->cell_start);
  release(e, &e->source->cell_vertex);
  return HK_OK;
}

/* ---- Bodies ---- */

/* The vertex sets of a body, as far as its vertices are in the part. */
static HkStatus take_sets(const Extract *e, const HkBodyRange *from, HkBodyRange *to,
                          HkError *error) {
  to->names->vertex_count = to->count;
  for (int64_t s = 0; s < from->names->set_count; s++) {
    const HkVertexSet *set = &from->names->sets[s];
    HK_TRY(hk_mesh_add_set(to->names, set->name, NULL, 0, error));
    for (int64_t k = 0; k < set->count; k++) {
      int32_t vertex = e->map[from->first + set->vertices[k]];
      if (vertex < 0) continue;
      vertex -= (int32_t)to->first;
      HK_TRY(hk_mesh_add_set(to->names, set->name, &vertex, 1, error));
    }
  }
  return HK_OK;
}

static HkStatus take_bodies(const Extract *e, HkError *error) {
  const HkModel *s = e->source;
  HkModel *m = e->model;
  const HkContext *c = &m->context;
  HK_TRY(hk_alloc(c, &m->bodies, s->body_count, sizeof *m->bodies, "bodies", error));
  int64_t vertex = 0;
  for (int b = 0; b < s->body_count; b++) {
    const HkBodyRange *from = &s->bodies[b];
    HkBodyRange *to = &m->bodies[m->body_count++];
    *to = (HkBodyRange){
        .contact = from->contact, .first_number = from->first_number, .total = from->total};
    to->first = vertex;
    for (int64_t i = from->first; i < from->first + from->count; i++) vertex += e->map[i] >= 0;
    to->count = vertex - to->first;
    size_t bytes = strlen(from->name) + 1;
    HK_TRY(hk_alloc(c, &to->name, (int64_t)bytes, 1, "a name", error));
    memcpy(to->name, from->name, bytes);
    HK_TRY(hk_mesh_create(c, &to->names, error));
    if (e->number) HK_TRY(take_sets(e, from, to, error));
  }
  return HK_OK;
}

HkStatus hk_part_extract(HkModel *source, const int32_t *owner, const int64_t *number, int rank,
                         HkModel *model, int32_t **ghost_rank, HkError *error) {
  Extract e = {.source = source, .owner = owner, .number = number, .rank = rank, .model = model};
  HK_TRY(hk_alloc(&model->context, &e.map, source->n, sizeof *e.map, "a part", error));
  mark_vertices(&e);
  number_vertices(&e);
  HkStatus status = take_springs(&e, error);
  if (status >= 0) status = take_vertices(&e, ghost_rank, error);
  if (status >= 0) status = take_faces(&e, error);
  if (status >= 0) status = take_cells(&e, error);
  if (status >= 0) status = take_bodies(&e, error);
  hk_free(&model->context, &e.map);
  return status;
}
