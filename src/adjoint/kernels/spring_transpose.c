/* The transposed derivative of undamped springs times a vector, a group of vertices at a time; see
 * adjoint/spring_products.c.
 *
 *     to_x_i -= scale sum [a p + (k - a) (u . p) u],   p = l_i - l_j,   k - a = k l0 / length
 *     dk -= scale (length - l0) (u . p),   dl0 += scale k (u . p)
 *
 * The derivatives by k and l0 are added up in the slots, at both ends of a spring but in regular
 * slots of neighbors with lower numbers: those at the end with the lower number count.
 */
#include "adjoint/spring_transpose.h"

#include "force/kernels/spring_lanes.h"

/* Adds the derivatives by the numbers of the springs in a slot. */
HK_INLINE void put_numbers(const HkSpringTransposeArgs *a, const HkLanes *at, int64_t slot,
                           HkDoubles by_k, HkDoubles by_l0) {
  int64_t beside = at->beside + slot - at->slot;
  double *k = a->slots + 2 * beside * HK_ROW_GROUP + at->part * HK_DOUBLES, *l0 = k + HK_ROW_GROUP;
  hk_doubles_store(k, hk_doubles_load(k) + by_k);
  hk_doubles_store(l0, hk_doubles_load(l0) + by_l0);
}

HK_INLINE void transpose_lanes(const HkSpringTransposeArgs *a, const HkLanes *at, bool regular) {
  const HkSpringRows *r = a->rows;
  HkDoubles x[3], l[3], to[3] = {{0}, {0}, {0}}, sum[3] = {{0}, {0}, {0}}, zero = {0},
                        one = hk_doubles_all(1);
  HkDoubles tiny = hk_doubles_all(HK_SPRING_TINY), scale = hk_doubles_all(a->scale);
  hk_lanes_own(r, at, a->x, x);
  hk_lanes_own(r, at, a->l, l);
  if (a->to_x) hk_lanes_own(r, at, a->to_x, to); /* early: it may come from a far cache */
  for (int64_t slot = at->slot; slot < at->end; slot++) {
    int64_t entry = hk_lanes_entry(at, slot);
    HkDoubles d[3], p[3], k = hk_lanes_k(r, at, slot), l0 = hk_doubles_load(r->l0 + entry);
    hk_lanes_differ(r, at, slot, regular, a->x, x, d);
    hk_lanes_differ(r, at, slot, regular, a->l, l, p);
    HkDoubles length = hk_doubles_sqrt(hk_lanes_dot(d, d));
    /* 0 where the ends meet: k I */
    HkDoubles there = hk_doubles_select(length < tiny, zero, one);
    HkDoubles inverse = there / hk_doubles_most(length, tiny);
    HkDoubles along = hk_lanes_dot(d, p) * inverse; /* u . p */
    if (r->least) {
      HkDoubleMask slack = length < hk_doubles_load(r->least + entry);
      k = hk_doubles_select(slack, zero, k);
      along = hk_doubles_select(slack, zero, along);
    }
    HkDoubles turned = k * l0 * inverse, across = k - turned;
    HkDoubles share = turned * along * inverse, part = scale * along;
    for (int c = 0; c < 3; c++) sum[c] = sum[c] + (across * p[c] + share * d[c]);
    if (!regular || r->neighbor[entry] > 0)
      put_numbers(a, at, slot, (l0 - length) * part, k * part);
  }
  if (!a->to_x) return;
  for (int c = 0; c < 3; c++) to[c] = to[c] - scale * sum[c];
  hk_lanes_put(r, at, to, a->to_x);
}

static void transpose(const HkSpringTransposeArgs *a, int64_t begin, int64_t end) {
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < HK_LANE_PARTS; part++) {
      HkLanes at = hk_lanes(a->rows, g, part);
      if (at.first >= a->rows->n) continue;
      if (at.regular)
        transpose_lanes(a, &at, true);
      else
        transpose_lanes(a, &at, false);
    }
}

const HkSpringTransposeKernels HK_KERNEL(hk_spring_transpose) = {.transpose = transpose};
