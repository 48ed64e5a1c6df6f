/* A simulation on a card: its arrays, the queue of its steps, the way to it and back.
 *
 * Positions stand twice, v twice where springs are damped: a step reads one and writes the other.
 * What depends on time comes in tables of at most BATCH steps, through memory that the card reads
 * by itself. Small systems are bound by the launching of kernels: for them BATCH steps are a graph
 * that is launched at once.
 */
#ifndef HK_CUDA_SIMULATION_CUH
#define HK_CUDA_SIMULATION_CUH

#include "newton.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace HK_SPACE {

enum { BATCH = 256, RING = 4 };

/* Sweeps of descent, or iterations of conjugate gradients, that are queued at once and after which
 * the host may look. */
enum { ROUND = 10 }; /* even: two arrays of directions take turns */

/* Fewer vertices: graphs; two and four threads for each vertex. */
static const int GRAPHS_BELOW = 400000, TWO_LANES_BELOW = 200000, MANY_LANES_BELOW = 30000;

/* Tables of a batch on their way: one row a step. */
struct Tables {
  HkGpuMoment *moment;
  HkReal *grips;
  double *middle, *end;
  cudaEvent_t read;
};

struct Simulation {
  HkDeviceSettings settings;
  int n, flat, parts;
  bool general, bricks, pushes;
  HkGpuParameters parameters;
  Springs springs;
  int most_local, words, lanes;
  cudaStream_t queue, copies;

  Real4 *x[2];
  HkReal *v[2], *w, *push, *mass;
  int32_t *order;
  int at; /* which x is the present one */
  int v_at;

  Pins pins;
  bool pins_move;
  int motion_count, grip_count;
  Faces faces;
  Grips grips;
  double origin[3];

  Tables host[RING], card;
  int turn;
  cudaGraphExec_t graph[2][2]; /* by at and v_at, of BATCH steps */
  cudaGraphExec_t round;       /* of ROUND sweeps or iterations */

  /* Of implicit steps. */
  Real4 *y, *ahead, *relaxed[2];
  int color_count;
  int32_t *color_start; /* on the host */
  float *sizes, *host_sizes;
  NewtonArgs newton;
  Scalars *host_scalars;
  HkDeviceReport report; /* since the last one was fetched */

  HkReal *record_x, *record_v, *host_x, *host_v;
  double *kinetic, *host_kinetic;
  cudaEvent_t recorded, copied;
  bool has_record;

  void *arrays[64]; /* all that was taken on the card */
  int array_count;
};

/* Remembers an array for the end. */
template <class T> static void keep(Simulation *s, T *p) {
  if (p) s->arrays[s->array_count++] = (void *)p;
}

/* ---- Creating ---- */

static HkGpuSpring spring_of(const HkGpuPaint *p) {
  HkGpuSpring s = {(HkReal)p->k, (HkReal)(p->k * p->l0), (HkReal)p->c, (HkReal)p->least};
  return s;
}

static HkStatus create_springs(Simulation *s, const HkGpuLayout *l, HkError *error) {
  Springs *p = &s->springs;
  uint32_t *word;
  int32_t *order;
  HkReal *l0, *stiffness;
  HK_GO(put(&order, l->order, l->n, error));
  keep(s, order);
  s->order = order;
  HK_GO(put(&word, l->word, l->words, error));
  keep(s, word);
  int64_t slots = l->brick_count > 0 ? 2 * l->words : l->words;
  HK_GO(put_reals(&l0, l->l0, l->l0 ? slots : 0, error));
  keep(s, l0);
  HK_GO(put_reals(&stiffness, l->stiffness, l->stiffness ? slots : 0, error));
  keep(s, stiffness);
  p->word = word;
  p->l0 = l0;
  p->stiffness = stiffness;
  p->k = (HkReal)l->k;
  p->kl0 = (HkReal)l->kl0;
  p->c = (HkReal)l->c;
  p->tension = l->tension;
  p->slots = l->slots;
  for (int q = 0; q < l->palette_count; q++) p->palette[q] = spring_of(&l->palette[q]);
  int32_t *brick = NULL, *halo = NULL;
  int64_t *halo_start = NULL, *row_start = NULL;
  if (l->brick_count > 0) {
    HK_GO(put(&brick, l->brick, l->brick_count + 1, error));
    keep(s, brick);
    HK_GO(put(&halo, l->halo, l->halo_start[l->brick_count], error));
    keep(s, halo);
    HK_GO(put(&halo_start, l->halo_start, l->brick_count + 1, error));
    keep(s, halo_start);
  } else {
    HK_GO(put(&row_start, l->row_start, (l->n + HK_GPU_ROW - 1) / HK_GPU_ROW + 1, error));
    keep(s, row_start);
  }
  p->brick = brick;
  p->halo = halo;
  p->halo_start = halo_start;
  p->row_start = row_start;
  return HK_OK;
}

static HkStatus create_around(Simulation *s, const HkDeviceModel *m, HkError *error) {
  int32_t *place, *motion, *face, *gripped, *grip_start, *grip;
  int64_t *face_start, *face_at;
  double *x0;
  uint8_t *held;
  HK_GO(put(&place, m->pin_place, m->pin_count, error));
  keep(s, place);
  HK_GO(put(&motion, m->pin_motion, m->pin_count, error));
  keep(s, motion);
  HK_GO(put(&x0, m->pin_x0, 3 * m->pin_count, error));
  keep(s, x0);
  HK_GO(take(&held, m->pin_count, error));
  keep(s, held);
  s->pins = Pins{(int)m->pin_count, place, motion, x0, held, {m->origin[0], m->origin[1], m->origin[2]}};
  HK_GO(put(&face, m->face, 3 * m->face_count, error));
  keep(s, face);
  HK_GO(put(&face_start, m->face_start, m->face_count > 0 ? (int64_t)s->n + 1 : 0, error));
  keep(s, face_start);
  HK_GO(put(&face_at, m->face_at, 3 * m->face_count, error));
  keep(s, face_at);
  s->faces = Faces{m->face_count, face, face_start, face_at};
  HK_GO(put(&gripped, m->gripped_place, m->gripped, error));
  keep(s, gripped);
  HK_GO(put(&grip_start, m->grip_start, m->gripped > 0 ? m->gripped + 1 : 0, error));
  keep(s, grip_start);
  HK_GO(put(&grip, m->grip, m->gripped > 0 ? m->grip_start[m->gripped] : 0, error));
  keep(s, grip);
  s->grips = Grips{(int)m->gripped, gripped, grip_start, grip};
  s->pins_move = m->pins_move;
  s->motion_count = m->motion_count;
  s->grip_count = m->grip_count;
  s->pushes = m->face_count > 0 || m->gripped > 0;
  return HK_OK;
}

static HkStatus create_state(Simulation *s, const HkDeviceModel *m, HkError *error) {
  int64_t n = s->n;
  for (int q = 0; q < 2; q++) {
    HK_GO(take(&s->x[q], n, error));
    keep(s, s->x[q]);
  }
  HK_GO(take(&s->v[0], 3 * n, error));
  keep(s, s->v[0]);
  s->v[1] = s->v[0];
  if (s->general) {
    HK_GO(take(&s->v[1], 3 * n, error));
    keep(s, s->v[1]);
  }
  bool predicts = s->settings.step == HK_DEVICE_VERLET && s->settings.uses_velocity;
  HK_GO(take(&s->w, predicts ? 3 * n : 0, error));
  keep(s, s->w);
  HK_GO(take(&s->push, s->pushes ? 3 * n : 0, error));
  keep(s, s->push);
  HK_GO(put_reals(&s->mass, m->mass, n, error));
  keep(s, s->mass);
  HK_GO(take(&s->record_x, 3 * n, error));
  keep(s, s->record_x);
  HK_GO(take(&s->record_v, 3 * n, error));
  keep(s, s->record_v);
  HK_GO(take(&s->kinetic, SUM_BLOCKS, error));
  keep(s, s->kinetic);
  size_t bytes = (size_t)(3 * n) * sizeof(HkReal);
  HK_CUDA(cudaMallocHost(&s->host_x, bytes), "take memory of the host");
  HK_CUDA(cudaMallocHost(&s->host_v, bytes), "take memory of the host");
  HK_CUDA(cudaMallocHost(&s->host_kinetic, SUM_BLOCKS * sizeof(double)), "take memory of the host");
  return HK_OK;
}

static bool is_implicit(const Simulation *s) {
  return s->settings.step >= HK_DEVICE_BLOCK_DESCENT;
}

static HkStatus create_newton(Simulation *s, HkError *error) {
  NewtonArgs *a = &s->newton;
  int64_t n = s->n;
  if (s->settings.step != HK_DEVICE_NEWTON) return HK_OK;
  HK_GO(take(&a->p, n, error));
  keep(s, a->p);
  HK_GO(take(&a->p_next, n, error));
  keep(s, a->p_next);
  HK_GO(take(&a->z, n, error));
  keep(s, a->z);
  HkReal **planes[] = {&a->r, &a->q, &a->d, &a->inverse};
  for (int q = 0; q < 4; q++) {
    HK_GO(take(planes[q], (q < 3 ? 3 : 6) * n, error));
    keep(s, *planes[q]);
  }
  HK_GO(take(&a->part, 2 * NEWTON_BLOCKS, error));
  keep(s, a->part);
  HK_GO(take(&a->scalars, 1, error));
  keep(s, a->scalars);
  HK_CUDA(cudaMallocHost(&s->host_scalars, sizeof(Scalars)), "take memory of the host");
  return HK_OK;
}

static HkStatus create_implicit(Simulation *s, const HkDeviceModel *m, HkError *error) {
  if (!is_implicit(s)) return HK_OK;
  HK_GO(take(&s->y, s->n, error));
  keep(s, s->y);
  HK_GO(take(&s->ahead, s->general ? s->n : 0, error));
  keep(s, s->ahead);
  HK_GO(take(&s->sizes, 3 * SUM_BLOCKS, error));
  keep(s, s->sizes);
  HK_CUDA(cudaMallocHost(&s->host_sizes, 3 * SUM_BLOCKS * sizeof(float)), "take memory of the host");
  for (int q = 0; q < 2 && s->settings.step == HK_DEVICE_JACOBI; q++) {
    HK_GO(take(&s->relaxed[q], s->n, error));
    keep(s, s->relaxed[q]);
  }
  HK_GO(create_newton(s, error));
  if (m->color_count == 0) return HK_OK;
  s->color_count = m->color_count;
  s->color_start = (int32_t *)malloc((size_t)(m->color_count + 1) * sizeof(int32_t));
  if (!s->color_start) return fail(error, HK_ERROR_MEMORY, "no memory for colours");
  memcpy(s->color_start, m->color_start, (size_t)(m->color_count + 1) * sizeof(int32_t));
  return HK_OK;
}

static HkStatus create_tables(Simulation *s, HkError *error) {
  size_t grips = (size_t)BATCH * s->grip_count * HK_DEVICE_GRIP_REALS;
  size_t motions = (size_t)BATCH * s->motion_count * HK_DEVICE_MOTION_REALS;
  HK_GO(take(&s->card.moment, BATCH, error));
  keep(s, s->card.moment);
  HK_GO(take(&s->card.grips, (int64_t)grips, error));
  keep(s, s->card.grips);
  HK_GO(take(&s->card.middle, (int64_t)motions, error));
  keep(s, s->card.middle);
  HK_GO(take(&s->card.end, (int64_t)motions, error));
  keep(s, s->card.end);
  for (int q = 0; q < RING; q++) {
    Tables *t = &s->host[q];
    HK_CUDA(cudaMallocHost(&t->moment, BATCH * sizeof *t->moment), "take memory of the host");
    HK_CUDA(cudaMallocHost(&t->grips, (grips + 1) * sizeof *t->grips), "take memory of the host");
    HK_CUDA(cudaMallocHost(&t->middle, (motions + 1) * sizeof(double)), "take memory of the host");
    HK_CUDA(cudaMallocHost(&t->end, (motions + 1) * sizeof(double)), "take memory of the host");
    HK_CUDA(cudaEventCreateWithFlags(&t->read, cudaEventDisableTiming), "make an event");
  }
  return HK_OK;
}

/* ---- Steps ---- */

/* Cloth of quads has 12 slots at most, a lattice 26; the others count what there is. */
template <int P, bool G> static void *brick_kernel(const Simulation *s) {
  if (s->words == 6) return (void *)kick_bricks<P, G, 6, true>;
  if (s->words == 13) return (void *)kick_bricks<P, G, 13, true>;
  if (s->words <= 4) return (void *)kick_bricks<P, G, 4, false>;
  if (s->words <= 8) return (void *)kick_bricks<P, G, 8, false>;
  return (void *)kick_bricks<P, G, 13, false>;
}

template <int P, bool G> static void *row_kernel(const Simulation *s) {
  if (s->lanes == 1) return (void *)kick_rows<P, G, 1, 6>;
  if (s->lanes == 2) return (void *)kick_rows<P, G, 2, 6>;
  return (void *)kick_rows<P, G, 4, 7>;
}

template <int P> static void *kick_kernel(const Simulation *s) {
  if (s->bricks) return s->general ? brick_kernel<P, true>(s) : brick_kernel<P, false>(s);
  return s->general ? row_kernel<P, true>(s) : row_kernel<P, false>(s);
}

typedef void KickKernel(const Springs, const KickArgs);

static KickKernel *pick_kick(const Simulation *s) {
  void *kernel = s->parameters == HK_GPU_BY_PALETTE  ? kick_kernel<HK_GPU_BY_PALETTE>(s)
                 : s->parameters == HK_GPU_BY_LENGTH ? kick_kernel<HK_GPU_BY_LENGTH>(s)
                                                     : kick_kernel<HK_GPU_UNIQUE>(s);
  return (KickKernel *)kernel;
}

static size_t kick_shared(const Simulation *s) {
  return s->bricks ? brick_shared(s->most_local, s->general) : 0;
}

/* ... of forces at the velocities w; the kick goes on from v. */
static void queue_push(Simulation *s, int step, const HkReal *w) {
  const Real4 *x = s->x[s->at];
  if (s->faces.count > 0)
    launch(blow, blocks_for(s->n, WIDE), WIDE, 0, s->queue, s->faces, s->n,
           s->card.moment + step, x, w, s->push);
  if (s->grips.count > 0)
    launch(grip, blocks_for(s->grips.count, WIDE), WIDE, 0, s->queue, s->grips, s->n,
           (int)(s->faces.count > 0),
           s->card.grips + (size_t)step * s->grip_count * HK_DEVICE_GRIP_REALS, x, w, s->push);
}

static void queue_kick(Simulation *s, int step, double h, double drift, const HkReal *w,
                       HkReal *predicted) {
  KickArgs a = {};
  if (s->pushes) queue_push(s, step, w);
  a.n = s->n;
  a.h = (HkReal)h;
  a.drift = (HkReal)drift;
  a.flat = s->flat;
  a.parts = s->parts;
  a.predicts = predicted != NULL;
  a.moment = s->card.moment + step;
  a.x = s->x[s->at];
  a.x_out = s->x[1 - s->at];
  a.v = s->v[s->v_at];
  a.w = w;
  a.v_out = predicted ? predicted : s->v[1 - s->v_at];
  a.push = s->pushes ? s->push : NULL;
  int threads = s->bricks ? (int)HK_GPU_BRICK : (int)ROW_THREADS;
  launch(pick_kick(s), blocks_for((int64_t)s->lanes * s->n, threads), threads, kick_shared(s),
         s->queue, s->springs, a);
  if (predicted) return;
  s->at = 1 - s->at;
  s->v_at = 1 - s->v_at;
}

static void queue_pins(Simulation *s, const double *table, int step) {
  if (!s->pins_move) return;
  launch(place_pins, blocks_for(s->pins.count, WIDE), WIDE, 0, s->queue, s->pins, s->n,
         table + (size_t)step * s->motion_count * HK_DEVICE_MOTION_REALS, s->x[s->at],
         s->v[s->v_at]);
}

static void queue_drift(Simulation *s, double drift) {
  launch(drift_only, blocks_for(s->n, WIDE), WIDE, 0, s->queue, s->n, (HkReal)drift, s->x[s->at],
         s->v[s->v_at]);
}

/* ---- Implicit steps ---- */

typedef void DescentKernel(const Springs, const DescentArgs);
typedef void SizeKernel(const Springs, const DescentArgs, float *);

template <int P, bool G> static DescentKernel *descent_kernel(const Simulation *s) {
  return s->n < MANY_LANES_BELOW ? descend<P, G, 4> : descend<P, G, 1>;
}

static DescentKernel *pick_descent(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE:
    return s->general ? descent_kernel<HK_GPU_BY_PALETTE, true>(s)
                      : descent_kernel<HK_GPU_BY_PALETTE, false>(s);
  case HK_GPU_BY_LENGTH:
    return s->general ? descent_kernel<HK_GPU_BY_LENGTH, true>(s)
                      : descent_kernel<HK_GPU_BY_LENGTH, false>(s);
  default:
    return s->general ? descent_kernel<HK_GPU_UNIQUE, true>(s)
                      : descent_kernel<HK_GPU_UNIQUE, false>(s);
  }
}

typedef void RelaxKernel(const Springs, const DescentArgs, HkReal, HkReal, const Real4 *, Real4 *);

template <int P, bool G> static RelaxKernel *relax_kernel(const Simulation *s) {
  return s->n < MANY_LANES_BELOW ? relax<P, G, 4> : relax<P, G, 1>;
}

static RelaxKernel *pick_relax(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE:
    return s->general ? relax_kernel<HK_GPU_BY_PALETTE, true>(s)
                      : relax_kernel<HK_GPU_BY_PALETTE, false>(s);
  case HK_GPU_BY_LENGTH:
    return s->general ? relax_kernel<HK_GPU_BY_LENGTH, true>(s)
                      : relax_kernel<HK_GPU_BY_LENGTH, false>(s);
  default:
    return s->general ? relax_kernel<HK_GPU_UNIQUE, true>(s)
                      : relax_kernel<HK_GPU_UNIQUE, false>(s);
  }
}

static SizeKernel *pick_size(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE:
    return s->general ? size_parts<HK_GPU_BY_PALETTE, true> : size_parts<HK_GPU_BY_PALETTE, false>;
  case HK_GPU_BY_LENGTH:
    return s->general ? size_parts<HK_GPU_BY_LENGTH, true> : size_parts<HK_GPU_BY_LENGTH, false>;
  default:
    return s->general ? size_parts<HK_GPU_UNIQUE, true> : size_parts<HK_GPU_UNIQUE, false>;
  }
}

static void queue_begin(Simulation *s, int step) {
  HkReal h = (HkReal)s->settings.h;
  Real4 *x = s->x[s->at], *b = s->x[1 - s->at];
  HkReal *v = s->v[s->v_at];
  launch(begin_step, blocks_for(s->n, WIDE), WIDE, 0, s->queue, s->n, h, s->card.moment + step,
         s->mass, x, v, b, s->ahead, s->y);
  launch(anchor_grips, blocks_for(s->grips.count, WIDE), WIDE, 0, s->queue, s->grips, h,
         s->card.grips + (size_t)step * s->grip_count * HK_DEVICE_GRIP_REALS, b, s->y);
  queue_pins(s, s->card.end, step);
  if (s->pins_move)
    launch(begin_pins, blocks_for(s->pins.count, WIDE), WIDE, 0, s->queue, s->pins, s->n, h, x, v,
           b, s->ahead);
}

static DescentArgs descent_args(const Simulation *s) {
  DescentArgs a = {};
  a.n = s->n;
  a.h = (HkReal)s->settings.h;
  a.flat = s->flat;
  a.x = s->x[s->at];
  a.b = s->x[1 - s->at];
  a.ahead = s->ahead;
  a.y = s->y;
  return a;
}

static void queue_sweep(Simulation *s) {
  DescentArgs a = descent_args(s);
  int lanes = s->n < MANY_LANES_BELOW ? 4 : 1;
  for (int c = 0; c < s->color_count; c++) {
    a.first = s->color_start[c];
    a.last = s->color_start[c + 1];
    launch(pick_descent(s), blocks_for((int64_t)lanes * (a.last - a.first), ROW_THREADS),
           ROW_THREADS, 0, s->queue, s->springs, a);
  }
}

/* What queue puts into the queue, as a graph that is made once. */
template <class F>
static HkStatus queue_graph_of(Simulation *s, cudaGraphExec_t *made, F queue, HkError *error) {
  if (!*made) {
    cudaGraph_t graph;
    HK_CUDA(cudaStreamBeginCapture(s->queue, cudaStreamCaptureModeThreadLocal), "make a graph");
    queue();
    HK_CUDA(cudaStreamEndCapture(s->queue, &graph), "make a graph");
    cudaError_t code = cudaGraphInstantiate(made, graph, 0);
    cudaGraphDestroy(graph);
    HK_CUDA(code, "make a graph");
  }
  HK_CUDA(cudaGraphLaunch(*made, s->queue), "launch a graph");
  return HK_OK;
}

/* count times one, ROUND at once where launching counts. */
template <class F>
static HkStatus queue_round(Simulation *s, int count, F one, HkError *error) {
  auto all = [&] {
    for (int q = 0; q < count; q++) one();
  };
  if (count == ROUND && s->n < GRAPHS_BELOW) return queue_graph_of(s, &s->round, all, error);
  all();
  return HK_OK;
}

/* Whether x has come near enough, as minimize/minimize.c has it; *size: what is left (m). */
static HkStatus look(Simulation *s, const Real4 *x, bool *done, double *size, HkError *error) {
  const double ROUNDING = 8 * (sizeof(HkReal) == 4 ? 6e-8 : 1.1e-16);
  float most[3] = {0, 0, 0};
  DescentArgs a = descent_args(s);
  a.x = (Real4 *)x;
  pick_size(s)<<<SUM_BLOCKS, SUM_THREADS, 0, s->queue>>>(s->springs, a, s->sizes);
  HK_CUDA(cudaMemcpyAsync(s->host_sizes, s->sizes, 3 * SUM_BLOCKS * sizeof(float),
                          cudaMemcpyDeviceToHost, s->queue),
          "copy");
  HK_CUDA(cudaStreamSynchronize(s->queue), "make its steps");
  for (int q = 0; q < 3 * SUM_BLOCKS; q++) {
    float *to = &most[q / SUM_BLOCKS];
    *to = s->host_sizes[q] > *to ? s->host_sizes[q] : *to;
  }
  double goal = s->settings.tolerance * most[1], rounding = ROUNDING * most[2];
  s->report.gradient = most[1] > 0 ? most[0] / most[1] : 0;
  *size = most[0];
  *done = s->settings.tolerance > 0 && most[0] <= (goal > rounding ? goal : rounding);
  return HK_OK;
}

static void queue_end(Simulation *s) {
  launch(end_step, blocks_for(s->n, WIDE), WIDE, 0, s->queue, s->n, (HkReal)s->settings.h,
         s->x[s->at], s->x[1 - s->at], s->v[s->v_at]);
}

static HkStatus make_descent(Simulation *s, int step, HkError *error) {
  bool done = false;
  double size;
  int sweeps = 0, most = s->settings.iterations;
  queue_begin(s, step);
  while (sweeps < most && !done) {
    int count = most - sweeps < ROUND ? most - sweeps : ROUND;
    HK_GO(queue_round(s, count, [&] { queue_sweep(s); }, error));
    sweeps += count;
    if (s->settings.tolerance > 0) HK_GO(look(s, s->x[s->at], &done, &size, error));
  }
  s->report.iterations += sweeps;
  s->report.unconverged += s->settings.tolerance > 0 && !done;
  queue_end(s);
  return HK_OK;
}

/* ---- Jacobi ---- */

/* The spectral radius by which a round of ROUND iterations, made for the radius rho, has left a part
 * R of what there was: minimize/chebyshev.h. */
static double measured_radius(double rho, double R) {
  if (!(R > 0)) return rho;
  if (rho == 0) return fmin(pow(R, 1.0 / ROUND), 0.9999);
  double most = R * cosh(ROUND * acosh(1 / rho));
  return most <= 1 ? rho : fmin(rho * cosh(acosh(most) / ROUND), 0.9999);
}

/* ROUND iterations at most, with which the recurrence of omega begins anew; x: the newest first, then
 * the one before, then room. */
static void queue_relaxation(Simulation *s, Real4 *x[3], double rho, int count) {
  int lanes = s->n < MANY_LANES_BELOW ? 4 : 1;
  double omega = 1;
  for (int q = 0; q < count; q++) {
    DescentArgs a = descent_args(s);
    a.x = x[0];
    if (q == 1) omega = 2 / (2 - rho * rho);
    if (q > 1) omega = 4 / (4 - rho * rho * omega);
    launch(pick_relax(s), blocks_for((int64_t)lanes * s->n, ROW_THREADS), ROW_THREADS, 0, s->queue,
           s->springs, a, (HkReal)s->settings.weight, (HkReal)omega, q == 0 ? x[0] : x[1], x[2]);
    Real4 *newest = x[2];
    x[2] = x[1];
    x[1] = x[0];
    x[0] = newest;
  }
}

static HkStatus make_jacobi(Simulation *s, int step, HkError *error) {
  Real4 *x[3] = {s->x[s->at], s->relaxed[0], s->relaxed[1]};
  double rho = s->settings.rho, left = 0, size = 0;
  bool done = false, measures = rho == 0;
  int made = 0, most = s->settings.iterations;
  queue_begin(s, step);
  while (made < most && !done) {
    int count = most - made < ROUND ? most - made : ROUND;
    queue_relaxation(s, x, rho, count);
    made += count;
    if (!measures && s->settings.tolerance == 0) continue;
    HK_GO(look(s, x[0], &done, &size, error));
    if (measures && left > 0) rho = size < left ? measured_radius(rho, size / left) : rho / 2;
    left = size;
  }
  if (x[0] != s->x[s->at])
    HK_CUDA(cudaMemcpyAsync(s->x[s->at], x[0], (size_t)s->n * sizeof(Real4),
                            cudaMemcpyDeviceToDevice, s->queue),
            "copy");
  s->report.iterations += made;
  s->report.unconverged += s->settings.tolerance > 0 && !done;
  queue_end(s);
  return HK_OK;
}

/* ---- Newton ---- */

typedef void SolveKernel(const Springs, const NewtonArgs);
typedef void ChangeKernel(const Springs, const NewtonArgs, HkReal);

struct NewtonKernels {
  SolveKernel *begin, *multiply;
  ChangeKernel *change;
};

template <int P, bool G> static NewtonKernels newton_kernels() {
  return NewtonKernels{begin_solve<P, G>, multiply<P, G>, change<P, G>};
}

static NewtonKernels pick_newton(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE:
    return s->general ? newton_kernels<HK_GPU_BY_PALETTE, true>()
                      : newton_kernels<HK_GPU_BY_PALETTE, false>();
  case HK_GPU_BY_LENGTH:
    return s->general ? newton_kernels<HK_GPU_BY_LENGTH, true>()
                      : newton_kernels<HK_GPU_BY_LENGTH, false>();
  default:
    return s->general ? newton_kernels<HK_GPU_UNIQUE, true>()
                      : newton_kernels<HK_GPU_UNIQUE, false>();
  }
}

static unsigned newton_blocks(const Simulation *s) {
  unsigned all = blocks_for(s->n, WIDE);
  return all < NEWTON_BLOCKS ? all : (unsigned)NEWTON_BLOCKS;
}

static HkStatus read_scalars(Simulation *s, HkError *error) {
  HK_CUDA(cudaMemcpyAsync(s->host_scalars, s->newton.scalars, sizeof(Scalars),
                          cudaMemcpyDeviceToHost, s->queue),
          "copy");
  HK_CUDA(cudaStreamSynchronize(s->queue), "make its steps");
  return HK_OK;
}

static void queue_iteration(Simulation *s, NewtonArgs *a, const NewtonKernels *k) {
  launch(k->multiply, newton_blocks(s), WIDE, 0, s->queue, s->springs, *a);
  launch(update, newton_blocks(s), WIDE, 0, s->queue, *a);
  Real4 *p = a->p;
  a->p = a->p_next;
  a->p_next = p;
}

/* d = H^-1 r to a relative residual; 0: all iterations are made, and no one looks. */
static HkStatus solve(Simulation *s, NewtonArgs *a, const NewtonKernels *k, double accuracy,
                      HkError *error) {
  double goal = 0;
  bool done = false;
  int most = s->settings.linear_iterations;
  a->p = s->newton.p; /* as the graph of a round knows them */
  a->p_next = s->newton.p_next;
  k->begin<<<newton_blocks(s), WIDE, 0, s->queue>>>(s->springs, *a);
  if (accuracy > 0) {
    HK_GO(read_scalars(s, error));
    goal = accuracy * accuracy * s->host_scalars->rr;
  }
  for (int it = 0; it < most && !done;) {
    int count = most - it < ROUND ? most - it : ROUND;
    HK_GO(queue_round(s, count, [&] { queue_iteration(s, a, k); }, error));
    it += count;
    s->report.linear_iterations += count;
    if (accuracy == 0) continue;
    HK_GO(read_scalars(s, error));
    done = s->host_scalars->rr <= goal;
  }
  return HK_OK;
}

/* The largest of d, d / 2 ... that lowers g. */
static HkStatus go_down(Simulation *s, const NewtonArgs *a, const NewtonKernels *k, bool *found,
                        HkError *error) {
  HkReal t = 1;
  *found = false;
  for (int halvings = 0; halvings < 12 && !*found; halvings++, t /= 2) {
    k->change<<<newton_blocks(s), WIDE, 0, s->queue>>>(s->springs, *a, t);
    HK_GO(read_scalars(s, error));
    if (!(s->host_scalars->alpha < 0)) continue;
    go<<<blocks_for(s->n, WIDE), WIDE, 0, s->queue>>>(*a, t);
    *found = true;
  }
  return HK_OK;
}

static HkStatus make_newton(Simulation *s, int step, HkError *error) {
  NewtonKernels k = pick_newton(s);
  bool done = false, found = true;
  double size;
  int it = 0;
  queue_begin(s, step);
  NewtonArgs a = s->newton;
  a.step = descent_args(s);
  for (; it < s->settings.iterations && !done && found; it++) {
    HK_GO(solve(s, &a, &k, s->settings.forcing, error));
    HK_GO(go_down(s, &a, &k, &found, error));
    if (s->settings.tolerance > 0) HK_GO(look(s, s->x[s->at], &done, &size, error));
  }
  s->report.iterations += it;
  s->report.unconverged += s->settings.tolerance > 0 && !done;
  queue_end(s);
  return HK_OK;
}

/* ---- Batches ---- */

/* Steps that follow each other drift at once to the middle of the next one. */
static void queue_batch(Simulation *s, int count) {
  double h = s->settings.h;
  bool verlet = s->settings.step == HK_DEVICE_VERLET;
  if (verlet) queue_drift(s, h / 2);
  for (int q = 0; q < count; q++) {
    const HkReal *w = s->v[s->v_at];
    if (verlet) queue_pins(s, s->card.middle, q);
    if (verlet && s->settings.uses_velocity) {
      queue_kick(s, q, h / 2, 0, w, s->w);
      w = s->w;
    }
    queue_kick(s, q, h, verlet && q + 1 == count ? h / 2 : h, w, NULL);
    if (!verlet || q + 1 == count) queue_pins(s, s->card.end, q);
  }
}

/* A whole batch as a graph; an even number of steps leaves the state where it was. */
static HkStatus queue_graph(Simulation *s, HkError *error) {
  int at = s->at, v_at = s->v_at;
  HkStatus status = queue_graph_of(s, &s->graph[at][v_at], [&] { queue_batch(s, BATCH); }, error);
  s->at = at;
  s->v_at = v_at;
  return status;
}

static HkStatus send(Simulation *s, void *to, const void *from, size_t bytes, HkError *error) {
  if (bytes > 0)
    HK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->queue), "copy a table");
  return HK_OK;
}

static HkStatus send_tables(Simulation *s, const HkDeviceTimes *times, int64_t first, int count,
                            HkError *error) {
  Tables *t = &s->host[s->turn];
  size_t moments = (size_t)count * HK_GPU_MOMENT_REALS;
  size_t grips = (size_t)s->grip_count * HK_DEVICE_GRIP_REALS, all_grips = grips * count;
  size_t motions = (size_t)s->motion_count * HK_DEVICE_MOTION_REALS, bytes = motions * count * 8;
  s->turn = (s->turn + 1) % RING;
  HK_CUDA(cudaEventSynchronize(t->read), "copy a table");
  HkReal *to = (HkReal *)t->moment;
  for (size_t q = 0; q < moments; q++)
    to[q] = (HkReal)times->moment[first * HK_GPU_MOMENT_REALS + q];
  for (size_t q = 0; q < all_grips; q++)
    t->grips[q] = (HkReal)times->grips[(size_t)first * grips + q];
  HK_GO(send(s, s->card.moment, t->moment, moments * sizeof(HkReal), error));
  HK_GO(send(s, s->card.grips, t->grips, all_grips * sizeof(HkReal), error));
  if (s->pins_move) {
    memcpy(t->end, times->end + (size_t)first * motions, bytes);
    HK_GO(send(s, s->card.end, t->end, bytes, error));
  }
  if (s->pins_move && times->middle) {
    memcpy(t->middle, times->middle + (size_t)first * motions, bytes);
    HK_GO(send(s, s->card.middle, t->middle, bytes, error));
  }
  HK_CUDA(cudaEventRecord(t->read, s->queue), "copy a table");
  return HK_OK;
}

static HkStatus make_steps(Simulation *s, const HkDeviceTimes *times, HkError *error) {
  for (int64_t first = 0; first < times->steps; first += BATCH) {
    int count = times->steps - first < BATCH ? (int)(times->steps - first) : BATCH;
    HK_GO(send_tables(s, times, first, count, error));
    if (is_implicit(s))
      for (int q = 0; q < count; q++)
        HK_GO(s->settings.step == HK_DEVICE_NEWTON   ? make_newton(s, q, error)
              : s->settings.step == HK_DEVICE_JACOBI ? make_jacobi(s, q, error)
                                                     : make_descent(s, q, error));
    else if (count == BATCH && s->n < GRAPHS_BELOW)
      HK_GO(queue_graph(s, error));
    else
      queue_batch(s, count);
    HK_CUDA(cudaGetLastError(), "launch a step");
  }
  return HK_OK;
}

/* ---- To the card and back ---- */

static HkStatus upload(Simulation *s, const double *x, const double *v, const uint8_t *held,
                       HkError *error) {
  double *room;
  size_t bytes = (size_t)s->n * 3 * sizeof(double);
  HK_CUDA(cudaStreamSynchronize(s->queue), "finish its steps");
  HK_GO(take(&room, 6 * (int64_t)s->n, error));
  cudaError_t code = cudaMemcpy(room, x, bytes, cudaMemcpyHostToDevice);
  if (code == cudaSuccess)
    code = cudaMemcpy(room + 3 * (int64_t)s->n, v, bytes, cudaMemcpyHostToDevice);
  if (code == cudaSuccess && s->pins.count > 0)
    code = cudaMemcpy((void *)s->pins.held, held, (size_t)s->pins.count, cudaMemcpyHostToDevice);
  s->at = s->v_at = 0;
  if (code == cudaSuccess) {
    take_state<<<blocks_for(s->n, WIDE), WIDE, 0, s->queue>>>(
        s->n, s->order, s->mass, s->origin[0], s->origin[1], s->origin[2], room,
        room + 3 * (int64_t)s->n, s->x[0], s->v[0]);
    if (s->pins.count > 0)
      hold_pins<<<blocks_for(s->pins.count, WIDE), WIDE, 0, s->queue>>>(s->pins, s->mass,
                                                                          s->x[0]);
    code = cudaStreamSynchronize(s->queue);
  }
  cudaFree(room);
  HK_CUDA(code, "take a state");
  return HK_OK;
}

static HkStatus record(Simulation *s, HkError *error) {
  size_t bytes = (size_t)s->n * 3 * sizeof(HkReal);
  HK_CUDA(cudaStreamWaitEvent(s->queue, s->copied, 0), "wait");
  give_state<<<blocks_for(s->n, WIDE), WIDE, 0, s->queue>>>(
      s->n, s->order, s->x[s->at], s->v[s->v_at], s->record_x, s->record_v);
  kinetic_parts<<<SUM_BLOCKS, SUM_THREADS, 0, s->queue>>>(s->n, s->mass, s->v[s->v_at], s->kinetic);
  HK_CUDA(cudaGetLastError(), "record a state");
  HK_CUDA(cudaEventRecord(s->recorded, s->queue), "record a state");
  HK_CUDA(cudaStreamWaitEvent(s->copies, s->recorded, 0), "wait");
  HK_CUDA(cudaMemcpyAsync(s->host_x, s->record_x, bytes, cudaMemcpyDeviceToHost, s->copies), "copy");
  HK_CUDA(cudaMemcpyAsync(s->host_v, s->record_v, bytes, cudaMemcpyDeviceToHost, s->copies), "copy");
  HK_CUDA(cudaMemcpyAsync(s->host_kinetic, s->kinetic, SUM_BLOCKS * sizeof(double),
                          cudaMemcpyDeviceToHost, s->copies),
          "copy");
  HK_CUDA(cudaEventRecord(s->copied, s->copies), "record a state");
  s->has_record = true;
  return HK_OK;
}

static HkStatus fetch(Simulation *s, const void **x, const void **v, HkDeviceReport *report,
                      HkError *error) {
  if (!s->has_record) HK_GO(record(s, error));
  HK_CUDA(cudaEventSynchronize(s->copied), "make its steps");
  s->has_record = false;
  *report = s->report;
  s->report = HkDeviceReport{};
  for (int q = 0; q < SUM_BLOCKS; q++) report->kinetic += s->host_kinetic[q];
  *x = s->host_x;
  *v = s->host_v;
  return HK_OK;
}

/* ---- The whole ---- */

static void drop_graphs(Simulation *s) {
  for (int q = 0; q < 4; q++) {
    cudaGraphExec_t *made = &s->graph[q / 2][q % 2];
    if (*made) cudaGraphExecDestroy(*made);
    *made = NULL;
  }
  if (s->round) cudaGraphExecDestroy(s->round);
  s->round = NULL;
}

static void destroy(Simulation *s) {
  if (!s) return;
  if (s->queue) cudaStreamSynchronize(s->queue);
  if (s->copies) cudaStreamSynchronize(s->copies);
  for (int q = 0; q < s->array_count; q++) cudaFree(s->arrays[q]);
  for (int q = 0; q < RING; q++) {
    Tables *t = &s->host[q];
    cudaFreeHost(t->moment);
    cudaFreeHost(t->grips);
    cudaFreeHost(t->middle);
    cudaFreeHost(t->end);
    if (t->read) cudaEventDestroy(t->read);
  }
  drop_graphs(s);
  cudaFreeHost(s->host_x);
  cudaFreeHost(s->host_v);
  cudaFreeHost(s->host_kinetic);
  cudaFreeHost(s->host_sizes);
  cudaFreeHost(s->host_scalars);
  free(s->color_start);
  if (s->recorded) cudaEventDestroy(s->recorded);
  if (s->copied) cudaEventDestroy(s->copied);
  if (s->queue) cudaStreamDestroy(s->queue);
  if (s->copies) cudaStreamDestroy(s->copies);
  free(s);
}

static HkStatus fill(Simulation *s, const HkDeviceModel *m, HkError *error) {
  const HkGpuLayout *l = m->layout;
  s->n = (int)l->n;
  s->flat = m->flat;
  s->parts = m->medium_parts;
  s->general = l->damped || l->threads;
  s->bricks = l->brick_count > 0;
  s->parameters = l->parameters;
  s->most_local = l->most_local;
  s->words = l->slots / 2;
  s->lanes = s->bricks || s->n >= TWO_LANES_BELOW ? 1 : s->n >= MANY_LANES_BELOW ? 2 : 4;
  memcpy(s->origin, m->origin, sizeof s->origin);
  HK_CUDA(cudaStreamCreateWithFlags(&s->queue, cudaStreamNonBlocking), "make a queue");
  HK_CUDA(cudaStreamCreateWithFlags(&s->copies, cudaStreamNonBlocking), "make a queue");
  HK_CUDA(cudaEventCreateWithFlags(&s->recorded, cudaEventDisableTiming), "make an event");
  HK_CUDA(cudaEventCreateWithFlags(&s->copied, cudaEventDisableTiming), "make an event");
  HK_GO(create_springs(s, l, error));
  HK_GO(create_around(s, m, error));
  HK_GO(create_state(s, m, error));
  HK_GO(create_implicit(s, m, error));
  HK_GO(create_tables(s, error));
  HK_CUDA(cudaFuncSetAttribute(pick_kick(s), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int)kick_shared(s)),
          "set up its kernels");
  return HK_OK;
}

static HkStatus create(const HkDeviceModel *m, const HkDeviceSettings *settings, Simulation **made,
                       HkError *error) {
  Simulation *s = (Simulation *)calloc(1, sizeof *s);
  *made = NULL;
  if (!s) return fail(error, HK_ERROR_MEMORY, "no memory for a simulation");
  s->settings = *settings;
  HkStatus status = fill(s, m, error);
  if (status < 0)
    destroy(s);
  else
    *made = s;
  return status;
}

/* ---- As a plug-in wants it ---- */

static HkStatus device_create(const HkDeviceModel *m, const HkDeviceSettings *settings,
                              HkDeviceSim **sim, HkError *error) {
  return create(m, settings, (Simulation **)sim, error);
}

static void device_destroy(HkDeviceSim **sim) {
  destroy((Simulation *)*sim);
  *sim = NULL;
}

static HkStatus device_set_h(HkDeviceSim *sim, double h, HkError *error) {
  Simulation *s = (Simulation *)sim;
  HK_CUDA(cudaStreamSynchronize(s->queue), "finish its steps");
  drop_graphs(s);
  s->settings.h = h;
  return HK_OK;
}

static HkStatus device_upload(HkDeviceSim *sim, const double *x, const double *v,
                              const uint8_t *held, HkError *error) {
  return upload((Simulation *)sim, x, v, held, error);
}

static HkStatus device_steps(HkDeviceSim *sim, const HkDeviceTimes *times, HkError *error) {
  return make_steps((Simulation *)sim, times, error);
}

static HkStatus device_wait(HkDeviceSim *sim, HkError *error) {
  HK_CUDA(cudaStreamSynchronize(((Simulation *)sim)->queue), "make its steps");
  return HK_OK;
}

static HkStatus device_record(HkDeviceSim *sim, HkError *error) {
  return record((Simulation *)sim, error);
}

static HkStatus device_fetch(HkDeviceSim *sim, const void **x, const void **v,
                             HkDeviceReport *report, HkError *error) {
  return fetch((Simulation *)sim, x, v, report, error);
}

/* What single.cu and double.cu offer to plugin.cu. */
#define HK_CUDA_DEVICE                                                                             \
  {                                                                                                \
    HK_DEVICE_VERSION, "cuda", NULL, NULL, HK_SPACE::device_create, HK_SPACE::device_destroy,      \
        HK_SPACE::device_set_h, HK_SPACE::device_upload, HK_SPACE::device_steps,                   \
        HK_SPACE::device_wait, HK_SPACE::device_record, HK_SPACE::device_fetch, NULL               \
  }

} // namespace HK_SPACE

#endif
