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

int hk_version_number(void) {
  return HK_VERSION_NUMBER;
}

/* Writes "file:line:column: key: " into the text, as far as each is known. */
static void put_place(HkError *e) {
  size_t size = sizeof e->text;
  int used = 0;
  if (e->file[0] && e->line > 0 && e->column > 0)
    used = snprintf(e->text, size, "%s:%d:%d: ", e->file, e->line, e->column);
  else if (e->file[0] && e->line > 0)
    used = snprintf(e->text, size, "%s:%d: ", e->file, e->line);
  else if (e->file[0])
    used = snprintf(e->text, size, "%s: ", e->file);
  if (e->key[0]) used += snprintf(e->text + used, size - (size_t)used, "%s: ", e->key);
  e->message = used;
}

static HkStatus fail(HkError *error, HkStatus status, const HkErrorPlace *place, const char *format,
                     va_list arguments) {
  _Static_assert(sizeof error->file + sizeof error->key + 64 < sizeof error->text,
                 "the place leaves space for a message");
  if (!error) return status;
  memset(error, 0, sizeof *error);
  error->status = status;
  error->line = place->line;
  error->column = place->column;
  if (place->file) snprintf(error->file, sizeof error->file, "%s", place->file);
  if (place->key) snprintf(error->key, sizeof error->key, "%s", place->key);
  put_place(error);
  vsnprintf(error->text + error->message, sizeof error->text - (size_t)error->message, format,
            arguments);
  return status;
}

HkStatus hk_fail(HkError *error, HkStatus status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(error, status, &(HkErrorPlace){0}, format, arguments);
  va_end(arguments);
  return status;
}

HkStatus hk_fail_at(HkError *error, HkStatus status, const char *file, int line, int column,
                    const char *format, ...) {
  HkErrorPlace place = {.file = file, .line = line, .column = column};
  va_list arguments;
  va_start(arguments, format);
  fail(error, status, &place, format, arguments);
  va_end(arguments);
  return status;
}

HkStatus hk_fail_key(HkError *error, HkStatus status, const char *key, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(error, status, &(HkErrorPlace){.key = key}, format, arguments);
  va_end(arguments);
  return status;
}

HkStatus hk_fail_in(HkError *error, HkStatus status, const HkErrorPlace *place, const char *format,
                    ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(error, status, place, format, arguments);
  va_end(arguments);
  return status;
}

HkStatus hk_fail_under(HkError *error, HkStatus status, const char *path) {
  char key[sizeof error->key], message[sizeof error->text];
  if (!error || status >= 0 || !error->key[0]) return status;
  if (snprintf(key, sizeof key, "%s.%s", path, error->key) >= (int)sizeof key) return status;
  memcpy(message, error->text + error->message, sizeof message - (size_t)error->message);
  memcpy(error->key, key, sizeof key);
  put_place(error);
  snprintf(error->text + error->message, sizeof error->text - (size_t)error->message, "%s",
           message);
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
