/* Errors and the version; see status.h. */
#define HK_STATUS_DEFINED_HERE
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *hk_version(void) {
  return HK_VERSION;
}

const char *hk_status_name(HkStatus status) {
  switch (status) {
  case HK_OK: return "HK_OK";
  case HK_NOT_CONVERGED: return "HK_NOT_CONVERGED";
  case HK_DONE: return "HK_DONE";
  case HK_ERROR_INVALID: return "HK_ERROR_INVALID";
  case HK_ERROR_MEMORY: return "HK_ERROR_MEMORY";
  case HK_ERROR_IO: return "HK_ERROR_IO";
  case HK_ERROR_FORMAT: return "HK_ERROR_FORMAT";
  case HK_ERROR_UNSUPPORTED: return "HK_ERROR_UNSUPPORTED";
  case HK_ERROR_BLOWUP: return "HK_ERROR_BLOWUP";
  case HK_ERROR_CANCELLED: return "HK_ERROR_CANCELLED";
  }
  return "unknown status";
}

static HkStatus fail(HkError *error, HkStatus status, const char *file, int line, int column,
                     const char *format, va_list arguments) {
  if (!error) return status;
  memset(error, 0, sizeof *error);
  error->status = status;
  error->line = line;
  error->column = column;
  if (file) snprintf(error->file, sizeof error->file, "%s", file);

  int used = 0;
  int capacity = (int)sizeof error->text;
  if (file && line > 0 && column > 0)
    used = snprintf(error->text, (size_t)capacity, "%s:%d:%d: ", error->file, line, column);
  else if (file && line > 0)
    used = snprintf(error->text, (size_t)capacity, "%s:%d: ", error->file, line);
  else if (file)
    used = snprintf(error->text, (size_t)capacity, "%s: ", error->file);
  if (used >= 0 && used < capacity)
    vsnprintf(error->text + used, (size_t)(capacity - used), format, arguments);
  return status;
}

HkStatus hk_fail(HkError *error, HkStatus status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(error, status, NULL, 0, 0, format, arguments);
  va_end(arguments);
  return status;
}

HkStatus hk_fail_at(HkError *error, HkStatus status, const char *file, int line, int column,
                    const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(error, status, file, line, column, format, arguments);
  va_end(arguments);
  return status;
}

HkStatus hk_fail_errno(HkError *error, const char *verb, const char *file) {
  int reason = errno;
  char text[256] = "";
  if (strerror_r(reason, text, sizeof text) != 0) snprintf(text, sizeof text, "error %d", reason);
  return hk_fail_at(error, HK_ERROR_IO, file, 0, 0, "cannot %s: %s", verb, text);
}

HkStatus hk_fail_memory(HkError *error, size_t bytes, const char *what) {
  return hk_fail(error, HK_ERROR_MEMORY, "no memory for %s (%.3g MB)", what, (double)bytes / 1e6);
}
