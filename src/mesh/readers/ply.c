/* PLY, the Stanford polygon format: text, or binary of both byte orders. The values follow the
 * header (ply_header.c), element by element; in text one line an entry:
 *
 *     element vertex    x y [z] ...             z = 0 where there is none
 *     element face      n i i ...               list vertex_indices or vertex_index
 *     element edge      vertex1 vertex2 ...
 *
 * in the order of the properties in the header and in any types. Vertices count from 0; faces of
 * two corners are lines, of one points. All other elements and properties are skipped; triangle
 * strips are refused.
 */
#include "mesh/ply_header.h"
#include "mesh/writing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Ply {
  HkCursor c;
  const char *start; /* of the file */
  HkPlyHeader header;
  HkMesh *mesh;
  HkCorners corners; /* of the face or edge that is being read */
  double x[3];       /* of the vertex that is being read */
} Ply;

static bool in_text(const Ply *p) {
  return p->header.encoding == HK_PLY_TEXT;
}

/* Returns an error with line and column in text files, with the byte in binary files. */
static HkStatus fail_at(const Ply *p, const char *at, HkError *error, const char *text) {
  HkCursor place = p->c;
  place.at = at;
  if (in_text(p)) return hk_cursor_fail(&place, error, "%s", text);
  return hk_fail_byte(p->c.name, at - p->start, error, "%s", text);
}

static double value_of(const HkPlyType *type, uint64_t bits) {
  if (type->kind == 'f' && type->bytes == 4) {
    uint32_t bits32 = (uint32_t)bits;
    float value;
    memcpy(&value, &bits32, sizeof value);
    return value;
  }
  if (type->kind == 'f') {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (type->kind == 'u') return (double)bits;
  uint64_t sign = 1ull << (8 * type->bytes - 1);
  return bits & sign ? -(double)((~bits & (sign - 1)) + 1) : (double)bits;
}

/* Reads the next value; *at becomes its position in the file. */
static HkStatus next_value(Ply *p, const HkPlyType *type, double *value, const char **at,
                           HkError *error) {
  if (in_text(p)) {
    hk_skip_blanks(&p->c);
    *at = p->c.at;
    return hk_next_double(&p->c, value, "a value", error);
  }
  *at = p->c.at;
  if (p->c.end - *at < type->bytes) return fail_at(p, *at, error, "the file is cut off");
  uint64_t bits = 0;
  for (int q = 0; q < type->bytes; q++) {
    int from = p->header.encoding == HK_PLY_BIG ? q : type->bytes - 1 - q;
    bits = bits << 8 | (unsigned char)(*at)[from];
  }
  *value = value_of(type, bits);
  p->c.at += type->bytes;
  return HK_OK;
}

/* Skips a value, which need not be finite or a number. */
static HkStatus skip_value(Ply *p, const HkPlyType *type, HkError *error) {
  const char *word;
  size_t length;
  if (in_text(p)) {
    if (hk_next_word(&p->c, &word, &length)) return HK_OK;
    return fail_at(p, p->c.at, error, "a value is missing");
  }
  if (p->c.end - p->c.at < type->bytes) return fail_at(p, p->c.at, error, "the file is cut off");
  p->c.at += type->bytes;
  return HK_OK;
}

static HkStatus read_corner(Ply *p, const HkPlyType *type, HkError *error) {
  double value;
  const char *at;
  HK_TRY(next_value(p, type, &value, &at, error));
  if (!(value >= 0 && value < (double)p->mesh->vertex_count) || value != floor(value)) {
    char text[128];
    snprintf(text, sizeof text, "vertex %.17g is not there: the vertices are numbered 0 to %lld",
             value, (long long)p->mesh->vertex_count - 1);
    return fail_at(p, at, error, text);
  }
  return hk_corners_push(&p->mesh->context, &p->corners, (int32_t)value, error);
}

static HkStatus read_coordinate(Ply *p, const HkPlyType *type, int axis, HkError *error) {
  const char *at;
  HK_TRY(next_value(p, type, &p->x[axis], &at, error));
  if (!isfinite(p->x[axis])) return fail_at(p, at, error, "a coordinate that is not finite");
  return HK_OK;
}

static HkStatus read_list(Ply *p, const HkPlyProperty *property, HkError *error) {
  double value;
  const char *at;
  HK_TRY(next_value(p, property->count, &value, &at, error));
  int64_t most = (p->c.end - p->c.at + 1) / (in_text(p) ? 2 : property->type->bytes);
  if (!(value >= 0 && value <= (double)most) || value != floor(value))
    return fail_at(p, at, error, "the count of a list is wrong, or the file is cut off");
  for (int64_t q = 0; q < (int64_t)value; q++)
    HK_TRY(property->role == HK_PLY_CORNERS ? read_corner(p, property->type, error)
                                            : skip_value(p, property->type, error));
  return HK_OK;
}

static HkStatus read_property(Ply *p, const HkPlyProperty *property, HkError *error) {
  if (property->count) return read_list(p, property, error);
  switch (property->role) {
  case HK_PLY_X:
  case HK_PLY_Y:
  case HK_PLY_Z: return read_coordinate(p, property->type, (int)property->role - HK_PLY_X, error);
  case HK_PLY_VERTEX1:
  case HK_PLY_VERTEX2: return read_corner(p, property->type, error);
  default: return skip_value(p, property->type, error);
  }
}

/* Adds the entry that has been read to the mesh. */
static HkStatus add_entry(Ply *p, HkPlyKind kind, const char *start, HkError *error) {
  if (in_text(p) && !hk_at_line_end(&p->c))
    return fail_at(p, p->c.at, error, "more values on this line than the header says");
  if (kind == HK_PLY_VERTEX) return hk_mesh_add_vertices(p->mesh, p->x, 1, error);
  if (kind == HK_PLY_OTHER) return HK_OK;
  if (p->corners.count == 0) return fail_at(p, start, error, "a face without corners");
  return hk_mesh_add_face(p->mesh, &p->corners, error);
}

static HkStatus read_element(Ply *p, const HkPlyElement *e, HkError *error) {
  if (e->properties == 0) return HK_OK; /* the file has no bytes for its entries */
  const HkPlyProperty *properties = p->header.properties + e->first;
  int64_t bytes = 0;
  for (int64_t q = 0; q < e->properties; q++) {
    const HkPlyType *type = properties[q].count ? properties[q].count : properties[q].type;
    bytes += in_text(p) ? 2 : type->bytes;
  }
  HK_TRY(hk_check_count(&e->place, e->count, p->c.end - p->c.at, bytes, "entries", error));
  if (e->kind == HK_PLY_VERTEX) HK_TRY(hk_mesh_reserve(p->mesh, e->count, 0, 0, error));
  for (int64_t entry = 0; entry < e->count; entry++) {
    if (in_text(p)) hk_skip_space(&p->c, 0);
    const char *start = p->c.at;
    p->corners.count = 0;
    for (int64_t q = 0; q < e->properties; q++) HK_TRY(read_property(p, &properties[q], error));
    HK_TRY(add_entry(p, e->kind, start, error));
  }
  return HK_OK;
}

static HkStatus read_elements(Ply *p, HkError *error) {
  for (int64_t q = 0; q < p->header.element_count; q++)
    HK_TRY(read_element(p, &p->header.elements[q], error));
  return HK_OK;
}

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  Ply p = {.c = c, .start = c.at, .mesh = mesh};
  const HkContext *context = &mesh->context;
  HkStatus status = hk_ply_read_header(context, &p.c, &p.header, error);
  if (status >= 0) status = read_elements(&p, error);
  hk_free(context, &p.header.elements);
  hk_free(context, &p.header.properties);
  hk_free(context, &p.corners.vertices);
  return status;
}

const HkMeshFormat hk_format_ply = {
    .name = "ply",
    .summary = "PLY: faces and edges, text or binary; written as text",
    .read = read,
    .write = hk_write_ply,
    .cells = HK_CELLS_FACES | 1u << HK_CELL_LINE,
};
