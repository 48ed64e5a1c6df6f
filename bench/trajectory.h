/* Some steps of a run, each solved to rounding: the starts and the exact solutions for all methods.
 */
#ifndef HOOKE_BENCH_TRAJECTORY_H
#define HOOKE_BENCH_TRAJECTORY_H

#include "problems.h"

typedef struct Trajectory {
  HkState **states; /* count + 1: step q leads from q to q + 1 */
  int count, capacity;
  double gradient; /* largest relative gradient of the steps, as in HkStepInfo */
} Trajectory;

/* Makes the steps first .. first + count - 1, fewer if the motion comes to rest; returns false,
 * with a line on standard error, if it fails. The caller destroys it in both cases. */
bool trajectory_make(Trajectory *trajectory, const Problem *problem, int first, int count);
void trajectory_destroy(Trajectory *trajectory);
/* |x - x*| / |x* - x_n| of step q. */
double trajectory_error(const Trajectory *trajectory, int q, const double *x);

#endif
