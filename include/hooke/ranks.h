/* Ranks: processes that simulate one model together, by MPI and PETSc (docs/cluster.md).
 *
 * Every rank calls the same functions in the same order with the same arguments, as MPI's
 * collective calls require: hk_ranks_open first, then all functions of models, states, simulations
 * and runs of a context with these ranks. A model is made in parts: that of a rank holds the
 * vertices that the rank owns and copies of those that their springs and faces reach on other
 * ranks, its ghosts. States and arrays are those of the part; sums, energies, step info and
 * hk_model_info are those of the whole model, the same on every rank but for bytes of memory.
 *
 * Scenes of bodies with the shapes grid, block, tet_block and chain are generated in parts: no rank
 * ever holds the whole model. Rank 0 compiles any other scene and sends the parts.
 */
#ifndef HOOKE_RANKS_H
#define HOOKE_RANKS_H

#include "hooke/hooke.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the plug-in libhooke_petsc and joins the ranks of a communicator, which is duplicated.
 * communicator: the address of an MPI_Comm of the caller, whose program has called MPI_Init; NULL:
 * all processes that mpirun has started, and MPI is initialized unless it is already. arguments:
 * options of PETSc, such as "-ksp_view"; NULL: none. Put *ranks into HkContext.ranks and set
 * HkContext.device to HK_PETSC. */
HK_API HkStatus hk_ranks_open(const void *communicator, int count, char **arguments,
                              HkRanks **ranks, HkError *error);
/* Leaves the ranks, after all objects that were made with them are destroyed; ends MPI if
 * hk_ranks_open has initialized it. Sets the pointer to NULL. */
HK_API void hk_ranks_close(HkRanks **ranks);
/* Number of this process, from 0, and number of all. */
HK_API int hk_ranks_rank(const HkRanks *ranks);
HK_API int hk_ranks_count(const HkRanks *ranks);
/* Returns the worst status of all ranks: the error of the lowest rank that has one, with its text,
 * else a warning, else HK_OK. For what only one rank knows, such as a file that it cannot read,
 * before all ranks go on. */
HK_API HkStatus hk_ranks_agree(HkRanks *ranks, HkStatus status, HkError *error);

/* The part of a model that a rank holds; the arrays are owned by the model. */
typedef struct HkPartView {
  int64_t total;         /* vertices of the whole model */
  int64_t springs;       /* springs of the whole model */
  int64_t pinned;        /* pinned vertices of the whole model */
  int64_t owned;         /* vertices that this rank owns */
  int64_t count;         /* vertices of the part, ghosts included */
  const int64_t *number; /* count: number of a vertex in the whole model, rising */
  const uint8_t *ghost;  /* count: 1: another rank owns the vertex */
} HkPartView;

/* False, and nothing is set, for a model that is not made in parts. */
HK_API bool hk_model_part(const HkModel *model, HkPartView *view);

#ifdef __cplusplus
}
#endif
#endif
