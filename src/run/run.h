/* HkRun: frames into files, with checkpoints. */
#ifndef HK_RUN_RUN_H
#define HK_RUN_RUN_H

#include "base/ranks.h"
#include "hooke/run.h"
#include "output/output.h"
#include "report/page.h"
#include "step/sim.h"

/* Largest number of steps of a frame, and of halvings of the step after blow-ups. */
#define HK_RUN_STEPS_MAX 1000000000000000
enum { HK_RUN_HALVINGS_MAX = 20 };

struct HkRun {
  HkContext context;
  HkModel *model;
  HkSim *sim;
  HkState *state;
  char *folder; /* NULL: nothing is written */
  int lock;     /* descriptor of the folder's lock; -1: none */
  HkLedger ledger;
  char *record; /* text of run.json */
  uint64_t scene_hash;
  HkMethod *methods; /* parameters of the outputs */
  HkOutput *outputs;
  int output_count;
  HkPage *page;           /* data of the report; NULL: no report */
  HkStateInfo info;       /* energies of the current frame */
  double *force;          /* N, 3 a vertex, for the outputs */
  double *reaction;       /* N, 3 a pinned vertex, for the outputs */
  HkContactView contacts; /* of the current frame, of the simulation */
  char *packed;           /* buffer for a checkpoint */
  int64_t packed_room;

  int64_t frame, frames, steps;
  int64_t stationary, unconverged; /* numbers of steps so far */
  HkTally tally;                   /* of the steps of the current frame */
  double seconds;                  /* wall time of the steps of the current frame */
  double stepping;                 /* s: wall time of all steps */
  double writing;                  /* s: wall time of outputs and checkpoints */
  int64_t substep;                 /* steps done of the current frame */
  int64_t substeps;                /* steps a frame */
  int64_t batch;                   /* largest number of steps of a batch */
  double interval;                 /* s between frames */
  double stable_h;
  int halvings;
  bool replaces;       /* the folder has an earlier run, which this one replaces */
  bool begun;          /* frame 0 is written */
  bool repairs;        /* writes the same frames again, because some were damaged */
  bool has_checkpoint; /* the file `checkpoint` is one of this run */
  bool closed;         /* hk_run_close was called */
  bool broken;         /* an error has made state or files unusable */
  HkError why;         /* the error that broke the run */
  HkOnBlowup on_blowup;
  double checkpoint_seconds, last_checkpoint, last_progress;
  void (*progress)(void *user, const HkProgress *progress);
  void *progress_user;
  HkCancelFn *cancel;
  void *cancel_user;
  int64_t asked, ask_every; /* of ranks: calls since they agreed on a cancellation; ranks.c */
  double last_asked;
};

/* ---- Ranks make one run together: rank 0 has the folder, all ranks have the same counters ---- */

/* Whether this process has the folder: rank 0, or the only process. */
static inline bool hk_run_is_first(const HkRun *run) {
  return !run->context.ranks || run->context.ranks->rank == 0;
}
/* Returns the worst status of all ranks, with its error: base/ranks.h. */
static inline HkStatus hk_run_agree(const HkRun *run, HkStatus status, HkError *error) {
  return run->context.ranks ? hk_ranks_agree(run->context.ranks, status, error) : status;
}
/* Makes a value that of rank 0 on all ranks. */
static inline void hk_run_share(const HkRun *run, void *value, size_t bytes) {
  HkRanks *ranks = run->context.ranks;
  if (ranks) ranks->type->broadcast(ranks, 0, value, bytes);
}
/* ranks.c: whether the caller of any rank cancels; not every call asks. */
bool hk_run_ask_ranks(HkRun *run);

/* check.c: computes info, force, reaction and contacts of the present frame; HK_ERROR_BLOWUP if a
 * number of the frame is not finite, or does not fit into an output of 32-bit numbers. */
HkStatus hk_run_check_frame(HkRun *run, HkError *error);

/* fits.c: returns HK_ERROR_MEMORY if a scene is too large for the available memory. */
HkStatus hk_run_check_memory(const HkScene *scene, HkError *error);

/* count.c: counts one step with the simulation's step info, or many explicit steps. */
void hk_run_count(HkRun *run, HkStatus status, int64_t count);
/* Counts steps on a device. */
void hk_run_count_steps(HkRun *run, const HkStepsInfo *info, int64_t count);

/* record.c: makes run.json, and the hash that a resumed run must share with it. */
HkStatus hk_run_make_record(HkRun *run, const HkScene *scene, HkError *error);
HkStatus hk_run_write_record(HkRun *run, HkError *error);

/* report.c: collects frames for the report, with those of an earlier report of the same run. */
HkStatus hk_run_begin_report(HkRun *run, const HkScene *scene, const char *command, HkError *error);
void hk_run_take_up_report(HkRun *run);

/* resume.c: the checkpoint of a run. */
HkStatus hk_run_write_checkpoint(HkRun *run, HkError *error);
HkStatus hk_run_read_checkpoint(HkRun *run, HkError *error);

#endif
