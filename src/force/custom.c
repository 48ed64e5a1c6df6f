/* Forces of the caller, by callbacks; see hooke.h.
 *
 * Each has a type of its own, since the functions of its type define what a force can do. The type
 * is freed with the last of the model and the simulations that hold state of the force.
 */
#include "force/force.h"
#include "hooke/extend.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct Custom {
  HkForceType type;
  HkForceFunctions functions;
  void *user;
  HkContext context;
  char *name;
  int64_t vertices;
  atomic_int owners;
  int32_t invalid[2]; /* vertices of a block that is out of range */
  bool has_invalid;
  void *owner; /* of the code, such as a shared library; released last */
  void (*release_owner)(void *owner);
} Custom;

/* Of one simulation. */
typedef struct CustomState {
  Custom *custom;
  void *state; /* the caller's */
} CustomState;

struct HkForceBlockSink {
  HkJacobianSink *sink;
  void (*add)(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]);
  Custom *custom;
};

static HkForceAt at_of(const HkForceArgs *a) {
  const CustomState *s = a->state;
  return (HkForceAt){.vertices = a->model->n,
                     .t = a->t,
                     .x = a->x,
                     .v = a->v,
                     .projected = a->curvature != HK_CURVATURE_TRUE,
                     .state = s ? s->state : NULL};
}

static Custom *custom_of(const HkForceArgs *a) {
  return (Custom *)a->data;
}

/* ---- Evaluation ---- */

static double energy(const HkForceArgs *a) {
  const Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  return c->functions.energy(c->user, &at);
}

static void add(const HkForceArgs *a, double *f) {
  const Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  c->functions.add(c->user, &at, f);
}

static int64_t scratch(const HkModel *model, const void *data) {
  (void)data;
  return 2 * (3 * model->n + HK_PAD);
}

/* E(to) - E(x) by subtraction where that leaves enough digits. Otherwise the two are close, and it
 * is -f . (to - x) with the force at the middle, which is off by the third power of the distance
 * only: minimizers compare changes far below the rounding of E. */
static double energy_change(const HkForceArgs *a, const double *to) {
  const double DIGITS_LEFT = 1e-6;
  HkForceArgs b = *a;
  int64_t count = 3 * a->model->n;
  double *middle = a->work.scratch, *f = middle + count + HK_PAD, sum = 0;
  b.x = to;
  double before = energy(a), after = energy(&b);
  if (fabs(after - before) > DIGITS_LEFT * (fabs(before) + fabs(after))) return after - before;
  for (int64_t c = 0; c < count; c++) middle[c] = a->x[c] + 0.5 * (to[c] - a->x[c]);
  memset(f, 0, (size_t)count * sizeof *f);
  b.x = middle;
  b.v = NULL;
  add(&b, f);
  for (int64_t c = 0; c < count; c++) sum -= f[c] * (to[c] - a->x[c]);
  return sum;
}

/* The sinks take df/dx and df/dv, callers give the Hessian and C with the other sign. */
void hk_force_add_block(HkForceBlockSink *sink, int32_t i, int32_t j, const double block[9]) {
  Custom *c = sink->custom;
  double minus[9];
  if (i < 0 || j < 0 || i >= c->vertices || j >= c->vertices) {
    c->invalid[0] = i;
    c->invalid[1] = j;
    c->has_invalid = true;
    return;
  }
  for (int k = 0; k < 9; k++) minus[k] = -block[k];
  sink->add(sink->sink, i, j, minus);
}

static void damping(const HkForceArgs *a, HkJacobianSink *sink) {
  Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  HkForceBlockSink dfdv = {sink, sink->dfdv, c};
  if (a->v && c->functions.damping) c->functions.damping(c->user, &at, &dfdv);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  HkForceBlockSink dfdx = {sink, sink->dfdx, c};
  if (c->functions.hessian) c->functions.hessian(c->user, &at, &dfdx);
  damping(a, sink);
}

static bool uses_velocity(const HkSpringArrays *springs, const void *params) {
  (void)springs;
  (void)params;
  return true;
}

/* ---- State and hooks ---- */

static void release(Custom *c) {
  HkContext context = c->context;
  if (atomic_fetch_sub(&c->owners, 1) > 1) return;
  if (c->functions.destroy) c->functions.destroy(c->user);
  if (c->release_owner) c->release_owner(c->owner);
  hk_free(&context, &c->name);
  hk_free(&context, &c);
}

static HkStatus create_state(const HkModel *model, const void *params, const void *data,
                             void **state, HkError *error) {
  CustomState *s = NULL;
  (void)params;
  HK_TRY(hk_alloc(&model->context, &s, 1, sizeof *s, "a force", error));
  s->custom = (Custom *)data;
  HkStatus status = s->custom->functions.create_state(s->custom->user, &s->state, error);
  if (status < 0) {
    hk_free(&model->context, &s);
    return status;
  }
  atomic_fetch_add(&s->custom->owners, 1);
  *state = s;
  return HK_OK;
}

static void destroy_state(const HkModel *model, void *state) {
  CustomState *s = state;
  const HkForceFunctions *f = &s->custom->functions;
  if (f->destroy_state) f->destroy_state(s->custom->user, s->state);
  release(s->custom);
  hk_free(&model->context, &s);
}

static size_t state_bytes(const void *state) {
  (void)state;
  return sizeof(CustomState);
}

static HkStatus load(const HkForceArgs *a, HkError *error) {
  const Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  return c->functions.load(c->user, &at, a->memory->bytes, (size_t)a->memory->size, error);
}

/* Has the caller write into the memory, a second time if there was not enough capacity. */
static HkStatus save(const HkForceArgs *a, HkError *error) {
  const Custom *c = custom_of(a);
  HkForceMemory *memory = a->memory;
  HkForceAt at = at_of(a);
  size_t size = c->functions.save(c->user, &at, memory->bytes, (size_t)memory->capacity);
  if (size > (size_t)memory->capacity) {
    int64_t needed = (uint64_t)size < INT64_MAX ? (int64_t)size : INT64_MAX;
    HK_TRY(hk_force_memory_reserve(memory, needed, error));
    size = c->functions.save(c->user, &at, memory->bytes, (size_t)memory->capacity);
  }
  if (size > (size_t)memory->capacity)
    return hk_fail(
        error, HK_ERROR_INVALID,
        "force '%s': save returns %zu bytes with a capacity of %lld, which was enough in "
        "the call before; return the same size in both calls",
        c->name, size, (long long)memory->capacity);
  memory->size = (int64_t)size;
  return HK_OK;
}

static HkStatus begin_step(const HkForceArgs *a, double h, HkError *error) {
  const Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  return c->functions.begin_step(c->user, &at, h, error);
}

static HkStatus end_step(const HkForceArgs *a, double h, HkError *error) {
  Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  if (c->has_invalid) {
    c->has_invalid = false;
    return hk_fail(error, HK_ERROR_INVALID,
                   "force '%s' has added a block at vertices %d and %d; there are the vertices 0 "
                   "to %lld",
                   c->name, c->invalid[0], c->invalid[1], (long long)c->vertices - 1);
  }
  if (c->functions.end_step) HK_TRY(c->functions.end_step(c->user, &at, h, error));
  return c->functions.save ? save(a, error) : HK_OK;
}

static HkStatus begin_iterate(const HkForceArgs *a, HkError *error) {
  const Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  return c->functions.begin_iterate(c->user, &at, error);
}

static bool filter(const HkForceArgs *a, double *to) {
  const Custom *c = custom_of(a);
  HkForceAt at = at_of(a);
  return c->functions.filter(c->user, &at, to);
}

/* ---- Compiling ---- */

HkForceFunctions hk_force_functions_default(void) {
  return (HkForceFunctions){.size = sizeof(HkForceFunctions)};
}

static void destroy(const HkModel *model, void *data) {
  (void)model;
  release(data);
}

static size_t bytes(const void *data) {
  const Custom *c = data;
  return sizeof *c + strlen(c->name) + 1;
}

static void add_array(void *user, const HkForceAt *at, double *f) {
  const double *force = user;
  for (int64_t c = 0; c < 3 * at->vertices; c++) f[c] += force[c];
}

static HkForceType type_of(const Custom *c) {
  const HkForceFunctions *f = &c->functions;
  bool damps = f->uses_velocity || f->damping;
  /* By x alone, where the Hessian at x is all of it, and by the numbers of an array. A hook may
   * find something at the iterates of a step that its Hessian at the end depends on. */
  bool hooks = f->begin_step || f->begin_iterate || f->filter;
  bool known = !damps && !hooks && !f->save && !f->create_state && f->energy && f->hessian;
  return (HkForceType){
      .schema = {.name = c->name, .summary = "a force of the caller"},
      .slot = HK_ENERGY_OTHER,
      .uses_velocity = damps ? uses_velocity : NULL,
      .destroy = destroy,
      .bytes = bytes,
      .create_state = f->create_state ? create_state : NULL,
      .destroy_state = destroy_state,
      .state_bytes = state_bytes,
      .begin_step = f->begin_step ? begin_step : NULL,
      .end_step = f->end_step || f->hessian || f->damping || f->save ? end_step : NULL,
      .remembers = f->save != NULL,
      .load = f->load ? load : NULL,
      .begin_iterate = f->begin_iterate ? begin_iterate : NULL,
      .filter = f->filter ? filter : NULL,
      .scratch = f->energy ? scratch : NULL,
      .energy = f->energy ? energy : NULL,
      .energy_change = f->energy ? energy_change : NULL,
      .add = add,
      .jacobian = f->hessian || f->damping ? jacobian : NULL,
      .unbounded = f->hessian && f->filter,
      .damping = damps ? damping : NULL,
      .differentiable = known || f->add == add_array ? "" : NULL,
  };
}

static HkStatus create(const HkModel *m, const HkForceFunctions *functions, void *user,
                       Custom **custom, HkError *error) {
  const char *name = functions->name ? functions->name : "custom";
  HK_TRY(hk_alloc(&m->context, custom, 1, sizeof **custom, "a force", error));
  Custom *c = *custom;
  c->context = m->context;
  c->vertices = m->n;
  atomic_init(&c->owners, 1);
  HK_TRY(hk_alloc(&m->context, &c->name, (int64_t)strlen(name) + 1, 1, "a force", error));
  memcpy(c->name, name, strlen(name));
  c->functions = *functions;
  c->functions.name = c->name;
  c->user = user;
  c->type = type_of(c);
  return HK_OK;
}

HkForceFunctions hk_force_array_functions(void) {
  HkForceFunctions f = hk_force_functions_default();
  f.name = "array";
  f.add = add_array;
  return f;
}

bool hk_force_is_array(const HkCompiledForce *force) {
  return force->type->add == add && ((const Custom *)force->data)->functions.add == add_array;
}

static HkStatus check(const HkForceFunctions *f, HkError *error) {
  if (f->size != sizeof *f)
    return hk_fail(error, HK_ERROR_INVALID,
                   "a force of %zu bytes was made for another version of the library, whose forces "
                   "have %zu; start from hk_force_functions_default",
                   f->size, sizeof *f);
  if (!f->add) return hk_fail(error, HK_ERROR_INVALID, "a force needs the function add");
  if (f->hessian && !f->energy)
    return hk_fail(error, HK_ERROR_INVALID, "a force with a Hessian needs the function energy");
  if (!f->save != !f->load)
    return hk_fail(error, HK_ERROR_INVALID,
                   "a force with the function %s needs the function %s, too",
                   f->save ? "save" : "load", f->save ? "load" : "save");
  return HK_OK;
}

HkStatus hk_force_compile_custom(HkModel *m, const HkForceFunctions *functions, void *user,
                                 HkCompiledForce *force, HkError *error) {
  Custom *custom = NULL;
  *force = (HkCompiledForce){0};
  HkStatus status = check(functions, error);
  if (status >= 0) status = create(m, functions, user, &custom, error);
  if (status < 0) {
    if (custom) hk_free(&m->context, &custom->name);
    hk_free(&m->context, &custom);
    if (functions->destroy) functions->destroy(user);
    return status;
  }
  force->type = &custom->type;
  force->method.schema = &custom->type.schema;
  force->data = custom;
  force->id = ++m->force_ids;
  return HK_OK;
}

void hk_force_custom_own(HkCompiledForce *force, void *owner, void (*release_owner)(void *owner)) {
  Custom *custom = force->data;
  custom->owner = owner;
  custom->release_owner = release_owner;
}
