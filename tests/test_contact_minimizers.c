/* Contact with every minimizer and every linear solver, on small random scenes (contact_random.h):
 * nothing ever crosses; what says that it has found the minimum has, by Newton's method; and steps
 * depend on nothing but their state. */
#include "all_pairs.h"
#include "base/vec.h"
#include "contact/crossing.h"
#include "contact_random.h"
#include "contact_run.h"
#include "force/springs.h"
#include "minimize/batches.h"
#include "model_by_hand.h"
#include "step/implicit.h"

#if TEST_SANITIZED
enum { SEEDS = 1, STEPS = 3, COMPARED = 4, SWEEP_STEPS = 1 };
#else
enum { SEEDS = 6, STEPS = 8, COMPARED = 40, SWEEP_STEPS = 3 };
#endif

static HkContacts *contacts_of(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->filter) return w->sim->work.states[f].state;
  return NULL;
}

/* What a run of a scene came to. */
typedef struct Run {
  int64_t steps, unconverged, crossings, touching;
  double least; /* m, of all gaps, by the library and by hand */
} Run;

static void check_state(const World *w, const AllPairs *pairs, Run *r) {
  HkContacts *c = contacts_of(w);
  const double *x = hk_state_positions(w->state);
  r->crossings += hk_contacts_crossings(c, x, NULL, 0);
  const HkTouchings *found = hk_contacts_find(c, w->sim->work.springs, x);
  for (int64_t k = 0; k < found->pair_count; k++) r->least = fmin(r->least, found->pair[k].touch.g);
  for (int64_t k = 0; k < found->wall_count; k++) r->least = fmin(r->least, found->wall[k].g);
  r->least = fmin(r->least, all_pairs_least_gap(pairs, x, w->state->time));
  r->touching += found->pair_count + found->wall_count > 0;
  for (int64_t q = 0; q < 3 * w->model->n; q++) {
    CHECK(isfinite(x[q]));
    if (w->model->dimension == 2 && q % 3 == 2) CHECK(x[q] == 0);
  }
}

/* Steps of a scene with a minimizer; each is checked. */
static void run(int kind, uint64_t seed, const char *minimizer, Run *r) {
  World w = contact_random(kind, seed, minimizer, 1, NULL);
  AllPairs pairs;
  if (!w.sim) return;
  all_pairs_create(&pairs, w.model, CONTACT_RANDOM_SIZE);
  for (int k = 0; k < STEPS; k++) {
    HkError error = {0};
    HkStatus status = hk_sim_step(w.sim, w.state, &error);
    HkStepInfo info = hk_sim_step_info(w.sim);
    if (status < 0)
      test_fail(contact_random_name(kind), (int)seed, "%s: %s", minimizer, error.text);
    if (status < 0) break;
    r->steps++;
    r->unconverged += status == HK_NOT_CONVERGED;
    CHECK((status == HK_NOT_CONVERGED) == (info.reason >= HK_STOP_ITERATIONS));
    check_state(&w, &pairs, r);
  }
  all_pairs_destroy(&pairs);
  world_destroy(&w);
}

/* springs: the scenes with springs alone. */
static void run_all(const char *name, const char *minimizer, bool springs) {
  Run r = {.least = INFINITY};
  for (int kind = 0; kind < CONTACT_KINDS; kind++)
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
      if (!springs || kind != CONTACT_MASSES_ON_PLANE) run(kind, seed, minimizer, &r);
  printf("    %-40s %lld steps, %lld touch, %lld not converged, %lld crossings, least gap %.2g m\n",
         name, (long long)r.steps, (long long)r.touching, (long long)r.unconverged,
         (long long)r.crossings, r.least);
  CHECK(r.crossings == 0);
  CHECK(r.least > 0);
  CHECK(r.touching > r.steps / 4);
}

/* Few iterations, so that most steps of slow ones do not converge: the guarantee must not depend on
 * it. */
TEST(nothing_crosses_with_any_minimizer) {
  for (int k = 0; k < hk_schema_count(HK_MINIMIZE); k++) {
    const char *name = hk_schema_at(HK_MINIMIZE, k)->name;
    char text[200];
    snprintf(text, sizeof text, "{'type': '%s', 'iterations': %d, 'tolerance': 1e-4}", name,
             strcmp(name, "newton") == 0 ? 100 : 40);
    run_all(name, text, false);
  }
}

TEST(nothing_crosses_with_any_linear_solver_and_preconditioner) {
  for (int k = 0; k < hk_schema_count(HK_LINEAR); k++) {
    const HkSchema *linear = hk_schema_at(HK_LINEAR, k);
    int count = strcmp(linear->name, "pcg") == 0 ? hk_schema_count(HK_PRECONDITION) : 1;
    for (int p = 0; p < count; p++) {
      const char *preconditioner = hk_schema_at(HK_PRECONDITION, p)->name;
      if (linear->needs_ranks || hk_schema_at(HK_PRECONDITION, p)->needs_ranks) continue;
      char text[300], name[100], more[100] = "";
      if (count > 1) snprintf(more, sizeof more, ", 'preconditioner': '%s'", preconditioner);
      snprintf(name, sizeof name, "newton, %s%s%s", linear->name, count > 1 ? ", " : "",
               count > 1 ? preconditioner : "");
      snprintf(text, sizeof text,
               "{'type': 'newton', 'iterations': 100, 'tolerance': 1e-4, 'linear': {'type': "
               "'%s'%s}}",
               linear->name, more);
      if (strcmp(linear->name, "cholesky") == 0 && hk_factor_default() != HK_FACTOR_CHOLMOD)
        continue;
      run_all(name, text, strstr(more, "multigrid") != NULL); /* which needs springs */
    }
  }
}

/* The scenes of contact_sweep from the first step on, with the largest and the smallest step of the
 * sweep. */
static void run_scene(int scene, const char *minimizer, double h) {
  ContactCase c = {.scene = scene,
                   .size = 1,
                   .h = h,
                   .integrator = "backward_euler",
                   .minimizer = minimizer,
                   .threads = 1,
                   .seed = 5,
                   .steps = SWEEP_STEPS,
                   .seconds = 60};
  ContactResult r;
  contact_run(&c, &r);
  if (!contact_failed(&r) && r.steps == SWEEP_STEPS) return;
  test_fail(contact_scene_name(scene), 0,
            "%s, h = %g s: %lld steps, %lld crossings, %lld escapes, least gap %g m, by hand %g m "
            "%s",
            minimizer, h, (long long)r.steps, (long long)r.crossings, (long long)r.escapes,
            r.least_gap, r.least_by_hand, r.error);
}

TEST(nothing_crosses_in_the_scenes_of_the_sweep_with_any_minimizer) {
  for (int k = 0; k < hk_schema_count(HK_MINIMIZE); k++)
    for (int scene = 0; scene < contact_scene_count(); scene++) {
      char text[200];
      snprintf(text, sizeof text, "{'type': '%s', 'iterations': 25, 'tolerance': 1e-3}",
               hk_schema_at(HK_MINIMIZE, k)->name);
      if (strcmp(contact_scene_name(scene), "bare triangles") == 0) continue; /* needs a distance */
      run_scene(scene, text, 1.0 / 24);
      run_scene(scene, text, 1.0 / 240);
    }
}

/* ---- The same minimum as Newton's method ---- */

typedef struct Distances {
  int64_t steps, solved;
  double worst; /* |x - x*|_M / |x* - x_n|_M of solved steps, in parts of the tolerance */
} Distances;

static double distance(const HkModel *m, const double *a, const double *b) {
  double sum = 0;
  for (int64_t q = 0; q < 3 * m->n; q++) sum += m->mass[q / 3] * (a[q] - b[q]) * (a[q] - b[q]);
  return sqrt(sum);
}

/* Goes on from x by newton with a tight tolerance in the problem of the step that was made last,
 * whose pairs keep their stiffness; false if that does not converge. */
static bool polish(const World *w, const double *x_n, double *x) {
  HkProblem *p = &((HkImplicit *)w->sim->data)->problem;
  HkMethod method = {0};
  HkMinimizer *newton = NULL;
  HkError error = {0};
  const char *text = "{\"type\": \"newton\", \"tolerance\": 1e-9, \"linear\": \"ldlt\"}";
  bool converged = hk_method_parse(&method, HK_MINIMIZE, text, strlen(text), NULL, &error) >= 0 &&
                   hk_minimizer_create(p, &method, &newton, &error) >= 0;
  p->origin = x_n;
  converged = converged && hk_minimize(newton, x, &error) == HK_OK;
  hk_minimizer_destroy(&newton);
  hk_method_clear(&method);
  return converged;
}

/* The second step of a scene. */
static void compare(int kind, uint64_t seed, const char *minimizer, double tolerance,
                    Distances *d) {
  World w = contact_random(kind, seed, minimizer, 1, NULL);
  HkError error = {0};
  if (!w.sim) return;
  size_t bytes = (size_t)w.model->n * 3 * sizeof(double);
  size_t padded = bytes + HK_PAD * sizeof(double); /* which forces require of their vectors */
  double *x_n = malloc(padded), *x = malloc(padded);
  if (!x_n || !x) abort();
  HkStatus status = hk_sim_step(w.sim, w.state, &error);
  memcpy(x_n, hk_state_positions(w.state), bytes);
  if (status >= 0) status = hk_sim_step(w.sim, w.state, &error);
  CHECK(status >= 0);
  memcpy(x, hk_state_positions(w.state), bytes);
  d->steps++;
  if (status == HK_OK && polish(&w, x_n, x)) {
    double off = distance(w.model, hk_state_positions(w.state), x) / distance(w.model, x, x_n);
    d->solved++;
    d->worst = fmax(d->worst, off / tolerance);
  }
  free(x_n);
  free(x);
  world_destroy(&w);
}

TEST(minimizers_find_the_minimum_of_newton) {
  static const struct {
    const char *name;
    int iterations;
    double tolerance, part; /* of the steps that are to be solved at least */
  } ways[] = {
      {"newton", 100, 1e-4, 0.99}, {"local_global", 400, 1e-4, 0.7},
      {"lbfgs", 400, 1e-4, 0.7},   {"vertex_block_descent", 1000, 1e-4, 0.6},
      {"jacobi", 1000, 1e-4, 0.7}, {"gradient_descent", 3000, 1e-3, 0.5},
  };
  CHECK(sizeof ways / sizeof ways[0] == (size_t)hk_schema_count(HK_MINIMIZE));
  for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
    Distances d = {0};
    char text[200];
    snprintf(text, sizeof text, "{'type': '%s', 'iterations': %d, 'tolerance': %g}", ways[k].name,
             ways[k].iterations, ways[k].tolerance);
    for (int q = 0; q < COMPARED; q++)
      compare(q % CONTACT_KINDS, (uint64_t)(100 + q), text, ways[k].tolerance, &d);
    printf("    %-22s %lld of %lld steps solved, at most %.2g tolerances from the minimum\n",
           ways[k].name, (long long)d.solved, (long long)d.steps, d.worst);
    CHECK((double)d.solved >= ways[k].part * (double)d.steps);
    CHECK(d.worst < 2);
  }
}

/* ---- The diagonal ---- */

typedef struct RowSums {
  HkJacobianSink sink;
  double *k;
} RowSums;

static void add_row_sum(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  (void)j;
  ((RowSums *)sink)->k[i] += hk_mat_row_sum(B);
}

/* d_i = m_i + tau^2 k_i + tau c_i, where contact has a part in k_i by the row sums of all blocks
 * into which its projected Hessian expands. */
static double check_diagonal(HkProblem *p, const double *x) {
  const HkModel *m = p->model;
  double *k = calloc((size_t)m->n, sizeof *k), most = 0;
  RowSums sums = {.sink = {.dfdx = add_row_sum, .dfdv = hk_jacobian_skip}, .k = k};
  if (!k) abort();
  for (int f = 0; f < m->force_count; f++) {
    if (!hk_force_has_blocks(m, f)) continue;
    HkForceArgs a = hk_force_args(m, f, p->work, p->t, x, NULL);
    if (m->forces[f].type->unbounded) a.curvature = HK_CURVATURE_PROJECTED;
    m->forces[f].type->jacobian(&a, &sums.sink);
  }
  for (int64_t i = 0; i < m->n; i++) {
    double c = 0, all = k[i];
    hk_springs_add_bounds(m, p->work->springs, i, &all, &c);
    double d = m->mass[i] + p->tau * (p->tau * all + c);
    if (!p->held.mask[i]) CHECK_NEAR(p->inverse[i] * d, 1, 1e-12);
    most = fmax(most, p->tau * p->tau * k[i] / m->mass[i]);
  }
  free(k);
  return most;
}

TEST(the_diagonal_of_a_problem_bounds_the_blocks_of_all_terms) {
  double most = 0;
  for (int kind = 0; kind < CONTACT_KINDS; kind++)
    for (uint64_t seed = 1; seed < 6; seed++) {
      World w = contact_random(kind, seed, "'newton'", 1, NULL);
      if (!w.sim) return;
      world_steps(&w, 4);
      HkProblem *p = &((HkImplicit *)w.sim->data)->problem;
      const double *x = hk_state_positions(w.state);
      MUST(hk_problem_begin_iterate(p, x, error));
      MUST(hk_problem_linearize(p, x, hk_state_velocities(w.state), error));
      most = fmax(most, check_diagonal(p, x));
      world_destroy(&w);
    }
  printf("    contact is up to %.3g times as stiff as masses\n", most);
  CHECK(most > 10);
}

/* ---- Bits ---- */

static bool is_same(const World *a, const World *b) {
  size_t bytes = (size_t)a->model->n * 3 * sizeof(double);
  return memcmp(hk_state_positions(a->state), hk_state_positions(b->state), bytes) == 0 &&
         memcmp(hk_state_velocities(a->state), hk_state_velocities(b->state), bytes) == 0;
}

/* Whether two vertices of a batch act on each other by a term. */
static bool batch_is_coupled(const HkBatches *b, const HkWeightedTerms *terms, int64_t n) {
  bool coupled = false;
  int64_t *batch = malloc((size_t)n * sizeof *batch);
  if (!batch) abort();
  for (int64_t k = 0; k < b->count; k++)
    for (int64_t at = b->start[k]; at < b->start[k + 1]; at++) batch[b->vertex[at]] = k;
  for (int64_t t = 0; t < terms->count; t++)
    for (int a = 0; a < 4; a++)
      for (int c = 0; c < a; c++) {
        int32_t i = terms->term[t].vertex[a], j = terms->term[t].vertex[c];
        bool both = terms->term[t].weight[a] != 0 && terms->term[t].weight[c] != 0;
        coupled |= i != j && both && batch[i] == batch[j];
      }
  free(batch);
  return coupled;
}

TEST(vertices_of_a_batch_do_not_touch_each_other) {
  int64_t split = 0;
  for (uint64_t seed = 1; seed < 60; seed++) {
    World w = contact_random(CONTACT_TWO_SHEETS, seed, "'newton'", 1, NULL);
    HkVertexBlock blocks = {0};
    HkColoring coloring = {0};
    HkBatches batches = {0};
    size_t bytes = 0;
    if (!w.sim) return;
    world_steps(&w, 4);
    HkProblem *p = &((HkImplicit *)w.sim->data)->problem;
    const double *x = hk_state_positions(w.state);
    const HkContext *context = &w.model->context;
    MUST(hk_vertex_block_create(p, &blocks, &bytes, error));
    MUST(hk_coloring_create(context, w.model->n, p->pattern.start, p->pattern.column, &coloring,
                            &bytes, error));
    MUST(hk_vertex_block_begin(&blocks, x, x, false, error));
    MUST(hk_batches_find(&batches, &coloring, &blocks, error));
    CHECK(batches.start[0] == 0 && batches.start[batches.count] == w.model->n);
    CHECK(!batch_is_coupled(&batches, &blocks.rows.blocks.terms, w.model->n));
    split += batches.count > coloring.colors;
    hk_batches_destroy(context, &batches);
    hk_coloring_destroy(context, &coloring);
    hk_vertex_block_destroy(&blocks);
    world_destroy(&w);
  }
  printf("    %lld of 59 scenes need more batches than colors\n", (long long)split);
  CHECK(split > 5);
}

TEST(steps_are_the_same_with_any_number_of_threads_and_of_a_new_simulation) {
  for (int k = 0; k < hk_schema_count(HK_MINIMIZE); k++)
    for (int kind = 0; kind < CONTACT_KINDS; kind++) {
      char text[200];
      snprintf(text, sizeof text, "{'type': '%s', 'iterations': 30, 'tolerance': 1e-4}",
               hk_schema_at(HK_MINIMIZE, k)->name);
      World one = contact_random(kind, 7, text, 1, NULL),
            three = contact_random(kind, 7, text, 3, NULL);
      if (!one.sim || !three.sim) return;
      for (int step = 0; step < STEPS; step++) {
        World fresh = contact_random(kind, 7, text, 2, NULL);
        HkError error = {0};
        CHECK(hk_state_copy(one.state, fresh.state, &error) >= 0);
        world_steps(&one, 1);
        world_steps(&three, 1);
        world_steps(&fresh, 1);
        if (!is_same(&one, &three) || !is_same(&one, &fresh))
          test_fail(contact_random_name(kind), step, "%s: %s", text,
                    is_same(&one, &three) ? "a new simulation makes another step"
                                          : "three threads make another step");
        world_destroy(&fresh);
      }
      world_destroy(&one);
      world_destroy(&three);
    }
}
