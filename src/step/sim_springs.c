/* The springs that a simulation uses: the model's, or a copy.
 *
 * The springs of a state with springs of its own (model/state_springs.c) are copied before anything
 * is computed with it; so are those of a model with forces that change springs. Such forces
 * multiply numbers of the copy by factors of the time (HkForceType.drive), in each step and before
 * anything is computed of a state, and change single springs of the state and the copy at the end
 * of a step (force/spring_changes.h). Arrays and rows for the copy are created for the first such
 * state.
 */
#include "force/chosen_springs.h"
#include "force/spring_changes.h"
#include "step/sim.h"

#include <string.h>

/* Versions of springs that come from states, which are never those of a model. */
static const int64_t STATE_VERSIONS = (int64_t)1 << 40;

static HkStatus create(HkSim *sim, HkError *error) {
  const HkModel *m = sim->model;
  const HkContext *c = &m->context;
  HkSpringArrays *own = &sim->state_springs;
  *own = m->springs;
  own->k = own->l0 = own->damping = NULL;
  own->version = STATE_VERSIONS;
  HK_TRY(hk_alloc(c, &own->k, own->count, sizeof *own->k, "springs", error));
  HK_TRY(hk_alloc(c, &own->l0, own->count, sizeof *own->l0, "springs", error));
  if (m->springs.damping)
    HK_TRY(hk_alloc(c, &own->damping, own->count, sizeof *own->damping, "springs", error));
  HK_TRY(hk_alloc(c, &sim->changes, 1, sizeof *sim->changes, "springs", error));
  return hk_spring_rows_create_own(m, own, &sim->state_rows, error);
}

/* Copies `from` to `own`, 0 for broken springs; returns whether a value changes. */
static bool copy_parameters(double *own, const double *from, const uint8_t *broken, int64_t count) {
  bool changed = false;
  for (int64_t s = 0; own && s < count; s++) {
    double value = broken && broken[s] ? 0 : from[s];
    changed |= own[s] != value;
    own[s] = value;
  }
  return changed;
}

static void use_rows(HkSim *sim, const HkSpringArrays *springs, HkSpringRows *rows) {
  sim->work.springs = springs;
  sim->work.rows = rows;
}

HkStatus hk_sim_need_springs(const HkSim *sim, HkState *state, HkError *error) {
  if (!hk_forces_lose(sim->model)) return HK_OK;
  return hk_state_own_springs(state, sim->model, error);
}

/* ---- Springs that change with time ---- */

static bool drives(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->drive) return true;
  return false;
}

static const HkChosenSprings *driven_by(const HkModel *m, int force) {
  const HkForceType *type = m->forces[force].type;
  return type->drive ? type->changed_springs(m->forces[force].data) : NULL;
}

/* Sets the driven springs to their numbers in the state, or in the model for a state without. */
static void reset(HkSim *sim, const HkState *state, const HkChosenSprings *chosen) {
  const HkStateSprings *from = &state->springs;
  HkSpringArrays *own = &sim->state_springs;
  bool plain = from->count == 0;
  const double *k = plain ? sim->model->springs.k : from->k;
  const double *l0 = plain ? sim->model->springs.l0 : from->l0;
  for (int64_t q = 0; q < chosen->count; q++) {
    int32_t s = chosen->spring[q];
    own->l0[s] = l0[s];
    own->k[s] = !plain && from->broken[s] ? 0 : k[s];
  }
}

/* Gives the driven springs their numbers at time t. */
static void drive(HkSim *sim, const HkState *state, double t) {
  const HkModel *m = sim->model;
  HkSpringArrays *own = &sim->state_springs;
  HkSpringRows *rows = sim->state_rows;
  int64_t changed = 0;
  bool stiffness = false;
  for (int f = 0; f < m->force_count; f++) {
    const HkChosenSprings *chosen = driven_by(m, f);
    if (chosen) reset(sim, state, chosen);
    if (chosen) changed += chosen->count;
  }
  if (changed == 0) return;
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, &sim->work, t, state->x, state->v);
    if (driven_by(m, f)) stiffness |= m->forces[f].type->drive(&a, own);
  }
  if (stiffness) own->version++;
  const int64_t FILL_MIN_PART = 4; /* a whole fill takes as long as to put so large a part */
  if (changed > own->count / FILL_MIN_PART) {
    hk_spring_rows_fill(m, rows);
    return;
  }
  for (int f = 0; f < m->force_count; f++) {
    const HkChosenSprings *chosen = driven_by(m, f);
    for (int64_t q = 0; chosen && q < chosen->count; q++)
      hk_spring_rows_put(rows, chosen->spring[q]);
  }
  rows->version = own->version;
}

/* ---- Use ---- */

HkStatus hk_sim_use_springs(HkSim *sim, const HkState *state, HkError *error) {
  const HkModel *m = sim->model;
  const HkStateSprings *from = &state->springs;
  HkSpringArrays *own = &sim->state_springs;
  bool plain = from->count == 0;
  if (!sim->model_rows) sim->model_rows = sim->work.rows;
  sim->work.changes = NULL;
  if (plain && !hk_forces_change_springs(m)) {
    use_rows(sim, &m->springs, sim->model_rows);
    return HK_OK;
  }
  if (!hk_stepper_type(sim->device)->takes_springs || sim->single)
    return hk_fail(
        error, HK_ERROR_UNSUPPORTED,
        "a state with springs of its own is stepped in double precision on the CPU only");
  if (!sim->state_rows) {
    HkStatus status = create(sim, error);
    if (status < 0) hk_sim_release_springs(sim);
    HK_TRY(status);
  }
  const uint8_t *broken = plain ? NULL : from->broken;
  bool stiffness = copy_parameters(own->k, plain ? m->springs.k : from->k, broken, own->count);
  stiffness |=
      copy_parameters(own->damping, plain ? m->springs.damping : from->damping, broken, own->count);
  bool lengths = copy_parameters(own->l0, plain ? m->springs.l0 : from->l0, NULL, own->count);
  if (stiffness || (lengths && !drives(m))) own->version++;
  if (stiffness || lengths) hk_spring_rows_fill(m, sim->state_rows);
  use_rows(sim, own, sim->state_rows);
  drive(sim, state, state->time);
  return HK_OK;
}

void hk_sim_begin_springs(HkSim *sim, HkState *state) {
  if (!hk_forces_change_springs(sim->model)) return;
  *sim->changes = (HkSpringChanges){
      .state = &state->springs, .used = &sim->state_springs, .rows = sim->state_rows};
  sim->work.changes = sim->changes;
  if (!drives(sim->model)) return;
  drive(sim, state, state->time + sim->type->drive_time * sim->h);
  sim->watch.known = false; /* what drives springs does work */
}

void hk_sim_release_springs(HkSim *sim) {
  const HkModel *m = sim->model;
  if (sim->model_rows) use_rows(sim, &m->springs, sim->model_rows);
  hk_spring_rows_destroy(m, &sim->state_rows);
  sim->work.changes = NULL;
  hk_free(&m->context, &sim->changes);
  hk_free(&m->context, &sim->state_springs.k);
  hk_free(&m->context, &sim->state_springs.l0);
  hk_free(&m->context, &sim->state_springs.damping);
}

size_t hk_sim_springs_bytes(const HkSim *sim) {
  const HkSpringArrays *own = &sim->state_springs;
  size_t arrays = own->damping ? 3 : 2;
  if (!sim->state_rows) return 0;
  return sim->state_rows->bytes + sizeof *sim->changes +
         arrays * (size_t)own->count * sizeof *own->k;
}
