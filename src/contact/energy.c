/* Energy, force and Hessian of contact; the formulas are in contact.c and pair.h. */
#include "contact/energy.h"

#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/friction.h"

enum { TERM_GRAIN = 256 };

/* ---- Energy and force ---- */

double hk_contact_energy(const HkForceArgs *a) {
  if (a->work.corrects) return 0;
  const HkTouchings *t = hk_contacts_find(a->state, a->work.springs, a->x);
  double sum = 0;
  if (!t) return NAN;
  for (int64_t k = 0; k < t->pair_count; k++) sum += t->pair[k].energy;
  for (int64_t k = 0; k < t->wall_count; k++) sum += t->wall[k].energy;
  return sum + hk_friction_energy_at(a);
}

static int compare_walls(const HkWallTouching *a, const HkWallTouching *b) {
  if (a->wall != b->wall) return a->wall < b->wall ? -1 : 1;
  return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

static HkContactPair pair_of(const HkContacts *c, const double *x, const HkTouching *t) {
  HkContactPair pair = {.k = t->k, .c0 = t->c0, .flat = t->flat};
  hk_contacts_pair(c, x, t->vertex, t->split, &pair);
  return pair;
}

/* The change of a pair that touches at both places. */
static double pair_change(const HkContacts *c, const double *x, const HkTouching *s,
                          const double *to, const HkTouching *t) {
  HkContactPair before = pair_of(c, x, s), after = pair_of(c, to, t);
  return hk_pair_energy_change(&before, &s->touch, &after, &t->touch);
}

static double wall_change(const HkContacts *c, const double *x, const HkWallTouching *s,
                          const double *to, const HkWallTouching *t) {
  double ghat = c->data->ghat, d = t->g - s->g, move[3];
  if (c->data->walls[s->wall].flat) {
    hk_sub(to + 3 * (int64_t)s->vertex, x + 3 * (int64_t)s->vertex, move);
    d = hk_dot(s->n, move);
  }
  return s->k * ghat * ghat * hk_barrier_change(s->g / ghat, d / ghat);
}

/* A sum over pairs that touch at x, at `to`, or at both. */
typedef struct Changes {
  const HkContacts *c;
  const double *x, *to;
  const HkTouchings *s, *t;
} Changes;

/* The first pair at x with a key that is not smaller. */
static int64_t find_pair(const HkTouchings *s, uint64_t key) {
  int64_t low = 0, high = s->pair_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (s->pair[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Entry j stands for pair j at `to` and for the pairs at x between it and the one before it; one
 * more entry, for those after the last. */
static double pair_changes(void *user, int64_t begin, int64_t end) {
  const Changes *a = user;
  const HkTouchings *s = a->s, *t = a->t;
  int64_t i = begin > 0 ? find_pair(s, t->pair[begin - 1].key + 1) : 0;
  double sum = 0;
  for (int64_t j = begin; j < end; j++) {
    bool last = j == t->pair_count;
    uint64_t at = last ? UINT64_MAX : t->pair[j].key;
    for (; i < s->pair_count && s->pair[i].key < at; i++) sum -= s->pair[i].energy;
    if (last) break;
    if (i < s->pair_count && s->pair[i].key == at)
      sum += pair_change(a->c, a->x, &s->pair[i++], a->to, &t->pair[j]);
    else
      sum += t->pair[j].energy;
  }
  return sum;
}

static double wall_changes(const Changes *a) {
  const HkTouchings *s = a->s, *t = a->t;
  double sum = 0;
  for (int64_t i = 0, j = 0; i < s->wall_count || j < t->wall_count;) {
    int order = i == s->wall_count   ? 1
                : j == t->wall_count ? -1
                                     : compare_walls(&s->wall[i], &t->wall[j]);
    if (order == 0)
      sum += wall_change(a->c, a->x, &s->wall[i++], a->to, &t->wall[j++]);
    else
      sum += order < 0 ? -s->wall[i++].energy : t->wall[j++].energy;
  }
  return sum;
}

/* Pair by pair: what touches at both places changes little. */
double hk_contact_energy_change(const HkForceArgs *a, const double *to) {
  if (a->work.corrects) return 0;
  HkContacts *c = a->state;
  const HkTouchings *s = hk_contacts_find(c, a->work.springs, a->x);
  const HkTouchings *t = s ? hk_contacts_find(c, a->work.springs, to) : NULL;
  if (s && t && !s->known) { /* a search for `to` has found other candidates */
    if (hk_contacts_cover(c, a->x, to) < 0) return NAN;
    s = hk_contacts_find(c, a->work.springs, a->x);
    t = s ? hk_contacts_find(c, a->work.springs, to) : NULL;
  }
  if (!s || !t) return NAN;
  Changes all = {c, a->x, to, s, t};
  int64_t count = t->pair_count + 1, sums = (count + TERM_GRAIN - 1) / TERM_GRAIN;
  HkStatus status =
      hk_grow(&c->model->context, &c->sums, &c->sums_count, sums, sizeof *c->sums, "contact", NULL);
  if (status < 0) {
    c->status = status;
    return NAN;
  }
  double pairs =
      hk_parallel_work_sum(a->model->threads, count, TERM_GRAIN, pair_changes, &all, c->sums);
  return pairs + wall_changes(&all) + hk_friction_energy_change(a, to);
}

/* f -= the gradient of a pair. */
static void add_pair(const HkForceArgs *a, const HkTouching *t, double *f) {
  int64_t n = a->model->n;
  if (!t->turns) {
    for (int v = 0; v < 4; v++)
      if (t->vertex[v] < n)
        hk_axpy(-t->slope * t->touch.w[v], t->touch.n, f + 3 * (int64_t)t->vertex[v]);
    return;
  }
  HkContactPair pair = pair_of(a->state, a->x, t);
  double G[12];
  hk_pair_gradient(&pair, &t->touch, G);
  for (int v = 0; v < 4; v++)
    if (t->vertex[v] < n) hk_axpy(-1, G + 3 * v, f + 3 * (int64_t)t->vertex[v]);
}

void hk_contact_add(const HkForceArgs *a, double *f) {
  if (a->work.corrects) return;
  HkContacts *c = a->state;
  const HkTouchings *t = hk_contacts_find(c, a->work.springs, a->x);
  double ghat = c->data->ghat;
  if (!t) return;
  for (int64_t k = 0; k < t->pair_count; k++) add_pair(a, &t->pair[k], f);
  for (int64_t k = 0; k < t->wall_count; k++) {
    const HkWallTouching *w = &t->wall[k];
    hk_axpy(-w->k * ghat * hk_barrier_slope(w->g / ghat), w->n, f + 3 * (int64_t)w->vertex);
  }
  hk_friction_add(a, f);
}

/* ---- Hessian ---- */

/* Sets the vertices of a term; those of obstacles have no part in it. */
static void set_vertices(const HkContacts *c, const HkTouching *t, HkWeightedTerm *term) {
  int32_t any = 0;
  for (int a = 0; a < 4; a++)
    if (t->vertex[a] < c->data->features.n) any = t->vertex[a];
  for (int a = 0; a < 4; a++) {
    bool own = t->vertex[a] < c->data->features.n;
    term->vertex[a] = own ? t->vertex[a] : any;
    term->weight[a] = own ? t->touch.w[a] : 0;
  }
}

/* curvature: NULL for the projected Hessian. */
static void set_term(const HkForceArgs *a, const HkTouching *t, HkWeightedTerm *term,
                     HkWeightedCurvature *curvature) {
  const HkContacts *c = a->state;
  HkContactPair pair = pair_of(c, a->x, t);
  set_vertices(c, t, term);
  if (!curvature) {
    hk_pair_term(&pair, &t->touch, term->K, NULL, NULL);
    return;
  }
  hk_pair_term(&pair, &t->touch, term->K, &curvature->across, curvature->q);
  for (int k = 0; k < 24; k++)
    if (term->weight[k % 12 / 3] == 0) curvature->q[k / 12][k % 12] = 0;
}

static void set_wall_term(const HkWallTouching *t, double ghat, HkWeightedTerm *term,
                          HkWeightedCurvature *curvature) {
  double stiffness = t->k * hk_barrier_curvature(t->g / ghat);
  for (int i = 0, at = 0; i < 3; i++)
    for (int j = i; j < 3; j++) term->K[at++] = stiffness * t->n[i] * t->n[j];
  for (int a = 0; a < 4; a++) {
    term->vertex[a] = t->vertex;
    term->weight[a] = a == 0;
  }
  if (curvature) *curvature = (HkWeightedCurvature){0};
}

typedef struct Terms {
  const HkForceArgs *a;
  const HkTouchings *found;
  HkWeightedTerm *term;
  HkWeightedCurvature *curvature;
} Terms;

/* Term k is that of pair k, and walls follow. */
static void set_any_term(const HkForceArgs *a, const HkTouchings *t, int64_t k,
                         HkWeightedTerm *term, HkWeightedCurvature *curvature) {
  double ghat = ((const HkContacts *)a->state)->data->ghat;
  if (k < t->pair_count)
    set_term(a, &t->pair[k], term, curvature);
  else
    set_wall_term(&t->wall[k - t->pair_count], ghat, term, curvature);
}

static void term_range(void *user, int64_t begin, int64_t end) {
  const Terms *all = user;
  for (int64_t k = begin; k < end; k++)
    set_any_term(all->a, all->found, k, &all->term[k], all->curvature ? &all->curvature[k] : NULL);
}

/* Whether the projected Hessian may have to hold a pair that rolls: its radii are large against the
 * edges of bodies. */
static bool may_roll(const HkContactData *d, const HkTouching *t) {
  const double LEAST = 0.05;
  double distance = t->touch.g + d->radius[t->vertex[0]] + d->radius[t->vertex[3]];
  return distance * d->ghat > LEAST * d->edge * d->edge;
}

/* What the Hessian of a pair has besides its term, block by block. */
static void add_rest(const HkForceArgs *a, const HkTouching *t, HkJacobianSink *sink) {
  bool exact = a->curvature == HK_CURVATURE_TRUE;
  if (!t->turns && (exact || !may_roll(((const HkContacts *)a->state)->data, t))) return;
  HkContactPair pair = pair_of(a->state, a->x, t);
  double H[144], block[9];
  bool any =
      exact ? hk_pair_turning(&pair, &t->touch, H) : hk_pair_projected_rest(&pair, &t->touch, H);
  if (!any) return;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      if (t->vertex[i] >= a->model->n || t->vertex[j] >= a->model->n) continue;
      for (int q = 0; q < 9; q++) block[q] = -H[(3 * i + q / 3) * 12 + 3 * j + q % 3];
      sink->dfdx(sink, t->vertex[i], t->vertex[j], block);
    }
}

/* The curvature of a wall. */
static void add_wall_block(const HkForceArgs *a, const HkWallTouching *t, HkJacobianSink *sink) {
  const HkContacts *c = a->state;
  double ghat = c->data->ghat, block[9], n[3], H[9];
  double push = t->k * ghat * hk_barrier_slope(t->g / ghat);
  hk_contacts_wall(c, t->wall, &c->pose[t->wall], a->x + 3 * (int64_t)t->vertex, n, H);
  for (int q = 0; q < 9; q++) block[q] = -push * H[q];
  sink->dfdx(sink, t->vertex, t->vertex, block);
}

/* Into a sink that takes no terms. */
static void expand_terms(const Terms *all, HkJacobianSink *sink) {
  const HkTouchings *t = all->found;
  bool curved = all->a->curvature == HK_CURVATURE_TRUE;
  for (int64_t k = 0; k < t->pair_count + t->wall_count; k++) {
    HkWeightedTerm term;
    HkWeightedCurvature curvature;
    set_any_term(all->a, t, k, &term, curved ? &curvature : NULL);
    hk_jacobian_expand(sink, &term, curved ? &curvature : NULL);
  }
}

void hk_contact_jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  const HkContacts *c = a->state;
  if (a->work.corrects) return;
  const HkTouchings *t = hk_contacts_find(a->state, a->work.springs, a->x);
  bool curved = a->curvature == HK_CURVATURE_TRUE;
  if (!t) return;
  int64_t count = t->pair_count + t->wall_count;
  Terms all = {.a = a, .found = t};
  if (sink->terms && count > 0) {
    all.term = sink->terms(sink, count, curved, &all.curvature);
    if (!all.term) return;
    hk_parallel_work(a->model->threads, count, TERM_GRAIN, term_range, &all);
  } else {
    expand_terms(&all, sink);
  }
  for (int64_t k = 0; k < t->pair_count; k++) add_rest(a, &t->pair[k], sink);
  for (int64_t k = 0; k < t->wall_count && curved; k++)
    if (!c->data->walls[t->wall[k].wall].flat) add_wall_block(a, &t->wall[k], sink);
  hk_friction_jacobian(a, sink);
}
