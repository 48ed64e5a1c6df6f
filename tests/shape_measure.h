/* What tests of shapes share: building one from a line of text, and measuring a mesh. Everything is
 * counted from the cells alone, by other means than those the shapes are built with. */
#ifndef HOOKE_TEST_SHAPE_MEASURE_H
#define HOOKE_TEST_SHAPE_MEASURE_H

#include "test.h"

#include "base/vec.h"
#include "mesh/mesh.h"

/* Sets "name=value"; a value of three numbers has commas, a word is a choice. */
static inline HkStatus set_param(HkMethod *shape, const char *setting, HkError *error) {
  char name[32];
  double v[3];
  const char *value = strchr(setting, '=') + 1;
  snprintf(name, sizeof name, "%.*s", (int)(value - 1 - setting), setting);
  if (sscanf(value, "%lf,%lf,%lf", &v[0], &v[1], &v[2]) == 3)
    return hk_method_set_vector(shape, name, v, error);
  const HkParam *param = hk_param_find(shape->schema, name);
  if (param && param->kind == HK_PARAM_CHOICE) return hk_method_set_text(shape, name, value, error);
  return hk_method_set_number(shape, name, atof(value), error);
}

/* try_shape("grid nx=3 cells=triangles", &mesh, error) */
static inline HkStatus try_shape(const char *line, HkMesh **mesh, HkError *error) {
  char text[256], *rest = text;
  snprintf(text, sizeof text, "%s", line);
  HkMethod shape = {0};
  HkStatus status = hk_method_choose(&shape, HK_SHAPE, strtok_r(text, " ", &rest), error);
  for (char *word; status >= 0 && (word = strtok_r(NULL, " ", &rest));)
    status = set_param(&shape, word, error);
  *mesh = NULL;
  if (status >= 0) status = hk_mesh_shape(NULL, &shape, mesh, error);
  hk_method_clear(&shape);
  return status;
}

/* The mesh of such a line; ends the program where there is none, as nothing can be tested then. */
static inline HkMesh *make_shape(const char *line) {
  HkMesh *mesh;
  HkError error = {0};
  if (try_shape(line, &mesh, &error) >= 0) return mesh;
  printf("%s: %s\n", line, error.text);
  exit(1);
}

/* Zeroed elements, freed with free. */
static inline void *new_array(int64_t count, size_t size) {
  void *p = count > 0 && count < INT32_MAX ? calloc((size_t)count, size) : NULL;
  if (!p) abort();
  return p;
}

static inline const double *vertex(const HkMesh *mesh, int64_t q) {
  return mesh->x + 3 * q;
}

/* ---- Edges and faces ---- */

/* Corners of a face or an edge in rising order, and how often it occurs. */
typedef struct Item {
  int32_t corner[4];
  int uses;
} Item;

static inline int compare_items(const void *a, const void *b) {
  return memcmp(((const Item *)a)->corner, ((const Item *)b)->corner, sizeof(int32_t[4]));
}

static inline Item make_item(const int32_t *corners, int count) {
  Item item = {{-1, -1, -1, -1}, 1};
  for (int q = 0; q < count; q++) {
    int at = q;
    for (; at > 0 && item.corner[at - 1] > corners[q]; at--) item.corner[at] = item.corner[at - 1];
    item.corner[at] = corners[q];
  }
  return item;
}

/* Sorts, joins equal items and adds up their uses; returns how many are left. */
static inline int64_t unite(Item *items, int64_t count) {
  int64_t left = 0;
  qsort(items, (size_t)count, sizeof *items, compare_items);
  for (int64_t q = 0; q < count; q++) {
    if (left > 0 && compare_items(&items[left - 1], &items[q]) == 0)
      items[left - 1].uses += items[q].uses;
    else
      items[left++] = items[q];
  }
  return left;
}

/* Parts of each cell by corner numbers: edges (2 corners), or faces of tets (3 corners). */
static inline int64_t collect(const HkMesh *mesh, int part_corners, Item **items) {
  static const int tet_edges[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  static const int tet_faces[][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  int64_t count = 0;
  *items = new_array(6 * mesh->cell_count, sizeof **items);
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    const int32_t *v = cell.vertices;
    bool tet = cell.type == HK_CELL_TET;
    if (part_corners == 3) {
      for (int q = 0; tet && q < 4; q++) {
        const int *f = tet_faces[q];
        (*items)[count++] = make_item((int32_t[]){v[f[0]], v[f[1]], v[f[2]]}, 3);
      }
    } else if (tet) {
      for (int q = 0; q < 6; q++)
        (*items)[count++] = make_item((int32_t[]){v[tet_edges[q][0]], v[tet_edges[q][1]]}, 2);
    } else {
      int edges = cell.count == 2 ? 1 : cell.count;
      for (int q = 0; q < edges; q++)
        (*items)[count++] = make_item((int32_t[]){v[q], v[(q + 1) % cell.count]}, 2);
    }
  }
  return unite(*items, count);
}

static inline int64_t count_edges(const HkMesh *mesh) {
  Item *edges;
  int64_t count = collect(mesh, 2, &edges);
  free(edges);
  return count;
}

static inline int64_t count_cells(const HkMesh *mesh, HkCellType type) {
  int64_t count = 0;
  for (int64_t c = 0; c < mesh->cell_count; c++) count += hk_mesh_cell(mesh, c).type == type;
  return count;
}

/* V - E + F of a surface. */
static inline int64_t euler(const HkMesh *mesh) {
  return mesh->vertex_count - count_edges(mesh) + count_cells(mesh, HK_CELL_TRIANGLE) +
         count_cells(mesh, HK_CELL_QUAD);
}

static inline bool has_duplicate_cells(const HkMesh *mesh) {
  Item *items = new_array(mesh->cell_count, sizeof *items);
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    items[c] = make_item(cell.vertices, cell.count);
  }
  bool found = unite(items, mesh->cell_count) < mesh->cell_count;
  free(items);
  return found;
}

/* Marks the vertices of edges of one face (surfaces) or faces of one tet (solids). */
static inline void mark_boundary(const HkMesh *mesh, int part_corners, bool *mark) {
  Item *items;
  int64_t count = collect(mesh, part_corners, &items);
  memset(mark, 0, (size_t)mesh->vertex_count * sizeof *mark);
  for (int64_t q = 0; q < count; q++)
    for (int c = 0; c < part_corners; c++)
      if (items[q].uses == 1) mark[items[q].corner[c]] = true;
  free(items);
}

/* ---- Sizes ---- */

/* Area vector of a triangle or quad: its area times its normal. */
static inline void area_vector(const HkMesh *mesh, HkCell cell, double area[3]) {
  const int32_t *v = cell.vertices;
  double a[3], b[3];
  hk_sub(vertex(mesh, v[cell.count == 4 ? 2 : 1]), vertex(mesh, v[0]), a);
  hk_sub(vertex(mesh, v[cell.count - 1]), vertex(mesh, v[cell.count == 4 ? 1 : 0]), b);
  hk_cross(a, b, area);
  for (int c = 0; c < 3; c++) area[c] *= 0.5;
}

static inline double total_area(const HkMesh *mesh) {
  double sum = 0, area[3];
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    if (cell.type != HK_CELL_TRIANGLE && cell.type != HK_CELL_QUAD) continue;
    area_vector(mesh, cell, area);
    sum += hk_norm(area);
  }
  return sum;
}

static inline double tet_volume(const HkMesh *mesh, HkCell cell) {
  double a[3], b[3], c[3], n[3];
  hk_sub(vertex(mesh, cell.vertices[1]), vertex(mesh, cell.vertices[0]), a);
  hk_sub(vertex(mesh, cell.vertices[2]), vertex(mesh, cell.vertices[0]), b);
  hk_sub(vertex(mesh, cell.vertices[3]), vertex(mesh, cell.vertices[0]), c);
  hk_cross(a, b, n);
  return hk_dot(n, c) / 6;
}

/* 6 sqrt(2) V / l^3 with l the root mean square of the edges: 1 for a regular tetrahedron. */
static inline double tet_quality(const HkMesh *mesh, HkCell cell) {
  double squares = 0;
  for (int a = 0; a < 4; a++)
    for (int b = a + 1; b < 4; b++) {
      double l = hk_distance(vertex(mesh, cell.vertices[a]), vertex(mesh, cell.vertices[b]));
      squares += l * l;
    }
  double l = sqrt(squares / 6);
  return 6 * sqrt(2) * tet_volume(mesh, cell) / (l * l * l);
}

static inline double total_volume(const HkMesh *mesh, double *worst, double *best) {
  double sum = 0;
  *worst = INFINITY;
  *best = -INFINITY;
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    if (cell.type != HK_CELL_TET) continue;
    double quality = tet_quality(mesh, cell);
    sum += tet_volume(mesh, cell);
    *worst = fmin(*worst, quality);
    *best = fmax(*best, quality);
  }
  return sum;
}

/* ---- Sets ---- */

static inline void bounding_box(const HkMesh *mesh, double low[3], double high[3]) {
  memcpy(low, mesh->x, 3 * sizeof *low);
  memcpy(high, mesh->x, 3 * sizeof *high);
  for (int64_t q = 0; q < mesh->vertex_count; q++)
    for (int c = 0; c < 3; c++) {
      low[c] = fmin(low[c], vertex(mesh, q)[c]);
      high[c] = fmax(high[c], vertex(mesh, q)[c]);
    }
}

/* The set holds exactly the marked vertices, each once. */
static inline bool set_is(const HkMesh *mesh, const char *name, const bool *mark) {
  int64_t count, wanted = 0;
  const int32_t *set = hk_mesh_set(mesh, name, &count);
  int *times = new_array(mesh->vertex_count, sizeof *times);
  bool same = set != NULL;
  for (int64_t q = 0; same && q < count; q++) times[set[q]]++;
  for (int64_t q = 0; q < mesh->vertex_count; q++) {
    wanted += mark[q];
    if (times[q] != mark[q]) same = false;
  }
  free(times);
  return same && wanted > 0;
}

/* The set holds exactly the vertices at the low (side 0) or high (side 1) end of an axis. */
static inline bool set_is_side(const HkMesh *mesh, const char *name, int axis, int side) {
  double low[3], high[3];
  bounding_box(mesh, low, high);
  bool *mark = new_array(mesh->vertex_count, sizeof *mark);
  double wanted = side ? high[axis] : low[axis], tolerance = 1e-9 * (high[axis] - low[axis]);
  for (int64_t q = 0; q < mesh->vertex_count; q++)
    mark[q] = fabs(vertex(mesh, q)[axis] - wanted) <= tolerance;
  bool same = set_is(mesh, name, mark);
  free(mark);
  return same;
}

/* The set holds exactly the corners of the bounding box. */
static inline bool set_is_box_corners(const HkMesh *mesh, const char *name) {
  double low[3], high[3];
  bounding_box(mesh, low, high);
  bool *mark = new_array(mesh->vertex_count, sizeof *mark);
  for (int64_t q = 0; q < mesh->vertex_count; q++) {
    const double *x = vertex(mesh, q);
    mark[q] = true;
    for (int c = 0; c < 3; c++)
      if (x[c] != low[c] && x[c] != high[c]) mark[q] = false;
  }
  bool same = set_is(mesh, name, mark);
  free(mark);
  return same;
}

static inline bool set_is_boundary(const HkMesh *mesh, int part_corners) {
  bool *mark = new_array(mesh->vertex_count, sizeof *mark);
  mark_boundary(mesh, part_corners, mark);
  bool same = set_is(mesh, "boundary", mark);
  free(mark);
  return same;
}

/* The set holds one vertex, and none is nearer to the middle of the bounding box. */
static inline bool set_is_center(const HkMesh *mesh) {
  double low[3], high[3], middle[3];
  int64_t count;
  bounding_box(mesh, low, high);
  for (int c = 0; c < 3; c++) middle[c] = 0.5 * (low[c] + high[c]);
  const int32_t *set = hk_mesh_set(mesh, "center", &count);
  if (count != 1) return false;
  double distance = hk_distance(vertex(mesh, set[0]), middle), size = hk_distance(low, high);
  for (int64_t q = 0; q < mesh->vertex_count; q++)
    if (hk_distance(vertex(mesh, q), middle) < distance - 1e-9 * size) return false;
  return true;
}

/* The one vertex of a set, or -1. */
static inline int32_t only_vertex(const HkMesh *mesh, const char *name) {
  int64_t count;
  const int32_t *set = hk_mesh_set(mesh, name, &count);
  return count == 1 ? set[0] : -1;
}

#endif
