/* reactions.csv: reactions of pins, obstacles and ground, one row a frame.
 *
 *     frame,time,total.fx .fy .fz, and for each pin of the scene pins[0].fx .fy .fz ... (N)
 *
 * A reaction is the force R = m a - f that keeps a pinned vertex on its motion (model/pins.c); a
 * pin of several vertices gives their sum. At rest the total bears the whole weight. Released pins
 * give 0. With "each": "vertex" there are columns vertex12.fx .fy .fz for each pinned vertex
 * instead, by rising number. The total is that of the pins.
 *
 * Models with contact have for each obstacle obstacles[NAME].fx .fy .fz (N) .tx .ty .tz (N m, about
 * the origin), and the same of the ground: what it exerts on bodies (contact/record.c).
 *
 * Ranks add up the pins of the vertices that they own, and rank 0 writes; there are no columns by
 * vertex then.
 */
#include "force/force.h"
#include "model/part.h"
#include "output/output.h"

#include <string.h>

static const char *const file_name = "reactions.csv";

typedef struct Reactions {
  int every;
  int each; /* 0 pin, 1 vertex */
} Reactions;

HK_EVERY_COMES_FIRST(Reactions);

static const HkParam params[] = {
    HK_INTEGER(Reactions, every, 1, 1, 1000000000, "write each so many frames"),
    HK_CHOICE(Reactions, each, 0, "pin|vertex",
              "columns for each pin of the scene, or for each pinned vertex"),
};

typedef struct Writer {
  FILE *file;   /* of the first rank */
  double *sums; /* total, then 3 a pin of the scene */
} Writer;

static bool by_vertex(const HkOutput *o) {
  return ((const Reactions *)o->params)->each == 1;
}

static void put_titles(FILE *file, const char *before, int number, const char *after) {
  for (int c = 0; c < 3; c++) fprintf(file, ",%s%d%s.f%c", before, number, after, "xyz"[c]);
}

static void put_contact_titles(FILE *file, const HkModel *model) {
  static const char *const obstacle[] = {"].fx", "].fy", "].fz", "].tx", "].ty", "].tz"};
  for (int k = 0; k < model->obstacle_count; k++)
    for (int c = 0; c < 6; c++)
      hk_output_put_title(file, "obstacles[", model->obstacles[k].name, obstacle[c]);
  fputs(",ground.fx,ground.fy,ground.fz,ground.tx,ground.ty,ground.tz", file);
}

static HkStatus open_file(HkOutput *o, const HkModel *model, Writer *w, HkError *error) {
  HK_TRY(hk_alloc(&o->context, &w->sums, 3 * (int64_t)model->motion_count + 3, sizeof *w->sums,
                  "pins", error));
  if (!hk_output_is_first(o)) return HK_OK;
  HK_TRY(hk_output_append_open(o, file_name, &w->file, error));
  if (o->offset > 0) return HK_OK;
  fputs("frame,time,total.fx,total.fy,total.fz", w->file);
  for (int64_t p = 0; by_vertex(o) && p < model->pin_count; p++)
    put_titles(w->file, "vertex", model->pin_vertex[p], "");
  for (int p = 0; !by_vertex(o) && p < model->motion_count; p++)
    put_titles(w->file, "pins[", p, "]");
  if (hk_forces_have_contacts(model)) put_contact_titles(w->file, model);
  fputc('\n', w->file);
  return hk_output_append_flush(o, w->file, file_name, error);
}

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  Writer *w = NULL;
  if (model->part && by_vertex(o))
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the device petsc does not support the output 'reactions' with \"each\": "
                   "\"vertex\"; choose \"pin\"");
  HK_TRY(hk_alloc(&o->context, &w, 1, sizeof *w, "an output", error));
  o->data = w;
  return open_file(o, model, w, error);
}

static void put_vectors(FILE *file, const double *values, int64_t count) {
  for (int64_t q = 0; q < 3 * count; q++) fprintf(file, ",%.17g", values[q]);
}

static void put_contacts(FILE *file, const HkContactView *contacts) {
  for (int k = 0; k <= contacts->obstacle_count; k++) {
    const HkContactReaction *r =
        k < contacts->obstacle_count ? &contacts->obstacle[k] : &contacts->ground;
    put_vectors(file, r->force, 1);
    put_vectors(file, r->torque, 1);
  }
}

static void add_up(Writer *w, const HkFrame *frame) {
  const HkModel *m = frame->model;
  int64_t numbers = 3 * (int64_t)m->motion_count + 3;
  memset(w->sums, 0, (size_t)numbers * sizeof *w->sums);
  for (int64_t p = 0; p < m->pin_count; p++) {
    if (hk_model_is_ghost(m, m->pin_vertex[p])) continue;
    for (int c = 0; c < 3; c++) {
      w->sums[c] += frame->reaction[3 * p + c];
      w->sums[3 + 3 * (int64_t)m->pin_motion[p] + c] += frame->reaction[3 * p + c];
    }
  }
  if (m->part) hk_ranks_sum(m->part->ranks, w->sums, (int)numbers);
}

static HkStatus write(HkOutput *o, const HkFrame *frame, HkError *error) {
  Writer *w = o->data;
  const HkModel *model = frame->model;
  add_up(w, frame);
  if (!w->file) return HK_OK;
  fprintf(w->file, "%lld,%.17g", (long long)frame->index, frame->state->time);
  put_vectors(w->file, w->sums, 1);
  if (by_vertex(o))
    put_vectors(w->file, frame->reaction, model->pin_count);
  else
    put_vectors(w->file, w->sums + 3, model->motion_count);
  if (frame->contacts) put_contacts(w->file, frame->contacts);
  fputc('\n', w->file);
  return hk_output_append_flush(o, w->file, file_name, error);
}

static HkStatus close(HkOutput *o, HkError *error) {
  Writer *w = o->data;
  if (!w) return HK_OK;
  HkStatus status = hk_output_append_close(o, &w->file, file_name, error);
  hk_free(&o->context, &w->sums);
  hk_free(&o->context, &o->data);
  return status;
}

const HkOutputType hk_output_reactions = {
    .schema = {.name = "reactions",
               .summary = "reactions.csv: the force that holds each pin, and of each obstacle",
               .formula = "R = m a - f(x, v, t)",
               HK_PARAMS(Reactions, params)},
    .ranks = HK_OUTPUT_OF_ALL_RANKS,
    .files = {"reactions.csv"},
    .grows = "reactions.csv",
    .open = open,
    .write = write,
    .close = close,
};
