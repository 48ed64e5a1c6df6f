/* An implicit step by a dense Newton method; see step_by_hand.h. */
#include "step_by_hand.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static bool is_pinned(const HkModel *m, int64_t i) {
  for (int64_t p = 0; p < m->pin_count; p++)
    if (m->pin_vertex[p] == i) return true;
  return false;
}

/* ---- The gradient and the Hessian, spring by spring ---- */

typedef struct Spring {
  int64_t i, j;
  double u[3], l, k, l0;
} Spring;

static Spring spring_at(const HkModel *m, const double *x, int64_t s) {
  Spring p = {
      .i = m->springs.i[s], .j = m->springs.j[s], .k = m->springs.k[s], .l0 = m->springs.l0[s]};
  double square = 0;
  for (int c = 0; c < 3; c++) p.u[c] = x[3 * p.i + c] - x[3 * p.j + c];
  for (int c = 0; c < 3; c++) square += p.u[c] * p.u[c];
  p.l = sqrt(square);
  for (int c = 0; c < 3; c++) p.u[c] /= p.l;
  return p;
}

static void gradient(const StepByHand *s, const double *x, double *g) {
  const HkModel *m = s->model;
  double square = s->tau * s->tau;
  for (int64_t q = 0; q < 3 * m->n; q++) g[q] = 0;
  if (s->add_gradient) s->add_gradient(s->user, x, g);
  for (int64_t q = 0; q < 3 * m->n; q++) {
    double fall = q % 3 == 1 ? square * s->gravity : 0;
    g[q] = square * g[q] + m->mass[q / 3] * (x[q] - s->y[q] + fall);
  }
  for (int64_t e = 0; e < m->springs.count; e++) {
    Spring p = spring_at(m, x, e);
    for (int c = 0; c < 3; c++) {
      double f = square * p.k * (p.l - p.l0) * p.u[c];
      g[3 * p.i + c] += f;
      g[3 * p.j + c] -= f;
    }
  }
  for (int64_t q = 0; q < 3 * m->n; q++)
    if (is_pinned(m, q / 3) || (q % 3 == 2 && m->dimension == 2)) g[q] = 0;
}

/* H = tau^2 d2E/dx2 of the other force, but for rows and columns of pins and of z in the plane. */
static void hessian_of_more(const StepByHand *s, const double *x, double *H) {
  const HkModel *m = s->model;
  int64_t size = 3 * m->n;
  if (s->add_hessian) s->add_hessian(s->user, x, H);
  for (int64_t r = 0; r < size; r++)
    for (int64_t c = 0; c < size; c++) {
      bool flat = m->dimension == 2 && (r % 3 == 2 || c % 3 == 2);
      bool none = flat || is_pinned(m, r / 3) || is_pinned(m, c / 3);
      H[r * size + c] *= none ? 0 : s->tau * s->tau;
    }
}

/* H is dense, row by row; pinned rows hold their mass. */
static void hessian(const StepByHand *s, const double *x, double *H) {
  const HkModel *m = s->model;
  int64_t size = 3 * m->n;
  for (int64_t q = 0; q < size * size; q++) H[q] = 0;
  hessian_of_more(s, x, H);
  for (int64_t q = 0; q < size; q++) H[q * size + q] += m->mass[q / 3];
  for (int64_t e = 0; e < m->springs.count; e++) {
    Spring p = spring_at(m, x, e);
    int64_t ends[2] = {p.i, p.j};
    double across = p.k * (1 - p.l0 / p.l);
    for (int a = 0; a < 18; a++) {
      int from = a / 9, r = a / 3 % 3, c = a % 3;
      double B = s->tau * s->tau * ((r == c) * across + (p.k - across) * p.u[r] * p.u[c]);
      for (int to = 0; to < 2; to++) {
        if (is_pinned(m, ends[from]) || is_pinned(m, ends[to])) {
          if (from != to || is_pinned(m, ends[from])) continue;
        }
        H[(3 * ends[from] + r) * size + 3 * ends[to] + c] += from == to ? B : -B;
      }
    }
  }
}

/* H = L L^T in place; false if H is not positive definite. */
static bool factorize(int64_t size, double *H) {
  for (int64_t j = 0; j < size; j++)
    for (int64_t i = j; i < size; i++) {
      double sum = H[i * size + j];
      for (int64_t k = 0; k < j; k++) sum -= H[i * size + k] * H[j * size + k];
      if (i == j && !(sum > 0)) return false;
      H[i * size + j] = i == j ? sqrt(sum) : sum / H[j * size + j];
    }
  return true;
}

static void solve(int64_t size, const double *L, double *b) {
  for (int64_t i = 0; i < size; i++) {
    for (int64_t k = 0; k < i; k++) b[i] -= L[i * size + k] * b[k];
    b[i] /= L[i * size + i];
  }
  for (int64_t i = size - 1; i >= 0; i--) {
    for (int64_t k = i + 1; k < size; k++) b[i] -= L[k * size + i] * b[k];
    b[i] /= L[i * size + i];
  }
}

/* ---- What the tests ask for ---- */

double step_by_hand_residual(const StepByHand *s, const double *x) {
  const HkModel *m = s->model;
  double sum = 0, *g = malloc((size_t)m->n * 3 * sizeof *g);
  if (!g) return NAN;
  gradient(s, x, g);
  for (int64_t q = 0; q < 3 * m->n; q++) sum += g[q] * g[q] / m->mass[q / 3];
  free(g);
  return sqrt(sum);
}

double step_by_hand_rounding(const StepByHand *s, const double *x) {
  const HkModel *m = s->model;
  double furthest = 0, sum = 0, *d = calloc((size_t)m->n, sizeof *d);
  if (!d) return NAN;
  for (int64_t q = 0; q < 3 * m->n; q++) furthest = fmax(furthest, fmax(fabs(x[q]), fabs(s->y[q])));
  if (s->add_stiffness) s->add_stiffness(s->user, x, d);
  for (int64_t i = 0; i < m->n; i++) {
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++)
      d[i] += m->springs.k[m->adj_spring[e]];
    double own = m->mass[i] + s->tau * s->tau * d[i];
    sum += own * own / m->mass[i];
  }
  free(d);
  return 4 * DBL_EPSILON * furthest * sqrt(sum);
}

double step_by_hand_distance(const StepByHand *s, const double *a, const double *b) {
  const HkModel *m = s->model;
  double sum = 0;
  for (int64_t q = 0; q < 3 * m->n; q++)
    if (!is_pinned(m, q / 3)) sum += m->mass[q / 3] * (a[q] - b[q]) * (a[q] - b[q]);
  return sqrt(sum);
}

bool step_by_hand_solve(const StepByHand *s, double *x) {
  enum { ITERATIONS_MAX = 50 };
  int64_t size = 3 * s->model->n;
  double *H = malloc((size_t)(size * size) * sizeof *H), *g = malloc((size_t)size * sizeof *g);
  double moved = step_by_hand_distance(s, x, s->x_n);
  bool converged = false, definite = H && g;
  for (int it = 0; it < ITERATIONS_MAX && definite && !converged; it++) {
    double length = 0;
    gradient(s, x, g);
    hessian(s, x, H);
    definite = factorize(size, H);
    if (!definite) break;
    solve(size, H, g);
    for (int64_t q = 0; q < size; q++) {
      x[q] -= g[q];
      length += s->model->mass[q / 3] * g[q] * g[q];
    }
    converged = sqrt(length) <= 1e-9 * moved;
  }
  free(H);
  free(g);
  return converged;
}
