/* Solving one implicit step in many ways; see step_solves.h.
 *
 * A fast method solves the step twice and the second solve is timed: data that many steps share,
 * such as the factor of local_global, exists then, as in a run.
 *
 * Two ends are different solutions of the step if their distance |a - b|_M, with
 * |d|_M = sqrt(sum m_i |d_i|^2), exceeds both 1e-4 of the step's motion and ten times what the
 * relative gradients at the ends allow. A relative gradient m bounds the distance to a solution by
 * m |x - x_n|_M only where H >= M; with compressed springs H may be nearly singular, hence the
 * 1e-4.
 *
 * Newton is started from other guesses through the history of the state. The guess of a step of
 * backward_euler is (docs/theory.md, section 6)
 *
 *     y + h^2 / (2 h_old) (v - v_old),     y = x + h v
 *
 * unless g is higher there than at y. A step of h_old = h / 1000, made before with the velocity
 *
 *     v_old = v + 2 h_old (y - z) / h^2
 *
 * leaves this velocity in the history, and the guess becomes z once x and v are restored. The trace
 * of the minimizer has the actual guess.
 */
#include "step_solves.h"

#include "measure/rounds.h"
#include "measure/statistics.h"
#include "signals.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tolerances of the relative gradient: only rounding is below them. */
static const double REFERENCE_TOLERANCE = 1e-14, TOLERANCE = 1e-13;
enum { REFERENCE_ITERATIONS = 1000 };
static const double PROGRESS_INTERVAL = 0.2; /* s between two lines of progress */
static const double SLOW = 5;                /* s: slower methods solve the step only once */
static const double SOLVED_GRADIENT =
    1e-8;                              /* relative gradient of a solved step, whatever its reason */
static const double SEPARATION = 1e-4; /* of the motion, between different solutions */
static const double SAME_GUESS = 1e-6; /* of the motion */
static const double HISTORY_STEP = 1e-3;     /* h_old / h */
static const double PERTURBATION = 1e-3;     /* of the root mean square of the motion */
static const double ENERGY_AGREEMENT = 1e-6; /* of g(x_0) - g(x*) */

/* ---- One solve ------------------------------------------------------------------------------- */

/* User data of the trace of a solve. */
typedef struct Solve {
  const StepStart *start;
  Result *result;
  double shown; /* s of the solve at which progress was shown last */
} Solve;

static void show_progress(Solve *s, const HkIteration *iteration) {
  if (iteration->seconds - s->shown < PROGRESS_INTERVAL) return;
  s->shown = iteration->seconds;
  text_status("%s: iteration %d, gradient %.1e, %.0f of %g s", s->start->label,
              iteration->iteration, iteration->gradient, iteration->seconds,
              s->start->comparison->seconds);
}

/* Stores an iteration; Ctrl-C and the time limit end the solve. */
static bool on_iteration(void *user, const HkIteration *iteration) {
  Solve *s = user;
  Result *r = s->result;
  if (r->lost) return false;
  show_progress(s, iteration);
  if (r->count == r->capacity) {
    int capacity = r->capacity ? 2 * r->capacity : 64;
    HkIteration *grown = realloc(r->points, (size_t)capacity * sizeof *grown);
    r->lost = !grown;
    if (!grown) return false;
    r->points = grown;
    r->capacity = capacity;
  }
  if (r->count == 0 && r->guess)
    memcpy(r->guess, iteration->x, 3 * (size_t)r->vertices * sizeof *r->guess);
  r->points[r->count++] = *iteration;
  r->timed_out = iteration->seconds > s->start->comparison->seconds;
  return !signals_caught() && !r->timed_out;
}

static HkStatus step_once(const StepStart *start, HkSim *sim, Result *r, HkError *error) {
  HkStatus status = hk_state_copy(start->state, start->scratch, error);
  r->count = 0;
  if (status >= 0) status = hk_sim_step(sim, start->scratch, error);
  r->info = hk_sim_step_info(sim);
  return status;
}

/* Both solves of a method. */
typedef struct SolveTurns {
  Solve solve;
  HkSim *sim;
  HkStatus status;
  HkError *error;
} SolveTurns;

/* Makes one solve; the trace has the time of each iteration. */
static TurnEnd solve_turn(void *user, const Turn *turn) {
  SolveTurns *t = user;
  Result *r = t->solve.result;
  bool fast = r->count > 0 && r->points[r->count - 1].seconds < SLOW;
  if (turn->round >= 0 && !fast) return TURN_SKIPPED;
  t->solve.shown = 0;
  stopwatch_start(turn->watch);
  t->status = step_once(t->solve.start, t->sim, r, t->error);
  stopwatch_stop(turn->watch);
  return t->status < 0 ? TURN_FAILED : TURN_MEASURED;
}

static bool is_stopped(void) {
  return signals_caught() != 0;
}

/* Solves the step twice and keeps the second solve; only once if the method is slow or after
 * Ctrl-C. */
static HkStatus step_twice(const StepStart *start, HkSim *sim, Result *r, HkError *error) {
  SolveTurns turns = {.solve = {.start = start, .result = r}, .sim = sim, .error = error};
  Contestant method = {.run = solve_turn, .user = &turns};
  const Rounds rounds = {.warm_up = 1, .rounds = 1, .seconds = INFINITY, .stopped = is_stopped};
  turns.status = hk_sim_set_trace(sim, on_iteration, &turns.solve, error);
  if (turns.status >= 0 && rounds_run(&rounds, &method, 1) < 0) turns.status = HK_ERROR_MEMORY;
  rounds_release(&method, 1);
  hk_sim_set_trace(sim, NULL, NULL, NULL);
  return turns.status;
}

/* ---- Which solution -------------------------------------------------------------------------- */

/* |a - b|_M over all vertices. */
static double distance(const HkModel *model, int64_t n, const double *a, const double *b) {
  return distance_of(a, b, hk_model_masses(model), n).norm;
}

static bool is_solved(const Result *r) {
  HkStop reason = r->info.reason;
  if (r->status < 0 || r->count == 0) return false;
  return reason == HK_STOP_CONVERGED || reason == HK_STOP_ROUNDING ||
         reason == HK_STOP_STATIONARY || r->info.gradient <= SOLVED_GRADIENT;
}

/* Finds the solution at the positions of start->scratch among the known ones, or adds it. The end
 * of the reference is always the first: if it is not solved, its gradient enlarges the distance of
 * equal solutions. */
static void classify(StepStart *start, Result *r) {
  Comparison *c = start->comparison;
  int64_t n = c->model.vertices;
  const double *x = hk_state_x(start->scratch);
  r->solution = -1;
  r->distance = NAN;
  if (r->status < 0 || r->count == 0) return;
  if (c->solution_count > 0)
    r->distance = distance(start->model, n, x, start->solutions[0]) / c->motion;
  if (!is_solved(r) && r != &c->exact) return;
  double gradients = r->info.gradient + c->exact.info.gradient;
  double apart = fmax(SEPARATION, 10 * gradients) * c->motion;
  for (int s = 0; s < c->solution_count && r->solution < 0; s++)
    if (distance(start->model, n, x, start->solutions[s]) <= apart) r->solution = s;
  if (r->solution >= 0 || c->solution_count == COMPARISON_MAX_SOLUTIONS) return;
  double *copy = malloc(3 * (size_t)n * sizeof *copy);
  if (!copy) return;
  memcpy(copy, x, 3 * (size_t)n * sizeof *copy);
  r->solution = c->solution_count;
  start->solutions[c->solution_count++] = copy;
}

static double last_change(const Result *r) {
  return r->count > 0 ? r->points[r->count - 1].change : NAN;
}

/* ---- Methods --------------------------------------------------------------------------------- */

/* Newton with the default linear solver. */
static Candidate newton_candidate(void) {
  return (Candidate){.name = "newton", .minimizer = hk_schema_find(HK_MINIMIZE, "newton")};
}

static HkStatus create_sim(const StepStart *start, const Candidate *c, int iterations,
                           double tolerance, HkSim **sim, HkError *error) {
  HkMethod method = {0};
  HkStatus status = candidate_method(c, iterations, tolerance, &method, error);
  if (status >= 0) status = hk_sim_create(start->model, &method, start->h, sim, error);
  hk_method_clear(&method);
  return status;
}

static void solve(StepStart *start, const Candidate *c, int iterations, double tolerance,
                  Result *r) {
  HkSim *sim = NULL;
  HkError error = {0};
  r->status = create_sim(start, c, iterations, tolerance, &sim, &error);
  if (r->status >= 0) r->status = step_twice(start, sim, r, &error);
  snprintf(r->why, sizeof r->why, "%.500s", error.text);
  hk_sim_destroy(&sim);
}

void step_solve(StepStart *start, const Candidate *candidate, int iterations, Result *r) {
  *r = (Result){.name = candidate->name};
  solve(start, candidate, iterations, TOLERANCE, r);
  classify(start, r);
  r->difference = last_change(r) - last_change(&start->comparison->exact);
}

void step_solve_exactly(StepStart *start) {
  Comparison *c = start->comparison;
  Candidate newton = newton_candidate();
  int64_t n = c->model.vertices;
  c->exact = (Result){.name = "newton", .vertices = n};
  c->exact.guess = malloc(3 * (size_t)n * sizeof *c->exact.guess + 1);
  solve(start, &newton, REFERENCE_ITERATIONS, REFERENCE_TOLERANCE, &c->exact);
  if (c->exact.status >= 0)
    c->motion = distance(start->model, n, hk_state_x(start->scratch), hk_state_x(start->state));
  if (c->motion > 0) classify(start, &c->exact);
}

/* ---- Newton from other guesses --------------------------------------------------------------- */

/* g (kg m^2) at positions x, as 1/2 |x - y|_M^2 + h^2 E(x): forces without a potential are missing,
 * and the inertia of pinned vertices, which is the same everywhere. */
static double minimized_energy(const StepStart *start, HkSim *sim, const double *x) {
  int64_t n = start->comparison->model.vertices;
  const double *x_n = hk_state_x(start->state), *v_n = hk_state_v(start->state);
  const double *masses = hk_model_masses(start->model);
  double inertia = 0;
  HkStateInfo info;
  if (hk_state_copy(start->state, start->scratch, NULL) < 0) return NAN;
  hk_state_set_time(start->scratch, hk_state_time(start->state) + start->h);
  memcpy(hk_state_x(start->scratch), x, 3 * (size_t)n * sizeof *x);
  hk_sim_state_info(sim, start->scratch, &info);
  for (int64_t q = 0; q < 3 * n; q++) {
    double d = x[q] - x_n[q] - start->h * v_n[q];
    inertia += 0.5 * masses[q / 3] * d * d;
  }
  return inertia + start->h * start->h * (info.spring + info.gravity + info.other);
}

/* g at the end of a restart minus g at the reference, or NAN if minimized_energy is not the g that
 * the library minimizes, which the change of the reference's own solve shows. */
static double energy_difference(const StepStart *start, HkSim *sim, const double *x) {
  const Comparison *c = start->comparison;
  double change = last_change(&c->exact);
  double g = minimized_energy(start, sim, start->solutions[0]);
  double g_guess = minimized_energy(start, sim, c->exact.guess);
  bool agrees = fabs(g - g_guess - change) <= ENERGY_AGREEMENT * fabs(change);
  return agrees ? minimized_energy(start, sim, x) - g : NAN;
}

/* Puts the state before the step into start->scratch, with a history that has z as the guess. */
static HkStatus set_guess(const StepStart *start, HkSim *sim, const double *z, HkError *error) {
  HkState *s = start->scratch;
  int64_t n = start->comparison->model.vertices;
  double h = start->h, h_old = HISTORY_STEP * h, t = hk_state_time(start->state);
  const double *x_n = hk_state_x(start->state), *v_n = hk_state_v(start->state);
  HkStatus status = hk_state_copy(start->state, s, error);
  if (status >= 0) status = hk_sim_set_h(sim, h_old, error);
  if (status < 0) return status;
  hk_state_set_time(s, t - h_old);
  double *v = hk_state_v(s);
  for (int64_t q = 0; q < 3 * n; q++)
    v[q] = v_n[q] + 2 * h_old * (x_n[q] + h * v_n[q] - z[q]) / (h * h);
  status = hk_sim_step(sim, s, error);
  if (status < 0) return status;
  memcpy(hk_state_x(s), x_n, 3 * (size_t)n * sizeof *x_n);
  memcpy(hk_state_v(s), v_n, 3 * (size_t)n * sizeof *v_n);
  return hk_sim_set_h(sim, h, error);
}

static HkStatus step_from(StepStart *start, HkSim *sim, const double *z, Result *r,
                          HkError *error) {
  Solve solve = {.start = start, .result = r};
  HkStatus status = set_guess(start, sim, z, error);
  if (status >= 0) status = hk_sim_set_trace(sim, on_iteration, &solve, error);
  if (status >= 0) status = hk_sim_step(sim, start->scratch, error);
  r->info = hk_sim_step_info(sim);
  hk_sim_set_trace(sim, NULL, NULL, NULL);
  return status;
}

/* Returns the name of the actual guess of a solve: z, or the prediction y if g is lower there. NULL
 * if another solve had the same guess. */
static const char *guess_name(const StepStart *start, const Result *r, const double *z,
                              const char *name) {
  const Comparison *c = start->comparison;
  int64_t n = c->model.vertices;
  double same = SAME_GUESS * c->motion;
  if (r->count == 0 || distance(start->model, n, r->guess, c->exact.guess) <= same) return NULL;
  if (distance(start->model, n, r->guess, z) <= same) return name;
  return c->restart_count == 0 ? "the prediction x + h v" : NULL;
}

/* Solves the step from the guess z, and keeps the result if it repeats no other solve. */
static void restart(StepStart *start, HkSim *sim, const char *name, const double *z) {
  Comparison *c = start->comparison;
  HkError error = {0};
  int64_t n = c->model.vertices;
  Result *r = &c->restarts[c->restart_count];
  *r = (Result){.name = name, .vertices = n};
  r->guess = malloc(3 * (size_t)n * sizeof *r->guess);
  double *end = malloc(3 * (size_t)n * sizeof *end);
  r->status = r->guess && end ? step_from(start, sim, z, r, &error) : HK_ERROR_MEMORY;
  r->name = r->status >= 0 ? guess_name(start, r, z, name) : NULL;
  bool counts = r->name && !signals_caught();
  if (counts) {
    classify(start, r);
    memcpy(end, hk_state_x(start->scratch), 3 * (size_t)n * sizeof *end);
    r->difference = energy_difference(start, sim, end);
    c->restart_count++;
  }
  free(end);
  free(r->guess);
  r->guess = NULL;
  if (!counts) free(r->points);
  if (!counts) *r = (Result){0};
}

/* Puts pinned vertices of a guess where the reference has them, as every guess of the library. */
static void place_pins(const StepStart *start, double *z) {
  int64_t count;
  const int32_t *pins = hk_model_pins(start->model, &count);
  for (int64_t p = 0; p < count; p++)
    for (int64_t q = 3 * (int64_t)pins[p]; q < 3 * (int64_t)pins[p] + 3; q++)
      z[q] = start->solutions[0][q];
}

/* z = the reference, moved in pseudo-random directions by a small part of the motion. */
static void perturb(const StepStart *start, double *z) {
  const Comparison *c = start->comparison;
  double size = PERTURBATION * c->motion / sqrt(c->model.mass);
  uint32_t random = 1;
  for (int64_t q = 0; q < 3 * c->model.vertices; q++) {
    random = random * 1664525u + 1013904223u;
    double direction = 2 * (double)random / UINT32_MAX - 1;
    z[q] = start->solutions[0][q];
    if (c->model.dimension == 3 || q % 3 < 2) z[q] += size * direction;
  }
}

void step_solve_again(StepStart *start) {
  Comparison *c = start->comparison;
  Candidate newton = newton_candidate();
  HkSim *sim = NULL;
  double *z = malloc(3 * (size_t)c->model.vertices * sizeof *z + 1);
  bool ready =
      z && c->solution_count > 0 && c->exact.guess &&
      create_sim(start, &newton, REFERENCE_ITERATIONS, REFERENCE_TOLERANCE, &sim, NULL) >= 0;
  if (ready && !signals_caught()) {
    memcpy(z, hk_state_x(start->state), 3 * (size_t)c->model.vertices * sizeof *z);
    place_pins(start, z);
    restart(start, sim, "the old positions", z);
  }
  if (ready && !signals_caught()) {
    perturb(start, z);
    place_pins(start, z);
    restart(start, sim, "the perturbed solution", z);
  }
  hk_sim_destroy(&sim);
  free(z);
}

void step_release_solutions(StepStart *start) {
  for (int s = 0; s < COMPARISON_MAX_SOLUTIONS; s++) free(start->solutions[s]);
}
