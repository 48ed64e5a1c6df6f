/* Sheets: a regular cloth whose springs are not stored moves as the model of the same scene does.
 * Without a GPU a plug-in plays the device (tests/plugin); with HOOKE_PLUGINS set to the folder of
 * the real one, the same tests look at the GPU. */
#include "hooke/sheet.h"

#include "device_world.h"

/* Shape, the rest of the body, pins and forces. */
#define SCENE                                                                                      \
  "{'time': {'step': %g}, 'bodies': [{'shape': {'type': 'grid', %s}, %s}], 'pins': [%s], "         \
  "'forces': [%s], 'integrator': 'symplectic_euler', 'outputs': []}"
#define CLOTH "'springs': {'k': 300, 'shear': true, 'bending': true}"

typedef struct Setup {
  const char *shape, *body, *pins, *forces;
} Setup;

static const Setup setups[] = {
    {"'nx': 40, 'ny': 37, 'plane': 'xz'", CLOTH ", 'mass': 0.5",
     "{'select': 'top_left'}, {'select': 'top_right'}", "'gravity'"},
    {"'nx': 70, 'ny': 50, 'width': 2, 'height': 0.7, 'centered': true",
     "'springs': {'EA': 20, 'EA_shear': 5, 'k_bending': 7, 'shear': true, 'bending': true, "
     "'rest_scale': 0.95}, 'mass': {'total': 3, 'distribution': 'lumped'}, 'transform': {'scale': "
     "[1, 2, 1], 'axis': [1, 2, 3], 'angle': 40, 'translate': [3, -2, 5]}",
     "{'select': 'top'}", "'gravity', {'type': 'wind', 'velocity': [2, 0, 1], 'gust': 0.5}"},
    {"'nx': 33, 'ny': 5, 'plane': 'xz'", CLOTH ", 'mass': {'per_vertex': 0.001}",
     "{'select': 'corners'}",
     "'gravity', {'type': 'drag', 'quadratic': 0.001}, {'type': 'buoyancy', 'level': -0.01}"},
    {"'nx': 2, 'ny': 2, 'plane': 'xz'", CLOTH ", 'mass': {'area_density': 0.3}",
     "{'select': 'top_left'}", "'gravity'"},
    {"'nx': 3, 'ny': 100", "'springs': {'k': 300, 'shear': true}, 'velocity': [0.1, 0.2, 0.3]",
     "{'select': 'boundary'}", "'gravity'"},
    {"'nx': 34, 'ny': 34", "'springs': {'k': 300}, 'velocity': [0.1, 0.2, 0.3], 'mass': 5", "",
     "'gravity'"},
};
enum { SETUPS = sizeof setups / sizeof setups[0] };
static const double H = 2e-4;

static HkStatus make_scene(const Setup *setup, double h, HkDeviceKind device, HkScene **scene,
                           HkError *error) {
  char text[2000];
  snprintf(text, sizeof text, SCENE, h, setup->shape, setup->body, setup->pins, setup->forces);
  const char *json = test_json(text);
  HkContext context = hk_context_default();
  context.device = device;
  return hk_scene_parse(&context, json, strlen(json), "scene", NULL, NULL, 0, scene, error);
}

static HkStatus make_sheet(const Setup *setup, double h, HkDeviceKind device, HkSheet **sheet,
                           HkError *error) {
  HkScene *scene = NULL;
  device_use_plugin();
  HkStatus status = make_scene(setup, h, device, &scene, error);
  if (status >= 0) status = hk_sheet_create(scene, sheet, error);
  hk_scene_destroy(&scene);
  return status;
}

/* Moves a model and a sheet of the same scene and compares them: positions and velocities times 1
 * ms in parts of 1 m. */
static void compare(const Setup *setup, HkDeviceKind device, int steps, double tolerance) {
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkSheet *sheet = NULL;
  HkSheetInfo info;
  HkStateInfo expected;
  MUST(make_scene(setup, H, HK_CPU, &scene, error));
  MUST(hk_model_compile(scene, &model, error));
  MUST(hk_sim_create(model, NULL, 0, &sim, error));
  MUST(hk_state_create(model, &state, error));
  MUST(hk_sim_steps(sim, state, steps, error));
  MUST(make_sheet(setup, H, device, &sheet, error));
  MUST(hk_sheet_steps(sheet, steps - 1, error));
  MUST(hk_sheet_steps(sheet, 1, error));
  MUST(hk_sheet_info(sheet, &info, error));
  int64_t n = info.nx * info.ny;
  CHECK(n == hk_state_vertex_count(state) && info.springs == hk_model_springs(model).count);
  double *x = calloc((size_t)(6 * n), sizeof *x), *v = x + 3 * n, most = 0;
  HkSheetWindow all = {0, 0, info.nx, info.ny, 1};
  MUST(hk_sheet_read(sheet, &all, x, v, error));
  for (int64_t q = 0; q < 3 * n; q++)
    most = fmax(most, fmax(fabs(x[q] - hk_state_positions(state)[q]),
                           1e-3 * fabs(v[q] - hk_state_velocities(state)[q])));
  if (!(most <= tolerance)) test_fail(__FILE__, __LINE__, "%s: off by %g", setup->shape, most);
  hk_sim_state_info(sim, state, &expected);
  double scale = expected.kinetic + expected.spring;
  CHECK_NEAR(info.time, expected.time, 1e-12);
  CHECK_NEAR(info.kinetic, expected.kinetic, 100 * tolerance * scale);
  CHECK_NEAR(info.spring, expected.spring, 100 * tolerance * scale);
  CHECK_NEAR(info.gravity, expected.gravity, 10 * tolerance);
  free(x);
  hk_sheet_destroy(&sheet);
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}

TEST(a_sheet_in_double_precision_moves_as_its_model) {
  for (int q = 0; q < SETUPS; q++) compare(&setups[q], HK_CUDA_DOUBLE, 100, 1e-11);
}

TEST(a_sheet_in_single_precision_moves_as_its_model) {
  for (int q = 0; q < SETUPS; q++) compare(&setups[q], HK_CUDA, 100, 2e-6);
}

/* Floats resolve 6e-5 m there, half a thousandth of the distance of two vertices. */
TEST(a_sheet_far_from_the_origin_keeps_its_precision) {
  Setup far = {"'nx': 40, 'ny': 37, 'plane': 'xz', 'width': 4, 'height': 4",
               CLOTH ", 'mass': 0.5, 'transform': {'translate': [1000, 1000, 1000]}",
               "{'select': 'top_left'}, {'select': 'top_right'}", "'gravity'"};
  compare(&far, HK_CUDA, 100, 2e-6);
}

TEST(pins_of_a_sheet_stay_and_are_not_written) {
  HkSheet *sheet = NULL;
  double x[6], before[6], v[6] = {1, 2, 3, 4, 5, 6}, other[6] = {9, 9, 9, 9, 9, 9};
  HkSheetWindow corner = {0, 36, 2, 1, 1}; /* the first vertex of the two is a pin */
  MUST(make_sheet(&setups[0], H, HK_CUDA, &sheet, error));
  MUST(hk_sheet_read(sheet, &corner, before, NULL, error));
  MUST(hk_sheet_write(sheet, &corner, other, v, error));
  MUST(hk_sheet_read(sheet, &corner, x, v, error));
  CHECK(memcmp(x, before, 3 * sizeof *x) == 0 && memcmp(x + 3, other, 3 * sizeof *x) == 0);
  CHECK(v[0] == 0 && v[1] == 0 && v[2] == 0 && v[3] == 4 && v[5] == 6);
  MUST(hk_sheet_write(sheet, &corner, before, NULL, error));
  MUST(hk_sheet_steps(sheet, 50, error));
  MUST(hk_sheet_read(sheet, &corner, x, NULL, error));
  CHECK(memcmp(x, before, 3 * sizeof *x) == 0 && memcmp(x + 3, before + 3, 3 * sizeof *x) != 0);
  hk_sheet_destroy(&sheet);
}

TEST(a_sheet_that_is_read_and_written_into_another_continues_with_the_same_bits) {
  enum { N = 40 * 37 };
  HkSheet *one = NULL, *two = NULL;
  static double x[3 * N], v[3 * N], y[3 * N], w[3 * N];
  HkSheetWindow all = {0, 0, 40, 37, 1};
  MUST(make_sheet(&setups[0], H, HK_CUDA, &one, error));
  MUST(make_sheet(&setups[0], H, HK_CUDA, &two, error));
  MUST(hk_sheet_steps(one, 101, error));
  MUST(hk_sheet_read(one, &all, x, v, error));
  MUST(hk_sheet_write(two, &all, x, v, error));
  MUST(hk_sheet_steps(one, 57, error));
  MUST(hk_sheet_steps(two, 57, error)); /* gravity does not depend on time */
  MUST(hk_sheet_read(one, &all, x, v, error));
  MUST(hk_sheet_read(two, &all, y, w, error));
  CHECK(memcmp(x, y, sizeof x) == 0 && memcmp(v, w, sizeof v) == 0);
  hk_sheet_destroy(&one);
  hk_sheet_destroy(&two);
}

TEST(windows_of_a_sheet_select_every_nth_vertex_and_are_checked) {
  HkSheet *sheet = NULL;
  static double all[3 * 40 * 37], some[3 * 6 * 5];
  HkSheetWindow whole = {0, 0, 40, 37, 1}, every = {3, 2, 6, 5, 7};
  MUST(make_sheet(&setups[0], H, HK_CUDA, &sheet, error));
  MUST(hk_sheet_steps(sheet, 100, error));
  MUST(hk_sheet_read(sheet, &whole, all, NULL, error));
  MUST(hk_sheet_read(sheet, &every, some, NULL, error));
  for (int b = 0; b < 5; b++)
    for (int a = 0; a < 6; a++)
      CHECK(memcmp(some + 3 * (6 * b + a), all + 3 * (40 * (2 + 7 * b) + 3 + 7 * a),
                   3 * sizeof *all) == 0);
  HkSheetWindow bad[] = {{0, 0, 41, 1, 1},       {-1, 0, 1, 1, 1}, {0, 0, 0, 1, 1},
                         {0, 0, 1, 1, 0},        {0, 37, 1, 1, 1}, {1, 0, 14, 1, 3},
                         {0, 0, 3, 1, INT64_MAX}};
  for (size_t q = 0; q < sizeof bad / sizeof bad[0]; q++)
    FAILS(hk_sheet_read(sheet, &bad[q], all, NULL, error), HK_ERROR_INVALID, "is not within");
  FAILS(hk_sheet_steps(sheet, -1, error), HK_ERROR_INVALID, "must not be negative");
  all[5] = NAN;
  FAILS(hk_sheet_write(sheet, &whole, all, NULL, error), HK_ERROR_INVALID, "vertex 1");
  hk_sheet_destroy(&sheet);
}

static void refuses(const Setup *setup, const char *text) {
  HkSheet *sheet = NULL;
  FAILS(make_sheet(setup, H, HK_CUDA, &sheet, error), HK_ERROR_UNSUPPORTED, text);
  CHECK(sheet == NULL);
}

TEST(what_a_sheet_does_not_support_is_refused_by_its_name) {
  const char *grid = "'nx': 9, 'ny': 9", *top = "{'select': 'top'}";
  const Setup cases[] = {
      {grid, "'springs': {'k': 1, 'damping': 1}", top, ""},
      {grid, "'springs': {'k': 1, 'tension_only': true}", top, ""},
      {grid, "'stretch': [2, 1, 1]", top, ""},
      {grid, "'spin': [2, 1, 1]", top, ""},
      {grid, CLOTH, "{'select': {'indices': [3, 4]}}", ""},
      {grid, CLOTH, "{'select': 'top', 'release': 1}", ""},
      {grid, CLOTH, "{'select': 'center'}", ""},
      {grid, CLOTH, top, "{'type': 'face_wind', 'velocity': [1, 0, 0]}"},
      {grid, CLOTH, top, "'contact'"},
      {"'nx': 9, 'ny': 9, 'cells': 'triangles'", CLOTH, top, ""},
      {grid, CLOTH ", 'mass': {'total': 1, 'added': [[3, 1]]}", top, ""},
  };
  const char *const texts[] = {"damped springs",    "tension-only",
                               "stretched start",   "a spin",
                               "named set",         "fixed for ever",
                               "pins of a sheet",   "face_wind",
                               "'contact'",         "of a sheet have to be the same",
                               "masses of vertices"};
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) refuses(&cases[q], texts[q]);
}

TEST(a_sheet_needs_a_device_and_memory) {
  HkSheet *sheet = NULL;
  Setup huge = setups[0];
  huge.shape = "'nx': 100000000, 'ny': 100000";
  FAILS(make_sheet(&setups[0], H, HK_CPU, &sheet, error), HK_ERROR_UNSUPPORTED, "needs a device");
  FAILS(make_sheet(&huge, 1e-9, HK_CUDA, &sheet, error), HK_ERROR_MEMORY, "GB of device memory");
}

TEST(the_step_of_a_sheet_is_picked_by_stability_and_a_larger_one_blows_up) {
  HkSheet *sheet = NULL;
  HkSheetInfo info;
  MUST(make_sheet(&setups[0], 0, HK_CUDA, &sheet, error));
  MUST(hk_sheet_steps(sheet, 2000, error));
  MUST(hk_sheet_info(sheet, &info, error));
  double energy = info.kinetic + info.spring + info.gravity;
  CHECK_NEAR(energy, 0, 0.05 * fabs(info.gravity));
  hk_sheet_destroy(&sheet);
  MUST(make_sheet(&setups[0], 3 * info.h, HK_CUDA, &sheet, error));
  FAILS(hk_sheet_steps(sheet, 2000, error), HK_ERROR_BLOWUP, "no longer finite");
  hk_sheet_destroy(&sheet);
}
