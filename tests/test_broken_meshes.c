/* Mesh readers on broken files: never a crash, always a sound mesh or one clear sentence with the
 * place.
 */
#include "mesh/mesh.h"
#include "mesh_text.h"

#include <dirent.h>

/* ---- Files that are cut off or altered ---- */

/* Reads bytes from a block of exactly their size, so that a step beyond it is seen. */
static void check_survives(const char *format, const char *bytes, size_t size) {
  HkMesh *m = NULL;
  HkError error = {0};
  char *copy = malloc(size ? size : 1);
  memcpy(copy, bytes, size);
  HkStatus status = hk_mesh_parse(NULL, format, copy, size, "f", &m, &error);
  if (status < 0) CHECK(m == NULL && error.status == status && strlen(error.text) > 10);
  if (status >= 0) CHECK(m != NULL && hk_mesh_vertex_count(m) > 0);
  hk_mesh_destroy(&m);
  free(copy);
}

static void alter_everywhere(const char *format, char *bytes, size_t size) {
  static const char values[] = {'\0', '\xff', '9', '-', '\n', '\\', '#'};
  for (size_t n = 0; n <= size; n++) check_survives(format, bytes, n);
  for (size_t n = 0; n < size; n++) {
    char kept = bytes[n];
    for (size_t v = 0; v < sizeof values; v++) {
      bytes[n] = values[v];
      check_survives(format, bytes, size);
    }
    bytes[n] = kept;
  }
}

typedef void SeedFn(const char *format, char *bytes, size_t size);

/* Calls fn with each seed of each format's fuzz target. */
static void for_each_seed(SeedFn *fn) {
  char folder[1024], path[2048];
  const char *format;
  for (int q = 0; (format = hk_mesh_format(q, NULL, NULL)); q++) {
    snprintf(folder, sizeof folder, "%s/fuzz/seeds/%s", HOOKE_SOURCE_DIR, format);
    DIR *files = opendir(folder);
    if (!files) test_fail(__FILE__, __LINE__, "there are no seeds in %s", folder);
    for (struct dirent *entry; files && (entry = readdir(files));) {
      if (entry->d_name[0] == '.') continue;
      size_t size = 0;
      snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
      char *bytes = get_file(path, &size);
      fn(format, bytes, size);
      free(bytes);
    }
    if (files) closedir(files);
  }
}

TEST(files_cut_off_or_altered_anywhere_are_survived) {
  for_each_seed(alter_everywhere);
}

/* Memory that runs out after some calls, and the number of blocks that are out. */
typedef struct Scarce {
  int left, blocks;
} Scarce;

static void *resize_scarcely(void *user, void *p, size_t bytes) {
  Scarce *scarce = user;
  if (bytes == 0) {
    free(p);
    scarce->blocks--;
    return NULL;
  }
  if (scarce->left-- <= 0) return NULL;
  void *q = realloc(p, bytes);
  if (q && !p) scarce->blocks++;
  return q;
}

static void run_out_of_memory(const char *format, char *bytes, size_t size) {
  HkStatus status = HK_ERROR_MEMORY;
  for (int calls = 0; status != HK_OK && calls < 1000; calls++) {
    Scarce scarce = {calls, 0};
    HkContext context = {.resize = resize_scarcely, .memory_user = &scarce};
    HkError error = {0};
    HkMesh *m = NULL;
    status = hk_mesh_parse(&context, format, bytes, size, "f", &m, &error);
    if (status == HK_OK)
      status = hk_mesh_repair(m, &(HkRepair){.weld = 2, .unused = true}, NULL, &error);
    if (status != HK_OK) CHECK(status == HK_ERROR_MEMORY && strstr(error.text, "no memory for"));
    hk_mesh_destroy(&m);
    CHECK(scarce.blocks == 0);
  }
  CHECK(status == HK_OK);
}

TEST(memory_that_runs_out_at_any_moment_is_survived) {
  for_each_seed(run_out_of_memory);
}

TEST(tetgen_siblings_cut_off_anywhere_are_survived) {
  static const char ele[] = "1 4 1\n1 1 2 3 4 7\n", edge[] = "2 1\n1 1 2 0\n2 2 3 0\n";
  static const char node[] = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
  const char *folder = test_folder();
  char path[512], sibling[512];
  put_file(path, folder, "a.node", node, sizeof node - 1);
  for (int which = 0; which < 2; which++) {
    const char *text = which ? edge : ele;
    for (size_t n = 0; n <= strlen(text); n++) {
      HkMesh *m = NULL;
      HkError error = {0};
      put_file(sibling, folder, which ? "a.edge" : "a.ele", text, n);
      HkStatus status = hk_mesh_read(NULL, path, &m, &error);
      /* The last reference and the last end of line may go. */
      CHECK(n >= strlen(text) - 3 || status == HK_ERROR_FORMAT);
      if (status < 0) CHECK(strstr(error.file, which ? "a.edge" : "a.ele") && error.line > 0);
      hk_mesh_destroy(&m);
    }
  }
}

/* ---- What is wrong and where ---- */

typedef struct Broken {
  const char *format, *text;
  HkStatus status;
  int line, column;
  const char *part;
} Broken;

static void check_all(const Broken *broken, size_t count) {
  for (size_t q = 0; q < count; q++) {
    const Broken *b = &broken[q];
    HkMesh *m = NULL;
    HkError error = {0};
    HkStatus status = parse_text(b->format, b->text, &m, &error);
    if (status != b->status || error.line != b->line || error.column != b->column ||
        !strstr(error.text, b->part))
      test_fail(__FILE__, __LINE__, "%s '%s': %s '%s', expected %d:%d with '%s'", b->format,
                b->text, hk_status_name(status), error.text, b->line, b->column, b->part);
    hk_mesh_destroy(&m);
  }
}

#define FORMAT HK_ERROR_FORMAT
#define UNSUPPORTED HK_ERROR_UNSUPPORTED
#define CHECK_ALL(broken) check_all(broken, sizeof(broken) / sizeof(broken)[0])

TEST(obj_says_what_is_wrong_and_where) {
  static const Broken broken[] = {
      {"obj", "v 0 0 0\nv 1 0\n", FORMAT, 2, 6, "coordinate z is missing"},
      {"obj", "v 0 0 0\r\nv 1 nan 0\r\n", FORMAT, 2, 5, "'nan' is not a finite number"},
      {"obj", "v 0 0 0\nv 1 0 1e999\n", FORMAT, 2, 7, "not a finite number"},
      {"obj", "v 0 0 0\nv 0 0x10 0\n", FORMAT, 2, 5, "'0x10'"},
      {"obj", "v 0 0 0\nf 1 2 1\n", FORMAT, 2, 5, "vertex 2 is not there: the vertices are numb"},
      {"obj", "v 0 0 0\nf 1 0 1\n", FORMAT, 2, 5, "vertex 0 is not there"},
      {"obj", "v 0 0 0\nf -2 1\nv 1 0 0\n", FORMAT, 2, 3, "vertex -2 is not there: 1 vertices"},
      {"obj", "v 0 0 0\nf 1 99999999999999999999\n", FORMAT, 2, 5, "not a whole number"},
      {"obj", "v 0 0 0\nf 1 4294967297\n", FORMAT, 2, 5, "vertex 4294967297 is not there"},
      {"obj", "v 0 0 0\n\nf 1 1.5 1\n", FORMAT, 3, 5, "'1.5' is not a whole number"},
      {"obj", "v 0 0 0\nf 1 /2 1\n", FORMAT, 2, 5, "missing"},
      {"obj", "v 0 0 0\nf 1 1/x 1\n", FORMAT, 2, 5, "'1/x' is not v, v/vt"},
      {"obj", "v 0 0 0\nf 1\n", FORMAT, 2, 1, "it needs two at least"},
      {"obj", "v 0 0 0\n l 1\n", FORMAT, 2, 2, "it needs two at least"},
      {"obj", "v 0 0 0\nf 1 \\\n 2\n", FORMAT, 3, 2, "vertex 2 is not there"},
      {"obj", "", FORMAT, 0, 0, "no vertices"},
      {"obj", "# only\n# comments", FORMAT, 0, 0, "no vertices"},
      {"obj", "f 1 2 3\n", FORMAT, 1, 3, "no vertices come before"}};
  CHECK_ALL(broken);
}

#define PLY "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"
#define FACES "element face 1\nproperty list uchar int vertex_indices\nend_header\n"

TEST(ply_says_what_is_wrong_and_where) {
  static const Broken broken[] = {
      {"ply", "", FORMAT, 1, 1, "does not begin with 'ply'"},
      {"ply", "plyx\n", FORMAT, 1, 1, "does not begin with 'ply'"},
      {"ply", "ply\nend_header\n", FORMAT, 2, 1, "no line 'format'"},
      {"ply", "ply\nformat ascii 2.0\n", UNSUPPORTED, 2, 7, "version 2.0"},
      {"ply", "ply\nformat utf8 1.0\n", FORMAT, 2, 7, "binary_big_endian"},
      {"ply", PLY "element vertex 1\n" XYZ, FORMAT, 7, 1, "before 'end_header'"},
      {"ply", PLY "property float x\n", FORMAT, 3, 1, "before the first element"},
      {"ply", PLY "element vertex -1\n", FORMAT, 3, 9, "negative"},
      {"ply", PLY "element vertex\n", FORMAT, 3, 15, "missing"},
      {"ply", PLY "element vertex 1\nproperty half x\n", FORMAT, 4, 10, "'half' is no type"},
      {"ply", PLY "element vertex 1\nproperty list float int x\n", FORMAT, 4, 1, "count of a list"},
      {"ply", PLY "element vertex 1\nproperty float x\nproperty int x\n", FORMAT, 5, 1, "twice"},
      {"ply", PLY "hello\n", FORMAT, 3, 1, "'hello' is no word of a PLY header"},
      {"ply", PLY "element tristrips 1\n", UNSUPPORTED, 3, 9, "tristrips"},
      {"ply", PLY "element vertex 1\nproperty int x\nend_header\n0\n", FORMAT, 3, 9, "x and y"},
      {"ply", PLY "element face 1\nend_header\n", FORMAT, 3, 9, "before the vertices"},
      {"ply", PLY "element face 0\nelement face 0\nend_header\n", FORMAT, 4, 9, "was there before"},
      {"ply", PLY "element vertex 999999999999999999\n" XYZ "end_header\n0 0 0\n", FORMAT, 3, 9,
       "promised"},
      {"ply", PLY "element vertex 2\n" XYZ "end_header\n0 0 0\n1 0\n5", FORMAT, 9, 4, "missing"},
      {"ply", PLY "element vertex 1\n" XYZ "end_header\n0 0 0 1\n", FORMAT, 8, 7, "more values"},
      {"ply", PLY "element vertex 1\n" XYZ "end_header\n0 inf 0\n", FORMAT, 8, 3, "finite"},
      {"ply", PLY "element vertex 1\n" XYZ FACES "0 0 0\n3 0 0 1\n", FORMAT, 11, 7, "vertex 1 is"},
      {"ply", PLY "element vertex 1\n" XYZ FACES "0 0 0\n3 0 0 -1\n", FORMAT, 11, 7, "vertex -1"},
      {"ply", PLY "element vertex 1\n" XYZ FACES "0 0 0\n2 0 0.5\n", FORMAT, 11, 5, "vertex 0.5"},
      {"ply", PLY "element vertex 1\n" XYZ FACES "0 0 0\n0 \n", FORMAT, 11, 1, "without corners"},
      {"ply", PLY "element vertex 1\n" XYZ FACES "0 0 0\n9999 0 0\n", FORMAT, 11, 1, "of a list"}};
  CHECK_ALL(broken);
}

TEST(stl_says_what_is_wrong_and_where) {
  static const Broken broken[] = {
      {"stl", "", FORMAT, 0, 0, "no vertices"},
      {"stl", "solid\nendsolid\n", FORMAT, 0, 0, "no vertices"},
      {"stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", FORMAT, 4, 11, "missing"},
      {"stl", "solid a\nvertex 0 0 0\n", FORMAT, 2, 1, "outside"},
      {"stl", "solid a\nouter ring\n", FORMAT, 2, 1, "followed by 'loop'"},
      {"stl", "solid a\nouter loop\nvertex 0 0 0\nendloop\n", FORMAT, 4, 1, "1 corners instead"},
      {"stl", "solid\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\n", FORMAT,
       6, 1, "more than three"},
      {"stl", "solid\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nendloop\nendfacet\n",
       FORMAT, 8, 1, "before 'endsolid'"},
      {"stl", "v 0 0 0\n", FORMAT, 1, 1, "'v' is no word of STL"},
      {"stl", "\x01\x02", FORMAT, 0, 0, "84 bytes"}};
  CHECK_ALL(broken);
}

TEST(off_says_what_is_wrong_and_where) {
  static const Broken broken[] = {
      {"off", "", FORMAT, 1, 1, "empty"},
      {"off", "# only a comment\n", FORMAT, 2, 1, "empty"},
      {"off", "GOFF\n", FORMAT, 1, 1, "'GOFF' instead of OFF"},
      {"off", "NNNN", FORMAT, 1, 1, "'NNNN' instead of OFF"},
      {"off", "OFF BINARY\n", UNSUPPORTED, 1, 1, "binary"},
      {"off", "4OFF\n", UNSUPPORTED, 1, 1, "three dimensions"},
      {"off", "OFF\n", FORMAT, 2, 1, "the number of vertices is missing"},
      {"off", "OFF\n0 0 0\n", FORMAT, 0, 0, "no vertices"},
      {"off", "OFF\n-3 1 0\n", FORMAT, 2, 1, "negative"},
      {"off", "OFF\n1000000000000 1 0\n0 0 0\n", FORMAT, 2, 1, "promised"},
      {"off", "OFF\n2 0 0\n0 0 0\n1 0\n", FORMAT, 4, 4, "coordinate z is missing"},
      {"off", "OFF\n2 0 0\n0 0 0 0 0\n", FORMAT, 4, 1, "coordinate x is missing"},
      {"off", "OFF\n1 1 0\n0 0 0\n3 0 0 1\n", FORMAT, 4, 7, "vertex 1 is not there"},
      {"off", "OFF\n1 1 0\n0 0 0\n3 0 0\n 0 0", FORMAT, 4, 6, "a corner is missing"},
      {"off", "OFF\n1 1 0\n0 0 0\n0 0 0\n", FORMAT, 4, 1, "without corners"},
      {"off", "OFF\n1 1 0\n0 0 0\n2000000000 0 0\n", FORMAT, 4, 1, "promised"}};
  CHECK_ALL(broken);
}

#define MEDIT "MeshVersionFormatted 1\nDimension 3\n"
#define POINT "Vertices 1\n0 0 0 0\n"

TEST(medit_says_what_is_wrong_and_where) {
  static const Broken broken[] = {
      {"mesh", "", FORMAT, 1, 1, "MeshVersionFormatted"},
      {"mesh", "# only\n", FORMAT, 2, 1, "MeshVersionFormatted"},
      {"mesh", "MeshVersionFormatted 1\nDimension 4\n", FORMAT, 2, 11, "2 or 3"},
      {"mesh", "MeshVersionFormatted 1\nVertices 1\n", FORMAT, 2, 1, "before the Dimension"},
      {"mesh", MEDIT "End\n", FORMAT, 0, 0, "no vertices"},
      {"mesh", MEDIT "Vertices -1\n", FORMAT, 3, 10, "negative"},
      {"mesh", MEDIT "Vertices 99999999999\n0 0 0 0\n", FORMAT, 3, 10, "promised"},
      {"mesh", MEDIT "Vertices 1\n0 0 x 0\n", FORMAT, 4, 5, "'x' is not a finite number"},
      {"mesh", MEDIT "Vertices 1\n0 0 0\nEnd\n", FORMAT, 5, 1, "reference"},
      {"mesh", MEDIT POINT "Triangles 1\n1 1 0 0\n", FORMAT, 6, 5, "numbered 1 to 1"},
      {"mesh", MEDIT POINT "Tetrahedra 1\n1 1 1 2 0\n", FORMAT, 6, 7, "vertex 2 is not there"},
      {"mesh", MEDIT "Edges 1\n1 1 0\n", FORMAT, 4, 1, "no vertices come before"},
      {"mesh", MEDIT POINT "TrianglesP2 1\n1 1 1 1 1 1 0\n", UNSUPPORTED, 5, 1, "curved"},
      {"mesh", MEDIT POINT "Corners 3\n1 1\nEnd\n", FORMAT, 5, 1, "3 entries are promised"},
      {"mesh", MEDIT POINT "1 2 3\n", FORMAT, 5, 1, "word of a section"},
      {"mesh", MEDIT POINT POINT, FORMAT, 5, 9, "second section"}};
  CHECK_ALL(broken);
}

TEST(tetgen_says_what_is_wrong_and_where) {
  static const Broken broken[] = {
      {"node", "", FORMAT, 1, 1, "the number of vertices is missing"},
      {"node", "1 4 0 0\n", FORMAT, 1, 3, "2 or 3"},
      {"node", "0 3 0 0\n", FORMAT, 0, 0, "no vertices"},
      {"node", "-1 3 0 0\n", FORMAT, 1, 1, "negative"},
      {"node", "888888888 3 0 0\n1 0 0 0\n", FORMAT, 1, 1, "promised"},
      {"node", "1 3 0 0\n2 0 0 0\n", FORMAT, 2, 1, "it must be 0 or 1"},
      {"node", "2 3 0 0\n0 0 0 0\n2 0 0 0\n", FORMAT, 3, 1, "vertex 2 where 1 is expected"},
      {"node", "2 3 0 0\n0 0 0 0\n1 0 0\n", FORMAT, 3, 6, "coordinate z is missing"}};
  CHECK_ALL(broken);
}

TEST(poly_says_what_is_wrong_and_where) {
  static const Broken broken[] = {
      {"poly", "", FORMAT, 1, 1, "the number of vertices is missing"},
      {"poly", "# x\n0 2 0 0\n1 0\n1 1 2\n0\n", UNSUPPORTED, 2, 1, "in the .node file beside it"},
      {"poly", "1 2 0 0\n1 0 0\n", FORMAT, 3, 1, "the number of segments is missing"},
      {"poly", "1 2 0 0\n1 0 0\n1 0\n1 1 2\n", FORMAT, 4, 5, "vertex 2 is not there"},
      {"poly", "1 2 0 0\n1 0 0\n1 0\n1 1\n", FORMAT, 4, 4, "missing"},
      {"poly", "1 2 0 0\n1 0 0\n5555555 0\n1 1 1\n", FORMAT, 3, 1, "5555555 segments"},
      {"poly", "1 3 0 0\n0 0 0 0\n1 0\n1\n3 0 0\n", FORMAT, 6, 1, "missing"},
      {"poly", "1 3 0 0\n0 0 0 0\n1 0\n1\n3 0 0 1\n0\n", FORMAT, 5, 7, "vertex 1 is not there"},
      {"poly", "1 3 0 0\n0 0 0 0\n1 0\n1\n0\n0\n", FORMAT, 5, 1, "a polygon without corners"},
      {"poly", "1 3 0 0\n0 0 0 0\n1 0\n1\n88888 0 0 0\n", FORMAT, 5, 1, "88888 corners"},
      {"poly", "1 3 0 0\n0 0 0 0\n1 0\n1 1\n3 0 0 0\n1 0 0 0\n", UNSUPPORTED, 4, 1, "with holes"},
      {"poly", "1 3 0 0\n0 0 0 0\n1 0\n2 0\n3 0 0 0\n3 0 0 0\n", UNSUPPORTED, 6, 1,
       "several polygons"}};
  CHECK_ALL(broken);
}

TEST(tetgen_elements_say_what_is_wrong_and_where) {
  static const struct {
    const char *node, *ele;
    HkStatus status;
    const char *part;
  } broken[] = {
      {"1 3 0 0\n1 0 0 0\n", "1 10 0\n1 1 1 1 1 1 1 1 1 1 1\n", UNSUPPORTED,
       "a.ele:1:3: 10-node tet"},
      {"1 2 0 0\n1 0 0\n", "1 6 0\n1 1 1 1 1 1 1\n", UNSUPPORTED, "a.ele:1:3: 6-node triangles"},
      {"1 2 0 0\n1 0 0\n", "1 4 0\n1 1 1 1 1\n", FORMAT, "a.ele:1:3: elements of 4 corners in 2"},
      {"1 3 0 0\n1 0 0 0\n", "1 4 0\n1 1 1 1 0\n", FORMAT, "a.ele:2:9: vertex 0 is not there"},
      {"1 3 0 0\n0 0 0 0\n", "1 4 0\n1 0 0 0 1\n", FORMAT, "a.ele:2:9: vertex 1 is not there"},
      {"1 3 0 0\n0 0 0 0\n", "7777777 4 0\n1 0 0 0 1\n", FORMAT, "a.ele:1:1: 7777777 elements"}};
  for (size_t q = 0; q < sizeof broken / sizeof broken[0]; q++) {
    HkMesh *m = NULL;
    char path[512];
    const char *folder = test_folder();
    put_file(path, folder, "a.ele", broken[q].ele, strlen(broken[q].ele));
    put_file(path, folder, "a.node", broken[q].node, strlen(broken[q].node));
    FAILS(hk_mesh_read(NULL, path, &m, error), broken[q].status, broken[q].part);
  }
}

TEST(tet_says_what_is_wrong_and_where) {
  static const Broken broken[] = {
      {"tet", "", FORMAT, 1, 1, "tet NV NT"},
      {"tet", "tets 4 1\n", FORMAT, 1, 1, "tet NV NT"},
      {"tet", "tet 0\n", FORMAT, 2, 1, "the number of tetrahedra is missing"},
      {"tet", "tet 1 -1\n0 0 0\n", FORMAT, 1, 7, "negative"},
      {"tet", "tet 99999999 1\n0 0 0\n", FORMAT, 1, 5, "promised"},
      {"tet", "tet 1 1\n0 0 0\n0 0 0 1\n", FORMAT, 3, 7, "numbered 0 to 0"},
      {"tet", "tet 1 0\n0 0 0\n0 0 0 0\n", FORMAT, 3, 1, "more numbers"},
      {"tet", "tet 1 0\n0 0 infinity\n", FORMAT, 2, 5, "'infinity'"}};
  CHECK_ALL(broken);
}

/* ---- All formats ---- */

TEST(garbage_is_refused_by_every_format) {
  char bytes[4096];
  uint32_t seed = 1;
  for (size_t q = 0; q < sizeof bytes; q++) {
    seed = seed * 1664525u + 1013904223u;
    bytes[q] = (char)(seed >> 24);
  }
  const char *format;
  for (int q = 0; (format = hk_mesh_format(q, NULL, NULL)); q++) {
    HkMesh *m = NULL;
    CHECK(hk_mesh_parse(NULL, format, bytes, sizeof bytes, "f", &m, NULL) == HK_ERROR_FORMAT);
    CHECK(hk_mesh_parse(NULL, format, NULL, 0, "f", &m, NULL) == HK_ERROR_FORMAT);
    CHECK(m == NULL);
  }
}

/* One line of a megabyte: blanks between the letter and the numbers, then digits. */
TEST(very_long_lines_are_read) {
  enum { LONG = 1 << 20 };
  char *text = malloc(LONG + 64);
  HkMesh *m = NULL;
  snprintf(text, LONG + 64, "v%*s1 2 3", LONG, "");
  CHECK(parse_text("obj", text, &m, NULL) == HK_OK);
  if (m) CHECK_VERTEX(m, 0, 1, 2, 3);
  hk_mesh_destroy(&m);
  memset(text + 2, '7', LONG - 3);
  FAILS(parse_text("obj", text, &m, error), HK_ERROR_FORMAT, "is not a finite number");
  free(text);
}

static void *resize_a_little(void *user, void *p, size_t bytes) {
  (void)user;
  if (bytes == 0) {
    free(p);
    return NULL;
  }
  return bytes > 100000 ? NULL : realloc(p, bytes);
}

/* A promise that the file cannot keep is seen before memory is asked for. */
TEST(huge_counts_fail_without_memory) {
  static const Broken broken[] = {
      {"ply", PLY "element vertex 99999999\n" XYZ "end_header\n0 0 0\n", FORMAT, 0, 0, ""},
      {"ply", PLY "element empty 999999999999\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", HK_OK,
       0, 0, ""},
      {"off", "OFF 99999999 1 0\n", FORMAT, 0, 0, ""},
      {"off", "OFF 1 99999999 0\n0 0 0\n", FORMAT, 0, 0, ""},
      {"mesh", MEDIT POINT "Hexahedra 99999999\n", FORMAT, 0, 0, ""},
      {"msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 99999999 1 1\n", FORMAT, 0, 0, ""},
      {"node", "99999999 3 0 0\n", FORMAT, 0, 0, ""},
      {"tet", "tet 1 99999999\n", FORMAT, 0, 0, ""}};
  HkContext context = {.resize = resize_a_little};
  for (size_t q = 0; q < sizeof broken / sizeof broken[0]; q++) {
    HkMesh *m = NULL;
    HkStatus status = hk_mesh_parse(&context, broken[q].format, broken[q].text,
                                    strlen(broken[q].text), "f", &m, NULL);
    CHECK(status == broken[q].status);
    hk_mesh_destroy(&m);
  }
  char stl[84] = {0};
  memset(stl + 80, 0x7f, 4);
  HkMesh *m = NULL;
  CHECK(hk_mesh_parse(&context, "stl", stl, sizeof stl, "f", &m, NULL) == HK_ERROR_FORMAT);
}

TEST(missing_files_and_unknown_endings_are_errors) {
  HkMesh *m = NULL;
  char path[512];
  FAILS(hk_mesh_read(NULL, "/nowhere/a.obj", &m, error), HK_ERROR_IO, "cannot open");
  FAILS(hk_mesh_read(NULL, "a.xyz", &m, error), HK_ERROR_UNSUPPORTED, ".obj, .ply, .stl");
  snprintf(path, sizeof path, "%s/a.OBJ", test_folder());
  FILE *file = fopen(path, "w");
  fputs("v 0 0 0\n", file);
  fclose(file);
  MUST(hk_mesh_read(NULL, path, &m, error));
  hk_mesh_destroy(&m);
}
