/* Springs in sliced ELLPACK (SELL-C), for vector instructions.
 *
 * Vertices are taken in groups of HK_ROW_GROUP (HK_ROW_GROUP_SINGLE in single precision) by rising
 * number. Slot s of a group holds the s-th neighbor of each of its vertices, side by side, so that
 * one instruction treats a whole group; a row shorter than the longest of its group is padded with
 * springs of no stiffness from the vertex to itself. Each spring is stored twice, once for each
 * end: there are no scattered writes, no two threads write to one vertex, and reads are sequential.
 *
 * Indices of neighbors are relative to the first vertex of the group. Groups with the same
 * neighbors, stiffnesses and rest lengths, which are nearly all of a grid, a block, a net or a
 * chain, share the slots of the first of them: the slots of a lattice have a constant size and stay
 * in the cache. A group is regular if in every slot j - i is the same for all its vertices i and
 * neighbors j: the neighbors in a slot are consecutive in memory and are loaded without indices. In
 * single precision, for more regular groups, a slot has one value of j - i: a vertex without such a
 * neighbor has a spring of no stiffness there.
 *
 * If all springs have the same stiffness, k is stored once for all slots; padding then has that
 * stiffness, too, and exerts no force, since it joins a vertex to itself.
 */
#ifndef HK_FORCE_SPRING_ROWS_H
#define HK_FORCE_SPRING_ROWS_H

#include "base/isa.h"
#include "model/model.h"

enum { HK_ROW_GROUP = 8, HK_ROW_GROUP_SINGLE = 16 };

/* Groups that one thread takes at a time. */
enum { HK_ROW_GRAIN = 16 };

typedef struct HkSpringRows {
  const HkSpringArrays *springs; /* whose numbers they hold */
  int64_t n, groups;
  int width;      /* vertices of a group */
  int64_t *start; /* groups + 1: first slot of a group in arrays beside the rows; in double
                   * precision a group has as many slots as its longest row */
  int64_t *place; /* of each group: its first slot in the arrays below; regular ones have ~place */
  int64_t slots, owners;
  int64_t *owner;    /* the groups whose slots are in the arrays below, in that order */
  int32_t *neighbor; /* width a slot, as in all arrays below; j - i in regular groups; times unit */
  int unit;          /* numbers of a vertex in vectors: 3; in single precision 4, or 1 where most
                      * springs are regular, for coordinates in planes */
  double *k, *l0;
  int64_t k_step;  /* slots from one k to the next: 0 if all springs have the same k */
  double *damping; /* NULL: none is damped */
  double *least;   /* length below which a spring is slack: l0 of a tension-only one, else -1;
                    * NULL: there is no tension-only one */
  struct {
    float *k, *kl0, *damping, *least; /* kl0: k l0 */
  } single;        /* in single precision, where the arrays in double precision are NULL */
  double regular;  /* share of the slots that are regular */
  int64_t version; /* of the springs */
  void *blocks[5]; /* what the arrays were allocated as */
  size_t bytes;
} HkSpringRows;

HkStatus hk_spring_rows_create(const HkModel *model, HkSpringRows **rows, HkError *error);
/* Creates rows for springs between the same vertices as the model's; no groups share slots, so that
 * parameters may differ. */
HkStatus hk_spring_rows_create_own(const HkModel *model, const HkSpringArrays *springs,
                                   HkSpringRows **rows, HkError *error);
/* The same with groups of HK_ROW_GROUP_SINGLE and numbers in single precision. */
HkStatus hk_spring_rows_create_single(const HkModel *model, HkSpringRows **rows, HkError *error);
void hk_spring_rows_destroy(const HkModel *model, HkSpringRows **rows);
/* Returns the largest number of springs of a vertex in a group of that width; in double precision
 * it is the number of slots of the group. */
int64_t hk_spring_rows_longest(const HkModel *model, int width, int64_t group);
/* Copies the parameters of all springs into rows that share no slots. */
void hk_spring_rows_fill(const HkModel *model, HkSpringRows *rows);
/* Copies the parameters of spring s into rows that share no slots. */
void hk_spring_rows_put(HkSpringRows *rows, int64_t s);
/* Copies the parameters of the springs after a live change, which changes all springs alike. */
void hk_spring_rows_update(const HkModel *model, HkSpringRows *rows);

/* ---- Kernels: kernels/spring_rows.c ---- */

typedef struct HkSpringRowsArgs {
  const HkSpringRows *rows;
  const double *x, *v; /* v NULL: at rest */
  const double *to;    /* of change */
  double *f;           /* of pull: the force of the springs is added */
  bool fresh;          /* of pull: f is set instead */
  void *coefficients;  /* of hessian: 4 HK_ROW_GROUP numbers a slot by start, see there */
  bool single;         /* they are floats, else doubles */
  double projection;   /* of hessian: part of c < 0 that is left out, 0 .. 1 */
  float *records;      /* of records: 4 an entry, HK_ROW_GROUP a slot by start */
  double tau;          /* of records, s */
  bool damped, flat;   /* of records: damping counts; z does not */
  const void *hessian; /* of product and records: what hessian has written, single or not */
  const double *p;     /* of product */
  double *out;         /* of product: out = sum over the springs of B (p_i - p_j) */
} HkSpringRowsArgs;

/* Kernels over the groups begin .. end - 1 of rows in double precision. */
typedef struct HkSpringRowsKernels {
  void (*pull)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  /* Adds the force as pull does, and returns the energy (J) of the springs, half of it counted at
   * either end. */
  double (*pull_energy)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  /* Returns the energy (J) at `to` minus that at x, as a sum of differences (springs.c). */
  double (*change)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  /* Coefficients of the Hessian of each spring, B = w w^T + c I with
   *
   *     c = k (1 - l0 / l),  w = sqrt(k - c) d / l
   *
   * Each slot has HK_ROW_GROUP values of c, then of each coordinate of w; all are 0 for a slack
   * spring. */
  void (*hessian)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  /* From those coefficients, for preconditioners: tau^2 B + tau C with c >= 0 and the damping C =
   * damping u u^T, again as (w, c), four floats together for each entry of the rows. */
  void (*records)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  void (*product)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
} HkSpringRowsKernels;

const HkSpringRowsKernels *hk_spring_rows_kernels(HkIsa isa);

#endif
