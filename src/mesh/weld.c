/* Welding by a uniform hash grid; see weld.h.
 *
 * Space is cut into cubes of edge a = 2.5 t for the tolerance t. Vertices are visited in order; one
 * that has no kept vertex within t is kept and entered into its cube floor(x / a), every other one
 * is welded to the lowest-numbered kept vertex within t. A vertex within t of x lies in the cube of
 * x or in the next one on the side of x on each axis: 8 cubes. Kept vertices are more than t apart,
 * so that a cube holds a bounded number of them, and welding is linear in the number of vertices
 * however many lie at one position. With t = 0 the position itself is the cube.
 *
 * Rounding: x / a is good to 2^-53 |x / a|. The tenth of a cube to spare (2.5 t instead of 2 t)
 * covers that up to 2^40; from there both neighbors are searched, and from 2^53 on neighboring
 * doubles are further apart than t anyway.
 */
#include "mesh/weld.h"

#include <math.h>
#include <string.h>

typedef struct Grid {
  const double *x;
  double tolerance, edge;
  int32_t *head; /* first kept vertex of a slot, plus 1; 0: none */
  int32_t *next; /* of a kept vertex: the next one in the slot, plus 1 */
  uint64_t mask; /* number of slots - 1, a power of two less one */
} Grid;

/* The cube along one axis; *side is -1 or 1, the neighbor that may hold vertices within the
 * tolerance, 0: none, 2: both. */
static double cube_of(const Grid *g, double x, int *side) {
  *side = 0;
  if (g->tolerance == 0) return x + 0.0; /* -0 becomes 0 */
  double q = x / g->edge;
  if (!isfinite(q)) return x; /* so far from 0 that only the same number is within the tolerance */
  double cube = floor(q);
  *side = fabs(q) > 0x1p40 ? 2 : q - cube < 0.5 ? -1 : 1;
  return cube + 0.0;
}

static uint64_t slot_of(const Grid *g, const double cube[3]) {
  uint64_t bits[3], h = 0x9e3779b97f4a7c15ull;
  memcpy(bits, cube, sizeof bits);
  for (int q = 0; q < 3; q++) {
    h = (h ^ bits[q]) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return (h * 0xc4ceb9fe1a85ec53ull >> 20) & g->mask;
}

static bool is_near(const Grid *g, const double *a, const double *b) {
  if (g->tolerance == 0) return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
  double dx = fabs(a[0] - b[0]), dy = fabs(a[1] - b[1]), dz = fabs(a[2] - b[2]);
  if (dx > g->tolerance || dy > g->tolerance || dz > g->tolerance) return false;
  return hypot(hypot(dx, dy), dz) <= g->tolerance;
}

/* Returns the lowest of best and the kept vertices of a cube within the tolerance of v. */
static int32_t search_cube(const Grid *g, const double cube[3], int64_t v, int32_t best) {
  for (int32_t k = g->head[slot_of(g, cube)]; k != 0; k = g->next[k - 1])
    if (k - 1 < best && is_near(g, g->x + 3 * (int64_t)(k - 1), g->x + 3 * v)) best = k - 1;
  return best;
}

/* Returns the lowest kept vertex within the tolerance of v, or v. */
static int32_t find_target(const Grid *g, int64_t v, const double home[3], const int side[3]) {
  int32_t best = (int32_t)v;
  int low[3], high[3];
  for (int q = 0; q < 3; q++) {
    low[q] = side[q] == -1 || side[q] == 2 ? -1 : 0;
    high[q] = side[q] == 1 || side[q] == 2 ? 1 : 0;
  }
  for (int i = low[0]; i <= high[0]; i++)
    for (int j = low[1]; j <= high[1]; j++)
      for (int k = low[2]; k <= high[2]; k++) {
        double cube[3] = {home[0] + i, home[1] + j, home[2] + k};
        best = search_cube(g, cube, v, best);
      }
  return best;
}

static void fill_targets(Grid *g, int64_t count, int32_t *target) {
  for (int64_t v = 0; v < count; v++) {
    double home[3];
    int side[3];
    for (int q = 0; q < 3; q++) home[q] = cube_of(g, g->x[3 * v + q], &side[q]);
    target[v] = find_target(g, v, home, side);
    if (target[v] != v) continue;
    uint64_t slot = slot_of(g, home);
    g->next[v] = g->head[slot];
    g->head[slot] = (int32_t)v + 1;
  }
}

HkStatus hk_weld(const HkContext *context, const double *x, int64_t count, double tolerance,
                 int32_t *target, HkError *error) {
  Grid g = {.x = x, .tolerance = tolerance, .edge = 2.5 * tolerance};
  uint64_t slots = 16;
  while (slots < (uint64_t)count) slots *= 2;
  g.mask = slots - 1;
  HkStatus status = hk_alloc(context, &g.head, (int64_t)slots, sizeof *g.head, "welding", error);
  if (status >= 0) status = hk_alloc(context, &g.next, count, sizeof *g.next, "welding", error);
  if (status >= 0) fill_targets(&g, count, target);
  hk_free(context, &g.head);
  hk_free(context, &g.next);
  return status;
}

int64_t hk_weld_numbers(int32_t *number, int64_t count) {
  int64_t kept = 0;
  /* A target is never higher than the vertex, so it has its new number already. */
  for (int64_t v = 0; v < count; v++)
    number[v] = number[v] == v ? (int32_t)kept++ : number[number[v]];
  return kept;
}

void hk_mesh_renumber(HkMesh *mesh, const int32_t *number, int64_t new_count) {
  int64_t filled = 0;
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    if (number[v] != filled) continue;
    if (v != filled) memcpy(mesh->x + 3 * filled, mesh->x + 3 * v, 3 * sizeof *mesh->x);
    filled++;
  }
  mesh->vertex_count = new_count;
  for (int64_t q = 0; q < mesh->corner_count; q++)
    mesh->cell_vertex[q] = number[mesh->cell_vertex[q]];
}
