/* The frames in the folder of a run; see recording.h.
 *
 * Drawing needs positions and, if colored by speed, velocities. The outputs vtp and vtu hold both,
 * one file a frame; mesh.pc2 holds the positions of all frames (src/output/pc2.c has its layout).
 * All other data of the run comes from run.json, which is compiled again.
 */
#include "recording.h"

#include "describe.h"
#include "text.h"
#include "vtk_arrays.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static const char way_out[] = "add \"vtp\" to the scene's outputs and run it again, or have it "
                              "simulated while it is drawn";

bool recording_is_run(const char *path) {
  char record[4096];
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  int length = snprintf(record, sizeof record, "%s/run.json", path);
  return length < (int)sizeof record && access(record, F_OK) == 0;
}

/* ---- Which output ---------------------------------------------------------------------------- */

static const HkMethod *find_output(const HkScene *scene, const char *name) {
  for (int q = 0; q < scene->output_count; q++)
    if (strcmp(scene->outputs[q].schema->name, name) == 0) return &scene->outputs[q];
  return NULL;
}

static HkStatus choose_output(const HkScene *scene, bool with_speed, Recording *r, HkError *error) {
  static const char *const names[] = {"vtp", "vtu", "pc2"};
  for (int q = 0; q < (with_speed ? 2 : 3); q++) {
    const HkMethod *output = find_output(scene, names[q]);
    if (!output) continue;
    r->output = names[q];
    r->every = (int)fmax(1, describe_number(output, "every"));
    return HK_OK;
  }
  return text_fail(error, HK_ERROR_UNSUPPORTED,
                   "%s: its outputs hold no %s that can be read back; %s: hooke render %s/run.json",
                   r->folder, with_speed ? "velocities" : "positions", way_out, r->folder);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void frame_path(const Recording *r, int64_t index, char *path, size_t size) {
  snprintf(path, size, "%s/%s/frame_%06lld.%s", r->folder, r->output, (long long)index * r->every,
           r->output);
}

static void count_files(Recording *r) {
  char path[4096];
  for (;; r->count++) {
    frame_path(r, r->count, path, sizeof path);
    if (access(path, F_OK) != 0) return;
  }
}

static HkStatus open_cache(Recording *r, HkError *error) {
  char path[4096];
  snprintf(path, sizeof path, "%s/mesh.pc2", r->folder);
  FILE *file = text_open(path);
  if (!file) return text_fail(error, HK_ERROR_IO, "%s: cannot open: %s", path, strerror(errno));
  if (!pc2_open(file, r->vertices, &r->cache))
    return text_fail(error, HK_ERROR_FORMAT, "%s: is not the motion of this run; %s: %s/run.json",
                     path, way_out, r->folder);
  r->count = r->cache.count;
  return HK_OK;
}

HkStatus recording_open(const HkScene *scene, const char *folder, int64_t vertices, bool with_speed,
                        Recording *r, HkError *error) {
  *r = (Recording){.vertices = vertices};
  int length = snprintf(r->folder, sizeof r->folder, "%s", folder);
  if (length >= (int)sizeof r->folder)
    return text_fail(error, HK_ERROR_IO, "%.200s...: the path is too long", folder);
  while (length > 1 && r->folder[length - 1] == '/') r->folder[--length] = 0;
  HkStatus status = choose_output(scene, with_speed, r, error);
  if (status < 0) return status;
  r->interval = r->every / scene->time.frames_per_second;
  if (strcmp(r->output, "pc2") == 0)
    status = open_cache(r, error);
  else
    count_files(r);
  if (status >= 0 && with_speed) {
    r->velocity = malloc((size_t)vertices * 3 * sizeof *r->velocity + 1);
    if (!r->velocity) status = text_fail(error, HK_ERROR_MEMORY, "no memory for velocities");
  }
  if (status >= 0 && r->count == 0)
    status = text_fail(error, HK_ERROR_INVALID, "%s: has no frames yet in its output '%s'",
                       r->folder, r->output);
  if (status < 0) recording_close(r);
  return status;
}

void recording_close(Recording *r) {
  pc2_close(&r->cache);
  free(r->velocity);
  r->velocity = NULL;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static HkStatus read_sample(Recording *r, int64_t index, Frame *frame, HkError *error) {
  if (pc2_read(&r->cache, index, frame->x)) return HK_OK;
  return text_fail(error, HK_ERROR_FORMAT, "%s/mesh.pc2: ends before frame %lld", r->folder,
                   (long long)index * r->every);
}

static HkStatus read_file(Recording *r, int64_t index, Frame *frame, HkError *error) {
  char path[4096];
  VtkFile file;
  frame_path(r, index, path, sizeof path);
  HkStatus status = vtk_open(path, &file, error);
  if (status < 0) return status;
  status = vtk_read(&file, "Points", 3 * r->vertices, frame->x, error);
  if (status >= 0 && r->velocity)
    status = vtk_read(&file, "velocity", 3 * r->vertices, r->velocity, error);
  vtk_close(&file);
  const float *v = r->velocity;
  for (int64_t q = 0; q < r->vertices && status >= 0 && v; q++, v += 3)
    frame->speed[q] = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return status;
}

HkStatus recording_read(Recording *r, int64_t index, Frame *frame, HkError *error) {
  frame->time = (double)index * r->interval;
  return r->cache.file ? read_sample(r, index, frame, error) : read_file(r, index, frame, error);
}
