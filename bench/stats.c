/* The clock, and what becomes of many measurements; see stats.h. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double stats_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

double stats_median(const double *values, int count) {
  double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
  if (!sorted || isnan(stats_mean(values, count))) {
    free(sorted);
    return NAN;
  }
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, compare);
  double median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
  free(sorted);
  return median;
}

double stats_mean(const double *values, int count) {
  double sum = 0;
  for (int q = 0; q < count; q++) sum += values[q];
  return count > 0 ? sum / count : NAN;
}

/* Knuth's linear congruential generator; the upper bits are the good ones. */
double stats_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

double stats_distance(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t q = 0; q < 3 * n; q++) sum += (a[q] - b[q]) * (a[q] - b[q]);
  return sqrt(sum);
}
