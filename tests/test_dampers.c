/* The damping of springs in implicit steps: a potential, which never feeds energy in. */
#include "adjoint/damper_products.h"
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

/* ---- Derivatives of the springs of a step ---- */

enum { SPRINGS_MAX = 200 };

/* What the springs of a step depend on. */
typedef struct Inputs {
  double k[SPRINGS_MAX], l0[SPRINGS_MAX], damping[SPRINGS_MAX];
  double x[CAPACITY], old[CAPACITY], b[CAPACITY], ahead[CAPACITY];
} Inputs;

/* out = in + step direction */
static Inputs moved(const Inputs *in, const Inputs *direction, double step) {
  Inputs out = *in;
  double *to = (double *)&out;
  const double *from = (const double *)direction;
  for (size_t q = 0; q < sizeof out / sizeof *to; q++) to[q] += step * from[q];
  return out;
}

/* k' and l0' of all springs. */
static void springs_of_step(Case *a, Inputs *in, int combination, HkDamperStart *start, double *k,
                            double *l0) {
  HkModel *m = a->model;
  int64_t count = m->springs.count;
  memcpy(m->springs.k, in->k, (size_t)count * sizeof *k);
  memcpy(m->springs.l0, in->l0, (size_t)count * sizeof *k);
  memcpy(m->springs.damping, in->damping, (size_t)count * sizeof *k);
  *start = (HkDamperStart){.now = combinations[combination][0],
                           .old = combinations[combination][1],
                           .x = in->x,
                           .x_old = in->old,
                           .b = in->b,
                           .ahead = in->ahead};
  hk_dampers_set(a->problem.dampers, &a->work, a->problem.tau, start);
  memcpy(k, a->problem.dampers->springs.k, (size_t)count * sizeof *k);
  memcpy(l0, a->problem.dampers->springs.l0, (size_t)count * sizeof *k);
}

/* Random inputs, among them lengths below the rest length, springs that have turned round and, in
 * the predicted state, ends that meet, which then do not move. */
static void draw(const HkModel *m, Inputs *in, Inputs *direction) {
  uint64_t seed = 23;
  memset(in, 0, sizeof *in);
  memset(direction, 0, sizeof *direction);
  for (int64_t s = 0; s < m->springs.count; s++) {
    in->k[s] = m->springs.k[s];
    in->l0[s] = m->springs.l0[s];
    in->damping[s] = m->springs.damping[s];
    direction->k[s] = test_random(&seed);
    direction->l0[s] = 0.1 * test_random(&seed);
    direction->damping[s] = in->damping[s] * test_random(&seed);
  }
  double *const at[] = {in->x, in->old, in->b, in->ahead};
  double *const to[] = {direction->x, direction->old, direction->b, direction->ahead};
  for (int k = 0; k < 4; k++)
    for (int q = 0; q < SIZE; q++) {
      at[k][q] = m->x0[q] + 0.6 * test_random(&seed);
      to[k][q] = test_random(&seed);
    }
  for (int q = 0; q < 3; q++) { /* the ends of the first spring */
    int64_t i = 3 * (int64_t)m->springs.i[0] + q, j = 3 * (int64_t)m->springs.j[0] + q;
    in->ahead[i] = in->ahead[j];
    direction->ahead[i] = direction->ahead[j];
  }
}

TEST(derivatives_of_springs_with_dampers_are_those_of_central_differences) {
  const double step = 1e-6;
  for (int q = 0; q < 3; q++) {
    static Inputs in, direction, up, down, back;
    double k[3][SPRINGS_MAX], l0[3][SPRINGS_MAX], sum = 0, along = 0;
    HkDamperStart start;
    Case a;
    MUST(begin(&a, combinations[q][0], combinations[q][1], error));
    int64_t count = a.model->springs.count;
    CHECK(count <= SPRINGS_MAX);
    draw(a.model, &in, &direction);
    up = moved(&in, &direction, step);
    down = moved(&in, &direction, -step);
    springs_of_step(&a, &up, q, &start, k[1], l0[1]);
    springs_of_step(&a, &down, q, &start, k[2], l0[2]);
    springs_of_step(&a, &in, q, &start, k[0], l0[0]);
    HkSpringNumbers numbers = {.k = direction.k, .l0 = direction.l0, .damping = direction.damping};
    HkDamperPlaces places = {direction.x, direction.old, direction.b, direction.ahead};
    hk_dampers_push_forward(a.problem.dampers, &start, &numbers, &places, k[0], l0[0]);
    for (int64_t s = 0; s < count; s++) {
      double by_k = (k[1][s] - k[2][s]) / (2 * step), by_l0 = (l0[1][s] - l0[2][s]) / (2 * step);
      CHECK_NEAR(k[0][s], by_k, 1e-7 * (fabs(by_k) + 1));
      CHECK_NEAR(l0[0][s], by_l0, 1e-7 * (fabs(by_l0) + 1));
      sum += k[0][s] + 0.3 * l0[0][s];
      k[1][s] = 1;
      l0[1][s] = 0.3;
    }
    memset(&back, 0, sizeof back);
    numbers = (HkSpringNumbers){.k = back.k, .l0 = back.l0, .damping = back.damping};
    places = (HkDamperPlaces){back.x, back.old, back.b, back.ahead};
    hk_dampers_pull_back(a.problem.dampers, &start, k[1], l0[1], &numbers, &places);
    const double *one = (const double *)&back, *two = (const double *)&direction;
    for (size_t e = 0; e < sizeof back / sizeof *one; e++) along += one[e] * two[e];
    CHECK_NEAR(along, sum, 1e-12 * fabs(sum));
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
