/* Forces, energy and Hessian of the springs, a group of vertices at a time; see spring_rows.h.
 *
 *     f_i = sum -(k (l - l0) + c (vi - vj) . u) u,   B = w w^T + c I
 *
 * Each lane adds up the springs of its own vertex in the order of the model, with the operations of
 * force/springs.c: the forces are the same, bit for bit, as from there, for every instruction set.
 */
#include "force/spring_rows.h"

#include "base/simd.h"
#include "force/springs.h"

enum { PARTS = HK_ROW_GROUP / HK_DOUBLES };

/* x_i - x_j of the springs of one slot. */
HK_INLINE void differ(const double *x, const int32_t *at, const HkDoubles own[3], HkDoubles d[3]) {
  hk_doubles_gather(x, at, d);
  for (int c = 0; c < 3; c++) d[c] = own[c] - d[c];
}

HK_INLINE HkDoubles dot(const HkDoubles a[3], const HkDoubles b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The vertices of the lanes; those beyond the last stand for it. */
HK_INLINE void own_numbers(const HkSpringRows *r, int64_t first, int32_t own[HK_DOUBLES]) {
  for (int l = 0; l < HK_DOUBLES; l++) own[l] = (int32_t)(first + l < r->n ? first + l : r->n - 1);
}

/* f (+)= the lanes of sum, for the vertices that there are. */
HK_INLINE void put(const HkSpringRows *r, int64_t first, const HkDoubles sum[3], bool add,
                   double *f) {
  double lanes[3][HK_DOUBLES];
  for (int c = 0; c < 3; c++) hk_doubles_store(lanes[c], sum[c]);
  for (int l = 0; l < HK_DOUBLES && first + l < r->n; l++)
    for (int c = 0; c < 3; c++) {
      double *at = f + 3 * (first + l) + c;
      *at = lanes[c][l] + (add ? *at : 0);
    }
}

/* damped, threads and energy are constants where this is called. */
HK_INLINE HkDoubles pull_lanes(const HkSpringRowsArgs *a, int64_t group, int part, bool damped,
                               bool threads, bool energy) {
  const HkSpringRows *r = a->rows;
  int64_t first = group * HK_ROW_GROUP + part * HK_DOUBLES;
  int32_t own[HK_DOUBLES];
  HkDoubles x[3], v[3], sum[3] = {{0}, {0}, {0}}, stored = {0};
  HkDoubles tiny = hk_doubles_all(HK_SPRING_TINY);
  own_numbers(r, first, own);
  hk_doubles_gather(a->x, own, x);
  if (damped) hk_doubles_gather(a->v, own, v);
  for (int64_t slot = r->start[group]; slot < r->start[group + 1]; slot++) {
    int64_t at = slot * HK_ROW_GROUP + part * HK_DOUBLES;
    HkDoubles d[3], k = hk_doubles_load(r->k + at), l0 = hk_doubles_load(r->l0 + at);
    differ(a->x, r->neighbour + at, x, d);
    HkDoubles l = hk_doubles_most(hk_doubles_sqrt(dot(d, d)), tiny);
    HkDoubles push = k * (l0 - l);
    if (damped) {
      HkDoubles w[3];
      differ(a->v, r->neighbour + at, v, w);
      push = push - hk_doubles_load(r->damping + at) * dot(w, d) / l;
    }
    if (threads) push = hk_doubles_select(l < hk_doubles_load(r->least + at), (HkDoubles){0}, push);
    HkDoubles share = push / l;
    for (int c = 0; c < 3; c++) sum[c] = sum[c] + share * d[c];
    if (energy) stored = stored + push * (l0 - l);
  }
  put(r, first, sum, true, a->f);
  return stored;
}

HK_INLINE double pull_groups(const HkSpringRowsArgs *a, int64_t begin, int64_t end, bool damped,
                             bool threads, bool energy) {
  HkDoubles stored[PARTS];
  memset(stored, 0, sizeof stored);
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < PARTS; part++)
      stored[part] = stored[part] + pull_lanes(a, g, part, damped, threads, energy);
  double sum = 0;
  for (int part = 0; part < PARTS; part++) sum += hk_doubles_sum(stored[part]);
  return 0.25 * sum;
}

static void pull(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  bool damped = a->v && a->rows->damping;
  if (a->rows->least && damped)
    pull_groups(a, begin, end, true, true, false);
  else if (a->rows->least)
    pull_groups(a, begin, end, false, true, false);
  else if (damped)
    pull_groups(a, begin, end, true, false, false);
  else
    pull_groups(a, begin, end, false, false, false);
}

static double pull_energy(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  if (a->rows->least) return pull_groups(a, begin, end, false, true, true);
  return pull_groups(a, begin, end, false, false, true);
}

HK_INLINE void hessian_lanes(const HkSpringRowsArgs *a, const HkDoubles x[3], int64_t at,
                             double *to) {
  const HkSpringRows *r = a->rows;
  HkDoubles zero = {0}, tiny = hk_doubles_all(HK_SPRING_TINY), d[3];
  differ(a->x, r->neighbour + at, x, d);
  HkDoubles l = hk_doubles_sqrt(dot(d, d)), k = hk_doubles_load(r->k + at);
  HkDoubles longest = hk_doubles_most(l, tiny);
  if (r->least) k = hk_doubles_select(l < hk_doubles_load(r->least + at), zero, k);
  HkDoubles c = k * (hk_doubles_all(1) - hk_doubles_load(r->l0 + at) / longest);
  c = hk_doubles_select(l < tiny, k, c); /* the ends meet: k I */
  if (a->projected) c = hk_doubles_most(c, zero);
  HkDoubles along = hk_doubles_sqrt(hk_doubles_most(k - c, zero)) / longest;
  hk_doubles_store(to, c);
  for (int q = 0; q < 3; q++) hk_doubles_store(to + (q + 1) * HK_ROW_GROUP, along * d[q]);
}

static void hessian(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  const HkSpringRows *r = a->rows;
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < PARTS; part++) {
      int32_t own[HK_DOUBLES];
      HkDoubles x[3];
      own_numbers(r, g * HK_ROW_GROUP + part * HK_DOUBLES, own);
      hk_doubles_gather(a->x, own, x);
      for (int64_t slot = r->start[g]; slot < r->start[g + 1]; slot++)
        hessian_lanes(a, x, slot * HK_ROW_GROUP + part * HK_DOUBLES,
                      a->coefficients + 4 * slot * HK_ROW_GROUP + part * HK_DOUBLES);
    }
}

/* Four vectors of floats, one record in each lane, one record after the other. */
#define FLOATS(v) __builtin_convertvector(v, HkHalf)
typedef float HkHalf __attribute__((vector_size(HK_SIMD_BYTES / 2)));

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
  for (int q = 0; q < 4; q++) {
    hk_float4_store(to + 4 * q, __builtin_shufflevector(rows[q], rows[q], 0, 1, 2, 3));
    hk_float4_store(to + 4 * (q + 4), __builtin_shufflevector(rows[q], rows[q], 4, 5, 6, 7));
  }
#elif HK_SIMD_BYTES == 32
  HkHalf ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  HkHalf cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
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
static void records(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  const HkSpringRows *r = a->rows;
  HkDoubles zero = {0}, square = hk_doubles_all(a->tau * a->tau), tau = hk_doubles_all(a->tau);
  HkDoubles tiny = hk_doubles_all(HK_SPRING_TINY);
  for (int64_t slot = r->start[begin]; slot < r->start[end]; slot++)
    for (int part = 0; part < PARTS; part++) {
      int64_t at = slot * HK_ROW_GROUP + part * HK_DOUBLES;
      const double *from = a->hessian + 4 * slot * HK_ROW_GROUP + part * HK_DOUBLES;
      HkDoubles v[4], c = hk_doubles_load(from);
      for (int q = 0; q < 3; q++) v[q] = hk_doubles_load(from + (q + 1) * HK_ROW_GROUP);
      HkDoubles length2 = hk_doubles_most(dot(v, v), tiny);
      HkDoubles scale = square * (length2 + hk_doubles_select(c < zero, c, zero));
      if (r->damping) scale = scale + tau * hk_doubles_load(r->damping + at);
      scale = hk_doubles_sqrt(hk_doubles_most(scale, zero) / length2);
      for (int q = 0; q < 3; q++) v[q] = scale * v[q];
      v[3] = square * hk_doubles_most(c, zero);
      put_records(v, a->records + 4 * at);
    }
}

static void product(const HkSpringRowsArgs *a, int64_t begin, int64_t end) {
  const HkSpringRows *r = a->rows;
  for (int64_t g = begin; g < end; g++)
    for (int part = 0; part < PARTS; part++) {
      int64_t first = g * HK_ROW_GROUP + part * HK_DOUBLES;
      int32_t own[HK_DOUBLES];
      HkDoubles p[3], d[3], w[3], sum[3] = {{0}, {0}, {0}};
      own_numbers(r, first, own);
      hk_doubles_gather(a->p, own, p);
      for (int64_t slot = r->start[g]; slot < r->start[g + 1]; slot++) {
        const double *from = a->hessian + 4 * slot * HK_ROW_GROUP + part * HK_DOUBLES;
        differ(a->p, r->neighbour + slot * HK_ROW_GROUP + part * HK_DOUBLES, p, d);
        HkDoubles c = hk_doubles_load(from);
        for (int q = 0; q < 3; q++) w[q] = hk_doubles_load(from + (q + 1) * HK_ROW_GROUP);
        HkDoubles along = dot(w, d);
        for (int q = 0; q < 3; q++) sum[q] = sum[q] + (along * w[q] + c * d[q]);
      }
      put(r, first, sum, false, a->out);
    }
}

const HkSpringRowsKernels HK_KERNEL(hk_spring_rows_kernels) = {
    .pull = pull,
    .pull_energy = pull_energy,
    .hessian = hessian,
    .records = records,
    .product = product};
