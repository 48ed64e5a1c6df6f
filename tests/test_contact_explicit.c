/* Contact in steps that are made without it and corrected by impulses. */
#include "base/vec.h"
#include "contact/crossing.h"
#include "contact/impulse.h"
#include "contact_run.h"
#include "model_by_hand.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const explicit_ones[] = {"forward_euler", "symplectic_euler", "verlet", "rk4"};
enum { EXPLICIT_COUNT = sizeof explicit_ones / sizeof *explicit_ones };
static const double GHAT = 1e-3, THICKNESS = 1e-3;

static HkContacts *contacts_of(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->correct) return w->sim->work.states[f].state;
  return NULL;
}

static void set_friction(const World *w, double friction) {
  for (int f = 0; f < w->model->force_count; f++) {
    if (!w->model->forces[f].type->correct) continue;
    HkContactData *data = w->model->forces[f].data;
    for (int g = 0; g <= data->features.group_count; g++)
      data->coefficients[g] = (HkCoefficients){friction, friction};
  }
}

static bool step(World *w) {
  HkError error = {0};
  HkStatus status = hk_sim_step(w->sim, w->state, &error);
  if (status < 0) printf("    %s\n", error.text);
  CHECK(status >= 0);
  return status >= 0;
}

/* ---- A loose mass ---- */

static World drop(const char *integrator, double restitution, double h) {
  char text[1000];
  snprintf(text, sizeof text,
           "{'bodies': [{'mesh': {'vertices': [[0, 1, 0]]}, 'mass': 0.3}],"
           "'forces': ['gravity', {'type': 'contact', 'ground': true, 'restitution': %g}],"
           "'time': {'duration': 10, 'step': %.17g, 'frames_per_second': 60},"
           "'integrator': '%s'}",
           restitution, h, integrator);
  return world_parse(text);
}

/* The height of the first bounce above the height of rest. */
static double first_bounce(World *w, double rest) {
  bool bounced = false;
  double top = 0;
  for (int k = 0; k < 100000 && w->state->time < 3; k++) {
    if (!step(w)) return NAN;
    double v = w->state->v[1];
    if (bounced && v < 0) return top - rest;
    bounced |= v > 0;
    top = bounced ? fmax(top, w->state->x[1]) : 0;
  }
  return NAN;
}

TEST(a_mass_bounces_to_the_square_of_the_restitution_times_its_height) {
  const double REST = 0.5 * THICKNESS + 0.5 * GHAT;
  for (int k = 0; k < 2; k++) {
    double e = k ? 1 : 0.5;
    World w = drop("verlet", e, 1.0 / 240);
    double top = first_bounce(&w, REST);
    CHECK_NEAR(top, e * e * (1 - REST), 0.01 * e * e);
    world_destroy(&w);
  }
}

TEST(a_mass_that_bounces_gains_no_energy_and_comes_to_rest) {
  const double RESTS = 0.5 * THICKNESS + 0.5 * GHAT;
  for (int k = 0; k < 3; k++) {
    World w = drop("verlet", 0.5 * k, 1.0 / 240);
    double before = world_info(&w).total, first = before;
    for (int s = 0; s < 2400 && step(&w); s++) {
      double now = world_info(&w).total;
      CHECK(now <= before + 1e-12 * first);
      before = now;
    }
    if (k < 2) CHECK_NEAR(w.state->x[1], RESTS, 1e-3 * GHAT);
    if (k < 2) CHECK_NEAR(w.state->v[1], 0, 1e-9);
    if (k == 2) CHECK(before > 0.9 * first);
    world_destroy(&w);
  }
}

TEST(every_integrator_that_contact_corrects_lets_a_mass_rest) {
  const char *const names[] = {
      "forward_euler",         "symplectic_euler",  "verlet",     "rk4", "beta",
      "linear_implicit_euler", "implicit_midpoint", "trapezoidal"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    World w = drop(names[k], 0, 1.0 / 120);
    for (int s = 0; s < 240 && step(&w); s++) continue;
    CHECK_NEAR(w.state->x[1], 0.5 * THICKNESS + 0.5 * GHAT, 1e-3 * GHAT);
    CHECK_NEAR(w.state->v[1], 0, 1e-9);
    world_destroy(&w);
  }
}

TEST(a_fast_mass_does_not_pass_through_a_thin_box) {
  static const char text[] =
      "{'bodies': [{'mesh': {'vertices': [[0.01, 5, 0.02]]}, 'mass': 0.3, 'velocity': [3, -1000, "
      "0]}], 'obstacles': [{'type': 'box', 'size': [9, 0.001, 9]}],"
      "'forces': ['gravity', 'contact'], 'time': {'duration': 1, 'step': %.17g, "
      "'frames_per_second': 60}, 'integrator': '%s'}";
  for (int k = 0; k < EXPLICIT_COUNT; k++) {
    char filled[1000];
    snprintf(filled, sizeof filled, text, 1.0 / 60, explicit_ones[k]);
    World w = world_parse(filled);
    for (int s = 0; s < 10 && step(&w); s++) CHECK(w.state->x[1] > 0.001);
    CHECK(w.state->x[1] < 0.01 && fabs(w.state->v[0] - 3) < 1e-9); /* it slides */
    world_destroy(&w);
  }
}

/* ---- Random loose masses ---- */

/* Masses in a box of 0.3 m that fly at random, some of them pinned. */
static World swarm(const char *integrator, double restitution, uint64_t seed) {
  enum { COUNT = 60 };
  char *text = malloc(20000), *at = text;
  at += sprintf(at, "{'bodies': [{'name': 'swarm', 'mesh': {'vertices': [");
  for (int k = 0; k < COUNT; k++) {
    double by[3];
    for (int q = 0; q < 3; q++) by[q] = 0.01 * test_random(&seed);
    at += sprintf(at, "%s[%g,%g,%g]", k ? "," : "", 0.05 * (k % 4) + by[0],
                  0.05 * (k / 4 % 4) + by[1], 0.05 * (k / 16) + by[2]);
  }
  sprintf(at,
          "]}, 'mass': {'per_vertex': 0.01}}], 'forces': [{'type': 'contact', 'thickness': 0.02, "
          "'restitution': %g}], 'time': {'duration': 1, 'step': 0.002, 'frames_per_second': 60}, "
          "'integrator': '%s'}",
          restitution, integrator);
  World w = world_parse(text);
  for (int64_t q = 0; q < 3 * w.model->n; q++) w.state->v[q] = 4 * test_random(&seed);
  for (int64_t v = 0; v < w.model->n; v++) /* toward the middle */
    for (int q = 0; q < 3; q++) w.state->v[3 * v + q] -= 20 * (w.state->x[3 * v + q] - 0.08);
  free(text);
  return w;
}

/* The filter takes momentum from the vertices that it cuts. */
TEST(momentum_is_conserved_by_impulses_and_energy_never_rises) {
  int steps = 0, free_steps = 0;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    double e = 0.25 * (double)(seed % 5);
    World w = swarm(explicit_ones[1 + seed % 3], e, seed);
    HkStateInfo first = world_info(&w), before = first;
    double lost = 0;
    for (int s = 0; s < 60 && step(&w); s++) {
      HkStateInfo now = world_info(&w);
      double scale = sqrt(2 * first.kinetic * w.model->total_mass);
      bool is_free = contacts_of(&w)->cut == 0;
      for (int c = 0; c < 3 && is_free; c++)
        CHECK_NEAR(now.momentum[c], before.momentum[c], 1e-12 * scale);
      CHECK(now.total <= before.total * (1 + 1e-12));
      steps++;
      free_steps += is_free;
      before = now;
    }
    lost = 1 - before.total / first.total;
    CHECK(e == 1 ? lost < 0.2 : lost > 0.01); /* they have met */
    world_destroy(&w);
  }
  CHECK(free_steps > 0.95 * steps);
}

TEST(sheets_that_collide_in_free_flight_keep_their_momentum_and_lose_energy) {
  static const char text[] =
      "{'bodies': [{'name': 'lower', 'shape': {'type': 'grid', 'nx': 8, 'ny': 8, 'width': 0.4, "
      "'height': 0.4, 'plane': 'xz'}, 'springs': {'EA': 4, 'shear': true}, 'mass': "
      "{'area_density': 0.2}}, {'name': 'upper', 'shape': {'type': 'grid', 'nx': 7, 'ny': 7, "
      "'width': 0.4, 'height': 0.4, 'plane': 'xz'}, 'transform': {'translate': [0.01, 0.03, "
      "0.02]}, 'springs': {'EA': 4, 'shear': true}, 'mass': {'area_density': 0.2}, 'velocity': "
      "[0.1, -2, 0.05]}], 'forces': ['contact'], 'time': {'duration': 1, 'step': 0.001, "
      "'frames_per_second': 100}, 'integrator': '%s'}";
  for (int k = 1; k < 3; k++) {
    char filled[1500];
    snprintf(filled, sizeof filled, text, explicit_ones[k]);
    World w = world_parse(filled);
    HkStateInfo first = world_info(&w), now = first;
    for (int s = 0; s < 100 && step(&w); s++) {
      now = world_info(&w);
      for (int c = 0; c < 3; c++)
        CHECK_NEAR(now.momentum[c], first.momentum[c], 1e-12 * fabs(first.momentum[1]));
      CHECK(now.total <= first.total * (1 + 1e-6));
    }
    CHECK(now.total < 0.9 * first.total);
    world_destroy(&w);
  }
}

/* ---- Friction ---- */

TEST(a_mass_on_an_incline_slides_above_the_angle_of_friction_only) {
  const double MU = 0.5, H = 1.0 / 240;
  for (int k = 0; k < EXPLICIT_COUNT; k++)
    for (int side = -1; side <= 1; side += 2) {
      double angle = atan(MU) + side * 1e-3;
      char text[1000];
      snprintf(
          text, sizeof text,
          "{'bodies': [{'mesh': {'vertices': [[0, 0.001, 0]]}, 'mass': 0.3}],"
          "'forces': [{'type': 'gravity', 'direction': [%.17g, %.17g, 0]}, {'type': 'contact', "
          "'ground': true}], 'time': {'duration': 10, 'step': %.17g, 'frames_per_second': 60},"
          "'integrator': '%s'}",
          sin(angle), -cos(angle), H, explicit_ones[k]);
      World w = world_parse(text);
      set_friction(&w, MU);
      for (int s = 0; s < 240 && step(&w); s++) continue;
      double slid = 0.5 * 9.81 * (sin(angle) - MU * cos(angle));
      CHECK_NEAR(w.state->x[0], side < 0 ? 0 : slid, side < 0 ? 1e-12 : 0.02 * slid);
      world_destroy(&w);
    }
}

/* ---- A block at rest ---- */

static const char block[] =
    "{'bodies': [{'name': 'block', 'shape': {'type': 'tet_block', 'nx': 3, 'ny': 3, 'nz': 3, "
    "'size': [0.1, 0.1, 0.1], 'centered': true}, 'transform': {'translate': [0, 0.0511, 0]}, "
    "'springs': {'k': 2000, 'damping': 1}, 'mass': 0.5}],"
    "'forces': ['gravity', {'type': 'contact', %s}], 'obstacles': [%s],"
    "'time': {'duration': 10, 'step': 0.001, 'frames_per_second': 60},"
    "'integrator': '%s'}";

/* From 3 s on heights stay within a thousandth of the distance; with friction, all coordinates. */
static void check_rest(const char *contact, const char *obstacles, const char *integrator,
                       double friction) {
  char text[1500];
  snprintf(text, sizeof text, block, contact, obstacles, integrator);
  World w = world_parse(text);
  int64_t size = 3 * w.model->n;
  double *settled = malloc((size_t)size * sizeof *settled), most = 0, fastest = 0;
  set_friction(&w, friction);
  for (int s = 0; s < 3000 && step(&w); s++) continue;
  memcpy(settled, w.state->x, (size_t)size * sizeof *settled);
  for (int s = 3000; s < 10000 && step(&w); s++)
    for (int64_t q = 0; q < size; q++) {
      if (friction == 0 && q % 3 != 1) continue;
      most = fmax(most, fabs(w.state->x[q] - settled[q]));
      fastest = fmax(fastest, fabs(w.state->v[q]));
    }
  CHECK(hk_contacts_crossings(contacts_of(&w), w.state->x, NULL, 0) == 0);
  if (!(most < 1e-3 * GHAT && fastest < 1e-4))
    printf("    %s %s: moves by %g m, %g m/s\n", integrator, obstacles, most, fastest);
  CHECK(most < 1e-3 * GHAT);
  CHECK(fastest < 1e-4);
  free(settled);
  world_destroy(&w);
}

TEST(a_block_that_lies_on_the_ground_neither_sinks_nor_jitters) {
  check_rest("'ground': true", "", "symplectic_euler", 0);
  check_rest("'ground': true", "", "verlet", 0);
  check_rest("'ground': true", "", "symplectic_euler", 0.3);
}

TEST(a_block_that_lies_on_a_box_neither_sinks_nor_jitters) {
  static const char box[] = "{'type': 'box', 'center': [0, -0.1, 0], 'size': [1, 0.2, 1]}";
  check_rest("'self': false", box, "symplectic_euler", 0);
  check_rest("'self': false", box, "symplectic_euler", 0.3);
}

/* ---- What moves by itself ---- */

#define SHEET(count, height)                                                                       \
  "{'name': 'cloth', 'shape': {'type': 'grid', 'nx': " count ", 'ny': " count                      \
  ", 'width': 0.5, 'height': 0.5, 'plane': 'xz', 'centered': true},"                               \
  " 'transform': {'translate': [0.011, " height ", 0.007]},"                                       \
  " 'springs': {'EA': 4, 'shear': true, 'EA_shear': 1.5, 'bending': true, 'EA_bending': 0.1},"     \
  " 'mass': {'area_density': 0.2}}"
#define TIME "'time': {'duration': 1, 'step': 0.001, 'frames_per_second': 100}"

static void step_and_judge(World *w, int count) {
  for (int k = 0; k < count && step(w); k++)
    CHECK(hk_contacts_crossings(contacts_of(w), w->state->x, NULL, 0) == 0);
}

TEST(obstacles_that_move_push_without_a_crossing) {
  static const char *const obstacles[] = {
      "{'type': 'ball', 'center': [0, -0.2, 0], 'radius': 0.15, 'motion': {'type': 'keyframes', "
      "'table': [[0, 0, 0, 0], [0.1, 0, 0.3, 0]]}}",
      "{'type': 'plane', 'point': [0, -0.05, 0], 'motion': {'type': 'keyframes', 'table': "
      "[[0, 0, 0, 0], [0.1, 0, 0.3, 0]]}}",
      "{'type': 'box', 'size': [0.4, 0.02, 0.4], 'center': [0, -0.06, 0], 'motion': {'type': "
      "'rotation', 'axis': [0, 0, 1], 'center': [0.4, 0, 0], 'speed': -400}}"};
  for (int o = 0; o < 3; o++)
    for (int k = 1; k < EXPLICIT_COUNT; k++) {
      char text[2000];
      snprintf(text, sizeof text,
               "{'bodies': [" SHEET("9", "0") "], 'obstacles': [%s], 'forces': ['gravity', "
                                              "'contact'], " TIME ", 'integrator': '%s'}",
               obstacles[o], explicit_ones[k]);
      World w = world_parse(text);
      step_and_judge(&w, 120);
      double high = -INFINITY;
      for (int64_t v = 0; v < w.model->n; v++) high = fmax(high, w.state->x[3 * v + 1]);
      CHECK(high > 0.02); /* it is pushed up */
      world_destroy(&w);
    }
}

TEST(pins_that_leave_no_space_end_in_an_error_that_names_what_is_in_the_way) {
  static const char text[] = "{'bodies': [" SHEET(
      "5", "0.1") "], 'pins': [{'select': 'all', 'motion': {'type': 'keyframes', 'table': "
                  "[[0, 0, 0, 0], [1, 0, -1, 0]]}}],"
                  "'obstacles': [{'type': 'box', 'name': 'table', 'size': [1, 0.1, 1]}],"
                  "'forces': ['contact']," TIME ", 'integrator': 'symplectic_euler'}";
  World w = world_parse(text);
  HkError error = {0};
  HkStatus status = HK_OK;
  for (int k = 0; k < 200 && status >= 0; k++) status = hk_sim_step(w.sim, w.state, &error);
  CHECK(status == HK_ERROR_INVALID);
  CHECK(strstr(error.text, "'table'") != NULL);
  world_destroy(&w);
}

TEST(a_pinned_mass_pushes_a_free_one_along) {
  static const char text[] =
      "{'bodies': [{'mesh': {'vertices': [[0, 0, 0], [0.01, 0, 0], [0.02, 0, 0]]}, 'mass': 1}],"
      "'pins': [{'select': {'indices': [0]}, 'motion': {'type': 'keyframes', 'table': "
      "[[0, 0, 0, 0], [1, 1, 0, 0]]}}],"
      "'forces': ['contact'], 'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 100},"
      "'integrator': 'symplectic_euler'}";
  World w = world_parse(text);
  for (int k = 0; k < 50 && step(&w); k++) continue;
  CHECK_NEAR(w.state->x[0], 0.5, 1e-12);
  for (int v = 1; v < 3; v++) {
    CHECK_NEAR(w.state->x[3 * v] - w.state->x[3 * v - 3], THICKNESS + 0.5 * GHAT, 0.02 * GHAT);
    CHECK_NEAR(w.state->v[3 * v], 1, 1e-3);
  }
  world_destroy(&w);
}

TEST(a_step_that_fails_leaves_the_state_as_it_was) {
  static const char text[] =
      "{'bodies': [{'mesh': {'vertices': [[0, 0.02, 0]]}, 'mass': 1}],"
      "'obstacles': [{'type': 'plane', 'name': 'floor', 'motion': {'type': 'keyframes', 'table': "
      "[[0, 0, 0, 0], [0.1, 0, 0.1, 0]]}}, {'type': 'plane', 'point': [0, 0.04, 0], 'normal': "
      "[0, -1, 0]}],"
      "'forces': ['contact'], 'time': {'duration': 1, 'step': 0.003, 'frames_per_second': 100},"
      "'integrator': 'symplectic_euler'}";
  World w = world_parse(text);
  HkError error = {0};
  HkStatus status = HK_OK;
  double x[3], v[3], time = 0;
  int steps = 0;
  for (; steps < 30 && status >= 0; steps++) {
    memcpy(x, w.state->x, sizeof x);
    memcpy(v, w.state->v, sizeof v);
    time = w.state->time;
    status = hk_sim_step(w.sim, w.state, &error);
  }
  CHECK(status == HK_ERROR_INVALID && strstr(error.text, "'floor'"));
  CHECK(steps > 10 && x[1] > 0.035); /* it was pushed up before */
  CHECK(memcmp(x, w.state->x, sizeof x) == 0 && memcmp(v, w.state->v, sizeof v) == 0);
  CHECK(time == w.state->time);
  world_destroy(&w);
}

/* ---- Two dimensions, single precision ---- */

TEST(contact_corrects_steps_in_two_dimensions_and_in_single_precision) {
  static const char *const integrators[] = {"'verlet'",
                                            "{'type': 'symplectic_euler', 'precision': 'single'}"};
  for (int k = 0; k < 2; k++) {
    char text[1500];
    snprintf(
        text, sizeof text,
        "{'dimension': %d, 'bodies': [{'name': 'low', 'shape': {'type': 'grid', 'nx': 4, 'ny': "
        "4, 'width': 0.2, 'height': 0.2}, 'springs': {'k': 500, 'shear': true, 'damping': 0.5},"
        "'mass': 0.2, 'transform': {'translate': [0, 0.01, 0]}}, {'name': 'high', 'shape': "
        "{'type': 'grid', 'nx': 3, 'ny': 3, 'width': 0.1, 'height': 0.1}, 'springs': {'k': 500,"
        " 'shear': true, 'damping': 0.5}, 'mass': 0.1, 'transform': {'translate': [0.04, 0.23, "
        "0]}}], 'forces': ['gravity', {'type': 'contact', 'ground': true}], 'time': "
        "{'duration': 1, 'step': 0.001, 'frames_per_second': 100}, 'integrator': %s}",
        k ? 3 : 2, integrators[k]);
    World w = world_parse(text);
    const HkBodyRange *low = &w.model->bodies[0], *high = &w.model->bodies[1];
    for (int s = 0; s < 400 && step(&w); s++) {
      CHECK(hk_contacts_crossings(contacts_of(&w), w.state->x, NULL, 0) == 0);
      for (int64_t v = 0; v < w.model->n; v++) CHECK(w.state->x[3 * v + 1] > 0.5 * THICKNESS);
    }
    if (k == 0) /* one stands on the other */
      CHECK(w.state->x[3 * high->first + 1] > w.state->x[3 * (low->first + 12) + 1]);
    world_destroy(&w);
  }
}

/* ---- The same bits ---- */

static const char on_ball[] =
    "{'bodies': [" SHEET("13", "0.101") "],"
                                        "'obstacles': [{'type': 'ball', 'radius': 0.1}],"
                                        "'forces': ['gravity', {'type': 'contact', 'ground': true, "
                                        "'height': -0.1}]," TIME ", 'integrator': 'verlet'}";

TEST(corrected_steps_are_the_same_with_any_number_of_threads_and_of_a_new_simulation) {
  World one = world_make(on_ball, NULL, 0.001, 1), three = world_make(on_ball, NULL, 0.001, 3);
  size_t bytes = 3 * (size_t)one.model->n * sizeof(double);
  set_friction(&one, 0.4);
  set_friction(&three, 0.4);
  for (int k = 0; k < 300; k++) {
    step(&one);
    step(&three);
    if (k % 37 != 3) continue;
    hk_sim_destroy(&three.sim); /* as a run that is resumed */
    MUST(hk_sim_create(three.model, NULL, 0.001, &three.sim, error));
  }
  CHECK(memcmp(one.state->x, three.state->x, bytes) == 0);
  CHECK(memcmp(one.state->v, three.state->v, bytes) == 0);
  world_destroy(&one);
  world_destroy(&three);
}

TEST(memory_of_corrected_steps_is_counted_to_the_byte_and_does_not_grow_at_rest) {
  World w = world_parse(on_ball);
  for (int k = 0; k < 300 && step(&w); k++) continue;
  const HkImpulses *im = contacts_of(&w)->impulses;
  size_t rows = (size_t)(im->row_capacity + im->next_capacity) * sizeof *im->row;
  CHECK(im->row_count > 0);
  CHECK(hk_impulses_bytes(contacts_of(&w)->data, im) >
        rows + (size_t)w.model->n * 16 * sizeof(double));
  world_destroy(&w);
}

/* ---- Scenes ---- */

static void check_scene(const char *name, const char *integrator, double h, int64_t steps) {
  int scene = 0;
  while (scene < contact_scene_count() && strcmp(contact_scene_name(scene), name) != 0) scene++;
  CHECK(scene < contact_scene_count());
  ContactCase c = {.scene = scene,
                   .size = 1,
                   .h = 1e-6,
                   .integrator = integrator,
                   .linear = "'ldlt'",
                   .threads = 1,
                   .seed = 1,
                   .steps = steps,
                   .seconds = 60};
  c.h = h > 0 ? h : 0.5 * contact_stable_step(&c);
  ContactResult r;
  contact_run(&c, &r);
  if (!contact_failed(&r) && !r.late && r.steps == steps) return;
  test_fail(name, 0,
            "%s, h = %g s: %lld steps, %lld crossings, %lld escapes, least gap %g m, by hand %g m "
            "%s",
            integrator, c.h, (long long)r.steps, (long long)r.crossings, (long long)r.escapes,
            r.least_gap, r.least_by_hand, r.error);
}

TEST(nothing_crosses_in_scenes_with_explicit_integrators) {
  static const char *const names[] = {"towel", "two balls", "mixer", "bullet on ground", "links",
                                      "knot",  "anvil",     "rain",  "bullet on cloth",  "needles"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    check_scene(names[k], explicit_ones[1 + k % 3], 0, 300);
}

TEST(nothing_crosses_with_implicit_integrators_that_contact_corrects_at_large_steps) {
  static const char *const names[] = {"linear_implicit_euler", "beta", "implicit_midpoint",
                                      "trapezoidal"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    check_scene("cloth on ball", names[k], 1.0 / 60, 20);
    check_scene("two balls", names[k], 1.0 / 60, 20);
  }
  check_scene("bullet on cloth", "linear_implicit_euler", 1.0 / 60, 12);
  check_scene("bullet on ground", "linear_implicit_euler", 1.0 / 60, 12);
  check_scene("towel", "linear_implicit_euler", 1.0 / 60, 30);
  check_scene("anvil", "trapezoidal", 1.0 / 60, 12);
  check_scene("bullet on cloth", "trapezoidal", 1.0 / 60, 12);
}

/* ---- What does not go together ---- */

TEST(integrators_with_a_barrier_refuse_restitution) {
  World w = drop("verlet", 0.5, 0.01);
  HkSim *sim = NULL;
  HkError refused = {0};
  HkMethod step_method = {0};
  MUST(hk_method_choose(&step_method, HK_STEP, "backward_euler", error));
  CHECK(hk_sim_create(w.model, &step_method, 0.01, &sim, &refused) == HK_ERROR_UNSUPPORTED);
  CHECK(strstr(refused.text, "restitution") && strstr(refused.text, "backward_euler"));
  hk_method_clear(&step_method);
  world_destroy(&w);
}
