/* Frames: so much simulated time, then positions, energies and what a step took, as bytes. */
#include "session.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_WORD = 0x52464b48, TOPOLOGY_WORD = 0x50544b48 };
enum { BLOWN = 1, UNCONVERGED = 2, HAS_VALUES = 4, STATIONARY = 8, LATE = 16 };
enum { NUMBERS = 20 };

/* Steps between two looks at the clock, where a step takes less than SHORT. */
enum { MANY = 16 };
static const double SHORT = 1e-4;
/* s of wall time after which a frame makes no further step, whatever was asked for. */
static const double BUDGET_MOST = 10;

typedef struct Progress {
  int64_t steps;
  double seconds, iterations, linear_iterations; /* sums over the steps */
  bool unconverged, stationary;
} Progress;

/* ---- Advancing ---- */

static HkStatus make_steps(Play *p, int64_t count, Progress *made, HkError *error) {
  double began = hk_wall_time();
  HkStatus status = hk_sim_steps(p->stage.sim, p->stage.state, count, error);
  if (status < 0) return status;
  HkStepInfo info = hk_sim_step_info(p->stage.sim);
  made->seconds += hk_wall_time() - began;
  made->iterations += (double)count * info.iterations;
  made->linear_iterations += (double)count * info.linear_iterations;
  made->unconverged |= status == HK_NOT_CONVERGED;
  made->stationary |= info.reason == HK_STOP_STATIONARY;
  made->steps += count;
  return HK_OK;
}

/* A step in which obstacles are moved. If there is no space for them, they rest in it. */
static HkStatus push(Play *p, Progress *made, HkError *error) {
  hk_state_copy(p->stage.state, p->stage.safe, NULL);
  HK_TRY(obstacles_begin(p, error));
  HkStatus status = make_steps(p, 1, made, error);
  if (status >= 0) {
    obstacles_arrive(p);
    return status;
  }
  hk_state_copy(p->stage.safe, p->stage.state, NULL);
  if (status == HK_ERROR_CANCELLED && atomic_load(&p->stopped)) {
    HkError ignored = {0};
    obstacles_rest(p, &ignored);
    return status;
  }
  HK_TRY(obstacles_give_way(p, error));
  p->late = true;
  return make_steps(p, 1, made, error);
}

/* Back to where the frame began; it stays there. */
static void blow_up(Play *p, const HkError *error) {
  hk_state_copy(p->stage.safe, p->stage.state, NULL);
  p->blown = true;
  snprintf(p->why, sizeof p->why, "%.1000s", error->text);
}

static void advance(Play *p, int64_t steps, double budget, Progress *made) {
  HkError error = {0};
  hk_state_copy(p->stage.state, p->stage.safe, NULL);
  if (steps > 0) p->late = p->pause > 0;
  while (made->steps < steps && !atomic_load(&p->stopped)) {
    int64_t left = steps - made->steps;
    bool quick = made->steps > 0 && made->seconds < SHORT * (double)made->steps;
    int64_t count = !quick ? 1 : left < MANY ? left : MANY;
    HkStatus status =
        obstacles_are_moving(p) ? push(p, made, &error) : make_steps(p, count, made, &error);
    if (status == HK_ERROR_CANCELLED) break; /* the state is at the end of a whole step */
    if (status < 0) {
      blow_up(p, &error);
      break;
    }
    if (made->seconds >= budget) break;
  }
  p->steps += made->steps;
}

/* The number of steps of a request; what is less than a step is kept for the next frame. What the
 * budget does not allow is never made up for. */
static int64_t count_steps(Play *p, const HkJson *request, double *budget) {
  double number = 0, h = hk_sim_h(p->stage.sim);
  *budget = BUDGET_MOST;
  if (request_number(request, "budget", &number)) *budget = fmin(number, BUDGET_MOST);
  if (request_number(request, "steps", &number)) return number > 0 ? (int64_t)fmin(number, 1e6) : 0;
  if (!request_number(request, "seconds", &number) || !(number > 0)) return 0;
  p->owed += fmin(number, 1);
  double steps = floor(p->owed / h + 1e-9);
  p->owed -= steps * h;
  return (int64_t)steps;
}

/* ---- Colors ---- */

static void lengths(const double *vectors, int64_t n, float *value) {
  for (int64_t q = 0; q < n; q++) {
    const double *v = vectors + 3 * q;
    value[q] = (float)sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
}

static bool fill_values(Play *p, const char *color, float *value) {
  int64_t n = hk_state_vertex_count(p->stage.state);
  if (strcmp(color, "strain") == 0) {
    double *strain = malloc((size_t)n * sizeof *strain);
    if (!strain) return false;
    hk_model_strains(p->stage.model, hk_state_x(p->stage.state), strain);
    for (int64_t q = 0; q < n; q++) value[q] = (float)strain[q];
    free(strain);
  } else if (strcmp(color, "speed") == 0) {
    lengths(hk_state_v(p->stage.state), n, value);
  } else if (strcmp(color, "force") == 0) {
    double *f = malloc(3 * (size_t)n * sizeof *f);
    if (!f) return false;
    hk_sim_forces(p->stage.sim, p->stage.state, f);
    lengths(f, n, value);
    free(f);
  } else {
    return false;
  }
  return true;
}

/* ---- Bytes ---- */

static void put_numbers_of(Play *p, const Progress *made, const float *value, double out[NUMBERS]) {
  int64_t n = hk_state_vertex_count(p->stage.state);
  double steps = made->steps > 0 ? (double)made->steps : 1, low = 0, high = 0;
  HkStateInfo r;
  hk_sim_state_info(p->stage.sim, p->stage.state, &r);
  for (int64_t q = 0; value && q < n; q++) {
    low = q == 0 || value[q] < low ? value[q] : low;
    high = q == 0 || value[q] > high ? value[q] : high;
  }
  HkStepInfo last = hk_sim_step_info(p->stage.sim);
  const double numbers[NUMBERS] = {hk_state_time(p->stage.state),
                                   hk_sim_h(p->stage.sim),
                                   r.kinetic,
                                   r.spring,
                                   r.gravity,
                                   r.other,
                                   r.total,
                                   r.strain_min,
                                   r.strain_max,
                                   r.speed_max,
                                   1e3 * made->seconds / steps,
                                   made->iterations / steps,
                                   made->linear_iterations / steps,
                                   last.gradient,
                                   (double)made->steps,
                                   (double)p->steps,
                                   p->hand.vertex,
                                   low,
                                   high,
                                   hk_model_obstacle_count(p->stage.model)};
  memcpy(out, numbers, sizeof numbers);
}

static void put_floats(unsigned char *to, const double *from, int64_t count) {
  for (int64_t q = 0; q < count; q++) hk_store_float(to + 4 * q, from[q]);
}

HkStatus frame_answer(Play *p, const HkJson *request, HkError *error) {
  const char *color = request_text(request, "color");
  int64_t n = hk_state_vertex_count(p->stage.state);
  Progress made = {0};
  double budget, numbers[NUMBERS];
  int64_t steps = count_steps(p, request, &budget);
  if (!p->blown) advance(p, steps, budget, &made);
  float *value = color ? calloc((size_t)n + 1, sizeof *value) : NULL;
  if (value && !fill_values(p, color, value)) {
    free(value);
    value = NULL;
  }
  size_t head = 8 + 8 * NUMBERS, x = 12 * (size_t)n, values = value ? 4 * (size_t)n : 0;
  size_t poses = 48 * (size_t)hk_model_obstacle_count(p->stage.model);
  unsigned char *bytes = answer_bytes(p, FRAME_WORD, request, head + x + values + poses);
  if (bytes) {
    put_numbers_of(p, &made, value, numbers);
    hk_store_le32(bytes, (uint32_t)n);
    uint32_t flags = (p->blown ? BLOWN : 0u) | (made.unconverged ? UNCONVERGED : 0u) |
                     (value ? HAS_VALUES : 0u) | (made.stationary ? STATIONARY : 0u) |
                     (p->late ? LATE : 0u);
    hk_store_le32(bytes + 4, flags);
    for (int q = 0; q < NUMBERS; q++) hk_store_double(bytes + 8 + 8 * q, numbers[q]);
    put_floats(bytes + head, hk_state_x(p->stage.state), 3 * n);
    for (int64_t q = 0; value && q < n; q++) hk_store_float(bytes + head + x + 4 * q, value[q]);
    obstacles_put_poses(p, bytes + head + x + values);
  }
  free(value);
  return bytes ? HK_OK : hk_fail_memory(error, head + x + values + poses, "a frame");
}

HkStatus topology_answer(Play *p, const HkJson *request, HkError *error) {
  HkSpringView s = hk_model_springs(p->stage.model);
  int64_t faces;
  const int32_t *face = hk_model_faces(p->stage.model, &faces);
  size_t size = 16 + 12 * (size_t)faces + 8 * (size_t)s.count;
  unsigned char *bytes = answer_bytes(p, TOPOLOGY_WORD, request, size);
  if (!bytes) return hk_fail_memory(error, size, "a mesh");
  hk_store_le32(bytes, (uint32_t)hk_state_vertex_count(p->stage.state));
  hk_store_le32(bytes + 4, (uint32_t)faces);
  hk_store_le32(bytes + 8, (uint32_t)s.count);
  bytes += 16;
  for (int64_t q = 0; q < 3 * faces; q++, bytes += 4) hk_store_le32(bytes, (uint32_t)face[q]);
  for (int64_t q = 0; q < s.count; q++, bytes += 8) {
    hk_store_le32(bytes, (uint32_t)s.i[q]);
    hk_store_le32(bytes + 4, (uint32_t)s.j[q]);
  }
  return HK_OK;
}
