/* Operations on vectors double[3]. */
#ifndef HOOKE_CLI_VECTOR_H
#define HOOKE_CLI_VECTOR_H

#include <math.h>
#include <stdbool.h>

static inline double vector_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a x b; c is neither of them. */
static inline void vector_cross(const double a[3], const double b[3], double c[3]) {
  for (int k = 0; k < 3; k++)
    c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* a = a / |a|; returns false if a is 0. */
static inline bool vector_normalize(double a[3]) {
  double length = sqrt(vector_dot(a, a));
  for (int k = 0; k < 3 && length > 0; k++) a[k] /= length;
  return length > 0;
}

#endif
