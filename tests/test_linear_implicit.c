/* Linearly implicit integrators solve the equation that they state,
 *
 *     (M - beta h^2 K+ - beta h D) v+ = M v + h (f - beta D v),   x+ = x + h v+
 *
 * K+ = df/dx with springs under pressure slack across their length. A dense elimination written
 * here is compared with every linear solver and preconditioner.
 */
#include "linear/factor.h"
#include "world.h"

#include "base/vec.h"
#include "model/state.h"
#include "step/sim.h"

enum { STEPS = 20 };

/* A square hung by two corners, one of which moves; its springs are damped along their length.
 * Bending and shear springs come under pressure as it falls. */
static const char *const square =
    "{'time': {'step': 0.0333333333333333}, 'integrator': %s, 'bodies': [{'shape': {'type': "
    "'grid', 'nx': %d, 'ny': %d, 'plane': 'xz'}, 'springs': {'k': %g, 'shear': true, 'bending': "
    "true%s}}], 'pins': [{'select': 'top_left'}, {'select': 'top_right', 'motion': {'type': "
    "'oscillation', 'amplitude': [0.1, 0, 0], 'frequency': 2}}], 'forces': ['gravity'], 'outputs': "
    "[]}";

static World square_with(const char *integrator, int size, double k, const char *more) {
  char text[2048];
  snprintf(text, sizeof text, square, integrator, size, size, k, more);
  return world_parse(text);
}

/* ---- The stated equation, dense ---- */

/* The matrix and right-hand side of one step, 3 n rows. */
typedef struct Dense {
  int64_t rows;
  double *A, *b;
} Dense;

static Dense dense_of(int64_t n) {
  Dense d = {3 * n, calloc(9 * (size_t)(n * n), sizeof(double)),
             calloc(3 * (size_t)n, sizeof(double))};
  if (!d.A || !d.b) exit(1);
  return d;
}

static void dense_destroy(Dense *d) {
  free(d->A);
  free(d->b);
}

/* Adds part times a 3 x 3 block at the vertices (i, i), (j, j) and minus that at (i, j), (j, i). */
static void add_spring_block(Dense *d, int64_t i, int64_t j, double part, const double B[9]) {
  int64_t at[2] = {3 * i, 3 * j};
  for (int q = 0; q < 4; q++)
    for (int e = 0; e < 9; e++)
      d->A[(at[q / 2] + e / 3) * d->rows + at[q % 2] + e % 3] +=
          (q == 0 || q == 3 ? part : -part) * B[e];
}

/* f, -K+ and -D of one spring; returns whether it is under pressure. */
static bool add_spring(const HkModel *m, int64_t s, const double *x, const double *v, double beta,
                       double h, Dense *d) {
  int64_t i = m->springs.i[s], j = m->springs.j[s];
  double u[3], w[3], K[9], D[9];
  hk_sub(x + 3 * i, x + 3 * j, u);
  hk_sub(v + 3 * i, v + 3 * j, w);
  double l = hk_norm(u), k = m->springs.k[s], c = m->springs.damping ? m->springs.damping[s] : 0;
  double across = fmax(0, k * (1 - m->springs.l0[s] / l));
  for (int q = 0; q < 3; q++) u[q] /= l;
  for (int q = 0; q < 9; q++) {
    D[q] = c * u[q / 3] * u[q % 3];
    K[q] = (k - across) * u[q / 3] * u[q % 3] + (q % 4 == 0 ? across : 0);
  }
  /* f - beta D v with D = df/dv = -c u u^T. */
  double pull = -k * (l - m->springs.l0[s]) - (1 - beta) * c * hk_dot(u, w);
  hk_axpy(h * pull, u, d->b + 3 * i);
  hk_axpy(-h * pull, u, d->b + 3 * j);
  add_spring_block(d, i, j, beta * h * h, K);
  add_spring_block(d, i, j, beta * h, D);
  return l < m->springs.l0[s];
}

/* Row by row, without exchanges: the matrix is positive definite. */
static void eliminate(Dense *d) {
  int64_t n = d->rows;
  for (int64_t p = 0; p < n; p++)
    for (int64_t r = p + 1; r < n; r++) {
      double factor = d->A[r * n + p] / d->A[p * n + p];
      if (factor == 0) continue;
      for (int64_t c = p; c < n; c++) d->A[r * n + c] -= factor * d->A[p * n + c];
      d->b[r] -= factor * d->b[p];
    }
  for (int64_t r = n - 1; r >= 0; r--) {
    for (int64_t c = r + 1; c < n; c++) d->b[r] -= d->A[r * n + c] * d->b[c];
    d->b[r] /= d->A[r * n + r];
  }
}

/* Pinned vertices get the velocities that bring them to their places at t + h. */
static void hold(const HkModel *m, const double *x, double t, double h, Dense *d) {
  for (int64_t p = 0; p < m->pin_count; p++) {
    double place[3], unused[3];
    hk_pin_at(m, p, t + h, place, unused, NULL);
    for (int c = 0; c < 3; c++) {
      int64_t row = 3 * (int64_t)m->pin_vertex[p] + c;
      for (int64_t q = 0; q < d->rows; q++) d->A[row * d->rows + q] = q == row;
      d->b[row] = (place[c] - x[row]) / h;
    }
  }
}

/* One step of x and v from time t; returns the number of springs under pressure. */
static int64_t step_by_hand(const HkModel *m, double beta, double t, double h, double *x,
                            double *v) {
  Dense d = dense_of(m->n);
  int64_t pressed = 0;
  for (int64_t q = 0; q < d.rows; q++) {
    d.A[q * d.rows + q] = m->mass[q / 3];
    d.b[q] = m->mass[q / 3] * (v[q] - (q % 3 == 1 ? h * 9.81 : 0));
  }
  for (int64_t s = 0; s < m->springs.count; s++) pressed += add_spring(m, s, x, v, beta, h, &d);
  hold(m, x, t, h, &d);
  eliminate(&d);
  for (int64_t q = 0; q < d.rows; q++) {
    v[q] = d.b[q];
    x[q] += h * v[q];
  }
  for (int64_t p = 0; p < m->pin_count; p++) {
    int64_t q = 3 * (int64_t)m->pin_vertex[p];
    hk_pin_at(m, p, t + h, x + q, v + q, NULL);
  }
  dense_destroy(&d);
  return pressed;
}

/* Largest difference of the motions after 20 steps, relative to the largest displacement. */
static double off_by(World *w, double beta) {
  int64_t n = w->model->n, pressed = 0;
  double h = hk_sim_h(w->sim), off = 0, moved = 0;
  double *x = malloc(6 * (size_t)n * sizeof *x);
  if (!x) exit(1);
  double *v = x + 3 * n;
  memcpy(x, hk_state_x(w->state), 3 * (size_t)n * sizeof *x);
  memcpy(v, hk_state_v(w->state), 3 * (size_t)n * sizeof *v);
  for (int q = 0; q < STEPS; q++) pressed += step_by_hand(w->model, beta, q * h, h, x, v);
  world_steps(w, STEPS);
  for (int64_t q = 0; q < 3 * n; q++) {
    off = fmax(off, fabs(x[q] - hk_state_x(w->state)[q]));
    moved = fmax(moved, fabs(x[q] - w->model->x0[q]));
  }
  CHECK(pressed > STEPS);
  free(x);
  return off / moved;
}

static void check_solver(const char *linear, double beta) {
  char integrator[512];
  if (beta == 1)
    snprintf(integrator, sizeof integrator, "{'type': 'linear_implicit_euler', 'linear': %s}",
             linear);
  else
    snprintf(integrator, sizeof integrator, "{'type': 'beta', 'beta': %g, 'linear': %s}", beta,
             linear);
  World w = square_with(integrator, 6, 400, ", 'damping': 0.05");
  if (!w.sim) return;
  double off = off_by(&w, beta);
  if (!(off < 1e-9)) test_fail(__FILE__, __LINE__, "%s: off by %g", integrator, off);
  world_destroy(&w);
}

TEST(every_linear_solver_solves_the_stated_equation) {
  char text[256];
  for (int q = 0; q < hk_schema_count(HK_LINEAR); q++) {
    const HkSchema *schema = hk_schema_at(HK_LINEAR, q);
    bool cholesky = strcmp(schema->name, "cholesky") == 0;
    if (schema->needs_ranks) continue;
    if (cholesky && hk_factor_default() != HK_FACTOR_CHOLMOD) continue;
    bool iterates = hk_param_find(schema, "tolerance") != NULL;
    snprintf(text, sizeof text, "{'type': '%s'%s}", schema->name,
             iterates ? ", 'tolerance': 1e-13, 'iterations': 100000" : "");
    for (double beta = 1; beta >= 0.5; beta -= 0.25) check_solver(text, beta);
  }
}

TEST(every_preconditioner_solves_the_stated_equation) {
  char text[256];
  for (int q = 0; q < hk_schema_count(HK_PRECONDITION); q++) {
    if (hk_schema_at(HK_PRECONDITION, q)->needs_ranks) continue;
    snprintf(text, sizeof text, "{'type': 'pcg', 'tolerance': 1e-13, 'preconditioner': '%s'}",
             hk_schema_at(HK_PRECONDITION, q)->name);
    check_solver(text, 1);
    check_solver(text, 0.5);
  }
}

/* Above 1000 vertices the default is iterative. */
TEST(the_default_of_a_large_model_leaves_the_motion_of_a_direct_solver) {
  World a = square_with("'linear_implicit_euler'", 41, 1e4, "");
  World b = square_with("{'type': 'linear_implicit_euler', 'linear': 'ldlt'}", 41, 1e4, "");
  if (!a.sim || !b.sim) return;
  double off = 0, moved = 0;
  world_steps(&a, STEPS);
  world_steps(&b, STEPS);
  for (int64_t q = 0; q < 3 * a.model->n; q++) {
    off = fmax(off, fabs(hk_state_x(a.state)[q] - hk_state_x(b.state)[q]));
    moved = fmax(moved, fabs(hk_state_x(b.state)[q] - b.model->x0[q]));
  }
  CHECK_NEAR(off / moved, 0, 1e-8);
  world_destroy(&a);
  world_destroy(&b);
}

/* The forces cancel but for rounding, which the stiffness multiplies: the right-hand side is small
 * beside the terms of each row, and no residual of 1e-12 can be had. */
TEST(a_stiff_sheet_in_free_flight_converges_to_rounding) {
  World w = world_make("{'bodies': [{'shape': {'type': 'grid', 'nx': 41, 'ny': 41}, 'springs': "
                       "{'k': 1e9, 'shear': true, 'bending': true}}], 'outputs': []}",
                       "linear_implicit_euler", 1.0 / 30, 1);
  HkError error = {0};
  if (!w.sim) return;
  double *x = hk_state_x(w.state), *v = hk_state_v(w.state);
  for (int64_t q = 0; q < w.model->n; q++) {
    v[3 * q] = 1 - 0.1 * x[3 * q + 1];
    v[3 * q + 1] = 2 + 0.1 * x[3 * q];
  }
  for (int q = 0; q < STEPS; q++) {
    HkStatus status = hk_sim_step(w.sim, w.state, &error);
    if (status != HK_OK)
      test_fail(__FILE__, __LINE__, "step %d: %s, residual %g, %d iterations", q,
                hk_status_name(status), hk_sim_step_info(w.sim).residual,
                hk_sim_step_info(w.sim).linear_iterations);
  }
  world_destroy(&w);
}
