/* The begin of an implicit step with multigrid: b, y' and the prediction of each vertex
 * (gpu/stage.h), and the step before, which the guess and bdf2 depend on. Also what a step of one
 * linear system adds to the kernels of linearize.cuh.
 */
#ifndef HK_CUDA_STAGE_CUH
#define HK_CUDA_STAGE_CUH

#include "linearize.cuh"

namespace HK_SPACE {

/* Arguments of begin_stage, passed by value. */
struct StageArgs {
  HkGpuStage stage;
  int n;
  const HkGpuMoment *moment;
  const HkReal *mass, *v;
  Real4 *x, *b, *y;      /* y: y' and m' */
  Real4 *ahead;          /* where the velocity (x - b) / tau is v; NULL: not needed */
  Real4 *start, *before; /* Simulation */
  HkReal *v_old, *lead;  /* lead: the last change of velocity in the guess, in three planes */
  Sums sums;
  Scalars *scalars;
};

/* Keeps x and v as the step before, after the last step before has been read. */
static __device__ __forceinline__ void remember(const StageArgs &a, int64_t i, const Real4 &x,
                                                const HkGpuVector &v) {
  if (a.start) {
    if (a.before) a.before[i] = a.start[i];
    a.start[i] = x;
  }
  if (!a.v_old) return;
  HkGpuVector lead = {0, 0, 0};
  if (x.w > 0) hk_gpu_axpy(a.stage.lead, hk_gpu_sub(v, plane_load(a.v_old, a.n, i)), &lead);
  plane_store(a.lead, a.n, i, lead);
  plane_store(a.v_old, a.n, i, v);
}

static __device__ __forceinline__ Real4 moved_by(const Real4 &x, HkReal t, const HkGpuVector &v) {
  return Real4{x.x + t * v.x, x.y + t * v.y, x.z + t * v.z, x.w};
}

/* b, y', ahead, the prediction x (but the old x if the step is linear), and Scalars.inertia = 1/2
 * |x_n - y|_M^2. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    begin_stage(__grid_constant__ const StageArgs a) {
  const HkGpuStage &stage = a.stage;
  double sum[1] = {0};
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < a.n;
       i += (int64_t)gridDim.x * blockDim.x) {
    const Real4 x = a.x[i];
    const bool free = x.w > 0;
    HkGpuVector v = plane_load(a.v, a.n, i), at = three(x), b = at, u = v, goal;
    if (a.start && free) {
      b = hk_gpu_stage_combine(&stage, at, three(a.start[i]));
      u = hk_gpu_stage_combine(&stage, v, plane_load(a.v_old, a.n, i));
    }
    HkReal weight = hk_gpu_anchor(&a.moment->medium, a.mass[i], stage.tau, b, u, &goal);
    HkGpuVector moved = hk_gpu_sub(b, at);
    hk_gpu_axpy(stage.tau, u, &moved);
    if (free) sum[0] += 0.5 * (double)hk_gpu_dot(moved, moved) / (double)x.w;
    remember(a, i, x, v);
    const Real4 from = Real4{b.x, b.y, b.z, x.w};
    a.b[i] = from;
    a.y[i] = Real4{goal.x, goal.y, goal.z, weight};
    if (a.ahead) a.ahead[i] = free || stage.linear ? moved_by(from, stage.tau, v) : from;
    if (free && !stage.linear) a.x[i] = moved_by(x, stage.h, v);
  }
  if (sum_blocks<1>(a.sums, 1, sum)) a.scalars->inertia = sum[0];
}

/* Prepares another pass: v = (x - b) / tau for free vertices, ahead = x. */
__global__ void begin_pass(int n, HkReal tau, const Real4 *x, const Real4 *b, HkReal *v,
                           Real4 *ahead) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  HkGpuVector d = hk_gpu_sub(three(x[i]), three(b[i]));
  if (x[i].w > 0) plane_store(v, n, i, hk_gpu_vector(d.x / tau, d.y / tau, d.z / tau));
  ahead[i] = x[i];
}

/* ---- One linear system a step ---- */

/* along = the moves of constrained vertices to their places in `to`. */
__global__ void move_pins(Pins p, int n, const Real4 *x, const Real4 *to, HkReal *along) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= p.count || !p.held[q]) return;
  int64_t i = p.place[q];
  plane_store(along, n, i, hk_gpu_sub(three(to[i]), three(x[i])));
}

/* Makes the next product that of the projected Hessian with `along`. */
__global__ void begin_product(__grid_constant__ const LinearizeArgs l) {
  const NewtonArgs &a = l.newton;
  const int64_t n = a.step.n, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i == 0) a.scalars->rz = a.scalars->alpha = a.scalars->beta = a.scalars->kept = 0;
  if (i >= n) return;
  HkGpuVector p = plane_load(l.along, n, i);
  a.z[i] = Real4{p.x, p.y, p.z, 0};
  a.p[i] = Real4{0, 0, 0, a.step.y[i].w};
}

/* r = gradient - q, rr = r . r */
__global__ void __launch_bounds__(BLOCK_THREADS)
    true_residual(__grid_constant__ const LinearizeArgs l) {
  const NewtonArgs &a = l.newton;
  const int64_t n = a.step.n;
  double rr[1] = {0};
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x) {
    HkGpuVector r = hk_gpu_sub(plane_load(l.gradient, n, i), plane_load(a.q, n, i));
    plane_store(a.r, n, i, r);
    rr[0] += (double)hk_gpu_dot(r, r);
  }
  if (sum_blocks<1>(l.sums, 1, rr)) a.scalars->rr = rr[0];
}

/* along += d */
__global__ void add_solution(__grid_constant__ const LinearizeArgs l) {
  const int64_t n = l.newton.step.n, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  HkGpuVector p = plane_load(l.along, n, i);
  hk_gpu_axpy(1, plane_load(l.newton.d, n, i), &p);
  plane_store(l.along, n, i, p);
}

/* x += along, v = along / h for free vertices. */
__global__ void end_linear(__grid_constant__ const LinearizeArgs l, HkReal h, HkReal *v) {
  const NewtonArgs &a = l.newton;
  const int64_t n = a.step.n, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Real4 x = a.step.x[i];
  HkGpuVector p = plane_load(l.along, n, i);
  if (x.w == 0) return;
  a.step.x[i] = moved_by(x, 1, p);
  plane_store(v, n, i, hk_gpu_vector(p.x / h, p.y / h, p.z / h));
}

} // namespace HK_SPACE

#endif
