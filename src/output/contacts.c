/* contacts/frame_000000.vtu ... and contacts.pvd: what touches, as points for ParaView and meshio.
 *
 *     Points    the middle of the gap (m)
 *     PointData normal (from side 1 to side 0), gap (m), normal_force (N),
 *               friction (N, on side 0), force (N, on side 0: normal_force normal + friction),
 *               body (of side 0), other_kind (side 1: 0 body, 1 obstacle, 2 ground), other (its
 *               number), vertices (four, -1: of an obstacle, or none), split (how many of them are
 *               of side 0), weights (of the vertices)
 *     Cells     one vertex a point
 *     FieldData TimeValue (s)
 *
 * Reals are Float64. A model without contact has files without points.
 */
#include "output/pvd.h"
#include "output/vtk.h"

static const char *const name = "contacts";

enum { VTK_VERTEX = 1 };

typedef struct Contacts {
  int every;
} Contacts;

HK_EVERY_COMES_FIRST(Contacts);

static const HkParam params[] = {
    HK_INTEGER(Contacts, every, 1, 1, 1000000000, "write each so many frames"),
};

/* ---- Arrays ---- */

/* Copies the values of a contact, `components` numbers. */
typedef void Values(const HkContact *contact, double *value);

static void normal(const HkContact *c, double *value) {
  memcpy(value, c->normal, sizeof c->normal);
}

static void gap(const HkContact *c, double *value) {
  *value = c->gap;
}

static void normal_force(const HkContact *c, double *value) {
  *value = c->normal_force;
}

static void friction(const HkContact *c, double *value) {
  memcpy(value, c->friction, sizeof c->friction);
}

static void force(const HkContact *c, double *value) {
  for (int q = 0; q < 3; q++) value[q] = c->normal_force * c->normal[q] + c->friction[q];
}

static void weights(const HkContact *c, double *value) {
  memcpy(value, c->weight, sizeof c->weight);
}

static void point(const HkContact *c, double *value) {
  memcpy(value, c->point, sizeof c->point);
}

static void put_reals(HkVtk *w, const HkContactView *view, const char *title, int components,
                      Values *values) {
  double value[4];
  hk_vtk_begin(w, HK_VTK_FLOAT64, title, components, view->count);
  for (int64_t k = 0; k < view->count; k++) {
    values(&view->contact[k], value);
    for (int c = 0; c < components; c++) hk_vtk_put_real(w, value[c]);
  }
  hk_vtk_end(w);
}

static void put_sides(HkVtk *w, const HkContactView *view) {
  int64_t count = view->count;
  const HkContact *contact = view->contact;
  hk_vtk_begin(w, HK_VTK_INT32, "body", 1, count);
  for (int64_t k = 0; k < count; k++) hk_vtk_put_int(w, contact[k].side[0].index);
  hk_vtk_end(w);
  hk_vtk_begin(w, HK_VTK_UINT8, "other_kind", 1, count);
  for (int64_t k = 0; k < count; k++) hk_vtk_put_int(w, (int64_t)contact[k].side[1].kind);
  hk_vtk_end(w);
  hk_vtk_begin(w, HK_VTK_INT32, "other", 1, count);
  for (int64_t k = 0; k < count; k++) hk_vtk_put_int(w, contact[k].side[1].index);
  hk_vtk_end(w);
  hk_vtk_begin(w, HK_VTK_INT32, "vertices", 4, count);
  for (int64_t k = 0; k < 4 * count; k++) hk_vtk_put_int(w, contact[k / 4].vertex[k % 4]);
  hk_vtk_end(w);
  hk_vtk_begin(w, HK_VTK_UINT8, "split", 1, count);
  for (int64_t k = 0; k < count; k++) hk_vtk_put_int(w, contact[k].split);
  hk_vtk_end(w);
}

static void put_cells(HkVtk *w, int64_t count) {
  hk_stream_printf(&w->stream, "<Cells>\n");
  hk_vtk_begin(w, HK_VTK_INT64, "connectivity", 1, count);
  for (int64_t k = 0; k < count; k++) hk_vtk_put_int(w, k);
  hk_vtk_end(w);
  hk_vtk_begin(w, HK_VTK_INT64, "offsets", 1, count);
  for (int64_t k = 0; k < count; k++) hk_vtk_put_int(w, k + 1);
  hk_vtk_end(w);
  hk_vtk_begin(w, HK_VTK_UINT8, "types", 1, count);
  for (int64_t k = 0; k < count; k++) hk_vtk_put_int(w, VTK_VERTEX);
  hk_vtk_end(w);
  hk_stream_printf(&w->stream, "</Cells>\n");
}

static void put_file(HkVtk *w, const HkContactView *view, double time) {
  HkStream *s = &w->stream;
  hk_vtk_put_head(w, "UnstructuredGrid", time, view->count);
  hk_stream_printf(s, " NumberOfCells=\"%lld\">\n<PointData Vectors=\"force\">\n",
                   (long long)view->count);
  put_reals(w, view, "normal", 3, normal);
  put_reals(w, view, "gap", 1, gap);
  put_reals(w, view, "normal_force", 1, normal_force);
  put_reals(w, view, "friction", 3, friction);
  put_reals(w, view, "force", 3, force);
  put_sides(w, view);
  put_reals(w, view, "weights", 4, weights);
  hk_stream_printf(s, "</PointData>\n<Points>\n");
  put_reals(w, view, "Points", 3, point);
  hk_stream_printf(s, "</Points>\n");
  put_cells(w, view->count);
  hk_stream_printf(s, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
}

/* ---- The output ---- */

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  HK_TRY(hk_output_frames_open(o, name, error));
  HK_TRY(hk_alloc(&o->context, &o->data, 1, sizeof(HkVtk), "a VTK output", error));
  HkVtk *w = o->data;
  w->model = model;
  HK_TRY(hk_stream_create(&o->context, &w->stream, error));
  return hk_pvd_open(o, name, &w->pvd, error);
}

static HkStatus write(HkOutput *o, const HkFrame *frame, HkError *error) {
  static const HkContactView nothing = {0};
  HkVtk *w = o->data;
  char path[4096];
  HkWriter file;
  HK_TRY(hk_output_frame_path(o, name, frame->index, path, sizeof path, error));
  HK_TRY(hk_writer_open(&file, path, error));
  hk_stream_begin(&w->stream, file.file);
  put_file(w, frame->contacts ? frame->contacts : &nothing, frame->state->time);
  hk_stream_end(&w->stream);
  HK_TRY(hk_writer_commit(&file, error));
  HK_TRY(hk_output_keep(o, path, error));
  return hk_pvd_add(o, name, w->pvd, frame, error);
}

static HkStatus close(HkOutput *o, HkError *error) {
  HkVtk *w = o->data;
  if (!w) return HK_OK;
  HkStatus status = hk_pvd_close(o, name, &w->pvd, error);
  hk_stream_destroy(&o->context, &w->stream);
  hk_free(&o->context, &o->data);
  return status;
}

const HkOutputType hk_output_contacts = {
    .schema = {.name = "contacts",
               .summary =
                   "contacts.pvd and contacts/frame_000000.vtu ...: what touches, with forces",
               HK_PARAMS(Contacts, params)},
    .files = {"contacts.pvd"},
    .ending = "vtu",
    .grows = "contacts.pvd",
    .open = open,
    .write = write,
    .close = close,
};
