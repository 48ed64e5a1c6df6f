/* The parts of explicit integrators, in one pass over memory:
 *
 *     kick    v+ = v + h M^-1 f(t, x, w)     w: the velocities that f depends on
 *     drift   x+ = x + h v+
 *
 * A kick sums the springs and writes the velocities. As soon as no vertex needs the old positions
 * of a block of vertices, the block drifts while it is still in the cache, and its kinetic energy
 * is summed for the blow-up check. Memory traffic: x, v, m and the rows of the springs are read
 * once, x and v written once, 104 bytes a vertex and 20 a half spring, or 0 a half spring if
 * springs are regular (force/spring_rows.h). In single precision (single.h) it is half of that, and
 * 12 a half spring.
 */
#ifndef HK_STEP_KICK_H
#define HK_STEP_KICK_H

#include "step/sim.h"

/* Parameters of the integrators that kick and drift. */
typedef struct HkKickParams {
  int precision; /* HK_KICK_AUTO and so on */
} HkKickParams;

enum { HK_KICK_AUTO, HK_KICK_DOUBLE, HK_KICK_SINGLE };

#define HK_KICK_PRECISION                                                                          \
  HK_CHOICE(HkKickParams, precision, HK_KICK_AUTO, "auto|double|single",                           \
            "of positions, velocities and springs while it steps; single is faster and has 7 "     \
            "digits: too few for motions of less than 1e-7 of the model's size a step; auto: "     \
            "double, and single on a device")

/* Create and destroy sim->data; half: hk_kick_half will be called. */
HkStatus hk_kick_create(HkSim *sim, bool half, HkError *error);
void hk_kick_destroy(HkSim *sim);
size_t hk_kick_bytes(const HkSim *sim);
/* In single precision, state->x and v are valid for held pins only between open and close. */
void hk_kick_open(HkSim *sim, const HkState *state);
void hk_kick_close(HkSim *sim, HkState *state);

/* v+ = v + h M^-1 f(t, x, w), x+ = x + drift v+ with w = v, or the w of hk_kick_half. */
void hk_kick_drift(HkSim *sim, HkState *state, double t, double h, double drift, bool half);
/* w = v + h M^-1 f(t, x, v); w = v for held pins. */
void hk_kick_half(HkSim *sim, HkState *state, double t, double h);
/* x+ = x + h v */
void hk_drift_only(HkSim *sim, HkState *state, double h);
/* Places the held pins at a time. */
void hk_kick_pins(HkSim *sim, HkState *state, double t);
/* Places the held pins at the end of a step and adds their kinetic energy. */
void hk_kick_end(HkSim *sim, HkState *state);

/* ---- Kernels: kernels/kick.c ---- */

typedef struct HkKickArgs {
  const HkSpringRows *rows;
  const double *x, *v, *w;
  const double *f;    /* N, of other forces; NULL: there are none */
  const double *mass; /* kg */
  double g[3];        /* m/s^2, acceleration of all vertices */
  double h[3];        /* s, along each axis */
  double *out;        /* may be v where no spring is damped by w = v */
} HkKickArgs;

typedef struct HkDriftArgs {
  const double *mass;
  double h;
  double *x, *v;
  const double *from; /* velocities that are copied to v */
} HkDriftArgs;

typedef struct HkKickKernels {
  /* For the groups begin .. end - 1 of the rows. */
  void (*kick)(const HkKickArgs *a, int64_t begin, int64_t end);
  /* For the vertices begin .. end - 1; returns their kinetic energy (J). */
  double (*drift)(const HkDriftArgs *a, int64_t begin, int64_t end);
} HkKickKernels;

#endif
