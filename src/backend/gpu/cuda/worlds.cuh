/* Worlds of a batch on a GPU: one thread block moves one world through many steps (gpu/world.h).
 *
 * As many blocks as fit the GPU take worlds from a counter, so that a world with more iterations
 * delays no other. Each block has a workspace of its own, which stays in the cache. worlds_single.cu and
 * worlds_double.cu compile this file, plugin.cu exports both.
 */
#ifndef HK_CUDA_WORLDS_CUH
#define HK_CUDA_WORLDS_CUH

#include "base.cuh"
#include "worlds.h"

#include "backend/gpu/world_newton.h"

namespace HK_SPACE {

enum {
  EXPLICIT_THREADS = 512, /* of a block */
  IMPLICIT_THREADS = 256, /* its kernel uses more registers */
  OWNED_VECTORS = 6,      /* of a block's workspace */
  OWNED_REALS = 2,        /* inverse, weight */
};

/* What a launch reads and writes; all pointers are to device memory. */
typedef struct WorldsArgs {
  HkDeviceSettings settings;
  HkDeviceWorldsModel model;
  HkDeviceWorldsParameters parameters;
  HkDeviceWorldsTimes times;
  double *x, *v;
  HkDeviceStepsInfo *info;
  int *next; /* world that the next block takes */
  char *workspace;
  size_t block_bytes; /* of the workspace */
} WorldsArgs;

typedef struct Worlds {
  HkDeviceSettings settings; /* first, as plugin.cu expects */
  WorldsArgs args;
  cudaStream_t queue;
  int blocks, threads;
  size_t shared;
  int64_t rows; /* of the tables that are allocated */
  int32_t *row_start, *pin_vertex, *pin_motion, *counts, *grip_start, *grip;
  uint32_t *word;
  uint8_t *held;
  double *h, *origin, *total_mass, *mass, *type, *pin_x0, *moment, *grips, *middle, *end;
} Worlds;

/* ---- The kernel ---- */

/* Gives a block its workspace. */
static __device__ void use_workspace(const WorldsArgs *a, HkGpuWorld *w, HkGpuWorldSolve *s) {
  size_t n = (size_t)a->model.n;
  char *at = a->workspace + blockIdx.x * a->block_bytes;
  HkGpuVector **vectors[OWNED_VECTORS] = {&w->next,     &s->start, &s->y,
                                          &s->gradient, &s->q,     &s->along};
  for (int q = 0; q < OWNED_VECTORS; q++, at += n * sizeof(HkGpuVector))
    *vectors[q] = (HkGpuVector *)at;
  w->inverse = (HkReal *)at;
  at += n * sizeof *w->inverse;
  s->weight = (HkReal *)at;
  at += n * sizeof *s->weight;
  s->coefficients = (HkGpuCoefficients *)at;
  at += (size_t)a->model.words * sizeof *s->coefficients;
  s->diagonal = (HkGpuInverse *)at;
}

static size_t workspace_bytes(const HkDeviceWorldsModel *m) {
  size_t n = (size_t)m->n;
  size_t bytes = n * (OWNED_VECTORS * sizeof(HkGpuVector) + sizeof(HkGpuInverse) +
                      OWNED_REALS * sizeof(HkReal)) +
                 (size_t)m->words * sizeof(HkGpuCoefficients);
  return (bytes + 2 * 256) / 256 * 256;
}

/* Sets what belongs to one world. */
static __device__ void use_world(const WorldsArgs *a, int world, HkGpuWorld *w) {
  const HkDeviceWorldsModel *m = &a->model;
  const HkDeviceWorldsParameters *p = &a->parameters;
  w->n = (int)m->n;
  w->flat = m->flat;
  w->general = m->general;
  w->parts = m->medium_parts;
  w->h = (HkReal)p->h[world];
  for (int c = 0; c < 3; c++) w->origin[c] = p->origin[3 * world + c];
  w->row_start = m->row_start;
  w->word = m->word;
  w->type = p->type + (size_t)4 * m->types * world;
  w->mass = p->mass + (size_t)m->n * world;
  w->pin_count = (int)m->pin_count;
  w->pin_vertex = m->pin_vertex;
  w->pin_motion = m->pin_motion;
  w->pin_x0 = p->pin_x0 + (size_t)3 * m->pin_count * world;
  w->held = a->times.held + (size_t)m->pin_count * world;
  w->grip_start = m->grips > 0 ? p->grip_start + (size_t)(m->n + 1) * world : NULL;
  w->grip = m->grips > 0 ? p->grip + (size_t)m->grip_entries * world : NULL;
}

/* Moves worlds until none is left. IMPLICIT: by backward Euler. */
template <bool IMPLICIT, int THREADS>
__global__ void __launch_bounds__(THREADS) move_worlds(const __grid_constant__ WorldsArgs a) {
  extern __shared__ __align__(16) char vectors[];
  __shared__ HkGpuWorld w;
  __shared__ HkGpuWorldSolve s;
  __shared__ HkGpuMedium medium;
  __shared__ double sums[HK_TEAM_SUMS * HK_TEAM_WARPS];
  __shared__ int taken;
  const size_t motions = (size_t)a.model.motion_count * HK_DEVICE_MOTION_REALS;
  if (threadIdx.x == 0) {
    w.team.sums = sums;
    w.medium = &medium;
    w.x = (HkGpuVector *)vectors;
    w.v = w.x + a.model.n;
    w.w = w.v + a.model.n;
    s.r = IMPLICIT ? w.w + a.model.n : NULL;
    s.d = IMPLICIT ? s.r + a.model.n : NULL;
    s.world = &w;
    s.settings = &a.settings;
    use_workspace(&a, &w, &s);
  }
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(a.next, 1);
    __syncthreads();
    int world = taken;
    if (world >= a.model.count) return;
    int count = a.times.counts[world];
    if (count == 0) continue;
    if (threadIdx.x == 0) use_world(&a, world, &w);
    __syncthreads();
    double *x = a.x + (size_t)a.model.stride * world, *v = a.v + (size_t)a.model.stride * world;
    HkDeviceStepsInfo info = {};
    hk_world_load(&w, x, v);
    for (int q = 0; q < count; q++) {
      size_t at = (size_t)world * a.times.rows + q;
      const double *middle = a.model.pins_move ? a.times.middle + at * motions : NULL;
      const double *end = a.model.pins_move ? a.times.end + at * motions : NULL;
      size_t moment = (size_t)world * a.times.moments + (a.times.moments > 1 ? q : 0);
      hk_world_set_forces(&w, a.times.moment + moment * HK_GPU_MOMENT_REALS,
                          a.times.grips + at * a.model.grips * HK_DEVICE_GRIP_REALS);
      if (IMPLICIT) {
        HkStepInfo step = hk_world_step_implicit(&s, a.parameters.total_mass[world], end);
        if (threadIdx.x == 0) hk_device_count(&info, &step, a.settings.tolerance > 0, true);
      } else {
        hk_world_step_explicit(&w, a.settings.step == HK_DEVICE_VERLET, a.settings.uses_velocity,
                               middle, end);
      }
    }
    double kinetic = hk_world_store(&w, x, v);
    info.kinetic = kinetic;
    if (threadIdx.x == 0) a.info[world] = info;
  }
}

typedef void WorldsKernel(const WorldsArgs);

/* Positions of implicit steps are in double precision. */
static WorldsKernel *pick_worlds(const HkDeviceSettings *settings) {
  if (sizeof(HkReal) == sizeof(double) && settings->step == HK_DEVICE_NEWTON)
    return move_worlds<sizeof(HkReal) == sizeof(double), IMPLICIT_THREADS>;
  return move_worlds<false, EXPLICIT_THREADS>;
}

/* ---- Creating ---- */

static void worlds_destroy(HkDeviceWorlds **worlds) {
  Worlds *s = (Worlds *)*worlds;
  *worlds = NULL;
  if (!s) return;
  if (s->queue) cudaStreamSynchronize(s->queue);
  void *all[] = {s->row_start, s->pin_vertex, s->pin_motion, s->counts,    s->word,
                 s->held,      s->h,          s->origin,     s->total_mass, s->mass,
                 s->type,      s->pin_x0, s->grips, s->grip_start, s->grip, s->moment,     s->middle,    s->end,
                 s->args.x,    s->args.v,     s->args.info,  s->args.next, s->args.workspace};
  for (size_t q = 0; q < sizeof all / sizeof all[0]; q++) cudaFree(all[q]);
  if (s->queue) cudaStreamDestroy(s->queue);
  free(s);
}

/* Picks threads and blocks. */
static HkStatus plan_launch(Worlds *s, HkError *error) {
  const HkDeviceWorldsModel *m = &s->args.model;
  bool implicit = s->settings.step == HK_DEVICE_NEWTON;
  int most = implicit ? (int)IMPLICIT_THREADS : (int)EXPLICIT_THREADS;
  int rounded = (int)((m->n + 31) / 32 * 32), device = 0, processors = 0, resident = 0;
  const void *kernel = (const void *)pick_worlds(&s->settings);
  s->threads = rounded < most ? rounded : most;
  s->shared = (size_t)m->n * (size_t)hk_cuda_worlds_vectors(implicit) * sizeof(HkGpuVector);
  HK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s->shared),
          "set up its kernels");
  HK_CUDA(cudaGetDevice(&device), "answer");
  HK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "answer");
  HK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, s->threads, s->shared),
          "answer");
  s->blocks = (resident > 1 ? resident : 1) * processors;
  if (s->blocks > m->count) s->blocks = (int)m->count;
  return HK_OK;
}

static HkStatus fill_worlds(Worlds *s, const HkDeviceWorldsModel *m, HkError *error) {
  WorldsArgs *a = &s->args;
  int64_t slices = (m->n + HK_GPU_ROW - 1) / HK_GPU_ROW, all = m->count * m->stride;
  HK_CUDA(cudaStreamCreateWithFlags(&s->queue, cudaStreamNonBlocking), "make a queue");
  HK_CUDA_TRY(allocate_copy(&s->row_start, m->row_start, slices + 1, error));
  HK_CUDA_TRY(allocate_copy(&s->word, m->word, m->words, error));
  HK_CUDA_TRY(allocate_copy(&s->pin_vertex, m->pin_vertex, m->pin_count, error));
  HK_CUDA_TRY(allocate_copy(&s->pin_motion, m->pin_motion, m->pin_count, error));
  HK_CUDA_TRY(allocate(&s->counts, m->count, error));
  HK_CUDA_TRY(allocate(&s->held, m->count * m->pin_count, error));
  HK_CUDA_TRY(allocate(&s->h, m->count, error));
  HK_CUDA_TRY(allocate(&s->origin, 3 * m->count, error));
  HK_CUDA_TRY(allocate(&s->total_mass, m->count, error));
  HK_CUDA_TRY(allocate(&s->mass, m->n * m->count, error));
  HK_CUDA_TRY(allocate(&s->type, (int64_t)4 * m->types * m->count, error));
  HK_CUDA_TRY(allocate(&s->pin_x0, 3 * m->pin_count * m->count, error));
  HK_CUDA_TRY(allocate(&s->grip_start, m->grips > 0 ? (m->n + 1) * m->count : 0, error));
  HK_CUDA_TRY(allocate(&s->grip, m->grip_entries * m->count, error));
  HK_CUDA_TRY(allocate(&a->x, all, error));
  HK_CUDA_TRY(allocate(&a->v, all, error));
  HK_CUDA_TRY(allocate(&a->info, m->count, error));
  HK_CUDA_TRY(allocate(&a->next, 1, error));
  a->settings = s->settings;
  a->model = *m;
  a->model.row_start = s->row_start;
  a->model.word = s->word;
  a->model.pin_vertex = s->pin_vertex;
  a->model.pin_motion = s->pin_motion;
  a->parameters = HkDeviceWorldsParameters{s->h, s->origin, s->total_mass, s->mass, s->type, s->pin_x0,
                                           s->grip_start, s->grip};
  HK_CUDA_TRY(plan_launch(s, error));
  a->block_bytes = workspace_bytes(m);
  return allocate(&a->workspace, (int64_t)a->block_bytes * s->blocks, error);
}

static HkStatus worlds_create(const HkDeviceWorldsModel *m, const HkDeviceSettings *settings,
                              HkDeviceWorlds **worlds, HkError *error) {
  Worlds *s = (Worlds *)calloc(1, sizeof *s);
  *worlds = (HkDeviceWorlds *)s;
  if (!s) return fail(error, HK_ERROR_MEMORY, "out of memory for worlds");
  s->settings = *settings;
  HkStatus status = fill_worlds(s, m, error);
  if (status < 0) worlds_destroy(worlds);
  return status;
}

/* ---- To and fro ---- */

template <class T>
static HkStatus send(Worlds *s, T *to, const T *from, int64_t count, HkError *error) {
  if (count > 0)
    HK_CUDA(cudaMemcpyAsync(to, from, (size_t)count * sizeof(T), cudaMemcpyHostToDevice, s->queue),
            "copy");
  return HK_OK;
}

static HkStatus finish(Worlds *s, HkError *error) {
  HK_CUDA(cudaStreamSynchronize(s->queue), "move its worlds");
  return HK_OK;
}

static HkStatus worlds_set(HkDeviceWorlds *worlds, const HkDeviceWorldsParameters *p,
                           HkError *error) {
  Worlds *s = (Worlds *)worlds;
  const HkDeviceWorldsModel *m = &s->args.model;
  HK_CUDA_TRY(send(s, s->h, p->h, m->count, error));
  HK_CUDA_TRY(send(s, s->origin, p->origin, 3 * m->count, error));
  HK_CUDA_TRY(send(s, s->total_mass, p->total_mass, m->count, error));
  HK_CUDA_TRY(send(s, s->mass, p->mass, m->n * m->count, error));
  HK_CUDA_TRY(send(s, s->type, p->type, (int64_t)4 * m->types * m->count, error));
  HK_CUDA_TRY(send(s, s->pin_x0, p->pin_x0, 3 * m->pin_count * m->count, error));
  HK_CUDA_TRY(
      send(s, s->grip_start, p->grip_start, m->grips > 0 ? (m->n + 1) * m->count : 0, error));
  HK_CUDA_TRY(send(s, s->grip, p->grip, m->grip_entries * m->count, error));
  return finish(s, error);
}

static HkStatus worlds_upload(HkDeviceWorlds *worlds, int64_t first, int64_t count, const double *x,
                              const double *v, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  int64_t at = first * s->args.model.stride, size = count * s->args.model.stride;
  HK_CUDA_TRY(send(s, s->args.x + at, x + at, size, error));
  HK_CUDA_TRY(send(s, s->args.v + at, v + at, size, error));
  return finish(s, error);
}

static HkStatus worlds_fetch(HkDeviceWorlds *worlds, int64_t first, int64_t count, double *x,
                             double *v, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  int64_t at = first * s->args.model.stride;
  size_t bytes = (size_t)(count * s->args.model.stride) * sizeof *x;
  HK_CUDA(cudaMemcpyAsync(x + at, s->args.x + at, bytes, cudaMemcpyDeviceToHost, s->queue), "copy");
  HK_CUDA(cudaMemcpyAsync(v + at, s->args.v + at, bytes, cudaMemcpyDeviceToHost, s->queue), "copy");
  return finish(s, error);
}

/* ---- Steps ---- */

/* Allocates tables with `rows` rows a world. */
static HkStatus need_rows(Worlds *s, int64_t rows, HkError *error) {
  const HkDeviceWorldsModel *m = &s->args.model;
  int64_t all = m->count * rows,
          motions = m->pins_move ? all * m->motion_count * HK_DEVICE_MOTION_REALS : 0;
  if (rows <= s->rows) return HK_OK;
  cudaFree(s->moment);
  cudaFree(s->grips);
  cudaFree(s->middle);
  cudaFree(s->end);
  s->moment = s->grips = s->middle = s->end = NULL;
  s->rows = 0;
  HK_CUDA_TRY(allocate(&s->moment, all * HK_GPU_MOMENT_REALS, error));
  HK_CUDA_TRY(allocate(&s->grips, all * m->grips * HK_DEVICE_GRIP_REALS, error));
  HK_CUDA_TRY(allocate(&s->middle, motions, error));
  HK_CUDA_TRY(allocate(&s->end, motions, error));
  s->rows = rows;
  return HK_OK;
}

static HkStatus send_times(Worlds *s, const HkDeviceWorldsTimes *times, HkError *error) {
  const HkDeviceWorldsModel *m = &s->args.model;
  int64_t all = m->count * times->rows,
          motions = m->pins_move ? all * m->motion_count * HK_DEVICE_MOTION_REALS : 0;
  HK_CUDA_TRY(need_rows(s, times->rows, error));
  HK_CUDA_TRY(send(s, s->counts, times->counts, m->count, error));
  HK_CUDA_TRY(send(s, s->held, times->held, m->count * m->pin_count, error));
  HK_CUDA_TRY(send(s, s->moment, times->moment, m->count * times->moments * HK_GPU_MOMENT_REALS,
                   error));
  HK_CUDA_TRY(send(s, s->grips, times->grips, all * m->grips * HK_DEVICE_GRIP_REALS, error));
  HK_CUDA_TRY(send(s, s->middle, times->middle, motions, error));
  HK_CUDA_TRY(send(s, s->end, times->end, motions, error));
  s->args.times =
      HkDeviceWorldsTimes{times->rows, times->moments, s->counts, s->held,
                          s->moment, s->grips, s->middle, s->end};
  return HK_OK;
}

static HkStatus worlds_steps(HkDeviceWorlds *worlds, const HkDeviceWorldsTimes *times,
                             HkDeviceStepsInfo *info, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  const HkDeviceWorldsModel *m = &s->args.model;
  HK_CUDA_TRY(send_times(s, times, error));
  HK_CUDA(cudaMemsetAsync(s->args.next, 0, sizeof *s->args.next, s->queue), "launch a step");
  HK_CUDA(cudaMemsetAsync(s->args.info, 0, (size_t)m->count * sizeof *info, s->queue),
          "launch a step");
  pick_worlds(&s->settings)<<<s->blocks, s->threads, s->shared, s->queue>>>(s->args);
  HK_CUDA(cudaGetLastError(), "launch a step");
  HK_CUDA(cudaMemcpyAsync(info, s->args.info, (size_t)m->count * sizeof *info,
                          cudaMemcpyDeviceToHost, s->queue),
          "copy");
  return finish(s, error);
}

/* ---- Arrays for others ---- */

static HkStatus worlds_create_array(HkDeviceWorlds *worlds, void **array, int *number,
                                    HkError *error) {
  const HkDeviceWorldsModel *m = &((Worlds *)worlds)->args.model;
  double *made = NULL;
  HK_CUDA(cudaGetDevice(number), "answer");
  HK_CUDA_TRY(allocate(&made, 3 * m->n * m->count, error));
  *array = made;
  return HK_OK;
}

/* Copies rows of 3 n doubles; other libraries may still use the array, hence the synchronization. */
static HkStatus worlds_copy_to_arrays(HkDeviceWorlds *worlds, void *x, void *v, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  const HkDeviceWorldsModel *m = &s->args.model;
  size_t row = (size_t)(3 * m->n) * sizeof(double), pitch = (size_t)m->stride * sizeof(double);
  void *to[] = {x, v};
  const double *from[] = {s->args.x, s->args.v};
  HK_CUDA(cudaDeviceSynchronize(), "finish what runs on it");
  for (int q = 0; q < 2; q++)
    if (to[q])
      HK_CUDA(cudaMemcpy2DAsync(to[q], row, from[q], pitch, row, (size_t)m->count,
                                cudaMemcpyDeviceToDevice, s->queue),
              "copy");
  return finish(s, error);
}

/* Constrained vertices stay. */
static __global__ void copy_worlds_in(const WorldsArgs a, const uint8_t *held, const double *from,
                                      double *to) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, n = a.model.n;
  if (q >= n * a.model.count) return;
  int64_t world = q / n, i = q % n;
  for (int64_t p = 0; p < a.model.pin_count; p++)
    if (a.model.pin_vertex[p] == i && held[world * a.model.pin_count + p]) return;
  for (int c = 0; c < 3; c++) to[world * a.model.stride + 3 * i + c] = from[3 * q + c];
}

static HkStatus worlds_copy_from_arrays(HkDeviceWorlds *worlds, const void *x, const void *v,
                                        const uint8_t *held, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  const HkDeviceWorldsModel *m = &s->args.model;
  unsigned blocks = blocks_for(m->n * m->count, BLOCK_THREADS);
  HK_CUDA(cudaDeviceSynchronize(), "finish what runs on it");
  HK_CUDA_TRY(send(s, s->held, held, m->count * m->pin_count, error));
  if (x)
    copy_worlds_in<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->args, s->held, (const double *)x,
                                                           s->args.x);
  if (v)
    copy_worlds_in<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->args, s->held, (const double *)v,
                                                           s->args.v);
  HK_CUDA(cudaGetLastError(), "copy");
  return finish(s, error);
}

/* The functions of worlds that worlds_single.cu and worlds_double.cu define for plugin.cu. */
#define HK_CUDA_WORLDS                                                                             \
  {                                                                                                \
    HK_SPACE::worlds_create, HK_SPACE::worlds_destroy, HK_SPACE::worlds_set,                       \
        HK_SPACE::worlds_upload, HK_SPACE::worlds_fetch, HK_SPACE::worlds_steps,                   \
        HK_SPACE::worlds_create_array, HK_SPACE::worlds_copy_to_arrays,                            \
        HK_SPACE::worlds_copy_from_arrays                                                          \
  }

} // namespace HK_SPACE

#endif
