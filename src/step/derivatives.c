/* Derivatives of the potential energy E of a state, for callers:
 *
 *     g = dE/dx (N),   K = df/dx = -dg/dx = -d2E/dx2 (N/m)
 *
 * E is the sum over all forces that have a potential energy, f = -g their force at rest. K is the
 * true derivative: a compressed spring is not projected, so that -K may have negative eigenvalues.
 * Pinned vertices, and z in two dimensions, count as free coordinates.
 *
 * K is assembled into 3 x 3 blocks, one for a vertex and two for a spring (9 n + 18 springs
 * entries), and then written out as triplets: linear in the number of springs.
 */
#include "linear/block_matrix.h"
#include "step/sim.h"

typedef struct Triplets {
  HkTriplets shown; /* first member: the public struct */
  HkContext context;
} Triplets;

typedef struct Sink {
  HkJacobianSink sink;
  HkBlockMatrix *K;
} Sink;

void hk_sim_energy_gradient(HkSim *sim, const HkState *state, double *gradient) {
  const HkModel *m = sim->model;
  double g[3];
  if (hk_sim_use_state(sim, state, NULL) < 0) {
    for (int64_t c = 0; c < 3 * m->n; c++) gradient[c] = NAN; /* the next step returns the error */
    return;
  }
  hk_forces_potential(m, &sim->work, state->time, state->x, sim->f, g);
  for (int64_t c = 0; c < 3 * m->n; c++) gradient[c] = 0 - sim->f[c] - m->mass[c / 3] * g[c % 3];
}

/* ---- Assembly ---- */

static void add_block(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  HkBlockMatrix *K = ((Sink *)sink)->K;
  int64_t place = hk_pattern_find(K->pattern, i, j);
  HK_ASSERT(place >= 0);
  double *at = K->value + 9 * place;
  for (int c = 0; c < 9; c++) at[c] += block[c];
}

static void assemble(HkSim *sim, const HkState *state, HkBlockMatrix *K) {
  const HkModel *m = sim->model;
  Sink sink = {.sink = {.dfdx = add_block, .dfdv = hk_jacobian_skip}, .K = K};
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (!type->energy || !type->jacobian) continue;
    HkForceArgs a = hk_force_args(m, f, &sim->work, state->time, state->x, NULL);
    type->jacobian(&a, &sink.sink);
  }
}

/* Makes the pattern: neighbors in the model, and all other pairs that forces couple at the
 * state. */
static HkStatus make_pattern(HkSim *sim, const HkState *state, HkPattern *pattern, HkError *error) {
  const HkModel *m = sim->model;
  HkForceBlocks blocks = {0};
  HkPattern neighbors = {0};
  HkStatus status = hk_pattern_create(m, &neighbors, NULL, error);
  if (status >= 0)
    status =
        hk_force_blocks_evaluate(&blocks, m, &sim->work, state->time, state->x,
                                 &(HkForceBlocksChoice){.curvature = HK_CURVATURE_TRUE}, error);
  if (status >= 0) status = hk_pattern_extend(m, &neighbors, &blocks, pattern, error);
  hk_force_blocks_destroy(m, &blocks);
  hk_pattern_destroy(m, &neighbors);
  return status;
}

/* ---- Triplets ---- */

/* Writes the entries by rising row, then by rising column. */
static void write_entries(const HkBlockMatrix *K, HkTriplets *t) {
  const HkPattern *p = K->pattern;
  int64_t at = 0;
  for (int64_t row = 0; row < 3 * p->n; row++)
    for (int64_t e = p->start[row / 3]; e < p->start[row / 3 + 1]; e++)
      for (int c = 0; c < 3; c++, at++) {
        t->row[at] = (int32_t)row;
        t->column[at] = 3 * p->column[e] + c;
        t->value[at] = K->value[9 * e + 3 * (row % 3) + c];
      }
}

static HkStatus create_triplets(const HkContext *c, int64_t size, int64_t count, HkTriplets **K,
                                HkError *error) {
  Triplets *t = NULL;
  HK_TRY(hk_alloc(c, &t, 1, sizeof *t, "a matrix", error));
  t->context = *c;
  t->shown.size = size;
  t->shown.count = count;
  *K = &t->shown;
  HK_TRY(hk_alloc(c, &t->shown.row, count, sizeof *t->shown.row, "a matrix", error));
  HK_TRY(hk_alloc(c, &t->shown.column, count, sizeof *t->shown.column, "a matrix", error));
  return hk_alloc(c, &t->shown.value, count, sizeof *t->shown.value, "a matrix", error);
}

static HkStatus make_stiffness(HkSim *sim, const HkState *state, HkPattern *pattern,
                               HkBlockMatrix *blocks, HkTriplets **K, HkError *error) {
  const HkModel *m = sim->model;
  HK_TRY(hk_force_work_fit(m, &sim->work, error));
  HK_TRY(make_pattern(sim, state, pattern, error));
  int64_t count = 9 * pattern->start[m->n];
  double entry = sizeof *blocks->value + sizeof *(*K)->value + 2 * sizeof *(*K)->row;
  HK_TRY(hk_memory_check(&m->context, entry * (double)count, "a stiffness matrix", NULL, error));
  HK_TRY(hk_block_matrix_create(m, pattern, blocks, NULL, error));
  HK_TRY(create_triplets(&m->context, 3 * m->n, count, K, error));
  assemble(sim, state, blocks);
  write_entries(blocks, *K);
  return HK_OK;
}

HkStatus hk_sim_stiffness(HkSim *sim, const HkState *state, HkTriplets **K, HkError *error) {
  HkPattern pattern = {0};
  HkBlockMatrix blocks = {0};
  *K = NULL;
  HK_TRY(hk_sim_use_state(sim, state, error));
  HkStatus status = make_stiffness(sim, state, &pattern, &blocks, K, error);
  hk_block_matrix_destroy(sim->model, &blocks);
  hk_pattern_destroy(sim->model, &pattern);
  if (status < 0) hk_triplets_destroy(K);
  return status;
}

void hk_triplets_destroy(HkTriplets **matrix) {
  Triplets *t = (Triplets *)*matrix;
  if (!t) return;
  HkContext c = t->context;
  hk_free(&c, &t->shown.row);
  hk_free(&c, &t->shown.column);
  hk_free(&c, &t->shown.value);
  hk_free(&c, &t);
  *matrix = NULL;
}
