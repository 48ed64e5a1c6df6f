/* The vertices of a coarser level over ranks, and the weights; see part_levels.h and
 * interpolation.c.
 *
 * A rank picks coarse vertices among its own, with those in mind that other ranks have picked
 * around them. Ranks that see each other's vertices do so one after the other: they are colored,
 * and the colors take turns.
 */
#include "base/sort.h"
#include "linear/interpolation.h"
#include "linear/part_graph.h"
#include "linear/part_levels.h"

#include <string.h>

static const char WHAT[] = "multigrid on ranks";

/* Layers of edges around its own vertices within which a rank knows the others. Coarse vertices are
 * two spacings apart, and weights look at those within 4.4. */
enum { LAYERS = 4 };

/* Weights of one vertex as they are sent. */
enum { WEIGHTS_MAX = 4 };
typedef struct Row {
  int64_t column[WEIGHTS_MAX];
  float weight[WEIGHTS_MAX];
  int64_t count;
} Row;

typedef struct Coarsen {
  const HkModel *model;
  const HkContext *context;
  HkRanks *ranks;
  const HkPartLevel *level;
  HkOwnRows rows;
  HkNeighborhood near;
  HkCoarsening *search;
  int64_t *index; /* of each vertex of the neighborhood: which coarse one of its owner, or -1 */
  Row *row;       /* of each vertex of the neighborhood */
  int color, colors;
  int64_t *offset; /* of the next level */
} Coarsen;

/* ---- The rows of this rank ---- */

static HkStatus own_rows(Coarsen *k, const int64_t *offset, const double *X, HkError *error) {
  const HkPartLevel *l = k->level;
  HkOwnRows *r = &k->rows;
  int64_t entries = l->graph.start[l->n], at = 0;
  *r = (HkOwnRows){.context = k->context, .ranks = k->ranks, .X = X};
  r->count = (int32_t)(offset[k->ranks->rank + 1] - offset[k->ranks->rank]);
  HK_TRY(hk_alloc(k->context, &r->offset, k->ranks->count + 1, sizeof *r->offset, WHAT, error));
  HK_TRY(hk_alloc(k->context, &r->start, r->count + 1, sizeof *r->start, WHAT, error));
  HK_TRY(hk_alloc_unset(k->context, &r->column, entries, sizeof *r->column, WHAT, error));
  memcpy(r->offset, offset, (size_t)(k->ranks->count + 1) * sizeof *offset);
  for (int32_t i = 0, row = 0; i < l->n; i++) {
    if (l->ghost[i]) continue;
    for (int32_t e = l->graph.start[i]; e < l->graph.start[i + 1]; e++)
      r->column[at++] = l->number[l->graph.column[e]];
    r->start[++row] = at;
  }
  return HK_OK;
}

/* ---- Turns ---- */

/* Gives ranks that know vertices of each other different colors: the lowest one that no neighbor
 * of lower rank has. Every rank computes the colors of all. */
static HkStatus color_ranks(Coarsen *k, HkError *error) {
  int count = k->ranks->count;
  const HkNeighborhood *h = &k->near;
  uint8_t *mine = NULL, *meets = NULL, *taken = NULL;
  int *color = NULL;
  HkStatus status = hk_alloc(k->context, &mine, count, 1, WHAT, error);
  if (status >= 0) status = hk_alloc(k->context, &meets, count, (size_t)count, WHAT, error);
  if (status >= 0) status = hk_alloc(k->context, &taken, count + 1, 1, WHAT, error);
  if (status >= 0) status = hk_alloc(k->context, &color, count, sizeof *color, WHAT, error);
  status = hk_ranks_agree(k->ranks, status, error);
  if (status >= 0) {
    for (int r = 0; r < count; r++)
      mine[r] = h->take[r + 1] > h->take[r] || h->give_start[r + 1] > h->give_start[r];
    k->ranks->type->gather(k->ranks, mine, (size_t)count, meets);
    for (int r = 0; r < count; r++) {
      memset(taken, 0, (size_t)count + 1);
      for (int other = 0; other < r; other++)
        if (meets[r * (size_t)count + (size_t)other]) taken[color[other]] = 1;
      while (taken[color[r]]) color[r]++;
      if (color[r] >= k->colors) k->colors = color[r] + 1;
    }
    k->color = color[k->ranks->rank];
  }
  hk_free(k->context, &mine);
  hk_free(k->context, &meets);
  hk_free(k->context, &taken);
  hk_free(k->context, &color);
  return status;
}

/* Mean distance of a vertex to its nearest neighbor, over all ranks. */
static double mean_spacing(const Coarsen *k) {
  int32_t count;
  double sums[2];
  sums[0] = hk_coarsening_spacing(&k->near.graph, k->near.X, k->near.own, &count);
  sums[1] = count;
  hk_ranks_sum(k->ranks, sums, 2);
  return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

/* Picks coarse vertices, one color of ranks after the other; *own becomes the number of this
 * rank's.
 */
static HkStatus pick(Coarsen *k, int64_t *own, HkError *error) {
  const HkNeighborhood *h = &k->near;
  *own = 0;
  for (int32_t i = 0; i < h->n; i++) k->index[i] = -1;
  for (int turn = 0; turn < k->colors; turn++) {
    for (int32_t i = 0; turn == k->color && i < h->own; i++) {
      if (!hk_coarsening_is_open(k->search, i)) continue;
      hk_coarsening_choose(k->search, i);
      k->index[i] = (*own)++;
    }
    int64_t *before = NULL;
    HkStatus status = hk_alloc(k->context, &before, h->n, sizeof *before, WHAT, error);
    if (status >= 0) memcpy(before, k->index, (size_t)h->n * sizeof *before);
    HK_TRY(hk_ranks_agree(k->ranks, status, error));
    HK_TRY(hk_neighborhood_exchange(h, k->index, sizeof *k->index, error));
    for (int32_t i = h->own; i < h->n; i++)
      if (before[i] < 0 && k->index[i] >= 0) hk_coarsening_choose(k->search, i);
    hk_free(k->context, &before);
  }
  return HK_OK;
}

/* ---- Weights ---- */

/* The weights of this rank's vertices, with the numbers of the coarse ones. */
static HkStatus weigh(Coarsen *k, HkError *error) {
  const HkNeighborhood *h = &k->near;
  HkWeights P = {0};
  int32_t count;
  const int32_t *chosen = hk_coarsening_chosen(k->search, &count);
  HK_TRY(hk_coarsening_weights(k->search, k->model->threads, h->own, &P, error));
  for (int32_t i = 0; i < h->own; i++) {
    Row *row = &k->row[i];
    row->count = P.start[i + 1] - P.start[i];
    for (int32_t e = P.start[i], a = 0; e < P.start[i + 1]; e++, a++) {
      int32_t vertex = chosen[P.column[e]];
      int owner = hk_ranks_owner(k->ranks, k->rows.offset, h->number[vertex]);
      row->column[a] = k->offset[owner] + k->index[vertex];
      row->weight[a] = P.weight[e];
    }
  }
  hk_weights_destroy(k->context, &P);
  return HK_OK;
}

/* The weights of a vertex of the level; NULL for a ghost that no block reaches, which needs none.
 */
static const Row *row_of(const Coarsen *k, int32_t vertex) {
  const HkNeighborhood *h = &k->near;
  int64_t number = k->level->number[vertex];
  if (!k->level->ghost[vertex]) return &k->row[number - k->rows.offset[k->ranks->rank]];
  int64_t at = h->own + hk_lower_bound_int64(h->number + h->own, h->n - h->own, number);
  return at < h->n && h->number[at] == number ? &k->row[at] : NULL;
}

/* Copies the weights of the vertices of the level, ghosts included. */
static HkStatus copy_weights(const Coarsen *k, HkPartWeights *w, HkError *error) {
  const HkPartLevel *l = k->level;
  int32_t entries = 0;
  HK_TRY(hk_alloc(k->context, &w->start, (int64_t)l->n + 1, sizeof *w->start, WHAT, error));
  for (int32_t i = 0; i < l->n; i++) {
    const Row *row = row_of(k, i);
    entries += row ? (int32_t)row->count : 0;
  }
  HK_TRY(hk_alloc(k->context, &w->column, entries, sizeof *w->column, WHAT, error));
  HK_TRY(hk_alloc(k->context, &w->weight, entries, sizeof *w->weight, WHAT, error));
  for (int32_t i = 0, at = 0; i < l->n; i++) {
    const Row *row = row_of(k, i);
    for (int a = 0; row && a < row->count; a++, at++) {
      w->column[at] = row->column[a];
      w->weight[at] = row->weight[a];
    }
    w->start[i + 1] = at;
  }
  return HK_OK;
}

static HkStatus copy_positions(const Coarsen *k, HkPartWeights *w, HkError *error) {
  const HkNeighborhood *h = &k->near;
  HK_TRY(hk_alloc(k->context, &w->X, 3 * w->own, sizeof *w->X, WHAT, error));
  for (int32_t i = 0; i < h->own; i++)
    if (k->index[i] >= 0) memcpy(w->X + 3 * k->index[i], h->X + 3 * (int64_t)i, 3 * sizeof *w->X);
  return HK_OK;
}

/* ---- All together ---- */

static HkStatus coarsen(Coarsen *k, const int64_t *offset, const double *X, HkPartWeights *w,
                        HkError *error) {
  HkRanks *ranks = k->ranks;
  HK_TRY(hk_ranks_agree(ranks, own_rows(k, offset, X, error), error));
  HK_TRY(hk_neighborhood_create(&k->rows, LAYERS, &k->near, error));
  HkNeighborhood *h = &k->near;
  double spacing = mean_spacing(k);
  HkStatus status = hk_coarsening_create(k->context, &h->graph, h->X, spacing, &k->search, error);
  if (status >= 0) status = hk_alloc(k->context, &k->index, h->n, sizeof *k->index, WHAT, error);
  if (status >= 0) status = hk_alloc(k->context, &k->row, h->n, sizeof *k->row, WHAT, error);
  if (status >= 0)
    status = hk_alloc(k->context, &w->offset, ranks->count + 1, sizeof *w->offset, WHAT, error);
  HK_TRY(hk_ranks_agree(ranks, status, error));
  k->offset = w->offset;
  HK_TRY(color_ranks(k, error));
  HK_TRY(pick(k, &w->own, error));
  hk_ranks_offsets(ranks, w->own, w->offset);
  w->total = w->offset[ranks->count];
  HK_TRY(hk_ranks_agree(ranks, weigh(k, error), error));
  HK_TRY(hk_neighborhood_exchange(h, k->row, sizeof *k->row, error));
  status = copy_weights(k, w, error);
  if (status >= 0) status = copy_positions(k, w, error);
  return hk_ranks_agree(ranks, status, error);
}

HkStatus hk_part_coarsen(const HkModel *m, const HkPartLevel *level, const int64_t *offset,
                         const double *X, HkPartWeights *w, HkError *error) {
  Coarsen k = {.model = m, .context = &m->context, .ranks = m->part->ranks, .level = level};
  *w = (HkPartWeights){0};
  HkStatus status = coarsen(&k, offset, X, w, error);
  hk_neighborhood_destroy(&k.near);
  hk_coarsening_destroy(&k.search);
  hk_free(k.context, &k.index);
  hk_free(k.context, &k.row);
  hk_free(k.context, &k.rows.offset);
  hk_free(k.context, &k.rows.start);
  hk_free(k.context, &k.rows.column);
  return status;
}

void hk_part_weights_destroy(const HkContext *c, HkPartWeights *w) {
  hk_free(c, &w->offset);
  hk_free(c, &w->X);
  hk_free(c, &w->start);
  hk_free(c, &w->column);
  hk_free(c, &w->weight);
}
