/* Sums and ghosts of parts; see part.h. */
#define HK_PART_DEFINED_HERE
#include "model/part.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

void hk_part_release_source(HkModel *m) {
  if (!m->part) return;
  hk_model_destroy(&m->part->source);
  m->part->gathered = false;
}

void hk_part_destroy(HkModel *m) {
  const HkContext *c = &m->context;
  HkPart *p = m->part;
  if (!p) return;
  hk_part_release_source(m);
  if (p->halo) p->ranks->type->halo_destroy(&p->halo);
  void *arrays[] = {&p->number,    &p->ghost,      &p->vertices.run, &p->springs.run,
                    &p->cells.run, &p->ghost_rank, &p->ghost_vertex, &p->ghost_index,
                    &p->received,  &p->border};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(c, arrays[k]);
  hk_free(c, &m->part);
}

size_t hk_part_bytes(const HkModel *m) {
  const HkPart *p = m->part;
  if (!p) return 0;
  int64_t runs = p->vertices.count + p->springs.count + p->cells.count;
  return sizeof *p + (size_t)m->n * (sizeof *p->number + sizeof *p->ghost) +
         (size_t)runs * sizeof(HkRun64) + (size_t)p->border_count * sizeof *p->border +
         (size_t)p->ghost_count * (3 * sizeof *p->ghost_vertex + 3 * sizeof *p->received);
}

bool hk_model_part(const HkModel *m, HkPartView *view) {
  if (!m->part) return false;
  const HkPart *p = m->part;
  *view = (HkPartView){.total = p->total,
                       .springs = p->all_springs,
                       .pinned = p->all_pins,
                       .owned = p->owned,
                       .count = m->n,
                       .number = p->number,
                       .ghost = p->ghost};
  return true;
}

int64_t hk_part_find(const HkPart *p, int64_t number) {
  int64_t count = p->owned + p->ghost_count, at = hk_lower_bound_int64(p->number, count, number);
  return at < count && p->number[at] == number ? at : -1;
}

/* ---- Sums ---- */

typedef struct Owned {
  const HkRuns *runs;
  HkSumFn *fn;
  void *user;
  bool most;
} Owned;

/* Returns the first run that ends behind an entry. */
static int64_t first_run(const HkRuns *runs, int64_t entry) {
  int64_t low = 0, high = runs->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (runs->run[middle].end <= entry)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* fn over the owned entries of begin .. end - 1. */
static double owned_range(void *user, int64_t begin, int64_t end) {
  const Owned *o = user;
  double result = o->most ? -INFINITY : 0;
  for (int64_t k = first_run(o->runs, begin); k < o->runs->count; k++) {
    int64_t first = o->runs->run[k].begin, last = o->runs->run[k].end;
    if (first >= end) break;
    double value = o->fn(o->user, first > begin ? first : begin, last < end ? last : end);
    if (!o->most)
      result += value;
    else if (isnan(value) || value > result)
      result = value;
    if (o->most && isnan(result)) return result;
  }
  return result;
}

static double reduce(const HkModel *m, const HkRuns *runs, int64_t count, Owned owned,
                     double *partial) {
  if (!m->part)
    return owned.most ? hk_parallel_most(m->threads, count, owned.fn, owned.user, partial)
                      : hk_parallel_sum(m->threads, count, owned.fn, owned.user, partial);
  owned.runs = runs;
  if (!owned.most)
    return hk_model_sum(m, hk_parallel_sum(m->threads, count, owned_range, &owned, partial));
  double most = count > 0 ? hk_parallel_most(m->threads, count, owned_range, &owned, partial) : 0;
  return hk_model_most(m, runs->count > 0 ? most : -INFINITY);
}

double hk_sum_vertices(const HkModel *m, HkSumFn *fn, void *user, double *partial) {
  return reduce(m, m->part ? &m->part->vertices : NULL, m->n, (Owned){NULL, fn, user, false},
                partial);
}

double hk_most_vertices(const HkModel *m, HkSumFn *fn, void *user, double *partial) {
  return reduce(m, m->part ? &m->part->vertices : NULL, m->n, (Owned){NULL, fn, user, true},
                partial);
}

double hk_sum_springs(const HkModel *m, int64_t springs, HkSumFn *fn, void *user, double *partial) {
  return reduce(m, m->part ? &m->part->springs : NULL, springs, (Owned){NULL, fn, user, false},
                partial);
}

double hk_most_springs(const HkModel *m, int64_t springs, HkSumFn *fn, void *user,
                       double *partial) {
  return reduce(m, m->part ? &m->part->springs : NULL, springs, (Owned){NULL, fn, user, true},
                partial);
}

double hk_sum_list(const HkModel *m, int64_t count, HkSumFn *fn, void *user, double *partial) {
  return hk_model_sum(m, hk_parallel_sum(m->threads, count, fn, user, partial));
}

double hk_model_sum(const HkModel *m, double value) {
  if (m->part) hk_ranks_sum(m->part->ranks, &value, 1);
  return value;
}

double hk_model_most(const HkModel *m, double value) {
  if (m->part) hk_ranks_most(m->part->ranks, &value, 1);
  return value;
}

bool hk_model_any(const HkModel *m, bool mine) {
  return hk_model_most(m, mine) > 0;
}

HkStatus hk_model_agree(const HkModel *m, HkStatus status, HkError *error) {
  return m->part ? hk_ranks_agree(m->part->ranks, status, error) : status;
}

/* ---- Ghosts ---- */

void hk_part_exchange_begin(const HkModel *m, const double *values) {
  const HkPart *p = m->part;
  if (p) p->ranks->type->halo_begin(p->halo, values, p->received);
}

void hk_part_exchange_end(const HkModel *m, const double *values, double *to) {
  const HkPart *p = m->part;
  if (!p) return;
  p->ranks->type->halo_end(p->halo, values, p->received);
  for (int64_t q = 0; q < p->ghost_count; q++)
    memcpy(to + 3 * (int64_t)p->ghost_vertex[q], p->received + 3 * q, 3 * sizeof *to);
}

void hk_part_exchange(const HkModel *m, double *values) {
  hk_part_exchange_begin(m, values);
  hk_part_exchange_end(m, values, values);
}
