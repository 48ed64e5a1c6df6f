/* Forces whose stiffness has no bound in a step; see unbounded.h. */
#include "minimize/unbounded.h"

#include "base/vec.h"

/* Conjugate gradients end when r . A^-1 r has fallen by the square of ACCURACY. It is the norm of
 * the residual that masses of any ratio leave as it is. */
static const double ACCURACY = 1e-2;
enum { ITERATIONS_MAX = 200 };

/* ---- Blocks ---- */

/* In two dimensions nothing couples to z. */
static void flatten(HkForceBlocks *b) {
  for (int64_t e = 0; e < b->count; e++)
    for (int q = 0; q < 9; q++)
      if (q % 3 == 2 || q / 3 == 2) b->block[e].dfdx[q] = 0;
  for (int64_t t = 0; t < b->terms.count; t++) {
    double *K = b->terms.term[t].K;
    K[2] = K[4] = K[5] = 0;
  }
}

HkStatus hk_unbounded_evaluate(HkUnbounded *u, const double *x, bool *any, HkError *error) {
  const HkProblem *p = u->problem;
  HkForceBlocks *b = &u->blocks;
  HkForceBlocksChoice choice = {
      .curvature = HK_CURVATURE_PROJECTED, .terms = true, .unbounded = true, .held = p->held.mask};
  HK_TRY(hk_force_blocks_evaluate(b, p->model, p->work, p->t, x, &choice, error));
  if (p->model->dimension == 2) flatten(b);
  *any = b->count > 0 || b->terms.count > 0;
  return HK_OK;
}

void hk_unbounded_destroy(HkUnbounded *u) {
  if (!u->problem) return;
  const HkModel *m = u->problem->model;
  hk_force_blocks_destroy(m, &u->blocks);
  double **vectors[] = {&u->r, &u->z, &u->q, &u->Aq, &u->Bq};
  for (int k = 0; k < 5; k++) hk_free(&m->context, vectors[k]);
}

size_t hk_unbounded_bytes(const HkUnbounded *u) {
  size_t vectors = u->r ? 5 * hk_vector_bytes(u->problem->model->n) : 0;
  return vectors + hk_force_blocks_bytes(&u->blocks);
}

/* ---- Conjugate gradients ---- */

/* All of them or, after an error, none. */
static HkStatus need_vectors(HkUnbounded *u, HkError *error) {
  const HkModel *m = u->problem->model;
  double **vectors[] = {&u->r, &u->z, &u->q, &u->Aq, &u->Bq};
  HkStatus status = HK_OK;
  if (u->r) return HK_OK;
  for (int k = 0; k < 5 && status >= 0; k++)
    status = hk_alloc_vector(&m->context, vectors[k], m->n, "a linear system", error);
  for (int k = 0; k < 5 && status < 0; k++) hk_free(&m->context, vectors[k]);
  return status;
}

static void product_range(void *user, int64_t begin, int64_t end) {
  const HkUnbounded *u = user;
  const HkForceBlocks *blocks = &u->blocks;
  double square = u->problem->tau * u->problem->tau;
  for (int64_t row = begin; row < end; row++) {
    double sum[3] = {0, 0, 0},
           *out = u->Bq + 3 * (int64_t)blocks->block[blocks->row_start[row]].row;
    for (int64_t e = blocks->row_start[row]; e < blocks->row_start[row + 1]; e++)
      hk_mat_add_product(blocks->block[e].dfdx, u->q + 3 * (int64_t)blocks->block[e].column, sum);
    for (int c = 0; c < 3; c++) out[c] = -square * sum[c];
  }
}

/* Bq = tau^2 B q */
static void multiply(HkUnbounded *u) {
  const HkVectors *space = &u->problem->space;
  const HkProblem *p = u->problem;
  double square = p->tau * p->tau;
  hk_vectors_zero(space, u->Bq);
  hk_parallel_for(space->threads, u->blocks.row_count, product_range, u);
  if (u->blocks.terms.count > 0)
    hk_weighted_product(&u->blocks.terms, space->threads, p->held.mask, square, u->q, u->Bq);
}

HkStatus hk_unbounded_solve(HkUnbounded *u, const double *g, double *p, int *iterations,
                            HkError *error) {
  HkProblem *problem = u->problem;
  const HkVectors *space = &problem->space;
  HK_TRY(need_vectors(u, error));
  hk_vectors_copy(space, g, u->r);
  hk_vectors_scale(space, -1, u->r);
  hk_vectors_zero(space, p);
  HK_TRY(hk_prefactor_solve(problem->prefactor, 1, u->r, u->z, error));
  hk_vectors_copy(space, u->z, u->q);
  hk_vectors_copy(space, u->r, u->Aq);
  double rz = hk_vectors_dot(space, u->r, u->z), goal = ACCURACY * ACCURACY * rz;
  ++*iterations;
  for (int it = 0; it < ITERATIONS_MAX && rz > goal; it++, ++*iterations) {
    HK_TRY(hk_cancel_check(problem->cancel, error));
    multiply(u);
    hk_vectors_add(space, 1, u->Aq, u->Bq, u->Bq);
    double curvature = hk_vectors_dot(space, u->q, u->Bq);
    if (!(curvature > 0)) break; /* rounding has the word */
    hk_vectors_step(space, rz / curvature, u->q, u->Bq, p, u->r);
    HK_TRY(hk_prefactor_solve(problem->prefactor, 1, u->r, u->z, error));
    double next = hk_vectors_dot(space, u->r, u->z), beta = next / rz;
    hk_vectors_add(space, beta, u->q, u->z, u->q);
    hk_vectors_add(space, beta, u->Aq, u->r, u->Aq);
    rz = next;
  }
  return HK_OK;
}

/* ---- The diagonal ---- */

/* Whether a symmetric matrix is positive semidefinite but for rounding, by its invariants. */
static bool is_semidefinite(const double A[9]) {
  const double ROUNDING = 1e-12;
  double t = A[0] + A[4] + A[8], minors, determinant;
  minors = A[0] * A[4] - A[1] * A[3] + A[4] * A[8] - A[5] * A[7] + A[0] * A[8] - A[2] * A[6];
  determinant = A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
                A[2] * (A[3] * A[7] - A[4] * A[6]);
  double skew = fabs(A[1] - A[3]) + fabs(A[2] - A[6]) + fabs(A[5] - A[7]);
  return skew <= ROUNDING * t && minors >= -ROUNDING * t * t &&
         determinant >= -ROUNDING * t * t * t;
}

/* By 2 |w_a w_b| |p_a . K p_b| <= |w_a w_b| (p_a . K p_a + p_b . K p_b). */
static void add_term_diagonal(const HkProblem *p, const HkWeightedTerm *t, double s, double *D) {
  double sum = 0,
         K[9] = {t->K[0], t->K[1], t->K[2], t->K[1], t->K[3], t->K[4], t->K[2], t->K[4], t->K[5]};
  for (int a = 0; a < 4; a++)
    if (!p->held.mask[t->vertex[a]]) sum += fabs(t->weight[a]);
  for (int a = 0; a < 4; a++)
    for (int c = 0; c < 9; c++)
      D[9 * (int64_t)t->vertex[a] + c] += s * fabs(t->weight[a]) * sum * K[c];
}

/* A block that is no multiple of a positive semidefinite K counts by its largest row sum. */
void hk_unbounded_add_diagonal(const HkUnbounded *u, double s, double *D) {
  const HkProblem *p = u->problem;
  double square = p->tau * p->tau;
  for (int64_t e = 0; e < u->blocks.count; e++) {
    const HkForceBlock *b = &u->blocks.block[e];
    double A[9], *at = D + 9 * (int64_t)b->row;
    double sign = b->dfdx[0] + b->dfdx[4] + b->dfdx[8] > 0 ? 1 : -1;
    for (int c = 0; c < 9; c++) A[c] = sign * b->dfdx[c];
    if (!is_semidefinite(A)) hk_mat_identity(hk_mat_row_sum(b->dfdx), A);
    for (int c = 0; c < 9; c++) at[c] += s * square * A[c];
  }
  for (int64_t t = 0; t < u->blocks.terms.count; t++)
    add_term_diagonal(p, &u->blocks.terms.term[t], s * square, D);
}
