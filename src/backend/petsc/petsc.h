/* The plug-in libhooke_petsc: what its files share. Only this folder includes MPI or PETSc. */
#ifndef HK_BACKEND_PETSC_PETSC_H
#define HK_BACKEND_PETSC_PETSC_H

#include "base/ranks.h"

#include <petscksp.h>
#include <petscsf.h>

#if PETSC_VERSION_LT(3, 19, 0)
enum { PETSC_SUCCESS = 0 };
#endif

typedef struct PetscRanks {
  HkRanks base;
  MPI_Comm comm;
  bool ends_mpi, ends_petsc; /* close ends what open has begun */
  char why[400];             /* text of the last error of PETSc */
} PetscRanks;

static inline MPI_Comm comm_of(const HkRanks *ranks) {
  return ((const PetscRanks *)ranks)->comm;
}

/* Whether the program has ended MPI, as mpi4py does: then no function of MPI or PETSc may be
 * called, and what they hold is left to the end of the process. */
static inline bool mpi_has_ended(void) {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended != 0;
}

/* Converts an error code of PETSc. */
HkStatus petsc_status(const HkRanks *ranks, PetscErrorCode code, HkError *error);

/* Returns from a function with `ranks` and `error` if a call of PETSc fails. */
#define TRY_PETSC(call)                                                                            \
  do {                                                                                             \
    PetscErrorCode try_code = (call);                                                              \
    if (try_code) return petsc_status(ranks, try_code, error);                                     \
  } while (0)

/* comm.c */
void petsc_gather(HkRanks *ranks, const void *mine, size_t bytes, void *all);
void petsc_broadcast(HkRanks *ranks, int root, void *data, size_t bytes);
void petsc_counts(HkRanks *ranks, const int64_t *out, int64_t *in);
void petsc_exchange(HkRanks *ranks, const void *out, const int64_t *out_bytes, void *in,
                    const int64_t *in_bytes);

/* partition.c */
HkStatus petsc_partition(HkRanks *ranks, int64_t first, int64_t count, const int32_t *start,
                         const int32_t *column, int32_t *owner, HkError *error);

/* halo.c */
HkStatus petsc_halo_create(HkRanks *ranks, const HkHaloPlan *plan, HkHalo **halo, HkError *error);
void petsc_halo_destroy(HkHalo **halo);
void petsc_halo_begin(HkHalo *halo, const double *from, double *ghosts);
void petsc_halo_end(HkHalo *halo, const double *from, double *ghosts);
void petsc_halo_bytes(const HkHalo *halo, int64_t *sent, int64_t *received);

/* file.c */
HkStatus petsc_file_open(HkRanks *ranks, const char *path, bool write, HkRanksFile **file,
                         HkError *error);
HkStatus petsc_file_resize(HkRanksFile *file, int64_t bytes, HkError *error);
HkStatus petsc_file_write(HkRanksFile *file, const HkFilePieces *pieces, const void *data,
                          HkError *error);
HkStatus petsc_file_read(HkRanksFile *file, const HkFilePieces *pieces, void *data, HkError *error);
HkStatus petsc_file_close(HkRanksFile **file, HkError *error);

/* solver.c */
HkStatus petsc_solver_create(HkRanks *ranks, const HkRanksSolverSetup *setup,
                             HkRanksSolver **solver, HkError *error);
void petsc_solver_destroy(HkRanksSolver **solver);
HkStatus petsc_solver_set(HkRanksSolver *solver, int level, const double *values, HkError *error);
HkStatus petsc_solver_prepare(HkRanksSolver *solver, HkError *error);
HkStatus petsc_solver_apply(HkRanksSolver *solver, const double *r, double *z, HkError *error);
HkStatus petsc_solver_solve(HkRanksSolver *solver, const double *b, double *x, double tolerance,
                            int most, int *iterations, bool *indefinite, HkError *error);

#endif
