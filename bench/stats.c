/* Numbers that only the benchmark needs; see stats.h. */
#include "stats.h"

#include <math.h>

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
