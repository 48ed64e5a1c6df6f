/* The loss of `hooke fit`; see fit_motion.h. */
#include "fit_motion.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>

static const double STEPS_MAX = 1e9;

/* ---- Models ---------------------------------------------------------------------------------- */

static void drop_model(FitMotion *m) {
  hk_derivatives_destroy(&m->by);
  hk_sim_destroy(&m->sim);
  hk_model_destroy(&m->model);
}

static HkStatus make_model(FitMotion *m, HkError *error) {
  drop_model(m);
  HkStatus status = hk_model_compile(m->numbers->scene, &m->model, error);
  if (status >= 0) status = hk_sim_create(m->model, NULL, m->h, &m->sim, error);
  if (status >= 0) status = hk_derivatives_create(m->model, &m->by, error);
  if (status >= 0) hk_sim_set_cancel(m->sim, m->cancel, NULL);
  return status;
}

HkStatus fit_motion_create(FitMotion *m, FitNumbers *numbers, const FitTarget *target,
                           HkError *error) {
  m->numbers = numbers;
  m->target = target;
  m->frames = target->frames;
  m->residual = calloc((size_t)(3 * target->count), sizeof *m->residual);
  m->square = calloc((size_t)target->frames, sizeof *m->square);
  if (!m->residual || !m->square) return text_fail(error, HK_ERROR_MEMORY, "out of memory");
  HkStatus status = make_model(m, error);
  if (status < 0) return status;
  double steps = ceil(target->interval / hk_sim_h(m->sim) * (1 - 1e-9));
  double last = target->times[target->frames - 1];
  if (!(steps * last / target->interval < STEPS_MAX))
    return text_fail(error, HK_ERROR_INVALID,
                     "the target lasts %g s in intervals of %g s, which are too many steps of %g s",
                     last, target->interval, hk_sim_h(m->sim));
  m->substeps = steps > 1 ? (int64_t)steps : 1;
  m->h = target->interval / (double)m->substeps;
  return make_model(m, error);
}

void fit_motion_destroy(FitMotion *m) {
  drop_model(m);
  free(m->residual);
  free(m->square);
}

/* ---- Loss ------------------------------------------------------------------------------------ */

static int64_t step_of(const FitMotion *m, int64_t frame) {
  double interval = m->target->times[frame] / m->target->interval;
  return (int64_t)floor(interval + 0.5) * m->substeps;
}

/* Compares a state with a frame of the target; returns the sum of squares. */
static double compare(const FitMotion *m, int64_t frame, const HkState *state) {
  const FitTarget *t = m->target;
  const double *x = hk_state_positions(state);
  double sum = 0;
  for (int64_t s = t->first[frame]; s < t->first[frame + 1]; s++) {
    const Sighting *seen = &t->sightings[s];
    for (int c = 0; c < 3; c++) {
      double mean = 0;
      for (int64_t v = 0; v < seen->count; v++) mean += x[3 * (int64_t)seen->vertex[v] + c];
      double off = mean / (double)seen->count - seen->x[c];
      m->residual[3 * s + c] = off;
      sum += off * off;
    }
  }
  m->square[frame] = sum / (double)(t->first[frame + 1] - t->first[frame]);
  return sum;
}

/* HkLossFn: the derivatives by the positions of a frame. */
static void add_loss(void *user, int64_t step, const HkState *state, double *x, double *v) {
  const FitMotion *m = user;
  const FitTarget *t = m->target;
  double all = (double)t->first[m->frames];
  (void)state, (void)v;
  if (step % m->substeps != 0) return;
  for (int64_t f = 0; f < m->frames; f++) {
    if (step_of(m, f) != step) continue;
    for (int64_t s = t->first[f]; s < t->first[f + 1]; s++) {
      const Sighting *seen = &t->sightings[s];
      for (int64_t k = 0; k < seen->count; k++)
        for (int c = 0; c < 3; c++)
          x[3 * (int64_t)seen->vertex[k] + c] +=
              m->residual[3 * s + c] / (all * (double)seen->count);
    }
  }
}

/* Records the motion and compares it; *sum becomes infinite where it blows up. */
static HkStatus record(FitMotion *m, HkTape *tape, double *sum, HkError *error) {
  *sum = 0;
  for (int64_t f = 0; f < m->frames; f++) {
    HkStatus status = hk_tape_steps(tape, step_of(m, f) - hk_tape_count(tape), error);
    if (status == HK_ERROR_BLOWUP) {
      *sum = INFINITY;
      return HK_OK;
    }
    if (status < 0) return status;
    *sum += compare(m, f, hk_tape_state(tape));
  }
  return HK_OK;
}

static HkStatus differentiate(FitMotion *m, HkTape *tape, double *loss, double *gradient,
                              HkError *error) {
  double sum;
  HkStatus status = record(m, tape, &sum, error);
  *loss = 0.5 * sum / (double)m->target->first[m->frames];
  if (status < 0 || !isfinite(sum)) return status;
  status = hk_tape_backward(tape, add_loss, m, m->by, &m->info, error);
  return status < 0 ? status : fit_numbers_gradient(m->numbers, m->by, gradient, error);
}

HkStatus fit_motion_loss(void *motion, const double *q, double *loss, double *gradient,
                         HkError *error) {
  FitMotion *m = motion;
  FitNumbers *numbers = m->numbers;
  HkTapeSettings settings = hk_tape_settings_default();
  HkTape *tape = NULL;
  HkState *start = NULL;
  settings.bytes = m->memory;
  fit_numbers_set(numbers, q);
  HkStatus status = numbers->compiles ? make_model(m, error) : HK_OK;
  if (status >= 0) status = hk_state_create(m->model, &start, error);
  if (status >= 0 &&
      (numbers->springs[FIT_K] || numbers->springs[FIT_L0] || numbers->springs[FIT_DAMPING]))
    status =
        hk_state_set_springs(start, m->model, numbers->springs[FIT_K], numbers->springs[FIT_L0],
                             numbers->springs[FIT_DAMPING], NULL, error);
  if (status >= 0) status = hk_tape_create(m->sim, start, &settings, &tape, error);
  if (status >= 0) status = differentiate(m, tape, loss, gradient, error);
  hk_tape_destroy(&tape);
  hk_state_destroy(&start);
  return status < 0 ? status : HK_OK;
}
