/* The features of a model and its obstacles; see features.h. */
#include "contact/features.h"

#include "base/vec.h"
#include "contact/tree.h"

#include <string.h>

typedef struct Element {
  int32_t v[3];
  uint8_t corners;
} Element;

/* The elements of one group before they get their slots. */
typedef struct Elements {
  Element *element;
  int64_t count, capacity;
} Elements;

/* A set of edges: lists by the lower vertex. */
typedef struct EdgeSet {
  int64_t *head; /* one a vertex; 0: none */
  int64_t *next;
  int32_t *other;
  int64_t count, next_capacity, other_capacity;
} EdgeSet;

typedef struct Builder {
  const HkModel *model;
  HkFeatures *f;
  Elements found;
  uint8_t *used; /* one a vertex: it is a corner of a cell, or of an obstacle's triangle or edge */
  EdgeSet edges;
  double *center; /* m, 3 an element of the group */
  int32_t *order;
  int64_t center_capacity, order_capacity, slots, blocks, corner_slots, own_slots;
  int64_t face, cell; /* the first ones that no group has yet */
} Builder;

static HkStatus reserve_edges(Builder *b, int64_t count, HkError *error) {
  const HkContext *c = &b->model->context;
  EdgeSet *set = &b->edges;
  HK_TRY(
      hk_grow(c, &set->next, &set->next_capacity, count + 1, sizeof *set->next, "contact", error));
  return hk_grow(c, &set->other, &set->other_capacity, count + 1, sizeof *set->other, "contact",
                 error);
}

static void clear_edges(Builder *b) {
  memset(b->edges.head, 0, (size_t)b->f->vertex_count * sizeof *b->edges.head);
  b->edges.count = 0;
}

/* Returns whether the edge was not there before; it fits. */
static bool add_edge(EdgeSet *set, int32_t i, int32_t j) {
  int32_t low = i < j ? i : j, high = i < j ? j : i;
  int64_t at = set->head[low];
  while (at > 0 && set->other[at] != high) at = set->next[at];
  if (at > 0) return false;
  set->count++;
  set->other[set->count] = high;
  set->next[set->count] = set->head[low];
  set->head[low] = set->count;
  return true;
}

static HkStatus add(Builder *b, int corners, int32_t i, int32_t j, int32_t k, HkError *error) {
  Elements *e = &b->found;
  HK_TRY(hk_grow(&b->model->context, &e->element, &e->capacity, e->count + 1, sizeof *e->element,
                 "contact", error));
  e->element[e->count++] = (Element){{i, j, k}, (uint8_t)corners};
  return HK_OK;
}

/* ---- Elements of a body ---- */

/* The edges of the faces first .. end - 1 that no other face has. In 2D they are the boundary. */
static HkStatus add_boundary(Builder *b, int64_t first, int64_t end, HkError *error) {
  const int32_t *face = b->model->face;
  for (int64_t f = first; f < end; f++)
    for (int c = 0; c < 3; c++) {
      int32_t i = face[3 * f + c], j = face[3 * f + (c + 1) % 3];
      bool shared = false;
      for (int64_t q = b->model->face_start[i]; q < b->model->face_start[i + 1] && !shared; q++) {
        int64_t other = b->model->face_at[q] / 3;
        for (int d = 0; d < 3; d++) shared |= other != f && face[3 * other + d] == j;
      }
      if (!shared) HK_TRY(add(b, 2, i, j, j, error));
    }
  return HK_OK;
}

static HkStatus add_faces(Builder *b, int64_t last, HkError *error) {
  const HkModel *m = b->model;
  int64_t first = b->face, end = first;
  while (end < m->face_count && m->face[3 * end] < last) end++;
  b->face = end;
  if (b->f->flat) return add_boundary(b, first, end, error);
  for (int64_t f = first; f < end; f++)
    HK_TRY(add(b, 3, m->face[3 * f], m->face[3 * f + 1], m->face[3 * f + 2], error));
  return HK_OK;
}

/* Line cells; the corners of all cells are marked. */
static HkStatus add_lines(Builder *b, int64_t last, bool *cells, HkError *error) {
  const HkModel *m = b->model;
  *cells = false;
  for (; b->cell < m->cell_count; b->cell++) {
    const int32_t *v = m->cell_vertex + m->cell_start[b->cell];
    int64_t count = m->cell_start[b->cell + 1] - m->cell_start[b->cell];
    if (count > 0 && v[0] >= last) break;
    if (m->cell_type[b->cell] == HK_CELL_POINT) continue;
    *cells = true;
    for (int64_t k = 0; k < count; k++) b->used[v[k]] = 1;
    if (m->cell_type[b->cell] == HK_CELL_LINE) HK_TRY(add(b, 2, v[0], v[1], v[1], error));
  }
  return HK_OK;
}

/* A body without cells touches by its springs, and a vertex without springs by itself. */
static HkStatus add_springs(Builder *b, int64_t first, int64_t last, bool cells, HkError *error) {
  const HkModel *m = b->model;
  for (int64_t i = first; i < last; i++) {
    bool alone = !b->used[i];
    for (int64_t q = m->adj_start[i]; q < m->adj_start[i + 1] && !cells; q++) {
      int32_t j = m->adj_vertex[q];
      alone = false;
      if (j > i) HK_TRY(add(b, 2, (int32_t)i, j, j, error));
    }
    if (alone) HK_TRY(add(b, 1, (int32_t)i, (int32_t)i, (int32_t)i, error));
  }
  return HK_OK;
}

static HkStatus find_body(Builder *b, int body, HkError *error) {
  const HkBodyRange *range = &b->model->bodies[body];
  int64_t last = range->first + range->count;
  bool cells;
  b->found.count = 0;
  HK_TRY(add_faces(b, last, error));
  HK_TRY(add_lines(b, last, &cells, error));
  return add_springs(b, range->first, last, cells, error);
}

/* ---- Elements of an obstacle ---- */

static HkStatus find_obstacle(Builder *b, const HkObstacleFeatures *o, int32_t first,
                              HkError *error) {
  b->found.count = 0;
  for (int32_t t = 0; t < o->triangle_count; t++) {
    const int32_t *v = o->triangle + 3 * t;
    HK_TRY(add(b, 3, first + v[0], first + v[1], first + v[2], error));
    for (int c = 0; c < 3; c++) add_edge(&b->edges, first + v[c], first + v[(c + 1) % 3]);
    for (int c = 0; c < 3; c++) b->used[first + v[c]] = 1;
  }
  for (int32_t e = 0; e < o->edge_count; e++) {
    int32_t i = first + o->edge[2 * e], j = first + o->edge[2 * e + 1];
    b->used[i] = b->used[j] = 1;
    if (add_edge(&b->edges, i, j)) HK_TRY(add(b, 2, i, j, j, error));
  }
  for (int32_t v = first; v < first + o->vertex_count; v++)
    if (!b->used[v]) HK_TRY(add(b, 1, v, v, v, error));
  return HK_OK;
}

/* ---- Slots ---- */

static const double *rest_of(const Builder *b, int32_t v) {
  const HkFeatures *f = b->f;
  return v < f->n ? b->model->x0 + 3 * (int64_t)v : f->obstacle + 3 * (v - f->n);
}

/* Gives the elements of a group their slots, in the order of the tree. */
static HkStatus place(Builder *b, int group, HkError *error) {
  const HkContext *c = &b->model->context;
  HkFeatures *f = b->f;
  int64_t count = b->found.count, first = f->slot_count;
  int64_t slots = (count + HK_CONTACT_WIDTH - 1) / HK_CONTACT_WIDTH * HK_CONTACT_WIDTH;
  int64_t end = first + slots;
  HK_TRY(hk_grow(c, &b->center, &b->center_capacity, 3 * count, sizeof(double), "contact", error));
  HK_TRY(hk_grow(c, &b->order, &b->order_capacity, count, sizeof(int32_t), "contact", error));
  HK_TRY(hk_grow(c, &f->vertex, &b->slots, 3 * end, sizeof *f->vertex, "contact", error));
  HK_TRY(hk_grow(c, &f->corners, &b->corner_slots, end, 1, "contact", error));
  HK_TRY(hk_grow(c, &f->group, &b->blocks, end / HK_CONTACT_WIDTH, sizeof *f->group, "contact",
                 error));
  for (int64_t e = 0; e < count; e++)
    for (int k = 0; k < 3; k++) {
      double sum = 0;
      for (int q = 0; q < 3; q++) sum += rest_of(b, b->found.element[e].v[q])[k];
      b->center[3 * e + k] = sum / 3;
    }
  hk_tree_order(b->center, count, b->order);
  for (int64_t s = 0; s < slots; s++) {
    const Element *e = s < count ? &b->found.element[b->order[s]] : NULL;
    f->corners[first + s] = e ? e->corners : 0;
    for (int k = 0; k < 3; k++) f->vertex[3 * (first + s) + k] = e ? e->v[k] : -1;
    f->group[(first + s) / HK_CONTACT_WIDTH] = group;
  }
  f->slot_count = end;
  return HK_OK;
}

/* ---- Who owns what ---- */

static bool has_edge(const HkFeatures *f, int64_t slot, int c) {
  return f->corners[slot] == 3 || (f->corners[slot] == 2 && c == 0);
}

/* The first slot that has a point or an edge owns it. */
static HkStatus share_out(Builder *b, HkError *error) {
  HkFeatures *f = b->f;
  HK_TRY(hk_alloc(&b->model->context, &f->owns, f->slot_count, 1, "contact", error));
  HK_TRY(reserve_edges(b, 3 * f->slot_count, error));
  clear_edges(b);
  memset(b->used, 0, (size_t)f->vertex_count);
  for (int64_t s = 0; s < f->slot_count; s++) {
    const int32_t *v = f->vertex + 3 * s;
    for (int c = 0; c < f->corners[s]; c++) {
      if (!b->used[v[c]]) f->owns[s] |= (uint8_t)(1 << c);
      b->used[v[c]] = 1;
    }
    for (int c = 0; c < 3; c++)
      if (has_edge(f, s, c) && add_edge(&b->edges, v[c], v[(c + 1) % 3]))
        f->owns[s] |= (uint8_t)(8 << c);
  }
  return HK_OK;
}

/* ---- All together ---- */

static HkStatus set_groups(const HkModel *m, const HkFeaturesChoice *choice, HkFeatures *f,
                           HkError *error) {
  f->n = f->vertex_count = m->n;
  f->flat = m->dimension == 2;
  f->body_count = m->body_count;
  f->group_count = m->body_count + m->obstacle_count;
  HK_TRY(hk_alloc(&m->context, &f->radius, f->group_count, sizeof *f->radius, "contact", error));
  HK_TRY(hk_alloc(&m->context, &f->self, f->group_count, 1, "contact", error));
  HK_TRY(hk_alloc(&m->context, &f->touches, f->group_count + 1, 1, "contact", error));
  for (int g = 0; g < m->body_count; g++) {
    const HkBodyContact *own = &m->bodies[g].contact;
    f->radius[g] = 0.5 * (isnan(own->thickness) ? choice->thickness : own->thickness);
    f->self[g] =
        own->enabled && (own->self == HK_SELF_DEFAULT ? choice->self : own->self == HK_SELF_ON);
    f->touches[g] = own->enabled;
  }
  for (int k = 0; k < m->obstacle_count; k++) {
    f->radius[m->body_count + k] = m->obstacles[k].features.radius;
    f->touches[m->body_count + k] = m->obstacles[k].contact;
    f->vertex_count += m->obstacles[k].features.vertex_count;
  }
  f->touches[f->group_count] = 1;
  HK_TRY(hk_features_exclude(m, f, error));
  HK_TRY(hk_alloc(&m->context, &f->obstacle, 3 * (f->vertex_count - f->n), sizeof *f->obstacle,
                  "contact", error));
  double *to = f->obstacle;
  for (int k = 0; k < m->obstacle_count; k++) {
    const HkObstacleFeatures *o = &m->obstacles[k].features;
    for (int32_t c = 0; c < 3 * o->vertex_count; c++) *to++ = o->x[c];
  }
  return HK_OK;
}

static HkStatus build(Builder *b, HkError *error) {
  const HkModel *m = b->model;
  int64_t count = b->f->vertex_count;
  HK_TRY(hk_alloc(&m->context, &b->used, count, 1, "contact", error));
  HK_TRY(hk_alloc(&m->context, &b->edges.head, count, sizeof(int64_t), "contact", error));
  for (int g = 0; g < m->body_count; g++) {
    HK_TRY(find_body(b, g, error));
    if (!b->f->touches[g]) b->found.count = 0;
    HK_TRY(place(b, g, error));
  }
  int32_t first = (int32_t)m->n;
  for (int k = 0; k < m->obstacle_count; k++) {
    const HkObstacleFeatures *o = &m->obstacles[k].features;
    HK_TRY(reserve_edges(b, 3 * (int64_t)o->triangle_count + o->edge_count, error));
    clear_edges(b);
    HK_TRY(find_obstacle(b, o, first, error));
    if (!b->f->touches[m->body_count + k]) b->found.count = 0;
    HK_TRY(place(b, m->body_count + k, error));
    first += o->vertex_count;
  }
  HK_TRY(share_out(b, error));
  const int64_t SLOTS_MAX = (int64_t)1 << 28; /* of keys */
  if (b->f->slot_count >= SLOTS_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "contact takes up to %lld triangles and edges; there are %lld",
                   (long long)SLOTS_MAX, (long long)b->f->slot_count);
  return HK_OK;
}

HkStatus hk_features_create(const HkModel *m, const HkFeaturesChoice *choice, HkFeatures *f,
                            HkError *error) {
  Builder b = {.model = m, .f = f};
  *f = (HkFeatures){0};
  HkStatus status = set_groups(m, choice, f, error);
  if (status >= 0) status = build(&b, error);
  if (status >= 0) status = hk_features_find_flat(m, choice->distance, f, error);
  f->bytes = (size_t)(3 * b.slots) * sizeof *f->vertex / 3 + (size_t)b.corner_slots +
             (size_t)f->slot_count + (size_t)b.blocks * sizeof *f->group +
             (size_t)(3 * (f->vertex_count - f->n) + f->group_count) * sizeof(double) +
             (size_t)(2 * f->group_count + 1) + (size_t)f->excluded_size * sizeof *f->excluded;
  if (f->flats) f->bytes += (size_t)(f->slot_count - f->flat_first) * sizeof *f->flats;
  if (f->row) f->bytes += (size_t)(f->group_count + 1) * sizeof *f->row;
  hk_free(&m->context, &b.found.element);
  hk_free(&m->context, &b.used);
  hk_free(&m->context, &b.edges.head);
  hk_free(&m->context, &b.edges.next);
  hk_free(&m->context, &b.edges.other);
  hk_free(&m->context, &b.center);
  hk_free(&m->context, &b.order);
  if (status < 0) hk_features_destroy(m, f);
  return status;
}

void hk_features_destroy(const HkModel *m, HkFeatures *f) {
  const HkContext *c = &m->context;
  hk_free(c, &f->vertex);
  hk_free(c, &f->corners);
  hk_free(c, &f->owns);
  hk_free(c, &f->group);
  hk_free(c, &f->radius);
  hk_free(c, &f->self);
  hk_free(c, &f->touches);
  hk_free(c, &f->excluded);
  hk_free(c, &f->row);
  hk_free(c, &f->obstacle);
  hk_free(c, &f->flats);
  *f = (HkFeatures){0};
}
