/* Operations on vectors double[3] and matrices double[9], which are stored row by row. */
#ifndef HK_BASE_VEC_H
#define HK_BASE_VEC_H

#include <math.h>
#include <stdbool.h>

/* Returns the maximum, and b if either is NAN: one instruction, while fmax is a call. */
static inline double hk_larger(double a, double b) {
  return a > b ? a : b;
}

static inline void hk_sub(const double a[3], const double b[3], double out[3]) {
  out[0] = a[0] - b[0];
  out[1] = a[1] - b[1];
  out[2] = a[2] - b[2];
}

/* y += s x */
static inline void hk_axpy(double s, const double x[3], double y[3]) {
  y[0] += s * x[0];
  y[1] += s * x[1];
  y[2] += s * x[2];
}

static inline double hk_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double hk_norm(const double a[3]) {
  return sqrt(hk_dot(a, a));
}

/* out = a / |a|, without overflow; returns false and sets out to 0 if a is 0. */
static inline bool hk_unit(const double a[3], double out[3]) {
  double largest = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
  for (int c = 0; c < 3; c++) out[c] = largest > 0 ? a[c] / largest : 0;
  double length = largest > 0 ? hk_norm(out) : 1;
  for (int c = 0; c < 3; c++) out[c] /= length;
  return largest > 0;
}

static inline double hk_distance(const double a[3], const double b[3]) {
  double d[3];
  hk_sub(a, b, d);
  return hk_norm(d);
}

static inline void hk_cross(const double a[3], const double b[3], double out[3]) {
  double x = a[1] * b[2] - a[2] * b[1];
  double y = a[2] * b[0] - a[0] * b[2];
  double z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/* A = s I */
static inline void hk_mat_identity(double s, double A[9]) {
  for (int q = 0; q < 9; q++) A[q] = q % 4 == 0 ? s : 0;
}

/* A += s a b^T */
static inline void hk_mat_add_outer(double s, const double a[3], const double b[3], double A[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) A[3 * r + c] += s * a[r] * b[c];
}

/* Returns the infinity norm: the largest sum of absolute values of a row, which bounds the
 * eigenvalues. */
static inline double hk_mat_row_sum(const double A[9]) {
  double most = 0;
  for (int r = 0; r < 3; r++)
    most = fmax(most, fabs(A[3 * r]) + fabs(A[3 * r + 1]) + fabs(A[3 * r + 2]));
  return most;
}

/* y += A x */
static inline void hk_mat_add_product(const double A[9], const double x[3], double y[3]) {
  for (int r = 0; r < 3; r++) y[r] += hk_dot(A + 3 * r, x);
}

/* C = A B */
static inline void hk_mat_multiply(const double A[9], const double B[9], double C[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      C[3 * r + c] = A[3 * r] * B[c] + A[3 * r + 1] * B[3 + c] + A[3 * r + 2] * B[6 + c];
}

/* A = A^-1 for a symmetric positive definite A, by its L D L^T factorization; returns false and
 * leaves A unchanged if it is not positive definite. */
static inline bool hk_mat_invert_positive(double A[9]) {
  double a = A[0], b = A[3], c = A[6];
  if (!(a > 0)) return false;
  double l10 = b / a, l20 = c / a;
  double d1 = A[4] - l10 * b, e = A[7] - l10 * c;
  if (!(d1 > 0)) return false;
  double l21 = e / d1, d2 = A[8] - l20 * c - l21 * e;
  if (!(d2 > 0)) return false;
  /* A = L D L^T, A^-1 = U D^-1 U^T with U = L^-T. */
  double u02 = l10 * l21 - l20, i0 = 1 / a, i1 = 1 / d1, i2 = 1 / d2;
  A[0] = i0 + l10 * l10 * i1 + u02 * u02 * i2;
  A[1] = A[3] = -l10 * i1 - u02 * l21 * i2;
  A[2] = A[6] = u02 * i2;
  A[4] = i1 + l21 * l21 * i2;
  A[5] = A[7] = -l21 * i2;
  A[8] = i2;
  return true;
}

/* Eigenvalues of the symmetric part of A and their unit vectors, the columns of V (cyclic Jacobi
 * rotations). */
static inline void hk_mat_eigen(const double A[9], double values[3], double V[9]) {
  double S[9], largest = 0;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) S[3 * r + c] = 0.5 * (A[3 * r + c] + A[3 * c + r]);
  hk_mat_identity(1, V);
  for (int q = 0; q < 9; q++) largest = fmax(largest, fabs(S[q]));
  for (int sweep = 0; sweep < 20; sweep++) {
    double off = fabs(S[1]) + fabs(S[2]) + fabs(S[5]);
    if (off <= 1e-16 * largest) break;
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        if (S[3 * p + q] == 0) continue;
        double theta = (S[4 * q] - S[4 * p]) / (2 * S[3 * p + q]);
        double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
        double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
        for (int k = 0; k < 3; k++) { /* S = S J */
          double a = S[3 * k + p], b = S[3 * k + q];
          S[3 * k + p] = cosine * a - sine * b;
          S[3 * k + q] = sine * a + cosine * b;
          a = V[3 * k + p];
          b = V[3 * k + q];
          V[3 * k + p] = cosine * a - sine * b;
          V[3 * k + q] = sine * a + cosine * b;
        }
        for (int k = 0; k < 3; k++) { /* S = J^T S */
          double a = S[3 * p + k], b = S[3 * q + k];
          S[3 * p + k] = cosine * a - sine * b;
          S[3 * q + k] = sine * a + cosine * b;
        }
      }
  }
  for (int e = 0; e < 3; e++) values[e] = S[4 * e];
}

/* A = the positive semidefinite matrix nearest to the symmetric part of A: its eigenvalues below 0
 * become 0. */
static inline void hk_mat_project_positive(double A[9]) {
  double values[3], V[9];
  hk_mat_eigen(A, values, V);
  hk_mat_identity(0, A);
  for (int e = 0; e < 3; e++) {
    double column[3] = {V[e], V[3 + e], V[6 + e]};
    if (values[e] > 0) hk_mat_add_outer(values[e], column, column, A);
  }
}

/* A = s [a]x, so that A b = s a x b */
static inline void hk_mat_cross(double s, const double a[3], double A[9]) {
  A[0] = A[4] = A[8] = 0;
  A[1] = -s * a[2];
  A[2] = s * a[1];
  A[3] = s * a[2];
  A[5] = -s * a[0];
  A[6] = -s * a[1];
  A[7] = s * a[0];
}

/* Rotation by angle (rad) about a unit axis: Rodrigues, R = cos I + sin [a]x + (1 - cos) a a^T. */
static inline void hk_mat_rotation(const double axis[3], double angle, double R[9]) {
  double c = cos(angle);
  hk_mat_cross(sin(angle), axis, R);
  R[0] += c;
  R[4] += c;
  R[8] += c;
  hk_mat_add_outer(1 - c, axis, axis, R);
}

#endif
