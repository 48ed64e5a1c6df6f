/* The damping matrix C = -df/dv of all forces at a state, positive semidefinite; see hessian.h.
 *
 * Springs, drag and handles have a symmetric negative semidefinite df/dv; wind on faces gives one
 * near its own (face_wind.c), and the rest of it counts explicitly. Drag and handles alone leave
 * only the diagonal.
 */
#include "linear/hessian.h"

#include <string.h>

typedef struct Collector {
  HkJacobianSink sink;
  HkBlockMatrix *C;
  HkForceBlocks *missing; /* blocks that the pattern of C does not have */
  const HkContext *context;
  HkStatus status;
  HkError *error;
} Collector;

/* at -= 1/2 D, or 1/2 D^T */
static void subtract_half(double *at, const double D[9], bool transposed) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) at[3 * r + c] -= 0.5 * D[transposed ? 3 * c + r : 3 * r + c];
}

/* The diagonal gets -1/2 (D + D^T). */
static void add_own(HkBlockMatrix *C, int32_t i, const double D[9]) {
  double *at = C->value + 9 * C->pattern->diagonal[i];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) at[3 * r + c] -= 0.5 * (D[3 * r + c] + D[3 * c + r]);
}

static void note_missing(Collector *a, int32_t i, int32_t j) {
  HkForceBlocks *b = a->missing;
  if (a->status >= 0)
    a->status = hk_grow(a->context, &b->block, &b->capacity, b->count + 1, sizeof *b->block,
                        "the damping matrix", a->error);
  if (a->status >= 0) b->block[b->count++] = (HkForceBlock){.row = i, .column = j};
}

static void add_dfdv(HkJacobianSink *sink, int32_t i, int32_t j, const double D[9]) {
  Collector *a = (Collector *)sink;
  HkBlockMatrix *C = a->C;
  if (i == j) {
    add_own(C, i, D);
    return;
  }
  C->only_diagonal = false;
  int64_t at = hk_pattern_find(C->pattern, i, j), mirror = hk_pattern_find(C->pattern, j, i);
  if (at < 0) note_missing(a, i, j);
  if (mirror < 0) note_missing(a, j, i);
  if (at < 0 || mirror < 0) return;
  subtract_half(C->value + 9 * at, D, false);
  subtract_half(C->value + 9 * mirror, D, true);
}

static HkStatus sum_blocks(const HkModel *m, const HkForceWork *work, double t, const double *x,
                           const double *v, HkDamping *damping, HkError *error) {
  HkBlockMatrix *C = &damping->C;
  Collector a = {.sink = {.dfdx = hk_jacobian_skip, .dfdv = add_dfdv},
                 .C = C,
                 .missing = &damping->missing,
                 .context = &m->context,
                 .error = error};
  hk_block_matrix_zero(C);
  C->only_diagonal = true;
  damping->missing.count = 0;
  for (int f = 0; f < m->force_count; f++) {
    const HkCompiledForce *force = &m->forces[f];
    if (!hk_force_uses_velocity(m, work, f)) continue;
    HkForceArgs args = hk_force_args(m, f, work, t, x, v);
    (force->type->damping ? force->type->damping : force->type->jacobian)(&args, &a.sink);
  }
  return a.status;
}

/* C on its present pattern and the blocks that are missing there. */
static HkStatus extend(const HkModel *m, HkDamping *damping, HkError *error) {
  HkPattern next;
  HkBlockMatrix C;
  HK_TRY(hk_force_blocks_sort(&damping->missing, m, error));
  HK_TRY(hk_pattern_extend(m, damping->C.pattern, &damping->missing, &next, error));
  HkStatus status = hk_block_matrix_create(m, &next, &C, NULL, error);
  if (status < 0) {
    hk_pattern_destroy(m, &next);
    return status;
  }
  hk_block_matrix_destroy(m, &damping->C);
  hk_pattern_destroy(m, &damping->extended);
  damping->extended = next;
  damping->C = C;
  damping->C.pattern = &damping->extended;
  return HK_OK;
}

HkStatus hk_damping_assemble(const HkModel *m, const HkForceWork *work, const HkPattern *pattern,
                             double t, const double *x, const double *v, HkDamping *damping,
                             HkError *error) {
  if (!damping->C.value) HK_TRY(hk_block_matrix_create(m, pattern, &damping->C, NULL, error));
  HK_TRY(sum_blocks(m, work, t, x, v, damping, error));
  if (damping->missing.count == 0) return HK_OK;
  HK_TRY(extend(m, damping, error));
  return sum_blocks(m, work, t, x, v, damping, error);
}

size_t hk_damping_bytes(const HkDamping *damping) {
  if (!damping->C.value) return 0;
  const HkPattern *p = damping->C.pattern;
  return (size_t)p->start[p->n] * 9 * sizeof *damping->C.value +
         hk_pattern_bytes(&damping->extended) + hk_force_blocks_bytes(&damping->missing);
}

void hk_damping_destroy(const HkModel *m, HkDamping *damping) {
  hk_block_matrix_destroy(m, &damping->C);
  hk_pattern_destroy(m, &damping->extended);
  hk_force_blocks_destroy(m, &damping->missing);
}
