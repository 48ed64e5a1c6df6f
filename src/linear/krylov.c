/* Conjugate gradients with an optional preconditioner P (Hestenes and Stiefel 1952).
 *
 *     z = P^-1 r,  p = z + beta p,  alpha = r.z / p.Ap,  x += alpha p,  r -= alpha A p
 *
 * The residual r of the recursion drifts away from b - A x by rounding. When it says that the
 * tolerance is met, b - A x is computed; if that is still too large, the iteration starts again
 * from there, as long as this at least halves it.
 *
 * A small residual alone says little of stiff systems: bodies that turn or move as a whole do so
 * against small forces. So the last iteration must also have lowered the quadratic 1/2 x.Ax - b.x
 * by no more than the tolerance, as a part of what all of them did (after Nash and
 * Sofer 1990); where the preconditioner is any good that is the error of x, measured by its energy.
 *
 * With by_decrease, the decrease of the quadratic decides alone. The residual is dominated by stiff
 * modes, of which a multigrid cycle leaves parts that say nothing of a Newton step.
 *
 * Where p.Ap <= 0, A is not positive definite and x is truncated to what was reached so far, along
 * which the energy of a Newton step falls (Steihaug 1983): to P^-1 b if p is the first direction.
 */
#include "linear/krylov.h"

typedef struct Krylov {
  double *r, *p, *Ap;
  double *z; /* r itself without a preconditioner */
  HkPrecondition *precondition;
} Krylov;

static void count_bytes(HkLinear *s) {
  const Krylov *w = s->data;
  const HkPrecondition *p = w->precondition;
  s->bytes = sizeof *w + (p ? 4 : 3) * hk_vector_bytes(s->space.n);
  if (p) s->bytes += sizeof *p + p->bytes;
}

static HkStatus make_vectors(HkLinear *s, HkError *error) {
  Krylov *w = s->data;
  double **vectors[] = {&w->r, &w->p, &w->Ap, &w->z};
  int count = w->precondition ? 4 : 3;
  for (int k = 0; k < count; k++)
    HK_TRY(hk_alloc_vector(&s->setup.model->context, vectors[k], s->space.n, "conjugate gradients",
                           error));
  if (!w->precondition) w->z = w->r;
  count_bytes(s);
  return HK_OK;
}

HkStatus hk_krylov_create(HkLinear *s, const HkMethod *preconditioner, HkError *error) {
  Krylov *w = NULL;
  HK_TRY(hk_alloc(&s->setup.model->context, &w, 1, sizeof *w, "conjugate gradients", error));
  s->data = w;
  if (preconditioner)
    HK_TRY(hk_precondition_create(&s->setup, &s->space, preconditioner, &w->precondition, error));
  if (preconditioner && w->precondition->type->schema.needs_ranks && !s->needs_matrix)
    s->needs_matrix = s->preconditions = true;
  return make_vectors(s, error);
}

void hk_krylov_destroy(HkLinear *s) {
  const HkContext *c = &s->setup.model->context;
  Krylov *w = s->data;
  if (w->z != w->r) hk_free(c, &w->z);
  hk_free(c, &w->r);
  hk_free(c, &w->p);
  hk_free(c, &w->Ap);
  hk_precondition_destroy(&w->precondition);
  hk_free(c, &s->data);
}

HkStatus hk_krylov_prepare(HkLinear *s, HkError *error) {
  HkPrecondition *precondition = ((Krylov *)s->data)->precondition;
  if (!precondition) return HK_OK;
  precondition->A = &s->A;
  HkStatus status = precondition->type->prepare(precondition, error);
  count_bytes(s);
  return status;
}

/* *rz = r . z with z = P^-1 r. Ghosts of z get the values of their owners, and so have those of p
 * and x, which are sums of z. */
static HkStatus turn(const HkLinear *s, double *rz, HkError *error) {
  const Krylov *w = s->data;
  if (w->precondition) HK_TRY(w->precondition->type->apply(w->precondition, w->r, w->z, error));
  hk_part_exchange(s->setup.model, w->z);
  *rz = hk_vectors_dot(&s->space, w->r, w->z);
  return HK_OK;
}

/* Lower bound of the relative decrease of the quadratic in the stopping test, below which rounding
 * decides; and the factor of the tolerance below which the residual alone stops the iteration. */
static const double MIN_RELATIVE_DECREASE = 1e-10, SUFFICIENT_RESIDUAL_FACTOR = 1e-3;

/* Iterates from x with r = b - A x, of the length size, until |r| <= goal, or until there is
 * nothing to be gained. */
static HkStatus iterate(const HkLinear *s, double goal, double size, double *x,
                        HkLinearResult *result, HkError *error) {
  const HkKrylovParams *params = s->method.params;
  const HkVectors *space = &s->space;
  const Krylov *w = s->data;
  double rz, next, lowered = 0, part = fmax(goal / size, MIN_RELATIVE_DECREASE);
  HK_TRY(turn(s, &rz, error));
  hk_vectors_copy(space, w->z, w->p);
  while (rz > 0 && result->iterations < params->iterations) {
    HK_TRY(hk_cancel_check(s->setup.cancel, error));
    s->A.product(s->A.user, w->p, w->Ap);
    double curvature = hk_vectors_dot(space, w->p, w->Ap);
    if (!(curvature > 0)) {
      result->indefinite = curvature <= 0;
      if (result->indefinite && result->iterations == 0) hk_vectors_copy(space, w->p, x);
      return HK_OK;
    }
    result->iterations++;
    double size_now = sqrt(hk_vectors_step(space, rz / curvature, w->p, w->Ap, x, w->r));
    double lower = rz * (rz / curvature); /* twice of what it lowers the quadratic by */
    lowered += lower;
    bool small = lower <= part * lowered;
    if (small && s->by_decrease) return HK_OK;
    if (size_now <= (small ? goal : SUFFICIENT_RESIDUAL_FACTOR * goal)) return HK_OK;
    HK_TRY(turn(s, &next, error));
    hk_vectors_add(space, next / rz, w->p, w->z, w->p);
    rz = next;
  }
  return HK_OK;
}

HkStatus hk_krylov_solve(HkLinear *s, const double *b, double *x, double tolerance,
                         HkLinearResult *result, HkError *error) {
  const HkKrylovParams *params = s->method.params;
  const Krylov *w = s->data;
  double size, left = 1, last = INFINITY;
  tolerance = hk_iterative_start(s, b, tolerance, x, &size, result);
  if (tolerance == 0) return HK_OK;
  hk_vectors_copy(&s->space, b, w->r);
  for (;;) {
    HK_TRY(iterate(s, tolerance * size, left * size, x, result, error));
    hk_linear_residual(s, b, x, w->r, result);
    result->reason = hk_iterative_reason(s, tolerance, result);
    if (s->by_decrease && result->reason == HK_STOP_STALLED) result->reason = HK_STOP_CONVERGED;
    bool done = result->residual <= tolerance || s->by_decrease || result->indefinite ||
                result->iterations >= params->iterations;
    /* Said this way round, NaN ends it too. */
    if (done || !(result->residual < last / 2)) return HK_OK;
    last = left = result->residual;
  }
}
