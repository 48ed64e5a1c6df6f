/* The methods for an implicit step that `hooke compare` knows, from the registries: every
 * minimizer, with each acceleration it has, or with each linear solver and preconditioner. */
#ifndef HOOKE_CLI_CANDIDATES_H
#define HOOKE_CLI_CANDIDATES_H

#include "hooke/hooke.h"

enum { MAX_CANDIDATES = 256 };

typedef struct Candidate {
  char name[96];                                       /* "newton+pcg+ic0" */
  bool usual;                                          /* compared by default */
  const HkSchema *minimizer, *linear, *preconditioner; /* the last two NULL: none */
  char acceleration[32];                               /* "": none to choose */
} Candidate;

typedef struct Candidates {
  Candidate list[MAX_CANDIDATES];
  int count;
} Candidates;

/* Selects the methods of --methods ("newton,local_global+anderson", "all"; NULL: the default ones).
 * Returns 0, or the exit code after the error has been printed. */
int candidates_choose(Candidates *candidates, const char *methods);
/* Returns the step (s) of a run of the scene if its integrator is implicit, else 1/30 s: the steps
 * of explicit integrators are too small for a comparison. */
double candidate_step(const HkScene *scene);
/* *step becomes backward Euler with the candidate's minimizer; it is empty before, and the caller
 * clears it. iterations 0: the default iterations and tolerance. */
HkStatus candidate_method(const Candidate *candidate, int iterations, double tolerance,
                          HkMethod *step, HkError *error);

#endif
