/* Lists of entries by rows; see lists.h.
 *
 * Threads count the entries of rows, and take places in them, by atomic additions. The order in a
 * row is then that of chance, and each row is sorted: it has few entries.
 */
#include "base/lists.h"

#include "base/sort.h"
#include "base/threads.h"

#include <stdbool.h>
#include <string.h>

enum { ENTRY_GRAIN = 4096, ROW_GRAIN = 1024 };

typedef struct Lists {
  int64_t count;
  HkRowOf *row_of;
  const void *user;
  int64_t *start;
  int32_t *at;
  bool is_shared; /* by several threads */
} Lists;

/* Adds one and returns what was there before. */
static int64_t take(int64_t *p, bool is_shared) {
  return is_shared ? __atomic_fetch_add(p, 1, __ATOMIC_RELAXED) : (*p)++;
}

static void count_range(void *user, int64_t begin, int64_t end) {
  const Lists *l = user;
  for (int64_t e = begin; e < end; e++) {
    int64_t row = l->row_of(l->user, e);
    if (row >= 0) take(&l->start[row], l->is_shared);
  }
}

static void place_range(void *user, int64_t begin, int64_t end) {
  const Lists *l = user;
  for (int64_t e = begin; e < end; e++) {
    int64_t row = l->row_of(l->user, e);
    if (row >= 0) l->at[take(&l->start[row], l->is_shared)] = (int32_t)e;
  }
}

/* After the entries have been placed, start[r] is the end of row r. */
static void sort_range(void *user, int64_t begin, int64_t end) {
  const Lists *l = user;
  for (int64_t r = begin; r < end; r++) {
    int64_t first = r > 0 ? l->start[r - 1] : 0, count = l->start[r] - first;
    hk_sort_short_int32(l->at + first, count);
  }
}

void hk_lists_make(int threads, int64_t count, int64_t rows, HkRowOf *row_of, const void *user,
                   int64_t *start, int32_t *at) {
  bool is_shared = threads > 1 && count > 2 * ENTRY_GRAIN;
  Lists l = {count, row_of, user, start, at, is_shared};
  int64_t sum = 0;
  if (!is_shared) threads = 1;
  memset(start, 0, (size_t)(rows + 1) * sizeof *start);
  hk_parallel_work(threads, count, ENTRY_GRAIN, count_range, &l);
  for (int64_t r = 0; r <= rows; r++) { /* the begin of each row */
    int64_t own = start[r];
    start[r] = sum;
    sum += own;
  }
  hk_parallel_work(threads, count, ENTRY_GRAIN, place_range, &l);
  if (is_shared) hk_parallel_work(threads, rows, ROW_GRAIN, sort_range, &l);
  memmove(start + 1, start, (size_t)rows * sizeof *start);
  start[0] = 0;
}
