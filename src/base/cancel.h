/* Cancellation: the loops of a step call a callback that returns whether to end early.
 *
 * The thread that makes the step calls it between iterations. Its first true is kept until
 * hk_cancel_begin, so that all enclosing loops end, too.
 */
#ifndef HK_BASE_CANCEL_H
#define HK_BASE_CANCEL_H

#include "base/status.h"

typedef struct HkCancel {
  HkCancelFn *ask; /* NULL: steps cannot be cancelled */
  void *user;
  bool asked; /* the callback has returned true since hk_cancel_begin */
} HkCancel;

/* Clears an earlier request, before the next steps. */
static inline void hk_cancel_begin(HkCancel *cancel) {
  cancel->asked = false;
}

/* Returns whether to end; cancel may be NULL. */
static inline bool hk_is_cancelled(HkCancel *cancel) {
  if (!cancel || !cancel->ask) return false;
  if (!cancel->asked) cancel->asked = cancel->ask(cancel->user);
  return cancel->asked;
}

/* Returns HK_ERROR_CANCELLED if the callback requests the end. */
static inline HkStatus hk_cancel_check(HkCancel *cancel, HkError *error) {
  if (!hk_is_cancelled(cancel)) return HK_OK;
  return hk_fail(error, HK_ERROR_CANCELLED, "the step was cancelled; the state is that before it");
}

#endif
