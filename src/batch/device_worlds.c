/* The worlds of a batch on a device: what they support, what they have in common, and what each has
 * of its own. A world that changes is noticed by the version of its model, the edits of its state,
 * which may have springs of its own, and its step.
 */
#include "batch/device_inner.h"

#include "backend/device_model.h"
#include "backend/gpu/media.h"
#include "backend/plugin.h"
#include "backend/remote.h"
#include "force/chosen.h"
#include "force/params.h"
#include "minimize/choose_methods.h"
#include "step/blowup.h"

#include <string.h>

/* ---- What worlds on a device support ---- */

HkStatus hk_batch_device_method(const HkModel *model, const HkMethod *step, HkMethod *method,
                                HkError *error) {
  HkModel plain = *model; /* without springs multigrid is not picked, which worlds do not have */
  plain.springs.count = 0;
  HK_TRY(hk_method_copy(step ? step : &model->step, method, error));
  HkStatus status = hk_method_check(method, HK_STEP, "integrator", error);
  const HkStepType *type = hk_step_type(method->schema);
  if (status >= 0 && type->device_multigrid)
    status = hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "worlds on a device do not support the integrator '%s'; choose "
                     "symplectic_euler, verlet or backward_euler, or the device cpu",
                     method->schema->name);
  if (status >= 0) status = hk_choose_methods(&plain, (HkChoice){.device = HK_CUDA}, method, error);
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
    if (kind == HK_DEVICE_FORCE_NONE || kind == HK_DEVICE_FORCE_FACE_WIND) why = "";
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

HkStatus hk_batch_device_check(const HkBatchDevice *d, HkError *error) {
  HkDeviceInfo info;
  HK_TRY(check_method(&d->settings, error));
  for (int64_t w = 0; w < d->batch->count; w++)
    if (d->batch->worlds[w].model->time.tolerance > 0)
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "world %lld has a time.tolerance, which devices do not support; leave it out "
                     "and set time.step",
                     (long long)w);
  HK_TRY(check_structure(d->batch, error));
  HK_TRY(d->device->info(&info, error)); /* whether there is a device */
  return check_size(d, error);
}

/* ---- What is known of a world ---- */

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

/* Whether a medium depends on the time, of those that worlds support. */
static bool medium_varies(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->on_device == HK_DEVICE_FORCE_WIND &&
        ((const HkWindParams *)m->forces[f].method.params)->gust != 0)
      return true;
  return false;
}

/* The vertices of a grip, a force 'handle' or 'point_load'; NULL: it is another force. */
static const HkChosen *grip_of(const HkModel *m, int force) {
  HkDeviceForce kind = m->forces[force].type->on_device;
  bool grips = kind == HK_DEVICE_FORCE_HANDLE || kind == HK_DEVICE_FORCE_POINT_LOAD;
  return grips ? m->forces[force].data : NULL;
}

static bool is_changed(const HkBatchDevice *d, int64_t w) {
  const HkWorld *world = &d->batch->worlds[w];
  const HkHeldWorld *held = &d->held[w];
  return held->is_dirty || held->version != hk_model_version(world->model) ||
         held->edits != world->state->edits || held->h != world->sim->h;
}

static void describe_world(HkBatchDevice *d, int64_t w) {
  const HkModel *m = d->batch->worlds[w].model;
  HkHeldWorld *held = &d->held[w];
  held->pins_move = pins_move(m);
  held->varies = medium_varies(m);
  held->medium_parts = hk_device_medium_parts(m);
  held->grips = 0;
  held->grip_entries = 0;
  for (int f = 0; f < m->force_count; f++) {
    const HkChosen *chosen = grip_of(m, f);
    held->grips += chosen != NULL;
    held->grip_entries += chosen ? chosen->count : 0;
  }
}

/* Notices the changes of a world. */
static HkStatus notice(HkBatchDevice *d, int64_t w, bool first, HkError *error) {
  HkWorld *world = &d->batch->worlds[w];
  HkHeldWorld *held = &d->held[w];
  const HkModel *m = world->model;
  bool other_model = held->version != hk_model_version(m);
  bool other_springs =
      first || held->springs_version != m->springs.version || held->edits != world->state->edits;
  HK_TRY(check_forces(m, d->settings.step == HK_DEVICE_NEWTON, error));
  if (other_model && !first) {
    hk_state_own(world->state);
    HK_TRY(hk_force_work_fit(m, &world->sim->work, error));
    hk_blowup_renew(world->sim, world->state);
  }
  describe_world(d, w);
  HkWorldSprings springs = springs_of(d->batch, w);
  if (other_springs) held->general = is_general(d->batch, w);
  if (other_springs)
    held->fits = d->graph && hk_world_graph_fits(d->graph, m->springs.count, &springs);
  held->version = hk_model_version(m);
  held->springs_version = m->springs.version;
  held->edits = world->state->edits;
  held->h = world->sim->h;
  held->is_dirty = true;
  return HK_OK;
}

/* ---- What the worlds have in common ---- */

static HkStatus make_graph(HkBatchDevice *d, HkError *error) {
  HkBatch *b = d->batch;
  HkWorldSprings *springs = NULL;
  HK_TRY(hk_alloc(&b->context, &springs, b->count, sizeof *springs, "worlds", error));
  for (int64_t w = 0; w < b->count; w++) springs[w] = springs_of(b, w);
  hk_world_graph_destroy(&d->graph);
  HkStatus status = hk_world_graph_create(b->worlds[0].model, springs, b->count, &d->graph, error);
  hk_free(&b->context, &springs);
  for (int64_t w = 0; w < b->count; w++) d->held[w].fits = status >= 0;
  return status;
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
                               .neighbor = d->graph->neighbor,
                               .words = d->graph->words,
                               .types = d->graph->types,
                               .flat = m->dimension == 2,
                               .pin_count = m->pin_count,
                               .pin_vertex = m->pin_vertex,
                               .pin_motion = m->pin_motion,
                               .motion_count = m->motion_count};
  for (int64_t w = 0; w < b->count; w++) {
    const HkHeldWorld *held = &d->held[w];
    model.general |= held->general;
    model.pins_move |= held->pins_move;
    model.medium_parts |= held->medium_parts;
    if (held->grips > model.grips) model.grips = held->grips;
    if (held->grip_entries > model.grip_entries) model.grip_entries = held->grip_entries;
  }
  return model;
}

/* Whether the worlds of the plug-in serve a model, too; they may have space for more grips. */
static bool serves(const HkDeviceWorldsModel *made, const HkDeviceWorldsModel *now) {
  return made->general == now->general && made->pins_move == now->pins_move &&
         made->medium_parts == now->medium_parts && made->grips >= now->grips &&
         made->grip_entries >= now->grip_entries;
}

void hk_batch_device_release(HkBatchDevice *d) {
  const HkContext *c = &d->batch->context;
  void *all[] = {&d->moment,   &d->grips,  &d->middle,     &d->end,        &d->counts,
                 &d->pin_held, &d->h,      &d->origin,     &d->total_mass, &d->mass,
                 &d->type,     &d->pin_x0, &d->grip_start, &d->grip,       &d->info};
  if (d->worlds) d->device->worlds_destroy(&d->worlds);
  for (size_t q = 0; q < sizeof all / sizeof all[0]; q++) hk_free(c, all[q]);
  d->model = (HkDeviceWorldsModel){0};
  d->rows = 0;
}

/* Numbers of all motions, and of all grips, in a row of the tables of a world. */
static int64_t motion_reals(const HkDeviceWorldsModel *m) {
  return m->pins_move ? (int64_t)m->motion_count * HK_DEVICE_MOTION_REALS : 0;
}

static int64_t grip_reals(const HkDeviceWorldsModel *m) {
  return (int64_t)m->grips * HK_DEVICE_GRIP_REALS;
}

/* Tables of all worlds together take at most TABLE_BYTES; implicit steps take long enough for fewer
 * rows, so that the caller may cancel. */
static int64_t pick_rows(const HkBatchDevice *d) {
  const HkDeviceWorldsModel *m = &d->model;
  const double TABLE_BYTES = 64e6, most = d->settings.step == HK_DEVICE_NEWTON ? 16 : 256;
  int64_t reals = HK_GPU_MOMENT_REALS + 2 * motion_reals(m) + grip_reals(m);
  double rows = TABLE_BYTES / (sizeof(double) * (double)reals * (double)m->count);
  return rows < 1 ? 1 : rows < most ? (int64_t)rows : (int64_t)most;
}

static HkStatus make_tables(HkBatchDevice *d, HkError *error) {
  const HkContext *c = &d->batch->context;
  const HkDeviceWorldsModel *m = &d->model;
  int64_t rows = m->count * d->rows, motions = rows * motion_reals(m);
  HK_TRY(hk_alloc(c, &d->moment, rows * HK_GPU_MOMENT_REALS, sizeof *d->moment, "tables", error));
  HK_TRY(hk_alloc(c, &d->grips, rows * grip_reals(m) + 1, sizeof *d->grips, "tables", error));
  HK_TRY(hk_alloc(c, &d->middle, motions, sizeof *d->middle, "tables", error));
  HK_TRY(hk_alloc(c, &d->end, motions, sizeof *d->end, "tables", error));
  HK_TRY(hk_alloc(c, &d->counts, m->count, sizeof *d->counts, "tables", error));
  return hk_alloc(c, &d->info, m->count, sizeof *d->info, "worlds", error);
}

static HkStatus make_arrays(HkBatchDevice *d, HkError *error) {
  const HkContext *c = &d->batch->context;
  const HkDeviceWorldsModel *m = &d->model;
  int64_t worlds = m->count, starts = m->grips > 0 ? m->n + 1 : 0;
  HK_TRY(hk_alloc(c, &d->pin_held, worlds * m->pin_count + 1, 1, "pins", error));
  HK_TRY(hk_alloc(c, &d->h, worlds, sizeof *d->h, "worlds", error));
  HK_TRY(hk_alloc(c, &d->origin, 3 * worlds, sizeof *d->origin, "worlds", error));
  HK_TRY(hk_alloc(c, &d->total_mass, worlds, sizeof *d->total_mass, "worlds", error));
  HK_TRY(hk_alloc(c, &d->mass, worlds * m->n, sizeof *d->mass, "masses", error));
  HK_TRY(hk_alloc(c, &d->type, worlds * m->types * HK_WORLD_TYPE_REALS, sizeof *d->type, "springs",
                  error));
  HK_TRY(hk_alloc(c, &d->pin_x0, worlds * m->pin_count * 3 + 1, sizeof *d->pin_x0, "pins", error));
  HK_TRY(hk_alloc(c, &d->grip_start, worlds * starts, sizeof *d->grip_start, "grips", error));
  return hk_alloc(c, &d->grip, worlds * m->grip_entries, sizeof *d->grip, "grips", error);
}

size_t hk_batch_device_bytes(const HkBatchDevice *d) {
  const HkDeviceWorldsModel *m = &d->model;
  size_t worlds = (size_t)m->count, pins = (size_t)m->pin_count;
  size_t row = HK_GPU_MOMENT_REALS + (size_t)(2 * motion_reals(m) + grip_reals(m));
  size_t own = 5 + (size_t)(m->n + m->types * HK_WORLD_TYPE_REALS) + 3 * pins;
  size_t grips = (size_t)(m->grips > 0 ? m->n + 1 + m->grip_entries : 0) * sizeof(int32_t);
  size_t bytes = worlds * (sizeof *d->info + sizeof *d->counts + pins + grips) +
                 worlds * ((size_t)d->rows * row + own) * sizeof(double);
  if (worlds > 0) bytes += 1 + 2 * sizeof(double); /* of arrays that would be empty */
  return sizeof *d + (size_t)d->batch->count * sizeof *d->held + bytes +
         (d->graph ? hk_world_graph_bytes(d->graph) : 0);
}

/* The device has a copy of the tables of steps. */
static HkStatus check_memory(const HkBatchDevice *d, HkError *error) {
  const HkDeviceWorldsModel *m = &d->model;
  HkDeviceInfo info;
  HK_TRY(d->device->info(&info, error));
  double row = (double)(HK_GPU_MOMENT_REALS + 2 * motion_reals(m) + grip_reals(m)) * sizeof(double);
  double need = d->device->worlds_need(m, &d->settings) + (double)(m->count * d->rows) * row;
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
static HkStatus make_worlds(HkBatchDevice *d, const HkDeviceWorldsModel *model, HkError *error) {
  own_all(d);
  hk_batch_device_release(d);
  d->model = *model;
  d->rows = pick_rows(d);
  HkStatus status = make_tables(d, error);
  if (status >= 0) status = make_arrays(d, error);
  if (status >= 0) status = check_memory(d, error);
  d->settings.uses_velocity = model->general || model->medium_parts != 0 || model->grips > 0;
  if (status >= 0) status = d->device->worlds_create(&d->model, &d->settings, &d->worlds, error);
  if (status < 0) hk_batch_device_release(d);
  for (int64_t w = 0; w < d->batch->count; w++) d->held[w].is_dirty = true;
  return status;
}

/* ---- What a world has of its own ---- */

/* The grips of each vertex of a world. */
static void fill_grips(HkBatchDevice *d, int64_t w) {
  const HkModel *m = d->batch->worlds[w].model;
  int32_t *start = d->grip_start + w * (m->n + 1), *grip = d->grip + w * d->model.grip_entries;
  memset(start, 0, (size_t)(m->n + 1) * sizeof *start);
  for (int f = 0; f < m->force_count; f++) {
    const HkChosen *chosen = grip_of(m, f);
    for (int64_t q = 0; chosen && q < chosen->count; q++) start[chosen->vertices[q] + 1]++;
  }
  for (int64_t i = 0; i < m->n; i++) start[i + 1] += start[i];
  for (int f = 0, number = 0; f < m->force_count; f++) {
    const HkChosen *chosen = grip_of(m, f);
    for (int64_t q = 0; chosen && q < chosen->count; q++)
      grip[start[chosen->vertices[q]]++] = number;
    number += chosen != NULL;
  }
  for (int64_t i = m->n; i > 0; i--) start[i] = start[i - 1];
  start[0] = 0;
}

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
  if (m->grips > 0) fill_grips(d, w);
}

static HkStatus send_parameters(HkBatchDevice *d, HkError *error) {
  bool varies = false;
  for (int64_t w = 0; w < d->batch->count; w++) {
    if (d->held[w].is_dirty) fill_world(d, w);
    varies |= d->held[w].varies;
  }
  d->moments = varies || d->model.grips > 0 ? d->rows : 1;
  HkDeviceWorldsParameters p = {d->h,    d->origin, d->total_mass, d->mass,
                                d->type, d->pin_x0, d->grip_start, d->grip};
  HK_TRY(d->device->worlds_set(d->worlds, &p, error));
  for (int64_t w = 0; w < d->batch->count; w++) d->held[w].is_dirty = false;
  return HK_OK;
}

HkStatus hk_batch_device_renew(HkBatchDevice *d, HkError *error) {
  bool first = d->worlds == NULL, any = first, fits = true;
  for (int64_t w = 0; w < d->batch->count; w++) {
    if (!first && !is_changed(d, w)) continue;
    any = true;
    HK_TRY(notice(d, w, first, error));
  }
  if (!any) return HK_OK;
  for (int64_t w = 0; w < d->batch->count; w++) fits &= d->held[w].fits;
  if (!fits) HK_TRY(make_graph(d, error));
  HkDeviceWorldsModel now = describe(d);
  if (first || !fits || !serves(&d->model, &now)) HK_TRY(make_worlds(d, &now, error));
  return send_parameters(d, error);
}
