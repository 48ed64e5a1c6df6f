/* The registry of minimizers, and what they have in common: stopping, reports, the trace. */
#include "minimize/minimize.h"

#include "base/clock.h"

#include <string.h>

#define HK_MINIMIZE_TYPE(name) extern const HkMinimizeType hk_minimize_##name;
#include "minimize/minimize.def"
#undef HK_MINIMIZE_TYPE

static const HkMinimizeType *const types[] = {
#define HK_MINIMIZE_TYPE(name) &hk_minimize_##name,
#include "minimize/minimize.def"
#undef HK_MINIMIZE_TYPE
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const HkSchema *hk_minimize_schema(int index) {
  return index >= 0 && index < TYPE_COUNT ? &types[index]->schema : NULL;
}

const HkMinimizeType *hk_minimize_type(const HkSchema *schema) {
  for (int k = 0; k < TYPE_COUNT; k++)
    if (&types[k]->schema == schema) return types[k];
  return NULL;
}

const char *hk_stop_name(HkStop reason) {
  static const char *const names[] = {"none",       "converged", "rounding", "stationary",
                                      "iterations", "stalled",   "limits"};
  return reason >= 0 && reason <= HK_STOP_LIMITS ? names[reason] : "unknown";
}

/* ---- Creating ---- */

static HkStatus allocate(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  int vectors = m->type->vectors;
  HK_TRY(hk_alloc(&model->context, &m->w, vectors, sizeof *m->w, "a minimizer", error));
  for (int k = 0; k < vectors; k++)
    HK_TRY(hk_alloc_vector(&model->context, &m->w[k], model->n, "a minimizer", error));
  m->bytes += (size_t)vectors * (sizeof *m->w + hk_vector_bytes(model->n));
  return m->type->create ? m->type->create(m, error) : HK_OK;
}

HkStatus hk_minimizer_create(HkProblem *problem, const HkMethod *method, HkMinimizer **minimizer,
                             HkError *error) {
  HK_TRY(
      hk_alloc(&problem->model->context, minimizer, 1, sizeof **minimizer, "a minimizer", error));
  HkMinimizer *m = *minimizer;
  m->problem = problem;
  m->unbounded.problem = problem;
  HkStatus status = hk_method_copy(method, &m->method, error);
  if (status >= 0 && !(m->type = hk_minimize_type(m->method.schema)))
    status = hk_fail(error, HK_ERROR_INVALID, "'%s' is not a minimizer",
                     method->schema ? method->schema->name : "nothing");
  if (status >= 0) status = allocate(m, error);
  if (status < 0) hk_minimizer_destroy(minimizer);
  return status;
}

void hk_minimizer_destroy(HkMinimizer **minimizer) {
  HkMinimizer *m = *minimizer;
  if (!m) return;
  HkContext c = m->problem->model->context;
  if (m->type && m->data) m->type->destroy(m);
  if (m->type && m->w)
    for (int k = 0; k < m->type->vectors; k++) hk_free(&c, &m->w[k]);
  hk_free(&c, &m->w);
  hk_free(&c, &m->start);
  hk_unbounded_destroy(&m->unbounded);
  hk_method_clear(&m->method);
  hk_free(&c, minimizer);
}

size_t hk_minimizer_bytes(const HkMinimizer *m) {
  size_t start = m->start ? hk_vector_bytes(m->problem->model->n) : 0;
  return sizeof *m + m->bytes + start + hk_unbounded_bytes(&m->unbounded) +
         (m->type->bytes ? m->type->bytes(m) : 0);
}

/* ---- Minimizing ---- */

HkStatus hk_minimizer_set_trace(HkMinimizer *m, HkTraceFn *trace, void *user, HkError *error) {
  const HkModel *model = m->problem->model;
  if (trace && !m->start)
    HK_TRY(hk_alloc_vector(&model->context, &m->start, model->n, "a trace", error));
  m->trace = trace;
  m->trace_user = user;
  return HK_OK;
}

HkStatus hk_minimize(HkMinimizer *m, double *x, HkError *error) {
  m->info = (HkStepInfo){0};
  m->proved = m->falls = m->prefactored = m->filtered = false;
  m->stationary = 0;
  if (m->trace) {
    hk_vectors_copy(&m->problem->space, x, m->start);
    m->began = hk_wall_time();
  }
  HK_TRY(m->type->minimize(m, x, error));
  HK_TRY(hk_cancel_check(m->problem->cancel, error));
  if (((const HkStopping *)m->method.params)->tolerance == 0) return HK_OK;
  return m->info.reason >= HK_STOP_ITERATIONS ? HK_NOT_CONVERGED : HK_OK;
}

double hk_minimizer_try(HkMinimizer *m, const double *x, double *x_new) {
  HkProblem *p = m->problem;
  m->filtered = hk_problem_filter(p, x, x_new);
  if (m->filtered) {
    hk_vectors_subtract(&p->space, x_new, x, p->scratch);
    m->filtered_move = hk_problem_norm(p, p->scratch);
  }
  return hk_problem_change(m->problem, x, x_new);
}

bool hk_minimizer_trace(HkMinimizer *m, const double *x) {
  double now = hk_wall_time();
  HkIteration it = {.iteration = m->info.iterations,
                    .change = hk_problem_change(m->problem, m->start, x),
                    .gradient = m->info.gradient,
                    .seconds = now - m->began,
                    .x = x};
  bool goes_on = m->trace(m->trace_user, &it);
  m->began += hk_wall_time() - now;
  return goes_on;
}

/* ---- With the prefactor ---- */

HkStatus hk_minimizer_need_prefactor(HkMinimizer *m, int factor, int precision, HkError *error) {
  const HkFactorKind kinds[] = {hk_factor_default(), HK_FACTOR_CHOLMOD, HK_FACTOR_LDLT};
  return hk_problem_need_prefactor(m->problem, kinds[factor], (HkPrecision)precision, error);
}

HkStatus hk_minimizer_precondition(HkMinimizer *m, const double *x, const double *g, double *p,
                                   HkError *error) {
  HkProblem *problem = m->problem;
  if (!m->prefactored) HK_TRY(hk_problem_update_prefactor(problem, error));
  m->prefactored = true;
  bool any;
  HK_TRY(hk_unbounded_evaluate(&m->unbounded, x, &any, error));
  if (any) return hk_unbounded_solve(&m->unbounded, g, p, &m->info.linear_iterations, error);
  m->info.linear_iterations++;
  return hk_prefactor_solve(problem->prefactor, -1, g, p, error);
}
