/* Sparse factorizations against dense elimination, on random matrices and on odd graphs. */
#include "base/isa.h"
#include "base/threads.h"
#include "linear/ordering.h"
#include "matrix_by_hand.h"
#include "model_by_hand.h"
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <time.h>

/* Largest |A x - b| of the sides, for x that came from b. */
static double residual(const Matrix *a, const double *x, const double *b, int sides) {
  double worst = 0;
  for (int64_t i = 0; i < a->n; i++)
    for (int c = 0; c < sides; c++) {
      double sum = -b[i * sides + c];
      for (int64_t j = 0; j < a->n; j++) sum += a->dense[i * a->n + j] * x[j * sides + c];
      worst = fmax(worst, fabs(sum));
    }
  return worst;
}

/* Factorizes, solves for 1 and for 3 sides, compares; returns the entries of L. */
static int64_t check_solutions(HkFactorKind kind, Matrix *a) {
  HkSparse sparse = matrix_sparse(a);
  HkFactor *factor = NULL;
  HkError error = {0};
  bool positive = false;
  double *b = matrix_alloc(3 * a->n, sizeof *b), *x = matrix_alloc(3 * a->n, sizeof *x);
  uint64_t seed = 5;
  CHECK(hk_factor_create(NULL, kind, HK_FACTOR_SOLVES, &sparse, &factor, &error) == HK_OK);
  CHECK(hk_factor_compute(factor, a->values, &positive, &error) == HK_OK);
  CHECK(positive);
  for (int64_t q = 0; q < 3 * a->n; q++) b[q] = test_random(&seed);
  for (int sides = 1; positive && sides <= 3; sides += 2) {
    memcpy(x, b, (size_t)(3 * a->n) * sizeof *x);
    CHECK(hk_factor_solve(factor, x, sides, &error) == HK_OK);
    CHECK_NEAR(residual(a, x, b, sides), 0, 1e-12);
  }
  int64_t entries = hk_factor_entries(factor);
  CHECK(hk_factor_bytes(factor) > 0);
  hk_factor_destroy(&factor);
  CHECK(!factor);
  free(b);
  free(x);
  return entries;
}

TEST(factors_solve_random_systems) {
  FOR_ALL_KINDS for (int64_t n = 1; n <= 120; n += n < 12 ? 1 : 27) {
    for (int density = 0; density < 4; density++) {
      static const double chances[] = {0.02, 0.1, 0.4, 1};
      Matrix a = matrix_random(n, chances[density], (uint64_t)(100 * n + density));
      check_solutions(kind, &a);
      matrix_destroy(&a);
    }
  }
}

/* Panels of every height and width, and more columns than are taken at once. */
TEST(ldlt_gives_the_same_bits_with_every_instruction_set) {
  for (int64_t n = 1; n <= 300; n += n < 40 ? 1 : 52) {
    Matrix a = matrix_random(n, n % 3 ? 0.1 : 1, (uint64_t)n);
    double *first = matrix_alloc(6 * n, sizeof *first), *x = matrix_alloc(3 * n, sizeof *x);
    HkSparse sparse = matrix_sparse(&a);
    for (int isa = HK_ISA_PORTABLE; isa <= (int)hk_isa_best(); isa++) {
      HkFactor *factor = NULL;
      bool positive = false;
      setenv("HOOKE_SIMD", hk_isa_name((HkIsa)isa), 1);
      MUST(hk_factor_create(NULL, HK_FACTOR_LDLT, HK_FACTOR_SOLVES, &sparse, &factor, error));
      MUST(hk_factor_compute(factor, a.values, &positive, error));
      CHECK(positive);
      for (int sides = 1; sides <= 3; sides += 2) {
        double *expected = first + (sides - 1) * n * 3 / 2;
        for (int64_t q = 0; q < n * sides; q++) x[q] = sin((double)q);
        MUST(hk_factor_solve(factor, x, sides, error));
        if (isa == HK_ISA_PORTABLE) memcpy(expected, x, (size_t)(n * sides) * sizeof *x);
        CHECK(memcmp(x, expected, (size_t)(n * sides) * sizeof *x) == 0);
      }
      hk_factor_destroy(&factor);
    }
    unsetenv("HOOKE_SIMD");
    free(first);
    free(x);
    matrix_destroy(&a);
  }
}

TEST(factors_of_nothing_and_of_one_number) {
  FOR_ALL_KINDS {
    Matrix none = matrix_of_zeros(0), one = matrix_of_zeros(1);
    matrix_set(&one, 0, 0, 4);
    CHECK(check_solutions(kind, &none) == 0);
    CHECK(check_solutions(kind, &one) == 1);
    matrix_destroy(&none);
    matrix_destroy(&one);
  }
}

/* No fill at all: leaves first, and each tree by itself. */
TEST(factors_of_trees_have_no_fill) {
  enum { SIDE = 300 };
  FOR_ALL_KINDS {
    Matrix star = matrix_of_zeros(SIDE), paths = matrix_of_zeros(SIDE);
    for (int64_t q = 0; q < SIDE; q++) {
      matrix_set(&star, q, q, q == 7 ? SIDE : 2);
      matrix_set(&paths, q, q, 2.5);
      if (q != 7) matrix_set(&star, q, 7, -1);
      if (q % 30 > 0) matrix_set(&paths, q, q - 1, -1); /* ten of them */
    }
    CHECK(check_solutions(kind, &star) == 2 * SIDE - 1);
    CHECK(check_solutions(kind, &paths) == 2 * SIDE - 10);
    matrix_destroy(&star);
    matrix_destroy(&paths);
  }
}

/* ---- Not positive definite ---- */

static bool is_positive(HkFactor *factor, const double *values) {
  HkError error = {0};
  bool positive = false;
  CHECK(hk_factor_compute(factor, values, &positive, &error) == HK_OK);
  return positive;
}

TEST(factors_find_matrices_that_are_not_positive) {
  FOR_ALL_KINDS for (int64_t n = 1; n <= 61; n += 12) {
    Matrix a = matrix_random(n, 0.2, (uint64_t)n);
    HkSparse sparse = matrix_sparse(&a);
    HkFactor *factor = NULL;
    MUST(hk_factor_create(NULL, kind, HK_FACTOR_SOLVES, &sparse, &factor, error));
    for (int64_t q = 0; q < n; q += 4) {
      double *diagonal = a.values + a.start[q], good = *diagonal;
      static const double bad[] = {-1, 0, -INFINITY, NAN};
      for (int c = 0; c < 4; c++) {
        *diagonal = bad[c];
        CHECK(!is_positive(factor, a.values));
      }
      *diagonal = good;
      CHECK(is_positive(factor, a.values));
      if (a.start[q + 1] == a.start[q] + 1) continue;
      double *beside = diagonal + 1, before = *beside;
      *beside = 1e3 * good; /* larger than both diagonal entries */
      CHECK(!is_positive(factor, a.values));
      *beside = NAN;
      CHECK(!is_positive(factor, a.values));
      *beside = before;
    }
    hk_factor_destroy(&factor);
    matrix_destroy(&a);
  }
}

/* ---- Grids ---- */

static int64_t entries_of(HkFactorKind kind, const Matrix *a) {
  HkSparse sparse = {a->n, a->start, a->row};
  HkFactor *factor = NULL;
  HkError error = {0};
  CHECK(hk_factor_create(NULL, kind, HK_FACTOR_SOLVES, &sparse, &factor, &error) == HK_OK);
  int64_t entries = factor ? hk_factor_entries(factor) : -1;
  hk_factor_destroy(&factor);
  return entries;
}

/* The numbers are those of another implementation of minimum degree, and a tenth more. */
TEST(ordering_leaves_little_fill_on_grids) {
  Matrix scalar = matrix_grid(81, 1), blocks = matrix_grid(39, 3);
  int64_t scalar_entries = entries_of(HK_FACTOR_LDLT, &scalar);
  int64_t block_entries = entries_of(HK_FACTOR_LDLT, &blocks);
  CHECK(scalar_entries < 470000);
  CHECK(block_entries < 640000);
  if (hk_factor_default() == HK_FACTOR_CHOLMOD) {
    CHECK((double)scalar_entries < 1.15 * (double)entries_of(HK_FACTOR_CHOLMOD, &scalar));
    CHECK((double)block_entries < 1.15 * (double)entries_of(HK_FACTOR_CHOLMOD, &blocks));
  }
  matrix_destroy(&scalar);
  matrix_destroy(&blocks);
}

TEST(ordering_names_every_row_once) {
  for (int q = 0; q < 40; q++) {
    Matrix a = matrix_random(1 + 5 * q, q % 4 * 0.05, (uint64_t)q);
    HkSparse sparse = matrix_sparse(&a);
    HkContext context = hk_context_default();
    int64_t *order = matrix_alloc(a.n, sizeof *order);
    uint8_t *seen = matrix_alloc(a.n, 1);
    MUST(hk_ordering_find(&context, &sparse, order, error));
    for (int64_t k = 0; k < a.n; k++) {
      CHECK(order[k] >= 0 && order[k] < a.n && !seen[order[k]]);
      if (order[k] >= 0 && order[k] < a.n) seen[order[k]] = 1;
    }
    free(order);
    free(seen);
    matrix_destroy(&a);
  }
}

/* ---- Threads ---- */

static int count_threads(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  if (!folder) return -1;
  for (const struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

typedef struct Seen {
  pthread_t by[64];
} Seen;

static void see_range(void *user, int64_t begin, int64_t end) {
  Seen *seen = user;
  const struct timespec pause = {.tv_nsec = 100000}; /* in which other threads can join */
  for (int64_t b = begin / HK_BLOCK; b * HK_BLOCK < end; b++) seen->by[b] = pthread_self();
  nanosleep(&pause, NULL);
}

static int threads_of_a_loop(void) {
  Seen seen;
  int count = 0;
  hk_parallel_for(3, 64 * HK_BLOCK, see_range, &seen);
  for (int q = 0; q < 64; q++) {
    bool first = true;
    for (int p = 0; p < q; p++) first = first && !pthread_equal(seen.by[p], seen.by[q]);
    count += first;
  }
  return count;
}

/* Largest number of threads of a loop that may use three: 3, or 1 in a build without threads. On a
 * busy machine some loops run serially. */
static int loop_threads(void) {
  int most = 1;
  for (int q = 0; q < 300 && most < 3; q++) {
    int count = threads_of_a_loop();
    if (count > most) most = count;
  }
  return most;
}

TEST(cholmod_starts_no_threads_and_leaves_ours_alone) {
  if (hk_factor_default() != HK_FACTOR_CHOLMOD) SKIP("this build has no CHOLMOD");
  Matrix a = matrix_grid(70, 3);
  HkSparse sparse = {a.n, a.start, a.row};
  HkFactor *factor = NULL;
  double *b = matrix_alloc(3 * a.n, sizeof *b);
  int loop = loop_threads(), before = count_threads();
  for (int64_t q = 0; q < 3 * a.n; q++) b[q] = 1;
  MUST(hk_factor_create(NULL, HK_FACTOR_CHOLMOD, HK_FACTOR_SOLVES, &sparse, &factor, error));
  CHECK(is_positive(factor, a.values));
  MUST(hk_factor_solve(factor, b, 3, error));
  if (before > 0) CHECK(count_threads() <= before);
  CHECK(loop_threads() == loop);
  hk_factor_destroy(&factor);
  free(b);
  matrix_destroy(&a);
}

TEST(cholmod_is_refused_where_it_is_not_built_in) {
  if (hk_factor_default() == HK_FACTOR_CHOLMOD) SKIP("this build has CHOLMOD");
  Matrix a = matrix_grid(2, 1);
  HkSparse sparse = {a.n, a.start, a.row};
  HkFactor *factor = NULL;
  FAILS(hk_factor_create(NULL, HK_FACTOR_CHOLMOD, HK_FACTOR_SOLVES, &sparse, &factor, error),
        HK_ERROR_UNSUPPORTED, "ldlt");
  CHECK(!factor);
  matrix_destroy(&a);
}
