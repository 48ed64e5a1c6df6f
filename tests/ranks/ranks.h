/* Tests of ranks: each rank runs the same tests, and only rank 0 prints. mpirun starts them. */
#ifndef HOOKE_TESTS_RANKS_H
#define HOOKE_TESTS_RANKS_H

#include "test.h"

#include "hooke/ranks.h"

/* The ranks of all tests; they are opened before the first test. */
HkRanks *test_ranks(void);
/* Reads a built-in scene, or JSON where the text begins with '{', with settings "path=value" (NULL:
 * none); ranks NULL: for one process. Returns NULL, and a failed check, if there is none. */
HkScene *ranks_scene(const char *text, const char *const *sets, HkRanks *ranks);
/* A folder that all ranks share, empty, removed when the program ends. */
const char *ranks_folder(void);
/* Makes a value that of rank 0 on all ranks. */
void ranks_share(void *value, size_t bytes);

/* A model with its simulation and state. */
typedef struct RanksWorld {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
} RanksWorld;

HkStatus ranks_world(const char *text, const char *const *sets, HkRanks *ranks, RanksWorld *world,
                     HkError *error);
void ranks_world_destroy(RanksWorld *world);
/* The largest distance (m) of an owned vertex from its position in a state of the whole model, over
 * all ranks. */
double ranks_distance(const RanksWorld *part, const RanksWorld *whole);

#endif
