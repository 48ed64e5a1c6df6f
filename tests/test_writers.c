/* Mesh writers: what is written reads back with the same bits, and what a format cannot hold is
 * refused by name.
 */
#include "mesh_text.h"

#include <float.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers that show lost digits, lost signs and lost extremes. */
static const double awkward[] = {0.1,      1.0 / 3, -0.0,   DBL_MAX, DBL_MIN,   5e-324,
                                 -1e-17,   2.5e22,  1e22,   0.3,     1 + 1e-15, 123456789.123456789,
                                 -DBL_MAX, 1,       1e-300, 7,       -8,        9.5,
                                 0,        0,       0,      1,       2,         3};
enum { VERTICES = sizeof awkward / sizeof awkward[0] / 3 };

typedef struct Cells {
  HkCellType type;
  int count;
  int32_t vertices[8];
} Cells;

static const Cells every[] = {{HK_CELL_POINT, 1, {7}},
                              {HK_CELL_LINE, 2, {6, 0}},
                              {HK_CELL_LINE, 2, {0, 6}},
                              {HK_CELL_TRIANGLE, 3, {0, 1, 2}},
                              {HK_CELL_TRIANGLE, 3, {3, 3, 7}},
                              {HK_CELL_QUAD, 4, {3, 2, 1, 0}},
                              {HK_CELL_POLYGON, 5, {0, 1, 2, 3, 4}},
                              {HK_CELL_TET, 4, {4, 5, 6, 7}},
                              {HK_CELL_PYRAMID, 5, {0, 1, 2, 3, 4}},
                              {HK_CELL_WEDGE, 6, {0, 1, 2, 3, 4, 5}},
                              {HK_CELL_HEX, 8, {0, 1, 2, 3, 4, 5, 6, 7}}};
enum { EVERY = sizeof every / sizeof every[0] };

/* The cells whose types are among the bits, in rising order of types. */
static HkMesh *make_mesh(unsigned types) {
  HkMesh *m = NULL;
  if (hk_mesh_create(NULL, &m, NULL) < 0) abort();
  if (hk_mesh_add_vertices(m, awkward, VERTICES, NULL) < 0) abort();
  for (int q = 0; q < EVERY; q++)
    if (types & 1u << every[q].type &&
        hk_mesh_add_cell(m, every[q].type, every[q].vertices, every[q].count, NULL) < 0)
      abort();
  return m;
}

static void check_round_trip(HkMesh *m, const char *name) {
  HkMesh *back = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s/%s", test_folder(), name);
  MUST(hk_mesh_write(m, path, error));
  MUST(hk_mesh_read(NULL, path, &back, error));
  if (!meshes_are_equal(m, back)) test_fail(__FILE__, __LINE__, "%s differs after reading", name);
  hk_mesh_destroy(&back);
}

#define LINE (1u << HK_CELL_LINE)
#define TRIANGLE (1u << HK_CELL_TRIANGLE)
#define FACES (TRIANGLE | 1u << HK_CELL_QUAD | 1u << HK_CELL_POLYGON)
#define FLAT (1u << HK_CELL_POINT | LINE | FACES)
#define TET (1u << HK_CELL_TET)
#define SOLID (TET | 1u << HK_CELL_PYRAMID | 1u << HK_CELL_WEDGE | 1u << HK_CELL_HEX)
#define FIXED (LINE | TRIANGLE | 1u << HK_CELL_QUAD | SOLID)

/* PLY is not here with lines, which it moves behind the faces; see below. */
TEST(what_is_written_reads_back_with_the_same_bits) {
  static const struct {
    const char *name;
    unsigned types;
  } cases[] = {{"a.obj", FLAT}, {"a.ply", FACES},     {"b.ply", LINE},
               {"a.off", FLAT}, {"a.mesh", FIXED},    {"a.msh", FIXED | 1u << HK_CELL_POINT},
               {"a.tet", TET},  {"a.node", TET},      {"b.node", LINE},
               {"c.node", 0},   {"d.node", TRIANGLE}, {"b.obj", 0},
               {"c.ply", 0},    {"b.off", 0},         {"b.mesh", 0},
               {"b.msh", 0}};
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    HkMesh *m = make_mesh(cases[q].types);
    check_round_trip(m, cases[q].name);
    hk_mesh_destroy(&m);
  }
}

TEST(ply_keeps_the_order_of_faces_and_of_lines) {
  HkMesh *m = make_mesh(LINE | FACES), *back = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s/a.ply", test_folder());
  MUST(hk_mesh_write(m, path, error));
  MUST(hk_mesh_read(NULL, path, &back, error));
  CHECK(hk_mesh_cell_count(back) == 6);
  CHECK_CELL(back, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(back, 3, HK_CELL_POLYGON, 0, 1, 2, 3, 4);
  CHECK_CELL(back, 4, HK_CELL_LINE, 6, 0);
  CHECK_CELL(back, 5, HK_CELL_LINE, 0, 6);
  hk_mesh_destroy(&back);
  hk_mesh_destroy(&m);
}

TEST(ply_counts_more_than_255_corners) {
  HkMesh *m = NULL;
  double x[300 * 3] = {0};
  int32_t corners[300];
  for (int q = 0; q < 300; q++) corners[q] = q;
  MUST(hk_mesh_create(NULL, &m, error));
  MUST(hk_mesh_add_vertices(m, x, 300, error));
  MUST(hk_mesh_add_cell(m, HK_CELL_POLYGON, corners, 300, error));
  check_round_trip(m, "a.ply");
  check_round_trip(m, "a.obj");
  hk_mesh_destroy(&m);
}

/* A fan about the first corner, in single precision; 0.1 is rounded. */
TEST(stl_holds_faces_as_triangles) {
  HkMesh *m = NULL, *back = NULL;
  const double x[] = {0.1, 0, 0, 1, 0, 0, 1, 1, 0, 0.5, 2, 0, 0, 1, 0};
  char path[512];
  snprintf(path, sizeof path, "%s/a.stl", test_folder());
  MUST(hk_mesh_create(NULL, &m, error));
  MUST(hk_mesh_add_vertices(m, x, 5, error));
  MUST(hk_mesh_add_cell(m, HK_CELL_POLYGON, (int32_t[]){0, 1, 2, 3, 4}, 5, error));
  MUST(hk_mesh_write(m, path, error));
  MUST(hk_mesh_read(NULL, path, &back, error));
  CHECK(hk_mesh_vertex_count(back) == 5 && hk_mesh_cell_count(back) == 3);
  CHECK_VERTEX(back, 0, (double)0.1f, 0, 0);
  CHECK_VERTEX(back, 3, 0.5, 2, 0);
  CHECK_CELL(back, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(back, 1, HK_CELL_TRIANGLE, 0, 2, 3);
  CHECK_CELL(back, 2, HK_CELL_TRIANGLE, 0, 3, 4);
  size_t size = 0;
  char *bytes = get_file(path, &size);
  const unsigned char one[] = {0, 0, 0x80, 0x3f};
  CHECK(size == 84 + 3 * 50);
  CHECK(bytes && memcmp(bytes + 84 + 8, one, 4) == 0); /* the normal is (0, 0, 1) */
  free(bytes);
  hk_mesh_destroy(&back);
  hk_mesh_destroy(&m);
}

TEST(flat_triangles_are_written_for_triangle) {
  HkMesh *m = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s/a.node", test_folder());
  MUST(hk_mesh_create(NULL, &m, error));
  MUST(hk_mesh_add_vertices(m, (double[]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 3, error));
  MUST(hk_mesh_add_cell(m, HK_CELL_TRIANGLE, (int32_t[]){0, 1, 2}, 3, error));
  MUST(hk_mesh_write(m, path, error));
  size_t size = 0;
  char *bytes = get_file(path, &size);
  CHECK(bytes && strncmp(bytes, "3 2 0 0\n", 8) == 0);
  free(bytes);
  check_round_trip(m, "b.node");
  hk_mesh_destroy(&m);
}

/* A.ele and a.edge of an earlier mesh must not be read with a later one. */
TEST(tetgen_files_of_an_earlier_mesh_are_replaced) {
  HkMesh *solid = make_mesh(TET | LINE), *points = make_mesh(0), *back = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s/a.node", test_folder());
  MUST(hk_mesh_write(solid, path, error));
  MUST(hk_mesh_write(points, path, error));
  MUST(hk_mesh_read(NULL, path, &back, error));
  CHECK(meshes_are_equal(points, back));
  hk_mesh_destroy(&back);
  hk_mesh_destroy(&points);
  hk_mesh_destroy(&solid);
}

TEST(cells_that_a_format_cannot_hold_are_refused_by_name) {
  static const struct {
    const char *name;
    unsigned types;
    const char *part;
  } cases[] = {{"a.obj", TET, "tetrahedra (the first is cell 0), which .obj cannot hold; .mesh"},
               {"a.obj", 1u << HK_CELL_HEX, "hexahedra"},
               {"a.ply", 1u << HK_CELL_POINT, "points"},
               {"a.ply", 1u << HK_CELL_WEDGE, "wedges"},
               {"a.stl", LINE, "lines"},
               {"a.stl", 0, "no faces"},
               {"a.stl", TRIANGLE, "beyond the single precision"},
               {"a.off", 1u << HK_CELL_PYRAMID, "pyramids"},
               {"a.mesh", 1u << HK_CELL_POLYGON, "polygons"},
               {"a.mesh", 1u << HK_CELL_POINT, "points"},
               {"a.msh", 1u << HK_CELL_POLYGON, "; .obj, .ply, .stl, .off can"},
               {"a.tet", TRIANGLE | TET, "triangles"},
               {"a.tet", 0, "no tetrahedra"},
               {"a.node", 1u << HK_CELL_QUAD, "quads"},
               {"a.node", TRIANGLE | TET, "triangles and tetrahedra"}};
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    HkMesh *m = make_mesh(cases[q].types);
    char path[512];
    snprintf(path, sizeof path, "%s/%s", test_folder(), cases[q].name);
    FAILS(hk_mesh_write(m, path, error), HK_ERROR_UNSUPPORTED, cases[q].part);
    CHECK(access(path, F_OK) != 0);
    hk_mesh_destroy(&m);
  }
}

/* A folder where the file should be: the rename fails, for root too. */
TEST(a_file_that_cannot_be_written_leaves_nothing_behind) {
  static const char *const names[] = {"a.obj", "a.ply", "a.off", "a.mesh", "a.msh", "a.node"};
  HkMesh *m = make_mesh(0);
  for (int q = 0; q < 6; q++) {
    char path[512], temporary[520];
    snprintf(path, sizeof path, "%s/%s", test_folder(), names[q]);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    CHECK(mkdir(path, 0777) == 0);
    FAILS(hk_mesh_write(m, path, error), HK_ERROR_IO, "cannot write");
    CHECK(access(temporary, F_OK) != 0);
    FAILS(hk_mesh_write(m, "/nowhere/a.obj", error), HK_ERROR_IO, "/nowhere/a.obj: cannot write");
  }
  FAILS(hk_mesh_write(m, "a.xyz", error), HK_ERROR_UNSUPPORTED, "'xyz' is no mesh format");
  hk_mesh_destroy(&m);
}

/* Every character device that takes nothing: the error comes at the end, when buffers are full. */
TEST(a_full_disk_is_one_clear_error) {
  if (access("/dev/full", W_OK) != 0) SKIP("/dev/full is not there");
  HkMesh *m = make_mesh(0);
  char path[512], temporary[520];
  snprintf(path, sizeof path, "%s/a.obj", test_folder());
  snprintf(temporary, sizeof temporary, "%s.tmp", path);
  CHECK(symlink("/dev/full", temporary) == 0);
  FAILS(hk_mesh_write(m, path, error), HK_ERROR_IO, "No space left");
  CHECK(access(path, F_OK) != 0);
  hk_mesh_destroy(&m);
}

static void keep_line(void *user, HkLogLevel level, const char *text) {
  (void)level;
  snprintf(user, 256, "%s", text);
}

TEST(sets_that_are_not_written_are_logged) {
  char line[256] = "", path[512];
  HkContext context = {.log = keep_line, .log_user = line};
  HkMesh *m = NULL;
  snprintf(path, sizeof path, "%s/a.obj", test_folder());
  MUST(hk_mesh_create(&context, &m, error));
  MUST(hk_mesh_add_vertices(m, (double[]){0, 0, 0}, 1, error));
  MUST(hk_mesh_write(m, path, error));
  CHECK(line[0] == 0);
  MUST(hk_mesh_add_set(m, "all", (int32_t[]){0}, 1, error));
  MUST(hk_mesh_write(m, path, error));
  CHECK(strstr(line, "1 vertex sets"));
  hk_mesh_destroy(&m);
}
