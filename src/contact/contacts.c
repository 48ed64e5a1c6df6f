/* What touches; see contacts.h. */
#include "contact/contacts.h"

#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/distance.h"
#include "contact/flat.h"
#include "contact/groups.h"
#include "contact/impulse.h"
#include "force/springs.h"

#include <float.h>
#include <string.h>

static const double INERTIA = 10, SKIN = 2, THIN_SKIN = 0.75;
enum { GROUP_GRAIN = 64, WALL_GRAIN = 1024 };

/* ---- Creating ---- */

static HkStatus allocate(HkContacts *c, HkError *error) {
  const HkContext *context = &c->model->context;
  const HkFeatures *f = &c->data->features;
  int64_t springs = c->model->springs.count;
  int64_t walls = f->n * c->data->wall_count, blocks = f->slot_count / HK_CONTACT_WIDTH;
  HK_TRY(hk_tree_create(c->model, f, &c->tree, error));
  HK_TRY(hk_alloc(context, &c->box, f->vertex_count, sizeof *c->box, "contact", error));
  HK_TRY(hk_alloc(context, &c->measured, 3 * f->vertex_count, sizeof(double), "contact", error));
  HK_TRY(hk_alloc(context, &c->place, 4 * f->vertex_count, sizeof(float), "contact", error));
  HK_TRY(hk_alloc(context, &c->obstacle, 3 * (f->vertex_count - f->n), sizeof(double), "contact",
                  error));
  HK_TRY(hk_alloc(context, &c->obstacle_to, 3 * (f->vertex_count - f->n), sizeof(double), "contact",
                  error));
  HK_TRY(hk_alloc(context, &c->arrived, 3 * f->n, sizeof(double), "contact", error));
  HK_TRY(hk_alloc(context, &c->wall_k, walls, sizeof *c->wall_k, "contact", error));
  HK_TRY(hk_alloc(context, &c->H, 6 * f->n, sizeof *c->H, "contact", error));
  HK_TRY(hk_alloc(context, &c->pose, c->data->wall_count, sizeof *c->pose, "contact", error));
  HK_TRY(hk_alloc(context, &c->part, f->vertex_count, sizeof *c->part, "contact", error));
  HK_TRY(hk_alloc(context, &c->round, f->vertex_count, sizeof *c->round, "contact", error));
  c->sums_count = hk_sum_slots(springs > f->vertex_count ? springs : f->vertex_count);
  HK_TRY(hk_alloc(context, &c->sums, c->sums_count, sizeof *c->sums, "contact", error));
  HK_TRY(hk_alloc(context, &c->anywhere, f->vertex_count, 1, "contact", error));
  HK_TRY(hk_alloc(context, &c->late, f->vertex_count, 1, "contact", error));
  HK_TRY(hk_alloc(context, &c->late_block, blocks, 1, "contact", error));
  HkShifts *shifts[2] = {&c->gone, &c->move};
  for (int k = 0; k < 2; k++) {
    HK_TRY(hk_alloc(context, &shifts[k]->e, 4 * f->vertex_count, sizeof(float), "contact", error));
    HK_TRY(hk_alloc(context, &shifts[k]->block, blocks, sizeof *c->gone.block, "contact", error));
  }
  HK_TRY(hk_alloc(context, &c->late_list, blocks, sizeof *c->late_list, "contact", error));
  for (int k = 0; k < 2; k++)
    HK_TRY(hk_alloc(context, &c->touchings[k].x, 3 * f->n, sizeof(double), "contact", error));
  return HK_OK;
}

HkStatus hk_contacts_create(const HkModel *m, const HkContactData *data, HkContacts **contacts,
                            HkError *error) {
  HkContacts *c = NULL;
  HK_TRY(hk_alloc(&m->context, &c, 1, sizeof *c, "contact", error));
  c->model = m;
  c->data = data;
  HkStatus status = hk_distances_pick(&c->kernels, error);
  if (status >= 0) status = allocate(c, error);
  if (status < 0) {
    hk_contacts_destroy(m, &c);
    return status;
  }
  c->skin = SKIN * data->ghat;
  c->thin_skin = THIN_SKIN * data->ghat;
  c->h = m->time.step > 0 ? m->time.step : 1 / m->time.frames_per_second;
  hk_contacts_place(c, 0);
  *contacts = c;
  return HK_OK;
}

void hk_contacts_destroy(const HkModel *m, HkContacts **contacts) {
  const HkContext *context = &m->context;
  HkContacts *c = *contacts;
  if (!c) return;
  hk_tree_destroy(m, &c->tree);
  hk_impulses_destroy(m, &c->impulses);
  hk_pieces_destroy(context, &c->pieces);
  for (int k = 0; k < 2; k++) {
    hk_free(context, &c->touchings[k].x);
    hk_free(context, &c->touchings[k].pair);
    hk_free(context, &c->touchings[k].wall);
  }
  void *arrays[] = {&c->box,     &c->measured,   &c->obstacle, &c->obstacle_to, &c->pose,
                    &c->part,    &c->round,      &c->met,      &c->candidate,   &c->mark,
                    &c->late,    &c->late_list,  &c->wall_k,   &c->late_block,  &c->fresh,
                    &c->sums,    &c->anywhere,   &c->group,    &c->gone.e,      &c->gone.block,
                    &c->move.e,  &c->move.block, &c->blocker,  &c->H,           &c->place,
                    &c->arrived, &c->divided};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(context, arrays[k]);
  hk_free(context, contacts);
}

size_t hk_contacts_bytes(const HkContacts *c) {
  const HkFeatures *f = &c->data->features;
  size_t bytes = sizeof *c + hk_tree_bytes(&c->tree) + hk_impulses_bytes(c->data, c->impulses);
  bytes += (size_t)f->vertex_count * (sizeof *c->box + 3 * sizeof(double) + 12 * sizeof(float) +
                                      sizeof *c->part + sizeof *c->round + 2);
  bytes += (size_t)(f->slot_count / HK_CONTACT_WIDTH) *
           (sizeof *c->late_list + 2 * sizeof *c->gone.block + 1);
  bytes += (size_t)c->group_capacity * sizeof *c->group;
  bytes += (size_t)c->sums_count * sizeof *c->sums;
  bytes += (size_t)(9 * f->n + 6 * (f->vertex_count - f->n)) * sizeof(double);
  bytes += (size_t)c->data->wall_count * sizeof *c->pose;
  bytes += (size_t)(f->n * (c->data->wall_count + 6)) * sizeof(double);
  bytes +=
      (size_t)(c->candidate_capacity + c->met_capacity + c->fresh_capacity) * sizeof *c->candidate;
  bytes += (size_t)c->divided_capacity * sizeof *c->divided;
  bytes += (size_t)c->mark_capacity + hk_pieces_bytes(&c->pieces);
  bytes += (size_t)c->blocker_capacity * sizeof *c->blocker;
  for (int k = 0; k < 2; k++)
    bytes += (size_t)c->touchings[k].pair_capacity * sizeof(HkTouching) +
             (size_t)c->touchings[k].wall_capacity * sizeof(HkWallTouching);
  return bytes;
}

/* ---- Obstacles ---- */

/* The pose of a wall at time t; the ground has none. */
static void find_pose(const HkWall *wall, double t, HkPose *pose) {
  if (wall->obstacle) hk_obstacle_pose(wall->obstacle, t, pose->R, pose->T);
}

static int64_t obstacle_size(const HkContacts *c) {
  return 3 * (c->data->features.vertex_count - c->data->features.n);
}

void hk_contacts_aim(HkContacts *c, double t) {
  const HkModel *m = c->model;
  const double *rest = c->data->features.obstacle;
  double *x = c->obstacle_to;
  for (int k = 0; k < m->obstacle_count; k++)
    for (int32_t v = 0; v < m->obstacles[k].features.vertex_count; v++, x += 3, rest += 3)
      hk_obstacle_place(&m->obstacles[k], t, rest, x);
  c->time_to = t;
}

void hk_contacts_advance(HkContacts *c, double part) {
  int64_t size = obstacle_size(c);
  for (int64_t q = 0; q < size; q++)
    c->obstacle[q] = part == 1 ? c->obstacle_to[q]
                               : c->obstacle[q] + part * (c->obstacle_to[q] - c->obstacle[q]);
  c->time = part == 1 ? c->time_to : c->time + part * (c->time_to - c->time);
  for (int w = 0; w < c->data->wall_count; w++) find_pose(&c->data->walls[w], c->time, &c->pose[w]);
  c->has_arrived = false;
  c->touchings[0].known = c->touchings[1].known = false;
}

void hk_contacts_place(HkContacts *c, double t) {
  bool same = c->time == t && c->time_to == t && c->has_candidates;
  if (same) return;
  hk_contacts_aim(c, t);
  hk_contacts_advance(c, 1);
}

static void forget_range(void *user, int64_t begin, int64_t end) {
  const HkContacts *c = user;
  for (int64_t e = begin; e < end; e++) c->candidate[e].k = 0;
}

void hk_contacts_begin(HkContacts *c, double h) {
  c->h = h;
  hk_parallel_for(c->model->threads, c->candidate_count, forget_range, c);
  c->met_count = 0;
  c->has_H = false;
  int64_t walls = c->data->features.n * c->data->wall_count;
  if (walls) memset(c->wall_k, 0, (size_t)walls * sizeof *c->wall_k);
  c->touchings[0].known = c->touchings[1].known = false;
}

/* ---- What touches ---- */

typedef struct Loop {
  HkContacts *c;
  const HkSpringArrays *springs;
  const double *x;
} Loop;

void hk_contacts_pair(const HkContacts *c, const double *x, const int32_t v[4], int split,
                      HkContactPair *pair) {
  for (int a = 0; a < 4; a++)
    memcpy(pair->x + 3 * a, hk_contacts_position(c, x, v[a]), 3 * sizeof *x);
  pair->split = split;
  pair->xi = hk_contacts_xi(c, v);
  pair->ghat = c->data->ghat;
}

double hk_contacts_approach(const HkContacts *c, const double *x, const int32_t v[4], int split) {
  double d[4][3], most = 0;
  for (int a = 0; a < 4; a++)
    hk_sub(hk_contacts_position(c, x, v[a]), c->measured + 3 * (int64_t)v[a], d[a]);
  for (int a = 0; a < split; a++)
    for (int b = split; b < 4; b++) {
      double e[3];
      hk_sub(d[a], d[b], e);
      most = hk_larger(most, hk_dot(e, e));
    }
  return sqrt(most);
}

/* H of the springs at vertices. */
static void hessian_range(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const HkModel *m = a->c->model;
  for (int64_t v = begin; v < end; v++) {
    double sum[9] = {0};
    for (int64_t q = m->adj_start[v]; q < m->adj_start[v + 1]; q++) {
      double H[9];
      hk_spring_hessian(a->springs, m->adj_spring[q], a->x, 1, H);
      for (int e = 0; e < 9; e++) sum[e] += H[e];
    }
    for (int i = 0, at = 0; i < 3; i++)
      for (int k = i; k < 3; k++) a->c->H[6 * v + at++] = sum[3 * i + k];
  }
}

/* n^T H n of a vertex. */
static double spring_stiffness(const HkContacts *c, int32_t v, const double n[3]) {
  const double *H = c->H + 6 * (int64_t)v;
  double off = H[1] * n[0] * n[1] + H[2] * n[0] * n[2] + H[4] * n[1] * n[2];
  return H[0] * n[0] * n[0] + H[3] * n[1] * n[1] + H[5] * n[2] * n[2] + 2 * off;
}

static double stiffness(const HkContacts *c, const int32_t *v, const double *w, int count,
                        const double n[3]) {
  double mass = 0, sum = 0;
  int free = 0;
  for (int a = 0; a < count; a++) {
    if (v[a] >= c->data->features.n) continue;
    mass += c->model->mass[v[a]];
    free++;
    if (w[a] != 0) sum += w[a] * w[a] * spring_stiffness(c, v[a], n);
  }
  return free > 0 ? INERTIA * mass / (free * c->h * c->h) + sum : 0;
}

/* c0 of pair.h */
static double rest_mollifier(const HkContacts *c, const int32_t v[4], int split) {
  const HkFeatures *f = &c->data->features;
  double X[12];
  for (int a = 0; a < 4; a++) {
    const double *rest =
        v[a] < f->n ? c->model->x0 + 3 * (int64_t)v[a] : f->obstacle + 3 * (v[a] - f->n);
    memcpy(X + 3 * a, rest, 3 * sizeof *X);
  }
  return hk_pair_mollifier(split, X);
}

/* Appends the pair of a candidate if it touches. */
static void find_touching(const Loop *a, int64_t e, HkPiece *piece) {
  HkContacts *c = a->c;
  HkCandidate *candidate = &c->candidate[e];
  HkTouching t = {.key = candidate->key};
  HkContactPair pair;
  t.split = hk_contact_vertices(&c->data->features, candidate->key, t.vertex);
  hk_contacts_pair(c, a->x, t.vertex, t.split, &pair);
  t.touch = hk_pair_touch(&pair);
  if (!(t.touch.g < c->data->ghat)) return;
  pair.flat = t.flat = hk_flat_near(&pair, hk_features_flat(&c->data->features, candidate->key));
  if (candidate->k == 0) {
    double n[3];
    hk_flat_normal(&pair, &t.touch, n);
    candidate->k = stiffness(c, t.vertex, t.touch.w, 4, n);
  }
  pair.k = t.k = candidate->k;
  pair.c0 = t.c0 = rest_mollifier(c, t.vertex, t.split);
  t.energy = hk_pair_energy(&pair, &t.touch, &t.slope, &t.turns);
  HkTouching *to = hk_piece_append(piece);
  if (to) *to = t;
}

/* Marks the pairs of a batch that may touch. */
static void mark_batch(const HkContacts *c, HkPairBatch *batch, int kind) {
  const double MORE = 1 + 1e-5; /* sums in single precision */
  float gone[HK_DISTANCE_BATCH];
  hk_batch_run(batch, c->kernels->closing[kind], c->gone.e, gone);
  for (int l = 0; l < batch->count; l++) {
    int64_t e = batch->entry[l];
    double gap = (double)c->candidate[e].gap - MORE * (double)gone[l] - c->gone.error;
    c->mark[e] = gap < c->data->ghat;
  }
  batch->count = 0;
}

static void touch_range(void *user, int64_t begin, int64_t end, HkPiece *piece) {
  const Loop *a = user;
  const HkContacts *c = a->c;
  HkPairBatch batch[2];
  int64_t first = c->group[begin].first, after = c->group[end].first;
  batch[0].count = batch[1].count = 0;
  memset(c->mark + first, 0, (size_t)(after - first));
  for (int64_t g = begin; g < end; g++) {
    if (hk_group_gap(c, &c->group[g]) > c->data->ghat) continue;
    for (int64_t e = c->group[g].first; e < c->group[g + 1].first; e++) {
      int32_t v[4];
      int kind = hk_contact_vertices(&c->data->features, c->candidate[e].key, v) - 1;
      if (hk_batch_add(&batch[kind], v, e)) mark_batch(c, &batch[kind], kind);
    }
  }
  for (int kind = 0; kind < 2; kind++)
    if (batch[kind].count > 0) mark_batch(c, &batch[kind], kind);
  for (int64_t e = first; e < after; e++)
    if (c->mark[e]) find_touching(a, e, piece);
}

static HkStatus find_pairs(Loop *a, HkTouchings *found) {
  HkContacts *c = a->c;
  HkFill fill = {.count = c->group_count,
                 .grain = GROUP_GRAIN,
                 .size = sizeof *found->pair,
                 .fill = touch_range,
                 .user = a};
  HK_TRY(hk_grow(&c->model->context, &c->mark, &c->mark_capacity, c->candidate_count, 1, "contact",
                 NULL));
  hk_groups_renew(c, a->x);
  return hk_pieces_fill(&c->pieces, &c->model->context, c->model->threads, &fill, &found->pair,
                        &found->pair_count, &found->pair_capacity);
}

/* ---- Walls ---- */

double hk_contacts_wall(const HkContacts *c, int wall, const HkPose *pose, const double x[3],
                        double n[3], double H[9]) {
  const HkWall *w = &c->data->walls[wall];
  if (!w->obstacle) {
    if (H) memset(H, 0, 9 * sizeof *H);
    memcpy(n, w->normal, sizeof w->normal);
    return hk_dot(w->normal, x) - w->offset;
  }
  const HkCompiledObstacle *o = w->obstacle;
  const double *R = pose->R;
  double r[3], local[3], m[3], K[9], half[9];
  hk_sub(x, pose->T, r);
  for (int q = 0; q < 3; q++) local[q] = R[q] * r[0] + R[3 + q] * r[1] + R[6 + q] * r[2];
  double d = o->type->distance(o->method.params, o->data, local, m, H ? K : NULL);
  double sign = o->two_sided && d < 0 ? -1 : 1;
  for (int q = 0; q < 3; q++) n[q] = sign * hk_dot(R + 3 * q, m);
  if (!H) return sign * d;
  hk_mat_multiply(R, K, half); /* R K R^T */
  for (int q = 0; q < 9; q++) H[q] = sign * hk_dot(half + q / 3 * 3, R + q % 3 * 3);
  return sign * d;
}

/* Entry e is vertex e % n at wall e / n. */
static void wall_range(void *user, int64_t begin, int64_t end, HkPiece *piece) {
  const Loop *a = user;
  HkContacts *c = a->c;
  const double one[1] = {1};
  double ghat = c->data->ghat;
  for (int64_t e = begin; e < end; e++) {
    int64_t v = e % c->data->features.n;
    HkWallTouching t = {.vertex = (int32_t)v, .wall = (int32_t)(e / c->data->features.n)};
    if (!hk_contacts_meets_wall(c, v, t.wall)) continue;
    t.g = hk_contacts_wall(c, t.wall, &c->pose[t.wall], a->x + 3 * v, t.n, NULL);
    t.g -= c->data->radius[v];
    if (!(t.g < ghat)) continue;
    double *k = &c->wall_k[e];
    if (*k == 0) *k = stiffness(c, &t.vertex, one, 1, t.n);
    t.k = *k;
    t.energy = t.k * ghat * ghat * hk_barrier(t.g / ghat);
    HkWallTouching *to = hk_piece_append(piece);
    if (to) *to = t;
  }
}

static HkStatus find_at_walls(Loop *a, HkTouchings *found) {
  HkContacts *c = a->c;
  HkFill fill = {.count = c->data->features.n * c->data->wall_count,
                 .grain = WALL_GRAIN,
                 .size = sizeof *found->wall,
                 .fill = wall_range,
                 .user = a};
  return hk_pieces_fill(&c->pieces, &c->model->context, c->model->threads, &fill, &found->wall,
                        &found->wall_count, &found->wall_capacity);
}

/* ---- At given positions ---- */

static HkStatus find(HkContacts *c, const HkSpringArrays *springs, const double *x,
                     HkTouchings *found) {
  Loop a = {.c = c, .springs = springs, .x = x};
  size_t bytes = (size_t)c->data->features.n * 3 * sizeof *x;
  if (!c->has_arrived || memcmp(x, c->arrived, bytes) != 0) HK_TRY(hk_contacts_cover(c, x, x));
  if (!c->has_H) hk_parallel_for(c->model->threads, c->model->n, hessian_range, &a);
  c->has_H = true;
  HK_TRY(find_pairs(&a, found));
  return find_at_walls(&a, found);
}

/* The touchings that are known for x, or NULL. */
static HkTouchings *known_at(HkContacts *c, const double *x) {
  size_t bytes = (size_t)c->data->features.n * 3 * sizeof *x;
  for (int k = 0; k < 2; k++)
    if (c->touchings[k].known && memcmp(c->touchings[k].x, x, bytes) == 0) return &c->touchings[k];
  return NULL;
}

bool hk_contacts_is_known(HkContacts *c, const double *x) {
  return known_at(c, x) != NULL;
}

bool hk_contacts_is_sound(HkContacts *c, const double *x) {
  const HkTouchings *t = known_at(c, x);
  return t && t->sound;
}

void hk_contacts_set_sound(HkContacts *c, const double *x) {
  HkTouchings *t = known_at(c, x);
  if (t) t->sound = true;
}

const char *hk_contacts_name(const HkContacts *c, int32_t v) {
  const HkModel *m = c->model;
  for (int b = 0; b < m->body_count; b++)
    if (v < m->bodies[b].first + m->bodies[b].count)
      return m->bodies[b].name ? m->bodies[b].name : "body";
  int64_t at = v - m->n;
  for (int k = 0; k < m->obstacle_count; k++) {
    at -= m->obstacles[k].features.vertex_count;
    if (at < 0) return m->obstacles[k].name;
  }
  return "obstacle";
}

const HkTouchings *hk_contacts_find(HkContacts *c, const HkSpringArrays *springs, const double *x) {
  HkTouchings *found = known_at(c, x);
  if (found) {
    c->last = (int)(found - c->touchings);
    return found;
  }
  found = &c->touchings[1 - c->last];
  found->known = found->sound = false;
  HkStatus status = find(c, springs, x, found);
  if (status < 0) {
    c->status = status;
    return NULL;
  }
  memcpy(found->x, x, (size_t)c->data->features.n * 3 * sizeof *x);
  found->known = true;
  c->last = 1 - c->last;
  return found;
}
