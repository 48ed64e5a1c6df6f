/* The cells that an output draws, and the springs along their edges.
 *
 * Lines come first, then faces, then solids, each in the order of the model. The faces of a body
 * are the triangles, quads and polygons of its mesh; a solid body without faces can be drawn by its
 * boundary, the triangles that the model keeps for drawing.
 */
#ifndef HK_OUTPUT_DRAWN_H
#define HK_OUTPUT_DRAWN_H

#include "model/model.h"

enum { HK_DRAW_LINES = 1, HK_DRAW_FACES = 2, HK_DRAW_BOUNDARY = 4, HK_DRAW_SOLIDS = 8 };

typedef struct HkDrawn {
  const HkModel *model;
  int64_t *item; /* number of the cell, or -1 - number of the triangle */
  int64_t count, line_count, face_count, solid_count;
  int64_t corners; /* of all of them */
} HkDrawn;

/* Selects cells of the kinds in `what`, a sum of HK_DRAW_*; on ranks those whose first vertex the
 * rank owns, and all ranks call it together. */
HkStatus hk_drawn_create(const HkContext *context, const HkModel *model, unsigned what, HkDrawn *d,
                         HkError *error);
void hk_drawn_destroy(const HkContext *context, HkDrawn *d);

static inline HkCell hk_drawn_cell(const HkDrawn *d, int64_t q) {
  const HkModel *m = d->model;
  int64_t c = d->item[q];
  if (c < 0) return (HkCell){HK_CELL_TRIANGLE, 3, m->face + 3 * (-1 - c)};
  int64_t start = m->cell_start[c];
  return (HkCell){(HkCellType)m->cell_type[c], (int)(m->cell_start[c + 1] - start),
                  m->cell_vertex + start};
}

/* A spring between two ghosts of a part, which the part does not have. */
typedef struct HkFarSpring {
  int32_t i, j;
  double l0; /* m */
} HkFarSpring;

/* Springs along the edges of drawn cell q: spring[start[q] .. start[q + 1] - 1]. A number of at
 * least that of the part's springs is the one of a far spring behind them. */
typedef struct HkEdgeSprings {
  int64_t *start;
  int32_t *spring;
  HkFarSpring *far;
  int64_t far_count;
} HkEdgeSprings;

/* Ranks call it together. */
HkStatus hk_edge_springs_create(const HkContext *context, const HkDrawn *d, HkEdgeSprings *e,
                                HkError *error);
/* far_springs.c: sets l0 of far springs to those of their owners, -1 where there is no spring.
 * Collective. */
HkStatus hk_far_springs_ask(const HkModel *model, HkFarSpring *far, int64_t count, HkError *error);
/* Returns the spring between two vertices of a model, or -1. */
int32_t hk_model_find_spring(const HkModel *model, int32_t a, int32_t b);
/* The strains of far springs follow those of the model's springs. */
void hk_edge_springs_strains(const HkModel *model, const HkEdgeSprings *e, const double *x,
                             double *strain);
void hk_edge_springs_destroy(const HkContext *context, HkEdgeSprings *e);

/* Returns the mean strain of the springs along the cell's edges, 0 if there are none. */
static inline double hk_edge_strain(const HkEdgeSprings *e, int64_t q, const double *strain) {
  double sum = 0;
  int64_t begin = e->start[q], end = e->start[q + 1];
  for (int64_t p = begin; p < end; p++) sum += strain[e->spring[p]];
  return end > begin ? sum / (double)(end - begin) : 0;
}

#endif
