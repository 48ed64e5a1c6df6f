/* Energy of a pair, its derivatives, and how far a pair may move; see pair.h.
 *
 * The distance is stationary in the place of the closest points, so that dd/dx_a = w_a n. For the
 * second derivative let D = d^2 / 2 = min over theta of |r|^2 / 2, r = sum w_a(theta) x_a, where
 * theta are the one or two parameters of the closest points that are not at a bound. w is linear in
 * theta, and with t_i = dr/dtheta_i, c_ai = dw_a/dtheta_i
 *
 *     d2D/dx_a dx_b = w_a w_b I - sum b_ai (T^-1)_ij b_bj^T,   b_ai = w_a t_i + c_ai r,
 *     T_ij = t_i . t_j,   d2d/dx2 = (d2D/dx2 - (dd/dx) (dd/dx)^T) / d
 */
#include "contact/pair.h"

#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/flat.h"
#include "contact/gap.h"

#include <string.h>

static const double MOLLIFIED = 1e-3; /* square of the sine of the angle below which mu < 1 */

HkTouch hk_pair_touch(const HkContactPair *pair) {
  HkTouch touch = {0};
  double d = pair->split == HK_CONTACT_EDGES ? hk_gap_edges(pair->x, touch.w, touch.n)
                                             : hk_gap_point_triangle(pair->x, touch.w, touch.n);
  for (int c = 0; c < 3; c++) touch.n[c] = d > 0 ? touch.n[c] / d : 0;
  touch.g = d - pair->xi;
  return touch;
}

/* ---- Mollifier ---- */

static double square(const double a[3]) {
  return hk_dot(a, a);
}

double hk_pair_mollifier(int split, const double X[12]) {
  double U[3], V[3];
  if (split != HK_CONTACT_EDGES) return 0;
  hk_sub(X + 3, X, U);
  hk_sub(X + 9, X + 6, V);
  return MOLLIFIED * square(U) * square(V);
}

/* mu, dmu/dc and d2mu/dc2, with c = |u x v|^2. */
typedef struct Mollifier {
  double u[3], v[3];
  double value, slope, curvature;
} Mollifier;

static Mollifier mollify(const HkContactPair *pair) {
  Mollifier m = {.value = 1};
  if (pair->c0 == 0) return m;
  double cross[3];
  hk_sub(pair->x + 3, pair->x, m.u);
  hk_sub(pair->x + 9, pair->x + 6, m.v);
  hk_cross(m.u, m.v, cross);
  double r = square(cross) / pair->c0;
  if (r >= 1) return m;
  m.value = r * (2 - r);
  m.slope = (2 - 2 * r) / pair->c0;
  m.curvature = -2 / (pair->c0 * pair->c0);
  return m;
}

/* dc/dx of c = |u|^2 |v|^2 - (u . v)^2, with u = x_1 - x_0, v = x_3 - x_2 */
static void cross_gradient(const Mollifier *m, double C[12]) {
  double uu = square(m->u), vv = square(m->v), uv = hk_dot(m->u, m->v);
  for (int c = 0; c < 3; c++) {
    C[3 + c] = 2 * (vv * m->u[c] - uv * m->v[c]);
    C[9 + c] = 2 * (uu * m->v[c] - uv * m->u[c]);
    C[c] = -C[3 + c];
    C[6 + c] = -C[9 + c];
  }
}

/* H += s d2c/dx2 */
static void add_cross_hessian(const Mollifier *m, double s, double H[144]) {
  double uu = square(m->u), vv = square(m->v), uv = hk_dot(m->u, m->v);
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) {
      double sign = (a % 2 == b % 2 ? 2 : -2) * s;
      bool first = a < 2, second = b < 2;
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
          double one = r == c, value;
          if (first == second)
            value = first ? vv * one - m->v[r] * m->v[c] : uu * one - m->u[r] * m->u[c];
          else if (first)
            value = 2 * m->u[r] * m->v[c] - m->v[r] * m->u[c] - uv * one;
          else
            value = 2 * m->v[r] * m->u[c] - m->u[r] * m->v[c] - uv * one;
          H[(3 * a + r) * 12 + 3 * b + c] += sign * value;
        }
    }
}

/* ---- Energy ---- */

double hk_pair_energy(const HkContactPair *pair, const HkTouch *touch, double *slope, bool *turns) {
  if (pair->flat.edges) {
    *turns = true;
    return hk_flat_energy(pair, touch, slope);
  }
  double s = touch->g / pair->ghat;
  Mollifier m = mollify(pair);
  *slope = pair->k * pair->ghat * hk_barrier_slope(s) * m.value;
  *turns = m.slope != 0;
  return pair->k * pair->ghat * pair->ghat * hk_barrier(s) * m.value;
}

/* The change of the gap: (r' - r) . (r' + r) / (d' + d) with r' - r = sum w' (x' - x) + (w' - w) x.
 */
double hk_pair_gap_change(const HkContactPair *pair, const HkTouch *touch, const HkContactPair *to,
                          const HkTouch *touch_to) {
  double d = touch->g + pair->xi, d_to = touch_to->g + to->xi, change[3] = {0, 0, 0}, sum[3];
  for (int a = 0; a < 4; a++) {
    double move[3], along[3];
    int base = pair->split == HK_CONTACT_EDGES ? a / 2 * 2 : a == 0 ? 0 : 1;
    hk_sub(to->x + 3 * a, pair->x + 3 * a, move);
    hk_sub(pair->x + 3 * a, pair->x + 3 * base, along); /* in each feature w sums up to 1 or -1 */
    hk_axpy(touch_to->w[a], move, change);
    hk_axpy(touch_to->w[a] - touch->w[a], along, change);
  }
  for (int c = 0; c < 3; c++) sum[c] = d * touch->n[c] + d_to * touch_to->n[c];
  return hk_dot(change, sum) / (d + d_to);
}

/* The change of mu = r (2 - r): (r' - r) (2 - r - r'), with u' x v' - u x v = (u' - u) x v' + u x
 * (v' - v). */
static double mollifier_change(const HkContactPair *pair, const HkContactPair *to) {
  Mollifier m = mollify(pair), m_to = mollify(to);
  if (m.slope == 0 || m_to.slope == 0) return m_to.value - m.value;
  double a[3], b[3], C[3], change[3], part[3], sum[3];
  for (int c = 0; c < 3; c++) {
    a[c] = (to->x[3 + c] - pair->x[3 + c]) - (to->x[c] - pair->x[c]);
    b[c] = (to->x[9 + c] - pair->x[9 + c]) - (to->x[6 + c] - pair->x[6 + c]);
  }
  hk_cross(m.u, m.v, C);
  hk_cross(m_to.u, m_to.v, sum);
  double r = square(C) / pair->c0, r_to = square(sum) / pair->c0;
  hk_axpy(1, C, sum);
  hk_cross(a, m_to.v, change);
  hk_cross(m.u, b, part);
  hk_axpy(1, part, change);
  return hk_dot(change, sum) / pair->c0 * (2 - r - r_to);
}

double hk_pair_energy_change(const HkContactPair *pair, const HkTouch *touch,
                             const HkContactPair *to, const HkTouch *touch_to) {
  if (pair->flat.edges | to->flat.edges) return hk_flat_energy_change(pair, touch, to, touch_to);
  double s = touch->g / pair->ghat;
  double d = hk_pair_gap_change(pair, touch, to, touch_to) / pair->ghat;
  double change = mollify(to).value * hk_barrier_change(s, d);
  if (pair->c0 > 0) change += mollifier_change(pair, to) * hk_barrier(s);
  return pair->k * pair->ghat * pair->ghat * change;
}

void hk_pair_gradient(const HkContactPair *pair, const HkTouch *touch, double G[12]) {
  if (pair->flat.edges) {
    hk_flat_gradient(pair, touch, G);
    return;
  }
  double s = touch->g / pair->ghat;
  Mollifier m = mollify(pair);
  double along = pair->k * pair->ghat * hk_barrier_slope(s) * m.value;
  memset(G, 0, 12 * sizeof *G);
  for (int a = 0; a < 4; a++) hk_axpy(along * touch->w[a], touch->n, G + 3 * a);
  if (m.slope == 0) return;
  double C[12], turning = pair->k * pair->ghat * pair->ghat * hk_barrier(s) * m.slope;
  cross_gradient(&m, C);
  for (int q = 0; q < 12; q++) G[q] += turning * C[q];
}

/* ---- Hessian ---- */

/* c_ai = dw_a/dtheta_i of the parameters that are free; returns their number. */
static int free_parameters(const HkContactPair *pair, const HkTouch *touch, double c[2][4]) {
  const double *w = touch->w;
  int count = 0, base = -1;
  memset(c, 0, 2 * sizeof c[0]);
  if (pair->split == HK_CONTACT_EDGES) {
    for (int e = 0; e < 2; e++) {
      if (w[2 * e] == 0 || w[2 * e + 1] == 0) continue;
      c[count][2 * e] = e ? 1 : -1;
      c[count++][2 * e + 1] = e ? -1 : 1;
    }
    return count;
  }
  for (int a = 1; a < 4; a++) {
    if (w[a] == 0) continue;
    if (base < 0) {
      base = a;
      continue;
    }
    c[count][base] = 1;
    c[count++][a] = -1;
  }
  return count;
}

/* T^-1 of one or two tangents; false where they are parallel. */
static bool invert(int count, double t[2][3], double inverse[2][2]) {
  const double PARALLEL = 1e-14;
  double a = hk_dot(t[0], t[0]), b = hk_dot(t[0], t[1]), d = hk_dot(t[1], t[1]);
  if (count == 1) {
    inverse[0][0] = 1 / a;
    return a > 0;
  }
  double det = a * d - b * b;
  if (!(det > PARALLEL * a * d)) return false;
  inverse[0][0] = d / det;
  inverse[1][1] = a / det;
  inverse[0][1] = inverse[1][0] = -b / det;
  return true;
}

/* q q^T summed up is c times the sum of b_i (T^-1)_ij b_j^T above, c >= 0. T^-1 = L L^T. */
static void set_closest(const HkContactPair *pair, const HkTouch *touch, double c,
                        double q[2][12]) {
  double free[2][4], t[2][3] = {{0}}, inverse[2][2] = {{0}};
  double d = touch->g + pair->xi;
  int count = free_parameters(pair, touch, free);
  memset(q, 0, 2 * sizeof q[0]);
  for (int i = 0; i < count; i++)
    for (int a = 0; a < 4; a++) hk_axpy(free[i][a], pair->x + 3 * a, t[i]);
  if (count == 0 || !invert(count, t, inverse)) return;
  double root = sqrt(c * inverse[0][0]), below = root > 0 ? c * inverse[0][1] / root : 0;
  double last = sqrt(fmax(c * inverse[1][1] - below * below, 0));
  for (int a = 0; a < 4; a++)
    for (int e = 0; e < 3; e++) {
      double b[2] = {0, 0};
      for (int i = 0; i < count; i++) b[i] = touch->w[a] * t[i][e] + free[i][a] * d * touch->n[e];
      q[0][3 * a + e] = root * b[0] + below * b[1];
      q[1][3 * a + e] = last * b[1];
    }
}

/* (w w^T (I - n n^T) - sum of b_i (T^-1)_ij b_j^T) / d */
void hk_pair_gap_hessian(const HkContactPair *pair, const HkTouch *touch, double H[144]) {
  const double *w = touch->w, *n = touch->n;
  double d = touch->g + pair->xi, q[2][12];
  set_closest(pair, touch, 1 / d, q);
  for (int k = 0; k < 144; k++) {
    int a = k / 36, b = k % 12 / 3, r = k / 12 % 3, c = k % 3;
    double across = (r == c) - n[r] * n[c];
    H[k] = w[a] * w[b] * across / d;
    for (int i = 0; i < 2; i++) H[k] -= q[i][k / 12] * q[i][k % 12];
  }
}

void hk_pair_force_gradient(const HkContactPair *pair, const HkTouch *touch, const double n[3],
                            double by_x[12]) {
  double s = touch->g / pair->ghat, K[9], along, C[12];
  memset(by_x, 0, 12 * sizeof *by_x);
  if (pair->flat.edges) { /* -n . dB/dx of the point */
    hk_flat_hessian(pair, touch, K, &along);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) by_x[r] -= K[3 * r + c] * n[c];
    return;
  }
  Mollifier m = mollify(pair);
  double bend = pair->k * hk_barrier_curvature(s) * m.value;
  for (int a = 0; a < 4; a++) hk_axpy(-bend * touch->w[a], touch->n, by_x + 3 * a);
  if (m.slope == 0) return;
  cross_gradient(&m, C);
  double turning = pair->k * pair->ghat * hk_barrier_slope(s) * m.slope;
  for (int k = 0; k < 12; k++) by_x[k] -= turning * C[k];
}

void hk_pair_term(const HkContactPair *pair, const HkTouch *touch, double K[6], double *across,
                  double q[2][12]) {
  double s = touch->g / pair->ghat, mu = mollify(pair).value;
  double f2 = mu * pair->k * hk_barrier_curvature(s), H[9];
  if (pair->flat.edges) hk_flat_hessian(pair, touch, H, &f2);
  const double *n = touch->n;
  for (int i = 0, at = 0; i < 3; i++)
    for (int j = i; j < 3; j++) K[at++] = f2 * n[i] * n[j];
  if (!across) return;
  if (pair->flat.edges) {
    *across = 0;
    memset(q, 0, 2 * sizeof q[0]);
    return;
  }
  *across = mu * pair->k * pair->ghat * hk_barrier_slope(s) / (touch->g + pair->xi);
  set_closest(pair, touch, -*across, q);
}

/* d2B/dx2 of the point less the term along the normal. */
static void set_flat(const HkContactPair *pair, const HkTouch *touch, double H[144]) {
  double K[9], along;
  hk_flat_hessian(pair, touch, K, &along);
  hk_mat_add_outer(-along, touch->n, touch->n, K);
  memset(H, 0, 144 * sizeof *H);
  for (int q = 0; q < 9; q++) H[q / 3 * 12 + q % 3] = K[q];
}

bool hk_pair_turning(const HkContactPair *pair, const HkTouch *touch, double H[144]) {
  if (pair->flat.edges) {
    set_flat(pair, touch, H);
    return true;
  }
  double s = touch->g / pair->ghat, N[12], C[12];
  Mollifier m = mollify(pair);
  if (m.slope == 0) return false;
  double f0 = pair->k * pair->ghat * pair->ghat * hk_barrier(s);
  double f1 = pair->k * pair->ghat * hk_barrier_slope(s);
  cross_gradient(&m, C);
  memset(H, 0, 144 * sizeof *H);
  add_cross_hessian(&m, f0 * m.slope, H);
  for (int k = 0; k < 12; k++) N[k] = touch->w[k / 3] * touch->n[k % 3];
  for (int k = 0; k < 144; k++) {
    double product = N[k / 12] * C[k % 12] + C[k / 12] * N[k % 12];
    H[k] += f1 * m.slope * product + f0 * m.curvature * C[k / 12] * C[k % 12];
  }
  return true;
}

/* ---- Projected Hessian ---- */

/* H += J^T S J with z = u x v, J = dz/dx: what B = f(z.z) has of d2B/dx2 if z were linear in x,
 *
 *     S = 2 f' (I - e e^T) + max(2 f' + 4 f'' |z|^2, 0) e e^T,   e = z / |z|
 *
 * where f' = f0 dmu/dc and f'' = f0 d2mu/dc2. Without it edges that are nearly parallel would turn
 * as if nothing held them, against a stiffness of up to 10 k. */
static bool add_turning(const HkContactPair *pair, const HkTouch *touch, double H[144]) {
  Mollifier m = mollify(pair);
  if (m.slope == 0) return false;
  double f0 = pair->k * pair->ghat * pair->ghat * hk_barrier(touch->g / pair->ghat);
  double z[3], S[9], J[4][9], SJ[9];
  hk_cross(m.u, m.v, z);
  double across = 2 * f0 * m.slope, along = across + 4 * f0 * m.curvature * square(z);
  hk_mat_identity(across, S);
  if (square(z) > 0) hk_mat_add_outer((hk_larger(along, 0) - across) / square(z), z, z, S);
  for (int a = 0; a < 4; a++) hk_mat_cross(a == 0 || a == 3 ? 1 : -1, a < 2 ? m.v : m.u, J[a]);
  for (int b = 0; b < 4; b++) {
    hk_mat_multiply(S, J[b], SJ);
    for (int a = 0; a < 4; a++)
      for (int q = 0; q < 9; q++) { /* (J_a^T S J_b)_rc */
        int r = q / 3, c = q % 3;
        H[(3 * a + r) * 12 + 3 * b + c] +=
            J[a][r] * SJ[c] + J[a][3 + r] * SJ[3 + c] + J[a][6 + r] * SJ[6 + c];
      }
  }
  return true;
}

/* H += F d sum (T^-1)_ij (c_i n) (c_j n)^T, F = -dB/dg: the closest point moves along a side that
 * turns, and the more the larger the radius of the other one is. Small beside the stiffness along
 * the normal between thin things, it is what holds a triangle that rolls on a ball. */
static bool add_rolling(const HkContactPair *pair, const HkTouch *touch, double H[144]) {
  const double LEAST = 0.1; /* of the stiffness along the normal */
  double c[2][4], t[2][3] = {{0}}, inverse[2][2] = {{0}}, s = touch->g / pair->ghat;
  int count = free_parameters(pair, touch, c);
  for (int i = 0; i < count; i++)
    for (int a = 0; a < 4; a++) hk_axpy(c[i][a], pair->x + 3 * a, t[i]);
  if (count == 0 || !invert(count, t, inverse)) return false;
  double d = touch->g + pair->xi, push = -pair->ghat * hk_barrier_slope(s);
  if (push * d * (inverse[0][0] + inverse[1][1]) < LEAST * hk_barrier_curvature(s)) return false;
  double scale = mollify(pair).value * pair->k * push * d;
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) {
      double sum = 0;
      for (int q = 0; q < 4; q++) sum += c[q / 2][a] * inverse[q / 2][q % 2] * c[q % 2][b];
      for (int q = 0; q < 9; q++)
        H[(3 * a + q / 3) * 12 + 3 * b + q % 3] += scale * sum * touch->n[q / 3] * touch->n[q % 3];
    }
  return true;
}

bool hk_pair_projected_rest(const HkContactPair *pair, const HkTouch *touch, double H[144]) {
  if (pair->flat.edges) return false;
  memset(H, 0, 144 * sizeof *H);
  bool turns = add_turning(pair, touch, H), rolls = add_rolling(pair, touch, H);
  return turns || rolls;
}

/* ---- Moving ---- */

/* The largest |p_a - mean| of vertices first .. end - 1. */
static double speed(const double p[12], int first, int end) {
  double most = 0;
  for (int a = first; a < end; a++) most = hk_larger(most, square(p + 3 * a));
  return sqrt(most);
}

/* The longest t by which all vertices may go on along q until the two sides, seen along the normal,
 * are `left` apart. The sides are on the two sides of a plane till then. */
static double divided(const HkContactPair *at, const HkTouch *touch, const double q[12],
                      double left) {
  double t = INFINITY;
  for (int a = 0; a < at->split; a++)
    for (int b = at->split; b < 4; b++) {
      double apart[3], moves[3];
      hk_sub(at->x + 3 * a, at->x + 3 * b, apart);
      hk_sub(q + 3 * a, q + 3 * b, moves);
      double closing = -hk_dot(moves, touch->n);
      if (!(closing > 0)) continue;
      double part = (hk_dot(apart, touch->n) - at->xi - left) / closing;
      t = part < t ? part : t;
    }
  return t;
}

double hk_pair_reach(const HkContactPair *pair, const HkTouch *touch, const double p[12],
                     double left) {
  enum { ROUNDS_MAX = 1000 };
  const double PART = 0.9;
  double q[12];
  for (int c = 0; c < 12; c++) {
    int e = c % 3;
    q[c] = p[c] - 0.25 * (p[e] + p[3 + e] + p[6 + e] + p[9 + e]);
  }
  double fastest = speed(q, 0, pair->split) + speed(q, pair->split, 4), t = 0;
  if (touch->g - left >= fastest) return 1; /* the gap closes by `fastest` at most */
  if (!(fastest < INFINITY)) return 0;
  HkContactPair at = *pair;
  HkTouch now = *touch;
  for (int round = 0; round < ROUNDS_MAX; round++) {
    double move = divided(&at, &now, q, (1 - PART) * now.g), next;
    next = t + hk_larger(move, PART * now.g / fastest);
    if (next >= 1) next = 1;
    for (int c = 0; c < 12; c++) at.x[c] = pair->x[c] + next * q[c];
    now = hk_pair_touch(&at);
    if (!(now.g > left)) return t;
    t = next;
    if (t == 1) return 1;
  }
  return t;
}
