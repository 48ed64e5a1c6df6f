/* Features: what bodies and obstacles touch each other with.
 *
 * Cloth and solids consist of triangles, ropes and nets of edges, loose masses of points; in two
 * dimensions the boundary of a body consists of edges. Each element stands in a slot, and
 * eight slots of one group (a body or an obstacle) make a block, which the tree (tree.h) works on.
 * Slots are in the order of a tree: what is close at rest is close in this order.
 *
 * Every point and every edge of a group belongs to one of the elements that have it. Two elements
 * that are close give the pairs
 *
 *     point of one, all of the other    (a triangle; an edge in 2D or for a loose mass)
 *     edge of one, edge of the other    (in 2D only if one of them is an obstacle's)
 *
 * of the points and edges that belong to them: each pair of features comes up once. Its key is made
 * of the two slots and of which pair of the two it is, so that an order of keys is an order of
 * pairs that depends on nothing but the model.
 *
 * Vertices of obstacles follow those of the model, from n on.
 */
#ifndef HK_CONTACT_FEATURES_H
#define HK_CONTACT_FEATURES_H

#include "contact/pair.h"
#include "model/model.h"

enum { HK_CONTACT_WIDTH = 8, HK_CONTACT_COMBINATIONS = 15, HK_CONTACT_EDGE_0 = 6 };

typedef struct HkFeatures {
  int64_t n, vertex_count;
  int64_t slot_count; /* a multiple of HK_CONTACT_WIDTH */
  int32_t *vertex;    /* 3 a slot; an edge has its second vertex twice, a point its one thrice */
  uint8_t *corners;   /* 3, 2, 1; 0: nothing is in the slot */
  uint8_t *owns;      /* bit c: point c belongs to the slot; bit 3 + c: its edge from c to c + 1 */
  int32_t *group;     /* of each block: the number of a body, or body_count + that of an obstacle */
  int body_count, group_count;
  double *radius;   /* m, of each group */
  uint8_t *self;    /* of each group: whether it touches itself */
  uint8_t *touches; /* of each group and the ground, group_count: 0: it touches nothing */
  /* Bit row[a] (group_count + 1) + b: a and b do not touch; row -1: a touches all others. NULL: no
   * pair is excluded. */
  uint64_t *excluded;
  int32_t *row;
  int64_t excluded_size;
  double *obstacle; /* m, 3 (vertex_count - n): vertices of obstacles at time 0 */
  HkFlat *flats;    /* of the slots from flat_first on, those of obstacles; NULL: nothing is flat */
  int64_t flat_first;
  bool flat; /* the model has two dimensions */
  size_t bytes;
} HkFeatures;

/* Of bodies that have no values of their own. */
typedef struct HkFeaturesChoice {
  double thickness, distance; /* m */
  bool self;
} HkFeaturesChoice;

/* Lengths (m) of the edges of a body at the start. */
typedef struct HkEdgeLengths {
  int64_t count;
  double least, mean; /* INFINITY and NAN without edges */
  int32_t at[2];      /* the vertices of the shortest one */
} HkEdgeLengths;

HkStatus hk_features_create(const HkModel *model, const HkFeaturesChoice *choice,
                            HkFeatures *features, HkError *error);
void hk_features_destroy(const HkModel *model, HkFeatures *features);

/* Whether the groups a and b touch each other; the ground is the group group_count. */
static inline bool hk_features_meet(const HkFeatures *f, int32_t a, int32_t b) {
  if (a == b) return f->self[a];
  if ((a >= f->body_count && b >= f->body_count) || !(f->touches[a] & f->touches[b])) return false;
  if (!f->excluded || f->row[a] < 0) return true;
  int64_t bit = (int64_t)f->row[a] * (f->group_count + 1) + b;
  return !(f->excluded[bit >> 6] >> (bit & 63) & 1);
}

/* flat_features.c: finds the flat edges and vertices of obstacles (flat.h), after all slots are
 * set. They are features of their own no more. distance: ghat (m). */
HkStatus hk_features_find_flat(const HkModel *model, double distance, HkFeatures *features,
                               HkError *error);
/* settings.c: makes the table of pairs that are excluded. */
HkStatus hk_features_exclude(const HkModel *model, HkFeatures *features, HkError *error);
/* settings.c: the lengths of the edges of a body. */
HkEdgeLengths hk_features_edges(const HkModel *model, const HkFeatures *features, int body);

/* ---- Keys ---- */

/* In the order in which the tree is searched: by blocks first, then by slots. */
static inline uint64_t hk_contact_key(int64_t slot_a, int64_t slot_b, int combination) {
  uint64_t a = (uint64_t)slot_a, b = (uint64_t)slot_b;
  return a >> 3 << 35 | b >> 3 << 10 | (a & 7) << 7 | (b & 7) << 4 | (uint64_t)combination;
}

static inline void hk_contact_slots(uint64_t key, int64_t *a, int64_t *b) {
  *a = (int64_t)(key >> 35 << 3 | (key >> 7 & 7));
  *b = (int64_t)((key >> 10 & 0x1ffffff) << 3 | (key >> 4 & 7));
}

/* The vertices of a pair; returns how many of them are the first feature's (pair.h). */
static inline int hk_contact_vertices(const HkFeatures *f, uint64_t key, int32_t v[4]) {
  int64_t slot_a, slot_b;
  hk_contact_slots(key, &slot_a, &slot_b);
  const int32_t *a = f->vertex + 3 * slot_a, *b = f->vertex + 3 * slot_b;
  int which = (int)(key & 15);
  if (which < HK_CONTACT_EDGE_0) {
    const int32_t *all = which < 3 ? b : a;
    v[0] = (which < 3 ? a : b)[which % 3];
    for (int c = 0; c < 3; c++) v[1 + c] = all[c];
    return 1;
  }
  int e = (which - HK_CONTACT_EDGE_0) / 3, g = (which - HK_CONTACT_EDGE_0) % 3;
  v[0] = a[e];
  v[1] = a[(e + 1) % 3];
  v[2] = b[g];
  v[3] = b[(g + 1) % 3];
  return 2;
}

/* What is flat of the triangle of a pair with a point. */
static inline HkFlat hk_features_flat(const HkFeatures *f, uint64_t key) {
  const HkFlat NONE = {0};
  int64_t slot_a, slot_b;
  int which = (int)(key & 15);
  if (!f->flats || which >= HK_CONTACT_EDGE_0) return NONE;
  hk_contact_slots(key, &slot_a, &slot_b);
  int64_t slot = which < 3 ? slot_b : slot_a;
  return slot < f->flat_first ? NONE : f->flats[slot - f->flat_first];
}

#endif
