/* The pairs of vertices of a mesh that springs join, sorted and unique. */
#ifndef HK_MESH_PAIRS_H
#define HK_MESH_PAIRS_H

#include "mesh/mesh.h"

/* Kinds of pairs; a duplicate pair keeps the first of these kinds. */
enum { HK_PAIR_EDGE, HK_PAIR_SHEAR, HK_PAIR_BENDING, HK_PAIR_EXTRA };

typedef struct HkPairs {
  int64_t count;
  int32_t *i, *j;  /* i < j, sorted by i and then j */
  uint8_t *kind;   /* HK_PAIR_* */
  int64_t looping; /* edges of degenerate cells from a vertex to itself, left out */
} HkPairs;

typedef struct HkPairsWanted {
  bool edges, shear, bending;
  const int32_t *extra; /* 2 a pair */
  int64_t extra_count;
} HkPairsWanted;

HkStatus hk_pairs_create(const HkMesh *mesh, const HkPairsWanted *wanted, HkPairs *pairs,
                         HkError *error);
void hk_pairs_destroy(const HkContext *context, HkPairs *pairs);

/* Returns the index of the pair {a, b}, or -1. */
int64_t hk_pairs_find(const HkPairs *pairs, int32_t a, int32_t b);

#endif
