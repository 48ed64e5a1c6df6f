/* obj/frame_000000.obj ...: each frame as a Wavefront OBJ file.
 *
 *     v x y z      position (m), nine digits, or 17 if precise
 *     f a b c ...  face; vertices count from 1, in the order of the model; no face with a broken
 *                  spring along an edge
 *     l a b        line of the mesh; every spring if the model has neither faces nor lines
 *
 * A solid is drawn by the faces of its mesh, or by its boundary triangles if it has none. On ranks
 * the lines f and l come rank by rank (obj_parts.c).
 */
#include "output/obj.h"

#include "model/part.h"

static const char *const name = "obj";

typedef struct Obj {
  int every;
  bool precise;
} Obj;

HK_EVERY_COMES_FIRST(Obj);

static const HkParam params[] = {
    HK_INTEGER(Obj, every, 1, 1, 1000000000, "write each so many frames"),
    HK_BOOLEAN(Obj, precise, 0, "17 digits, which give back the very bits, instead of 9"),
};

static HkStatus find_used(const HkContext *context, const HkModel *model, HkObjWriter *w,
                          HkError *error) {
  HK_TRY(hk_alloc(context, &w->used, hk_model_total(model), 1, "vertices of an OBJ file", error));
  if (model->part) return HK_OK; /* it is filled while lines are written */
  for (int64_t q = 0; q < w->drawn.count; q++) {
    HkCell cell = hk_drawn_cell(&w->drawn, q);
    for (int c = 0; c < cell.count; c++) w->used[cell.vertices[c]] = 1;
  }
  for (int64_t s = 0; s < model->springs.count && w->drawn.count == 0; s++)
    w->used[model->springs.i[s]] = w->used[model->springs.j[s]] = 1;
  return HK_OK;
}

HkStatus hk_obj_create(const HkContext *context, const HkModel *model, bool precise,
                       bool every_vertex, HkObjWriter *w, HkError *error) {
  *w = (HkObjWriter){.precise = precise, .every_vertex = every_vertex};
  HK_TRY(hk_drawn_create(context, model, HK_DRAW_LINES | HK_DRAW_FACES | HK_DRAW_BOUNDARY,
                         &w->drawn, error));
  HkStatus status = hk_stream_create(context, &w->stream, error);
  bool first = !model->part || model->part->ranks->rank == 0;
  if (status >= 0 && every_vertex && first) status = find_used(context, model, w, error);
  return hk_model_agree(model, status, error);
}

void hk_obj_destroy(const HkContext *context, HkObjWriter *w) {
  if (w->drawn.model) {
    hk_edge_springs_destroy(&w->drawn.model->context, &w->edges);
    hk_torn_destroy(&w->drawn.model->context, &w->torn);
  }
  hk_drawn_destroy(context, &w->drawn);
  hk_stream_destroy(context, &w->stream);
  hk_free(context, &w->used);
}

void hk_obj_put_head(HkStream *s, const HkFrame *frame) {
  hk_stream_printf(s, "# Hooke %s, frame %lld, time %.17g s\n", HK_VERSION, (long long)frame->index,
                   frame->state->time);
}

void hk_obj_put_vertex(HkStream *s, const double x[3], bool precise) {
  hk_stream_char(s, 'v');
  for (int c = 0; c < 3; c++) {
    hk_stream_char(s, ' ');
    hk_stream_double(s, x[c], precise);
  }
  hk_stream_char(s, '\n');
}

/* Writes one f or l line. */
static void put_element(HkStream *s, char mark, const int32_t *vertices, int count) {
  hk_stream_char(s, mark);
  for (int c = 0; c < count; c++) {
    hk_stream_char(s, ' ');
    hk_stream_int(s, (int64_t)vertices[c] + 1);
  }
  hk_stream_char(s, '\n');
}

/* drawn: the cells of the frame; broken: 1 a spring, or NULL. */
static void put_elements(HkObjWriter *w, const HkDrawn *drawn, const uint8_t *broken) {
  const HkModel *m = w->drawn.model;
  for (int64_t q = 0; q < drawn->count; q++) {
    HkCell cell = hk_drawn_cell(drawn, q);
    put_element(&w->stream, cell.type == HK_CELL_LINE ? 'l' : 'f', cell.vertices, cell.count);
  }
  for (int64_t s = 0; s < m->springs.count && w->drawn.count == 0; s++)
    if (!broken || !broken[s])
      put_element(&w->stream, 'l', (int32_t[]){m->springs.i[s], m->springs.j[s]}, 2);
  for (int64_t q = 0; q < m->n && w->used; q++) {
    if (w->used[q]) continue;
    /* The line goes to the first neighbor along a spring, or to the adjacent vertex number if there
     * is none. */
    int32_t other = (int32_t)(q > 0 ? q - 1 : q + 1);
    if (m->springs.count > 0 && m->adj_start[q] < m->adj_start[q + 1])
      other = m->adj_vertex[m->adj_start[q]];
    if (other < m->n) put_element(&w->stream, 'l', (int32_t[]){(int32_t)q, other}, 2);
  }
}

static HkStatus tear(HkObjWriter *w, const uint8_t *broken, HkError *error) {
  const HkContext *c = &w->drawn.model->context;
  if (!w->edges.start) HK_TRY(hk_edge_springs_create(c, &w->drawn, &w->edges, error));
  return hk_torn_update(c, &w->drawn, &w->edges, broken, &w->torn, error);
}

HkStatus hk_obj_write(HkObjWriter *w, const HkFrame *frame, const char *path, HkError *error) {
  HkWriter file;
  if (frame->model->part) return hk_obj_write_parts(w, frame, path, error);
  /* The mesh of a cache with every vertex stays whole. */
  const uint8_t *broken = w->every_vertex ? NULL : frame->state->springs.broken;
  if (broken) HK_TRY(tear(w, broken, error));
  HK_TRY(hk_writer_open(&file, path, error));
  hk_stream_begin(&w->stream, file.file);
  hk_obj_put_head(&w->stream, frame);
  for (int64_t q = 0; q < frame->model->n; q++)
    hk_obj_put_vertex(&w->stream, frame->state->x + 3 * q, w->precise);
  put_elements(w, broken ? &w->torn.drawn : &w->drawn, broken);
  hk_stream_end(&w->stream);
  return hk_writer_commit(&file, error);
}

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  const Obj *p = o->params;
  HkStatus status = hk_output_is_first(o) ? hk_output_frames_open(o, name, error) : HK_OK;
  if (status >= 0)
    status = hk_alloc(&o->context, &o->data, 1, sizeof(HkObjWriter), "an OBJ output", error);
  HK_TRY(hk_model_agree(model, status, error));
  return hk_obj_create(&o->context, model, p->precise, false, o->data, error);
}

static HkStatus write(HkOutput *o, const HkFrame *frame, HkError *error) {
  char path[4096];
  HK_TRY(hk_output_frame_path(o, name, frame->index, path, sizeof path, error));
  HK_TRY(hk_obj_write(o->data, frame, path, error));
  return hk_output_is_first(o) ? hk_output_keep(o, path, error) : HK_OK;
}

static HkStatus close(HkOutput *o, HkError *error) {
  (void)error;
  if (o->data) hk_obj_destroy(&o->context, o->data);
  hk_free(&o->context, &o->data);
  return HK_OK;
}

const HkOutputType hk_output_obj = {
    .schema = {.name = "obj",
               .summary = "obj/frame_000000.obj ...: each frame as a Wavefront OBJ file",
               HK_PARAMS(Obj, params)},
    .ranks = HK_OUTPUT_OF_ALL_RANKS,
    .open = open,
    .write = write,
    .close = close,
};
