/* Constrained vertices and obstacles on their way to their places of a stage, where forces do not
 * allow every move.
 *
 * They go there at once if the other vertices may stay, or move as predicted. Otherwise what is
 * in their way is pushed along, all go as far as they can, a few iterations of the minimizer make
 * way, and so on, until the places are reached. A minimization needs positions that are allowed;
 * it does not matter for its result where it starts.
 */
#include "step/implicit.h"

#include <string.h>

/* Iterations between two moves, which double with each move of less than LEAST of what is left, up
 * to DOUBLINGS_MAX times; and how many such moves end in an error. */
enum { ITERATIONS = 3, DOUBLINGS_MAX = 6, BLOCKED_MAX = 30, ROUNDS_MAX = 10000 };
static const double LEAST = 1e-3;

static void place_pins(const HkSim *sim, const HkState *state, double *x) {
  const HkImplicit *implicit = sim->data;
  const HkModel *m = sim->model;
  for (int64_t p = 0; p < m->pin_count; p++) {
    int64_t i = 3 * (int64_t)m->pin_vertex[p];
    if (state->pin_held[p]) memcpy(x + i, implicit->problem.y + i, 3 * sizeof *x);
  }
}

/* Tries the whole move from x to `to`. */
static bool arrives(HkSim *sim, const double *x, const double *to, HkError *why) {
  const HkProblem *p = &((HkImplicit *)sim->data)->problem;
  if (hk_forces_reach(sim->model, p->work, p->t, x, to, why) < 1) return false;
  hk_forces_advance(sim->model, p->work, p->t, x, 1);
  return true;
}

/* The other vertices make way, as far as a few iterations go: more where the last ones were not
 * enough for a slow minimizer. */
static HkStatus make_way(HkSim *sim, const HkState *state, const HkStage *stage, int blocked,
                         double *x, HkError *error) {
  HkImplicit *implicit = sim->data;
  HkStopping *stopping = implicit->minimizer->method.params;
  int iterations = stopping->iterations;
  int few = ITERATIONS << (blocked < DOUBLINGS_MAX ? blocked : DOUBLINGS_MAX);
  HK_TRY(hk_implicit_predict(sim, state, stage, x, error));
  hk_problem_measure(&implicit->problem, state->x);
  stopping->iterations = few < iterations ? few : iterations;
  HkStatus status = hk_minimize(implicit->minimizer, x, error);
  stopping->iterations = iterations;
  return status < 0 ? status : HK_OK;
}

static HkStatus go(HkSim *sim, const HkState *state, const HkStage *stage, double *x, double *to,
                   HkError *error) {
  const HkProblem *p = &((HkImplicit *)sim->data)->problem;
  HkError why = {0};
  for (int round = 0, blocked = 0; round < ROUNDS_MAX && blocked < BLOCKED_MAX; round++) {
    hk_vectors_copy(&p->space, x, to);
    place_pins(sim, state, to);
    hk_forces_carry(sim->model, p->work, p->t, x, to);
    place_pins(sim, state, to);
    double part = hk_forces_reach(sim->model, p->work, p->t, x, to, &why);
    hk_forces_advance(sim->model, p->work, p->t, x, part);
    hk_vectors_subtract(&p->space, to, x, to);
    hk_vectors_add(&p->space, part, to, x, x);
    if (part == 1) {
      place_pins(sim, state, x);
      return HK_OK;
    }
    blocked = part < LEAST ? blocked + 1 : 0;
    HK_TRY(make_way(sim, state, stage, blocked, x, error));
    HK_TRY(hk_cancel_check(p->cancel, error));
  }
  return hk_fail(
      error, HK_ERROR_INVALID,
      "pins or obstacles cannot get to their places of %g s without an intersection: %s; "
      "change their motion, or leave them space",
      p->t, why.text[0] ? why.text : "something is in the way");
}

HkStatus hk_implicit_arrive(HkSim *sim, const HkState *state, const HkStage *stage,
                            HkError *error) {
  HkImplicit *implicit = sim->data;
  HkProblem *p = &implicit->problem;
  const HkModel *m = sim->model;
  HkError why = {0};
  if (!implicit->start)
    HK_TRY(hk_alloc_vector(&m->context, &implicit->start, m->n, "an implicit step", error));
  double *start = implicit->start;
  hk_forces_begin_stage(m, p->work, p->t, state->x);
  hk_vectors_copy(&p->space, state->x, start);
  place_pins(sim, state, start);
  if (arrives(sim, state->x, start, &why)) {
    hk_problem_filter(p, start, implicit->ahead);
    return HK_OK;
  }
  if (arrives(sim, state->x, implicit->ahead, &why)) {
    hk_vectors_copy(&p->space, implicit->ahead, start);
    return HK_OK;
  }
  hk_vectors_copy(&p->space, state->x, start);
  HK_TRY(go(sim, state, stage, start, implicit->x, error));
  hk_problem_filter(p, start, implicit->ahead);
  return HK_OK;
}
