/* Solvers of PETSc for the Hessian of a step: PCMG on Hooke's own hierarchy, PCGAMG and BoomerAMG,
 * alone as preconditioners or in conjugate gradients of PETSc.
 *
 * Matrices are MATBAIJ with blocks of 3. New values are copied into the blocks of PETSc at places
 * that were found once. PCMG makes a V-cycle with two steps of Chebyshev on 3x3 block Jacobi;
 * springs bound the largest eigenvalue of D^-1 A by 2, so that the interval (0.2, 2) needs no
 * estimate and no message. A small last level is solved on every rank (PCREDUNDANT). Options of
 * PETSc override all of it.
 */
#include "petsc.h"

#include <stdlib.h>
#include <string.h>

/* The matrix of a level. Blocks of owned vertices stand in `own`, those of ghosts in `other`. For
 * PCGAMG and BoomerAMG, which take no blocks, it is MATAIJ, and slot is NULL. */
typedef struct Matrix {
  const HkRanksMatrix *pattern;
  Mat A, own, other; /* other: NULL on one rank */
  int64_t *slot;     /* of each block: in own, or -1 - slot in other; in the order of the pattern */
  Mat P;             /* from the next level, three columns a weight; NULL on the last */
} Matrix;

struct HkRanksSolver {
  HkRanks *ranks;
  HkRanksSolverKind kind;
  int levels;
  Matrix *matrix;
  PetscInt owned; /* vertices of the first level */
  KSP ksp;
  Vec r, z;
};

/* ---- Matrices ---- */

static PetscInt count_owned(const HkRanksMatrix *m) {
  PetscInt owned = 0;
  for (int64_t i = 0; i < m->n; i++) owned += !m->ghost[i];
  return owned;
}

/* Zeros in all blocks, which fixes the pattern. */
static PetscErrorCode fill_pattern(const HkRanksMatrix *m, Mat A) {
  PetscScalar zero[9] = {0};
  PetscFunctionBeginUser;
  for (int64_t i = 0; i < m->n; i++) {
    PetscInt row = (PetscInt)m->number[i];
    for (int64_t e = m->start[i]; e < m->start[i + 1] && !m->ghost[i]; e++) {
      PetscInt column = (PetscInt)m->number[m->column[e]];
      PetscCall(MatSetValuesBlocked(A, 1, &row, 1, &column, zero, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of scalars where blocks is false: 3 x 3 numbers a block. */
static PetscErrorCode create_matrix(MPI_Comm comm, const HkRanksMatrix *m, bool blocks, Mat *A) {
  PetscInt owned = count_owned(m), *inner, *outer, at = 0;
  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(owned, &inner, owned, &outer));
  for (int64_t i = 0; i < m->n; i++) {
    if (m->ghost[i]) continue;
    for (int64_t e = m->start[i]; e < m->start[i + 1]; e++)
      (m->ghost[m->column[e]] ? outer : inner)[at]++;
    at++;
  }
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, 3 * owned, 3 * owned, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(MatSetType(*A, blocks ? MATBAIJ : MATAIJ));
  PetscCall(MatXAIJSetPreallocation(*A, 3, inner, outer, NULL, NULL));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(PetscFree2(inner, outer));
  PetscCall(fill_pattern(m, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt find(const PetscInt *list, PetscInt begin, PetscInt end, PetscInt value) {
  while (begin < end) {
    PetscInt middle = begin + (end - begin) / 2;
    if (list[middle] < value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/* Finds where each block stands, so that new values need no search. */
static PetscErrorCode find_slots(Matrix *m) {
  const HkRanksMatrix *p = m->pattern;
  const PetscInt *ia, *ja, *oa = NULL, *ob = NULL, *ghosts = NULL;
  PetscInt rows, first, last, others = 0, row = 0;
  PetscBool done, parallel;
  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)m->A, MATMPIBAIJ, &parallel));
  m->own = m->A;
  if (parallel) PetscCall(MatMPIBAIJGetSeqBAIJ(m->A, &m->own, &m->other, &ghosts));
  PetscCall(MatGetOwnershipRange(m->A, &first, &last));
  PetscCall(MatGetRowIJ(m->own, 0, PETSC_FALSE, PETSC_TRUE, &rows, &ia, &ja, &done));
  if (m->other) {
    PetscCall(MatGetRowIJ(m->other, 0, PETSC_FALSE, PETSC_TRUE, &rows, &oa, &ob, &done));
    PetscCall(MatGetLocalSize(m->other, NULL, &others));
  }
  PetscCall(PetscMalloc1(p->start[p->n] + 1, &m->slot));
  for (int64_t i = 0; i < p->n; i++) {
    if (p->ghost[i]) continue;
    for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) {
      PetscInt column = (PetscInt)p->number[p->column[e]];
      if (!p->ghost[p->column[e]])
        m->slot[e] = find(ja, ia[row], ia[row + 1], column - first / 3);
      else
        m->slot[e] = -1 - find(ob, oa[row], oa[row + 1], find(ghosts, 0, others / 3, column));
    }
    row++;
  }
  PetscCall(MatRestoreRowIJ(m->own, 0, PETSC_FALSE, PETSC_TRUE, &rows, &ia, &ja, &done));
  if (m->other)
    PetscCall(MatRestoreRowIJ(m->other, 0, PETSC_FALSE, PETSC_TRUE, &rows, &oa, &ob, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weights as a matrix of scalars, then for three numbers a vertex. */
static PetscErrorCode create_weights(MPI_Comm comm, const HkRanksLevel *fine,
                                     const HkRanksMatrix *coarse, Mat *P) {
  const HkRanksMatrix *m = &fine->matrix;
  const HkRanksWeights *w = &fine->weights;
  PetscInt rows = count_owned(m), columns = count_owned(coarse), *inner, *outer, at = 0;
  Mat scalar;
  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(rows, &inner, rows, &outer));
  for (int64_t i = 0; i < m->n; i++) {
    if (m->ghost[i]) continue;
    for (int32_t e = w->start[i]; e < w->start[i + 1]; e++)
      (coarse->ghost[w->column[e]] ? outer : inner)[at]++;
    at++;
  }
  PetscCall(MatCreate(comm, &scalar));
  PetscCall(MatSetSizes(scalar, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(scalar, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(scalar, 0, inner));
  PetscCall(MatMPIAIJSetPreallocation(scalar, 0, inner, 0, outer));
  PetscCall(PetscFree2(inner, outer));
  for (int64_t i = 0; i < m->n; i++) {
    PetscInt row = (PetscInt)m->number[i];
    for (int32_t e = w->start[i]; e < w->start[i + 1] && !m->ghost[i]; e++) {
      PetscInt column = (PetscInt)coarse->number[w->column[e]];
      PetscScalar weight = (PetscScalar)w->weight[e];
      PetscCall(MatSetValues(scalar, 1, &row, 1, &column, &weight, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(scalar, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(scalar, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateMAIJ(scalar, 3, P));
  PetscCall(MatDestroy(&scalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Preconditioners ---- */

static PetscErrorCode set_multigrid(HkRanksSolver *s, PC pc, bool solves_last) {
  PetscFunctionBeginUser;
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, s->levels, NULL));
  PetscCall(PCMGSetType(pc, PC_MG_MULTIPLICATIVE));
  PetscCall(PCMGSetCycleType(pc, PC_MG_CYCLE_V));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_NONE));
  for (int k = 0; k < s->levels; k++) { /* PCMG counts from the coarsest */
    int number = s->levels - 1 - k;
    KSP smoother;
    PC jacobi;
    PetscCall(PCMGGetSmoother(pc, number, &smoother));
    PetscCall(KSPSetOperators(smoother, s->matrix[k].A, s->matrix[k].A));
    PetscCall(KSPSetNormType(smoother, KSP_NORM_NONE));
    PetscCall(KSPGetPC(smoother, &jacobi));
    if (number > 0) PetscCall(PCMGSetInterpolation(pc, number, s->matrix[k].P));
    if (number > 0 || !solves_last) {
      PetscCall(KSPSetType(smoother, KSPCHEBYSHEV));
      PetscCall(KSPChebyshevSetEigenvalues(smoother, 2.0, 0.2));
      PetscCall(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 2));
      PetscCall(PCSetType(jacobi, PCPBJACOBI));
    } else {
      PetscCall(KSPSetType(smoother, KSPPREONLY));
      PetscCall(PCSetType(jacobi, PCREDUNDANT));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The motions that cost no energy: of cloth the translations, of solids the rotations, too. */
static PetscErrorCode set_null_space(const HkRanksSolver *s, const HkRanksSolverSetup *setup) {
  const HkRanksMatrix *m = &setup->level[0].matrix;
  MatNullSpace space;
  Vec x;
  PetscScalar *at;
  PetscFunctionBeginUser;
  if (!setup->solid) PetscFunctionReturn(PETSC_SUCCESS); /* blocks of 3 imply translations */
  PetscCall(MatCreateVecs(s->matrix[0].A, &x, NULL));
  PetscCall(VecSetBlockSize(x, 3));
  PetscCall(VecGetArray(x, &at));
  for (int64_t i = 0, to = 0; i < m->n; i++)
    for (int c = 0; c < 3 && !m->ghost[i]; c++) at[to++] = setup->rest[3 * i + c];
  PetscCall(VecRestoreArray(x, &at));
  PetscCall(MatNullSpaceCreateRigidBody(x, &space));
  PetscCall(MatSetNearNullSpace(s->matrix[0].A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_gamg(const HkRanksSolver *s, const HkRanksSolverSetup *setup, PC pc) {
  PetscFunctionBeginUser;
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_TRUE));
  PetscCall(set_null_space(s, setup));
  /* Rotations make 6 x 6 blocks on coarse levels, singular ones where an aggregate is a point:
   * Jacobi survives them, blocks do not. */
  if (!setup->solid) PetscCall(PetscOptionsSetValue(NULL, "-gamg_mg_levels_pc_type", "pbjacobi"));
  PetscCall(PCSetOptionsPrefix(pc, setup->solid ? NULL : "gamg_"));
  PetscCall(PCSetFromOptions(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create_solver(HkRanksSolver *s, const HkRanksSolverSetup *setup) {
  MPI_Comm comm = comm_of(s->ranks);
  PC pc;
  PetscFunctionBeginUser;
  for (int k = 0; k < s->levels; k++) {
    Matrix *m = &s->matrix[k];
    m->pattern = &setup->level[k].matrix;
    PetscCall(create_matrix(comm, m->pattern, s->kind == HK_RANKS_MULTIGRID, &m->A));
    if (s->kind == HK_RANKS_MULTIGRID) PetscCall(find_slots(m));
    if (k + 1 < s->levels)
      PetscCall(create_weights(comm, &setup->level[k], &setup->level[k + 1].matrix, &m->P));
  }
  s->owned = count_owned(s->matrix[0].pattern);
  PetscCall(MatCreateVecs(s->matrix[0].A, &s->r, &s->z));
  PetscCall(KSPCreate(comm, &s->ksp));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetNormType(s->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetOperators(s->ksp, s->matrix[0].A, s->matrix[0].A));
  PetscCall(KSPGetPC(s->ksp, &pc));
  if (s->kind == HK_RANKS_MULTIGRID) PetscCall(set_multigrid(s, pc, setup->solves_last));
  if (s->kind == HK_RANKS_GAMG) PetscCall(set_gamg(s, setup, pc));
  if (s->kind == HK_RANKS_HYPRE) PetscCall(PCSetType(pc, PCHYPRE));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

HkStatus petsc_solver_create(HkRanks *ranks, const HkRanksSolverSetup *setup,
                             HkRanksSolver **solver, HkError *error) {
  HkRanksSolver *s = calloc(1, sizeof *s);
  *solver = s;
  if (!s) return petsc_status(ranks, PETSC_ERR_MEM, error);
  s->ranks = ranks;
  s->kind = setup->kind;
  s->levels = setup->kind == HK_RANKS_MULTIGRID ? setup->levels : 1;
  s->matrix = calloc((size_t)s->levels, sizeof *s->matrix);
  if (!s->matrix) return petsc_status(ranks, PETSC_ERR_MEM, error);
  TRY_PETSC(create_solver(s, setup));
  return HK_OK;
}

void petsc_solver_destroy(HkRanksSolver **solver) {
  HkRanksSolver *s = *solver;
  if (!s) return;
  bool ended = mpi_has_ended();
  if (!ended) {
    KSPDestroy(&s->ksp);
    VecDestroy(&s->r);
    VecDestroy(&s->z);
  }
  for (int k = 0; s->matrix && k < s->levels && !ended; k++) {
    MatDestroy(&s->matrix[k].P);
    MatDestroy(&s->matrix[k].A);
    PetscFree(s->matrix[k].slot);
  }
  free(s->matrix);
  free(s);
  *solver = NULL;
}

/* ---- Values ---- */

/* PETSc stores blocks by columns. */
static void put_block(MatScalar *to, const double *from) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) to[3 * c + r] = from[3 * r + c];
}

static PetscErrorCode set_values(Matrix *m, const double *values) {
  const HkRanksMatrix *p = m->pattern;
  MatScalar *own, *other = NULL;
  PetscFunctionBeginUser;
  PetscCall(MatSeqBAIJGetArray(m->own, &own));
  if (m->other) PetscCall(MatSeqBAIJGetArray(m->other, &other));
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t e = p->start[i]; e < p->start[i + 1] && !p->ghost[i]; e++) {
      int64_t slot = m->slot[e];
      put_block(slot >= 0 ? own + 9 * slot : other + 9 * (-1 - slot), values + 9 * e);
    }
  PetscCall(MatSeqBAIJRestoreArray(m->own, &own));
  if (m->other) PetscCall(MatSeqBAIJRestoreArray(m->other, &other));
  PetscCall(MatAssemblyBegin(m->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(m->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_scalars(const Matrix *m, const double *values) {
  const HkRanksMatrix *p = m->pattern;
  PetscFunctionBeginUser;
  for (int64_t i = 0; i < p->n; i++) {
    PetscInt row = (PetscInt)p->number[i];
    for (int64_t e = p->start[i]; e < p->start[i + 1] && !p->ghost[i]; e++) {
      PetscInt column = (PetscInt)p->number[p->column[e]];
      PetscCall(MatSetValuesBlocked(m->A, 1, &row, 1, &column, values + 9 * e, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(m->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(m->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

HkStatus petsc_solver_set(HkRanksSolver *s, int level, const double *values, HkError *error) {
  HkRanks *ranks = s->ranks;
  Matrix *m = &s->matrix[level];
  TRY_PETSC(m->slot ? set_values(m, values) : set_scalars(m, values));
  return HK_OK;
}

HkStatus petsc_solver_prepare(HkRanksSolver *s, HkError *error) {
  HkRanks *ranks = s->ranks;
  TRY_PETSC(KSPSetUp(s->ksp));
  return HK_OK;
}

/* ---- Solving ---- */

static PetscErrorCode pack(const HkRanksSolver *s, const double *from, Vec v) {
  const HkRanksMatrix *m = s->matrix[0].pattern;
  PetscScalar *at;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(v, &at));
  for (int64_t i = 0; i < m->n; i++) {
    if (m->ghost[i]) continue;
    memcpy(at, from + 3 * i, 3 * sizeof *at);
    at += 3;
  }
  at -= 3 * s->owned;
  PetscCall(VecRestoreArrayWrite(v, &at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode unpack(const HkRanksSolver *s, Vec v, double *to) {
  const HkRanksMatrix *m = s->matrix[0].pattern;
  const PetscScalar *at;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(v, &at));
  for (int64_t i = 0; i < m->n; i++) {
    if (m->ghost[i]) continue;
    memcpy(to + 3 * i, at, 3 * sizeof *to);
    at += 3;
  }
  at -= 3 * s->owned;
  PetscCall(VecRestoreArrayRead(v, &at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

HkStatus petsc_solver_apply(HkRanksSolver *s, const double *r, double *z, HkError *error) {
  HkRanks *ranks = s->ranks;
  PC pc;
  TRY_PETSC(KSPGetPC(s->ksp, &pc));
  TRY_PETSC(pack(s, r, s->r));
  TRY_PETSC(PCApply(pc, s->r, s->z));
  TRY_PETSC(unpack(s, s->z, z));
  return HK_OK;
}

HkStatus petsc_solver_solve(HkRanksSolver *s, const double *b, double *x, double tolerance,
                            int most, int *iterations, bool *indefinite, HkError *error) {
  HkRanks *ranks = s->ranks;
  KSPConvergedReason reason;
  PetscInt count;
  TRY_PETSC(pack(s, b, s->r));
  TRY_PETSC(KSPSetTolerances(s->ksp, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, most));
  TRY_PETSC(KSPSolve(s->ksp, s->r, s->z));
  TRY_PETSC(unpack(s, s->z, x));
  TRY_PETSC(KSPGetConvergedReason(s->ksp, &reason));
  TRY_PETSC(KSPGetIterationNumber(s->ksp, &count));
  *iterations = (int)count;
  *indefinite = reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC;
  return reason > 0 ? HK_OK : HK_NOT_CONVERGED;
}
