/* hooke_bench_contact: the row `contact` of the benchmark; see ../README.md. Needs no peers.
 *
 *     hooke_bench_contact [--quick] [--large] [--steps N] [--seconds S] [--threads N]
 *                         [--tolerance T] [--sheets N] [--side N] [--text] [SCENE ...]
 *
 * --quick      the sizes 900 and 2.5k in place of 2.5k, 10k and 40k
 * --large      only 50 sheets on a cylinder, 245,000 vertices, with all threads
 * --steps      measured steps of each case (15); --seconds: of time for them at most (40)
 * --threads    of every step (1; 0: all)
 * --tolerance  of newton, the same at every size (1e-2)
 * --sheets, --side   of --large: 50 sheets of 70 x 70
 * --text       prints the scenes of the smallest size as JSON, one a line
 * SCENE        sphere, stack, twist, drape, rest; all if none is given
 *
 * A scene runs with few vertices until its things touch. Then its sheets are refined: the same
 * surfaces with four times as many vertices, so that large ones are measured in contact and in
 * motion, too. Each step is made with contact, and from the same state without contact and
 * obstacles. Times are CPU times with one thread, and wall times with several; of each step, one
 * iterate gives the linear systems that are compared.
 */
#include "result.h"

#include "measure/stopwatch.h"
#include "signals.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 3, RESULTS_MAX = SCENE_COUNT * LEVELS_MAX };

typedef struct Options {
  bool quick, large, text;
  bool chosen[SCENE_COUNT], any;
  int steps, threads, sheets, side;
  double seconds, tolerance;
} Options;

/* ---- One case ---- */

typedef struct Deadline {
  double time; /* s of row_clock */
} Deadline;

static bool is_late(void *user) {
  return signals_caught() != 0 || row_clock() > ((const Deadline *)user)->time;
}

/* Keeps the second iterate of a step, or the last one of a shorter step, and then ends the step. */
static bool keep_iterate(void *user, const HkIteration *iteration) {
  enum { KEPT = 2 };
  const Iterate *kept = user;
  memcpy(kept->x, iteration->x, kept->bytes);
  return iteration->iteration < KEPT;
}

/* The worlds of a case, whose steps begin at the same state. */
typedef struct Case {
  World *with;
  World without;
  World traced; /* with contact; its steps give iterates and end there. A trace compares each
                 * iterate with the start of the step, which a step that is timed must not do. */
  Iterate iterate;
} Case;

static HkStatus timed_step(World *w, double *seconds, HkError *error) {
  double start = row_clock();
  HkStatus status = hk_sim_step(w->sim, w->state, error);
  *seconds = row_clock() - start;
  return status;
}

/* One step with contact and one without, from the same state. */
static HkStatus measure_step(Case *k, Result *r, HkError *error) {
  Sample s = {0};
  SystemPair pair;
  HK_TRY(hk_state_copy(k->with->state, k->traced.state, error));
  world_copy(k->with->state, k->without.state);
  profile_take();
  s.status = timed_step(k->with, &s.seconds, error);
  if (s.status < 0) return s.status;
  s.profile = profile_take();
  s.info = hk_sim_step_info(k->with->sim);
  HK_TRY(timed_step(&k->without, &s.seconds_without, error));
  s.info_without = hk_sim_step_info(k->without.sim);
  HK_TRY(hk_sim_step(k->traced.sim, k->traced.state, error));
  HK_TRY(systems_compare(k->with, &k->without, k->iterate.x, &pair, error));
  HkContacts *c = contacts_of(k->with->sim);
  const HkTouchings *t = hk_contacts_find(c, k->with->sim->work.springs, k->with->state->x);
  s.contacts = t ? t->pair_count + t->wall_count : 0;
  s.candidates = c->candidate_count;
  result_add(r, &s, &pair);
  return HK_OK;
}

static void measure_bytes(const World *with, const World *without, Result *r) {
  HkModelInfo a = hk_model_info(with->model), b = hk_model_info(without->model);
  r->bytes = (double)a.bytes + (double)hk_sim_bytes(with->sim) - (double)b.bytes -
             (double)hk_sim_bytes(without->sim);
  r->list_bytes = (double)hk_contacts_bytes(contacts_of(with->sim));
}

static HkStatus make_case(const SceneChoice *choice, Case *k, HkError *error) {
  SceneChoice plain = *choice;
  plain.contact = false;
  k->iterate.bytes = (size_t)k->with->model->n * 3 * sizeof(double);
  k->iterate.x = malloc(k->iterate.bytes);
  if (!k->iterate.x) return HK_ERROR_MEMORY;
  HK_TRY(world_make(&k->without, &plain, error));
  HK_TRY(world_make(&k->traced, choice, error));
  profile_attach(k->with->model);
  return hk_sim_set_trace(k->traced.sim, keep_iterate, &k->iterate, error);
}

static void destroy_case(Case *k) {
  world_destroy(&k->without);
  world_destroy(&k->traced);
  free(k->iterate.x);
}

/* Measures steps from the state of `with`, the first of which is not counted. */
static void measure_case(const Options *o, const SceneChoice *choice, World *with, Result *r) {
  Case all = {.with = with};
  HkError error = {0};
  Deadline deadline = {row_clock() + o->seconds};
  HkStatus status = make_case(choice, &all, &error);
  hk_sim_set_cancel(with->sim, is_late, &deadline);
  for (int k = 0; k <= o->steps && status >= 0 && !is_late(&deadline); k++) {
    if (k == 1) result_start(r); /* the first step checks the state and allocates */
    status = measure_step(&all, r, &error);
  }
  if (status >= 0 || status == HK_ERROR_CANCELLED) measure_bytes(with, &all.without, r);
  if (status < 0 && status != HK_ERROR_CANCELLED)
    snprintf(r->error, sizeof r->error, "%.*s", ERROR_MAX - 1,
             error.text[0] ? error.text : "out of memory");
  destroy_case(&all);
}

/* ---- One scene ---- */

/* Steps of the coarsest sheets until they touch. */
static HkStatus warm_up(const Options *o, SceneName scene, World *w, HkError *error) {
  Deadline deadline = {row_clock() + 2 * o->seconds};
  HkStatus status = HK_OK;
  if (scene == SCENE_TWIST) world_twist(w, 0.3125);
  hk_sim_set_cancel(w->sim, is_late, &deadline);
  for (int k = 0; k < scene_facts(scene).steps && status >= 0; k++) {
    text_status("%s: step %d of %d before the measured ones", scene_facts(scene).name, k + 1,
                scene_facts(scene).steps);
    status = hk_sim_step(w->sim, w->state, error);
  }
  text_status("%s", "");
  return status == HK_ERROR_CANCELLED ? HK_OK : status;
}

/* Replaces a world by one with refined sheets. */
static HkStatus refine(World *w, SceneChoice *c, const HkState *start, HkError *error) {
  World fine = {0};
  int sheets = scene_facts(c->scene).sheets, side = c->side;
  c->side = 2 * side - 1;
  HkStatus status = world_make(&fine, c, error);
  if (status >= 0) world_refine(start, side, sheets, fine.state);
  world_destroy(w);
  *w = fine;
  return status;
}

static int run_level(const Options *o, const SceneChoice *c, World *w, Result *results) {
  Result *r = results;
  result_clear(r, scene_facts(c->scene).name, w->model->n);
  r->scene = c->scene;
  measure_case(o, c, w, r);
  result_print_line(r);
  return 1;
}

/* Measures a scene at `levels` sizes; returns the number of results. */
static int run_scene(const Options *o, SceneChoice c, int levels, Result *results) {
  World w = {0};
  HkState *start = NULL;
  HkError error = {0};
  int count = 0;
  HkStatus status = world_make(&w, &c, &error);
  if (status >= 0) status = warm_up(o, c.scene, &w, &error);
  for (int level = 0; level < levels && status >= 0 && !signals_caught(); level++) {
    if (level > 0) status = refine(&w, &c, start, &error);
    hk_state_destroy(&start);
    if (status >= 0) status = hk_state_create(w.model, &start, &error);
    if (status < 0) break;
    world_copy(w.state, start);
    count += run_level(o, &c, &w, results + count);
  }
  if (status < 0)
    fprintf(stderr, "%s, %d vertices a side: %s\n", scene_facts(c.scene).name, c.side, error.text);
  hk_state_destroy(&start);
  world_destroy(&w);
  return count;
}

static int run_all(const Options *o, Result *results) {
  static const int one[2] = {31, 51}, five[2] = {15, 23};
  int count = 0;
  for (int s = 0; s < SCENE_LARGE && !signals_caught(); s++) {
    const int *side = scene_facts((SceneName)s).sheets > 1 ? five : one;
    SceneChoice c = {
        .scene = (SceneName)s, .contact = true, .tolerance = o->tolerance, .threads = o->threads};
    if (o->any && !o->chosen[s]) continue;
    if (o->text) {
      c.side = side[!o->quick];
      printf("%s\n", scene_text(&c));
      continue;
    }
    for (int q = 0; q < 2 && o->quick; q++) {
      c.side = side[q];
      count += run_scene(o, c, 1, results + count);
    }
    c.side = side[1];
    if (!o->quick) count += run_scene(o, c, LEVELS_MAX, results + count);
  }
  return count;
}

/* ---- Many sheets on a cylinder ---- */

static int run_large(const Options *o) {
  SceneChoice c = {.scene = SCENE_LARGE,
                   .side = o->side,
                   .sheets = o->sheets,
                   .contact = true,
                   .tolerance = o->tolerance,
                   .threads = o->threads};
  World w;
  HkError error = {0};
  HkStatus status = world_make(&w, &c, &error);
  double seconds[1000], sum = 0;
  int count = 0;
  if (status >= 0)
    printf("large: %d sheets on a cylinder, %lld vertices, %s\n", o->sheets, (long long)w.model->n,
           o->threads ? "threads as given" : "all threads");
  for (; status >= 0 && count < o->steps && count < 1000 && sum < o->seconds; count++) {
    status = timed_step(&w, &seconds[count], &error);
    if (status < 0) break;
    HkContacts *contacts = contacts_of(w.sim);
    HkStepInfo info = hk_sim_step_info(w.sim);
    const HkTouchings *t = hk_contacts_find(contacts, w.sim->work.springs, w.state->x);
    sum += seconds[count];
    printf("step %2d: %8.1f ms, %3d iterations, %4d linear ones, %6.2f contacts a vertex%s\n",
           count + 1, 1e3 * seconds[count], info.iterations, info.linear_iterations,
           t ? (double)(t->pair_count + t->wall_count) / (double)w.model->n : NAN,
           status == HK_NOT_CONVERGED ? ", not converged" : "");
    fflush(stdout);
  }
  if (status < 0) fprintf(stderr, "large: %s\n", error.text);
  if (count > 0)
    printf("median %.1f ms a step, wanted 500 ms on 16 cores for 50 sheets: %s\n",
           1e3 * median_of(seconds, count), median_of(seconds, count) <= 0.5 ? "yes" : "NO");
  world_destroy(&w);
  return status < 0 ? 1 : 0;
}

/* ---- Arguments ---- */

static bool read_value(Options *o, const char *name, const char *value) {
  if (strcmp(name, "--steps") == 0)
    o->steps = atoi(value);
  else if (strcmp(name, "--threads") == 0)
    o->threads = atoi(value);
  else if (strcmp(name, "--sheets") == 0)
    o->sheets = atoi(value);
  else if (strcmp(name, "--side") == 0)
    o->side = atoi(value);
  else if (strcmp(name, "--seconds") == 0)
    o->seconds = atof(value);
  else if (strcmp(name, "--tolerance") == 0)
    o->tolerance = atof(value);
  else
    return false;
  return true;
}

static bool read_word(Options *o, const char *word) {
  for (int s = 0; s < SCENE_LARGE; s++)
    if (strcmp(word, scene_facts((SceneName)s).name) == 0) return o->any = o->chosen[s] = true;
  if (strcmp(word, "--quick") == 0) return o->quick = true;
  if (strcmp(word, "--large") == 0) return o->large = true;
  if (strcmp(word, "--text") == 0) return o->text = true;
  return false;
}

int main(int argc, char **argv) {
  static Result results[RESULTS_MAX];
  Options o = {
      .steps = 15, .threads = -1, .sheets = 50, .side = 70, .seconds = 40, .tolerance = 1e-2};
  for (int q = 1; q < argc; q++) {
    if (read_word(&o, argv[q])) continue;
    if (q + 1 < argc && read_value(&o, argv[q], argv[q + 1])) {
      q++;
      continue;
    }
    fprintf(stderr, "hooke_bench_contact: '%s' is no option and no scene, or has no value\n",
            argv[q]);
    return 2;
  }
  signals_catch("\nends this scene and prints what there is; Ctrl-C again stops at once\n");
  if (o.threads < 0) o.threads = o.large ? 0 : 1;
  if (o.threads != 1) row_clock = seconds_now;
  if (o.large) return run_large(&o);
  int count = run_all(&o, results);
  if (!o.text) result_print_tables(results, count);
  return 0;
}
