/* Weighted terms on level 0 of multigrid; see fine_terms.h. */
#include "linear/fine_terms.h"

#include <math.h>
#include <string.h>

enum { PIECE_GRAIN = 1024, VERTEX_GRAIN = 128 };

typedef struct Pass {
  const HkMultigrid *m;
  const HkTermRows *rows;
  const HkFineTerms *f;
  double tau;
  float *part, *y; /* in the scratch buffer of the terms */
  float *r;        /* the vector of the level that C x is subtracted from */
  bool saves;
} Pass;

static Pass pass_of(const HkMultigrid *m) {
  const HkTermRows *rows = m->fine_terms.rows;
  void *scratch = rows->terms->y;
  float *part = scratch;
  return (Pass){
      .m = m, .rows = rows, .f = &m->fine_terms, .part = part, .y = part + 4 * rows->pieces};
}

static void run_vertices(Pass *a, int threads, HkRangeFn *fn) {
  hk_parallel_work(threads, a->rows->terms->vertex_count, VERTEX_GRAIN, fn, a);
}

/* y = s sum of parts */
static void sum_range(void *user, int64_t begin, int64_t end) {
  const Pass *a = user;
  for (int64_t p = begin; p < end; p++) {
    const float *part = a->part + 4 * p;
    a->y[p] = a->f->scale[p] * ((part[0] + part[1]) + (part[2] + part[3]));
  }
}

/* ---- A new Hessian ---- */

/* tau^2, or less where a term is so stiff against the masses of its vertices that the inverse of
 * their diagonal blocks, in single precision, would not be positive definite any more. */
static double scale_of(const HkModel *m, const HkWeightedTerm *term, double tau) {
  const double STIFFEST = 2e5;
  double stiffness = tau * tau * (term->K[0] + term->K[3] + term->K[5]), mass = INFINITY;
  for (int a = 0; a < 4; a++)
    if (term->weight[a] != 0) mass = fmin(mass, m->mass[term->vertex[a]]);
  return stiffness > STIFFEST * mass ? tau * tau * STIFFEST * mass / stiffness : tau * tau;
}

static void scale_range(void *user, int64_t begin, int64_t end) {
  const Pass *a = user;
  for (int64_t t = begin; t < end; t++) {
    float scale = (float)scale_of(a->m->model, &a->rows->terms->term[t], a->tau);
    for (int32_t p = a->rows->first[t]; p < a->rows->first[t + 1]; p++) a->f->scale[p] = scale;
  }
}

static void norm_range(void *user, int64_t begin, int64_t end) {
  const Pass *a = user;
  a->rows->kernels->norms_single(a->rows, a->part, begin, end);
}

static void diagonal_range(void *user, int64_t begin, int64_t end) {
  const Pass *a = user;
  a->rows->kernels->diagonal_single(a->rows, a->y, a->f->G, begin, end);
  for (int64_t q = 12 * begin; q < 12 * end; q++) a->f->G[q] *= 0.5f;
}

static HkStatus grow(const HkContext *c, HkFineTerms *f, HkError *error) {
  int64_t vertices = f->rows->terms->vertex_count, capacity = f->vertex_capacity;
  HK_TRY(hk_grow(c, &f->scale, &f->scale_capacity, f->rows->pieces, sizeof *f->scale, "multigrid",
                 error));
  HK_TRY(hk_grow(c, &f->G, &capacity, vertices, 12 * sizeof *f->G, "multigrid", error));
  return hk_grow(c, &f->saved, &f->vertex_capacity, vertices, 4 * sizeof *f->saved, "multigrid",
                 error);
}

HkStatus hk_fine_terms_set(HkMultigrid *m, const HkTermRows *rows, double tau, int threads,
                           HkError *error) {
  HkFineTerms *f = &m->fine_terms;
  f->rows = rows && rows->pieces > 0 ? rows : NULL;
  if (!f->rows) return HK_OK;
  HK_TRY(grow(&m->model->context, f, error));
  Pass a = pass_of(m);
  a.tau = tau;
  hk_parallel_work(threads, rows->terms->count, PIECE_GRAIN, scale_range, &a);
  run_vertices(&a, threads, norm_range);
  hk_parallel_work(threads, rows->pieces, PIECE_GRAIN, sum_range, &a);
  run_vertices(&a, threads, diagonal_range);
  return HK_OK;
}

void hk_fine_terms_destroy(const HkContext *c, HkFineTerms *f) {
  void *arrays[] = {&f->scale, &f->G, &f->saved};
  for (int k = 0; k < 3; k++) hk_free(c, arrays[k]);
  *f = (HkFineTerms){0};
}

size_t hk_fine_terms_bytes(const HkFineTerms *f) {
  return (size_t)f->scale_capacity * sizeof *f->scale +
         (size_t)f->vertex_capacity * (12 * sizeof *f->G + 4 * sizeof *f->saved);
}

/* Row of the level of vertex k of the terms. */
static int64_t row_of(const Pass *a, int64_t k) {
  return a->m->row[a->rows->terms->vertex[k]];
}

static void add_diagonal_range(void *user, int64_t begin, int64_t end) {
  const Pass *a = user;
  for (int64_t k = begin; k < end; k++)
    for (int q = 0; q < 12; q++) a->m->level[0].D[12 * row_of(a, k) + q] += a->f->G[12 * k + q];
}

void hk_fine_terms_add_diagonal(const HkMultigrid *m, int threads) {
  if (!m->fine_terms.rows) return;
  Pass a = pass_of(m);
  run_vertices(&a, threads, add_diagonal_range);
}

/* ---- The cycle ---- */

static void part_range(void *user, int64_t begin, int64_t end) {
  const Pass *a = user;
  a->rows->kernels->parts_single(a->rows, a->m->row, a->m->level[0].x, a->part, begin, end);
}

/* r += G x - C x */
static void subtract_range(void *user, int64_t begin, int64_t end) {
  const Pass *a = user;
  for (int64_t k = begin; k < end && a->saves; k++)
    memcpy(a->f->saved + 4 * k, a->r + 4 * row_of(a, k), 4 * sizeof *a->r);
  a->rows->kernels->subtract_single(a->rows, a->m->row, a->y, a->f->G, a->m->level[0].x, a->r,
                                    begin, end);
}

static void subtract(const HkMultigrid *m, int threads, float *r, bool saves) {
  if (!m->fine_terms.rows) return;
  Pass a = pass_of(m);
  a.r = r;
  a.saves = saves;
  run_vertices(&a, threads, part_range);
  hk_parallel_work(threads, a.rows->pieces, PIECE_GRAIN, sum_range, &a);
  run_vertices(&a, threads, subtract_range);
}

void hk_fine_terms_residual(const HkMultigrid *m, int threads) {
  subtract(m, threads, m->level[0].r, false);
}

void hk_fine_terms_begin_sweep(const HkMultigrid *m, int threads) {
  subtract(m, threads, m->level[0].b, true);
}

static void restore_range(void *user, int64_t begin, int64_t end) {
  const Pass *a = user;
  for (int64_t k = begin; k < end; k++)
    memcpy(a->m->level[0].b + 4 * row_of(a, k), a->f->saved + 4 * k, 4 * sizeof *a->r);
}

void hk_fine_terms_end_sweep(const HkMultigrid *m, int threads) {
  if (!m->fine_terms.rows) return;
  Pass a = pass_of(m);
  run_vertices(&a, threads, restore_range);
}
