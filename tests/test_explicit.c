/* Explicit steps in one pass: the same numbers as from the parts that they are made of, from every
 * instruction set and thread count; in single precision close to double. */
#include "model_by_hand.h"
#include "world.h"

#include "base/vec.h"
#include "step/sim.h"

/* Two hanging bodies with all that a kick has to deal with but other forces than gravity: damping,
 * threads, moving pins, pins that are let go, several blocks, a last group that is not full. */
static const char *const hanging =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 71, 'ny': 67}, 'springs': {'k': 40, 'shear': "
    "true, 'bending': true}}, {'shape': {'type': 'ball', 'shells': 9}, 'springs': {'k': 60%s}, "
    "'transform': {'translate': [2, 0, 0]}}], 'forces': [%s], 'pins': [{'select': {'body': "
    "'body0', "
    "'set': 'top'}, 'motion': {'type': 'oscillation', 'amplitude': [0, 0, 0.1], "
    "'frequency': 3}, 'release': 0.02}, {'select': {'body': 'body1', 'indices': [0, 7, 1500]}}], "
    "'outputs': []}";

static const char *const names[] = {"symplectic_euler", "verlet"};

typedef struct Options {
  const char *springs, *forces, *integrator, *precision, *isa;
  double h;
  int threads;
} Options;

static const Options default_options = {.springs = "",
                                        .forces = "'gravity'",
                                        .integrator = "symplectic_euler",
                                        .precision = "double",
                                        .h = 1e-3,
                                        .threads = 1};

/* A scene with its places for springs and forces filled in. */
static World world_of(const char *scene, Options o) {
  char text[3000];
  HkMethod step = {0};
  HkError error = {0};
  World w = {0};
  HkContext context = hk_context_default();
  context.threads = o.threads;
  snprintf(text, sizeof text, scene, o.springs, o.forces);
  if (o.isa) setenv("HOOKE_SIMD", o.isa, 1);
  const char *json = test_json(text);
  HkStatus status =
      hk_scene_parse(&context, json, strlen(json), "test scene", NULL, NULL, 0, &w.scene, &error);
  if (status >= 0) status = hk_model_compile(w.scene, &w.model, &error);
  if (status >= 0) status = hk_method_choose(&step, HK_STEP, o.integrator, &error);
  if (status >= 0 && strcmp(o.precision, "double") != 0)
    status = hk_method_set_text(&step, "precision", o.precision, &error);
  if (status >= 0) status = hk_sim_create(w.model, &step, o.h, &w.sim, &error);
  if (status >= 0) status = hk_state_create(w.model, &w.state, &error);
  unsetenv("HOOKE_SIMD");
  hk_method_clear(&step);
  if (status < 0) test_fail("test scene", 0, "%s", error.text);
  return w;
}

static bool same(World *a, World *b) {
  size_t bytes = (size_t)hk_state_vertex_count(a->state) * 3 * sizeof(double);
  return memcmp(hk_state_x(a->state), hk_state_x(b->state), bytes) == 0 &&
         memcmp(hk_state_v(a->state), hk_state_v(b->state), bytes) == 0 &&
         hk_state_time(a->state) == hk_state_time(b->state);
}

/* The largest difference of positions (m). */
static double apart(World *a, World *b) {
  double most = 0;
  for (int64_t q = 0; q < 3 * a->model->n; q++)
    most = fmax(most, fabs(hk_state_x(a->state)[q] - hk_state_x(b->state)[q]));
  return most;
}

/* ---- The same numbers ---- */

/* Symplectic Euler from acceleration and sums, which pass over memory each for itself. */
static void plain_step(World *w, double *a) {
  HkState *s = w->state;
  hk_pins_release(w->model, s, s->time + 1e-6 * w->sim->h);
  hk_sim_acceleration(w->sim, s, s->time, s->x, s->v, a);
  hk_sim_axpy(w->sim, w->sim->h, a, s->v, s->v);
  hk_sim_axpy(w->sim, w->sim->h, s->v, s->x, s->x);
  s->time += w->sim->h;
  hk_pins_place(w->model, s, s->time, s->x, s->v);
}

static void compare_with_plain_steps(Options o, double tolerance) {
  World one = world_of(hanging, o), parts = world_of(hanging, o);
  if (!one.state || !parts.state) return;
  double *a = NULL;
  MUST(hk_alloc_vector(&one.model->context, &a, one.model->n, "a test", error));
  for (int q = 0; q < 30; q++) plain_step(&parts, a);
  world_steps(&one, 30);
  CHECK_NEAR(apart(&one, &parts), 0, tolerance);
  if (tolerance == 0) CHECK(same(&one, &parts));
  hk_free(&one.model->context, &a);
  world_destroy(&one);
  world_destroy(&parts);
}

TEST(steps_in_one_pass_are_those_of_their_parts) {
  Options o = default_options;
  compare_with_plain_steps(o, 0);
  o.forces = "";
  compare_with_plain_steps(o, 0);
  o.springs = ", 'tension_only': true, 'damping': 0.02";
  o.forces = "'gravity'";
  o.threads = 3;
  compare_with_plain_steps(o, 0);
  o.forces = "'gravity', {'type': 'drag', 'per_mass': 2}, {'type': 'face_wind', 'velocity': [3, 0, "
             "1]}";
  compare_with_plain_steps(o, 1e-12);
}

static const char *const loads[] = {"'gravity'", "'gravity', {'type': 'drag', 'per_mass': 2}"};
static const char *const damped[] = {"", ", 'damping': 0.02", ", 'tension_only': true"};

TEST(explicit_steps_have_the_same_bits_for_every_thread_count_and_instruction_set) {
  static const char *const precisions[] = {"double", "single"};
  for (int q = 0; q < 24; q++) {
    Options o = default_options;
    o.integrator = names[q % 2];
    o.precision = precisions[q / 2 % 2];
    o.forces = loads[q / 4 % 2];
    o.springs = damped[q / 8];
    World one = world_of(hanging, o);
    if (!one.state) return;
    world_steps(&one, 25);
    for (int threads = 2; threads < 5; threads++) {
      o.threads = threads;
      World w = world_of(hanging, o);
      world_steps(&w, 25);
      if (!same(&one, &w))
        test_fail(o.integrator, threads, "%s: threads change the bits", o.precision);
      world_destroy(&w);
    }
    for (int isa = HK_ISA_PORTABLE; isa <= (int)hk_isa_best() && q / 2 % 2 == 0; isa++) {
      o.isa = hk_isa_name((HkIsa)isa);
      World w = world_of(hanging, o);
      world_steps(&w, 25);
      if (!same(&one, &w)) test_fail(o.integrator, q, "%s changes the bits", o.isa);
      world_destroy(&w);
    }
    world_destroy(&one);
  }
}

/* A grid whose vertices are numbered at random: every block has neighbors everywhere. */
TEST(explicit_steps_do_not_mind_the_order_of_vertices) {
  enum { N = 60 };
  HkMesh *mesh = NULL;
  static int32_t number[N * N];
  uint64_t seed = 3;
  for (int32_t q = 0; q < N * N; q++) number[q] = q;
  for (int32_t q = N * N - 1; q > 0; q--) {
    int32_t p = (int32_t)((test_random(&seed) + 1) / 2 * q), kept = number[p];
    number[p] = number[q];
    number[q] = kept;
  }
  static double x[3 * N * N];
  for (int q = 0; q < N * N; q++) {
    x[3 * number[q]] = 0.1 * (q % N);
    x[3 * number[q] + 1] = 0.1 * (q / N) + 0.02 * test_random(&seed);
  }
  World w[3];
  for (int t = 0; t < 3; t++) {
    HkContext context = hk_context_default();
    context.threads = t + 1;
    MUST(hk_mesh_create(&context, &mesh, error));
    MUST(hk_mesh_add_vertices(mesh, x, (int64_t)N * N, error));
    for (int q = 0; q + N < N * N; q++)
      if (q % N < N - 1) {
        int32_t quad[] = {number[q], number[q + 1], number[q + N + 1], number[q + N]};
        MUST(hk_mesh_add_cell(mesh, HK_CELL_QUAD, quad, 4, error));
      }
    HkMethod step = {0};
    HkBody body = hk_body_default();
    body.mesh = mesh;
    body.springs.shear = true;
    body.stretch[0] = 1.1;
    w[t] = (World){0};
    MUST(hk_scene_create(&context, &w[t].scene, error));
    MUST(hk_scene_add_body(w[t].scene, &body, NULL, error));
    hk_mesh_destroy(&mesh);
    MUST(hk_model_compile(w[t].scene, &w[t].model, error));
    MUST(hk_method_choose(&step, HK_STEP, "verlet", error));
    MUST(hk_sim_create(w[t].model, &step, 1e-4, &w[t].sim, error));
    MUST(hk_state_create(w[t].model, &w[t].state, error));
    hk_method_clear(&step);
    world_steps(&w[t], 50);
  }
  CHECK(same(&w[0], &w[1]) && same(&w[0], &w[2]));
  HkStateInfo r = world_info(&w[0]);
  CHECK_NEAR(r.momentum[0], 0, 1e-12);
  CHECK(r.kinetic > 0);
  for (int t = 0; t < 3; t++) world_destroy(&w[t]);
}

TEST(the_kinetic_energy_of_a_step_is_that_of_its_end) {
  for (int q = 0; q < 4; q++) {
    Options o = default_options;
    o.integrator = names[q % 2];
    o.precision = q < 2 ? "double" : "single";
    World w = world_of(hanging, o);
    if (!w.state) return;
    world_steps(&w, 7);
    double expected = world_info(&w).kinetic;
    CHECK_NEAR(w.sim->kinetic, expected, (q < 2 ? 1e-12 : 1e-5) * expected);
    world_destroy(&w);
  }
}

/* ---- Many steps at once ---- */

TEST(many_steps_at_once_are_the_same_as_one_by_one) {
  const HkSchema *schema;
  for (int single = 0; single < 2; single++)
    for (int q = 0; (schema = hk_schema_at(HK_STEP, q)); q++) {
      Options o = default_options;
      o.integrator = schema->name;
      o.precision = single ? "single" : "double";
      bool has = strcmp(schema->name, names[0]) == 0 || strcmp(schema->name, names[1]) == 0;
      if (single && !has) continue;
      for (int load = 0; load < (has ? 2 : 1); load++) {
        o.forces = loads[load];
        o.springs = damped[load];
        const char *small =
            "{'bodies': [{'shape': {'type': 'grid', 'nx': 9, 'ny': 7}, 'springs': {'k': 30%s}, "
            "'transform': {'translate': [0, 500, 0]}}], 'forces': [%s], 'pins': [{'select': "
            "'corners', 'motion': {'type': 'oscillation', 'amplitude': "
            "[0.05, 0, 0], 'frequency': 7}, 'release': 0.02}], 'outputs': []}";
        World one = world_of(small, o), many = world_of(small, o);
        if (!one.state || !many.state) return;
        world_steps(&one, 40);
        MUST(hk_sim_steps(many.sim, many.state, 0, error));
        MUST(hk_sim_steps(many.sim, many.state, 33, error));
        MUST(hk_sim_steps(many.sim, many.state, 7, error));
        if (!same(&one, &many)) test_fail(schema->name, single, "%s: bits differ", o.precision);
        world_destroy(&one);
        world_destroy(&many);
      }
    }
}

TEST(many_steps_stop_at_the_first_that_fails) {
  for (int single = 0; single < 2; single++) {
    Options o = default_options;
    o.precision = single ? "single" : "double";
    o.h = 0.5;
    World one = world_of(hanging, o), many = world_of(hanging, o);
    HkError a = {0}, b = {0};
    int64_t steps = 0;
    while (steps < 1000 && hk_sim_step(one.sim, one.state, &a) >= 0) steps++;
    CHECK(hk_sim_steps(many.sim, many.state, 1000, &b) == HK_ERROR_BLOWUP);
    CHECK(strcmp(a.text, b.text) == 0);
    CHECK(hk_state_time(one.state) == hk_state_time(many.state) && steps < 1000);
    FAILS(hk_sim_steps(many.sim, many.state, -1, error), HK_ERROR_INVALID, "-1 steps");
    world_destroy(&one);
    world_destroy(&many);
  }
}

/* ---- Single precision ---- */

static Options single(const char *integrator, double h) {
  Options o = default_options;
  o.integrator = integrator;
  o.precision = "single";
  o.h = h;
  return o;
}

/* m = 1 kg, k = 4 N/m on the x axis, pulled out by 0.1 m, over two periods. */
TEST(an_oscillator_in_single_precision_keeps_its_period) {
  const char *text = "{'bodies': [{'shape': {'type': 'chain', 'n': 2}, 'springs': {'k': 4%s}, "
                     "'mass': {'per_vertex': 1}}], 'forces': [%s], 'pins': [{'select': 'start'}], "
                     "'outputs': []}";
  const double pi = 3.14159265358979323846;
  for (int q = 0; q < 2; q++) {
    Options o = single(names[q], pi / 1000);
    o.forces = "";
    World w = world_of(text, o);
    if (!w.state) return;
    hk_state_x(w.state)[3] = 1.1;
    MUST(hk_sim_steps(w.sim, w.state, 2000, error));
    CHECK_NEAR(hk_state_x(w.state)[3], 1.1, 1e-4);
    CHECK(hk_state_x(w.state)[4] == 0 && hk_state_x(w.state)[0] == 0);
    world_destroy(&w);
  }
}

TEST(single_precision_follows_double_precision) {
  for (int q = 0; q < 12; q++) {
    Options o = default_options;
    o.integrator = names[q % 2];
    o.forces = loads[q / 2 % 2];
    o.springs = damped[q / 4];
    World twice = world_of(hanging, o);
    o.precision = "single";
    World once = world_of(hanging, o);
    if (!twice.state || !once.state) return;
    double before = apart(&twice, &once);
    CHECK(before == 0);
    MUST(hk_sim_steps(twice.sim, twice.state, 100, error));
    MUST(hk_sim_steps(once.sim, once.state, 100, error));
    double moved = world_info(&twice).speed_max;
    CHECK(moved > 0.3); /* m/s */
    CHECK_NEAR(apart(&twice, &once), 0, 1e-4);
    world_destroy(&twice);
    world_destroy(&once);
  }
}

TEST(a_hanging_chain_in_single_precision_comes_to_rest_where_it_should) {
  const char *text =
      "{'bodies': [{'shape': {'type': 'chain', 'n': 11}, 'springs': {'k': 100, 'damping': 1%s}, "
      "'mass': {'per_vertex': 0.01}}], 'forces': [%s, {'type': 'drag', 'linear': 0.02}], 'pins': "
      "[{'select': 'start'}], 'outputs': []}";
  World w = world_of(text, single("symplectic_euler", 2e-3));
  if (!w.state) return;
  MUST(hk_sim_steps(w.sim, w.state, 20000, error));
  /* Spring q (from 0) carries the 10 - q masses below it. */
  double y = 0, l0 = hk_model_springs(w.model).l0[0];
  for (int q = 0; q < 10; q++) y -= l0 + (10 - q) * 0.01 * 9.81 / 100;
  CHECK_NEAR(hk_state_x(w.state)[31], y, 1e-4);
  CHECK_NEAR(hk_state_x(w.state)[30], 0, 1e-4);
  world_destroy(&w);
}

TEST(single_precision_keeps_the_energy_of_a_lattice) {
  const char *text = "{'bodies': [{'shape': {'type': 'block', 'nx': 12, 'ny': 11, 'nz': 10, "
                     "'neighbours': 6}, 'stretch': [1.1, 1, 0.95], 'springs': {'k': 1000%s}, "
                     "'mass': {'per_vertex': 0.01}}], 'forces': [%s], 'outputs': []}";
  for (int q = 0; q < 2; q++) {
    Options o = single(names[q], 1e-4);
    o.forces = "";
    World w = world_of(text, o);
    if (!w.state) return;
    double before = world_info(&w).total, most = 0;
    for (int part = 0; part < 10; part++) {
      MUST(hk_sim_steps(w.sim, w.state, 100, error));
      most = fmax(most, fabs(world_info(&w).total / before - 1));
    }
    CHECK_NEAR(most, 0, 0.01);
    CHECK(world_info(&w).kinetic > 0.1 * before);
    world_destroy(&w);
  }
}

/* Moved away from the origin, the same lattice does the same to within what its positions resolve;
 * floats at 1000 m alone would tear it apart: they are 0.06 mm from each other. */
TEST(a_lattice_far_from_the_origin_does_not_fall_apart_in_single_precision) {
  const char *text = "{'bodies': [{'shape': {'type': 'grid', 'nx': 40, 'ny': 30}, 'springs': {'k': "
                     "100%s, 'shear': true}, 'stretch': [1.2, 0.9, 1], 'mass': 0.5, 'transform': "
                     "{'translate': [1000, -3000, 20]}}], 'forces': [%s], 'outputs': []}";
  Options o = default_options;
  o.forces = "";
  World twice = world_of(text, o);
  o.precision = "single";
  World once = world_of(text, o);
  if (!twice.state || !once.state) return;
  MUST(hk_sim_steps(twice.sim, twice.state, 300, error));
  for (int q = 0; q < 30; q++) MUST(hk_sim_steps(once.sim, once.state, 10, error));
  CHECK_NEAR(apart(&twice, &once), 0, 1e-5);
  CHECK(world_info(&twice).speed_max > 0.1);
  world_destroy(&twice);
  world_destroy(&once);
}

TEST(live_changes_reach_steps_in_single_precision) {
  Options o = single("symplectic_euler", 1e-3);
  World once = world_of(hanging, o);
  o.precision = "double";
  World twice = world_of(hanging, o);
  if (!once.state || !twice.state) return;
  HkMethod drag = {0};
  MUST(hk_method_choose(&drag, HK_FORCE, "drag", error));
  World *both[] = {&once, &twice};
  for (int q = 0; q < 2; q++) {
    MUST(hk_sim_steps(both[q]->sim, both[q]->state, 20, error));
    MUST(hk_model_scale_stiffness(both[q]->model, 1.5, error));
    MUST(hk_model_add_force(both[q]->model, &drag, NULL, error));
    MUST(hk_sim_steps(both[q]->sim, both[q]->state, 40, error));
  }
  CHECK_NEAR(apart(&once, &twice), 0, 3e-5);
  hk_method_clear(&drag);
  world_destroy(&once);
  world_destroy(&twice);
}
