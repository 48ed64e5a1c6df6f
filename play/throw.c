/* A throw at a target: the initial velocity with which a body is at a point at a given time.
 *
 * With V the mean velocity of the body at the start, c its center of mass, p the target and T the
 * time, V minimizes the loss
 *
 *     L(V) = 1/2 |c(T; V) - p|^2.
 *
 * A flight (flight.c) gives c and J = dc/dV (3 x 3, s). The next one begins with V + d, where d is
 * that of the method of Gauss and Newton with the damping of Levenberg and Marquardt,
 *
 *     (J^T J + mu I) d = J^T (p - c);
 *
 * mu grows after a flight that comes no nearer. Derivatives cost many times the steps alone, and J
 * changes slowly. So after an exact J most flights are made without derivatives, and J follows by
 * Broyden's update, the smallest change with which it maps the change of V to that of c:
 *
 *     J += (dc - J dV) dV^T / |dV|^2.
 *
 * J is made exact again where such a flight leaves more than a part of the distance. c and J of a
 * flight hold for every target: one that is dragged costs a flight or two of plain steps whenever
 * it moves. Flights are made in slices, as many steps as a request has time for.
 *
 * C. G. Broyden, "A class of methods for solving nonlinear simultaneous equations", 1965.
 */
#include "flight.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FLIGHTS = 40 }; /* for one target */

static const double DEFAULT_TIME = 0.8;    /* s */
static const double LONGEST_TIME = 60;     /* s */
static const double DEFAULT_BUDGET = 0.01; /* s of wall time */
static const double MAX_BUDGET = 1;        /* s of wall time */
static const double MAX_STEPS = 1e9;       /* of a flight */
static const double TOLERANCE = 1e-4;      /* distance to the target, in sizes of the scene */
/* mu, as a part of the mean eigenvalue of J^T J. */
static const double DAMPING_MIN = 1e-9;
static const double DAMPING_REJECTED = 1e-2; /* at least, after a flight that comes no nearer */
static const double DAMPING_MAX = 1e6;
/* The part of the distance that a flight may leave without J being made exact. */
static const double CONTRACTION = 0.25;

struct Throw {
  double target[3]; /* m, p */
  double seconds;   /* T */
  Flyer flyer;
  Flight best;    /* the nearest to the target */
  bool known;     /* there is one */
  Flight next;    /* what is under way, or begins next */
  bool is_again;  /* it is the best one again, for its exact J */
  bool is_aimed;  /* the target is where it was when that began */
  int flights;    /* since the target moved */
  double damping; /* mu, as a part of the mean eigenvalue of J^T J */
  bool done;
};

HkStatus throw_check(const Play *p, HkError *error) {
  Body body;
  HkAdjoint *adjoint;
  HK_TRY(body_find(p->stage.model, &body, error));
  HkStatus status = hk_adjoint_create(p->stage.sim, NULL, &adjoint, error);
  hk_adjoint_destroy(&adjoint);
  return status;
}

/* ---- From flight to flight ---- */

static double miss(const Throw *t, const Flight *f) {
  return hk_distance(flight_end(f), t->target);
}

/* The velocity of the next flight, from the best one. */
static void find_velocity(Throw *t) {
  const double *J = t->best.J;
  double A[9] = {0}, b[3] = {0}, r[3];
  memcpy(t->next.v, t->best.v, sizeof t->next.v);
  if (t->is_again) return;
  hk_sub(t->target, flight_end(&t->best), r);
  for (int q = 0; q < 3; q++) {
    hk_mat_add_outer(1, J + 3 * q, J + 3 * q, A);
    hk_axpy(r[q], J + 3 * q, b);
  }
  double mu = t->damping * (A[0] + A[4] + A[8]) / 3;
  for (int q = 0; q < 3; q++) A[4 * q] += mu;
  if (hk_mat_invert_positive(A)) hk_mat_add_product(A, b, t->next.v);
}

static bool is_there(const Play *p, const Throw *t) {
  return t->known && miss(t, &t->best) <= TOLERANCE * p->size;
}

/* The J of the next flight, from the best one. */
static void update_jacobian(Throw *t) {
  double dv[3], change[3];
  memcpy(t->next.J, t->best.J, sizeof t->next.J);
  hk_sub(t->next.v, t->best.v, dv);
  hk_sub(flight_end(&t->next), flight_end(&t->best), change);
  for (int r = 0; r < 3; r++) change[r] -= hk_dot(t->best.J + 3 * r, dv);
  double square = hk_dot(dv, dv);
  if (square > 0) hk_mat_add_outer(1 / square, change, dv, t->next.J);
}

/* Takes a flight as the best one. */
static void take(Throw *t) {
  bool is_slow = t->known && t->is_aimed && miss(t, &t->next) > CONTRACTION * miss(t, &t->best);
  if (!t->next.is_exact) update_jacobian(t);
  t->best = t->next;
  t->next.is_exact = is_slow && !t->is_again;
  t->is_again = false;
  t->known = true;
}

/* Judges the flight that has ended; `failed`: it blew up. */
static void end_flight(const Play *p, Throw *t, bool failed) {
  bool is_nearer = !failed && (!t->known || miss(t, &t->next) < miss(t, &t->best));
  if (is_nearer) t->damping = fmax(DAMPING_MIN, t->damping / 10);
  if (is_nearer || t->is_again) {
    take(t);
  } else {
    t->is_again = t->next.is_exact = t->is_aimed && !t->best.is_exact;
    if (t->is_aimed && t->best.is_exact) t->damping = fmax(DAMPING_REJECTED, 10 * t->damping);
  }
  t->flyer.made = -1;
  t->flights++;
  t->done = is_there(p, t) || t->flights >= MAX_FLIGHTS || t->damping > DAMPING_MAX;
}

/* Begins a flight, or goes on with it, until it ends or the time does. */
static HkStatus fly(const Play *p, Throw *t, double end, HkError *error) {
  Flyer *f = &t->flyer;
  if (f->made < 0) {
    if (t->known) find_velocity(t);
    HK_TRY(flyer_begin(f, &t->next, error));
    t->is_aimed = true;
  }
  HkStatus status = HK_OK;
  do {
    status = flyer_step(f, &t->next, error);
  } while (status >= 0 && f->made < f->steps && hk_wall_time() < end);
  if (status == HK_ERROR_CANCELLED) return HK_OK; /* it goes on from the last whole step */
  bool failed = status == HK_ERROR_BLOWUP;
  if (status < 0 && !(failed && t->known)) return status;
  if (failed || f->made == f->steps) end_flight(p, t, failed);
  return HK_OK;
}

static HkStatus work(const Play *p, Throw *t, double end, HkError *error) {
  do {
    if (t->done || atomic_load(&p->stopped)) return HK_OK;
    HK_TRY(fly(p, t, end, error));
  } while (hk_wall_time() < end);
  return HK_OK;
}

/* ---- The session ---- */

/* The velocity that is found so far. */
static const double *velocity_of(const Throw *t) {
  return t->known ? t->best.v : t->next.v;
}

/* Flights do not count any more, but for the velocity that they have found. */
static void start_over(Throw *t) {
  memcpy(t->next.v, velocity_of(t), sizeof t->next.v);
  t->known = t->done = t->is_again = false;
  t->next.is_exact = true;
  t->flights = 0;
  t->flyer.made = -1;
  t->damping = DAMPING_MIN;
}

void throw_forget(Play *p) {
  if (p->thrown) flyer_clear(&p->thrown->flyer);
  free(p->thrown);
  p->thrown = NULL;
}

void throw_again(Play *p) {
  if (!p->thrown) return;
  start_over(p->thrown);
  flyer_clear(&p->thrown->flyer);
}

HkStatus throw_start(const Play *p, HkState *state, HkError *error) {
  if (!p->thrown) return HK_OK;
  return body_throw(p->stage.model, state, velocity_of(p->thrown), error);
}

static HkJson list_of(const double *values, int count) {
  HkJson list = hk_json_list();
  for (int q = 0; q < count; q++) hk_json_append(&list, hk_json_real(values[q]));
  return list;
}

HkStatus throw_save(const Play *p, HkJson *scene, HkError *error) {
  Body body;
  double v[3], saved[3] = {0};
  if (!p->thrown) return HK_OK;
  HK_TRY(body_find(p->stage.model, &body, error));
  HK_TRY(body_velocity(p->stage.model, v, error));
  hk_sub(velocity_of(p->thrown), v, v);
  HkJson *entry = hk_json_at(hk_json_get(scene, "bodies"), body.index);
  request_vector(entry, "velocity", saved);
  hk_axpy(1, v, saved);
  hk_json_set(entry, "velocity", list_of(saved, 3));
  return HK_OK;
}

/* ---- Requests ---- */

/* A throw with the velocity that the body has in the scene. */
static HkStatus create(Play *p, HkError *error) {
  double v[3];
  HK_TRY(body_velocity(p->stage.model, v, error));
  p->thrown = calloc(1, sizeof *p->thrown);
  if (!p->thrown) return hk_fail_memory(error, sizeof *p->thrown, "a throw");
  memcpy(p->thrown->next.v, v, sizeof v);
  start_over(p->thrown);
  return HK_OK;
}

static void aim(const Play *p, Throw *t, const double target[3], double seconds) {
  bool is_new = t->seconds != seconds;
  if (is_new) start_over(t);
  if (!is_new && memcmp(t->target, target, sizeof t->target) == 0) return;
  t->seconds = seconds;
  memcpy(t->target, target, sizeof t->target);
  t->is_aimed = false;
  t->flights = 0;
  t->damping = DAMPING_MIN;
  t->done = is_there(p, t);
}

static HkStatus prepare(Play *p, const double target[3], double seconds, HkError *error) {
  if (!(isfinite(target[0]) && isfinite(target[1]) && isfinite(target[2])))
    return hk_fail(error, HK_ERROR_INVALID, "the target is not finite");
  if (!(seconds > 0 && seconds <= LONGEST_TIME))
    return hk_fail(error, HK_ERROR_INVALID, "time %g s: it must be above 0 and at most %g s",
                   seconds, LONGEST_TIME);
  if (!p->thrown) HK_TRY(create(p, error));
  Throw *t = p->thrown;
  aim(p, t, target, seconds);
  if (!t->flyer.model) HK_TRY(flyer_create(p, &t->flyer, error));
  t->flyer.steps = (int64_t)fmin(MAX_STEPS, fmax(1, round(seconds / hk_sim_h(t->flyer.sim))));
  return HK_OK;
}

static HkStatus answer(Play *p, const HkJson *request, HkError *error) {
  const Throw *t = p->thrown;
  const Flight *f = &t->best;
  HkJson o = answer_start(request);
  double steps = (double)t->flyer.steps, made = (double)t->flyer.made;
  hk_json_add(&o, "time", hk_json_real(steps * hk_sim_h(t->flyer.sim)));
  hk_json_add(&o, "velocity", list_of(velocity_of(t), 3));
  hk_json_add(&o, "path", list_of(f->path, t->known ? 3 * f->points : 0));
  hk_json_add(&o, "distance", hk_json_real(t->known ? miss(t, f) : NAN));
  hk_json_add(&o, "iterations", hk_json_integer(t->flights));
  hk_json_add(&o, "part", hk_json_real(made < 0 ? 0 : made / steps));
  hk_json_add(&o, "done", hk_json_boolean(t->done));
  return answer_text(p, &o, error);
}

HkStatus throw_answer(Play *p, const HkJson *request, HkError *error) {
  double target[3], seconds = DEFAULT_TIME, budget = DEFAULT_BUDGET;
  if (!hk_json_get(request, "target")) {
    throw_forget(p);
    HkJson nothing = answer_start(request);
    return answer_text(p, &nothing, error);
  }
  if (!request_vector(request, "target", target))
    return hk_fail(error, HK_ERROR_INVALID, "the target is no list of three numbers");
  request_number(request, "time", &seconds);
  request_number(request, "budget", &budget);
  HkStatus status = prepare(p, target, seconds, error);
  if (status >= 0) status = work(p, p->thrown, hk_wall_time() + fmin(budget, MAX_BUDGET), error);
  if (status >= 0) return answer(p, request, error);
  throw_forget(p);
  return status;
}
