/* Batches: a world moves as the same model alone, bit for bit, whatever the others do. */
#include "hooke/batch.h"
#include "hooke/extend.h"
#include "live_world.h"

#include <pthread.h>
#include <stddef.h>

enum { WORLDS = 7 };

/* One pin is released, one moves; the wind depends on the time. */
static const char cloth[] =
    "{'time': {'step': 0.002, 'duration': 1}, 'bodies': [{'shape': {'type': 'grid', 'nx': 9, "
    "'ny': 8}, 'springs': {'k': 300, 'shear': true, 'bending': true, 'damping': 0.05}, 'mass': "
    "0.5}], 'pins': [{'select': 'top_left', 'release': 0.015}, {'select': 'top_right', 'motion': "
    "{'type': 'oscillation', 'amplitude': [0, 0, 0.2], 'frequency': 3}}], 'forces': ['gravity', "
    "{'type': 'face_wind', 'velocity': [2, 0, 1], 'gust': 0.5}, {'type': 'drag', 'linear': 0.01}], "
    "'integrator': %s, 'outputs': []}";

static World make_cloth(const char *integrator, int threads) {
  char text[1500], quoted[64];
  snprintf(quoted, sizeof quoted, "'%s'", integrator);
  snprintf(text, sizeof text, cloth, quoted);
  return world_make(text, NULL, 0, threads);
}

/* The w-th world: stiffness over six decades (0.03 to 3e4 N/m, stable at the step of the scene with
 * the masses of the world), masses, wind, pins and the start differ. */
static HkStatus vary(HkModel *model, HkState *state, int w, HkError *error) {
  int64_t n = hk_state_vertex_count(state);
  double mass[72], factor = pow(10, w - 4);
  HkMethod wind = {0};
  for (int64_t i = 0; i < n && i < 72; i++)
    mass[i] = hk_model_masses(model)[i] * (1 + 0.5 * (double)(i % (w + 2))) * fmax(1, factor);
  HkStatus status = hk_model_scale_stiffness(model, factor, error);
  if (status >= 0) status = hk_model_set_masses(model, mass, error);
  if (status >= 0) status = live_force(&wind, "face_wind", "lift", 0.1 * w, error);
  if (status >= 0 && w % 2) status = hk_model_set_force(model, 2, &wind, error);
  hk_method_clear(&wind);
  if (status >= 0 && w % 3 == 2) status = hk_model_set_motion(model, 1, NULL, error);
  if (status >= 0 && w == 4)
    status = hk_state_release_pin(state, model, hk_model_pins(model, &(int64_t){0})[1], error);
  hk_state_v(state)[3 * 20] += 0.3 * w;
  return status;
}

static bool same_bytes(const HkState *a, const HkState *b) {
  size_t size = hk_state_packed_size(a);
  if (size != hk_state_packed_size(b)) return false;
  char *bytes = malloc(2 * size);
  hk_state_pack(a, bytes);
  hk_state_pack(b, bytes + size);
  bool same = memcmp(bytes, bytes + size, size) == 0;
  free(bytes);
  return same;
}

static bool same_info(const HkStateInfo *a, const HkStateInfo *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

/* ---- The same bits ---- */

/* The world w of a batch after 20 and 10 steps is the one that was moved alone by one thread. */
static void check_world(HkBatch *batch, const char *integrator, int w, const HkStateInfo *info) {
  World alone = make_cloth(integrator, 1);
  if (!alone.state) return;
  MUST(vary(alone.model, alone.state, w, error));
  world_steps(&alone, 20);
  if (w == 3) MUST(hk_model_scale_stiffness(alone.model, 2, error));
  world_steps(&alone, 10);
  HkStateInfo expected = world_info(&alone);
  HkStepInfo step = hk_sim_step_info(alone.sim);
  HkWorldInfo found;
  MUST(hk_batch_world_info(batch, w, &found, error));
  if (!same_bytes(alone.state, hk_batch_state(batch, w)))
    test_fail(integrator, w, "the world of the batch has other bits");
  if (!same_info(&expected, info)) test_fail(integrator, w, "the world has other energies");
  CHECK(found.steps == 10 && found.last.iterations == step.iterations);
  CHECK(found.last.gradient == step.gradient && found.last.reason == step.reason);
  world_destroy(&alone);
}

static void check_batch(const char *integrator, int threads) {
  World base = make_cloth(integrator, threads);
  if (!base.state) return;
  HkBatch *batch = NULL;
  HkStateInfo info[WORLDS];
  MUST(hk_batch_create(base.model, WORLDS, NULL, 0, &batch, error));
  CHECK(hk_batch_count(batch) == WORLDS);
  for (int w = 0; w < WORLDS; w++)
    MUST(vary(hk_batch_model(batch, w), hk_batch_state(batch, w), w, error));
  MUST(hk_batch_steps(batch, 20, error));
  MUST(hk_model_scale_stiffness(hk_batch_model(batch, 3), 2, error));
  MUST(hk_batch_steps(batch, 10, error));
  hk_batch_state_info(batch, info);
  for (int w = 0; w < WORLDS; w++) check_world(batch, integrator, w, &info[w]);
  hk_batch_destroy(&batch);
  CHECK(!batch);
  world_destroy(&base);
}

TEST(worlds_of_explicit_integrators_have_the_bits_of_single_simulations) {
  static const char *const names[] = {"symplectic_euler", "verlet", "rk4"};
  static const int threads[] = {1, 2, 5};
  for (int q = 0; q < 3; q++)
    for (int t = 0; t < 3; t++) check_batch(names[q], threads[t]);
}

TEST(worlds_of_implicit_integrators_have_the_bits_of_single_simulations) {
  static const char *const names[] = {"backward_euler", "bdf2", "linear_implicit_euler",
                                      "implicit_midpoint"};
  static const int threads[] = {1, 4};
  for (int q = 0; q < 4; q++)
    for (int t = 0; t < 2; t++) check_batch(names[q], threads[t]);
}

TEST(worlds_with_contact_have_the_bits_of_single_simulations) {
  World base = world_builtin("cloth_on_ball", "bodies[0].shape.nx=15", 2);
  World alone = world_builtin("cloth_on_ball", "bodies[0].shape.nx=15", 1);
  HkBatch *batch = NULL;
  if (!base.state || !alone.state) return;
  MUST(hk_batch_create(base.model, 3, NULL, hk_sim_h(alone.sim), &batch, error));
  hk_state_v(alone.state)[4] = hk_state_v(hk_batch_state(batch, 1))[4] = -0.5;
  MUST(hk_batch_steps(batch, 25, error));
  world_steps(&alone, 25);
  CHECK(same_bytes(alone.state, hk_batch_state(batch, 1)));
  CHECK(!same_bytes(alone.state, hk_batch_state(batch, 0)));
  CHECK(same_bytes(hk_batch_state(batch, 0), hk_batch_state(batch, 2)));
  hk_batch_destroy(&batch);
  world_destroy(&base);
  world_destroy(&alone);
}

/* A change of the model reaches no world, and a change of a world neither the model nor others. */
TEST(live_changes_stay_in_their_world) {
  World base = make_cloth("symplectic_euler", 1);
  HkBatch *batch = NULL;
  HkMethod wind = {0};
  if (!base.state) return;
  MUST(hk_batch_create(base.model, 3, NULL, 0, &batch, error));
  MUST(hk_model_scale_stiffness(hk_batch_model(batch, 1), 10, error));
  MUST(hk_model_set_stiffness(base.model, 7, error));
  MUST(live_force(&wind, "wind", NULL, 0, error));
  MUST(hk_model_add_force(hk_batch_model(batch, 2), &wind, NULL, error));
  hk_method_clear(&wind);
  MUST(hk_model_set_motion(hk_batch_model(batch, 0), 1, NULL, error));
  CHECK(hk_model_info(hk_batch_model(batch, 0)).k_min == 300);
  CHECK(hk_model_info(hk_batch_model(batch, 1)).k_min == 3000);
  CHECK(hk_model_info(base.model).k_max == 7);
  CHECK(hk_model_force_count(hk_batch_model(batch, 2)) == 5);
  CHECK(hk_model_force_count(hk_batch_model(batch, 1)) == 4);
  CHECK(hk_model_force_count(base.model) == 4);
  MUST(hk_batch_steps(batch, 5, error));
  CHECK(!same_bytes(hk_batch_state(batch, 0), hk_batch_state(batch, 1)));
  CHECK(!same_bytes(hk_batch_state(batch, 1), hk_batch_state(batch, 2)));
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

/* face_wind needs lists of faces that the model does not have: the copy makes its own. */
TEST(worlds_make_lists_of_their_own_for_forces_that_are_added) {
  World base = live_cloth("backward_euler", 50, "'gravity'", "[{'select': 'top'}]");
  World alone = live_cloth("backward_euler", 50, "'gravity'", "[{'select': 'top'}]");
  HkBatch *batch = NULL;
  HkMethod wind = {0};
  if (!base.state || !alone.state) return;
  MUST(hk_batch_create(base.model, 2, hk_sim_method(base.sim), 0.004, &batch, error));
  MUST(live_force(&wind, "face_wind", "lift", 0.5, error));
  MUST(hk_model_add_force(hk_batch_model(batch, 1), &wind, NULL, error));
  MUST(hk_model_add_force(alone.model, &wind, NULL, error));
  hk_method_clear(&wind);
  MUST(hk_batch_steps(batch, 8, error));
  world_steps(&alone, 8);
  CHECK(same_bytes(alone.state, hk_batch_state(batch, 1)));
  hk_batch_destroy(&batch);
  world_destroy(&base);
  world_destroy(&alone);
}

/* Scenes with other numbers, integrators and steps, and other counts of steps. */
TEST(worlds_of_different_models_move_as_they_do_alone) {
  World base[3] = {make_cloth("symplectic_euler", 3), make_cloth("backward_euler", 1),
                   live_cloth("verlet", 40, "'gravity'", "[]")};
  World alone[2] = {make_cloth("symplectic_euler", 1), make_cloth("backward_euler", 1)};
  const HkModel *models[4] = {base[0].model, base[1].model, base[0].model, base[2].model};
  static const int64_t counts[3] = {25, 7, 0};
  HkBatch *batch = NULL;
  HkWorldInfo info;
  if (!base[0].state || !base[1].state || !base[2].state || !alone[0].state || !alone[1].state)
    return;
  FAILS(hk_batch_create_from(models, 4, NULL, 0, &batch, error), HK_ERROR_INVALID,
        "world 3 has 30 vertices");
  FAILS(hk_batch_create_from(models, 0, NULL, 0, &batch, error), HK_ERROR_INVALID,
        "without worlds");
  MUST(hk_batch_create_from(models, 3, NULL, 0, &batch, error));
  MUST(hk_sim_set_h(hk_batch_sim(batch, 1), 0.01, error));
  MUST(hk_sim_set_h(alone[1].sim, 0.01, error));
  MUST(hk_batch_steps_each(batch, counts, error));
  FAILS(hk_batch_steps_each(batch, (const int64_t[]){1, -2, 0}, error), HK_ERROR_INVALID, "-2");
  for (int w = 0; w < 2; w++) {
    world_steps(&alone[w], counts[w]);
    MUST(hk_batch_world_info(batch, w, &info, error));
    CHECK(info.steps == counts[w] && same_bytes(alone[w].state, hk_batch_state(batch, w)));
  }
  CHECK(hk_state_time(hk_batch_state(batch, 2)) == 0);
  hk_batch_destroy(&batch);
  for (int w = 0; w < 3; w++) world_destroy(&base[w]);
  for (int w = 0; w < 2; w++) world_destroy(&alone[w]);
}

/* ---- Worlds that fail ---- */

TEST(a_world_that_blows_up_does_not_stop_the_others) {
  for (int threads = 1; threads <= 4; threads += 3) {
    World base = make_cloth("symplectic_euler", threads), alone = make_cloth("symplectic_euler", 1);
    HkBatch *batch = NULL;
    HkWorldInfo info;
    if (!base.state || !alone.state) return;
    MUST(hk_batch_create(base.model, 5, NULL, 0, &batch, error));
    MUST(hk_model_set_stiffness(hk_batch_model(batch, 1), 1e9, error));
    MUST(hk_model_set_stiffness(hk_batch_model(batch, 3), 1e9, error));
    FAILS(hk_batch_steps(batch, 50, error), HK_ERROR_BLOWUP,
          "world 1, the first of 2 that failed: ");
    world_steps(&alone, 50);
    for (int w = 0; w < 5; w++) {
      bool failed = w == 1 || w == 3;
      HkError error = {0};
      CHECK(hk_batch_world_info(batch, w, &info, &error) == (failed ? HK_ERROR_BLOWUP : HK_OK));
      CHECK(info.status == (failed ? HK_ERROR_BLOWUP : HK_OK));
      CHECK(failed ? info.steps < 50 && error.text[0] : info.steps == 50 && !error.text[0]);
      CHECK(failed || same_bytes(alone.state, hk_batch_state(batch, w)));
    }
    hk_batch_destroy(&batch);
    world_destroy(&base);
    world_destroy(&alone);
  }
}

TEST(a_world_that_does_not_converge_is_named_and_goes_on) {
  World base = world_parse(
      "{'time': {'step': 0.05}, 'bodies': [{'shape': {'type': 'grid', 'nx': "
      "6, 'ny': 6}, 'springs': {'k': 1000}}], 'pins': [{'select': "
      "'top_left'}], 'forces': ['gravity'], 'integrator': {'type': 'backward_euler', 'minimizer': "
      "{'type': 'newton', 'iterations': 1}}, 'outputs': []}");
  HkBatch *batch = NULL;
  HkWorldInfo info;
  if (!base.state) return;
  MUST(hk_batch_create(base.model, 2, NULL, 0, &batch, error));
  for (int f = 1; f < hk_model_force_count(hk_batch_model(batch, 0));) /* nothing moves it */
    MUST(hk_model_remove_force(hk_batch_model(batch, 0), f, error));
  CHECK(hk_batch_steps(batch, 3, NULL) == HK_NOT_CONVERGED);
  CHECK(hk_batch_world_info(batch, 0, &info, NULL) == HK_OK && info.steps == 3);
  CHECK(hk_batch_world_info(batch, 1, &info, NULL) == HK_NOT_CONVERGED && info.steps == 3);
  CHECK(info.last.reason == HK_STOP_ITERATIONS);
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

/* ---- Cancellation ---- */

typedef struct Asker {
  int64_t asked, end;
  pthread_t thread;
  bool elsewhere;
} Asker;

static bool ask(void *user) {
  Asker *a = user;
  if (!pthread_equal(a->thread, pthread_self())) a->elsewhere = true;
  return ++a->asked >= a->end;
}

TEST(cancelled_worlds_are_at_whole_steps_and_go_on_with_the_same_bits) {
  for (int threads = 1; threads <= 4; threads += 3) {
    World base = make_cloth("backward_euler", threads), alone = make_cloth("backward_euler", 1);
    HkBatch *batch = NULL;
    HkWorldInfo info;
    Asker asker = {.end = INT64_MAX, .thread = pthread_self()};
    if (!base.state || !alone.state) return;
    MUST(hk_batch_create(base.model, 4, NULL, 0, &batch, error));
    hk_batch_set_cancel(batch, ask, &asker);
    MUST(hk_batch_steps(batch, 20, error)); /* counts the questions */
    hk_batch_destroy(&batch);
    /* Of several threads, the caller's may be the one that works least. */
    asker = (Asker){.end = threads > 1 ? 3 : asker.asked / 2, .thread = pthread_self()};
    MUST(hk_batch_create(base.model, 4, NULL, 0, &batch, error));
    hk_batch_set_cancel(batch, ask, &asker);
    FAILS(hk_batch_steps(batch, 20, error), HK_ERROR_CANCELLED, "cancelled");
    CHECK(!asker.elsewhere && asker.asked == asker.end);
    hk_batch_set_cancel(batch, NULL, NULL);
    world_steps(&alone, 20);
    int64_t made = 0;
    for (int w = 0; w < 4; w++) {
      hk_batch_world_info(batch, w, &info, NULL);
      CHECK(info.steps < 20);
      made += info.steps;
      MUST(hk_sim_steps(hk_batch_sim(batch, w), hk_batch_state(batch, w), 20 - info.steps, error));
      CHECK(same_bytes(alone.state, hk_batch_state(batch, w)));
    }
    CHECK(made > 0 || threads > 1); /* workers may be late on a busy machine */
    hk_batch_destroy(&batch);
    world_destroy(&base);
    world_destroy(&alone);
  }
}

/* ---- Arrays ---- */

TEST(arrays_of_all_worlds_are_those_of_the_states) {
  World base = make_cloth("symplectic_euler", 2);
  HkBatch *batch = NULL;
  int64_t stride, n;
  if (!base.state) return;
  MUST(hk_batch_create(base.model, 3, NULL, 0, &batch, error));
  n = hk_state_vertex_count(base.state);
  double *x = hk_batch_x(batch, &stride), *v = hk_batch_v(batch, &stride);
  CHECK(stride >= 3 * n);
  for (int w = 0; w < 3; w++) {
    CHECK(hk_state_x(hk_batch_state(batch, w)) == x + w * stride);
    CHECK(hk_state_v(hk_batch_state(batch, w)) == v + w * stride);
    v[w * stride + 3 * 30] = w;
  }
  MUST(hk_batch_steps(batch, 1, error));
  CHECK(x[2 * stride + 3 * 30] > x[stride + 3 * 30] && x[stride + 3 * 30] > x[3 * 30]);
  int32_t vertices[2] = {30, 71};
  double px[3 * 2 * 3], pv[3 * 2 * 3];
  MUST(hk_batch_probe(batch, vertices, 2, px, pv, error));
  for (int w = 0; w < 3; w++)
    for (int q = 0; q < 2; q++) {
      int64_t at = w * stride + 3 * vertices[q];
      CHECK(memcmp(px + 6 * w + 3 * q, x + at, 3 * sizeof *x) == 0);
      CHECK(memcmp(pv + 6 * w + 3 * q, v + at, 3 * sizeof *x) == 0);
    }
  MUST(hk_batch_probe(batch, vertices, 1, NULL, pv, error));
  CHECK(pv[3] == v[stride + 3 * 30]);
  HkState *kept = NULL; /* states of a world copy from and to those of the model */
  MUST(hk_state_create(base.model, &kept, error));
  MUST(hk_state_copy(hk_batch_state(batch, 2), kept, error));
  MUST(hk_state_copy(kept, hk_batch_state(batch, 0), error));
  CHECK(x[3 * 30] == x[2 * stride + 3 * 30]);
  hk_state_destroy(&kept);
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

/* ---- Bad input ---- */

TEST(batches_refuse_what_makes_no_sense) {
  World base = make_cloth("symplectic_euler", 1);
  HkBatch *batch = NULL;
  HkWorldInfo info;
  int32_t far = 72;
  double x[3];
  HkMethod gravity = {0};
  if (!base.state) return;
  FAILS(hk_batch_create(base.model, 0, NULL, 0, &batch, error), HK_ERROR_INVALID, "0 worlds");
  FAILS(hk_batch_create(base.model, -3, NULL, 0, &batch, error), HK_ERROR_INVALID, "-3 worlds");
  FAILS(hk_batch_create(base.model, 2, NULL, -1, &batch, error), HK_ERROR_INVALID, "step -1");
  MUST(hk_method_choose(&gravity, HK_FORCE, "gravity", error));
  FAILS(hk_batch_create(base.model, 2, &gravity, 0, &batch, error), HK_ERROR_INVALID,
        "not an integrator");
  hk_method_clear(&gravity);
  FAILS(hk_batch_create(base.model, INT32_MAX, NULL, 0, &batch, error), HK_ERROR_MEMORY,
        "fewer worlds");
  CHECK(!batch);
  MUST(hk_batch_create(base.model, 2, NULL, 0, &batch, error));
  FAILS(hk_batch_steps(batch, -1, error), HK_ERROR_INVALID, "-1 steps");
  FAILS(hk_batch_world_info(batch, 2, &info, error), HK_ERROR_INVALID, "no world 2");
  FAILS(hk_batch_world_info(batch, -1, &info, error), HK_ERROR_INVALID, "no world -1");
  FAILS(hk_batch_probe(batch, &far, 1, x, NULL, error), HK_ERROR_INVALID, "no vertex 72");
  FAILS(hk_batch_probe(batch, &far, -1, x, NULL, error), HK_ERROR_INVALID, "-1 vertices");
  CHECK(!hk_batch_model(batch, 2) && !hk_batch_state(batch, -1) && !hk_batch_sim(batch, 2));
  MUST(hk_batch_steps(batch, 0, error));
  CHECK(hk_batch_world_info(batch, 1, &info, NULL) == HK_OK && info.steps == 0);
  hk_batch_destroy(&batch);
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

static void push(void *user, const HkForceAt *at, double *f) {
  for (int64_t i = 0; i < at->vertices; i++) f[3 * i] += *(const double *)user;
}

TEST(forces_of_the_caller_are_added_to_each_world) {
  World base = make_cloth("verlet", 3);
  HkBatch *batch = NULL;
  HkForceFunctions functions = hk_force_functions_default();
  double strength[3] = {0, 0.01, 0.02};
  int index;
  if (!base.state) return;
  functions.name = "push";
  functions.add = push;
  MUST(hk_model_add_custom_force(base.model, &functions, &strength[0], &index, error));
  FAILS(hk_batch_create(base.model, 3, NULL, 0, &batch, error), HK_ERROR_UNSUPPORTED,
        "'push' is the caller's");
  MUST(hk_model_remove_force(base.model, index, error));
  MUST(hk_batch_create(base.model, 3, NULL, 0, &batch, error));
  for (int w = 0; w < 3; w++)
    MUST(
        hk_model_add_custom_force(hk_batch_model(batch, w), &functions, &strength[w], NULL, error));
  MUST(hk_batch_steps(batch, 10, error));
  HkStateInfo info[3];
  hk_batch_state_info(batch, info);
  CHECK(info[2].momentum[0] > info[1].momentum[0] && info[1].momentum[0] > info[0].momentum[0]);
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

/* ---- Memory ---- */

typedef struct Meter {
  size_t held;
  int64_t calls, end; /* end: the call that fails; 0: none */
  int inside;         /* calls at once */
  bool raced;
} Meter;

static void *metered(void *user, void *p, size_t bytes) {
  Meter *m = user;
  max_align_t *block = p ? (max_align_t *)p - 1 : NULL;
  if (m->inside++ > 0) m->raced = true;
  if (block) m->held -= *(size_t *)block;
  bool fails = bytes > 0 && ++m->calls == m->end;
  if (fails && block) m->held += *(size_t *)block;
  if (bytes == 0) {
    free(block);
    block = NULL;
  } else if (!fails) {
    max_align_t *grown = realloc(block, sizeof *block + bytes);
    if (!grown) abort();
    block = grown;
    *(size_t *)block = bytes;
    m->held += bytes;
  }
  m->inside--;
  return bytes == 0 || fails ? NULL : block + 1;
}

/* Factorizations of CHOLMOD take memory from the C library, so there is none. */
static HkStatus make_metered(Meter *meter, int threads, HkScene **scene, HkModel **model,
                             HkError *error) {
  char text[1500];
  snprintf(text, sizeof text, cloth,
           "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': {'type': 'pcg', "
           "'preconditioner': 'multigrid'}}}");
  const char *json = test_json(text);
  HkContext context = {.resize = metered, .memory_user = meter, .threads = threads};
  HkStatus status =
      hk_scene_parse(&context, json, strlen(json), "scene", NULL, NULL, 0, scene, error);
  return status < 0 ? status : hk_model_compile(*scene, model, error);
}

TEST(a_batch_counts_its_memory_and_gives_all_back) {
  Meter meter = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkBatch *batch = NULL;
  MUST(make_metered(&meter, 4, &scene, &model, error));
  size_t before = meter.held;
  MUST(hk_batch_create(model, 6, NULL, 0, &batch, error));
  CHECK(hk_batch_bytes(batch) == meter.held - before);
  MUST(hk_batch_steps(batch, 6, error));
  CHECK(hk_batch_bytes(batch) == meter.held - before);
  MUST(hk_model_set_stiffness(hk_batch_model(batch, 2), 1e300, error));
  CHECK(hk_batch_steps(batch, 1, NULL) != HK_OK);
  CHECK(hk_batch_bytes(batch) == meter.held - before);
  CHECK(!meter.raced);
  hk_batch_destroy(&batch);
  CHECK(meter.held == before);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  CHECK(meter.held == 0);
}

/* The estimate decides how many worlds `hooke sweep` makes at once, in half of the memory. */
TEST(the_need_of_a_world_is_half_of_its_memory_at_least) {
  static const char pcg[] = "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': "
                            "{'type': 'pcg', 'preconditioner': 'block_jacobi'}}}";
  static const char *const integrators[] = {
      "'symplectic_euler'",
      "'rk4'",
      "'backward_euler'",
      "'bdf2'",
      pcg,
      "{'type': 'backward_euler', 'minimizer': 'local_global'}"};
  for (int side = 20; side <= 80; side *= 4)
    for (int q = 0; q < 6; q++) {
      char text[1000];
      HkBatch *batch = NULL;
      snprintf(text, sizeof text,
               "{'time': {'step': 1e-4}, 'bodies': [{'shape': {'type': 'grid', 'nx': %d, 'ny': "
               "%d}, 'springs': {'shear': true}}], 'pins': [{'select': 'top'}], 'forces': "
               "['gravity'], 'integrator': %s, 'outputs': []}",
               side, side, integrators[q]);
      World base = world_make(text, NULL, 0, 2);
      if (!base.state) return;
      MUST(hk_batch_create(base.model, 2, NULL, 0, &batch, error));
      MUST(hk_batch_steps(batch, 2, error));
      double taken = (double)hk_batch_bytes(batch) / 2,
             need = hk_batch_world_need(base.model, NULL);
      if (!(need > 0.5 * taken && need < 1.1 * taken))
        test_fail(integrators[q], side, "the need of a world is %g of its memory", need / taken);
      hk_batch_destroy(&batch);
      world_destroy(&base);
    }
}

TEST(a_batch_without_memory_leaves_nothing) {
  Meter meter = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkBatch *batch = NULL;
  MUST(make_metered(&meter, 1, &scene, &model, error));
  size_t before = meter.held;
  int failed = 0;
  HkStatus status = HK_ERROR_MEMORY;
  for (int64_t call = 1; status < 0 && call < 100000; call++) {
    meter.calls = 0;
    meter.end = call;
    status = hk_batch_create(model, 2, NULL, 0, &batch, NULL);
    if (status < 0) failed++;
    if (status < 0 && (batch || meter.held != before)) break;
  }
  CHECK(status >= 0 && failed > 20);
  hk_batch_destroy(&batch);
  CHECK(meter.held == before);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}
