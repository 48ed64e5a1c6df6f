/* The transposed derivative of undamped springs times a vector, a group of vertices at a time; see
 * adjoint/spring_products.c.
 *
 *     to_x_i -= scale sum [a p + (k - a) (u . p) u],   p = l_i - l_j,   a = k (1 - l0 / length)
 *     dk -= scale (length - l0) (u . p),   dl0 += scale k (u . p)
 *
 * A spring is counted at its end with the lower number.
 */
#include "adjoint/spring_transpose.h"

#include "force/kernels/spring_lanes.h"

/* Adds the derivatives by the numbers of the springs in a slot, lane by lane. */
HK_INLINE void put_numbers(const HkSpringTransposeArgs *a, const HkLanes *at, int64_t slot,
                           bool regular, HkDoubles by_k, HkDoubles by_l0) {
  const int32_t *neighbor = a->rows->neighbor + hk_lanes_entry(at, slot);
  int32_t own = at->part * HK_DOUBLES * a->rows->unit;
  double k[HK_DOUBLES], l0[HK_DOUBLES];
  if (regular && neighbor[0] < 0) return;
  hk_doubles_store(k, by_k);
  hk_doubles_store(l0, by_l0);
  for (int lane = 0; lane < HK_DOUBLES && at->first + lane < a->rows->n; lane++) {
    if (!regular && neighbor[lane] <= own + lane * a->rows->unit) continue;
    int32_t s = a->adj_spring[a->adj_start[at->first + lane] + (slot - at->slot)];
    a->k[s] += k[lane];
    a->l0[s] += l0[lane];
  }
}

HK_INLINE void transpose_lanes(const HkSpringTransposeArgs *a, const HkLanes *at, bool regular) {
  const HkSpringRows *r = a->rows;
  HkDoubles x[3], l[3], sum[3] = {{0}, {0}, {0}}, zero = {0}, one = hk_doubles_all(1);
  HkDoubles tiny = hk_doubles_all(HK_SPRING_TINY), scale = hk_doubles_all(a->scale);
  hk_lanes_own(r, at, a->x, x);
  hk_lanes_own(r, at, a->l, l);
  for (int64_t slot = at->slot; slot < at->end; slot++) {
    int64_t entry = hk_lanes_entry(at, slot);
    HkDoubles d[3], p[3], k = hk_lanes_k(r, at, slot), l0 = hk_doubles_load(r->l0 + entry);
    hk_lanes_differ(r, at, slot, regular, a->x, x, d);
    hk_lanes_differ(r, at, slot, regular, a->l, l, p);
    HkDoubles length = hk_doubles_sqrt(hk_lanes_dot(d, d));
    HkDoubles inverse = one / hk_doubles_most(length, tiny);
    HkDoubles along = hk_lanes_dot(d, p) * inverse; /* u . p */
    HkDoubles across = k * (one - l0 * inverse);
    across = hk_doubles_select(length < tiny, k, across); /* the ends meet: k I */
    along = hk_doubles_select(length < tiny, zero, along);
    if (r->least) {
      HkDoubles least = hk_doubles_load(r->least + entry);
      k = hk_doubles_select(length < least, zero, k);
      across = hk_doubles_select(length < least, zero, across);
      along = hk_doubles_select(length < least, zero, along);
    }
    HkDoubles share = (k - across) * along * inverse, part = scale * along;
    for (int c = 0; c < 3; c++) sum[c] = sum[c] + (across * p[c] + share * d[c]);
    put_numbers(a, at, slot, regular, (l0 - length) * part, k * part);
  }
  if (!a->to_x) return;
  hk_lanes_own(r, at, a->to_x, x);
  for (int c = 0; c < 3; c++) x[c] = x[c] - scale * sum[c];
  hk_lanes_put(r, at, x, a->to_x);
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
