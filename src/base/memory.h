/* Allocation from an HkContext, with checks for overflow. */
#ifndef HK_BASE_MEMORY_H
#define HK_BASE_MEMORY_H

#include "base/assert.h"
#include "base/status.h"

/* Returns a copy of context, or of the default one if it is NULL. */
HkContext hk_context_or_default(const HkContext *context);

/* Allocates count zeroed elements of size bytes; *p (a pointer to a pointer) becomes their address,
 * NULL if count is 0. */
HkStatus hk_alloc(const HkContext *context, void *p, int64_t count, size_t size, const char *what,
                  HkError *error);

/* As hk_alloc, but the elements have no value yet: for large arrays that a loop over threads fills,
 * so that the threads also share the cost of the first write to each page. */
HkStatus hk_alloc_unset(const HkContext *context, void *p, int64_t count, size_t size,
                        const char *what, HkError *error);

/* Allocates 3 n zeroed coordinates and HK_PAD doubles after them: kernels load four doubles at a
 * vertex (simd.h). */
enum { HK_PAD = 1 };
HkStatus hk_alloc_vector(const HkContext *context, double **p, int64_t n, const char *what,
                         HkError *error);
/* Bytes that this takes. */
static inline size_t hk_vector_bytes(int64_t n) {
  return n > 0 ? (size_t)(3 * n + HK_PAD) * sizeof(double) : 0;
}

/* As hk_alloc, for arrays that kernels stream: *p is aligned to a cache line. The caller frees
 * *block with hk_free. */
HkStatus hk_alloc_aligned(const HkContext *context, void **block, void *p, int64_t count,
                          size_t size, const char *what, HkError *error);
/* Bytes that this takes. */
size_t hk_aligned_bytes(int64_t count, size_t size);

/* Grows an array to a capacity of at least count elements, by half of it at a time, and keeps its
 * contents; updates *capacity. */
HkStatus hk_grow(const HkContext *context, void *p, int64_t *capacity, int64_t count, size_t size,
                 const char *what, HkError *error);

/* Returns HK_ERROR_MEMORY if `bytes` more cannot be allocated, before a large allocation; the
 * message has what needs them ("a model of 3 vertices"), the available bytes and a way out (NULL:
 * fewer vertices). It accepts any size from a context with its own allocator, and small sizes
 * always. */
HkStatus hk_memory_check(const HkContext *context, double bytes, const char *what,
                         const char *way_out, HkError *error);

/* Frees *p (a pointer to a pointer) and sets it to NULL. */
void hk_free(const HkContext *context, void *p);

/* Calls the context's log callback, if there is one. */
void hk_log(const HkContext *context, HkLogLevel level, const char *format, ...) HK_PRINTF(3, 4);

#endif
