/* The damping matrix C = -df/dv of all forces at a state, positive semidefinite; see hessian.h.
 *
 * Springs, drag and handles have a symmetric negative semidefinite df/dv; wind on faces gives one
 * near its own (face_wind.c), and the rest of it counts explicitly. Drag and handles alone leave
 * only the diagonal.
 */
#include "linear/hessian.h"

typedef struct Pour {
  HkJacobianSink sink;
  HkBlockMatrix *C;
} Pour;

/* -1/2 (D + D^T) */
static void pour_own(HkBlockMatrix *C, int32_t i, const double D[9]) {
  double *at = C->value + 9 * C->pattern->diagonal[i];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) at[3 * r + c] -= 0.5 * (D[3 * r + c] + D[3 * c + r]);
}

static void pour_half(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  HkBlockMatrix *C = ((Pour *)sink)->C;
  if (i == j) {
    pour_own(C, i, block);
    return;
  }
  C->only_diagonal = false;
  double *at = C->value + 9 * hk_pattern_find(C->pattern, i, j);
  double *mirror = C->value + 9 * hk_pattern_find(C->pattern, j, i);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      at[3 * r + c] -= 0.5 * block[3 * r + c];
      mirror[3 * c + r] -= 0.5 * block[3 * r + c];
    }
}

void hk_damping_assemble(const HkModel *m, const HkForceWork *work, double t, const double *x,
                         const double *v, HkBlockMatrix *C) {
  hk_block_matrix_zero(C);
  C->only_diagonal = true;
  Pour pour = {.sink = {hk_jacobian_skip, pour_half}, .C = C};
  for (int q = 0; q < m->force_count; q++) {
    const HkCompiledForce *force = &m->forces[q];
    if (!hk_force_uses_velocity(m, q)) continue;
    HkForceArgs a = hk_force_args(m, q, work, t, x, v);
    (force->type->damping ? force->type->damping : force->type->jacobian)(&a, &pour.sink);
  }
}
