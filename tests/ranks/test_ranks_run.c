/* Runs on ranks: files, checkpoints, cancellation and errors. The program is tested by run_test.py.
 */
#include "ranks.h"

#include "base/ranks.h"
#include "hooke/run.h"
#include "model/part.h"
#include "model/state.h"
#include "output/part_checkpoint.h"
#include "step/sim.h"

#include <unistd.h>

static const char *const flag_sets[] = {"integrator=symplectic_euler", "time.step=0.0001",
                                        "time.duration=0.2",
                                        "outputs=[\"energies\",\"probes\",\"vtu\",\"pc2\"]", NULL};

static bool is_first(void) {
  return hk_ranks_rank(test_ranks()) == 0;
}

static HkRunOptions options_for(const char *folder) {
  HkRunOptions o = hk_run_options_default();
  o.folder = folder;
  o.force = true;
  return o;
}

/* Compiles no scene of its own: the run does. NULL after a failed check. */
static HkRun *begin_run(const HkScene *scene, const HkRunOptions *options) {
  HkRun *run = NULL;
  HkError error = {0};
  if (hk_run_create(scene, options, &run, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  return run;
}

/* The largest distance (m) of owned vertices from the state of a whole model. */
static double distance(HkRun *run, const double *whole) {
  HkPartView view;
  double most = 0;
  const double *x = hk_state_positions(hk_run_state(run));
  int64_t n = hk_state_vertex_count(hk_run_state(run));
  if (!hk_model_part(hk_run_model(run), &view)) return INFINITY;
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < 3 && !view.ghost[i]; c++)
      most = fmax(most, fabs(x[3 * i + c] - whole[3 * view.number[i] + c]));
  return hk_model_most(hk_run_model(run), most);
}

TEST(a_run_that_goes_on_has_the_bits_of_one_process) {
  HkScene *whole = ranks_scene("flag", flag_sets, NULL);
  HkScene *scene = ranks_scene("flag", flag_sets, test_ranks());
  HkRunOptions nowhere = hk_run_options_default(), options = options_for(ranks_folder());
  HkRun *one = begin_run(whole, &nowhere), *run = begin_run(scene, &options);
  if (one && run) {
    while (hk_run_frame(one, NULL) == HK_OK) continue;
    for (int k = 0; k < 3; k++) MUST(hk_run_frame(run, error));
    MUST(hk_run_close(run, error));
    hk_run_destroy(&run);
    options.force = false;
    options.resume = true;
    run = begin_run(scene, &options);
  }
  if (one && run) {
    CHECK(hk_run_progress(run).frame == 3);
    while (hk_run_frame(run, NULL) == HK_OK) continue;
    CHECK(hk_run_progress(run).frame == hk_run_progress(one).frame);
    CHECK(distance(run, hk_state_positions(hk_run_state(one))) == 0);
  }
  hk_run_destroy(&one);
  hk_run_destroy(&run);
  hk_scene_destroy(&whole);
  hk_scene_destroy(&scene);
}

/* Cancels on the last rank alone. */
static bool cancel_on_last(void *user) {
  int64_t *asked = user;
  return ++*asked > 20 && hk_ranks_rank(test_ranks()) == hk_ranks_count(test_ranks()) - 1;
}

TEST(a_cancellation_of_one_rank_ends_all_at_the_same_step) {
  static const char *const sets[] = {
      "integrator=symplectic_euler", "time.step=0.0001",
      "time.duration=100", /* minutes of work, so that it is cancelled before */
      "outputs=[\"energies\"]", NULL};
  HkScene *scene = ranks_scene("flag", sets, test_ranks());
  HkRunOptions options = options_for(ranks_folder());
  int64_t asked = 0;
  options.cancel = cancel_on_last;
  options.cancel_user = &asked;
  HkRun *run = begin_run(scene, &options);
  HkStatus status = HK_OK;
  while (run && status == HK_OK) status = hk_run_frame(run, NULL);
  if (run) {
    double steps = (double)hk_run_state(run)->steps;
    CHECK(status == HK_ERROR_CANCELLED);
    CHECK(hk_model_most(hk_run_model(run), steps) == -hk_model_most(hk_run_model(run), -steps));
    MUST(hk_run_checkpoint(run, error));
  }
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}

TEST(the_options_of_the_first_rank_hold_for_all) {
  HkScene *scene = ranks_scene("flag", flag_sets, test_ranks());
  HkRunOptions options = options_for(ranks_folder());
  if (!is_first()) options.resume = options.report = true;
  if (!is_first()) options.checkpoint_seconds = 0;
  HkRun *run = begin_run(scene, &options);
  while (run && hk_run_frame(run, NULL) == HK_OK) continue;
  CHECK(run && hk_run_progress(run).frame == hk_run_progress(run).frames);
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}

TEST(what_needs_the_whole_model_is_refused_by_name) {
  static const char *const sets[] = {"integrator=symplectic_euler", "outputs=[\"contacts\"]", NULL};
  HkScene *scene = ranks_scene("flag", sets, test_ranks());
  HkScene *plain = ranks_scene("flag", flag_sets, test_ranks());
  HkRunOptions options = options_for(ranks_folder());
  HkRun *run = NULL;
  FAILS(hk_run_create(scene, &options, &run, error), HK_ERROR_UNSUPPORTED, "'contacts'");
  options.report = true;
  FAILS(hk_run_create(plain, &options, &run, error), HK_ERROR_UNSUPPORTED, "report");
  RanksWorld w = {0};
  MUST(ranks_world("flag", flag_sets, test_ranks(), &w, error));
  FAILS(hk_state_save(w.state, "state", error), HK_ERROR_UNSUPPORTED, "HkRun");
  FAILS(hk_state_load(w.state, "state", error), HK_ERROR_UNSUPPORTED, "HkRun");
  ranks_world_destroy(&w);
  hk_scene_destroy(&scene);
  hk_scene_destroy(&plain);
}

TEST(a_frame_that_is_not_finite_names_the_vertex_of_the_whole_model) {
  enum { VERTEX = 1234 };
  HkScene *scene = ranks_scene("flag", flag_sets, test_ranks());
  HkRunOptions options = options_for(ranks_folder());
  HkRun *run = begin_run(scene, &options);
  HkError error = {0};
  if (run) {
    int64_t i = hk_part_find(hk_run_model(run)->part, VERTEX);
    if (i >= 0) hk_state_x(hk_run_state(run))[3 * i] = 1e200;
    CHECK(hk_run_frame(run, &error) == HK_ERROR_BLOWUP);
    char mine[sizeof error.text], first[sizeof error.text];
    memcpy(mine, error.text, sizeof mine);
    memcpy(first, error.text, sizeof first);
    ranks_share(first, sizeof first);
    CHECK(strcmp(mine, first) == 0);
  }
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}

/* ---- Checkpoints ---- */

/* Fills a state with values that follow from vertex numbers, ghosts too. */
static void fill(const HkModel *m, HkState *s) {
  double *const vectors[] = {s->x, s->v, s->x_old, s->v_old};
  for (int64_t i = 0; i < m->n; i++)
    for (int k = 0; k < 12; k++)
      vectors[k / 3][3 * i + k % 3] = (double)m->part->number[i] + 0.01 * (k + 1);
  for (int64_t q = 0; q < m->pin_count; q++)
    s->pin_held[q] = (uint8_t)(m->part->number[m->pin_vertex[q]] % 3);
}

TEST(a_checkpoint_keeps_the_history_and_the_pins_of_all_vertices) {
  RanksWorld w = {0};
  char path[400], head[] = "head of the caller", *read = NULL;
  size_t size = 0;
  HkState *other = NULL;
  snprintf(path, sizeof path, "%s/checkpoint", ranks_folder());
  MUST(ranks_world("flag", flag_sets, test_ranks(), &w, error));
  HkState *s = w.state;
  size_t bytes = (size_t)w.model->n * 3 * sizeof(double);
  MUST(hk_state_need_history(s, error));
  fill(w.model, s);
  s->h_old = 0.125;
  s->steps = 77;
  s->time = 3.5;
  MUST(hk_part_checkpoint_write(w.model, s, path, head, sizeof head, error));
  MUST(hk_state_create(w.model, &other, error));
  MUST(hk_part_checkpoint_read_head(w.model, path, &read, &size, error));
  CHECK(size == sizeof head && memcmp(read, head, size) == 0);
  MUST(hk_part_checkpoint_read(w.model, other, path, error));
  CHECK(other->h_old == s->h_old && other->steps == s->steps && other->time == s->time);
  CHECK(memcmp(other->x, s->x, bytes) == 0 && memcmp(other->v, s->v, bytes) == 0);
  CHECK(memcmp(other->x_old, s->x_old, bytes) == 0 && memcmp(other->v_old, s->v_old, bytes) == 0);
  CHECK(s->pin_count == 0 || memcmp(other->pin_held, s->pin_held, (size_t)s->pin_count) == 0);
  hk_free(&w.model->context, &read);
  hk_state_destroy(&other);
  ranks_world_destroy(&w);
}

TEST(memory_of_a_force_on_one_rank_is_refused_by_all) {
  RanksWorld w = {0};
  HkForceMemory *memory = NULL;
  char path[400];
  snprintf(path, sizeof path, "%s/checkpoint", ranks_folder());
  MUST(ranks_world("flag", flag_sets, test_ranks(), &w, error));
  if (is_first()) MUST(hk_state_need_memory(w.state, 1, &memory, error));
  if (is_first()) MUST(hk_force_memory_write(memory, "x", 1, error));
  FAILS(hk_part_checkpoint_write(w.model, w.state, path, "", 0, error), HK_ERROR_UNSUPPORTED,
        "memory of forces");
  ranks_world_destroy(&w);
}

/* Overwrites a byte of the file at an offset from its end, on rank 0; the others wait. */
static void damage(const char *path, long from_end) {
  char byte = 0;
  if (is_first()) {
    FILE *file = fopen(path, "r+b");
    if (file && fseek(file, -from_end, SEEK_END) == 0) {
      byte = (char)fgetc(file);
      byte ^= 1;
      fseek(file, -from_end, SEEK_END);
      fwrite(&byte, 1, 1, file);
    }
    if (file) fclose(file);
  }
  ranks_share(&byte, sizeof byte);
}

TEST(damage_anywhere_in_a_checkpoint_is_noticed_by_all_ranks) {
  RanksWorld w = {0};
  char path[400];
  snprintf(path, sizeof path, "%s/checkpoint", ranks_folder());
  MUST(ranks_world("flag", flag_sets, test_ranks(), &w, error));
  long total = (long)w.model->part->total, size = total * (6 * (long)sizeof(double) + 1);
  const long places[] = {1, total + 5, total + 24 * (total / 2), size - 3, size + 4};
  for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
    MUST(hk_part_checkpoint_write(w.model, w.state, path, "head", 5, error));
    damage(path, places[k]);
    FAILS(hk_part_checkpoint_read(w.model, w.state, path, error), HK_ERROR_FORMAT, "is damaged");
  }
  MUST(hk_part_checkpoint_write(w.model, w.state, path, "head", 5, error));
  if (is_first()) CHECK(truncate(path, size) == 0);
  FAILS(hk_part_checkpoint_read(w.model, w.state, path, error), HK_ERROR_FORMAT, "is damaged");
  MUST(hk_part_checkpoint_write(w.model, w.state, path, "head", 5, error));
  MUST(hk_part_checkpoint_read(w.model, w.state, path, error));
  ranks_world_destroy(&w);
}

TEST(a_state_of_another_model_is_refused) {
  static const char *const stiffer[] = {"integrator=symplectic_euler", "bodies[0].springs.EA=11",
                                        NULL};
  RanksWorld w = {0}, other = {0};
  char path[400];
  snprintf(path, sizeof path, "%s/checkpoint", ranks_folder());
  MUST(ranks_world("flag", flag_sets, test_ranks(), &w, error));
  MUST(ranks_world("flag", stiffer, test_ranks(), &other, error));
  MUST(hk_part_checkpoint_write(w.model, w.state, path, "", 0, error));
  FAILS(hk_part_checkpoint_read(other.model, other.state, path, error), HK_ERROR_FORMAT,
        "another model");
  ranks_world_destroy(&w);
  ranks_world_destroy(&other);
}

TEST(counts_of_a_part_are_those_of_the_whole_model) {
  RanksWorld w = {0}, whole = {0};
  HkPartView view = {0};
  MUST(ranks_world("flag", flag_sets, test_ranks(), &w, error));
  MUST(ranks_world("flag", flag_sets, NULL, &whole, error));
  CHECK(hk_model_part(w.model, &view));
  CHECK(view.total == whole.model->n && view.pinned == whole.model->pin_count);
  CHECK(view.springs == whole.model->springs.count);
  ranks_world_destroy(&w);
  ranks_world_destroy(&whole);
}

TEST(the_error_of_one_rank_is_that_of_all) {
  int last = hk_ranks_count(test_ranks()) - 1;
  HkError error = {.text = "of another rank"};
  HkStatus mine = HK_OK;
  if (hk_ranks_rank(test_ranks()) == last) {
    mine = HK_ERROR_IO;
    snprintf(error.text, sizeof error.text, "of the last rank");
  }
  CHECK(hk_ranks_agree(test_ranks(), mine, &error) == HK_ERROR_IO);
  CHECK(strcmp(error.text, "of the last rank") == 0);
}
