/* Linearly implicit (semi-implicit) Euler, first order, one linear system a step:
 *
 *     (M - h^2 K+ - h D) v+ = M v + h (f - D v),   x+ = x + h v+
 *
 * K+ = df/dx of the forces with a potential, without the negative geometric stiffness of compressed
 * springs, D = df/dv (its symmetric part): backward Euler with f replaced by its linearization at
 * the old state, which is one Newton iteration from there with the projected Hessian. Every step is
 * stable for linear forces, where the amplitude of a mode shrinks by 1 / sqrt(1 + h^2 omega^2) a
 * step; not in every motion, since nothing bounds the energy if springs rotate far within a step.
 * It is beta.c with beta = 1; that file derives why K+ does not change the order.
 */
#include "step/linear_implicit.h"

typedef struct LinearImplicit {
  HkMethod linear;
} LinearImplicit;

static const HkParam params[] = {
    HK_METHOD(LinearImplicit, linear, HK_LINEAR,
              "solver of the linear system; by the size of the model unless given"),
};

static HkStatus create(HkSim *sim, HkError *error) {
  const LinearImplicit *p = sim->method.params;
  return hk_implicit_create_linear(sim, &p->linear, error);
}

static void update(const HkSim *sim, const HkState *state, HkUpdate *u) {
  (void)sim;
  (void)state;
  *u = (HkUpdate){.kind = HK_UPDATE_LINEAR, .beta = 1};
}

static HkStatus step(HkSim *sim, HkState *s, HkError *error) {
  return hk_linear_implicit_step(sim, s, 1, error);
}

static HkStatus to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  const LinearImplicit *p = chosen;
  const HkLinearType *linear = hk_linear_type(p->linear.schema);
  if (!linear->to_device) return hk_fail_device(HK_LINEAR, linear->schema.name, "pcg", error);
  settings->step = HK_DEVICE_LINEAR;
  HK_TRY(linear->to_device(p->linear.params, settings, error));
  return hk_implicit_need_multigrid("linear_implicit_euler", settings, error);
}

const HkStepType hk_step_linear_implicit_euler = {
    .schema =
        {.name = "linear_implicit_euler",
         .summary =
             "first order, one linear system a step; every step is stable for linear forces, "
             "not in every motion",
         .formula =
             "(M - h^2 K+ - h D) v+ = M v + h (f - D v),  x+ = x + h v+;  K+: df/dx with springs "
             "under pressure slack across their length",
         HK_PARAMS(LinearImplicit, params)},
    .order = 1,
    .drive_time = 1,
    .implicit = true,
    .energy_interval = HK_WATCH_LINEAR,
    .create = create,
    .destroy = hk_implicit_destroy,
    .bytes = hk_implicit_bytes,
    .update = update,
    .step = step,
    .to_device = to_device,
    .device_multigrid = true,
    .stable_step = hk_implicit_stable_step,
    .stability = "every step is stable for linear forces, not in every motion",
};
