/* Small random scenes in contact: masses that differ by up to 1e4 in a scene, stiffness over five
 * decades, steps of 1/240 to 1/24 s, speeds of 0.01 to 3 m/s. */
#ifndef HOOKE_TEST_CONTACT_RANDOM_H
#define HOOKE_TEST_CONTACT_RANDOM_H

#include "world.h"

/* Kinds of scenes; those before CONTACT_KINDS_BY_HAND are bodies of triangles in three dimensions
 * (contact_by_hand.h). */
enum {
  CONTACT_SHEET_ON_BALL,
  CONTACT_TWO_SHEETS,
  CONTACT_SHEET_ON_GROUND,
  CONTACT_SHEET_ON_BOX,
  CONTACT_BLOCK_ON_SHEET,
  CONTACT_KINDS_BY_HAND,
  CONTACT_MASSES_ON_PLANE = CONTACT_KINDS_BY_HAND,
  CONTACT_CHAIN_IN_PLANE,
  CONTACT_TWO_ROPES,
  CONTACT_KINDS
};

/* Thickness and distance (m) of contact in all of them. */
#define CONTACT_RANDOM_SIZE 2e-3

const char *contact_random_name(int kind);
/* The scene of that kind and seed, with a minimizer of backward_euler as JSON in single quotes.
 * *h (unless NULL) becomes its step (s). */
World contact_random(int kind, uint64_t seed, const char *minimizer, int threads, double *h);

#endif
