/* What follows from the vertices of a part: runs of owned entries, and the halo by which ghosts
 * receive values of their owners; see part.h. */
#include "model/part.h"

#include <string.h>

/* ---- Runs ---- */

/* Returns whether entry k counts. */
typedef bool Counts(const HkModel *m, int64_t k);

static bool counts_vertex(const HkModel *m, int64_t i) {
  return !m->part->ghost[i];
}

static bool counts_spring(const HkModel *m, int64_t s) {
  return !m->part->ghost[m->springs.i[s]];
}

static bool counts_cell(const HkModel *m, int64_t c) {
  return !m->part->ghost[m->cell_vertex[m->cell_start[c]]];
}

static HkStatus make_runs(const HkModel *m, int64_t count, Counts *counts, HkRuns *runs,
                          HkError *error) {
  for (int64_t k = 0; k < count; k++) runs->count += counts(m, k) && (k == 0 || !counts(m, k - 1));
  HK_TRY(hk_alloc(&m->context, &runs->run, runs->count, sizeof *runs->run, "a part", error));
  for (int64_t k = 0, run = -1; k < count; k++) {
    if (!counts(m, k)) continue;
    if (k == 0 || !counts(m, k - 1)) runs->run[++run].begin = k;
    runs->run[run].end = k + 1;
  }
  return HK_OK;
}

/* ---- Questions to owners ---- */

/* Ghosts by owner: those of rank r are order[start[r]] .. order[start[r + 1] - 1]. */
typedef struct Asked {
  int64_t *start, *order, *bytes, *all;
  int64_t *number;  /* of ghosts, by owner; then what the owners answer */
  int64_t *queries; /* numbers that other ranks ask for; then the answers */
  int64_t *query_bytes;
  int64_t query_count;
} Asked;

static HkStatus allocate(const HkModel *m, Asked *a, HkError *error) {
  const HkContext *c = &m->context;
  int64_t ranks = m->part->ranks->count, ghosts = m->part->ghost_count;
  HK_TRY(hk_alloc(c, &a->start, ranks + 1, sizeof *a->start, "a halo", error));
  HK_TRY(hk_alloc(c, &a->order, ghosts, sizeof *a->order, "a halo", error));
  HK_TRY(hk_alloc(c, &a->number, ghosts, sizeof *a->number, "a halo", error));
  HK_TRY(hk_alloc(c, &a->bytes, ranks, sizeof *a->bytes, "a halo", error));
  HK_TRY(hk_alloc(c, &a->query_bytes, ranks, sizeof *a->query_bytes, "a halo", error));
  return hk_alloc(c, &a->all, ranks * ranks, sizeof *a->all, "a halo", error);
}

static void sort_by_owner(const HkModel *m, Asked *a) {
  const HkPart *p = m->part;
  int ranks = p->ranks->count;
  for (int64_t q = 0; q < p->ghost_count; q++) a->start[p->ghost_rank[q] + 1]++;
  for (int r = 0; r < ranks; r++) a->start[r + 1] += a->start[r];
  for (int64_t q = 0; q < p->ghost_count; q++) a->order[a->start[p->ghost_rank[q]]++] = q;
  for (int r = ranks; r > 0; r--) a->start[r] = a->start[r - 1];
  a->start[0] = 0;
  for (int64_t k = 0; k < p->ghost_count; k++)
    a->number[k] = p->number[p->ghost_vertex[a->order[k]]];
  for (int r = 0; r < ranks; r++)
    a->bytes[r] = (a->start[r + 1] - a->start[r]) * (int64_t)sizeof *a->number;
}

/* Marks the vertices that others ask for as border, and answers with their places in this part. */
static HkStatus answer(HkModel *m, Asked *a, HkError *error) {
  HkPart *p = m->part;
  uint8_t *asked = NULL;
  HK_TRY(hk_alloc(&m->context, &asked, m->n, 1, "a halo", error));
  HkStatus status = HK_OK;
  for (int64_t k = 0; k < a->query_count && status >= 0; k++) {
    int64_t at = hk_part_find(p, a->queries[k]);
    if (at < 0 || p->ghost[at])
      status = hk_fail(error, HK_ERROR_INVALID, "ranks disagree about the owner of vertex %lld",
                       (long long)a->queries[k]);
    else
      asked[at] = 1;
    a->queries[k] = at;
  }
  for (int64_t i = 0; i < m->n; i++) p->border_count += asked[i];
  if (status >= 0)
    status = hk_alloc(&m->context, &p->border, p->border_count, sizeof *p->border, "a halo", error);
  for (int64_t i = 0, at = 0; i < m->n && status >= 0; i++)
    if (asked[i]) p->border[at++] = (int32_t)i;
  hk_free(&m->context, &asked);
  return status;
}

/* Asks the owners of the ghosts for their places. */
static HkStatus ask(HkModel *m, Asked *a, HkError *error) {
  HkPart *p = m->part;
  HkRanks *ranks = p->ranks;
  HK_TRY(hk_ranks_agree(ranks, allocate(m, a, error), error));
  sort_by_owner(m, a);
  ranks->type->gather(ranks, a->bytes, (size_t)ranks->count * sizeof *a->bytes, a->all);
  for (int r = 0; r < ranks->count; r++) {
    a->query_bytes[r] = a->all[(int64_t)r * ranks->count + ranks->rank];
    a->query_count += a->query_bytes[r] / (int64_t)sizeof *a->queries;
  }
  HkStatus status =
      hk_alloc(&m->context, &a->queries, a->query_count, sizeof *a->queries, "a halo", error);
  HK_TRY(hk_ranks_agree(ranks, status, error));
  ranks->type->exchange(ranks, a->number, a->bytes, a->queries, a->query_bytes);
  HK_TRY(hk_ranks_agree(ranks, answer(m, a, error), error));
  ranks->type->exchange(ranks, a->queries, a->query_bytes, a->number, a->bytes);
  for (int64_t k = 0; k < p->ghost_count; k++) p->ghost_index[a->order[k]] = (int32_t)a->number[k];
  return HK_OK;
}

static HkStatus make_halo(HkModel *m, HkError *error) {
  const HkContext *c = &m->context;
  HkPart *p = m->part;
  Asked a = {0};
  HkStatus status = ask(m, &a, error);
  hk_free(c, &a.start);
  hk_free(c, &a.order);
  hk_free(c, &a.bytes);
  hk_free(c, &a.all);
  hk_free(c, &a.number);
  hk_free(c, &a.queries);
  hk_free(c, &a.query_bytes);
  HK_TRY(status);
  HkHaloPlan plan = {
      .n = m->n, .ghosts = p->ghost_count, .rank = p->ghost_rank, .index = p->ghost_index};
  return p->ranks->type->halo_create(p->ranks, &plan, &p->halo, error);
}

/* ---- All together ---- */

static HkStatus allocate_ghosts(HkModel *m, const int32_t *ghost_rank, HkError *error) {
  const HkContext *c = &m->context;
  HkPart *p = m->part;
  int64_t count = p->ghost_count;
  HK_TRY(hk_alloc(c, &p->ghost_vertex, count, sizeof *p->ghost_vertex, "ghosts", error));
  HK_TRY(hk_alloc(c, &p->ghost_rank, count, sizeof *p->ghost_rank, "ghosts", error));
  HK_TRY(hk_alloc(c, &p->ghost_index, count, sizeof *p->ghost_index, "ghosts", error));
  HK_TRY(hk_alloc(c, &p->received, 3 * count, sizeof *p->received, "ghosts", error));
  for (int64_t i = 0, q = 0; i < m->n; i++)
    if (p->ghost[i]) p->ghost_vertex[q++] = (int32_t)i;
  if (count) memcpy(p->ghost_rank, ghost_rank, (size_t)count * sizeof *p->ghost_rank);
  HK_TRY(make_runs(m, m->n, counts_vertex, &p->vertices, error));
  HK_TRY(make_runs(m, m->springs.count, counts_spring, &p->springs, error));
  return make_runs(m, m->cell_count, counts_cell, &p->cells, error);
}

HkStatus hk_part_finish(HkModel *m, const int32_t *ghost_rank, HkError *error) {
  HkPart *p = m->part;
  HK_TRY(hk_model_agree(m, allocate_ghosts(m, ghost_rank, error), error));
  p->total = p->owned;
  hk_ranks_sum_int64(p->ranks, &p->total, 1);
  return make_halo(m, error);
}
