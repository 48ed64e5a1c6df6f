/* The hierarchy of multigrid over ranks, compared with dense matrices. */
#include "ranks.h"

#include "linear/part_levels.h"

static const char sheet[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 13, 'ny': 11, 'cells': 'triangles'},"
    " 'springs': {'k': 200, 'bending': true}}]}";
static const char two_bodies[] =
    "{'bodies': [{'shape': {'type': 'block', 'nx': 5, 'ny': 4, 'nz': 4}, 'springs': {'k': 50}},"
    " {'shape': {'type': 'disc', 'rings': 5}, 'springs': {'k': 20}}]}";

/* A number in 0 .. 1 that depends on two numbers alone. */
static double noise(int64_t a, int64_t b) {
  uint64_t z = (uint64_t)(a * 1000003 + b + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  return (double)(z >> 11) * 0x1p-53;
}

/* A block of the pair of numbers, symmetric. */
static void pair_block(int64_t a, int64_t b, double K[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c <= r; c++)
      K[3 * r + c] = K[3 * c + r] = (r == c) + 0.5 * noise(9 * a + 3 * r + c, b);
}

/* Values of a matrix whose rows are those of the numbers, the same on all ranks. */
static double *make_values(const HkModel *m, const HkPattern *p) {
  double *value = calloc((size_t)p->start[p->n] * 9, sizeof *value);
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) {
      int64_t a = m->part->number[i], b = m->part->number[p->column[e]];
      pair_block(a < b ? a : b, a < b ? b : a, value + 9 * e);
      for (int c = 0; c < 9; c++) value[9 * e + c] *= a == b ? 40 : -1;
    }
  return value;
}

/* The dense matrix of a level on all ranks, 3 total x 3 total. */
static double *dense_level(const HkPartLevels *h, int k, const HkPattern *p, const double *value) {
  const HkPartLevel *l = &h->level[k];
  size_t size = 3 * (size_t)l->total;
  double *dense = calloc(size * size, sizeof *dense);
  for (int32_t i = 0; i < l->n; i++)
    for (int64_t e = l->start[i]; e < l->start[i + 1] && !l->ghost[i]; e++) {
      int32_t j = k == 0 ? p->column[e] : l->graph.column[e];
      const double *B = (k == 0 ? value : l->value) + 9 * e;
      for (int c = 0; c < 9; c++)
        dense[(3 * (size_t)l->number[i] + (size_t)c / 3) * size + 3 * (size_t)l->number[j] +
              (size_t)c % 3] = B[c];
    }
  hk_ranks_sum(test_ranks(), dense, (int)(size * size));
  return dense;
}

/* The weights to level k from the next one, total x total of the next. */
static double *dense_weights(const HkPartLevels *h, int k) {
  const HkPartLevel *l = &h->level[k], *next = l + 1;
  double *dense = calloc((size_t)(l->total * next->total), sizeof *dense);
  for (int32_t i = 0; i < l->n; i++)
    for (int32_t e = l->P.start[i]; e < l->P.start[i + 1] && !l->ghost[i]; e++)
      dense[l->number[i] * next->total + next->number[l->P.column[e]]] = l->P.weight[e];
  hk_ranks_sum(test_ranks(), dense, (int)(l->total * next->total));
  return dense;
}

/* The largest difference of level k + 1 from P^T A P, as a part of its largest number. */
static double galerkin_error(const HkPartLevels *h, int k, const HkPattern *p,
                             const double *value) {
  int64_t n = h->level[k].total, N = h->level[k + 1].total;
  double *A = dense_level(h, k, p, value), *C = dense_level(h, k + 1, p, value);
  double *P = dense_weights(h, k), *AP = calloc((size_t)(9 * n * N), sizeof *AP);
  double off = 0, most = 0;
  for (int64_t r = 0; r < 3 * n; r++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t J = 0; J < N; J++)
        for (int c = 0; c < 3; c++)
          AP[r * 3 * N + 3 * J + c] += A[r * 3 * n + 3 * j + c] * P[j * N + J];
  for (int64_t I = 0; I < N; I++)
    for (int a = 0; a < 3; a++)
      for (int64_t J = 0; J < 3 * N; J++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += P[i * N + I] * AP[(3 * i + a) * 3 * N + J];
        double is = C[(3 * I + a) * 3 * N + J];
        off = fmax(off, fabs(is - sum));
        most = fmax(most, fabs(sum));
      }
  free(A);
  free(C);
  free(P);
  free(AP);
  return off / most;
}

static void check_weights(const HkPartLevels *h, int k) {
  int64_t n = h->level[k].total, N = h->level[k + 1].total, coarse = 0;
  double *P = dense_weights(h, k), off = 0;
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    int64_t entries = 0;
    for (int64_t I = 0; I < N; I++) {
      sum += P[i * N + I];
      entries += P[i * N + I] != 0;
    }
    off = fmax(off, fabs(sum - 1));
    coarse += entries == 1;
  }
  CHECK_NEAR(off, 0, 1e-6);
  CHECK(coarse >= N); /* each coarse vertex follows itself */
  free(P);
}

static void check_scene(const char *scene) {
  RanksWorld w = {0};
  HkPattern pattern;
  HkPartLevels levels;
  MUST(ranks_world(scene, NULL, test_ranks(), &w, error));
  MUST(hk_pattern_create(w.model, &pattern, NULL, error));
  MUST(hk_part_levels_create(w.model, pattern.start, pattern.column, 8, &levels, error));
  double *value = make_values(w.model, &pattern);
  hk_part_levels_fill(&levels, value);
  CHECK(levels.count >= 3);
  for (int k = 0; k + 1 < levels.count; k++) {
    CHECK(levels.level[k + 1].total < levels.level[k].total);
    check_weights(&levels, k);
    CHECK_NEAR(galerkin_error(&levels, k, &pattern, value), 0, 2e-6);
  }
  hk_part_levels_fill(&levels, value); /* again: nothing is left of the first values */
  CHECK_NEAR(galerkin_error(&levels, 0, &pattern, value), 0, 2e-6);
  free(value);
  hk_part_levels_destroy(&levels);
  hk_pattern_destroy(w.model, &pattern);
  ranks_world_destroy(&w);
}

TEST(coarse_levels_are_p_transposed_a_p_of_a_sheet) {
  check_scene(sheet);
}

TEST(coarse_levels_are_p_transposed_a_p_of_a_solid_and_a_disc) {
  check_scene(two_bodies);
}

/* The levels need as many iterations of conjugate gradients as those of one process, or little
 * more.
 */
static int64_t count_iterations(const char *scene, HkRanks *ranks) {
  const char *sets[] = {"integrator=backward_euler", NULL};
  RanksWorld w = {0};
  HkError error = {0};
  int64_t count = 0;
  if (ranks_world(scene, sets, ranks, &w, &error) < 0) test_fail(__FILE__, __LINE__, error.text);
  for (int step = 0; step < 3; step++) {
    if (hk_sim_step(w.sim, w.state, &error) != HK_OK) test_fail(__FILE__, __LINE__, error.text);
    count += hk_sim_step_info(w.sim).linear_iterations;
  }
  ranks_world_destroy(&w);
  return count;
}

TEST(systems_take_as_many_iterations_as_in_one_process) {
  static const char *const scenes[] = {"curtain", "jelly_block", "flag"};
  for (int k = 0; k < 3; k++) {
    int64_t whole = count_iterations(scenes[k], NULL);
    int64_t part = count_iterations(scenes[k], test_ranks());
    if (part > whole + whole / 2 + 3)
      test_fail(__FILE__, __LINE__, "%s: %lld iterations, %lld in one process", scenes[k],
                (long long)part, (long long)whole);
  }
}
