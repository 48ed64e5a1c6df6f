/* Sorting numbers in ascending order, in place. */
#ifndef HK_BASE_SORT_H
#define HK_BASE_SORT_H

#include <stdint.h>
#include <stdlib.h>

/* Defines the comparison of two numbers of the type for qsort, and hk_sort_NAME. The comparison has
 * no difference that could overflow. No NAN may be among doubles. */
#define HK_DEFINE_SORT(name, type)                                                                 \
  static inline int hk_compare_##name(const void *a, const void *b) {                              \
    type x = *(const type *)a, y = *(const type *)b;                                               \
    return (x > y) - (x < y);                                                                      \
  }                                                                                                \
  static inline void hk_sort_##name(type *list, int64_t count) {                                   \
    if (count > 1) qsort(list, (size_t)count, sizeof *list, hk_compare_##name);                    \
  }

HK_DEFINE_SORT(int32, int32_t)
HK_DEFINE_SORT(uint32, uint32_t)
HK_DEFINE_SORT(int64, int64_t)
HK_DEFINE_SORT(double, double)

#undef HK_DEFINE_SORT

#endif
