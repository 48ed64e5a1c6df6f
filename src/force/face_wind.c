/* Wind on triangles: drag and lift from the speed of the air past them.
 *
 * A triangle x0 x1 x2 has the area vector a = 1/2 (x1 - x0) x (x2 - x0) = A n, and the air passes
 * it with r = u(c, t) - (v0 + v1 + v2) / 3 = R e, c its center. With z = e . n, the sine of the
 * angle of attack, and s = sign z
 *
 *     F = 1/2 rho R^2 A [Cd |z| e + 2 Cl z (n - z e)],   f_i = F / 3 for each corner
 *
 * Drag points along e and is proportional to the projected area; Cd is that of a plate
 * perpendicular to the wind. Lift is perpendicular to e with the magnitude 1/2 rho R^2 A Cl sin 2
 * alpha, as of a plate in separated flow; Cl is its largest value, at 45 degrees. A lift of the
 * form s (R^2 a - (r . a) r) would be polynomial, but largest at zero angle of attack, where it
 * jumps from one side to the other; this one vanishes there, as on a real plate, and F is
 * continuous everywhere. F does not depend on which side is the front. The lift does no work
 * against the air and the drag does negative work: still air damps. The derivatives are
 *
 *     dF/dr = 1/2 rho R A {Cd (s e n^T + |z| I)
 *                          + 2 Cl [n n^T + z n e^T - 2 z e n^T + z^2 e e^T - z^2 I]}
 *     dF/da = 1/2 rho R^2 {Cd s e e^T
 *                          + 2 Cl [n e^T + z I - z n n^T - 2 z e e^T + z^2 e n^T]}
 *     da/dx_j = 1/2 [x_{j+2} - x_{j+1}]x,   dr/dx_j = 1/3 du/dx,   dr/dv_j = -1/3 I
 *
 * and jump only at z = 0, where s = 0 takes the mean of both sides, and at A = 0, where they are
 * taken as 0. u is the wind of gust.c plus the turbulence of turbulence.c. There is no energy.
 */
#include "base/vec.h"
#include "force/force.h"
#include "force/params.h"
#include "force/turbulence.h"
#include "model/part.h"

static const HkParam params[] = {
    HK_GUST_PARAMS(HkFaceWindParams),
    HK_NUMBER(HkFaceWindParams, turbulence, "1", 0, 0, 100,
              "strength of the turbulence as a part of the mean velocity"),
    HK_NUMBER(HkFaceWindParams, wavelength, "m", 1, 1e-6, 1e12, "longest wave of the turbulence"),
    HK_NUMBER(HkFaceWindParams, density, "kg/m^3", 1.225, 0, HK_MAX, "density of the air"),
    HK_NUMBER(HkFaceWindParams, drag, "1", 1.2, 0, HK_MAX,
              "drag coefficient of a face across the wind"),
    HK_NUMBER(HkFaceWindParams, lift, "1", 0.8, 0, HK_MAX,
              "lift coefficient of a face at 45 degrees to the wind"),
};

static HkStatus compile(HkModel *model, const void *chosen, void **data, HkError *error) {
  (void)chosen;
  (void)data;
  if (model->dimension == 2)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "it blows on faces in space; with dimension 2 use 'wind'");
  if (!hk_model_any(model, model->face_count > 0))
    return hk_fail(
        error, HK_ERROR_UNSUPPORTED,
        "it blows on faces and this scene has none; use 'wind', which blows on vertices");
  return hk_model_need_faces(model, error);
}

typedef struct Loop {
  const HkForceArgs *a;
  double *f, u[3];
  HkTurbulence turbulence;
} Loop;

static Loop prepare(const HkForceArgs *a, double *f) {
  const HkFaceWindParams *p = a->params;
  Loop loop = {.a = a, .f = f};
  hk_gust_velocity(p->velocity, p->gust, p->gust_period, a->t, loop.u);
  loop.turbulence = hk_turbulence(p->velocity, p->turbulence, p->wavelength, a->model->up, a->t);
  return loop;
}

/* Computes r and a of a face, and gradient = du/dx at its center (1/s) unless it is NULL. */
static inline void look_at(const Loop *loop, const int32_t *corner, double r[3], double a[3],
                           double *gradient) {
  const double *x = loop->a->x, *v = loop->a->v;
  int64_t i = 3 * (int64_t)corner[0], j = 3 * (int64_t)corner[1], k = 3 * (int64_t)corner[2];
  double center[3], first[3], second[3];
  for (int c = 0; c < 3; c++) {
    r[c] = loop->u[c] - (v[i + c] + v[j + c] + v[k + c]) * (1.0 / 3);
    center[c] = (x[i + c] + x[j + c] + x[k + c]) * (1.0 / 3);
  }
  hk_turbulence_add(&loop->turbulence, center, r, gradient);
  hk_sub(x + j, x + i, first);
  hk_sub(x + k, x + i, second);
  hk_cross(first, second, a);
  for (int c = 0; c < 3; c++) a[c] *= 0.5;
}

/* Writes a third of F of each face into the scratch buffer, in the form with one square root and
 * one division, R^2 A (n - z e) = R^2 a - (r . a) r. */
static void face_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkFaceWindParams *p = loop->a->params;
  const HkModel *m = loop->a->model;
  double third = 0.5 * p->density / 3, drag = third * p->drag, lift = third * 2 * p->lift;
  for (int64_t i = begin; i < end; i++) {
    double r[3], a[3], *F = loop->a->work.scratch + 3 * i;
    look_at(loop, m->face + 3 * i, r, a, NULL);
    double rr = hk_dot(r, r), ra = hk_dot(r, a), square = rr * hk_dot(a, a);
    double z = square > 0 ? ra / sqrt(square) : 0;
    for (int c = 0; c < 3; c++)
      F[c] = (drag * fabs(ra) - lift * z * ra) * r[c] + lift * z * rr * a[c];
  }
}

/* Each vertex gathers from the faces around it. */
static void vertex_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkModel *m = loop->a->model;
  for (int64_t i = begin; i < end; i++)
    for (int64_t at = m->face_start[i]; at < m->face_start[i + 1]; at++)
      hk_axpy(1, loop->a->work.scratch + m->face_at[at] / 3 * 3, loop->f + 3 * i);
}

static void add(const HkForceArgs *a, double *f) {
  enum { PIECE = 256 }; /* a face is some 50 ns of work */
  Loop loop = prepare(a, f);
  hk_parallel_work(a->model->threads, a->model->face_count, PIECE, face_range, &loop);
  hk_parallel_for(a->model->threads, a->model->n, vertex_range, &loop);
}

static int64_t scratch(const HkModel *model, const void *data) {
  (void)data;
  return 3 * model->face_count;
}

/* Computes dF/dr and dF/da of a third of F; returns false if they are 0. */
static bool derivatives(const HkFaceWindParams *p, const double r[3], const double a[3],
                        double dr[9], double da[9]) {
  double R = hk_norm(r), A = hk_norm(a), e[3], n[3];
  if (R == 0 || A == 0) return false;
  for (int c = 0; c < 3; c++) {
    e[c] = r[c] / R;
    n[c] = a[c] / A;
  }
  double z = hk_dot(e, n), s = z > 0 ? 1 : z < 0 ? -1 : 0, drag = p->drag, lift = 2 * p->lift;
  double third = 0.5 * p->density * R / 3, along = third * A, area = third * R;
  hk_mat_identity(along * (drag * fabs(z) - lift * z * z), dr);
  hk_mat_add_outer(along * (drag * s - 2 * lift * z), e, n, dr);
  hk_mat_add_outer(along * lift, n, n, dr);
  hk_mat_add_outer(along * lift * z, n, e, dr);
  hk_mat_add_outer(along * lift * z * z, e, e, dr);
  hk_mat_identity(area * lift * z, da);
  hk_mat_add_outer(area * (drag * s - 2 * lift * z), e, e, da);
  hk_mat_add_outer(area * lift, n, e, da);
  hk_mat_add_outer(-area * lift * z, n, n, da);
  hk_mat_add_outer(area * lift * z * z, e, n, da);
  return true;
}

/* B = the derivative by x_j of a vector of a face with the derivatives by_r and by_a. */
static void corner_block(const Loop *loop, const int32_t *corner, int j, const double by_r[9],
                         const double by_a[9], const double gradient[9], double B[9]) {
  const double *next = loop->a->x + 3 * (int64_t)corner[(j + 1) % 3];
  const double *last = loop->a->x + 3 * (int64_t)corner[(j + 2) % 3];
  double opposite[3], turn[9], carried[9];
  hk_sub(last, next, opposite);
  hk_mat_cross(0.5, opposite, turn);
  hk_mat_multiply(by_a, turn, B);
  hk_mat_multiply(by_r, gradient, carried);
  for (int k = 0; k < 9; k++) B[k] += carried[k] / 3;
}

/* Adds the Jacobian blocks of a face; they are the same for every corner i, which has a third of
 * F. */
static void face_jacobian(const Loop *loop, const int32_t *corner, HkJacobianSink *sink) {
  double r[3], a[3], gradient[9], dr[9], da[9], D[9];
  look_at(loop, corner, r, a, gradient);
  if (!derivatives(loop->a->params, r, a, dr, da)) return;
  for (int k = 0; k < 9; k++) D[k] = -dr[k] / 3;
  for (int j = 0; j < 3; j++) {
    double B[9];
    corner_block(loop, corner, j, dr, da, gradient, B);
    for (int i = 0; i < 3; i++) {
      sink->dfdx(sink, corner[i], corner[j], B);
      sink->dfdv(sink, corner[i], corner[j], D);
    }
  }
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  Loop loop = prepare(a, NULL);
  const HkModel *m = a->model;
  for (int64_t f = 0; f < m->face_count; f++) face_jacobian(&loop, m->face + 3 * f, sink);
}

/* Gives -df/dv projected to be positive semidefinite: lift may add energy to a motion perpendicular
 * to the wind. */
static void damping(const HkForceArgs *a, HkJacobianSink *sink) {
  Loop loop = prepare(a, NULL);
  const HkModel *m = a->model;
  for (int64_t f = 0; f < m->face_count; f++) {
    const int32_t *corner = m->face + 3 * f;
    double r[3], area[3], dr[9], da[9], D[9];
    look_at(&loop, corner, r, area, NULL);
    if (!derivatives(a->params, r, area, dr, da)) continue;
    hk_mat_project_positive(dr);
    for (int c = 0; c < 9; c++) D[c] = -dr[c] / 3;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) sink->dfdv(sink, corner[i], corner[j], D);
  }
}

/* ---- For derivatives of steps ---- */

/* Gives columns of the forces on three corners that are the same. by_r (9): their derivative by r.
 */
static void give_air(const Loop *loop, const int32_t *corner, const double by_r[9],
                     HkColumnSink *sink) {
  const HkFaceWindParams *p = loop->a->params;
  double signal = hk_gust_signal(loop->a->t, p->gust_period), along[3] = {0, 0, 0};
  hk_mat_add_product(by_r, p->velocity, along);
  for (int c = 0; c < 3; c++) along[c] *= signal;
  for (int i = 0; i < 3; i++) {
    sink->number(sink, corner[i], &p->gust, along);
    for (int k = 0; k < 3; k++) { /* turbulence depends on the mean velocity in a way of its own */
      double column[3], factor = p->turbulence > 0 ? NAN : 1 + p->gust * signal;
      for (int c = 0; c < 3; c++) column[c] = factor * by_r[3 * c + k];
      sink->number(sink, corner[i], &p->velocity[k], column);
    }
  }
}

/* Gives the columns of vectors that are linear in the density, in Cd and in Cl. */
static void give_numbers(const HkFaceWindParams *p, const int32_t *corner, const double density[3],
                         const double drag[3], const double lift[3], HkColumnSink *sink) {
  for (int i = 0; i < 3; i++) {
    sink->number(sink, corner[i], &p->density, density);
    sink->number(sink, corner[i], &p->drag, drag);
    sink->number(sink, corner[i], &p->lift, lift);
  }
}

static void columns(const HkForceArgs *args, HkColumnSink *sink) {
  const HkFaceWindParams *p = args->params;
  const HkModel *m = args->model;
  Loop loop = prepare(args, NULL);
  for (int64_t f = 0; f < m->face_count; f++) {
    const int32_t *corner = m->face + 3 * f;
    double r[3], a[3], dr[9], da[9], density[3], drag[3], lift[3];
    look_at(&loop, corner, r, a, NULL);
    if (!derivatives(p, r, a, dr, da)) continue;
    double rr = hk_dot(r, r), ra = hk_dot(r, a), z = ra / sqrt(rr * hk_dot(a, a));
    for (int c = 0; c < 3; c++) {
      drag[c] = p->density / 6 * fabs(ra) * r[c];
      lift[c] = p->density / 3 * z * (rr * a[c] - ra * r[c]);
      density[c] = (p->drag * fabs(ra) * r[c] + 2 * p->lift * z * (rr * a[c] - ra * r[c])) / 6;
    }
    give_air(&loop, corner, dr, sink);
    give_numbers(p, corner, density, drag, lift, sink);
  }
}

/* The derivative of the projection P of a symmetric matrix with these eigenvalues and vectors, in
 * the direction E, times w: V [(V^T E V) * G] V^T w with G_ab = (b+ - a+) / (b - a) (Daleckii and
 * Krein). */
static void projection_change(const double values[3], const double V[9], const double E[9],
                              const double w[3], double out[3]) {
  for (int c = 0; c < 3; c++) out[c] = 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      double u[3] = {V[a], V[3 + a], V[6 + a]}, v[3] = {V[b], V[3 + b], V[6 + b]};
      double Ev[3] = {0, 0, 0}, Eu[3] = {0, 0, 0}, gap = values[b] - values[a];
      double slope = values[a] > 0 && values[b] > 0 ? 1 : 0;
      if ((values[a] > 0) != (values[b] > 0))
        slope = (fmax(values[b], 0) - fmax(values[a], 0)) / gap;
      hk_mat_add_product(E, v, Ev);
      hk_mat_add_product(E, u, Eu);
      double symmetric = 0.5 * (hk_dot(u, Ev) + hk_dot(v, Eu));
      hk_axpy(slope * symmetric * hk_dot(v, w), u, out);
    }
}

/* out = the change of the projected dF/dr times w as r or a changes along an axis, by a central
 * difference of dF/dr: its relative error is about 1e-10. */
static void turn(const HkFaceWindParams *p, const double r[3], const double a[3], bool by_area,
                 int axis, const double values[3], const double V[9], const double w[3],
                 double out[3]) {
  const double PART = 1e-5;
  double step = PART * hk_norm(by_area ? a : r), low[9] = {0}, high[9] = {0}, rest[9];
  double q[3] = {by_area ? a[0] : r[0], by_area ? a[1] : r[1], by_area ? a[2] : r[2]};
  q[axis] += step;
  derivatives(p, by_area ? r : q, by_area ? q : a, high, rest);
  q[axis] -= 2 * step;
  derivatives(p, by_area ? r : q, by_area ? q : a, low, rest);
  for (int k = 0; k < 9; k++) high[k] = (high[k] - low[k]) / (2 * step);
  projection_change(values, V, high, w, out);
}

/* The vector of a face at its corners is dF/dr, projected, times the mean w of the corners. */
static void face_damping_columns(const Loop *loop, const int32_t *corner, const double *all,
                                 HkColumnSink *sink) {
  const HkFaceWindParams *p = loop->a->params;
  double r[3], a[3], gradient[9], dr[9], da[9], values[3], V[9], w[3], by_r[9], by_a[9], D[9];
  look_at(loop, corner, r, a, gradient);
  if (!derivatives(p, r, a, dr, da)) return;
  hk_mat_eigen(dr, values, V);
  for (int c = 0; c < 3; c++)
    w[c] = (all[3 * (int64_t)corner[0] + c] + all[3 * (int64_t)corner[1] + c] +
            all[3 * (int64_t)corner[2] + c]) /
           3;
  for (int axis = 0; axis < 3; axis++) {
    double column[3];
    turn(p, r, a, false, axis, values, V, w, column);
    for (int c = 0; c < 3; c++) by_r[3 * c + axis] = column[c];
    turn(p, r, a, true, axis, values, V, w, column);
    for (int c = 0; c < 3; c++) by_a[3 * c + axis] = column[c];
  }
  for (int k = 0; k < 9; k++) D[k] = -by_r[k] / 3;
  for (int j = 0; j < 3; j++) {
    double B[9];
    corner_block(loop, corner, j, by_r, by_a, gradient, B);
    for (int i = 0; i < 3; i++) {
      sink->blocks.dfdx(&sink->blocks, corner[i], corner[j], B);
      sink->blocks.dfdv(&sink->blocks, corner[i], corner[j], D);
    }
  }
  double one[3], drag[3], lift[3];
  HkFaceWindParams part = *p;
  projection_change(values, V, dr, w, one);
  for (int c = 0; c < 3; c++) one[c] = p->density > 0 ? one[c] / p->density : 0;
  part.drag = 1;
  part.lift = 0;
  derivatives(&part, r, a, dr, da);
  projection_change(values, V, dr, w, drag);
  part.drag = 0;
  part.lift = 1;
  derivatives(&part, r, a, dr, da);
  projection_change(values, V, dr, w, lift);
  give_air(loop, corner, by_r, sink);
  give_numbers(p, corner, one, drag, lift, sink);
}

static void damping_columns(const HkForceArgs *a, const double *w, HkColumnSink *sink) {
  Loop loop = prepare(a, NULL);
  for (int64_t f = 0; f < a->model->face_count; f++)
    face_damping_columns(&loop, a->model->face + 3 * f, w, sink);
}

static bool uses_velocity(const HkSpringArrays *springs, const void *chosen) {
  (void)springs;
  const HkFaceWindParams *p = chosen;
  return p->density > 0 && (p->drag > 0 || p->lift > 0);
}

const HkForceType hk_force_face_wind = {
    .schema = {.name = "face_wind",
               .summary = "wind on every triangle with drag, lift, gusts and turbulence, for cloth",
               .formula = "F = 1/2 rho R^2 A (Cd |z| e + 2 Cl z (n - z e)),  r = u - v = R e,  "
                          "z = e . n,  a third to each corner",
               HK_PARAMS(HkFaceWindParams, params)},
    .on_device = HK_DEVICE_FORCE_FACE_WIND,
    .slot = HK_ENERGY_OTHER,
    .uses_velocity = uses_velocity,
    .scratch = scratch,
    .compile = compile,
    .add = add,
    .jacobian = jacobian,
    .damping = damping,
    .differentiable = "velocity|gust|density|drag|lift",
    .columns = columns,
    .damping_columns = damping_columns,
};
