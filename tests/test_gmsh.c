/* Gmsh's .msh of both versions: sparse node tags, blocks, named groups, and what is refused. */
#include "mesh_text.h"

static bool set_is(const HkMesh *m, const char *name, const int32_t *vertices, int64_t count) {
  int64_t n;
  const int32_t *set = hk_mesh_set(m, name, &n);
  return set && n == count && memcmp(set, vertices, (size_t)count * sizeof *vertices) == 0;
}

TEST(gmsh_2_maps_sparse_nodes_and_names_sets) {
  HkMesh *m = NULL;
  MUST(parse_text("msh",
                  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n1 1 \"left side\"\n"
                  "2 2 \"sheet\"\n0 3 \"sheet\"\n3 9 \"nobody\"\n$EndPhysicalNames\n$Nodes\n5\n"
                  "100 0 0 0\n7 1 0 0\n8 1 1 0\n9 0 1 0\n1 2 2 2\n$EndNodes\n$Elements\n5\n"
                  "1 15 2 3 1 1\n2 1 2 1 1 100 7\n3 1 2 -1 1 7 8\n4 2 2 2 1 100 7 8\n"
                  "5 3 0 100 7 8 9\n$EndElements\n$NodeData\n1\n\"values\"\n$EndNodeData\n",
                  &m, error));
  CHECK(hk_mesh_vertex_count(m) == 5 && hk_mesh_cell_count(m) == 5);
  CHECK_CELL(m, 0, HK_CELL_POINT, 4);
  CHECK_CELL(m, 1, HK_CELL_LINE, 0, 1);
  CHECK_CELL(m, 3, HK_CELL_TRIANGLE, 0, 1, 2);
  CHECK_CELL(m, 4, HK_CELL_QUAD, 0, 1, 2, 3);
  CHECK(hk_mesh_set_count(m) == 2);
  CHECK(set_is(m, "left side", (int32_t[]){0, 1, 2}, 3));
  CHECK(set_is(m, "sheet", (int32_t[]){4, 0, 1, 2}, 4));
  hk_mesh_destroy(&m);
}

TEST(gmsh_2_reads_solid_cells) {
  HkMesh *m = NULL;
  MUST(parse_text("msh",
                  "$MeshFormat\n2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n"
                  "4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n$EndNodes\n$Elements\n4\n"
                  "1 4 0 1 2 3 5\n2 5 0 1 2 3 4 5 6 7 8\n3 6 0 1 2 3 5 6 7\n4 7 3 0 0 0 1 2 3 4 5\n"
                  "$EndElements\n",
                  &m, error));
  CHECK_CELL(m, 0, HK_CELL_TET, 0, 1, 2, 4);
  CHECK_CELL(m, 1, HK_CELL_HEX, 0, 1, 2, 3, 4, 5, 6, 7);
  CHECK_CELL(m, 2, HK_CELL_WEDGE, 0, 1, 2, 4, 5, 6);
  CHECK_CELL(m, 3, HK_CELL_PYRAMID, 0, 1, 2, 3, 4);
  hk_mesh_destroy(&m);
}

/* Curve 1 is in two groups; surface 1 in one, turned round; nodes of the curve carry a parameter.
 */
TEST(gmsh_4_reads_blocks_and_groups_of_entities) {
  HkMesh *m = NULL;
  MUST(parse_text("msh",
                  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n1 5 \"edge\"\n"
                  "1 7 \"rim\"\n2 6 \"sheet\"\n$EndPhysicalNames\n$Entities\n2 1 1 0\n1 0 0 0 0\n"
                  "2 1 0 0 0\n1 0 0 0 1 0 0 2 5 7 2 1 -2\n1 0 0 0 1 1 0 1 -6 1 1\n"
                  "$EndEntities\n$Nodes\n3 4 1 9\n0 1 0 1\n1\n0 0 0\n1 1 1 1\n9\n1 0 0 0.5\n"
                  "2 1 0 2\n4\n7\n1 1 0\n0 1 0\n$EndNodes\n$Elements\n2 3 1 3\n1 1 1 1\n1 1 9\n"
                  "2 1 2 2\n2 1 9 4\n3 1 4 7\n$EndElements\n",
                  &m, error));
  CHECK_VERTEX(m, 1, 1, 0, 0);
  CHECK_VERTEX(m, 3, 0, 1, 0);
  CHECK_CELL(m, 0, HK_CELL_LINE, 0, 1);
  CHECK_CELL(m, 2, HK_CELL_TRIANGLE, 0, 2, 3);
  CHECK(hk_mesh_set_count(m) == 3);
  CHECK(set_is(m, "edge", (int32_t[]){0, 1}, 2));
  CHECK(set_is(m, "rim", (int32_t[]){0, 1}, 2));
  CHECK(set_is(m, "sheet", (int32_t[]){0, 1, 2, 3}, 4));
  hk_mesh_destroy(&m);
}

static const char head_2[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
static const char head_4[] = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
static const char nodes_2[] = "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n";

static void check_failure(const char *a, const char *b, const char *c, HkStatus expected, int line,
                          const char *part) {
  char text[1024];
  HkMesh *m = NULL;
  HkError error = {0};
  snprintf(text, sizeof text, "%s%s%s", a, b, c);
  HkStatus status = parse_text("msh", text, &m, &error);
  if (status != expected || error.line != line || !strstr(error.text, part))
    test_fail(__FILE__, __LINE__, "'%s%s%s': %s, expected line %d with '%s'", a, b, c, error.text,
              line, part);
  hk_mesh_destroy(&m);
}

TEST(gmsh_refuses_binary_files_and_other_versions_by_name) {
  check_failure("$MeshFormat\n2.2 1 8\n", "", "", HK_ERROR_UNSUPPORTED, 2, "Mesh.Binary = 0");
  check_failure("$MeshFormat\n4.1 1 8\n", "", "", HK_ERROR_UNSUPPORTED, 2, "binary");
  check_failure("$MeshFormat\n4 0 8\n", "", "", HK_ERROR_UNSUPPORTED, 2, "version 4");
  check_failure("$MeshFormat\n3.0 0 8\n", "", "", HK_ERROR_UNSUPPORTED, 2, "version 3.0");
  check_failure(head_2, "$ParametricNodes\n1\n", "", HK_ERROR_UNSUPPORTED, 4, "SaveParametric");
}

TEST(gmsh_refuses_second_order_elements_by_name) {
  check_failure(head_2, nodes_2, "$Elements\n1\n1 8 0 1 2 3\n", HK_ERROR_UNSUPPORTED, 12,
                "3-node line");
  check_failure(head_2, nodes_2, "$Elements\n1\n1 9 0 1 2 3 1 2 3\n", HK_ERROR_UNSUPPORTED, 12,
                "6-node triangle");
  check_failure(head_2, nodes_2, "$Elements\n1\n1 11 0 1 2 3\n", HK_ERROR_UNSUPPORTED, 12,
                "10-node tetrahedron");
  check_failure(head_2, nodes_2, "$Elements\n1\n1 93 0 1 2 3\n", HK_ERROR_UNSUPPORTED, 12,
                "type 93");
  check_failure(head_4, "$Elements\n1 1 1 1\n2 1 16 1\n", "", HK_ERROR_UNSUPPORTED, 6,
                "8-node quad");
}

TEST(gmsh_says_where_a_broken_file_breaks) {
  check_failure(head_2, nodes_2, "$Elements\n1\n1 1 0 1 4\n", HK_ERROR_FORMAT, 12,
                "node 4 is not among the nodes");
  check_failure(head_2, "$Nodes\n2\n1 0 0 0\n1 1 0 0\n", "", HK_ERROR_FORMAT, 7,
                "node 1 stands twice");
  check_failure(head_2, "$Nodes\n2\n1 0 0 0\n2 1 inf 0\n", "", HK_ERROR_FORMAT, 7,
                "'inf' is not a finite number");
  check_failure(head_2, "$Nodes\n-1\n", "", HK_ERROR_FORMAT, 5, "negative");
  check_failure(head_2, "$Nodes\n999999999999999999\n1 0 0 0\n", "", HK_ERROR_FORMAT, 5,
                "promised");
  check_failure(head_2, "$Nodes\n1\n1 0 0 0\n2 1 0 0\n", "", HK_ERROR_FORMAT, 7,
                "$EndNodes is missing");
  check_failure(head_2, nodes_2, "$Comments\nno end\n", HK_ERROR_FORMAT, 12,
                "$EndComments is missing");
  check_failure(head_2, nodes_2, "hello\n", HK_ERROR_FORMAT, 10, "'hello' where a section");
  check_failure("", nodes_2, "", HK_ERROR_FORMAT, 1, "$Nodes before $MeshFormat");
  check_failure("$NOD\n1\n$ENDNOD\n", "", "", HK_ERROR_FORMAT, 4, "$EndNOD is missing");
  check_failure(head_2, nodes_2, "$Elements\n1\n1 15 0 1\n$EndElements\n$PhysicalNames\n",
                HK_ERROR_FORMAT, 14, "$PhysicalNames after $Elements");
  check_failure(head_2, "$PhysicalNames\n1\n2 1 sheet\n", "", HK_ERROR_FORMAT, 6, "double quotes");
  check_failure(head_2, "$PhysicalNames\n1\n2 1 \"sheet\n", "", HK_ERROR_FORMAT, 6, "quote");
  check_failure(head_4, "$Nodes\n1 2 1 2\n0 1 0 1\n1\n0 0 0\n$EndNodes\n", "", HK_ERROR_FORMAT, 8,
                "2 nodes are promised");
}

/* Many tags in an order of their own, so that the table grows more than once. */
TEST(gmsh_maps_many_shuffled_tags) {
  enum { COUNT = 5000 };
  size_t capacity = 64 * COUNT, n = 0;
  char *text = malloc(capacity);
  n += (size_t)snprintf(text + n, capacity - n, "%s$Nodes\n%d\n", head_2, COUNT);
  for (int64_t v = 0; v < COUNT; v++)
    n += (size_t)snprintf(text + n, capacity - n, "%lld %lld 0 0\n",
                          (long long)(v * 7919 % COUNT * 1000003), (long long)v);
  n += (size_t)snprintf(text + n, capacity - n, "$EndNodes\n$Elements\n%d\n", COUNT);
  for (int64_t v = 0; v < COUNT; v++)
    n += (size_t)snprintf(text + n, capacity - n, "1 15 0 %lld\n",
                          (long long)(v * 7919 % COUNT * 1000003));
  snprintf(text + n, capacity - n, "$EndElements\n");
  HkMesh *m = NULL;
  HkError error = {0};
  CHECK(parse_text("msh", text, &m, &error) == HK_OK);
  for (int32_t v = 0; m && v < COUNT; v++) CHECK_CELL(m, v, HK_CELL_POINT, v);
  hk_mesh_destroy(&m);
  free(text);
}
