/* Frames to be drawn, in any order: of a scene, which is simulated once and kept in a temporary
 * file, or of a folder that `hooke run` wrote. */
#ifndef HOOKE_CLI_FRAMES_H
#define HOOKE_CLI_FRAMES_H

#include "hooke/run.h"
#include "options.h"
#include "progress.h"
#include "recording.h"

#include <stdio.h>

typedef struct Frames {
  HkScene *scene;
  const HkModel *model;
  int64_t vertices;
  int64_t count;   /* frames of the run, or frames to be simulated */
  double interval; /* s from one to the next */
  bool with_speed;
  /* Members for a scene. */
  HkRun *run;
  FILE *kept;
  int64_t first, last; /* frames that are kept */
  Progress *progress;  /* while it is simulated */
  /* Members for a run. */
  HkModel *own_model;
  Recording recording;
} Frames;

/* Opens a scene or a run. with_speed: frames have speeds, too. */
HkStatus frames_open(const HkContext *context, const char *name, const TextList *sets,
                     bool with_speed, Frames *frames, HkError *error);
/* Simulates the frames up to last and keeps first .. last; does nothing for a run. After a signal
 * it ends early with HK_OK. */
HkStatus frames_prepare(Frames *frames, int64_t first, int64_t last, Listener *listener,
                        HkError *error);
/* Reads a frame that frames_prepare has kept, or any frame of a run. */
HkStatus frames_read(Frames *frames, int64_t index, Frame *frame, HkError *error);
void frames_close(Frames *frames);

/* Allocates a frame. */
HkStatus frame_create(const Frames *frames, Frame *frame, HkError *error);
void frame_destroy(Frame *frame);

#endif
