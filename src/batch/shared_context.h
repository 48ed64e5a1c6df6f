/* A context that several threads may use at once: calls of an allocator and of a log of the caller
 * are made one at a time. */
#ifndef HK_BATCH_SHARED_CONTEXT_H
#define HK_BATCH_SHARED_CONTEXT_H

#include "base/memory.h"

typedef struct HkSharedContext HkSharedContext;

/* Makes *shared over a context; its memory comes from that context. */
HkStatus hk_shared_context_create(const HkContext *inner, HkSharedContext **shared, HkError *error);
/* The context to use. The default allocator serves several threads already and is kept. */
HkContext hk_shared_context(const HkSharedContext *shared);
/* Bytes that one takes. */
size_t hk_shared_context_bytes(void);
void hk_shared_context_destroy(HkSharedContext **shared);

#endif
