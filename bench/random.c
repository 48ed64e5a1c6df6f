/* Pseudo-random numbers; see random.h. */
#include "random.h"

/* Knuth's linear congruential generator; the upper bits are the good ones. */
double random_number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}
