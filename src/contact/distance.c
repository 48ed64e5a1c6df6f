/* Lower bounds of distances; see distance.h. */
#include "contact/distance.h"

#include "base/isa.h"
#include "base/vec.h"

#include <string.h>

HK_KERNEL_TABLE(HkDistanceKernels, hk_distance_kernels)

HkStatus hk_distances_pick(const HkDistanceKernels **kernels, HkError *error) {
  HkIsa isa;
  HK_TRY(hk_isa_pick(&isa, error));
  *kernels = hk_distance_kernels_of(isa);
  return HK_OK;
}

/* ---- Positions ---- */

typedef struct Place {
  HkContacts *c;
  const double *x;
} Place;

/* The largest coordinate about the origin. */
static double extent_range(void *user, int64_t begin, int64_t end) {
  const Place *a = user;
  double most = 0;
  for (int64_t v = begin; v < end; v++)
    for (int q = 0; q < 3; q++)
      most = hk_larger(most, fabs(hk_contacts_position(a->c, a->x, (int32_t)v)[q] - a->x[q]));
  return most;
}

static void place_range(void *user, int64_t begin, int64_t end) {
  const Place *a = user;
  HkContacts *c = a->c;
  for (int64_t v = begin; v < end; v++) {
    const double *x = hk_contacts_position(c, a->x, (int32_t)v);
    for (int q = 0; q < 3; q++) {
      c->measured[3 * v + q] = x[q];
      c->place[4 * v + q] = (float)(x[q] - a->x[q]);
    }
    c->place[4 * v + 3] = 0;
  }
}

/* The first vertex is the origin. A coordinate is rounded by 2^-24 of the largest one, and a
 * distance is the difference of two points, by 2 * 3^(1/2) times that: 4 / 2^24. As much again
 * for the sums in between. */
void hk_distances_place(HkContacts *c, const double *x) {
  const double ROUNDING = 8.0 / (1 << 24);
  int64_t vertices = c->data->features.vertex_count;
  Place a = {c, x};
  c->place_error =
      ROUNDING * hk_parallel_most(c->model->threads, vertices, extent_range, &a, c->sums);
  hk_parallel_for(c->model->threads, vertices, place_range, &a);
}

/* ---- Distances ---- */

void hk_batch_run(HkPairBatch *b, HkDistanceFn *kernel, const float *place,
                  float out[HK_DISTANCE_BATCH]) {
  size_t rest = (size_t)(HK_DISTANCE_BATCH - b->count) * sizeof b->at[0][0];
  for (int k = 0; k < 4 && rest > 0; k++) memset(b->at[k] + b->count, 0, rest);
  kernel(place, (const int32_t(*)[HK_DISTANCE_BATCH])b->at, out);
}

static void finish(const HkContacts *c, HkPairBatch *b, int kind, HkCandidate *candidate) {
  const double LESS = 1 - 1e-5; /* of the distance: rounding of the closest points */
  float distance[HK_DISTANCE_BATCH];
  hk_batch_run(b, c->kernels->distance[kind], c->place, distance);
  for (int l = 0; l < b->count; l++) {
    const int32_t v[4] = {b->at[0][l] / 4, 0, 0, b->at[3][l] / 4};
    double gap = LESS * (double)distance[l] - c->place_error - hk_contacts_xi(c, v);
    candidate[b->entry[l]].gap = hk_float_below(gap);
  }
  b->count = 0;
}

void hk_distances_measure(const HkContacts *c, HkCandidate *candidate, int64_t count) {
  HkPairBatch batch[2];
  batch[0].count = batch[1].count = 0;
  for (int64_t e = 0; e < count; e++) {
    int32_t v[4];
    int kind = hk_contact_vertices(&c->data->features, candidate[e].key, v) - 1;
    if (hk_batch_add(&batch[kind], v, e)) finish(c, &batch[kind], kind, candidate);
  }
  for (int kind = 0; kind < 2; kind++)
    if (batch[kind].count > 0) finish(c, &batch[kind], kind, candidate);
}
