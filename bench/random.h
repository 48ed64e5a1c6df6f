/* Pseudo-random numbers, the same in every run. */
#ifndef HOOKE_BENCH_RANDOM_H
#define HOOKE_BENCH_RANDOM_H

#include <stdint.h>

/* Returns a number between 0 and 1; *seed is the state, any number at first. */
double random_number(uint64_t *seed);

#endif
