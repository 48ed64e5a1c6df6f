/* hooke bench: how long a step of a scene takes by every method, and what memory it needs.
 *
 * All methods start from the scene's own start. The first step of each computes what later steps
 * reuse (factorizations, hierarchies) and is listed separately; the time of a step is the median of
 * those that follow. Implicit integrators go at the scene's step, or 1/30 s where that is of an
 * explicit one; explicit ones at half their largest stable step. The time that a method simulates
 * in a second of wall time compares both kinds.
 */
#include "bandwidth.h"
#include "candidates.h"
#include "command.h"
#include "describe.h"
#include "json.h"
#include "measure/rounds.h"
#include "signals.h"
#include "source.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Settings {
  int steps, threads;
  double seconds;
  const char *methods;
  TextList sets;
  bool libraries, json;
} Settings;

static const double LONGEST = 5; /* limit of a step, in multiples of --seconds, or of 1 s */
static const double SLOW = 1; /* s: if the first step takes longer, later steps have a time limit */

enum { MAX_STEPS = 10000, MAX_ENTRIES = MAX_CANDIDATES + 64 };

static const Option options[] = {
    OPTION_INTEGER(Settings, steps, 'n', "--steps", "N", 20, 1, MAX_STEPS,
                   "steps of each method at most, after the first; 20 if not given"),
    OPTION_NUMBER(Settings, seconds, 0, "--seconds", "S", 2, 0, 1e6,
                  "seconds for each method, about; 2 if not given"),
    OPTION_TEXT(Settings, methods, 'm', "--methods", "LIST",
                "which methods, with commas: an integrator, or backward_euler by a minimizer as in "
                "'hooke compare', such as newton+pcg+ic0; 'all' for everything there is"),
    OPTION_LIST(Settings, sets, 's', "--set", "PATH=VALUE",
                "set a value of the scene first; may be repeated"),
    OPTION_INTEGER(Settings, threads, 't', "--threads", "N", 0, 0, 4096,
                   "number of threads; all cores if 0 or not given"),
    OPTION_LIBRARIES(Settings),
    OPTION_FLAG(Settings, json, 0, "--json", "print one JSON object instead of text"),
};

/* One method and its measurements. */
typedef struct Entry {
  char name[96];
  const HkSchema *integrator; /* NULL: backward_euler by the candidate */
  const Candidate *candidate; /* NULL: an integrator with its defaults */
  double h, first;            /* s: the step; wall time of the first */
  Statistics later;           /* s: wall time of later ones */
  size_t bytes;
  int unconverged;
  char why[512]; /* why it failed, or "" */
} Entry;

typedef struct Benchmark {
  const char *scene, *title;
  HkModelInfo model;
  double compile_seconds;
  Bandwidth memory;
  double implicit_h;
  Candidates candidates;
  Entry *entries; /* count of count_all were measured */
  int count, count_all;
} Benchmark;

/* ---- Which methods --------------------------------------------------------------------------- */

static void add_integrator(Benchmark *b, const HkSchema *schema) {
  if (b->count_all == MAX_ENTRIES) return;
  Entry *e = &b->entries[b->count_all++];
  *e = (Entry){.integrator = schema};
  snprintf(e->name, sizeof e->name, "%s", schema->name);
}

static void add_candidates(Benchmark *b) {
  for (int q = 0; q < b->candidates.count && b->count_all < MAX_ENTRIES; q++) {
    Entry *e = &b->entries[b->count_all++];
    *e = (Entry){.candidate = &b->candidates.list[q]};
    snprintf(e->name, sizeof e->name, "%s", e->candidate->name);
  }
}

/* Removes the names of integrators from the list and returns the rest, for candidates_choose. */
static char *split_integrators(Benchmark *b, const char *methods) {
  char *rest = calloc(strlen(methods) + 2, 1), *end = rest, name[96];
  for (const char *word = methods; rest && *word;) {
    size_t length = strcspn(word, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const HkSchema *schema = hk_schema_find(HK_STEP, name);
    if (schema) {
      add_integrator(b, schema);
    } else {
      if (end > rest) *end++ = ',';
      memcpy(end, word, length);
      end += length;
    }
    word += length;
    word += *word == ',';
  }
  return rest;
}

/* Returns an exit code after the error has been printed. */
static int choose(Benchmark *b, const char *methods) {
  const HkSchema *schema;
  bool all = !methods || strcmp(methods, "all") == 0;
  for (int q = 0; all && (schema = hk_schema_at(HK_STEP, q)); q++) add_integrator(b, schema);
  char *rest = all ? NULL : split_integrators(b, methods);
  if (!all && !rest) return complain(EXIT_MEMORY, "no memory for the list of methods");
  int code = EXIT_GOOD;
  if (all || rest[0]) code = candidates_choose(&b->candidates, all ? methods : rest);
  if (!all && !rest[0] && b->count_all == 0)
    code = complain(EXIT_USAGE, "--methods: give one method or more, or 'all'");
  if (code == EXIT_GOOD) add_candidates(b);
  free(rest);
  return code;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Sets half the largest stable step of an explicit integrator; *h becomes 0 if no step is
 * stable. */
static HkStatus set_step(HkSim *sim, const HkState *start, double *h, HkError *error) {
  double stable = INFINITY;
  HkStatus status = hk_sim_stable_step(sim, start, &stable, error);
  if (status >= 0 && !isinf(stable)) *h = 0.5 * stable;
  return status >= 0 && *h > 0 ? hk_sim_set_h(sim, *h, error) : status;
}

static HkStatus make_sim(const Benchmark *b, const HkModel *model, const HkState *start, Entry *e,
                         HkSim **sim, HkError *error) {
  HkMethod method = {0};
  e->h = b->implicit_h;
  HkStatus status = e->integrator ? hk_method_choose(&method, HK_STEP, e->integrator->name, error)
                                  : candidate_method(e->candidate, 0, 0, &method, error);
  if (status >= 0) status = hk_sim_create(model, &method, e->h, sim, error);
  if (status >= 0) status = set_step(*sim, start, &e->h, error);
  hk_method_clear(&method);
  return status;
}

/* Time limit of a step: a slow minimizer may take minutes. */
typedef struct Limit {
  double end; /* s */
  bool over;
} Limit;

static bool is_stopped(void) {
  return signals_caught() != 0;
}

static bool on_iteration(void *user, const HkIteration *iteration) {
  Limit *limit = user;
  (void)iteration;
  limit->over = seconds_now() > limit->end;
  return !limit->over && !is_stopped();
}

/* The steps of one method. */
typedef struct Steps {
  HkSim *sim;
  HkState *state;
  Entry *entry;
  double most;  /* s that a step may take */
  bool watched; /* longer steps are cancelled; the trace costs one energy evaluation an iteration */
  HkStatus status;
  HkError *error;
} Steps;

static TurnEnd make_step(void *user, const Turn *turn) {
  Steps *s = user;
  Limit limit = {.end = seconds_now() + s->most};
  bool watched = s->watched || turn->round < 0;
  stopwatch_start(turn->watch);
  if (watched) hk_sim_set_trace(s->sim, on_iteration, &limit, NULL); /* if it has a minimizer */
  s->status = hk_sim_step(s->sim, s->state, s->error);
  if (watched) hk_sim_set_trace(s->sim, NULL, NULL, NULL);
  stopwatch_stop(turn->watch);
  if (turn->round < 0) s->watched = turn->watch->seconds > SLOW;
  if (limit.over)
    snprintf(s->entry->why, sizeof s->entry->why, "a step takes over %.3g s", s->most);
  if (s->status < 0 || limit.over) return TURN_FAILED;
  if (turn->round >= 0) s->entry->unconverged += s->status == HK_NOT_CONVERGED;
  return TURN_MEASURED;
}

/* Makes the first step, which is discarded, then others until there are enough. Methods are
 * measured one after the other: the workspaces of all of them would not fit into memory. */
static HkStatus time_steps(const Settings *settings, HkSim *sim, HkState *state, Entry *e,
                           HkError *error) {
  Steps steps = {.sim = sim,
                 .state = state,
                 .entry = e,
                 .most = LONGEST * fmax(settings->seconds, 1),
                 .error = error};
  Contestant method = {.run = make_step, .user = &steps};
  const Rounds rounds = {
      .warm_up = 1, .rounds = settings->steps, .seconds = settings->seconds, .stopped = is_stopped};
  if (rounds_run(&rounds, &method, 1) < 0) steps.status = HK_ERROR_MEMORY;
  e->first = method.first;
  e->later = method.statistics;
  rounds_release(&method, 1);
  return steps.status;
}

/* Measures one method; an error is stored in its entry, so that the other methods are measured. */
static void measure(const Settings *settings, const Benchmark *b, const HkModel *model, Entry *e) {
  HkError error = {0};
  HkSim *sim = NULL;
  HkState *state = NULL;
  e->first = NAN;
  e->later = statistics_of(NULL, 0);
  HkStatus status = hk_state_create(model, &state, &error);
  if (status >= 0) status = make_sim(b, model, state, e, &sim, &error);
  if (status >= 0 && e->h > 0) status = time_steps(settings, sim, state, e, &error);
  if (sim) e->bytes = hk_sim_bytes(sim);
  if (status >= 0 && !(e->h > 0)) snprintf(e->why, sizeof e->why, "no step is stable");
  if (status < 0)
    snprintf(e->why, sizeof e->why, "%.500s", error.text[0] ? error.text : "no memory");
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
}

/* ---- Output ---------------------------------------------------------------------------------- */

static Text ms_text(double seconds) {
  Text text = {"-"};
  double ms = 1e3 * seconds;
  if (!isnan(ms)) snprintf(text.c, sizeof text.c, ms < 99.95 ? "%.3g" : "%.0f", ms);
  return text;
}

static void print_head(const Benchmark *b) {
  double n = fmax((double)b->model.vertices, 1);
  printf("%s%s%s\n", b->scene, b->title ? ": " : "", b->title ? b->title : "");
  text_row(stdout, "vertices", "%s, %s pinned", text_count(b->model.vertices).c,
           text_count(b->model.pinned).c);
  text_row(stdout, "springs", "%s", text_count(b->model.springs).c);
  text_row(stdout, "compile", "%s ms", ms_text(b->compile_seconds).c);
  text_row(stdout, "model", "%s, %.0f bytes a vertex", text_bytes(b->model.bytes).c,
           (double)b->model.bytes / n);
  text_row(stdout, "state", "%s, %.0f bytes a vertex", text_bytes(b->model.state_bytes).c,
           (double)b->model.state_bytes / n);
  text_row(stdout, "memory", "reads %.1f GB/s, copies %.1f GB/s", 1e-9 * b->memory.read,
           1e-9 * b->memory.copy);
}

static void print_table(const Benchmark *b) {
  int width = 10;
  for (int q = 0; q < b->count; q++)
    if ((int)strlen(b->entries[q].name) > width) width = (int)strlen(b->entries[q].name);
  printf("\n  %-*s %10s %10s %10s %10s %12s\n", width, "method", "step s", "workspace", "first ms",
         "ms a step", "s per second");
  for (int q = 0; q < b->count; q++) {
    const Entry *e = &b->entries[q];
    if (isnan(e->later.median)) continue;
    printf("  %-*s %10.3g %10s %10s %10s %12.3g", width, e->name, e->h, text_bytes(e->bytes).c,
           ms_text(e->first).c, ms_text(e->later.median).c, e->h / e->later.median);
    if (e->unconverged > 0) printf("  %d of %d did not converge", e->unconverged, e->later.count);
    printf("\n");
  }
  const char *lead = "\n";
  for (int q = 0; q < b->count; q++) {
    if (!b->entries[q].why[0]) continue;
    printf("%s%s: %s\n", lead, b->entries[q].name, b->entries[q].why);
    lead = "";
  }
}

static void json_entry(Json *json, const Entry *e) {
  put_begin(json, NULL, '{');
  put_text(json, "method", e->name);
  put_text(json, "message", e->why[0] ? e->why : NULL);
  put_number(json, "step", e->h);
  put_integer(json, "bytes", (int64_t)e->bytes);
  put_number(json, "first_ms", 1e3 * e->first);
  put_number(json, "ms", 1e3 * e->later.median);
  put_number(json, "spread_ms", 1e3 * e->later.spread);
  put_integer(json, "steps", e->later.count);
  put_integer(json, "unconverged", e->unconverged);
  put_number(json, "simulated_per_second", e->h / e->later.median);
  put_end(json, '}');
}

static void print_json(const Benchmark *b, int code) {
  Json json = {.file = stdout};
  put_begin(&json, NULL, '{');
  put_integer(&json, "exit_code", code);
  put_text(&json, "scene", b->scene);
  put_text(&json, "title", b->title);
  put_integer(&json, "vertices", b->model.vertices);
  put_integer(&json, "springs", b->model.springs);
  put_integer(&json, "pinned", b->model.pinned);
  put_number(&json, "compile_ms", 1e3 * b->compile_seconds);
  put_integer(&json, "model_bytes", (int64_t)b->model.bytes);
  put_integer(&json, "state_bytes", (int64_t)b->model.state_bytes);
  put_number(&json, "read_bytes_per_second", b->memory.read);
  put_number(&json, "copy_bytes_per_second", b->memory.copy);
  put_begin(&json, "methods", '[');
  for (int q = 0; q < b->count; q++) json_entry(&json, &b->entries[q]);
  put_end(&json, ']');
  put_end(&json, '}');
  fputc('\n', stdout);
}

/* ---- The command ----------------------------------------------------------------------------- */

static int bench_model(const Settings *settings, Benchmark *b, const HkModel *model) {
  signals_catch("\nends this method and shows what there is; Ctrl-C again stops at once\n");
  text_status("memory");
  b->memory = bandwidth_measure(settings->threads);
  while (b->count < b->count_all && !signals_caught()) {
    Entry *e = &b->entries[b->count];
    text_status("%s %d of %d", e->name, b->count + 1, b->count_all);
    measure(settings, b, model, e);
    b->count++;
  }
  text_status("%s", "");
  int code = signals_caught() ? EXIT_SIGNAL + signals_caught() : EXIT_GOOD;
  if (settings->json) {
    print_json(b, code);
  } else {
    print_head(b);
    print_table(b);
  }
  if (b->count < b->count_all)
    complain(code, "stopped: %d of %d methods are measured", b->count, b->count_all);
  return code;
}

static int bench_scene(const Settings *settings, Benchmark *b, HkScene *scene) {
  HkError error = {0};
  HkModel *model = NULL;
  scene->time.tolerance = NAN; /* no adaptive steps */
  b->title = scene->title;
  b->implicit_h = candidate_step(scene);
  double began = seconds_now();
  HkStatus status = hk_model_compile(scene, &model, &error);
  b->compile_seconds = seconds_now() - began;
  if (status < 0) return complain_of(&error);
  b->model = hk_model_info(model);
  int code = bench_model(settings, b, model);
  hk_model_destroy(&model);
  return code;
}

/* Ignores messages below a warning, which would be printed between the rows of the table. */
static void log_warning(void *user, HkLogLevel level, const char *text) {
  if (level == HK_LOG_WARNING) text_log(user, level, text);
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  HkError error = {0};
  HkScene *scene = NULL;
  HkContext context = hk_context_default();
  Benchmark b = {.scene = word_count > 0 ? words[0] : "curtain",
                 .entries = calloc(MAX_ENTRIES, sizeof *b.entries)};
  if (!b.entries) return complain(EXIT_MEMORY, "no memory for the results");
  context.log = log_warning;
  context.threads = settings->threads;
  context.libraries = settings->libraries;
  signals_end_program();
  int code = choose(&b, settings->methods);
  if (code == EXIT_GOOD && source_read(&context, b.scene, &settings->sets, &scene, &error) < 0)
    code = complain_of(&error);
  else if (code == EXIT_GOOD)
    code = bench_scene(settings, &b, scene);
  hk_scene_destroy(&scene);
  free(b.entries);
  return code;
}

const Command command_bench = {
    .name = "bench",
    .arguments = "[SCENE]",
    .summary = "measure time and memory of a step by every method",
    .text = "Compiles the scene, the curtain if none is given, and makes some steps of it by every "
            "integrator and by every way to solve backward_euler, each from the start. Prints the "
            "time of a step, the memory, and the seconds of motion for each second of wall time; "
            "also the memory bandwidth of this machine, which limits large scenes. Writes no "
            "file.",
    .examples = "  hooke bench                                all methods on the curtain\n"
                "  hooke bench my.json --methods backward_euler,verlet\n"
                "  hooke bench my.json --methods newton+pcg,local_global --steps 100\n"
                "  hooke bench flag --set 'bodies[0].springs.k=1e5' --threads 1 --json\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 0,
    .most = 1,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
