/* Linear systems of models made by hand; see system_by_hand.h. */
#include "system_by_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_MOST = 200 };

static void *take(int64_t count, size_t size) {
  void *p = calloc((size_t)count + 1, size);
  if (!p) abort();
  return p;
}

/* Rows and columns that hold the mass alone: of held vertices, and z in two dimensions. */
static bool is_alone(const System *s, int64_t row) {
  return s->held.mask[row / 3] || (s->model->dimension == 2 && row % 3 == 2);
}

static void make_dense(System *s) {
  int64_t n = s->model->n, rows = 3 * n;
  double *dfdv;
  model_jacobian(s->model, 0, 0, s->x, s->model->v0, &s->dense, &dfdv);
  free(dfdv);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < rows; c++) {
      double *a = s->dense + r * rows + c;
      *a *= is_alone(s, r) || is_alone(s, c) ? 0 : -s->tau * s->tau;
      if (r == c) *a += s->model->mass[r / 3];
    }
}

static HkStatus make(System *s) {
  HK_TRY(hk_force_work_create(s->model, &s->work, NULL));
  HK_TRY(hk_pattern_create(s->model, &s->pattern, NULL, NULL));
  s->H = (HkHessian){.model = s->model, .work = &s->work, .held = &s->held, .pattern = &s->pattern};
  HK_TRY(hk_hessian_need_springs(&s->H, NULL));
  HkHessianAt at = {.x = s->x, .tau = s->tau};
  HkOperator by_products;
  HK_TRY(hk_hessian_evaluate(&s->H, &at, true, &s->A, NULL));
  HK_TRY(hk_hessian_evaluate(&s->H, &at, false, &by_products, NULL));
  s->A.springs = by_products.springs; /* a matrix and its springs: every solver is at home */
  HK_TRY(hk_prefactor_create(s->model, &s->model->springs, hk_factor_default(), HK_PRECISION_DOUBLE,
                             &s->held, &s->prefactor, NULL));
  return s->tau > 0 ? hk_prefactor_update(s->prefactor, s->tau, NULL, NULL) : HK_OK;
}

System *system_of(HkModel *model, double stretch, double tau, int held) {
  System *s = take(1, sizeof *s);
  int64_t n = model->n;
  s->model = model;
  s->tau = tau;
  s->x = take(3 * n, sizeof *s->x);
  for (int64_t q = 0; q < 3 * n; q++) s->x[q] = stretch * model->x0[q];
  s->held.mask = take(n, 1);
  for (int64_t q = 0; q < held; q++) s->held.mask[q] = s->held.mask[n - 1 - q] = 1;
  if (make(s) < 0) abort();
  s->setup = (HkLinearSetup){.model = model, .held = &s->held, .prefactor = s->prefactor};
  s->b = system_random(s, 17);
  for (int64_t q = 0; q < 3 * n; q++)
    if (s->held.mask[q / 3]) s->b[q] = 0;
  if (n <= DENSE_MOST) make_dense(s);
  return s;
}

void system_destroy(System **system) {
  System *s = *system;
  hk_prefactor_destroy(&s->prefactor);
  hk_hessian_destroy(&s->H);
  hk_pattern_destroy(s->model, &s->pattern);
  hk_force_work_destroy(s->model, &s->work);
  model_by_hand_destroy(&s->model);
  free(s->held.mask);
  free(s->x);
  free(s->b);
  free(s->dense);
  free(s);
  *system = NULL;
}

void scale_badly(HkModel *m) {
  uint64_t seed = 5;
  for (int64_t q = 0; q < m->n; q++) m->mass[q] *= pow(10, 3 * test_random(&seed));
  for (int64_t q = 0; q < m->springs.count; q++) m->springs.k[q] *= pow(10, 2 * test_random(&seed));
}

double system_residual(const System *s, const double *x) {
  int64_t rows = 3 * s->model->n;
  double sum = 0;
  for (int64_t r = 0; r < rows; r++) {
    double d = s->b[r];
    for (int64_t c = 0; c < rows; c++) d -= s->dense[r * rows + c] * x[c];
    sum += d * d;
  }
  return sqrt(sum / system_dot(s, s->b, s->b));
}

double system_dot(const System *s, const double *a, const double *b) {
  double sum = 0;
  for (int64_t q = 0; q < 3 * s->model->n; q++) sum += a[q] * b[q];
  return sum;
}

double *system_random(const System *s, uint64_t seed) {
  double *v = take(3 * s->model->n, sizeof *v);
  for (int64_t q = 0; q < 3 * s->model->n; q++) v[q] = test_random(&seed);
  return v;
}

HkStatus system_solver(const System *s, const char *name, const char *preconditioner,
                       HkLinear **solver, HkError *error) {
  HkMethod method = {0};
  HkStatus status = hk_method_choose(&method, HK_LINEAR, name, error);
  if (status >= 0 && preconditioner &&
      !hk_method_set_method(&method, "preconditioner", preconditioner, error))
    status = HK_ERROR_INVALID;
  if (status >= 0) status = hk_linear_create(&s->setup, &method, solver, error);
  hk_method_clear(&method);
  return status;
}
