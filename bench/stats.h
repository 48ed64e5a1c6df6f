/* The clock, and what becomes of many measurements. */
#ifndef HOOKE_BENCH_STATS_H
#define HOOKE_BENCH_STATS_H

#include <stdint.h>

/* Seconds of a clock that only goes forward. */
double stats_now(void);
/* NAN of nothing, and where one is NAN. The numbers are left as they are. */
double stats_median(const double *values, int count);
double stats_mean(const double *values, int count);
/* Between 0 and 1, the same ones in every run; *seed is any number and moves on. */
double stats_random(uint64_t *seed);
/* |a - b| over n vectors of three doubles. */
double stats_distance(const double *a, const double *b, int64_t n);

#endif
