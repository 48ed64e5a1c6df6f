/* Symmetric successive over-relaxation: a Gauss-Seidel sweep forwards and one backwards.
 *
 *     P = (D/omega + L) (omega/(2 - omega)) D^-1 (D/omega + L)^T,   A = L + D + L^T
 *
 * D are the 3x3 blocks on the diagonal (mended where they are not positive definite), L those below
 * it. P is symmetric positive definite for 0 < omega < 2, whatever L is. Nothing is factorized, and
 * z = P^-1 r is found in place:
 *
 *     y_i = omega D_i^-1 (r_i - sum over j < i of A_ij y_j)                    forwards
 *     z_i = (2 - omega) y_i - omega D_i^-1 (sum over j > i of A_ij z_j)        backwards
 *
 * Vertices follow one another: one core. About half as many iterations as block_jacobi, at twice
 * the cost of each.
 */
#include "linear/diagonal.h"

typedef struct Ssor {
  double omega;
} Ssor;

static const HkParam params[] = {
    HK_NUMBER(Ssor, omega, "1", 1, 0.01, 1.99,
              "relaxation; 1 is Gauss-Seidel, a little more is sometimes faster"),
};

static HkStatus apply(HkPrecondition *p, const double *r, double *z, HkError *error) {
  (void)error;
  const HkBlockMatrix *A = p->A->matrix;
  const HkPattern *pattern = A->pattern;
  const double *inverse = p->data;
  double omega = ((const Ssor *)p->method.params)->omega;
  for (int64_t i = 0; i < pattern->n; i++) {
    double sum[3], y[3] = {0, 0, 0};
    hk_block_row_product(A, pattern->start[i], pattern->diagonal[i], z, sum);
    hk_sub(r + 3 * i, sum, sum);
    hk_mat_add_product(inverse + 9 * i, sum, y);
    for (int c = 0; c < 3; c++) z[3 * i + c] = omega * y[c];
  }
  for (int64_t i = pattern->n - 1; i >= 0; i--) {
    double sum[3], y[3] = {0, 0, 0};
    hk_block_row_product(A, pattern->diagonal[i] + 1, pattern->start[i + 1], z, sum);
    hk_mat_add_product(inverse + 9 * i, sum, y);
    for (int c = 0; c < 3; c++) z[3 * i + c] = (2 - omega) * z[3 * i + c] - omega * y[c];
  }
  return HK_OK;
}

const HkPreconditionType hk_precondition_ssor = {
    .schema = {.name = "ssor",
               .summary = "a sweep over the vertices forwards and one backwards; one core",
               .formula = "P = (D/omega + L) (omega/(2 - omega)) D^-1 (D/omega + L)^T",
               HK_PARAMS(Ssor, params)},
    .needs_matrix = true,
    .vertex_bytes = 9 * sizeof(double),
    .create = hk_diagonal_create,
    .destroy = hk_diagonal_destroy,
    .prepare = hk_diagonal_prepare,
    .apply = apply,
};
