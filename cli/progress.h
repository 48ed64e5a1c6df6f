/* Progress of a run on standard error: a bar on a terminal, plain lines elsewhere. */
#ifndef HOOKE_CLI_PROGRESS_H
#define HOOKE_CLI_PROGRESS_H

#include "hooke/run.h"

typedef enum ProgressStyle { PROGRESS_NONE, PROGRESS_LINES, PROGRESS_BAR } ProgressStyle;

typedef struct Progress {
  ProgressStyle style;
  const char *unit; /* what is counted: "frames" */
  int drawn;        /* columns of the bar on the terminal */
  double last_shown;
  int next_tenth; /* of the whole, for lines */
  /* Weighted sums of frames, steps and seconds; older ones have less weight. */
  double frames, steps, seconds, last_time;
  HkProgress last;
} Progress;

/* Starts a bar if standard error is a terminal, else lines. */
Progress progress_start(bool quiet, const HkProgress *at);
/* Shows the progress, if the last time is long enough ago. */
void progress_show(Progress *progress, const HkProgress *at);
/* Removes the bar, so that something else can be printed; the next show draws it again. */
void progress_clear(Progress *progress);

/* Receives log messages of a run and prints them between two drawings of the bar. */
typedef struct Listener {
  bool quiet;
  Progress *progress; /* NULL until the run has begun */
} Listener;

/* For HkContext.log and HkRunOptions.progress, with a Listener as the user. */
void listener_log(void *user, HkLogLevel level, const char *text);
void listener_progress(void *user, const HkProgress *at);

#endif
