/* A recorded motion: displacements and rotations at given times, from a file or a table.
 *
 *     x(t) = c + d(t) + R(t) (x0 - c),   v = d' + w x r,   a = w x (w x r),   r = R(t) (x0 - c)
 *
 * Rows are t dx dy dz qw qx qy qz (s, m, 1), with t rising strictly and c the center. d is linear
 * between two rows. R is the rotation of the quaternion (qw, qx, qy, qz), which need not have the
 * length 1; between two rows it turns about a fixed axis at a constant rate w (rad/s), by the
 * shorter way: R(t) = exp(s [p]x) R_a with p the rotation vector of R_b R_a^T, s from 0 to 1
 * (slerp; Shoemake 1985). Before the first row and after the last one all stays. At a row, where v
 * jumps, v is the limit from later times.
 *
 * The file is a text: a row a line, numbers separated by commas, semicolons or blanks, # starts a
 * comment, and a first line that does not begin with a number holds the names of the columns. Rows
 * of four numbers, t dx dy dz, have no rotation.
 */
#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "motion/motion.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, WITHOUT_ROTATION = 4 };

typedef struct Track {
  const char *file;
  HkTable table;
  double center[3];
} Track;

static const HkParam params[] = {
    HK_TEXT(Track, file,
            "text file, relative to the scene file: rows t,dx,dy,dz or t,dx,dy,dz,qw,qx,qy,qz"),
    HK_TABLE(Track, table, "s, m, 1", COLUMNS,
             "in place of the file, rows t dx dy dz qw qx qy qz: time, displacement, and rotation "
             "as a quaternion"),
    HK_VECTOR(Track, center, "m", 0, 0, 0, "the point at time 0 about which rotations turn"),
};

/* ---- Reading ---- */

/* A row on the line of the cursor; *columns is the number of its values, or 0 before the first. */
static HkStatus read_row(HkCursor *c, int *columns, double row[COLUMNS], HkError *error) {
  static const char *const what[COLUMNS] = {"time", "dx", "dy", "dz", "qw", "qx", "qy", "qz"};
  static const double none[4] = {1, 0, 0, 0};
  HkCursor begin = *c;
  int count = 0;
  while (count < COLUMNS && !hk_at_line_end(c) && *c->at != '#') {
    HK_TRY(hk_next_double(c, &row[count], what[count], error));
    count++;
  }
  bool more = !hk_at_line_end(c) && *c->at != '#';
  if (more || (count != COLUMNS && count != WITHOUT_ROTATION))
    return hk_cursor_fail(&begin, error,
                          "%s%d numbers; a row has 4, t dx dy dz, or 8 with qw qx qy qz",
                          more ? "more than " : "", count);
  if (*columns && count != *columns)
    return hk_cursor_fail(&begin, error, "%d numbers, but the first row has %d", count, *columns);
  *columns = count;
  if (count == WITHOUT_ROTATION) memcpy(row + 4, none, sizeof none);
  if (row[4] == 0 && row[5] == 0 && row[6] == 0 && row[7] == 0)
    return hk_cursor_fail(&begin, error, "a quaternion of length 0 is no rotation");
  return HK_OK;
}

static HkStatus append(HkTable *table, int64_t *capacity, const double row[COLUMNS],
                       HkError *error) {
  if (table->rows == *capacity) {
    int64_t more = *capacity ? 2 * *capacity : 64;
    size_t bytes = (size_t)more * COLUMNS * sizeof *row;
    double *grown = more > INT32_MAX ? NULL : realloc(table->values, bytes);
    if (!grown) return hk_fail_memory(error, bytes, "a track");
    table->values = grown;
    *capacity = more;
  }
  memcpy(table->values + (int64_t)table->rows++ * COLUMNS, row, COLUMNS * sizeof *row);
  return HK_OK;
}

static bool is_number(HkCursor c) {
  double value;
  return hk_next_double(&c, &value, "", NULL) >= 0;
}

static HkStatus read_rows(HkCursor c, HkTable *table, HkError *error) {
  int64_t capacity = 0;
  int columns = 0;
  hk_skip_space(&c, '#');
  if (!hk_at_end(&c) && !is_number(c)) hk_skip_line(&c);
  for (hk_skip_space(&c, '#'); !hk_at_end(&c); hk_skip_space(&c, '#')) {
    double row[COLUMNS] = {0};
    HkCursor begin = c;
    HK_TRY(read_row(&c, &columns, row, error));
    if (table->rows > 0 && !(row[0] > table->values[(int64_t)(table->rows - 1) * COLUMNS]))
      return hk_cursor_fail(&begin, error, "t = %g s is not after that of the row before", row[0]);
    HK_TRY(append(table, &capacity, row, error));
  }
  return table->rows > 0 ? HK_OK : hk_cursor_fail(&c, error, "there is no row t,dx,dy,dz");
}

/* Replaces the name of the file by its rows. */
static HkStatus load(const HkContext *context, const char *folder, void *chosen, HkError *error) {
  Track *p = chosen;
  char path[4096], *bytes;
  size_t size;
  if (!p->file) return HK_OK;
  if (p->table.rows > 0)
    return hk_fail_key(error, HK_ERROR_INVALID, "file", "give either a file or a table, not both");
  HK_TRY(hk_join_path(folder, p->file, path, sizeof path, error));
  HK_TRY(hk_file_read(context, path, &bytes, &size, error));
  for (size_t k = 0; k < size; k++)
    if (bytes[k] == ',' || bytes[k] == ';') bytes[k] = ' ';
  HkLocale locale = hk_locale_enter();
  HkStatus status = read_rows(hk_cursor(path, bytes, size), &p->table, error);
  hk_locale_leave(&locale);
  hk_free(context, &bytes);
  free((char *)p->file);
  p->file = NULL;
  return status;
}

static HkStatus check(const void *chosen, HkError *error) {
  const HkTable *table = &((const Track *)chosen)->table;
  if (table->rows < 1)
    return hk_fail_key(error, HK_ERROR_INVALID, "file",
                       "is missing; give a file with rows t,dx,dy,dz, or a table");
  for (int64_t k = 0; k < table->rows; k++) {
    const double *q = table->values + k * COLUMNS + 4;
    if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0)
      return hk_fail_key(error, HK_ERROR_INVALID, "table",
                         "row %lld has a quaternion of length 0, which is no rotation",
                         (long long)k);
  }
  return hk_table_check(table, COLUMNS, "table", error);
}

/* ---- Motion ---- */

static void unit_quaternion(const double *row, double q[4]) {
  double largest = 0, length = 0;
  for (int k = 0; k < 4; k++) largest = hk_larger(largest, fabs(row[4 + k]));
  for (int k = 0; k < 4; k++) q[k] = row[4 + k] / largest;
  for (int k = 0; k < 4; k++) length += q[k] * q[k];
  for (int k = 0; k < 4; k++) q[k] /= sqrt(length);
}

/* y = the rotation of q applied to r: r + 2 u x (u x r + w r). */
static void rotate(const double q[4], const double r[3], double y[3]) {
  double first[3], second[3];
  hk_cross(q + 1, r, first);
  hk_axpy(q[0], r, first);
  hk_cross(q + 1, first, second);
  for (int c = 0; c < 3; c++) y[c] = r[c] + 2 * second[c];
}

/* The rotation vector (rad) that leads from a to b by the shorter way: b conj(a). */
static void difference(const double a[4], const double b[4], double p[3]) {
  double w = a[0] * b[0] + hk_dot(a + 1, b + 1), u[3];
  hk_cross(a + 1, b + 1, u);
  for (int c = 0; c < 3; c++) u[c] = a[0] * b[1 + c] - b[0] * a[1 + c] + u[c];
  double sine = hk_norm(u), sign = w < 0 ? -1 : 1;
  double angle = 2 * atan2(sine, fabs(w));
  for (int c = 0; c < 3; c++) p[c] = sine > 0 ? sign * angle / sine * u[c] : 0;
}

/* The rows around a time: the same one twice outside of the table. */
static double find_rows(const HkTable *table, double t, const double **a, const double **b) {
  int64_t low = 0, high = table->rows;
  while (low < high) { /* rows with a time of at most t */
    int64_t middle = low + (high - low) / 2;
    if (table->values[middle * COLUMNS] <= t)
      low = middle + 1;
    else
      high = middle;
  }
  bool between = low > 0 && low < table->rows;
  *a = table->values + (low > 0 ? low - 1 : 0) * COLUMNS;
  *b = between ? *a + COLUMNS : *a;
  return between ? (t - **a) / (**b - **a) : 0;
}

static void at(const void *chosen, double t, const double x0[3], double x[3], double v[3],
               double a[3]) {
  const Track *p = chosen;
  const double *from, *to;
  double s = find_rows(&p->table, t, &from, &to), span = to > from ? to[0] - from[0] : 1;
  double q[4], end[4], turn[3], axis[3], R[9], arm[3], start[3], r[3] = {0, 0, 0}, w[3];
  unit_quaternion(from, q);
  unit_quaternion(to, end);
  difference(q, end, turn);
  double angle = hk_norm(turn);
  hk_sub(x0, p->center, arm);
  rotate(q, arm, start);
  if (hk_unit(turn, axis)) {
    hk_mat_rotation(axis, s * angle, R);
    hk_mat_add_product(R, start, r);
  } else {
    memcpy(r, start, sizeof r);
  }
  for (int c = 0; c < 3; c++) w[c] = turn[c] / span;
  hk_cross(w, r, v);
  if (a) hk_cross(w, v, a);
  for (int c = 0; c < 3; c++) {
    double d = to[1 + c] - from[1 + c];
    x[c] = p->center[c] + from[1 + c] + s * d + r[c];
    v[c] += d / span;
  }
}

const HkMotionType hk_motion_track = {
    .schema = {.name = "track",
               .summary = "a recorded motion: displacements and rotations from a file",
               .formula = "x(t) = c + d(t) + R(t) (x0 - c), linear and slerp between the rows",
               HK_PARAMS(Track, params)},
    .load = load,
    .check = check,
    .at = at,
};
