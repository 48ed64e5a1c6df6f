/* Picking: the vertex nearest to a point, or to a ray from the eye through the mouse.
 *
 * A vertex x is at s = (x - o) . d along the ray from o with the unit direction d, and at the
 * distance |x - o - s d| from it. Vertices behind the origin (s < 0) and those that are not finite
 * are skipped. Of equally near vertices the first one is returned.
 */
#include "model/state.h"

#include "base/vec.h"

int32_t hk_state_nearest(const HkState *state, const double point[3], double *distance) {
  int64_t best = -1;
  double least = INFINITY;
  hk_state_fetch(state);
  for (int64_t i = 0; i < state->n; i++) {
    double d = hk_distance(state->x + 3 * i, point);
    if (!(d < least)) continue;
    least = d;
    best = i;
  }
  if (best >= 0 && distance) *distance = least;
  return (int32_t)best;
}

int32_t hk_state_nearest_to_ray(const HkState *state, const double origin[3],
                                const double direction[3], double radius, double *along) {
  double d[3], least = INFINITY, first = INFINITY;
  int64_t best = -1;
  if (!hk_unit(direction, d) || !isfinite(d[0] + d[1] + d[2])) return -1;
  hk_state_fetch(state);
  for (int64_t i = 0; i < state->n; i++) {
    double r[3];
    hk_sub(state->x + 3 * i, origin, r);
    double s = hk_dot(r, d);
    hk_axpy(-s, d, r);
    double beside = hk_norm(r);
    if (!(s >= 0 && isfinite(s + beside))) continue;
    if (beside <= radius) beside = 0; /* all vertices within the radius are equally near */
    if (beside > least || (beside == least && s >= first)) continue;
    least = beside;
    first = s;
    best = i;
  }
  if (best >= 0 && along) *along = first;
  return (int32_t)best;
}
