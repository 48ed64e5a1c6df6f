/* Newton's method with pcg and multigrid of the host's device: the operations of gpu/newton.h, one
 * vertex after the other. */
#ifndef HOOKE_TEST_HOST_NEWTON_H
#define HOOKE_TEST_HOST_NEWTON_H

#include "host_implicit.h"

#include "backend/gpu/linear_step.h"
#include "backend/gpu/newton.h"

/* The device of the operations. */
typedef struct Newton {
  Sim *sim;
  HostLevels *levels;
  const HkGpuMoment *moment;
  HkGpuVector *gradient; /* -dg/dx */
  HkGpuVector *r, *z, *p, *q, *d, *along;
  double weighted;  /* |d_i h v_i| of gpu/linear_step.h */
  bool by_decrease; /* of HkGpuPcg */
} Newton;

static int64_t next_brick(const Sim *s, int64_t q, int64_t brick) {
  while (s->layout.brick_count > 0 && q >= s->layout.brick[brick + 1]) brick++;
  return brick;
}

static bool is_free(const Sim *s, int64_t q) {
  return s->inverse[q] > 0;
}

/* The spring in a slot with its damper, or without it where it is idle: its c is above 0 then; *j
 * becomes the neighbor, *d the difference of the ends. */
static HkGpuSpring spring_in(const Sim *s, int64_t q, int64_t brick, int64_t slot, int64_t *j,
                             HkGpuVector *d) {
  const HkGpuStage *stage = &s->stage;
  HkGpuSpring p;
  *j = neighbor(s, q, brick, slot, &p);
  *d = hk_gpu_sub(s->x[*j], s->x[q]);
  if (stage->linear && hk_gpu_is_idle(p, *d, hk_gpu_sub(s->v[*j], s->v[q]))) return p;
  if (stage->old == 0)
    return hk_gpu_with_damper(p, hk_gpu_sub(s->x_next[*j], s->x_next[q]), stage->tau);
  HkGpuVector now = hk_gpu_sub(s->start[*j], s->start[q]);
  HkGpuVector old = hk_gpu_sub(s->before[*j], s->before[q]);
  HkReal l_b = hk_gpu_length_before(p, stage->now, now, stage->old, old);
  return hk_gpu_with_damper_from(p, l_b, stage->tau);
}

/* ---- Gradient and level 0 ---- */

static void gather(Newton *n, int64_t q, int64_t brick, HkGpuGathered *g) {
  const Sim *s = n->sim;
  const HkGpuMatrix *A = &n->levels->level[0].A;
  HkReal h = s->stage.tau, scale = (HkReal)s->scale;
  HkGpuBlock own = {0, 0, 0, 0, 0, 0};
  int32_t width = A->start[q / HK_GPU_SLICE + 1] - A->start[q / HK_GPU_SLICE];
  hk_gpu_add_majorizer(s->push[q].x, s->uses_majorizer ? s->y[q] : s->w[q],
                       s->uses_majorizer ? &s->form[q] : NULL, s->x[q], &g->r, &own);
  for (int64_t slot = 0; slot < slots_of(s, q) && slot < width; slot++) {
    int64_t j, at = HK_GPU_SLICE * (A->start[q / HK_GPU_SLICE] + slot) + q % HK_GPU_SLICE;
    HkGpuVector d;
    HkGpuSpring p = spring_in(s, q, brick, slot, &j, &d);
    HkGpuFour spring = hk_gpu_gather_spring(d, p, h * h, scale, !is_free(s, j), g);
    if (p.c > 0) hk_gpu_spring_force(d, -h * h * p.k, -h * h * p.kl0, &g->r); /* it is idle */
    A->spring[at] = is_free(s, q) ? spring : hk_gpu_four(0, 0, 0);
  }
  hk_gpu_add_block(&own, &g->H);
  g->stiffness += s->push[q].x;
  hk_gpu_store_fine_row(A, q, is_free(s, q), g, &own, scale);
  if (s->model.flat) g->r.z = 0;
}

static HkStatus look_at(void *device, HkGpuLook *look, HkError *error) {
  Newton *n = device;
  Sim *s = n->sim;
  double sum[HK_GPU_LOOK_VALUES] = {0};
  (void)error;
  if (s->uses_majorizer) majorize(s, n->moment);
  for (int64_t q = 0, brick = 0; q < s->n; q++) {
    HkGpuGathered g = {0};
    double mass = s->model.mass[q], weight = mass;
    HkGpuVector d = hk_gpu_sub(s->x[q], s->start ? s->start[q] : s->x_next[q]);
    brick = next_brick(s, q, brick);
    gather(n, q, brick, &g);
    n->gradient[q] = is_free(s, q) ? g.r : hk_gpu_vector(0, 0, 0);
    if (!is_free(s, q)) continue;
    if (s->stage.linear) { /* |d_i v_i|^2 of gpu/linear_step.h in the place of the move */
      d = s->v[q];
      weight = (double)g.stiffness * (double)g.stiffness;
    }
    hk_gpu_add_look(&g, s->x[q], d, weight, 1 / mass, sum);
  }
  *look = hk_gpu_look_of(sum);
  return HK_OK;
}

static HkStatus prepare(void *device, bool first, HkError *error) {
  (void)error;
  host_levels_prepare(((Newton *)device)->levels, first);
  return HK_OK;
}

/* ---- Conjugate gradients ---- */

/* q = H p */
static void multiply(Newton *n, HkReal kept) {
  const Sim *s = n->sim;
  HkReal h = s->stage.tau, third = (HkReal)1 / 3;
  for (int64_t q = 0, brick = 0; q < s->n; q++) {
    HkGpuVector sum = {0, 0, 0};
    brick = next_brick(s, q, brick);
    hk_gpu_axpy(s->push[q].x, n->p[q], &sum);
    for (int64_t slot = 0; slot < slots_of(s, q); slot++) {
      int64_t j;
      HkGpuVector d;
      HkGpuSpring p = spring_in(s, q, brick, slot, &j, &d);
      hk_gpu_spring_product(d, p, h * h, kept, hk_gpu_sub(n->p[q], n->p[j]), &sum);
    }
    if (s->uses_majorizer)
      hk_gpu_medium_product(&n->moment->medium, s->model.medium_parts, (HkReal)s->model.mass[q], h,
                            s->x[q], s->v[q], n->p[q], &sum);
    for (int64_t e = s->model.face_count > 0 ? s->model.face_start[q] : 0;
         s->model.face_count > 0 && e < s->model.face_start[q + 1]; e++) {
      int64_t face = s->model.face_at[e];
      HkGpuVector mean = {0, 0, 0};
      for (int c = 0; c < 3; c++) hk_gpu_axpy(third, n->p[s->model.face[3 * face + c]], &mean);
      hk_gpu_axpy(1, hk_gpu_times(&s->damping[face], mean), &sum);
    }
    if (s->model.flat) sum.z = 0;
    n->q[q] = is_free(s, q) ? sum : hk_gpu_vector(0, 0, 0);
  }
}

static double dot(const Newton *n, const HkGpuVector *a, const HkGpuVector *b) {
  double sum = 0;
  for (int64_t q = 0; q < n->sim->n; q++) sum += (double)hk_gpu_dot(a[q], b[q]);
  return sum;
}

/* z = one cycle on r */
static void precondition(Newton *n) {
  HostLevel *l = &n->levels->level[0];
  float scale = (float)n->sim->scale;
  for (int64_t q = 0; q < n->sim->n; q++)
    l->b[q] =
        hk_gpu_four(scale * (float)n->r[q].x, scale * (float)n->r[q].y, scale * (float)n->r[q].z);
  host_cycle(n->levels);
  for (int64_t q = 0; q < n->sim->n; q++)
    n->z[q] = hk_gpu_vector((HkReal)l->x[q].x, (HkReal)l->x[q].y, (HkReal)l->x[q].z);
}

/* d = H^-1 r; r is lost. */
static HkGpuSolved solve_system(Newton *n, double kept, double tolerance) {
  const HkDeviceSettings *settings = &n->sim->settings;
  if (tolerance < settings->linear_tolerance) tolerance = settings->linear_tolerance;
  HkGpuPcg s = hk_gpu_pcg_begin(tolerance, sqrt(dot(n, n->r, n->r)), settings->linear_iterations);
  s.by_decrease = n->by_decrease;
  HkGpuPcgSums sums = {0, 0, 0};
  memset(n->d, 0, (size_t)n->sim->n * sizeof *n->d);
  for (bool first = true, ends = s.size == 0; !ends; first = false) {
    precondition(n);
    double next = dot(n, n->r, n->z), beta = first ? 0 : next / sums.rz;
    sums.rz = next;
    for (int64_t q = 0; q < n->sim->n; q++) {
      HkGpuVector p = n->z[q];
      if (!first) hk_gpu_axpy((HkReal)beta, n->p[q], &p);
      n->p[q] = p;
    }
    multiply(n, (HkReal)kept);
    sums.pq = dot(n, n->p, n->q);
    HkReal alpha = sums.pq > 0 ? (HkReal)(sums.rz / sums.pq) : 0;
    for (int64_t q = 0; q < n->sim->n; q++) {
      hk_gpu_axpy(first && sums.pq <= 0 ? 1 : alpha, n->p[q], &n->d[q]);
      hk_gpu_axpy(-alpha, n->q[q], &n->r[q]);
    }
    sums.rr = dot(n, n->r, n->r);
    ends = hk_gpu_pcg_ends(&s, &sums);
  }
  for (int64_t q = 0; q < n->sim->n; q++)
    if (is_free(n->sim, q))
      s.solved.length += (double)hk_gpu_dot(n->d[q], n->d[q]) * n->sim->model.mass[q];
  s.solved.length = sqrt(s.solved.length);
  s.solved.slope = -dot(n, n->d, n->gradient);
  return s.solved;
}

static HkStatus find_direction(void *device, double kept, double tolerance, bool by_decrease,
                               HkGpuSolved *solved, HkError *error) {
  Newton *n = device;
  (void)error;
  n->by_decrease = by_decrease;
  memcpy(n->r, n->gradient, (size_t)n->sim->n * sizeof *n->r);
  *solved = solve_system(n, kept, tolerance);
  return HK_OK;
}

/* ---- Line search ---- */

static HkStatus correct(void *device, double kept, double tolerance, HkGpuSolved *solved,
                        HkError *error) {
  Newton *n = device;
  const Sim *s = n->sim;
  HkReal h = s->stage.tau;
  (void)error;
  memcpy(n->along, n->d, (size_t)s->n * sizeof *n->d);
  for (int64_t q = 0, brick = 0; q < s->n; q++) {
    n->r[q] = hk_gpu_vector(0, 0, 0);
    brick = next_brick(s, q, brick);
    for (int64_t slot = 0; slot < slots_of(s, q) && is_free(s, q); slot++) {
      int64_t j;
      HkGpuVector d;
      HkGpuSpring p = spring_in(s, q, brick, slot, &j, &d);
      if (j != q) hk_gpu_spring_turned(d, hk_gpu_sub(n->d[j], n->d[q]), p, h * h, &n->r[q]);
    }
  }
  *solved = solve_system(n, kept, tolerance);
  memcpy(n->q, n->d, (size_t)s->n * sizeof *n->d);
  return HK_OK;
}

static HkGpuVector scaled(HkReal t, HkGpuVector a) {
  return hk_gpu_vector(t * a.x, t * a.y, t * a.z);
}

/* The change of the terms of vertex q other than springs when vertices move by t d. */
static double own_change(const Newton *n, int64_t q, HkReal t) {
  const Sim *s = n->sim;
  HkGpuVector d = scaled(t, n->d[q]);
  HkReal third = (HkReal)1 / 3;
  HkGpuVector from = hk_gpu_sub(s->x[q], s->uses_majorizer ? s->y[q] : s->w[q]), bent = {0, 0, 0};
  double sum =
      (double)s->push[q].x * ((double)hk_gpu_dot(d, from) + 0.5 * (double)hk_gpu_dot(d, d));
  if (!s->uses_majorizer) return sum;
  for (int64_t e = s->model.face_count > 0 ? s->model.face_start[q] : 0;
       s->model.face_count > 0 && e < s->model.face_start[q + 1]; e++) {
    int64_t face = s->model.face_at[e];
    HkGpuVector mean = {0, 0, 0};
    for (int c = 0; c < 3; c++) hk_gpu_axpy(t * third, n->d[s->model.face[3 * face + c]], &mean);
    hk_gpu_axpy(1, hk_gpu_times(&s->damping[face], mean), &bent);
  }
  return sum + (double)hk_gpu_dot(d, hk_gpu_times(&s->form[q], from)) +
         0.5 * (double)hk_gpu_dot(d, bent) +
         (double)hk_gpu_medium_change(&n->moment->medium, s->model.medium_parts,
                                      (HkReal)s->model.mass[q], s->stage.tau, s->x[q], s->v[q], d);
}

static HkStatus propose(void *device, double a, bool curved, double *change, HkError *error) {
  Newton *n = device;
  const Sim *s = n->sim;
  HkReal h = s->stage.tau;
  (void)error;
  *change = 0;
  for (int64_t q = 0; q < s->n && curved; q++) {
    n->d[q] = hk_gpu_vector(0, 0, 0);
    hk_gpu_axpy((HkReal)a, n->along[q], &n->d[q]);
    hk_gpu_axpy((HkReal)(a * a), n->q[q], &n->d[q]);
  }
  HkReal t = curved ? 1 : (HkReal)a;
  for (int64_t q = 0, brick = 0; q < s->n; q++) {
    brick = next_brick(s, q, brick);
    if (is_free(s, q)) *change += own_change(n, q, t);
    for (int64_t slot = 0; slot < slots_of(s, q); slot++) {
      int64_t j;
      HkGpuVector d;
      HkGpuSpring p = spring_in(s, q, brick, slot, &j, &d);
      HkGpuVector by = scaled(t, hk_gpu_sub(n->d[j], n->d[q]));
      *change += 0.5 * (double)(h * h * hk_gpu_spring_energy_change(d, by, p));
    }
  }
  return HK_OK;
}

static HkStatus take(void *device, double a, HkError *error) {
  Newton *n = device;
  (void)error;
  for (int64_t q = 0; q < n->sim->n; q++) hk_gpu_axpy((HkReal)a, n->d[q], &n->sim->x[q]);
  return HK_OK;
}

static HkStatus undo(void *device, HkError *error) {
  Newton *n = device;
  (void)error;
  for (int64_t q = 0; q < n->sim->n; q++) hk_gpu_axpy(-1, n->d[q], &n->sim->x[q]);
  return HK_OK;
}

/* ---- A step ---- */

static void majorize_if_needed(const Newton *n) {
  if (n->sim->uses_majorizer) majorize(n->sim, n->moment);
}

/* The guess of step/implicit.c: the prediction, which x holds, with or without the last change of
 * velocity, or the positions at the start of the step. */
static void guess(Newton *n) {
  Sim *s = n->sim;
  double change;
  for (int64_t q = 0; q < s->n; q++) {
    n->d[q] = hk_gpu_vector(0, 0, 0);
    if (!is_free(s, q)) continue;
    const HkGpuVector *from = s->start ? s->start : s->x_next;
    n->d[q] = hk_gpu_sub(s->x[q], from[q]);
    s->x[q] = from[q];
  }
  majorize_if_needed(n);
  propose(n, 1, false, &change, NULL);
  if (!(change <= HK_GPU_GUESS_MAX_RISE * s->inertia)) return;
  take(n, 1, NULL);
  if (s->stage.lead == 0) return;
  memcpy(n->d, s->lead, (size_t)s->n * sizeof *n->d);
  majorize_if_needed(n);
  propose(n, 1, false, &change, NULL);
  if (change <= 0) take(n, 1, NULL);
}

/* Linearizes media about x and its velocity. */
static void begin_pass(Newton *n) {
  Sim *s = n->sim;
  HkReal tau = s->stage.tau;
  for (int64_t q = 0; q < s->n; q++) {
    HkGpuVector d = hk_gpu_sub(s->x[q], s->x_next[q]);
    if (is_free(s, q)) s->v[q] = hk_gpu_vector(d.x / tau, d.y / tau, d.z / tau);
    s->v_next[q] = s->x[q];
    s->w[q] = s->bare[q];
  }
  begin_medium(s, n->moment);
}

static Newton begin_newton(Sim *s, const HkGpuMoment *moment) {
  Newton n = {.sim = s, .levels = &s->levels, .moment = moment};
  HkGpuVector *memory = calloc((size_t)(7 * s->n), sizeof *memory);
  HkGpuVector **vectors[] = {&n.gradient, &n.r, &n.z, &n.p, &n.q, &n.d, &n.along};
  for (int q = 0; q < 7; q++) *vectors[q] = memory + q * s->n;
  return n;
}

static void minimize_by_newton(Sim *s, const HkGpuMoment *moment) {
  Newton n = begin_newton(s, moment);
  HkGpuNewtonOps ops = {&n, look_at, prepare, find_direction, correct, propose, take, undo};
  HkGpuNewton newton = {.ops = &ops,
                        .settings = &s->settings,
                        .convex_known = !(s->model.medium_parts & HK_GPU_BUOYANCY),
                        .multigrid = true,
                        .total_mass = s->model.total_mass};
  HkStepInfo info = {0};
  guess(&n);
  for (int pass = 0; pass == 0 || (pass < s->settings.passes && s->bare); pass++) {
    if (pass > 0) begin_pass(&n);
    hk_gpu_newton_minimize(&newton, NULL);
    hk_gpu_newton_add_pass(&info, &newton.info);
  }
  hk_device_count(&s->info, &info, s->settings.tolerance > 0, sizeof(HkReal) == 8);
  free(n.gradient);
}

/* ---- One linear system a step ---- */

/* r = gradient - H along; returns |r|. */
static double residual_of(Newton *n) {
  memcpy(n->p, n->along, (size_t)n->sim->n * sizeof *n->p);
  multiply(n, 0);
  for (int64_t q = 0; q < n->sim->n; q++) n->r[q] = hk_gpu_sub(n->gradient[q], n->q[q]);
  return sqrt(dot(n, n->r, n->r));
}

static HkStatus solve_more(void *device, double tolerance, HkGpuSolved *solved, HkError *error) {
  Newton *n = device;
  (void)error;
  *solved = solve_system(n, 0, tolerance);
  for (int64_t q = 0; q < n->sim->n; q++) hk_gpu_axpy(1, n->d[q], &n->along[q]);
  return HK_OK;
}

static HkStatus true_residual(void *device, double *size, HkError *error) {
  (void)error;
  *size = residual_of(device);
  return HK_OK;
}

/* Constrained vertices move to their places, which the others feel: r = -dg/dx - H d. */
static double begin_linear(Newton *n, const double *end) {
  Sim *s = n->sim;
  size_t bytes = (size_t)s->n * sizeof *s->x;
  HkGpuLook look;
  look_at(n, &look, NULL);
  n->weighted = (double)n->sim->stage.tau * look.moved;
  memcpy(n->d, s->x, bytes);
  memcpy(n->z, s->v, bytes);
  place_pins(s, end);
  for (int64_t q = 0; q < s->n; q++) n->along[q] = hk_gpu_sub(s->x[q], n->d[q]);
  memcpy(s->x, n->d, bytes);
  memcpy(s->v, n->z, bytes);
  double size = residual_of(n);
  memcpy(n->gradient, n->r, bytes);
  memset(n->along, 0, bytes);
  return size;
}

static void step_linear(Sim *s, const HkGpuMoment *moment, const double *grips, const double *end) {
  HkReal h = (HkReal)s->settings.h;
  HkStepInfo info;
  begin_stage(s, moment, grips, 0);
  if (s->uses_majorizer) begin_medium(s, moment);
  Newton n = begin_newton(s, moment);
  HkGpuLinearOps ops = {&n, solve_more, true_residual};
  double size = begin_linear(&n, end);
  prepare(&n, true, NULL);
  hk_gpu_linear_step(&ops, &s->settings, size, n.weighted, &info, NULL);
  for (int64_t q = 0; q < s->n; q++) {
    if (!is_free(s, q)) continue;
    hk_gpu_axpy(1, n.along[q], &s->x[q]);
    s->v[q] = hk_gpu_vector(n.along[q].x / h, n.along[q].y / h, n.along[q].z / h);
  }
  place_pins(s, end);
  hk_device_count(&s->info, &info, true, sizeof(HkReal) == 8);
  free(n.gradient);
}

#endif
