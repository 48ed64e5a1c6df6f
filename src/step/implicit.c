/* Common functions of implicit integrators; see implicit.h. */
#include "step/implicit.h"

#include <string.h>

/* ---- Creating ---- */

static HkStatus create(HkSim *sim, HkImplicit **implicit, HkError *error) {
  const HkModel *m = sim->model;
  const HkContext *c = &m->context;
  HK_TRY(hk_alloc(c, implicit, 1, sizeof **implicit, "an implicit step", error));
  sim->data = *implicit;
  double **vectors[] = {&(*implicit)->x, &(*implicit)->ahead, &(*implicit)->v};
  for (int k = 0; k < 3; k++)
    HK_TRY(hk_alloc_vector(c, vectors[k], m->n, "an implicit step", error));
  HK_TRY(hk_problem_create(m, &sim->work, &(*implicit)->problem, error));
  (*implicit)->problem.cancel = &sim->cancel;
  return HK_OK;
}

HkStatus hk_implicit_create(HkSim *sim, HkError *error) {
  HkImplicit *implicit = NULL;
  const HkImplicitParams *p = sim->method.params;
  HK_TRY(create(sim, &implicit, error));
  HK_TRY(hk_problem_need_dampers(&implicit->problem, error));
  HK_TRY(hk_minimizer_create(&implicit->problem, &p->minimizer, &implicit->minimizer, error));
  return hk_minimizer_set_trace(implicit->minimizer, sim->trace, sim->trace_user, error);
}

HkStatus hk_implicit_create_linear(HkSim *sim, const HkMethod *linear, HkError *error) {
  HkImplicit *implicit = NULL;
  HK_TRY(create(sim, &implicit, error));
  return hk_solve_hessian_create(&implicit->problem, linear, false, &implicit->solve, error);
}

size_t hk_implicit_bytes(const HkSim *sim) {
  const HkImplicit *implicit = sim->data;
  size_t bytes = sizeof *implicit + (implicit->start ? 4 : 3) * hk_vector_bytes(sim->model->n);
  bytes += hk_problem_bytes(&implicit->problem);
  if (implicit->minimizer) bytes += hk_minimizer_bytes(implicit->minimizer);
  if (implicit->solve) bytes += hk_solve_hessian_bytes(implicit->solve);
  return bytes;
}

void hk_implicit_destroy(HkSim *sim) {
  HkImplicit *implicit = sim->data;
  const HkContext *c = &sim->model->context;
  if (!implicit) return;
  hk_minimizer_destroy(&implicit->minimizer);
  hk_solve_hessian_destroy(&implicit->solve);
  hk_problem_destroy(&implicit->problem);
  hk_free(c, &implicit->x);
  hk_free(c, &implicit->ahead);
  hk_free(c, &implicit->v);
  hk_free(c, &implicit->start);
  hk_free(c, &sim->data);
}

double hk_implicit_stable_step(const void *params, double omega, double d) {
  (void)params;
  (void)omega;
  (void)d;
  return INFINITY;
}

/* ---- Solving ---- */

/* Updates the problem's mask of constrained vertices, and its version if the mask changes. */
static void update_pin_mask(HkProblem *problem, const HkModel *m, const HkState *state) {
  bool changed = false;
  for (int64_t p = 0; p < m->pin_count; p++) {
    uint8_t *mask = &problem->held.mask[m->pin_vertex[p]], holds = state->pin_held[p] != 0;
    changed |= *mask != holds;
    *mask = holds;
  }
  if (changed) problem->held.version++;
}

/* Sets y of constrained vertices to their positions, and b so that (y - b) / tau is their
 * velocity. */
static void place_pins(HkImplicit *implicit, const HkModel *m, const HkState *state) {
  HkProblem *p = &implicit->problem;
  for (int64_t pin = 0; pin < m->pin_count; pin++) {
    if (!state->pin_held[pin]) continue;
    int64_t i = 3 * (int64_t)m->pin_vertex[pin];
    for (int c = 0; c < 3; c++) {
      p->y[i + c] = implicit->ahead[i + c];
      p->b[i + c] = implicit->ahead[i + c] - p->tau * implicit->v[i + c];
    }
  }
}

void hk_implicit_begin(HkSim *sim, const HkState *state, const HkStage *stage) {
  HkImplicit *implicit = sim->data;
  HkProblem *p = &implicit->problem;
  const HkModel *m = sim->model;
  p->t = stage->t;
  p->tau = stage->tau;
  update_pin_mask(p, m, state);
  hk_vectors_add(&p->space, stage->ahead, state->v, state->x, implicit->ahead);
  hk_vectors_copy(&p->space, state->v, implicit->v);
  hk_pins_place(m, state, stage->t, implicit->ahead, implicit->v);
  place_pins(implicit, m, state);
}

/* Sets the constrained vertices of the guess. */
static void hold_pins(const HkModel *m, const HkState *state, HkImplicit *implicit) {
  for (int64_t p = 0; p < m->pin_count; p++) {
    int64_t i = 3 * (int64_t)m->pin_vertex[p];
    if (state->pin_held[p]) memcpy(implicit->x + i, implicit->ahead + i, 3 * sizeof *implicit->x);
  }
}

/* Computes the prediction with half of the last change of velocity: x + s (v + h / (2 h_old) (v -
 * v_old)). A full extrapolation would be nearer on smooth paths, and further off on curved ones. */
static void look_ahead(HkSim *sim, const HkState *state, HkImplicit *implicit, double s) {
  const HkVectors *space = &implicit->problem.space;
  double part = 0.5 * sim->h / state->h_old * s;
  hk_vectors_add(space, part, state->v, implicit->ahead, implicit->x);
  hk_vectors_add(space, -part, state->v_old, implicit->x, implicit->x);
  hold_pins(sim->model, state, implicit);
}

/* The guess is the prediction, with or without the last change of velocity, whichever has the lower
 * g (without if the tolerance is large: hk_guess_leads). It stretches springs that rotate, which a
 * minimizer corrects at once: it is the better guess although g may be higher there than at the old
 * positions. If g rises out of proportion to the inertia of the step, the velocities are those of
 * waves that the step does not resolve, and the guess is the old positions. */
static void guess(HkSim *sim, HkState *state, HkImplicit *implicit, double s) {
  const double MAX_RISE_TO_INERTIA = 30;
  HkProblem *p = &implicit->problem;
  const double *start = implicit->start;
  hk_vectors_copy(&p->space, start ? start : state->x, implicit->x);
  hold_pins(sim->model, state, implicit);
  double rise = hk_problem_change(p, implicit->x, implicit->ahead);
  if (!(rise <= MAX_RISE_TO_INERTIA * hk_problem_inertia(p, implicit->x))) return;
  if (state->h_old > 0 && hk_guess_leads(hk_minimizer_tolerance(implicit->minimizer))) {
    look_ahead(sim, state, implicit, s);
    if (start) hk_problem_filter(p, start, implicit->x);
    if (hk_problem_change(p, implicit->ahead, implicit->x) <= 0) return;
  }
  hk_vectors_copy(&p->space, implicit->ahead, implicit->x);
}

/* If C is only a part of -df/dv, the rest is evaluated at the predicted velocity, which is accurate
 * to first order in h only after one pass. */
static int count_passes(const HkSim *sim, const HkProblem *p) {
  int passes = ((const HkImplicitParams *)sim->method.params)->passes;
  if (passes > 0) return passes;
  return p->partial ? sim->type->order : 1;
}

/* Adds the work of a pass; residual and reason are those of the last pass. */
static void add_pass(HkStepInfo *sum, const HkStepInfo *last) {
  HkStepInfo before = *sum;
  *sum = *last;
  sum->iterations += before.iterations;
  sum->linear_iterations += before.linear_iterations;
  sum->evaluations += before.evaluations;
  sum->projections += before.projections;
}

HkStatus hk_implicit_predict(HkSim *sim, const HkState *state, const HkStage *stage,
                             const double *x, HkError *error) {
  HkImplicit *implicit = sim->data;
  HkProblem *p = &implicit->problem;
  HkDamperStart start = {.now = stage->now,
                         .old = stage->old,
                         .x = stage->old == 0 ? p->b : state->x,
                         .x_old = state->x_old,
                         .b = p->b,
                         .ahead = x};
  if (p->dampers) hk_dampers_set(p->dampers, &sim->work, p->tau, &start);
  return hk_problem_linearize(p, x, implicit->v, error);
}

HkStatus hk_implicit_solve(HkSim *sim, HkState *state, const HkStage *stage, HkError *error) {
  HkImplicit *implicit = sim->data;
  HkProblem *p = &implicit->problem;
  hk_implicit_begin(sim, state, stage);
  if (hk_forces_have_filter(sim->model)) HK_TRY(hk_implicit_arrive(sim, state, stage, error));
  HK_TRY(hk_implicit_predict(sim, state, stage, implicit->ahead, error));
  int passes = count_passes(sim, p);
  hk_problem_measure(p, state->x);
  guess(sim, state, implicit, stage->ahead);
  HkStatus status = hk_minimize(implicit->minimizer, implicit->x, error);
  sim->info = implicit->minimizer->info;
  bool again = p->pushed || p->dampers;
  for (int pass = 1; pass < passes && status >= 0 && again; pass++) {
    hk_vectors_subtract(&p->space, implicit->x, p->b, implicit->v);
    hk_vectors_scale(&p->space, 1 / p->tau, implicit->v);
    HK_TRY(hk_implicit_predict(sim, state, stage, implicit->x, error));
    status = hk_minimize(implicit->minimizer, implicit->x, error);
    add_pass(&sim->info, &implicit->minimizer->info);
  }
  return status;
}

/* ---- The step of an update ---- */

/* out = A now + B old */
static void combine(const HkVectors *space, double A, const double *now, double B,
                    const double *old, double *out) {
  hk_vectors_copy(space, now, out);
  if (A != 1) hk_vectors_scale(space, A, out);
  if (B != 0) hk_vectors_add(space, B, old, out, out);
}

void hk_implicit_start(HkSim *sim, const HkState *s, const HkUpdate *u, double *a) {
  HkProblem *p = &((HkImplicit *)sim->data)->problem;
  const HkVectors *space = &p->space;
  if (u->y_a != 0) hk_sim_acceleration(sim, s, s->time, s->x, s->v, a);
  combine(space, u->b_x, s->x, u->b_old, s->x_old, p->b);
  if (u->b_v != 0) hk_vectors_add(space, u->b_v, s->v, p->b, p->b);
  combine(space, u->y_v, s->v, u->y_old, s->v_old, p->y);
  hk_vectors_add(space, u->stage.tau, p->y, p->b, p->y);
  if (u->y_a != 0) hk_vectors_add(space, u->y_a, a, p->y, p->y);
}

/* x+ and v+ from the solution z of the stage. */
static void finish(HkSim *sim, HkState *s, const HkUpdate *u) {
  HkImplicit *implicit = sim->data;
  const HkProblem *p = &implicit->problem;
  const HkVectors *space = &p->space;
  if (u->reach == 1) {
    hk_vectors_subtract(space, implicit->x, p->b, s->v);
    hk_vectors_scale(space, 1 / u->stage.tau, s->v);
    hk_vectors_copy(space, implicit->x, s->x);
  } else { /* b = x */
    double *d = implicit->x;
    hk_vectors_subtract(space, implicit->x, s->x, d);
    hk_vectors_add(space, u->reach, d, s->x, s->x);
    hk_vectors_scale(space, 1 - u->reach, s->v);
    hk_vectors_add(space, u->reach / u->stage.tau, d, s->v, s->v);
  }
}

HkStatus hk_implicit_step(HkSim *sim, HkState *s, HkError *error) {
  HkUpdate u = {0};
  if (sim->type->remembers) HK_TRY(hk_state_need_history(s, error));
  sim->type->update(sim, s, &u);
  hk_implicit_start(sim, s, &u, ((HkImplicit *)sim->data)->x);
  HkStatus status = hk_implicit_solve(sim, s, &u.stage, error);
  if (status < 0) return status;
  if (sim->type->remembers) hk_state_remember(s, sim->h);
  finish(sim, s, &u);
  s->time += sim->h;
  hk_pins_place(sim->model, s, s->time, s->x, s->v);
  return status;
}

/* ---- Devices ---- */

HkStatus hk_implicit_to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  const HkImplicitParams *p = chosen;
  const HkMinimizeType *minimizer = hk_minimize_type(p->minimizer.schema);
  const HkStopping *stopping = p->minimizer.params;
  if (!minimizer->to_device)
    return hk_fail_device(HK_MINIMIZE, minimizer->schema.name,
                          "vertex_block_descent, jacobi or newton", error);
  settings->iterations = stopping->iterations;
  settings->tolerance = stopping->tolerance;
  settings->passes = p->passes;
  HK_TRY(minimizer->to_device(stopping, settings, error));
  if (p->passes > 1 && !hk_device_has_multigrid(settings))
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "devices solve each step once unless newton has multigrid; leave out 'passes'");
  return HK_OK;
}

HkStatus hk_implicit_need_multigrid(const char *integrator, const HkDeviceSettings *settings,
                                    HkError *error) {
  if (hk_device_has_multigrid(settings)) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "devices support the integrator '%s' with the linear solver pcg and the "
                 "preconditioner 'multigrid' only, which needs springs; choose them, or "
                 "backward_euler",
                 integrator);
}

HkStatus hk_sim_set_trace(HkSim *sim, HkTraceFn *trace, void *user, HkError *error) {
  if (!sim->type->minimizes)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "%s has no minimizer whose iterations could be traced", sim->type->schema.name);
  HkImplicit *implicit = sim->data;
  sim->trace = trace;
  sim->trace_user = user;
  return implicit && implicit->minimizer
             ? hk_minimizer_set_trace(implicit->minimizer, trace, user, error)
             : HK_OK;
}
