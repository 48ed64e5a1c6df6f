/* Products with the derivatives of all forces of a model, in both directions.
 *
 * A force gives its Jacobian once, as blocks by positions and velocities and as columns by masses
 * and parameters (HkColumnSink). A sink multiplies each piece at once, from the left for gradients,
 *
 *     to_x_j += (df_i/dx_j)^T l_i,   dp += (df_i/dp) . l_i
 *
 * or from the right for directions, out_i += df_i/dx_j dx_j + df_i/dp dp. Both directions therefore
 * use the same derivatives, and are transposes of each other to rounding. Springs have products of
 * their own (spring_products.c).
 */
#include "adjoint/products.h"

#include "base/vec.h"
#include "force/springs.h"

typedef struct Product {
  HkColumnSink sink;
  const HkForcesAt *at;
  int force;
  double scale;
  const double *l;       /* of a transposed product; NULL: forward */
  double *to_x, *to_v;   /* may be NULL */
  const double *dx, *dv; /* may be NULL */
  double *out;
} Product;

/* to_j += scale B^T l_i, or out_i += scale B d_j. */
static void block(const Product *p, double scale, int32_t i, int32_t j, const double B[9],
                  double *to, const double *d) {
  if (p->l && to) {
    const double *l = p->l + 3 * (int64_t)i;
    for (int c = 0; c < 3; c++)
      to[3 * (int64_t)j + c] += scale * (B[c] * l[0] + B[3 + c] * l[1] + B[6 + c] * l[2]);
  } else if (!p->l && d) {
    double column[3] = {0, 0, 0};
    hk_mat_add_product(B, d + 3 * (int64_t)j, column);
    hk_axpy(scale, column, p->out + 3 * (int64_t)i);
  }
}

static void by_x(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  const Product *p = (const Product *)sink;
  block(p, p->scale, i, j, B, p->to_x, p->dx);
}

static void by_v(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  const Product *p = (const Product *)sink;
  block(p, p->scale, i, j, B, p->to_v, p->dv);
}

static void column(const Product *p, int32_t i, const double column[3], double *number) {
  if (p->l)
    *number += p->scale * hk_dot(column, p->l + 3 * (int64_t)i);
  else if (*number != 0)
    hk_axpy(p->scale * *number, column, p->out + 3 * (int64_t)i);
}

static void by_mass(HkColumnSink *sink, int32_t i, const double values[3]) {
  const Product *p = (const Product *)sink;
  column(p, i, values, &p->at->d->arrays.mass[i]);
}

static void by_number(HkColumnSink *sink, int32_t i, const double *number, const double values[3]) {
  const Product *p = (const Product *)sink;
  column(p, i, values,
         hk_derivative_of(&p->at->model->forces[p->force].method, &p->at->d->forces[p->force],
                          number));
}

static Product product_of(const HkForcesAt *at) {
  return (Product){
      .sink = {.blocks = {.dfdx = by_x, .dfdv = by_v}, .mass = by_mass, .number = by_number},
      .at = at,
      .scale = at->scale};
}

static HkSpringsAt springs_at(const Product *p, const double *v) {
  return (HkSpringsAt){.model = p->at->model,
                       .springs = p->at->work->springs,
                       .rows_of = p->at->work->rows,
                       .x = p->at->x,
                       .v = v,
                       .scale = p->scale,
                       .rows = p->at->rows};
}

static void multiply_springs(const Product *p, const double *v) {
  HkSpringsAt at = springs_at(p, v);
  if (p->l)
    hk_springs_pull_back(&at, p->l, p->to_x, v ? p->to_v : NULL, &p->at->springs);
  else
    hk_springs_push_forward(&at, p->dx, v ? p->dv : NULL, &p->at->springs, p->out);
}

/* The numbers of an array of forces. */
static void multiply_array(const Product *p, double *array) {
  int64_t count = 3 * p->at->model->n;
  for (int64_t c = 0; c < count; c++) {
    if (p->l)
      array[c] += p->scale * p->l[c];
    else
      p->out[c] += p->scale * array[c];
  }
}

/* Parts of a sum over the vertices. */
enum { WEIGHT_PARTS = 16 };

typedef struct Weight {
  const Product *p;
  double g[3], sums[WEIGHT_PARTS][3];
  int64_t parts;
} Weight;

/* m' += g . l, and a part of sum m l. */
static void weigh_range(void *user, int64_t part, int64_t last) {
  Weight *w = user;
  const HkModel *m = w->p->at->model;
  const double *l = w->p->l, *g = w->g;
  double scale = w->p->scale, *mass = w->p->at->d->arrays.mass;
  for (; part < last; part++) {
    double sum[3] = {0, 0, 0};
    int64_t end = m->n * (part + 1) / w->parts;
    for (int64_t i = m->n * part / w->parts; i < end; i++) {
      hk_axpy(m->mass[i], l + 3 * i, sum);
      mass[i] += scale * hk_dot(g, l + 3 * i);
    }
    for (int c = 0; c < 3; c++) w->sums[part][c] = sum[c];
  }
}

/* A force m_i g with the same g for all vertices: its columns are those of g. */
static void multiply_acceleration(Product *p, const HkForceType *type, const HkForceArgs *args) {
  const HkModel *m = p->at->model;
  const double *l = p->l;
  Weight w = {.p = p, .parts = m->n < HK_PARALLEL_MIN_ENTRIES ? 1 : WEIGHT_PARTS};
  double *g = w.g, sum[3] = {0, 0, 0}, *out = p->out, *mass = p->at->d->arrays.mass;
  type->accelerate(args, g);
  if (l) hk_parallel_work(m->threads, w.parts, 1, weigh_range, &w);
  for (int64_t part = 0; part < w.parts && l; part++) hk_axpy(1, w.sums[part], sum);
  if (l) p->l = sum;
  p->out = sum;
  type->columns(args, &p->sink);
  p->l = l;
  p->out = out;
  for (int64_t i = 0; i < m->n && !l; i++) {
    hk_axpy(m->mass[i], sum, out + 3 * i);
    hk_axpy(p->scale * mass[i], g, out + 3 * i);
  }
}

/* v NULL: the part of the force that has a potential. */
static void multiply_force(Product *p, int f, const double *v) {
  const HkModel *m = p->at->model;
  const HkForceType *type = m->forces[f].type;
  HkForceArgs a = hk_force_args(m, f, p->at->work, p->at->t, p->at->x, v);
  p->force = f;
  if (type->has_rows) {
    multiply_springs(p, v);
    return;
  }
  if (p->at->d->force_arrays[f]) {
    multiply_array(p, p->at->d->force_arrays[f]);
    return;
  }
  if (type->accelerate) {
    multiply_acceleration(p, type, &a);
    return;
  }
  p->sink.blocks.dfdv = v ? by_v : hk_jacobian_skip;
  if (type->jacobian) type->jacobian(&a, &p->sink.blocks);
  if (type->columns) type->columns(&a, &p->sink);
}

static void multiply(Product *p) {
  const HkForcesAt *at = p->at;
  const HkModel *m = at->model;
  for (int f = 0; f < m->force_count; f++) {
    bool energy = m->forces[f].type->energy != NULL;
    p->scale = at->scale;
    if (at->part == HK_FORCES_ALL) multiply_force(p, f, at->v);
    if (at->part == HK_FORCES_POTENTIAL && energy) multiply_force(p, f, NULL);
    if (at->part != HK_FORCES_PUSH || (energy && !hk_force_uses_velocity(m, at->work, f))) continue;
    multiply_force(p, f, at->v);
    if (!energy) continue;
    p->scale = -at->scale;
    multiply_force(p, f, NULL);
  }
}

void hk_forces_pull_back(const HkForcesAt *at, const double *l, double *to_x, double *to_v) {
  Product p = product_of(at);
  p.l = l;
  p.to_x = to_x;
  p.to_v = to_v;
  multiply(&p);
}

void hk_forces_push_forward(const HkForcesAt *at, const double *dx, const double *dv, double *out) {
  Product p = product_of(at);
  p.dx = dx;
  p.dv = dv;
  p.out = out;
  multiply(&p);
}

/* ---- Matrices times a constant vector ---- */

static void multiply_matrix(Product *p, HkForceMatrix matrix, const double *w) {
  const HkForcesAt *at = p->at;
  const HkModel *m = at->model;
  bool damping = matrix == HK_MATRIX_DAMPING;
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    HkForceArgs a = hk_force_args(m, f, at->work, at->t, at->x, at->v);
    a.curvature = HK_CURVATURE_PROJECTED;
    p->force = f;
    if (damping && !hk_force_uses_velocity(m, at->work, f)) continue;
    if (type->has_rows) {
      HkSpringsAt springs = springs_at(p, damping ? at->v : NULL);
      if (p->l)
        hk_springs_pull_back_matrix(&springs, damping, w, p->l, p->to_x, &at->springs);
      else
        hk_springs_push_forward_matrix(&springs, damping, w, p->dx, &at->springs, p->out);
    } else if (damping && type->damping_columns) {
      type->damping_columns(&a, w, &p->sink);
    } else if (!damping && type->stiffness_columns) {
      type->stiffness_columns(&a, w, &p->sink);
    }
  }
}

void hk_matrix_pull_back(const HkForcesAt *at, HkForceMatrix matrix, const double *w,
                         const double *l, double *to_x, double *to_v) {
  Product p = product_of(at);
  p.l = l;
  p.to_x = to_x;
  p.to_v = to_v;
  multiply_matrix(&p, matrix, w);
}

void hk_matrix_push_forward(const HkForcesAt *at, HkForceMatrix matrix, const double *w,
                            const double *dx, const double *dv, double *out) {
  Product p = product_of(at);
  p.dx = dx;
  p.dv = dv;
  p.out = out;
  multiply_matrix(&p, matrix, w);
}

typedef struct Stiffness {
  const HkForcesAt *at;
  const double *p;
  double *out;
} Stiffness;

static void stiffness_range(void *user, int64_t begin, int64_t end) {
  const Stiffness *a = user;
  const HkModel *m = a->at->model;
  for (int64_t i = begin; i < end; i++)
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      double H[9], d[3], Hd[3] = {0, 0, 0};
      hk_spring_hessian(a->at->work->springs, m->adj_spring[e], a->at->x, 1, H);
      hk_sub(a->p + 3 * i, a->p + 3 * (int64_t)m->adj_vertex[e], d);
      hk_mat_add_product(H, d, Hd);
      hk_axpy(a->at->scale, Hd, a->out + 3 * i);
    }
}

void hk_stiffness_product(const HkForcesAt *at, const double *vector, double *out) {
  const HkModel *m = at->model;
  Stiffness springs = {at, vector, out};
  Product p = product_of(at);
  p.scale = -at->scale;
  p.dx = vector;
  p.out = out;
  hk_parallel_for(m->threads, m->n, stiffness_range, &springs);
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    HkForceArgs a = hk_force_args(m, f, at->work, at->t, at->x, NULL);
    a.curvature = HK_CURVATURE_PROJECTED;
    p.sink.blocks.dfdv = hk_jacobian_skip;
    if (hk_force_has_blocks(m, f)) type->jacobian(&a, &p.sink.blocks);
  }
}

HkStatus hk_forces_check_differentiable(const HkModel *m, HkError *error) {
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (!type->differentiable)
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "the force '%s' cannot be differentiated; remove it, or choose another one",
                     type->schema.name);
    const void *params = m->forces[f].method.params;
    const char *param = type->not_differentiable ? type->not_differentiable(params) : NULL;
    if (param)
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "the force '%s' cannot be differentiated with \"%s\"; leave it out",
                     type->schema.name, param);
  }
  return HK_OK;
}
