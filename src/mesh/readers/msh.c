/* Gmsh .msh of the versions 2.2 and 4.1 as text: sections $NAME ... $EndNAME of free-form numbers.
 *
 *     $MeshFormat       version 0 size
 *     $PhysicalNames    count   then   dimension tag "name"
 *     $Entities   4.1   points curves surfaces volumes
 *                       then   tag x y z count physical ...                       (points)
 *                              tag box count physical ... count bounding ...      (others)
 *     $Nodes      2.2   count   then   tag x y z
 *                 4.1   blocks count min max   then in each block
 *                       dimension entity parametric n, n tags, n times x y z [u [v [w]]]
 *     $Elements   2.2   count   then   tag type tags physical ... nodes
 *                 4.1   blocks count min max   then in each block
 *                       dimension entity type n, n times tag nodes
 *
 * Tags of nodes may have gaps; vertices are numbered in the order of the file. A physical group
 * with a name becomes the set of the vertices of its cells. Other sections are skipped.
 */
#include "mesh/groups.h"
#include "mesh/reading.h"
#include "mesh/tags.h"
#include "mesh/writing.h"

#include <stdlib.h>
#include <string.h>

/* A physical tag of an entity, in version 4.1. */
typedef struct Membership {
  int64_t dimension, entity, tag;
} Membership;

typedef struct Msh {
  HkCursor c;
  HkMesh *mesh;
  int version; /* 2 or 4; 0 before $MeshFormat */
  HkTags tags;
  HkGroups groups;
  Membership *memberships; /* sorted by dimension and entity once all are read */
  int64_t membership_count, membership_capacity;
} Msh;

static HkStatus next_int(Msh *m, int64_t *value, const char *what, HkError *error) {
  return hk_read_int(&m->c, true, value, what, error);
}

/* Reads the count of the entries that follow, each of at least `numbers` numbers. */
static HkStatus next_count(Msh *m, int64_t numbers, const char *what, int64_t *count,
                           HkError *error) {
  return hk_read_count(&m->c, true, numbers, what, count, error);
}

static HkStatus skip_numbers(Msh *m, int64_t count, const char *what, HkError *error) {
  double ignored;
  for (int64_t q = 0; q < count; q++) {
    hk_skip_space(&m->c, '#');
    HK_TRY(hk_next_double(&m->c, &ignored, what, error));
  }
  return HK_OK;
}

/* ---- Head, names, entities ---- */

static HkStatus read_format(Msh *m, HkError *error) {
  hk_skip_space(&m->c, 0);
  HkCursor place = m->c;
  const char *word;
  size_t n;
  int64_t binary;
  if (!hk_next_word(&m->c, &word, &n))
    return hk_cursor_fail(&place, error, "the version of the format is missing");
  bool is_2 = hk_word_is(word, n, "2.2") || hk_word_is(word, n, "2.1") ||
              hk_word_is(word, n, "2.0") || hk_word_is(word, n, "2");
  m->version = hk_word_is(word, n, "4.1") ? 4 : is_2 ? 2 : 0;
  if (m->version == 0)
    return hk_cursor_refuse(&place, error,
                            "version %.*s is not read; save it as 4.1 or 2.2 (in Gmsh: "
                            "Mesh.MshFileVersion = 4.1)",
                            n > 40 ? 40 : (int)n, word);
  HK_TRY(next_int(m, &binary, "the type of the file", error));
  if (binary != 0)
    return hk_cursor_refuse(&place, error,
                            "binary .msh is not read; save it as text (in Gmsh: Mesh.Binary = 0)");
  return skip_numbers(m, 1, "the size of numbers", error);
}

static HkStatus read_names(Msh *m, HkError *error) {
  int64_t count, dimension, tag;
  HK_TRY(next_count(m, 3, "names", &count, error));
  for (int64_t q = 0; q < count; q++) {
    HK_TRY(next_int(m, &dimension, "the dimension of a name", error));
    HK_TRY(next_int(m, &tag, "the tag of a name", error));
    if (hk_at_line_end(&m->c) || *m->c.at != '"')
      return hk_cursor_fail(&m->c, error, "a name in double quotes is missing");
    const char *name = ++m->c.at;
    while (!hk_at_end(&m->c) && *m->c.at != '"' && *m->c.at != '\n') m->c.at++;
    if (hk_at_end(&m->c) || *m->c.at != '"')
      return hk_cursor_fail(&m->c, error, "the closing quote of a name is missing");
    HK_TRY(hk_groups_add(&m->mesh->context, &m->groups, dimension, tag, name,
                         (size_t)(m->c.at - name), error));
    m->c.at++;
  }
  hk_groups_sort(&m->groups);
  return HK_OK;
}

static int compare_memberships(const void *a, const void *b) {
  const Membership *p = a, *q = b;
  if (p->dimension != q->dimension) return p->dimension < q->dimension ? -1 : 1;
  return (p->entity > q->entity) - (p->entity < q->entity);
}

static HkStatus read_entity(Msh *m, int64_t dimension, HkError *error) {
  int64_t entity, count, bounding;
  HK_TRY(next_int(m, &entity, "the tag of an entity", error));
  HK_TRY(skip_numbers(m, dimension == 0 ? 3 : 6, "the box of an entity", error));
  HK_TRY(next_count(m, 1, "physical tags", &count, error));
  for (int64_t q = 0; q < count; q++) {
    int64_t tag;
    HK_TRY(next_int(m, &tag, "a physical tag", error));
    HK_TRY(hk_grow(&m->mesh->context, &m->memberships, &m->membership_capacity,
                   m->membership_count + 1, sizeof *m->memberships, "entities", error));
    /* A negative tag means that the group has the entity with the opposite orientation. */
    m->memberships[m->membership_count++] = (Membership){dimension, entity, tag < 0 ? -tag : tag};
  }
  if (dimension == 0) return HK_OK;
  HK_TRY(next_count(m, 1, "bounding entities", &bounding, error));
  return skip_numbers(m, bounding, "a bounding entity", error);
}

static HkStatus read_entities(Msh *m, HkError *error) {
  int64_t count[4];
  for (int d = 0; d < 4; d++) HK_TRY(next_count(m, 5, "entities", &count[d], error));
  for (int d = 0; d < 4; d++)
    for (int64_t q = 0; q < count[d]; q++) HK_TRY(read_entity(m, d, error));
  if (m->membership_count)
    qsort(m->memberships, (size_t)m->membership_count, sizeof *m->memberships, compare_memberships);
  return HK_OK;
}

/* ---- Nodes ---- */

static HkStatus read_tag(Msh *m, HkError *error) {
  hk_skip_space(&m->c, '#');
  HkCursor place = m->c;
  int64_t tag;
  bool repeated;
  HK_TRY(next_int(m, &tag, "the tag of a node", error));
  HK_TRY(hk_tags_add(&m->mesh->context, &m->tags, tag, &repeated, error));
  if (repeated) return hk_cursor_fail(&place, error, "node %lld stands twice", (long long)tag);
  return HK_OK;
}

static HkStatus read_node(Msh *m, HkError *error) {
  double x[3];
  HK_TRY(hk_read_point(&m->c, true, 3, x, error));
  return hk_mesh_add_vertices(m->mesh, x, 1, error);
}

static HkStatus read_nodes_2(Msh *m, HkError *error) {
  int64_t count;
  HK_TRY(next_count(m, 4, "nodes", &count, error));
  HK_TRY(hk_mesh_reserve(m->mesh, m->mesh->vertex_count + count, 0, 0, error));
  for (int64_t q = 0; q < count; q++) {
    HK_TRY(read_tag(m, error));
    HK_TRY(read_node(m, error));
  }
  return HK_OK;
}

/* Compares the entries of all blocks of a section with the count in its first line. */
static HkStatus check_total(const Msh *m, int64_t total, int64_t count, const char *what,
                            HkError *error) {
  if (count == total) return HK_OK;
  return hk_cursor_fail(&m->c, error, "%lld %s are promised, but the blocks have %lld",
                        (long long)total, what, (long long)count);
}

static HkStatus read_nodes_4(Msh *m, HkError *error) {
  int64_t before = m->mesh->vertex_count;
  int64_t blocks, total, dimension, entity, parametric, count;
  HK_TRY(next_count(m, 4, "blocks", &blocks, error));
  HK_TRY(next_count(m, 4, "nodes", &total, error));
  HK_TRY(skip_numbers(m, 2, "the range of tags", error));
  HK_TRY(hk_mesh_reserve(m->mesh, m->mesh->vertex_count + total, 0, 0, error));
  for (int64_t b = 0; b < blocks; b++) {
    HK_TRY(next_int(m, &dimension, "the dimension of a block", error));
    HK_TRY(next_int(m, &entity, "the entity of a block", error));
    HK_TRY(next_int(m, &parametric, "whether a block is parametric", error));
    HK_TRY(next_count(m, 4, "nodes", &count, error));
    int64_t parameters = parametric && dimension > 0 && dimension <= 3 ? dimension : 0;
    for (int64_t q = 0; q < count; q++) HK_TRY(read_tag(m, error));
    for (int64_t q = 0; q < count; q++) {
      HK_TRY(read_node(m, error));
      HK_TRY(skip_numbers(m, parameters, "a parameter of a node", error));
    }
  }
  return check_total(m, total, m->mesh->vertex_count - before, "nodes", error);
}

/* ---- Elements ---- */

typedef struct ElementType {
  int64_t type;
  HkCellType cell;
  int dimension;
} ElementType;

static HkStatus find_type(const HkCursor *place, int64_t type, const ElementType **found,
                          HkError *error) {
  static const ElementType types[] = {{15, HK_CELL_POINT, 0},   {1, HK_CELL_LINE, 1},
                                      {2, HK_CELL_TRIANGLE, 2}, {3, HK_CELL_QUAD, 2},
                                      {4, HK_CELL_TET, 3},      {5, HK_CELL_HEX, 3},
                                      {6, HK_CELL_WEDGE, 3},    {7, HK_CELL_PYRAMID, 3}};
  /* Elements of second order, from type 8 on. */
  static const char *const curved[] = {
      "3-node line",        "6-node triangle",    "9-node quad",     "10-node tetrahedron",
      "27-node hexahedron", "18-node prism",      "14-node pyramid", NULL,
      "8-node quad",        "20-node hexahedron", "15-node prism",   "13-node pyramid"};
  for (size_t q = 0; q < sizeof types / sizeof types[0]; q++) {
    *found = &types[q];
    if (types[q].type == type) return HK_OK;
  }
  if (type >= 8 && type < 8 + (int64_t)(sizeof curved / sizeof curved[0]))
    return hk_cursor_refuse(place, error,
                            "elements of type %lld (%s, second order) are not read; save the mesh "
                            "at first order (in Gmsh: Mesh.ElementOrder = 1)",
                            (long long)type, curved[type - 8]);
  return hk_cursor_refuse(place, error,
                          "elements of type %lld are not read; Hooke knows 1 to 7 and 15, of first "
                          "order",
                          (long long)type);
}

static HkStatus read_type(Msh *m, const ElementType **type, HkError *error) {
  hk_skip_space(&m->c, '#');
  HkCursor place = m->c;
  int64_t number;
  HK_TRY(next_int(m, &number, "the type of an element", error));
  return find_type(&place, number, type, error);
}

static HkStatus read_cell(Msh *m, HkCellType type, HkError *error) {
  int corners = hk_cell_corners(type);
  int32_t vertices[8];
  for (int q = 0; q < corners; q++) {
    hk_skip_space(&m->c, '#');
    HkCursor place = m->c;
    int64_t tag;
    HK_TRY(next_int(m, &tag, "a node of an element", error));
    vertices[q] = hk_tags_find(&m->tags, tag);
    if (vertices[q] < 0 || vertices[q] >= m->mesh->vertex_count)
      return hk_cursor_fail(&place, error, "node %lld is not among the nodes", (long long)tag);
  }
  return hk_mesh_add_cell(m->mesh, type, vertices, corners, error);
}

static HkStatus read_elements_2(Msh *m, HkError *error) {
  int64_t count, ignored, tags, physical = 0;
  HK_TRY(next_count(m, 4, "elements", &count, error));
  for (int64_t q = 0; q < count; q++) {
    const ElementType *type;
    HK_TRY(next_int(m, &ignored, "the tag of an element", error));
    HK_TRY(read_type(m, &type, error));
    HK_TRY(next_count(m, 1, "tags", &tags, error));
    if (tags > 0) HK_TRY(next_int(m, &physical, "the physical tag", error));
    HK_TRY(skip_numbers(m, tags - 1, "a tag of an element", error));
    int64_t cell = m->mesh->cell_count;
    HK_TRY(read_cell(m, type->cell, error));
    if (tags > 0)
      HK_TRY(hk_groups_add_cells(&m->mesh->context, &m->groups, type->dimension,
                                 physical < 0 ? -physical : physical, cell, cell + 1, error));
  }
  return HK_OK;
}

/* The cells of a block belong to all physical groups of its entity. */
static HkStatus add_memberships(Msh *m, int64_t dimension, int64_t entity, int64_t first,
                                HkError *error) {
  Membership key = {dimension, entity, 0};
  int64_t low = 0, high = m->membership_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (compare_memberships(&m->memberships[middle], &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < m->membership_count; low++) {
    const Membership *membership = &m->memberships[low];
    if (compare_memberships(membership, &key) != 0) break;
    HK_TRY(hk_groups_add_cells(&m->mesh->context, &m->groups, dimension, membership->tag, first,
                               m->mesh->cell_count, error));
  }
  return HK_OK;
}

static HkStatus read_elements_4(Msh *m, HkError *error) {
  int64_t before = m->mesh->cell_count;
  int64_t blocks, total, dimension, entity, count, ignored;
  HK_TRY(next_count(m, 4, "blocks", &blocks, error));
  HK_TRY(next_count(m, 2, "elements", &total, error));
  HK_TRY(skip_numbers(m, 2, "the range of tags", error));
  for (int64_t b = 0; b < blocks; b++) {
    const ElementType *type;
    HK_TRY(next_int(m, &dimension, "the dimension of a block", error));
    HK_TRY(next_int(m, &entity, "the entity of a block", error));
    HK_TRY(read_type(m, &type, error));
    HK_TRY(next_count(m, 2, "elements", &count, error));
    int64_t first = m->mesh->cell_count;
    for (int64_t q = 0; q < count; q++) {
      HK_TRY(next_int(m, &ignored, "the tag of an element", error));
      HK_TRY(read_cell(m, type->cell, error));
    }
    HK_TRY(add_memberships(m, dimension, entity, first, error));
  }
  return check_total(m, total, m->mesh->cell_count - before, "elements", error);
}

/* ---- Sections ---- */

/* Skips to the line that begins with $End. */
static void skip_body(HkCursor *c) {
  for (; !hk_at_end(c); hk_skip_line(c)) {
    hk_skip_blanks(c);
    if (c->end - c->at >= 4 && memcmp(c->at, "$End", 4) == 0) return;
  }
}

/* Reads the lines between $NAME and $EndNAME; n is the length of NAME. */
static HkStatus read_body(Msh *m, const HkCursor *place, const char *name, size_t n,
                          HkError *error) {
  if (hk_word_is(name, n, "MeshFormat")) return read_format(m, error);
  bool names = hk_word_is(name, n, "PhysicalNames"), entities = hk_word_is(name, n, "Entities");
  bool nodes = hk_word_is(name, n, "Nodes"), elements = hk_word_is(name, n, "Elements");
  if (hk_word_is(name, n, "ParametricNodes"))
    return hk_cursor_refuse(place, error,
                            "$ParametricNodes is not read; save the mesh without parameters (in "
                            "Gmsh: Mesh.SaveParametric = 0)");
  if ((entities || nodes || elements) && m->version == 0)
    return hk_cursor_fail(place, error, "$%.*s before $MeshFormat", (int)n, name);
  if ((names || entities) && m->mesh->cell_count > 0)
    return hk_cursor_fail(place, error, "$%.*s after $Elements, which need it", (int)n, name);
  if (names) return read_names(m, error);
  if (entities && m->version == 4) return read_entities(m, error);
  if (nodes) return m->version == 4 ? read_nodes_4(m, error) : read_nodes_2(m, error);
  if (elements) return m->version == 4 ? read_elements_4(m, error) : read_elements_2(m, error);
  skip_body(&m->c);
  return HK_OK;
}

static HkStatus read_section(Msh *m, HkError *error) {
  HkCursor place = m->c;
  const char *word, *end;
  size_t n, end_length;
  hk_next_word(&m->c, &word, &n);
  if (*word != '$')
    return hk_cursor_fail(&place, error, "'%.*s' where a section ($...) should begin%s",
                          n > 40 ? 40 : (int)n, word,
                          m->version ? "" : "; the file is not Gmsh's .msh");
  HK_TRY(read_body(m, &place, word + 1, n - 1, error));
  hk_skip_space(&m->c, 0);
  HkCursor after = m->c;
  if (hk_next_word(&m->c, &end, &end_length) && end_length == n + 3 &&
      memcmp(end, "$End", 4) == 0 && memcmp(end + 4, word + 1, n - 1) == 0)
    return HK_OK;
  return hk_cursor_fail(&after, error,
                        "$End%.*s is missing: more is in the section than it says, "
                        "or the file is cut off",
                        n > 40 ? 40 : (int)n - 1, word + 1);
}

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  Msh m = {.c = c, .mesh = mesh};
  HkStatus status = HK_OK;
  hk_skip_byte_order_mark(&m.c);
  for (hk_skip_space(&m.c, 0); status >= 0 && !hk_at_end(&m.c); hk_skip_space(&m.c, 0))
    status = read_section(&m, error);
  if (status >= 0) status = hk_groups_make_sets(&m.groups, mesh, error);
  hk_tags_clear(&mesh->context, &m.tags);
  hk_groups_clear(&mesh->context, &m.groups);
  hk_free(&mesh->context, &m.memberships);
  return status;
}

const HkMeshFormat hk_format_msh = {
    .name = "msh",
    .summary = "Gmsh .msh 2.2 and 4.1 as text, with named groups; written as 2.2",
    .read = read,
    .write = hk_write_msh,
    .cells = HK_CELLS_FIXED,
};
