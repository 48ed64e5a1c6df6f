/* HkAdjoint: differentiates the steps of a simulation; see adjoint.h. */
#include "adjoint/adjoint.h"
#include "adjoint/memory.h"

#include "base/vec.h"
#include "linear/multigrid.h"
#include "minimize/choose_methods.h"

#include <string.h>

static const double DEFAULT_ACCURACY = 1e-8;

/* ---- What steps use ---- */

HkForcesAt hk_adjoint_forces(const HkAdjoint *a, double t, const double *x, const double *v,
                             double scale) {
  const HkDerivativeArrays *d = &a->d->arrays;
  const HkForceWork *work = &a->sim->work;
  return (HkForcesAt){.model = a->sim->model,
                      .work = work,
                      .t = t,
                      .x = x,
                      .v = v,
                      .scale = scale,
                      .springs = {.k = d->k,
                                  .l0 = d->l0,
                                  .damping = work->springs->damping ? d->damping : NULL,
                                  .slots = a->slots},
                      .d = a->d};
}

void hk_adjoint_accelerate(const HkAdjoint *a, double scale, const double *b, double *out) {
  const HkModel *m = a->sim->model;
  for (int64_t i = 0; i < m->n; i++) {
    double inverse = a->held[i] ? 0 : scale / m->mass[i];
    out[3 * i] = inverse * b[3 * i];
    out[3 * i + 1] = inverse * b[3 * i + 1];
    out[3 * i + 2] = m->dimension == 2 ? 0 : inverse * b[3 * i + 2];
  }
}

void hk_adjoint_restrict(const HkAdjoint *a, double *vector) {
  const HkModel *m = a->sim->model;
  for (int64_t i = 0; i < m->n; i++) {
    if (a->held[i]) memset(vector + 3 * i, 0, 3 * sizeof *vector);
    if (m->dimension == 2) vector[3 * i + 2] = 0;
  }
}

void hk_adjoint_mass_back(const HkAdjoint *a, const double *p, const double *q) {
  const HkModel *m = a->sim->model;
  for (int64_t i = 0; i < m->n; i++)
    if (!a->held[i]) a->d->arrays.mass[i] -= hk_dot(p + 3 * i, q + 3 * i) / m->mass[i];
}

void hk_adjoint_mass_forward(const HkAdjoint *a, const double *p, double *out) {
  const HkModel *m = a->sim->model;
  for (int64_t c = 0; c < 3 * m->n; c++)
    if (!a->held[c / 3]) out[c] -= p[c] * a->d->arrays.mass[c / 3] / m->mass[c / 3];
}

/* The true Hessian is not positive definite, or conjugate gradients do not converge. */
static HkStatus solve_indefinite(HkAdjoint *a, const double *at, const double *b, double *x,
                                 HkError *error) {
  HkProblem *p = &((HkImplicit *)a->sim->data)->problem;
  int iterations;
  double residual;
  if (!a->minres) HK_TRY(hk_minres_create(p, &a->minres, error));
  HK_TRY(hk_minres_solve(a->minres, at, b, a->settings.accuracy, x, &iterations, &residual, error));
  a->info.indefinite++;
  if (!(residual <= a->settings.accuracy)) a->info.unsolved++;
  a->info.linear_iterations += iterations;
  a->info.residual = fmax(a->info.residual, residual);
  return HK_OK;
}

HkStatus hk_adjoint_solve(HkAdjoint *a, const double *at, const double *b, double projection,
                          double *x, HkError *error) {
  HkDirection direction;
  HkStepInfo info = {0};
  if (a->settings.projected) projection = 1;
  /* Held vertices stay; given as d, a projected Hessian is what is solved with. */
  HkHessianSystem system = {.x = at,
                            .b = b,
                            .d = projection == 1 ? a->rest : NULL,
                            .accuracy = a->settings.accuracy,
                            .projection = projection,
                            .guess = a->guess};
  HK_TRY(hk_solve_hessian(a->solve, &system, x, &direction, &info, error));
  a->info.linear_iterations += info.linear_iterations;
  if (projection == 0 && !direction.exact) return solve_indefinite(a, at, b, x, error);
  a->info.residual = fmax(a->info.residual, info.residual);
  if (direction.reason != HK_STOP_CONVERGED) a->info.unsolved++;
  return HK_OK;
}

/* ---- Creating ---- */

static HkStatus check(const HkSim *sim, HkError *error) {
  const HkModel *m = sim->model;
  const char *name = sim->type->schema.name;
  if (sim->device != HK_CPU)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "tapes record steps of the CPU alone; choose the device cpu");
  if (!sim->type->update)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the integrator '%s' cannot be differentiated; symplectic_euler is as fast",
                   name);
  if (sim->single)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "steps in single precision cannot be differentiated; leave out \"precision\"");
  if (m->time.tolerance > 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "adaptive steps cannot be differentiated; leave out time.tolerance");
  if (sim->work.corrects && hk_forces_have_correction(m))
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "contact in steps of '%s' cannot be differentiated; choose backward_euler or "
                   "bdf2",
                   name);
  return hk_forces_check_differentiable(m, error);
}

/* Steps that are solved again about their own result depend on the first one. */
static HkStatus check_passes(const HkAdjoint *a, HkError *error) {
  const HkModel *m = a->sim->model;
  int passes = ((const HkImplicitParams *)a->sim->method.params)->passes;
  bool partial = false;
  for (int f = 0; f < m->force_count; f++)
    partial |= hk_force_uses_velocity(m, &a->sim->work, f) && m->forces[f].type->damping;
  if (passes <= 1 && !(passes == 0 && partial && a->sim->type->order > 1)) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "steps with more than one pass cannot be differentiated; set passes to 1");
}

/* The matrix of a linearly implicit step changes with the positions by the third derivatives of the
 * energies, in columns of K w; only forces of the caller do not give them. */
static HkStatus check_matrix(const HkAdjoint *a, HkError *error) {
  const HkModel *m = a->sim->model;
  for (int f = 0; f < m->force_count; f++)
    if (hk_force_has_blocks(m, f) && !m->forces[f].type->stiffness_columns)
      return hk_fail(
          error, HK_ERROR_UNSUPPORTED,
          "the force '%s' cannot be differentiated in steps of '%s', whose matrix depends "
          "on its Hessian; choose backward_euler",
          m->forces[f].type->schema.name, a->sim->type->schema.name);
  return HK_OK;
}

static HkStatus create_solver(HkAdjoint *a, HkError *error) {
  HkProblem *p = &((HkImplicit *)a->sim->data)->problem;
  const HkModel *m = a->sim->model;
  HkMethod method = {0};
  HK_TRY(hk_choose_linear_solver(hk_multigrid_check(m, NULL) < 0 ? 0 : m->n, &method, error));
  HkStatus status = HK_OK;
  if (hk_param_find(method.schema, "tolerance")) {
    status = hk_method_set_number(&method, "tolerance", a->settings.accuracy, error);
    if (status >= 0) status = hk_guess_create(&a->space, &a->guess, error);
  }
  if (status >= 0) status = hk_solve_hessian_create(p, &method, false, &a->solve, error);
  hk_method_clear(&method);
  if (status < 0 || !p->dampers) return status;
  HK_TRY(hk_alloc(&m->context, &a->k, m->springs.count, sizeof *a->k, "derivatives", error));
  return hk_alloc(&m->context, &a->l0, m->springs.count, sizeof *a->l0, "derivatives", error);
}

/* After live changes the simulation may renew the problem that linear systems come from. */
static HkStatus find_update(HkSim *sim, HkUpdate *update, HkError *error) {
  HkState *state = NULL;
  HkStatus status = hk_state_create(sim->model, &state, error);
  if (status >= 0) status = hk_sim_steps(sim, state, 0, error);
  if (status >= 0) sim->type->update(sim, state, update);
  hk_state_destroy(&state);
  return status;
}

static HkStatus create(HkAdjoint *a, HkError *error) {
  const HkModel *m = a->sim->model;
  const HkContext *c = &m->context;
  const HkSpringRows *rows = a->sim->work.rows;
  HkUpdate update;
  HK_TRY(check(a->sim, error));
  HK_TRY(find_update(a->sim, &update, error));
  a->version = hk_model_version(m);
  HK_TRY(hk_alloc(c, &a->pins, m->pin_count, sizeof *a->pins, "derivatives", error));
  HK_TRY(hk_alloc(c, &a->held, m->n, sizeof *a->held, "derivatives", error));
  for (int k = 0; k < HK_ADJOINT_VECTORS; k++)
    HK_TRY(hk_alloc_vector(c, &a->w[k], m->n, "derivatives", error));
  HK_TRY(hk_alloc_vector(c, &a->rest, m->n, "derivatives", error));
  if (rows) {
    int64_t count = 2 * HK_ROW_GROUP * rows->start[rows->groups];
    HK_TRY(
        hk_alloc_aligned(c, &a->block, &a->slots, count, sizeof *a->slots, "derivatives", error));
  }
  a->space = (HkVectors){.model = m, .n = m->n, .threads = m->threads};
  HK_TRY(
      hk_alloc(c, &a->space.sums, hk_sum_slots(m->n), sizeof *a->space.sums, "derivatives", error));
  if (update.kind == HK_UPDATE_STAGE) HK_TRY(check_passes(a, error));
  if (update.kind == HK_UPDATE_LINEAR) HK_TRY(check_matrix(a, error));
  return a->sim->type->implicit ? create_solver(a, error) : HK_OK;
}

HkStatus hk_adjoint_create(HkSim *sim, const HkAdjointSettings *settings, HkAdjoint **adjoint,
                           HkError *error) {
  HkAdjointSettings given = settings ? *settings : (HkAdjointSettings){0};
  *adjoint = NULL;
  if (!(given.accuracy >= 0 && given.accuracy < 1))
    return hk_fail(error, HK_ERROR_INVALID, "accuracy %g: it must be at least 0 and below 1",
                   given.accuracy);
  if (given.accuracy == 0) given.accuracy = DEFAULT_ACCURACY;
  HK_TRY(hk_alloc(&sim->model->context, adjoint, 1, sizeof **adjoint, "derivatives", error));
  (*adjoint)->sim = sim;
  (*adjoint)->settings = given;
  HkStatus status = create(*adjoint, error);
  if (status < 0) hk_adjoint_destroy(adjoint);
  return status;
}

void hk_adjoint_destroy(HkAdjoint **adjoint) {
  HkAdjoint *a = *adjoint;
  if (!a) return;
  HkContext c = a->sim->model->context;
  hk_state_destroy(&a->again);
  hk_solve_hessian_destroy(&a->solve);
  hk_guess_destroy(&a->guess);
  hk_minres_destroy(&a->minres);
  hk_free(&c, &a->pins);
  hk_free(&c, &a->held);
  hk_free(&c, &a->space.sums);
  for (int k = 0; k < HK_ADJOINT_VECTORS; k++) hk_free(&c, &a->w[k]);
  hk_free(&c, &a->rest);
  hk_free(&c, &a->k);
  hk_free(&c, &a->l0);
  hk_free(&c, &a->block);
  hk_free(&c, &a->spared);
  hk_free(&c, adjoint);
}

/* ---- Steps ---- */

static HkStatus begin(HkAdjoint *a, const HkState *before, const HkState *after, HkDerivatives *d,
                      HkError *error) {
  const HkModel *m = a->sim->model;
  HK_TRY(hk_state_check(before, m, error));
  HK_TRY(hk_state_check(after, m, error));
  HK_TRY(hk_derivatives_check(d, m, error));
  if (hk_model_version(m) != a->version)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the model has changed since the adjoint was made; make a new one");
  a->after = after;
  if (hk_memory_is_needed(m)) HK_TRY(hk_memory_make_step(a, before, error));
  hk_state_fetch(before);
  a->start = *before;
  a->start.pin_held = a->pins;
  if (m->pin_count) memcpy(a->pins, before->pin_held, (size_t)m->pin_count);
  a->before = &a->start;
  hk_pins_release(m, &a->start, before->time + 1e-6 * a->sim->h);
  if (!a->sim->type->remembers) a->start.h_old = 0;
  HK_TRY(hk_sim_use_springs(a->sim, a->before, error));
  memset(a->held, 0, (size_t)m->n);
  for (int64_t p = 0; p < m->pin_count; p++)
    a->held[m->pin_vertex[p]] = a->before->pin_held[p] != 0;
  a->d = d;
  a->update = (HkUpdate){0};
  a->sim->type->update(a->sim, a->before, &a->update);
  a->info.steps++;
  return HK_OK;
}

/* A broken spring has k = c = 0 in the step, whatever its numbers are: nothing depends on them.
 * Their derivatives, or directions, are 0 during the step, and have their values again after it. */
static HkStatus spare_broken(HkAdjoint *a, HkError *error) {
  const HkStateSprings *springs = &a->before->springs;
  const HkDerivativeArrays *d = &a->d->arrays;
  int64_t count = springs->count;
  if (!a->spared && count)
    HK_TRY(hk_alloc(&a->sim->model->context, &a->spared, 2 * count, sizeof *a->spared,
                    "derivatives", error));
  for (int64_t s = 0; s < count; s++) {
    if (!springs->broken[s]) continue;
    a->spared[s] = d->k[s];
    a->spared[count + s] = d->damping[s];
    d->k[s] = d->damping[s] = 0;
  }
  return HK_OK;
}

static void restore_broken(const HkAdjoint *a) {
  const HkStateSprings *springs = &a->before->springs;
  for (int64_t s = 0; s < springs->count; s++) {
    if (!springs->broken[s]) continue;
    a->d->arrays.k[s] = a->spared[s];
    a->d->arrays.damping[s] = a->spared[springs->count + s];
  }
}

static HkStatus differentiate(HkAdjoint *a, HkAdjointFn *const way[], HkError *error) {
  int64_t unsolved = a->info.unsolved;
  HK_TRY(spare_broken(a, error));
  HkStatus status = way[a->update.kind](a, error);
  restore_broken(a);
  HK_TRY(status);
  return a->info.unsolved > unsolved ? HK_NOT_CONVERGED : HK_OK;
}

HkStatus hk_adjoint_back(HkAdjoint *a, const HkState *before, const HkState *after,
                         HkDerivatives *d, HkError *error) {
  static HkAdjointFn *const back[] = {hk_stage_back, hk_linear_back, hk_kick_back,
                                      hk_runge_kutta_back};
  HK_TRY(begin(a, before, after, d, error));
  return differentiate(a, back, error);
}

void hk_adjoint_settle(HkAdjoint *a) {
  if (!a->slots || !a->d) return;
  const HkStateSprings *springs = &a->before->springs;
  HkSpringNumbers numbers = {.k = a->d->arrays.k, .l0 = a->d->arrays.l0, .slots = a->slots};
  hk_springs_settle(a->sim->model, a->sim->work.rows, springs->count ? springs->broken : NULL,
                    &numbers);
}

HkStatus hk_adjoint_step(HkAdjoint *a, const HkState *before, const HkState *after,
                         HkDerivatives *d, HkError *error) {
  a->d = NULL; /* until the step begins */
  HkStatus status = hk_adjoint_back(a, before, after, d, error);
  hk_adjoint_settle(a);
  return status;
}

HkStatus hk_adjoint_tangent(HkAdjoint *a, const HkState *before, const HkState *after,
                            HkDerivatives *d, HkError *error) {
  static HkAdjointFn *const forward[] = {hk_stage_forward, hk_linear_forward, hk_kick_forward,
                                         hk_runge_kutta_forward};
  HK_TRY(begin(a, before, after, d, error));
  return differentiate(a, forward, error);
}

void hk_adjoint_restart(HkAdjoint *a) {
  a->info = (HkAdjointInfo){0};
  a->d = NULL;
  if (a->guess) hk_guess_restart(a->guess);
  a->missed = a->moved = 0;
}

HkAdjointInfo hk_adjoint_info(const HkAdjoint *a) {
  HkAdjointInfo info = a->info;
  info.loss_error = a->missed;
  info.relative_error = a->missed > 0 ? a->missed / a->moved : 0;
  return info;
}
