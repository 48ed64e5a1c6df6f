/* The positions of all frames in the file mesh.pc2 that the output pc2 writes. */
#ifndef HOOKE_CLI_PC2_CACHE_H
#define HOOKE_CLI_PC2_CACHE_H

#include "hooke/hooke.h"

#include <stdio.h>

typedef struct Pc2Cache {
  FILE *file;       /* NULL: none is open */
  int64_t vertices; /* of each sample */
  int64_t count;    /* of samples, by the header of the file */
  int64_t whole;    /* of complete samples, by the length of the file */
} Pc2Cache;

/* Opens a cache and takes ownership of the file, also after an error. Returns false if the file is
 * NULL or not a cache of that number of vertices. */
bool pc2_open(FILE *file, int64_t vertices, Pc2Cache *cache);
/* Reads the positions of a sample, three numbers a vertex; returns false if the sample is
 * incomplete. */
bool pc2_read(const Pc2Cache *cache, int64_t index, float *x);
void pc2_close(Pc2Cache *cache);

#endif
