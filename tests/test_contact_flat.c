/* Flat parts of obstacles: which they are, that points over them count once, and that nothing is
 * nearer than what is left says. */
#include "all_pairs.h"
#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/contacts.h"
#include "contact/crossing.h"
#include "contact/flat.h"
#include "model_by_hand.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Derivatives ---- */

static HkContactPair draw(uint64_t *seed) {
  HkContactPair pair = {.split = HK_CONTACT_POINT_TRIANGLE, .xi = 0.05, .ghat = 0.6, .k = 300};
  for (int q = 0; q < 12; q++) pair.x[q] = test_random(seed);
  pair.flat.edges = (uint8_t)(1 + (int)(3.49 * (1 + test_random(seed))));
  for (int v = 0; v < 3; v++)
    if (pair.flat.edges >> v & pair.flat.edges >> (v + 2) % 3 & 1) pair.flat.fan[v] = 6;
  return pair;
}

static double energy(const HkContactPair *pair) {
  HkTouch touch = hk_pair_touch(pair);
  double slope, G[12];
  bool turns;
  double B = hk_pair_energy(pair, &touch, &slope, &turns);
  hk_pair_gradient(pair, &touch, G);
  CHECK(turns);
  CHECK_NEAR(slope, hk_dot(G, touch.n), 1e-12 * (hk_norm(G) + pair->k));
  return B;
}

static double bare_energy(const HkContactPair *pair) {
  HkTouch touch = hk_pair_touch(pair);
  return pair->k * pair->ghat * pair->ghat * hk_barrier(touch.g / pair->ghat);
}

static void gradient(const HkContactPair *pair, double G[12]) {
  HkTouch touch = hk_pair_touch(pair);
  hk_pair_gradient(pair, &touch, G);
}

/* The Hessian of the point, from the term and what is besides. */
static void hessian(const HkContactPair *pair, double H[9]) {
  HkTouch touch = hk_pair_touch(pair);
  double K[6], across, q[2][12], more[144] = {0};
  const int at[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  hk_pair_term(pair, &touch, K, &across, q);
  CHECK(across == 0 && hk_pair_turning(pair, &touch, more));
  for (int e = 0; e < 9; e++) H[e] = K[at[e]] + more[e / 3 * 12 + e % 3];
  for (int e = 0; e < 144; e++) CHECK(more[e] == 0 || (e / 12 < 3 && e % 12 < 3));
}

TEST(gradients_and_hessians_are_those_of_differences) {
  const double STEP = 1e-6;
  uint64_t seed = 4;
  int tried = 0, judged = 0;
  for (int trial = 0; trial < 4000; trial++) {
    HkContactPair pair = draw(&seed);
    HkTouch touch = hk_pair_touch(&pair);
    if (!(touch.g > 0.02) || touch.g >= pair.ghat) continue;
    double G[12], H[9], scale = pair.k * pair.ghat * (1 - hk_barrier_slope(touch.g / pair.ghat));
    tried++;
    gradient(&pair, G);
    hessian(&pair, H);
    for (int q = 0; q < 12; q++) {
      HkContactPair up = pair, down = pair;
      double g[12], h[12], H_up[9], H_down[9], jump = 0;
      up.x[q] += STEP;
      down.x[q] -= STEP;
      CHECK_NEAR((energy(&up) - energy(&down)) / (2 * STEP), G[q], 1e-6 * scale);
      if (q >= 3) continue;
      gradient(&up, g);
      gradient(&down, h);
      hessian(&up, H_up);
      hessian(&down, H_down);
      for (int e = 0; e < 9; e++) jump = fmax(jump, fabs(H_up[e] - H_down[e]));
      if (jump > 0.01 * scale) continue; /* the closest points change to other features */
      judged++;
      for (int r = 0; r < 3; r++)
        CHECK_NEAR((g[r] - h[r]) / (2 * STEP), H[3 * r + q], 1e-4 * scale / touch.g);
    }
  }
  CHECK(tried > 500 && judged > 1400);
}

TEST(energy_changes_are_those_of_the_slope_and_of_the_energy) {
  uint64_t seed = 9;
  int tried = 0;
  for (int trial = 0; trial < 2000; trial++) {
    HkContactPair pair = draw(&seed);
    HkTouch touch = hk_pair_touch(&pair);
    if (!(touch.g > 0.02) || touch.g >= 0.9 * pair.ghat) continue;
    double G[12], direction[3];
    double rounding = 1e-15 * pair.k * pair.ghat * (1 - hk_barrier_slope(touch.g / pair.ghat));
    tried++;
    gradient(&pair, G);
    for (int q = 0; q < 3; q++) direction[q] = test_random(&seed);
    for (double length = 1e-3; length > 1e-9; length *= 0.1) {
      HkContactPair to = pair;
      double slope = 0;
      for (int q = 0; q < 3; q++) {
        to.x[q] += length * direction[q];
        slope += G[q] * (to.x[q] - pair.x[q]);
      }
      HkTouch there = hk_pair_touch(&to);
      double change = hk_pair_energy_change(&pair, &touch, &to, &there);
      double steep = pair.k * hk_barrier_curvature(touch.g / pair.ghat) + 2 * hk_norm(G) / 0.05;
      CHECK_NEAR(change, slope,
                 4 * steep * length * length + 1e-9 * hk_norm(G) * length + rounding);
      CHECK_NEAR(change, energy(&to) - energy(&pair), 1e-12 * pair.k);
      HkContactPair bare = pair; /* as one that is not near a flat edge at one of the two places */
      bare.flat = (HkFlat){0};
      CHECK(hk_pair_energy_change(&bare, &touch, &to, &there) == change);
      HkFlat near = hk_flat_near(&pair, pair.flat);
      CHECK(near.edges == pair.flat.edges || near.edges == 0);
      if (near.edges == 0) CHECK_NEAR(energy(&pair), bare_energy(&bare), 1e-12 * pair.k);
    }
  }
  CHECK(tried > 300);
}

/* ---- What is flat ---- */

static const HkContacts *contacts_of(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->filter) return w->sim->work.states[f].state;
  return NULL;
}

/* A loose mass, or a triangle, and an obstacle. */
static World make(const char *body, const char *obstacle, double distance) {
  char text[4096];
  snprintf(text, sizeof text,
           "{'bodies': [%s], 'obstacles': [%s], 'forces': [{'type': 'contact', 'distance': %g, "
           "'thickness': 0.002, 'self': false}], 'time': {'duration': 1, 'step': 0.01, "
           "'frames_per_second': 100}, 'integrator': 'backward_euler'}",
           body, obstacle, distance);
  return world_parse(text);
}

static const char mass[] = "{'mesh': {'vertices': [[0, 5, 0]]}, 'mass': {'per_vertex': 0.1}}";
static const char triangle[] =
    "{'mesh': {'vertices': [[0, 5, 0], [1, 5, 0], [0, 5, 1]], 'triangles': [[0, 1, 2]]}, "
    "'springs': {'k': 10}, 'mass': {'per_vertex': 0.1}}";

/* A mesh in a file with these lines. */
static World make_mesh(const char *body, const char *lines, const char *more, double distance) {
  char path[1024], obstacle[2048];
  snprintf(path, sizeof path, "%s/flat.obj", test_folder());
  FILE *file = fopen(path, "w");
  if (file) {
    fputs(lines, file);
    fclose(file);
  }
  snprintf(obstacle, sizeof obstacle, "{'type': 'mesh', 'file': '%s'%s}", path, more);
  return make(body, obstacle, distance);
}

/* Points and edges of obstacles that are features of their own. */
static void count_owned(const World *w, int *points, int *edges) {
  const HkFeatures *f = &contacts_of(w)->data->features;
  *points = *edges = 0;
  for (int64_t s = 0; s < f->slot_count; s++)
    for (int c = 0; c < 3 && f->group[s / HK_CONTACT_WIDTH] >= f->body_count; c++) {
      *points += f->owns[s] >> c & 1;
      *edges += f->owns[s] >> (3 + c) & 1;
    }
}

static void expect(World w, int points, int edges) {
  int p, e;
  if (!w.sim) return;
  count_owned(&w, &p, &e);
  CHECK(p == points && e == edges);
  world_destroy(&w);
}

TEST(edges_between_triangles_of_one_plane_are_flat_and_no_others) {
  const char fold[] = "f 1 2 3\nf 2 1 4\n";
  char lines[512];
  expect(make(mass, "{'type': 'box', 'size': [1, 2, 3], 'angle': 30}", 1e-3), 8, 12);
  const struct {
    const char *last; /* the fourth vertex */
    int edges;
  } cases[] = {{"0.3 -1 0", 4},     /* flat */
               {"0.3 -1 1e-4", 5},  /* bent */
               {"0.3 -1 1e-8", 5},  /* by more than 1e-6 of the distance */
               {"0.3 -1 1e-10", 4}, /* by less */
               {"0.3 0.7 0", 5}};   /* folded back upon the first */
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    snprintf(lines, sizeof lines, "v 0 0 0\nv 1 0 0\nv 0.2 1 0\nv %s\n%s", cases[k].last, fold);
    expect(make_mesh(mass, lines, "", 1e-3), 4, cases[k].edges);
  }
  /* three triangles at one edge; and a vertex with flat edges all around */
  expect(make_mesh(mass,
                   "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n", "",
                   1e-3),
         5, 7);
  expect(make_mesh(mass, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv -1 -1 0\nf 1 2 3\nf 1 3 4\nf 1 4 2\n", "",
                   1e-3),
         3, 3);
  /* a line at that vertex */
  expect(
      make_mesh(mass,
                "v 0 0 0\nv 1 0 0\nv 0 1 0\nv -1 -1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\nf 1 4 2\nl 1 5\n",
                "", 1e-3),
      5, 4);
}

/* ---- Points over flat parts ---- */

enum { CELLS = 6 };

/* A square of 6 x 6 cells of about 4 mm, whose inner vertices and diagonals are random. */
static void write_patch(uint64_t *seed, char *lines, size_t size) {
  size_t at = 0;
  for (int i = 0; i <= CELLS; i++)
    for (int k = 0; k <= CELLS; k++) {
      bool inner = i > 0 && i < CELLS && k > 0 && k < CELLS;
      double x = i + (inner ? 0.3 * test_random(seed) : 0), z = k;
      if (inner) z += 0.3 * test_random(seed);
      at += (size_t)snprintf(lines + at, size - at, "v %.17g 0 %.17g\n", 0.004 * x, 0.004 * z);
    }
  for (int i = 0; i < CELLS; i++)
    for (int k = 0; k < CELLS; k++) {
      int a = 1 + i * (CELLS + 1) + k, b = a + CELLS + 1;
      bool other = test_random(seed) > 0;
      at += (size_t)snprintf(lines + at, size - at, "f %d %d %d\nf %d %d %d\n", a, a + 1,
                             other ? b : b + 1, other ? b : a, other ? a + 1 : b + 1,
                             other ? b + 1 : b);
    }
}

/* The energy and the force are those of a plane, and outside of the border those of its edge. */
TEST(a_point_over_triangles_of_one_plane_has_the_barrier_of_the_plane) {
  const double GHAT = 0.003, R = 0.001, SIZE = 0.004 * CELLS;
  uint64_t seed = 3;
  int several = 0;
  for (int mesh = 0; mesh < 5; mesh++) {
    char lines[16384];
    write_patch(&seed, lines, sizeof lines);
    World w = make_mesh(mass, lines, "", GHAT);
    if (!w.sim) return;
    int f = w.model->force_count - 1;
    const HkForceType *type = w.model->forces[f].type;
    for (int trial = 0; trial < 400; trial++) {
      double x[3], force[3] = {0, 0, 0}, away[3] = {0, 0, 0}, height = 0.0012;
      for (int c = 0; c < 3; c += 2) x[c] = SIZE * (0.5 + 0.55 * test_random(&seed));
      x[1] = height + 0.0012 * (1 + test_random(&seed));
      for (int c = 0; c < 3; c++) away[c] = x[c] - (c == 1 ? 0 : fmin(fmax(x[c], 0), SIZE));
      HkForceArgs a = hk_force_args(w.model, f, &w.sim->work, 0, x, NULL);
      MUST(type->begin_step(&a, 0.01, error));
      double d = hk_norm(away), s = (d - R) / GHAT, k = 10 * 0.1 / 1e-4;
      if (s >= 1) continue;
      several += contacts_of(&w)->touchings[contacts_of(&w)->last].pair_count > 1;
      type->add(&a, force);
      CHECK_NEAR(type->energy(&a), k * GHAT * GHAT * hk_barrier(s), 1e-6 * k * GHAT * GHAT);
      for (int c = 0; c < 3; c++)
        CHECK_NEAR(force[c], -k * GHAT * hk_barrier_slope(s) * away[c] / d, 1e-6 * k * GHAT);
    }
    world_destroy(&w);
  }
  CHECK(several > 500);
}

/* ---- Nothing is overlooked ---- */

TEST(pairs_without_flat_features_know_the_least_gap) {
  const char *const obstacles[] = {"{'type': 'box', 'size': [1, 2, 3], 'angle': 30}",
                                   "{'type': 'cylinder', 'radius': 0.7, 'from': [0, -1, 0], "
                                   "'to': [0, 1, 0]}"};
  const double R = 0.001; /* half the thickness */
  uint64_t seed = 7;
  for (int q = 0; q < 2; q++) {
    World w = make(triangle, obstacles[q], 8);
    AllPairs pairs;
    int judged = 0, edges = 0;
    if (!w.sim) return;
    all_pairs_create(&pairs, w.model, 0.002);
    HkContacts *c = (HkContacts *)contacts_of(&w);
    for (int trial = 0; trial < 3000; trial++) {
      double x[9], center[3], least = INFINITY;
      for (int k = 0; k < 3; k++) center[k] = 3 * test_random(&seed);
      for (int k = 0; k < 9; k++) x[k] = center[k % 3] + 2 * test_random(&seed);
      double gap = all_pairs_least_gap(&pairs, x, 0);
      hk_contacts_begin(c, 0.01);
      const HkTouchings *found = hk_contacts_find(c, w.sim->work.springs, x);
      if (!found || hk_contacts_crossings(c, x, NULL, 0) != 0) continue;
      judged++;
      bool by_edges = false;
      for (int64_t k = 0; k < found->pair_count; k++) {
        double d = found->pair[k].touch.g + hk_contacts_xi(c, found->pair[k].vertex);
        if (!(d < least)) continue;
        least = d;
        by_edges = found->pair[k].split == HK_CONTACT_EDGES;
      }
      edges += by_edges;
      if (gap < 3) CHECK_NEAR(least, gap + R, 1e-9);
    }
    CHECK(judged > 500 && edges > 50);
    all_pairs_destroy(&pairs);
    world_destroy(&w);
  }
}
