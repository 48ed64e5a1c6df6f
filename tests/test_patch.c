/* Newton's method on patches: what moves, what it lowers, and what it is good for. */
#include "base/vec.h"
#include "minimize/patch.h"
#include "model_by_hand.h"
#include "world.h"

/* ---- A patch alone ---- */

/* Vectors are read a little beyond their end. */
enum { NX = 30, NY = 20, VERTICES = NX * NY, CAPACITY = 3 * VERTICES + 4 };

/* A step of a sheet under gravity, with a direction that is large at the vertices 0, 1, 2 only. */
typedef struct Case {
  HkModel *model;
  HkForceWork work;
  HkProblem problem;
  HkPatch *patch;
  double x[CAPACITY], before[CAPACITY], p[CAPACITY], g[CAPACITY];
} Case;

static HkStatus begin(Case *a, bool damping, HkError *error) {
  uint64_t seed = 7;
  ByHand by = by_hand();
  *a = (Case){0};
  by.damping = by.tension = damping;
  a->model = model_of_sheet(by, NX, NY);
  HK_TRY(model_add_default_force(a->model, "gravity", error));
  if (damping) HK_TRY(model_add_default_force(a->model, "drag", error));
  HK_TRY(hk_force_work_create(a->model, &a->work, error));
  HK_TRY(hk_problem_create(a->model, &a->work, &a->problem, error));
  HkProblem *problem = &a->problem;
  problem->tau = 0.5;
  for (int64_t q = 0; q < 3 * VERTICES; q++) {
    problem->y[q] = problem->b[q] = a->model->x0[q];
    a->x[q] = a->before[q] = a->model->x0[q] + 0.1 * test_random(&seed);
    a->p[q] = (q < 9 ? 1 : 1e-3) * test_random(&seed);
  }
  problem->held.mask[1] = 1;
  memcpy(a->g, a->model->x0, 3 * VERTICES * sizeof *a->g);
  HK_TRY(hk_problem_linearize(problem, a->x, a->g, error));
  hk_problem_measure(problem, a->model->x0);
  return hk_patch_create(problem, &a->patch, error);
}

static void end(Case *a) {
  hk_patch_destroy(&a->patch);
  hk_problem_destroy(&a->problem);
  hk_force_work_destroy(a->model, &a->work);
  model_by_hand_destroy(&a->model);
}

/* m at `at` of the vertices that move between before and x. */
static double gradient_of_moved(Case *a, const double *at) {
  double sum = 0, moved = 0;
  hk_problem_gradient(&a->problem, at, a->g);
  for (int64_t q = 0; q < VERTICES; q++) {
    double d[3];
    hk_sub(at + 3 * q, a->model->x0 + 3 * q, d);
    if (memcmp(a->x + 3 * q, a->before + 3 * q, sizeof d) == 0) continue;
    sum += hk_dot(a->g + 3 * q, a->g + 3 * q) / a->model->mass[q];
    moved += a->model->mass[q] * hk_dot(d, d);
  }
  return sqrt(sum / moved);
}

/* The vertices 0 and 2, and three rings around them on a sheet: far less than 60. */
TEST(a_patch_moves_the_vertices_around_the_direction_and_lowers_g) {
  for (int damping = 0; damping < 2; damping++) {
    Case a;
    HkStepInfo info = {0};
    int moved = 0;
    MUST(begin(&a, damping, error));
    MUST(hk_patch_minimize(a.patch, a.p, 0.3, a.x, &info, error));
    for (int64_t q = 0; q < VERTICES; q++) {
      bool moves = memcmp(a.x + 3 * q, a.before + 3 * q, 3 * sizeof *a.x) != 0;
      moved += moves;
      if (moves) CHECK(q != 1 && q % NX < 10 && q / NX < 10);
    }
    CHECK(moved > 8 && moved < 60);
    CHECK(info.linear_iterations > 0 && info.evaluations > 0);
    CHECK(hk_problem_change(&a.problem, a.before, a.x) < 0);
    CHECK(gradient_of_moved(&a, a.x) <= 0.2 * gradient_of_moved(&a, a.before));
    CHECK(hk_patch_bytes(a.patch) > VERTICES * 9 * sizeof(double));
    end(&a);
  }
}

TEST(a_patch_of_too_many_vertices_or_of_no_numbers_is_none) {
  Case a;
  HkStepInfo info = {0};
  MUST(begin(&a, false, error));
  MUST(hk_patch_minimize(a.patch, a.p, 0.01, a.x, &info, error));
  CHECK(memcmp(a.x, a.before, sizeof a.x) == 0 && info.evaluations == 0);
  for (int q = 0; q < 3 * VERTICES; q++) a.p[q] = q == 0 ? NAN : 0;
  MUST(hk_patch_minimize(a.patch, a.p, 0.3, a.x, &info, error));
  CHECK(memcmp(a.x, a.before, sizeof a.x) == 0);
  end(&a);
}

/* ---- A garment ---- */

/* A sheet of uneven triangles, held at one edge, that falls from the horizontal; springs along the
 * edges alone, so that nothing but the springs around a vertex keeps it from buckling. */
static const char *garment(int index) {
  enum { SIDE = 34 };
  static char path[400];
  uint64_t seed = (uint64_t)index;
  snprintf(path, sizeof path, "%s/garment%d.obj", test_folder(), index);
  FILE *file = fopen(path, "w");
  for (int q = 0; file && q < SIDE * SIDE; q++)
    fprintf(file, "v %.4f 0 %.4f\n", (q % SIDE + 0.2 * test_random(&seed)) / SIDE,
            (q / SIDE + (q < SIDE ? 0 : 0.2 * test_random(&seed))) / SIDE);
  for (int q = 0; file && q < (SIDE - 1) * (SIDE - 1); q++) {
    int a = q % (SIDE - 1) + q / (SIDE - 1) * SIDE + 1, b = a + SIDE;
    fprintf(file, "f %d %d %d\nf %d %d %d\n", a, a + 1, b, a + 1, b + 1, b);
  }
  if (file) fclose(file);
  return path;
}

/* Four steps of a garment; returns the iterations. x: a vertex at the end of them. */
static int iterations_of(int index, double patch_max, int threads, double x[3]) {
  char text[1024];
  int iterations = 0;
  snprintf(text, sizeof text,
           "{'time': {'step': 0.0333}, 'integrator': {'type': 'backward_euler', 'minimizer': "
           "{'type': 'newton', 'tolerance': 0.001, 'linear': 'ldlt', 'patch_max': %g}}, 'bodies': "
           "[{'mesh': '%s', 'springs': {'k': 1e5}, 'mass': {'total': 0.3}}], 'pins': [{'select': "
           "{'box': {'min': [-1, -1, -1], 'max': [2, 2, 1e-6]}}}], 'forces': ['gravity'], "
           "'outputs': []}",
           patch_max, garment(index));
  World w = world_make(text, NULL, 0.0333, threads);
  if (!w.sim) return -1;
  for (int q = 0; q < 4; q++) {
    CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);
    iterations += hk_sim_step_info(w.sim).iterations;
  }
  memcpy(x, hk_state_x(w.state) + 3 * 600, 3 * sizeof *x);
  world_destroy(&w);
  return iterations;
}

/* One garment alone proves nothing: each path to a minimum is another, with every bit. */
TEST(garments_take_fewer_iterations_with_patches) {
#if TEST_SANITIZED
  enum { GARMENTS = 1, IS_ENOUGH = false };
#else
  enum { GARMENTS = 6, IS_ENOUGH = true };
#endif
  double x[3], y[3];
  int without = 0, with = 0;
  for (int q = 0; q < GARMENTS; q++) {
    without += iterations_of(q, 0, 1, x);
    with += iterations_of(q, 0.3, 1, x);
  }
  printf("    %d iterations without, %d with patches\n", without, with);
  CHECK(with > 0 && (!IS_ENOUGH || with < 0.8 * without));
  int last = iterations_of(GARMENTS - 1, 0.3, 1, x);
  CHECK(iterations_of(GARMENTS - 1, 0.3, 3, y) == last && memcmp(x, y, sizeof x) == 0);
}
