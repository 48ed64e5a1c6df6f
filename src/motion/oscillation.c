/* A pin that swings along a line.
 *
 *     x(t) = x0 + A sin p,   v(t) = w A cos p,   a(t) = -w^2 A sin p,   p = w t + phase, w = 2 pi f
 *
 * with the amplitude A (m), the frequency f (Hz) and the phase in degrees. With a phase other than
 * 0 the pin starts beside the place where the mesh has it.
 */
#include "motion/motion.h"

typedef struct Oscillation {
  double amplitude[3];
  double frequency, phase;
} Oscillation;

static const HkParam params[] = {
    HK_VECTOR(Oscillation, amplitude, "m", 0, 0.1, 0, "direction and largest displacement"),
    HK_NUMBER(Oscillation, frequency, "Hz", 1, 0, 1e12, "swings per second"),
    HK_NUMBER(Oscillation, phase, "degrees", 0, -1e9, 1e9, "of the swing at time 0"),
};

/* Whole periods are removed before the multiplication by pi: long times lose no digits. */
static double angle_at(const Oscillation *p, double t) {
  return 2 * M_PI * (fmod(p->frequency * t, 1) + fmod(p->phase, 360) / 360);
}

static void at(const void *chosen, double t, const double x0[3], double x[3], double v[3],
               double a[3]) {
  const Oscillation *p = chosen;
  double angle = angle_at(p, t), rate = 2 * M_PI * p->frequency;
  for (int c = 0; c < 3; c++) {
    x[c] = x0[c] + p->amplitude[c] * sin(angle);
    v[c] = rate * p->amplitude[c] * cos(angle);
    if (a) a[c] = -rate * rate * p->amplitude[c] * sin(angle);
  }
}

static void columns(const void *chosen, double t, HkMotionSink *sink) {
  const Oscillation *p = chosen;
  double angle = angle_at(p, t), rate = 2 * M_PI * p->frequency;
  double dx[3], dv[3];
  for (int axis = 0; axis < 3; axis++) {
    for (int c = 0; c < 3; c++) {
      dx[c] = c == axis ? sin(angle) : 0;
      dv[c] = c == axis ? rate * cos(angle) : 0;
    }
    sink->number(sink, &p->amplitude[axis], dx, dv);
  }
  for (int c = 0; c < 3; c++) { /* dp/df = 2 pi t, and w = 2 pi f */
    dx[c] = 2 * M_PI * t * p->amplitude[c] * cos(angle);
    dv[c] = 2 * M_PI * p->amplitude[c] * (cos(angle) - rate * t * sin(angle));
  }
  sink->number(sink, &p->frequency, dx, dv);
  for (int c = 0; c < 3; c++) { /* per degree */
    dx[c] = M_PI / 180 * p->amplitude[c] * cos(angle);
    dv[c] = -M_PI / 180 * rate * p->amplitude[c] * sin(angle);
  }
  sink->number(sink, &p->phase, dx, dv);
}

const HkMotionType hk_motion_oscillation = {
    .schema = {.name = "oscillation",
               .summary = "the pin swings along a line",
               .formula = "x(t) = x0 + amplitude sin(2 pi frequency t + phase)",
               HK_PARAMS(Oscillation, params)},
    .at = at,
    .differentiable = "amplitude|frequency|phase",
    .columns = columns,
};
