/* Backward Euler and bdf2 by newton with pcg and multigrid: the operations of gpu/newton.h on a GPU. The
 * host reads the sums of each iterate, of each iteration of conjugate gradients and of each trial
 * step. The kernels of a hierarchy, and those of an iteration of conjugate gradients, are a graph.
 */
#ifndef HK_CUDA_MULTIGRID_STEPS_CUH
#define HK_CUDA_MULTIGRID_STEPS_CUH

#include "backend/gpu/newton.h"
#include "create_multigrid.cuh"
#include "newton_steps.cuh"
#include "stage.cuh"

namespace HK_SPACE {

struct MultigridKernels {
  LinearizeKernel *linearize, *turn;
};

template <int P> static MultigridKernels multigrid_kernels(bool general) {
  if (general) return MultigridKernels{linearize<P, true>, turn_springs<P, true>};
  return MultigridKernels{linearize<P, false>, turn_springs<P, false>};
}

static MultigridKernels pick_multigrid(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE: return multigrid_kernels<HK_GPU_BY_PALETTE>(s->general);
  case HK_GPU_BY_LENGTH: return multigrid_kernels<HK_GPU_BY_LENGTH>(s->general);
  default: return multigrid_kernels<HK_GPU_UNIQUE>(s->general);
  }
}

/* Arguments with the arrays of the present step. */
static LinearizeArgs linearize_args(const Simulation *s) {
  LinearizeArgs a = s->multigrid->args;
  a.newton = s->newton;
  a.newton.step = descent_args(s);
  a.newton.media = media_of(s);
  return a;
}

/* ---- Operations ---- */

static HkStatus look_at(void *device, HkGpuLook *look, HkError *error) {
  Simulation *s = (Simulation *)device;
  LinearizeArgs a = linearize_args(s);
  queue_majorizer(s, a.newton.step.x);
  LinearizeKernel *bricks = pick_linearize(s);
  if (bricks)
    bricks<<<(unsigned)s->springs.brick_count, BLOCK_THREADS, linearize_shared(s->most_local),
             s->queue>>>(s->springs, a);
  else
    pick_multigrid(s).linearize<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(s->springs, a);
  HK_CUDA_TRY(read_scalars(s, error));
  *look = hk_gpu_look_of(s->host_scalars->look);
  return HK_OK;
}

static HkStatus prepare_hierarchy(void *device, bool first, HkError *error) {
  Simulation *s = (Simulation *)device;
  return queue_graph_of(
      s, &s->multigrid->prepare[first], [&] { queue_hierarchy(s, first); }, error);
}

/* One iteration of conjugate gradients; odd: p_next of the arrays holds p. */
static HkStatus queue_multigrid_iteration(Simulation *s, bool odd, HkError *error) {
  LinearizeArgs a = linearize_args(s);
  if (odd) {
    a.newton.p = s->newton.p_next;
    a.newton.p_next = s->newton.p;
  }
  auto all = [&] {
    queue_level(s, 0, true, false);
    launch(precondition, newton_blocks(s), BLOCK_THREADS, 0, s->queue, a);
    if (s->uses_majorizer)
      launch(multiply_media, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, a.newton);
    queue_multiply(s, &a.newton, pick_newton(s).multiply);
    launch(update_residual, newton_blocks(s), BLOCK_THREADS, 0, s->queue, a);
  };
  return queue_graph_of(s, &s->multigrid->iteration[odd], all, error);
}

/* ---- Conjugate gradients in single precision ---- */

/* Smallest relative residual to which systems are solved in single precision. */
static const double SINGLE_TOLERANCE_MIN = 1e-4;

static SingleArgs single_args(const Simulation *s) {
  const Multigrid *m = s->multigrid;
  double h = (double)s->stage.tau, scale = (double)m->args.scale;
  SingleArgs a = {};
  a.n = s->n;
  a.flat = s->flat;
  a.position = m->fixed;
  a.factor = h * h * scale;
  a.scale = scale;
  a.y = s->y;
  a.mass = s->mass;
  a.gradient = m->args.gradient;
  a.r = m->args.b;
  a.q = (HkGpuFour *)s->newton.q;
  a.z = m->args.z;
  for (int k = 0; k < DIRECTIONS; k++) a.p[k] = m->direction[k];
  a.d = s->newton.d;
  a.sums = m->args.sums;
  a.scalars = s->newton.scalars;
  return a;
}

/* One iteration, whose direction is p[slot]. */
static HkStatus queue_single_iteration(Simulation *s, int slot, HkError *error) {
  SingleArgs a = single_args(s);
  auto all = [&] {
    queue_level(s, 0, true, true);
    launch(pick_single(s), (unsigned)s->springs.brick_count, HK_GPU_BRICK,
           single_shared(s->most_local), s->queue, s->springs, a, slot);
    launch(update_single, newton_blocks(s), BLOCK_THREADS, 0, s->queue, a);
  };
  return queue_graph_of(s, &s->multigrid->single[slot], all, error);
}

/* solve_system in single precision. */
static HkStatus solve_in_single(Simulation *s, const HkReal *from, double kept, double tolerance,
                                HkGpuSolved *solved, HkError *error) {
  SingleArgs a = single_args(s);
  HkGpuPcg pcg = {};
  int slot = 0;
  bool more = false;
  begin_single<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(a, from, kept);
  for (int it = 0;; it++, slot++) {
    if (slot == DIRECTIONS) {
      add_directions<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(a, slot, false, more);
      more = true;
      slot = 0;
    }
    HK_CUDA_TRY(queue_single_iteration(s, slot, error));
    HK_CUDA_TRY(read_scalars(s, error));
    const Scalars *now = s->host_scalars;
    HkGpuPcgSums sums = {now->rz, now->pq, now->rr};
    if (it == 0) pcg = hk_gpu_pcg_begin(tolerance, sqrt(now->size), s->settings.linear_iterations);
    pcg.by_decrease = s->multigrid->by_decrease;
    if (hk_gpu_pcg_ends(&pcg, &sums)) break;
  }
  bool whole = pcg.solved.indefinite && pcg.solved.iterations == 0;
  add_directions<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(a, slot + 1, whole, more);
  HK_CUDA_TRY(read_scalars(s, error));
  *solved = pcg.solved;
  solved->slope = s->host_scalars->slope;
  solved->length = sqrt(s->host_scalars->length);
  return HK_OK;
}

/* d = H^-1 from, to a relative residual. */
static HkStatus solve_system(Simulation *s, const HkReal *from, double kept, double tolerance,
                             HkGpuSolved *solved, HkError *error) {
  LinearizeArgs a = linearize_args(s);
  bool odd = false, ends = false;
  if (tolerance < s->settings.linear_tolerance) tolerance = s->settings.linear_tolerance;
  if (solves_in_single(s) && !s->stage.linear && tolerance >= SINGLE_TOLERANCE_MIN)
    return solve_in_single(s, from, kept, tolerance, solved, error);
  begin_system<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(a, from, kept);
  HK_CUDA_TRY(read_scalars(s, error));
  HkGpuPcg pcg =
      hk_gpu_pcg_begin(tolerance, sqrt(s->host_scalars->rr), s->settings.linear_iterations);
  pcg.by_decrease = s->multigrid->by_decrease;
  for (ends = pcg.size == 0; !ends; odd = !odd) {
    HK_CUDA_TRY(queue_multigrid_iteration(s, odd, error));
    HK_CUDA_TRY(read_scalars(s, error));
    HkGpuPcgSums sums = {s->host_scalars->rz, s->host_scalars->pq, s->host_scalars->rr};
    ends = hk_gpu_pcg_ends(&pcg, &sums);
  }
  if (odd) a.newton.p = s->newton.p_next;
  bool whole = pcg.solved.indefinite && pcg.solved.iterations == 0;
  end_system<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(a, whole);
  HK_CUDA_TRY(read_scalars(s, error));
  *solved = pcg.solved;
  solved->slope = s->host_scalars->slope;
  solved->length = sqrt(s->host_scalars->length);
  return HK_OK;
}

static HkStatus find_direction(void *device, double kept, double tolerance, bool by_decrease,
                               HkGpuSolved *solved, HkError *error) {
  Simulation *s = (Simulation *)device;
  s->multigrid->by_decrease = by_decrease;
  return solve_system(s, s->multigrid->args.gradient, kept, tolerance, solved, error);
}

static HkStatus find_correction(void *device, double kept, double tolerance, HkGpuSolved *solved,
                                HkError *error) {
  Simulation *s = (Simulation *)device;
  LinearizeArgs a = linearize_args(s);
  size_t bytes = (size_t)s->n * 3 * sizeof(HkReal);
  pick_multigrid(s).turn<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(s->springs, a);
  HK_CUDA_TRY(solve_system(s, s->newton.r, kept, tolerance, solved, error));
  HK_CUDA(cudaMemcpyAsync(s->newton.q, s->newton.d, bytes, cudaMemcpyDeviceToDevice, s->queue),
          "copy");
  return HK_OK;
}

static HkStatus propose_step(void *device, double t, bool curved, double *change, HkError *error) {
  Simulation *s = (Simulation *)device;
  LinearizeArgs a = linearize_args(s);
  if (curved)
    bend<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(a, (HkReal)t);
  queue_change(s, &a.newton, curved ? 1 : (HkReal)t);
  HK_CUDA_TRY(read_scalars(s, error));
  *change = s->host_scalars->alpha;
  return HK_OK;
}

static HkStatus move_by(Simulation *s, HkReal t, HkError *error) {
  NewtonArgs a = linearize_args(s).newton;
  take_step<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(a, t);
  HK_CUDA(cudaGetLastError(), "launch a step");
  return HK_OK;
}

static HkStatus take_proposal(void *device, double t, HkError *error) {
  return move_by((Simulation *)device, (HkReal)t, error);
}

static HkStatus undo_proposal(void *device, HkError *error) {
  return move_by((Simulation *)device, -1, error);
}

/* ---- A step ---- */

/* Graphs contain tau and the coefficients of b. */
static void set_stage(Simulation *s, double h_old) {
  HkGpuStage now = hk_gpu_stage(&s->settings, h_old), *last = &s->stage;
  if (now.tau != last->tau || now.now != last->now || now.old != last->old) drop_multigrid_graphs(s);
  *last = now;
}

/* Queues the begin of a step but for pins and media. */
static void queue_stage(Simulation *s, int step, double h_old) {
  const HkReal *table = s->device.grips + (size_t)step * s->grip_count * HK_DEVICE_GRIP_REALS;
  StageArgs a = {};
  set_stage(s, h_old);
  s->step = HkStepInfo{};
  a.stage = s->stage;
  a.n = s->n;
  a.moment = s->device.moment + step;
  a.mass = s->mass;
  a.v = s->v[s->v_at];
  a.x = s->x[s->at];
  a.b = s->x[1 - s->at];
  a.y = s->y;
  a.ahead = s->ahead;
  a.start = s->start;
  a.before = s->before;
  a.v_old = s->v_old;
  a.lead = s->multigrid->args.along;
  a.sums = s->multigrid->args.sums;
  a.scalars = s->newton.scalars;
  begin_stage<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(a);
  launch(anchor_grips, blocks_for(s->grips.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue,
         s->grips, s->stage.tau, table, a.b, s->y);
}

static HkStatus queue_begin_multigrid(Simulation *s, int step, double h_old, HkError *error) {
  Real4 *x = s->x[s->at], *b = s->x[1 - s->at];
  queue_stage(s, step, h_old);
  queue_pins(s, s->device.end, step);
  if (s->pins_move)
    launch(begin_pins, blocks_for(s->pins.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue,
           s->pins, s->n, s->stage.tau, x, s->v[s->v_at], b, s->ahead);
  if (s->bare)
    HK_CUDA(cudaMemcpyAsync(s->bare, s->y, (size_t)s->n * sizeof *s->y, cudaMemcpyDeviceToDevice,
                            s->queue),
            "copy");
  if (s->uses_majorizer) queue_media(s, step);
  return HK_OK;
}

/* Linearizes media about x and its velocity. */
static HkStatus queue_pass(Simulation *s, int step, HkError *error) {
  begin_pass<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(
      s->n, s->stage.tau, s->x[s->at], s->x[1 - s->at], s->v[s->v_at], s->ahead);
  HK_CUDA(cudaMemcpyAsync(s->y, s->bare, (size_t)s->n * sizeof *s->y, cudaMemcpyDeviceToDevice,
                          s->queue),
          "copy");
  queue_media(s, step);
  return HK_OK;
}

/* The guess of step/implicit.c: the prediction, which x holds, with or without the last change of
 * velocity, or the positions at the start of the step. */
static HkStatus guess(Simulation *s, HkError *error) {
  LinearizeArgs a = linearize_args(s);
  double change;
  begin_guess<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(a);
  queue_majorizer(s, s->x[s->at]);
  HK_CUDA_TRY(propose_step(s, 1, false, &change, error));
  if (!(change <= HK_GPU_GUESS_MAX_RISE * s->host_scalars->inertia)) return HK_OK;
  HK_CUDA_TRY(move_by(s, 1, error));
  if (s->stage.lead == 0) return HK_OK;
  HK_CUDA(cudaMemcpyAsync(s->newton.d, a.along, (size_t)s->n * 3 * sizeof(HkReal),
                          cudaMemcpyDeviceToDevice, s->queue),
          "copy");
  queue_majorizer(s, s->x[s->at]);
  HK_CUDA_TRY(propose_step(s, 1, false, &change, error));
  return change <= 0 ? move_by(s, 1, error) : HK_OK;
}

static HkStatus make_multigrid(Simulation *s, int step, double h_old, HkError *error) {
  HkGpuNewtonOps ops = {s,
                        look_at,
                        prepare_hierarchy,
                        find_direction,
                        find_correction,
                        propose_step,
                        take_proposal,
                        undo_proposal};
  HkGpuNewton newton = {};
  HkStepInfo info = {};
  newton.ops = &ops;
  newton.settings = &s->settings;
  newton.convex_known = !(s->parts & HK_GPU_BUOYANCY);
  newton.multigrid = true;
  newton.total_mass = s->total_mass;
  HK_CUDA_TRY(queue_begin_multigrid(s, step, h_old, error));
  HK_CUDA_TRY(guess(s, error));
  for (int pass = 0; pass == 0 || (pass < s->settings.passes && s->bare); pass++) {
    if (pass > 0) HK_CUDA_TRY(queue_pass(s, step, error));
    HK_CUDA_TRY(hk_gpu_newton_minimize(&newton, error));
    hk_gpu_newton_add_pass(&info, &newton.info);
  }
  s->step = info;
  queue_end(s, info.iterations);
  return HK_OK;
}

} // namespace HK_SPACE

#endif
