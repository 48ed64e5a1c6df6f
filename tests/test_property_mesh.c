/* Random meshes: written and read, mended, and made into springs. */
#include "mesh/mesh.h"
#include "mesh/pairs.h"
#include "mesh_text.h"
#include "property.h"

enum { VERTICES_MAX = 12, CELLS_MAX = 8, SETS_MAX = 3, POLYGON_MAX = 8 };

static const char *const type_names[] = {"point", "line",    "triangle", "quad", "polygon",
                                         "tet",   "pyramid", "wedge",    "hex"};

/* ---- Meshes ---- */

/* Small whole numbers, which meet each other, and numbers of every size. */
static double coordinate(Draw *draw) {
  static const double extremes[] = {-0.0, 1e300, -1e300, 1e-320, 0.1, 1.0 / 3, 1e22, 1 + 0x1p-52};
  if (!draw_chance(draw, 25)) return draw_int(draw, 0, 3);
  return extremes[draw_below(draw, sizeof extremes / sizeof extremes[0])];
}

/* At least one vertex; some are on top of each other, and some are used by no cell. */
static void add_vertices(Draw *draw, HkMesh *m) {
  DrawList list = {.max = VERTICES_MAX - 1};
  do {
    double x[3] = {coordinate(draw), coordinate(draw), coordinate(draw)};
    draw_note(draw, "\n      vertex %g %g %g", x[0], x[1], x[2]);
    if (hk_mesh_add_vertices(m, x, 1, NULL) < 0) abort();
  } while (draw_more(draw, &list));
}

/* Cells of the given types; corners may repeat. */
static void add_cells(Draw *draw, HkMesh *m, unsigned types) {
  int type_of[HK_CELL_HEX + 1] = {0}, kinds = 0;
  for (int t = 0; t <= HK_CELL_HEX; t++)
    if (types & 1u << t) type_of[kinds++] = t;
  for (DrawList list = {.max = CELLS_MAX}; kinds > 0 && draw_more(draw, &list);) {
    HkCellType type = (HkCellType)type_of[draw_below(draw, (uint64_t)kinds)];
    int32_t corners[POLYGON_MAX];
    int count = hk_cell_corners(type);
    if (count == 0) count = draw_int(draw, 5, POLYGON_MAX);
    draw_note(draw, "\n      %s", type_names[type]);
    for (int q = 0; q < count; q++) {
      corners[q] = (int32_t)draw_below(draw, (uint64_t)hk_mesh_vertex_count(m));
      draw_note(draw, " %d", corners[q]);
    }
    if (hk_mesh_add_cell(m, type, corners, count, NULL) < 0) abort();
  }
}

static void add_sets(Draw *draw, HkMesh *m) {
  static const char *const names[SETS_MAX] = {"a", "left side", "c_3"};
  for (int q = 0; q < SETS_MAX; q++) {
    if (!draw_chance(draw, 30)) continue;
    int32_t vertex = (int32_t)draw_below(draw, (uint64_t)hk_mesh_vertex_count(m));
    draw_note(draw, "\n      set '%s' %d", names[q], vertex);
    if (hk_mesh_add_set(m, names[q], &vertex, 1, NULL) < 0) abort();
  }
}

static HkMesh *draw_mesh(Draw *draw, unsigned types) {
  HkMesh *m = NULL;
  if (hk_mesh_create(NULL, &m, NULL) < 0) abort();
  add_vertices(draw, m);
  add_cells(draw, m, types);
  add_sets(draw, m);
  return m;
}

static HkMesh *mesh_copy(const HkMesh *m) {
  HkMesh *copy = NULL;
  if (hk_mesh_create(NULL, &copy, NULL) < 0) abort();
  if (hk_mesh_add_vertices(copy, m->x, m->vertex_count, NULL) < 0) abort();
  for (int64_t c = 0; c < hk_mesh_cell_count(m); c++) {
    HkCell cell = hk_mesh_cell(m, c);
    if (hk_mesh_add_cell(copy, cell.type, cell.vertices, cell.count, NULL) < 0) abort();
  }
  return copy;
}

#define ALL_TYPES ((1u << (HK_CELL_HEX + 1)) - 1)

/* ---- Files ---- */

/* Cells that formats keep in one list each are moved, but stay in order within their list. */
static bool same_cells_of_type(const HkMesh *a, const HkMesh *b, HkCellType type) {
  int64_t q = 0, cells = hk_mesh_cell_count(b);
  for (int64_t c = 0; c < hk_mesh_cell_count(a); c++) {
    HkCell cell = hk_mesh_cell(a, c);
    if (cell.type != type) continue;
    while (q < cells && hk_mesh_cell(b, q).type != type) q++;
    if (!cell_is(b, q++, cell.type, cell.vertices, cell.count)) return false;
  }
  while (q < cells && hk_mesh_cell(b, q).type != type) q++;
  return q == cells;
}

static bool same_mesh(HkMesh *a, HkMesh *b) {
  if (hk_mesh_vertex_count(a) != hk_mesh_vertex_count(b)) return false;
  if (hk_mesh_cell_count(a) != hk_mesh_cell_count(b)) return false;
  for (int t = 0; t <= HK_CELL_HEX; t++)
    if (!same_cells_of_type(a, b, (HkCellType)t)) return false;
  return same_bits(hk_mesh_vertices(a), hk_mesh_vertices(b),
                   (size_t)hk_mesh_vertex_count(a) * 3 * sizeof(double));
}

/* STL has triangles of its own vertices in floats: their number is what it keeps. */
static int64_t triangles_in_fans(const HkMesh *m) {
  int64_t count = 0;
  for (int64_t c = 0; c < hk_mesh_cell_count(m); c++) count += hk_mesh_cell(m, c).count - 2;
  return count;
}

static int written_meshes, meshes_seen;

/* Cell types that the files of each format can hold, as docs/scene.md and the writers say. */
static const struct {
  const char *name;
  unsigned types;
} formats[] = {
    {"obj", 0x1f}, {"ply", 0x1e},  {"off", 0x1f},   {"stl", 0x1c},
    {"tet", 0x20}, {"msh", 0x1ef}, {"mesh", 0x1ee}, {"node", 0x2a},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static void files_hold_meshes(Draw *draw) {
  static char folder[400];
  if (!folder[0]) snprintf(folder, sizeof folder, "%s", test_folder());
  char path[512];
  HkError error = {0};
  HkMesh *back = NULL;
  uint64_t q = draw_below(draw, FORMATS);
  const char *format = formats[q].name;
  bool is_stl = strcmp(format, "stl") == 0;
  draw_note(draw, ".%s", format);
  HkMesh *m = draw_mesh(draw, draw_chance(draw, 10) ? ALL_TYPES : formats[q].types);
  snprintf(path, sizeof path, "%s/a.%s", folder, format);
  HkStatus status = hk_mesh_write(m, path, &error);
  meshes_seen++;
  if (status < 0) {
    if ((status != HK_ERROR_UNSUPPORTED && status != HK_ERROR_INVALID) || strlen(error.text) < 10)
      draw_fail(draw, "not written: %s \"%s\"", hk_status_name(status), error.text);
  } else if (hk_mesh_read(NULL, path, &back, &error) < 0) {
    draw_fail(draw, "not read back: %s", error.text);
  } else {
    written_meshes++;
    if (is_stl ? hk_mesh_cell_count(back) != triangles_in_fans(m) : !same_mesh(m, back))
      draw_fail(draw, "differs after reading");
  }
  hk_mesh_destroy(&back);
  hk_mesh_destroy(&m);
}

TEST(random_meshes_are_read_as_they_were_written) {
  written_meshes = meshes_seen = 0;
  property_check(files_hold_meshes, 1500);
  CHECK(3 * written_meshes >= meshes_seen); /* else the generator tests only errors */
}

/* ---- Repair ---- */

static bool is_used(const HkMesh *m, int32_t vertex) {
  for (int64_t q = 0; q < m->corner_count; q++)
    if (m->cell_vertex[q] == vertex) return true;
  return false;
}

static void check_map(Draw *draw, const HkMesh *before, const HkMesh *after, double weld) {
  for (int64_t i = 0; i < before->vertex_count; i++) {
    int32_t to = after->vertex_map ? after->vertex_map[i] : (int32_t)i;
    if (to < -1 || to >= after->vertex_count)
      draw_fail(draw, "vertex %d is mapped to %d", (int)i, to);
    if (to < 0 || draw_failed(draw)) continue;
    const double *a = before->x + 3 * i, *b = after->x + 3 * (int64_t)to;
    double distance = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
    if (!(distance <= fmax(weld, 0) * (1 + 1e-12)))
      draw_fail(draw, "vertex %d has moved by %g m", (int)i, distance);
  }
}

static void repairs_are_idempotent_and_counted(Draw *draw) {
  static const double distances[] = {0, -1, 1, 1.5, 1e-3};
  HkMesh *m = draw_mesh(draw, ALL_TYPES), *before = mesh_copy(m);
  HkRepair repair = {.weld = distances[draw_below(draw, 5)], .unused = draw_chance(draw, 50)};
  HkRepairCounts first = {0}, second = {0};
  HkError error = {0};
  draw_note(draw, "\n      weld %g%s", repair.weld, repair.unused ? ", unused" : "");
  if (hk_mesh_repair(m, &repair, &first, &error) < 0) draw_fail(draw, "%s", error.text);
  check_map(draw, before, m, repair.weld);
  DRAW_CHECK(draw, m->vertex_count == before->vertex_count - first.welded - first.unused);
  DRAW_CHECK(draw, m->cell_count == before->cell_count);
  for (int32_t i = 0; repair.unused && i < m->vertex_count; i++) DRAW_CHECK(draw, is_used(m, i));
  for (int64_t q = 0; q < m->corner_count; q++)
    DRAW_CHECK(draw, m->cell_vertex[q] >= 0 && m->cell_vertex[q] < m->vertex_count);
  HkMesh *once = mesh_copy(m);
  if (hk_mesh_repair(m, &repair, &second, &error) < 0) draw_fail(draw, "%s", error.text);
  if (second.welded || second.unused || !meshes_are_equal(once, m))
    draw_fail(draw, "a second repair welds %d and drops %d more", (int)second.welded,
              (int)second.unused);
  hk_mesh_destroy(&once);
  hk_mesh_destroy(&before);
  hk_mesh_destroy(&m);
}

TEST(random_repairs_are_idempotent_and_their_counts_add_up) {
  property_check(repairs_are_idempotent_and_counted, 3000);
}

/* ---- Springs ---- */

static void springs_are_unique_and_in_range(Draw *draw) {
  HkMesh *m = draw_mesh(draw, ALL_TYPES);
  HkPairsWanted wanted = {.edges = draw_chance(draw, 80),
                          .shear = draw_chance(draw, 50),
                          .bending = draw_chance(draw, 50)};
  HkPairs pairs = {0};
  HkError error = {0};
  draw_note(draw, "\n      springs%s%s%s", wanted.edges ? " edges" : "",
            wanted.shear ? " shear" : "", wanted.bending ? " bending" : "");
  if (hk_pairs_create(m, &wanted, &pairs, &error) < 0) draw_fail(draw, "%s", error.text);
  for (int64_t s = 0; s < pairs.count; s++) {
    int32_t i = pairs.i[s], j = pairs.j[s];
    if (i < 0 || i >= j || j >= m->vertex_count) draw_fail(draw, "spring %d to %d", i, j);
    if (s > 0 && (pairs.i[s - 1] > i || (pairs.i[s - 1] == i && pairs.j[s - 1] >= j)))
      draw_fail(draw, "spring %d to %d is there twice or not in order", i, j);
    if (hk_pairs_find(&pairs, j, i) != s) draw_fail(draw, "spring %d to %d is not found", i, j);
    if (!is_used(m, i) || !is_used(m, j)) draw_fail(draw, "spring %d to %d of no cell", i, j);
    bool asked = pairs.kind[s] == HK_PAIR_EDGE    ? wanted.edges
                 : pairs.kind[s] == HK_PAIR_SHEAR ? wanted.shear
                                                  : wanted.bending;
    if (!asked) draw_fail(draw, "spring %d to %d of kind %d", i, j, pairs.kind[s]);
  }
  hk_pairs_destroy(&m->context, &pairs);
  hk_mesh_destroy(&m);
}

TEST(springs_of_random_meshes_are_unique_and_in_range) {
  property_check(springs_are_unique_and_in_range, 3000);
}
