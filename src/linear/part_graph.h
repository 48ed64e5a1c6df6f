/* A graph whose rows are spread over ranks, and what a rank sees of it around its own rows. */
#ifndef HK_LINEAR_PART_GRAPH_H
#define HK_LINEAR_PART_GRAPH_H

#include "base/ranks.h"
#include "linear/multigrid.h"

/* The rows that a rank owns. Rows of rank r have the numbers offset[r] .. offset[r + 1] - 1. */
typedef struct HkOwnRows {
  const HkContext *context;
  HkRanks *ranks;
  int64_t *offset; /* ranks + 1 */
  int32_t count;   /* rows of this rank */
  int64_t *start;  /* count + 1 */
  int64_t *column; /* numbers; a row's own among them or not */
  const double *X; /* m, three a row */
} HkOwnRows;

/* offset (ranks + 1 entries) from the number of rows of each rank. */
void hk_ranks_offsets(HkRanks *ranks, int64_t own, int64_t *offset);
/* The rank that owns a number. */
int hk_ranks_owner(const HkRanks *ranks, const int64_t *offset, int64_t number);

/* Own rows first, in their order, then those of other ranks within some layers around them, by
 * number. The rows of the last layer are empty. */
typedef struct HkNeighborhood {
  const HkContext *context;
  HkRanks *ranks;
  int32_t own, n;
  int64_t *number;     /* n */
  HkGraph graph;       /* with the diagonal */
  double *X;           /* m, 3 n */
  int64_t *take;       /* ranks + 1: the rows of rank r are take[r] .. take[r + 1] - 1 */
  int64_t *give_start; /* ranks + 1 */
  int32_t *give;       /* own rows that rank r has: give[give_start[r]] .. */
} HkNeighborhood;

HkStatus hk_neighborhood_create(const HkOwnRows *rows, int layers, HkNeighborhood *neighborhood,
                                HkError *error);
void hk_neighborhood_destroy(HkNeighborhood *neighborhood);
/* values (n entries of `size` bytes): those of other ranks' rows become what their owners have. */
HkStatus hk_neighborhood_exchange(const HkNeighborhood *neighborhood, void *values, size_t size,
                                  HkError *error);

/* Messages of different sizes to all ranks: sends out, which holds out_bytes[r] for rank r, and
 * receives *in with in_bytes[r] (ranks entries, allocated by the caller). *in is freed with
 * hk_free. */
HkStatus hk_ranks_send(const HkContext *context, HkRanks *ranks, const void *out,
                       const int64_t *out_bytes, void **in, int64_t *in_bytes, HkError *error);

#endif
