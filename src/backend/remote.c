/* Simulations that step on a device; see remote.h. */
#include "backend/remote.h"

#include "backend/device_model.h"
#include "backend/gpu/media.h"
#include "backend/plugin.h"
#include "step/blowup.h"

#include <string.h>

enum { TABLE_STEPS = 256 }; /* rows of the tables that are sent to the device at a time */

struct HkRemote {
  HkStepper base;
  HkStateHolder holder; /* states point to it */
  HkSim *sim;
  const HkDevice *device;
  HkDeviceSim *device_sim;
  HkDeviceSettings settings;
  double origin[3];
  int motion_count, grip_count;
  bool pins_move;
  int64_t version; /* of the model */
  HkState *state;  /* the state that the device holds; NULL: none */
  bool here;       /* the arrays on the host are up to date */
  /* Fixed pins stay on the device where the state has them. strayed: the caller had moved one when
   * the state was uploaded. returned: a step was made since, which moves them back on the host. */
  bool strayed, returned;
  int64_t ahead; /* steps that are queued beyond the state */
  HkClock ahead_clock;
  double ahead_time, ahead_h_old;
  double before;                         /* s: when the last step began */
  double *moment, *grips, *middle, *end; /* tables of a batch */
  HkDeviceStepsInfo info;                /* of the steps of the last call that have been fetched */
  HkStatus status;                       /* pending: the next call that can return it does */
  HkError error;
};

_Static_assert(offsetof(HkRemote, base) == 0, "a stepper begins with its base");

static HkRemote *remote_of_holder(HkStateHolder *holder) {
  return (HkRemote *)((char *)holder - offsetof(HkRemote, holder));
}

HkRemote *hk_remote_of(const HkSim *sim) {
  return sim->stepper->type == &hk_stepper_remote ? (HkRemote *)sim->stepper : NULL;
}

/* ---- Creating ---- */

/* Kernels of bricks hold up to three vectors of four numbers a vertex in shared memory, beside a
 * palette of springs. Returns how many vertices fit. */
static int most_local(const HkDeviceInfo *info, bool is_double) {
  const double PALETTE = 1024, VECTORS = 3;
  double bytes = VECTORS * 4 * (double)(is_double ? sizeof(double) : sizeof(float));
  return info->shared_bytes > 0 ? (int)((info->shared_bytes - PALETTE) / bytes) : 0;
}

static HkStatus check_device_memory(const HkRemote *r, const HkDeviceInfo *info,
                                    const HkDeviceModel *model, HkError *error) {
  double need = r->device->need(model, &r->settings);
  if (need > info->bytes_free)
    return hk_fail(error, HK_ERROR_MEMORY,
                   "%lld vertices need %.0f bytes of device memory; %s has %.0f bytes free%s",
                   (long long)model->layout->n, need, info->name, info->bytes_free,
                   model->hierarchy ? "; the preconditioner 'block_jacobi' needs less" : "");
  hk_log(&r->sim->model->context, HK_LOG_INFO,
         "steps run on %s (%s, %s) with %.3g GB of device memory", info->name,
         hk_device_is_double(&r->settings) ? "double precision" : "single precision",
         model->layout->near              ? "two steps at once"
         : model->layout->brick_count > 0 ? "bricks"
                                          : "rows",
         need / 1e9);
  return HK_OK;
}

static HkStatus create_device_sim(HkRemote *r, HkError *error) {
  const HkModel *m = r->sim->model;
  HkDeviceModel model;
  HkDeviceArrays arrays;
  HkDeviceStep step = r->settings.step;
  bool predicts = step == HK_DEVICE_VERLET && m->velocity_dependent;
  HkDeviceInfo info;
  HK_TRY(r->device->info(&info, error));
  HkGpuLayoutOptions options = {.colors = step == HK_DEVICE_BLOCK_DESCENT,
                                .rows = step == HK_DEVICE_JACOBI,
                                .twice =
                                    step <= HK_DEVICE_VERLET && !predicts && hk_device_is_plain(m),
                                .most_local = most_local(&info, hk_device_is_double(&r->settings))};
  bool multigrid = hk_device_has_multigrid(&r->settings);
  HK_TRY(hk_device_model_create(m, &options, multigrid, &model, &arrays, error));
  memcpy(r->origin, model.origin, sizeof r->origin);
  r->motion_count = model.motion_count;
  r->grip_count = model.grip_count;
  r->pins_move = model.pins_move;
  r->settings.h = r->sim->h;
  r->settings.uses_velocity = m->velocity_dependent;
  HkStatus status = check_device_memory(r, &info, &model, error);
  if (status >= 0) status = r->device->create(&model, &r->settings, &r->device_sim, error);
  hk_device_model_destroy(m, &arrays);
  if (status >= 0) r->version = hk_model_version(m);
  return status;
}

static HkStatus make_tables(HkRemote *r, HkError *error) {
  const HkContext *c = &r->sim->model->context;
  /* Each table has at least one number, so that its pointer is not NULL. */
  int64_t motions = (int64_t)TABLE_STEPS * r->motion_count * HK_DEVICE_MOTION_REALS + 1;
  int64_t grips = (int64_t)TABLE_STEPS * r->grip_count * HK_DEVICE_GRIP_REALS + 1;
  HK_TRY(hk_alloc(c, &r->moment, TABLE_STEPS * HK_GPU_MOMENT_REALS, sizeof *r->moment, "tables",
                  error));
  HK_TRY(hk_alloc(c, &r->grips, grips, sizeof *r->grips, "tables", error));
  HK_TRY(hk_alloc(c, &r->middle, motions, sizeof *r->middle, "tables", error));
  return hk_alloc(c, &r->end, motions, sizeof *r->end, "tables", error);
}

static void drop_tables(HkRemote *r) {
  const HkContext *c = &r->sim->model->context;
  hk_free(c, &r->moment);
  hk_free(c, &r->grips);
  hk_free(c, &r->middle);
  hk_free(c, &r->end);
}

/* ---- The state on the device ---- */

typedef struct Copy {
  const HkRemote *remote;
  HkDeviceSnapshot from;
  HkState *state;
} Copy;

static double number_at(const HkRemote *r, const void *a, int64_t q) {
  bool wide = hk_device_is_double(&r->settings);
  return wide ? ((const double *)a)[q] : (double)((const float *)a)[q];
}

static void copy_range(void *user, int64_t begin, int64_t end) {
  const Copy *p = user;
  for (int64_t q = begin; q < end; q++)
    for (int c = 0; c < 3; c++) {
      p->state->x[3 * q + c] = number_at(p->remote, p->from.x, 3 * q + c) + p->remote->origin[c];
      p->state->v[3 * q + c] = number_at(p->remote, p->from.v, 3 * q + c);
    }
}

/* Where the device does not need x_old, it is x - h_old v: a step of backward Euler is x = x_old +
 * h v. */
static void copy_history_range(void *user, int64_t begin, int64_t end) {
  const Copy *p = user;
  const HkState *s = p->state;
  for (int64_t q = begin; q < end; q++)
    for (int c = 0; c < 3; c++) {
      int64_t k = 3 * q + c;
      s->v_old[k] = number_at(p->remote, p->from.v_old, k);
      s->x_old[k] = p->from.x_old ? number_at(p->remote, p->from.x_old, k) + p->remote->origin[c]
                                  : s->x[k] - s->h_old * s->v[k];
    }
}

/* Copies the step before, unless the caller has changed the time since. */
static void copy_history(HkRemote *r, Copy *p) {
  const HkModel *m = r->sim->model;
  HkState *state = r->state;
  if (!p->from.v_old || !(state->h_old > 0)) return;
  hk_parallel_for(m->threads, m->n, copy_history_range, p);
  if (!p->from.x_old) hk_pins_place(m, state, r->before, state->x_old, state->v_old);
}

/* Constrained vertices are placed by the host in double precision, not rounded as on the device. If
 * the device computes in double precision and places them itself, its numbers are kept: a state
 * that is uploaded again has the same bits. */
static void place_pins(const HkRemote *r) {
  HkState *state = r->state;
  if (hk_device_has_multigrid(&r->settings) && r->pins_move) return;
  hk_pins_place(r->sim->model, state, state->time, state->x, state->v);
}

/* Adds step info up: a call fetches a state several times when it releases pins. */
static void add_info(HkDeviceStepsInfo *sum, const HkDeviceStepsInfo *more) {
  sum->kinetic = more->kinetic;
  sum->iterations += more->iterations;
  sum->linear_iterations += more->linear_iterations;
  if (more->worst_iterations > sum->worst_iterations)
    sum->worst_iterations = more->worst_iterations;
  sum->gradient = fmax(sum->gradient, more->gradient);
  if (sum->unconverged == 0) sum->missed = more->missed;
  sum->stationary += more->stationary;
  sum->unconverged += more->unconverged;
  sum->last = more->last;
}

static HkStatus download(HkRemote *r, HkError *error) {
  const HkModel *m = r->sim->model;
  HkState *state = r->state;
  HkDeviceStepsInfo info = {0};
  Copy p = {.remote = r, .state = state};
  HK_TRY(r->device->fetch(r->device_sim, &p.from, &info, error));
  hk_parallel_for(m->threads, m->n, copy_range, &p);
  copy_history(r, &p);
  place_pins(r);
  add_info(&r->info, &info);
  if (state->steps == 0) hk_blowup_begin(r->sim, state);
  r->sim->kinetic = info.kinetic;
  r->sim->info = info.last;
  HK_TRY(hk_blowup_check(r->sim, state, error));
  HK_TRY(hk_blowup_check_gradient(r->sim, state, info.last.gradient, error));
  return info.unconverged > 0 ? HK_NOT_CONVERGED : HK_OK;
}

/* Copies the state to the host and keeps the status for the next call. An error replaces
 * HK_NOT_CONVERGED, and nothing replaces an error. */
static void fetch(HkStateHolder *holder) {
  HkRemote *r = remote_of_holder(holder);
  if (r->here) return;
  r->here = true;
  HkStatus status = download(r, &r->error);
  if (status < 0 || r->status == HK_OK) r->status = status;
}

static void leave(HkStateHolder *holder) {
  HkRemote *r = remote_of_holder(holder);
  if (r->state) r->state->holder = NULL;
  r->state = NULL;
  r->ahead = 0;
}

static HkStatus attach(HkRemote *r, HkState *state, HkError *error) {
  if (r->ahead > 0 && r->state) leave(&r->holder); /* the steps ahead are discarded */
  if (r->state && r->state == state && !r->returned) return HK_OK;
  if (r->state) hk_state_own(r->state);
  hk_state_own(state);
  if (state->steps == 0) hk_blowup_begin(r->sim, state);
  HkDeviceState from = {.x = state->x, .v = state->v, .held = state->pin_held};
  if (state->h_old > 0) {
    from.x_old = state->x_old;
    from.v_old = state->v_old;
  }
  HK_TRY(r->device->upload(r->device_sim, &from, error));
  r->state = state;
  r->here = true;
  r->strayed = !r->pins_move && !hk_pins_are_placed(r->sim->model, state);
  r->returned = false;
  state->holder = &r->holder;
  return HK_OK;
}

static void destroy(HkStepper **stepper) {
  HkRemote *r = (HkRemote *)*stepper;
  HkContext c = r->sim->model->context;
  if (r->state) hk_state_own(r->state);
  if (r->device_sim) r->device->destroy(&r->device_sim);
  drop_tables(r);
  hk_free(&c, stepper);
}

static HkStatus create(HkSim *sim, HkStepper **stepper, HkError *error) {
  const HkContext *c = &sim->model->context;
  HkRemote *r = NULL;
  HK_TRY(hk_alloc(c, &r, 1, sizeof *r, "a device", error));
  *stepper = &r->base;
  r->base.type = &hk_stepper_remote;
  r->sim = sim;
  r->holder = (HkStateHolder){fetch, leave};
  HkStatus status = hk_device_settings(sim, &r->settings, error);
  if (status >= 0) status = hk_plugin_find(sim->device, &r->device, error);
  if (status >= 0) status = create_device_sim(r, error);
  if (status >= 0) status = make_tables(r, error);
  if (status < 0) destroy(stepper);
  return status;
}

static size_t bytes(const HkStepper *stepper) {
  const HkRemote *r = (const HkRemote *)stepper;
  int64_t motions = (int64_t)2 * TABLE_STEPS * r->motion_count * HK_DEVICE_MOTION_REALS;
  int64_t grips = (int64_t)TABLE_STEPS * r->grip_count * HK_DEVICE_GRIP_REALS;
  return sizeof *r +
         (size_t)(TABLE_STEPS * HK_GPU_MOMENT_REALS + motions + grips + 3) * sizeof(double);
}

/* Makes the layout of a changed model, also after an earlier attempt that failed, and sends a
 * changed step length to the device. */
static HkStatus renew(HkRemote *r, HkState *state, HkError *error) {
  bool same = r->device_sim && r->version == hk_model_version(r->sim->model);
  if (same && r->settings.h == r->sim->h) return HK_OK;
  if (r->state) hk_state_own(r->state);
  if (same) {
    r->settings.h = r->sim->h;
    return r->device->set_h(r->device_sim, r->sim->h, error);
  }
  if (r->device_sim) r->device->destroy(&r->device_sim);
  drop_tables(r);
  HK_TRY(hk_device_settings(r->sim, &r->settings, error));
  HK_TRY(create_device_sim(r, error));
  HK_TRY(make_tables(r, error));
  hk_blowup_renew(r->sim, state);
  return HK_OK;
}

/* ---- Steps ---- */

/* Returns the time in s at which the q-th step after t begins. */
static double time_of(const HkRemote *r, const HkClock *clock, double t, int64_t q) {
  if (q == 0) return t;
  return clock ? clock->begin + (double)(clock->first + q) * r->sim->h : t + (double)q * r->sim->h;
}

/* Queues `count` steps of a state, in batches of TABLE_STEPS. */
static HkStatus queue(HkRemote *r, const HkClock *clock, const HkState *state, int64_t count,
                      HkError *error) {
  const HkModel *m = r->sim->model;
  double t = state->time, h = r->sim->h;
  double later = 0; /* s after the step's begin, when forces are evaluated */
  if (r->settings.step == HK_DEVICE_VERLET) later = h / 2;
  if (r->settings.step >= HK_DEVICE_BLOCK_DESCENT) later = h;
  int64_t motions = (int64_t)r->motion_count * HK_DEVICE_MOTION_REALS;
  int64_t grips = (int64_t)r->grip_count * HK_DEVICE_GRIP_REALS;
  for (int64_t first = 0; first < count; first += TABLE_STEPS) {
    int64_t size = count - first < TABLE_STEPS ? count - first : TABLE_STEPS;
    for (int64_t q = 0; q < size; q++) {
      double begin = time_of(r, clock, t, first + q);
      hk_device_moment(m, r->origin, begin + later, r->moment + q * HK_GPU_MOMENT_REALS,
                       r->grips + q * grips);
      if (!r->pins_move) continue;
      hk_device_motions(m, begin + h / 2, r->middle + q * motions);
      hk_device_motions(m, time_of(r, clock, t, first + q + 1), r->end + q * motions);
    }
    HkDeviceTimes times = {.steps = size,
                           .moment = r->moment,
                           .grips = r->grips,
                           .middle = r->middle,
                           .end = r->end,
                           .h_old = first == 0 ? state->h_old : h};
    HK_TRY(r->device->steps(r->device_sim, &times, error));
  }
  return HK_OK;
}

/* Returns the number of steps until the state is uploaded again, at most `count`: until the next
 * pin is released, or one where pins have strayed. */
static int64_t until_upload(const HkRemote *r, const HkState *state, int64_t count) {
  const HkModel *m = r->sim->model;
  if (r->strayed) return 1;
  double h = r->sim->h, next = INFINITY;
  for (int64_t q = 0; q < m->pin_count; q++)
    if (state->pin_held[q] == HK_PIN_HELD) next = fmin(next, m->motions[m->pin_motion[q]].release);
  double steps = ceil((next - state->time) / h - 1e-6);
  return steps < 1 ? 1 : steps < (double)count ? (int64_t)steps : count;
}

static bool releases_now(const HkRemote *r, const HkState *state) {
  const HkModel *m = r->sim->model;
  for (int64_t q = 0; q < m->pin_count; q++)
    if (state->pin_held[q] == HK_PIN_HELD &&
        m->motions[m->pin_motion[q]].release <= state->time + 1e-6 * r->sim->h)
      return true;
  return false;
}

/* Returns whether the steps that were queued ahead are those that the caller asks for. */
static bool is_ahead(const HkRemote *r, const HkState *state, int64_t count, const HkClock *clock) {
  return r->state && r->state == state && r->ahead == count && clock &&
         clock->begin == r->ahead_clock.begin && clock->first == r->ahead_clock.first &&
         state->time == r->ahead_time && state->h_old == r->ahead_h_old;
}

/* Moves fixed pins of a state that is to be uploaded to their places. symplectic_euler evaluates
 * forces where pins are before a step: its pins return after it. On the host two methods see the
 * way of the pins, too, which a device does not: linear_implicit_euler linearizes where they are
 * before the step, and dampers of bdf2 depend on lengths at the two states before. */
static void return_pins(HkRemote *r, HkState *state) {
  bool held = r->state && r->state == state;
  if (r->pins_move || r->settings.step == HK_DEVICE_SYMPLECTIC || (held && !r->strayed)) return;
  hk_state_own(state);
  hk_pins_place(r->sim->model, state, state->time, state->x, state->v);
}

static HkStatus prepare(HkRemote *r, HkState *state, HkError *error) {
  if (releases_now(r, state)) {
    hk_state_own(state);
    hk_pins_release(r->sim->model, state, state->time + 1e-6 * r->sim->h);
  }
  return_pins(r, state);
  return attach(r, state, error);
}

/* Returns the pending status, with its error, and clears it. */
static HkStatus return_pending(HkRemote *r, HkError *error) {
  HkStatus status = r->status;
  if (status < 0 && error) *error = r->error;
  r->status = HK_OK;
  return status;
}

static HkStatus steps(HkStepper *stepper, HkState *state, int64_t count, const HkClock *clock,
                      HkError *error) {
  HkRemote *r = (HkRemote *)stepper;
  HK_TRY(renew(r, state, error));
  HkStatus found = return_pending(r, error);
  if (found < 0) return found;
  r->info = (HkDeviceStepsInfo){0};
  r->sim->info = (HkStepInfo){0};
  HkClock at = clock ? *clock : (HkClock){0};
  bool remembers = hk_device_remembers(&r->settings);
  if (remembers) HK_TRY(hk_state_need_history(state, error));
  while (count > 0) {
    int64_t size = count;
    if (!is_ahead(r, state, count, clock ? &at : NULL)) {
      HK_TRY(prepare(r, state, error));
      HkStatus later = return_pending(r, error); /* prepare may have fetched the state */
      if (later < 0) return later;
      if (later != HK_OK) found = later;
      size = until_upload(r, state, count);
      HK_TRY(queue(r, clock ? &at : NULL, state, size, error));
    }
    r->ahead = 0;
    r->here = false;
    r->returned = r->strayed;
    r->before = time_of(r, clock ? &at : NULL, state->time, size - 1);
    state->time = time_of(r, clock ? &at : NULL, state->time, size);
    state->steps += size;
    state->h_old = remembers ? r->sim->h : 0;
    at.first += size;
    count -= size;
  }
  return found;
}

static HkStatus settle(HkStepper *stepper, HkState *state, HkStepsInfo *info, HkError *error) {
  HkRemote *r = (HkRemote *)stepper;
  const HkDeviceStepsInfo *found = &r->info;
  hk_state_fetch(state);
  *info = (HkStepsInfo){.iterations = found->iterations,
                        .linear_iterations = found->linear_iterations,
                        .worst_iterations = found->worst_iterations,
                        .stationary = found->stationary,
                        .unconverged = found->unconverged,
                        .gradient = found->gradient,
                        .last = found->last,
                        .missed = found->missed};
  return return_pending(r, error);
}

static void synchronize(HkStepper *stepper) {
  HkRemote *r = (HkRemote *)stepper;
  if (r->state) fetch(&r->holder);
}

static HkStatus run_ahead(HkStepper *stepper, HkState *state, int64_t count, const HkClock *clock,
                          HkError *error) {
  HkRemote *r = (HkRemote *)stepper;
  if (r->state != state || !r->here || r->strayed || r->ahead > 0 || count <= 0) return HK_OK;
  if (until_upload(r, state, count) < count || releases_now(r, state)) return HK_OK;
  r->ahead = count;
  r->ahead_clock = *clock;
  r->ahead_time = state->time;
  r->ahead_h_old = state->h_old;
  return queue(r, clock, state, count, error);
}

const HkStepperType hk_stepper_remote = {
    .asynchronous = true,
    .create = create,
    .destroy = destroy,
    .bytes = bytes,
    .steps = steps,
    .synchronize = synchronize,
    .settle = settle,
    .run_ahead = run_ahead,
};

/* ---- Arrays on the device: device_array.c ---- */

HkStatus hk_remote_hold(HkRemote *r, HkState *state, HkError *error) {
  HK_TRY(renew(r, state, error));
  if (r->status < 0) return return_pending(r, error);
  return attach(r, state, error);
}

void hk_remote_changed(HkRemote *r) {
  r->here = false;
  r->state->h_old = 0;
  if (r->state->steps == 0) fetch(&r->holder); /* sets the reference speeds of the blow-up check */
}

const HkDevice *hk_remote_device(const HkRemote *r, HkDeviceSim **device_sim, int *bytes) {
  *device_sim = r->device_sim;
  *bytes = hk_device_is_double(&r->settings) ? (int)sizeof(double) : (int)sizeof(float);
  return r->device;
}
