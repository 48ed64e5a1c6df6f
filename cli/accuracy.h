/* Accuracy of integrators over time: every integrator moves a scene for some seconds, and its end
 * is compared with that of a fine explicit reference (`hooke compare --over`). */
#ifndef HOOKE_CLI_ACCURACY_H
#define HOOKE_CLI_ACCURACY_H

#include "hooke/hooke.h"

enum { ACCURACY_MAX_RUNS = 64 };

/* The motion by one integrator. */
typedef struct AccuracyRun {
  const HkSchema *integrator;
  double h;       /* s, the step */
  int64_t steps;  /* made */
  double *x;      /* m, positions at the end; NULL if the end was not reached; owned */
  double error;   /* m: root mean square distance to the reference, weighted by mass; or NAN */
  double largest; /* m: largest distance of a vertex to the reference; or NAN */
  double energy;  /* J: total energy at the end; or NAN */
  double seconds; /* s of wall time: preparation and all steps */
  int64_t unconverged, stationary; /* steps */
  bool resolved;                   /* the reference is at least ten times as accurate */
  bool efficient;                  /* no other run is both nearer to the reference and faster */
  char why[512];                   /* why the end was not reached, or "" */
} AccuracyRun;

/* How well the reference is resolved. */
typedef enum AccuracyState {
  ACCURACY_RESOLVED,    /* far nearer to the true motion than every run */
  ACCURACY_TIME,        /* the next refinement would exceed the time limit */
  ACCURACY_HALVINGS,    /* the largest number of refinements is reached */
  ACCURACY_CHAOTIC,     /* refinements no longer approach each other */
  ACCURACY_INTERRUPTED, /* by Ctrl-C */
} AccuracyState;

typedef struct Accuracy {
  const char *scene, *title;
  HkModelInfo model;
  double over;              /* s of motion */
  double limit;             /* s of wall time, for all references together and for each run */
  double implicit_h;        /* s, the step of implicit integrators */
  AccuracyRun reference;    /* the finest; its error is the distance to the one of twice its step */
  double reference_seconds; /* s of wall time, all references together */
  double motion; /* m: largest root mean square displacement of the reference from the start */
  int halvings;  /* refinements of the first reference */
  AccuracyState state;
  AccuracyRun runs[ACCURACY_MAX_RUNS]; /* count of count_all were made */
  int count, count_all;
} Accuracy;

/* Chooses the integrators of a list with commas; NULL or "all": all of them. Returns 0, or the exit
 * code after the error has been printed. */
int accuracy_choose(Accuracy *accuracy, const char *methods);
/* Makes reference and runs of a scene, whose time.step and time.tolerance it changes. Returns 0, or
 * the exit code after the error has been printed; Ctrl-C leaves a part of the runs. */
int accuracy_measure(Accuracy *accuracy, HkScene *scene);
void accuracy_release(Accuracy *accuracy);

/* Print the table with its conclusions, or one JSON object; write a CSV file with one row for each
 * run, which returns an exit code. */
void accuracy_print(const Accuracy *accuracy);
void accuracy_json(const Accuracy *accuracy, int exit_code);
int accuracy_csv(const Accuracy *accuracy, const char *path);

#endif
