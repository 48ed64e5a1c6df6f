/* The numbers that `hooke fit` looks for: stiffness, rest length or damping of every spring, and
 * numbers of the scene. */
#ifndef HOOKE_CLI_FIT_NUMBERS_H
#define HOOKE_CLI_FIT_NUMBERS_H

#include "hooke/adjoint.h"
#include "options.h"

/* Arrays of springs, in the order of hk_state_set_springs. */
typedef enum FitSprings { FIT_K, FIT_L0, FIT_DAMPING, FIT_SPRINGS } FitSprings;

/* Whose number it is: bodies change the model when it is compiled, forces and motions of pins have
 * derivatives of their own. */
typedef enum FitOwner { FIT_BODY, FIT_FORCE, FIT_MOTION } FitOwner;

/* Where a number of the scene stands. */
typedef struct FitPlace {
  FitOwner owner;
  int index;     /* of the body, force or pin */
  size_t offset; /* in the parameters of the force or motion */
  double *value; /* in the scene */
} FitPlace;

/* One word of --parameters. */
typedef struct FitName {
  char text[256];
  const char *unit;
  int springs;      /* FitSprings; -1: numbers of the scene */
  FitPlace *places; /* all have the same value: bodies[*] has one for each body */
  int place_count, components;
  int64_t first, count; /* among all numbers */
  double weight;        /* w, 1 at first */
  double min, max;      /* NAN: there is none */
  bool bounded;         /* by --bounds */
} FitName;

/* The numbers p, and what they are fitted by: q = log(p) / w where p > 0 by its bounds, else p over
 * a typical size times w, with a weight w for each name, so that all q change the loss alike. */
typedef struct FitNumbers {
  HkScene *scene;
  FitName *names;
  int name_count;
  int64_t count;
  bool compiles;     /* numbers of the scene are among them: each loss compiles a model */
  double *p, *start; /* count */
  double *min, *max; /* bounds of p */
  double *size;      /* of p; 0: its logarithm counts */
  double *springs[FIT_SPRINGS]; /* one a spring of the model; NULL: those of the model */
} FitNumbers;

/* Reads the words of --parameters, with commas between them, and of --bounds. Returns 0, or the
 * exit code after the error has been printed; the caller calls fit_numbers_release in both cases.
 */
int fit_numbers_parse(FitNumbers *numbers, HkScene *scene, const HkModel *model,
                      const char *parameters, const TextList *bounds);
void fit_numbers_release(FitNumbers *numbers);

/* Sets the weights so that a gradient dL/dq has the same root mean square over each name: the
 * curvature of a loss that is a sum of squares goes with the square of that. */
void fit_numbers_balance(FitNumbers *numbers, const double *gradient);
/* q, and its bounds, of the present numbers. */
void fit_numbers_begin(const FitNumbers *numbers, double *q, double *min, double *max);
/* Sets the numbers to q, in the scene too. */
void fit_numbers_set(FitNumbers *numbers, const double *q);
/* dL/dq of a gradient by all numbers of a model that was compiled from the scene. Bodies change
 * arrays of the model: dL/dp = sum dL/da da/dp with da/dp by central differences of models that are
 * compiled with p a little larger and smaller. */
HkStatus fit_numbers_gradient(const FitNumbers *numbers, HkDerivatives *by, double *gradient,
                              HkError *error);

#endif
