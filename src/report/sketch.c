/* What of a model is drawn in a report; see sketch.h. */
#include "report/sketch.h"

#include "base/file.h"

#include <string.h>

/* ---- Vertices ---- */

/* Marks the vertices of faces, and all of bodies that have none; returns how many. */
static int64_t mark_surface(const HkModel *m, uint8_t *mark) {
  int64_t count = 0;
  for (int64_t q = 0; q < 3 * m->face_count; q++) mark[m->face[q]] = 1;
  for (int64_t b = 0; b < m->body_count; b++) {
    uint8_t *first = mark + m->bodies[b].first;
    if (!memchr(first, 1, (size_t)m->bodies[b].count)) memset(first, 1, (size_t)m->bodies[b].count);
  }
  for (int64_t q = 0; q < m->n; q++) count += mark[q];
  return count;
}

typedef struct Draft {
  const HkContext *context;
  const HkModel *model;
  HkSketch *sketch;
  int32_t *map;     /* drawn number of each vertex of the model, -1: not drawn; NULL: all are */
  int64_t capacity; /* faces or springs that fit */
  int64_t stride;   /* each so many of them are taken */
  int64_t seen;
  uint64_t *key; /* hash table of what is there already, 0: free; NULL where nothing comes twice */
  int64_t slots; /* a power of two */
} Draft;

/* Draws all vertices. */
static HkStatus draw_all(Draft *d, HkError *error) {
  HkSketch *s = d->sketch;
  s->n = d->model->n;
  HK_TRY(hk_alloc(d->context, &s->vertex, s->n, sizeof *s->vertex, "a report", error));
  for (int64_t q = 0; q < s->n; q++) s->vertex[q] = (int32_t)q;
  return HK_OK;
}

static HkStatus draw_marked(Draft *d, const uint8_t *mark, int64_t count, HkError *error) {
  HkSketch *s = d->sketch;
  s->way = HK_SKETCH_SURFACE;
  HK_TRY(hk_alloc(d->context, &s->vertex, count, sizeof *s->vertex, "a report", error));
  for (int64_t q = 0; q < d->model->n; q++) {
    d->map[q] = mark[q] ? (int32_t)s->n : -1;
    if (mark[q]) s->vertex[s->n++] = (int32_t)q;
  }
  return HK_OK;
}

static HkStatus draw_cells(Draft *d, const uint8_t *mark, int64_t most, HkError *error) {
  HkSketch *s = d->sketch;
  s->way = HK_SKETCH_CELLS;
  HK_TRY(hk_cells_find(d->context, d->model, mark, most, d->map, &s->n, error));
  HK_TRY(hk_alloc(d->context, &s->vertex, s->n, sizeof *s->vertex, "a report", error));
  return hk_cells_stand_ins(d->context, d->model, d->map, s->n, s->vertex, error);
}

static HkStatus draw_vertices(Draft *d, int64_t most, HkError *error) {
  const HkModel *m = d->model;
  uint8_t *mark = NULL;
  if (m->n <= most) return draw_all(d, error);
  HK_TRY(hk_alloc(d->context, &d->map, m->n, sizeof *d->map, "a report", error));
  HK_TRY(hk_alloc(d->context, &mark, m->n, 1, "a report", error));
  int64_t count = mark_surface(m, mark);
  HkStatus status =
      count <= most ? draw_marked(d, mark, count, error) : draw_cells(d, mark, most, error);
  hk_free(d->context, &mark);
  return status;
}

static int32_t drawn(const Draft *d, int32_t vertex) {
  return d->map ? d->map[vertex] : vertex;
}

/* ---- Faces and springs ---- */

/* Sets the capacity and the stride with which `count` candidates are taken. */
static HkStatus start_taking(Draft *d, int64_t capacity, int64_t count, HkError *error) {
  bool merged = d->sketch->way == HK_SKETCH_CELLS; /* then most candidates fall together */
  d->capacity = capacity < count ? capacity : count;
  d->stride = merged || d->capacity == 0 ? 1 : (count + d->capacity - 1) / d->capacity;
  d->seen = 0;
  if (!merged) return HK_OK;
  hk_free(d->context, &d->key);
  for (d->slots = 16; d->slots < 2 * (d->capacity + 1); d->slots *= 2) continue;
  return hk_alloc(d->context, &d->key, d->slots, sizeof *d->key, "a report", error);
}

/* Returns whether the face or spring of these drawn vertices, which are sorted, is new. */
static bool takes(Draft *d, const int32_t *v, int count, int64_t there) {
  for (int q = 0; q < count; q++)
    if (v[q] < 0 || (q > 0 && v[q] == v[q - 1])) return false;
  if (there >= d->capacity) return false;
  if (!d->key) return d->seen++ % d->stride == 0;
  uint64_t key = hk_hash(HK_HASH_START, v, (size_t)count * sizeof *v);
  if (key == 0) key = 1;
  uint64_t slot = key & (uint64_t)(d->slots - 1);
  while (d->key[slot] && d->key[slot] != key) slot = (slot + 1) & (uint64_t)(d->slots - 1);
  bool fresh = !d->key[slot];
  d->key[slot] = key;
  return fresh;
}

static void swap_to_rise(int32_t *a, int32_t *b) {
  int32_t smaller = *a < *b ? *a : *b, larger = *a < *b ? *b : *a;
  *a = smaller;
  *b = larger;
}

static HkStatus draw_faces(Draft *d, int64_t bytes, HkError *error) {
  const HkModel *m = d->model;
  HkSketch *s = d->sketch;
  HK_TRY(start_taking(d, bytes / 12, m->face_count, error));
  HK_TRY(hk_alloc(d->context, &s->face, 3 * d->capacity, sizeof *s->face, "a report", error));
  for (int64_t f = 0; f < m->face_count; f++) {
    int32_t v[3], rising[3];
    for (int c = 0; c < 3; c++) v[c] = rising[c] = drawn(d, m->face[3 * f + c]);
    swap_to_rise(&rising[0], &rising[1]);
    swap_to_rise(&rising[1], &rising[2]);
    swap_to_rise(&rising[0], &rising[1]);
    if (takes(d, rising, 3, s->face_count)) memcpy(s->face + 3 * s->face_count++, v, sizeof v);
  }
  return HK_OK;
}

/* Edges of cells show the shape best, bending springs least, so they come first and last. */
static HkStatus draw_springs(Draft *d, int64_t bytes, HkError *error) {
  static const int order[HK_SPRING_KINDS] = {HK_SPRING_EDGE, HK_SPRING_LISTED, HK_SPRING_SHEAR,
                                             HK_SPRING_BENDING};
  const HkModel *m = d->model;
  HkSketch *s = d->sketch;
  HK_TRY(start_taking(d, bytes / 8, m->springs.count, error));
  HK_TRY(hk_alloc(d->context, &s->spring, 2 * d->capacity, sizeof *s->spring, "a report", error));
  for (int k = 0; k < HK_SPRING_KINDS; k++)
    for (int64_t q = 0; q < m->springs.count; q++) {
      int kind = m->springs.kind ? m->springs.kind[q] : HK_SPRING_EDGE;
      if (kind != order[k]) continue;
      int32_t v[2] = {drawn(d, m->springs.i[q]), drawn(d, m->springs.j[q])};
      swap_to_rise(&v[0], &v[1]);
      if (!takes(d, v, 2, s->spring_count)) continue;
      memcpy(s->spring + 2 * s->spring_count++, v, sizeof v);
      s->kinds[kind]++;
    }
  return HK_OK;
}

static HkStatus draw_pins(Draft *d, HkError *error) {
  const HkModel *m = d->model;
  HkSketch *s = d->sketch;
  int64_t most = m->pin_count < s->n ? m->pin_count : s->n;
  HK_TRY(hk_alloc(d->context, &s->pin, most, sizeof *s->pin, "a report", error));
  HK_TRY(hk_alloc(d->context, &s->release, most, sizeof *s->release, "a report", error));
  for (int64_t q = 0; q < m->pin_count; q++) {
    int32_t v = drawn(d, m->pin_vertex[q]);
    if (v < 0 || s->vertex[v] != m->pin_vertex[q]) continue;
    s->pin[s->pin_count] = v;
    s->release[s->pin_count++] = m->motions[m->pin_motion[q]].release;
  }
  return HK_OK;
}

/* ---- The whole sketch ---- */

static HkStatus draw(Draft *d, int64_t vertices, int64_t bytes, HkError *error) {
  HK_TRY(draw_vertices(d, vertices, error));
  HK_TRY(draw_faces(d, bytes / 4 * 3, error));
  HK_TRY(draw_springs(d, bytes - 12 * d->sketch->face_count, error));
  return draw_pins(d, error);
}

HkStatus hk_sketch_create(const HkContext *context, const HkModel *model, int64_t vertices,
                          int64_t bytes, HkSketch *sketch, HkError *error) {
  Draft d = {.context = context, .model = model, .sketch = sketch};
  *sketch = (HkSketch){0};
  HkStatus status = draw(&d, vertices, bytes, error);
  hk_free(context, &d.map);
  hk_free(context, &d.key);
  if (status < 0) hk_sketch_destroy(context, sketch);
  return status;
}

void hk_sketch_destroy(const HkContext *context, HkSketch *sketch) {
  hk_free(context, &sketch->vertex);
  hk_free(context, &sketch->face);
  hk_free(context, &sketch->spring);
  hk_free(context, &sketch->pin);
  hk_free(context, &sketch->release);
  *sketch = (HkSketch){0};
}
