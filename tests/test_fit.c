/* Minimization within bounds, on functions whose minimum is known. */
#include "hooke/fit.h"

#include "test.h"

enum { N = 40 };

typedef struct Quadratic {
  double curvature[N], center[N];
  int evaluations, fails_at;
} Quadratic;

/* 1/2 sum c_k (p_k - m_k)^2 */
static HkStatus quadratic(void *user, const double *p, double *loss, double *gradient,
                          HkError *error) {
  Quadratic *q = user;
  (void)error;
  *loss = 0;
  for (int k = 0; k < N; k++) {
    double d = p[k] - q->center[k];
    *loss += 0.5 * q->curvature[k] * d * d;
    gradient[k] = q->curvature[k] * d;
  }
  if (++q->evaluations == q->fails_at) *loss = NAN;
  return HK_OK;
}

/* Curvatures over six decades. */
static Quadratic make_quadratic(void) {
  Quadratic q = {.evaluations = 0};
  for (int k = 0; k < N; k++) {
    q.curvature[k] = pow(10, 6.0 * ((7 * k) % N) / N - 3);
    q.center[k] = sin(3.7 * k);
  }
  return q;
}

static HkFitSettings strict(void) {
  HkFitSettings s = hk_fit_settings_default();
  s.tolerance = 1e-9;
  s.decrease = 0;
  s.iterations = 20000;
  return s;
}

TEST(fit_finds_the_minimum_of_a_quadratic_over_six_decades) {
  Quadratic q = make_quadratic();
  HkFitSettings s = strict();
  HkFitInfo info;
  double p[N] = {0};
  MUST(hk_fit(NULL, N, p, NULL, NULL, quadratic, &q, &s, &info, error));
  CHECK(info.end == HK_FIT_CONVERGED && info.at_bounds == 0);
  CHECK(info.evaluations == q.evaluations);
  CHECK(info.gradient <= 1e-9 * info.start_gradient);
  for (int k = 0; k < N; k++)
    CHECK_NEAR(q.curvature[k] * (p[k] - q.center[k]), 0, 1e-9 * info.start_gradient);
}

/* With bounds the minimum of a separable quadratic is its center, clamped. */
TEST(fit_ends_at_the_bounds_that_hold_it) {
  Quadratic q = make_quadratic();
  HkFitSettings s = strict();
  HkFitInfo info;
  double p[N], min[N], max[N];
  int held = 0;
  for (int k = 0; k < N; k++) {
    q.curvature[k] = pow(10, 2.0 * ((7 * k) % N) / N - 1);
    min[k] = k % 3 ? -0.3 : -INFINITY;
    max[k] = k % 2 ? 0.4 : INFINITY;
    p[k] = 0;
    held += q.center[k] < min[k] || q.center[k] > max[k];
  }
  MUST(hk_fit(NULL, N, p, min, max, quadratic, &q, &s, &info, error));
  CHECK(info.end == HK_FIT_CONVERGED);
  CHECK(held > 5 && info.at_bounds == held);
  for (int k = 0; k < N; k++) CHECK_NEAR(p[k], fmin(fmax(q.center[k], min[k]), max[k]), 1e-6);
}

/* Rosenbrock's valley, whose minimum is (1, 1); within x <= 0.5 it is (0.5, 0.25). */
static HkStatus rosenbrock(void *user, const double *p, double *loss, double *gradient,
                           HkError *error) {
  double a = 1 - p[0], b = p[1] - p[0] * p[0];
  (void)user;
  (void)error;
  *loss = a * a + 100 * b * b;
  gradient[0] = -2 * a - 400 * b * p[0];
  gradient[1] = 200 * b;
  return HK_OK;
}

TEST(fit_follows_a_curved_valley_with_and_without_bounds) {
  HkFitSettings s = strict();
  double p[2] = {-1.2, 1}, max[2] = {0.5, INFINITY};
  MUST(hk_fit(NULL, 2, p, NULL, NULL, rosenbrock, NULL, &s, NULL, error));
  CHECK_NEAR(p[0], 1, 1e-6);
  CHECK_NEAR(p[1], 1, 1e-6);
  p[0] = -1.2;
  p[1] = 1;
  MUST(hk_fit(NULL, 2, p, NULL, max, rosenbrock, NULL, &s, NULL, error));
  CHECK_NEAR(p[0], 0.5, 1e-12);
  CHECK_NEAR(p[1], 0.25, 1e-6);
}

/* A loss that does not exist, as of a motion that blows up, shortens the step. */
TEST(fit_turns_back_where_the_loss_is_not_finite) {
  Quadratic q = make_quadratic();
  HkFitSettings s = strict();
  HkFitInfo info;
  double p[N] = {0};
  q.fails_at = 3;
  MUST(hk_fit(NULL, N, p, NULL, NULL, quadratic, &q, &s, &info, error));
  CHECK(info.end == HK_FIT_CONVERGED && q.evaluations > 3);
  q = make_quadratic();
  q.fails_at = 1;
  p[0] = 0;
  FAILS(hk_fit(NULL, N, p, NULL, NULL, quadratic, &q, &s, &info, error), HK_ERROR_INVALID,
        "begins with");
}

/* A gradient that is not that of the loss must not be called converged. */
static HkStatus wrong_sign(void *user, const double *p, double *loss, double *gradient,
                           HkError *error) {
  HkStatus status = quadratic(user, p, loss, gradient, error);
  for (int k = 0; k < N; k++) gradient[k] = -gradient[k];
  return status;
}

TEST(fit_stalls_where_the_gradient_is_not_that_of_the_loss) {
  Quadratic q = make_quadratic();
  HkFitInfo info;
  double p[N] = {0};
  CHECK(hk_fit(NULL, N, p, NULL, NULL, wrong_sign, &q, NULL, &info, NULL) == HK_NOT_CONVERGED);
  CHECK(info.end == HK_FIT_STALLED && info.iterations == 0);
  CHECK(p[0] == 0);
}

TEST(fit_says_that_iterations_or_decrease_have_ended_it) {
  Quadratic q = make_quadratic();
  HkFitSettings s = strict();
  HkFitInfo info;
  double p[N] = {0};
  s.iterations = 3;
  CHECK(hk_fit(NULL, N, p, NULL, NULL, quadratic, &q, &s, &info, NULL) == HK_NOT_CONVERGED);
  CHECK(info.end == HK_FIT_ITERATIONS && info.iterations == 3);
  CHECK(info.loss < info.start_loss);
  s.iterations = 20000;
  s.decrease = 0.5;
  s.tolerance = 0;
  memset(p, 0, sizeof p);
  CHECK(hk_fit(NULL, N, p, NULL, NULL, quadratic, &q, &s, &info, NULL) == HK_NOT_CONVERGED);
  CHECK(info.end == HK_FIT_LEVELED && info.iterations < 20000);
}

static bool stop_at_five(void *user, const HkFitInfo *info, const double *p) {
  memcpy(user, p, N * sizeof *p);
  return info->iterations < 5;
}

TEST(fit_that_is_cancelled_keeps_what_it_has_found) {
  Quadratic q = make_quadratic();
  HkFitSettings s = strict();
  HkFitInfo info;
  double p[N] = {0}, seen[N];
  s.progress = stop_at_five;
  s.progress_user = seen;
  FAILS(hk_fit(NULL, N, p, NULL, NULL, quadratic, &q, &s, &info, error), HK_ERROR_CANCELLED,
        "after 5 iterations");
  CHECK(memcmp(p, seen, sizeof p) == 0);
  CHECK(info.loss < info.start_loss);
}

TEST(fit_refuses_what_makes_no_sense) {
  Quadratic q = make_quadratic();
  HkFitSettings s = strict();
  double p[N] = {0}, min[N] = {0}, max[N] = {0};
  p[3] = NAN;
  FAILS(hk_fit(NULL, N, p, NULL, NULL, quadratic, &q, &s, NULL, error), HK_ERROR_INVALID,
        "number 3 of the fit is not finite");
  p[3] = 1;
  FAILS(hk_fit(NULL, N, p, min, max, quadratic, &q, &s, NULL, error), HK_ERROR_INVALID,
        "number 3 of the fit begins outside its bounds");
  s.memory = 0;
  FAILS(hk_fit(NULL, N, p, NULL, NULL, quadratic, &q, &s, NULL, error), HK_ERROR_INVALID, "memory");
}
