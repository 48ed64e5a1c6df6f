/* Mesh readers on valid files: vertices, cells and sets are what the file says, in its order. */
#include "mesh_text.h"

#include <locale.h>

TEST(obj_reads_every_statement) {
  HkMesh *m = NULL;
  MUST(parse_text("obj",
                  "# comment\nmtllib a.mtl\no thing\nv 0 0.5 -1e-3\nv 1 0 0 1.0\n"
                  "v 1 1 0 0.5 0.5 0.5\nv 0 1 0 # four\nv 2 2 2\nvt 0 0\nvn 0 0 1\ng part\n"
                  "usemtl red\ns off\nf 1 2 3\nf 1 2 3 4\nf 1 2 3 4 5\nl 1 2 3\np 5 1\nvp 1 2\n",
                  &m, error));
  CHECK(hk_mesh_vertex_count(m) == 5);
  CHECK_VERTEX(m, 0, 0, 0.5, -1e-3);
  CHECK_VERTEX(m, 2, 1, 1, 0);
  CHECK(hk_mesh_cell_count(m) == 7);
  CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(m, 1, HK_CELL_QUAD, 0, 1, 2, 3);
  CHECK_CELL(m, 2, HK_CELL_POLYGON, 0, 1, 2, 3, 4);
  CHECK_CELL(m, 3, HK_CELL_LINE, 0, 1);
  CHECK_CELL(m, 4, HK_CELL_LINE, 1, 2);
  CHECK_CELL(m, 5, HK_CELL_POINT, 4);
  CHECK_CELL(m, 6, HK_CELL_POINT, 0);
  hk_mesh_destroy(&m);
}

TEST(obj_ignores_texture_and_normals_of_corners) {
  HkMesh *m = NULL;
  MUST(parse_text("obj",
                  "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/7 2/8 3/9\nf 1//7 2//8 3//9\n"
                  "f 1/7/7 2/8/8 -1/-9/-9\nl 1/4 2/5\n",
                  &m, error));
  for (int c = 0; c < 3; c++) CHECK_CELL(m, c, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(m, 3, HK_CELL_LINE, 0, 1);
  hk_mesh_destroy(&m);
}

TEST(obj_reads_negative_indices_from_where_they_stand) {
  HkMesh *m = NULL;
  MUST(parse_text("obj", "v 0 0 0\nv 1 0 0\nf -1 -2\nv 2 0 0\nf -1 -3\nv 9 9 9\n", &m, error));
  CHECK_CELL(m, 0, HK_CELL_LINE, 1, 0);
  CHECK_CELL(m, 1, HK_CELL_LINE, 2, 0);
  hk_mesh_destroy(&m);
}

TEST(obj_reads_cells_that_come_before_their_vertices) {
  HkMesh *m = NULL;
  MUST(parse_text("obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0", &m, error));
  CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  hk_mesh_destroy(&m);
}

TEST(obj_goes_on_behind_a_backslash) {
  HkMesh *m = NULL;
  MUST(parse_text("obj",
                  "v 0 \\\n0 0\nv 1 0\\\r\n 0\nv 2 0 0\nf 1 \\\n \\\n2\\\n 3\n# no\\\nl 1 2\n"
                  "g a \\\nf 9\n",
                  &m, error));
  CHECK(hk_mesh_vertex_count(m) == 3 && hk_mesh_cell_count(m) == 2);
  CHECK_VERTEX(m, 1, 1, 0, 0);
  CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(m, 1, HK_CELL_LINE, 0, 1);
  hk_mesh_destroy(&m);
}

static const char ply_head[] =
    "element vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
    "property list uchar int vertex_indices\nelement edge 1\nproperty int vertex1\n"
    "property int vertex2\nend_header\n";

TEST(ply_reads_text) {
  HkMesh *m = NULL;
  char text[512];
  snprintf(text, sizeof text,
           "ply\nformat ascii 1.0\ncomment x\n%s0 0 0\n1 0.1 0\n\n0 1 0\n"
           "3 0 1 2\n2 0",
           ply_head);
  MUST(parse_text("ply", text, &m, error));
  CHECK(hk_mesh_vertex_count(m) == 3 && hk_mesh_cell_count(m) == 2);
  CHECK_VERTEX(m, 1, 1, 0.1, 0);
  CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(m, 1, HK_CELL_LINE, 2, 0);
  hk_mesh_destroy(&m);
}

/* The values of ply_head in binary, written byte by byte. */
static size_t put_number(char *bytes, bool big, int size, uint64_t value) {
  for (int q = 0; q < size; q++) bytes[big ? size - 1 - q : q] = (char)(value >> (8 * q) & 255);
  return (size_t)size;
}

TEST(ply_reads_both_byte_orders) {
  for (int big = 0; big < 2; big++) {
    HkMesh *m = NULL;
    char bytes[512];
    size_t n = (size_t)snprintf(bytes, sizeof bytes, "ply\nformat binary_%s_endian 1.0\r\n%s",
                                big ? "big" : "little", ply_head);
    const uint32_t floats[] = {0, 0, 0, 0x3f800000, 0xbf000000, 0, 0, 0x40000000, 0};
    for (int q = 0; q < 9; q++) n += put_number(bytes + n, big, 4, floats[q]);
    n += put_number(bytes + n, big, 1, 3);
    for (uint64_t q = 0; q < 3; q++) n += put_number(bytes + n, big, 4, q);
    n += put_number(bytes + n, big, 4, 2);
    n += put_number(bytes + n, big, 4, 1);
    MUST(hk_mesh_parse(NULL, "ply", bytes, n, "f", &m, error));
    CHECK_VERTEX(m, 1, 1, -0.5, 0);
    CHECK_VERTEX(m, 2, 0, 2, 0);
    CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
    CHECK_CELL(m, 1, HK_CELL_LINE, 2, 1);
    hk_mesh_destroy(&m);
    FAILS(hk_mesh_parse(NULL, "ply", bytes, n - 1, "f", &m, error), HK_ERROR_FORMAT, "cut off");
  }
}

/* Each type once as x = -2 (or 254, 65534 ... for unsigned ones). */
TEST(ply_reads_every_type_of_number) {
  static const struct {
    const char *name;
    int size;
    uint64_t bits;
    double value;
  } types[] = {{"char", 1, 0xfe, -2},
               {"uint8", 1, 0xfe, 254},
               {"int16", 2, 0xfffe, -2},
               {"ushort", 2, 0xfffe, 65534},
               {"int", 4, 0xfffffffe, -2},
               {"uint32", 4, 0xfffffffe, 4294967294.0},
               {"int64", 8, 0xfffffffffffffffe, -2},
               {"float32", 4, 0xc0000000, -2},
               {"double", 8, 0xc000000000000000, -2}};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
    HkMesh *m = NULL;
    char bytes[256];
    size_t n = (size_t)snprintf(bytes, sizeof bytes,
                                "ply\nformat binary_little_endian 1.0\nelement vertex 1\n"
                                "property %s x\nproperty uchar y\nend_header\n",
                                types[t].name);
    n += put_number(bytes + n, false, types[t].size, types[t].bits);
    n += put_number(bytes + n, false, 1, 7);
    MUST(hk_mesh_parse(NULL, "ply", bytes, n, "f", &m, error));
    CHECK_VERTEX(m, 0, types[t].value, 7, 0);
    hk_mesh_destroy(&m);
  }
}

TEST(ply_skips_other_elements_and_properties) {
  HkMesh *m = NULL;
  MUST(parse_text("ply",
                  "ply\nformat ascii 1.0\nobj_info none\nelement camera 1\nproperty double f\n"
                  "element vertex 2\nproperty double x\nproperty double y\nproperty uchar red\n"
                  "property list uchar float weights\nelement empty 5\nelement face 1\n"
                  "property uchar flags\nproperty list uint8 uint32 vertex_index\n"
                  "property float quality\nend_header\nnan\n0 1 255 2 0.5 inf\n1 2 255 0\n"
                  "1 2 1 0 nan\n",
                  &m, error));
  CHECK(hk_mesh_vertex_count(m) == 2 && hk_mesh_cell_count(m) == 1);
  CHECK_VERTEX(m, 1, 1, 2, 0);
  CHECK_CELL(m, 0, HK_CELL_LINE, 1, 0);
  hk_mesh_destroy(&m);
}

TEST(stl_text_is_welded_in_order_of_first_occurrence) {
  HkMesh *m = NULL;
  MUST(parse_text("stl",
                  "solid two of them\nfacet normal 0 0 1\nouter loop\nvertex 5 0 0\nvertex 1 0 0\n"
                  "vertex 0 1 0\nendloop\nendfacet\nFACET NORMAL nan nan nan\nouter loop\n"
                  "vertex 1 -0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid two\n"
                  "solid\nendsolid\n",
                  &m, error));
  CHECK(hk_mesh_vertex_count(m) == 4);
  CHECK_VERTEX(m, 0, 5, 0, 0);
  CHECK_VERTEX(m, 3, 1, 1, 0);
  CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(m, 1, HK_CELL_TRIANGLE, 1, 3, 2);
  hk_mesh_destroy(&m);
}

TEST(stl_binary_is_known_even_when_it_begins_with_solid) {
  const char *const headers[] = {"a part", "solid part", "solid\nfacet normal 0 0 1\nouter loop"};
  for (int q = 0; q < 3; q++) {
    HkMesh *m = NULL;
    char bytes[84 + 50] = {0};
    /* Blanks instead of zeros, so that nothing but the size speaks against text. */
    memset(bytes, ' ', 80);
    memcpy(bytes, headers[q], strlen(headers[q]));
    put_number(bytes + 80, false, 4, 1);
    put_number(bytes + 84 + 24, false, 4, 0x3f800000); /* x of the second corner */
    put_number(bytes + 84 + 40, false, 4, 0x3f800000); /* y of the third */
    MUST(hk_mesh_parse(NULL, "stl", bytes, sizeof bytes, "f", &m, error));
    CHECK(hk_mesh_vertex_count(m) == 3);
    CHECK_VERTEX(m, 1, 1, 0, 0);
    CHECK_VERTEX(m, 2, 0, 1, 0);
    hk_mesh_destroy(&m);
    FAILS(hk_mesh_parse(NULL, "stl", bytes, sizeof bytes - 1, "f", &m, error), HK_ERROR_FORMAT,
          "1 triangles are promised");
  }
}

TEST(off_reads_faces_lines_and_points) {
  HkMesh *m = NULL;
  MUST(parse_text("off",
                  "# first\nOFF\n# counts\n5 5 0\n0 0 0\n1 0 0 # x\n1 1 0\n\n0 1 0\n2 2 2\n"
                  "3 0 1 2\n4 0 1 2 3 0.5 0.5 0.5\n5 0 1 2 4 3\n2 0 4\n1 3",
                  &m, error));
  CHECK(hk_mesh_vertex_count(m) == 5 && hk_mesh_cell_count(m) == 5);
  CHECK_CELL(m, 1, HK_CELL_QUAD, 0, 1, 2, 3);
  CHECK_CELL(m, 2, HK_CELL_POLYGON, 0, 1, 2, 4, 3);
  CHECK_CELL(m, 3, HK_CELL_LINE, 0, 4);
  CHECK_CELL(m, 4, HK_CELL_POINT, 3);
  hk_mesh_destroy(&m);
}

TEST(off_ignores_what_follows_the_coordinates) {
  const char *const heads[] = {"COFF 3 1", "NOFF\n3 1 0", "STCNOFF 3\n1", "OFF 3 1 3", "3 1"};
  for (int q = 0; q < 5; q++) {
    HkMesh *m = NULL;
    char text[256];
    snprintf(text, sizeof text, "%s\n0 0 0 9 9\n1 0 0 9 9\n0 1 7 9 9\n3 0 1 2\n", heads[q]);
    MUST(parse_text("off", text, &m, error));
    CHECK_VERTEX(m, 2, 0, 1, 7);
    CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
    hk_mesh_destroy(&m);
  }
}

TEST(medit_reads_every_cell_and_skips_the_rest) {
  HkMesh *m = NULL;
  MUST(parse_text("mesh",
                  "MeshVersionFormatted 1\nDimension\n3\n# a comment\nVertices 9\n0 0 0 0\n"
                  "1 0 0 0\n1 1 0 0\n0 1 0 0\n0 0 1 1\n1 0 1 1\n1 1 1 1\n0 1 1 1\n.5 .5 2 2\n"
                  "Corners 2\n1 2\nAngleOfCornerBound 46\nBoundingBox 9 0 0 1 1 1\n"
                  "Edges 1\n1 2 0\nTriangles 1\n1 2 3 0\nNormals\n1\n0 0 1\n"
                  "Quadrilaterals 1\n1 2 3 4 0\nTetrahedra 1\n1 2 3 5 0\nPyramids 1\n"
                  "5 6 7 8 9 0\nPrisms 1\n1 2 3 5 6 7 0\nRequiredVertices 1\n1\nHexahedra 1\n"
                  "1 2 3 4 5 6 7 8 0\nGeometry\n\"other.mesh\"\nEnd\nbehind the end\n",
                  &m, error));
  CHECK(hk_mesh_vertex_count(m) == 9 && hk_mesh_cell_count(m) == 7);
  CHECK_VERTEX(m, 8, 0.5, 0.5, 2);
  CHECK_CELL(m, 0, HK_CELL_LINE, 0, 1);
  CHECK_CELL(m, 1, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(m, 2, HK_CELL_QUAD, 0, 1, 2, 3);
  CHECK_CELL(m, 3, HK_CELL_TET, 0, 1, 2, 4);
  CHECK_CELL(m, 4, HK_CELL_PYRAMID, 4, 5, 6, 7, 8);
  CHECK_CELL(m, 5, HK_CELL_WEDGE, 0, 1, 2, 4, 5, 6);
  CHECK_CELL(m, 6, HK_CELL_HEX, 0, 1, 2, 3, 4, 5, 6, 7);
  hk_mesh_destroy(&m);
}

TEST(medit_in_two_dimensions_has_z_0) {
  HkMesh *m = NULL;
  MUST(parse_text("mesh",
                  "MeshVersionFormatted 2 Dimension 2 Vertices 3 0 0 0 1 5 0 0 1 0 Triangles 1 "
                  "1 2 3 7 End",
                  &m, error));
  CHECK_VERTEX(m, 1, 1, 5, 0);
  CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  hk_mesh_destroy(&m);
}

TEST(tet_reads_vertices_and_tetrahedra) {
  HkMesh *m = NULL;
  MUST(parse_text("tet", "tet 5 2 # two\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n0 1 2 3\n1 2 3 4", &m,
                  error));
  CHECK_VERTEX(m, 4, 1, 1, 1);
  CHECK_CELL(m, 0, HK_CELL_TET, 0, 1, 2, 3);
  CHECK_CELL(m, 1, HK_CELL_TET, 1, 2, 3, 4);
  hk_mesh_destroy(&m);
}

/* ---- TetGen ---- */

TEST(tetgen_reads_elements_and_edges_beside_the_nodes) {
  for (int first = 0; first < 2; first++) {
    const char *folder = test_folder();
    HkMesh *m = NULL;
    char path[512], text[256];
    snprintf(text, sizeof text, "2 4 1\n%d %d %d %d %d 7\n%d %d %d %d %d 7\n", first, first,
             first + 1, first + 2, first + 3, first + 1, first + 1, first + 2, first + 3,
             first + 4);
    put_file(path, folder, "a.ele", text, strlen(text));
    snprintf(text, sizeof text, "1 1\n%d %d %d -1\n", first, first, first + 4);
    put_file(path, folder, "a.edge", text, strlen(text));
    snprintf(text, sizeof text,
             "# nodes\n5 3 1 0\n%d 0 0 0 9\n%d 1 0 0 9\n%d 0 1 0 9\n%d 0 0 1 9\n%d 1 1 1 9\n",
             first, first + 1, first + 2, first + 3, first + 4);
    put_file(path, folder, "a.node", text, strlen(text));
    MUST(hk_mesh_read(NULL, path, &m, error));
    CHECK(hk_mesh_vertex_count(m) == 5 && hk_mesh_cell_count(m) == 3);
    CHECK_VERTEX(m, 4, 1, 1, 1);
    CHECK_CELL(m, 0, HK_CELL_TET, 0, 1, 2, 3);
    CHECK_CELL(m, 1, HK_CELL_TET, 1, 2, 3, 4);
    CHECK_CELL(m, 2, HK_CELL_LINE, 0, 4);
    hk_mesh_destroy(&m);
    MUST(parse_text("node", text, &m, error));
    CHECK(hk_mesh_vertex_count(m) == 5 && hk_mesh_cell_count(m) == 0);
    hk_mesh_destroy(&m);
  }
}

TEST(triangle_files_have_z_0) {
  const char *folder = test_folder();
  HkMesh *m = NULL;
  char path[512];
  put_file(path, folder, "a.ele", "1 3 0\n1 1 2 3\n", 14);
  put_file(path, folder, "a.node", "3 2 0 1\n1 0 0 1\n2 1 0 1\n3 0 5 1", 31);
  MUST(hk_mesh_read(NULL, path, &m, error));
  CHECK_VERTEX(m, 2, 0, 5, 0);
  CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 1, 2);
  hk_mesh_destroy(&m);
}

TEST(poly_reads_segments_in_two_dimensions) {
  for (int first = 0; first < 2; first++) {
    char text[256];
    HkMesh *m = NULL;
    snprintf(text, sizeof text,
             "# outline\n3 2 1 1\n%d 0 0 7 1\n%d 2 0 7 1\n%d 0 5 7 1\n2 1\n1 %d %d 1\n2 %d %d 1 # "
             "last\n1\n1 0.5 0.5\n",
             first, first + 1, first + 2, first, first + 1, first + 1, first + 2);
    MUST(parse_text("poly", text, &m, error));
    CHECK(hk_mesh_vertex_count(m) == 3 && hk_mesh_cell_count(m) == 2);
    CHECK_VERTEX(m, 2, 0, 5, 0);
    CHECK_CELL(m, 0, HK_CELL_LINE, 0, 1);
    CHECK_CELL(m, 1, HK_CELL_LINE, 1, 2);
    hk_mesh_destroy(&m);
  }
}

TEST(poly_reads_facets_in_three_dimensions) {
  HkMesh *m = NULL;
  MUST(parse_text("poly",
                  "6 3 0 0\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0.5 0.5 1\n6 0 2 0\n\n"
                  "# facets\n4 1\n1 0 9\n4 1 2\n3 4 # goes on\n"
                  "2\n3 1 2 5\n2 2 3\n"
                  "1 # a vertex\n1 6\n"
                  "1 0\n5 1 2 3 6 4\n"
                  "0\n0\n",
                  &m, error));
  CHECK(hk_mesh_vertex_count(m) == 6 && hk_mesh_cell_count(m) == 4);
  CHECK_VERTEX(m, 4, 0.5, 0.5, 1);
  CHECK_CELL(m, 0, HK_CELL_QUAD, 0, 1, 2, 3);
  CHECK_CELL(m, 1, HK_CELL_TRIANGLE, 0, 1, 4);
  CHECK_CELL(m, 2, HK_CELL_LINE, 1, 2);
  CHECK_CELL(m, 3, HK_CELL_POLYGON, 0, 1, 2, 5, 3);
  hk_mesh_destroy(&m);
}

/* ---- All formats ---- */

TEST(a_byte_order_mark_is_skipped) {
  static const char *const files[][2] = {{"obj", "v 0 0 0\nv 1 0 0\n"},
                                         {"stl", "solid\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                                                 "vertex 0 0 0\nendloop\nendsolid\n"},
                                         {"off", "OFF 2 0\n0 0 0\n1 0 0\n"},
                                         {"node", "2 3 0 0\n0 0 0 0\n1 1 0 0\n"},
                                         {"poly", "2 2 0 0\n0 0 0\n1 1 0\n0 0\n"},
                                         {"tet", "tet 2 0\n0 0 0\n1 0 0\n"}};
  for (size_t q = 0; q < sizeof files / sizeof files[0]; q++) {
    char text[256];
    HkMesh *m = NULL;
    snprintf(text, sizeof text, "\xEF\xBB\xBF%s", files[q][1]);
    MUST(parse_text(files[q][0], text, &m, error));
    CHECK(hk_mesh_vertex_count(m) == 2);
    hk_mesh_destroy(&m);
  }
}

TEST(degenerate_cells_are_kept) {
  HkMesh *m = NULL;
  MUST(parse_text("obj", "v 0 0 0\nv 1 0 0\nf 1 1 2\n", &m, error));
  CHECK_CELL(m, 0, HK_CELL_TRIANGLE, 0, 0, 1);
  hk_mesh_destroy(&m);
}

static void check_data(const char *name, int64_t vertices, int64_t cells, HkCellType type) {
  const char *path = test_data(name);
  if (!path) SKIP("%s is not there", name);
  HkMesh *m = NULL;
  MUST(hk_mesh_read(NULL, path, &m, error));
  CHECK(hk_mesh_vertex_count(m) == vertices);
  CHECK(hk_mesh_cell_count(m) == cells);
  for (int64_t c = 0; c < hk_mesh_cell_count(m); c++) CHECK(hk_mesh_cell(m, c).type == type);
  hk_mesh_destroy(&m);
}

TEST(flag_has_its_vertices_and_quads) {
  check_data("flag.obj", 40 * 80, 39 * 79, HK_CELL_QUAD);
}

TEST(net_has_its_vertices_and_lines) {
  check_data("net.obj", 61, 156, HK_CELL_LINE);
}

TEST(bunny_has_its_vertices_and_tetrahedra) {
  check_data("coarse_bunny.mesh", 699, 2274, HK_CELL_TET);
}

TEST(numbers_do_not_depend_on_the_locale) {
  const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
  bool found = false;
  for (int q = 0; q < 4 && !found; q++) found = setlocale(LC_ALL, names[q]) != NULL;
  if (!found || strcmp(localeconv()->decimal_point, ",") != 0)
    SKIP("no locale with a decimal comma is installed");
  HkMesh *m = NULL;
  /* The second number is too long for the short way and goes through strtod. */
  HkStatus status = parse_text("obj", "v 0.5 0.12345678901234567890123 1e-300\n", &m, NULL);
  setlocale(LC_ALL, "C");
  CHECK(status == HK_OK);
  if (status == HK_OK) CHECK_VERTEX(m, 0, 0.5, 0.12345678901234567890123, 1e-300);
  hk_mesh_destroy(&m);
}
