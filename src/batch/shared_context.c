/* A context that several threads may use at once; see shared_context.h. */
#include "batch/shared_context.h"

#ifdef HK_WITH_THREADS
#include <pthread.h>
typedef pthread_mutex_t Lock;
#define LOCK_INIT(lock) pthread_mutex_init(lock, NULL)
#define LOCK(lock) pthread_mutex_lock(lock)
#define UNLOCK(lock) pthread_mutex_unlock(lock)
#define LOCK_DESTROY(lock) pthread_mutex_destroy(lock)
#else
typedef int Lock;
#define LOCK_INIT(lock) ((void)(lock))
#define LOCK(lock) ((void)(lock))
#define UNLOCK(lock) ((void)(lock))
#define LOCK_DESTROY(lock) ((void)(lock))
#endif

struct HkSharedContext {
  HkContext inner, outer;
  Lock lock;
};

static void *resize(void *user, void *p, size_t bytes) {
  HkSharedContext *s = user;
  LOCK(&s->lock);
  void *q = s->inner.resize(s->inner.memory_user, p, bytes);
  UNLOCK(&s->lock);
  return q;
}

static void write_log(void *user, HkLogLevel level, const char *text) {
  HkSharedContext *s = user;
  LOCK(&s->lock);
  s->inner.log(s->inner.log_user, level, text);
  UNLOCK(&s->lock);
}

HkStatus hk_shared_context_create(const HkContext *inner, HkSharedContext **shared,
                                  HkError *error) {
  *shared = NULL;
  HK_TRY(hk_alloc(inner, shared, 1, sizeof **shared, "a batch", error));
  HkSharedContext *s = *shared;
  s->inner = s->outer = *inner;
  LOCK_INIT(&s->lock);
  if (inner->resize != hk_context_default().resize) {
    s->outer.resize = resize;
    s->outer.memory_user = s;
  }
  if (inner->log) {
    s->outer.log = write_log;
    s->outer.log_user = s;
  }
  return HK_OK;
}

HkContext hk_shared_context(const HkSharedContext *shared) {
  return shared->outer;
}

size_t hk_shared_context_bytes(void) {
  return sizeof(HkSharedContext);
}

void hk_shared_context_destroy(HkSharedContext **shared) {
  if (!*shared) return;
  HkContext c = (*shared)->inner;
  LOCK_DESTROY(&(*shared)->lock);
  hk_free(&c, shared);
}
