/* Energy watch: refuses steps of a motion whose total energy grows without a cause. */
#ifndef HK_STEP_ENERGY_WATCH_H
#define HK_STEP_ENERGY_WATCH_H

#include "model/state.h"

/* Steps between two checks, chosen so that the watch takes less than 2 % of the time: for
 * integrators with one force evaluation a step, for rk4, and for those that solve a linear
 * system. */
enum { HK_WATCH_EXPLICIT = 1024, HK_WATCH_RK4 = 256, HK_WATCH_LINEAR = 4 };

typedef struct HkEnergyWatch {
  bool known;    /* the fields below are valid for the state that was moved last */
  bool unsure;   /* the caller may have written the state since the base */
  bool verifies; /* checksums of the state are compared between calls */
  bool examined; /* the stable step was estimated after the energy had grown by A */
  bool warned;   /* a step above the largest stable one was logged */
  int above;     /* successive checks at which the energy exceeded its bound */
  double base;   /* J, total energy at the base */
  double start;  /* J, kinetic energy and that of the springs at the base */
  double rest;   /* J, potential energy of all other forces at the base */
  double drop;   /* J, largest drop of that energy since */
  double work;   /* J, bound of the external work since */
  double time;   /* s, of the last check */
  double power;  /* W, bound of the external power then */
  double stable; /* s, what hk_sim_stable_step returned last; NAN: it was not called */
  double *mode; /* 3 n, estimate of the fastest mode; NULL: the integrator has no stability limit */
  const HkState *state; /* at the end of the last call: the state, and what identifies it */
  int64_t steps, edits, held;
  double h, end; /* s: step, time */
  uint64_t sum;  /* of x and v, while verifies */
} HkEnergyWatch;

struct HkSim;

HkStatus hk_energy_watch_create(struct HkSim *sim, HkError *error);
void hk_energy_watch_destroy(struct HkSim *sim);
size_t hk_energy_watch_bytes(const struct HkSim *sim);

/* Called before the first step of a call, with the state closed: sets a new base unless the state
 * is as the last call left it. */
void hk_energy_watch_begin(struct HkSim *sim, HkState *state);
/* Returns whether a check is due after the last step. */
bool hk_energy_watch_is_due(const struct HkSim *sim, const HkState *state);
/* Checks the energy, with the state closed: HK_ERROR_BLOWUP if it has grown beyond the bound. */
HkStatus hk_energy_watch_look(struct HkSim *sim, HkState *state, HkError *error);
/* Called after the last step of a call, with the state closed. */
void hk_energy_watch_end(struct HkSim *sim, HkState *state);

#endif
