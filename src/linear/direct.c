/* Direct solvers: A = L D L^T of the assembled matrix, x = L^-T D^-1 L^-1 b.
 *
 * The unknowns are the coordinates of all vertices that are not held (of all where held ones stay),
 * without z in two dimensions. The rows of the others hold their diagonal alone: x = b / a. The
 * lower triangle by columns that a factorization needs is the upper triangle by rows, which the
 * block matrix stores in that order already: values are copied row by row, without a search.
 *
 * Analyzed at the first prepare, and again only when other vertices are held or the matrix has
 * another pattern.
 */
#include "linear/direct.h"

#include "linear/numbering.h"

typedef struct Direct {
  HkFactorKind kind;
  HkFactor *factor;
  HkNumbering unknowns;
  int64_t *start; /* of the columns of the factorized matrix */
  double *values; /* of its lower triangle */
  double *b;
  double *residual;      /* 3 n */
  uint64_t pattern_hash; /* of the matrix that was analyzed */
  bool logged;           /* hk_factor_log was called */
} Direct;

static int width_of(const HkLinear *solver) {
  return solver->setup.model->dimension == 2 ? 2 : 3;
}

/* ---- Memory ---- */

HkStatus hk_direct_create(HkLinear *solver, HkFactorKind kind, HkError *error) {
  const HkContext *c = &solver->setup.model->context;
  int64_t n = solver->setup.model->n;
  Direct *d = NULL;
  HK_TRY(hk_factor_check(kind, error));
  HK_TRY(hk_alloc(c, &d, 1, sizeof *d, "a linear solver", error));
  solver->data = d;
  d->kind = kind;
  HK_TRY(hk_alloc(c, &d->unknowns.number, n, sizeof *d->unknowns.number, "a linear solver", error));
  HK_TRY(hk_alloc(c, &d->residual, 3 * n, sizeof *d->residual, "a linear solver", error));
  solver->bytes = sizeof *d + (size_t)n * 4 * sizeof *d->residual;
  return HK_OK;
}

bool hk_direct_needs_matrix(const void *params) {
  (void)params;
  return true;
}

/* Releases all that was made for one set of held vertices. */
static void forget_analysis(const HkContext *c, Direct *d) {
  hk_factor_destroy(&d->factor);
  hk_free(c, &d->start);
  hk_free(c, &d->values);
  hk_free(c, &d->b);
  d->unknowns.made = false;
}

void hk_direct_destroy(HkLinear *solver) {
  const HkContext *c = &solver->setup.model->context;
  Direct *d = solver->data;
  forget_analysis(c, d);
  hk_free(c, &d->unknowns.number);
  hk_free(c, &d->residual);
  hk_free(c, &solver->data);
}

/* ---- Analysis ---- */

/* The rows of coordinate c of vertex j, rising, into row unless that is NULL; returns how many. */
static int64_t list_column(const HkPattern *p, const HkNumbering *u, int64_t j, int c, int width,
                           int64_t *row) {
  int64_t count = 0;
  for (int64_t e = p->diagonal[j]; e < p->start[j + 1]; e++) {
    int64_t i = p->column[e];
    if (u->number[i] < 0) continue;
    for (int r = i == j ? c : 0; r < width; r++, count++)
      if (row) row[count] = u->number[i] + r;
  }
  return count;
}

/* The starts of the columns if row is NULL; the rows otherwise. */
static void list_pattern(const HkLinear *solver, const Direct *d, int64_t *start, int64_t *row) {
  const HkPattern *p = solver->A.matrix->pattern;
  int width = width_of(solver);
  for (int64_t j = 0; j < p->n; j++)
    for (int c = 0; d->unknowns.number[j] >= 0 && c < width; c++) {
      int64_t k = d->unknowns.number[j] + c;
      int64_t count = list_column(p, &d->unknowns, j, c, width, row ? row + start[k] : NULL);
      start[k + 1] = start[k] + count;
    }
}

static HkStatus make_factor(HkLinear *solver, Direct *d, int64_t **row, HkError *error) {
  const HkContext *c = &solver->setup.model->context;
  int64_t n = d->unknowns.count;
  HK_TRY(hk_alloc(c, &d->start, n + 1, sizeof *d->start, "a linear solver", error));
  HK_TRY(hk_alloc(c, &d->b, n, sizeof *d->b, "a linear solver", error));
  list_pattern(solver, d, d->start, NULL);
  HK_TRY(hk_alloc(c, row, d->start[n], sizeof **row, "a linear solver", error));
  HK_TRY(hk_alloc(c, &d->values, d->start[n], sizeof *d->values, "a linear solver", error));
  if (*row) list_pattern(solver, d, d->start, *row);
  HkSparse pattern = {.n = n, .start = d->start, .row = *row};
  HK_TRY(hk_factor_create(c, d->kind, HK_FACTOR_SOLVES, &pattern, &d->factor, error));
  hk_factor_set_cancel(d->factor, solver->setup.cancel);
  return HK_OK;
}

static HkStatus analyze(HkLinear *solver, Direct *d, HkError *error) {
  const HkModel *m = solver->setup.model;
  int64_t *row = NULL;
  forget_analysis(&m->context, d);
  hk_numbering_make(&d->unknowns, solver->setup.held, m->n, width_of(solver));
  d->pattern_hash = solver->A.matrix->pattern->hash;
  HkStatus status = make_factor(solver, d, &row, error);
  hk_free(&m->context, &row);
  if (status < 0) forget_analysis(&m->context, d);
  if (status >= 0 && !d->logged) hk_factor_log(d->factor);
  d->logged = true;
  return status;
}

static size_t count_bytes(const HkLinear *solver, const Direct *d) {
  int64_t n = d->unknowns.count;
  return sizeof *d + hk_factor_bytes(d->factor) +
         (size_t)(4 * solver->setup.model->n + 2 * n + 1 + d->start[n]) * sizeof *d->values;
}

/* ---- Values and right-hand sides ---- */

static void gather_range(void *user, int64_t begin, int64_t end) {
  const HkLinear *solver = user;
  const Direct *d = solver->data;
  const HkPattern *p = solver->A.matrix->pattern;
  int width = width_of(solver);
  for (int64_t j = begin; j < end; j++)
    for (int c = 0; d->unknowns.number[j] >= 0 && c < width; c++) {
      double *out = d->values + d->start[d->unknowns.number[j] + c];
      for (int64_t e = p->diagonal[j]; e < p->start[j + 1]; e++) {
        const double *block_row = solver->A.matrix->value + 9 * e + 3 * c;
        if (d->unknowns.number[p->column[e]] < 0) continue;
        for (int r = p->column[e] == j ? c : 0; r < width; r++) *out++ = block_row[r];
      }
    }
}

HkStatus hk_direct_prepare(HkLinear *solver, HkError *error) {
  Direct *d = solver->data;
  bool positive;
  if (hk_numbering_changed(&d->unknowns, solver->setup.held) ||
      d->pattern_hash != solver->A.matrix->pattern->hash)
    HK_TRY(analyze(solver, d, error));
  HK_TRY(hk_memory_check(&solver->setup.model->context, hk_factor_need(d->factor),
                         "the factor of the Hessian",
                         "choose the linear solver \"pcg\", or ask for fewer vertices", error));
  hk_parallel_for(solver->space.threads, solver->space.n, gather_range, solver);
  HkStatus status = hk_factor_compute(d->factor, d->values, &positive, error);
  solver->indefinite = status < 0 || !positive;
  solver->bytes = count_bytes(solver, d);
  return status;
}

/* x of the unknowns from the factorization, of the others from their diagonal. */
static void spread_solution(const HkLinear *solver, const double *b, double *x) {
  const Direct *d = solver->data;
  const HkBlockMatrix *A = solver->A.matrix;
  int width = width_of(solver);
  for (int64_t i = 0; i < solver->space.n; i++) {
    const double *diagonal = A->value + 9 * A->pattern->diagonal[i];
    int64_t k = d->unknowns.number[i];
    for (int c = 0; c < 3; c++)
      x[3 * i + c] = k >= 0 && c < width ? d->b[k + c] : b[3 * i + c] / diagonal[4 * c];
  }
}

HkStatus hk_direct_solve(HkLinear *solver, const double *b, double *x, double tolerance,
                         HkLinearResult *result, HkError *error) {
  (void)tolerance;
  Direct *d = solver->data;
  int width = width_of(solver);
  result->indefinite = solver->indefinite;
  if (solver->indefinite) {
    hk_vectors_zero(&solver->space, x);
  } else {
    for (int64_t i = 0; i < solver->space.n; i++)
      for (int c = 0; d->unknowns.number[i] >= 0 && c < width; c++)
        d->b[d->unknowns.number[i] + c] = b[3 * i + c];
    HK_TRY(hk_factor_solve(d->factor, d->b, 1, error));
    spread_solution(solver, b, x);
    result->iterations = 1;
  }
  hk_linear_residual(solver, b, x, d->residual, result);
  result->reason = HK_STOP_CONVERGED;
  return HK_OK;
}
