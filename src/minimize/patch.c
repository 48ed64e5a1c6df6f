/* Newton's method on a patch (nonlinear elimination).
 *
 * Cloth that buckles does so in a few places at a time, and each of them shortens the step of the
 * whole model for several iterations. So after an iteration with the direction p the smallest set
 * of vertices S is taken (to a factor of 2 in weight) with
 *
 *     sum m_i |p_i|^2 <= OUTSIDE_NORM_RATIO^2 |p|_M^2        over the vertices i that are not in S,
 *
 * and RINGS rings of neighbors around it. g is minimized over this patch, while all other vertices
 * are held, until its relative gradient m is GRADIENT_REDUCTION times what it was. g does not rise,
 * and the whole model decides when the minimization ends (stopping.c): no answer depends on the
 * patch.
 */
#include "minimize/patch.h"

#include "base/vec.h"

#include <math.h>

static const double OUTSIDE_NORM_RATIO = 0.5, GRADIENT_REDUCTION = 0.2;
enum { RINGS = 3, ITERATIONS_MAX = 60 };

struct HkPatch {
  HkProblem *whole;
  HkProblem problem;   /* the whole one, but for held, inverse and hessian */
  HkMinimizer *newton; /* of problem */
};

/* ---- Memory ---- */

static HkStatus choose_newton(HkMethod *method, HkError *error) {
  HK_TRY(hk_method_choose(method, HK_MINIMIZE, "newton", error));
  HK_TRY(hk_method_set_number(method, "iterations", ITERATIONS_MAX, error));
  HK_TRY(hk_method_set_number(method, "patch_max", 0, error));
  return hk_method_set_method(method, "linear", "ldlt", error) ? HK_OK : HK_ERROR_INVALID;
}

/* Takes what the whole problem says about the present step. */
static void take_step(HkPatch *patch) {
  HkProblem *p = &patch->problem;
  HkProblem own = *p;
  *p = *patch->whole;
  p->held = own.held;
  p->inverse = own.inverse;
  p->prefactor = NULL;
  p->hessian = own.hessian;
}

static HkStatus create(HkPatch *patch, HkError *error) {
  HkProblem *p = &patch->problem;
  const HkModel *m = patch->whole->model;
  HkMethod method = {0};
  p->hessian =
      (HkHessian){.model = m, .work = patch->whole->work, .held = &p->held, .pattern = &p->pattern};
  HK_TRY(hk_alloc(&m->context, &p->held.mask, m->n, sizeof *p->held.mask, "a patch", error));
  HK_TRY(hk_alloc(&m->context, &p->inverse, m->n, sizeof *p->inverse, "a patch", error));
  take_step(patch);
  HkStatus status = choose_newton(&method, error);
  if (status >= 0) status = hk_minimizer_create(p, &method, &patch->newton, error);
  if (status >= 0) patch->newton->proves = false;
  hk_method_clear(&method);
  return status;
}

HkStatus hk_patch_create(HkProblem *problem, HkPatch **patch, HkError *error) {
  HK_TRY(hk_alloc(&problem->model->context, patch, 1, sizeof **patch, "a patch", error));
  (*patch)->whole = problem;
  HkStatus status = create(*patch, error);
  if (status < 0) hk_patch_destroy(patch);
  return status;
}

void hk_patch_destroy(HkPatch **patch) {
  HkPatch *a = *patch;
  if (!a) return;
  HkContext c = a->whole->model->context;
  hk_minimizer_destroy(&a->newton);
  hk_hessian_destroy(&a->problem.hessian);
  hk_free(&c, &a->problem.held.mask);
  hk_free(&c, &a->problem.inverse);
  hk_free(&c, patch);
}

size_t hk_patch_bytes(const HkPatch *patch) {
  const HkProblem *p = &patch->problem;
  size_t n = (size_t)p->model->n;
  return sizeof *patch + n * (sizeof *p->held.mask + sizeof *p->inverse) +
         hk_hessian_bytes(&p->hessian) + hk_minimizer_bytes(patch->newton);
}

/* ---- Choosing the vertices ---- */

/* Weights m_i |p_i|^2 by their exponents: bin k has those from 2^-k to 2^(1-k) of the largest. */
enum { BINS = 64 };

static int bin_of(double weight, int largest) {
  if (!(weight > 0) || !isfinite(weight)) return BINS;
  int bin = largest - ilogb(weight);
  return bin < BINS ? bin : BINS;
}

/* weight = m_i |p_i|^2, 0 where the whole problem holds; returns the exponent of the largest. */
static int weigh(const HkPatch *patch, const double *p, double *weight) {
  const HkModel *m = patch->whole->model;
  double most = 0;
  for (int64_t i = 0; i < m->n; i++) {
    double square = hk_dot(p + 3 * i, p + 3 * i);
    weight[i] = patch->whole->held.mask[i] ? 0 : m->mass[i] * square;
    most = fmax(most, weight[i]);
  }
  return most > 0 && isfinite(most) ? ilogb(most) : 0;
}

/* Adds the neighbors of the vertices that are not held. */
static void grow(const HkModel *m, uint8_t *held) {
  enum { FREE, HELD, REACHED };
  for (int64_t i = 0; i < m->n; i++)
    for (int64_t e = m->adj_start[i]; held[i] == HELD && e < m->adj_start[i + 1]; e++)
      if (held[m->adj_vertex[e]] == FREE) held[i] = REACHED;
  for (int64_t i = 0; i < m->n; i++) held[i] = held[i] == HELD;
}

/* Sets the mask of the held vertices; returns how many are not. */
static int64_t choose_vertices(HkPatch *patch, const double *p) {
  const HkModel *m = patch->whole->model;
  uint8_t *held = patch->problem.held.mask;
  double sums[BINS + 1] = {0}, total = 0, sum = 0, *weight = patch->whole->scratch;
  int largest = weigh(patch, p, weight), last = 0;
  for (int64_t i = 0; i < m->n; i++) {
    total += weight[i];
    sums[bin_of(weight[i], largest)] += weight[i];
  }
  while (last < BINS - 1 &&
         (sum += sums[last]) < (1 - OUTSIDE_NORM_RATIO * OUTSIDE_NORM_RATIO) * total)
    last++;
  for (int64_t i = 0; i < m->n; i++) held[i] = bin_of(weight[i], largest) > last;
  for (int ring = 0; ring < RINGS; ring++) grow(m, held);
  int64_t count = 0;
  for (int64_t i = 0; i < m->n; i++) {
    held[i] |= patch->whole->held.mask[i];
    count += !held[i];
  }
  return count;
}

/* ---- Minimizing ---- */

HkStatus hk_patch_minimize(HkPatch *patch, const double *p, double part, double *x,
                           HkStepInfo *info, HkError *error) {
  HkProblem *problem = &patch->problem;
  HkMinimizer *newton = patch->newton;
  const HkModel *m = problem->model;
  if ((double)choose_vertices(patch, p) > part * (double)m->n) return HK_OK;
  take_step(patch);
  problem->held.version++;
  for (int64_t i = 0; i < m->n; i++)
    problem->inverse[i] = problem->held.mask[i] ? 0 : patch->whole->inverse[i];
  HK_TRY(hk_problem_begin_iterate(problem, x, error));
  double r = hk_problem_gradient(problem, x, newton->w[0]);
  ((HkStopping *)newton->method.params)->tolerance =
      GRADIENT_REDUCTION * r / hk_problem_moved(problem, x);
  HK_TRY(hk_minimize(newton, x, error));
  info->linear_iterations += newton->info.linear_iterations;
  info->projections += newton->info.projections;
  info->evaluations += newton->info.evaluations;
  return HK_OK;
}
