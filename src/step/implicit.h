/* Common functions of implicit integrators: one minimization (problem.h) or one linear system a
 * step. */
#ifndef HK_STEP_IMPLICIT_H
#define HK_STEP_IMPLICIT_H

#include "minimize/minimize.h"
#include "minimize/solve_hessian.h"
#include "step/sim.h"

/* Parameters of the integrators that minimize. */
typedef struct HkImplicitParams {
  HkMethod minimizer;
  int passes;
} HkImplicitParams;

#define HK_IMPLICIT_PARAMS(S)                                                                      \
  HK_METHOD(S, minimizer, HK_MINIMIZE,                                                             \
            "how each step is solved; by the size of the model unless given"),                     \
      HK_INTEGER(S, passes, 0, 0, 1000,                                                            \
                 "how often a step is solved: first with forces without a potential (wind, drag) " \
                 "linearized about a prediction, then about its own result; 0: once, but twice "   \
                 "with face_wind in second-order integrators")

/* sim->data of an implicit integrator. */
typedef struct HkImplicit {
  HkProblem problem;
  HkMinimizer *minimizer; /* of those that minimize */
  HkSolveHessian *solve;  /* of those that solve one linear system */
  double *x;              /* 3 n: the solution of the stage */
  double *ahead, *v;      /* 3 n: position and velocity of the predicted stage */
  double *start; /* 3 n: where the minimization may start, with the constrained vertices at their
                  * places (arrive.c); NULL where forces allow every move */
} HkImplicit;

/* create and destroy of integrators whose parameters begin as HkImplicitParams. */
HkStatus hk_implicit_create(HkSim *sim, HkError *error);
void hk_implicit_destroy(HkSim *sim);
size_t hk_implicit_bytes(const HkSim *sim);
/* Creates the problem and a linear solver, for linearly implicit integrators. */
HkStatus hk_implicit_create_linear(HkSim *sim, const HkMethod *linear, HkError *error);

/* Sets the constrained vertices in the mask, y and b, which the integrator has filled, and the
 * prediction in ahead and v. The caller then linearizes the problem. */
void hk_implicit_begin(HkSim *sim, const HkState *state, const HkStage *stage);
/* b and y of the update, whose free vertices they are; accelerations take `a` (3 n). */
void hk_implicit_start(HkSim *sim, const HkState *state, const HkUpdate *update, double *a);
/* The step of integrators whose update is a stage. */
HkStatus hk_implicit_step(HkSim *sim, HkState *state, HkError *error);
/* Calls hk_implicit_begin, linearizes about the prediction and minimizes: the stage is implicit->x,
 * its velocity (x - b) / tau. */
HkStatus hk_implicit_solve(HkSim *sim, HkState *state, const HkStage *stage, HkError *error);

/* Prepares the problem for a prediction x: dampers, and what is linearized about it. */
HkStatus hk_implicit_predict(HkSim *sim, const HkState *state, const HkStage *stage,
                             const double *x, HkError *error);
/* arrive.c: brings constrained vertices and obstacles to their places of the stage, and shortens
 * the prediction, without a move that a force does not allow. */
HkStatus hk_implicit_arrive(HkSim *sim, const HkState *state, const HkStage *stage, HkError *error);

/* to_device of integrators whose parameters are HkImplicitParams; the step is that of the
 * minimizer for backward Euler. */
HkToDeviceFn hk_implicit_to_device;
/* Returns an error unless the settings of an integrator have multigrid. */
HkStatus hk_implicit_need_multigrid(const char *integrator, const HkDeviceSettings *settings,
                                    HkError *error);

/* Unconditional stability: any step. */
double hk_implicit_stable_step(const void *params, double omega, double d);

#endif
