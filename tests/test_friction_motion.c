/* What friction does to motions: inclines, stopping distances, momentum, energy, belts, stick and
 * slip, and the same bits from saved states. friction_worlds.h has the sheet on an incline. */
#include "base/vec.h"
#include "contact/crossing.h"
#include "contact/friction.h"
#include "friction_worlds.h"
#include "model_by_hand.h"
#include "step/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = 3.14159265358979323846 / 180, G = 9.81;
static const char EULER[] =
    "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': 'ldlt'}}";
static const char BDF2[] = "{'type': 'bdf2', 'minimizer': {'type': 'newton', 'linear': 'ldlt'}}";

static HkContacts *contacts_of(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->filter) return w->sim->work.states[f].state;
  return NULL;
}

static double *copy_of(const World *w) {
  size_t bytes = (size_t)w->model->n * 3 * sizeof(double);
  double *x = malloc(bytes);
  memcpy(x, w->state->x, bytes);
  return x;
}

/* ---- Inclines ---- */

/* Below the critical angle a sheet stays where it is, to the last bit. */
static void check_rest(const InclineCase *c, double settle, double seconds) {
  World w = incline_make(c);
  if (!w.sim) return;
  world_steps(&w, (int64_t)(settle / c->h));
  double *x = copy_of(&w);
  world_steps(&w, (int64_t)(seconds / c->h));
  CHECK(incline_drift(&w, x) == 0);
  CHECK(hk_sim_step_info(w.sim).iterations == 0);
  free(x);
  world_destroy(&w);
}

/* Above it the sheet has the acceleration of the closed form, to a part of that of gravity. */
static void check_slide(const InclineCase *c, double mu, double part) {
  World w = incline_make(c);
  if (!w.sim) return;
  world_steps(&w, (int64_t)(0.3 / c->h));
  double before = incline_speed(&w, c->angle), start = w.state->time;
  world_steps(&w, (int64_t)(0.4 / c->h));
  double a = (incline_speed(&w, c->angle) - before) / (w.state->time - start);
  CHECK_NEAR(a, G * (sin(c->angle * DEGREE) - mu * cos(c->angle * DEGREE)), part * G);
  world_destroy(&w);
}

TEST(sheets_rest_below_the_critical_angle_and_slide_above_it) {
  const double mus[] = {0.1, 0.3, 0.5, 0.8, 1, 1.5};
  for (int q = 0; q < 6; q++) {
    char friction[100];
    double critical = atan(mus[q]) / DEGREE;
    snprintf(friction, sizeof friction, "'friction': %g", mus[q]);
    InclineCase below = {SURFACE_PLANE, critical - 0.05, 0.01, EULER, friction, 0}, above = below;
    above.angle = critical + 0.05;
    check_rest(&below, 1.5, 1);
    check_slide(&above, mus[q], 1e-6);
  }
}

TEST(sheets_rest_and_slide_on_triangles_and_on_another_sheet) {
  const Surface surfaces[] = {SURFACE_MESH, SURFACE_SHEET};
  for (int q = 0; q < 2; q++) {
    double critical = atan(0.5) / DEGREE;
    InclineCase c = {surfaces[q], critical - 0.05, 0.01, EULER, "'friction': 0.5", 0};
    check_rest(&c, 2, 0.5);
    c.angle = critical + 8;
    check_slide(&c, 0.5, 1e-3);
  }
}

/* Edges between triangles of one plane are no bumps: sheets slide as over the plane itself. */
TEST(sheets_slide_and_stop_on_flat_triangles_as_on_a_plane) {
  const double angles[] = {28, 34.565, 41}, speeds[] = {0.73, 0.86, 1, 1.25};
  for (int q = 0; q < 3; q++) {
    InclineCase c = {SURFACE_MESH, angles[q], 0.01, EULER, "'friction': 0.5", 0};
    double exact = sin(c.angle * DEGREE) - 0.5 * cos(c.angle * DEGREE); /* in parts of G */
    check_slide(&c, 0.5, 1e-6 * exact);
  }
  for (int q = 0; q < 4; q++) {
    double distance[2];
    for (int mesh = 0; mesh < 2; mesh++) {
      InclineCase c = {
          mesh ? SURFACE_MESH : SURFACE_PLANE, 0, 0.01, EULER, "'friction': 0.5", speeds[q]};
      World w = incline_make(&c);
      if (!w.sim) return;
      double *x = copy_of(&w);
      world_steps(&w, 40);
      distance[mesh] = incline_travel(&w, 0, x);
      free(x);
      world_destroy(&w);
    }
    double exact = speeds[q] * speeds[q] / (2 * 0.5 * G);
    CHECK_NEAR(distance[1], exact - 0.5 * 0.01 * speeds[q], 1e-3 * exact);
    CHECK_NEAR(distance[1], distance[0], 2e-4 * exact);
  }
}

TEST(what_slides_stops_after_the_distance_of_the_closed_form) {
  InclineCase c = {SURFACE_PLANE, 0, 0.01, EULER, "'friction': 0.5", 1};
  for (int second = 0; second < 2; second++) {
    if (second) c.integrator = BDF2, c.h = 1.0 / 240;
    World w = incline_make(&c);
    if (!w.sim) return;
    double *x = copy_of(&w), exact = 1 / (2 * 0.5 * G), euler = exact - 0.5 * c.h;
    world_steps(&w, (int64_t)(0.4 / c.h));
    double distance = incline_travel(&w, 0, x);
    CHECK_NEAR(distance, second ? exact : euler, (second ? 5e-3 : 1e-3) * exact);
    CHECK_NEAR(incline_speed(&w, 0), 0, 1e-9);
    double mass = 0; /* all of the kinetic energy was dissipated */
    for (int64_t v = 0; v < w.model->n; v++) mass += w.model->mass[v];
    CHECK_NEAR(hk_friction_work(contacts_of(&w)), mass * 0.5 * G * distance, 2e-3 * 0.5 * mass);
    free(x);
    world_destroy(&w);
  }
}

TEST(the_law_of_ipc_creeps_where_anchors_rest) {
  InclineCase c = {SURFACE_PLANE,
                   atan(0.5) / DEGREE - 0.1,
                   0.01,
                   EULER,
                   "'friction': 0.5, 'friction_law': 'ipc'",
                   0};
  World w = incline_make(&c);
  if (!w.sim) return;
  world_steps(&w, 100);
  double speed = incline_speed(&w, c.angle);
  CHECK(speed > 0.5e-3 && speed < 1e-3); /* below friction_speed */
  world_destroy(&w);
  c.angle = 40;
  check_slide(&c, 0.5, 1e-6);
}

/* ---- Momentum and energy ---- */

#define SHEET(name, count, size, height, more)                                                     \
  "{'name': '" name "', 'shape': {'type': 'grid', 'nx': " count ", 'ny': " count                   \
  ", 'width': " size ", 'height': " size ", 'centered': true},"                                    \
  " 'transform': {'axis': [1, 0, 0], 'angle': -90, 'translate': [0.011, " height ", 0.007]},"      \
  " 'springs': {'EA': 4, 'shear': true, 'EA_shear': 1.5, 'bending': true, 'EA_bending': 0.1},"     \
  " 'mass': {'area_density': 0.2}" more "}"
#define TIME "'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 100}"
#define NEWTON(more)                                                                               \
  "'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton'" more "}}"

static const char flight[] = "{'bodies': [" SHEET("lower", "8", "0.4", "0", "") "," SHEET(
    "upper", "7", "0.4", "0.03",
    ", 'velocity': [1, -2, 0.5]") "],'forces': [{'type': 'contact', 'friction': 0.5}]," TIME
                                  "," NEWTON(", 'tolerance': 1e-12") "}";

TEST(friction_between_free_bodies_keeps_the_momentum_and_dissipates_energy) {
  World w = world_parse(flight);
  HkStateInfo first = world_info(&w);
  double before = first.total, work = 0;
  for (int k = 0; k < 30; k++) {
    world_steps(&w, 1);
    HkStateInfo now = world_info(&w);
    double added = hk_friction_work(contacts_of(&w)), energy = now.total + added;
    CHECK(energy <= before + 1e-12 * first.kinetic);
    CHECK(added >= work - 1e-12 * first.kinetic);
    for (int c = 0; c < 3; c++)
      CHECK_NEAR(now.momentum[c], first.momentum[c], 1e-10 * fabs(first.momentum[1]));
    before = energy;
    work = added;
  }
  CHECK(work > 0.01 * first.kinetic);
  world_destroy(&w);
}

/* Five sheets of side x side vertices one above the other, none of which is aligned with another
 * one. */
static World make_stack(int side, const char *minimizer) {
  char text[4096];
  int at = snprintf(text, sizeof text, "{'bodies': [");
  for (int k = 0; k < 5; k++) {
    double width = k % 2 ? 0.19 : 0.2;
    at +=
        snprintf(text + at, sizeof text - (size_t)at,
                 "%s{'name': 'sheet%d', 'shape': {'type': 'grid', 'nx': %d, 'ny': %d, 'width': %g, "
                 "'height': %g, 'plane': 'xz', 'centered': true}, 'transform': {'translate': "
                 "[%g, %g, %g]}, 'springs': {'EA': 4, 'shear': true, 'bending': true, "
                 "'EA_bending': 0.1}, 'mass': {'area_density': 0.2}}",
                 k ? "," : "", k, side, side, width, width, 0.0031 * sin(7.0 * k),
                 0.002 + 0.002 * k, 0.0043 * cos(5.0 * k + 1));
  }
  snprintf(text + at, sizeof text - (size_t)at,
           "], 'forces': ['gravity', {'type': 'contact', 'friction': 0.5, 'ground': true, 'self': "
           "false}], %s, 'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', "
           "'linear': 'ldlt'%s}}}",
           TIME, minimizer);
  return world_parse(text);
}

TEST(five_sheets_hold_below_the_critical_angle_and_slide_above_it) {
  for (int slides = 0; slides < 2; slides++) {
    double angle = (slides ? 28 : 24) * DEGREE;
    World w = make_stack(4, ", 'tolerance': 1e-6");
    if (!w.sim) return;
    world_steps(&w, 40);
    set_gravity(&w, sin(angle), -cos(angle));
    world_steps(&w, slides ? 30 : 60);
    double *x = copy_of(&w), most = 0, slowest = INFINITY;
    world_steps(&w, 20);
    for (int64_t v = 0; v < w.model->n; v++) {
      most = fmax(most, hk_distance(x + 3 * v, w.state->x + 3 * v));
      slowest = fmin(slowest, w.state->v[3 * v]);
    }
    if (slides)
      CHECK(slowest > 0.02);
    else
      CHECK_NEAR(most, 0, 1e-8);
    free(x);
    world_destroy(&w);
  }
}

/* Forces that balance each other are far larger there than what is left of their sum: a line search
 * by the change of g would see rounding only. */
TEST(stacks_come_to_rest_and_every_step_on_the_way_converges) {
  const int sides[] = {7, 9};
  for (int q = 0; q < 2; q++) {
    World w = make_stack(sides[q], ", 'iterations': 60");
    int64_t iterations = 0, unconverged = 0;
    if (!w.sim) return;
    for (int k = 0; k < 90; k++) {
      HkError error;
      unconverged += hk_sim_step(w.sim, w.state, &error) != HK_OK;
      if (k >= 80) iterations += hk_sim_step_info(w.sim).iterations;
    }
    CHECK(unconverged == 0);
    CHECK(iterations == 0);
    world_destroy(&w);
  }
}

/* ---- Belts and pulls ---- */

TEST(what_lies_on_a_belt_takes_its_speed) {
  const char *const belts[] = {"{'type': 'plane', 'motion': %s}",
                               "{'type': 'box', 'center': [0, -0.1, 0], 'size': [4, 0.2, 1], "
                               "'motion': %s}"};
  const char motion[] = "{'type': 'keyframes', 'table': [[0, 0, 0, 0], [0.3, 0, 0, 0], [10.3, 5, "
                        "0, 0]]}";
  for (int q = 0; q < 2; q++) {
    char text[2048], belt[512];
    snprintf(belt, sizeof belt, belts[q], motion); /* NOLINT: a constant list of formats */
    snprintf(text, sizeof text,
             "{'bodies': [%s], 'obstacles': [%s], 'forces': ['gravity', {'type': 'contact', "
             "'friction': 0.5, 'self': false}], %s, 'integrator': %s}",
             SHEET("sheet", "3", "0.1", "0.0015", ""), belt, TIME, EULER);
    World w = world_parse(text);
    if (!w.sim) return;
    double *x = copy_of(&w);
    world_steps(&w, 80);
    double slip = 0.5 * 0.5 - (w.state->x[0] - x[0]), expected = 0.25 / (2 * 0.5 * G);
    for (int64_t v = 0; v < w.model->n; v++) CHECK_NEAR(w.state->v[3 * v], 0.5, 1e-6);
    CHECK_NEAR(slip, expected, 0.05 * expected + 0.5 * 0.5 * 0.01); /* and what the step adds */
    free(x);
    world_destroy(&w);
  }
}

/* A mass is pulled by a spring whose other end has the speed V. It sticks until the spring has the
 * static limit, and slips as an oscillator about the kinetic one: the force of the spring is
 *
 *     between mu_k N - A and mu_k N + A,   A^2 = ((mu_s - mu_k) N)^2 + m k V^2
 */
TEST(a_static_coefficient_above_the_kinetic_one_gives_stick_and_slip) {
  const double K = 20, M = 0.1, V = 0.05, REST = 0.6, SLIDE = 0.4, STEP = 1e-3;
  World w = world_parse(
      "{'bodies': [{'mesh': {'vertices': [[0, 0.00135, 0], [0.2, 0.00135, 0]], 'lines': [[0, 1]]}, "
      "'springs': {'k': 20}, 'mass': {'per_vertex': 0.1}}], 'pins': [{'select': {'indices': [1]}, "
      "'motion': {'type': 'keyframes', 'table': [[0, 0, 0, 0], [10, 0.5, 0, 0]]}}], 'forces': "
      "['gravity', {'type': 'contact', 'ground': true, 'friction': 0.6, 'friction_kinetic': 0.4}], "
      "'time': {'duration': 5, 'step': 0.001, 'frames_per_second': 100}, 'integrator': 'bdf2'}");
  if (!w.sim) return;
  double least = INFINITY, most = 0, last = 0;
  int slips = 0;
  bool stuck = true;
  for (int k = 0; k < 2500; k++) {
    world_steps(&w, 1);
    const double *x = w.state->x;
    double force = K * (x[3] - x[0] - 0.2), speed = w.state->v[0];
    most = fmax(most, force);
    if (most < 0.9 * REST * M * G) continue; /* before the first slip */
    if (stuck && speed > 0.1 * V) slips++, stuck = false;
    if (fabs(speed) < 1e-6) stuck = true;
    if (slips > 0) least = fmin(least, force);
    last = force;
  }
  double N = M * G, A = sqrt((REST - SLIDE) * N * (REST - SLIDE) * N + M * K * V * V);
  CHECK(slips >= 3 && last > 0);
  CHECK_NEAR(most, SLIDE * N + A, 0.03 * A + K * V * STEP);
  CHECK_NEAR(least, SLIDE * N - A, 0.03 * A + K * V * STEP);
  world_destroy(&w);
}

/* ---- The same bits ---- */

static const char on_ball[] =
    "{'bodies': [" SHEET("cloth", "11", "0.8", "0.305",
                         "") "],"
                             "'obstacles': [{'type': 'ball', 'center': [0, 0, 0], 'radius': 0.3}],"
                             "'forces': ['gravity', {'type': 'contact', 'friction': 0.5, "
                             "'friction_kinetic': 0.3, 'ground': true, 'height': -0.05}]," TIME
                             "," NEWTON(", 'tolerance': 1e-4") "}";

static bool same_states(const HkState *a, const HkState *b) {
  size_t size = hk_state_packed_size(a);
  char *one = calloc(1, size), *two = calloc(1, size);
  bool same = size == hk_state_packed_size(b);
  if (same) {
    hk_state_pack(a, one);
    hk_state_pack(b, two);
    same = memcmp(one, two, size) == 0;
  }
  free(one);
  free(two);
  return same;
}

TEST(steps_are_the_same_with_any_number_of_threads_and_from_saved_states) {
  World one = world_make(on_ball, NULL, 0.01, 1), three = world_make(on_ball, NULL, 0.01, 3);
  char path[1024];
  snprintf(path, sizeof path, "%s/friction", test_folder());
  for (int k = 0; k < 30; k++) {
    world_steps(&one, 1);
    world_steps(&three, 1);
    if (k % 7 != 3) continue;
    hk_sim_destroy(&three.sim); /* as a run that is resumed */
    MUST(hk_sim_create(three.model, NULL, 0.01, &three.sim, error));
    MUST(hk_state_save(three.state, path, error));
    hk_state_destroy(&three.state);
    MUST(hk_state_create(three.model, &three.state, error));
    MUST(hk_state_load(three.state, path, error));
    double work = hk_friction_work(contacts_of(&one));
    world_info(&three);
    CHECK(hk_friction_work(contacts_of(&three)) == work);
  }
  CHECK(contacts_of(&one)->friction->anchor_count > 20);
  CHECK(hk_friction_work(contacts_of(&one)) > 0);
  CHECK(same_states(one.state, three.state));
  world_destroy(&one);
  world_destroy(&three);
}

TEST(cloth_falls_over_a_ball_with_friction_and_without_a_crossing) {
  World w = world_parse(on_ball);
  int converged = 0;
  for (int k = 0; k < 60; k++) {
    HkError error = {0};
    HkStatus status = hk_sim_step(w.sim, w.state, &error);
    CHECK(status >= 0);
    converged += status == HK_OK;
    CHECK(hk_contacts_crossings(contacts_of(&w), w.state->x, NULL, 0) == 0);
  }
  CHECK(converged >= 58);
  world_destroy(&w);
}

TEST(every_minimizer_holds_a_sheet) {
  static const char with_multigrid[] = "{'type': 'newton', 'linear': {'type': 'pcg', "
                                       "'preconditioner': 'multigrid'}}";
  const char *const minimizers[] = {"'newton'", with_multigrid,
                                    "{'type': 'lbfgs', 'tolerance': 1e-6}",
                                    "{'type': 'local_global', 'tolerance': 1e-6}"};
  for (size_t q = 0; q < sizeof minimizers / sizeof minimizers[0]; q++) {
    char integrator[256];
    snprintf(integrator, sizeof integrator, "{'type': 'backward_euler', 'minimizer': %s}",
             minimizers[q]);
    InclineCase c = {SURFACE_PLANE, 20, 0.01, integrator, "'friction': 0.5", 0};
    World w = incline_make(&c);
    if (!w.sim) return;
    world_steps(&w, 50);
    double *x = copy_of(&w);
    world_steps(&w, 50);
    CHECK_NEAR(incline_drift(&w, x), 0, 1e-6);
    free(x);
    world_destroy(&w);
  }
}

/* ---- What cannot be ---- */

static HkForceMemory *memory_of(const World *w) {
  CHECK(w->state->memory_count == 1);
  return &w->state->memory[0];
}

static void expect_refused(World *w, const void *bytes, int64_t size, const char *words) {
  HkError error = {0};
  CHECK(hk_force_memory_write(memory_of(w), bytes, size, NULL) >= 0);
  HkStatus status = hk_sim_step(w->sim, w->state, &error);
  CHECK(status == HK_ERROR_FORMAT && strstr(error.text, words) != NULL);
}

TEST(damaged_memory_is_refused) {
  enum { HEAD = 24 };
  World w = world_parse(on_ball);
  if (!w.sim) return;
  world_steps(&w, 8);
  int64_t size = memory_of(&w)->size;
  CHECK(size > HEAD + 3 * (int64_t)sizeof(HkAnchor));
  char *sound = malloc((size_t)size), *bytes = malloc((size_t)size);
  memcpy(sound, memory_of(&w)->bytes, (size_t)size);
  const double wild[] = {NAN, INFINITY, -INFINITY, 1e200, -1};
  expect_refused(&w, sound, HEAD - 1, "too short");
  expect_refused(&w, sound, size - 8, "does not fit its size");
  const int places[] = {HEAD + 8, HEAD + 24, HEAD + 32, HEAD + 40}; /* s, s, k, lambda */
  for (int p = 0; p < 4; p++)
    for (int q = 0; q < (p < 2 ? 4 : 5); q++) { /* an anchor may point anywhere */
      memcpy(bytes, sound, (size_t)size);
      memcpy(bytes + places[p], &wild[q], sizeof wild[q]);
      expect_refused(&w, bytes, size, "out of range");
    }
  memcpy(bytes, sound, (size_t)size);
  bytes[0] = 9;
  expect_refused(&w, bytes, size, "version");
  memcpy(bytes, sound, (size_t)size);
  memcpy(bytes + 16, &wild[0], sizeof wild[0]);
  expect_refused(&w, bytes, size, "not finite");
  memcpy(bytes, sound, (size_t)size);
  memcpy(bytes + HEAD, bytes + HEAD + sizeof(HkAnchor), sizeof(uint64_t)); /* the same key twice */
  expect_refused(&w, bytes, size, "not sorted");
  uint64_t seed = 11;
  for (int trial = 0; trial < 200; trial++) { /* whatever it is, a step is made or refused */
    World other = {.sim = w.sim, .model = w.model};
    MUST(hk_state_create(w.model, &other.state, error));
    MUST(hk_state_copy(w.state, other.state, error));
    memcpy(bytes, sound, (size_t)size);
    for (int k = 0; k < 3; k++)
      bytes[(int64_t)(fabs(test_random(&seed)) * (double)(size - 1))] ^=
          (char)(1 << (int)(fabs(test_random(&seed)) * 7.9));
    MUST(hk_force_memory_write(memory_of(&other), bytes, size, error));
    HkError error = {0};
    HkStatus status = hk_sim_step(w.sim, other.state, &error);
    CHECK(status >= 0 || error.text[0]);
    hk_state_destroy(&other.state);
  }
  MUST(hk_force_memory_write(memory_of(&w), sound, size, error));
  world_steps(&w, 1);
  free(sound);
  free(bytes);
  world_destroy(&w);
}

TEST(integrators_whose_steps_contact_corrects_have_no_anchors) {
  const char *const names[] = {"linear_implicit_euler", "beta", "trapezoidal", "verlet"};
  for (int q = 0; q < 4; q++) {
    World w = world_parse(on_ball);
    HkMethod step = {0};
    world_steps(&w, 1);
    hk_sim_destroy(&w.sim);
    MUST(hk_method_choose(&step, HK_STEP, names[q], error));
    MUST(hk_sim_create(w.model, &step, 1e-4, &w.sim, error));
    MUST(hk_sim_step(w.sim, w.state, error));
    CHECK(memory_of(&w)->size == 0);
    hk_method_clear(&step);
    world_destroy(&w);
  }
}
