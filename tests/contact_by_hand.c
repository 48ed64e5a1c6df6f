/* The energy of contact by hand; see contact_by_hand.h. */
#include "contact_by_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void contact_by_hand_create(ContactByHand *c, const HkModel *model, double thickness) {
  *c = (ContactByHand){0};
  all_pairs_create(&c->pairs, model, thickness);
}

void contact_by_hand_destroy(ContactByHand *c) {
  all_pairs_destroy(&c->pairs);
  free(c->near);
  free(c->known);
  *c = (ContactByHand){0};
}

/* ---- Stiffness, from the library ---- */

static void append(PairByHand **list, int64_t *count, int64_t *capacity, const PairByHand *pair) {
  if (*count == *capacity) {
    *capacity = 2 * *capacity + 64;
    *list = realloc(*list, (size_t)*capacity * sizeof **list);
    if (!*list) abort();
  }
  (*list)[(*count)++] = *pair;
}

static void order(int32_t *v, int count) {
  for (int a = 1; a < count; a++)
    for (int b = a; b > 0 && v[b - 1] > v[b]; b--) {
      int32_t swap = v[b];
      v[b] = v[b - 1];
      v[b - 1] = swap;
    }
}

/* One order of the vertices of a pair, whoever made it. */
static void normalize(PairByHand *p) {
  if (p->split == 1) {
    order(p->v + 1, 3);
    return;
  }
  order(p->v, 2);
  order(p->v + 2, 2);
  if (p->v[0] < p->v[2]) return;
  for (int a = 0; a < 2; a++) {
    int32_t swap = p->v[a];
    p->v[a] = p->v[2 + a];
    p->v[2 + a] = swap;
  }
}

static int compare(const void *a, const void *b) {
  const PairByHand *p = a, *q = b;
  if (p->split != q->split) return p->split - q->split;
  for (int k = 0; k < 4; k++)
    if (p->v[k] != q->v[k]) return p->v[k] < q->v[k] ? -1 : 1;
  return 0;
}

static void take_stiffness(ContactByHand *c, const HkContacts *contacts) {
  c->contacts = contacts;
  c->ghat = contacts->data->ghat;
  c->known_count = 0;
  for (int64_t e = 0; e < contacts->met_count; e++) {
    PairByHand p = {.k = contacts->met[e].k};
    p.split = hk_contact_vertices(&contacts->data->features, contacts->met[e].key, p.v);
    normalize(&p);
    append(&c->known, &c->known_count, &c->known_capacity, &p);
  }
  if (c->known_count) qsort(c->known, (size_t)c->known_count, sizeof *c->known, compare);
}

static double stiffness_of(const ContactByHand *c, const PairByHand *pair) {
  const PairByHand *found =
      c->known_count ? bsearch(pair, c->known, (size_t)c->known_count, sizeof *pair, compare)
                     : NULL;
  return found ? found->k : 0;
}

/* ---- Gap and energy of a pair ---- */

static bool is_ground(const PairByHand *p) {
  return p->v[1] < 0;
}

static double gap(const ContactByHand *c, const PairByHand *p, const double x[12]) {
  const double *radius = c->pairs.radius;
  if (is_ground(p)) return x[1] - c->height - radius[p->v[0]];
  double d = p->split == 1 ? all_pairs_point_triangle(x, x + 3, x + 6, x + 9)
                           : all_pairs_segments(x, x + 3, x + 6, x + 9);
  return d - radius[p->v[0]] - radius[p->v[3]];
}

static double square_of_cross(const double x[12]) {
  double u[3], v[3], sum = 0;
  for (int q = 0; q < 3; q++) {
    u[q] = x[3 + q] - x[q];
    v[q] = x[9 + q] - x[6 + q];
  }
  for (int q = 0; q < 3; q++) {
    int r = (q + 1) % 3, s = (q + 2) % 3;
    sum += (u[r] * v[s] - u[s] * v[r]) * (u[r] * v[s] - u[s] * v[r]);
  }
  return sum;
}

static double barrier(double s) {
  if (s >= 1) return 0;
  return s > 0 ? -(s - 1) * (s - 1) * log(s) : INFINITY;
}

/* The distance of x from the segment a b. */
static double to_segment(const double x[3], const double a[3], const double b[3]) {
  double along = 0, square = 0, sum = 0;
  for (int q = 0; q < 3; q++) {
    along += (x[q] - a[q]) * (b[q] - a[q]);
    square += (b[q] - a[q]) * (b[q] - a[q]);
  }
  double t = square > 0 ? fmin(fmax(along / square, 0), 1) : 0;
  for (int q = 0; q < 3; q++) {
    double d = x[q] - a[q] - t * (b[q] - a[q]);
    sum += d * d;
  }
  return sqrt(sum);
}

/* What flat edges and vertices of a triangle change, in parts of k ghat^2. */
static double flat_change(const ContactByHand *c, const PairByHand *p, const double x[12]) {
  double xi = c->pairs.radius[p->v[0]] + c->pairs.radius[p->v[3]], sum = 0;
  for (int a = 0; a < 3; a++) {
    const double *i = x + 3 + 3 * a, *j = x + 3 + 3 * ((a + 1) % 3), *k = x + 3 + 3 * ((a + 2) % 3);
    if (p->flat_edge[a]) sum -= 0.5 * barrier((to_segment(x, j, k) - xi) / c->ghat);
    if (p->flat_vertex[a]) sum += barrier((to_segment(x, i, i) - xi) / c->ghat) / p->flat_vertex[a];
  }
  return sum;
}

static double energy(const ContactByHand *c, const PairByHand *p, const double x[12]) {
  double s = gap(c, p, x) / c->ghat, r = 1;
  if (s >= 1) return 0;
  if (!(s > 0)) return INFINITY;
  if (p->split == 2) r = fmin(1, square_of_cross(x) / p->c0);
  double f = r * (2 - r) * barrier(s);
  if (p->split == 1 && !is_ground(p)) f += flat_change(c, p, x);
  return p->k * c->ghat * c->ghat * f;
}

static void place(const ContactByHand *c, const PairByHand *p, double x[12]) {
  for (int a = 0; a < 4; a++)
    for (int q = 0; q < 3; q++)
      x[3 * a + q] = p->v[a] < 0 ? 0 : c->pairs.x[3 * (int64_t)p->v[a] + q];
}

/* ---- What is near ---- */

static double square_at_rest(const ContactByHand *c, const int32_t edge[2]) {
  const HkModel *m = c->pairs.model;
  double sum = 0;
  for (int q = 0; q < 3; q++) {
    double end[2];
    for (int a = 0; a < 2; a++) {
      int64_t v = edge[a];
      end[a] =
          v < m->n ? m->x0[3 * v + q] : c->contacts->data->features.obstacle[3 * (v - m->n) + q];
    }
    sum += (end[1] - end[0]) * (end[1] - end[0]);
  }
  return sum;
}

/* Six times the volume between three points and a fourth one, and the squares of lengths. */
static double volume(const double *a, const double *b, const double *c, const double *d) {
  double u[3], v[3], w[3];
  for (int q = 0; q < 3; q++) {
    u[q] = b[q] - a[q];
    v[q] = c[q] - a[q];
    w[q] = d[q] - a[q];
  }
  return w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) +
         w[2] * (u[0] * v[1] - u[1] * v[0]);
}

/* The signed distances of two corners from an edge are of opposite signs in one plane. */
static bool is_unfolded(const double *i, const double *j, const double *k, const double *l) {
  double u = 0, ak = 0, al = 0, both = 0;
  for (int q = 0; q < 3; q++) {
    u += (j[q] - i[q]) * (j[q] - i[q]);
    ak += (j[q] - i[q]) * (k[q] - i[q]);
    al += (j[q] - i[q]) * (l[q] - i[q]);
    both += (k[q] - i[q]) * (l[q] - i[q]);
  }
  return both - ak * al / u < 0;
}

/* The corner of triangle f that is not i or j; -1 if it has not got both. */
static int32_t across(const AllPairs *a, int64_t f, int32_t i, int32_t j) {
  const int32_t *t = a->triangle + 3 * f;
  for (int c = 0; c < 3; c++) {
    int32_t k = t[(c + 1) % 3], l = t[(c + 2) % 3];
    if ((k == i && l == j) || (k == j && l == i)) return t[c];
  }
  return -1;
}

/* Two triangles of an obstacle have the edge, and lie in one plane. */
static bool is_flat_edge(const AllPairs *a, int32_t i, int32_t j) {
  const double FLAT = 1e-9;
  int32_t corner[2] = {-1, -1};
  int count = 0;
  if (i < a->model->n) return false;
  for (int64_t f = 0; f < a->triangle_count; f++) {
    int32_t k = across(a, f, i, j);
    if (k >= 0 && count++ < 2) corner[count - 1] = k;
  }
  if (count != 2) return false;
  const double *x[4] = {a->x + 3 * (int64_t)i, a->x + 3 * (int64_t)j, a->x + 3 * (int64_t)corner[0],
                        a->x + 3 * (int64_t)corner[1]};
  double size = to_segment(x[0], x[1], x[1]);
  return fabs(volume(x[0], x[1], x[2], x[3])) < FLAT * size * size * size &&
         is_unfolded(x[0], x[1], x[2], x[3]);
}

/* The number of triangles around a vertex with flat edges alone; else 0. */
static int count_fan(const AllPairs *a, int32_t v) {
  int count = 0;
  for (int64_t f = 0; f < a->triangle_count; f++) {
    const int32_t *t = a->triangle + 3 * f;
    for (int c = 0; c < 3; c++) {
      if (t[c] != v) continue;
      if (!is_flat_edge(a, v, t[(c + 1) % 3]) || !is_flat_edge(a, v, t[(c + 2) % 3])) return 0;
      count++;
    }
  }
  return count;
}

static void find_flat(const AllPairs *a, PairByHand *p) {
  if (p->split != 1 || p->v[1] < a->model->n) return;
  for (int c = 0; c < 3; c++) {
    p->flat_edge[c] = is_flat_edge(a, p->v[1 + (c + 1) % 3], p->v[1 + (c + 2) % 3]);
    p->flat_vertex[c] = count_fan(a, p->v[1 + c]);
  }
}

static void consider(ContactByHand *c, PairByHand p) {
  const double NEAR = 3;
  double x[12];
  place(c, &p, x);
  double g = gap(c, &p, x);
  if (g >= NEAR * c->ghat) return;
  normalize(&p);
  find_flat(&c->pairs, &p);
  if (p.split == 1 && count_fan(&c->pairs, p.v[0])) return;
  if (p.split == 2 &&
      (is_flat_edge(&c->pairs, p.v[0], p.v[1]) || is_flat_edge(&c->pairs, p.v[2], p.v[3])))
    return;
  p.k = stiffness_of(c, &p);
  if (p.split == 2) p.c0 = 1e-3 * square_at_rest(c, p.v) * square_at_rest(c, p.v + 2);
  c->touching += g < c->ghat;
  c->missing += g < c->ghat && !(p.k > 0);
  append(&c->near, &c->near_count, &c->near_capacity, &p);
}

static void consider_ground(ContactByHand *c) {
  const HkContacts *contacts = c->contacts;
  int64_t n = c->pairs.model->n;
  for (int w = 0; w < contacts->data->wall_count; w++) {
    const HkWall *wall = &contacts->data->walls[w];
    if (wall->obstacle) abort(); /* not by hand */
    c->height = wall->offset;
    for (int32_t v = 0; v < n; v++) {
      PairByHand p = {.v = {v, -1, -1, -1}, .k = (double)contacts->wall_k[w * n + v]};
      double g = c->pairs.x[3 * v + 1] - c->height - c->pairs.radius[v];
      if (g >= c->ghat) continue;
      c->touching++;
      c->missing += !(p.k > 0);
      append(&c->near, &c->near_count, &c->near_capacity, &p);
    }
  }
}

void contact_by_hand_look(ContactByHand *c, const HkContacts *contacts, const double *x, double t) {
  const AllPairs *a = &c->pairs;
  take_stiffness(c, contacts);
  all_pairs_place(a, x, t);
  c->near_count = c->touching = c->missing = 0;
  for (int64_t e = 0; e < a->edge_count; e++)
    for (int64_t g = e + 1; g < a->edge_count; g++) {
      const int32_t *i = a->edge + 2 * e, *j = a->edge + 2 * g;
      if (i[0] == j[0] || i[0] == j[1] || i[1] == j[0] || i[1] == j[1]) continue;
      if (all_pairs_meet(a, i[0], j[0]))
        consider(c, (PairByHand){.v = {i[0], i[1], j[0], j[1]}, .split = 2});
    }
  for (int64_t f = 0; f < a->triangle_count; f++)
    for (int32_t v = 0; v < a->vertex_count; v++) {
      const int32_t *i = a->triangle + 3 * f;
      if (v == i[0] || v == i[1] || v == i[2] || !all_pairs_meet(a, v, i[0])) continue;
      consider(c, (PairByHand){.v = {v, i[0], i[1], i[2]}, .split = 1});
    }
  consider_ground(c);
}

/* ---- Derivatives ---- */

/* The slope of the energy by differences of the fourth order. */
static double slope(const ContactByHand *c, const PairByHand *p, const double x[12], int q,
                    double step) {
  double at[12], E[4];
  const double steps[4] = {-2, -1, 1, 2};
  memcpy(at, x, sizeof at);
  for (int k = 0; k < 4; k++) {
    at[q] = x[q] + steps[k] * step;
    E[k] = energy(c, p, at);
  }
  return (E[0] - 8 * E[1] + 8 * E[2] - E[3]) / (12 * step);
}

static void gradient_of(const ContactByHand *c, const PairByHand *p, const double x[12],
                        double G[12]) {
  double step = 1e-5 * gap(c, p, x);
  for (int q = 0; q < 12; q++) {
    bool moves = p->v[q / 3] >= 0 && p->v[q / 3] < c->pairs.model->n;
    G[q] = moves ? slope(c, p, x, q, step) : 0;
  }
}

static bool touches(const ContactByHand *c, const PairByHand *p, double x[12]) {
  place(c, p, x);
  return gap(c, p, x) < 1.1 * c->ghat;
}

static void put(const ContactByHand *c, const double *x) {
  memcpy(c->pairs.x, x, (size_t)c->pairs.model->n * 3 * sizeof *x);
}

void contact_by_hand_gradient(void *user, const double *x, double *g) {
  const ContactByHand *c = user;
  put(c, x);
  for (int64_t e = 0; e < c->near_count; e++) {
    const PairByHand *p = &c->near[e];
    double at[12], G[12];
    if (!touches(c, p, at)) continue;
    gradient_of(c, p, at, G);
    for (int q = 0; q < 12; q++)
      if (G[q] != 0) g[3 * (int64_t)p->v[q / 3] + q % 3] += G[q];
  }
}

void contact_by_hand_hessian(void *user, const double *x, double *H) {
  const ContactByHand *c = user;
  int64_t n = c->pairs.model->n, size = 3 * n;
  put(c, x);
  for (int64_t e = 0; e < c->near_count; e++) {
    const PairByHand *p = &c->near[e];
    double at[12], up[12], plus[12], minus[12];
    if (!touches(c, p, at)) continue;
    double step = 1e-3 * gap(c, p, at);
    for (int q = 0; q < 12; q++) {
      if (p->v[q / 3] < 0 || p->v[q / 3] >= n) continue;
      memcpy(up, at, sizeof up);
      up[q] = at[q] + step;
      gradient_of(c, p, up, plus);
      up[q] = at[q] - step;
      gradient_of(c, p, up, minus);
      for (int r = 0; r < 12; r++) {
        if (p->v[r / 3] < 0 || p->v[r / 3] >= n) continue;
        int64_t row = 3 * (int64_t)p->v[r / 3] + r % 3, column = 3 * (int64_t)p->v[q / 3] + q % 3;
        double half = (plus[r] - minus[r]) / (4 * step); /* of both triangles of a symmetric H */
        H[row * size + column] += half;
        H[column * size + row] += half;
      }
    }
  }
}

void contact_by_hand_stiffness(void *user, const double *x, double *d) {
  const ContactByHand *c = user;
  put(c, x);
  for (int64_t e = 0; e < c->near_count; e++) {
    const PairByHand *p = &c->near[e];
    double at[12];
    if (!touches(c, p, at)) continue;
    double s = gap(c, p, at) / c->ghat, i = (s - 1) / s;
    for (int a = 0; a < 4 && s < 1; a++)
      if (p->v[a] >= 0 && p->v[a] < c->pairs.model->n)
        d[p->v[a]] += p->k * (-2 * log(s) - 4 * i + i * i);
  }
}
