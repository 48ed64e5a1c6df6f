/* The springs by rows, as vector units like them.
 *
 * Vertices are taken in groups of HK_ROW_GROUP by rising number. Slot s of a group holds the s-th
 * neighbour of each of its vertices, side by side, so that one instruction treats a whole group; a
 * vertex with fewer neighbours than the group's longest row is filled up with springs of no
 * stiffness to itself. Each spring stands twice, once for each end: nothing is scattered, threads
 * never meet, and what is read comes in order.
 */
#ifndef HK_FORCE_SPRING_ROWS_H
#define HK_FORCE_SPRING_ROWS_H

#include "base/isa.h"
#include "model/model.h"

enum { HK_ROW_GROUP = 8 };

/* Groups that one thread takes at a time. */
enum { HK_ROW_GRAIN = 64 };

typedef struct HkSpringRows {
  int64_t n, groups;
  int64_t *start;     /* groups + 1: the first slot of a group */
  int32_t *neighbour; /* HK_ROW_GROUP a slot, as all that follow */
  double *k, *l0;
  double *damping; /* NULL: none is damped */
  double *least;   /* the length from which a spring pulls: l0 of a tension-only one, else -1;
                    * NULL: there is no tension-only one */
  int64_t version; /* of the model's stiffness */
  void *blocks[6]; /* what the arrays were allocated as */
  size_t bytes;
} HkSpringRows;

HkStatus hk_spring_rows_create(const HkModel *model, HkSpringRows **rows, HkError *error);
void hk_spring_rows_destroy(const HkModel *model, HkSpringRows **rows);
/* Takes over what a live change has made of the springs. */
void hk_spring_rows_update(const HkModel *model, HkSpringRows *rows);

/* ---- Kernels: kernels/spring_rows.c ---- */

typedef struct HkSpringRowsArgs {
  const HkSpringRows *rows;
  const double *x, *v;   /* v NULL: at rest */
  double *f;             /* of pull: f += what the springs pull */
  double *coefficients;  /* of hessian: 4 HK_ROW_GROUP a slot, see there */
  bool projected;        /* of hessian: c >= 0 */
  float *records;        /* of records: 4 an entry */
  double tau;            /* of records, s */
  const double *hessian; /* of product: what hessian has written */
  const double *p;       /* of product */
  double *out;           /* of product: out = sum over the springs of B (p_i - p_j) */
} HkSpringRowsArgs;

/* All of them for the groups begin .. end - 1. */
typedef struct HkSpringRowsKernels {
  void (*pull)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  /* The same, and returns the energy (J) of the springs, half of it counted at either end. */
  double (*pull_energy)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  /* Coefficients of the Hessian of each spring, B = w w^T + c I with
   *
   *     c = k (1 - l0 / l),  w = sqrt(k - c) d / l
   *
   * HK_ROW_GROUP times c, then the three coordinates of w likewise; all 0 where it is slack. */
  void (*hessian)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  /* From those coefficients, for preconditioners: tau^2 B + tau C with c >= 0 and the damping C =
   * damping u u^T, again as (w, c), four floats together for each entry of the rows. */
  void (*records)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
  void (*product)(const HkSpringRowsArgs *a, int64_t begin, int64_t end);
} HkSpringRowsKernels;

const HkSpringRowsKernels *hk_spring_rows_kernels(HkIsa isa);

#endif
