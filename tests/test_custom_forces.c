/* Forces of the caller: they take part in every method as the built-in ones do, may couple any two
 * vertices, keep state, and forbid moves. */
#include "world.h"

#include "base/vec.h"
#include "hooke/extend.h"
#include "step/sim.h"

/* ---- A spring between two vertices that nothing else connects ---- */

typedef struct Tie {
  int32_t i, j;
  double k;       /* N/m */
  double damping; /* N s/m */
  int destroyed, states;
  bool out_of_range;
} Tie;

/* E = 1/2 k |x_i - x_j|^2 */
static double tie_energy(void *user, const HkForceAt *at) {
  const Tie *t = user;
  double d[3];
  hk_sub(at->x + 3 * (int64_t)t->i, at->x + 3 * (int64_t)t->j, d);
  return 0.5 * t->k * hk_dot(d, d);
}

static void tie_add(void *user, const HkForceAt *at, double *f) {
  const Tie *t = user;
  double d[3], w[3] = {0, 0, 0};
  int64_t i = 3 * (int64_t)t->i, j = 3 * (int64_t)t->j;
  hk_sub(at->x + i, at->x + j, d);
  if (at->v) hk_sub(at->v + i, at->v + j, w);
  for (int c = 0; c < 3; c++) {
    double pull = t->k * d[c] + t->damping * w[c];
    f[i + c] -= pull;
    f[j + c] += pull;
  }
}

static void add_pair(const Tie *t, double value, HkForceBlockSink *sink) {
  double B[9], minus[9];
  hk_mat_identity(value, B);
  hk_mat_identity(-value, minus);
  hk_force_add_block(sink, t->i, t->i, B);
  hk_force_add_block(sink, t->i, t->j, minus);
  hk_force_add_block(sink, t->j, t->j, B);
  hk_force_add_block(sink, t->out_of_range ? 1000000 : t->j, t->i, minus);
}

static void tie_hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  (void)at;
  add_pair(user, ((Tie *)user)->k, sink);
}

static void tie_damping(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  (void)at;
  add_pair(user, ((Tie *)user)->damping, sink);
}

static void tie_destroy(void *user) {
  ((Tie *)user)->destroyed++;
}

static HkForceFunctions tie_functions(bool damped) {
  HkForceFunctions f = hk_force_functions_default();
  f.name = "tie";
  f.energy = tie_energy;
  f.add = tie_add;
  f.hessian = tie_hessian;
  f.destroy = tie_destroy;
  if (damped) f.damping = tie_damping;
  return f;
}

/* A cloth of 6 x 5 vertices under tension between its corners, so that each step has one minimum.
 * Its vertices 7 and 22 are tied together, by a spring of the scene without length, or by a force
 * of the caller. */
static const char *const tied_cloth =
    "{'integrator': %s, 'time': {'step': 0.02}, 'bodies': [{'shape': {'type': 'grid', 'nx': 6, "
    "'ny': 5}, 'springs': {'k': 300, 'shear': true, 'rest_scale': 0.5, 'table': [%s]}, 'mass': "
    "0.8, 'spin': [1, 2, 0]}], 'pins': [{'select': 'corners'}], 'forces': ['gravity'], 'outputs': "
    "[]}";

static World cloth_with(const char *integrator, bool spring, int threads) {
  char text[1024];
  snprintf(text, sizeof text, tied_cloth, integrator, spring ? "[7, 22, 50, 0, 0]" : "");
  return world_make(text, NULL, 0, threads);
}

static HkStatus tie(World *w, Tie *t, bool damped, HkError *error) {
  HkForceFunctions f = tie_functions(damped);
  return hk_model_add_custom_force(w->model, &f, t, NULL, error);
}

static double largest_difference(World *a, World *b) {
  double most = 0;
  for (int64_t c = 0; c < 3 * a->model->n; c++)
    most = fmax(most, fabs(hk_state_x(a->state)[c] - hk_state_x(b->state)[c]));
  return most;
}

#define BACKWARD(minimizer) "{'type': 'backward_euler', 'minimizer': " minimizer "}"
#define NEWTON(linear) BACKWARD("{'type': 'newton', 'tolerance': 1e-10, 'linear': " linear "}")
#define PCG(preconditioner) "{'type': 'pcg', 'preconditioner': '" preconditioner "'}"
#define LONG(name) BACKWARD("{'type': '" name "', 'iterations': 100000, 'tolerance': 1e-9}")

/* The methods that can be had anywhere, each to a tolerance far below what is compared. */
static const char *const methods[] = {
    NEWTON("'ldlt'"),
    NEWTON("'cg'"),
    NEWTON(PCG("jacobi")),
    NEWTON(PCG("block_jacobi")),
    NEWTON(PCG("ic0")),
    NEWTON(PCG("ssor")),
    NEWTON(PCG("multigrid")),
    NEWTON(PCG("prefactored")),
    NEWTON("{'type': 'gauss_seidel', 'iterations': 100000}"),
    LONG("local_global"),
    LONG("lbfgs"),
    LONG("vertex_block_descent"),
    LONG("jacobi"),
    LONG("gradient_descent"),
    "{'type': 'bdf2', 'minimizer': {'type': 'newton', 'linear': 'ldlt', 'tolerance': 1e-10}}",
    "{'type': 'implicit_midpoint', 'minimizer': {'type': 'newton', 'linear': 'ldlt', 'tolerance': "
    "1e-10}}",
    "{'type': 'linear_implicit_euler', 'linear': 'ldlt'}",
    "{'type': 'beta', 'linear': " PCG("multigrid") "}",
};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* A spring without length is linear, so that it is the same force in every method. */
TEST(a_force_of_the_caller_moves_as_a_spring_of_the_scene_does) {
  for (int q = 0; q < METHODS; q++) {
    Tie t = {.i = 7, .j = 22, .k = 50};
    World with = cloth_with(methods[q], false, 2), expected = cloth_with(methods[q], true, 2);
    if (!with.sim || !expected.sim) return;
    MUST(tie(&with, &t, false, error));
    world_steps(&with, 8);
    world_steps(&expected, 8);
    double off = largest_difference(&with, &expected);
    if (!(off < 2e-7)) test_fail(__FILE__, __LINE__, "%s: off by %g m", methods[q], off);
    CHECK_NEAR(world_info(&with).total, world_info(&expected).total, 1e-5);
    world_destroy(&with);
    world_destroy(&expected);
    CHECK(t.destroyed == 1);
  }
}

TEST(a_force_of_the_caller_takes_part_in_explicit_steps) {
  static const char *const names[] = {"'symplectic_euler'", "'verlet'", "'rk4'",
                                      "{'type': 'symplectic_euler', 'precision': 'single'}"};
  for (int q = 0; q < 4; q++) {
    Tie t = {.i = 7, .j = 22, .k = 50};
    World with = cloth_with(names[q], false, 2), expected = cloth_with(names[q], true, 2);
    if (!with.sim || !expected.sim) return;
    MUST(hk_sim_set_h(with.sim, 1e-3, error));
    MUST(hk_sim_set_h(expected.sim, 1e-3, error));
    MUST(tie(&with, &t, false, error));
    world_steps(&with, 100);
    world_steps(&expected, 100);
    CHECK(largest_difference(&with, &expected) < (q == 3 ? 1e-4 : 1e-10));
    world_destroy(&with);
    world_destroy(&expected);
  }
}

/* The largest m (v+ - v) / h - f(x+, v+) (N) of a step of backward Euler, over the free vertices.
 */
static double unbalanced_force(World *w) {
  double v[90], f[90], most = 0;
  memcpy(v, hk_state_v(w->state), sizeof v);
  world_steps(w, 1);
  hk_sim_forces(w->sim, w->state, f);
  for (int64_t c = 0; c < 90; c++) {
    double m = hk_model_masses(w->model)[c / 3];
    int64_t i = c / 3;
    bool pinned = i == 0 || i == 5 || i == 24 || i == 29;
    double off = m * (hk_state_v(w->state)[c] - v[c]) / hk_sim_h(w->sim) - f[c];
    if (!pinned) most = fmax(most, fabs(off));
  }
  return most;
}

/* Blocks of C between vertices that no spring connects: f depends on v linearly, and a step of
 * backward Euler meets its equation. */
TEST(a_damper_of_the_caller_damps_implicitly) {
  for (int q = 0; q < METHODS && strstr(methods[q], "backward"); q++) {
    Tie t = {.i = 7, .j = 22, .k = 50, .damping = 20};
    World w = cloth_with(methods[q], false, 1);
    if (!w.sim) return;
    MUST(tie(&w, &t, true, error));
    for (int step = 0; step < 3; step++) {
      double off = unbalanced_force(&w);
      if (!(off < 1e-5)) test_fail(__FILE__, __LINE__, "%s: %g N", methods[q], off);
    }
    world_destroy(&w);
  }
}

TEST(the_stiffness_matrix_has_the_blocks_of_the_caller) {
  Tie t = {.i = 7, .j = 22, .k = 50};
  World w = cloth_with(methods[0], false, 1);
  HkTriplets *K = NULL;
  double found = 0;
  MUST(tie(&w, &t, false, error));
  MUST(hk_sim_stiffness(w.sim, w.state, &K, error));
  for (int64_t e = 0; e < K->count; e++)
    if (K->row[e] == 3 * 7 && K->column[e] == 3 * 22) found = K->value[e];
  CHECK_NEAR(found, 50, 1e-12);
  hk_triplets_destroy(&K);
  world_destroy(&w);
}

/* An array that is the weight of each vertex does what gravity does. */
TEST(an_array_of_forces_is_read_in_every_step) {
  static const char *const names[] = {"'verlet'", NEWTON("'ldlt'"), LONG("lbfgs")};
  for (int q = 0; q < 3; q++) {
    double weight[90] = {0};
    World with = cloth_with(names[q], false, 1), expected = cloth_with(names[q], false, 1);
    int index;
    if (!with.sim || !expected.sim) return;
    MUST(hk_sim_set_h(with.sim, 1e-3, error));
    MUST(hk_sim_set_h(expected.sim, 1e-3, error));
    MUST(hk_model_remove_force(with.model, 1, error));
    MUST(hk_model_add_force_array(with.model, weight, &index, error));
    CHECK(index == 1);
    world_steps(&with, 1); /* without weight, in both */
    MUST(hk_state_copy(with.state, expected.state, error));
    for (int64_t i = 0; i < 30; i++) weight[3 * i + 1] = -9.81 * hk_model_masses(with.model)[i];
    world_steps(&with, 10);
    world_steps(&expected, 10);
    CHECK(largest_difference(&with, &expected) < 1e-8);
    world_destroy(&with);
    world_destroy(&expected);
  }
}

TEST(what_makes_no_force_is_refused) {
  Tie t = {.i = 7, .j = 22, .k = 50};
  World w = cloth_with(methods[0], false, 1);
  HkForceFunctions f = tie_functions(false);
  f.size = 3;
  FAILS(hk_model_add_custom_force(w.model, &f, &t, NULL, error), HK_ERROR_INVALID, "version");
  f = tie_functions(false);
  f.add = NULL;
  FAILS(hk_model_add_custom_force(w.model, &f, &t, NULL, error), HK_ERROR_INVALID, "add");
  f = tie_functions(false);
  f.energy = NULL;
  FAILS(hk_model_add_custom_force(w.model, &f, &t, NULL, error), HK_ERROR_INVALID, "energy");
  CHECK(t.destroyed == 3 && hk_model_force_count(w.model) == 2);
  t.out_of_range = true;
  MUST(tie(&w, &t, false, error));
  FAILS(hk_sim_step(w.sim, w.state, error), HK_ERROR_INVALID,
        "force 'tie' has added a block at vertices 1000000 and 7; there are the vertices 0 to 29");
  world_destroy(&w);
  CHECK(t.destroyed == 4);
}

/* ---- State and hooks ---- */

typedef struct Calls {
  int states, released, begun, ended, iterates, destroyed;
  double last_begin; /* s */
} Calls;

static HkStatus calls_create(void *user, void **state, HkError *error) {
  (void)error;
  ((Calls *)user)->states++;
  *state = user;
  return HK_OK;
}

static void calls_release(void *user, void *state) {
  CHECK(state == user);
  ((Calls *)user)->released++;
}

static HkStatus calls_begin(void *user, const HkForceAt *at, double h, HkError *error) {
  Calls *c = user;
  (void)error;
  CHECK(at->state == user && at->v && h == 0.02);
  CHECK(c->begun == c->ended);
  c->begun++;
  c->last_begin = at->t;
  return HK_OK;
}

static HkStatus calls_end(void *user, const HkForceAt *at, double h, HkError *error) {
  Calls *c = user;
  (void)error;
  c->ended++;
  CHECK(c->begun == c->ended);
  CHECK_NEAR(at->t, c->last_begin + h, 1e-12);
  return HK_OK;
}

static HkStatus calls_iterate(void *user, const HkForceAt *at, HkError *error) {
  Calls *c = user;
  (void)at;
  (void)error;
  CHECK(c->begun == c->ended + 1);
  c->iterates++;
  return HK_OK;
}

static void no_force(void *user, const HkForceAt *at, double *f) {
  (void)user;
  (void)at;
  (void)f;
}

static void calls_destroy(void *user) {
  ((Calls *)user)->destroyed++;
}

TEST(hooks_are_called_once_a_step_and_once_an_iterate) {
  for (int q = 0; q < METHODS; q++) {
    Calls calls = {0};
    HkForceFunctions f = hk_force_functions_default();
    f.add = no_force;
    f.create_state = calls_create;
    f.destroy_state = calls_release;
    f.begin_step = calls_begin;
    f.end_step = calls_end;
    f.begin_iterate = calls_iterate;
    f.destroy = calls_destroy;
    World w = cloth_with(methods[q], false, 1);
    int index;
    if (!w.sim) return;
    MUST(hk_model_add_custom_force(w.model, &f, &calls, &index, error));
    int64_t iterations = 0;
    for (int step = 0; step < 5; step++) {
      world_steps(&w, 1);
      iterations += hk_sim_step_info(w.sim).iterations;
    }
    CHECK(calls.states == 1 && calls.begun == 5 && calls.ended == 5);
    bool minimizes = strstr(methods[q], "minimizer") != NULL;
    CHECK(minimizes ? calls.iterates >= iterations : calls.iterates == 0);
    MUST(hk_model_remove_force(w.model, index, error));
    CHECK(calls.released == 0 && calls.destroyed == 0); /* the simulation still has its state */
    world_steps(&w, 1);
    CHECK(calls.released == 1 && calls.destroyed == 1 && calls.begun == 5);
    world_destroy(&w);
  }
}

/* A force that demands its own state. */
static double owner_energy(void *user, const HkForceAt *at) {
  CHECK(at->state == user);
  return 0;
}

static void owner_hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  const double zero[9] = {0};
  CHECK(at->state == user);
  hk_force_add_block(sink, 0, 0, zero);
}

TEST(the_forces_that_stay_keep_their_states_when_one_is_removed) {
  Calls calls[2] = {{0}};
  World w = cloth_with("'symplectic_euler'", false, 1);
  HkTriplets *K = NULL;
  double h;
  if (!w.sim) return;
  for (int q = 0; q < 2; q++) {
    HkForceFunctions f = hk_force_functions_default();
    f.add = no_force;
    f.energy = owner_energy;
    f.hessian = owner_hessian;
    f.create_state = calls_create;
    MUST(hk_model_add_custom_force(w.model, &f, &calls[q], NULL, error));
  }
  MUST(hk_sim_stable_step(w.sim, w.state, &h, error));
  MUST(hk_model_remove_force(w.model, 2, error));
  MUST(hk_sim_stable_step(w.sim, w.state, &h, error));
  MUST(hk_sim_stiffness(w.sim, w.state, &K, error));
  hk_triplets_destroy(&K);
  world_destroy(&w);
}

/* ---- A floor that no vertex may pass ---- */

typedef struct Floor {
  double height;   /* m */
  int filtered;    /* moves that were shortened */
  int64_t blocked; /* vertices in them */
  bool scalar;     /* all vertices are shortened alike */
} Floor;

/* Vertices within CLOSE of the floor are pushed away by E = 1/2 k (CLOSE - y)^2; the filter takes
 * care that none goes further than 0.9 of the way to it. */
static const double CLOSE = 0.005, FLOOR_K = 4000;

static double gap_of(const Floor *f, const double *x, int64_t i) {
  return x[3 * i + 1] - f->height;
}

static double floor_energy(void *user, const HkForceAt *at) {
  double sum = 0;
  for (int64_t i = 0; i < at->vertices; i++) {
    double depth = CLOSE - gap_of(user, at->x, i);
    if (depth > 0) sum += 0.5 * FLOOR_K * depth * depth;
  }
  return sum;
}

static void floor_add(void *user, const HkForceAt *at, double *f) {
  for (int64_t i = 0; i < at->vertices; i++) {
    double depth = CLOSE - gap_of(user, at->x, i);
    if (depth > 0) f[3 * i + 1] += FLOOR_K * depth;
  }
}

static void floor_hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  for (int64_t i = 0; i < at->vertices; i++)
    if (gap_of(user, at->x, i) < CLOSE)
      hk_force_add_block(sink, (int32_t)i, (int32_t)i,
                         (const double[]){0, 0, 0, 0, FLOOR_K, 0, 0, 0, 0});
}

static bool floor_filter(void *user, const HkForceAt *at, double *to) {
  Floor *f = user;
  double least = 1;
  bool any = false;
  for (int64_t i = 0; i < at->vertices; i++) {
    double before = gap_of(f, at->x, i), after = gap_of(f, to, i), part = 1;
    if (after < 0.1 * before) part = 0.9 * before / (before - after);
    least = fmin(least, part);
    any |= part < 1;
    f->blocked += part < 1;
    for (int c = 0; c < 3 && part < 1 && !f->scalar; c++)
      to[3 * i + c] = at->x[3 * i + c] + part * (to[3 * i + c] - at->x[3 * i + c]);
  }
  for (int64_t c = 0; c < 3 * at->vertices && any && f->scalar; c++)
    to[c] = at->x[c] + least * (to[c] - at->x[c]);
  f->filtered += any;
  return any;
}

static double lowest_gap(World *w, const Floor *f) {
  double least = INFINITY;
  for (int64_t i = 0; i < w->model->n; i++) least = fmin(least, gap_of(f, hk_state_x(w->state), i));
  return least;
}

/* A cloth that falls at 3 m/s from 0.3 m above the floor. */
static World falling_cloth(const char *integrator, double h) {
  char text[1024];
  snprintf(text, sizeof text,
           "{'integrator': %s, 'time': {'step': %g, 'energy_bound': 1e9}, 'bodies': [{'shape': "
           "{'type': 'grid', 'nx': 6, 'ny': 5, 'plane': 'xz'}, 'springs': {'k': 300, 'shear': "
           "true}, 'mass': 0.8, 'transform': {'translate': [0, 0.3, 0]}, 'velocity': [0.5, -3, "
           "0]}], 'forces': ['gravity'], 'outputs': []}",
           integrator, h);
  return world_make(text, NULL, 0, 2);
}

/* With steps of 0.02 s: 6 cm a step. */
static void fall(const char *integrator, bool scalar, double h) {
  Floor ground = {.scalar = scalar};
  HkForceFunctions f = hk_force_functions_default();
  f.name = "floor";
  f.energy = floor_energy;
  f.add = floor_add;
  f.hessian = floor_hessian;
  f.filter = floor_filter;
  World w = falling_cloth(integrator, h);
  if (!w.sim) return;
  MUST(hk_model_add_custom_force(w.model, &f, &ground, NULL, error));
  for (int step = 0; step < (int)(0.4 / h); step++) {
    world_steps(&w, 1);
    double gap = lowest_gap(&w, &ground);
    if (!(gap > 0)) {
      test_fail(__FILE__, __LINE__, "%s: %g m at %g s", integrator, gap, hk_state_time(w.state));
      break;
    }
  }
  CHECK(ground.filtered > 0 && ground.blocked > 0); /* else nothing was tried */
  world_destroy(&w);
}

TEST(no_method_moves_a_vertex_where_a_force_forbids_it) {
  for (int q = 0; q < METHODS; q++) {
    fall(methods[q], false, 0.02);
    fall(methods[q], true, 0.02);
  }
  fall("'symplectic_euler'", false, 0.004);
  fall("'verlet'", true, 0.004);
  fall("'rk4'", false, 0.004);
}

/* A floor that only forbids, and does not push: a step ends as soon as nothing is gained. */
TEST(a_filter_without_an_energy_ends_a_step_soon) {
  for (int q = 0; q < METHODS && strstr(methods[q], "backward"); q++) {
    Floor ground = {0};
    HkForceFunctions f = hk_force_functions_default();
    f.add = no_force;
    f.filter = floor_filter;
    World w = falling_cloth(methods[q], 0.02);
    if (!w.sim) return;
    MUST(hk_model_add_custom_force(w.model, &f, &ground, NULL, error));
    int iterations = 0;
    for (int step = 0; step < 10; step++) {
      MUST(hk_sim_step(w.sim, w.state, error));
      HkStepInfo info = hk_sim_step_info(w.sim);
      if (info.iterations > iterations) iterations = info.iterations;
    }
    CHECK(ground.filtered > 0 && lowest_gap(&w, &ground) > 0);
    if (iterations > 10 && strstr(methods[q], "newton"))
      test_fail(__FILE__, __LINE__, "%s: %d iterations", methods[q], iterations);
    world_destroy(&w);
  }
}

/* ---- Blocks that come and go ---- */

/* All pairs of vertices closer than REACH push each other apart, E = 1/2 k (REACH - l)^2. */
static const double REACH = 0.42, PAIR_K = 5;

typedef void PairFn(void *to, int32_t i, int32_t j, const double u[3], double depth, double l);

static void for_each_pair(const HkForceAt *at, PairFn *fn, void *to) {
  for (int32_t i = 0; i < at->vertices; i++)
    for (int32_t j = 0; j < i; j++) {
      double u[3];
      hk_sub(at->x + 3 * (int64_t)i, at->x + 3 * (int64_t)j, u);
      double l = hk_norm(u);
      if (l >= REACH || l == 0) continue;
      for (int c = 0; c < 3; c++) u[c] /= l;
      fn(to, i, j, u, REACH - l, l);
    }
}

static void sum_energy(void *to, int32_t i, int32_t j, const double u[3], double depth, double l) {
  (void)i, (void)j, (void)u, (void)l;
  *(double *)to += 0.5 * PAIR_K * depth * depth;
}

static void sum_force(void *to, int32_t i, int32_t j, const double u[3], double depth, double l) {
  (void)l;
  hk_axpy(PAIR_K * depth, u, (double *)to + 3 * (int64_t)i);
  hk_axpy(-PAIR_K * depth, u, (double *)to + 3 * (int64_t)j);
}

/* d2E/dx_i2 = k u u^T, its positive semidefinite part. */
static void sum_blocks(void *to, int32_t i, int32_t j, const double u[3], double depth, double l) {
  double B[9], minus[9];
  (void)depth, (void)l;
  hk_mat_identity(0, B);
  hk_mat_add_outer(PAIR_K, u, u, B);
  for (int q = 0; q < 9; q++) minus[q] = -B[q];
  hk_force_add_block(to, i, i, B);
  hk_force_add_block(to, j, j, B);
  hk_force_add_block(to, i, j, minus);
  hk_force_add_block(to, j, i, minus);
}

static double pairs_energy(void *user, const HkForceAt *at) {
  double sum = 0;
  (void)user;
  for_each_pair(at, sum_energy, &sum);
  return sum;
}

static void pairs_add(void *user, const HkForceAt *at, double *f) {
  (void)user;
  for_each_pair(at, sum_force, f);
}

static void pairs_hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  (void)user;
  for_each_pair(at, sum_blocks, sink);
}

TEST(blocks_that_come_and_go_lead_every_solver_to_the_same_motion) {
  World first = {0};
  HkForceFunctions f = hk_force_functions_default();
  f.name = "pairs";
  f.energy = pairs_energy;
  f.add = pairs_add;
  f.hessian = pairs_hessian;
  for (int q = 0; q < 9; q++) { /* newton with every linear solver */
    World w = cloth_with(methods[q], false, 2);
    if (!w.sim) return;
    MUST(hk_model_add_custom_force(w.model, &f, NULL, NULL, error));
    world_steps(&w, 15);
    CHECK(hk_sim_step_info(w.sim).reason <= HK_STOP_STATIONARY);
    double off = first.sim ? largest_difference(&w, &first) : 0;
    if (!(off < 1e-5)) test_fail(__FILE__, __LINE__, "%s: off by %g m", methods[q], off);
    if (q == 0)
      first = w;
    else
      world_destroy(&w);
  }
  world_destroy(&first);
}

/* ---- Many couplings, in multigrid ---- */

/* Ties between vertices that are far from each other, a thousand times as stiff as the springs. */
enum { TIES = 150, SIDE = 40 };

typedef struct Ties {
  Tie tie[TIES];
} Ties;

static double ties_energy(void *user, const HkForceAt *at) {
  double sum = 0;
  for (int q = 0; q < TIES; q++) sum += tie_energy(&((Ties *)user)->tie[q], at);
  return sum;
}

static void ties_add(void *user, const HkForceAt *at, double *f) {
  for (int q = 0; q < TIES; q++) tie_add(&((Ties *)user)->tie[q], at, f);
}

static void ties_hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  for (int q = 0; q < TIES; q++) tie_hessian(&((Ties *)user)->tie[q], at, sink);
}

static HkStepInfo step_with_ties(const char *preconditioner, double *x, HkError *error) {
  char text[1024];
  Ties ties;
  uint64_t seed = 7;
  for (int q = 0; q < TIES; q++) {
    int32_t ends[2];
    for (int c = 0; c < 2; c++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      ends[c] = (int32_t)((seed >> 33) % (SIDE * SIDE));
    }
    ties.tie[q] = (Tie){.i = ends[0], .j = ends[1] == ends[0] ? ends[0] + 1 : ends[1], .k = 3e5};
  }
  HkForceFunctions f = hk_force_functions_default();
  f.energy = ties_energy;
  f.add = ties_add;
  f.hessian = ties_hessian;
  snprintf(
      text, sizeof text,
      "{'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', 'iterations': "
      "1, 'forcing': 1e-6, 'linear': {'type': 'pcg', 'iterations': 10000, 'preconditioner': "
      "'%s'}}}, 'time': {'step': 0.1}, 'bodies': [{'shape': {'type': 'grid', 'nx': %d, 'ny': "
      "%d}, 'springs': {'k': 300, 'shear': true, 'rest_scale': 0.5}}], 'pins': [{'select': "
      "'corners'}], 'forces': ['gravity'], 'outputs': []}",
      preconditioner, SIDE, SIDE);
  World w = world_make(text, NULL, 0, 2);
  HkStepInfo info = {0};
  if (w.sim && hk_model_add_custom_force(w.model, &f, &ties, NULL, error) >= 0 &&
      hk_sim_step(w.sim, w.state, error) >= 0)
    info = hk_sim_step_info(w.sim);
  memcpy(x, hk_state_x(w.state), (size_t)(SIDE * SIDE) * 3 * sizeof *x);
  world_destroy(&w);
  return info;
}

TEST(multigrid_takes_couplings_between_any_vertices) {
  static double x[2][3 * SIDE * SIDE];
  HkError error = {0};
  HkStepInfo jacobi = step_with_ties("block_jacobi", x[0], &error);
  HkStepInfo multigrid = step_with_ties("multigrid", x[1], &error);
  CHECK(jacobi.linear_iterations > 0 && multigrid.linear_iterations > 0);
  printf("linear iterations with %d ties: block_jacobi %d, multigrid %d\n", TIES,
         jacobi.linear_iterations, multigrid.linear_iterations);
  CHECK(4 * multigrid.linear_iterations < jacobi.linear_iterations);
  CHECK(multigrid.residual <= 1e-6);
  double off = 0;
  for (int64_t c = 0; c < 3 * SIDE * SIDE; c++) off = fmax(off, fabs(x[0][c] - x[1][c]));
  CHECK(off < 1e-4);
}
