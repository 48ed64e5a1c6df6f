/* A program outside of Hooke: makes a chain and lets a scene fall, through the installed header and
 * library alone. It is valid C and valid C++. */
#include <hooke/hooke.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *what, const HkError *error) {
  fprintf(stderr, "%s: %s\n", what, error->text);
  return 1;
}

static int check_chain(HkError *error) {
  HkMethod shape;
  HkMesh *mesh = NULL;
  memset(&shape, 0, sizeof shape);
  if (hk_method_choose(&shape, HK_SHAPE, "chain", error) < 0) return fail("choose", error);
  if (hk_method_set_number(&shape, "n", 7, error) < 0) return fail("set", error);
  if (hk_mesh_shape(NULL, &shape, &mesh, error) < 0) return fail("shape", error);
  int good = hk_mesh_vertex_count(mesh) == 7 && hk_mesh_cell_count(mesh) == 6;
  hk_mesh_destroy(&mesh);
  hk_method_clear(&shape);
  return good ? 0 : fail("a chain of 7 has not 7 vertices and 6 lines", error);
}

/* A free body falls g t^2 / 2, whatever its springs; symplectic Euler adds g h t / 2. */
static int check_fall(HkError *error) {
  static const char text[] =
      "{\"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": 50, \"ny\": 50}}],"
      " \"forces\": [{\"type\": \"gravity\", \"g\": 10}],"
      " \"integrator\": \"symplectic_euler\", \"outputs\": []}";
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkState *state = NULL;
  HkSim *sim = NULL;
  if (hk_scene_parse(NULL, text, strlen(text), "fall", NULL, NULL, 0, &scene, error) < 0 ||
      hk_model_compile(scene, &model, error) < 0 || hk_state_create(model, &state, error) < 0 ||
      hk_sim_create(model, NULL, 0.0005, &sim, error) < 0)
    return fail("fall", error);
  double start = hk_state_x(state)[1];
  for (int q = 0; q < 200; q++)
    if (hk_sim_step(sim, state, error) < 0) return fail("step", error);
  double fallen = start - hk_state_x(state)[1];
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return fabs(fallen - 0.05025) < 1e-9 ? 0 : fail("the grid does not fall as it should", error);
}

int main(void) {
  HkError error;
  memset(&error, 0, sizeof error);
  if (strcmp(hk_version(), HK_VERSION) != 0) {
    fprintf(stderr, "header %s, library %s\n", HK_VERSION, hk_version());
    return 1;
  }
  return check_chain(&error) || check_fall(&error);
}
