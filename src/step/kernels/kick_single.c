/* Kick and drift in single precision; see step/single.h.
 *
 *     out = v + h (springs(x, w) + f) / m + h g,   x = x + h v
 *
 * The force of a spring is k (l0 / l - 1) d; 1 / l is the processor's estimate and one step of
 * Newton's method. The last bits depend on the instruction set, not on the number of threads.
 */
#include "step/single.h"

#include "base/simd.h"

enum { PARTS = HK_ROW_GROUP_SINGLE / HK_FLOATS };

/* Added to squares of lengths, so that springs of no length have no direction. */
#define MIN_SQUARED_LENGTH 1e-30f

/* Variants of the kernels; compile-time constants where they are used. */
typedef struct Kind {
  bool planes, damped, threads, regular;
} Kind;

/* The vectors of the vertices first .. first + HK_FLOATS - 1. */
HK_INLINE void load(const HkSingleArgs *a, bool planes, const float *x, int64_t first,
                    HkFloats out[3]) {
  if (planes)
    for (int c = 0; c < 3; c++) out[c] = hk_floats_load(x + c * a->stride + first);
  else
    hk_floats_load4(x + 4 * first, out);
}

HK_INLINE void store(const HkSingleArgs *a, bool planes, float *x, int64_t first,
                     const HkFloats v[3]) {
  if (planes)
    for (int c = 0; c < 3; c++) hk_floats_store(x + c * a->stride + first, v[c]);
  else
    hk_floats_store4(x + 4 * first, v);
}

/* One coordinate of the vertices at[0 .. HK_FLOATS - 1]. */
HK_INLINE HkFloats pick(const float *plane, const int32_t *at) {
  float lanes[HK_FLOATS];
  for (int l = 0; l < HK_FLOATS; l++) lanes[l] = plane[at[l]];
  return hk_floats_load(lanes);
}

/* d = own - the vectors of the neighbors in a slot of the group that begins at a vertex; first is
 * the vertex of the first lane. */
HK_INLINE void differ(const HkSingleArgs *a, Kind kind, const int32_t *neighbor, int64_t begin,
                      int64_t first, const float *x, const HkFloats own[3], HkFloats d[3]) {
  if (kind.regular)
    load(a, kind.planes, x + neighbor[0], first, d);
  else if (!kind.planes)
    hk_floats_gather(x + 4 * begin, neighbor, d);
  else
    for (int c = 0; c < 3; c++) d[c] = pick(x + c * a->stride + begin, neighbor);
  for (int c = 0; c < 3; c++) d[c] = own[c] - d[c];
}

HK_INLINE HkFloats dot(const HkFloats a[3], const HkFloats b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* sum = the force of the springs. */
HK_INLINE void pull(const HkSingleArgs *a, Kind kind, int64_t group, int part,
                    const HkFloats own[3], HkFloats sum[3]) {
  const HkSpringRows *r = a->rows;
  int64_t begin = group * HK_ROW_GROUP_SINGLE, first = begin + part * HK_FLOATS;
  int64_t place = kind.regular ? ~r->place[group] : r->place[group];
  int64_t entry = place * HK_ROW_GROUP_SINGLE + part * HK_FLOATS;
  const float *stiffness = r->single.k + place * r->k_step * HK_ROW_GROUP_SINGLE + part * HK_FLOATS;
  HkFloats own_w[3], tiny = hk_floats_all(MIN_SQUARED_LENGTH);
  if (kind.damped) load(a, kind.planes, a->w, first, own_w);
  for (int c = 0; c < 3; c++) sum[c] = (HkFloats){0};
  for (int64_t left = r->start[group + 1] - r->start[group]; left > 0; left--) {
    HkFloats d[3], k = hk_floats_load(stiffness);
    differ(a, kind, r->neighbor + entry, begin, first, a->x, own, d);
    HkFloats l2 = d[0] * d[0] + (d[1] * d[1] + (d[2] * d[2] + tiny));
    HkFloats inverse = hk_floats_rsqrt(l2);
    HkFloats share = hk_floats_load(r->single.kl0 + entry) * inverse - k;
    if (kind.damped) {
      HkFloats dw[3];
      differ(a, kind, r->neighbor + entry, begin, first, a->w, own_w, dw);
      share = share - hk_floats_load(r->single.damping + entry) * dot(dw, d) * (inverse * inverse);
    }
    if (kind.threads) {
      HkFloats least = hk_floats_load(r->single.least + entry), none = {0};
      if (kind.damped) share = hk_floats_select((share > none) & (least >= none), none, share);
      share = hk_floats_select(l2 * inverse < least, none, share);
    }
    for (int c = 0; c < 3; c++) sum[c] = sum[c] + share * d[c];
    entry += HK_ROW_GROUP_SINGLE;
    stiffness += r->k_step * HK_ROW_GROUP_SINGLE;
  }
}

/* Adds other forces, which are in double precision; lanes beyond the last vertex are skipped. */
HK_INLINE void add_others(const HkSingleArgs *a, int64_t first, HkFloats sum[3]) {
  for (int l = 0; l < HK_FLOATS && first + l < a->rows->n; l++)
    for (int c = 0; c < 3; c++) sum[c][l] += (float)a->f[3 * (first + l) + c];
}

HK_INLINE void kick_lanes(const HkSingleArgs *a, Kind kind, int64_t group, int part) {
  int64_t first = group * HK_ROW_GROUP_SINGLE + part * HK_FLOATS;
  HkFloats own[3], sum[3], v[3], inverse = 1 / hk_floats_load(a->mass + first);
  load(a, kind.planes, a->x, first, own);
  pull(a, kind, group, part, own, sum);
  if (a->f) add_others(a, first, sum);
  load(a, kind.planes, a->v, first, v);
  for (int c = 0; c < 3; c++) v[c] = v[c] + a->h[c] * (sum[c] * inverse + a->g[c]);
  store(a, kind.planes, a->out, first, v);
}

HK_INLINE void kick_groups(const HkSingleArgs *a, int64_t begin, int64_t end, Kind kind) {
  Kind regular = kind;
  regular.regular = true;
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < PARTS; part++)
      if (a->rows->place[g] < 0)
        kick_lanes(a, regular, g, part);
      else
        kick_lanes(a, kind, g, part);
}

HK_INLINE void kick_layout(const HkSingleArgs *a, int64_t begin, int64_t end, bool planes) {
  bool damped = a->rows->single.damping != NULL;
  if (a->rows->single.least && damped)
    kick_groups(a, begin, end, (Kind){.planes = planes, .damped = true, .threads = true});
  else if (a->rows->single.least)
    kick_groups(a, begin, end, (Kind){.planes = planes, .threads = true});
  else if (damped)
    kick_groups(a, begin, end, (Kind){.planes = planes, .damped = true});
  else
    kick_groups(a, begin, end, (Kind){.planes = planes});
}

static void kick(const HkSingleArgs *a, int64_t begin, int64_t end) {
  if (a->planes)
    kick_layout(a, begin, end, true);
  else
    kick_layout(a, begin, end, false);
}

/* Returns x rounded as by a copy to a state and back, which holds x + origin in double
 * precision. */
HK_INLINE HkFloats as_in_states(HkFloats x, double origin) {
  for (int l = 0; l < HK_FLOATS; l++) x[l] = (float)(((double)x[l] + origin) - origin);
  return x;
}

HK_INLINE double drift_layout(const HkSingleArgs *a, int64_t begin, int64_t end, bool planes) {
  HkFloats x[3], v[3], kinetic = {0};
  for (int64_t first = begin; first < end; first += HK_FLOATS) {
    load(a, planes, a->x, first, x);
    load(a, planes, a->from, first, v);
    for (int c = 0; c < 3; c++) {
      x[c] = x[c] + a->drift * v[c];
      if (a->origin[c] != 0) x[c] = as_in_states(x[c], a->origin[c]);
    }
    kinetic = kinetic + hk_floats_load(a->mass + first) * dot(v, v);
    store(a, planes, a->moved, first, x);
    if (a->from != a->v) store(a, planes, a->settled, first, v);
  }
  double sum = 0;
  for (int l = 0; l < HK_FLOATS; l++) sum += (double)kinetic[l];
  return 0.5 * sum;
}

static double drift(const HkSingleArgs *a, int64_t begin, int64_t end) {
  return a->planes ? drift_layout(a, begin, end, true) : drift_layout(a, begin, end, false);
}

const HkSingleKernels HK_KERNEL(hk_single_kernels) = {.kick = kick, .drift = drift};
