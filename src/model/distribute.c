/* The bodies of a scene as parts of a model, one on each rank; see part.h.
 *
 * A scene of lattices is made in parts from the beginning (windows.c). For any other one, rank 0
 * compiles the whole model, its graph is partitioned, and each rank receives its part.
 */
#include "model/build.h"
#include "model/package.h"
#include "model/part.h"

#include <string.h>

/* Whole arrays of rank 0. */
typedef struct Whole {
  HkModel *model;
  int32_t *owner; /* of each vertex */
} Whole;

/* ---- Partition ---- */

/* Rows of the graph that a rank gets for the partition. */
typedef struct Rows {
  int64_t first, count;
  int32_t *start, *column, *owner;
} Rows;

static int64_t first_row(int64_t n, int ranks, int rank) {
  return n * rank / ranks;
}

/* Sends what rank 0 has for each rank, out_bytes each, and returns what this one receives. */
static HkStatus scatter(HkModel *m, const void *out, const int64_t *out_bytes, void **in,
                        int64_t *bytes, HkError *error) {
  HkRanks *ranks = m->context.ranks;
  int64_t *sizes = NULL, *in_bytes = NULL, *none = NULL;
  HkStatus status = hk_alloc(&m->context, &sizes, ranks->count, sizeof *sizes, "a part", error);
  if (status >= 0)
    status = hk_alloc(&m->context, &in_bytes, ranks->count, sizeof *in_bytes, "a part", error);
  if (status >= 0)
    status = hk_alloc(&m->context, &none, ranks->count, sizeof *none, "a part", error);
  status = hk_ranks_agree(ranks, status, error);
  if (status >= 0) {
    if (ranks->rank == 0) memcpy(sizes, out_bytes, (size_t)ranks->count * sizeof *sizes);
    ranks->type->broadcast(ranks, 0, sizes, (size_t)ranks->count * sizeof *sizes);
    in_bytes[0] = *bytes = sizes[ranks->rank];
    status = hk_alloc(&m->context, in, *bytes, 1, "a part", error);
    status = hk_ranks_agree(ranks, status, error);
  }
  if (status >= 0)
    ranks->type->exchange(ranks, out, ranks->rank == 0 ? sizes : none, *in, in_bytes);
  hk_free(&m->context, &sizes);
  hk_free(&m->context, &in_bytes);
  hk_free(&m->context, &none);
  return status;
}

/* The rows of all ranks in one buffer of rank 0: start (count + 1) and columns of each. */
static HkStatus pack_rows(HkModel *m, const HkModel *whole, int32_t **buffer, int64_t *bytes,
                          HkError *error) {
  int ranks = m->context.ranks->count;
  int64_t n = whole->n, words = n + ranks + 2 * whole->springs.count, at = 0;
  HK_TRY(hk_alloc(&m->context, buffer, words, sizeof **buffer, "a partition", error));
  for (int r = 0; r < ranks; r++) {
    int64_t begin = first_row(n, ranks, r), end = first_row(n, ranks, r + 1), from = at;
    for (int64_t i = begin; i <= end; i++)
      (*buffer)[at++] = (int32_t)(whole->adj_start[i] - whole->adj_start[begin]);
    int64_t entries = whole->adj_start[end] - whole->adj_start[begin];
    if (entries)
      memcpy(*buffer + at, whole->adj_vertex + whole->adj_start[begin],
             (size_t)entries * sizeof **buffer);
    at += entries;
    bytes[r] = (at - from) * (int64_t)sizeof **buffer;
  }
  return HK_OK;
}

/* Gathers the owners of all rows on rank 0. */
static HkStatus gather_owners(HkModel *m, const Rows *rows, int64_t n, int32_t *owner,
                              HkError *error) {
  HkRanks *ranks = m->context.ranks;
  int64_t *out = NULL, *in = NULL;
  HkStatus status = hk_alloc(&m->context, &out, ranks->count, sizeof *out, "owners", error);
  if (status >= 0) status = hk_alloc(&m->context, &in, ranks->count, sizeof *in, "owners", error);
  status = hk_ranks_agree(ranks, status, error);
  if (status >= 0) {
    out[0] = rows->count * (int64_t)sizeof *owner;
    for (int r = 0; r < ranks->count && ranks->rank == 0; r++)
      in[r] = (first_row(n, ranks->count, r + 1) - first_row(n, ranks->count, r)) *
              (int64_t)sizeof *owner;
    ranks->type->exchange(ranks, rows->owner, out, owner, in);
  }
  hk_free(&m->context, &out);
  hk_free(&m->context, &in);
  return status;
}

static HkStatus partition_rows(HkModel *m, Rows *rows, int64_t n, int32_t *owner, HkError *error) {
  HkRanks *ranks = m->context.ranks;
  HkStatus status =
      hk_alloc(&m->context, &rows->owner, rows->count, sizeof *rows->owner, "a partition", error);
  HK_TRY(hk_ranks_agree(ranks, status, error));
  HK_TRY(ranks->type->partition(ranks, rows->first, rows->count, rows->start, rows->column,
                                rows->owner, error));
  return gather_owners(m, rows, n, owner, error);
}

/* owner (on rank 0) = which rank owns each vertex of the whole model. */
static HkStatus partition(HkModel *m, const HkModel *whole, int32_t *owner, HkError *error) {
  HkRanks *ranks = m->context.ranks;
  int64_t *bytes = NULL, received = 0, n = whole ? whole->n : 0;
  int32_t *buffer = NULL;
  void *mine = NULL;
  HkStatus status = hk_alloc(&m->context, &bytes, ranks->count, sizeof *bytes, "parts", error);
  if (status >= 0 && whole) status = pack_rows(m, whole, &buffer, bytes, error);
  status = hk_ranks_agree(ranks, status, error);
  ranks->type->broadcast(ranks, 0, &n, sizeof n);
  if (status >= 0) status = scatter(m, buffer, bytes, &mine, &received, error);
  if (status >= 0) {
    Rows rows = {.first = first_row(n, ranks->count, ranks->rank), .start = mine};
    rows.count = first_row(n, ranks->count, ranks->rank + 1) - rows.first;
    rows.column = rows.start + rows.count + 1;
    status = partition_rows(m, &rows, n, owner, error);
    hk_free(&m->context, &rows.owner);
  }
  hk_free(&m->context, &bytes);
  hk_free(&m->context, &buffer);
  hk_free(&m->context, &mine);
  return status;
}

/* ---- Parts ---- */

/* Rank 0: the part of a rank as bytes. */
static HkStatus pack_part(const HkModel *m, const Whole *whole, int rank, char **bytes,
                          int64_t *size, HkError *error) {
  HkModel part = {.context = m->context};
  int32_t *ghost_rank = NULL;
  HkStatus status = hk_alloc(&m->context, &part.part, 1, sizeof *part.part, "a part", error);
  if (status >= 0)
    status = hk_part_extract(whole->model, whole->owner, NULL, rank, &part, &ghost_rank, error);
  if (whole->model) part.total_mass = whole->model->total_mass; /* rank 0 has it */
  if (status >= 0) status = hk_package_write(&part, ghost_rank, bytes, size, error);
  hk_free(&m->context, &ghost_rank);
  hk_package_release(&part);
  return status;
}

/* Sends every rank its part, one after the other, so that rank 0 holds one beside the whole. */
static HkStatus send_parts(HkModel *m, const Whole *whole, HkError *error) {
  HkRanks *ranks = m->context.ranks;
  int64_t *sizes = NULL, received;
  char *mine = NULL;
  HkStatus status = hk_alloc(&m->context, &sizes, ranks->count, sizeof *sizes, "parts", error);
  status = hk_ranks_agree(ranks, status, error);
  for (int r = 0; r < ranks->count && status >= 0; r++) {
    char *bytes = NULL;
    void *in = NULL;
    memset(sizes, 0, (size_t)ranks->count * sizeof *sizes);
    if (ranks->rank == 0) status = pack_part(m, whole, r, &bytes, &sizes[r], error);
    status = hk_ranks_agree(ranks, status, error);
    if (status >= 0) status = scatter(m, bytes, sizes, &in, &received, error);
    hk_free(&m->context, &bytes);
    if (ranks->rank == r) mine = in;
  }
  if (status >= 0) {
    int32_t *ghost_rank = NULL;
    status = hk_package_read(m, mine, &ghost_rank, error);
    status = hk_ranks_agree(ranks, status, error);
    if (status >= 0) status = hk_part_finish(m, ghost_rank, error);
    hk_free(&m->context, &ghost_rank);
  }
  hk_free(&m->context, &mine);
  hk_free(&m->context, &sizes);
  return status;
}

/* ---- The whole model on rank 0 ---- */

static HkStatus compile_whole(const HkModel *m, const HkScene *scene, HkModel **whole,
                              HkError *error) {
  HkScene copy = *scene;
  copy.context = m->context;
  copy.context.ranks = NULL;
  copy.context.device = HK_CPU;
  return hk_model_compile(&copy, whole, error);
}

HkStatus hk_model_add_part(HkModel *m, const HkScene *scene, HkError *error) {
  HkRanks *ranks = m->context.ranks;
  Whole whole = {0};
  HkStatus status = hk_alloc(&m->context, &m->part, 1, sizeof *m->part, "a part", error);
  HK_TRY(hk_ranks_agree(ranks, status, error));
  m->part->ranks = ranks;
  if (hk_windows_can_make(scene)) return hk_model_add_windows(m, scene, error);
  m->part->gathered = true;
  if (ranks->rank == 0) {
    status = compile_whole(m, scene, &whole.model, error);
    m->part->source = whole.model;
    if (status >= 0)
      status =
          hk_alloc(&m->context, &whole.owner, whole.model->n, sizeof *whole.owner, "owners", error);
  }
  status = hk_ranks_agree(ranks, status, error);
  if (status >= 0) status = partition(m, whole.model, whole.owner, error);
  if (status >= 0) status = send_parts(m, &whole, error);
  hk_free(&m->context, &whole.owner);
  return status;
}
