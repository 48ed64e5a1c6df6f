/* Runs, which write the frames of a scene into files, and viewers, which show any states as a page.
 */
#ifndef HOOKE_RUN_H
#define HOOKE_RUN_H

#include "hooke/hooke.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Run: frames into files, with checkpoints ------------------------------------------------ */

/* A scene on its way into files; opaque. On ranks (hooke/ranks.h) all of them make the run
 * together: rank 0 has the folder, its options hold for all, and a cancellation by any rank ends
 * all at the same step. Errors are those of all ranks. */
typedef struct HkRun HkRun;

/* What a run does that blows up: it stops, or starts over with half the step or less. */
typedef enum HkOnBlowup { HK_BLOWUP_STOP, HK_BLOWUP_HALVE } HkOnBlowup;

/* How far a run is. */
typedef struct HkProgress {
  int64_t frame, frames;  /* written so far without the first, to write in all */
  int64_t step, substeps; /* done within this frame, in each frame */
  int64_t steps;          /* of this run of the program */
  int64_t stationary;     /* of these steps: HK_STOP_STATIONARY */
  int64_t unconverged;    /* of these steps: their equations are not met to the tolerance */
  int halvings;           /* of the step, after blow-ups */
  double time, duration;  /* s */
  double part;            /* of the present step that an adaptive one has done so far, 0 to 1 */
  double h;               /* s, the step */
  double stable_h;        /* s, the largest stable step at the start */
  double stepping;        /* s of the clock in steps so far, or in waiting for those of a device */
  double writing;         /* s of the clock in outputs and checkpoints; a device steps meanwhile */
} HkProgress;

/* How to run. */
typedef struct HkRunOptions {
  const char *folder; /* made where it is not there; NULL: nothing is written */
  bool resume;        /* go on from the checkpoint in the folder */
  bool force;         /* replace an earlier run in the folder */
  HkOnBlowup on_blowup;
  double checkpoint_seconds; /* of wall time between checkpoints; 0: at each frame */
  bool report;               /* gather frames for hk_run_report; needs the folder */
  const char *command;       /* a command line that repeats the run, for the report; or NULL */
  /* Called ten times a second at most, also within a frame; NULL: nothing is. */
  void (*progress)(void *progress_user, const HkProgress *progress);
  void *progress_user;
  /* Asked whether to end early: between the parts of hk_run_create (model, simulation, stable step,
   * files), and within frames and steps, as by hk_sim_set_cancel; NULL: nobody is. */
  HkCancelFn *cancel;
  void *cancel_user;
} HkRunOptions;

/* Nothing is written, a blow-up stops the run, checkpoints every 5 s. */
HK_API HkRunOptions hk_run_options_default(void);
/* Compiles the scene, opens the outputs and writes frame 0, or takes up a checkpoint.
 * HK_ERROR_CANCELLED, with no file written, when the options' cancel has ended it. */
HK_API HkStatus hk_run_create(const HkScene *scene, const HkRunOptions *options, HkRun **run,
                              HkError *error);
/* Simulates and writes one frame; HK_DONE when there is none left. HK_ERROR_BLOWUP, and nothing is
 * written, if a number of the frame is not finite or does not fit into an output.
 * HK_ERROR_CANCELLED when the options' cancel has ended it within the frame: the run stands at the
 * last whole step then, may write its checkpoint there, and continues with the next call. */
HK_API HkStatus hk_run_frame(HkRun *run, HkError *error);
/* Writes the checkpoint now, so that a run may stop here; nothing is written after an error. */
HK_API HkStatus hk_run_checkpoint(HkRun *run, HkError *error);
/* Writes a checkpoint and releases the folder, which another run may then resume; this one makes no
 * more frames. Until then, or until hk_run_destroy, the folder is locked. */
HK_API HkStatus hk_run_close(HkRun *run, HkError *error);
/* Writes report.html, one page that shows what was simulated so far: to be called at the end, and
 * also after an error, which the page then shows. Only where the options asked for a report. */
HK_API HkStatus hk_run_report(HkRun *run, HkError *error);
/* How far the run is. */
HK_API HkProgress hk_run_progress(const HkRun *run);
/* The run's model, owned by the run. */
HK_API const HkModel *hk_run_model(const HkRun *run);
/* The run's simulation, owned by the run. */
HK_API HkSim *hk_run_sim(HkRun *run);
/* The run's state, owned by the run; valid until the next frame. */
HK_API HkState *hk_run_state(HkRun *run);
/* Closes every file; what was written stays. */
HK_API void hk_run_destroy(HkRun **run);

/* ---- Viewer: the states of any simulation as one page -------------------------------------------
 *
 * For motions that no run makes: those of a program that steps, changes and drags by itself.
 */

/* States on their way into a page; opaque. Memory and page stay bounded: what is too much is left
 * out, as in a report. */
typedef struct HkViewer HkViewer;

/* Prepares to show states of a model of the scene. frames: how many there will be, about; bytes:
 * what the page may take, 6e6 or more; 0: 30e6. The model must outlive the viewer. */
HK_API HkStatus hk_viewer_create(const HkScene *scene, const HkModel *model, int64_t frames,
                                 double bytes, HkViewer **viewer, HkError *error);
/* Appends a state and its energies. */
HK_API HkStatus hk_viewer_add(HkViewer *viewer, HkSim *sim, const HkState *state, HkError *error);
/* Writes the page, HTML in one file; sim says by which method the states were made. */
HK_API HkStatus hk_viewer_write(const HkViewer *viewer, const HkSim *sim, const char *path,
                                HkError *error);
/* Releases a viewer and sets the pointer to NULL. */
HK_API void hk_viewer_destroy(HkViewer **viewer);

#ifdef __cplusplus
}
#endif
#endif
