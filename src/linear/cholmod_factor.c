/* Factorization by SuiteSparse CHOLMOD: A = L L^T.
 *
 * Compiled where HK_WITH_CHOLMOD is defined. Ordered by approximate minimum degree, or where that
 * leaves much fill by nested dissection (METIS); by dense panels (supernodal) where that pays, as
 * CHOLMOD decides.
 *
 * CHOLMOD and its BLAS allocate by malloc, not from the context. hk_alone_enter keeps them from
 * starting threads of their own, which would exceed the thread count and change rounding.
 */
#include "linear/factor_type.h"

#ifdef HK_WITH_CHOLMOD

#include "base/threads.h"

#include <cholmod.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* Fill, in entries of L for each unknown, from which on METIS is tried as well. Its ordering takes
 * seven times as long. On cloth of up to 1e5 vertices, with fill up to 95, it barely speeds up the
 * factorization; on solids, with fill from 250 on, it halves the fill and takes a third of the
 * time. For a factor that serves many solves it pays earlier: cloth of 130 x 130 vertices has a
 * tenth less fill, of 500 x 500 a quarter. */
enum { METIS_FILL = 150, METIS_FILL_PANELS = 75 };

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
                   "CHOLMOD has not enough memory to factorize a matrix of %lld rows",
                   (long long)k->a.nrow);
  default:
    return hk_fail(error, HK_ERROR_INVALID, "CHOLMOD fails with status %d", k->common.status);
  }
}

/* ---- Analysis ---- */

/* Bytes that CHOLMOD holds now, and those of this struct and its arrays. */
static size_t count_bytes(const Cholmod *k) {
  return sizeof *k + (k->a.nrow + 1 + k->a.nzmax) * sizeof *k->row + k->common.memory_inuse;
}

static HkStatus copy_pattern(HkFactor *f, Cholmod *k, const HkSparse *pattern, HkError *error) {
  int64_t n = pattern->n, entries = pattern->start[n];
  HK_TRY(hk_alloc(&f->context, &k->start, n + 1, sizeof *k->start, "a factorization", error));
  HK_TRY(hk_alloc(&f->context, &k->row, entries, sizeof *k->row, "a factorization", error));
  for (int64_t i = 0; i <= n; i++) k->start[i] = pattern->start[i];
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
  f->bytes = count_bytes(k);
  return HK_OK;
}

/* METIS takes random numbers from the C library's one sequence for all threads. The lock makes the
 * ordering independent of what other threads order at the same time. */
static pthread_mutex_t metis_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Tries the first `orderings` methods and keeps the best ordering. */
static HkStatus order(Cholmod *k, int orderings, HkError *error) {
  cholmod_l_free_factor(&k->L, &k->common);
  k->common.nmethods = orderings;
  hk_alone_enter(&k->alone);
  if (orderings > 1) pthread_mutex_lock(&metis_mutex);
  k->L = cholmod_l_analyze(&k->a, &k->common);
  if (orderings > 1) pthread_mutex_unlock(&metis_mutex);
  hk_alone_leave(&k->alone);
  return k->L ? HK_OK : fail(k, error);
}

static void release_workspace(Cholmod *k) {
  cholmod_l_free_dense(&k->b, &k->common);
  cholmod_l_free_dense(&k->x, &k->common);
  cholmod_l_free_dense(&k->y, &k->common);
  cholmod_l_free_dense(&k->e, &k->common);
}

/* Right-hand sides and all that solving them needs. */
static HkStatus make_workspace(HkFactor *f, Cholmod *k, HkError *error) {
  cholmod_common *c = &k->common;
  size_t n = k->a.nrow;
  if (k->e) return HK_OK;
  release_workspace(k); /* what an attempt without enough memory has left */
  if (!(k->b = cholmod_l_zeros(n, 3, CHOLMOD_REAL, c)) ||
      !(k->x = cholmod_l_zeros(n, 3, CHOLMOD_REAL, c)) ||
      !(k->y = cholmod_l_zeros(n, 3, CHOLMOD_REAL, c)) ||
      !(k->e = cholmod_l_zeros(k->L->maxesize, 3, CHOLMOD_REAL, c)))
    return fail(k, error);
  f->bytes = count_bytes(k);
  return HK_OK;
}

static HkStatus analyze(HkFactor *f, Cholmod *k, HkError *error) {
  cholmod_common *c = &k->common;
  c->print = 0;
  c->quick_return_if_not_posdef = 1;
  c->final_ll = 1; /* L D L^T would go on where D is negative */
  if (f->use == HK_FACTOR_PANELS) c->supernodal = CHOLMOD_SUPERNODAL;
  c->method[0].ordering = CHOLMOD_AMD;
  c->method[1].ordering = CHOLMOD_METIS;
  HK_TRY(order(k, 1, error));
  double fill = f->use == HK_FACTOR_PANELS ? METIS_FILL_PANELS : METIS_FILL;
  if (c->lnz > fill * (double)f->n) HK_TRY(order(k, 2, error));
  f->entries = (int64_t)c->lnz;
  f->ordering = k->L->ordering == CHOLMOD_METIS ? "metis" : "amd";
  f->bytes = count_bytes(k);
  return f->use == HK_FACTOR_SOLVES ? make_workspace(f, k, error) : HK_OK;
}

/* Bytes of addresses that OpenBLAS takes for a thread that calls it. */
static const double BLAS_BUFFER = 134225920;

static HkStatus create(HkFactor *f, const HkSparse *pattern, HkError *error) {
  Cholmod *k = NULL;
  HK_TRY(hk_alloc(&f->context, &k, 1, sizeof *k, "a factorization", error));
  f->data = k;
  cholmod_l_start(&k->common);
  k->alone = hk_alone_find();
  if (k->alone.set_blas_threads) /* OpenBLAS ends the program, or waits for ever, without it */
    HK_TRY(hk_memory_check(&f->context, BLAS_BUFFER, "the buffer of OpenBLAS",
                           "choose \"ldlt\" as the linear solver or factor", error));
  HK_TRY(copy_pattern(f, k, pattern, error));
  return f->n > 0 ? analyze(f, k, error) : HK_OK;
}

static void destroy(HkFactor *f) {
  Cholmod *k = f->data;
  cholmod_l_free_factor(&k->L, &k->common);
  release_workspace(k);
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
    for (size_t i = 0; i < L->n; i++)
      if (!is_good_pivot(x[start[i]])) return false;
    return true;
  }
  const SuiteSparse_long *first = L->super, *start = L->pi, *panel = L->px;
  for (size_t s = 0; s < L->nsuper; s++) {
    SuiteSparse_long rows = start[s + 1] - start[s];
    for (SuiteSparse_long c = 0; c < first[s + 1] - first[s]; c++)
      if (!is_good_pivot(x[panel[s] + c * (rows + 1)])) return false;
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
  size_t bytes = count_bytes(k);
  if (bytes > f->bytes) f->bytes = bytes; /* CHOLMOD's own workspaces come and go */
  return HK_OK;
}

static HkStatus solve(HkFactor *f, double *b, int columns, HkError *error) {
  Cholmod *k = f->data;
  if (f->n == 0) return HK_OK;
  HK_TRY(make_workspace(f, k, error));
  double *side = k->b->x;
  for (int c = 0; c < columns; c++)
    for (int64_t i = 0; i < f->n; i++) side[c * f->n + i] = b[i * columns + c];
  k->b->ncol = (size_t)columns;
  hk_alone_enter(&k->alone);
  int good = cholmod_l_solve2(CHOLMOD_A, k->L, k->b, NULL, &k->x, NULL, &k->y, &k->e, &k->common);
  hk_alone_leave(&k->alone);
  k->b->ncol = 3;
  if (!good) return fail(k, error);
  const double *x = k->x->x;
  for (int c = 0; c < columns; c++)
    for (int64_t i = 0; i < f->n; i++) b[i * columns + c] = x[c * f->n + i];
  return HK_OK;
}

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "the integers of cholmod_l");

static HkSupernodes view(const HkFactor *f) {
  const Cholmod *k = f->data;
  const cholmod_factor *L = k->L;
  if (f->n == 0) return (HkSupernodes){0};
  return (HkSupernodes){.n = f->n,
                        .count = (int64_t)L->nsuper,
                        .order = L->Perm,
                        .first = L->super,
                        .start = L->pi,
                        .row = L->s,
                        .panel = L->px,
                        .value = L->x};
}

static void release(HkFactor *f) {
  Cholmod *k = f->data;
  if (f->n == 0) return;
  release_workspace(k);
  /* supernodal and symbolic again, which only frees memory */
  cholmod_l_change_factor(CHOLMOD_PATTERN, 1, 1, 1, 1, k->L, &k->common);
  f->bytes = count_bytes(k);
}

/* Dense panels and the workspace of one update; or each entry with its row. */
static double need(const HkFactor *f) {
  const Cholmod *k = f->data;
  const cholmod_factor *L = k->L;
  if (L->xtype != CHOLMOD_PATTERN) return 0;
  if (L->is_super) return ((double)L->xsize + (double)L->maxcsize) * sizeof(double);
  return (double)f->entries * (sizeof(double) + sizeof(SuiteSparse_long));
}

const HkFactorType hk_factor_cholmod = {"cholmod", create, destroy, compute,
                                        solve,     view,   release, need};

#endif
