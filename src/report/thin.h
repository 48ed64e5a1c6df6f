/* Selects the items of a stream to keep in a limited capacity.
 *
 * Items have rising numbers, the first one is 0. Kept are those whose number is a multiple of the
 * stride. When the capacity is reached, the stride doubles and items whose number is not a multiple
 * of it are removed: every item stays, then every 2nd, 4th ... The newest item is always kept, in
 * the slot after the kept ones if its number is not a multiple. So the first and the last item are
 * kept, and capacity + 1 slots are enough for a stream of any length.
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

/* Returns the number of kept items, the newest included. */
static inline int64_t hk_thin_count(const HkThin *t) {
  return t->kept + t->loose;
}

/* Whether the stride must double before item `number` comes. The caller then keeps those of its
 * first `kept` slots whose numbers are multiples of it, and counts them into `kept`. */
static inline bool hk_thin_is_full(const HkThin *t, int64_t number) {
  return number % t->stride == 0 && t->kept >= t->capacity;
}

/* Returns the slot for item `number`. */
static inline int64_t hk_thin_add(HkThin *t, int64_t number) {
  t->loose = number % t->stride != 0;
  return t->loose ? t->kept : t->kept++;
}

#endif
