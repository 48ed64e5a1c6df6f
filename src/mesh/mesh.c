/* HkMesh: building and reading; see mesh.h. */
#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

HkStatus hk_mesh_create(const HkContext *context, HkMesh **mesh, HkError *error) {
  HkContext c = hk_context_or_default(context);
  *mesh = NULL;
  HK_TRY(hk_alloc(&c, mesh, 1, sizeof **mesh, "a mesh", error));
  (*mesh)->context = c;
  return HK_OK;
}

void hk_mesh_destroy(HkMesh **mesh) {
  HkMesh *m = *mesh;
  if (!m) return;
  HkContext c = m->context;
  hk_free(&c, &m->x);
  hk_free(&c, &m->cell_type);
  hk_free(&c, &m->cell_start);
  hk_free(&c, &m->cell_vertex);
  for (int64_t s = 0; s < m->set_count; s++) {
    hk_free(&c, &m->sets[s].name);
    hk_free(&c, &m->sets[s].vertices);
  }
  hk_free(&c, &m->sets);
  hk_free(&c, &m->vertex_map);
  hk_free(&c, mesh);
}

/* *to becomes a copy of count entries; it stays as it is if count is 0. */
static HkStatus copy_array(const HkContext *c, const void *from, int64_t count, size_t size,
                           void *to, HkError *error) {
  void *copy = NULL;
  if (count == 0 || !from) return HK_OK;
  HK_TRY(hk_alloc(c, &copy, count, size, "a mesh", error));
  memcpy(copy, from, (size_t)count * size);
  memcpy(to, &copy, sizeof copy);
  return HK_OK;
}

static HkStatus copy_sets(const HkMesh *from, HkMesh *m, HkError *error) {
  if (from->set_count == 0) return HK_OK;
  HK_TRY(hk_alloc(&m->context, &m->sets, from->set_count, sizeof *m->sets, "a mesh", error));
  m->set_capacity = from->set_count;
  for (; m->set_count < from->set_count; m->set_count++) {
    const HkVertexSet *set = &from->sets[m->set_count];
    HkVertexSet *copy = &m->sets[m->set_count];
    int64_t letters = (int64_t)strlen(set->name) + 1;
    HK_TRY(copy_array(&m->context, set->name, letters, 1, &copy->name, error));
    copy->count = copy->capacity = set->count;
    HkStatus status = copy_array(&m->context, set->vertices, set->count, sizeof *set->vertices,
                                 &copy->vertices, error);
    if (status < 0) hk_free(&m->context, &copy->name);
    HK_TRY(status);
  }
  return HK_OK;
}

static HkStatus copy_into(const HkMesh *from, HkMesh *m, HkError *error) {
  const HkContext *c = &m->context;
  bool has_cells = from->cell_count > 0;
  m->vertex_count = m->vertex_capacity = from->vertex_count;
  m->cell_count = m->type_capacity = from->cell_count;
  m->start_capacity = has_cells ? from->cell_count + 1 : 0;
  m->corner_count = m->corner_capacity = from->corner_count;
  m->file_vertex_count = from->file_vertex_count;
  m->first_number = from->first_number;
  HK_TRY(copy_array(c, from->x, from->vertex_count, 3 * sizeof *m->x, &m->x, error));
  HK_TRY(
      copy_array(c, from->cell_type, from->cell_count, sizeof *m->cell_type, &m->cell_type, error));
  HK_TRY(copy_array(c, from->cell_start, m->start_capacity, sizeof *m->cell_start, &m->cell_start,
                    error));
  HK_TRY(copy_array(c, from->cell_vertex, from->corner_count, sizeof *m->cell_vertex,
                    &m->cell_vertex, error));
  HK_TRY(copy_array(c, from->vertex_map, from->file_vertex_count, sizeof *m->vertex_map,
                    &m->vertex_map, error));
  return copy_sets(from, m, error);
}

HkStatus hk_mesh_copy(const HkMesh *from, HkMesh **to, HkError *error) {
  HK_TRY(hk_mesh_create(&from->context, to, error));
  HkStatus status = copy_into(from, *to, error);
  if (status < 0) hk_mesh_destroy(to);
  return status;
}

size_t hk_mesh_bytes(const HkMesh *m) {
  size_t bytes = sizeof *m + (size_t)m->set_capacity * sizeof *m->sets;
  if (m->x) bytes += (size_t)m->vertex_capacity * 3 * sizeof *m->x;
  if (m->cell_type) bytes += (size_t)m->type_capacity * sizeof *m->cell_type;
  if (m->cell_start) bytes += (size_t)m->start_capacity * sizeof *m->cell_start;
  if (m->cell_vertex) bytes += (size_t)m->corner_capacity * sizeof *m->cell_vertex;
  for (int64_t s = 0; s < m->set_count; s++)
    bytes += strlen(m->sets[s].name) + 1 + (size_t)m->sets[s].capacity * sizeof(int32_t);
  if (m->vertex_map) bytes += (size_t)m->file_vertex_count * sizeof *m->vertex_map;
  return bytes;
}

HkMeshCounts hk_mesh_counts(const HkMesh *m) {
  HkMeshCounts counts = {.vertices = m->vertex_count, .corners = m->corner_count};
  for (int64_t c = 0; c < m->cell_count; c++) {
    HkCellType type = (HkCellType)m->cell_type[c];
    counts.lines += type <= HK_CELL_LINE;
    counts.triangles += type == HK_CELL_TRIANGLE;
    counts.quads += type == HK_CELL_QUAD || type == HK_CELL_POLYGON;
    counts.solids += type >= HK_CELL_TET;
  }
  return counts;
}

double hk_counts_bytes(const HkMeshCounts *counts) {
  return (double)counts->vertices * 3 * sizeof(double) +
         (double)hk_counts_cells(counts) * (sizeof(uint8_t) + sizeof(int64_t)) +
         (double)counts->corners * sizeof(int32_t);
}

int hk_cell_corners(HkCellType type) {
  static const int corners[] = {1, 2, 3, 4, 0, 4, 5, 6, 8};
  return type >= HK_CELL_POINT && type <= HK_CELL_HEX ? corners[type] : -1;
}

HkCellType hk_face_type(int count) {
  return count == 3 ? HK_CELL_TRIANGLE : count == 4 ? HK_CELL_QUAD : HK_CELL_POLYGON;
}

HkStatus hk_mesh_reserve(HkMesh *m, int64_t vertices, int64_t cells, int64_t corners,
                         HkError *error) {
  if (vertices > INT32_MAX / 3)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "%lld vertices are more than Hooke takes (%d)",
                   (long long)vertices, INT32_MAX / 3);
  if (cells > INT64_MAX / 64 || corners > INT64_MAX / 64)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "%lld cells are more than Hooke takes",
                   (long long)cells);
  const HkContext *c = &m->context;
  HK_TRY(hk_grow(c, &m->x, &m->vertex_capacity, vertices, 3 * sizeof *m->x, "vertices", error));
  if (cells == 0) return HK_OK;
  HK_TRY(hk_grow(c, &m->cell_type, &m->type_capacity, cells, sizeof *m->cell_type, "cells", error));
  HK_TRY(hk_grow(c, &m->cell_start, &m->start_capacity, cells + 1, sizeof *m->cell_start, "cells",
                 error));
  return hk_grow(c, &m->cell_vertex, &m->corner_capacity, corners, sizeof *m->cell_vertex, "cells",
                 error);
}

HkStatus hk_mesh_add_vertices(HkMesh *m, const double *xyz, int64_t count, HkError *error) {
  if (count < 0 || count > INT32_MAX || (count > 0 && !xyz))
    return hk_fail(error, HK_ERROR_INVALID, "%lld vertices cannot be added", (long long)count);
  for (int64_t q = 0; q < 3 * count; q++)
    if (!isfinite(xyz[q]))
      return hk_fail(error, HK_ERROR_INVALID, "vertex %lld has a coordinate that is not finite",
                     (long long)(m->vertex_count + q / 3));
  HK_TRY(hk_mesh_reserve(m, m->vertex_count + count, 0, 0, error));
  if (count) memcpy(m->x + 3 * m->vertex_count, xyz, (size_t)count * 3 * sizeof *xyz);
  m->vertex_count += count;
  return HK_OK;
}

HkStatus hk_mesh_add_cell(HkMesh *m, HkCellType type, const int32_t *vertices, int count,
                          HkError *error) {
  int corners = hk_cell_corners(type);
  if (corners < 0 || (corners > 0 && count != corners) || (corners == 0 && count < 5))
    return hk_fail(error, HK_ERROR_INVALID, "a cell of type %d cannot have %d corners", (int)type,
                   count);
  if (!vertices) return hk_fail(error, HK_ERROR_INVALID, "a cell needs its %d vertices", count);
  for (int q = 0; q < count; q++)
    if (vertices[q] < 0 || vertices[q] >= m->vertex_count)
      return hk_fail(error, HK_ERROR_INVALID,
                     "cell %lld uses vertex %d (counted from 0), but there are %lld vertices",
                     (long long)m->cell_count, vertices[q], (long long)m->vertex_count);
  HK_TRY(hk_mesh_reserve(m, m->vertex_count, m->cell_count + 1, m->corner_count + count, error));
  m->cell_type[m->cell_count] = (uint8_t)type;
  m->cell_start[m->cell_count] = m->corner_count;
  memcpy(m->cell_vertex + m->corner_count, vertices, (size_t)count * sizeof *vertices);
  m->corner_count += count;
  m->cell_count++;
  m->cell_start[m->cell_count] = m->corner_count;
  return HK_OK;
}

static HkVertexSet *find_set(const HkMesh *m, const char *name) {
  for (int64_t s = 0; s < m->set_count; s++)
    if (strcmp(m->sets[s].name, name) == 0) return &m->sets[s];
  return NULL;
}

HkStatus hk_mesh_add_set(HkMesh *m, const char *name, const int32_t *vertices, int64_t count,
                         HkError *error) {
  if (count < 0 || count > INT64_MAX / 64 || (count > 0 && !vertices))
    return hk_fail(error, HK_ERROR_INVALID, "%lld vertices cannot be added to set '%s'",
                   (long long)count, name);
  for (int64_t q = 0; q < count; q++)
    if (vertices[q] < 0 || vertices[q] >= m->vertex_count)
      return hk_fail(error, HK_ERROR_INVALID,
                     "set '%s' names vertex %d (counted from 0), but there are %lld vertices", name,
                     vertices[q], (long long)m->vertex_count);
  HkVertexSet *set = find_set(m, name);
  if (!set) {
    HK_TRY(hk_grow(&m->context, &m->sets, &m->set_capacity, m->set_count + 1, sizeof *m->sets,
                   "vertex sets", error));
    set = &m->sets[m->set_count];
    *set = (HkVertexSet){0};
    size_t bytes = strlen(name) + 1;
    HK_TRY(hk_alloc(&m->context, &set->name, (int64_t)bytes, 1, "a vertex set", error));
    memcpy(set->name, name, bytes);
    m->set_count++;
  }
  HK_TRY(hk_grow(&m->context, &set->vertices, &set->capacity, set->count + count,
                 sizeof *set->vertices, "a vertex set", error));
  if (count) memcpy(set->vertices + set->count, vertices, (size_t)count * sizeof *vertices);
  set->count += count;
  return HK_OK;
}

int64_t hk_mesh_vertex_count(const HkMesh *m) {
  return m->vertex_count;
}

double *hk_mesh_vertices(HkMesh *m) {
  return m->x;
}

int64_t hk_mesh_cell_count(const HkMesh *m) {
  return m->cell_count;
}

HkCell hk_mesh_cell(const HkMesh *m, int64_t c) {
  if (c < 0 || c >= m->cell_count) return (HkCell){.type = HK_CELL_POINT};
  int64_t start = m->cell_start[c];
  return (HkCell){(HkCellType)m->cell_type[c], (int)(m->cell_start[c + 1] - start),
                  m->cell_vertex + start};
}

int hk_mesh_set_count(const HkMesh *m) {
  return (int)m->set_count;
}

const char *hk_mesh_set_name(const HkMesh *m, int index) {
  return index >= 0 && index < m->set_count ? m->sets[index].name : NULL;
}

const int32_t *hk_mesh_set(const HkMesh *m, const char *name, int64_t *count) {
  HkVertexSet *set = find_set(m, name);
  if (count) *count = set ? set->count : 0;
  return set ? set->vertices : NULL;
}
