/* Random scenes: they are written and read, compiled, stepped, copied and solved, or refused in
 * words. */
#include "random_scene.h"

#include <float.h>

enum { STEPS = 4, MIDDLE = 2 };

/* A scene on its way to a motion; members are NULL from where an error ended it. */
typedef struct Trip {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
  int64_t calls; /* of the callback that may cancel a step */
} Trip;

/* Adaptive steps of an unstable method may have millions of parts: they are cancelled. */
static bool is_too_long(void *user) {
  enum { CALLS_MAX = 20000 };
  return ++*(int64_t *)user > CALLS_MAX;
}

static void trip_destroy(Trip *t) {
  hk_state_destroy(&t->state);
  hk_sim_destroy(&t->sim);
  hk_model_destroy(&t->model);
  hk_scene_destroy(&t->scene);
}

static HkStatus trip_begin(const char *text, int threads, Trip *t, HkError *error) {
  HkContext context = hk_context_default();
  context.threads = threads;
  *t = (Trip){0};
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), "random", NULL, NULL, 0, &t->scene, error);
  if (status >= 0) status = hk_model_compile(t->scene, &t->model, error);
  if (status >= 0) status = hk_sim_create(t->model, NULL, 0, &t->sim, error);
  if (status >= 0) status = hk_state_create(t->model, &t->state, error);
  if (status >= 0) hk_sim_set_cancel(t->sim, is_too_long, &t->calls);
  return status;
}

/* Whether an error says what is wrong: the status of the call, and a sentence. */
static void check_error(Draw *draw, HkStatus status, const HkError *error) {
  bool is_of_input = status == HK_ERROR_INVALID || status == HK_ERROR_FORMAT ||
                     status == HK_ERROR_UNSUPPORTED || status == HK_ERROR_BLOWUP ||
                     status == HK_ERROR_CANCELLED;
  if (!is_of_input || error->status != status || strlen(error->text) < 10)
    draw_fail(draw, "status %s, error %s \"%s\"", hk_status_name(status),
              hk_status_name(error->status), error->text);
}

static size_t bytes_of(const HkState *state) {
  return (size_t)hk_state_vertex_count(state) * 3 * sizeof(double);
}

static bool same_state(HkState *a, HkState *b) {
  return memcmp(hk_state_x(a), hk_state_x(b), bytes_of(a)) == 0 &&
         memcmp(hk_state_v(a), hk_state_v(b), bytes_of(a)) == 0 &&
         hk_state_time(a) == hk_state_time(b);
}

/* ---- Text ---- */

static void scenes_are_written_as_they_are_read(Draw *draw) {
  HkScene *scene = NULL, *again = NULL;
  char *first = NULL, *second = NULL;
  HkError error = {0};
  draw_scene(draw, &(RandomSceneOptions){0});
  const char *text = draw_text(draw);
  HkStatus status =
      hk_scene_parse(NULL, text, strlen(text), "random", NULL, NULL, 0, &scene, &error);
  if (status >= 0) {
    status = hk_scene_format(scene, &first, &error);
    if (status >= 0)
      status = hk_scene_parse(NULL, first, strlen(first), "written", NULL, NULL, 0, &again, &error);
    if (status >= 0) status = hk_scene_format(again, &second, &error);
    if (status < 0)
      draw_fail(draw, "what was read is not written or read back: %s", error.text);
    else if (strcmp(first, second) != 0)
      draw_fail(draw, "written as\n%s\nand then as\n%s", first, second);
  } else
    check_error(draw, status, &error);
  hk_text_destroy(&first);
  hk_text_destroy(&second);
  hk_scene_destroy(&scene);
  hk_scene_destroy(&again);
}

TEST(random_scenes_are_written_as_they_are_read) {
  property_check(scenes_are_written_as_they_are_read, 2000);
}

/* ---- Steps ---- */

static int stepped_cases, cases_seen;

static void check_finite(Draw *draw, HkState *state) {
  const double *x = hk_state_x(state), *v = hk_state_v(state);
  for (int64_t q = 0; q < 3 * hk_state_vertex_count(state); q++)
    if (!isfinite(x[q]) || !isfinite(v[q])) {
      draw_fail(draw, "number %d of the state is not finite after a good step", (int)q);
      return;
    }
}

/* One step whose status agrees with what it left. */
static HkStatus checked_step(Draw *draw, Trip *t) {
  HkError error = {0};
  HkStatus status = hk_sim_step(t->sim, t->state, &error);
  HkStop reason = hk_sim_step_info(t->sim).reason;
  if (status < 0)
    check_error(draw, status, &error);
  else
    check_finite(draw, t->state);
  if (status == HK_OK && reason >= HK_STOP_ITERATIONS)
    draw_fail(draw, "HK_OK with reason %s", hk_stop_name(reason));
  bool is_adaptive = !isnan(t->scene->time.tolerance); /* has another tolerance to miss */
  if (status == HK_NOT_CONVERGED && reason < HK_STOP_ITERATIONS && !is_adaptive)
    draw_fail(draw, "HK_NOT_CONVERGED with reason %s", hk_stop_name(reason));
  return status;
}

static void steps_are_finite_or_refused(Draw *draw) {
  Trip t;
  HkError error = {0};
  draw_scene(draw, &(RandomSceneOptions){0});
  HkStatus status = trip_begin(draw_text(draw), 1, &t, &error);
  cases_seen++;
  stepped_cases += status >= 0;
  if (status < 0) check_error(draw, status, &error);
  for (int q = 0; q < STEPS && status >= 0; q++) status = checked_step(draw, &t);
  trip_destroy(&t);
}

TEST(random_scenes_step_to_finite_numbers_or_are_refused_in_words) {
  stepped_cases = cases_seen = 0;
  property_check(steps_are_finite_or_refused, 300);
  CHECK(3 * stepped_cases >= cases_seen); /* else the generator tests only errors */
}

static void threads_do_not_change_bits(Draw *draw) {
  Trip a, b;
  HkError error = {0}, other = {0};
  draw_scene(draw, &(RandomSceneOptions){0});
  HkStatus status = trip_begin(draw_text(draw), 1, &a, &error);
  HkStatus also = trip_begin(draw_text(draw), 3, &b, &other);
  for (int q = 0; q < STEPS && status >= 0 && also >= 0; q++) {
    status = hk_sim_step(a.sim, a.state, &error);
    also = hk_sim_step(b.sim, b.state, &other);
    if (!same_state(a.state, b.state)) draw_fail(draw, "step %d: 1 and 3 threads differ", q);
  }
  if (status != also || strcmp(error.text, other.text) != 0)
    draw_fail(draw, "1 thread: %s \"%s\", 3 threads: %s \"%s\"", hk_status_name(status), error.text,
              hk_status_name(also), other.text);
  trip_destroy(&a);
  trip_destroy(&b);
}

TEST(random_scenes_move_alike_with_1_and_3_threads) {
  property_check(threads_do_not_change_bits, 100);
}

/* ---- States ---- */

/* A new simulation goes on from a copy: by hk_state_copy, or by bytes. */
static HkStatus resume(Draw *draw, const Trip *t, HkSim **sim, HkState **state, HkError *error) {
  HkStatus status = hk_sim_create(t->model, NULL, 0, sim, error);
  if (status < 0) return status;
  if (draw_chance(draw, 50)) {
    status = hk_state_create(t->model, state, error);
    return status < 0 ? status : hk_state_copy(t->state, *state, error);
  }
  size_t size = hk_state_packed_size(t->state);
  char *bytes = malloc(size);
  if (!bytes) return HK_ERROR_MEMORY;
  hk_state_pack(t->state, bytes);
  status = hk_state_from_bytes(NULL, bytes, size, state, error);
  free(bytes);
  return status;
}

static void copies_go_on_with_the_same_bits(Draw *draw) {
  Trip t;
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkError error = {0}, other = {0};
  draw_scene(draw, &(RandomSceneOptions){0});
  HkStatus status = trip_begin(draw_text(draw), 1, &t, &error), also = HK_OK;
  for (int q = 0; q < MIDDLE && status >= 0; q++) status = hk_sim_step(t.sim, t.state, &error);
  if (status >= 0) {
    also = resume(draw, &t, &sim, &state, &other);
    if (also < 0) draw_fail(draw, "the copy: %s", other.text);
  }
  for (int q = MIDDLE; q < STEPS && status >= 0 && also >= 0; q++) {
    status = hk_sim_step(t.sim, t.state, &error);
    if (status == HK_ERROR_CANCELLED) break;
    also = hk_sim_step(sim, state, &other);
    if (status == HK_ERROR_BLOWUP || also == HK_ERROR_BLOWUP) break; /* bounds of simulations */
    if (status != also) draw_fail(draw, "step %d: status %d and %d", q, status, also);
    if (!same_state(t.state, state)) draw_fail(draw, "step %d of the copy differs", q);
  }
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  trip_destroy(&t);
}

TEST(random_scenes_go_on_from_copies_of_states) {
  property_check(copies_go_on_with_the_same_bits, 150);
}

/* ---- Converged steps ----
 *
 * By definition (docs/theory.md, 6): |M^-1 dg/dx|_M <= tolerance |x - x_n|_M over the free
 * vertices, with dg/dx = M (x - y) + h^2 dE/dx and y = x_n + h v_n for backward Euler.
 */

typedef struct Norms {
  double residual, moved, rounding; /* kg^(1/2) m */
} Norms;

static double handle_stiffness(const HkModel *model) {
  double sum = 0;
  for (int f = 0; f < hk_model_force_count(model); f++) {
    const HkMethod *force = hk_model_force(model, f);
    if (strcmp(force->schema->name, "handle") != 0) continue;
    for (int p = 0; p < force->schema->param_count; p++) {
      const HkParam *param = &force->schema->params[p];
      double k;
      if (strcmp(param->name, "k") != 0) continue;
      memcpy(&k, (const char *)force->params + param->offset, sizeof k);
      sum += k;
    }
  }
  return sum;
}

static Norms norms_of(const Trip *t, const double *x_n, const double *y) {
  const double h = hk_sim_h(t->sim), *x = hk_state_x(t->state), *mass = hk_model_masses(t->model);
  int64_t n = hk_state_vertex_count(t->state), pinned;
  int dimension = hk_model_info(t->model).dimension;
  HkSpringView s = hk_model_springs(t->model);
  const int32_t *pins = hk_model_pins(t->model, &pinned);
  double *gradient = calloc((size_t)n * 3, sizeof *gradient), furthest = 0;
  double *stiffness = calloc((size_t)n, sizeof *stiffness);
  if (!gradient || !stiffness) abort();
  Norms norms = {0};
  hk_sim_energy_gradient(t->sim, t->state, gradient);
  for (int64_t i = 0; i < n; i++) stiffness[i] = handle_stiffness(t->model);
  for (int64_t e = 0; e < s.count; e++) {
    stiffness[s.i[e]] += s.k[e];
    stiffness[s.j[e]] += s.k[e];
  }
  /* The coordinates of a step are those of x_n, y and x. */
  for (int64_t q = 0; q < 3 * n; q++)
    furthest = fmax(furthest, fmax(fabs(x[q]), fmax(fabs(x_n[q]), fabs(y[q]))));
  for (int64_t i = 0, p = 0; i < n; i++) {
    if (p < pinned && pins[p] == i) {
      p++;
      continue;
    }
    for (int64_t q = 3 * i; q < 3 * i + dimension; q++) {
      double r = mass[i] * (x[q] - y[q]) + h * h * gradient[q], d = x[q] - x_n[q];
      norms.residual += r * r / mass[i];
      norms.moved += mass[i] * d * d;
    }
    double d = mass[i] + h * h * stiffness[i];
    norms.rounding += d * d / mass[i];
  }
  free(gradient);
  free(stiffness);
  return (Norms){sqrt(norms.residual), sqrt(norms.moved),
                 8 * DBL_EPSILON * furthest * sqrt(norms.rounding)};
}

static double tolerance_of(const HkMethod *step) {
  for (int q = 0; q < step->schema->param_count; q++) {
    const HkParam *p = &step->schema->params[q];
    const void *value = (const char *)step->params + p->offset;
    if (p->kind == HK_PARAM_METHOD) return tolerance_of(value);
    if (strcmp(p->name, "tolerance") == 0) return *(const double *)value;
  }
  return NAN;
}

static int converged_steps;

static void converged_steps_meet_the_tolerance(Draw *draw) {
  Trip t;
  HkError error = {0};
  const RandomSceneOptions options = {
      .live = true, .fixed_step = true, .conservative = true, .integrator = "backward_euler"};
  draw_scene(draw, &options);
  HkStatus status = trip_begin(draw_text(draw), 1, &t, &error);
  size_t count = status >= 0 ? 3 * (size_t)hk_state_vertex_count(t.state) : 1;
  double *x_n = calloc(count, sizeof *x_n), *y = calloc(count, sizeof *y);
  if (!x_n || !y) abort();
  for (int q = 0; q < STEPS && status >= 0; q++) {
    size_t bytes = bytes_of(t.state);
    const double *x = hk_state_x(t.state), *v = hk_state_v(t.state), h = hk_sim_h(t.sim);
    memcpy(x_n, x, bytes);
    for (size_t c = 0; c < bytes / sizeof *y; c++) y[c] = x[c] + h * v[c];
    status = hk_sim_step(t.sim, t.state, &error);
    HkStop reason = hk_sim_step_info(t.sim).reason;
    if (status < 0 || reason > HK_STOP_STATIONARY) continue;
    converged_steps++;
    Norms norms = norms_of(&t, x_n, y);
    double tolerance = reason == HK_STOP_ROUNDING ? 0 : tolerance_of(hk_sim_method(t.sim));
    if (!(norms.residual <= tolerance * norms.moved * (1 + 1e-6) + norms.rounding))
      draw_fail(draw, "step %d is %s, but residual %g > %g x motion %g + rounding %g", q,
                hk_stop_name(reason), norms.residual, tolerance, norms.moved, norms.rounding);
  }
  free(x_n);
  free(y);
  trip_destroy(&t);
}

TEST(steps_of_random_scenes_that_say_converged_meet_the_tolerance) {
  converged_steps = 0;
  property_check(converged_steps_meet_the_tolerance, 1000);
  CHECK(converged_steps > 0);
}
