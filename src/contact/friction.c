/* The potential of friction at all contacts of a step, and its derivatives; see friction.h.
 * friction_anchors.c makes the list of contacts and moves the anchors. */
#include "contact/friction.h"

#include "base/vec.h"

#include <string.h>

/* ---- Creating ---- */

HkStatus hk_friction_create(const HkModel *m, HkFriction **friction, HkError *error) {
  return hk_alloc(&m->context, friction, 1, sizeof **friction, "friction", error);
}

void hk_friction_destroy(const HkModel *m, HkFriction **friction) {
  HkFriction *f = *friction;
  if (!f) return;
  hk_free(&m->context, &f->anchor);
  hk_free(&m->context, &f->contact);
  hk_free(&m->context, &f->x);
  hk_free(&m->context, &f->obstacle);
  hk_free(&m->context, &f->pose);
  hk_free(&m->context, &f->pose_end);
  hk_free(&m->context, friction);
}

size_t hk_friction_bytes(const HkFriction *f) {
  return sizeof *f + (size_t)f->anchor_capacity * sizeof *f->anchor +
         (size_t)f->capacity * sizeof *f->contact +
         (size_t)(f->x_capacity + f->obstacle_capacity) * sizeof *f->x +
         (size_t)(f->pose_capacity + f->pose_end_capacity) * sizeof *f->pose;
}

double hk_friction_work(const HkContacts *c) {
  return c->friction->work;
}

/* ---- Displacements ---- */

void hk_friction_add_wall_move(const HkPose *from, const HkPose *to, const double point[3],
                               double s, double u[3]) {
  double r[3], local[3], moved[3];
  if (memcmp(from, to, sizeof *from) == 0) return; /* exactly 0 */
  hk_sub(point, from->T, r);
  for (int q = 0; q < 3; q++)
    local[q] = from->R[q] * r[0] + from->R[3 + q] * r[1] + from->R[6 + q] * r[2];
  for (int q = 0; q < 3; q++) moved[q] = hk_dot(to->R + 3 * q, local) + to->T[q] - point[q];
  hk_axpy(s, moved, u);
}

static HkFrictionPlace start_of(const HkFriction *f) {
  return (HkFrictionPlace){f->x, f->obstacle, f->pose};
}

static HkFrictionPlace place_now(const HkContacts *c, const double *x) {
  return (HkFrictionPlace){x, c->obstacle, c->pose};
}

/* u = T (relative displacement of a contact from one place to another) */
static void displacement(const HkContacts *c, const HkFrictionContact *t,
                         const HkFrictionPlace *from, const HkFrictionPlace *to, double u[3]) {
  int64_t n = c->data->features.n;
  if (t->wall >= 0) {
    hk_sub(to->x + 3 * (int64_t)t->vertex[0], from->x + 3 * (int64_t)t->vertex[0], u);
    hk_friction_add_wall_move(from->pose + t->wall, to->pose + t->wall, t->point, -1, u);
  } else {
    u[0] = u[1] = u[2] = 0;
    for (int a = 0; a < 4; a++) {
      int64_t own = t->vertex[a] - n, at = 3 * (own < 0 ? (int64_t)t->vertex[a] : own);
      double d[3];
      hk_sub((own < 0 ? to->x : to->obstacle) + at, (own < 0 ? from->x : from->obstacle) + at, d);
      hk_axpy(t->w[a], d, u);
    }
  }
  hk_friction_project(t->n, u);
}

double hk_friction_stretch(const HkContacts *c, const HkFrictionContact *t,
                           const HkFrictionPlace *at, double z[3]) {
  HkFrictionPlace start = start_of(c->friction);
  displacement(c, t, &start, at, z);
  hk_axpy(1, t->s, z);
  return hk_norm(z);
}

HkFrictionLaw hk_friction_law_of(const HkContacts *c, const HkFrictionContact *t, double duration) {
  if (!c->data->friction_ipc) return hk_friction_anchor(t->limit, t->k);
  return hk_friction_ipc(t->limit, c->data->friction_speed * duration);
}

/* The time from the start of the step to that of the stage. */
static double stage_duration(const HkContacts *c) {
  double duration = c->time_to - c->friction->time;
  return duration > 0 ? duration : c->h;
}

/* ---- Energy and derivatives ---- */

/* Outside of a step the list is that of the positions asked for. */
static bool is_ready(const HkForceArgs *a) {
  HkContacts *c = a->state;
  HkFriction *f = c->friction;
  if (f->in_step) return f->count > 0;
  size_t bytes = (size_t)c->data->features.n * 3 * sizeof *a->x;
  if (f->anchor_count == 0) return false;
  if (f->has_start && memcmp(f->x, a->x, bytes) == 0) return f->count > 0;
  const HkTouchings *found = hk_contacts_find(c, a->work.springs, a->x);
  HkStatus status = found ? hk_friction_list(a, found, NULL) : c->status;
  if (status < 0) c->status = status;
  return status >= 0 && f->count > 0;
}

double hk_friction_energy_at(const HkForceArgs *a) {
  const HkContacts *c = a->state;
  const HkFriction *f = c->friction;
  double sum = 0, z[3];
  if (!f->in_step) {
    for (int64_t k = 0; k < f->anchor_count; k++)
      sum += 0.5 * f->anchor[k].k * hk_dot(f->anchor[k].s, f->anchor[k].s);
    return sum;
  }
  HkFrictionPlace now = place_now(c, a->x);
  double duration = stage_duration(c);
  for (int64_t k = 0; k < f->count; k++) {
    HkFrictionLaw law = hk_friction_law_of(c, &f->contact[k], duration);
    sum += hk_friction_energy(&law, hk_friction_stretch(c, &f->contact[k], &now, z));
  }
  return sum;
}

double hk_friction_energy_change(const HkForceArgs *a, const double *to) {
  const HkContacts *c = a->state;
  const HkFriction *f = c->friction;
  double sum = 0;
  if (!is_ready(a)) return 0;
  HkFrictionPlace now = place_now(c, a->x), then = place_now(c, to);
  double duration = stage_duration(c);
  for (int64_t k = 0; k < f->count; k++) {
    const HkFrictionContact *t = &f->contact[k];
    HkFrictionLaw law = hk_friction_law_of(c, t, duration);
    double z[3], d[3], middle[3], r = hk_friction_stretch(c, t, &now, z);
    displacement(c, t, &now, &then, d);
    for (int q = 0; q < 3; q++) middle[q] = z[q] + 0.5 * d[q];
    double end[3] = {z[0] + d[0], z[1] + d[1], z[2] + d[2]}, lengths = r + hk_norm(end);
    if (lengths > 0) sum += hk_friction_change(&law, r, 2 * hk_dot(middle, d) / lengths);
  }
  return sum;
}

int64_t hk_friction_count(const HkForceArgs *a) {
  return is_ready(a) ? ((const HkContacts *)a->state)->friction->count : 0;
}

void hk_friction_force(const HkForceArgs *a, int64_t index, double F[3]) {
  const HkContacts *c = a->state;
  const HkFrictionContact *t = &c->friction->contact[index];
  HkFrictionPlace now = place_now(c, a->x);
  HkFrictionLaw law = hk_friction_law_of(c, t, stage_duration(c));
  double z[3], secant = hk_friction_secant(&law, hk_friction_stretch(c, t, &now, z));
  for (int q = 0; q < 3; q++) F[q] = -secant * z[q];
}

void hk_friction_add(const HkForceArgs *a, double *force) {
  const HkContacts *c = a->state;
  int64_t n = c->data->features.n, count = hk_friction_count(a);
  for (int64_t k = 0; k < count; k++) {
    const HkFrictionContact *t = &c->friction->contact[k];
    double F[3];
    hk_friction_force(a, k, F);
    if (t->wall >= 0) hk_axpy(1, F, force + 3 * (int64_t)t->vertex[0]);
    for (int v = 0; v < 4 && t->wall < 0; v++)
      if (t->vertex[v] < n) hk_axpy(t->w[v], F, force + 3 * (int64_t)t->vertex[v]);
  }
}

/* K of a contact */
static void stiffness(const HkFrictionContact *t, const HkFrictionLaw *law, const double z[3],
                      double r, HkCurvature curvature, double K[9]) {
  bool bound = curvature == HK_CURVATURE_BOUND;
  double secant = bound ? law->k : hk_friction_secant(law, r);
  hk_mat_identity(secant, K);
  hk_mat_add_outer(-secant, t->n, t->n, K);
  if (r > 0 && !bound)
    hk_mat_add_outer((hk_friction_curvature(law, r) - secant) / (r * r), z, z, K);
}

void hk_friction_jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  const HkContacts *c = a->state;
  const HkFriction *f = c->friction;
  const double one[1] = {1};
  bool curved = a->curvature == HK_CURVATURE_TRUE; /* as the terms of the barriers */
  if (!is_ready(a)) return;
  HkFrictionPlace now = place_now(c, a->x);
  double duration = stage_duration(c);
  for (int64_t k = 0; k < f->count; k++) {
    const HkFrictionContact *t = &f->contact[k];
    HkFrictionLaw law = hk_friction_law_of(c, t, duration);
    double z[3], K[9], w[4], r = hk_friction_stretch(c, t, &now, z);
    int32_t vertex[4];
    int count = 0;
    stiffness(t, &law, z, r, a->curvature, K);
    const double half[6] = {K[0], K[1], K[2], K[4], K[5], K[8]};
    if (t->wall >= 0) {
      hk_jacobian_add_term(sink, 1, t->vertex, one, half, curved);
      continue;
    }
    for (int v = 0; v < 4; v++) {
      if (t->vertex[v] >= c->data->features.n) continue;
      vertex[count] = t->vertex[v];
      w[count++] = t->w[v];
    }
    hk_jacobian_add_term(sink, count, vertex, w, half, curved);
  }
}
