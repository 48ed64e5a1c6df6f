/* Gradients against differences of motions; see motion_gradient.h. */
#include "motion_gradient.h"

#include "adjoint/derivatives.h"
#include "model_by_hand.h"

#include "step/sim.h"

#include "hooke/extend.h"

World gradient_world(const GradientCase *c, const char *integrator) {
  double h = c->h > 0 ? c->h : 0.01;
  World w = world_make(c->text, integrator, h, 1);
  HkMethod step = {0};
  HkError error = {0};
  if (!w.sim || !hk_param_find(hk_sim_method(w.sim)->schema, "minimizer")) return w;
  HkStatus status = hk_method_choose(&step, HK_STEP, integrator, &error);
  HkMethod *newton = hk_method_set_method(&step, "minimizer", "newton", &error);
  if (status >= 0) status = hk_method_set_number(&step, "passes", 1, &error);
  if (newton)
    status =
        hk_method_set_number(newton, "tolerance", c->accuracy > 0 ? c->accuracy : 1e-14, &error);
  hk_sim_destroy(&w.sim);
  if (status >= 0) status = hk_sim_create(w.model, &step, h, &w.sim, &error);
  hk_method_clear(&step);
  if (status >= 0 && c->settle) status = hk_sim_steps(w.sim, w.state, c->settle, &error);
  if (status < 0) test_fail(integrator, 0, "%s", error.text);
  return w;
}

/* ---- A loss ---- */

static int steps_of(const GradientCase *c) {
  return c->steps > 0 ? c->steps : 10;
}

/* The loss is quadratic in positions and velocities in the middle and at the end. */
static bool counts(const GradientCase *c, int64_t step) {
  return step == (2 * steps_of(c) + 4) / 5 || step == steps_of(c);
}

double gradient_weight(int64_t c, uint64_t salt) {
  uint64_t seed = salt * 1000003 + (uint64_t)c;
  return test_random(&seed);
}

double gradient_loss(const GradientCase *scene, const HkState *state, int64_t step) {
  const double *x = hk_state_positions(state), *v = hk_state_velocities(state);
  double sum = 0;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(state) && counts(scene, step); c++)
    sum += gradient_weight(c, 1) * x[c] + 0.1 * gradient_weight(c, 2) * v[c] +
           0.3 * x[c] * x[c] * gradient_weight(c, 3);
  return sum;
}

void gradient_add_loss(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  const double *x = hk_state_positions(state);
  if (!counts(*(const GradientCase **)user, step)) return;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(state); c++) {
    dx[c] += gradient_weight(c, 1) + 0.6 * x[c] * gradient_weight(c, 3);
    dv[c] += 0.1 * gradient_weight(c, 2);
  }
}

/* ---- Directions ---- */

/* What changes: all entries of an array of the model or of its state, or one number of a method. */
typedef enum What { X, V, MASS, K, L0, DAMPING, PLACES, FORCE, MOTION, KINDS } What;
static const char *const names[] = {"x",       "v",      "mass",  "k",     "l0",
                                    "damping", "places", "force", "motion"};

typedef struct Change {
  What what;
  int method; /* number of the force or motion */
  const HkParam *param;
  int64_t entry;
} Change;

static double *number_of(const Change *c, const HkMethod *method) {
  char *at = (char *)method->params + c->param->offset;
  if (c->param->kind == HK_PARAM_TABLE) return ((HkTable *)(void *)at)->values + c->entry;
  return (double *)(void *)at + c->entry;
}

/* A number by which things change: about one hundredth of it, or of 1. */
static double size_of(double value, double length) {
  return fabs(value) > 0 ? fabs(value) : length;
}

static HkStatus change_springs(World *w, const Change *c, double step, HkError *error) {
  HkSpringView s = hk_model_springs(w->model);
  double *values[3];
  const double *from[] = {s.k, s.l0, s.damping};
  for (int a = 0; a < 3; a++) {
    values[a] = calloc((size_t)s.count, sizeof(double));
    for (int64_t e = 0; e < s.count && from[a]; e++)
      values[a][e] = from[a][e] * (1 + ((int)c->what - K == a ? step * gradient_weight(e, 10) : 0));
  }
  HkStatus status = hk_state_set_springs(w->state, w->model, values[0], values[1],
                                         s.damping ? values[2] : NULL, NULL, error);
  for (int a = 0; a < 3; a++) free(values[a]);
  return status;
}

static HkStatus change_masses(World *w, double step, HkError *error) {
  int64_t n = hk_state_vertex_count(w->state);
  double *masses = calloc((size_t)n, sizeof *masses);
  for (int64_t i = 0; i < n; i++)
    masses[i] = hk_model_masses(w->model)[i] * (1 + step * gradient_weight(i, 10));
  HkStatus status = hk_model_set_masses(w->model, masses, error);
  free(masses);
  return status;
}

/* Replaces a force, which keeps the memory that the state has of it: another simulation begins
 * there. */
static HkStatus set_force(World *w, int index, const HkMethod *method, HkError *error) {
  int64_t id = w->model->forces[index].id;
  double h = w->sim->h;
  HkMethod step = {0};
  HK_TRY(hk_method_copy(hk_sim_method(w->sim), &step, error));
  HkStatus status = hk_model_set_force(w->model, index, method, error);
  hk_sim_destroy(&w->sim);
  w->model->forces[index].id = id;
  if (status >= 0) status = hk_sim_create(w->model, &step, h, &w->sim, error);
  hk_method_clear(&step);
  return status;
}

/* Of positions, and of parameters that are one and 0. */
static double length_of(const GradientCase *scene, const Change *c) {
  bool scaled = c->what == X || c->what == PLACES || c->what == FORCE;
  return scaled && scene->length > 0 ? scene->length : 1;
}

/* Changes a world along a direction. */
static HkStatus change(const GradientCase *scene, World *w, const Change *c, double step,
                       HkError *error) {
  int64_t n = hk_state_vertex_count(w->state), axes = w->model->dimension;
  double *vectors[] = {hk_state_x(w->state), hk_state_v(w->state)};
  HkMethod method = {0};
  HkStatus status = HK_OK;
  switch (c->what) {
  case X:
  case V:
    for (int64_t q = 0; q < 3 * n; q++)
      if (q % 3 < axes) vectors[c->what][q] += step * length_of(scene, c) * gradient_weight(q, 10);
    return HK_OK;
  case MASS: return change_masses(w, step, error);
  case K:
  case L0:
  case DAMPING: return change_springs(w, c, step, error);
  case PLACES:
    for (int64_t p = 0; p < w->model->pin_count; p++)
      for (int a = 0; a < axes; a++)
        w->model->x0[3 * (int64_t)w->model->pin_vertex[p] + a] +=
            step * length_of(scene, c) * gradient_weight(3 * p + a, 10);
    return HK_OK;
  default: break;
  }
  status = hk_method_copy(c->what == FORCE ? &w->model->forces[c->method].method
                                           : &w->model->motions[c->method].method,
                          &method, error);
  if (status < 0) return status;
  double *number = number_of(c, &method);
  *number += step * size_of(*number, length_of(scene, c));
  if (c->what == FORCE)
    status = set_force(w, c->method, &method, error);
  else
    status = hk_model_set_motion(w->model, c->method, &method, error);
  hk_method_clear(&method);
  return status;
}

/* The derivative along the direction that `change` takes. */
static double along(const GradientCase *scene, const World *w, const Change *c, HkDerivatives *d) {
  HkDerivativeArrays a = hk_derivatives_arrays(d);
  HkSpringView s = hk_model_springs(w->model);
  const double *arrays[] = {a.x, a.v, a.mass, a.k, a.l0, a.damping, a.places};
  const double *values[] = {NULL, NULL, hk_model_masses(w->model), s.k, s.l0, s.damping, NULL};
  int64_t n = hk_state_vertex_count(w->state);
  int64_t counts[] = {3 * n, 3 * n, n, s.count, s.count, s.count, 3 * w->model->pin_count};
  double sum = 0;
  if (c->what < FORCE) {
    for (int64_t q = 0; q < counts[c->what]; q++) {
      bool flat = !values[c->what] && w->model->dimension == 2 && q % 3 == 2;
      double direction = gradient_weight(q, 10) * (values[c->what] ? values[c->what][q] : 1);
      if (!flat) sum += direction * arrays[c->what][q];
    }
    return sum * length_of(scene, c);
  }
  const HkMethod *method =
      c->what == FORCE ? &w->model->forces[c->method].method : &w->model->motions[c->method].method;
  const HkMethod *derivative =
      c->what == FORCE ? hk_derivatives_force(d, c->method) : hk_derivatives_motion(d, c->method);
  return size_of(*number_of(c, method), length_of(scene, c)) * *number_of(c, derivative);
}

/* All changes of a world, up to `most`. */
static int list_changes(const World *w, HkDerivatives *d, Change *out, int most) {
  int count = 0;
  for (int k = X; k < FORCE; k++)
    if (k != DAMPING || hk_model_springs(w->model).damping) out[count++] = (Change){.what = k};
  for (int k = 0; k < w->model->force_count + w->model->motion_count; k++) {
    bool force = k < w->model->force_count;
    int index = force ? k : k - w->model->force_count;
    const HkMethod *method =
        force ? hk_derivatives_force(d, index) : hk_derivatives_motion(d, index);
    const HkMethod *given =
        force ? &w->model->forces[index].method : &w->model->motions[index].method;
    for (int p = 0; method && p < method->schema->param_count; p++) {
      const HkParam *param = &method->schema->params[p];
      Change c = {.what = force ? FORCE : MOTION, .method = index, .param = param};
      int64_t entries = param->kind == HK_PARAM_NUMBER ? 1 : param->kind == HK_PARAM_VECTOR ? 3 : 0;
      if (param->kind == HK_PARAM_TABLE)
        entries =
            param->columns *
            ((const HkTable *)(const void *)((const char *)method->params + param->offset))->rows;
      for (c.entry = 0; c.entry < entries && count < most; c.entry++)
        if (!isnan(*number_of(&c, method)) && !isnan(*number_of(&c, given))) out[count++] = c;
    }
  }
  return count;
}

/* The loss of a motion after a change. */
static double moved_loss(const GradientCase *scene, const char *integrator, const Change *c,
                         double step) {
  World w = gradient_world(scene, integrator);
  HkError error = {0};
  double loss = 0;
  if (!w.state) return NAN;
  bool changed = change(scene, &w, c, step, &error) >= 0;
  if (!changed) test_fail(names[c->what], 0, "%s", error.text);
  for (int64_t k = 1; k <= steps_of(scene) && changed; k++) {
    if (hk_sim_step(w.sim, w.state, &error) != HK_OK)
      test_fail(integrator, (int)k, "%s", error.text);
    loss += gradient_loss(scene, w.state, k);
  }
  world_destroy(&w);
  return loss;
}

static double central(const GradientCase *scene, const char *integrator, const Change *c,
                      double step) {
  return (moved_loss(scene, integrator, c, step) - moved_loss(scene, integrator, c, -step)) /
         (2 * step);
}

/* Richardson's extrapolation of two central differences: the error is of fourth order. */
static double difference(const GradientCase *scene, const char *integrator, const Change *c) {
  const double step = 2e-5;
  return (4 * central(scene, integrator, c, step / 2) - central(scene, integrator, c, step)) / 3;
}

void gradient_check(const GradientCase *scene, const char *integrator) {
  enum { MOST = 200 };
  Change changes[MOST];
  World w = gradient_world(scene, integrator);
  HkTape *tape = NULL;
  HkDerivatives *d = NULL;
  HkAdjointInfo info;
  if (!w.state) return;
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, steps_of(scene), error));
  MUST(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(scene), d, &info, error));
  int count = list_changes(&w, d, changes, MOST);
  for (int k = 0; k < count; k++) {
    if (scene->only && !strstr(scene->only, names[changes[k].what])) continue;
    double exact = difference(scene, integrator, &changes[k]),
           found = along(scene, &w, &changes[k], d);
    double off = fabs(found - exact) / (fabs(exact) + 1e-3 * length_of(scene, &changes[k]));
    if (!(off <= (scene->tolerance > 0 ? scene->tolerance : 1e-6)))
      test_fail(scene->name, 0, "%s: %s%d %s[%lld]: %.12g, differences give %.12g (off by %.2g)",
                integrator, names[changes[k].what], changes[k].method,
                changes[k].param ? changes[k].param->name : "", (long long)changes[k].entry, found,
                exact, off);
  }
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

/* ---- Both directions ---- */

/* A random direction of everything that has a derivative in `known`. */
static void draw(const World *w, HkDerivatives *known, HkDerivatives *d, uint64_t salt) {
  HkDerivativeArrays a = hk_derivatives_arrays(d);
  int64_t n = hk_state_vertex_count(w->state), springs = w->model->springs.count;
  double *arrays[] = {a.x, a.v, a.mass, a.k, a.l0, a.damping, a.places};
  int64_t counts[] = {3 * n, 3 * n, n, springs, springs, springs, 3 * w->model->pin_count};
  const double sizes[] = {1, 1, 0.05, 30, 0.3, 0.2, 1};
  for (int k = 0; k < 7; k++)
    for (int64_t q = 0; q < counts[k]; q++)
      if (!isnan(arrays[k][q])) arrays[k][q] = sizes[k] * gradient_weight(q, salt + (uint64_t)k);
  Change numbers[200];
  int count = list_changes(w, known, numbers, 200);
  for (int k = 0; k < count; k++) {
    if (numbers[k].what < FORCE) continue;
    const HkMethod *method = numbers[k].what == FORCE ? hk_derivatives_force(d, numbers[k].method)
                                                      : hk_derivatives_motion(d, numbers[k].method);
    *number_of(&numbers[k], method) = gradient_weight(k, salt + 10);
  }
}

/* The sum of products of all derivatives but those of x and v, which are x and v here. */
static double product(const World *w, HkDerivatives *p, HkDerivatives *q, const double *x,
                      const double *v) {
  HkDerivativeArrays a = hk_derivatives_arrays(p), b = hk_derivatives_arrays(q);
  int64_t n = hk_state_vertex_count(w->state), springs = w->model->springs.count;
  const double *left[] = {x, v, a.mass, a.k, a.l0, a.damping, a.places};
  const double *right[] = {b.x, b.v, b.mass, b.k, b.l0, b.damping, b.places};
  int64_t counts[] = {3 * n, 3 * n, n, springs, springs, springs, 3 * w->model->pin_count};
  double sum = 0;
  for (int k = 0; k < 7; k++)
    for (int64_t e = 0; e < counts[k]; e++)
      if (!isnan(left[k][e])) sum += left[k][e] * right[k][e];
  Change numbers[200];
  int count = list_changes(w, q, numbers, 200);
  for (int k = 0; k < count; k++) {
    bool force = numbers[k].what == FORCE;
    if (numbers[k].what < FORCE) continue;
    sum += *number_of(&numbers[k], force ? hk_derivatives_force(p, numbers[k].method)
                                         : hk_derivatives_motion(p, numbers[k].method)) *
           *number_of(&numbers[k], force ? hk_derivatives_force(q, numbers[k].method)
                                         : hk_derivatives_motion(q, numbers[k].method));
  }
  return sum;
}

static void add_weights(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  if (step != steps_of(*(const GradientCase **)user)) return;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(state); c++) {
    dx[c] += gradient_weight(c, 51);
    dv[c] += gradient_weight(c, 52);
  }
}

void gradient_check_transpose(const GradientCase *scene, const char *integrator) {
  World w = gradient_world(scene, integrator);
  HkTape *tape = NULL;
  HkDerivatives *p = NULL, *q = NULL;
  if (!w.state) return;
  int64_t count = 3 * hk_state_vertex_count(w.state);
  MUST(hk_derivatives_create(w.model, &p, error));
  MUST(hk_derivatives_create(w.model, &q, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, steps_of(scene), error));
  MUST(hk_tape_backward(tape, add_weights, GRADIENT_USER(scene), q, NULL, error));
  draw(&w, q, p, 20);
  double *x = calloc((size_t)count, sizeof *x), *v = calloc((size_t)count, sizeof *v);
  memcpy(x, hk_derivatives_arrays(p).x, (size_t)count * sizeof *x);
  memcpy(v, hk_derivatives_arrays(p).v, (size_t)count * sizeof *v);
  MUST(hk_tape_tangent(tape, NULL, NULL, p, NULL, error));
  double forward = 0, back = product(&w, p, q, x, v);
  for (int64_t c = 0; c < count; c++)
    forward += gradient_weight(c, 51) * hk_derivatives_arrays(p).x[c] +
               gradient_weight(c, 52) * hk_derivatives_arrays(p).v[c];
  double off = fabs(forward - back) / fmax(fabs(forward), 1);
  if (!(off <= 1e-12))
    test_fail(scene->name, 0, "%s: <u, J p> = %.17g, <J^T u, p> = %.17g (off by %.2g)", integrator,
              forward, back, off);
  free(x);
  free(v);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&p);
  hk_derivatives_destroy(&q);
  world_destroy(&w);
}
