/* hooke render: pictures and films of a scene or of a run, without a display.
 *
 * Options, the file's folder, ffmpeg and the renderer are checked before the simulation begins.
 * Then the frames are simulated (or read from a run), measured, so that one camera and one color
 * scale fit them all, and drawn. The file gets its name when it is complete; after an error or a
 * signal it is removed.
 */
#include "command.h"
#include "source.h"
#include "text.h"

#ifdef HK_WITH_EGL
#include "hooke/run.h"
#include "picture.h"
#include "png_file.h"
#include "schedule.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#endif

typedef struct Settings {
  const char *output, *size, *camera;
  int color, frame, threads;
  double time, from, to, fps, speed, range;
  TextList sets;
  bool springs, clock, libraries, quiet;
} Settings;

static const Option options[] = {
    OPTION_TEXT(Settings, output, 'o', "--output", "FILE",
                "the picture, NAME.png, or the film, NAME.mp4, NAME.webm or NAME.gif"),
    OPTION_TEXT(Settings, size, 0, "--size", "WxH",
                "pixels; 1280x720 if not given, 640x360 for a GIF"),
    OPTION_TEXT(Settings, camera, 0, "--camera", "VIEW",
                "AZIMUTH,ELEVATION[,ZOOM] in degrees, 28,22 if not given (0,0 in 2D); or where the "
                "camera is and what it looks at, in m: X,Y,Z/X,Y,Z"),
    OPTION_CHOICE(Settings, color, 0, "--color", "none|strain|speed",
                  "color by strain (of a spring, or the mean over the springs at a vertex) or by "
                  "speed; none if not given"),
    OPTION_NUMBER(Settings, range, 0, "--range", "R", 0, 1e-12, 1e12,
                  "strain (0.05 is 5 %) or speed (m/s) at the ends of the color scale; from the "
                  "motion if not given"),
    OPTION_INTEGER(Settings, frame, 0, "--frame", "N", -1, 0, 2e9,
                   "frame of a picture; the last one if not given"),
    OPTION_NUMBER(Settings, time, 0, "--time", "T", -1, 0, 1e12,
                  "time of a picture in s, instead of --frame"),
    OPTION_NUMBER(Settings, from, 0, "--from", "T", -1, 0, 1e12, "where a film begins, in s"),
    OPTION_NUMBER(Settings, to, 0, "--to", "T", -1, 0, 1e12, "where a film ends, in s"),
    OPTION_NUMBER(Settings, fps, 0, "--fps", "N", -1, 0.01, 1000,
                  "pictures a second of a film; as the frames are if not given, at most 60, 30 for "
                  "a GIF"),
    OPTION_NUMBER(Settings, speed, 0, "--speed", "X", 1, 1e-6, 1e6,
                  "1 plays a film as it happens, 0.5 at half that speed"),
    OPTION_FLAG(Settings, springs, 0, "--springs", "draw springs also where there are faces"),
    OPTION_FLAG(Settings, clock, 0, "--clock", "write the time into the picture"),
    OPTION_LIST(Settings, sets, 's', "--set", "PATH=VALUE",
                "set a value of the scene first; may be repeated"),
    OPTION_INTEGER(Settings, threads, 't', "--threads", "N", 0, 0, 4096,
                   "number of threads of the simulation; all cores if 0 or not given"),
    OPTION_LIBRARIES(Settings),
    OPTION_FLAG(Settings, quiet, 'q', "--quiet", "print errors only"),
};

#ifdef HK_WITH_EGL

enum { MIN_PIXELS = 16, MAX_PIXELS = 8192 };

/* Data of one call of the command. */
typedef struct Work {
  const Settings *settings;
  FilmKind kind;
  PictureOptions picture_wish;
  Listener listener;
  Frames frames;
  Schedule schedule;
  Picture *picture;
  Target target;
  Film film;
  Frame frame;
  unsigned char *rgba;
} Work;

/* ---- Options --------------------------------------------------------------------------------- */

static int read_size(const Settings *settings, FilmKind kind, PictureOptions *wanted) {
  const char *text = settings->size ? settings->size : kind == FILM_GIF ? "640x360" : "1280x720";
  char *end;
  long width = strtol(text, &end, 10), height = 0;
  const char *rest = *end == 'x' && end != text ? end + 1 : NULL;
  if (rest) height = strtol(rest, &end, 10);
  if (!rest || end == rest || *end || width < MIN_PIXELS || height < MIN_PIXELS ||
      width > MAX_PIXELS || height > MAX_PIXELS)
    return complain(EXIT_USAGE,
                    "--size: expected WIDTHxHEIGHT such as 1280x720, from %d to %d "
                    "pixels each, not '%s'",
                    MIN_PIXELS, MAX_PIXELS, text);
  if (kind == FILM_MP4 && (width % 2 || height % 2))
    return complain(EXIT_USAGE, "--size: MP4 requires even numbers, such as %ldx%ld, not '%s'",
                    width + width % 2, height + height % 2, text);
  wanted->width = (int)width;
  wanted->height = (int)height;
  return EXIT_GOOD;
}

static bool is_picture(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && strcasecmp(dot, ".png") == 0;
}

/* Returns an error for an option that is only for pictures, or only for films. */
static int check_options(const Settings *w, FilmKind kind) {
  if (kind != FILM_NONE && (w->frame >= 0 || w->time >= 0))
    return complain(EXIT_USAGE,
                    "--frame and --time are for a picture, NAME.png; a film takes --from "
                    "and --to");
  if (kind == FILM_NONE && (w->from >= 0 || w->to >= 0 || w->fps > 0 || w->speed != 1))
    return complain(EXIT_USAGE, "--from, --to, --fps and --speed are for films; a picture takes "
                                "--frame or --time");
  if (w->frame >= 0 && w->time >= 0)
    return complain(EXIT_USAGE, "--frame and --time say the same: give one");
  if (w->range > 0 && w->color == COLOR_NONE)
    return complain(EXIT_USAGE, "--range is for --color strain or --color speed");
  return EXIT_GOOD;
}

static int read_options(Work *w) {
  const Settings *settings = w->settings;
  if (!settings->output)
    return complain(EXIT_USAGE, "where to? -o NAME.png makes a picture, -o NAME.mp4 a film");
  w->kind = film_kind(settings->output);
  if (w->kind == FILM_NONE && !is_picture(settings->output))
    return complain(EXIT_USAGE, "%s: the ending says what it becomes: .png, .gif, .mp4 or .webm",
                    settings->output);
  int code = check_options(settings, w->kind);
  if (code == EXIT_GOOD) code = read_size(settings, w->kind, &w->picture_wish);
  w->picture_wish.by = (ColorBy)settings->color;
  w->picture_wish.end = settings->range;
  w->picture_wish.springs = settings->springs;
  w->picture_wish.clock = settings->clock;
  CameraOptions wanted;
  if (code == EXIT_GOOD && !camera_read(settings->camera, 3, &wanted))
    code = complain(EXIT_USAGE,
                    "--camera: expected AZIMUTH,ELEVATION[,ZOOM] such as 30,20, or "
                    "X,Y,Z/X,Y,Z such as 0,1,3/0,0,0, not '%s'",
                    settings->camera);
  return code;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static HkStatus prepare(Work *w, const HkContext *context, const char *name, HkError *error) {
  const Settings *o = w->settings;
  ScheduleOptions wanted = {w->kind, o->frame, o->time, o->from, o->to, o->fps, o->speed};
  HkStatus status = w->kind == FILM_NONE ? HK_OK : film_check(error);
  if (status >= 0) status = target_open(&w->target, o->output, error);
  if (status >= 0)
    status = frames_open(context, name, &o->sets, o->color == COLOR_SPEED, &w->frames, error);
  if (status < 0) return status;
  camera_read(o->camera, w->frames.scene->dimension, &w->picture_wish.camera);
  int every = w->frames.run ? 1 : w->frames.recording.every;
  status = schedule_make(&wanted, w->frames.count, w->frames.interval, every, &w->schedule, error);
  if (status >= 0) status = frame_create(&w->frames, &w->frame, error);
  if (status >= 0) status = picture_create(&w->frames, &w->picture_wish, &w->picture, error);
  if (status < 0) return status;
  w->rgba = malloc((size_t)w->picture_wish.width * (size_t)w->picture_wish.height * 4);
  return w->rgba ? HK_OK : text_fail(error, HK_ERROR_MEMORY, "no memory for a picture");
}

static HkStatus measure(Work *w, HkError *error) {
  HkStatus status = HK_OK;
  int64_t before = -1;
  for (int64_t q = 0; q < w->schedule.pictures && status >= 0 && !signals_caught(); q++) {
    int64_t index = schedule_frame(&w->schedule, q);
    if (index == before) continue;
    if (!w->settings->quiet)
      text_status("looks at frame %lld of %lld", (long long)q + 1, (long long)w->schedule.pictures);
    status = frames_read(&w->frames, index, &w->frame, error);
    if (status >= 0) picture_measure(w->picture, &w->frame);
    before = index;
  }
  if (!w->settings->quiet) text_status("%s", "");
  picture_settle(w->picture);
  return status;
}

/* A picture that shows the same frame as the one before is not drawn again. */
static HkStatus draw_all(Work *w, Progress *progress, HkError *error) {
  HkStatus status = HK_OK;
  HkProgress at = {.frames = w->schedule.pictures};
  int64_t before = -1;
  while (at.frame < at.frames && status >= 0 && !signals_caught()) {
    int64_t index = schedule_frame(&w->schedule, at.frame);
    if (index != before) status = frames_read(&w->frames, index, &w->frame, error);
    if (index != before && status >= 0)
      status = picture_draw(w->picture, &w->frame, w->rgba, error);
    if (status >= 0 && w->kind != FILM_NONE) status = film_add(&w->film, w->rgba, error);
    before = index;
    at.frame++;
    progress_show(progress, &at);
  }
  return status;
}

static HkStatus write_file(Work *w, HkError *error) {
  const PictureOptions *size = &w->picture_wish;
  HkProgress at = {.frames = w->schedule.pictures};
  HkStatus status = HK_OK;
  if (w->kind != FILM_NONE)
    status =
        film_open(&w->film, &w->target, w->kind, size->width, size->height, w->schedule.fps, error);
  if (status < 0) return status;
  Progress progress = progress_start(w->settings->quiet || w->kind == FILM_NONE, &at);
  status = draw_all(w, &progress, error);
  progress_clear(&progress);
  if (status < 0 || signals_caught()) return status;
  status = w->kind == FILM_NONE ? png_write(&w->target, w->rgba, size->width, size->height, error)
                                : film_close(&w->film, error);
  return status >= 0 && !signals_caught() ? target_commit(&w->target, error) : status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static void tell(const Work *w) {
  const Schedule *s = &w->schedule;
  printf("%s: ", w->target.path);
  if (w->kind == FILM_NONE)
    printf("the motion at %g s", (double)s->first * w->frames.interval);
  else
    printf("%s picture%s, %.3g s at %g a second", text_count(s->pictures).c,
           s->pictures == 1 ? "" : "s", (double)s->pictures / s->fps, s->fps);
  printf(", %d x %d pixels, drawn by %s\n", w->picture_wish.width, w->picture_wish.height,
         picture_device(w->picture));
}

static int render(Work *w, const HkContext *context, const char *name) {
  HkError error = {0};
  HkStatus status = prepare(w, context, name, &error);
  if (status >= 0)
    status = frames_prepare(&w->frames, w->schedule.first, w->schedule.last, &w->listener, &error);
  if (status >= 0 && !signals_caught()) status = measure(w, &error);
  if (status >= 0 && !signals_caught()) status = write_file(w, &error);
  if (status < 0 && status != HK_ERROR_CANCELLED) return complain_of(&error);
  if (signals_caught()) {
    if (!w->settings->quiet) complain(EXIT_GOOD, "stopped; nothing was written");
    return EXIT_SIGNAL + signals_caught();
  }
  if (!w->settings->quiet) tell(w);
  return EXIT_GOOD;
}

static void release(Work *w) {
  film_abandon(&w->film);
  target_abandon(&w->target);
  picture_destroy(&w->picture);
  frame_destroy(&w->frame);
  frames_close(&w->frames);
  free(w->rgba);
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  (void)word_count;
  Work w = {.settings = settings, .listener = {.quiet = settings->quiet}};
  HkContext context = hk_context_default();
  context.log = listener_log;
  context.log_user = &w.listener;
  context.threads = settings->threads;
  context.libraries = settings->libraries;
  int code = read_options(&w);
  if (code != EXIT_GOOD) return code;
  signals_catch(settings->quiet ? NULL : "\nstops; Ctrl-C again stops at once\n");
  code = render(&w, &context, words[0]);
  release(&w);
  return code;
}

#else

static int run(const void *chosen, char **words, int word_count) {
  (void)chosen;
  (void)words;
  (void)word_count;
  return complain(
      EXIT_INPUT,
      "this hooke was built without EGL, OpenGL ES or libpng, so it cannot "
      "draw; install them (apt-get install libegl-dev libgles-dev libpng-dev) and build "
      "it again");
}

#endif

const Command command_render = {
    .name = "render",
    .arguments = "RUN|SCENE",
    .summary = "make a picture or a film of a motion",
    .text =
        "A SCENE, a file or the name of a built-in one, is simulated while nothing but the picture "
        "or film is written. Of a RUN, a folder that 'hooke run' wrote, the frames are read, from "
        "its output vtp, vtu or pc2, and nothing is simulated; RUN/run.json is a scene, and is "
        "simulated again. No display is needed: without a GPU Mesa draws in software. "
        "Films are made by the program ffmpeg. The camera and the color scale fit all frames that "
        "are drawn. Springs are drawn where a body has no faces, pins as dark dots.",
    .examples = "  hooke render flag -o flag.mp4                    simulate, and film it\n"
                "  hooke render flag-out -o flag.gif --from 1 --to 3\n"
                "  hooke render curtain -o curtain.png --time 1.5 --color strain\n"
                "  hooke render my.json -o my.webm --color speed --range 2 --clock --speed 0.25\n"
                "  hooke render my.json -o my.png --camera -60,35 --size 1920x1080\n"
                "  hooke render my.json -o my.png --camera 0,1,3/0,0.5,0 --set time.duration=2\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 1,
    .most = 1,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
