/* The frames in the folder of a run, read back from its outputs. */
#ifndef HOOKE_CLI_RECORDING_H
#define HOOKE_CLI_RECORDING_H

#include "pc2_cache.h"

/* One frame; both arrays are indexed by vertex. */
typedef struct Frame {
  double time;  /* s */
  float *x;     /* m, three a vertex */
  float *speed; /* m/s, one a vertex, or NULL */
} Frame;

typedef struct Recording {
  char folder[3072];
  const char *output; /* "vtp", "vtu" or "pc2" */
  int every;          /* the output has every `every`-th frame of the run */
  int64_t count, vertices;
  double interval; /* s from one to the next */
  Pc2Cache cache;  /* of pc2 */
  float *velocity; /* for the velocities of vtp and vtu */
} Recording;

/* Returns whether the path is a folder with a run. */
bool recording_is_run(const char *path);
/* Finds an output of the scene (from run.json) that can be read, and counts its frames. */
HkStatus recording_open(const HkScene *scene, const char *folder, int64_t vertices, bool with_speed,
                        Recording *recording, HkError *error);
HkStatus recording_read(Recording *recording, int64_t index, Frame *frame, HkError *error);
void recording_close(Recording *recording);

#endif
