/* The contacts of a state, from the forces that have any. */
#include "contact/record.h"
#include "step/sim.h"

HkStatus hk_sim_contacts(HkSim *sim, const HkState *state, HkContactView *view, HkError *error) {
  const HkModel *m = sim->model;
  HkContactRecord *record = sim->contacts;
  *view = (HkContactView){.least_gap = INFINITY};
  HK_TRY(hk_sim_use_state(sim, state, error));
  if (!hk_forces_have_contacts(m)) return HK_OK;
  if (!record) HK_TRY(hk_alloc(&m->context, &record, 1, sizeof *record, "contacts", error));
  sim->contacts = record;
  HK_TRY(hk_contact_record_begin(m, record, error));
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (!type->contacts) continue;
    HkForceArgs a = hk_force_args(m, f, &sim->work, state->time, state->x, state->v);
    HK_TRY(type->contacts(&a, record, error));
    type->add(&a, record->force);
    if (type->add_correction) type->add_correction(&a, record->force);
  }
  *view = record->view;
  return HK_OK;
}

size_t hk_sim_contacts_bytes(const HkSim *sim) {
  const HkContactRecord *record = sim->contacts;
  return record ? sizeof *record + hk_contact_record_bytes(sim->model, record) : 0;
}

void hk_sim_release_contacts(HkSim *sim) {
  if (!sim->contacts) return;
  hk_contact_record_release(sim->model, sim->contacts);
  hk_free(&sim->model->context, &sim->contacts);
}
