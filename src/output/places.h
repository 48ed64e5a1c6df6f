/* Vertices of a rank in a file that is in the order of the whole model. */
#ifndef HK_OUTPUT_PLACES_H
#define HK_OUTPUT_PLACES_H

#include "model/part.h"

/* Runs of vertices with consecutive numbers: run q begins at the number at[q]. */
typedef struct HkPlaces {
  int64_t pieces;
  int64_t *at, *count;
} HkPlaces;

/* Lists the owned vertices of a part; ghosts: all of its vertices. Collective. */
HkStatus hk_places_create(const HkModel *model, bool ghosts, HkPlaces *places, HkError *error);
void hk_places_destroy(const HkModel *model, HkPlaces *places);

/* Writes or reads an array with `item` bytes a vertex, which begins at `offset` of the file: data
 * holds the listed vertices one behind the other. Collective. */
HkStatus hk_places_write(const HkModel *model, const HkPlaces *places, HkRanksFile *file,
                         int64_t offset, size_t item, const void *data, HkError *error);
HkStatus hk_places_read(const HkModel *model, const HkPlaces *places, HkRanksFile *file,
                        int64_t offset, size_t item, void *data, HkError *error);

/* Rank 0 makes a file of `bytes` bytes, or enlarges it, and takes the space on the disk: a full
 * disk or a folder that cannot be written shows here, with the words of the system, and not within
 * MPI-IO. Collective. */
HkStatus hk_places_reserve(const HkModel *model, const char *path, int64_t bytes, HkError *error);

/* Copies what an array has of owned vertices, `item` bytes each, one behind the other. */
void hk_places_pack(const HkModel *model, const void *from, size_t item, void *to);

#endif
