/* Memory from an HkContext, with counts checked before they are multiplied. */
#ifndef HK_BASE_MEMORY_H
#define HK_BASE_MEMORY_H

#include "base/assert.h"
#include "base/status.h"

/* The context that NULL stands for, else a copy. */
HkContext hk_context_or_default(const HkContext *context);

/* count zeroed elements of size bytes into *p (a pointer to a pointer); count 0 gives NULL. */
HkStatus hk_alloc(const HkContext *context, void *p, int64_t count, size_t size, const char *what,
                  HkError *error);

/* 3 n zeroed coordinates, and HK_PAD doubles after them: kernels load four at a vertex (simd.h). */
enum { HK_PAD = 1 };
HkStatus hk_alloc_vector(const HkContext *context, double **p, int64_t n, const char *what,
                         HkError *error);
/* Bytes that this takes. */
static inline size_t hk_vector_bytes(int64_t n) {
  return n > 0 ? (size_t)(3 * n + HK_PAD) * sizeof(double) : 0;
}

/* As hk_alloc, for arrays that kernels stream: *p begins at a line of the cache. *block is what to
 * give to hk_free. */
HkStatus hk_alloc_aligned(const HkContext *context, void **block, void *p, int64_t count,
                          size_t size, const char *what, HkError *error);
/* Bytes that this takes. */
size_t hk_aligned_bytes(int64_t count, size_t size);

/* Makes room for at least count elements, doubling, contents kept; *capacity is updated. */
HkStatus hk_grow(const HkContext *context, void *p, int64_t *capacity, int64_t count, size_t size,
                 const char *what, HkError *error);

/* available.c: bytes that could be taken now; 0: unknown. */
double hk_memory_available(void);

/* Whether so many bytes more can be had, to be asked before anything large is taken: an error that
 * says what takes them ("a model of 3 vertices"), how much there is, and a way out (NULL: fewer
 * vertices). A context with memory of its own is never refused, nor is what any machine has. */
HkStatus hk_memory_check(const HkContext *context, double bytes, const char *what,
                         const char *way_out, HkError *error);

/* Frees *p (a pointer to a pointer) and sets it to NULL. */
void hk_free(const HkContext *context, void *p);

/* Tells the context's log, if there is one. */
void hk_log(const HkContext *context, HkLogLevel level, const char *format, ...) HK_PRINTF(3, 4);

#endif
