/* Orders in which the unknowns of a sparse symmetric system are eliminated, for little fill. */
#ifndef HK_LINEAR_ORDERING_H
#define HK_LINEAR_ORDERING_H

#include "linear/factor.h"

/* order[k] (n) becomes the row that is eliminated as the k-th. */
HkStatus hk_ordering_find(const HkContext *context, const HkSparse *pattern, int64_t *order,
                          HkError *error);

#endif
