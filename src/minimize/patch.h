/* Newton's method on a patch of the model, all other vertices held where they are; see patch.c. */
#ifndef HK_MINIMIZE_PATCH_H
#define HK_MINIMIZE_PATCH_H

#include "minimize/minimize.h"

typedef struct HkPatch HkPatch;

HkStatus hk_patch_create(HkProblem *problem, HkPatch **patch, HkError *error);
void hk_patch_destroy(HkPatch **patch);
size_t hk_patch_bytes(const HkPatch *patch);
/* Minimizes g, from x on, over the vertices that hold most of the direction p which led to x. Does
 * nothing if these are more than `part` of all. Adds its work to `info`. */
HkStatus hk_patch_minimize(HkPatch *patch, const double *p, double part, double *x,
                           HkStepInfo *info, HkError *error);

#endif
