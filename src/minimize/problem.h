/* The problem that every implicit step solves: the x that minimises
 *
 *     g(x) = 1/2 (x - y)^T M (x - y) + tau^2 [E(x) - f . x + tau/2 w^T C w],
 *     w = (x - b) / tau - v
 *
 * The integrator chooses y, tau and b, where (x - b) / tau is the velocity that belongs to x. E is
 * the potential energy of all forces that have one at time t. The others, and all damping, do not
 * derive from a potential: they are linearised about a predicted state,
 *
 *     f(x, v') ~ f - C (v' - v),   C = -df/dv there, its positive semidefinite part
 *
 * which damps implicitly and leaves a problem of minimisation. It keeps the order of an integrator
 * up to the second if C is -df/dv in full; if it is not (wind on faces), the second order wants the
 * forces linearised again about the result (passes in step/implicit.h). The gradient is zero
 * exactly where the equations of the step are met:
 *
 *     dg/dx = M (x - y) - tau^2 [-dE/dx + f - C w]            (kg m)
 *
 * Its size is judged at each vertex by the displacement that would bring that vertex alone to
 * rest, |dg/dx_i| / d_i with d_i = m_i + tau^2 (sum k + e_i) + tau sum c over the springs at i, in
 * metres, whatever the stiffness, the masses and the step. It is compared with the reach of the
 * step, the furthest that a vertex moves by its velocity or at the first correction, and with the
 * rounding of the coordinates, below which it cannot sink.
 */
#ifndef HK_MINIMIZE_PROBLEM_H
#define HK_MINIMIZE_PROBLEM_H

#include "linear/hessian.h"
#include "linear/prefactor.h"

typedef struct HkProblem {
  const HkModel *model;
  const HkForceWork *work;
  const struct HkGradientKernels *kernels;
  HkVectors space;
  HkPattern pattern;
  HkHeld held;
  double t, tau;         /* s */
  double *y, *b;         /* m, 3 n */
  double *f, *v;         /* N and m/s, 3 n: of the linearised forces; NULL if there are none */
  HkBlockMatrix damping; /* C; without values if there is none */
  double *drag;          /* N s/m, n: C where it is drag_i I for each vertex alone, else unused */
  bool drags;            /* it is so in this step */
  bool pushed;           /* f counts in this step */
  bool partial;          /* C is not -df/dv in full */
  bool bounded;          /* the Hessian is at most 1.6 times the prefactor's A, wherever x is */
  double *inverse;       /* 1 / d_i (1/kg), n; 0 for held vertices */
  double *extra;         /* e_i (N/m), n: bound of the stiffness of all forces but the springs */
  const double *origin;  /* where the step began; the caller's */
  double reach;          /* m, how far vertices move in this step */
  double rounding;       /* m, of the coordinates */
  HkHessian hessian;
  HkPrefactor *prefactor; /* NULL unless a method asked for it */
  HkFactorKind factor_kind;
  HkPrecision precision; /* of the prefactor */
  double *room, *room2;  /* 3 n, used within one call */
  size_t bytes;          /* of all but the prefactor */
} HkProblem;

/* work: the caller's, as are all forces. */
HkStatus hk_problem_create(const HkModel *model, const HkForceWork *work, HkProblem *problem,
                           HkError *error);
void hk_problem_destroy(HkProblem *problem);
/* Of what it has made so far, itself not counted. */
size_t hk_problem_bytes(const HkProblem *problem);
/* Makes problem->prefactor, once; later calls with another kind or precision are an error. */
HkStatus hk_problem_need_prefactor(HkProblem *problem, HkFactorKind kind, HkPrecision precision,
                                   HkError *error);

/* After t, tau and the held pins are set: linearises the forces without a potential about (x, v) at
 * t, and prepares the diagonal. */
HkStatus hk_problem_linearise(HkProblem *problem, const double *x, const double *v, HkError *error);

/* g = dg/dx at x; 0 for held vertices and z in two dimensions. Returns its size (m), as above. */
double hk_problem_gradient(HkProblem *problem, const double *x, double *g);
/* g(to) - g(from), by differences of each term: accurate to rounding of the difference itself. */
double hk_problem_change(HkProblem *problem, const double *from, const double *to);
/* 1/2 (x - y)^T M (x - y) */
double hk_problem_inertia(const HkProblem *problem, const double *x);
/* How far x is from where the step began (m, root of the sum of squares). */
double hk_problem_moved(HkProblem *problem, const double *x);
/* Takes the reach of a step from x by its prediction y, and the rounding of both. */
void hk_problem_measure(HkProblem *problem, const double *x);

#endif
