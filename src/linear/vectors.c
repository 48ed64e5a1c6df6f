/* Long vectors of 3 n coordinates; see vectors.h. */
#include "linear/vectors.h"

#include <string.h>

typedef struct Operands {
  const double *a, *b;
  double s, *out;
} Operands;

static double dot_range(void *user, int64_t begin, int64_t end) {
  enum { LANES = 8 }; /* independent sums, for instruction-level parallelism */
  const Operands *o = user;
  const double *a = o->a + 3 * begin, *b = o->b + 3 * begin;
  int64_t count = 3 * (end - begin), k = 0;
  double lane[LANES] = {0}, sum = 0;
  for (; k + LANES <= count; k += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += a[k + l] * b[k + l];
  for (; k < count; k++) sum += a[k] * b[k];
  for (int l = 0; l < LANES; l++) sum += lane[l];
  return sum;
}

double hk_vectors_dot(const HkVectors *space, const double *a, const double *b) {
  Operands o = {.a = a, .b = b};
  if (space->model) return hk_sum_vertices(space->model, dot_range, &o, space->sums);
  return hk_parallel_sum(space->threads, space->n, dot_range, &o, space->sums);
}

static void add_range(void *user, int64_t begin, int64_t end) {
  const Operands *o = user;
  for (int64_t c = 3 * begin; c < 3 * end; c++) o->out[c] = o->a[c] + o->s * o->b[c];
}

void hk_vectors_add(const HkVectors *space, double s, const double *d, const double *x,
                    double *out) {
  Operands o = {.a = x, .b = d, .s = s, .out = out};
  hk_parallel_for(space->threads, space->n, add_range, &o);
}

typedef struct Step {
  double s;
  const double *p, *Ap;
  double *x, *r;
} Step;

static double step_range(void *user, int64_t begin, int64_t end) {
  const Step *a = user;
  for (int64_t c = 3 * begin; c < 3 * end; c++) {
    a->x[c] += a->s * a->p[c];
    a->r[c] -= a->s * a->Ap[c];
  }
  return dot_range(&(Operands){.a = a->r, .b = a->r}, begin, end);
}

double hk_vectors_step(const HkVectors *space, double s, const double *p, const double *Ap,
                       double *x, double *r) {
  Step step = {s, p, Ap, x, r};
  if (space->model && space->model->part) { /* ghosts move, too, but are in no sum */
    hk_vectors_add(space, s, p, x, x);
    hk_vectors_add(space, -s, Ap, r, r);
    return hk_vectors_dot(space, r, r);
  }
  return hk_parallel_sum(space->threads, space->n, step_range, &step, space->sums);
}

void hk_vectors_subtract(const HkVectors *space, const double *x, const double *y, double *out) {
  hk_vectors_add(space, -1, y, x, out);
}

static void scale_range(void *user, int64_t begin, int64_t end) {
  const Operands *o = user;
  for (int64_t c = 3 * begin; c < 3 * end; c++) o->out[c] *= o->s;
}

void hk_vectors_scale(const HkVectors *space, double s, double *x) {
  Operands o = {.s = s, .out = x};
  hk_parallel_for(space->threads, space->n, scale_range, &o);
}

void hk_vectors_copy(const HkVectors *space, const double *x, double *out) {
  if (x != out) memcpy(out, x, (size_t)space->n * 3 * sizeof *x);
}

void hk_vectors_zero(const HkVectors *space, double *x) {
  memset(x, 0, (size_t)space->n * 3 * sizeof *x);
}
