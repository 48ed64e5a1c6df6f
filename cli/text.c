/* Text for people; see text.h. */
#include "text.h"

#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Messages -------------------------------------------------------------------------------- */

int complain(int code, const char *format, ...) {
  va_list arguments;
  fflush(stdout);
  fputs("hooke: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  return code;
}

int exit_code_of(HkStatus status) {
  switch (status) {
  case HK_OK:
  case HK_NOT_CONVERGED:
  case HK_DONE: return EXIT_GOOD;
  case HK_ERROR_INVALID:
  case HK_ERROR_FORMAT:
  case HK_ERROR_UNSUPPORTED: return EXIT_INPUT;
  case HK_ERROR_IO: return EXIT_FILE;
  case HK_ERROR_BLOWUP: return EXIT_BLOWUP;
  case HK_ERROR_MEMORY: return EXIT_MEMORY;
  case HK_ERROR_CANCELLED: return EXIT_SIGNAL; /* callers add the number of the signal */
  }
  return EXIT_INPUT;
}

HkStatus text_fail(HkError *error, HkStatus status, const char *format, ...) {
  va_list arguments;
  *error = (HkError){.status = status};
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return status;
}

void text_status(const char *format, ...) {
  char line[128];
  va_list arguments;
  if (!isatty(STDERR_FILENO)) return;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\r%-70.70s\r%.70s", "", line);
  fflush(stderr);
}

void text_log(void *user, HkLogLevel level, const char *text) {
  (void)user;
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", level == HK_LOG_WARNING ? "warning" : "note", text);
}

/* ---- Words ----------------------------------------------------------------------------------- */

bool text_choice(const char *choices, int index, char *word, size_t size) {
  for (; index > 0; index--) {
    choices = strchr(choices, '|');
    if (!choices) return false;
    choices++;
  }
  snprintf(word, size, "%.*s", (int)strcspn(choices, "|"), choices);
  return word[0] != 0;
}

void text_quote(const char *word, const char *rest, char *text, size_t size) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-+=./:,@%";
  size_t length = strlen(word), used = 0;
  const char *quote =
      word[strspn(word, plain)] || rest[strspn(rest, plain)] || !(word[0] || rest[0]) ? "'" : "";
  used += (size_t)snprintf(text, size, "%s", quote);
  for (size_t q = 0; q < length + strlen(rest) && used + 8 < size; q++) {
    char letter = q < length ? word[q] : rest[q - length];
    used += (size_t)(letter == '\'' ? snprintf(text + used, size - used, "'\\''")
                                    : snprintf(text + used, size - used, "%c", letter));
  }
  if (used + 2 < size) snprintf(text + used, size - used, "%s", quote);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

int text_width(FILE *file) {
  enum { DEFAULT_WIDTH = 80 };
  struct winsize window;
  int handle = fileno(file);
  if (isatty(handle) && ioctl(handle, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
    return window.ws_col;
  return DEFAULT_WIDTH;
}

void text_wrap(FILE *file, const char *text, int indent, int width) {
  int column = indent, least = indent + 24;
  if (width < least) width = least;
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (column > indent && column + 1 + length > width) {
      fprintf(file, "\n%*s", indent, "");
      column = indent;
    }
    if (column > indent) {
      fputc(' ', file);
      column++;
    }
    fprintf(file, "%.*s", length, text);
    column += length;
    text += length;
    text += strspn(text, " ");
  }
  fputc('\n', file);
}

void text_row(FILE *file, const char *label, const char *format, ...) {
  va_list arguments;
  fprintf(file, "  %-13s ", label);
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fputc('\n', file);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

Text text_count(int64_t value) {
  Text text = {0};
  char digits[32];
  int length = snprintf(digits, sizeof digits, "%lld", (long long)value), at = 0;
  for (int q = 0; q < length; q++) {
    text.c[at++] = digits[q];
    int left = length - 1 - q;
    if (left > 0 && left % 3 == 0 && digits[q] != '-') text.c[at++] = ',';
  }
  return text;
}

Text text_rate(double value) {
  Text text = {0};
  if (value >= 1e9)
    snprintf(text.c, sizeof text.c, "%.3g billion", value / 1e9);
  else if (value >= 1e6)
    snprintf(text.c, sizeof text.c, "%.3g million", value / 1e6);
  else if (value >= 1000)
    return text_count((int64_t)(value + 0.5));
  else
    snprintf(text.c, sizeof text.c, "%.3g", value);
  return text;
}

Text text_bytes(size_t bytes) {
  Text text = {0};
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  double value = (double)bytes;
  int unit = 0;
  for (; value >= 999.5 && unit < 4; unit++) value /= 1000;
  snprintf(text.c, sizeof text.c, "%.3g %s", value, units[unit]);
  return text;
}

Text text_duration(double seconds) {
  Text text = {0};
  double whole = floor(seconds + 0.5);
  if (!(seconds < 1e9))
    snprintf(text.c, sizeof text.c, "very long");
  else if (seconds < 9.95)
    snprintf(text.c, sizeof text.c, "%.2g s", seconds);
  else if (whole < 60)
    snprintf(text.c, sizeof text.c, "%.0f s", whole);
  else if (whole < 3600)
    snprintf(text.c, sizeof text.c, "%.0f min %02.0f s", floor(whole / 60), fmod(whole, 60));
  else
    snprintf(text.c, sizeof text.c, "%.0f h %02.0f min", floor(whole / 3600),
             floor(fmod(whole, 3600) / 60));
  return text;
}

Text text_range(double min, double max, const char *unit) {
  Text text = {0};
  if (min == max)
    snprintf(text.c, sizeof text.c, "%g %s", min, unit);
  else
    snprintf(text.c, sizeof text.c, "%g .. %g %s", min, max, unit);
  return text;
}

/* ---- Files ----------------------------------------------------------------------------------- */

FILE *text_open(const char *path) {
  struct stat info;
  int handle = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe does not wait */
  if (handle < 0) return NULL;
  if (fstat(handle, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)))
    return fdopen(handle, "rb");
  close(handle);
  errno = EINVAL;
  return NULL;
}
