/* Size and connectivity of a model; see proportions.h.
 *
 * The width comes from the graph distances from a vertex at one end of the largest connected part
 * to all its vertices: with d different distances, a cut has about 1 / d of the vertices.
 */
#include "model/proportions.h"

#include "base/vec.h"

/* Solidity of the initial neighborhood of a vertex, from 0 for neighbors in a plane to 1 for an
 * isotropic one: the determinant of sum d d^T over the cube of a third of its trace. */
static double solidity_at(const HkModel *m, int64_t i) {
  double S[9] = {0};
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
    double d[3], u[3];
    hk_sub(m->x0 + 3 * (int64_t)m->adj_vertex[e], m->x0 + 3 * i, d);
    if (hk_unit(d, u)) hk_mat_add_outer(1, u, u, S);
  }
  double third = (S[0] + S[4] + S[8]) / 3;
  double determinant = S[0] * (S[4] * S[8] - S[5] * S[7]) - S[1] * (S[3] * S[8] - S[5] * S[6]) +
                       S[2] * (S[3] * S[7] - S[4] * S[6]);
  return third > 0 ? determinant / (third * third * third) : 0;
}

bool hk_model_is_solid(const HkModel *m) {
  enum { SAMPLE = 1000 };
  int64_t step = m->n / SAMPLE + 1, count = 0;
  double sum = 0;
  for (int64_t i = 0; i < m->n; i += step, count++) sum += solidity_at(m, i);
  return count > 0 && sum / (double)count > 0.1;
}

/* ---- Distances ---- */

typedef struct Walk {
  const HkModel *model;
  uint8_t *seen;  /* n: mark of the last search that visited a vertex, 1 or 2 */
  int32_t *queue; /* n */
} Walk;

/* Breadth-first search: returns the number of vertices connected to `from`, the number of different
 * distances, and one of the furthest vertices. */
static int64_t walk(Walk *w, int32_t from, uint8_t mark, int64_t *distances, int32_t *furthest) {
  const HkModel *m = w->model;
  int64_t head = 0, tail = 0;
  w->queue[tail++] = from;
  w->seen[from] = mark;
  for (*distances = 0; head < tail; (*distances)++)
    for (int64_t end = tail; head < end; head++) {
      int32_t i = w->queue[head];
      for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
        int32_t j = m->adj_vertex[e];
        if (w->seen[j] == mark) continue;
        w->seen[j] = mark;
        w->queue[tail++] = j;
      }
    }
  *furthest = w->queue[tail - 1];
  return tail;
}

static void measure(Walk *w, HkProportions *p) {
  int64_t distances;
  int32_t furthest;
  for (int64_t i = 0; i < w->model->n; i++) {
    if (w->seen[i]) continue;
    int64_t count = walk(w, (int32_t)i, 1, &distances, &furthest);
    if ((double)count <= p->core) continue;
    walk(w, furthest, 2, &distances, &furthest);
    p->core = (double)count;
    p->width = (double)count / (double)distances;
  }
}

HkProportions hk_model_sizes(const HkModel *m) {
  return (HkProportions){.n = (double)m->n,
                         .springs = (double)m->springs.count,
                         .solid = hk_model_is_solid(m),
                         .damped = m->velocity_dependent,
                         .dimension = m->dimension};
}

HkStatus hk_model_proportions(const HkModel *m, HkProportions *p, HkError *error) {
  const HkContext *c = &m->context;
  Walk w = {.model = m};
  *p = hk_model_sizes(m);
  HkStatus status = hk_alloc(c, &w.seen, m->n, sizeof *w.seen, "distances", error);
  if (status >= 0) status = hk_alloc(c, &w.queue, m->n, sizeof *w.queue, "distances", error);
  if (status >= 0) measure(&w, p);
  hk_free(c, &w.seen);
  hk_free(c, &w.queue);
  return status;
}
