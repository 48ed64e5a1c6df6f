/* Where the entries of L in A = L D L^T stand, before any value is known.
 *
 * Columns of L with the same rows below each other stand together as a supernode: a dense panel of
 * all its rows, those of its own columns first, column by column. Supernodes are numbered in the
 * order of elimination, children before their parents.
 */
#ifndef HK_LINEAR_SYMBOLIC_H
#define HK_LINEAR_SYMBOLIC_H

#include "linear/factor.h"

typedef struct HkSymbolic {
  int64_t n, count; /* columns, supernodes */
  int64_t *order;   /* n: the row of A that is eliminated as the k-th */
  int64_t *first;   /* count + 1: columns of supernode s are first[s] .. first[s + 1] - 1 */
  int64_t *owner;   /* n: the supernode of a column */
  int64_t *start;   /* count + 1: its rows are row[start[s]] .., rising */
  int64_t *row;
  int64_t *panel;  /* count + 1: where its panel begins */
  int64_t given;   /* entries of A */
  int64_t *target; /* given: where an entry of A goes in the panels */
  int64_t entries; /* of L without the zeros that panels store */
  int64_t tallest; /* rows of a panel at most */
  int64_t update;  /* entries of the largest update of one supernode by another */
  size_t bytes;
} HkSymbolic;

HkStatus hk_symbolic_create(const HkContext *context, const HkSparse *pattern, HkSymbolic *symbolic,
                            HkError *error);
void hk_symbolic_destroy(const HkContext *context, HkSymbolic *symbolic);

#endif
