/* The vertices of a coarser level, and the weights by which the others follow them.
 *
 * Vertices become coarse one after the other, unless one nearer than R along the mesh is coarse
 * already; R is SPACING times the mean distance of a vertex to its nearest neighbor. A vertex i
 * then follows the point, the two, three or four coarse ones among those around it between which it
 * lies best: barycentric coordinates
 *
 *     sum_I P_iI = 1,   sum_I P_iI X_I as near as possible to X_i
 *
 * so that a motion that is linear in X is passed on exactly. Best is the smallest
 *
 *     sum |P_iI| |X_I - X_i|^2 + 8 R^2 (sum of negative weights) + 20 |miss|^2 + R^2 / 1000 a point
 *
 * Weights below 0.03 are left out.
 */
#include "linear/interpolation.h"

#include "base/vec.h"

#include <string.h>

static const double SPACING = 2.0 - 1e-6;
/* Radius in units of R within which a vertex has coarse candidates, their number at most, and the
 * coarse vertices that it interpolates from at most. */
static const double SEARCH_RADIUS = 2.2;
enum { MAX_CANDIDATES = 8, MAX_POINTS = 4 };

typedef struct Near {
  double distance;
  int32_t coarse;
} Near;

struct HkCoarsening {
  const HkContext *context;
  const HkGraph *graph;
  const double *X;
  double R;
  double far2;     /* the least square of a distance of at least SEARCH_RADIUS R */
  int32_t *chosen; /* the vertex of a coarse one */
  int32_t count;
  Near *near;     /* MAX_CANDIDATES a vertex, by rising distance */
  uint8_t *known; /* how many of them */
  uint8_t *covered;
  int32_t *seen, *queue;
};
typedef HkCoarsening Search;

double hk_coarsening_spacing(const HkGraph *g, const double *X, int32_t rows, int32_t *count) {
  double sum = 0;
  *count = 0;
  for (int32_t i = 0; i < rows; i++) {
    double nearest = INFINITY;
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) {
      int32_t j = g->column[e];
      double d = j == i ? 0 : hk_distance(X + 3 * (int64_t)i, X + 3 * (int64_t)j);
      if (d > 0 && d < nearest) nearest = d;
    }
    if (isinf(nearest)) continue;
    sum += nearest;
    (*count)++;
  }
  return sum;
}

/* Keeps the coarse vertex among the nearest ones of i. */
static void keep(Search *s, int32_t i, int32_t coarse, double distance) {
  Near *near = s->near + (int64_t)MAX_CANDIDATES * i;
  int at = s->known[i];
  if (at == MAX_CANDIDATES && near[at - 1].distance <= distance) return;
  if (at == MAX_CANDIDATES)
    at--;
  else
    s->known[i]++;
  for (; at > 0 && near[at - 1].distance > distance; at--) near[at] = near[at - 1];
  near[at] = (Near){distance, coarse};
}

/* Returns the least number whose root is at least r >= 0: a comparison of squares then is one of
 * distances, without the root. */
static double least_square(double r) {
  double square = r * r;
  while (square > 0 && sqrt(square) >= r) square = nextafter(square, 0);
  while (sqrt(square) < r) square = nextafter(square, INFINITY);
  return square;
}

static double distance2(const double a[3], const double b[3]) {
  double d[3];
  hk_sub(a, b, d);
  return hk_dot(d, d);
}

void hk_coarsening_choose(Search *s, int32_t i) {
  const HkGraph *g = s->graph;
  int32_t coarse = s->count++, end = 0;
  s->chosen[coarse] = i;
  s->queue[end++] = i;
  s->seen[i] = coarse;
  for (int32_t at = 0; at < end; at++) {
    int32_t v = s->queue[at];
    double distance = hk_distance(s->X + 3 * (int64_t)v, s->X + 3 * (int64_t)i);
    keep(s, v, coarse, distance);
    if (distance < s->R) s->covered[v] = 1;
    for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int32_t u = g->column[e];
      if (s->seen[u] == coarse) continue;
      if (distance2(s->X + 3 * (int64_t)u, s->X + 3 * (int64_t)i) >= s->far2) continue;
      s->seen[u] = coarse;
      s->queue[end++] = u;
    }
  }
}

/* ---- Weights ---- */

typedef struct Offset { /* X_I - X_i in units of R, and the square of its length */
  double d[3], distance2;
} Offset;

typedef struct Choice {
  double score, weight[MAX_POINTS];
  int32_t coarse[MAX_POINTS];
  int count;
} Choice;

/* The functions from here to try_points are inline, so that compilers unroll them for each number
 * of points. */

/* x with M x = r for the first `size` rows of a symmetric positive definite M; false if it is too
 * flat. */
static inline bool solve_small(int size, double M[3][3], double r[3]) {
  for (int k = 0; k < size; k++) {
    if (!(M[k][k] > 1e-6)) return false;
    for (int i = k + 1; i < size; i++) {
      double f = M[i][k] / M[k][k];
      for (int j = k; j < size; j++) M[i][j] -= f * M[k][j];
      r[i] -= f * r[k];
    }
  }
  for (int k = size - 1; k >= 0; k--) {
    for (int j = k + 1; j < size; j++) r[k] -= M[k][j] * r[j];
    r[k] /= M[k][k];
  }
  return true;
}

/* Barycentric coordinates of the vertex in the points, by least squares: the first
 * point is the origin, the others span. Returns the square of what is missed, or
 * a negative number where they do not span. */
static inline double locate(int count, const Offset *offset, const int *at,
                            double weight[MAX_POINTS]) {
  double span[3][3], M[3][3] = {{0}}, r[3] = {0}, miss[3];
  const double *origin = offset[at[0]].d;
  for (int a = 1; a < count; a++) hk_sub(offset[at[a]].d, origin, span[a - 1]);
  for (int a = 0; a < count - 1; a++) {
    for (int b = 0; b < count - 1; b++) M[a][b] = hk_dot(span[a], span[b]);
    r[a] = -hk_dot(span[a], origin);
  }
  if (!solve_small(count - 1, M, r)) return -1;
  memcpy(miss, origin, sizeof miss);
  weight[0] = 1;
  for (int a = 1; a < count; a++) {
    weight[a] = r[a - 1];
    weight[0] -= r[a - 1];
    hk_axpy(r[a - 1], span[a - 1], miss);
  }
  return hk_dot(miss, miss);
}

static inline void try_points(const Near *near, const Offset *offset, const int *at, int count,
                              Choice *best, double *least_miss) {
  double weight[MAX_POINTS], miss = locate(count, offset, at, weight);
  if (miss < 0) return;
  if (miss < *least_miss) *least_miss = miss;
  double score = 20 * miss + 1e-3 * count;
  for (int a = 0; a < count; a++)
    score += fabs(weight[a]) * offset[at[a]].distance2 + (weight[a] < 0 ? -8 * weight[a] : 0);
  if (score >= best->score) return;
  *best = (Choice){.score = score, .count = count};
  for (int a = 0; a < count; a++) {
    best->weight[a] = weight[a];
    best->coarse[a] = near[at[a]].coarse;
  }
}

/* All choices of one to four points; four only where three leave the vertex outside their plane.
 *
 * Points stand by rising distance, and weights add up to 1: the score of a choice is larger than
 * the square of the distance of its first point, so that the search ends where that is not less
 * than the best score. */
static Choice best_points(const Search *s, int32_t i) {
  const Near *near = s->near + (int64_t)MAX_CANDIDATES * i;
  Offset offset[MAX_CANDIDATES];
  const double FLAT = 1e-6;
  double miss = INFINITY;
  Choice best = {.score = INFINITY};
  int count = s->known[i], at[MAX_POINTS];
  for (int k = 0; k < count; k++) {
    hk_sub(s->X + 3 * (int64_t)s->chosen[near[k].coarse], s->X + 3 * (int64_t)i, offset[k].d);
    for (int c = 0; c < 3; c++) offset[k].d[c] /= s->R;
    offset[k].distance2 = hk_dot(offset[k].d, offset[k].d);
  }
  for (at[0] = 0; at[0] < count; at[0]++) {
    if (miss < FLAT && offset[at[0]].distance2 >= best.score) break;
    try_points(near, offset, at, 1, &best, &miss);
    for (at[1] = at[0] + 1; at[1] < count; at[1]++) {
      try_points(near, offset, at, 2, &best, &miss);
      for (at[2] = at[1] + 1; at[2] < count && count <= MAX_CANDIDATES; at[2]++)
        try_points(near, offset, at, 3, &best, &miss);
    }
  }
  if (miss < FLAT) return best;
  for (at[0] = 0; at[0] < count && offset[at[0]].distance2 < best.score; at[0]++)
    for (at[1] = at[0] + 1; at[1] < count; at[1]++)
      for (at[2] = at[1] + 1; at[2] < count; at[2]++)
        for (at[3] = at[2] + 1; at[3] < count; at[3]++)
          try_points(near, offset, at, 4, &best, &miss);
  return best;
}

/* Leaves small weights out, and makes the sum of the others 1. */
static void trim(Choice *c) {
  double sum = 0;
  int count = 0;
  for (int a = 0; a < c->count; a++) {
    if (fabs(c->weight[a]) < 0.03) continue;
    c->weight[count] = c->weight[a];
    c->coarse[count] = c->coarse[a];
    sum += c->weight[count++];
  }
  for (int a = 0; a < count; a++) c->weight[a] /= sum;
  c->count = count;
}

typedef struct Weigh {
  const Search *search;
  Choice *choices;
} Weigh;

static void weigh_range(void *user, int64_t begin, int64_t end) {
  const Weigh *w = user;
  const Search *s = w->search;
  for (int64_t i = begin; i < end; i++) {
    const Near *near = s->near + MAX_CANDIDATES * i;
    Choice *c = &w->choices[i];
    if (s->known[i] > 0 && s->chosen[near[0].coarse] == i) {
      *c = (Choice){.weight = {1}, .coarse = {near[0].coarse}, .count = 1};
      continue;
    }
    *c = s->known[i] > 0 ? best_points(s, (int32_t)i) : (Choice){0};
    trim(c);
  }
}

/* ---- All together ---- */

static HkStatus store(const HkContext *c, int32_t rows, const Search *s, const Choice *choices,
                      HkWeights *P, HkError *error) {
  int32_t entries = 0;
  for (int32_t i = 0; i < rows; i++) entries += choices[i].count;
  P->rows = rows;
  P->columns = s->count;
  HK_TRY(hk_alloc(c, &P->start, (int64_t)rows + 1, sizeof *P->start, "multigrid", error));
  HK_TRY(hk_alloc(c, &P->column, entries, sizeof *P->column, "multigrid", error));
  HK_TRY(hk_alloc(c, &P->weight, entries, sizeof *P->weight, "multigrid", error));
  for (int32_t i = 0, to = 0; i < rows; i++) {
    for (int a = 0; a < choices[i].count; a++, to++) {
      P->column[to] = choices[i].coarse[a];
      P->weight[to] = (float)choices[i].weight[a];
    }
    P->start[i + 1] = to;
  }
  return HK_OK;
}

HkStatus hk_coarsening_create(const HkContext *c, const HkGraph *graph, const double *X,
                              double spacing, HkCoarsening **coarsening, HkError *error) {
  int64_t n = graph->n;
  HK_TRY(hk_alloc(c, coarsening, 1, sizeof **coarsening, "multigrid", error));
  Search *s = *coarsening;
  *s = (Search){.context = c, .graph = graph, .X = X, .R = SPACING * spacing};
  s->far2 = least_square(SEARCH_RADIUS * s->R);
  HK_TRY(hk_alloc(c, &s->chosen, n, sizeof *s->chosen, "multigrid", error));
  HK_TRY(hk_alloc(c, &s->near, n * MAX_CANDIDATES, sizeof *s->near, "multigrid", error));
  HK_TRY(hk_alloc(c, &s->known, n, 1, "multigrid", error));
  HK_TRY(hk_alloc(c, &s->covered, n, 1, "multigrid", error));
  HK_TRY(hk_alloc(c, &s->seen, n, sizeof *s->seen, "multigrid", error));
  HK_TRY(hk_alloc(c, &s->queue, n, sizeof *s->queue, "multigrid", error));
  for (int64_t i = 0; i < n; i++) s->seen[i] = -1;
  return HK_OK;
}

void hk_coarsening_destroy(HkCoarsening **coarsening) {
  Search *s = *coarsening;
  if (!s) return;
  const HkContext *c = s->context;
  hk_free(c, &s->chosen);
  hk_free(c, &s->near);
  hk_free(c, &s->known);
  hk_free(c, &s->covered);
  hk_free(c, &s->seen);
  hk_free(c, &s->queue);
  hk_free(c, coarsening);
}

bool hk_coarsening_is_open(const HkCoarsening *s, int32_t i) {
  bool alone = s->graph->start[i + 1] - s->graph->start[i] < 2;
  return !s->covered[i] && !alone;
}

const int32_t *hk_coarsening_chosen(const HkCoarsening *s, int32_t *count) {
  *count = s->count;
  return s->chosen;
}

HkStatus hk_coarsening_weights(const HkCoarsening *s, int threads, int32_t rows, HkWeights *P,
                               HkError *error) {
  Choice *choices = NULL;
  HK_TRY(hk_alloc(s->context, &choices, rows, sizeof *choices, "multigrid", error));
  Weigh w = {s, choices};
  hk_parallel_work(threads, rows, 256, weigh_range, &w);
  HkStatus status = store(s->context, rows, s, choices, P, error);
  hk_free(s->context, &choices);
  return status;
}

HkStatus hk_interpolation_find(const HkContext *c, int threads, const HkGraph *graph,
                               const double *X, HkWeights *P, int32_t **chosen, HkError *error) {
  HkCoarsening *s = NULL;
  int32_t count;
  double sum = hk_coarsening_spacing(graph, X, graph->n, &count);
  HkStatus status = hk_coarsening_create(c, graph, X, count > 0 ? sum / count : 0, &s, error);
  for (int32_t i = 0; i < graph->n && status >= 0; i++)
    if (hk_coarsening_is_open(s, i)) hk_coarsening_choose(s, i);
  if (status >= 0) status = hk_coarsening_weights(s, threads, graph->n, P, error);
  if (status >= 0) {
    *chosen = s->chosen;
    s->chosen = NULL;
  }
  hk_coarsening_destroy(&s);
  return status;
}
