/* Minimisers: drive the gradient of an implicit step's g(x) to zero; see problem.h. */
#ifndef HK_MINIMIZE_MINIMIZE_H
#define HK_MINIMIZE_MINIMIZE_H

#include "minimize/problem.h"

/* The first members of the parameter struct of every minimiser. */
typedef struct HkStopping {
  int iterations;
  double tolerance;
} HkStopping;

/* Of newton. */
typedef struct HkNewtonParams {
  int iterations;
  double tolerance;
  HkMethod linear;
  double forcing;
  double accuracy;
} HkNewtonParams;

/* Of jacobi. */
typedef struct HkJacobiParams {
  int iterations;
  double tolerance, weight, rho;
} HkJacobiParams;

#define HK_STOPPING_PARAMS(S, most, least)                                                         \
  HK_INTEGER(S, iterations, most, 0, 1000000000, "iterations at most"),                            \
      HK_NUMBER(S, tolerance, "1", least, 0, 1,                                                    \
                "done when no vertex alone would move further than this part of the step's own "   \
                "reach; 0: make all iterations")

/* Of minimisers that can tell how far they are from the minimum. */
#define HK_ACCURACY_PARAM(S, value)                                                                \
  HK_NUMBER(S, accuracy, "1", value, 0, 1,                                                         \
            "done as soon as x seems to be this near to the minimum, as a part of how far the "    \
            "step has moved all masses (root of the sum of squares); 0: tolerance alone counts")

/* Of minimisers that solve with the prefactor (prefactor.h); see hk_minimizer_need_prefactor. */
#define HK_FACTOR_PARAMS(S)                                                                        \
  HK_CHOICE(S, factor, 0, "auto|cholesky|ldlt",                                                    \
            "factorisation of the constant matrix; auto: cholesky, or ldlt in builds without it"), \
      HK_CHOICE(S, precision, HK_PRECISION_AUTO, "auto|single|double",                             \
                "of that factor; auto: single, several times as fast, unless the matrix is too "   \
                "ill-conditioned for it")

typedef struct HkMinimizer HkMinimizer;

typedef struct HkMinimizeType {
  HkSchema schema; /* its parameter struct begins as HkStopping */
  int vectors;     /* workspace: arrays of 3 n doubles, m->w[0 .. vectors - 1] */
  /* Makes what else it needs (m->data, the problem's prefactor); NULL: nothing. */
  HkStatus (*create)(HkMinimizer *m, HkError *error);
  void (*destroy)(HkMinimizer *m);
  /* Of what is in m->data and may grow while it minimises; NULL: nothing does, m->bytes says all.
   */
  size_t (*bytes)(const HkMinimizer *m);
  /* Moves the free vertices of x from where they are to a minimum of m->problem. Calls
   * hk_minimizer_look before the first iteration (0) and after each, and ends when that says so. */
  HkStatus (*minimize)(HkMinimizer *m, double *x, HkError *error);
} HkMinimizeType;

const HkMinimizeType *hk_minimize_type(const HkSchema *schema);

struct HkMinimizer {
  const HkMinimizeType *type;
  HkMethod method;    /* own copy of the parameters */
  HkProblem *problem; /* the caller's */
  double **w;
  void *data;
  double accuracy; /* 0: the distance does not matter; set by create */
  double distance; /* m: estimate of |x - x*| (root of the sum of squares), INFINITY: unknown; set
                    * by minimisers before hk_minimizer_look */
  HkStepReport report; /* of the last minimisation; minimisers count evaluations and so on here */
  size_t bytes;        /* of what create has made, without the problem's prefactor */
  HkTraceFn *trace;    /* told of every iteration; NULL: nobody is */
  void *trace_user;
  double *start; /* x at iteration 0, while there is a trace */
  double began;  /* s of wall time, without what the trace took */
};

HkStatus hk_minimizer_create(HkProblem *problem, const HkMethod *method, HkMinimizer **minimizer,
                             HkError *error);
void hk_minimizer_destroy(HkMinimizer **minimizer);
/* Of all that it holds now; the problem's, and so its prefactor, is not its own. */
size_t hk_minimizer_bytes(const HkMinimizer *m);
HkStatus hk_minimizer_set_trace(HkMinimizer *m, HkTraceFn *trace, void *user, HkError *error);
/* Minimises from x; HK_NOT_CONVERGED if a tolerance was asked for and not met. */
HkStatus hk_minimize(HkMinimizer *m, double *x, HkError *error);

/* Iteration `iteration` has led to x with a gradient of this size (m): tells the trace, updates the
 * report, and returns true when it is time to stop (converged, or the last iteration). */
bool hk_minimizer_look(HkMinimizer *m, int iteration, const double *x, double size);
/* No step along any direction lowers g any more: the report says so. */
void hk_minimizer_stall(HkMinimizer *m);
/* Makes the problem's prefactor, for a create; factor and precision: of HK_FACTOR_PARAMS. */
HkStatus hk_minimizer_need_prefactor(HkMinimizer *m, int factor, int precision, HkError *error);
/* p = -A^-1 g with the prefactor A of the present step. */
HkStatus hk_minimizer_precondition(HkMinimizer *m, const double *g, double *p, HkError *error);

/* Part of the slope by which a step must lower g at least. */
#define HK_ARMIJO 1e-4

/* line_search.c: the largest of 1, 1/2, 1/4 ... times p that lowers g by Armijo's rule
 *
 *     g(x + a p) - g(x) <= 1e-4 a p . dg/dx
 *
 * x_new = x + a p; returns a, or 0 (and x_new = x) if none does. slope = p . dg/dx < 0. */
double hk_line_search(HkMinimizer *m, const double *x, const double *p, double slope,
                      double *x_new);

#endif
