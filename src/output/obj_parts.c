/* A Wavefront OBJ file of a model in parts.
 *
 * Rank 0 writes what it receives, so that none needs memory for the whole model but one byte a
 * vertex: vertices in blocks of consecutive numbers, then the lines f and l of one rank after the
 * other, then, where they are wanted, lines l for vertices that no other line has named.
 */
#include "model/part.h"
#include "output/obj.h"

#include <string.h>

enum { BLOCK = 1 << 16 }; /* vertices */

/* A vertex on its way to rank 0. */
typedef struct Vertex {
  int64_t number;
  double x[3];
} Vertex;

typedef struct Parts {
  HkObjWriter *w;
  const HkFrame *frame;
  const HkModel *model;
  HkRanks *ranks;
  int64_t *out, *in; /* bytes to and from each rank */
  char *mine, *all;  /* what this rank sends, and what rank 0 has received */
  int64_t mine_room, all_room, all_size;
  double *block; /* rank 0: 3 a vertex of a block */
} Parts;

static bool is_first(const Parts *p) {
  return p->ranks->rank == 0;
}

/* Sends bytes of this rank to rank 0, where p->all holds those of all ranks in their order. */
static HkStatus collect(Parts *p, int64_t bytes, HkError *error) {
  HkStatus status = HK_OK;
  memset(p->out, 0, (size_t)p->ranks->count * sizeof *p->out);
  p->ranks->type->gather(p->ranks, &bytes, sizeof bytes, p->in);
  p->out[0] = bytes;
  p->all_size = 0;
  for (int r = 0; r < p->ranks->count; r++) p->all_size += p->in[r];
  if (is_first(p))
    status = hk_grow(&p->model->context, &p->all, &p->all_room, p->all_size + 1, 1, "an OBJ file",
                     error);
  else
    memset(p->in, 0, (size_t)p->ranks->count * sizeof *p->in);
  HK_TRY(hk_ranks_agree(p->ranks, status, error));
  p->ranks->type->exchange(p->ranks, p->mine, p->out, p->all, p->in);
  return HK_OK;
}

static HkStatus reserve(Parts *p, int64_t bytes, HkError *error) {
  HkStatus status =
      hk_grow(&p->model->context, &p->mine, &p->mine_room, bytes + 1, 1, "an OBJ file", error);
  return hk_ranks_agree(p->ranks, status, error);
}

/* ---- Vertices ---- */

/* Owned vertices with numbers below `end` from *at on; returns how many. */
static int64_t pack_vertices(const Parts *p, int64_t end, int64_t *at) {
  const HkPart *part = p->model->part;
  Vertex *to = (Vertex *)p->mine;
  int64_t count = 0;
  for (; *at < p->model->n && part->number[*at] < end; ++*at) {
    if (part->ghost[*at]) continue;
    Vertex v = {.number = part->number[*at]};
    memcpy(v.x, p->frame->state->x + 3 * *at, sizeof v.x);
    to[count++] = v;
  }
  return count;
}

static HkStatus put_vertices(Parts *p, HkError *error) {
  int64_t total = p->model->part->total, at = 0;
  HK_TRY(reserve(p, BLOCK * (int64_t)sizeof(Vertex), error));
  for (int64_t begin = 0; begin < total; begin += BLOCK) {
    int64_t end = begin + BLOCK < total ? begin + BLOCK : total;
    int64_t count = pack_vertices(p, end, &at);
    HK_TRY(collect(p, count * (int64_t)sizeof(Vertex), error));
    if (!is_first(p)) continue;
    for (int64_t q = 0; q < end - begin; q++) {
      const Vertex *v = (const Vertex *)p->all + q;
      memcpy(p->block + 3 * (v->number - begin), v->x, sizeof v->x);
    }
    for (int64_t q = 0; q < end - begin; q++)
      hk_obj_put_vertex(&p->w->stream, p->block + 3 * q, p->w->precise);
  }
  return HK_OK;
}

/* ---- Lines of cells: a number of corners, below 0 for l, and then the corners ---- */

static int64_t pack_line(const Parts *p, int64_t at, char mark, const int32_t *vertices,
                         int count) {
  int64_t *to = (int64_t *)p->mine;
  to[at++] = mark == 'l' ? -count : count;
  for (int c = 0; c < count; c++) to[at++] = p->model->part->number[vertices[c]];
  return at;
}

/* Rank 0: writes received lines. */
static void put_lines(Parts *p) {
  const int64_t *at = (const int64_t *)p->all, *end = at + p->all_size / (int64_t)sizeof *at;
  HkStream *s = &p->w->stream;
  while (at < end) {
    int64_t count = *at < 0 ? -*at : *at;
    hk_stream_char(s, *at < 0 ? 'l' : 'f');
    for (at++; count > 0; count--, at++) {
      hk_stream_char(s, ' ');
      hk_stream_int(s, *at + 1);
      if (p->w->used) p->w->used[*at] = 1;
    }
    hk_stream_char(s, '\n');
  }
}

static int64_t pack_cells(const Parts *p) {
  const HkDrawn *d = &p->w->drawn;
  int64_t at = 0;
  for (int64_t q = 0; q < d->count; q++) {
    HkCell cell = hk_drawn_cell(d, q);
    at = pack_line(p, at, cell.type == HK_CELL_LINE ? 'l' : 'f', cell.vertices, cell.count);
  }
  return at;
}

static int64_t pack_springs(const Parts *p) {
  const HkRuns *runs = &p->model->part->springs;
  const HkSpringArrays *springs = &p->model->springs;
  int64_t at = 0;
  for (int64_t k = 0; k < runs->count; k++)
    for (int64_t s = runs->run[k].begin; s < runs->run[k].end; s++)
      at = pack_line(p, at, 'l', (int32_t[]){springs->i[s], springs->j[s]}, 2);
  return at;
}

/* One rank after the other, so that rank 0 holds the lines of one. */
static HkStatus put_cells(Parts *p, HkError *error) {
  const HkDrawn *d = &p->w->drawn;
  bool cells = hk_model_any(p->model, d->count > 0);
  int64_t most = cells ? d->count + d->corners : 3 * p->model->springs.count;
  HK_TRY(reserve(p, most * (int64_t)sizeof(int64_t), error));
  int64_t numbers = cells ? pack_cells(p) : pack_springs(p);
  for (int r = 0; r < p->ranks->count; r++) {
    HK_TRY(collect(p, r == p->ranks->rank ? numbers * (int64_t)sizeof(int64_t) : 0, error));
    if (is_first(p)) put_lines(p);
  }
  return HK_OK;
}

/* ---- Vertices that no line has named ---- */

/* Packs a line from each unused vertex before `end` to its first neighbor along a spring, or to the
 * adjacent number if there is none. */
static int64_t pack_unused(const Parts *p, int64_t begin, int64_t end, const uint8_t *used,
                           int64_t *i) {
  const HkModel *m = p->model;
  const HkPart *part = m->part;
  int64_t *to = (int64_t *)p->mine, at = 0;
  for (; *i < m->n && part->number[*i] < end; ++*i) {
    int64_t number = part->number[*i];
    if (part->ghost[*i] || used[number - begin]) continue;
    int64_t other = number > 0 ? number - 1 : number + 1;
    if (m->springs.count > 0 && m->adj_start[*i] < m->adj_start[*i + 1])
      other = part->number[m->adj_vertex[m->adj_start[*i]]];
    if (other >= part->total) continue;
    to[at++] = -2;
    to[at++] = number;
    to[at++] = other;
  }
  return at;
}

/* The bytes of `used` were complete before; lines of this pass do not change which are written. */
static HkStatus put_unused(Parts *p, HkError *error) {
  int64_t total = p->model->part->total, at = 0;
  uint8_t used[4096];
  enum { SIZE = sizeof used };
  HK_TRY(reserve(p, 3 * SIZE * (int64_t)sizeof(int64_t), error));
  for (int64_t begin = 0; begin < total; begin += SIZE) {
    int64_t end = begin + SIZE < total ? begin + SIZE : total;
    if (is_first(p)) memcpy(used, p->w->used + begin, (size_t)(end - begin));
    p->ranks->type->broadcast(p->ranks, 0, used, (size_t)(end - begin));
    int64_t numbers = pack_unused(p, begin, end, used, &at);
    HK_TRY(collect(p, numbers * (int64_t)sizeof(int64_t), error));
    uint8_t *all = p->w->used;
    p->w->used = NULL;
    if (is_first(p)) put_lines(p);
    p->w->used = all;
  }
  return HK_OK;
}

/* ---- All together ---- */

static HkStatus create(Parts *p, HkError *error) {
  const HkContext *c = &p->model->context;
  HkStatus status = hk_alloc(c, &p->out, p->ranks->count, sizeof *p->out, "an OBJ file", error);
  if (status >= 0)
    status = hk_alloc(c, &p->in, p->ranks->count, sizeof *p->in, "an OBJ file", error);
  if (status >= 0 && is_first(p))
    status = hk_alloc(c, &p->block, BLOCK, 3 * sizeof *p->block, "an OBJ file", error);
  return hk_ranks_agree(p->ranks, status, error);
}

static void release(Parts *p) {
  const HkContext *c = &p->model->context;
  hk_free(c, &p->out);
  hk_free(c, &p->in);
  hk_free(c, &p->mine);
  hk_free(c, &p->all);
  hk_free(c, &p->block);
}

static HkStatus put_file(Parts *p, HkError *error) {
  HK_TRY(create(p, error));
  HK_TRY(put_vertices(p, error));
  HK_TRY(put_cells(p, error));
  return p->w->every_vertex ? put_unused(p, error) : HK_OK;
}

HkStatus hk_obj_write_parts(HkObjWriter *w, const HkFrame *frame, const char *path,
                            HkError *error) {
  Parts p = {.w = w, .frame = frame, .model = frame->model, .ranks = frame->model->part->ranks};
  HkWriter file = {0};
  HkStatus status = is_first(&p) ? hk_writer_open(&file, path, error) : HK_OK;
  HK_TRY(hk_ranks_agree(p.ranks, status, error));
  if (is_first(&p)) {
    hk_stream_begin(&w->stream, file.file);
    hk_obj_put_head(&w->stream, frame);
  }
  status = put_file(&p, error);
  release(&p);
  if (is_first(&p)) {
    hk_stream_end(&w->stream);
    if (status >= 0)
      status = hk_writer_commit(&file, error);
    else
      hk_writer_abandon(&file);
  }
  return hk_ranks_agree(p.ranks, status, error);
}
