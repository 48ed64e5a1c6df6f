/* The hierarchy of multigrid over ranks: levels with the weights of interpolation.c, each rank with
 * the vertices that it owns and those that their blocks and weights reach. */
#ifndef HK_LINEAR_PART_LEVELS_H
#define HK_LINEAR_PART_LEVELS_H

#include "linear/galerkin.h"
#include "model/part.h"

/* How the blocks of P^T A P come together. A rank sums those that its own rows give; blocks in rows
 * of other ranks are sent to them. */
typedef struct HkPartGalerkin {
  HkGalerkin terms;
  HkGraph blocks; /* what the own rows give, by vertices of the next level */
  int64_t *slot;  /* of each block in `blocks`: its place in the next level, or -1: it is sent */
  int64_t send_count; /* blocks that are sent, */
  int32_t *send;      /* by rank and number of their row */
  int64_t receive_count;
  int64_t *receive;              /* places in the next level of the blocks that are received */
  int64_t *out_bytes, *in_bytes; /* a rank */
  double *out, *in;              /* 9 a block */
} HkPartGalerkin;

typedef struct HkPartLevel {
  int32_t n;       /* vertices, owned ones and ghosts; level 0: those of the part */
  uint8_t *ghost;  /* n */
  int64_t *number; /* n: by rank, then in the order of owned vertices */
  int64_t *start;  /* n + 1: where the blocks of a row begin */
  HkGraph graph;   /* the rows of owned vertices; those of ghosts are empty */
  HkWeights P;     /* n rows; columns: vertices of the next level */
  HkPartGalerkin galerkin;
  double *value; /* 9 a block, row by row; NULL on level 0 */
  int64_t total; /* owned vertices of all ranks */
} HkPartLevel;

typedef struct HkPartLevels {
  const HkModel *model;
  int count;
  HkPartLevel level[HK_LEVELS_MAX];
} HkPartLevels;

/* Finds the levels for matrices of a pattern. Levels end where all ranks together have `least`
 * vertices or fewer. start and column: rows of the part, with rising columns; they outlive
 * the levels. */
HkStatus hk_part_levels_create(const HkModel *model, const int64_t *start, const int32_t *column,
                               int64_t least, HkPartLevels *levels, HkError *error);
void hk_part_levels_destroy(HkPartLevels *levels);
/* P^T A P of all levels from the blocks of level 0 (9 numbers each, row by row). */
void hk_part_levels_fill(HkPartLevels *levels, const double *value);
size_t hk_part_levels_bytes(const HkPartLevels *levels);

/* part_coarsen.c: the next level's vertices and weights, by numbers. */
typedef struct HkPartWeights {
  int64_t total;   /* vertices of the next level, of all ranks */
  int64_t own;     /* and of this one */
  int64_t *offset; /* ranks + 1: numbers of each rank's */
  double *X;       /* m, 3 a vertex of this rank */
  int32_t *start;  /* n + 1, of the vertices of this level */
  int64_t *column; /* numbers */
  float *weight;
} HkPartWeights;

/* X: of this level, 3 an owned vertex. offset: of the numbers of this level. */
HkStatus hk_part_coarsen(const HkModel *model, const HkPartLevel *level, const int64_t *offset,
                         const double *X, HkPartWeights *weights, HkError *error);
void hk_part_weights_destroy(const HkContext *context, HkPartWeights *weights);

#endif
