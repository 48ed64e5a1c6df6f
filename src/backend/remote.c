/* Simulations whose steps a device makes; see remote.h. */
#include "backend/remote.h"

#include "backend/device_model.h"
#include "backend/gpu/media.h"
#include "backend/plugin.h"
#include "step/blowup.h"

#include <string.h>

enum { BATCH = 256 }; /* steps for which tables are made at once */

struct HkRemote {
  HkStateHolder holder; /* first: states point to it */
  HkSim *sim;
  const HkDevice *device;
  HkDeviceSim *card;
  HkDeviceSettings settings;
  double origin[3];
  int motion_count, grip_count;
  bool pins_move;
  int64_t version; /* of the model */
  HkState *state;  /* that it holds; NULL: none */
  bool here;       /* the state's arrays are those of its last steps */
  int64_t ahead;   /* steps that were queued beyond it */
  HkClock ahead_clock;
  double ahead_time;
  double *moment, *grips, *middle, *end; /* tables of a batch */
  HkDeviceReport report;                 /* of the steps of the last call, as far as known */
  HkStatus status;                       /* of what was found when no one could be told */
  HkError error;
};

/* ---- Creating ---- */

static HkStatus check_room(const HkRemote *r, const HkDeviceModel *model, HkError *error) {
  HkDeviceCard card;
  HK_TRY(r->device->card(&card, error));
  double need = r->device->need(model, &r->settings);
  if (need > card.bytes_free)
    return hk_fail(error, HK_ERROR_MEMORY,
                   "%lld vertices need %.0f bytes of the card %s, of which %.0f are free",
                   (long long)model->layout->n, need, card.name, card.bytes_free);
  hk_log(&r->sim->model->context, HK_LOG_INFO, "steps are made by %s (%s, %s), %.3g GB of it",
         card.name, r->settings.checked ? "double precision" : "single precision",
         model->layout->near              ? "two steps at once"
         : model->layout->brick_count > 0 ? "bricks"
                                          : "rows",
         need / 1e9);
  return HK_OK;
}

static HkStatus make_card(HkRemote *r, HkError *error) {
  const HkModel *m = r->sim->model;
  HkDeviceModel model;
  HkDeviceArrays arrays;
  HkDeviceStep step = r->settings.step;
  bool predicts = step == HK_DEVICE_VERLET && m->velocity_dependent;
  HkGpuWishes wishes = {.colors = step == HK_DEVICE_BLOCK_DESCENT,
                        .rows = step == HK_DEVICE_JACOBI,
                        .twice = step <= HK_DEVICE_VERLET && !predicts && hk_device_is_plain(m)};
  HK_TRY(hk_device_model_create(m, &wishes, &model, &arrays, error));
  memcpy(r->origin, model.origin, sizeof r->origin);
  r->motion_count = model.motion_count;
  r->grip_count = model.grip_count;
  r->pins_move = model.pins_move;
  r->settings.h = r->sim->h;
  r->settings.uses_velocity = m->velocity_dependent;
  HkStatus status = check_room(r, &model, error);
  if (status >= 0) status = r->device->create(&model, &r->settings, &r->card, error);
  hk_device_model_destroy(m, &arrays);
  if (status >= 0) r->version = hk_model_version(m);
  return status;
}

static HkStatus make_tables(HkRemote *r, HkError *error) {
  const HkContext *c = &r->sim->model->context;
  /* There is one number at least, so that each table is somewhere. */
  int64_t motions = (int64_t)BATCH * r->motion_count * HK_DEVICE_MOTION_REALS + 1;
  int64_t grips = (int64_t)BATCH * r->grip_count * HK_DEVICE_GRIP_REALS + 1;
  HK_TRY(hk_alloc(c, &r->moment, BATCH * HK_GPU_MOMENT_REALS, sizeof *r->moment, "tables", error));
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

/* ---- The state that it holds ---- */

typedef struct Copy {
  const HkRemote *remote;
  const void *x, *v;
  HkState *state;
} Copy;

static double number_at(const HkRemote *r, const void *a, int64_t q) {
  return r->settings.checked ? ((const double *)a)[q] : (double)((const float *)a)[q];
}

static void copy_range(void *user, int64_t begin, int64_t end) {
  const Copy *p = user;
  for (int64_t q = begin; q < end; q++)
    for (int c = 0; c < 3; c++) {
      p->state->x[3 * q + c] = number_at(p->remote, p->x, 3 * q + c) + p->remote->origin[c];
      p->state->v[3 * q + c] = number_at(p->remote, p->v, 3 * q + c);
    }
}

/* A state may be fetched several times within one call, when pins are let go. */
static void add_report(HkDeviceReport *sum, const HkDeviceReport *more) {
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

static HkStatus bring(HkRemote *r, HkError *error) {
  const HkModel *m = r->sim->model;
  HkState *state = r->state;
  HkDeviceReport report = {0};
  Copy p = {.remote = r, .state = state};
  HK_TRY(r->device->fetch(r->card, &p.x, &p.v, &report, error));
  hk_parallel_for(m->threads, m->n, copy_range, &p);
  hk_pins_place(m, state, state->time, state->x, state->v); /* exactly, not as rounded there */
  add_report(&r->report, &report);
  if (state->steps == 0) hk_blowup_begin(r->sim, state);
  r->sim->kinetic = report.kinetic;
  r->sim->report = report.last;
  HK_TRY(hk_blowup_check(r->sim, state, error));
  HK_TRY(hk_blowup_check_gradient(r->sim, state, report.last.gradient, error));
  return report.unconverged > 0 ? HK_NOT_CONVERGED : HK_OK;
}

/* Brings the state here; what is wrong is told by the next step. An error hides steps that did not
 * converge, and nothing hides an error. */
static void fetch(HkStateHolder *holder) {
  HkRemote *r = (HkRemote *)holder;
  if (r->here) return;
  r->here = true;
  HkStatus status = bring(r, &r->error);
  if (status < 0 || r->status == HK_OK) r->status = status;
}

static void leave(HkStateHolder *holder) {
  HkRemote *r = (HkRemote *)holder;
  if (r->state) r->state->holder = NULL;
  r->state = NULL;
  r->ahead = 0;
}

static HkStatus attach(HkRemote *r, HkState *state, HkError *error) {
  if (r->ahead > 0 && r->state) leave(&r->holder); /* the state here is the one that counts */
  if (r->state && r->state == state) return HK_OK;
  if (r->state) hk_state_own(r->state);
  hk_state_own(state);
  if (state->steps == 0) hk_blowup_begin(r->sim, state);
  HK_TRY(r->device->upload(r->card, state->x, state->v, state->pin_held, error));
  r->state = state;
  r->here = true;
  state->holder = &r->holder;
  return HK_OK;
}

HkStatus hk_remote_create(HkSim *sim, HkRemote **remote, HkError *error) {
  const HkContext *c = &sim->model->context;
  HK_TRY(hk_alloc(c, remote, 1, sizeof **remote, "a device", error));
  HkRemote *r = *remote;
  r->sim = sim;
  r->holder = (HkStateHolder){fetch, leave};
  HkStatus status = hk_device_settings(sim, &r->settings, error);
  if (status >= 0) status = hk_plugin_find(c->device, &r->device, error);
  if (status >= 0) status = make_card(r, error);
  if (status >= 0) status = make_tables(r, error);
  if (status < 0) hk_remote_destroy(remote);
  return status;
}

void hk_remote_destroy(HkRemote **remote) {
  HkRemote *r = *remote;
  if (!r) return;
  if (r->state) hk_state_own(r->state);
  if (r->card) r->device->destroy(&r->card);
  drop_tables(r);
  hk_free(&r->sim->model->context, remote);
}

size_t hk_remote_bytes(const HkRemote *r) {
  int64_t motions = (int64_t)2 * BATCH * r->motion_count * HK_DEVICE_MOTION_REALS;
  int64_t grips = (int64_t)BATCH * r->grip_count * HK_DEVICE_GRIP_REALS;
  return sizeof *r + (size_t)(BATCH * HK_GPU_MOMENT_REALS + motions + grips + 3) * sizeof(double);
}

/* A model that was changed is laid out anew, and so it is after that has failed; another step is
 * told. */
static HkStatus renew(HkRemote *r, HkState *state, HkError *error) {
  bool same = r->card && r->version == hk_model_version(r->sim->model);
  if (same && r->settings.h == r->sim->h) return HK_OK;
  if (r->state) hk_state_own(r->state);
  if (same) {
    r->settings.h = r->sim->h;
    return r->device->set_h(r->card, r->sim->h, error);
  }
  if (r->card) r->device->destroy(&r->card);
  drop_tables(r);
  HK_TRY(hk_device_settings(r->sim, &r->settings, error));
  HK_TRY(make_card(r, error));
  HK_TRY(make_tables(r, error));
  hk_blowup_renew(r->sim, state);
  return HK_OK;
}

/* ---- Steps ---- */

/* The time at which the q-th step from t begins. */
static double time_of(const HkRemote *r, const HkClock *clock, double t, int64_t q) {
  if (q == 0) return t;
  return clock ? clock->begin + (double)(clock->first + q) * r->sim->h : t + (double)q * r->sim->h;
}

/* Steps from time t on, of which the first is the q-th by the clock. */
static HkStatus queue(HkRemote *r, const HkClock *clock, double t, int64_t count, HkError *error) {
  const HkModel *m = r->sim->model;
  double h = r->sim->h, later = 0; /* when forces are computed */
  if (r->settings.step == HK_DEVICE_VERLET) later = h / 2;
  if (r->settings.step >= HK_DEVICE_BLOCK_DESCENT) later = h;
  int64_t motions = (int64_t)r->motion_count * HK_DEVICE_MOTION_REALS;
  int64_t grips = (int64_t)r->grip_count * HK_DEVICE_GRIP_REALS;
  for (int64_t first = 0; first < count; first += BATCH) {
    int64_t size = count - first < BATCH ? count - first : BATCH;
    for (int64_t q = 0; q < size; q++) {
      double begin = time_of(r, clock, t, first + q);
      hk_device_moment(m, r->origin, begin + later, r->moment + q * HK_GPU_MOMENT_REALS,
                       r->grips + q * grips);
      if (!r->pins_move) continue;
      hk_device_motions(m, begin + h / 2, r->middle + q * motions);
      hk_device_motions(m, time_of(r, clock, t, first + q + 1), r->end + q * motions);
    }
    HkDeviceTimes times = {size, r->moment, r->grips, r->middle, r->end};
    HK_TRY(r->device->steps(r->card, &times, error));
  }
  return HK_OK;
}

/* Steps that can be made before the next pin is let go, at most so many. */
static int64_t until_release(const HkRemote *r, const HkState *state, int64_t count) {
  const HkModel *m = r->sim->model;
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

/* What was queued before is what is asked for now. */
static bool is_ahead(const HkRemote *r, const HkState *state, int64_t count, const HkClock *clock) {
  return r->state && r->state == state && r->ahead == count && clock &&
         clock->begin == r->ahead_clock.begin && clock->first == r->ahead_clock.first &&
         state->time == r->ahead_time;
}

static HkStatus take_up(HkRemote *r, HkState *state, HkError *error) {
  if (releases_now(r, state)) {
    hk_state_own(state);
    hk_pins_release(r->sim->model, state, state->time + 1e-6 * r->sim->h);
  }
  return attach(r, state, error);
}

/* What was found and told to no one yet. */
static HkStatus tell(HkRemote *r, HkError *error) {
  HkStatus status = r->status;
  if (status < 0 && error) *error = r->error;
  r->status = HK_OK;
  return status;
}

HkStatus hk_remote_steps(HkRemote *r, HkState *state, int64_t count, const HkClock *clock,
                         HkError *error) {
  HK_TRY(renew(r, state, error));
  HkStatus found = tell(r, error);
  if (found < 0) return found;
  r->report = (HkDeviceReport){0};
  r->sim->report = (HkStepReport){0};
  HkClock at = clock ? *clock : (HkClock){0};
  while (count > 0) {
    int64_t size = count;
    if (!is_ahead(r, state, count, clock ? &at : NULL)) {
      HK_TRY(take_up(r, state, error));
      HkStatus later = tell(r, error); /* it may have looked at the state */
      if (later < 0) return later;
      if (later != HK_OK) found = later;
      size = until_release(r, state, count);
      HK_TRY(queue(r, clock ? &at : NULL, state->time, size, error));
    }
    r->ahead = 0;
    r->here = false;
    state->time = time_of(r, clock ? &at : NULL, state->time, size);
    state->steps += size;
    state->h_old = 0;
    at.first += size;
    count -= size;
  }
  return found;
}

HkStatus hk_remote_settle(HkRemote *r, HkState *state, HkDeviceReport *report, HkError *error) {
  hk_state_fetch(state);
  *report = r->report;
  return tell(r, error);
}

void hk_remote_look(HkRemote *r) {
  if (r->state) fetch(&r->holder);
}

HkStatus hk_remote_run_ahead(HkRemote *r, HkState *state, int64_t count, const HkClock *clock,
                             HkError *error) {
  if (r->state != state || !r->here || r->ahead > 0 || count <= 0) return HK_OK;
  if (until_release(r, state, count) < count || releases_now(r, state)) return HK_OK;
  r->ahead = count;
  r->ahead_clock = *clock;
  r->ahead_time = state->time;
  return queue(r, clock, state->time, count, error);
}

/* ---- Arrays there: device_array.c ---- */

HkStatus hk_remote_hold(HkRemote *r, HkState *state, HkError *error) {
  HK_TRY(renew(r, state, error));
  if (r->status < 0) return tell(r, error);
  return attach(r, state, error);
}

void hk_remote_changed(HkRemote *r) {
  r->here = false;
  r->state->h_old = 0;
  if (r->state->steps == 0)
    fetch(&r->holder); /* which notes the speeds that a motion starts with */
}

const HkDevice *hk_remote_device(const HkRemote *r, HkDeviceSim **card, int *bytes) {
  *card = r->card;
  *bytes = r->settings.checked ? (int)sizeof(double) : (int)sizeof(float);
  return r->device;
}
