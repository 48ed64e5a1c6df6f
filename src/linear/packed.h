/* A factor L L^T of a sparse symmetric matrix, packed in single precision for fast solves.
 *
 * Solving reads all of L twice and computes little: it is as fast as memory gives L. So L is stored
 * in floats, half the size of the factor that it is made from and that is not needed any more, in
 * dense panels of at most 32 columns with the inverse of their triangle (packed_kernels.h). Three
 * right-hand sides are solved for at once, and the parts of the elimination tree (packed_tree.h) on
 * several threads. The result is the same, bit for bit, for every number of them.
 *
 * Rounding: about 1e-7 times the condition of the matrix. Whoever needs more refines, as a
 * minimizer with a gradient in double precision does, or asks for the double factor (prefactor.h).
 */
#ifndef HK_LINEAR_PACKED_H
#define HK_LINEAR_PACKED_H

#include "linear/factor.h"

typedef struct HkPacked HkPacked;

/* The shape of it, for the supernodes of a factor, with or without values. at (n): where in the
 * right-hand sides row i of the matrix stands; its three numbers are r[3 at[i]] and the next two.
 */
HkStatus hk_packed_create(const HkContext *context, const HkSupernodes *view, const int32_t *at,
                          HkPacked **packed, HkError *error);
void hk_packed_destroy(HkPacked **packed);
/* Copies the values. */
HkStatus hk_packed_fill(HkPacked *packed, const HkSupernodes *view, int threads, HkError *error);
/* Gives the memory of the values back; they may be filled in again. */
void hk_packed_release(HkPacked *packed);
/* z = s A^-1 r at the rows of the matrix; z may be r. */
void hk_packed_solve(HkPacked *packed, int threads, double s, const double *r, double *z);
/* Bytes that hk_packed_fill will take beyond those. */
double hk_packed_need(const HkPacked *packed);
size_t hk_packed_bytes(const HkPacked *packed);
/* Bytes of L and of the numbers of its rows that one solve reads. */
size_t hk_packed_traffic(const HkPacked *packed);

#endif
