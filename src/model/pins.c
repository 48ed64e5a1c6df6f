/* Pinned vertices: position, velocity, reaction and release.
 *
 * The force that holds a pinned vertex on its motion is what Newton's law leaves over,
 *
 *     R = m a - f(x, v, t)
 *
 * with a the exact acceleration of the motion and f the sum of all other forces (N).
 */
#include "model/build.h"
#include "model/state.h"

#include "base/vec.h"

static HkStatus compile(const HkModel *m, const HkMethod *method, HkCompiledMotion *motion,
                        HkError *error) {
  if (method->schema)
    HK_TRY(hk_method_copy(method, &motion->method, error));
  else
    HK_TRY(hk_method_choose(&motion->method, HK_MOTION, "fixed", error));
  motion->type = hk_motion_type(motion->method.schema);
  if (!motion->type)
    return hk_fail(error, HK_ERROR_INVALID, "'%s' is not a motion", motion->method.schema->name);
  HK_TRY(hk_method_check(&motion->method, HK_MOTION, "motion", error));
  if (motion->type->load) {
    HkStatus status = motion->type->load(&m->context, m->folder, motion->method.params, error);
    HK_TRY(hk_fail_under(error, status, "motion"));
  }
  if (!motion->type->check) return HK_OK;
  return hk_fail_under(error, motion->type->check(motion->method.params, error), "motion");
}

HkStatus hk_motion_compile(const HkModel *m, const HkMethod *method, HkCompiledMotion *motion,
                           HkError *error) {
  *motion = (HkCompiledMotion){.release = INFINITY};
  HkStatus status = compile(m, method, motion, error);
  if (status < 0) hk_method_clear(&motion->method);
  return status;
}

void hk_pin_at(const HkModel *m, int64_t pin, double t, double x[3], double v[3], double a[3]) {
  const HkCompiledMotion *motion = &m->motions[m->pin_motion[pin]];
  const double *x0 = m->x0 + 3 * (int64_t)m->pin_vertex[pin];
  motion->type->at(motion->method.params, t, x0, x, v, a);
  if (m->dimension == 3) return;
  x[2] = x0[2];
  v[2] = 0;
  if (a) a[2] = 0;
}

void hk_pin_jump(const HkModel *m, HkState *state, int64_t pin, const double place[3]) {
  int64_t i = m->pin_vertex[pin];
  double d = hk_distance(state->x + 3 * i, place), energy = 0;
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++)
    energy += 0.5 * m->springs.k[m->adj_spring[e]] * d * d;
  if (energy > 0)
    state->given_speed = sqrt(state->given_speed * state->given_speed + 2 * energy / m->total_mass);
}

void hk_pins_place(const HkModel *m, const HkState *state, double t, double *x, double *v) {
  for (int64_t p = 0; p < m->pin_count; p++) {
    int64_t at = 3 * (int64_t)m->pin_vertex[p];
    if (state->pin_held[p]) hk_pin_at(m, p, t, x + at, v + at, NULL);
  }
}

bool hk_pins_are_placed(const HkModel *m, const HkState *state) {
  for (int64_t p = 0; p < m->pin_count; p++) {
    int64_t at = 3 * (int64_t)m->pin_vertex[p];
    double x[3], v[3];
    if (!state->pin_held[p]) continue;
    hk_pin_at(m, p, state->time, x, v, NULL);
    for (int c = 0; c < 3; c++)
      if (state->x[at + c] != x[c] || state->v[at + c] != v[c]) return false;
  }
  return true;
}

void hk_pins_release(const HkModel *m, HkState *state, double t) {
  for (int64_t p = 0; p < m->pin_count; p++)
    if (state->pin_held[p] == HK_PIN_HELD && m->motions[m->pin_motion[p]].release <= t)
      state->pin_held[p] = HK_PIN_FREE;
}

int64_t hk_model_first_pin(const HkModel *m, int64_t vertex) {
  int64_t low = 0, high = m->pin_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (m->pin_vertex[middle] < vertex)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void hk_pins_reactions(const HkModel *m, const HkState *state, const double *f, double *R) {
  for (int64_t p = 0; p < m->pin_count; p++) {
    int64_t i = m->pin_vertex[p];
    double x[3], v[3], a[3] = {0, 0, 0};
    if (state->pin_held[p]) hk_pin_at(m, p, state->time, x, v, a);
    for (int c = 0; c < 3; c++)
      R[3 * p + c] = state->pin_held[p] ? m->mass[i] * a[c] - f[3 * i + c] : 0;
    if (m->dimension == 2) R[3 * p + 2] = 0;
  }
}

const int32_t *hk_model_pins(const HkModel *m, int64_t *count) {
  *count = m->pin_count;
  return m->pin_vertex;
}
