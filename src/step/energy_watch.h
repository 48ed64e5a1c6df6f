/* Energy watch: refuses steps of a motion whose total energy grows without a cause. */
#ifndef HK_STEP_ENERGY_WATCH_H
#define HK_STEP_ENERGY_WATCH_H

#include "model/state.h"

/* Steps between two looks, so that the watch takes below 2 % of the time: of integrators with one
 * evaluation of the forces a step, of rk4, and of those that solve a linear system. */
enum { HK_WATCH_EXPLICIT = 1024, HK_WATCH_RK4 = 256, HK_WATCH_LINEAR = 4 };

typedef struct HkEnergyWatch {
  bool known;    /* the fields below hold for the state that was moved last */
  bool unsure;   /* the state may have been written since the base, unnoticed */
  bool verifies; /* sums of the state are compared from call to call, so that writes are noticed */
  bool examined; /* the stable step was estimated when the energy had grown by what was available */
  bool warned;   /* of a step above the largest stable one */
  int above;     /* looks in a row at which the energy was beyond its bound */
  double base;   /* J, total energy at the base */
  double start;  /* J, kinetic energy and that of the springs at the base */
  double rest;   /* J, potential energy of all other forces at the base */
  double drop;   /* J, by how much that energy has been lower since */
  double work;   /* J, bound of the work from outside since */
  double time;   /* s, of the last look */
  double power;  /* W, bound of the power from outside then */
  double stable; /* s, what hk_sim_stable_step returned last; NAN: it was not called */
  double *mode; /* 3 n, the fastest mode as far as it is known; NULL: there is no limit to follow */
  const HkState *state; /* at the end of the last call: the state, and what identifies it */
  int64_t steps, edits, held;
  double h, end; /* s: step, time */
  uint64_t sum;  /* of x and v, while verifies */
} HkEnergyWatch;

struct HkSim;

HkStatus hk_energy_watch_create(struct HkSim *sim, HkError *error);
void hk_energy_watch_destroy(struct HkSim *sim);
size_t hk_energy_watch_bytes(const struct HkSim *sim);

/* Before the first step of a call, with the state closed: takes a new base where the state is not
 * the one that the last call has left. */
void hk_energy_watch_begin(struct HkSim *sim, HkState *state);
/* Whether a look is due after the step that was just made. */
bool hk_energy_watch_is_due(const struct HkSim *sim, const HkState *state);
/* With the state closed: HK_ERROR_BLOWUP if its energy has grown beyond what was available. */
HkStatus hk_energy_watch_look(struct HkSim *sim, HkState *state, HkError *error);
/* After the last step of a call, with the state closed. */
void hk_energy_watch_end(struct HkSim *sim, HkState *state);

#endif
