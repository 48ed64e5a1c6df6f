/* Energy watch: refuses steps of a motion whose total energy grows without a cause.
 *
 * In the exact motion the total energy E = T + V (kinetic energy, all potentials) changes by the
 * external work W, and by damping, which lowers it. A numerical instability shows as growth beyond
 * that. At regular intervals E is compared with its value at a base state:
 *
 *     alarm   E - E_base > 10 swing A,     A = T_base + V_springs,base + D + |W|
 *
 * A is the energy that the motion had available: D is the largest drop of the potential of gravity
 * and all other forces but the springs since the base, |W| a bound of the external work.
 *
 * swing is the growth that a stable integrator allows. Symplectic Euler keeps T + V + h/2 v . f of
 * linear forces, which on a mode of frequency w is E (1 - h w / 2 sin 2 phi), phi its phase; so E
 * swings by
 *
 *     swing = (1 + r) / (1 - r),     r = h w / 2 = h / h_stable
 *
 * between its least and its largest value. Verlet (drift-kick-drift) keeps T (1 - r^2) + V, and its
 * E swings by 1 / (1 - r^2), which is less; rk4 loses energy, and linearly implicit methods at most
 * double it for linear forces. The sum over the modes swings by no more than its fastest one. r is
 * taken from hk_sim_stable_step when it was last called, which a run and the default step do at the
 * start, and as at most 0.95 (swing 39); 0.95 where it was not. The factor 10 allows for motions
 * that become stiffer later.
 *
 * A step of a linearly implicit method moves vertices along straight lines and stretches stiff
 * springs that rotate: the energy may be thousands of times A after it, and the next steps damp it.
 * It raises an alarm only if E exceeds the bound at 16 successive checks, 64 steps.
 *
 * The external work is known at the checks only, so it is bounded from above:
 *
 *     forces without a potential   the sum over vertices of max(0, f_i . v_i), the larger value of
 *                                  two times; damping and drag count as nothing
 *     moving pins                  |R| of each (what holds it) times the largest speed so far
 *     potentials that move         the variation of V(x, t) between two checks, at the present x,
 *                                  in eight parts (targets and loads given by tables)
 *
 * with the larger power of the two ends for the time between them. A gust or a pin whose power
 * peaks between two checks may do more work; the factor 10 allows for that, too.
 *
 * A new base is set, without an alarm for earlier growth, when the simulation moves another state,
 * when the state was set, loaded or copied, when the time, the step or the held pins change, and
 * after live changes of the model. Callers may also write positions and velocities through pointers
 * from hk_state_x and hk_state_v, which the watch does not see. If such a pointer exists, the first
 * alarm only sets a new base, and from then on checksums of x and v are compared between calls: a
 * write that changes them sets another base; without one, further growth by more than swing A is an
 * alarm.
 *
 * If the scene gives time.energy_bound, the user defines the bound, and there is no alarm.
 *
 * The watch is not part of HkState: it does not change the motion, and a resumed run is
 * bit-identical. A resumed run sets the base where it resumes, so that its alarm may come later
 * than that of a run without interruption. The step count of the state decides when a check is due,
 * independent of how many steps a call makes.
 *
 * At each fourth check the largest stable step is estimated again by one power iteration, started
 * from the last mode (stability.c), and by more iterations at the first check at which E has grown
 * by A. Estimates are lower bounds of the frequency, so that there are no false warnings for small
 * motions.
 */
#include "step/energy_watch.h"

#include "base/vec.h"
#include "model/part.h"
#include "step/blowup.h"
#include "step/stability.h"

#include <stdio.h>
#include <string.h>

static const double ENERGY_FACTOR = 10, MAX_STEP_RATIO = 0.95;

/* Relative rounding error of the energies. */
static const double ROUNDING = 1e-10;

/* Successive checks beyond the bound that raise an alarm, for linearly implicit integrators. */
enum { LOOKS_OF_LINEAR = 16 };

/* Checks between two estimates of the stable step; power iterations of an estimate, and of one
 * after growth of the energy. */
enum { LOOKS_PER_ESTIMATE = 4, ITERATIONS = 1, GROWTH_ITERATIONS = 16 };

/* Number of intervals between two checks in which time-dependent potentials are evaluated. */
enum { PARTS = 8 };

/* The total energy is monitored on the CPU alone. On ranks its looks would be collective, and what
 * they depend on, such as pins that move, differs between ranks. */
static bool is_watched(const HkSim *sim) {
  return sim->type->energy_interval > 0 && sim->device == HK_CPU;
}

HkStatus hk_energy_watch_create(HkSim *sim, HkError *error) {
  HkEnergyWatch *w = &sim->watch;
  w->stable = NAN;
  if (!is_watched(sim)) return HK_OK;
  if (isinf(sim->type->stable_step(sim->method.params, 1, 0))) return HK_OK;
  HK_TRY(hk_alloc_vector(&sim->model->context, &w->mode, sim->model->n, "the fastest mode", error));
  hk_stability_start(sim->model, w->mode);
  return HK_OK;
}

void hk_energy_watch_destroy(HkSim *sim) {
  hk_free(&sim->model->context, &sim->watch.mode);
}

size_t hk_energy_watch_bytes(const HkSim *sim) {
  return sim->watch.mode ? hk_vector_bytes(sim->model->n) : 0;
}

/* ---- Energies (J) and external work ---- */

typedef struct Energies {
  double kinetic, springs, rest;
} Energies;

typedef struct Sum {
  const HkModel *model;
  const HkState *state;
  const double *f;
} Sum;

static double kinetic_range(void *user, int64_t begin, int64_t end) {
  const Sum *a = user;
  double sum = 0;
  for (int64_t i = begin; i < end; i++)
    sum += 0.5 * a->model->mass[i] * hk_dot(a->state->v + 3 * i, a->state->v + 3 * i);
  return sum;
}

/* Returns the kinetic energy of the free vertices; that of constrained ones is external work. */
static double kinetic_of(HkSim *sim, const HkState *state) {
  const HkModel *m = sim->model;
  Sum a = {.model = m, .state = state};
  double sum = hk_sum_vertices(m, kinetic_range, &a, sim->work.sums);
  for (int64_t p = 0; p < m->pin_count; p++)
    if (state->pin_held[p]) sum -= kinetic_range(&a, m->pin_vertex[p], m->pin_vertex[p] + 1);
  return sum;
}

/* The potential energies of a slot at the positions of the state and the time t. */
static double potential_of(HkSim *sim, const HkState *state, HkEnergySlot slot, double t) {
  const HkModel *m = sim->model;
  double sum = 0;
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (!type->energy || type->slot != slot) continue;
    HkForceArgs a = hk_force_args(m, f, &sim->work, t, state->x, state->v);
    sum += type->energy(&a);
  }
  return sum;
}

static Energies measure(HkSim *sim, const HkState *state) {
  Energies e = {.kinetic = kinetic_of(sim, state),
                .springs = potential_of(sim, state, HK_ENERGY_SPRING, state->time),
                .rest = potential_of(sim, state, HK_ENERGY_GRAVITY, state->time)};
  e.rest += potential_of(sim, state, HK_ENERGY_OTHER, state->time);
  return e;
}

static double gain_range(void *user, int64_t begin, int64_t end) {
  const Sum *a = user;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) sum += fmax(0, hk_dot(a->f + 3 * i, a->state->v + 3 * i));
  return sum;
}

/* Returns the power (W) of forces without a potential at time t, summed over vertices where it is
 * positive. */
static double gain_of(HkSim *sim, const HkState *state, double t) {
  const HkModel *m = sim->model;
  bool any = false;
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (type->energy || !type->add) continue;
    if (!any) memset(sim->f, 0, (size_t)m->n * 3 * sizeof *sim->f);
    HkForceArgs a = hk_force_args(m, f, &sim->work, t, state->x, state->v);
    type->add(&a, sim->f);
    any = true;
  }
  Sum a = {m, state, sim->f};
  return any ? hk_sum_vertices(m, gain_range, &a, sim->work.sums) : 0;
}

static bool has_moving_pins(const HkModel *m) {
  for (int k = 0; k < m->motion_count; k++)
    if (!m->motions[k].type->rests) return true;
  return false;
}

/* The sum of |R| over the held pins (N), times the largest speed so far. */
static double pin_power(HkSim *sim, const HkState *state) {
  const HkModel *m = sim->model;
  double sum = 0;
  if (!has_moving_pins(m)) return 0;
  hk_forces_sum(m, &sim->work, state->time, state->x, state->v, sim->f);
  for (int64_t p = 0; p < m->pin_count; p++) {
    double x[3], v[3], a[3];
    int64_t i = m->pin_vertex[p];
    if (!state->pin_held[p]) continue;
    hk_pin_at(m, p, state->time, x, v, a);
    for (int c = 0; c < 3; c++) a[c] = m->mass[i] * a[c] - sim->f[3 * i + c];
    sum += hk_norm(a);
  }
  return sum * state->given_speed;
}

static double power_of(HkSim *sim, const HkState *state) {
  /* The golden ratio: no period of a gust is a simple multiple of it. */
  double before = state->time - 0.382 * fabs(state->time - sim->watch.time);
  double gain = fmax(gain_of(sim, state, state->time), gain_of(sim, state, before));
  return gain + pin_power(sim, state);
}

/* Returns the variation (J) of potentials by their dependence on time since the last check. */
static double variation_of(HkSim *sim, const HkState *state) {
  double from = sim->watch.time, part = (state->time - from) / PARTS, sum = 0;
  double last = potential_of(sim, state, HK_ENERGY_OTHER, from);
  for (int k = 1; k <= PARTS; k++) {
    double next = potential_of(sim, state, HK_ENERGY_OTHER, from + k * part);
    sum += fabs(next - last);
    last = next;
  }
  return sum;
}

static bool has_other_potentials(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->energy && m->forces[f].type->slot == HK_ENERGY_OTHER) return true;
  return false;
}

/* ---- The base ---- */

static int64_t held_pins(const HkState *state) {
  int64_t held = 0;
  for (int64_t p = 0; p < state->pin_count; p++) held += state->pin_held[p] != 0;
  return held;
}

static void set_base(HkSim *sim, const HkState *state) {
  HkEnergyWatch *w = &sim->watch;
  Energies e = measure(sim, state);
  w->time = state->time;
  w->base = e.kinetic + e.springs + e.rest;
  w->start = e.kinetic + e.springs;
  w->rest = e.rest;
  w->drop = w->work = 0;
  w->power = power_of(sim, state);
  w->held = held_pins(state);
  w->unsure = false;
  w->above = 0;
  w->known = isfinite(w->base);
}

/* Returns a checksum of x and v that any single write changes (FNV over 64-bit words). */
static uint64_t sum_of(const HkState *state) {
  uint64_t sum = 14695981039346656037u;
  for (int64_t c = 0; c < 3 * state->n; c++) {
    uint64_t bits[2];
    memcpy(&bits[0], state->x + c, sizeof bits[0]);
    memcpy(&bits[1], state->v + c, sizeof bits[1]);
    sum = (sum ^ bits[0]) * 1099511628211u;
    sum = (sum ^ bits[1]) * 1099511628211u;
  }
  return sum;
}

static bool is_same(const HkSim *sim, const HkState *state) {
  const HkEnergyWatch *w = &sim->watch;
  return w->state == state && w->steps == state->steps && w->edits == state->edits &&
         w->h == sim->h && w->held == held_pins(state) &&
         fabs(w->end - state->time) <= 1e-6 * sim->h && !(w->verifies && w->sum != sum_of(state));
}

void hk_energy_watch_begin(HkSim *sim, HkState *state) {
  HkEnergyWatch *w = &sim->watch;
  if (!is_watched(sim)) return;
  if (!w->known || !is_same(sim, state)) set_base(sim, state);
  if (state->lent && !w->verifies) w->unsure = true;
}

void hk_energy_watch_end(HkSim *sim, HkState *state) {
  HkEnergyWatch *w = &sim->watch;
  w->state = state;
  w->steps = state->steps;
  w->edits = state->edits;
  w->end = state->time;
  w->h = sim->h;
  if (w->verifies) w->sum = sum_of(state);
}

/* ---- Checks ---- */

/* Returns whether a check is due within the first interval: a step that is far too large blows up
 * earlier. */
static bool is_early(int64_t interval, int64_t steps) {
  return interval > HK_WATCH_LINEAR && (steps == interval / 8 || steps == interval / 2);
}

bool hk_energy_watch_is_due(const HkSim *sim, const HkState *state) {
  int64_t interval = sim->type->energy_interval;
  return is_watched(sim) && (state->steps % interval == 0 || is_early(interval, state->steps));
}

static double swing_of(const HkSim *sim) {
  double stable = sim->watch.stable, ratio = MAX_STEP_RATIO;
  if (stable > 0) ratio = fmin(sim->h / stable, MAX_STEP_RATIO);
  return (1 + ratio) / (1 - ratio);
}

/* Estimates the largest stable step at the state and warns, once, of a step above it. */
static void follow_stable_step(HkSim *sim, const HkState *state, int iterations) {
  HkEnergyWatch *w = &sim->watch;
  double stable = hk_stability_follow(sim, state, w->mode, iterations);
  if (!(sim->h > stable) || w->warned) return;
  w->warned = true;
  hk_log(&sim->model->context, HK_LOG_WARNING,
         "at t = %g s step %g s is above the largest stable one of the present state, about %.3g "
         "s: the motion may blow up",
         state->time, sim->h, stable);
}

/* Estimates the stable step if that is due: every few checks, and when the energy has grown by
 * A. */
static void examine(HkSim *sim, const HkState *state, bool grown) {
  HkEnergyWatch *w = &sim->watch;
  int64_t interval = sim->type->energy_interval;
  bool due = state->steps % (interval * LOOKS_PER_ESTIMATE) == 0;
  if (!w->mode) return;
  if (grown && !w->examined)
    follow_stable_step(sim, state, GROWTH_ITERATIONS);
  else if (due || is_early(interval, state->steps))
    follow_stable_step(sim, state, ITERATIONS);
  w->examined = grown;
}

static HkStatus fail(HkSim *sim, const HkState *state, double growth, double available,
                     HkError *error) {
  char what[160], advice[256];
  snprintf(what, sizeof what,
           "the total energy has grown by %.3g J, where the motion had %.3g J available", growth,
           available);
  hk_blowup_advise(sim, state, advice, sizeof advice);
  return hk_blowup_fail(sim, state, what, advice, error);
}

HkStatus hk_energy_watch_look(HkSim *sim, HkState *state, HkError *error) {
  HkEnergyWatch *w = &sim->watch;
  if (!w->known || w->held != held_pins(state)) {
    set_base(sim, state);
    examine(sim, state, false);
    return HK_OK;
  }
  Energies e = measure(sim, state);
  double power = power_of(sim, state), growth = e.kinetic + e.springs + e.rest - w->base;
  if (has_other_potentials(sim->model)) w->work += variation_of(sim, state);
  w->work += fmax(power, w->power) * fabs(state->time - w->time);
  w->power = power;
  w->time = state->time;
  w->drop = fmax(w->drop, w->rest - e.rest);
  double available = w->start + w->drop + w->work;
  double rounding = ROUNDING * (sim->energy_scale + fabs(w->rest) + w->start);
  examine(sim, state, growth > available + rounding);
  double factor = (w->verifies ? 1 : ENERGY_FACTOR) * swing_of(sim);
  bool beyond = growth > factor * (available + rounding);
  w->above = beyond ? w->above + 1 : 0;
  int needed = sim->type->energy_interval == HK_WATCH_LINEAR ? LOOKS_OF_LINEAR : 1;
  if (w->above < needed || !isnan(sim->model->time.energy_bound)) return HK_OK;
  if (!w->unsure) return fail(sim, state, growth, available, error);
  w->verifies = true;
  set_base(sim, state);
  return HK_OK;
}
