/* The hierarchy of multigrid: levels, found once for a model; see multigrid.h. */
#include "linear/multigrid.h"

#include "base/sort.h"
#include "linear/coupling.h"
#include "linear/fine_terms.h"
#include "linear/level_terms.h"

#include "linear/galerkin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vertices of the last level up to which it is solved by a dense matrix. */
enum { DENSE_MAX_VERTICES = 32 };

/* Ratio of matrix sizes from which on a level is visited twice for each visit of the level above:
 * all visits together cost at most three times what the first ones do. */
enum { TWO_VISITS_MIN_RATIO = 3 };

static const char WHAT[] = "multigrid";

/* A level as it is found, numbered as the one before left it; `order` brings it into HkLevel's. */
typedef struct Draft {
  HkGraph graph;
  double *X; /* 3 n, rest positions */
  HkWeights P;
  int32_t rows;
  int32_t *order, *place; /* order[k] = the draft's vertex of row k, or -1; the other way round */
  HkSweepOrder sweep;
} Draft;

static void draft_destroy(const HkContext *c, Draft *d) {
  hk_graph_destroy(c, &d->graph);
  hk_weights_destroy(c, &d->P);
  hk_free(c, &d->X);
  hk_free(c, &d->order);
  hk_free(c, &d->place);
}

/* ---- Finding ---- */

/* Rows of springs are filled up to groups of vertices. */
HkStatus hk_multigrid_check(const HkModel *m, HkError *error) {
  int64_t slots = 0, entries = 2 * m->springs.count + HK_LANES * m->n, widest = 0;
  for (int64_t i = 0, most = 0; i < m->n; i++) {
    int64_t degree = m->adj_start[i + 1] - m->adj_start[i];
    if (i % HK_ROW_GROUP == 0) most = 0;
    if (degree > most) {
      slots += HK_ROW_GROUP * (degree - most);
      most = degree;
    }
    if (degree > widest) widest = degree;
  }
  if (widest >= HK_GALERKIN_ROW_BLOCKS_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "a vertex has too many neighbors (%lld) for the preconditioner 'multigrid'; "
                   "choose %s'block_jacobi'",
                   (long long)widest,
                   m->context.device == HK_CPU || m->context.device == HK_AUTO ? "'ic0' or " : "");
  if (slots > INT32_MAX || entries > INT32_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "%lld springs are too many for the preconditioner 'multigrid'; choose "
                   "'block_jacobi'",
                   (long long)m->springs.count);
  return HK_OK;
}

HkStatus hk_graph_of_model(const HkModel *m, HkGraph *g, HkError *error) {
  int64_t entries = 2 * m->springs.count + m->n;
  g->n = (int32_t)m->n;
  HK_TRY(hk_alloc(&m->context, &g->start, m->n + 1, sizeof *g->start, WHAT, error));
  HK_TRY(hk_alloc(&m->context, &g->column, entries, sizeof *g->column, WHAT, error));
  int32_t to = 0;
  for (int32_t i = 0; i < g->n; i++) {
    bool placed = false;
    int32_t last = -1;
    for (int64_t e = m->adj_start[i]; e <= m->adj_start[i + 1]; e++) {
      int32_t j = e < m->adj_start[i + 1] ? m->adj_vertex[e] : INT32_MAX;
      if (!placed && j > i) {
        g->column[to++] = i;
        placed = true;
      }
      if (j != INT32_MAX && j != last) g->column[to++] = j; /* springs side by side count once */
      last = j;
    }
    g->start[i + 1] = to;
  }
  return HK_OK;
}

static HkStatus set_order(const HkContext *c, Draft *d, int lanes, HkError *error) {
  HK_TRY(hk_alloc(c, &d->place, d->graph.n, sizeof *d->place, WHAT, error));
  HK_TRY(hk_sweep_order(c, &d->graph, lanes, &d->order, &d->rows, &d->sweep, error));
  for (int32_t k = 0; k < d->rows; k++)
    if (d->order[k] >= 0) d->place[d->order[k]] = k;
  return HK_OK;
}

/* The next draft, if it is much smaller; *made says so. */
static HkStatus coarsen(const HkContext *c, int threads, Draft *d, Draft *next, bool *made,
                        HkError *error) {
  int32_t *chosen = NULL;
  HkStatus status = hk_interpolation_find(c, threads, &d->graph, d->X, &d->P, &chosen, error);
  int32_t n = d->P.columns;
  *made = status >= 0 && n > 0 && n < 0.8 * d->graph.n;
  if (status >= 0 && *made)
    status = hk_galerkin_pattern(c, threads, &d->graph, &d->P, &next->graph, error);
  if (status >= 0 && *made)
    status = hk_alloc(c, &next->X, 3 * (int64_t)n, sizeof *next->X, WHAT, error);
  if (status >= 0 && *made)
    for (int32_t I = 0; I < n; I++)
      memcpy(next->X + 3 * (int64_t)I, d->X + 3 * (int64_t)chosen[I], 3 * sizeof *d->X);
  else
    hk_weights_destroy(c, &d->P);
  hk_free(c, &chosen);
  return status;
}

/* ---- Into the order of sweeps ---- */

static HkStatus order_graph(const HkContext *c, const Draft *d, HkLevel *l, HkError *error) {
  const HkGraph *from = &d->graph;
  HkGraph *to = &l->graph;
  int32_t entries = from->start[from->n] + d->rows - from->n;
  to->n = l->n = d->rows;
  HK_TRY(hk_alloc(c, &to->start, (int64_t)to->n + 1, sizeof *to->start, WHAT, error));
  HK_TRY(hk_alloc(c, &to->column, entries, sizeof *to->column, WHAT, error));
  HK_TRY(hk_alloc(c, &l->diagonal, to->n, sizeof *l->diagonal, WHAT, error));
  for (int32_t k = 0, at = 0; k < to->n; k++) {
    int32_t v = d->order[k];
    for (int32_t e = v < 0 ? 0 : from->start[v]; v >= 0 && e < from->start[v + 1]; e++)
      to->column[at++] = d->place[from->column[e]];
    if (v < 0) to->column[at++] = k;
    to->start[k + 1] = at;
    hk_sort_int32(to->column + to->start[k], at - to->start[k]);
    l->diagonal[k] = to->start[k];
    while (to->column[l->diagonal[k]] != k) l->diagonal[k]++;
  }
  return HK_OK;
}

static HkStatus order_weights(const HkContext *c, const Draft *d, const Draft *next, HkWeights *to,
                              HkError *error) {
  const HkWeights *from = &d->P;
  int32_t entries = from->start[from->rows];
  to->rows = d->rows;
  to->columns = from->columns;
  HK_TRY(hk_alloc(c, &to->start, (int64_t)to->rows + 1, sizeof *to->start, WHAT, error));
  HK_TRY(hk_alloc(c, &to->column, entries, sizeof *to->column, WHAT, error));
  HK_TRY(hk_alloc(c, &to->weight, entries, sizeof *to->weight, WHAT, error));
  for (int32_t k = 0, at = 0; k < to->rows; k++) {
    int32_t v = d->order[k];
    for (int32_t e = v < 0 ? 0 : from->start[v]; v >= 0 && e < from->start[v + 1]; e++, at++) {
      to->column[at] = next->place[from->column[e]];
      to->weight[at] = from->weight[e];
    }
    to->start[k + 1] = at;
  }
  return HK_OK;
}

/* parent: the largest weight of each row. */
static HkStatus find_parents(HkMultigrid *m, HkLevel *l, HkError *error) {
  const HkWeights *P = &l->P;
  HK_TRY(hk_alloc(&m->model->context, &l->parent, l->n, sizeof *l->parent, WHAT, error));
  m->bytes += (size_t)l->n * sizeof *l->parent;
  for (int32_t i = 0; i < l->n; i++) {
    float most = 0;
    l->parent[i] = -1;
    for (int32_t e = P->start[i]; e < P->start[i + 1]; e++)
      if (P->weight[e] > most) {
        most = P->weight[e];
        l->parent[i] = P->column[e];
      }
  }
  return HK_OK;
}

static HkStatus allocate_level(HkMultigrid *m, HkLevel *l, bool fine, HkError *error) {
  const HkContext *c = &m->model->context;
  int64_t n = l->n, blocks = fine ? 0 : l->graph.start[n];
  float **arrays[] = {&l->A, &l->D, &l->x, &l->b, &l->r};
  int64_t sizes[] = {fine ? 0 : 12 * blocks + 4, 12 * n + 4, 4 * n, 4 * n, 4 * n};
  for (int k = 0; k < 5; k++) {
    HK_TRY(hk_alloc_aligned(c, &l->memory[k], arrays[k], sizes[k], sizeof(float), WHAT, error));
    m->bytes += hk_aligned_bytes(sizes[k], sizeof(float));
  }
  m->bytes += (size_t)(l->graph.start[n] + 2 * n + 1) * sizeof(int32_t);
  m->bytes += hk_weights_bytes(&l->P);
  return HK_OK;
}

/* ---- All together ---- */

static HkStatus find_drafts(HkMultigrid *m, Draft *drafts, HkError *error) {
  const HkModel *model = m->model;
  const HkContext *c = &model->context;
  bool more = true;
  HK_TRY(hk_graph_of_model(model, &drafts[0].graph, error));
  HK_TRY(hk_alloc(c, &drafts[0].X, 3 * model->n, sizeof(double), WHAT, error));
  memcpy(drafts[0].X, model->x0, (size_t)model->n * 3 * sizeof(double));
  HK_TRY(set_order(c, &drafts[0], HK_LANES, error));
  for (m->count = 1; m->count < HK_LEVELS_MAX; m->count++) {
    Draft *d = &drafts[m->count - 1];
    if (d->graph.n <= DENSE_MAX_VERTICES) return HK_OK;
    HK_TRY(coarsen(c, model->threads, d, d + 1, &more, error));
    if (!more) return HK_OK;
    HK_TRY(set_order(c, d + 1, 1, error));
  }
  return HK_OK;
}

/* Floats of a level's matrix. */
static int64_t matrix_size(const HkMultigrid *m, int k) {
  const HkLevel *l = &m->level[k];
  if (k > 0) return 12 * (int64_t)l->graph.start[l->n];
  return 4 * HK_LANES * (int64_t)m->fine.lower[m->fine.groups];
}

static void set_visits(HkMultigrid *m) {
  m->level[0].visits = 1;
  for (int k = 1; k < m->count; k++) {
    bool small = TWO_VISITS_MIN_RATIO * matrix_size(m, k) <= matrix_size(m, k - 1);
    bool solved = m->exact && k == m->count - 1;
    m->level[k].visits = small && !solved ? 2 : 1;
  }
}

static HkStatus make_levels(HkMultigrid *m, const Draft *drafts, HkError *error) {
  const HkContext *c = &m->model->context;
  for (int k = 0; k < m->count; k++) {
    m->level[k].sweep = drafts[k].sweep;
    HK_TRY(order_graph(c, &drafts[k], &m->level[k], error));
    if (k + 1 < m->count)
      HK_TRY(order_weights(c, &drafts[k], &drafts[k + 1], &m->level[k].P, error));
    HK_TRY(allocate_level(m, &m->level[k], k == 0, error));
  }
  for (int k = 0; k + 1 < m->count; k++) {
    HkLevel *l = &m->level[k], *next = l + 1;
    HK_TRY(find_parents(m, l, error));
    HK_TRY(hk_galerkin_create(c, m->model->threads, &l->graph, &l->P, &next->graph, &l->galerkin,
                              error));
    m->bytes += hk_galerkin_bytes(&l->graph, &next->graph, &l->galerkin);
  }
  return HK_OK;
}

static HkStatus make(HkMultigrid *m, Draft *drafts, HkError *error) {
  const HkContext *c = &m->model->context;
  int exponent;
  frexp(m->model->total_mass / (double)m->model->n, &exponent);
  m->scale = ldexp(1, -exponent);
  HK_TRY(hk_isa_pick(&m->isa, error));
  HK_TRY(hk_multigrid_check(m->model, error));
  HK_TRY(find_drafts(m, drafts, error));
  HK_TRY(make_levels(m, drafts, error));
  m->vertex = drafts[0].order;
  m->row = drafts[0].place;
  m->bytes += ((size_t)m->level[0].n + (size_t)m->model->n) * sizeof *m->row;
  drafts[0].order = drafts[0].place = NULL;
  HK_TRY(hk_fine_create(m, error));
  int64_t last = m->level[m->count - 1].n, size = 3 * last;
  m->exact = m->count > 1 && last <= DENSE_MAX_VERTICES;
  set_visits(m);
  if (!m->exact) return HK_OK;
  HK_TRY(hk_alloc(c, &m->coarsest, size * size, sizeof *m->coarsest, WHAT, error));
  HK_TRY(hk_alloc(c, &m->dense, size * size, sizeof *m->dense, WHAT, error));
  m->bytes += (size_t)(size * size) * (sizeof *m->coarsest + sizeof *m->dense);
  return HK_OK;
}

HkStatus hk_multigrid_create(const HkModel *model, HkMultigrid **multigrid, HkError *error) {
  const HkContext *c = &model->context;
  Draft *drafts = NULL;
  HK_TRY(hk_alloc(c, multigrid, 1, sizeof **multigrid, WHAT, error));
  (*multigrid)->model = model;
  (*multigrid)->bytes = sizeof **multigrid;
  HkStatus status = hk_alloc(c, &drafts, HK_LEVELS_MAX, sizeof *drafts, WHAT, error);
  if (status >= 0) status = make(*multigrid, drafts, error);
  for (int k = 0; drafts && k < HK_LEVELS_MAX; k++) draft_destroy(c, &drafts[k]);
  hk_free(c, &drafts);
  if (status < 0) hk_multigrid_destroy(multigrid);
  return status;
}

void hk_multigrid_destroy(HkMultigrid **multigrid) {
  HkMultigrid *m = *multigrid;
  if (!m) return;
  HkContext c = m->model->context;
  for (int k = 0; k < m->count; k++) {
    HkLevel *l = &m->level[k];
    hk_graph_destroy(&c, &l->graph);
    hk_weights_destroy(&c, &l->P);
    hk_galerkin_destroy(&c, &l->galerkin);
    hk_couplings_destroy(&c, &l->couplings);
    hk_level_terms_destroy(&c, &l->terms);
    hk_free(&c, &l->diagonal);
    hk_free(&c, &l->parent);
    for (int array = 0; array < 5; array++) hk_free(&c, &l->memory[array]);
  }
  hk_fine_destroy(&c, &m->fine);
  hk_fine_terms_destroy(&c, &m->fine_terms);
  hk_free(&c, &m->vertex);
  hk_free(&c, &m->row);
  hk_free(&c, &m->coarsest);
  hk_free(&c, &m->dense);
  hk_free(&c, multigrid);
}
