/* Meshes inside a scene file:
 *
 *     {"vertices": [[x, y, z], ...], "lines": [[i, j], ...], "triangles": ..., "sets": {"name": [i,
 * ...]}}
 *
 * Coordinates in m, vertices counted from 0. Every cell type has its own list.
 */
#include "scene/parse.h"

#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

static const char *const cell_keys[] = {"points", "lines",    "triangles", "quads", "polygons",
                                        "tets",   "pyramids", "wedges",    "hexes"};
enum { CELL_KEYS = sizeof cell_keys / sizeof cell_keys[0], MOST_CORNERS = 1024 };

static HkStatus read_vertices(HkReader *r, json_t *list, HkMesh *mesh) {
  if (!json_is_array(list)) return hk_reader_fail(r, "expected a list of [x, y, z]");
  size_t index;
  json_t *value;
  json_array_foreach(list, index, value) {
    double x[3];
    size_t mark = hk_reader_index(r, index);
    HK_TRY(hk_read_vector(r, value, x));
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, r->error));
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

/* A list of vertex numbers into corner; its length into *count. */
static HkStatus read_corners(HkReader *r, json_t *list, int32_t *corner, size_t most,
                             size_t *count) {
  *count = json_array_size(list);
  if (!json_is_array(list) || *count == 0 || *count > most)
    return hk_reader_fail(r, "expected a list of vertex numbers");
  for (size_t q = 0; q < *count; q++) {
    json_t *value = json_array_get(list, q);
    json_int_t v = json_is_integer(value) ? json_integer_value(value) : -1;
    if (v < 0 || v > INT32_MAX) return hk_reader_fail(r, "expected vertex numbers counted from 0");
    corner[q] = (int32_t)v;
  }
  return HK_OK;
}

static HkStatus read_cells(HkReader *r, json_t *list, HkCellType type, HkMesh *mesh) {
  if (!json_is_array(list)) return hk_reader_fail(r, "expected a list of cells");
  size_t index, count;
  json_t *value;
  json_array_foreach(list, index, value) {
    int32_t corner[MOST_CORNERS];
    HkError inner = {0};
    size_t mark = hk_reader_index(r, index);
    HK_TRY(read_corners(r, value, corner, MOST_CORNERS, &count));
    if (hk_mesh_add_cell(mesh, type, corner, (int)count, &inner) < 0)
      return hk_reader_fail(r, "%s", inner.text);
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

static HkStatus read_sets(HkReader *r, json_t *sets, HkMesh *mesh) {
  if (!json_is_object(sets)) return hk_reader_fail(r, "expected an object of lists");
  const char *name;
  json_t *list;
  json_object_foreach(sets, name, list) {
    size_t mark = hk_reader_key(r, name), count = json_array_size(list);
    int32_t *vertices = malloc((count ? count : 1) * sizeof *vertices);
    if (!vertices) return hk_fail_memory(r->error, count * sizeof *vertices, name);
    HkError inner = {0};
    HkStatus status = read_corners(r, list, vertices, count, &count);
    if (status >= 0 && hk_mesh_add_set(mesh, name, vertices, (int64_t)count, &inner) < 0)
      status = hk_reader_fail(r, "%s", inner.text);
    free(vertices);
    HK_TRY(status);
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

static HkStatus read_mesh(HkReader *r, json_t *value, HkMesh *mesh) {
  static const HkSchema none = {.name = "a mesh"};
  const char *keys[CELL_KEYS + 3] = {"vertices", "sets"};
  memcpy(keys + 2, cell_keys, sizeof cell_keys);
  HK_TRY(hk_read_params(r, value, &none, NULL, keys));
  json_t *vertices = json_object_get(value, "vertices");
  size_t mark = hk_reader_key(r, "vertices");
  HK_TRY(read_vertices(r, vertices, mesh));
  hk_reader_up(r, mark);
  for (int type = 0; type < CELL_KEYS; type++) {
    json_t *list = json_object_get(value, cell_keys[type]);
    if (!list) continue;
    mark = hk_reader_key(r, cell_keys[type]);
    HK_TRY(read_cells(r, list, (HkCellType)type, mesh));
    hk_reader_up(r, mark);
  }
  json_t *sets = json_object_get(value, "sets");
  if (!sets) return HK_OK;
  mark = hk_reader_key(r, "sets");
  HK_TRY(read_sets(r, sets, mesh));
  hk_reader_up(r, mark);
  return HK_OK;
}

HkStatus hk_read_inline_mesh(HkReader *r, json_t *value, const HkContext *context, HkMesh **mesh) {
  HK_TRY(hk_mesh_create(context, mesh, r->error));
  HkStatus status = read_mesh(r, value, *mesh);
  if (status >= 0 && (*mesh)->vertex_count == 0)
    status = hk_reader_fail(r, "the mesh has no vertices");
  if (status < 0) hk_mesh_destroy(mesh);
  return status;
}

static json_t *number_list(const int32_t *v, int64_t count) {
  json_t *list = json_array();
  for (int64_t q = 0; q < count; q++) json_array_append_new(list, json_integer(v[q]));
  return list;
}

json_t *hk_write_inline_mesh(const HkMesh *mesh) {
  json_t *object = json_object(), *vertices = json_array();
  for (int64_t q = 0; q < mesh->vertex_count; q++) {
    const double *x = mesh->x + 3 * q;
    json_array_append_new(vertices, json_pack("[f, f, f]", x[0], x[1], x[2]));
  }
  json_object_set_new(object, "vertices", vertices);
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    json_t *list = json_object_get(object, cell_keys[cell.type]);
    if (!list) json_object_set_new(object, cell_keys[cell.type], list = json_array());
    json_array_append_new(list, number_list(cell.vertices, cell.count));
  }
  if (mesh->set_count == 0) return object;
  json_t *sets = json_object();
  for (int64_t s = 0; s < mesh->set_count; s++)
    json_object_set_new(sets, mesh->sets[s].name,
                        number_list(mesh->sets[s].vertices, mesh->sets[s].count));
  json_object_set_new(object, "sets", sets);
  return object;
}
