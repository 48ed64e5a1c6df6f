/* Measures of all springs: strains, scales of energy, rotation; and products with their Hessian for
 * the stable step. See springs.h. */
#include "force/springs.h"

#include "base/vec.h"
#include "model/part.h"

static double length_of(const HkSpringArrays *springs, int64_t s, const double *x) {
  return hk_distance(x + 3 * (int64_t)springs->i[s], x + 3 * (int64_t)springs->j[s]);
}

/* ---- Strains ---- */

typedef struct Strain {
  const HkSpringArrays *springs;
  const double *x;
  int sign; /* -1: the largest of -strain */
} Strain;

/* Springs with l0 = 0 or k = 0, as broken ones, are skipped; -INFINITY if there are no others. */
static double strain_range(void *user, int64_t begin, int64_t end) {
  const Strain *a = user;
  const HkSpringArrays *springs = a->springs;
  double most = -INFINITY;
  for (int64_t s = begin; s < end; s++) {
    if (springs->l0[s] <= 0 || springs->k[s] == 0) continue;
    double l = length_of(springs, s, a->x);
    most = hk_larger(most, a->sign * (l - springs->l0[s]) / springs->l0[s]);
  }
  return most;
}

void hk_springs_strains(const HkModel *m, const HkSpringArrays *springs, const double *x,
                        double *sums, double *min, double *max) {
  Strain a = {springs, x, 1};
  double most = hk_most_springs(m, springs->count, strain_range, &a, sums);
  a.sign = -1;
  double least = 0 - hk_most_springs(m, springs->count, strain_range, &a, sums);
  bool none = most == -INFINITY; /* no spring has a length */
  *max = none ? 0 : most;
  *min = none ? 0 : least;
}

bool hk_springs_any_pressed(const HkSpringArrays *springs, const double *x) {
  for (int64_t s = 0; s < springs->count; s++)
    if (length_of(springs, s, x) < springs->l0[s]) return true;
  return false;
}

/* ---- Scales ---- */

static double stretch(const HkSpringArrays *springs, int64_t s, const double *x) {
  return fabs(length_of(springs, s, x) - springs->l0[s]);
}

typedef struct Scale {
  const HkSpringArrays *springs;
  const double *x0, *x;
} Scale;

static double scale_range(void *user, int64_t begin, int64_t end) {
  const Scale *a = user;
  double sum = 0;
  for (int64_t s = begin; s < end; s++) {
    double scale = fmax(a->springs->l0[s], stretch(a->springs, s, a->x0));
    if (a->x != a->x0) scale = fmax(scale, stretch(a->springs, s, a->x));
    sum += 0.5 * a->springs->k[s] * scale * scale;
  }
  return sum;
}

double hk_springs_scale(const HkModel *m, const HkSpringArrays *springs, const double *x,
                        double *sums) {
  Scale a = {springs, m->x0, x};
  return hk_sum_springs(m, springs->count, scale_range, &a, sums);
}

int64_t hk_springs_worst(const HkModel *m, const HkSpringArrays *springs, const double *x,
                         int64_t vertex) {
  int64_t worst = -1;
  double most = -1;
  for (int64_t e = m->adj_start[vertex]; e < m->adj_start[vertex + 1]; e++) {
    int64_t spring = m->adj_spring[e];
    double l = hk_distance(x + 3 * vertex, x + 3 * (int64_t)m->adj_vertex[e]);
    double pull = fabs(springs->k[spring] * (l - springs->l0[spring]));
    if (isnan(pull)) return spring;
    if (pull > most) {
      most = pull;
      worst = spring;
    }
  }
  return worst;
}

double hk_springs_turn(const HkModel *m, const double *x) {
  enum { SAMPLE = 1000 };
  const HkSpringArrays *springs = &m->springs;
  int64_t step = springs->count / SAMPLE + 1, count = 0;
  double sum = 0;
  for (int64_t s = 0; s < springs->count; s += step, count++) {
    int64_t i = 3 * (int64_t)springs->i[s], j = 3 * (int64_t)springs->j[s];
    double d[3], d0[3], change[3];
    hk_sub(x + j, x + i, d);
    hk_sub(m->x0 + j, m->x0 + i, d0);
    hk_sub(d, d0, change);
    double size = hk_dot(d0, d0);
    sum += size > 0 ? hk_dot(change, change) / size : 1;
  }
  return count > 0 ? sum / (double)count : 0;
}

/* ---- Products for the stable step ---- */

/* out = S A S p, S = diag(free), gathered per vertex. */
static void product_range(void *user, int64_t begin, int64_t end) {
  const HkSpringsProduct *a = user;
  const HkModel *m = a->model;
  const HkSpringArrays *springs = a->springs;
  for (int64_t i = begin; i < end; i++) {
    double sum[3] = {0, 0, 0}, scale = a->free ? a->free[i] : 1;
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      int64_t j = m->adj_vertex[e], s = m->adj_spring[e];
      double u[3], dp[3];
      hk_sub(a->x + 3 * i, a->x + 3 * j, u);
      double l = hk_norm(u);
      for (int c = 0; c < 3; c++)
        dp[c] = scale * a->p[3 * i + c] - (a->free ? a->free[j] : 1) * a->p[3 * j + c];
      double along = a->damping ? springs->damping[s] : springs->k[s], across = 0;
      if (l < HK_SPRING_TINY) {
        hk_axpy(along, dp, sum);
        continue;
      }
      if (!a->damping && l > springs->l0[s]) across = springs->k[s] * (1 - springs->l0[s] / l);
      for (int c = 0; c < 3; c++) u[c] /= l;
      hk_axpy(across, dp, sum);
      hk_axpy((along - across) * hk_dot(u, dp), u, sum);
    }
    for (int c = 0; c < 3; c++) a->out[3 * i + c] = scale * sum[c];
    if (m->dimension == 2) a->out[3 * i + 2] = 0;
  }
}

void hk_springs_product(const HkSpringsProduct *a) {
  HkSpringsProduct copy = *a;
  hk_parallel_for(a->model->threads, a->model->n, product_range, &copy);
}
