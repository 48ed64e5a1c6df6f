/* Accuracy of integrators over time; see accuracy.h.
 *
 * The reference is rk4 at half its largest stable step, refined by halving. The difference of two
 * successive references bounds the error of the finer one: for smooth motions it is 15 times that
 * error. Distances are |a - b| = sqrt(sum m_i |a_i - b_i|^2 / sum m_i).
 */
#include "accuracy.h"

#include "candidates.h"
#include "command.h"
#include "describe.h"
#include "measure/rounds.h"
#include "signals.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char REFERENCE[] = "rk4";
static const double REFERENCE_PART = 0.5; /* of the largest stable step: the first reference */
static const double RESOLVED = 0.1;       /* of the smallest error of a run */
static const double ROUNDING = 1e-12; /* of the motion: refinement of the reference ends there */
static const double CHAOTIC_RATIO =
    0.5; /* of two successive differences: chaotic if it is larger twice */
static const double CHUNK_SECONDS = 0.05, TRIAL_SECONDS = 0.05;

enum {
  MAX_HALVINGS = 10,
  MIN_SAMPLES = 64,   /* of the displacement, over the motion */
  COUNTED_LEVELS = 7, /* 1 + 2 + 4: the references of the cost estimate */
  MAX_TRIAL_STEPS = 1 << 20
};

/* ---- Which integrators ----------------------------------------------------------------------- */

static void add_run(Accuracy *a, const HkSchema *integrator) {
  for (int q = 0; q < a->count_all; q++)
    if (a->runs[q].integrator == integrator) return;
  if (a->count_all < ACCURACY_MAX_RUNS)
    a->runs[a->count_all++] = (AccuracyRun){.integrator = integrator};
}

static int unknown(const char *name) {
  const char *names[ACCURACY_MAX_RUNS];
  const HkSchema *schema;
  int count = 0;
  for (; count < ACCURACY_MAX_RUNS && (schema = hk_schema_at(HK_STEP, count)); count++)
    names[count] = schema->name;
  const char *near = hk_text_nearest(name, names, count);
  if (near)
    return complain(EXIT_USAGE, "--methods: there is no integrator '%s'; did you mean '%s'?", name,
                    near);
  return complain(EXIT_USAGE,
                  "--methods: there is no integrator '%s', which --over compares; 'hooke methods' "
                  "lists all integrators",
                  name);
}

int accuracy_choose(Accuracy *a, const char *methods) {
  const HkSchema *schema;
  char name[96];
  bool all = !methods || strcmp(methods, "all") == 0;
  for (int q = 0; all && (schema = hk_schema_at(HK_STEP, q)); q++) add_run(a, schema);
  for (const char *word = all ? "" : methods; *word;) {
    size_t length = strcspn(word, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    schema = hk_schema_find(HK_STEP, name);
    if (!schema && length > 0) return unknown(name);
    if (schema) add_run(a, schema);
    word += length;
    word += *word == ',';
  }
  if (a->count_all == 0)
    return complain(EXIT_USAGE, "--methods: give one integrator or more, or 'all'");
  return EXIT_GOOD;
}

/* ---- Distances ------------------------------------------------------------------------------- */

/* Root mean square and largest distance of two sets of positions. */
static double distance(const HkModel *model, int64_t n, const double *x, const double *y,
                       double *largest) {
  Distance d = distance_of(x, y, hk_model_masses(model), n);
  if (largest) *largest = d.largest;
  return d.rms;
}

/* ---- One motion ------------------------------------------------------------------------------ */

/* What all motions of a scene share. */
typedef struct Field {
  const HkModel *model;
  const HkMethod *own; /* the scene's integrator with its parameters */
  double own_h;        /* s: the scene's step where its integrator is explicit; 0: none is given */
  HkState *start, *state;
} Field;

static HkStatus create_sim(const Field *f, const HkSchema *integrator, double h, HkSim **sim,
                           HkError *error) {
  HkMethod method = {0};
  HkStatus status = integrator == f->own->schema
                        ? hk_method_copy(f->own, &method, error)
                        : hk_method_choose(&method, HK_STEP, integrator->name, error);
  if (status >= 0) status = hk_sim_create(f->model, &method, h, sim, error);
  hk_method_clear(&method);
  return status;
}

/* Makes the steps of a run. Explicit steps are made many at once, for as long as Ctrl-C may wait.
 * motion: receives the largest displacement from the start; NULL: it is not needed. */
static HkStatus make_steps(const Accuracy *a, const Field *f, HkSim *sim, int64_t steps,
                           const char *label, AccuracyRun *run, double *motion, HkError *error) {
  bool implicit = describe_is_implicit(run->integrator);
  int64_t chunk = 1, largest_chunk = steps / MIN_SAMPLES > 1 ? steps / MIN_SAMPLES : 1;
  double began = seconds_now();
  HkStatus status = HK_OK;
  while (run->steps < steps && status >= 0 && !signals_caught()) {
    double now = seconds_now();
    if (now - began > a->limit)
      return text_fail(error, HK_ERROR_UNSUPPORTED,
                       "stopped at %g s of the motion: it takes longer than --seconds %g",
                       hk_state_time(f->state), a->limit);
    if (chunk > steps - run->steps) chunk = steps - run->steps;
    text_status("%s %.0f %%", label, 100 * (double)run->steps / (double)steps);
    status = hk_sim_steps(sim, f->state, chunk, error);
    run->steps += chunk;
    run->unconverged += status == HK_NOT_CONVERGED;
    run->stationary += hk_sim_step_info(sim).reason == HK_STOP_STATIONARY;
    if (motion && status >= 0)
      *motion = fmax(*motion, distance(f->model, a->model.vertices, hk_state_x(f->state),
                                       hk_state_x(f->start), NULL));
    if (!implicit && seconds_now() - now < CHUNK_SECONDS) chunk *= 2;
    if (chunk > largest_chunk) chunk = largest_chunk;
  }
  return status;
}

/* Copies positions and energy at the end of the motion into the run. */
static HkStatus copy_end(const Accuracy *a, const Field *f, HkSim *sim, AccuracyRun *run,
                         HkError *error) {
  HkStateInfo info;
  size_t bytes = 3 * (size_t)a->model.vertices * sizeof *run->x;
  run->x = malloc(bytes + 1);
  if (!run->x) return text_fail(error, HK_ERROR_MEMORY, "out of memory for the end of a motion");
  memcpy(run->x, hk_state_x(f->state), bytes);
  hk_sim_state_info(sim, f->state, &info);
  run->energy = info.total;
  return HK_OK;
}

/* Moves the scene by an integrator, in steps of run->h at most (0: the default of the integrator).
 * An error stays in run->why. */
static HkStatus make_run(const Accuracy *a, const Field *f, const char *label, AccuracyRun *run,
                         double *motion) {
  HkError error = {0};
  HkSim *sim = NULL;
  double began = seconds_now();
  run->error = run->largest = run->energy = NAN;
  HkStatus status = hk_state_copy(f->start, f->state, &error);
  if (status >= 0) status = create_sim(f, run->integrator, run->h, &sim, &error);
  if (status >= 0) {
    double wanted = hk_sim_h(sim);
    int64_t steps = (int64_t)fmax(1, ceil(a->over / wanted - 0.001));
    run->h = a->over / (double)steps;
    status = hk_sim_set_h(sim, run->h, &error);
    if (status >= 0) status = make_steps(a, f, sim, steps, label, run, motion, &error);
    run->seconds = seconds_now() - began;
    if (status >= 0 && run->steps == steps) status = copy_end(a, f, sim, run, &error);
  }
  if (status < 0) snprintf(run->why, sizeof run->why, "%.500s", error.text);
  if (status >= 0 && !run->x) snprintf(run->why, sizeof run->why, "stopped by Ctrl-C");
  hk_sim_destroy(&sim);
  return status;
}

/* ---- The reference --------------------------------------------------------------------------- */

/* Steps of the reference that are timed, to estimate its cost. */
typedef struct Trial {
  HkSim *sim;
  HkState *state;
  HkStatus status;
  HkError *error;
} Trial;

static TurnEnd try_steps(void *user, const Turn *turn) {
  Trial *t = user;
  stopwatch_start(turn->watch);
  t->status = hk_sim_steps(t->sim, t->state, turn->repeats, t->error);
  stopwatch_stop(turn->watch);
  return t->status < 0 ? TURN_FAILED : TURN_MEASURED;
}

/* Finds the first step of the reference, and measures the wall time of one step in s. */
static HkStatus try_reference(const Accuracy *a, const Field *f, double *h, double *seconds,
                              HkError *error) {
  HkSim *sim = NULL;
  double stable = 0;
  HkStatus status = hk_state_copy(f->start, f->state, error);
  if (status >= 0) status = create_sim(f, a->reference.integrator, a->over, &sim, error);
  if (status >= 0) status = hk_sim_stable_step(sim, f->start, &stable, error);
  if (status >= 0 && !(stable > 0))
    status = text_fail(error, HK_ERROR_UNSUPPORTED, "%s, the reference, has no stable step here",
                       REFERENCE);
  *h = fmin(REFERENCE_PART * stable, a->implicit_h);
  if (status >= 0) status = hk_sim_set_h(sim, *h, error);
  if (status >= 0) {
    Trial trial = {.sim = sim, .state = f->state, .error = error};
    Contestant reference = {.run = try_steps, .user = &trial};
    const Rounds rounds = {.rounds = 1};
    int64_t limit = (int64_t)fmin(MAX_TRIAL_STEPS, 1 + a->over / *h);
    rounds_calibrate(&rounds, &reference, TRIAL_SECONDS, limit);
    *seconds = reference.spent;
    status = trial.status;
  }
  hk_sim_destroy(&sim);
  return status == HK_ERROR_BLOWUP ? HK_OK : status; /* smaller steps may still be stable */
}

static int refuse(const Accuracy *a, double steps, double seconds) {
  return complain(EXIT_INPUT,
                  "the reference needs about %s steps of %s, %s of wall time, and --seconds allows "
                  "%s; give a shorter --over, a scene with softer springs or heavier masses, or "
                  "--seconds %.2g",
                  text_rate(steps).c, REFERENCE, text_duration(seconds).c,
                  text_duration(a->limit).c, 1.5 * seconds);
}

/* Replaces the reference by one of half the step; its error is the distance of the two. */
static HkStatus refine(Accuracy *a, const Field *f) {
  char label[64];
  AccuracyRun finer = {.integrator = a->reference.integrator, .h = a->reference.h / 2};
  double motion = 0;
  snprintf(label, sizeof label, "reference at %.3g s", finer.h);
  HkStatus status = make_run(a, f, label, &finer, &motion);
  a->reference_seconds += finer.seconds;
  if (!finer.x) {
    memcpy(a->reference.why, finer.why, sizeof finer.why);
    return status < 0 ? status : HK_DONE;
  }
  finer.error = a->reference.x
                    ? distance(f->model, a->model.vertices, finer.x, a->reference.x, &finer.largest)
                    : NAN;
  free(a->reference.x);
  a->reference = finer;
  a->motion = motion;
  a->halvings++;
  return HK_OK;
}

/* Makes the first two references; if one blows up, the steps are halved. */
static int begin_reference(Accuracy *a, const Field *f) {
  HkError error = {0};
  double h = 0, seconds = 0;
  if (try_reference(a, f, &h, &seconds, &error) < 0) return complain_of(&error);
  double steps = COUNTED_LEVELS * a->over / h;
  if (steps * seconds > a->limit) return refuse(a, steps, steps * seconds);
  a->reference.h = 2 * h;
  HkStatus status = HK_OK;
  for (int q = 0; q < MAX_HALVINGS && isnan(a->reference.error) && !signals_caught(); q++) {
    status = refine(a, f);
    if (status == HK_ERROR_BLOWUP)
      a->reference.h /= 2;
    else if (status < 0)
      break;
  }
  if (signals_caught() && isnan(a->reference.error))
    return complain(EXIT_SIGNAL + signals_caught(), "stopped before there was a reference");
  if (isnan(a->reference.error))
    return complain(exit_code_of(status), "the reference: %s", a->reference.why);
  a->halvings = 1;
  return EXIT_GOOD;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Compares all runs with the present reference; returns the smallest error. */
static double compare_runs(Accuracy *a, const Field *f) {
  double smallest = INFINITY;
  for (int q = 0; q < a->count; q++) {
    AccuracyRun *r = &a->runs[q];
    if (!r->x) continue;
    r->error = distance(f->model, a->model.vertices, r->x, a->reference.x, &r->largest);
    r->resolved = a->reference.error <= fmax(RESOLVED * r->error, ROUNDING * a->motion);
    smallest = fmin(smallest, r->error);
  }
  return smallest;
}

/* Halves the step of the reference until it is far more accurate than every run. */
static AccuracyState refine_enough(Accuracy *a, const Field *f) {
  int apart = 0;
  for (;;) {
    double smallest = compare_runs(a, f), before = a->reference.error;
    if (before <= fmax(RESOLVED * smallest, ROUNDING * a->motion)) return ACCURACY_RESOLVED;
    if (apart == 2) return ACCURACY_CHAOTIC;
    if (a->halvings >= MAX_HALVINGS) return ACCURACY_HALVINGS;
    if (a->reference_seconds + 2 * a->reference.seconds > a->limit) return ACCURACY_TIME;
    if (signals_caught() || refine(a, f) != HK_OK)
      return signals_caught() ? ACCURACY_INTERRUPTED : ACCURACY_TIME;
    apart = a->reference.error > CHAOTIC_RATIO * before ? apart + 1 : 0;
  }
}

static int nearer_first(const void *left, const void *right) {
  const AccuracyRun *p = left, *q = right;
  if (isnan(p->error) || isnan(q->error)) return isnan(p->error) - isnan(q->error);
  return (p->error > q->error) - (p->error < q->error);
}

/* Marks the runs that are the fastest of those at least as near. The runs are sorted by error. */
static void mark_efficient(Accuracy *a) {
  double fastest = INFINITY;
  for (int q = 0; q < a->count && !isnan(a->runs[q].error); q++) {
    a->runs[q].efficient = a->runs[q].seconds < fastest;
    fastest = fmin(fastest, a->runs[q].seconds);
  }
}

/* ---- All together ---------------------------------------------------------------------------- */

static int measure_model(Accuracy *a, const Field *f) {
  int code = begin_reference(a, f);
  if (code != EXIT_GOOD) return code;
  while (a->count < a->count_all && !signals_caught()) {
    AccuracyRun *r = &a->runs[a->count];
    char label[128];
    snprintf(label, sizeof label, "%s, %d of %d:", r->integrator->name, a->count + 1, a->count_all);
    bool implicit = describe_is_implicit(r->integrator);
    r->h = implicit ? a->implicit_h : r->integrator == f->own->schema ? f->own_h : 0;
    make_run(a, f, label, r, NULL);
    a->count++;
  }
  a->state = refine_enough(a, f);
  qsort(a->runs, (size_t)a->count, sizeof *a->runs, nearer_first);
  mark_efficient(a);
  return EXIT_GOOD;
}

int accuracy_measure(Accuracy *a, HkScene *scene) {
  HkError error = {0};
  HkModel *model = NULL;
  Field f = {.own = &scene->step};
  a->title = scene->title;
  a->implicit_h = candidate_step(scene);
  a->reference = (AccuracyRun){.integrator = hk_schema_find(HK_STEP, REFERENCE), .error = NAN};
  if (!describe_is_implicit(scene->step.schema)) f.own_h = scene->time.step;
  scene->time.tolerance = NAN; /* no adaptive steps */
  scene->time.step = 0;        /* explicit integrators pick theirs by stability */
  HkStatus status = hk_model_compile(scene, &model, &error);
  f.model = model;
  if (status >= 0) status = hk_state_create(model, &f.start, &error);
  if (status >= 0) status = hk_state_create(model, &f.state, &error);
  if (status >= 0) a->model = hk_model_info(model);
  if (status >= 0)
    signals_catch("\nends this motion and shows what there is; Ctrl-C again stops at once\n");
  int code = status < 0 ? EXIT_INPUT : measure_model(a, &f);
  text_status("%s", "");
  if (status < 0) code = complain_of(&error);
  hk_state_destroy(&f.state);
  hk_state_destroy(&f.start);
  hk_model_destroy(&model);
  return code;
}

void accuracy_release(Accuracy *a) {
  for (int q = 0; q < a->count_all; q++) free(a->runs[q].x);
  free(a->reference.x);
}
