/* Sparse symmetric matrices made by hand, and the kinds of factorization that this build has. */
#ifndef HOOKE_MATRIX_BY_HAND_H
#define HOOKE_MATRIX_BY_HAND_H

#include "linear/factor.h"

/* The lower triangle by columns, and all of it row by row, unless dense is NULL. */
typedef struct Matrix {
  int64_t n;
  double *dense;
  int64_t *start, *row;
  double *values;
} Matrix;

/* Zeroed; freed with free. Ends the program if there is no memory. */
void *matrix_alloc(int64_t count, size_t size);

/* Dense only; matrix_set sets both (i, j) and (j, i). */
Matrix matrix_of_zeros(int64_t n);
void matrix_set(Matrix *a, int64_t i, int64_t j, double value);
/* Entries with the given chance, and a diagonal that outweighs its row by a little. */
Matrix matrix_random(int64_t n, double chance, uint64_t seed);
/* Makes the sparse form of what is not 0, with every diagonal entry. */
HkSparse matrix_sparse(Matrix *a);
/* Sparse only: neighbors up to one step away, diagonals included, and two straight away; width
 * unknowns a vertex. */
Matrix matrix_grid(int64_t side, int64_t width);
void matrix_destroy(Matrix *a);

bool is_built(HkFactorKind kind);

/* Declares kind. */
#define FOR_ALL_KINDS                                                                              \
  for (HkFactorKind kind = HK_FACTOR_CHOLMOD; kind <= HK_FACTOR_LDLT; kind++)                      \
    if (is_built(kind))

#endif
