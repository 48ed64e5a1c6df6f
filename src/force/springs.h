/* What others need of the springs beside the force itself. */
#ifndef HK_FORCE_SPRINGS_H
#define HK_FORCE_SPRINGS_H

#include "force/force.h"

/* Below this length (m) a spring has no direction. */
#define HK_SPRING_TINY 1e-150

/* H = d2E/dxi2 of spring s = -d2E/dxi dxj (N/m), row by row. Projected: without the negative part
 * across a spring under pressure, which leaves the nearest positive semidefinite H. */
void hk_spring_hessian(const HkModel *model, int64_t s, const double *x, bool projected,
                       double H[9]);

#endif
