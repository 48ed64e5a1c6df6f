/* Strain limits at the end of steps that were made without them: projections (Provot 1995), with
 * the directions of SHAKE (Ryckaert, Ciccotti, Berendsen 1977).
 *
 * One spring after the other that is beyond its limit L is brought back to it by equal and opposite
 * impulses on its ends,
 *
 *     x_i -= w_i g u,   x_j += w_j g u,   |d - (w_i + w_j) g u| = L,   d = x_i - x_j,   w = 1 / m
 *
 * along its direction u at the start of the step, back and forth through the springs until all are
 * within their limits. w is 0 for held vertices. Then v += (x - x before) / h. Momentum is kept to
 * rounding; so is angular momentum about any point where x+ = x + h v+ (symplectic_euler), since
 * the impulses are along u; elsewhere it is kept to first order in h. Kinetic energy is lost, as in
 * any inelastic impact. Sweeps move a correction by a few springs each: limits far below the strain
 * that the springs would have take many, and after SWEEPS_MAX of them the step did not converge.
 */
#include "force/strain_limit.h"

#include "base/vec.h"
#include "force/springs.h"

#include <string.h>

enum { SWEEPS_MAX = 300 };

static const double TOLERANCE = 1e-6; /* of a length */

typedef struct Projection {
  const HkForceArgs *a;
  const HkStepEnd *end;
  const double *inverse; /* 1/kg, 0 where held */
} Projection;

/* Returns g of a spring with the difference d and squared length `square`, that is to be L long.
 * The direction u becomes that of d where the spring has turned too far. */
static double impulse(double L, const double d[3], double square, double weight, double u[3]) {
  double along = hk_dot(d, u), root = along * along - (square - L * L);
  if (along > 0 && root >= 0) return (along - sqrt(root)) / weight;
  double l = sqrt(square);
  for (int c = 0; c < 3; c++) u[c] = d[c] / l;
  return (l - L) / weight;
}

/* Brings spring s back to its limits; returns by which part of its length it was beyond. */
static double project(const Projection *p, int64_t s) {
  const HkSpringArrays *springs = p->a->work.springs;
  HkStrainBounds bounds = hk_strain_bounds(p->a->params, springs, s);
  int64_t i = springs->i[s], j = springs->j[s];
  double d[3], u[3], weight = p->inverse[i] + p->inverse[j];
  hk_sub(p->end->to + 3 * i, p->end->to + 3 * j, d);
  double square = hk_dot(d, d);
  bool longer = square > bounds.most * bounds.most;
  if (weight == 0 || !(longer || square < bounds.least * bounds.least)) return 0;
  double L = longer ? bounds.most : bounds.least;
  hk_sub(p->end->x + 3 * i, p->end->x + 3 * j, u);
  double before = hk_norm(u);
  if (square == 0) return 1; /* without a direction */
  for (int c = 0; c < 3; c++) u[c] = before > HK_SPRING_TINY ? u[c] / before : 0;
  double g = impulse(L, d, square, weight, u);
  hk_axpy(-p->inverse[i] * g, u, p->end->to + 3 * i);
  hk_axpy(p->inverse[j] * g, u, p->end->to + 3 * j);
  return fabs(sqrt(square) / L - 1);
}

/* Projects all chosen springs, back or forth; returns the largest part by which one was beyond. */
static double sweep(const Projection *p, bool back) {
  const HkChosenSprings *chosen = p->a->data;
  double most = 0;
  for (int64_t q = 0; q < chosen->count; q++) {
    double beyond = project(p, chosen->spring[back ? chosen->count - 1 - q : q]);
    if (beyond > most) most = beyond;
  }
  return most;
}

HkStatus hk_strain_project(const HkForceArgs *a, HkStepEnd *end, HkError *error) {
  const HkModel *m = a->model;
  double *inverse = a->work.scratch, *before = inverse + m->n, beyond = INFINITY;
  Projection p = {a, end, inverse};
  (void)error;
  for (int64_t i = 0; i < m->n; i++) inverse[i] = 1 / m->mass[i];
  for (int64_t q = 0; q < m->pin_count; q++)
    if (end->pin_held[q]) inverse[m->pin_vertex[q]] = 0;
  memcpy(before, end->to, (size_t)m->n * 3 * sizeof *before);
  for (int k = 0; k < SWEEPS_MAX && beyond > TOLERANCE; k++) beyond = sweep(&p, k % 2 == 1);
  for (int64_t c = 0; c < 3 * m->n; c++) end->v_to[c] += (end->to[c] - before[c]) / end->h;
  return beyond > TOLERANCE ? HK_NOT_CONVERGED : HK_OK;
}
