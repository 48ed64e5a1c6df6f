/* Queues backward Euler by Newton's method: iterations of conjugate gradients in rounds, then a
 * line search by halving; newton.cuh has the equations. The host reads the residual after a round,
 * and the change of g after each trial step.
 */
#ifndef HK_CUDA_NEWTON_STEPS_CUH
#define HK_CUDA_NEWTON_STEPS_CUH

#include "implicit_steps.cuh"

namespace HK_SPACE {

typedef void SolveKernel(const Springs, const NewtonArgs);
typedef void ChangeKernel(const Springs, const NewtonArgs, HkReal);

struct NewtonKernels {
  SolveKernel *begin, *multiply;
  ChangeKernel *change;
};

/* Kernels are specialized by the number of slots, as in brick_kernel of explicit_steps.cuh. */
template <int P, bool G> static SolveKernel *multiply_kernel(const Simulation *s) {
  if (!s->bricks && s->lanes == 4) return multiply<P, G, 4, 4>;
  if (!s->bricks) return s->lanes == 2 ? multiply<P, G, 2, 6> : multiply<P, G, 1, 6>;
  if (s->words == 6) return multiply_bricks<P, G, 6, true>;
  if (s->words == 13) return multiply_bricks<P, G, 13, true>;
  if (s->words <= 4) return multiply_bricks<P, G, 4, false>;
  if (s->words <= 8) return multiply_bricks<P, G, 8, false>;
  return multiply_bricks<P, G, 13, false>;
}

template <int P, bool G> static ChangeKernel *change_kernel(const Simulation *s) {
  if (!s->bricks) return change<P, G>;
  if (s->words == 6) return change_bricks<P, G, 6, true>;
  if (s->words <= 6) return change_bricks<P, G, 6, false>;
  return change_bricks<P, G, 13, false>;
}

template <int P, bool G> static NewtonKernels newton_kernels(const Simulation *s) {
  return NewtonKernels{begin_solve<P, G>, multiply_kernel<P, G>(s), change_kernel<P, G>(s)};
}

static NewtonKernels pick_newton(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE:
    return s->general ? newton_kernels<HK_GPU_BY_PALETTE, true>(s)
                      : newton_kernels<HK_GPU_BY_PALETTE, false>(s);
  case HK_GPU_BY_LENGTH:
    return s->general ? newton_kernels<HK_GPU_BY_LENGTH, true>(s)
                      : newton_kernels<HK_GPU_BY_LENGTH, false>(s);
  default:
    return s->general ? newton_kernels<HK_GPU_UNIQUE, true>(s)
                      : newton_kernels<HK_GPU_UNIQUE, false>(s);
  }
}

static unsigned newton_blocks(const Simulation *s) {
  unsigned all = blocks_for(s->n, BLOCK_THREADS);
  return all < NEWTON_BLOCKS ? all : (unsigned)NEWTON_BLOCKS;
}

static void queue_multiply(Simulation *s, const NewtonArgs *a, SolveKernel *multiply) {
  if (s->bricks)
    launch(multiply, (unsigned)s->springs.brick_count, HK_GPU_BRICK,
           multiply_shared(s->most_local, s->general), s->queue, s->springs, *a);
  else
    launch(multiply, multiply_blocks(s), BLOCK_THREADS, 0, s->queue, s->springs, *a);
}

/* Queues the change of g from x to x + t d. */
static void queue_change(Simulation *s, const NewtonArgs *a, HkReal t) {
  ChangeKernel *change = pick_newton(s).change;
  if (s->bricks)
    change<<<(unsigned)s->springs.brick_count, HK_GPU_BRICK,
             multiply_shared(s->most_local, s->general), s->queue>>>(s->springs, *a, t);
  else
    change<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(s->springs, *a, t);
}

/* Waits for all that is queued, and copies Newton's scalars to the host. */
static HkStatus read_scalars(Simulation *s, HkError *error) {
  const int LOOKS = 100000; /* at the ticket, between two questions whether the queue has failed */
  const unsigned ticket = ++s->ticket;
  const volatile unsigned *seen = &s->host_scalars->ticket;
  launch(publish, 1, 32, 0, s->queue, s->newton.scalars, s->host_scalars, ticket);
  HK_CUDA(cudaGetLastError(), "launch its kernels");
  for (int looks = 1; *seen != ticket; looks++) {
    if (looks % LOOKS != 0) continue;
    cudaError_t code = cudaStreamQuery(s->queue);
    if (code == cudaSuccess) break;
    if (code != cudaErrorNotReady) HK_CUDA(code, "make its steps");
    looks = 0;
  }
  __sync_synchronize();
  return HK_OK;
}

static void queue_iteration(Simulation *s, NewtonArgs *a, const NewtonKernels *k) {
  if (s->uses_majorizer)
    launch(multiply_media, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, *a);
  queue_multiply(s, a, k->multiply);
  launch(update, newton_blocks(s), BLOCK_THREADS, 0, s->queue, *a);
  Real4 *p = a->p;
  a->p = a->p_next;
  a->p_next = p;
}

/* d = H^-1 r to a relative residual; 0: it makes all iterations without reading the residual. */
static HkStatus solve(Simulation *s, NewtonArgs *a, const NewtonKernels *k, double accuracy,
                      HkError *error) {
  double goal = 0;
  bool done = false;
  int most = s->settings.linear_iterations;
  a->p = s->newton.p; /* the arrays that the graph of a round contains */
  a->p_next = s->newton.p_next;
  queue_majorizer(s, a->step.x);
  k->begin<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(s->springs, *a);
  if (accuracy > 0) {
    HK_CUDA_TRY(read_scalars(s, error));
    goal = accuracy * accuracy * s->host_scalars->rr;
  }
  for (int it = 0; it < most && !done;) {
    int count = most - it < ROUND ? most - it : ROUND;
    HK_CUDA_TRY(queue_round(
        s, count, [&] { queue_iteration(s, a, k); }, error));
    it += count;
    s->step.linear_iterations += count;
    if (accuracy == 0) continue;
    HK_CUDA_TRY(read_scalars(s, error));
    done = s->host_scalars->rr <= goal;
  }
  end_solve<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(*a);
  return HK_OK;
}

/* Line search: x += the largest of d, d / 2, d / 4 ... that lowers g. */
static HkStatus line_search(Simulation *s, const NewtonArgs *a, bool *found, HkError *error) {
  HkReal t = 1;
  *found = false;
  for (int halvings = 0; halvings < 12 && !*found; halvings++, t /= 2) {
    queue_change(s, a, t);
    HK_CUDA_TRY(read_scalars(s, error));
    if (!(s->host_scalars->alpha < 0)) continue;
    take_step<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(*a, t);
    *found = true;
  }
  return HK_OK;
}

static HkStatus make_newton(Simulation *s, int step, HkError *error) {
  NewtonKernels k = pick_newton(s);
  bool found = true;
  double r;
  int it = 0;
  queue_begin(s, step);
  NewtonArgs a = s->newton;
  a.step = descent_args(s);
  a.media = media_of(s);
  for (; it < s->settings.iterations && !is_done(s) && found; it++) {
    HK_CUDA_TRY(solve(s, &a, &k, s->settings.forcing, error));
    HK_CUDA_TRY(line_search(s, &a, &found, error));
    if (s->settings.tolerance > 0) HK_CUDA_TRY(look(s, s->x[s->at], &r, error));
  }
  if (!found && !is_done(s)) s->step.reason = HK_STOP_STALLED;
  queue_end(s, it);
  return HK_OK;
}

} // namespace HK_SPACE

#endif
