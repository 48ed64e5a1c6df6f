/* Statistics of repeated measurements, and distances between sets of positions. */
#ifndef HOOKE_MEASURE_STATISTICS_H
#define HOOKE_MEASURE_STATISTICS_H

#include <stdint.h>

/* All NAN if there is no value or one is NAN. */
typedef struct Statistics {
  int count;
  double median, mean, smallest, largest;
  double spread; /* third quartile minus first quartile, in the unit of the values */
} Statistics;

/* Quartiles are interpolated linearly between the sorted values. The values stay as they are. */
Statistics statistics_of(const double *values, int count);
double median_of(const double *values, int count);
/* Returns the median of a[q] / b[q], for pairs that were measured one after the other. */
double median_ratio(const double *a, const double *b, int count);

/* Distance of n positions a from n positions b, with weights w (NULL: 1 each). */
typedef struct Distance {
  double norm;    /* sqrt(sum w_i |a_i - b_i|^2) */
  double rms;     /* norm / sqrt(sum w_i); NAN without any weight */
  double largest; /* max |a_i - b_i| */
} Distance;

Distance distance_of(const double *a, const double *b, const double *weights, int64_t n);

#endif
