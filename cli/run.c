/* hooke run: simulates a scene, frame by frame, into a folder.
 *
 * Ctrl-C and SIGTERM set a flag (signals.h) that cancels the step under way: the checkpoint of the
 * last whole step is written, every file closed. A second signal ends the program at once; even
 * that loses nothing that is in the last checkpoint. Signals are caught from frame 0 on: before it
 * there is nothing to save, and a signal ends the program while it loads, as it does by default.
 *
 * With --device petsc, each process that mpirun has started is a rank of one run. All do the same
 * in the same order; rank 0 prints for all. mpirun passes a Ctrl-C on as SIGTERM; all ranks agree
 * on the step after which they end.
 */
#include "hooke/run.h"
#include "command.h"
#include "hooke/device.h"
#include "hooke/ranks.h"
#include "measure/stopwatch.h"
#include "progress.h"
#include "report.h"
#include "signals.h"
#include "source.h"
#include "text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Settings {
  const char *folder;
  TextList sets;
  int threads, device, on_blowup;
  bool resume, force, report, libraries, quiet, json;
  double checkpoint;
  /* Not options: */
  HkRanks *ranks; /* NULL: there are none */
  bool silent;    /* another rank prints */
  char **rest;    /* options of PETSc */
  int rest_count;
} Settings;

static const Option options[] = {
    OPTION_TEXT(Settings, folder, 'o', "--output", "DIR",
                "output folder; the name of the scene and '-out' if not given"),
    OPTION_LIST(Settings, sets, 's', "--set", "PATH=VALUE",
                "set a value of the scene, such as time.step=0.01 or bodies[0].springs.k=500; "
                "may be repeated"),
    OPTION_INTEGER(Settings, threads, 't', "--threads", "N", 0, 0, 4096,
                   "number of threads; all cores if 0 or not given; results do not depend on it"),
    OPTION_LIBRARIES(Settings),
    OPTION_CHOICE(
        Settings, device, 0, "--device", "cpu|cuda|cuda_double|auto|petsc",
        "device that computes the steps: the CPU, or an NVIDIA GPU by the plug-in "
        "libhooke_cuda, in single precision or, for checks, in double precision; auto: the "
        "GPU where there is one and the model is large enough; petsc: all processes that mpirun "
        "has "
        "started, by the plug-in libhooke_petsc; cpu if not given"),
    OPTION_FLAG(Settings, resume, 'r', "--resume", "continue from the checkpoint in the folder"),
    OPTION_FLAG(Settings, force, 'f', "--force",
                "replace an earlier run, or write into a folder that is not empty"),
    OPTION_FLAG(Settings, report, 0, "--report",
                "write report.html into the folder: the motion, plots and facts in one page for "
                "any browser"),
    OPTION_CHOICE(Settings, on_blowup, 0, "--on-blowup", "stop|halve",
                  "when the motion blows up: stop, or start over with half the step"),
    OPTION_NUMBER(Settings, checkpoint, 0, "--checkpoint", "SECONDS", 5, 0, 1e9,
                  "seconds of wall time between two checkpoints; 5 if not given, 0: after each "
                  "frame"),
    OPTION_FLAG(Settings, quiet, 'q', "--quiet", "print errors only"),
    OPTION_FLAG(Settings, json, 0, "--json", "print one JSON object at the end instead of text"),
};

static const char on_ctrl_c[] = "\nwrites a checkpoint and stops; Ctrl-C again stops at once\n";

/* ---- The command line that resumes ----------------------------------------------------------- */

/* Appends a word, in single quotes where a shell would misread it. */
static void append_word(char *line, size_t size, const char *word) {
  size_t used = strlen(line);
  if (used + 8 >= size) return;
  line[used] = ' ';
  text_quote(word, "", line + used + 1, size - used - 1);
}

/* Writes the command line of this run with other words at its end. */
static void command_line(const Settings *settings, const char *name, const char *last, char *line,
                         size_t size) {
  int ranks = settings->ranks ? hk_ranks_count(settings->ranks) : 0;
  if (ranks > 1)
    snprintf(line, size, "mpirun -n %d hooke run", ranks);
  else
    snprintf(line, size, "hooke run");
  append_word(line, size, name);
  if (settings->folder) {
    append_word(line, size, "-o");
    append_word(line, size, settings->folder);
  }
  for (int q = 0; q < settings->sets.count; q++) {
    append_word(line, size, "--set");
    append_word(line, size, settings->sets.texts[q]);
  }
  if (settings->on_blowup == HK_BLOWUP_HALVE && !strstr(last, "halve"))
    append_word(line, size, "--on-blowup=halve");
  if (settings->report) append_word(line, size, "--report");
  if (settings->libraries) append_word(line, size, "--libraries");
  static const char *const devices[] = {"cpu", "cuda", "cuda_double", "auto", "petsc"};
  if (settings->device > 0) append_word(line, size, "--device");
  if (settings->device > 0) append_word(line, size, devices[settings->device]);
  size_t used = strlen(line);
  snprintf(line + used, size - used, " %s", last);
  if (settings->rest_count > 0) append_word(line, size, "--");
  for (int q = 0; q < settings->rest_count; q++) append_word(line, size, settings->rest[q]);
}

/* Writes the command line that repeats the run on any machine, without the folder. */
static void repeating_line(const Settings *settings, const char *name, char *line, size_t size) {
  Settings there = *settings;
  there.folder = NULL;
  char last[32] = "";
  if (settings->threads > 0) snprintf(last, sizeof last, "--threads %d", settings->threads);
  command_line(&there, name, last, line, size);
  if (!last[0]) line[strlen(line) - 1] = 0; /* the blank */
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool has(const char *folder, const char *name) {
  char path[4096];
  struct stat info;
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  return length < (int)sizeof path && stat(path, &info) == 0;
}

static HkRunOptions run_options(const Settings *settings, const char *folder) {
  HkRunOptions o = hk_run_options_default();
  o.folder = folder;
  o.resume = settings->resume;
  o.force = settings->force;
  o.on_blowup = (HkOnBlowup)settings->on_blowup;
  o.checkpoint_seconds = settings->checkpoint;
  return o;
}

/* Starts a run with --resume that has no files yet, such as one that was killed early. */
static void start_if_nothing_to_resume(HkRunOptions *o, Listener *listener) {
  if (!o->resume || has(o->folder, "checkpoint") || has(o->folder, "run.json")) return;
  listener_log(listener, HK_LOG_INFO,
               "there is nothing to resume yet: the run begins at its start");
  o->resume = false;
}

/* Simulates frames until the end, an error or a signal, which cancels the current step. Ranks end
 * only where the run says so to all of them. */
static HkStatus go_on(HkRun *run, const Settings *settings, Progress *progress, HkError *error) {
  while (settings->ranks || !signals_caught()) {
    HkStatus status = hk_run_frame(run, error);
    if (status == HK_ERROR_CANCELLED) break;
    if (status != HK_OK) return status;
    HkProgress at = hk_run_progress(run);
    progress_show(progress, &at);
  }
  HkProgress at = hk_run_progress(run);
  return at.frame < at.frames ? hk_run_checkpoint(run, error) : HK_DONE;
}

/* Writes report.html, whatever the end of the run was. An error of the run itself has priority. */
static HkStatus write_page(HkRun *run, RunReport *r, HkStatus status, HkError *error) {
  HkError why = {0};
  HkStatus written = hk_run_report(run, &why);
  r->page = written >= 0;
  if (written >= 0 || status < 0) return status;
  r->page_failed = status == HK_DONE;
  *error = why;
  return written;
}

/* An error of one rank is that of all. */
static HkStatus agree(const Settings *settings, HkStatus status, HkError *error) {
  return settings->ranks ? hk_ranks_agree(settings->ranks, status, error) : status;
}

static void describe_model(const Settings *settings, const HkModel *model, RunReport *r) {
  HkPartView part;
  r->model = hk_model_info(model);
  if (!hk_model_part(model, &part)) return;
  r->ranks = hk_ranks_count(settings->ranks);
  r->model.vertices = part.total;
  r->model.springs = part.springs;
  r->model.pinned = part.pinned;
}

static void look_at_contacts(HkRun *run, RunReport *r) {
  HkContactView view;
  if (hk_sim_contacts(hk_run_sim(run), hk_run_state(run), &view, NULL) < 0) return;
  r->contact = view.force != NULL;
  r->contacts = view.count;
  r->least_gap = view.least_gap;
  r->friction_work = view.friction_work;
}

static HkStatus simulate(const Settings *settings, Listener *listener, RunReport *r,
                         HkError *error) {
  HkRunOptions o = run_options(settings, r->folder);
  char line[4096];
  HkRun *run;
  repeating_line(settings, r->name, line, sizeof line);
  o.report = settings->report;
  o.command = line;
  o.progress = listener_progress;
  o.progress_user = listener;
  o.cancel = signals_cancel;
  start_if_nothing_to_resume(&o, listener);
  HkStatus status = hk_run_create(r->scene, &o, &run, error);
  if (status < 0) return status;
  signals_catch(settings->quiet ? NULL : on_ctrl_c);
  status = hk_method_copy(hk_sim_method(hk_run_sim(run)), &r->method, error);
  status = agree(settings, status, error);
  if (status < 0) {
    hk_run_destroy(&run);
    return status;
  }
  r->begun = true;
  describe_model(settings, hk_run_model(run), r);
  r->start = hk_run_progress(run);
  hk_sim_state_info(hk_run_sim(run), hk_run_state(run), &r->first);
  if (!settings->quiet && !settings->json) report_head(r);
  Progress progress = progress_start(settings->quiet, &r->start);
  listener->progress = &progress;
  double started = seconds_now();
  status = go_on(run, settings, &progress, error);
  r->seconds = seconds_now() - started;
  progress_clear(&progress);
  listener->progress = NULL;
  r->end = hk_run_progress(run);
  r->whole = status != HK_ERROR_BLOWUP;
  if (r->whole) hk_sim_state_info(hk_run_sim(run), hk_run_state(run), &r->last);
  if (r->whole) look_at_contacts(run, r);
  if (settings->report) status = write_page(run, r, status, error);
  hk_run_destroy(&run);
  return status;
}

/* ---- How it ended ---------------------------------------------------------------------------- */

static void advise_after_blowup(const Settings *settings, const RunReport *r) {
  char line[4096];
  fprintf(stderr, "  kept: frames 0 to %lld in %s\n", (long long)r->end.frame, r->folder);
  if (r->page) fprintf(stderr, "  what there is, in one page: %s/report.html\n", r->folder);
  if (r->end.stable_h == 0 || settings->on_blowup == HK_BLOWUP_HALVE) return;
  command_line(settings, r->name, "--force --on-blowup halve", line, sizeof line);
  fprintf(stderr, "  to start over with smaller steps: %s\n", line);
}

static int print_error(const Settings *settings, RunReport *r, const HkError *error) {
  int code = settings->silent ? exit_code_of(error->status) : complain_of(error);
  r->status = error->status == HK_ERROR_BLOWUP ? "blowup" : "error";
  r->message = error->text;
  if (!r->begun || settings->quiet) return code;
  if (error->status == HK_ERROR_BLOWUP)
    advise_after_blowup(settings, r);
  else if (r->page_failed)
    fprintf(stderr,
            "  all else is written; for the report the scene must run again, with --force\n");
  else
    fprintf(stderr, "  what was written stays; when the cause is removed, go on with: %s\n",
            r->again);
  return code;
}

static int finish(const Settings *settings, RunReport *r, HkStatus status, const HkError *error) {
  int code = EXIT_GOOD;
  if (status < 0) {
    code = print_error(settings, r, error);
  } else if (status == HK_DONE) {
    r->status = "done";
  } else {
    r->status = "interrupted";
    /* mpirun sends SIGTERM, to some ranks perhaps later. */
    code = EXIT_SIGNAL + (settings->ranks ? SIGTERM : signals_caught());
  }
  if (settings->json)
    report_json(r, code);
  else if (status >= 0 && !settings->quiet)
    report_end(r);
  if (code >= EXIT_SIGNAL && !settings->quiet)
    fprintf(stderr, "stopped at frame %lld of %lld; go on with: %s\n", (long long)r->end.frame,
            (long long)r->end.frames, r->again);
  return code;
}

/* ---- Ranks ------------------------------------------------------------------------------------
 */

/* Whether mpirun or srun has started this process as another one than the first: for errors before
 * the ranks are open. */
static bool is_later_process(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                      "SLURM_PROCID"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    const char *rank = getenv(names[k]);
    if (rank) return strcmp(rank, "0") != 0;
  }
  return false;
}

static int refuse(const char *text, const char *way) {
  if (is_later_process()) return EXIT_USAGE;
  return complain(EXIT_USAGE, "%s%s", text, way);
}

/* Opens the ranks of --device petsc. Returns 0, or the exit code after the error is printed. */
static int open_ranks(Settings *settings) {
  HkError error = {0};
  if (settings->device != HK_PETSC && settings->rest_count > 0)
    return complain(EXIT_USAGE,
                    "'%s' is one word too many: words behind '--' are options of PETSc, which "
                    "--device petsc takes",
                    settings->rest[0]);
  if (settings->device != HK_PETSC) return 0;
  if (settings->report)
    return refuse("--report needs the whole model in one process, which --device petsc does not "
                  "have; ",
                  "leave it out, and choose the output vtp or vtu");
  bool there = hk_device_check(HK_PETSC, &error) >= 0;
  if (there &&
      hk_ranks_open(NULL, settings->rest_count, settings->rest, &settings->ranks, &error) >= 0)
    return 0;
  if (is_later_process()) return exit_code_of(error.status);
  return complain(exit_code_of(error.status), "%s%s", error.text,
                  there ? "" : "; 'make petsc' builds the program with it");
}

/* Rank 0 prints for all. */
static void hush(Settings *settings) {
  settings->silent = settings->ranks && hk_ranks_rank(settings->ranks) > 0;
  settings->quiet |= settings->silent;
  settings->json &= !settings->silent;
}

/* ---- The command ------------------------------------------------------------------------------
 */

static HkContext context_of(const Settings *settings, Listener *listener) {
  HkContext context = hk_context_default();
  context.log = listener_log;
  context.log_user = listener;
  context.threads = settings->threads;
  context.libraries = settings->libraries;
  context.device = (HkDeviceKind)settings->device;
  context.ranks = settings->ranks;
  return context;
}

static int run_scene(const Settings *settings, const char *name) {
  char stem[512], folder[520], again[4096];
  HkError error = {0};
  HkScene *scene = NULL;
  Listener listener = {.quiet = settings->quiet};
  HkContext context = context_of(settings, &listener);
  source_stem(name, stem, sizeof stem);
  snprintf(folder, sizeof folder, "%s-out", stem);
  command_line(settings, name, "--resume", again, sizeof again);
  RunReport report = {.name = name, .again = again};
  report.folder = settings->folder ? settings->folder : folder;
  signals_end_program();
  HkStatus status = source_read(&context, name, &settings->sets, &scene, &error);
  status = agree(settings, status, &error);
  report.scene = scene;
  if (status >= 0) status = simulate(settings, &listener, &report, &error);
  int code = finish(settings, &report, status, &error);
  hk_method_clear(&report.method);
  hk_scene_destroy(&scene);
  return code;
}

static int run(const void *chosen, char **words, int word_count) {
  Settings settings = *(const Settings *)chosen;
  settings.rest = words + 1;
  settings.rest_count = word_count - 1;
  if (settings.resume && settings.force)
    return refuse("--resume goes on with a run and --force replaces it: ", "give one");
  int code = open_ranks(&settings);
  if (code) return code;
  hush(&settings);
  code = run_scene(&settings, words[0]);
  fflush(stdout); /* mpirun ends all processes once one has left with an error */
  hk_ranks_close(&settings.ranks);
  return code;
}

const Command command_run = {
    .name = "run",
    .arguments = "SCENE",
    .summary = "simulate a scene into a folder",
    .text =
        "Simulates SCENE, a file or the name of a built-in scene ('hooke scenes' lists them), and "
        "writes into the folder: the frames, energies.csv, run.json, which repeats the run, "
        "and a checkpoint. Ctrl-C ends the step under way, writes the checkpoint of the last whole "
        "step and closes every file; a second Ctrl-C stops at once. --resume continues from the "
        "checkpoint, also after a crash, and ends with the same bytes as a run that was never "
        "stopped. "
        "'mpirun -n N hooke run SCENE --device petsc' divides the model among N processes, on one "
        "machine or several that share the folder; what stands behind '--' are options of PETSc. "
        "--resume may have another N. Of Open MPI, mpirun kills processes a second after Ctrl-C; "
        "'--mca odls_base_sigkill_timeout 60' leaves a large model the time for its checkpoint.",
    .examples = "  hooke run flag                               a built-in scene into flag-out\n"
                "  hooke run my.json -o out --force             replace the run in the folder out\n"
                "  hooke run my.json --set time.duration=20 --set integrator=verlet\n"
                "  hooke run my.json --set 'bodies[0].springs.k=1e5' --on-blowup halve\n"
                "  hooke run my.json --resume                   continue after Ctrl-C or a crash\n"
                "  hooke run my.json --report                   and my-out/report.html\n"
                "  hooke run my.json --device auto              on a GPU if that pays\n"
                "  mpirun -n 4 hooke run my.json --device petsc divided among four processes\n"
                "  mpirun -n 4 hooke run my.json --device petsc -- -log_view\n"
                "  hooke run my.json --quiet --json > result.json\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 1,
    .most = 1,
    .takes_rest = true,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
