/* Results of `hooke compare`: one step solved by many methods, iteration by iteration, as a table,
 * JSON, CSV and a picture. */
#ifndef HOOKE_CLI_COMPARISON_H
#define HOOKE_CLI_COMPARISON_H

#include "candidates.h"

enum { COMPARISON_MAX_SOLUTIONS = 64, COMPARISON_MAX_RESTARTS = 2 };

/* The solve of the step by one method. */
typedef struct Result {
  const char *name;
  HkIteration *points; /* one for each iteration, the start first; owned */
  int count, capacity;
  bool lost;      /* out of memory: some points are missing */
  bool timed_out; /* it took longer than Comparison.seconds */
  HkStepInfo info;
  HkStatus status; /* below 0: it ended with an error, why is its text */
  char why[512];
  int solution;      /* 0: that of newton; 1, 2 ...: another one; -1: the step is not solved */
  double distance;   /* |x - x*|_M / |x* - x_n|_M of the end x from newton's solution x*, or NAN */
  double difference; /* kg m^2: g(x) - g(x*), or NAN */
  double *guess;     /* m, receives the positions of iteration 0; NULL: they are not kept; owned */
  int64_t vertices;  /* of guess */
} Result;

typedef struct Comparison {
  const char *scene, *title;
  const char *not_taken; /* the scene's integrator where that is explicit, or NULL */
  HkModelInfo model;
  double h, time;  /* s, of the step and before it */
  int steps;       /* made before it */
  int unconverged; /* of these */
  int iterations;  /* limit for each method */
  double seconds;  /* s of wall time, limit for each method */
  Result exact;    /* by newton, as far as rounding allows */
  double best;     /* kg m^2: the lowest g(x) - g(x_0) that was found */
  const char *best_name;
  Result *results; /* count of count_all were solved */
  int count, count_all;
  double motion;                            /* kg^(1/2) m: |x* - x_n|_M of newton's solution */
  int solution_count;                       /* different ends of all solves that solved the step */
  Result restarts[COMPARISON_MAX_RESTARTS]; /* newton from other guesses; name: which guess */
  int restart_count;
} Comparison;

/* Finds the best value; false if there is nothing to compare: the start is the minimum. */
bool comparison_finish(Comparison *comparison);
/* (g(x_i) - g*) / (g(x_0) - g*) of the index-th point. */
double comparison_error(const Comparison *comparison, const Result *result, int index);

/* Prints the problem, the table of methods and notes. */
void comparison_print(const Comparison *comparison);
void comparison_json(const Comparison *comparison, int exit_code);
/* Write all iterations of all methods as a CSV file, and as an SVG picture; return an exit code. */
int comparison_csv(const Comparison *comparison, const char *path);
int comparison_svg(const Comparison *comparison, const char *path);

#endif
