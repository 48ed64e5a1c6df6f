/* Allocates the memory of a simulation: arrays on the device, and pinned host memory for copies.
 *
 * keep registers each array as soon as it is allocated; other resources are members of the
 * simulation. So destroy in device.cuh frees all of them after an error.
 */
#ifndef HK_CUDA_CREATE_CUH
#define HK_CUDA_CREATE_CUH

#include "simulation.cuh"

namespace HK_SPACE {

static HkGpuSpring spring_of(const HkGpuSpringType *p) {
  HkGpuSpring s = {(HkReal)p->k, (HkReal)(p->k * p->l0), (HkReal)p->c, (HkReal)p->least};
  return s;
}

static HkStatus create_springs(Simulation *s, const HkGpuLayout *l, HkError *error) {
  Springs *p = &s->springs;
  uint32_t *word;
  int32_t *order;
  HkReal *l0, *stiffness;
  HK_CUDA_TRY(allocate_copy(&order, l->order, l->n, error));
  keep(s, order);
  s->order = order;
  HK_CUDA_TRY(allocate_copy(&word, l->word, l->words, error));
  keep(s, word);
  int64_t slots = l->brick_count > 0 ? 2 * l->words : l->words;
  HK_CUDA_TRY(allocate_reals(&l0, l->l0, l->l0 ? slots : 0, error));
  keep(s, l0);
  HK_CUDA_TRY(allocate_reals(&stiffness, l->stiffness, l->stiffness ? slots : 0, error));
  keep(s, stiffness);
  p->word = word;
  p->l0 = l0;
  p->stiffness = stiffness;
  p->k = (HkReal)l->k;
  p->kl0 = (HkReal)l->kl0;
  p->c = (HkReal)l->c;
  p->tension = l->tension;
  p->brick_count = (int)l->brick_count;
  p->slots = l->slots;
  for (int q = 0; q < l->palette_count; q++) p->palette[q] = spring_of(&l->palette[q]);
  p->rows = (int)l->rows;
  int32_t *brick = NULL, *halo = NULL, *near = NULL;
  int64_t *halo_start = NULL, *row_start = NULL, *brick_row = NULL;
  if (l->brick_count > 0) {
    HK_CUDA_TRY(allocate_copy(&brick, l->brick, l->brick_count + 1, error));
    keep(s, brick);
    HK_CUDA_TRY(allocate_copy(&halo, l->halo, l->halo_start[l->brick_count], error));
    keep(s, halo);
    HK_CUDA_TRY(allocate_copy(&halo_start, l->halo_start, l->brick_count + 1, error));
    keep(s, halo_start);
    HK_CUDA_TRY(allocate_copy(&near, l->near, l->near ? l->brick_count : 0, error));
    keep(s, near);
    HK_CUDA_TRY(allocate_copy(&brick_row, l->brick_row, l->near ? l->brick_count + 1 : 0, error));
    keep(s, brick_row);
  } else {
    HK_CUDA_TRY(
        allocate_copy(&row_start, l->row_start, (l->n + HK_GPU_ROW - 1) / HK_GPU_ROW + 1, error));
    keep(s, row_start);
  }
  p->brick = brick;
  p->halo = halo;
  p->halo_start = halo_start;
  p->row_start = row_start;
  p->near = near;
  p->brick_row = brick_row;
  return HK_OK;
}

static HkStatus create_around(Simulation *s, const HkDeviceModel *m, HkError *error) {
  int32_t *place, *motion, *face, *face_start, *face_at, *gripped, *grip_start, *grip;
  HkReal *force;
  double *x0;
  uint8_t *held;
  HK_CUDA_TRY(allocate_copy(&place, m->pin_place, m->pin_count, error));
  keep(s, place);
  HK_CUDA_TRY(allocate_copy(&motion, m->pin_motion, m->pin_count, error));
  keep(s, motion);
  HK_CUDA_TRY(allocate_copy(&x0, m->pin_x0, 3 * m->pin_count, error));
  keep(s, x0);
  HK_CUDA_TRY(allocate(&held, m->pin_count, error));
  keep(s, held);
  s->pins =
      Pins{(int)m->pin_count, place, motion, x0, held, {m->origin[0], m->origin[1], m->origin[2]}};
  HK_CUDA_TRY(allocate_copy(&face, m->face, 3 * m->face_count, error));
  keep(s, face);
  HK_CUDA_TRY(
      allocate_copy(&face_start, m->face_start, m->face_count > 0 ? (int64_t)s->n + 1 : 0, error));
  keep(s, face_start);
  HK_CUDA_TRY(allocate_copy(&face_at, m->face_at, 3 * m->face_count, error));
  keep(s, face_at);
  HK_CUDA_TRY(allocate(&force, 3 * m->face_count, error));
  keep(s, force);
  s->faces = Faces{(int)m->face_count, face, face_start, face_at, force};
  HK_CUDA_TRY(allocate_copy(&gripped, m->gripped_place, m->gripped, error));
  keep(s, gripped);
  HK_CUDA_TRY(
      allocate_copy(&grip_start, m->grip_start, m->gripped > 0 ? m->gripped + 1 : 0, error));
  keep(s, grip_start);
  HK_CUDA_TRY(allocate_copy(&grip, m->grip, m->gripped > 0 ? m->grip_start[m->gripped] : 0, error));
  keep(s, grip);
  s->grips = Grips{(int)m->gripped, gripped, grip_start, grip};
  s->pins_move = m->pins_move;
  s->motion_count = m->motion_count;
  s->grip_count = m->grip_count;
  s->pushes = m->face_count > 0 || m->gripped > 0;
  return HK_OK;
}

static HkStatus create_state(Simulation *s, const HkDeviceModel *m, HkError *error) {
  int64_t n = s->n;
  for (int q = 0; q < 2; q++) {
    HK_CUDA_TRY(allocate(&s->x[q], n, error));
    keep(s, s->x[q]);
  }
  HK_CUDA_TRY(allocate(&s->v[0], 3 * n, error));
  keep(s, s->v[0]);
  s->v[1] = s->v[0];
  if (s->general || s->twice) {
    HK_CUDA_TRY(allocate(&s->v[1], 3 * n, error));
    keep(s, s->v[1]);
  }
  bool predicts = s->settings.step == HK_DEVICE_VERLET && s->settings.uses_velocity;
  HK_CUDA_TRY(allocate(&s->w, predicts ? 3 * n : 0, error));
  keep(s, s->w);
  HK_CUDA_TRY(allocate(&s->push, s->pushes ? 3 * n : 0, error));
  keep(s, s->push);
  HK_CUDA_TRY(allocate_reals(&s->mass, m->mass, n, error));
  keep(s, s->mass);
  HK_CUDA_TRY(allocate(&s->record_x, 3 * n, error));
  keep(s, s->record_x);
  HK_CUDA_TRY(allocate(&s->record_v, 3 * n, error));
  keep(s, s->record_v);
  HK_CUDA_TRY(allocate(&s->kinetic, SUM_BLOCKS, error));
  keep(s, s->kinetic);
  size_t bytes = (size_t)(3 * n) * sizeof(HkReal);
  HK_CUDA(cudaMallocHost(&s->host_x, bytes), "allocate host memory");
  HK_CUDA(cudaMallocHost(&s->host_v, bytes), "allocate host memory");
  HK_CUDA(cudaMallocHost(&s->host_kinetic, SUM_BLOCKS * sizeof(double)), "allocate host memory");
  return HK_OK;
}

static HkStatus create_newton(Simulation *s, HkError *error) {
  NewtonArgs *a = &s->newton;
  int64_t n = s->n;
  if (s->settings.step < HK_DEVICE_NEWTON) return HK_OK;
  HK_CUDA_TRY(allocate(&a->p, n, error));
  keep(s, a->p);
  HK_CUDA_TRY(allocate(&a->p_next, n, error));
  keep(s, a->p_next);
  HK_CUDA_TRY(allocate(&a->z, n, error));
  keep(s, a->z);
  HkReal **planes[] = {&a->r, &a->q, &a->d, &a->inverse};
  for (int q = 0; q < (hk_device_has_multigrid(&s->settings) ? 3 : 4); q++) {
    HK_CUDA_TRY(allocate(planes[q], (q < 3 ? 3 : 6) * n, error));
    keep(s, *planes[q]);
  }
  a->blocks = (int)multiply_blocks(s);
  if (a->blocks < NEWTON_BLOCKS) a->blocks = NEWTON_BLOCKS;
  HK_CUDA_TRY(allocate(&a->part, 2 * (int64_t)a->blocks, error));
  keep(s, a->part);
  HK_CUDA_TRY(allocate(&a->scalars, 1, error));
  keep(s, a->scalars);
  HK_CUDA(cudaMallocHost(&s->host_scalars, sizeof(Scalars)), "allocate host memory");
  return HK_OK;
}

/* Members that change from step to step, as h and v, are set in implicit_steps.cuh. */
static HkStatus create_media(Simulation *s, const HkDeviceModel *m, HkError *error) {
  Media *a = &s->media;
  if (!s->uses_majorizer) return HK_OK;
  HK_CUDA_TRY(allocate(&s->now, 1, error));
  keep(s, s->now);
  HK_CUDA_TRY(allocate(&a->y, s->n, error));
  keep(s, a->y);
  HK_CUDA_TRY(allocate(&a->form, 6 * (int64_t)s->n, error));
  keep(s, a->form);
  HK_CUDA_TRY(allocate(&a->damping, 6 * m->face_count, error));
  keep(s, a->damping);
  return HK_OK;
}

static HkStatus create_implicit(Simulation *s, const HkDeviceModel *m, HkError *error) {
  if (!is_implicit(s)) return HK_OK;
  s->uses_majorizer =
      m->face_count > 0 || m->medium_parts & (HK_GPU_QUADRATIC_DRAG | HK_GPU_BUOYANCY);
  HK_CUDA_TRY(allocate(&s->y, s->n, error));
  keep(s, s->y);
  HK_CUDA_TRY(allocate(&s->ahead, s->uses_majorizer ? s->n : 0, error));
  keep(s, s->ahead);
  HK_CUDA_TRY(allocate(&s->sizes, 4 * SUM_BLOCKS, error));
  keep(s, s->sizes);
  HK_CUDA(cudaMallocHost(&s->host_sizes, 4 * SUM_BLOCKS * sizeof(double)), "allocate host memory");
  for (int q = 0; q < 2 && s->settings.step == HK_DEVICE_JACOBI; q++) {
    HK_CUDA_TRY(allocate(&s->relaxed[q], s->n, error));
    keep(s, s->relaxed[q]);
  }
  HK_CUDA_TRY(create_media(s, m, error));
  HK_CUDA_TRY(create_newton(s, error));
  if (m->color_count == 0) return HK_OK;
  s->color_count = m->color_count;
  s->color_start = (int32_t *)malloc((size_t)(m->color_count + 1) * sizeof(int32_t));
  if (!s->color_start) return fail(error, HK_ERROR_MEMORY, "no memory for colors");
  memcpy(s->color_start, m->color_start, (size_t)(m->color_count + 1) * sizeof(int32_t));
  return HK_OK;
}

/* Host buffers for tables form a ring, of at most RING_BYTES, so that the host can run a frame
 * ahead. */
static const size_t RING_BYTES = (size_t)1 << 26;

static HkStatus create_tables(Simulation *s, HkError *error) {
  size_t grips = (size_t)BATCH * s->grip_count * HK_DEVICE_GRIP_REALS;
  size_t motions = (size_t)BATCH * s->motion_count * HK_DEVICE_MOTION_REALS;
  size_t each = BATCH * sizeof(HkGpuMoment) + grips * sizeof(HkReal) + 2 * motions * sizeof(double);
  size_t fit = RING_BYTES / each;
  s->rings = fit > RING ? (int)RING : fit < 4 ? 4 : (int)fit;
  HK_CUDA_TRY(allocate(&s->device.moment, BATCH, error));
  keep(s, s->device.moment);
  HK_CUDA_TRY(allocate(&s->device.grips, (int64_t)grips, error));
  keep(s, s->device.grips);
  HK_CUDA_TRY(allocate(&s->device.middle, (int64_t)motions, error));
  keep(s, s->device.middle);
  HK_CUDA_TRY(allocate(&s->device.end, (int64_t)motions, error));
  keep(s, s->device.end);
  for (int q = 0; q < s->rings; q++) {
    Tables *t = &s->host[q];
    HK_CUDA(cudaMallocHost(&t->moment, BATCH * sizeof *t->moment), "allocate host memory");
    HK_CUDA(cudaMallocHost(&t->grips, (grips + 1) * sizeof *t->grips), "allocate host memory");
    HK_CUDA(cudaMallocHost(&t->middle, (motions + 1) * sizeof(double)), "allocate host memory");
    HK_CUDA(cudaMallocHost(&t->end, (motions + 1) * sizeof(double)), "allocate host memory");
    HK_CUDA(cudaEventCreateWithFlags(&t->read, cudaEventDisableTiming), "make an event");
  }
  return HK_OK;
}

} // namespace HK_SPACE

#endif
