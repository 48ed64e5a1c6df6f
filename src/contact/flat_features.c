/* Which edges and vertices of obstacles are flat: the triangles around them lie in one plane.
 *
 * A straight edge of a body that is near a flat edge is nearest to the surface at one of its ends,
 * or at a border of the flat part; so is a triangle of a body that is near a flat vertex. Their
 * pairs say nothing that pairs of points and triangles do not say, and flat edges and vertices are
 * no features of their own.
 *
 * A plane is one if the corners of one triangle are no further from the plane of the other than
 * FLATNESS ghat, a thousandth of what bodies and obstacles have as their thickness at least.
 */
#include "base/vec.h"
#include "contact/features.h"

#include <math.h>
#include <string.h>

static const double FLATNESS = 1e-6;

/* Sides 3 t + c of the triangles t: the edge from corner c to c + 1. */
typedef struct Sides {
  HkFeatures *f;
  int64_t *next, *head; /* lists of the sides by their lower vertex; -1: the end */
  int64_t count;        /* of slots, from f->flat_first on */
  double height;        /* m */
} Sides;

/* The c-th vertex after the start of a side in its triangle. */
static int32_t after(const Sides *a, int64_t side, int c) {
  return a->f->vertex[3 * (a->f->flat_first + side / 3) + (side % 3 + c) % 3];
}

static const double *place_of(const Sides *a, int32_t v) {
  return a->f->obstacle + 3 * (v - a->f->n);
}

/* The normal of the triangle of a side, as long as twice its area. */
static void normal_of(const Sides *a, int64_t side, double n[3]) {
  const double *x = place_of(a, after(a, side, 0));
  double u[3], v[3];
  hk_sub(place_of(a, after(a, side, 1)), x, u);
  hk_sub(place_of(a, after(a, side, 2)), x, v);
  hk_cross(u, v, n);
}

/* Whether the far corner of `other` lies in the plane of the triangle of `side`. */
static bool is_in_plane(const Sides *a, int64_t side, int64_t other) {
  double n[3], r[3];
  normal_of(a, side, n);
  hk_sub(place_of(a, after(a, other, 2)), place_of(a, after(a, side, 0)), r);
  return fabs(hk_dot(n, r)) <= a->height * hk_norm(n);
}

/* Whether the far corners of two triangles lie on the two sides of their edge. */
static bool is_unfolded(const Sides *a, int64_t side, int64_t other) {
  double n[3], m[3];
  bool same = after(a, side, 0) == after(a, other, 0); /* the two run in the same direction */
  normal_of(a, side, n);
  normal_of(a, other, m);
  return same ? hk_dot(n, m) < 0 : hk_dot(n, m) > 0;
}

/* The only other side of the same edge, or -1. */
static int64_t find_other(const Sides *a, int64_t side) {
  int32_t i = after(a, side, 0), j = after(a, side, 1), low = i < j ? i : j, high = i < j ? j : i;
  int64_t found = -1;
  for (int64_t q = a->head[low - a->f->n]; q >= 0; q = a->next[q]) {
    int32_t k = after(a, q, 0), l = after(a, q, 1);
    if (q == side || (k > l ? k : l) != high) continue;
    if (found >= 0) return -1;
    found = q;
  }
  return found;
}

static void link_sides(Sides *a) {
  int64_t vertices = a->f->vertex_count - a->f->n;
  for (int64_t v = 0; v < vertices; v++) a->head[v] = -1;
  for (int64_t q = 0; q < 3 * a->count; q++) {
    if (a->f->corners[a->f->flat_first + q / 3] < 3) continue;
    int32_t i = after(a, q, 0), j = after(a, q, 1), low = i < j ? i : j;
    a->next[q] = a->head[low - a->f->n];
    a->head[low - a->f->n] = q;
  }
}

static bool find_edges(Sides *a) {
  bool any = false;
  for (int64_t q = 0; q < 3 * a->count; q++) {
    if (a->f->corners[a->f->flat_first + q / 3] < 3) continue;
    int64_t other = find_other(a, q);
    if (other < 0 || !is_unfolded(a, q, other)) continue;
    if (!is_in_plane(a, q, other) || !is_in_plane(a, other, q)) continue;
    a->f->flats[q / 3].edges |= (uint8_t)(1 << q % 3);
    any = true;
  }
  return any;
}

/* Counts the triangles around each vertex into `head`; -1 where an edge is not flat, and where
 * elements other than triangles are. */
static void count_fans(Sides *a) {
  const HkFeatures *f = a->f;
  memset(a->head, 0, (size_t)(f->vertex_count - f->n) * sizeof *a->head);
  for (int64_t q = 0; q < 3 * a->count; q++) {
    int64_t slot = f->flat_first + q / 3;
    if (q % 3 >= f->corners[slot]) continue;
    int64_t *fan = &a->head[after(a, q, 0) - f->n];
    bool flat = f->corners[slot] == 3 && f->flats[q / 3].edges >> (q % 3) & 1 &&
                f->flats[q / 3].edges >> ((q + 2) % 3) & 1;
    if (!flat || *fan < 0)
      *fan = -1;
    else
      ++*fan;
  }
}

/* Flat edges and vertices belong to no slot. */
static void set_fans(Sides *a) {
  HkFeatures *f = a->f;
  for (int64_t q = 0; q < 3 * a->count; q++) {
    int64_t slot = f->flat_first + q / 3;
    int c = (int)(q % 3);
    if (f->corners[slot] < 3) continue;
    int64_t fan = a->head[after(a, q, 0) - f->n];
    if (fan > 0 && fan <= UINT8_MAX) {
      f->flats[q / 3].fan[c] = (uint8_t)fan;
      f->owns[slot] &= (uint8_t) ~(1 << c);
    }
    if (f->flats[q / 3].edges >> c & 1) f->owns[slot] &= (uint8_t) ~(8 << c);
  }
}

HkStatus hk_features_find_flat(const HkModel *m, double distance, HkFeatures *f, HkError *error) {
  const HkContext *context = &m->context;
  int64_t blocks = f->slot_count / HK_CONTACT_WIDTH, first = 0;
  while (first < blocks && f->group[first] < f->body_count) first++;
  f->flat_first = first * HK_CONTACT_WIDTH;
  Sides a = {.f = f, .count = f->slot_count - f->flat_first, .height = FLATNESS * distance};
  if (f->flat || a.count == 0) return HK_OK;
  HK_TRY(hk_alloc(context, &f->flats, a.count, sizeof *f->flats, "contact", error));
  HkStatus status = hk_alloc(context, &a.next, 3 * a.count, sizeof *a.next, "contact", error);
  if (status >= 0)
    status = hk_alloc(context, &a.head, f->vertex_count - f->n, sizeof *a.head, "contact", error);
  if (status >= 0) link_sides(&a);
  bool any = status >= 0 && find_edges(&a);
  if (any) {
    count_fans(&a);
    set_fans(&a);
  }
  if (!any) hk_free(context, &f->flats);
  hk_free(context, &a.next);
  hk_free(context, &a.head);
  return status;
}
