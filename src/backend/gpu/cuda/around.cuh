/* Kernels besides those of springs: moving pins, grips, wind on faces, and copies of the state
 * between host and device. */
#ifndef HK_CUDA_AROUND_CUH
#define HK_CUDA_AROUND_CUH

#include "explicit.cuh"

namespace HK_SPACE {

/* ---- Pins ---- */

struct Pins {
  int count;
  const int32_t *place, *motion;
  const double *x0;
  const uint8_t *held;
  double origin[3];
};

/* Sets x and v of constrained vertices from one row of the table of motions, in double precision.
 */
__global__ void place_pins(Pins p, int n, const double *motions, Real4 *x, HkReal *v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= p.count || !p.held[q]) return;
  const double *A = motions + HK_DEVICE_MOTION_REALS * p.motion[q], *x0 = p.x0 + 3 * q;
  double at[3], moves[3];
  for (int c = 0; c < 3; c++) {
    const double *row = A + 3 * c, *rate = A + 12 + 3 * c;
    at[c] = row[0] * x0[0] + row[1] * x0[1] + row[2] * x0[2] + A[9 + c] - p.origin[c];
    moves[c] = rate[0] * x0[0] + rate[1] * x0[1] + rate[2] * x0[2] + A[21 + c];
  }
  int64_t i = p.place[q];
  x[i] = Real4{(HkReal)at[0], (HkReal)at[1], (HkReal)at[2], 0};
  plane_store(v, n, i, hk_gpu_vector((HkReal)moves[0], (HkReal)moves[1], (HkReal)moves[2]));
}

/* ---- Faces and grips: forces on vertices, in push ---- */

struct Faces {
  int count;
  const int32_t *face, *start, *at; /* HkDeviceModel.face, face_start, face_at */
  HkReal *force;                    /* N, on each corner of a face, in three planes */
};

/* Computes the force of the air on each face. */
__global__ void face_wind(Faces faces, int n, const HkGpuMoment *moment, const Real4 *x,
                          const HkReal *w) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  bool mine = f < faces.count;
  int32_t corner[3] = {0, 0, 0};
  for (int c = 0; c < 3 && mine; c++) corner[c] = faces.face[3 * (int64_t)f + c];
  let_next_come();
  wait_for_last();
  if (!mine) return;
  HkGpuAir air = moment->air;
  HkGpuVector cx[3], cw[3], force = {0, 0, 0};
  for (int c = 0; c < 3; c++) {
    cx[c] = three(x[corner[c]]);
    cw[c] = plane_load(w, n, corner[c]);
  }
  hk_gpu_face_force(&air, cx, cw, &force);
  plane_store(faces.force, faces.count, f, force);
}

/* push = the sum over the faces around each vertex. */
__global__ void gather_faces(Faces faces, int n, HkReal *push) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= n) return;
  HkGpuVector f = {0, 0, 0};
#pragma unroll 3
  for (int e = faces.start[q]; e < faces.start[q + 1]; e++)
    hk_gpu_axpy(1, plane_load(faces.force, faces.count, faces.at[e]), &f);
  plane_store(push, n, q, f);
}

struct Grips {
  int count;
  const int32_t *place, *start, *grip;
};

/* Adds the force of the grips to push, or sets push to it if `adds` is 0; push is then 0 at
 * vertices without grips. */
__global__ void grip(Grips g, int n, int adds, const HkReal *table, const Real4 *x, const HkReal *w,
                     HkReal *push) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= g.count) return;
  int64_t i = g.place[q];
  HkGpuVector f = {0, 0, 0}, at = three(x[i]), u = plane_load(w, n, i);
  if (adds) f = plane_load(push, n, i);
  for (int e = g.start[q]; e < g.start[q + 1]; e++) {
    const HkReal *r = table + HK_DEVICE_GRIP_REALS * g.grip[e];
    hk_gpu_axpy(r[6], hk_gpu_sub(hk_gpu_vector(r[0], r[1], r[2]), at), &f);
    hk_gpu_axpy(-r[7], u, &f);
    hk_gpu_axpy(1, hk_gpu_vector(r[3], r[4], r[5]), &f);
  }
  plane_store(push, n, i, f);
}

/* ---- Copies between host and device ---- */

/* Sets x and v from doubles in the model's vertex order; hold_pins then sets inverse masses of
 * constrained vertices to 0. */
__global__ void load_state(int n, const int32_t *order, const HkReal *mass, double ox, double oy,
                           double oz, const double *from_x, const double *from_v, Real4 *x,
                           HkReal *v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n) return;
  int64_t i = 3 * (int64_t)order[q];
  x[q] = Real4{(HkReal)(from_x[i] - ox), (HkReal)(from_x[i + 1] - oy), (HkReal)(from_x[i + 2] - oz),
               1 / mass[q]};
  plane_store(v, n, q,
              hk_gpu_vector((HkReal)from_v[i], (HkReal)from_v[i + 1], (HkReal)from_v[i + 2]));
}

/* Sets the step before: start, unless it is NULL, and v_old. */
__global__ void load_history(int n, const int32_t *order, double ox, double oy, double oz,
                             const double *from_x, const double *from_v, Real4 *start,
                             HkReal *v_old) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n) return;
  int64_t i = 3 * (int64_t)order[q];
  if (start)
    start[q] = Real4{(HkReal)(from_x[i] - ox), (HkReal)(from_x[i + 1] - oy),
                     (HkReal)(from_x[i + 2] - oz), 0};
  plane_store(v_old, n, q,
              hk_gpu_vector((HkReal)from_v[i], (HkReal)from_v[i + 1], (HkReal)from_v[i + 2]));
}

__global__ void hold_pins(Pins p, const HkReal *mass, Real4 *x) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= p.count) return;
  x[p.place[q]].w = p.held[q] ? 0 : 1 / mass[p.place[q]];
}

/* Writes x and v in the model's vertex order, three numbers a vertex. */
__global__ void store_state(int n, const int32_t *order, const Real4 *x, const HkReal *v,
                            HkReal *to_x, HkReal *to_v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n) return;
  int64_t i = 3 * (int64_t)order[q];
  Real4 p = x[q];
  HkGpuVector u = plane_load(v, n, q);
  to_x[i] = p.x;
  to_x[i + 1] = p.y;
  to_x[i + 2] = p.z;
  to_v[i] = u.x;
  to_v[i + 1] = u.y;
  to_v[i + 2] = u.z;
}

/* Writes the step before in the model's vertex order: start, unless it is NULL, and v_old. */
__global__ void store_history(int n, const int32_t *order, const Real4 *start, const HkReal *v_old,
                              HkReal *to_x, HkReal *to_v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n) return;
  int64_t i = 3 * (int64_t)order[q];
  HkGpuVector u = plane_load(v_old, n, q);
  to_v[i] = u.x;
  to_v[i + 1] = u.y;
  to_v[i + 2] = u.z;
  if (!start) return;
  Real4 p = start[q];
  to_x[i] = p.x;
  to_x[i + 1] = p.y;
  to_x[i + 2] = p.z;
}

/* ---- Sums in a fixed order ---- */

enum { SUM_BLOCKS = 512, SUM_THREADS = 256 };

/* Returns the sum over the threads of a block in thread 0. */
static __device__ __forceinline__ double block_sum(double a) {
  __shared__ double part[32];
  for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = a;
  __syncthreads();
  a = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
  return a;
}

/* part = kinetic energy (J) of each block's vertices; the host adds the parts up. */
__global__ void kinetic_parts(int n, const HkReal *mass, const HkReal *v, double *part) {
  double sum = 0;
  for (int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; q < n;
       q += (int64_t)gridDim.x * blockDim.x) {
    HkGpuVector u = plane_load(v, n, q);
    sum += 0.5 * (double)mass[q] * ((double)u.x * u.x + (double)u.y * u.y + (double)u.z * u.z);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) part[blockIdx.x] = sum;
}

} // namespace HK_SPACE

#endif
