/* Values of ghosts by PetscSF: roots are the vertices of a part, leaves the ghosts of others. */
#include "petsc.h"

#include <stdlib.h>

struct HkHalo {
  HkRanks *ranks;
  PetscSF sf;
  MPI_Datatype vector; /* three doubles */
};

HkStatus petsc_halo_create(HkRanks *ranks, const HkHaloPlan *plan, HkHalo **halo, HkError *error) {
  PetscSFNode *remote;
  HkHalo *h = calloc(1, sizeof *h);
  if (!h) return petsc_status(ranks, PETSC_ERR_MEM, error);
  *halo = h;
  h->ranks = ranks;
  MPI_Type_contiguous(3, MPI_DOUBLE, &h->vector);
  MPI_Type_commit(&h->vector);
  TRY_PETSC(PetscSFCreate(comm_of(ranks), &h->sf));
  TRY_PETSC(PetscMalloc1(plan->ghosts + 1, &remote));
  for (int64_t q = 0; q < plan->ghosts; q++)
    remote[q] = (PetscSFNode){.rank = plan->rank[q], .index = plan->index[q]};
  TRY_PETSC(PetscSFSetGraph(h->sf, (PetscInt)plan->n, (PetscInt)plan->ghosts, NULL,
                            PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  TRY_PETSC(PetscSFSetFromOptions(h->sf));
  TRY_PETSC(PetscSFSetUp(h->sf));
  return HK_OK;
}

void petsc_halo_destroy(HkHalo **halo) {
  HkHalo *h = *halo;
  if (!mpi_has_ended()) {
    PetscSFDestroy(&h->sf);
    MPI_Type_free(&h->vector);
  }
  free(h);
  *halo = NULL;
}

/* A message that cannot be sent ends all ranks, as an error of MPI does. */
static void check(const HkHalo *h, PetscErrorCode code) {
  if (code) MPI_Abort(comm_of(h->ranks), 1);
}

void petsc_halo_begin(HkHalo *h, const double *from, double *ghosts) {
  check(h, PetscSFBcastBegin(h->sf, h->vector, from, ghosts, MPI_REPLACE));
}

void petsc_halo_end(HkHalo *h, const double *from, double *ghosts) {
  check(h, PetscSFBcastEnd(h->sf, h->vector, from, ghosts, MPI_REPLACE));
}

/* Bytes to and from other ranks, as PetscSF has them in its messages. */
static int64_t count_bytes(const HkHalo *h, PetscInt count, const PetscMPIInt *rank,
                           const PetscInt *offset) {
  int64_t vertices = 0;
  for (PetscInt k = 0; k < count; k++)
    if (rank[k] != h->ranks->rank) vertices += offset[k + 1] - offset[k];
  return vertices * 3 * (int64_t)sizeof(double);
}

void petsc_halo_bytes(const HkHalo *h, int64_t *sent, int64_t *received) {
  PetscInt count;
  const PetscMPIInt *rank;
  const PetscInt *offset, *index, *other;
  check(h, PetscSFGetLeafRanks(h->sf, &count, &rank, &offset, &index));
  *sent = count_bytes(h, count, rank, offset);
  check(h, PetscSFGetRootRanks(h->sf, &count, &rank, &offset, &index, &other));
  *received = count_bytes(h, count, rank, offset);
}
