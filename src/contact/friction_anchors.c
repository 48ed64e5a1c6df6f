/* The contacts of a step and their anchors; see friction.h.
 *
 * At its beginning each touch finds the anchor that the state has of it, by its key, and becomes a
 * contact with a limit. At its end the return map moves the anchors, those of contacts that have
 * ended are forgotten, and those of new ones are added.
 */
#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/flat.h"
#include "contact/friction.h"

#include <string.h>

static const double INERTIA = 10; /* k h^2 / m of an anchor */

/* ---- The beginning of a step ---- */

/* Stiffness of the anchor of vertices with this mean mass. */
static double anchor_stiffness(const HkContacts *c, const int32_t *v, int count) {
  double mass = 0;
  int free = 0;
  for (int a = 0; a < count; a++) {
    if (v[a] >= c->data->features.n) continue;
    mass += c->model->mass[v[a]];
    free++;
  }
  return free > 0 ? INERTIA * mass / (free * c->h * c->h) : 0;
}

/* The displacement that an obstacle's vertex makes in the step. */
static void obstacle_move(const HkContacts *c, int32_t v, double t, double move[3]) {
  hk_contacts_obstacle_vertex(c, v, t + c->h, move);
  hk_axpy(-1, c->obstacle + 3 * (v - c->data->features.n), move);
}

/* Whether the velocities take a new contact beyond its static limit within the step. */
static bool slides(const HkForceArgs *a, const HkFrictionContact *t, double limit) {
  const HkContacts *c = a->state;
  double u[3] = {0, 0, 0};
  if (!a->v) return false;
  if (t->wall >= 0) {
    const HkCompiledObstacle *o = c->data->walls[t->wall].obstacle;
    HkPose end = c->pose[t->wall];
    if (o) hk_obstacle_pose(o, a->t + c->h, end.R, end.T);
    hk_friction_add_wall_move(&c->pose[t->wall], &end, t->point, -1, u);
    hk_axpy(c->h, a->v + 3 * (int64_t)t->vertex[0], u);
  } else {
    for (int k = 0; k < 4; k++) {
      double move[3];
      if (t->vertex[k] < c->data->features.n) {
        hk_axpy(t->w[k] * c->h, a->v + 3 * (int64_t)t->vertex[k], u);
        continue;
      }
      obstacle_move(c, t->vertex[k], a->t, move);
      hk_axpy(t->w[k], move, u);
    }
  }
  hk_friction_project(t->n, u);
  return t->k * hk_norm(u) > limit;
}

/* A contact that may have friction. */
typedef struct Touch {
  HkFrictionContact contact; /* without what the memory of the state knows */
  double lambda;             /* N: normal force */
  double rest, slide;        /* coefficients */
} Touch;

/* The normal force of a touch. Of triangles with flat edges the normal is that of their plane, so
 * that the forces of several of them add up to that of the surface. */
static double normal_force(const HkContacts *c, const double *x, const HkTouching *touching,
                           double n[3]) {
  HkContactPair pair = {.k = touching->k, .flat = touching->flat};
  double G[12];
  memcpy(n, touching->touch.n, 3 * sizeof *n);
  if (!pair.flat.edges) return -touching->slope;
  hk_contacts_pair(c, x, touching->vertex, touching->split, &pair);
  hk_flat_normal(&pair, &touching->touch, n);
  hk_flat_gradient(&pair, &touching->touch, G);
  return -hk_dot(G, n);
}

static Touch pair_touch(const HkContacts *c, const double *x, const HkTouching *touching) {
  const HkFeatures *f = &c->data->features;
  Touch t = {.contact = {.key = touching->key, .wall = -1}};
  int64_t slot_a, slot_b;
  memcpy(t.contact.vertex, touching->vertex, sizeof t.contact.vertex);
  memcpy(t.contact.w, touching->touch.w, sizeof t.contact.w);
  t.contact.k = anchor_stiffness(c, touching->vertex, 4);
  t.lambda = normal_force(c, x, touching, t.contact.n);
  hk_contact_slots(t.contact.key, &slot_a, &slot_b);
  hk_contact_friction(c->data, f->group[slot_a / HK_CONTACT_WIDTH],
                      f->group[slot_b / HK_CONTACT_WIDTH], &t.rest, &t.slide);
  return t;
}

static Touch wall_touch(const HkContacts *c, const double *x, const HkWallTouching *touching) {
  int32_t v = touching->vertex;
  double ghat = c->data->ghat;
  Touch t = {.contact = {.key = hk_anchor_wall_key(touching->wall, v),
                         .vertex = {v},
                         .wall = touching->wall}};
  memcpy(t.contact.n, touching->n, sizeof t.contact.n);
  memcpy(t.contact.point, x + 3 * (int64_t)v, sizeof t.contact.point);
  hk_axpy(-touching->g - c->data->radius[v], t.contact.n, t.contact.point);
  t.contact.k = anchor_stiffness(c, &v, 1);
  t.lambda = -touching->k * ghat * hk_barrier_slope(touching->g / ghat);
  hk_contact_friction(c->data, c->data->group[v], c->data->walls[touching->wall].group, &t.rest,
                      &t.slide);
  return t;
}

/* The index-th touch at x, in the order of keys; false if it has no friction. */
static bool touch_at(const HkContacts *c, const double *x, const HkTouchings *found, int64_t index,
                     Touch *t) {
  int64_t at = index - found->pair_count;
  *t = at < 0 ? pair_touch(c, x, &found->pair[index]) : wall_touch(c, x, &found->wall[at]);
  return t->contact.k > 0 && t->lambda > 0 && (t->rest > 0 || t->slide > 0);
}

static double stored_in(const HkAnchor *anchor) {
  return 0.5 * anchor->k * hk_dot(anchor->s, anchor->s);
}

/* The anchor that the state has of a contact; those before it belong to contacts that are not there
 * any more. */
static const HkAnchor *find_anchor(HkFriction *f, int64_t *at, uint64_t key) {
  while (*at < f->anchor_count && f->anchor[*at].key < key)
    f->lost += stored_in(&f->anchor[(*at)++]);
  bool found = *at < f->anchor_count && f->anchor[*at].key == key;
  return found ? &f->anchor[(*at)++] : NULL;
}

/* Appends a contact with the anchor that the state has of it, whose force stays if the stiffness is
 * another one; NULL: it has none. */
static HkStatus append(const HkForceArgs *a, Touch *touch, const HkAnchor *anchor, HkError *error) {
  const HkContacts *c = a->state;
  HkFriction *f = c->friction;
  HkFrictionContact *t = &touch->contact;
  double lambda = anchor ? anchor->lambda : touch->lambda;
  bool slid = c->data->friction_ipc || (anchor && anchor->kind == HK_ANCHOR_SLID);
  if (!slid && (!anchor || anchor->kind == HK_ANCHOR_NEW) && touch->rest != touch->slide)
    slid = slides(a, t, touch->rest * lambda);
  t->limit = (slid ? touch->slide : touch->rest) * lambda;
  t->lambda = lambda;
  t->slid = slid;
  if (anchor) t->stored = stored_in(anchor);
  if (!(t->limit > 0)) {
    f->lost += t->stored;
    return HK_OK;
  }
  for (int q = 0; q < 3 && anchor; q++)
    t->s[q] = anchor->k == t->k ? anchor->s[q] : anchor->s[q] * (anchor->k / t->k);
  hk_friction_project(t->n, t->s);
  HK_TRY(hk_grow(&c->model->context, &f->contact, &f->capacity, f->count + 1, sizeof *t, "friction",
                 error));
  f->contact[f->count++] = *t;
  return HK_OK;
}

/* Keeps the places of all things, if there are contacts. */
static HkStatus keep_start(const HkForceArgs *a, HkError *error) {
  const HkContacts *c = a->state;
  const HkContext *context = &c->model->context;
  const HkFeatures *features = &c->data->features;
  HkFriction *f = c->friction;
  int64_t size = 3 * features->n, own = 3 * (features->vertex_count - features->n);
  int64_t walls = c->data->wall_count;
  HK_TRY(hk_grow(context, &f->x, &f->x_capacity, size, sizeof *f->x, "friction", error));
  HK_TRY(hk_grow(context, &f->obstacle, &f->obstacle_capacity, own, sizeof *f->obstacle, "friction",
                 error));
  HK_TRY(hk_grow(context, &f->pose, &f->pose_capacity, walls, sizeof *f->pose, "friction", error));
  HK_TRY(hk_grow(context, &f->pose_end, &f->pose_end_capacity, walls, sizeof *f->pose, "friction",
                 error));
  memcpy(f->x, a->x, (size_t)size * sizeof *f->x);
  if (own) memcpy(f->obstacle, c->obstacle, (size_t)own * sizeof *f->obstacle);
  if (walls) memcpy(f->pose, c->pose, (size_t)walls * sizeof *f->pose);
  if (walls) memcpy(f->pose_end, c->pose, (size_t)walls * sizeof *f->pose);
  f->time = c->time;
  return HK_OK;
}

HkStatus hk_friction_list(const HkForceArgs *a, const HkTouchings *found, HkError *error) {
  const HkContacts *c = a->state;
  HkFriction *f = c->friction;
  int64_t at = 0;
  f->count = 0;
  f->lost = 0;
  f->has_start = false;
  if (!c->data->has_friction && f->anchor_count == 0) return HK_OK;
  for (int64_t k = 0; k < found->pair_count + found->wall_count; k++) {
    Touch touch;
    if (!touch_at(c, a->x, found, k, &touch)) continue;
    HK_TRY(append(a, &touch, find_anchor(f, &at, touch.contact.key), error));
  }
  while (at < f->anchor_count) f->lost += stored_in(&f->anchor[at++]);
  if (f->count == 0) return HK_OK;
  HK_TRY(keep_start(a, error));
  f->has_start = true;
  return HK_OK;
}

HkStatus hk_friction_begin(const HkForceArgs *a, const HkTouchings *found, HkError *error) {
  HkFriction *f = ((HkContacts *)a->state)->friction;
  f->in_step = true;
  return hk_friction_list(a, found, error);
}

/* ---- The end of a step ---- */

/* The anchor after the step, and the work (J) that was dissipated. */
static HkAnchor return_map(const HkFrictionContact *t, const HkFrictionLaw *law, const double z[3],
                           double r, double *work) {
  bool slid = r > law->c;
  HkAnchor anchor = {.key = t->key, .k = t->k, .kind = slid ? HK_ANCHOR_SLID : HK_ANCHOR_STUCK};
  if (law->ipc) {
    *work += hk_friction_secant(law, r) * r * r;
    return anchor;
  }
  for (int q = 0; q < 3; q++) anchor.s[q] = slid ? z[q] * (law->c / r) : z[q];
  *work += t->stored - hk_friction_energy(law, hk_norm(t->s));
  if (slid) *work += law->limit * (r - law->c);
  return anchor;
}

/* Writes the anchors of the contacts of the step, in their order. */
static HkStatus return_all(const HkForceArgs *a, HkError *error) {
  HkContacts *c = a->state;
  HkFriction *f = c->friction;
  f->anchor_count = 0;
  if (f->count == 0) return HK_OK;
  HK_TRY(hk_grow(&c->model->context, &f->anchor, &f->anchor_capacity, f->count, sizeof *f->anchor,
                 "friction", error));
  hk_contacts_aim(c, a->t);
  for (int w = 0; w < c->data->wall_count; w++) {
    const HkCompiledObstacle *o = c->data->walls[w].obstacle;
    if (o) hk_obstacle_pose(o, a->t, f->pose_end[w].R, f->pose_end[w].T);
  }
  HkFrictionPlace end = {a->x, c->obstacle_to, f->pose_end};
  for (int64_t k = 0; k < f->count; k++) {
    const HkFrictionContact *t = &f->contact[k];
    HkFrictionLaw law = hk_friction_law_of(c, t, c->h);
    double z[3], r = hk_friction_stretch(c, t, &end, z);
    f->anchor[f->anchor_count++] = return_map(t, &law, z, r, &f->work);
  }
  return HK_OK;
}

/* Contacts that have ended are forgotten, and new ones are added. The list moves to the end of its
 * array first, from where it is merged. */
static HkStatus merge_found(const HkForceArgs *a, const HkTouchings *found, HkError *error) {
  HkContacts *c = a->state;
  HkFriction *f = c->friction;
  int64_t all = found->pair_count + found->wall_count, count = f->anchor_count, kept = 0;
  if (count + all == 0) return HK_OK;
  HK_TRY(hk_grow(&c->model->context, &f->anchor, &f->anchor_capacity, count + all,
                 sizeof *f->anchor, "friction", error));
  HkAnchor *old = f->anchor + all;
  if (count) memmove(old, f->anchor, (size_t)count * sizeof *old);
  for (int64_t k = 0, at = 0; k < all || at < count;) {
    Touch touch;
    if (k < all && !touch_at(c, a->x, found, k, &touch)) {
      k++;
    } else if (k < all && (at == count || touch.contact.key <= old[at].key)) {
      HkAnchor anchor = {.key = touch.contact.key, .k = touch.contact.k, .kind = HK_ANCHOR_NEW};
      if (at < count && touch.contact.key == old[at].key) anchor = old[at++];
      anchor.lambda = touch.lambda;
      f->anchor[kept++] = anchor;
      k++;
    } else {
      f->work += stored_in(&old[at++]);
    }
  }
  f->anchor_count = kept;
  return HK_OK;
}

HkStatus hk_friction_end(const HkForceArgs *a, const HkTouchings *found, HkError *error) {
  HkContacts *c = a->state;
  HkFriction *f = c->friction;
  f->work += f->lost;
  f->lost = 0;
  HK_TRY(return_all(a, error));
  f->in_step = f->has_start = false;
  return c->data->has_friction || f->anchor_count > 0 ? merge_found(a, found, error) : HK_OK;
}
