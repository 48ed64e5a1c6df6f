/* hooke compare: solves one and the same implicit step by every minimizer, and shows how fast each
 * comes near the solution.
 *
 * A step of backward Euler is the x that minimizes an energy g. Each method starts from the same
 * guess x_0; its relative error after i iterations is
 *
 *     e_i = (g(x_i) - g*) / (g(x_0) - g*)
 *
 * with g* by Newton's method to the last digit. The library provides g(x_i) - g(x_0), computed as a
 * difference, so that e_i has the rounding error of this difference and not of g.
 *
 * step_solves.c solves the step; with --over, accuracy.c compares integrators over time instead.
 */
#include "accuracy.h"
#include "candidates.h"
#include "command.h"
#include "comparison.h"
#include "describe.h"
#include "signals.h"
#include "source.h"
#include "step_solves.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Settings {
  int step, iterations, threads;
  double over, seconds;
  const char *methods, *csv, *svg;
  TextList sets;
  bool libraries, json;
} Settings;

/* Defaults of --step and --iterations, which --over refuses, and of --seconds without --over. */
enum { DEFAULT_STEP = 10, DEFAULT_ITERATIONS = 1000, DEFAULT_STEP_SECONDS = 60 };

static const Option options[] = {
    OPTION_INTEGER(Settings, step, 0, "--step", "N", -1, 0, 1000000000,
                   "steps to make before the one that is solved; 10 if not given"),
    OPTION_INTEGER(Settings, iterations, 'n', "--iterations", "M", 0, 1, 1000000,
                   "iterations of each method at most; 1000 if not given"),
    OPTION_TEXT(Settings, methods, 'm', "--methods", "LIST",
                "which methods, with commas: a minimizer, or one of its kinds such as "
                "local_global+anderson or newton+pcg+ic0; with --over an integrator; 'all' for "
                "everything there is"),
    OPTION_NUMBER(Settings, over, 0, "--over", "SECONDS", 0, 1e-9, 1e9,
                  "compare the motions of integrators over this time instead, with that of a fine "
                  "explicit reference"),
    OPTION_NUMBER(Settings, seconds, 0, "--seconds", "S", 0, 1e-3, 1e9,
                  "seconds of wall time that the reference, and each method, may take; 60 if not "
                  "given; with --over, that all references together, and each method, may take; "
                  "300 if not given"),
    OPTION_LIST(Settings, sets, 's', "--set", "PATH=VALUE",
                "set a value of the scene first; may be repeated"),
    OPTION_TEXT(Settings, csv, 0, "--csv", "FILE",
                "write every iteration of every method; with --over one row for each method"),
    OPTION_TEXT(Settings, svg, 0, "--svg", "FILE",
                "draw the errors against iterations and against milliseconds"),
    OPTION_INTEGER(Settings, threads, 't', "--threads", "N", 0, 0, 4096,
                   "number of threads; all cores if 0 or not given"),
    OPTION_LIBRARIES(Settings),
    OPTION_FLAG(Settings, json, 0, "--json", "print one JSON object instead of text"),
};

/* ---- The state ------------------------------------------------------------------------------- */

static HkStatus move(const Settings *settings, const StepStart *start, Comparison *c,
                     HkError *error) {
  Candidate newton = {.name = "newton", .minimizer = hk_schema_find(HK_MINIMIZE, "newton")};
  HkMethod method = {0};
  HkSim *sim = NULL;
  HkStatus status = candidate_method(&newton, 0, 0, &method, error);
  if (status >= 0) status = hk_sim_create(start->model, &method, start->h, &sim, error);
  for (; c->steps < settings->step && status >= 0 && !signals_caught(); c->steps++) {
    text_status("step %d of %d", c->steps + 1, settings->step);
    status = hk_sim_step(sim, start->state, error);
    c->unconverged += status == HK_NOT_CONVERGED;
  }
  c->time = hk_state_time(start->state);
  hk_sim_destroy(&sim);
  hk_method_clear(&method);
  return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Returns whether a file can be written; checked before the work begins. */
static bool is_writable(const char *path) {
  bool there = access(path, F_OK) == 0;
  FILE *file = fopen(path, "a");
  if (!file) return false;
  fclose(file);
  if (!there) remove(path);
  return true;
}

static int check_files(const Settings *settings) {
  const char *const paths[] = {settings->csv, settings->svg};
  for (int q = 0; q < 2; q++)
    if (paths[q] && !is_writable(paths[q]))
      return complain(EXIT_FILE, "%s: cannot write: %s", paths[q], strerror(errno));
  return EXIT_GOOD;
}

/* Prints the table and writes the files of all results so far; returns the exit code. */
static int show(const Settings *settings, Comparison *c) {
  int code = signals_caught() ? EXIT_SIGNAL + signals_caught() : EXIT_GOOD;
  bool some = comparison_finish(c);
  if (some && settings->csv && comparison_csv(c, settings->csv) != EXIT_GOOD) code = EXIT_FILE;
  if (some && settings->svg && comparison_svg(c, settings->svg) != EXIT_GOOD) code = EXIT_FILE;
  if (settings->json)
    comparison_json(c, code);
  else if (some)
    comparison_print(c);
  else if (c->exact.timed_out)
    printf("nothing to compare: no method made an iteration within --seconds %g; allow more\n",
           c->seconds);
  else
    printf("nothing to compare: the guess from which all methods start solves the step already; "
           "take another --step\n");
  if (some && c->count < c->count_all)
    complain(code, "stopped: %d of %d methods are solved", c->count, c->count_all);
  return code;
}

static bool has_work(const Result *exact) {
  return exact->count > 1 || exact->info.reason != HK_STOP_CONVERGED;
}

static int compare(const Settings *settings, const Candidates *all, StepStart *start,
                   Comparison *c) {
  HkError error = {0};
  HkStatus status = move(settings, start, c, &error);
  if (status < 0) text_status("%s", "");
  if (status < 0) return complain_of(&error);
  if (!signals_caught()) {
    snprintf(start->label, sizeof start->label, "reference");
    text_status("%s", start->label);
    step_solve_exactly(start);
  }
  if (c->exact.status < 0 && c->exact.count < 2) {
    text_status("%s", "");
    return complain(exit_code_of(c->exact.status), "%s", c->exact.why);
  }
  while (c->count < all->count && has_work(&c->exact) && !signals_caught()) {
    snprintf(start->label, sizeof start->label, "%s, %d of %d", all->list[c->count].name,
             c->count + 1, all->count);
    text_status("%s", start->label);
    step_solve(start, &all->list[c->count], settings->iterations, &c->results[c->count]);
    c->count++;
  }
  if (has_work(&c->exact) && !c->exact.timed_out && !signals_caught()) {
    snprintf(start->label, sizeof start->label, "newton from other guesses");
    text_status("%s", start->label);
    step_solve_again(start);
  }
  text_status("%s", "");
  if (c->count == 0 && signals_caught())
    return complain(EXIT_SIGNAL + signals_caught(), "stopped before any method was compared");
  return show(settings, c);
}

static int compare_scene(const Settings *settings, const Candidates *all, const char *name,
                         HkScene *scene) {
  HkError error = {0};
  HkModel *model = NULL;
  const char *integrator = scene->step.schema->name;
  StepStart start = {.h = candidate_step(scene)};
  Comparison c = {.scene = name,
                  .title = scene->title,
                  .h = start.h,
                  .iterations = settings->iterations,
                  .seconds = settings->seconds > 0 ? settings->seconds : DEFAULT_STEP_SECONDS,
                  .not_taken = describe_is_implicit(scene->step.schema) ? NULL : integrator,
                  .count_all = all->count};
  scene->time.tolerance = NAN; /* no adaptive steps */
  HkStatus status = hk_model_compile(scene, &model, &error);
  start.model = model;
  start.comparison = &c;
  if (status >= 0) status = hk_state_create(model, &start.state, &error);
  if (status >= 0) status = hk_state_create(model, &start.scratch, &error);
  c.results = calloc((size_t)all->count, sizeof *c.results);
  int code = EXIT_MEMORY;
  if (status < 0) {
    code = complain_of(&error);
  } else if (c.results) {
    c.model = hk_model_info(model);
    signals_catch("\nends this method and shows what there is; Ctrl-C again stops at once\n");
    code = compare(settings, all, &start, &c);
  } else {
    complain(code, "no memory for the results");
  }
  for (int q = 0; c.results && q < c.count; q++) free(c.results[q].points);
  free(c.results);
  for (int q = 0; q < c.restart_count; q++) free(c.restarts[q].points);
  free(c.exact.points);
  free(c.exact.guess);
  step_release_solutions(&start);
  hk_state_destroy(&start.scratch);
  hk_state_destroy(&start.state);
  hk_model_destroy(&model);
  return code;
}

static int compare_step(const Settings *settings, const HkContext *context, const char *name) {
  HkError error = {0};
  HkScene *scene = NULL;
  Candidates all;
  int code = candidates_choose(&all, settings->methods);
  if (code == EXIT_GOOD) code = check_files(settings);
  if (code != EXIT_GOOD) return code;
  if (source_read(context, name, &settings->sets, &scene, &error) < 0)
    code = complain_of(&error);
  else
    code = compare_scene(settings, &all, name, scene);
  hk_scene_destroy(&scene);
  return code;
}

/* ---- Over time ------------------------------------------------------------------------------- */

/* Options of one step that have no meaning over time. */
static int check_over(const Settings *settings) {
  const char *other = settings->step >= 0        ? "--step"
                      : settings->iterations > 0 ? "--iterations"
                      : settings->svg            ? "--svg"
                                                 : NULL;
  if (!other) return EXIT_GOOD;
  return complain(EXIT_USAGE, "%s is for the comparison of one step and does not go with --over",
                  other);
}

static int show_over(const Settings *settings, const Accuracy *a) {
  int code = signals_caught() ? EXIT_SIGNAL + signals_caught() : EXIT_GOOD;
  if (settings->csv && accuracy_csv(a, settings->csv) != EXIT_GOOD) code = EXIT_FILE;
  if (settings->json)
    accuracy_json(a, code);
  else
    accuracy_print(a);
  if (a->count < a->count_all || signals_caught())
    complain(code, "stopped: %d of %d methods are compared", a->count, a->count_all);
  return code;
}

/* Ignores messages below a warning, which would clutter the table. */
static void log_warning(void *user, HkLogLevel level, const char *text) {
  if (level == HK_LOG_WARNING) text_log(user, level, text);
}

static int compare_over(const Settings *settings, HkContext *context, const char *name) {
  enum { DEFAULT_SECONDS = 300 };
  context->log = log_warning;
  HkError error = {0};
  HkScene *scene = NULL;
  Accuracy a = {.scene = name,
                .over = settings->over,
                .limit = settings->seconds > 0 ? settings->seconds : DEFAULT_SECONDS};
  int code = check_over(settings);
  if (code == EXIT_GOOD) code = accuracy_choose(&a, settings->methods);
  if (code == EXIT_GOOD) code = check_files(settings);
  if (code != EXIT_GOOD) return code;
  if (source_read(context, name, &settings->sets, &scene, &error) < 0)
    code = complain_of(&error);
  else
    code = accuracy_measure(&a, scene);
  if (code == EXIT_GOOD) code = show_over(settings, &a);
  accuracy_release(&a);
  hk_scene_destroy(&scene);
  return code;
}

static int run(const void *chosen, char **words, int word_count) {
  Settings settings = *(const Settings *)chosen;
  (void)word_count;
  HkContext context = hk_context_default();
  context.log = text_log;
  context.threads = settings.threads;
  context.libraries = settings.libraries;
  signals_end_program();
  if (settings.over > 0) return compare_over(&settings, &context, words[0]);
  if (settings.step < 0) settings.step = DEFAULT_STEP;
  if (settings.iterations == 0) settings.iterations = DEFAULT_ITERATIONS;
  return compare_step(&settings, &context, words[0]);
}

const Command command_compare = {
    .name = "compare",
    .arguments = "SCENE",
    .summary = "compare minimizers in a step, integrators over time",
    .text = "Moves the scene for N steps by backward_euler and newton, at the scene's step, or at "
            "1/30 s where its integrator is explicit. Then solves the next step from that state by "
            "every minimizer, each from the same guess, and prints the relative error of the "
            "energy after some iterations: 1 at the guess, 0 at the solution. With --over, moves "
            "the scene from its start by every integrator "
            "instead and compares the ends with a fine explicit reference: error, energy and time "
            "of each.",
    .examples = "  hooke compare curtain                   all methods, 10 steps into the motion\n"
                "  hooke compare flag --step 100 --svg flag.svg --csv flag.csv\n"
                "  hooke compare my.json --methods newton,local_global+anderson --iterations 50\n"
                "  hooke compare my.json --set 'bodies[0].springs.k=1e6'\n"
                "  hooke compare my.json --set integrator=backward_euler --set time.step=0.005\n"
                "  hooke compare my.json --over 1          every integrator for one second\n"
                "  hooke compare my.json --over 0.5 --methods bdf2,verlet --csv my.csv\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 1,
    .most = 1,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
