/* Grabbing, dragging and pinning vertices: by handles, springs without length between a vertex and
 * a point. A hand is as stiff as the springs at its vertex, times a factor; a pin is stiffer. Where
 * the integrator is explicit neither is stiffer than those springs: the step would not be stable
 * any more. */
#include "session.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

static const double PIN_STIFFNESS = 20;
/* Damping ratio of a handle, for a vertex without other springs. */
static const double DAMPING = 0.2;

/* ---- Handles ---- */

/* Returns the sum of the stiffnesses (N/m) of the springs at a vertex. */
static double stiffness_at(const Play *p, int32_t vertex) {
  HkSpringView s = hk_model_springs(p->stage.model);
  double sum = 0;
  for (int64_t q = 0; q < s.count; q++)
    if (s.i[q] == vertex || s.j[q] == vertex) sum += s.k[q];
  return sum > 0 ? sum : 1;
}

static HkStatus make_handle(const Play *p, const Held *h, HkMethod *method, HkError *error) {
  int32_t vertex = h->vertex;
  HkSelect select = {.kind = HK_SELECT_VERTICES, .indices = &vertex, .count = 1};
  double mass = hk_model_masses(p->stage.model)[vertex];
  HK_TRY(hk_method_choose(method, HK_FORCE, "handle", error));
  HK_TRY(hk_method_set_select(method, "select", &select, error));
  HK_TRY(hk_method_set_vector(method, "target", h->target, error));
  HK_TRY(hk_method_set_number(method, "k", h->k, error));
  return hk_method_set_number(method, "damping", DAMPING * 2 * sqrt(h->k * mass), error);
}

/* Adds the handle (force < 0), or moves it. */
static HkStatus place(Play *p, Held *h, HkError *error) {
  HkMethod method = {0};
  HkStatus status = make_handle(p, h, &method, error);
  if (status >= 0)
    status = h->force < 0 ? hk_model_add_force(p->stage.model, &method, &h->force, error)
                          : hk_model_set_force(p->stage.model, h->force, &method, error);
  hk_method_clear(&method);
  return status;
}

/* Removes a handle; the indices of later forces decrease by one. */
static HkStatus remove_handle(Play *p, Held *h, HkError *error) {
  int force = h->force;
  HK_TRY(hk_model_remove_force(p->stage.model, force, error));
  h->force = -1;
  if (p->hand.vertex >= 0 && p->hand.force > force) p->hand.force--;
  for (int q = 0; q < p->pin_count; q++)
    if (p->pin[q].force > force) p->pin[q].force--;
  return HK_OK;
}

static double limit(const Play *p, double factor) {
  double h = 0;
  HkError ignored;
  HkStatus status = hk_sim_stable_step(p->stage.sim, p->stage.state, &h, &ignored);
  return status >= 0 && isfinite(h) ? fmin(factor, 1) : factor;
}

HkStatus hand_again(Play *p, HkError *error) {
  if (p->hand.vertex >= 0) {
    p->hand.force = -1;
    HK_TRY(place(p, &p->hand, error));
  }
  for (int q = 0; q < p->pin_count; q++) {
    p->pin[q].force = -1;
    HK_TRY(place(p, &p->pin[q], error));
  }
  return HK_OK;
}

HkStatus hand_restart(Play *p, const double *x, HkError *error) {
  if (p->hand.vertex >= 0) HK_TRY(remove_handle(p, &p->hand, error));
  p->hand.vertex = -1;
  for (int q = 0; q < p->pin_count; q++) {
    memcpy(p->pin[q].target, x + 3 * (int64_t)p->pin[q].vertex, sizeof p->pin[q].target);
    HK_TRY(place(p, &p->pin[q], error));
  }
  return HK_OK;
}

HkStatus hand_hold(const Play *p, HkModel *model, HkError *error) {
  HkState *start;
  HK_TRY(hk_state_create(model, &start, error));
  HkStatus status = HK_OK;
  for (int q = 0; q < p->pin_count && status >= 0; q++) {
    Held h = p->pin[q];
    HkMethod method = {0};
    memcpy(h.target, hk_state_x(start) + 3 * (int64_t)h.vertex, sizeof h.target);
    status = make_handle(p, &h, &method, error);
    if (status >= 0) status = hk_model_add_force(model, &method, NULL, error);
    hk_method_clear(&method);
  }
  hk_state_destroy(&start);
  return status;
}

/* ---- Requests ---- */

/* Returns the vertex of a request, by number or by a ray; -1: none. */
static int32_t find_vertex(const Play *p, const HkJson *request) {
  double number, origin[3], direction[3], radius = 0;
  if (request_number(request, "vertex", &number))
    return number >= 0 && number < (double)hk_state_vertex_count(p->stage.state) ? (int32_t)number
                                                                                 : -1;
  if (!request_vector(request, "origin", origin)) return -1;
  if (!request_vector(request, "direction", direction)) return -1;
  request_number(request, "radius", &radius);
  return hk_state_nearest_to_ray(p->stage.state, origin, direction, radius, NULL);
}

static HkStatus answer_vertex(Play *p, const HkJson *request, int32_t vertex, HkError *error) {
  HkJson answer = answer_start(request), point = hk_json_list();
  for (int c = 0; vertex >= 0 && c < 3; c++)
    hk_json_append(&point, hk_json_real(hk_state_x(p->stage.state)[3 * (int64_t)vertex + c]));
  hk_json_add(&answer, "vertex", hk_json_integer(vertex));
  hk_json_add(&answer, "point", point);
  return answer_text(p, &answer, error);
}

HkStatus hand_grab(Play *p, const HkJson *request, HkError *error) {
  double factor = 1;
  int32_t vertex = find_vertex(p, request);
  if (p->hand.vertex >= 0) HK_TRY(remove_handle(p, &p->hand, error));
  p->hand.vertex = -1;
  request_number(request, "stiffness", &factor);
  if (vertex >= 0) {
    Held h = {.vertex = vertex, .force = -1};
    h.k = limit(p, fmax(factor, 1e-6)) * stiffness_at(p, vertex);
    memcpy(h.target, hk_state_x(p->stage.state) + 3 * (int64_t)vertex, sizeof h.target);
    HK_TRY(place(p, &h, error));
    p->hand = h;
  }
  return answer_vertex(p, request, vertex, error);
}

HkStatus hand_drag(Play *p, const HkJson *request, HkError *error) {
  double target[3];
  if (p->hand.vertex >= 0 && request_vector(request, "point", target)) {
    Held h = p->hand;
    memcpy(h.target, target, sizeof h.target);
    HK_TRY(place(p, &h, error));
    p->hand = h;
  }
  return answer_vertex(p, request, p->hand.vertex, error);
}

HkStatus hand_drop(Play *p, const HkJson *request, HkError *error) {
  if (p->hand.vertex >= 0) HK_TRY(remove_handle(p, &p->hand, error));
  p->hand.vertex = -1;
  return answer_vertex(p, request, -1, error);
}

/* ---- Pins ---- */

/* Releases or constrains a pinned vertex of the scene; number: its index among the pins. */
static HkStatus turn_pin(Play *p, int64_t number, int32_t vertex, bool *held, HkError *error) {
  *held = p->released[number];
  HK_TRY((*held ? hk_state_hold_pin : hk_state_release_pin)(p->stage.state, p->stage.model, vertex,
                                                            error));
  p->released[number] = !*held;
  return HK_OK;
}

static HkStatus turn_handle(Play *p, int32_t vertex, bool *held, HkError *error) {
  for (int q = 0; q < p->pin_count; q++) {
    if (p->pin[q].vertex != vertex) continue;
    HK_TRY(remove_handle(p, &p->pin[q], error));
    p->pin[q] = p->pin[--p->pin_count];
    *held = false;
    return HK_OK;
  }
  if (p->pin_count == MAX_HELD)
    return hk_fail(error, HK_ERROR_INVALID, "at most %d vertices are pinned by hand", MAX_HELD);
  Held h = {.vertex = vertex, .force = -1};
  h.k = limit(p, PIN_STIFFNESS) * stiffness_at(p, vertex);
  memcpy(h.target, hk_state_x(p->stage.state) + 3 * (int64_t)vertex, sizeof h.target);
  HK_TRY(place(p, &h, error));
  p->pin[p->pin_count++] = h;
  *held = true;
  return HK_OK;
}

HkStatus hand_pin(Play *p, const HkJson *request, HkError *error) {
  int32_t vertex = find_vertex(p, request);
  int64_t pins, number = -1;
  const int32_t *pin = hk_model_pins(p->stage.model, &pins);
  bool held = false;
  for (int64_t q = 0; q < pins; q++)
    if (pin[q] == vertex) number = q;
  if (number >= 0)
    HK_TRY(turn_pin(p, number, vertex, &held, error));
  else if (vertex >= 0)
    HK_TRY(turn_handle(p, vertex, &held, error));
  throw_again(p);
  HkJson answer = answer_start(request);
  hk_json_add(&answer, "vertex", hk_json_integer(vertex));
  hk_json_add(&answer, "held", hk_json_boolean(held));
  hk_json_add(&answer, "pinned", hand_list(p));
  return answer_text(p, &answer, error);
}

HkJson hand_list(const Play *p) {
  HkJson list = hk_json_list();
  int64_t pins;
  const int32_t *pin = hk_model_pins(p->stage.model, &pins);
  for (int64_t q = 0; q < pins; q++)
    if (!p->released[q]) hk_json_append(&list, hk_json_integer(pin[q]));
  for (int q = 0; q < p->pin_count; q++) hk_json_append(&list, hk_json_integer(p->pin[q].vertex));
  return list;
}
