/* Dense kernels of the built-in factorization; see panel.h.
 *
 * Each entry of a result is computed by the same operations in the same order for every width of
 * vectors, and no product is fused with a sum: the same bits everywhere.
 */
#include "linear/panel.h"

#include "base/simd.h"

#include <math.h>

/* ---- T -= B diag(d) C^T ---- */

/* Tiles of T: so many vectors by so many columns, in registers while the depth goes by. */
enum { VECTORS = 2, TILE = 4, DEPTH_MAX = 128 };

/* The first `vectors` vectors of rows, the last of them of `last` rows. p: TILE factors for each of
 * depth columns of B. */
HK_INLINE void update_tile(int vectors, int last, int columns, int64_t depth,
                           const double *restrict B, int64_t stride_b, const double *restrict p,
                           double *restrict T, int64_t stride_t) {
  HkDoubles t[TILE][VECTORS];
  for (int j = 0; j < columns; j++)
    for (int v = 0; v < vectors; v++)
      t[j][v] = hk_doubles_load_first(T + j * stride_t + v * HK_DOUBLES,
                                      v + 1 < vectors ? HK_DOUBLES : last);
  for (int64_t k = 0; k < depth; k++) {
    HkDoubles b[VECTORS];
    for (int v = 0; v < vectors; v++)
      b[v] = hk_doubles_load_first(B + k * stride_b + v * HK_DOUBLES,
                                   v + 1 < vectors ? HK_DOUBLES : last);
    for (int j = 0; j < columns; j++)
      for (int v = 0; v < vectors; v++) t[j][v] -= b[v] * p[TILE * k + j];
  }
  for (int j = 0; j < columns; j++)
    for (int v = 0; v < vectors; v++)
      hk_doubles_store_first(T + j * stride_t + v * HK_DOUBLES, v + 1 < vectors ? HK_DOUBLES : last,
                             t[j][v]);
}

HK_INLINE void update_columns(int columns, int64_t rows, int64_t depth, const double *restrict B,
                              int64_t stride_b, const double *restrict p, double *restrict T,
                              int64_t stride_t) {
  int64_t i = 0;
  for (; i + VECTORS * HK_DOUBLES <= rows; i += VECTORS * HK_DOUBLES)
    update_tile(VECTORS, HK_DOUBLES, columns, depth, B + i, stride_b, p, T + i, stride_t);
  for (; i + HK_DOUBLES <= rows; i += HK_DOUBLES)
    update_tile(1, HK_DOUBLES, columns, depth, B + i, stride_b, p, T + i, stride_t);
  if (i < rows)
    update_tile(1, (int)(rows - i), columns, depth, B + i, stride_b, p, T + i, stride_t);
}

static void update(int64_t rows, int64_t columns, int64_t depth, const double *B, int64_t stride_b,
                   const double *d, double *T, int64_t stride_t) {
  double p[TILE * DEPTH_MAX];
  for (int64_t j = 0; j < columns; j += TILE) {
    int width = columns - j < TILE ? (int)(columns - j) : TILE;
    for (int64_t k = 0; k < depth; k += DEPTH_MAX) {
      int64_t part = depth - k < DEPTH_MAX ? depth - k : DEPTH_MAX;
      const double *from = B + k * stride_b + j;
      double *to = T + j * stride_t + j;
      for (int64_t i = 0; i < part; i++)
        for (int c = 0; c < width; c++) p[TILE * i + c] = from[i * stride_b + c] * d[k + i];
      if (width == TILE)
        update_columns(TILE, rows - j, part, from, stride_b, p, to, stride_t);
      else
        for (int c = 0; c < width; c++)
          update_columns(1, rows - j, part, from, stride_b, p + c, to + c * stride_t, stride_t);
    }
  }
}

/* ---- The triangle of a panel ---- */

/* Columns are updated by all before their block at once, by those within it one by one. */
enum { BLOCK = 16 };

static bool factorize(int64_t rows, int64_t columns, double *panel, double *d) {
  for (int64_t begin = 0; begin < columns; begin += BLOCK) {
    int64_t end = begin + BLOCK < columns ? begin + BLOCK : columns;
    update(rows - begin, end - begin, begin, panel + begin, rows, d, panel + begin * rows + begin,
           rows);
    for (int64_t j = begin; j < end; j++) {
      double *restrict column = panel + j * rows;
      update(rows - j, 1, j - begin, panel + begin * rows + j, rows, d + begin, column + j, rows);
      d[j] = column[j];
      if (!(d[j] > 0) || !isfinite(d[j])) return false;
      double scale = 1 / d[j];
      for (int64_t i = j + 1; i < rows; i++) column[i] *= scale;
    }
  }
  return true;
}

/* ---- Right-hand sides ---- */

static void forward_three(int64_t rows, int64_t columns, const double *panel, double *restrict x) {
  for (int64_t j = 0; j < columns; j++) {
    const double *restrict column = panel + j * rows;
    double a = x[3 * j], b = x[3 * j + 1], c = x[3 * j + 2];
    for (int64_t i = j + 1; i < rows; i++) {
      x[3 * i] -= column[i] * a;
      x[3 * i + 1] -= column[i] * b;
      x[3 * i + 2] -= column[i] * c;
    }
  }
}

/* Four columns at a time, below their triangle. */
static void forward_one(int64_t rows, int64_t columns, const double *panel, double *restrict x) {
  for (int64_t j = 0; j < columns; j += TILE) {
    int64_t end = j + TILE < columns ? j + TILE : columns;
    const double *restrict a = panel + j * rows;
    for (int64_t k = j; k < end; k++)
      for (int64_t i = k + 1; i < end; i++) x[i] -= panel[k * rows + i] * x[k];
    if (end - j == TILE)
      for (int64_t i = end; i < rows; i++)
        x[i] = (((x[i] - a[i] * x[j]) - a[rows + i] * x[j + 1]) - a[2 * rows + i] * x[j + 2]) -
               a[3 * rows + i] * x[j + 3];
    else
      for (int64_t k = j; k < end; k++)
        for (int64_t i = end; i < rows; i++) x[i] -= panel[k * rows + i] * x[k];
  }
}

static void forward(int64_t rows, int64_t columns, const double *panel, double *x, int sides) {
  if (sides == 1)
    forward_one(rows, columns, panel, x);
  else
    forward_three(rows, columns, panel, x);
}

static void backward_three(int64_t rows, int64_t columns, const double *panel, double *x) {
  for (int64_t j = columns - 1; j >= 0; j--) {
    const double *column = panel + j * rows;
    double sum[6] = {0}; /* two for each side, which do not wait for each other */
    int64_t i = j + 1;
    for (; i + 2 <= rows; i += 2)
      for (int c = 0; c < 6; c++) sum[c] += column[i + c / 3] * x[3 * i + c];
    for (int c = 0; i < rows && c < 3; c++) sum[c] += column[i] * x[3 * i + c];
    for (int c = 0; c < 3; c++) x[3 * j + c] -= sum[c] + sum[c + 3];
  }
}

/* Lanes of the sum over the rows of a column, for every width of vectors. */
enum { LANES = 8, PARTS = LANES / HK_DOUBLES };

HK_INLINE double sum_lanes(const HkDoubles *sum) {
  double lane[LANES];
  memcpy(lane, sum, sizeof lane);
  for (int width = LANES / 2; width > 0; width /= 2)
    for (int l = 0; l < width; l++) lane[l] += lane[l + width];
  return lane[0];
}

/* x[j .. j + width - 1] -= the rows from `begin` on of their columns times x. */
HK_INLINE void subtract_rows(int width, int64_t begin, int64_t rows, const double *a, double *x,
                             double *out) {
  HkDoubles sum[TILE][PARTS] = {0};
  double rest[TILE] = {0};
  int64_t i = begin;
  for (; i + LANES <= rows; i += LANES)
    for (int v = 0; v < PARTS; v++) {
      HkDoubles y = hk_doubles_load(x + i + v * HK_DOUBLES);
      for (int k = 0; k < width; k++)
        sum[k][v] += hk_doubles_load(a + k * rows + i + v * HK_DOUBLES) * y;
    }
  for (; i < rows; i++)
    for (int k = 0; k < width; k++) rest[k] += a[k * rows + i] * x[i];
  for (int k = 0; k < width; k++) out[k] -= sum_lanes(sum[k]) + rest[k];
}

static void backward_one(int64_t rows, int64_t columns, const double *panel, double *x) {
  for (int64_t end = columns; end > 0; end = end > TILE ? end - TILE : 0) {
    int64_t j = end > TILE ? end - TILE : 0;
    if (end - j == TILE)
      subtract_rows(TILE, end, rows, panel + j * rows, x, x + j);
    else
      for (int64_t k = j; k < end; k++) subtract_rows(1, end, rows, panel + k * rows, x, x + k);
    for (int64_t k = end - 1; k >= j; k--)
      for (int64_t i = k + 1; i < end; i++) x[k] -= panel[k * rows + i] * x[i];
  }
}

static void backward(int64_t rows, int64_t columns, const double *panel, double *x, int sides) {
  if (sides == 1)
    backward_one(rows, columns, panel, x);
  else
    backward_three(rows, columns, panel, x);
}

const HkPanelKernels HK_KERNEL(hk_panel_kernels) = {update, factorize, forward, backward};
