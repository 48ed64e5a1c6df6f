/* Flights: the steps of a throw with their derivatives by the initial velocity.
 *
 * With the steps x(t) go three directions of change dx/dV_k, dv/dV_k, which begin as 0 and e_k for
 * all vertices of the body (tangent mode, hk_adjoint_tangent). At the end they give J = dc/dV of
 * the center of mass c. No memory is needed for the steps.
 */
#include "flight.h"

#include "base/status.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

/* ---- The body ---- */

static bool is_pinned(const HkModel *model, int64_t first, int64_t count) {
  int64_t pins;
  const int32_t *pin = hk_model_pins(model, &pins);
  for (int64_t q = 0; q < pins; q++)
    if (pin[q] >= first && pin[q] < first + count) return true;
  return false;
}

HkStatus body_find(const HkModel *model, Body *body, HkError *error) {
  const double *mass = hk_model_masses(model);
  for (int q = 0; hk_model_body(model, q, &body->first, &body->count); q++) {
    if (is_pinned(model, body->first, body->count)) continue;
    body->index = q;
    body->mass = 0;
    for (int64_t i = 0; i < body->count; i++) body->mass += mass[body->first + i];
    return HK_OK;
  }
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "pins hold every body; only one without pins can be thrown");
}

/* The mean over the body of three numbers a vertex, by mass. */
static void find_mean(const HkModel *model, const Body *body, const double *value, double mean[3]) {
  const double *mass = hk_model_masses(model);
  memset(mean, 0, 3 * sizeof *mean);
  for (int64_t i = body->first; i < body->first + body->count; i++)
    hk_axpy(mass[i] / body->mass, value + 3 * i, mean);
}

HkStatus body_velocity(const HkModel *model, double v[3], HkError *error) {
  Body body;
  HkState *start;
  HK_TRY(body_find(model, &body, error));
  HK_TRY(hk_state_create(model, &start, error));
  find_mean(model, &body, hk_state_velocities(start), v);
  hk_state_destroy(&start);
  return HK_OK;
}

HkStatus body_throw(const HkModel *model, HkState *state, const double v[3], HkError *error) {
  Body body;
  double change[3];
  HK_TRY(body_find(model, &body, error));
  find_mean(model, &body, hk_state_velocities(state), change);
  hk_sub(v, change, change);
  for (int64_t i = body.first; i < body.first + body.count; i++)
    hk_axpy(1, change, hk_state_v(state) + 3 * i);
  return HK_OK;
}

/* ---- What flights are made with ---- */

static bool is_stopped(void *play) {
  return atomic_load(&((const Play *)play)->stopped);
}

HkStatus flyer_create(Play *p, Flyer *f, HkError *error) {
  const HkMethod *method = hk_sim_method(p->stage.sim);
  size_t notes = strlen(p->notes); /* the page has read what the model logs */
  HkStatus status = hk_model_compile(p->stage.scene, &f->model, error);
  if (status >= 0) status = hand_hold(p, f->model, error);
  if (status >= 0) status = hk_sim_create(f->model, method, hk_sim_h(p->stage.sim), &f->sim, error);
  p->notes[notes] = 0;
  HK_TRY(status);
  hk_sim_set_cancel(f->sim, is_stopped, p);
  HK_TRY(body_find(f->model, &f->body, error));
  HK_TRY(hk_state_create(f->model, &f->before, error));
  HK_TRY(hk_state_create(f->model, &f->after, error));
  HK_TRY(hk_adjoint_create(f->sim, NULL, &f->adjoint, error));
  for (int k = 0; k < 3; k++) HK_TRY(hk_derivatives_create(f->model, &f->direction[k], error));
  f->dimension = hk_model_info(f->model).dimension;
  f->made = -1;
  return HK_OK;
}

void flyer_clear(Flyer *f) {
  for (int k = 0; k < 3; k++) hk_derivatives_destroy(&f->direction[k]);
  hk_adjoint_destroy(&f->adjoint);
  hk_state_destroy(&f->before);
  hk_state_destroy(&f->after);
  hk_sim_destroy(&f->sim);
  hk_model_destroy(&f->model);
  f->made = -1;
}

/* ---- A flight ---- */

const double *flight_end(const Flight *flight) {
  return flight->path + 3 * (flight->points - 1);
}

static void add_point(const Flyer *f, Flight *flight) {
  int64_t stride = (f->steps + PATH_PIECES - 1) / PATH_PIECES;
  if (f->made % stride != 0 && f->made != f->steps) return;
  find_mean(f->model, &f->body, hk_state_positions(f->after), flight->path + 3 * flight->points);
  flight->points++;
}

/* Direction k: all vertices of the body are faster by 1 m/s along an axis. */
static void begin_direction(const Flyer *f, int k) {
  hk_derivatives_zero(f->direction[k]);
  double *v = hk_derivatives_arrays(f->direction[k]).v;
  for (int64_t i = f->body.first; i < f->body.first + f->body.count; i++) v[3 * i + k] = 1;
}

HkStatus flyer_begin(Flyer *f, Flight *flight, HkError *error) {
  HkState *start;
  HK_TRY(hk_state_create(f->model, &start, error));
  HkStatus status = hk_state_copy(start, f->after, error);
  hk_state_destroy(&start);
  if (status >= 0) status = body_throw(f->model, f->after, flight->v, error);
  HK_TRY(status);
  for (int k = 0; k < f->dimension && flight->is_exact; k++) begin_direction(f, k);
  flight->points = 0;
  f->made = 0;
  add_point(f, flight);
  return HK_OK;
}

static void find_jacobian(const Flyer *f, Flight *flight) {
  memset(flight->J, 0, sizeof flight->J);
  for (int k = 0; k < f->dimension; k++) {
    double column[3];
    find_mean(f->model, &f->body, hk_derivatives_arrays(f->direction[k]).x, column);
    for (int r = 0; r < 3; r++) flight->J[3 * r + k] = column[r];
  }
}

HkStatus flyer_step(Flyer *f, Flight *flight, HkError *error) {
  HK_TRY(hk_state_copy(f->after, f->before, error));
  HK_TRY(hk_sim_step(f->sim, f->after, error));
  for (int k = 0; k < f->dimension && flight->is_exact; k++)
    HK_TRY(hk_adjoint_tangent(f->adjoint, f->before, f->after, f->direction[k], error));
  f->made++;
  add_point(f, flight);
  if (f->made == f->steps && flight->is_exact) find_jacobian(f, flight);
  return HK_OK;
}
