/* The inner loops of multigrid; see multigrid_kernels.h and multigrid.h.
 *
 * Springs of level 0 are 4 floats (w, c) for the block w w^T + c I, so that a product with one is
 *
 *     B x = (w . x) w + c x
 *
 * for as many neighbours at once as a vector holds.
 */
#include "linear/multigrid_kernels.h"

#include "linear/kernels/blocks.h"

/* ---- Rows ---- */

/* sum of A_ij x_j over the blocks begin .. end - 1 of a row. */
HK_INLINE HkFloat4 blocks_times(const HkLevel *l, int32_t begin, int32_t end) {
  RowSum even = {0}, odd = {0};
  int32_t e = begin;
  for (; e + 1 < end; e += 2) {
    even = row_add(even, l->A + 12 * (int64_t)e, l->x + 4 * (int64_t)l->graph.column[e]);
    odd = row_add(odd, l->A + 12 * (int64_t)(e + 1), l->x + 4 * (int64_t)l->graph.column[e + 1]);
  }
  if (e < end) even = row_add(even, l->A + 12 * (int64_t)e, l->x + 4 * (int64_t)l->graph.column[e]);
  return row_total(even + odd);
}

/* Minus the same of springs, since A_ij = -B. */
HK_INLINE HkFloat4 springs_times(const HkLevel *l, const HkFine *fine, int32_t begin, int32_t end) {
  HkFloats sum = {0};
  for (int32_t e = begin; e < end; e += QUADS) {
    HkFloats s = hk_floats_load(fine->spring + 4 * (int64_t)e);
    HkFloats x = quads_gather(l->x, fine->neighbour + e);
    HkFloats dot = s * x; /* the last of x is 0 */
    dot = dot + QUAD_SHUFFLE(dot, 1, 0, 3, 2);
    dot = dot + QUAD_SHUFFLE(dot, 2, 3, 0, 1);
    sum = sum + dot * s + QUAD_SHUFFLE(s, 3, 3, 3, 3) * x;
  }
  return without_last(quads_sum(sum));
}

HK_INLINE HkFloat4 lower_times(const HkLevel *l, const HkFine *fine, int64_t i) {
  if (fine) return -springs_times(l, fine, fine->lower[i], fine->upper[i]);
  return blocks_times(l, l->graph.start[i], l->diagonal[i]);
}

HK_INLINE HkFloat4 upper_times(const HkLevel *l, const HkFine *fine, int64_t i) {
  if (fine) return -springs_times(l, fine, fine->upper[i], fine->lower[i + 1]);
  return blocks_times(l, l->diagonal[i] + 1, l->graph.start[i + 1]);
}

HK_INLINE void sweep_first_rows(const HkLevel *l, const HkFine *fine, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    HkFloat4 rest = hk_float4_load(l->b + 4 * i) - lower_times(l, fine, i);
    hk_float4_store(l->x + 4 * i, block_times(l->D + 12 * i, rest));
  }
}

static void sweep_first(const HkLevel *l, const HkFine *fine, int64_t begin, int64_t end) {
  if (fine)
    sweep_first_rows(l, fine, begin, end);
  else
    sweep_first_rows(l, NULL, begin, end);
}

/* b - A x without the diagonal. */
HK_INLINE HkFloat4 rest_of_row(const HkLevel *l, int64_t i) {
  return hk_float4_load(l->b + 4 * i) - lower_times(l, NULL, i) - upper_times(l, NULL, i);
}

static void sweep_again(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    hk_float4_store(l->x + 4 * i, block_times(l->D + 12 * i, rest_of_row(l, i)));
}

HK_INLINE void sweep_back_rows(const HkLevel *l, const HkFine *fine, int64_t begin, int64_t end) {
  for (int64_t i = end - 1; i >= begin; i--) {
    HkFloat4 rest;
    if (fine)
      rest =
          hk_float4_load(l->b + 4 * i) + springs_times(l, fine, fine->lower[i], fine->lower[i + 1]);
    else
      rest = rest_of_row(l, i);
    hk_float4_store(l->x + 4 * i, block_times(l->D + 12 * i, rest));
  }
}

static void sweep_back(const HkLevel *l, const HkFine *fine, int64_t begin, int64_t end) {
  if (fine)
    sweep_back_rows(l, fine, begin, end);
  else
    sweep_back_rows(l, NULL, begin, end);
}

static void residual(const HkLevel *l, const HkFine *fine, int64_t begin, int64_t end) {
  if (fine)
    for (int64_t i = begin; i < end; i++) hk_float4_store(l->r + 4 * i, -upper_times(l, fine, i));
  else
    for (int64_t i = begin; i < end; i++) hk_float4_store(l->r + 4 * i, -upper_times(l, NULL, i));
}

static void residual_again(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    hk_float4_store(l->r + 4 * i, hk_float4_load(l->b + 4 * i) -
                                      blocks_times(l, l->graph.start[i], l->graph.start[i + 1]));
}

/* ---- Between levels ---- */

HK_INLINE HkFloat4 weighted(const HkWeights *w, int64_t row, const float *x) {
  HkFloat4 sum = {0};
  for (int32_t e = w->start[row]; e < w->start[row + 1]; e++)
    sum = sum + hk_float4_load(x + 4 * (int64_t)w->column[e]) * w->weight[e];
  return sum;
}

static void restrict_to(const HkLevel *l, const HkLevel *coarse, int64_t begin, int64_t end) {
  for (int64_t I = begin; I < end; I++)
    hk_float4_store(coarse->b + 4 * I, weighted(&l->galerkin.T, I, l->r));
}

static void prolong(const HkLevel *l, const HkLevel *coarse, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    hk_float4_store(l->x + 4 * i, hk_float4_load(l->x + 4 * i) + weighted(&l->P, i, coarse->x));
}

/* In two dimensions z holds masses alone, and stays 0 within. */
static void take(const HkMultigrid *m, const double *r, int64_t begin, int64_t end) {
  bool flat = m->model->dimension == 2;
  float *b = m->level[0].b;
  for (int64_t k = begin; k < end; k++) {
    const double *from = r + 3 * (int64_t)m->vertex[k], s = m->scale;
    float z = flat ? 0 : (float)(s * from[2]);
    hk_float4_store(b + 4 * k, (HkFloat4){(float)(s * from[0]), (float)(s * from[1]), z, 0});
  }
}

static void give(const HkMultigrid *m, const double *r, double *z, int64_t begin, int64_t end) {
  bool flat = m->model->dimension == 2;
  const float *x = m->level[0].x;
  double back = 1 / m->scale;
  for (int64_t q = begin; q < end; q++) {
    for (int c = 0; c < 3; c++) z[3 * q + c] = back * (double)x[4 * (int64_t)m->row[q] + c];
    if (flat) z[3 * q + 2] = r[3 * q + 2] / m->model->mass[q];
  }
}

/* ---- Values of level 0 ---- */

/* Puts the springs of a list, adds their blocks to D. */
HK_INLINE Block fill_springs(const HkFineValues *v, int32_t begin, int32_t end, Block D) {
  const HkMultigrid *m = v->multigrid;
  for (int32_t e = begin; e < end; e++) {
    float *to = m->fine.spring + 4 * (int64_t)e;
    if (m->fine.slot[e] < 0) continue;
    const float *from = v->records + 4 * (int64_t)m->fine.slot[e];
    bool held = v->held && v->held[m->vertex[m->fine.neighbour[e]]];
    HkFloat4 spring = hk_float4_load(from);
    if (held) spring = (HkFloat4){0};
    hk_float4_store(to, spring);
    D = block_add(D, block_of_spring(from), -1);
  }
  return D;
}

static void fill(const HkFineValues *v, int64_t begin, int64_t end) {
  const HkMultigrid *m = v->multigrid;
  const HkFine *fine = &m->fine;
  float *D = m->level[0].D;
  for (int64_t i = begin; i < end; i++) {
    int64_t q = m->vertex[i];
    float start[16] = {0};
    for (int c = 0; c < 3; c++) start[5 * c] = (float)m->model->mass[q];
    bool held = v->held && v->held[q];
    if (!held && v->extra)
      for (int c = 0; c < 9; c++) start[4 * (c / 3) + c % 3] += (float)v->extra[9 * q + c];
    Block sum = block_load(start);
    if (held)
      for (int64_t e = 4 * (int64_t)fine->lower[i]; e < 4 * (int64_t)fine->lower[i + 1]; e++)
        fine->spring[e] = 0;
    else
      sum = fill_springs(v, fine->lower[i], fine->lower[i + 1], sum);
    block_store(D + 12 * i, sum);
  }
}

/* ---- P^T A P ---- */

static void multiply(const HkLevel *l, int64_t begin, int64_t end) {
  const HkGalerkin *k = &l->galerkin;
  for (int64_t i = begin; i < end; i++) {
    const float *A = l->A + 12 * (int64_t)l->graph.start[i];
    for (int64_t q = k->row[i]; q < k->row[i + 1]; q++) {
      Block sum = {0};
      for (int64_t t = k->term[q]; t < k->term[q + 1]; t++)
        sum = block_add(sum, block_load(A + 12 * (int64_t)k->block[t]), k->weight[t]);
      block_store(k->AP + 12 * q, sum);
    }
  }
}

/* The blocks of row i, from springs and diagonal. */
HK_INLINE void blocks_of_row(const HkMultigrid *m, int64_t i, Block blocks[]) {
  const HkLevel *l = &m->level[0];
  const HkFine *fine = &m->fine;
  int32_t lower = l->diagonal[i] - l->graph.start[i];
  int32_t upper = l->graph.start[i + 1] - l->diagonal[i] - 1;
  for (int32_t e = 0; e < lower; e++)
    blocks[e] = block_of_spring(fine->spring + 4 * (int64_t)(fine->lower[i] + e));
  blocks[lower] = block_load(l->D + 12 * i);
  for (int32_t e = 0; e < upper; e++)
    blocks[lower + 1 + e] = block_of_spring(fine->spring + 4 * (int64_t)(fine->upper[i] + e));
}

static void multiply_fine(const HkMultigrid *m, int64_t begin, int64_t end) {
  const HkGalerkin *k = &m->level[0].galerkin;
  Block blocks[HK_GALERKIN_WIDEST];
  for (int64_t i = begin; i < end; i++) {
    blocks_of_row(m, i, blocks);
    for (int64_t q = k->row[i]; q < k->row[i + 1]; q++) {
      Block sum = {0};
      for (int64_t t = k->term[q]; t < k->term[q + 1]; t++)
        sum = block_add(sum, blocks[k->block[t]], k->weight[t]);
      block_store(k->AP + 12 * q, sum);
    }
  }
}

static void project(const HkLevel *l, const HkLevel *coarse, int64_t begin, int64_t end) {
  const HkGalerkin *k = &l->galerkin;
  for (int64_t I = begin; I < end; I++) {
    for (int32_t e = coarse->graph.start[I]; e < coarse->graph.start[I + 1]; e++) {
      Block sum = {0};
      for (int64_t t = k->coarse_term[e]; t < k->coarse_term[e + 1]; t++)
        sum = block_add(sum, block_load(k->AP + 12 * (int64_t)k->coarse_block[t]),
                        k->coarse_weight[t]);
      block_store(coarse->A + 12 * (int64_t)e, sum);
    }
    memcpy(coarse->D + 12 * I, coarse->A + 12 * (int64_t)coarse->diagonal[I], 12 * sizeof(float));
  }
}

/* The inverse of a symmetric block, its diagonal a little larger so that rounding cannot make it
 * indefinite. */
HK_INLINE void invert_block(float a[12]) {
  double trace = (double)a[0] + a[5] + a[10], more = 1e-6 * trace;
  double p = a[0] + more, q = a[5] + more, r = a[10] + more, b = a[4], c = a[8], d = a[9];
  double A = q * r - d * d, B = c * d - b * r, C = b * d - q * c;
  double scale = 1 / (p * A + b * B + c * C);
  a[0] = (float)(A * scale);
  a[5] = (float)((p * r - c * c) * scale);
  a[10] = (float)((p * q - b * b) * scale);
  a[1] = a[4] = (float)(B * scale);
  a[2] = a[8] = (float)(C * scale);
  a[6] = a[9] = (float)((b * c - p * d) * scale);
}

static void invert(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    float *a = l->D + 12 * i;
    if (a[0] + a[5] + a[10] > 0)
      invert_block(a);
    else
      memset(a, 0, 12 * sizeof *a); /* no vertex follows this one */
  }
}

/* ---- The last level ---- */

/* Gauss and Jordan in place. */
static void invert_dense(int n, double *A) {
  for (int k = 0; k < n; k++) {
    double *pivot = A + (size_t)k * (size_t)n, scale = 1 / pivot[k];
    pivot[k] = 1;
    for (int j = 0; j < n; j++) pivot[j] *= scale;
    for (int i = 0; i < n; i++) {
      double *row = A + (size_t)i * (size_t)n, f = row[k];
      if (i == k) continue;
      row[k] = 0;
      for (int j = 0; j < n; j++) row[j] -= f * pivot[j];
    }
  }
}

/* A is symmetric: its rows are its columns. */
static void apply_dense(int n, const float *A, const float *b, float *out) {
  memset(out, 0, (size_t)n * sizeof *out);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) out[i] += b[j] * A[(size_t)j * (size_t)n + (size_t)i];
}

const HkMultigridKernels HK_KERNEL(hk_multigrid_kernels) = {.fill = fill,
                                                            .multiply_fine = multiply_fine,
                                                            .multiply = multiply,
                                                            .project = project,
                                                            .invert = invert,
                                                            .sweep_first = sweep_first,
                                                            .sweep_back = sweep_back,
                                                            .sweep_again = sweep_again,
                                                            .residual = residual,
                                                            .residual_again = residual_again,
                                                            .restrict_to = restrict_to,
                                                            .prolong = prolong,
                                                            .invert_dense = invert_dense,
                                                            .apply_dense = apply_dense,
                                                            .take = take,
                                                            .give = give};
