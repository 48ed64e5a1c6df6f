/* The force of contact: against differences, rest on the ground, momentum, and no crossing. */
#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/crossing.h"
#include "model_by_hand.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two sheets, a ball and a ground, all within reach of each other. */
static const char crowded[] =
    "{'bodies': ["
    "{'name': 'a', 'shape': {'type': 'grid', 'nx': 4, 'ny': 4, 'width': 0.3, 'height': 0.3},"
    " 'transform': {'axis': [1, 0, 0], 'angle': -90, 'translate': [0, 0.03, 0]},"
    " 'springs': {'k': 100, 'shear': true}, 'mass': 0.1},"
    "{'name': 'b', 'shape': {'type': 'grid', 'nx': 4, 'ny': 4, 'width': 0.3, 'height': 0.3},"
    " 'transform': {'axis': [1, 0.1, 0], 'angle': -93, 'translate': [0.02, 0.07, 0.03]},"
    " 'springs': {'k': 100, 'shear': true}, 'mass': 0.1}],"
    "'obstacles': [{'type': 'ball', 'center': [0.1, 0.19, -0.1], 'radius': 0.1},"
    "{'type': 'box', 'center': [0.28, 0.16, -0.25], 'size': [0.1, 0.1, 0.1], 'angle': 30}],"
    "'forces': ['gravity', {'type': 'contact', 'distance': 0.05, 'thickness': 0.002, 'ground': "
    "true}],"
    "'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 100},"
    "'integrator': {'type': 'backward_euler', 'minimizer': 'newton'}}";

enum { CONTACT = 2 }; /* springs, gravity, contact */

static HkForceArgs contact_args(const World *w, const double *x) {
  return hk_force_args(w->model, CONTACT, &w->sim->work, 0, x, NULL);
}

static void begin(const World *w, const double *x) {
  HkForceArgs a = contact_args(w, x);
  MUST(w->model->forces[CONTACT].type->begin_step(&a, 0.01, error));
}

typedef struct Dense {
  HkJacobianSink sink;
  double *H;
  int64_t size;
} Dense;

static void add_dense(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  Dense *d = (Dense *)sink;
  for (int q = 0; q < 9; q++) d->H[(3 * i + q / 3) * d->size + 3 * j + q % 3] -= B[q];
}

TEST(force_and_hessian_are_those_of_differences) {
  const double STEP = 1e-7;
  World w = world_parse(crowded);
  const HkForceType *type = w.model->forces[CONTACT].type;
  int64_t n = w.model->n, size = 3 * n;
  double *x = malloc((size_t)size * sizeof *x), *up = malloc((size_t)size * sizeof *x);
  double *f = calloc((size_t)size, sizeof *x), *g = calloc((size_t)size, sizeof *x);
  Dense dense = {{.dfdx = add_dense, .dfdv = hk_jacobian_skip},
                 calloc((size_t)(size * size), sizeof *x),
                 size};
  uint64_t seed = 3;
  for (int64_t c = 0; c < size; c++) x[c] = w.model->x0[c] + 0.004 * test_random(&seed);
  begin(&w, x);
  HkForceArgs a = contact_args(&w, x);
  const HkContacts *contacts = a.state;
  type->add(&a, f);
  const HkTouchings *found = &contacts->touchings[contacts->last];
  CHECK(found->pair_count > 20 && found->wall_count > 5);
  type->jacobian(&a, &dense.sink);
  double worst = 0, worst_H = 0, largest = 0, largest_H = 0;
  for (int64_t c = 0; c < size; c++) {
    memcpy(up, x, (size_t)size * sizeof *x);
    HkForceArgs b = contact_args(&w, up);
    up[c] = x[c] + STEP;
    double plus = type->energy(&b);
    memset(g, 0, (size_t)size * sizeof *g);
    type->add(&b, g);
    up[c] = x[c] - STEP;
    double minus = type->energy(&b);
    double *h = calloc((size_t)size, sizeof *h);
    type->add(&b, h);
    worst = fmax(worst, fabs((plus - minus) / (2 * STEP) + f[c]));
    largest = fmax(largest, fabs(f[c]));
    for (int64_t r = 0; r < size; r++) {
      double expected = -(g[r] - h[r]) / (2 * STEP);
      worst_H = fmax(worst_H, fabs(expected - dense.H[r * size + c]));
      largest_H = fmax(largest_H, fabs(expected));
    }
    free(h);
  }
  CHECK(largest > 1);
  CHECK_NEAR(worst, 0, 1e-6 * largest);
  CHECK_NEAR(worst_H, 0, 1e-4 * largest_H);
  free(x);
  free(up);
  free(f);
  free(g);
  free(dense.H);
  world_destroy(&w);
}

TEST(energy_changes_are_accurate_where_positions_are_close) {
  World w = world_parse(crowded);
  const HkForceType *type = w.model->forces[CONTACT].type;
  int64_t size = 3 * w.model->n;
  double *x = malloc((size_t)size * sizeof *x), *to = malloc((size_t)size * sizeof *x);
  double *f = calloc((size_t)size, sizeof *x);
  uint64_t seed = 4;
  for (int64_t c = 0; c < size; c++) x[c] = w.model->x0[c] + 0.004 * test_random(&seed);
  begin(&w, x);
  HkForceArgs a = contact_args(&w, x);
  type->add(&a, f);
  for (double length = 1e-3; length > 1e-12; length *= 0.1) {
    double slope = 0, change;
    for (int64_t c = 0; c < size; c++) {
      double p = length * test_random(&seed);
      to[c] = x[c] + p;
      slope -= f[c] * (to[c] - x[c]);
    }
    change = type->energy_change(&a, to);
    HkForceArgs b = contact_args(&w, to);
    CHECK_NEAR(type->energy_change(&b, x), -change, 1e-9 * fabs(change));
    CHECK_NEAR(change, slope, 5e5 * length * length + 1e-7 * fabs(slope));
    CHECK_NEAR(change, type->energy(&b) - type->energy(&a), 1e-12 * type->energy(&a));
  }
  free(x);
  free(to);
  free(f);
  world_destroy(&w);
}

/* ---- Steps ---- */

#define SHEET(name, count, size, height, more)                                                     \
  "{'name': '" name "', 'shape': {'type': 'grid', 'nx': " count ", 'ny': " count                   \
  ", 'width': " size ", 'height': " size ", 'centered': true},"                                    \
  " 'transform': {'axis': [1, 0, 0], 'angle': -90, 'translate': [0.011, " height ", 0.007]},"      \
  " 'springs': {'EA': 4, 'shear': true, 'EA_shear': 1.5, 'bending': true, 'EA_bending': 0.1},"     \
  " 'mass': {'area_density': 0.2}" more "}"
#define TIME "'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 100}"
#define EULER(more)                                                                                \
  "'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton'" more "}}"

static HkContacts *contacts_of(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->filter) return w->sim->work.states[f].state;
  return NULL;
}

/* Steps; after each there is no crossing and no closed gap. Returns how many converged. */
static int step_and_judge(World *w, int count) {
  HkContacts *c = contacts_of(w);
  int converged = 0;
  for (int k = 0; k < count; k++) {
    HkError error = {0};
    HkStatus status = hk_sim_step(w->sim, w->state, &error);
    if (status < 0) printf("    %s\n", error.text);
    CHECK(status >= 0);
    if (status < 0) return converged;
    const double *x = hk_state_positions(w->state);
    CHECK(hk_contacts_crossings(c, x, NULL, 0) == 0);
    const HkTouchings *t = hk_contacts_find(c, w->sim->work.springs, x);
    double least = 1;
    for (int64_t q = 0; q < t->pair_count; q++) least = fmin(least, t->pair[q].touch.g);
    for (int64_t q = 0; q < t->wall_count; q++) least = fmin(least, t->wall[q].g);
    CHECK(least > 0);
    converged += status == HK_OK;
  }
  return converged;
}

TEST(a_mass_rests_where_the_barrier_holds_its_weight) {
  const double H = 0.01, GHAT = 1e-3;
  World w = world_parse("{'bodies': [" SHEET(
      "sheet", "2", "0.1", "0.01",
      "") "],"
          "'forces': ['gravity', {'type': 'contact', 'ground': true}]," TIME "," EULER("") "}");
  CHECK(step_and_judge(&w, 100) == 100);
  const double *x = hk_state_positions(w.state), *v = hk_state_velocities(w.state);
  for (int64_t i = 0; i < w.model->n; i++) {
    double m = w.model->mass[i], k = 10 * m / (H * H), g = x[3 * i + 1] - 0.5e-3;
    CHECK_NEAR(-k * GHAT * hk_barrier_slope(g / GHAT), 9.81 * m, 1e-6 * 9.81 * m);
    CHECK(v[3 * i + 1] == 0);
  }
  CHECK(hk_sim_step_info(w.sim).iterations == 0); /* what rests stays as it is */
  world_destroy(&w);
}

static const char flight[] = "{'bodies': [" SHEET("lower", "8", "0.4", "0", "") "," SHEET(
    "upper", "7", "0.4", "0.03",
    ", 'velocity': [0.1, -2, 0.05]") "],'forces': ['contact']," TIME
                                     "," EULER(", 'tolerance': 1e-12") "}";

TEST(sheets_that_collide_in_free_flight_keep_their_momentum_and_gain_no_energy) {
  World w = world_parse(flight);
  HkStateInfo first = world_info(&w);
  double before = first.total;
  bool touched = false;
  for (int k = 0; k < 30; k++) {
    step_and_judge(&w, 1);
    HkStateInfo now = world_info(&w);
    double energy = now.total;
    CHECK(energy <= before + 1e-12 * first.kinetic);
    for (int c = 0; c < 3; c++)
      CHECK_NEAR(now.momentum[c], first.momentum[c], 1e-10 * fabs(first.momentum[1]));
    before = energy;
    const HkContacts *contacts = contacts_of(&w);
    touched |= contacts->touchings[contacts->last].pair_count > 0;
  }
  CHECK(touched);
  world_destroy(&w);
}

static const char on_ball[] =
    "{'bodies': [" SHEET("cloth", "13", "0.8", "0.305",
                         "") "],"
                             "'obstacles': [{'type': 'ball', 'center': [0, 0, 0], 'radius': 0.3}],"
                             "'forces': ['gravity', 'contact']," TIME
                             "," EULER(", 'tolerance': 1e-4") "}";

TEST(cloth_falls_over_a_ball_without_a_crossing) {
  World w = world_parse(on_ball);
  CHECK(step_and_judge(&w, 60) >= 59);
  CHECK(contacts_of(&w)->touchings[0].pair_count > 20);
  world_destroy(&w);
}

TEST(every_minimizer_and_implicit_integrator_has_no_crossing) {
  static const char vbd[] = "{'type': 'backward_euler', 'minimizer': {'type':"
                            " 'vertex_block_descent', 'tolerance': 1e-3}}";
  static const char pcg[] =
      "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'tolerance':"
      " 1e-4, 'linear': {'type': 'pcg', 'preconditioner': 'multigrid'}}}";
  const char *const names[] = {
      "{'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'tolerance': 1e-3}}",
      "{'type': 'backward_euler', 'minimizer': {'type': 'lbfgs', 'tolerance': 1e-3}}",
      "{'type': 'backward_euler', 'minimizer': {'type': 'gradient_descent', 'tolerance': 1e-2}}",
      "{'type': 'backward_euler', 'minimizer': {'type': 'jacobi', 'tolerance': 1e-3}}",
      vbd,
      pcg,
      "'bdf2'",
      "'trapezoidal'",
      "'implicit_midpoint'",
      "'linear_implicit_euler'",
  };
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    char text[2048];
    snprintf(text, sizeof text,
             "{'bodies': [%s],'obstacles': [{'type': 'ball', 'center': [0, 0, 0], 'radius': 0.3}],"
             "'forces': ['gravity', {'type': 'contact', 'ground': true, 'height': -0.2}], %s,"
             "'integrator': %s}",
             SHEET("cloth", "9", "0.8", "0.302", ""), TIME, names[k]);
    World w = world_parse(text);
    step_and_judge(&w, 25);
    world_destroy(&w);
  }
}

static const char squeezed[] = "{'bodies': [" SHEET(
    "cloth", "13", "0.8", "0",
    "") "],"
        "'obstacles': ["
        "{'type': 'ball', 'name': 'lower', 'center': [0, -0.16, 0], 'radius': 0.15,"
        " 'motion': {'type': 'keyframes', 'table': [[0, 0, 0, 0], [0.2, 0, 0.3, 0]]}},"
        "{'type': 'ball', 'name': 'upper', 'center': [0.02, 0.5, 0.01], 'radius': 0.15,"
        " 'motion': {'type': 'rotation', 'axis': [0, 0, 1], 'center': [0.5, 0.3, 0], 'speed': "
        "20}}],"
        "'pins': [{'select': {'lowest': {'axis': 'x'}}}],"
        "'forces': ['gravity', 'contact']," TIME "," EULER(", 'tolerance': 1e-4") "}";

TEST(cloth_is_moved_by_obstacles_without_a_crossing) {
  World w = world_parse(squeezed);
  CHECK(step_and_judge(&w, 30) >= 29);
  world_destroy(&w);
}

/* ---- The same bits ---- */

TEST(steps_are_the_same_with_any_number_of_threads_and_of_a_new_simulation) {
  World one = world_make(on_ball, NULL, 0.01, 1), three = world_make(on_ball, NULL, 0.01, 3);
  size_t bytes = 3 * (size_t)one.model->n * sizeof(double);
  for (int k = 0; k < 30; k++) {
    step_and_judge(&one, 1);
    step_and_judge(&three, 1);
    if (k % 7 != 3) continue;
    hk_sim_destroy(&three.sim); /* as a run that is resumed */
    MUST(hk_sim_create(three.model, NULL, 0.01, &three.sim, error));
  }
  CHECK(memcmp(hk_state_positions(one.state), hk_state_positions(three.state), bytes) == 0);
  CHECK(memcmp(hk_state_velocities(one.state), hk_state_velocities(three.state), bytes) == 0);
  world_destroy(&one);
  world_destroy(&three);
}

/* ---- What cannot be ---- */

static void expect_error(const char *text, const char *words) {
  World w = world_parse(text);
  HkError error = {0};
  HkStatus status = HK_OK;
  for (int k = 0; k < 200 && status >= 0; k++) status = hk_sim_step(w.sim, w.state, &error);
  CHECK(status < 0);
  if (!strstr(error.text, words)) printf("    %s\n", error.text);
  CHECK(strstr(error.text, words) != NULL);
  world_destroy(&w);
}

TEST(input_that_intersects_is_refused_with_its_places) {
  expect_error("{'bodies': [" SHEET("one", "3", "0.4", "0", "") "," SHEET(
                   "two", "2", "0.3", "0", "") "],"
                                               "'forces': ['contact']," TIME "," EULER("") "}",
               "'one' at vertex");
  expect_error("{'bodies': [" SHEET("low", "3", "0.4", "-0.1",
                                    "") "],"
                                        "'forces': [{'type': 'contact', 'ground': true}]," TIME
                                        "," EULER("") "}",
               "'low' at vertex 0 and 'the ground' (too near by 0.1");
}

TEST(a_pin_that_forces_an_intersection_is_an_error_that_names_it) {
  expect_error("{'bodies': [" SHEET(
                   "cloth", "5", "0.4", "0.1",
                   "") "],"
                       "'pins': [{'select': 'all', 'motion': {'type': 'keyframes',"
                       " 'table': [[0, 0, 0, 0], [1, 0, -1, 0]]}}],"
                       "'obstacles': [{'type': 'box', 'name': 'table', 'size': [1, 0.1, 1]}],"
                       "'forces': ['contact']," TIME "," EULER("") "}",
               "'table'");
}

TEST(gaps_that_coordinates_do_not_resolve_are_refused) {
  HkError refused = {0};
  World w = world_parse(on_ball);
  HkMethod contact = {0};
  MUST(hk_method_choose(&contact, HK_FORCE, "contact", error));
  MUST(hk_method_set_number(&contact, "distance", 1e-10, error));
  CHECK(hk_model_add_force(w.model, &contact, NULL, &refused) == HK_ERROR_INVALID);
  CHECK(strstr(refused.text, "too small for coordinates") != NULL);
  hk_method_clear(&contact);
  world_destroy(&w);
}
