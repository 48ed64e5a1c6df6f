/* Kick and drift in double precision; see step/kick.h.
 *
 *     out = v + h (springs(x, w) + f + m g) / m,   x = x + h v
 *
 * with the operations of hk_sim_acceleration and hk_sim_axpy: if springs and gravity are the only
 * forces, the bits are the same.
 */
#include "step/kick.h"

#include "force/kernels/spring_lanes.h"

/* The masses of the lanes; those beyond the last vertex are 1. */
HK_INLINE HkDoubles masses(const double *mass, int64_t first, int64_t n) {
  HkDoubles m = hk_doubles_all(1);
  if (first + HK_DOUBLES <= n) return hk_doubles_load(mass + first);
  for (int l = 0; l < HK_DOUBLES && first + l < n; l++) m[l] = mass[first + l];
  return m;
}

HK_INLINE void kick_lanes(const HkKickArgs *a, const HkLanes *at, HkLaneKind kind) {
  const HkSpringRows *r = a->rows;
  HkDoubles sum[3], f[3], v[3], m = masses(a->mass, at->first, r->n), inverse = 1 / m;
  hk_lanes_pull(r, at, kind, a->x, a->w, sum);
  if (a->f) {
    hk_lanes_own(r, at, a->f, f);
    for (int c = 0; c < 3; c++) sum[c] = sum[c] + f[c];
  }
  hk_lanes_own(r, at, a->v, v);
  for (int c = 0; c < 3; c++) v[c] = v[c] + a->h[c] * ((sum[c] + m * a->g[c]) * inverse);
  hk_lanes_put(r, at, v, a->out);
}

HK_INLINE void kick_groups(const HkKickArgs *a, int64_t begin, int64_t end, HkLaneKind kind) {
  HkLaneKind regular = kind;
  regular.regular = true;
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < HK_LANE_PARTS; part++) {
      HkLanes at = hk_lanes(a->rows, g, part);
      if (at.first >= a->rows->n) break;
      if (at.regular)
        kick_lanes(a, &at, regular);
      else
        kick_lanes(a, &at, kind);
    }
}

static void kick(const HkKickArgs *a, int64_t begin, int64_t end) {
  if (a->rows->least && a->rows->damping)
    kick_groups(a, begin, end, (HkLaneKind){.damped = true, .threads = true});
  else if (a->rows->least)
    kick_groups(a, begin, end, (HkLaneKind){.threads = true});
  else if (a->rows->damping)
    kick_groups(a, begin, end, (HkLaneKind){.damped = true});
  else
    kick_groups(a, begin, end, (HkLaneKind){0});
}

/* Whole groups are computed in lanes; the vertices of an incomplete last group are computed one by
 * one and added to the same lanes of the sum. */
static double drift(const HkDriftArgs *a, int64_t begin, int64_t end) {
  HkDoubles sum[HK_LANE_PARTS], v[3];
  double rest = 0;
  int64_t i = begin;
  memset(sum, 0, sizeof sum);
  for (; i + HK_ROW_GROUP <= end; i += HK_ROW_GROUP)
    for (int part = 0; part < HK_LANE_PARTS; part++) {
      int64_t at = 3 * (i + part * HK_DOUBLES);
      hk_doubles_load3(a->from + at, v);
      HkDoubles m = hk_doubles_load(a->mass + i + part * HK_DOUBLES);
      sum[part] = sum[part] + m * hk_lanes_dot(v, v);
      for (int c = 0; c < 3; c++, at += HK_DOUBLES) {
        HkDoubles w = hk_doubles_load(a->from + at);
        if (a->from != a->v) hk_doubles_store(a->v + at, w);
        hk_doubles_store(a->x + at, hk_doubles_load(a->x + at) + a->h * w);
      }
    }
  for (; i < end; i++) {
    const double *w = a->from + 3 * i;
    rest += a->mass[i] * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    for (int c = 0; c < 3; c++) {
      a->x[3 * i + c] += a->h * w[c];
      a->v[3 * i + c] = w[c];
    }
  }
  return 0.5 * (hk_lanes_sum(sum) + rest);
}

const HkKickKernels HK_KERNEL(hk_kick_kernels) = {.kick = kick, .drift = drift};
