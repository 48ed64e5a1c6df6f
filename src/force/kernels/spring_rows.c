/* Forces, energy and Hessian of the springs, a group of vertices at a time; see spring_rows.h and
 * spring_lanes.h.
 */
#include "force/kernels/spring_lanes.h"

HK_INLINE HkDoubles pull_lanes(const HkSpringRowsArgs *a, const HkLanes *at, HkLaneKind kind) {
  HkDoubles sum[3], f[3];
  HkDoubles stored = hk_lanes_pull(a->rows, at, kind, a->x, a->v, sum);
  if (a->fresh) {
    hk_lanes_put(a->rows, at, sum, a->f);
    return stored;
  }
  hk_lanes_own(a->rows, at, a->f, f);
  for (int c = 0; c < 3; c++) f[c] = sum[c] + f[c];
  hk_lanes_put(a->rows, at, f, a->f);
  return stored;
}

HK_INLINE double pull_groups(const HkSpringRowsArgs *a, int64_t begin, int64_t end,
                             HkLaneKind kind) {
  HkLaneKind regular = kind;
  HkDoubles stored[HK_LANE_PARTS];
  memset(stored, 0, sizeof stored);
  regular.regular = true;
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < HK_LANE_PARTS; part++) {
      HkLanes at = hk_lanes(a->rows, g, part);
      HkDoubles e = at.regular ? pull_lanes(a, &at, regular) : pull_lanes(a, &at, kind);
      stored[part] = stored[part] + e;
    }
  return 0.25 * hk_lanes_sum(stored);
}

static void pull(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  bool damped = a->v && a->rows->damping;
  if (a->rows->least && damped)
    pull_groups(a, begin, end, (HkLaneKind){.damped = true, .threads = true});
  else if (a->rows->least)
    pull_groups(a, begin, end, (HkLaneKind){.threads = true});
  else if (damped)
    pull_groups(a, begin, end, (HkLaneKind){.damped = true});
  else
    pull_groups(a, begin, end, (HkLaneKind){0});
}

static double pull_energy(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  if (a->rows->least)
    return pull_groups(a, begin, end, (HkLaneKind){.threads = true, .energy = true});
  return pull_groups(a, begin, end, (HkLaneKind){.energy = true});
}

/* Twice the change of each spring of one slot: k (l' - l) ((l - l0) + (l' - l0)), with l' - l as a
 * quotient; a spring that is slack before or after has the energy 0 there. */
HK_INLINE HkDoubles change_slot(const HkSpringRowsArgs *a, const HkLanes *at, int64_t slot,
                                const HkDoubles x[3], const HkDoubles to[3], bool regular) {
  const HkSpringRows *r = a->rows;
  int64_t entry = hk_lanes_entry(at, slot);
  HkDoubles d[3], e[3], along = {0}, smallest = hk_doubles_all(HK_SPRING_TINY), none = {0};
  HkDoubles k = hk_lanes_k(r, at, slot), l0 = hk_doubles_load(r->l0 + entry);
  HkDoubles origin[3] = {{0}, {0}, {0}};
  hk_lanes_differ(r, at, slot, regular, a->x, origin, d); /* -x_j */
  hk_lanes_differ(r, at, slot, regular, a->to, origin, e);
  for (int c = 0; c < 3; c++) {
    HkDoubles moved = (to[c] - x[c]) + (e[c] - d[c]);
    d[c] = x[c] + d[c];
    e[c] = to[c] + e[c];
    along = along + moved * (d[c] + e[c]);
  }
  HkDoubles l = hk_doubles_sqrt(hk_lanes_dot(d, d)), after = hk_doubles_sqrt(hk_lanes_dot(e, e));
  HkDoubles longer = along / hk_doubles_most(l + after, smallest);
  HkDoubles stretch = l - l0, stretch_after = after - l0;
  HkDoubles change = longer * (stretch + stretch_after);
  if (r->least) {
    HkDoubles least = hk_doubles_load(r->least + entry);
    HkDoubles only_after = stretch_after * stretch_after, only_before = none - stretch * stretch;
    HkDoubles slack = hk_doubles_select(after < least, none, only_after);
    HkDoubles slack_after = hk_doubles_select(after < least, only_before, change);
    change = hk_doubles_select(l < least, slack, slack_after);
  }
  return k * change;
}

/* 1 in the lanes whose neighbor has the larger number, which count the spring, else 0; false if
 * none has. Neighbors of a regular slot are all on one side. */
HK_INLINE bool is_counted(const HkSpringRows *r, const HkLanes *at, int64_t slot, bool regular,
                          double counts[HK_DOUBLES]) {
  const int32_t *neighbor = r->neighbor + hk_lanes_entry(at, slot);
  if (regular) return neighbor[0] > 0;
  int32_t own = at->part * HK_DOUBLES * r->unit, any = 0;
  for (int l = 0; l < HK_DOUBLES; l++) {
    int32_t is = neighbor[l] > own + l * r->unit;
    counts[l] = is;
    any |= is;
  }
  return any != 0;
}

HK_INLINE HkDoubles change_lanes(const HkSpringRowsArgs *a, const HkLanes *at, bool regular) {
  HkDoubles x[3], to[3], sum = {0};
  hk_lanes_own(a->rows, at, a->x, x);
  hk_lanes_own(a->rows, at, a->to, to);
  for (int64_t slot = at->slot; slot < at->end; slot++) {
    double counts[HK_DOUBLES];
    if (!is_counted(a->rows, at, slot, regular, counts)) continue;
    HkDoubles change = change_slot(a, at, slot, x, to, regular);
    sum = sum + (regular ? change : hk_doubles_load(counts) * change);
  }
  return sum;
}

static double change(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  HkDoubles sum[HK_LANE_PARTS];
  memset(sum, 0, sizeof sum);
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < HK_LANE_PARTS; part++) {
      HkLanes at = hk_lanes(a->rows, g, part);
      HkDoubles more = at.regular ? change_lanes(a, &at, true) : change_lanes(a, &at, false);
      sum[part] = sum[part] + more;
    }
  return 0.5 * hk_lanes_sum(sum);
}

/* ---- Coefficients of the Hessian ---- */

#define FLOATS(v) __builtin_convertvector(v, HkHalf)
typedef float HkHalf __attribute__((vector_size(HK_SIMD_BYTES / 2)));

typedef struct CoefficientKind {
  bool regular; /* the group */
  bool single;
} CoefficientKind;

HK_INLINE HkDoubles coefficient_load(const void *from, int64_t at, bool single) {
  if (!single) return hk_doubles_load((const double *)from + at);
  HkHalf v;
  memcpy(&v, (const float *)from + at, sizeof v);
  return __builtin_convertvector(v, HkDoubles);
}

HK_INLINE void coefficient_store(void *to, int64_t at, HkDoubles v, bool single) {
  if (!single) {
    hk_doubles_store((double *)to + at, v);
    return;
  }
  HkHalf half = FLOATS(v);
  memcpy((float *)to + at, &half, sizeof half);
}

/* Writes the coefficients of one slot to to[place]. */
HK_INLINE void hessian_slot(const HkSpringRowsArgs *a, const HkLanes *at, int64_t slot,
                            const HkDoubles x[3], CoefficientKind kind, int64_t place) {
  const HkSpringRows *r = a->rows;
  int64_t entry = hk_lanes_entry(at, slot);
  HkDoubles zero = {0}, tiny = hk_doubles_all(HK_SPRING_TINY), d[3];
  hk_lanes_differ(r, at, slot, kind.regular, a->x, x, d);
  HkDoubles l = hk_doubles_sqrt(hk_lanes_dot(d, d)), k = hk_lanes_k(r, at, slot);
  HkDoubles longest = hk_doubles_most(l, tiny);
  if (r->least) k = hk_doubles_select(l < hk_doubles_load(r->least + entry), zero, k);
  HkDoubles c = k * (hk_doubles_all(1) - hk_doubles_load(r->l0 + entry) / longest);
  c = hk_doubles_select(l < tiny, k, c); /* the ends meet: k I */
  c = hk_doubles_most(c, (1 - a->projection) * c);
  HkDoubles along = hk_doubles_sqrt(hk_doubles_most(k - c, zero)) / longest;
  coefficient_store(a->coefficients, place, c, kind.single);
  for (int axis = 0; axis < 3; axis++)
    coefficient_store(a->coefficients, place + (axis + 1) * HK_ROW_GROUP, along * d[axis],
                      kind.single);
}

/* Returns the offset of these lanes in an array beside the rows, 4 HK_ROW_GROUP numbers a slot. */
HK_INLINE int64_t beside(const HkLanes *at) {
  return 4 * at->beside * HK_ROW_GROUP + at->part * HK_DOUBLES;
}

HK_INLINE void hessian_lanes(const HkSpringRowsArgs *a, const HkLanes *at, CoefficientKind kind) {
  HkDoubles x[3];
  int64_t place = beside(at);
  hk_lanes_own(a->rows, at, a->x, x);
  for (int64_t slot = at->slot; slot < at->end; slot++, place += 4 * HK_ROW_GROUP)
    hessian_slot(a, at, slot, x, kind, place);
}

HK_INLINE void hessian_groups(const HkSpringRowsArgs *a, int64_t begin, int64_t end, bool single) {
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < HK_LANE_PARTS; part++) {
      HkLanes at = hk_lanes(a->rows, g, part);
      if (at.regular)
        hessian_lanes(a, &at, (CoefficientKind){true, single});
      else
        hessian_lanes(a, &at, (CoefficientKind){false, single});
    }
}

static void hessian(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  if (a->single)
    hessian_groups(a, begin, end, true);
  else
    hessian_groups(a, begin, end, false);
}

/* Writes the records in the lanes of four vectors one after the other, as floats. */
HK_INLINE void put_records(const HkDoubles v[4], float *to) {
  HkHalf a = FLOATS(v[0]), b = FLOATS(v[1]), c = FLOATS(v[2]), d = FLOATS(v[3]);
#if HK_SIMD_BYTES == 64
  HkHalf ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
  HkHalf cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
  HkHalf AB = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  HkHalf CD = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  HkHalf rows[4] = {__builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13),
                    __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15),
                    __builtin_shufflevector(AB, CD, 0, 1, 8, 9, 4, 5, 12, 13),
                    __builtin_shufflevector(AB, CD, 2, 3, 10, 11, 6, 7, 14, 15)};
  for (int k = 0; k < 4; k++) {
    hk_float4_store(to + 4 * k, __builtin_shufflevector(rows[k], rows[k], 0, 1, 2, 3));
    hk_float4_store(to + 4 * (k + 4), __builtin_shufflevector(rows[k], rows[k], 4, 5, 6, 7));
  }
#elif HK_SIMD_BYTES == 32
  HkHalf ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
         AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  HkHalf cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
         CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  hk_float4_store(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
  hk_float4_store(to + 4, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
  hk_float4_store(to + 8, __builtin_shufflevector(AB, CD, 0, 1, 4, 5));
  hk_float4_store(to + 12, __builtin_shufflevector(AB, CD, 2, 3, 6, 7));
#else
  for (int l = 0; l < HK_DOUBLES; l++)
    hk_float4_store(to + 4 * l, (HkFloat4){a[l], b[l], c[l], d[l]});
#endif
}

/* A spring under pressure counts as k u u^T, with k = |w|^2 + c. */
HK_INLINE void record_lanes(const HkSpringRowsArgs *a, const HkLanes *at) {
  const HkSpringRows *r = a->rows;
  HkDoubles zero = {0}, square = hk_doubles_all(a->tau * a->tau), tau = hk_doubles_all(a->tau);
  HkDoubles tiny = hk_doubles_all(HK_SPRING_TINY);
  int64_t place = beside(at);
  float *to = a->records + 4 * (at->beside * HK_ROW_GROUP + at->part * HK_DOUBLES);
  for (int64_t slot = at->slot; slot < at->end; slot++) {
    HkDoubles v[4], c = coefficient_load(a->hessian, place, a->single);
    for (int axis = 0; axis < 3; axis++)
      v[axis] = coefficient_load(a->hessian, place + (axis + 1) * HK_ROW_GROUP, a->single);
    HkDoubles length2 = hk_doubles_most(hk_lanes_dot(v, v), tiny);
    HkDoubles scale = square * (length2 + hk_doubles_select(c < zero, c, zero));
    if (a->damped && r->damping)
      scale = scale + tau * hk_doubles_load(r->damping + hk_lanes_entry(at, slot));
    scale = hk_doubles_sqrt(hk_doubles_most(scale, zero) / length2);
    for (int axis = 0; axis < 3; axis++) v[axis] = scale * v[axis];
    if (a->flat) v[2] = zero;
    v[3] = square * hk_doubles_most(c, zero);
    put_records(v, to);
    place += 4 * HK_ROW_GROUP;
    to += 4 * HK_ROW_GROUP;
  }
}

static void records(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < HK_LANE_PARTS; part++) {
      HkLanes at = hk_lanes(a->rows, g, part);
      record_lanes(a, &at);
    }
}

HK_INLINE void product_lanes(const HkSpringRowsArgs *a, const HkLanes *at, CoefficientKind kind) {
  int64_t place = beside(at);
  HkDoubles p[3], d[3], w[3], sum[3] = {{0}, {0}, {0}};
  hk_lanes_own(a->rows, at, a->p, p);
  for (int64_t slot = at->slot; slot < at->end; slot++, place += 4 * HK_ROW_GROUP) {
    hk_lanes_differ(a->rows, at, slot, kind.regular, a->p, p, d);
    HkDoubles c = coefficient_load(a->hessian, place, kind.single);
    for (int axis = 0; axis < 3; axis++)
      w[axis] = coefficient_load(a->hessian, place + (axis + 1) * HK_ROW_GROUP, kind.single);
    HkDoubles along = hk_lanes_dot(w, d);
    for (int axis = 0; axis < 3; axis++) sum[axis] = sum[axis] + (along * w[axis] + c * d[axis]);
  }
  hk_lanes_put(a->rows, at, sum, a->out);
}

HK_INLINE void product_groups(const HkSpringRowsArgs *a, int64_t begin, int64_t end, bool single) {
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < HK_LANE_PARTS; part++) {
      HkLanes at = hk_lanes(a->rows, g, part);
      if (at.regular)
        product_lanes(a, &at, (CoefficientKind){true, single});
      else
        product_lanes(a, &at, (CoefficientKind){false, single});
    }
}

static void product(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  if (a->single)
    product_groups(a, begin, end, true);
  else
    product_groups(a, begin, end, false);
}

const HkSpringRowsKernels HK_KERNEL(hk_spring_rows_kernels) = {.pull = pull,
                                                               .pull_energy = pull_energy,
                                                               .change = change,
                                                               .hessian = hessian,
                                                               .records = records,
                                                               .product = product};
