/* Chebyshev acceleration; see chebyshev.h. */
#include "minimize/chebyshev.h"

#include "base/vec.h"

/* Plain iterations before rho is first measured, and accelerated ones between later measures:
 * the numbers that did best on a ball, a flag, a net and a curtain. */
enum { PLAIN_ITERATIONS = 4, ITERATIONS_PER_ESTIMATE = 8 };
/* Upper bound of rho; and the factor by which 1 - rho must shrink for the recurrence to restart. */
static const double RHO_MAX = 0.99999, RHO_CHANGE = 0.8;

HkStatus hk_chebyshev_create(const HkModel *model, const HkVectors *space, double rho,
                             HkChebyshev **chebyshev, size_t *bytes, HkError *error) {
  HK_TRY(hk_alloc(&model->context, chebyshev, 1, sizeof **chebyshev, "an acceleration", error));
  HkChebyshev *c = *chebyshev;
  *c = (HkChebyshev){.context = model->context, .space = space, .given = rho};
  HkStatus status =
      hk_alloc(&c->context, &c->before, 3 * model->n, sizeof *c->before, "an acceleration", error);
  if (status < 0)
    hk_chebyshev_destroy(chebyshev);
  else
    *bytes += sizeof *c + (size_t)model->n * 3 * sizeof(double);
  return status;
}

void hk_chebyshev_destroy(HkChebyshev **chebyshev) {
  if (!*chebyshev) return;
  HkContext c = (*chebyshev)->context;
  hk_free(&c, &(*chebyshev)->before);
  hk_free(&c, chebyshev);
}

/* The next iterate will be the plain one, after which the recurrence begins anew. */
static void restart(HkChebyshev *c) {
  c->count = 0;
  c->omega = 1;
}

void hk_chebyshev_begin(HkChebyshev *c) {
  c->rho = c->given;
  restart(c);
}

void hk_chebyshev_reject(HkChebyshev *c) {
  c->count = 1;
  c->omega = 1;
  c->first = c->last;
}

/* The eigenvalue that explains what the recurrence has left of the residual. */
static double leftover(const HkChebyshev *c, double square) {
  double promised = cosh(fmin(c->count * acosh(1 / c->rho), 700));
  double excess = fmax(sqrt(square / c->first) * promised, 1);
  return c->rho * cosh(acosh(excess) / c->count);
}

/* A new rho when it is time for one, and reason. */
static void measure(HkChebyshev *c, double square) {
  double rho = c->rho;
  if (c->given > 0) return;
  if (rho == 0 && c->count == PLAIN_ITERATIONS) rho = sqrt(square / c->last);
  if (c->rho > 0 && c->count > 0 && c->count % ITERATIONS_PER_ESTIMATE == 0)
    rho = leftover(c, square);
  rho = fmin(rho, RHO_MAX);
  if (!(1 - rho < RHO_CHANGE * (1 - c->rho)) && !(c->rho == 0 && rho > 0)) return;
  c->rho = rho;
  restart(c);
}

typedef struct Step {
  double omega;
  const double *x, *f, *before;
  double *next;
} Step;

static void next_range(void *user, int64_t begin, int64_t end) {
  const Step *s = user;
  for (int64_t c = 3 * begin; c < 3 * end; c++)
    s->next[c] = s->before[c] + s->omega * (s->x[c] - s->before[c] + s->f[c]);
}

bool hk_chebyshev_next(HkChebyshev *c, const double *x, const double *f, double square,
                       double *next) {
  measure(c, square);
  c->last = square;
  if (c->count == 0) c->first = square;
  if (c->count == 1) c->omega = 2 / (2 - c->rho * c->rho);
  if (c->count > 1) c->omega = 4 / (4 - c->rho * c->rho * c->omega);
  bool plain = c->count == 0 || c->rho == 0;
  if (!plain) {
    Step s = {c->omega, x, f, c->before, next};
    hk_parallel_for(c->space->threads, c->space->n, next_range, &s);
  }
  c->count++;
  hk_vectors_copy(c->space, x, c->before);
  return !plain;
}
