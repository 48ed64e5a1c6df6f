/* mesh.obj and mesh.pc2: for Blender's Mesh Cache modifier.
 *
 * mesh.obj is the first frame. mesh.pc2 holds the positions of all frames, little endian:
 *
 *     "POINTCACHE2" 0   12 bytes
 *     1                 int32, version
 *     points            int32
 *     0, every          float32, first frame and frames from one sample to the next
 *     samples           int32, as many as there are
 *     x y z ...         float32 (m), 3 for each point, sample after sample
 *
 * The number of samples is set after each sample, so that the file is whole at any time. Both files
 * have the axes of the scene. Ranks write the positions of their vertices into one file.
 */
#include "model/part.h"
#include "output/obj.h"
#include "output/places.h"

static const char *const file_name = "mesh.pc2";

enum { HEAD = 32, SAMPLES_AT = 28 };

typedef struct Pc2 {
  int every;
} Pc2;

HK_EVERY_COMES_FIRST(Pc2);

static const HkParam params[] = {
    HK_INTEGER(Pc2, every, 1, 1, 1000000000, "write each so many frames"),
};

typedef struct Cache {
  FILE *file; /* of the first rank */
  HkObjWriter obj;
  HkPlaces places;        /* of a part */
  unsigned char *samples; /* of a part: 12 bytes an owned vertex */
} Cache;

/* Writes the number of samples before o->offset into the header, and seeks back to o->offset. */
static HkStatus put_sample_count(HkOutput *o, FILE *file, int64_t points, HkError *error) {
  unsigned char bytes[4];
  int64_t samples = points > 0 ? (o->offset - HEAD) / (12 * points) : 0;
  hk_store_le32(bytes, (uint32_t)samples);
  HK_TRY(hk_output_append_seek(o, file, file_name, SAMPLES_AT, error));
  fwrite(bytes, 1, sizeof bytes, file);
  HK_TRY(hk_output_append_seek(o, file, file_name, o->offset, error));
  return hk_output_append_flush(o, file, file_name, error);
}

static HkStatus open_cache(HkOutput *o, const HkModel *model, HkError *error) {
  const Pc2 *p = o->params;
  Cache *c = o->data;
  int64_t points = hk_model_total(model);
  HK_TRY(hk_output_append_open(o, file_name, &c->file, error));
  unsigned char head[HEAD] = "POINTCACHE2";
  hk_store_le32(head + 12, 1);
  hk_store_le32(head + 16, (uint32_t)points);
  hk_store_float(head + 20, 0);
  hk_store_float(head + 24, p->every);
  HK_TRY(hk_output_append_seek(o, c->file, file_name, 0, error));
  fwrite(head, 1, sizeof head, c->file);
  if (o->offset > 0) return put_sample_count(o, c->file, points, error);
  return hk_output_append_flush(o, c->file, file_name, error);
}

static HkStatus open_places(const HkModel *m, Cache *c, HkError *error) {
  if (!m->part) return HK_OK;
  HK_TRY(hk_places_create(m, false, &c->places, error));
  HkStatus status =
      hk_alloc(&m->context, &c->samples, m->part->owned + 1, 12, "a PC2 output", error);
  return hk_model_agree(m, status, error);
}

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  HkStatus status = hk_alloc(&o->context, &o->data, 1, sizeof(Cache), "a PC2 output", error);
  HK_TRY(hk_model_agree(model, status, error));
  Cache *c = o->data;
  c->obj.drawn.model = model;
  HK_TRY(hk_obj_create(&o->context, model, false, true, &c->obj, error));
  HK_TRY(open_places(model, c, error));
  return hk_output_is_first(o) ? open_cache(o, model, error) : HK_OK;
}

static HkStatus write_mesh(HkOutput *o, const HkFrame *frame, HkError *error) {
  Cache *c = o->data;
  char path[4096];
  HK_TRY(hk_output_path(o, "mesh.obj", path, sizeof path, error));
  HK_TRY(hk_obj_write(&c->obj, frame, path, error));
  return hk_output_is_first(o) ? hk_output_keep(o, path, error) : HK_OK;
}

/* All ranks: writes a sample at o->offset of the first rank, behind what it has flushed. */
static HkStatus write_sample(HkOutput *o, const HkFrame *frame, int64_t offset, HkError *error) {
  const HkModel *m = frame->model;
  HkRanks *ranks = m->part->ranks;
  Cache *c = o->data;
  HkRanksFile *file = NULL;
  char path[4096];
  unsigned char *at = c->samples;
  for (int64_t q = 0; q < m->n; q++)
    for (int k = 0; k < 3 && !m->part->ghost[q]; k++, at += 4)
      hk_store_float(at, frame->state->x[3 * q + k]);
  HK_TRY(hk_output_path(o, file_name, path, sizeof path, error));
  HK_TRY(hk_places_reserve(m, path, offset + 12 * m->part->total, error));
  HK_TRY(ranks->type->file_open(ranks, path, true, &file, error));
  HkStatus status = hk_places_write(m, &c->places, file, offset, 12, c->samples, error);
  HkError inner = {0};
  HkStatus closed = ranks->type->file_close(&file, &inner);
  if (status < 0 || closed >= 0) return status;
  if (error) *error = inner;
  return closed;
}

static HkStatus write_together(HkOutput *o, const HkFrame *frame, HkError *error) {
  HkRanks *ranks = frame->model->part->ranks;
  Cache *c = o->data;
  int64_t offset = o->offset;
  ranks->type->broadcast(ranks, 0, &offset, sizeof offset);
  if (offset == HEAD) HK_TRY(write_mesh(o, frame, error));
  HK_TRY(write_sample(o, frame, offset, error));
  if (!hk_output_is_first(o)) return HK_OK;
  int64_t points = frame->model->part->total;
  HK_TRY(hk_output_append_seek(o, c->file, file_name, offset + 12 * points, error));
  HK_TRY(hk_output_append_flush(o, c->file, file_name, error));
  return put_sample_count(o, c->file, points, error);
}

static HkStatus write(HkOutput *o, const HkFrame *frame, HkError *error) {
  Cache *c = o->data;
  if (frame->model->part) return write_together(o, frame, error);
  if (o->offset == HEAD) HK_TRY(write_mesh(o, frame, error));
  HkStream *s = &c->obj.stream;
  hk_stream_begin(s, c->file);
  for (int64_t q = 0; q < frame->model->n; q++) {
    unsigned char *at = (unsigned char *)hk_stream_reserve(s, 12);
    for (int k = 0; k < 3; k++) hk_store_float(at + 4 * k, frame->state->x[3 * q + k]);
    s->used += 12;
  }
  hk_stream_end(s);
  HK_TRY(hk_output_append_flush(o, c->file, file_name, error));
  return put_sample_count(o, c->file, frame->model->n, error);
}

static unsigned singles(const HkOutput *o) {
  (void)o;
  return HK_QUANTITY_POSITION;
}

static HkStatus close(HkOutput *o, HkError *error) {
  Cache *c = o->data;
  if (!c) return HK_OK;
  HkStatus status = hk_output_append_close(o, &c->file, file_name, error);
  hk_places_destroy(c->obj.drawn.model, &c->places);
  hk_free(&o->context, &c->samples);
  hk_obj_destroy(&o->context, &c->obj);
  hk_free(&o->context, &o->data);
  return status;
}

const HkOutputType hk_output_pc2 = {
    .schema = {.name = "pc2",
               .summary = "mesh.obj and mesh.pc2: for Blender's Mesh Cache modifier",
               HK_PARAMS(Pc2, params)},
    .ranks = HK_OUTPUT_OF_ALL_RANKS,
    .files = {"mesh.obj", "mesh.pc2"},
    .grows = "mesh.pc2",
    .head = HEAD,
    .singles = singles,
    .open = open,
    .write = write,
    .close = close,
};
