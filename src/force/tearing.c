/* Tearing: a spring breaks at the end of a step in which its strain or its force is too large,
 *
 *     (l - l0) / l0 > strain r   or   k (l - l0) > force r,   r = 1 + noise n,
 *
 * where n in -1 .. 1 is drawn for each spring from the seed: which springs break depends on no
 * other spring, thread or step. A broken spring exerts no force; its energy 1/2 k (l - l0)^2 is
 * counted (HkStateInfo.dissipated), momenta stay. Springs under pressure do not break.
 */
#include "force/chosen_springs.h"

#include "base/file.h"
#include "base/vec.h"
#include "force/lost_energy.h"
#include "force/spring_changes.h"
#include "force/yielding.h"

static const HkParam params[] = {
    HK_CHOSEN_SPRINGS(HkTearingParams),
    HK_NUMBER(HkTearingParams, strain, "1", NAN, 0, HK_MAX, "strain at which a spring breaks"),
    HK_NUMBER(HkTearingParams, force, "N", NAN, 0, HK_MAX, "force at which a spring breaks"),
    HK_NUMBER(HkTearingParams, noise, "1", 0, 0, 1,
              "part by which strain and force differ from spring to spring, up or down"),
    HK_INTEGER(HkTearingParams, seed, 1, 0, 1000000000, "of the noise"),
};

static HkStatus compile(HkModel *model, const void *chosen, void **data, HkError *error) {
  const HkTearingParams *p = chosen;
  if (isnan(p->strain) && isnan(p->force))
    return hk_fail_key(error, HK_ERROR_INVALID, "strain",
                       "say when springs break: give \"strain\", \"force\" or both");
  HK_TRY(hk_chosen_springs_create(model, &p->select, p->springs, data, error));
  HkStatus status = hk_yielding_check(model, &hk_force_tearing, p, *data, error);
  if (status < 0) hk_chosen_springs_destroy(model, *data);
  if (status < 0) *data = NULL;
  return status;
}

/* r of a spring, from a hash of its vertices and the seed. */
static double strength(const HkTearingParams *p, const HkSpringArrays *springs, int32_t s) {
  if (p->noise == 0) return 1;
  int32_t key[] = {p->seed, springs->i[s], springs->j[s]};
  double part = (double)(hk_hash(HK_HASH_START, key, sizeof key) >> 11) * 0x1p-53; /* 0 .. 1 */
  return 1 + p->noise * (2 * part - 1);
}

/* Breaks chosen springs begin .. end - 1; returns the energy (J) that they had. */
static double break_range(void *user, int64_t begin, int64_t end) {
  const HkForceArgs *a = user;
  const HkTearingParams *p = a->params;
  const HkChosenSprings *chosen = a->data;
  const HkSpringChanges *changes = a->work.changes;
  const HkSpringArrays *springs = changes->used;
  double lost = 0;
  for (int64_t q = begin; q < end; q++) {
    int32_t s = chosen->spring[q];
    double d[3], l0 = springs->l0[s], k = springs->k[s];
    hk_sub(a->x + 3 * (int64_t)springs->i[s], a->x + 3 * (int64_t)springs->j[s], d);
    double square = hk_dot(d, d);
    if (k == 0 || !(square > l0 * l0)) continue;
    double stretch = sqrt(square) - l0, r = strength(p, springs, s);
    if (!(stretch > p->strain * r * l0 || k * stretch > p->force * r)) continue;
    lost += 0.5 * k * stretch * stretch;
    hk_spring_break(changes, s);
  }
  return lost;
}

static HkStatus end_step(const HkForceArgs *a, double h, HkError *error) {
  HkForceArgs copy = *a;
  const HkChosenSprings *chosen = a->data;
  (void)h;
  double lost = hk_parallel_sum(a->model->threads, chosen->count, break_range, &copy, a->work.sums);
  if (lost > 0) hk_springs_broke(a->work.changes);
  return hk_lost_energy_add(a, lost, error);
}

const HkForceType hk_force_tearing = {
    .schema = {.name = "tearing",
               .summary = "springs that break above a strain or a force",
               .formula = "broken where (l - l0) / l0 > strain r or k (l - l0) > force r",
               HK_PARAMS(HkTearingParams, params)},
    .slot = HK_ENERGY_OTHER,
    .compile = compile,
    .destroy = hk_chosen_springs_destroy,
    .bytes = hk_chosen_springs_bytes,
    .create_state = hk_lost_energy_create,
    .destroy_state = hk_lost_energy_destroy,
    .state_bytes = hk_lost_energy_bytes,
    .remembers = true,
    .load = hk_lost_energy_load,
    .end_step = end_step,
    .changed_springs = hk_chosen_springs,
    .lost = hk_lost_energy,
};
