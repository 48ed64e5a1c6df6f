/* The number of threads changes nothing, simulations do not meet, a step takes no memory. */
#include "base/threads.h"
#include "linear/factor.h"
#include "world.h"

#include <pthread.h>

/* Scenes made large enough for loops to be shared out. */
static const struct {
  const char *name, *set;
} large[] = {{"flag", "bodies[0].shape.nx=301"},
             {"jelly_block", "bodies[0].shape.ny=60"},
             {"ball", "bodies[0].shape.shells=15"},
             {"net", "bodies[0].shape.n=60"},
             {"trampoline", "bodies[0].shape.rings=60"}};
enum { LARGE = sizeof large / sizeof large[0] };

static const int thread_counts[] = {2, 3, 8, 64};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

/* Both states, bit for bit. */
static bool same(World *a, World *b) {
  size_t bytes = (size_t)hk_state_vertex_count(a->state) * 3 * sizeof(double);
  return memcmp(hk_state_x(a->state), hk_state_x(b->state), bytes) == 0 &&
         memcmp(hk_state_v(a->state), hk_state_v(b->state), bytes) == 0;
}

TEST(every_thread_count_gives_the_same_bytes) {
  for (int q = 0; q < LARGE; q++) {
    World one = world_builtin(large[q].name, large[q].set, 1);
    if (!one.state) return;
    CHECK(hk_state_vertex_count(one.state) > HK_PARALLEL_MIN_ENTRIES);
    world_steps(&one, 20);
    HkStateInfo expected = world_info(&one);
    for (int c = 0; c < THREAD_COUNTS; c++) {
      World many = world_builtin(large[q].name, large[q].set, thread_counts[c]);
      if (!many.state) return;
      world_steps(&many, 20);
      if (!same(&one, &many))
        test_fail(large[q].name, 0, "the bytes differ with %d threads", thread_counts[c]);
      HkStateInfo info = world_info(&many);
      CHECK(memcmp(&expected, &info, sizeof info) == 0);
      world_destroy(&many);
    }
    world_destroy(&one);
  }
}

static void *simulate(void *world) {
  world_steps(world, 100);
  return NULL;
}

TEST(two_simulations_in_two_threads_do_not_meet) {
  World alone[2] = {world_builtin("net", NULL, 1), world_builtin("flag", NULL, 1)};
  World together[2] = {world_builtin("net", NULL, 1), world_builtin("flag", NULL, 1)};
  pthread_t thread[2];
  for (int q = 0; q < 2; q++) pthread_create(&thread[q], NULL, simulate, &together[q]);
  for (int q = 0; q < 2; q++) pthread_join(thread[q], NULL);
  for (int q = 0; q < 2; q++) {
    world_steps(&alone[q], 100);
    CHECK(same(&alone[q], &together[q]));
    world_destroy(&alone[q]);
    world_destroy(&together[q]);
  }
}

TEST(two_simulations_of_one_model_in_two_threads_do_not_meet) {
  World w = world_builtin("net", NULL, 1), other[2];
  pthread_t thread[2];
  for (int q = 0; q < 2; q++) {
    other[q] = (World){.model = w.model};
    MUST(hk_sim_create(w.model, NULL, hk_sim_h(w.sim), &other[q].sim, error));
    MUST(hk_state_create(w.model, &other[q].state, error));
    pthread_create(&thread[q], NULL, simulate, &other[q]);
  }
  for (int q = 0; q < 2; q++) pthread_join(thread[q], NULL);
  world_steps(&w, 100);
  for (int q = 0; q < 2; q++) {
    CHECK(same(&w, &other[q]));
    hk_sim_destroy(&other[q].sim);
    hk_state_destroy(&other[q].state);
  }
  world_destroy(&w);
}

/* Newton steps with CHOLMOD: cloth is ordered by minimum degree, the block by METIS. Both have
 * dense panels, that is BLAS. Cloth can only fail where libblas.so.3 is an OpenBLAS with several
 * threads. */
static const char *const factorized[] = {
    "{'type': 'grid', 'nx': 31, 'ny': 31}",
    "{'type': 'block', 'nx': 9, 'ny': 9, 'nz': 9, 'neighbours': 26}"};

static World factorized_world(int q) {
  char text[512];
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': %s, 'springs': {'k': 1000}, 'mass': {'total': 1}}], 'pins': "
           "[{'select': 'left'}], 'forces': ['gravity'], 'integrator': {'type': 'backward_euler', "
           "'minimizer': {'type': 'newton', 'linear': {'type': 'cholesky'}}}}",
           factorized[q]);
  return world_make(text, NULL, 1.0 / 60, 1);
}

static void *simulate_few(void *world) {
  world_steps(world, 4);
  return NULL;
}

static void check_factorized(int shape) {
  enum { THREADS = 4, ROUNDS = 3 };
  World one = factorized_world(shape);
  if (!one.state) return;
  simulate_few(&one);
  for (int round = 0; round < ROUNDS; round++) {
    World world[THREADS];
    pthread_t thread[THREADS];
    for (int q = 0; q < THREADS; q++) world[q] = factorized_world(shape);
    for (int q = 0; q < THREADS; q++) pthread_create(&thread[q], NULL, simulate_few, &world[q]);
    for (int q = 0; q < THREADS; q++) {
      pthread_join(thread[q], NULL);
      CHECK(same(&one, &world[q]));
      world_destroy(&world[q]);
    }
  }
  world_destroy(&one);
}

TEST(factorizations_in_several_threads_give_the_same_bits) {
  if (hk_factor_default() != HK_FACTOR_CHOLMOD) SKIP("this build has no CHOLMOD");
  for (int q = 0; q < 2; q++) check_factorized(q);
}

typedef struct Counter {
  int64_t calls, blocks;
} Counter;

static void *count_resize(void *user, void *p, size_t bytes) {
  Counter *counter = user;
  counter->calls++;
  if (!p && bytes) counter->blocks++;
  if (p && !bytes) counter->blocks--;
  if (bytes) return realloc(p, bytes);
  free(p);
  return NULL;
}

TEST(no_step_takes_memory_and_nothing_leaks_from_the_callers_allocator) {
  const HkSchema *schema;
  const char *text, *name;
  for (int s = 0; (text = hk_scene_builtin(s, &name, NULL)); s++) {
    if (world_has_contact(text)) continue; /* its lists grow, which test_contact.c counts */
    for (int q = 0; (schema = hk_schema_at(HK_STEP, q)); q++) {
      Counter counter = {0};
      HkContext context = hk_context_default();
      context.resize = count_resize;
      context.memory_user = &counter;
      context.threads = 1;
      World w = {0};
      HkMethod step = {0};
      MUST(hk_scene_parse(&context, text, strlen(text), name, NULL, NULL, 0, &w.scene, error));
      MUST(hk_model_compile(w.scene, &w.model, error));
      MUST(hk_method_choose(&step, HK_STEP, schema->name, error));
      MUST(hk_sim_create(w.model, &step, 1e-6, &w.sim, error));
      MUST(hk_state_create(w.model, &w.state, error));
      world_steps(&w, 2); /* bdf2 has a matrix of its own from the second on */
      int64_t before = counter.calls;
      world_steps(&w, 3);
      if (counter.calls != before) test_fail(name, 0, "%s takes memory in a step", schema->name);
      world_destroy(&w);
      hk_method_clear(&step);
      if (counter.blocks != 0)
        test_fail(name, 0, "%lld blocks were not given back", (long long)counter.blocks);
    }
  }
}

static void *refuse_after(void *user, void *p, size_t bytes) {
  int64_t *left = user;
  if (bytes == 0) {
    free(p);
    return NULL;
  }
  if ((*left)-- <= 0) return NULL;
  return realloc(p, bytes);
}

TEST(running_out_of_memory_anywhere_is_an_error_and_no_leak) {
  const char *text, *name;
  for (int s = 0; (text = hk_scene_builtin(s, &name, NULL)); s++) {
    if (strcmp(name, "flag") != 0 && strcmp(name, "ball") != 0) continue;
    bool done = false;
    for (int64_t allowed = 0; !done && allowed < 1000; allowed++) {
      int64_t left = allowed;
      HkContext context = hk_context_default();
      context.resize = refuse_after;
      context.memory_user = &left;
      context.threads = 1;
      World w = {0};
      HkError error = {0};
      HkStatus status =
          hk_scene_parse(&context, text, strlen(text), name, NULL, NULL, 0, &w.scene, &error);
      if (status >= 0) status = hk_model_compile(w.scene, &w.model, &error);
      if (status >= 0) status = hk_sim_create(w.model, NULL, 1e-5, &w.sim, &error);
      if (status >= 0) status = hk_state_create(w.model, &w.state, &error);
      done = status >= 0;
      if (!done) CHECK(status == HK_ERROR_MEMORY && error.text[0]);
      world_destroy(&w);
    }
    CHECK(done);
  }
}
