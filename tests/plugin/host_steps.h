/* A device that is no device: the plug-in's part played on the host, in the layout and with the
 * arithmetic of the cards, one vertex after the other. What is different on a card is how threads
 * share the work. */
#include "backend/device.h"
#include "backend/gpu/arithmetic.h"

#include <stdlib.h>
#include <string.h>

typedef struct Sim {
  HkDeviceSettings settings; /* first, as in the plug-in for cards */
  int64_t n;
  HkGpuLayout layout; /* own copies of its arrays */
  HkDeviceModel model;
  HkGpuVector *x, *v, *w, *push, *x_next, *v_next;
  HkReal *inverse; /* 0: held */
  HkReal *out_x, *out_v;
  uint8_t *held;
  HkDeviceReport report; /* since the last one was fetched */
  void *owned[40];       /* all that is to be freed */
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
  HkGpuVector **vectors[] = {&s->x, &s->v, &s->w, &s->push, &s->x_next, &s->v_next};
  for (int q = 0; q < 6; q++) *vectors[q] = copy_of(s, NULL, l->n, sizeof(HkGpuVector));
  s->inverse = copy_of(s, NULL, l->n, sizeof(HkReal));
  s->out_x = copy_of(s, NULL, 3 * l->n, sizeof(HkReal));
  s->out_v = copy_of(s, NULL, 3 * l->n, sizeof(HkReal));
  s->held = copy_of(s, NULL, m->pin_count, 1);
  *sim = (HkDeviceSim *)s;
  return HK_OK;
}

static void destroy(HkDeviceSim **sim) {
  Sim *s = (Sim *)*sim;
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
    const HkGpuPaint *p = &l->palette[number];
    return (HkGpuSpring){(HkReal)p->k, (HkReal)(p->k * p->l0), (HkReal)p->c, (HkReal)p->least};
  }
  double l0 = l->l0[entry], k = l->stiffness ? l->stiffness[entry] : l->k > 0 ? l->k : l->kl0 / l0;
  if (l0 < 0) return (HkGpuSpring){.least = -1};
  return (HkGpuSpring){(HkReal)k, (HkReal)(k * l0), (HkReal)l->c, l->tension ? (HkReal)l0 : -1};
}

/* The place of the neighbour in a slot of the vertex at place q, and the spring to it. */
static int64_t neighbour(const Sim *s, int64_t q, int64_t brick, int64_t slot, HkGpuSpring *p) {
  const HkGpuLayout *l = &s->layout;
  if (l->brick_count == 0) {
    int64_t at = l->row_start[q / HK_GPU_ROW] + slot * HK_GPU_ROW + q % HK_GPU_ROW;
    bool palette = l->parameters == HK_GPU_BY_PALETTE;
    *p = spring_at(s, at, palette ? l->word[at] >> HK_GPU_PLACE_BITS : 0);
    return palette ? l->word[at] & ((1u << HK_GPU_PLACE_BITS) - 1) : l->word[at];
  }
  uint32_t half = l->word[slot / 2 * l->n + q] >> (slot % 2 * 16) & 0xffff;
  int64_t local = half >> HK_GPU_COLOR_BITS;
  *p = spring_at(s, slot * l->n + q, half & ((1u << HK_GPU_COLOR_BITS) - 1));
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
    int64_t j = neighbour(s, q, brick, slot, &p);
    HkGpuVector d = hk_gpu_sub(s->x[j], s->x[q]);
    if (s->layout.damped || s->layout.threads)
      hk_gpu_pull_damped(d, hk_gpu_sub(w[j], w[q]), p, &f);
    else
      hk_gpu_pull(d, p.k, p.kl0, &f);
  }
  return f;
}

/* ---- Around them ---- */

static void blow(Sim *s, const HkGpuMoment *moment, const HkGpuVector *w) {
  for (int64_t q = 0; q < s->n; q++) s->push[q] = hk_gpu_vector(0, 0, 0);
  for (int64_t q = 0; q < s->n && s->model.face_count > 0; q++)
    for (int64_t e = s->model.face_start[q]; e < s->model.face_start[q + 1]; e++) {
      const int32_t *corner = s->model.face + s->model.face_at[e] / 3 * 3;
      HkGpuVector x[3], u[3];
      for (int c = 0; c < 3; c++) {
        x[c] = s->x[corner[c]];
        u[c] = w[corner[c]];
      }
      hk_gpu_face(&moment->air, x, u, &s->push[q]);
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

/* One sweep of vertex block descent; returns the furthest that a vertex has moved. b and ahead
 * stand in x_next and v_next, y' in w with its m' in push.x. */
static HkReal sweep(Sim *s) {
  HkReal h = (HkReal)s->settings.h, most = 0;
  for (int64_t q = 0; q < s->n; q++) {
    HkGpuVector r = {0, 0, 0}, slip = hk_gpu_sub(s->x[q], s->x_next[q]);
    HkReal weight = s->push[q].x;
    HkGpuBlock H = {weight, weight, weight, 0, 0, 0};
    if (s->inverse[q] == 0) continue;
    hk_gpu_axpy(weight, hk_gpu_sub(s->w[q], s->x[q]), &r);
    for (int64_t slot = 0; slot < slots_of(s, q); slot++) {
      HkGpuSpring p;
      int64_t j = neighbour(s, q, 0, slot, &p);
      hk_gpu_pull_stiff(hk_gpu_sub(s->x[j], s->x[q]), p, h * h, &r, &H);
      hk_gpu_damp(hk_gpu_sub(s->v_next[j], s->v_next[q]), p, h,
                  hk_gpu_sub(hk_gpu_sub(s->x[j], s->x_next[j]), slip), &r, &H);
    }
    if (s->model.flat) {
      r.z = H.xz = H.yz = 0;
      H.zz = 1;
    }
    HkGpuVector p = hk_gpu_solve(&H, r);
    hk_gpu_axpy(1, p, &s->x[q]);
    most = hk_gpu_most(most, hk_gpu_dot(p, p));
  }
  return most;
}

/* As far as rounding allows, or as many sweeps as are given; whether that is near enough is judged
 * as minimize/minimize.c does it. */
static void solve(Sim *s) {
  const double rounding = 8 * (sizeof(HkReal) == 4 ? 6e-8 : 1.1e-16);
  double moved = 0, reach = 0, furthest = 0;
  HkStepReport step = {0};
  bool moves = true;
  for (; step.iterations < s->settings.iterations && moves; step.iterations++) {
    moved = sqrt((double)sweep(s));
    moves = moved > 0;
  }
  for (int64_t q = 0; q < s->n; q++) {
    HkGpuVector d = hk_gpu_sub(s->x[q], s->x_next[q]);
    reach = fmax(reach, sqrt((double)hk_gpu_dot(d, d)));
    furthest = fmax(furthest, sqrt((double)hk_gpu_dot(s->x[q], s->x[q])));
  }
  bool near = moved <= fmax(s->settings.tolerance * reach, rounding * furthest);
  step.gradient = reach > 0 ? moved / reach : 0;
  step.reason = s->settings.tolerance > 0 && near ? HK_STOP_CONVERGED : HK_STOP_ITERATIONS;
  hk_device_count(&s->report, &step, s->settings.tolerance > 0);
}

static void descend(Sim *s, const HkGpuMoment *moment, const double *grips, const double *end) {
  HkReal h = (HkReal)s->settings.h;
  for (int64_t q = 0; q < s->n; q++) {
    s->x_next[q] = s->x[q];
    s->push[q].x =
        hk_gpu_anchor(&moment->medium, (HkReal)s->model.mass[q], h, s->x[q], s->v[q], &s->w[q]);
    if (s->inverse[q] > 0) hk_gpu_axpy(h, s->v[q], &s->x[q]);
    s->v_next[q] = s->x[q];
  }
  for (int64_t q = 0; q < s->model.gripped; q++)
    for (int32_t e = s->model.grip_start[q]; e < s->model.grip_start[q + 1]; e++) {
      HkReal row[HK_DEVICE_GRIP_REALS];
      int64_t i = s->model.gripped_place[q];
      for (int k = 0; k < HK_DEVICE_GRIP_REALS; k++)
        row[k] = (HkReal)grips[HK_DEVICE_GRIP_REALS * s->model.grip[e] + k];
      hk_gpu_anchor_grip(row, h, s->x_next[i], &s->push[i].x, &s->w[i]);
    }
  place_pins(s, end);
  for (int64_t q = 0; q < s->model.pin_count; q++) {
    int64_t i = s->model.pin_place[q];
    if (!s->held[q]) continue;
    s->v_next[i] = s->x_next[i] = s->x[i];
    hk_gpu_axpy(-h, s->v[i], &s->x_next[i]);
  }
  solve(s);
  for (int64_t q = 0; q < s->n; q++)
    if (s->inverse[q] > 0) {
      HkGpuVector d = hk_gpu_sub(s->x[q], s->x_next[q]);
      s->v[q] = hk_gpu_vector(d.x / h, d.y / h, d.z / h);
    }
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
