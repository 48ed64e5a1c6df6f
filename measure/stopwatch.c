/* The clock and a stopwatch; see stopwatch.h. */
#include "measure/stopwatch.h"

#include "base/clock.h"

double seconds_now(void) {
  return hk_wall_time();
}

static double now(const Stopwatch *watch) {
  return watch->clock ? watch->clock() : seconds_now();
}

void stopwatch_start(Stopwatch *watch) {
  watch->began = now(watch);
}

void stopwatch_stop(Stopwatch *watch) {
  watch->seconds += now(watch) - watch->began;
}
