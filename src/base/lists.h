/* Lists of entries by rows: which entries have a row. A counting sort. */
#ifndef HK_BASE_LISTS_H
#define HK_BASE_LISTS_H

#include <stdint.h>

/* The row of an entry, or -1. */
typedef int64_t HkRowOf(const void *user, int64_t entry);

/* start (rows + 1) and at: the entries of row r are at[start[r]] .. at[start[r + 1] - 1], by rising
 * number whatever the number of threads. `at` holds `count` entries, fewer than 2^31. */
void hk_lists_make(int threads, int64_t count, int64_t rows, HkRowOf *row_of, const void *user,
                   int64_t *start, int32_t *at);

#endif
