/* hooke fit: numbers of a scene that lead to a recorded motion.
 *
 * The loss is the mean square distance to the target (fit_motion.h); its gradient comes from a tape
 * (hooke/adjoint.h), the minimum from L-BFGS within bounds (hooke/fit.h). Over a long motion a loss
 * has many valleys, since masses swing out of step; over a short one it has few. So the first 2
 * frames are fitted, then 4 from there, 8, and so on up to all.
 */
#include "hooke/fit.h"

#include "command.h"
#include "fit_files.h"
#include "measure/stopwatch.h"
#include "progress.h"
#include "signals.h"
#include "source.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Settings {
  const char *target, *parameters, *folder;
  TextList bounds, sets;
  int iterations, threads;
  double memory, tolerance;
  bool at_once, force, libraries, quiet;
} Settings;

static const Option options[] = {
    OPTION_TEXT(Settings, target, 0, "--target", "FILE",
                "motion to fit to: a point cache (.pc2) of all vertices; or CSV with the columns "
                "time,vertex,x,y,z, or those of probes, time,NAME.x,NAME.y,NAME.z, as probes.csv "
                "has them"),
    OPTION_TEXT(Settings, parameters, 'p', "--parameters", "NAMES",
                "numbers to find, with commas between them: springs.k, springs.l0 or "
                "springs.damping of every spring; numbers of bodies, of forces and of motions of "
                "pins: bodies[0].springs.k, bodies[*].mass.total, forces[0].velocity, "
                "pins[0].motion.amplitude"),
    OPTION_LIST(Settings, bounds, 'b', "--bounds", "NAME=MIN,MAX",
                "bounds of one of them; may be repeated. What cannot be negative stays within a "
                "factor of 1000 of its start if not given, rest lengths of springs within 2"),
    OPTION_TEXT(Settings, folder, 'o', "--output", "DIR",
                "output folder; the name of the scene and '-fit' if not given"),
    OPTION_LIST(Settings, sets, 's', "--set", "PATH=VALUE",
                "set a value of the scene first; may be repeated"),
    OPTION_INTEGER(Settings, iterations, 'n', "--iterations", "N", 200, 1, 1000000,
                   "largest number of iterations with all frames; 200 if not given"),
    OPTION_NUMBER(Settings, tolerance, 0, "--tolerance", "T", 1e-6, 0, 1,
                  "the gradient, as a part of that of the start, at which a fit has converged; "
                  "1e-6 if not given"),
    OPTION_FLAG(Settings, at_once, 0, "--at-once",
                "fit all frames from the beginning, instead of 2, 4, 8 ... of them first"),
    OPTION_NUMBER(Settings, memory, 0, "--memory", "MB", 1024, 1, 1e9,
                  "memory for the states of a motion; what does not fit is computed again; 1024 if "
                  "not given"),
    OPTION_INTEGER(Settings, threads, 't', "--threads", "N", 0, 0, 4096,
                   "number of threads; all cores if 0 or not given; results do not depend on it"),
    OPTION_LIBRARIES(Settings),
    OPTION_FLAG(Settings, force, 'f', "--force", "replace an earlier fit in the folder"),
    OPTION_FLAG(Settings, quiet, 'q', "--quiet", "print errors only"),
};

static const double SAVE_SECONDS = 10; /* between two copies of what is found so far */
/* The gradient is checked along a random direction, relative to its norm. */
static const double CHECK_STEP = 1e-4, CHECK_TOLERANCE = 0.05;
/* Stages before the last one only have to come near. */
static const double STAGE_DECREASE = 1e-2, STAGE_TOLERANCE = 1e-3;

typedef struct Fitting {
  const Settings *settings;
  HkContext context;
  Listener listener;
  Progress progress;
  HkScene *scene;
  HkModel *model; /* at the start; owns the probes of the target */
  FitTarget target;
  FitNumbers numbers;
  FitMotion motion;
  FitResult result;
  double *q, *min, *max; /* of the fit */
  double *g;             /* dL/dq */
  double gradient;       /* norm of the gradient at the start, of all frames */
  int stage, stages;
  double began, saved;
  HkFitInfo info; /* of the last stage that has begun */
  char summary[512];
  HkError lost; /* a file that could not be written */
} Fitting;

/* ---- Stages ---------------------------------------------------------------------------------- */

static int stage_count(const Fitting *f) {
  int stages = 1;
  for (int64_t frames = 2; frames < f->target.frames && !f->settings->at_once; frames *= 2)
    stages++;
  return stages;
}

/* Frames of the target that count in a stage. */
static int64_t frames_of(const Fitting *f, int stage) {
  if (stage == f->stages - 1) return f->target.frames;
  return (int64_t)2 << stage;
}

static int iterations_of(const Fitting *f, int stage) {
  int last = f->settings->iterations;
  return stage == f->stages - 1 || last < 4 ? last : last / 2;
}

static HkFitSettings settings_of(const Fitting *f) {
  HkFitSettings s = hk_fit_settings_default();
  s.iterations = iterations_of(f, f->stage);
  s.tolerance = f->settings->tolerance;
  s.gradient = f->gradient;
  s.step_max = 1; /* q are logarithms or parts of typical sizes */
  if (f->stage == f->stages - 1) return s;
  s.tolerance = fmax(s.tolerance, STAGE_TOLERANCE);
  s.decrease = STAGE_DECREASE;
  return s;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static bool add_row(Fitting *f, const HkFitInfo *info) {
  FitResult *r = &f->result;
  if (r->count == r->capacity) {
    int64_t capacity = 2 * r->capacity + 256;
    FitRow *rows = realloc(r->rows, (size_t)capacity * sizeof *rows);
    if (!rows) return false;
    r->rows = rows;
    r->capacity = capacity;
  }
  r->rows[r->count++] = (FitRow){.stage = f->stage,
                                 .iteration = info->iterations,
                                 .evaluations = info->evaluations,
                                 .frames = f->motion.frames,
                                 .seconds = seconds_now() - f->began,
                                 .rms = sqrt(2 * info->loss),
                                 .projected = info->gradient};
  return true;
}

static HkStatus save(Fitting *f, const double *q, HkError *error) {
  fit_numbers_set(&f->numbers, q);
  f->saved = seconds_now();
  HkStatus status = fit_write_scene(&f->result, error);
  return status < 0 ? status : fit_write_losses(&f->result, error);
}

/* HkFitProgressFn */
static bool show(void *user, const HkFitInfo *info, const double *q) {
  Fitting *f = user;
  int64_t whole = 0, before = 0;
  for (int s = 0; s < f->stages; s++) {
    if (s < f->stage) before += iterations_of(f, s);
    whole += iterations_of(f, s);
  }
  HkProgress at = {.frame = before + info->iterations, .frames = whole, .substeps = 1};
  progress_show(&f->progress, &at);
  if (!add_row(f, info)) return false;
  if (seconds_now() - f->saved > SAVE_SECONDS && save(f, q, &f->lost) < 0) return false;
  return !signals_caught();
}

/* ---- The gradient ---------------------------------------------------------------------------- */

static void say(Fitting *f, const char *warning) {
  Listener listener = {.quiet = f->settings->quiet, .progress = &f->progress};
  listener_log(&listener, HK_LOG_WARNING, warning);
}

/* Sets `at` to q moved along a random direction; returns dL along it by the gradient g, and |g|. */
static double move(const Fitting *f, const double *g, double step, double *at, double *norm) {
  unsigned random = 1;
  double slope = 0, sum = 0;
  for (int64_t k = 0; k < f->numbers.count; k++) {
    random = 1664525 * random + 1013904223;
    double d = random >> 31 ? 1 : -1;
    at[k] = fmin(fmax(f->q[k] + step * d, f->min[k]), f->max[k]);
    slope += g[k] * d;
    sum += g[k] * g[k];
  }
  *norm = sqrt(sum);
  return slope;
}

/* Compares the gradient with a central difference along a random direction. A difference that is
 * far off means that motions have no useful derivative here, which a warning says. */
static HkStatus check_gradient(Fitting *f, HkError *error) {
  double loss[2], here, norm, slope = 0;
  double *at = calloc((size_t)f->numbers.count, sizeof *at);
  double *g = calloc((size_t)f->numbers.count, sizeof *g);
  HkStatus status = HK_ERROR_MEMORY;
  if (at && g) {
    status = fit_motion_loss(&f->motion, f->q, &here, f->g, error);
    for (int side = 0; side < 2 && status >= 0; side++) {
      slope = move(f, f->g, (2 * side - 1) * CHECK_STEP, at, &norm);
      status = fit_motion_loss(&f->motion, at, &loss[side], g, error);
    }
  } else {
    text_fail(error, status, "out of memory");
  }
  if (status >= 0 && isfinite(loss[0]) && isfinite(loss[1])) {
    double difference = (loss[1] - loss[0]) / (2 * CHECK_STEP);
    if (fabs(difference - slope) > CHECK_TOLERANCE * (norm + fabs(difference)))
      say(f, "the gradient differs from central differences by more than a twentieth, so the "
             "fit may end early: lower the tolerance of the minimizer "
             "(integrator.minimizer.tolerance), or see docs/gradients.md for motions that "
             "have no useful derivative");
  }
  free(at);
  free(g);
  return status;
}

/* ---- The fit --------------------------------------------------------------------------------- */

/* Root of the mean square distance over all frames, and of each; the gradient. */
static HkStatus look(Fitting *f, double *all, double *frames, double *gradient, HkError *error) {
  double loss = NAN;
  f->motion.frames = f->target.frames;
  for (int64_t k = 0; k < f->target.frames; k++) f->motion.square[k] = NAN;
  HkStatus status = fit_motion_loss(&f->motion, f->q, &loss, gradient, error);
  for (int64_t k = 0; k < f->target.frames; k++) frames[k] = sqrt(f->motion.square[k]);
  *all = sqrt(2 * loss);
  return status;
}

/* The distance at the start, and what the gradient there says about the sizes of numbers. */
static HkStatus begin(Fitting *f, HkError *error) {
  HkStatus status = look(f, &f->result.start, f->result.rms_before, f->g, error);
  if (status < 0) return status;
  double square = 0;
  fit_numbers_balance(&f->numbers, f->g);
  fit_numbers_begin(&f->numbers, f->q, f->min, f->max);
  status = fit_motion_loss(&f->motion, f->q, &f->info.loss, f->g, error);
  for (int64_t k = 0; k < f->numbers.count; k++) square += f->g[k] * f->g[k];
  f->gradient = sqrt(square);
  f->motion.frames = frames_of(f, 0);
  return status < 0 ? status : check_gradient(f, error);
}

static HkStatus fit_stages(Fitting *f, HkError *error) {
  HkStatus status = HK_OK;
  for (f->stage = 0; f->stage < f->stages && status >= 0; f->stage++) {
    HkFitSettings settings = settings_of(f);
    settings.progress = show;
    settings.progress_user = f;
    f->motion.frames = frames_of(f, f->stage);
    status = hk_fit(&f->context, f->numbers.count, f->q, f->min, f->max, fit_motion_loss,
                    &f->motion, &settings, &f->info, error);
  }
  if (f->lost.status < 0) *error = f->lost;
  return f->lost.status < 0 ? f->lost.status : status;
}

static void summarize(Fitting *f, HkStatus status) {
  static const char *const ends[] = {"converged", "the loss has leveled off without converging",
                                     "did not converge: the iterations are used up",
                                     "did not converge: no step lowers the loss further"};
  const FitResult *r = &f->result;
  const char *end = status < 0 ? "stopped before its end" : ends[f->info.end];
  snprintf(
      f->summary, sizeof f->summary,
      "%s after %lld iterations in %s: distance %.4g m before, %.4g m after, over %lld frames; "
      "%d of %s numbers at a bound%s",
      end, (long long)r->count, text_duration(seconds_now() - f->began).c, r->start, r->end,
      (long long)f->target.frames, f->info.at_bounds, text_count(f->numbers.count).c,
      f->motion.info.relative_error > 0.01
          ? "; steps were not solved well enough for their derivatives"
          : "");
}

/* Writes what was found, after an error and a signal, too. */
static HkStatus finish(Fitting *f, HkStatus status, HkError *error) {
  memcpy(f->result.rms_after, f->result.rms_before,
         (size_t)f->target.frames * sizeof *f->result.rms_after);
  f->result.end = NAN;
  f->motion.cancel = NULL; /* the last look has to be made */
  hk_sim_set_cancel(f->motion.sim, NULL, NULL);
  look(f, &f->result.end, f->result.rms_after, f->g, NULL); /* or it stays unknown */
  summarize(f, status);
  f->result.summary = f->summary;
  HkStatus saved = save(f, f->q, status < 0 ? NULL : error);
  if (saved >= 0) saved = fit_write_report(&f->result, status < 0 ? NULL : error);
  return status < 0 ? status : saved;
}

static HkStatus fit(Fitting *f, HkError *error) {
  HkStatus status = begin(f, error);
  f->listener.quiet = true; /* the same warnings would come with every loss */
  return status < 0 ? status : finish(f, fit_stages(f, error), error);
}

/* ---- The command ----------------------------------------------------------------------------- */

static int make_folder(const Settings *settings, const char *folder) {
  char path[4096];
  struct stat info;
  if (mkdir(folder, 0777) == 0) return EXIT_GOOD;
  if (errno != EEXIST || stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
    return complain(EXIT_FILE, "%s: cannot make the folder: %s", folder,
                    errno == EEXIST ? "there is a file of that name" : strerror(errno));
  snprintf(path, sizeof path, "%s/scene.json", folder);
  if (settings->force || stat(path, &info) != 0) return EXIT_GOOD;
  return complain(EXIT_FILE,
                  "%s: there is a scene in it already; --force replaces it, -o DIR "
                  "takes another folder",
                  folder);
}

/* What is needed before the first loss; errors are printed. */
static int prepare(Fitting *f) {
  const Settings *s = f->settings;
  HkError error = {0};
  HkStatus status = source_read(&f->context, f->result.name, &s->sets, &f->scene, &error);
  if (status >= 0) status = hk_model_compile(f->scene, &f->model, &error);
  if (status >= 0) status = fit_target_read(&f->target, s->target, f->scene, f->model, &error);
  int code = status < 0
                 ? complain_of(&error)
                 : fit_numbers_parse(&f->numbers, f->scene, f->model, s->parameters, &s->bounds);
  int64_t frames = f->target.frames;
  if (code == EXIT_GOOD) {
    double **arrays[] = {
        &f->q, &f->min, &f->max, &f->g, &f->result.rms_before, &f->result.rms_after};
    for (int k = 0; k < 6; k++) {
      *arrays[k] = calloc((size_t)(k < 4 ? f->numbers.count : frames), sizeof **arrays[k]);
      if (!*arrays[k]) code = complain(EXIT_MEMORY, "out of memory");
    }
  }
  if (code == EXIT_GOOD) {
    f->motion.memory = (size_t)(s->memory * 1048576);
    f->motion.cancel = signals_cancel;
    if (fit_motion_create(&f->motion, &f->numbers, &f->target, &error) < 0)
      code = complain_of(&error);
  }
  return code;
}

static int fit_scene(Fitting *f) {
  HkError error = {0};
  const Settings *s = f->settings;
  int code = prepare(f);
  if (code == EXIT_GOOD) code = make_folder(s, f->result.folder);
  if (code != EXIT_GOOD) return code;
  fit_numbers_begin(&f->numbers, f->q, f->min, f->max);
  f->stages = stage_count(f);
  signals_catch(s->quiet ? NULL
                         : "\nwrites what was found and stops; Ctrl-C again stops at once\n");
  f->began = seconds_now(); /* the first iteration is saved at once */
  f->progress = progress_start(s->quiet, &(HkProgress){.frames = 1, .substeps = 1});
  f->progress.unit = "iterations";
  f->listener.progress = &f->progress;
  HkStatus status = fit(f, &error);
  progress_clear(&f->progress);
  f->listener.progress = NULL;
  if (signals_caught() && !f->summary[0])
    return complain(EXIT_SIGNAL + signals_caught(), "stopped before the first iteration");
  if (signals_caught())
    return complain(EXIT_SIGNAL + signals_caught(), "stopped: %s; what was found is in %s",
                    f->summary, f->result.folder);
  if (status < 0) return complain_of(&error);
  if (s->quiet) return EXIT_GOOD;
  printf("%s: %s\n", f->result.name, f->summary);
  printf("  %s/scene.json, loss.csv, report.html; hooke run %s/scene.json simulates it\n",
         f->result.folder, f->result.folder);
  return EXIT_GOOD;
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  char stem[512], folder[520];
  (void)word_count;
  if (!settings->target || !settings->parameters)
    return complain(EXIT_USAGE, "give --target FILE, the motion to fit to, and --parameters NAMES, "
                                "such as springs.k");
  source_stem(words[0], stem, sizeof stem);
  snprintf(folder, sizeof folder, "%s-fit", stem);
  Fitting f = {.settings = settings, .listener = {.quiet = settings->quiet}};
  f.result = (FitResult){.name = words[0],
                         .target = settings->target,
                         .folder = settings->folder ? settings->folder : folder,
                         .motion = &f.motion};
  f.context = hk_context_default();
  f.context.log = listener_log;
  f.context.log_user = &f.listener;
  f.context.threads = settings->threads;
  f.context.libraries = settings->libraries;
  signals_end_program();
  int code = fit_scene(&f);
  double *const arrays[] = {f.q, f.min, f.max, f.g, f.result.rms_before, f.result.rms_after};
  for (int k = 0; k < 6; k++) free(arrays[k]);
  free(f.result.rows);
  fit_motion_destroy(&f.motion);
  fit_numbers_release(&f.numbers);
  fit_target_release(&f.target);
  hk_model_destroy(&f.model);
  hk_scene_destroy(&f.scene);
  return code;
}

const Command command_fit = {
    .name = "fit",
    .arguments = "SCENE",
    .summary = "find numbers of a scene that lead to a recorded motion",
    .text =
        "Finds the numbers of --parameters with which SCENE moves as the motion of --target, "
        "and writes into a folder: scene.json with these numbers, which runs as it is; "
        "loss.csv; report.html with the loss, the numbers and how far each frame is off. The "
        "loss is the mean square distance to the target; its gradient goes back through the "
        "steps, L-BFGS keeps the numbers within their bounds. Few frames are fitted first, then "
        "more and more of them. Ctrl-C writes what was found so far.",
    .examples = "  hooke fit net.json --target seen.csv -p springs.k\n"
                "  hooke fit flag.json --target mesh.pc2 -p 'forces[1].velocity,forces[1].gust'\n"
                "  hooke fit my.json --target probes.csv -p 'bodies[0].mass.total' -o found\n"
                "  hooke fit net.json --target seen.csv -p springs.k -b springs.k=10,1000\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 1,
    .most = 1,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
