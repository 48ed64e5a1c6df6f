/* Positions and velocities in single precision; see single.h. */
#include "step/single.h"

HK_KERNEL_TABLE(HkSingleKernels, hk_single_kernels)

/* Mass of padding vertices: above 0, with negligible energy. */
static const float PADDING_MASS = 1e-30f;

void hk_single_load_masses(HkSingle *s, const HkModel *m) {
  for (int64_t i = 0; i < s->size; i++) s->mass[i] = i < m->n ? (float)m->mass[i] : PADDING_MASS;
  s->masses_version = m->masses_version;
}

static HkStatus allocate(const HkModel *m, bool half, HkSingle *s, HkError *error) {
  const HkContext *c = &m->context;
  float **vectors[] = {&s->x, &s->v, m->springs.damping ? &s->next : NULL, half ? &s->half : NULL};
  int64_t floats = s->size * (s->planes ? 3 : 4);
  for (int k = 0; k < 4; k++) {
    if (!vectors[k]) continue;
    HK_TRY(hk_alloc_aligned(c, &s->blocks[k], vectors[k], floats, sizeof(float), "single precision",
                            error));
    s->bytes += hk_aligned_bytes(floats, sizeof(float));
  }
  HK_TRY(hk_alloc_aligned(c, &s->blocks[4], &s->mass, s->size, sizeof(float), "single precision",
                          error));
  s->bytes += sizeof *s + s->rows->bytes + hk_aligned_bytes(s->size, sizeof(float));
  hk_single_load_masses(s, m);
  return HK_OK;
}

HkStatus hk_single_create(const HkModel *m, HkIsa isa, bool half, HkSingle **single,
                          HkError *error) {
  HK_TRY(hk_alloc(&m->context, single, 1, sizeof **single, "single precision", error));
  HkSingle *s = *single;
  s->kernels = hk_single_kernels_of(isa);
  HkStatus status = hk_spring_rows_create_single(m, &s->rows, error);
  if (status >= 0) {
    s->size = s->rows->groups * HK_ROW_GROUP_SINGLE;
    s->planes = s->rows->unit == 1;
    hk_model_origin(m, s->origin);
    status = allocate(m, half, s, error);
  }
  if (status < 0) hk_single_destroy(m, single);
  return status;
}

void hk_single_destroy(const HkModel *m, HkSingle **single) {
  HkSingle *s = *single;
  if (!s) return;
  for (int k = 0; k < 5; k++) hk_free(&m->context, &s->blocks[k]);
  hk_spring_rows_destroy(m, &s->rows);
  hk_free(&m->context, single);
}

/* ---- Copies between states and floats ---- */

typedef struct Copy {
  const HkSingle *single;
  const HkModel *model;
  const double *from_x, *from_v;
  double *x, *v;
  const HkState *state;
} Copy;

static void load_vertex(const HkSingle *s, int64_t i, const double *x, const double *v) {
  for (int c = 0; c < 3; c++) {
    s->x[hk_single_at(s, i, c)] = (float)(x[3 * i + c] - s->origin[c]);
    s->v[hk_single_at(s, i, c)] = (float)v[3 * i + c];
  }
}

static void load_range(void *user, int64_t begin, int64_t end) {
  const Copy *p = user;
  for (int64_t i = begin; i < end; i++) load_vertex(p->single, i, p->from_x, p->from_v);
}

void hk_single_load(const HkSingle *single, const HkModel *m, const HkState *state) {
  Copy p = {.single = single, .model = m, .from_x = state->x, .from_v = state->v};
  hk_parallel_for(m->threads, m->n, load_range, &p);
}

void hk_single_load_pins(const HkSingle *single, const HkModel *m, const HkState *state) {
  for (int64_t p = 0; p < m->pin_count; p++)
    if (state->pin_held[p]) load_vertex(single, m->pin_vertex[p], state->x, state->v);
}

/* Stores the vertices begin .. end - 1, none of which is held by a pin. */
static void store_between(const Copy *p, int64_t begin, int64_t end) {
  const HkSingle *s = p->single;
  for (int64_t i = begin; i < end; i++)
    for (int c = 0; c < 3; c++) {
      p->x[3 * i + c] = (double)s->x[hk_single_at(s, i, c)] + s->origin[c];
      p->v[3 * i + c] = s->v[hk_single_at(s, i, c)];
    }
}

static void store_range(void *user, int64_t begin, int64_t end) {
  const Copy *p = user;
  const HkModel *m = p->model;
  for (int64_t pin = hk_model_first_pin(m, begin); pin < m->pin_count; pin++) {
    int64_t vertex = m->pin_vertex[pin];
    if (vertex >= end) break;
    if (!p->state->pin_held[pin]) continue;
    store_between(p, begin, vertex);
    begin = vertex + 1;
  }
  store_between(p, begin, end);
}

void hk_single_store(const HkSingle *single, const HkModel *m, HkState *state) {
  Copy p = {.single = single, .model = m, .x = state->x, .v = state->v, .state = state};
  hk_parallel_for(m->threads, m->n, store_range, &p);
}

static void half_range(void *user, int64_t begin, int64_t end) {
  const Copy *p = user;
  for (int64_t i = begin; i < end; i++)
    for (int c = 0; c < 3; c++) p->v[3 * i + c] = p->single->half[hk_single_at(p->single, i, c)];
}

void hk_single_store_half(const HkSingle *single, const HkModel *m, double *half) {
  Copy p = {.single = single, .v = half};
  hk_parallel_for(m->threads, m->n, half_range, &p);
}
