/* Weighted terms in iterative solvers: products by vertices, sweeps of level 0, coarse levels. All
 * against sums over the 3x3 blocks of random terms. */
#include "linear/fine_terms.h"
#include "linear/level_terms.h"
#include "system_by_hand.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* K = sum of `rank` random d d^T, of the size `stiffness`. */
static void random_matrix(uint64_t *seed, int rank, double stiffness, double K[6]) {
  memset(K, 0, 6 * sizeof *K);
  for (int r = 0; r < rank; r++) {
    double d[3] = {test_random(seed), test_random(seed), test_random(seed)};
    for (int i = 0, at = 0; i < 3; i++)
      for (int j = i; j < 3; j++) K[at++] += stiffness * d[i] * d[j];
  }
}

/* Random terms: three of five of rank one, others of rank two, three and none; points and
 * triangles, edges, and terms of fewer vertices. A weight is too small for floats. */
static void random_terms_of(HkWeightedTerms *w, const HkModel *m, int64_t count, bool curved,
                            double stiffness, uint64_t seed) {
  static const int ranks[10] = {1, 1, 1, 2, 0, 1, 1, 1, 2, 3};
  static const double weights[5][4] = {{1, -0.2, -0.3, -0.5},
                                       {0.4, 0.6, -0.7, -0.3},
                                       {0, 1, 0, -1},
                                       {0, 0, 1, 0},
                                       {1, 1e-60, -1, 0}};
  HkWeightedCurvature *curvature;
  HkWeightedTerm *term;
  w->count = 0;
  MUST(hk_weighted_append(w, m, count, curved, &term, &curvature, error));
  for (int64_t t = 0; t < count; t++) {
    int64_t near = (int64_t)((0.5 + 0.499 * test_random(&seed)) * (double)m->n);
    random_matrix(&seed, ranks[t % 10], stiffness, term[t].K);
    for (int a = 0; a < 4; a++) {
      term[t].vertex[a] = (int32_t)((near + (a < 2 ? a : m->n / 2 + a)) % m->n);
      term[t].weight[a] = weights[t % 5][a];
    }
    if (curved) curvature[t].across = -0.1 * stiffness * fabs(test_random(&seed));
    for (int q = 0; q < 24 && curved; q++) {
      bool counts = term[t].weight[q % 12 / 3] != 0;
      curvature[t].q[q / 12][q % 12] = counts ? sqrt(stiffness) * test_random(&seed) : 0;
    }
  }
  MUST(hk_weighted_finish(w, m, error));
}

static void random_terms(HkWeightedTerms *w, const HkModel *m, int64_t count, double stiffness,
                         uint64_t seed) {
  random_terms_of(w, m, count, false, stiffness, seed);
}

/* out = C p of the terms, scaled one by one unless `scale` is NULL; without held vertices, and z in
 * two dimensions. */
static void product(const HkWeightedTerms *w, const HkModel *m, const uint8_t *held,
                    const double *scale, const double *p, double *out) {
  memset(out, 0, (size_t)m->n * 3 * sizeof *out);
  for (int64_t t = 0; t < 16 * w->count; t++) {
    const HkWeightedTerm *term = &w->term[t / 16];
    int a = (int)(t / 4 % 4), b = (int)(t % 4);
    int64_t i = term->vertex[a], j = term->vertex[b];
    double B[9];
    if (held[i] || held[j]) continue;
    hk_weighted_block(w, t / 16, a, b, B);
    for (int q = 0; q < 9; q++)
      if (m->dimension == 3 || (q / 3 < 2 && q % 3 < 2))
        out[3 * i + q / 3] += (scale ? scale[t / 16] : 1) * B[q] * p[3 * j + q % 3];
  }
}

static double *take(int64_t count) {
  double *p = calloc((size_t)count + 8, sizeof *p);
  if (!p) abort();
  return p;
}

static uint8_t *hold_some(const HkModel *m) {
  uint8_t *held = calloc((size_t)m->n, 1);
  if (!held) abort();
  for (int64_t i = 0; i < m->n; i += 7) held[i] = 1;
  return held;
}

TEST(products_by_vertices_are_those_of_the_blocks_with_any_number_of_threads) {
  for (int dimension = 2; dimension <= 3; dimension++) {
    ByHand by = by_hand();
    by.dimension = dimension;
    HkModel *m = model_of_sheet(by, 60, 50);
    HkWeightedTerms terms = {0};
    HkTermRows rows = {0};
    uint8_t *held = hold_some(m);
    int64_t size = 3 * m->n;
    double *p = take(size), *out = take(size), *other = take(size), *exact = take(size);
    uint64_t seed = 3;
    random_terms(&terms, m, 5000, 1e4, 11);
    MUST(hk_term_rows_make(&rows, &terms, m, held, error));
    for (int64_t q = 0; q < size; q++) p[q] = test_random(&seed);
    hk_term_rows_product(&rows, 1, 0.5, p, out);
    m->threads = 3;
    MUST(hk_term_rows_make(&rows, &terms, m, held, error));
    hk_term_rows_product(&rows, 3, 0.5, p, other);
    CHECK(memcmp(out, other, (size_t)size * sizeof *out) == 0);
    product(&terms, m, held, NULL, p, exact);
    double most = test_largest(exact, size), off = 0;
    for (int64_t q = 0; q < size; q++) off = fmax(off, fabs(out[q] - 0.5 * exact[q]));
    CHECK(most > 1000);
    CHECK_NEAR(off / most, 0, 1e-6); /* of floats */
    hk_term_rows_destroy(m, &rows);
    hk_weighted_destroy(m, &terms);
    model_by_hand_destroy(&m);
    free(held);
    free(p);
    free(out);
    free(other);
    free(exact);
  }
}

TEST(products_in_double_precision_are_those_of_the_blocks_with_curvature_and_without) {
  for (int curved = 0; curved < 2; curved++) {
    HkModel *m = model_of_sheet(by_hand(), 30, 20);
    HkWeightedTerms terms = {0};
    uint8_t *held = hold_some(m);
    int64_t size = 3 * m->n;
    double *p = take(size), *out = take(size), *other = take(size), *exact = take(size), off = 0;
    uint64_t seed = 6;
    random_terms_of(&terms, m, 3000, curved, 1e4, 12);
    for (int64_t q = 0; q < size; q++) p[q] = test_random(&seed);
    hk_weighted_product(&terms, 1, held, 0.5, p, out);
    hk_weighted_product(&terms, 3, held, 0.5, p, other);
    product(&terms, m, held, NULL, p, exact);
    for (int64_t q = 0; q < size; q++) off = fmax(off, fabs(out[q] - 0.5 * exact[q]));
    CHECK(memcmp(out, other, (size_t)size * sizeof *out) == 0);
    CHECK_NEAR(off / test_largest(exact, size), 0, 1e-13);
    hk_weighted_destroy(m, &terms);
    model_by_hand_destroy(&m);
    free(held);
    free(p);
    free(out);
    free(other);
    free(exact);
  }
}

/* ---- Multigrid ---- */

typedef struct Levels {
  HkModel *m;
  HkWeightedTerms terms;
  HkTermRows rows;
  uint8_t *held;
  HkMultigrid *multigrid;
} Levels;

static HkStatus make_levels(Levels *l, double tau, int threads) {
  HK_TRY(hk_term_rows_make(&l->rows, &l->terms, l->m, l->held, NULL));
  HK_TRY(hk_multigrid_create(l->m, &l->multigrid, NULL));
  HK_TRY(hk_fine_terms_set(l->multigrid, &l->rows, tau, threads, NULL));
  for (int k = 0; k + 1 < l->multigrid->count; k++)
    HK_TRY(hk_level_terms_project(l->multigrid, k, l->held, threads, NULL));
  return HK_OK;
}

static Levels levels_of(int dimension, int64_t count, double stiffness, double tau, int threads) {
  ByHand by = by_hand();
  by.dimension = dimension;
  Levels l = {.m = model_of_sheet(by, 40, 30)};
  l.held = hold_some(l.m);
  random_terms(&l.terms, l.m, count, stiffness, 5);
  if (make_levels(&l, tau, threads) < 0) abort();
  return l;
}

static void levels_destroy(Levels *l) {
  hk_multigrid_destroy(&l->multigrid);
  hk_term_rows_destroy(l->m, &l->rows);
  hk_weighted_destroy(l->m, &l->terms);
  model_by_hand_destroy(&l->m);
  free(l->held);
}

/* G p with G_i = sum of |w_i| sum_j |w_j| K / 2 over the terms. */
static void bound(const Levels *l, const double *p, double *out) {
  memset(out, 0, (size_t)l->m->n * 3 * sizeof *out);
  for (int64_t t = 0; t < l->terms.count; t++) {
    const HkWeightedTerm *term = &l->terms.term[t];
    static const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    double sum = 0;
    for (int a = 0; a < 4; a++) sum += l->held[term->vertex[a]] ? 0 : fabs(term->weight[a]);
    for (int a = 0; a < 4; a++)
      for (int q = 0; q < 9 && !l->held[term->vertex[a]]; q++)
        if (l->m->dimension == 3 || (q / 3 < 2 && q % 3 < 2))
          out[3 * (int64_t)term->vertex[a] + q / 3] += 0.5 * fabs(term->weight[a]) * sum *
                                                       term->K[place[q]] *
                                                       p[3 * (int64_t)term->vertex[a] + q % 3];
  }
}

TEST(residuals_of_level_0_have_the_terms_and_their_bound) {
  for (int dimension = 2; dimension <= 3; dimension++) {
    const double TAU = 0.1;
    Levels l = levels_of(dimension, 3000, 1e3, TAU, 1);
    HkLevel *level = &l.multigrid->level[0];
    int64_t n = l.m->n;
    double *p = take(3 * n), *C = take(3 * n), *G = take(3 * n), off = 0, most = 0;
    uint64_t seed = 9;
    for (int64_t q = 0; q < 3 * n; q++) p[q] = test_random(&seed);
    memset(level->r, 0, (size_t)level->n * 4 * sizeof *level->r);
    memset(level->b, 0, (size_t)level->n * 4 * sizeof *level->b);
    for (int64_t q = 0; q < 3 * n; q++)
      level->x[4 * (int64_t)l.multigrid->row[q / 3] + q % 3] = (float)p[q];
    product(&l.terms, l.m, l.held, NULL, p, C);
    bound(&l, p, G);
    hk_fine_terms_residual(l.multigrid, 1);
    hk_fine_terms_begin_sweep(l.multigrid, 1);
    for (int64_t q = 0; q < 3 * n; q++) {
      int64_t at = 4 * (int64_t)l.multigrid->row[q / 3] + q % 3;
      double exact = TAU * TAU * (G[q] - C[q]);
      off = fmax(off, fabs((double)level->r[at] - exact));
      off = fmax(off, fabs((double)level->b[at] - exact));
      most = fmax(most, fabs(exact));
    }
    CHECK(most > 1);
    CHECK_NEAR(off / most, 0, 1e-5);
    hk_fine_terms_end_sweep(l.multigrid, 1);
    for (int64_t q = 0; q < 4 * (int64_t)level->n; q++) CHECK(level->b[q] == 0);
    free(p);
    free(C);
    free(G);
    levels_destroy(&l);
  }
}

/* x . C x of a coarse level, or of level 0. */
static double energy(const Levels *l, int k, const float *x) {
  const HkLevelTerms *terms = &l->multigrid->level[k].terms;
  double sum = 0;
  if (k == 0) {
    double *p = take(3 * l->m->n), *Cp = take(3 * l->m->n);
    for (int64_t q = 0; q < 3 * l->m->n; q++)
      p[q] = x[4 * (int64_t)l->multigrid->row[q / 3] + q % 3];
    product(&l->terms, l->m, l->held, NULL, p, Cp);
    for (int64_t q = 0; q < 3 * l->m->n; q++) sum += p[q] * Cp[q];
    free(p);
    free(Cp);
    return sum;
  }
  for (int64_t t = 0; t < terms->count; t++) {
    double u[3] = {0, 0, 0};
    for (int64_t e = terms->start[t]; e < terms->start[t + 1]; e++)
      for (int c = 0; c < 3; c++)
        u[c] += (double)terms->weight[e] * x[4 * (int64_t)terms->row[e] + c];
    for (int q = 0; q < 9; q++)
      sum += u[q / 3] * (double)terms->K[12 * t + q / 3 * 4 + q % 3] * u[q % 3];
  }
  return sum;
}

static double sum_of_K(const Levels *l, int k) {
  const HkLevelTerms *terms = &l->multigrid->level[k].terms;
  double sum = 0;
  for (int64_t t = 0; t < terms->count; t++)
    sum += (double)terms->K[12 * t] + terms->K[12 * t + 5] + terms->K[12 * t + 10];
  return sum;
}

/* x of level k = P x of the next one, which is random. */
static void prolong_random(HkLevel *fine, uint64_t *seed) {
  HkLevel *coarse = fine + 1;
  for (int64_t q = 0; q < 4 * (int64_t)coarse->n; q++)
    coarse->x[q] = q % 4 < 3 ? (float)test_random(seed) : 0;
  for (int64_t i = 0; i < fine->n; i++)
    for (int c = 0; c < 4; c++) {
      fine->x[4 * i + c] = 0;
      for (int32_t e = fine->P.start[i]; e < fine->P.start[i + 1]; e++)
        fine->x[4 * i + c] += fine->P.weight[e] * coarse->x[4 * (int64_t)fine->P.column[e] + c];
    }
}

/* Terms of a group are one with the mean of their weights: by Jensen's inequality it is softer. One
 * term for each two coarse rows keeps all of the stiffness. */
TEST(coarse_terms_are_softer_than_the_projected_ones_and_keep_their_sum) {
  Levels l = levels_of(3, 4000, 1e3, 1, 1);
  uint64_t seed = 21;
  double all = 0;
  for (int64_t t = 0; t < l.terms.count; t++)
    all += l.terms.term[t].K[0] + l.terms.term[t].K[3] + l.terms.term[t].K[5];
  CHECK(l.multigrid->count > 2);
  for (int k = 0; k + 1 < l.multigrid->count; k++) {
    HkLevel *fine = &l.multigrid->level[k], *coarse = fine + 1;
    CHECK_NEAR(sum_of_K(&l, k + 1) / all, 1, 1e-4);
    CHECK(coarse->terms.count < (k == 0 ? l.terms.count : fine->terms.count));
    for (int trial = 0; trial < 5; trial++) {
      prolong_random(fine, &seed);
      double soft = energy(&l, k + 1, coarse->x), exact = energy(&l, k, fine->x);
      CHECK(soft > 0.01 * exact && soft <= exact * (1 + 1e-4));
    }
  }
  levels_destroy(&l);
}

TEST(coarse_terms_that_are_alone_are_the_projected_ones) {
  Levels l = levels_of(3, 12, 1e3, 1, 1);
  uint64_t seed = 22;
  CHECK(l.multigrid->level[1].terms.count == l.terms.count);
  for (int trial = 0; trial < 5; trial++) {
    prolong_random(l.multigrid->level, &seed);
    double exact = energy(&l, 0, l.multigrid->level[0].x);
    CHECK_NEAR(energy(&l, 1, l.multigrid->level[1].x) / exact, 1, 1e-5);
  }
  levels_destroy(&l);
}

TEST(terms_of_all_levels_are_the_same_with_any_number_of_threads) {
  Levels one = levels_of(3, 40000, 1e3, 1, 1), three = levels_of(3, 40000, 1e3, 1, 3);
  for (int k = 1; k < one.multigrid->count; k++) {
    const HkLevelTerms *a = &one.multigrid->level[k].terms, *b = &three.multigrid->level[k].terms;
    CHECK(a->count == b->count && a->start[a->count] == b->start[b->count]);
    if (a->count != b->count) break;
    size_t entries = (size_t)a->start[a->count];
    CHECK(memcmp(a->K, b->K, (size_t)a->count * 12 * sizeof *a->K) == 0);
    CHECK(memcmp(a->row, b->row, entries * sizeof *a->row) == 0);
    CHECK(memcmp(a->weight, b->weight, entries * sizeof *a->weight) == 0);
    CHECK(memcmp(a->G, b->G, (size_t)a->row_count * 12 * sizeof *a->G) == 0);
  }
  levels_destroy(&one);
  levels_destroy(&three);
}

/* r . z for z = Z r, relative to |r| |z|. */
static double definiteness(const System *s, HkPrecondition *p, const double *r, double *z) {
  if (p->type->apply(p, r, z, NULL) < 0) return -1;
  return system_dot(s, r, z) / sqrt(system_dot(s, r, r) * system_dot(s, z, z));
}

/* Terms a thousand and a million times as stiff as masses; r is random, and then along what the
 * terms push apart, where sweeps that count too little of them overshoot. */
TEST(cycles_with_stiff_terms_are_symmetric_and_positive_definite) {
  for (double stiffness = 1e3; stiffness < 1e7; stiffness *= 1000) {
    System *s = system_of(model_of_sheet(by_hand(), 40, 30), 1.5, 1, 2);
    HkVectors space = {.n = s->model->n, .threads = 1};
    double sums[64], *z = system_random(s, 1), *other = system_random(s, 2);
    HkMethod method = {0};
    HkPrecondition *p = NULL;
    space.sums = sums;
    random_terms(&s->H.blocks.terms, s->model, 6000, stiffness, 8);
    MUST(hk_term_rows_make(&s->H.term_rows, &s->H.blocks.terms, s->model, s->held.mask, error));
    MUST(hk_method_choose(&method, HK_PRECONDITION, "multigrid", error));
    MUST(hk_precondition_create(&s->setup, &space, &method, &p, error));
    p->A = &s->A;
    MUST(p->type->prepare(p, error));
    for (uint64_t seed = 10; seed < 20; seed++) {
      double *r = system_random(s, seed), *Cr = system_random(s, seed + 100);
      MUST(p->type->apply(p, Cr, other, error));
      CHECK(definiteness(s, p, r, z) > 0);
      double a = system_dot(s, r, other), b = system_dot(s, Cr, z);
      CHECK_NEAR(a - b, 0, 1e-4 * sqrt(system_dot(s, r, z) * system_dot(s, Cr, other)));
      for (int power = 0; power < 4; power++) {
        product(&s->H.blocks.terms, s->model, s->held.mask, NULL, r, Cr);
        double size = test_largest(Cr, 3 * s->model->n);
        for (int64_t q = 0; q < 3 * s->model->n; q++) r[q] = Cr[q] / size;
        CHECK(definiteness(s, p, r, z) > 0);
      }
      free(r);
      free(Cr);
    }
    hk_precondition_destroy(&p);
    hk_method_clear(&method);
    free(z);
    free(other);
    system_destroy(&s);
  }
}
