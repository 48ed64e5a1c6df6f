/* The energy that a force has taken from springs; see lost_energy.h. */
#include "force/lost_energy.h"

#include <math.h>
#include <string.h>

HkStatus hk_lost_energy_create(const HkModel *model, const void *params, const void *data,
                               void **state, HkError *error) {
  double *lost = NULL;
  (void)params;
  (void)data;
  HK_TRY(hk_alloc(&model->context, &lost, 1, sizeof *lost, "a force", error));
  *state = lost;
  return HK_OK;
}

void hk_lost_energy_destroy(const HkModel *model, void *state) {
  hk_free(&model->context, &state);
}

size_t hk_lost_energy_bytes(const void *state) {
  (void)state;
  return sizeof(double);
}

HkStatus hk_lost_energy_load(const HkForceArgs *a, HkError *error) {
  double lost = 0;
  size_t size = (size_t)a->memory->size;
  if (size == sizeof lost) memcpy(&lost, a->memory->bytes, sizeof lost);
  if ((size != 0 && size != sizeof lost) || !isfinite(lost))
    return hk_fail(error, HK_ERROR_FORMAT,
                   "the state does not have the energy that springs have lost; start from another "
                   "checkpoint, or from the scene");
  *(double *)a->state = lost;
  return HK_OK;
}

double hk_lost_energy(const HkForceArgs *a) {
  return *(const double *)a->state;
}

HkStatus hk_lost_energy_add(const HkForceArgs *a, double energy, HkError *error) {
  double *lost = a->state;
  *lost += energy;
  return hk_force_memory_write(a->memory, lost, sizeof *lost, error);
}
