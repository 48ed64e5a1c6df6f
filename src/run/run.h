/* HkRun: frames into files, with checkpoints. */
#ifndef HK_RUN_RUN_H
#define HK_RUN_RUN_H

#include "backend/device.h"
#include "output/output.h"
#include "report/page.h"
#include "step/sim.h"

/* Most steps in a frame, and most halvings of the step after blow-ups. */
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
  HkPage *page;     /* what the report gathers; NULL: there will be none */
  HkReport report;  /* energies of the present frame */
  double *force;    /* N, 3 a vertex, for the outputs */
  double *reaction; /* N, 3 a pinned vertex, for the outputs */
  char *packed;     /* room for a checkpoint */
  int64_t packed_room;

  int64_t frame, frames, steps;
  int64_t stationary, unconverged; /* of the steps */
  HkTally tally;                   /* of the steps within the present frame */
  double seconds;                  /* of the clock that they took */
  double stepping;                 /* s of the clock, of all of them */
  double writing;                  /* s of the clock in outputs and checkpoints */
  int64_t substep;                 /* done within the present frame */
  int64_t substeps;                /* steps a frame */
  int64_t batch;                   /* steps to make at once, at most */
  double interval;                 /* s between frames */
  double stable_h;
  int halvings;
  bool replaces;       /* an earlier run in its folder */
  bool begun;          /* frame 0 is written */
  bool repairs;        /* writes the same frames again, because some were damaged */
  bool has_checkpoint; /* the file `checkpoint` is one of this run */
  bool closed;         /* by hk_run_close */
  bool broken;         /* after an error: state and files are no longer ones to go on from */
  HkError why;         /* it is broken */
  HkOnBlowup on_blowup;
  double checkpoint_seconds, last_checkpoint, last_progress;
  void (*progress)(void *user, const HkProgress *progress);
  void *progress_user;
  HkCancelFn *cancel;
  void *cancel_user;
};

/* check.c: computes report, force and reaction of the present frame; HK_ERROR_BLOWUP if a number of
 * the frame is not finite, or does not fit into an output of 32-bit numbers. */
HkStatus hk_run_check_frame(HkRun *run, HkError *error);

/* fits.c: an error where a scene is too large for the memory that there is. */
HkStatus hk_run_check_memory(const HkScene *scene, HkError *error);

/* count.c: counts steps of which the simulation's report speaks: one, or many that solve nothing.
 */
void hk_run_count(HkRun *run, HkStatus status, int64_t count);
/* The same of steps on a device. */
void hk_run_count_remote(HkRun *run, const HkDeviceReport *report, int64_t count);

/* record.c: run.json, and the hash of what a resumed run must share with it. */
HkStatus hk_run_make_record(HkRun *run, const HkScene *scene, HkError *error);
HkStatus hk_run_write_record(HkRun *run, HkError *error);

/* report.c: frames for the report, and those of an earlier one of the same run. */
HkStatus hk_run_begin_report(HkRun *run, const HkScene *scene, const char *command, HkError *error);
void hk_run_take_up_report(HkRun *run);

/* resume.c: the checkpoint of a run. */
HkStatus hk_run_write_checkpoint(HkRun *run, HkError *error);
HkStatus hk_run_read_checkpoint(HkRun *run, HkError *error);

#endif
