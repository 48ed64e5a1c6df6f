/* The steps of the host's device, and its states to and fro; see host_sim.h. */
#include "host_newton.h"

/* ---- Steps ---- */

/* Velocity and position of the vertex at place q after a kick by f, from v and x. */
static void kick_one(const Sim *s, int64_t q, const HkGpuMoment *moment, double h, double drift,
                     HkGpuVector f, HkGpuVector w, HkGpuVector *v, HkGpuVector *x) {
  HkGpuVector u =
      hk_gpu_medium_acceleration(&moment->medium, s->model.medium_parts, s->inverse[q], *x, w);
  hk_gpu_axpy(s->inverse[q], f, &u);
  if (s->model.flat) u.z = 0;
  if (s->inverse[q] == 0) return;
  hk_gpu_axpy((HkReal)h, u, v);
  hk_gpu_axpy((HkReal)drift, *v, x);
}

static void kick(Sim *s, const HkGpuMoment *moment, const double *grips, double h, double drift,
                 const HkGpuVector *w, HkGpuVector *predicted) {
  face_wind(s, moment, w);
  grip(s, grips, w);
  for (int64_t q = 0, brick = 0; q < s->n; q++) {
    while (s->layout.brick_count > 0 && q >= s->layout.brick[brick + 1]) brick++;
    HkGpuVector f = pull(s, q, brick, w);
    hk_gpu_axpy(1, s->push[q], &f);
    s->v_next[q] = s->v[q];
    s->x_next[q] = s->x[q];
    kick_one(s, q, moment, h, drift, f, w[q], &s->v_next[q], &s->x_next[q]);
  }
  size_t bytes = (size_t)s->n * sizeof(HkGpuVector);
  memcpy(predicted ? predicted : s->v, s->v_next, bytes);
  if (!predicted) memcpy(s->x, s->x_next, bytes);
}

static HkGpuMoment moment_at(const HkDeviceTimes *times, int64_t q) {
  HkGpuMoment moment = {0};
  HkReal *to = (HkReal *)&moment;
  for (int k = 0; k < HK_GPU_MOMENT_REALS; k++)
    to[k] = (HkReal)times->moment[q * HK_GPU_MOMENT_REALS + k];
  return moment;
}

/* The vertices of a brick with two halos: where they are, and what they do. */
typedef struct Local {
  int32_t place;
  HkGpuVector x, v, x_next;
} Local;

/* The q-th step of a brick moves its first `count` vertices. */
static void move_brick(const Sim *s, int64_t brick, int64_t count, const HkGpuMoment *moment,
                       Local *local) {
  const HkGpuLayout *l = &s->layout;
  double h = s->settings.h;
  for (int64_t k = 0; k < count; k++) {
    HkGpuVector f = {0, 0, 0};
    for (int64_t slot = 0; slot < l->slots; slot++) {
      HkGpuSpring p;
      int64_t j = in_brick(s, l->brick_row[brick] + k, slot, &p);
      hk_gpu_spring_force(hk_gpu_sub(local[j].x, local[k].x), p.k, p.kl0, &f);
    }
    local[k].x_next = local[k].x;
    kick_one(s, local[k].place, moment, h, h, f, local[k].v, &local[k].v, &local[k].x_next);
  }
  for (int64_t k = 0; k < count; k++) local[k].x = local[k].x_next;
}

/* Two symplectic steps at once, brick by brick. */
static void step_twice(Sim *s, const HkDeviceTimes *times, int64_t q) {
  const HkGpuLayout *l = &s->layout;
  HkGpuMoment moments[] = {moment_at(times, q), moment_at(times, q + 1)};
  Local *local = calloc((size_t)l->most_local, sizeof *local);
  for (int64_t b = 0; b < l->brick_count; b++) {
    int64_t own = l->brick[b + 1] - l->brick[b], at = l->halo_start[b];
    for (int64_t k = 0; k < own + l->halo_start[b + 1] - at; k++) {
      local[k].place = k < own ? l->brick[b] + (int32_t)k : l->halo[at + k - own];
      local[k].x = s->x[local[k].place];
      local[k].v = s->v[local[k].place];
    }
    move_brick(s, b, own + l->near[b], &moments[0], local);
    move_brick(s, b, own, &moments[1], local);
    for (int64_t k = 0; k < own; k++) {
      s->x_next[local[k].place] = local[k].x;
      s->v_next[local[k].place] = local[k].v;
    }
  }
  memcpy(s->x, s->x_next, (size_t)s->n * sizeof *s->x);
  memcpy(s->v, s->v_next, (size_t)s->n * sizeof *s->v);
  free(local);
}

static void step(Sim *s, const HkDeviceTimes *times, int64_t q) {
  bool verlet = s->settings.step == HK_DEVICE_VERLET;
  double h = s->settings.h;
  HkGpuMoment moment = moment_at(times, q);
  int64_t motions = (int64_t)s->model.motion_count * HK_DEVICE_MOTION_REALS;
  const double *grips = times->grips + q * s->model.grip_count * HK_DEVICE_GRIP_REALS;
  const HkGpuVector *w = s->v;
  if (s->settings.step == HK_DEVICE_LINEAR) {
    step_linear(s, &moment, grips, times->end + q * motions);
    return;
  }
  if (s->settings.step >= HK_DEVICE_BLOCK_DESCENT) { /* whatever the method, the same minimum */
    bool multigrid = hk_device_has_multigrid(&s->settings);
    double h_old = !multigrid ? 0 : q == 0 ? times->h_old : h;
    step_implicit(s, &moment, grips, times->end + q * motions, h_old,
                  multigrid ? minimize_by_newton : solve);
    return;
  }
  for (int64_t k = 0; k < s->n && verlet; k++)
    if (s->inverse[k] > 0) hk_gpu_axpy((HkReal)(h / 2), s->v[k], &s->x[k]);
  if (verlet) place_pins(s, times->middle + q * motions);
  if (verlet && s->settings.uses_velocity) {
    kick(s, &moment, grips, h / 2, 0, w, s->w);
    w = s->w;
  }
  kick(s, &moment, grips, h, verlet ? h / 2 : h, w, NULL);
  place_pins(s, times->end + q * motions);
}

static HkStatus steps(HkDeviceSim *sim, const HkDeviceTimes *times, HkError *error) {
  Sim *s = (Sim *)sim;
  (void)error;
  bool twice = s->layout.near && s->settings.step == HK_DEVICE_SYMPLECTIC;
  int64_t q = 0;
  for (; twice && q + 2 <= times->steps; q += 2) step_twice(s, times, q);
  for (; q < times->steps; q++) step(s, times, q);
  return HK_OK;
}

/* ---- To and fro ---- */

static void load(const Sim *s, const double *from, const double *origin, HkGpuVector *to) {
  const double none[3] = {0, 0, 0}, *o = origin ? origin : none;
  for (int64_t q = 0; q < s->n && from && to; q++) {
    const double *a = from + 3 * (int64_t)s->layout.order[q];
    to[q] = hk_gpu_vector((HkReal)(a[0] - o[0]), (HkReal)(a[1] - o[1]), (HkReal)(a[2] - o[2]));
  }
}

static HkStatus upload(HkDeviceSim *sim, const HkDeviceState *state, HkError *error) {
  Sim *s = (Sim *)sim;
  const double *o = s->model.origin;
  (void)error;
  s->info = (HkDeviceStepsInfo){0}; /* of steps that do not count any more */
  load(s, state->x, o, s->x);
  load(s, state->v, NULL, s->v);
  load(s, state->x_old, o, s->start);
  load(s, state->v_old, NULL, s->v_old);
  for (int64_t q = 0; q < s->n; q++) s->inverse[q] = 1 / (HkReal)s->model.mass[q];
  for (int64_t q = 0; q < s->model.pin_count; q++) {
    s->held[q] = state->held[q];
    if (s->held[q]) s->inverse[s->model.pin_place[q]] = 0;
  }
  return HK_OK;
}

static HkStatus record(HkDeviceSim *sim, HkError *error) {
  (void)sim;
  (void)error;
  return HK_OK;
}

static HkStatus fetch(HkDeviceSim *sim, HkDeviceSnapshot *snapshot, HkDeviceStepsInfo *info,
                      HkError *error) {
  Sim *s = (Sim *)sim;
  (void)error;
  *info = s->info;
  s->info = (HkDeviceStepsInfo){0};
  for (int64_t q = 0; q < s->n; q++) {
    int64_t i = 3 * (int64_t)s->layout.order[q];
    memcpy(s->out_x + i, &s->x[q], 3 * sizeof(HkReal));
    memcpy(s->out_v + i, &s->v[q], 3 * sizeof(HkReal));
    if (s->start) memcpy(s->out_x_old + i, &s->start[q], 3 * sizeof(HkReal));
    if (s->v_old) memcpy(s->out_v_old + i, &s->v_old[q], 3 * sizeof(HkReal));
    info->kinetic += 0.5 * s->model.mass[q] * (double)hk_gpu_dot(s->v[q], s->v[q]);
  }
  *snapshot = (HkDeviceSnapshot){s->out_x, s->out_v, s->out_x_old, s->out_v_old};
  return HK_OK;
}

/* ---- Arrays for others ---- */

static HkStatus create_array(HkDeviceSim *sim, void **array, int *number, HkError *error) {
  int64_t n = ((Sim *)sim)->n;
  (void)error;
  *number = 0;
  *array = calloc((size_t)(n > 0 ? 3 * n : 1), sizeof(HkReal));
  return *array ? HK_OK : HK_ERROR_MEMORY;
}

static HkStatus copy_to_arrays(HkDeviceSim *sim, void *x, void *v, HkError *error) {
  Sim *s = (Sim *)sim;
  (void)error;
  for (int64_t q = 0; q < s->n; q++) {
    int64_t i = 3 * (int64_t)s->layout.order[q];
    if (x) hk_gpu_absolute_position(s->x[q], s->model.origin, (HkReal *)x + i);
    if (v) memcpy((HkReal *)v + i, &s->v[q], 3 * sizeof(HkReal));
  }
  return HK_OK;
}

static HkStatus copy_from_arrays(HkDeviceSim *sim, const void *x, const void *v, HkError *error) {
  Sim *s = (Sim *)sim;
  (void)error;
  for (int64_t q = 0; q < s->n; q++) {
    int64_t i = 3 * (int64_t)s->layout.order[q];
    if (s->inverse[q] == 0) continue; /* held */
    if (x) s->x[q] = hk_gpu_relative_position((const HkReal *)x + i, s->model.origin);
    if (v) memcpy(&s->v[q], (const HkReal *)v + i, 3 * sizeof(HkReal));
  }
  return HK_OK;
}
