/* Steppers make the steps of a simulation. HkSim and HkRun use only this interface; the CPU
 * (step/cpu.c) and devices (backend/remote.c) implement it.
 */
#ifndef HK_STEP_STEPPER_H
#define HK_STEP_STEPPER_H

#include "model/state.h"

/* Times as multiples of the step, not sums of it, so that rounding does not add up: after the k-th
 * step the time is begin + (first + k) h. */
typedef struct HkClock {
  double begin; /* s */
  int64_t first;
} HkClock;

/* Step info, summed over steps. */
typedef struct HkStepsInfo {
  int64_t iterations, linear_iterations;
  int64_t worst_iterations; /* largest count of one step */
  int64_t stationary;       /* steps with HK_STOP_STATIONARY */
  int64_t unconverged;      /* steps that do not meet their tolerance */
  double gradient;          /* the largest of all steps */
  HkStepInfo last, missed;  /* the last step; the first one that did not converge */
} HkStepsInfo;

/* A stepper; the struct of an implementation begins with it. */
typedef struct HkStepper {
  const struct HkStepperType *type;
} HkStepper;

typedef struct HkStepperType {
  bool local;         /* steps use the workspace of HkSim */
  bool asynchronous;  /* `steps` returns before the steps are complete; settle and run_ahead are not
                         NULL */
  bool takes_springs; /* supports states with springs of their own */
  HkStatus (*create)(HkSim *sim, HkStepper **stepper, HkError *error);
  void (*destroy)(HkStepper **stepper);
  size_t (*bytes)(const HkStepper *stepper);
  /* Makes or queues steps; clock NULL: each step adds h to the time. An asynchronous stepper
   * returns the status of earlier steps that have been fetched since the last call. */
  HkStatus (*steps)(HkStepper *stepper, HkState *state, int64_t count, const HkClock *clock,
                    HkError *error);
  /* Waits until sim->info is the step info of the last step; NULL: it always is. */
  void (*synchronize)(HkStepper *stepper);
  /* Waits, copies the state to the host and checks it for a blow-up; *info becomes the step info of
   * the last call of steps. Returns HK_NOT_CONVERGED if a step did not converge whose status no
   * earlier call has returned. */
  HkStatus (*settle)(HkStepper *stepper, HkState *state, HkStepsInfo *info, HkError *error);
  /* Queues the steps that the caller will ask for next; the state on the host does not change. */
  HkStatus (*run_ahead)(HkStepper *stepper, HkState *state, int64_t count, const HkClock *clock,
                        HkError *error);
} HkStepperType;

/* src/registry: the stepper for a kind of device. */
const HkStepperType *hk_stepper_type(HkDeviceKind device);

#endif
