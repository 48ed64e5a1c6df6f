/* The problem that every implicit step solves; see problem.h. */
#include "minimize/problem.h"

#include "base/vec.h"

#include <float.h>
#include <string.h>

/* ---- Creating ---- */

static HkStatus vector(HkProblem *p, double **v, HkError *error) {
  if (*v) return HK_OK;
  p->bytes += (size_t)p->model->n * 3 * sizeof **v;
  return hk_alloc_vector(&p->model->context, v, p->model->n, "an implicit step", error);
}

static HkStatus number(HkProblem *p, double **v, HkError *error) {
  p->bytes += (size_t)p->model->n * sizeof **v;
  return hk_alloc(&p->model->context, v, p->model->n, sizeof **v, "an implicit step", error);
}

static HkStatus allocate(HkProblem *p, HkError *error) {
  const HkModel *m = p->model;
  HK_TRY(hk_pattern_create(m, &p->pattern, &p->bytes, error));
  HK_TRY(hk_alloc(&m->context, &p->held.mask, m->n, sizeof *p->held.mask, "pins", error));
  HK_TRY(hk_alloc(&m->context, &p->space.sums, hk_sum_slots(m->n), sizeof *p->space.sums, "sums",
                  error));
  HK_TRY(vector(p, &p->y, error));
  HK_TRY(vector(p, &p->b, error));
  HK_TRY(vector(p, &p->room, error));
  HK_TRY(vector(p, &p->room2, error));
  HK_TRY(number(p, &p->diagonal, error));
  return number(p, &p->extra, error);
}

HkStatus hk_problem_create(const HkModel *model, const HkForceWork *work, HkProblem *p,
                           HkError *error) {
  *p = (HkProblem){.model = model, .work = work};
  p->space = (HkVectors){.n = model->n, .threads = model->threads};
  p->held.stays = model->pin_method == HK_PINS_REACTION;
  p->hessian = (HkHessian){.model = model, .work = work, .held = &p->held};
  HkStatus status = allocate(p, error);
  if (status < 0) hk_problem_destroy(p);
  return status;
}

void hk_problem_destroy(HkProblem *p) {
  if (!p->model) return;
  const HkContext *c = &p->model->context;
  hk_prefactor_destroy(&p->prefactor);
  hk_hessian_destroy(&p->hessian);
  hk_block_matrix_destroy(p->model, &p->damping);
  hk_pattern_destroy(p->model, &p->pattern);
  double **vectors[] = {&p->y,     &p->b,        &p->f,     &p->v,         &p->room,
                        &p->room2, &p->diagonal, &p->extra, &p->space.sums};
  for (size_t q = 0; q < sizeof vectors / sizeof vectors[0]; q++) hk_free(c, vectors[q]);
  hk_free(c, &p->held.mask);
  *p = (HkProblem){0};
}

HkStatus hk_problem_need_prefactor(HkProblem *p, HkFactorKind kind, HkPrecision precision,
                                   HkError *error) {
  if (p->prefactor && p->factor_kind == kind && p->precision == precision) return HK_OK;
  if (p->prefactor)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the minimizer and its preconditioner want different factorisations");
  p->factor_kind = kind;
  p->precision = precision;
  return hk_prefactor_create(p->model, kind, precision, &p->held, &p->prefactor, error);
}

/* ---- The forces without a potential ---- */

/* f = all forces at (x, v) less those with a potential. */
static void push(HkProblem *p, const double *x, const double *v) {
  const HkModel *m = p->model;
  memset(p->f, 0, (size_t)m->n * 3 * sizeof *p->f);
  memset(p->room, 0, (size_t)m->n * 3 * sizeof *p->f);
  for (int q = 0; q < m->force_count; q++) {
    const HkForceType *type = m->forces[q].type;
    if (type->energy && !hk_force_uses_velocity(m, q)) continue;
    HkForceArgs a = hk_force_args(m, q, p->work, p->t, x, v);
    type->add(&a, p->f);
    a.v = NULL;
    if (type->energy) type->add(&a, p->room);
  }
  hk_vectors_subtract(&p->space, p->f, p->room, p->f);
}

static HkStatus linearise(HkProblem *p, const double *x, const double *v, HkError *error) {
  const HkModel *m = p->model;
  bool damped = false;
  p->pushed = p->partial = false;
  for (int q = 0; q < m->force_count; q++) {
    damped |= hk_force_uses_velocity(m, q);
    p->partial |= hk_force_uses_velocity(m, q) && m->forces[q].type->damping;
    p->pushed |= damped || !m->forces[q].type->energy;
  }
  p->hessian.damping = NULL;
  if (!p->pushed) return HK_OK;
  HK_TRY(vector(p, &p->f, error));
  HK_TRY(vector(p, &p->v, error));
  hk_vectors_copy(&p->space, v, p->v);
  push(p, x, v);
  if (!damped) return HK_OK;
  if (!p->damping.value)
    HK_TRY(hk_block_matrix_create(m, &p->pattern, &p->damping, &p->bytes, error));
  hk_damping_assemble(m, p->work, p->t, x, v, &p->damping);
  p->hessian.damping = &p->damping;
  return HK_OK;
}

/* ---- The diagonal ---- */

typedef struct Bound {
  HkJacobianSink sink;
  double *extra;
} Bound;

/* The largest row sum bounds the eigenvalues of a block. */
static void bound_dfdx(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  (void)j;
  ((Bound *)sink)->extra[i] += hk_mat_row_sum(B);
}

static void diagonal_range(void *user, int64_t begin, int64_t end) {
  HkProblem *p = user;
  const HkModel *m = p->model;
  for (int64_t q = begin; q < end; q++) {
    double k = p->extra[q], c = 0;
    for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
      k += m->k[m->adj_spring[e]];
      if (m->damping) c += m->damping[m->adj_spring[e]];
    }
    p->diagonal[q] = m->mass[q] + p->tau * (p->tau * k + c);
  }
}

HkStatus hk_problem_linearise(HkProblem *p, const double *x, const double *v, HkError *error) {
  const HkModel *m = p->model;
  HK_TRY(linearise(p, x, v, error));
  p->hessian.t = p->t;
  p->hessian.tau = p->tau;
  memset(p->extra, 0, (size_t)m->n * sizeof *p->extra);
  Bound bound = {{bound_dfdx, hk_jacobian_skip}, p->extra};
  for (int q = 1; q < m->force_count; q++) {
    if (!hk_force_is_stiff(m, q)) continue;
    HkForceArgs a = hk_force_args(m, q, p->work, p->t, x, NULL);
    m->forces[q].type->jacobian(&a, &bound.sink);
  }
  hk_parallel_for(m->threads, m->n, diagonal_range, p);
  return HK_OK;
}

/* ---- g and its gradient ---- */

/* room2 = C w, w = (x - b) / tau - v. */
static void drag(HkProblem *p, const double *x) {
  hk_vectors_subtract(&p->space, x, p->b, p->room);
  hk_vectors_scale(&p->space, 1 / p->tau, p->room);
  hk_vectors_subtract(&p->space, p->room, p->v, p->room);
  hk_block_matrix_product(&p->damping, p->room, p->room2);
}

typedef struct Gradient {
  const HkProblem *p;
  const double *x, *drag;
  double *g; /* holds -dE/dx at first */
} Gradient;

static void gradient_range(void *user, int64_t begin, int64_t end) {
  const Gradient *a = user;
  const HkProblem *p = a->p;
  double square = p->tau * p->tau;
  for (int64_t q = 3 * begin; q < 3 * end; q++) {
    double f = a->g[q];
    if (p->pushed) f += p->f[q];
    if (a->drag) f -= a->drag[q];
    a->g[q] = p->model->mass[q / 3] * (a->x[q] - p->y[q]) - square * f;
  }
  for (int64_t q = begin; q < end; q++) {
    if (p->held.mask[q]) memset(a->g + 3 * q, 0, 3 * sizeof *a->g);
    if (p->model->dimension == 2) a->g[3 * q + 2] = 0;
  }
}

void hk_problem_gradient(HkProblem *p, const double *x, double *g) {
  hk_forces_potential(p->model, p->work, p->t, x, g);
  if (p->hessian.damping) drag(p, x);
  Gradient a = {p, x, p->hessian.damping ? p->room2 : NULL, g};
  hk_parallel_for(p->model->threads, p->model->n, gradient_range, &a);
}

typedef struct Change {
  const HkProblem *p;
  const double *from, *to, *drag;
} Change;

/* Held vertices do not move: their terms are 0. */
static double change_range(void *user, int64_t begin, int64_t end) {
  const Change *a = user;
  const HkProblem *p = a->p;
  double square = p->tau * p->tau, sum = 0;
  for (int64_t q = 3 * begin; q < 3 * end; q++) {
    double d = a->to[q] - a->from[q], work = 0;
    if (p->pushed) work -= p->f[q];
    if (a->drag) work += a->drag[q];
    double middle = 0.5 * ((a->to[q] - p->y[q]) + (a->from[q] - p->y[q]));
    sum += d * (p->model->mass[q / 3] * middle + square * work);
  }
  return sum;
}

double hk_problem_change(HkProblem *p, const double *from, const double *to) {
  const HkModel *m = p->model;
  double energy = hk_forces_energy_change(m, p->work, p->t, from, to);
  Change a = {p, from, to, NULL};
  if (p->hessian.damping) { /* C w at the middle: 1/2 d . C (w + w') */
    hk_vectors_add(&p->space, 1, from, to, p->room2);
    hk_vectors_scale(&p->space, 0.5, p->room2);
    drag(p, p->room2);
    a.drag = p->room2;
  }
  double rest = hk_parallel_sum(m->threads, m->n, change_range, &a, p->space.sums);
  return rest + p->tau * p->tau * energy;
}

void hk_problem_measure(HkProblem *p, const double *x) {
  double reach = 0, furthest = 0;
  for (int64_t q = 0; q < 3 * p->model->n; q++) {
    if (p->held.mask[q / 3]) continue;
    reach = fmax(reach, fabs(p->y[q] - x[q]));
    furthest = fmax(furthest, fmax(fabs(x[q]), fabs(p->y[q])));
  }
  p->reach = reach;
  p->rounding = 8 * DBL_EPSILON * furthest;
}

double hk_problem_size(const HkProblem *p, const double *g) {
  double most = 0;
  for (int64_t q = 0; q < p->model->n; q++) {
    double size = hk_norm(g + 3 * q) / p->diagonal[q];
    if (size > most || isnan(size)) most = size; /* NAN stays: no number is above it */
  }
  return most;
}
