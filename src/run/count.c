/* Counts the steps of a run, their iterations, and the steps that did not converge.
 *
 * A step that did not converge does not end the run: the first one is logged with a way out, and
 * their number is in HkProgress.unconverged and, for each frame, in solver.csv (HkTally).
 */
#include "run/run.h"

#include <stdio.h>

/* Logs the first step that did not converge, with a way out; later ones are only counted. */
static void log_unconverged(const HkRun *run, const HkTally *made, const HkStepInfo *r) {
  static const char *const ways[] = {
      [HK_STOP_NONE] = "time.tolerance cannot be met; give a larger one",
      [HK_STOP_CONVERGED] = "time.tolerance cannot be met; give a larger one",
      [HK_STOP_ROUNDING] = "single precision allows no more; compute in double precision",
      [HK_STOP_STATIONARY] = "time.tolerance cannot be met; give a larger one",
      [HK_STOP_ITERATIONS] =
          "give the minimizer more iterations or a larger tolerance, or a smaller time.step",
      [HK_STOP_STALLED] = "no step length lowers the energy; give the minimizer a larger tolerance",
      [HK_STOP_LIMITS] = "springs are beyond their strain_limit; give it a wider range",
  };
  char work[160] = "", residual[64] = "", which[80] = "the step";
  if (r->residual > 0)
    snprintf(residual, sizeof residual, ", the linear solver a residual of %.2g", r->residual);
  if (r->reason == HK_STOP_ITERATIONS || r->reason == HK_STOP_STALLED ||
      r->reason == HK_STOP_ROUNDING)
    snprintf(work, sizeof work, "%d iterations left the relative gradient at %.2g%s; ",
             r->iterations, r->gradient, residual);
  if (made->steps > 1)
    snprintf(which, sizeof which, "%lld of the %lld steps", (long long)made->unconverged,
             (long long)made->steps);
  hk_log(&run->context, HK_LOG_WARNING,
         "%s to %g s did not converge: %s%s (later ones are only counted)", which, run->state->time,
         work, ways[r->reason]);
}

/* Adds steps up; missed: the first of these steps that did not converge, if any. */
static void count_made(HkRun *run, const HkTally *made, const HkStepInfo *missed) {
  hk_tally_add(&run->tally, made);
  run->steps += made->steps;
  run->substep += made->steps;
  if (made->unconverged > 0 && run->unconverged == 0) log_unconverged(run, made, missed);
  run->stationary += made->stationary;
  run->unconverged += made->unconverged;
}

void hk_run_count(HkRun *run, HkStatus status, int64_t count) {
  HkStepInfo r = hk_sim_step_info(run->sim);
  HkTally step = {.steps = count,
                  .substeps = r.substeps,
                  .rejected = r.rejected,
                  .iterations = r.iterations,
                  .worst_iterations = r.iterations,
                  .linear_iterations = r.linear_iterations,
                  .projections = r.projections,
                  .stationary = r.reason == HK_STOP_STATIONARY ? count : 0,
                  .unconverged = status == HK_NOT_CONVERGED,
                  .reason = r.reason,
                  .gradient = r.gradient};
  count_made(run, &step, &r);
}

void hk_run_count_steps(HkRun *run, const HkStepsInfo *r, int64_t count) {
  HkTally made = {.steps = count,
                  .iterations = r->iterations,
                  .worst_iterations = r->worst_iterations,
                  .linear_iterations = r->linear_iterations,
                  .stationary = r->stationary,
                  .unconverged = r->unconverged,
                  .reason = r->last.reason,
                  .gradient = r->gradient};
  count_made(run, &made, &r->missed);
}
