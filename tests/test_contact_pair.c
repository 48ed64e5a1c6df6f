/* Energy of a pair of features against differences, and how far a pair may move against samples of
 * its path. */
#include "base/vec.h"
#include "contact/pair.h"
#include "force/weighted.h"
#include "model_by_hand.h"
#include "test.h"

#include <math.h>
#include <string.h>

static void draw(uint64_t *seed, int split, double size, HkContactPair *pair) {
  *pair = (HkContactPair){.split = split, .xi = 0.02, .ghat = 0.7, .k = 3};
  double X[12];
  for (int c = 0; c < 12; c++) X[c] = size * test_random(seed);
  for (int c = 0; c < 12; c++) pair->x[c] = X[c] + 0.05 * test_random(seed);
  pair->c0 = hk_pair_mollifier(split, X);
}

/* The second edge nearly along the first. */
static void make_parallel(uint64_t *seed, HkContactPair *pair) {
  for (int c = 0; c < 3; c++)
    pair->x[9 + c] = pair->x[6 + c] + (pair->x[3 + c] - pair->x[c]) + 0.01 * test_random(seed);
}

static bool is_active(const HkContactPair *pair) {
  double g = hk_pair_touch(pair).g;
  return g > 0.02 && g < pair->ghat;
}

static double energy(const HkContactPair *pair) {
  HkTouch touch = hk_pair_touch(pair);
  double slope;
  bool turns;
  return hk_pair_energy(pair, &touch, &slope, &turns);
}

static void gradient(const HkContactPair *pair, double G[12]) {
  HkTouch touch = hk_pair_touch(pair);
  hk_pair_gradient(pair, &touch, G);
}

/* The closest points lie on other features beside the pair: no differences are taken there. */
static bool changes(const HkContactPair *pair, const HkContactPair *other) {
  HkTouch a = hk_pair_touch(pair), b = hk_pair_touch(other);
  for (int k = 0; k < 4; k++)
    if ((a.w[k] == 0) != (b.w[k] == 0)) return true;
  return false;
}

/* The Hessian from its term, and from the derivatives of mu. */
static void hessian(const HkContactPair *pair, const HkTouch *touch, bool projected,
                    double H[144]) {
  HkWeightedTerm term;
  HkWeightedCurvature curvature;
  double B[9], turning[144];
  memcpy(term.weight, touch->w, sizeof term.weight);
  hk_pair_term(pair, touch, term.K, projected ? NULL : &curvature.across, curvature.q);
  HkWeightedTerms one = {.term = &term, .curvature = &curvature, .curved = !projected, .count = 1};
  for (int k = 0; k < 144; k++) {
    hk_weighted_block(&one, 0, k / 36, k % 12 / 3, B);
    H[k] = B[k / 12 % 3 * 3 + k % 3];
  }
  bool any = projected ? hk_pair_projected_rest(pair, touch, turning)
                       : hk_pair_turning(pair, touch, turning);
  for (int k = 0; k < 144 && any; k++) H[k] += turning[k];
}

TEST(gradients_and_hessians_are_those_of_differences) {
  const double STEP = 1e-6;
  uint64_t seed = 11;
  int tried = 0, mollified = 0;
  for (int trial = 0; trial < 4000; trial++) {
    HkContactPair pair;
    int split = 1 + trial % 2;
    draw(&seed, split, 1, &pair);
    if (trial % 4 == 1) make_parallel(&seed, &pair);
    if (!is_active(&pair)) continue;
    double G[12], H[144], up_G[12], down_G[12], size = 0;
    HkTouch touch = hk_pair_touch(&pair);
    hk_pair_gradient(&pair, &touch, G);
    hessian(&pair, &touch, false, H);
    for (int q = 0; q < 144; q++) size = fmax(size, fabs(H[q]));
    bool smooth = true;
    for (int q = 0; q < 12 && smooth; q++) {
      HkContactPair up = pair, down = pair;
      up.x[q] += STEP;
      down.x[q] -= STEP;
      smooth = !changes(&pair, &up) && !changes(&pair, &down);
      if (!smooth) break;
      CHECK_NEAR((energy(&up) - energy(&down)) / (2 * STEP), G[q], 1e-6 * (1 + fabs(G[q])));
      gradient(&up, up_G);
      gradient(&down, down_G);
      double worst = 0;
      for (int r = 0; r < 12; r++)
        worst = fmax(worst, fabs((up_G[r] - down_G[r]) / (2 * STEP) - H[12 * r + q]));
      CHECK(worst <= 1e-5 * (1 + size));
    }
    tried += smooth;
    mollified += smooth && pair.c0 > 0 && trial % 4 == 1;
  }
  CHECK(tried > 1000 && mollified > 100);
}

TEST(projected_hessians_are_semidefinite_and_forces_balance) {
  uint64_t seed = 12;
  for (int trial = 0; trial < 1000; trial++) {
    HkContactPair pair;
    draw(&seed, 1 + trial % 2, 1, &pair);
    if (trial % 4 == 1) make_parallel(&seed, &pair);
    if (!is_active(&pair)) continue;
    double G[12], H[144], sum[3] = {0, 0, 0}, torque[3] = {0, 0, 0}, p[12];
    HkTouch touch = hk_pair_touch(&pair);
    hk_pair_gradient(&pair, &touch, G);
    for (int a = 0; a < 4; a++) {
      double arm[3];
      hk_axpy(1, G + 3 * a, sum);
      hk_cross(pair.x + 3 * a, G + 3 * a, arm);
      hk_axpy(1, arm, torque);
    }
    for (int c = 0; c < 3; c++) CHECK_NEAR(sum[c], 0, 1e-12 * (1 + hk_norm(G)));
    for (int c = 0; c < 3; c++) CHECK_NEAR(torque[c], 0, 1e-10 * (1 + hk_norm(G)));
    hessian(&pair, &touch, true, H);
    for (int c = 0; c < 12; c++) p[c] = test_random(&seed);
    double curvature = 0;
    for (int q = 0; q < 144; q++) curvature += p[q / 12] * H[q] * p[q % 12];
    CHECK(curvature >= 0);
  }
}

/* There mu and its gradient are 0, and what is left of the Hessian is positive semidefinite. */
TEST(the_projected_hessian_of_parallel_edges_is_the_true_one) {
  uint64_t seed = 13;
  int tried = 0;
  for (int trial = 0; trial < 200; trial++) {
    HkContactPair pair;
    draw(&seed, HK_CONTACT_EDGES, 1, &pair);
    for (int c = 0; c < 3; c++) pair.x[9 + c] = pair.x[6 + c] + 0.5 * (pair.x[3 + c] - pair.x[c]);
    if (!is_active(&pair)) continue;
    HkTouch touch = hk_pair_touch(&pair);
    double projected[144], exact[144], most = 0;
    CHECK(hk_pair_projected_rest(&pair, &touch, projected));
    CHECK(hk_pair_turning(&pair, &touch, exact));
    for (int k = 0; k < 144; k++) most = fmax(most, fabs(exact[k]));
    for (int k = 0; k < 144; k++) CHECK_NEAR(projected[k], exact[k], 1e-9 * most);
    tried++;
  }
  CHECK(tried > 20);
}

/* Moves y n of the vertices, each along the normal, turn the two sides against each other. */
TEST(the_projected_hessian_of_things_that_roll_is_the_true_one_along_the_normal) {
  uint64_t seed = 14;
  int tried = 0;
  for (int trial = 0; trial < 400; trial++) {
    HkContactPair pair;
    draw(&seed, 1 + trial % 2, 1, &pair);
    HkTouch touch = hk_pair_touch(&pair);
    pair.xi = touch.g + pair.xi - 0.3; /* nearly all of the distance is radius */
    pair.ghat = 1;
    touch = hk_pair_touch(&pair);
    double projected[144], exact[144], rest[144], p[12], sum[2] = {0, 0};
    if (pair.xi < 0.1 || !hk_pair_projected_rest(&pair, &touch, rest)) continue;
    if (hk_pair_turning(&pair, &touch, rest)) continue;
    hessian(&pair, &touch, true, projected);
    hessian(&pair, &touch, false, exact);
    for (int c = 0; c < 12; c += 3) {
      double y = test_random(&seed);
      for (int q = 0; q < 3; q++) p[c + q] = y * touch.n[q];
    }
    for (int q = 0; q < 144; q++) {
      sum[0] += p[q / 12] * projected[q] * p[q % 12];
      sum[1] += p[q / 12] * exact[q] * p[q % 12];
    }
    CHECK_NEAR(sum[0], sum[1], 1e-9 * fabs(sum[1]));
    tried++;
  }
  CHECK(tried > 50);
}

/* The gap is sampled along the part of a move that is allowed, and beyond it. */
TEST(a_pair_moves_as_far_as_its_gap_stays_open_and_no_less) {
  uint64_t seed = 13;
  int cut = 0;
  for (int trial = 0; trial < 3000; trial++) {
    HkContactPair pair;
    double p[12];
    draw(&seed, 1 + trial % 2, 1, &pair);
    for (int c = 0; c < 12; c++) p[c] = 2 * test_random(&seed);
    HkTouch touch = hk_pair_touch(&pair);
    if (touch.g <= 0) continue;
    double t = hk_pair_reach(&pair, &touch, p, 0.1 * touch.g), least = INFINITY;
    CHECK(t >= 0 && t <= 1);
    for (int k = 0; k <= 200; k++) {
      HkContactPair at = pair;
      for (int c = 0; c < 12; c++) at.x[c] += k / 200.0 * t * p[c];
      least = fmin(least, hk_pair_touch(&at).g);
    }
    CHECK(least >= 0.0099 * touch.g);
    if (t == 1) continue;
    cut++; /* and the gap is nearly at a tenth soon after */
    double beyond = INFINITY;
    for (int k = 0; k <= 200; k++) {
      HkContactPair at = pair;
      for (int c = 0; c < 12; c++) at.x[c] += (t + k / 200.0 * (1 - t)) * p[c];
      beyond = fmin(beyond, hk_pair_touch(&at).g);
    }
    CHECK(beyond <= 0.5 * touch.g);
  }
  CHECK(cut > 100);
}

TEST(a_move_that_is_not_finite_is_not_allowed) {
  HkContactPair pair = {
      .split = 1, .x = {0, 1, 0, -1, 0, -1, 1, 0, -1, 0, 0, 1}, .ghat = 0.1, .k = 1};
  double p[12] = {0, NAN};
  HkTouch touch = hk_pair_touch(&pair);
  CHECK(hk_pair_reach(&pair, &touch, p, 0.1 * touch.g) == 0);
  p[1] = -INFINITY;
  CHECK(hk_pair_reach(&pair, &touch, p, 0.1 * touch.g) == 0);
}
