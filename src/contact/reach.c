/* How far all vertices and obstacles may go together, and what is in their way.
 *
 * Constrained vertices and obstacles have places to be at. They and all other vertices make the
 * same part of their moves, as long as no pair meets (hk_pair_reach). What is in their way is
 * pushed along (carry): a guess, which is checked as any other move.
 */
#include "contact/groups.h"

#include "base/vec.h"

#include <string.h>

static const double ROOM = 0.5;
enum { CHECK_GRAIN = 64, CARRY_ROUNDS_MAX = 50 };

typedef struct Reach {
  HkContacts *c;
  const double *x, *to;
} Reach;

/* The moves of the vertices of a pair. */
static void moves_of(const Reach *a, const int32_t v[4], double p[12]) {
  const HkContacts *c = a->c;
  int64_t n = c->data->features.n;
  for (int k = 0; k < 4; k++) {
    int64_t own = v[k] - n, at = 3 * (own < 0 ? (int64_t)v[k] : own);
    const double *from = own < 0 ? a->x : c->obstacle, *to = own < 0 ? a->to : c->obstacle_to;
    hk_sub(to + at, from + at, p + 3 * k);
  }
}

/* ---- One part for all ---- */

/* The part that a candidate allows. */
static double part_of(const Reach *a, int64_t e) {
  HkContacts *c = a->c;
  HkContactPair pair;
  int32_t v[4];
  double p[12];
  int split = hk_contact_vertices(&c->data->features, c->candidate[e].key, v);
  moves_of(a, v, p);
  double most = hk_contacts_closing(p, split);
  if (most == 0) return 1;
  double least = (double)c->candidate[e].gap - hk_contacts_approach(c, a->x, v, split);
  if (least - hk_contacts_left(c, least) >= most) return 1;
  hk_contacts_pair(c, a->x, v, split, &pair);
  HkTouch touch = hk_pair_touch(&pair);
  return hk_pair_reach(&pair, &touch, p, hk_contacts_left(c, touch.g));
}

/* Appends the candidate that allows least. */
static void reach_range(void *user, int64_t begin, int64_t end, HkPiece *piece) {
  const Reach *a = user;
  HkContacts *c = a->c;
  HkBlocker least = {.part = 1};
  for (int64_t g = begin; g < end; g++) {
    const HkGroup *group = &c->group[g];
    double gap = hk_group_gap(c, group);
    if (gap - hk_contacts_left(c, gap) > hk_group_closing(group, &c->move)) continue;
    for (int64_t e = group->first; e < group[1].first; e++) {
      double part = part_of(a, e);
      if (part < least.part) least = (HkBlocker){part, e};
    }
  }
  HkBlocker *to = least.part < 1 ? hk_piece_append(piece) : NULL;
  if (to) *to = least;
}

static void explain(const HkContacts *c, int64_t candidate, HkError *why) {
  int32_t v[4];
  int split = hk_contact_vertices(&c->data->features, c->candidate[candidate].key, v);
  const char *a = hk_contacts_name(c, v[0]), *b = hk_contacts_name(c, v[split]);
  hk_fail(why, HK_ERROR_INVALID, "'%s' at vertex %d and '%s' at vertex %d are in each other's way",
          a, v[0], b, v[split]);
}

/* Vertices against walls that move by `part` of what is left: both seen from the wall, along a
 * straight line. */
static bool walls_allow(const Reach *a, double part, HkError *why) {
  HkContacts *c = a->c;
  double now = c->time, then = part == 1 ? c->time_to : now + part * (c->time_to - now);
  for (int w = 0; w < c->data->wall_count; w++) {
    const HkWall *wall = &c->data->walls[w];
    HkPose end = c->pose[w];
    if (wall->obstacle) hk_obstacle_pose(wall->obstacle, then, end.R, end.T);
    for (int64_t v = 0; v < c->data->features.n; v++) {
      double p[3], seen[3], x[3];
      if (!hk_contacts_meets_wall(c, v, w)) continue;
      for (int q = 0; q < 3; q++)
        x[q] = a->x[3 * v + q] + part * (a->to[3 * v + q] - a->x[3 * v + q]);
      if (wall->obstacle) { /* R (R'^T (x - T')) + T */
        double r[3], local[3];
        hk_sub(x, end.T, r);
        for (int q = 0; q < 3; q++)
          local[q] = end.R[q] * r[0] + end.R[3 + q] * r[1] + end.R[6 + q] * r[2];
        for (int q = 0; q < 3; q++) seen[q] = hk_dot(c->pose[w].R + 3 * q, local) + c->pose[w].T[q];
      } else {
        memcpy(seen, x, sizeof seen);
      }
      hk_sub(seen, a->x + 3 * v, p);
      if (hk_contacts_reach_of_wall(c, w, a->x + 3 * v, p, c->data->radius[v]) == 1) continue;
      hk_fail(why, HK_ERROR_INVALID, "'%s' at vertex %lld and '%s' are in each other's way",
              hk_contacts_name(c, (int32_t)v), (long long)v,
              wall->obstacle ? wall->obstacle->name : "the ground");
      return false;
    }
  }
  return true;
}

double hk_contacts_reach(HkContacts *c, const double *x, const double *to, HkError *why) {
  enum { HALVINGS_MAX = 60 };
  Reach a = {.c = c, .x = x, .to = to};
  HkStatus status = hk_contacts_cover(c, x, to);
  if (status >= 0) {
    HkFill fill = {.count = c->group_count,
                   .grain = CHECK_GRAIN,
                   .size = sizeof *c->blocker,
                   .fill = reach_range,
                   .user = &a};
    hk_groups_since_measure(c, x);
    hk_groups_of_move(c, x, to, NULL, true);
    status = hk_pieces_fill(&c->pieces, &c->model->context, c->model->threads, &fill, &c->blocker,
                            &c->blocker_count, &c->blocker_capacity);
  }
  if (status < 0) {
    c->status = status;
    return 0;
  }
  double least = 1;
  for (int64_t k = 0; k < c->blocker_count; k++) {
    if (!(c->blocker[k].part < least)) continue;
    least = c->blocker[k].part;
    explain(c, c->blocker[k].candidate, why);
  }
  for (int k = 0; k < HALVINGS_MAX; k++, least *= 0.5)
    if (walls_allow(&a, least, why)) return least;
  return 0;
}

/* ---- Pushing along ---- */

/* Whether a pair meets, or is nearer than ghat at the end, by the moves at the beginning of a
 * round: only candidates can. */
static bool comes_near(const Reach *a, const int32_t v[4], const HkContactPair *pair,
                       const HkTouch *touch) {
  const HkContacts *c = a->c;
  HkContactPair end = *pair;
  double p[12];
  moves_of(a, v, p);
  for (int q = 0; q < 12; q++) end.x[q] += p[q];
  return hk_pair_touch(&end).g < c->data->ghat ||
         hk_pair_reach(pair, touch, p, hk_contacts_left(c, touch->g)) < 1;
}

/* The side of a pair that moves less makes way, along the normal, until half of the gap is left.
 * begun: the moves at the beginning of the round. */
static bool push(const Reach *begun, double *to, int64_t e) {
  const HkContacts *c = begun->c;
  Reach now = {.c = begun->c, .x = begun->x, .to = to};
  HkContactPair pair;
  int32_t v[4];
  double p[12], toward[2] = {0, 0};
  int split = hk_contact_vertices(&c->data->features, c->candidate[e].key, v);
  moves_of(&now, v, p);
  double least = (double)c->candidate[e].gap - hk_contacts_approach(c, now.x, v, split);
  if (ROOM * least >= hk_contacts_closing(p, split)) return false;
  hk_contacts_pair(c, now.x, v, split, &pair);
  HkTouch touch = hk_pair_touch(&pair);
  for (int k = 0; k < 4; k++) toward[k >= split] -= touch.w[k] * hk_dot(p + 3 * k, touch.n);
  double amount = toward[0] + toward[1] - ROOM * touch.g;
  if (!(amount > 0) || !comes_near(begun, v, &pair, &touch)) return false;
  int side = toward[0] < toward[1] ? 0 : 1;
  bool any = false;
  for (int k = side == 0 ? 0 : split; k < (side == 0 ? split : 4); k++) {
    if (v[k] >= c->data->features.n || touch.w[k] == 0) continue;
    hk_axpy(side == 0 ? amount : -amount, touch.n, to + 3 * (int64_t)v[k]);
    any = true;
  }
  return any;
}

void hk_contacts_carry(HkContacts *c, const double *x, double *to) {
  Reach begun = {.c = c, .x = x, .to = c->arrived};
  c->has_arrived = false;
  for (int round = 0; round < CARRY_ROUNDS_MAX; round++) {
    bool any = false;
    if (hk_contacts_cover(c, x, to) != HK_OK) return;
    memcpy(c->arrived, to, (size_t)c->data->features.n * 3 * sizeof *to);
    for (int64_t e = 0; e < c->candidate_count; e++) any |= push(&begun, to, e);
    if (!any) return;
  }
}
