/* Changes of a model between steps, by the one thread that uses it.
 *
 * Vertices, springs, pins and their numbers stay, and so do the fingerprint and every state. What
 * may change are the stiffness k of the springs, the masses, the forces and the motions of pins and
 * obstacles. Each change raises a version; simulations compare it at their next step and recompute
 * what depends on it (step/cpu.c); factorizations if the stiffness has changed. A change that fails
 * changes nothing.
 */
#include "force/element.h"
#include "model/build.h"
#include "model/state.h"

#include <string.h>

/* ---- Springs ---- */

HkStatus hk_model_scale_stiffness(HkModel *m, double factor, HkError *error) {
  double most = 0;
  for (int64_t s = 0; s < m->springs.count; s++) most = fmax(most, m->springs.k[s]);
  if (!(factor > 0) || !isfinite(most * factor))
    return hk_fail(error, HK_ERROR_INVALID,
                   "springs cannot be made %g times as stiff; give a factor above 0", factor);
  for (int64_t s = 0; s < m->springs.count; s++) m->springs.k[s] *= factor;
  m->springs.version++;
  return HK_OK;
}

HkStatus hk_model_set_stiffness(HkModel *m, double k, HkError *error) {
  if (!(k >= 0) || isinf(k))
    return hk_fail(error, HK_ERROR_INVALID, "k = %g N/m is no stiffness; give 0 or more", k);
  for (int64_t s = 0; s < m->springs.count; s++) m->springs.k[s] = k;
  m->springs.version++;
  return HK_OK;
}

/* ---- Masses ---- */

HkStatus hk_model_set_masses(HkModel *m, const double *mass, HkError *error) {
  double total = 0;
  for (int64_t i = 0; i < m->n; i++) {
    if (!(mass[i] > 0) || isinf(mass[i]))
      return hk_fail(error, HK_ERROR_INVALID, "vertex %lld: mass = %g kg; it must be above 0",
                     (long long)i, mass[i]);
    total += mass[i];
  }
  if (m->n > 0) memcpy(m->mass, mass, (size_t)m->n * sizeof *mass);
  m->total_mass = total;
  m->masses_version++;
  return HK_OK;
}

/* ---- Forces ---- */

int hk_model_force_count(const HkModel *m) {
  return m->force_count;
}

const HkMethod *hk_model_force(const HkModel *m, int index) {
  return index >= 0 && index < m->force_count ? &m->forces[index].method : NULL;
}

static HkStatus check_index(const HkModel *m, int index, HkError *error) {
  if (index < 0 || index >= m->force_count)
    return hk_fail(error, HK_ERROR_INVALID, "there is no force %d; there are the forces 0 to %d",
                   index, m->force_count - 1);
  if (index == 0)
    return hk_fail(error, HK_ERROR_INVALID,
                   "force 0 is that of the springs, which stay; hk_model_set_stiffness changes k");
  return HK_OK;
}

static void forces_changed(HkModel *m) {
  m->velocity_dependent = hk_forces_use_velocity(m);
  m->forces_version++;
}

/* Moves a compiled force into the model; it is released after an error. */
static HkStatus append_force(HkModel *m, HkCompiledForce *force, int *index, HkError *error) {
  int64_t capacity = m->force_count; /* at least */
  HkStatus status = hk_grow(&m->context, &m->forces, &capacity, (int64_t)m->force_count + 1,
                            sizeof *m->forces, "forces", error);
  if (status < 0) {
    hk_force_release(m, force);
    return status;
  }
  m->forces[m->force_count] = *force;
  if (index) *index = m->force_count;
  m->force_count++;
  forces_changed(m);
  return HK_OK;
}

HkStatus hk_model_add_force(HkModel *m, const HkMethod *method, int *index, HkError *error) {
  HkCompiledForce force;
  HK_TRY(hk_force_compile(m, method, &force, error));
  HK_TRY(append_force(m, &force, index, error));
  if (force.type->slot == HK_ENERGY_GRAVITY) hk_model_warn_gravities(m);
  return HK_OK;
}

HkStatus hk_model_add_custom_force(HkModel *m, const HkForceFunctions *functions, void *user,
                                   int *index, HkError *error) {
  HkCompiledForce force;
  HK_TRY(hk_force_compile_custom(m, functions, user, &force, error));
  return append_force(m, &force, index, error);
}

HkStatus hk_model_add_elements(HkModel *m, const HkElementFunctions *functions, void *user,
                               const int32_t *vertices, const void *records, int64_t count,
                               int *index, HkError *error) {
  HkElements elements = {*functions, user, count, vertices, records, NULL, NULL};
  HkCompiledForce force;
  HK_TRY(hk_force_compile_elements(m, &elements, &force, error));
  return append_force(m, &force, index, error);
}

HkStatus hk_model_add_library_force(HkModel *m, const char *path, const char *name,
                                    const char *settings, int *index, HkError *error) {
  HkCompiledForce force;
  HK_TRY(hk_force_compile_library(m, path, name, settings, &force, error));
  return append_force(m, &force, index, error);
}

HkStatus hk_model_add_force_array(HkModel *m, const double *force, int *index, HkError *error) {
  HkForceFunctions functions = hk_force_array_functions();
  return hk_model_add_custom_force(m, &functions, (void *)force, index, error);
}

HkStatus hk_model_set_force(HkModel *m, int index, const HkMethod *method, HkError *error) {
  HkCompiledForce force;
  HK_TRY(check_index(m, index, error));
  HK_TRY(hk_force_compile(m, method, &force, error));
  hk_force_release(m, &m->forces[index]);
  m->forces[index] = force;
  forces_changed(m);
  return HK_OK;
}

HkStatus hk_model_remove_force(HkModel *m, int index, HkError *error) {
  HK_TRY(check_index(m, index, error));
  hk_force_release(m, &m->forces[index]);
  m->force_count--;
  memmove(m->forces + index, m->forces + index + 1,
          (size_t)(m->force_count - index) * sizeof *m->forces);
  forces_changed(m);
  return HK_OK;
}

/* ---- Pins ---- */

HkStatus hk_model_set_motion(HkModel *m, int pin, const HkMethod *method, HkError *error) {
  static const HkMethod none = {0};
  HkCompiledMotion motion;
  if (pin < 0 || pin >= m->motion_count)
    return hk_fail(error, HK_ERROR_INVALID, "there is no pin %d; the scene has %d", pin,
                   m->motion_count);
  HK_TRY(hk_motion_compile(m, method ? method : &none, &motion, error));
  motion.release = m->motions[pin].release;
  hk_method_clear(&m->motions[pin].method);
  m->motions[pin] = motion;
  m->motions_version++;
  return HK_OK;
}

HkStatus hk_model_set_obstacle_motion(HkModel *m, int obstacle, const HkMethod *method,
                                      HkError *error) {
  static const HkMethod none = {0};
  HkCompiledMotion motion;
  if (obstacle < 0 || obstacle >= m->obstacle_count)
    return hk_fail(error, HK_ERROR_INVALID, "there is no obstacle %d; the scene has %d", obstacle,
                   m->obstacle_count);
  HK_TRY(hk_motion_compile(m, method ? method : &none, &motion, error));
  hk_method_clear(&m->obstacles[obstacle].motion.method);
  m->obstacles[obstacle].motion = motion;
  m->motions_version++;
  return HK_OK;
}

/* Finds the pin of a vertex. */
static HkStatus find_pin(const HkModel *m, const HkState *state, int32_t vertex, int64_t *pin,
                         HkError *error) {
  HK_TRY(hk_state_check(state, m, error));
  int64_t low = hk_model_first_pin(m, vertex);
  if (low == m->pin_count || m->pin_vertex[low] != vertex)
    return hk_fail(error, HK_ERROR_INVALID,
                   "vertex %d has no pin; give it one in the scene, or drag it with a handle",
                   vertex);
  *pin = low;
  return HK_OK;
}

HkStatus hk_state_release_pin(HkState *state, const HkModel *m, int32_t vertex, HkError *error) {
  int64_t pin = 0;
  HK_TRY(find_pin(m, state, vertex, &pin, error));
  hk_state_own(state);
  state->pin_held[pin] = HK_PIN_FREE;
  state->edits++;
  return HK_OK;
}

HkStatus hk_state_hold_pin(HkState *state, const HkModel *m, int32_t vertex, HkError *error) {
  int64_t pin = 0, at = 3 * (int64_t)vertex;
  double place[3], v[3];
  HK_TRY(find_pin(m, state, vertex, &pin, error));
  hk_state_own(state);
  bool past = m->motions[m->pin_motion[pin]].release <= state->time;
  state->pin_held[pin] = past ? HK_PIN_KEPT : HK_PIN_HELD;
  hk_pin_at(m, pin, state->time, place, v, NULL);
  hk_pin_jump(m, state, pin, place);
  memcpy(state->x + at, place, sizeof place);
  memcpy(state->v + at, v, sizeof v);
  state->h_old = 0; /* the history of the previous step is no longer valid */
  state->edits++;
  return HK_OK;
}
