/* Memory and log; see memory.h. */
#ifdef __linux__
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

static void *resize_with_libc(void *user, void *p, size_t bytes) {
  (void)user;
  if (bytes == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, bytes);
}

HkContext hk_context_default(void) {
  return (HkContext){.resize = resize_with_libc};
}

HkContext hk_context_or_default(const HkContext *context) {
  HkContext result = context ? *context : hk_context_default();
  if (!result.resize) result.resize = resize_with_libc;
  return result;
}

/* Bytes below which hk_memory_check does not query the system. */
static const double UNCHECKED_BYTES = 64e6;

static void write_size(double bytes, char *text, size_t size) {
  static const char *const units[] = {"MB", "GB", "TB"};
  int unit = bytes < 1e9 ? 0 : bytes < 1e12 ? 1 : 2;
  static const double scale[] = {1e6, 1e9, 1e12};
  snprintf(text, size, "%.3g %s", bytes / scale[unit], units[unit]);
}

HkStatus hk_memory_check(const HkContext *context, double bytes, const char *what,
                         const char *way_out, HkError *error) {
  if (bytes < UNCHECKED_BYTES || context->resize != resize_with_libc) return HK_OK;
  double available = hk_memory_available();
  if (available == 0 || bytes <= available) return HK_OK;
  char needed[32], there[32];
  write_size(bytes, needed, sizeof needed);
  write_size(available, there, sizeof there);
  return hk_fail(error, HK_ERROR_MEMORY,
                 "no memory for %s: at least %s are needed, and there are %s; %s", what, needed,
                 there, way_out ? way_out : "ask for fewer vertices");
}

static HkStatus resize(const HkContext *context, void **p, int64_t count, size_t size,
                       const char *what, HkError *error) {
  if (count < 0 || (uint64_t)count > (uint64_t)PTRDIFF_MAX / size)
    return hk_fail(error, HK_ERROR_MEMORY, "%s: %lld entries are more than fit into memory", what,
                   (long long)count);
  size_t bytes = (size_t)count * size;
  void *q = context->resize(context->memory_user, *p, bytes);
  if (!q) return hk_fail_memory(error, bytes, what);
  *p = q;
  return HK_OK;
}

/* memcpy to and from p: *p is a pointer of any type, and void ** would alias it. */

HkStatus hk_alloc(const HkContext *context, void *p, int64_t count, size_t size, const char *what,
                  HkError *error) {
  void *block = NULL;
  HK_TRY(hk_memory_check(context, (double)count * (double)size, what, NULL, error));
  if (count != 0) HK_TRY(resize(context, &block, count, size, what, error));
  if (block) memset(block, 0, (size_t)count * size);
  memcpy(p, &block, sizeof block);
  return HK_OK;
}

HkStatus hk_alloc_vector(const HkContext *context, double **p, int64_t n, const char *what,
                         HkError *error) {
  return hk_alloc(context, p, n > 0 ? 3 * n + HK_PAD : 0, sizeof **p, what, error);
}

/* Streaming over large arrays is at least a tenth faster with huge pages, which Linux provides if
 * the process asks before the first write. */
static void ask_for_large_pages(void *block, size_t bytes) {
#ifdef MADV_HUGEPAGE
  enum { PAGE = 4096, HUGE_PAGES_MIN_BYTES = 8 << 20 };
  uintptr_t at = (uintptr_t)block, first = (at + PAGE - 1) / PAGE * PAGE;
  if (bytes >= HUGE_PAGES_MIN_BYTES)
    madvise((char *)block + (first - at), bytes - (first - at), MADV_HUGEPAGE);
#else
  (void)block;
  (void)bytes;
#endif
}

HkStatus hk_alloc_unset(const HkContext *context, void *p, int64_t count, size_t size,
                        const char *what, HkError *error) {
  void *block = NULL;
  HK_TRY(hk_memory_check(context, (double)count * (double)size, what, NULL, error));
  if (count != 0) HK_TRY(resize(context, &block, count, size, what, error));
  memcpy(p, &block, sizeof block);
  return HK_OK;
}

enum { LINE = 64 };

/* Returns the number of extra elements for alignment to a cache line. */
static int64_t spare(size_t size) {
  return (int64_t)((LINE + size - 1) / size);
}

size_t hk_aligned_bytes(int64_t count, size_t size) {
  return count > 0 ? (size_t)(count + spare(size)) * size : 0;
}

HkStatus hk_alloc_aligned(const HkContext *context, void **block, void *p, int64_t count,
                          size_t size, const char *what, HkError *error) {
  void *aligned = NULL;
  *block = NULL;
  if (count > 0) {
    size_t bytes = hk_aligned_bytes(count, size);
    HK_TRY(hk_memory_check(context, (double)bytes, what, NULL, error));
    HK_TRY(resize(context, block, count + spare(size), size, what, error));
    ask_for_large_pages(*block, bytes);
    memset(*block, 0, bytes);
    uintptr_t at = (uintptr_t)*block;
    aligned = (char *)*block + ((at + LINE - 1) / LINE * LINE - at);
  }
  memcpy(p, &aligned, sizeof aligned);
  return HK_OK;
}

HkStatus hk_grow(const HkContext *context, void *p, int64_t *capacity, int64_t count, size_t size,
                 const char *what, HkError *error) {
  if (count <= *capacity) return HK_OK;
  int64_t wanted = *capacity < INT64_MAX / 2 ? *capacity + *capacity / 2 : count;
  if (wanted < count) wanted = count;
  if (wanted < 16) wanted = 16;
  double more = (double)(wanted - *capacity) * (double)size;
  HK_TRY(hk_memory_check(context, more, what, NULL, error));
  void *block;
  memcpy(&block, p, sizeof block);
  HK_TRY(resize(context, &block, wanted, size, what, error));
  memcpy(p, &block, sizeof block);
  *capacity = wanted;
  return HK_OK;
}

void hk_free(const HkContext *context, void *p) {
  void *block;
  memcpy(&block, p, sizeof block);
  if (block) context->resize(context->memory_user, block, 0);
  block = NULL;
  memcpy(p, &block, sizeof block);
}

void hk_log(const HkContext *context, HkLogLevel level, const char *format, ...) {
  if (!context->log) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  context->log(context->log_user, level, text);
}
