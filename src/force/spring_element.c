/* A spring as an element: the definition in its plainest form. springs.c computes the same for all
 * springs at once in the form that is fast, and adds damping. */
#include "base/vec.h"
#include "force/element.h"
#include "force/springs.h"

#include <string.h>

/* d = x_a - x_b and its length; false where the spring gives nothing. */
static bool measure(const HkSpringElement *s, const double *x, double d[3], double *l) {
  hk_sub(x, x + 3, d);
  *l = hk_norm(d);
  return !(s->tension_only && *l < s->l0);
}

/* 1/2 k (l - l0)^2 */
static double energy(void *user, const void *record, const double *x) {
  const HkSpringElement *s = record;
  double d[3], l;
  (void)user;
  return measure(s, x, d, &l) ? 0.5 * s->k * (l - s->l0) * (l - s->l0) : 0;
}

/* dE/dx_a = k (l - l0) d / l = -dE/dx_b */
static void gradient(void *user, const void *record, const double *x, double *g) {
  const HkSpringElement *s = record;
  double d[3], l;
  (void)user;
  if (!measure(s, x, d, &l) || l < HK_SPRING_TINY) return;
  hk_axpy(s->k * (l - s->l0) / l, d, g);
  hk_axpy(-s->k * (l - s->l0) / l, d, g + 3);
}

/* B = k [u u^T + (1 - l0 / l) (I - u u^T)] at (a, a) and (b, b), -B at (a, b) and (b, a) */
static void hessian(void *user, const void *record, const double *x, double *H) {
  const HkSpringElement *s = record;
  double d[3], l, B[9];
  (void)user;
  if (!measure(s, x, d, &l)) return;
  double across = l < HK_SPRING_TINY ? s->k : s->k * (1 - s->l0 / l);
  hk_mat_identity(across, B);
  if (l >= HK_SPRING_TINY) hk_mat_add_outer((s->k - across) / (l * l), d, d, B);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) H[6 * i + j] = (i / 3 == j / 3 ? 1 : -1) * B[3 * (i % 3) + j % 3];
}

HkElementFunctions hk_spring_element(void) {
  HkElementFunctions f = hk_element_functions_default();
  f.name = "spring elements";
  f.vertices = 2;
  f.record = sizeof(HkSpringElement);
  f.energy = energy;
  f.gradient = gradient;
  f.hessian = hessian;
  return f;
}
