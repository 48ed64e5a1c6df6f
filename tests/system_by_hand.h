/* Linear systems of models made by hand, and the same ones as dense matrices. */
#ifndef HOOKE_SYSTEM_BY_HAND_H
#define HOOKE_SYSTEM_BY_HAND_H

#include "linear/hessian.h"
#include "linear/prefactor.h"
#include "model_by_hand.h"

/* A = M + tau^2 d2E/dx2 of the springs at x = stretch x0, with a random b that is 0 at held
 * vertices. Springs of models made by hand are all in tension from stretch 1.5 on, and A is
 * positive definite; at 0.3 all are under pressure. */
typedef struct System {
  HkModel *model; /* owned */
  HkPattern pattern;
  HkHeld held;
  HkForceWork work;
  HkHessian H;
  HkOperator A;           /* assembled */
  HkPrefactor *prefactor; /* not factorized at tau = 0 */
  HkLinearSetup setup;
  double tau, *x; /* 3 n, where A is taken */
  double *b;      /* 3 n */
  double *dense;  /* (3 n)^2, of the forces' own Jacobian; NULL for large models */
} System;

/* held: how many vertices at both ends of the numbering are held. Ends the program if there is no
 * memory. */
System *system_of(HkModel *model, double stretch, double tau, int held);
void system_destroy(System **system);

/* Masses over six and stiffnesses over four powers of ten, at random. */
void scale_badly(HkModel *model);

/* |b - A x| / |b| with the dense matrix. */
double system_residual(const System *system, const double *x);
/* a . b over all coordinates */
double system_dot(const System *system, const double *a, const double *b);
/* An array of 3 n random numbers; freed with free. */
double *system_random(const System *system, uint64_t seed);

/* The linear solver of that name, for the system; preconditioner may be NULL. */
HkStatus system_solver(const System *system, const char *name, const char *preconditioner,
                       HkLinear **solver, HkError *error);

#endif
