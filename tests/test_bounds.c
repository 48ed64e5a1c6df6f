/* Memory: whatever the number of vertices, which is seldom that of whole vectors, nothing is
 * written beyond what was asked for. */
#include "test.h"

#include <stdint.h>

enum { GUARD = 64, SIGN = 0xa5 };

/* Before each block stands its size, behind it and before it bytes that nobody may touch. */
typedef struct Guarded {
  int64_t blocks, broken;
} Guarded;

static bool is_whole(const unsigned char *p, size_t bytes) {
  for (size_t q = sizeof bytes; q < GUARD; q++)
    if (p[q] != SIGN) return false;
  for (size_t q = 0; q < GUARD; q++)
    if (p[GUARD + bytes + q] != SIGN) return false;
  return true;
}

static void *resize_guarded(void *user, void *p, size_t bytes) {
  Guarded *g = user;
  unsigned char *block = p ? (unsigned char *)p - GUARD : NULL;
  if (block) {
    size_t before;
    memcpy(&before, block, sizeof before);
    g->broken += !is_whole(block, before);
  }
  g->blocks += (bytes > 0) - (p != NULL);
  if (bytes == 0) {
    free(block);
    return NULL;
  }
  unsigned char *next = realloc(block, bytes + 2 * GUARD);
  if (!next) return NULL;
  memset(next, SIGN, GUARD);
  memcpy(next, &bytes, sizeof bytes);
  memset(next + GUARD + bytes, SIGN, GUARD);
  return next + GUARD;
}

/* Three steps, and the end of everything. */
static void try_scene(const char *text, const char *integrator) {
  Guarded guarded = {0};
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkError error = {0};
  context.resize = resize_guarded;
  context.memory_user = &guarded;
  context.threads = 2;
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), "a scene", NULL, &integrator, 1, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  if (status >= 0) status = hk_sim_create(model, NULL, 1e-3, &sim, &error);
  if (status >= 0) status = hk_state_create(model, &state, &error);
  if (status >= 0) status = hk_sim_steps(sim, state, 3, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s: %s", integrator, error.text);
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  if (guarded.broken > 0)
    test_fail(__FILE__, __LINE__, "%s: written beyond %lld blocks of memory", integrator,
              (long long)guarded.broken);
  CHECK(guarded.blocks == 0);
}

static const char with_multigrid[] =
    "integrator={\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": "
    "{\"type\": \"pcg\", \"preconditioner\": \"multigrid\"}}}";

static const char *const integrators[] = {
    "integrator=symplectic_euler",
    "integrator={\"type\": \"symplectic_euler\", \"precision\": \"single\"}",
    "integrator={\"type\": \"verlet\", \"precision\": \"single\"}",
    "integrator=rk4",
    "integrator=backward_euler",
    "integrator={\"type\": \"backward_euler\", \"minimizer\": \"local_global\"}",
    with_multigrid,
};

static void try_all(const char *text) {
  for (size_t q = 0; q < sizeof integrators / sizeof integrators[0]; q++)
    try_scene(text, integrators[q]);
}

TEST(bodies_of_every_size_stay_within_their_memory) {
  for (int n = 1; n <= 41; n += n < 20 ? 1 : 7) {
    char text[600];
    snprintf(
        text, sizeof text,
        "{\"bodies\": [{\"shape\": {\"type\": \"chain\", \"n\": %d}, \"springs\": {\"damping\": "
        "0.01, \"bending\": true}}], \"pins\": [{\"select\": {\"vertices\": [0]}}], "
        "\"forces\": [\"gravity\"], \"outputs\": []}",
        n + 1);
    try_all(text);
  }
}

TEST(single_vertices_beside_others_stay_within_their_memory) {
  for (int n = 2; n <= 34; n++) {
    char text[600];
    snprintf(
        text, sizeof text,
        "{\"bodies\": [{\"shape\": {\"type\": \"chain\", \"n\": %d}}, {\"mesh\": {\"vertices\": "
        "[[9, 0, 0]]}}, {\"mesh\": {\"vertices\": [[9, 9, 0]]}}], \"forces\": [\"gravity\"], "
        "\"pins\": [{\"select\": {\"body\": \"body2\", \"all\": true}}], \"outputs\": []}",
        n);
    try_scene(text, integrators[0]);
    try_scene(text, integrators[1]);
    try_scene(text, integrators[6]);
  }
}

TEST(lattices_stay_within_their_memory) {
  try_all("{\"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": 37, \"ny\": 41}, \"springs\": "
          "{\"shear\": true, \"bending\": true}}], \"pins\": [{\"select\": \"top\"}], \"forces\": "
          "[\"gravity\", \"drag\"], \"outputs\": []}");
  try_all("{\"bodies\": [{\"shape\": {\"type\": \"block\", \"nx\": 7, \"ny\": 9, \"nz\": 8}, "
          "\"springs\": {\"tension_only\": true, \"damping\": 0.1}}], \"pins\": [{\"select\": "
          "\"bottom\"}], \"outputs\": []}");
}
