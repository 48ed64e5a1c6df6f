/* The inverse Hessian of L-BFGS; see secant_pairs.h. */
#include "linear/secant_pairs.h"

#include <math.h>

HkStatus hk_secant_create(HkSecantPairs *pairs, const HkContext *c, int64_t n, int memory,
                          size_t *bytes, HkError *error) {
  const char *what = "the pairs of L-BFGS";
  *pairs = (HkSecantPairs){.slots = memory + 1};
  HK_TRY(hk_alloc(c, &pairs->pair, pairs->slots, sizeof *pairs->pair, what, error));
  HK_TRY(hk_alloc(c, &pairs->alpha, pairs->slots, sizeof *pairs->alpha, what, error));
  for (int k = 0; k < pairs->slots; k++) {
    HK_TRY(hk_alloc_vector(c, &pairs->pair[k].s, n, what, error));
    HK_TRY(hk_alloc_vector(c, &pairs->pair[k].y, n, what, error));
  }
  size_t pair = sizeof *pairs->pair + sizeof *pairs->alpha + 2 * hk_vector_bytes(n);
  *bytes += (size_t)pairs->slots * pair;
  return HK_OK;
}

void hk_secant_destroy(HkSecantPairs *pairs, const HkContext *c) {
  for (int k = 0; pairs->pair && k < pairs->slots; k++) {
    hk_free(c, &pairs->pair[k].s);
    hk_free(c, &pairs->pair[k].y);
  }
  hk_free(c, &pairs->pair);
  hk_free(c, &pairs->alpha);
}

/* The pair of that age, 0 the newest. */
static const HkSecantPair *pair_of_age(const HkSecantPairs *pairs, int age) {
  return &pairs->pair[(pairs->next - 1 - age + pairs->slots) % pairs->slots];
}

void hk_secant_add(HkSecantPairs *pairs, const HkVectors *space, const double *x,
                   const double *x_new, const double *g, const double *g_new) {
  HkSecantPair *pair = &pairs->pair[pairs->next];
  hk_vectors_subtract(space, x_new, x, pair->s);
  hk_vectors_subtract(space, g_new, g, pair->y);
  pair->sy = hk_vectors_dot(space, pair->s, pair->y);
  double bound = hk_vectors_dot(space, pair->s, pair->s) * hk_vectors_dot(space, pair->y, pair->y);
  if (!(pair->sy > 1e-12 * sqrt(bound))) return;
  pairs->next = (pairs->next + 1) % pairs->slots;
  if (pairs->count < pairs->slots - 1) pairs->count++;
}

void hk_secant_begin(HkSecantPairs *pairs, const HkVectors *space, double *q) {
  for (int age = 0; age < pairs->count; age++) {
    const HkSecantPair *pair = pair_of_age(pairs, age);
    pairs->alpha[age] = hk_vectors_dot(space, pair->s, q) / pair->sy;
    hk_vectors_add(space, -pairs->alpha[age], pair->y, q, q);
  }
}

void hk_secant_end(const HkSecantPairs *pairs, const HkVectors *space, double *p) {
  for (int age = pairs->count - 1; age >= 0; age--) {
    const HkSecantPair *pair = pair_of_age(pairs, age);
    double beta = -hk_vectors_dot(space, pair->y, p) / pair->sy;
    hk_vectors_add(space, beta - pairs->alpha[age], pair->s, p, p);
  }
}

double hk_secant_scale(const HkSecantPairs *pairs, const HkVectors *space) {
  if (pairs->count == 0) return 1;
  const HkSecantPair *pair = pair_of_age(pairs, 0);
  return pair->sy / hk_vectors_dot(space, pair->y, pair->y);
}
