/* Solves with a packed factor in single precision: the inner loops; see packed_kernels.h.
 *
 * Panels hold P = [T; -G] with T the inverse of their triangle on the diagonal and G = L2 T, where
 * L2 are the rows below it. Forwards, L y = b is for each panel, with x1 its columns of x and x2
 * its other rows,
 *
 *     x1' = T x1,   x2' = x2 - G x1        that is, P x1, added to (0, x2),
 *
 * and backwards, L^T x = y is x1' = T^T (x1 - L2^T x2) = P^T (x1, x2). Either way each value is
 * read once and used for three right-hand sides. Rows are taken HK_TILE at a time: forwards a tile
 * of results is in registers while the columns of a group go by, backwards the sums of the columns
 * are while the tiles go by. Between groups, `scratch` has the rows as vectors of x, of y and of z.
 */
#include "linear/packed_kernels.h"

#include "base/simd.h"

#include <stdbool.h>

/* Vectors to a tile, and records to a vector. */
enum { PARTS = HK_TILE / HK_FLOATS, RECORDS = HK_FLOATS / 4 };

/* ---- Records into vectors and back ---- */

/* Adds record r of a vector to x. */
HK_INLINE void record_add(float *x, int32_t at, HkFloats v, int r) {
  float *to = x + at;
  HkFloat4 one;
  memcpy(&one, (const char *)&v + 16 * r, sizeof one);
  hk_float4_store(to, hk_float4_load(to) + one);
}

/* x, y, z (scratch) of HK_FLOATS rows, from their records. */
HK_INLINE void gather(const float *x, const int32_t *at, float *scratch) {
  HkFloats v[3];
  hk_floats_gather(x, at, v);
  for (int c = 0; c < 3; c++) hk_floats_store(scratch + c * HK_TILE, v[c]);
}

/* The other way round, added to the records. */
HK_INLINE void scatter(float *x, const int32_t *at, const float *scratch) {
  HkFloats v[3], rows[4];
  for (int c = 0; c < 3; c++) v[c] = hk_floats_load(scratch + c * HK_TILE);
  hk_floats_turn(v, rows);
  for (int r = 0; r < RECORDS; r++)
    for (int k = 0; k < 4; k++) record_add(x, at[4 * r + k], rows[k], r);
}

/* The sums of three vectors as one record. */
HK_INLINE HkFloat4 sums(HkFloats a, HkFloats b, HkFloats c) {
  HkFloats none = {0};
  HkFloats ab = HK_UNPACK_LOW(a, b) + HK_UNPACK_HIGH(a, b),
           cd = HK_UNPACK_LOW(c, none) + HK_UNPACK_HIGH(c, none);
  HkFloats all = HK_JOIN_LOW(ab, cd) + HK_JOIN_HIGH(ab, cd);
  HkFloat4 four[RECORDS];
  memcpy(four, &all, sizeof four);
  for (int width = RECORDS / 2; width > 0; width /= 2)
    for (int r = 0; r < width; r++) four[r] += four[r + width];
  return four[0];
}

/* ---- One group of columns ---- */

/* Columns whose three sums, or three factors, fit into the registers that there are: of vectors of
 * 16 bytes there are 16. */
enum { AT_ONCE = HK_FLOATS == 4 ? 4 : HK_GROUP };

/* scratch = or += count columns of the tiles of a group times x; columns: of the whole group. */
HK_INLINE void forward_columns(int columns, int count, bool first, const float *value,
                               int64_t tiles, const float *x, float *scratch) {
  HkFloats b[AT_ONCE][3];
  for (int j = 0; j < count; j++)
    for (int c = 0; c < 3; c++) b[j][c] = hk_floats_all(x[4 * j + c]);
  for (int64_t t = 0; t < tiles; t++, value += columns * HK_TILE, scratch += 3 * HK_TILE)
    for (int p = 0; p < PARTS; p++) {
      HkFloats sum[3] = {{0}, {0}, {0}};
      for (int c = 0; !first && c < 3; c++)
        sum[c] = hk_floats_load(scratch + c * HK_TILE + p * HK_FLOATS);
      for (int j = 0; j < count; j++) {
        HkFloats v = hk_floats_load(value + j * HK_TILE + p * HK_FLOATS);
        for (int c = 0; c < 3; c++) sum[c] += v * b[j][c];
      }
      for (int c = 0; c < 3; c++) hk_floats_store(scratch + c * HK_TILE + p * HK_FLOATS, sum[c]);
    }
}

HK_INLINE void forward_group(int columns, bool first, const float *value, int64_t tiles,
                             const float *x, float *scratch) {
  int count = columns < AT_ONCE ? columns : AT_ONCE;
  forward_columns(columns, count, first, value, tiles, x, scratch);
  if (columns > AT_ONCE)
    forward_columns(columns, columns - AT_ONCE, false, value + AT_ONCE * HK_TILE, tiles,
                    x + 4 * AT_ONCE, scratch);
}

/* x = count columns of the transposed tiles of a group times scratch. Values are read in falling
 * order, for which hardware prefetching is weak: they are prefetched explicitly. */
HK_INLINE void backward_columns(int columns, int count, const float *value, int64_t tiles,
                                const float *scratch, float *x) {
  HkFloats sum[AT_ONCE][3];
  for (int j = 0; j < count; j++)
    for (int c = 0; c < 3; c++) sum[j][c] = (HkFloats){0};
  value += tiles * columns * HK_TILE;
  scratch += tiles * 3 * HK_TILE;
  for (int64_t t = 0; t < tiles; t++) {
    value -= columns * HK_TILE;
    scratch -= 3 * HK_TILE;
    for (int j = count - 1; j >= 0; j--)
      __builtin_prefetch(value - HK_PREFETCH_FLOATS + j * HK_TILE, 0, 2);
    for (int p = 0; p < PARTS; p++) {
      HkFloats y[3];
      for (int c = 0; c < 3; c++) y[c] = hk_floats_load(scratch + c * HK_TILE + p * HK_FLOATS);
      for (int j = count - 1; j >= 0; j--) {
        HkFloats v = hk_floats_load(value + j * HK_TILE + p * HK_FLOATS);
        for (int c = 0; c < 3; c++) sum[j][c] += v * y[c];
      }
    }
  }
  for (int j = 0; j < count; j++) hk_float4_store(x + 4 * j, sums(sum[j][0], sum[j][1], sum[j][2]));
}

HK_INLINE void backward_group(int columns, const float *value, int64_t tiles, const float *scratch,
                              float *x) {
  int count = columns < AT_ONCE ? columns : AT_ONCE;
  if (columns > AT_ONCE)
    backward_columns(columns, columns - AT_ONCE, value + AT_ONCE * HK_TILE, tiles, scratch,
                     x + 4 * AT_ONCE);
  backward_columns(columns, count, value, tiles, scratch, x);
}

/* The same with a number of columns that the compiler knows. */
#define FOR_COLUMNS(columns, call)                                                                 \
  switch (columns) {                                                                               \
  case 1: call(1); break;                                                                          \
  case 2: call(2); break;                                                                          \
  case 3: call(3); break;                                                                          \
  case 4: call(4); break;                                                                          \
  case 5: call(5); break;                                                                          \
  case 6: call(6); break;                                                                          \
  case 7: call(7); break;                                                                          \
  default: call(8);                                                                                \
  }

/* ---- Panels ---- */

static void forward_panel(const HkPackedPanel *panel, const float *value, const int32_t *row,
                          float *x, float *scratch) {
  float own[4 * HK_PANEL_COLUMNS_MAX], *at = x + 4 * (int64_t)panel->first;
  size_t bytes = (size_t)panel->columns * 4 * sizeof *at;
  memcpy(own, at, bytes);
  memset(at, 0, bytes);
  for (int g = 0; g < panel->columns; g += HK_GROUP) {
    int skip = g / HK_TILE;
    float *y = scratch + 3 * HK_TILE * skip;
#define CALL(n) forward_group(n, false, value, panel->tiles - skip, own + 4 * g, y)
#define CALL_FIRST(n) forward_group(n, true, value, panel->tiles, own, scratch)
    if (g == 0) {
      FOR_COLUMNS(hk_packed_group(panel, g), CALL_FIRST)
    } else {
      FOR_COLUMNS(hk_packed_group(panel, g), CALL)
    }
    value += hk_packed_group_size(panel, g);
  }
  for (int32_t t = 0; t < panel->tiles; t++, row += HK_TILE, scratch += 3 * HK_TILE)
    for (int p = 0; p < PARTS; p++) scatter(x, row + p * HK_FLOATS, scratch + p * HK_FLOATS);
}

static void backward_panel(const HkPackedPanel *panel, const float *value, const int32_t *row,
                           float *x, float *scratch) {
  float *y = scratch;
  for (int32_t t = 0; t < panel->tiles; t++, row += HK_TILE, y += 3 * HK_TILE)
    for (int p = 0; p < PARTS; p++) gather(x, row + p * HK_FLOATS, y + p * HK_FLOATS);
  for (int g = 0; g < panel->columns; g += HK_GROUP) value += hk_packed_group_size(panel, g);
  for (int g = (panel->columns - 1) / HK_GROUP * HK_GROUP; g >= 0; g -= HK_GROUP) {
    value -= hk_packed_group_size(panel, g);
    int skip = g / HK_TILE;
    float *to = x + 4 * ((int64_t)panel->first + g);
    y = scratch + 3 * HK_TILE * skip;
#define CALL_BACK(n) backward_group(n, value, panel->tiles - skip, y, to)
    FOR_COLUMNS(hk_packed_group(panel, g), CALL_BACK)
  }
}

static void forward(const HkPackedPanel *panel, int64_t count, const float *value,
                    const int32_t *row, float *x, float *scratch) {
  for (int64_t k = 0; k < count; k++)
    forward_panel(&panel[k], value + panel[k].value, row + panel[k].row, x, scratch);
}

static void backward(const HkPackedPanel *panel, int64_t count, const float *value,
                     const int32_t *row, float *x, float *scratch) {
  for (int64_t k = count - 1; k >= 0; k--)
    backward_panel(&panel[k], value + panel[k].value, row + panel[k].row, x, scratch);
}

/* ---- Right-hand sides and solutions ---- */

static void load(int64_t count, const int32_t *at, const double *r, double scale, float *x) {
  for (int64_t k = 0; k < count; k++) {
    const double *from = r + 3 * (int64_t)at[k];
    HkFloat4 v = {(float)(scale * from[0]), (float)(scale * from[1]), (float)(scale * from[2]), 0};
    hk_float4_store(x + 4 * k, v);
  }
}

static void store(int64_t count, const int32_t *at, const float *x, double scale, double *z) {
  for (int64_t k = 0; k < count; k++) {
    double *to = z + 3 * (int64_t)at[k];
    for (int c = 0; c < 3; c++) to[c] = scale * (double)x[4 * k + c];
  }
}

const HkPackedKernels HK_KERNEL(hk_packed_kernels) = {forward, backward, load, store};
