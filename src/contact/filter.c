/* The filter: moves are shortened so that no two features meet on the way.
 *
 * Vertex v makes the part t_v of its move p_v, at first all of it. Candidates that meet with these
 * moves, by additive continuous collision detection, are cut by a plane between the two:
 *
 *     n the normal at the closest points, g the gap, a and b the largest approach of either side
 *     t_v <= (r + 0.9 e_v) / (approach of v),   r = 0.9 g a / (a + b) or 0.9 g b / (a + b)
 *
 * where e_v is the distance of v behind the closest point of its side. Such a pair stays on its
 * sides of the plane whatever else is cut. Pairs with a vertex that was cut are checked again,
 * until none changes. So at the end each pair has been checked as it moves, or is divided by a
 * plane. Cuts are rare that way: a vertex that is cut stretches the springs around it.
 */
#include "contact/distance.h"
#include "contact/groups.h"
#include "contact/search.h"

#include "base/vec.h"

#include <string.h>

static const double PART = 0.9, FURTHEST = 0.25;
enum { ROUNDS_MAX = 1000, CHECK_GRAIN = 64, BLOCK_GRAIN = 256 };

/* Marks of candidates. */
enum { FREE, MEETS, DIVIDED };

typedef struct Filter {
  HkContacts *c;
  const double *x, *to;
  int round;
} Filter;

/* The part of its move that a vertex makes, for now. */
static void move_of(const Filter *a, int32_t v, double p[3]) {
  const HkContacts *c = a->c;
  if (v >= c->data->features.n) {
    p[0] = p[1] = p[2] = 0;
    return;
  }
  for (int q = 0; q < 3; q++) {
    int64_t at = 3 * (int64_t)v + q;
    p[q] = c->part[v] * (a->to[at] - a->x[at]);
  }
}

static void moves_of(const Filter *a, const int32_t v[4], double p[12]) {
  for (int k = 0; k < 4; k++) move_of(a, v[k], p + 3 * k);
}

double hk_contacts_closing(const double p[12], int split) {
  double most = 0;
  for (int a = 0; a < split; a++)
    for (int b = split; b < 4; b++) {
      double e[3];
      hk_sub(p + 3 * a, p + 3 * b, e);
      most = hk_larger(most, hk_dot(e, e));
    }
  return sqrt(most);
}

/* Whether a vertex of the pair was cut in the round before this one, or it is the first round. */
static bool is_changed(const Filter *a, const int32_t v[4]) {
  if (a->round == 0) return true;
  for (int k = 0; k < 4; k++)
    if (a->c->round[v[k]] == a->round) return true;
  return false;
}

/* Marks a candidate that meets. */
static void check(const Filter *a, int64_t e) {
  HkContacts *c = a->c;
  HkContactPair pair;
  int32_t v[4];
  double p[12];
  int split = hk_contact_vertices(&c->data->features, c->candidate[e].key, v);
  moves_of(a, v, p);
  hk_contacts_pair(c, a->x, v, split, &pair);
  HkTouch touch = hk_pair_touch(&pair);
  if (hk_pair_reach(&pair, &touch, p, hk_contacts_left(c, touch.g)) < 1) c->mark[e] = MEETS;
}

/* Checks the pairs of a batch that bounds do not rule out. */
static void check_batch(const Filter *a, HkPairBatch *batch, int kind) {
  const double MORE = 1 + 1e-5; /* sums in single precision */
  const HkContacts *c = a->c;
  float gone[HK_DISTANCE_BATCH], move[HK_DISTANCE_BATCH];
  hk_batch_run(batch, c->kernels->closing[kind], c->gone.e, gone);
  hk_batch_run(batch, c->kernels->closing[kind], c->move.e, move);
  for (int l = 0; l < batch->count; l++) {
    double gap = (double)c->candidate[batch->entry[l]].gap;
    gap -= MORE * (double)gone[l] + c->gone.error;
    if (move[l] == 0 && c->move.error == 0) continue;
    if (gap - hk_contacts_left(c, gap) < MORE * (double)move[l] + c->move.error)
      check(a, batch->entry[l]);
  }
  batch->count = 0;
}

/* Marks the blocks that have a vertex which was cut in the round before this one. */
static void block_range(void *user, int64_t begin, int64_t end) {
  const Filter *a = user;
  const HkContacts *c = a->c;
  const HkFeatures *f = &c->data->features;
  for (int64_t b = begin; b < end; b++) {
    bool any = false;
    for (int64_t slot = HK_CONTACT_WIDTH * b; slot < HK_CONTACT_WIDTH * (b + 1); slot++)
      for (int k = 0; k < 3 && f->corners[slot] > 0; k++)
        any |= c->round[f->vertex[3 * slot + k]] == a->round;
    c->late_block[b] = any;
  }
}

static void check_range(void *user, int64_t begin, int64_t end) {
  const Filter *a = user;
  const HkContacts *c = a->c;
  HkPairBatch batch[2];
  batch[0].count = batch[1].count = 0;
  for (int64_t g = begin; g < end; g++) {
    const HkGroup *group = &c->group[g];
    if (a->round > 0 && !(c->late_block[group->a] | c->late_block[group->b])) continue;
    double gap = hk_group_gap(c, group);
    if (gap - hk_contacts_left(c, gap) > hk_group_closing(group, &c->move)) continue;
    for (int64_t e = group->first; e < group[1].first; e++) {
      int32_t v[4];
      if (c->mark[e] == DIVIDED) continue;
      int kind = hk_contact_vertices(&c->data->features, c->candidate[e].key, v) - 1;
      if (is_changed(a, v) && hk_batch_add(&batch[kind], v, e)) check_batch(a, &batch[kind], kind);
    }
  }
  for (int kind = 0; kind < 2; kind++)
    if (batch[kind].count > 0) check_batch(a, &batch[kind], kind);
}

static void cut(Filter *a, int32_t v, double part) {
  HkContacts *c = a->c;
  if (v >= c->data->features.n || !(part < 1)) return;
  c->part[v] *= part > 0 ? part : 0;
  c->round[v] = a->round + 1;
}

/* Divides a pair by a plane. */
static void divide(Filter *a, int64_t e) {
  HkContacts *c = a->c;
  HkContactPair pair;
  int32_t v[4];
  double p[12], fastest[2] = {0, 0}, speed[4];
  int split = hk_contact_vertices(&c->data->features, c->candidate[e].key, v);
  hk_contacts_pair(c, a->x, v, split, &pair);
  moves_of(a, v, p);
  HkTouch touch = hk_pair_touch(&pair);
  for (int k = 0; k < 4; k++) {
    speed[k] = hk_dot(p + 3 * k, touch.n) * (k < split ? -1 : 1);
    fastest[k >= split] = hk_larger(fastest[k >= split], speed[k]);
  }
  c->mark[e] = DIVIDED;
  double both = fastest[0] + fastest[1], closes = touch.g - hk_contacts_left(c, touch.g);
  if (!(both > closes)) return;
  for (int side = 0; side < 2; side++) {
    double room = closes * fastest[side] / both, closest[3] = {0, 0, 0};
    double sign = side == 0 ? 1 : -1;
    int first = side == 0 ? 0 : split, end = side == 0 ? split : 4;
    for (int k = first; k < end; k++) hk_axpy(sign * touch.w[k], pair.x + 3 * k, closest);
    for (int k = first; k < end; k++) {
      double behind[3];
      hk_sub(pair.x + 3 * k, closest, behind);
      double extra = sign * hk_dot(behind, touch.n);
      if (speed[k] > 0) cut(a, v[k], (room + PART * (extra > 0 ? extra : 0)) / speed[k]);
    }
  }
}

/* ---- Walls ---- */

double hk_contacts_reach_of_wall(const HkContacts *c, int wall, const double x[3],
                                 const double p[3], double radius) {
  enum { STEPS_MAX = 1000 };
  double n[3], at[3], t = 0, length = hk_norm(p);
  double first = hk_contacts_wall(c, wall, &c->pose[wall], x, n, NULL) - radius, g = first;
  double left = hk_contacts_left(c, first);
  if (first - left >= length) return 1;
  if (!(length < INFINITY)) return 0;
  if (c->data->walls[wall].flat) {
    double approach = -hk_dot(p, n);
    return approach > first - left ? (first - left) / approach : 1;
  }
  for (int k = 0; k < STEPS_MAX; k++) {
    double next = t + PART * g / length;
    if (next > 1) next = 1;
    for (int q = 0; q < 3; q++) at[q] = x[q] + next * p[q];
    g = hk_contacts_wall(c, wall, &c->pose[wall], at, n, NULL) - radius;
    if (!(g > left)) return t;
    t = next;
    if (t == 1) return 1;
  }
  return t;
}

static void wall_range(void *user, int64_t begin, int64_t end) {
  Filter a = *(const Filter *)user;
  const HkContactData *d = a.c->data;
  for (int64_t v = begin; v < end; v++)
    for (int w = 0; w < d->wall_count; w++) {
      double p[3];
      if (!hk_contacts_meets_wall(a.c, v, w)) continue;
      move_of(&a, (int32_t)v, p);
      cut(&a, (int32_t)v, hk_contacts_reach_of_wall(a.c, w, a.x + 3 * v, p, d->radius[v]));
    }
}

/* ---- All ---- */

/* Divides the pairs that meet, in the order of the candidates; true if a vertex was cut. */
static bool divide_all(Filter *a) {
  HkContacts *c = a->c;
  bool any = false;
  if (c->candidate_count == 0) return false;
  const uint8_t *mark = c->mark, *end = mark + c->candidate_count;
  while (mark < end && (mark = memchr(mark, MEETS, (size_t)(end - mark)))) {
    divide(a, mark - c->mark);
    any = true;
  }
  return any;
}

typedef struct Lengths {
  const HkSpringArrays *springs;
  const double *x, *to;
} Lengths;

/* Squares of what the ends of springs move against each other. */
static double lengths_range(void *user, int64_t begin, int64_t end) {
  const Lengths *a = user;
  double sum = 0;
  for (int64_t s = begin; s < end; s++)
    for (int q = 0; q < 3; q++) {
      int64_t i = 3 * (int64_t)a->springs->i[s] + q, j = 3 * (int64_t)a->springs->j[s] + q;
      double d = (a->to[i] - a->x[i]) - (a->to[j] - a->x[j]);
      sum += d * d;
    }
  return sum;
}

/* Shortens all moves if the ends of springs move further against each other than a part of the
 * length of the springs, in the quadratic mean. Directions that go so far astray are of no use and
 * would have too many candidates. Steps that contact corrects are as long as they are. */
static bool limit(HkContacts *c, const double *x, double *to) {
  const HkModel *m = c->model;
  Lengths a = {&m->springs, x, to};
  int64_t count = m->springs.count;
  if (count == 0 || c->floor > 0) return false;
  HK_ASSERT(hk_sum_slots(count) <= c->sums_count);
  double mean =
      sqrt(hk_parallel_sum(m->threads, count, lengths_range, &a, c->sums) / (double)count);
  double part = FURTHEST * c->data->edge / mean;
  if (!(part < 1)) return false;
  for (int64_t q = 0; q < 3 * m->n; q++) to[q] = x[q] + part * (to[q] - x[q]);
  return true;
}

static HkStatus prepare(HkContacts *c, const double *x, double *to, bool *changed) {
  *changed = limit(c, x, to);
  return hk_contacts_cover(c, x, to);
}

/* All vertices make their whole moves. */
static HkStatus begin_rounds(Filter *a) {
  HkContacts *c = a->c;
  int64_t vertices = c->data->features.vertex_count;
  for (int64_t v = 0; v < vertices; v++) c->part[v] = 1;
  memset(c->round, 0, (size_t)vertices * sizeof *c->round);
  a->round = 0;
  hk_parallel_for(c->model->threads, c->model->n, wall_range, a);
  hk_groups_since_measure(c, a->x);
  HK_TRY(hk_grow(&c->model->context, &c->mark, &c->mark_capacity, c->candidate_count, 1, "contact",
                 NULL));
  if (c->candidate_count) memset(c->mark, FREE, (size_t)c->candidate_count);
  return HK_OK;
}

/* ---- Vertices that leave the path ---- */

static void place_of(const Filter *a, int64_t v, double at[3]) {
  for (int q = 0; q < 3; q++)
    at[q] = a->x[3 * v + q] + a->c->part[v] * (a->to[3 * v + q] - a->x[3 * v + q]);
}

/* Marks the vertices that cuts have taken off the path of the candidates; false if there are none.
 */
static bool find_late(const Filter *a) {
  HkContacts *c = a->c;
  bool any = false;
  if (c->from == c->until) return false;
  memset(c->late, 0, (size_t)c->data->features.vertex_count);
  for (int64_t v = 0; v < c->data->features.n; v++) {
    double at[3];
    if (c->part[v] == 1) continue;
    place_of(a, v, at);
    c->late[v] = !hk_contacts_is_on_path(c, v, at, c->until);
    any |= c->late[v];
  }
  return any;
}

/* A vertex that is late has been in no pair with those that are far from its path. Adds these
 * pairs. */
static HkStatus admit_late(Filter *a) {
  HkContacts *c = a->c;
  if (!find_late(a)) return HK_OK;
  for (int64_t v = 0; v < c->data->features.n; v++) {
    double at[3];
    if (!c->late[v]) continue;
    place_of(a, v, at);
    hk_search_enclose(c, v, a->x + 3 * v, at);
  }
  return hk_search_late(c);
}

/* ---- Rounds ---- */

/* Divides all pairs by planes: what is left where rounds come to no end. */
static HkStatus divide_rest(Filter *a) {
  HkContacts *c = a->c;
  bool any = true;
  while (any) {
    any = false;
    for (int64_t e = 0; e < c->candidate_count; e++) {
      if (c->mark[e] == DIVIDED) continue;
      divide(a, e);
      any = true;
    }
    HK_TRY(admit_late(a));
  }
  return HK_OK;
}

/* Checks candidates and divides pairs that meet, until none does. In each round all pairs are
 * looked at that can meet by the moves as they are, so that the end does not depend on what else
 * is a candidate. */
static HkStatus shorten(Filter *a) {
  HkContacts *c = a->c;
  int64_t blocks = c->data->features.slot_count / HK_CONTACT_WIDTH;
  HK_TRY(begin_rounds(a));
  for (; a->round < ROUNDS_MAX; a->round++) {
    HK_TRY(admit_late(a));
    hk_groups_of_move(c, a->x, a->to, c->part, false);
    hk_parallel_work(c->model->threads, blocks, BLOCK_GRAIN, block_range, a);
    hk_parallel_work(c->model->threads, c->group_count, CHECK_GRAIN, check_range, a);
    if (!divide_all(a)) return HK_OK;
  }
  return divide_rest(a);
}

bool hk_contacts_filter(HkContacts *c, const double *x, double *to) {
  const HkModel *m = c->model;
  bool changed = false;
  c->cut = 0;
  Filter a = {.c = c, .x = x, .to = to};
  HkStatus status = prepare(c, x, to, &changed);
  if (status >= 0) status = shorten(&a);
  if (status < 0) { /* begin_iterate returns it */
    c->status = status;
    memcpy(to, x, (size_t)m->n * 3 * sizeof *x);
    return true;
  }
  for (int64_t v = 0; v < m->n; v++) {
    if (c->part[v] == 1) continue;
    changed = true;
    c->cut++;
    for (int64_t q = 3 * v; q < 3 * v + 3; q++) to[q] = x[q] + c->part[v] * (to[q] - x[q]);
  }
  memcpy(c->arrived, to, (size_t)m->n * 3 * sizeof *to);
  c->has_arrived = true;
  return changed;
}
