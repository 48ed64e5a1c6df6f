/* Groups of candidates: the pairs between two blocks (features.h), which stand together in the list
 * and are ruled out together.
 *
 * Let e_v be a displacement of each vertex: of a move, or since distances were measured. All
 * vertices of a block have |e_v - c| <= r with the center c and the radius r of the block, and the
 * vertices of two blocks come closer to each other by
 *
 *     |c_a - c_b| + r_a + r_b      at most.
 *
 * Neighbors that move side by side have similar centers. Most groups are ruled out by this bound,
 * at a cost that does not depend on the number of their pairs.
 */
#include "contact/groups.h"

#include "base/vec.h"
#include "contact/distance.h"

#include <math.h>

enum {
  BLOCK_GRAIN = 64,
  CANDIDATE_GRAIN = 2048,
  GROUP_GRAIN = 64,
  VERTICES = 3 * HK_CONTACT_WIDTH
};

/* Whether a candidate is the first of a group. */
static bool begins(const HkContacts *c, int64_t e) {
  const uint64_t BLOCKS = ~UINT64_C(0) << 10; /* of a key: the two blocks */
  return e == 0 || ((c->candidate[e].key ^ c->candidate[e - 1].key) & BLOCKS) != 0;
}

/* The least gap of candidates. */
static double slack_of(const HkContacts *c, int64_t first, int64_t end) {
  float least = INFINITY;
  for (int64_t e = first; e < end; e++)
    least = c->candidate[e].gap < least ? c->candidate[e].gap : least;
  return (double)least;
}

/* Appends the groups that begin at candidates begin .. end - 1. */
static void group_range(void *user, int64_t begin, int64_t end, HkPiece *piece) {
  const HkContacts *c = user;
  int64_t e = begin;
  while (e < end && !begins(c, e)) e++;
  while (e < end) {
    int64_t a, b;
    hk_contact_slots(c->candidate[e].key, &a, &b);
    HkGroup group = {
        .first = e, .a = (int32_t)(a / HK_CONTACT_WIDTH), .b = (int32_t)(b / HK_CONTACT_WIDTH)};
    do {
      e++;
    } while (e < c->candidate_count && !begins(c, e));
    group.slack = slack_of(c, group.first, e);
    HkGroup *to = hk_piece_append(piece);
    if (to) *to = group;
  }
}

HkStatus hk_groups_list(HkContacts *c) {
  HkFill fill = {.count = c->candidate_count,
                 .grain = CANDIDATE_GRAIN,
                 .size = sizeof *c->group,
                 .fill = group_range,
                 .user = c};
  HK_TRY(hk_pieces_fill(&c->pieces, &c->model->context, c->model->threads, &fill, &c->group,
                        &c->group_count, &c->group_capacity));
  HK_TRY(hk_grow(&c->model->context, &c->group, &c->group_capacity, c->group_count + 1,
                 sizeof *c->group, "contact", NULL));
  c->group[c->group_count].first = c->candidate_count;
  return HK_OK;
}

/* ---- Displacements ---- */

typedef struct Moves {
  const HkContacts *c;
  const double *from, *to; /* 3 n */
  const double *obstacle_from, *obstacle_to;
  const double *part; /* of the moves; NULL: 1 */
  HkShifts *shifts;
} Moves;

/* Returns the largest coordinate. */
static double shift_range(void *user, int64_t begin, int64_t end) {
  const Moves *a = user;
  int64_t n = a->c->data->features.n;
  double most = 0;
  for (int64_t v = begin; v < end; v++) {
    bool own = v < n;
    const double *from = own ? a->from + 3 * v : a->obstacle_from + 3 * (v - n);
    const double *to = own ? a->to + 3 * v : a->obstacle_to + 3 * (v - n);
    double part = a->part && own ? a->part[v] : 1;
    float *e = a->shifts->e + 4 * v;
    for (int q = 0; q < 3; q++) {
      double shift = part * (to[q] - from[q]);
      e[q] = (float)shift;
      most = hk_larger(most, fabs(shift));
    }
    e[3] = 0;
  }
  return most;
}

static void block_range(void *user, int64_t begin, int64_t end) {
  const Moves *a = user;
  const HkFeatures *f = &a->c->data->features;
  for (int64_t b = begin; b < end; b++) {
    float low[4] = {INFINITY, INFINITY, INFINITY, 0}, high[4], square = 0;
    for (int q = 0; q < 4; q++) high[q] = -low[q];
    for (int k = 0; k < VERTICES; k++) {
      if (f->corners[HK_CONTACT_WIDTH * b + k / 3] == 0) break; /* the last slots are empty */
      const float *e = a->shifts->e + 4 * (int64_t)f->vertex[VERTICES * b + k];
      for (int q = 0; q < 4; q++) {
        low[q] = e[q] < low[q] ? e[q] : low[q];
        high[q] = e[q] > high[q] ? e[q] : high[q];
      }
    }
    HkBlockShift *block = &a->shifts->block[b];
    for (int q = 0; q < 3; q++) {
      block->center[q] = 0.5f * (low[q] + high[q]);
      square += 0.25f * (high[q] - low[q]) * (high[q] - low[q]);
    }
    block->radius = sqrtf(square);
  }
}

/* Displacements are rounded by 2^-24 of the largest one; sums and differences of them in single
 * precision, centers and radii by a few times as much. */
static void find_moves(Moves *a) {
  const double ROUNDING = 32.0 / (1 << 24);
  const HkFeatures *f = &a->c->data->features;
  int threads = a->c->model->threads;
  a->shifts->error =
      ROUNDING * hk_parallel_most(threads, f->vertex_count, shift_range, a, a->c->sums);
  hk_parallel_work(threads, f->slot_count / HK_CONTACT_WIDTH, BLOCK_GRAIN, block_range, a);
}

void hk_groups_since_measure(HkContacts *c, const double *x) {
  Moves a = {.c = c,
             .from = c->measured,
             .to = x,
             .obstacle_from = c->measured + 3 * c->data->features.n,
             .obstacle_to = c->obstacle,
             .shifts = &c->gone};
  find_moves(&a);
}

void hk_groups_of_move(HkContacts *c, const double *x, const double *to, const double *part,
                       bool obstacles) {
  Moves a = {.c = c,
             .from = x,
             .to = to,
             .obstacle_from = c->obstacle,
             .obstacle_to = obstacles ? c->obstacle_to : c->obstacle,
             .part = part,
             .shifts = &c->move};
  find_moves(&a);
}

/* ---- Distances ---- */

static void measure_range(void *user, int64_t begin, int64_t end) {
  const HkContacts *c = user;
  hk_distances_measure(c, c->candidate + c->group[begin].first,
                       c->group[end].first - c->group[begin].first);
  for (int64_t g = begin; g < end; g++)
    c->group[g].slack = slack_of(c, c->group[g].first, c->group[g + 1].first);
}

/* Candidates in groups that cannot be ruled out. */
static double left_range(void *user, int64_t begin, int64_t end) {
  const HkContacts *c = user;
  double sum = 0;
  for (int64_t g = begin; g < end; g++)
    if (!(hk_group_gap(c, &c->group[g]) > c->data->ghat))
      sum += (double)(c->group[g + 1].first - c->group[g].first);
  return sum;
}

HkStatus hk_groups_renew(HkContacts *c, const double *x) {
  const double PART = 0.125, A_PAIR = 4;
  int64_t groups = c->group_count;
  double most = PART * (double)c->candidate_count;
  most += A_PAIR * (double)c->touchings[c->last].pair_count;
  hk_groups_since_measure(c, x);
  HK_TRY(hk_grow(&c->model->context, &c->sums, &c->sums_count, hk_sum_slots(groups),
                 sizeof *c->sums, "contact", NULL));
  if (!(hk_parallel_sum(c->model->threads, groups, left_range, c, c->sums) > most)) return HK_OK;
  hk_distances_place(c, x);
  c->at_start = false;
  hk_parallel_work(c->model->threads, groups, GROUP_GRAIN, measure_range, c);
  hk_groups_since_measure(c, x);
  return HK_OK;
}
