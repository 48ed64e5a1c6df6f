/* Strain of a vertex; see strain.h. */
#include "output/strain.h"

#include "base/threads.h"
#include "base/vec.h"

/* Positions in double or in single precision; the other pointer is NULL. */
typedef struct Positions {
  const double *x;
  const float *x_single;
} Positions;

static void position_of(Positions p, int64_t vertex, double at[3]) {
  for (int c = 0; c < 3; c++)
    at[c] = p.x ? p.x[3 * vertex + c] : (double)p.x_single[3 * vertex + c];
}

static double mean_strain(const HkModel *m, Positions p, int64_t vertex) {
  if (m->springs.count == 0) return 0;
  double a[3], b[3], sum = 0;
  int64_t count = 0;
  position_of(p, vertex, a);
  for (int64_t e = m->adj_start[vertex]; e < m->adj_start[vertex + 1]; e++) {
    int64_t s = m->adj_spring[e];
    double l0 = m->springs.l0[s];
    if (!(l0 > 0) || m->springs.kind[s] == HK_SPRING_BENDING) continue;
    position_of(p, m->adj_vertex[e], b);
    sum += hk_distance(a, b) / l0 - 1;
    count++;
  }
  return count > 0 ? sum / (double)count : 0;
}

double hk_vertex_strain(const HkModel *model, const double *x, int64_t vertex) {
  return mean_strain(model, (Positions){.x = x}, vertex);
}

/* ---- All vertices ---- */

typedef struct Strains {
  const HkModel *model;
  Positions positions;
  double *strain;
  float *strain_single;
} Strains;

static void strain_range(void *user, int64_t begin, int64_t end) {
  const Strains *s = user;
  for (int64_t i = begin; i < end; i++) {
    double strain = mean_strain(s->model, s->positions, i);
    if (s->strain) s->strain[i] = strain;
    if (s->strain_single) s->strain_single[i] = (float)strain;
  }
}

void hk_model_strains(const HkModel *model, const double *x, double *strain) {
  Strains s = {.model = model, .positions = {.x = x}, .strain = strain};
  hk_parallel_for(model->threads, model->n, strain_range, &s);
}

void hk_model_strains_single(const HkModel *model, const float *x, float *strain) {
  Strains s = {.model = model, .positions = {.x_single = x}, .strain_single = strain};
  hk_parallel_for(model->threads, model->n, strain_range, &s);
}
