/* Kick and drift by blocks of vertices; see kick.h.
 *
 * Each thread has a range of blocks. It kicks them in order; a block drifts once the last block
 * with neighbors in it is kicked. Blocks with neighbors in the range of another thread drift after
 * all kicks of all threads. The order does not change the result.
 *
 * A part (model/part.h) first kicks the groups with border vertices and sends their velocities;
 * then it kicks all other groups with vertices of its own, and drifts, while the message is on its
 * way; at last ghosts get the velocities of their owners and drift by them.
 */
#include "step/kick.h"

#include "step/kick_border.h"
#include "step/single.h"

#include <string.h>

HK_KERNEL_TABLE(HkKickKernels, hk_kick_kernels)

/* Number of blocks from which on a kick uses several threads. */
enum { MIN_THREADED_BLOCKS = 4 };

typedef struct Kick {
  const HkKickKernels *kernels;
  HkSingle *single; /* NULL: double precision */
  int64_t blocks;
  int32_t *low, *high;  /* the first and the last block whose kick reads vertices of each block */
  double *next;         /* 3 n, v+ where springs are damped; NULL: it is written over v */
  double *half;         /* 3 n, what hk_kick_half makes */
  HkKickBorder *border; /* of a part, else NULL */
} Kick;

/* ---- Creating ---- */

/* A kick reads the neighbors of its vertices; in single precision also vertices at the same
 * distance j - i from other vertices of the group, which are at most one group further. */
static HkStatus find_reach(const HkModel *m, Kick *k, HkError *error) {
  const int64_t GROUP_REACH = HK_ROW_GROUP_SINGLE - 1;
  k->blocks = hk_sum_slots(m->n);
  HK_TRY(hk_alloc(&m->context, &k->low, k->blocks, sizeof *k->low, "blocks", error));
  HK_TRY(hk_alloc(&m->context, &k->high, k->blocks, sizeof *k->high, "blocks", error));
  for (int64_t b = 0; b < k->blocks; b++) k->low[b] = k->high[b] = (int32_t)b;
  for (int64_t i = 0; i < m->n; i++) {
    int64_t begin = m->adj_start[i], end = m->adj_start[i + 1];
    if (begin == end) continue;
    int32_t first = m->adj_vertex[begin] / HK_BLOCK, last = m->adj_vertex[end - 1] / HK_BLOCK;
    int64_t near = i > GROUP_REACH ? i - GROUP_REACH : 0,
            far = i + GROUP_REACH < m->n ? i + GROUP_REACH : m->n - 1;
    for (int64_t b = near / HK_BLOCK; b <= far / HK_BLOCK; b++) {
      if (first < k->low[b]) k->low[b] = first;
      if (last > k->high[b]) k->high[b] = last;
    }
  }
  return HK_OK;
}

static HkStatus add_vector(HkSim *sim, double **v, HkError *error) {
  return hk_alloc_vector(&sim->model->context, v, sim->model->n, "velocities", error);
}

HkStatus hk_kick_create(HkSim *sim, bool half, HkError *error) {
  const HkModel *m = sim->model;
  const HkKickParams *params = sim->method.params;
  HkIsa isa;
  Kick *k = NULL;
  HK_TRY(hk_isa_pick(&isa, error));
  HK_TRY(hk_alloc(&m->context, &k, 1, sizeof *k, "an integrator", error));
  sim->data = k;
  k->kernels = hk_kick_kernels_of(isa);
  HK_TRY(find_reach(m, k, error));
  if (half) HK_TRY(add_vector(sim, &k->half, error));
  if (m->part && params->precision == HK_KICK_SINGLE)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the device petsc computes in double precision; leave out \"precision\"");
  if (m->part) HK_TRY(hk_kick_border_create(m, sim->work.rows, &k->border, error));
  if (params->precision != HK_KICK_SINGLE)
    return m->springs.damping ? add_vector(sim, &k->next, error) : HK_OK;
  sim->single = true;
  return hk_single_create(m, isa, half, &k->single, error);
}

size_t hk_kick_bytes(const HkSim *sim) {
  const Kick *k = sim->data;
  size_t vectors = (size_t)((k->half != NULL) + (k->next != NULL));
  return sizeof *k + (size_t)k->blocks * 2 * sizeof *k->low +
         vectors * hk_vector_bytes(sim->model->n) + (k->border ? k->border->bytes : 0) +
         (k->single ? k->single->bytes : 0);
}

void hk_kick_destroy(HkSim *sim) {
  const HkContext *c = &sim->model->context;
  Kick *k = sim->data;
  hk_free(c, &k->low);
  hk_free(c, &k->high);
  hk_free(c, &k->next);
  hk_free(c, &k->half);
  hk_kick_border_destroy(sim->model, &k->border);
  hk_single_destroy(sim->model, &k->single);
  hk_free(c, &sim->data);
}

void hk_kick_open(HkSim *sim, const HkState *state) {
  const Kick *k = sim->data;
  if (!k->single) return;
  hk_spring_rows_update(sim->model, k->single->rows);
  if (k->single->masses_version != sim->model->masses_version)
    hk_single_load_masses(k->single, sim->model);
  hk_single_load(k->single, sim->model, state);
}

void hk_kick_close(HkSim *sim, HkState *state) {
  const Kick *k = sim->data;
  if (k->single) hk_single_store(k->single, sim->model, state);
}

/* ---- Arguments of a pass ---- */

typedef struct Pass {
  const HkSim *sim;
  const HkState *state;
  const Kick *k;
  HkKickArgs kick;
  HkDriftArgs drift;
  HkSingleArgs single;
  bool drifts;  /* the pass also drifts */
  bool partial; /* of a part: the border is kicked already, and ghosts need no kick */
  int64_t parts;
} Pass;

/* Computes the forces other than springs, in double precision. */
static const double *others(HkSim *sim, HkState *s, double t, bool half, double g[3]) {
  const Kick *k = sim->data;
  if (k->single && hk_forces_have_rest(sim->model)) {
    hk_single_store(k->single, sim->model, s);
    if (half) hk_single_store_half(k->single, sim->model, k->half);
  }
  bool any = hk_forces_rest(sim->model, &sim->work, t, s->x, half ? k->half : s->v, sim->f, g);
  return any ? sim->f : NULL;
}

static void use_doubles(Pass *p, HkState *s, double drift, bool half, double *out) {
  const HkModel *m = p->sim->model;
  p->kick.rows = p->sim->work.rows;
  p->kick.mass = m->mass;
  p->kick.x = s->x;
  p->kick.v = s->v;
  p->kick.w = half ? p->k->half : s->v;
  p->kick.out = out;
  p->drift = (HkDriftArgs){.mass = m->mass, .h = drift, .x = s->x, .v = s->v, .from = out};
}

static void use_floats(Pass *p, double drift, bool half, float *out) {
  const HkSingle *s = p->k->single;
  p->single = (HkSingleArgs){.rows = s->rows,
                             .stride = s->size,
                             .planes = s->planes,
                             .x = s->x,
                             .v = s->v,
                             .w = half ? s->half : s->v,
                             .f = p->kick.f,
                             .mass = s->mass,
                             .out = out,
                             .drift = (float)drift,
                             .from = out,
                             .moved = s->x,
                             .settled = s->v};
  for (int c = 0; c < 3; c++) {
    p->single.g[c] = (float)p->kick.g[c];
    p->single.h[c] = (float)p->kick.h[c];
    p->single.origin[c] = s->origin[c];
  }
}

/* Returns a pass that kicks by h with the velocities of hk_kick_half (half) or the present ones,
 * and drifts; without drifts it writes the predicted velocities instead. */
static Pass pass_of(HkSim *sim, HkState *s, double t, double h, bool drifts, double drift,
                    bool half) {
  const HkModel *m = sim->model;
  Pass p = {.sim = sim, .state = s, .k = sim->data, .drifts = drifts};
  const HkSingle *single = p.k->single;
  p.parts = m->threads <= 1 || p.k->blocks < MIN_THREADED_BLOCKS ? 1 : m->threads;
  p.kick.f = others(sim, s, t, half, p.kick.g);
  for (int c = 0; c < 3; c++) p.kick.h[c] = c == 2 && m->dimension == 2 ? 0 : h;
  if (single)
    use_floats(&p, drift, half,
               !drifts                 ? single->half
               : single->next && !half ? single->next
                                       : single->v);
  else
    use_doubles(&p, s, drift, half, !drifts ? p.k->half : p.k->next && !half ? p.k->next : s->v);
  return p;
}

/* ---- Blocks ---- */

static int64_t part_begin(const Pass *p, int64_t part) {
  return p->k->blocks * part / p->parts;
}

static int64_t block_end(int64_t block, int64_t count) {
  int64_t end = (block + 1) * HK_BLOCK;
  return end < count ? end : count;
}

static void hold(const Pass *p, int64_t vertex) {
  const HkSingle *s = p->k->single;
  for (int c = 0; c < 3; c++) {
    int64_t at = s ? hk_single_at(s, vertex, c) : 3 * vertex + c;
    if (s)
      p->single.out[at] = p->drifts ? 0 : p->single.v[at];
    else
      p->kick.out[at] = p->drifts ? 0 : p->kick.v[at];
  }
}

/* Held pins keep their velocity, or get 0 before a drift: they are placed at the end of the
 * step. */
static void kick_block(const Pass *p, int64_t block) {
  const HkModel *m = p->sim->model;
  const HkSpringRows *r = p->k->single ? p->single.rows : p->kick.rows;
  int64_t begin = block * HK_BLOCK / r->width, end = (block + 1) * HK_BLOCK / r->width;
  if (end > r->groups) end = r->groups;
  const HkKickBorder *border = p->k->border;
  if (p->k->single)
    p->k->single->kernels->kick(&p->single, begin, end);
  else if (!p->partial)
    p->k->kernels->kick(&p->kick, begin, end);
  else
    for (int64_t q = border->first_run[block]; q < border->first_run[block + 1]; q++)
      p->k->kernels->kick(&p->kick, border->run[q].begin, border->run[q].end);
  for (int64_t pin = hk_model_first_pin(m, block * HK_BLOCK); pin < m->pin_count; pin++) {
    if (m->pin_vertex[pin] >= (block + 1) * HK_BLOCK) break;
    if (p->state->pin_held[pin]) hold(p, m->pin_vertex[pin]);
  }
}

static void drift_block(const Pass *p, int64_t block) {
  const Kick *k = p->k;
  int64_t begin = block * HK_BLOCK;
  p->sim->work.sums[block] =
      k->single ? k->single->kernels->drift(&p->single, begin, block_end(block, k->single->size))
                : k->kernels->drift(&p->drift, begin, block_end(block, p->sim->model->n));
}

/* Returns whether all blocks with neighbors in a block belong to the same thread. */
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

/* ---- Parts ---- */

static void kick_border_range(void *user, int64_t begin, int64_t end) {
  const Pass *p = user;
  for (int64_t q = begin; q < end; q++) {
    int32_t group = p->k->border->group[q];
    p->k->kernels->kick(&p->kick, group, group + 1);
  }
}

static void kick_border(Pass *p) {
  const HkModel *m = p->sim->model;
  hk_parallel_work(m->threads, p->k->border->groups, HK_ROW_GRAIN, kick_border_range, p);
  for (int64_t pin = 0; pin < m->pin_count; pin++)
    if (p->state->pin_held[pin]) hold(p, m->pin_vertex[pin]);
  p->partial = true;
}

static void drift_ghosts(const Pass *p) {
  const HkPart *part = p->sim->model->part;
  for (int64_t q = 0; q < part->ghost_count; q++) {
    int64_t i = part->ghost_vertex[q];
    for (int c = 0; c < 3; c++)
      p->drift.x[3 * i + c] = p->k->border->ghost_x[3 * q + c] + p->drift.h * p->drift.v[3 * i + c];
  }
}

static void kick_and_drift(Pass *p) {
  int threads = p->sim->model->threads;
  hk_parallel_work(threads, p->parts, 1, both_range, p);
  hk_parallel_work(threads, p->parts, 1, rest_range, p);
}

static void kick_and_drift_part(Pass *p) {
  const HkModel *m = p->sim->model;
  const HkPart *part = m->part;
  double *ghost_x = p->k->border->ghost_x;
  kick_border(p);
  hk_part_exchange_begin(m, p->drift.from);
  for (int64_t q = 0; q < part->ghost_count; q++)
    memcpy(ghost_x + 3 * q, p->drift.x + 3 * (int64_t)part->ghost_vertex[q], 3 * sizeof *ghost_x);
  kick_and_drift(p);
  hk_part_exchange_end(m, p->drift.from, p->drift.v);
  drift_ghosts(p);
}

void hk_kick_drift(HkSim *sim, HkState *s, double t, double h, double drift, bool half) {
  Pass p = pass_of(sim, s, t, h, true, drift, half);
  if (sim->model->part) {
    kick_and_drift_part(&p);
    sim->kinetic = NAN; /* of the ghosts, too, and not of all ranks */
    return;
  }
  kick_and_drift(&p);
  sim->kinetic = 0;
  for (int64_t b = 0; b < p.k->blocks; b++) sim->kinetic += sim->work.sums[b];
}

/* ---- Kick and drift as separate passes ---- */

static void kick_range(void *user, int64_t begin, int64_t end) {
  for (int64_t b = begin; b < end; b++) kick_block(user, b);
}

void hk_kick_half(HkSim *sim, HkState *s, double t, double h) {
  Pass p = pass_of(sim, s, t, h, false, 0, false);
  hk_parallel_work(sim->model->threads, p.k->blocks, 1, kick_range, &p);
  hk_part_exchange(sim->model, p.k->half);
}

static void drift_range(void *user, int64_t begin, int64_t end) {
  for (int64_t b = begin; b < end; b++) drift_block(user, b);
}

void hk_drift_only(HkSim *sim, HkState *s, double h) {
  Pass p = {.sim = sim, .k = sim->data};
  if (p.k->single)
    use_floats(&p, h, false, p.k->single->v);
  else
    use_doubles(&p, s, h, false, s->v);
  hk_parallel_work(sim->model->threads, p.k->blocks, 1, drift_range, &p);
}

void hk_kick_pins(HkSim *sim, HkState *s, double t) {
  const Kick *k = sim->data;
  hk_pins_place(sim->model, s, t, s->x, s->v);
  if (k->single) hk_single_load_pins(k->single, sim->model, s);
}

void hk_kick_end(HkSim *sim, HkState *s) {
  const HkModel *m = sim->model;
  hk_kick_pins(sim, s, s->time);
  for (int64_t p = 0; p < m->pin_count; p++) {
    const double *v = s->v + 3 * (int64_t)m->pin_vertex[p];
    double v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if (s->pin_held[p]) sim->kinetic += 0.5 * m->mass[m->pin_vertex[p]] * v2;
  }
}
