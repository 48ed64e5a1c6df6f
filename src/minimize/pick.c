/* What an implicit step is solved with where nobody has said it.
 *
 *     few vertices        newton with a direct solver, to rounding
 *     curves, surfaces    newton with pcg and multigrid: springs there turn far more than they
 *                         stretch, and the constant matrix of local_global takes both for equally
 *                         stiff
 *     solids              local_global with anderson: there it does not
 *
 * Where multigrid cannot be had (hk_multigrid_check), a direct solver does its work.
 *
 * Large models are solved to an accuracy of ACCURACY, far below what a step of this order in time
 * leaves. Measured in docs/performance.md.
 */
#include "minimize/pick.h"

#include "base/vec.h"
#include "linear/multigrid.h"

static const int64_t FEW = 1000;
static const double ACCURACY = 1e-3;

/* How much of a solid a vertex's neighbours make at rest, 0 for those in a plane to 1 for those
 * spread evenly: the determinant of sum d d^T over the cube of a third of its trace. */
static double solidity_at(const HkModel *m, int64_t q) {
  double S[9] = {0};
  for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
    double d[3], u[3];
    hk_sub(m->x0 + 3 * (int64_t)m->adj_vertex[e], m->x0 + 3 * q, d);
    if (hk_unit(d, u)) hk_mat_add_outer(1, u, u, S);
  }
  double third = (S[0] + S[4] + S[8]) / 3;
  double determinant = S[0] * (S[4] * S[8] - S[5] * S[7]) - S[1] * (S[3] * S[8] - S[5] * S[6]) +
                       S[2] * (S[3] * S[7] - S[4] * S[6]);
  return third > 0 ? determinant / (third * third * third) : 0;
}

static bool is_solid(const HkModel *m) {
  enum { SAMPLE = 1000 };
  int64_t step = m->n / SAMPLE + 1, count = 0;
  double sum = 0;
  for (int64_t q = 0; q < m->n; q += step, count++) sum += solidity_at(m, q);
  return count > 0 && sum / (double)count > 0.1;
}

HkStatus hk_pick_linear(const HkModel *m, HkMethod *method, HkError *error) {
  if (m->n < FEW || hk_multigrid_check(m, NULL) < 0)
    return hk_method_choose(method, HK_LINEAR, hk_family_default(HK_LINEAR), error);
  hk_log(&m->context, HK_LOG_INFO,
         "linear systems of %lld vertices by pcg with multigrid (give another \"linear\" if you "
         "like)",
         (long long)m->n);
  HK_TRY(hk_method_choose(method, HK_LINEAR, "pcg", error));
  return hk_method_set_method(method, "preconditioner", "multigrid", error) ? HK_OK
                                                                            : HK_ERROR_INVALID;
}

HkStatus hk_pick_minimizer(const HkModel *m, HkMethod *method, HkError *error) {
  if (m->n < FEW)
    return hk_method_choose(method, HK_MINIMIZE, hk_family_default(HK_MINIMIZE), error);
  bool solid = is_solid(m);
  const char *name = solid ? "local_global" : "newton";
  hk_log(&m->context, HK_LOG_INFO,
         "each step by %s to an accuracy of %g, for %lld vertices of a %s (give another "
         "\"minimizer\" if you like)",
         name, ACCURACY, (long long)m->n, solid ? "solid" : "surface");
  HK_TRY(hk_method_choose(method, HK_MINIMIZE, name, error));
  if (solid) HK_TRY(hk_method_set_number(method, "iterations", 1000, error));
  return hk_method_set_number(method, "accuracy", ACCURACY, error);
}
