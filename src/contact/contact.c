/* Contact: bodies and obstacles that come close push each other apart, and never pass through each
 * other.
 *
 *     E = sum over pairs of features k ghat^2 mu f(g / ghat)      (pair.h)
 *       + sum over vertices at walls k ghat^2 f(g / ghat)
 *       + sum over contacts D(|z|)                             (friction.h)
 *
 * f grows without bound as the gap g closes, and the filter (filter.c) shortens every move that
 * would close it: a state without intersections stays without. Gaps are measured from surfaces with
 * the thickness of the bodies.
 *
 * That is contact as integrators see it that minimize. Steps of all others are made without it, and
 * contact corrects them by impulses (correct.c).
 */
#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/friction.h"
#include "contact/impulse.h"
#include "contact/record.h"
#include "contact/untangle.h"

#include <string.h>

enum { TERM_GRAIN = 256 };

static const HkParam params[] = {
    HK_NUMBER(HkContactParams, distance, "m", 1e-3, 1e-12, HK_MAX,
              "gap from which on things push each other apart"),
    HK_NUMBER(HkContactParams, thickness, "m", 1e-3, 0, HK_MAX,
              "of bodies: their surfaces lie half of it around faces, edges and points"),
    HK_BOOLEAN(HkContactParams, self, 1, "bodies touch themselves, too"),
    HK_BOOLEAN(HkContactParams, ground, 0, "there is a ground at the height given"),
    HK_NUMBER(HkContactParams, height, "m", 0, -HK_MAX, HK_MAX, "of the ground"),
    HK_NUMBER(HkContactParams, friction, "1", 0, 0, HK_MAX,
              "coefficient of friction of what rests"),
    HK_NUMBER(HkContactParams, friction_kinetic, "1", NAN, 0, HK_MAX,
              "coefficient of friction of what slides; as friction if not given"),
    HK_BOOLEAN(HkContactParams, untangle, 0,
               "what intersects at the start, or is nearer than its thickness, is moved apart; "
               "false: it is refused"),
    HK_CHOICE(HkContactParams, friction_law, HK_FRICTION_ANCHOR, "anchor|ipc",
              "anchor: what rests stays where it is; ipc: smoothed law, which creeps"),
    HK_NUMBER(HkContactParams, friction_speed, "m/s", 1e-3, 1e-12, HK_MAX,
              "of the law ipc: speed from which on friction has its full force"),
    HK_NUMBER(HkContactParams, restitution, "1", 0, 0, 1,
              "speed after an impact over the speed before; for explicit integrators, the others "
              "refuse it above 0"),
};

/* ---- Compiling ---- */

static HkStatus set_walls(const HkModel *m, const HkContactParams *p, HkContactData *d,
                          HkError *error) {
  int most = m->obstacle_count + 1;
  HK_TRY(hk_alloc(&m->context, &d->walls, most, sizeof *d->walls, "contact", error));
  for (int k = 0; k < m->obstacle_count; k++)
    if (m->obstacles[k].type->distance && m->obstacles[k].contact)
      d->walls[d->wall_count++] = (HkWall){.obstacle = &m->obstacles[k],
                                           .group = m->body_count + k,
                                           .flat = m->obstacles[k].type->flat};
  if (!p->ground) return HK_OK;
  HkWall *ground = &d->walls[d->wall_count++];
  hk_model_up(m, ground->normal);
  ground->offset = p->height;
  ground->group = m->body_count + m->obstacle_count;
  ground->flat = true;
  return HK_OK;
}

static HkStatus set_radii(const HkModel *m, HkContactData *d, HkError *error) {
  const HkFeatures *f = &d->features;
  HK_TRY(hk_alloc(&m->context, &d->radius, f->vertex_count, sizeof *d->radius, "contact", error));
  HK_TRY(hk_alloc(&m->context, &d->group, m->n, sizeof *d->group, "contact", error));
  for (int b = 0; b < m->body_count; b++)
    for (int64_t v = 0; v < m->bodies[b].count; v++) {
      d->radius[m->bodies[b].first + v] = f->radius[b];
      d->group[m->bodies[b].first + v] = b;
    }
  int64_t at = m->n;
  for (int k = 0; k < m->obstacle_count; k++)
    for (int32_t v = 0; v < m->obstacles[k].features.vertex_count; v++)
      d->radius[at++] = f->radius[m->body_count + k];
  return HK_OK;
}

/* Coordinates must resolve a gap, and what the filter leaves of it. */
static HkStatus check_distance(const HkModel *m, HkContactData *d, HkError *error) {
  const double LEAST = 1e-8;
  double furthest = 0;
  for (int64_t q = 0; q < 3 * m->n; q++) furthest = hk_larger(furthest, fabs(m->x0[q]));
  if (d->ghat >= LEAST * furthest) return HK_OK;
  return hk_fail_key(error, HK_ERROR_INVALID, "distance",
                     "%g m is too small for coordinates of %g m; give at least %g m, or put the "
                     "scene nearer to the origin",
                     d->ghat, furthest, LEAST * furthest);
}

/* The mean length of springs, or the distance if there are none. */
static double mean_edge(const HkModel *m, double distance) {
  double sum = 0;
  for (int64_t s = 0; s < m->springs.count; s++) sum += m->springs.l0[s];
  return sum > 0 ? sum / (double)m->springs.count : 1000 * distance;
}

static void destroy(const HkModel *m, void *data) {
  HkContactData *d = data;
  hk_features_destroy(m, &d->features);
  hk_free(&m->context, &d->walls);
  hk_free(&m->context, &d->radius);
  hk_free(&m->context, &d->group);
  hk_free(&m->context, &d->coefficients);
  hk_free(&m->context, &d->pairs);
  hk_free(&m->context, &d);
}

static HkStatus compile(HkModel *m, const void *chosen, void **data, HkError *error) {
  const HkContactParams *p = chosen;
  HkFeaturesChoice choice = {.thickness = p->thickness, .self = p->self, .distance = p->distance};
  HkContactData *d = NULL;
  if (m->dimension == 2) HK_TRY(hk_model_need_faces(m, error));
  HK_TRY(hk_alloc(&m->context, &d, 1, sizeof *d, "contact", error));
  d->ghat = p->distance;
  d->untangle = p->untangle;
  d->edge = mean_edge(m, p->distance);
  d->friction_speed = p->friction_speed;
  d->friction_ipc = p->friction_law == HK_FRICTION_IPC;
  d->restitution = p->restitution;
  HkStatus status = check_distance(m, d, error);
  if (status >= 0) status = hk_features_create(m, &choice, &d->features, error);
  if (status >= 0) status = hk_contact_check_thickness(m, &d->features, error);
  if (status >= 0) status = set_walls(m, p, d, error);
  if (status >= 0) status = hk_contact_set_friction(m, p, d, error);
  if (status >= 0) status = set_radii(m, d, error);
  if (status < 0) {
    destroy(m, d);
    return status;
  }
  *data = d;
  return HK_OK;
}

static size_t bytes(const void *data) {
  const HkContactData *d = data;
  int64_t obstacle_count = d->features.group_count - d->features.body_count;
  return sizeof *d + d->features.bytes + (size_t)(obstacle_count + 1) * sizeof *d->walls +
         (size_t)d->features.vertex_count * sizeof *d->radius +
         (size_t)d->features.n * sizeof *d->group +
         (size_t)(d->features.group_count + 1) * sizeof *d->coefficients +
         (size_t)d->pair_count * sizeof *d->pairs;
}

/* ---- State ---- */

static HkStatus create_state(const HkModel *m, const void *chosen, const void *data, void **state,
                             HkError *error) {
  HkContacts *c = NULL;
  (void)chosen;
  HK_TRY(hk_contacts_create(m, data, &c, error));
  HkStatus status = hk_friction_create(m, &c->friction, error);
  if (status < 0) hk_contacts_destroy(m, &c);
  *state = c;
  return status;
}

static void destroy_state(const HkModel *m, void *state) {
  HkContacts *c = state;
  hk_friction_destroy(m, &c->friction);
  hk_contacts_destroy(m, &c);
}

static size_t state_bytes(const void *state) {
  const HkContacts *c = state;
  return hk_contacts_bytes(c) + hk_friction_bytes(c->friction);
}

static HkStatus fail(HkContacts *c, HkError *error) {
  HkStatus status = c->status;
  c->status = HK_OK;
  return hk_fail(error, status, "there is not enough memory for contact");
}

/* Whether the last step that was corrected has ended at x. */
static bool is_sound_end(const HkForceArgs *a, double t, const double *x, double h) {
  const double SAME = 1e-6;
  const HkImpulses *im = ((const HkContacts *)a->state)->impulses;
  return im && im->is_sound && fabs(im->sound_time - t) <= SAME * h &&
         im->sound_version == hk_model_version(a->model) &&
         memcmp(im->sound, x, (size_t)a->model->n * 3 * sizeof *x) == 0;
}

/* A step that is corrected needs what touches only where it is not sure that nothing intersects. */
static HkStatus begin_corrected(const HkForceArgs *a, double h, HkError *error) {
  const double PART = 0.2;
  HkContacts *c = a->state;
  if (!c->impulses) HK_TRY(hk_impulses_create(a->model, c->data, &c->impulses, error));
  bool sound = is_sound_end(a, a->t, a->x, h);
  c->impulses->is_sound = false;
  c->h = h;
  c->floor = PART * hk_impulse_gap(c->data);
  if (sound) return HK_OK;
  hk_contacts_begin(c, h);
  if (!hk_contacts_find(c, a->work.springs, a->x)) return fail(c, error);
  return hk_contacts_check(c, a->work.springs, a->x, error);
}

/* Anchors of friction are those of steps with a barrier: their energy is lost. */
static HkStatus end_corrected(const HkForceArgs *a, HkError *error) {
  HkContacts *c = a->state;
  HkImpulses *im = c->impulses;
  memcpy(im->sound, a->x, (size_t)a->model->n * 3 * sizeof *a->x);
  im->sound_time = a->t;
  im->sound_version = hk_model_version(a->model);
  im->is_sound = true;
  c->friction->work += im->friction_work + hk_friction_energy_at(a);
  c->friction->anchor_count = 0;
  return a->memory ? hk_friction_save(c, a->memory, error) : HK_OK;
}

static HkStatus begin_step(const HkForceArgs *a, double h, HkError *error) {
  HkContacts *c = a->state;
  hk_contacts_place(c, a->t);
  if (a->work.corrects) return begin_corrected(a, h, error);
  bool sound = hk_contacts_is_sound(c, a->x);
  /* Parts of an adaptive step have the same barrier, so that their errors can be compared. */
  hk_contacts_begin(c, a->work.whole_step > 0 ? a->work.whole_step : h);
  const HkTouchings *found = hk_contacts_find(c, a->work.springs, a->x);
  if (!found) return fail(c, error);
  HK_TRY(hk_friction_begin(a, found, error));
  return sound ? HK_OK : hk_contacts_check(c, a->work.springs, a->x, error);
}

/* Not in a step: what is done depends on the state alone. */
static HkStatus prepare(const HkForceArgs *a, HkState *state, HkError *error) {
  HkContacts *c = a->state;
  if (!c->data->untangle) return HK_OK;
  hk_contacts_place(c, state->time);
  if (hk_contacts_is_sound(c, state->x)) return HK_OK;
  if (a->work.corrects && is_sound_end(a, state->time, state->x, c->h)) return HK_OK;
  return hk_contacts_untangle(c, a->work.springs, state, error);
}

static HkStatus load(const HkForceArgs *a, HkError *error) {
  return hk_friction_load(a->state, a->memory, error);
}

/* What touches at the end is known at the beginning of the next step, which then checks nothing. */
static HkStatus end_step(const HkForceArgs *a, double h, HkError *error) {
  (void)h;
  if (a->work.corrects) return end_corrected(a, error);
  const HkTouchings *found = hk_contacts_find(a->state, a->work.springs, a->x);
  if (!found) return fail(a->state, error);
  hk_contacts_set_sound(a->state, a->x);
  HK_TRY(hk_friction_end(a, found, error));
  return hk_friction_save(a->state, a->memory, error);
}

static HkStatus begin_iterate(const HkForceArgs *a, HkError *error) {
  HkContacts *c = a->state;
  if (a->work.corrects) return HK_OK;
  const HkTouchings *t = hk_contacts_find(c, a->work.springs, a->x);
  return !t || c->status < 0 ? fail(c, error) : HK_OK;
}

/* After a step, what touches at its end has the stiffness of that step. A run rounds the times of
 * its steps: SAME h is the same time. */
static HkStatus begin_query(const HkForceArgs *a, double h, HkError *error) {
  const double SAME = 1e-6;
  HkContacts *c = a->state;
  if (fabs(a->t - c->time) <= SAME * h && hk_contacts_is_known(c, a->x)) return HK_OK;
  hk_contacts_place(c, a->t);
  hk_contacts_begin(c, h > 0 ? h : c->h);
  return hk_contacts_find(c, a->work.springs, a->x) ? HK_OK : fail(c, error);
}

/* Whether a->x is the end of the last step, and contact has corrected it. */
static bool is_corrected_end(const HkForceArgs *a) {
  const HkImpulses *im = ((const HkContacts *)a->state)->impulses;
  return im && a->work.corrects && is_sound_end(a, a->t, a->x, im->h);
}

static HkStatus contacts(const HkForceArgs *a, HkContactRecord *record, HkError *error) {
  HkContacts *c = a->state;
  const HkTouchings *t = hk_contacts_find(c, a->work.springs, a->x);
  if (!t) return fail(c, error);
  HK_TRY(a->work.corrects ? hk_contacts_record_impulses(a, t, is_corrected_end(a), record, error)
                          : hk_contacts_record(a, t, record, error));
  return record->view.least_gap > 0 ? HK_OK : hk_contacts_check(c, a->work.springs, a->x, error);
}

static bool filter(const HkForceArgs *a, double *to) {
  return !a->work.corrects && hk_contacts_filter(a->state, a->x, to);
}

static void begin_stage(const HkForceArgs *a) {
  if (!a->work.corrects) hk_contacts_aim(a->state, a->t);
}

static double reach(const HkForceArgs *a, const double *to, HkError *why) {
  return a->work.corrects ? 1 : hk_contacts_reach(a->state, a->x, to, why);
}

static void advance(const HkForceArgs *a, double part) {
  if (!a->work.corrects) hk_contacts_advance(a->state, part);
}

static void carry(const HkForceArgs *a, double *to) {
  if (!a->work.corrects) hk_contacts_carry(a->state, a->x, to);
}

static HkStatus correct(const HkForceArgs *a, HkStepEnd *end, HkError *error) {
  HkContacts *c = a->state;
  HkStatus status = hk_contacts_correct(c, a->t, end, error);
  if (status == HK_ERROR_MEMORY) c->status = status;
  return c->status < 0 ? fail(c, error) : status;
}

static void add_correction(const HkForceArgs *a, double *f) {
  if (is_corrected_end(a)) hk_impulses_add_forces(a->state, f);
}

static bool must_correct(const void *chosen, const char **why) {
  *why = "restitution";
  return ((const HkContactParams *)chosen)->restitution > 0;
}

/* ---- Energy and force ---- */

static double energy(const HkForceArgs *a) {
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
static double energy_change(const HkForceArgs *a, const double *to) {
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

static void add(const HkForceArgs *a, double *f) {
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
  if (!(exact ? hk_pair_turning : hk_pair_projected_rest)(&pair, &t->touch, H)) return;
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

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
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

/* ---- Integrators ---- */

const HkForceType hk_force_contact = {
    .schema = {.name = "contact",
               .summary =
                   "bodies and obstacles never pass through each other or themselves; a barrier in "
                   "backward_euler and bdf2, impulses in all other integrators",
               .formula = "E = sum k ghat^2 f(g / ghat),  f(s) = -(s - 1)^2 ln s,  k = 10 m / h^2 "
                          "+ n^T H n",
               HK_PARAMS(HkContactParams, params)},
    .slot = HK_ENERGY_OTHER,
    .compile = compile,
    .destroy = destroy,
    .bytes = bytes,
    .create_state = create_state,
    .destroy_state = destroy_state,
    .state_bytes = state_bytes,
    .prepare = prepare,
    .remembers = true,
    .load = load,
    .begin_step = begin_step,
    .end_step = end_step,
    .begin_iterate = begin_iterate,
    .begin_query = begin_query,
    .contacts = contacts,
    .unbounded = true,
    .correct = correct,
    .add_correction = add_correction,
    .must_correct = must_correct,
    .filter = filter,
    .begin_stage = begin_stage,
    .reach = reach,
    .advance = advance,
    .carry = carry,
    .energy = energy,
    .energy_change = energy_change,
    .add = add,
    .jacobian = jacobian,
};
