/* Pinned vertices: where they are at a time, and when they are let go. */
#include "model/state.h"

#include <string.h>

void hk_pins_place(const HkModel *m, const HkState *state, double t, double *x, double *v) {
  for (int64_t p = 0; p < m->pin_count; p++) {
    if (!state->pin_held[p]) continue;
    const HkCompiledMotion *motion = &m->motions[m->pin_motion[p]];
    int64_t q = 3 * (int64_t)m->pin_vertex[p];
    motion->type->at(motion->method.params, t, m->x0 + q, x + q, v + q);
    if (m->dimension == 2) {
      x[q + 2] = m->x0[q + 2];
      v[q + 2] = 0;
    }
  }
}

void hk_pins_release(const HkModel *m, HkState *state, double t) {
  for (int64_t p = 0; p < m->pin_count; p++)
    if (m->motions[m->pin_motion[p]].release <= t) state->pin_held[p] = 0;
}
