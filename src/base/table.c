/* Tables in time; see table.h.
 *
 * Between the rows (ta, a) and (tb, b):  a + s (b - a), rate (b - a) / (tb - ta), s = (t - ta) /
 * (tb - ta). Before the first row and from the last one on the value is constant and the rate 0; at
 * the time of a row the rate is that of the piece that begins there. One look-up costs log2(rows).
 */
#include "base/table.h"

HkStatus hk_table_check(const HkTable *table, int columns, const char *name, HkError *error) {
  for (int64_t q = 1; q < table->rows; q++) {
    double before = table->values[(q - 1) * columns], t = table->values[q * columns];
    if (!(t > before))
      return hk_fail_key(error, HK_ERROR_INVALID, name,
                         "row %lld is at t = %g s, row %lld before it at %g s; times must rise",
                         (long long)q, t, (long long)(q - 1), before);
  }
  return HK_OK;
}

/* Returns the number of rows with time at most t. */
static int64_t rows_until(const HkTable *table, int columns, double t) {
  int64_t low = 0, high = table->rows;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (table->values[middle * columns] <= t)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the rows a <= t and b behind it, which are the same outside of the table, and s. */
static double find_piece(const HkTable *table, int columns, double t, const double **a,
                         const double **b) {
  int64_t past = rows_until(table, columns, t);
  *a = table->values + (past > 0 ? past - 1 : 0) * columns;
  *b = past > 0 && past < table->rows ? *a + columns : *a;
  return *a == *b ? 0 : (t - (*a)[0]) / ((*b)[0] - (*a)[0]);
}

void hk_table_at(const HkTable *table, int columns, double t, double *values, double *rates) {
  const double *a, *b;
  double s = find_piece(table, columns, t, &a, &b), span = a == b ? 1 : b[0] - a[0];
  for (int c = 1; c < columns; c++) {
    values[c - 1] = a[c] + s * (b[c] - a[c]);
    if (rates) rates[c - 1] = (b[c] - a[c]) / span;
  }
}

int hk_table_weights(const HkTable *table, int columns, double t, const double *row[2],
                     double weight[2], double rate[2]) {
  double s = find_piece(table, columns, t, &row[0], &row[1]);
  bool between = row[0] != row[1];
  double span = between ? row[1][0] - row[0][0] : 1;
  weight[0] = 1 - s;
  weight[1] = s;
  if (rate) rate[0] = between ? -1 / span : 0;
  if (rate) rate[1] = between ? 1 / span : 0;
  return between ? 2 : 1;
}
