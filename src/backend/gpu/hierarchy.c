/* The multigrid hierarchy of a model for a device: see hierarchy.h.
 *
 * Levels are found as on the CPU (linear/multigrid.c): hk_interpolation_find picks the rows of the
 * next level and the weights, hk_galerkin_pattern the blocks of P^T A P, until few rows are left.
 * Drafts are numbered as on the CPU; `place` maps a draft to the rows of a level, which stand in
 * the order of the rows of the finer level that they were chosen from. The kernels of the device
 * fill values in, once for each Hessian. O(n) time and memory.
 */
#include "backend/gpu/hierarchy.h"

#include "backend/gpu/lists.h"
#include "base/sort.h"
#include "linear/galerkin.h"
#include "linear/multigrid.h"
#include "model/proportions.h"

#include <string.h>

static const char WHAT[] = "multigrid on a device";

_Static_assert((int)HK_GPU_LEVELS_MAX == (int)HK_LEVELS_MAX, "as many levels as on the CPU");

/* A level while it is found. */
typedef struct Draft {
  HkGraph graph;
  double *X; /* 3 n, rest positions */
  HkWeights P;
  int32_t *place; /* of each vertex of the draft: its row */
  int32_t *order; /* of each row: its vertex */
} Draft;

static void draft_destroy(const HkContext *c, Draft *d) {
  hk_graph_destroy(c, &d->graph);
  hk_weights_destroy(c, &d->P);
  hk_free(c, &d->X);
  hk_free(c, &d->place);
  hk_free(c, &d->order);
}

static HkStatus set_order(const HkContext *c, Draft *d, HkError *error) {
  HK_TRY(hk_alloc(c, &d->order, d->graph.n, sizeof *d->order, WHAT, error));
  for (int32_t v = 0; v < d->graph.n; v++) d->order[d->place[v]] = v;
  return HK_OK;
}

/* Sorts the rows of a level by falling length within windows, so that those of a slice are about as
 * long. */
static void sort_windows(Draft *d) {
  enum { WINDOW = 256 };
  const int32_t *start = d->graph.start, n = d->graph.n;
  for (int32_t q = 0; q < n; q++) { /* insertion sort, which is stable */
    int32_t v = d->order[q], length = start[v + 1] - start[v], at = q;
    for (; at % WINDOW > 0; at--) {
      int32_t before = d->order[at - 1];
      if (start[before + 1] - start[before] >= length) break;
      d->order[at] = before;
    }
    d->order[at] = v;
  }
  for (int32_t q = 0; q < n; q++) d->place[d->order[q]] = q;
}

/* Numbers the rows of the next level in the order of the rows that they were chosen from, sorted by
 * length within windows. */
static HkStatus place_next(const HkContext *c, const Draft *d, const int32_t *chosen, Draft *next,
                           HkError *error) {
  int32_t *coarse = NULL, row = 0;
  HK_TRY(hk_alloc(c, &next->place, next->graph.n, sizeof *next->place, WHAT, error));
  HK_TRY(hk_alloc(c, &coarse, d->graph.n, sizeof *coarse, WHAT, error));
  for (int32_t I = 0; I < next->graph.n; I++) coarse[d->place[chosen[I]]] = I + 1;
  for (int32_t q = 0; q < d->graph.n; q++)
    if (coarse[q] > 0) next->place[coarse[q] - 1] = row++;
  hk_free(c, &coarse);
  HK_TRY(set_order(c, next, error));
  sort_windows(next);
  return HK_OK;
}

static HkStatus fill_next(const HkContext *c, int threads, const Draft *d, const int32_t *chosen,
                          Draft *next, HkError *error) {
  int64_t n = d->P.columns;
  HK_TRY(hk_galerkin_pattern(c, threads, &d->graph, &d->P, &next->graph, error));
  HK_TRY(hk_alloc(c, &next->X, 3 * n, sizeof *next->X, WHAT, error));
  for (int64_t I = 0; I < n; I++)
    memcpy(next->X + 3 * I, d->X + 3 * (int64_t)chosen[I], 3 * sizeof *d->X);
  return place_next(c, d, chosen, next, error);
}

/* Finds the next level, if it is much smaller; *made says whether it is. */
static HkStatus coarsen(const HkModel *m, Draft *d, Draft *next, bool *made, HkError *error) {
  const double MAX_RATIO = 0.8;
  const HkContext *c = &m->context;
  int32_t *chosen = NULL;
  HkStatus status = hk_interpolation_find(c, m->threads, &d->graph, d->X, &d->P, &chosen, error);
  *made = status >= 0 && d->P.columns > 0 && d->P.columns < MAX_RATIO * d->graph.n;
  if (*made)
    status = fill_next(c, m->threads, d, chosen, next, error);
  else
    hk_weights_destroy(c, &d->P);
  hk_free(c, &chosen);
  return status;
}

static HkStatus find_drafts(const HkModel *m, const int32_t *place, Draft *drafts, int *count,
                            HkError *error) {
  const HkContext *c = &m->context;
  bool more = true;
  HK_TRY(hk_graph_of_model(m, &drafts[0].graph, error));
  HK_TRY(hk_alloc(c, &drafts[0].X, 3 * m->n, sizeof(double), WHAT, error));
  HK_TRY(hk_alloc(c, &drafts[0].place, m->n, sizeof *drafts[0].place, WHAT, error));
  memcpy(drafts[0].X, m->x0, (size_t)m->n * 3 * sizeof(double));
  memcpy(drafts[0].place, place, (size_t)m->n * sizeof *place);
  HK_TRY(set_order(c, &drafts[0], error));
  for (*count = 1; *count < HK_GPU_LEVELS_MAX; (*count)++) {
    Draft *d = &drafts[*count - 1];
    if (d->graph.n <= HK_GPU_DENSE_MAX) return HK_OK;
    HK_TRY(coarsen(m, d, d + 1, &more, error));
    if (!more) return HK_OK;
  }
  return HK_OK;
}

/* ---- From drafts to rows ---- */

/* Rows of a level that are filled in the order of `place`. */
typedef struct Fill {
  const Draft *draft, *next;
  HkGpuRows *to;
  bool sorts;
} Fill;

static void graph_range(void *user, int64_t begin, int64_t end) {
  const Fill *f = user;
  const HkGraph *g = &f->draft->graph;
  for (int64_t q = begin; q < end; q++) {
    int32_t v = f->draft->order[q], first = f->to->start[q], at = first;
    for (int32_t e = g->start[v]; e < g->start[v + 1]; e++)
      if (g->column[e] != v) f->to->column[at++] = f->draft->place[g->column[e]];
    if (f->sorts && at > first) hk_sort_short_int32(f->to->column + first, at - first);
  }
}

/* The entries of a level: without the diagonal, with rising columns, or on level 0 in the order of
 * the model's neighbors. */
static HkStatus rows_of_graph(const HkModel *m, const Draft *d, bool sorts, HkGpuRows *to,
                              HkError *error) {
  const HkContext *c = &m->context;
  const HkGraph *g = &d->graph;
  to->n = g->n;
  HK_TRY(hk_alloc(c, &to->start, (int64_t)g->n + 1, sizeof *to->start, WHAT, error));
  for (int32_t q = 0; q < g->n; q++) /* each row has its diagonal */
    to->start[q + 1] = to->start[q] + g->start[d->order[q] + 1] - g->start[d->order[q]] - 1;
  HK_TRY(hk_alloc_unset(c, &to->column, to->start[g->n], sizeof *to->column, WHAT, error));
  hk_parallel_for(m->threads, g->n, graph_range, &(Fill){d, NULL, to, sorts});
  return HK_OK;
}

static void weights_range(void *user, int64_t begin, int64_t end) {
  const Fill *f = user;
  const HkWeights *P = &f->draft->P;
  for (int64_t q = begin; q < end; q++) {
    int32_t at = f->to->start[q], row = f->draft->order[q];
    for (int32_t e = P->start[row]; e < P->start[row + 1]; e++, at++) {
      f->to->column[at] = f->next->place[P->column[e]];
      f->to->weight[at] = P->weight[e];
    }
  }
}

static HkStatus rows_of_weights(const HkModel *m, const Draft *d, const Draft *next, HkGpuRows *to,
                                HkError *error) {
  const HkContext *c = &m->context;
  const HkWeights *P = &d->P;
  to->n = P->rows;
  HK_TRY(hk_alloc(c, &to->start, (int64_t)P->rows + 1, sizeof *to->start, WHAT, error));
  HK_TRY(hk_alloc_unset(c, &to->column, P->start[P->rows], sizeof *to->column, WHAT, error));
  HK_TRY(hk_alloc_unset(c, &to->weight, P->start[P->rows], sizeof *to->weight, WHAT, error));
  for (int32_t q = 0; q < to->n; q++)
    to->start[q + 1] = to->start[q] + P->start[d->order[q] + 1] - P->start[d->order[q]];
  hk_parallel_for(m->threads, to->n, weights_range, &(Fill){d, next, to, false});
  return HK_OK;
}

static HkStatus transpose(const HkContext *c, const HkGpuRows *P, int32_t columns, HkGpuRows *to,
                          HkError *error) {
  HkWeights from = {P->n, columns, P->start, P->column, P->weight}, T = {0};
  HkStatus status = hk_weights_transpose(c, &from, &T, error);
  *to = (HkGpuRows){T.rows, T.start, T.column, T.weight};
  return status;
}

typedef struct Entries {
  const HkGpuRows *A;
  HkGpuLevel *level;
} Entries;

static void entries_range(void *user, int64_t begin, int64_t end) {
  const HkGpuRows *A = ((const Entries *)user)->A;
  const HkGpuLevel *l = ((const Entries *)user)->level;
  for (int64_t q = begin; q < end; q++) {
    int32_t first = q < l->n ? A->start[q] : 0, own = q < l->n ? A->start[q + 1] - first : 0;
    int32_t width = l->start[q / HK_GPU_SLICE + 1] - l->start[q / HK_GPU_SLICE];
    int32_t itself = (int32_t)(q < l->n ? q : l->n - 1);
    for (int32_t s = 0; s < width; s++)
      l->column[hk_gpu_list_at(l->start, q, s)] = s < own ? A->column[first + s] : itself;
  }
}

/* The slices and columns of a level; padding leads from a row to itself. */
static HkStatus set_entries(const HkModel *m, const HkGpuRows *A, HkGpuLevel *l, HkError *error) {
  const HkContext *c = &m->context;
  HkGpuLists lists = {0};
  int32_t *length = NULL;
  HkStatus status = hk_alloc(c, &length, A->n, sizeof *length, WHAT, error);
  for (int32_t q = 0; q < A->n && status >= 0; q++) length[q] = A->start[q + 1] - A->start[q];
  if (status >= 0) status = hk_gpu_lists_create(c, A->n, length, &lists, error);
  hk_free(c, &length);
  hk_free(c, &lists.weight);
  l->n = A->n;
  l->start = lists.start;
  l->column = lists.index;
  if (status >= 0)
    hk_parallel_for(m->threads, HK_GPU_SLICE * hk_gpu_slices(l->n), entries_range,
                    &(Entries){A, l});
  return status;
}

/* The step from a level to the next one. */
static HkStatus connect(const HkModel *m, const Draft *d, const HkGpuRows *A,
                        const HkGpuRows *coarse, bool springs, HkGpuLevel *l, HkError *error) {
  const HkContext *c = &m->context;
  HkGpuGalerkin g = {
      .context = c, .threads = m->threads, .A = *A, .coarse = *coarse, .springs = springs};
  HkStatus status = rows_of_weights(m, d, d + 1, &g.P, error);
  if (status >= 0) status = transpose(c, &g.P, coarse->n, &g.T, error);
  if (status >= 0) status = hk_gpu_lists_of_rows(c, m->threads, &g.P, &l->prolong, error);
  if (status >= 0) status = hk_gpu_lists_of_rows(c, m->threads, &g.T, &l->restrict_to, error);
  if (status >= 0) status = hk_gpu_galerkin_terms(&g, l + 1, l, error);
  hk_gpu_rows_destroy(c, &g.P);
  hk_gpu_rows_destroy(c, &g.T);
  return status;
}

/* ---- The cycle ---- */

/* Small levels are bound by the latency of launches, so that W-cycles have two cycles only on a few
 * levels, and only where one cycle converges slowly: in solids, and in surfaces without bending
 * springs, whose soft modes are not smooth. */
static void set_cycles(const HkModel *m, HkGpuHierarchy *h) {
  enum { SHEET_MIN_SPRINGS = 4, FIRST = 2, LAST = 3 };
  bool sheet = !hk_model_is_solid(m) && m->springs.count >= SHEET_MIN_SPRINGS * m->n;
  for (int k = 0; k < h->count; k++) {
    bool solved = h->exact && k == h->count - 1;
    h->level[k].cycles = !sheet && k >= FIRST && k <= LAST && !solved ? 2 : 1;
  }
}

/* ---- All together ---- */

static HkStatus make_levels(const HkModel *m, const Draft *drafts, HkGpuHierarchy *h,
                            HkError *error) {
  const HkContext *c = &m->context;
  HkGpuRows A = {0}, next = {0};
  HkStatus status = rows_of_graph(m, &drafts[0], false, &A, error);
  if (status >= 0) status = set_entries(m, &A, &h->level[0], error);
  for (int k = 0; k + 1 < h->count && status >= 0; k++) {
    status = rows_of_graph(m, &drafts[k + 1], true, &next, error);
    if (status >= 0) status = set_entries(m, &next, &h->level[k + 1], error);
    if (status >= 0) status = connect(m, &drafts[k], &A, &next, k == 0, &h->level[k], error);
    hk_gpu_rows_destroy(c, &A);
    A = next;
    next = (HkGpuRows){0};
  }
  hk_gpu_rows_destroy(c, &A);
  hk_gpu_rows_destroy(c, &next);
  return status;
}

static HkStatus make(const HkModel *m, const int32_t *place, Draft *drafts, HkGpuHierarchy *h,
                     HkError *error) {
  int exponent;
  HK_TRY(hk_multigrid_check(m, error));
  if (m->springs.count == 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the preconditioner 'multigrid' needs springs, of which this model has none; "
                   "choose 'block_jacobi'");
  HK_TRY(find_drafts(m, place, drafts, &h->count, error));
  HK_TRY(make_levels(m, drafts, h, error));
  frexp(m->total_mass / (double)m->n, &exponent);
  h->scale = ldexp(1, -exponent);
  h->exact = h->count > 1 && h->level[h->count - 1].n <= HK_GPU_DENSE_MAX;
  set_cycles(m, h);
  return HK_OK;
}

HkStatus hk_gpu_hierarchy_create(const HkModel *model, const int32_t *place,
                                 HkGpuHierarchy **hierarchy, HkError *error) {
  const HkContext *c = &model->context;
  Draft *drafts = NULL;
  HK_TRY(hk_alloc(c, hierarchy, 1, sizeof **hierarchy, WHAT, error));
  (*hierarchy)->context = *c;
  HkStatus status = hk_alloc(c, &drafts, HK_GPU_LEVELS_MAX, sizeof *drafts, WHAT, error);
  if (status >= 0) status = make(model, place, drafts, *hierarchy, error);
  for (int k = 0; drafts && k < HK_GPU_LEVELS_MAX; k++) draft_destroy(c, &drafts[k]);
  hk_free(c, &drafts);
  if (status < 0) hk_gpu_hierarchy_destroy(hierarchy);
  return status;
}

void hk_gpu_hierarchy_destroy(HkGpuHierarchy **hierarchy) {
  HkGpuHierarchy *h = *hierarchy;
  if (!h) return;
  HkContext c = h->context;
  for (int k = 0; k < HK_GPU_LEVELS_MAX; k++) {
    HkGpuLevel *l = &h->level[k];
    HkGpuLists *lists[] = {&l->prolong,   &l->restrict_to, &l->pair_entries,
                           &l->pair_rows, &l->row_rows,    &l->row_entries};
    hk_free(&c, &l->start);
    hk_free(&c, &l->column);
    hk_free(&c, &l->pair);
    for (int q = 0; q < 6; q++) hk_gpu_lists_destroy(&c, lists[q]);
  }
  hk_free(&c, hierarchy);
}
