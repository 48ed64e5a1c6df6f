/* Methods of Hooke, as the text of a scene's "integrator". Those that this build does not have are
 * skipped. */
#ifndef HOOKE_BENCH_METHODS_H
#define HOOKE_BENCH_METHODS_H

#include "hooke/hooke.h"

/* JSON in 'single' quotes, which need no backslash in C. */
typedef struct Method {
  const char *name, *text;
} Method;

/* Backward Euler, to a tolerance far below the measured errors; the first is Hooke's default. */
extern const Method methods_implicit[];
/* Linearly implicit Euler; symplectic Euler in double precision and in single. */
extern const Method methods_linear_implicit[];
extern const Method methods_double[], methods_single[];
/* Local/global with 21 iterations a step, and with one; the converged step, for models of any
 * size. */
extern const Method method_local_global, method_local_global_once;
extern const Method methods_reference[];

/* Turns ' into " in place. */
void json_quotes(char *text);
/* Creates a simulation; returns NULL, with *error, if this build does not have the method. */
HkSim *method_sim(const HkModel *model, const Method *method, double h, HkError *error);

#endif
