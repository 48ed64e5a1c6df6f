/* Factorized sparse symmetric positive definite matrices: analyze once, factorize, solve.
 *
 * Two kinds behind one interface: CHOLMOD (SuiteSparse), where Hooke was built with it, and the
 * L D L^T of ldlt_factor.c, which is always there.
 */
#ifndef HK_LINEAR_FACTOR_H
#define HK_LINEAR_FACTOR_H

#include "base/cancel.h"
#include "base/memory.h"

typedef enum HkFactorKind { HK_FACTOR_CHOLMOD, HK_FACTOR_LDLT } HkFactorKind;

/* The lower triangle by columns: rows of column j are row[start[j]] .. row[start[j + 1] - 1],
 * rising, the diagonal first. */
typedef struct HkSparse {
  int64_t n;
  const int64_t *start, *row;
} HkSparse;

typedef struct HkFactor HkFactor;

/* What a factor is used for. */
typedef enum HkFactorUse {
  HK_FACTOR_SOLVES, /* it is solved with */
  HK_FACTOR_PANELS  /* always in panels, for hk_factor_view; the first solve allocates the workspace
                     * of solves */
} HkFactorUse;

/* The values of a factor L, or L D L^T where d is given: supernodes, whose columns have the same
 * rows below each other. The panel of supernode s is dense, column by column, with all its rows,
 * those of its own columns first; of their square only what is below the diagonal counts, and the
 * diagonal unless d is given (which stands for 1). Children come before their parents. Valid until
 * the factor changes. */
typedef struct HkSupernodes {
  int64_t n, count;     /* columns, supernodes */
  const int64_t *order; /* n: the row of A that is eliminated as the k-th */
  const int64_t *first; /* count + 1: columns of s are first[s] .. first[s + 1] - 1 */
  const int64_t *start; /* count + 1: its rows are row[start[s]] .. row[start[s + 1] - 1], rising */
  const int64_t *row;
  const int64_t *panel; /* count: its panel begins at value[panel[s]] */
  const double *value;  /* NULL before the first compute, and after a release */
  const double *d;      /* n; NULL: L L^T */
} HkSupernodes;

/* HK_FACTOR_CHOLMOD where Hooke was built with it. */
HkFactorKind hk_factor_default(void);

/* Returns HK_ERROR_UNSUPPORTED for a kind that this build does not contain. */
HkStatus hk_factor_check(HkFactorKind kind, HkError *error);

/* Orders and analyzes the pattern, which is not needed any more afterwards. Fails as
 * hk_factor_check does. */
HkStatus hk_factor_create(const HkContext *context, HkFactorKind kind, HkFactorUse use,
                          const HkSparse *pattern, HkFactor **factor, HkError *error);
void hk_factor_destroy(HkFactor **factor);
/* Sets the flag by which hk_factor_compute returns HK_ERROR_CANCELLED; CHOLMOD does not check it.
 * cancel must outlive the factor and may be NULL. */
void hk_factor_set_cancel(HkFactor *factor, HkCancel *cancel);
/* Factorizes the values, in the order of the pattern; *positive: the matrix is positive definite,
 * and solves may follow. Allocates nothing after the first, but for what was released. */
HkStatus hk_factor_compute(HkFactor *factor, const double *values, bool *positive, HkError *error);
/* b = A^-1 b for columns (1 or 3) right-hand sides: entry c of row i is b[columns * i + c]. */
HkStatus hk_factor_solve(HkFactor *factor, double *b, int columns, HkError *error);
/* The supernodes of a factor that was made for its panels. */
HkSupernodes hk_factor_view(const HkFactor *factor);
/* Frees the values; the analysis stays valid, and hk_factor_compute may follow. */
void hk_factor_release(HkFactor *factor);
/* Bytes that the next hk_factor_compute allocates: those of L, unless L is allocated already.
 */
double hk_factor_need(const HkFactor *factor);
/* Entries of L, and bytes of all that the factor holds. */
int64_t hk_factor_entries(const HkFactor *factor);
/* Logs the kind, the ordering and the fill of a factor that has many unknowns. */
void hk_factor_log(const HkFactor *factor);
size_t hk_factor_bytes(const HkFactor *factor);

#endif
