/* The force of contact: against differences, rest on the ground, momentum, and no crossing. */
#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/contacts.h"
#include "model_by_hand.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
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
    "{'type': 'box', 'center': [0.25, 0.13, -0.25], 'size': [0.1, 0.1, 0.1], 'angle': 30}],"
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
  Dense dense = {{add_dense, hk_jacobian_skip}, calloc((size_t)(size * size), sizeof *x), size};
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
