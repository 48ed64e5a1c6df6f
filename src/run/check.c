/* Check of a frame before it is written.
 *
 * The test after each step (step/blowup.c) looks at the kinetic energy. Positions, forces,
 * reactions and potential energies may leave the range of numbers while it is still plausible, and
 * an output of 32-bit numbers ends at 3.4e38. A frame is accepted if
 *
 *     |value| <= DBL_MAX / n    for all components of x, v, f (n vertices) and of the reactions
 *     |value| <= FLT_MAX        for those that an output stores in 32 bits
 *
 * and all energies, momenta and extremes are finite. The first bound keeps sums over vertices
 * finite, which probes and reactions are. Anything else is a blow-up. The cost is one pass over
 * values that the outputs read anyway. Ranks check the vertices that they own, and agree.
 */
#include "run/run.h"

#include "base/vec.h"
#include "model/part.h"
#include "step/blowup.h"

#include <float.h>
#include <stdio.h>

/* One array of a frame: three components for each of `count` vertices. */
typedef struct Values {
  const HkModel *model;
  const char *name, *unit;
  const double *value;
  int64_t count;
  const int32_t *vertex; /* vertex of each entry; NULL: entry i is vertex i */
  double limit;
  const HkOutput *output; /* the output that stores the array in 32 bits, or NULL */
} Values;

static int64_t vertex_of(const Values *a, int64_t entry) {
  return a->vertex ? a->vertex[entry] : entry;
}

/* Values of ghosts are those of their owners, or undefined. */
static bool is_beyond(const Values *a, int64_t q) {
  return !(fabs(a->value[q]) <= a->limit) && !hk_model_is_ghost(a->model, vertex_of(a, q / 3));
}

static double beyond_range(void *user, int64_t begin, int64_t end) {
  const Values *a = user;
  int64_t beyond = 0;
  for (int64_t q = 3 * begin; q < 3 * end; q++) beyond += is_beyond(a, q);
  return (double)beyond;
}

/* Finds the value beyond the limit whose vertex has the lowest number in the whole model. */
static void find_first(const Values *a, int64_t *number, double *value) {
  const HkModel *m = a->model;
  int64_t q = 0, mine = INT64_MAX;
  while (q < 3 * a->count && !is_beyond(a, q)) q++;
  if (q < 3 * a->count) mine = m->part ? m->part->number[vertex_of(a, q / 3)] : vertex_of(a, q / 3);
  *number = (int64_t)-hk_model_most(m, -(double)mine);
  *value = hk_model_sum(m, mine == *number ? a->value[q] : 0);
}

/* Returns the first output that stores a quantity in 32 bits, or NULL. */
static const HkOutput *single_output(const HkRun *run, HkQuantity quantity) {
  for (int q = 0; q < run->output_count; q++) {
    const HkOutput *o = &run->outputs[q];
    if (o->type->singles && (o->type->singles(o) & (unsigned)quantity)) return o;
  }
  return NULL;
}

/* Writes a way out; a smaller step does not help for frame 0, which no step has computed. */
static void advise(HkRun *run, const HkOutput *output, char *text, size_t size) {
  if (run->frame > 0)
    hk_blowup_advise(run->sim, run->state, text, size);
  else
    snprintf(text, size, "so begins the scene: give values of usual size%s",
             output ? ", or leave that output out" : "");
}

static HkStatus blow_up(HkRun *run, const HkOutput *output, const char *what, HkError *error) {
  char text[256], advice[256];
  advise(run, output, advice, sizeof advice);
  if (!output) return hk_blowup_fail(run->sim, run->state, what, advice, error);
  snprintf(text, sizeof text,
           "%s is beyond %.2g, the largest 32-bit number that the output '%s' stores", what,
           (double)FLT_MAX, output->type->schema.name);
  return hk_blowup_fail(run->sim, run->state, text, advice, error);
}

static HkStatus check_values(HkRun *run, Values *a, HkError *error) {
  char what[160];
  int64_t number;
  double value;
  a->model = run->model;
  a->limit = a->output ? (double)FLT_MAX : DBL_MAX / fmax(1, (double)hk_model_total(run->model));
  if (hk_sum_list(run->model, a->count, beyond_range, a, run->sim->work.sums) == 0) return HK_OK;
  find_first(a, &number, &value);
  snprintf(what, sizeof what, "%s %.3g %s of vertex %lld", a->name, value, a->unit,
           (long long)number);
  return blow_up(run, isfinite(value) ? a->output : NULL, what, error);
}

static HkStatus check_info(HkRun *run, HkError *error) {
  const HkStateInfo *r = &run->info;
  const double *p = r->momentum, *L = r->angular_momentum;
  const struct {
    const char *name, *unit;
    double value;
  } numbers[] = {
      {"the kinetic energy", " J", r->kinetic},
      {"the spring energy", " J", r->spring},
      {"the energy of gravity", " J", r->gravity},
      {"the energy of other forces", " J", r->other},
      {"the total energy", " J", r->total},
      {"the momentum", " kg m/s", p[0] + p[1] + p[2]},
      {"the angular momentum", " kg m^2/s", L[0] + L[1] + L[2]},
      {"the largest speed", " m/s", r->speed_max},
      {"the least strain", "", r->strain_min},
      {"the largest strain", "", r->strain_max},
      {"the dissipated energy", " J", r->dissipated},
  };
  char what[128];
  const HkOutput *output = single_output(run, HK_QUANTITY_STRAIN);
  for (size_t q = 0; q < sizeof numbers / sizeof numbers[0]; q++) {
    if (isfinite(numbers[q].value)) continue;
    snprintf(what, sizeof what, "%s is %g%s", numbers[q].name, numbers[q].value, numbers[q].unit);
    return blow_up(run, NULL, what, error);
  }
  if (!output || r->strain_max <= (double)FLT_MAX) return HK_OK;
  snprintf(what, sizeof what, "strain %.3g", r->strain_max);
  return blow_up(run, output, what, error);
}

HkStatus hk_run_check_frame(HkRun *run, HkError *error) {
  const HkModel *m = run->model;
  if (!run->folder) return HK_OK;
  Values x = {.name = "position", .unit = "m", .value = run->state->x, .count = m->n};
  Values v = {.name = "velocity", .unit = "m/s", .value = run->state->v, .count = m->n};
  Values f = {.name = "force", .unit = "N", .value = run->force, .count = m->n};
  Values R = {.name = "reaction",
              .unit = "N",
              .value = run->reaction,
              .count = m->pin_count,
              .vertex = m->pin_vertex};
  Values contact = {.name = "contact force", .unit = "N", .count = m->n};
  x.output = single_output(run, HK_QUANTITY_POSITION);
  v.output = single_output(run, HK_QUANTITY_VELOCITY);
  f.output = single_output(run, HK_QUANTITY_FORCE);
  hk_sim_state_info(run->sim, run->state, &run->info);
  hk_sim_forces(run->sim, run->state, run->force);
  hk_part_exchange(m, run->force);
  hk_pins_reactions(m, run->state, run->force, run->reaction);
  HK_TRY(check_values(run, &x, error));
  HK_TRY(check_values(run, &v, error));
  /* What intersects has an infinite energy: the error that lists it comes first. */
  HkStatus status = hk_sim_contacts(run->sim, run->state, &run->contacts, error);
  HK_TRY(hk_run_agree(run, status, error));
  contact.value = run->contacts.force;
  contact.output = f.output;
  HK_TRY(check_info(run, error));
  HK_TRY(check_values(run, &f, error));
  HK_TRY(check_values(run, &R, error));
  return contact.value ? check_values(run, &contact, error) : HK_OK;
}
