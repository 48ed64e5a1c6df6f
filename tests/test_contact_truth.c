/* What minimizers say of steps in contact is true: judged by an energy of contact and a dense
 * Newton method of the tests' own (contact_by_hand.h, step_by_hand.h). */
#include "contact_by_hand.h"
#include "contact_random.h"
#include "model_by_hand.h"
#include "step/implicit.h"
#include "step_by_hand.h"

#if TEST_SANITIZED
enum { SCENES = 15 };
#else
enum { SCENES = 200 };
#endif

static int contact_index(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->filter) return f;
  return -1;
}

static HkContacts *contacts_of(const World *w) {
  return w->sim->work.states[contact_index(w)].state;
}

TEST(the_force_by_hand_is_that_of_the_library) {
  int64_t touching = 0;
  for (int kind = 0; kind < CONTACT_KINDS_BY_HAND; kind++)
    for (uint64_t seed = 1; seed < 5; seed++) {
      double h;
      World w = contact_random(kind, seed, "'newton'", 1, &h);
      if (!w.sim) return;
      int64_t size = 3 * w.model->n;
      double *f = calloc((size_t)size, sizeof *f), *g = calloc((size_t)size, sizeof *g);
      ContactByHand by_hand;
      world_steps(&w, 4);
      const double *x = hk_state_positions(w.state);
      HkForceArgs a =
          hk_force_args(w.model, contact_index(&w), &w.sim->work, w.state->time, x, NULL);
      w.model->forces[contact_index(&w)].type->add(&a, f);
      contact_by_hand_create(&by_hand, w.model, CONTACT_RANDOM_SIZE);
      contact_by_hand_look(&by_hand, contacts_of(&w), x, w.state->time);
      contact_by_hand_gradient(&by_hand, x, g);
      double worst = 0, largest = test_largest(f, size);
      for (int64_t q = 0; q < size; q++) worst = fmax(worst, fabs(f[q] + g[q]));
      CHECK_NEAR(worst, 0, 1e-6 * largest);
      CHECK(by_hand.missing == 0);
      touching += by_hand.touching;
      contact_by_hand_destroy(&by_hand);
      free(f);
      free(g);
      world_destroy(&w);
    }
  CHECK(touching > 80);
}

/* ---- Answers ---- */

typedef struct Answers {
  int64_t steps, touching, converged, rounding, stationary, unconverged, judged, wrong, missing;
  double worst_gradient, worst_error; /* in parts of the tolerance */
} Answers;

/* |M^-1 tau^2 dE/dx|_M of contact, of which differences and rounding leave all but NOISE. */
static const double NOISE = 1e-7;

static double contact_size(const StepByHand *s, const double *x) {
  const HkModel *m = s->model;
  double sum = 0, *g = calloc((size_t)m->n * 3, sizeof *g);
  if (!g) abort();
  s->add_gradient(s->user, x, g);
  for (int64_t q = 0; q < 3 * m->n; q++) sum += g[q] * g[q] / m->mass[q / 3];
  free(g);
  return s->tau * s->tau * sqrt(sum);
}

static void judge(const StepByHand *s, const double *x, HkStop reason, double tolerance,
                  Answers *a) {
  double r = step_by_hand_residual(s, x), moved = step_by_hand_distance(s, x, s->x_n);
  double rounding = step_by_hand_rounding(s, x) + NOISE * contact_size(s, x);
  bool wrong = false, solved = reason == HK_STOP_CONVERGED || reason == HK_STOP_STATIONARY;
  a->converged += reason == HK_STOP_CONVERGED;
  a->rounding += reason == HK_STOP_ROUNDING;
  a->stationary += reason == HK_STOP_STATIONARY;
  a->unconverged += reason >= HK_STOP_ITERATIONS;
  if (reason == HK_STOP_ROUNDING) wrong = r > rounding;
  if (solved) {
    wrong = r > tolerance * moved + rounding;
    a->worst_gradient = fmax(a->worst_gradient, r / (tolerance * moved));
  }
  double *nearest = malloc((size_t)s->model->n * 3 * sizeof *x);
  if (!nearest) abort();
  memcpy(nearest, x, (size_t)s->model->n * 3 * sizeof *x);
  if (reason == HK_STOP_CONVERGED && step_by_hand_solve(s, nearest)) {
    double error = step_by_hand_distance(s, x, nearest) / step_by_hand_distance(s, nearest, s->x_n);
    a->judged++;
    a->worst_error = fmax(a->worst_error, error / tolerance);
    wrong |= error > 2 * tolerance;
  }
  if (wrong)
    printf("    wrong: %s, r %g moved %g rounding %g\n", hk_stop_name(reason), r, moved, rounding);
  a->wrong += wrong;
  free(nearest);
}

/* A few steps; each is judged. */
static void run_scene(const char *minimizer, double tolerance, int index, Answers *a) {
  enum { STEPS = 4 };
  HkError error = {0};
  World w =
      contact_random(index % CONTACT_KINDS_BY_HAND, (uint64_t)(1 + index), minimizer, 1, NULL);
  if (!w.sim) return;
  size_t bytes = (size_t)w.model->n * 3 * sizeof(double);
  double *x_n = malloc(bytes);
  ContactByHand by_hand;
  if (!x_n) abort();
  contact_by_hand_create(&by_hand, w.model, CONTACT_RANDOM_SIZE);
  for (int k = 0; k < STEPS; k++) {
    memcpy(x_n, hk_state_positions(w.state), bytes);
    HkStatus status = hk_sim_step(w.sim, w.state, &error);
    CHECK(status >= 0);
    if (status < 0) {
      printf("    %s\n", error.text);
      break;
    }
    const HkProblem *p = &((const HkImplicit *)w.sim->data)->problem;
    const double *x = hk_state_positions(w.state);
    contact_by_hand_look(&by_hand, contacts_of(&w), x, w.state->time);
    StepByHand step = {.model = w.model,
                       .x_n = x_n,
                       .y = p->y,
                       .tau = p->tau,
                       .gravity = 9.81,
                       .add_gradient = contact_by_hand_gradient,
                       .add_hessian = contact_by_hand_hessian,
                       .add_stiffness = contact_by_hand_stiffness,
                       .user = &by_hand};
    a->steps++;
    a->touching += by_hand.touching > 0;
    a->missing += by_hand.missing;
    HkStop reason = hk_sim_step_info(w.sim).reason;
    CHECK((reason >= HK_STOP_ITERATIONS) == (status == HK_NOT_CONVERGED));
    judge(&step, x, reason, tolerance, a);
  }
  contact_by_hand_destroy(&by_hand);
  free(x_n);
  world_destroy(&w);
}

TEST(answers_in_contact_are_true_on_random_scenes) {
  static const struct {
    const char *minimizer;
    double tolerance;
    int every; /* of the scenes: slow minimizers do fewer */
  } ways[] = {
      {"{'type': 'newton', 'tolerance': 1e-3, 'linear': 'ldlt'}", 1e-3, 1},
      {"{'type': 'newton', 'tolerance': 1e-5, 'linear': 'ldlt'}", 1e-5, 1},
      {"{'type': 'newton', 'tolerance': 1e-3, 'linear': 'pcg'}", 1e-3, 1},
      {"{'type': 'newton', 'tolerance': 1e-3, 'linear': {'type': 'pcg', 'preconditioner': "
       "'multigrid'}}",
       1e-3, 2},
      {"{'type': 'local_global', 'tolerance': 1e-3}", 1e-3, 2},
      {"{'type': 'lbfgs', 'tolerance': 1e-3}", 1e-3, 2},
      {"{'type': 'vertex_block_descent', 'tolerance': 1e-3, 'iterations': 300}", 1e-3, 4},
      {"{'type': 'jacobi', 'tolerance': 1e-3, 'iterations': 300}", 1e-3, 4},
      {"{'type': 'gradient_descent', 'tolerance': 1e-2, 'iterations': 1000}", 1e-2, 4},
  };
  for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
    Answers a = {0};
    for (int index = 0; index < SCENES / ways[k].every; index++)
      run_scene(ways[k].minimizer, ways[k].tolerance, index, &a);
    printf("    %-95s %lld steps, %lld touch: %lld converged, %lld rounding, %lld stationary, %lld "
           "not; %lld judged, worst error %.2g, m %.2g, wrong %lld\n",
           ways[k].minimizer, (long long)a.steps, (long long)a.touching, (long long)a.converged,
           (long long)a.rounding, (long long)a.stationary, (long long)a.unconverged,
           (long long)a.judged, a.worst_error, a.worst_gradient, (long long)a.wrong);
    CHECK(a.wrong == 0);
    CHECK(a.missing == 0);
    CHECK(a.touching > a.steps / 3);
  }
}
