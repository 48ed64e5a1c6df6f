/* linear_implicit_euler by pcg with multigrid: the operations of gpu/linear_step.h on a GPU. x stays
 * where it is until the end of the step, and constrained vertices with it: their moves enter the
 * right-hand side.
 */
#ifndef HK_CUDA_LINEAR_STEPS_CUH
#define HK_CUDA_LINEAR_STEPS_CUH

#include "backend/gpu/linear_step.h"
#include "multigrid_steps.cuh"

namespace HK_SPACE {

/* Queues q = H along, H projected. */
static void queue_product(Simulation *s) {
  LinearizeArgs a = linearize_args(s);
  begin_product<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(a);
  if (s->uses_majorizer)
    launch(multiply_media, blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue, a.newton);
  queue_multiply(s, &a.newton, pick_newton(s).multiply);
}

/* r = gradient - q; *size becomes |r|. */
static HkStatus read_residual(Simulation *s, double *size, HkError *error) {
  true_residual<<<newton_blocks(s), BLOCK_THREADS, 0, s->queue>>>(linearize_args(s));
  HK_CUDA_TRY(read_scalars(s, error));
  *size = sqrt(s->host_scalars->rr);
  return HK_OK;
}

static HkStatus find_residual(void *device, double *size, HkError *error) {
  Simulation *s = (Simulation *)device;
  queue_product(s);
  return read_residual(s, size, error);
}

static HkStatus add_more(void *device, double tolerance, HkGpuSolved *solved, HkError *error) {
  Simulation *s = (Simulation *)device;
  HK_CUDA_TRY(solve_system(s, s->newton.r, 0, tolerance, solved, error));
  add_solution<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(linearize_args(s));
  HK_CUDA(cudaGetLastError(), "launch a step");
  return HK_OK;
}

/* gradient and r = -dg/dx - H d, d the moves of constrained vertices; along = 0. *size becomes |r|,
 * *weighted that of gpu/linear_step.h. */
static HkStatus begin_linear(Simulation *s, int step, double *size, double *weighted,
                             HkError *error) {
  LinearizeArgs a = linearize_args(s);
  size_t bytes = (size_t)s->n * 3 * sizeof(HkReal);
  HkGpuLook look;
  HK_CUDA_TRY(look_at(s, &look, error));
  *weighted = (double)s->stage.tau * look.moved;
  HK_CUDA(cudaMemsetAsync(a.along, 0, bytes, s->queue), "clear an array");
  HK_CUDA(cudaMemsetAsync(a.newton.q, 0, bytes, s->queue), "clear an array");
  if (s->pins_move && s->pins.count > 0) {
    const size_t row = (size_t)step * s->motion_count * HK_DEVICE_MOTION_REALS;
    unsigned blocks = blocks_for(s->pins.count, BLOCK_THREADS);
    launch(place_pins, blocks, BLOCK_THREADS, 0, s->queue, s->pins, s->n, s->device.end + row,
           a.newton.p_next, a.newton.d); /* into scratch buffers */
    move_pins<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->pins, s->n, s->x[s->at], a.newton.p_next,
                                                      a.along);
    queue_product(s);
  }
  HK_CUDA_TRY(read_residual(s, size, error));
  HK_CUDA(cudaMemcpyAsync(a.gradient, a.newton.r, bytes, cudaMemcpyDeviceToDevice, s->queue),
          "copy");
  HK_CUDA(cudaMemsetAsync(a.along, 0, bytes, s->queue), "clear an array");
  return HK_OK;
}

static HkStatus make_linear(Simulation *s, int step, HkError *error) {
  HkGpuLinearOps ops = {s, add_more, find_residual};
  double size, weighted;
  queue_stage(s, step, 0);
  if (s->uses_majorizer) queue_media(s, step);
  HK_CUDA_TRY(begin_linear(s, step, &size, &weighted, error));
  HK_CUDA_TRY(prepare_hierarchy(s, true, error));
  HK_CUDA_TRY(hk_gpu_linear_step(&ops, &s->settings, size, weighted, &s->step, error));
  hk_device_count(&s->info, &s->step, true, sizeof(HkReal) == 8);
  end_linear<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(
      linearize_args(s), s->stage.h, s->v[s->v_at]);
  queue_pins(s, s->device.end, step);
  return HK_OK;
}

} // namespace HK_SPACE

#endif
