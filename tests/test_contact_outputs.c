/* What contact leaves behind: the record of a state against weights, momenta and differences, and
 * the files of a run. */
#include "base/vec.h"
#include "contact/record.h"
#include "hooke/run.h"
#include "model_by_hand.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double g0 = 9.81;

#define SHEET_OF(name, count, size, height, damping, more)                                         \
  "{'name': '" name "', 'shape': {'type': 'grid', 'nx': " count ", 'ny': " count                   \
  ", 'width': " size ", 'height': " size ", 'centered': true},"                                    \
  " 'transform': {'axis': [1, 0, 0], 'angle': -90, 'translate': [0.011, " height ", 0.007]},"      \
  " 'springs': {'EA': 4, 'shear': true, 'EA_shear': 1.5, 'bending': true, 'EA_bending': 0.1,"      \
  " 'damping': " damping "}, 'mass': {'area_density': 0.2}" more "}"
#define SHEET(name, count, size, height, more) SHEET_OF(name, count, size, height, "0.02", more)
#define TIME "'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 100}"
#define EULER                                                                                      \
  "'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', 'tolerance': 1e-12}}"

static HkContactView contacts_at(World *w) {
  HkContactView view = {0};
  HkError error = {0};
  HkStatus status = hk_sim_contacts(w->sim, w->state, &view, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
  return view;
}

static double total_mass(const World *w) {
  double sum = 0;
  for (int64_t i = 0; i < w->model->n; i++) sum += w->model->mass[i];
  return sum;
}

/* ---- Reactions ---- */

/* A block that stands on the plate of a scale. */
#define SCALE(plate)                                                                               \
  "{'bodies': [{'name': 'block', 'shape': {'type': 'tet_block', 'nx': 3, 'ny': 3, 'nz': 3, "       \
  "'size': [0.1, 0.1, 0.1], 'centered': true}, 'transform': {'translate': [0.02, 0.0525, "         \
  "-0.03]}, 'springs': {'k': 2000, 'damping': 5}, 'mass': 0.7}],"                                  \
  "'obstacles': [{'name': 'plate', " plate "}], 'forces': ['gravity', 'contact']," TIME "," EULER  \
  "}"

/* `across`: how exact forces across the normal are, relative to the weight. The block slides
 * without friction; on a box its edges and the diagonal of a face have normals that lean a little.
 */
static void check_scale(const char *text, double across) {
  World w = world_parse(text);
  world_steps(&w, 400);
  HkContactView view = contacts_at(&w);
  double weight = g0 * total_mass(&w), sum = 0, center[3] = {0, 0, 0};
  CHECK(view.count >= 4 && view.obstacle_count == 1);
  CHECK(strcmp(hk_model_obstacle(w.model, 0), "plate") == 0 && !hk_model_obstacle(w.model, 1));
  const HkContactReaction *plate = &view.obstacle[0];
  CHECK_NEAR(plate->force[1], weight, 1e-6 * weight);
  CHECK_NEAR(plate->force[0], 0, across * weight);
  CHECK_NEAR(plate->force[2], 0, across * weight);
  for (int64_t i = 0; i < w.model->n; i++)
    hk_axpy(w.model->mass[i] / total_mass(&w), w.state->x + 3 * i, center);
  /* r x (0, W, 0) = (-W z, 0, W x) */
  CHECK_NEAR(plate->torque[0], -weight * center[2], across * weight);
  CHECK_NEAR(plate->torque[1], 0, across * weight);
  CHECK_NEAR(plate->torque[2], weight * center[0], across * weight);
  for (int64_t k = 0; k < view.count; k++) {
    const HkContact *c = &view.contact[k];
    CHECK(c->side[0].kind == HK_CONTACT_BODY && c->side[0].index == 0);
    CHECK(c->side[1].kind == HK_CONTACT_OBSTACLE && c->side[1].index == 0);
    CHECK_NEAR(c->normal[1], 1, across);
    CHECK_NEAR(c->point[1], 0.001 + 0.5 * c->gap, 0.1 * across);
    CHECK(c->gap > 0 && c->gap < 1e-3 && c->gap >= view.least_gap);
    sum += c->normal_force * c->normal[1];
  }
  CHECK_NEAR(sum, weight, 1e-6 * weight);
  world_destroy(&w);
}

TEST(a_scale_under_a_block_reads_its_weight_and_where_it_stands) {
  check_scale(SCALE("'type': 'plane', 'point': [0, 0.001, 0]"), 1e-6);
  check_scale(SCALE("'type': 'box', 'size': [0.4, 0.002, 0.4]"), 1e-4);
}

TEST(a_cloth_at_rest_on_a_ball_and_the_ground_weighs_on_both) {
  World w = world_parse("{'bodies': [" SHEET(
      "cloth", "9", "0.8", "0.302",
      "") "],"
          "'obstacles': [{'type': 'ball', 'center': [0, 0, 0], 'radius': 0.3}],"
          "'forces': ['gravity', {'type': 'drag', 'linear': 0.01}, {'type': 'contact', 'ground': "
          "true, 'height': -0.02}], 'pins': [{'select': {'nearest': [0.011, 0.302, 0.007]}}]," TIME
          "," EULER "}");
  world_steps(&w, 500);
  HkContactView view = contacts_at(&w);
  double weight = g0 * total_mass(&w), R[3];
  hk_sim_reactions(w.sim, w.state, R);
  CHECK(view.ground.force[1] > 0.01 * weight && view.obstacle[0].force[1] > 0.1 * weight);
  CHECK_NEAR(R[1] + view.ground.force[1] + view.obstacle[0].force[1], weight, 1e-6 * weight);
  world_destroy(&w);
}

/* ---- Friction ---- */

/* A sheet on an incline of 20 degrees, at rest or sliding. */
#define INCLINE(friction)                                                                          \
  "{'bodies': [{'name': 'sheet', 'shape': {'type': 'grid', 'nx': 4, 'ny': 4, 'width': 0.2, "       \
  "'height': 0.2, 'plane': 'xz', 'centered': true}, 'transform': {'axis': [0, 0, 1], 'angle': "    \
  "20, 'translate': [0, 0.0015, 0]}, 'springs': {'EA': 50, 'shear': true, 'damping': 0.1}, "       \
  "'mass': 0.2}], 'obstacles': [{'type': 'plane', 'normal': [-0.3420201433256687, "                \
  "0.9396926207859084, 0]}], 'forces': ['gravity', {'type': 'contact', 'friction': " friction      \
  "}]," TIME "," EULER "}"

TEST(friction_holds_a_sheet_on_an_incline_with_its_weight_along_it) {
  World w = world_parse(INCLINE("0.8"));
  world_steps(&w, 300);
  HkContactView view = contacts_at(&w);
  double weight = g0 * total_mass(&w), along = 0, across = 0;
  const double down[3] = {-0.9396926207859084, -0.3420201433256687, 0};
  CHECK(view.count == w.model->n);
  for (int64_t k = 0; k < view.count; k++) {
    const HkContact *c = &view.contact[k];
    CHECK(hk_norm(c->friction) <= 0.8 * c->normal_force * (1 + 1e-9));
    CHECK_NEAR(hk_dot(c->friction, c->normal), 0, 1e-12 * weight);
    along -= hk_dot(c->friction, down);
    across += c->normal_force;
  }
  CHECK_NEAR(along, 0.3420201433256687 * weight, 1e-6 * weight);
  CHECK_NEAR(across, 0.9396926207859084 * weight, 1e-6 * weight);
  CHECK_NEAR(view.obstacle[0].force[0], 0, 1e-6 * weight);
  CHECK_NEAR(view.obstacle[0].force[1], weight, 1e-6 * weight);
  CHECK_NEAR(view.energy, world_info(&w).other, 1e-12 * weight);
  world_destroy(&w);
}

/* Without numerical dissipation of anything but friction: what gravity gives up is motion, the
 * error of backward Euler, 1/2 m |dv|^2 a step, and the work of friction. */
TEST(friction_work_is_what_a_sliding_sheet_loses) {
  World w = world_parse(INCLINE("0.2"));
  world_steps(&w, 50);
  HkStateInfo first = world_info(&w);
  double before = contacts_at(&w).friction_work, speed = first.speed_max;
  world_steps(&w, 50);
  HkStateInfo last = world_info(&w);
  HkContactView view = contacts_at(&w);
  double work = view.friction_work - before, mass = total_mass(&w);
  /* Steady sliding: a = g (sin - mu cos), in 50 steps of 0.01 s, path by backward Euler. */
  double a = g0 * (0.3420201433256687 - 0.2 * 0.9396926207859084);
  double path = 50 * 0.01 * speed + a * 0.0001 * 50 * 51 / 2;
  double expected = 0.2 * mass * g0 * 0.9396926207859084 * path;
  CHECK_NEAR(work, expected, 1e-3 * expected);
  CHECK_NEAR(first.total - last.total, work + 0.5 * mass * a * a * 0.0001 * 50, 1e-3 * expected);
  double sum = 0;
  for (int64_t k = 0; k < view.count; k++) sum += hk_norm(view.contact[k].friction);
  CHECK_NEAR(sum, 0.2 * 0.9396926207859084 * mass * g0, 1e-3 * mass * g0);
  world_destroy(&w);
}

/* ---- Momentum ---- */

/* m (v' - v) / h = gravity + contact, for each step of backward Euler and for the whole body. */
static void check_momentum(World *w, int steps) {
  HkStateInfo before = world_info(w);
  double mass = total_mass(w);
  int64_t most = 0;
  for (int k = 0; k < steps; k++) {
    world_steps(w, 1);
    HkStateInfo now = world_info(w);
    HkContactView view = contacts_at(w);
    double sum[3] = {0, 0, 0}, scale = mass * g0;
    for (int64_t i = 0; i < w->model->n; i++) hk_axpy(1, view.force + 3 * i, sum);
    for (int c = 0; c < 3; c++) scale = fmax(scale, fabs(sum[c]));
    for (int c = 0; c < 3; c++)
      CHECK_NEAR((now.momentum[c] - before.momentum[c]) / 0.01, sum[c] - (c == 1 ? mass * g0 : 0),
                 1e-8 * scale);
    before = now;
    most = view.count > most ? view.count : most;
  }
  CHECK(most > 10);
}

TEST(contact_forces_and_gravity_change_the_momentum_of_each_step) {
  World w = world_parse(
      "{'bodies': [" SHEET("cloth", "9", "0.8", "0.31", ", 'velocity': [0.5, -2, 0.3]") "," SHEET(
          "other", "5", "0.4", "0.35",
          ", 'velocity': [0, -3, 0]") "],"
                                      "'obstacles': [{'type': 'ball', 'center': [0, 0, 0], "
                                      "'radius': 0.3, 'motion': {'type': "
                                      "'keyframes', 'table': [[0, 0, 0, 0], [0.2, 0, 0.2, 0]]}}],"
                                      "'forces': ['gravity', {'type': 'contact', 'ground': true, "
                                      "'height': -0.1}]," TIME "," EULER "}");
  check_momentum(&w, 40);
  world_destroy(&w);
}

/* bdf2: (3 p'' - 4 p' + p) / (2 h) = gravity + contact, after the first step. */
TEST(contact_forces_of_bdf2_are_those_that_have_acted) {
  World w = world_parse("{'bodies': [" SHEET(
      "cloth", "9", "0.8", "0.31",
      ", 'velocity': [0.5, -2, 0.3]") "],"
                                      "'obstacles': [{'type': 'ball', 'center': [0, 0, 0], "
                                      "'radius': 0.3}],"
                                      "'forces': ['gravity', 'contact']," TIME
                                      ", 'integrator': {'type': 'bdf2', 'minimizer': "
                                      "{'type': 'newton', 'tolerance': 1e-12}}}");
  double mass = total_mass(&w), p[3][3] = {{0}};
  int64_t most = 0;
  for (int k = 0; k < 25; k++) {
    HkStateInfo info = world_info(&w);
    memmove(p[1], p[0], 2 * sizeof p[0]);
    memcpy(p[0], info.momentum, sizeof p[0]);
    HkContactView view = contacts_at(&w);
    double sum[3] = {0, -mass * g0, 0}, scale = mass * g0;
    for (int64_t i = 0; i < w.model->n; i++) hk_axpy(1, view.force + 3 * i, sum);
    for (int c = 0; c < 3; c++) scale = fmax(scale, fabs(sum[c]));
    for (int c = 0; c < 3 && k > 1; c++)
      CHECK_NEAR((3 * p[0][c] - 4 * p[1][c] + p[2][c]) / 0.02, sum[c], 1e-7 * scale);
    most = view.count > most ? view.count : most;
    world_steps(&w, 1);
  }
  CHECK(most > 10);
  world_destroy(&w);
}

/* ---- Energy ---- */

static double dot(const double *a, const double *b, int64_t count) {
  double sum = 0;
  for (int64_t q = 0; q < count; q++) sum += a[q] * b[q];
  return sum;
}

/* A step of backward Euler, m (v' - v) = h f(x'), x' - x = h v', has the balance
 *
 *     T' - T = W_contact + W_rest - 1/2 sum m |v' - v|^2,   W = sum f(x') . (x' - x)
 *
 * and, since the barrier is convex in the gap, takes energy from what moves among fixed things. */
static void check_energy(World *w, int steps) {
  int64_t n = w->model->n, size = 3 * n, most = 0;
  double *x = malloc((size_t)size * sizeof *x), *v = malloc((size_t)size * sizeof *x);
  double *f = malloc((size_t)size * sizeof *x), *move = malloc((size_t)size * sizeof *x);
  HkStateInfo before = world_info(w);
  double scale = before.kinetic, worked = 0;
  for (int k = 0; k < steps; k++) {
    double lost = 0;
    memcpy(x, w->state->x, (size_t)size * sizeof *x);
    memcpy(v, w->state->v, (size_t)size * sizeof *v);
    world_steps(w, 1);
    HkStateInfo now = world_info(w);
    HkContactView view = contacts_at(w);
    hk_sim_forces(w->sim, w->state, f);
    for (int64_t q = 0; q < size; q++) {
      double dv = w->state->v[q] - v[q];
      move[q] = w->state->x[q] - x[q];
      f[q] -= view.force[q];
      lost += 0.5 * w->model->mass[q / 3] * dv * dv;
    }
    double contact = dot(view.force, move, size);
    CHECK_NEAR(now.kinetic - before.kinetic, contact + dot(f, move, size) - lost, 1e-8 * scale);
    CHECK(now.total <= before.total + 1e-9 * scale);
    worked += fabs(contact);
    most = view.count > most ? view.count : most;
    before = now;
  }
  CHECK(most > 10 && worked > 0.01 * scale);
  free(x);
  free(v);
  free(f);
  free(move);
}

TEST(the_energy_balance_of_each_step_contains_the_work_of_contact) {
  World w = world_parse("{'bodies': [" SHEET_OF(
      "cloth", "9", "0.8", "0.31", "0",
      ", 'velocity': [0.5, -2, 0.3]") "," SHEET_OF("other", "5", "0.4", "0.35", "0",
                                                   ", 'velocity': [0, -3, 0]") "],"
                                                                               "'obstacles': "
                                                                               "[{'type': 'ball', "
                                                                               "'center': [0, 0, "
                                                                               "0], 'radius': "
                                                                               "0.3}],"
                                                                               "'forces': "
                                                                               "['gravity', "
                                                                               "{'type': "
                                                                               "'contact', "
                                                                               "'ground': true, "
                                                                               "'height': "
                                                                               "-0.1}]," TIME
                                                                               "," EULER "}");
  check_energy(&w, 40);
  world_destroy(&w);
}

/* ---- Sums ---- */

/* Random positions within reach of each other, of every kind of side. */
static const char crowded[] = "{'bodies': [" SHEET("a", "5", "0.3", "0.03", "") "," SHEET(
    "b", "4", "0.3", "0.07",
    "") ","
        "{'name': 'rope', 'shape': {'type': 'chain', 'n': 6, 'start': [-0.12, 0.1, -0.05], 'end': "
        "[-0.05, 0.11, 0.12]}, 'springs': {'k': 100}, 'mass': 0.1}],"
        "'obstacles': [{'type': 'plane', 'point': [-0.19, 0, 0], 'normal': [1, 0.1, 0.05]},"
        "{'type': 'ball', 'center': [0.1, 0.19, -0.1], 'radius': 0.1},"
        "{'type': 'box', 'center': [0.13, 0.16, 0.1], 'size': [0.1, 0.1, 0.1], 'angle': 30}],"
        "'forces': ['gravity', {'type': 'contact', 'distance': 0.06, 'thickness': 0.002, 'ground': "
        "true}]," TIME "," EULER "}";

static void scatter(World *w, uint64_t seed) {
  double *x = hk_state_x(w->state);
  for (int64_t q = 0; q < 3 * w->model->n; q++) x[q] = w->model->x0[q] + 0.004 * test_random(&seed);
}

/* The force on each side of each contact, from its normal, weights and force. */
static void add_by_hand(const HkContactView *view, double *f) {
  for (int64_t k = 0; k < view->count; k++) {
    const HkContact *c = &view->contact[k];
    for (int a = 0; a < 4; a++)
      if (c->vertex[a] >= 0)
        hk_axpy(c->normal_force * c->weight[a], c->normal, f + 3 * (int64_t)c->vertex[a]);
  }
}

TEST(reactions_of_obstacles_and_ground_are_the_forces_and_torques_on_bodies) {
  World w = world_parse(crowded);
  for (uint64_t seed = 1; seed < 6; seed++) {
    scatter(&w, seed);
    HkContactView view = contacts_at(&w);
    HkContactReaction all = view.ground;
    double largest = hk_norm(view.ground.force);
    CHECK(view.count > 100 && largest > 0 && view.obstacle_count == 3);
    for (int k = 0; k < 3; k++) {
      CHECK(hk_norm(view.obstacle[k].force) > 0);
      hk_axpy(1, view.obstacle[k].force, all.force);
      hk_axpy(1, view.obstacle[k].torque, all.torque);
    }
    for (int64_t i = 0; i < w.model->n; i++) {
      double torque[3];
      hk_cross(w.state->x + 3 * i, view.force + 3 * i, torque);
      hk_axpy(-1, view.force + 3 * i, all.force);
      hk_axpy(-1, torque, all.torque);
      largest = fmax(largest, hk_norm(view.force + 3 * i));
    }
    CHECK_NEAR(hk_norm(all.force), 0, 1e-10 * largest);
    CHECK_NEAR(hk_norm(all.torque), 0, 1e-10 * largest);
  }
  world_destroy(&w);
}

TEST(the_record_has_the_energy_and_the_forces_of_the_state) {
  World w = world_parse(crowded);
  int64_t n = w.model->n;
  double *f = calloc(3 * (size_t)n, sizeof *f);
  scatter(&w, 9);
  HkStateInfo info = world_info(&w);
  HkContactView view = contacts_at(&w);
  CHECK_NEAR(view.energy, info.other, 1e-12 * info.other);
  add_by_hand(&view, f);
  double all[3] = {0, 0, 0}, by_hand[3] = {0, 0, 0}, least = INFINITY;
  for (int64_t i = 0; i < n; i++) {
    hk_axpy(1, view.force + 3 * i, all);
    hk_axpy(1, f + 3 * i, by_hand);
  }
  for (int c = 0; c < 3; c++) CHECK_NEAR(by_hand[c], all[c], 1e-9 * fabs(all[1]));
  for (int64_t k = 0; k < view.count; k++) {
    const HkContact *c = &view.contact[k];
    least = fmin(least, c->gap);
    CHECK_NEAR(hk_norm(c->normal), 1, 1e-12);
    CHECK(c->side[0].kind == HK_CONTACT_BODY && c->normal_force >= 0);
    double sum[2] = {0, 0};
    for (int a = 0; a < 4; a++) sum[a >= c->split] += c->weight[a];
    CHECK_NEAR(sum[0], 1, 1e-12);
    if (c->side[1].kind == HK_CONTACT_BODY) CHECK_NEAR(sum[1], -1, 1e-12);
    for (int a = 0; a < c->split; a++) {
      int64_t first, count;
      hk_model_body(w.model, c->side[0].index, &first, &count);
      CHECK(c->vertex[a] >= first && c->vertex[a] < first + count);
    }
  }
  CHECK(least == view.least_gap);
  free(f);
  world_destroy(&w);
}

TEST(points_lie_in_the_middle_of_the_gap) {
  World w = world_parse(crowded);
  const double R = 0.001; /* half the thickness */
  int pairs = 0;
  scatter(&w, 11);
  HkContactView view = contacts_at(&w);
  for (int64_t k = 0; k < view.count; k++) {
    const HkContact *c = &view.contact[k];
    double p[3] = {0, 0, 0};
    for (int a = 0; a < c->split; a++)
      hk_axpy(c->weight[a], w.state->x + 3 * (int64_t)c->vertex[a], p);
    hk_axpy(-R - 0.5 * c->gap, c->normal, p);
    CHECK_NEAR(hk_distance(p, c->point), 0, 1e-12);
    if (c->side[1].kind != HK_CONTACT_BODY) continue;
    double q[3] = {0, 0, 0};
    for (int a = c->split; a < 4; a++)
      hk_axpy(-c->weight[a], w.state->x + 3 * (int64_t)c->vertex[a], q);
    hk_axpy(R + 0.5 * c->gap, c->normal, q);
    CHECK_NEAR(hk_distance(q, c->point), 0, 1e-9);
    pairs++;
  }
  CHECK(pairs > 50);
  world_destroy(&w);
}

/* ---- Which state ---- */

TEST(the_record_belongs_to_its_state_and_its_time) {
  World w = world_parse(
      "{'bodies': [" SHEET("cloth", "5", "0.2", "0.3",
                           "") "],"
                               "'obstacles': [{'name': 'lift', 'type': 'ball', 'center': [0, 0, "
                               "0], 'radius': 0.2, 'motion': "
                               "{'type': 'keyframes', 'table': [[0, 0, 0, 0], [1, 0, 0.2, 0]]}}],"
                               "'forces': ['contact']," TIME "," EULER "}");
  world_steps(&w, 3);
  CHECK(contacts_at(&w).count == 0 && isinf(contacts_at(&w).least_gap));
  hk_state_set_time(w.state, 0.4951); /* the top of the ball is at 0.29902 m */
  HkContactView view = contacts_at(&w);
  CHECK(view.count > 0);
  CHECK(view.least_gap > 0 && view.least_gap < 1e-3);
  hk_state_set_time(w.state, 0.1);
  CHECK(contacts_at(&w).count == 0);
  world_destroy(&w);
}

TEST(questions_between_steps_change_no_step) {
  World asked = world_parse(crowded), other = world_parse(crowded);
  HkContactView view;
  for (int k = 0; k < 8; k++) {
    world_steps(&asked, 1);
    world_steps(&other, 1);
    HkState *start = NULL;
    MUST(hk_state_create(asked.model, &start, error));
    MUST(hk_sim_contacts(asked.sim, start, &view, error));
    hk_state_destroy(&start);
    contacts_at(&asked);
  }
  CHECK(memcmp(asked.state->x, other.state->x, 3 * (size_t)asked.model->n * sizeof(double)) == 0);
  world_destroy(&asked);
  world_destroy(&other);
}

TEST(a_model_without_contact_has_an_empty_record) {
  World w =
      world_parse("{'bodies': [" SHEET("cloth", "3", "0.2", "0.3", "") "]," TIME "," EULER "}");
  HkContactView view = contacts_at(&w);
  CHECK(view.count == 0 && !view.force && view.obstacle_count == 0 && isinf(view.least_gap));
  world_destroy(&w);
}

TEST(a_run_that_begins_with_an_intersection_lists_it) {
  static const char text[] =
      "{'bodies': [" SHEET("low", "3", "0.4", "-0.1", "") "], 'forces': [{'type': 'contact', "
                                                          "'ground': true}]," TIME "," EULER
                                                          ", 'outputs': ['energies']}";
  World w = world_parse(text);
  HkContactView view;
  FAILS(hk_sim_contacts(w.sim, w.state, &view, error), HK_ERROR_INVALID,
        "'low' at vertex 0 and 'the ground'");
  HkRunOptions options = hk_run_options_default();
  HkRun *run = NULL;
  char folder[300];
  snprintf(folder, sizeof folder, "%s/run", test_folder());
  options.folder = folder;
  FAILS(hk_run_create(w.scene, &options, &run, error), HK_ERROR_INVALID,
        "'low' at vertex 0 and 'the ground'");
  world_destroy(&w);
}

TEST(a_flat_model_has_contacts_in_its_plane) {
  World w = world_parse(
      "{'dimension': 2, 'bodies': [{'name': 'sheet', 'shape': {'type': 'grid', 'nx': 4, 'ny': 3, "
      "'width': 0.3, 'height': 0.2}, 'transform': {'translate': [0, 0.002, 0]}, 'springs': {'k': "
      "500, 'shear': true, 'damping': 2}, 'mass': 0.4}],"
      "'forces': ['gravity', {'type': 'contact', 'ground': true}]," TIME "," EULER "}");
  world_steps(&w, 300);
  HkContactView view = contacts_at(&w);
  double weight = g0 * total_mass(&w);
  CHECK(view.count == 4);
  CHECK_NEAR(view.ground.force[1], weight, 1e-6 * weight);
  CHECK(view.ground.torque[0] == 0 && view.ground.torque[1] == 0);
  world_destroy(&w);
}

/* ---- Runs ---- */

/* Steps and frames are powers of two: a run and single steps have the same times to the last bit.
 */
static const char run_scene[] = "{'bodies': [" SHEET("cloth", "9", "0.6", "0.31", "") "," SHEET(
    "other", "4", "0.3", "0.33",
    "") "],"
        "'obstacles': [{'name': 'ball', 'type': 'ball', 'radius': 0.3, 'motion': {'type': "
        "'oscillation', 'amplitude': [0, 0.01, 0], 'frequency': 1.7}}],"
        "'pins': [{'select': {'indices': [0], 'body': 'cloth'}}],"
        "'forces': ['gravity', {'type': 'contact', 'ground': true, 'height': -0.1, 'friction': "
        "0.3}],"
        "'time': {'duration': 0.625, 'step': 0.015625, 'frames_per_second': 16},"
        "'integrator': 'backward_euler', 'outputs': ['energies', 'solver', 'reactions', 'vtp', "
        "{'type': "
        "'vtu', 'precise': true}, {'type': 'contacts', 'every': 2}]}";

/* Runs at most so many frames into a folder; set: a value that is set from outside, or NULL. */
static HkStatus run_frames(const char *set, const char *folder, bool resume, int threads,
                           int64_t most) {
  HkContext context = hk_context_default();
  HkRunOptions options = hk_run_options_default();
  HkScene *scene = NULL;
  HkRun *run = NULL;
  HkError error = {0};
  const char *text = test_json(run_scene);
  context.threads = threads;
  options.folder = folder;
  options.resume = resume;
  options.checkpoint_seconds = 0;
  HkStatus status = hk_scene_parse(&context, text, strlen(text), "scene", NULL, &set, set ? 1 : 0,
                                   &scene, &error);
  if (status >= 0) status = hk_run_create(scene, &options, &run, &error);
  for (int64_t q = 0; q < most && status == HK_OK; q++) status = hk_run_frame(run, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
  return status;
}

static bool same_folders(const char *a, const char *b) {
  char command[1024];
  snprintf(command, sizeof command, "diff -rq -x checkpoint.previous '%s' '%s'", a, b);
  return system(command) == 0;
}

static void check_resume(const char *set) {
  char whole[300], parts[300];
  snprintf(whole, sizeof whole, "%s/run", test_folder());
  CHECK(run_frames(set, whole, false, 1, 1000) == HK_DONE);
  for (int64_t stop = 0; stop < 10; stop += 3) {
    snprintf(parts, sizeof parts, "%s/run", test_folder());
    CHECK(run_frames(set, parts, false, 3, stop) == HK_OK);
    CHECK(run_frames(set, parts, true, 2, 1000) == HK_DONE);
    CHECK(same_folders(whole, parts));
  }
}

TEST(files_of_contact_are_the_same_after_a_resume_and_with_any_number_of_threads) {
  check_resume(NULL);
}

TEST(files_of_impulses_are_the_same_after_a_resume_and_with_any_number_of_threads) {
  check_resume("integrator=implicit_midpoint");
}

/* The number in a column of a row (from 0) of a CSV file without quotes. */
static double cell(const char *folder, const char *name, const char *column, int row) {
  char path[700], head[4096], line[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  bool good = file && fgets(head, sizeof head, file);
  for (int q = 0; good && q <= row; q++) good = fgets(line, sizeof line, file) != NULL;
  if (file) fclose(file);
  char *title_end, *value_end, *title = good ? strtok_r(head, ",\n", &title_end) : NULL;
  char *value = good ? strtok_r(line, ",\n", &value_end) : NULL;
  while (title && value && strcmp(title, column) != 0) {
    title = strtok_r(NULL, ",\n", &title_end);
    value = strtok_r(NULL, ",\n", &value_end);
  }
  if (!title || !value) test_fail(path, row, "there is no %s", column);
  return title && value ? strtod(value, NULL) : NAN;
}

/* integrator: NULL for that of the scene. */
static void check_files(const char *integrator) {
  char folder[300], set[100];
  World w = world_make(run_scene, integrator, 1.0 / 64, 0);
  snprintf(set, sizeof set, "integrator=%s", integrator ? integrator : "");
  snprintf(folder, sizeof folder, "%s/run", test_folder());
  CHECK(run_frames(integrator ? set : NULL, folder, false, 1, 1000) == HK_DONE);
  HkContactView first = contacts_at(&w);
  CHECK(cell(folder, "solver.csv", "contacts", 0) == (double)first.count);
  int64_t most = 0;
  for (int frame = 1; frame <= 10; frame++) {
    world_steps(&w, 4);
    HkContactView view = contacts_at(&w);
    most = view.count > most ? view.count : most;
    CHECK(cell(folder, "solver.csv", "contacts", frame) == (double)view.count);
    double least = cell(folder, "solver.csv", "least_gap", frame);
    CHECK(isinf(view.least_gap) ? isinf(least) : fabs(least - view.least_gap) <= 1e-9);
    double energy = cell(folder, "energies.csv", "contact", frame);
    CHECK_NEAR(energy, view.energy, 1e-6 * view.energy);
    CHECK_NEAR(energy, cell(folder, "energies.csv", "other", frame), 1e-12);
    double work = cell(folder, "energies.csv", "friction_work", frame);
    CHECK_NEAR(work, view.friction_work, 1e-6 * work);
    CHECK(work == cell(folder, "solver.csv", "friction_work", frame));
    double fy = view.obstacle[0].force[1], tx = view.ground.torque[0];
    CHECK_NEAR(cell(folder, "reactions.csv", "obstacles[ball].fy", frame), fy, 1e-6);
    CHECK_NEAR(cell(folder, "reactions.csv", "ground.tx", frame), tx, 1e-6);
  }
  CHECK(most > 20 && contacts_at(&w).friction_work > 1e-4);
  world_destroy(&w);
}

TEST(a_run_writes_what_the_record_says) {
  check_files(NULL);
}

TEST(a_run_with_impulses_writes_what_the_record_says) {
  check_files("implicit_midpoint");
}
