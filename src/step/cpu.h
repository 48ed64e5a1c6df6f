/* The stepper of the CPU: steps that HkSim makes itself. */
#ifndef HK_STEP_CPU_H
#define HK_STEP_CPU_H

#include "step/stepper.h"

extern const HkStepperType hk_stepper_cpu;

#endif
