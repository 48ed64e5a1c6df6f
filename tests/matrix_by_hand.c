/* Matrices made by hand; see matrix_by_hand.h. */
#include "matrix_by_hand.h"

#include "model_by_hand.h"

#include <math.h>
#include <stdlib.h>

void *matrix_alloc(int64_t count, size_t size) {
  void *p = calloc((size_t)count + 1, size);
  if (!p) abort();
  return p;
}

Matrix matrix_of_zeros(int64_t n) {
  return (Matrix){.n = n, .dense = matrix_alloc(n * n, sizeof(double))};
}

void matrix_set(Matrix *a, int64_t i, int64_t j, double value) {
  a->dense[i * a->n + j] = a->dense[j * a->n + i] = value;
}

HkSparse matrix_sparse(Matrix *a) {
  int64_t count = 0;
  a->start = matrix_alloc(a->n + 1, sizeof *a->start);
  a->row = matrix_alloc(a->n * (a->n + 1) / 2, sizeof *a->row);
  a->values = matrix_alloc(a->n * (a->n + 1) / 2, sizeof *a->values);
  for (int64_t j = 0; j < a->n; j++) {
    for (int64_t i = j; i < a->n; i++) {
      if (i != j && a->dense[i * a->n + j] == 0) continue;
      a->row[count] = i;
      a->values[count++] = a->dense[i * a->n + j];
    }
    a->start[j + 1] = count;
  }
  return (HkSparse){a->n, a->start, a->row};
}

void matrix_destroy(Matrix *a) {
  free(a->dense);
  free(a->start);
  free(a->row);
  free(a->values);
}

Matrix matrix_random(int64_t n, double chance, uint64_t seed) {
  Matrix a = matrix_of_zeros(n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j + 1; i < n; i++)
      if ((test_random(&seed) + 1) / 2 < chance) matrix_set(&a, i, j, test_random(&seed));
  for (int64_t j = 0; j < n; j++) {
    double sum = 0.01;
    for (int64_t i = 0; i < n; i++) sum += fabs(a.dense[j * n + i]);
    matrix_set(&a, j, j, sum);
  }
  return a;
}

Matrix matrix_grid(int64_t side, int64_t width) {
  Matrix a = {.n = side * side * width};
  static const int dx[] = {0, 1, 2, -1, 0, 1, 0}, dy[] = {0, 0, 0, 1, 1, 1, 2};
  int64_t count = 0;
  a.start = matrix_alloc(a.n + 1, sizeof *a.start);
  a.row = matrix_alloc(7 * width * a.n, sizeof *a.row);
  a.values = matrix_alloc(7 * width * a.n, sizeof *a.values);
  for (int64_t k = 0; k < a.n; k++) {
    int64_t x = k / width % side, y = k / width / side;
    for (int e = 0; e < 7; e++)
      for (int64_t c = e == 0 ? k % width : 0; c < width; c++) {
        if (x + dx[e] < 0 || x + dx[e] >= side || y + dy[e] >= side) continue;
        a.row[count] = ((y + dy[e]) * side + x + dx[e]) * width + c;
        a.values[count] = a.row[count] == k ? 13.0 * (double)width : -0.9;
        count++;
      }
    a.start[k + 1] = count;
  }
  return a;
}

bool is_built(HkFactorKind kind) {
  return kind != HK_FACTOR_CHOLMOD || hk_factor_default() == HK_FACTOR_CHOLMOD;
}
