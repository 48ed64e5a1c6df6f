/* Forces of shared libraries: they are the forces of the caller that the library describes, scenes
 * load them only where that is allowed, and a library is loaded as long as it is needed. */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include "model_by_hand.h"
#include "world.h"

#include "hooke/run.h"

#include <dlfcn.h>
#include <pthread.h>

static const char magnet_settings[] = "strength=0.05 at=0.4,0.3,0.3 distance=0.25";

/* A cloth between its corners, and %s: further forces. */
static const char *const cloth =
    "{'integrator': %s, 'time': {'step': 0.005}, 'bodies': [{'shape': {'type': 'grid', 'nx': 6, "
    "'ny': 5}, 'springs': {'k': 300, 'shear': true, 'rest_scale': 0.5}, 'mass': 0.8}], 'pins': "
    "[{'select': 'corners'}], 'forces': ['gravity'%s], 'outputs': []}";

/* The force of a scene that is in a library. */
static const char *library_force(const char *file, const char *name, const char *settings) {
  static char text[1024];
  snprintf(text, sizeof text,
           ",\n{'type': 'library', 'file': '%s', 'name': '%s', 'settings': '%s'}", file, name,
           settings);
  return text;
}

typedef struct Wish {
  const char *integrator, *forces, *folder;
  bool libraries;
  int threads;
  HkDeviceKind device;
} Wish;

static HkStatus make(const Wish *wish, World *w, HkError *error) {
  HkContext context = hk_context_default();
  char text[4096];
  context.libraries = wish->libraries;
  context.threads = wish->threads ? wish->threads : 1;
  context.device = wish->device;
  *w = (World){0};
  snprintf(text, sizeof text, cloth, wish->integrator ? wish->integrator : "'verlet'",
           wish->forces);
  const char *json = test_json(text);
  HkStatus status = hk_scene_parse(&context, json, strlen(json), "scene.json", wish->folder, NULL,
                                   0, &w->scene, error);
  if (status >= 0) status = hk_model_compile(w->scene, &w->model, error);
  if (status >= 0) status = hk_sim_create(w->model, NULL, 0, &w->sim, error);
  if (status >= 0) status = hk_state_create(w->model, &w->state, error);
  return status;
}

/* Fails to make a world of these forces; the message is in error. */
static HkStatus try_forces(const char *forces, bool libraries, HkError *error) {
  World w;
  Wish wish = {.forces = forces, .libraries = libraries, .folder = TEST_FORCE_LIBRARIES};
  HkStatus status = make(&wish, &w, error);
  world_destroy(&w);
  return status;
}

static bool is_loaded(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != NULL;
}

/* ---- The same force by callbacks ---- */

static HkStatus fail(HkError *error, HkStatus status, const char *message) {
  (void)error;
  test_fail(__FILE__, __LINE__, "%s", message);
  return status;
}

/* Adds the magnet without Hooke's loader; the library is to be closed after the model. */
static HkStatus add_by_callbacks(HkModel *model, void **library, HkError *error) {
  static const HkForceHost host = {.version = HK_FORCE_LIBRARY_VERSION,
                                   .size = sizeof host,
                                   .add_block = hk_force_add_block,
                                   .fail = fail};
  const HkForceLibrary *(*table)(void);
  HkForceFunctions functions = hk_force_functions_default();
  void *user = NULL;
  *library = dlopen(TEST_MAGNET, RTLD_NOW | RTLD_LOCAL);
  void *symbol = *library ? dlsym(*library, "hooke_force_library") : NULL;
  if (!symbol) return hk_fail(error, HK_ERROR_IO, "%s", dlerror());
  memcpy(&table, &symbol, sizeof table);
  HK_TRY(table()->forces[0].create(&host, model, magnet_settings, &functions, &user, error));
  return hk_model_add_custom_force(model, &functions, user, NULL, error);
}

static bool same_bits(World *a, World *b) {
  size_t size = (size_t)(3 * a->model->n) * sizeof(double);
  return memcmp(hk_state_x(a->state), hk_state_x(b->state), size) == 0 &&
         memcmp(hk_state_v(a->state), hk_state_v(b->state), size) == 0;
}

TEST(a_force_of_a_library_moves_as_the_same_force_by_callbacks_bit_for_bit) {
  static const char *const integrators[] = {
      "'verlet'", "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': 'ldlt'}}",
      "{'type': 'bdf2', 'minimizer': 'lbfgs'}"};
  for (int q = 0; q < 6; q++) {
    World scene, program, callbacks, without;
    Wish wish = {.integrator = integrators[q / 2], .forces = "", .threads = q % 2 ? 3 : 1};
    Wish loading = wish;
    void *library = NULL;
    loading.forces = library_force(TEST_MAGNET, "magnet", magnet_settings);
    loading.libraries = true;
    MUST(make(&loading, &scene, error));
    MUST(make(&wish, &program, error));
    MUST(make(&wish, &callbacks, error));
    MUST(make(&wish, &without, error));
    MUST(hk_model_add_library_force(program.model, TEST_MAGNET, "magnet", magnet_settings, NULL,
                                    error));
    MUST(add_by_callbacks(callbacks.model, &library, error));
    world_steps(&scene, 20);
    world_steps(&program, 20);
    world_steps(&callbacks, 20);
    world_steps(&without, 20);
    CHECK(same_bits(&scene, &callbacks));
    CHECK(same_bits(&program, &callbacks));
    CHECK(!same_bits(&scene, &without));
    world_destroy(&scene);
    world_destroy(&program);
    world_destroy(&callbacks);
    world_destroy(&without);
    dlclose(library);
  }
}

/* ---- The example ---- */

TEST(the_magnet_is_minus_the_gradient_of_its_energy) {
  HkModel *m = model_of_sheet(by_hand(), 3, 3);
  const double H = 1e-6;
  double f[27], x[27];
  int index;
  MUST(hk_model_add_library_force(m, TEST_MAGNET, "magnet", "strength=2 at=1,0.5,0.2 distance=0.3",
                                  &index, error));
  memcpy(x, m->x0, sizeof x);
  model_force(m, index, 0, x, NULL, f);
  CHECK(test_largest(f, 27) > 0.1);
  for (int c = 0; c < 27; c++) {
    double at = x[c];
    x[c] = at + H;
    double above = model_energy(m, index, 0, x, NULL);
    x[c] = at - H;
    double below = model_energy(m, index, 0, x, NULL);
    x[c] = at;
    CHECK_NEAR(-(above - below) / (2 * H), f[c], 1e-7 * (1 + fabs(f[c])));
  }
  model_by_hand_destroy(&m);
}

/* The block of vertex 1. */
typedef struct Kept {
  HkJacobianSink sink;
  double block[9];
} Kept;

static void keep_block(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  if (i == 1 && j == 1) memcpy(((Kept *)sink)->block, block, sizeof((Kept *)sink)->block);
}

/* The true Hessian is that of differences; the projected one lacks the part along the line to the
 * magnet where that is negative. */
TEST(the_magnet_has_a_true_and_a_projected_hessian) {
  const double H = 1e-6, places[2][3] = {{0.1, -0.05, 0.02}, {2, 1, -0.5}};
  HkModel *m = model_of_spring(places[0], 1, 1);
  int index;
  MUST(hk_model_add_library_force(m, TEST_MAGNET, "magnet", "strength=2 at=0,0,0 distance=1",
                                  &index, error));
  for (int far = 0; far < 2; far++) {
    double x[6] = {0}, above[6], below[6], along[2] = {0, 0};
    memcpy(x + 3, places[far], sizeof places[far]);
    HkForceArgs a = hk_force_args(m, index, &(HkForceWork){.springs = &m->springs}, 0, x, NULL);
    for (int projected = 0; projected < 2; projected++) {
      Kept kept = {.sink = {.dfdx = keep_block, .dfdv = hk_jacobian_skip}};
      a.curvature = projected ? HK_CURVATURE_PROJECTED : HK_CURVATURE_TRUE;
      m->forces[index].type->jacobian(&a, &kept.sink);
      for (int e = 0; e < 9; e++) along[projected] -= kept.block[e] * x[3 + e / 3] * x[3 + e % 3];
      for (int c = 0; c < 3 && !(far && projected); c++) {
        double at = x[3 + c];
        x[3 + c] = at + H;
        model_force(m, index, 0, x, NULL, above);
        x[3 + c] = at - H;
        model_force(m, index, 0, x, NULL, below);
        x[3 + c] = at;
        for (int r = 0; r < 3; r++)
          CHECK_NEAR((above[3 + r] - below[3 + r]) / (2 * H), kept.block[3 * r + c], 1e-7);
      }
    }
    CHECK(far ? along[0] < -0.01 && fabs(along[1]) < 1e-12 : along[0] == along[1]);
  }
  model_by_hand_destroy(&m);
}

TEST(a_model_describes_a_force_of_a_library_with_its_absolute_path) {
  World w;
  int index;
  char *text = NULL, *path = realpath(TEST_MAGNET, NULL);
  Wish wish = {.forces = ""};
  MUST(make(&wish, &w, error));
  MUST(hk_model_add_library_force(w.model, TEST_MAGNET, "magnet", magnet_settings, &index, error));
  CHECK(index == 2);
  MUST(hk_method_format(hk_model_force(w.model, index), &text, error));
  CHECK(path && strstr(text, "\"library\"") && strstr(text, path) && strstr(text, magnet_settings));
  free(path);
  hk_text_destroy(&text);
  MUST(hk_model_remove_force(w.model, index, error));
  CHECK(hk_model_force_count(w.model) == 2);
  world_destroy(&w);
}

/* ---- Refusals ---- */

TEST(a_scene_loads_no_library_unless_it_is_allowed) {
  const char *forces = library_force(TEST_MAGNET, "magnet", magnet_settings);
  HkMethod method = {0};
  World w;
  Wish wish = {.forces = ""};
  FAILS(try_forces(forces, false, error), HK_ERROR_UNSUPPORTED,
        "scene.json:2:29: forces[1].file: " TEST_MAGNET " is machine code, which a scene loads "
        "only where the option 'libraries' allows it");
  CHECK(!hk_context_default().libraries);
  CHECK(!is_loaded(TEST_MAGNET));
  MUST(make(&wish, &w, error));
  MUST(hk_method_choose(&method, HK_FORCE, "library", error));
  MUST(hk_method_set_text(&method, "file", TEST_MAGNET, error));
  MUST(hk_method_set_text(&method, "name", "magnet", error));
  FAILS(hk_model_add_force(w.model, &method, NULL, error), HK_ERROR_UNSUPPORTED, "libraries");
  CHECK(!is_loaded(TEST_MAGNET));
  hk_method_clear(&method);
  world_destroy(&w);
}

TEST(a_file_that_is_no_library_of_forces_is_refused_with_a_way_out) {
  typedef struct Case {
    const char *file;
    HkStatus status;
    const char *says;
  } Case;
  static const Case cases[] = {
      {"missing.so", HK_ERROR_IO, "missing.so: cannot open shared object file"},
      {"CMakeFiles", HK_ERROR_IO, "cannot load the force library"},
      {"no_symbol.so", HK_ERROR_FORMAT, "no_symbol.so does not export the function"},
      {"no_table.so", HK_ERROR_FORMAT, "returns no table of forces"},
      {"other_version.so", HK_ERROR_FORMAT, "compiled for version 3 of force libraries"},
      {"small_table.so", HK_ERROR_FORMAT, "(31 bytes), this Hooke has version 2 (32 bytes)"},
      {"negative_count.so", HK_ERROR_FORMAT, "says that it has -1 forces"},
      {"no_list.so", HK_ERROR_FORMAT, "says that it has 1 forces, but has no list"},
      {"no_name.so", HK_ERROR_FORMAT, "force 0 of the library"},
      {"no_create.so", HK_ERROR_FORMAT, "no_create.so has no function create"},
      {"no_add.so", HK_ERROR_INVALID, "no_add.so: a force needs the function add"},
      {"no_reason.so", HK_ERROR_UNSUPPORTED, "could not be created, and gives no reason"}};
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    char path[1024];
    const Case *c = &cases[q];
    if (sizeof(void *) != 8 && strstr(c->says, "bytes")) continue;
    FAILS(try_forces(library_force(c->file, "one", ""), true, error), c->status, c->says);
    FAILS(try_forces(library_force(c->file, "one", ""), true, error), c->status, "scene.json:2:");
    snprintf(path, sizeof path, "%s/%s", TEST_FORCE_LIBRARIES, c->file);
    CHECK(!is_loaded(path));
  }
}

TEST(an_unknown_force_of_a_library_gets_a_suggestion) {
  FAILS(try_forces(library_force(TEST_MAGNET, "magnt", ""), true, error), HK_ERROR_INVALID,
        "forces[1].name: the library " TEST_MAGNET " has no force 'magnt'; did you mean 'magnet'?");
  FAILS(try_forces(library_force(TEST_MAGNET, "whirlwind", ""), true, error), HK_ERROR_INVALID,
        "it has 'magnet' (attracts all vertices to a point)");
}

TEST(settings_that_the_library_refuses_are_an_error_of_the_scene) {
  FAILS(try_forces(library_force(TEST_MAGNET, "magnet", "strength=x"), true, error),
        HK_ERROR_INVALID,
        "forces[1].settings: force 'magnet' of the library: expected \"strength=");
  FAILS(try_forces(library_force(TEST_MAGNET, "magnet", "strength=1 at=0,0,0 distance=0"), true,
                   error),
        HK_ERROR_INVALID, "D above 0");
  FAILS(try_forces(",\n{'type': 'library', 'name': 'magnet'}", true, error), HK_ERROR_INVALID,
        "forces[1].file: give the file");
  FAILS(try_forces(",\n{'type': 'library', 'file': '" TEST_MAGNET "'}", true, error),
        HK_ERROR_INVALID, "forces[1].name: give the name");
  FAILS(try_forces(",\n{'type': 'library', 'file': '" TEST_MAGNET "', 'name': 'magnet'}", true,
                   error),
        HK_ERROR_INVALID, "forces[1].settings: force 'magnet' of the library: expected");
  CHECK(!is_loaded(TEST_MAGNET));
}

TEST(devices_refuse_a_force_of_a_library) {
  World w;
  HkError error = {0};
  Wish wish = {.forces = library_force(TEST_MAGNET, "magnet", magnet_settings),
               .libraries = true,
               .device = HK_CUDA};
  setenv("HOOKE_PLUGINS", TEST_PLUGINS, 0);
  CHECK(make(&wish, &w, &error) == HK_ERROR_UNSUPPORTED);
  if (!strstr(error.text, "devices do not support the force 'magnet'"))
    test_fail(__FILE__, __LINE__, "%s", error.text);
  world_destroy(&w);
}

/* ---- How long a library stays loaded ---- */

TEST(a_library_is_loaded_as_long_as_a_model_uses_it) {
  World a, b;
  Wish wish = {.forces = library_force("magnet.so", "magnet", magnet_settings),
               .libraries = true,
               .folder = TEST_MAGNET_FOLDER};
  CHECK(!is_loaded(TEST_MAGNET));
  MUST(make(&wish, &a, error));
  MUST(make(&wish, &b, error));
  world_destroy(&a);
  CHECK(is_loaded(TEST_MAGNET));
  world_steps(&b, 3);
  MUST(hk_model_remove_force(b.model, 2, error));
  CHECK(!is_loaded(TEST_MAGNET));
  world_steps(&b, 3);
  world_destroy(&b);
}

TEST(a_library_is_loaded_as_long_as_a_simulation_has_state_of_it) {
  static const char path[] = TEST_FORCE_LIBRARIES "/with_state.so";
  World w;
  Wish wish = {.forces = library_force("with_state.so", "one", ""),
               .libraries = true,
               .folder = TEST_FORCE_LIBRARIES};
  MUST(make(&wish, &w, error));
  world_steps(&w, 1);
  MUST(hk_model_remove_force(w.model, 2, error));
  CHECK(is_loaded(path)); /* the simulation still has its state */
  world_steps(&w, 1);
  CHECK(!is_loaded(path));
  world_destroy(&w);
}

/* ---- Memory ---- */

/* Makes all frames of the cloth with a force that counts steps, in one run or in two. */
static void run_in(const char *folder, const char *integrator, bool interrupted) {
  HkContext context = hk_context_default();
  HkRunOptions options = hk_run_options_default();
  HkScene *scene = NULL;
  HkRun *run = NULL;
  char text[4096];
  context.libraries = true;
  snprintf(text, sizeof text, cloth, integrator, library_force("with_memory.so", "one", ""));
  const char *json = test_json(text);
  MUST(hk_scene_parse(&context, json, strlen(json), "scene.json", TEST_FORCE_LIBRARIES, NULL, 0,
                      &scene, error));
  scene->time.duration = 0.2;
  scene->time.frames_per_second = 20;
  MUST(hk_scene_add_output(scene, "energies", NULL, error));
  MUST(hk_scene_add_output(scene, "pc2", NULL, error));
  options.folder = folder;
  MUST(hk_run_create(scene, &options, &run, error));
  if (interrupted) {
    for (int frame = 0; frame < 2; frame++) CHECK(hk_run_frame(run, NULL) == HK_OK);
    MUST(hk_run_checkpoint(run, error));
    hk_run_destroy(&run);
    options.resume = true;
    MUST(hk_run_create(scene, &options, &run, error));
  }
  HkStatus status;
  while ((status = hk_run_frame(run, NULL)) == HK_OK) continue;
  CHECK(status == HK_DONE);
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}

TEST(a_resumed_run_has_the_memory_of_a_force_of_a_library) {
  static const char *const integrators[] = {"'symplectic_euler'", "'backward_euler'"};
  for (int q = 0; q < 2; q++) {
    char whole[300], parts[300], command[1024];
    snprintf(whole, sizeof whole, "%s/run", test_folder());
    snprintf(parts, sizeof parts, "%s/run", test_folder());
    run_in(whole, integrators[q], false);
    run_in(parts, integrators[q], true);
    snprintf(command, sizeof command, "diff -rq -x checkpoint.previous '%s' '%s'", whole, parts);
    CHECK(system(command) == 0);
  }
}

static void *compile_often(void *user) {
  bool *good = user;
  for (int q = 0; q < 50; q++) {
    World w;
    HkError error = {0};
    Wish wish = {.forces = ",\n{'type': 'library', 'file': '" TEST_MAGNET "', 'name': 'magnet', "
                           "'settings': 'strength=1 at=0,0,0 distance=1'}",
                 .libraries = true};
    *good = *good && make(&wish, &w, &error) >= 0 && hk_sim_step(w.sim, w.state, &error) >= 0;
    world_destroy(&w);
  }
  return NULL;
}

TEST(several_threads_compile_scenes_with_one_library) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  bool good[THREADS];
  for (int q = 0; q < THREADS; q++) {
    good[q] = true;
    CHECK(pthread_create(&threads[q], NULL, compile_often, &good[q]) == 0);
  }
  for (int q = 0; q < THREADS; q++) {
    pthread_join(threads[q], NULL);
    CHECK(good[q]);
  }
  CHECK(!is_loaded(TEST_MAGNET));
}
