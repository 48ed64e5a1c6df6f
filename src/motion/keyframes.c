/* A pin that follows a table of displacements.
 *
 *     x(t) = x0 + d(t),   v(t) = d'(t)
 *
 * Rows are t dx dy dz (s, m), with t rising strictly. d is linear between two rows, and that of the
 * first row before it, that of the last row after it. At a row, where the slope jumps, v is that of
 * the time to come.
 */
#include "motion/motion.h"

#include <string.h>

typedef struct Keyframes {
  HkTable rows;
} Keyframes;

static const HkParam params[] = {
    HK_TABLE(Keyframes, rows, "s m m m", 4,
             "time and displacement from the start, t dx dy dz, by rising time"),
};

static HkStatus check(const void *chosen, HkError *error) {
  const HkTable *rows = &((const Keyframes *)chosen)->rows;
  if (rows->rows < 1)
    return hk_fail(error, HK_ERROR_INVALID, "rows: keyframes need at least one row t dx dy dz");
  for (int q = 1; q < rows->rows; q++) {
    double before = rows->values[4 * (q - 1)], t = rows->values[4 * q];
    if (!(t > before))
      return hk_fail(error, HK_ERROR_INVALID,
                     "rows: row %d (counted from 0) is at %g s, not after the row before it at "
                     "%g s; times must rise",
                     q, t, before);
  }
  return HK_OK;
}

/* The last row that is not after t, or -1. */
static int row_at(const HkTable *rows, double t) {
  int low = -1, high = rows->rows;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (rows->values[4 * (int64_t)middle] <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static void at(const void *chosen, double t, const double x0[3], double x[3], double v[3]) {
  const HkTable *rows = &((const Keyframes *)chosen)->rows;
  int last = rows->rows - 1, row = row_at(rows, t);
  memcpy(x, x0, 3 * sizeof *x);
  memset(v, 0, 3 * sizeof *v);
  if (last < 0) return;
  const double *from = rows->values + 4 * (int64_t)(row < 0 ? 0 : row);
  if (row < 0 || row == last) {
    for (int c = 0; c < 3; c++) x[c] += from[1 + c];
    return;
  }
  const double *to = from + 4;
  double span = to[0] - from[0], s = (t - from[0]) / span;
  for (int c = 0; c < 3; c++) {
    double change = to[1 + c] - from[1 + c];
    x[c] += from[1 + c] + s * change;
    v[c] = change / span;
  }
}

const HkMotionType hk_motion_keyframes = {
    .schema = {.name = "keyframes",
               .summary = "the pin follows a table of displacements, linear between its rows",
               .formula = "x(t) = x0 + d(t), d from the rows t dx dy dz",
               HK_PARAMS(Keyframes, params)},
    .check = check,
    .at = at,
};
