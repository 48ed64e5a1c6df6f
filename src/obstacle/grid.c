/* A signed distance that is given on a regular grid.
 *
 * Within the grid d is the trilinear interpolation phi of the eight values around x; outside of it,
 * with c the point of the grid that is nearest to x, d = phi(c) + |x - c|. The gradient g of d
 * jumps at the faces of cells. n = g / |g|: where the values are distances, |g| is 1 up to the
 * error of the interpolation, so that grad d is |g| n and not n; |g| is at most sqrt(2) outside of
 * the grid. n is 0 where g is. H is the second derivative of d within a cell: that of a trilinear
 * function, whose diagonal is 0. Outside, d overestimates the distance; the grid should contain the
 * surface and some cells around it.
 *
 * The file is a text; # starts a comment:
 *
 *     nx ny nz              numbers of values along x, y, z, each at least 2
 *     x y z                 position of the first value (m)
 *     dx dy dz              spacing (m), above 0
 *     d d d ...             nx ny nz distances (m), below 0 inside; x runs fastest, then y
 */
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "obstacle/surface.h"

#include <string.h>

typedef struct GridObstacle {
  const char *file;
} GridObstacle;

typedef struct Grid {
  int64_t n[3];
  double origin[3], spacing[3]; /* m */
  double value[];               /* m; (i, j, k) is at i + n[0] (j + n[1] k) */
} Grid;

static const HkParam params[] = {
    HK_TEXT(GridObstacle, file,
            "text file, relative to the scene file: nx ny nz, origin, spacing, then the distances"),
};

/* ---- Reading ---- */

static int64_t value_count(const Grid *grid) {
  return grid->n[0] * grid->n[1] * grid->n[2];
}

/* Reads three numbers, which may be on several lines. */
static HkStatus read_three(HkCursor *c, const char *what, double v[3], HkError *error) {
  for (int q = 0; q < 3; q++) {
    hk_skip_space(c, '#');
    HK_TRY(hk_next_double(c, &v[q], what, error));
  }
  return HK_OK;
}

static HkStatus read_counts(HkCursor *c, Grid *head, HkError *error) {
  int64_t most = c->end - c->at; /* each value takes at least one byte */
  for (int q = 0; q < 3; q++) {
    hk_skip_space(c, '#');
    HkCursor before = *c;
    HK_TRY(hk_next_int(c, &head->n[q], "number of values along an axis", error));
    if (head->n[q] < 2)
      return hk_cursor_fail(&before, error, "%lld values along an axis; at least 2 are needed",
                            (long long)head->n[q]);
    if (head->n[q] > most)
      return hk_cursor_fail(&before, error, "the file is too short for so many values");
    most /= head->n[q];
  }
  return HK_OK;
}

static HkStatus read_head(HkCursor *c, Grid *head, HkError *error) {
  HK_TRY(read_counts(c, head, error));
  HK_TRY(read_three(c, "origin", head->origin, error));
  hk_skip_space(c, '#');
  HkCursor before = *c;
  HK_TRY(read_three(c, "spacing", head->spacing, error));
  for (int q = 0; q < 3; q++)
    if (!(head->spacing[q] > 0))
      return hk_cursor_fail(&before, error, "spacing %g m: must be above 0", head->spacing[q]);
  return HK_OK;
}

static HkStatus read_values(HkCursor *c, Grid *grid, HkError *error) {
  int64_t count = value_count(grid);
  for (int64_t q = 0; q < count; q++) {
    hk_skip_space(c, '#');
    if (hk_at_end(c))
      return hk_cursor_fail(c, error, "the file ends after %lld of %lld values", (long long)q,
                            (long long)count);
    HK_TRY(hk_next_double(c, &grid->value[q], "distance", error));
  }
  hk_skip_space(c, '#');
  if (!hk_at_end(c))
    return hk_cursor_fail(c, error, "there is more than the %lld values", (long long)count);
  return HK_OK;
}

static HkStatus read_grid(const HkContext *context, HkCursor c, Grid **grid, HkError *error) {
  Grid head = {0};
  HK_TRY(read_head(&c, &head, error));
  int64_t bytes = (int64_t)sizeof head + value_count(&head) * (int64_t)sizeof(double);
  HK_TRY(hk_alloc(context, grid, bytes, 1, "a distance grid", error));
  memcpy(*grid, &head, sizeof head);
  HkStatus status = read_values(&c, *grid, error);
  if (status < 0) hk_free(context, grid);
  return status;
}

static HkStatus create(const HkContext *context, const char *folder, const void *chosen,
                       HkObstacleFeatures *features, void **data, HkError *error) {
  const GridObstacle *p = chosen;
  char path[4096], *bytes;
  size_t size;
  Grid *grid = NULL;
  (void)features;
  if (!p->file)
    return hk_fail_key(error, HK_ERROR_INVALID, "file",
                       "is missing; give the name of a file of distances");
  HK_TRY(hk_join_path(folder, p->file, path, sizeof path, error));
  HK_TRY(hk_file_read(context, path, &bytes, &size, error));
  HkLocale locale = hk_locale_enter();
  HkStatus status = read_grid(context, hk_cursor(path, bytes, size), &grid, error);
  hk_locale_leave(&locale);
  hk_free(context, &bytes);
  *data = grid;
  return status;
}

static void destroy(const HkContext *context, void *data) {
  hk_free(context, &data);
}

static size_t count_bytes(const void *data) {
  return data ? sizeof(Grid) + (size_t)value_count(data) * sizeof(double) : 0;
}

/* ---- Distances ---- */

/* The cell around the point of the grid that is nearest to x. */
typedef struct Place {
  double f[3];       /* coordinates of that point within the cell, 0 to 1 */
  double outside[3]; /* m: from that point to x; 0 along axes where x is within the grid */
  double v[8];       /* values at the corners, m; bits 0, 1, 2: upper along x, y, z */
} Place;

static Place find(const Grid *grid, const double x[3]) {
  Place p;
  int64_t i[3];
  for (int c = 0; c < 3; c++) {
    double last = (double)(grid->n[c] - 1), u = (x[c] - grid->origin[c]) / grid->spacing[c];
    double inside = fmin(fmax(u, 0), last); /* 0 where u is NAN */
    i[c] = inside < last ? (int64_t)inside : grid->n[c] - 2;
    p.f[c] = inside - (double)i[c];
    p.outside[c] = inside == u ? 0 : (u - inside) * grid->spacing[c];
  }
  for (int q = 0; q < 8; q++)
    p.v[q] = grid->value[i[0] + (q & 1) +
                         grid->n[0] * (i[1] + (q >> 1 & 1) + grid->n[1] * (i[2] + (q >> 2)))];
  return p;
}

/* Derivative of the interpolation along the axes whose bits are set in `along`, each at most once;
 * 0: its value. */
static double derivative(const Grid *grid, const Place *p, int along) {
  double sum = 0;
  for (int q = 0; q < 8; q++) {
    double weight = 1;
    for (int c = 0; c < 3; c++) {
      bool upper = q >> c & 1;
      if (along >> c & 1)
        weight *= (upper ? 1 : -1) / grid->spacing[c];
      else
        weight *= upper ? p->f[c] : 1 - p->f[c];
    }
    sum += weight * p->v[q];
  }
  return sum;
}

/* Of an axis along which x is outside of the grid the interpolation does not depend on x; there
 * |x - c| has the gradient e and the second derivative (I - e e^T) / |x - c|. */
static double distance(const void *chosen, const void *data, const double x[3], double n[3],
                       double H[9]) {
  const Grid *grid = data;
  Place p = find(grid, x);
  double e[3], g[3], far = hk_norm(p.outside);
  (void)chosen;
  hk_unit(p.outside, e);
  for (int c = 0; c < 3; c++) g[c] = p.outside[c] != 0 ? e[c] : derivative(grid, &p, 1 << c);
  hk_unit(g, n);
  for (int r = 0; H && r < 3; r++)
    for (int c = 0; c < 3; c++) {
      bool out_r = p.outside[r] != 0, out_c = p.outside[c] != 0;
      H[3 * r + c] = 0;
      if (out_r && out_c)
        H[3 * r + c] = ((r == c) - e[r] * e[c]) / far;
      else if (!out_r && !out_c && r != c)
        H[3 * r + c] = derivative(grid, &p, 1 << r | 1 << c);
    }
  return derivative(grid, &p, 0) + far;
}

/* ---- Drawing ---- */

static double distance_of(const void *data, const double x[3], double n[3]) {
  return distance(NULL, data, x, n, NULL);
}

/* The surface within the grid, with the cells of the grid, or with fewer if it is fine. */
static void draw(const void *data, const double low[3], const double high[3],
                 HkSurfaceBuilder *builder) {
  enum { CELLS_MAX = 64 };
  const Grid *grid = data;
  double last[3];
  int cells[3];
  (void)low;
  (void)high;
  for (int c = 0; c < 3; c++) {
    int64_t own = grid->n[c] - 1;
    last[c] = grid->origin[c] + (double)own * grid->spacing[c];
    cells[c] = own < CELLS_MAX ? (int)own : CELLS_MAX;
  }
  hk_surface_add_isosurface(builder, distance_of, grid, grid->origin, last, cells);
}

const HkObstacleType hk_obstacle_grid = {
    .schema = {.name = "grid",
               .summary = "signed distances on a regular grid, from a text file",
               .formula = "d = trilinear interpolation of the distances, below 0 inside",
               HK_PARAMS(GridObstacle, params)},
    .create = create,
    .destroy = destroy,
    .bytes = count_bytes,
    .distance = distance,
    .draw = draw,
};
