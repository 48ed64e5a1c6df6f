/* The damping of springs as a potential of the step:
 *
 *     D = sum c / (2 tau) (l - l_b)^2,      (l - l_b) / tau ~ dl/dt
 *
 * c is the damping of a spring (N s/m), l its length, and l_b combines its lengths at the times
 * before as b combines the positions (problem.h): l_b = l_n for backward Euler, A l_n - B l_old for
 * bdf2. A damper exerts no force while its length stays the same, however far it rotates. The
 * damping matrix at a predicted state does not have that property: with strong damping it shortens
 * a spring that rotates by the angle theta in a step by theta^2 / 2 in every step, and the energy
 * grows. At x_n the potential is 0, so that the minimum has E + D + |v - v_n|^2 / 2 <= E_n + T_n.
 *
 * Where b is no combination of positions (trapezoidal, implicit_midpoint),
 *
 *     l_b = u . (b_i - b_j),      u the direction of the spring in the predicted state,
 *
 * which leaves dl/dt = u . (v_i - v_j) with an error of second order.
 *
 * Spring and damper pull along the same line and are one spring:
 *
 *     k' = k + c / tau,     l0' = (k l0 + c / tau l_b) / k'
 *
 * so that the Hessian and the preconditioners of springs include their dampers. Lengths of a
 * tension-only spring count from l0 on; it never pushes, and is slack below l0' >= l0.
 */
#include "force/dampers.h"

#include "base/vec.h"
#include "force/springs.h"

/* Points to the arrays of the caller, which live changes may replace; k and l0 are owned. */
static void use_springs(HkDampers *d, const HkForceWork *work) {
  HkSpringArrays own = d->springs;
  d->base = work->springs;
  d->springs = *work->springs;
  d->springs.k = own.k;
  d->springs.l0 = own.l0;
  d->springs.damping = NULL;
  d->springs.version = own.version;
  d->work = *work;
  d->work.springs = &d->springs;
  d->work.rows = d->rows;
}

static HkStatus create(HkDampers *d, const HkForceWork *work, HkError *error) {
  const HkModel *m = d->model;
  HkSpringArrays *s = &d->springs;
  int64_t count = m->springs.count;
  HK_TRY(hk_alloc(&m->context, &s->k, count, sizeof *s->k, "dampers", error));
  HK_TRY(hk_alloc(&m->context, &s->l0, count, sizeof *s->l0, "dampers", error));
  for (int64_t e = 0; e < count; e++) {
    s->k[e] = m->springs.k[e];
    s->l0[e] = m->springs.l0[e];
  }
  use_springs(d, work);
  HK_TRY(hk_spring_rows_create_own(m, s, &d->rows, error));
  d->work.rows = d->rows;
  d->bytes = sizeof *d + 2 * (size_t)count * sizeof *s->k + d->rows->bytes;
  return HK_OK;
}

HkStatus hk_dampers_create(const HkModel *model, const HkForceWork *work, HkDampers **dampers,
                           HkError *error) {
  HK_TRY(hk_alloc(&model->context, dampers, 1, sizeof **dampers, "dampers", error));
  (*dampers)->model = model;
  HkStatus status = create(*dampers, work, error);
  if (status < 0) hk_dampers_destroy(dampers);
  return status;
}

void hk_dampers_destroy(HkDampers **dampers) {
  HkDampers *d = *dampers;
  if (!d) return;
  const HkModel *m = d->model;
  hk_spring_rows_destroy(m, &d->rows);
  hk_free(&m->context, &d->springs.k);
  hk_free(&m->context, &d->springs.l0);
  hk_free(&m->context, dampers);
}

typedef struct Set {
  HkDampers *d;
  const HkDamperStart *start;
  double tau;
} Set;

static double length_at(const HkSpringArrays *springs, int64_t s, const double *x) {
  double l = hk_distance(x + 3 * (int64_t)springs->i[s], x + 3 * (int64_t)springs->j[s]);
  return springs->tension && springs->tension[s] ? fmax(l, springs->l0[s]) : l;
}

static double length_before(const HkSpringArrays *springs, int64_t s, const HkDamperStart *a) {
  int64_t i = 3 * (int64_t)springs->i[s], j = 3 * (int64_t)springs->j[s];
  double length = 0, least = springs->tension && springs->tension[s] ? springs->l0[s] : 0;
  if (a->now != 0 || a->old != 0) {
    length = a->now * length_at(springs, s, a->x);
    if (a->old != 0) length += a->old * length_at(springs, s, a->x_old);
  } else {
    double u[3], d[3];
    hk_sub(a->ahead + i, a->ahead + j, u);
    hk_sub(a->b + i, a->b + j, d);
    double l = hk_norm(u);
    length = l < HK_SPRING_TINY ? hk_norm(d) : hk_dot(u, d) / l;
  }
  return fmax(length, least);
}

static void set_range(void *user, int64_t begin, int64_t end) {
  const Set *a = user;
  const HkSpringArrays *springs = a->d->base;
  for (int64_t s = begin; s < end; s++) {
    double c = springs->damping[s] / a->tau, k = springs->k[s] + c;
    a->d->springs.k[s] = k;
    a->d->springs.l0[s] = springs->l0[s];
    if (c > 0)
      a->d->springs.l0[s] += c / k * (length_before(springs, s, a->start) - springs->l0[s]);
  }
}

void hk_dampers_set(HkDampers *d, const HkForceWork *work, double tau, const HkDamperStart *start) {
  const HkModel *m = d->model;
  Set a = {d, start, tau};
  use_springs(d, work);
  bool stiffer = d->tau != tau || d->base_version != d->base->version;
  hk_parallel_for(m->threads, m->springs.count, set_range, &a);
  d->tau = tau;
  d->base_version = d->base->version;
  if (stiffer) d->springs.version++;
  hk_spring_rows_fill(m, d->rows);
}
