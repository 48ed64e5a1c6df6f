/* A tree of moving boxes over the slots of the features, eight to a node.
 *
 * Its shape is that of the slots and never changes: node b of level 0 holds the boxes of the slots
 * 8 b .. 8 b + 7, a node of level l + 1 those of eight nodes of level l. Only the boxes follow the
 * motion. Cloth that folds stays connected, so that what is close in the tree stays close.
 *
 * A moving box has a start and an end, and is between the two in proportion to time. Two of them
 * never meet if one coordinate separates them, in the same order, at the start and at the end. What
 * moves side by side stays apart by this test, however far it goes.
 */
#ifndef HK_CONTACT_TREE_H
#define HK_CONTACT_TREE_H

#include "contact/features.h"

#include <string.h>

enum { HK_TREE_LEVELS_MAX = 12 };

/* Boxes in single precision, rounded outwards; an empty one has low > high. */
typedef struct HkTreeNode { /* [start, end][coordinate][box] */
  float low[2][3][HK_CONTACT_WIDTH], high[2][3][HK_CONTACT_WIDTH];
} HkTreeNode;

/* A moving box, [start, end][coordinate]. Highs have the other sign, so that the box of two boxes
 * has the smaller of all numbers; the fourth ones are 0 and fill vectors. */
typedef struct HkBox {
  float low[2][4], minus_high[2][4];
} HkBox;

static inline bool hk_boxes_meet(const HkBox *a, const HkBox *b) {
  typedef float Four __attribute__((vector_size(16)));
  typedef int64_t Two __attribute__((vector_size(16)));
  Four low[2][2], minus_high[2][2]; /* [box][start, end] */
  memcpy(low[0], a->low, sizeof low[0]);
  memcpy(low[1], b->low, sizeof low[1]);
  memcpy(minus_high[0], a->minus_high, sizeof minus_high[0]);
  memcpy(minus_high[1], b->minus_high, sizeof minus_high[1]);
  Two above = (Two)(low[0][0] + minus_high[1][0] > 0) & (Two)(low[0][1] + minus_high[1][1] > 0);
  Two below = (Two)(low[1][0] + minus_high[0][0] > 0) & (Two)(low[1][1] + minus_high[0][1] > 0);
  Two apart = above | below;
  return (apart[0] | apart[1]) == 0;
}

/* Makes *box contain the other one. */
static inline void hk_box_add(HkBox *box, const HkBox *other) {
  for (int e = 0; e < 2; e++)
    for (int q = 0; q < 4; q++) {
      float low = other->low[e][q], minus_high = other->minus_high[e][q];
      box->low[e][q] = low < box->low[e][q] ? low : box->low[e][q];
      box->minus_high[e][q] =
          minus_high < box->minus_high[e][q] ? minus_high : box->minus_high[e][q];
    }
}

typedef struct HkBoxKernels {
  unsigned (*overlaps)(const HkTreeNode *node, const HkBox *box); /* bit s: box s may meet it */
  /* bit 8 i + s: box i of a node may meet box s of another */
  uint64_t (*meet)(const HkTreeNode *a, const HkTreeNode *b);
} HkBoxKernels;

typedef struct HkTree {
  const HkBoxKernels *kernels;
  int levels;
  int64_t first[HK_TREE_LEVELS_MAX], count[HK_TREE_LEVELS_MAX]; /* of the nodes of a level */
  HkTreeNode *node;
} HkTree;

HkStatus hk_tree_create(const HkModel *model, const HkFeatures *features, HkTree *tree,
                        HkError *error);
void hk_tree_destroy(const HkModel *model, HkTree *tree);
size_t hk_tree_bytes(const HkTree *tree);

/* order[k] = the element that stands at place k, of elements with these centers (m, 3 each):
 * any eight, 64, 512 ... elements that a node covers lie together. */
void hk_tree_order(const double *center, int64_t count, int32_t *order);

/* Makes the boxes those of the vertices. */
void hk_tree_fit(HkTree *tree, const HkFeatures *features, const HkBox *vertex, int threads);

/* Calls found for all slots a < b whose boxes may meet and whose groups meet, with a in the given
 * block, in the order of their keys. */
typedef void HkTreeFn(void *user, int64_t slot_a, int64_t slot_b);
void hk_tree_search(const HkTree *tree, const HkFeatures *features, int64_t block, HkTreeFn *found,
                    void *user);
/* The same for all slots a < b of which a or b is in the given block. */
void hk_tree_search_all(const HkTree *tree, const HkFeatures *features, int64_t block,
                        HkTreeFn *found, void *user);

#endif
