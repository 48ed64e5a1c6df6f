/* The constant matrix of the local/global method: right solutions, held vertices, what is done
 * again and what is not. */
#include "linear/prefactor.h"
#include "model_by_hand.h"
#include "test.h"

/* out = (M + tau^2 (L + diag e) + tau C) z over the free vertices. */
static void apply_constant_matrix(const HkModel *m, const HkHeld *held, double tau, const double *e,
                                  const double *z, double *out) {
  for (int64_t q = 0; q < m->n; q++)
    for (int c = 0; c < 3; c++)
      out[3 * q + c] = (m->mass[q] + (e ? tau * tau * e[q] : 0)) * z[3 * q + c];
  for (int64_t s = 0; s < m->spring_count; s++) {
    double entry = tau * tau * m->k[s] + (m->damping ? tau * m->damping[s] : 0);
    for (int c = 0; c < 3; c++) {
      double f = entry * (z[3 * m->i[s] + c] - z[3 * m->j[s] + c]);
      out[3 * m->i[s] + c] += f;
      out[3 * m->j[s] + c] -= f;
    }
  }
  for (int64_t q = 0; q < 3 * m->n; q++)
    if (held->mask[q / 3]) out[q] = 0;
}

enum { NX = 9, NY = 8, COUNT = NX * NY };

static void check_prefactor(HkPrefactor *p, const HkModel *m, const HkHeld *held, double tau,
                            const double *extra) {
  double r[3 * COUNT], z[3 * COUNT], back[3 * COUNT];
  uint64_t seed = 11;
  for (int q = 0; q < 3 * COUNT; q++) z[q] = r[q] = held->mask[q / 3] ? 0 : test_random(&seed);
  MUST(hk_prefactor_update(p, tau, extra, error));
  MUST(hk_prefactor_solve(p, z, z, error));
  apply_constant_matrix(m, held, tau, extra, z, back);
  for (int q = 0; q < 3 * COUNT; q++) CHECK_NEAR(back[q], r[q], 1e-13);
}

static HkModel *damped_sheet(void) {
  ByHand by = by_hand();
  by.damping = true;
  return model_of_sheet(by, NX, NY);
}

TEST(prefactor_solves_the_constant_matrix) {
  const HkFactorKind kinds[] = {HK_FACTOR_LDLT, hk_factor_default()};
  for (int q = 0; q < 2; q++) {
    HkModel *m = damped_sheet();
    uint8_t mask[COUNT] = {[0] = 1, [5] = 1};
    HkHeld held = {.mask = mask};
    HkPrefactor *p = NULL;
    double extra[COUNT];
    for (int v = 0; v < COUNT; v++) extra[v] = 1000 * v;
    MUST(hk_prefactor_create(m, kinds[q], &held, &p, error));
    check_prefactor(p, m, &held, 0.1, NULL);
    check_prefactor(p, m, &held, 0.03, extra);
    held.stays = true;
    check_prefactor(p, m, &held, 0.03, extra);
    CHECK(hk_prefactor_bytes(p) > 0);
    hk_prefactor_destroy(&p);
    model_by_hand_destroy(&m);
  }
}

static void check_counts(HkPrefactor *p, int64_t analyses, int64_t factorisations) {
  int64_t a, f;
  hk_prefactor_counts(p, &a, &f);
  if (a != analyses || f != factorisations)
    test_fail(__FILE__, __LINE__, "%d analyses and %d factorisations, expected %d and %d", (int)a,
              (int)f, (int)analyses, (int)factorisations);
}

TEST(prefactor_does_again_only_what_changed) {
  HkModel *m = damped_sheet();
  uint8_t mask[COUNT] = {0};
  HkHeld held = {.mask = mask};
  HkPrefactor *p = NULL;
  double extra[COUNT] = {0}, tau = 0.1;
  MUST(hk_prefactor_create(m, HK_FACTOR_LDLT, &held, &p, error));
  check_counts(p, 0, 0);
  check_prefactor(p, m, &held, tau, NULL);
  check_prefactor(p, m, &held, tau, extra);
  check_counts(p, 1, 1);
  check_prefactor(p, m, &held, 0.2, NULL);
  check_counts(p, 1, 2);
  check_prefactor(p, m, &held, tau, NULL);
  for (int64_t s = 0; s < m->spring_count; s++) m->k[s] *= 2;
  m->stiffness_version++;
  check_prefactor(p, m, &held, tau, NULL);
  check_counts(p, 1, 4);
  mask[9] = 1;
  held.version++;
  check_prefactor(p, m, &held, tau, NULL);
  check_counts(p, 2, 5);
  held.stays = true;
  check_prefactor(p, m, &held, tau, NULL);
  check_counts(p, 3, 6);
  mask[10] = 1;
  held.version++;
  check_prefactor(p, m, &held, tau, NULL);
  check_counts(p, 3, 7);
  hk_prefactor_destroy(&p);
  model_by_hand_destroy(&m);
}

/* A tenth of the mass of vertex 4 is where other forces begin to count; those on held vertices
 * never do. */
TEST(prefactor_leaves_out_small_other_forces) {
  HkModel *m = damped_sheet();
  uint8_t mask[COUNT] = {[7] = 1};
  HkHeld held = {.mask = mask};
  HkPrefactor *p = NULL;
  double extra[COUNT] = {[7] = 1e9}, tau = 0.1, tenth = 0.1 * m->mass[4] / (tau * tau);
  MUST(hk_prefactor_create(m, HK_FACTOR_LDLT, &held, &p, error));
  MUST(hk_prefactor_update(p, tau, NULL, error));
  MUST(hk_prefactor_update(p, tau, extra, error));
  extra[4] = 0.99 * tenth;
  MUST(hk_prefactor_update(p, tau, extra, error));
  check_counts(p, 1, 1);
  extra[4] = 1.01 * tenth;
  MUST(hk_prefactor_update(p, tau, extra, error));
  check_counts(p, 1, 2);
  check_prefactor(p, m, &held, tau, extra);
  check_counts(p, 1, 2);
  extra[4] = 0.99 * tenth;
  MUST(hk_prefactor_update(p, tau, extra, error));
  check_counts(p, 1, 3);
  hk_prefactor_destroy(&p);
  model_by_hand_destroy(&m);
}

/* Or else a resumed run would go another way than one that was not interrupted. */
TEST(prefactor_depends_on_the_present_step_alone) {
  HkModel *m = damped_sheet();
  uint8_t mask[COUNT] = {0};
  HkHeld held = {.mask = mask};
  HkPrefactor *old = NULL, *fresh = NULL;
  double extra[COUNT] = {0}, a[3 * COUNT], b[3 * COUNT], tau = 0.1;
  for (int q = 0; q < 3 * COUNT; q++) a[q] = b[q] = 1 + q;
  MUST(hk_prefactor_create(m, HK_FACTOR_LDLT, &held, &old, error));
  MUST(hk_prefactor_create(m, HK_FACTOR_LDLT, &held, &fresh, error));
  for (int step = 0; step < 8; step++) {
    for (int v = 0; v < COUNT; v++) extra[v] = 0.03 * (step + v % 3) * m->mass[v] / (tau * tau);
    MUST(hk_prefactor_update(old, tau, extra, error));
  }
  MUST(hk_prefactor_update(fresh, tau, extra, error));
  MUST(hk_prefactor_solve(old, a, a, error));
  MUST(hk_prefactor_solve(fresh, b, b, error));
  CHECK(memcmp(a, b, sizeof a) == 0);
  hk_prefactor_destroy(&old);
  hk_prefactor_destroy(&fresh);
  model_by_hand_destroy(&m);
}

TEST(prefactor_refuses_what_is_not_positive) {
  HkModel *m = damped_sheet();
  uint8_t mask[COUNT] = {0};
  HkHeld held = {.mask = mask};
  HkPrefactor *p = NULL;
  double extra[COUNT] = {[3] = -1e9};
  MUST(hk_prefactor_create(m, HK_FACTOR_LDLT, &held, &p, error));
  FAILS(hk_prefactor_update(p, 0, NULL, error), HK_ERROR_INVALID, "tau above 0");
  FAILS(hk_prefactor_update(p, 0.1, extra, error), HK_ERROR_INVALID, "not positive definite");
  check_prefactor(p, m, &held, 0.1, NULL);
  hk_prefactor_destroy(&p);
  model_by_hand_destroy(&m);
}
