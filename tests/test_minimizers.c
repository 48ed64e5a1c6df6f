/* Every minimizer of the registry against Newton's method, and what all of them promise. */
#include "model/model.h"
#include "world.h"

static const double h = 1.0 / 30;

/* Small versions of the built-in scenes, some steps into their motion. */
typedef struct Small {
  const char *name, *set; /* the set in single quotes */
  int steps;
} Small;

static const Small small_scenes[] = {
    {"hanging_chain", NULL, 10},
    {"net", "bodies[0].shape.n=3", 10},
    {"flag", "bodies[0].shape={'type':'grid','nx':8,'ny':6,'width':1.5,'height':1}", 10},
    {"curtain", "bodies[0].shape={'type':'grid','nx':9,'ny':9,'plane':'xz'}", 10},
    {"jelly_block",
     "bodies[0].shape={'type':'block','nx':4,'ny':3,'nz':4,'size':[0.3,0.2,0.3],'neighbours':26}",
     10},
    {"ball", "bodies[0].shape.shells=2", 15},
};
enum { SMALL_COUNT = sizeof small_scenes / sizeof small_scenes[0] };

/* ---- Minimizers with their variants ---- */

typedef struct Variant {
  const HkSchema *schema;
  int acceleration; /* of local_global, else 0 */
} Variant;

/* The index-th way to minimize other than Newton's; false: there are no more. */
static bool variant_at(int index, Variant *variant) {
  for (int q = 0; (variant->schema = hk_schema_at(HK_MINIMIZE, q)); q++) {
    int count = hk_param_find(variant->schema, "acceleration") ? 3 : 1;
    if (strcmp(variant->schema->name, "newton") == 0) continue;
    variant->acceleration = index;
    if (index < count) return true;
    index -= count;
  }
  return false;
}

static HkStatus choose(const Variant *variant, double iterations, double tolerance, HkMethod *step,
                       HkError *error) {
  *step = (HkMethod){0};
  HK_TRY(hk_method_choose(step, HK_STEP, "backward_euler", error));
  const char *name = variant ? variant->schema->name : "newton";
  HkMethod *m = hk_method_set_method(step, "minimizer", name, error);
  if (!m) return HK_ERROR_INVALID;
  HK_TRY(hk_method_set_number(m, "iterations", iterations, error));
  HK_TRY(hk_method_set_number(m, "tolerance", tolerance, error));
  if (variant && hk_param_find(variant->schema, "acceleration"))
    HK_TRY(hk_method_set_number(m, "acceleration", variant->acceleration, error));
  return HK_OK;
}

/* ---- One step ---- */

typedef struct Step {
  double iterations, tolerance;
  HkTraceFn *trace;
  void *trace_user;
  HkStepInfo info;
  HkStatus status;
  HkState *state; /* where it led to; the caller's */
} Step;

/* One step of backward Euler from w's state; variant NULL: by Newton's method. */
static HkStatus make_step(const World *w, const Variant *variant, Step *s, HkError *error) {
  HkMethod method;
  HkSim *sim = NULL;
  s->state = NULL;
  HkStatus status = choose(variant, s->iterations, s->tolerance, &method, error);
  if (status >= 0) status = hk_sim_create(w->model, &method, h, &sim, error);
  if (status >= 0) status = hk_state_create(w->model, &s->state, error);
  if (status >= 0) status = hk_state_copy(w->state, s->state, error);
  if (status >= 0 && s->trace) status = hk_sim_set_trace(sim, s->trace, s->trace_user, error);
  if (status >= 0) {
    s->status = hk_sim_step(sim, s->state, error);
    s->info = hk_sim_step_info(sim);
  }
  hk_sim_destroy(&sim);
  hk_method_clear(&method);
  return status;
}

/* The largest difference of coordinates. */
static double far_apart(HkState *a, HkState *b) {
  double most = 0;
  for (int64_t q = 0; q < 3 * hk_state_vertex_count(a); q++)
    most = fmax(most, fabs(hk_state_x(a)[q] - hk_state_x(b)[q]));
  return most;
}

/* A world some Newton steps into its motion. */
static World advance(World w, int steps) {
  for (int q = 0; w.model && q < steps; q++) {
    HkError error = {0};
    Step s = {.iterations = 200, .tolerance = 1e-9};
    if (make_step(&w, NULL, &s, &error) < 0) test_fail("newton", q, "%s", error.text);
    hk_state_destroy(&w.state);
    w.state = s.state;
  }
  return w;
}

static World small_world(int index) {
  const Small *s = &small_scenes[index];
  char set[256];
  if (s->set) snprintf(set, sizeof set, "%s", test_json(s->set));
  return advance(world_builtin(s->name, s->set ? set : NULL, 1), s->steps);
}

/* ---- The same minimum ---- */

/* The equations of the step are met to the tolerance, or to rounding. */
static bool is_solved(const Step *s) {
  HkStop reason = s->info.reason;
  bool met = reason == HK_STOP_CONVERGED || reason == HK_STOP_STATIONARY;
  return s->status == HK_OK && (met || reason == HK_STOP_ROUNDING);
}

static void compare_with_newton(const World *w, const char *name) {
  Step newton = {.iterations = 200, .tolerance = 1e-13};
  Variant variant;
  MUST(make_step(w, NULL, &newton, error));
  double scale = far_apart(w->state, newton.state);
  for (int q = 0; variant_at(q, &variant); q++) {
    Step s = {.iterations = 1e6, .tolerance = 1e-13};
    MUST(make_step(w, &variant, &s, error));
    double error = far_apart(s.state, newton.state) / scale;
    if (!is_solved(&s) || !(error < 1e-8))
      test_fail(name, q, "%s %d: %s after %d iterations, gradient %g, off by %g of the step",
                variant.schema->name, variant.acceleration, hk_stop_name(s.info.reason),
                s.info.iterations, s.info.gradient, error);
    hk_state_destroy(&s.state);
  }
  hk_state_destroy(&newton.state);
}

TEST(every_minimizer_ends_where_newton_does) {
  for (int q = 0; q < SMALL_COUNT; q++) {
    World w = small_world(q);
    if (w.model) compare_with_newton(&w, small_scenes[q].name);
    world_destroy(&w);
  }
}

/* Drag is not in the constant matrix: without a line search plain steps would overshoot. */
TEST(minimizers_withstand_heavy_drag) {
  World w = world_make("{'bodies':[{'shape':{'type':'grid','nx':4,'ny':3},'springs':{'EA':20}}],"
                       "'pins':[{'select':'left'}],"
                       "'forces':['gravity',{'type':'drag','per_mass':300},{'type':'handle',"
                       "'select':'top_right','target':[2,2,1],'k':500,'damping':3}]}",
                       "verlet", 1e-3, 1);
  w = advance(w, 1);
  if (w.model) compare_with_newton(&w, "heavy drag");
  world_destroy(&w);
}

TEST(pins_that_stay_unknowns_make_no_difference) {
  World w = world_make("{'bodies':[{'shape':{'type':'grid','nx':4,'ny':3},'springs':{'EA':20}}],"
                       "'pins':[{'select':'left'}],'forces':['gravity']}",
                       "verlet", 1e-3, 1);
  Step eliminate = {.iterations = 200, .tolerance = 1e-13}, reaction = eliminate;
  w = advance(w, 2);
  if (!w.model) return;
  MUST(make_step(&w, NULL, &eliminate, error));
  w.model->pin_method = HK_PINS_REACTION;
  MUST(make_step(&w, NULL, &reaction, error));
  CHECK(far_apart(eliminate.state, reaction.state) < 1e-12);
  compare_with_newton(&w, "reaction");
  hk_state_destroy(&eliminate.state);
  hk_state_destroy(&reaction.state);
  world_destroy(&w);
}

/* ---- Energy ---- */

typedef struct Path {
  int calls;
  bool rose, skipped; /* the energy, an iteration */
  double last;
} Path;

static bool watch(void *user, const HkIteration *it) {
  Path *path = user;
  path->skipped |= it->iteration != path->calls;
  double rounding = 1e-14 * fabs(path->last); /* the trace has g as a difference from the start */
  path->rose |= it->iteration > 0 && !(it->change <= path->last + rounding);
  path->last = it->change;
  path->calls++;
  return true;
}

static bool end_at_two(void *user, const HkIteration *it) {
  (void)user;
  return it->iteration < 2;
}

TEST(a_trace_ends_the_iterations_of_every_minimizer) {
  World w = small_world(3);
  HkMethod step = {0};
  for (int q = 0; w.model && q < hk_schema_count(HK_MINIMIZE); q++) {
    HkSim *sim = NULL;
    HkState *state = NULL;
    MUST(hk_method_choose(&step, HK_STEP, "backward_euler", error));
    CHECK(hk_method_set_method(&step, "minimizer", hk_schema_at(HK_MINIMIZE, q)->name, NULL));
    MUST(hk_sim_create(w.model, &step, 0.1, &sim, error));
    MUST(hk_state_create(w.model, &state, error));
    hk_state_v(state)[30] = 30; /* far from solved after two iterations */
    MUST(hk_sim_set_trace(sim, end_at_two, NULL, error));
    MUST(hk_sim_step(sim, state, error));
    CHECK(hk_sim_step_info(sim).iterations == 2);
    hk_state_destroy(&state);
    hk_sim_destroy(&sim);
  }
  hk_method_clear(&step);
  world_destroy(&w);
}

/* Position of the free vertex 12 in the last call. */
static bool keep_vertex(void *user, const HkIteration *it) {
  memcpy(user, it->x + 36, 3 * sizeof(double));
  return true;
}

TEST(a_trace_has_the_position_of_every_minimizer) {
  World w = small_world(3);
  Variant variant;
  for (int q = 0; w.model && variant_at(q, &variant); q++) {
    double traced[3] = {0};
    Step s = {.iterations = 4, .trace = keep_vertex, .trace_user = traced};
    MUST(make_step(&w, &variant, &s, error));
    for (int c = 0; c < 3; c++) CHECK(hk_state_x(s.state)[36 + c] == traced[c]);
    CHECK(memcmp(traced, hk_state_x(w.state) + 36, sizeof traced) != 0);
    hk_state_destroy(&s.state);
  }
  world_destroy(&w);
}

/* From a crumpled state, where springs are long, short and turned. */
TEST(no_minimizer_raises_the_energy) {
  World w = small_world(3);
  uint64_t seed = 1;
  Variant variant;
  for (int64_t q = 0; w.model && q < 3 * w.model->n; q++)
    hk_state_x(w.state)[q] += 0.1 * (double)((seed = seed * 48271 % 2147483647) / 2147483647.0);
  for (int q = 0; w.model && variant_at(q, &variant); q++) {
    Path path = {0};
    Step s = {.iterations = 40, .trace = watch, .trace_user = &path};
    MUST(make_step(&w, &variant, &s, error));
    if (path.rose || path.skipped || path.calls != 41 || !(path.last < 0))
      test_fail(variant.schema->name, variant.acceleration, "rose %d, skipped %d, calls %d, %g",
                path.rose, path.skipped, path.calls, path.last);
    hk_state_destroy(&s.state);
  }
  world_destroy(&w);
}

/* ---- Stopping ---- */

TEST(minimizers_make_all_iterations_without_a_tolerance) {
  World w = small_world(3);
  Variant variant;
  for (int q = 0; w.model && variant_at(q, &variant); q++)
    for (int iterations = 0; iterations < 10; iterations += 3) {
      Step s = {.iterations = iterations};
      MUST(make_step(&w, &variant, &s, error));
      CHECK(s.status == HK_OK);
      CHECK(s.info.iterations == iterations);
      CHECK(s.info.reason == HK_STOP_ITERATIONS);
      CHECK(s.info.evaluations > iterations);
      hk_state_destroy(&s.state);
    }
  world_destroy(&w);
}

TEST(minimizers_stop_at_the_tolerance) {
  World w = small_world(3);
  Variant variant;
  for (int q = 0; w.model && variant_at(q, &variant); q++) {
    Step s = {.iterations = 1e5, .tolerance = 1e-7};
    MUST(make_step(&w, &variant, &s, error));
    CHECK(is_solved(&s) && s.info.gradient <= 1e-7);
    int needed = s.info.iterations;
    hk_state_destroy(&s.state);
    s.iterations = needed - 1;
    MUST(make_step(&w, &variant, &s, error));
    CHECK(s.status == HK_NOT_CONVERGED && s.info.reason == HK_STOP_ITERATIONS);
    CHECK(s.info.iterations == needed - 1 && s.info.gradient > 1e-7);
    hk_state_destroy(&s.state);
  }
  world_destroy(&w);
}

TEST(minimizers_stop_where_there_is_no_number) {
  World w = small_world(3);
  Variant variant;
  if (w.model) hk_state_x(w.state)[100] = NAN;
  for (int q = 0; w.model && variant_at(q, &variant); q++) {
    Step s = {.iterations = 1e9, .tolerance = 1e-6};
    MUST(make_step(&w, &variant, &s, error));
    CHECK(s.status == HK_ERROR_BLOWUP);
    hk_state_destroy(&s.state);
  }
  world_destroy(&w);
}

/* ---- Degenerate models ---- */

TEST(all_vertices_may_be_pinned) {
  World w = world_parse("{'bodies':[{'shape':{'type':'grid','nx':3,'ny':3}}],"
                        "'pins':[{'select':'all'}],'forces':['gravity']}");
  Variant variant;
  for (int q = 0; w.model && variant_at(q, &variant); q++)
    for (int tolerance = 0; tolerance < 2; tolerance++) {
      Step s = {.iterations = 5, .tolerance = 1e-6 * tolerance};
      MUST(make_step(&w, &variant, &s, error));
      CHECK(s.status == HK_OK && s.info.gradient == 0);
      CHECK(far_apart(s.state, w.state) == 0);
      hk_state_destroy(&s.state);
    }
  world_destroy(&w);
}

TEST(one_vertex_falls_freely) {
  World w = world_parse("{'bodies':[{'mesh':{'vertices':[[1,2,3]]},'velocity':[3,0,0]}],"
                        "'forces':[{'type':'gravity','g':9}]}");
  Variant variant;
  for (int q = 0; w.model && variant_at(q, &variant); q++) {
    Step s = {.iterations = 5, .tolerance = 1e-12};
    MUST(make_step(&w, &variant, &s, error));
    CHECK(s.status == HK_OK && s.info.reason == HK_STOP_CONVERGED);
    CHECK_NEAR(hk_state_x(s.state)[0], 1 + 0.1, 1e-14);
    CHECK_NEAR(hk_state_x(s.state)[1], 2 - 0.01, 1e-14);
    CHECK_NEAR(hk_state_x(s.state)[2], 3, 1e-14);
    hk_state_destroy(&s.state);
  }
  world_destroy(&w);
}

/* A corner of a square upon the opposite one: the diagonal between them has no direction. */
TEST(minimizers_open_collapsed_springs) {
  World w = world_parse("{'bodies':[{'shape':{'type':'grid','nx':3,'ny':3},"
                        "'springs':{'EA':20,'shear':true}}],'forces':['gravity']}");
  Variant variant;
  if (w.model) memcpy(hk_state_x(w.state) + 12, hk_state_x(w.state), 3 * sizeof(double));
  for (int q = 0; w.model && variant_at(q, &variant); q++) {
    Path path = {0};
    Step s = {.iterations = 1e5, .tolerance = 1e-9, .trace = watch, .trace_user = &path};
    MUST(make_step(&w, &variant, &s, error));
    CHECK(is_solved(&s));
    CHECK(!path.rose && path.last < 0);
    hk_state_destroy(&s.state);
  }
  world_destroy(&w);
}

/* ---- Threads and memory ---- */

/* Large enough for every loop to be cut into pieces, also those over half of the vertices. */
TEST(minimizers_give_the_same_bits_for_every_thread_count) {
  const char *text = "{'bodies':[{'shape':{'type':'grid','nx':132,'ny':132},"
                     "'springs':{'EA':20,'damping':0.001}}],'pins':[{'select':'left'}],"
                     "'forces':['gravity',{'type':'wind','velocity':[1,0,3]}]}";
  World one = world_make(text, "verlet", 1e-3, 1), three = world_make(text, "verlet", 1e-3, 3);
  Variant variant;
  for (int q = 0; one.model && three.model && variant_at(q, &variant); q++) {
    Step a = {.iterations = 8}, b = a;
    MUST(make_step(&one, &variant, &a, error));
    MUST(make_step(&three, &variant, &b, error));
    if (memcmp(hk_state_x(a.state), hk_state_x(b.state), (size_t)one.model->n * 24) != 0)
      test_fail(variant.schema->name, variant.acceleration, "the bits differ");
    hk_state_destroy(&a.state);
    hk_state_destroy(&b.state);
  }
  world_destroy(&one);
  world_destroy(&three);
}

static void *count_resize(void *user, void *p, size_t bytes) {
  *(int64_t *)user += 1;
  if (bytes > 0) return realloc(p, bytes);
  free(p);
  return NULL;
}

/* The calls for memory during the second step. */
static void check_second_step(HkModel *model, HkState *state, const Variant *variant) {
  int64_t count = 0;
  HkMethod method;
  HkSim *sim = NULL;
  model->context.resize = count_resize;
  model->context.memory_user = &count;
  MUST(choose(variant, 20, 1e-9, &method, error));
  MUST(hk_sim_create(model, &method, h, &sim, error));
  CHECK(count > 0);
  MUST(hk_sim_step(sim, state, error));
  count = 0;
  MUST(hk_sim_step(sim, state, error));
  CHECK(count == 0);
  hk_sim_destroy(&sim);
  hk_method_clear(&method);
}

TEST(minimizers_allocate_nothing_after_the_first_step) {
  World w = world_parse("{'bodies':[{'shape':{'type':'grid','nx':5,'ny':5},"
                        "'springs':{'EA':20,'damping':0.001}}],'pins':[{'select':'left'}],"
                        "'forces':['gravity',{'type':'drag','per_mass':1}]}");
  Variant variant;
  if (!w.model) return;
  HkContext before = w.model->context;
  for (int q = 0; variant_at(q, &variant); q++) {
    check_second_step(w.model, w.state, &variant);
    w.model->context = before;
  }
  world_destroy(&w);
}
