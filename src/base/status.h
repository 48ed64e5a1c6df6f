/* Errors: fill the caller's HkError (which may be NULL) and return the status in one expression. */
#ifndef HK_BASE_STATUS_H
#define HK_BASE_STATUS_H

#include "hooke/hooke.h"

#if defined(__GNUC__)
#define HK_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define HK_PRINTF(text, first)
#endif

/* return hk_fail(error, HK_ERROR_INVALID, "mass %g is negative", m); */
HkStatus hk_fail(HkError *error, HkStatus status, const char *format, ...) HK_PRINTF(3, 4);

/* As hk_fail, with a place in a file; line and column count from 1, 0 if unknown. The text becomes
 * "file:line:column: message". */
HkStatus hk_fail_at(HkError *error, HkStatus status, const char *file, int line, int column,
                    const char *format, ...) HK_PRINTF(6, 7);

/* As hk_fail, about the value with this key: "step" or "transform.axis". The text becomes
 * "key: message". */
HkStatus hk_fail_key(HkError *error, HkStatus status, const char *key, const char *format, ...)
    HK_PRINTF(4, 5);

/* Place of an error; fields that are NULL or 0 are left out. */
typedef struct HkErrorPlace {
  const char *file;
  int line, column;
  const char *key;
} HkErrorPlace;

/* As hk_fail, with all parts of a place: "file:line:column: key: message". */
HkStatus hk_fail_in(HkError *error, HkStatus status, const HkErrorPlace *place, const char *format,
                    ...) HK_PRINTF(4, 5);

/* Puts a path before the key of an error, "axis" under "motion" becomes "motion.axis", and returns
 * its status. */
HkStatus hk_fail_under(HkError *error, HkStatus status, const char *path);

/* Returns the error "cannot VERB FILE: reason", from errno. */
HkStatus hk_fail_errno(HkError *error, const char *verb, const char *file);

HkStatus hk_fail_memory(HkError *error, size_t bytes, const char *what);

/* clang's analyzer does not see status.c; these definitions give it the returned values. */
#if defined(__clang_analyzer__) && !defined(HK_STATUS_DEFINED_HERE)
#define hk_fail(error, status, ...) ((void)hk_fail(error, status, __VA_ARGS__), status)
#define hk_fail_at(error, status, ...) ((void)hk_fail_at(error, status, __VA_ARGS__), status)
#define hk_fail_key(error, status, ...) ((void)hk_fail_key(error, status, __VA_ARGS__), status)
#define hk_fail_in(error, status, ...) ((void)hk_fail_in(error, status, __VA_ARGS__), status)
#define hk_fail_errno(error, ...) ((void)hk_fail_errno(error, __VA_ARGS__), HK_ERROR_IO)
#define hk_fail_memory(error, ...) ((void)hk_fail_memory(error, __VA_ARGS__), HK_ERROR_MEMORY)
#endif

/* Returns the status of a call if it is an error. */
#define HK_TRY(call)                                                                               \
  do {                                                                                             \
    HkStatus hk_try_status = (call);                                                               \
    if (hk_try_status < 0) return hk_try_status;                                                   \
  } while (0)

#endif
