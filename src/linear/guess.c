/* Starting values for linear systems that change little from one to the next (Fischer 1998).
 *
 * With the last solutions s_k, the newest first, the starting value is the x0 = sum c_k s_k with
 * the smallest residual r = b - A x0. The products A s_k are made orthogonal one after the other,
 * and the s_k with them, whose span stays the same; the oldest one that is dropped has then only
 * what the newer ones lack. What is left is A y = r, to the accuracy of |b|, and x = x0 + y.
 *
 * Motions of solids are smooth enough for it: a block that swings has |r| of 1e-2 to 1e-3 |b|.
 * Those of cloth are not: if |r| is above USEFUL |b| with all s_k, no more starting values are
 * tried until the next restart.
 */
#include "linear/guess.h"

#include <math.h>

enum { SOLUTIONS = 4 };

static const double USEFUL = 0.5, INDEPENDENT = 1e-8;

struct HkGuess {
  const HkVectors *space;
  double *s[SOLUTIONS], *As[SOLUTIONS], *x, *r; /* 3 n; x: the starting value */
  int count;                                    /* of solutions */
  bool idle;                                    /* starting values are of no use */
};

HkStatus hk_guess_create(const HkVectors *space, HkGuess **guess, HkError *error) {
  const HkContext *c = &space->model->context;
  HK_TRY(hk_alloc(c, guess, 1, sizeof **guess, "a linear system", error));
  HkGuess *g = *guess;
  g->space = space;
  for (int k = 0; k < SOLUTIONS; k++) {
    HK_TRY(hk_alloc_vector(c, &g->s[k], space->n, "a linear system", error));
    HK_TRY(hk_alloc_vector(c, &g->As[k], space->n, "a linear system", error));
  }
  HK_TRY(hk_alloc_vector(c, &g->x, space->n, "a linear system", error));
  return hk_alloc_vector(c, &g->r, space->n, "a linear system", error);
}

void hk_guess_destroy(HkGuess **guess) {
  HkGuess *g = *guess;
  if (!g) return;
  HkContext c = g->space->model->context;
  for (int k = 0; k < SOLUTIONS; k++) {
    hk_free(&c, &g->s[k]);
    hk_free(&c, &g->As[k]);
  }
  hk_free(&c, &g->x);
  hk_free(&c, &g->r);
  hk_free(&c, guess);
}

void hk_guess_restart(HkGuess *guess) {
  guess->count = 0;
  guess->idle = false;
}

/* As_k = A s_k without its part along the newer ones, of length 1, and s_k with it; returns whether
 * anything is left of it. */
static bool orthogonalize(HkGuess *g, const HkOperator *A, int k) {
  const HkVectors *space = g->space;
  double *s = g->s[k], *As = g->As[k];
  A->product(A->user, s, As);
  double whole = sqrt(hk_vectors_dot(space, As, As));
  for (int q = 0; q < k; q++) {
    double along = hk_vectors_dot(space, g->As[q], As);
    hk_vectors_add(space, -along, g->As[q], As, As);
    hk_vectors_add(space, -along, g->s[q], s, s);
  }
  double left = sqrt(hk_vectors_dot(space, As, As));
  if (!(left > INDEPENDENT * whole)) return false;
  hk_vectors_scale(space, 1 / left, As);
  hk_vectors_scale(space, 1 / left, s);
  return true;
}

/* Finds the starting value and its residual; returns |r| / |b|. */
static double start(HkGuess *g, const HkOperator *A, const double *b) {
  const HkVectors *space = g->space;
  hk_vectors_copy(space, b, g->r);
  hk_vectors_zero(space, g->x);
  for (int k = 0; k < g->count; k++) {
    if (!orthogonalize(g, A, k)) {
      g->count = k;
      break;
    }
    double part = hk_vectors_dot(space, g->As[k], g->r);
    hk_vectors_add(space, -part, g->As[k], g->r, g->r);
    hk_vectors_add(space, part, g->s[k], g->x, g->x);
  }
  double whole = hk_vectors_dot(space, b, b), left = hk_vectors_dot(space, g->r, g->r);
  return whole > 0 ? sqrt(left / whole) : 0;
}

static void keep(HkGuess *g, const double *x) {
  double *oldest = g->s[SOLUTIONS - 1];
  for (int k = SOLUTIONS - 1; k > 0; k--) g->s[k] = g->s[k - 1];
  g->s[0] = oldest;
  hk_vectors_copy(g->space, x, oldest);
  if (g->count < SOLUTIONS) g->count++;
}

HkStatus hk_guess_solve(HkGuess *g, HkLinear *linear, const HkOperator *A, const double *b,
                        double *x, double accuracy, HkLinearResult *result, HkError *error) {
  if (g->idle) return hk_linear_solve(linear, b, x, accuracy, result, error);
  bool all = g->count == SOLUTIONS;
  double share = start(g, A, b);
  if (share <= accuracy) {
    *result = (HkLinearResult){.residual = share, .reason = HK_STOP_CONVERGED};
    hk_vectors_copy(g->space, g->x, x);
  } else {
    HK_TRY(hk_linear_solve(linear, g->r, x, accuracy / share, result, error));
    if (result->indefinite) return HK_OK;
    result->residual *= share;
    hk_vectors_add(g->space, 1, g->x, x, x);
  }
  g->idle = all && share > USEFUL;
  keep(g, x);
  return HK_OK;
}
