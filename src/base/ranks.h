/* Ranks: processes that simulate one model together. The plug-in libhooke_petsc implements this
 * interface; no other code knows MPI or PETSc.
 *
 * A plug-in is a shared library with one symbol, hk_ranks_plugin, an HkRanksType. It depends on
 * nothing of Hooke but this header. All functions but rank and count are collective: every rank
 * calls them in the same order. An error of MPI itself ends all processes.
 */
#ifndef HK_BASE_RANKS_H
#define HK_BASE_RANKS_H

#include "base/status.h"
#include "hooke/ranks.h"

enum { HK_RANKS_VERSION = 1 };
#define HK_RANKS_SYMBOL "hk_ranks_plugin"

/* A plan by which owners send values of their vertices to the ranks that have them as ghosts. */
typedef struct HkHalo HkHalo;

/* Ghosts of a part: the q-th one is the vertex `index` of the rank `rank`. */
typedef struct HkHaloPlan {
  int64_t n;      /* vertices of the part */
  int64_t ghosts; /* number of ghosts */
  const int32_t *rank;
  const int32_t *index;
} HkHaloPlan;

/* A file that all ranks write or read together. */
typedef struct HkRanksFile HkRanksFile;

/* Pieces of one rank in a file: piece q has count[q] items, which stand at the item at[q] of an
 * array that begins at `offset`; items have `item` bytes. */
typedef struct HkFilePieces {
  int64_t offset, item;
  int64_t pieces;
  const int64_t *at, *count;
} HkFilePieces;

/* A sparse matrix of 3x3 blocks over vertices of a rank, owned ones and ghosts in any order; rows
 * of ghosts are ignored. The matrix of all ranks has the rows of rank 0, rank 1 and so on, each in
 * the order of its owned vertices. */
typedef struct HkRanksMatrix {
  int64_t n;             /* vertices of this rank */
  const uint8_t *ghost;  /* n: 1: another rank owns it */
  const int64_t *number; /* n: its row in the matrix of all ranks */
  const int64_t *start;  /* n + 1: blocks of vertex i are start[i] .. start[i + 1] - 1 */
  const int32_t *column; /* vertex of a block, rising in a row */
} HkRanksMatrix;

/* Weights by which vertices follow those of the next coarser level; NULL: there is none. */
typedef struct HkRanksWeights {
  const int32_t *start;  /* n + 1 */
  const int32_t *column; /* vertex of the coarser level */
  const float *weight;
} HkRanksWeights;

/* One level of a hierarchy, the finest first. */
typedef struct HkRanksLevel {
  HkRanksMatrix matrix;
  HkRanksWeights weights;
} HkRanksLevel;

typedef enum HkRanksSolverKind {
  HK_RANKS_MULTIGRID, /* PCMG on the levels */
  HK_RANKS_GAMG,      /* PCGAMG on the first level */
  HK_RANKS_HYPRE      /* PCHYPRE, BoomerAMG, on the first level */
} HkRanksSolverKind;

/* A solver of PETSc. */
typedef struct HkRanksSolver HkRanksSolver;

typedef struct HkRanksSolverSetup {
  HkRanksSolverKind kind;
  int levels;
  const HkRanksLevel *level;
  bool solves_last;   /* the last level is small: it is solved on every rank */
  const double *rest; /* m, three a vertex of the first level */
  bool solid;         /* the model fills a volume: its rotations matter to PCGAMG */
} HkRanksSolverSetup;

typedef struct HkRanksType {
  int version;      /* HK_RANKS_VERSION of the plug-in */
  const char *name; /* "petsc" */
  HkStatus (*open)(const void *communicator, int count, char **arguments, HkRanks **ranks,
                   HkError *error);
  void (*close)(HkRanks **ranks);
  /* Ends all processes at once, after an error that the others cannot know. */
  void (*abort)(HkRanks *ranks, int code);

  /* all (bytes a rank) = what each rank has, in the order of the ranks. */
  void (*gather)(HkRanks *ranks, const void *mine, size_t bytes, void *all);
  void (*broadcast)(HkRanks *ranks, int root, void *data, size_t bytes);
  /* in[r] = what rank r has as out[this rank]. */
  void (*counts)(HkRanks *ranks, const int64_t *out, int64_t *in);
  /* Sends out_bytes[r] bytes to rank r and receives in_bytes[r] from it; both buffers hold the
   * bytes of rank 0, rank 1 and so on. */
  void (*exchange)(HkRanks *ranks, const void *out, const int64_t *out_bytes, void *in,
                   const int64_t *in_bytes);

  /* owner[i] = the rank that is to own row i of this rank's rows of a symmetric graph: rows
   * first .. first + count - 1 of the whole graph, columns by their numbers in it. */
  HkStatus (*partition)(HkRanks *ranks, int64_t first, int64_t count, const int32_t *start,
                        const int32_t *column, int32_t *owner, HkError *error);

  HkStatus (*halo_create)(HkRanks *ranks, const HkHaloPlan *plan, HkHalo **halo, HkError *error);
  void (*halo_destroy)(HkHalo **halo);
  /* begin sends three numbers of each owned vertex that is a ghost elsewhere, from an array of the
   * part; end receives those of the ghosts, three each. The array must not change in between. */
  void (*halo_begin)(HkHalo *halo, const double *from, double *ghosts);
  void (*halo_end)(HkHalo *halo, const double *from, double *ghosts);
  /* Bytes that begin sends, and receives. */
  void (*halo_bytes)(const HkHalo *halo, int64_t *sent, int64_t *received);

  /* Opens a file for all ranks; writing creates it. */
  HkStatus (*file_open)(HkRanks *ranks, const char *path, bool write, HkRanksFile **file,
                        HkError *error);
  /* Sets the length of the file in bytes. */
  HkStatus (*file_resize)(HkRanksFile *file, int64_t bytes, HkError *error);
  HkStatus (*file_write)(HkRanksFile *file, const HkFilePieces *pieces, const void *data,
                         HkError *error);
  HkStatus (*file_read)(HkRanksFile *file, const HkFilePieces *pieces, void *data, HkError *error);
  /* Flushes to the disk if it was written, and closes. */
  HkStatus (*file_close)(HkRanksFile **file, HkError *error);

  /* The setup and its arrays outlive the solver. */
  HkStatus (*solver_create)(HkRanks *ranks, const HkRanksSolverSetup *setup, HkRanksSolver **solver,
                            HkError *error);
  void (*solver_destroy)(HkRanksSolver **solver);
  /* New values of a level: 9 numbers a block, row by row, in the order of its matrix. */
  HkStatus (*solver_set)(HkRanksSolver *solver, int level, const double *values, HkError *error);
  /* After the values of all levels are set. */
  HkStatus (*solver_prepare)(HkRanksSolver *solver, HkError *error);
  /* z = P^-1 r; three numbers a vertex of the first level. Ghosts of r are not read, those of z not
   * written. */
  HkStatus (*solver_apply)(HkRanksSolver *solver, const double *r, double *z, HkError *error);
  /* x = A^-1 b by conjugate gradients of PETSc to the relative residual tolerance, from 0. Returns
   * HK_NOT_CONVERGED where they end before; *indefinite: A or P is not positive definite. */
  HkStatus (*solver_solve)(HkRanksSolver *solver, const double *b, double *x, double tolerance,
                           int most, int *iterations, bool *indefinite, HkError *error);
} HkRanksType;

/* Defined by the plug-in. */
HK_API extern const HkRanksType hk_ranks_plugin;

/* The struct of an implementation begins with it. */
struct HkRanks {
  const HkRanksType *type;
  int rank, count;
};

/* Makes each value the sum over all ranks, added up in the order of the ranks: the same bits on
 * every rank and in every run. */
void hk_ranks_sum(HkRanks *ranks, double *values, int count);
/* Sums of integers wrap around. */
void hk_ranks_sum_int64(HkRanks *ranks, int64_t *values, int count);
/* Makes each value the largest of all ranks, NAN if one is NAN. */
void hk_ranks_most(HkRanks *ranks, double *values, int count);

/* clang's analyzer does not see ranks.c; these definitions give it what the functions promise: an
 * error of this rank is an error of all. */
#if defined(__clang_analyzer__) && !defined(HK_RANKS_DEFINED_HERE)
static inline HkStatus hk_analyzed_agree(HkRanks *ranks, HkStatus status, HkError *error) {
  HkStatus all = hk_ranks_agree(ranks, status, error);
  return status < 0 ? status : all;
}
#define hk_ranks_agree(ranks, status, error) hk_analyzed_agree(ranks, status, error)
#endif

#endif
