/* The trapezoidal rule (Newmark's method with beta = 1/4, gamma = 1/2), second order:
 *
 *     x+ = x + h v + h^2/4 (a + a+),   v+ = v + h/2 (a + a+),   a = M^-1 f(x, v, t)
 *
 * x+ minimizes 1/2 (x+ - y)^T M (x+ - y) + h^2/4 E(x+) with y = x + h v + h^2/4 a, and its velocity
 * is v+ = (x+ - x) 2/h - v. Like the midpoint rule it damps nothing; on linear springs the two have
 * the same amplification. It evaluates forces at the ends of the step, the midpoint rule between
 * them.
 *
 * Contact corrects its steps (contact/correct.c). A barrier would act at the ends of steps: the
 * force at the end of an impact is there again at the start of the next step, and a mass leaves
 * twice as fast as it came (docs/experiments.md).
 */
#include "step/implicit.h"

static const HkParam params[] = {HK_IMPLICIT_PARAMS(HkImplicitParams)};

static HkStatus step(HkSim *sim, HkState *s, HkError *error) {
  HkImplicit *implicit = sim->data;
  HkProblem *p = &implicit->problem;
  double h = sim->h, half = 0.5 * h, *a = implicit->x;
  hk_sim_acceleration(sim, s, s->time, s->x, s->v, a);
  hk_sim_axpy(sim, half, s->v, s->x, p->b);
  hk_sim_axpy(sim, half, s->v, p->b, p->y);
  hk_sim_axpy(sim, half * half, a, p->y, p->y);
  HkStatus status =
      hk_implicit_solve(sim, s, &(HkStage){.t = s->time + h, .tau = half, .ahead = h}, error);
  if (status < 0) return status;
  hk_vectors_subtract(&p->space, implicit->x, p->b, s->v);
  hk_vectors_scale(&p->space, 1 / half, s->v);
  hk_vectors_copy(&p->space, implicit->x, s->x);
  s->time += h;
  hk_pins_place(sim->model, s, s->time, s->x, s->v);
  return status;
}

const HkStepType hk_step_trapezoidal = {
    .schema = {.name = "trapezoidal",
               .summary =
                   "second order (Newmark 1/4, 1/2), keeps the energy of linear springs only",
               .formula = "x+ = x + h v + h^2/4 (a + a+),  v+ = v + h/2 (a + a+)",
               HK_PARAMS(HkImplicitParams, params)},
    .order = 2,
    .implicit = true,
    .minimizes = true,
    .filters = true,
    .create = hk_implicit_create,
    .destroy = hk_implicit_destroy,
    .bytes = hk_implicit_bytes,
    .step = step,
    .stable_step = hk_implicit_stable_step,
    .stability = "every step is stable for linear springs only; the energy of others may grow",
};
