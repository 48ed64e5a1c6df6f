/* Starting values for linear systems that change little from one to the next; see guess.c. */
#ifndef HK_LINEAR_GUESS_H
#define HK_LINEAR_GUESS_H

#include "linear/linear.h"
#include "linear/vectors.h"

typedef struct HkGuess HkGuess;

HkStatus hk_guess_create(const HkVectors *space, HkGuess **guess, HkError *error);
void hk_guess_destroy(HkGuess **guess);
/* Forgets all solutions. */
void hk_guess_restart(HkGuess *guess);
/* x = A^-1 b as hk_linear_solve of a solver that is prepared for A, with a starting value of the
 * solutions before, to which x is added. */
HkStatus hk_guess_solve(HkGuess *guess, HkLinear *linear, const HkOperator *A, const double *b,
                        double *x, double accuracy, HkLinearResult *result, HkError *error);

#endif
