/* Encoding of the springs' parameters: see layout.h.
 *
 * Rest lengths that are computed from the coordinates of a mesh differ in their last digits where
 * they are meant to be equal: parameters with a relative difference of at most PARAMETER_TOLERANCE
 * count as equal. */
#include "backend/gpu/layout.h"

static const double PARAMETER_TOLERANCE = 1e-9;

static inline bool is_alike(double a, double b) {
  double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
  return fabs(a - b) <= PARAMETER_TOLERANCE * size;
}

static HkGpuSpringType spring_type_of(const HkModel *m, int64_t s) {
  return (HkGpuSpringType){.k = m->springs.k[s],
                           .l0 = m->springs.l0[s],
                           .c = m->springs.damping ? m->springs.damping[s] : 0,
                           .least =
                               m->springs.tension && m->springs.tension[s] ? m->springs.l0[s] : -1};
}

static inline bool is_same(const HkGpuSpringType *a, const HkGpuSpringType *b) {
  return is_alike(a->k, b->k) && is_alike(a->l0, b->l0) && is_alike(a->c, b->c) &&
         (a->least < 0) == (b->least < 0);
}

static inline bool is_identical(const HkGpuSpringType *a, const HkGpuSpringType *b) {
  return a->l0 == b->l0 && a->k == b->k && a->c == b->c && a->least == b->least;
}

/* Returns the palette index of a spring type, at least 1; 0 if the palette does not contain it. An
 * entry differs from all entries before it, so that an identical one is the first that is the same.
 */
static int find(const HkGpuLayout *layout, const HkGpuSpringType *type) {
  for (int q = 1; q < layout->palette_count; q++)
    if (is_identical(&layout->palette[q], type)) return q;
  for (int q = 1; q < layout->palette_count; q++)
    if (is_same(&layout->palette[q], type)) return q;
  return 0;
}

int hk_gpu_palette_index(const HkGpuLayout *layout, const HkModel *model, int64_t spring) {
  HkGpuSpringType type = spring_type_of(model, spring);
  return find(layout, &type);
}

/* ---- Loops over all springs ---- */

enum { PIECES = 64 };

/* Springs in pieces; next: the first spring of each piece that has not been accepted. */
typedef struct Springs Springs;
struct Springs {
  const HkModel *model;
  const HkGpuLayout *layout;
  bool (*accept)(const Springs *springs, int64_t spring);
  int64_t next[PIECES];
};

static int64_t piece_end(const Springs *s, int64_t piece) {
  return hk_gpu_part(s->model->springs.count, PIECES, piece + 1);
}

static void accept_range(void *user, int64_t begin, int64_t end) {
  Springs *s = user;
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t q = s->next[piece], last = piece_end(s, piece);
    while (q < last && s->accept(s, q)) q++;
    s->next[piece] = q;
  }
}

static Springs springs_of(const HkModel *m, const HkGpuLayout *layout,
                          bool (*accept)(const Springs *springs, int64_t spring)) {
  Springs s = {.model = m, .layout = layout, .accept = accept};
  for (int q = 0; q < PIECES; q++) s.next[q] = hk_gpu_part(m->springs.count, PIECES, q);
  return s;
}

/* Accepts springs of each piece up to the first that does not fit. Returns the first of these
 * springs, -1 if all springs are accepted. */
static int64_t first_other(Springs *s) {
  hk_parallel_work(s->model->threads, PIECES, 1, accept_range, s);
  for (int q = 0; q < PIECES; q++)
    if (s->next[q] < piece_end(s, q)) return s->next[q];
  return -1;
}

static bool all_are(const HkModel *m, bool (*accept)(const Springs *springs, int64_t spring)) {
  Springs s = springs_of(m, NULL, accept);
  return first_other(&s) < 0;
}

/* ---- The palette ---- */

static bool is_in_palette(const Springs *s, int64_t spring) {
  return hk_gpu_palette_index(s->layout, s->model, spring) > 0;
}

/* Entries are the types of springs that differ from all entries before, in the order of springs.
 * Returns false if there are too many. */
static bool fill_palette(const HkModel *m, HkGpuLayout *layout) {
  layout->palette[0] = (HkGpuSpringType){.least = -1};
  layout->palette_count = 1;
  Springs s = springs_of(m, layout, is_in_palette);
  for (;;) {
    int64_t other = first_other(&s);
    if (other < 0) return true;
    if (layout->palette_count == HK_GPU_PALETTE_SIZE) return false;
    layout->palette[layout->palette_count++] = spring_type_of(m, other);
  }
}

/* ---- Other encodings ---- */

static bool has_first_k(const Springs *s, int64_t spring) {
  return is_alike(s->model->springs.k[spring], s->model->springs.k[0]);
}

static bool has_first_kl0(const Springs *s, int64_t spring) {
  const double *k = s->model->springs.k, *l0 = s->model->springs.l0;
  return l0[spring] > 0 && is_alike(k[spring] * l0[spring], k[0] * l0[0]);
}

static bool is_first_kind(const Springs *s, int64_t spring) {
  const HkSpringArrays *a = &s->model->springs;
  return (!a->damping || is_alike(a->damping[spring], a->damping[0])) &&
         (!a->tension || a->tension[spring] == a->tension[0]);
}

static bool is_undamped(const Springs *s, int64_t spring) {
  return !(s->model->springs.damping[spring] > 0);
}

static bool bears_pressure(const Springs *s, int64_t spring) {
  return !s->model->springs.tension[spring];
}

HkStatus hk_gpu_spring_parameters(const HkModel *m, bool unique, HkGpuLayout *layout,
                                  HkError *error) {
  layout->parameters = HK_GPU_BY_PALETTE;
  if (unique || !fill_palette(m, layout)) {
    if (!all_are(m, is_first_kind))
      return hk_fail(
          error, HK_ERROR_UNSUPPORTED,
          "a device supports springs that differ in damping, or of which some are tension-only, "
          "only if there are at most %d different ones; this model has more",
          HK_GPU_PALETTE_SIZE - 1);
    layout->parameters = HK_GPU_UNIQUE;
    layout->c = m->springs.damping ? m->springs.damping[0] : 0;
    layout->tension = m->springs.tension && m->springs.tension[0];
    bool any = !unique && m->springs.count > 0;
    if (any && all_are(m, has_first_k)) layout->k = m->springs.k[0];
    if (any && layout->k == 0 && all_are(m, has_first_kl0))
      layout->kl0 = m->springs.k[0] * m->springs.l0[0];
    if (layout->k > 0 || layout->kl0 > 0) layout->parameters = HK_GPU_BY_LENGTH;
  }
  layout->damped = m->springs.damping && !all_are(m, is_undamped);
  layout->threads = m->springs.tension && !all_are(m, bears_pressure);
  return HK_OK;
}
