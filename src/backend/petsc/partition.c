/* Partition of a graph by PETSc's MatPartitioning: PT-Scotch, or what -mat_partitioning_type says.
 * Few rows are cut into ranges instead: PT-Scotch 7.0 never ends on some graphs of a few vertices.
 */
#include "petsc.h"

enum { ROWS_A_RANK_MIN = 256 };

/* Takes over a copy of the graph, without loops, which partitioners refuse. */
static PetscErrorCode make_graph(MPI_Comm comm, int64_t first, int64_t count, const int32_t *start,
                                 const int32_t *column, Mat *graph) {
  PetscInt *i, *j, local = (PetscInt)count, all;
  PetscFunctionBeginUser;
  PetscCall(MPIU_Allreduce(&local, &all, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(PetscMalloc1(count + 1, &i));
  PetscCall(PetscMalloc1(start[count] + 1, &j));
  i[0] = 0;
  for (int64_t row = 0, at = 0; row < count; row++) {
    for (int32_t e = start[row]; e < start[row + 1]; e++)
      if (column[e] != first + row) j[at++] = column[e];
    i[row + 1] = (PetscInt)at;
  }
  PetscCall(MatCreateMPIAdj(comm, local, all, i, j, NULL, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

HkStatus petsc_partition(HkRanks *ranks, int64_t first, int64_t count, const int32_t *start,
                         const int32_t *column, int32_t *owner, HkError *error) {
  Mat graph;
  MatPartitioning partition;
  IS parts;
  const PetscInt *part;
  int64_t total = 0;
  MPI_Allreduce(&count, &total, 1, MPI_INT64_T, MPI_SUM, comm_of(ranks));
  if (ranks->count == 1 || total < (int64_t)ROWS_A_RANK_MIN * ranks->count) {
    for (int64_t i = 0; i < count; i++)
      owner[i] = (int32_t)((first + i) * ranks->count / (total > 0 ? total : 1));
    return HK_OK;
  }
  TRY_PETSC(make_graph(comm_of(ranks), first, count, start, column, &graph));
  TRY_PETSC(MatPartitioningCreate(comm_of(ranks), &partition));
  TRY_PETSC(MatPartitioningSetAdjacency(partition, graph));
#ifdef PETSC_HAVE_PTSCOTCH
  TRY_PETSC(MatPartitioningSetType(partition, MATPARTITIONINGPTSCOTCH));
#endif
  TRY_PETSC(MatPartitioningSetFromOptions(partition));
  TRY_PETSC(MatPartitioningApply(partition, &parts));
  TRY_PETSC(ISGetIndices(parts, &part));
  for (int64_t i = 0; i < count; i++) owner[i] = (int32_t)part[i];
  TRY_PETSC(ISRestoreIndices(parts, &part));
  TRY_PETSC(ISDestroy(&parts));
  TRY_PETSC(MatPartitioningDestroy(&partition));
  TRY_PETSC(MatDestroy(&graph));
  return HK_OK;
}
