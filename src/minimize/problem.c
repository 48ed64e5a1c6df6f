/* The problem that every implicit step solves; see problem.h. */
#include "minimize/problem.h"

#include "base/vec.h"
#include "force/springs.h"
#include "minimize/gradient_kernels.h"

#include <float.h>
#include <string.h>

HK_KERNEL_TABLE(HkGradientKernels, hk_gradient_kernels)

/* ---- Creating ---- */

static HkStatus vector(HkProblem *p, double **v, HkError *error) {
  if (*v) return HK_OK;
  HK_TRY(hk_alloc_vector(&p->model->context, v, p->model->n, "an implicit step", error));
  p->bytes += hk_vector_bytes(p->model->n);
  return HK_OK;
}

static HkStatus number(HkProblem *p, double **v, int64_t count, HkError *error) {
  HK_TRY(hk_alloc(&p->model->context, v, count, sizeof **v, "an implicit step", error));
  p->bytes += (size_t)count * sizeof **v;
  return HK_OK;
}

static HkStatus allocate(HkProblem *p, HkError *error) {
  const HkModel *m = p->model;
  HkIsa isa;
  HK_TRY(hk_isa_pick(&isa, error));
  p->kernels = hk_gradient_kernels_of(isa);
  HK_TRY(hk_pattern_create(m, &p->pattern, &p->bytes, error));
  HK_TRY(hk_alloc(&m->context, &p->held.mask, m->n, sizeof *p->held.mask, "pins", error));
  p->bytes += (size_t)m->n * sizeof *p->held.mask;
  HK_TRY(number(p, &p->space.sums, hk_sum_slots(m->n), error));
  HK_TRY(vector(p, &p->y, error));
  HK_TRY(vector(p, &p->b, error));
  HK_TRY(vector(p, &p->scratch, error));
  HK_TRY(vector(p, &p->scratch2, error));
  HK_TRY(number(p, &p->inverse, m->n, error));
  return number(p, &p->extra, m->n, error);
}

size_t hk_problem_bytes(const HkProblem *p) {
  size_t dampers = p->dampers ? p->dampers->bytes : 0;
  return p->bytes + dampers + hk_damping_bytes(&p->damping) + hk_hessian_bytes(&p->hessian) +
         (p->prefactor ? hk_prefactor_bytes(p->prefactor) : 0);
}

HkStatus hk_problem_create(const HkModel *model, const HkForceWork *work, HkProblem *p,
                           HkError *error) {
  *p = (HkProblem){.model = model, .work = work};
  p->space = (HkVectors){.model = model, .n = model->n, .threads = model->threads};
  p->held.stays = model->pin_method == HK_PINS_REACTION;
  p->hessian = (HkHessian){.model = model, .work = work, .held = &p->held, .pattern = &p->pattern};
  HkStatus status = allocate(p, error);
  if (status < 0) hk_problem_destroy(p);
  return status;
}

void hk_problem_destroy(HkProblem *p) {
  if (!p->model) return;
  const HkContext *c = &p->model->context;
  hk_prefactor_destroy(&p->prefactor);
  hk_hessian_destroy(&p->hessian);
  hk_damping_destroy(p->model, &p->damping);
  hk_pattern_destroy(p->model, &p->pattern);
  double **vectors[] = {&p->y,        &p->b,       &p->f,     &p->v,    &p->scratch,
                        &p->scratch2, &p->inverse, &p->extra, &p->drag, &p->space.sums};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) hk_free(c, vectors[k]);
  hk_free(c, &p->held.mask);
  hk_dampers_destroy(&p->dampers);
  *p = (HkProblem){0};
}

HkStatus hk_problem_need_dampers(HkProblem *p, HkError *error) {
  if (p->dampers || !p->work->springs->damping) return HK_OK;
  HK_TRY(hk_dampers_create(p->model, p->work, &p->dampers, error));
  p->work = p->hessian.work = &p->dampers->work;
  return HK_OK;
}

HkStatus hk_problem_need_prefactor(HkProblem *p, HkFactorKind kind, HkPrecision precision,
                                   HkError *error) {
  if (p->prefactor && p->factor_kind == kind && p->precision == precision) return HK_OK;
  if (p->prefactor)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the minimizer and its preconditioner need different factorizations");
  p->factor_kind = kind;
  p->precision = precision;
  HK_TRY(hk_prefactor_create(p->model, p->work->springs, kind, precision, &p->held, &p->prefactor,
                             error));
  hk_prefactor_set_cancel(p->prefactor, p->cancel);
  return HK_OK;
}

HkStatus hk_problem_update_prefactor(HkProblem *p, HkError *error) {
  hk_prefactor_set_springs(p->prefactor, p->work->springs);
  return hk_prefactor_update(p->prefactor, p->tau, p->extra, error);
}

/* ---- The forces without a potential ---- */

/* f = all forces at (x, v) less those with a potential. */
static void push(HkProblem *p, const double *x, const double *v) {
  const HkModel *m = p->model;
  memset(p->f, 0, (size_t)m->n * 3 * sizeof *p->f);
  memset(p->scratch, 0, (size_t)m->n * 3 * sizeof *p->f);
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (type->energy && !hk_force_uses_velocity(m, p->work, f)) continue;
    if (!type->add) continue;
    HkForceArgs a = hk_force_args(m, f, p->work, p->t, x, v);
    type->add(&a, p->f);
    a.v = NULL;
    if (type->energy) type->add(&a, p->scratch);
  }
  hk_vectors_subtract(&p->space, p->f, p->scratch, p->f);
}

/* The drag of each vertex, if that is all there is: products with it take a ninth of the memory and
 * no search for the blocks. */
static void take_drag(HkProblem *p) {
  p->drags = p->damping.C.only_diagonal;
  for (int64_t i = 0; i < p->model->n && p->drags; i++) {
    const double *C = p->damping.C.value + 9 * p->damping.C.pattern->diagonal[i];
    p->drag[i] = C[0];
    p->drags = C[4] == C[0] && C[8] == C[0];
    for (int c = 1; c < 8; c++) p->drags &= c == 4 || C[c] == 0;
  }
}

static HkStatus linearize(HkProblem *p, const double *x, const double *v, HkError *error) {
  const HkModel *m = p->model;
  p->damped = p->pushed = p->partial = false;
  for (int f = 0; f < m->force_count; f++) {
    p->damped |= hk_force_uses_velocity(m, p->work, f);
    p->partial |= hk_force_uses_velocity(m, p->work, f) && m->forces[f].type->damping;
    p->pushed |= p->damped || (m->forces[f].type->add && !m->forces[f].type->energy);
  }
  if (!p->pushed) return HK_OK;
  HK_TRY(vector(p, &p->f, error));
  HK_TRY(vector(p, &p->v, error));
  hk_vectors_copy(&p->space, v, p->v);
  push(p, x, v);
  if (!p->damped) return HK_OK;
  if (!p->drag) HK_TRY(number(p, &p->drag, m->n, error));
  HK_TRY(hk_damping_assemble(m, p->work, &p->pattern, p->t, x, v, &p->damping, error));
  take_drag(p);
  return HK_OK;
}

/* The largest row sum of tau M^-1 C bounds what damping adds to the Hessian, in parts of M. */
static double damping_range(void *user, int64_t begin, int64_t end) {
  const HkProblem *p = user;
  double most = 0;
  for (int64_t i = begin; i < end; i++) {
    double sum = 0;
    int64_t first, last;
    if (p->held.mask[i]) continue;
    hk_block_row(&p->damping.C, i, &first, &last);
    if (p->drags) sum = p->drag[i];
    for (int64_t e = first; e < last && !p->drags; e++)
      sum += hk_mat_row_sum(p->damping.C.value + 9 * e);
    most = hk_larger(most, p->tau * sum / p->model->mass[i]);
  }
  return most;
}

/* A contains the springs as stiff as they ever are and what is quadratic, but for a tenth of the
 * mass (prefactor.h). */
static bool is_bounded(HkProblem *p) {
  const HkModel *m = p->model;
  for (int f = 0; f < m->force_count; f++)
    if (hk_force_has_blocks(m, f) && !m->forces[f].type->quadratic) return false;
  if (hk_forces_have_filter(m)) return false;
  if (!p->damped) return true;
  return hk_most_vertices(m, damping_range, p, p->space.sums) <= 0.5;
}

/* ---- The diagonal ---- */

typedef struct Bound {
  HkJacobianSink sink;
  HkProblem *p;
  double *extra;
  HkStatus status;
  HkError *error;
} Bound;

/* The largest row sum bounds the eigenvalues of a block. */
static void bound_dfdx(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  (void)j;
  ((Bound *)sink)->extra[i] += hk_mat_row_sum(B);
}

/* Terms are in the memory of those of the Hessian, whose operator ends with it. */
static HkWeightedTerm *bound_terms(HkJacobianSink *sink, int64_t count, bool curved,
                                   HkWeightedCurvature **curvature) {
  Bound *b = (Bound *)sink;
  HkWeightedTerm *first = NULL;
  if (b->status >= 0)
    b->status = hk_weighted_append(&b->p->hessian.blocks.terms, b->p->model, count, curved, &first,
                                   curvature, b->error);
  return b->status >= 0 ? first : NULL;
}

/* The blocks w_a w_b K of row a have the bound |w_a| sum_b |w_b| times that of K. */
static void add_term_bounds(const HkWeightedTerms *terms, double *extra) {
  for (int64_t t = 0; t < terms->count; t++) {
    const HkWeightedTerm *term = &terms->term[t];
    const double *K = term->K, full[9] = {K[0], K[1], K[2], K[1], K[3], K[4], K[2], K[4], K[5]};
    double bound = hk_mat_row_sum(full), sum = 0;
    for (int a = 0; a < 4; a++) sum += fabs(term->weight[a]);
    for (int a = 0; a < 4; a++) extra[term->vertex[a]] += fabs(term->weight[a]) * sum * bound;
  }
}

/* d_i (kg) with the stiffness k (N/m) of all forces but the springs. */
static double bound_of(const HkProblem *p, int64_t i, double k) {
  double c = 0;
  hk_springs_add_bounds(p->model, p->work->springs, i, &k, &c);
  return p->model->mass[i] + p->tau * (p->tau * k + c);
}

static void diagonal_range(void *user, int64_t begin, int64_t end) {
  HkProblem *p = user;
  for (int64_t i = begin; i < end; i++)
    p->inverse[i] = p->held.mask[i] ? 0 : 1 / bound_of(p, i, p->extra[i]);
}

/* extra (n) = the bounds at x; `all`: with those of forces whose stiffness has none in a step, and
 * which count by their projected Hessian. */
static HkStatus bound_extra(HkProblem *p, const double *x, bool all, double *extra,
                            HkError *error) {
  const HkModel *m = p->model;
  HkWeightedTerms *terms = &p->hessian.blocks.terms;
  Bound bound = {.sink = {.dfdx = bound_dfdx, .dfdv = hk_jacobian_skip, .terms = bound_terms},
                 .p = p,
                 .extra = extra,
                 .error = error};
  memset(extra, 0, (size_t)m->n * sizeof *extra);
  terms->count = 0;
  for (int f = 0; f < m->force_count; f++) {
    if (!hk_force_has_blocks(m, f) || (m->forces[f].type->unbounded && !all)) continue;
    HkForceArgs a = hk_force_args(m, f, p->work, p->t, x, NULL);
    if (m->forces[f].type->unbounded) a.curvature = HK_CURVATURE_PROJECTED;
    m->forces[f].type->jacobian(&a, &bound.sink);
  }
  add_term_bounds(terms, extra);
  terms->count = 0;
  return bound.status;
}

HkStatus hk_problem_linearize(HkProblem *p, const double *x, const double *v, HkError *error) {
  const HkModel *m = p->model;
  HK_TRY(linearize(p, x, v, error));
  p->hessian.begins = true;
  p->bounded = is_bounded(p);
  HK_TRY(bound_extra(p, x, true, p->extra, error));
  hk_parallel_for(m->threads, m->n, diagonal_range, p);
  return hk_problem_has_unbounded(p) ? bound_extra(p, x, false, p->extra, error) : HK_OK;
}

bool hk_problem_has_unbounded(const HkProblem *p) {
  const HkModel *m = p->model;
  for (int f = 0; f < m->force_count; f++)
    if (hk_force_has_blocks(m, f) && m->forces[f].type->unbounded) return true;
  return false;
}

HkStatus hk_problem_begin_iterate(HkProblem *p, const double *x, HkError *error) {
  return hk_forces_begin_iterate(p->model, p->work, p->t, x, error);
}

bool hk_problem_filter(HkProblem *p, const double *x, double *to) {
  return hk_forces_filter(p->model, p->work, p->t, x, to);
}

HkHessianAt hk_problem_hessian_at(const HkProblem *p, const double *x) {
  return (HkHessianAt){
      .x = x, .t = p->t, .tau = p->tau, .damping = p->damped ? &p->damping.C : NULL};
}

/* ---- g and its gradient ---- */

typedef struct Slip {
  const HkProblem *p;
  const double *from, *to;
} Slip;

/* scratch = w, or scratch2 = C w where that needs no neighbors. */
static void slip_range(void *user, int64_t begin, int64_t end) {
  const Slip *a = user;
  const HkProblem *p = a->p;
  double rate = 0.5 / p->tau, *out = p->drags ? p->scratch2 : p->scratch;
  for (int64_t vertex = begin; vertex < end; vertex++) {
    double factor = p->drags ? p->drag[vertex] : 1;
    for (int64_t i = 3 * vertex; i < 3 * vertex + 3; i++)
      out[i] = factor * (rate * ((a->from[i] - p->b[i]) + (a->to[i] - p->b[i])) - p->v[i]);
  }
}

/* scratch2 = C w, w = (x - b) / tau - v at the middle of two places. */
static void drag(HkProblem *p, const double *from, const double *to) {
  Slip a = {p, from, to};
  hk_parallel_for(p->model->threads, p->model->n, slip_range, &a);
  if (!p->drags) hk_block_matrix_product(&p->damping.C, p->scratch, p->scratch2);
}

typedef struct Gradient {
  const HkGradientKernels *kernels;
  HkGradientArgs args;
} Gradient;

static double gradient_range(void *user, int64_t begin, int64_t end) {
  const Gradient *a = user;
  return a->kernels->gradient(&a->args, begin, end);
}

double hk_problem_gradient(HkProblem *p, const double *x, double *g) {
  const HkModel *m = p->model;
  HK_ASSERT(p->tau > 0 && x != g);
  double square = p->tau * p->tau, fall[3];
  hk_forces_potential(m, p->work, p->t, x, g, fall);
  if (p->damped) drag(p, x, x);
  Gradient a = {p->kernels,
                {.x = x,
                 .y = p->y,
                 .f = p->pushed ? p->f : NULL,
                 .drag = p->damped ? p->scratch2 : NULL,
                 .mass = m->mass,
                 .inverse = p->inverse,
                 .square = square,
                 .fall = {square * fall[0], square * fall[1], square * fall[2]},
                 .flat = m->dimension == 2,
                 .g = g}};
  return sqrt(hk_sum_vertices(m, gradient_range, &a, p->space.sums));
}

typedef struct Change {
  const HkProblem *p;
  const double *from, *to, *drag;
} Change;

/* Held vertices do not move: their terms are 0. */
static double change_range(void *user, int64_t begin, int64_t end) {
  const Change *a = user;
  const HkProblem *p = a->p;
  double square = p->tau * p->tau, sum[3] = {0, 0, 0};
  for (int64_t vertex = begin; vertex < end; vertex++)
    for (int c = 0; c < 3; c++) {
      int64_t i = 3 * vertex + c;
      double d = a->to[i] - a->from[i], work = 0;
      if (p->pushed) work -= p->f[i];
      if (a->drag) work += a->drag[i];
      double middle = 0.5 * ((a->to[i] - p->y[i]) + (a->from[i] - p->y[i]));
      sum[c] += d * (p->model->mass[vertex] * middle + square * work);
    }
  return sum[0] + sum[1] + sum[2];
}

double hk_problem_change(HkProblem *p, const double *from, const double *to) {
  const HkModel *m = p->model;
  double energy = hk_forces_energy_change(m, p->work, p->t, from, to);
  Change a = {p, from, to, NULL};
  if (p->damped) { /* C w at the middle: 1/2 d . C (w + w') */
    drag(p, from, to);
    a.drag = p->scratch2;
  }
  double rest = hk_sum_vertices(m, change_range, &a, p->space.sums);
  return rest + p->tau * p->tau * energy;
}

typedef struct Measure {
  const HkProblem *p;
  const double *x;
} Measure;

static double inertia_range(void *user, int64_t begin, int64_t end) {
  const Measure *a = user;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) {
    double d[3];
    hk_sub(a->x + 3 * i, a->p->y + 3 * i, d);
    sum += 0.5 * a->p->model->mass[i] * hk_dot(d, d);
  }
  return sum;
}

double hk_problem_inertia(const HkProblem *p, const double *x) {
  Measure a = {p, x};
  return hk_sum_vertices(p->model, inertia_range, &a, p->space.sums);
}

double hk_problem_magnitude(const HkProblem *p, const double *x) {
  const HkModel *m = p->model;
  double sum = 0;
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, p->work, p->t, x, NULL);
    if (m->forces[f].type->energy) sum += fabs(m->forces[f].type->energy(&a));
  }
  return hk_problem_inertia(p, x) + p->tau * p->tau * sum;
}

typedef struct Norm {
  const HkProblem *p;
  const double *x, *from; /* from NULL: the origin of coordinates */
} Norm;

static double norm_range(void *user, int64_t begin, int64_t end) {
  const Norm *a = user;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) {
    double square = 0;
    for (int64_t c = 3 * i; c < 3 * i + 3; c++) {
      double d = a->from ? a->x[c] - a->from[c] : a->x[c];
      square += d * d;
    }
    if (!a->p->held.mask[i]) sum += a->p->model->mass[i] * square;
  }
  return sum;
}

static double norm(HkProblem *p, const double *x, const double *from) {
  Norm a = {p, x, from};
  return sqrt(hk_sum_vertices(p->model, norm_range, &a, p->space.sums));
}

double hk_problem_norm(HkProblem *p, const double *d) {
  return norm(p, d, NULL);
}

double hk_problem_moved(HkProblem *p, const double *x) {
  return norm(p, x, p->origin);
}

static double furthest_range(void *user, int64_t begin, int64_t end) {
  const Measure *a = user;
  double most = 0;
  for (int64_t i = begin; i < end; i++)
    for (int64_t c = 3 * i; !a->p->held.mask[i] && c < 3 * i + 3; c++)
      most = hk_larger(most, hk_larger(fabs(a->x[c]), fabs(a->p->y[c])));
  return most;
}

/* d_i^2 / m_i, the square of r if a single vertex is moved by 1 m at most. x: the stiffness of all
 * forces but the springs, n; NULL: d_i is in `inverse`. */
static double weight_range(void *user, int64_t begin, int64_t end) {
  const Measure *a = user;
  const HkProblem *p = a->p;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) {
    if (p->held.mask[i]) continue;
    double d = a->x ? bound_of(p, i, a->x[i]) : 1 / p->inverse[i];
    sum += d * d / p->model->mass[i];
  }
  return sum;
}

void hk_problem_measure(HkProblem *p, const double *x_n) {
  Measure a = {p, x_n}, weights = {p, NULL};
  p->origin = x_n;
  const HkVectors *s = &p->space;
  p->resolution = DBL_EPSILON * hk_most_vertices(p->model, furthest_range, &a, s->sums);
  p->rounding = p->resolution * sqrt(hk_sum_vertices(p->model, weight_range, &weights, s->sums));
}

void hk_problem_measure_rounding(HkProblem *p, const double *x) {
  const HkVectors *s = &p->space;
  Measure a = {p, p->scratch};
  if (!hk_problem_has_unbounded(p)) return;
  if (bound_extra(p, x, true, p->scratch, NULL) < 0) return; /* no memory: it stays as it is */
  double r = p->resolution * sqrt(hk_sum_vertices(p->model, weight_range, &a, s->sums));
  if (r > p->rounding) p->rounding = r;
}

/* ---- A bound of the Hessian from below ---- */

/* The largest 2 tau^2 sum k (l0 / l - 1) / m_i over the springs under pressure at a vertex. */
static double pressure_range(void *user, int64_t begin, int64_t end) {
  const Measure *a = user;
  const HkProblem *p = a->p;
  const HkModel *m = p->model;
  double most = 0, square = p->tau * p->tau;
  for (int64_t i = begin; i < end; i++) {
    double pressure = p->held.mask[i] ? 0 : hk_springs_pressure(m, p->work->springs, a->x, i);
    most = hk_larger(most, square * pressure / m->mass[i]);
  }
  return most;
}

bool hk_problem_is_convex(HkProblem *p, const double *x) {
  const HkModel *m = p->model;
  Measure a = {p, x};
  for (int f = 0; f < m->force_count; f++)
    if (hk_force_has_blocks(m, f) && !m->forces[f].type->quadratic) return false;
  return hk_most_vertices(m, pressure_range, &a, p->space.sums) <= 1.0 / 3;
}
