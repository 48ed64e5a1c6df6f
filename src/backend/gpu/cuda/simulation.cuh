/* A simulation on a GPU: its arrays and CUDA graphs.
 *
 * There are two arrays of positions, and two of velocities if springs are damped or one kernel
 * makes two steps: a step reads one and writes the other. Quantities that depend on time come in
 * tables of at most BATCH steps, through pinned host memory. BATCH explicit steps are one graph:
 * small systems are bound by launch latency, and for large ones the host can queue many steps ahead
 * and write output meanwhile.
 *
 * create.cuh allocates the arrays; transfer.cuh copies states and tables between host and device;
 * explicit_steps.cuh, implicit_steps.cuh and newton_steps.cuh queue the kernels of explicit.cuh,
 * around.cuh, descent.cuh, media.cuh and newton.cuh; cycle.cuh, multigrid_steps.cuh and
 * linear_steps.cuh those of level.cuh, small_levels.cuh, fine_bricks.cuh, pcg_single.cuh,
 * linearize.cuh and stage.cuh; device.cuh implements the interface of a plug-in.
 */
#ifndef HK_CUDA_SIMULATION_CUH
#define HK_CUDA_SIMULATION_CUH

#include "newton.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace HK_SPACE {

enum { BATCH = 256, RING = 64 };

/* Sweeps of descent, or iterations of conjugate gradients, that are queued between two reads of the
 * residual. */
enum { ROUND = 10 }; /* even, since two arrays of directions alternate */

/* Numbers of vertices below which rounds are graphs, and below which two or four threads share a
 * vertex. */
static const int GRAPHS_BELOW = 400000, TWO_LANES_BELOW = 200000, MANY_LANES_BELOW = 30000;
/* Number of vertices below which four threads share a vertex in descent, which moves one color at a
 * time. */
static const int DESCENT_MANY_LANES_BELOW = 400000;

/* Tables of a batch, one row a step. */
struct Tables {
  HkGpuMoment *moment;
  HkReal *grips;
  double *middle, *end;
  cudaEvent_t read;
};

struct Simulation {
  HkDeviceSettings settings;
  int n, flat, parts;
  bool general, bricks, twice, pushes;
  HkGpuParameters parameters;
  Springs springs;
  int most_local, most_rows, words, lanes;
  cudaStream_t queue, copies;

  Real4 *x[2];
  HkReal *v[2], *w, *push, *mass;
  int32_t *order;
  int at; /* index of the current array x */
  int v_at;

  Pins pins;
  bool pins_move;
  int motion_count, grip_count;
  Faces faces;
  Grips grips;
  double origin[3];

  Tables host[RING], device;
  int rings, turn;             /* number of host tables, index of the next one */
  cudaGraphExec_t graph[2][2]; /* of BATCH steps, by at and v_at */
  cudaGraphExec_t round;       /* of ROUND sweeps or iterations */

  /* Arrays of implicit steps. */
  Real4 *y, *ahead, *relaxed[2];
  HkGpuStage stage; /* of the present step */
  bool uses_majorizer; /* media have anisotropic terms */
  HkGpuMoment *now;    /* of the present step */
  Media media;
  int color_count;
  int32_t *color_start; /* on the host */
  double *sizes, *host_sizes;
  NewtonArgs newton;
  Scalars *host_scalars;
  unsigned ticket;     /* of the last copy of scalars to the host */
  HkStepInfo step;     /* of the present step */
  HkDeviceStepsInfo info; /* summed since the last fetch */

  HkReal *record_x, *record_v, *host_x, *host_v;
  double *kinetic, *host_kinetic;

  /* The step before, of steps by multigrid (stage.cuh). */
  HkReal *v_old;         /* velocities, in three planes; NULL: not kept */
  Real4 *start, *before; /* of bdf2: x at the start of the step and, if springs are damped, before */
  Real4 *bare;           /* y' without media, where a step has several passes */
  HkReal *record_x_old, *record_v_old, *host_x_old, *host_v_old;
  cudaEvent_t recorded, copied;
  bool has_record;

  struct Multigrid *multigrid; /* of cycle.cuh; NULL: not in use */
  double total_mass;           /* kg */

  void *arrays[1024]; /* all allocations of device memory */
  int array_count;
};

/* Registers an array, which destroy frees. */
template <class T> static void keep(Simulation *s, T *p) {
  if (p) s->arrays[s->array_count++] = (void *)p;
}

static bool is_implicit(const Simulation *s) {
  return s->settings.step >= HK_DEVICE_BLOCK_DESCENT;
}

/* Returns the number of blocks of a product with the Hessian. */
static unsigned multiply_blocks(const Simulation *s) {
  return s->bricks ? (unsigned)s->springs.brick_count
                   : blocks_for((int64_t)s->lanes * s->n, BLOCK_THREADS);
}

/* ---- Graphs ---- */

/* Launches the kernels that `queue` enqueues as a graph, which is made once. */
template <class F>
static HkStatus queue_graph_of(Simulation *s, cudaGraphExec_t *made, F queue, HkError *error) {
  if (!*made) {
    cudaGraph_t graph;
    HK_CUDA(cudaStreamBeginCapture(s->queue, cudaStreamCaptureModeThreadLocal), "make a graph");
    queue();
    cudaError_t code = cudaGetLastError();
    HK_CUDA(cudaStreamEndCapture(s->queue, &graph), "make a graph");
    if (code == cudaSuccess) code = cudaGraphInstantiate(made, graph, 0);
    cudaGraphDestroy(graph);
    HK_CUDA(code, "make a graph");
  }
  HK_CUDA(cudaGraphLaunch(*made, s->queue), "launch a graph");
  return HK_OK;
}

/* Queues `one` count times; as graphs of ROUND if launch latency matters. */
template <class F> static HkStatus queue_round(Simulation *s, int count, F one, HkError *error) {
  auto all = [&] {
    for (int q = 0; q < count; q++) one();
  };
  if (count == ROUND && s->n < GRAPHS_BELOW) return queue_graph_of(s, &s->round, all, error);
  all();
  return HK_OK;
}

static void drop_graphs(Simulation *s) {
  for (int q = 0; q < 4; q++) {
    cudaGraphExec_t *made = &s->graph[q / 2][q % 2];
    if (*made) cudaGraphExecDestroy(*made);
    *made = NULL;
  }
  if (s->round) cudaGraphExecDestroy(s->round);
  s->round = NULL;
}

} // namespace HK_SPACE

#endif
