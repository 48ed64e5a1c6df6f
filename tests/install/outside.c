/* A program outside of Hooke: makes a chain through the installed header and library. It is valid C
 * and valid C++. */
#include <hooke/hooke.h>

#include <stdio.h>
#include <string.h>

static int fail(const char *what, const HkError *error) {
  fprintf(stderr, "%s: %s\n", what, error->text);
  return 1;
}

static int check_chain(void) {
  HkMethod shape;
  HkMesh *mesh = NULL;
  HkError error;
  memset(&shape, 0, sizeof shape);
  memset(&error, 0, sizeof error);
  if (hk_method_choose(&shape, HK_SHAPE, "chain", &error) < 0) return fail("choose", &error);
  if (hk_method_set_number(&shape, "n", 7, &error) < 0) return fail("set", &error);
  if (hk_mesh_shape(NULL, &shape, &mesh, &error) < 0) return fail("shape", &error);
  int good = hk_mesh_vertex_count(mesh) == 7 && hk_mesh_cell_count(mesh) == 6;
  hk_mesh_destroy(&mesh);
  hk_method_clear(&shape);
  if (!good) return fail("a chain of 7 has not 7 vertices and 6 lines", &error);
  return 0;
}

int main(void) {
  if (strcmp(hk_version(), HK_VERSION) != 0) {
    fprintf(stderr, "header %s, library %s\n", HK_VERSION, hk_version());
    return 1;
  }
  return check_chain();
}
