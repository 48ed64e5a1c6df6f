/* Lower bounds of the distances of candidates, many at a time and in single precision.
 *
 * Candidates are ruled out by bounds alone. Positions are rounded to floats about an origin, and
 * closest points are found by whole vectors of pairs (kernels/distance_single.c). From the distance
 * is taken what rounding may have added to it: what a step gives does not depend on these bounds.
 */
#ifndef HK_CONTACT_DISTANCE_H
#define HK_CONTACT_DISTANCE_H

#include "contact/contacts.h"

enum { HK_DISTANCE_BATCH = 64 };

/* distance[l] = the distance of pair l, whose vertices have the places place + at[k][l], three
 * floats and one more. */
typedef void HkDistanceFn(const float *place, const int32_t at[4][HK_DISTANCE_BATCH],
                          float distance[HK_DISTANCE_BATCH]);

/* By kind: a point, vertex 0, and the triangle of the others; edges from vertex 0 to 1, and from 2
 * to 3. */
struct HkDistanceKernels {
  HkDistanceFn *distance[2]; /* of places */
  HkDistanceFn *closing[2];  /* of displacements: the longest difference between the two sides */
};

/* Pairs of one kind that wait for a kernel. */
typedef struct HkPairBatch {
  int32_t at[4][HK_DISTANCE_BATCH]; /* four times the vertices */
  int64_t entry[HK_DISTANCE_BATCH]; /* of the caller */
  int count;
} HkPairBatch;

/* Returns whether the batch is full. */
static inline bool hk_batch_add(HkPairBatch *b, const int32_t v[4], int64_t entry) {
  for (int k = 0; k < 4; k++) b->at[k][b->count] = 4 * v[k];
  b->entry[b->count++] = entry;
  return b->count == HK_DISTANCE_BATCH;
}
/* Runs a kernel over a batch that has at least one pair. */
void hk_batch_run(HkPairBatch *batch, HkDistanceFn *kernel, const float *place,
                  float out[HK_DISTANCE_BATCH]);

/* Distances are measured at x from now on, and where the obstacles are. */
void hk_distances_place(HkContacts *contacts, const double *x);
/* Sets the gaps of candidates. */
void hk_distances_measure(const HkContacts *contacts, HkCandidate *candidate, int64_t count);
/* Returns the kernels for the instruction set of the machine, or an error. */
HkStatus hk_distances_pick(const HkDistanceKernels **kernels, HkError *error);

#endif
