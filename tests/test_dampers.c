/* The damping of springs in implicit steps: a potential, which never feeds energy in. */
#include "base/vec.h"
#include "minimize/problem.h"
#include "model_by_hand.h"
#include "world.h"

/* ---- The potential ---- */

enum {
  SIDE = 5,
  SIZE = 3 * SIDE * SIDE,
  CAPACITY = SIZE + 4
}; /* vectors are read a little beyond */

/* A problem of a sheet with damped springs, some of them tension-only, at a random state. */
typedef struct Case {
  HkModel *model;
  HkForceWork work;
  HkProblem problem;
  double x[CAPACITY], b[CAPACITY], old[CAPACITY], p[CAPACITY], g[CAPACITY];
} Case;

static HkStatus begin(Case *a, double now, double old, HkError *error) {
  uint64_t seed = 11;
  ByHand by = by_hand();
  *a = (Case){0};
  by.damping = by.tension = true;
  a->model = model_of_sheet(by, SIDE, SIDE);
  HK_TRY(hk_force_work_create(a->model, &a->work, error));
  HK_TRY(hk_problem_create(a->model, &a->work, &a->problem, error));
  HK_TRY(hk_problem_need_dampers(&a->problem, error));
  HkProblem *p = &a->problem;
  p->tau = 0.2;
  for (int q = 0; q < SIZE; q++) {
    a->b[q] = p->y[q] = p->b[q] = a->model->x0[q] + 0.1 * test_random(&seed);
    a->old[q] = a->model->x0[q] + 0.1 * test_random(&seed);
    a->x[q] = a->model->x0[q] + 0.3 * test_random(&seed);
    a->p[q] = test_random(&seed);
  }
  HkDamperStart start = {
      .now = now, .old = old, .x = a->b, .x_old = a->old, .b = a->b, .ahead = a->old};
  hk_dampers_set(p->dampers, &a->work, p->tau, &start);
  return hk_problem_linearize(p, a->x, a->p, error);
}

static void end(Case *a) {
  hk_problem_destroy(&a->problem);
  hk_force_work_destroy(a->model, &a->work);
  model_by_hand_destroy(&a->model);
}

static const double combinations[][2] = {{1, 0}, {4.0 / 3, -1.0 / 3}, {0, 0}};

TEST(the_gradient_of_springs_with_dampers_is_that_of_their_energy) {
  for (int q = 0; q < 3; q++) {
    Case a;
    double step = 1e-5, high[CAPACITY] = {0}, low[CAPACITY] = {0};
    MUST(begin(&a, combinations[q][0], combinations[q][1], error));
    hk_problem_gradient(&a.problem, a.x, a.g);
    hk_vectors_add(&a.problem.space, step, a.p, a.x, high);
    hk_vectors_add(&a.problem.space, -step, a.p, a.x, low);
    double slope = hk_problem_change(&a.problem, low, high) / (2 * step);
    double exact = hk_vectors_dot(&a.problem.space, a.g, a.p);
    CHECK_NEAR(slope, exact, 1e-6 * fabs(exact));
    end(&a);
  }
}

/* The length that a damper compares with. */
static double length_before(const Case *a, int64_t s, int combination) {
  const HkModel *m = a->model;
  int64_t i = 3 * (int64_t)m->springs.i[s], j = 3 * (int64_t)m->springs.j[s];
  double least = m->springs.tension[s] ? m->springs.l0[s] : 0, u[3], d[3];
  double now = fmax(hk_distance(a->b + i, a->b + j), least);
  double old = fmax(hk_distance(a->old + i, a->old + j), least);
  hk_sub(a->old + i, a->old + j, u);
  hk_sub(a->b + i, a->b + j, d);
  const double lengths[] = {now, 4 * now / 3 - old / 3, hk_dot(u, d) / hk_norm(u)};
  return fmax(lengths[combination], least);
}

/* f = -k (l - l0) u - c (l - l_b) / tau u at the first end of a spring, 0 if it is slack. */
TEST(springs_with_dampers_pull_as_they_should) {
  for (int q = 0; q < 3; q++) {
    Case a;
    MUST(begin(&a, combinations[q][0], combinations[q][1], error));
    const HkModel *m = a.model;
    const HkSpringArrays *with = a.problem.work->springs;
    CHECK(!with->damping && with->count == m->springs.count);
    for (int64_t s = 0; s < m->springs.count; s++) {
      double l = 1.1 * m->springs.l0[s] + 0.01, before = length_before(&a, s, q);
      double force = m->springs.k[s] * (l - m->springs.l0[s]) +
                     m->springs.damping[s] * (l - before) / a.problem.tau;
      CHECK_NEAR(with->k[s] * (l - with->l0[s]), force, 1e-12 * (1 + fabs(force)));
    }
    end(&a);
  }
}

/* ---- Motions ---- */

/* The largest rise of the total energy from one step to the next, in parts of the first. */
static double largest_rise(const char *text, int steps) {
  World w = world_parse(text);
  double most = 0;
  if (!w.sim) return NAN;
  double before = world_info(&w).total, first = fabs(before);
  for (int q = 0; q < steps; q++) {
    CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);
    double after = world_info(&w).total;
    most = fmax(most, (after - before) / first);
    before = after;
  }
  world_destroy(&w);
  return most;
}

/* A cloth that swings from one corner. Threads with stronger dampers are as stiff as 1e5 N/m and
 * more, and newton does not find where all of them tighten. */
TEST(backward_euler_never_feeds_energy_into_damped_springs) {
  static const double steps[] = {24, 60, 240}, damping[] = {0, 0.01, 1, 100, 1e4, 1e6};
  for (int h = 0; h < 3; h++)
    for (int c = 0; c < 6; c++)
      for (int tension = 0; tension < (damping[c] > 100 ? 1 : 2); tension++) {
        char text[600];
        snprintf(text, sizeof text,
                 "{'time': {'step': %.17g}, 'integrator': 'backward_euler', 'bodies': [{'shape': "
                 "{'type': 'grid', 'nx': 8, 'ny': 8}, 'springs': {'k': 1000, 'shear': true, "
                 "'damping': %g, 'tension_only': %s}, 'mass': {'total': 0.2}}], 'pins': "
                 "[{'select': 'top_left'}], 'forces': ['gravity'], 'outputs': []}",
                 1 / steps[h], damping[c], tension ? "true" : "false");
        double rise = largest_rise(text, (int)steps[h] / 2);
        if (!(rise <= 1e-9))
          test_fail(__FILE__, __LINE__, "c = %g, h = 1/%g, tension_only %d: rises by %g",
                    damping[c], steps[h], tension, rise);
      }
}

/* A spring that turns freely keeps its length, whatever its damper: three quarters of a turn. */
TEST(a_damper_does_not_shorten_a_spring_that_turns) {
  World w = world_parse(
      "{'time': {'step': 0.02}, 'integrator': 'backward_euler', 'bodies': [{'mesh': {'vertices': "
      "[[-1, 0, 0], [1, 0, 0]], 'lines': [[0, 1]]}, 'springs': {'k': 10, 'damping': 1e6}, 'mass': "
      "{'per_vertex': 1e-3}, 'spin': [0, 0, 5]}], 'outputs': []}");
  if (!w.sim) return;
  for (int q = 0; q < 50; q++) {
    MUST(hk_sim_step(w.sim, w.state, error));
    const double *x = hk_state_x(w.state);
    CHECK_NEAR(hk_distance(x, x + 3), 2, 1e-6);
  }
  world_destroy(&w);
}
