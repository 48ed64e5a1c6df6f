/* HkBatch: creating, arrays and questions; see hooke/batch.h. steps.c moves the worlds.
 *
 * Positions of all worlds are rows of one array, so that programs read and write them at once. A
 * row has the padding of hk_alloc_vector, so that no world reads what another one writes.
 */
#include "batch/device.h"

#include "step/choose_device.h"
#include "step/need.h"

#include <stdio.h>
#include <string.h>

/* ---- Creating ---- */

/* Worlds are copies of one model, or each of its own. */
typedef struct Origins {
  const HkModel *one;
  const HkModel *const *each; /* NULL: of `one` */
} Origins;

static const HkModel *origin_of(const Origins *from, int64_t w) {
  return from->each ? from->each[w] : from->one;
}

static HkStatus check_vertices(const Origins *from, int64_t count, HkError *error) {
  for (int64_t w = 1; w < count; w++) {
    int64_t n = origin_of(from, w)->n, first = origin_of(from, 0)->n;
    if (n != first)
      return hk_fail(
          error, HK_ERROR_INVALID,
          "world %lld has %lld vertices, and world 0 has %lld; a batch has worlds of the "
          "same number",
          (long long)w, (long long)n, (long long)first);
  }
  return HK_OK;
}

static HkStatus check_request(const HkModel *model, int64_t count, HkError *error) {
  if (count < 1 || count > INT32_MAX)
    return hk_fail(error, HK_ERROR_INVALID,
                   "a batch of %lld worlds is not possible; give 1 or more", (long long)count);
  HkModelInfo info = hk_model_info(model);
  /* Models share most of their arrays; a simulation has at least one vector and the springs. */
  double world = (double)info.state_bytes + (double)hk_vector_bytes(info.vertices);
  char what[80];
  snprintf(what, sizeof what, "%lld worlds of %lld vertices", (long long)count,
           (long long)info.vertices);
  return hk_memory_check(&model->context, (double)count * world, what, "ask for fewer worlds",
                         error);
}

/* Makes the state of a world use its rows of the arrays of the batch. */
static void place_state(HkBatch *b, int64_t w) {
  HkState *s = b->worlds[w].state;
  size_t bytes = (size_t)(3 * s->n) * sizeof *s->x;
  double *x = b->x + w * b->stride, *v = b->v + w * b->stride;
  if (s->n > 0) {
    memcpy(x, s->x, bytes);
    memcpy(v, s->v, bytes);
  }
  hk_free(&s->context, &s->x);
  hk_free(&s->context, &s->v);
  s->x = x;
  s->v = v;
  s->borrows = true;
}

static HkStatus create_world(HkBatch *b, int64_t w, const HkModel *origin, const HkMethod *step,
                             double h, HkError *error) {
  HkWorld *world = &b->worlds[w];
  HK_TRY(hk_model_copy(origin, &b->context, &world->model, error));
  HK_TRY(hk_state_create(world->model, &world->state, error));
  place_state(b, w);
  return hk_sim_create(world->model, step, h, &world->sim, error);
}

/* All worlds of one model have the step that the first one picks. */
static HkStatus create_worlds(HkBatch *b, const Origins *from, const HkMethod *step, double h,
                              HkError *error) {
  const HkContext *c = &b->context;
  HK_TRY(hk_alloc(c, &b->worlds, b->count, sizeof *b->worlds, "worlds", error));
  HK_TRY(hk_alloc(c, &b->x, b->count * b->stride, sizeof *b->x, "positions", error));
  HK_TRY(hk_alloc(c, &b->v, b->count * b->stride, sizeof *b->v, "velocities", error));
  for (int64_t w = 0; w < b->count; w++) {
    HK_TRY(create_world(b, w, origin_of(from, w), step, h, error));
    if (w > 0 || from->each) continue;
    h = hk_sim_h(b->worlds[0].sim);
    b->context.log = NULL; /* the other worlds log the same */
  }
  return HK_OK;
}

/* Whether two methods have the same text. */
static bool same_method(const HkMethod *a, const HkMethod *b) {
  char *text[2] = {NULL, NULL};
  bool same = hk_method_format(a, &text[0], NULL) >= 0 &&
              hk_method_format(b, &text[1], NULL) >= 0 && strcmp(text[0], text[1]) == 0;
  hk_text_destroy(&text[0]);
  hk_text_destroy(&text[1]);
  return same;
}

/* Worlds on a device have one integrator. */
static HkStatus check_integrators(const HkBatch *b, const Origins *from, const HkMethod *step,
                                  HkError *error) {
  for (int64_t w = 1; w < b->count && !step && from->each; w++)
    if (!same_method(&from->each[w]->step, &from->each[0]->step))
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "world %lld has another integrator than world 0; worlds on a device have one: "
                     "choose the device cpu",
                     (long long)w);
  return HK_OK;
}

static HkStatus create(HkBatch *b, const Origins *from, HkDeviceKind kind, const HkMethod *step,
                       double h, HkError *error) {
  HK_TRY(hk_shared_context_create(&b->model->context, &b->shared, error));
  b->context = hk_shared_context(b->shared);
  b->context.threads = 1;
  b->context.device = HK_CPU; /* on a device, simulations of worlds answer questions */
  if (kind == HK_CPU) return create_worlds(b, from, step, h, error);
  HkMethod method = {0};
  HK_TRY(check_integrators(b, from, step, error));
  HK_TRY(hk_batch_device_method(b->model, step, &method, error));
  HkStatus status = create_worlds(b, from, &method, h, error);
  hk_method_clear(&method);
  return status < 0 ? status : hk_batch_device_create(b, kind, &b->device, error);
}

static HkStatus create_on(HkDeviceKind device, const Origins *from, int64_t count,
                          const HkMethod *step, double h, HkBatch **batch, HkError *error) {
  const HkModel *model = origin_of(from, 0);
  HK_TRY(hk_alloc(&model->context, batch, 1, sizeof **batch, "a batch", error));
  HkBatch *b = *batch;
  b->model = model;
  b->count = count;
  b->threads = model->threads;
  b->stride = model->n > 0 ? 3 * model->n + HK_PAD : 0;
  b->kind = device;
  HkStatus status = create(b, from, device, step, h, error);
  if (status < 0) hk_batch_destroy(batch);
  if (status >= 0) hk_batch_set_cancel(b, NULL, NULL);
  return status;
}

static HkStatus create_from(const Origins *from, int64_t count, const HkMethod *step, double h,
                            HkBatch **batch, HkError *error) {
  const HkModel *model = origin_of(from, 0);
  const HkContext *c = &model->context;
  HkError why = {0};
  HK_TRY(check_request(model, count, error));
  HK_TRY(check_vertices(from, count, error));
  if (c->device != HK_AUTO) return create_on(c->device, from, count, step, h, batch, error);
  const HkStepType *type = hk_step_type((step ? step : &model->step)->schema);
  if (type && hk_device_pays(c, type, count * model->n)) {
    if (create_on(HK_CUDA, from, count, step, h, batch, &why) >= 0) return HK_OK;
    hk_log(c, HK_LOG_INFO, "the CPU makes the steps: %s", why.text);
  }
  return create_on(HK_CPU, from, count, step, h, batch, error);
}

HkStatus hk_batch_create(const HkModel *model, int64_t count, const HkMethod *step, double h,
                         HkBatch **batch, HkError *error) {
  *batch = NULL;
  return create_from(&(Origins){.one = model}, count, step, h, batch, error);
}

HkStatus hk_batch_create_from(const HkModel *const *models, int64_t count, const HkMethod *step,
                              double h, HkBatch **batch, HkError *error) {
  *batch = NULL;
  if (count < 1) return hk_fail(error, HK_ERROR_INVALID, "a batch without worlds is not possible");
  return create_from(&(Origins){.each = models}, count, step, h, batch, error);
}

void hk_batch_destroy(HkBatch **batch) {
  HkBatch *b = *batch;
  if (!b) return;
  HkContext c = b->model->context;
  for (int64_t w = 0; b->worlds && w < b->count; w++) {
    HkWorld *world = &b->worlds[w];
    hk_sim_destroy(&world->sim);
    hk_state_destroy(&world->state);
    hk_model_destroy(&world->model);
    hk_free(&b->context, &world->error);
  }
  hk_batch_device_destroy(&b->device);
  hk_free(&c, &b->worlds);
  hk_free(&c, &b->x);
  hk_free(&c, &b->v);
  hk_shared_context_destroy(&b->shared);
  hk_free(&c, batch);
}

/* ---- Parts ---- */

HkDeviceKind hk_batch_device(const HkBatch *batch) {
  return batch->kind;
}

int64_t hk_batch_count(const HkBatch *b) {
  return b->count;
}

static bool has_world(const HkBatch *b, int64_t w) {
  return w >= 0 && w < b->count;
}

HkModel *hk_batch_model(HkBatch *b, int64_t w) {
  return has_world(b, w) ? b->worlds[w].model : NULL;
}

HkState *hk_batch_state(HkBatch *b, int64_t w) {
  return has_world(b, w) ? b->worlds[w].state : NULL;
}

HkSim *hk_batch_sim(HkBatch *b, int64_t w) {
  return has_world(b, w) ? b->worlds[w].sim : NULL;
}

double *hk_batch_x(HkBatch *b, int64_t *stride) {
  for (int64_t w = 0; w < b->count; w++) hk_state_x(b->worlds[w].state);
  *stride = b->stride;
  return b->x;
}

double *hk_batch_v(HkBatch *b, int64_t *stride) {
  for (int64_t w = 0; w < b->count; w++) hk_state_v(b->worlds[w].state);
  *stride = b->stride;
  return b->v;
}

size_t hk_batch_bytes(const HkBatch *b) {
  size_t bytes = sizeof *b + (size_t)b->count * sizeof *b->worlds;
  bytes += 2 * (size_t)(b->count * b->stride) * sizeof *b->x + hk_shared_context_bytes();
  if (b->device) bytes += hk_batch_device_bytes(b->device);
  for (int64_t w = 0; w < b->count; w++) {
    const HkWorld *world = &b->worlds[w];
    bytes += hk_model_bytes(world->model) + hk_sim_bytes(world->sim);
    bytes += hk_state_bytes(world->state) + (world->error ? sizeof *world->error : 0);
  }
  return bytes;
}

double hk_batch_world_need(const HkModel *model, const HkMethod *step) {
  const HkMethod *method = step ? step : &model->step;
  HkModel copy = *model;
  copy.origin = model;
  HkProportions p = hk_model_sizes(model);
  /* Without memory for the proportions the factor of a matrix is not counted. */
  if (hk_step_factorizes(&p, method)) hk_model_proportions(model, &p, NULL);
  return (double)(sizeof(HkWorld) + hk_model_bytes(&copy) + hk_model_info(model).state_bytes) +
         hk_step_need(&p, method);
}

/* ---- Questions ---- */

HkStatus hk_batch_world_info(const HkBatch *b, int64_t w, HkWorldInfo *info, HkError *error) {
  *info = (HkWorldInfo){.status = HK_ERROR_INVALID};
  if (!has_world(b, w))
    return hk_fail(error, HK_ERROR_INVALID,
                   "there is no world %lld; there are the worlds 0 to %lld", (long long)w,
                   (long long)(b->count - 1));
  const HkWorld *world = &b->worlds[w];
  *info = (HkWorldInfo){world->status, world->steps, hk_sim_step_info(world->sim)};
  if (world->status < 0 && error) {
    *error = (HkError){.status = world->status};
    if (world->error) *error = *world->error;
  }
  return world->status;
}

typedef struct Infos {
  HkBatch *batch;
  HkStateInfo *info;
} Infos;

static void info_of_world(void *user, int w) {
  const Infos *p = user;
  const HkWorld *world = &p->batch->worlds[w];
  hk_sim_state_info(world->sim, world->state, &p->info[w]);
}

void hk_batch_state_info(HkBatch *b, HkStateInfo *info) {
  Infos p = {b, info};
  for (int64_t w = 0; w < b->count; w++) hk_state_fetch(b->worlds[w].state);
  hk_parallel_tasks(b->threads, (int)b->count, info_of_world, &p);
}

static void gather(const double *from, const int32_t *vertices, int64_t count, double *to) {
  for (int64_t q = 0; q < count; q++)
    memcpy(to + 3 * q, from + 3 * (int64_t)vertices[q], 3 * sizeof *to);
}

HkStatus hk_batch_probe(HkBatch *b, const int32_t *vertices, int64_t count, double *x, double *v,
                        HkError *error) {
  if (count < 0)
    return hk_fail(error, HK_ERROR_INVALID, "%lld vertices are not possible", (long long)count);
  for (int64_t q = 0; q < count; q++)
    if (vertices[q] < 0 || vertices[q] >= b->model->n)
      return hk_fail(error, HK_ERROR_INVALID,
                     "there is no vertex %d; there are the vertices 0 to %lld", vertices[q],
                     (long long)(b->model->n - 1));
  for (int64_t w = 0; w < b->count; w++) {
    const HkState *state = b->worlds[w].state;
    if (x) gather(hk_state_positions(state), vertices, count, x + 3 * w * count);
    if (v) gather(hk_state_velocities(state), vertices, count, v + 3 * w * count);
  }
  return HK_OK;
}
