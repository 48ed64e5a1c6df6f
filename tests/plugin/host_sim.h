/* A device that is no device: the plug-in's part played on the host, in the layout and with the
 * arithmetic of the GPUs, one vertex after the other. What is different on a GPU is how threads
 * share the work. Here: what a simulation holds, its springs, and what is around them. */
#ifndef HOOKE_TEST_HOST_SIM_H
#define HOOKE_TEST_HOST_SIM_H

#include "backend/device.h"
#include "backend/gpu/media_implicit.h"
#include "backend/gpu/stage.h"
#include "host_levels.h"

#include <stdlib.h>
#include <string.h>

typedef struct Sim {
  HkDeviceSettings settings; /* first, as in the plug-in for GPUs */
  int64_t n;
  HkGpuLayout layout; /* own copies of its arrays */
  HkDeviceModel model;
  HkGpuVector *x, *v, *w, *push, *x_next, *v_next;
  HkGpuVector *y;             /* minimum of each vertex's majorizer, and ... */
  HkGpuBlock *form, *damping; /* ... its S; of each face: media_implicit.h */
  bool uses_majorizer;        /* media have anisotropic terms */
  HkReal *inverse;            /* 0: held */
  HkReal *out_x, *out_v, *out_x_old, *out_v_old;
  /* Of multigrid: the velocity one step before, and its part of the guess; of bdf2 the positions at
   * the start of the step and one step before that. */
  HkGpuVector *v_old, *lead, *start, *before;
  HkGpuVector *bare; /* w before media are added, where a step has several passes */
  HkGpuStage stage;  /* of the present step */
  double inertia;    /* kg m^2: 1/2 |x_n - y|_M^2 */
  uint8_t *held;
  HostLevels levels;      /* of multigrid, */
  double scale;           /* and their HkGpuHierarchy.scale */
  HkDeviceStepsInfo info; /* since the last one was fetched */
  void *owned[60];        /* all that is to be freed */
  int owned_count;
} Sim;

static void *copy_of(Sim *s, const void *from, int64_t count, size_t size) {
  void *to = calloc((size_t)(count > 0 ? count : 1), size);
  if (to && from && count > 0) memcpy(to, from, (size_t)count * size);
  s->owned[s->owned_count++] = to;
  return to;
}

#define COPY(field, from, count)                                                                   \
  s->field = (from) ? copy_of(s, (from), (count), sizeof *(from)) : NULL

static HkStatus create(const HkDeviceModel *m, const HkDeviceSettings *settings, HkDeviceSim **sim,
                       HkError *error) {
  Sim *s = calloc(1, sizeof *s);
  const HkGpuLayout *l = m->layout;
  int64_t slots = l->brick_count > 0 ? 2 * l->words : l->words;
  (void)error;
  s->settings = *settings;
  s->n = l->n;
  s->layout = *l;
  s->model = *m;
  COPY(layout.order, l->order, l->n);
  COPY(layout.word, l->word, l->words);
  COPY(layout.l0, l->l0, slots);
  COPY(layout.stiffness, l->stiffness, slots);
  COPY(layout.brick, l->brick, l->brick_count + 1);
  COPY(layout.halo_start, l->halo_start, l->brick_count + 1);
  COPY(layout.halo, l->halo, l->brick_count > 0 ? l->halo_start[l->brick_count] : 0);
  COPY(layout.near, l->near, l->brick_count);
  COPY(layout.brick_row, l->brick_row, l->brick_count + 1);
  COPY(layout.row_start, l->row_start, (l->n + HK_GPU_ROW - 1) / HK_GPU_ROW + 1);
  COPY(model.mass, m->mass, l->n);
  COPY(model.pin_place, m->pin_place, m->pin_count);
  COPY(model.pin_motion, m->pin_motion, m->pin_count);
  COPY(model.pin_x0, m->pin_x0, 3 * m->pin_count);
  COPY(model.face, m->face, 3 * m->face_count);
  COPY(model.face_start, m->face_start, l->n + 1);
  COPY(model.face_at, m->face_at, 3 * m->face_count);
  COPY(model.gripped_place, m->gripped_place, m->gripped);
  COPY(model.grip_start, m->grip_start, m->gripped + 1);
  COPY(model.grip, m->grip, m->gripped > 0 ? m->grip_start[m->gripped] : 0);
  HkGpuVector **vectors[] = {&s->x, &s->v, &s->w, &s->push, &s->x_next, &s->v_next, &s->y};
  for (int q = 0; q < 7; q++) *vectors[q] = copy_of(s, NULL, l->n, sizeof(HkGpuVector));
  s->form = copy_of(s, NULL, l->n, sizeof(HkGpuBlock));
  s->damping = copy_of(s, NULL, m->face_count, sizeof(HkGpuBlock));
  s->uses_majorizer =
      m->face_count > 0 || m->medium_parts & (HK_GPU_QUADRATIC_DRAG | HK_GPU_BUOYANCY);
  s->inverse = copy_of(s, NULL, l->n, sizeof(HkReal));
  s->out_x = copy_of(s, NULL, 3 * l->n, sizeof(HkReal));
  s->out_v = copy_of(s, NULL, 3 * l->n, sizeof(HkReal));
  s->held = copy_of(s, NULL, m->pin_count, 1);
  if (settings->passes > 1 && s->uses_majorizer)
    s->bare = copy_of(s, NULL, l->n, sizeof(HkGpuVector));
  if (hk_device_remembers(settings)) {
    HkGpuVector **old[] = {&s->v_old, &s->lead, &s->start, &s->before};
    for (int q = 0; q < (hk_device_needs_x_old(settings) ? 4 : 2); q++)
      *old[q] = copy_of(s, NULL, l->n, sizeof(HkGpuVector));
    s->out_v_old = copy_of(s, NULL, 3 * l->n, sizeof(HkReal));
    if (s->start) s->out_x_old = copy_of(s, NULL, 3 * l->n, sizeof(HkReal));
  }
  if (m->hierarchy) host_levels_create(m->hierarchy, &s->levels);
  s->scale = m->hierarchy ? m->hierarchy->scale : 1;
  *sim = (HkDeviceSim *)s;
  return HK_OK;
}

static void destroy(HkDeviceSim **sim) {
  Sim *s = (Sim *)*sim;
  host_levels_destroy(&s->levels);
  for (int q = 0; q < s->owned_count; q++) free(s->owned[q]);
  free(s);
  *sim = NULL;
}

static HkStatus set_h(HkDeviceSim *sim, double h, HkError *error) {
  (void)error;
  ((Sim *)sim)->settings.h = h;
  return HK_OK;
}

/* ---- Springs ---- */

static HkGpuSpring spring_at(const Sim *s, int64_t entry, uint32_t number) {
  const HkGpuLayout *l = &s->layout;
  if (l->parameters == HK_GPU_BY_PALETTE) {
    const HkGpuSpringType *p = &l->palette[number];
    return (HkGpuSpring){(HkReal)p->k, (HkReal)(p->k * p->l0), (HkReal)p->c, (HkReal)p->least};
  }
  double l0 = l->l0[entry], k = l->stiffness ? l->stiffness[entry] : l->k > 0 ? l->k : l->kl0 / l0;
  if (l0 < 0) return (HkGpuSpring){.least = -1};
  return (HkGpuSpring){(HkReal)k, (HkReal)(k * l0), (HkReal)l->c, l->tension ? (HkReal)l0 : -1};
}

/* The number in a brick of the neighbor in a slot of a row, and the spring to it. */
static int64_t in_brick(const Sim *s, int64_t row, int64_t slot, HkGpuSpring *p) {
  const HkGpuLayout *l = &s->layout;
  uint32_t half = l->word[slot / 2 * l->rows + row] >> (slot % 2 * 16) & 0xffff;
  *p = spring_at(s, slot * l->rows + row, half & ((1u << HK_GPU_PALETTE_BITS) - 1));
  return half >> HK_GPU_PALETTE_BITS;
}

/* The place of the neighbor in a slot of the vertex at place q, and the spring to it. */
static int64_t neighbor(const Sim *s, int64_t q, int64_t brick, int64_t slot, HkGpuSpring *p) {
  const HkGpuLayout *l = &s->layout;
  if (l->brick_count == 0) {
    int64_t at = l->row_start[q / HK_GPU_ROW] + slot * HK_GPU_ROW + q % HK_GPU_ROW;
    bool palette = l->parameters == HK_GPU_BY_PALETTE;
    *p = spring_at(s, at, palette ? l->word[at] >> HK_GPU_PLACE_BITS : 0);
    return palette ? l->word[at] & ((1u << HK_GPU_PLACE_BITS) - 1) : l->word[at];
  }
  int64_t row = l->near ? l->brick_row[brick] + q - l->brick[brick] : q;
  int64_t local = in_brick(s, row, slot, p);
  int64_t own = l->brick[brick + 1] - l->brick[brick];
  return local < own ? l->brick[brick] + local : l->halo[l->halo_start[brick] + local - own];
}

static int64_t slots_of(const Sim *s, int64_t q) {
  const HkGpuLayout *l = &s->layout;
  if (l->brick_count > 0) return l->slots;
  return (l->row_start[q / HK_GPU_ROW + 1] - l->row_start[q / HK_GPU_ROW]) / HK_GPU_ROW;
}

static HkGpuVector pull(const Sim *s, int64_t q, int64_t brick, const HkGpuVector *w) {
  HkGpuVector f = {0, 0, 0};
  for (int64_t slot = 0; slot < slots_of(s, q); slot++) {
    HkGpuSpring p;
    int64_t j = neighbor(s, q, brick, slot, &p);
    HkGpuVector d = hk_gpu_sub(s->x[j], s->x[q]);
    if (s->layout.damped || s->layout.threads)
      hk_gpu_damped_spring_force(d, hk_gpu_sub(w[j], w[q]), p, &f);
    else
      hk_gpu_spring_force(d, p.k, p.kl0, &f);
  }
  return f;
}

/* ---- Around them ---- */

static void corners(const Sim *s, int64_t face, const HkGpuVector *w, HkGpuVector x[3],
                    HkGpuVector u[3]) {
  for (int c = 0; c < 3; c++) {
    int32_t i = s->model.face[3 * face + c];
    x[c] = s->x[i];
    u[c] = w[i];
  }
}

static void face_wind(Sim *s, const HkGpuMoment *moment, const HkGpuVector *w) {
  for (int64_t q = 0; q < s->n; q++) s->push[q] = hk_gpu_vector(0, 0, 0);
  for (int64_t q = 0; q < s->n && s->model.face_count > 0; q++)
    for (int64_t e = s->model.face_start[q]; e < s->model.face_start[q + 1]; e++) {
      HkGpuVector x[3], u[3];
      corners(s, s->model.face_at[e], w, x, u);
      hk_gpu_face_force(&moment->air, x, u, &s->push[q]);
    }
}

static void grip(Sim *s, const double *table, const HkGpuVector *w) {
  for (int64_t q = 0; q < s->model.gripped; q++)
    for (int32_t e = s->model.grip_start[q]; e < s->model.grip_start[q + 1]; e++) {
      const double *r = table + HK_DEVICE_GRIP_REALS * s->model.grip[e];
      int64_t i = s->model.gripped_place[q];
      HkGpuVector target = {(HkReal)r[0], (HkReal)r[1], (HkReal)r[2]};
      HkGpuVector load = {(HkReal)r[3], (HkReal)r[4], (HkReal)r[5]};
      hk_gpu_axpy((HkReal)r[6], hk_gpu_sub(target, s->x[i]), &s->push[i]);
      hk_gpu_axpy(-(HkReal)r[7], w[i], &s->push[i]);
      hk_gpu_axpy(1, load, &s->push[i]);
    }
}

static void place_pins(Sim *s, const double *motions) {
  for (int64_t q = 0; q < s->model.pin_count && s->model.pins_move; q++) {
    if (!s->held[q]) continue;
    const double *A = motions + HK_DEVICE_MOTION_REALS * s->model.pin_motion[q];
    const double *x0 = s->model.pin_x0 + 3 * q;
    double at[3], moves[3];
    for (int c = 0; c < 3; c++) {
      at[c] = A[9 + c] - s->model.origin[c];
      moves[c] = A[21 + c];
      for (int k = 0; k < 3; k++) {
        at[c] += A[3 * c + k] * x0[k];
        moves[c] += A[12 + 3 * c + k] * x0[k];
      }
    }
    int64_t i = s->model.pin_place[q];
    s->x[i] = hk_gpu_vector((HkReal)at[0], (HkReal)at[1], (HkReal)at[2]);
    s->v[i] = hk_gpu_vector((HkReal)moves[0], (HkReal)moves[1], (HkReal)moves[2]);
  }
}

#endif
