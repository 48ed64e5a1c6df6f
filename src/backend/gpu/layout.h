/* Layout of a model in GPU memory (docs/layouts.md).
 *
 * Vertices are reordered so that neighbors in space are near in memory (order.c): the 'place' of a
 * vertex is its index in that order. Each vertex gathers from its own half springs: there are no
 * scattered writes, and each spring is stored twice. The bytes of a half spring decide the speed.
 * Its parameters have one of three encodings. Palette: at most 31 different springs, whose index
 * shares a word with the neighbor. Lengths: one k, or one k l0, for all, and a rest length for
 * each. Unique: k and l0 for each.
 *
 * The index of a neighbor has one of two encodings. Bricks (bricks.c) are at most HK_GPU_BRICK
 * vertices that a thread block loads into shared memory together with their halo, the neighbors
 * outside. The neighbor is a local index of 11 bits above the 5 bits of the palette index, and a
 * word holds two half springs: slot s of the vertex at place q is half s % 2 of word[(s / 2) rows +
 * q]. Rows (rows.c) are sliced ELLPACK with slices of 32 vertices: the neighbor is a place, 27 bits
 * below the 5 of the palette index, or 32 bits without a palette. Slot s of the vertex at place q
 * of group g = q / 32 is word[start[g] + 32 s + q % 32].
 *
 * Bricks are faster from about 10^5 vertices on, unless the halo of a brick does not fit into
 * shared memory, or few vertices have far more neighbors than the others.
 *
 * Bricks may have two halos, their neighbors and the neighbors of these, for two explicit steps in
 * one kernel: the first step moves the brick and its first halo, whose springs the brick stores
 * again, and the second step moves only the brick. Two steps so share one launch and one load.
 */
#ifndef HK_BACKEND_GPU_LAYOUT_H
#define HK_BACKEND_GPU_LAYOUT_H

#include "model/model.h"

enum {
  HK_GPU_BRICK = 512,          /* largest number of vertices of a brick */
  HK_GPU_LOCAL_BITS = 11,      /* bits of a neighbor's local index in a brick */
  HK_GPU_PALETTE_BITS = 5,     /* bits of a palette index, below the neighbor's */
  HK_GPU_PLACE_BITS = 27,      /* bits of a neighbor's place beside a palette index */
  HK_GPU_PALETTE_SIZE = 32,    /* entries; entry 0 has no stiffness and pads rows */
  HK_GPU_ROW = 32,             /* vertices of a slice of rows */
  HK_GPU_BRICK_MAX_SLOTS = 26, /* largest number of half springs of a vertex in a brick */
  HK_GPU_TWO_STEP_MAX_ROWS =
      768 /* largest number of vertices of a brick with its first halo, where it has two */
};

/* Smallest number of vertices for bricks: with fewer, some multiprocessors have no brick. */
static const int64_t HK_GPU_BRICKS_MIN_VERTICES = 60000;

typedef enum HkGpuParameters { HK_GPU_BY_PALETTE, HK_GPU_BY_LENGTH, HK_GPU_UNIQUE } HkGpuParameters;

/* Parameters of a spring in N/m, m, N s/m; least: l0 of a tension-only spring, -1 of any other. */
typedef struct HkGpuSpringType {
  double k, l0, c, least;
} HkGpuSpringType;

typedef struct HkGpuLayout {
  int64_t n, half_springs;
  int32_t *order; /* the vertex at each place */
  int32_t *place; /* the place of each vertex */

  HkGpuParameters parameters;
  int palette_count; /* includes entry 0 */
  HkGpuSpringType palette[HK_GPU_PALETTE_SIZE];
  double k, kl0;        /* HK_GPU_BY_LENGTH: the k or the k l0 of all springs; the other one is 0 */
  double c;             /* damping of all springs, unless HK_GPU_BY_PALETTE */
  bool tension;         /* all springs are tension-only, unless HK_GPU_BY_PALETTE */
  bool damped, threads; /* any spring has c > 0; any spring is tension-only */

  /* Bricks; brick_count is 0 if the layout is rows. */
  int64_t brick_count;
  int32_t *brick;      /* brick_count + 1: first place of each brick */
  int64_t *halo_start; /* brick_count + 1 */
  int32_t *halo;       /* places, sorted within each halo: the first one, then the second */
  int most_local;      /* vertices and halo of the largest brick */
  int slots;           /* half springs of each vertex with padding; even */
  int64_t rows;        /* rows of all bricks: n, or more if bricks have two halos */
  int32_t *near;       /* vertices of the first halo of each brick; NULL: one halo */
  int64_t *brick_row;  /* brick_count + 1: first row of each brick; its own vertices, then those of
                          the first halo */
  int most_rows;       /* of a brick with two halos */

  int64_t *row_start; /* slices + 1, in words; NULL if the layout is bricks */
  uint32_t *word;
  int64_t words;
  double *l0, *stiffness; /* HK_GPU_BY_LENGTH, HK_GPU_UNIQUE: one a slot in the order of the words;
                             l0 is -1 in padding */

  int color_count; /* classes of the graph coloring; 0: places are not sorted by color */
  int32_t *color_start;
  HkContext context;
} HkGpuLayout;

/* Options of a layout; all 0: hk_gpu_layout_create picks the fastest. */
typedef struct HkGpuLayoutOptions {
  bool colors;       /* rows, with places sorted by color */
  bool rows, bricks; /* requires this encoding of neighbors for any size */
  bool unique;       /* requires HK_GPU_UNIQUE */
  bool twice;        /* allows bricks with two halos where they are faster */
  int most_local;    /* vertices of a brick and its halos at most; 0: as many as words can count */
} HkGpuLayoutOptions;

HkStatus hk_gpu_layout_create(const HkModel *model, const HkGpuLayoutOptions *options,
                              HkGpuLayout **layout, HkError *error);
void hk_gpu_layout_destroy(HkGpuLayout **layout);

/* ---- Parts of the layout ---- */

/* order.c: recursive bisection across the longest side into `parts` parts of equal size, one after
 * the other in `order`; a part is sorted by vertex number. scratch has model->n numbers. */
HkStatus hk_gpu_order(const HkModel *model, int64_t parts, int32_t *order, int32_t *scratch,
                      HkError *error);
/* Returns the first place of a part of hk_gpu_order. */
int64_t hk_gpu_part(int64_t n, int64_t parts, int64_t part);

/* colors.c: sorts layout->order by the classes of a graph coloring. */
HkStatus hk_gpu_colors(const HkModel *model, HkGpuLayout *layout, HkError *error);

/* palette.c: chooses the encoding of the springs' parameters and fills the palette. */
HkStatus hk_gpu_spring_parameters(const HkModel *model, bool unique, HkGpuLayout *layout,
                                  HkError *error);
/* Returns the palette index of a spring. */
int hk_gpu_palette_index(const HkGpuLayout *layout, const HkModel *model, int64_t spring);

/* halos.c: finds the halos of the bricks, two if `twice`; counts rows and vertices of bricks.
 * *suits becomes false if a brick with its halos has more than most_local vertices, or if two halos
 * are not faster than one. */
HkStatus hk_gpu_halos(const HkModel *model, bool twice, int most_local, HkGpuLayout *layout,
                      bool *suits, HkError *error);

/* bricks.c: makes `count` bricks, the parts of hk_gpu_order; with two halos if `twice`. *suits
 * becomes false, and the layout has no bricks, if they do not fit the model or have more than
 * options->most_local vertices. */
HkStatus hk_gpu_bricks(const HkModel *model, int64_t count, bool twice,
                       const HkGpuLayoutOptions *options, HkGpuLayout *layout, bool *suits,
                       HkError *error);
/* rows.c: makes rows in sliced ELLPACK. */
HkStatus hk_gpu_rows(const HkModel *model, HkGpuLayout *layout, HkError *error);

#endif
