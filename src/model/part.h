/* Parts of a model, one on each rank.
 *
 * The part of a rank is an HkModel of its own: the vertices that the rank owns, the springs, faces
 * and cells at them, and as ghosts the vertices of other ranks that these reach. Vertices keep the
 * order of the whole model, ghosts among them, so that the springs of a vertex are summed in the
 * order of the whole model, with the same bits. What is computed of ghosts is not used: sums leave
 * them out, and values that neighbors need are received from their owners (hk_part_exchange).
 *
 * Functions of this header take any model; for one that is not made in parts they do what a single
 * process needs.
 */
#ifndef HK_MODEL_PART_H
#define HK_MODEL_PART_H

#include "base/ranks.h"
#include "model/model.h"

/* Entries begin .. end - 1 of an array. */
typedef struct HkRun64 {
  int64_t begin, end;
} HkRun64;

typedef struct HkRuns {
  HkRun64 *run; /* rising, not adjacent */
  int64_t count;
} HkRuns;

typedef struct HkPart {
  HkRanks *ranks;
  int64_t total;                 /* vertices of the whole model */
  int64_t all_springs, all_pins; /* springs and pinned vertices of the whole model */
  int64_t owned;                 /* vertices of this rank */
  int64_t *number;               /* n: in the whole model, rising */
  uint8_t *ghost;                /* n: 1: another rank owns it */
  HkRuns vertices;               /* the owned vertices */
  HkRuns springs;                /* the springs that count here: their vertex i is owned */
  HkRuns cells;                  /* the cells that are written here: their first vertex is owned */
  /* Ghosts by rising number, with their owners. */
  int64_t ghost_count;
  int32_t *ghost_vertex, *ghost_rank, *ghost_index; /* index: in the part of the owner */
  HkHalo *halo;
  double *received; /* 3 a ghost */
  int64_t border_count;
  int32_t *border; /* owned vertices that other ranks have as ghosts, by rising number */
  /* While a model is compiled that rank 0 has sent in parts: its whole model on rank 0. */
  HkModel *source;
  bool gathered; /* there is such a model on rank 0 */
} HkPart;

/* Releases the part of a model and sets it to NULL. */
void hk_part_destroy(HkModel *model);
size_t hk_part_bytes(const HkModel *model);

/* Vertices of the whole model. */
static inline int64_t hk_model_total(const HkModel *m) {
  return m->part ? m->part->total : m->n;
}
static inline bool hk_model_is_ghost(const HkModel *m, int64_t vertex) {
  return m->part && m->part->ghost[vertex];
}
/* The vertex of the part with a number of the whole model, or -1. */
int64_t hk_part_find(const HkPart *part, int64_t number);

/* ---- Sums over the whole model: hk_parallel_sum and hk_parallel_most over the entries that a rank
 * owns, then over the ranks ---- */

double hk_sum_vertices(const HkModel *model, HkSumFn *fn, void *user, double *partial);
double hk_most_vertices(const HkModel *model, HkSumFn *fn, void *user, double *partial);
double hk_sum_springs(const HkModel *model, int64_t springs, HkSumFn *fn, void *user,
                      double *partial);
double hk_most_springs(const HkModel *model, int64_t springs, HkSumFn *fn, void *user,
                       double *partial);
/* Over entries of a list that holds no ghosts. */
double hk_sum_list(const HkModel *model, int64_t count, HkSumFn *fn, void *user, double *partial);
/* The sum, or the largest, of what each rank has found; the value itself without ranks. */
double hk_model_sum(const HkModel *model, double value);
double hk_model_most(const HkModel *model, double value);
/* Whether it is true on any rank. */
bool hk_model_any(const HkModel *model, bool mine);
/* hk_ranks_agree; the status itself without ranks. */
HkStatus hk_model_agree(const HkModel *model, HkStatus status, HkError *error);
#if defined(__clang_analyzer__) && !defined(HK_PART_DEFINED_HERE) /* as in base/ranks.h */
static inline HkStatus hk_analyzed_model_agree(const HkModel *model, HkStatus status,
                                               HkError *error) {
  HkStatus all = hk_model_agree(model, status, error);
  return status < 0 ? status : all;
}
#define hk_model_agree(model, status, error) hk_analyzed_model_agree(model, status, error)
#endif

/* ---- Ghosts ---- */

/* Sets the ghosts of an array of three numbers a vertex to the values of their owners. */
void hk_part_exchange(const HkModel *model, double *values);
/* The same in two steps: `values` is sent by begin, and must not change until end has set the
 * ghosts of `to`, which may be another array. */
void hk_part_exchange_begin(const HkModel *model, const double *values);
void hk_part_exchange_end(const HkModel *model, const double *values, double *to);

/* select.c: as hk_model_select, without ghosts: for lists over which energies are summed. */
HkStatus hk_model_select_owned(const HkModel *model, const HkSelect *select, int32_t **vertices,
                               int64_t *count, HkError *error);

/* ---- Making parts ---- */

/* extract.c: fills an empty part model with the vertices of `source` that belong to `rank`, what is
 * at them, and ghosts. owner: of each vertex of the source. number: of each vertex of the source in
 * the whole model, for a source that is a window of it; each array of the source is then freed as
 * soon as the part has its own, and the part gets its vertex sets. NULL: the source is the whole
 * model and stays as it is. */
HkStatus hk_part_extract(HkModel *source, const int32_t *owner, const int64_t *number, int rank,
                         HkModel *model, int32_t **ghost_rank, HkError *error);
/* Makes the runs, the halo and what else follows from number, ghost and the owners of ghosts. */
HkStatus hk_part_finish(HkModel *model, const int32_t *ghost_rank, HkError *error);
/* distribute.c: makes the bodies of a scene as this rank's part of the model. */
HkStatus hk_model_add_part(HkModel *model, const HkScene *scene, HkError *error);
/* windows.c: the same for a scene whose bodies can be made in windows; the empty part exists. */
bool hk_windows_can_make(const HkScene *scene);
HkStatus hk_model_add_windows(HkModel *model, const HkScene *scene, HkError *error);
/* Releases what only compiling needs. */
void hk_part_release_source(HkModel *model);

#endif
