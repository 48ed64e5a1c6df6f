/* Anderson acceleration of a fixed-point iteration x+ = G(x), by its last few iterates.
 *
 * With the residual f(x) = G(x) - x, the differences from iterate to iterate dF_j = f_(j+1) - f_j
 * and dG_j = G(x_(j+1)) - G(x_j) over the last `window` iterations:
 *
 *     gamma = argmin | f_k - sum gamma_j dF_j |,   x_(k+1) = G(x_k) - sum gamma_j dG_j
 *
 * If G were linear, this would be the point near G(x_k) whose residual is smallest among all that
 * can be combined from the past: GMRES with a short memory (Anderson 1965; Walker and Ni 2011; for
 * the local/global method Peng et al. 2018).
 */
#ifndef HK_MINIMIZE_ANDERSON_H
#define HK_MINIMIZE_ANDERSON_H

#include "linear/vectors.h"

enum { HK_ANDERSON_WINDOW_MAX = 20 };

typedef struct HkAnderson HkAnderson;

/* window: 1 .. HK_ANDERSON_WINDOW_MAX; *bytes grows by the size. */
HkStatus hk_anderson_create(const HkModel *model, const HkVectors *space, int window,
                            HkAnderson **anderson, size_t *bytes, HkError *error);
void hk_anderson_destroy(HkAnderson **anderson);
/* Forgets the past. */
void hk_anderson_restart(HkAnderson *anderson);
/* Takes in the iterate x with its residual f, and writes the accelerated next iterate; false if
 * there is no past to accelerate by. */
bool hk_anderson_next(HkAnderson *anderson, const double *x, const double *f, double *next);

#endif
