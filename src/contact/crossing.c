/* Crossings of edges and triangles; see crossing.h. The tree finds slots whose boxes overlap. */
#include "contact/crossing.h"

#include "contact/orient.h"

typedef struct Crossings {
  const HkContacts *c;
  const double *x;
  HkCrossing *list;
  int64_t count, most;
} Crossings;

static bool has(const int32_t *v, int32_t i) {
  return v[0] == i || v[1] == i || v[2] == i;
}

/* The edges that belong to one slot against the triangle of the other. */
static void compare(Crossings *a, int64_t edges, int64_t triangle) {
  const HkFeatures *f = &a->c->data->features;
  const int32_t *e = f->vertex + 3 * edges, *t = f->vertex + 3 * triangle;
  if (f->corners[triangle] < 3) return;
  for (int q = 0; q < 3; q++) {
    int32_t i = e[q], j = e[(q + 1) % 3];
    if (!(f->owns[edges] >> (3 + q) & 1) || has(t, i) || has(t, j)) continue;
    const double *x[5];
    const int32_t v[5] = {i, j, t[0], t[1], t[2]};
    for (int k = 0; k < 5; k++) x[k] = hk_contacts_position(a->c, a->x, v[k]);
    if (!hk_segment_meets_triangle(x[0], x[1], x[2], x[3], x[4])) continue;
    if (a->count < a->most) a->list[a->count] = (HkCrossing){i, t[0]};
    a->count++;
  }
}

static void found(void *user, int64_t slot_a, int64_t slot_b) {
  compare(user, slot_a, slot_b);
  compare(user, slot_b, slot_a);
}

int64_t hk_contacts_crossings(HkContacts *c, const double *x, HkCrossing *list, int64_t most) {
  const HkFeatures *f = &c->data->features;
  Crossings a = {.c = c, .x = x, .list = list, .most = most};
  if (hk_contacts_cover(c, x, x) < 0) return -1;
  for (int64_t b = 0; b < f->slot_count / HK_CONTACT_WIDTH; b++)
    hk_tree_search(&c->tree, f, b, found, &a);
  return a.count;
}
