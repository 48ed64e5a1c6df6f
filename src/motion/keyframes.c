/* A pin that follows a table of displacements.
 *
 *     x(t) = x0 + d(t),   v(t) = d'(t),   a(t) = 0
 *
 * Rows are t dx dy dz (s, m), with t rising strictly. d is linear between two rows, and that of the
 * first row before it, that of the last row after it. At a row, where v jumps, v is the limit from
 * later times.
 */
#include "motion/motion.h"

#include "base/table.h"

#include <string.h>

typedef struct Keyframes {
  HkTable table;
} Keyframes;

static const HkParam params[] = {
    HK_TABLE(Keyframes, table, "s, m", 4,
             "rows t dx dy dz: time and displacement from the start, linear between"),
};

static HkStatus check(const void *chosen, HkError *error) {
  const HkTable *table = &((const Keyframes *)chosen)->table;
  if (table->rows < 1)
    return hk_fail_key(error, HK_ERROR_INVALID, "table",
                       "keyframes need at least one row t dx dy dz");
  return hk_table_check(table, 4, "table", error);
}

static void at(const void *chosen, double t, const double x0[3], double x[3], double v[3],
               double a[3]) {
  hk_table_at(&((const Keyframes *)chosen)->table, 4, t, x, v);
  for (int c = 0; c < 3; c++) x[c] += x0[c];
  if (a) memset(a, 0, 3 * sizeof *a);
}

static void columns(const void *chosen, double t, HkMotionSink *sink) {
  const double *row[2];
  double weight[2], rate[2];
  int count = hk_table_weights(&((const Keyframes *)chosen)->table, 4, t, row, weight, rate);
  for (int k = 0; k < count; k++)
    for (int c = 0; c < 3; c++) {
      double dx[3] = {0, 0, 0}, dv[3] = {0, 0, 0};
      dx[c] = weight[k];
      dv[c] = rate[k];
      sink->number(sink, row[k] + 1 + c, dx, dv);
    }
}

const HkMotionType hk_motion_keyframes = {
    .schema = {.name = "keyframes",
               .summary = "the pin follows a table of displacements, linear between its rows",
               .formula = "x(t) = x0 + d(t), d from the table t dx dy dz",
               HK_PARAMS(Keyframes, params)},
    .check = check,
    .at = at,
    .differentiable = "table",
    .columns = columns,
};
