/* Queues implicit steps: the begin of backward Euler, the end of a step, the stopping criterion,
 * and the minimizers descent and jacobi; descent.cuh has their equations.
 */
#ifndef HK_CUDA_IMPLICIT_STEPS_CUH
#define HK_CUDA_IMPLICIT_STEPS_CUH

#include "explicit_steps.cuh"

#include <float.h>

namespace HK_SPACE {

typedef void ConvergenceKernel(const Springs, const DescentArgs, double *);

static ConvergenceKernel *pick_convergence(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE:
    return s->general ? convergence_parts<HK_GPU_BY_PALETTE, true>
                      : convergence_parts<HK_GPU_BY_PALETTE, false>;
  case HK_GPU_BY_LENGTH:
    return s->general ? convergence_parts<HK_GPU_BY_LENGTH, true>
                      : convergence_parts<HK_GPU_BY_LENGTH, false>;
  default:
    return s->general ? convergence_parts<HK_GPU_UNIQUE, true>
                      : convergence_parts<HK_GPU_UNIQUE, false>;
  }
}

static Media media_of(const Simulation *s) {
  Media m = s->media;
  m.n = s->n;
  m.parts = s->parts;
  m.h = s->stage.tau;
  m.faces = s->faces;
  m.moment = s->now;
  m.mass = s->mass;
  m.v = s->v[s->v_at];
  m.push = s->push;
  m.ahead = s->ahead;
  m.anchor = s->y;
  return m;
}

/* Evaluates media at x, which is the position without forces here, and v. */
static void queue_media(Simulation *s, int step) {
  Media m = media_of(s);
  const Real4 *x = s->x[s->at];
  cudaMemcpyAsync(s->now, s->device.moment + step, sizeof *s->now, cudaMemcpyDeviceToDevice,
                  s->queue);
  if (s->faces.count > 0) {
    queue_face_wind(s, m.moment, x, m.v);
    launch(begin_faces, blocks_for(s->faces.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, m,
           x);
  }
  launch(begin_media, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, m);
}

/* Computes the majorizers at x, if there are any; each evaluation at x needs them first. */
static void queue_majorizer(Simulation *s, const Real4 *x) {
  if (s->uses_majorizer)
    launch(majorize, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, media_of(s), x);
}

static void queue_begin(Simulation *s, int step) {
  HkReal h = (HkReal)s->settings.h;
  Real4 *x = s->x[s->at], *b = s->x[1 - s->at];
  HkReal *v = s->v[s->v_at];
  s->step = HkStepInfo{};
  launch(begin_step, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, s->n, h,
         s->device.moment + step, s->mass, x, v, b, s->ahead, s->y);
  launch(anchor_grips, blocks_for(s->grips.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue,
         s->grips, h, s->device.grips + (size_t)step * s->grip_count * HK_DEVICE_GRIP_REALS, b,
         s->y);
  queue_pins(s, s->device.end, step);
  if (s->pins_move)
    launch(begin_pins, blocks_for(s->pins.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue,
           s->pins, s->n, h, x, v, b, s->ahead);
  if (s->uses_majorizer) queue_media(s, step);
}

static DescentArgs descent_args(const Simulation *s) {
  const HkGpuStage *stage = &s->stage;
  DescentArgs a = {};
  a.n = s->n;
  a.h = stage->tau;
  a.flat = s->flat;
  a.x = s->x[s->at];
  a.b = stage->old != 0 ? s->start : s->x[1 - s->at];
  a.before = stage->old != 0 ? s->before : NULL;
  a.now = stage->now;
  a.old = stage->old;
  a.v = stage->linear ? s->v[s->v_at] : NULL;
  a.y = s->uses_majorizer ? s->media.y : s->y;
  a.form = s->media.form;
  return a;
}

/* Evaluates the stopping criterion of minimize/stopping.c at x; *r becomes |M^-1 dg/dx|_M in
 * kg^(1/2) m. It does not examine the Hessian, so that an x that meets the tolerance is stationary,
 * not converged. Rounding error is judged vertex by vertex: in single precision a sum over all
 * vertices would hide one that has not converged. */
static HkStatus look(Simulation *s, const Real4 *x, double *r, HkError *error) {
  const double ROUNDING = 4 * (sizeof(HkReal) == 4 ? FLT_EPSILON : DBL_EPSILON);
  double sum[2] = {0, 0}, most[2] = {0, 0};
  DescentArgs a = descent_args(s);
  a.x = (Real4 *)x;
  queue_majorizer(s, x);
  pick_convergence(s)<<<SUM_BLOCKS, SUM_THREADS, 0, s->queue>>>(s->springs, a, s->sizes);
  HK_CUDA(cudaMemcpyAsync(s->host_sizes, s->sizes, 4 * SUM_BLOCKS * sizeof(double),
                          cudaMemcpyDeviceToHost, s->queue),
          "copy");
  HK_CUDA(cudaStreamSynchronize(s->queue), "make its steps");
  for (int q = 0; q < 2 * SUM_BLOCKS; q++) {
    sum[q / SUM_BLOCKS] += s->host_sizes[q];
    most[q / SUM_BLOCKS] = fmax(most[q / SUM_BLOCKS], s->host_sizes[q + 2 * SUM_BLOCKS]);
  }
  double moved = sqrt(sum[1]);
  *r = sqrt(sum[0]);
  s->step.gradient = *r > 0 ? *r / moved : 0;
  s->step.reason = HK_STOP_ITERATIONS;
  if (s->settings.tolerance == 0) return HK_OK;
  if (*r <= s->settings.tolerance * moved)
    s->step.reason = HK_STOP_STATIONARY;
  else if (most[0] <= ROUNDING * most[1])
    s->step.reason = HK_STOP_ROUNDING;
  return HK_OK;
}

static bool is_done(const Simulation *s) {
  return s->step.reason == HK_STOP_STATIONARY || s->step.reason == HK_STOP_ROUNDING;
}

static void queue_end(Simulation *s, int iterations) {
  s->step.iterations = iterations;
  if (s->step.reason == HK_STOP_NONE) s->step.reason = HK_STOP_ITERATIONS;
  hk_device_count(&s->info, &s->step, s->settings.tolerance > 0, sizeof(HkReal) == 8);
  launch(end_step, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, s->n,
         s->stage.tau, s->x[s->at], s->x[1 - s->at], s->v[s->v_at]);
}

/* ---- Descent ---- */

typedef void DescentKernel(const Springs, const DescentArgs);

/* Returns the number of threads a vertex: a color has fewer vertices than the model. */
static int descent_lanes(const Simulation *s) {
  return s->n < DESCENT_MANY_LANES_BELOW ? 4 : 1;
}

template <int P, bool G> static DescentKernel *descent_kernel(const Simulation *s) {
  return descent_lanes(s) == 4 ? descend<P, G, 4, 4> : descend<P, G, 1, 12>;
}

static DescentKernel *pick_descent(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE:
    return s->general ? descent_kernel<HK_GPU_BY_PALETTE, true>(s)
                      : descent_kernel<HK_GPU_BY_PALETTE, false>(s);
  case HK_GPU_BY_LENGTH:
    return s->general ? descent_kernel<HK_GPU_BY_LENGTH, true>(s)
                      : descent_kernel<HK_GPU_BY_LENGTH, false>(s);
  default:
    return s->general ? descent_kernel<HK_GPU_UNIQUE, true>(s)
                      : descent_kernel<HK_GPU_UNIQUE, false>(s);
  }
}

static void queue_sweep(Simulation *s) {
  DescentArgs a = descent_args(s);
  int lanes = descent_lanes(s);
  queue_majorizer(s, a.x);
  for (int c = 0; c < s->color_count; c++) {
    a.first = s->color_start[c];
    a.last = s->color_start[c + 1];
    launch(pick_descent(s), blocks_for((int64_t)lanes * (a.last - a.first), ROW_THREADS),
           ROW_THREADS, 0, s->queue, s->springs, a);
  }
}

static HkStatus make_descent(Simulation *s, int step, HkError *error) {
  double r;
  int sweeps = 0, most = s->settings.iterations;
  queue_begin(s, step);
  while (sweeps < most && !is_done(s)) {
    int count = most - sweeps < ROUND ? most - sweeps : ROUND;
    HK_CUDA_TRY(queue_round(
        s, count, [&] { queue_sweep(s); }, error));
    sweeps += count;
    if (s->settings.tolerance > 0) HK_CUDA_TRY(look(s, s->x[s->at], &r, error));
  }
  queue_end(s, sweeps);
  return HK_OK;
}

/* ---- Jacobi ---- */

typedef void RelaxKernel(const Springs, const DescentArgs, HkReal, HkReal, const Real4 *, Real4 *);

template <int P, bool G> static RelaxKernel *relax_kernel(const Simulation *s) {
  return s->n < MANY_LANES_BELOW ? relax<P, G, 4, 4> : relax<P, G, 1, 12>;
}

static RelaxKernel *pick_relax(const Simulation *s) {
  switch (s->parameters) {
  case HK_GPU_BY_PALETTE:
    return s->general ? relax_kernel<HK_GPU_BY_PALETTE, true>(s)
                      : relax_kernel<HK_GPU_BY_PALETTE, false>(s);
  case HK_GPU_BY_LENGTH:
    return s->general ? relax_kernel<HK_GPU_BY_LENGTH, true>(s)
                      : relax_kernel<HK_GPU_BY_LENGTH, false>(s);
  default:
    return s->general ? relax_kernel<HK_GPU_UNIQUE, true>(s)
                      : relax_kernel<HK_GPU_UNIQUE, false>(s);
  }
}

/* Returns the spectral radius at which ROUND iterations, made for the radius rho, reduce the error
 * to a part R: minimize/chebyshev.h. */
static double measured_radius(double rho, double R) {
  if (!(R > 0)) return rho;
  if (rho == 0) return fmin(pow(R, 1.0 / ROUND), 0.9999);
  double most = R * cosh(ROUND * acosh(1 / rho));
  return most <= 1 ? rho : fmin(rho * cosh(acosh(most) / ROUND), 0.9999);
}

/* Queues at most ROUND iterations, with which the recurrence of omega restarts; x: the newest
 * iterate, the one before, and a scratch buffer. */
static void queue_relaxation(Simulation *s, Real4 *x[3], double rho, int count) {
  int lanes = s->n < MANY_LANES_BELOW ? 4 : 1;
  double omega = 1;
  for (int q = 0; q < count; q++) {
    DescentArgs a = descent_args(s);
    a.x = x[0];
    if (q == 1) omega = 2 / (2 - rho * rho);
    if (q > 1) omega = 4 / (4 - rho * rho * omega);
    queue_majorizer(s, x[0]);
    launch(pick_relax(s), blocks_for((int64_t)lanes * s->n, ROW_THREADS), ROW_THREADS, 0, s->queue,
           s->springs, a, (HkReal)s->settings.weight, (HkReal)omega, q == 0 ? x[0] : x[1], x[2]);
    Real4 *newest = x[2];
    x[2] = x[1];
    x[1] = x[0];
    x[0] = newest;
  }
}

static HkStatus make_jacobi(Simulation *s, int step, HkError *error) {
  Real4 *x[3] = {s->x[s->at], s->relaxed[0], s->relaxed[1]};
  double rho = s->settings.rho, left = 0, r = 0;
  bool measures = rho == 0;
  int made = 0, most = s->settings.iterations;
  queue_begin(s, step);
  while (made < most && !is_done(s)) {
    int count = most - made < ROUND ? most - made : ROUND;
    queue_relaxation(s, x, rho, count);
    made += count;
    if (!measures && s->settings.tolerance == 0) continue;
    HK_CUDA_TRY(look(s, x[0], &r, error));
    if (measures && left > 0) rho = r < left ? measured_radius(rho, r / left) : rho / 2;
    left = r;
  }
  if (x[0] != s->x[s->at])
    HK_CUDA(cudaMemcpyAsync(s->x[s->at], x[0], (size_t)s->n * sizeof(Real4),
                            cudaMemcpyDeviceToDevice, s->queue),
            "copy");
  queue_end(s, made);
  return HK_OK;
}

} // namespace HK_SPACE

#endif
