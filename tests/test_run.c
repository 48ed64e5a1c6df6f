/* Runs: frames, checkpoints, blow-ups. */
#include "world.h"

#include "base/durable.h"
#include "hooke/run.h"
#include "output/checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const cloth = "{'time': {'duration': 0.5, 'step': 0.002, "
                                 "'frames_per_second': 20}, 'bodies': [{'shape': {'type': "
                                 "'grid', 'nx': 6, 'ny': 5}, 'springs': {'k': 200, "
                                 "'damping': 0.1}}], 'pins': [{'select': "
                                 "'top', 'release': 0.3}], 'forces': ['gravity'], "
                                 "'probes': [{'name': 'a', 'select': "
                                 "'bottom'}], 'outputs': ['energies', 'probes', 'solver', 'obj', "
                                 "'vtp', 'vtu', {'type': 'pc2', 'every': "
                                 "2}]}";

static HkScene *parse(const char *text, const char *set) {
  HkScene *scene = NULL;
  HkError error = {0};
  if (hk_scene_parse(NULL, test_json(text), strlen(text), "scene", NULL, &set, set ? 1 : 0, &scene,
                     &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  return scene;
}

/* Runs at most so many frames; the status of the last call. */
static HkStatus run_frames(const HkScene *scene, const HkRunOptions *options, int64_t most,
                           HkProgress *progress, HkError *error) {
  HkRun *run = NULL;
  HkStatus status = hk_run_create(scene, options, &run, error);
  for (int64_t q = 0; q < most && status == HK_OK; q++) status = hk_run_frame(run, error);
  if (run && progress) *progress = hk_run_progress(run);
  hk_run_destroy(&run);
  return status;
}

static bool same_folders(const char *a, const char *b) {
  char command[1024];
  snprintf(command, sizeof command, "diff -rq -x checkpoint.previous '%s' '%s'", a, b);
  return system(command) == 0;
}

static void copy_name(char *to, size_t size, const char *from) {
  snprintf(to, size, "%s/run", from);
}

TEST(run_writes_all_frames_and_ends) {
  HkScene *scene = parse(cloth, NULL);
  HkRunOptions options = hk_run_options_default();
  HkProgress progress = {0};
  HkError why = {0};
  char folder[300], path[400];
  copy_name(folder, sizeof folder, test_folder());
  options.folder = folder;
  CHECK(run_frames(scene, &options, 1000, &progress, &why) == HK_DONE);
  CHECK(progress.frame == 10 && progress.frames == 10 && progress.steps == 250);
  CHECK_NEAR(progress.h, 0.002, 1e-15);
  CHECK(progress.stepping > 0 && progress.writing > 0);
  const char *files[] = {"run.json",
                         "checkpoint",
                         "energies.csv",
                         "probes.csv",
                         "solver.csv",
                         "obj/frame_000010.obj",
                         "vtp/frame_000010.vtp",
                         "vtu/frame_000000.vtu",
                         "vtp.pvd",
                         "mesh.pc2"};
  for (int q = 0; q < 10; q++) {
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, files[q]);
    if (stat(path, &info) != 0 || info.st_size == 0) test_fail(__FILE__, __LINE__, "no %s", path);
  }
  /* A second run in the folder is refused, one with force leaves the same bytes as one in a new
   * folder. */
  FAILS(run_frames(scene, &options, 1000, NULL, error), HK_ERROR_INVALID, "holds a run already");
  options.force = true;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  char other[300];
  copy_name(other, sizeof other, test_folder());
  options.folder = other;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  CHECK(same_folders(folder, other));
  hk_scene_destroy(&scene);
}

TEST(run_that_replaces_another_leaves_nothing_of_it) {
  HkScene *scene = parse(cloth, NULL), *less = parse(cloth, "outputs=[\"obj\"]");
  HkRunOptions options = hk_run_options_default();
  char folder[300], fresh[300];
  copy_name(folder, sizeof folder, test_folder());
  copy_name(fresh, sizeof fresh, test_folder());
  options.folder = folder;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  options.force = true;
  CHECK(run_frames(less, &options, 3, NULL, NULL) == HK_OK);
  options.folder = fresh;
  CHECK(run_frames(less, &options, 3, NULL, NULL) == HK_OK);
  char command[2048]; /* the empty folders of the other outputs may stay */
  snprintf(command, sizeof command, "rmdir '%s/vtp' '%s/vtu' && diff -rq '%s' '%s'", folder, folder,
           folder, fresh);
  CHECK(system(command) == 0);
  hk_scene_destroy(&scene);
  hk_scene_destroy(&less);
}

TEST(resumed_run_leaves_the_same_bytes) {
  HkScene *scene = parse(cloth, NULL);
  HkRunOptions options = hk_run_options_default();
  char whole[300], parts[300];
  copy_name(whole, sizeof whole, test_folder());
  options.folder = whole;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  for (int64_t stop = 0; stop < 10; stop += 3) {
    copy_name(parts, sizeof parts, test_folder());
    options.folder = parts;
    options.resume = false;
    /* Checkpoints at every frame, or only the first: the rest is then done again. */
    options.checkpoint_seconds = stop % 2 ? 0 : 1e9;
    CHECK(run_frames(scene, &options, stop, NULL, NULL) == HK_OK);
    options.resume = true;
    CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
    CHECK(same_folders(whole, parts));
  }
  hk_scene_destroy(&scene);
}

TEST(finished_run_can_be_made_longer) {
  HkScene *scene = parse(cloth, NULL), *longer = parse(cloth, "time.duration=0.8");
  HkRunOptions options = hk_run_options_default();
  char whole[300], parts[300];
  copy_name(whole, sizeof whole, test_folder());
  copy_name(parts, sizeof parts, test_folder());
  options.folder = whole;
  CHECK(run_frames(longer, &options, 1000, NULL, NULL) == HK_DONE);
  options.folder = parts;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  options.resume = true;
  CHECK(run_frames(longer, &options, 1000, NULL, NULL) == HK_DONE);
  CHECK(same_folders(whole, parts));
  FAILS(run_frames(scene, &options, 1, NULL, error), HK_ERROR_INVALID, "beyond the end");
  HkScene *other = parse(cloth, "bodies[0].springs.k=201");
  FAILS(run_frames(other, &options, 1, NULL, error), HK_ERROR_INVALID, "another scene");
  hk_scene_destroy(&other);
  hk_scene_destroy(&scene);
  hk_scene_destroy(&longer);
}

/* Sets 8 bytes at a place of the payload of a checkpoint, and its checksum right again. */
static void forge(const char *from, const char *to, size_t at, const void *value) {
  HkContext c = hk_context_default();
  char *bytes = NULL;
  const char *payload = NULL;
  size_t size = 0;
  MUST(hk_checkpoint_read(&c, from, HK_CHECKPOINT_RUN, &bytes, &payload, &size, error));
  CHECK(at + 8 <= size);
  memcpy(bytes + (payload - bytes) + at, value, 8);
  MUST(hk_checkpoint_write(to, HK_CHECKPOINT_RUN, payload, size, error));
  char previous[420]; /* a run would go on from that */
  snprintf(previous, sizeof previous, "%s.previous", to);
  unlink(previous);
  hk_free(&c, &bytes);
}

TEST(forged_checkpoints_with_a_right_checksum_are_refused) {
  HkScene *scene = parse(cloth, "outputs=[\"energies\"]");
  HkRunOptions options = hk_run_options_default();
  char folder[300], path[400], good[400], command[1024];
  copy_name(folder, sizeof folder, test_folder());
  snprintf(path, sizeof path, "%s/checkpoint", folder);
  snprintf(good, sizeof good, "%s.good", folder);
  snprintf(command, sizeof command, "cp '%s' '%s'", path, good);
  options.folder = folder;
  options.checkpoint_seconds = 0;
  CHECK(run_frames(scene, &options, 3, NULL, NULL) == HK_OK && system(command) == 0);
  options.resume = true;
  /* The head: hash, frame, substep, substeps, halvings, outputs, begun, h, a tally of 10 counters
   * and a gradient, a checksum of 3 words; then written, offset, the checksum and the tally of the
   * output; then the state: fingerprint, n, pins, steps, level, time, given speed, h_old. */
  enum { HEAD = 8, TALLY = 11, SUM = 3, MARK = HEAD + TALLY + SUM, STATE = MARK + 2 + SUM + TALLY };
  static const int counters[] = {1,        2,        3,         4,         HEAD,      HEAD + 1,
                                 HEAD + 3, HEAD + 9, MARK - 1,  MARK,      MARK + 1,  MARK + 4,
                                 MARK + 5, MARK + 8, STATE + 1, STATE + 2, STATE + 3, STATE + 4};
  static const int64_t wrong[] = {-1, INT64_MIN, INT64_MAX};
  for (size_t q = 0; q < sizeof counters / sizeof counters[0]; q++)
    for (int k = 0; k < 3; k++) {
      HkError why = {0};
      forge(good, path, 8 * (size_t)counters[q], &wrong[k]);
      if (run_frames(scene, &options, 1, NULL, &why) >= 0 || !why.text[0])
        test_fail(__FILE__, __LINE__, "the word %d of a checkpoint may be %lld", counters[q],
                  (long long)wrong[k]);
    }
  static const int numbers[] = {7, STATE + 5, STATE + 6};
  for (int q = 0; q < 3; q++) {
    double nan = NAN;
    forge(good, path, 8 * (size_t)numbers[q], &nan);
    CHECK(run_frames(scene, &options, 1, NULL, NULL) < 0);
  }
  forge(good, path, 8, &(int64_t){3}); /* as it was */
  CHECK(run_frames(scene, &options, 1, NULL, NULL) == HK_OK);
  hk_scene_destroy(&scene);
}

TEST(damaged_checkpoint_is_refused) {
  HkScene *scene = parse(cloth, NULL);
  HkRunOptions options = hk_run_options_default();
  char folder[300], path[400];
  copy_name(folder, sizeof folder, test_folder());
  snprintf(path, sizeof path, "%s/checkpoint", folder);
  options.folder = folder;
  CHECK(run_frames(scene, &options, 2, NULL, NULL) == HK_OK);
  char previous[400];
  snprintf(previous, sizeof previous, "%s/checkpoint.previous", folder);
  CHECK(remove(previous) == 0);
  options.resume = true;
  FILE *file = fopen(path, "r+b");
  fseek(file, 100, SEEK_SET);
  int byte = fgetc(file);
  fseek(file, 100, SEEK_SET);
  fputc(byte ^ 1, file);
  fclose(file);
  FAILS(run_frames(scene, &options, 1, NULL, error), HK_ERROR_FORMAT, "checksum");
  file = fopen(path, "wb");
  fclose(file);
  FAILS(run_frames(scene, &options, 1, NULL, error), HK_ERROR_FORMAT, "not a checkpoint");
  remove(path);
  FAILS(run_frames(scene, &options, 1, NULL, error), HK_ERROR_IO, "nothing to resume");
  hk_scene_destroy(&scene);
}

TEST(folder_has_one_run_at_a_time) {
  HkScene *scene = parse(cloth, NULL);
  HkRunOptions options = hk_run_options_default();
  HkRun *run = NULL, *other = NULL;
  char folder[300];
  copy_name(folder, sizeof folder, test_folder());
  options.folder = folder;
  CHECK(hk_run_create(scene, &options, &run, NULL) == HK_OK);
  options.resume = true;
  FAILS(hk_run_create(scene, &options, &other, error), HK_ERROR_INVALID, "another run is writing");
  CHECK(hk_run_close(run, NULL) == HK_OK);
  FAILS(hk_run_frame(run, error), HK_ERROR_INVALID, "the run is closed");
  CHECK(hk_run_create(scene, &options, &other, NULL) == HK_OK);
  hk_run_destroy(&other);
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}

TEST(checksums_do_not_depend_on_the_pieces) {
  char bytes[101];
  HkSum whole = {0};
  for (size_t q = 0; q < sizeof bytes; q++) bytes[q] = (char)(7 * q);
  hk_sum_add(&whole, bytes, sizeof bytes);
  for (size_t first = 0; first <= 20; first++)
    for (size_t second = 0; second <= 20; second++) {
      HkSum sum = {0};
      hk_sum_add(&sum, bytes, first);
      hk_sum_add(&sum, bytes + first, second);
      hk_sum_add(&sum, bytes + first + second, sizeof bytes - first - second);
      CHECK(hk_sum_is(&sum, &whole) && hk_sum_value(&sum) == hk_sum_value(&whole));
    }
  for (size_t q = 0; q < sizeof bytes; q++) {
    HkSum sum = {0};
    bytes[q] ^= 16;
    hk_sum_add(&sum, bytes, sizeof bytes);
    CHECK(hk_sum_value(&sum) != hk_sum_value(&whole));
    bytes[q] ^= 16;
  }
  HkSum longer = whole;
  hk_sum_add(&longer, "\0\0\0", 3);
  CHECK(hk_sum_value(&longer) != hk_sum_value(&whole));
}

TEST(run_that_blows_up_keeps_its_frames_and_says_why) {
  HkScene *scene = parse(cloth, "time.step=0.05");
  HkRunOptions options = hk_run_options_default();
  HkProgress progress = {0};
  HkError why = {0};
  char folder[300], path[400];
  copy_name(folder, sizeof folder, test_folder());
  options.folder = folder;
  hk_scene_destroy(&scene);
  scene = parse(cloth, "bodies[0].springs.k=3e4");
  CHECK(run_frames(scene, &options, 1000, &progress, &why) == HK_ERROR_BLOWUP);
  CHECK(strstr(why.text, "a step below") && strstr(why.text, "spring"));
  struct stat info;
  for (int64_t q = 0; q <= progress.frame; q++) {
    snprintf(path, sizeof path, "%s/obj/frame_%06lld.obj", folder, (long long)q);
    CHECK(stat(path, &info) == 0);
  }
  hk_scene_destroy(&scene);
}

TEST(run_that_blows_up_starts_over_with_a_stable_step_if_asked) {
  const char *sets[] = {"bodies[0].springs.k=3e4", "time.frames_per_second=200"};
  for (int q = 0; q < 2; q++) { /* within the first frame, and over many frames */
    HkScene *scene = parse(cloth, sets[q]);
    scene->bodies[0].springs.k = 3e4;
    HkRunOptions options = hk_run_options_default();
    HkProgress progress = {0};
    char folder[300], whole[300], parts[300];
    copy_name(folder, sizeof folder, test_folder());
    options.folder = folder;
    options.on_blowup = HK_BLOWUP_HALVE;
    CHECK(run_frames(scene, &options, 1000, &progress, NULL) == HK_DONE);
    CHECK(progress.halvings >= 1 && progress.h < progress.stable_h);
    /* The frames are those of a run with that step from the start. */
    double step = scene->time.step;
    scene->time.step = progress.h;
    copy_name(whole, sizeof whole, test_folder());
    options.folder = whole;
    CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
    char command[1024];
    snprintf(command, sizeof command, "diff -rq -x run.json -x 'checkpoint*' '%s' '%s'", folder,
             whole);
    CHECK(system(command) == 0);
    /* Interrupted after it started over, it goes on to the same bytes. */
    scene->time.step = step;
    copy_name(parts, sizeof parts, test_folder());
    options.folder = parts;
    options.checkpoint_seconds = 0;
    CHECK(run_frames(scene, &options, 4, NULL, NULL) == HK_OK);
    options.resume = true;
    CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
    CHECK(same_folders(folder, parts));
    hk_scene_destroy(&scene);
  }
}

static void count_warnings(void *user, HkLogLevel level, const char *text) {
  *(int *)user += level == HK_LOG_WARNING && strstr(text, "will blow up");
}

TEST(run_that_started_over_records_the_step_it_has) {
  HkScene *scene = parse(cloth, "bodies[0].springs.k=3e4");
  HkRunOptions options = hk_run_options_default();
  HkProgress progress = {0};
  char folder[300], expected[64], text[20000] = "";
  copy_name(folder, sizeof folder, test_folder());
  options.folder = folder;
  options.on_blowup = HK_BLOWUP_HALVE;
  int warnings = 0;
  scene->context.log = count_warnings;
  scene->context.log_user = &warnings;
  for (int q = 0; q < 2; q++) { /* started over, and resumed after that */
    options.resume = q == 1;
    CHECK(run_frames(scene, &options, 4, &progress, NULL) == HK_OK);
    CHECK(progress.halvings > 0 && warnings == 1);
    snprintf(expected, sizeof expected, "\"steps_per_frame\": %.0f,", 0.05 / progress.h);
    char path[400];
    snprintf(path, sizeof path, "%s/run.json", folder);
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    CHECK(strstr(text, expected));
  }
  hk_scene_destroy(&scene);
}

TEST(frame_that_cannot_be_written_is_written_by_the_resumed_run) {
  HkScene *scene = parse(cloth, NULL);
  HkRunOptions options = hk_run_options_default();
  char whole[300], parts[300], path[400];
  HkRun *run = NULL;
  copy_name(whole, sizeof whole, test_folder());
  copy_name(parts, sizeof parts, test_folder());
  options.folder = whole;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  options.folder = parts;
  MUST(hk_run_create(scene, &options, &run, error));
  snprintf(path, sizeof path, "%s/obj/frame_000002.obj", parts);
  CHECK(mkdir(path, 0777) == 0);
  MUST(hk_run_frame(run, error));
  FAILS(hk_run_frame(run, error), HK_ERROR_IO, "frame_000002.obj");
  FAILS(hk_run_frame(run, error), HK_ERROR_INVALID, "failed before");
  MUST(hk_run_checkpoint(run, error));
  hk_run_destroy(&run);
  CHECK(rmdir(path) == 0);
  options.resume = true;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  CHECK(same_folders(whole, parts));
  hk_scene_destroy(&scene);
}

TEST(run_that_cannot_begin_leaves_the_earlier_one_alone) {
  HkScene *scene = parse(cloth, NULL),
          *other = parse(cloth, "outputs=[\"energies\", \"energies\"]");
  HkRunOptions options = hk_run_options_default();
  char folder[300], whole[300];
  copy_name(folder, sizeof folder, test_folder());
  copy_name(whole, sizeof whole, test_folder());
  options.folder = whole;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  options.folder = folder;
  CHECK(run_frames(scene, &options, 1000, NULL, NULL) == HK_DONE);
  options.force = true;
  FAILS(run_frames(other, &options, 1, NULL, error), HK_ERROR_INVALID, "already");
  CHECK(same_folders(folder, whole));
  hk_scene_destroy(&scene);
  hk_scene_destroy(&other);
}

TEST(number_of_frames_does_not_suffer_from_rounding) {
  const char *sets[] = {"time.duration=0", "time.duration=0.1", "time.duration=0.12",
                        "time={\"duration\": 524390.8, \"frames_per_second\": 60}"};
  const int64_t frames[] = {0, 2, 3, 31463448};
  for (int q = 0; q < 4; q++) {
    HkScene *scene = parse(cloth, sets[q]);
    HkProgress progress = {0};
    CHECK(run_frames(scene, NULL, 0, &progress, NULL) == HK_OK);
    CHECK(progress.frames == frames[q]);
    hk_scene_destroy(&scene);
  }
}

TEST(states_know_a_spring_file_with_other_damping) {
  char path[300], text[512];
  World w[2];
  snprintf(path, sizeof path, "%s/springs", test_folder());
  snprintf(text, sizeof text, "{'bodies': [{'shape': 'spring', 'springs': {'file': '%s'}}]}", path);
  for (int q = 0; q < 2; q++) {
    FILE *file = fopen(path, "w");
    fprintf(file, "0 1 5 1 %d\n", 1 + q);
    fclose(file);
    w[q] = world_make(text, NULL, 0.001, 1);
    if (!w[q].state) return;
  }
  MUST(hk_state_save(w[0].state, path, error));
  FAILS(hk_state_load(w[1].state, path, error), HK_ERROR_FORMAT, "another model");
  world_destroy(&w[0]);
  world_destroy(&w[1]);
}

TEST(states_are_saved_and_loaded_bit_for_bit) {
  World w = world_builtin("net", NULL, 1), other = world_builtin("trampoline", NULL, 1);
  if (!w.state || !other.state) return;
  char path[300];
  snprintf(path, sizeof path, "%s/state", test_folder());
  HkState *copy = NULL;
  world_steps(&w, 20);
  MUST(hk_state_save(w.state, path, error));
  MUST(hk_state_create(w.model, &copy, error));
  MUST(hk_state_load(copy, path, error));
  world_steps(&w, 20);
  HkState *keep = w.state;
  w.state = copy;
  world_steps(&w, 20);
  size_t bytes = (size_t)hk_state_vertex_count(keep) * 3 * sizeof(double);
  CHECK(memcmp(hk_state_x(keep), hk_state_x(copy), bytes) == 0);
  CHECK(memcmp(hk_state_v(keep), hk_state_v(copy), bytes) == 0);
  CHECK(hk_state_time(keep) == hk_state_time(copy));
  FAILS(hk_state_load(other.state, path, error), HK_ERROR_FORMAT, "another model");
  FAILS(hk_sim_step(w.sim, other.state, error), HK_ERROR_INVALID, "another model");
  hk_state_destroy(&keep);
  world_destroy(&w);
  world_destroy(&other);
}

TEST(folder_that_cannot_be_written_is_one_clear_error) {
  HkScene *scene = parse(cloth, NULL);
  HkRunOptions options = hk_run_options_default();
  char file_path[300], folder[400];
  snprintf(file_path, sizeof file_path, "%s/plain", test_folder());
  FILE *file = fopen(file_path, "w");
  fclose(file);
  snprintf(folder, sizeof folder, "%s/below", file_path);
  options.folder = folder;
  FAILS(run_frames(scene, &options, 1, NULL, error), HK_ERROR_IO, "cannot make the folder");
  /* The reason is that of making the folder, not of looking whether it is there. */
  snprintf(folder, sizeof folder, "%s/link", test_folder());
  CHECK(symlink("/nowhere/at/all", folder) == 0);
  FAILS(run_frames(scene, &options, 1, NULL, error), HK_ERROR_IO, "Not a directory");
  hk_scene_destroy(&scene);
}

typedef struct Copier {
  const char *from, *to;
  int64_t step; /* within the frame at which the folder was copied */
} Copier;

static void copy_once(void *user, const HkProgress *progress) {
  Copier *copier = user;
  char command[1024];
  if (copier->step > 0 || progress->step < 10) return;
  snprintf(command, sizeof command, "cp -r '%s' '%s'", copier->from, copier->to);
  if (system(command) == 0) copier->step = progress->step;
}

/* Frames of that many steps take longer than the time between two reports. */
#if TEST_SANITIZED
enum { LONG = 100000 };
#else
enum { LONG = 400000 };
#endif

TEST(long_frames_notify_progress_and_resume_within) {
  HkScene *scene = parse(cloth, "time.frames_per_second=2");
  scene->time.step = 0.5 / LONG; /* and a checkpoint whenever it looks up */
  HkRunOptions options = hk_run_options_default();
  char whole[300], parts[300];
  copy_name(whole, sizeof whole, test_folder());
  copy_name(parts, sizeof parts, test_folder());
  Copier copier = {.from = whole, .to = parts};
  options.folder = whole;
  options.checkpoint_seconds = 1e-9;
  options.progress = copy_once;
  options.progress_user = &copier;
  CHECK(run_frames(scene, &options, 10, NULL, NULL) == HK_DONE);
  if (copier.step == 0) {
    hk_scene_destroy(&scene);
    SKIP("the frame took less than the time between two reports");
  }
  options = hk_run_options_default();
  options.folder = parts;
  options.resume = true;
  HkProgress progress = {0};
  CHECK(run_frames(scene, &options, 10, &progress, NULL) == HK_DONE);
  CHECK(progress.steps < LONG);
  CHECK(same_folders(whole, parts));
  hk_scene_destroy(&scene);
}

static void write_file(const char *folder, const char *name, const char *text) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file) abort();
  fputs(text, file);
  fclose(file);
}

TEST(run_does_not_write_over_what_is_not_its_own) {
  HkScene *scene = parse(cloth, NULL);
  HkRunOptions options = hk_run_options_default();
  char folder[300];
  snprintf(folder, sizeof folder, "%s", test_folder());
  options.folder = folder;
  write_file(folder, "energies.csv", "precious");
  FAILS(run_frames(scene, &options, 1, NULL, error), HK_ERROR_INVALID, "is not empty");
  options.force = true;
  CHECK(run_frames(scene, &options, 1, NULL, NULL) == HK_OK);
  hk_scene_destroy(&scene);
  /* Not even with force is a mesh replaced that the scene reads, nor a frame that no run wrote. */
  snprintf(folder, sizeof folder, "%s", test_folder());
  write_file(folder, "mesh.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
  char text[800];
  snprintf(text, sizeof text, "{'bodies': [{'mesh': '%s/mesh.obj'}], 'outputs': ['pc2']}", folder);
  scene = parse(text, NULL);
  FAILS(run_frames(scene, &options, 1, NULL, error), HK_ERROR_INVALID, "which the scene reads");
  hk_scene_destroy(&scene);
}
