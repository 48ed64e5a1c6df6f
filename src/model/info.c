/* Counts, ranges and arrays of a model, for callers. */
#include "base/isa.h"
#include "model/part.h"
#include "model/state.h"

#include <string.h>

/* Ranges of a model, each as its largest value and that of the negative values, so that all of them
 * are reduced over ranks at once; -INFINITY: there is no value. */
enum { RANGE_MASS, RANGE_K, RANGE_LENGTH, RANGE_BOX, RANGES = RANGE_BOX + 3 };

static void widen(double value, double range[2]) {
  if (-value > range[0]) range[0] = -value;
  if (value > range[1]) range[1] = value;
}

static void take_range(const double range[2], double *min, double *max) {
  if (range[0] == -INFINITY) return;
  *min = -range[0];
  *max = range[1];
}

/* Sets the counts of what this rank owns, or of the whole model without ranks. */
static void count_owned(const HkModel *m, HkModelInfo *info) {
  const int32_t *i = m->springs.i;
  if (!m->part) {
    info->vertices = m->n;
    info->springs = m->springs.count;
    info->faces = m->face_count;
    info->pinned = m->pin_count;
    return;
  }
  info->vertices = m->part->owned;
  for (int64_t s = 0; s < m->springs.count; s++) info->springs += !hk_model_is_ghost(m, i[s]);
  for (int64_t f = 0; f < m->face_count; f++) info->faces += !hk_model_is_ghost(m, m->face[3 * f]);
  for (int64_t p = 0; p < m->pin_count; p++)
    info->pinned += !hk_model_is_ghost(m, m->pin_vertex[p]);
}

static void find_ranges(const HkModel *m, double range[RANGES][2]) {
  for (int k = 0; k < RANGES; k++) range[k][0] = range[k][1] = -INFINITY;
  for (int64_t i = 0; i < m->n; i++) {
    widen(m->mass[i], range[RANGE_MASS]);
    for (int c = 0; c < 3; c++) widen(m->x0[3 * i + c], range[RANGE_BOX + c]);
  }
  for (int64_t s = 0; s < m->springs.count; s++) {
    widen(m->springs.k[s], range[RANGE_K]);
    widen(m->springs.l0[s], range[RANGE_LENGTH]);
  }
}

HkModelInfo hk_model_info(const HkModel *m) {
  HkIsa isa = HK_ISA_PORTABLE;
  hk_isa_pick(&isa, NULL);
  HkModelInfo info = {.bodies = m->body_count,
                      .dimension = m->dimension,
                      .mass = m->total_mass,
                      .bytes = hk_model_bytes(m),
                      .threads = m->threads,
                      .vectors = hk_isa_name(isa)};
  double range[RANGES][2];
  count_owned(m, &info);
  find_ranges(m, range);
  if (m->part) {
    int64_t counts[] = {info.vertices, info.springs, info.faces, info.pinned};
    hk_ranks_sum_int64(m->part->ranks, counts, 4);
    hk_ranks_most(m->part->ranks, range[0], 2 * RANGES);
    info.vertices = counts[0];
    info.springs = counts[1];
    info.faces = counts[2];
    info.pinned = counts[3];
  }
  take_range(range[RANGE_MASS], &info.mass_min, &info.mass_max);
  take_range(range[RANGE_K], &info.k_min, &info.k_max);
  take_range(range[RANGE_LENGTH], &info.length_min, &info.length_max);
  for (int c = 0; c < 3; c++) take_range(range[RANGE_BOX + c], &info.box_min[c], &info.box_max[c]);
  info.state_bytes = sizeof(HkState) + 2 * hk_vector_bytes(m->n) + (size_t)m->pin_count;
  return info;
}

const char *hk_model_body(const HkModel *m, int index, int64_t *first, int64_t *count) {
  if (index < 0 || index >= m->body_count) return NULL;
  const HkBodyRange *body = &m->bodies[index];
  if (first) *first = body->first;
  if (count) *count = body->count;
  return body->name;
}

const char *hk_model_obstacle(const HkModel *m, int index) {
  return index >= 0 && index < m->obstacle_count ? m->obstacles[index].name : NULL;
}

const char *hk_model_set_name(const HkModel *m, int body, int index, int64_t *count) {
  if (body < 0 || body >= m->body_count) return NULL;
  const char *name = hk_mesh_set_name(m->bodies[body].names, index);
  if (name) hk_mesh_set(m->bodies[body].names, name, count);
  return name;
}

HkSpringView hk_model_springs(const HkModel *m) {
  return (HkSpringView){m->springs.count, m->springs.i,       m->springs.j,
                        m->springs.k,     m->springs.l0,      m->springs.damping,
                        m->springs.kind,  m->springs.tension, NULL};
}

const HkMethod *hk_model_method(const HkModel *m) {
  return &m->step;
}

const char *hk_model_probe(const HkModel *m, int index, const int32_t **vertices, int64_t *count) {
  *vertices = NULL;
  *count = 0;
  if (index < 0 || index >= m->probe_count) return NULL;
  *vertices = m->probes[index].vertices;
  *count = m->probes[index].count;
  return m->probes[index].name;
}

const double *hk_model_masses(const HkModel *m) {
  return m->mass;
}

const int32_t *hk_model_faces(const HkModel *m, int64_t *count) {
  *count = m->face_count;
  return m->face;
}

/* ---- Origin of positions in single precision ---- */

/* Distance from the origin, in sizes of the model, from which positions are relative to its center.
 */
static const double MIN_DISTANCE_TO_SIZE = 4;

enum { BOX_PIECES = 64 };

/* The box of the vertices of each piece, m. */
typedef struct Boxes {
  const HkModel *model;
  double low[BOX_PIECES][3], high[BOX_PIECES][3];
} Boxes;

static void box_range(void *user, int64_t begin, int64_t end) {
  Boxes *b = user;
  const double *x = b->model->x0;
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t first = b->model->n * piece / BOX_PIECES, last = b->model->n * (piece + 1) / BOX_PIECES;
    for (int c = 0; c < 3; c++) b->low[piece][c] = b->high[piece][c] = x[c];
    for (int64_t i = first; i < last; i++)
      for (int c = 0; c < 3; c++) {
        double at = x[3 * i + c];
        b->low[piece][c] = at < b->low[piece][c] ? at : b->low[piece][c];
        b->high[piece][c] = at > b->high[piece][c] ? at : b->high[piece][c];
      }
  }
}

void hk_model_origin(const HkModel *m, double origin[3]) {
  Boxes b = {.model = m};
  double middle[3], size = 0;
  hk_parallel_work(m->n < HK_PARALLEL_MIN_ENTRIES ? 1 : m->threads, BOX_PIECES, 1, box_range, &b);
  for (int c = 0; c < 3; c++) {
    double low = b.low[0][c], high = b.high[0][c];
    for (int piece = 1; piece < BOX_PIECES; piece++) {
      low = fmin(low, b.low[piece][c]);
      high = fmax(high, b.high[piece][c]);
    }
    middle[c] = low + 0.5 * (high - low);
    size = fmax(size, high - low);
  }
  for (int c = 0; c < 3; c++)
    origin[c] = fabs(middle[c]) > MIN_DISTANCE_TO_SIZE * size ? middle[c] : 0;
}
