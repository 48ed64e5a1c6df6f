/* Runs of the scenes of contact_scenes.h; see contact_run.h. */
#include "contact_run.h"

#include "all_pairs.h"
#include "base/clock.h"
#include "contact/crossing.h"
#include "model_by_hand.h"
#include "step/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const HkBodyRange *body_named(const HkModel *m, const char *name) {
  for (int b = 0; b < m->body_count; b++)
    if (m->bodies[b].name && strcmp(m->bodies[b].name, name) == 0) return &m->bodies[b];
  return NULL;
}

static double lowest(const HkBodyRange *body, const double *x) {
  double low = INFINITY;
  for (int64_t v = body->first; v < body->first + body->count; v++) low = fmin(low, x[3 * v + 1]);
  return low;
}

/* Number of things on the wrong side. */
static int64_t escapes_of(const ContactCase *c, const HkModel *m, const double *x) {
  ContactFacts s = contact_scene_facts(c);
  int64_t count = 0;
  for (int64_t v = 0; v < m->n && s.ground < INFINITY; v++)
    count += !(x[3 * v + 1] > s.ground + 0.5 * s.thickness);
  if (s.held) count += !(lowest(body_named(m, s.held), x) > lowest(body_named(m, s.by), x));
  if (s.linked) {
    const HkBodyRange *a = &m->bodies[0], *b = &m->bodies[1];
    count += fabs(fabs(linking_number(x + 3 * a->first, a->count, x + 3 * b->first, b->count)) -
                  1) > 0.1;
  }
  return count;
}

static HkContacts *contacts_of(const HkSim *sim) {
  for (int f = 0; f < sim->model->force_count; f++)
    if (strcmp(sim->model->forces[f].type->schema.name, "contact") == 0)
      return sim->work.states[f].state;
  return NULL;
}

static double least_gap(HkContacts *c, const HkSim *sim, const double *x) {
  const HkTouchings *found = hk_contacts_find(c, sim->work.springs, x);
  double least = INFINITY;
  if (!found) return NAN;
  for (int64_t k = 0; k < found->pair_count; k++) least = fmin(least, found->pair[k].touch.g);
  for (int64_t k = 0; k < found->wall_count; k++) least = fmin(least, found->wall[k].g);
  return least;
}

static void check(const ContactCase *choice, HkSim *sim, const AllPairs *pairs, const double *x,
                  double t, ContactResult *r) {
  HkContacts *c = contacts_of(sim);
  r->crossings += hk_contacts_crossings(c, x, NULL, 0);
  r->escapes += escapes_of(choice, sim->model, x);
  r->least_gap = fmin(r->least_gap, least_gap(c, sim, x));
  r->least_by_hand = fmin(r->least_by_hand, all_pairs_least_gap(pairs, x, t));
  for (int64_t k = 0; k < 3 * sim->model->n; k++)
    if (!isfinite(x[k]) && !r->error[0])
      snprintf(r->error, sizeof r->error, "coordinate %lld is not finite", (long long)k);
}

/* Random displacements of all vertices that are not pinned, small enough to leave no gap closed. */
static void jitter(const HkModel *m, uint64_t seed, double size, double *x) {
  for (int64_t v = 0; v < m->n && seed; v++) {
    bool pinned = false;
    for (int64_t p = 0; p < m->pin_count; p++) pinned |= m->pin_vertex[p] == v;
    for (int q = 0; q < m->dimension; q++) {
      double by = size * test_random(&seed);
      if (!pinned) x[3 * v + q] += by;
    }
  }
}

static bool is_late(void *user) {
  return hk_wall_time() > *(const double *)user;
}

static HkState *copy_of(const HkModel *m, const HkState *state) {
  HkState *copy = NULL;
  if (hk_state_create(m, &copy, NULL) < 0 || hk_state_copy(state, copy, NULL) < 0) abort();
  return copy;
}

/* Makes the step from `before` with a simulation of its own; true if it ends in `after`, bit for
 * bit. */
static bool is_repeated(const ContactCase *c, const HkSim *sim, HkState *before,
                        const HkState *after) {
  HkSim *other = NULL;
  size_t bytes = (size_t)sim->model->n * 3 * sizeof *after->x;
  bool same = hk_sim_create(sim->model, NULL, c->h, &other, NULL) >= 0 &&
              hk_sim_step(other, before, NULL) >= 0 && memcmp(before->x, after->x, bytes) == 0 &&
              memcmp(before->v, after->v, bytes) == 0;
  hk_sim_destroy(&other);
  return same;
}

static void make_steps(const ContactCase *c, HkSim *sim, HkState *state, const AllPairs *pairs,
                       ContactResult *r) {
  HkError error = {0};
  double deadline = hk_wall_time() + c->seconds;
  int64_t searches = 0;
  hk_sim_set_cancel(sim, is_late, &deadline);
  for (int64_t k = 0; k < c->steps && !r->error[0]; k++) {
    HkState *start = c->renews ? copy_of(sim->model, state) : NULL;
    double before = hk_wall_time();
    HkStatus status = hk_sim_step(sim, state, &error);
    r->late = status == HK_ERROR_CANCELLED;
    r->seconds += hk_wall_time() - before;
    if (start && status >= 0) r->differences += !is_repeated(c, sim, start, state);
    hk_state_destroy(&start);
    if (r->late) return;
    if (status < 0) {
      snprintf(r->error, sizeof r->error, "step %lld: %s", (long long)k, error.text);
      return;
    }
    HkStepInfo info = hk_sim_step_info(sim);
    r->steps++;
    r->iterations += info.iterations;
    if (info.iterations > r->most_iterations) r->most_iterations = info.iterations;
    r->linear_iterations += info.linear_iterations;
    r->unconverged += status == HK_NOT_CONVERGED;
    r->searches += contacts_of(sim)->searches - searches;
    check(c, sim, pairs, state->x, state->time, r);
    searches = contacts_of(sim)->searches;
  }
}

void contact_run(const ContactCase *c, ContactResult *r) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkError error = {0};
  AllPairs pairs = {0};
  ContactFacts facts = contact_scene_facts(c);
  char *text = contact_scene_text(c);
  *r = (ContactResult){.least_gap = INFINITY, .least_by_hand = INFINITY};
  context.threads = c->threads;
  HkStatus status = hk_scene_parse(&context, text, strlen(text), contact_scene_name(c->scene), NULL,
                                   NULL, 0, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  if (status >= 0) status = hk_sim_create(model, NULL, c->h, &sim, &error);
  if (status >= 0) status = hk_state_create(model, &state, &error);
  if (status < 0) {
    snprintf(r->error, sizeof r->error, "%s", error.text);
  } else {
    r->vertices = model->n;
    all_pairs_create(&pairs, model, facts.thickness);
    jitter(model, c->seed, facts.displacement, state->x);
    make_steps(c, sim, state, &pairs, r);
  }
  all_pairs_destroy(&pairs);
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  free(text);
}

double contact_stable_step(const ContactCase *choice) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  char *text = contact_scene_text(choice);
  double stable = NAN;
  if (hk_scene_parse(&context, text, strlen(text), contact_scene_name(choice->scene), NULL, NULL, 0,
                     &scene, NULL) >= 0 &&
      hk_model_compile(scene, &model, NULL) >= 0 &&
      hk_sim_create(model, NULL, choice->h, &sim, NULL) >= 0 &&
      hk_state_create(model, &state, NULL) >= 0)
    hk_sim_stable_step(sim, state, &stable, NULL);
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  free(text);
  return stable;
}

bool contact_failed(const ContactResult *r) {
  return r->error[0] || r->crossings != 0 || r->differences > 0 || r->escapes > 0 ||
         !(r->least_gap > 0) || !(r->least_by_hand > 0);
}
