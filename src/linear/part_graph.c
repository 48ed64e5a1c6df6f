/* The neighborhood of a rank in a graph that is spread over ranks; see part_graph.h.
 *
 * Layer by layer, a rank asks the owners of the columns that it does not have for their rows.
 */
#include "linear/part_graph.h"

#include "base/sort.h"

#include <string.h>

static const char WHAT[] = "multigrid on ranks";

void hk_ranks_offsets(HkRanks *ranks, int64_t own, int64_t *offset) {
  ranks->type->gather(ranks, &own, sizeof own, offset + 1);
  offset[0] = 0;
  for (int r = 0; r < ranks->count; r++) offset[r + 1] += offset[r];
}

int hk_ranks_owner(const HkRanks *ranks, const int64_t *offset, int64_t number) {
  int low = 0, high = ranks->count - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (offset[middle + 1] <= number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

HkStatus hk_ranks_send(const HkContext *c, HkRanks *ranks, const void *out,
                       const int64_t *out_bytes, void **in, int64_t *in_bytes, HkError *error) {
  int64_t size = 0;
  ranks->type->counts(ranks, out_bytes, in_bytes);
  for (int r = 0; r < ranks->count; r++) size += in_bytes[r];
  HK_TRY(hk_ranks_agree(ranks, hk_alloc_unset(c, in, size, 1, WHAT, error), error));
  ranks->type->exchange(ranks, out, out_bytes, *in, in_bytes);
  return HK_OK;
}

/* ---- Layers ---- */

/* Rows of other ranks in the order in which they came. */
typedef struct Others {
  const HkOwnRows *rows;
  int64_t count, capacity;
  int64_t *number;
  double *X;
  int64_t *start; /* count + 1 */
  int64_t *column;
  int64_t x_capacity, start_capacity, column_capacity;
  int64_t *known; /* the numbers, rising */
  int64_t known_capacity;
  int64_t *wanted; /* the next layer, rising */
  int64_t wanted_count, wanted_capacity;
  int64_t *bytes, *in_bytes; /* ranks */
} Others;

static bool is_own(const HkOwnRows *rows, int64_t number) {
  int rank = rows->ranks->rank;
  return number >= rows->offset[rank] && number < rows->offset[rank + 1];
}

static bool is_known(const Others *o, int64_t number) {
  int64_t at = hk_lower_bound_int64(o->known, o->count, number);
  return at < o->count && o->known[at] == number;
}

/* Appends the unknown columns of a list of entries to `wanted`. */
static HkStatus want(Others *o, const int64_t *column, int64_t begin, int64_t end, HkError *error) {
  for (int64_t e = begin; e < end; e++) {
    if (is_own(o->rows, column[e]) || is_known(o, column[e])) continue;
    HK_TRY(hk_grow(o->rows->context, &o->wanted, &o->wanted_capacity, o->wanted_count + 1,
                   sizeof *o->wanted, WHAT, error));
    o->wanted[o->wanted_count++] = column[e];
  }
  return HK_OK;
}

static void make_unique(int64_t *list, int64_t *count) {
  int64_t kept = 0;
  hk_sort_int64(list, *count);
  for (int64_t k = 0; k < *count; k++)
    if (k == 0 || list[k] != list[kept - 1]) list[kept++] = list[k];
  *count = kept;
}

/* Bytes of the numbers of a rising list that belong to each rank. */
static void count_by_owner(const HkOwnRows *rows, const int64_t *list, int64_t count,
                           int64_t *bytes) {
  memset(bytes, 0, (size_t)rows->ranks->count * sizeof *bytes);
  for (int64_t k = 0; k < count; k++)
    bytes[hk_ranks_owner(rows->ranks, rows->offset, list[k])] += (int64_t)sizeof *list;
}

/* An answer is a stream of eight-byte words: for each row the number of its columns, its position,
 * its columns. */
static int64_t words_of(const HkOwnRows *rows, int64_t row) {
  return 4 + rows->start[row + 1] - rows->start[row];
}

static HkStatus write_answers(const HkOwnRows *rows, const int64_t *asked,
                              const int64_t *asked_bytes, int64_t **answer, int64_t *bytes,
                              HkError *error) {
  int64_t first = rows->offset[rows->ranks->rank], words = 0, at = 0, to = 0;
  for (int r = 0; r < rows->ranks->count; r++) {
    int64_t count = asked_bytes[r] / (int64_t)sizeof *asked, before = words;
    for (int64_t k = 0; k < count; k++) words += words_of(rows, asked[at++] - first);
    bytes[r] = (words - before) * (int64_t)sizeof **answer;
  }
  HK_TRY(hk_alloc_unset(rows->context, answer, words, sizeof **answer, WHAT, error));
  for (int64_t k = 0; k < at; k++) {
    int64_t row = asked[k] - first, count = rows->start[row + 1] - rows->start[row];
    (*answer)[to] = count;
    memcpy(*answer + to + 1, rows->X + 3 * row, 3 * sizeof *rows->X);
    if (count)
      memcpy(*answer + to + 4, rows->column + rows->start[row], (size_t)count * sizeof **answer);
    to += 4 + count;
  }
  return HK_OK;
}

static HkStatus keep_answers(Others *o, const int64_t *answer, HkError *error) {
  const HkContext *c = o->rows->context;
  int64_t count = o->count + o->wanted_count;
  HK_TRY(hk_grow(c, &o->number, &o->capacity, count, sizeof *o->number, WHAT, error));
  HK_TRY(hk_grow(c, &o->X, &o->x_capacity, count, 3 * sizeof *o->X, WHAT, error));
  HK_TRY(hk_grow(c, &o->start, &o->start_capacity, count + 1, sizeof *o->start, WHAT, error));
  HK_TRY(hk_grow(c, &o->known, &o->known_capacity, count, sizeof *o->known, WHAT, error));
  if (o->count == 0) o->start[0] = 0;
  for (int64_t k = 0, at = 0; k < o->wanted_count; k++) {
    int64_t columns = answer[at], to = o->start[o->count];
    HK_TRY(
        hk_grow(c, &o->column, &o->column_capacity, to + columns, sizeof *o->column, WHAT, error));
    memcpy(o->X + 3 * o->count, answer + at + 1, 3 * sizeof *o->X);
    if (columns) memcpy(o->column + to, answer + at + 4, (size_t)columns * sizeof *answer);
    o->number[o->count] = o->wanted[k];
    o->start[++o->count] = to + columns;
    at += 4 + columns;
  }
  memcpy(o->known, o->number, (size_t)o->count * sizeof *o->known);
  hk_sort_int64(o->known, o->count);
  return HK_OK;
}

/* Fetches the rows of `wanted` from their owners. */
static HkStatus fetch(Others *o, HkError *error) {
  const HkContext *c = o->rows->context;
  HkRanks *ranks = o->rows->ranks;
  void *asked = NULL, *received = NULL;
  int64_t *answer = NULL;
  count_by_owner(o->rows, o->wanted, o->wanted_count, o->bytes);
  HkStatus status = hk_ranks_send(c, ranks, o->wanted, o->bytes, &asked, o->in_bytes, error);
  if (status >= 0) {
    status = write_answers(o->rows, asked, o->in_bytes, &answer, o->bytes, error);
    status = hk_ranks_agree(ranks, status, error);
  }
  if (status >= 0)
    status = hk_ranks_send(c, ranks, answer, o->bytes, &received, o->in_bytes, error);
  if (status >= 0) {
    if (o->wanted_count > 0) status = keep_answers(o, received, error);
    status = hk_ranks_agree(ranks, status, error);
  }
  hk_free(c, &asked);
  hk_free(c, &answer);
  hk_free(c, &received);
  return status;
}

static HkStatus fetch_layers(Others *o, int layers, HkError *error) {
  const HkOwnRows *rows = o->rows;
  int64_t from = 0;
  for (int layer = 0; layer < layers; layer++) {
    o->wanted_count = 0;
    HkStatus status = HK_OK;
    if (layer == 0)
      status = want(o, rows->column, 0, rows->start[rows->count], error);
    else if (o->count > from)
      status = want(o, o->column, o->start[from], o->start[o->count], error);
    HK_TRY(hk_ranks_agree(rows->ranks, status, error));
    make_unique(o->wanted, &o->wanted_count);
    from = o->count;
    HK_TRY(fetch(o, error));
  }
  return HK_OK;
}

static void release_others(Others *o) {
  const HkContext *c = o->rows->context;
  void *arrays[] = {&o->number, &o->X,      &o->start, &o->column,
                    &o->known,  &o->wanted, &o->bytes, &o->in_bytes};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(c, arrays[k]);
}

/* ---- The neighborhood ---- */

/* The place of a number in the neighborhood, or -1. */
static int32_t place_of(const HkNeighborhood *h, const HkOwnRows *rows, int64_t number) {
  if (is_own(rows, number)) return (int32_t)(number - rows->offset[rows->ranks->rank]);
  int64_t at = h->own + hk_lower_bound_int64(h->number + h->own, h->n - h->own, number);
  return at < h->n && h->number[at] == number ? (int32_t)at : -1;
}

/* Writes a row with its diagonal; returns the number of its columns. */
static int32_t write_row(HkNeighborhood *h, const HkOwnRows *rows, int32_t row,
                         const int64_t *column, int64_t count, int32_t *to) {
  int32_t used = 0;
  bool diagonal = false;
  for (int64_t e = 0; e < count; e++) {
    int32_t place = place_of(h, rows, column[e]);
    if (place < 0) continue;
    diagonal |= place == row;
    to[used++] = place;
  }
  if (!diagonal) to[used++] = row;
  hk_sort_int32(to, used);
  return used;
}

static HkStatus make_graph(HkNeighborhood *h, const Others *o, const int64_t *order,
                           HkError *error) {
  const HkContext *c = h->context;
  const HkOwnRows *rows = o->rows;
  HkGraph *g = &h->graph;
  int64_t entries = rows->start[rows->count] + h->n + (o->count ? o->start[o->count] : 0);
  if (entries > INT32_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "%lld springs on one rank are too many for the preconditioner 'multigrid'; use "
                   "more ranks",
                   (long long)entries / 2);
  g->n = h->n;
  HK_TRY(hk_alloc(c, &g->start, (int64_t)g->n + 1, sizeof *g->start, WHAT, error));
  HK_TRY(hk_alloc_unset(c, &g->column, entries, sizeof *g->column, WHAT, error));
  for (int32_t i = 0; i < h->n; i++) {
    int64_t k = i < h->own ? i : order[i - h->own];
    const int64_t *start = i < h->own ? rows->start : o->start;
    const int64_t *column = i < h->own ? rows->column : o->column;
    int64_t begin = start[k], count = start[k + 1] - begin;
    g->start[i + 1] =
        g->start[i] + write_row(h, rows, i, column + begin, count, g->column + g->start[i]);
  }
  return HK_OK;
}

/* order[k] = the place among the others of the k-th one by number. */
static HkStatus order_others(const Others *o, int64_t **order, HkError *error) {
  const HkContext *c = o->rows->context;
  HK_TRY(hk_alloc(c, order, o->count, sizeof **order, WHAT, error));
  for (int64_t k = 0; k < o->count; k++)
    (*order)[hk_lower_bound_int64(o->known, o->count, o->number[k])] = k;
  return HK_OK;
}

static HkStatus fill(HkNeighborhood *h, const Others *o, HkError *error) {
  const HkContext *c = h->context;
  const HkOwnRows *rows = o->rows;
  int64_t *order = NULL;
  h->own = rows->count;
  h->n = rows->count + (int32_t)o->count;
  HK_TRY(hk_alloc(c, &h->number, h->n, sizeof *h->number, WHAT, error));
  HK_TRY(hk_alloc(c, &h->X, 3 * (int64_t)h->n, sizeof *h->X, WHAT, error));
  HK_TRY(hk_alloc(c, &h->take, rows->ranks->count + 1, sizeof *h->take, WHAT, error));
  HK_TRY(hk_alloc(c, &h->give_start, rows->ranks->count + 1, sizeof *h->give_start, WHAT, error));
  HK_TRY(order_others(o, &order, error));
  for (int32_t i = 0; i < h->own; i++) h->number[i] = rows->offset[rows->ranks->rank] + i;
  if (h->own) memcpy(h->X, rows->X, (size_t)h->own * 3 * sizeof *h->X);
  for (int64_t k = 0; k < o->count; k++) {
    h->number[h->own + k] = o->known[k];
    memcpy(h->X + 3 * (h->own + k), o->X + 3 * order[k], 3 * sizeof *h->X);
    h->take[hk_ranks_owner(rows->ranks, rows->offset, o->known[k]) + 1]++;
  }
  h->take[0] = h->own;
  for (int r = 0; r < rows->ranks->count; r++) h->take[r + 1] += h->take[r];
  HkStatus status = make_graph(h, o, order, error);
  hk_free(c, &order);
  return status;
}

/* Sends the numbers that this rank has to their owners, which keep them as `give`. */
static HkStatus make_plan(HkNeighborhood *h, Others *o, HkError *error) {
  const HkOwnRows *rows = o->rows;
  void *asked = NULL;
  count_by_owner(rows, o->known, o->count, o->bytes);
  HK_TRY(hk_ranks_send(h->context, h->ranks, o->known, o->bytes, &asked, o->in_bytes, error));
  const int64_t *number = asked;
  int64_t total = 0;
  for (int r = 0; r < h->ranks->count; r++) {
    total += o->in_bytes[r] / (int64_t)sizeof *number;
    h->give_start[r + 1] = total;
  }
  HkStatus status = hk_alloc(h->context, &h->give, total, sizeof *h->give, WHAT, error);
  for (int64_t k = 0; k < total && status >= 0; k++)
    h->give[k] = (int32_t)(number[k] - rows->offset[h->ranks->rank]);
  hk_free(h->context, &asked);
  return hk_ranks_agree(h->ranks, status, error);
}

HkStatus hk_neighborhood_create(const HkOwnRows *rows, int layers, HkNeighborhood *h,
                                HkError *error) {
  Others o = {.rows = rows};
  *h = (HkNeighborhood){.context = rows->context, .ranks = rows->ranks};
  HkStatus status =
      hk_alloc(rows->context, &o.bytes, rows->ranks->count, sizeof *o.bytes, WHAT, error);
  if (status >= 0)
    status =
        hk_alloc(rows->context, &o.in_bytes, rows->ranks->count, sizeof *o.in_bytes, WHAT, error);
  status = hk_ranks_agree(rows->ranks, status, error);
  if (status >= 0) status = fetch_layers(&o, layers, error);
  if (status >= 0) status = hk_ranks_agree(rows->ranks, fill(h, &o, error), error);
  if (status >= 0) status = make_plan(h, &o, error);
  release_others(&o);
  return status;
}

void hk_neighborhood_destroy(HkNeighborhood *h) {
  if (!h->context) return;
  hk_graph_destroy(h->context, &h->graph);
  hk_free(h->context, &h->number);
  hk_free(h->context, &h->X);
  hk_free(h->context, &h->take);
  hk_free(h->context, &h->give_start);
  hk_free(h->context, &h->give);
}

HkStatus hk_neighborhood_exchange(const HkNeighborhood *h, void *values, size_t size,
                                  HkError *error) {
  const HkContext *c = h->context;
  int ranks = h->ranks->count;
  char *out = NULL, *at = values;
  int64_t *out_bytes = NULL, *in_bytes = NULL, items = h->give_start[ranks];
  HkStatus status = hk_alloc_unset(c, &out, items, size, WHAT, error);
  if (status >= 0) status = hk_alloc(c, &out_bytes, ranks, sizeof *out_bytes, WHAT, error);
  if (status >= 0) status = hk_alloc(c, &in_bytes, ranks, sizeof *in_bytes, WHAT, error);
  status = hk_ranks_agree(h->ranks, status, error);
  if (status >= 0) {
    for (int64_t k = 0; k < items; k++)
      memcpy(out + k * (int64_t)size, at + h->give[k] * (int64_t)size, size);
    for (int r = 0; r < ranks; r++) {
      out_bytes[r] = (h->give_start[r + 1] - h->give_start[r]) * (int64_t)size;
      in_bytes[r] = (h->take[r + 1] - h->take[r]) * (int64_t)size;
    }
    h->ranks->type->exchange(h->ranks, out, out_bytes, at + h->own * (int64_t)size, in_bytes);
  }
  hk_free(c, &out);
  hk_free(c, &out_bytes);
  hk_free(c, &in_bytes);
  return status;
}
