/* L-BFGS, a quasi-Newton method, started from the constant matrix of the local/global method.
 *
 * The last `memory` steps s_j = x_(j+1) - x_j and the changes y_j of the gradient along them
 * sample the curvature of g. The inverse Hessian that satisfies
 * B y_j = s_j and is otherwise near A^-1 is applied without being formed, by the two-loop recursion
 * (Nocedal 1980), which goes through the pairs from the newest to the oldest and back:
 *
 *     q = dg/dx;   alpha_j = s_j . q / s_j . y_j,   q -= alpha_j y_j     (newest first)
 *     p = A^-1 q;  beta_j = y_j . p / s_j . y_j,    p += (alpha_j - beta_j) s_j
 *
 * and x+ = x - a p with a line search from a = 1. A = M + tau^2 (L + diag e) + tau C is at least
 * the Hessian, but for drag and wind (prefactor.h); the pairs correct what it overstates, across
 * the length of springs above all (Liu et al. 2017). With memory 0 this is the local/global method.
 * Where things touch, A has the stiffness of contact at the present x as well (unbounded.h).
 * Pairs without positive curvature, s . y <= 0, are left out: B stays positive definite and p goes
 * down.
 */
#include "minimize/minimize.h"

typedef struct Lbfgs {
  int iterations;
  double tolerance;
  int memory;
  int factor;
  int precision;
} Lbfgs;
HK_BEGINS_AS_STOPPING(Lbfgs);

static const HkParam params[] = {
    HK_STOPPING_PARAMS(Lbfgs, 200, 1e-3, 1),
    HK_INTEGER(Lbfgs, memory, 5, 0, 100, "how many past steps are kept"),
    HK_FACTOR_PARAMS(Lbfgs),
};

typedef struct Pair {
  double *s, *y; /* 3 n */
  double sy;     /* s . y > 0 */
} Pair;

typedef struct Data {
  Pair *pair; /* a ring of memory + 1: the last one is where the next pair is put together */
  double *alpha;
  int slots, count, next; /* pairs next - count .. next - 1 count, modulo slots */
} Data;

/* ---- Creating ---- */

static void destroy(HkMinimizer *m) {
  const HkContext *c = &m->problem->model->context;
  Data *data = m->data;
  for (int k = 0; data->pair && k < data->slots; k++) {
    hk_free(c, &data->pair[k].s);
    hk_free(c, &data->pair[k].y);
  }
  hk_free(c, &data->pair);
  hk_free(c, &data->alpha);
  hk_free(c, &m->data);
}

static HkStatus create(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  const HkContext *c = &model->context;
  const Lbfgs *p = m->method.params;
  Data *data = NULL;
  HK_TRY(hk_alloc(c, &data, 1, sizeof *data, "a minimizer", error));
  m->data = data;
  data->slots = p->memory + 1;
  HK_TRY(hk_alloc(c, &data->pair, data->slots, sizeof *data->pair, "a minimizer", error));
  HK_TRY(hk_alloc(c, &data->alpha, data->slots, sizeof *data->alpha, "a minimizer", error));
  for (int k = 0; k < data->slots; k++) {
    Pair *pair = &data->pair[k];
    HK_TRY(hk_alloc_vector(c, &pair->s, model->n, "a minimizer", error));
    HK_TRY(hk_alloc_vector(c, &pair->y, model->n, "a minimizer", error));
  }
  size_t pair = sizeof *data->pair + sizeof *data->alpha + 2 * hk_vector_bytes(model->n);
  m->bytes += sizeof *data + (size_t)data->slots * pair;
  return hk_minimizer_need_prefactor(m, p->factor, p->precision, error);
}

/* ---- Minimizing ---- */

/* The pair of that age, 0 the newest. */
static Pair *pair_of_age(Data *data, int age) {
  return &data->pair[(data->next - 1 - age + data->slots) % data->slots];
}

/* p = -B g. */
static HkStatus direction(HkMinimizer *m, const double *x, const double *g, double *q, double *p,
                          HkError *error) {
  const HkVectors *space = &m->problem->space;
  Data *data = m->data;
  hk_vectors_copy(space, g, q);
  for (int age = 0; age < data->count; age++) {
    const Pair *pair = pair_of_age(data, age);
    data->alpha[age] = hk_vectors_dot(space, pair->s, q) / pair->sy;
    hk_vectors_add(space, -data->alpha[age], pair->y, q, q);
  }
  HK_TRY(hk_minimizer_precondition(m, x, q, p, error));
  for (int age = data->count - 1; age >= 0; age--) {
    const Pair *pair = pair_of_age(data, age);
    double beta = -hk_vectors_dot(space, pair->y, p) / pair->sy; /* p is -A^-1 q already */
    hk_vectors_add(space, beta - data->alpha[age], pair->s, p, p);
  }
  return HK_OK;
}

/* Keeps x_new - x and g_new - g, unless g is not convex between the two. */
static void remember(HkMinimizer *m, const double *x, const double *x_new, const double *g,
                     const double *g_new) {
  const HkVectors *space = &m->problem->space;
  Data *data = m->data;
  Pair *pair = &data->pair[data->next];
  hk_vectors_subtract(space, x_new, x, pair->s);
  hk_vectors_subtract(space, g_new, g, pair->y);
  pair->sy = hk_vectors_dot(space, pair->s, pair->y);
  double bound = hk_vectors_dot(space, pair->s, pair->s) * hk_vectors_dot(space, pair->y, pair->y);
  if (!(pair->sy > 1e-12 * sqrt(bound))) return;
  data->next = (data->next + 1) % data->slots;
  if (data->count < data->slots - 1) data->count++;
}

/* x_new lower than x, along p, which is found from g; false: there is none. */
static HkStatus advance(HkMinimizer *m, const double *x, const double *g, double *p, double *x_new,
                        bool *moved, HkError *error) {
  const HkVectors *space = &m->problem->space;
  Data *data = m->data;
  for (;;) {
    HK_TRY(direction(m, x, g, x_new, p, error));
    double slope = hk_vectors_dot(space, g, p);
    *moved = slope < 0 && hk_line_search(m, x, p, slope, x_new) > 0;
    if (*moved || data->count == 0) return HK_OK;
    data->count = 0; /* the past misleads: once more without it */
  }
}

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  double *g = m->w[0], *p = m->w[1], *x_new = m->w[2], *g_new = m->w[3];
  bool moved;
  ((Data *)m->data)->count = 0;
  HK_TRY(hk_problem_begin_iterate(problem, x, error));
  double r = hk_problem_gradient(problem, x, g);
  m->info.evaluations++;
  for (int it = 0; !hk_minimizer_look(m, it, x, r); it++) {
    HK_TRY(advance(m, x, g, p, x_new, &moved, error));
    if (!moved) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    HK_TRY(hk_problem_begin_iterate(problem, x_new, error));
    r = hk_problem_gradient(problem, x_new, g_new);
    m->info.evaluations++;
    remember(m, x, x_new, g, g_new);
    hk_vectors_copy(space, x_new, x);
    double *swap = g;
    g = g_new;
    g_new = swap;
  }
  return HK_OK;
}

const HkMinimizeType hk_minimize_lbfgs = {
    .schema = {.name = "lbfgs",
               .summary = "quasi-Newton with the factorized constant matrix as its first guess",
               .formula =
                   "x+ = x - a B dg/dx,  B y_j = s_j for the last steps, near A^-1 elsewhere",
               HK_PARAMS(Lbfgs, params)},
    .vectors = 4,
    .create = create,
    .destroy = destroy,
    .minimize = minimize,
};
