/* Factorised sparse symmetric positive definite matrices: analyse once, factorise, solve.
 *
 * Two kinds behind one interface: CHOLMOD (SuiteSparse), where Hooke was built with it, and the
 * L D L^T of ldlt_factor.c, which is always there.
 */
#ifndef HK_LINEAR_FACTOR_H
#define HK_LINEAR_FACTOR_H

#include "base/memory.h"

typedef enum HkFactorKind { HK_FACTOR_CHOLMOD, HK_FACTOR_LDLT } HkFactorKind;

/* The lower triangle by columns: rows of column q are row[start[q]] .. row[start[q + 1] - 1],
 * rising, the diagonal first. */
typedef struct HkSparse {
  int64_t n;
  const int64_t *start, *row;
} HkSparse;

typedef struct HkFactor HkFactor;

/* HK_FACTOR_CHOLMOD where Hooke was built with it. */
HkFactorKind hk_factor_default(void);

/* HK_ERROR_UNSUPPORTED, with a way out, for a kind that this build has not. */
HkStatus hk_factor_check(HkFactorKind kind, HkError *error);

/* Orders and analyses the pattern, which is not needed any more afterwards. Fails as
 * hk_factor_check does. */
HkStatus hk_factor_create(const HkContext *context, HkFactorKind kind, const HkSparse *pattern,
                          HkFactor **factor, HkError *error);
void hk_factor_destroy(HkFactor **factor);
/* Factorises the values, in the order of the pattern; *positive: the matrix is positive definite,
 * and solves may follow. Allocates nothing after the first. */
HkStatus hk_factor_compute(HkFactor *factor, const double *values, bool *positive, HkError *error);
/* b = A^-1 b for columns (1 or 3) right-hand sides: entry c of row q is b[columns * q + c]. */
HkStatus hk_factor_solve(HkFactor *factor, double *b, int columns, HkError *error);
/* Entries of L, and bytes of all that the factor holds. */
int64_t hk_factor_entries(const HkFactor *factor);
size_t hk_factor_bytes(const HkFactor *factor);

#endif
