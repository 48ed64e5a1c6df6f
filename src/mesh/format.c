/* The registry of mesh formats: reading and writing by the ending of the file name. */
#include "base/file.h"
#include "mesh/mesh.h"

#include <string.h>
#include <strings.h>

#define HK_FORMAT(name) extern const HkMeshFormat hk_format_##name;
#include "mesh/format.def"
#undef HK_FORMAT

static const HkMeshFormat *const formats[] = {
#define HK_FORMAT(name) &hk_format_##name,
#include "mesh/format.def"
#undef HK_FORMAT
};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

static const HkMeshFormat *find(const char *ending) {
  for (int q = 0; q < FORMAT_COUNT; q++)
    if (strcasecmp(formats[q]->name, ending) == 0) return formats[q];
  return NULL;
}

const char *hk_mesh_format(int index, const char **summary, bool *writes) {
  if (index < 0 || index >= FORMAT_COUNT) return NULL;
  if (summary) *summary = formats[index]->summary;
  if (writes) *writes = formats[index]->write != NULL;
  return formats[index]->name;
}

/* Returns the format by the ending of a path, which *ending becomes; NULL if it is unknown. */
static const HkMeshFormat *find_by_path(const char *path, const char **ending) {
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash ? slash : path, '.');
  *ending = dot ? dot + 1 : "";
  return find(*ending);
}

/* Writes "obj, .ply, .stl": the formats that can be read, or written with all these cell types. */
static void list_formats(bool writing, unsigned cells, char *text, size_t size) {
  text[0] = 0;
  for (int q = 0; q < FORMAT_COUNT; q++) {
    if (writing && (!formats[q]->write || (formats[q]->cells & cells) != cells)) continue;
    if (text[0]) strncat(text, ", .", size - strlen(text) - 1);
    strncat(text, formats[q]->name, size - strlen(text) - 1);
  }
}

static HkStatus unknown(const char *path, const char *ending, bool writing, HkError *error) {
  char known[256];
  list_formats(writing, 0, known, sizeof known);
  return hk_fail_at(error, HK_ERROR_UNSUPPORTED, path, 0, 0,
                    "'%s' is no mesh format that Hooke %s; it knows .%s", ending,
                    writing ? "writes" : "reads", known);
}

static HkStatus parse(const HkContext *context, const HkMeshFormat *f, HkCursor c, bool on_disk,
                      HkMesh **mesh, HkError *error) {
  HK_TRY(hk_mesh_create(context, mesh, error));
  HkLocale locale = hk_locale_enter();
  HkStatus status = f->read(c, *mesh, error);
  if (status >= 0 && (*mesh)->vertex_count == 0)
    status = hk_fail_at(error, HK_ERROR_FORMAT, c.name, 0, 0, "there are no vertices in this file");
  if (status >= 0 && on_disk && f->read_siblings) status = f->read_siblings(c, *mesh, error);
  hk_locale_leave(&locale);
  if (status < 0) hk_mesh_destroy(mesh);
  return status;
}

HkStatus hk_mesh_parse(const HkContext *context, const char *format, const void *bytes, size_t size,
                       const char *name, HkMesh **mesh, HkError *error) {
  *mesh = NULL;
  const HkMeshFormat *f = find(format);
  if (!f) return unknown(name, format, false, error);
  if (size > 0 && !bytes) return hk_fail(error, HK_ERROR_INVALID, "%zu bytes are not there", size);
  return parse(context, f, hk_cursor(name, bytes, size), false, mesh, error);
}

HkStatus hk_mesh_read(const HkContext *context, const char *path, HkMesh **mesh, HkError *error) {
  *mesh = NULL;
  const char *ending;
  const HkMeshFormat *f = find_by_path(path, &ending);
  if (!f) return unknown(path, ending, false, error);
  HkContext c = hk_context_or_default(context);
  char *bytes;
  size_t size;
  HK_TRY(hk_file_read(&c, path, &bytes, &size, error));
  HkStatus status = parse(&c, f, hk_cursor(path, bytes, size), true, mesh, error);
  hk_free(&c, &bytes);
  return status;
}

/* Returns an error if the mesh has cells that the format cannot store; the message names formats
 * that can. */
static HkStatus check_cells(const HkMeshFormat *f, const HkMesh *mesh, const char *path,
                            HkError *error) {
  static const char *const names[] = {"points",     "lines",    "triangles", "quads",    "polygons",
                                      "tetrahedra", "pyramids", "wedges",    "hexahedra"};
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    unsigned bit = 1u << mesh->cell_type[c];
    if (f->cells & bit) continue;
    char able[256];
    list_formats(true, bit, able, sizeof able);
    return hk_fail_at(error, HK_ERROR_UNSUPPORTED, path, 0, 0,
                      "the mesh has %s (the first is cell %lld), which .%s cannot hold; .%s can",
                      names[mesh->cell_type[c]], (long long)c, f->name, able);
  }
  return HK_OK;
}

HkStatus hk_mesh_write(const HkMesh *mesh, const char *path, HkError *error) {
  const char *ending;
  const HkMeshFormat *f = find_by_path(path, &ending);
  if (!f || !f->write) return unknown(path, ending, true, error);
  HK_TRY(check_cells(f, mesh, path, error));
  if (mesh->set_count)
    hk_log(&mesh->context, HK_LOG_INFO, "%s: the %lld vertex sets of the mesh are not written",
           path, (long long)mesh->set_count);
  HkLocale locale = hk_locale_enter();
  HkStatus status = f->write(mesh, path, error);
  hk_locale_leave(&locale);
  return status;
}
