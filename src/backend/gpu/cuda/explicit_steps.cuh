/* Queues explicit steps: symplectic Euler, v += h a, x += h v; and Verlet, drift, kick, drift.
 *
 * The kernel of a kick depends on the layout (bricks or rows), on the encoding of spring
 * parameters, and on whether any spring is damped or tension-only. If springs are plain and only
 * springs and the medium act on vertices, one kernel makes two steps.
 */
#ifndef HK_CUDA_EXPLICIT_STEPS_CUH
#define HK_CUDA_EXPLICIT_STEPS_CUH

#include "simulation.cuh"

namespace HK_SPACE {

/* Kernels are specialized for the 12 slots of cloth of quads and the 26 of a lattice; the others
 * read the number of slots. */
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

typedef void TwiceKernel(const Springs, const KickArgs, int);

static TwiceKernel *pick_twice(const Simulation *s) {
  if (s->words == 6) return kick_twice<6, true>;
  if (s->words == 13) return kick_twice<13, true>;
  if (s->words <= 4) return kick_twice<4, false>;
  if (s->words <= 8) return kick_twice<8, false>;
  return kick_twice<13, false>;
}

/* push = the force of the air. */
static void queue_face_wind(Simulation *s, const HkGpuMoment *moment, const Real4 *x,
                            const HkReal *w) {
  launch(face_wind, blocks_for(s->faces.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, s->faces,
         s->n, moment, x, w);
  launch(gather_faces, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, s->faces, s->n,
         s->push);
}

/* push = the force of faces and grips at the velocities w. */
static void queue_vertex_forces(Simulation *s, int step, const HkReal *w) {
  const Real4 *x = s->x[s->at];
  if (s->faces.count > 0) queue_face_wind(s, s->device.moment + step, x, w);
  if (s->grips.count > 0)
    launch(grip, blocks_for(s->grips.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, s->grips,
           s->n, (int)(s->faces.count > 0),
           s->device.grips + (size_t)step * s->grip_count * HK_DEVICE_GRIP_REALS, x, w, s->push);
}

/* Returns the arguments of a kick from the current state to the next one. */
static KickArgs kick_args(const Simulation *s, int step, double h, double drift, const HkReal *w) {
  KickArgs a = {};
  a.n = s->n;
  a.h = (HkReal)h;
  a.drift = (HkReal)drift;
  a.flat = s->flat;
  a.parts = s->parts;
  a.moment = s->device.moment + step;
  a.x = s->x[s->at];
  a.x_out = s->x[1 - s->at];
  a.v = s->v[s->v_at];
  a.w = w;
  a.v_out = s->v[1 - s->v_at];
  a.push = s->pushes ? s->push : NULL;
  return a;
}

static void turn(Simulation *s) {
  s->at = 1 - s->at;
  s->v_at = 1 - s->v_at;
}

static void queue_kick(Simulation *s, int step, double h, double drift, const HkReal *w,
                       HkReal *predicted) {
  KickArgs a = kick_args(s, step, h, drift, w);
  if (s->pushes) queue_vertex_forces(s, step, w);
  a.predicts = predicted != NULL;
  if (predicted) a.v_out = predicted;
  int threads = s->bricks ? (int)HK_GPU_BRICK : (int)ROW_THREADS;
  launch(pick_kick(s), blocks_for((int64_t)s->lanes * s->n, threads), threads, kick_shared(s),
         s->queue, s->springs, a);
  if (!predicted) turn(s);
}

/* Queues two steps, or one; the last of them drifts. */
static void queue_twice(Simulation *s, int step, int count, double drift) {
  KickArgs a = kick_args(s, step, s->settings.h, drift, s->v[s->v_at]);
  launch(pick_twice(s), (unsigned)s->springs.brick_count, s->most_rows,
         twice_shared(s->most_local, s->most_rows), s->queue, s->springs, a, (int)(count == 1));
  turn(s);
}

static void queue_pins(Simulation *s, const double *table, int step) {
  if (!s->pins_move) return;
  launch(place_pins, blocks_for(s->pins.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, s->pins,
         s->n, table + (size_t)step * s->motion_count * HK_DEVICE_MOTION_REALS, s->x[s->at],
         s->v[s->v_at]);
}

static void queue_drift(Simulation *s, double drift) {
  launch(drift_only, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, s->n,
         (HkReal)drift, s->x[s->at], s->v[s->v_at]);
}

/* ---- Batches ---- */

/* Queues `count` steps. Each step of Verlet but the last drifts to the middle of the next one. */
static void queue_batch(Simulation *s, int count) {
  double h = s->settings.h;
  bool verlet = s->settings.step == HK_DEVICE_VERLET;
  if (verlet) queue_drift(s, h / 2);
  for (int q = 0; q < count && s->twice; q += 2) {
    bool last = q + 2 >= count;
    queue_twice(s, q, q + 1 < count ? 2 : 1, verlet && last ? h / 2 : h);
  }
  for (int q = 0; q < count && !s->twice; q++) {
    const HkReal *w = s->v[s->v_at];
    if (verlet) queue_pins(s, s->device.middle, q);
    if (verlet && s->settings.uses_velocity) {
      queue_kick(s, q, h / 2, 0, w, s->w);
      w = s->w;
    }
    queue_kick(s, q, h, verlet && q + 1 == count ? h / 2 : h, w, NULL);
    if (!verlet || q + 1 == count) queue_pins(s, s->device.end, q);
  }
}

/* Queues a whole batch as a graph; an even number of steps leaves the state in the same arrays. */
static HkStatus queue_graph(Simulation *s, HkError *error) {
  int at = s->at, v_at = s->v_at;
  HkStatus status = queue_graph_of(
      s, &s->graph[at][v_at], [&] { queue_batch(s, BATCH); }, error);
  s->at = at;
  s->v_at = v_at;
  return status;
}

} // namespace HK_SPACE

#endif
