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
 * Rows stand in an order in which several threads can sweep (sweep_order.c). Matrices are in single
 * precision: blocks of 3 columns with 4 floats each, of which the last is 0, and vectors of 4
 * floats a vertex. Level 0 stores each spring as 4 floats (w, c), and takes four rows at once, see
 * HkFine.
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
/* The graph of a model's springs. */
HkStatus hk_graph_of_model(const HkModel *model, HkGraph *graph, HkError *error);

enum { HK_SWEEP_PARTS = 32, HK_SWEEP_STAGES = 6, HK_SWEEP_RANGES = 2 * HK_SWEEP_PARTS - 1 };

/* Rows in ranges, and ranges in stages: the ranges of one stage have no edge between them. */
typedef struct HkSweepOrder {
  int stages;
  int first[HK_SWEEP_STAGES + 1];     /* stage s are the ranges first[s] .. first[s + 1] - 1 */
  int32_t begin[HK_SWEEP_RANGES + 1]; /* range k are the rows begin[k] .. begin[k + 1] - 1 */
} HkSweepOrder;

/* *order[k] = the vertex that stands as row k of *rows. Rows come in groups of `lanes` without
 * edges inside a group; -1 where a group is not full. */
HkStatus hk_sweep_order(const HkContext *context, const HkGraph *graph, int lanes, int32_t **order,
                        int32_t *rows, HkSweepOrder *sweep, HkError *error);

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
enum { HK_GALERKIN_ROW_BLOCKS_MAX = 1024 };

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

/* Rows of level 0 in a group. The four are swept at once: nothing has to be summed up across a
 * vector, and a processor guesses once a group instead of once a row where its springs end. */
enum { HK_LANES = 4 };

/* The springs of level 0: B = w w^T + c I, tau^2 and damping in it, as (w, c) for each neighbor.
 *
 * They stand in slots, the s-th neighbors of all rows of a group side by side: first the lower
 * ones, then the upper ones. Where a row has fewer than another one, its spring has no stiffness
 * and goes to the neighbor of the other, so that a sweep never reads what an earlier one has left,
 * which may be no number at all. The weights of P stand in slots likewise. */
typedef struct HkFine {
  int32_t groups;
  int32_t *lower, *upper; /* groups + 1, groups: the slots of group g are lower[g] .. upper[g] - 1
                           * and upper[g] .. lower[g + 1] - 1 */
  int32_t *neighbor;      /* HK_LANES a slot: rows */
  int32_t *record;        /* and places in the springs by rows (spring_rows.h); -1: none */
  float *spring;          /* 4 HK_LANES a slot */
  int32_t *follows;       /* groups + 1: the slots of group g of P */
  int32_t *coarse;        /* HK_LANES a slot: rows of level 1 */
  float *weight;
  void *memory[2]; /* of spring and weight */
} HkFine;

/* A block between two rows of a level that its graph does not have; coupling.h. */
typedef struct HkCoupling {
  int32_t row, column;
  float block[9]; /* row by row */
} HkCoupling;

/* A row of a level that is coupled. */
typedef struct HkCoupledRow {
  int32_t row;
  float E[9];     /* sum of |O_IJ| over its couplings, row by row */
  float saved[4]; /* of a vector, during a sweep */
} HkCoupledRow;

typedef struct HkCouplings {
  HkCoupling *coupling; /* by rising rows and columns, each pair once */
  int64_t count, capacity;
  HkCoupledRow *row; /* by rising number */
  int64_t row_count, row_capacity;
} HkCouplings;

/* Weighted terms of level 0; fine_terms.h. */
typedef struct HkFineTerms {
  const HkTermRows *rows; /* of the operator; NULL: there are none */
  float *scale;           /* one a piece: tau^2, or less */
  float *G;               /* 12 a vertex of terms */
  float *saved;           /* 4 a vertex of terms: of a vector, during a sweep */
  int64_t scale_capacity, vertex_capacity;
} HkFineTerms;

/* Weighted terms of a coarse level: C = sum of w w^T K over the terms; level_terms.h. */
typedef struct HkLevelTerms {
  const struct HkLevelTermKernels *kernels;
  int64_t count;
  int64_t *start;    /* count + 1: term t has the entries start[t] .. start[t + 1] - 1 */
  int32_t *row;      /* of an entry: the row of the level that it weights */
  float *weight;     /* 0: the row is any one */
  int32_t *term;     /* that it belongs to */
  float *K;          /* 12 a term: three columns of four floats; tau^2 in it */
  int64_t row_count; /* rows that have terms, by rising number */
  int32_t *coupled;
  int64_t *row_start; /* row_count + 1: the entries of a row, */
  int32_t *row_term;  /* each with its term */
  float *row_weight;  /* and its weight */
  float *G;           /* 12 a row: sum of |w_I| sum_J |w_J| K / 2 over its terms */
  float *saved;       /* 4 a row: of a vector, during a sweep */
  float *y;           /* 4 a term: K sum w x */
  int64_t term_capacity, entry_capacity, row_capacity, coupled_capacity;
} HkLevelTerms;

typedef struct HkLevel {
  int32_t n;
  int visits; /* in a cycle, for each of the level before */
  HkGraph graph;
  HkSweepOrder sweep;
  int32_t *diagonal; /* n: where the diagonal block of a row stands */
  int32_t *parent;   /* n: the row of the next level that it follows most, -1 if none; NULL on the
                      * last */
  float *A;          /* 12 a block; NULL on level 0 */
  float *D;          /* 12 n: diagonal blocks at first, then their inverses; the latter on level 0
                      * by groups, first columns of all rows, then second, then third ones */
  float *x, *b, *r;  /* 4 n */
  HkWeights P;       /* from the next level; rows 0 on the last */
  HkCouplings couplings;
  HkLevelTerms terms;
  HkGalerkin galerkin;
  void *memory[5]; /* of A, D, x, b, r */
} HkLevel;

enum { HK_LEVELS_MAX = 24 };

typedef struct HkMultigrid {
  const HkModel *model;
  HkIsa isa;
  int count; /* levels */
  HkLevel level[HK_LEVELS_MAX];
  HkFine fine;
  HkFineTerms fine_terms;
  int64_t slots;   /* of the springs by rows (spring_rows.h) */
  int32_t *vertex; /* of level 0: the model's vertex that is row k, or -1 */
  int32_t *row;    /* the other way round */
  double scale;    /* of right-hand sides, a power of 2: one over a mass, so that floats hold what
                    * there is of them in any units */
  bool exact;      /* the last level is solved by a dense matrix, else swept */
  float *coarsest; /* its inverse, (3 n)^2 */
  double *dense;   /* the same while it is found */
  size_t bytes;
} HkMultigrid;

/* The springs and weights of level 0 by slots, when its graph, P and vertices are there. */
HkStatus hk_fine_create(HkMultigrid *multigrid, HkError *error);
void hk_fine_destroy(const HkContext *context, HkFine *fine);

/* HK_ERROR_UNSUPPORTED, with a way out, for models that it is not made for: with a vertex of very
 * many neighbors, or with more springs than int32_t can count. */
HkStatus hk_multigrid_check(const HkModel *model, HkError *error);
HkStatus hk_multigrid_create(const HkModel *model, HkMultigrid **multigrid, HkError *error);
void hk_multigrid_destroy(HkMultigrid **multigrid);

#endif
