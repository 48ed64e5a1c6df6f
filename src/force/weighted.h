/* Hessian terms of energies that depend on a weighted sum of a few vertices:
 *
 *     u = sum w_a x_a,   d2E/dx_a dx_b = w_a w_b K     (K 3x3, N/m, positive semidefinite)
 *
 * Contact and friction are of this kind. A term stands for up to 16 blocks, into which it is
 * expanded for assembled matrices only. Products take two passes,
 *
 *     y_t = K_t sum_a w_a p_a   for each term,     out_i += w y_t   over the terms of each vertex
 *
 * so that no two threads write to one vertex and sums have the same order for any number of
 * threads. Iterative solvers that need single precision alone have a faster product
 * (linear/term_rows.h). Where the true Hessian is asked for, a term also has what the projected one
 * leaves out:
 *
 *     w_a w_b c (I - K / trace K) + sum of q_a q_b^T over two vectors q
 */
#ifndef HK_FORCE_WEIGHTED_H
#define HK_FORCE_WEIGHTED_H

#include "model/model.h"

typedef struct HkWeightedTerm {
  int32_t vertex[4]; /* of the model; any one where the weight is 0 */
  double weight[4];
  double K[6]; /* N/m: xx, xy, xz, yy, yz, zz */
} HkWeightedTerm;

/* What the true Hessian adds to a term. */
typedef struct HkWeightedCurvature {
  double across;   /* c (N/m), negative where the force pushes */
  double q[2][12]; /* 3 a vertex, (N/m)^(1/2) */
} HkWeightedCurvature;

typedef struct HkWeightedTerms {
  HkWeightedTerm *term;
  HkWeightedCurvature *curvature; /* one a term if `curved`, else unused */
  bool curved;
  int64_t count;
  int32_t *vertex; /* vertices that have terms, by rising number */
  int64_t *start;  /* vertex_count + 1: the terms of vertex[k] are at[start[k]] and following */
  int32_t *at;     /* 4 times the term, plus the place of the vertex in it */
  int64_t vertex_count;
  double *y; /* scratch of products: 3 a term, if `curved` 3 for each of its vertices; shared with
              * linear/term_rows.h */
  int64_t capacity, curvature_capacity, vertex_capacity, start_capacity, at_capacity, y_capacity;
} HkWeightedTerms;

/* Appends `count` terms, which the caller sets, with their curvatures if `curved`: in one
 * evaluation of a Hessian all terms are curved or none. *terms is NULL if count is 0. */
HkStatus hk_weighted_append(HkWeightedTerms *terms, const HkModel *model, int64_t count,
                            bool curved, HkWeightedTerm **first, HkWeightedCurvature **curvature,
                            HkError *error);
/* Lists the terms of each vertex. To be called after all terms are set. */
HkStatus hk_weighted_finish(HkWeightedTerms *terms, const HkModel *model, HkError *error);
/* out += scale d2E/dx2 p of the vertices that are not held. held: n, or NULL. */
void hk_weighted_product(const HkWeightedTerms *terms, int threads, const uint8_t *held,
                         double scale, const double *p, double *out);
/* The block of term t between its a-th and b-th vertex, row by row. */
void hk_weighted_block(const HkWeightedTerms *terms, int64_t t, int a, int b, double block[9]);
void hk_weighted_destroy(const HkModel *model, HkWeightedTerms *terms);
size_t hk_weighted_bytes(const HkWeightedTerms *terms);

#endif
