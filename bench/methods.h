/* How Hooke solves: methods as the text of a scene's "integrator". Those that this build does not
 * know are skipped. */
#ifndef HOOKE_BENCH_METHODS_H
#define HOOKE_BENCH_METHODS_H

#include "hooke/hooke.h"

/* JSON in 'single' quotes, which need no backslash in C. */
typedef struct Method {
  const char *name, *text;
} Method;

/* Backward Euler, to a tolerance far below what is measured; the first is Hooke's default. */
extern const Method methods_implicit[];
/* Linearly implicit Euler; symplectic Euler in double precision and in single. */
extern const Method methods_linear_implicit[];
extern const Method methods_double[], methods_single[];
/* 21 plain local/global iterations a step, and one; the converged step, for models of any size. */
extern const Method method_local_global, method_local_global_once;
extern const Method methods_reference[];

/* Turns ' into " in place. */
void json_quotes(char *text);
/* Makes a simulation; NULL, and why in *error, if this build does not know the method. */
HkSim *method_sim(const HkModel *model, const Method *method, double h, HkError *error);

#endif
