/* The files of `hooke fit`: the scene that was found, its springs, the losses, the report. */
#ifndef HOOKE_CLI_FIT_FILES_H
#define HOOKE_CLI_FIT_FILES_H

#include "fit_motion.h"

/* One iteration. */
typedef struct FitRow {
  int stage, iteration, evaluations;
  int64_t frames;      /* of the target, that counted */
  double seconds, rms; /* of the fit; m */
  double projected;    /* norm of the projected gradient (hooke/fit.h) */
} FitRow;

typedef struct FitResult {
  const char *name, *target, *folder;
  const FitMotion *motion;
  FitRow *rows;
  int64_t count, capacity;
  double *rms_before, *rms_after; /* m, of each frame of the target */
  double start, end;              /* m, of all frames */
  const char *summary;            /* how it ended, a sentence */
} FitResult;

/* scene.json and springs0.csv ..., each of them whole or as it was before. */
HkStatus fit_write_scene(const FitResult *result, HkError *error);
/* loss.csv: a row an iteration. */
HkStatus fit_write_losses(const FitResult *result, HkError *error);
/* report.html: the numbers, the losses, and how far the motion is off in each frame. */
HkStatus fit_write_report(const FitResult *result, HkError *error);

#endif
