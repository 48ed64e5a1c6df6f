/* Plasticity: springs yield, and their rest lengths follow (kinematic hardening, Prager 1949).
 *
 * With the initial rest length L (of the model), the rest length l0 of the state, p = l0 - L and
 * the length l at the end of a step, a spring yields where
 *
 *     |xi| > yield_strain L,   xi = (l - l0) - hardening p
 *
 * and p is mapped back to the yield surface, which keeps l:
 *
 *     p+ = p + sign(xi) (|xi| - yield_strain L) / (1 + hardening),   |p+| <= cap L
 *
 * Beyond its yield strain a spring therefore has the slope k hardening / (1 + hardening) until |p|
 * has reached the cap, and k again after it. For given lengths at the ends of steps the map is
 * exact, whatever the step; under given loads the steps have the elastic force, and the flow is
 * accurate to first order in h. A step loses 1/2 k ((l - l0)^2 - (l - l0+)^2), which is counted
 * (HkStateInfo.dissipated): for hardening above 0 that includes what the hardening stores.
 */
#include "force/chosen_springs.h"

#include "base/vec.h"
#include "force/lost_energy.h"
#include "force/spring_changes.h"
#include "force/yielding.h"

static const HkParam params[] = {
    HK_CHOSEN_SPRINGS(HkPlasticityParams),
    HK_NUMBER(HkPlasticityParams, yield_strain, "1", 0.05, 0, HK_MAX,
              "strain at which a spring yields"),
    HK_NUMBER(HkPlasticityParams, hardening, "1", 0, 0, HK_MAX,
              "rise of that strain for each unit of plastic strain"),
    HK_NUMBER(HkPlasticityParams, cap, "1", NAN, 0, HK_MAX,
              "largest plastic strain of a spring; no bound but that a length is positive if not "
              "given"),
};

static HkStatus compile(HkModel *model, const void *chosen, void **data, HkError *error) {
  const HkPlasticityParams *p = chosen;
  HK_TRY(hk_chosen_springs_create(model, &p->select, p->springs, data, error));
  HkStatus status = hk_yielding_check(model, &hk_force_plasticity, p, *data, error);
  if (status < 0) hk_chosen_springs_destroy(model, *data);
  if (status < 0) *data = NULL;
  return status;
}

/* Rest lengths stay above this part of the initial one. */
static const double LEAST_LENGTH = 0.01;

/* Returns the change of p for a spring of length l. */
static double flow(const HkPlasticityParams *p, double l, double l0, double plastic, double L) {
  double xi = l - l0 - p->hardening * plastic, over = fabs(xi) - p->yield_strain * L;
  if (!(over > 0)) return 0;
  double to = plastic + copysign(over / (1 + p->hardening), xi);
  if (!isnan(p->cap)) to = fmin(fmax(to, fmin(-p->cap * L, plastic)), fmax(p->cap * L, plastic));
  to = fmax(to, fmin((LEAST_LENGTH - 1) * L, plastic));
  return to - plastic;
}

/* Lets the chosen springs begin .. end - 1 flow; returns the energy (J) that they lose. */
static double flow_range(void *user, int64_t begin, int64_t end) {
  const HkForceArgs *a = user;
  const HkPlasticityParams *p = a->params;
  const HkChosenSprings *chosen = a->data;
  const HkSpringChanges *changes = a->work.changes;
  const HkSpringArrays *springs = changes->used;
  double lost = 0;
  for (int64_t q = begin; q < end; q++) {
    int32_t s = chosen->spring[q];
    double L = a->model->springs.l0[s], plastic = changes->state->l0[s] - L, l0 = springs->l0[s];
    double rest = l0 + p->hardening * plastic, reach = p->yield_strain * L, d[3];
    hk_sub(a->x + 3 * (int64_t)springs->i[s], a->x + 3 * (int64_t)springs->j[s], d);
    double square = hk_dot(d, d), least = fmax(rest - reach, 0), most = rest + reach;
    if (square >= least * least && square <= most * most) continue;
    double l = sqrt(square), k = springs->k[s];
    if (k == 0 || (springs->tension && springs->tension[s] && l < l0)) continue;
    double more = flow(p, l, l0, plastic, L);
    if (more == 0) continue;
    hk_spring_lengthen(changes, s, more);
    lost += 0.5 * k * more * ((l - l0) + (l - l0 - more));
  }
  return lost;
}

static HkStatus end_step(const HkForceArgs *a, double h, HkError *error) {
  HkForceArgs copy = *a;
  const HkChosenSprings *chosen = a->data;
  (void)h;
  double lost = hk_parallel_sum(a->model->threads, chosen->count, flow_range, &copy, a->work.sums);
  return hk_lost_energy_add(a, lost, error);
}

const HkForceType hk_force_plasticity = {
    .schema = {.name = "plasticity",
               .summary = "springs that yield: beyond a strain their rest lengths follow",
               .formula = "|l - l0 - hardening (l0 - L)| <= yield_strain L,  L = l0 at the start",
               HK_PARAMS(HkPlasticityParams, params)},
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
