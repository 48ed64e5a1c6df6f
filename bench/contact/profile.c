/* The parts of profile.h. */
#include "profile.h"

#include <string.h>
#include <time.h>

/* Functions of forces have no place for a pointer of the caller. */
static struct {
  HkForceType measured;    /* the type with functions that measure */
  const HkForceType *type; /* the type as it is */
  Profile profile;
  double began;
  ProfilePart part; /* to which the time counts now; PART_COUNT: to none */
} the = {.part = PART_COUNT};

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

/* Ends the time of the part so far, and begins another one; returns the one before. */
static ProfilePart switch_to(ProfilePart part) {
  ProfilePart before = the.part;
  double now = row_clock();
  if (before != PART_COUNT) the.profile.seconds[before] += now - the.began;
  the.began = now;
  the.part = part;
  return before;
}

/* ---- Functions that the linker puts before those of the library (--wrap) ---- */

HkStatus __real_hk_contacts_cover(HkContacts *c, const double *x, const double *to);
HkStatus __wrap_hk_contacts_cover(HkContacts *c, const double *x, const double *to);
HkStatus __real_hk_search(HkContacts *c, const double *x, const double *to);
HkStatus __wrap_hk_search(HkContacts *c, const double *x, const double *to);
HkStatus __real_hk_search_late(HkContacts *c);
HkStatus __wrap_hk_search_late(HkContacts *c);
const HkTouchings *__real_hk_contacts_find(HkContacts *c, const HkSpringArrays *springs,
                                           const double *x);
const HkTouchings *__wrap_hk_contacts_find(HkContacts *c, const HkSpringArrays *springs,
                                           const double *x);

HkStatus __wrap_hk_contacts_cover(HkContacts *c, const double *x, const double *to) {
  if (the.part == PART_COUNT) return __real_hk_contacts_cover(c, x, to);
  ProfilePart part = switch_to(PART_INSIDE);
  HkStatus status = __real_hk_contacts_cover(c, x, to);
  switch_to(part);
  return status;
}

HkStatus __wrap_hk_search(HkContacts *c, const double *x, const double *to) {
  if (the.part == PART_COUNT) return __real_hk_search(c, x, to);
  ProfilePart part = switch_to(PART_SEARCH);
  HkStatus status = __real_hk_search(c, x, to);
  the.profile.searches++;
  switch_to(part);
  return status;
}

/* A search for some vertices. */
HkStatus __wrap_hk_search_late(HkContacts *c) {
  if (the.part == PART_COUNT) return __real_hk_search_late(c);
  ProfilePart part = switch_to(PART_SEARCH);
  HkStatus status = __real_hk_search_late(c);
  switch_to(part);
  return status;
}

const HkTouchings *__wrap_hk_contacts_find(HkContacts *c, const HkSpringArrays *springs,
                                           const double *x) {
  if (the.part == PART_COUNT) return __real_hk_contacts_find(c, springs, x);
  ProfilePart part = switch_to(PART_CLOSEST);
  const HkTouchings *found = __real_hk_contacts_find(c, springs, x);
  switch_to(part);
  return found;
}

/* ---- Functions of the force ---- */

static HkStatus begin_step(const HkForceArgs *a, double h, HkError *error) {
  switch_to(PART_STEP);
  HkStatus status = the.type->begin_step(a, h, error);
  switch_to(PART_COUNT);
  return status;
}

static HkStatus end_step(const HkForceArgs *a, double h, HkError *error) {
  switch_to(PART_STEP);
  HkStatus status = the.type->end_step(a, h, error);
  switch_to(PART_COUNT);
  return status;
}

static HkStatus begin_iterate(const HkForceArgs *a, HkError *error) {
  switch_to(PART_CLOSEST);
  HkStatus status = the.type->begin_iterate(a, error);
  switch_to(PART_COUNT);
  return status;
}

static bool filter(const HkForceArgs *a, double *to) {
  switch_to(PART_FILTER);
  bool changed = the.type->filter(a, to);
  switch_to(PART_COUNT);
  the.profile.filters++;
  the.profile.cut += changed ? ((const HkContacts *)a->state)->cut : 0;
  return changed;
}

static void begin_stage(const HkForceArgs *a) {
  switch_to(PART_STEP);
  the.type->begin_stage(a);
  switch_to(PART_COUNT);
}

static double reach(const HkForceArgs *a, const double *to, HkError *why) {
  switch_to(PART_STEP);
  double part = the.type->reach(a, to, why);
  switch_to(PART_COUNT);
  return part;
}

static void carry(const HkForceArgs *a, double *to) {
  switch_to(PART_STEP);
  the.type->carry(a, to);
  switch_to(PART_COUNT);
}

static double energy_change(const HkForceArgs *a, const double *to) {
  switch_to(PART_ENERGY);
  double change = the.type->energy_change(a, to);
  switch_to(PART_COUNT);
  return change;
}

static double energy(const HkForceArgs *a) {
  switch_to(PART_ENERGY);
  double sum = the.type->energy(a);
  switch_to(PART_COUNT);
  return sum;
}

static void add(const HkForceArgs *a, double *f) {
  switch_to(PART_GRADIENT);
  the.type->add(a, f);
  switch_to(PART_COUNT);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  switch_to(PART_HESSIAN);
  the.type->jacobian(a, sink);
  switch_to(PART_COUNT);
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
    the.profile = (Profile){0};
    return true;
  }
  return false;
}

Profile profile_take(void) {
  Profile profile = the.profile;
  the.profile = (Profile){0};
  return profile;
}
