/* What explicit integrators are made of, in one pass over memory:
 *
 *     kick    v+ = v + h M^-1 f(t, x, w)     w: the velocities that f depends on
 *     drift   x+ = x + h v+
 *
 * The springs are added up, the velocities written and, as soon as no vertex needs the old position
 * of a block of vertices any more, that block is moved while it is still in the cache; its kinetic
 * energy is summed on the way for the check for blow-ups. What must come from memory is then x, v,
 * m and the rows of the springs once, and x and v go back: 104 bytes a vertex and 20 a half spring,
 * none of these where the springs are regular (force/spring_rows.h).
 */
#ifndef HK_STEP_KICK_H
#define HK_STEP_KICK_H

#include "step/sim.h"

/* Makes and releases sim->data. */
HkStatus hk_kick_create(HkSim *sim, HkError *error);
void hk_kick_destroy(HkSim *sim);

/* v+ = v + h M^-1 f(t, x, w), x+ = x + drift v+ in state; w NULL: v. */
void hk_kick_drift(HkSim *sim, HkState *state, double t, double h, double drift, const double *w);
/* out = v + h M^-1 f(t, x, v) alone; v for held pins. */
void hk_kick_only(HkSim *sim, const HkState *state, double t, double h, double *out);
/* x+ = x + h v alone. */
void hk_drift_only(HkSim *sim, HkState *state, double h);
/* Places the held pins at the end of a step, and counts their kinetic energy, too. */
void hk_kick_end(HkSim *sim, HkState *state);

/* ---- Kernels: kernels/kick.c ---- */

typedef struct HkKickArgs {
  const HkSpringRows *rows;
  const double *x, *v, *w;
  const double *f;    /* N, of other forces; NULL: there are none */
  const double *mass; /* kg */
  double g[3];        /* m/s^2, an acceleration of all alike */
  double h[3];        /* s, along each axis */
  double *out;        /* may be v where no spring is damped by w = v */
} HkKickArgs;

typedef struct HkDriftArgs {
  const double *mass;
  double h;
  double *x, *v;
  const double *from; /* velocities, which v becomes */
} HkDriftArgs;

typedef struct HkKickKernels {
  /* For the groups begin .. end - 1 of the rows. */
  void (*kick)(const HkKickArgs *a, int64_t begin, int64_t end);
  /* For the vertices begin .. end - 1; returns their kinetic energy (J). */
  double (*drift)(const HkDriftArgs *a, int64_t begin, int64_t end);
} HkKickKernels;

#endif
