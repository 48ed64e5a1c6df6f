/* The largest stable step of an explicit integrator.
 *
 * omega^2 is the largest eigenvalue of M^-1 H with H the Hessian of the springs at a state, d that
 * of M^-1 D with D the damping matrix, both over the free vertices, by power iteration. Compressed
 * springs would give H negative eigenvalues; their negative geometric stiffness is left out, which
 * gives a lower bound of the stable step. The integrator says what h the pair (omega, d) allows.
 *
 * During the motion the estimate is updated by a few iterations p <- M^-1 H p from the last p, in
 * the norm |p|^2 = p . M p, in which M^-1 H is symmetric. Every |M^-1 H p| / |p| is at most
 * omega^2, and p . D p / p . M p at most d, so the estimate is an upper bound of the stable step.
 */
#include "step/stability.h"

#include "base/vec.h"
#include "force/springs.h"
#include "model/part.h"

#include <string.h>

enum { MAX_ITERATIONS = 100 };

static double square_range(void *user, int64_t begin, int64_t end) {
  const double *p = user;
  double sum = 0;
  for (int64_t c = 3 * begin; c < 3 * end; c++) sum += p[c] * p[c];
  return sum;
}

typedef struct Start {
  const HkPart *part; /* NULL: the vertices are those of the whole model */
  double *p;
} Start;

/* Pseudo-random numbers (SplitMix64) by the numbers of the vertices in the whole model. */
static void start_range(void *user, int64_t begin, int64_t end) {
  const Start *a = user;
  for (int64_t k = begin; k < end; k++) {
    int64_t number = a->part ? 3 * a->part->number[k / 3] + k % 3 : k;
    uint64_t z = (uint64_t)(number + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    a->p[k] = (double)(z >> 11) * 0x1p-52 - 1;
  }
}

void hk_stability_start(const HkModel *m, double *p) {
  Start start = {m->part, p};
  hk_parallel_for(m->threads, 3 * m->n, start_range, &start);
}

typedef struct Scaling {
  double *p, scale;
} Scaling;

static void scale_range(void *user, int64_t begin, int64_t end) {
  const Scaling *a = user;
  for (int64_t c = begin; c < end; c++) a->p[c] *= a->scale;
}

/* Estimates the largest eigenvalue from below; iterates until it grows by less than 1/1000. */
static double largest_eigenvalue(HkSim *sim, HkSpringsProduct *a, double *p, double *out) {
  const HkModel *m = sim->model;
  double value = 0;
  hk_stability_start(m, p);
  for (int it = 0; it < MAX_ITERATIONS; it++) {
    double norm2 = hk_sum_vertices(m, square_range, p, sim->work.sums);
    if (!(norm2 > 0 && isfinite(norm2))) return norm2 == 0 ? 0 : INFINITY;
    hk_parallel_for(m->threads, 3 * m->n, scale_range, &(Scaling){p, 1 / sqrt(norm2)});
    hk_part_exchange(m, p);
    a->p = p;
    a->out = out;
    hk_springs_product(a);
    double norm = sqrt(hk_sum_vertices(m, square_range, out, sim->work.sums));
    double *swap = p;
    p = out;
    out = swap;
    if (it > 3 && norm - value <= 1e-3 * norm) return norm > value ? norm : value;
    value = norm;
  }
  return value;
}

/* Row sums of |M^-1 df/dx| and |M^-1 df/dv| of the forces other than springs, a bound of their
 * eigenvalues (Gershgorin). */
typedef struct RowSums {
  HkJacobianSink sink;
  double *x, *v; /* one a vertex */
} RowSums;

static void sum_dfdx(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  (void)j;
  ((RowSums *)sink)->x[i] += hk_mat_row_sum(block);
}

static void sum_dfdv(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  (void)j;
  ((RowSums *)sink)->v[i] += hk_mat_row_sum(block);
}

typedef struct Bound {
  const HkModel *model;
  const double *free, *rows;
} Bound;

static double bound_range(void *user, int64_t begin, int64_t end) {
  const Bound *b = user;
  double most = 0;
  for (int64_t i = begin; i < end; i++) {
    double inverse = b->free ? b->free[i] * b->free[i] : 1 / b->model->mass[i];
    most = fmax(most, inverse * b->rows[i]);
  }
  return most;
}

static double largest_row_sum(const HkSim *sim, const double *free, const double *rows) {
  const HkModel *m = sim->model;
  return hk_most_vertices(m, bound_range, &(Bound){m, free, rows}, sim->work.sums);
}

static void bound_other_forces(HkSim *sim, const HkState *state, const double *free, double *rows,
                               double *omega2, double *d) {
  const HkModel *m = sim->model;
  memset(rows, 0, 2 * (size_t)m->n * sizeof *rows);
  RowSums sums = {.sink = {.dfdx = sum_dfdx, .dfdv = sum_dfdv}, .x = rows, .v = rows + m->n};
  for (int f = 0; f < m->force_count; f++) {
    if (m->forces[f].type->has_rows) continue;
    HkForceArgs a = hk_force_args(m, f, &sim->work, state->time, state->x, state->v);
    if (m->forces[f].type->jacobian) m->forces[f].type->jacobian(&a, &sums.sink);
  }
  *omega2 += largest_row_sum(sim, free, sums.x);
  *d += largest_row_sum(sim, free, sums.v);
}

/* Stores the mode, p times `free`, from which the energy watch continues (energy_watch.c). */
static void keep_mode(HkSim *sim, const double *p, const double *free) {
  double *mode = sim->watch.mode;
  for (int64_t c = 0; mode && c < 3 * sim->model->n; c++) mode[c] = free[c / 3] * p[c];
}

/* The pair (omega, d) at a state; p and out hold 3 n doubles, free n. */
static void spectrum(HkSim *sim, const HkState *state, double *p, double *out, double *free,
                     double *omega, double *d) {
  const HkModel *m = sim->model;
  for (int64_t i = 0; i < m->n; i++) free[i] = 1 / sqrt(m->mass[i]);
  for (int64_t pin = 0; pin < m->pin_count; pin++)
    if (state->pin_held[pin]) free[m->pin_vertex[pin]] = 0;
  HkSpringsProduct a = {.model = m, .springs = sim->work.springs, .x = state->x, .free = free};
  double omega2 = largest_eigenvalue(sim, &a, p, out);
  if (a.out) keep_mode(sim, a.out, free); /* of the last product */
  *d = 0;
  a.damping = true;
  if (sim->work.springs->damping) *d = largest_eigenvalue(sim, &a, p, out);
  bound_other_forces(sim, state, free, p, &omega2, d);
  *omega = sqrt(omega2);
}

HkStatus hk_sim_stable_step(HkSim *sim, const HkState *state, double *h, HkError *error) {
  *h = 0;
  HK_TRY(hk_sim_use_state(sim, state, error));
  const HkModel *m = sim->model;
  const HkContext *c = &m->context;
  double *p = NULL, *out = NULL, *free = NULL, omega, d;
  *h = sim->type->stable_step(sim->method.params, 1, 1);
  if (isinf(*h)) { /* for every spectrum */
    sim->watch.stable = *h;
    return HK_OK;
  }
  HkStatus status = hk_alloc_vector(c, &p, m->n, "the stable step", error);
  if (status >= 0) status = hk_alloc_vector(c, &out, m->n, "the stable step", error);
  if (status >= 0) status = hk_alloc(c, &free, m->n, sizeof *free, "the stable step", error);
  if (status >= 0) {
    spectrum(sim, state, p, out, free, &omega, &d);
    *h = sim->type->stable_step(sim->method.params, omega, d);
    sim->watch.stable = *h;
  }
  hk_free(c, &p);
  hk_free(c, &out);
  hk_free(c, &free);
  return status;
}

/* ---- Updates during the motion ---- */

typedef struct Inner {
  const double *mass, *p, *q;
} Inner;

/* p . M q, or p . q without masses. */
static double inner_range(void *user, int64_t begin, int64_t end) {
  const Inner *a = user;
  double sum = 0;
  for (int64_t i = begin; i < end; i++)
    sum += (a->mass ? a->mass[i] : 1) * hk_dot(a->p + 3 * i, a->q + 3 * i);
  return sum;
}

static double inner(HkSim *sim, const double *mass, const double *p, const double *q) {
  Inner a = {mass, p, q};
  return hk_sum_vertices(sim->model, inner_range, &a, sim->work.sums);
}

/* out = A p with A = H, or D; 0 at held vertices. */
static void apply(HkSim *sim, const HkState *state, const double *p, bool damping, double *out) {
  const HkModel *m = sim->model;
  HkSpringsProduct a = {.model = m,
                        .springs = sim->work.springs,
                        .x = state->x,
                        .p = p,
                        .out = out,
                        .damping = damping};
  hk_springs_product(&a);
  for (int64_t pin = 0; pin < m->pin_count; pin++)
    if (state->pin_held[pin]) memset(out + 3 * (int64_t)m->pin_vertex[pin], 0, 3 * sizeof *out);
}

/* mode <- M^-1 H mode, normalized; returns the growth of its norm (1/s^2), 0 if it had to
 * restart. */
static double iterate(HkSim *sim, const HkState *state, double *mode) {
  const HkModel *m = sim->model;
  double *out = sim->f, before = sqrt(inner(sim, m->mass, mode, mode));
  apply(sim, state, mode, false, out);
  for (int64_t c = 0; c < 3 * m->n; c++) out[c] /= m->mass[c / 3];
  double after = sqrt(inner(sim, m->mass, out, out));
  if (!(before > 0 && after > 0 && isfinite(after / before))) {
    hk_stability_start(m, mode);
    return 0;
  }
  for (int64_t c = 0; c < 3 * m->n; c++) mode[c] = out[c] / after;
  return after / before;
}

double hk_stability_follow(HkSim *sim, const HkState *state, double *mode, int iterations) {
  const HkModel *m = sim->model;
  double omega2 = 0, d = 0;
  for (int64_t p = 0; p < m->pin_count; p++)
    if (state->pin_held[p]) memset(mode + 3 * (int64_t)m->pin_vertex[p], 0, 3 * sizeof *mode);
  for (int it = 0; it < iterations; it++) omega2 = iterate(sim, state, mode);
  if (sim->work.springs->damping) {
    apply(sim, state, mode, true, sim->f);
    d = inner(sim, NULL, mode, sim->f) / inner(sim, m->mass, mode, mode);
  }
  bound_other_forces(sim, state, NULL, sim->f, &omega2, &d);
  return sim->type->stable_step(sim->method.params, sqrt(omega2), d);
}
