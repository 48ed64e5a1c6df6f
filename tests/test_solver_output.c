/* solver.csv and the count of steps that did not converge. */
#include "hooke/run.h"
#include "model/state.h"
#include "world.h"

/* A cloth that falls from one side, 8 steps a frame. */
static const char *const cloth =
    "{'time': {'duration': 0.4, 'step': 0.0125, 'frames_per_second': 10}, 'bodies': [{'shape': "
    "{'type': 'grid', 'nx': 6, 'ny': 5}, 'springs': {'k': 40, 'shear': true}}], 'pins': "
    "[{'select': 'left'}], 'forces': ['gravity'], 'integrator': 'backward_euler', 'outputs': "
    "['solver', 'energies']}";

static const char *const one_iteration = "integrator={\"type\": \"backward_euler\", \"minimizer\": "
                                         "{\"type\": \"newton\", \"iterations\": 1}}";

enum { STEPS = 32, FRAMES = 4, STEPS_A_FRAME = 8 };

typedef struct Warnings {
  int count;
  char text[512]; /* of the last warning */
} Warnings;

static void on_log(void *user, HkLogLevel level, const char *text) {
  Warnings *log = user;
  if (level != HK_LOG_WARNING) return;
  log->count++;
  snprintf(log->text, sizeof log->text, "%s", text);
}

/* Runs to the end in a new folder, or goes on in this one. */
static HkProgress run(const char *set, HkRunOptions options, char *folder, size_t size,
                      Warnings *log) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkRun *made = NULL;
  HkError error = {0};
  HkProgress progress = {0};
  context.log = log ? on_log : NULL;
  context.log_user = log;
  if (!options.folder) snprintf(folder, size, "%s/run", test_folder());
  options.folder = folder;
  const char *text = test_json(cloth);
  HkStatus status = hk_scene_parse(&context, text, strlen(text), "cloth", NULL, &set, set ? 1 : 0,
                                   &scene, &error);
  if (status >= 0) status = hk_run_create(scene, &options, &made, &error);
  while (status == HK_OK) status = hk_run_frame(made, &error);
  if (status != HK_DONE) test_fail(__FILE__, __LINE__, "%s", error.text);
  if (made) progress = hk_run_progress(made);
  hk_run_destroy(&made);
  hk_scene_destroy(&scene);
  return progress;
}

typedef struct Row {
  long long frame, steps, substeps, rejected, iterations, worst, linear, projections, stationary,
      unconverged;
  double time, gradient;
  char reason[32];
} Row;

static int read_rows(const char *folder, Row *rows, int most) {
  char path[400], line[512];
  snprintf(path, sizeof path, "%s/solver.csv", folder);
  FILE *file = fopen(path, "r");
  int count = 0;
  if (!file || !fgets(line, sizeof line, file)) test_fail(path, 0, "cannot be read");
  while (file && count < most && fgets(line, sizeof line, file)) {
    Row *r = &rows[count++];
    if (sscanf(line, "%lld,%lf,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lf,%lld,%lld,%31s", &r->frame,
               &r->time, &r->steps, &r->substeps, &r->rejected, &r->iterations, &r->worst,
               &r->linear, &r->projections, &r->gradient, &r->stationary, &r->unconverged,
               r->reason) != 13)
      test_fail(path, count, "'%s' is no row", line);
  }
  if (file) fclose(file);
  return count;
}

static bool same_folders(const char *a, const char *b) {
  char command[1024];
  snprintf(command, sizeof command, "diff -r -x checkpoint.previous '%s' '%s'", a, b);
  return system(command) == 0;
}

TEST(solver_rows_are_the_info_of_the_steps) {
  char folder[300];
  Row rows[FRAMES + 2] = {0};
  run(NULL, hk_run_options_default(), folder, sizeof folder, NULL);
  CHECK(read_rows(folder, rows, FRAMES + 2) == FRAMES + 1);
  CHECK(rows[0].steps == 0 && rows[0].iterations == 0 && strcmp(rows[0].reason, "none") == 0);
  World w = world_parse(cloth);
  if (!w.state) return;
  MUST(hk_sim_set_h(w.sim, 0.1 / STEPS_A_FRAME, error));
  for (int f = 1; f <= FRAMES; f++) {
    Row sum = {0};
    for (int q = 0; q < STEPS_A_FRAME; q++) {
      world_steps(&w, 1);
      HkStepInfo r = hk_sim_step_info(w.sim);
      w.state->time = (f - 1) * (1 / 10.0) + (q + 1) * hk_sim_h(w.sim);
      sum.iterations += r.iterations;
      sum.linear += r.linear_iterations;
      sum.projections += r.projections;
      if (r.iterations > sum.worst) sum.worst = r.iterations;
      sum.gradient = fmax(sum.gradient, r.gradient);
    }
    w.state->time = f / 10.0;
    CHECK(rows[f].frame == f && rows[f].steps == STEPS_A_FRAME && rows[f].unconverged == 0);
    CHECK(rows[f].iterations == sum.iterations && rows[f].worst == sum.worst);
    CHECK(rows[f].linear == sum.linear && rows[f].projections == sum.projections);
    CHECK(rows[f].gradient == sum.gradient && rows[f].gradient > 0);
    CHECK(rows[f].iterations >= STEPS_A_FRAME && strcmp(rows[f].reason, "converged") == 0);
  }
  world_destroy(&w);
}

TEST(solver_rows_of_explicit_integrators_are_zero) {
  char folder[300];
  Row rows[FRAMES + 2] = {0};
  run("integrator=verlet", hk_run_options_default(), folder, sizeof folder, NULL);
  CHECK(read_rows(folder, rows, FRAMES + 2) == FRAMES + 1);
  for (int f = 1; f <= FRAMES; f++) {
    const Row *r = &rows[f];
    CHECK(r->steps == STEPS_A_FRAME && strcmp(r->reason, "none") == 0);
    CHECK(r->iterations == 0 && r->worst == 0 && r->linear == 0 && r->projections == 0);
    CHECK(r->gradient == 0 && r->unconverged == 0 && r->substeps == 0 && r->rejected == 0);
  }
}

TEST(solver_rows_cover_the_frames_between_them) {
  char folder[300], often[300];
  Row rows[4], all[FRAMES + 2];
  run("outputs=[{\"type\": \"solver\", \"every\": 2}]", hk_run_options_default(), folder,
      sizeof folder, NULL);
  run(NULL, hk_run_options_default(), often, sizeof often, NULL);
  CHECK(read_rows(folder, rows, 4) == 3);
  CHECK(read_rows(often, all, FRAMES + 2) == FRAMES + 1);
  for (int q = 1; q < 3; q++) {
    const Row *a = &all[2 * q - 1], *b = &all[2 * q];
    CHECK(rows[q].steps == 2 * STEPS_A_FRAME);
    CHECK(rows[q].iterations == a->iterations + b->iterations);
    CHECK(rows[q].worst == (a->worst > b->worst ? a->worst : b->worst));
    CHECK(rows[q].gradient == fmax(a->gradient, b->gradient));
  }
}

TEST(steps_that_do_not_converge_are_counted_and_logged_once) {
  char folder[300];
  Row rows[FRAMES + 2] = {0};
  Warnings log = {0};
  HkProgress progress = run(one_iteration, hk_run_options_default(), folder, sizeof folder, &log);
  CHECK(progress.steps == STEPS && progress.unconverged == STEPS);
  CHECK(log.count == 1);
  CHECK(strstr(log.text, "did not converge") && strstr(log.text, "more iterations"));
  CHECK(strstr(log.text, "larger tolerance") && strstr(log.text, "smaller time.step"));
  CHECK(read_rows(folder, rows, FRAMES + 2) == FRAMES + 1);
  for (int f = 1; f <= FRAMES; f++) {
    CHECK(rows[f].unconverged == STEPS_A_FRAME && rows[f].iterations == STEPS_A_FRAME);
    CHECK(strcmp(rows[f].reason, "iterations") == 0);
  }
  log = (Warnings){0};
  progress = run(NULL, hk_run_options_default(), folder, sizeof folder, &log);
  CHECK(progress.unconverged == 0 && log.count == 0);
}

typedef struct Copier {
  const char *from, *to;
  int64_t step;
} Copier;

static void copy_once(void *user, const HkProgress *progress) {
  Copier *copier = user;
  char command[1024];
  if (copier->step > 0 || progress->step < 3) return;
  snprintf(command, sizeof command, "cp -r '%s' '%s'", copier->from, copier->to);
  if (system(command) == 0) copier->step = progress->step;
}

TEST(solver_rows_survive_a_checkpoint_within_a_frame) {
  /* One frame of thousands of steps: progress is called within it, and a checkpoint is written
   * before its end. */
  static const char *const slow =
      "time={\"duration\": 0.4, \"step\": 5e-5, \"frames_per_second\": 2.5}";
  char whole[300], parts[300];
  HkRunOptions options = hk_run_options_default();
  snprintf(parts, sizeof parts, "%s/run", test_folder());
  Copier copier = {.from = whole, .to = parts};
  options.checkpoint_seconds = 0.01;
  options.progress = copy_once;
  options.progress_user = &copier;
  HkProgress all = run(slow, options, whole, sizeof whole, NULL);
  if (copier.step == 0) SKIP("the frame took less than the time between two reports");
  options = hk_run_options_default();
  options.resume = true;
  options.folder = parts;
  HkProgress rest = run(slow, options, parts, sizeof parts, NULL);
  CHECK(rest.steps < all.steps);
  CHECK(same_folders(whole, parts));
  Row rows[3] = {0};
  CHECK(read_rows(parts, rows, 3) == 2);
  CHECK(rows[1].steps == all.steps);
}

/* A whole part, and parts that are thrown away, are only there to estimate the error. */
TEST(adaptive_steps_report_the_reason_of_the_parts_that_are_kept) {
  World w = world_parse(
      "{'time': {'step': 1e-4, 'tolerance': 1e-3}, 'integrator': {'type': 'backward_euler', "
      "'minimizer': {'type': 'vertex_block_descent', 'iterations': 1}}, 'bodies': [{'shape': "
      "'spring', 'springs': {'k': 100}, 'mass': 0.001, 'stretch': [0.5, 1, 1]}], 'outputs': []}");
  HkError error = {0};
  if (!w.state) return;
  HkStatus status = hk_sim_step(w.sim, w.state, &error);
  CHECK(status == HK_OK && hk_sim_step_info(w.sim).reason < HK_STOP_ITERATIONS);
  CHECK(hk_sim_step_info(w.sim).iterations == 3); /* the work of all three solves counts */
  world_destroy(&w);
}
