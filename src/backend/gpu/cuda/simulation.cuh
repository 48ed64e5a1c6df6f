/* A simulation on a card: its arrays, and graphs of what it queues.
 *
 * Positions stand twice, v twice where springs are damped or two steps are made at once: a step
 * reads one and writes the other. What depends on time comes in tables of at most BATCH steps,
 * through memory that the card reads by itself. BATCH explicit steps are a graph that is launched
 * at once: small systems are bound by the launching of kernels, and of large ones the host can
 * queue many steps ahead and turn to what it has to write.
 *
 * create.cuh takes the arrays; transfer.cuh brings states and tables to the card and back;
 * explicit_steps.cuh, implicit_steps.cuh and newton_steps.cuh queue the kernels of explicit.cuh,
 * around.cuh, descent.cuh, media.cuh and newton.cuh; device.cuh is the whole, for a plug-in.
 */
#ifndef HK_CUDA_SIMULATION_CUH
#define HK_CUDA_SIMULATION_CUH

#include "newton.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace HK_SPACE {

enum { BATCH = 256, RING = 64 };

/* Sweeps of descent, or iterations of conjugate gradients, that are queued at once and after which
 * the host may look. */
enum { ROUND = 10 }; /* even: two arrays of directions take turns */

/* Fewer vertices: graphs of rounds; two and four threads for each vertex. */
static const int GRAPHS_BELOW = 400000, TWO_LANES_BELOW = 200000, MANY_LANES_BELOW = 30000;
/* The same of descent, which moves a part of them at once. */
static const int FEW_A_COLOR = 400000;

/* Tables of a batch on their way: one row a step. */
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
  int at; /* which x is the present one */
  int v_at;

  Pins pins;
  bool pins_move;
  int motion_count, grip_count;
  Faces faces;
  Grips grips;
  double origin[3];

  Tables host[RING], card;
  int rings, turn; /* of those: how many there are, which is next */
  cudaGraphExec_t graph[2][2]; /* by at and v_at, of BATCH steps */
  cudaGraphExec_t round;       /* of ROUND sweeps or iterations */

  /* Of implicit steps. */
  Real4 *y, *ahead, *relaxed[2];
  bool leans;       /* media are more than m' at y' */
  HkGpuMoment *now; /* of the present step */
  Media media;
  int color_count;
  int32_t *color_start; /* on the host */
  double *sizes, *host_sizes;
  NewtonArgs newton;
  Scalars *host_scalars;
  HkStepReport step;     /* of the present step */
  HkDeviceReport report; /* since the last one was fetched */

  HkReal *record_x, *record_v, *host_x, *host_v;
  double *kinetic, *host_kinetic;
  cudaEvent_t recorded, copied;
  bool has_record;

  void *arrays[64]; /* all that was taken on the card */
  int array_count;
};

/* Remembers an array for the end. */
template <class T> static void keep(Simulation *s, T *p) {
  if (p) s->arrays[s->array_count++] = (void *)p;
}

static bool is_implicit(const Simulation *s) {
  return s->settings.step >= HK_DEVICE_BLOCK_DESCENT;
}

/* Blocks of a product with the Hessian. */
static unsigned multiply_blocks(const Simulation *s) {
  return s->bricks ? (unsigned)s->springs.brick_count : blocks_for((int64_t)s->lanes * s->n, WIDE);
}

/* ---- Graphs ---- */

/* What queue puts into the queue, as a graph that is made once. */
template <class F>
static HkStatus queue_graph_of(Simulation *s, cudaGraphExec_t *made, F queue, HkError *error) {
  if (!*made) {
    cudaGraph_t graph;
    HK_CUDA(cudaStreamBeginCapture(s->queue, cudaStreamCaptureModeThreadLocal), "make a graph");
    queue();
    HK_CUDA(cudaStreamEndCapture(s->queue, &graph), "make a graph");
    cudaError_t code = cudaGraphInstantiate(made, graph, 0);
    cudaGraphDestroy(graph);
    HK_CUDA(code, "make a graph");
  }
  HK_CUDA(cudaGraphLaunch(*made, s->queue), "launch a graph");
  return HK_OK;
}

/* count times one, ROUND at once where launching counts. */
template <class F>
static HkStatus queue_round(Simulation *s, int count, F one, HkError *error) {
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
