/* The clock, and what becomes of many measurements; see timing.h. */
#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

double median_of(const double *values, int count) {
  double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
  if (!sorted || isnan(mean_of(values, count))) {
    free(sorted);
    return NAN;
  }
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, compare);
  double median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
  free(sorted);
  return median;
}

double mean_of(const double *values, int count) {
  double sum = 0;
  for (int q = 0; q < count; q++) sum += values[q];
  return count > 0 ? sum / count : NAN;
}
