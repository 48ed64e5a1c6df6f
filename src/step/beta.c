/* The family between explicit and implicit Euler, linearized:
 *
 *     [M - beta h^2 K+ - beta h D] v+ = M v + h (f - beta D v),   x+ = x + h v+
 *
 * K+ = df/dx of the forces with a potential and D = df/dv (its symmetric part), at the old state: f
 * is taken at the time t + beta h, at x + beta h v+ and v + beta (v+ - v), to first order. beta = 0
 * is symplectic Euler, beta = 1 linearly implicit Euler. On x'' = -omega^2 x - d x'
 *
 *     stable while (1 - 2 beta) (h^2 omega^2 + 2 h d) <= 4, so at every step from beta = 1/2 on
 *     undamped, the square of the amplitude shrinks by 1 / (1 + beta h^2 omega^2) a step while
 *     (1 - beta) h omega <= 2; beyond that, one of two real factors nears -(1 - beta) / beta
 *
 * so that with beta = 1/2 modes that the step does not resolve oscillate with alternating sign.
 * First order for every beta, 1/2 included: x+ = x + h v+ is not centered (implicit_midpoint is).
 *
 * K+ leaves out the negative geometric stiffness of compressed springs, so that -K+ is the sum of
 * the positive semidefinite parts of the springs' -df/dx and the matrix is symmetric positive
 * definite at every state and step. Every linear solver then solves the same system. The order
 * stays: from v+ = v + h M^-1 f + beta h M^-1 D (v+ - v) + beta h^2 M^-1 K+ v+, any bounded matrix
 * instead of K+ changes v+ by O(h^2) and x+ by O(h^3) in a step, which is the size of the local
 * error of a first-order method.
 *
 * Stability holds for linear forces. Where springs rotate by a large angle within a step the
 * linearization is invalid, and the energy may grow at any step size (energy_watch.c).
 */
#include "base/vec.h"

#include "force/springs.h"
#include "step/linear_implicit.h"

#include <float.h>
#include <string.h>

/* Solutions with a larger residual are not converged, whatever the estimate of rounding error
 * is. */
static const double MAX_ROUNDING_RESIDUAL = 1e-5;

typedef struct Beta {
  double beta;
  HkMethod linear;
} Beta;

static const HkParam params[] = {
    HK_NUMBER(Beta, beta, "1", 0.5, 0, 1,
              "how implicit: 0 symplectic Euler, 1 linearly implicit Euler"),
    HK_METHOD(Beta, linear, HK_LINEAR,
              "solver of the linear system; by the size of the model unless given"),
};

/* b = M v + h (f + beta C v), C = -D; scratch: 3 n doubles. */
static void right_hand_side(HkSim *sim, const HkState *s, double beta, double *b, double *scratch) {
  HkImplicit *implicit = sim->data;
  HkProblem *p = &implicit->problem;
  const HkModel *m = sim->model;
  hk_forces_sum(m, &sim->work, p->t, s->x, s->v, b);
  if (p->damped) {
    hk_block_matrix_product(&p->damping.C, s->v, scratch);
    hk_vectors_add(&p->space, beta, scratch, b, b);
  }
  for (int64_t c = 0; c < 3 * m->n; c++) b[c] = m->mass[c / 3] * s->v[c] + sim->h * b[c];
  for (int64_t i = 0; i < m->n && m->dimension == 2; i++) b[3 * i + 2] = 0;
}

/* Returns the relative residual that rounding leaves: the entries of v+ are rounded to DBL_EPSILON
 * of about |v|, and row i of the matrix multiplies that by d_i (problem.h) at most. Conjugate
 * gradients reach it within a factor of two. */
static double rounding_of(const HkProblem *p, const HkState *s, const double *b) {
  double top = 0, bottom = 0;
  for (int64_t i = 0; i < p->model->n; i++) {
    const double inverse = p->inverse[i], *v = s->v + 3 * i;
    if (inverse > 0) top += hk_dot(v, v) / (inverse * inverse);
    bottom += hk_dot(b + 3 * i, b + 3 * i);
  }
  double part = 2 * DBL_EPSILON * sqrt(top / bottom);
  return bottom > 0 && isfinite(part) ? fmin(part, MAX_ROUNDING_RESIDUAL) : 0;
}

/* Logs once that K is projected, in the first step in which that makes a difference. */
static void note_pressure(HkSim *sim, const HkState *s) {
  if (sim->noted_pressure || !hk_springs_any_pressed(sim->work.springs, s->x)) return;
  sim->noted_pressure = true;
  hk_log(&sim->model->context, HK_LOG_INFO,
         "%s: springs under pressure count as slack across their length in the matrix of a step, "
         "which keeps it positive definite",
         sim->type->schema.name);
}

HkStatus hk_linear_implicit_step(HkSim *sim, HkState *s, double beta, HkError *error) {
  HkImplicit *implicit = sim->data;
  HkProblem *p = &implicit->problem;
  double h = sim->h, tau = sqrt(beta) * h, *b = p->y, *v_pins = p->b, *v_new = implicit->x;
  hk_implicit_begin(sim, s, &(HkStage){.t = s->time + beta * h, .tau = tau});
  note_pressure(sim, s);
  HK_TRY(hk_problem_linearize(p, s->x, s->v, error));
  right_hand_side(sim, s, beta, b, v_new);
  if (p->damped) /* tau C of the Hessian is to be beta h C */
    hk_block_matrix_scale(&p->damping.C, sqrt(beta));
  /* Constrained vertices move to the positions of their pins at t + h. */
  memcpy(implicit->ahead, s->x, (size_t)sim->model->n * 3 * sizeof *s->x);
  hk_pins_place(sim->model, s, s->time + h, implicit->ahead, implicit->v);
  hk_vectors_subtract(&p->space, implicit->ahead, s->x, v_pins);
  hk_vectors_scale(&p->space, 1 / h, v_pins);
  /* The projected Hessian is positive definite for every x, so that every linear solver solves the
   * same system. */
  HkDirection direction;
  HkHessianSystem system = {
      .x = s->x, .b = b, .d = v_pins, .accuracy = rounding_of(p, s, b), .projection = 1};
  HK_TRY(hk_solve_hessian(implicit->solve, &system, v_new, &direction, &sim->info, error));
  sim->info.projections = 0;
  sim->info.iterations = 1;
  sim->info.reason = direction.reason;
  hk_vectors_copy(&p->space, v_new, s->v);
  hk_vectors_add(&p->space, h, s->v, s->x, s->x);
  s->time += h;
  hk_pins_place(sim->model, s, s->time, s->x, s->v);
  return sim->info.reason == HK_STOP_CONVERGED ? HK_OK : HK_NOT_CONVERGED;
}

static HkStatus create(HkSim *sim, HkError *error) {
  return hk_implicit_create_linear(sim, &((const Beta *)sim->method.params)->linear, error);
}

static void update(const HkSim *sim, const HkState *state, HkUpdate *u) {
  (void)state;
  *u = (HkUpdate){.kind = HK_UPDATE_LINEAR, .beta = ((const Beta *)sim->method.params)->beta};
}

static HkStatus step(HkSim *sim, HkState *s, HkError *error) {
  return hk_linear_implicit_step(sim, s, ((const Beta *)sim->method.params)->beta, error);
}

static double stable_step(const void *chosen, double omega, double d) {
  double part = 1 - 2 * ((const Beta *)chosen)->beta;
  if (part <= 0 || (omega == 0 && d == 0)) return INFINITY;
  /* The positive root of part (h^2 omega^2 + 2 h d) = 4. */
  return 4 / (part * d + sqrt(part * d * part * d + 4 * part * omega * omega));
}

const HkStepType hk_step_beta = {
    .schema =
        {.name = "beta",
         .summary =
             "first order, from symplectic Euler (0) to linearly implicit Euler (1); from 1/2 on "
             "every step is stable for linear forces, not in every motion",
         .formula =
             "[M - beta h^2 K+ - beta h D] v+ = M v + h (f - beta D v),  x+ = x + h v+;  K+: "
             "df/dx with springs under pressure slack across their length",
         HK_PARAMS(Beta, params)},
    .order = 1,
    .drive_time = 0.5,
    .implicit = true,
    .energy_interval = HK_WATCH_LINEAR,
    .create = create,
    .destroy = hk_implicit_destroy,
    .bytes = hk_implicit_bytes,
    .update = update,
    .step = step,
    .stable_step = stable_step,
    .stability = "every step is stable for linear forces, not in every motion",
};
