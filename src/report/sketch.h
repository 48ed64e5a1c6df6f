/* The part of a model that a report draws: all of it, or less if it is too large.
 *
 * Too many vertices: those inside of solids go first. If that is not enough, the vertices at the
 * start are sorted into the cells of a grid, each body for itself, and one vertex stands for its
 * cell; faces and springs between different cells stay, each once. Too many faces or springs: some
 * go, evenly over the model.
 */
#ifndef HK_REPORT_SKETCH_H
#define HK_REPORT_SKETCH_H

#include "model/model.h"

typedef enum HkSketchWay { HK_SKETCH_ALL, HK_SKETCH_SURFACE, HK_SKETCH_CELLS } HkSketchWay;

enum { HK_SPRING_KINDS = 4 };

typedef struct HkSketch {
  HkSketchWay way;
  int64_t n;       /* vertices that are drawn */
  int32_t *vertex; /* their numbers in the model */
  int64_t face_count;
  int32_t *face; /* three a face; from here on vertices are counted among the drawn ones */
  int64_t spring_count, kinds[HK_SPRING_KINDS]; /* in all, of each HK_SPRING_* */
  int32_t *spring;                              /* two a spring, kind after kind */
  int64_t pin_count;
  int32_t *pin;    /* drawn vertices that are pinned */
  double *release; /* s, when the pin lets go; INFINITY: never */
} HkSketch;

/* At most so many vertices, and so many bytes for faces (12 each) and springs (8 each). */
HkStatus hk_sketch_create(const HkContext *context, const HkModel *model, int64_t vertices,
                          int64_t bytes, HkSketch *sketch, HkError *error);
void hk_sketch_destroy(const HkContext *context, HkSketch *sketch);

/* Bytes of its faces, springs and pins in a report. */
static inline int64_t hk_sketch_bytes(const HkSketch *s) {
  return 12 * s->face_count + 8 * s->spring_count + 12 * s->pin_count;
}

/* cells.c: sorts the marked vertices (NULL: all) into at most `most` cells. map: the number of the
 * cell of each vertex, -1 for those not marked. */
HkStatus hk_cells_find(const HkContext *context, const HkModel *model, const uint8_t *mark,
                       int64_t most, int32_t *map, int64_t *count, HkError *error);
/* The vertex that stands for each cell: a pinned one, else the first one nearest to the middle of
 * its cell's vertices. */
HkStatus hk_cells_stand_ins(const HkContext *context, const HkModel *model, const int32_t *map,
                            int64_t count, int32_t *vertex, HkError *error);

#endif
