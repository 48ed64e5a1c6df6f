/* The energy of contact by code of the tests' own, from the distances of all pairs (all_pairs.h):
 *
 *     E = sum k ghat^2 mu f(g / ghat),   f(s) = -(s - 1)^2 ln s
 *
 * Of the library it takes the stiffness k alone, which depends on where a pair was first met in a
 * step. Flat edges and vertices of obstacles (contact/flat.h) are no pairs of their own, and points
 * over flat parts count once. Derivatives are differences, pair by pair. For bodies of triangles,
 * obstacles and the ground, in three dimensions.
 */
#ifndef HOOKE_TEST_CONTACT_BY_HAND_H
#define HOOKE_TEST_CONTACT_BY_HAND_H

#include "all_pairs.h"
#include "contact/contacts.h"

/* A pair that may touch, as the tests see it, or a vertex above the ground (v[1] < 0). */
typedef struct PairByHand {
  int32_t v[4];
  int split;
  double k, c0; /* N/m, m^4 */
  /* Of a triangle of an obstacle: whether its edge across from v[1 + c] is flat, and the number of
   * triangles around v[1 + c] if all of its edges are. */
  int flat_edge[3], flat_vertex[3];
} PairByHand;

typedef struct ContactByHand {
  AllPairs pairs;
  const HkContacts *contacts;
  double ghat, height; /* m; the ground is at height, if contacts have one */
  PairByHand *near, *known;
  int64_t near_count, near_capacity, known_count, known_capacity;
  int64_t touching; /* pairs with a gap below ghat at the last look */
  int64_t missing;  /* those of them that the library has not met */
} ContactByHand;

void contact_by_hand_create(ContactByHand *c, const HkModel *model, double thickness);
void contact_by_hand_destroy(ContactByHand *c);
/* Takes the stiffness of all pairs of the present step from the library, and finds all pairs near x
 * at time t (s). Derivatives are those of the pairs that it finds. */
void contact_by_hand_look(ContactByHand *c, const HkContacts *contacts, const double *x, double t);
/* Functions of StepByHand. */
void contact_by_hand_gradient(void *c, const double *x, double *g);
void contact_by_hand_hessian(void *c, const double *x, double *H);
void contact_by_hand_stiffness(void *c, const double *x, double *d);

#endif
