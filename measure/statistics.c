/* Statistics of repeated measurements; see statistics.h. */
#include "measure/statistics.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

/* Linear interpolation at a part (0 to 1) of the sorted values. */
static double quantile(const double *sorted, int count, double part) {
  double at = part * (count - 1);
  int below = (int)at, above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static double mean_of(const double *values, int count) {
  double sum = 0;
  for (int q = 0; q < count; q++) sum += values[q];
  return sum / count;
}

Statistics statistics_of(const double *values, int count) {
  Statistics s = {.count = count > 0 ? count : 0, NAN, NAN, NAN, NAN, NAN};
  double mean = count > 0 ? mean_of(values, count) : NAN;
  double *sorted = isnan(mean) ? NULL : malloc((size_t)count * sizeof *sorted);
  if (!sorted) return s;
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  hk_sort_double(sorted, count);
  s.median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
  s.mean = mean;
  s.smallest = sorted[0];
  s.largest = sorted[count - 1];
  s.spread = quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25);
  free(sorted);
  return s;
}

double median_of(const double *values, int count) {
  return statistics_of(values, count).median;
}

double median_ratio(const double *a, const double *b, int count) {
  double *ratios = count > 0 ? malloc((size_t)count * sizeof *ratios) : NULL;
  for (int q = 0; ratios && q < count; q++) ratios[q] = a[q] / b[q];
  double median = ratios ? median_of(ratios, count) : NAN;
  free(ratios);
  return median;
}

Distance distance_of(const double *a, const double *b, const double *weights, int64_t n) {
  double sum = 0, weight = 0, most = 0;
  for (int64_t i = 0; i < n; i++) {
    double square = 0, w = weights ? weights[i] : 1;
    for (int64_t q = 3 * i; q < 3 * i + 3; q++) square += (a[q] - b[q]) * (a[q] - b[q]);
    sum += w * square;
    weight += w;
    if (!(square <= most) && !isnan(most)) most = square; /* NAN stays */
  }
  return (Distance){sqrt(sum), sqrt(sum / weight), sqrt(most)};
}
