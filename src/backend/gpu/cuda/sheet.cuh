/* Sheets on a GPU: the functions of backend/device_sheet.h in one precision. One block moves a tile
 * of gpu/sheet.h with one thread a vertex; positions are written to a second array, since
 * neighbors still read the first one.
 */
#ifndef HK_CUDA_SHEET_CUH
#define HK_CUDA_SHEET_CUH

#include "base.cuh"
#include "backend/gpu/sheet.h"

namespace HK_SPACE {

enum {
  TILE_THREADS = HK_GPU_TILE_X * HK_GPU_TILE_Y,
  SHEET_ROUND = 64,         /* steps whose moments are on the device at a time */
  SHEET_SUMS = 5,           /* of HkDeviceSheets.sums */
  SHEET_BLOCKS = 1024,      /* that sum up */
  WINDOW_VERTICES = 1 << 20 /* copied at a time */
};

struct Sheet {
  HkDeviceSheetModel model;
  HkGpuSheet sheet;
  double *x[2]; /* three planes each */
  HkReal *v;
  int at; /* index of the current x */
  HkGpuMoment *moment;
  double *sums, *window;
};

/* ---- Kernels ---- */

/* Calls each(place in the tile, column, row) for the vertices of the halo, relative to the first
 * vertex of the tile: two rows above and below, two columns to the left and right. */
template <class F> static __device__ __forceinline__ void for_halo(int t, F each) {
  const int H = HK_GPU_TILE_HALO, ROWS = H * HK_GPU_TILE_STRIDE, SIDES = 2 * H * HK_GPU_TILE_Y;
  if (t >= 2 * ROWS + SIDES) return;
  int column, row;
  if (t < 2 * ROWS) {
    column = t % HK_GPU_TILE_STRIDE - H;
    row = t / HK_GPU_TILE_STRIDE;
    row = row < H ? row - H : row - H + HK_GPU_TILE_Y;
  } else {
    column = (t - 2 * ROWS) % (2 * H);
    column = column < H ? column - H : column - H + HK_GPU_TILE_X;
    row = (t - 2 * ROWS) / (2 * H);
  }
  each((row + H) * HK_GPU_TILE_STRIDE + column + H, column, row);
}

__global__ void __launch_bounds__(TILE_THREADS, 6)
    move_tile(__grid_constant__ const HkGpuSheet s, const HkGpuMoment *moment, const double *x,
              double *x_out, HkReal *v) {
  __shared__ HkReal tile[3 * HK_GPU_TILE_SIZE];
  const int t = threadIdx.x, column = t % HK_GPU_TILE_X, row = t / HK_GPU_TILE_X;
  const int first_i = (int)(blockIdx.x % s.tiles) * HK_GPU_TILE_X;
  const int first_j = (int)(blockIdx.x / s.tiles) * HK_GPU_TILE_Y;
  const int i = first_i + column, j = first_j + row;
  const int middle_i = min(first_i + HK_GPU_TILE_X / 2, s.nx - 1);
  const int middle_j = min(first_j + HK_GPU_TILE_Y / 2, s.ny - 1);
  const int64_t q = (int64_t)j * s.stride + i, middle = (int64_t)middle_j * s.stride + middle_i;
  const bool mine = i < s.nx && j < s.ny, inner = hk_gpu_sheet_inner(&s, first_i, first_j);
  const int at = (row + HK_GPU_TILE_HALO) * HK_GPU_TILE_STRIDE + column + HK_GPU_TILE_HALO;
  double own[3] = {0, 0, 0}, origin[3];
  HkGpuVector w = {0, 0, 0};
  let_next_come();
  wait_for_last();
#pragma unroll
  for (int c = 0; c < 3; c++) {
    origin[c] = x[c * s.plane + middle];
    if (mine) own[c] = x[c * s.plane + q];
  }
  if (mine) w = hk_gpu_vector(v[q], v[q + s.plane], v[q + 2 * s.plane]);
  for_halo(t, [&](int place, int a, int b) {
    if (!inner && !hk_gpu_sheet_has(s.nx, s.ny, first_i + a, first_j + b)) return;
    const int64_t from = (int64_t)(first_j + b) * s.stride + first_i + a;
#pragma unroll
    for (int c = 0; c < 3; c++)
      tile[c * HK_GPU_TILE_SIZE + place] = (HkReal)(x[c * s.plane + from] - origin[c]);
  });
#pragma unroll
  for (int c = 0; c < 3; c++) tile[c * HK_GPU_TILE_SIZE + at] = (HkReal)(own[c] - origin[c]);
  __syncthreads();
  if (!mine) return;
  const HkGpuVector f = inner ? hk_gpu_sheet_force(&s, tile, at, i, j, true)
                              : hk_gpu_sheet_force(&s, tile, at, i, j, false);
  hk_gpu_sheet_move(&s, &moment->medium, s.inverse[hk_gpu_sheet_class(s.nx, s.ny, i, j)], f, own,
                    &w);
#pragma unroll
  for (int c = 0; c < 3; c++) x_out[c * s.plane + q] = own[c];
  v[q] = w.x;
  v[q + s.plane] = w.y;
  v[q + 2 * s.plane] = w.z;
}

__global__ void start_sheet(__grid_constant__ const HkDeviceSheetModel m,
                            __grid_constant__ const HkGpuSheet s, double *x, HkReal *v) {
  const int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  const int i = (int)(t % m.nx), j = (int)(t / m.nx);
  double at[3], w[3];
  if (j >= m.ny) return;
  hk_gpu_sheet_start(&m, i, j, at, w);
  for (int c = 0; c < 3; c++) {
    const int64_t q = c * s.plane + (int64_t)j * s.stride + i;
    x[q] = at[c];
    v[q] = (HkReal)w[c];
  }
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    sum_sheet(__grid_constant__ const HkDeviceSheetModel m, __grid_constant__ const HkGpuSheet s,
              const double *x, const HkReal *v, double *parts) {
  __shared__ double part[SHEET_SUMS][BLOCK_THREADS];
  double sums[SHEET_SUMS] = {0, 0, 0, 0, 0};
  for (int j = blockIdx.x; j < m.ny; j += gridDim.x)
    for (int i = threadIdx.x; i < m.nx; i += blockDim.x)
      hk_gpu_sheet_sums(&m, x, v, s.stride, s.plane, i, j, sums);
  for (int k = 0; k < SHEET_SUMS; k++) part[k][threadIdx.x] = sums[k];
  for (int half = BLOCK_THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half)
      for (int k = 0; k < SHEET_SUMS; k++) part[k][threadIdx.x] += part[k][threadIdx.x + half];
  }
  __syncthreads();
  if (threadIdx.x < SHEET_SUMS) parts[threadIdx.x * gridDim.x + blockIdx.x] = part[threadIdx.x][0];
}

/* Number of coordinate 0 of vertex k of a window; its rows follow each other. */
static __device__ __forceinline__ int64_t place_in_window(const HkGpuSheet &s,
                                                          const HkSheetWindow &w, int64_t k, int *i,
                                                          int *j) {
  *i = (int)(w.i + w.every * (k % w.ni));
  *j = (int)(w.j + w.every * (k / w.ni));
  return (int64_t)*j * s.stride + *i;
}

/* Copies x or v of vertices first .. first + count - 1 of a window, three doubles a vertex. */
template <class T>
__global__ void read_window(__grid_constant__ const HkGpuSheet s, const HkSheetWindow w,
                            int64_t first, int count, const T *from, double *to) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int i, j;
  if (t >= count) return;
  const int64_t q = place_in_window(s, w, first + t, &i, &j);
  for (int c = 0; c < 3; c++) to[3 * t + c] = (double)from[c * s.plane + q];
}

template <class T>
__global__ void write_window(__grid_constant__ const HkGpuSheet s, const HkSheetWindow w,
                             int64_t first, int count, const double *from, T *to) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int i, j;
  if (t >= count) return;
  const int64_t q = place_in_window(s, w, first + t, &i, &j);
  if (s.inverse[hk_gpu_sheet_class(s.nx, s.ny, i, j)] == 0) return;
  for (int c = 0; c < 3; c++) to[c * s.plane + q] = (T)from[3 * t + c];
}

/* ---- The interface ---- */

static double sheet_need(const HkDeviceSheetModel *m) {
  const HkGpuSheet s = hk_gpu_sheet(m);
  const double vectors = 2 * 3 * sizeof(double) + 3 * sizeof(HkReal);
  return vectors * (double)s.plane + SHEET_ROUND * sizeof(HkGpuMoment) +
         (SHEET_SUMS * SHEET_BLOCKS + 3.0 * WINDOW_VERTICES) * sizeof(double);
}

static void sheet_destroy(HkDeviceSheet **sheet) {
  Sheet *s = (Sheet *)*sheet;
  if (!s) return;
  void *arrays[] = {s->x[0], s->x[1], s->v, s->moment, s->sums, s->window};
  for (void *array : arrays) cudaFree(array);
  free(s);
  *sheet = NULL;
}

static HkStatus sheet_allocate(Sheet *s, HkError *error) {
  const int64_t numbers = 3 * s->sheet.plane;
  HK_CUDA_TRY(allocate(&s->x[0], numbers, error));
  HK_CUDA_TRY(allocate(&s->x[1], numbers, error));
  HK_CUDA_TRY(allocate(&s->v, numbers, error));
  HK_CUDA_TRY(allocate(&s->moment, SHEET_ROUND, error));
  HK_CUDA_TRY(allocate(&s->sums, SHEET_SUMS * SHEET_BLOCKS, error));
  HK_CUDA_TRY(allocate(&s->window, 3 * (int64_t)WINDOW_VERTICES, error));
  start_sheet<<<blocks_for((int64_t)s->model.nx * s->model.ny, BLOCK_THREADS), BLOCK_THREADS>>>(
      s->model, s->sheet, s->x[0], s->v);
  HK_CUDA(cudaGetLastError(), "make a sheet");
  HK_CUDA(cudaDeviceSynchronize(), "make a sheet");
  return HK_OK;
}

static HkStatus sheet_create(const HkDeviceSheetModel *m, HkDeviceSheet **sheet, HkError *error) {
  Sheet *s = (Sheet *)calloc(1, sizeof *s);
  if (!s) return fail(error, HK_ERROR_MEMORY, "out of memory for a sheet");
  s->model = *m;
  s->sheet = hk_gpu_sheet(m);
  *sheet = (HkDeviceSheet *)s;
  HkStatus status = sheet_allocate(s, error);
  if (status < 0) sheet_destroy(sheet);
  return status;
}

static HkStatus sheet_steps(HkDeviceSheet *sheet, int64_t count, const double *moment,
                            HkError *error) {
  Sheet *s = (Sheet *)sheet;
  HkReal table[SHEET_ROUND * HK_GPU_MOMENT_REALS];
  for (int64_t first = 0; first < count; first += SHEET_ROUND) {
    const int size = (int)(count - first < SHEET_ROUND ? count - first : SHEET_ROUND);
    for (int q = 0; q < size * (int)HK_GPU_MOMENT_REALS; q++)
      table[q] = (HkReal)moment[first * HK_GPU_MOMENT_REALS + q];
    HK_CUDA(cudaMemcpy(s->moment, table, size * sizeof(HkGpuMoment), cudaMemcpyHostToDevice),
            "copy a table");
    for (int q = 0; q < size; q++) {
      launch(move_tile, (unsigned)hk_gpu_sheet_tiles(&s->sheet), TILE_THREADS, 0, 0, s->sheet,
             s->moment + q, s->x[s->at], s->x[1 - s->at], s->v);
      s->at = 1 - s->at;
    }
    HK_CUDA(cudaGetLastError(), "launch its kernels");
    HK_CUDA(cudaDeviceSynchronize(), "make its steps");
  }
  return HK_OK;
}

/* Calls copy(first, count, blocks) for the parts of a window that fit the buffer. */
template <class F> static HkStatus for_parts(const HkSheetWindow *w, const F &copy) {
  const int64_t all = w->ni * w->nj;
  for (int64_t first = 0; first < all; first += WINDOW_VERTICES) {
    const int count = (int)(all - first < WINDOW_VERTICES ? all - first : WINDOW_VERTICES);
    HK_CUDA_TRY(copy(first, count, blocks_for(count, BLOCK_THREADS)));
  }
  return HK_OK;
}

template <class T>
static HkStatus read_all(Sheet *s, const HkSheetWindow *w, const T *from, double *to,
                         HkError *error) {
  if (!to) return HK_OK;
  return for_parts(w, [&](int64_t first, int count, unsigned blocks) {
    const size_t bytes = (size_t)count * 3 * sizeof *to;
    read_window<<<blocks, BLOCK_THREADS>>>(s->sheet, *w, first, count, from, s->window);
    HK_CUDA(cudaMemcpy(to + 3 * first, s->window, bytes, cudaMemcpyDeviceToHost), "copy");
    return HK_OK;
  });
}

template <class T>
static HkStatus write_all(Sheet *s, const HkSheetWindow *w, const double *from, T *to,
                          HkError *error) {
  if (!from) return HK_OK;
  return for_parts(w, [&](int64_t first, int count, unsigned blocks) {
    const size_t bytes = (size_t)count * 3 * sizeof *from;
    HK_CUDA(cudaMemcpy(s->window, from + 3 * first, bytes, cudaMemcpyHostToDevice), "copy");
    write_window<<<blocks, BLOCK_THREADS>>>(s->sheet, *w, first, count, s->window, to);
    HK_CUDA(cudaDeviceSynchronize(), "copy");
    return HK_OK;
  });
}

static HkStatus sheet_read(HkDeviceSheet *sheet, const HkSheetWindow *window, double *x, double *v,
                           HkError *error) {
  Sheet *s = (Sheet *)sheet;
  HK_CUDA_TRY(read_all(s, window, s->x[s->at], x, error));
  return read_all(s, window, s->v, v, error);
}

static HkStatus sheet_write(HkDeviceSheet *sheet, const HkSheetWindow *window, const double *x,
                            const double *v, HkError *error) {
  Sheet *s = (Sheet *)sheet;
  HK_CUDA_TRY(write_all(s, window, x, s->x[s->at], error));
  return write_all(s, window, v, s->v, error);
}

static HkStatus sheet_sums(HkDeviceSheet *sheet, double sums[SHEET_SUMS], HkError *error) {
  Sheet *s = (Sheet *)sheet;
  double parts[SHEET_SUMS * SHEET_BLOCKS];
  sum_sheet<<<SHEET_BLOCKS, BLOCK_THREADS>>>(s->model, s->sheet, s->x[s->at], s->v, s->sums);
  HK_CUDA(cudaGetLastError(), "sum up energies");
  HK_CUDA(cudaMemcpy(parts, s->sums, sizeof parts, cudaMemcpyDeviceToHost), "sum up energies");
  for (int k = 0; k < SHEET_SUMS; k++) {
    sums[k] = 0;
    for (int b = 0; b < SHEET_BLOCKS; b++) sums[k] += parts[k * SHEET_BLOCKS + b];
  }
  return HK_OK;
}

} // namespace HK_SPACE

#define HK_CUDA_SHEETS                                                                             \
  {                                                                                                \
    HK_SPACE::sheet_need, HK_SPACE::sheet_create, HK_SPACE::sheet_destroy, HK_SPACE::sheet_steps,  \
        HK_SPACE::sheet_read, HK_SPACE::sheet_write, HK_SPACE::sheet_sums                          \
  }

#endif
