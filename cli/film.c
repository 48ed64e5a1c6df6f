/* Films by ffmpeg; see film.h.
 *
 * ffmpeg reads raw pictures from its standard input. It runs in a process group of its own, so that
 * a Ctrl-C on the terminal reaches only hooke, which then ends ffmpeg and removes the file. Its
 * messages are kept, and printed if it fails.
 *
 * A GIF gets a palette made from all its pictures. MP4 is H.264 as every browser plays it, with the
 * colors of HD television; WebM is VP9. Files carry no dates and no versions, so that the same
 * pictures make the same bytes.
 */
#include "film.h"

#include "signals.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MAX_WORDS = 48 };

FilmKind film_kind(const char *path) {
  static const char *const endings[] = {[FILM_GIF] = ".gif", ".mp4", ".webm"};
  const char *dot = strrchr(path, '.');
  for (int q = FILM_GIF; q <= FILM_WEBM && dot; q++)
    if (strcasecmp(dot, endings[q]) == 0) return (FilmKind)q;
  return FILM_NONE;
}

HkStatus film_check(HkError *error) {
  char file[4096];
  const char *path = getenv("PATH");
  while (path && *path) {
    int length = (int)strcspn(path, ":");
    snprintf(file, sizeof file, "%.*s/ffmpeg", length, path);
    if (access(file, X_OK) == 0) return HK_OK;
    path += length + (path[length] == ':');
  }
  return text_fail(error, HK_ERROR_IO,
                   "films are made by the program ffmpeg, which is not there; install it (apt-get "
                   "install ffmpeg), or make a picture: -o NAME.png");
}

/* ---- Starting ffmpeg
 * ----------------------------------------------------------------------------- */

typedef struct Words {
  const char *word[MAX_WORDS];
  int count;
} Words;

static void add(Words *words, const char *const *more) {
  for (; *more && words->count < MAX_WORDS - 1; more++) words->word[words->count++] = *more;
}

static void add_format(Words *words, FilmKind kind) {
#define HD_COLORS                                                                                  \
  "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p", "-colorspace",        \
      "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"
  static const char *const gif[] = {
      "-vf",
      "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4",
      "-loop",
      "0",
      "-f",
      "gif",
      NULL};
  static const char *const mp4[] = {"-c:v",    "libx264",   "-preset",    "medium", "-crf", "18",
                                    HD_COLORS, "-movflags", "+faststart", "-f",     "mp4",  NULL};
  static const char *const webm[] = {"-c:v",      "libvpx-vp9", "-crf",      "28", "-b:v",    "0",
                                     "-deadline", "good",       "-cpu-used", "4",  "-row-mt", "1",
                                     HD_COLORS,   "-f",         "webm",      NULL};
  add(words, kind == FILM_GIF ? gif : kind == FILM_MP4 ? mp4 : webm);
}

/* Standard input, output and error of the child. */
static bool set_files(posix_spawn_file_actions_t *files, int in, int words) {
  return posix_spawn_file_actions_adddup2(files, in, STDIN_FILENO) == 0 &&
         posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
         posix_spawn_file_actions_adddup2(files, words, STDERR_FILENO) == 0;
}

/* Sets a separate process group, and the default action of signals that hooke ignores. */
static bool set_attributes(posix_spawnattr_t *attributes) {
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  sigaddset(&usual, SIGXFSZ);
  short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF;
  return posix_spawnattr_setsigdefault(attributes, &usual) == 0 &&
         posix_spawnattr_setpgroup(attributes, 0) == 0 &&
         posix_spawnattr_setflags(attributes, flags) == 0;
}

static int start(Film *film, const Words *words, int in) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  char *arguments[MAX_WORDS] = {0};
  int reason = ENOMEM;
  memcpy(arguments, words->word,
         (size_t)words->count * sizeof *arguments); /* posix_spawn does not change them */
  if (posix_spawn_file_actions_init(&files) != 0) return reason;
  if (posix_spawnattr_init(&attributes) == 0) {
    if (set_files(&files, in, fileno(film->words)) && set_attributes(&attributes))
      reason = posix_spawnp(&film->child, "ffmpeg", &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&files);
  return reason;
}

/* Opens a pipe whose writing end the child does not inherit, so that it sees the end of the data.
 * Writing does not block, so that signals are noticed. */
static int open_pipe(int ends[2]) {
  if (pipe(ends) != 0) return errno;
  for (int q = 0; q < 2; q++) fcntl(ends[q], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  return 0;
}

HkStatus film_open(Film *film, const Target *target, FilmKind kind, int width, int height,
                   double pictures_per_second, HkError *error) {
  char size[32], rate[32], file[sizeof target->temporary + 8];
  int ends[2] = {-1, -1};
  Words words = {0};
  snprintf(size, sizeof size, "%dx%d", width, height);
  snprintf(rate, sizeof rate, "%.6g", pictures_per_second);
  const char *const head[] = {"ffmpeg",
                              "-nostdin",
                              "-v",
                              "error",
                              "-y",
                              "-f",
                              "rawvideo",
                              "-pix_fmt",
                              "rgba",
                              "-s",
                              size,
                              "-r",
                              rate,
                              "-i",
                              "pipe:0",
                              "-an",
                              "-map_metadata",
                              "-1",
                              "-fflags",
                              "+bitexact",
                              "-flags:v",
                              "+bitexact",
                              NULL};
  /* Without the protocol, -x.mp4 would be an option and a:b.mp4 a protocol. */
  snprintf(file, sizeof file, "file:%s", target->temporary);
  const char *const tail[] = {file, NULL};
  add(&words, head);
  add_format(&words, kind);
  add(&words, tail);
  *film = (Film){.words = tmpfile(), .picture = (size_t)width * (size_t)height * 4};
  int reason = film->words ? open_pipe(ends) : errno;
  if (reason == 0) {
    reason = start(film, &words, ends[0]);
    close(ends[0]);
    film->pipe = ends[1];
  }
  if (reason == 0) return HK_OK;
  film->child = 0;
  film_abandon(film);
  return text_fail(error, HK_ERROR_IO, "ffmpeg: cannot start: %s", strerror(reason));
}

/* ---- Ending ffmpeg
 * ------------------------------------------------------------------------------- */

static void close_pipe(Film *film) {
  if (film->pipe > 0) close(film->pipe);
  film->pipe = 0;
}

/* Reads the end of ffmpeg's messages as one line. */
static void read_words(Film *film, char *text, size_t size) {
  long length = fseek(film->words, 0, SEEK_END) == 0 ? ftell(film->words) : 0;
  long skip = length > (long)size - 1 ? length - (long)size + 1 : 0;
  size_t used = fseek(film->words, skip, SEEK_SET) == 0 ? fread(text, 1, size - 1, film->words) : 0;
  while (used > 0 && text[used - 1] == '\n') used--;
  text[used] = 0;
  for (char *at = text; *at; at++)
    if (*at == '\n' || *at == '\r') *at = ' ';
}

/* Waits for ffmpeg; returns its process id, below 0 after an error, 0 after a signal to hooke. */
static pid_t wait_for_end(const Film *film, int *status) {
  const struct timespec pause = {.tv_nsec = 5000000};
  pid_t ended = 0;
  while (!signals_caught() && (ended = waitpid(film->child, status, WNOHANG)) == 0)
    nanosleep(&pause, NULL);
  return ended;
}

HkStatus film_close(Film *film, HkError *error) {
  char words[900];
  int status = 0;
  close_pipe(film);
  pid_t ended = wait_for_end(film, &status);
  if (ended == 0) {
    film_abandon(film);
    return HK_OK;
  }
  film->child = 0;
  read_words(film, words, sizeof words);
  film_abandon(film);
  if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return HK_OK;
  return text_fail(error, HK_ERROR_IO, "ffmpeg failed%s%s", words[0] ? ": " : "", words);
}

/* Returns the error that ffmpeg ended early, with its messages. */
static HkStatus ended_early(Film *film, HkError *error) {
  HkStatus status = film_close(film, error);
  return status < 0 ? status : text_fail(error, HK_ERROR_IO, "ffmpeg ended before the film");
}

HkStatus film_add(Film *film, const unsigned char *rgba, HkError *error) {
  struct pollfd ready = {.fd = film->pipe, .events = POLLOUT};
  for (size_t done = 0; done < film->picture && !signals_caught();) {
    ssize_t wrote = write(film->pipe, rgba + done, film->picture - done);
    if (wrote >= 0)
      done += (size_t)wrote;
    else if (errno == EAGAIN)
      poll(&ready, 1, 100);
    else if (errno != EINTR)
      return ended_early(film, error);
  }
  return HK_OK;
}

void film_abandon(Film *film) {
  close_pipe(film);
  if (film->child > 0) {
    kill(film->child, SIGKILL);
    while (waitpid(film->child, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  if (film->words) fclose(film->words);
  film->words = NULL;
  film->child = 0;
}
