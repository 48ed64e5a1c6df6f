/* The constant matrix of the local/global method; see prefactor.h. */
#include "linear/prefactor.h"

#include "linear/numbering.h"

/* tau^2 e counts where it is more than this part of the mass. What is left out makes the Hessian at
 * most so much larger than A, and small forces that come and go need no other factor. It depends on
 * the present step alone, not on earlier ones: a resumed run has the same A. */
#define EXTRA_LEAST 0.1

struct HkPrefactor {
  const HkModel *model;
  const HkHeld *held;
  HkFactorKind kind;
  HkFactor *factor;
  HkNumbering unknowns;
  int64_t *start;                          /* of the columns */
  double *values;                          /* of the lower triangle */
  double *b;                               /* 3 for each unknown */
  double *extra;                           /* n, N/m: as factorised */
  double tau;                              /* s, as factorised; 0: it is not */
  int64_t stiffness_version, held_version; /* as factorised */
  int64_t analyses, factorisations;
};

/* ---- Memory ---- */

static HkStatus allocate(HkPrefactor *p, HkError *error) {
  const HkContext *c = &p->model->context;
  int64_t n = p->model->n;
  HkNumbering *u = &p->unknowns;
  HK_TRY(hk_alloc(c, &u->number, n, sizeof *u->number, "a factorised matrix", error));
  return hk_alloc(c, &p->extra, n, sizeof *p->extra, "a factorised matrix", error);
}

HkStatus hk_prefactor_create(const HkModel *model, HkFactorKind kind, const HkHeld *held,
                             HkPrefactor **prefactor, HkError *error) {
  *prefactor = NULL;
  HK_TRY(hk_factor_check(kind, error));
  HK_TRY(hk_alloc(&model->context, prefactor, 1, sizeof **prefactor, "a factorised matrix", error));
  HkPrefactor *p = *prefactor;
  p->model = model;
  p->held = held;
  p->kind = kind;
  HkStatus status = allocate(p, error);
  if (status < 0) hk_prefactor_destroy(prefactor);
  return status;
}

static void forget_analysis(HkPrefactor *p) {
  const HkContext *c = &p->model->context;
  hk_factor_destroy(&p->factor);
  hk_free(c, &p->start);
  hk_free(c, &p->values);
  hk_free(c, &p->b);
  p->unknowns.made = false;
  p->tau = 0;
}

void hk_prefactor_destroy(HkPrefactor **prefactor) {
  HkPrefactor *p = *prefactor;
  if (!p) return;
  HkContext c = p->model->context;
  forget_analysis(p);
  hk_free(&c, &p->unknowns.number);
  hk_free(&c, &p->extra);
  hk_free(&c, prefactor);
}

void hk_prefactor_counts(const HkPrefactor *p, int64_t *analyses, int64_t *factorisations) {
  *analyses = p->analyses;
  *factorisations = p->factorisations;
}

size_t hk_prefactor_bytes(const HkPrefactor *p) {
  int64_t n = p->unknowns.count, entries = p->start ? p->start[n] : 0;
  size_t factor = p->factor ? hk_factor_bytes(p->factor) : 0;
  return sizeof *p + factor + (size_t)(2 * p->model->n + 4 * n + 1 + entries) * sizeof *p->b;
}

/* ---- Analysis ---- */

/* True if entry e of vertex q's neighbours is the first to a later unknown. */
static bool is_below(const HkPrefactor *p, int64_t q, int64_t e) {
  const HkModel *m = p->model;
  int32_t other = m->adj_vertex[e];
  if (other <= q || p->unknowns.number[other] < 0) return false;
  return e == m->adj_start[q] || m->adj_vertex[e - 1] != other;
}

static int64_t list_column(const HkPrefactor *p, int64_t q, int64_t *row) {
  const HkModel *m = p->model;
  int64_t count = 0;
  if (row) row[count] = p->unknowns.number[q];
  count++;
  for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
    if (!is_below(p, q, e)) continue;
    if (row) row[count] = p->unknowns.number[m->adj_vertex[e]];
    count++;
  }
  return count;
}

static void list_pattern(const HkPrefactor *p, int64_t *start, int64_t *row) {
  for (int64_t q = 0; q < p->model->n; q++) {
    int64_t k = p->unknowns.number[q];
    if (k >= 0) start[k + 1] = start[k] + list_column(p, q, row ? row + start[k] : NULL);
  }
}

static HkStatus make_factor(HkPrefactor *p, int64_t **row, HkError *error) {
  const HkContext *c = &p->model->context;
  int64_t n = p->unknowns.count;
  HK_TRY(hk_alloc(c, &p->start, n + 1, sizeof *p->start, "a factorised matrix", error));
  list_pattern(p, p->start, NULL);
  HK_TRY(hk_alloc(c, row, p->start[n], sizeof **row, "a factorised matrix", error));
  HK_TRY(hk_alloc(c, &p->values, p->start[n], sizeof *p->values, "a factorised matrix", error));
  HK_TRY(hk_alloc(c, &p->b, 3 * n, sizeof *p->b, "a factorised matrix", error));
  if (*row) list_pattern(p, p->start, *row);
  HkSparse pattern = {.n = n, .start = p->start, .row = *row};
  return hk_factor_create(c, p->kind, &pattern, &p->factor, error);
}

static HkStatus analyse(HkPrefactor *p, HkError *error) {
  int64_t *row = NULL;
  forget_analysis(p);
  hk_numbering_make(&p->unknowns, p->held, p->model->n, 1);
  HkStatus status = make_factor(p, &row, error);
  hk_free(&p->model->context, &row);
  if (status < 0) forget_analysis(p);
  if (status >= 0) p->analyses++;
  return status;
}

/* ---- Values ---- */

static double spring_entry(const HkPrefactor *p, int64_t s) {
  const HkModel *m = p->model;
  double damping = m->damping ? m->damping[s] : 0;
  return p->tau * (p->tau * m->k[s] + damping);
}

/* Column q; springs to held vertices count on the diagonal alone. */
static void fill_column(HkPrefactor *p, int64_t q, double *out) {
  const HkModel *m = p->model;
  bool held = p->held->mask[q];
  double diagonal = m->mass[q] + p->tau * p->tau * p->extra[q];
  double *at = out;
  for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
    double entry = held ? 0 : spring_entry(p, m->adj_spring[e]);
    int32_t other = m->adj_vertex[e];
    diagonal += entry;
    if (other <= q || p->unknowns.number[other] < 0) continue;
    if (is_below(p, q, e)) *++at = 0;
    if (!p->held->mask[other]) *at -= entry;
  }
  out[0] = diagonal;
}

static void fill_range(void *user, int64_t begin, int64_t end) {
  HkPrefactor *p = user;
  for (int64_t q = begin; q < end; q++)
    if (p->unknowns.number[q] >= 0) fill_column(p, q, p->values + p->start[p->unknowns.number[q]]);
}

/* e of vertex q as far as it counts. */
static double count_extra(const HkPrefactor *p, const double *extra, int64_t q) {
  double e = extra && !p->held->mask[q] ? extra[q] : 0;
  return fabs(p->tau * p->tau * e) <= EXTRA_LEAST * p->model->mass[q] ? 0 : e;
}

static HkStatus factorise(HkPrefactor *p, double tau, const double *extra, HkError *error) {
  const HkModel *m = p->model;
  bool positive;
  p->tau = tau;
  for (int64_t q = 0; q < m->n; q++) p->extra[q] = count_extra(p, extra, q);
  hk_parallel_for(m->threads, m->n, fill_range, p);
  HkStatus status = hk_factor_compute(p->factor, p->values, &positive, error);
  if (status >= 0 && !positive)
    status =
        hk_fail(error, HK_ERROR_INVALID,
                "M + tau^2 L is not positive definite at tau = %g s: a mass is not above 0, or "
                "a stiffness or damping is negative or not finite",
                tau);
  if (status < 0) p->tau = 0;
  if (status < 0) return status;
  p->stiffness_version = m->stiffness_version;
  p->held_version = p->held->version;
  p->factorisations++;
  return HK_OK;
}

static bool extra_changed(const HkPrefactor *p, const double *extra) {
  for (int64_t q = 0; q < p->model->n; q++)
    if (count_extra(p, extra, q) != p->extra[q]) return true;
  return false;
}

HkStatus hk_prefactor_update(HkPrefactor *p, double tau, const double *extra, HkError *error) {
  if (!(tau > 0) || !isfinite(tau))
    return hk_fail(error, HK_ERROR_INVALID, "a matrix M + tau^2 L wants tau above 0, not %g", tau);
  if (hk_numbering_changed(&p->unknowns, p->held)) HK_TRY(analyse(p, error));
  if (p->tau == tau && p->stiffness_version == p->model->stiffness_version &&
      p->held_version == p->held->version && !extra_changed(p, extra))
    return HK_OK;
  return factorise(p, tau, extra, error);
}

HkStatus hk_prefactor_solve(HkPrefactor *p, const double *r, double *z, HkError *error) {
  const int64_t *number = p->unknowns.number;
  int64_t n = p->model->n;
  for (int64_t q = 0; q < n; q++)
    for (int c = 0; number[q] >= 0 && c < 3; c++) p->b[3 * number[q] + c] = r[3 * q + c];
  HK_TRY(hk_factor_solve(p->factor, p->b, 3, error));
  for (int64_t q = 0; q < n; q++)
    for (int c = 0; c < 3; c++) z[3 * q + c] = p->held->mask[q] ? 0 : p->b[3 * number[q] + c];
  return HK_OK;
}
