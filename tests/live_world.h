/* A cloth that is changed while it moves, for the tests of live changes. */
#ifndef HOOKE_LIVE_WORLD_H
#define HOOKE_LIVE_WORLD_H

#include "world.h"

/* Every kind of integrator but bdf2, which remembers the step before. */
static const char *const live_integrators[] = {
    "symplectic_euler",      "verlet",         "rk4",
    "linear_implicit_euler", "backward_euler", "implicit_midpoint"};
enum { LIVE_INTEGRATORS = sizeof live_integrators / sizeof live_integrators[0] };

/* A cloth of 6 x 5 vertices that hangs from its upper edge, with this stiffness (N/m), these forces
 * and pins (JSON in single quotes). */
static inline World live_cloth(const char *integrator, double k, const char *forces,
                               const char *pins) {
  char text[1500];
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': {'type': 'grid', 'nx': 6, 'ny': 5}, 'springs': {'k': %.17g, "
           "'shear': true}, 'mass': 0.8}], 'pins': %s, 'forces': [%s], 'outputs': []}",
           k, pins, forces);
  return world_make(text, integrator, 0.004, 1);
}

/* Positions, velocities and time of one state into another, of whatever model. */
static inline void live_take_over(World *from, World *to) {
  size_t bytes = (size_t)hk_state_vertex_count(from->state) * 3 * sizeof(double);
  memcpy(hk_state_x(to->state), hk_state_x(from->state), bytes);
  memcpy(hk_state_v(to->state), hk_state_v(from->state), bytes);
  hk_state_set_time(to->state, hk_state_time(from->state));
  hk_state_set_time(from->state, hk_state_time(from->state)); /* neither knows the step before */
}

static inline bool live_same(const World *a, const World *b) {
  size_t bytes = (size_t)hk_state_vertex_count(a->state) * 3 * sizeof(double);
  return memcmp(hk_state_x(a->state), hk_state_x(b->state), bytes) == 0 &&
         memcmp(hk_state_v(a->state), hk_state_v(b->state), bytes) == 0 &&
         hk_state_time(a->state) == hk_state_time(b->state);
}

/* A force by name with one number set, unless param is NULL. */
static inline HkStatus live_force(HkMethod *force, const char *name, const char *param,
                                  double value, HkError *error) {
  HkStatus status = hk_method_choose(force, HK_FORCE, name, error);
  if (status >= 0 && param) status = hk_method_set_number(force, param, value, error);
  return status;
}

/* A handle that drags one vertex. */
static inline HkStatus live_handle(HkMethod *handle, int32_t vertex, const double target[3],
                                   double k, HkError *error) {
  HkSelect select = {.kind = HK_SELECT_VERTICES, .indices = &vertex, .count = 1};
  HkStatus status = live_force(handle, "handle", "k", k, error);
  if (status >= 0) status = hk_method_set_select(handle, "select", &select, error);
  if (status >= 0) status = hk_method_set_vector(handle, "target", target, error);
  return status;
}

#endif
