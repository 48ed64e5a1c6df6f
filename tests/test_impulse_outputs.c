/* What contact leaves behind where impulses correct steps: forces, reactions and friction against
 * weights, momenta and closed forms. */
#include "base/vec.h"
#include "contact/impulse.h"
#include "contact/record.h"
#include "contact_scenes.h"
#include "model_by_hand.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double g0 = 9.81;
static const char *const corrected[] = {
    "forward_euler",         "symplectic_euler",  "verlet",     "rk4", "beta",
    "linear_implicit_euler", "implicit_midpoint", "trapezoidal"};
enum { CORRECTED_COUNT = sizeof corrected / sizeof *corrected };

static HkContacts *contacts_of(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->correct) return w->sim->work.states[f].state;
  return NULL;
}

static HkContactView contacts_at(World *w) {
  HkContactView view = {0};
  HkError error = {0};
  HkStatus status = hk_sim_contacts(w->sim, w->state, &view, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
  return view;
}

static World make(const char *text, const char *integrator) {
  char filled[6000];
  snprintf(filled, sizeof filled, text, integrator);
  return world_parse(filled);
}

/* sum += what obstacles and the ground exert */
static void add_reactions(const HkContactView *view, double sum[3]) {
  hk_axpy(1, view->ground.force, sum);
  for (int k = 0; k < view->obstacle_count; k++) hk_axpy(1, view->obstacle[k].force, sum);
}

static void momentum_of(const World *w, double p[3]) {
  p[0] = p[1] = p[2] = 0;
  for (int64_t i = 0; i < w->model->n; i++) hk_axpy(w->model->mass[i], w->state->v + 3 * i, p);
}

/* ---- Weights ---- */

#define TIME "'time': {'duration': 1, 'step': 0.001, 'frames_per_second': 100}"
#define SHEET(name, count, size, height, more)                                                     \
  "{'name': '" name "', 'shape': {'type': 'grid', 'nx': " count ", 'ny': " count                   \
  ", 'width': " size ", 'height': " size ", 'plane': 'xz', 'centered': true},"                     \
  " 'transform': {'translate': [0.011, " height ", 0.007]},"                                       \
  " 'springs': {'EA': 4, 'shear': true, 'EA_shear': 1.5, 'bending': true, 'EA_bending': 0.1,"      \
  " 'damping': 0.02}, 'mass': {'area_density': 0.2}" more "}"

TEST(a_mass_at_rest_weighs_on_a_scale_in_every_step) {
  static const char text[] =
      "{'bodies': [{'mesh': {'vertices': [[0.3, 0.0012, -0.2]]}, 'mass': 0.3}],"
      "'obstacles': [{'name': 'scale', 'type': 'plane'}], 'forces': ['gravity', 'contact']," TIME
      ", 'integrator': '%s'}";
  for (int k = 0; k < CORRECTED_COUNT; k++) {
    World w = make(text, corrected[k]);
    double weight = 0.3 * g0;
    world_steps(&w, 100);
    for (int s = 0; s < 20; s++) {
      world_steps(&w, 1);
      HkContactView view = contacts_at(&w);
      CHECK(view.count == 1 && view.obstacle_count == 1);
      CHECK_NEAR(view.least_gap, 5e-4, 1e-6);
      CHECK_NEAR(view.contact[0].normal_force, weight, 1e-9 * weight);
      CHECK_NEAR(view.contact[0].point[1], 0.5 * view.contact[0].gap, 1e-12);
      CHECK_NEAR(view.obstacle[0].force[1], weight, 1e-9 * weight);
      CHECK_NEAR(view.obstacle[0].torque[0], 0.2 * weight, 1e-9 * weight);
      CHECK_NEAR(view.obstacle[0].torque[2], 0.3 * weight, 1e-9 * weight);
      CHECK_NEAR(view.force[1], weight, 1e-9 * weight);
    }
    world_destroy(&w);
  }
}

/* The mean over steps, as springs vibrate. */
static void check_sheet(const char *text, const char *integrator) {
  enum { SETTLE = 600, COUNT = 400 };
  World w = make(text, integrator);
  double weight = g0 * w.model->total_mass, sum[3] = {0, 0, 0}, before[3], after[3];
  world_steps(&w, SETTLE);
  momentum_of(&w, before);
  for (int s = 0; s < COUNT; s++) {
    world_steps(&w, 1);
    HkContactView view = contacts_at(&w);
    CHECK(view.count >= 3);
    add_reactions(&view, sum);
  }
  momentum_of(&w, after);
  CHECK_NEAR(sum[1] / COUNT, weight, 1e-3 * weight);
  CHECK_NEAR(sum[1] * w.sim->h, weight * COUNT * w.sim->h + after[1] - before[1], 1e-9 * weight);
  world_destroy(&w);
}

TEST(a_sheet_at_rest_weighs_on_a_scale_in_the_mean) {
  for (int k = 1; k < CORRECTED_COUNT; k++)
    check_sheet("{'bodies': [" SHEET(
                    "cloth", "5", "0.3", "0.0012",
                    "") "],"
                        "'obstacles': [{'name': 'scale', 'type': 'plane'}], 'forces': ['gravity', "
                        "'contact']," TIME ", 'integrator': '%s'}",
                corrected[k]);
  check_sheet(
      "{'bodies': [" SHEET(
          "cloth", "5", "0.3", "0.0112",
          "") "],"
              "'obstacles': [{'name': 'scale', 'type': 'box', 'size': [1, 0.02, 1]}], 'forces': "
              "['gravity', {'type': 'contact', 'friction': 0.3}]," TIME ", 'integrator': '%s'}",
      "symplectic_euler");
}

TEST(pins_bear_what_rests_on_their_vertices) {
  World w =
      make("{'bodies': [" SHEET(
               "table", "5", "0.3", "0",
               "") ","
                   "{'name': 'mass', 'mesh': {'vertices': [[0.02, 0.0017, 0.03]]}, 'mass': 0.3}],"
                   "'pins': [{'select': {'all': true, 'body': 'table'}}], 'forces': ['gravity', "
                   "'contact']," TIME ", 'integrator': '%s'}",
           "symplectic_euler");
  double weight = g0 * w.model->total_mass, sum = 0;
  int64_t count = w.model->pin_count;
  double *R = malloc(3 * (size_t)count * sizeof *R);
  world_steps(&w, 300);
  hk_sim_reactions(w.sim, w.state, R);
  for (int64_t p = 0; p < count; p++) sum += R[3 * p + 1];
  CHECK_NEAR(sum, weight, 1e-6 * weight);
  CHECK(contacts_at(&w).obstacle_count == 0);
  free(R);
  world_destroy(&w);
}

/* ---- Momentum ---- */

/* All that can act: two sheets that fall on a ball that moves, a plane and the ground, with
 * friction and restitution. */
static const char fall[] =
    "{'bodies': [" SHEET("cloth", "9", "0.6", "0.105", ", 'velocity': [0.5, -2, 0.3]") "," SHEET(
        "other", "5", "0.4", "0.13",
        ", 'velocity': [0, -3, 0]") "],"
                                    "'obstacles': [{'type': 'ball', 'radius': 0.1, 'motion': "
                                    "{'type': 'oscillation', 'amplitude': "
                                    "[0, 0.01, 0], 'frequency': 3}}, {'type': 'plane', 'point': "
                                    "[-0.35, 0, 0], 'normal': [1, 0.2, "
                                    "0]}], 'forces': ['gravity', {'type': 'contact', 'ground': "
                                    "true, 'height': -0.1, 'friction': "
                                    "0.4, 'restitution': 0.5}]," TIME ", 'integrator': '%s'}";

/* The momentum that a step gives is h times weight and contact forces, and h times weight and
 * reactions where the filter has not cut vertices. */
TEST(momentum_of_a_step_is_that_of_gravity_and_reactions) {
  int steps = 0, whole = 0;
  int64_t most = 0;
  for (int k = 1; k < 4; k++) {
    World w = make(fall, corrected[k]);
    double before[3], after[3], h = w.sim->h, mass = w.model->total_mass, largest = 0;
    momentum_of(&w, before);
    for (int s = 0; s < 150; s++) {
      world_steps(&w, 1);
      momentum_of(&w, after);
      HkContactView view = contacts_at(&w);
      double by_force[3] = {0, -mass * g0, 0}, by_reaction[3] = {0, -mass * g0, 0};
      for (int64_t i = 0; i < w.model->n; i++) hk_axpy(1, view.force + 3 * i, by_force);
      add_reactions(&view, by_reaction);
      bool is_whole = contacts_of(&w)->cut == 0;
      for (int q = 0; q < 3; q++) {
        largest = fmax(largest, fabs(after[q]));
        CHECK_NEAR(after[q] - before[q], h * by_force[q], 1e-11 * largest);
        if (is_whole) CHECK_NEAR(after[q] - before[q], h * by_reaction[q], 1e-11 * largest);
      }
      steps++;
      whole += is_whole;
      most = view.count > most ? view.count : most;
      memcpy(before, after, sizeof before);
    }
    world_destroy(&w);
  }
  CHECK(most > 30 && whole > steps / 2);
}

/* Masses without springs: each has the change of its momentum as its force. Restitution is limited
 * where impacts at once would add up to more energy. */
TEST(force_on_each_mass_is_the_change_of_its_momentum) {
  enum { COUNT = 48 };
  int acted = 0;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    uint64_t random = seed;
    double friction = seed % 2 ? 0 : 0.3;
    char text[6000], *at = text;
    at += sprintf(at, "{'bodies': [{'mesh': {'vertices': [");
    for (int k = 0; k < COUNT; k++)
      at += sprintf(at, "%s[%g,%g,%g]", k ? "," : "", 0.05 * (k % 4) + 0.01 * test_random(&random),
                    0.05 * (k / 4 % 4) + 0.05, 0.05 * (k / 16) + 0.01 * test_random(&random));
    sprintf(at,
            "]}, 'mass': {'per_vertex': 0.01}}], 'forces': ['gravity', {'type': 'contact', "
            "'ground': true, 'thickness': 0.02, 'restitution': %g, 'friction': %g}]," TIME
            ", 'integrator': 'verlet'}",
            seed % 2 ? 1.0 : 0.3, friction);
    World w = world_parse(text);
    double before[3 * COUNT], h = w.sim->h;
    for (int q = 0; q < 3 * COUNT; q++)
      w.state->v[q] = 4 * test_random(&random) - 20 * (w.state->x[q] - 0.08);
    for (int s = 0; s < 80; s++) {
      memcpy(before, w.state->v, sizeof before);
      world_steps(&w, 1);
      HkContactView view = contacts_at(&w);
      for (int q = 0; q < 3 * COUNT; q++) {
        double force = 0.01 * (w.state->v[q] - before[q]) / h + (q % 3 == 1) * 0.01 * g0;
        CHECK_NEAR(view.force[q], force, 1e-9 * (1 + fabs(force)));
        acted += view.force[q] != 0;
      }
      for (int64_t k = 0; k < view.count; k++) {
        const HkContact *c = &view.contact[k];
        CHECK(c->normal_force >= 0 && fabs(hk_dot(c->normal, c->friction)) < 1e-9);
        CHECK(hk_norm(c->friction) <= friction * c->normal_force * (1 + 1e-9));
      }
    }
    world_destroy(&w);
  }
  CHECK(acted > 1000);
}

/* The momentum that a step gives to all vertices, less that of gravity (N s). */
static void step_and_take(World *w, double p[3]) {
  double before[3];
  momentum_of(w, before);
  world_steps(w, 1);
  momentum_of(w, p);
  hk_axpy(-1, before, p);
  p[1] += w->sim->h * w->model->total_mass * g0;
}

/* Sweeps over two walls that are nearly parallel do not converge: the filter stops the mass. */
TEST(obstacles_get_the_momentum_that_the_filter_takes) {
  World w =
      make("{'bodies': [{'mesh': {'vertices': [[0, 0.05, 0]]}, 'mass': 0.3, 'velocity': [0, "
           "-20, 0]}], 'obstacles': [{'type': 'plane', 'normal': [0.9998, 0.02, 0]}, {'type': "
           "'plane', 'normal': [-0.9998, 0.02, 0]}], 'forces': ['gravity', 'contact']," TIME
           ", 'integrator': '%s'}",
           "symplectic_euler");
  int cut = 0;
  for (int s = 0; s < 60; s++) {
    double taken[3], reactions[3] = {0, 0, 0};
    step_and_take(&w, taken);
    HkContactView view = contacts_at(&w);
    add_reactions(&view, reactions);
    for (int q = 0; q < 3; q++) CHECK_NEAR(w.sim->h * reactions[q], taken[q], 1e-12);
    cut += contacts_of(&w)->cut > 0;
  }
  CHECK(cut > 0);
  world_destroy(&w);
}

/* Sweeps do not carry the weight of 1000 kg through 0.1 g: the filter stops both masses, and what
 * it takes between two bodies is a part of the forces on vertices, and of no reaction. */
TEST(forces_on_vertices_have_what_the_filter_takes_between_bodies) {
  World w = make("{'bodies': [{'name': 'a', 'mesh': {'vertices': [[0, 0.0012, 0]]}, 'mass': 1e-4},"
                 "{'name': 'b', 'mesh': {'vertices': [[0, 0.0028, 0]]}, 'mass': 1000}],"
                 "'obstacles': [{'type': 'plane'}], 'forces': ['gravity', 'contact']," TIME
                 ", 'integrator': '%s'}",
                 "symplectic_euler");
  int cut = 0;
  for (int s = 0; s < 100; s++) {
    double taken[3], forces[3] = {0, 0, 0};
    step_and_take(&w, taken);
    HkContactView view = contacts_at(&w);
    for (int64_t i = 0; i < w.model->n; i++) hk_axpy(1, view.force + 3 * i, forces);
    CHECK_NEAR(w.sim->h * forces[1], taken[1], 1e-12 * 1000);
    cut += contacts_of(&w)->cut > 0 && view.obstacle[0].force[1] < 0.5 * forces[1];
  }
  CHECK(cut > 0);
  world_destroy(&w);
}

/* A world of a scene of contact_scenes.h, with or without the force contact. */
static void make_scene(int scene, double h, bool touches, World *w) {
  ContactCase c = {.scene = scene,
                   .size = 1,
                   .h = h,
                   .integrator = "linear_implicit_euler",
                   .linear = "'ldlt'",
                   .friction = 0.3};
  char *text = contact_scene_text(&c);
  char *contact = strstr(text, ", {\"type\": \"contact\"");
  if (!touches && contact) memset(contact, ' ', (size_t)(strchr(contact, '}') + 1 - contact));
  *w = (World){0};
  MUST(hk_scene_parse(NULL, text, strlen(text), "scene", NULL, NULL, 0, &w->scene, error));
  free(text);
  MUST(hk_model_compile(w->scene, &w->model, error));
  MUST(hk_sim_create(w->model, NULL, h, &w->sim, error));
  MUST(hk_state_create(w->model, &w->state, error));
}

/* What forces of contact lack, relative to the largest one. */
typedef struct Errors {
  int steps; /* in which contact has acted */
  double
      momentum; /* h times the force on each vertex against what contact changes of its momentum */
  double balance; /* reactions against forces on vertices, where the filter has cut nothing */
} Errors;

/* Steps from the same state with and without contact. */
static void compare(World *with, World *without, Errors *errors) {
  int64_t size = 3 * with->model->n;
  double sum[3] = {0, 0, 0}, reactions[3] = {0, 0, 0}, largest = 0, h = with->sim->h;
  memcpy(without->state->x, with->state->x, (size_t)size * sizeof(double));
  memcpy(without->state->v, with->state->v, (size_t)size * sizeof(double));
  hk_state_set_time(without->state, with->state->time);
  world_steps(with, 1);
  world_steps(without, 1);
  HkContactView view = contacts_at(with);
  const uint8_t *held = with->state->pin_held;
  for (int64_t q = 0; q < size; q++) largest = fmax(largest, fabs(view.force[q]));
  for (int64_t q = 0; q < size; q++) {
    bool pinned = false;
    for (int64_t k = 0; k < with->model->pin_count; k++)
      pinned |= held[k] && with->model->pin_vertex[k] == q / 3;
    double m = with->model->mass[q / 3], v = with->state->v[q], other = without->state->v[q];
    sum[q % 3] += view.force[q];
    double off = pinned ? 0 : fabs(view.force[q] - m * (v - other) / h);
    errors->momentum = fmax(errors->momentum, off / (1 + largest));
  }
  add_reactions(&view, reactions);
  if (contacts_of(with)->cut == 0)
    errors->balance = fmax(errors->balance, hk_distance(sum, reactions) / (1 + largest));
  errors->steps += largest > 0;
}

/* Where every access is watched, some of the scenes. */
#ifdef TEST_SANITIZED
enum { EVERY = 5 };
#else
enum { EVERY = 1 };
#endif

TEST(force_on_each_vertex_is_what_contact_changes_in_every_scene) {
  int all = 0, scenes = 0;
  for (int k = 0; k < contact_scene_count(); k += EVERY) {
    const double h = 1.0 / 120;
    World with, without;
    make_scene(k, h, true, &with);
    make_scene(k, h, false, &without);
    Errors errors = {0};
    for (double t = 0; t < contact_scene_duration(k); t += h) compare(&with, &without, &errors);
    if (!(errors.momentum < 1e-9 && errors.balance < 1e-9))
      test_fail(contact_scene_name(k), 0, "momentum is off by %g, reactions by %g", errors.momentum,
                errors.balance);
    scenes += errors.steps > 0;
    all += errors.steps;
    world_destroy(&with);
    world_destroy(&without);
  }
  CHECK(EVERY * scenes > 15 && EVERY * all > 200);
}

/* ---- Friction ---- */

/* v_k = v_0 - k mu g h: the work is mu m g h (v_1 + v_2 + ...) with symplectic_euler. */
TEST(friction_takes_the_energy_of_a_mass_that_slides_to_a_stop) {
  static const char text[] =
      "{'bodies': [{'mesh': {'vertices': [[0, 0.001, 0]]}, 'mass': 0.3, 'velocity': [1, 0, 0]}],"
      "'forces': ['gravity', {'type': 'contact', 'ground': true, 'friction': 0.5}]," TIME
      ", 'integrator': '%s'}";
  World w = make(text, "symplectic_euler");
  double h = w.sim->h, mu = 0.5, last = 0, expected = 0.3 * (0.5 - 0.5 * mu * g0 * h);
  world_steps(&w, 1);
  for (int s = 1; s < 300; s++) {
    bool slides = w.state->v[0] > 2 * mu * g0 * h;
    world_steps(&w, 1);
    HkContactView view = contacts_at(&w);
    double push = mu * 0.3 * g0;
    if (slides) CHECK_NEAR(view.contact[0].friction[0], -push, 1e-9 * push);
    if (slides) CHECK_NEAR(view.ground.force[0], -push, 1e-9 * push);
    CHECK(view.friction_work >= last);
    last = view.friction_work;
  }
  CHECK_NEAR(w.state->v[0], 0, 1e-12);
  CHECK_NEAR(last, expected, 1e-3 * expected);
  world_destroy(&w);
}

/* ---- Which state ---- */

TEST(forces_belong_to_the_end_of_the_last_step) {
  World w = make(fall, "verlet");
  HkState *start = NULL;
  HkContactView view;
  MUST(hk_state_create(w.model, &start, error));
  world_steps(&w, 60);
  view = contacts_at(&w);
  double force = hk_norm(view.obstacle[0].force);
  int64_t count = view.count;
  CHECK(force > 0 && count > 0);
  MUST(hk_sim_contacts(w.sim, start, &view, error));
  CHECK(view.count == 0 && hk_norm(view.obstacle[0].force) == 0);
  view = contacts_at(&w);
  CHECK(view.count == count && hk_norm(view.obstacle[0].force) == force);
  hk_sim_destroy(&w.sim);
  MUST(hk_sim_create(w.model, NULL, 0.001, &w.sim, error));
  view = contacts_at(&w); /* another simulation knows what touches, and no force */
  CHECK(view.count > 0 && hk_norm(view.obstacle[0].force) == 0);
  hk_state_destroy(&start);
  world_destroy(&w);
}

TEST(questions_between_steps_change_no_corrected_step) {
  World asked = make(fall, "verlet"), other = make(fall, "verlet");
  for (int k = 0; k < 100; k++) {
    world_steps(&asked, 1);
    world_steps(&other, 1);
    contacts_at(&asked);
  }
  CHECK(memcmp(asked.state->x, other.state->x, 3 * (size_t)asked.model->n * sizeof(double)) == 0);
  CHECK(contacts_at(&asked).friction_work == contacts_at(&other).friction_work);
  world_destroy(&asked);
  world_destroy(&other);
}
