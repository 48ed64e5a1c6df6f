/* A flight: where a body that is thrown comes, and how that changes with its velocity. */
#ifndef HOOKE_PLAY_FLIGHT_H
#define HOOKE_PLAY_FLIGHT_H

#include "session.h"

#include "hooke/adjoint.h"

enum { PATH_PIECES = 64 }; /* at most */

/* The body that is thrown: the first one that no pin holds. */
typedef struct Body {
  int index;
  int64_t first, count; /* vertices */
  double mass;          /* kg */
} Body;

HkStatus body_find(const HkModel *model, Body *body, HkError *error);
/* Returns its mean velocity (m/s) at the start of the model. */
HkStatus body_velocity(const HkModel *model, double v[3], HkError *error);
/* Gives it a mean velocity (m/s); its spin stays. */
HkStatus body_throw(const HkModel *model, HkState *state, const double v[3], HkError *error);

/* Where the center of mass of the body comes from its start with the mean velocity v. */
typedef struct Flight {
  double v[3];                        /* m/s */
  double path[3 * (PATH_PIECES + 1)]; /* m; the last point is the end c */
  int points;
  bool is_exact; /* J was found by tangent mode */
  double J[9];   /* s: dc/dv by rows */
} Flight;

/* The end c of a flight. */
const double *flight_end(const Flight *flight);

/* What flights are made with, one at a time. All zero: nothing yet. */
typedef struct Flyer {
  HkModel *model; /* compiled from the scene again, with the user's pins and without the hand */
  HkSim *sim;
  HkAdjoint *adjoint;
  HkDerivatives *direction[3];
  HkState *before, *after;
  Body body;
  int dimension;
  int64_t steps; /* of a flight */
  int64_t made;  /* of the one under way; -1: there is none */
} Flyer;

/* Prepares flights over the scene of a session; after an error flyer_clear frees what was made. */
HkStatus flyer_create(Play *play, Flyer *flyer, HkError *error);
void flyer_clear(Flyer *flyer);
/* Puts the body at its start with the velocity of the flight. The flight finds its J if it is
 * exact. */
HkStatus flyer_begin(Flyer *flyer, Flight *flight, HkError *error);
/* Makes one step; the flight has its end after the last one. */
HkStatus flyer_step(Flyer *flyer, Flight *flight, HkError *error);

#endif
