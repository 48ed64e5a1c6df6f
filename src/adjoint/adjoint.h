/* HkAdjoint: differentiates the steps of a simulation. One file for each kind of update
 * (step/update.h) has both directions of a step.
 */
#ifndef HK_ADJOINT_ADJOINT_H
#define HK_ADJOINT_ADJOINT_H

#include "adjoint/minres.h"
#include "adjoint/products.h"
#include "step/implicit.h"

enum { HK_ADJOINT_VECTORS = 11 };

struct HkAdjoint {
  HkSim *sim;
  HkState start;         /* the caller's before a step, but for the pins that hold in it */
  const HkState *before; /* it */
  uint8_t *pins;         /* of start */
  const HkState *after;  /* the caller's */
  HkState *again;        /* the step made again (memory.h); NULL until then */
  HkDerivatives *d;      /* the caller's */
  HkUpdate update;       /* of the step */
  HkSolveHessian *solve; /* of implicit steps */
  HkGuess *guess;        /* of those that are solved by iteration, else NULL */
  HkMinres *minres;      /* where their Hessian is not positive definite; NULL until then */
  HkVectors space;
  uint8_t *held;                 /* n: 1 where a pin holds in the step */
  double *w[HK_ADJOINT_VECTORS]; /* 3 n, scratch */
  double *rest;                  /* 3 n zeros */
  double *k, *l0; /* derivatives by the springs of a step with dampers; NULL: there are none */
  double *slots;  /* of HkSpringNumbers; NULL: there are no springs */
  void *block;    /* what the slots were allocated as */
  double *spared; /* derivatives by broken springs, k and damping, during a step; NULL until then */
  int64_t version; /* of the model, when the adjoint was made */
  HkAdjointSettings settings;
  double missed, moved; /* sums of |l . g| and |l . M (x+ - x)| */
  HkAdjointInfo info;
};

/* The functions of a kind of update, for the step that is set in `a`. */
typedef HkStatus HkAdjointFn(HkAdjoint *a, HkError *error);
HkAdjointFn hk_stage_back, hk_stage_forward;
HkAdjointFn hk_linear_back, hk_linear_forward;
HkAdjointFn hk_kick_back, hk_kick_forward;
HkAdjointFn hk_runge_kutta_back, hk_runge_kutta_forward;

/* hk_adjoint_step whose derivatives by k and l0 are complete only after hk_adjoint_settle, which
 * many steps with the same springs may share. */
HkStatus hk_adjoint_back(HkAdjoint *a, const HkState *before, const HkState *after,
                         HkDerivatives *d, HkError *error);
void hk_adjoint_settle(HkAdjoint *a);
/* Begins another pass: its info starts anew. */
void hk_adjoint_restart(HkAdjoint *a);
/* x = H^-1 b with the Hessian of the problem at `at`, true (projection 0) or projected (1); 0 at
 * held vertices. */
HkStatus hk_adjoint_solve(HkAdjoint *a, const double *at, const double *b, double projection,
                          double *x, HkError *error);

/* Where all forces are differentiated, with the springs of the simulation. */
HkForcesAt hk_adjoint_forces(const HkAdjoint *a, double t, const double *x, const double *v,
                             double scale);
/* out = scale M^-1 b, 0 at held vertices and along z in two dimensions. */
void hk_adjoint_accelerate(const HkAdjoint *a, double scale, const double *b, double *out);
/* A vector becomes 0 at held vertices and along z in two dimensions. */
void hk_adjoint_restrict(const HkAdjoint *a, double *vector);
/* An acceleration p = f / m changes by -p dm / m: the derivatives by masses -= p . q / m, or out -=
 * p dm / m, at the free vertices. */
void hk_adjoint_mass_back(const HkAdjoint *a, const double *p, const double *q);
void hk_adjoint_mass_forward(const HkAdjoint *a, const double *p, double *out);

/* pins.c: positions and velocities of held pins at time t get x and v: their gradients go to the
 * motions, and are 0 in x and v afterwards; v may be NULL. */
void hk_pins_pull_back(const HkAdjoint *a, double t, double *x, double *v);
/* dx and dv of held pins become the directions of their motions; dv may be NULL. */
void hk_pins_push_forward(const HkAdjoint *a, double t, double *dx, double *dv);

#endif
