/* The inverse Hessian of a function by its last steps, for L-BFGS (Nocedal 1980).
 *
 * Steps s_j = x_(j+1) - x_j and the changes y_j of the gradient along them sample the curvature of
 * a function. The inverse Hessian B that satisfies B y_j = s_j, and is otherwise near a given B0,
 * is applied without being formed, by a recursion through the pairs from the newest to the oldest
 * and back:
 *
 *     q = g;         alpha_j = s_j . q / s_j . y_j,   q -= alpha_j y_j       (newest first)
 *     p = -B0 q;     beta_j = -y_j . p / s_j . y_j,   p += (beta_j - alpha_j) s_j
 *
 * which leaves p = -B g. Pairs without positive curvature, s . y <= 0, are left out: B stays
 * positive definite and p descends.
 */
#ifndef HK_LINEAR_SECANT_PAIRS_H
#define HK_LINEAR_SECANT_PAIRS_H

#include "linear/vectors.h"

typedef struct HkSecantPair {
  double *s, *y; /* 3 n */
  double sy;     /* s . y > 0 */
} HkSecantPair;

typedef struct HkSecantPairs {
  HkSecantPair
      *pair; /* a ring of memory + 1: the last one is where the next pair is put together */
  double *alpha;
  int slots, count, next; /* pairs next - count .. next - 1 count, modulo slots */
} HkSecantPairs;

/* Allocates the pairs of `memory` steps; *bytes grows by their size. */
HkStatus hk_secant_create(HkSecantPairs *pairs, const HkContext *context, int64_t n, int memory,
                          size_t *bytes, HkError *error);
void hk_secant_destroy(HkSecantPairs *pairs, const HkContext *context);
/* Appends x_new - x and g_new - g, unless the function is not convex between the two. */
void hk_secant_add(HkSecantPairs *pairs, const HkVectors *space, const double *x,
                   const double *x_new, const double *g, const double *g_new);
/* The first half of the recursion: q holds the gradient. */
void hk_secant_begin(HkSecantPairs *pairs, const HkVectors *space, double *q);
/* The second half: p holds -B0 q, and becomes -B g. */
void hk_secant_end(const HkSecantPairs *pairs, const HkVectors *space, double *p);
/* s . y / y . y of the newest pair, which is about the inverse of the curvature; 1 without pairs.
 */
double hk_secant_scale(const HkSecantPairs *pairs, const HkVectors *space);

#endif
