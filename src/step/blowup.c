/* Blow-up detection: the kinetic energy exceeds a bound or is not finite.
 *
 * After every step the kinetic energy is compared with a bound. Its default is
 *
 *     1000 (sum 1/2 k max(l0, |l - l0|)^2 + 1/2 M (speed + a t)^2)
 *
 * that is, a thousand times what it takes to stretch every spring to twice its length and to fall
 * freely for the time t that has passed; speed is the largest at the start or of a pin so far, a
 * the largest acceleration of a mass by all forces but the springs at the start. Loads, targets and
 * winds may grow later: beyond the bound a is evaluated again at the present time, but still at the
 * initial positions, which are finite, and from then on speed is at least a t. An unstable motion
 * grows by a factor every step and exceeds any such bound within a few steps, so that the error is
 * returned near its onset.
 *
 * After a live change of the model the bound is estimated again and never decreases: a system that
 * has become softer keeps its energy. Pins that jump raise the speed by the energy that this puts
 * into their springs. The first change that a simulation sees, and each added force, accept the
 * present state, with its speeds, stretched springs and accelerations; later changes do not, or
 * continued dragging would hide a blow-up.
 */
#include "step/blowup.h"

#include "base/vec.h"
#include "force/springs.h"
#include "model/part.h"

#include <stdio.h>
#include <string.h>

static const double ENERGY_FACTOR = 1000;

static double push_range(void *user, int64_t begin, int64_t end) {
  const HkSim *sim = user;
  double push = 0;
  for (int64_t i = begin; i < end; i++)
    push = fmax(push, hk_norm(sim->f + 3 * i) / sim->model->mass[i]);
  return push;
}

/* The largest acceleration (m/s^2) by all forces but the springs. */
static double push_at(HkSim *sim, double t, const double *x, const double *v) {
  const HkModel *m = sim->model;
  memset(sim->f, 0, (size_t)m->n * 3 * sizeof *sim->f);
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, &sim->work, t, x, v);
    const HkForceType *type = m->forces[f].type;
    if (type->slot != HK_ENERGY_SPRING && type->add) type->add(&a, sim->f);
  }
  return hk_most_vertices(m, push_range, sim, sim->work.sums);
}

void hk_blowup_prepare(HkSim *sim) {
  const HkModel *m = sim->model;
  sim->energy_scale = hk_springs_scale(m, sim->work.springs, m->x0, sim->work.sums);
  sim->push_scale = push_at(sim, 0, m->x0, m->v0);
}

void hk_blowup_renew(HkSim *sim, HkState *state) {
  const HkModel *m = sim->model;
  bool plausible = m->force_count > sim->known_forces;
  const double *x = plausible ? state->x : m->x0, *v = plausible ? state->v : m->v0;
  double push = fmax(push_at(sim, state->time, m->x0, m->v0), push_at(sim, state->time, x, v));
  sim->energy_scale =
      fmax(sim->energy_scale, hk_springs_scale(m, sim->work.springs, x, sim->work.sums));
  sim->push_scale = fmax(sim->push_scale, push);
  if (plausible) hk_blowup_begin(sim, state);
  for (int64_t p = 0; p < m->pin_count; p++) {
    double place[3], unused[3];
    if (!state->pin_held[p]) continue;
    hk_pin_at(m, p, state->time, place, unused, NULL);
    hk_pin_jump(m, state, p, place);
  }
  state->given_speed = hk_model_most(m, state->given_speed);
  sim->known_forces = m->force_count;
}

void hk_blowup_begin(const HkSim *sim, HkState *state) {
  for (int64_t i = 0; i < sim->model->n; i++)
    state->given_speed = fmax(state->given_speed, hk_norm(state->v + 3 * i));
  state->given_speed = hk_model_most(sim->model, state->given_speed);
}

/* Whether a pin may move. All ranks have the same motions, but not the same pins. */
static bool has_motion(const HkModel *m) {
  for (int k = 0; k < m->motion_count; k++)
    if (strcmp(m->motions[k].type->schema.name, "fixed") != 0) return true;
  return false;
}

static void watch_pins(const HkModel *m, HkState *state) {
  for (int64_t p = 0; p < m->pin_count; p++) {
    if (!state->pin_held[p]) continue;
    double speed = hk_norm(state->v + 3 * (int64_t)m->pin_vertex[p]);
    if (speed > state->given_speed) state->given_speed = speed;
  }
  if (m->part && has_motion(m)) state->given_speed = hk_model_most(m, state->given_speed);
}

static double energy_bound(const HkSim *sim, const HkState *state) {
  const HkModel *m = sim->model;
  if (!isnan(m->time.energy_bound)) return m->time.energy_bound;
  double speed = state->given_speed + sim->push_scale * state->time;
  return ENERGY_FACTOR * (sim->energy_scale + 0.5 * m->total_mass * speed * speed);
}

typedef struct Kinetic {
  const HkModel *model;
  const HkState *state;
} Kinetic;

static double kinetic_range(void *user, int64_t begin, int64_t end) {
  const Kinetic *k = user;
  double sum = 0;
  for (int64_t i = begin; i < end; i++)
    sum += 0.5 * k->model->mass[i] * hk_dot(k->state->v + 3 * i, k->state->v + 3 * i);
  return sum;
}

/* A vertex at which a blow-up may have begun. */
typedef struct Suspect {
  int64_t vertex; /* of this model or part; -1: there is none */
  double energy;  /* J, kinetic; INFINITY if the vertex is not finite */
} Suspect;

/* Returns the first vertex that is not finite, else the one with the largest kinetic energy. */
static Suspect worst_vertex(const HkModel *m, const HkState *s) {
  Suspect worst = {-1, -1};
  for (int64_t i = 0; i < m->n; i++) {
    double e = m->mass[i] * hk_dot(s->v + 3 * i, s->v + 3 * i);
    double place = s->x[3 * i] + s->x[3 * i + 1] + s->x[3 * i + 2];
    if (hk_model_is_ghost(m, i)) continue;
    if (!isfinite(e) || !isfinite(place)) return (Suspect){i, INFINITY};
    if (e > worst.energy) worst = (Suspect){i, e};
  }
  return worst;
}

/* The largest stable step of a state counts if it is at least this part of that of the start.
 * Rotation and stretch of springs lower it by a factor of at most 3: their blocks have eigenvalues
 * in 0 .. k with a trace of at least k. The derivative of a drag or a wind grows with the speed,
 * without bound in a blow-up. */
static const double MIN_PART_OF_START = 1e-3;

typedef struct StableStep {
  double h;      /* s; NAN: unknown */
  bool at_start; /* h is that of the start: the present state gives no estimate */
} StableStep;

/* The smaller one of the largest stable steps of the start and of the present state. */
static StableStep least_stable(HkSim *sim, const HkState *state) {
  HkState *start = NULL;
  double first = NAN, now = NAN;
  if (hk_state_create(sim->model, &start, NULL) >= 0) hk_sim_stable_step(sim, start, &first, NULL);
  hk_state_destroy(&start);
  hk_sim_stable_step(sim, state, &now, NULL);
  /* now is 0 or NAN where the state is not finite. */
  if (now > 0 && !(now < MIN_PART_OF_START * first)) return (StableStep){fmin(first, now), false};
  return (StableStep){first, true};
}

/* Whether positions and squared velocities are finite: 0 x is 0 for finite x, NAN for others. */
static bool is_finite_state(const HkModel *m, const HkState *s) {
  double sum = 0;
  for (int64_t c = 0; c < 3 * m->n; c++) sum += 0 * s->x[c] + 0 * (s->v[c] * s->v[c]);
  return !hk_model_any(m, sum != 0);
}

/* Returns whether no smaller step would help. A blow-up exceeds the default bound long before it
 * overflows: a state that is not finite was so before the step, or its values overflow. Ranks look
 * less often than at each step, so that the motion may well have overflowed meanwhile. */
static bool is_beyond_numbers(const HkSim *sim, const HkState *state) {
  if (sim->model->part && state->steps > 1) return false;
  return isnan(sim->model->time.energy_bound) && !is_finite_state(sim->model, state);
}

void hk_blowup_advise(HkSim *sim, const HkState *state, char *text, size_t size) {
  if (is_beyond_numbers(sim, state)) {
    snprintf(text, size,
             "positions or velocities are not finite: either already before this step (check what "
             "was written into the state), or because values are too large to compute with");
    return;
  }
  StableStep least = least_stable(sim, state);
  double stable = least.h;
  text[0] = 0;
  if (isinf(stable) && sim->type->energy_interval)
    snprintf(text, size,
             "every step of %s is stable for linear forces only; give a smaller step, or choose "
             "backward_euler, which solves the equations of each step",
             sim->type->schema.name);
  else if (isinf(stable))
    snprintf(text, size,
             "give a smaller step, or a larger time.energy_bound if all is as it should be");
  else if (stable > sim->h)
    snprintf(text, size,
             "the largest stable step is %.3g s for small motions, and less for large ones: give "
             "a smaller step, or a time.energy_bound if all is as it should be",
             stable);
  else if (stable > 0)
    snprintf(text, size, "a step below %.3g s %s", stable,
             least.at_start ? "is stable at the start" : "would have been stable");
  else if (stable == 0)
    snprintf(text, size, "%s is stable at no step here; choose another integrator",
             sim->type->schema.name);
}

static int64_t number_of(const HkModel *m, int64_t vertex) {
  return m->part && vertex >= 0 ? m->part->number[vertex] : vertex;
}

/* Describes the spring at a vertex that is stretched most; springs of a part have no numbers. */
static void describe_spring(const HkSim *sim, const HkState *state, int64_t vertex, char *text,
                            size_t size) {
  const HkModel *m = sim->model;
  char number[32] = "";
  text[0] = 0;
  if (vertex < 0) return;
  int64_t s = hk_springs_worst(m, sim->work.springs, state->x, vertex);
  if (s < 0) return;
  if (!m->part) snprintf(number, sizeof number, " %lld", (long long)s);
  snprintf(text, size, ", spring%s (vertices %lld and %lld, k = %g N/m)", number,
           (long long)number_of(m, m->springs.i[s]), (long long)number_of(m, m->springs.j[s]),
           sim->work.springs->k[s]);
}

/* Returns the rank that has the worst vertex of all: the lowest number among equal ones. */
static int rank_of_worst(const HkModel *m, const Suspect *mine) {
  double most = hk_model_most(m, mine->energy);
  bool candidate = mine->vertex >= 0 && mine->energy == most;
  double number = candidate ? (double)number_of(m, mine->vertex) : INFINITY;
  bool chosen = number == -hk_model_most(m, -number) && candidate;
  return (int)fmax(0, hk_model_most(m, chosen ? m->part->ranks->rank : -1));
}

HkStatus hk_blowup_fail(const HkSim *sim, const HkState *state, const char *what,
                        const char *advice, HkError *error) {
  const HkModel *m = sim->model;
  Suspect worst = worst_vertex(m, state);
  HkError inner = {0};
  char at[160];
  describe_spring(sim, state, worst.vertex, at, sizeof at);
  hk_fail(&inner, HK_ERROR_BLOWUP,
          "the motion blew up at t = %g s with step %g s: %s; it began at vertex %lld%s; %s",
          state->time, sim->h, what,
          (long long)(m->part            ? number_of(m, worst.vertex)
                      : worst.vertex < 0 ? 0
                                         : worst.vertex),
          at, advice);
  if (m->part) {
    HkRanks *ranks = m->part->ranks;
    ranks->type->broadcast(ranks, rank_of_worst(m, &worst), &inner, sizeof inner);
  }
  if (error) *error = inner;
  return HK_ERROR_BLOWUP;
}

HkStatus hk_blowup_check(HkSim *sim, HkState *state, HkError *error) {
  const HkModel *m = sim->model;
  watch_pins(m, state);
  Kinetic k = {m, state};
  double kinetic = sim->kinetic;
  if (isnan(kinetic)) hk_sim_close(sim, state);
  if (isnan(kinetic)) kinetic = hk_sum_vertices(m, kinetic_range, &k, sim->work.sums);
  double bound = energy_bound(sim, state);
  if (kinetic <= bound && isfinite(kinetic)) return HK_OK;
  state->given_speed =
      fmax(state->given_speed, push_at(sim, state->time, m->x0, m->v0) * state->time);
  bound = energy_bound(sim, state);
  if (kinetic <= bound && isfinite(kinetic)) return HK_OK;
  hk_sim_close(sim, state);
  char what[80], advice[256];
  snprintf(what, sizeof what, "kinetic energy %.3g J, bound %.3g J", kinetic, bound);
  hk_blowup_advise(sim, state, advice, sizeof advice);
  return hk_blowup_fail(sim, state, what, advice, error);
}

HkStatus hk_blowup_check_gradient(HkSim *sim, HkState *state, double gradient, HkError *error) {
  if (!isnan(gradient)) return HK_OK;
  char advice[256];
  hk_sim_close(sim, state);
  hk_blowup_advise(sim, state, advice, sizeof advice);
  return hk_blowup_fail(sim, state, "the gradient of the step's energy is not finite", advice,
                        error);
}
