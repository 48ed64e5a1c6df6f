/* Dense kernels of the built-in factorisation; see panel.h.
 *
 * Plain loops over columns, which compilers turn into vector instructions. The order of additions
 * is that of the source: the same bits everywhere.
 */
#include "linear/panel.h"

#include <math.h>

/* Two columns of T by four of B at a time: 16 operations for 8 loads and stores. */
static void update_pair(int64_t rows, const double *restrict B, int64_t stride, const double *d,
                        int64_t other, double *restrict t0, double *restrict t1) {
  const double *restrict b0 = B, *restrict b1 = B + stride;
  const double *restrict b2 = B + 2 * stride, *restrict b3 = B + 3 * stride;
  double p0 = b0[0] * d[0], p1 = b1[0] * d[1], p2 = b2[0] * d[2], p3 = b3[0] * d[3];
  double q0 = b0[other] * d[0], q1 = b1[other] * d[1], q2 = b2[other] * d[2], q3 = b3[other] * d[3];
  for (int64_t i = 0; i < rows; i++) {
    double u0 = b0[i], u1 = b1[i], u2 = b2[i], u3 = b3[i];
    t0[i] -= (u0 * p0 + u1 * p1) + (u2 * p2 + u3 * p3);
    t1[i] -= (u0 * q0 + u1 * q1) + (u2 * q2 + u3 * q3);
  }
}

static void update_column(int64_t rows, int64_t depth, const double *restrict B, int64_t stride,
                          const double *d, double *restrict t) {
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const double *restrict b0 = B + k * stride, *restrict b1 = b0 + stride;
    const double *restrict b2 = b1 + stride, *restrict b3 = b2 + stride;
    double p0 = b0[0] * d[k], p1 = b1[0] * d[k + 1], p2 = b2[0] * d[k + 2], p3 = b3[0] * d[k + 3];
    for (int64_t i = 0; i < rows; i++)
      t[i] -= (b0[i] * p0 + b1[i] * p1) + (b2[i] * p2 + b3[i] * p3);
  }
  for (; k < depth; k++) {
    const double *restrict b = B + k * stride;
    double p = b[0] * d[k];
    for (int64_t i = 0; i < rows; i++) t[i] -= b[i] * p;
  }
}

void hk_panel_update(int64_t rows, int64_t columns, int64_t depth, const double *B,
                     int64_t stride_b, const double *d, double *T, int64_t stride_t) {
  int64_t j = 0, fours = depth - depth % 4;
  for (; j + 2 <= columns; j += 2) {
    double *t0 = T + j * stride_t + j, *t1 = t0 + stride_t;
    for (int64_t k = 0; k < fours; k += 4)
      update_pair(rows - j, B + k * stride_b + j, stride_b, d + k, 1, t0, t1);
    const double *rest = B + fours * stride_b + j;
    update_column(rows - j, depth - fours, rest, stride_b, d + fours, t0);
    update_column(rows - j - 1, depth - fours, rest + 1, stride_b, d + fours, t1 + 1);
  }
  if (j < columns) update_column(rows - j, depth, B + j, stride_b, d, T + j * stride_t + j);
}

/* Columns are updated by all before their block at once, by those within it one by one. */
enum { BLOCK = 32 };

bool hk_panel_factorise(int64_t rows, int64_t columns, double *panel, double *d) {
  for (int64_t begin = 0; begin < columns; begin += BLOCK) {
    int64_t end = begin + BLOCK < columns ? begin + BLOCK : columns;
    hk_panel_update(rows - begin, end - begin, begin, panel + begin, rows, d,
                    panel + begin * rows + begin, rows);
    for (int64_t j = begin; j < end; j++) {
      double *restrict column = panel + j * rows;
      update_column(rows - j, j - begin, panel + begin * rows + j, rows, d + begin, column + j);
      d[j] = column[j];
      if (!(d[j] > 0) || !isfinite(d[j])) return false;
      double scale = 1 / d[j];
      for (int64_t i = j + 1; i < rows; i++) column[i] *= scale;
    }
  }
  return true;
}

void hk_panel_forward(int64_t rows, int64_t columns, const double *panel, double *x, int sides) {
  for (int64_t j = 0; j < columns; j++) {
    const double *restrict column = panel + j * rows;
    double *restrict y = x;
    if (sides == 1) {
      double a = y[j];
      for (int64_t i = j + 1; i < rows; i++) y[i] -= column[i] * a;
    } else {
      double a = y[3 * j], b = y[3 * j + 1], c = y[3 * j + 2];
      for (int64_t i = j + 1; i < rows; i++) {
        y[3 * i] -= column[i] * a;
        y[3 * i + 1] -= column[i] * b;
        y[3 * i + 2] -= column[i] * c;
      }
    }
  }
}

void hk_panel_backward(int64_t rows, int64_t columns, const double *panel, double *x, int sides) {
  for (int64_t j = columns - 1; j >= 0; j--) {
    const double *column = panel + j * rows;
    /* Two sums (of each side) that do not wait for each other. */
    double sum[6] = {0};
    int64_t i = j + 1;
    if (sides == 1) {
      for (; i + 2 <= rows; i += 2)
        for (int c = 0; c < 2; c++) sum[c] += column[i + c] * x[i + c];
      if (i < rows) sum[0] += column[i] * x[i];
      x[j] -= sum[0] + sum[1];
    } else {
      for (; i + 2 <= rows; i += 2)
        for (int c = 0; c < 6; c++) sum[c] += column[i + c / 3] * x[3 * i + c];
      for (int c = 0; i < rows && c < 3; c++) sum[c] += column[i] * x[3 * i + c];
      for (int c = 0; c < 3; c++) x[3 * j + c] -= sum[c] + sum[c + 3];
    }
  }
}
