/* Friction: against differences, on inclines, in momentum and energy, and from saved states. */
#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/friction.h"
#include "model_by_hand.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int contact_index(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->filter) return f;
  return -1;
}

static HkContacts *contacts_of(const World *w) {
  return w->sim->work.states[contact_index(w)].state;
}

/* ---- The law ---- */

TEST(the_laws_are_those_of_differences) {
  const HkFrictionLaw laws[] = {hk_friction_anchor(3, 700), hk_friction_ipc(3, 0.01)};
  const double STEP = 1e-6;
  for (int q = 0; q < 2; q++)
    for (double r = 2e-4; r < 0.02; r *= 1.3) {
      const HkFrictionLaw *l = &laws[q];
      if (fabs(r - l->c) < 2 * STEP) continue;
      double D = hk_friction_energy(l, r), up = hk_friction_energy(l, r + STEP),
             down = hk_friction_energy(l, r - STEP);
      double slope = r * hk_friction_secant(l, r);
      CHECK_NEAR((up - down) / (2 * STEP), slope, 1e-7 * l->limit);
      CHECK_NEAR((up - 2 * D + down) / (STEP * STEP), hk_friction_curvature(l, r), 2e-3 * l->k);
      CHECK(slope <= l->limit * (1 + 1e-15) && hk_friction_curvature(l, r) <= l->k);
      for (double d = -r; d < r; d += 0.37 * r) {
        double change = hk_friction_energy(l, r + d) - D;
        CHECK_NEAR(hk_friction_change(l, r, d), change, 1e-13 * hk_friction_energy(l, 2 * r));
        CHECK_NEAR(hk_friction_change(l, r, 1e-11 * d), slope * 1e-11 * d,
                   1e-10 * slope * 1e-11 * fabs(d));
      }
    }
}

/* ---- Differences of the force ---- */

/* Two sheets, a ball, a plane that moves and turns, and a ground, all within reach of each other;
 * %s: friction. */
#define CROWDED                                                                                    \
  "{'bodies': ["                                                                                   \
  "{'name': 'a', 'shape': {'type': 'grid', 'nx': 4, 'ny': 4, 'width': 0.3, 'height': 0.3},"        \
  " 'transform': {'axis': [1, 0, 0], 'angle': -90, 'translate': [0, 0.03, 0]},"                    \
  " 'springs': {'k': 100, 'shear': true}, 'mass': 0.1},"                                           \
  "{'name': 'b', 'shape': {'type': 'grid', 'nx': 4, 'ny': 4, 'width': 0.3, 'height': 0.3},"        \
  " 'transform': {'axis': [1, 0.1, 0], 'angle': -93, 'translate': [0.02, 0.07, 0.03]},"            \
  " 'springs': {'k': 100, 'shear': true}, 'mass': 0.1}],"                                          \
  "'obstacles': [{'type': 'ball', 'center': [0.1, 0.19, -0.1], 'radius': 0.1, 'motion': {'type': " \
  "'keyframes', 'table': [[0, 0, 0, 0], [0.01, 0.002, 0, 0.001]]}},"                               \
  "{'type': 'plane', 'point': [0, -0.01, 0], 'normal': [0.02, 1, 0], 'motion': {'type': "          \
  "'rotation', 'axis': [0, 1, 0.01], 'center': [0.3, 0, 0], 'speed': 30}},"                        \
  "{'type': 'box', 'center': [0.28, 0.16, -0.25], 'size': [0.1, 0.1, 0.1], 'angle': 30}],"         \
  "'forces': ['gravity', {'type': 'contact', 'distance': 0.05, 'thickness': 0.002, 'ground': "     \
  "true, %s}],"                                                                                    \
  "'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 100},"                               \
  "'integrator': {'type': 'backward_euler', 'minimizer': 'newton'}}"

enum { CONTACT = 2 }; /* springs, gravity, contact */
static const double H = 0.01;

static HkForceArgs contact_args(const World *w, double t, const double *x) {
  return hk_force_args(w->model, CONTACT, &w->sim->work, t, x, NULL);
}

typedef struct Dense {
  HkJacobianSink sink;
  double *A;
  int64_t size;
} Dense;

static void add_dense(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  Dense *d = (Dense *)sink;
  for (int q = 0; q < 9; q++) d->A[(3 * i + q / 3) * d->size + 3 * j + q % 3] -= B[q];
}

/* A step has begun at x0, with random anchors; x is a random place in the step. */
typedef struct Crowd {
  World w;
  double *x0, *x;
  int64_t size, stuck, slipping;
} Crowd;

/* Random anchors of all contacts: half of them beyond their limit. */
static void set_anchors(Crowd *c, uint64_t *seed) {
  HkFriction *f = contacts_of(&c->w)->friction;
  HkAnchor *anchor = malloc((size_t)f->count * sizeof *anchor);
  for (int64_t k = 0; k < f->count; k++) {
    const HkFrictionContact *t = &f->contact[k];
    double reach = (k % 2 ? 4 : 0.3) * t->limit / t->k;
    anchor[k] = (HkAnchor){.key = t->key,
                           .k = t->k * (k % 3 ? 1 : 2),
                           .lambda = (k % 7 ? 2 : 0.5) * t->limit,
                           .kind = (uint64_t)k % HK_ANCHOR_KINDS};
    for (int q = 0; q < 3; q++) anchor[k].s[q] = reach * test_random(seed);
  }
  struct {
    uint64_t version;
    int64_t count;
    double work;
  } head = {1, f->count, 0.25};
  size_t size = sizeof head + (size_t)f->count * sizeof *anchor;
  char *bytes = malloc(size);
  memcpy(bytes, &head, sizeof head);
  memcpy(bytes + sizeof head, anchor, size - sizeof head);
  HkForceMemory memory = {.bytes = bytes, .size = (int64_t)size};
  HkForceArgs a = contact_args(&c->w, 0, c->x0);
  a.memory = &memory;
  const HkForceType *type = c->w.model->forces[CONTACT].type;
  MUST(type->load(&a, error));
  MUST(type->begin_step(&a, H, error));
  CHECK_NEAR(hk_friction_work(contacts_of(&c->w)), 0.25, 0);
  free(bytes);
  free(anchor);
}

static Crowd crowd(const char *friction, double move, uint64_t seed) {
  char text[4096];
  snprintf(text, sizeof text, CROWDED, friction);
  Crowd c = {.w = world_parse(text)};
  const HkForceType *type = c.w.model->forces[CONTACT].type;
  c.size = 3 * c.w.model->n;
  c.x0 = malloc((size_t)c.size * sizeof *c.x0);
  c.x = malloc((size_t)c.size * sizeof *c.x);
  for (int64_t q = 0; q < c.size; q++) {
    c.x0[q] = c.w.model->x0[q] + 0.004 * test_random(&seed);
    c.x[q] = c.x0[q] + move * test_random(&seed);
  }
  HkForceArgs a = contact_args(&c.w, 0, c.x0);
  CHECK(type->begin_step(&a, H, NULL) >= 0);
  if (!strstr(friction, "ipc")) set_anchors(&c, &seed);
  a.t = H;
  type->begin_stage(&a);
  type->advance(&a, 1);
  return c;
}

static void crowd_destroy(Crowd *c) {
  free(c->x0);
  free(c->x);
  world_destroy(&c->w);
}

/* Counts the contacts of pairs and of walls that stick and that slip at x. */
static void count(const Crowd *c, int64_t pairs[2], int64_t walls[2]) {
  HkContacts *contacts = contacts_of(&c->w);
  const HkFriction *f = contacts->friction;
  double *force = calloc((size_t)c->size, sizeof *force);
  for (int64_t k = 0; k < f->count; k++) {
    HkFriction one = *f;
    one.contact = &f->contact[k];
    one.count = 1;
    contacts->friction = &one;
    HkForceArgs a = contact_args(&c->w, H, c->x);
    memset(force, 0, (size_t)c->size * sizeof *force);
    hk_friction_add(&a, force);
    double sum[3] = {0, 0, 0};
    for (int64_t q = 0; q < c->size; q++) sum[q % 3] += f->contact[k].wall >= 0 ? force[q] : 0;
    double energy = hk_friction_energy_at(&a), limit = f->contact[k].limit;
    bool slips = energy > limit * limit / (2 * f->contact[k].k) * (1 + 1e-12);
    if (f->contact[k].wall >= 0) {
      CHECK(hk_norm(sum) <= limit * (1 + 1e-12));
      walls[slips]++;
    } else {
      pairs[slips]++;
    }
  }
  contacts->friction = (HkFriction *)f;
  free(force);
}

static void check_differences(const char *friction, double move) {
  const double STEP = 1e-9;
  Crowd c = crowd(friction, move, 3);
  int64_t size = c.size, pairs[2] = {0, 0}, walls[2] = {0, 0};
  double *up = malloc((size_t)size * sizeof *up), *f = calloc((size_t)size, sizeof *f);
  double *g = calloc((size_t)size, sizeof *g), *h = calloc((size_t)size, sizeof *h);
  Dense dense = {{.dfdx = add_dense, .dfdv = hk_jacobian_skip},
                 calloc((size_t)(size * size), sizeof *g),
                 size};
  HkForceArgs a = contact_args(&c.w, H, c.x), b = contact_args(&c.w, H, up);
  count(&c, pairs, walls);
  if (!strstr(friction, "ipc")) CHECK(pairs[0] > 5 && pairs[1] > 5 && walls[0] > 5 && walls[1] > 5);
  CHECK(pairs[0] + pairs[1] > 30 && walls[0] + walls[1] > 10);
  hk_friction_add(&a, f);
  hk_friction_jacobian(&a, &dense.sink);
  double worst = 0, worst_H = 0, largest = 0, largest_H = 0;
  for (int64_t q = 0; q < size; q++) {
    memcpy(up, c.x, (size_t)size * sizeof *up);
    memset(g, 0, (size_t)size * sizeof *g);
    memset(h, 0, (size_t)size * sizeof *h);
    up[q] = c.x[q] + STEP;
    double there = up[q], plus = hk_friction_energy_change(&a, up);
    hk_friction_add(&b, g);
    up[q] = c.x[q] - STEP;
    double minus = hk_friction_energy_change(&a, up), length = there - up[q];
    hk_friction_add(&b, h);
    worst = fmax(worst, fabs((plus - minus) / length + f[q]));
    largest = fmax(largest, fabs(f[q]));
    for (int64_t r = 0; r < size; r++) {
      double expected = -(g[r] - h[r]) / length, given = dense.A[r * size + q];
      worst_H = fmax(worst_H, fabs(expected - given));
      largest_H = fmax(largest_H, fabs(expected));
      CHECK(given == dense.A[q * size + r] ||
            fabs(given - dense.A[q * size + r]) < 1e-9 * largest_H);
    }
  }
  CHECK(largest > 0.1);
  CHECK_NEAR(worst, 0, 2e-6 * largest);
  CHECK_NEAR(worst_H, 0, 3e-5 * largest_H);
  free(up);
  free(f);
  free(g);
  free(h);
  free(dense.A);
  crowd_destroy(&c);
}

TEST(force_and_hessian_are_those_of_differences) {
  check_differences("'friction': 0.5", 3e-5);
  check_differences("'friction': 0.7, 'friction_kinetic': 0.2", 3e-5);
  check_differences("'friction': 0.5, 'friction_law': 'ipc', 'friction_speed': 0.3", 3e-3);
}

/* x^T H x >= 0 for random x. */
TEST(the_hessian_is_positive_semidefinite) {
  Crowd c = crowd("'friction': 0.7", 1e-4, 5);
  Dense dense = {{.dfdx = add_dense, .dfdv = hk_jacobian_skip},
                 calloc((size_t)(c.size * c.size), sizeof(double)),
                 c.size};
  HkForceArgs a = contact_args(&c.w, H, c.x);
  uint64_t seed = 8;
  hk_friction_jacobian(&a, &dense.sink);
  for (int trial = 0; trial < 100; trial++) {
    double *p = calloc((size_t)c.size, sizeof *p), sum = 0, size = 0;
    for (int64_t q = 0; q < c.size; q++) p[q] = test_random(&seed);
    for (int64_t q = 0; q < c.size * c.size; q++) {
      double part = p[q / c.size] * dense.A[q] * p[q % c.size];
      sum += part;
      size += fabs(part);
    }
    CHECK(size > 0 && sum >= -1e-13 * size);
    free(p);
  }
  free(dense.A);
  crowd_destroy(&c);
}

TEST(energy_changes_are_accurate_where_positions_are_close) {
  const char *const frictions[] = {"'friction': 0.5", "'friction': 0.5, 'friction_law': 'ipc'"};
  for (int law = 0; law < 2; law++) {
    Crowd c = crowd(frictions[law], 3e-5, 6);
    HkForceArgs a = contact_args(&c.w, H, c.x);
    double *f = calloc((size_t)c.size, sizeof *f), *to = malloc((size_t)c.size * sizeof *to);
    uint64_t seed = 7;
    hk_friction_add(&a, f);
    for (double length = 1e-4; length > 1e-13; length *= 0.1) {
      double slope = 0;
      for (int64_t q = 0; q < c.size; q++) {
        to[q] = c.x[q] + length * test_random(&seed);
        slope -= f[q] * (to[q] - c.x[q]);
      }
      HkForceArgs b = contact_args(&c.w, H, to);
      double change = hk_friction_energy_change(&a, to);
      CHECK_NEAR(hk_friction_energy_change(&b, c.x), -change, 1e-9 * fabs(change) + 1e-22);
      double curvature = law ? 1e8 : 1e6; /* N/m, of all contacts together */
      CHECK_NEAR(change, slope, curvature * length * length + 1e-9 * fabs(slope));
      CHECK_NEAR(change, hk_friction_energy_at(&b) - hk_friction_energy_at(&a),
                 1e-12 * hk_friction_energy_at(&a));
    }
    free(f);
    free(to);
    crowd_destroy(&c);
  }
}
