/* The clock of measurements and deadlines. */
#ifndef HK_BASE_CLOCK_H
#define HK_BASE_CLOCK_H

#include <time.h>

/* Wall time in s of the monotonic clock, which no change of the date affects; only differences have
 * a meaning. */
static inline double hk_wall_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
