/* The steps of the host's device, and its states to and fro; see host_sim.h. */
#include "host_implicit.h"

/* ---- Steps ---- */

static void kick(Sim *s, const HkGpuMoment *moment, const double *grips, double h, double drift,
                 const HkGpuVector *w, HkGpuVector *predicted) {
  blow(s, moment, w);
  grip(s, grips, w);
  for (int64_t q = 0, brick = 0; q < s->n; q++) {
    while (s->layout.brick_count > 0 && q >= s->layout.brick[brick + 1]) brick++;
    HkGpuVector f = pull(s, q, brick, w);
    hk_gpu_axpy(1, s->push[q], &f);
    HkGpuVector u =
        hk_gpu_medium(&moment->medium, s->model.medium_parts, s->inverse[q], s->x[q], w[q]);
    hk_gpu_axpy(s->inverse[q], f, &u);
    if (s->model.flat) u.z = 0;
    s->v_next[q] = s->v[q];
    s->x_next[q] = s->x[q];
    if (s->inverse[q] == 0) continue;
    hk_gpu_axpy((HkReal)h, u, &s->v_next[q]);
    hk_gpu_axpy((HkReal)drift, s->v_next[q], &s->x_next[q]);
  }
  size_t bytes = (size_t)s->n * sizeof(HkGpuVector);
  memcpy(predicted ? predicted : s->v, s->v_next, bytes);
  if (!predicted) memcpy(s->x, s->x_next, bytes);
}

static void step(Sim *s, const HkDeviceTimes *times, int64_t q) {
  bool verlet = s->settings.step == HK_DEVICE_VERLET;
  double h = s->settings.h;
  HkGpuMoment moment;
  HkReal *to = (HkReal *)&moment;
  int64_t motions = (int64_t)s->model.motion_count * HK_DEVICE_MOTION_REALS;
  const double *grips = times->grips + q * s->model.grip_count * HK_DEVICE_GRIP_REALS;
  const HkGpuVector *w = s->v;
  for (int k = 0; k < HK_GPU_MOMENT_REALS; k++)
    to[k] = (HkReal)times->moment[q * HK_GPU_MOMENT_REALS + k];
  if (s->settings.step >= HK_DEVICE_BLOCK_DESCENT) { /* whatever the method, the same minimum */
    descend(s, &moment, grips, times->end + q * motions);
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
  (void)error;
  for (int64_t q = 0; q < times->steps; q++) step((Sim *)sim, times, q);
  return HK_OK;
}

/* ---- To and fro ---- */

static HkStatus upload(HkDeviceSim *sim, const double *x, const double *v, const uint8_t *held,
                       HkError *error) {
  Sim *s = (Sim *)sim;
  const double *o = s->model.origin;
  (void)error;
  s->report = (HkDeviceReport){0}; /* of steps that do not count any more */
  for (int64_t q = 0; q < s->n; q++) {
    const double *at = x + 3 * (int64_t)s->layout.order[q],
                 *u = v + 3 * (int64_t)s->layout.order[q];
    s->x[q] = hk_gpu_vector((HkReal)(at[0] - o[0]), (HkReal)(at[1] - o[1]), (HkReal)(at[2] - o[2]));
    s->v[q] = hk_gpu_vector((HkReal)u[0], (HkReal)u[1], (HkReal)u[2]);
    s->inverse[q] = 1 / (HkReal)s->model.mass[q];
  }
  for (int64_t q = 0; q < s->model.pin_count; q++) {
    s->held[q] = held[q];
    if (held[q]) s->inverse[s->model.pin_place[q]] = 0;
  }
  return HK_OK;
}

static HkStatus record(HkDeviceSim *sim, HkError *error) {
  (void)sim;
  (void)error;
  return HK_OK;
}

static HkStatus fetch(HkDeviceSim *sim, const void **x, const void **v, HkDeviceReport *report,
                      HkError *error) {
  Sim *s = (Sim *)sim;
  (void)error;
  *report = s->report;
  s->report = (HkDeviceReport){0};
  for (int64_t q = 0; q < s->n; q++) {
    int64_t i = 3 * (int64_t)s->layout.order[q];
    memcpy(s->out_x + i, &s->x[q], 3 * sizeof(HkReal));
    memcpy(s->out_v + i, &s->v[q], 3 * sizeof(HkReal));
    report->kinetic += 0.5 * s->model.mass[q] * (double)hk_gpu_dot(s->v[q], s->v[q]);
  }
  *x = s->out_x;
  *v = s->out_v;
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

static HkStatus give(HkDeviceSim *sim, void *x, void *v, HkError *error) {
  Sim *s = (Sim *)sim;
  (void)error;
  for (int64_t q = 0; q < s->n; q++) {
    int64_t i = 3 * (int64_t)s->layout.order[q];
    if (x) hk_gpu_give_place(s->x[q], s->model.origin, (HkReal *)x + i);
    if (v) memcpy((HkReal *)v + i, &s->v[q], 3 * sizeof(HkReal));
  }
  return HK_OK;
}

static HkStatus take(HkDeviceSim *sim, const void *x, const void *v, HkError *error) {
  Sim *s = (Sim *)sim;
  (void)error;
  for (int64_t q = 0; q < s->n; q++) {
    int64_t i = 3 * (int64_t)s->layout.order[q];
    if (s->inverse[q] == 0) continue; /* held */
    if (x) s->x[q] = hk_gpu_take_place((const HkReal *)x + i, s->model.origin);
    if (v) memcpy(&s->v[q], (const HkReal *)v + i, 3 * sizeof(HkReal));
  }
  return HK_OK;
}
