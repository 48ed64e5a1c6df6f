/* The motion that `hooke fit` fits a scene to: positions at times, of vertices or of means over
 * probes, from a CSV or PC2 file. */
#ifndef HOOKE_CLI_FIT_TARGET_H
#define HOOKE_CLI_FIT_TARGET_H

#include "hooke/hooke.h"

/* Where the mean of some vertices was seen. */
typedef struct Sighting {
  double time; /* s */
  int64_t frame;
  const int32_t *vertex; /* of the model, or of the target */
  int64_t count;
  double x[3]; /* m */
} Sighting;

typedef struct FitTarget {
  double *times; /* s, of the frames, rising, at least 0 */
  int64_t frames;
  double interval;     /* s: all times are whole multiples of it */
  Sighting *sightings; /* by rising frame */
  int64_t count;
  int64_t *first;    /* frames + 1: the sightings of a frame are first[f] .. first[f + 1] - 1 */
  int32_t *vertices; /* 0, 1, 2 ... vertex_count - 1: of single vertices */
  int64_t vertex_count;
} FitTarget;

/* Reads a target for a model of a scene:
 *
 *     FILE.pc2   a point cache as the output pc2 and Blender write it: all vertices; sample k is of
 *                the frame start + k rate of the scene
 *     else       CSV with a header: "time" (s), and either "vertex", "x", "y", "z" (m), a row a
 *                sighting, or "NAME.x", "NAME.y", "NAME.z" for probes NAME of the scene, a row a
 *                frame, as probes.csv has them. Empty numbers were not seen.
 */
HkStatus fit_target_read(FitTarget *target, const char *path, const HkScene *scene,
                         const HkModel *model, HkError *error);
void fit_target_release(FitTarget *target);

#endif
