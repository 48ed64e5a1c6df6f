/* The ways to solve an implicit step that `hooke compare` knows, from the registries: every
 * minimizer, with each acceleration it has, or with each linear solver and preconditioner. */
#ifndef HOOKE_CLI_CANDIDATES_H
#define HOOKE_CLI_CANDIDATES_H

#include "hooke/hooke.h"

enum { MAX_CANDIDATES = 256 };

typedef struct Candidate {
  char name[96]; /* "newton+pcg+ic0" */
  bool usual;    /* compared unless --methods says otherwise */
  const HkSchema *minimizer, *linear, *preconditioner; /* the last two NULL: none */
  char acceleration[32];                               /* "": none to choose */
} Candidate;

typedef struct Candidates {
  Candidate list[MAX_CANDIDATES];
  int count;
} Candidates;

/* Those that --methods asks for ("newton,local_global+anderson", "all"; NULL: the usual ones).
 * Returns 0, or the exit code after the error has been printed. */
int candidates_choose(Candidates *candidates, const char *methods);
/* The step (s) of a run of the scene where that is implicit, else a thirtieth of a second: explicit
 * ones are far too small for an implicit step. */
double candidate_step(const HkScene *scene);
/* Backward Euler solved that way, in *step, which holds none before and is cleared by the caller.
 * iterations 0: as many as usual, to the usual tolerance. */
HkStatus candidate_method(const Candidate *candidate, int iterations, double tolerance,
                          HkMethod *step, HkError *error);

#endif
