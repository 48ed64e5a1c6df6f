/* The levels of multigrid of the host's device: the layout of gpu/hierarchy.h and the arithmetic of
 * gpu/level.h, one row after the other. Here the values of a Hessian on level 0 are given; all
 * other levels, bounds of eigenvalues and the cycle follow. */
#ifndef HOOKE_TEST_HOST_LEVELS_H
#define HOOKE_TEST_HOST_LEVELS_H

#include "backend/gpu/fine_level.h"
#include "backend/gpu/hierarchy.h"

#include <stdlib.h>
#include <string.h>

typedef struct HostLevel {
  HkGpuMatrix A;
  int cycles;
  HkGpuLists lists[6]; /* own copies: prolong, restrict_to, and the terms of P^T A P */
  int64_t pair_count;
  int32_t *pair;
  HkGpuFour *x, *before, *b, *r, *power;
  double bound, norm;
} HostLevel;

typedef struct HostLevels {
  int count;
  bool exact;
  HostLevel level[HK_GPU_LEVELS_MAX];
  double *inverse; /* of the last level */
  void *owned[HK_GPU_LEVELS_MAX * 32];
  int owned_count;
} HostLevels;

enum { PROLONG, RESTRICT, PAIR_ENTRIES, PAIR_ROWS, ROW_ROWS, ROW_ENTRIES };

static void *host_own(HostLevels *h, const void *from, int64_t count, size_t size) {
  void *to = calloc((size_t)(count > 0 ? count : 1), size);
  if (to && from && count > 0) memcpy(to, from, (size_t)count * size);
  h->owned[h->owned_count++] = to;
  return to;
}

static HkGpuLists host_lists(HostLevels *h, const HkGpuLists *from) {
  int64_t entries = hk_gpu_list_entries(from);
  HkGpuLists to = {.rows = from->rows};
  to.start = host_own(h, from->start, from->start ? hk_gpu_slices(from->rows) + 1 : 0, 4);
  to.index = host_own(h, from->index, entries, sizeof *to.index);
  to.weight = host_own(h, from->weight, entries, sizeof *to.weight);
  return to;
}

static void host_levels_create(const HkGpuHierarchy *from, HostLevels *h) {
  *h = (HostLevels){.count = from->count, .exact = from->exact};
  for (int k = 0; k < h->count; k++) {
    const HkGpuLevel *f = &from->level[k];
    HostLevel *l = &h->level[k];
    int64_t entries = hk_gpu_level_entries(f), n = f->n;
    const HkGpuLists *lists[] = {&f->prolong,   &f->restrict_to, &f->pair_entries,
                                 &f->pair_rows, &f->row_rows,    &f->row_entries};
    for (int q = 0; q < 6; q++) l->lists[q] = host_lists(h, lists[q]);
    l->cycles = f->cycles;
    l->pair_count = f->pair_count;
    l->pair = host_own(h, f->pair, 2 * f->pair_count, sizeof *f->pair);
    l->bound = 2;
    l->A = (HkGpuMatrix){.n = (int32_t)n, .bound = &l->bound};
    l->A.start = host_own(h, f->start, hk_gpu_slices(n) + 1, sizeof *f->start);
    l->A.column = host_own(h, f->column, entries, sizeof *f->column);
    if (k == 0) l->A.spring = host_own(h, NULL, entries, sizeof(HkGpuFour));
    if (k > 0) l->A.block = host_own(h, NULL, entries, sizeof(HkGpuFour));
    if (k > 0) l->A.rest = host_own(h, NULL, entries, sizeof(HkGpuTwo));
    l->A.R = host_own(h, NULL, 2 * n, sizeof(HkGpuFour));
    l->A.D = host_own(h, NULL, n, sizeof(HkGpuFour));
    l->A.D_rest = host_own(h, NULL, n, sizeof(HkGpuTwo));
    HkGpuFour **vectors[] = {&l->x, &l->before, &l->b, &l->r, &l->power};
    for (int q = 0; q < 5; q++) *vectors[q] = host_own(h, NULL, n, sizeof(HkGpuFour));
  }
  int64_t size = 3 * from->level[h->count - 1].n;
  h->inverse = host_own(h, NULL, h->exact ? size * size : 0, sizeof(double));
}

static void host_levels_destroy(HostLevels *h) {
  for (int q = 0; q < h->owned_count; q++) free(h->owned[q]);
  h->owned_count = 0;
}

/* Component c of a vector. */
static float component(HkGpuFour a, int64_t c) {
  return c == 0 ? a.x : c == 1 ? a.y : a.z;
}

static void set_component(HkGpuFour *a, int64_t c, float value) {
  *(c == 0 ? &a->x : c == 1 ? &a->y : &a->z) = value;
}

static HkGpuListsAt lists_at(const HkGpuLists *l) {
  return (HkGpuListsAt){l->start, l->index, l->weight};
}

/* ---- Products ---- */

/* Returns (A x)_i of level k. */
static HkGpuFour level_product(const HostLevels *h, int k, const HkGpuFour *x, int64_t i) {
  const HkGpuMatrix *A = &h->level[k].A;
  HkGpuFour q = hk_gpu_row_product(A, k == 0, x, i, x[i], 0, 1);
  hk_gpu_four_axpy(1, hk_gpu_row_sum_product(A, i, x[i]), &q);
  return q;
}

/* ---- The levels of a Hessian ---- */

static void project(HostLevels *h, int k) {
  HostLevel *l = &h->level[k], *next = l + 1;
  HkGpuListsAt entries = lists_at(&l->lists[PAIR_ENTRIES]), rows = lists_at(&l->lists[PAIR_ROWS]);
  HkGpuListsAt own = lists_at(&l->lists[ROW_ROWS]), others = lists_at(&l->lists[ROW_ENTRIES]);
  float m[6];
  for (int64_t pair = 0; pair < l->pair_count; pair++) {
    hk_gpu_sum_terms(&l->A, k == 0, &entries, &rows, pair, 0, 1, m);
    hk_gpu_store_entry(&next->A, l->pair[2 * pair], m);
    hk_gpu_store_entry(&next->A, l->pair[2 * pair + 1], m);
  }
  for (int64_t i = 0; i < next->A.n; i++) {
    hk_gpu_sum_terms(&l->A, k == 0, &others, &own, i, 0, 1, m);
    hk_gpu_store_row_sum(&next->A, i, m);
  }
  for (int64_t i = 0; i < next->A.n; i++) {
    double diagonal[6];
    hk_gpu_diagonal_block(&next->A, i, diagonal);
    hk_gpu_store_inverse(&next->A, i, diagonal, HK_GPU_DIAGONAL_MORE);
  }
}

/* The largest eigenvalue of D^-1 A, by a few power iterations: for the first Hessian of a step from
 * a fixed vector, for later ones from where the last one has ended. */
static void bound_eigenvalues(HostLevels *h, int k, bool first) {
  HostLevel *l = &h->level[k];
  double norm = first ? 1 : l->norm;
  for (int64_t i = 0; i < l->A.n && first; i++) l->power[i] = hk_gpu_power_start(i);
  for (int it = 0; it < (first ? HK_GPU_POWER_FIRST : HK_GPU_POWER_NEXT); it++) {
    double sum = 0;
    for (int64_t i = 0; i < l->A.n; i++) {
      HkGpuFour q = hk_gpu_inverse_times(&l->A, i, level_product(h, k, l->power, i));
      l->r[i] = hk_gpu_four(0, 0, 0);
      hk_gpu_four_axpy((float)(1 / norm), q, &l->r[i]);
      sum += hk_gpu_four_square(l->r[i]);
    }
    norm = sqrt(sum);
    memcpy(l->power, l->r, (size_t)l->A.n * sizeof *l->r);
  }
  l->norm = norm;
  l->bound = hk_gpu_eigenvalue_bound(norm);
}

/* Gauss and Jordan, without pivots: the matrix is positive definite. */
static void invert_last(HostLevels *h) {
  const HostLevel *l = &h->level[h->count - 1];
  int64_t n = l->A.n, size = 3 * n;
  double *M = h->inverse;
  memset(M, 0, (size_t)(size * size) * sizeof *M);
  for (int64_t i = 0; i < n; i++) hk_gpu_store_dense_row(&l->A, i, M);
  for (int64_t k = 0; k < size; k++) {
    double pivot = 1 / M[k * size + k];
    M[k * size + k] = 1;
    for (int64_t j = 0; j < size; j++) M[k * size + j] *= pivot;
    for (int64_t i = 0; i < size; i++) {
      double factor = M[i * size + k];
      if (i == k) continue;
      M[i * size + k] = 0;
      for (int64_t j = 0; j < size; j++) M[i * size + j] -= factor * M[k * size + j];
    }
  }
}

/* All levels, after the values of level 0 are set. */
static void host_levels_prepare(HostLevels *h, bool first) {
  for (int k = 0; k + 1 < h->count; k++) project(h, k);
  for (int k = 1; k < h->count; k++) bound_eigenvalues(h, k, first);
  if (h->exact) invert_last(h);
}

/* ---- The cycle ---- */

/* Two steps of Chebyshev's iteration on x of level k, or from 0. */
static void smooth(HostLevels *h, int k, bool zero) {
  HostLevel *l = &h->level[k];
  for (int64_t i = 0; i < l->A.n; i++)
    l->before[i] = zero ? hk_gpu_smooth_zero(&l->A, i, l->b[i])
                        : hk_gpu_smooth(&l->A, i, false, l->b[i], level_product(h, k, l->x, i),
                                        l->x[i], l->x[i]);
  for (int64_t i = 0; i < l->A.n; i++)
    l->x[i] = hk_gpu_smooth(&l->A, i, true, l->b[i], level_product(h, k, l->before, i),
                            l->before[i], zero ? hk_gpu_four(0, 0, 0) : l->x[i]);
}

static void cycle_from(HostLevels *h, int k, bool first) {
  HostLevel *l = &h->level[k], *next = l + 1;
  int64_t size = 3 * (int64_t)l->A.n;
  if (k == h->count - 1 && h->exact) {
    for (int64_t i = 0; i < size; i++) {
      double sum = 0;
      for (int64_t j = 0; j < size; j++)
        sum += h->inverse[i * size + j] * (double)component(l->b[j / 3], j % 3);
      set_component(&l->x[i / 3], i % 3, (float)sum);
    }
    return;
  }
  smooth(h, k, first);
  if (k + 1 < h->count) {
    HkGpuListsAt T = lists_at(&l->lists[RESTRICT]), P = lists_at(&l->lists[PROLONG]);
    for (int64_t i = 0; i < l->A.n; i++)
      l->r[i] = hk_gpu_four_sub(l->b[i], level_product(h, k, l->x, i));
    for (int64_t i = 0; i < next->A.n; i++) next->b[i] = hk_gpu_list_sum(&T, l->r, i);
    for (int pass = 0; pass < next->cycles; pass++) cycle_from(h, k + 1, pass == 0);
    for (int64_t i = 0; i < l->A.n; i++)
      if (hk_gpu_row_moves(&l->A, i))
        hk_gpu_four_axpy(1, hk_gpu_list_sum(&P, next->x, i), &l->x[i]);
  }
  smooth(h, k, false);
}

/* x of level 0 = an approximation of A^-1 b of level 0. */
static void host_cycle(HostLevels *h) {
  cycle_from(h, 0, true);
}

#endif
