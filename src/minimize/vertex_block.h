/* One vertex alone: the least of g over its own position while all others stand still, by one step
 * of Newton's method
 *
 *     H_ii p = -dg/dx_i,   H_ii = m_i I + tau^2 sum d2E/dx_i2 + tau C_ii   (3x3, kg)
 *
 * H_ii has the true Hessians of the springs. Where it is not positive definite, or p would raise g,
 * it has the projected ones (hessian.h), and if that does not help either, springs as stiff across
 * their length as along it: then no vertex overshoots. Forces without a local form (HkLocalForce)
 * count through their gradient and their own blocks at the start, which is exact for all that are
 * linear in x.
 *
 * Forces whose stiffness has no bound, contact above all (unbounded.h), count by their quadratic
 * model at the start of the sweep, as Newton's method sees them: the gradient there, which is
 * exact, and all their blocks. One vertex after the other feels how far those before it have moved,
 *
 *     dE/dx_i ~ dE/dx_i(start) + sum over j of B_ij (x_j - start_j)
 *
 * so that layers that lie on each other move together. Where all vertices move at once, the blocks
 * are replaced by a bound of all of them on the diagonal: neighbors do not overshoot together. A
 * model of single vertices with the barrier itself does not work: each vertex would be stopped by
 * what is about to move away (docs/experiments.md).
 */
#ifndef HK_MINIMIZE_VERTEX_BLOCK_H
#define HK_MINIMIZE_VERTEX_BLOCK_H

#include "minimize/unbounded.h"

/* A force that is evaluated anew for each vertex. */
typedef struct HkVertexBlockLocal {
  const HkLocalForce *type;
  HkForceArgs args;
} HkVertexBlockLocal;

/* Forces beyond this number are taken as linear. */
enum { HK_VERTEX_BLOCK_LOCALS = 8 };

typedef struct HkVertexBlock {
  const HkProblem *p;
  HkVertexBlockLocal local[HK_VERTEX_BLOCK_LOCALS];
  int local_count;
  double *force;       /* 3 n, N: the other forces that have an energy, at the start */
  double *block;       /* 9 n, N/m: their df_i/dx_i */
  const double *start; /* 3 n: where these were evaluated; the caller's */
  HkUnbounded rows;    /* blocks and terms of forces whose stiffness has no bound, at the start */
  int32_t *row; /* 2 a vertex: its row among the blocks, and its place among the vertices that have
                 * terms; -1: none. NULL until it is needed */
  bool coupled; /* they count */
} HkVertexBlock;

/* *bytes grows by the size. */
HkStatus hk_vertex_block_create(HkProblem *problem, HkVertexBlock *v, size_t *bytes,
                                HkError *error);
void hk_vertex_block_destroy(HkVertexBlock *v);
/* Of what has grown since it was created. */
size_t hk_vertex_block_bytes(const HkVertexBlock *v);
/* Begins a sweep over vertices of x that starts from the positions in start: forces without a local
 * form are evaluated there. start is to stay as it is. at_once: all vertices move together. */
HkStatus hk_vertex_block_begin(HkVertexBlock *v, const double *start, const double *x, bool at_once,
                               HkError *error);
/* p = where vertex i, which is not held, goes from x. */
void hk_vertex_block_step(const HkVertexBlock *v, const double *x, int64_t i, double p[3]);

#endif
