/* Anisotropic terms of media in implicit steps: quadratic drag, buoyancy, the damping of wind on
 * faces; backend/gpu/media_implicit.h has the equations.
 *
 * begin_media runs once a step: it adds constant forces to y' and computes the damping of each
 * face. majorize runs before each sweep or iteration: it gathers all terms into one quadratic
 * majorizer a vertex, which the kernels of descent.cuh and newton.cuh use in place of m' at y'.
 * Vertices gather from the faces around them, as in explicit steps.
 */
#ifndef HK_CUDA_MEDIA_CUH
#define HK_CUDA_MEDIA_CUH

#include "descent.cuh"

namespace HK_SPACE {

/* Arguments of the kernels, passed by value. */
struct Media {
  int n, parts; /* HK_GPU_QUADRATIC_DRAG, HK_GPU_BUOYANCY */
  HkReal h;
  Faces faces;
  const HkGpuMoment
      *moment; /* of the current step; its address is constant, since graphs contain it */
  const HkReal *mass, *v, *push;
  const Real4 *ahead; /* where the velocity that belongs to x is v */
  Real4 *anchor;   /* y' and m' */
  HkReal *damping; /* damping of the faces, in six planes */
  Real4 *y;        /* minimum of the majorizer, and m' */
  HkReal *form;    /* S of the majorizer, in six planes */
};

/* Adds the forces that are constant during the step to y'. */
__global__ void begin_media(__grid_constant__ const Media m) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= m.n) return;
  Real4 anchor = m.anchor[q];
  HkGpuVector y = three(anchor), f = {0, 0, 0};
  if (m.parts & HK_GPU_QUADRATIC_DRAG) {
    HkGpuBlock unused = {0, 0, 0, 0, 0, 0};
    f = hk_gpu_quadratic_drag(&m.moment->medium, m.h, plane_load(m.v, m.n, q), &unused);
  }
  if (m.faces.count > 0) hk_gpu_axpy(1, plane_load(m.push, m.n, q), &f);
  hk_gpu_anchor_push(f, m.h, anchor.w, &y);
  m.anchor[q] = Real4{y.x, y.y, y.z, anchor.w};
}

/* Computes the damping of each face with its corners at x. */
__global__ void begin_faces(__grid_constant__ const Media m, const Real4 *at) {
  int64_t f = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (f >= m.faces.count) return;
  HkGpuAir air = m.moment->air;
  HkGpuVector x[3], w[3];
  for (int c = 0; c < 3; c++) {
    int32_t i = m.faces.face[3 * f + c];
    x[c] = three(at[i]);
    w[c] = plane_load(m.v, m.n, i);
  }
  store_block(m.damping, m.faces.count, f, hk_gpu_face_damping(&air, m.h, x, w));
}

/* Returns the mean of `at` over the corners of a face. */
template <class F>
static __device__ __forceinline__ HkGpuVector mean_of(const Media &m, int64_t face, F at) {
  HkGpuVector mean = {0, 0, 0};
  for (int c = 0; c < 3; c++)
    hk_gpu_axpy((HkReal)1 / 3, at((uint32_t)m.faces.face[3 * face + c]), &mean);
  return mean;
}

/* Computes the majorizers at x. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    majorize(__grid_constant__ const Media m, const Real4 *x) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= m.n) return;
  Real4 anchor = m.anchor[q];
  HkGpuVector at = three(x[q]), r = {0, 0, 0};
  HkGpuBlock S = {0, 0, 0, 0, 0, 0};
  hk_gpu_medium_gradient(&m.moment->medium, m.parts, m.mass[q], m.h, at, three(m.ahead[q]),
                         plane_load(m.v, m.n, q), &r, &S);
  if (m.faces.count > 0)
    for (int64_t e = m.faces.start[q]; e < m.faces.start[q + 1]; e++) {
      int64_t face = m.faces.at[e];
      HkGpuBlock P = load_block(m.damping, m.faces.count, face);
      HkGpuVector moved =
          mean_of(m, face, [&](uint32_t i) { return hk_gpu_sub(three(x[i]), three(m.ahead[i])); });
      hk_gpu_face_gradient(&P, moved, &r, &S);
    }
  HkGpuVector y = hk_gpu_majorizer_minimum(anchor.w, three(anchor), at, r, &S);
  m.y[q] = Real4{y.x, y.y, y.z, anchor.w};
  store_block(m.form, m.n, q, S);
}

/* q += the damping of the faces around vertex i times the vectors that `at` gives. */
template <class F>
static __device__ __forceinline__ void faces_product(const Media &m, uint32_t i, F at,
                                                     HkGpuVector *q) {
  if (m.faces.count == 0) return;
  for (int64_t e = m.faces.start[i]; e < m.faces.start[i + 1]; e++) {
    HkGpuBlock P = load_block(m.damping, m.faces.count, m.faces.at[e]);
    hk_gpu_axpy(1, hk_gpu_times(&P, mean_of(m, m.faces.at[e], at)), q);
  }
}

/* q += the true second derivative of the anisotropic terms at x times the vectors p of vertex i and
 * `at` of any vertex. */
template <class F>
static __device__ __forceinline__ void media_product(const Media &m, HkGpuVector x, uint32_t i,
                                                     HkGpuVector p, F at, HkGpuVector *q) {
  hk_gpu_medium_product(&m.moment->medium, m.parts, m.mass[i], m.h, x, plane_load(m.v, m.n, i), p,
                        q);
  faces_product(m, i, at, q);
}

} // namespace HK_SPACE

#endif
