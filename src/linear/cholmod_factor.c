/* Factorisation by SuiteSparse CHOLMOD: A = L L^T.
 *
 * Compiled where HK_WITH_CHOLMOD is defined. Ordered by approximate minimum degree, or where that
 * leaves much fill by nested dissection (METIS); by dense panels (supernodal) where that pays, as
 * CHOLMOD decides.
 *
 * CHOLMOD and the BLAS below it take memory from malloc, not from the context, and would start
 * threads of their own, more than it was asked for and with other bits: hk_alone_enter.
 */
#include "linear/factor_type.h"

#ifdef HK_WITH_CHOLMOD

#include "base/threads.h"

#include <cholmod.h>
#include <math.h>
#include <string.h>

/* Fill, in entries of L for each unknown, from which on METIS is tried as well. Its ordering takes
 * seven times as long. On cloth of up to 1e5 vertices, with fill up to 95, it brings nothing; of
 * solids it halves the fill and takes a third of the time to factorise, from 250 on. */
enum { METIS_FILL = 150 };

typedef struct Cholmod {
  cholmod_common common;
  HkAlone alone;
  cholmod_sparse a; /* its arrays are those below, and the caller's values */
  SuiteSparse_long *start, *row;
  cholmod_factor *L;
  cholmod_dense *b, *x, *y, *e; /* right-hand sides, solution, workspaces of cholmod_l_solve2 */
} Cholmod;

static HkStatus fail(const Cholmod *k, HkError *error) {
  switch (k->common.status) {
  case CHOLMOD_OUT_OF_MEMORY:
  case CHOLMOD_TOO_LARGE:
    return hk_fail(error, HK_ERROR_MEMORY,
                   "CHOLMOD has not enough memory to factorise a matrix of %lld rows",
                   (long long)k->a.nrow);
  default:
    return hk_fail(error, HK_ERROR_INVALID, "CHOLMOD fails with status %d", k->common.status);
  }
}

/* ---- Analysis ---- */

static HkStatus copy_pattern(HkFactor *f, Cholmod *k, const HkSparse *pattern, HkError *error) {
  int64_t n = pattern->n, entries = pattern->start[n];
  HK_TRY(hk_alloc(&f->context, &k->start, n + 1, sizeof *k->start, "a factorisation", error));
  HK_TRY(hk_alloc(&f->context, &k->row, entries, sizeof *k->row, "a factorisation", error));
  for (int64_t q = 0; q <= n; q++) k->start[q] = pattern->start[q];
  for (int64_t e = 0; e < entries; e++) k->row[e] = pattern->row[e];
  k->a = (cholmod_sparse){.nrow = (size_t)n,
                          .ncol = (size_t)n,
                          .nzmax = (size_t)entries,
                          .p = k->start,
                          .i = k->row,
                          .stype = -1,
                          .itype = CHOLMOD_LONG,
                          .xtype = CHOLMOD_PATTERN,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
  f->bytes = sizeof *k + (size_t)(n + 1 + entries) * sizeof *k->row;
  return HK_OK;
}

/* Tries the first so many orderings, and keeps the best. */
static HkStatus order(Cholmod *k, int orderings, HkError *error) {
  cholmod_l_free_factor(&k->L, &k->common);
  k->common.nmethods = orderings;
  hk_alone_enter(&k->alone);
  k->L = cholmod_l_analyze(&k->a, &k->common);
  hk_alone_leave(&k->alone);
  return k->L ? HK_OK : fail(k, error);
}

/* Right-hand sides and all that solving them needs. */
static HkStatus make_room(HkFactor *f, Cholmod *k, HkError *error) {
  cholmod_common *c = &k->common;
  size_t n = k->a.nrow;
  if (!(k->b = cholmod_l_zeros(n, 3, CHOLMOD_REAL, c)) ||
      !(k->x = cholmod_l_zeros(n, 3, CHOLMOD_REAL, c)) ||
      !(k->y = cholmod_l_zeros(n, 3, CHOLMOD_REAL, c)) ||
      !(k->e = cholmod_l_zeros(k->L->maxesize, 3, CHOLMOD_REAL, c)))
    return fail(k, error);
  f->bytes += c->memory_inuse;
  return HK_OK;
}

static HkStatus analyse(HkFactor *f, Cholmod *k, HkError *error) {
  cholmod_common *c = &k->common;
  c->print = 0;
  c->quick_return_if_not_posdef = 1;
  c->final_ll = 1; /* L D L^T would go on where D is negative */
  c->method[0].ordering = CHOLMOD_AMD;
  c->method[1].ordering = CHOLMOD_METIS;
  HK_TRY(order(k, 1, error));
  if (c->lnz > METIS_FILL * (double)f->n) HK_TRY(order(k, 2, error));
  f->entries = (int64_t)c->lnz;
  return make_room(f, k, error);
}

static HkStatus create(HkFactor *f, const HkSparse *pattern, HkError *error) {
  Cholmod *k = NULL;
  HK_TRY(hk_alloc(&f->context, &k, 1, sizeof *k, "a factorisation", error));
  f->data = k;
  cholmod_l_start(&k->common);
  k->alone = hk_alone_find();
  HK_TRY(copy_pattern(f, k, pattern, error));
  return f->n > 0 ? analyse(f, k, error) : HK_OK;
}

static void destroy(HkFactor *f) {
  Cholmod *k = f->data;
  cholmod_l_free_factor(&k->L, &k->common);
  cholmod_l_free_dense(&k->b, &k->common);
  cholmod_l_free_dense(&k->x, &k->common);
  cholmod_l_free_dense(&k->y, &k->common);
  cholmod_l_free_dense(&k->e, &k->common);
  cholmod_l_finish(&k->common);
  hk_free(&f->context, &k->start);
  hk_free(&f->context, &k->row);
  hk_free(&f->context, &f->data);
}

/* ---- Values and right-hand sides ---- */

/* CHOLMOD and LAPACK look for pivots that are negative, not for those that are not numbers. */
static bool is_good_pivot(double d) {
  return d > 0 && isfinite(d);
}

static bool has_good_pivots(const cholmod_factor *L) {
  const double *x = L->x;
  if (!L->is_super) {
    const SuiteSparse_long *start = L->p;
    for (size_t q = 0; q < L->n; q++)
      if (!is_good_pivot(x[start[q]])) return false;
    return true;
  }
  const SuiteSparse_long *first = L->super, *start = L->pi, *panel = L->px;
  for (size_t s = 0; s < L->nsuper; s++) {
    SuiteSparse_long rows = start[s + 1] - start[s];
    for (SuiteSparse_long q = 0; q < first[s + 1] - first[s]; q++)
      if (!is_good_pivot(x[panel[s] + q * (rows + 1)])) return false;
  }
  return true;
}

static HkStatus compute(HkFactor *f, const double *values, bool *positive, HkError *error) {
  Cholmod *k = f->data;
  *positive = true;
  if (f->n == 0) return HK_OK;
  /* CHOLMOD only reads them. */
  memcpy(&k->a.x, &values, sizeof values);
  k->a.xtype = CHOLMOD_REAL;
  hk_alone_enter(&k->alone);
  cholmod_l_factorize(&k->a, k->L, &k->common);
  hk_alone_leave(&k->alone);
  if (k->common.status < 0) return fail(k, error);
  *positive = k->L->minor == k->L->n && has_good_pivots(k->L);
  size_t bytes = sizeof *k + (k->a.nrow + 1 + k->a.nzmax) * sizeof *k->row + k->common.memory_inuse;
  if (bytes > f->bytes) f->bytes = bytes;
  return HK_OK;
}

static HkStatus solve(HkFactor *f, double *b, int columns, HkError *error) {
  Cholmod *k = f->data;
  if (f->n == 0) return HK_OK;
  double *side = k->b->x;
  for (int c = 0; c < columns; c++)
    for (int64_t q = 0; q < f->n; q++) side[c * f->n + q] = b[q * columns + c];
  k->b->ncol = (size_t)columns;
  hk_alone_enter(&k->alone);
  int good = cholmod_l_solve2(CHOLMOD_A, k->L, k->b, NULL, &k->x, NULL, &k->y, &k->e, &k->common);
  hk_alone_leave(&k->alone);
  k->b->ncol = 3;
  if (!good) return fail(k, error);
  const double *x = k->x->x;
  for (int c = 0; c < columns; c++)
    for (int64_t q = 0; q < f->n; q++) b[q * columns + c] = x[c * f->n + q];
  return HK_OK;
}

const HkFactorType hk_factor_cholmod = {create, destroy, compute, solve};

#endif
