/* Whether springs yield before they break; see yielding.h. */
#include "force/chosen_springs.h"

#include "force/yielding.h"

HkStatus hk_yielding_check(const HkModel *m, const HkForceType *type, const void *params,
                           const void *data, HkError *error) {
  bool yields = type == &hk_force_plasticity;
  const HkForceType *other = yields ? &hk_force_tearing : &hk_force_plasticity;
  for (int f = 0; f < m->force_count; f++) {
    const HkCompiledForce *force = &m->forces[f];
    if (force->type != other) continue;
    const HkPlasticityParams *plasticity = yields ? params : force->method.params;
    const HkTearingParams *tearing = yields ? force->method.params : params;
    if (!(plasticity->yield_strain >= tearing->strain)) continue;
    int32_t s = hk_chosen_springs_common(data, force->data);
    if (s < 0) continue;
    return hk_fail_key(error, HK_ERROR_INVALID, yields ? "yield_strain" : "strain",
                       "springs such as that between the vertices %d and %d would break at the "
                       "strain %g before they yield at %g; give a yield_strain below it",
                       m->springs.i[s], m->springs.j[s], tearing->strain, plasticity->yield_strain);
  }
  return HK_OK;
}
