/* What is too large for memory is an error before anything large is taken. HOOKE_MEMORY stands for
 * a machine with little of it, so that these tests fail alike on every one. */
#include "test.h"

#include "hooke/run.h"
#include "model/build.h"
#include "world.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void pretend(const char *bytes) {
  if (bytes)
    setenv("HOOKE_MEMORY", bytes, 1);
  else
    unsetenv("HOOKE_MEMORY");
}

/* A scene from text with 'single' quotes; NULL after a failed check. */
static HkScene *scene_of(const char *text) {
  HkScene *scene = NULL;
  HkError error = {0};
  const char *json = test_json(text);
  if (hk_scene_parse(NULL, json, strlen(json), "scene", NULL, NULL, 0, &scene, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  return scene;
}

/* MB that the process has had at most. */
static double peak(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

static double seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- Asking ---- */

TEST(memory_that_is_there_is_known) {
  double all = hk_memory_available();
#ifdef __linux__
  CHECK(all > 1e6);
#endif
  pretend("1e8");
  CHECK(hk_memory_available() == (all > 0 && all < 1e8 ? all : 1e8));
  pretend(NULL);
  CHECK(all < 1e15);
}

static void *own_resize(void *user, void *p, size_t bytes) {
  (void)user;
  if (bytes) return realloc(p, bytes);
  free(p);
  return NULL;
}

TEST(too_much_is_refused_with_what_is_there_and_a_way_out) {
  HkContext plain = hk_context_default(), own = {.resize = own_resize};
  pretend("1e8");
  FAILS(hk_memory_check(&plain, 2.5e11, "a cloth", "cut it", error), HK_ERROR_MEMORY,
        "no memory for a cloth: at least 250 GB are needed, and there are 100 MB; cut it");
  MUST(hk_memory_check(&plain, 0.9e8, "a cloth", NULL, error));
  /* Whoever has memory of their own knows how much. */
  MUST(hk_memory_check(&own, 2.5e11, "a cloth", NULL, error));
  pretend(NULL);
}

TEST(large_arrays_are_refused) {
  HkContext c = hk_context_default();
  double *p = NULL;
  int64_t capacity = 0;
  pretend("1e8");
  FAILS(hk_alloc(&c, &p, 20000000, sizeof *p, "numbers", error), HK_ERROR_MEMORY, "for numbers");
  FAILS(hk_grow(&c, &p, &capacity, 20000000, sizeof *p, "numbers", error), HK_ERROR_MEMORY,
        "for numbers");
  CHECK(!p && capacity == 0);
  pretend(NULL);
}

/* ---- Meshes and models ---- */

#define GRID(n) "{'type': 'grid', 'nx': " #n ", 'ny': " #n "}"

TEST(shapes_and_models_are_refused_before_they_are_made) {
  HkMethod shape = {0};
  HkMesh *mesh = NULL;
  HkModel *model = NULL;
  double before = peak(), began = seconds();
  HkScene *scene = scene_of("{'bodies': [{'shape': " GRID(20000) "}]}");
  if (!scene) return;
  pretend("1e9");
  MUST(hk_method_choose(&shape, HK_SHAPE, "grid", error));
  MUST(hk_method_set_number(&shape, "nx", 20000, error));
  MUST(hk_method_set_number(&shape, "ny", 20000, error));
  FAILS(hk_mesh_shape(NULL, &shape, &mesh, error), HK_ERROR_MEMORY, "a mesh");
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_MEMORY, "a model of 400000000 vertices");
  pretend(NULL);
  CHECK(!mesh && !model);
  CHECK(peak() - before < 50 && seconds() - began < 2);
  hk_method_clear(&shape);
  hk_scene_destroy(&scene);
}

TEST(files_larger_than_memory_are_refused) {
  char path[4096];
  HkMesh *mesh = NULL;
  snprintf(path, sizeof path, "%s/large.obj", test_folder());
  FILE *file = fopen(path, "w");
  CHECK(file && ftruncate(fileno(file), 200000000) == 0); /* a hole, which takes no disk */
  if (file) fclose(file);
  pretend("1e8");
  FAILS(hk_mesh_read(NULL, path, &mesh, error), HK_ERROR_MEMORY, "large.obj");
  pretend(NULL);
}

static const char *const bodies[] = {
    "{'shape': 'spring'}",
    "{'shape': {'type': 'chain', 'n': 2000}}",
    "{'shape': {'type': 'curve', 'n': 2000}}",
    "{'shape': {'type': 'net', 'n': 25}}",
    "{'shape': {'type': 'disc', 'rings': 25}}",
    "{'shape': {'type': 'disc', 'rings': 25}, 'springs': {'bending': true, 'damping': 1}}",
    "{'shape': {'type': 'grid', 'nx': 40, 'ny': 50}, 'springs': {'shear': true, 'bending': true}}",
    "{'shape': {'type': 'grid', 'nx': 40, 'ny': 50}, 'springs': {'shear': false}}",
    "{'shape': {'type': 'grid', 'nx': 40, 'ny': 50, 'cells': 'triangles'}}",
    "{'shape': {'type': 'tube', 'n_around': 40, 'n_along': 50}}",
    "{'shape': {'type': 'tube', 'n_around': 40, 'n_along': 50, 'cells': 'triangles'}}",
    "{'shape': {'type': 'block', 'nx': 11, 'ny': 12, 'nz': 13}}",
    "{'shape': {'type': 'block', 'nx': 11, 'ny': 12, 'nz': 13, 'neighbours': '6'}}",
    "{'shape': {'type': 'tet_block', 'nx': 11, 'ny': 12, 'nz': 13}}",
    "{'shape': {'type': 'tet_block', 'nx': 11, 'ny': 12, 'nz': 13, 'tets': '6'}}",
    "{'shape': {'type': 'ball', 'shells': 8}}",
};

TEST(shapes_know_their_counts_and_models_their_size_before) {
  for (size_t q = 0; q < sizeof bodies / sizeof bodies[0]; q++) {
    char text[300];
    HkMeshCounts before, after;
    HkMesh *mesh;
    HkModel *model;
    snprintf(text, sizeof text, "{'bodies': [%s]}", bodies[q]);
    HkScene *scene = scene_of(text);
    if (!scene) return;
    const HkBody *body = &scene->bodies[0];
    MUST(hk_shape_count(&body->shape, &before, error));
    MUST(hk_mesh_shape(NULL, &body->shape, &mesh, error));
    after = hk_mesh_counts(mesh);
    CHECK(hk_counts_cells(&before) == mesh->cell_count && before.corners == mesh->corner_count);
    CHECK(before.vertices == after.vertices && before.lines == after.lines);
    CHECK(before.triangles == after.triangles && before.quads == after.quads);
    MUST(hk_model_compile(scene, &model, error));
    /* Never more than is taken, or what fits would be refused; and not much less. */
    double need = hk_body_need(body, &before, true), taken = (double)hk_model_info(model).bytes;
    if (!(need <= taken && (need > 0.7 * taken || before.vertices < 100)))
      test_fail(bodies[q], 0, "%.0f bytes were expected, %.0f are taken", need, taken);
    hk_mesh_destroy(&mesh);
    hk_model_destroy(&model);
    hk_scene_destroy(&scene);
  }
}

/* A body of one vertex behind another one. */
TEST(single_vertices_have_room_for_their_mass) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'chain', 'n': 40}, 'mass': 40}, {'mesh': "
                        "{'vertices': [[5, 5, 5]]}, 'mass': 7}]}");
  if (w.model) CHECK(hk_model_masses(w.model)[40] == 7);
  world_destroy(&w);
}

/* ---- Simulations ---- */

#define NEWTON(linear)                                                                             \
  "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'iterations': 1, 'linear': '" linear \
  "'}}"

TEST(simulations_are_refused_before_they_take_memory) {
  const char *steps[] = {NEWTON("ldlt"), NEWTON("pcg"), "'backward_euler'",
                         "{'type': 'backward_euler', 'minimizer': 'local_global'}"};
  for (size_t q = 0; q < sizeof steps / sizeof steps[0]; q++) {
    char text[400];
    HkModel *model = NULL;
    HkSim *sim = NULL;
    snprintf(text, sizeof text,
             "{'integrator': %s, 'bodies': [{'shape': " GRID(400) "}], 'forces': ['gravity']}",
             steps[q]);
    HkScene *scene = scene_of(text);
    if (!scene) return;
    MUST(hk_model_compile(scene, &model, error));
    double before = peak();
    pretend("7e7");
    FAILS(hk_sim_create(model, NULL, 0, &sim, error), HK_ERROR_MEMORY,
          "160000 vertices by backward_euler");
    pretend(NULL);
    CHECK(!sim && peak() - before < 30);
    hk_model_destroy(&model);
    hk_scene_destroy(&scene);
  }
}

TEST(runs_are_refused_before_their_model_is_made) {
  const char *texts[] = {
      "{'bodies': [{'shape': " GRID(20000) "}], 'forces': ['gravity']}",
      "{'integrator': " NEWTON("cholesky") ", 'bodies': [{'shape': {'type': "
                                           "'block', 'nx': 150, 'ny': 150, 'nz': 150}}]}"};
  for (int q = 0; q < 2; q++) {
    HkRun *run = NULL;
    double before = peak(), began = seconds();
    HkScene *scene = scene_of(texts[q]);
    if (!scene) return;
    pretend("1.6e10"); /* the block without its factor would fit */
    FAILS(hk_run_create(scene, NULL, &run, error), HK_ERROR_MEMORY,
          q ? "factorized matrix" : "400000000 vertices");
    pretend(NULL);
    CHECK(!run && peak() - before < 50 && seconds() - began < 2);
    hk_scene_destroy(&scene);
  }
}

/* The size of a factor is known exactly once its matrix is analyzed. */
static void check_factor(const char *minimizer, int size, const char *part) {
  char text[400];
  snprintf(text, sizeof text,
           "{'integrator': {'type': 'backward_euler', 'minimizer': %s}, 'time': {'step': 0.001}, "
           "'bodies': [{'shape': {'type': 'block', 'nx': %d, 'ny': %d, 'nz': %d}}], 'forces': "
           "['gravity'], "
           "'pins': [{'select': {'lowest': {'axis': 'y'}}}]}",
           minimizer, size, size, size);
  World w = world_parse(text);
  if (!w.sim) return;
  HkError error = {0};
  pretend("6.5e7");
  CHECK(hk_sim_step(w.sim, w.state, &error) == HK_ERROR_MEMORY);
  pretend(NULL);
  /* CHOLMOD with OpenBLAS needs more than that for one buffer. */
  if (!strstr(error.text, part) && !strstr(error.text, "the buffer of OpenBLAS"))
    test_fail(__FILE__, __LINE__, "%s: %s", part, error.text);
  world_destroy(&w);
}

TEST(factors_are_refused_before_they_are_computed) {
  const char newton[] = "{'type': 'newton', 'iterations': 1, 'linear': '%s'}";
  char text[100];
  const char *kinds[] = {"ldlt", hk_family_default(HK_LINEAR)};
  for (int q = 0; q < 2; q++) {
    snprintf(text, sizeof text, newton, kinds[q]);
    check_factor(text, 20, "the factor of the Hessian");
  }
  check_factor("{'type': 'local_global', 'iterations': 1}", 30, "the factor of M + tau^2 L");
}
