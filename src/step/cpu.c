/* Steps on the CPU: the stepper that HkSim has unless a device makes its steps.
 *
 * Integrators that keep the state in arrays of their own between steps (open, close) write it back
 * before it is read: by the hooks of forces, the energy watch, or the caller after the last step.
 */
#include "step/cpu.h"

#include "model/part.h"
#include "step/adaptive.h"
#include "step/blowup.h"
#include "step/sim.h"

#include <math.h>
#include <string.h>

HkStatus hk_sim_create_data(HkSim *sim, HkError *error) {
  HkStatus status = sim->type->create ? sim->type->create(sim, error) : HK_OK;
  if (status >= 0) sim->knows_faces = sim->model->face_start != NULL;
  return status;
}

void hk_sim_destroy_data(HkSim *sim) {
  if (sim->data) sim->type->destroy(sim);
  sim->data = NULL;
}

/* ---- One step ---- */

static void open_state(HkSim *sim, const HkState *state) {
  HK_ASSERT(!sim->is_open && hk_state_fits(state, sim->model));
  if (sim->type->open) sim->type->open(sim, state);
  sim->is_open = sim->type->open != NULL;
}

void hk_sim_close(HkSim *sim, HkState *state) {
  if (sim->is_open) sim->type->close(sim, state);
  sim->is_open = false;
}

/* Makes a step; if it is cancelled, restores pins and history. */
static HkStatus move(HkSim *sim, HkState *state, HkError *error) {
  HK_ASSERT(sim->h > 0 && !state->holder);
  double h_old = state->h_old;
  if (state->pin_count) memcpy(sim->pin_held, state->pin_held, (size_t)state->pin_count);
  /* A pin that is due now is released even if rounding leaves the time slightly before it. */
  hk_pins_release(sim->model, state, state->time + 1e-6 * sim->h);
  /* The history of another integrator is not the step before this one. */
  if (!sim->type->remembers) state->h_old = 0;
  HkStatus status = sim->type->step(sim, state, error);
  if (status != HK_ERROR_CANCELLED) return status;
  state->h_old = h_old;
  if (state->pin_count) memcpy(state->pin_held, sim->pin_held, (size_t)state->pin_count);
  return status;
}

static HkStatus open_and_move(HkSim *sim, HkState *state, HkError *error) {
  open_state(sim, state);
  HkStatus status = move(sim, state, error);
  hk_sim_close(sim, state);
  return status;
}

/* Vertices whose move a filter has shortened get the velocity of that move. */
static void filter_step(HkSim *sim, HkState *state) {
  const double *from = sim->x_start;
  double *unfiltered = sim->f;
  size_t bytes = (size_t)state->n * 3 * sizeof *from;
  memcpy(unfiltered, state->x, bytes);
  if (!hk_forces_filter(sim->model, &sim->work, state->time, from, state->x)) return;
  hk_pins_place(sim->model, state, state->time, state->x, state->v);
  for (int64_t i = 0; i < state->n; i++) {
    const double *x = state->x + 3 * i;
    if (memcmp(x, unfiltered + 3 * i, 3 * sizeof *x) == 0) continue;
    for (int c = 0; c < 3; c++) state->v[3 * i + c] = (x[c] - from[3 * i + c]) / sim->h;
  }
}

/* Forces that the step was made without correct it. After an error the state is that of the start.
 */
static HkStatus correct_step(HkSim *sim, HkState *state, double start, HkError *error) {
  size_t bytes = (size_t)state->n * 3 * sizeof *state->x;
  HkStepEnd end = {.h = sim->h,
                   .x = sim->x_start,
                   .v = sim->v_start,
                   .pin_held = state->pin_held,
                   .to = state->x,
                   .v_to = state->v};
  HkStatus status = hk_forces_correct(sim->model, &sim->work, state->time, &end, error);
  if (status < 0) {
    memcpy(state->x, sim->x_start, bytes);
    memcpy(state->v, sim->v_start, bytes);
    state->time = start;
    return status;
  }
  state->given_speed = fmax(state->given_speed, end.speed);
  if (end.driven) sim->watch.known = false; /* what drives them does work */
  sim->kinetic = NAN;
  return status;
}

/* Keeps positions and velocities of the start of a step. */
static HkStatus keep_start(HkSim *sim, const HkState *state, HkError *error) {
  const HkModel *m = sim->model;
  size_t bytes = (size_t)m->n * 3 * sizeof *state->x;
  if (!sim->x_start) HK_TRY(hk_alloc_vector(&m->context, &sim->x_start, m->n, "a step", error));
  if (!sim->v_start) HK_TRY(hk_alloc_vector(&m->context, &sim->v_start, m->n, "a step", error));
  memcpy(sim->x_start, state->x, bytes);
  memcpy(sim->v_start, state->v, bytes);
  return HK_OK;
}

/* A step with the hooks of the forces around it, and their filters and corrections after it. */
static HkStatus move_with_hooks(HkSim *sim, HkState *state, HkError *error) {
  const HkModel *m = sim->model;
  bool filters = !sim->type->filters && hk_forces_have_filter(m);
  bool corrects = sim->work.corrects && hk_forces_have_correction(m);
  if (filters || corrects) HK_TRY(keep_start(sim, state, error));
  double start = state->time;
  hk_sim_begin_springs(sim, state);
  HK_TRY(hk_forces_begin_step(m, &sim->work, state, sim->h, error));
  HkStatus status = open_and_move(sim, state, error);
  if (status < 0) return status;
  if (filters) filter_step(sim, state);
  HkStatus corrected = corrects ? correct_step(sim, state, start, error) : HK_OK;
  if (corrected < 0) return corrected;
  HkStatus ended = hk_forces_end_step(m, &sim->work, state, sim->h, error);
  if (ended < 0) return ended;
  if (status != HK_OK || (corrected == HK_OK && ended == HK_OK)) return status;
  sim->info.reason = HK_STOP_LIMITS;
  return HK_NOT_CONVERGED;
}

HkStatus hk_sim_move(HkSim *sim, HkState *state, HkError *error) {
  if (hk_forces_have_hooks(sim->model)) return move_with_hooks(sim, state, error);
  return open_and_move(sim, state, error);
}

/* Adapts to live changes of the model: a larger workspace of forces, another matrix pattern where a
 * force acts across faces for the first time, another bound of blow-ups. Factorizations compare the
 * model's versions themselves. */
static HkStatus notice_changes(HkSim *sim, HkState *state, HkError *error) {
  const HkModel *m = sim->model;
  bool same_springs = sim->springs_version == sim->work.springs->version;
  if (sim->version == hk_model_version(m) && same_springs) return HK_OK;
  HK_TRY(hk_sim_check_forces(m, sim->type, error));
  HK_TRY(hk_force_work_fit(m, &sim->work, error));
  HK_TRY(hk_forces_load(m, &sim->work, state, error));
  if (sim->type->create && sim->knows_faces != (m->face_start != NULL)) {
    hk_sim_destroy_data(sim);
    HK_TRY(hk_sim_create_data(sim, error));
  }
  hk_blowup_renew(sim, state);
  sim->watch.known = false;
  sim->version = hk_model_version(m);
  sim->springs_version = sim->work.springs->version;
  return HK_OK;
}

/* Runs the energy watch if it is due, with the state closed meanwhile. */
static HkStatus watch(HkSim *sim, HkState *state, HkError *error) {
  bool opens = sim->is_open;
  if (!hk_energy_watch_is_due(sim, state)) return HK_OK;
  hk_sim_close(sim, state);
  HK_TRY(hk_energy_watch_look(sim, state, error));
  if (opens) open_state(sim, state);
  return HK_OK;
}

/* Whether a blow-up is looked for after a step: in parts, where that takes a message, after each
 * implicit step and else from time to time. */
static bool checks_blowup(const HkSim *sim, const HkState *state, bool last) {
  enum { STEPS_PER_CHECK = 64 };
  return !sim->model->part || last || sim->type->implicit || state->steps % STEPS_PER_CHECK == 0;
}

/* One step of a state, which is open unless steps are adaptive or forces have hooks; last: of the
 * call. */
static HkStatus step(HkSim *sim, HkState *state, bool last, HkError *error) {
  if (state->steps == 0) hk_blowup_begin(sim, state);
  sim->info = (HkStepInfo){0};
  sim->kinetic = NAN;
  HkStatus status;
  if (sim->whole)
    status = hk_adaptive_step(sim, state, error);
  else
    status = sim->is_open ? move(sim, state, error) : hk_sim_move(sim, state, error);
  if (sim->whole) sim->kinetic = NAN;
  if (status < 0) return status;
  hk_forces_drop_memory(sim->model, state);
  state->steps++;
  if (checks_blowup(sim, state, last)) HK_TRY(hk_blowup_check(sim, state, error));
  HK_TRY(hk_blowup_check_gradient(sim, state, sim->info.gradient, error));
  HK_TRY(watch(sim, state, error));
  return status;
}

/* ---- The stepper ---- */

typedef struct Cpu {
  HkStepper base;
  HkSim *sim;
} Cpu;
_Static_assert(offsetof(Cpu, base) == 0, "a stepper begins with its base");

static HkStatus create(HkSim *sim, HkStepper **stepper, HkError *error) {
  Cpu *cpu = NULL;
  HK_TRY(hk_alloc(&sim->model->context, &cpu, 1, sizeof *cpu, "a simulation", error));
  cpu->base.type = &hk_stepper_cpu;
  cpu->sim = sim;
  *stepper = &cpu->base;
  return HK_OK;
}

static void destroy(HkStepper **stepper) {
  Cpu *cpu = (Cpu *)*stepper;
  HkContext c = cpu->sim->model->context;
  hk_free(&c, stepper);
}

static size_t bytes(const HkStepper *stepper) {
  (void)stepper;
  return sizeof(Cpu);
}

static HkStatus steps(HkStepper *stepper, HkState *state, int64_t count, const HkClock *clock,
                      HkError *error) {
  HkSim *sim = ((Cpu *)stepper)->sim;
  HkStatus worst = HK_OK;
  hk_state_own(state);
  HK_TRY(notice_changes(sim, state, error));
  HK_TRY(hk_forces_load(sim->model, &sim->work, state, error)); /* for the energy watch */
  if (count > 0) HK_TRY(hk_forces_prepare(sim->model, &sim->work, state, error));
  hk_energy_watch_begin(sim, state);
  if (!sim->whole && count > 0 && !hk_forces_have_hooks(sim->model)) open_state(sim, state);
  for (int64_t k = 1; k <= count && worst >= 0; k++) {
    HkStatus status = k > 1 ? hk_cancel_check(&sim->cancel, error) : HK_OK;
    if (status >= 0) status = step(sim, state, k == count, error);
    if (status != HK_OK) worst = status;
    if (clock && status >= 0) state->time = clock->begin + (double)(clock->first + k) * sim->h;
  }
  hk_sim_close(sim, state);
  hk_energy_watch_end(sim, state);
  return worst;
}

const HkStepperType hk_stepper_cpu = {
    .local = true,
    .takes_springs = true,
    .create = create,
    .destroy = destroy,
    .bytes = bytes,
    .steps = steps,
};
