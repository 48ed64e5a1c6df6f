/* The cells that an output draws; see drawn.h. */
#include "output/drawn.h"

#include "mesh/edges.h"
#include "mesh/measure.h"
#include "model/part.h"

/* Returns HK_DRAW_* of a cell's type; 0 for points, which are drawn as vertices. */
static unsigned class_of(uint8_t type) {
  static const unsigned classes[] = {0, HK_DRAW_LINES, HK_DRAW_FACES, HK_DRAW_SOLIDS};
  return classes[hk_cell_dimension((HkCellType)type)];
}

/* Returns the body of a vertex; bodies have consecutive vertices. A model may have no bodies. */
static int64_t body_of(const HkModel *m, int64_t vertex) {
  int64_t low = 0, high = m->body_count > 0 ? m->body_count : 1;
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (m->bodies[middle].first <= vertex)
      low = middle;
    else
      high = middle;
  }
  return low;
}

typedef struct Pick {
  HkDrawn *d;
  double *has_faces; /* of each body: 1, or 0 */
  int64_t *item;     /* NULL: only count */
} Pick;

static const int32_t *cell_at(const HkModel *m, int64_t c) {
  return m->cell_vertex + m->cell_start[c];
}

/* Several parts may hold a cell; the rank that owns its first vertex draws it. */
static bool is_drawn_here(const HkModel *m, const int32_t *vertices) {
  return !hk_model_is_ghost(m, vertices[0]);
}

static int64_t pick_cells(Pick *p, unsigned class, int64_t count) {
  const HkModel *m = p->d->model;
  for (int64_t c = 0; c < m->cell_count; c++) {
    if (class_of(m->cell_type[c]) != class || !is_drawn_here(m, cell_at(m, c))) continue;
    if (p->item)
      p->item[count] = c;
    else
      p->d->corners += m->cell_start[c + 1] - m->cell_start[c];
    count++;
  }
  return count;
}

static int64_t pick_boundary(Pick *p, int64_t count) {
  const HkModel *m = p->d->model;
  for (int64_t f = 0; f < m->face_count; f++) {
    if (p->has_faces[body_of(m, m->face[3 * f])] > 0) continue;
    if (!is_drawn_here(m, m->face + 3 * f)) continue;
    if (p->item)
      p->item[count] = -1 - f;
    else
      p->d->corners += 3;
    count++;
  }
  return count;
}

/* One pass over the model: counts, and fills p->item unless it is NULL. */
static void pick(Pick *p, unsigned what) {
  HkDrawn *d = p->d;
  int64_t count = 0;
  if (what & HK_DRAW_LINES) count = pick_cells(p, HK_DRAW_LINES, count);
  d->line_count = count;
  if (what & HK_DRAW_FACES) count = pick_cells(p, HK_DRAW_FACES, count);
  if (what & HK_DRAW_BOUNDARY) count = pick_boundary(p, count);
  d->face_count = count - d->line_count;
  if (what & HK_DRAW_SOLIDS) count = pick_cells(p, HK_DRAW_SOLIDS, count);
  d->solid_count = count - d->line_count - d->face_count;
  d->count = count;
}

HkStatus hk_drawn_create(const HkContext *context, const HkModel *m, unsigned what, HkDrawn *d,
                         HkError *error) {
  Pick p = {.d = d};
  *d = (HkDrawn){.model = m};
  int64_t bodies = m->body_count > 0 ? m->body_count : 1;
  HkStatus status =
      hk_alloc(context, &p.has_faces, bodies, sizeof *p.has_faces, "cells to draw", error);
  HK_TRY(hk_model_agree(m, status, error));
  for (int64_t c = 0; c < m->cell_count; c++)
    if (class_of(m->cell_type[c]) == HK_DRAW_FACES) p.has_faces[body_of(m, cell_at(m, c)[0])] = 1;
  if (m->part) hk_ranks_most(m->part->ranks, p.has_faces, (int)bodies);
  pick(&p, what);
  status = hk_alloc(context, &d->item, d->count, sizeof *d->item, "cells to draw", error);
  p.item = d->item;
  if (status >= 0 && d->count > 0) pick(&p, what);
  hk_free(context, &p.has_faces);
  return status;
}

void hk_drawn_destroy(const HkContext *context, HkDrawn *d) {
  hk_free(context, &d->item);
  *d = (HkDrawn){0};
}

/* ---- Edges ---- */

int32_t hk_model_find_spring(const HkModel *m, int32_t a, int32_t b) {
  if (m->springs.count == 0) return -1;
  int64_t low = m->adj_start[a], high = m->adj_start[a + 1];
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (m->adj_vertex[middle] < b)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->adj_start[a + 1] && m->adj_vertex[low] == b ? m->adj_spring[low] : -1;
}

/* Lists the springs along all edges; edges between two ghosts become far springs, of which the part
 * knows nothing. With e->spring NULL it only counts those. */
static void list_edges(const HkDrawn *d, HkEdgeSprings *e) {
  const HkModel *m = d->model;
  int64_t used = 0;
  e->far_count = 0;
  for (int64_t q = 0; q < d->count; q++) {
    HkCell cell = hk_drawn_cell(d, q);
    HkEdges around = hk_cell_edges(cell);
    for (int p = 0; p < around.count; p++) {
      int32_t a, b;
      hk_edge_ends(cell, around, p, &a, &b);
      int32_t spring = hk_model_find_spring(m, a, b);
      if (spring < 0 && hk_model_is_ghost(m, a) && hk_model_is_ghost(m, b)) {
        spring = (int32_t)(m->springs.count + e->far_count++);
        if (e->far) e->far[e->far_count - 1] = (HkFarSpring){a, b, -1};
      }
      if (spring >= 0 && e->spring) e->spring[used++] = spring;
    }
    if (e->start) e->start[q + 1] = used;
  }
}

/* Leaves out the far springs that do not exist. */
static void drop_missing(const HkDrawn *d, HkEdgeSprings *e) {
  int64_t count = d->model->springs.count, used = 0, begin = 0;
  for (int64_t q = 0; q < d->count; q++) {
    int64_t end = e->start[q + 1];
    for (int64_t p = begin; p < end; p++) {
      int32_t s = e->spring[p];
      if (s < count || e->far[s - count].l0 >= 0) e->spring[used++] = s;
    }
    begin = end;
    e->start[q + 1] = used;
  }
}

static HkStatus allocate_edges(const HkContext *context, const HkDrawn *d, HkEdgeSprings *e,
                               HkError *error) {
  int64_t edges = 0;
  for (int64_t q = 0; q < d->count; q++) edges += hk_cell_edges(hk_drawn_cell(d, q)).count;
  if (d->model->part) list_edges(d, e);
  if (d->model->springs.count + e->far_count > INT32_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "a part with so many springs cannot be drawn; "
                   "divide the model among more ranks");
  HK_TRY(hk_alloc(context, &e->start, d->count + 1, sizeof *e->start, "edges of cells", error));
  HK_TRY(hk_alloc(context, &e->spring, edges + 1, sizeof *e->spring, "edges of cells", error));
  if (e->far_count == 0) return HK_OK;
  return hk_alloc(context, &e->far, e->far_count, sizeof *e->far, "edges of cells", error);
}

HkStatus hk_edge_springs_create(const HkContext *context, const HkDrawn *d, HkEdgeSprings *e,
                                HkError *error) {
  *e = (HkEdgeSprings){0};
  HK_TRY(hk_model_agree(d->model, allocate_edges(context, d, e, error), error));
  list_edges(d, e);
  if (!d->model->part) return HK_OK;
  HK_TRY(hk_far_springs_ask(d->model, e->far, e->far_count, error));
  drop_missing(d, e);
  return HK_OK;
}

void hk_edge_springs_destroy(const HkContext *context, HkEdgeSprings *e) {
  hk_free(context, &e->start);
  hk_free(context, &e->spring);
  hk_free(context, &e->far);
}
