/* Queues the hierarchy of a Hessian and the cycle of multigrid (level.cuh, small_levels.cuh).
 *
 *     cycle k:  smooth;  b' = P^T (b - A x);  cycle k + 1;  x += P x';  smooth
 *
 * The result of a cycle is in x of the level, whatever the number of cycles.
 */
#ifndef HK_CUDA_CYCLE_CUH
#define HK_CUDA_CYCLE_CUH

#include "pcg_single.cuh"
#include "simulation.cuh"
#include "small_levels.cuh"

namespace HK_SPACE {

struct Multigrid {
  int count;
  bool exact; /* HkGpuHierarchy */
  Level level[HK_GPU_LEVELS_MAX];
  float *inverse;
  int first_small; /* from this level on cycle_small runs the cycle; `count`: none */
  SmallLevels small;
  LinearizeArgs args;
  HkGpuFixed *fixed; /* positions of the present Hessian; NULL: products read stored springs */
  bool by_decrease;  /* of HkGpuPcg, for the next systems */
  cudaStream_t side; /* beside the queue, within the graph of a hierarchy */
  cudaEvent_t fork, join;
  Sums side_sums;
  cudaGraphExec_t prepare[2];         /* for later Hessians of a step, and for its first one */
  cudaGraphExec_t iteration[2];       /* of conjugate gradients, by the array that holds p */
  cudaGraphExec_t single[DIRECTIONS]; /* the same in single precision, by the slot of p */
  HkGpuFour *direction[DIRECTIONS];   /* of conjugate gradients in single precision */
};

/* Numbers of rows from which on one, two or four warps share a slice; eight below. */
static int lanes_of(const Multigrid *m, int k) {
  int n = m->level[k].A.n;
  if (k == 0) return 1;
  return n > 500000 ? 1 : n > 100000 ? 2 : n > 30000 ? 4 : 8;
}

/* Calls go(lanes) with the number of warps that share a slice of level k, as a constant. */
template <class F> static void with_lanes(const Multigrid *m, int k, F go) {
  switch (lanes_of(m, k)) {
  case 1: return go(std::integral_constant<int, 1>());
  case 2: return go(std::integral_constant<int, 2>());
  case 4: return go(std::integral_constant<int, 4>());
  default: return go(std::integral_constant<int, 8>());
  }
}

/* ---- The hierarchy ---- */

template <bool SPRINGS, int LANES> static void queue_project(Simulation *s, int k) {
  const Level *l = &s->multigrid->level[k], *next = l + 1;
  unsigned pairs = project_blocks(l->pair_count, LANES);
  launch(project<SPRINGS, LANES>, pairs + project_blocks(next->A.n, LANES), BLOCK_THREADS, 0,
         s->queue, *l, next->A, pairs);
}

/* The matrix of level k + 1. Lists of small levels are few and long. */
static void queue_projection(Simulation *s, int k) {
  const int MANY_PAIRS = 200000;
  const Level *l = &s->multigrid->level[k], *next = l + 1;
  bool many = l->pair_count > MANY_PAIRS;
  if (k == 0)
    many ? queue_project<true, 1>(s, k) : queue_project<true, 8>(s, k);
  else
    many ? queue_project<false, 1>(s, k) : queue_project<false, 8>(s, k);
  launch(invert_diagonal, blocks_for(next->A.n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue,
         next->A);
}

/* An even number of power iterations, after which power[0] is the newest vector again. */
static void queue_bound(Simulation *s, int k, bool first, cudaStream_t queue, const Sums &sums) {
  Multigrid *m = s->multigrid;
  Level *l = &m->level[k];
  int count = first ? HK_GPU_POWER_FIRST : HK_GPU_POWER_NEXT;
  if (first)
    launch(begin_power, blocks_for(l->A.n, BLOCK_THREADS), BLOCK_THREADS, 0, queue, l->A.n,
           l->power[0], l->norm);
  with_lanes(m, k, [&](auto lanes) {
    for (int q = 0; q < count; q++)
      launch(iterate_power<lanes.value>, rows_blocks(l->A.n, lanes.value), BLOCK_THREADS, 0, queue,
             l->A, l->power[q % 2], l->power[1 - q % 2], l->norm, sums);
  });
}

/* Positions in fixed point, and all levels of the Hessian whose level 0 is there. Bounds and the
 * inverse do not depend on each other: those of small levels, which are bound by latency, run
 * beside those of large ones. */
static void queue_hierarchy(Simulation *s, bool first) {
  const int SIDE_ROWS = 30000;
  Multigrid *m = s->multigrid;
  int last = m->count - 1;
  if (m->fixed)
    launch(fix_positions, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue,
           m->level[0].A, s->x[s->at], &s->newton.scalars->unit, m->fixed);
  for (int k = 0; k < last; k++) queue_projection(s, k);
  cudaEventRecord(m->fork, s->queue);
  cudaStreamWaitEvent(m->side, m->fork, 0);
  for (int k = 1; k < m->count; k++) {
    bool small = m->level[k].A.n < SIDE_ROWS;
    if (k < last || !m->exact)
      queue_bound(s, k, first, small ? m->side : s->queue, small ? m->side_sums : m->args.sums);
  }
  if (m->exact)
    launch(invert_dense, 1, DENSE_THREADS, dense_shared(m->level[last].A.n), m->side,
           m->level[last].A, m->inverse);
  cudaEventRecord(m->join, m->side);
  cudaStreamWaitEvent(s->queue, m->join, 0);
}

/* ---- The cycle ---- */

typedef void FineKernel(const Springs, const FineArgs, int, const HkGpuFour *, const HkGpuFour *,
                        HkGpuFour *);

/* Returns the product of level 0 in bricks; NULL where springs are stored for it. */
template <int KIND> static FineKernel *pick_fine(const Simulation *s) {
  if (!s->bricks || s->general || s->parameters != HK_GPU_BY_PALETTE) return NULL;
  if (s->words == 6) return multiply_fine<6, true, KIND>;
  if (s->words <= 6) return multiply_fine<6, false, KIND>;
  return multiply_fine<13, false, KIND>;
}

typedef void LinearizeKernel(const Springs, const LinearizeArgs);

/* Returns the kernel that linearizes in bricks; NULL where products need springs at both ends. */
static LinearizeKernel *pick_linearize(const Simulation *s) {
  return pick_fine<FINE_FIRST>(s) ? linearize_bricks : NULL;
}

typedef void SingleKernel(const Springs, const SingleArgs, int);

/* Returns the product of conjugate gradients in single precision; NULL where that of level 0 is not
 * in bricks. */
static SingleKernel *pick_single(const Simulation *s) {
  if (!pick_fine<FINE_FIRST>(s)) return NULL;
  if (s->words == 6) return multiply_single<6, true>;
  if (s->words <= 6) return multiply_single<6, false>;
  return multiply_single<13, false>;
}

/* Returns whether systems may be solved in single precision, in the memory of vectors in double
 * precision. */
static bool solves_in_single(const Simulation *s) {
  return sizeof(HkReal) == 8 && pick_single(s) && !s->uses_majorizer;
}

static void queue_fine(Simulation *s, FineKernel *kernel, int before, const HkGpuFour *x,
                       HkGpuFour *to) {
  const Level *l = &s->multigrid->level[0];
  double h = (double)s->stage.tau;
  FineArgs a = {l->A,
                s->multigrid->fixed,
                h * h * (double)s->multigrid->args.scale,
                s->stage.linear ? LINEAR_LONGER : 0,
                s->multigrid->args.sums,
                s->newton.scalars};
  launch(kernel, (unsigned)s->springs.brick_count, HK_GPU_BRICK, fine_shared(s->most_local),
         s->queue, s->springs, a, before, l->b, x, to);
}

/* One step of the smoother: before as in smooth; sums: with rz and beta, on level 0 in bricks. */
template <bool SPRINGS, int LANES>
static void queue_smooth(Simulation *s, const Level *l, int before, bool sums, HkGpuFour *x,
                         HkGpuFour *to) {
  FineKernel *fine = !SPRINGS ? NULL : sums ? pick_fine<FINE_LAST>(s) : pick_fine<FINE_NEXT>(s);
  if (fine)
    queue_fine(s, fine, before, x, to);
  else
    launch(smooth<SPRINGS, LANES>, rows_blocks(l->A.n, LANES), BLOCK_THREADS, 0, s->queue, l->A,
           before, l->b, x, to);
}

template <bool SPRINGS> static void queue_smoother(Simulation *s, int k, bool zero, bool sums) {
  Multigrid *m = s->multigrid;
  Level *l = &m->level[k];
  FineKernel *first = SPRINGS && zero ? pick_fine<FINE_FIRST>(s) : NULL;
  if (first) return queue_fine(s, first, BEFORE_ZERO, NULL, l->x);
  with_lanes(m, k, [&](auto lanes) {
    const int LANES = SPRINGS ? 1 : lanes.value;
    if (zero)
      launch(smooth_zero, blocks_for(l->A.n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, l->A, l->b,
             l->before);
    else
      queue_smooth<SPRINGS, LANES>(s, l, BEFORE_NONE, false, l->x, l->before);
    queue_smooth<SPRINGS, LANES>(s, l, zero ? BEFORE_ZERO : BEFORE_THERE, sums, l->before, l->x);
  });
}

template <bool SPRINGS> static void queue_residual(Simulation *s, int k) {
  Multigrid *m = s->multigrid;
  Level *l = &m->level[k], *next = l + 1;
  FineKernel *fine = SPRINGS ? pick_fine<FINE_RESIDUAL>(s) : NULL;
  if (fine)
    queue_fine(s, fine, BEFORE_NONE, l->x, l->r);
  else
    with_lanes(m, k, [&](auto lanes) {
      const int LANES = SPRINGS ? 1 : lanes.value;
      launch(residual<SPRINGS, LANES>, rows_blocks(l->A.n, LANES), BLOCK_THREADS, 0, s->queue, l->A,
             l->b, l->x, l->r);
    });
  launch(restrict_residual, blocks_for(next->A.n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue,
         l->restrict_to, next->A.n, l->r, next->b);
}

/* sums: the last product has rz and beta, on level 0 in bricks. */
static void queue_level(Simulation *s, int k, bool zero, bool sums) {
  Multigrid *m = s->multigrid;
  Level *l = &m->level[k], *next = l + 1;
  if (k >= m->first_small) {
    launch(cycle_small, 1, SMALL_THREADS, 0, s->queue, m->small, (int)zero);
    return;
  }
  k == 0 ? queue_smoother<true>(s, k, zero, false) : queue_smoother<false>(s, k, zero, false);
  if (k + 1 < m->count) {
    k == 0 ? queue_residual<true>(s, k) : queue_residual<false>(s, k);
    for (int pass = 0; pass < next->cycles; pass++) queue_level(s, k + 1, pass == 0, false);
    bool all = k == 0 && m->fixed; /* multiply_fine leaves constrained vertices out */
    launch(all ? add_correction<true> : add_correction<false>, blocks_for(l->A.n, BLOCK_THREADS),
           BLOCK_THREADS, 0, s->queue, l->A, l->prolong, next->x, l->x);
  }
  k == 0 ? queue_smoother<true>(s, k, false, sums) : queue_smoother<false>(s, k, false, false);
}

static void drop_multigrid_graphs(Simulation *s) {
  if (!s->multigrid) return;
  for (int q = 0; q < 2; q++) {
    cudaGraphExec_t *all[] = {&s->multigrid->prepare[q], &s->multigrid->iteration[q]};
    for (int k = 0; k < 2; k++) {
      if (*all[k]) cudaGraphExecDestroy(*all[k]);
      *all[k] = NULL;
    }
  }
  for (int q = 0; q < DIRECTIONS; q++) {
    cudaGraphExec_t *made = &s->multigrid->single[q];
    if (*made) cudaGraphExecDestroy(*made);
    *made = NULL;
  }
}

} // namespace HK_SPACE

#endif
