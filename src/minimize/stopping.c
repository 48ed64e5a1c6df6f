/* When a minimization ends, and what is known then.
 *
 * With r(x) = |M^-1 dg/dx|_M (problem.h), the relative gradient
 *
 *     m(x) = r(x) / |x - x_n|_M
 *
 * compares the residual of the step's equations with the motion of the step from x_n. It has no
 * unit, costs no solve, and is a backward error: x solves exactly the step whose prediction y is
 * moved by M^-1 dg/dx, that is by m parts of the step's own motion. The Newton direction
 * p = -H^-1 dg/dx is the forward error to first order, and it may be larger than r: where H is
 * nearly singular, or indefinite, x is not determined by its equations. So there are these ends:
 *
 *     converged    m <= tolerance, H is positive definite and |p|_M <= tolerance |x - x_n|_M
 *     rounding     r is at most what the rounding of the coordinates does to it
 *     stationary   m <= tolerance, but H is indefinite or nearly singular (buckling, a flat
 *                  valley), or not known: minimizers other than newton do not compute it
 *     iterations, stalled: the step is not converged
 *
 * Tolerances above HK_CONVERGED_MAX are for large stiff cloth: its high frequencies weigh
 * h^2 k / m_i in m, and the error of x is 100 to 1000 times smaller. Where springs are soft it is
 * not, so newton then ends only where the last decreases of g let expect that min g is at most
 * HK_LEFT_MAX |x - x_n|_M^2 below (hk_decreases_left), and calls no step converged with a larger m.
 *
 * H and p are newton's to check. One case needs no check: a spring under pressure curves the energy
 * across its length by k (1 - l0 / l) < 0, and |p_i - p_j|^2 <= 2 (|p_i|^2 + |p_j|^2), so that
 *
 *     H >= M - diag(2 tau^2 sum k (l0 / l - 1))          over the springs under pressure at i
 *
 * and where the right-hand side is at least 2/3 M, |p|_M = |H^-1 dg/dx|_M <= 3/2 r.
 */
#include "minimize/minimize.h"

/* Part of the motion below which a move that a force has shortened is no progress. */
static const double FILTERED_PROGRESS = 1e-6;

/* Relative gradient from which on it may be that of rounding. */
static const double ROUNDING_MAX = 1e-5;

double hk_minimizer_tolerance(const HkMinimizer *m) {
  return ((const HkStopping *)m->method.params)->tolerance;
}

static bool is_solved(const HkMinimizer *m) {
  return m->info.reason == HK_STOP_CONVERGED || m->info.reason == HK_STOP_STATIONARY ||
         m->info.reason == HK_STOP_ROUNDING;
}

/* The reason at an iterate with the residual r. */
static HkStop reason_at(HkMinimizer *m, const double *x, double r, double moved) {
  double tolerance = hk_minimizer_tolerance(m);
  if (tolerance == 0) return HK_STOP_ITERATIONS;
  if (r <= tolerance * moved && !m->falls) {
    bool near = r <= HK_CONVERGED_MAX * moved;
    if (near && (m->proved || hk_problem_is_convex(m->problem, x))) return HK_STOP_CONVERGED;
    return r <= m->problem->rounding ? HK_STOP_ROUNDING : HK_STOP_STATIONARY;
  }
  return r <= m->problem->rounding ? HK_STOP_ROUNDING : HK_STOP_ITERATIONS;
}

/* m(x); 0 where nothing moves but for rounding, NAN where forces are not finite. */
static double relative_gradient(const HkMinimizer *m, double r, double moved) {
  double ratio = r == 0 ? 0 : r / moved;
  if (!isfinite(r)) return NAN;
  return isinf(ratio) && r <= m->problem->rounding ? 0 : ratio;
}

bool hk_minimizer_look(HkMinimizer *m, int iteration, const double *x, double r) {
  HkStepInfo *info = &m->info;
  double moved = hk_problem_moved(m->problem, x);
  info->iterations = iteration;
  info->gradient = relative_gradient(m, r, moved);
  if (r <= ROUNDING_MAX * moved) hk_problem_measure_rounding(m->problem, x);
  info->reason = reason_at(m, x, r, moved);
  bool blocked = iteration > 0 && m->filtered && m->filtered_move <= FILTERED_PROGRESS * moved;
  if (blocked && !is_solved(m)) info->reason = HK_STOP_STALLED;
  bool goes_on = !m->trace || hk_minimizer_trace(m, x);
  if (hk_is_cancelled(m->problem->cancel)) return true; /* hk_minimize returns it as an error */
  bool provable = info->reason == HK_STOP_STATIONARY && info->gradient <= HK_CONVERGED_MAX;
  if (provable && m->proves && ++m->stationary < HK_STATIONARY_MAX)
    return !goes_on || iteration >= ((const HkStopping *)m->method.params)->iterations;
  return is_solved(m) || blocked || !goes_on ||
         iteration >= ((const HkStopping *)m->method.params)->iterations;
}

void hk_minimizer_stall(HkMinimizer *m) {
  if (!is_solved(m)) m->info.reason = HK_STOP_STALLED;
}
