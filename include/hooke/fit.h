/* Hooke: numbers that minimize a loss, within bounds.
 *
 * A loss of a motion and its gradient come from a tape (hooke/adjoint.h); this finds the numbers,
 * such as the stiffness of every spring, that make the loss small. Docs: docs/gradients.md.
 */
#ifndef HOOKE_FIT_H
#define HOOKE_FIT_H

#include "hooke/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the loss at the numbers p and its gradient, one number for each of them. A loss that is
 * not finite, such as that of a motion that blows up, is not followed. An error ends the fit. */
typedef HkStatus HkLossAtFn(void *user, const double *p, double *loss, double *gradient,
                            HkError *error);

/* Why a fit ended. */
typedef enum HkFitEnd {
  HK_FIT_CONVERGED, /* the projected gradient is below the tolerance, or the loss is 0 */
  HK_FIT_LEVELED, /* ten iterations together have lowered the loss by less than `decrease` of it */
  HK_FIT_ITERATIONS, /* the number of iterations is reached */
  HK_FIT_STALLED /* no step along the negative gradient lowers the loss: loss and gradient do not
                  * fit each other, as where steps are not solved */
} HkFitEnd;

/* How a fit went. The projected gradient is the gradient without components that point out of the
 * bounds. */
typedef struct HkFitInfo {
  int iterations, evaluations; /* of the loss */
  double loss, start_loss;
  double gradient, start_gradient; /* norms of the projected gradient */
  int at_bounds;                   /* numbers that stand at one of their bounds */
  HkFitEnd end;
} HkFitInfo;

/* Called after each iteration, with the numbers that it has reached; returns whether to go on. */
typedef bool HkFitProgressFn(void *user, const HkFitInfo *info, const double *p);

typedef struct HkFitSettings {
  int iterations;    /* largest number, over 0 */
  int memory;        /* steps that L-BFGS keeps, over 0 */
  double tolerance;  /* of the projected gradient, relative to that of the start ... */
  double gradient;   /* ... or to this norm, if it is above 0 */
  double decrease;   /* of the loss in ten iterations, relative to it; 0: is not looked at */
  double step_max;   /* no number changes by more in an iteration; INFINITY: any change */
  double first_step; /* largest change of a number that the first iteration tries */
  HkFitProgressFn *progress; /* NULL: nobody is called */
  void *progress_user;
} HkFitSettings;

/* 200 iterations, memory 20, tolerance 1e-6, decrease 1e-6, changes of any size, of 0.1 at first.
 */
HK_API HkFitSettings hk_fit_settings_default(void);
/* Minimizes the loss over `count` numbers from p on, which become the best that were found, also
 * after an error; by L-BFGS with projection to min <= p <= max (NULL: no bounds). They should have
 * similar sizes: logarithms, or parts of typical values. settings NULL: the default; info may be
 * NULL. Returns HK_NOT_CONVERGED (no error) where it did not converge, HK_ERROR_CANCELLED where
 * `progress` has ended it. */
HK_API HkStatus hk_fit(const HkContext *context, int64_t count, double *p, const double *min,
                       const double *max, HkLossAtFn *loss, void *user,
                       const HkFitSettings *settings, HkFitInfo *info, HkError *error);
/* Name of an end, such as "converged"; static text. */
HK_API const char *hk_fit_end_name(HkFitEnd end);

#ifdef __cplusplus
}
#endif
#endif
