/* Blocks between any vertices in the hierarchy of multigrid.
 *
 * Forces may couple vertices that no spring connects (force/blocks.h). Let O be these blocks
 * without the diagonal. On each level
 *
 *     A = A_graph + O
 *
 * where A_graph = L + D + U has the blocks of the level's graph, with the diagonal blocks of all
 * forces. Sweeps go through the graph alone, with a diagonal that makes up for O,
 *
 *     M = L + D + E,   E_I = sum of |O_IJ| over J,   |B| = (B^2)^(1/2) for symmetric B
 *
 * First x = M^-1 b; later, in falling order, x += M^-T (b - A x), which is a sweep of Gauss-Seidel
 * with b - O x + E x in place of b. The cycle is positive definite, since M + M^T - A = D + 2 E - O
 * is: [|B| B; B |B|] >= 0 for each coupling. The next level's P^T O P goes into its graph as far as
 * there are such blocks, and what is left is its O.
 */
#ifndef HK_LINEAR_COUPLING_H
#define HK_LINEAR_COUPLING_H

#include "linear/multigrid.h"

/* Replaces the couplings of level 0 by those of blocks of forces, tau^2 in them. */
HkStatus hk_couplings_set(const HkMultigrid *multigrid, HkCouplings *list,
                          const HkForceBlocks *blocks, const uint8_t *held, double tau,
                          HkError *error);
/* Adds P^T O P to the matrix and the diagonal of the next level, and replaces its couplings. */
HkStatus hk_couplings_project(const HkContext *context, const HkLevel *level,
                              const HkCouplings *list, const HkLevel *coarse, HkCouplings *next,
                              HkError *error);
/* A += O, a dense matrix of that many rows. */
void hk_couplings_add_dense(const HkCouplings *list, int size, double *A);
/* D += E, before it is inverted. */
void hk_couplings_add_diagonal(const HkCouplings *list, float *D);
/* r -= O x, for r = b - A_graph x; and + E x after the first sweep, where r was found from M x = b.
 * Vectors have four floats a row. */
void hk_couplings_residual(const HkCouplings *list, bool first, const float *x, float *r);
/* Around a sweep that is not the first: b += E x - O x, and b as it was. */
void hk_couplings_begin_sweep(HkCouplings *list, const float *x, float *b);
void hk_couplings_end_sweep(const HkCouplings *list, float *b);
void hk_couplings_destroy(const HkContext *context, HkCouplings *list);
size_t hk_couplings_bytes(const HkCouplings *list);

#endif
