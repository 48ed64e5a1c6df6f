/* Reductions over ranks; see ranks.h. */
#define HK_RANKS_DEFINED_HERE
#include "base/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values are gathered VALUES at a time, so that buffers of many ranks stay small. */
enum { VALUES = 8, RANKS_ON_STACK = 64 };

/* A buffer for `bytes` of every rank. Its few kilobytes come from the C library: a reduction has no
 * way to return an error. */
static void *buffer_of(const HkRanks *ranks, size_t bytes, void *small, size_t small_bytes) {
  size_t needed = bytes * (size_t)ranks->count;
  void *buffer = needed <= small_bytes ? small : malloc(needed);
  if (!buffer) abort();
  return buffer;
}

static double larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

static void reduce(HkRanks *ranks, double *values, int count, bool most) {
  double small[VALUES * RANKS_ON_STACK];
  for (int begin = 0; begin < count; begin += VALUES) {
    int size = count - begin < VALUES ? count - begin : VALUES;
    double *all = buffer_of(ranks, (size_t)size * sizeof *all, small, sizeof small);
    ranks->type->gather(ranks, values + begin, (size_t)size * sizeof *all, all);
    for (int k = 0; k < size; k++) {
      double result = all[k];
      for (int r = 1; r < ranks->count; r++) {
        double other = all[r * size + k];
        result = most ? larger(result, other) : result + other;
      }
      values[begin + k] = result;
    }
    if (all != small) free(all);
  }
}

void hk_ranks_sum(HkRanks *ranks, double *values, int count) {
  reduce(ranks, values, count, false);
}

void hk_ranks_most(HkRanks *ranks, double *values, int count) {
  reduce(ranks, values, count, true);
}

void hk_ranks_sum_int64(HkRanks *ranks, int64_t *values, int count) {
  int64_t small[RANKS_ON_STACK];
  for (int k = 0; k < count; k++) {
    int64_t *all = buffer_of(ranks, sizeof *all, small, sizeof small);
    uint64_t sum = 0; /* sums of hashes wrap around */
    ranks->type->gather(ranks, &values[k], sizeof *all, all);
    for (int r = 0; r < ranks->count; r++) sum += (uint64_t)all[r];
    values[k] = (int64_t)sum;
    if (all != small) free(all);
  }
}

HkStatus hk_ranks_agree(HkRanks *ranks, HkStatus status, HkError *error) {
  int small[RANKS_ON_STACK], mine = (int)status, worst = HK_OK, from = -1;
  int *all = buffer_of(ranks, sizeof *all, small, sizeof small);
  ranks->type->gather(ranks, &mine, sizeof mine, all);
  for (int r = 0; r < ranks->count; r++) {
    if (all[r] > worst) worst = all[r];
    if (all[r] < 0 && from < 0) from = r;
  }
  if (from >= 0) worst = all[from];
  if (all != small) free(all);
  if (from < 0) return (HkStatus)worst;
  HkError text = {0};
  if (error && ranks->rank == from) text = *error;
  ranks->type->broadcast(ranks, from, &text, sizeof text);
  if (error) *error = text;
  return (HkStatus)worst;
}

int hk_ranks_rank(const HkRanks *ranks) {
  return ranks->rank;
}

int hk_ranks_count(const HkRanks *ranks) {
  return ranks->count;
}

void hk_ranks_close(HkRanks **ranks) {
  if (*ranks) (*ranks)->type->close(ranks);
}
