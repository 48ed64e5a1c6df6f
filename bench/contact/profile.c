/* The parts of profile.h. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Functions of forces have no place for a pointer of the caller. */
static struct {
  HkForceType measured;    /* the type with functions that measure */
  const HkForceType *type; /* the type as it is */
  Profile profile;
  double *to;
  double began;
} the;

double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double (*row_clock)(void) = cpu_seconds;

HkContacts *contacts_of(const HkSim *sim) {
  for (int f = 0; f < sim->model->force_count; f++)
    if (strcmp(sim->model->forces[f].type->schema.name, "contact") == 0)
      return sim->work.states[f].state;
  return NULL;
}

/* Ends the time of a part, and begins the next one. */
static void end_part(ProfilePart part) {
  double now = row_clock();
  the.profile.seconds[part] += now - the.began;
  the.began = now;
}

static void cover(const HkForceArgs *a, const double *x, const double *to) {
  HkContacts *c = a->state;
  int64_t before = c->searches;
  hk_contacts_cover(c, x, to);
  the.profile.searches += c->searches - before;
  the.profile.covered += c->searches - before;
  end_part(c->searches > before ? PART_SEARCH : PART_INSIDE);
}

static void find(const HkForceArgs *a, const double *x) {
  HkContacts *c = a->state;
  bool known = false;
  for (int k = 0; k < 2; k++)
    known |= c->touchings[k].known &&
             memcmp(c->touchings[k].x, x, (size_t)a->model->n * 3 * sizeof *x) == 0;
  if (known) return;
  cover(a, x, x);
  hk_contacts_find(c, a->work.springs, x);
  end_part(PART_CLOSEST);
}

static void begin(void) {
  the.began = row_clock();
}

static HkStatus begin_step(const HkForceArgs *a, double h, HkError *error) {
  int64_t before = ((HkContacts *)a->state)->searches;
  begin();
  HkStatus status = the.type->begin_step(a, h, error);
  the.profile.searches += ((HkContacts *)a->state)->searches - before;
  end_part(PART_STEP);
  return status;
}

static HkStatus end_step(const HkForceArgs *a, double h, HkError *error) {
  begin();
  find(a, a->x);
  HkStatus status = the.type->end_step(a, h, error);
  end_part(PART_STEP);
  return status;
}

static HkStatus begin_iterate(const HkForceArgs *a, HkError *error) {
  begin();
  find(a, a->x);
  HkStatus status = the.type->begin_iterate(a, error);
  end_part(PART_CLOSEST);
  return status;
}

static bool filter(const HkForceArgs *a, double *to) {
  size_t bytes = (size_t)a->model->n * 3 * sizeof *to;
  memcpy(the.to, to, bytes);
  begin();
  cover(a, a->x, to);
  bool changed = the.type->filter(a, to);
  end_part(PART_FILTER);
  the.profile.filters++;
  for (int64_t v = 0; changed && v < a->model->n; v++)
    the.profile.cut += memcmp(the.to + 3 * v, to + 3 * v, 3 * sizeof *to) != 0;
  return changed;
}

static void begin_stage(const HkForceArgs *a) {
  begin();
  the.type->begin_stage(a);
  end_part(PART_STEP);
}

static double reach(const HkForceArgs *a, const double *to, HkError *why) {
  begin();
  cover(a, a->x, to);
  double part = the.type->reach(a, to, why);
  end_part(PART_STEP);
  return part;
}

static void carry(const HkForceArgs *a, double *to) {
  int64_t before;
  begin();
  cover(a, a->x, to);
  before = ((HkContacts *)a->state)->searches;
  the.type->carry(a, to);
  the.profile.searches += ((HkContacts *)a->state)->searches - before;
  end_part(PART_STEP);
}

static double energy_change(const HkForceArgs *a, const double *to) {
  begin();
  cover(a, a->x, to);
  find(a, a->x);
  find(a, to);
  double change = the.type->energy_change(a, to);
  end_part(PART_ENERGY);
  return change;
}

static double energy(const HkForceArgs *a) {
  begin();
  find(a, a->x);
  double sum = the.type->energy(a);
  end_part(PART_ENERGY);
  return sum;
}

static void add(const HkForceArgs *a, double *f) {
  begin();
  find(a, a->x);
  the.type->add(a, f);
  end_part(PART_GRADIENT);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  begin();
  find(a, a->x);
  the.type->jacobian(a, sink);
  end_part(PART_HESSIAN);
}

bool profile_attach(HkModel *m) {
  for (int f = 0; f < m->force_count; f++) {
    if (strcmp(m->forces[f].type->schema.name, "contact") != 0) continue;
    HkForceType *t = &the.measured;
    the.type = m->forces[f].type;
    *t = *the.type;
    t->begin_step = begin_step;
    t->end_step = end_step;
    t->begin_iterate = begin_iterate;
    t->filter = filter;
    t->begin_stage = begin_stage;
    t->reach = reach;
    t->carry = carry;
    t->energy_change = energy_change;
    t->energy = energy;
    t->add = add;
    t->jacobian = jacobian;
    m->forces[f].type = t;
    free(the.to);
    the.to = malloc((size_t)m->n * 3 * sizeof *the.to);
    the.profile = (Profile){0};
    return the.to != NULL;
  }
  return false;
}

void profile_detach(void) {
  free(the.to);
  the.to = NULL;
}

Profile profile_take(void) {
  Profile profile = the.profile;
  the.profile = (Profile){0};
  return profile;
}
