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
  for (int64_t s = 0; s < m->springs.count; s++) {
    double entry =
        tau * tau * m->springs.k[s] + (m->springs.damping ? tau * m->springs.damping[s] : 0);
    for (int c = 0; c < 3; c++) {
      double f = entry * (z[3 * m->springs.i[s] + c] - z[3 * m->springs.j[s] + c]);
      out[3 * m->springs.i[s] + c] += f;
      out[3 * m->springs.j[s] + c] -= f;
    }
  }
  for (int64_t q = 0; q < 3 * m->n; q++)
    if (held->mask[q / 3]) out[q] = 0;
}

enum { NX = 9, NY = 8, COUNT = NX * NY };

/* |A z - r| at most; z is found in place. */
static void check_within(HkPrefactor *p, const HkModel *m, const HkHeld *held, double tau,
                         const double *extra, double most) {
  double r[3 * COUNT], z[3 * COUNT], back[3 * COUNT];
  uint64_t seed = 11;
  for (int q = 0; q < 3 * COUNT; q++) z[q] = r[q] = held->mask[q / 3] ? 0 : test_random(&seed);
  MUST(hk_prefactor_update(p, tau, extra, error));
  MUST(hk_prefactor_solve(p, 1, z, z, error));
  apply_constant_matrix(m, held, tau, extra, z, back);
  for (int q = 0; q < 3 * COUNT; q++) CHECK_NEAR(back[q], r[q], most);
}

static void check_prefactor(HkPrefactor *p, const HkModel *m, const HkHeld *held, double tau,
                            const double *extra) {
  check_within(p, m, held, tau, extra, 1e-13);
}

static HkModel *damped_sheet(void) {
  ByHand by = by_hand();
  by.damping = true;
  return model_of_sheet(by, NX, NY);
}

/* The built-in kind, and CHOLMOD where there is one. */
static HkFactorKind kind_of(int q) {
  return q == 0 ? HK_FACTOR_LDLT : hk_factor_default();
}

TEST(prefactor_solves_the_constant_matrix) {
  for (int q = 0; q < 2; q++) {
    HkModel *m = damped_sheet();
    uint8_t mask[COUNT] = {[0] = 1, [5] = 1};
    HkHeld held = {.mask = mask};
    HkPrefactor *p = NULL;
    double extra[COUNT];
    for (int v = 0; v < COUNT; v++) extra[v] = 1000 * v;
    MUST(hk_prefactor_create(m, &m->springs, kind_of(q), HK_PRECISION_DOUBLE, &held, &p, error));
    check_prefactor(p, m, &held, 0.1, NULL);
    check_prefactor(p, m, &held, 0.03, extra);
    held.stays = true;
    check_prefactor(p, m, &held, 0.03, extra);
    CHECK(hk_prefactor_bytes(p) > 0);
    hk_prefactor_destroy(&p);
    model_by_hand_destroy(&m);
  }
}

static void check_counts(HkPrefactor *p, int64_t analyses, int64_t factorizations) {
  int64_t a, f;
  hk_prefactor_counts(p, &a, &f);
  if (a != analyses || f != factorizations)
    test_fail(__FILE__, __LINE__, "%d analyses and %d factorizations, expected %d and %d", (int)a,
              (int)f, (int)analyses, (int)factorizations);
}

TEST(prefactor_does_again_only_what_changed) {
  HkModel *m = damped_sheet();
  uint8_t mask[COUNT] = {0};
  HkHeld held = {.mask = mask};
  HkPrefactor *p = NULL;
  double extra[COUNT] = {0}, tau = 0.1;
  MUST(hk_prefactor_create(m, &m->springs, HK_FACTOR_LDLT, HK_PRECISION_DOUBLE, &held, &p, error));
  check_counts(p, 0, 0);
  check_prefactor(p, m, &held, tau, NULL);
  check_prefactor(p, m, &held, tau, extra);
  check_counts(p, 1, 1);
  check_prefactor(p, m, &held, 0.2, NULL);
  check_counts(p, 1, 2);
  check_prefactor(p, m, &held, tau, NULL);
  for (int64_t s = 0; s < m->springs.count; s++) m->springs.k[s] *= 2;
  m->springs.version++;
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
  MUST(hk_prefactor_create(m, &m->springs, HK_FACTOR_LDLT, HK_PRECISION_DOUBLE, &held, &p, error));
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
  MUST(
      hk_prefactor_create(m, &m->springs, HK_FACTOR_LDLT, HK_PRECISION_DOUBLE, &held, &old, error));
  MUST(hk_prefactor_create(m, &m->springs, HK_FACTOR_LDLT, HK_PRECISION_DOUBLE, &held, &fresh,
                           error));
  for (int step = 0; step < 8; step++) {
    for (int v = 0; v < COUNT; v++) extra[v] = 0.03 * (step + v % 3) * m->mass[v] / (tau * tau);
    MUST(hk_prefactor_update(old, tau, extra, error));
  }
  MUST(hk_prefactor_update(fresh, tau, extra, error));
  MUST(hk_prefactor_solve(old, 1, a, a, error));
  MUST(hk_prefactor_solve(fresh, 1, b, b, error));
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
  MUST(hk_prefactor_create(m, &m->springs, HK_FACTOR_LDLT, HK_PRECISION_DOUBLE, &held, &p, error));
  FAILS(hk_prefactor_update(p, 0, NULL, error), HK_ERROR_INVALID, "tau above 0");
  FAILS(hk_prefactor_update(p, 0.1, extra, error), HK_ERROR_INVALID, "not positive definite");
  check_prefactor(p, m, &held, 0.1, NULL);
  hk_prefactor_destroy(&p);
  model_by_hand_destroy(&m);
}

/* ---- Precision ---- */

TEST(prefactor_is_single_where_that_is_enough) {
  for (int q = 0; q < 2; q++) {
    HkModel *m = damped_sheet();
    uint8_t mask[COUNT] = {[0] = 1, [5] = 1};
    HkHeld held = {.mask = mask};
    HkPrefactor *p = NULL;
    double extra[COUNT];
    for (int v = 0; v < COUNT; v++) extra[v] = 1000 * v;
    MUST(hk_prefactor_create(m, &m->springs, kind_of(q), HK_PRECISION_AUTO, &held, &p, error));
    check_within(p, m, &held, 0.1, NULL, 1e-5);
    CHECK(hk_prefactor_is_single(p) && hk_prefactor_traffic(p) > 0);
    check_within(p, m, &held, 0.03, extra, 1e-5);
    held.stays = true;
    check_within(p, m, &held, 0.03, extra, 1e-5);
    mask[9] = 1;
    held.version++;
    check_within(p, m, &held, 0.03, extra, 1e-5);
    CHECK(hk_prefactor_is_single(p));
    hk_prefactor_destroy(&p);
    model_by_hand_destroy(&m);
  }
}

static void count_lines(void *user, HkLogLevel level, const char *text) {
  (void)level;
  *(int *)user += strstr(text, "double precision") != NULL;
}

/* Only its little mass holds a free body where it is: A has 1e9 times less to say of moving all of
 * it than of bending it. A pin, or a step so short that the mass counts, makes it easy. */
TEST(prefactor_of_a_stiff_free_body_stays_double) {
  for (int q = 0; q < 2; q++) {
    HkModel *m = damped_sheet();
    uint8_t mask[COUNT] = {0};
    HkHeld held = {.mask = mask};
    HkPrefactor *p = NULL;
    int lines = 0;
    for (int64_t s = 0; s < m->springs.count; s++) m->springs.k[s] *= 1e9;
    m->context.log = count_lines;
    m->context.log_user = &lines;
    MUST(hk_prefactor_create(m, &m->springs, kind_of(q), HK_PRECISION_AUTO, &held, &p, error));
    check_within(p, m, &held, 0.1, NULL, 1e-3);
    CHECK(!hk_prefactor_is_single(p) && lines == 1 && hk_prefactor_traffic(p) == 0);
    check_within(p, m, &held, 0.11, NULL, 1e-3);
    CHECK(!hk_prefactor_is_single(p) && lines == 1);
    check_within(p, m, &held, 1e-5, NULL, 1e-4);
    CHECK(hk_prefactor_is_single(p) && lines == 1);
    check_within(p, m, &held, 0.1, NULL, 1e-3);
    CHECK(!hk_prefactor_is_single(p) && lines == 2);
    mask[0] = 1;
    held.version++;
    MUST(hk_prefactor_update(p, 0.1, NULL, error));
    CHECK(hk_prefactor_is_single(p) && lines == 2);
    hk_prefactor_destroy(&p);
    model_by_hand_destroy(&m);
  }
}

TEST(prefactor_is_as_precise_as_asked) {
  static const HkPrecision asked[] = {HK_PRECISION_SINGLE, HK_PRECISION_DOUBLE};
  for (int q = 0; q < 2; q++) {
    HkModel *m = damped_sheet();
    uint8_t mask[COUNT] = {0};
    HkHeld held = {.mask = mask};
    HkPrefactor *p = NULL;
    MUST(hk_prefactor_create(m, &m->springs, HK_FACTOR_LDLT, asked[q], &held, &p, error));
    MUST(hk_prefactor_update(p, 0.1, NULL, error));
    CHECK(hk_prefactor_is_single(p) == (q == 0));
    for (int64_t s = 0; s < m->springs.count; s++) m->springs.k[s] *= 1e9;
    m->springs.version++;
    MUST(hk_prefactor_update(p, 0.1, NULL, error));
    CHECK(hk_prefactor_is_single(p) == (q == 0));
    hk_prefactor_destroy(&p);
    model_by_hand_destroy(&m);
  }
}

/* Bytes held now, behind a header that knows the size of each block. */
typedef struct Heap {
  size_t held;
  int calls;
} Heap;

static void *resize(void *user, void *p, size_t bytes) {
  enum { HEADER = 64 };
  Heap *heap = user;
  char *block = p ? (char *)p - HEADER : NULL;
  size_t before = 0;
  if (block) memcpy(&before, block, sizeof before);
  heap->calls++;
  heap->held += bytes - before;
  if (bytes == 0) {
    free(block);
    return NULL;
  }
  block = realloc(block, bytes + HEADER);
  if (!block) abort();
  memcpy(block, &bytes, sizeof bytes);
  return block + HEADER;
}

/* CHOLMOD's memory is not the context's. */
TEST(prefactor_counts_its_bytes_and_solves_without_more) {
  static const HkPrecision asked[] = {HK_PRECISION_DOUBLE, HK_PRECISION_SINGLE};
  size_t held_bytes[2];
  for (int q = 0; q < 2; q++) {
    ByHand by = by_hand();
    HkModel *m = model_of_sheet(by, 60, 60);
    Heap heap = {0};
    HkHeld held = {.mask = calloc((size_t)m->n, 1)};
    HkPrefactor *p = NULL;
    double *z = calloc((size_t)m->n * 3, sizeof *z);
    HkContext before = m->context;
    if (!held.mask || !z) abort();
    m->context.resize = resize;
    m->context.memory_user = &heap;
    MUST(hk_prefactor_create(m, &m->springs, HK_FACTOR_LDLT, asked[q], &held, &p, error));
    MUST(hk_prefactor_update(p, 0.1, NULL, error));
    held_bytes[q] = hk_prefactor_bytes(p);
    CHECK_NEAR((double)held_bytes[q], (double)heap.held, 0.001 * (double)heap.held);
    z[0] = 1;
    int calls = heap.calls;
    for (int k = 0; k < 3; k++) MUST(hk_prefactor_solve(p, 1, z, z, error));
    CHECK(heap.calls == calls);
    hk_prefactor_destroy(&p);
    CHECK(heap.held == 0);
    m->context = before;
    model_by_hand_destroy(&m);
    free(held.mask);
    free(z);
  }
  CHECK((double)held_bytes[1] < 0.8 * (double)held_bytes[0]);
}
