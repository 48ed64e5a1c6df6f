/* Sparse symmetric matrices of 3x3 blocks, one block row a vertex.
 *
 * Rows are complete (both triangles), with rising columns and the diagonal in them, so that a
 * product gathers per row and threads never meet. The pattern is computed once from the model: the
 * neighbors along springs, and those across faces where a force needs faces. Values are then
 * written in place. Forces that couple other vertices extend the pattern (hk_pattern_extend).
 */
#ifndef HK_LINEAR_BLOCK_MATRIX_H
#define HK_LINEAR_BLOCK_MATRIX_H

#include "base/vec.h"
#include "force/blocks.h"

/* Which blocks there are; shared by several matrices. */
typedef struct HkPattern {
  int64_t n;         /* block rows */
  int64_t *start;    /* n + 1: blocks of row i are start[i] .. start[i + 1] - 1 */
  int32_t *column;   /* by rising number */
  int64_t *diagonal; /* n: where the diagonal block of a row stands */
  uint64_t hash;     /* of start and column: patterns with the same blocks have the same one */
} HkPattern;

/* Analyzes the model once; *bytes (unless NULL) grows by the size. */
HkStatus hk_pattern_create(const HkModel *model, HkPattern *pattern, size_t *bytes, HkError *error);
void hk_pattern_destroy(const HkModel *model, HkPattern *pattern);
/* *extended = the blocks of a pattern and those of forces. */
HkStatus hk_pattern_extend(const HkModel *model, const HkPattern *pattern,
                           const HkForceBlocks *blocks, HkPattern *extended, HkError *error);
/* Number of blocks of forces that the pattern does not have. */
int64_t hk_pattern_count_missing(const HkPattern *pattern, const HkForceBlocks *blocks);
size_t hk_pattern_bytes(const HkPattern *pattern);
/* Where block (i, j) stands, or -1. */
int64_t hk_pattern_find(const HkPattern *pattern, int64_t i, int64_t j);

typedef struct HkBlockMatrix {
  const HkPattern *pattern;
  int threads;
  double *value;      /* 9 a block, row by row */
  bool only_diagonal; /* all other blocks are 0, and products skip them */
} HkBlockMatrix;

/* The blocks of row i that count. */
static inline void hk_block_row(const HkBlockMatrix *A, int64_t i, int64_t *begin, int64_t *end) {
  const HkPattern *p = A->pattern;
  *begin = A->only_diagonal ? p->diagonal[i] : p->start[i];
  *end = A->only_diagonal ? p->diagonal[i] + 1 : p->start[i + 1];
}

/* A matrix of zeros. */
HkStatus hk_block_matrix_create(const HkModel *model, const HkPattern *pattern, HkBlockMatrix *A,
                                size_t *bytes, HkError *error);
void hk_block_matrix_destroy(const HkModel *model, HkBlockMatrix *A);
void hk_block_matrix_zero(HkBlockMatrix *A);
/* A *= s */
void hk_block_matrix_scale(HkBlockMatrix *A, double s);
/* out = A p over 3 n coordinates; out is not p. */
void hk_block_matrix_product(const HkBlockMatrix *A, const double *p, double *out);

/* sum = the blocks begin .. end - 1 of one row times p */
static inline void hk_block_row_product(const HkBlockMatrix *A, int64_t begin, int64_t end,
                                        const double *p, double sum[3]) {
  sum[0] = sum[1] = sum[2] = 0;
  for (int64_t e = begin; e < end; e++)
    hk_mat_add_product(A->value + 9 * e, p + 3 * (int64_t)A->pattern->column[e], sum);
}

#endif
