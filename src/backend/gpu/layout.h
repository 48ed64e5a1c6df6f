/* How a model lies in the memory of a card.
 *
 * Vertices are put into another order, by which neighbors in space are neighbors in memory
 * (order.c): 'place' is the number of a vertex there. Each vertex gathers from its own springs, so
 * that nothing is scattered and each spring stands twice. What a half spring takes decides the
 * speed. There are three ways to write its parameters. Palette: at most 31 different springs, whose
 * number shares a word with the neighbor. Lengths: one k, or one k l0, and a rest length for each.
 * Unique: k and l0 for each.
 *
 * And there are two ways to name the neighbor. Bricks (bricks.c) are at most HK_GPU_BRICK vertices
 * that a block of threads loads into its own fast memory together with their halo, the neighbors
 * outside. There the neighbor is a number of 11 bits, above the 5 of the palette, and half springs
 * are two to a word: slot s of the vertex at place q is half s % 2 of word[(s / 2) rows + q]. In
 * rows (rows.c) the neighbor is a place, 27 bits below the 5 of the palette, else 32. Slot s of
 * the vertex at place q of group g = q / 32 is word[start[g] + 32 s + q % 32].
 *
 * Bricks are the better ones from some 10^5 vertices on, unless a brick has a halo that does not
 * fit, or few vertices have far more neighbors than the others.
 *
 * Bricks may have two halos, the neighbors and the neighbors of those, for two explicit steps at
 * once: the first step moves the brick and its first halo, whose springs stand in the brick a
 * second time, the second step the brick alone. What is loaded and launched is so shared by two
 * steps.
 */
#ifndef HK_BACKEND_GPU_LAYOUT_H
#define HK_BACKEND_GPU_LAYOUT_H

#include "model/model.h"

enum {
  HK_GPU_BRICK = 512,     /* vertices of a brick at most */
  HK_GPU_LOCAL_BITS = 11, /* of a neighbor's number in a brick */
  HK_GPU_COLOR_BITS = 5,  /* of a palette number below it */
  HK_GPU_PLACE_BITS = 27, /* of a neighbor's place beside a palette number */
  HK_GPU_PALETTE = 32,    /* entry 0 has no stiffness and fills up rows */
  HK_GPU_ROW = 32,        /* vertices of a group of rows */
  HK_GPU_SLOTS = 26,      /* of a vertex in a brick at most */
  HK_GPU_TWICE_ROWS = 768 /* vertices of a brick with the first of two halos at most */
};

/* Fewer vertices do not give every multiprocessor a brick. */
static const int64_t HK_GPU_BRICKS_FROM = 60000;

typedef enum HkGpuParameters { HK_GPU_BY_PALETTE, HK_GPU_BY_LENGTH, HK_GPU_UNIQUE } HkGpuParameters;

/* A spring as the model has it; least: l0 of a thread, else -1. */
typedef struct HkGpuPaint {
  double k, l0, c, least;
} HkGpuPaint;

typedef struct HkGpuLayout {
  int64_t n, half_springs;
  int32_t *order; /* the vertex that stands at each place */
  int32_t *place; /* the place of each vertex */

  HkGpuParameters parameters;
  int palette_count; /* with entry 0 */
  HkGpuPaint palette[HK_GPU_PALETTE];
  double k, kl0;        /* by length: the k of all, or the k l0 of all; the other one is 0 */
  double c;             /* of all springs, unless by palette */
  bool tension;         /* all are threads, unless by palette */
  bool damped, threads; /* any has c > 0, is one that only pulls */

  /* Bricks; 0: there are rows. */
  int64_t brick_count;
  int32_t *brick;      /* brick_count + 1: first places */
  int64_t *halo_start; /* brick_count + 1 */
  int32_t *halo;       /* places, rising in each halo */
  int most_local;      /* vertices and halo of the largest brick */
  int slots;           /* of each vertex; even */
  int64_t rows;        /* for q of above, and n: places, or rows of bricks with two halos */
  int32_t *near;       /* vertices of the first halo; NULL: there is one alone */
  int64_t *brick_row;  /* brick_count + 1: the rows of a brick, its own vertices', then those of
                        * the first halo */
  int most_rows;       /* of a brick with two halos */

  int64_t *row_start; /* groups + 1, in words; NULL: there are bricks */
  uint32_t *word;
  int64_t words;
  double *l0, *stiffness; /* by length, unique: one a slot, as they follow in the words; l0 is -1
                           * in slots that fill up rows */

  int color_count; /* 0: places are not by color */
  int32_t *color_start;
  HkContext context;
} HkGpuLayout;

/* How to lay it out; 0: what is best. */
typedef struct HkGpuWishes {
  bool colors;       /* rows, and places by color */
  bool rows, bricks; /* one of them, whatever the size */
  bool unique;       /* no palette and no lengths */
  bool twice;        /* bricks with two halos, where they are faster and springs are plain */
} HkGpuWishes;

HkStatus hk_gpu_layout_create(const HkModel *model, const HkGpuWishes *wishes, HkGpuLayout **layout,
                              HkError *error);
void hk_gpu_layout_destroy(HkGpuLayout **layout);

/* ---- Its parts ---- */

/* order.c: cuts the vertices by planes across their longest side into that many parts of equal
 * size, one after the other in order; inside a part by rising number. */
void hk_gpu_order(const HkModel *model, int64_t parts, int32_t *order);
/* The first place of a part of that cut. */
int64_t hk_gpu_part(int64_t n, int64_t parts, int64_t part);

/* colors.c: sorts the order by color. */
HkStatus hk_gpu_colors(const HkModel *model, HkGpuLayout *layout, HkError *error);

/* palette.c: parameters, palette and what comes with them. */
HkStatus hk_gpu_paint(const HkModel *model, bool unique, HkGpuLayout *layout, HkError *error);
/* The number of a spring in the palette. */
int hk_gpu_color_of(const HkGpuLayout *layout, const HkModel *model, int64_t spring);

/* bricks.c: so many as the order was cut into; with two halos, if `twice`. *suits is false, and
 * nothing left, if they do not suit this model. */
HkStatus hk_gpu_bricks(const HkModel *model, int64_t count, bool twice, HkGpuLayout *layout,
                       bool *suits, HkError *error);
/* rows.c */
HkStatus hk_gpu_rows(const HkModel *model, HkGpuLayout *layout, HkError *error);

#endif
