/* Time that the force `contact` takes in steps, by its parts.
 *
 * The functions of the force are replaced by ones that measure. Wrappers that the linker
 * puts around searches and closest points separate their time from that of their callers. Nothing
 * else is called than without a profile.
 */
#ifndef HOOKE_BENCH_CONTACT_PROFILE_H
#define HOOKE_BENCH_CONTACT_PROFILE_H

#include "contact/contacts.h"
#include "step/sim.h"

typedef enum ProfilePart {
  PART_SEARCH,   /* of all vertices, or of some */
  PART_INSIDE,   /* checks that no search is necessary */
  PART_CLOSEST,  /* what touches: closest points, stiffness, energy of each pair */
  PART_FILTER,   /* without its searches */
  PART_ENERGY,   /* differences of the energy, without closest points */
  PART_GRADIENT, /* forces */
  PART_HESSIAN,  /* blocks of the Hessian, until the solver has them */
  PART_STEP,     /* beginning and end of a step, obstacles and pins on their way */
  PART_COUNT
} ProfilePart;

typedef struct Profile {
  double seconds[PART_COUNT];
  int64_t searches, filters;
  int64_t cut; /* vertices whose move was shortened, summed over the filters */
} Profile;

/* Replaces the functions of the force in a model; false if it has none. One model at a time is
 * measured. */
bool profile_attach(HkModel *model);
/* Returns what was measured since the last call. */
Profile profile_take(void);
/* CPU time (s) of the process: with one thread, the time of the work whatever else runs on the
 * machine. */
double cpu_seconds(void);
/* The clock of the row: cpu_seconds, or seconds_now where there are several threads. */
extern double (*row_clock)(void);
/* The contacts of a simulation, or NULL. */
HkContacts *contacts_of(const HkSim *sim);

#endif
