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
 * Which end is on the wrong side: the edges that cross a surface make contours in the mesh that
 * they belong to. Every vertex of the mesh counts for the side of the contour that it is nearest
 * to, in edges that do not cross. A side with r rows of vertices, the first of them at the depth d
 * behind the surface, has the way d + (r - 1) edges out, and the side with the shorter way goes
 * back: the tip of a sheet, a cloth that a needle pierces. (Baraff et al., "Untangling cloth",
 * 2003, use the parts that closed contours cut off; here contours may be open.) Sides are those of
 * the triangles, whose orientation has to agree. Of two surfaces that cross each other the one with
 * the shorter way gives way. Each round moves the row of vertices next to the contour, so that the
 * side shrinks.
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

/* One side of a contour. */
typedef struct Side {
  int64_t size, ends; /* vertices; those of edges that cross */
  double depth;       /* m: of the vertex that is furthest from the surface that they cross */
} Side;

typedef struct Untangle {
  HkContacts *c;
  const HkState *state;
  double *x;
  uint8_t *free; /* of each vertex of the model and of obstacles */
  HkCrossing *crossing;
  int64_t crossing_count, crossing_capacity;
  int64_t *start;    /* neighbors of vertex v: start[v] .. start[v + 1] - 1 */
  int32_t *neighbor; /* by edges of features */
  int32_t *parent;   /* of vertices of edges that cross: a forest, one tree a contour */
  int64_t *label;    /* of each vertex: side of a contour; -1: none */
  Side *side;
  int32_t *queue;
  int64_t pairs; /* that were moved */
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

/* Whether an edge is in a list of crossings. */
static bool is_cut(const HkCrossing *list, int64_t count, int32_t v, int32_t w) {
  int32_t i = v < w ? v : w, j = v < w ? w : v;
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

/* Distances (m) of the ends of an edge from the plane of the triangle, below 0 on its negative
 * side; n: its unit normal. */
static bool find_depths(const double *const x[5], double n[3], double depth[2]) {
  double p[3], q[3], normal[3];
  hk_sub(x[3], x[2], p);
  hk_sub(x[4], x[2], q);
  hk_cross(p, q, normal);
  if (!hk_unit(normal, n)) return false;
  for (int e = 0; e < 2; e++) {
    hk_sub(x[e], x[2], p);
    depth[e] = hk_dot(n, p);
  }
  return true;
}

static void positions_of(const Untangle *u, const HkCrossing *crossing, const double *x[5]) {
  for (int k = 0; k < 5; k++)
    x[k] = hk_contacts_position(u->c, u->x, k < 2 ? crossing->edge[k] : crossing->triangle[k - 2]);
}

/* Edges that cross and have vertices in common are one contour: parent becomes its first vertex. */
static void find_contours(Untangle *u, const HkCrossing *list, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    for (int e = 0; e < 2; e++) u->parent[list[k].edge[e]] = list[k].edge[e];
  for (int64_t k = 0; k < count; k++) {
    int32_t a = root_of(u, list[k].edge[0]), b = root_of(u, list[k].edge[1]);
    u->parent[a < b ? b : a] = a < b ? a : b;
  }
}

/* Every vertex of the mesh belongs to the side of the contour that it is nearest to, counted in
 * edges that are not cut. Sides 2 r and 2 r + 1 are those of the contour with the first vertex r.
 */
static void spread(Untangle *u, const HkCrossing *list, int64_t count) {
  int64_t begin = 0, end = 0, vertices = u->c->data->features.vertex_count;
  memset(u->side, 0, 2 * (size_t)vertices * sizeof *u->side);
  for (int64_t v = 0; v < vertices; v++) u->label[v] = -1;
  for (int64_t k = 0; k < count; k++)
    for (int e = 0; e < 2; e++) {
      int32_t v = list[k].edge[e];
      if (u->label[v] >= 0) continue;
      u->label[v] = 2 * (int64_t)root_of(u, v) + (list[k].end == e);
      u->side[u->label[v]].ends++;
      u->queue[end++] = v;
    }
  for (; begin < end; begin++) {
    int32_t v = u->queue[begin];
    u->side[u->label[v]].size++;
    for (int64_t q = u->start[v]; q < u->start[v + 1]; q++) {
      int32_t w = u->neighbor[q];
      if (u->label[w] >= 0 || is_cut(list, count, v, w)) continue;
      u->label[w] = u->label[v];
      u->queue[end++] = w;
    }
  }
}

/* About how far (m) the vertices of a side have to go: the first row by its depth, and all others
 * behind it. */
static double way_out(const Untangle *u, const Side *side) {
  double rows = side->ends > 0 ? (double)side->size / (double)side->ends : 1;
  return side->depth + (rows > 1 ? (rows - 1) * u->c->data->edge : 0);
}

/* Finds the ends of a list of crossings of two groups that are to move, and returns about how far
 * (m). */
static double find_ends(Untangle *u, HkCrossing *list, int64_t count) {
  double furthest = 0;
  for (int64_t k = 0; k < count; k++) { /* the end on the positive side */
    const double *x[5];
    double n[3], depth[2] = {0, 0};
    positions_of(u, &list[k], x);
    find_depths(x, n, depth);
    list[k].end = depth[1] > depth[0] ? 1 : 0;
    list[k].depth[0] = fabs(depth[1 - list[k].end]);
    list[k].depth[1] = fabs(depth[list[k].end]);
  }
  find_contours(u, list, count);
  spread(u, list, count);
  for (int64_t k = 0; k < count; k++)
    for (int positive = 0; positive < 2; positive++) {
      Side *side = &u->side[2 * (int64_t)root_of(u, list[k].edge[0]) + positive];
      side->depth = hk_larger(side->depth, list[k].depth[positive]);
    }
  for (int64_t k = 0; k < count; k++) {
    const Side *side = &u->side[2 * (int64_t)root_of(u, list[k].edge[0])];
    double way[2] = {way_out(u, &side[0]), way_out(u, &side[1])};
    if (way[0] <= way[1]) list[k].end = 1 - list[k].end;
    furthest = hk_larger(furthest, way[0] <= way[1] ? way[0] : way[1]);
  }
  return furthest;
}

/* ---- Crossings ---- */

/* The point of the triangle where the edge crosses its plane, as weights b of the corners. */
static void find_weights(const double *const x[5], const double n[3], const double depth[2],
                         double b[3]) {
  double t = depth[0] == depth[1] ? 0.5 : depth[0] / (depth[0] - depth[1]), sum = 0, at[3];
  for (int k = 0; k < 3; k++) at[k] = x[0][k] + t * (x[1][k] - x[0][k]);
  for (int k = 0; k < 3; k++) {
    double p[3], q[3], normal[3];
    hk_sub(x[2 + (k + 1) % 3], at, p);
    hk_sub(x[2 + (k + 2) % 3], at, q);
    hk_cross(p, q, normal);
    b[k] = hk_dot(n, normal);
    b[k] = b[k] > 0 ? b[k] : 0;
    sum += b[k];
  }
  for (int k = 0; k < 3; k++) b[k] = sum > 0 ? b[k] / sum : 1.0 / 3;
}

/* Moves the wrong end of an edge through the triangle, unless an earlier move of the round has
 * parted the two. */
static bool uncross(Untangle *u, const HkCrossing *crossing) {
  const int32_t *t = crossing->triangle;
  const double *x[5];
  double n[3], b[3], depth[2];
  int end = crossing->end;
  positions_of(u, crossing, x);
  if (!hk_segment_meets_triangle(x[0], x[1], x[2], x[3], x[4])) return false;
  if (!find_depths(x, n, depth)) return false;
  find_weights(x, n, depth, b);
  double sign = depth[1 - end] > 0 || depth[end] < 0 ? 1 : -1;
  for (int k = 0; k < 3; k++) n[k] *= sign;
  const int32_t moved[4] = {crossing->edge[end], t[0], t[1], t[2]};
  const double w[4] = {1, -b[0], -b[1], -b[2]};
  double xi = u->c->data->radius[moved[0]] + u->c->data->radius[t[0]];
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

/* All crossings of two groups: those of the one that has the shorter way out. */
static bool uncross_groups(Untangle *u, int64_t first, int64_t count) {
  HkCrossing *list = u->crossing + first;
  int32_t a = list->group[0], b = list->group[1];
  int64_t other = 0, others = a == b ? 0 : find_groups(u, b, a, &other);
  if (others > 0 && a > b) return false; /* the other order has seen to both */
  double way = find_ends(u, list, count);
  if (others > 0 && find_ends(u, u->crossing + other, others) < way)
    return uncross_list(u, u->crossing + other, others);
  return uncross_list(u, list, count);
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

/* Neighbors of all vertices by the edges of the features. */
static HkStatus make_neighbors(Untangle *u, HkError *error) {
  const HkContext *context = &u->c->model->context;
  const HkFeatures *f = &u->c->data->features;
  HK_TRY(hk_alloc(context, &u->start, f->vertex_count + 2, sizeof *u->start, "contact", error));
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t k = 0; k < 3 * f->slot_count; k++) {
      if (!(f->owns[k / 3] >> (3 + k % 3) & 1)) continue;
      int32_t i = f->vertex[k], j = f->vertex[k / 3 * 3 + (k + 1) % 3];
      if (pass == 1) u->neighbor[u->start[i + 1]] = j;
      u->start[i + (pass == 0 ? 2 : 1)]++;
      if (pass == 1) u->neighbor[u->start[j + 1]] = i;
      u->start[j + (pass == 0 ? 2 : 1)]++;
    }
    if (pass == 1) return HK_OK;
    for (int64_t v = 0; v < f->vertex_count; v++) u->start[v + 2] += u->start[v + 1];
    HK_TRY(hk_alloc(context, &u->neighbor, u->start[f->vertex_count + 1], sizeof *u->neighbor,
                    "contact", error));
  }
  return HK_OK;
}

static HkStatus allocate(Untangle *u, HkError *error) {
  const HkContext *context = &u->c->model->context;
  const HkFeatures *f = &u->c->data->features;
  const HkModel *m = u->c->model;
  HK_TRY(hk_alloc(context, &u->x, 3 * f->n, sizeof *u->x, "contact", error));
  HK_TRY(hk_alloc(context, &u->free, f->vertex_count, 1, "contact", error));
  HK_TRY(hk_alloc(context, &u->parent, f->vertex_count, sizeof *u->parent, "contact", error));
  HK_TRY(hk_alloc(context, &u->label, f->vertex_count, sizeof *u->label, "contact", error));
  HK_TRY(hk_alloc(context, &u->side, 2 * f->vertex_count, sizeof *u->side, "contact", error));
  HK_TRY(hk_alloc(context, &u->queue, f->vertex_count, sizeof *u->queue, "contact", error));
  HK_TRY(make_neighbors(u, error));
  if (f->n) memset(u->free, 1, (size_t)f->n);
  for (int64_t p = 0; p < m->pin_count; p++) u->free[m->pin_vertex[p]] = !u->state->pin_held[p];
  return HK_OK;
}

static void release(Untangle *u) {
  const HkContext *context = &u->c->model->context;
  hk_free(context, &u->x);
  hk_free(context, &u->free);
  hk_free(context, &u->parent);
  hk_free(context, &u->label);
  hk_free(context, &u->side);
  hk_free(context, &u->queue);
  hk_free(context, &u->start);
  hk_free(context, &u->neighbor);
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
