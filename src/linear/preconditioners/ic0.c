/* Incomplete Cholesky factors without fill, by 3x3 blocks in the order of the vertices.
 *
 *     P = L D L^T,   L has blocks only where A has (and I on the diagonal), D on the diagonal alone
 *
 *     S_ik = A_ik - sum over j < k of S_ij L_kj^T        for the k < i that are neighbors of i
 *     L_ik = S_ik D_k^-1,   D_i = (1 + shift) A_ii - sum over k of S_ik L_ik^T
 *
 * Without the blocks that are left out, D_i need not be positive definite even if A is. Then all
 * begins again with a larger shift (Manteuffel 1980): it makes the diagonal blocks outweigh the
 * others in the proportions that they have, stiff along a spring and soft across. Diagonal blocks
 * of A that are not positive definite are mended first, so that a shift that is large enough is
 * always found. It starts at 0 each time: the result depends on A alone.
 *
 * Vertices follow one another: one core.
 */
#include "linear/diagonal.h"

#include <string.h>

/* Shifts 0, 1e-3, 4e-3 ... to about 3e5. */
enum { MAX_SHIFTS = 16 };

typedef struct Data {
  int64_t *start;  /* n + 1: where the blocks of a row of L begin, in the order of the pattern */
  double *lower;   /* L, 9 a block, without its diagonal */
  double *inverse; /* 9 n: D^-1 */
  uint64_t pattern_hash; /* of the matrix that these arrays are for */
} Data;

static HkStatus create(HkPrecondition *p, HkError *error) {
  const HkContext *c = &p->setup.model->context;
  int64_t n = p->setup.model->n;
  Data *data = NULL;
  HK_TRY(hk_alloc(c, &data, 1, sizeof *data, "a preconditioner", error));
  p->data = data;
  HK_TRY(hk_alloc(c, &data->start, n + 1, sizeof *data->start, "a preconditioner", error));
  HK_TRY(hk_alloc(c, &data->inverse, n, 9 * sizeof(double), "a preconditioner", error));
  p->bytes = sizeof *data + (size_t)(n + 1) * sizeof *data->start + (size_t)n * 9 * sizeof(double);
  return HK_OK;
}

/* The arrays of L for the pattern of A. */
static HkStatus fit_pattern(HkPrecondition *p, HkError *error) {
  const HkContext *c = &p->setup.model->context;
  const HkPattern *pattern = p->A->matrix->pattern;
  Data *data = p->data;
  int64_t n = pattern->n;
  if (data->lower && data->pattern_hash == pattern->hash) return HK_OK;
  if (data->lower) p->bytes -= (size_t)(data->start[n] + 1) * 9 * sizeof(double);
  hk_free(c, &data->lower);
  for (int64_t i = 0; i < n; i++)
    data->start[i + 1] = data->start[i] + pattern->diagonal[i] - pattern->start[i];
  /* One block more, so that there is an array to point into where no vertex has a neighbor. */
  HK_TRY(
      hk_alloc(c, &data->lower, data->start[n] + 1, 9 * sizeof(double), "a preconditioner", error));
  data->pattern_hash = pattern->hash;
  p->bytes += (size_t)(data->start[n] + 1) * 9 * sizeof(double);
  return HK_OK;
}

static void destroy(HkPrecondition *p) {
  const HkContext *c = &p->setup.model->context;
  Data *data = p->data;
  hk_free(c, &data->start);
  hk_free(c, &data->lower);
  hk_free(c, &data->inverse);
  hk_free(c, &p->data);
}

/* C -= A B^T */
static void subtract_transposed(const double A[9], const double B[9], double C[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) C[3 * r + c] -= hk_dot(A + 3 * r, B + 3 * c);
}

/* out -= sum over the common columns j of a_j b_j^T: two rows with rising columns. */
static void subtract_common(int64_t a_count, const int32_t *a_column, const double *a,
                            int64_t b_count, const int32_t *b_column, const double *b,
                            double out[9]) {
  for (int64_t s = 0, t = 0; s < a_count && t < b_count;) {
    if (a_column[s] == b_column[t])
      subtract_transposed(a + 9 * s++, b + 9 * t++, out);
    else if (a_column[s] < b_column[t])
      s++;
    else
      t++;
  }
}

/* Row i of L and D_i^-1; false if D_i is not positive definite. */
static bool factorize_row(const HkBlockMatrix *A, Data *data, int64_t i, double shift) {
  const HkPattern *pattern = A->pattern;
  const int32_t *column = pattern->column + pattern->start[i];
  double *row = data->lower + 9 * data->start[i], *D = data->inverse + 9 * i;
  int64_t count = data->start[i + 1] - data->start[i];
  if (count) memcpy(row, A->value + 9 * pattern->start[i], (size_t)count * 9 * sizeof *row);
  memcpy(D, A->value + 9 * pattern->diagonal[i], 9 * sizeof *D);
  hk_diagonal_make_positive(D);
  for (int k = 0; k < 9; k++) D[k] *= 1 + shift;
  for (int64_t s = 0; s < count; s++) {
    int64_t k = column[s], first = data->start[k];
    subtract_common(s, column, row, data->start[k + 1] - first, pattern->column + pattern->start[k],
                    data->lower + 9 * first, row + 9 * s);
  }
  for (int64_t s = 0; s < count; s++) {
    double L[9];
    hk_mat_multiply(row + 9 * s, data->inverse + 9 * (int64_t)column[s], L);
    subtract_transposed(row + 9 * s, L, D);
    memcpy(row + 9 * s, L, sizeof L);
  }
  return hk_mat_invert_positive(D);
}

static bool factorize(const HkBlockMatrix *A, Data *data, double shift) {
  for (int64_t i = 0; i < A->pattern->n; i++)
    if (!factorize_row(A, data, i, shift)) return false;
  return true;
}

static HkStatus prepare(HkPrecondition *p, HkError *error) {
  HK_TRY(fit_pattern(p, error));
  const HkBlockMatrix *A = p->A->matrix;
  Data *data = p->data;
  double shift = 0;
  for (int attempt = 0; attempt < MAX_SHIFTS; attempt++) {
    if (factorize(A, data, shift)) return HK_OK;
    shift = attempt == 0 ? 1e-3 : 4 * shift;
  }
  /* Numbers that are not finite, or too far apart: the diagonal blocks alone. */
  memset(data->lower, 0, (size_t)data->start[p->space.n] * 9 * sizeof(double));
  p->A->diagonal(p->A->user, data->inverse);
  hk_diagonal_invert(&p->space, data->inverse);
  return HK_OK;
}

/* z_j -= L_ij^T z_i for all j < i */
static void scatter_row(const HkPattern *pattern, const Data *data, int64_t i, double *z) {
  const int32_t *column = pattern->column + pattern->start[i];
  const double *block = data->lower + 9 * data->start[i];
  for (int64_t s = data->start[i]; s < data->start[i + 1]; s++, block += 9, column++)
    for (int r = 0; r < 3; r++) hk_axpy(-z[3 * i + r], block + 3 * r, z + 3 * (int64_t)*column);
}

static HkStatus apply(HkPrecondition *p, const double *r, double *z, HkError *error) {
  (void)error;
  const HkPattern *pattern = p->A->matrix->pattern;
  const Data *data = p->data;
  for (int64_t i = 0; i < pattern->n; i++) {
    const int32_t *column = pattern->column + pattern->start[i];
    double sum[3] = {0, 0, 0};
    for (int64_t s = data->start[i]; s < data->start[i + 1]; s++, column++)
      hk_mat_add_product(data->lower + 9 * s, z + 3 * (int64_t)*column, sum);
    hk_sub(r + 3 * i, sum, z + 3 * i);
  }
  for (int64_t i = 0; i < pattern->n; i++) {
    double y[3] = {0, 0, 0};
    hk_mat_add_product(data->inverse + 9 * i, z + 3 * i, y);
    memcpy(z + 3 * i, y, sizeof y);
  }
  for (int64_t i = pattern->n - 1; i >= 0; i--) scatter_row(pattern, data, i, z);
  return HK_OK;
}

const HkPreconditionType hk_precondition_ic0 = {
    .schema = {.name = "ic0",
               .summary = "incomplete Cholesky factors without fill; one core",
               .formula = "P = L D L^T with blocks where A has them"},
    .needs_matrix = true,
    .vertex_bytes = 9 * sizeof(double) + sizeof(int64_t),
    .spring_bytes = 9 * sizeof(double),
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .apply = apply,
};
