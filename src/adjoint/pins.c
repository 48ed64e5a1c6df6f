/* Derivatives of the motions of held pins.
 *
 * The position of a pin is linear in the place x0 where it is at time 0, whatever its motion: the
 * columns of dx/dx0 are differences of positions. Columns by parameters come from the motion.
 */
#include "adjoint/adjoint.h"
#include "base/vec.h"

typedef struct Pin {
  HkMotionSink sink;
  const HkMethod *method, *derivative;
  double *x, *v; /* of the pin: gradients, or directions that are made; v may be NULL */
  bool back;
} Pin;

static void by_number(HkMotionSink *sink, const double *number, const double dx[3],
                      const double dv[3]) {
  const Pin *p = (const Pin *)sink;
  double *value = hk_derivative_of(p->method, p->derivative, number);
  if (p->back) {
    *value += hk_dot(dx, p->x) + (p->v ? hk_dot(dv, p->v) : 0);
  } else {
    hk_axpy(*value, dx, p->x);
    if (p->v) hk_axpy(*value, dv, p->v);
  }
}

static void by_place(const HkAdjoint *a, int64_t pin, double t, const Pin *p) {
  const HkModel *m = a->sim->model;
  const HkCompiledMotion *motion = &m->motions[m->pin_motion[pin]];
  double *place = a->d->arrays.places + 3 * pin, x0[3], v0[3], none[3] = {0, 0, 0};
  motion->type->at(motion->method.params, t, none, x0, v0, NULL);
  for (int axis = 0; axis < (m->dimension == 2 ? 2 : 3); axis++) {
    double unit[3] = {0, 0, 0}, dx[3], dv[3];
    unit[axis] = 1;
    motion->type->at(motion->method.params, t, unit, dx, dv, NULL);
    hk_axpy(-1, x0, dx);
    hk_axpy(-1, v0, dv);
    if (p->back) {
      place[axis] += hk_dot(dx, p->x) + (p->v ? hk_dot(dv, p->v) : 0);
    } else {
      hk_axpy(place[axis], dx, p->x);
      if (p->v) hk_axpy(place[axis], dv, p->v);
    }
  }
}

static void differentiate(const HkAdjoint *a, int64_t pin, double t, Pin *p) {
  const HkModel *m = a->sim->model;
  const HkCompiledMotion *motion = &m->motions[m->pin_motion[pin]];
  p->sink.number = by_number;
  p->method = &motion->method;
  p->derivative = &a->d->motions[m->pin_motion[pin]];
  if (m->dimension == 2) { /* z stays where it is */
    p->x[2] = 0;
    if (p->v) p->v[2] = 0;
  }
  by_place(a, pin, t, p);
  if (motion->type->columns) motion->type->columns(motion->method.params, t, &p->sink);
}

static void clear(double vector[3]) {
  for (int c = 0; c < 3; c++) vector[c] = 0;
}

void hk_pins_pull_back(const HkAdjoint *a, double t, double *x, double *v) {
  const HkModel *m = a->sim->model;
  for (int64_t pin = 0; pin < m->pin_count; pin++) {
    int64_t i = 3 * (int64_t)m->pin_vertex[pin];
    Pin p = {.x = x + i, .v = v ? v + i : NULL, .back = true};
    if (!a->before->pin_held[pin]) continue;
    differentiate(a, pin, t, &p);
    clear(p.x);
    if (p.v) clear(p.v);
  }
}

void hk_pins_push_forward(const HkAdjoint *a, double t, double *dx, double *dv) {
  const HkModel *m = a->sim->model;
  for (int64_t pin = 0; pin < m->pin_count; pin++) {
    int64_t i = 3 * (int64_t)m->pin_vertex[pin];
    Pin p = {.x = dx + i, .v = dv ? dv + i : NULL};
    if (!a->before->pin_held[pin]) continue;
    clear(p.x);
    if (p.v) clear(p.v);
    differentiate(a, pin, t, &p);
    if (m->dimension == 3) continue;
    p.x[2] = 0;
    if (p.v) p.v[2] = 0;
  }
}
