/* The worlds of a batch on the host's device, one after the other: gpu/world.h with teams of one
 * thread. */
#ifndef HOOKE_TEST_HOST_WORLDS_H
#define HOOKE_TEST_HOST_WORLDS_H

#include "backend/gpu/world_newton.h"

#include <stdlib.h>
#include <string.h>

typedef struct Worlds {
  HkDeviceSettings settings; /* first, as in the plug-in for GPUs */
  HkDeviceWorldsModel model;
  HkDeviceWorldsParameters parameters;
  double *x, *v;
  void *owned[32];
  int owned_count;
  /* Of one world at a time. */
  HkGpuWorld world;
  HkGpuWorldSolve solve;
} Worlds;

static void *keep(Worlds *s, const void *from, int64_t count, size_t size) {
  void *to = calloc((size_t)(count > 0 ? count : 1), size);
  if (from && count > 0) memcpy(to, from, (size_t)count * size);
  s->owned[s->owned_count++] = to;
  return to;
}

static HkStatus worlds_create(const HkDeviceWorldsModel *m, const HkDeviceSettings *settings,
                              HkDeviceWorlds **worlds, HkError *error) {
  Worlds *s = calloc(1, sizeof *s);
  HkGpuWorld *w = &s->world;
  (void)error;
  s->settings = *settings;
  s->model = *m;
  s->model.row_start =
      keep(s, m->row_start, (m->n + HK_GPU_ROW - 1) / HK_GPU_ROW + 1, sizeof *m->row_start);
  s->model.word = keep(s, m->word, m->words, sizeof *m->word);
  s->model.neighbor = keep(s, m->neighbor, m->words, sizeof *m->neighbor);
  s->model.pin_vertex = keep(s, m->pin_vertex, m->pin_count, sizeof *m->pin_vertex);
  s->model.pin_motion = keep(s, m->pin_motion, m->pin_count, sizeof *m->pin_motion);
  s->x = keep(s, NULL, m->count * m->stride, sizeof *s->x);
  s->v = keep(s, NULL, m->count * m->stride, sizeof *s->v);
  s->solve.world = w;
  if (settings->step == HK_DEVICE_NEWTON) {
    bool resident = m->n % 2 == 0; /* on a GPU by what fits */
    void *shared = keep(s, NULL, (int64_t)hk_world_shared_bytes(m->n, m->words, resident), 1);
    uint16_t *near = hk_world_use_shared(&s->solve, shared, m->n, m->words, resident);
    void *workspace = keep(s, NULL, (int64_t)hk_world_workspace_bytes(m->n, m->words), 1);
    hk_world_use_workspace(&s->solve, workspace, m->n, m->words, resident);
    if (resident) {
      memcpy(near, m->neighbor, (size_t)m->words * sizeof *near);
      s->model.neighbor = near;
    }
  } else {
    HkGpuVector **vectors[] = {&w->x, &w->v, &w->w, &w->next};
    for (size_t q = 0; q < sizeof vectors / sizeof vectors[0]; q++)
      *vectors[q] = keep(s, NULL, m->n, sizeof(HkGpuVector));
    w->inverse = keep(s, NULL, m->n, sizeof *w->inverse);
  }
  w->medium = keep(s, NULL, 1, sizeof *w->medium);
  s->solve.settings = &s->settings;
  *worlds = (HkDeviceWorlds *)s;
  return HK_OK;
}

static void worlds_release_parameters(Worlds *s) {
  const double *all[] = {s->parameters.h,    s->parameters.origin, s->parameters.total_mass,
                         s->parameters.mass, s->parameters.type,   s->parameters.pin_x0};
  for (int q = 0; q < 6; q++) free((double *)all[q]);
  free((int32_t *)s->parameters.grip_start);
  free((int32_t *)s->parameters.grip);
}

static void worlds_destroy(HkDeviceWorlds **worlds) {
  Worlds *s = (Worlds *)*worlds;
  worlds_release_parameters(s);
  for (int q = 0; q < s->owned_count; q++) free(s->owned[q]);
  free(s);
  *worlds = NULL;
}

static const double *copy_reals(const double *from, int64_t count) {
  double *to = calloc((size_t)(count > 0 ? count : 1), sizeof *to);
  if (count > 0) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

static const int32_t *copy_numbers(const int32_t *from, int64_t count) {
  int32_t *to = calloc((size_t)(count > 0 ? count : 1), sizeof *to);
  if (count > 0) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

static HkStatus worlds_set(HkDeviceWorlds *worlds, const HkDeviceWorldsParameters *p,
                           HkError *error) {
  Worlds *s = (Worlds *)worlds;
  const HkDeviceWorldsModel *m = &s->model;
  (void)error;
  worlds_release_parameters(s);
  int64_t starts = m->grips > 0 ? (m->n + 1) * m->count : 0;
  s->parameters =
      (HkDeviceWorldsParameters){.h = copy_reals(p->h, m->count),
                                 .origin = copy_reals(p->origin, 3 * m->count),
                                 .total_mass = copy_reals(p->total_mass, m->count),
                                 .mass = copy_reals(p->mass, m->n * m->count),
                                 .type = copy_reals(p->type, 4 * m->types * m->count),
                                 .pin_x0 = copy_reals(p->pin_x0, 3 * m->pin_count * m->count),
                                 .grip_start = copy_numbers(p->grip_start, starts),
                                 .grip = copy_numbers(p->grip, m->grip_entries * m->count)};
  return HK_OK;
}

static HkStatus worlds_upload(HkDeviceWorlds *worlds, int64_t first, int64_t count, const double *x,
                              const double *v, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  int64_t at = first * s->model.stride;
  size_t bytes = (size_t)(count * s->model.stride) * sizeof *x;
  (void)error;
  memcpy(s->x + at, x + at, bytes);
  memcpy(s->v + at, v + at, bytes);
  return HK_OK;
}

static HkStatus worlds_fetch(HkDeviceWorlds *worlds, int64_t first, int64_t count, double *x,
                             double *v, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  int64_t at = first * s->model.stride;
  size_t bytes = (size_t)(count * s->model.stride) * sizeof *x;
  (void)error;
  memcpy(x + at, s->x + at, bytes);
  memcpy(v + at, s->v + at, bytes);
  return HK_OK;
}

/* Sets the world that steps move to the q-th one. */
static void use_world(Worlds *s, int64_t q, const HkDeviceWorldsTimes *times) {
  const HkDeviceWorldsModel *m = &s->model;
  const HkDeviceWorldsParameters *p = &s->parameters;
  HkGpuWorld *w = &s->world;
  w->n = (int)m->n;
  w->flat = m->flat;
  w->general = m->general;
  w->parts = m->medium_parts;
  w->h = (HkReal)p->h[q];
  memcpy(w->origin, p->origin + 3 * q, sizeof w->origin);
  w->row_start = m->row_start;
  w->word = m->word;
  w->neighbor = m->neighbor;
  w->type = p->type + 4 * m->types * q;
  w->mass = p->mass + m->n * q;
  w->pin_count = (int)m->pin_count;
  w->pin_vertex = m->pin_vertex;
  w->pin_motion = m->pin_motion;
  w->pin_x0 = p->pin_x0 + 3 * m->pin_count * q;
  w->held = times->held + m->pin_count * q;
  w->grip_start = m->grips > 0 ? p->grip_start + (m->n + 1) * q : NULL;
  w->grip = m->grips > 0 ? p->grip + m->grip_entries * q : NULL;
  hk_world_load(w, s->x + q * m->stride, s->v + q * m->stride);
}

static void step_world(Worlds *s, int64_t q, int64_t row, const HkDeviceWorldsTimes *times,
                       HkDeviceStepsInfo *info) {
  const HkDeviceWorldsModel *m = &s->model;
  int64_t at = q * times->rows + row, motions = m->motion_count * HK_DEVICE_MOTION_REALS;
  const double *middle = m->pins_move ? times->middle + at * motions : NULL;
  const double *end = m->pins_move ? times->end + at * motions : NULL;
  int64_t moment = q * times->moments + (times->moments > 1 ? row : 0);
  hk_world_set_forces(&s->world, times->moment + moment * HK_GPU_MOMENT_REALS,
                      times->grips + at * m->grips * HK_DEVICE_GRIP_REALS);
  if (s->settings.step == HK_DEVICE_NEWTON) {
    HkStepInfo step = hk_world_step_implicit(&s->solve, s->parameters.total_mass[q], end);
    hk_device_count(info, &step, s->settings.tolerance > 0, true);
  } else {
    hk_world_step_explicit(&s->world, s->settings.step == HK_DEVICE_VERLET,
                           s->settings.uses_velocity, middle, end);
  }
}

static HkStatus worlds_steps(HkDeviceWorlds *worlds, const HkDeviceWorldsTimes *times,
                             HkDeviceStepsInfo *info, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  (void)error;
  for (int64_t q = 0; q < s->model.count; q++) {
    if (times->counts[q] == 0) continue;
    use_world(s, q, times);
    for (int64_t row = 0; row < times->counts[q]; row++) step_world(s, q, row, times, &info[q]);
    info[q].kinetic =
        hk_world_store(&s->world, s->x + q * s->model.stride, s->v + q * s->model.stride);
  }
  return HK_OK;
}

static HkStatus worlds_create_array(HkDeviceWorlds *worlds, void **array, int *number,
                                    HkError *error) {
  const HkDeviceWorldsModel *m = &((Worlds *)worlds)->model;
  (void)error;
  *number = 0;
  *array = calloc((size_t)(3 * m->n * m->count), sizeof(double));
  return *array ? HK_OK : HK_ERROR_MEMORY;
}

static HkStatus worlds_copy_to_arrays(HkDeviceWorlds *worlds, void *x, void *v, HkError *error) {
  const Worlds *s = (const Worlds *)worlds;
  const HkDeviceWorldsModel *m = &s->model;
  size_t bytes = (size_t)(3 * m->n) * sizeof(double);
  (void)error;
  for (int64_t q = 0; q < m->count; q++) {
    if (x) memcpy((double *)x + 3 * m->n * q, s->x + m->stride * q, bytes);
    if (v) memcpy((double *)v + 3 * m->n * q, s->v + m->stride * q, bytes);
  }
  return HK_OK;
}

static bool is_held(const HkDeviceWorldsModel *m, const uint8_t *held, int64_t world, int64_t i) {
  for (int64_t p = 0; p < m->pin_count; p++)
    if (m->pin_vertex[p] == i) return held[world * m->pin_count + p];
  return false;
}

static HkStatus worlds_copy_from_arrays(HkDeviceWorlds *worlds, const void *x, const void *v,
                                        const uint8_t *held, HkError *error) {
  Worlds *s = (Worlds *)worlds;
  const HkDeviceWorldsModel *m = &s->model;
  (void)error;
  for (int64_t q = 0; q < m->count * m->n; q++) {
    int64_t world = q / m->n, i = q % m->n, to = world * m->stride + 3 * i;
    if (is_held(m, held, world, i)) continue;
    if (x) memcpy(s->x + to, (const double *)x + 3 * q, 3 * sizeof(double));
    if (v) memcpy(s->v + to, (const double *)v + 3 * q, 3 * sizeof(double));
  }
  return HK_OK;
}

/* The functions of HkDevice. */
#define HOST_WORLDS                                                                                \
  .worlds_create = worlds_create, .worlds_destroy = worlds_destroy, .worlds_set = worlds_set,      \
  .worlds_upload = worlds_upload, .worlds_fetch = worlds_fetch, .worlds_steps = worlds_steps,      \
  .worlds_create_array = worlds_create_array, .worlds_copy_to_arrays = worlds_copy_to_arrays,      \
  .worlds_copy_from_arrays = worlds_copy_from_arrays

#endif
