/* A monotonic clock, and the median. */
#ifndef HOOKE_CLI_TIMING_H
#define HOOKE_CLI_TIMING_H

/* Returns the time in s of a monotonic clock. */
double seconds_now(void);
/* Returns the median without changing the values; NAN if there are none or one is NAN. */
double median_of(const double *values, int count);
double mean_of(const double *values, int count);

#endif
