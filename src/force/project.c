/* The nearest positive semidefinite matrix in the norm of Frobenius: of H = V diag(lambda) V^T the
 * part with lambda > 0. Eigenvalues by cyclic Jacobi rotations, which are accurate for small
 * matrices and need no tolerance to tune. A matrix that has a Cholesky factorization is left as it
 * is. */
#include "force/element.h"

#include <math.h>
#include <string.h>

/* Whether H = L L^T with a positive diagonal. */
static bool is_definite(int n, const double *H) {
  double L[HK_ELEMENT_SIZE_MAX * HK_ELEMENT_SIZE_MAX];
  memcpy(L, H, (size_t)(n * n) * sizeof *L);
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++) L[j * n + j] -= L[j * n + k] * L[j * n + k];
    if (!(L[j * n + j] > 0)) return false;
    double root = sqrt(L[j * n + j]);
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++) L[i * n + j] -= L[i * n + k] * L[j * n + k];
      L[i * n + j] /= root;
    }
  }
  return true;
}

/* Rotates rows and columns p and q of A, and the columns of V, so that A_pq becomes 0. */
static void rotate(int n, double *A, double *V, int p, int q) {
  double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
  double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(1 + theta * theta));
  double c = 1 / sqrt(1 + t * t), s = t * c;
  for (int k = 0; k < n; k++) {
    double kp = A[k * n + p], kq = A[k * n + q];
    A[k * n + p] = c * kp - s * kq;
    A[k * n + q] = s * kp + c * kq;
  }
  for (int k = 0; k < n; k++) {
    double pk = A[p * n + k], qk = A[q * n + k];
    A[p * n + k] = c * pk - s * qk;
    A[q * n + k] = s * pk + c * qk;
    double kp = V[k * n + p], kq = V[k * n + q];
    V[k * n + p] = c * kp - s * kq;
    V[k * n + q] = s * kp + c * kq;
  }
}

/* Sum of the squares, of all entries or of those off the diagonal. */
static double sum_squares(int n, const double *A, bool off_diagonal) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (i != j || !off_diagonal) sum += A[i * n + j] * A[i * n + j];
  return sum;
}

void hk_project_semidefinite(int n, double *H) {
  enum { SWEEPS_MAX = 30 };
  double V[HK_ELEMENT_SIZE_MAX * HK_ELEMENT_SIZE_MAX] = {0};
  double A[HK_ELEMENT_SIZE_MAX * HK_ELEMENT_SIZE_MAX];
  if (is_definite(n, H)) return;
  memcpy(A, H, (size_t)(n * n) * sizeof *A);
  for (int i = 0; i < n; i++) V[i * n + i] = 1;
  double rounding = 1e-30 * sum_squares(n, A, false); /* off-diagonal entries below 1e-15 |H| */
  for (int sweep = 0; sweep < SWEEPS_MAX && sum_squares(n, A, true) > rounding; sweep++)
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++)
        if (A[p * n + q] != 0) rotate(n, A, V, p, q);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += fmax(A[k * n + k], 0) * V[i * n + k] * V[j * n + k];
      H[i * n + j] = H[j * n + i] = sum;
    }
}
