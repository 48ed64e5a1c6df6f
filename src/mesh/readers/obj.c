/* Wavefront OBJ: v and l lines. */
#include "mesh/mesh.h"

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  for (; !hk_at_end(&c); hk_skip_line(&c)) {
    const char *word;
    size_t length;
    if (!hk_next_word(&c, &word, &length)) continue;
    if (!hk_word_is(word, length, "v")) continue;
    double x[3];
    for (int q = 0; q < 3; q++) HK_TRY(hk_next_double(&c, &x[q], "coordinate", error));
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  return HK_OK;
}

const HkMeshFormat hk_format_obj = {.name = "obj", .summary = "Wavefront OBJ", .read = read};
