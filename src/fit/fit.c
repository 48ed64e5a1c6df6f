/* Minimization within bounds by projected L-BFGS.
 *
 * With the active set A of numbers at a bound that -dL/dp points out of, and F all others:
 *
 *     d_F = -(B g)_F  with g_A = 0,  d_A = 0,      p+ = P(p + a d)
 *
 * B is the inverse Hessian of the last steps (linear/secant_pairs.h), begun with s . y / y . y, and
 * P the projection to min <= p <= max. B is positive definite, so g . d < 0 unless g_F = 0: the
 * loss descends along the projected arc for small a (two-metric projection, Bertsekas 1982). The
 * step length a is 1, or less by quadratic interpolation until
 *
 *     L(p+) <= L(p) + 1e-4 g . (p+ - p)
 *
 * Numbers that are within a small distance of a bound count as active, so that a does not shrink
 * with that distance. An iteration costs one loss with its gradient, and 4 products with each pair.
 */
#include "hooke/fit.h"

#include "linear/secant_pairs.h"

#include <math.h>
#include <string.h>

enum { SEARCH_MAX = 25, LEVEL_ITERATIONS = 10 };
static const double SUFFICIENT_DECREASE = 1e-4;
static const double NEAR_BOUND = 1e-9; /* relative to max - min, or to |p| */

typedef struct Fit {
  HkFitSettings settings;
  HkFitInfo info;
  HkLossAtFn *loss;
  void *user;
  const double *min, *max;
  int64_t count;
  HkVectors space; /* of count numbers, and zeros up to a multiple of 3 */
  HkSecantPairs pairs;
  double *p, *g, *d, *next, *g_next;
  double recent[LEVEL_ITERATIONS]; /* losses of the last iterations, a ring */
} Fit;

HkFitSettings hk_fit_settings_default(void) {
  return (HkFitSettings){.iterations = 200,
                         .memory = 20,
                         .tolerance = 1e-6,
                         .decrease = 1e-6,
                         .step_max = INFINITY,
                         .first_step = 0.1};
}

const char *hk_fit_end_name(HkFitEnd end) {
  static const char *const names[] = {"converged", "leveled", "iterations", "stalled"};
  return end >= 0 && end <= HK_FIT_STALLED ? names[end] : "unknown";
}

/* ---- Creating ---- */

static HkStatus check(const Fit *f, const double *p, HkError *error) {
  const HkFitSettings *s = &f->settings;
  bool good = s->iterations > 0 && s->memory > 0 && s->tolerance >= 0 && s->decrease >= 0 &&
              s->step_max > 0 && s->first_step > 0;
  if (!good || f->count < 1)
    return hk_fail(
        error, HK_ERROR_INVALID,
        "a fit needs numbers, iterations, memory and steps above 0, and tolerances of at "
        "least 0");
  for (int64_t k = 0; k < f->count; k++) {
    if (!isfinite(p[k]))
      return hk_fail(error, HK_ERROR_INVALID, "number %lld of the fit is not finite", (long long)k);
    if ((f->min && !(f->min[k] <= p[k])) || (f->max && !(p[k] <= f->max[k])))
      return hk_fail(error, HK_ERROR_INVALID, "number %lld of the fit begins outside its bounds",
                     (long long)k);
  }
  return HK_OK;
}

static HkStatus create(Fit *f, const HkContext *c, HkError *error) {
  int64_t n = (f->count + 2) / 3;
  size_t bytes = 0;
  f->space = (HkVectors){.n = n, .threads = c->threads > 0 ? c->threads : hk_thread_count()};
  HK_TRY(hk_alloc(c, &f->space.sums, hk_sum_slots(n), sizeof *f->space.sums, "a fit", error));
  double **vectors[] = {&f->p, &f->g, &f->d, &f->next, &f->g_next};
  for (int k = 0; k < 5; k++) HK_TRY(hk_alloc_vector(c, vectors[k], n, "a fit", error));
  return hk_secant_create(&f->pairs, c, n, f->settings.memory, &bytes, error);
}

static void destroy(Fit *f, const HkContext *c) {
  double **vectors[] = {&f->p, &f->g, &f->d, &f->next, &f->g_next, &f->space.sums};
  for (int k = 0; k < 6; k++) hk_free(c, vectors[k]);
  hk_secant_destroy(&f->pairs, c);
}

/* ---- Bounds ---- */

static double project(const Fit *f, int64_t k, double p) {
  if (f->min && p < f->min[k]) return f->min[k];
  if (f->max && p > f->max[k]) return f->max[k];
  return p;
}

/* Whether a number is at a bound, or so near to one that rounding decides; -1 the lower one. */
static int bound_of(const Fit *f, int64_t k) {
  double low = f->min ? f->min[k] : -INFINITY, high = f->max ? f->max[k] : INFINITY;
  double width = isfinite(high - low) ? high - low : fabs(f->p[k]);
  if (f->p[k] <= low + NEAR_BOUND * width) return -1;
  return f->p[k] >= high - NEAR_BOUND * width ? 1 : 0;
}

/* q = g without what points out of the bounds. */
static void free_part(const Fit *f, double *q) {
  for (int64_t k = 0; k < f->count; k++) q[k] = f->g[k] * bound_of(f, k) < 0 ? 0 : f->g[k];
}

/* ---- Iterations ---- */

static HkStatus evaluate(Fit *f, const double *p, double *loss, double *g, HkError *error) {
  *loss = NAN;
  memset(g, 0, (size_t)f->count * sizeof *g);
  f->info.evaluations++;
  HK_TRY(f->loss(f->user, p, loss, g, error));
  bool finite = isfinite(*loss);
  for (int64_t k = 0; k < f->count && finite; k++)
    if (!isfinite(g[k]))
      return hk_fail(error, HK_ERROR_INVALID, "the gradient of the loss by number %lld is %g",
                     (long long)k, g[k]);
  return HK_OK;
}

/* d = -B g on what is free; without pairs a step of first_step, along -g. */
static void find_direction(Fit *f) {
  const HkVectors *space = &f->space;
  double largest = 0;
  free_part(f, f->d);
  hk_secant_begin(&f->pairs, space, f->d);
  hk_vectors_scale(space, -hk_secant_scale(&f->pairs, space), f->d);
  hk_secant_end(&f->pairs, space, f->d);
  for (int64_t k = 0; k < f->count; k++) {
    if (f->g[k] * bound_of(f, k) < 0) f->d[k] = 0;
    largest = fmax(largest, fabs(f->d[k]));
  }
  double most =
      f->pairs.count ? f->settings.step_max : fmin(f->settings.first_step, f->settings.step_max);
  if (largest > most || (f->pairs.count == 0 && largest > 0))
    hk_vectors_scale(space, most / largest, f->d);
}

/* Looks for a step that lowers the loss; *moved: there is one, and it is in next, g_next. */
static HkStatus search(Fit *f, double *loss, bool *moved, HkError *error) {
  double a = 1;
  *moved = false;
  for (int k = 0; k < SEARCH_MAX && !*moved; k++) {
    double slope = 0, most = 0; /* g . (p+ - p), and the largest change */
    for (int64_t q = 0; q < f->count; q++) {
      f->next[q] = project(f, q, f->p[q] + a * f->d[q]);
      slope += f->g[q] * (f->next[q] - f->p[q]);
      most = fmax(most, fabs(f->next[q] - f->p[q]));
    }
    if (!(slope < 0) || most == 0) return HK_OK;
    HK_TRY(evaluate(f, f->next, loss, f->g_next, error));
    *moved = *loss <= f->info.loss + SUFFICIENT_DECREASE * slope;
    double low = 0.1 * a, curvature = 2 * (*loss - f->info.loss - slope);
    double best = isfinite(*loss) && curvature > 0 ? -slope / curvature * a : 0.25 * a;
    a = fmin(fmax(best, low), 0.5 * a);
  }
  return HK_OK;
}

static void measure(Fit *f) {
  free_part(f, f->d);
  f->info.gradient = sqrt(hk_vectors_dot(&f->space, f->d, f->d));
  f->info.at_bounds = 0;
  for (int64_t k = 0; k < f->count; k++) f->info.at_bounds += bound_of(f, k) != 0;
}

/* Moves to the next numbers, and forgets the past where it misleads. */
static HkStatus advance(Fit *f, bool *moved, HkError *error) {
  double loss = 0;
  for (;;) {
    find_direction(f);
    HK_TRY(search(f, &loss, moved, error));
    if (*moved || f->pairs.count == 0) break;
    f->pairs.count = 0;
  }
  if (!*moved) return HK_OK;
  hk_secant_add(&f->pairs, &f->space, f->p, f->next, f->g, f->g_next);
  hk_vectors_copy(&f->space, f->next, f->p);
  hk_vectors_copy(&f->space, f->g_next, f->g);
  f->info.loss = loss;
  f->info.iterations++;
  return HK_OK;
}

/* Whether the fit has ended, and why. */
static bool is_over(Fit *f) {
  const HkFitSettings *s = &f->settings;
  HkFitInfo *info = &f->info;
  double scale = s->gradient > 0 ? s->gradient : info->start_gradient;
  double *past = &f->recent[info->iterations % LEVEL_ITERATIONS];
  bool level = info->iterations >= LEVEL_ITERATIONS && *past - info->loss < s->decrease * *past;
  *past = info->loss;
  if (info->gradient <= s->tolerance * scale || info->loss == 0)
    info->end = HK_FIT_CONVERGED;
  else if (level)
    info->end = HK_FIT_LEVELED;
  else if (info->iterations >= s->iterations)
    info->end = HK_FIT_ITERATIONS;
  else
    return false;
  return true;
}

static HkStatus run(Fit *f, HkError *error) {
  const HkFitSettings *s = &f->settings;
  bool moved = true;
  HK_TRY(evaluate(f, f->p, &f->info.loss, f->g, error));
  if (!isfinite(f->info.loss))
    return hk_fail(error, HK_ERROR_INVALID,
                   "the loss of the numbers that the fit begins with is %g", f->info.loss);
  measure(f);
  f->info.start_loss = f->info.loss;
  f->info.start_gradient = f->info.gradient;
  while (!is_over(f)) {
    HK_TRY(advance(f, &moved, error));
    if (!moved) {
      f->info.end = HK_FIT_STALLED;
      break;
    }
    measure(f);
    if (s->progress && !s->progress(s->progress_user, &f->info, f->p))
      return hk_fail(error, HK_ERROR_CANCELLED, "the fit was ended after %d iterations",
                     f->info.iterations);
  }
  return f->info.end == HK_FIT_CONVERGED ? HK_OK : HK_NOT_CONVERGED;
}

HkStatus hk_fit(const HkContext *context, int64_t count, double *p, const double *min,
                const double *max, HkLossAtFn *loss, void *user, const HkFitSettings *settings,
                HkFitInfo *info, HkError *error) {
  HkContext c = hk_context_or_default(context);
  Fit f = {.settings = settings ? *settings : hk_fit_settings_default(),
           .loss = loss,
           .user = user,
           .min = min,
           .max = max,
           .count = count};
  HK_TRY(check(&f, p, error));
  HkStatus status = create(&f, &c, error);
  if (status >= 0) {
    memcpy(f.p, p, (size_t)count * sizeof *p);
    status = run(&f, error);
    memcpy(p, f.p, (size_t)count * sizeof *p);
  }
  if (info) *info = f.info;
  destroy(&f, &c);
  return status;
}
