/* The clock, and what becomes of many measurements. */
#ifndef HOOKE_CLI_TIMING_H
#define HOOKE_CLI_TIMING_H

/* Seconds of a clock that only goes forward. */
double seconds_now(void);
/* NAN of nothing, and where one is NAN. The values are left as they are. */
double median_of(const double *values, int count);
double mean_of(const double *values, int count);

#endif
