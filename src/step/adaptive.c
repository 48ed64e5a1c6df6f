/* Step doubling: each part of a step is made once as a whole and once as two halves.
 *
 * For an integrator of order p their distance is 2^p - 1 times the error of the halves, which is
 * compared with time.tolerance (m, the largest of all coordinates, and of the velocities times the
 * length of the part). If it is too large, half the part is tried; if it is less than 1 / 2^(p + 2)
 * of the tolerance, the next part is twice as long. The halves are kept, so the result is more
 * accurate than the tolerance. Parts are not halved for errors that may be rounding.
 *
 * Parts are the step divided by a power of two and begin at multiples of themselves. So they meet
 * the end of the step exactly, an implicit method reuses the same few step lengths, and their
 * number is bounded. The level (parts of h / 2^level) belongs to the state: a resumed run continues
 * with the same parts. A step that is cancelled after some of its parts leaves the state as it was
 * at its start.
 */
#include "step/adaptive.h"

#include <float.h>

HkStatus hk_adaptive_create(HkSim *sim, HkError *error) {
  HK_TRY(hk_state_create(sim->model, &sim->whole, error));
  HK_TRY(hk_state_create(sim->model, &sim->halves, error));
  return hk_state_create(sim->model, &sim->start, error);
}

void hk_adaptive_destroy(HkSim *sim) {
  hk_state_destroy(&sim->whole);
  hk_state_destroy(&sim->halves);
  hk_state_destroy(&sim->start);
}

/* Returns the largest difference along a coordinate, of positions or of velocities times h, and the
 * rounding error of coordinates; NAN if a value is NAN. Positions alone may agree by chance. */
static double distance(const HkState *a, const HkState *b, double h, double *rounding) {
  double most = 0, furthest = 0;
  for (int64_t c = 0; c < 3 * a->n; c++) {
    double d = fabs(a->x[c] - b->x[c]), w = h * fabs(a->v[c] - b->v[c]);
    if (d > most || isnan(d)) most = d;
    if (w > most || isnan(w)) most = w;
    furthest = fmax(furthest, fabs(b->x[c]));
  }
  *rounding = 8 * DBL_EPSILON * furthest;
  return most;
}

/* Adds the work of a solve, which counts whether or not its result is kept. */
static void add_work(HkStepInfo *sum, const HkStepInfo *part) {
  sum->iterations += part->iterations;
  sum->linear_iterations += part->linear_iterations;
  sum->evaluations += part->evaluations;
  sum->projections += part->projections;
}

/* Keeps the worst gradient, residual and reason of solves whose results are kept. */
static void add_outcome(HkStepInfo *sum, const HkStepInfo *part) {
  sum->gradient = fmax(sum->gradient, part->gradient);
  sum->residual = fmax(sum->residual, part->residual);
  if (part->reason > sum->reason) sum->reason = part->reason;
}

static HkStatus move(HkSim *sim, HkState *state, double h, HkStepInfo *sum, HkError *error) {
  sim->h = h;
  sim->info = (HkStepInfo){0};
  HK_TRY(hk_cancel_check(&sim->cancel, error));
  HK_TRY(hk_sim_use_springs(sim, state, error));
  HkStatus status = hk_sim_move(sim, state, error);
  add_work(sum, &sim->info);
  return status;
}

/* The error of the halves of a part (m), and the bound of its rounding error. */
typedef struct Size {
  double error, rounding;
} Size;

/* Makes one part as a whole and in halves; *outcome becomes the step info of the halves. */
static HkStatus try_part(HkSim *sim, const HkState *state, double h, Size *size, HkStepInfo *sum,
                         HkStepInfo *outcome, HkError *error) {
  HK_TRY(hk_state_copy(state, sim->whole, error));
  HK_TRY(hk_state_copy(state, sim->halves, error));
  HK_TRY(move(sim, sim->whole, h, sum, error));
  HkStatus first = move(sim, sim->halves, 0.5 * h, sum, error);
  if (first < 0) return first;
  add_outcome(outcome, &sim->info);
  HkStatus second = move(sim, sim->halves, 0.5 * h, sum, error);
  add_outcome(outcome, &sim->info);
  size->error = distance(sim->whole, sim->halves, h, &size->rounding);
  size->error /= (double)((1 << sim->type->order) - 1);
  return second != HK_OK ? second : first;
}

static HkStatus step(HkSim *sim, HkState *state, double h, HkStepInfo *sum, HkError *error) {
  double tolerance = sim->model->time.tolerance;
  double small = tolerance / (double)(1 << (sim->type->order + 2));
  const int64_t end = (int64_t)1 << HK_STATE_DEPTH_MAX;
  HkStatus worst = HK_OK;
  for (int64_t at = 0; at < end;) {
    int64_t length = end >> state->level;
    Size size = {NAN, 0};
    HkStepInfo outcome = {0};
    HkStatus status =
        try_part(sim, state, h * (double)length / (double)end, &size, sum, &outcome, error);
    if (status < 0) return status;
    bool met = size.error <= tolerance, gains = !(size.error <= size.rounding);
    if (!met && gains && state->level < HK_STATE_DEPTH_MAX) {
      state->level++;
      sum->rejected++;
      continue;
    }
    if (!met) status = HK_NOT_CONVERGED;
    if (status != HK_OK) worst = status;
    int level = state->level;
    add_outcome(sum, &outcome);
    HK_TRY(hk_state_copy(sim->halves, state, error));
    at += length;
    sim->part = (double)at / (double)end;
    sum->substeps++;
    if (isnan(size.error)) return worst; /* the blow-up check returns the error */
    state->level = size.error < small && level > 0 && at % (2 * length) == 0 ? level - 1 : level;
  }
  return worst;
}

HkStatus hk_adaptive_step(HkSim *sim, HkState *state, HkError *error) {
  double h = sim->h;
  HkStepInfo sum = {0};
  sim->work.whole_step = h;
  HK_TRY(hk_state_copy(state, sim->start, error));
  HkStatus status = step(sim, state, h, &sum, error);
  if (status == HK_ERROR_CANCELLED) HK_TRY(hk_state_copy(sim->start, state, error));
  sim->part = 0;
  sim->h = h;
  sim->info = sum;
  return status;
}
