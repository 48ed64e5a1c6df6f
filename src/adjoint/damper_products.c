/* Derivatives of the springs of a step with dampers (force/dampers.c),
 *
 *     k' = k + c / tau,   l0' = (k l0 + c / tau l_b) / k'
 *     dl0'/dk = (l0 - l0') / k',   dl0'/dc = (l_b - l0') / (tau k'),   dl0'/dl0 = k / k',
 *     dl0'/dl_b = c / (tau k')
 *
 * and of l_b, a combination of lengths before the step or a component of the difference of b along
 * the direction of the predicted spring. Both directions share one list of derivatives for a
 * spring.
 */
#include "adjoint/damper_products.h"

#include "base/vec.h"
#include "force/springs.h"

/* Derivatives of k' and l0' of one spring. */
typedef struct Damper {
  double l0_by_k, l0_by_c, l0_by_l0, c_by_damping; /* k' depends on k by 1, on c by c_by_damping */
  double x[3], x_old[3], b[3], ahead[3];           /* dl0'/d(xi - xj) and so on */
} Damper;

/* Adds `part` of the derivative of the length of the spring at x to d, or to *by_l0 where a
 * tension-only spring is slack, whose length counts from l0 on; returns that length. */
static double add_length(const HkSpringArrays *s, int64_t e, const double *x, double part,
                         double d[3], double *by_l0) {
  double u[3];
  hk_sub(x + 3 * (int64_t)s->i[e], x + 3 * (int64_t)s->j[e], u);
  double l = hk_norm(u);
  if (s->tension && s->tension[e] && l < s->l0[e]) {
    *by_l0 += part;
    return s->l0[e];
  }
  if (l >= HK_SPRING_TINY) hk_axpy(part / l, u, d);
  return l;
}

static double add_component(const HkSpringArrays *s, int64_t e, const HkDamperStart *a, double part,
                            Damper *q) {
  int64_t i = 3 * (int64_t)s->i[e], j = 3 * (int64_t)s->j[e];
  double u[3], d[3];
  hk_sub(a->ahead + i, a->ahead + j, u);
  hk_sub(a->b + i, a->b + j, d);
  double l = hk_norm(u), length = hk_norm(d);
  if (l < HK_SPRING_TINY) {
    if (length >= HK_SPRING_TINY) hk_axpy(part / length, d, q->b);
    return length;
  }
  for (int c = 0; c < 3; c++) u[c] /= l;
  length = hk_dot(u, d);
  hk_axpy(part, u, q->b);
  hk_axpy(part / l, d, q->ahead);
  hk_axpy(-part / l * length, u, q->ahead);
  return length;
}

static Damper look(const HkDampers *dampers, const HkDamperStart *a, int64_t e) {
  const HkSpringArrays *s = dampers->base;
  double c = s->damping[e] / dampers->tau, k = s->k[e] + c, by_l0 = 0;
  Damper q = {.c_by_damping = 1 / dampers->tau, .l0_by_l0 = 1};
  if (k == 0) return q;
  double part = c / k, length;
  if (a->now != 0 || a->old != 0) {
    length = a->now * add_length(s, e, a->x, part * a->now, q.x, &by_l0);
    if (a->old != 0) length += a->old * add_length(s, e, a->x_old, part * a->old, q.x_old, &by_l0);
  } else {
    length = add_component(s, e, a, part, &q);
  }
  bool tension = s->tension && s->tension[e];
  double least = tension ? s->l0[e] : 0;
  if (length < least) { /* l_b is `least` */
    q = (Damper){.c_by_damping = 1 / dampers->tau};
    length = least;
    by_l0 = tension ? part : 0;
  }
  double l0 = s->l0[e] + part * (length - s->l0[e]);
  q.l0_by_k = (s->l0[e] - l0) / k;
  q.l0_by_c = (length - l0) / k;
  q.l0_by_l0 = s->k[e] / k + by_l0;
  return q;
}

/* Adds scale d to the first end of a spring and takes it from the second. */
static void add_ends(const HkSpringArrays *s, int64_t e, double scale, const double d[3],
                     double *to) {
  hk_axpy(scale, d, to + 3 * (int64_t)s->i[e]);
  hk_axpy(-scale, d, to + 3 * (int64_t)s->j[e]);
}

void hk_dampers_pull_back(const HkDampers *dampers, const HkDamperStart *start, const double *k,
                          const double *l0, const HkSpringNumbers *springs,
                          const HkDamperPlaces *places) {
  const HkSpringArrays *s = dampers->base;
  for (int64_t e = 0; e < s->count; e++) {
    Damper q = look(dampers, start, e);
    springs->k[e] += k[e] + l0[e] * q.l0_by_k;
    springs->l0[e] += l0[e] * q.l0_by_l0;
    springs->damping[e] += (k[e] + l0[e] * q.l0_by_c) * q.c_by_damping;
    add_ends(s, e, l0[e], q.x, places->x);
    add_ends(s, e, l0[e], q.x_old, places->x_old);
    add_ends(s, e, l0[e], q.b, places->b);
    add_ends(s, e, l0[e], q.ahead, places->ahead);
  }
}

static double along(const HkSpringArrays *s, int64_t e, const double d[3], const double *all) {
  double difference[3];
  hk_sub(all + 3 * (int64_t)s->i[e], all + 3 * (int64_t)s->j[e], difference);
  return hk_dot(d, difference);
}

void hk_dampers_push_forward(const HkDampers *dampers, const HkDamperStart *start,
                             const HkSpringNumbers *springs, const HkDamperPlaces *places,
                             double *k, double *l0) {
  const HkSpringArrays *s = dampers->base;
  for (int64_t e = 0; e < s->count; e++) {
    Damper q = look(dampers, start, e);
    double c = springs->damping[e] * q.c_by_damping;
    k[e] = springs->k[e] + c;
    l0[e] = q.l0_by_k * springs->k[e] + q.l0_by_c * c + q.l0_by_l0 * springs->l0[e] +
            along(s, e, q.x, places->x) + along(s, e, q.x_old, places->x_old) +
            along(s, e, q.b, places->b) + along(s, e, q.ahead, places->ahead);
  }
}
