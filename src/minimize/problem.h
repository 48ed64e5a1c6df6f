/* The problem that every implicit step solves: the x that minimizes
 *
 *     g(x) = 1/2 (x - y)^T M (x - y) + tau^2 [E(x) - f . x + tau/2 w^T C w],
 *     w = (x - b) / tau - v
 *
 * The integrator chooses y, tau and b, where (x - b) / tau is the velocity that belongs to x. E is
 * the potential energy of all forces that have one at time t, with that of the damping of springs
 * (dampers.c). The others, and all other damping, do not derive from a potential: they are
 * linearized about a predicted state,
 *
 *     f(x, v') ~ f - C (v' - v),   C = -df/dv there, its positive semidefinite part
 *
 * which damps implicitly and leaves a problem of minimization. It keeps the order of an integrator
 * up to the second if C is -df/dv in full; if it is not (wind on faces), second order needs the
 * forces linearized again about the result (passes in step/implicit.h). The gradient is zero
 * exactly where the equations of the step are met:
 *
 *     dg/dx = M (x - y) - tau^2 [-dE/dx + f - C w]            (kg m)
 *
 * Its norm is the length of M^-1 dg/dx, weighted by the masses:
 *
 *     r(x) = |M^-1 dg/dx|_M = sqrt(sum |dg/dx_i|^2 / m_i),   |d|_M = sqrt(sum m_i |d_i|^2)
 *
 * in kg^(1/2) m, over the free vertices. r is a backward error: x meets the equations of the step
 * exactly if the prediction y is replaced by y + M^-1 dg/dx. stopping.c compares it with |x -
 * x_n|_M, the motion of the step from its start x_n.
 */
#ifndef HK_MINIMIZE_PROBLEM_H
#define HK_MINIMIZE_PROBLEM_H

#include "force/dampers.h"
#include "linear/hessian.h"
#include "linear/prefactor.h"

typedef struct HkProblem {
  const HkModel *model;    /* the caller's */
  HkDampers *dampers;      /* NULL: springs are not damped, or by C */
  const HkForceWork *work; /* the caller's, or that of the dampers */
  const struct HkGradientKernels *kernels;
  HkCancel *cancel; /* checked by minimizers and linear solvers; NULL: never */
  HkVectors space;
  HkPattern pattern;
  HkHeld held;
  double t, tau;        /* s */
  double *y, *b;        /* m, 3 n */
  double *f, *v;        /* N and m/s, 3 n: of the linearized forces; NULL if there are none */
  HkDamping damping;    /* C; without values if there is none */
  bool damped;          /* C counts in this step */
  double *drag;         /* N s/m, n: C where it is drag_i I for each vertex alone, else unused */
  bool drags;           /* it is so in this step */
  bool pushed;          /* f counts in this step */
  bool partial;         /* C is not -df/dv in full */
  bool bounded;         /* the Hessian is at most 1.6 times the prefactor's A, wherever x is, and
                         * forces allow every move */
  double *inverse;      /* 1 / d_i (1/kg), n; 0 for held vertices */
  double *extra;        /* e_i (N/m), n: bound of the stiffness of all forces but the springs and
                         * those without a bound */
  const double *origin; /* x_n (m), 3 n: where the step began; the caller's */
  double resolution;    /* m: rounding of the coordinates */
  double rounding;      /* kg^(1/2) m: what it does to r */
  HkHessian hessian;
  HkPrefactor *prefactor; /* NULL unless a method requires it */
  HkFactorKind factor_kind;
  HkPrecision precision;      /* of the prefactor */
  double *scratch, *scratch2; /* 3 n, used within one call */
  size_t bytes;               /* of all but the prefactor, C and the Hessian */
} HkProblem;

/* work: the caller's, as are all forces. */
HkStatus hk_problem_create(const HkModel *model, const HkForceWork *work, HkProblem *problem,
                           HkError *error);
void hk_problem_destroy(HkProblem *problem);
/* From here on the damping of springs is a potential (dampers.h); before a minimizer is made. Does
 * nothing where no spring is damped. */
HkStatus hk_problem_need_dampers(HkProblem *problem, HkError *error);
/* Of what it has made so far, itself not counted. */
size_t hk_problem_bytes(const HkProblem *problem);
/* Makes problem->prefactor, once; later calls with another kind or precision are an error. */
HkStatus hk_problem_need_prefactor(HkProblem *problem, HkFactorKind kind, HkPrecision precision,
                                   HkError *error);

/* Makes the prefactor that of the present step. */
HkStatus hk_problem_update_prefactor(HkProblem *problem, HkError *error);

/* After t, tau and the held pins are set: linearizes the forces without a potential about (x, v) at
 * t, and prepares the diagonal. */
HkStatus hk_problem_linearize(HkProblem *problem, const double *x, const double *v, HkError *error);

/* Whether a force has a stiffness without a bound (`unbounded` of HkForceType). */
bool hk_problem_has_unbounded(const HkProblem *problem);

/* A minimizer has come to x: forces may look around there (their begin_iterate). */
HkStatus hk_problem_begin_iterate(HkProblem *problem, const double *x, HkError *error);
/* The filter of all forces for a move from x to `to`; true if it has changed `to`. */
bool hk_problem_filter(HkProblem *problem, const double *x, double *to);
/* Where the Hessian of the problem is evaluated at x; true, in double precision, as it is. */
HkHessianAt hk_problem_hessian_at(const HkProblem *problem, const double *x);
/* g = dg/dx at x; 0 for held vertices and z in two dimensions. Returns r(x) in kg^(1/2) m. */
double hk_problem_gradient(HkProblem *problem, const double *x, double *g);
/* g(to) - g(from), by differences of each term: accurate to rounding of the difference itself. */
double hk_problem_change(HkProblem *problem, const double *from, const double *to);
/* 1/2 (x - y)^T M (x - y) */
double hk_problem_inertia(const HkProblem *problem, const double *x);
/* The sum of the magnitudes of the terms of g that have a value of their own (kg m^2): those of
 * inertia and of the energy of each force. */
double hk_problem_magnitude(const HkProblem *problem, const double *x);
/* |d|_M over the free vertices (kg^(1/2) m), d in m. */
double hk_problem_norm(HkProblem *problem, const double *d);
/* |x - x_n|_M over the free vertices (kg^(1/2) m). */
double hk_problem_moved(HkProblem *problem, const double *x);
/* Sets x_n and the rounding of r for coordinates as large as those of x_n and y; after
 * hk_problem_linearize. */
void hk_problem_measure(HkProblem *problem, const double *x_n);
/* Raises the rounding of r to that of the stiffness at x, where forces have no bound of it: a
 * contact that closes in the step was not there at its start. */
void hk_problem_measure_rounding(HkProblem *problem, const double *x);
/* Whether H(x) >= 2/3 M for certain, by a bound of the springs under pressure at each vertex (see
 * stopping.c); false: it is not known. */
bool hk_problem_is_convex(HkProblem *problem, const double *x);

#endif
