/* HkSim: creating, common functions of integrators, energies of a state. */
#include "step/sim.h"

#include "base/vec.h"
#include "force/springs.h"
#include "minimize/choose_methods.h"
#include "model/part.h"
#include "step/adaptive.h"
#include "step/blowup.h"
#include "step/choose_device.h"
#include "step/need.h"
#include "step/ranks.h"

#include <string.h>

enum { FEW_MASSES_MAX_VERTICES = 100 };

static HkStatus allocate(HkSim *sim, HkError *error) {
  const HkModel *m = sim->model;
  const HkContext *c = &m->context;
  bool local = hk_stepper_type(sim->device)->local;
  int vectors = local ? sim->type->vectors : 0;
  HK_TRY(hk_alloc(c, &sim->w, vectors, sizeof *sim->w, "workspace", error));
  for (int k = 0; k < vectors; k++)
    HK_TRY(hk_alloc_vector(c, &sim->w[k], m->n, "workspace", error));
  HK_TRY(hk_alloc_vector(c, &sim->f, m->n, "forces", error));
  HK_TRY(hk_alloc(c, &sim->pin_held, m->pin_count, sizeof *sim->pin_held, "pins", error));
  HK_TRY(hk_force_work_create(m, &sim->work, error));
  sim->work.corrects = !sim->type->barrier;
  return local ? hk_sim_create_data(sim, error) : HK_OK;
}

/* Picks the default step of the scene if it is stable, else half the largest stable step: the
 * fastest modes are then inaccurate, the others are resolved. Models of a few masses have only fast
 * modes and are cheap: a twentieth. */
static HkStatus pick_step(HkSim *sim, HkError *error) {
  HkState *start;
  double stable = 0;
  HK_TRY(hk_state_create(sim->model, &start, error));
  HkStatus status = hk_sim_stable_step(sim, start, &stable, error);
  hk_state_destroy(&start);
  if (status < 0) return status;
  if (!(stable > 0))
    return hk_fail(error, HK_ERROR_INVALID,
                   "%s has no stable step for this system; give time.step, or another integrator",
                   sim->type->schema.name);
  const HkTime *time = &sim->model->time;
  double part = hk_model_total(sim->model) < FEW_MASSES_MAX_VERTICES ? 0.05 : 0.5;
  sim->h = isinf(stable) ? 1 / time->frames_per_second : part * stable;
  if (time->default_step > 0 && time->default_step <= stable) sim->h = time->default_step;
  return HK_OK;
}

/* Checks that the simulation fits into memory; small models always do. */
static HkStatus check_memory(const HkModel *model, const HkMethod *method, HkError *error) {
  const int64_t MEMORY_CHECK_MIN_VERTICES = 20000;
  if (model->n < MEMORY_CHECK_MIN_VERTICES) return HK_OK;
  HkProportions p = hk_model_sizes(model);
  if (hk_step_factorizes(&p, method)) HK_TRY(hk_model_proportions(model, &p, error));
  return hk_step_check(&model->context, &p, method, hk_step_need(&p, method), error);
}

HkStatus hk_sim_check_forces(const HkModel *m, const HkStepType *type, HkError *error) {
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *force = m->forces[f].type;
    const char *why = "";
    if (!type->barrier || !force->must_correct) continue;
    if (force->must_correct(m->forces[f].method.params, &why))
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "%s of the force '%s' needs an integrator whose steps it corrects, such as "
                     "symplectic_euler or verlet; %s has no impacts that could be elastic",
                     why, force->schema.name, type->schema.name);
  }
  return HK_OK;
}

/* Creates a simulation whose steps the device makes; the method has been checked. */
static HkStatus create(const HkModel *model, const HkMethod *method, double h, HkDeviceKind device,
                       HkSim **sim, HkError *error) {
  const HkStepType *type = hk_step_type(method->schema);
  HK_TRY(hk_alloc(&model->context, sim, 1, sizeof **sim, "a simulation", error));
  (*sim)->model = model;
  (*sim)->device = device;
  (*sim)->type = type;
  (*sim)->h = h > 0 ? h : model->time.step;
  HkStatus status = hk_method_copy(method, &(*sim)->method, error);
  HkChoice choice = {device, (*sim)->h, type->device_multigrid};
  if (status >= 0) status = hk_choose_methods(model, choice, &(*sim)->method, error);
  if (status >= 0 && model->part) status = hk_ranks_check(model, &(*sim)->method, error);
  if (status >= 0) status = allocate(*sim, error);
  status = hk_model_agree(model, status, error); /* ranks make the rest together */
  if (status >= 0 && model->time.tolerance > 0) status = hk_adaptive_create(*sim, error);
  if (status >= 0) hk_blowup_prepare(*sim);
  if (status >= 0) status = hk_energy_watch_create(*sim, error);
  if (status >= 0 && (*sim)->h == 0) status = pick_step(*sim, error);
  if (status >= 0) status = hk_stepper_type(device)->create(*sim, &(*sim)->stepper, error);
  if (status < 0) hk_sim_destroy(sim);
  return status;
}

HkStatus hk_sim_create(const HkModel *model, const HkMethod *step, double h, HkSim **sim,
                       HkError *error) {
  const HkContext *c = &model->context;
  HkError why = {0};
  *sim = NULL;
  const HkMethod *method = step ? step : &model->step;
  const HkStepType *type = hk_step_type(method->schema);
  if (!type)
    return hk_fail(error, HK_ERROR_INVALID, "'%s' is not an integrator",
                   method->schema ? method->schema->name : "nothing");
  if (!(h >= 0) || isinf(h))
    return hk_fail(error, HK_ERROR_INVALID, "step %g s is not possible", h);
  HK_TRY(hk_method_check(method, HK_STEP, "integrator", error));
  HK_TRY(hk_sim_check_forces(model, type, error));
  HK_TRY(hk_model_agree(model, check_memory(model, method, error), error));
  if (c->device != HK_AUTO) return create(model, method, h, c->device, sim, error);
  if (hk_device_pays(c, type, model->n)) {
    if (create(model, method, h, HK_CUDA, sim, &why) >= 0) return HK_OK;
    hk_log(c, HK_LOG_INFO, "the CPU makes the steps: %s", why.text);
  }
  return create(model, method, h, HK_CPU, sim, error);
}

HkDeviceKind hk_sim_device(const HkSim *sim) {
  return sim->device;
}

void hk_sim_destroy(HkSim **sim) {
  HkSim *s = *sim;
  if (!s) return;
  HkContext c = s->model->context;
  if (s->stepper) s->stepper->type->destroy(&s->stepper);
  hk_sim_destroy_data(s);
  hk_adaptive_destroy(s);
  hk_energy_watch_destroy(s);
  if (s->w)
    for (int k = 0; k < s->type->vectors; k++) hk_free(&c, &s->w[k]);
  hk_free(&c, &s->w);
  hk_free(&c, &s->f);
  hk_free(&c, &s->x_start);
  hk_free(&c, &s->v_start);
  hk_free(&c, &s->pin_held);
  hk_sim_release_springs(s);
  hk_sim_release_contacts(s);
  hk_force_work_destroy(s->model, &s->work);
  hk_method_clear(&s->method);
  hk_free(&c, sim);
}

const HkMethod *hk_sim_method(const HkSim *sim) {
  return &sim->method;
}

double hk_sim_h(const HkSim *sim) {
  return sim->h;
}

HkStatus hk_sim_set_h(HkSim *sim, double h, HkError *error) {
  if (!(h > 0) || isinf(h)) return hk_fail(error, HK_ERROR_INVALID, "step %g s is not possible", h);
  sim->h = h;
  return HK_OK;
}

size_t hk_sim_bytes(const HkSim *sim) {
  const HkModel *m = sim->model;
  size_t vectors = sim->w ? (size_t)sim->type->vectors : 0;
  size_t bytes = sizeof *sim + vectors * sizeof *sim->w + (vectors + 1) * hk_vector_bytes(m->n);
  bytes += (size_t)m->pin_count * sizeof *sim->pin_held + hk_force_work_bytes(m, &sim->work) +
           hk_energy_watch_bytes(sim);
  bytes += hk_sim_springs_bytes(sim) + hk_sim_contacts_bytes(sim);
  if (sim->x_start) bytes += 2 * hk_vector_bytes(m->n);
  HkState *states[] = {sim->whole, sim->halves, sim->start};
  for (int k = 0; k < 3; k++) bytes += states[k] ? hk_state_bytes(states[k]) : 0;
  bytes += sim->stepper->type->bytes(sim->stepper);
  return bytes + (sim->data ? sim->type->bytes(sim) : 0);
}

HkStatus hk_sim_advance(HkSim *sim, HkState *state, int64_t count, const HkClock *clock,
                        HkError *error) {
  hk_cancel_begin(&sim->cancel);
  HK_TRY(hk_state_check(state, sim->model, error));
  if (!isfinite(state->time))
    return hk_fail(error, HK_ERROR_INVALID, "the time of the state, %g s, is not finite",
                   state->time);
  if (count > 0) HK_TRY(hk_cancel_check(&sim->cancel, error));
  if (count > 0) HK_TRY(hk_sim_need_springs(sim, state, error));
  HK_TRY(hk_sim_use_springs(sim, state, error));
  return sim->stepper->type->steps(sim->stepper, state, count, clock, error);
}

HkStatus hk_sim_steps(HkSim *sim, HkState *state, int64_t count, HkError *error) {
  if (count < 0)
    return hk_fail(error, HK_ERROR_INVALID, "%lld steps are not possible", (long long)count);
  return hk_sim_advance(sim, state, count, NULL, error);
}

HkStatus hk_sim_step(HkSim *sim, HkState *state, HkError *error) {
  return hk_sim_advance(sim, state, 1, NULL, error);
}

void hk_sim_set_cancel(HkSim *sim, HkCancelFn *cancel, void *user) {
  sim->cancel = (HkCancel){.ask = cancel, .user = user};
}

HkStepInfo hk_sim_step_info(const HkSim *sim) {
  if (sim->stepper->type->synchronize) sim->stepper->type->synchronize(sim->stepper);
  return sim->info;
}

/* ---- Common functions of integrators
 * --------------------------------------------------------------
 */

typedef struct Divide {
  const HkModel *model;
  double *a;
} Divide;

static void divide_range(void *user, int64_t begin, int64_t end) {
  const Divide *d = user;
  bool flat = d->model->dimension == 2;
  for (int64_t i = begin; i < end; i++) {
    double inverse = 1 / d->model->mass[i];
    for (int c = 0; c < 3; c++) d->a[3 * i + c] *= inverse;
    if (flat) d->a[3 * i + 2] = 0;
  }
}

void hk_sim_acceleration(HkSim *sim, const HkState *state, double t, const double *x,
                         const double *v, double *a) {
  const HkModel *m = sim->model;
  hk_forces_sum(m, &sim->work, t, x, v, a);
  Divide d = {m, a};
  hk_parallel_for(m->threads, m->n, divide_range, &d);
  for (int64_t p = 0; p < m->pin_count; p++)
    if (state->pin_held[p]) memset(a + 3 * (int64_t)m->pin_vertex[p], 0, 3 * sizeof *a);
}

typedef struct Axpy {
  double s;
  const double *d, *x;
  double *y;
} Axpy;

static void axpy_range(void *user, int64_t begin, int64_t end) {
  const Axpy *p = user;
  for (int64_t c = 3 * begin; c < 3 * end; c++) p->y[c] = p->x[c] + p->s * p->d[c];
}

void hk_sim_axpy(const HkSim *sim, double s, const double *d, const double *x, double *y) {
  Axpy p = {s, d, x, y};
  hk_parallel_for(sim->model->threads, sim->model->n, axpy_range, &p);
}

/* ---- Energies, momenta and extremes of a state ---- */

HkStatus hk_sim_use_state(HkSim *sim, const HkState *state, HkError *error) {
  HK_TRY(hk_state_check(state, sim->model, error));
  HK_TRY(hk_sim_use_springs(sim, state, error));
  hk_state_fetch(state);
  HK_TRY(hk_force_work_fit(sim->model, &sim->work, error));
  HK_TRY(hk_forces_load(sim->model, &sim->work, state, error));
  return hk_forces_begin_query(sim->model, &sim->work, state, sim->h, error);
}

HkStatus hk_sim_prepare(HkSim *sim, HkState *state, HkError *error) {
  HK_TRY(hk_sim_use_state(sim, state, error));
  return hk_forces_prepare(sim->model, &sim->work, state, error);
}

void hk_sim_forces(HkSim *sim, const HkState *state, double *f) {
  if (hk_sim_use_state(sim, state, NULL) < 0) {
    for (int64_t c = 0; c < 3 * sim->model->n; c++)
      f[c] = NAN; /* the next step returns the error */
    return;
  }
  hk_forces_sum(sim->model, &sim->work, state->time, state->x, state->v, f);
  for (int k = 0; k < sim->model->force_count; k++) {
    const HkForceType *type = sim->model->forces[k].type;
    HkForceArgs a = hk_force_args(sim->model, k, &sim->work, state->time, state->x, state->v);
    if (type->add_correction) type->add_correction(&a, f);
  }
}

void hk_sim_reactions(HkSim *sim, const HkState *state, double *R) {
  if (!hk_state_fits(state, sim->model)) {
    for (int64_t c = 0; c < 3 * sim->model->pin_count; c++) R[c] = NAN;
    return;
  }
  hk_sim_forces(sim, state, sim->f);
  hk_pins_reactions(sim->model, state, sim->f, R);
}

typedef struct Moments {
  const HkModel *model;
  const HkState *state;
  int quantity; /* 0 kinetic energy, 1..3 momentum, 4..6 angular momentum */
} Moments;

static double moment_range(void *user, int64_t begin, int64_t end) {
  const Moments *p = user;
  const double *mass = p->model->mass;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) {
    const double *x = p->state->x + 3 * i, *v = p->state->v + 3 * i;
    double L[3];
    if (p->quantity == 0) {
      sum += 0.5 * mass[i] * hk_dot(v, v);
    } else if (p->quantity <= 3) {
      sum += mass[i] * v[p->quantity - 1];
    } else {
      hk_cross(x, v, L);
      sum += mass[i] * L[p->quantity - 4];
    }
  }
  return sum;
}

static double speed_range(void *user, int64_t begin, int64_t end) {
  const HkState *state = ((const Moments *)user)->state;
  double most = 0;
  for (int64_t i = begin; i < end; i++)
    most = hk_larger(most, hk_dot(state->v + 3 * i, state->v + 3 * i));
  return most;
}

static void extremes(HkSim *sim, const HkState *state, HkStateInfo *r) {
  const HkModel *m = sim->model;
  Moments p = {m, state, 1};
  double *sums = sim->work.sums;
  r->speed_max = sqrt(hk_most_vertices(m, speed_range, &p, sums));
  hk_springs_strains(m, sim->work.springs, state->x, sums, &r->strain_min, &r->strain_max);
}

/* Returns NAN in all fields, for a state of another model: hk_sim_state_info has no status. */
static HkStateInfo no_info(void) {
  return (HkStateInfo){NAN, NAN, NAN, NAN, NAN, NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN},
                       NAN, NAN, NAN, NAN};
}

void hk_sim_state_info(HkSim *sim, const HkState *state, HkStateInfo *info) {
  const HkModel *m = sim->model;
  if (hk_sim_use_state(sim, state, NULL) < 0) { /* the next step returns the error */
    *info = no_info();
    return;
  }
  *info = (HkStateInfo){.time = state->time};
  Moments p = {m, state, 0};
  info->kinetic = hk_sum_vertices(m, moment_range, &p, sim->work.sums);
  for (int c = 0; c < 3; c++) {
    p.quantity = 1 + c;
    info->momentum[c] = hk_sum_vertices(m, moment_range, &p, sim->work.sums);
    p.quantity = 4 + c;
    info->angular_momentum[c] = hk_sum_vertices(m, moment_range, &p, sim->work.sums);
  }
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    HkForceArgs a = hk_force_args(m, f, &sim->work, state->time, state->x, state->v);
    if (type->lost) info->dissipated += type->lost(&a);
    if (!type->energy) continue;
    double e = type->energy(&a);
    if (type->slot == HK_ENERGY_SPRING) info->spring += e;
    if (type->slot == HK_ENERGY_GRAVITY) info->gravity += e;
    if (type->slot == HK_ENERGY_OTHER) info->other += e;
  }
  info->total = info->kinetic + info->spring + info->gravity + info->other;
  extremes(sim, state, info);
}
