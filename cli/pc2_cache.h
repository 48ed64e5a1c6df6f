/* The positions of all frames in the file mesh.pc2 that the output pc2 writes. */
#ifndef HOOKE_CLI_PC2_CACHE_H
#define HOOKE_CLI_PC2_CACHE_H

#include "hooke/hooke.h"

#include <stdio.h>

typedef struct Pc2Cache {
  FILE *file;       /* NULL: none is open */
  int64_t vertices; /* of each sample */
  int64_t count;    /* of samples, as the head of the file says */
  int64_t whole;    /* of samples, as the length of the file says */
} Pc2Cache;

/* Takes over a file that is open, also after an error; NULL counts as no cache. False where it is
 * not a cache of so many vertices. */
bool pc2_open(FILE *file, int64_t vertices, Pc2Cache *cache);
/* The positions of a sample, three numbers a vertex; false where it is not there as a whole. */
bool pc2_read(const Pc2Cache *cache, int64_t index, float *x);
void pc2_close(Pc2Cache *cache);

#endif
