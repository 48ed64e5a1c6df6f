/* Strain of a vertex: the one definition behind every picture that is colored by strain.
 *
 *     strain_i = mean over the springs s at vertex i of (l_s - l0_s) / l0_s
 *
 * over edge, shear and file springs with l0 > 0; 0 at a vertex without one. Bending springs do not
 * count: a cloth that folds without stretching shortens them, and would look compressed. A spring
 * without a rest length has no strain, so it counts neither in the sum nor in the number.
 */
#ifndef HK_OUTPUT_STRAIN_H
#define HK_OUTPUT_STRAIN_H

#include "model/model.h"

/* Strain of one vertex; x: positions (m), three doubles a vertex. */
double hk_vertex_strain(const HkModel *model, const double *x, int64_t vertex);

#endif
