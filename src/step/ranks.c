/* Steps of all ranks together (model/part.h): the stepper of HK_PETSC.
 *
 * Every rank makes the steps of its part as the CPU does (cpu.c): sums over vertices and springs
 * are those of all ranks, and ghosts follow their owners, so that every rank takes the same
 * decisions. What depends on more of the model than a part holds is refused here.
 */
#include "step/ranks.h"

#include "minimize/minimize.h"
#include "model/part.h"
#include "step/cpu.h"
#include "step/implicit.h"
#include "step/sim.h"

#include <string.h>

typedef struct Ranks {
  HkStepper base;
  HkStepper *cpu;
  HkSim *sim;
} Ranks;
_Static_assert(offsetof(Ranks, base) == 0, "a stepper begins with its base");

/* ---- What parts support ---- */

static HkStatus check_linear(const HkMethod *linear, HkError *error) {
  static const char *const preconditioners[] = {"multigrid", "block_jacobi", "jacobi", "gamg",
                                                "hypre"};
  const HkParam *p = hk_param_find(linear->schema, "preconditioner");
  const char *name = linear->schema->name;
  if (strcmp(name, "pcg") != 0 && strcmp(name, "cg") != 0 && strcmp(name, "ksp") != 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the device petsc supports the linear solvers pcg, cg and ksp; \"%s\" was "
                   "requested",
                   name);
  if (!p) return HK_OK;
  const HkMethod *inner = (const HkMethod *)((const char *)linear->params + p->offset);
  for (size_t k = 0; k < sizeof preconditioners / sizeof preconditioners[0]; k++)
    if (!inner->schema || strcmp(inner->schema->name, preconditioners[k]) == 0) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "the device petsc supports the preconditioners multigrid, block_jacobi, jacobi, "
                 "gamg and hypre; \"%s\" was requested",
                 inner->schema->name);
}

/* Checks the minimizer and the linear solver in a method. */
static HkStatus check_methods(const HkMethod *method, HkError *error) {
  for (int k = 0; method->schema && k < method->schema->param_count; k++) {
    const HkParam *p = &method->schema->params[k];
    if (p->kind != HK_PARAM_METHOD) continue;
    const HkMethod *inner = (const HkMethod *)((const char *)method->params + p->offset);
    if (p->family == HK_MINIMIZE && strcmp(inner->schema->name, "newton") != 0)
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "the device petsc supports the minimizer newton; \"%s\" was requested",
                     inner->schema->name);
    if (p->family == HK_LINEAR) HK_TRY(check_linear(inner, error));
    HK_TRY(check_methods(inner, error));
  }
  return HK_OK;
}

HkStatus hk_ranks_check(const HkModel *m, const HkMethod *method, HkError *error) {
  static const char *const integrators[] = {"symplectic_euler", "verlet", "backward_euler", "bdf2",
                                            "linear_implicit_euler"};
  const char *name = method->schema->name;
  bool known = false;
  for (size_t k = 0; k < sizeof integrators / sizeof integrators[0]; k++)
    known |= strcmp(name, integrators[k]) == 0;
  if (!known)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the device petsc supports the integrators symplectic_euler, verlet, "
                   "backward_euler, bdf2 and linear_implicit_euler; \"%s\" was requested",
                   name);
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->on_device == HK_DEVICE_FORCE_NONE)
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "the device petsc does not support the force "
                     "\"%s\"; remove it, or choose the device cpu",
                     m->forces[f].type->schema.name);
  if (m->time.tolerance > 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the device petsc does not support adaptive steps; leave out time.tolerance");
  return check_methods(method, error);
}

/* ---- The stepper ---- */

static void destroy(HkStepper **stepper) {
  Ranks *r = (Ranks *)*stepper;
  HkContext c = r->sim->model->context;
  if (r->cpu) r->cpu->type->destroy(&r->cpu);
  hk_free(&c, stepper);
}

static HkStatus create(HkSim *sim, HkStepper **stepper, HkError *error) {
  Ranks *r = NULL;
  HK_TRY(hk_alloc(&sim->model->context, &r, 1, sizeof *r, "a simulation", error));
  r->base.type = &hk_stepper_ranks;
  r->sim = sim;
  *stepper = &r->base;
  return hk_stepper_cpu.create(sim, &r->cpu, error);
}

static size_t bytes(const HkStepper *stepper) {
  const Ranks *r = (const Ranks *)stepper;
  return sizeof *r + hk_stepper_cpu.bytes(r->cpu);
}

/* All ranks have made the same steps; an error of one, such as a lack of memory, is that of all. */
static HkStatus steps(HkStepper *stepper, HkState *state, int64_t count, const HkClock *clock,
                      HkError *error) {
  Ranks *r = (Ranks *)stepper;
  HkStatus status = r->cpu->type->steps(r->cpu, state, count, clock, error);
  return hk_model_agree(r->sim->model, status, error);
}

const HkStepperType hk_stepper_ranks = {
    .local = true,
    .create = create,
    .destroy = destroy,
    .bytes = bytes,
    .steps = steps,
};
