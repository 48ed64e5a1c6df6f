/* The clock and medians of the program, and numbers that only the benchmark needs. */
#ifndef HOOKE_BENCH_STATS_H
#define HOOKE_BENCH_STATS_H

#include "timing.h"

#include <stdint.h>

/* Between 0 and 1, the same ones in every run; *seed is any number and moves on. */
double stats_random(uint64_t *seed);
/* |a - b| over n vectors of three doubles. */
double stats_distance(const double *a, const double *b, int64_t n);

#endif
