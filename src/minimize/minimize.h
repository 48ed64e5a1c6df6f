/* Minimizers: drive the gradient of an implicit step's g(x) to zero; see problem.h. */
#ifndef HK_MINIMIZE_MINIMIZE_H
#define HK_MINIMIZE_MINIMIZE_H

#include "base/device_settings.h"
#include "minimize/newton_rules.h"
#include "minimize/problem.h"
#include "minimize/unbounded.h"

/* The first members of the parameter struct of every minimizer. */
typedef struct HkStopping {
  int iterations;
  double tolerance;
} HkStopping;

/* Checked for the struct of every minimizer: S begins as HkStopping. */
#define HK_BEGINS_AS_STOPPING(S)                                                                   \
  _Static_assert(offsetof(S, iterations) == offsetof(HkStopping, iterations) &&                    \
                     offsetof(S, tolerance) == offsetof(HkStopping, tolerance),                    \
                 #S " begins as HkStopping")

/* Parameters of newton. */
typedef struct HkNewtonParams {
  int iterations;
  double tolerance;
  HkMethod linear;
  double forcing;
  int factorize_max;
  double patch_max;
} HkNewtonParams;

HK_BEGINS_AS_STOPPING(HkNewtonParams);

/* Parameters of jacobi. */
typedef struct HkJacobiParams {
  int iterations;
  double tolerance, weight, rho;
} HkJacobiParams;
HK_BEGINS_AS_STOPPING(HkJacobiParams);

#define HK_STOPPING_PARAMS(S, iterations_max, value, most)                                         \
  HK_INTEGER(S, iterations, iterations_max, 0, 1000000000, "maximum number of iterations"),        \
      HK_RENAMED(S, tolerance, accuracy, "1", value, 0, most,                                      \
                 "bound of the relative gradient |M^-1 dg/dx|_M / |x - x_n|_M: the unbalanced "    \
                 "force may change the step by this part of its own motion; 0: all iterations "    \
                 "are made")

/* Of minimizers that solve with the prefactor (prefactor.h); see hk_minimizer_need_prefactor. */
#define HK_FACTOR_PARAMS(S)                                                                        \
  HK_CHOICE(S, factor, 0, "auto|cholesky|ldlt",                                                    \
            "factorization of the constant matrix; auto: cholesky, or ldlt in builds without it"), \
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
  /* Of what is in m->data and may grow while it minimizes; NULL: nothing does, m->bytes says all.
   */
  size_t (*bytes)(const HkMinimizer *m);
  /* Moves the free vertices of x from where they are to a minimum of m->problem. Calls
   * hk_minimizer_look before the first iteration (0) and after each, and ends when that says so. */
  HkStatus (*minimize)(HkMinimizer *m, double *x, HkError *error);
  HkToDeviceFn *to_device; /* NULL: devices do not support it */
} HkMinimizeType;

const HkMinimizeType *hk_minimize_type(const HkSchema *schema);

struct HkMinimizer {
  const HkMinimizeType *type;
  HkMethod method;    /* own copy of the parameters */
  HkProblem *problem; /* the caller's */
  double **w;
  void *data;
  bool proves;           /* it checks that H is positive definite; set by create */
  bool proved;           /* at the present iterate; set by minimizers that prove before each look */
  bool prefactored;      /* the prefactor is that of this minimization */
  bool filtered;         /* the last iterate that was tried was shortened by a force */
  double filtered_move;  /* kg^(1/2) m: what was left of it, |x_new - x|_M */
  bool falls;            /* g fell by too much for an end; set as proved is */
  int stationary;        /* number of iterates with m <= tolerance so far that were not proved */
  HkStepInfo info;       /* of the last minimization; minimizers count evaluations and so on here */
  size_t bytes;          /* of what create has made, without the problem's prefactor */
  HkUnbounded unbounded; /* forces that the prefactor does not contain */
  HkTraceFn *trace;      /* called after each iteration; may be NULL */
  void *trace_user;
  double *start; /* x at iteration 0, while there is a trace */
  double began;  /* s of wall time, without what the trace took */
};

HkStatus hk_minimizer_create(HkProblem *problem, const HkMethod *method, HkMinimizer **minimizer,
                             HkError *error);
void hk_minimizer_destroy(HkMinimizer **minimizer);
double hk_minimizer_tolerance(const HkMinimizer *m);
/* Of all that it holds now; the problem's, and so its prefactor, is not its own. */
size_t hk_minimizer_bytes(const HkMinimizer *m);
HkStatus hk_minimizer_set_trace(HkMinimizer *m, HkTraceFn *trace, void *user, HkError *error);
/* Minimizes from x; HK_NOT_CONVERGED if a tolerance above 0 is not met, HK_ERROR_CANCELLED if the
 * problem's cancel says so. */
HkStatus hk_minimize(HkMinimizer *m, double *x, HkError *error);

/* stopping.c: updates m->info after iteration `iteration`, which led to x with the residual r
 * (kg^(1/2) m), calls the trace, and returns true when the minimization ends. */
bool hk_minimizer_look(HkMinimizer *m, int iteration, const double *x, double r);
/* Updates the reason when no step length along the search direction lowers g. */
void hk_minimizer_stall(HkMinimizer *m);
/* Calls the trace at x; returns whether to go on. */
bool hk_minimizer_trace(HkMinimizer *m, const double *x);
/* Makes the problem's prefactor, for a create; factor and precision: of HK_FACTOR_PARAMS. */
HkStatus hk_minimizer_need_prefactor(HkMinimizer *m, int factor, int precision, HkError *error);
/* p = -A^-1 g with the prefactor A of the present step, and with the stiffness at x of the forces
 * that it does not contain (unbounded.h). */
HkStatus hk_minimizer_precondition(HkMinimizer *m, const double *x, const double *g, double *p,
                                   HkError *error);

/* g(x_new) - g(x) of a proposed iterate, which the forces may shorten first (hk_problem_filter). */
double hk_minimizer_try(HkMinimizer *m, const double *x, double *x_new);

/* line_search.c: the largest of 1, 1/2, 1/4 ... times p that lowers g by Armijo's rule
 *
 *     g(x + a p) - g(x) <= 1e-4 a p . dg/dx
 *
 * x_new = x + a p; returns a, or 0 (and x_new = x) if none does. slope = p . dg/dx < 0. */
double hk_line_search(HkMinimizer *m, const double *x, const double *p, double slope,
                      double *x_new);

#endif
