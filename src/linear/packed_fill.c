/* The values of a packed factor; see packed.h and kernels/packed_solve_single.c.
 *
 * For each panel P = [T; -G] with T = L1^-1, the inverse of its triangle, and G = L2 T of the rows
 * below, computed in double precision. L L^T is the matrix times 1 / scale, a power of 4 that
 * brings the largest diagonal entry near 1: then single precision neither overflows nor underflows
 * for matrices of any units. T is that of the scaled L; G does not change.
 */
#include "base/threads.h"
#include "linear/packed_type.h"

#include <math.h>
#include <string.h>

typedef struct Fill {
  HkPacked *p;
  const HkSupernodes *v;
  double unit; /* of L: a power of 2 */
} Fill;

/* One panel: columns `column` .. of supernode s. */
typedef struct Panel {
  int64_t rows;                              /* of it, from its first diagonal entry on */
  int64_t stride;                            /* of its columns */
  const double *value;                       /* its first diagonal entry */
  double column_scale[HK_PANEL_COLUMNS_MAX]; /* sqrt d, or 1 */
  double T[HK_PANEL_COLUMNS_MAX][HK_PANEL_COLUMNS_MAX]; /* row, column */
} Panel;

/* L as it is with L L^T. */
static double entry(const Panel *a, bool unit_diagonal, int64_t i, int j) {
  if (i == j && unit_diagonal) return a->column_scale[j];
  return a->value[j * a->stride + i] * a->column_scale[j];
}

static void invert(Panel *a, bool unit_diagonal, int columns) {
  for (int j = 0; j < columns; j++) {
    a->T[j][j] = 1 / entry(a, unit_diagonal, j, j);
    for (int i = 0; i < j; i++) a->T[i][j] = 0;
    for (int i = j + 1; i < columns; i++) {
      double sum = 0;
      for (int k = j; k < i; k++) sum += entry(a, unit_diagonal, i, k) * a->T[k][j];
      a->T[i][j] = -sum / entry(a, unit_diagonal, i, i);
    }
  }
}

/* The rows of one tile: out[j] has HK_TILE rows of column j of P. */
static void fill_tile(const Panel *a, int columns, int64_t tile, double unit,
                      double out[HK_PANEL_COLUMNS_MAX][HK_TILE]) {
  double L[HK_PANEL_COLUMNS_MAX][HK_TILE] = {{0}};
  int64_t first = tile * HK_TILE, last = a->rows < first + HK_TILE ? a->rows : first + HK_TILE;
  for (int k = 0; k < columns; k++)
    for (int64_t i = first > columns ? first : columns; i < last; i++)
      L[k][i - first] = a->value[k * a->stride + i] * a->column_scale[k];
  for (int j = 0; j < columns; j++) {
    double sum[HK_TILE] = {0};
    for (int k = j; k < columns; k++)
      for (int i = 0; i < HK_TILE; i++) sum[i] -= L[k][i] * a->T[k][j];
    for (int64_t i = first; i < columns && i < last; i++) sum[i - first] = unit * a->T[i][j];
    memcpy(out[j], sum, sizeof sum);
  }
}

static void fill_panel(const Fill *f, const HkPackedPanel *panel, int64_t s, int64_t column) {
  const HkSupernodes *v = f->v;
  Panel a;
  double tile[HK_PANEL_COLUMNS_MAX][HK_TILE];
  a.stride = v->start[s + 1] - v->start[s];
  a.rows = a.stride - column;
  a.value = v->value + v->panel[s] + column * (a.stride + 1);
  for (int j = 0; j < panel->columns; j++)
    a.column_scale[j] = v->d ? sqrt(v->d[v->first[s] + column + j]) : 1;
  invert(&a, v->d != NULL, panel->columns);
  for (int t = 0; t < panel->tiles; t++) {
    float *group = f->p->value + panel->value;
    fill_tile(&a, panel->columns, t, f->unit, tile);
    for (int g = 0; g < panel->columns; g += HK_GROUP) {
      int count = hk_packed_group(panel, g), skip = g / HK_TILE;
      float *to = group + (int64_t)(t - skip) * count * HK_TILE;
      for (int j = 0; t >= skip && j < count; j++)
        for (int i = 0; i < HK_TILE; i++) to[j * HK_TILE + i] = (float)tile[g + j][i];
      group += hk_packed_group_size(panel, g);
    }
  }
}

static void fill_part(void *user, int part_index) {
  const Fill *f = user;
  const HkPacked *p = f->p;
  const HkPackedPanel *panel = p->panel + p->part[part_index].panel;
  for (int64_t e = p->part[part_index].supernode; e < p->part[part_index].supernode_end; e++) {
    int64_t s = p->supernode[e], columns = f->v->first[s + 1] - f->v->first[s];
    for (int64_t k = 0; k < columns; k += HK_PANEL_COLUMNS_MAX) fill_panel(f, panel++, s, k);
  }
}

/* The power of 2 next to the largest diagonal entry of L. */
static double find_unit(const HkSupernodes *v) {
  double largest = 0;
  int exponent = 0;
  for (int64_t s = 0; s < v->count; s++) {
    int64_t rows = v->start[s + 1] - v->start[s];
    for (int64_t k = v->first[s]; k < v->first[s + 1]; k++) {
      double l = v->d ? sqrt(v->d[k]) : v->value[v->panel[s] + (k - v->first[s]) * (rows + 1)];
      if (l > largest) largest = l;
    }
  }
  frexp(largest, &exponent);
  return ldexp(1, exponent);
}

HkStatus hk_packed_fill(HkPacked *p, const HkSupernodes *view, int threads, HkError *error) {
  if (p->n == 0) return HK_OK;
  if (!p->value) {
    HK_TRY(hk_alloc_aligned(&p->context, &p->value_block, &p->value, p->values + HK_PREFETCH_FLOATS,
                            sizeof *p->value, "a packed factor", error));
    p->value += HK_PREFETCH_FLOATS;
  }
  Fill f = {.p = p, .v = view, .unit = find_unit(view)};
  p->scale = 1 / (f.unit * f.unit);
  hk_parallel_tasks(threads, p->parts + 1, fill_part, &f);
  return HK_OK;
}
