/* The springs that a simulation uses: the model's, or those of the state that it moves.
 *
 * The springs of a state with springs of its own (model/state_springs.c) are copied before anything
 * is computed with it. The arrays and rows for the copy are created for the first such state.
 */
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

HkStatus hk_sim_use_springs(HkSim *sim, const HkState *state, HkError *error) {
  const HkStateSprings *from = &state->springs;
  HkSpringArrays *own = &sim->state_springs;
  if (!sim->model_rows) sim->model_rows = sim->work.rows;
  if (from->count == 0) {
    use_rows(sim, &sim->model->springs, sim->model_rows);
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
  bool changed = copy_parameters(own->k, from->k, from->broken, own->count);
  changed |= copy_parameters(own->l0, from->l0, NULL, own->count);
  changed |= copy_parameters(own->damping, from->damping, from->broken, own->count);
  if (changed) own->version++;
  hk_spring_rows_update(sim->model, sim->state_rows);
  use_rows(sim, own, sim->state_rows);
  return HK_OK;
}

void hk_sim_release_springs(HkSim *sim) {
  const HkModel *m = sim->model;
  if (sim->model_rows) use_rows(sim, &m->springs, sim->model_rows);
  hk_spring_rows_destroy(m, &sim->state_rows);
  hk_free(&m->context, &sim->state_springs.k);
  hk_free(&m->context, &sim->state_springs.l0);
  hk_free(&m->context, &sim->state_springs.damping);
}

size_t hk_sim_springs_bytes(const HkSim *sim) {
  const HkSpringArrays *own = &sim->state_springs;
  size_t arrays = own->damping ? 3 : 2;
  if (!sim->state_rows) return 0;
  return sim->state_rows->bytes + arrays * (size_t)own->count * sizeof *own->k;
}
