/* Batches on a device: the side of the host.
 *
 * The device holds the states of the worlds until somebody reads one of them (HkStateHolder in
 * model/state.h), which copies all of them at once. Parameters of worlds are sent again when the
 * version of a model, the springs of a state or a step has changed.
 *
 * Steps are made in rounds of at most `rows` steps, for which the host evaluates everything that
 * depends on time; a world whose pin is released ends its round there. Rounds end before results
 * are judged, so that a blow-up stops its world within a round.
 */
#include "batch/device.h"

#include "backend/device_model.h"
#include "backend/gpu/media.h"
#include "backend/gpu/world_graph.h"
#include "backend/plugin.h"
#include "backend/remote.h"
#include "force/params.h"
#include "minimize/choose_methods.h"
#include "step/blowup.h"

#include <string.h>

/* The device's side of a world. */
typedef struct Held {
  HkStateHolder holder; /* the state points to it while the device holds it */
  HkBatchDevice *device;
  int64_t world;
  bool here; /* the arrays on the host are up to date */
  /* What the parameters on the device were made from. */
  int64_t version, edits;
  double h;
  int64_t round; /* steps of this round */
} Held;

struct HkBatchDevice {
  HkBatch *batch;
  const HkDevice *device;
  HkDeviceSettings settings;
  HkDeviceWorlds *worlds;
  HkWorldGraph *graph;
  HkDeviceWorldsModel model;
  Held *held;
  int64_t rows;    /* of tables */
  int64_t moments; /* rows of `moment`: 1 if no force of any world depends on time */
  double *moment, *middle, *end;
  int32_t *counts;
  uint8_t *pin_held;
  double *h, *origin, *total_mass, *mass, *type, *pin_x0; /* parameters of all worlds */
  HkDeviceStepsInfo *info;
  HkStatus pending; /* error of a copy, which the next steps return */
  HkError error;
};

/* ---- What worlds on a device support ---- */

HkStatus hk_batch_device_method(const HkModel *model, const HkMethod *step, HkMethod *method,
                                HkError *error) {
  HkModel plain = *model; /* without springs multigrid is not picked, which worlds do not have */
  plain.context.device = HK_CUDA;
  plain.springs.count = 0;
  HK_TRY(hk_method_copy(step ? step : &model->step, method, error));
  HkStatus status = hk_method_check(method, HK_STEP, "integrator", error);
  if (status >= 0) status = hk_choose_methods(&plain, method, error);
  if (status < 0) hk_method_clear(method);
  return status;
}

static HkStatus check_method(const HkDeviceSettings *s, HkError *error) {
  static const char *const instead = "newton with pcg and block_jacobi";
  if (s->step == HK_DEVICE_BLOCK_DESCENT || s->step == HK_DEVICE_JACOBI)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "worlds on a device do not support the minimizer '%s'; choose %s, or the device "
                   "cpu",
                   s->step == HK_DEVICE_JACOBI ? "jacobi" : "vertex_block_descent", instead);
  if (hk_device_has_multigrid(s))
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "worlds on a device do not support the preconditioner 'multigrid'; choose "
                   "block_jacobi, or the device cpu");
  return HK_OK;
}

static HkStatus check_forces(const HkModel *m, bool implicit, HkError *error) {
  const char *why = NULL;
  int fluids = 0, f = 0;
  for (; f < m->force_count && !why; f++) {
    HkDeviceForce kind = m->forces[f].type->on_device;
    bool quadratic = kind == HK_DEVICE_FORCE_DRAG &&
                     ((const HkDragParams *)m->forces[f].method.params)->quadratic > 0;
    fluids += kind == HK_DEVICE_FORCE_BUOYANCY;
    if (kind == HK_DEVICE_FORCE_NONE || kind == HK_DEVICE_FORCE_FACE_WIND ||
        kind == HK_DEVICE_FORCE_HANDLE || kind == HK_DEVICE_FORCE_POINT_LOAD)
      why = "";
    if (implicit && (quadratic || kind == HK_DEVICE_FORCE_BUOYANCY))
      why = quadratic ? " with quadratic drag in implicit steps" : " in implicit steps";
    if (fluids > HK_GPU_FLUIDS) why = " more than twice";
  }
  if (!why) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "worlds on a device do not support the force '%s'%s; choose the device cpu",
                 m->forces[f - 1].type->schema.name, why);
}

static bool same(const void *a, const void *b, int64_t count, size_t size) {
  return a == b || count == 0 || memcmp(a, b, (size_t)count * size) == 0;
}

/* Whether two models have the same springs and pins, whatever their numbers. */
static bool same_structure(const HkModel *a, const HkModel *b) {
  const HkSpringArrays *s = &a->springs, *t = &b->springs;
  return a->n == b->n && a->dimension == b->dimension && s->count == t->count &&
         a->pin_count == b->pin_count && a->motion_count == b->motion_count &&
         same(s->i, t->i, s->count, sizeof *s->i) && same(s->j, t->j, s->count, sizeof *s->j) &&
         same(a->pin_vertex, b->pin_vertex, a->pin_count, sizeof *a->pin_vertex) &&
         same(a->pin_motion, b->pin_motion, a->pin_count, sizeof *a->pin_motion);
}

static HkStatus check_structure(const HkBatch *b, HkError *error) {
  for (int64_t w = 1; w < b->count; w++)
    if (!same_structure(b->worlds[0].model, b->worlds[w].model))
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "world %lld has other springs or pins than world 0; worlds on a device share "
                     "them: choose the device cpu",
                     (long long)w);
  return HK_OK;
}

static HkStatus check_size(const HkBatchDevice *d, HkError *error) {
  int64_t most = d->device->worlds_most(&d->settings), n = d->batch->model->n;
  if (most > UINT16_MAX) most = UINT16_MAX;
  if (n <= most) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "a world of %lld vertices does not fit the shared memory of the device, which has "
                 "space for %lld; choose the device cpu, or a simulation for each world",
                 (long long)n, (long long)most);
}

/* ---- Parameters of worlds ---- */

static HkWorldSprings springs_of(const HkBatch *b, int64_t w) {
  return hk_world_springs(b->worlds[w].model, b->worlds[w].state);
}

static bool is_general(const HkBatch *b, int64_t w) {
  HkWorldSprings s = springs_of(b, w);
  int64_t count = b->worlds[w].model->springs.count;
  for (int64_t q = 0; q < count; q++)
    if ((s.damping && s.damping[q] > 0) || (s.tension && s.tension[q])) return true;
  return false;
}

static bool pins_move(const HkModel *m) {
  for (int q = 0; q < m->motion_count; q++)
    if (!m->motions[q].type->rests) return true;
  return false;
}

/* Whether a force depends on the time, of those that worlds support. */
static bool forces_vary(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->on_device == HK_DEVICE_FORCE_WIND &&
        ((const HkWindParams *)m->forces[f].method.params)->gust != 0)
      return true;
  return false;
}

static HkStatus make_graph(HkBatchDevice *d, HkError *error) {
  HkBatch *b = d->batch;
  HkWorldSprings *springs = NULL;
  HK_TRY(hk_alloc(&b->context, &springs, b->count, sizeof *springs, "worlds", error));
  for (int64_t w = 0; w < b->count; w++) springs[w] = springs_of(b, w);
  hk_world_graph_destroy(&d->graph);
  HkStatus status = hk_world_graph_create(b->worlds[0].model, springs, b->count, &d->graph, error);
  hk_free(&b->context, &springs);
  return status;
}

/* Whether the types of springs still hold in all worlds that have changed. */
static bool graph_fits(const HkBatchDevice *d) {
  const HkBatch *b = d->batch;
  if (!d->graph) return false;
  for (int64_t w = 0; w < b->count; w++) {
    HkWorldSprings springs = springs_of(b, w);
    if (!hk_world_graph_fits(d->graph, b->worlds[w].model->springs.count, &springs)) return false;
  }
  return true;
}

/* The model of the device, with the flags of all worlds together. */
static HkDeviceWorldsModel describe(const HkBatchDevice *d) {
  const HkBatch *b = d->batch;
  const HkModel *m = b->worlds[0].model;
  HkDeviceWorldsModel model = {.count = b->count,
                               .n = m->n,
                               .stride = b->stride,
                               .row_start = d->graph->row_start,
                               .word = d->graph->word,
                               .words = d->graph->words,
                               .types = d->graph->types,
                               .flat = m->dimension == 2,
                               .pin_count = m->pin_count,
                               .pin_vertex = m->pin_vertex,
                               .pin_motion = m->pin_motion,
                               .motion_count = m->motion_count};
  for (int64_t w = 0; w < b->count; w++) {
    model.general |= is_general(b, w);
    model.pins_move |= pins_move(b->worlds[w].model);
    model.medium_parts |= hk_device_medium_parts(b->worlds[w].model);
  }
  return model;
}

static void release_arrays(HkBatchDevice *d) {
  const HkContext *c = &d->batch->context;
  void *all[] = {&d->moment, &d->middle,     &d->end,  &d->counts, &d->pin_held, &d->h,
                 &d->origin, &d->total_mass, &d->mass, &d->type,   &d->pin_x0,   &d->info};
  for (size_t q = 0; q < sizeof all / sizeof all[0]; q++) hk_free(c, all[q]);
}

/* Tables of all worlds together take at most TABLE_BYTES. */
static int64_t pick_rows(const HkDeviceWorldsModel *m) {
  const double TABLE_BYTES = 64e6, MOST = 256;
  double row = (double)HK_GPU_MOMENT_REALS +
               (m->pins_move ? 2.0 * m->motion_count * HK_DEVICE_MOTION_REALS : 0);
  double rows = TABLE_BYTES / (sizeof(double) * row * (double)m->count);
  return rows < 1 ? 1 : rows < MOST ? (int64_t)rows : (int64_t)MOST;
}

static HkStatus make_arrays(HkBatchDevice *d, HkError *error) {
  const HkContext *c = &d->batch->context;
  const HkDeviceWorldsModel *m = &d->model;
  int64_t worlds = m->count;
  d->rows = pick_rows(m);
  int64_t rows = worlds * d->rows,
          motions = m->pins_move ? rows * m->motion_count * HK_DEVICE_MOTION_REALS : 0;
  HK_TRY(hk_alloc(c, &d->moment, rows * HK_GPU_MOMENT_REALS, sizeof *d->moment, "tables", error));
  HK_TRY(hk_alloc(c, &d->middle, motions, sizeof *d->middle, "tables", error));
  HK_TRY(hk_alloc(c, &d->end, motions, sizeof *d->end, "tables", error));
  HK_TRY(hk_alloc(c, &d->counts, worlds, sizeof *d->counts, "tables", error));
  HK_TRY(hk_alloc(c, &d->pin_held, worlds * m->pin_count + 1, 1, "pins", error));
  HK_TRY(hk_alloc(c, &d->h, worlds, sizeof *d->h, "worlds", error));
  HK_TRY(hk_alloc(c, &d->origin, 3 * worlds, sizeof *d->origin, "worlds", error));
  HK_TRY(hk_alloc(c, &d->total_mass, worlds, sizeof *d->total_mass, "worlds", error));
  HK_TRY(hk_alloc(c, &d->mass, worlds * m->n, sizeof *d->mass, "masses", error));
  HK_TRY(hk_alloc(c, &d->type, worlds * m->types * HK_WORLD_TYPE_REALS, sizeof *d->type, "springs",
                  error));
  HK_TRY(hk_alloc(c, &d->pin_x0, worlds * m->pin_count * 3 + 1, sizeof *d->pin_x0, "pins", error));
  return hk_alloc(c, &d->info, worlds, sizeof *d->info, "worlds", error);
}

/* Writes the parameters of a world. */
static void fill_world(HkBatchDevice *d, int64_t w) {
  const HkDeviceWorldsModel *m = &d->model;
  const HkModel *model = d->batch->worlds[w].model;
  HkWorldSprings springs = springs_of(d->batch, w);
  d->h[w] = d->batch->worlds[w].sim->h;
  memset(d->origin + 3 * w, 0, 3 * sizeof *d->origin);
  if (!d->settings.checked && d->settings.step != HK_DEVICE_NEWTON)
    hk_model_origin(model, d->origin + 3 * w);
  d->total_mass[w] = model->total_mass;
  memcpy(d->mass + w * m->n, model->mass, (size_t)m->n * sizeof *d->mass);
  hk_world_graph_table(d->graph, &springs, d->type + w * m->types * HK_WORLD_TYPE_REALS);
  for (int64_t p = 0; p < m->pin_count; p++)
    memcpy(d->pin_x0 + 3 * (w * m->pin_count + p), model->x0 + 3 * (int64_t)m->pin_vertex[p],
           3 * sizeof *d->pin_x0);
}

static HkStatus check_memory(const HkBatchDevice *d, HkError *error) {
  HkDeviceInfo info;
  HK_TRY(d->device->info(&info, error));
  double need = d->device->worlds_need(&d->model, &d->settings);
  if (need <= info.bytes_free) return HK_OK;
  return hk_fail(
      error, HK_ERROR_MEMORY,
      "%lld worlds need %.3g GB of device memory; %s has %.3g GB free: make fewer worlds",
      (long long)d->model.count, need / 1e9, info.name, info.bytes_free / 1e9);
}

static void own_all(HkBatchDevice *d) {
  for (int64_t w = 0; w < d->batch->count; w++) hk_state_own(d->batch->worlds[w].state);
}

/* Makes the worlds of the device anew; states come back to the host. */
static HkStatus make_worlds(HkBatchDevice *d, HkError *error) {
  own_all(d);
  if (d->worlds) d->device->worlds_destroy(&d->worlds);
  release_arrays(d);
  d->model = describe(d);
  HK_TRY(make_arrays(d, error));
  HK_TRY(check_memory(d, error));
  d->settings.uses_velocity = d->model.general || d->model.medium_parts != 0;
  return d->device->worlds_create(&d->model, &d->settings, &d->worlds, error);
}

static bool is_changed(const HkBatchDevice *d, int64_t w) {
  const HkWorld *world = &d->batch->worlds[w];
  const Held *held = &d->held[w];
  return held->version != hk_model_version(world->model) || held->edits != world->state->edits ||
         held->h != world->sim->h;
}

/* Notices the changes of a world since the last call. */
static HkStatus notice(HkBatchDevice *d, int64_t w, bool first, HkError *error) {
  HkWorld *world = &d->batch->worlds[w];
  Held *held = &d->held[w];
  bool other_model = held->version != hk_model_version(world->model);
  HK_TRY(check_forces(world->model, d->settings.step == HK_DEVICE_NEWTON, error));
  if (other_model && !first) {
    hk_state_own(world->state);
    HK_TRY(hk_force_work_fit(world->model, &world->sim->work, error));
    hk_blowup_renew(world->sim, world->state);
  }
  held->version = hk_model_version(world->model);
  held->edits = world->state->edits;
  held->h = world->sim->h;
  return HK_OK;
}

static HkStatus renew(HkBatchDevice *d, HkError *error) {
  bool any = d->worlds == NULL, first = any;
  for (int64_t w = 0; w < d->batch->count && !any; w++) any = is_changed(d, w);
  if (!any) return HK_OK;
  for (int64_t w = 0; w < d->batch->count; w++)
    if (first || is_changed(d, w)) HK_TRY(notice(d, w, first, error));
  bool fits = graph_fits(d);
  if (!fits) HK_TRY(make_graph(d, error));
  HkDeviceWorldsModel now = describe(d);
  bool same_model = fits && d->worlds && now.general == d->model.general &&
                    now.pins_move == d->model.pins_move &&
                    now.medium_parts == d->model.medium_parts;
  if (!same_model) HK_TRY(make_worlds(d, error));
  bool varies = false;
  for (int64_t w = 0; w < d->batch->count; w++) {
    fill_world(d, w);
    varies |= forces_vary(d->batch->worlds[w].model);
  }
  d->moments = varies ? d->rows : 1;
  HkDeviceWorldsParameters p = {d->h, d->origin, d->total_mass, d->mass, d->type, d->pin_x0};
  return d->device->worlds_set(d->worlds, &p, error);
}

/* ---- States ---- */

static void keep_pending(HkBatchDevice *d, HkStatus status, const HkError *error) {
  if (status >= 0 || d->pending < 0) return;
  d->pending = status;
  d->error = *error;
}

/* Copies all states that the device has moved to the host, runs of worlds at a time. */
static void fetch(HkStateHolder *holder) {
  Held *one = (Held *)holder;
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
_Static_assert(offsetof(Held, holder) == 0, "a world begins with its holder");

static void leave(HkStateHolder *holder) {
  Held *held = (Held *)holder;
  held->device->batch->worlds[held->world].state->holder = NULL;
}

/* Copies the states of worlds that the device does not hold to it. */
static HkStatus attach(HkBatchDevice *d, HkError *error) {
  HkBatch *b = d->batch;
  for (int64_t w = 0; w < b->count;) {
    int64_t first = w;
    for (; w < b->count && !b->worlds[w].state->holder; w++) {
      HkState *state = b->worlds[w].state;
      if (state->steps == 0) hk_blowup_begin(b->worlds[w].sim, state);
      d->held[w].here = true;
      state->holder = &d->held[w].holder;
    }
    if (w > first)
      HK_TRY(d->device->worlds_upload(d->worlds, first, w - first, b->x, b->v, error));
    else
      w++;
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
                       d->moment + (w * d->moments + q) * HK_GPU_MOMENT_REALS, NULL);
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
                               d->moment, d->middle,  d->end};
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
  HK_TRY(renew(d, error));
  while (!stops(d->batch) && plan(d) > 0) HK_TRY(make_round(d, error));
  return return_pending(d, error);
}

/* ---- Arrays of others ---- */

HkStatus hk_batch_device_hold(HkBatchDevice *d, const HkDevice **plugin, HkDeviceWorlds **worlds,
                              HkError *error) {
  HK_TRY(renew(d, error));
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
  for (int64_t w = 0; w < d->batch->count; w++) {
    HkState *state = d->batch->worlds[w].state;
    d->held[w].here = false;
    state->h_old = 0;
    if (state->steps > 0) continue;
    hk_state_fetch(state); /* sets the reference speed of the blow-up check */
    hk_blowup_begin(d->batch->worlds[w].sim, state);
  }
  return HK_OK;
}

/* ---- Creating ---- */

static HkStatus prepare(HkBatchDevice *d, HkDeviceKind kind, HkError *error) {
  HkBatch *b = d->batch;
  HK_TRY(hk_device_settings(b->worlds[0].sim, &d->settings, error));
  d->settings.checked |= kind == HK_CUDA_DOUBLE;
  HK_TRY(check_method(&d->settings, error));
  HK_TRY(hk_plugin_find(kind, &d->device, error));
  if (!d->device->worlds_create)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the plug-in of the device has no batches; choose the device cpu");
  HK_TRY(check_structure(b, error));
  HK_TRY(hk_alloc(&b->context, &d->held, b->count, sizeof *d->held, "worlds", error));
  for (int64_t w = 0; w < b->count; w++)
    d->held[w] = (Held){.holder = {fetch, leave}, .device = d, .world = w, .version = -1};
  HkDeviceInfo info;
  HK_TRY(d->device->info(&info, error)); /* whether there is a device */
  HK_TRY(check_size(d, error));
  return renew(d, error);
}

HkStatus hk_batch_device_create(HkBatch *b, HkDeviceKind kind, HkBatchDevice **device,
                                HkError *error) {
  *device = NULL;
  HK_TRY(hk_alloc(&b->context, device, 1, sizeof **device, "a device", error));
  (*device)->batch = b;
  HkStatus status = prepare(*device, kind, error);
  if (status < 0) hk_batch_device_destroy(device);
  return status;
}

void hk_batch_device_destroy(HkBatchDevice **device) {
  HkBatchDevice *d = *device;
  if (!d) return;
  HkContext c = d->batch->context;
  if (d->worlds) d->device->worlds_destroy(&d->worlds);
  hk_world_graph_destroy(&d->graph);
  release_arrays(d);
  hk_free(&c, &d->held);
  hk_free(&c, device);
}

size_t hk_batch_device_bytes(const HkBatchDevice *d) {
  const HkDeviceWorldsModel *m = &d->model;
  size_t worlds = (size_t)m->count, rows = worlds * (size_t)d->rows, pins = (size_t)m->pin_count;
  size_t motions = m->pins_move ? rows * (size_t)(2 * m->motion_count * HK_DEVICE_MOTION_REALS) : 0;
  size_t reals = rows * HK_GPU_MOMENT_REALS + motions + worlds * (5 + (size_t)m->n) +
                 worlds * (size_t)(m->types * HK_WORLD_TYPE_REALS) + worlds * pins * 3 + 1;
  return sizeof *d + worlds * (sizeof *d->held + sizeof *d->info + sizeof *d->counts) +
         worlds * pins + 1 + reals * sizeof(double) + hk_world_graph_bytes(d->graph);
}
