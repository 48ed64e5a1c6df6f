/* The springs of the vertices in the lanes of a vector, for kernels in double precision.
 *
 *     f_i = sum -(k (l - l0) + c (vi - vj) . u) u,   u = d / l, d = xi - xj
 *
 * Each lane adds up the springs of its own vertex in the order of the model, with the operations of
 * force/springs.c: the forces are the same, bit for bit, for every instruction set.
 */
#ifndef HK_FORCE_KERNELS_SPRING_LANES_H
#define HK_FORCE_KERNELS_SPRING_LANES_H

#include "base/simd.h"
#include "force/spring_rows.h"
#include "force/springs.h"

enum { HK_LANE_PARTS = HK_ROW_GROUP / HK_DOUBLES };

/* Vertices of a group that fill one vector, one vertex a lane. */
typedef struct HkLanes {
  int64_t first;     /* vertex */
  int64_t slot, end; /* in the arrays of the rows */
  int64_t beside;    /* first slot in arrays beside the rows (HkSpringRows.start) */
  int part;
  bool whole;   /* all lanes have a vertex */
  bool regular; /* the neighbors of a slot are consecutive in memory */
} HkLanes;

HK_INLINE HkLanes hk_lanes(const HkSpringRows *r, int64_t group, int part) {
  int64_t first = group * HK_ROW_GROUP + part * HK_DOUBLES, place = r->place[group];
  int64_t slot = place < 0 ? ~place : place;
  return (HkLanes){.first = first,
                   .slot = slot,
                   .end = slot + r->start[group + 1] - r->start[group],
                   .beside = r->start[group],
                   .part = part,
                   .whole = first + HK_DOUBLES <= r->n,
                   .regular = place < 0};
}

/* The entry of a slot in the arrays of the rows. */
HK_INLINE int64_t hk_lanes_entry(const HkLanes *at, int64_t slot) {
  return slot * HK_ROW_GROUP + at->part * HK_DOUBLES;
}

HK_INLINE HkDoubles hk_lanes_k(const HkSpringRows *r, const HkLanes *at, int64_t slot) {
  return hk_doubles_load(r->k + hk_lanes_entry(at, slot * r->k_step));
}

/* Loads the vectors of the vertices; lanes beyond the last vertex repeat it. */
HK_INLINE void hk_lanes_own(const HkSpringRows *r, const HkLanes *at, const double *x,
                            HkDoubles out[3]) {
  if (at->whole) {
    hk_doubles_load3(x + 3 * at->first, out);
    return;
  }
  double lanes[3][HK_DOUBLES]; /* x may end with its last vertex */
  for (int l = 0; l < HK_DOUBLES; l++) {
    int64_t i = at->first + l < r->n ? at->first + l : r->n - 1;
    for (int c = 0; c < 3; c++) lanes[c][l] = x[3 * i + c];
  }
  for (int c = 0; c < 3; c++) out[c] = hk_doubles_load(lanes[c]);
}

/* d = own - the vectors of the neighbors in a slot; `regular` is a compile-time constant. */
HK_INLINE void hk_lanes_differ(const HkSpringRows *r, const HkLanes *at, int64_t slot, bool regular,
                               const double *x, const HkDoubles own[3], HkDoubles d[3]) {
  const int32_t *neighbor = r->neighbor + hk_lanes_entry(at, slot);
  if (regular)
    hk_doubles_load3(x + 3 * at->first + neighbor[0], d);
  else
    hk_doubles_gather(x + 3 * (at->first - at->part * HK_DOUBLES), neighbor, d);
  for (int c = 0; c < 3; c++) d[c] = own[c] - d[c];
}

HK_INLINE HkDoubles hk_lanes_dot(const HkDoubles a[3], const HkDoubles b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Writes the vectors of the vertices; lanes beyond the last one are skipped. */
HK_INLINE void hk_lanes_put(const HkSpringRows *r, const HkLanes *at, const HkDoubles v[3],
                            double *out) {
  if (at->whole) {
    hk_doubles_store3(out + 3 * at->first, v);
    return;
  }
  double lanes[3][HK_DOUBLES];
  for (int c = 0; c < 3; c++) hk_doubles_store(lanes[c], v[c]);
  for (int l = 0; l < HK_DOUBLES && at->first + l < r->n; l++)
    for (int c = 0; c < 3; c++) out[3 * (at->first + l) + c] = lanes[c][l];
}

/* Variants of the springs; compile-time constants where they are used. */
typedef struct HkLaneKind {
  bool damped, threads, energy, regular;
} HkLaneKind;

/* sum = the force of the springs; returns twice the energy of each lane if it is asked for. w are
 * the velocities for damping. */
HK_INLINE HkDoubles hk_lanes_pull(const HkSpringRows *r, const HkLanes *at, HkLaneKind kind,
                                  const double *x, const double *w, HkDoubles sum[3]) {
  HkDoubles own[3], own_w[3], stored = {0}, tiny = hk_doubles_all(HK_SPRING_TINY);
  hk_lanes_own(r, at, x, own);
  if (kind.damped) hk_lanes_own(r, at, w, own_w);
  for (int c = 0; c < 3; c++) sum[c] = (HkDoubles){0};
  for (int64_t slot = at->slot; slot < at->end; slot++) {
    int64_t entry = hk_lanes_entry(at, slot);
    HkDoubles d[3], k = hk_lanes_k(r, at, slot), l0 = hk_doubles_load(r->l0 + entry);
    hk_lanes_differ(r, at, slot, kind.regular, x, own, d);
    HkDoubles l = hk_doubles_most(hk_doubles_sqrt(hk_lanes_dot(d, d)), tiny);
    HkDoubles push = k * (l0 - l);
    if (kind.damped) {
      HkDoubles dw[3];
      hk_lanes_differ(r, at, slot, kind.regular, w, own_w, dw);
      push = push - hk_doubles_load(r->damping + entry) * hk_lanes_dot(dw, d) / l;
    }
    if (kind.threads) {
      HkDoubles least = hk_doubles_load(r->least + entry), none = {0};
      HkDoubles pull =
          kind.damped ? hk_doubles_select((push > none) & (least >= none), none, push) : push;
      push = hk_doubles_select(l < least, none, pull);
    }
    HkDoubles share = push / l;
    for (int c = 0; c < 3; c++) sum[c] = sum[c] + share * d[c];
    if (kind.energy) stored = stored + push * (l0 - l);
  }
  return stored;
}

/* The sum over the lanes of all parts of a group, in the same order for every width. */
HK_INLINE double hk_lanes_sum(const HkDoubles parts[HK_LANE_PARTS]) {
  double lanes[HK_ROW_GROUP];
  for (int k = 0; k < HK_LANE_PARTS; k++) hk_doubles_store(lanes + k * HK_DOUBLES, parts[k]);
  for (int width = HK_ROW_GROUP / 2; width > 0; width /= 2)
    for (int l = 0; l < width; l++) lanes[l] += lanes[l + width];
  return lanes[0];
}

#endif
