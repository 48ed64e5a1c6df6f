/* The packed form of a factor as the inner loops see it (kernels/packed_solve_single.c).
 *
 * A panel of `columns` columns, the first of them column `first`, holds its rows in tiles of
 * HK_TILE. Its columns go in groups of HK_GROUP, one group after the other; a group holds the tiles
 * one after the other, beginning with the one where its own diagonal is, and a tile the columns, so
 * many rows each. Behind the last row stand zeros. row[] has where the record of each row begins in
 * x: four floats, three of them in use.
 */
#ifndef HK_LINEAR_PACKED_KERNELS_H
#define HK_LINEAR_PACKED_KERNELS_H

#include <stdint.h>

enum { HK_TILE = 16, HK_GROUP = 8, HK_PANEL_COLUMNS_MAX = 32 };

/* Floats before the first value that are there, too, to be fetched ahead of time and never used. */
enum { HK_PREFETCH_FLOATS = 2048 };

typedef struct HkPackedPanel {
  int64_t value, row; /* where its values and the numbers of its rows begin */
  int32_t first, columns, tiles;
} HkPackedPanel;

/* The columns of the group that begins with column g of a panel. */
static inline int hk_packed_group(const HkPackedPanel *panel, int g) {
  return panel->columns - g < HK_GROUP ? panel->columns - g : HK_GROUP;
}

/* Floats of that group. */
static inline int64_t hk_packed_group_size(const HkPackedPanel *panel, int g) {
  return (int64_t)hk_packed_group(panel, g) * HK_TILE * (panel->tiles - g / HK_TILE);
}

typedef struct HkPackedKernels {
  /* x = P x for each of count panels in turn, with P its values (its own columns are replaced, the
   * other rows added to). scratch: 3 HK_TILE floats for each tile of the tallest panel. */
  void (*forward)(const HkPackedPanel *panel, int64_t count, const float *value, const int32_t *row,
                  float *x, float *scratch);
  /* The columns of x = P^T x, from the last panel to the first. */
  void (*backward)(const HkPackedPanel *panel, int64_t count, const float *value,
                   const int32_t *row, float *x, float *scratch);
  /* x[k] = scale r[at[k]], from three doubles to a record, and the other way. */
  void (*load)(int64_t count, const int32_t *at, const double *r, double scale, float *x);
  void (*store)(int64_t count, const int32_t *at, const float *x, double scale, double *z);
} HkPackedKernels;

#endif
