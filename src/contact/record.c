/* The record of the contacts of a state; see record.h.
 *
 *     F = normal_force n + friction        on side 0 of a contact (N), -F on side 1
 *     normal_force = -k ghat mu f'(g / ghat)
 *     p = sum over side 0 of w x, q = -sum over side 1 of w x, p - q = d n     (pair.h)
 *     point = q + (r_1 + g / 2) n          r_1 the radius of side 1: in the middle of the gap
 *
 * Resultants on obstacles are sums over vertices, f and x x f about the origin: what the vertices
 * of a pair get from its energy, mollifier included, and the reverse of what a vertex gets at a
 * wall. So forces and torques on bodies, obstacles and ground add up to 0 to rounding.
 *
 * Friction is that with which the next step begins: the anchors of the step that ended, in the
 * tangent planes of the contacts as they are now. At rest it is the friction that holds. The law
 * `ipc` has friction within a step alone.
 *
 * Sides are named by their vertices. A pair whose first feature belongs to an obstacle is turned
 * around: side 0 is a body.
 */
#include "contact/record.h"

#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/friction.h"

#include <string.h>

/* ---- Memory ---- */

HkStatus hk_contact_record_begin(const HkModel *m, HkContactRecord *r, HkError *error) {
  const HkContext *c = &m->context;
  if (!r->force) HK_TRY(hk_alloc(c, &r->force, 3 * m->n, sizeof *r->force, "contacts", error));
  if (!r->obstacle)
    HK_TRY(hk_alloc(c, &r->obstacle, m->obstacle_count, sizeof *r->obstacle, "contacts", error));
  memset(r->force, 0, 3 * (size_t)m->n * sizeof *r->force);
  if (m->obstacle_count) memset(r->obstacle, 0, (size_t)m->obstacle_count * sizeof *r->obstacle);
  r->view = (HkContactView){.least_gap = INFINITY,
                            .force = r->force,
                            .obstacle = r->obstacle,
                            .obstacle_count = m->obstacle_count};
  return HK_OK;
}

void hk_contact_record_release(const HkModel *m, HkContactRecord *r) {
  hk_free(&m->context, &r->contact);
  hk_free(&m->context, &r->force);
  hk_free(&m->context, &r->obstacle);
  *r = (HkContactRecord){0};
}

size_t hk_contact_record_bytes(const HkModel *m, const HkContactRecord *r) {
  size_t bytes = (size_t)r->capacity * sizeof *r->contact;
  if (r->force) bytes += 3 * (size_t)m->n * sizeof *r->force;
  if (r->obstacle) bytes += (size_t)m->obstacle_count * sizeof *r->obstacle;
  return bytes;
}

HkStatus hk_contact_record_append(const HkModel *m, HkContactRecord *r, const HkContact *contact,
                                  HkError *error) {
  HK_TRY(hk_grow(&m->context, &r->contact, &r->capacity, r->view.count + 1, sizeof *r->contact,
                 "contacts", error));
  r->contact[r->view.count++] = *contact;
  r->view.contact = r->contact;
  r->view.energy += contact->energy;
  if (contact->gap < r->view.least_gap) r->view.least_gap = contact->gap;
  return HK_OK;
}

/* ---- Sides ---- */

/* The last body that begins at vertex v or before. */
static int32_t body_of(const HkModel *m, int32_t v) {
  int32_t low = 0, high = m->body_count;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (m->bodies[middle].first <= v)
      low = middle;
    else
      high = middle;
  }
  return low;
}

HkContactSide hk_contact_side_of(const HkModel *m, int32_t v) {
  if (v < m->n) return (HkContactSide){HK_CONTACT_BODY, body_of(m, v)};
  int64_t at = v - m->n;
  int32_t k = 0;
  while (at >= m->obstacles[k].features.vertex_count) at -= m->obstacles[k++].features.vertex_count;
  return (HkContactSide){HK_CONTACT_OBSTACLE, k};
}

HkContactReaction *hk_contact_reaction(HkContactRecord *r, HkContactSide side) {
  return side.kind == HK_CONTACT_GROUND ? &r->view.ground : &r->obstacle[side.index];
}

void hk_contact_reaction_add(HkContactReaction *reaction, const double x[3], const double f[3]) {
  double torque[3];
  hk_cross(x, f, torque);
  hk_axpy(1, f, reaction->force);
  hk_axpy(1, torque, reaction->torque);
}

/* ---- Friction ---- */

/* Goes along the list of contacts with friction, which is sorted by key as touchings are. */
typedef struct Cursor {
  const HkForceArgs *a;
  int64_t at, count;
} Cursor;

/* The friction (N) on the first feature; 0 if the contact has none. */
static void friction_of(Cursor *cursor, uint64_t key, double F[3]) {
  const HkFrictionContact *list = ((const HkContacts *)cursor->a->state)->friction->contact;
  F[0] = F[1] = F[2] = 0;
  while (cursor->at < cursor->count && list[cursor->at].key < key) cursor->at++;
  if (cursor->at < cursor->count && list[cursor->at].key == key)
    hk_friction_force(cursor->a, cursor->at, F);
}

/* ---- Pairs ---- */

void hk_contact_turn(HkContact *contact) {
  HkContact from = *contact;
  for (int a = 0; a < 4; a++) {
    contact->vertex[a] = from.vertex[(a + from.split) % 4];
    contact->weight[a] = -from.weight[(a + from.split) % 4];
  }
  contact->split = 4 - from.split;
  contact->side[0] = from.side[1];
  contact->side[1] = from.side[0];
  for (int c = 0; c < 3; c++) {
    contact->normal[c] = -from.normal[c];
    contact->friction[c] = -from.friction[c];
  }
}

/* The middle of the gap. Where the two are thinner than xi, the rest counts half for each. */
static void set_point(const HkContacts *c, const HkTouching *t, const HkContactPair *pair,
                      double point[3]) {
  double r0 = c->data->radius[t->vertex[0]], r1 = c->data->radius[t->vertex[3]];
  double along = r1 + 0.5 * (pair->xi - r0 - r1) + 0.5 * t->touch.g;
  memset(point, 0, 3 * sizeof *point);
  for (int a = t->split; a < 4; a++) hk_axpy(-t->touch.w[a], pair->x + 3 * a, point);
  hk_axpy(along, t->touch.n, point);
}

/* Of a point over a flat part (flat.h), whose force several touches share, the normal is the
 * direction of the force G, and the point lies on its line. */
static void set_flat(const HkContacts *c, const HkTouching *t, const HkContactPair *pair,
                     const double G[3], HkContact *contact) {
  double force = hk_norm(G), r0 = c->data->radius[t->vertex[0]], r1 = c->data->radius[t->vertex[3]];
  for (int q = 0; q < 3 && force > 0; q++) contact->normal[q] = -G[q] / force;
  memcpy(contact->point, pair->x, sizeof contact->point);
  hk_axpy(-r0 - 0.5 * (pair->xi - r0 - r1) - 0.5 * t->touch.g, contact->normal, contact->point);
}

static HkStatus record_pair(Cursor *cursor, const HkTouching *t, HkContactRecord *r,
                            HkError *error) {
  const HkContacts *c = cursor->a->state;
  const HkModel *m = c->model;
  HkContactPair pair = {.k = t->k, .c0 = t->c0, .flat = t->flat};
  HkContact contact = {.split = t->split, .gap = t->touch.g, .energy = t->energy};
  double G[12];
  hk_contacts_pair(c, cursor->a->x, t->vertex, t->split, &pair);
  hk_pair_gradient(&pair, &t->touch, G);
  contact.side[0] = hk_contact_side_of(m, t->vertex[0]);
  contact.side[1] = hk_contact_side_of(m, t->vertex[3]);
  memcpy(contact.weight, t->touch.w, sizeof contact.weight);
  memcpy(contact.normal, t->touch.n, sizeof contact.normal);
  set_point(c, t, &pair, contact.point);
  if (t->flat.edges) set_flat(c, t, &pair, G, &contact);
  friction_of(cursor, t->key, contact.friction);
  for (int a = 0; a < 4; a++) {
    bool free = t->vertex[a] < m->n;
    contact.vertex[a] = free ? t->vertex[a] : -1;
    if (a < t->split) contact.normal_force -= hk_dot(G + 3 * a, contact.normal);
    hk_axpy(-t->touch.w[a], contact.friction, G + 3 * a);
    if (!free)
      hk_contact_reaction_add(hk_contact_reaction(r, contact.side[a >= t->split]), pair.x + 3 * a,
                              G + 3 * a);
  }
  if (contact.side[0].kind != HK_CONTACT_BODY) hk_contact_turn(&contact);
  return hk_contact_record_append(m, r, &contact, error);
}

/* ---- Walls ---- */

HkContactSide hk_contact_side_of_wall(const HkContacts *c, int32_t wall) {
  const HkCompiledObstacle *o = c->data->walls[wall].obstacle;
  if (!o) return (HkContactSide){.kind = HK_CONTACT_GROUND};
  return (HkContactSide){HK_CONTACT_OBSTACLE, (int32_t)(o - c->model->obstacles)};
}

static HkStatus record_wall(Cursor *cursor, const HkWallTouching *t, HkContactRecord *r,
                            HkError *error) {
  const HkContacts *c = cursor->a->state;
  double ghat = c->data->ghat, f[3] = {0, 0, 0};
  const double *at = cursor->a->x + 3 * (int64_t)t->vertex;
  HkContact contact = {.vertex = {t->vertex, -1, -1, -1},
                       .split = 1,
                       .weight = {1},
                       .gap = t->g,
                       .normal_force = -t->k * ghat * hk_barrier_slope(t->g / ghat),
                       .energy = t->energy};
  contact.side[0] = hk_contact_side_of(c->model, t->vertex);
  contact.side[1] = hk_contact_side_of_wall(c, t->wall);
  memcpy(contact.normal, t->n, sizeof contact.normal);
  memcpy(contact.point, at, sizeof contact.point);
  hk_axpy(-(c->data->radius[t->vertex] + 0.5 * t->g), t->n, contact.point);
  friction_of(cursor, hk_anchor_wall_key(t->wall, t->vertex), contact.friction);
  hk_axpy(contact.normal_force, t->n, f);
  hk_axpy(1, contact.friction, f);
  hk_contact_reaction_add(hk_contact_reaction(r, contact.side[1]), at, f);
  return hk_contact_record_append(c->model, r, &contact, error);
}

HkStatus hk_contacts_record(const HkForceArgs *a, const HkTouchings *t, HkContactRecord *r,
                            HkError *error) {
  const HkContacts *c = a->state;
  Cursor cursor = {.a = a, .count = hk_friction_count(a)};
  for (int64_t k = 0; k < t->pair_count; k++) HK_TRY(record_pair(&cursor, &t->pair[k], r, error));
  for (int64_t k = 0; k < t->wall_count; k++) HK_TRY(record_wall(&cursor, &t->wall[k], r, error));
  r->view.energy += hk_friction_energy_at(a);
  r->view.friction_work += hk_friction_work(c);
  r->view.searches += c->searches;
  return HK_OK;
}
