/* The contracts of the public interface: arguments that make no sense are refused with a sentence,
 * and nothing is read or written beyond an array. Sanitizers look over the shoulders of all this.
 */
#include "world.h"

#include "hooke/device.h"
#include "hooke/run.h"
#include "model/state.h"

#include <stdint.h>

#define CHAIN "{'bodies': [{'shape': {'type': 'chain', 'n': %d}}], 'pins': [{'select': 'start'}]}"

static World chain(int n) {
  char text[256];
  snprintf(text, sizeof text, CHAIN, n);
  return world_parse(text);
}

static bool all_nan(const double *values, int64_t count) {
  for (int64_t q = 0; q < count; q++)
    if (!isnan(values[q])) return false;
  return true;
}

/* ---- States of another model ---- */

TEST(reports_of_another_models_state_are_nan) {
  World small = chain(3), large = chain(2000);
  double f[9], R[3];
  HkStateInfo info;
  World *pairs[2][2] = {{&small, &large}, {&large, &small}};
  for (int q = 0; q < 2; q++) {
    World *own = pairs[q][0], *other = pairs[q][1];
    hk_sim_state_info(own->sim, other->state, &info);
    CHECK(all_nan(&info.time, (int64_t)(sizeof info / sizeof(double))));
  }
  hk_sim_forces(small.sim, large.state, f);
  CHECK(all_nan(f, 9));
  hk_sim_energy_gradient(small.sim, large.state, f);
  CHECK(all_nan(f, 9));
  hk_sim_reactions(small.sim, large.state, R);
  CHECK(all_nan(R, 3));
  hk_sim_state_info(small.sim, small.state, &info);
  CHECK(isfinite(info.total));
  world_destroy(&small);
  world_destroy(&large);
}

TEST(calls_refuse_another_models_state) {
  World small = chain(3), large = chain(2000);
  HkTriplets *K = NULL;
  HkViewer *viewer = NULL;
  HkDeviceArray *array = NULL;
  double h;
  FAILS(hk_sim_step(small.sim, large.state, error), HK_ERROR_INVALID, "another model");
  FAILS(hk_sim_steps(small.sim, large.state, 0, error), HK_ERROR_INVALID, "another model");
  FAILS(hk_sim_stable_step(small.sim, large.state, &h, error), HK_ERROR_INVALID, "another model");
  FAILS(hk_sim_stiffness(small.sim, large.state, &K, error), HK_ERROR_INVALID, "another model");
  FAILS(hk_state_copy(small.state, large.state, error), HK_ERROR_INVALID, "different models");
  FAILS(hk_state_release_pin(large.state, small.model, 0, error), HK_ERROR_INVALID, "another");
  FAILS(hk_state_hold_pin(large.state, small.model, 0, error), HK_ERROR_INVALID, "another model");
  MUST(hk_viewer_create(small.scene, small.model, 10, 0, &viewer, error));
  FAILS(hk_viewer_add(viewer, small.sim, large.state, error), HK_ERROR_INVALID, "another model");
  FAILS(hk_viewer_add(viewer, large.sim, small.state, error), HK_ERROR_INVALID, "another model");
  FAILS(hk_sim_read_device(small.sim, small.state, (HkArrayKind)7, &array, error), HK_ERROR_INVALID,
        "no array 7");
  FAILS(hk_sim_write_device(small.sim, small.state, HK_POSITIONS, NULL, error), HK_ERROR_INVALID,
        "no address");
  MUST(hk_state_copy(small.state, small.state, error));
  hk_viewer_destroy(&viewer);
  world_destroy(&small);
  world_destroy(&large);
}

TEST(states_that_lie_about_their_pins_fit_no_model) {
  World w = chain(10);
  HkState *state = NULL;
  size_t size = hk_state_packed_size(w.state);
  char *bytes = malloc(size + 16);
  hk_state_pack(w.state, bytes);
  int64_t pins = 4; /* the head is fingerprint, n, pins, ...: three more than there are */
  memcpy(bytes + 16, &pins, sizeof pins);
  memset(bytes + size, 1, 3);
  MUST(hk_state_from_bytes(NULL, bytes, size + 3, &state, error));
  FAILS(hk_sim_step(w.sim, state, error), HK_ERROR_INVALID, "another model");
  FAILS(hk_state_copy(state, w.state, error), HK_ERROR_INVALID, "different models");
  FAILS(hk_state_copy(w.state, state, error), HK_ERROR_INVALID, "different models");
  hk_state_destroy(&state);
  FAILS(hk_state_from_bytes(NULL, NULL, 1000, &state, error), HK_ERROR_FORMAT, "no state");
  free(bytes);
  world_destroy(&w);
}

TEST(steps_refuse_a_time_that_is_not_finite) {
  World w = chain(5);
  hk_state_set_time(w.state, NAN);
  FAILS(hk_sim_step(w.sim, w.state, error), HK_ERROR_INVALID, "time of the state");
  FAILS(hk_sim_steps(w.sim, w.state, -1, error), HK_ERROR_INVALID, "-1 steps");
  world_destroy(&w);
}

/* ---- Selections ---- */

TEST(selections_refuse_what_makes_no_sense) {
  World w = chain(5);
  int32_t *vertices = NULL, two[] = {1, 2};
  int64_t count;
  HkPin pin = hk_pin_default();
  HkSelect bad[] = {
      {.kind = HK_SELECT_LOWEST, .axis = 9},
      {.kind = HK_SELECT_HIGHEST, .axis = -1},
      {.kind = HK_SELECT_INDICES, .count = 3},
      {.kind = HK_SELECT_VERTICES, .count = INT64_MAX, .indices = two},
      {.kind = HK_SELECT_INDICES, .count = -2, .indices = two},
      {.kind = HK_SELECT_SPHERE, .value = NAN},
      {.kind = HK_SELECT_NEAREST, .point = {NAN, 0, 0}},
      {.kind = HK_SELECT_BOX, .other = {0, NAN, 0}},
      {.kind = HK_SELECT_SET},
      {.kind = (HkSelectKind)42},
  };
  for (size_t q = 0; q < sizeof bad / sizeof bad[0]; q++) {
    FAILS(hk_model_select(w.model, &bad[q], &vertices, &count, error), HK_ERROR_INVALID, "select");
    CHECK(!vertices && count == 0);
  }
  FAILS(hk_model_select(
            w.model,
            &(HkSelect){.kind = HK_SELECT_VERTICES, .count = INT64_MAX / 8, .indices = two},
            &vertices, &count, error),
        HK_ERROR_MEMORY, "selection");
  pin.select = bad[2];
  FAILS(hk_scene_add_pin(w.scene, &pin, NULL, error), HK_ERROR_INVALID, "no list");
  FAILS(hk_scene_add_probe(w.scene, &(HkProbe){"a", bad[4]}, NULL, error), HK_ERROR_INVALID,
        "-2 indices");
  HkSelect half = {.kind = HK_SELECT_BOX,
                   .point = {-INFINITY, -INFINITY, -INFINITY},
                   .other = {INFINITY, INFINITY, INFINITY}};
  MUST(hk_model_select(w.model, &half, &vertices, &count, error));
  CHECK(count == 5);
  hk_selection_destroy(w.model, &vertices);
  world_destroy(&w);
}

/* ---- Meshes ---- */

TEST(meshes_refuse_counts_that_overflow) {
  HkMesh *mesh = NULL;
  double x[6] = {0, 0, 0, 1, 0, 0}, bad[3] = {0, INFINITY, 0};
  int32_t line[2] = {0, 1}, far[2] = {0, 2};
  MUST(hk_mesh_create(NULL, &mesh, error));
  MUST(hk_mesh_add_vertices(mesh, x, 2, error));
  const int64_t counts[] = {-1, INT64_MAX, INT64_MAX / 3 + 1, INT64_MAX - 1, INT64_MIN};
  for (int q = 0; q < 5; q++) {
    FAILS(hk_mesh_add_vertices(mesh, x, counts[q], error), HK_ERROR_INVALID, "cannot be added");
    FAILS(hk_mesh_add_set(mesh, "a", line, counts[q], error), HK_ERROR_INVALID, "cannot be added");
  }
  FAILS(hk_mesh_add_vertices(mesh, NULL, 1, error), HK_ERROR_INVALID, "cannot be added");
  FAILS(hk_mesh_add_vertices(mesh, bad, 1, error), HK_ERROR_INVALID, "not finite");
  FAILS(hk_mesh_add_set(mesh, "a", NULL, 1, error), HK_ERROR_INVALID, "cannot be added");
  FAILS(hk_mesh_add_set(mesh, "a", far, 2, error), HK_ERROR_INVALID, "vertex 2");
  FAILS(hk_mesh_add_cell(mesh, HK_CELL_LINE, NULL, 2, error), HK_ERROR_INVALID, "2 vertices");
  FAILS(hk_mesh_add_cell(mesh, HK_CELL_LINE, far, 2, error), HK_ERROR_INVALID, "vertex 2");
  FAILS(hk_mesh_add_cell(mesh, (HkCellType)77, line, 2, error), HK_ERROR_INVALID, "type 77");
  FAILS(hk_mesh_add_cell(mesh, HK_CELL_POLYGON, line, -3, error), HK_ERROR_INVALID, "-3 corners");
  CHECK(hk_mesh_vertex_count(mesh) == 2 && hk_mesh_cell_count(mesh) == 0);
  MUST(hk_mesh_add_cell(mesh, HK_CELL_LINE, line, 2, error));
  CHECK(hk_mesh_cell(mesh, 1).count == 0 && hk_mesh_cell(mesh, -1).count == 0);
  CHECK(hk_mesh_cell(mesh, INT64_MAX).count == 0 && hk_mesh_cell(mesh, 0).count == 2);
  CHECK(!hk_mesh_set_name(mesh, 5) && !hk_mesh_set_name(mesh, -1));
  HkMesh *none = NULL;
  FAILS(hk_mesh_parse(NULL, "obj", NULL, 10, "x", &none, error), HK_ERROR_INVALID, "10 bytes");
  hk_mesh_destroy(&mesh);
}

/* ---- Structs that are filled in C ---- */

/* Compiles a scene of one chain after `spoil` has set one value. */
static HkStatus compile_spoilt(void (*spoil)(HkScene *scene), HkError *error) {
  HkScene *scene = NULL;
  HkModel *model = NULL;
  char text[256];
  snprintf(text, sizeof text, CHAIN, 4);
  HkStatus status =
      hk_scene_parse(NULL, test_json(text), strlen(text), "scene", NULL, NULL, 0, &scene, error);
  if (status >= 0) {
    spoil(scene);
    status = hk_model_compile(scene, &model, error);
  }
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return status;
}

#define SPOIL(name, statement)                                                                     \
  static void spoil_##name(HkScene *scene) {                                                       \
    statement;                                                                                     \
  }
SPOIL(velocity, scene->bodies[0].velocity[1] = NAN)
SPOIL(spin, scene->bodies[0].spin[0] = INFINITY)
SPOIL(stretch, scene->bodies[0].stretch[2] = NAN)
SPOIL(scale, scene->bodies[0].transform.scale[0] = NAN)
SPOIL(angle, scene->bodies[0].transform.angle = INFINITY)
SPOIL(translate, scene->bodies[0].transform.translate[0] = NAN)
SPOIL(k, scene->bodies[0].springs.k = -5)
SPOIL(EA, scene->bodies[0].springs.EA = INFINITY)
SPOIL(rest_scale, scene->bodies[0].springs.rest_scale = NAN)
SPOIL(damping, scene->bodies[0].springs.damping = NAN)
SPOIL(table, scene->bodies[0].springs.table.rows = 7)
SPOIL(total, scene->bodies[0].mass.total = -1)
SPOIL(distribution, scene->bodies[0].mass.distribution = 5)
SPOIL(added, scene->bodies[0].mass.added.rows = -3)
SPOIL(weld, scene->bodies[0].repair.weld = NAN)
SPOIL(duration, scene->time.duration = INFINITY)
SPOIL(step, scene->time.step = NAN)
SPOIL(tolerance, scene->time.tolerance = -1)
SPOIL(bound, scene->time.energy_bound = -INFINITY)
SPOIL(dimension, scene->dimension = 4)
SPOIL(up, scene->up = -1)
SPOIL(release, scene->pins[0].release = NAN)
SPOIL(axis, (scene->pins[0].select.kind = HK_SELECT_LOWEST, scene->pins[0].select.axis = 9))
SPOIL(shape, *(int *)scene->bodies[0].shape.params = -7)

TEST(models_refuse_scenes_filled_with_nonsense) {
  static const struct {
    void (*spoil)(HkScene *scene);
    const char *name;
  } cases[] = {{spoil_velocity, "velocity"},
               {spoil_spin, "spin"},
               {spoil_stretch, "stretch"},
               {spoil_scale, "transform.scale"},
               {spoil_angle, "angle"},
               {spoil_translate, "translate"},
               {spoil_k, "springs.k"},
               {spoil_EA, "springs.EA"},
               {spoil_table, "table"},
               {spoil_rest_scale, "rest_scale"},
               {spoil_total, "mass.total"},
               {spoil_damping, "springs.damping"},
               {spoil_added, "added"},
               {spoil_distribution, "distribution"},
               {spoil_weld, "weld"},
               {spoil_duration, "time"},
               {spoil_step, "time"},
               {spoil_tolerance, "tolerance"},
               {spoil_bound, "energy_bound"},
               {spoil_dimension, "dimension"},
               {spoil_up, "up"},
               {spoil_release, "release"},
               {spoil_axis, "axis 9"},
               {spoil_shape, "shape.n"}};
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++)
    FAILS(compile_spoilt(cases[q].spoil, error), HK_ERROR_INVALID, cases[q].name);
}

/* ---- Methods ---- */

TEST(methods_refuse_values_that_make_no_sense) {
  HkMethod force = {0}, motion = {0};
  double row[3] = {0, NAN, 0};
  MUST(hk_method_choose(&force, HK_FORCE, "wind", error));
  FAILS(hk_method_set_vector(&force, "velocity", row, error), HK_ERROR_INVALID, "finite");
  FAILS(hk_method_set_number(&force, "no_such", 1, error), HK_ERROR_INVALID, "no parameter");
  FAILS(hk_method_choose(&force, (HkFamily)99, "wind", error), HK_ERROR_INVALID, "no unknown");
  CHECK(!hk_schema_at((HkFamily)99, 0) && hk_schema_count((HkFamily)-1) == 0);
  MUST(hk_method_choose(&motion, HK_MOTION, "keyframes", error));
  const HkParam *table = NULL;
  for (int q = 0; q < motion.schema->param_count; q++)
    if (motion.schema->params[q].kind == HK_PARAM_TABLE) table = &motion.schema->params[q];
  if (table) {
    FAILS(hk_method_set_table(&motion, table->name, NULL, 4, error), HK_ERROR_INVALID, "4 rows");
    FAILS(hk_method_set_table(&motion, table->name, row, -1, error), HK_ERROR_INVALID, "-1 rows");
  }
  CHECK(table != NULL);
  FAILS(hk_method_parse(&force, HK_FORCE, NULL, 4, "x", error), HK_ERROR_INVALID, "not there");
  hk_method_clear(&force);
  hk_method_clear(&motion);
}

TEST(live_changes_refuse_what_makes_no_sense) {
  World w = chain(5);
  HkMethod wind = {0}, gravity = {0};
  MUST(hk_method_choose(&wind, HK_FORCE, "wind", error));
  MUST(hk_method_choose(&gravity, HK_MOTION, "fixed", error));
  const HkParam *velocity = hk_param_find(wind.schema, "velocity");
  const double nan = NAN;
  CHECK(velocity != NULL);
  if (velocity) memcpy((char *)wind.params + velocity->offset, &nan, sizeof nan);
  FAILS(hk_model_add_force(w.model, &wind, NULL, error), HK_ERROR_INVALID, "velocity");
  FAILS(hk_model_add_force(w.model, &gravity, NULL, error), HK_ERROR_INVALID, "not a force");
  FAILS(hk_model_set_force(w.model, 9, &wind, error), HK_ERROR_INVALID, "no force 9");
  FAILS(hk_model_remove_force(w.model, -1, error), HK_ERROR_INVALID, "no force -1");
  FAILS(hk_model_set_motion(w.model, 3, NULL, error), HK_ERROR_INVALID, "no pin 3");
  FAILS(hk_model_scale_stiffness(w.model, NAN, error), HK_ERROR_INVALID, "factor");
  FAILS(hk_model_set_stiffness(w.model, INFINITY, error), HK_ERROR_INVALID, "stiffness");
  FAILS(hk_state_release_pin(w.state, w.model, -5, error), HK_ERROR_INVALID, "no pin");
  FAILS(hk_state_hold_pin(w.state, w.model, INT32_MAX, error), HK_ERROR_INVALID, "no pin");
  CHECK(!hk_model_force(w.model, 7) && hk_model_force_count(w.model) == 1);
  CHECK(!hk_model_body(w.model, 4, NULL, NULL) && !hk_model_set_name(w.model, 0, 99, NULL));
  hk_method_clear(&wind);
  hk_method_clear(&gravity);
  world_destroy(&w);
}

/* ---- Simulations, picking, runs ---- */

TEST(simulations_refuse_steps_that_make_no_sense) {
  World w = chain(5);
  HkSim *sim = NULL;
  const double bad[] = {NAN, INFINITY, -1};
  for (int q = 0; q < 3; q++) {
    FAILS(hk_sim_create(w.model, NULL, bad[q], &sim, error), HK_ERROR_INVALID, "not possible");
    FAILS(hk_sim_set_h(w.sim, bad[q], error), HK_ERROR_INVALID, "not possible");
  }
  FAILS(hk_sim_set_h(w.sim, 0, error), HK_ERROR_INVALID, "not possible");
  FAILS(hk_sim_create(w.model, hk_model_force(w.model, 0), 0.1, &sim, error), HK_ERROR_INVALID,
        "not an integrator");
  HkMethod step = {0};
  MUST(hk_method_choose(&step, HK_STEP, "backward_euler", error));
  for (int q = 0; q < step.schema->param_count; q++)
    if (step.schema->params[q].kind == HK_PARAM_INTEGER)
      *(int *)((char *)step.params + step.schema->params[q].offset) = -1000;
  FAILS(hk_sim_create(w.model, &step, 0.1, &sim, error), HK_ERROR_INVALID, "integrator.");
  hk_method_clear(&step);
  world_destroy(&w);
}

TEST(picking_nowhere_finds_nothing) {
  World w = chain(5);
  double distance = 3;
  CHECK(hk_state_nearest(w.state, (double[]){NAN, 0, 0}, &distance) == -1 && distance == 3);
  CHECK(hk_state_nearest_to_ray(w.state, (double[]){0, 0, 0}, (double[]){0, 0, 0}, 1, NULL) == -1);
  CHECK(hk_state_nearest_to_ray(w.state, (double[]){NAN, 0, 0}, (double[]){1, 0, 0}, 1, NULL) ==
        -1);
  world_destroy(&w);
}

TEST(runs_and_viewers_refuse_options_that_make_no_sense) {
  World w = chain(5);
  HkRun *run = NULL;
  HkViewer *viewer = NULL;
  HkRunOptions options = hk_run_options_default();
  options.checkpoint_seconds = NAN;
  FAILS(hk_run_create(w.scene, &options, &run, error), HK_ERROR_INVALID, "checkpoints");
  FAILS(hk_viewer_create(w.scene, w.model, INT64_MIN, 0, &viewer, error), HK_ERROR_INVALID,
        "nothing to show");
  FAILS(hk_viewer_create(w.scene, w.model, 10, NAN, &viewer, error), HK_ERROR_INVALID, "bytes");
  HkScene *scene = NULL;
  FAILS(hk_scene_parse(NULL, NULL, 5, "x", NULL, NULL, 0, &scene, error), HK_ERROR_INVALID,
        "not there");
  FAILS(hk_scene_parse(NULL, "{}", 2, "x", NULL, NULL, 2, &scene, error), HK_ERROR_INVALID,
        "2 settings");
  CHECK(!run && !viewer && !scene);
  world_destroy(&w);
}
