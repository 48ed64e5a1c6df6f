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
#include "contact/derivative.h"
#include "contact/energy.h"
#include "contact/friction.h"
#include "contact/impulse.h"
#include "contact/record.h"
#include "contact/untangle.h"

#include <string.h>

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

/* The start of a motion would not be the state that was given. */
static const char *not_differentiable(const void *chosen) {
  return ((const HkContactParams *)chosen)->untangle ? "untangle" : NULL;
}

/* ---- The force ---- */

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
    .energy = hk_contact_energy,
    .energy_change = hk_contact_energy_change,
    .add = hk_contact_add,
    .jacobian = hk_contact_jacobian,
    .differentiable = "friction|friction_kinetic|height",
    .not_differentiable = not_differentiable,
    .memory_numbers = hk_contact_memory_numbers,
    .resume_step = hk_contact_resume_step,
    .step_product = hk_contact_step_product,
};
