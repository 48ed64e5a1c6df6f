/* Solving one implicit step in many ways, each from the same state, and finding out which ends are
 * different solutions of the step. */
#ifndef HOOKE_CLI_STEP_SOLVES_H
#define HOOKE_CLI_STEP_SOLVES_H

#include "comparison.h"

/* The state from which the step is solved again and again, and the solutions found so far. */
typedef struct StepStart {
  const HkModel *model;
  HkState *state, *scratch; /* the state before the step, and a copy that each solve moves */
  double h;                 /* s, the step */
  Comparison *comparison;   /* its solution_count counts the entries of solutions */
  char label[128];          /* of the present solve, for the line of progress */
  double *solutions[COMPARISON_MAX_SOLUTIONS]; /* m, positions of each; owned */
} StepStart;

/* Solves the step by newton, to rounding if comparison->seconds allow it, into comparison->exact:
 * the reference of all distances. */
void step_solve_exactly(StepStart *start);
/* Solves the step by a candidate. An error stays in the result, so that others can go on. */
void step_solve(StepStart *start, const Candidate *candidate, int iterations, Result *result);
/* Solves the step by newton from other guesses into comparison->restarts. */
void step_solve_again(StepStart *start);
/* Releases the positions of all solutions. */
void step_release_solutions(StepStart *start);

#endif
