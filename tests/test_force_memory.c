/* Memory of forces: it belongs to a state, goes where the state goes, and returns with it. */
#include "world.h"

#include "hooke/extend.h"
#include "model/state.h"

/* ---- A force that counts its steps ---- */

enum { COUNT_MAX = 4096 };

/* Of one simulation: the number of steps so far, and the height of vertex 5 at the end of each. */
typedef struct Counter {
  int64_t steps;
  double height[COUNT_MAX]; /* m */
} Counter;

/* Of the force. */
typedef struct Pusher {
  int loads, saves;
  size_t lie; /* bytes that save adds to its size, in every call anew */
  bool fails; /* load returns an error */
} Pusher;

static HkStatus create_counter(void *user, void **state, HkError *error) {
  (void)user, (void)error;
  *state = calloc(1, sizeof(Counter));
  return HK_OK;
}

static void destroy_counter(void *user, void *state) {
  (void)user;
  free(state);
}

/* Pushes all vertices up by the number of steps and down by the last height. */
static void push(void *user, const HkForceAt *at, double *f) {
  const Counter *c = at->state;
  (void)user;
  for (int64_t i = 0; i < at->vertices; i++) {
    f[3 * i + 1] += 1e-3 * (double)c->steps;
    if (c->steps > 0) f[3 * i + 1] -= 1e-2 * c->height[c->steps - 1];
  }
}

static HkStatus count_step(void *user, const HkForceAt *at, double h, HkError *error) {
  Counter *c = at->state;
  (void)user, (void)h, (void)error;
  CHECK(c->steps < COUNT_MAX);
  if (c->steps < COUNT_MAX) c->height[c->steps++] = at->x[3 * 5 + 1];
  return HK_OK;
}

/* The memory is the list of heights, which grows with each step. */
static size_t save(void *user, const HkForceAt *at, void *bytes, size_t capacity) {
  Pusher *p = user;
  const Counter *c = at->state;
  size_t size = (size_t)c->steps * sizeof *c->height;
  if (p->lie) size = capacity + p->lie;
  if (size <= capacity && size > 0) memcpy(bytes, c->height, size);
  p->saves++;
  return size;
}

static HkStatus load(void *user, const HkForceAt *at, const void *bytes, size_t size,
                     HkError *error) {
  Pusher *p = user;
  Counter *c = at->state;
  p->loads++;
  if (p->fails || size > sizeof c->height || size % sizeof *c->height)
    return hk_fail(error, HK_ERROR_FORMAT, "this is no list of heights");
  c->steps = (int64_t)(size / sizeof *c->height);
  if (size > 0) memcpy(c->height, bytes, size);
  return HK_OK;
}

static HkForceFunctions pusher_functions(void) {
  HkForceFunctions f = hk_force_functions_default();
  f.name = "pusher";
  f.add = push;
  f.create_state = create_counter;
  f.destroy_state = destroy_counter;
  f.end_step = count_step;
  f.save = save;
  f.load = load;
  return f;
}

static HkStatus add_pusher(HkModel *model, Pusher *p, int *index, HkError *error) {
  HkForceFunctions f = pusher_functions();
  return hk_model_add_custom_force(model, &f, p, index, error);
}

/* ---- Worlds ---- */

#define CLOTH(integrator, more)                                                                    \
  "{'integrator': " integrator ", 'time': {'step': 0.004" more "}, 'bodies': [{'shape': {'type': " \
  "'grid', 'nx': 5, 'ny': 4}, 'springs': {'k': 200, 'shear': true, 'damping': 0.1}, 'mass': "      \
  "0.3}], 'pins': [{'select': 'top_left'}], 'forces': ['gravity'], 'outputs': []}"

static const char *const worlds[] = {
    CLOTH("'symplectic_euler'", ""),
    CLOTH("{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': 'ldlt'}}", ""),
    CLOTH("{'type': 'bdf2', 'minimizer': 'lbfgs'}", ""),
    CLOTH("'backward_euler'", ", 'tolerance': 1e-5"),
};
enum { WORLDS = sizeof worlds / sizeof worlds[0], ADAPTIVE = WORLDS - 1 };

static World world_with(const char *text, Pusher *p) {
  World w = world_parse(text);
  if (w.sim) CHECK(add_pusher(w.model, p, NULL, NULL) >= 0);
  return w;
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

/* The number of heights in the only memory of a state; 0 if it has none. */
static int64_t count_of(const HkState *state) {
  CHECK(state->memory_count <= 1);
  return state->memory_count ? state->memory[0].size / (int64_t)sizeof(double) : 0;
}

/* ---- Tests ---- */

TEST(states_without_memory_have_no_bytes_for_it) {
  World w = world_parse(worlds[1]);
  if (!w.sim) return;
  world_steps(&w, 3);
  CHECK(!w.state->memory && w.state->memory_capacity == 0);
  size_t plain = hk_state_packed_size(w.state);
  HkForceMemory *memory;
  MUST(hk_state_need_memory(w.state, 7, &memory, error));
  CHECK(hk_state_packed_size(w.state) == plain); /* it is empty */
  MUST(hk_force_memory_write(memory, "abc", 3, error));
  CHECK(hk_state_packed_size(w.state) == plain + 4 * sizeof(int64_t) + 3);
  world_destroy(&w);
}

TEST(copied_saved_and_packed_states_go_on_bit_for_bit) {
  for (int q = 0; q < WORLDS; q++) {
    Pusher p = {0}, other = {0};
    World w = world_with(worlds[q], &p), again = world_with(worlds[q], &other);
    HkState *copy = NULL, *packed = NULL;
    char path[1024];
    size_t size;
    if (!w.sim || !again.sim) return;
    world_steps(&w, 5);
    world_steps(&again, 1); /* its simulation notices the force */
    CHECK(count_of(w.state) >= 5);
    char *bytes = bytes_of(w.state, &size);
    snprintf(path, sizeof path, "%s/state", test_folder());
    MUST(hk_state_save(w.state, path, error));
    MUST(hk_state_load(again.state, path, error));
    MUST(hk_state_create(w.model, &copy, error));
    MUST(hk_state_copy(w.state, copy, error));
    MUST(hk_state_from_bytes(NULL, bytes, size, &packed, error));
    CHECK(same_states(w.state, copy) && same_states(w.state, packed));
    for (int step = 0; step < 5; step++) { /* the two take turns in one simulation */
      MUST(hk_sim_step(w.sim, w.state, error));
      MUST(hk_sim_step(w.sim, copy, error));
    }
    world_steps(&again, 5);
    CHECK(same_states(w.state, copy));
    CHECK(same_states(w.state, again.state));
    MUST(hk_sim_steps(again.sim, packed, 5, error));
    CHECK(same_states(w.state, packed));
    CHECK(p.saves > 0 && p.loads > 0);
    hk_state_destroy(&copy);
    hk_state_destroy(&packed);
    free(bytes);
    world_destroy(&w);
    world_destroy(&again);
  }
}

TEST(a_state_that_is_copied_over_another_one_replaces_its_memory) {
  Pusher p = {0};
  World w = world_with(worlds[1], &p);
  HkState *start = NULL, *late = NULL;
  if (!w.sim) return;
  MUST(hk_state_create(w.model, &start, error));
  MUST(hk_state_create(w.model, &late, error));
  world_steps(&w, 6);
  MUST(hk_state_copy(w.state, late, error));
  MUST(hk_state_copy(start, w.state, error));
  CHECK(w.state->memory_count == 0);
  world_steps(&w, 6);
  CHECK(same_states(w.state, late));
  hk_state_destroy(&start);
  hk_state_destroy(&late);
  world_destroy(&w);
}

TEST(parts_of_adaptive_steps_that_are_rejected_leave_no_memory) {
  Pusher p = {0};
  World w = world_with(worlds[ADAPTIVE], &p);
  int64_t parts = 0, rejected = 0;
  if (!w.sim) return;
  for (int step = 0; step < 10; step++) {
    world_steps(&w, 1);
    parts += hk_sim_step_info(w.sim).substeps;
    rejected += hk_sim_step_info(w.sim).rejected;
  }
  CHECK(rejected > 0);                       /* else nothing was tried */
  CHECK(count_of(w.state) == 2 * parts);     /* each part is made of two halves */
  CHECK(p.saves > 2 * parts + 2 * rejected); /* those of the others were discarded */
  world_destroy(&w);
}

/* Cancels at the ask-th question; 0: never. */
typedef struct Asker {
  int64_t asked, ask;
} Asker;

static bool ask(void *user) {
  Asker *a = user;
  return ++a->asked == a->ask;
}

TEST(steps_that_are_cancelled_leave_the_memory_as_it_was) {
  for (int q = 1; q < WORLDS; q++) {
    Pusher p = {0}, other = {0};
    World w = world_with(worlds[q], &p), plain = world_with(worlds[q], &other);
    HkState *before = NULL;
    if (!w.sim || !plain.sim) return;
    MUST(hk_state_create(w.model, &before, error));
    for (int step = 0; step < 5; step++) {
      Asker never = {0};
      hk_sim_set_cancel(plain.sim, ask, &never);
      MUST(hk_sim_step(plain.sim, plain.state, error));
      Asker once = {.ask = 1 + step * (never.asked - 1) / 4};
      MUST(hk_state_copy(w.state, before, error));
      hk_sim_set_cancel(w.sim, ask, &once);
      CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_ERROR_CANCELLED);
      CHECK(same_states(before, w.state));
      MUST(hk_sim_step(w.sim, w.state, error));
      CHECK(same_states(plain.state, w.state));
    }
    hk_state_destroy(&before);
    world_destroy(&w);
    world_destroy(&plain);
  }
}

TEST(what_is_computed_of_a_state_uses_its_memory) {
  Pusher p = {0};
  World w = world_with(worlds[1], &p);
  HkState *start = NULL;
  double late[60], early[60], again[60];
  if (!w.sim) return;
  CHECK(w.model->n == 20);
  MUST(hk_state_create(w.model, &start, error));
  hk_sim_forces(w.sim, start, early);
  world_steps(&w, 7);
  hk_sim_forces(w.sim, w.state, late);
  hk_sim_forces(w.sim, start, again);
  CHECK(memcmp(early, again, sizeof early) == 0);
  hk_sim_forces(w.sim, w.state, again);
  CHECK(memcmp(late, again, sizeof late) == 0 && memcmp(early, late, sizeof late) != 0);
  hk_state_destroy(&start);
  world_destroy(&w);
}

TEST(the_memory_of_a_removed_force_goes_to_no_other_one) {
  Pusher p[3] = {{0}};
  World w = world_parse(worlds[1]);
  int index[3];
  if (!w.sim) return;
  MUST(add_pusher(w.model, &p[0], &index[0], error));
  MUST(add_pusher(w.model, &p[1], &index[1], error));
  world_steps(&w, 4);
  CHECK(w.state->memory_count == 2);
  MUST(hk_model_remove_force(w.model, index[0], error));
  MUST(add_pusher(w.model, &p[2], &index[2], error)); /* after p[1], which has moved forward */
  world_steps(&w, 3);
  CHECK(w.state->memory_count == 2);
  int64_t size[2] = {w.state->memory[0].size, w.state->memory[1].size};
  int64_t longer = size[0] > size[1] ? size[0] : size[1], sum = size[0] + size[1];
  CHECK(longer == 7 * (int64_t)sizeof(double) && sum - longer == 3 * (int64_t)sizeof(double));
  MUST(hk_model_remove_force(w.model, 2, error));
  MUST(hk_model_remove_force(w.model, 2, error));
  CHECK(w.state->memory_count == 2); /* until the next step */
  world_steps(&w, 1);
  CHECK(w.state->memory_count == 0);
  world_destroy(&w);
}

TEST(a_force_may_remove_its_memory) {
  Pusher p = {0};
  World w = world_with(worlds[1], &p);
  HkForceMemory *memory;
  if (!w.sim) return;
  world_steps(&w, 4);
  MUST(hk_state_need_memory(w.state, w.state->memory[0].key, &memory, error));
  memory->size = 0;
  world_steps(&w, 1);
  CHECK(count_of(w.state) == 1); /* it has begun anew */
  world_destroy(&w);
}

TEST(errors_of_load_and_save_end_the_step) {
  Pusher p = {0};
  World w = world_with(worlds[1], &p);
  HkForceFunctions f = pusher_functions();
  if (!w.sim) return;
  f.save = NULL;
  FAILS(hk_model_add_custom_force(w.model, &f, &p, NULL, error), HK_ERROR_INVALID,
        "a force with the function load needs the function save, too");
  f = pusher_functions();
  f.load = NULL;
  FAILS(hk_model_add_custom_force(w.model, &f, &p, NULL, error), HK_ERROR_INVALID,
        "a force with the function save needs the function load, too");
  world_steps(&w, 1);
  p.fails = true;
  FAILS(hk_sim_step(w.sim, w.state, error), HK_ERROR_FORMAT, "this is no list of heights");
  CHECK(w.state->steps == 1);
  p.fails = false;
  p.lie = 1;
  FAILS(hk_sim_step(w.sim, w.state, error), HK_ERROR_INVALID, "force 'pusher': save returns");
  world_destroy(&w);
}

/* ---- Damaged bytes ---- */

/* A state with two memories, as bytes; *at is where their number stands. */
static char *two_memories(const World *w, size_t *size, size_t *at) {
  HkForceMemory *memory;
  *at = hk_state_packed_size(w->state) + sizeof(int64_t);
  if (hk_state_need_memory(w->state, 5, &memory, NULL) < 0) return NULL;
  if (hk_force_memory_write(memory, "first", 5, NULL) < 0) return NULL;
  if (hk_state_need_memory(w->state, 3, &memory, NULL) < 0) return NULL;
  if (hk_force_memory_write(memory, "second", 6, NULL) < 0) return NULL;
  return bytes_of(w->state, size);
}

static void check_refused(const World *w, const char *bytes, size_t size) {
  HkState *state = NULL;
  FAILS(hk_state_from_bytes(NULL, bytes, size, &state, error), HK_ERROR_FORMAT,
        "no state of Hooke");
  FAILS(hk_state_unpack(w->state, bytes, size, "file", error), HK_ERROR_FORMAT, "file: holds");
  CHECK(!state && w->state->memory_count == 2); /* nothing has changed */
}

TEST(damaged_memory_is_refused) {
  World w = world_parse(worlds[1]);
  size_t size = 0, at = 0;
  if (!w.sim) return;
  char *bytes = two_memories(&w, &size, &at);
  CHECK(bytes && size == at + 5 * sizeof(int64_t) + 11);
  if (!bytes) return;
  char *damaged = malloc(size + 1);
  for (size_t less = 1; less <= size; less++) { /* truncated; but for the end of what came before */
    if (size - less == at - sizeof(int64_t)) continue;
    memcpy(damaged, bytes, size - less);
    check_refused(&w, damaged, size - less);
  }
  memcpy(damaged, bytes, size);
  damaged[size] = 0;
  check_refused(&w, damaged, size + 1);
  const int64_t numbers[] = {0, -1, 1, 3, INT64_MAX, INT64_MIN, INT64_MAX / 8};
  const size_t places[] = {at, at + 16, at + 24 + 6 + 8}; /* the number and both sizes */
  for (size_t k = 0; k < 3; k++)
    for (size_t q = 0; q < sizeof numbers / sizeof numbers[0]; q++) {
      memcpy(damaged, bytes, size);
      memcpy(damaged + places[k], &numbers[q], sizeof numbers[q]);
      check_refused(&w, damaged, size);
    }
  memcpy(damaged, bytes, size);
  damaged[at + 24 + 6] = damaged[at + 8]; /* the same key twice */
  check_refused(&w, damaged, size);
  MUST(hk_state_unpack(w.state, bytes, size, "file", error));
  CHECK(w.state->memory_count == 2 && memcmp(w.state->memory[0].bytes, "second", 6) == 0);
  free(damaged);
  free(bytes);
  world_destroy(&w);
}
