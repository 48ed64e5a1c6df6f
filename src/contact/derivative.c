/* Derivatives of the steps that contact has a part in; see derivative.h.
 *
 * With the end z of the step, its start x, the anchor s and the normal force lambda that the state
 * remembers, and w and n at x:
 *
 *     barrier    F = -dB/dz,   lambda+ = -dB/dg,   both proportional to its stiffness kappa
 *     friction   y = s + sum w_a (z_a - x_a),   r = |T y|,   T = I - n n^T,   L = mu lambda
 *                F_a = -w_a D'(r) / r T y,   s+ = T y,  or  L / (k r) T y  where it slides
 *     kappa = 10 m / h^2 + sum w_a^2 n^T H_a n,   k = 10 m / h^2
 *
 * with the stiffness H_a of the springs at x, and w and n where the two have met: at x if they
 * touch there. If they have met within the step, at an iterate of the minimizer, w and n count as
 * constants of kappa. A contact without an anchor begins with its lambda at x.
 */
#include "contact/derivative.h"

#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/flat.h"
#include "contact/frame.h"
#include "contact/friction.h"

#include <string.h>

static const double INERTIA = 10; /* kappa h^2 / m */

typedef struct Loop {
  const HkForceArgs *a;
  const HkStepProduct *p;
  const HkContacts *c;
} Loop;

/* One number that depends on others: its derivative is spread to an input, or made from it. */
static void add(const HkStepProduct *p, double slope, double *input, double *number) {
  if (p->back)
    *input += slope * *number;
  else
    *number += slope * *input;
}

static void add_vector(const HkStepProduct *p, double slope, const double n[3], double *input,
                       double *number) {
  for (int q = 0; q < 3; q++) add(p, slope * n[q], input + q, number);
}

/* Goes from n and w to the positions at the start, or the other way round. */
static void add_frame(const HkStepProduct *p, const HkContactFrame *f, double by_n[3],
                      double by_w[4]) {
  if (p->back)
    hk_frame_pull_back(f, by_n, by_w, p->x_start);
  else
    hk_frame_push_forward(f, p->x_start, by_n, by_w);
}

/* ---- Stiffness of barriers ---- */

/* scale n^T H n with H = max(a, 0) P + k u u^T, a = k (1 - l0 / l), of a spring from i to j. */
static void add_spring(const Loop *q, int64_t s, int64_t i, int64_t j, const double n[3],
                       double scale, double *kappa) {
  const HkStepProduct *p = q->p;
  const HkSpringArrays *springs = q->a->work.springs;
  double u[3], slope[3] = {0, 0, 0}, k = springs->k[s], l0 = springs->l0[s];
  hk_sub(p->start + 3 * i, p->start + 3 * j, u);
  double l = hk_norm(u);
  if (!(l > 0) || (springs->tension && springs->tension[s] && l < l0)) return;
  for (int c = 0; c < 3; c++) u[c] /= l;
  double along = hk_dot(n, u), across = 1 - along * along;
  double pull = l > l0 ? 1 - l0 / l : 0, rest = 2 * along * k * (1 - pull) / l;
  hk_axpy(rest, n, slope);
  hk_axpy(-rest * along, u, slope);
  add(p, scale * (along * along + pull * across), &p->k[s], kappa);
  if (l > l0) {
    add(p, -scale * k / l * across, &p->l0[s], kappa);
    hk_axpy(k * l0 / (l * l) * across, u, slope);
  }
  add_vector(p, scale, slope, p->x_start + 3 * i, kappa);
  add_vector(p, -scale, slope, p->x_start + 3 * j, kappa);
}

static void multiply_stiffness(const double *H, const double n[3], double out[3]) {
  out[0] = H[0] * n[0] + H[1] * n[1] + H[2] * n[2];
  out[1] = H[1] * n[0] + H[3] * n[1] + H[4] * n[2];
  out[2] = H[2] * n[0] + H[4] * n[1] + H[5] * n[2];
}

/* kappa of what met with a frame. */
static void add_stiffness(const Loop *q, const HkContactFrame *f, double *kappa) {
  const HkModel *m = q->a->model;
  const HkContacts *c = q->c;
  double by_n[3] = {0, 0, 0}, by_w[4] = {0, 0, 0, 0}, n_slope[3] = {0, 0, 0}, w_slope[4] = {0};
  int free = 0;
  for (int a = 0; a < f->count; a++) free += hk_frame_has(c, f, a);
  for (int a = 0; a < f->count; a++) {
    if (!hk_frame_has(c, f, a)) continue;
    int64_t v = f->vertex[a];
    double Hn[3], square = f->w[a] * f->w[a];
    multiply_stiffness(c->H + 6 * v, f->n, Hn);
    hk_axpy(2 * square, Hn, n_slope);
    w_slope[a] = 2 * f->w[a] * hk_dot(f->n, Hn);
    add(q->p, INERTIA / (free * c->h * c->h), &q->p->mass[v], kappa);
    for (int64_t e = m->adj_start[v]; e < m->adj_start[v + 1] && square > 0; e++)
      add_spring(q, m->adj_spring[e], v, m->adj_vertex[e], f->n, square, kappa);
  }
  if (!q->p->back) add_frame(q->p, f, by_n, by_w);
  add_vector(q->p, 1, n_slope, by_n, kappa);
  for (int a = 0; a < 4; a++) add(q->p, w_slope[a], &by_w[a], kappa);
  if (q->p->back) add_frame(q->p, f, by_n, by_w);
}

/* The frame in which a vertex has met a wall. */
static HkContactFrame wall_meeting(const Loop *q, int32_t wall, int32_t v) {
  const HkContacts *c = q->c;
  const HkCompiledObstacle *o = c->data->walls[wall].obstacle;
  HkPose pose = c->pose[wall];
  if (o) hk_obstacle_pose(o, q->a->t - c->h, pose.R, pose.T);
  HkContactFrame f = hk_frame_of_wall(c, wall, &pose, v, q->p->start);
  if (f.g < c->data->ghat) return f;
  f = hk_frame_of_wall(c, wall, &c->pose[wall], v, q->a->x);
  f.turns = false;
  return f;
}

/* A pair as it is at the start of the step. */
static HkContactPair pair_at_start(const Loop *q, const int32_t vertex[4], int split, uint64_t key,
                                   HkTouch *touch) {
  const HkContacts *c = q->c;
  HkContactPair pair = {.split = split, .xi = hk_contacts_xi(c, vertex), .ghat = c->data->ghat};
  for (int a = 0; a < 4; a++) {
    double *x = pair.x + 3 * a;
    if (vertex[a] < c->data->features.n)
      memcpy(x, q->p->start + 3 * (int64_t)vertex[a], 3 * sizeof *x);
    else
      hk_contacts_obstacle_vertex(c, vertex[a], q->a->t - c->h, x);
  }
  *touch = hk_pair_touch(&pair);
  pair.flat = hk_flat_near(&pair, hk_features_flat(&c->data->features, key));
  return pair;
}

static HkContactFrame pair_meeting(const Loop *q, const HkTouching *t) {
  HkTouch touch;
  HkContactPair pair = pair_at_start(q, t->vertex, t->split, t->key, &touch);
  if (touch.g < pair.ghat) return hk_frame_of_pair(q->c, t->vertex, &pair, &touch);
  pair.flat = t->flat;
  hk_contacts_pair(q->c, q->a->x, t->vertex, t->split, &pair);
  HkContactFrame f = hk_frame_of_pair(q->c, t->vertex, &pair, &t->touch);
  f.turns = false;
  return f;
}

/* ---- Barriers ---- */

/* The numbers of an anchor among those of a memory; NULL: there is none. */
static double *anchor_numbers(const HkForceMemory *memory, double *numbers, uint64_t key,
                              HkAnchor *anchor) {
  int64_t at = hk_friction_find_anchor(memory, key, anchor);
  return at < 0 ? NULL : numbers + HK_ANCHOR_NUMBERS * at;
}

static double *height_of(const Loop *q, int32_t wall) {
  const HkContactParams *params = q->a->params;
  bool ground = wall >= 0 && !q->c->data->walls[wall].obstacle;
  return ground ? q->p->number(q->p, &params->height) : NULL;
}

/* What a barrier does at the end of the step. */
typedef struct Barrier {
  HkContactFrame meeting;
  double kappa, lambda;
  double F[12];        /* N: on each vertex of the meeting */
  double by_x[12];     /* d lambda / dz */
  double height[3];    /* dF / dheight of the ground, N/m */
  double *height_slot; /* NULL: no ground */
} Barrier;

static void multiply_barrier(const Loop *q, const Barrier *b, double *lambda) {
  const HkStepProduct *p = q->p;
  double kappa = 0;
  if (!p->back && p->rest) add_stiffness(q, &b->meeting, &kappa);
  for (int a = 0; a < b->meeting.count; a++) {
    if (!hk_frame_has(q->c, &b->meeting, a)) continue;
    int64_t at = 3 * (int64_t)b->meeting.vertex[a];
    for (int k = 0; k < 3; k++) {
      if (p->forces) add(p, p->scale * b->F[3 * a + k] / b->kappa, &kappa, p->f + at + k);
      if (p->forces && b->height_slot)
        add(p, p->scale * b->height[k], b->height_slot, p->f + at + k);
      if (p->end && lambda) add(p, b->by_x[3 * a + k], p->x_end + at + k, lambda);
    }
  }
  if (p->rest && lambda) {
    add(p, b->lambda / b->kappa, &kappa, lambda);
    if (b->height_slot) add(p, -hk_dot(b->by_x, b->meeting.n), b->height_slot, lambda);
  }
  if (p->back && p->rest) add_stiffness(q, &b->meeting, &kappa);
}

static double *lambda_after(const Loop *q, uint64_t key) {
  HkAnchor anchor;
  double *to = anchor_numbers(q->p->to, q->p->to_numbers, key, &anchor);
  return to && q->p->memory ? to + 3 : NULL;
}

static void multiply_wall_barrier(const Loop *q, const HkWallTouching *t) {
  double ghat = q->c->data->ghat, stiff = t->k * hk_barrier_curvature(t->g / ghat);
  Barrier b = {.meeting = wall_meeting(q, t->wall, t->vertex),
               .kappa = t->k,
               .lambda = -t->k * ghat * hk_barrier_slope(t->g / ghat),
               .height_slot = height_of(q, t->wall)};
  for (int k = 0; k < 3; k++) {
    b.F[k] = b.lambda * t->n[k];
    b.by_x[k] = -stiff * t->n[k];
    b.height[k] = stiff * t->n[k];
  }
  multiply_barrier(q, &b, lambda_after(q, hk_anchor_wall_key(t->wall, t->vertex)));
}

static void multiply_pair_barrier(const Loop *q, const HkTouching *t) {
  HkContactPair pair = {.k = t->k, .c0 = t->c0, .flat = t->flat};
  Barrier b = {.meeting = pair_meeting(q, t), .kappa = t->k, .lambda = -t->slope};
  double n[3];
  hk_contacts_pair(q->c, q->a->x, t->vertex, t->split, &pair);
  hk_pair_gradient(&pair, &t->touch, b.F);
  for (int k = 0; k < 12; k++) b.F[k] = -b.F[k];
  hk_flat_normal(&pair, &t->touch, n);
  hk_pair_force_gradient(&pair, &t->touch, n, b.by_x);
  if (pair.flat.edges) b.lambda = hk_dot(b.F, n);
  multiply_barrier(q, &b, lambda_after(q, t->key));
}

/* ---- Friction ---- */

/* A contact in the step: its frame at the start, y and z = T y. */
typedef struct Slide {
  const HkFrictionContact *t;
  HkContactFrame frame;
  HkFrictionLaw law;
  double d[4][3]; /* m: moves of the vertices in the step */
  double y[3], z[3], r, mu;
  double along[9];        /* at a wall that turns: the move of its point, by x */
  double lambda_by_x[12]; /* N/m: of lambda at x */
  double kappa_slope;     /* of lambda at x, by kappa */
  bool slides;
} Slide;

/* The move of a point of a wall depends on the point, which is x less its distance along n. */
static void set_along(const HkFriction *f, double distance, Slide *s) {
  const HkPose *from = &f->pose[s->t->wall], *to = &f->pose_end[s->t->wall];
  double M[9], P[9];
  if (memcmp(from, to, sizeof *from) == 0) return;
  for (int q = 0; q < 9; q++) {
    M[q] = hk_dot(to->R + q / 3 * 3, from->R + q % 3 * 3) - (q % 4 == 0);
    P[q] = (q % 4 == 0) - s->frame.n[q / 3] * s->frame.n[q % 3] - distance * s->frame.H[q];
  }
  hk_mat_multiply(M, P, s->along);
}

static void look_at_wall(const Loop *q, Slide *s) {
  const HkContacts *c = q->c;
  const HkFriction *f = c->friction;
  int32_t v = s->t->vertex[0], wall = s->t->wall;
  double ghat = c->data->ghat, kappa = c->wall_k[wall * c->data->features.n + v];
  s->frame = hk_frame_of_wall(c, wall, &f->pose[wall], v, f->x);
  hk_sub(q->a->x + 3 * (int64_t)v, f->x + 3 * (int64_t)v, s->d[0]);
  hk_friction_add_wall_move(&f->pose[wall], &f->pose_end[wall], s->t->point, -1, s->d[0]);
  s->kappa_slope = -ghat * hk_barrier_slope(s->frame.g / ghat);
  hk_axpy(-kappa * hk_barrier_curvature(s->frame.g / ghat), s->frame.n, s->lambda_by_x);
  set_along(f, s->frame.g + c->data->radius[v], s);
}

static void look_at_pair(const Loop *q, Slide *s) {
  const HkContacts *c = q->c;
  const HkFrictionContact *t = s->t;
  int32_t vertex[4];
  int split = hk_contact_vertices(&c->data->features, t->key, vertex);
  double G[12];
  HkTouch touch;
  HkContactPair pair = pair_at_start(q, vertex, split, t->key, &touch);
  pair.k = hk_contacts_stiffness(c, t->key);
  pair.c0 = hk_contacts_mollifier(c, vertex, split);
  s->frame = hk_frame_of_pair(c, vertex, &pair, &touch);
  for (int a = 0; a < 4; a++)
    hk_sub(hk_contacts_position(c, q->a->x, vertex[a]), pair.x + 3 * a, s->d[a]);
  hk_pair_gradient(&pair, &touch, G);
  for (int a = 0; a < split; a++) s->kappa_slope -= hk_dot(G + 3 * a, s->frame.n) / pair.k;
  hk_pair_force_gradient(&pair, &touch, s->frame.n, s->lambda_by_x);
}

static Slide look(const Loop *q, const HkFrictionContact *t, const HkAnchor *before) {
  Slide s = {.t = t, .law = hk_friction_law_of(q->c, t, q->c->h), .mu = t->limit / t->lambda};
  if (t->wall >= 0)
    look_at_wall(q, &s);
  else
    look_at_pair(q, &s);
  hk_axpy(before->k / t->k, before->s, s.y);
  for (int a = 0; a < s.frame.count; a++) hk_axpy(s.frame.w[a], s.d[a], s.y);
  memcpy(s.z, s.y, sizeof s.z);
  hk_friction_project(s.frame.n, s.z);
  s.r = hk_norm(s.z);
  s.slides = s.r > s.law.c;
  return s;
}

/* Outputs F and s+, by inputs y, n, lambda, mu and k. */
enum { FORCE = 0, ANCHOR = 3, ROWS = 6, Y = 0, N = 3, LAMBDA = 6, MU, STIFFNESS, COLUMNS };

/* Rows that depend on z by A: dz = T dy - (n . y) dn - n (y . dn). */
static void set_rows(const Slide *s, int first, const double A[9], double J[ROWS][COLUMNS]) {
  const double *n = s->frame.n, *y = s->y;
  double T[9], B[9], by[9];
  hk_mat_identity(1, T);
  hk_mat_add_outer(-1, n, n, T);
  hk_mat_identity(-hk_dot(n, y), B);
  hk_mat_add_outer(-1, n, y, B);
  hk_mat_multiply(A, T, by);
  for (int q = 0; q < 9; q++) J[first + q / 3][Y + q % 3] = by[q];
  hk_mat_multiply(A, B, by);
  for (int q = 0; q < 9; q++) J[first + q / 3][N + q % 3] = by[q];
}

static void set_force(const Slide *s, double J[ROWS][COLUMNS]) {
  const HkFrictionLaw *law = &s->law;
  double secant = hk_friction_secant(law, s->r), A[9];
  hk_mat_identity(-secant, A);
  if (s->r > 0)
    hk_mat_add_outer((secant - hk_friction_curvature(law, s->r)) / (s->r * s->r), s->z, s->z, A);
  set_rows(s, FORCE, A, J);
  for (int c = 0; c < 3; c++) {
    double by_limit = law->ipc || s->slides ? -secant / law->limit * s->z[c] : 0;
    J[FORCE + c][LAMBDA] = s->mu * by_limit;
    J[FORCE + c][MU] = s->t->lambda * by_limit;
    J[FORCE + c][STIFFNESS] = law->ipc || s->slides ? 0 : -s->z[c];
  }
}

static void set_anchor(const Slide *s, double J[ROWS][COLUMNS]) {
  double A[9], part = s->slides ? s->law.c / s->r : 1;
  if (s->law.ipc) return; /* it stays at 0 */
  hk_mat_identity(part, A);
  if (s->slides) hk_mat_add_outer(-part / (s->r * s->r), s->z, s->z, A);
  set_rows(s, ANCHOR, A, J);
  for (int c = 0; c < 3 && s->slides; c++) {
    double by_limit = s->z[c] / (s->r * s->law.k);
    J[ANCHOR + c][LAMBDA] = s->mu * by_limit;
    J[ANCHOR + c][MU] = s->t->lambda * by_limit;
    J[ANCHOR + c][STIFFNESS] = -part * s->z[c] / s->law.k;
  }
}

/* Inputs and outputs of a contact: gradients, or directions. */
typedef struct Numbers {
  double in[COLUMNS], out[ROWS];
  double w[4];
} Numbers;

/* F_a = w_a F */
static void add_forces(const Loop *q, const Slide *s, Numbers *x) {
  const HkStepProduct *p = q->p;
  double F[3] = {0, 0, 0}, secant = hk_friction_secant(&s->law, s->r);
  hk_axpy(-secant, s->z, F);
  for (int a = 0; a < s->frame.count && p->forces; a++) {
    if (!hk_frame_has(q->c, &s->frame, a)) continue;
    double *f = p->f + 3 * (int64_t)s->frame.vertex[a];
    for (int c = 0; c < 3; c++) {
      add(p, p->scale * s->frame.w[a], &x->out[FORCE + c], f + c);
      add(p, p->scale * F[c], &x->w[a], f + c);
    }
  }
}

/* s+ and k, in the memory after the step. */
static void add_anchor(const Loop *q, double *to, Numbers *x) {
  if (!to || !q->p->memory) return;
  for (int c = 0; c < 3; c++) add(q->p, 1, &x->out[ANCHOR + c], to + c);
  add(q->p, 1, &x->in[STIFFNESS], to + 4);
}

/* y = s k_before / k + sum w_a d_a: the force of an anchor stays if its stiffness changes. */
static void add_y(const Loop *q, const Slide *s, const HkAnchor *before, double *from, Numbers *x) {
  const HkStepProduct *p = q->p;
  for (int a = 0; a < s->frame.count; a++) {
    int64_t at = 3 * (int64_t)s->frame.vertex[a];
    bool has = hk_frame_has(q->c, &s->frame, a);
    for (int c = 0; c < 3; c++) {
      if (p->end && has) add(p, s->frame.w[a], p->x_end + at + c, &x->in[Y + c]);
      if (p->rest && has) add(p, -s->frame.w[a], p->x_start + at + c, &x->in[Y + c]);
      if (p->rest) add(p, s->d[a][c], &x->w[a], &x->in[Y + c]);
      for (int k = 0; k < 3 && p->rest && s->t->wall >= 0; k++)
        add(p, -s->along[3 * c + k], p->x_start + at + k, &x->in[Y + c]);
    }
  }
  double k = s->t->k, ratio = before->k / k;
  for (int c = 0; c < 3 && p->rest && from; c++) {
    add(p, ratio, from + c, &x->in[Y + c]);
    add(p, before->s[c] / k, from + 4, &x->in[Y + c]);
    add(p, -ratio * before->s[c] / k, &x->in[STIFFNESS], &x->in[Y + c]);
  }
}

/* The groups (features.h) of the two sides of a contact. */
static void find_groups(const HkContactData *d, const HkFrictionContact *t, int group[2]) {
  int64_t a, b;
  if (t->wall >= 0) {
    group[0] = d->group[t->vertex[0]];
    group[1] = d->walls[t->wall].group;
    return;
  }
  hk_contact_slots(t->key, &a, &b);
  group[0] = d->features.group[a / HK_CONTACT_WIDTH];
  group[1] = d->features.group[b / HK_CONTACT_WIDTH];
}

/* The coefficient between two groups by those of the force. */
static void add_coefficient(const Loop *q, const Slide *s, double *mu) {
  const HkContactParams *params = q->a->params;
  const HkContactData *d = q->c->data;
  int group[2];
  double slope[2];
  find_groups(d, s->t, group);
  hk_contact_friction_slope(q->a->model, d, params, group[0], group[1], s->t->slid, slope);
  add(q->p, slope[0], q->p->number(q->p, &params->friction), mu);
  if (slope[1] != 0) add(q->p, slope[1], q->p->number(q->p, &params->friction_kinetic), mu);
}

/* lambda is that of the anchor, or that of the barrier at the start. */
static void add_lambda(const Loop *q, const Slide *s, double *from, double *lambda) {
  const HkStepProduct *p = q->p;
  double kappa = 0, *height = height_of(q, s->t->wall);
  if (from) {
    add(p, 1, from + 3, lambda);
    return;
  }
  if (!p->back) add_stiffness(q, &s->frame, &kappa);
  add(p, s->kappa_slope, &kappa, lambda);
  if (p->back) add_stiffness(q, &s->frame, &kappa);
  for (int a = 0; a < s->frame.count; a++)
    if (hk_frame_has(q->c, &s->frame, a))
      add_vector(p, 1, s->lambda_by_x + 3 * a, p->x_start + 3 * (int64_t)s->frame.vertex[a],
                 lambda);
  if (height) add(p, -hk_dot(s->lambda_by_x, s->frame.n), height, lambda);
}

static void add_stiffness_of_anchor(const Loop *q, const Slide *s, double *k) {
  double h = q->c->h;
  int free = 0;
  for (int a = 0; a < s->frame.count; a++) free += hk_frame_has(q->c, &s->frame, a);
  for (int a = 0; a < s->frame.count; a++)
    if (hk_frame_has(q->c, &s->frame, a))
      add(q->p, INERTIA / (free * h * h), &q->p->mass[s->frame.vertex[a]], k);
}

static void multiply(const HkStepProduct *p, double J[ROWS][COLUMNS], Numbers *x) {
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) add(p, J[r][c], &x->in[c], &x->out[r]);
}

/* From the inputs of the step to those of the contact: what y depends on comes first. */
static void push_inputs(const Loop *q, const Slide *s, const HkAnchor *before, double *from,
                        Numbers *x) {
  const HkStepProduct *p = q->p;
  if (p->rest) {
    add_frame(p, &s->frame, x->in + N, x->w);
    add_stiffness_of_anchor(q, s, &x->in[STIFFNESS]);
    add_coefficient(q, s, &x->in[MU]);
    add_lambda(q, s, from, &x->in[LAMBDA]);
  }
  add_y(q, s, before, from, x);
}

/* The other way round. */
static void pull_inputs(const Loop *q, const Slide *s, const HkAnchor *before, double *from,
                        Numbers *x) {
  const HkStepProduct *p = q->p;
  add_y(q, s, before, from, x);
  if (!p->rest) return;
  add_lambda(q, s, from, &x->in[LAMBDA]);
  add_coefficient(q, s, &x->in[MU]);
  add_stiffness_of_anchor(q, s, &x->in[STIFFNESS]);
  add_frame(p, &s->frame, x->in + N, x->w);
}

static void multiply_friction(const Loop *q, const HkFrictionContact *t) {
  const HkStepProduct *p = q->p;
  HkAnchor before = {.k = t->k}, after;
  double *from = anchor_numbers(p->from, p->from_numbers, t->key, &before);
  double *to = anchor_numbers(p->to, p->to_numbers, t->key, &after);
  double J[ROWS][COLUMNS] = {{0}};
  Slide s = look(q, t, &before);
  Numbers x = {.w = {0}};
  set_force(&s, J);
  set_anchor(&s, J);
  if (!p->back) {
    push_inputs(q, &s, &before, from, &x);
    multiply(p, J, &x);
  }
  add_forces(q, &s, &x);
  add_anchor(q, to, &x);
  if (!p->back) return;
  multiply(p, J, &x);
  pull_inputs(q, &s, &before, from, &x);
}

/* ---- All contacts ---- */

HkStatus hk_contact_step_product(const HkForceArgs *a, const HkStepProduct *p, HkError *error) {
  HkContacts *c = a->state;
  const HkFriction *f = c->friction;
  Loop q = {a, p, c};
  const HkTouchings *found = hk_contacts_find(c, a->work.springs, a->x);
  if (!found) return hk_fail(error, c->status, "there is not enough memory for contact");
  for (int64_t k = 0; k < found->pair_count; k++) multiply_pair_barrier(&q, &found->pair[k]);
  for (int64_t k = 0; k < found->wall_count; k++) multiply_wall_barrier(&q, &found->wall[k]);
  for (int64_t k = 0; k < f->count; k++) multiply_friction(&q, &f->contact[k]);
  return HK_OK;
}

void hk_contact_resume_step(const HkForceArgs *a) {
  ((HkContacts *)a->state)->friction->in_step = true;
}

int64_t hk_contact_memory_numbers(const HkForceMemory *memory) {
  return HK_ANCHOR_NUMBERS * hk_friction_anchor_count(memory);
}
