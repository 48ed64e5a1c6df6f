/* The search for candidates: pairs that may touch while all vertices follow a common path.
 *
 * A search is made for a move of all vertices from x to `to`. Vertex v has a moving box (tree.h)
 *
 *     (1 - t) x_v + t to_v  +-  (s_v + r_v + ghat / 2),   0 <= t <= 1
 *
 * with a skin s_v, thinner where things lie on each other in many layers. What a step gives does
 * not depend on it. A pair whose boxes stay apart is no candidate, nor is one whose distance at x
 * is larger than its vertices can come closer. It is further apart than ghat at all positions y for
 * which there is one t with |y_v - (1 - t) x_v - t to_v| <= s_v for all v: y is on the path at time
 * t. So the candidates serve
 *
 *     any move between two places on the path, and
 *     any move at all between two places that are on the path at the same time.
 *
 * A vertex that the filter cuts leaves the path. It gets a box around what is left of its move,
 * which is right for every t, and the pairs that this adds are found by themselves
 * (hk_search_late). So it is with a few vertices that leave the path of all others. Obstacles have
 * such boxes from the start. In boxes that do not move, as deep as a move is long, cloth of
 * many vertices that is in motion would have hundreds of candidates a vertex, all of them between
 * neighbors that move side by side.
 *
 * At positions y the gap of a pair is
 *
 *     g >= g_measured - max |(y_a - y_b) - (x_a - x_b)|   over the vertices a, b of the two,
 *
 * with x the positions at which gaps were measured: those of the search, or later ones
 * (groups.c). That costs a fraction of the closest points and rules out most of the candidates.
 */
#include "contact/search.h"
#include "base/vec.h"
#include "contact/distance.h"
#include "contact/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the skin has of a move, up to a part of an edge. */
static const double AHEAD = 0.5, AHEAD_EDGES = 0.25;
enum { SEARCH_GRAIN = 8, DENSE = 16, STILL_DENSE = 5, TOO_DENSE = 64 };

typedef struct Search {
  HkContacts *c;
  const double *x, *to;
  HkPiece *piece;
  const int64_t *blocks; /* of a search by some blocks alone */
} Search;

/* ---- Boxes ---- */

/* What a vertex that moves from x to `to` has around the path: its skin, radius and ghat / 2. */
static double around(const HkContacts *c, int64_t v, const double *x, const double *to) {
  if (c->is_dense) return hk_search_width(c, v) + c->thin_skin;
  double ahead = fmin(AHEAD * hk_distance(x, to), AHEAD_EDGES * c->data->edge);
  return hk_search_width(c, v) + c->skin + ahead;
}

void hk_search_enclose(HkContacts *c, int64_t v, const double start[3], const double end[3]) {
  double wide = around(c, v, start, end);
  HkBox *box = &c->box[v];
  for (int q = 0; q < 3; q++) {
    box->low[0][q] = box->low[1][q] = hk_float_below(fmin(start[q], end[q]) - wide);
    box->minus_high[0][q] = box->minus_high[1][q] = hk_float_below(-fmax(start[q], end[q]) - wide);
  }
  c->anywhere[v] = 1;
}

static void box_range(void *user, int64_t begin, int64_t end) {
  const Search *a = user;
  HkContacts *c = a->c;
  int64_t n = c->data->features.n;
  for (int64_t v = begin; v < end; v++) {
    const double *x = hk_contacts_position(c, a->x, (int32_t)v);
    const double *to = v < n ? a->to + 3 * v : c->obstacle_to + 3 * (v - n);
    double wide = around(c, v, x, to);
    HkBox *box = &c->box[v];
    *box = (HkBox){0};
    if (v >= n) {
      hk_search_enclose(c, v, x, to);
      continue;
    }
    for (int q = 0; q < 3; q++) {
      box->low[0][q] = hk_float_below(x[q] - wide);
      box->minus_high[0][q] = hk_float_below(-x[q] - wide);
      box->low[1][q] = hk_float_below(to[q] - wide);
      box->minus_high[1][q] = hk_float_below(-to[q] - wide);
    }
    c->anywhere[v] = 0;
  }
}

/* ---- Pairs ---- */

static bool any_late(const HkContacts *c, const int32_t *v, int count) {
  for (int k = 0; k < count; k++)
    if (c->late[v[k]]) return true;
  return false;
}

/* What a vertex may be off the path, there and where it was measured (m), rounded up; or, if it may
 * be anywhere in its box, how far that is from where it was measured. */
static double skin_of(const HkContacts *c, int64_t v) {
  const HkBox *box = &c->box[v];
  const double *x = c->measured + 3 * v;
  const double ROUNDING = 4 * FLT_EPSILON;
  double most = 0, square = 0, wide = hk_search_width(c, v);
  for (int q = 0; q < 3; q++) {
    double low = (double)box->low[0][q] + wide, high = -(double)box->minus_high[0][q] - wide;
    double off = hk_larger(fabs(x[q] - low), fabs(x[q] - high));
    most = hk_larger(most, 0.5 * (high - low));
    square += off * off;
  }
  if (c->anywhere[v]) return sqrt(square);
  double size = hk_larger(fabs(x[0]), hk_larger(fabs(x[1]), fabs(x[2])));
  return (c->at_start ? most : 2 * most) + ROUNDING * size; /* where the box has its center */
}

/* Sets c->move.e of vertices to their moves along the path, and to their skins. */
static void skin_range(void *user, int64_t begin, int64_t end) {
  const HkContacts *c = user;
  for (int64_t v = begin; v < end; v++) {
    const HkBox *box = &c->box[v];
    float *e = c->move.e + 4 * v;
    for (int q = 0; q < 3; q++) e[q] = box->low[1][q] - box->low[0][q];
    e[3] = -hk_float_below(-skin_of(c, v));
  }
}

/* What the vertices of a pair can come closer on the path than where they were measured, and ghat:
 * m. */
static float reach_of(const HkContacts *c, const int32_t v[4], int split) {
  const float ROUNDING = 1 + 1e-5f;
  float square = 0, skin[2] = {0, 0};
  for (int k = 0; k < 4; k++) {
    const float *e = c->move.e + 4 * (int64_t)v[k];
    skin[k >= split] = e[3] > skin[k >= split] ? e[3] : skin[k >= split];
    for (int l = split; l < 4 && k < split; l++) {
      const float *g = c->move.e + 4 * (int64_t)v[l];
      float d[3] = {e[0] - g[0], e[1] - g[1], e[2] - g[2]};
      float length = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      square = length > square ? length : square;
    }
  }
  return ROUNDING * ((float)c->data->ghat + sqrtf(square) + skin[0] + skin[1]);
}

/* Measures the entries of a piece from `first` on, and drops the pairs that stay apart. */
static void measure(const HkContacts *c, HkPiece *piece, int64_t first) {
  HkCandidate *candidate = piece->entries;
  int64_t kept = first;
  if (piece->count == first) return;
  hk_distances_measure(c, candidate + first, piece->count - first);
  for (int64_t e = first; e < piece->count; e++) {
    int32_t v[4];
    int split = hk_contact_vertices(&c->data->features, candidate[e].key, v);
    if (candidate[e].gap <= reach_of(c, v, split)) candidate[kept++] = candidate[e];
  }
  piece->count = kept;
}

/* Two slots whose boxes may meet. */
typedef struct Slots {
  Search *a;
  int64_t slot[2];
  const int32_t *v[2]; /* 3 vertices each */
  const HkBox *box[2][3];
  unsigned shared; /* bit 3 i + j: vertex i of the first is vertex j of the second */
} Slots;

static void keep(const Slots *s, int combination) {
  HkCandidate *to = hk_piece_append(s->a->piece);
  if (to) *to = (HkCandidate){.key = hk_contact_key(s->slot[0], s->slot[1], combination)};
}

/* The vertices that one slot owns against all of the other one. */
static void try_points(const Slots *s, int side, unsigned own) {
  HkBox box = *s->box[1 - side][0];
  hk_box_add(&box, s->box[1 - side][1]);
  hk_box_add(&box, s->box[1 - side][2]);
  for (int q = 0; q < 3; q++) {
    unsigned other = side == 0 ? 7U << (3 * q) : 0111U << q; /* bits of vertex q */
    if (!(own >> q & 1) || (s->shared & other)) continue;
    if (hk_boxes_meet(s->box[side][q], &box)) keep(s, 3 * side + q);
  }
}

/* The boxes of the edges of a slot that it owns. */
static void set_edge_boxes(const HkBox *const vertex[3], unsigned own, HkBox edge[3]) {
  for (int i = 0; i < 3; i++) {
    if (!(own >> (3 + i) & 1)) continue;
    edge[i] = *vertex[i];
    hk_box_add(&edge[i], vertex[(i + 1) % 3]);
  }
}

/* The edges from i to i + 1 of the first slot against those from j to j + 1 of the second. */
static void try_edges(const Slots *s, unsigned own_a, unsigned own_b) {
  HkBox edge[2][3];
  set_edge_boxes(s->box[0], own_a, edge[0]);
  set_edge_boxes(s->box[1], own_b, edge[1]);
  for (int e = 0; e < 9; e++) {
    int i = e / 3, j = e % 3, k = (i + 1) % 3, l = (j + 1) % 3;
    unsigned any = 1U << (3 * i + j) | 1U << (3 * i + l) | 1U << (3 * k + j) | 1U << (3 * k + l);
    if (!(own_a >> (3 + i) & own_b >> (3 + j) & 1) || (s->shared & any)) continue;
    if (hk_boxes_meet(&edge[0][i], &edge[1][j])) keep(s, HK_CONTACT_EDGE_0 + e);
  }
}

/* Whether edges of two slots touch: in two dimensions only those of an obstacle, whose section has
 * a corner where an edge passes through the plane. */
static bool edges_meet(const HkFeatures *f, int64_t slot_a, int64_t slot_b) {
  int32_t a = f->group[slot_a / HK_CONTACT_WIDTH], b = f->group[slot_b / HK_CONTACT_WIDTH];
  return !f->flat || a >= f->body_count || b >= f->body_count;
}

/* The combinations of two slots, in the order of their keys. */
static void found(void *user, int64_t slot_a, int64_t slot_b) {
  Search *a = user;
  const HkFeatures *f = &a->c->data->features;
  unsigned own_a = f->owns[slot_a], own_b = f->owns[slot_b];
  int corners_a = f->corners[slot_a], corners_b = f->corners[slot_b];
  bool onto_b = corners_b > 1 || corners_a == 1, onto_a = corners_a > 1;
  Slots s = {
      .a = a, .slot = {slot_a, slot_b}, .v = {f->vertex + 3 * slot_a, f->vertex + 3 * slot_b}};
  for (int q = 0; q < 9; q++) s.shared |= (unsigned)(s.v[0][q / 3] == s.v[1][q % 3]) << q;
  for (int q = 0; q < 6; q++) s.box[q / 3][q % 3] = &a->c->box[s.v[q / 3][q % 3]];
  if (onto_b && own_a & 7) try_points(&s, 0, own_a);
  if (onto_a && own_b & 7) try_points(&s, 1, own_b);
  if (own_a >> 3 && own_b >> 3 && edges_meet(f, slot_a, slot_b)) try_edges(&s, own_a, own_b);
}

static void search_range(void *user, int64_t begin, int64_t end, HkPiece *piece) {
  Search a = *(const Search *)user;
  a.piece = piece;
  for (int64_t b = begin; b < end; b++) {
    int64_t first = piece->count;
    hk_tree_search(&a.c->tree, &a.c->data->features, b, found, &a);
    measure(a.c, piece, first);
  }
}

/* ---- The list ---- */

static double path_range(void *user, int64_t begin, int64_t end) {
  const Search *a = user;
  double sum = 0;
  for (int64_t v = begin; v < end; v++) {
    double d = hk_distance(a->x + 3 * v, a->to + 3 * v);
    sum += d * d;
  }
  return sum;
}

double hk_search_length(HkContacts *c, const double *x, const double *to) {
  Search a = {.c = c, .x = x, .to = to};
  return hk_parallel_sum(c->model->threads, c->data->features.n, path_range, &a, c->sums);
}

static HkStatus search_with_skin(HkContacts *c, const double *x, const double *to) {
  const HkFeatures *f = &c->data->features;
  int64_t blocks = f->slot_count / HK_CONTACT_WIDTH;
  Search a = {.c = c, .x = x, .to = to};
  HkFill fill = {.count = blocks,
                 .grain = SEARCH_GRAIN,
                 .size = sizeof *c->candidate,
                 .fill = search_range,
                 .user = &a};
  c->has_candidates = c->has_arrived = c->touchings[0].known = c->touchings[1].known = false;
  c->at_start = true;
  c->path = hk_search_length(c, x, to);
  hk_parallel_for(c->model->threads, f->vertex_count, box_range, &a);
  hk_distances_place(c, x);
  hk_parallel_for(c->model->threads, f->vertex_count, skin_range, c);
  hk_tree_fit(&c->tree, f, c->box, c->model->threads);
  HK_TRY(hk_pieces_fill(&c->pieces, &c->model->context, c->model->threads, &fill, &c->candidate,
                        &c->candidate_count, &c->candidate_capacity));
  HK_TRY(hk_groups_list(c));
  c->has_candidates = true;
  c->from = 0;
  c->until = 1;
  return HK_OK;
}

HkStatus hk_search(HkContacts *c, const double *x, const double *to) {
  int64_t n = c->data->features.n;
  c->searches++;
  c->is_dense = c->candidate_count > (c->is_dense ? STILL_DENSE : DENSE) * n;
  HK_TRY(search_with_skin(c, x, to));
  if (c->is_dense || c->candidate_count <= TOO_DENSE * n) return HK_OK;
  c->is_dense = true;
  return search_with_skin(c, x, to);
}

/* ---- Vertices that leave the path ---- */

/* Calls found for pairs with a late vertex; those of two late blocks at the turn of the first. */
static void found_late(void *user, int64_t slot_a, int64_t slot_b) {
  Search *a = user;
  const HkContacts *c = a->c;
  const HkFeatures *f = &c->data->features;
  int64_t first = slot_a / HK_CONTACT_WIDTH, second = slot_b / HK_CONTACT_WIDTH;
  bool turn = a->blocks[0] == first || !c->late_block[first];
  if (!turn || (a->blocks[0] != first && a->blocks[0] != second)) return;
  if (any_late(c, f->vertex + 3 * slot_a, 3) || any_late(c, f->vertex + 3 * slot_b, 3))
    found(user, slot_a, slot_b);
}

static void late_range(void *user, int64_t begin, int64_t end, HkPiece *piece) {
  Search a = *(const Search *)user;
  HkContacts *c = a.c;
  const int64_t *blocks = a.blocks;
  a.piece = piece;
  for (int64_t b = begin; b < end; b++) {
    int64_t first = piece->count;
    a.blocks = blocks + b;
    hk_tree_search_all(&c->tree, &c->data->features, blocks[b], found_late, &a);
    measure(c, piece, first);
  }
}

static int by_key(const void *a, const void *b) {
  uint64_t x = ((const HkCandidate *)a)->key, y = ((const HkCandidate *)b)->key;
  return (x > y) - (x < y);
}

/* Sorts the fresh candidates and leaves out those that are in the list. */
static void sort_fresh(HkContacts *c) {
  int64_t kept = 0, at = 0;
  if (c->fresh_count) qsort(c->fresh, (size_t)c->fresh_count, sizeof *c->fresh, by_key);
  for (int64_t e = 0; e < c->fresh_count; e++) {
    HkCandidate *to = &c->fresh[kept];
    *to = c->fresh[e];
    while (at < c->candidate_count && c->candidate[at].key < to->key) at++;
    if (at < c->candidate_count && c->candidate[at].key == to->key) continue;
    kept++;
  }
  c->fresh_count = kept;
}

/* Merges the fresh candidates into the list, from the last on, with their marks. */
static HkStatus merge_fresh(HkContacts *c) {
  int64_t old = c->candidate_count, at = old + c->fresh_count, fresh = c->fresh_count;
  HK_TRY(hk_grow(&c->model->context, &c->candidate, &c->candidate_capacity, at,
                 sizeof *c->candidate, "contact", NULL));
  HK_TRY(hk_grow(&c->model->context, &c->mark, &c->mark_capacity, at, 1, "contact", NULL));
  c->candidate_count = at;
  while (fresh > 0) {
    bool takes = old == 0 || c->candidate[old - 1].key < c->fresh[fresh - 1].key;
    at--;
    c->mark[at] = takes ? 0 : c->mark[old - 1];
    c->candidate[at] = takes ? c->fresh[--fresh] : c->candidate[--old];
  }
  c->touchings[0].known = c->touchings[1].known = false;
  return HK_OK;
}

/* Lists the blocks that have a late vertex; returns how many. */
static int64_t list_late_blocks(HkContacts *c) {
  const HkFeatures *f = &c->data->features;
  int64_t count = 0;
  for (int64_t b = 0; b < f->slot_count / HK_CONTACT_WIDTH; b++) {
    c->late_block[b] = false;
    for (int64_t slot = HK_CONTACT_WIDTH * b; slot < HK_CONTACT_WIDTH * (b + 1); slot++)
      if (f->corners[slot] > 0 && any_late(c, f->vertex + 3 * slot, 3)) c->late_block[b] = true;
    if (c->late_block[b]) c->late_list[count++] = b;
  }
  return count;
}

HkStatus hk_search_late(HkContacts *c) {
  const HkFeatures *f = &c->data->features;
  c->has_arrived = false;
  hk_parallel_for(c->model->threads, f->vertex_count, skin_range, c);
  hk_tree_fit(&c->tree, f, c->box, c->model->threads);
  int64_t blocks = list_late_blocks(c);
  Search a = {.c = c, .blocks = c->late_list};
  HkFill fill = {
      .count = blocks, .grain = 1, .size = sizeof *c->fresh, .fill = late_range, .user = &a};
  HK_TRY(hk_pieces_fill(&c->pieces, &c->model->context, c->model->threads, &fill, &c->fresh,
                        &c->fresh_count, &c->fresh_capacity));
  sort_fresh(c);
  HK_TRY(merge_fresh(c));
  return hk_groups_list(c);
}
