/* Backward Euler by newton with pcg and multigrid: the operations of gpu/newton.h on a GPU. The
 * host reads the sums of each iterate, of each iteration of conjugate gradients and of each trial
 * step. The kernels of a hierarchy, and those of an iteration of conjugate gradients, are a graph.
 */
#ifndef HK_CUDA_MULTIGRID_STEPS_CUH
#define HK_CUDA_MULTIGRID_STEPS_CUH

#include "backend/gpu/newton.h"
#include "create_multigrid.cuh"
#include "newton_steps.cuh"

namespace HK_SPACE {

typedef void LinearizeKernel(const Springs, const LinearizeArgs);

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
  pick_multigrid(s).linearize<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(s->springs, a);
  HK_CUDA_TRY(read_scalars(s, error));
  const double *sum = s->host_scalars->look;
  look->residual = sqrt(sum[LOOK_RESIDUAL]);
  look->moved = sqrt(sum[LOOK_MOVED]);
  look->pressure = sum[LOOK_PRESSURE];
  look->resolution = DBL_EPSILON * sum[LOOK_FURTHEST];
  look->rounding = look->resolution * sqrt(sum[LOOK_WEIGHTS]);
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
    queue_level(s, 0, true);
    launch(precondition, newton_blocks(s), BLOCK_THREADS, 0, s->queue, a);
    if (s->uses_majorizer)
      launch(multiply_media, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, a.newton);
    queue_multiply(s, &a.newton, pick_newton(s).multiply);
    launch(update_residual, newton_blocks(s), BLOCK_THREADS, 0, s->queue, a);
  };
  return queue_graph_of(s, &s->multigrid->iteration[odd], all, error);
}

/* d = H^-1 from, to a relative residual. */
static HkStatus solve_system(Simulation *s, const HkReal *from, double kept, double tolerance,
                             HkGpuSolved *solved, HkError *error) {
  LinearizeArgs a = linearize_args(s);
  bool odd = false, ends = false;
  begin_system<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(a, from, kept);
  HK_CUDA_TRY(read_scalars(s, error));
  if (tolerance < s->settings.linear_tolerance) tolerance = s->settings.linear_tolerance;
  HkGpuPcg pcg =
      hk_gpu_pcg_begin(tolerance, sqrt(s->host_scalars->rr), s->settings.linear_iterations);
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

static HkStatus find_direction(void *device, double kept, double tolerance, HkGpuSolved *solved,
                               HkError *error) {
  Simulation *s = (Simulation *)device;
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
  queue_change(s, &a.newton, 1);
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

static HkStatus take_proposal(void *device, HkError *error) {
  return move_by((Simulation *)device, 1, error);
}

static HkStatus undo_proposal(void *device, HkError *error) {
  return move_by((Simulation *)device, -1, error);
}

/* ---- A step ---- */

/* The guess of step/implicit.c without the velocity of the step before: the positions without
 * forces, which x holds, or those at the start of the step. */
static HkStatus guess(Simulation *s, HkError *error) {
  double rise, inertia;
  begin_guess<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(linearize_args(s));
  queue_majorizer(s, s->x[s->at]);
  HK_CUDA_TRY(propose_step(s, 1, false, &rise, error));
  inertia = s->host_scalars->length / 2;
  return rise <= HK_GPU_GUESS_MAX_RISE * inertia ? move_by(s, 1, error) : HK_OK;
}

static HkStatus make_multigrid(Simulation *s, int step, HkError *error) {
  HkGpuNewtonOps ops = {s,
                        look_at,
                        prepare_hierarchy,
                        find_direction,
                        find_correction,
                        propose_step,
                        take_proposal,
                        undo_proposal};
  HkGpuNewton newton = {};
  newton.ops = &ops;
  newton.settings = &s->settings;
  newton.convex_known = !(s->parts & HK_GPU_BUOYANCY);
  newton.total_mass = s->total_mass;
  queue_begin(s, step);
  HK_CUDA_TRY(guess(s, error));
  HK_CUDA_TRY(hk_gpu_newton_minimize(&newton, error));
  s->step = newton.info;
  queue_end(s, newton.info.iterations);
  return HK_OK;
}

} // namespace HK_SPACE

#endif
