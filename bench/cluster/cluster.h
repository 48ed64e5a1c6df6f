/* hooke_bench_ranks: what its files share. */
#ifndef HOOKE_BENCH_CLUSTER_H
#define HOOKE_BENCH_CLUSTER_H

#include "base/ranks.h"
#include "hooke/ranks.h"

#include <stdbool.h>

/* What is asked for. */
typedef struct Options {
  const char *shape, *integrator;
  int size;      /* vertices along a side */
  int64_t steps; /* of a measured run */
  double h;      /* step in s */
  double k;      /* N/m */
  int runs;      /* measured runs */
  bool weak;     /* the shape is as many times as long as there are ranks */
  bool alone;    /* one process without parts */
} Options;

/* A model of masses of 1 kg at distances of 1 m, with its simulation and state. */
typedef struct World {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
  int64_t springs; /* of the whole model */
  double h;        /* step in s */
} World;

/* Ends the program with the sentence of an error, on all ranks. */
void check(HkStatus status, const HkError *error);

/* world.c: ranks NULL: one process. */
World world_make(const Options *options, HkRanks *ranks);
void world_destroy(World *world);
/* Gives each vertex a small velocity, which depends on its number in the whole model alone. */
void world_move(World *world);
/* Between the state of velocity Verlet and that of an integrator of Hooke, which has positions or
 * velocities half a step earlier: the positions at which forces are computed are the same. */
void world_stagger(World *world, bool begin);
/* Energies (J) of the whole model: of the springs, and of the motion with velocities half a step
 * later, those of velocity Verlet. */
void world_energies(World *world, double *spring, double *kinetic);

/* lammps.c: writes the world as a data file for LAMMPS, one type of bond for each rest length. */
void write_lammps(const World *world, const char *path);

/* steps.c: times of steps, on all ranks. */
void measure_steps(const Options *options, HkRanks *ranks);
/* messages.c: latency and bandwidth between ranks 0 and 1, and the time of a reduction. */
void measure_messages(HkRanks *ranks);

#endif
