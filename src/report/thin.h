/* Which items of a stream are kept when there is capacity for some only.
 *
 * Items have rising numbers, the first one is 0. Kept are those whose number is a multiple of the
 * stride. When the capacity is full the stride doubles and what is no multiple of it goes: every
 * item, then every 2nd, 4th ... The newest one is always there, in the slot behind the kept ones if
 * its number is no multiple. So first and last item survive, and capacity + 1 slots are enough for
 * a stream of any length.
 */
#ifndef HK_REPORT_THIN_H
#define HK_REPORT_THIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct HkThin {
  int64_t capacity; /* items to keep, at least 1 */
  int64_t stride;   /* from 1 */
  int64_t kept;
  bool loose; /* slot `kept` holds the newest item, which goes when the next one comes */
} HkThin;

static inline HkThin hk_thin(int64_t capacity) {
  return (HkThin){.capacity = capacity, .stride = 1};
}

/* Items that are there. */
static inline int64_t hk_thin_count(const HkThin *t) {
  return t->kept + t->loose;
}

/* Whether the stride must double before item `number` comes. The caller then keeps those of its
 * first `kept` slots whose numbers are multiples of it, and counts them into `kept`. */
static inline bool hk_thin_is_full(const HkThin *t, int64_t number) {
  return number % t->stride == 0 && t->kept >= t->capacity;
}

/* The slot that item `number` goes into. */
static inline int64_t hk_thin_add(HkThin *t, int64_t number) {
  t->loose = number % t->stride != 0;
  return t->loose ? t->kept : t->kept++;
}

#endif
