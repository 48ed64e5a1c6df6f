/* Batches on a device: the side of the host.
 *
 * The device holds the states of the worlds until somebody reads one of them (HkStateHolder in
 * model/state.h), which copies all of them at once. device_worlds.c sends what worlds have of their
 * own.
 *
 * Steps are made in rounds of at most `rows` steps, for which the host evaluates everything that
 * depends on time; a world whose pin is released ends its round there. Rounds end before results
 * are judged, so that a blow-up stops its world within a round.
 */
#include "batch/device_inner.h"

#include "backend/device_model.h"
#include "backend/gpu/media.h"
#include "backend/plugin.h"
#include "backend/remote.h"
#include "step/blowup.h"

#include <string.h>

/* ---- States ---- */

static void keep_pending(HkBatchDevice *d, HkStatus status, const HkError *error) {
  if (status >= 0 || d->pending < 0) return;
  d->pending = status;
  d->error = *error;
}

/* Copies all states that the device has moved to the host, runs of worlds at a time. */
static void fetch(HkStateHolder *holder) {
  HkHeldWorld *one = (HkHeldWorld *)holder;
  HkBatchDevice *d = one->device;
  HkBatch *b = d->batch;
  HkError error = {0};
  if (one->here) return;
  for (int64_t w = 0; w < b->count;) {
    int64_t first = w;
    while (w < b->count && b->worlds[w].state->holder && !d->held[w].here) w++;
    if (w > first)
      keep_pending(d, d->device->worlds_fetch(d->worlds, first, w - first, b->x, b->v, &error),
                   &error);
    for (int64_t q = first; q < w; q++) {
      HkState *state = b->worlds[q].state;
      d->held[q].here = true;
      hk_pins_place(b->worlds[q].model, state, state->time, state->x, state->v);
    }
    if (w == first) w++;
  }
}
_Static_assert(offsetof(HkHeldWorld, holder) == 0, "a world begins with its holder");

static void leave(HkStateHolder *holder) {
  HkHeldWorld *held = (HkHeldWorld *)holder;
  held->device->batch->worlds[held->world].state->holder = NULL;
}

/* Copies the states of worlds that the device does not hold to it, and those whose pins have
 * returned. */
static HkStatus attach(HkBatchDevice *d, HkError *error) {
  HkBatch *b = d->batch;
  for (int64_t w = 0; w < b->count; w++)
    if (b->worlds[w].state->holder && d->held[w].returned) hk_state_own(b->worlds[w].state);
  for (int64_t w = 0; w < b->count;) {
    int64_t first = w;
    for (; w < b->count && !b->worlds[w].state->holder; w++) {
      HkState *state = b->worlds[w].state;
      if (state->steps == 0) hk_blowup_begin(b->worlds[w].sim, state);
      d->held[w].here = true;
      d->held[w].strayed = !d->model.pins_move && !hk_pins_are_placed(b->worlds[w].model, state);
      d->held[w].returned = false;
      state->holder = &d->held[w].holder;
    }
    if (w == first) {
      w++;
      continue;
    }
    HkStatus status = d->device->worlds_upload(d->worlds, first, w - first, b->x, b->v, error);
    for (int64_t q = first; q < w && status < 0; q++) b->worlds[q].state->holder = NULL;
    HK_TRY(status);
  }
  return HK_OK;
}

/* ---- Rounds ---- */

/* The time at which the next pin of a world is released. */
static double next_release(const HkWorld *world) {
  const HkModel *m = world->model;
  double next = INFINITY;
  for (int64_t p = 0; p < m->pin_count; p++)
    if (world->state->pin_held[p] == HK_PIN_HELD)
      next = fmin(next, m->motions[m->pin_motion[p]].release);
  return next;
}

/* Returns whether a step of a world begins with fixed pins where the caller has moved them. Only
 * symplectic_euler evaluates forces there; for other steps they return before. */
static bool begins_strayed(HkBatchDevice *d, int64_t w) {
  HkWorld *world = &d->batch->worlds[w];
  HkState *state = world->state;
  if (d->model.pins_move || (state->holder && d->held[w].returned)) return false;
  if (state->holder ? !d->held[w].strayed : hk_pins_are_placed(world->model, state)) return false;
  if (d->settings.step == HK_DEVICE_SYMPLECTIC) return true;
  hk_state_own(state);
  hk_pins_place(world->model, state, state->time, state->x, state->v);
  return false;
}

static int64_t left_of(const HkWorld *world) {
  return world->status < 0 ? 0 : world->goal - world->steps;
}

/* Releases the pins that are due and plans the steps of the round; returns the largest number. */
static int64_t plan(HkBatchDevice *d) {
  int64_t most = 0, pins = d->model.pin_count;
  for (int64_t w = 0; w < d->batch->count; w++) {
    HkWorld *world = &d->batch->worlds[w];
    HkState *state = world->state;
    double h = world->sim->h;
    int64_t count = left_of(world) < d->rows ? left_of(world) : d->rows;
    if (count > 0 && next_release(world) <= state->time + 1e-6 * h) {
      hk_state_own(state);
      hk_pins_release(world->model, state, state->time + 1e-6 * h);
    }
    if (count > 0 && begins_strayed(d, w)) count = 1;
    double until = ceil((next_release(world) - state->time) / h - 1e-6);
    if (count > 1 && until < (double)count) count = until < 1 ? 1 : (int64_t)until;
    d->held[w].round = count;
    d->counts[w] = (int32_t)count;
    if (pins > 0) memcpy(d->pin_held + w * pins, state->pin_held, (size_t)pins);
    if (count > most) most = count;
  }
  return most;
}

/* Tables of one world. */
static void fill_tables(void *user, int w) {
  HkBatchDevice *d = user;
  const HkWorld *world = &d->batch->worlds[w];
  const HkModel *m = world->model;
  double h = world->sim->h, later = 0; /* s after the step's begin, when forces are evaluated */
  if (d->settings.step == HK_DEVICE_VERLET) later = h / 2;
  if (d->settings.step == HK_DEVICE_NEWTON) later = h;
  int64_t motions = (int64_t)m->motion_count * HK_DEVICE_MOTION_REALS;
  for (int64_t q = 0; q < d->held[w].round; q++) {
    double begin = world->state->time + (double)q * h;
    int64_t at = w * d->rows + q;
    if (q < d->moments)
      hk_device_moment(m, d->origin + 3 * (int64_t)w, begin + later,
                       d->moment + (w * d->moments + q) * HK_GPU_MOMENT_REALS,
                       d->grips + at * d->model.grips * HK_DEVICE_GRIP_REALS);
    if (!d->model.pins_move) continue;
    hk_device_motions(m, begin + h / 2, d->middle + at * motions);
    hk_device_motions(m, world->state->time + (double)(q + 1) * h, d->end + at * motions);
  }
}

/* Checks for a blow-up with the kinetic energy of the device; the state comes to the host only for
 * the text of an error. */
static HkStatus check_world(HkWorld *world, const HkDeviceStepsInfo *info, HkError *error) {
  HkState *state = world->state;
  HkSim *sim = world->sim;
  hk_pins_place(world->model, state, state->time, state->x, state->v); /* for their speeds */
  sim->kinetic = info->kinetic;
  if (hk_blowup_check(sim, state, NULL) >= 0 && !isnan(info->last.gradient)) return HK_OK;
  hk_state_fetch(state);
  HK_TRY(hk_blowup_check(sim, state, error));
  return hk_blowup_check_gradient(sim, state, info->last.gradient, error);
}

static void judge(HkBatchDevice *d, int64_t w) {
  HkWorld *world = &d->batch->worlds[w];
  HkState *state = world->state;
  const HkDeviceStepsInfo *info = &d->info[w];
  int64_t count = d->held[w].round;
  HkError error = {0};
  if (count == 0) return;
  state->time += (double)count * world->sim->h;
  state->steps += count;
  state->h_old = 0;
  d->held[w].here = false;
  d->held[w].returned = d->held[w].strayed;
  world->steps += count;
  world->sim->info = info->last;
  HkStatus status = check_world(world, info, &error);
  if (status >= 0 && info->unconverged > 0) status = HK_NOT_CONVERGED;
  if (status != HK_OK) world->status = status;
  if (status < 0) hk_world_keep_error(d->batch, world, &error);
}

static HkStatus make_round(HkBatchDevice *d, HkError *error) {
  HkBatch *b = d->batch;
  HK_TRY(attach(d, error));
  memset(d->info, 0, (size_t)b->count * sizeof *d->info);
  hk_parallel_tasks(b->threads, (int)b->count, fill_tables, d);
  HkDeviceWorldsTimes times = {d->rows,   d->moments, d->counts, d->pin_held,
                               d->moment, d->grips,   d->middle, d->end};
  HK_TRY(d->device->worlds_steps(d->worlds, &times, d->info, error));
  for (int64_t w = 0; w < b->count; w++) judge(d, w);
  return HK_OK;
}

static HkStatus return_pending(HkBatchDevice *d, HkError *error) {
  HkStatus status = d->pending;
  if (status < 0 && error) *error = d->error;
  d->pending = HK_OK;
  return status;
}

HkStatus hk_batch_device_steps(HkBatchDevice *d, bool (*stops)(void *), HkError *error) {
  HK_TRY(hk_batch_device_renew(d, error));
  while (!stops(d->batch) && plan(d) > 0) HK_TRY(make_round(d, error));
  return return_pending(d, error);
}

/* ---- Arrays of others ---- */

HkStatus hk_batch_device_hold(HkBatchDevice *d, const HkDevice **plugin, HkDeviceWorlds **worlds,
                              HkError *error) {
  HK_TRY(hk_batch_device_renew(d, error));
  HK_TRY(return_pending(d, error));
  HK_TRY(attach(d, error));
  *plugin = d->device;
  *worlds = d->worlds;
  return HK_OK;
}

HkStatus hk_batch_device_take(HkBatchDevice *d, const void *x, const void *v, HkError *error) {
  int64_t pins = d->model.pin_count;
  for (int64_t w = 0; w < d->batch->count && pins > 0; w++)
    memcpy(d->pin_held + w * pins, d->batch->worlds[w].state->pin_held, (size_t)pins);
  HK_TRY(d->device->worlds_copy_from_arrays(d->worlds, x, v, d->pin_held, error));
  for (int64_t w = 0; w < d->batch->count; w++) d->held[w].here = false;
  for (int64_t w = 0; w < d->batch->count; w++) {
    HkState *state = d->batch->worlds[w].state;
    state->h_old = 0;
    if (state->steps > 0) continue;
    hk_state_fetch(state); /* the first call fetches all worlds that are not here */
    hk_blowup_begin(d->batch->worlds[w].sim, state);
  }
  return HK_OK;
}

/* ---- Creating ---- */

static HkStatus prepare(HkBatchDevice *d, HkDeviceKind kind, HkError *error) {
  HkBatch *b = d->batch;
  HK_TRY(hk_device_settings(b->worlds[0].sim, &d->settings, error));
  d->settings.checked |= kind == HK_CUDA_DOUBLE;
  HK_TRY(hk_plugin_find(kind, &d->device, error));
  if (!d->device->worlds_create)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the plug-in of the device has no batches; choose the device cpu");
  HK_TRY(hk_batch_device_check(d, error));
  HK_TRY(hk_alloc(&b->context, &d->held, b->count, sizeof *d->held, "worlds", error));
  for (int64_t w = 0; w < b->count; w++)
    d->held[w] = (HkHeldWorld){.holder = {fetch, leave}, .device = d, .world = w, .version = -1};
  return hk_batch_device_renew(d, error);
}

HkStatus hk_batch_device_create(HkBatch *b, HkDeviceKind kind, HkBatchDevice **device,
                                HkError *error) {
  *device = NULL;
  HK_TRY(hk_alloc(&b->context, device, 1, sizeof **device, "a device", error));
  (*device)->batch = b;
  HkDeviceInfo info;
  HkStatus status = prepare(*device, kind, error);
  if (status >= 0) status = (*device)->device->info(&info, error);
  if (status >= 0)
    hk_log(&b->context, HK_LOG_INFO, "%lld worlds move on %s", (long long)b->count, info.name);
  else
    hk_batch_device_destroy(device);
  return status;
}

void hk_batch_device_destroy(HkBatchDevice **device) {
  HkBatchDevice *d = *device;
  if (!d) return;
  HkContext c = d->batch->context;
  hk_batch_device_release(d);
  hk_world_graph_destroy(&d->graph);
  hk_free(&c, &d->held);
  hk_free(&c, device);
}
