/* The record of contacts where impulses correct steps (impulse.h), and the forces on vertices.
 *
 *     F = (normal n + across) / h      on the first feature (N), the mean over the step
 *     f_a = w_a F                      on vertex a
 *
 * n and w are those of the impulse, of the place where the two meet in the step; the gap is that of
 * the state. A contact is in the record if its gap is below ghat or if it has had an impulse. So
 * the momentum that contact has given to a vertex in the step is h times the force on it.
 *
 * What an obstacle exerts on bodies is the sum of f_a and of x_a x f_a over the vertices a of the
 * model in its contacts.
 *
 * The filter cuts vertices, not pairs: what it takes from the momentum of a vertex is a part of the
 * force on that vertex, and of no contact. If the contact with the least gap of all contacts of the
 * vertex is one with an obstacle, the obstacle has taken it. Between two bodies it is lost.
 */
#include "base/vec.h"
#include "contact/friction.h"
#include "contact/impulse.h"
#include "contact/record.h"

#include <string.h>

static const uint64_t WALL_KEY = (uint64_t)1 << 63;

/* ---- Forces on vertices ---- */

/* The vertices of a contact; one at a wall has one. Returns how many are the first feature's. */
static int vertices_of(const HkContacts *c, uint64_t key, int32_t v[4]) {
  if (!(key & WALL_KEY)) return hk_contact_vertices(&c->data->features, key, v);
  for (int a = 0; a < 4; a++) v[a] = a == 0 ? (int32_t)(key & 0xffffffff) : -1;
  return 1;
}

static void force_of(const HkContactImpulse *impulse, double h, double F[3]) {
  for (int q = 0; q < 3; q++) F[q] = (impulse->normal * impulse->n[q] + impulse->across[q]) / h;
}

void hk_impulses_add_forces(const HkContacts *c, double *f) {
  const HkImpulses *im = c->impulses;
  int64_t n = c->data->features.n;
  for (int64_t k = 0; k < im->acted_count; k++) {
    const HkContactImpulse *impulse = &im->acted[k];
    int32_t v[4];
    double F[3];
    vertices_of(c, impulse->key, v);
    force_of(impulse, im->h, F);
    for (int a = 0; a < 4; a++)
      if (v[a] >= 0 && v[a] < n) hk_axpy(impulse->w[a], F, f + 3 * (int64_t)v[a]);
  }
  for (int64_t q = 0; q < 3 * n; q++) f[q] += im->stopped[q] / im->h;
}

/* ---- Contacts ---- */

/* A contact, with or without an impulse. */
typedef struct Place {
  uint64_t key;
  int32_t vertex[4];
  int split;
  double w[4], n[3], gap;
} Place;

static Place place_of_pair(const HkTouching *t) {
  Place p = {.key = t->key, .split = t->split, .gap = t->touch.g};
  memcpy(p.vertex, t->vertex, sizeof p.vertex);
  memcpy(p.w, t->touch.w, sizeof p.w);
  memcpy(p.n, t->touch.n, sizeof p.n);
  return p;
}

static Place place_of_wall(const HkWallTouching *t) {
  Place p = {.key = hk_anchor_wall_key(t->wall, t->vertex),
             .vertex = {t->vertex, -1, -1, -1},
             .split = 1,
             .w = {1},
             .gap = t->g};
  memcpy(p.n, t->n, sizeof p.n);
  return p;
}

static Place place_of_impulse(const HkContacts *c, const double *x, const HkContactImpulse *i) {
  Place p = {.key = i->key};
  p.split = vertices_of(c, i->key, p.vertex);
  memcpy(p.w, i->w, sizeof p.w);
  memcpy(p.n, i->n, sizeof p.n);
  if (i->key & WALL_KEY) {
    int wall = (int)(i->key >> 32 & 0x7fffffff);
    int64_t v = p.vertex[0];
    double n[3];
    p.gap = hk_contacts_wall(c, wall, &c->pose[wall], x + 3 * v, n, NULL) - c->data->radius[v];
  } else {
    HkContactPair pair;
    hk_contacts_pair(c, x, p.vertex, p.split, &pair);
    p.gap = hk_pair_touch(&pair).g;
  }
  return p;
}

/* The middle of the gap. */
static void set_point(const HkContacts *c, const double *x, const Place *p, double point[3]) {
  const double *radius = c->data->radius;
  memset(point, 0, 3 * sizeof *point);
  if (p->key & WALL_KEY) {
    hk_axpy(1, x + 3 * (int64_t)p->vertex[0], point);
    hk_axpy(-radius[p->vertex[0]] - 0.5 * p->gap, p->n, point);
    return;
  }
  for (int a = 0; a < 4; a++)
    hk_axpy(0.5 * (a < p->split ? p->w[a] : -p->w[a]), hk_contacts_position(c, x, p->vertex[a]),
            point);
  hk_axpy(0.5 * (radius[p->vertex[3]] - radius[p->vertex[0]]), p->n, point);
}

/* Adds the force F on the first feature to what an obstacle or the ground exerts. */
static void add_reaction(const HkForceArgs *a, const Place *p, const double F[3],
                         HkContactReaction *reaction) {
  for (int k = 0; k < 4; k++) {
    if (p->vertex[k] < 0 || p->vertex[k] >= a->model->n) continue;
    double f[3] = {0, 0, 0};
    hk_axpy(p->w[k], F, f);
    hk_contact_reaction_add(reaction, a->x + 3 * (int64_t)p->vertex[k], f);
  }
}

/* impulse: NULL if the contact has none. */
static HkStatus record_place(const HkForceArgs *a, const Place *p, const HkContactImpulse *impulse,
                             HkContactRecord *r, HkError *error) {
  const HkContacts *c = a->state;
  const HkModel *m = a->model;
  bool is_wall = p->key & WALL_KEY;
  HkContact contact = {.split = p->split, .gap = p->gap};
  contact.side[0] = hk_contact_side_of(m, p->vertex[0]);
  contact.side[1] = is_wall ? hk_contact_side_of_wall(c, (int32_t)(p->key >> 32 & 0x7fffffff))
                            : hk_contact_side_of(m, p->vertex[3]);
  memcpy(contact.weight, p->w, sizeof contact.weight);
  memcpy(contact.normal, p->n, sizeof contact.normal);
  for (int k = 0; k < 4; k++) contact.vertex[k] = p->vertex[k] < m->n ? p->vertex[k] : -1;
  set_point(c, a->x, p, contact.point);
  if (impulse) {
    double F[3], h = c->impulses->h;
    contact.normal_force = impulse->normal / h;
    for (int q = 0; q < 3; q++) contact.friction[q] = impulse->across[q] / h;
    force_of(impulse, h, F);
    for (int s = 0; s < 2; s++)
      if (contact.side[s].kind != HK_CONTACT_BODY)
        add_reaction(a, p, F, hk_contact_reaction(r, contact.side[s]));
  }
  if (contact.side[0].kind != HK_CONTACT_BODY) hk_contact_turn(&contact);
  return hk_contact_record_append(m, r, &contact, error);
}

/* ---- What the filter has taken ---- */

/* Gives what the filter has taken from a vertex to the obstacle that it has the least gap to, of
 * the contacts from `first` on. */
static void add_stopped(const HkForceArgs *a, int64_t first, HkContactRecord *r) {
  const HkContacts *c = a->state;
  const HkImpulses *im = c->impulses;
  double *nearest = im->at; /* scratch, 3 a vertex: gap (m) and number of a contact */
  for (int64_t v = 0; v < a->model->n; v++) nearest[3 * v] = INFINITY;
  for (int64_t k = first; k < r->view.count; k++)
    for (int e = 0; e < 4; e++) {
      int64_t v = r->contact[k].vertex[e];
      if (v < 0 || !(r->contact[k].gap < nearest[3 * v])) continue;
      nearest[3 * v] = r->contact[k].gap;
      nearest[3 * v + 1] = (double)k;
    }
  for (int64_t v = 0; v < a->model->n; v++) {
    const double *stopped = im->stopped + 3 * v;
    if (isinf(nearest[3 * v]) || hk_dot(stopped, stopped) == 0) continue;
    HkContactSide side = r->contact[(int64_t)nearest[3 * v + 1]].side[1];
    double f[3] = {0, 0, 0};
    hk_axpy(1 / im->h, stopped, f);
    if (side.kind != HK_CONTACT_BODY)
      hk_contact_reaction_add(hk_contact_reaction(r, side), a->x + 3 * v, f);
  }
}

/* ---- The record ---- */

HkStatus hk_contacts_record_impulses(const HkForceArgs *a, const HkTouchings *t, bool is_end,
                                     HkContactRecord *r, HkError *error) {
  const HkContacts *c = a->state;
  const HkImpulses *im = c->impulses;
  int64_t touching = t->pair_count + t->wall_count, acted = is_end ? im->acted_count : 0;
  int64_t first = r->view.count;
  for (int64_t i = 0, j = 0; i < touching || j < acted;) {
    const HkContactImpulse *impulse = j < acted ? &im->acted[j] : NULL;
    Place place = {.key = UINT64_MAX};
    if (i < touching)
      place = i < t->pair_count ? place_of_pair(&t->pair[i])
                                : place_of_wall(&t->wall[i - t->pair_count]);
    i += !impulse || place.key <= impulse->key;
    if (impulse && impulse->key <= place.key)
      place = place_of_impulse(c, a->x, &im->acted[j++]);
    else
      impulse = NULL;
    HK_TRY(record_place(a, &place, impulse, r, error));
  }
  if (is_end) add_stopped(a, first, r);
  r->view.friction_work += hk_friction_work(c);
  r->view.searches += c->searches;
  return HK_OK;
}
