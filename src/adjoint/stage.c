/* Derivatives of steps that minimize (backward_euler, bdf2, trapezoidal, implicit_midpoint), by the
 * implicit function theorem.
 *
 * The position z of the stage solves, at the free vertices (minimize/problem.h, step/update.h),
 *
 *     F = M (z - y) - tau^2 [f(z) + f_p(x_a, v_a) - C(x_a, v_a) w] = 0,   w = (z - b) / tau - v_a
 *
 * with f the forces that have a potential, f_p and C the others, linearized about the prediction
 * x_a = x + s v, v_a = v. dF/dz is the true Hessian H of the step, which is symmetric. So with the
 * gradient z' of a loss, one linear system H l = z' gives all others as -l . dF/d(...):
 *
 *     y' = M l,   b' = tau C l,   v_a' += tau^2 C l,   p' = tau^2 l . df/dp,   m' = -l . (z - y)
 *     x_a' += tau^2 l . [df_p/dx_a - d(C w)/dx_a],   z' of held vertices += tau^2 l . df/dz - tau C
 * l
 *
 * from which those of x, v, x_old, v_old and of the motions of pins follow by the linear update.
 * Springs with dampers have the k' and l0' of damper_products.c in f.
 */
#include "adjoint/adjoint.h"
#include "adjoint/damper_products.h"
#include "adjoint/memory.h"

#include <math.h>

/* What both directions need of a step. */
typedef struct Stage {
  HkProblem *p;
  double t, tau, *z, *w, *acceleration; /* 3 n; w: of C; acceleration: of the start */
  const double *x_a, *v_a;
  HkForcesAt potential, push;
  HkDamperStart start;
} Stage;

/* Prepares the problem as the step did, and finds z. */
static HkStatus remake(HkAdjoint *a, Stage *s, HkError *error) {
  HkSim *sim = a->sim;
  HkImplicit *implicit = sim->data;
  const HkUpdate *u = &a->update;
  const HkState *before = a->before;
  HkProblem *p = s->p = &implicit->problem;
  s->z = a->w[0];
  s->w = a->w[1];
  s->acceleration = a->w[2];
  s->t = u->stage.t;
  s->tau = u->stage.tau;
  s->x_a = implicit->ahead;
  s->v_a = implicit->v;
  hk_implicit_start(sim, before, u, s->acceleration);
  hk_implicit_begin(sim, before, &u->stage);
  HK_TRY(hk_implicit_predict(sim, before, &u->stage, implicit->ahead, error));
  for (int64_t c = 0; c < 3 * sim->model->n; c++) {
    double moved = a->after->x[c] - before->x[c];
    s->z[c] = u->reach == 1 ? a->after->x[c] : before->x[c] + moved / u->reach;
    if (a->held[c / 3]) s->z[c] = s->x_a[c];
    s->w[c] = (s->z[c] - p->b[c]) / s->tau - s->v_a[c];
  }
  double square = s->tau * s->tau;
  s->potential = hk_adjoint_forces(a, s->t, s->z, NULL, square);
  s->potential.part = HK_FORCES_POTENTIAL;
  s->potential.work = p->work;
  if (p->dampers)
    s->potential.springs = (HkSpringNumbers){.k = a->k, .l0 = a->l0, .slots = a->slots};
  s->push = hk_adjoint_forces(a, s->t, s->x_a, s->v_a, square);
  s->push.part = HK_FORCES_PUSH;
  s->push.work = p->work;
  s->start = (HkDamperStart){.now = u->stage.now,
                             .old = u->stage.old,
                             .x = u->stage.old == 0 ? p->b : before->x,
                             .x_old = before->x_old,
                             .b = p->b,
                             .ahead = s->x_a};
  return HK_OK;
}

static HkSpringNumbers numbers_of(const HkAdjoint *a) {
  return hk_adjoint_forces(a, 0, NULL, NULL, 1).springs;
}

/* What an exact solution of the step would change the loss by, to first order: l . F; nothing where
 * F is what the rounding of the coordinates leaves. */
static void estimate_error(HkAdjoint *a, const Stage *s, const double *l, double *g) {
  const HkModel *m = a->sim->model;
  hk_problem_measure(s->p, a->before->x);
  double r = hk_problem_gradient(s->p, s->z, g);
  if (!(r <= s->p->rounding)) a->missed += fabs(hk_vectors_dot(&a->space, l, g));
  for (int64_t c = 0; c < 3 * m->n; c++)
    g[c] = a->held[c / 3] ? 0 : m->mass[c / 3] * (a->after->x[c] - a->before->x[c]);
  a->moved += fabs(hk_vectors_dot(&a->space, l, g));
}

/* The gradients of a step on their way back; 3 n each. */
typedef struct Back {
  double *x, *v, *x_old, *v_old; /* of the start */
  double *z, *y, *b, *x_a, *v_a, *l;
} Back;

/* The gradients that z, b, x and v get from the end of the step. */
static void begin_back(HkAdjoint *a, const Stage *s, Back *q) {
  const HkModel *m = a->sim->model;
  double reach = a->update.reach;
  hk_pins_pull_back(a, a->before->time + a->sim->h, q->x, q->v);
  for (int64_t c = 0; c < 3 * m->n; c++) {
    double x = q->x[c], v = q->v[c];
    q->z[c] = reach * (x + v / s->tau);
    q->b[c] = -reach * v / s->tau;
    q->x[c] = (1 - reach) * x + q->x_old[c];
    q->v[c] = (1 - reach) * v + q->v_old[c];
    q->x_old[c] = q->v_old[c] = q->x_a[c] = q->v_a[c] = 0;
  }
}

/* What z gets from the memory after the step; held vertices are where x_a is. */
static HkStatus pull_memory(HkAdjoint *a, Back *q, double *by_end, HkError *error) {
  const HkModel *m = a->sim->model;
  if (!hk_memory_is_needed(m)) return HK_OK;
  hk_vectors_zero(&a->space, by_end);
  HK_TRY(hk_memory_pull_end(a, by_end, error));
  for (int64_t c = 0; c < 3 * m->n; c++) *(a->held[c / 3] ? &q->x_a[c] : &q->z[c]) += by_end[c];
  return HK_OK;
}

/* y is linear in b, v, v_old and the acceleration of the start, whose gradient is left in y. */
static void pull_prediction(HkAdjoint *a, const Stage *s, Back *q) {
  const HkModel *m = a->sim->model;
  const HkUpdate *u = &a->update;
  for (int64_t c = 0; c < 3 * m->n; c++) {
    double y = m->mass[c / 3] * q->l[c];
    if (!a->held[c / 3]) a->d->arrays.mass[c / 3] -= q->l[c] * (s->z[c] - s->p->y[c]);
    q->b[c] += y;
    q->v[c] += s->tau * u->y_v * y;
    q->v_old[c] += s->tau * u->y_old * y;
    q->y[c] = u->y_a * y;
  }
}

/* C and what is linearized about the prediction. */
static void pull_linearized(const Stage *s, const Back *q, const HkVectors *space, double *Cl) {
  HkProblem *p = s->p;
  if (p->damped) {
    HkForcesAt damping = s->push;
    damping.scale = -s->push.scale;
    hk_block_matrix_product(&p->damping.C, q->l, Cl);
    hk_vectors_add(space, s->tau, Cl, q->b, q->b);
    hk_vectors_add(space, s->tau * s->tau, Cl, q->v_a, q->v_a);
    hk_vectors_add(space, -s->tau, Cl, q->z, q->z);
    hk_matrix_pull_back(&damping, HK_MATRIX_DAMPING, s->w, q->l, q->x_a, q->v_a);
  }
  if (p->pushed) hk_forces_pull_back(&s->push, q->l, q->x_a, q->v_a);
}

/* Gradients of the stage's positions and velocities go to the start, or to the motions of pins. */
static void pull_stage(HkAdjoint *a, const Stage *s, Back *q) {
  const HkUpdate *u = &a->update;
  for (int64_t c = 0; c < 3 * a->sim->model->n; c++) {
    if (a->held[c / 3]) { /* z = x_a, b = x_a - tau v_a */
      q->x_a[c] += q->z[c] + q->b[c];
      q->v_a[c] -= s->tau * q->b[c];
      continue;
    }
    q->x[c] += q->x_a[c] + u->b_x * q->b[c];
    q->v[c] += u->stage.ahead * q->x_a[c] + q->v_a[c] + u->b_v * q->b[c];
    q->x_old[c] += u->b_old * q->b[c];
  }
  hk_pins_pull_back(a, s->t, q->x_a, q->v_a);
}

HkStatus hk_stage_back(HkAdjoint *a, HkError *error) {
  const HkModel *m = a->sim->model;
  HkDerivatives *d = a->d;
  Stage s;
  HK_TRY(remake(a, &s, error));
  Back q = {.x = d->arrays.x, .v = d->arrays.v, .x_old = d->x_old, .v_old = d->v_old};
  double **vectors[] = {&q.z, &q.y, &q.b, &q.x_a, &q.v_a, &q.l};
  for (int k = 0; k < 6; k++) *vectors[k] = a->w[3 + k];
  double *scratch = a->w[9];
  begin_back(a, &s, &q);
  HK_TRY(pull_memory(a, &q, scratch, error));
  HK_TRY(hk_adjoint_solve(a, s.z, q.z, 0, q.l, error));
  estimate_error(a, &s, q.l, scratch);
  pull_prediction(a, &s, &q);
  hk_adjoint_restrict(a, q.l);
  hk_vectors_zero(&a->space, q.z);
  for (int64_t e = 0; s.p->dampers && e < m->springs.count; e++) a->k[e] = a->l0[e] = 0;
  s.potential.rows = a->held;
  hk_forces_pull_back(&s.potential, q.l, q.z, NULL);
  if (s.p->dampers) hk_springs_settle(m, s.p->work->rows, NULL, &s.potential.springs);
  pull_linearized(&s, &q, &a->space, scratch);
  HK_TRY(hk_memory_pull_start(a, s.tau * s.tau, q.l, q.x, error));
  if (s.p->dampers) {
    HkSpringNumbers numbers = numbers_of(a);
    HkDamperPlaces places = {a->update.stage.old == 0 ? q.b : q.x, q.x_old, q.b, q.x_a};
    hk_dampers_pull_back(s.p->dampers, &s.start, a->k, a->l0, &numbers, &places);
  }
  pull_stage(a, &s, &q);
  if (a->update.y_a == 0) return HK_OK;
  hk_adjoint_mass_back(a, s.acceleration, q.y);
  hk_adjoint_accelerate(a, 1, q.y, scratch);
  HkForcesAt forces = hk_adjoint_forces(a, a->before->time, a->before->x, a->before->v, 1);
  hk_forces_pull_back(&forces, scratch, q.x, q.v);
  return HK_OK;
}

/* ---- Forward ---- */

typedef struct Forward {
  double *x, *v; /* of the start */
  double *z, *y, *b, *x_a, *v_a, *r;
} Forward;

static void push_prediction(HkAdjoint *a, const Stage *s, Forward *q, double *scratch) {
  const HkUpdate *u = &a->update;
  const double *x_old = a->d->x_old, *v_old = a->d->v_old;
  hk_vectors_zero(&a->space, q->y);
  if (u->y_a != 0) {
    HkForcesAt forces = hk_adjoint_forces(a, a->before->time, a->before->x, a->before->v, 1);
    hk_vectors_zero(&a->space, scratch);
    hk_forces_push_forward(&forces, q->x, q->v, scratch);
    hk_adjoint_accelerate(a, 1, scratch, q->y);
    hk_adjoint_mass_forward(a, s->acceleration, q->y);
  }
  for (int64_t c = 0; c < 3 * a->sim->model->n; c++) {
    q->b[c] = u->b_x * q->x[c] + u->b_v * q->v[c] + u->b_old * x_old[c];
    q->y[c] = q->b[c] + s->tau * (u->y_v * q->v[c] + u->y_old * v_old[c]) + u->y_a * q->y[c];
    q->x_a[c] = q->x[c] + u->stage.ahead * q->v[c];
    q->v_a[c] = q->v[c];
  }
  hk_pins_push_forward(a, s->t, q->x_a, q->v_a);
  for (int64_t c = 0; c < 3 * a->sim->model->n; c++) {
    q->z[c] = a->held[c / 3] ? q->x_a[c] : 0;
    if (a->held[c / 3]) q->b[c] = q->x_a[c] - s->tau * q->v_a[c];
  }
}

/* r = -dF of all but the free z. */
static void push_equations(HkAdjoint *a, const Stage *s, const Forward *q, double *Cw,
                           double *change) {
  const HkModel *m = a->sim->model;
  HkProblem *p = s->p;
  hk_vectors_zero(&a->space, q->r);
  hk_forces_push_forward(&s->potential, q->z, NULL, q->r);
  if (p->pushed) hk_forces_push_forward(&s->push, q->x_a, q->v_a, q->r);
  if (p->damped) {
    HkForcesAt damping = s->push;
    damping.scale = -s->push.scale;
    hk_matrix_push_forward(&damping, HK_MATRIX_DAMPING, s->w, q->x_a, q->v_a, q->r);
    for (int64_t c = 0; c < 3 * m->n; c++) change[c] = (q->z[c] - q->b[c]) / s->tau - q->v_a[c];
    hk_block_matrix_product(&p->damping.C, change, Cw);
    hk_vectors_add(&a->space, -s->tau * s->tau, Cw, q->r, q->r);
  }
  hk_adjoint_restrict(a, q->r);
  for (int64_t c = 0; c < 3 * m->n; c++)
    if (!a->held[c / 3])
      q->r[c] += m->mass[c / 3] * q->y[c] - a->d->arrays.mass[c / 3] * (s->z[c] - p->y[c]);
}

/* What forces change by the memory before the step, and by its start. */
static HkStatus push_memory(HkAdjoint *a, const Stage *s, Forward *q, double *f, HkError *error) {
  if (!hk_memory_is_needed(a->sim->model)) return HK_OK;
  hk_vectors_zero(&a->space, f);
  HK_TRY(hk_memory_push_forces(a, s->tau * s->tau, q->x, f, error));
  hk_adjoint_restrict(a, f);
  hk_vectors_add(&a->space, 1, f, q->r, q->r);
  return HK_OK;
}

HkStatus hk_stage_forward(HkAdjoint *a, HkError *error) {
  const HkModel *m = a->sim->model;
  HkDerivatives *d = a->d;
  double reach = a->update.reach;
  Stage s;
  HK_TRY(remake(a, &s, error));
  Forward q = {.x = d->arrays.x, .v = d->arrays.v};
  double **vectors[] = {&q.z, &q.y, &q.b, &q.x_a, &q.v_a, &q.r};
  for (int k = 0; k < 6; k++) *vectors[k] = a->w[3 + k];
  double *scratch = a->w[9], *dz = a->w[10];
  push_prediction(a, &s, &q, scratch);
  if (s.p->dampers) {
    HkSpringNumbers numbers = numbers_of(a);
    HkDamperPlaces places = {a->update.stage.old == 0 ? q.b : q.x, d->x_old, q.b, q.x_a};
    hk_dampers_push_forward(s.p->dampers, &s.start, &numbers, &places, a->k, a->l0);
  }
  push_equations(a, &s, &q, scratch, dz);
  HK_TRY(push_memory(a, &s, &q, scratch, error));
  HK_TRY(hk_adjoint_solve(a, s.z, q.r, 0, dz, error));
  for (int64_t c = 0; c < 3 * m->n; c++)
    if (a->held[c / 3]) dz[c] = q.z[c];
  HK_TRY(hk_memory_push_end(a, q.x, dz, error));
  for (int64_t c = 0; c < 3 * m->n; c++) {
    double z = dz[c], x = q.x[c], v = q.v[c];
    q.x[c] = x + reach * (z - x);
    q.v[c] = reach * (z - q.b[c]) / s.tau + (1 - reach) * v;
    d->x_old[c] = x;
    d->v_old[c] = v;
  }
  hk_pins_push_forward(a, a->before->time + a->sim->h, q.x, q.v);
  return HK_OK;
}
