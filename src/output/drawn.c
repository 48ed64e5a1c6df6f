/* The cells that an output draws; see drawn.h. */
#include "output/drawn.h"

#include "mesh/edges.h"
#include "mesh/measure.h"

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
  uint8_t *has_faces; /* of each body */
  int64_t *item;      /* NULL: only count */
} Pick;

static int64_t pick_cells(Pick *p, unsigned class, int64_t count) {
  const HkModel *m = p->d->model;
  for (int64_t c = 0; c < m->cell_count; c++) {
    if (class_of(m->cell_type[c]) != class) continue;
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
    if (p->has_faces[body_of(m, m->face[3 * f])]) continue;
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
  HK_TRY(hk_alloc(context, &p.has_faces, bodies, 1, "cells to draw", error));
  for (int64_t c = 0; c < m->cell_count; c++)
    if (class_of(m->cell_type[c]) == HK_DRAW_FACES)
      p.has_faces[body_of(m, m->cell_vertex[m->cell_start[c]])] = 1;
  pick(&p, what);
  HkStatus status = hk_alloc(context, &d->item, d->count, sizeof *d->item, "cells to draw", error);
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

/* Returns the spring between two vertices, or -1. */
static int32_t find_spring(const HkModel *m, int32_t a, int32_t b) {
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

HkStatus hk_edge_springs_create(const HkContext *context, const HkDrawn *d, HkEdgeSprings *e,
                                HkError *error) {
  int64_t edges = 0, used = 0;
  *e = (HkEdgeSprings){0};
  for (int64_t q = 0; q < d->count; q++) edges += hk_cell_edges(hk_drawn_cell(d, q)).count;
  HK_TRY(hk_alloc(context, &e->start, d->count + 1, sizeof *e->start, "edges of cells", error));
  HK_TRY(hk_alloc(context, &e->spring, edges, sizeof *e->spring, "edges of cells", error));
  for (int64_t q = 0; q < d->count; q++) {
    HkCell cell = hk_drawn_cell(d, q);
    HkEdges around = hk_cell_edges(cell);
    for (int p = 0; p < around.count; p++) {
      int32_t a, b;
      hk_edge_ends(cell, around, p, &a, &b);
      int32_t spring = find_spring(d->model, a, b);
      if (spring >= 0) e->spring[used++] = spring;
    }
    e->start[q + 1] = used;
  }
  return HK_OK;
}

void hk_edge_springs_destroy(const HkContext *context, HkEdgeSprings *e) {
  hk_free(context, &e->start);
  hk_free(context, &e->spring);
}
