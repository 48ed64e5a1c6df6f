/* VTK's XML files; see vtk.h.
 *
 *     Points    x (m)
 *     PointData velocity (m/s), force (N, all forces, reactions of pins not included),
 *               contact_force (N, of all contacts; only where the model has contact)
 *     CellData  strain ((l - l0) / l0; other cells: mean of the springs along their edges, or 0),
 *               kind (springs 0 edge, 1 shear, 2 bending, 3 from a file; 4 line, 5 face, 6 solid)
 *     FieldData TimeValue (s)
 *
 * On ranks PointData has also vtkGhostType (1: another piece has the vertex as its own, so that
 * ParaView counts it once) and number, that of the vertex in the whole model.
 *
 * Cells are the springs (or the mesh's lines where springs are left out), faces, solids; broken
 * springs and the cells with one along an edge are left out. Strains are those of the springs of
 * the state. Reals are Float32, or Float64 if precise.
 */
#include "output/vtk.h"

#include "model/part.h"
#include "output/pvd.h"

enum { KIND_LINE = 4, KIND_FACE, KIND_SOLID };

const HkParam hk_vtk_params[HK_VTK_PARAM_COUNT] = {
    HK_INTEGER(HkVtkParams, every, 1, 1, 1000000000, "write each so many frames"),
    HK_BOOLEAN(HkVtkParams, precise, 0, "64-bit numbers instead of 32-bit ones"),
    HK_BOOLEAN(HkVtkParams, springs, 1, "springs as lines; if not, the lines of the mesh"),
};

static const struct {
  const char *name;
  int size;
} types[] = {{"Float32", 4}, {"Float64", 8}, {"Int32", 4}, {"Int64", 8}, {"UInt8", 1}};

const char *hk_vtk_type_name(HkVtkType type) {
  return types[type].name;
}

/* ---- Arrays ---- */

/* Encodes the staged bytes; all but the last piece of an array must be a multiple of 3 bytes. */
static void unstage(HkVtk *w, bool last) {
  size_t rest = last ? 0 : w->staged % 3, whole = w->staged - rest;
  hk_stream_base64(&w->stream, w->stage, whole);
  memmove(w->stage, w->stage + whole, rest);
  w->staged = rest;
}

/* Returns the address for the next value of the array. */
static inline unsigned char *stage(HkVtk *w, size_t size) {
  if (w->staged + size > sizeof w->stage) unstage(w, false);
  unsigned char *at = w->stage + w->staged;
  w->staged += size;
  return at;
}

void hk_vtk_put_int(HkVtk *w, int64_t value) {
  if (w->array_type == HK_VTK_UINT8)
    *stage(w, 1) = (unsigned char)value;
  else if (w->array_type == HK_VTK_INT32)
    hk_store_le32(stage(w, 4), (uint32_t)value);
  else
    hk_store_le64(stage(w, 8), (uint64_t)value);
}

void hk_vtk_put_real(HkVtk *w, double value) {
  if (w->array_type == HK_VTK_FLOAT32)
    hk_store_float(stage(w, 4), value);
  else
    hk_store_double(stage(w, 8), value);
}

void hk_vtk_begin(HkVtk *w, HkVtkType type, const char *name, int components, int64_t tuples) {
  hk_stream_printf(&w->stream, "<DataArray type=\"%s\" Name=\"%s\"", types[type].name, name);
  /* VTK's default is one component. */
  if (components > 1) hk_stream_printf(&w->stream, " NumberOfComponents=\"%d\"", components);
  hk_stream_printf(&w->stream, " NumberOfTuples=\"%lld\" format=\"binary\">\n", (long long)tuples);
  w->array_type = type;
  w->staged = 0;
  hk_store_le64(stage(w, 8), (uint64_t)tuples * (uint64_t)(components * types[type].size));
}

void hk_vtk_end(HkVtk *w) {
  unstage(w, true);
  hk_stream_printf(&w->stream, "\n</DataArray>\n");
}

/* ---- Sections ---- */

static void put_vectors(HkVtk *w, const char *name, const double *values) {
  int64_t n = w->model->n;
  hk_vtk_begin(w, hk_vtk_real_type(w), name, 3, n);
  for (int64_t q = 0; q < 3 * n; q++) hk_vtk_put_real(w, values[q]);
  hk_vtk_end(w);
}

static void put_strains(HkVtk *w, const HkState *state) {
  hk_spring_strains(w->model, state, w->strain);
  hk_edge_springs_strains(w->model, &w->edges, state->x, w->strain);
  hk_vtk_begin(w, hk_vtk_real_type(w), "strain", 1, w->spring_count + w->drawn.count);
  for (int64_t s = 0; s < w->spring_count; s++) hk_vtk_put_real(w, w->strain[HK_VTK_SPRING(w, s)]);
  for (int64_t q = 0; q < w->drawn.count; q++)
    hk_vtk_put_real(w, hk_edge_strain(&w->edges, q, w->strain));
  hk_vtk_end(w);
}

static void put_kinds(HkVtk *w) {
  const HkDrawn *d = &w->drawn;
  hk_vtk_begin(w, HK_VTK_UINT8, "kind", 1, w->spring_count + d->count);
  for (int64_t s = 0; s < w->spring_count; s++)
    hk_vtk_put_int(w, w->model->springs.kind[HK_VTK_SPRING(w, s)]);
  for (int64_t q = 0; q < d->line_count; q++) hk_vtk_put_int(w, KIND_LINE);
  for (int64_t q = 0; q < d->face_count; q++) hk_vtk_put_int(w, KIND_FACE);
  for (int64_t q = 0; q < d->solid_count; q++) hk_vtk_put_int(w, KIND_SOLID);
  hk_vtk_end(w);
}

void hk_vtk_put_cells(HkVtk *w, bool springs, int64_t begin, int64_t end, int64_t corners) {
  const HkModel *m = w->model;
  int64_t spring_count = springs ? w->spring_count : 0, offset = 0;
  hk_vtk_begin(w, w->index_type, "connectivity", 1, 2 * spring_count + corners);
  for (int64_t s = 0; s < spring_count; s++) {
    hk_vtk_put_int(w, m->springs.i[HK_VTK_SPRING(w, s)]);
    hk_vtk_put_int(w, m->springs.j[HK_VTK_SPRING(w, s)]);
  }
  for (int64_t q = begin; q < end; q++) {
    HkCell cell = hk_drawn_cell(&w->drawn, q);
    for (int c = 0; c < cell.count; c++) hk_vtk_put_int(w, cell.vertices[c]);
  }
  hk_vtk_end(w);
  hk_vtk_begin(w, w->index_type, "offsets", 1, spring_count + end - begin);
  for (int64_t s = 0; s < spring_count; s++) hk_vtk_put_int(w, offset += 2);
  for (int64_t q = begin; q < end; q++)
    hk_vtk_put_int(w, offset += hk_drawn_cell(&w->drawn, q).count);
  hk_vtk_end(w);
}

void hk_vtk_put_head(HkVtk *w, const char *type, double time, int64_t points) {
  HkStream *s = &w->stream;
  hk_stream_printf(s,
                   "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" "
                   "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<%s>\n<FieldData>\n",
                   type, type);
  hk_vtk_begin(w, HK_VTK_FLOAT64, "TimeValue", 1, 1);
  hk_vtk_put_real(w, time);
  hk_vtk_end(w);
  hk_stream_printf(s, "</FieldData>\n<Piece NumberOfPoints=\"%lld\"", (long long)points);
}

static void put_ghosts(HkVtk *w) {
  const HkPart *part = w->model->part;
  hk_vtk_begin(w, HK_VTK_UINT8, "vtkGhostType", 1, w->model->n);
  for (int64_t i = 0; i < w->model->n; i++) hk_vtk_put_int(w, part->ghost[i]);
  hk_vtk_end(w);
  hk_vtk_begin(w, HK_VTK_INT64, "number", 1, w->model->n);
  for (int64_t i = 0; i < w->model->n; i++) hk_vtk_put_int(w, part->number[i]);
  hk_vtk_end(w);
}

static void put_file(HkVtk *w, const HkFrame *frame) {
  const HkVtkLayout *layout = w->layout;
  HkStream *s = &w->stream;
  hk_vtk_put_head(w, layout->type, frame->state->time, w->model->n);
  layout->count(w);
  hk_stream_printf(s, ">\n<PointData Vectors=\"velocity\">\n");
  put_vectors(w, "velocity", frame->state->v);
  put_vectors(w, "force", frame->force);
  if (frame->contacts) put_vectors(w, "contact_force", frame->contacts->force);
  if (w->model->part) put_ghosts(w);
  hk_stream_printf(s, "</PointData>\n<CellData Scalars=\"strain\">\n");
  put_strains(w, frame->state);
  put_kinds(w);
  hk_stream_printf(s, "</CellData>\n<Points>\n");
  put_vectors(w, "Points", frame->state->x);
  hk_stream_printf(s, "</Points>\n");
  layout->cells(w);
  hk_stream_printf(s, "</Piece>\n</%s>\n</VTKFile>\n", layout->type);
}

/* ---- The output ---- */

unsigned hk_vtk_singles(const HkOutput *o) {
  if (((const HkVtkParams *)o->params)->precise) return 0;
  return HK_QUANTITY_POSITION | HK_QUANTITY_VELOCITY | HK_QUANTITY_FORCE | HK_QUANTITY_STRAIN;
}

/* Lists the springs that are drawn in this part. */
static HkStatus list_springs(HkVtk *w, const HkContext *c, HkError *error) {
  const HkRuns *runs = &w->model->part->springs;
  int64_t count = 0;
  for (int64_t k = 0; k < runs->count; k++) count += runs->run[k].end - runs->run[k].begin;
  HK_TRY(hk_alloc(c, &w->own_springs, count + 1, sizeof *w->spring, "springs to draw", error));
  w->spring = w->own_springs;
  w->spring_count = 0;
  for (int64_t k = 0; k < runs->count; k++)
    for (int64_t s = runs->run[k].begin; s < runs->run[k].end; s++)
      w->own_springs[w->spring_count++] = (int32_t)s;
  return HK_OK;
}

static HkStatus prepare(HkOutput *o, HkVtk *w, HkError *error) {
  const HkModel *m = w->model;
  const HkContext *c = &o->context;
  w->spring_count = w->params.springs ? m->springs.count : 0;
  if (m->part && w->params.springs) HK_TRY(list_springs(w, c, error));
  int64_t strains = m->springs.count + w->edges.far_count;
  HK_TRY(hk_alloc(c, &w->strain, strains, sizeof *w->strain, "strains", error));
  HK_TRY(hk_stream_create(c, &w->stream, error));
  bool wide = 2 * w->spring_count + w->drawn.corners > INT32_MAX;
  w->index_type = wide ? HK_VTK_INT64 : HK_VTK_INT32;
  return hk_output_is_first(o) ? hk_pvd_open(o, w->layout->name, &w->pvd, error) : HK_OK;
}

HkStatus hk_vtk_open(HkOutput *o, const HkModel *model, const HkVtkLayout *layout, HkError *error) {
  HkStatus status = hk_output_is_first(o) ? hk_output_frames_open(o, layout->name, error) : HK_OK;
  if (status >= 0)
    status = hk_alloc(&o->context, &o->data, 1, sizeof(HkVtk), "a VTK output", error);
  HK_TRY(hk_model_agree(model, status, error));
  HkVtk *w = o->data;
  w->layout = layout;
  w->params = *(const HkVtkParams *)o->params;
  w->model = model;
  unsigned what = layout->what | (w->params.springs ? 0 : HK_DRAW_LINES);
  HK_TRY(hk_drawn_create(&o->context, model, what, &w->all, error));
  w->drawn = w->all;
  HK_TRY(hk_edge_springs_create(&o->context, &w->all, &w->all_edges, error));
  w->edges = w->all_edges;
  return prepare(o, w, error);
}

/* Takes the cells and springs that are not broken in a state. */
static HkStatus show(HkVtk *w, const HkState *state, HkError *error) {
  const uint8_t *broken = state->springs.broken;
  if (!broken || w->model->part) return HK_OK;
  HK_TRY(hk_torn_update(&w->model->context, &w->all, &w->all_edges, broken, &w->torn, error));
  w->drawn = w->torn.drawn;
  w->edges = w->torn.edges;
  w->spring = w->torn.spring;
  w->spring_count = w->params.springs ? w->torn.spring_count : 0;
  return HK_OK;
}

HkStatus hk_vtk_write_file(HkVtk *w, const HkFrame *frame, const char *path, HkError *error) {
  HkWriter file;
  HK_TRY(show(w, frame->state, error));
  HK_TRY(hk_writer_open(&file, path, error));
  hk_stream_begin(&w->stream, file.file);
  put_file(w, frame);
  hk_stream_end(&w->stream);
  return hk_writer_commit(&file, error);
}

HkStatus hk_vtk_write(HkOutput *o, const HkFrame *frame, HkError *error) {
  HkVtk *w = o->data;
  char path[4096];
  HK_TRY(hk_output_frame_path(o, w->layout->name, frame->index, path, sizeof path, error));
  if (w->model->part) {
    HK_TRY(hk_vtk_write_piece(o, frame, path, error));
  } else {
    HK_TRY(hk_vtk_write_file(w, frame, path, error));
    HK_TRY(hk_output_keep(o, path, error));
  }
  return w->pvd ? hk_pvd_add(o, w->layout->name, w->pvd, frame, error) : HK_OK;
}

HkStatus hk_vtk_close(HkOutput *o, HkError *error) {
  HkVtk *w = o->data;
  if (!w) return HK_OK;
  const HkContext *c = &o->context;
  HkStatus status = hk_pvd_close(o, w->layout->name, &w->pvd, error);
  hk_drawn_destroy(c, &w->all);
  hk_edge_springs_destroy(c, &w->all_edges);
  hk_torn_destroy(&w->model->context, &w->torn);
  hk_free(c, &w->strain);
  hk_free(c, &w->own_springs);
  hk_stream_destroy(c, &w->stream);
  hk_free(c, &o->data);
  return status;
}
