/* Sorting numbers in ascending order, in place. */
#ifndef HK_BASE_SORT_H
#define HK_BASE_SORT_H

#include <stdint.h>
#include <stdlib.h>

/* The comparisons, for qsort, form no difference, which could overflow. No NAN may be among
 * doubles. */

static inline int hk_compare_int32(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static inline void hk_sort_int32(int32_t *list, int64_t count) {
  if (count > 1) qsort(list, (size_t)count, sizeof *list, hk_compare_int32);
}

/* The same, faster for lists of some dozen numbers. */
static inline void hk_sort_short_int32(int32_t *list, int64_t count) {
  enum { SHORT = 128 };
  if (count > SHORT) {
    hk_sort_int32(list, count);
    return;
  }
  for (int64_t k = 1; k < count; k++) {
    int32_t e = list[k];
    int64_t at = k;
    for (; at > 0 && list[at - 1] > e; at--) list[at] = list[at - 1];
    list[at] = e;
  }
}

static inline int hk_compare_uint32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static inline void hk_sort_uint32(uint32_t *list, int64_t count) {
  if (count > 1) qsort(list, (size_t)count, sizeof *list, hk_compare_uint32);
}

static inline int hk_compare_int64(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static inline void hk_sort_int64(int64_t *list, int64_t count) {
  if (count > 1) qsort(list, (size_t)count, sizeof *list, hk_compare_int64);
}

/* The first place of a rising list whose number is at least `value`; count if there is none. */
static inline int64_t hk_lower_bound_int64(const int64_t *list, int64_t count, int64_t value) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (list[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static inline int hk_compare_double(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline void hk_sort_double(double *list, int64_t count) {
  if (count > 1) qsort(list, (size_t)count, sizeof *list, hk_compare_double);
}

#endif
