/* Worlds of a batch on a GPU: one thread block moves one world through many steps (gpu/world.h).
 *
 * As many blocks as fit the GPU take worlds from a counter, implicit ones for one step at a time,
 * so that no block is idle before the last step and a world with more iterations delays no other.
 * Each block has a workspace of its own, which stays in the cache. worlds_single.cu and
 * worlds_double.cu compile this file, plugin.cu exports both.
 */
#ifndef HK_CUDA_WORLDS_CUH
#define HK_CUDA_WORLDS_CUH

#include "base.cuh"
#include "worlds.h"

#include "backend/gpu/world_newton.h"

#include <string.h>

namespace HK_SPACE {

enum {
  EXPLICIT_THREADS = 512, /* of a block, at most */
  EXPLICIT_BLOCKS = 0,    /* that share a multiprocessor's registers, at least */
  IMPLICIT_THREADS = 256,
  IMPLICIT_BLOCKS = 3,
  WIDE_THREADS = 512, /* of a resident world that has a multiprocessor for itself */
  IMPLICIT_TURN = 1,  /* steps of a world before its block takes another one */
};

/* What a launch reads and writes; all pointers are to device memory. */
typedef struct WorldsArgs {
  HkDeviceSettings settings;
  HkDeviceWorldsModel model;
  HkDeviceWorldsParameters parameters;
  HkDeviceWorldsTimes times;
  double *x, *v;
  HkDeviceStepsInfo *info;
  int *next; /* number of the turn that the next block takes: a turn of each world, then the next */
  int *made; /* steps that each world has made */
  int turn;  /* steps of a world in a turn */
  bool resident; /* springs of linear systems stand in shared memory */
  char *workspace;
  size_t block_bytes; /* of the workspace */
} WorldsArgs;

typedef void WorldsKernel(const WorldsArgs);

typedef struct Worlds {
  HkDeviceSettings settings; /* first, as plugin.cu expects */
  WorldsArgs args;
  cudaStream_t queue;
  WorldsKernel *kernel;
  int blocks, threads;
  size_t shared;
  int64_t rows; /* of the tables that are allocated */
  int32_t *row_start, *pin_vertex, *pin_motion, *counts, *grip_start, *grip;
  uint32_t *word;
  uint16_t *neighbor;
  uint8_t *held;
  double *h, *origin, *total_mass, *mass, *type, *pin_x0, *moment, *grips, *middle, *end;
} Worlds;

/* ---- The kernel ---- */

static bool is_implicit(const HkDeviceSettings *settings) {
  return settings->step == HK_DEVICE_NEWTON;
}

static size_t workspace_bytes(const HkDeviceWorldsModel *m, const HkDeviceSettings *settings) {
  if (is_implicit(settings)) return hk_world_workspace_bytes(m->n, m->words);
  size_t bytes = (size_t)m->n * (sizeof(HkGpuVector) + sizeof(HkReal));
  return (bytes + 255) / 256 * 256;
}

/* Gives a block its memory, by one thread. */
template <bool IMPLICIT>
static __device__ void use_memory(const WorldsArgs *a, HkGpuWorldSolve *s) {
  HkGpuWorld *w = s->world;
  const HkDeviceWorldsModel *m = &a->model;
  char *workspace = a->workspace + blockIdx.x * a->block_bytes;
  w->neighbor = m->neighbor;
  if (IMPLICIT) {
    const uint16_t *near = hk_world_use_shared(s, hk_team_memory, m->n, m->words, a->resident);
    hk_world_use_workspace(s, workspace, m->n, m->words, a->resident);
    if (a->resident) w->neighbor = near;
    return;
  }
  w->x = (HkGpuVector *)hk_team_memory;
  w->v = w->x + a->model.n;
  w->w = w->v + a->model.n;
  w->next = (HkGpuVector *)workspace;
  w->inverse = (HkReal *)(w->next + a->model.n);
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

/* Waits until a world has made `steps` steps, by one thread before a barrier of its block. Turns
 * are taken in order, so that the block that makes them runs already. */
static __device__ void await_turn(int *made, int steps) {
  while (atomicAdd(made, 0) < steps) {
#if __CUDA_ARCH__ >= 700
    __nanosleep(200);
#endif
  }
  __threadfence();
}

/* Lets the next block have a world, after all writes of this one. */
static __device__ void end_turn(int *made, int steps) {
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence();
  atomicExch(made, steps);
}

/* Moves worlds, one turn after the other, until none is left. IMPLICIT: by backward Euler. */
template <bool IMPLICIT, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    move_worlds(const __grid_constant__ WorldsArgs a) {
  __shared__ HkGpuWorld w;
  __shared__ HkGpuWorldSolve s;
  __shared__ HkGpuMedium medium;
  __shared__ int taken;
  const size_t motions = (size_t)a.model.motion_count * HK_DEVICE_MOTION_REALS;
  if (threadIdx.x == 0) {
    w.medium = &medium;
    s.world = &w;
    s.settings = &a.settings;
    use_memory<IMPLICIT>(&a, &s);
  }
  __syncthreads();
  for (int q = threadIdx.x; IMPLICIT && a.resident && q < a.model.words; q += blockDim.x)
    ((uint16_t *)w.neighbor)[q] = a.model.neighbor[q];
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(a.next, 1);
    __syncthreads();
    int world = taken % (int)a.model.count, first = taken / (int)a.model.count * a.turn;
    if (first >= a.times.rows) return;
    int count = min(a.times.counts[world] - first, a.turn);
    if (count <= 0) continue;
    if (threadIdx.x == 0) {
      use_world(&a, world, &w);
      await_turn(a.made + world, first);
    }
    __syncthreads();
    double *x = a.x + (size_t)a.model.stride * world, *v = a.v + (size_t)a.model.stride * world;
    hk_world_load(&w, x, v);
    for (int q = first; q < first + count; q++) {
      size_t at = (size_t)world * a.times.rows + q;
      const double *middle = a.model.pins_move ? a.times.middle + at * motions : NULL;
      const double *end = a.model.pins_move ? a.times.end + at * motions : NULL;
      size_t moment = (size_t)world * a.times.moments + (a.times.moments > 1 ? q : 0);
      hk_world_set_forces(&w, a.times.moment + moment * HK_GPU_MOMENT_REALS,
                          a.times.grips + at * a.model.grips * HK_DEVICE_GRIP_REALS);
      if (IMPLICIT) {
        HkStepInfo step = hk_world_step_implicit(&s, a.parameters.total_mass[world], end);
        if (threadIdx.x == 0)
          hk_device_count(&a.info[world], &step, a.settings.tolerance > 0, true);
      } else {
        hk_world_step_explicit(&w, a.settings.step == HK_DEVICE_VERLET, a.settings.uses_velocity,
                               middle, end);
      }
    }
    double kinetic = hk_world_store(&w, x, v);
    if (threadIdx.x == 0) a.info[world].kinetic = kinetic;
    end_turn(a.made + world, first + count);
  }
}

/* Positions of implicit steps are in double precision. */
static WorldsKernel *pick_worlds(const HkDeviceSettings *settings, bool wide) {
  const bool IS_DOUBLE = sizeof(HkReal) == sizeof(double);
  if (IS_DOUBLE && is_implicit(settings))
    return wide ? move_worlds<IS_DOUBLE, WIDE_THREADS, 1>
                : move_worlds<IS_DOUBLE, IMPLICIT_THREADS, IMPLICIT_BLOCKS>;
  return move_worlds<false, EXPLICIT_THREADS, EXPLICIT_BLOCKS>;
}

/* ---- Creating ---- */

static void worlds_destroy(HkDeviceWorlds **worlds) {
  Worlds *s = (Worlds *)*worlds;
  *worlds = NULL;
  if (!s) return;
  if (s->queue) cudaStreamSynchronize(s->queue);
  void *all[] = {s->row_start, s->pin_vertex, s->pin_motion, s->counts,    s->word,
                 s->neighbor,  s->held,       s->h,          s->origin,    s->total_mass,
                 s->mass,      s->type,       s->pin_x0,     s->grips,     s->grip_start,
                 s->grip,      s->moment,     s->middle,     s->end,       s->args.x,
                 s->args.v,    s->args.info,  s->args.next,  s->args.made, s->args.workspace};
  for (size_t q = 0; q < sizeof all / sizeof all[0]; q++) cudaFree(all[q]);
  if (s->queue) cudaStreamDestroy(s->queue);
  free(s);
}

enum { SHARED_RESERVE = 4096 }; /* bytes of shared memory of a block for all else */

/* Bytes of shared memory that a block may have, and that a multiprocessor has. */
static cudaError_t find_shared(int64_t *block, int64_t *processor) {
  int device = 0, bytes = 0;
  cudaError_t code = cudaGetDevice(&device);
  if (code == cudaSuccess)
    code = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  *block = bytes - SHARED_RESERVE;
  if (code == cudaSuccess)
    code = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  *processor = bytes;
  return code;
}

/* Picks the memory of a block and its kernel; *most becomes its largest number of threads. */
static HkStatus plan_memory(Worlds *s, WorldsKernel **kernel, int *most, HkError *error) {
  const HkDeviceWorldsModel *m = &s->args.model;
  int64_t block, processor;
  HK_CUDA(find_shared(&block, &processor), "answer");
  *most = EXPLICIT_THREADS;
  *kernel = pick_worlds(&s->settings, false);
  s->shared = (size_t)m->n * 3 * sizeof(HkGpuVector);
  if (!is_implicit(&s->settings)) return HK_OK;
  int64_t bytes = (int64_t)hk_world_shared_bytes(m->n, m->words, true);
  bool wide = IMPLICIT_BLOCKS * (bytes + SHARED_RESERVE) > processor;
  s->args.resident = bytes <= block;
  wide &= s->args.resident;
  *most = wide ? WIDE_THREADS : IMPLICIT_THREADS;
  *kernel = pick_worlds(&s->settings, wide);
  s->shared = hk_world_shared_bytes(m->n, m->words, s->args.resident);
  return HK_OK;
}

/* Picks threads, so that each has as many vertices as any other, and blocks. */
static HkStatus plan_launch(Worlds *s, HkError *error) {
  const HkDeviceWorldsModel *m = &s->args.model;
  int most, device = 0, processors = 0, resident = 0;
  HK_CUDA_TRY(plan_memory(s, &s->kernel, &most, error));
  int warps = (int)((m->n + 31) / 32), rows = (warps + most / 32 - 1) / (most / 32);
  const void *kernel = (const void *)s->kernel;
  s->threads = (warps + rows - 1) / rows * 32;
  HK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s->shared),
          "set up its kernels");
  HK_CUDA(cudaGetDevice(&device), "answer");
  HK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "answer");
  HK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, s->threads, s->shared),
          "answer");
  s->blocks = (resident > 1 ? resident : 1) * processors;
  if (s->blocks > m->count) s->blocks = (int)m->count;
  s->args.block_bytes = workspace_bytes(m, &s->settings);
  return HK_OK;
}

/* An array in device memory. */
typedef struct Part {
  void **to;
  const void *from; /* NULL: zeros */
  int64_t count;
  size_t size;
} Part;

enum { PARTS = 21 };

template <class T> static Part part(T **to, const T *from, int64_t count) {
  return Part{(void **)to, from, count, sizeof(T)};
}

/* The arrays that worlds_create allocates, after plan_launch. */
static void list_parts(Worlds *s, Part parts[PARTS]) {
  WorldsArgs *a = &s->args;
  const HkDeviceWorldsModel *m = &a->model;
  const Part all[PARTS] = {
      part(&s->row_start, m->row_start, (m->n + HK_GPU_ROW - 1) / HK_GPU_ROW + 1),
      part(&s->word, m->word, m->words),
      part(&s->neighbor, m->neighbor, m->words),
      part(&s->pin_vertex, m->pin_vertex, m->pin_count),
      part(&s->pin_motion, m->pin_motion, m->pin_count),
      part<int32_t>(&s->counts, NULL, m->count),
      part<uint8_t>(&s->held, NULL, m->count * m->pin_count),
      part<double>(&s->h, NULL, m->count),
      part<double>(&s->origin, NULL, 3 * m->count),
      part<double>(&s->total_mass, NULL, m->count),
      part<double>(&s->mass, NULL, m->n * m->count),
      part<double>(&s->type, NULL, (int64_t)4 * m->types * m->count),
      part<double>(&s->pin_x0, NULL, 3 * m->pin_count * m->count),
      part<int32_t>(&s->grip_start, NULL, m->grips > 0 ? (m->n + 1) * m->count : 0),
      part<int32_t>(&s->grip, NULL, m->grip_entries * m->count),
      part<double>(&a->x, NULL, m->count * m->stride),
      part<double>(&a->v, NULL, m->count * m->stride),
      part<HkDeviceStepsInfo>(&a->info, NULL, m->count),
      part<int>(&a->next, NULL, 1),
      part<int>(&a->made, NULL, m->count),
      part<char>(&a->workspace, NULL, (int64_t)a->block_bytes * s->blocks),
  };
  memcpy(parts, all, sizeof all);
}

/* Bytes of the arrays, each rounded up to the alignment of cudaMalloc. */
static double worlds_need(const HkDeviceWorldsModel *m, const HkDeviceSettings *settings) {
  const int64_t ALIGNMENT = 256;
  Worlds s = {};
  Part parts[PARTS];
  double bytes = 0;
  s.settings = *settings;
  s.args.model = *m;
  if (plan_launch(&s, NULL) < 0) return 0; /* worlds_create returns the error */
  list_parts(&s, parts);
  for (int q = 0; q < PARTS; q++) {
    int64_t size = parts[q].count * (int64_t)parts[q].size;
    bytes += (double)((size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  }
  return bytes;
}

/* Largest number of vertices of a world. */
static int64_t worlds_most(const HkDeviceSettings *settings) {
  int64_t block, processor;
  if (find_shared(&block, &processor) != cudaSuccess) return 0;
  return block /
         (int64_t)(is_implicit(settings) ? hk_world_vertex_bytes() : 3 * sizeof(HkGpuVector));
}

static HkStatus fill_worlds(Worlds *s, const HkDeviceWorldsModel *m, HkError *error) {
  WorldsArgs *a = &s->args;
  Part parts[PARTS];
  HK_CUDA(cudaStreamCreateWithFlags(&s->queue, cudaStreamNonBlocking), "make a queue");
  a->settings = s->settings;
  a->model = *m;
  HK_CUDA_TRY(plan_launch(s, error));
  list_parts(s, parts);
  for (int q = 0; q < PARTS; q++) {
    size_t bytes = (size_t)parts[q].count * parts[q].size;
    HK_CUDA_TRY(allocate((char **)parts[q].to, (int64_t)bytes, error));
    if (parts[q].from && bytes > 0)
      HK_CUDA(copy_to_device(*parts[q].to, parts[q].from, bytes), "copy");
  }
  a->model.row_start = s->row_start;
  a->model.word = s->word;
  a->model.neighbor = s->neighbor;
  a->model.pin_vertex = s->pin_vertex;
  a->model.pin_motion = s->pin_motion;
  a->parameters = HkDeviceWorldsParameters{s->h,    s->origin, s->total_mass, s->mass,
                                           s->type, s->pin_x0, s->grip_start, s->grip};
  return HK_OK;
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
  HK_CUDA_TRY(
      send(s, s->moment, times->moment, m->count * times->moments * HK_GPU_MOMENT_REALS, error));
  HK_CUDA_TRY(send(s, s->grips, times->grips, all * m->grips * HK_DEVICE_GRIP_REALS, error));
  HK_CUDA_TRY(send(s, s->middle, times->middle, motions, error));
  HK_CUDA_TRY(send(s, s->end, times->end, motions, error));
  s->args.times = HkDeviceWorldsTimes{times->rows, times->moments, s->counts, s->held,
                                      s->moment,   s->grips,       s->middle, s->end};
  return HK_OK;
}

static HkStatus worlds_steps(HkDeviceWorlds *worlds, const HkDeviceWorldsTimes *times,
                             HkDeviceStepsInfo *info, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  const HkDeviceWorldsModel *m = &s->args.model;
  HK_CUDA_TRY(send_times(s, times, error));
  s->args.turn = is_implicit(&s->settings) ? IMPLICIT_TURN : (int)times->rows;
  HK_CUDA(cudaMemsetAsync(s->args.next, 0, sizeof *s->args.next, s->queue), "launch a step");
  HK_CUDA(cudaMemsetAsync(s->args.made, 0, (size_t)m->count * sizeof *s->args.made, s->queue),
          "launch a step");
  HK_CUDA(cudaMemsetAsync(s->args.info, 0, (size_t)m->count * sizeof *info, s->queue),
          "launch a step");
  s->kernel<<<s->blocks, s->threads, s->shared, s->queue>>>(s->args);
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

/* Copies rows of 3 n doubles; other libraries may still use the array, hence the synchronization.
 */
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
    HK_SPACE::worlds_need, HK_SPACE::worlds_most, HK_SPACE::worlds_create,                         \
        HK_SPACE::worlds_destroy, HK_SPACE::worlds_set, HK_SPACE::worlds_upload,                   \
        HK_SPACE::worlds_fetch, HK_SPACE::worlds_steps, HK_SPACE::worlds_create_array,             \
        HK_SPACE::worlds_copy_to_arrays, HK_SPACE::worlds_copy_from_arrays                         \
  }

} // namespace HK_SPACE

#endif
