/* Frames to be drawn; see frames.h.
 *
 * The camera and the colors of a film depend on all of its frames, so each frame is read twice.
 * Those of a scene are kept in a temporary file without a name, 12 bytes a vertex, 16 with speeds:
 * large scenes would not fit into memory, and simulating again would take as long as the first
 * time.
 */
#include "frames.h"

#include "signals.h"
#include "source.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static size_t frame_bytes(const Frames *f) {
  return (size_t)f->vertices * (f->with_speed ? 4 : 3) * sizeof(float);
}

HkStatus frame_create(const Frames *f, Frame *frame, HkError *error) {
  *frame = (Frame){.x = malloc(frame_bytes(f) + 1)};
  if (!frame->x) return text_fail(error, HK_ERROR_MEMORY, "no memory for a frame");
  if (f->with_speed) frame->speed = frame->x + 3 * f->vertices;
  return HK_OK;
}

void frame_destroy(Frame *frame) {
  free(frame->x);
  *frame = (Frame){0};
}

/* ---- Opening --------------------------------------------------------------------------------- */

static HkStatus open_run(const HkContext *context, const char *folder, Frames *f, HkError *error) {
  char path[4096];
  snprintf(path, sizeof path, "%s/run.json", folder);
  HkStatus status = hk_scene_read(context, path, NULL, 0, &f->scene, error);
  if (status >= 0) status = hk_model_compile(f->scene, &f->own_model, error);
  if (status < 0) return status;
  f->model = f->own_model;
  f->vertices = hk_model_info(f->model).vertices;
  status = recording_open(f->scene, folder, f->vertices, f->with_speed, &f->recording, error);
  f->count = f->recording.count;
  f->interval = f->recording.interval;
  return status;
}

/* Shows the progress towards the last frame that is needed. */
static void on_progress(void *user, const HkProgress *run_at) {
  const Frames *f = user;
  HkProgress at = *run_at;
  at.frames = f->last;
  if (f->progress) progress_show(f->progress, &at);
}

static HkStatus open_scene(const HkContext *context, const char *name, const TextList *sets,
                           Frames *f, HkError *error) {
  HkRunOptions options = hk_run_options_default();
  options.progress = on_progress;
  options.progress_user = f;
  options.cancel = signals_cancel;
  HkStatus status = source_read(context, name, sets, &f->scene, error);
  if (status >= 0) status = hk_run_create(f->scene, &options, &f->run, error);
  if (status < 0) return status;
  f->model = hk_run_model(f->run);
  f->vertices = hk_state_vertex_count(hk_run_state(f->run));
  f->count = hk_run_progress(f->run).frames + 1;
  f->interval = 1 / f->scene->time.frames_per_second;
  return HK_OK;
}

HkStatus frames_open(const HkContext *context, const char *name, const TextList *sets,
                     bool with_speed, Frames *f, HkError *error) {
  *f = (Frames){.with_speed = with_speed};
  bool is_run = recording_is_run(name);
  if (is_run && sets->count > 0)
    return text_fail(error, HK_ERROR_INVALID,
                     "%s: is a run, whose motion is there already; --set is for scenes, such as "
                     "%s/run.json",
                     name, name);
  HkStatus status =
      is_run ? open_run(context, name, f, error) : open_scene(context, name, sets, f, error);
  if (status < 0) frames_close(f);
  return status;
}

void frames_close(Frames *f) {
  if (f->kept) fclose(f->kept);
  recording_close(&f->recording);
  hk_run_destroy(&f->run);
  hk_model_destroy(&f->own_model);
  hk_scene_destroy(&f->scene);
  *f = (Frames){0};
}

/* ---- Simulating ------------------------------------------------------------------------------ */

/* Opens a temporary file and removes its name. tmpfile() ignores TMPDIR, which may be on a larger
 * disk.
 */
static FILE *open_nameless(void) {
  char path[4096];
  const char *folder = getenv("TMPDIR");
  int length = snprintf(path, sizeof path, "%s/hooke-XXXXXX", folder && *folder ? folder : "/tmp");
  int handle = length < (int)sizeof path ? mkstemp(path) : -1;
  if (handle < 0) return NULL;
  unlink(path);
  FILE *file = fdopen(handle, "w+b");
  if (!file) close(handle);
  return file;
}

static HkStatus fail_kept(const char *what, HkError *error) {
  return text_fail(error, HK_ERROR_IO,
                   "cannot %s the temporary file of the frames: %s; 'hooke run' writes them to a "
                   "place of your choice, and 'hooke render' takes that folder",
                   what, strerror(errno));
}

static void copy_frame(Frames *f, Frame *frame) {
  HkState *state = hk_run_state(f->run);
  const double *x = hk_state_x(state), *v = hk_state_v(state);
  for (int64_t q = 0; q < 3 * f->vertices; q++) frame->x[q] = (float)x[q];
  for (int64_t q = 0; q < f->vertices && frame->speed; q++, v += 3)
    frame->speed[q] = (float)sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static HkStatus keep_frame(Frames *f, Frame *frame, HkError *error) {
  copy_frame(f, frame);
  if (fwrite(frame->x, 1, frame_bytes(f), f->kept) != frame_bytes(f))
    return fail_kept("write", error);
  return HK_OK;
}

/* Simulates all frames up to the last that is needed, or until a signal. */
static HkStatus simulate(Frames *f, Frame *frame, HkError *error) {
  HkStatus status = HK_OK;
  for (int64_t index = 0; index <= f->last && !signals_caught(); index++) {
    if (index > 0) status = hk_run_frame(f->run, error);
    if (status == HK_ERROR_CANCELLED) break;
    if (status < 0) return status;
    if (index >= f->first) status = keep_frame(f, frame, error);
    if (status < 0) return status;
    HkProgress at = hk_run_progress(f->run);
    on_progress(f, &at);
  }
  return fflush(f->kept) == 0 ? HK_OK : fail_kept("write", error);
}

HkStatus frames_prepare(Frames *f, int64_t first, int64_t last, Listener *listener,
                        HkError *error) {
  Frame frame;
  if (!f->run) return HK_OK;
  f->first = first;
  f->last = last;
  f->kept = open_nameless();
  if (!f->kept) return fail_kept("make", error);
  HkStatus status = frame_create(f, &frame, error);
  HkProgress at = hk_run_progress(f->run);
  at.frames = last;
  Progress progress = progress_start(listener->quiet, &at);
  f->progress = listener->progress = &progress;
  if (status >= 0) status = simulate(f, &frame, error);
  progress_clear(&progress);
  f->progress = listener->progress = NULL;
  frame_destroy(&frame);
  return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

HkStatus frames_read(Frames *f, int64_t index, Frame *frame, HkError *error) {
  if (!f->run) return recording_read(&f->recording, index, frame, error);
  off_t at = (off_t)((size_t)(index - f->first) * frame_bytes(f));
  frame->time = (double)index * f->interval;
  if (fseeko(f->kept, at, SEEK_SET) != 0 ||
      fread(frame->x, 1, frame_bytes(f), f->kept) != frame_bytes(f))
    return fail_kept("read", error);
  return HK_OK;
}
