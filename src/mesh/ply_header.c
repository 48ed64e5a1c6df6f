/* The header of a PLY file:
 *
 *     ply
 *     format ascii|binary_little_endian|binary_big_endian 1.0
 *     comment ... | obj_info ...
 *     element NAME COUNT
 *     property TYPE NAME
 *     property list COUNT_TYPE TYPE NAME
 *     end_header
 *
 * Properties belong to the element above them. readers/ply.c lists those that Hooke reads.
 */
#include "mesh/ply_header.h"

static const HkPlyType types[] = {{"char", "int8", 'i', 1},     {"uchar", "uint8", 'u', 1},
                                  {"short", "int16", 'i', 2},   {"ushort", "uint16", 'u', 2},
                                  {"int", "int32", 'i', 4},     {"uint", "uint32", 'u', 4},
                                  {"int64", "long", 'i', 8},    {"uint64", "ulong", 'u', 8},
                                  {"float", "float32", 'f', 4}, {"double", "float64", 'f', 8}};

static HkStatus read_format(HkCursor *c, HkPlyHeader *h, HkError *error) {
  static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  HkCursor place = *c;
  const char *word, *version;
  size_t length, version_length;
  if (!hk_next_word(c, &word, &length) || !hk_next_word(c, &version, &version_length))
    return hk_cursor_fail(&place, error, "'format' must be followed by the format and 1.0");
  if (!hk_word_is(version, version_length, "1.0"))
    return hk_cursor_refuse(&place, error, "PLY of version %.*s is not read; it should be 1.0",
                            version_length > 40 ? 40 : (int)version_length, version);
  for (int q = 0; q < 3; q++) {
    if (!hk_word_is(word, length, names[q])) continue;
    h->encoding = (HkPlyEncoding)q;
    return HK_OK;
  }
  return hk_cursor_fail(&place, error,
                        "the format is ascii, binary_little_endian or binary_big_endian");
}

static HkStatus read_element_line(HkCursor *c, HkPlyHeader *h, HkError *error) {
  HkPlyElement e = {.kind = HK_PLY_OTHER, .first = h->property_count};
  hk_skip_blanks(c);
  e.place = *c;
  const char *word;
  size_t length;
  if (!hk_next_word(c, &word, &length))
    return hk_cursor_fail(&e.place, error, "the name of an element is missing");
  if (hk_word_is(word, length, "vertex")) e.kind = HK_PLY_VERTEX;
  if (hk_word_is(word, length, "face")) e.kind = HK_PLY_FACE;
  if (hk_word_is(word, length, "edge")) e.kind = HK_PLY_EDGE;
  HK_TRY(hk_next_int(c, &e.count, "the number of entries", error));
  if (e.count < 0) return hk_cursor_fail(&e.place, error, "a count cannot be negative");
  if (hk_word_is(word, length, "tristrips"))
    return hk_cursor_refuse(&e.place, error,
                            "triangle strips (tristrips) are not read; save the mesh with faces");
  HK_TRY(hk_grow(h->context, &h->elements, &h->element_capacity, h->element_count + 1, sizeof e,
                 "PLY elements", error));
  h->elements[h->element_count++] = e;
  return HK_OK;
}

static HkStatus read_type(HkCursor *c, const HkPlyType **type, HkError *error) {
  hk_skip_blanks(c);
  HkCursor place = *c;
  const char *word;
  size_t length;
  if (!hk_next_word(c, &word, &length))
    return hk_cursor_fail(&place, error, "the type of a property is missing");
  for (size_t q = 0; q < sizeof types / sizeof types[0]; q++) {
    *type = &types[q];
    if (hk_word_is(word, length, types[q].name) || hk_word_is(word, length, types[q].other_name))
      return HK_OK;
  }
  return hk_cursor_fail(&place, error, "'%.*s' is no type of PLY", length > 40 ? 40 : (int)length,
                        word);
}

static HkPlyRole role_of(HkPlyKind kind, bool list, const char *word, size_t length) {
  static const struct {
    HkPlyKind kind;
    bool list;
    const char *name;
    HkPlyRole role;
  } roles[] = {{HK_PLY_VERTEX, false, "x", HK_PLY_X},
               {HK_PLY_VERTEX, false, "y", HK_PLY_Y},
               {HK_PLY_VERTEX, false, "z", HK_PLY_Z},
               {HK_PLY_FACE, true, "vertex_indices", HK_PLY_CORNERS},
               {HK_PLY_FACE, true, "vertex_index", HK_PLY_CORNERS},
               {HK_PLY_EDGE, false, "vertex1", HK_PLY_VERTEX1},
               {HK_PLY_EDGE, false, "vertex2", HK_PLY_VERTEX2}};
  for (size_t q = 0; q < sizeof roles / sizeof roles[0]; q++)
    if (roles[q].kind == kind && roles[q].list == list && hk_word_is(word, length, roles[q].name))
      return roles[q].role;
  return HK_PLY_SKIPPED;
}

static HkStatus read_property_line(HkCursor *c, const HkCursor *place, HkPlyHeader *h,
                                   HkError *error) {
  if (h->element_count == 0)
    return hk_cursor_fail(place, error, "a property before the first element");
  HkPlyElement *e = &h->elements[h->element_count - 1];
  HkPlyProperty property = {0};
  HkCursor before = *c;
  const char *word;
  size_t length;
  if (hk_next_word(c, &word, &length) && hk_word_is(word, length, "list"))
    HK_TRY(read_type(c, &property.count, error));
  else
    *c = before;
  if (property.count && property.count->kind == 'f')
    return hk_cursor_fail(place, error, "the count of a list cannot be a floating-point number");
  HK_TRY(read_type(c, &property.type, error));
  if (!hk_next_word(c, &word, &length))
    return hk_cursor_fail(place, error, "the name of a property is missing");
  property.role = role_of(e->kind, property.count != NULL, word, length);
  if (property.role != HK_PLY_SKIPPED && (e->roles & 1u << property.role))
    return hk_cursor_fail(place, error, "property %.*s stands twice", (int)length, word);
  e->roles |= 1u << property.role;
  e->properties++;
  HK_TRY(hk_grow(h->context, &h->properties, &h->property_capacity, h->property_count + 1,
                 sizeof property, "PLY properties", error));
  h->properties[h->property_count++] = property;
  return HK_OK;
}

/* Reads the lines from format to end_header. */
static HkStatus read_lines(HkCursor *c, HkPlyHeader *h, HkError *error) {
  bool have_format = false;
  for (; !hk_at_end(c); hk_skip_line(c)) {
    hk_skip_blanks(c);
    HkCursor place = *c;
    const char *word;
    size_t n;
    if (!hk_next_word(c, &word, &n)) continue;
    if (hk_word_is(word, n, "end_header")) {
      hk_skip_line(c);
      return have_format ? HK_OK : hk_cursor_fail(&place, error, "the header has no line 'format'");
    }
    if (hk_word_is(word, n, "format")) {
      HK_TRY(read_format(c, h, error));
      have_format = true;
    } else if (hk_word_is(word, n, "element")) {
      HK_TRY(read_element_line(c, h, error));
    } else if (hk_word_is(word, n, "property")) {
      HK_TRY(read_property_line(c, &place, h, error));
    } else if (!hk_word_is(word, n, "comment") && !hk_word_is(word, n, "obj_info")) {
      return hk_cursor_fail(&place, error, "'%.*s' is no word of a PLY header",
                            n > 40 ? 40 : (int)n, word);
    }
  }
  return hk_cursor_fail(c, error, "the file ends before 'end_header': it is cut off");
}

static HkStatus check_elements(const HkPlyHeader *h, HkError *error) {
  static const struct {
    HkPlyKind kind;
    unsigned roles;
    const char *text;
  } needs[] = {
      {HK_PLY_VERTEX, 1u << HK_PLY_X | 1u << HK_PLY_Y, "element vertex has no properties x and y"},
      {HK_PLY_FACE, 1u << HK_PLY_CORNERS, "element face has no property list vertex_indices"},
      {HK_PLY_EDGE, 1u << HK_PLY_VERTEX1 | 1u << HK_PLY_VERTEX2,
       "element edge has no vertex1 and vertex2"}};
  int seen[4] = {0};
  for (int64_t q = 0; q < h->element_count; q++) {
    const HkPlyElement *e = &h->elements[q];
    if (e->kind != HK_PLY_OTHER && seen[e->kind]++)
      return hk_cursor_fail(&e->place, error, "an element that was there before");
    if ((e->kind == HK_PLY_FACE || e->kind == HK_PLY_EDGE) && e->count > 0 && !seen[HK_PLY_VERTEX])
      return hk_cursor_fail(&e->place, error, "faces or edges come before the vertices");
    for (int n = 0; n < 3; n++)
      if (needs[n].kind == e->kind && e->count > 0 && (e->roles & needs[n].roles) != needs[n].roles)
        return hk_cursor_fail(&e->place, error, "%s", needs[n].text);
  }
  return HK_OK;
}

HkStatus hk_ply_read_header(const HkContext *context, HkCursor *c, HkPlyHeader *header,
                            HkError *error) {
  *header = (HkPlyHeader){.context = context};
  HkCursor place = *c;
  const char *word;
  size_t length;
  if (!hk_next_word(c, &word, &length) || !hk_word_is(word, length, "ply"))
    return hk_cursor_fail(&place, error, "the file does not begin with 'ply'");
  hk_skip_line(c);
  HK_TRY(read_lines(c, header, error));
  return check_elements(header, error);
}
