/* Derivatives of steps of one linear system (linear_implicit_euler, beta; step/beta.c),
 *
 *     A u = M v + h (f + beta C v),   A = M + beta h^2 K+ + beta h C,   x+ = x + h u,   v+ = u
 *
 * with f, K+ and C at the start, and u = (X(t + h) - x) / h at held pins. With the gradient u' =
 * v+' + h x+' of a loss and A l = u' at the free vertices,
 *
 *     x' = x+' + h (df/dx)^T l - beta h^2 d(l . K+ u)/dx - beta h d(l . C (u - v))/dx
 *     v' = M l + beta h C l + h (df/dv)^T l - beta h d(l . C (u - v))/dv,   m' = -l . (u - v)
 *
 * and likewise by parameters. The third derivatives of the springs' energy are in
 * spring_products.c.
 */
#include "adjoint/adjoint.h"

#include <math.h>

typedef struct Linear {
  HkProblem *p;
  double h, t, beta;
  double *u, *slip;    /* 3 n: u, and u - v */
  HkForcesAt forces;   /* scaled by h */
  HkForcesAt matrices; /* scaled by -beta h^2 or -beta h */
} Linear;

static HkStatus remake(HkAdjoint *a, Linear *s, HkError *error) {
  HkSim *sim = a->sim;
  HkImplicit *implicit = sim->data;
  const HkState *before = a->before;
  s->p = &implicit->problem;
  s->h = sim->h;
  s->beta = a->update.beta;
  s->t = before->time + s->beta * s->h;
  s->u = a->w[0];
  s->slip = a->w[1];
  hk_implicit_begin(sim, before, &(HkStage){.t = s->t, .tau = sqrt(s->beta) * s->h});
  HK_TRY(hk_problem_linearize(s->p, before->x, before->v, error));
  for (int64_t c = 0; c < 3 * sim->model->n; c++) {
    s->u[c] = a->held[c / 3] ? (a->after->x[c] - before->x[c]) / s->h : a->after->v[c];
    s->slip[c] = s->u[c] - before->v[c];
  }
  s->forces = hk_adjoint_forces(a, s->t, before->x, before->v, s->h);
  s->matrices = s->forces;
  return HK_OK;
}

/* Solves with A: tau C of the problem's Hessian is to be beta h C. */
static HkStatus solve(HkAdjoint *a, const Linear *s, const double *b, double *x, HkError *error) {
  if (s->p->damped) hk_block_matrix_scale(&s->p->damping.C, sqrt(s->beta));
  HkStatus status = hk_adjoint_solve(a, a->before->x, b, 1, x, error);
  if (s->p->damped && s->beta > 0) hk_block_matrix_scale(&s->p->damping.C, 1 / sqrt(s->beta));
  return status;
}

HkStatus hk_linear_back(HkAdjoint *a, HkError *error) {
  const HkModel *m = a->sim->model;
  const HkVectors *space = &a->space;
  double *x = a->d->arrays.x, *v = a->d->arrays.v;
  double *to_u = a->w[2], *l = a->w[3], *Cl = a->w[4], *place = a->w[5];
  Linear s;
  HK_TRY(remake(a, &s, error));
  hk_pins_pull_back(a, a->before->time + s.h, x, v);
  hk_vectors_add(space, s.h, x, v, to_u);
  HK_TRY(solve(a, &s, to_u, l, error));
  for (int64_t c = 0; c < 3 * m->n; c++) {
    v[c] = m->mass[c / 3] * l[c];
    a->d->arrays.mass[c / 3] -= l[c] * s.slip[c];
  }
  hk_adjoint_restrict(a, l);
  hk_vectors_zero(space, to_u); /* from here on of held vertices alone */
  hk_forces_pull_back(&s.forces, l, x, v);
  s.matrices.scale = -s.beta * s.h * s.h;
  hk_matrix_pull_back(&s.matrices, HK_MATRIX_STIFFNESS, s.u, l, x, v);
  hk_stiffness_product(&s.matrices, l, to_u);
  if (s.p->damped) {
    s.matrices.scale = -s.beta * s.h;
    hk_matrix_pull_back(&s.matrices, HK_MATRIX_DAMPING, s.slip, l, x, v);
    hk_block_matrix_product(&s.p->damping.C, l, Cl);
    hk_vectors_add(space, s.beta * s.h, Cl, v, v);
    hk_vectors_add(space, -s.beta * s.h, Cl, to_u, to_u);
  }
  for (int64_t c = 0; c < 3 * m->n; c++) {
    place[c] = a->held[c / 3] ? to_u[c] / s.h : 0;
    x[c] -= place[c];
  }
  hk_pins_pull_back(a, a->before->time + s.h, place, NULL);
  return HK_OK;
}

HkStatus hk_linear_forward(HkAdjoint *a, HkError *error) {
  const HkModel *m = a->sim->model;
  const HkVectors *space = &a->space;
  double *x = a->d->arrays.x, *v = a->d->arrays.v;
  double *du = a->w[2], *r = a->w[3], *change = a->w[4], *product = a->w[5];
  Linear s;
  HK_TRY(remake(a, &s, error));
  hk_vectors_zero(space, du);
  hk_pins_push_forward(a, a->before->time + s.h, du, NULL);
  for (int64_t c = 0; c < 3 * m->n; c++) du[c] = a->held[c / 3] ? (du[c] - x[c]) / s.h : 0;
  hk_vectors_zero(space, r);
  hk_forces_push_forward(&s.forces, x, v, r);
  s.matrices.scale = -s.beta * s.h * s.h;
  hk_matrix_push_forward(&s.matrices, HK_MATRIX_STIFFNESS, s.u, x, v, r);
  hk_stiffness_product(&s.matrices, du, r);
  if (s.p->damped) {
    s.matrices.scale = -s.beta * s.h;
    hk_matrix_push_forward(&s.matrices, HK_MATRIX_DAMPING, s.slip, x, v, r);
    hk_vectors_subtract(space, du, v, change);
    hk_block_matrix_product(&s.p->damping.C, change, product);
    hk_vectors_add(space, -s.beta * s.h, product, r, r);
  }
  hk_adjoint_restrict(a, r);
  for (int64_t c = 0; c < 3 * m->n; c++)
    if (!a->held[c / 3]) r[c] += m->mass[c / 3] * v[c] - a->d->arrays.mass[c / 3] * s.slip[c];
  HK_TRY(solve(a, &s, r, change, error));
  for (int64_t c = 0; c < 3 * m->n; c++) {
    v[c] = change[c];
    x[c] += s.h * v[c];
  }
  hk_pins_push_forward(a, a->before->time + s.h, x, v);
  return HK_OK;
}
