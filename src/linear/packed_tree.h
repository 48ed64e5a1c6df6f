/* Parts of the elimination tree that threads can work on side by side.
 *
 * A supernode waits for those below it in the tree and for no others. The tree is cut into a top,
 * the supernodes next to its roots, and the subtrees that are left when the top is taken away.
 * These go into at most HK_PARTS_MAX parts of about the same work, which share nothing but what
 * they do to the rows of the top. The cut depends on the tree alone, not on the number of threads.
 */
#ifndef HK_LINEAR_PACKED_TREE_H
#define HK_LINEAR_PACKED_TREE_H

#include "linear/factor.h"

enum { HK_PARTS_MAX = 16 };

/* The supernode above s, or -1. */
int64_t hk_supernodes_parent(const HkSupernodes *view, const int32_t *owner, int64_t s);

/* part[s] (count > 0) of every supernode: 0 .. *parts - 1, or *parts for those of the top. owner
 * (n): the supernode of a column. */
HkStatus hk_packed_cut(const HkContext *context, const HkSupernodes *view, const int32_t *owner,
                       int32_t *part, int *parts, HkError *error);

#endif
