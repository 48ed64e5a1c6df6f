/* Springs in parallel between the same two vertices, merged into one:
 *
 *     sum_s 1/2 k_s (l - l_s)^2 = 1/2 k (l - l0)^2 + sum_s 1/2 k_s (l_s - l0)^2
 *     k = sum k_s,   l0 = sum k_s l_s / k,   c = sum c_s
 *
 * k_s is the stiffness (N/m), l_s the rest length (m) and c_s the damping (N s/m) of spring s. The
 * last sum does not depend on the positions: forces and their derivatives are those of the separate
 * springs, and the spring energy is lower by that constant (0 J for equal rest lengths).
 *
 * The model holds one spring for two vertices because a regular group of vertices has one slot for
 * each neighbor distance (force/spring_rows.c), in which a second spring is lost; a merged spring
 * is also computed once. A tension-only spring is slack below its own rest length, so that two of
 * them with different rest lengths are not one spring; such a pair is an error.
 */
#include "model/build.h"

HkStatus hk_spring_add_parallel(HkSpringValues *sum, const HkSpringValues *spring, bool tension,
                                HkError *error) {
  if (tension && spring->l0 != sum->l0)
    return hk_fail(
        error, HK_ERROR_INVALID,
        "tension-only springs in parallel need the same rest length, but these have %g m "
        "and %g m; give them the same l0, or do not make them tension-only",
        sum->l0, spring->l0);
  double k = sum->k + spring->k;
  /* Equal rest lengths stay as they are, bit for bit. */
  if (k > 0) sum->l0 += spring->k / k * (spring->l0 - sum->l0);
  sum->k = k;
  sum->damping += spring->damping;
  return HK_OK;
}
