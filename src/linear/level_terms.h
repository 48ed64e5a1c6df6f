/* Weighted terms (force/weighted.h) in the hierarchy of multigrid, and those of coarse levels.
 *
 * Contact couples vertices that no spring connects, others at each iterate. On every level
 *
 *     A = A_graph + C,   C = sum over terms of w w^T K
 *
 * Sweeps go through the graph alone, with a diagonal that makes up for C,
 *
 *     M = L + D + G,   G_I = sum over the terms of |w_I| sum_J |w_J| K / 2
 *
 * First x = M^-1 b; later, in falling order, x += M^-T (b - A x), which is a sweep of Gauss-Seidel
 * with b - C x + G x in place of b. The cycle is positive definite, since M + M^T - A = D + 2 G - C
 * is: 2 G - C >= 0, as sum_IJ |w_I| |w_J| |x_I +- x_J|_K^2 / 2 >= 0 for each term.
 *
 * The terms of the next level have the weights P^T w. Where the level is coarse, many of them are
 * alike: those whose largest weights, on either side, belong to the same two coarse rows become one
 * term, with the mean of their weights by trace K and the sum of their K. This is a quadrature of
 * the contact pressure with one point for each two cells that touch, enough for displacements that
 * are smooth on that level. It keeps the number of terms in proportion to the rows; with all terms
 * on all levels a cycle would take ten times as long.
 */
#ifndef HK_LINEAR_LEVEL_TERMS_H
#define HK_LINEAR_LEVEL_TERMS_H

#include "linear/multigrid.h"

/* Replaces the terms of level k + 1 by those of level k; on level 0 these are the terms of forces
 * (fine_terms.h), with held vertices (n, or NULL) left out. */
HkStatus hk_level_terms_project(HkMultigrid *multigrid, int k, const uint8_t *held, int threads,
                                HkError *error);
/* Memory for that many terms, and for their entries; and the entries of each of the rows of a
 * level, with G, after all terms are set. */
HkStatus hk_level_terms_grow(const HkContext *context, HkLevelTerms *terms, int64_t count,
                             HkError *error);
HkStatus hk_level_terms_grow_entries(const HkContext *context, HkLevelTerms *terms, int64_t count,
                                     HkError *error);
HkStatus hk_level_terms_finish(const HkMultigrid *multigrid, HkLevelTerms *terms, int64_t rows,
                               int threads, HkError *error);
/* A += C, a dense matrix of that many rows. */
void hk_level_terms_add_dense(const HkLevelTerms *terms, int size, double *A);
/* D += G, before it is inverted. */
void hk_level_terms_add_diagonal(const HkLevelTerms *terms, int threads, float *D);
/* r -= C x, for r = b - A_graph x; and + G x after the first sweep, where r was found from M x = b.
 * Vectors have four floats a row. */
void hk_level_terms_residual(const HkLevelTerms *terms, int threads, bool first, const float *x,
                             float *r);
/* Around a sweep that is not the first: b += G x - C x, and b as it was. */
void hk_level_terms_begin_sweep(const HkLevelTerms *terms, int threads, const float *x, float *b);
void hk_level_terms_end_sweep(const HkLevelTerms *terms, int threads, float *b);
/* The two passes of a product: over terms, y = K sum w x; and over rows that have terms, r += G x -
 * sum w y, without G x where x is NULL. */
typedef struct HkLevelTermKernels {
  void (*sum)(const HkLevelTerms *terms, const float *x, int64_t begin, int64_t end);
  void (*subtract)(const HkLevelTerms *terms, const float *x, float *r, int64_t begin, int64_t end);
} HkLevelTermKernels;

void hk_level_terms_destroy(const HkContext *context, HkLevelTerms *terms);
size_t hk_level_terms_bytes(const HkLevelTerms *terms);

#endif
