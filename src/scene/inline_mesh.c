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
enum { CELL_KEYS = sizeof cell_keys / sizeof cell_keys[0], MAX_CORNERS = 1024 };

static HkStatus read_vertices(HkReader *r, const HkJson *list, HkMesh *mesh) {
  if (!hk_json_is(list, HK_JSON_LIST))
    return hk_reader_fail(r, list, "expected a list of [x, y, z]");
  for (int q = 0; q < list->count; q++) {
    double x[3];
    size_t mark = hk_reader_index(r, q);
    HK_TRY(hk_read_vector(r, &list->items[q], x));
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, r->error));
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

/* A list of at most so many vertex numbers into corner. */
static HkStatus read_corners(HkReader *r, const HkJson *list, int32_t *corner, int most) {
  if (!hk_json_is(list, HK_JSON_LIST) || list->count == 0 || list->count > most)
    return hk_reader_fail(r, list, "expected a list of vertex numbers");
  for (int q = 0; q < list->count; q++) {
    const HkJson *value = &list->items[q];
    int64_t v = hk_json_is(value, HK_JSON_INTEGER) ? value->integer : -1;
    if (v < 0 || v > INT32_MAX)
      return hk_reader_fail(r, value, "expected vertex numbers counted from 0");
    corner[q] = (int32_t)v;
  }
  return HK_OK;
}

static HkStatus read_cells(HkReader *r, const HkJson *list, HkCellType type, HkMesh *mesh) {
  if (!hk_json_is(list, HK_JSON_LIST)) return hk_reader_fail(r, list, "expected a list of cells");
  for (int q = 0; q < list->count; q++) {
    const HkJson *cell = &list->items[q];
    int32_t corner[MAX_CORNERS];
    HkError inner = {0};
    size_t mark = hk_reader_index(r, q);
    HK_TRY(read_corners(r, cell, corner, MAX_CORNERS));
    if (hk_mesh_add_cell(mesh, type, corner, cell->count, &inner) < 0)
      return hk_reader_fail(r, cell, "%s", inner.text);
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

static HkStatus read_sets(HkReader *r, const HkJson *sets, HkMesh *mesh) {
  if (!hk_json_is(sets, HK_JSON_OBJECT))
    return hk_reader_fail(r, sets, "expected an object of lists");
  for (int q = 0; q < hk_json_size(sets); q++) {
    const HkJson *list = hk_json_at(sets, q);
    const char *name = hk_json_key(sets, q)->text;
    int count = hk_json_size(list);
    size_t mark = hk_reader_key(r, name), bytes = (size_t)count * sizeof(int32_t);
    int32_t *vertices = malloc(bytes ? bytes : 1);
    if (!vertices) return hk_fail_memory(r->error, bytes, name);
    HkError inner = {0};
    HkStatus status = read_corners(r, list, vertices, count);
    if (status >= 0 && hk_mesh_add_set(mesh, name, vertices, count, &inner) < 0)
      status = hk_reader_fail(r, list, "%s", inner.text);
    free(vertices);
    HK_TRY(status);
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

static HkStatus read_mesh(HkReader *r, const HkJson *value, HkMesh *mesh) {
  static const HkSchema none = {.name = "a mesh"};
  const char *keys[CELL_KEYS + 3] = {"vertices", "sets"};
  memcpy(keys + 2, cell_keys, sizeof cell_keys);
  HK_TRY(hk_read_params(r, value, &none, NULL, keys));
  const HkJson *vertices = hk_json_get(value, "vertices"), *sets = hk_json_get(value, "sets");
  if (!vertices) return hk_reader_fail(r, value, "\"vertices\" is missing: a list of [x, y, z]");
  size_t mark = hk_reader_key(r, "vertices");
  HK_TRY(read_vertices(r, vertices, mesh));
  hk_reader_up(r, mark);
  for (int type = 0; type < CELL_KEYS; type++) {
    const HkJson *list = hk_json_get(value, cell_keys[type]);
    if (!list) continue;
    mark = hk_reader_key(r, cell_keys[type]);
    HK_TRY(read_cells(r, list, (HkCellType)type, mesh));
    hk_reader_up(r, mark);
  }
  if (!sets) return HK_OK;
  mark = hk_reader_key(r, "sets");
  HK_TRY(read_sets(r, sets, mesh));
  hk_reader_up(r, mark);
  return HK_OK;
}

HkStatus hk_read_inline_mesh(HkReader *r, const HkJson *value, const HkContext *context,
                             HkMesh **mesh) {
  HK_TRY(hk_mesh_create(context, mesh, r->error));
  HkStatus status = read_mesh(r, value, *mesh);
  if (status >= 0 && (*mesh)->vertex_count == 0)
    status = hk_reader_fail(r, value, "the mesh has no vertices");
  if (status < 0) hk_mesh_destroy(mesh);
  return status;
}

static HkJson number_list(const int32_t *v, int64_t count) {
  HkJson list = hk_json_list();
  for (int64_t q = 0; q < count; q++) hk_json_append(&list, hk_json_integer(v[q]));
  return list;
}

HkJson hk_write_inline_mesh(const HkMesh *mesh) {
  HkJson object = hk_json_object(), vertices = hk_json_list(), sets = hk_json_object();
  for (int64_t q = 0; q < mesh->vertex_count; q++) {
    HkJson x = hk_json_list();
    for (int c = 0; c < 3; c++) hk_json_append(&x, hk_json_real(mesh->x[3 * q + c]));
    hk_json_append(&vertices, x);
  }
  hk_json_add(&object, "vertices", vertices);
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    HkJson *list = hk_json_get(&object, cell_keys[cell.type]);
    if (!list) list = hk_json_add(&object, cell_keys[cell.type], hk_json_list());
    if (list) hk_json_append(list, number_list(cell.vertices, cell.count));
  }
  if (mesh->set_count == 0) return object;
  for (int64_t s = 0; s < mesh->set_count; s++)
    hk_json_add(&sets, mesh->sets[s].name,
                number_list(mesh->sets[s].vertices, mesh->sets[s].count));
  hk_json_add(&object, "sets", sets);
  return object;
}
