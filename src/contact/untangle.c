/* Input that intersects, or is nearer than its thickness, is moved apart.
 *
 * Rounds of three kinds of moves, one pair after the other, until the exact test (crossing.h) finds
 * no crossing and every gap is open:
 *
 *     walls      a body without pins that is below a flat wall is lifted as a whole, other vertices
 *                one by one along the gradient of the distance
 *     crossings  an edge (i, j) passes through a triangle with the unit normal n: its end e on the
 *                wrong side goes to the other one. n . (x_e - x_c) = xi + ghat / 2, with x_c the
 *                point of the triangle where the edge crosses it
 *     gaps       pairs with g <= 0, where nothing crosses: g = ghat / 2 along their normal
 *
 * A condition sum w_a n . x_a = c is met by the least displacement, x_a += s w_a n / sum w_b^2;
 * pinned vertices and obstacles do not move.
 *
 * Which end is on the wrong side: the edges that cross a surface cut the mesh that they belong to
 * into parts, and the smaller part is pulled back (after Baraff et al., "Untangling cloth", 2003).
 * Of two surfaces that cut each other the one that loses fewer vertices gives way. Each round moves
 * the row of vertices next to the cut, so that the part shrinks. Where edges cut off nothing, the
 * end nearer to the triangle moves.
 */
#include "contact/untangle.h"

#include "base/sort.h"
#include "base/vec.h"
#include "contact/crossing.h"
#include "contact/orient.h"

#include <stdlib.h>
#include <string.h>

static const double TARGET = 0.5; /* of ghat: the gap that a move leaves */
enum { ROUNDS_MAX = 400 };

typedef struct Untangle {
  HkContacts *c;
  const HkState *state;
  double *x;
  uint8_t *free; /* of each vertex of the model and of obstacles */
  HkCrossing *crossing;
  int64_t crossing_count, crossing_capacity;
  int32_t *parent, *size; /* of each vertex: parts of a mesh that was cut, as a forest */
  int64_t pairs;          /* that were moved */
} Untangle;

/* ---- Moves ---- */

/* Changes sum w_a n . x_a by amount; false if nothing is free to move. */
static bool push(Untangle *u, const int32_t *v, const double *w, int count, const double n[3],
                 double amount) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += u->free[v[k]] ? w[k] * w[k] : 0;
  if (!(sum > 0)) return false;
  for (int k = 0; k < count; k++)
    if (u->free[v[k]]) hk_axpy(amount * w[k] / sum, n, u->x + 3 * (int64_t)v[k]);
  u->pairs++;
  return true;
}

static double target(const Untangle *u) {
  return TARGET * u->c->data->ghat;
}

/* ---- Walls ---- */

static bool is_movable(const Untangle *u, const HkBodyRange *body) {
  for (int64_t v = body->first; v < body->first + body->count; v++)
    if (!u->free[v]) return false;
  return true;
}

/* Gap of a vertex to a wall and the direction out of it. */
static double wall_gap(const Untangle *u, int wall, int64_t v, double n[3]) {
  const HkContacts *c = u->c;
  return hk_contacts_wall(c, wall, &c->pose[wall], u->x + 3 * v, n, NULL) - c->data->radius[v];
}

static bool lift(Untangle *u, int wall, const HkBodyRange *body) {
  double least = INFINITY, n[3], out[3] = {0, 0, 0};
  for (int64_t v = body->first; v < body->first + body->count; v++) {
    double g = wall_gap(u, wall, v, n);
    if (!(g < least)) continue;
    least = g;
    memcpy(out, n, sizeof out);
  }
  if (least > 0) return false;
  for (int64_t v = body->first; v < body->first + body->count; v++)
    hk_axpy(target(u) - least, out, u->x + 3 * v);
  u->pairs++;
  return true;
}

static bool leave_walls(Untangle *u) {
  const HkContacts *c = u->c;
  const HkModel *m = c->model;
  const double one[1] = {1};
  bool any = false;
  for (int w = 0; w < c->data->wall_count; w++) {
    const HkWall *wall = &c->data->walls[w];
    bool lifts = wall->flat && !(wall->obstacle && wall->obstacle->two_sided);
    for (int b = 0; b < m->body_count; b++) {
      const HkBodyRange *body = &m->bodies[b];
      if (!hk_features_meet(&c->data->features, b, wall->group)) continue;
      if (lifts && is_movable(u, body)) {
        any |= lift(u, w, body);
        continue;
      }
      for (int64_t v = body->first; v < body->first + body->count; v++) {
        double n[3], g = wall_gap(u, w, v, n);
        int32_t at = (int32_t)v;
        if (!(g > 0)) any |= push(u, &at, one, 1, n, target(u) - g);
      }
    }
  }
  return any;
}

/* ---- Parts of a mesh that is cut ---- */

static int32_t root_of(const Untangle *u, int32_t v) {
  while (u->parent[v] != v) v = u->parent[v] = u->parent[u->parent[v]];
  return v;
}

static void join(Untangle *u, int32_t i, int32_t j) {
  int32_t a = root_of(u, i), b = root_of(u, j);
  if (a == b) return;
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  u->parent[high] = low;
  u->size[low] += u->size[high];
}

static int compare_crossings(const void *first, const void *second) {
  const HkCrossing *p = first, *q = second;
  int32_t a[4] = {p->group[0], p->group[1], p->edge[0], p->edge[1]};
  int32_t b[4] = {q->group[0], q->group[1], q->edge[0], q->edge[1]};
  for (int k = 0; k < 4; k++)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  for (int k = 0; k < 3; k++)
    if (p->triangle[k] != q->triangle[k]) return p->triangle[k] < q->triangle[k] ? -1 : 1;
  return 0;
}

/* Whether an edge, lower vertex first, is in a list of crossings. */
static bool is_cut(const HkCrossing *list, int64_t count, int32_t i, int32_t j) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    const int32_t *e = list[middle].edge;
    if (e[0] < i || (e[0] == i && e[1] < j))
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && list[low].edge[0] == i && list[low].edge[1] == j;
}

/* Makes the parts of a group without the edges of a list. */
static void cut(Untangle *u, const HkCrossing *list, int64_t count) {
  const HkFeatures *f = &u->c->data->features;
  for (int64_t v = 0; v < f->vertex_count; v++) {
    u->parent[v] = (int32_t)v;
    u->size[v] = 1;
  }
  for (int64_t s = 0; s < f->slot_count; s++) {
    if (f->group[s / HK_CONTACT_WIDTH] != list->group[0]) continue;
    for (int k = 0; k < 3; k++) {
      int32_t i = f->vertex[3 * s + k], j = f->vertex[3 * s + (k + 1) % 3];
      if (!(f->owns[s] >> (3 + k) & 1)) continue;
      if (!is_cut(list, count, i < j ? i : j, i < j ? j : i)) join(u, i, j);
    }
  }
}

/* The end of an edge that lies in the smaller part, 0 or 1; -1: both are in one part. */
static int end_in_smaller_part(const Untangle *u, const HkCrossing *crossing) {
  int32_t a = root_of(u, crossing->edge[0]), b = root_of(u, crossing->edge[1]);
  if (a == b) return -1;
  if (u->size[a] != u->size[b]) return u->size[a] < u->size[b] ? 0 : 1;
  return a > b ? 0 : 1;
}

/* Marks the wrong ends of a list of crossings of two groups, and returns how many vertices the
 * smaller parts have; INT64_MAX if an edge cuts off nothing. */
static int64_t find_ends(Untangle *u, HkCrossing *list, int64_t count) {
  int64_t lost = 0;
  bool all = true;
  cut(u, list, count);
  for (int64_t k = 0; k < count; k++) {
    list[k].end = end_in_smaller_part(u, &list[k]);
    all &= list[k].end >= 0;
  }
  for (int64_t k = 0; k < count && all; k++) {
    int32_t root = root_of(u, list[k].edge[list[k].end]);
    if (u->size[root] > 0) lost += u->size[root];
    u->size[root] = -1; /* counted */
  }
  return all ? lost : INT64_MAX;
}

/* ---- Crossings ---- */

/* The point of the triangle where the edge crosses its plane, as weights of the corners. */
static bool crossing_point(const double *const x[5], double n[3], double b[3], double depth[2]) {
  double p[3], q[3], normal[3], at[3], area[3];
  hk_sub(x[3], x[2], p);
  hk_sub(x[4], x[2], q);
  hk_cross(p, q, normal);
  if (!hk_unit(normal, n)) return false;
  for (int e = 0; e < 2; e++) {
    hk_sub(x[e], x[2], p);
    depth[e] = hk_dot(n, p);
  }
  double t = depth[0] == depth[1] ? 0.5 : depth[0] / (depth[0] - depth[1]), sum = 0;
  for (int k = 0; k < 3; k++) at[k] = x[0][k] + t * (x[1][k] - x[0][k]);
  for (int k = 0; k < 3; k++) {
    hk_sub(x[2 + (k + 1) % 3], at, p);
    hk_sub(x[2 + (k + 2) % 3], at, q);
    hk_cross(p, q, normal);
    area[k] = hk_dot(n, normal);
    area[k] = area[k] > 0 ? area[k] : 0;
    sum += area[k];
  }
  for (int k = 0; k < 3; k++) b[k] = sum > 0 ? area[k] / sum : 1.0 / 3;
  return true;
}

/* Moves the wrong end of an edge through the triangle, unless an earlier move of the round has
 * parted the two. */
static bool uncross(Untangle *u, const HkCrossing *crossing) {
  int32_t v[5] = {crossing->edge[0], crossing->edge[1], crossing->triangle[0],
                  crossing->triangle[1], crossing->triangle[2]};
  const double *x[5];
  double n[3], b[3], depth[2];
  for (int k = 0; k < 5; k++) x[k] = hk_contacts_position(u->c, u->x, v[k]);
  if (!hk_segment_meets_triangle(x[0], x[1], x[2], x[3], x[4])) return false;
  if (!crossing_point(x, n, b, depth)) return false;
  int end = crossing->end >= 0 ? crossing->end : fabs(depth[0]) <= fabs(depth[1]) ? 0 : 1;
  if (crossing->end < 0 && !u->free[v[end]] && u->free[v[1 - end]]) end = 1 - end;
  double sign = depth[1 - end] > 0 || depth[end] < 0 ? 1 : -1;
  for (int k = 0; k < 3; k++) n[k] *= sign;
  const int32_t moved[4] = {v[end], v[2], v[3], v[4]};
  const double w[4] = {1, -b[0], -b[1], -b[2]};
  double xi = u->c->data->radius[v[end]] + u->c->data->radius[v[2]];
  return push(u, moved, w, 4, n, xi + target(u) - sign * depth[end]);
}

static int64_t end_of_groups(const Untangle *u, int64_t first) {
  int64_t k = first;
  while (k < u->crossing_count &&
         memcmp(u->crossing[k].group, u->crossing[first].group, sizeof u->crossing[k].group) == 0)
    k++;
  return k;
}

/* The crossings of edges of b with triangles of a, which begin at *first. */
static int64_t find_groups(const Untangle *u, int32_t a, int32_t b, int64_t *first) {
  for (*first = 0; *first < u->crossing_count; *first = end_of_groups(u, *first))
    if (u->crossing[*first].group[0] == a && u->crossing[*first].group[1] == b)
      return end_of_groups(u, *first) - *first;
  return 0;
}

static bool uncross_list(Untangle *u, const HkCrossing *list, int64_t count) {
  bool any = false;
  for (int64_t k = 0; k < count; k++) any |= uncross(u, &list[k]);
  return any;
}

/* All crossings of two groups: those of the one whose smaller parts are smaller. */
static bool uncross_groups(Untangle *u, int64_t first, int64_t count) {
  HkCrossing *list = u->crossing + first;
  int32_t a = list->group[0], b = list->group[1];
  int64_t other, others = a == b ? 0 : find_groups(u, b, a, &other);
  int64_t lost = find_ends(u, list, count);
  if (others == 0) return uncross_list(u, list, count);
  if (a > b) return false; /* the other order has seen to it */
  int64_t other_lost = find_ends(u, u->crossing + other, others);
  bool both = lost == INT64_MAX && other_lost == INT64_MAX, any = false;
  if (both || lost <= other_lost) any |= uncross_list(u, list, count);
  if (both || other_lost < lost) any |= uncross_list(u, u->crossing + other, others);
  return any;
}

static HkStatus find_crossings(Untangle *u) {
  int64_t count = hk_contacts_crossings(u->c, u->x, u->crossing, u->crossing_capacity);
  if (count > u->crossing_capacity) {
    HK_TRY(hk_grow(&u->c->model->context, &u->crossing, &u->crossing_capacity, count,
                   sizeof *u->crossing, "contact", NULL));
    count = hk_contacts_crossings(u->c, u->x, u->crossing, u->crossing_capacity);
  }
  u->crossing_count = count;
  if (count < 0) return HK_ERROR_MEMORY;
  for (int64_t k = 0; k < count; k++) {
    int32_t *e = u->crossing[k].edge, low = e[0] < e[1] ? e[0] : e[1];
    e[1] = e[0] < e[1] ? e[1] : e[0];
    e[0] = low;
  }
  if (count > 1) qsort(u->crossing, (size_t)count, sizeof *u->crossing, compare_crossings);
  return HK_OK;
}

static bool leave_crossings(Untangle *u) {
  bool any = false;
  for (int64_t first = 0, end; first < u->crossing_count; first = end) {
    end = end_of_groups(u, first);
    any |= uncross_groups(u, first, end - first);
  }
  return any;
}

/* ---- Gaps ---- */

/* Opens the gaps that are closed; *closed counts them. */
static HkStatus open_gaps(Untangle *u, const HkSpringArrays *springs, int64_t *closed, bool *any) {
  const HkTouchings *t = hk_contacts_find(u->c, springs, u->x);
  *closed = 0;
  if (!t) return HK_ERROR_MEMORY;
  for (int64_t k = 0; k < t->pair_count; k++) {
    const HkTouching *p = &t->pair[k];
    HkContactPair pair;
    if (p->touch.g > 0) continue;
    ++*closed;
    hk_contacts_pair(u->c, u->x, p->vertex, p->split, &pair);
    HkTouch touch = hk_pair_touch(&pair);
    double amount = target(u) - touch.g;
    if (touch.g <= 0) *any |= push(u, p->vertex, touch.w, 4, touch.n, amount);
  }
  for (int64_t k = 0; k < t->wall_count; k++) *closed += !(t->wall[k].g > 0);
  return HK_OK;
}

/* ---- All ---- */

static HkStatus allocate(Untangle *u, HkError *error) {
  const HkContext *context = &u->c->model->context;
  const HkFeatures *f = &u->c->data->features;
  const HkModel *m = u->c->model;
  HK_TRY(hk_alloc(context, &u->x, 3 * f->n, sizeof *u->x, "contact", error));
  HK_TRY(hk_alloc(context, &u->free, f->vertex_count, 1, "contact", error));
  HK_TRY(hk_alloc(context, &u->parent, f->vertex_count, sizeof *u->parent, "contact", error));
  HK_TRY(hk_alloc(context, &u->size, f->vertex_count, sizeof *u->size, "contact", error));
  if (f->n) memset(u->free, 1, (size_t)f->n);
  for (int64_t p = 0; p < m->pin_count; p++) u->free[m->pin_vertex[p]] = !u->state->pin_held[p];
  return HK_OK;
}

static void release(Untangle *u) {
  const HkContext *context = &u->c->model->context;
  hk_free(context, &u->x);
  hk_free(context, &u->free);
  hk_free(context, &u->parent);
  hk_free(context, &u->size);
  hk_free(context, &u->crossing);
}

/* Rounds until all is apart (*apart) or nothing can move. */
static HkStatus move_apart(Untangle *u, const HkSpringArrays *springs, bool *apart) {
  *apart = false;
  for (int round = 0; round < ROUNDS_MAX; round++) {
    int64_t closed = 0;
    bool any = leave_walls(u);
    HK_TRY(find_crossings(u));
    if (u->crossing_count > 0)
      any |= leave_crossings(u);
    else
      HK_TRY(open_gaps(u, springs, &closed, &any));
    *apart = u->crossing_count == 0 && closed == 0 && !any;
    if (*apart || !any) return HK_OK;
  }
  return HK_OK;
}

static void log_moves(const Untangle *u, const double *from) {
  const HkContacts *c = u->c;
  double furthest = 0;
  int32_t at = 0;
  int64_t moved = 0;
  for (int64_t v = 0; v < c->data->features.n; v++) {
    double d = hk_distance(from + 3 * v, u->x + 3 * v);
    moved += d > 0;
    if (!(d > furthest)) continue;
    furthest = d;
    at = (int32_t)v;
  }
  hk_log(&c->model->context, HK_LOG_WARNING,
         "contact: what intersects at the start was moved apart: %lld vertices of %lld in %lld "
         "moves of pairs, the furthest, vertex %d of '%s', by %.3g m",
         (long long)moved, (long long)c->data->features.n, (long long)u->pairs, at,
         hk_contacts_name(c, at), furthest);
}

static HkStatus run(Untangle *u, const HkSpringArrays *springs, HkState *state, HkError *error) {
  bool apart;
  size_t bytes = (size_t)u->c->data->features.n * 3 * sizeof *u->x;
  HK_TRY(allocate(u, error));
  memcpy(u->x, state->x, bytes);
  if (move_apart(u, springs, &apart) < 0)
    return hk_fail(error, HK_ERROR_MEMORY, "there is not enough memory for contact");
  if (!apart) {
    HkError inner = {0};
    hk_contacts_check(u->c, springs, state->x, &inner);
    return hk_fail(error, HK_ERROR_INVALID, "untangle does not find a way apart. %s", inner.text);
  }
  log_moves(u, state->x);
  memcpy(state->x, u->x, bytes);
  state->h_old = 0; /* the positions before do not belong to these */
  state->edits++;
  return HK_OK;
}

HkStatus hk_contacts_untangle(HkContacts *c, const HkSpringArrays *springs, HkState *state,
                              HkError *error) {
  Untangle u = {.c = c, .state = state};
  if (hk_contacts_check(c, springs, state->x, NULL) >= 0) return HK_OK;
  HkStatus status = run(&u, springs, state, error);
  release(&u);
  return status;
}
