/* Steps that are cancelled from outside: when they end, and what they leave. */
#include "hooke/run.h"
#include "world.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define CLOTH                                                                                      \
  "{'time': {'duration': 0.2, 'step': 0.002, 'frames_per_second': 10%s}, 'integrator': %s, "       \
  "'bodies': [{'shape': {'type': 'grid', 'nx': 12, 'ny': 12}, 'springs': {'k': 500, 'shear': "     \
  "true, 'damping': 0.1}}], 'pins': [{'select': 'top_left', 'release': 0.005}, {'select': "        \
  "'top_right'}], 'forces': ['gravity', {'type': 'wind', 'velocity': [2, 0, 1]}], 'outputs': "     \
  "['energies', 'solver']}"

/* Cancels at the ask-th question; 0: never. */
typedef struct Asker {
  int64_t asked, ask;
} Asker;

static bool ask(void *user) {
  Asker *a = user;
  return ++a->asked == a->ask;
}

/* The state as bytes, to be freed. */
static char *bytes_of(const HkState *state, size_t *size) {
  *size = hk_state_packed_size(state);
  char *bytes = malloc(*size);
  hk_state_pack(state, bytes);
  return bytes;
}

static bool same_states(const HkState *a, const HkState *b) {
  size_t size_a, size_b;
  char *bytes_a = bytes_of(a, &size_a), *bytes_b = bytes_of(b, &size_b);
  bool same = size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0;
  free(bytes_a);
  free(bytes_b);
  return same;
}

static World make(const char *integrator, const char *tolerance) {
  char text[2048];
  snprintf(text, sizeof text, CLOTH, tolerance, integrator);
  return world_parse(text);
}

#define NEWTON(linear)                                                                             \
  "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': " linear "}}"

static const char *const integrators[] = {
    "'symplectic_euler'",
    "'linear_implicit_euler'",
    "'backward_euler'",
    "'bdf2'",
    "'implicit_midpoint'",
    NEWTON("'ldlt'"),
    NEWTON("{'type': 'pcg', 'preconditioner': 'multigrid'}"),
    NEWTON("'gauss_seidel'"),
    "{'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'factor': 'ldlt'}}",
    "{'type': 'backward_euler', 'minimizer': 'lbfgs'}",
    "{'type': 'backward_euler', 'minimizer': 'vertex_block_descent'}",
    "{'type': 'backward_euler', 'minimizer': 'jacobi'}",
    "{'type': 'backward_euler', 'minimizer': 'gradient_descent'}",
};
enum { INTEGRATORS = sizeof integrators / sizeof integrators[0], STEPS = 5 };

/* Makes the steps of `plain` in `w`, each of them cancelled once, further and further into it. */
static void cancel_each_step(World *w, World *plain, const char *integrator) {
  HkState *before = NULL;
  Asker never = {0};
  MUST(hk_state_create(w->model, &before, error));
  for (int q = 0; q < STEPS; q++) {
    HkError why = {0};
    never.asked = 0;
    hk_sim_set_cancel(plain->sim, ask, &never);
    CHECK(hk_sim_step(plain->sim, plain->state, NULL) >= 0);
    Asker once = {.ask = 1 + q * (never.asked - 1) / (STEPS - 1)};
    MUST(hk_state_copy(w->state, before, error));
    hk_sim_set_cancel(w->sim, ask, &once);
    CHECK(hk_sim_step(w->sim, w->state, &why) == HK_ERROR_CANCELLED && why.text[0]);
    if (!same_states(before, w->state))
      test_fail(__FILE__, __LINE__, "%s: step %d, cancelled at question %lld, moves the state",
                integrator, q, (long long)once.ask);
    CHECK(hk_sim_step(w->sim, w->state, &why) >= 0);
    if (!same_states(plain->state, w->state))
      test_fail(__FILE__, __LINE__, "%s: step %d differs after it was cancelled", integrator, q);
  }
  hk_state_destroy(&before);
}

TEST(cancelled_steps_leave_the_state_as_it_was) {
  for (int k = 0; k < 2 * INTEGRATORS; k++) {
    const char *integrator = integrators[k / 2], *tolerance = k % 2 ? ", 'tolerance': 1e-4" : "";
    World w = make(integrator, tolerance), plain = make(integrator, tolerance);
    if (w.sim && plain.sim) cancel_each_step(&w, &plain, integrator);
    world_destroy(&w);
    world_destroy(&plain);
  }
}

TEST(many_steps_end_at_the_last_whole_one) {
  World w = make("'symplectic_euler'", ""), plain = make("'symplectic_euler'", "");
  Asker third = {.ask = 3};
  hk_sim_set_cancel(w.sim, ask, &third);
  CHECK(hk_sim_steps(w.sim, w.state, 1000, NULL) == HK_ERROR_CANCELLED);
  world_steps(&plain, 2);
  CHECK(same_states(w.state, plain.state));
  hk_sim_set_cancel(w.sim, NULL, NULL);
  CHECK(hk_sim_steps(w.sim, w.state, 3, NULL) == HK_OK && third.asked == 3);
  world_destroy(&w);
  world_destroy(&plain);
}

/* ---- From another thread ---- */

/* Queries of the step after which the other thread cancels it. */
enum { QUERIES = 1000 };

typedef struct Shared {
  atomic_int asked;
  atomic_bool flag;
} Shared;

static bool read_flag(void *user) {
  Shared *shared = user;
  atomic_fetch_add(&shared->asked, 1);
  return atomic_load(&shared->flag);
}

static void *set_flag_within_the_step(void *user) {
  Shared *shared = user;
  while (atomic_load(&shared->asked) < QUERIES) sched_yield();
  atomic_store(&shared->flag, true);
  return NULL;
}

TEST(another_thread_cancels_a_step_that_would_take_minutes) {
  Shared shared = {0};
  pthread_t thread;
  World w = make("'backward_euler'", ", 'tolerance': 1e-12");
  hk_sim_set_cancel(w.sim, read_flag, &shared);
  CHECK(pthread_create(&thread, NULL, set_flag_within_the_step, &shared) == 0);
  CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_ERROR_CANCELLED);
  CHECK(atomic_load(&shared.asked) >= QUERIES);
  CHECK(hk_state_time(w.state) == 0);
  pthread_join(thread, NULL);
  world_destroy(&w);
}

/* ---- Runs ---- */

typedef struct Calls {
  int64_t count, within;
} Calls;

static void on_progress(void *user, const HkProgress *at) {
  Calls *calls = user;
  calls->count++;
  calls->within += at->part > 0 && at->part < 1;
}

TEST(cancelled_run_goes_on_and_leaves_the_same_bytes) {
  for (int k = 0; k < 3; k++) {
    static const char *const tolerances[] = {"", "", ", 'tolerance': 1e-5"};
    char text[2048], whole[300], parts[300], command[1024];
    HkScene *scene = NULL;
    HkRun *run = NULL;
    HkRunOptions options = hk_run_options_default();
    Asker asker = {.ask = 7};
    snprintf(text, sizeof text, CLOTH, tolerances[k], integrators[k == 0 ? 0 : 2]);
    MUST(
        hk_scene_parse(NULL, test_json(text), strlen(text), "scene", NULL, NULL, 0, &scene, error));
    snprintf(whole, sizeof whole, "%s/run", test_folder());
    snprintf(parts, sizeof parts, "%s/run", test_folder());
    options.folder = whole;
    MUST(hk_run_create(scene, &options, &run, error));
    while (hk_run_frame(run, NULL) == HK_OK) continue;
    hk_run_destroy(&run);
    options.folder = parts;
    options.cancel = ask;
    options.cancel_user = &asker;
    MUST(hk_run_create(scene, &options, &run, error));
    CHECK(hk_run_frame(run, NULL) == HK_ERROR_CANCELLED);
    HkProgress at = hk_run_progress(run);
    CHECK(at.frame == 0 && at.step < at.substeps && at.part == 0);
    CHECK_NEAR(at.h, 0.002, 1e-15);
    if (k == 0) { /* the same run goes on */
      while (hk_run_frame(run, NULL) == HK_OK) continue;
    } else { /* or another one from its checkpoint */
      MUST(hk_run_checkpoint(run, error));
      hk_run_destroy(&run);
      options.resume = true;
      options.cancel = NULL;
      MUST(hk_run_create(scene, &options, &run, error));
      while (hk_run_frame(run, NULL) == HK_OK) continue;
    }
    hk_run_destroy(&run);
    snprintf(command, sizeof command, "diff -rq -x checkpoint.previous '%s' '%s'", whole, parts);
    CHECK(system(command) == 0);
    hk_scene_destroy(&scene);
  }
}

TEST(a_run_is_cancelled_while_its_scene_is_loaded) {
  char text[2048], folder[300], path[320];
  HkScene *scene = NULL;
  HkRun *run = NULL;
  HkRunOptions options = hk_run_options_default();
  int created = 0;
  snprintf(text, sizeof text, CLOTH, "", "'backward_euler'");
  MUST(hk_scene_parse(NULL, test_json(text), strlen(text), "scene", NULL, NULL, 0, &scene, error));
  snprintf(folder, sizeof folder, "%s/run", test_folder());
  snprintf(path, sizeof path, "%s/run.json", folder);
  options.folder = folder;
  options.cancel = ask;
  for (int64_t at = 1; created == 0 && at < 100; at++) {
    Asker asker = {.ask = at};
    options.cancel_user = &asker;
    HkStatus status = hk_run_create(scene, &options, &run, NULL);
    created = status == HK_OK ? (int)at : 0;
    if (created) break;
    CHECK(status == HK_ERROR_CANCELLED && run == NULL);
    CHECK(access(path, F_OK) != 0);
  }
  CHECK(created > 3); /* after the model, the simulation and the stable step */
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}

static bool was_called_within(void *user) {
  return ((const Calls *)user)->within > 0;
}

TEST(progress_is_called_within_long_steps) {
  char text[2048];
  HkScene *scene = NULL;
  HkRun *run = NULL;
  HkRunOptions options = hk_run_options_default();
  Calls calls = {0};
  snprintf(text, sizeof text, CLOTH, ", 'tolerance': 1e-12", "'backward_euler'");
  MUST(hk_scene_parse(NULL, test_json(text), strlen(text), "scene", NULL, NULL, 0, &scene, error));
  options.progress = on_progress;
  options.progress_user = &calls;
  options.cancel = was_called_within;
  options.cancel_user = &calls;
  MUST(hk_run_create(scene, &options, &run, error));
  CHECK(hk_run_frame(run, NULL) == HK_ERROR_CANCELLED);
  CHECK(calls.count > 0 && calls.within > 0);
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}
