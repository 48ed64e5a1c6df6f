/* Barriers of points over flat parts of obstacles; see flat.h. */
#include "contact/flat.h"

#include "base/vec.h"
#include "contact/barrier.h"

#include <math.h>
#include <string.h>

/* The triangle, its flat edges and its flat vertices, each with its factor in B. */
typedef struct Part {
  HkTouch touch;
  double factor;
} Part;

enum { PARTS_MAX = 7 };

static void set_touch(const HkContactPair *pair, HkTouch *t) {
  for (int c = 0; c < 3; c++)
    t->n[c] = t->w[0] * pair->x[c] + t->w[1] * pair->x[3 + c] + t->w[2] * pair->x[6 + c] +
              t->w[3] * pair->x[9 + c];
  double d = hk_norm(t->n);
  for (int c = 0; c < 3; c++) t->n[c] = d > 0 ? t->n[c] / d : 0;
  t->g = d - pair->xi;
}

/* The closest point of the edge from corner i to corner j. */
static HkTouch touch_edge(const HkContactPair *pair, int i, int j) {
  HkTouch t = {.w = {1, 0, 0, 0}};
  double u[3], r[3];
  hk_sub(pair->x + 3 * j, pair->x + 3 * i, u);
  hk_sub(pair->x, pair->x + 3 * i, r);
  double s = fmin(fmax(hk_dot(u, r) / hk_dot(u, u), 0), 1);
  t.w[i] = s - 1;
  t.w[j] = -s;
  set_touch(pair, &t);
  return t;
}

static HkTouch touch_vertex(const HkContactPair *pair, int i) {
  HkTouch t = {.w = {1, 0, 0, 0}};
  t.w[i] = -1;
  set_touch(pair, &t);
  return t;
}

/* The number and the order of the parts depend on pair->flat alone. */
static int list_parts(const HkContactPair *pair, const HkTouch *touch, Part part[PARTS_MAX]) {
  int count = 0;
  part[count++] = (Part){*touch, 1};
  for (int e = 0; e < 3; e++)
    if (pair->flat.edges >> e & 1)
      part[count++] = (Part){touch_edge(pair, 1 + e, 1 + (e + 1) % 3), -0.5};
  for (int v = 0; v < 3; v++)
    if (pair->flat.fan[v])
      part[count++] = (Part){touch_vertex(pair, 1 + v), 1.0 / pair->flat.fan[v]};
  return count;
}

HkFlat hk_flat_near(const HkContactPair *pair, HkFlat flat) {
  for (int e = 0; e < 3; e++)
    if (flat.edges >> e & 1 && touch_edge(pair, 1 + e, 1 + (e + 1) % 3).g < pair->ghat) return flat;
  return (HkFlat){0};
}

double hk_flat_energy(const HkContactPair *pair, const HkTouch *touch, double *slope) {
  Part part[PARTS_MAX];
  int count = list_parts(pair, touch, part);
  double sum = 0, along = 0;
  *slope = -INFINITY;
  if (!(touch->g > 0)) return INFINITY;
  for (int k = 0; k < count; k++) {
    double s = part[k].touch.g / pair->ghat;
    sum += part[k].factor * hk_barrier(s);
    along += part[k].factor * hk_barrier_slope(s) * hk_dot(part[k].touch.n, touch->n);
  }
  *slope = pair->k * pair->ghat * along;
  return pair->k * pair->ghat * pair->ghat * sum;
}

double hk_flat_energy_change(const HkContactPair *pair, const HkTouch *touch,
                             const HkContactPair *to, const HkTouch *touch_to) {
  Part part[PARTS_MAX], end[PARTS_MAX];
  HkContactPair one = *pair, two = *to;
  double sum = 0;
  one.flat = two.flat = pair->flat.edges ? pair->flat : to->flat;
  int count = list_parts(&one, touch, part);
  list_parts(&two, touch_to, end);
  for (int k = 0; k < count; k++) {
    double s = part[k].touch.g / pair->ghat;
    if (s >= 1 && end[k].touch.g >= pair->ghat) continue;
    double d = hk_pair_gap_change(pair, &part[k].touch, to, &end[k].touch) / pair->ghat;
    sum += part[k].factor * hk_barrier_change(s, d);
  }
  return pair->k * pair->ghat * pair->ghat * sum;
}

void hk_flat_gradient(const HkContactPair *pair, const HkTouch *touch, double G[12]) {
  Part part[PARTS_MAX];
  int count = list_parts(pair, touch, part);
  memset(G, 0, 12 * sizeof *G);
  for (int k = 0; k < count; k++) {
    const HkTouch *t = &part[k].touch;
    double slope = part[k].factor * pair->k * pair->ghat * hk_barrier_slope(t->g / pair->ghat);
    for (int a = 0; a < 4 && slope != 0; a++) hk_axpy(slope * t->w[a], t->n, G + 3 * a);
  }
}

/* The direction in which the closest point moves with the point; false if it stays at a corner. */
static bool edge_of(const HkContactPair *pair, const HkTouch *t, double u[3]) {
  int i = 0, j = 0;
  for (int a = 1; a < 4; a++)
    if (t->w[a] != 0) i = j, j = a;
  if (i == 0) return false;
  hk_sub(pair->x + 3 * j, pair->x + 3 * i, u);
  double length = hk_norm(u);
  for (int c = 0; c < 3; c++) u[c] /= length;
  return true;
}

/* d2d/dx2 = (I - n n^T - u u^T) / d at an edge with the direction u, without u at a corner, and 0
 * over a triangle. */
void hk_flat_hessian(const HkContactPair *pair, const HkTouch *touch, double H[9], double *along) {
  Part part[PARTS_MAX];
  int count = list_parts(pair, touch, part);
  double sum = 0;
  hk_mat_identity(0, H);
  for (int k = 0; k < count; k++) {
    const HkTouch *t = &part[k].touch;
    double s = t->g / pair->ghat, factor = part[k].factor * pair->k, u[3];
    double bend = factor * hk_barrier_curvature(s), cosine = hk_dot(t->n, touch->n);
    sum += bend * cosine * cosine;
    hk_mat_add_outer(bend, t->n, t->n, H);
    if (t->w[1] != 0 && t->w[2] != 0 && t->w[3] != 0) continue;
    double across = factor * pair->ghat * hk_barrier_slope(s) / (t->g + pair->xi);
    for (int c = 0; c < 3; c++) H[4 * c] += across;
    hk_mat_add_outer(-across, t->n, t->n, H);
    if (edge_of(pair, t, u)) hk_mat_add_outer(-across, u, u, H);
  }
  *along = fmax(sum, 0);
}

/* Whether the closest point is inside of the triangle or on a flat edge. */
static bool is_on_plane(const HkContactPair *pair, const HkTouch *touch) {
  int corners = 0;
  for (int v = 0; v < 3; v++) corners += touch->w[1 + v] != 0;
  if (corners == 3) return true;
  for (int e = 0; e < 3 && corners == 2; e++)
    if (touch->w[1 + (e + 2) % 3] == 0) return pair->flat.edges >> e & 1;
  for (int v = 0; v < 3; v++)
    if (touch->w[1 + v] != 0) return pair->flat.fan[v] > 0;
  return false;
}

void hk_flat_normal(const HkContactPair *pair, const HkTouch *touch, double n[3]) {
  double u[3], v[3], m[3];
  memcpy(n, touch->n, 3 * sizeof *n);
  if (!pair->flat.edges || !is_on_plane(pair, touch)) return;
  hk_sub(pair->x + 6, pair->x + 3, u);
  hk_sub(pair->x + 9, pair->x + 3, v);
  hk_cross(u, v, m);
  double length = hk_dot(m, n) < 0 ? -hk_norm(m) : hk_norm(m);
  for (int c = 0; c < 3; c++) n[c] = m[c] / length;
}
