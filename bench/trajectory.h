/* Some steps of a run, each solved to rounding: where every method starts and what it has to find.
 */
#ifndef HOOKE_BENCH_TRAJECTORY_H
#define HOOKE_BENCH_TRAJECTORY_H

#include "problems.h"

typedef struct Trajectory {
  HkState **states; /* count + 1: step q leads from q to q + 1 */
  int count, capacity;
  double gradient; /* the largest that a step was left with, as in HkStepInfo */
} Trajectory;

/* Steps first .. first + count - 1, fewer where the motion comes to rest; false, and a line on
 * standard error, if it cannot be made. destroy is due in both cases. */
bool trajectory_make(Trajectory *trajectory, const Problem *problem, int first, int count);
void trajectory_destroy(Trajectory *trajectory);
/* |x - x*| / |x* - x_n| of step q. */
double trajectory_error(const Trajectory *trajectory, int q, const double *x);

#endif
