/* One iterate of Newton's method with multigrid, in double precision, in rows or bricks: the
 * gradient, level 0 of the projected Hessian, and the sums of the stopping criterion; conjugate
 * gradients around the cycle; the second-order correction of the line search. gpu/newton.h has the
 * method, gpu/level.h the arithmetic of a spring, newton.cuh the product with the Hessian.
 *
 * An iteration of conjugate gradients is the cycle on r in single precision, precondition, multiply
 * of newton.cuh, and update_residual.
 */
#ifndef HK_CUDA_LINEARIZE_CUH
#define HK_CUDA_LINEARIZE_CUH

#include "backend/gpu/fine_level.h"
#include "level.cuh"
#include "newton.cuh"

namespace HK_SPACE {

/* Arguments of the kernels, passed by value. */
struct LinearizeArgs {
  NewtonArgs newton;
  HkGpuMatrix A;    /* level 0 */
  HkReal scale;     /* HkGpuHierarchy.scale */
  HkReal *gradient; /* -dg/dx (kg m), in three planes */
  HkReal *along;    /* the direction while a correction is found, in three planes */
  HkGpuFour *b, *z; /* right-hand side and result of the cycle */
  Sums sums;
};

/* Calls visit(slot, neighbor, its Real4 in x, spring with its damper) for the springs of vertex i.
 */
template <int PARAMETERS, bool GENERAL, class F>
static __device__ __forceinline__ void
visit_springs(const Springs &s, const DescentArgs &a, const HkGpuSpring *palette,
              const Brick &brick, uint32_t i, F visit) {
  HkGpuVector b = {0, 0, 0};
  int slot = 0;
  if (GENERAL) b = three(a.b[i]);
  visit_all<PARAMETERS>(
      s, (uint32_t)a.n, brick, i, a.x,
      [&](uint32_t j, const Real4 &near, const Beside<PARAMETERS> &beside, uint32_t number) {
        HkGpuSpring spring = spring_of<PARAMETERS>(s, palette, beside, number);
        if (GENERAL && spring.c > 0)
          spring = with_damper(a, spring, hk_gpu_sub(three(a.b[j]), b), i, [&] { return j; });
        visit(slot++, j, near, spring);
      });
}

/* Adds a free vertex to look; for a linear step, where x is b, |d_i v_i|^2 of gpu/linear_step.h in
 * the place of the move. */
static __device__ __forceinline__ void add_look(const DescentArgs &a, uint32_t i,
                                                const HkGpuGathered &g, const Real4 &x,
                                                double look[HK_GPU_LOOK_VALUES]) {
  HkGpuVector moved = hk_gpu_sub(three(x), three(a.b[i]));
  double weight = 1 / (double)x.w;
  if (a.v) {
    moved = plane_load(a.v, a.n, i);
    weight = (double)g.stiffness * (double)g.stiffness;
  }
  hk_gpu_add_look(&g, three(x), moved, weight, (double)x.w, look);
}

/* Stores the gradient, R and D of the vertex at place i, whose springs g contains, and adds its sums
 * to look. */
static __device__ __forceinline__ void end_row(const LinearizeArgs &l, uint32_t i, HkGpuGathered *g,
                                               double look[HK_GPU_LOOK_VALUES]) {
  const DescentArgs &a = l.newton.step;
  const Real4 x = a.x[i], y = a.y[i];
  HkGpuBlock own = {0, 0, 0, 0, 0, 0};
  add_form(a, i, x, y, &g->r, &own);
  hk_gpu_add_block(&own, &g->H);
  g->stiffness += y.w;
  hk_gpu_store_fine_row(&l.A, i, x.w > 0, g, &own, l.scale);
  if (a.flat) g->r.z = 0;
  if (x.w == 0) g->r = hk_gpu_vector(0, 0, 0);
  plane_store(l.gradient, a.n, i, g->r);
  if (x.w > 0) add_look(a, i, *g, x, look);
}

/* Scalars.look and Scalars.unit from the sums of all threads. */
static __device__ __forceinline__ void end_look(const Springs &s, const LinearizeArgs &l,
                                                double look[HK_GPU_LOOK_VALUES]) {
  if (!sum_blocks<HK_GPU_LOOK_VALUES>(l.sums, HK_GPU_LOOK_PRESSURE, look)) return;
  double longest = sqrt(look[HK_GPU_LOOK_LONGEST]);
  for (int k = 0; k < HK_GPU_PALETTE_SIZE; k++)
    longest = fmax(longest, hk_gpu_rest_length(s.palette[k]));
  for (int k = 0; k < HK_GPU_LOOK_VALUES; k++) l.newton.scalars->look[k] = look[k];
  l.newton.scalars->unit = hk_gpu_fixed_unit(longest, look[HK_GPU_LOOK_FURTHEST]);
}

/* gradient, springs, R and D of level 0, Scalars.look and Scalars.unit at x. */
template <int PARAMETERS, bool GENERAL>
__global__ void __launch_bounds__(BLOCK_THREADS)
    linearize(__grid_constant__ const Springs s, __grid_constant__ const LinearizeArgs l) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  const DescentArgs &a = l.newton.step;
  double look[HK_GPU_LOOK_VALUES] = {0};
  load_palette(s, palette);
  __syncthreads();
  for_vertices(s, (uint32_t)a.n, [&](uint32_t i, const Brick &brick) {
    const Real4 x = a.x[i];
    const int first = __ldg(l.A.start + i / WARP), width = __ldg(l.A.start + i / WARP + 1) - first;
    HkGpuGathered g = {};
    visit_springs<PARAMETERS, GENERAL>(
        s, a, palette, brick, i,
        [&](int slot, uint32_t, const Real4 &near, const HkGpuSpring &spring) {
          HkGpuVector d = hk_gpu_sub(three(near), three(x));
          HkGpuFour k = hk_gpu_gather_spring(d, spring, a.h * a.h, l.scale, near.w == 0, &g);
          if (GENERAL && spring.c > 0) /* it is idle */
            hk_gpu_spring_force(d, -a.h * a.h * spring.k, -a.h * a.h * spring.kl0, &g.r);
          if (slot < width)
            l.A.spring[(int64_t)(first + slot) * WARP + i % WARP] =
                x.w > 0 ? k : hk_gpu_four(0, 0, 0);
        });
    end_row(l, i, &g, look);
  });
  end_look(s, l, look);
}

/* ---- Gradient and level 0 in bricks ---- */

/* Returns the bytes of shared memory of a block: the palette and positions. */
static size_t linearize_shared(int most_local) {
  return sizeof(Stiff) * HK_GPU_PALETTE_SIZE + sizeof(Real4) * most_local;
}

/* Calls visit(word, slot) for all slots of the vertex at place i, one word after the other: the
 * unrolled loop of visit_row takes more registers than there are. */
template <class F>
static __device__ __forceinline__ void visit_words(const Springs &s, uint32_t n, uint32_t i,
                                                   F visit) {
  uint32_t next = s.word[i];
#pragma unroll 1
  for (int k = 0; k < s.slots; k += 2) {
    const uint32_t word = next;
    if (k + 2 < s.slots) next = s.word[(uint32_t)(k / 2 + 1) * n + i];
    visit(word, k);
    visit(word, k + 1);
  }
}

/* The kernel `linearize` in bricks, for springs of a palette without damping that are not
 * tension-only. It stores a spring at its lower end only, where P^T A P reads it: products compute
 * springs from positions (fine_bricks.cuh). */
__global__ void __launch_bounds__(BLOCK_THREADS, 3)
    linearize_bricks(__grid_constant__ const Springs s, __grid_constant__ const LinearizeArgs l) {
  extern __shared__ __align__(16) unsigned char shared[];
  Stiff *palette = (Stiff *)shared;                     /* times h^2 */
  Real4 *sx = (Real4 *)(palette + HK_GPU_PALETTE_SIZE); /* w: 1 + place, 0 if constrained */
  const DescentArgs &a = l.newton.step;
  const Brick brick = brick_at(s, blockIdx.x);
  const int all = brick.own + brick.outside;
  const uint32_t n = (uint32_t)a.n;
  double look[HK_GPU_LOOK_VALUES] = {0};
  if (threadIdx.x < HK_GPU_PALETTE_SIZE) {
    const HkGpuSpring p = s.palette[threadIdx.x];
    palette[threadIdx.x] = Stiff{a.h * a.h * p.k, a.h * a.h * p.kl0};
  }
  for (int k = threadIdx.x; k < all; k += blockDim.x) {
    const int from = k < brick.own ? brick.first + k : brick.halo[k - brick.own];
    Real4 x = a.x[from];
    x.w = x.w > 0 ? (HkReal)(from + 1) : 0;
    sx[k] = x;
  }
  __syncthreads();
  for (int own = threadIdx.x; own < brick.own; own += blockDim.x) {
    const uint32_t i = (uint32_t)(brick.first + own);
    const Real4 x = sx[own];
    const int first = __ldg(l.A.start + i / WARP), width = __ldg(l.A.start + i / WARP + 1) - first;
    HkGpuFour *to = l.A.spring + (int64_t)first * WARP + i % WARP;
    HkGpuGathered g = {};
    bool grounded = false; /* a neighbor is constrained */
    auto gather = [&](const Real4 &near, uint32_t number, bool held, HkGpuGathered *sum) {
      const HkGpuSpring spring = {palette[number].k, palette[number].kl0, 0, -1};
      return hk_gpu_gather_spring(hk_gpu_sub(three(near), three(x)), spring, 1, l.scale, held, sum);
    };
    visit_words(s, n, i, [&](uint32_t word, int k) {
      const Real4 near = near_in(sx, word, k);
      HkGpuFour spring = gather(near, number_in(word, k), false, &g);
      grounded |= near.w == 0;
      if (x.w == 0 || near.w == 0) spring = hk_gpu_four(0, 0, 0);
      if (k < width && (near.w == 0 || near.w > (HkReal)(i + 1))) to[k * WARP] = spring;
    });
    if (grounded) {
      HkGpuGathered held = {};
      visit_words(s, n, i, [&](uint32_t word, int k) {
        const Real4 near = near_in(sx, word, k);
        if (near.w == 0) gather(near, number_in(word, k), true, &held);
      });
      g.ground = held.ground;
    }
    end_row(l, i, &g, look);
  }
  end_look(s, l, look);
}

/* ---- Conjugate gradients ---- */

static __device__ __forceinline__ void store_side(const LinearizeArgs &l, int64_t i,
                                                  HkGpuVector r) {
  l.b[i] = hk_gpu_four((float)(l.scale * r.x), (float)(l.scale * r.y), (float)(l.scale * r.z));
}

/* r = from, d = 0, p = 0; rr = r . r. kept: of the product. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    begin_system(__grid_constant__ const LinearizeArgs l, const HkReal *from, double kept) {
  const NewtonArgs &a = l.newton;
  const int64_t n = a.step.n;
  double rr[1] = {0};
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x) {
    HkGpuVector r = plane_load(from, n, i);
    plane_store(a.r, n, i, r);
    plane_store(a.d, n, i, hk_gpu_vector(0, 0, 0));
    a.p[i] = Real4{0, 0, 0, a.step.y[i].w};
    store_side(l, i, r);
    rr[0] += (double)hk_gpu_dot(r, r);
  }
  if (!sum_blocks<1>(l.sums, 1, rr)) return;
  a.scalars->rr = rr[0];
  a.scalars->rz = a.scalars->alpha = a.scalars->beta = 0;
  a.scalars->kept = kept;
}

/* z = the result of the cycle, beta = new r . z / old */
__global__ void __launch_bounds__(BLOCK_THREADS)
    precondition(__grid_constant__ const LinearizeArgs l) {
  const NewtonArgs &a = l.newton;
  const int64_t n = a.step.n;
  double rz[1] = {0};
  let_next_come();
  wait_for_last();
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x) {
    HkGpuFour z = l.z[i];
    HkGpuVector to = hk_gpu_vector((HkReal)z.x, (HkReal)z.y, (HkReal)z.z);
    a.z[i] = Real4{to.x, to.y, to.z, 0};
    rz[0] += (double)hk_gpu_dot(to, plane_load(a.r, n, i));
  }
  if (!sum_blocks<1>(l.sums, 1, rz)) return;
  a.scalars->beta = a.scalars->rz > 0 ? rz[0] / a.scalars->rz : 0;
  a.scalars->rz = rz[0];
}

/* r -= alpha q, rr = r . r */
__global__ void __launch_bounds__(BLOCK_THREADS)
    update_residual(__grid_constant__ const LinearizeArgs l) {
  const NewtonArgs &a = l.newton;
  const int64_t n = a.step.n;
  double rr[1] = {0};
  let_next_come();
  wait_for_last();
  const HkReal alpha = (HkReal)a.scalars->alpha;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x) {
    HkGpuVector r = plane_load(a.r, n, i);
    hk_gpu_axpy(-alpha, plane_load(a.q, n, i), &r);
    plane_store(a.r, n, i, r);
    store_side(l, i, r);
    rr[0] += (double)hk_gpu_dot(r, r);
  }
  if (sum_blocks<1>(l.sums, 1, rr)) a.scalars->rr = rr[0];
}

/* d += weight p, with alpha as the weight unless `whole`; slope and length of d. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    end_system(__grid_constant__ const LinearizeArgs l, int whole) {
  const NewtonArgs &a = l.newton;
  const int64_t n = a.step.n;
  const HkReal alpha = whole ? 1 : (HkReal)a.scalars->alpha;
  double sum[2] = {0, 0};
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x) {
    const HkReal inverse = a.step.x[i].w;
    HkGpuVector d = plane_load(a.d, n, i);
    hk_gpu_axpy(alpha, three(a.p[i]), &d);
    plane_store(a.d, n, i, d);
    sum[0] -= (double)hk_gpu_dot(d, plane_load(l.gradient, n, i));
    if (inverse > 0) sum[1] += (double)hk_gpu_dot(d, d) / (double)inverse;
  }
  if (!sum_blocks<2>(l.sums, 2, sum)) return;
  a.scalars->slope = sum[0];
  a.scalars->length = sum[1];
}

/* ---- Steps ---- */

/* r = the forces of the second-order correction of x + d, along = d. */
template <int PARAMETERS, bool GENERAL>
__global__ void __launch_bounds__(BLOCK_THREADS)
    turn_springs(__grid_constant__ const Springs s, __grid_constant__ const LinearizeArgs l) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  const DescentArgs &a = l.newton.step;
  const uint32_t n = (uint32_t)a.n;
  load_palette(s, palette);
  __syncthreads();
  for_vertices(s, n, [&](uint32_t i, const Brick &brick) {
    const Real4 x = a.x[i];
    HkGpuVector r = {0, 0, 0}, d = plane_load(l.newton.d, n, i);
    visit_springs<PARAMETERS, GENERAL>(
        s, a, palette, brick, i,
        [&](int, uint32_t j, const Real4 &near, const HkGpuSpring &spring) {
          if (j != i)
            hk_gpu_spring_turned(hk_gpu_sub(three(near), three(x)),
                                 hk_gpu_sub(plane_load(l.newton.d, n, j), d), spring, a.h * a.h,
                                 &r);
        });
    if (x.w == 0) r = hk_gpu_vector(0, 0, 0);
    plane_store(l.newton.r, n, i, r);
    plane_store(l.along, n, i, d);
  });
}

/* d = t along + t^2 q */
__global__ void bend(__grid_constant__ const LinearizeArgs l, HkReal t) {
  const int64_t n = l.newton.step.n, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  HkGpuVector d = {0, 0, 0};
  hk_gpu_axpy(t, plane_load(l.along, n, i), &d);
  hk_gpu_axpy(t * t, plane_load(l.newton.q, n, i), &d);
  plane_store(l.newton.d, n, i, d);
}

/* d = the move of the guess, from the start of the step to x; x = the start for free vertices. */
__global__ void begin_guess(__grid_constant__ const LinearizeArgs l) {
  const NewtonArgs &a = l.newton;
  const int64_t n = a.step.n, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Real4 x = a.step.x[i], b = a.step.b[i];
  HkGpuVector d = {0, 0, 0};
  if (x.w > 0) {
    d = hk_gpu_sub(three(x), three(b));
    a.step.x[i] = Real4{b.x, b.y, b.z, x.w};
  }
  plane_store(a.d, n, i, d);
}

} // namespace HK_SPACE

#endif
