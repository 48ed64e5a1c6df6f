/* Encoding of the springs' parameters: see layout.h.
 *
 * Rest lengths that are computed from the coordinates of a mesh differ in their last digits where
 * they are meant to be equal: parameters with a relative difference of at most PARAMETER_TOLERANCE
 * count as equal. */
#include "backend/gpu/layout.h"

static const double PARAMETER_TOLERANCE = 1e-9;

static bool is_alike(double a, double b) {
  return fabs(a - b) <= PARAMETER_TOLERANCE * fmax(fabs(a), fabs(b));
}

static HkGpuSpringType spring_type_of(const HkModel *m, int64_t s) {
  return (HkGpuSpringType){.k = m->springs.k[s],
                           .l0 = m->springs.l0[s],
                           .c = m->springs.damping ? m->springs.damping[s] : 0,
                           .least =
                               m->springs.tension && m->springs.tension[s] ? m->springs.l0[s] : -1};
}

static bool is_same(const HkGpuSpringType *a, const HkGpuSpringType *b) {
  return is_alike(a->k, b->k) && is_alike(a->l0, b->l0) && is_alike(a->c, b->c) &&
         (a->least < 0) == (b->least < 0);
}

/* Returns the palette index of a spring type, at least 1; 0 if the palette does not contain it. */
static int find(const HkGpuLayout *layout, const HkGpuSpringType *type) {
  for (int q = 1; q < layout->palette_count; q++)
    if (is_same(&layout->palette[q], type)) return q;
  return 0;
}

int hk_gpu_palette_index(const HkGpuLayout *layout, const HkModel *model, int64_t spring) {
  HkGpuSpringType type = spring_type_of(model, spring);
  return find(layout, &type);
}

static bool fill_palette(const HkModel *m, HkGpuLayout *layout) {
  layout->palette[0] = (HkGpuSpringType){.least = -1};
  layout->palette_count = 1;
  for (int64_t s = 0; s < m->springs.count; s++) {
    HkGpuSpringType type = spring_type_of(m, s);
    if (find(layout, &type)) continue;
    if (layout->palette_count == HK_GPU_PALETTE_SIZE) return false;
    layout->palette[layout->palette_count++] = type;
  }
  return true;
}

/* Returns whether k, or k l0 if by_length, is the same for all springs. */
static bool is_one_stiffness(const HkModel *m, bool by_length) {
  for (int64_t s = 1; s < m->springs.count; s++) {
    double a = by_length ? m->springs.k[0] * m->springs.l0[0] : m->springs.k[0],
           b = by_length ? m->springs.k[s] * m->springs.l0[s] : m->springs.k[s];
    if (!is_alike(a, b) || (by_length && m->springs.l0[s] == 0)) return false;
  }
  return m->springs.count > 0 && (!by_length || m->springs.l0[0] > 0);
}

static bool is_one_kind(const HkModel *m) {
  for (int64_t s = 1; s < m->springs.count; s++) {
    if (m->springs.damping && !is_alike(m->springs.damping[s], m->springs.damping[0])) return false;
    if (m->springs.tension && m->springs.tension[s] != m->springs.tension[0]) return false;
  }
  return true;
}

HkStatus hk_gpu_spring_parameters(const HkModel *m, bool unique, HkGpuLayout *layout,
                                  HkError *error) {
  layout->parameters = HK_GPU_BY_PALETTE;
  if (unique || !fill_palette(m, layout)) {
    if (!is_one_kind(m))
      return hk_fail(
          error, HK_ERROR_UNSUPPORTED,
          "a device supports springs that differ in damping, or of which some are tension-only, "
          "only if there are at most %d different ones; this model has more",
          HK_GPU_PALETTE_SIZE - 1);
    layout->parameters = HK_GPU_UNIQUE;
    layout->c = m->springs.damping ? m->springs.damping[0] : 0;
    layout->tension = m->springs.tension && m->springs.tension[0];
    if (!unique && is_one_stiffness(m, false)) layout->k = m->springs.k[0];
    if (!unique && layout->k == 0 && is_one_stiffness(m, true))
      layout->kl0 = m->springs.k[0] * m->springs.l0[0];
    if (layout->k > 0 || layout->kl0 > 0) layout->parameters = HK_GPU_BY_LENGTH;
  }
  for (int64_t s = 0; s < m->springs.count; s++) {
    layout->damped |= m->springs.damping && m->springs.damping[s] > 0;
    layout->threads |= m->springs.tension && m->springs.tension[s];
  }
  return HK_OK;
}
