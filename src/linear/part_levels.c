/* The hierarchy of multigrid over ranks; see part_levels.h. */
#include "linear/part_levels.h"

#include "base/sort.h"
#include "linear/part_graph.h"

#include <string.h>

static const char WHAT[] = "multigrid on ranks";

/* ---- Level 0 ---- */

static HkStatus make_first(const HkModel *m, const int64_t *start, const int32_t *column,
                           HkPartLevel *l, HkError *error) {
  const HkContext *c = &m->context;
  const HkPart *p = m->part;
  int64_t entries = 0, at = 0;
  l->n = (int32_t)m->n;
  HK_TRY(hk_alloc(c, &l->ghost, l->n, 1, WHAT, error));
  HK_TRY(hk_alloc(c, &l->number, l->n, sizeof *l->number, WHAT, error));
  HK_TRY(hk_alloc(c, &l->start, (int64_t)l->n + 1, sizeof *l->start, WHAT, error));
  HK_TRY(hk_alloc(c, &l->graph.start, (int64_t)l->n + 1, sizeof *l->graph.start, WHAT, error));
  for (int64_t i = 0; i < m->n; i++)
    if (!p->ghost[i]) entries += start[i + 1] - start[i];
  if (entries > INT32_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "%lld springs on one rank are too many for the preconditioner 'multigrid'; use "
                   "more ranks, or choose 'block_jacobi'",
                   (long long)entries / 2);
  HK_TRY(hk_alloc_unset(c, &l->graph.column, entries, sizeof *l->graph.column, WHAT, error));
  l->graph.n = l->n;
  memcpy(l->start, start, (size_t)(l->n + 1) * sizeof *start);
  if (l->n) memcpy(l->ghost, p->ghost, (size_t)l->n);
  for (int64_t i = 0; i < m->n; i++) {
    for (int64_t e = start[i]; e < start[i + 1] && !p->ghost[i]; e++)
      l->graph.column[at++] = column[e];
    l->graph.start[i + 1] = (int32_t)at;
  }
  return HK_OK;
}

/* Numbers of owned vertices follow each other; those of ghosts come from their owners. */
static void number_first(const HkModel *m, HkPartLevel *l, const int64_t *offset, double *scratch) {
  int64_t next = offset[m->part->ranks->rank];
  for (int64_t i = 0; i < m->n; i++) scratch[3 * i] = m->part->ghost[i] ? -1 : (double)next++;
  hk_part_exchange(m, scratch);
  for (int64_t i = 0; i < m->n; i++) l->number[i] = (int64_t)scratch[3 * i];
}

/* ---- The vertices of the next level ---- */

/* Numbers of other ranks that this rank knows on the next level. */
typedef struct Known {
  int64_t *number; /* rising */
  int64_t count, capacity;
} Known;

static HkStatus know(const HkContext *c, Known *k, int64_t number, HkError *error) {
  HK_TRY(hk_grow(c, &k->number, &k->capacity, k->count + 1, sizeof *k->number, WHAT, error));
  k->number[k->count++] = number;
  return HK_OK;
}

static void make_unique(Known *k) {
  int64_t kept = 0;
  hk_sort_int64(k->number, k->count);
  for (int64_t q = 0; q < k->count; q++)
    if (q == 0 || k->number[q] != k->number[kept - 1]) k->number[kept++] = k->number[q];
  k->count = kept;
}

/* Vertices of the next level on this rank: its own, then the others that weights reach, each group
 * by number; behind them those that only rows from other ranks reach. */
typedef struct Next {
  const HkContext *context;
  HkRanks *ranks;
  const HkPartWeights *weights;
  int64_t first, own; /* numbers first .. first + own - 1 are this rank's */
  Known reached, added;
} Next;

static int64_t find_known(const Known *k, int64_t number) {
  if (!k->number) return -1; /* an empty list */
  int64_t at = hk_lower_bound_int64(k->number, k->count, number);
  return at < k->count && k->number[at] == number ? at : -1;
}

static bool is_own(const Next *x, int64_t number) {
  return number >= x->first && number < x->first + x->own;
}

static int32_t place_of(const Next *x, int64_t number) {
  if (is_own(x, number)) return (int32_t)(number - x->first);
  int64_t at = find_known(&x->reached, number);
  if (at >= 0) return (int32_t)(x->own + at);
  return (int32_t)(x->own + x->reached.count + find_known(&x->added, number));
}

static int64_t number_of(const Next *x, int32_t place) {
  if (place < x->own) return x->first + place;
  int64_t at = place - x->own;
  const Known *others = at < x->reached.count ? &x->reached : &x->added;
  if (others == &x->added) at -= x->reached.count;
  return others->number ? others->number[at] : -1;
}

static HkStatus find_reached(Next *x, const HkPartLevel *l, HkError *error) {
  const HkPartWeights *w = x->weights;
  for (int32_t e = 0; e < w->start[l->n]; e++)
    if (!is_own(x, w->column[e])) HK_TRY(know(x->context, &x->reached, w->column[e], error));
  make_unique(&x->reached);
  return HK_OK;
}

/* The weights of a level with vertices of the next one as columns. */
static HkStatus make_weights(const Next *x, HkPartLevel *l, HkError *error) {
  const HkPartWeights *w = x->weights;
  int32_t entries = w->start[l->n];
  HkWeights *P = &l->P;
  P->rows = l->n;
  P->columns = (int32_t)(x->own + x->reached.count);
  HK_TRY(hk_alloc(x->context, &P->start, (int64_t)l->n + 1, sizeof *P->start, WHAT, error));
  HK_TRY(hk_alloc(x->context, &P->column, entries, sizeof *P->column, WHAT, error));
  HK_TRY(hk_alloc(x->context, &P->weight, entries, sizeof *P->weight, WHAT, error));
  memcpy(P->start, w->start, (size_t)(l->n + 1) * sizeof *P->start);
  for (int32_t e = 0; e < entries; e++) {
    P->column[e] = place_of(x, w->column[e]);
    P->weight[e] = w->weight[e];
  }
  return HK_OK;
}

/* ---- Rows of other ranks ---- */

/* Blocks of rows that other ranks own, as (row, column) by rank and row. */
static HkStatus list_sent(const Next *x, HkPartGalerkin *g, int64_t **pairs, HkError *error) {
  const HkContext *c = x->context;
  const HkGraph *b = &g->blocks;
  int ranks = x->ranks->count;
  int32_t first = (int32_t)x->own;
  HK_TRY(hk_alloc(c, &g->out_bytes, ranks, sizeof *g->out_bytes, WHAT, error));
  HK_TRY(hk_alloc(c, &g->in_bytes, ranks, sizeof *g->in_bytes, WHAT, error));
  g->send_count = b->start[b->n] - b->start[first];
  HK_TRY(hk_alloc(c, &g->send, g->send_count, sizeof *g->send, WHAT, error));
  HK_TRY(hk_alloc(c, pairs, 2 * g->send_count, sizeof **pairs, WHAT, error));
  int64_t at = 0;
  for (int32_t I = first; I < b->n; I++) { /* rising numbers, hence rising ranks */
    int64_t number = number_of(x, I);
    int owner = hk_ranks_owner(x->ranks, x->weights->offset, number);
    for (int32_t e = b->start[I]; e < b->start[I + 1]; e++) {
      g->send[at] = e;
      (*pairs)[2 * at] = number;
      (*pairs)[2 * at + 1] = number_of(x, b->column[e]);
      g->out_bytes[owner] += 2 * (int64_t)sizeof **pairs;
      at++;
    }
  }
  return HK_OK;
}

/* The rows of the next level: what this rank's rows give, and what was received. */
static HkStatus make_rows(Next *x, const HkPartGalerkin *g, const int64_t *received,
                          HkPartLevel *next, HkError *error) {
  const HkContext *c = x->context;
  const HkGraph *b = &g->blocks;
  HkGraph *to = &next->graph;
  int64_t entries = b->start[x->own] + g->receive_count;
  for (int64_t k = 0; k < g->receive_count; k++) {
    int64_t column = received[2 * k + 1];
    if (!is_own(x, column) && find_known(&x->reached, column) < 0)
      HK_TRY(know(c, &x->added, column, error));
  }
  make_unique(&x->added);
  next->n = (int32_t)(x->own + x->reached.count + x->added.count);
  to->n = next->n;
  HK_TRY(hk_alloc(c, &to->start, (int64_t)to->n + 1, sizeof *to->start, WHAT, error));
  HK_TRY(hk_alloc_unset(c, &to->column, entries, sizeof *to->column, WHAT, error));
  for (int32_t I = 0; I < x->own; I++) to->start[I + 1] = b->start[I + 1] - b->start[I];
  for (int64_t k = 0; k < g->receive_count; k++) to->start[received[2 * k] - x->first + 1]++;
  for (int32_t I = 0; I < to->n; I++) to->start[I + 1] += to->start[I];
  int32_t *end = NULL;
  HK_TRY(hk_alloc(c, &end, x->own, sizeof *end, WHAT, error));
  for (int32_t I = 0; I < x->own; I++) {
    end[I] = to->start[I];
    for (int32_t e = b->start[I]; e < b->start[I + 1]; e++) to->column[end[I]++] = b->column[e];
  }
  for (int64_t k = 0; k < g->receive_count; k++)
    to->column[end[received[2 * k] - x->first]++] = place_of(x, received[2 * k + 1]);
  hk_free(c, &end);
  int32_t used = 0;
  for (int32_t I = 0; I < to->n; I++) { /* rising, each once */
    int32_t begin = to->start[I], last = to->start[I + 1];
    hk_sort_int32(to->column + begin, last - begin);
    to->start[I] = used;
    for (int32_t e = begin; e < last; e++)
      if (e == begin || to->column[e] != to->column[used - 1]) to->column[used++] = to->column[e];
  }
  to->start[to->n] = used;
  return HK_OK;
}

static int64_t find_block(const HkGraph *g, int32_t row, int32_t column) {
  int32_t low = g->start[row], high = g->start[row + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (g->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static HkStatus find_slots(const Next *x, HkPartGalerkin *g, const int64_t *received,
                           const HkPartLevel *next, HkError *error) {
  const HkContext *c = x->context;
  const HkGraph *b = &g->blocks;
  HK_TRY(hk_alloc(c, &g->slot, b->start[b->n], sizeof *g->slot, WHAT, error));
  HK_TRY(hk_alloc(c, &g->receive, g->receive_count, sizeof *g->receive, WHAT, error));
  HK_TRY(hk_alloc(c, &g->out, 9 * g->send_count, sizeof *g->out, WHAT, error));
  HK_TRY(hk_alloc(c, &g->in, 9 * g->receive_count, sizeof *g->in, WHAT, error));
  for (int32_t I = 0; I < b->n; I++)
    for (int32_t e = b->start[I]; e < b->start[I + 1]; e++)
      g->slot[e] = I < x->own ? find_block(&next->graph, I, b->column[e]) : -1;
  for (int64_t k = 0; k < g->receive_count; k++)
    g->receive[k] = find_block(&next->graph, (int32_t)(received[2 * k] - x->first),
                               place_of(x, received[2 * k + 1]));
  for (int r = 0; r < x->ranks->count; r++) { /* of pairs, then of blocks */
    g->out_bytes[r] = g->out_bytes[r] / 2 * 9;
    g->in_bytes[r] = g->in_bytes[r] / 2 * 9;
  }
  return HK_OK;
}

static HkStatus make_vertices(const Next *x, HkPartLevel *next, HkError *error) {
  const HkContext *c = x->context;
  int64_t blocks = next->graph.start[next->n];
  HK_TRY(hk_alloc(c, &next->ghost, next->n, 1, WHAT, error));
  HK_TRY(hk_alloc(c, &next->number, next->n, sizeof *next->number, WHAT, error));
  HK_TRY(hk_alloc(c, &next->start, (int64_t)next->n + 1, sizeof *next->start, WHAT, error));
  HK_TRY(hk_alloc(c, &next->value, 9 * blocks, sizeof *next->value, WHAT, error));
  for (int32_t I = 0; I < next->n; I++) {
    next->ghost[I] = I >= x->own;
    next->number[I] = number_of(x, I);
    next->start[I + 1] = next->graph.start[I + 1];
  }
  next->total = x->weights->total;
  return HK_OK;
}

/* Everything of a level that follows from its weights, and the next level. */
static HkStatus make_next(const HkModel *m, HkPartLevel *l, const HkPartWeights *w,
                          HkPartLevel *next, HkError *error) {
  const HkContext *c = &m->context;
  HkRanks *ranks = m->part->ranks;
  HkPartGalerkin *g = &l->galerkin;
  Next x = {.context = c, .ranks = ranks, .weights = w};
  x.first = w->offset[ranks->rank];
  x.own = w->own;
  int64_t *pairs = NULL;
  void *received = NULL;
  HkStatus status = find_reached(&x, l, error);
  if (status >= 0) status = make_weights(&x, l, error);
  if (status >= 0) status = hk_galerkin_pattern(c, m->threads, &l->graph, &l->P, &g->blocks, error);
  if (status >= 0)
    status = hk_galerkin_create(c, m->threads, &l->graph, &l->P, &g->blocks, &g->terms, error);
  if (status >= 0) status = list_sent(&x, g, &pairs, error);
  status = hk_ranks_agree(ranks, status, error);
  if (status >= 0)
    status = hk_ranks_send(c, ranks, pairs, g->out_bytes, &received, g->in_bytes, error);
  if (status >= 0) {
    for (int r = 0; r < ranks->count; r++)
      g->receive_count += g->in_bytes[r] / (2 * (int64_t)sizeof *pairs);
    status = make_rows(&x, g, received, next, error);
    if (status >= 0) status = find_slots(&x, g, received, next, error);
    if (status >= 0) status = make_vertices(&x, next, error);
    status = hk_ranks_agree(ranks, status, error);
  }
  hk_free(c, &pairs);
  hk_free(c, &received);
  hk_free(c, &x.reached.number);
  hk_free(c, &x.added.number);
  return status;
}

/* ---- All levels ---- */

/* Coarsens until few vertices are left, or the next level is not much smaller. */
static HkStatus make_levels(HkPartLevels *h, int64_t *offset, double **X, int64_t least,
                            HkError *error) {
  const HkModel *m = h->model;
  const HkContext *c = &m->context;
  int ranks = m->part->ranks->count;
  for (; h->count < HK_LEVELS_MAX; h->count++) {
    HkPartLevel *l = &h->level[h->count - 1];
    HkPartWeights w;
    if (l->total <= least) return HK_OK;
    HkStatus status = hk_part_coarsen(m, l, offset, *X, &w, error);
    bool smaller = status >= 0 && w.total > 0 && (double)w.total < 0.8 * (double)l->total;
    if (smaller) {
      status = make_next(m, l, &w, l + 1, error);
      memcpy(offset, w.offset, (size_t)(ranks + 1) * sizeof *offset);
      hk_free(c, X);
      *X = w.X;
      w.X = NULL;
    }
    hk_part_weights_destroy(c, &w);
    HK_TRY(status);
    if (!smaller) return HK_OK;
  }
  return HK_OK;
}

HkStatus hk_part_levels_create(const HkModel *m, const int64_t *start, const int32_t *column,
                               int64_t least, HkPartLevels *h, HkError *error) {
  const HkContext *c = &m->context;
  HkRanks *ranks = m->part->ranks;
  int64_t *offset = NULL;
  double *X = NULL, *scratch = NULL;
  *h = (HkPartLevels){.model = m, .count = 1};
  HkStatus status = make_first(m, start, column, &h->level[0], error);
  if (status >= 0) status = hk_alloc(c, &offset, ranks->count + 1, sizeof *offset, WHAT, error);
  if (status >= 0) status = hk_alloc(c, &X, 3 * m->part->owned, sizeof *X, WHAT, error);
  if (status >= 0) status = hk_alloc_vector(c, &scratch, m->n, WHAT, error);
  status = hk_ranks_agree(ranks, status, error);
  if (status >= 0) {
    hk_ranks_offsets(ranks, m->part->owned, offset);
    h->level[0].total = offset[ranks->count];
    number_first(m, &h->level[0], offset, scratch);
    for (int64_t i = 0, at = 0; i < m->n; i++)
      if (!m->part->ghost[i]) memcpy(X + 3 * at++, m->x0 + 3 * i, 3 * sizeof *X);
    hk_free(c, &scratch);
    status = make_levels(h, offset, &X, least, error);
  }
  hk_free(c, &offset);
  hk_free(c, &X);
  hk_free(c, &scratch);
  if (status < 0) hk_part_levels_destroy(h);
  return status;
}

static void destroy_galerkin(const HkContext *c, HkPartGalerkin *g) {
  hk_galerkin_destroy(c, &g->terms);
  hk_graph_destroy(c, &g->blocks);
  void *arrays[] = {&g->slot, &g->send, &g->receive, &g->out_bytes, &g->in_bytes, &g->out, &g->in};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(c, arrays[k]);
}

void hk_part_levels_destroy(HkPartLevels *h) {
  if (!h->model) return;
  const HkContext *c = &h->model->context;
  for (int k = 0; k < HK_LEVELS_MAX; k++) {
    HkPartLevel *l = &h->level[k];
    destroy_galerkin(c, &l->galerkin);
    hk_graph_destroy(c, &l->graph);
    hk_weights_destroy(c, &l->P);
    hk_free(c, &l->ghost);
    hk_free(c, &l->number);
    hk_free(c, &l->start);
    hk_free(c, &l->value);
  }
  h->count = 0;
}

size_t hk_part_levels_bytes(const HkPartLevels *h) {
  size_t bytes = sizeof *h;
  for (int k = 0; k < h->count; k++) {
    const HkPartLevel *l = &h->level[k];
    const HkPartGalerkin *g = &l->galerkin;
    size_t blocks = (size_t)l->graph.start[l->n];
    bytes += (size_t)l->n * (1 + 2 * sizeof(int64_t) + sizeof(int32_t));
    bytes += blocks * (sizeof(int32_t) + (l->value ? 9 * sizeof(double) : 0));
    if (!l->P.start) continue;
    bytes += hk_weights_bytes(&l->P) + hk_galerkin_bytes(&l->graph, &g->blocks, &g->terms);
    bytes += (size_t)g->blocks.start[g->blocks.n] * (sizeof(int32_t) + sizeof *g->slot);
    bytes += (size_t)(g->send_count + g->receive_count) * (9 * sizeof(double) + sizeof(int64_t));
  }
  return bytes;
}

/* ---- Values ---- */

typedef struct Fill {
  const HkPartLevel *level;
  HkPartLevel *next;
  const double *value;
} Fill;

/* A P, 12 floats a block. */
static void multiply_range(void *user, int64_t begin, int64_t end) {
  const Fill *f = user;
  const HkGalerkin *g = &f->level->galerkin.terms;
  for (int64_t i = begin; i < end; i++) {
    const double *A = f->value + 9 * f->level->start[i];
    for (int64_t b = g->row[i]; b < g->row[i + 1]; b++) {
      double sum[9] = {0};
      for (int64_t t = g->term[b]; t < g->term[b + 1]; t++)
        for (int k = 0; k < 9; k++) sum[k] += (double)g->weight[t] * A[9 * g->block[t] + k];
      for (int k = 0; k < 9; k++) g->AP[12 * b + k] = (float)sum[k];
    }
  }
}

/* P^T A P, each block into its place or into the message. */
static void project_range(void *user, int64_t begin, int64_t end) {
  const Fill *f = user;
  const HkPartGalerkin *p = &f->level->galerkin;
  const HkGalerkin *g = &p->terms;
  for (int64_t I = begin; I < end; I++)
    for (int32_t e = p->blocks.start[I]; e < p->blocks.start[I + 1]; e++) {
      if (p->slot[e] < 0) continue;
      double *to = f->next->value + 9 * p->slot[e];
      for (int64_t t = g->coarse_term[e]; t < g->coarse_term[e + 1]; t++)
        for (int k = 0; k < 9; k++)
          to[k] +=
              (double)g->coarse_weight[t] * (double)g->AP[12 * (int64_t)g->coarse_block[t] + k];
    }
}

static void send_blocks(const HkModel *m, const HkPartLevel *l, HkPartLevel *next) {
  const HkPartGalerkin *p = &l->galerkin;
  const HkGalerkin *g = &p->terms;
  HkRanks *ranks = m->part->ranks;
  for (int64_t q = 0; q < p->send_count; q++) {
    int32_t e = p->send[q];
    double *to = p->out + 9 * q;
    memset(to, 0, 9 * sizeof *to);
    for (int64_t t = g->coarse_term[e]; t < g->coarse_term[e + 1]; t++)
      for (int k = 0; k < 9; k++)
        to[k] += (double)g->coarse_weight[t] * (double)g->AP[12 * (int64_t)g->coarse_block[t] + k];
  }
  ranks->type->exchange(ranks, p->out, p->out_bytes, p->in, p->in_bytes);
  for (int64_t q = 0; q < p->receive_count; q++)
    for (int k = 0; k < 9; k++) next->value[9 * p->receive[q] + k] += p->in[9 * q + k];
}

void hk_part_levels_fill(HkPartLevels *h, const double *value) {
  const HkModel *m = h->model;
  for (int k = 0; k + 1 < h->count; k++) {
    HkPartLevel *l = &h->level[k], *next = l + 1;
    Fill f = {l, next, k == 0 ? value : l->value};
    memset(next->value, 0, (size_t)next->graph.start[next->n] * 9 * sizeof *next->value);
    hk_parallel_work(m->threads, l->n, 256, multiply_range, &f);
    hk_parallel_work(m->threads, l->galerkin.blocks.n, 256, project_range, &f);
    send_blocks(m, l, next);
  }
}
