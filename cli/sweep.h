/* The worlds of `hooke sweep` and the table that it writes. */
#ifndef HOOKE_CLI_SWEEP_H
#define HOOKE_CLI_SWEEP_H

#include "hooke/batch.h"
#include "progress.h"
#include "variations.h"

#include <stdio.h>

/* One combination. */
typedef struct SweepWorld {
  int64_t combination;
  HkScene *scene;
  HkModel *model;
  HkError error;   /* of the status */
  HkStatus status; /* HK_OK, HK_NOT_CONVERGED or an error */
  bool finished;   /* all steps are made, or an error has ended them */
  int64_t goal, steps;
  HkStateInfo info; /* at the end */
  HkStepInfo last;
  double *probes; /* mean position (m) and velocity (m/s) of each probe, six numbers each */
  int probe_count;
} SweepWorld;

/* Reads and compiles a combination; an error is kept in the world. */
void sweep_load(const HkContext *context, const char *name, const Variations *variations,
                const TextList *sets, int64_t combination, SweepWorld *world);
/* Bytes that a world takes: those of its model, and an estimate of what a batch adds. */
double sweep_need(const SweepWorld *world);
/* Moves worlds to the end of their durations, as one batch for each number of vertices, and on a
 * device for each integrator, number of springs and number of pins. `done` of `whole` worlds of the
 * sweep are finished before; *steps counts the steps of all. */
void sweep_move(SweepWorld *worlds, int count, Listener *listener, int64_t done, int64_t whole,
                int64_t *steps);
void sweep_release(SweepWorld *world);

/* sweep_table.c: the header, with the probes of a scene, and a row. */
void sweep_header(FILE *file, const Variations *variations, const HkScene *scene);
void sweep_row(FILE *file, const Variations *variations, const HkScene *scene,
               const SweepWorld *world);

#endif
