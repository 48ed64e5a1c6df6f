/* Cancellation: a callback that the loops of a step ask whether to end early.
 *
 * The callback is asked by the thread that makes the step, between iterations. Its first 'yes'
 * holds until hk_cancel_begin, so that every loop around the one that noticed ends too.
 */
#ifndef HK_BASE_CANCEL_H
#define HK_BASE_CANCEL_H

#include "base/status.h"

typedef struct HkCancel {
  HkCancelFn *ask; /* NULL: nothing is cancelled */
  void *user;
  bool asked; /* the callback has returned true since hk_cancel_begin */
} HkCancel;

/* Forgets an earlier request, before the next steps. */
static inline void hk_cancel_begin(HkCancel *cancel) {
  cancel->asked = false;
}

/* Whether to end; cancel may be NULL. */
static inline bool hk_is_cancelled(HkCancel *cancel) {
  if (!cancel || !cancel->ask) return false;
  if (!cancel->asked) cancel->asked = cancel->ask(cancel->user);
  return cancel->asked;
}

/* HK_ERROR_CANCELLED if the end is asked for. */
static inline HkStatus hk_cancel_check(HkCancel *cancel, HkError *error) {
  if (!hk_is_cancelled(cancel)) return HK_OK;
  return hk_fail(error, HK_ERROR_CANCELLED, "the step was cancelled; the state is that before it");
}

#endif
