/* Kick and drift by blocks of vertices; see kick.h.
 *
 * Each thread has a range of blocks. It kicks them in order and lets each one drift when the last
 * block that has neighbours in it is kicked. Those with neighbours in the range of another thread
 * drift when all threads are done with their kicks. Which block is done when does not change what
 * is computed.
 */
#include "step/kick.h"

#include <string.h>

HK_KERNEL_TABLE(HkKickKernels, hk_kick_kernels)

enum { GROUPS = HK_BLOCK / HK_ROW_GROUP };

/* Fewer blocks are not worth a second thread. */
enum { LEAST_BLOCKS = 4 };

typedef struct Kick {
  const HkKickKernels *kernels;
  int64_t blocks;
  int32_t *low, *high; /* the first and the last block with a neighbour of each block's vertices */
  double *next;        /* 3 n, v+ where springs are damped; NULL: it is written over v */
} Kick;

/* ---- Creating ---- */

static HkStatus find_reach(const HkModel *m, Kick *k, HkError *error) {
  k->blocks = hk_sum_slots(m->n);
  HK_TRY(hk_alloc(&m->context, &k->low, k->blocks, sizeof *k->low, "blocks", error));
  HK_TRY(hk_alloc(&m->context, &k->high, k->blocks, sizeof *k->high, "blocks", error));
  for (int64_t b = 0; b < k->blocks; b++) k->low[b] = k->high[b] = (int32_t)b;
  for (int64_t q = 0; q < m->n; q++) {
    int64_t begin = m->adj_start[q], end = m->adj_start[q + 1], b = q / HK_BLOCK;
    if (begin == end) continue;
    int32_t first = m->adj_vertex[begin] / HK_BLOCK, last = m->adj_vertex[end - 1] / HK_BLOCK;
    if (first < k->low[b]) k->low[b] = first;
    if (last > k->high[b]) k->high[b] = last;
  }
  return HK_OK;
}

HkStatus hk_kick_create(HkSim *sim, HkError *error) {
  const HkModel *m = sim->model;
  HkIsa isa;
  Kick *k = NULL;
  HK_TRY(hk_isa_pick(&isa, error));
  HK_TRY(hk_alloc(&m->context, &k, 1, sizeof *k, "an integrator", error));
  sim->data = k;
  k->kernels = hk_kick_kernels_of(isa);
  HK_TRY(find_reach(m, k, error));
  sim->bytes += sizeof *k + (size_t)k->blocks * 2 * sizeof *k->low;
  if (!m->damping) return HK_OK;
  HK_TRY(hk_alloc_vector(&m->context, &k->next, m->n, "velocities", error));
  sim->bytes += (size_t)m->n * 3 * sizeof *k->next;
  return HK_OK;
}

void hk_kick_destroy(HkSim *sim) {
  const HkContext *c = &sim->model->context;
  Kick *k = sim->data;
  hk_free(c, &k->low);
  hk_free(c, &k->high);
  hk_free(c, &k->next);
  hk_free(c, &sim->data);
}

/* ---- One pass ---- */

typedef struct Pass {
  const HkSim *sim;
  const HkState *state;
  const Kick *k;
  HkKickArgs kick;
  HkDriftArgs drift;
  int64_t parts;
} Pass;

static Pass pass_of(HkSim *sim, const HkState *state, double t, double h, const double *w,
                    double *out) {
  const HkModel *m = sim->model;
  Pass p = {.sim = sim, .state = state, .k = sim->data};
  bool alone = m->threads <= 1 || p.k->blocks < LEAST_BLOCKS;
  p.parts = alone ? 1 : m->threads;
  p.kick = (HkKickArgs){.rows = sim->work.rows,
                        .x = state->x,
                        .v = state->v,
                        .w = w,
                        .mass = m->mass,
                        .h = {h, h, m->dimension == 2 ? 0 : h},
                        .out = out};
  if (hk_forces_rest(m, &sim->work, t, state->x, w, sim->f, p.kick.g)) p.kick.f = sim->f;
  return p;
}

static int64_t part_begin(const Pass *p, int64_t part) {
  return p->k->blocks * part / p->parts;
}

static int64_t block_end(const Pass *p, int64_t block) {
  int64_t end = (block + 1) * HK_BLOCK;
  return end < p->sim->model->n ? end : p->sim->model->n;
}

/* The first pinned vertex from a vertex on. */
static int64_t first_pin(const HkModel *m, int64_t vertex) {
  int64_t low = 0, high = m->pin_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (m->pin_vertex[middle] < vertex)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Held pins keep the velocity that they have, or none where it was written over: they are placed
 * at the end of the step. */
static void kick_block(const Pass *p, int64_t block) {
  const HkModel *m = p->sim->model;
  int64_t groups = p->kick.rows->groups, begin = block * GROUPS, end = begin + GROUPS;
  int64_t last = block_end(p, block);
  p->k->kernels->kick(&p->kick, begin, end < groups ? end : groups);
  for (int64_t q = first_pin(m, block * HK_BLOCK); q < m->pin_count; q++) {
    int64_t at = m->pin_vertex[q];
    if (at >= last) break;
    if (!p->state->pin_held[q]) continue;
    for (int c = 0; c < 3; c++) p->kick.out[3 * at + c] = p->drift.x ? 0 : p->kick.v[3 * at + c];
  }
}

static void drift_block(const Pass *p, int64_t block) {
  p->sim->work.sums[block] = p->k->kernels->drift(&p->drift, block * HK_BLOCK, block_end(p, block));
}

/* Whether all that has neighbours in a block is within the same part. */
static bool is_inner(const Pass *p, int64_t block, int64_t begin, int64_t end) {
  return p->k->low[block] >= begin && p->k->high[block] < end;
}

static void both_range(void *user, int64_t part, int64_t last) {
  const Pass *p = user;
  for (; part < last; part++) {
    int64_t begin = part_begin(p, part), end = part_begin(p, part + 1), next = begin;
    for (int64_t b = begin; b < end; b++) {
      kick_block(p, b);
      for (; next <= b; next++) {
        if (!is_inner(p, next, begin, end)) continue;
        if (p->k->high[next] > b) break;
        drift_block(p, next);
      }
    }
  }
}

static void rest_range(void *user, int64_t part, int64_t last) {
  const Pass *p = user;
  for (; part < last; part++) {
    int64_t begin = part_begin(p, part), end = part_begin(p, part + 1);
    for (int64_t b = begin; b < end; b++)
      if (!is_inner(p, b, begin, end)) drift_block(p, b);
  }
}

static void sum_kinetic(HkSim *sim, int64_t blocks) {
  sim->kinetic = 0;
  for (int64_t b = 0; b < blocks; b++) sim->kinetic += sim->work.sums[b];
}

void hk_kick_drift(HkSim *sim, HkState *s, double t, double h, double drift, const double *w) {
  const Kick *k = sim->data;
  double *out = k->next && !w ? k->next : s->v;
  Pass p = pass_of(sim, s, t, h, w ? w : s->v, out);
  p.drift = (HkDriftArgs){.mass = sim->model->mass, .h = drift, .x = s->x, .v = s->v, .from = out};
  hk_parallel_work(sim->model->threads, p.parts, 1, both_range, &p);
  hk_parallel_work(sim->model->threads, p.parts, 1, rest_range, &p);
  sum_kinetic(sim, k->blocks);
}

/* ---- The parts alone ---- */

static void kick_range(void *user, int64_t begin, int64_t end) {
  for (int64_t b = begin; b < end; b++) kick_block(user, b);
}

void hk_kick_only(HkSim *sim, const HkState *s, double t, double h, double *out) {
  Pass p = pass_of(sim, s, t, h, s->v, out);
  hk_parallel_work(sim->model->threads, p.k->blocks, 1, kick_range, &p);
}

void hk_drift_only(HkSim *sim, HkState *s, double h) {
  hk_sim_axpy(sim, h, s->v, s->x, s->x);
}

void hk_kick_end(HkSim *sim, HkState *s) {
  const HkModel *m = sim->model;
  hk_pins_place(m, s, s->time, s->x, s->v);
  for (int64_t q = 0; q < m->pin_count; q++) {
    const double *v = s->v + 3 * (int64_t)m->pin_vertex[q];
    double v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if (s->pin_held[q]) sim->kinetic += 0.5 * m->mass[m->pin_vertex[q]] * v2;
  }
}
