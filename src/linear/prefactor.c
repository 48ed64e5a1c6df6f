/* The constant matrix of the local/global method; see prefactor.h. */
#include "linear/prefactor.h"

#include "force/springs.h"
#include "linear/numbering.h"
#include "linear/packed.h"

#include <string.h>

/* Ratio to the mass from which on tau^2 e is part of A. What is left out makes the Hessian larger
 * than A by at most this factor, and small forces that come and go need no new factor. The rule
 * depends on the present step only, not on earlier ones: a resumed run has the same A. */
#define MIN_EXTRA_MASS_RATIO 0.1

/* Largest relative error of solutions for which the factor is kept in single precision. */
#define MAX_SINGLE_ERROR 0.03

struct HkPrefactor {
  const HkModel *model;
  const HkSpringArrays *springs;
  const HkHeld *held;
  HkFactorKind kind;
  HkPrecision precision; /* as requested */
  HkFactor *factor;      /* its analysis alone while the packed one is in use */
  HkPacked *packed;      /* NULL where double precision was requested */
  bool single;           /* solves are with the packed one */
  bool logged;           /* the fall back to double precision was logged */
  HkNumbering unknowns;
  int32_t *zero; /* held vertices, as factorized */
  int64_t zeros;
  int64_t *start; /* of the columns */
  double *values; /* of the lower triangle; NULL once it is packed */
  double *b;      /* 3 for each unknown; NULL once it is packed */
  double *extra;  /* n, N/m: as factorized */
  double tau;     /* s, as factorized; 0: it is not */
  int64_t stiffness_version, masses_version, held_version; /* as factorized */
  int64_t analyses, factorizations;
  HkCancel *cancel; /* of its factors; NULL: none */
};

/* ---- Memory ---- */

static HkStatus allocate(HkPrefactor *p, HkError *error) {
  const HkContext *c = &p->model->context;
  int64_t n = p->model->n;
  HkNumbering *u = &p->unknowns;
  HK_TRY(hk_alloc(c, &u->number, n, sizeof *u->number, "a factorized matrix", error));
  return hk_alloc(c, &p->extra, n, sizeof *p->extra, "a factorized matrix", error);
}

HkStatus hk_prefactor_create(const HkModel *model, const HkSpringArrays *springs, HkFactorKind kind,
                             HkPrecision precision, const HkHeld *held, HkPrefactor **prefactor,
                             HkError *error) {
  *prefactor = NULL;
  HK_TRY(hk_factor_check(kind, error));
  HK_TRY(hk_alloc(&model->context, prefactor, 1, sizeof **prefactor, "a factorized matrix", error));
  HkPrefactor *p = *prefactor;
  p->model = model;
  p->springs = springs;
  p->held = held;
  p->kind = kind;
  p->precision = precision;
  HkStatus status = allocate(p, error);
  if (status < 0) hk_prefactor_destroy(prefactor);
  return status;
}

static void forget_analysis(HkPrefactor *p) {
  const HkContext *c = &p->model->context;
  hk_factor_destroy(&p->factor);
  hk_packed_destroy(&p->packed);
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
  hk_free(&c, &p->zero);
  hk_free(&c, &p->unknowns.number);
  hk_free(&c, &p->extra);
  hk_free(&c, prefactor);
}

void hk_prefactor_counts(const HkPrefactor *p, int64_t *analyses, int64_t *factorizations) {
  *analyses = p->analyses;
  *factorizations = p->factorizations;
}

bool hk_prefactor_is_single(const HkPrefactor *p) {
  return p->single;
}

size_t hk_prefactor_traffic(const HkPrefactor *p) {
  return p->single ? hk_packed_traffic(p->packed) : 0;
}

size_t hk_prefactor_bytes(const HkPrefactor *p) {
  int64_t n = p->unknowns.count, count = 2 * p->model->n;
  size_t factor = p->factor ? hk_factor_bytes(p->factor) : 0;
  if (p->packed) factor += hk_packed_bytes(p->packed);
  if (p->start) count += n + 1;
  if (p->start && p->values) count += p->start[n];
  if (p->b) count += 3 * n;
  return sizeof *p + factor + (size_t)count * sizeof *p->b + (size_t)p->zeros * sizeof *p->zero;
}

/* ---- Analysis ---- */

/* True if entry e of vertex i's neighbors is the first to a later unknown. */
static bool is_below(const HkPrefactor *p, int64_t i, int64_t e) {
  const HkModel *m = p->model;
  int32_t other = m->adj_vertex[e];
  if (other <= i || p->unknowns.number[other] < 0) return false;
  return e == m->adj_start[i] || m->adj_vertex[e - 1] != other;
}

static int64_t list_column(const HkPrefactor *p, int64_t i, int64_t *row) {
  const HkModel *m = p->model;
  int64_t count = 0;
  if (row) row[count] = p->unknowns.number[i];
  count++;
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
    if (!is_below(p, i, e)) continue;
    if (row) row[count] = p->unknowns.number[m->adj_vertex[e]];
    count++;
  }
  return count;
}

static void list_pattern(const HkPrefactor *p, int64_t *start, int64_t *row) {
  for (int64_t i = 0; i < p->model->n; i++) {
    int64_t k = p->unknowns.number[i];
    if (k >= 0) start[k + 1] = start[k] + list_column(p, i, row ? row + start[k] : NULL);
  }
}

static HkStatus make_factor(HkPrefactor *p, int64_t **row, HkError *error) {
  const HkContext *c = &p->model->context;
  int64_t n = p->unknowns.count;
  HK_TRY(hk_alloc(c, &p->start, n + 1, sizeof *p->start, "a factorized matrix", error));
  list_pattern(p, p->start, NULL);
  HK_TRY(hk_alloc(c, row, p->start[n], sizeof **row, "a factorized matrix", error));
  if (*row) list_pattern(p, p->start, *row);
  HkSparse pattern = {.n = n, .start = p->start, .row = *row};
  HkFactorUse use = p->precision == HK_PRECISION_DOUBLE ? HK_FACTOR_SOLVES : HK_FACTOR_PANELS;
  HK_TRY(hk_factor_create(c, p->kind, use, &pattern, &p->factor, error));
  hk_factor_set_cancel(p->factor, p->cancel);
  return HK_OK;
}

static HkStatus make_packed(HkPrefactor *p, HkError *error) {
  const HkContext *c = &p->model->context;
  int32_t *vertex = NULL;
  HK_TRY(hk_alloc(c, &vertex, p->unknowns.count, sizeof *vertex, "a factorized matrix", error));
  for (int64_t i = 0; i < p->model->n; i++)
    if (p->unknowns.number[i] >= 0) vertex[p->unknowns.number[i]] = (int32_t)i;
  HkSupernodes view = hk_factor_view(p->factor);
  HkStatus status = hk_packed_create(c, &view, vertex, &p->packed, error);
  hk_free(c, &vertex);
  return status;
}

static HkStatus analyze(HkPrefactor *p, HkError *error) {
  int64_t *row = NULL;
  forget_analysis(p);
  hk_numbering_make(&p->unknowns, p->held, p->model->n, 1);
  HkStatus status = make_factor(p, &row, error);
  hk_free(&p->model->context, &row);
  if (status >= 0 && p->precision != HK_PRECISION_DOUBLE) status = make_packed(p, error);
  if (status < 0) forget_analysis(p);
  if (status >= 0 && p->analyses++ == 0) hk_factor_log(p->factor);
  return status;
}

/* ---- Values ---- */

static double spring_entry(const HkPrefactor *p, int64_t s) {
  return hk_spring_bound(p->springs, s, p->tau);
}

/* Column i; springs to held vertices count on the diagonal alone. */
static void fill_column(HkPrefactor *p, int64_t i, double *out) {
  const HkModel *m = p->model;
  bool held = p->held->mask[i];
  double diagonal = m->mass[i] + p->tau * p->tau * p->extra[i];
  double *at = out;
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
    double entry = held ? 0 : spring_entry(p, m->adj_spring[e]);
    int32_t other = m->adj_vertex[e];
    diagonal += entry;
    if (other <= i || p->unknowns.number[other] < 0) continue;
    if (is_below(p, i, e)) *++at = 0;
    if (!p->held->mask[other]) *at -= entry;
  }
  out[0] = diagonal;
}

static void fill_range(void *user, int64_t begin, int64_t end) {
  HkPrefactor *p = user;
  for (int64_t i = begin; i < end; i++)
    if (p->unknowns.number[i] >= 0) fill_column(p, i, p->values + p->start[p->unknowns.number[i]]);
}

/* e of vertex i as far as it counts. */
static double count_extra(const HkPrefactor *p, const double *extra, int64_t i) {
  double e = extra && !p->held->mask[i] ? extra[i] : 0;
  return fabs(p->tau * p->tau * e) <= MIN_EXTRA_MASS_RATIO * p->model->mass[i] ? 0 : e;
}

/* ---- Precision ---- */

enum { TEST_SOLUTIONS = 3 }; /* known solutions, one for each right-hand side */

typedef struct Product {
  const HkPrefactor *p;
  const double *e;
  double *out;
} Product;

/* out = A e. */
static void product_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkPrefactor *p = a->p;
  const HkModel *m = p->model;
  const uint8_t *held = p->held->mask;
  for (int64_t i = begin; i < end; i++) {
    double sum[3], diagonal = m->mass[i] + p->tau * p->tau * p->extra[i];
    for (int c = 0; c < 3; c++) sum[c] = diagonal * a->e[3 * i + c];
    for (int64_t e = m->adj_start[i]; !held[i] && e < m->adj_start[i + 1]; e++) {
      int64_t other = m->adj_vertex[e];
      double entry = spring_entry(p, m->adj_spring[e]);
      for (int c = 0; c < 3; c++)
        sum[c] += entry * (a->e[3 * i + c] - (held[other] ? 0 : a->e[3 * other + c]));
    }
    for (int c = 0; c < 3; c++) a->out[3 * i + c] = sum[c];
  }
}

/* One that is constant, which is what a matrix with little mass knows least of, one that is smooth
 * and one that is not. */
static void make_known(const HkPrefactor *p, double *e) {
  uint64_t seed = 1;
  for (int64_t i = 0; i < p->model->n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    e[3 * i] = 1;
    e[3 * i + 1] = cos(3.0 * (double)i / (double)p->model->n);
    e[3 * i + 2] = (double)(seed >> 40) / (1 << 23) - 1;
    for (int c = 0; p->held->mask[i] && c < TEST_SOLUTIONS; c++) e[3 * i + c] = 0;
  }
}

/* The largest error of a solution among them. */
static double known_error(HkPrefactor *p, const double *e, double *z) {
  double error[TEST_SOLUTIONS] = {0}, size[TEST_SOLUTIONS] = {0}, worst = 0;
  Product a = {p, e, z};
  hk_parallel_for(p->model->threads, p->model->n, product_range, &a);
  hk_packed_solve(p->packed, p->model->threads, 1, z, z);
  for (int64_t c = 0; c < 3 * p->model->n; c++) {
    if (p->held->mask[c / 3]) continue;
    double off = z[c] - e[c];
    error[c % 3] += off * off;
    size[c % 3] += e[c] * e[c];
  }
  for (int c = 0; c < TEST_SOLUTIONS; c++) {
    double part = size[c] > 0 ? sqrt(error[c] / size[c]) : 0;
    if (isnan(part)) return INFINITY;
    if (part > worst) worst = part;
  }
  return worst;
}

static HkStatus measure_error(HkPrefactor *p, double *worst, HkError *error) {
  const HkContext *c = &p->model->context;
  double *e = NULL, *z = NULL;
  HkStatus status = hk_alloc_vector(c, &e, p->model->n, "a factorized matrix", error);
  if (status >= 0) status = hk_alloc_vector(c, &z, p->model->n, "a factorized matrix", error);
  if (status >= 0) {
    make_known(p, e);
    *worst = known_error(p, e, z);
  }
  hk_free(c, &e);
  hk_free(c, &z);
  return status;
}

/* Packs the new factor and releases it, or keeps it. */
static HkStatus choose_precision(HkPrefactor *p, HkError *error) {
  const HkContext *c = &p->model->context;
  double worst = 0;
  if (p->precision != HK_PRECISION_DOUBLE) {
    HkSupernodes view = hk_factor_view(p->factor);
    HK_TRY(hk_packed_fill(p->packed, &view, p->model->threads, error));
    if (p->precision == HK_PRECISION_AUTO) HK_TRY(measure_error(p, &worst, error));
    p->single = worst <= MAX_SINGLE_ERROR;
  }
  if (p->single) {
    p->logged = false;
    hk_factor_release(p->factor);
    hk_free(c, &p->values);
    hk_free(c, &p->b);
    return HK_OK;
  }
  if (p->packed) hk_packed_release(p->packed);
  if (p->packed && !p->logged)
    hk_log(c, HK_LOG_INFO,
           "solutions with M + tau^2 L in single precision are off by %.2g: its factor stays in "
           "double precision",
           worst);
  p->logged = true;
  if (p->b) return HK_OK;
  return hk_alloc(c, &p->b, 3 * p->unknowns.count, sizeof *p->b, "a factorized matrix", error);
}

/* ---- Factorizing and solving ---- */

/* Held vertices, for which solutions are 0. */
static HkStatus list_zeros(HkPrefactor *p, HkError *error) {
  const HkContext *c = &p->model->context;
  int64_t n = p->model->n;
  hk_free(c, &p->zero);
  p->zeros = 0;
  for (int64_t i = 0; i < n; i++) p->zeros += p->held->mask[i] != 0;
  HK_TRY(hk_alloc(c, &p->zero, p->zeros, sizeof *p->zero, "a factorized matrix", error));
  for (int64_t i = 0, k = 0; i < n; i++)
    if (p->held->mask[i]) p->zero[k++] = (int32_t)i;
  return HK_OK;
}

/* The factor in double precision is there until it is packed. */
static HkStatus check_memory(const HkPrefactor *p, HkError *error) {
  double bytes = hk_factor_need(p->factor) + (p->packed ? hk_packed_need(p->packed) : 0);
  return hk_memory_check(&p->model->context, bytes, "the factor of M + tau^2 L",
                         "choose \"newton\" with the linear solver \"pcg\", or ask for fewer "
                         "vertices",
                         error);
}

static HkStatus compute(HkPrefactor *p, HkError *error) {
  const HkModel *m = p->model;
  bool positive;
  HK_TRY(check_memory(p, error));
  if (!p->values)
    HK_TRY(hk_alloc(&m->context, &p->values, p->start[p->unknowns.count], sizeof *p->values,
                    "a factorized matrix", error));
  hk_parallel_for(m->threads, m->n, fill_range, p);
  HK_TRY(hk_factor_compute(p->factor, p->values, &positive, error));
  if (positive) return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID,
                 "M + tau^2 L is not positive definite at tau = %g s: a mass is not above 0, or "
                 "a stiffness or damping is negative or not finite",
                 p->tau);
}

static HkStatus factorize(HkPrefactor *p, double tau, const double *extra, HkError *error) {
  const HkModel *m = p->model;
  p->tau = tau;
  p->single = false;
  for (int64_t i = 0; i < m->n; i++) p->extra[i] = count_extra(p, extra, i);
  HkStatus status = list_zeros(p, error);
  if (status >= 0) status = compute(p, error);
  if (status >= 0) status = choose_precision(p, error);
  if (status < 0) p->tau = 0;
  if (status < 0) return status;
  p->stiffness_version = p->springs->version;
  p->masses_version = m->masses_version;
  p->held_version = p->held->version;
  p->factorizations++;
  return HK_OK;
}

void hk_prefactor_set_cancel(HkPrefactor *p, HkCancel *cancel) {
  p->cancel = cancel;
  if (p->factor) hk_factor_set_cancel(p->factor, cancel);
}

void hk_prefactor_set_springs(HkPrefactor *p, const HkSpringArrays *springs) {
  p->springs = springs;
}

static bool extra_changed(const HkPrefactor *p, const double *extra) {
  for (int64_t i = 0; i < p->model->n; i++)
    if (count_extra(p, extra, i) != p->extra[i]) return true;
  return false;
}

HkStatus hk_prefactor_update(HkPrefactor *p, double tau, const double *extra, HkError *error) {
  if (!(tau > 0) || !isfinite(tau))
    return hk_fail(error, HK_ERROR_INVALID, "a matrix M + tau^2 L needs tau above 0, not %g", tau);
  if (hk_numbering_changed(&p->unknowns, p->held)) HK_TRY(analyze(p, error));
  if (p->tau == tau && p->stiffness_version == p->springs->version &&
      p->masses_version == p->model->masses_version && p->held_version == p->held->version &&
      !extra_changed(p, extra))
    return HK_OK;
  return factorize(p, tau, extra, error);
}

/* Three right-hand sides at a time through the double factor. */
static HkStatus solve_double(HkPrefactor *p, double s, const double *r, double *z, HkError *error) {
  const int64_t *number = p->unknowns.number;
  int64_t n = p->model->n;
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; number[i] >= 0 && c < 3; c++) p->b[3 * number[i] + c] = r[3 * i + c];
  HK_TRY(hk_factor_solve(p->factor, p->b, 3, error));
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; number[i] >= 0 && c < 3; c++) z[3 * i + c] = s * p->b[3 * number[i] + c];
  return HK_OK;
}

HkStatus hk_prefactor_solve(HkPrefactor *p, double s, const double *r, double *z, HkError *error) {
  if (p->single)
    hk_packed_solve(p->packed, p->model->threads, s, r, z);
  else
    HK_TRY(solve_double(p, s, r, z, error));
  for (int64_t k = 0; k < p->zeros; k++) memset(z + 3 * (int64_t)p->zero[k], 0, 3 * sizeof *z);
  return HK_OK;
}
