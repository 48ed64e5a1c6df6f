/* What touches: pairs of features and vertices at walls with a gap below ghat; see contacts.h. */
#include "contact/contacts.h"

#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/distance.h"
#include "contact/flat.h"
#include "contact/groups.h"
#include "force/springs.h"

#include <string.h>

static const double INERTIA = 10;
enum { GROUP_GRAIN = 64, WALL_GRAIN = 1024 };

/* ---- Pairs ---- */

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

double hk_contacts_mollifier(const HkContacts *c, const int32_t v[4], int split) {
  const HkFeatures *f = &c->data->features;
  double X[12];
  for (int a = 0; a < 4; a++) {
    const double *rest =
        v[a] < f->n ? c->model->x0 + 3 * (int64_t)v[a] : f->obstacle + 3 * (v[a] - f->n);
    memcpy(X + 3 * a, rest, 3 * sizeof *X);
  }
  return hk_pair_mollifier(split, X);
}

/* The first of the pairs that were met with a key that is not smaller. */
static int64_t find_met(const HkContacts *c, uint64_t key) {
  int64_t low = 0, high = c->met_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (c->met[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

double hk_contacts_stiffness(const HkContacts *c, uint64_t key) {
  int64_t at = find_met(c, key);
  return at < c->met_count && c->met[at].key == key ? c->met[at].k : 0;
}

/* Appends the pair of a candidate if it touches. *met: of the pairs that were met, one that is not
 * behind it. */
static void find_touching(const Loop *a, int64_t e, int64_t *met, HkPiece *piece) {
  HkContacts *c = a->c;
  HkTouching t = {.key = c->candidate[e].key};
  HkContactPair pair;
  t.split = hk_contact_vertices(&c->data->features, t.key, t.vertex);
  hk_contacts_pair(c, a->x, t.vertex, t.split, &pair);
  t.touch = hk_pair_touch(&pair);
  if (!(t.touch.g < c->data->ghat)) return;
  pair.flat = t.flat = hk_flat_near(&pair, hk_features_flat(&c->data->features, t.key));
  while (*met < c->met_count && c->met[*met].key < t.key) ++*met;
  t.is_new = *met == c->met_count || c->met[*met].key != t.key;
  if (t.is_new) {
    double n[3];
    hk_flat_normal(&pair, &t.touch, n);
    t.k = stiffness(c, t.vertex, t.touch.w, 4, n);
  } else {
    t.k = c->met[*met].k;
  }
  pair.k = t.k;
  pair.c0 = t.c0 = hk_contacts_mollifier(c, t.vertex, t.split);
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
  int64_t met = first < after ? find_met(c, c->candidate[first].key) : 0;
  for (int64_t e = first; e < after; e++)
    if (c->mark[e]) find_touching(a, e, &met, piece);
}

/* Adds the pairs that were not met before, from the last on, in place. */
static HkStatus meet(HkContacts *c, const HkTouchings *found) {
  int64_t old = c->met_count, at = old;
  for (int64_t k = 0; k < found->pair_count; k++) at += found->pair[k].is_new;
  if (at == old) return HK_OK;
  HK_TRY(
      hk_grow(&c->model->context, &c->met, &c->met_capacity, at, sizeof *c->met, "contact", NULL));
  c->met_count = at;
  for (int64_t k = found->pair_count - 1; k >= 0; k--) {
    const HkTouching *t = &found->pair[k];
    if (!t->is_new) continue;
    while (old > 0 && c->met[old - 1].key > t->key) c->met[--at] = c->met[--old];
    c->met[--at] = (HkMet){t->key, t->k};
  }
  return HK_OK;
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
  HK_TRY(hk_groups_renew(c, a->x));
  HK_TRY(hk_pieces_fill(&c->pieces, &c->model->context, c->model->threads, &fill, &found->pair,
                        &found->pair_count, &found->pair_capacity));
  return meet(c, found);
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
