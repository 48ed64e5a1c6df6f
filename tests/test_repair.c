/* Repair of meshes: what is welded and dropped, how it is numbered, counted and logged. */
#include "mesh/mesh.h"
#include "mesh_text.h"

/* A chain of points on a line at the given x, with one line cell between neighbors. */
static HkMesh *make_chain(const double *x, int count) {
  HkMesh *m = NULL;
  if (hk_mesh_create(NULL, &m, NULL) < 0) abort();
  for (int q = 0; q < count; q++) {
    double p[3] = {x[q], 0, 0};
    if (hk_mesh_add_vertices(m, p, 1, NULL) < 0) abort();
    if (q > 0 && hk_mesh_add_cell(m, HK_CELL_LINE, (int32_t[]){q - 1, q}, 2, NULL) < 0) abort();
  }
  return m;
}

#define CHAIN(...)                                                                                 \
  make_chain((double[]){__VA_ARGS__}, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))

static bool map_is(const HkMesh *m, const int32_t *map, int64_t count) {
  return m->vertex_map && m->file_vertex_count == count &&
         memcmp(m->vertex_map, map, (size_t)count * sizeof *map) == 0;
}

TEST(exact_weld_joins_equal_vertices_alone) {
  HkMesh *m = CHAIN(0, 1, -0.0, 1, 1 + 1e-15, 2);
  HkRepairCounts counts;
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 0}, &counts, error));
  CHECK(counts.welded == 2 && counts.unused == 0);
  CHECK(hk_mesh_vertex_count(m) == 4);
  CHECK_VERTEX(m, 2, 1 + 1e-15, 0, 0);
  CHECK_CELL(m, 1, HK_CELL_LINE, 1, 0);
  CHECK_CELL(m, 3, HK_CELL_LINE, 1, 2);
  CHECK(map_is(m, (int32_t[]){0, 1, 0, 1, 2, 3}, 6));
  hk_mesh_destroy(&m);
}

TEST(weld_takes_the_lowest_vertex_within_the_tolerance) {
  /* 0.5 and 1.5 are both within 0.75 of 1; 1 goes to vertex 0 at 1.5, 0.5 stays. */
  HkMesh *m = CHAIN(1.5, 0.5, 1);
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 0.75}, NULL, error));
  CHECK(map_is(m, (int32_t[]){0, 1, 0}, 3));
  hk_mesh_destroy(&m);
}

TEST(weld_reaches_the_tolerance_and_not_beyond) {
  HkMesh *m = CHAIN(0, 0.25, 0.25 + 0x1p-50, -0.25, -0.25 - 0x1p-50);
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 0.25}, NULL, error));
  /* The two just beyond are more than 0.25 from 0 and from each other. */
  CHECK(map_is(m, (int32_t[]){0, 0, 1, 0, 2}, 5));
  hk_mesh_destroy(&m);
}

TEST(weld_does_not_collapse_a_chain_of_near_vertices) {
  HkMesh *m = CHAIN(0, 0.75, 1.5, 2.25, 3);
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 1}, NULL, error));
  CHECK(map_is(m, (int32_t[]){0, 0, 1, 1, 2}, 5));
  hk_mesh_destroy(&m);
}

TEST(a_negative_tolerance_welds_nothing_and_nan_is_refused) {
  HkMesh *m = CHAIN(0, 0, 0);
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = -1}, NULL, error));
  CHECK(hk_mesh_vertex_count(m) == 3 && m->vertex_map == NULL);
  FAILS(hk_mesh_repair(m, &(HkRepair){.weld = NAN}, NULL, error), HK_ERROR_INVALID, "not a number");
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = INFINITY}, NULL, error));
  CHECK(hk_mesh_vertex_count(m) == 1);
  hk_mesh_destroy(&m);
}

TEST(coordinates_of_any_size_are_welded) {
  const double big = 1e308, far = 0x1p53;
  HkMesh *m = CHAIN(big, -big, big, 1e-320, far, far + 2, 0, far, 2e-320);
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 1e-320}, NULL, error));
  CHECK(map_is(m, (int32_t[]){0, 1, 0, 2, 3, 4, 2, 3, 2}, 9));
  hk_mesh_destroy(&m);
}

/* Random points against the definition, looked up pair by pair. */
TEST(weld_agrees_with_comparing_all_pairs) {
  enum { COUNT = 1500 };
  static const double tolerances[] = {0, 0.01, 0.05, 0.2};
  static double x[3 * COUNT];
  uint32_t seed = 7;
  for (int q = 0; q < 3 * COUNT; q++) {
    seed = seed * 1664525u + 1013904223u;
    x[q] = (int)(seed >> 24) % 64 / 32.0 - 1 + (q % 2 ? 1e-3 : 0);
  }
  for (int t = 0; t < 4; t++) {
    HkMesh *m = NULL;
    MUST(hk_mesh_create(NULL, &m, error));
    MUST(hk_mesh_add_vertices(m, x, COUNT, error));
    MUST(hk_mesh_repair(m, &(HkRepair){.weld = tolerances[t]}, NULL, error));
    static int32_t expected[COUNT];
    static int kept[COUNT];
    int count = 0;
    for (int v = 0; v < COUNT; v++) {
      int k = 0;
      for (; k < count; k++) {
        const double *a = x + 3 * kept[k], *b = x + 3 * v;
        if (hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]) <= tolerances[t]) break;
      }
      expected[v] = k;
      if (k == count) kept[count++] = v;
    }
    CHECK(count < COUNT || tolerances[t] == 0);
    CHECK(hk_mesh_vertex_count(m) == count);
    if (count < COUNT) CHECK(map_is(m, expected, COUNT));
    hk_mesh_destroy(&m);
  }
}

TEST(unused_vertices_are_dropped) {
  HkMesh *m = CHAIN(0, 1, 2);
  HkRepairCounts counts;
  MUST(hk_mesh_add_vertices(m, (double[]){9, 9, 9, 5, 0, 0}, 2, error));
  MUST(hk_mesh_add_cell(m, HK_CELL_LINE, (int32_t[]){2, 4}, 2, error));
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = -1, .unused = true}, &counts, error));
  CHECK(counts.welded == 0 && counts.unused == 1);
  CHECK(map_is(m, (int32_t[]){0, 1, 2, -1, 3}, 5));
  CHECK_VERTEX(m, 3, 5, 0, 0);
  CHECK_CELL(m, 2, HK_CELL_LINE, 2, 3);
  hk_mesh_destroy(&m);
}

TEST(sets_follow_and_hold_each_vertex_once) {
  HkMesh *m = CHAIN(0, 1, 0, 1, 2);
  int64_t count;
  MUST(hk_mesh_add_vertices(m, (double[]){7, 7, 7}, 1, error));
  MUST(hk_mesh_add_set(m, "a", (int32_t[]){5, 4, 2, 0}, 4, error));
  MUST(hk_mesh_add_set(m, "b", (int32_t[]){3, 1, 2}, 3, error));
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 0, .unused = true}, NULL, error));
  const int32_t *a = hk_mesh_set(m, "a", &count);
  CHECK(count == 2 && a[0] == 2 && a[1] == 0);
  const int32_t *b = hk_mesh_set(m, "b", &count);
  CHECK(count == 2 && b[0] == 1 && b[1] == 0);
  hk_mesh_destroy(&m);
}

TEST(the_maps_of_two_repairs_are_composed) {
  HkMesh *m = CHAIN(0, 0, 1, 1.1, 2);
  MUST(hk_mesh_add_vertices(m, (double[]){9, 9, 9, 0, 0, 0}, 2, error));
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 0}, NULL, error));
  CHECK(map_is(m, (int32_t[]){0, 0, 1, 2, 3, 4, 0}, 7));
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 0.5, .unused = true}, NULL, error));
  CHECK(map_is(m, (int32_t[]){0, 0, 1, 1, 2, -1, 0}, 7));
  hk_mesh_destroy(&m);
}

typedef struct Lines {
  int count;
  char text[4][128];
} Lines;

static void keep_lines(void *user, HkLogLevel level, const char *text) {
  Lines *lines = user;
  if (level == HK_LOG_INFO && lines->count < 4)
    snprintf(lines->text[lines->count++], sizeof lines->text[0], "%s", text);
}

TEST(only_what_was_repaired_is_logged) {
  Lines lines = {0};
  HkContext context = {.log = keep_lines, .log_user = &lines};
  HkMesh *m = NULL;
  HkRepair repair = {.weld = 0, .unused = true};
  MUST(hk_mesh_create(&context, &m, error));
  MUST(hk_mesh_add_vertices(m, (double[]){0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0}, 4, error));
  MUST(hk_mesh_add_cell(m, HK_CELL_LINE, (int32_t[]){1, 2}, 2, error));
  MUST(hk_mesh_repair(m, &repair, NULL, error));
  CHECK(lines.count == 2);
  CHECK(strstr(lines.text[0], "1 vertices welded"));
  CHECK(strstr(lines.text[1], "1 vertices dropped"));
  MUST(hk_mesh_repair(m, &repair, NULL, error));
  CHECK(lines.count == 2);
  hk_mesh_destroy(&m);
}

/* A million vertices at one place and a million apart: linear, not quadratic. */
TEST(weld_is_linear_even_at_one_place) {
  enum { COUNT = 1000000 };
  HkMesh *m = NULL;
  MUST(hk_mesh_create(NULL, &m, error));
  for (int q = 0; q < COUNT; q++) {
    double x[6] = {0, 0, 0, 1 + q * 1e-3, q % 7, 0};
    MUST(hk_mesh_add_vertices(m, x, 2, error));
  }
  MUST(hk_mesh_repair(m, &(HkRepair){.weld = 1e-6}, NULL, error));
  CHECK(hk_mesh_vertex_count(m) == COUNT + 1);
  hk_mesh_destroy(&m);
}
