/* A hierarchy of ever coarser spring systems, for the preconditioner multigrid.
 *
 * Level 0 are the vertices of the model. Some of them are the vertices of level 1
 * (interpolation.c), and every vertex i of level 0 moves with those of level 1 around it by weights
 * that depend on the rest shape alone,
 *
 *     e_i = sum_I P_iI e_I,   sum_I P_iI = 1
 *
 * the same for x, y and z; and so on until few are left. What a level's matrix A becomes on the
 * next one is the product P^T A P. Weights, patterns and orders are found once for a model; a new
 * Hessian changes values only.
 *
 * Rows stand in an order in which two threads can sweep (sweep_order.c). Matrices are in single
 * precision: blocks of 3 columns with 4 floats each, of which the last is 0, and vectors of 4
 * floats a vertex. Level 0 stores each spring as 4 floats (w, c), see HkFine.
 */
#ifndef HK_LINEAR_MULTIGRID_H
#define HK_LINEAR_MULTIGRID_H

#include "base/isa.h"
#include "linear/hessian.h"

/* Rows 0 .. n - 1 with rising columns, the diagonal among them. */
typedef struct HkGraph {
  int32_t n;
  int32_t *start, *column;
} HkGraph;

void hk_graph_destroy(const HkContext *context, HkGraph *graph);

enum { HK_SWEEP_PARTS = 8 };

/* Vertices of different parts have no edge between them; the separator, which comes last, has edges
 * to all. */
typedef struct HkSweepOrder {
  int count;                         /* parts */
  int32_t begin[HK_SWEEP_PARTS + 2]; /* part p is begin[p] .. begin[p + 1] - 1; then the separator,
                                      * which ends at begin[count + 1] */
} HkSweepOrder;

/* order[k] = the vertex that stands as the k-th. */
HkStatus hk_sweep_order(const HkContext *context, const HkGraph *graph, int32_t *order,
                        HkSweepOrder *sweep, HkError *error);

/* A sparse matrix of weights by rows, whose columns stand in any order. */
typedef struct HkWeights {
  int32_t rows, columns;
  int32_t *start, *column; /* start: rows + 1 */
  float *weight;
} HkWeights;

void hk_weights_destroy(const HkContext *context, HkWeights *weights);
size_t hk_weights_bytes(const HkWeights *weights);

/* Picks the vertices of the next level (*chosen: columns numbers) and the weights by which those of
 * this one follow them. X: 3 n rest positions. */
HkStatus hk_interpolation_find(const HkContext *context, int threads, const HkGraph *graph,
                               const double *X, HkWeights *P, int32_t **chosen, HkError *error);

/* Blocks in one row of A, at most. */
enum { HK_GALERKIN_WIDEST = 1024 };

/* Which products the blocks of A P and of P^T A P are sums of; found once. */
typedef struct HkGalerkin {
  HkWeights T;           /* P^T */
  int64_t *row;          /* n + 1: the blocks of row i of A P are row[i] .. row[i + 1] - 1 */
  int64_t *term;         /* one a block of A P, and the end: its products begin here */
  uint16_t *block;       /* of each product: which block of the row of A, */
  float *weight;         /* and how much of it */
  int64_t *coarse_term;  /* the same for the blocks of P^T A P, */
  int32_t *coarse_block; /* which are sums over blocks of A P */
  float *coarse_weight;
  float *AP;    /* 12 a block */
  void *memory; /* of AP */
} HkGalerkin;

/* The springs of level 0: B = w w^T + c I, tau^2 and damping in it, as (w, c) for each neighbour.
 * The lower neighbours of a row come first, filled up to a multiple of 4 with springs of no
 * stiffness to the first of them, then the upper ones likewise. A sweep so never reads what an
 * earlier one has left, which may be no number at all. */
typedef struct HkFine {
  int32_t *lower, *upper; /* n + 1, n: those of row i are lower[i] .. upper[i] - 1 and upper[i] ..
                           * lower[i + 1] - 1 */
  int32_t *neighbour;
  int32_t *slot; /* of the springs by rows (spring_rows.h); -1: none */
  float *spring; /* 4 each */
  void *memory;  /* of spring */
} HkFine;

typedef struct HkLevel {
  int32_t n;
  int visits; /* in a cycle, for each of the level before */
  HkGraph graph;
  HkSweepOrder sweep;
  int32_t *diagonal; /* n: where the diagonal block of a row stands */
  float *A;          /* 12 a block; NULL on level 0 */
  float *D;          /* 12 n: diagonal blocks at first, then their inverses */
  float *x, *b, *r;  /* 4 n */
  HkWeights P;       /* from the next level; rows 0 on the last */
  HkGalerkin galerkin;
  void *memory[5]; /* of A, D, x, b, r */
} HkLevel;

enum { HK_LEVELS_MOST = 24 };

typedef struct HkMultigrid {
  const HkModel *model;
  HkIsa isa;
  int count; /* levels */
  HkLevel level[HK_LEVELS_MOST];
  HkFine fine;
  int64_t slots;   /* of the springs by rows (spring_rows.h) */
  int32_t *vertex; /* n: the model's vertex that is row k of level 0 */
  int32_t *row;    /* n: the other way round */
  double scale;    /* of right-hand sides, a power of 2: one over a mass, so that floats hold what
                    * there is of them in any units */
  bool exact;      /* the last level is solved by a dense matrix, else swept */
  float *coarsest; /* its inverse, (3 n)^2 */
  double *dense;   /* the same while it is found */
  size_t bytes;
} HkMultigrid;

/* HK_ERROR_UNSUPPORTED, with a way out, for models that it is not made for: with a vertex of very
 * many neighbours, or with more springs than int32_t can count. */
HkStatus hk_multigrid_check(const HkModel *model, HkError *error);
HkStatus hk_multigrid_create(const HkModel *model, HkMultigrid **multigrid, HkError *error);
void hk_multigrid_destroy(HkMultigrid **multigrid);

#endif
