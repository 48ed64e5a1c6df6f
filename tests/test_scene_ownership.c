/* Who owns the strings, arrays and meshes of a scene. */
#include "test.h"

#include <string.h>

TEST(a_scene_frees_its_own_copies_and_nothing_that_was_assigned) {
  HkScene *scene = NULL;
  HkMesh *mesh = NULL;
  char name[] = "cloth";
  int32_t indices[] = {0, 1};
  double x[] = {0, 0, 0, 1, 0, 0}, rows[] = {0, 1, 50, 1, 0};
  int body_index = -1, pin_index = -1, probe_index = -1;
  MUST(hk_mesh_create(NULL, &mesh, error));
  MUST(hk_mesh_add_vertices(mesh, x, 2, error));
  MUST(hk_mesh_add_set(mesh, "all", indices, 2, error));
  MUST(hk_scene_create(NULL, &scene, error));
  HkBody body = hk_body_default();
  body.name = name;
  body.mesh = mesh;
  body.springs.table = (HkTable){rows, 1};
  HkPin pin = hk_pin_default();
  pin.select = (HkSelect){.kind = HK_SELECT_INDICES, .indices = indices, .count = 1};
  MUST(hk_method_choose(&pin.motion, HK_MOTION, "rotation", error));
  MUST(hk_scene_add_body(scene, &body, &body_index, error));
  MUST(hk_scene_add_pin(scene, &pin, &pin_index, error));
  MUST(hk_scene_add_probe(scene, &(HkProbe){name, pin.select}, &probe_index, error));
  CHECK(body_index == 0 && pin_index == 0 && probe_index == 0);
  /* Copies: what was given may change and go. */
  hk_method_clear(&pin.motion);
  hk_mesh_destroy(&mesh);
  name[0] = 'X';
  indices[0] = 7;
  rows[2] = -1;
  CHECK(strcmp(scene->bodies[0].name, "cloth") == 0 && strcmp(scene->probes[0].name, "cloth") == 0);
  CHECK(scene->pins[0].select.indices[0] == 0 && scene->bodies[0].springs.table.values[2] == 50);
  CHECK(hk_mesh_vertex_count(scene->bodies[0].mesh) == 2);
  CHECK(strcmp(hk_mesh_set_name(scene->bodies[0].mesh, 0), "all") == 0);
  /* Assignments: the caller's strings, arrays and meshes are used as they are, and never freed. */
  MUST(hk_mesh_create(NULL, &mesh, error));
  MUST(hk_mesh_add_vertices(mesh, x, 2, error));
  rows[2] = 80;
  indices[0] = 0;
  scene->title = "a literal";
  scene->bodies[0].name = "another";
  scene->bodies[0].mesh = mesh;
  scene->bodies[0].springs.table.values = rows;
  scene->pins[0].select.indices = indices;
  scene->folder = hk_scene_keep(scene, "made/here", sizeof "made/here", NULL);
  CHECK(scene->folder && strcmp(scene->folder, "made/here") == 0);
  HkModel *model = NULL;
  MUST(hk_model_compile(scene, &model, error));
  CHECK(hk_model_springs(model).k[0] == 80);
  CHECK(strcmp(hk_model_body(model, 0, NULL, NULL), "another") == 0);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  hk_mesh_destroy(&mesh);
}
