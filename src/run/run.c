/* HkRun: simulates frame by frame and writes each one; see run.h. */
#include "run/run.h"

#include "base/clock.h"
#include "model/part.h"
#include "run/folder.h"

#include <stdio.h>
#include <string.h>

static const double PROGRESS_INTERVAL = 0.1; /* s */

/* Duration (s) of a batch of steps, during which the run cannot show progress or stop. */
static const double BATCH_MIN_SECONDS = 0.005, BATCH_MAX_SECONDS = 0.02;

HkRunOptions hk_run_options_default(void) {
  return (HkRunOptions){.checkpoint_seconds = 5};
}

/* ---- Outputs ---- */

/* Returns the parameter 'every', which is the first one of each output (HK_EVERY_COMES_FIRST). */
static int every_of(const HkOutput *o) {
  int every;
  memcpy(&every, o->params, sizeof every);
  return every;
}

/* Ranks hold parts of the model: some outputs need it whole. */
static HkStatus check_ranks(const HkRun *run, const HkOutput *o, const char *path, HkError *error) {
  if (!run->context.ranks || o->type->ranks != HK_OUTPUT_NOT_ON_RANKS) return HK_OK;
  return hk_fail_key(error, HK_ERROR_UNSUPPORTED, path,
                     "the device petsc does not support the output '%s'; leave it out, or choose "
                     "among energies, solver, probes, reactions, vtp, vtu, obj and pc2",
                     o->type->schema.name);
}

static HkStatus make_outputs(HkRun *run, const HkScene *scene, HkError *error) {
  const HkContext *c = &run->context;
  if (!run->folder) return HK_OK;
  HK_TRY(hk_alloc(c, &run->methods, scene->output_count, sizeof *run->methods, "outputs", error));
  HK_TRY(hk_alloc(c, &run->outputs, scene->output_count, sizeof *run->outputs, "outputs", error));
  for (int q = 0; q < scene->output_count; q++) {
    const HkMethod *method = &scene->outputs[q];
    char path[32];
    snprintf(path, sizeof path, "outputs[%d]", q);
    for (int p = 0; p < q; p++)
      if (scene->outputs[p].schema == method->schema)
        return hk_fail_key(error, HK_ERROR_INVALID, path, "there is an output '%s' already",
                           method->schema->name);
    HkOutput *o = &run->outputs[q];
    o->context = *c;
    o->type = hk_output_type(method->schema);
    if (!o->type) return hk_fail_key(error, HK_ERROR_INVALID, path, "this is not an output");
    HK_TRY(check_ranks(run, o, path, error));
    HK_TRY(hk_method_check(method, HK_OUTPUT, path, error));
    run->output_count++;
    HK_TRY(hk_method_copy(method, &run->methods[q], error));
    o->params = run->methods[q].params;
    o->folder = run->folder;
    o->ledger = &run->ledger;
    o->frame_interval = run->interval * every_of(o);
    o->frame_count = run->frames / every_of(o) + 1;
  }
  HK_TRY(
      hk_alloc(c, &run->reaction, 3 * run->model->pin_count, sizeof *run->reaction, "pins", error));
  return hk_alloc(c, &run->force, 3 * run->model->n, sizeof *run->force, "forces", error);
}

/* Whether this process takes part in an output. */
static bool takes_part(const HkRun *run, const HkOutput *o) {
  return hk_run_is_first(run) || o->type->ranks == HK_OUTPUT_OF_ALL_RANKS;
}

static HkStatus open_outputs(HkRun *run, HkError *error) {
  HkStatus status = hk_run_is_first(run) ? hk_ledger_open(&run->ledger, error) : HK_OK;
  HK_TRY(hk_run_agree(run, status, error));
  for (int q = 0; q < run->output_count; q++) {
    HkOutput *o = &run->outputs[q];
    status = takes_part(run, o) ? o->type->open(o, run->model, error) : HK_OK;
    HK_TRY(hk_run_agree(run, status, error));
  }
  return HK_OK;
}

/* Adds the steps of the frame to the tallies of the outputs, which may write less often. */
static void pass_tally(HkRun *run) {
  for (int q = 0; q < run->output_count; q++) hk_tally_add(&run->outputs[q].tally, &run->tally);
  run->tally = (HkTally){0};
}

static HkStatus write_frame(HkRun *run, HkError *error) {
  HkTally work = run->tally;
  pass_tally(run);
  HkFrame frame = {run->model, run->state, run->frame, run->force, &run->info, run->reaction, NULL};
  if (hk_forces_have_contacts(run->model)) frame.contacts = &run->contacts;
  if (run->page) hk_page_add(run->page, &frame, &work, run->seconds);
  run->seconds = 0;
  for (int q = 0; q < run->output_count; q++) {
    HkOutput *o = &run->outputs[q];
    if (run->frame % every_of(o) != 0) continue;
    HkStatus status = takes_part(run, o) ? o->type->write(o, &frame, error) : HK_OK;
    HK_TRY(hk_run_agree(run, status, error));
    o->written++;
    o->tally = (HkTally){0};
  }
  return HK_OK;
}

/* ---- Progress and cancellation ---- */

/* Calls the progress callback if PROGRESS_INTERVAL has passed. */
static void show_progress(HkRun *run) {
  double now = hk_wall_time();
  if (!run->progress || now - run->last_progress < PROGRESS_INTERVAL) return;
  HkProgress at = hk_run_progress(run);
  run->progress(run->progress_user, &at);
  run->last_progress = now;
}

/* HkCancelFn of the run's simulation: long steps show progress, too. */
static bool look_in_step(void *user) {
  HkRun *run = user;
  show_progress(run);
  if (run->context.ranks) return hk_run_ask_ranks(run);
  return run->cancel && run->cancel(run->cancel_user);
}

/* ---- Starting ---- */

/* Checks for cancellation between the parts of loading a scene. */
static HkStatus check_cancel(HkRun *run, HkError *error) {
  bool mine = run->cancel && run->cancel(run->cancel_user);
  if (!hk_model_any(run->model, mine)) return HK_OK;
  return hk_fail(error, HK_ERROR_CANCELLED, "the run was cancelled before its first frame");
}

/* Sets the times of frames, multiples of the interval, and a step that divides it evenly. */
static HkStatus plan_time(HkRun *run, HkError *error) {
  const HkTime *time = &run->model->time;
  run->interval = 1 / time->frames_per_second;
  double frames = time->duration * time->frames_per_second;
  frames = ceil(frames - 1e-9 - 1e-12 * frames); /* rounding errors do not add a frame */
  if (!(frames < 1e15))
    return hk_fail_key(error, HK_ERROR_INVALID, "time", "%g frames are too many", frames);
  run->frames = (int64_t)frames;
  HK_TRY(hk_sim_create(run->model, NULL, time->step, &run->sim, error));
  if (run->progress || run->cancel || run->context.ranks)
    hk_sim_set_cancel(run->sim, look_in_step, run);
  HK_TRY(check_cancel(run, error));
  HK_TRY(hk_sim_stable_step(run->sim, run->state, &run->stable_h, error));
  /* 0.033 s is meant to be a thirtieth, unless a longer step might not be stable. */
  double slack = isinf(run->stable_h) ? 0.02 : 1e-9;
  double wanted = run->sim->h, substeps = ceil(run->interval / wanted - slack);
  if (!(substeps < HK_RUN_STEPS_MAX))
    return hk_fail_key(error, HK_ERROR_INVALID, "time.step", "%g steps a frame are too many",
                       substeps);
  run->substeps = substeps < 1 ? 1 : (int64_t)substeps;
  return hk_sim_set_h(run->sim, run->interval / (double)run->substeps, error);
}

/* Logs a step that was changed, or that is not stable. */
static void log_step(const HkRun *run) {
  double wanted = run->model->time.step;
  if (fabs(run->sim->h - wanted) > 1e-9 * wanted && wanted > 0 && run->halvings == 0)
    hk_log(&run->context, HK_LOG_INFO,
           "step %g s made %g s, so that a frame of %g s has %lld step%s", wanted, run->sim->h,
           run->interval, (long long)run->substeps, run->substeps == 1 ? "" : "s");
  if (run->stable_h == 0)
    hk_log(&run->context, HK_LOG_WARNING, "%s is not stable at any step for this system",
           run->sim->type->schema.name);
  else if (run->sim->h > run->stable_h)
    hk_log(&run->context, HK_LOG_WARNING,
           "step %g s is above the largest stable one, about %g s: the motion will blow up",
           run->sim->h, run->stable_h);
}

static HkStatus name_folder(HkRun *run, const char *folder, HkError *error) {
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') length--;
  HK_TRY(hk_alloc(&run->context, &run->folder, (int64_t)length + 1, 1, "a name", error));
  memcpy(run->folder, folder, length);
  run->ledger.context = run->context;
  run->ledger.folder = run->folder;
  return HK_OK;
}

/* Makes, locks and claims the folder: rank 0 does it for all. */
static HkStatus claim_folder(HkRun *run, const HkScene *scene, const HkRunOptions *options,
                             HkError *error) {
  HkStatus status = name_folder(run, options->folder, error);
  if (hk_run_is_first(run)) {
    if (status >= 0) status = hk_folder_make(run->folder, error);
    if (status >= 0) status = hk_folder_lock(run->folder, &run->lock, error);
    if (status >= 0 && !options->resume)
      status = hk_folder_claim(run->folder, scene, options->force, &run->replaces, error);
  }
  HK_TRY(hk_run_agree(run, status, error));
  hk_run_share(run, &run->replaces, sizeof run->replaces);
  return HK_OK;
}

/* Writes a checkpoint first, which replaces an earlier one: a run that is killed at any moment can
 * be resumed. */
static HkStatus open_files(HkRun *run, HkError *error) {
  if (!run->begun) HK_TRY(hk_run_check_frame(run, error));
  if (!run->begun) HK_TRY(hk_run_checkpoint(run, error));
  HkStatus status = HK_OK;
  if (hk_run_is_first(run)) {
    status = hk_run_write_record(run, error);
    if (status >= 0 && !run->begun && !run->repairs) hk_folder_clear(run->folder, run->replaces);
  }
  HK_TRY(hk_run_agree(run, status, error));
  HK_TRY(open_outputs(run, error));
  if (run->begun && run->page) hk_run_take_up_report(run);
  if (run->begun) return HK_OK;
  HK_TRY(write_frame(run, error));
  run->begun = true;
  return hk_run_checkpoint(run, error);
}

static HkStatus prepare(HkRun *run, HkError *error) {
  return hk_run_agree(run, hk_sim_prepare(run->sim, run->state, error), error);
}

static HkStatus refuse_report(const HkRunOptions *options, HkError *error) {
  if (!options->report) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "the device petsc does not support the report, which needs the whole model in one "
                 "process; leave it out, and choose the output vtp or vtu");
}

/* The options of rank 0 hold for all: no rank may take another way. */
static void share_options(HkRun *run, HkRunOptions *options) {
  struct {
    bool folder, resume, force, report;
    HkOnBlowup on_blowup;
    double seconds;
  } all = {options->folder != NULL, options->resume,    options->force,
           options->report,         options->on_blowup, options->checkpoint_seconds};
  hk_run_share(run, &all, sizeof all);
  if (!all.folder) options->folder = NULL;
  options->resume = all.resume;
  options->force = all.force;
  options->report = all.report;
  options->on_blowup = all.on_blowup;
  options->checkpoint_seconds = all.seconds;
}

static HkStatus begin(HkRun *run, const HkScene *scene, const HkRunOptions *options,
                      HkError *error) {
  if (run->context.ranks) HK_TRY(refuse_report(options, error));
  HK_TRY(hk_run_check_memory(scene, error));
  HK_TRY(hk_model_compile(scene, &run->model, error));
  HK_TRY(check_cancel(run, error));
  HK_TRY(hk_run_agree(run, hk_state_create(run->model, &run->state, error), error));
  HK_TRY(plan_time(run, error));
  HK_TRY(check_cancel(run, error));
  if (!options->resume) HK_TRY(prepare(run, error));
  if (!options->folder) return HK_OK;
  HK_TRY(claim_folder(run, scene, options, error));
  HK_TRY(hk_run_agree(run, make_outputs(run, scene, error), error));
  HK_TRY(hk_run_agree(run, hk_run_make_record(run, scene, error), error));
  hk_run_share(run, &run->scene_hash, sizeof run->scene_hash); /* names of files may differ */
  if (options->resume) HK_TRY(hk_run_read_checkpoint(run, error));
  if (options->report) HK_TRY(hk_run_begin_report(run, scene, options->command, error));
  return open_files(run, error);
}

HkStatus hk_run_create(const HkScene *scene, const HkRunOptions *options, HkRun **run,
                       HkError *error) {
  HkContext c = scene->context;
  HkRunOptions defaults = hk_run_options_default();
  if (options) defaults = *options;
  *run = NULL;
  if (c.ranks) share_options(&(HkRun){.context = c}, &defaults);
  options = &defaults;
  if (!(options->checkpoint_seconds >= 0))
    return hk_fail(error, HK_ERROR_INVALID, "checkpoints cannot be %g s apart; give 0 or more",
                   options->checkpoint_seconds);
  HK_TRY(hk_alloc(&c, run, 1, sizeof **run, "a run", error));
  (*run)->context = c;
  if (!hk_run_is_first(*run)) (*run)->context.log = NULL; /* rank 0 speaks for all */
  (*run)->batch = 1;
  (*run)->lock = -1;
  (*run)->on_blowup = options->on_blowup;
  (*run)->checkpoint_seconds = options->checkpoint_seconds;
  (*run)->progress = options->progress;
  (*run)->progress_user = options->progress_user;
  (*run)->cancel = options->cancel;
  (*run)->cancel_user = options->cancel_user;
  HkLocale locale = hk_locale_enter();
  HkStatus status = begin(*run, scene, options, error);
  if (status >= 0) log_step(*run);
  hk_locale_leave(&locale);
  if (status < 0) hk_run_destroy(run);
  return status;
}

void hk_run_destroy(HkRun **run) {
  HkRun *r = *run;
  if (!r) return;
  HkContext c = r->context;
  for (int q = 0; q < r->output_count; q++) {
    r->outputs[q].type->close(&r->outputs[q], NULL);
    hk_method_clear(&r->methods[q]);
  }
  hk_ledger_close(&r->ledger, NULL);
  hk_page_destroy(&r->page);
  hk_free(&c, &r->outputs);
  hk_free(&c, &r->methods);
  hk_free(&c, &r->folder);
  hk_text_destroy(&r->record);
  hk_free(&c, &r->force);
  hk_free(&c, &r->reaction);
  hk_free(&c, &r->packed);
  hk_sim_destroy(&r->sim);
  hk_state_destroy(&r->state);
  hk_model_destroy(&r->model);
  hk_folder_unlock(&r->lock);
  hk_free(&c, run);
}

/* ---- Stepping ---- */

/* By the clock of rank 0. */
static bool is_checkpoint_due(const HkRun *run) {
  bool due = hk_wall_time() - run->last_checkpoint >= run->checkpoint_seconds;
  hk_run_share(run, &due, sizeof due);
  return due;
}

/* Shows progress and writes a due checkpoint within a long frame. */
static HkStatus pause_in_frame(HkRun *run, HkError *error) {
  show_progress(run);
  if (run->checkpoint_seconds > 0 && is_checkpoint_due(run)) return hk_run_checkpoint(run, error);
  return HK_OK;
}

/* Adapts the number of steps of a batch to its duration, on ranks that of rank 0; the results do
 * not depend on it. */
static void pick_batch(HkRun *run, int64_t made, double seconds) {
  if (!run->sim->type->open || run->sim->whole) return;
  hk_run_share(run, &seconds, sizeof seconds);
  if (seconds < BATCH_MIN_SECONDS && made == run->batch && run->batch < INT64_MAX / 2)
    run->batch *= 2;
  if (seconds > BATCH_MAX_SECONDS && run->batch > 1) run->batch /= 2;
}

static void count_time(HkRun *run, double seconds) {
  run->seconds += seconds;
  run->stepping += seconds;
}

/* Asynchronous steps: fetches the frame and queues the steps of the next one, which run while this
 * one is written. Steps that did not converge are counted and do not end the run. */
static HkStatus step_ahead(HkRun *run, HkError *error) {
  HkStepper *stepper = run->sim->stepper;
  HkStepsInfo info = {0};
  HkClock clock = {(double)run->frame * run->interval, run->substep};
  int64_t count = run->substeps - run->substep;
  HK_TRY(hk_sim_advance(run->sim, run->state, count, &clock, error));
  run->state->time = (double)(run->frame + 1) * run->interval;
  HK_TRY(stepper->type->settle(stepper, run->state, &info, error));
  hk_run_count_steps(run, &info, count);
  run->substep = 0;
  if (run->frame + 1 >= run->frames) return HK_OK;
  HkClock next = {run->state->time, 0};
  return stepper->type->run_ahead(stepper, run->state, run->substeps, &next, error);
}

static HkStatus step_to_frame(HkRun *run, HkError *error) {
  HkClock clock = {(double)run->frame * run->interval, 0};
  if (run->sim->stepper->type->asynchronous) {
    double before = hk_wall_time();
    HkStatus status = step_ahead(run, error);
    count_time(run, hk_wall_time() - before);
    return status;
  }
  while (run->substep < run->substeps) {
    double before = hk_wall_time();
    int64_t left = run->substeps - run->substep, done = run->state->steps;
    int64_t count = run->batch < left ? run->batch : left;
    clock.first = run->substep;
    HkStatus status = hk_sim_advance(run->sim, run->state, count, &clock, error);
    double seconds = hk_wall_time() - before;
    count_time(run, seconds);
    int64_t made = run->state->steps - done;
    if (status == HK_ERROR_BLOWUP) hk_run_count(run, status, made - 1);
    if (status == HK_ERROR_CANCELLED && made > 0) hk_run_count(run, HK_OK, made);
    if (status < 0) return status;
    hk_run_count(run, status, count);
    pick_batch(run, count, seconds);
    if (run->substep < run->substeps) HK_TRY(pause_in_frame(run, error));
  }
  run->substep = 0;
  run->state->time = (double)(run->frame + 1) * run->interval;
  return HK_OK;
}

/* Reopens the outputs from their beginning. */
static HkStatus reopen_outputs(HkRun *run, HkError *error) {
  for (int q = 0; q < run->output_count; q++) {
    HkOutput *o = &run->outputs[q];
    HK_TRY(hk_run_agree(run, o->type->close(o, error), error));
    o->offset = o->written = 0;
    o->sum = (HkSum){0};
    o->tally = (HkTally){0};
  }
  if (!run->folder) return HK_OK;
  HK_TRY(hk_run_agree(run, hk_ledger_close(&run->ledger, error), error));
  run->ledger.sum = (HkSum){0};
  run->begun = run->has_checkpoint = false;
  return open_files(run, error);
}

/* Restarts the run with half the step: frames before a blow-up have errors of the same step, though
 * they are not yet beyond the bound, and cannot be trusted. */
static HkStatus halve(HkRun *run, const HkError *why, HkError *error) {
  HkState *start;
  HkStatus status = hk_state_create(run->model, &start, error);
  if (status >= 0) {
    hk_state_destroy(&run->state);
    run->state = start;
  }
  HK_TRY(hk_run_agree(run, status, error));
  run->frame = run->substep = 0;
  run->tally = (HkTally){0};
  run->seconds = 0;
  if (run->page) hk_page_clear(run->page);
  do {
    run->halvings++;
    run->substeps *= 2;
    HK_TRY(hk_sim_set_h(run->sim, run->interval / (double)run->substeps, error));
  } while (run->sim->h > run->stable_h && run->halvings < HK_RUN_HALVINGS_MAX);
  hk_log(&run->context, HK_LOG_WARNING, "%s; back to the start with step %g s", why->text,
         run->sim->h);
  HK_TRY(prepare(run, error));
  HkLocale locale = hk_locale_enter();
  status = reopen_outputs(run, error);
  hk_locale_leave(&locale);
  return status;
}

static HkStatus next_frame(HkRun *run, HkError *error) {
  for (;;) {
    HkError inner = {0};
    HkStatus status = step_to_frame(run, &inner);
    if (status >= 0) status = hk_run_check_frame(run, &inner);
    if (status >= 0) break;
    bool again = status == HK_ERROR_BLOWUP && run->on_blowup == HK_BLOWUP_HALVE &&
                 run->stable_h > 0 && run->halvings < HK_RUN_HALVINGS_MAX;
    if (!again) {
      if (error) *error = inner;
      return status;
    }
    HK_TRY(halve(run, &inner, error));
  }
  run->frame++;
  double before = hk_wall_time();
  HkLocale locale = hk_locale_enter();
  HkStatus status = write_frame(run, error);
  hk_locale_leave(&locale);
  run->writing += hk_wall_time() - before;
  HK_TRY(status);
  bool due = run->frame == run->frames || is_checkpoint_due(run);
  return due ? hk_run_checkpoint(run, error) : HK_OK;
}

HkStatus hk_run_frame(HkRun *run, HkError *error) {
  if (run->broken)
    return hk_fail(error, HK_ERROR_INVALID, "the run failed before; resume it from its checkpoint");
  if (run->frame >= run->frames) return HK_DONE;
  if (run->closed)
    return hk_fail(error, HK_ERROR_INVALID, "the run is closed; resume it from its checkpoint");
  HkError why = {0};
  HkStatus status = next_frame(run, &why);
  run->broken = status < 0 && status != HK_ERROR_CANCELLED;
  if (run->broken) hk_folder_unlock(&run->lock); /* a broken run writes no further frame */
  if (run->broken) run->why = why;
  if (status < 0 && error) *error = why;
  return status;
}

HkStatus hk_run_checkpoint(HkRun *run, HkError *error) {
  if (!run->folder || run->broken || run->closed) return HK_OK;
  double before = hk_wall_time();
  HK_TRY(hk_run_write_checkpoint(run, error));
  run->last_checkpoint = hk_wall_time();
  run->writing += run->last_checkpoint - before;
  return HK_OK;
}

HkStatus hk_run_close(HkRun *run, HkError *error) {
  HK_TRY(hk_run_checkpoint(run, error));
  run->closed = true;
  hk_folder_unlock(&run->lock);
  return HK_OK;
}

HkProgress hk_run_progress(const HkRun *run) {
  return (HkProgress){.frame = run->frame,
                      .frames = run->frames,
                      .step = run->substep,
                      .substeps = run->substeps,
                      .steps = run->steps,
                      .stationary = run->stationary,
                      .unconverged = run->unconverged,
                      .halvings = run->halvings,
                      .time = run->state->time,
                      .duration = (double)run->frames * run->interval,
                      .part = run->sim->part,
                      .h = run->interval / (double)run->substeps, /* sim->h: of an adaptive part */
                      .stable_h = run->stable_h,
                      .stepping = run->stepping,
                      .writing = run->writing};
}

const HkModel *hk_run_model(const HkRun *run) {
  return run->model;
}

HkSim *hk_run_sim(HkRun *run) {
  return run->sim;
}

HkState *hk_run_state(HkRun *run) {
  return run->state;
}
