/* Weighted terms on level 0 of multigrid: the rows of the operator (term_rows.h), swept as
 * level_terms.h says,
 *
 *     C = sum of s v v^T over the pieces,   G_i = sum of s v_i v_i^T sum_j |v_j| / (2 |v_i|)
 *
 * where s is tau^2, or less where a term is too stiff for floats.
 */
#ifndef HK_LINEAR_FINE_TERMS_H
#define HK_LINEAR_FINE_TERMS_H

#include "linear/multigrid.h"

/* Replaces the terms of level 0 by those of the operator, which stay with it. */
HkStatus hk_fine_terms_set(HkMultigrid *multigrid, const HkTermRows *rows, double tau, int threads,
                           HkError *error);
/* D += G, before it is inverted. */
void hk_fine_terms_add_diagonal(const HkMultigrid *multigrid, int threads);
/* r += G x - C x, where r + G x = b - A_graph x after the first sweep, M x = b. */
void hk_fine_terms_residual(const HkMultigrid *multigrid, int threads);
/* Around a sweep that is not the first: b += G x - C x, and b as it was. */
void hk_fine_terms_begin_sweep(const HkMultigrid *multigrid, int threads);
void hk_fine_terms_end_sweep(const HkMultigrid *multigrid, int threads);
void hk_fine_terms_destroy(const HkContext *context, HkFineTerms *terms);
size_t hk_fine_terms_bytes(const HkFineTerms *terms);

#endif
