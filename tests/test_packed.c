/* Factors packed in single precision against the double ones that they are made from. */
#include "base/isa.h"
#include "linear/packed.h"
#include "linear/packed_tree.h"
#include "matrix_by_hand.h"
#include "model_by_hand.h"
#include "test.h"

/* A factor, the same packed, and a right-hand side with its solution in double precision. */
typedef struct Pair {
  HkFactor *factor;
  HkPacked *packed;
  int64_t n;
  double *b, *x, *z;
} Pair;

static void destroy(Pair *a) {
  hk_factor_destroy(&a->factor);
  hk_packed_destroy(&a->packed);
  free(a->b);
  free(a->x);
  free(a->z);
}

/* Row q stands at the place n - 1 - q of the right-hand sides. */
static HkStatus make(HkFactorKind kind, const HkSparse *sparse, const double *values, Pair *a,
                     HkError *error) {
  HkContext context = hk_context_default();
  bool positive;
  int64_t n = sparse->n;
  int32_t *at = matrix_alloc(n, sizeof *at);
  uint64_t seed = 3;
  *a = (Pair){.n = n};
  a->b = matrix_alloc(3 * n, sizeof *a->b);
  a->x = matrix_alloc(3 * n, sizeof *a->x);
  a->z = matrix_alloc(3 * n, sizeof *a->z);
  for (int64_t q = 0; q < n; q++) at[q] = (int32_t)(n - 1 - q);
  for (int64_t q = 0; q < 3 * n; q++) a->b[q] = test_random(&seed);
  for (int64_t q = 0; q < 3 * n; q++) a->x[q] = a->b[3 * (n - 1 - q / 3) + q % 3];
  HkStatus status = hk_factor_create(&context, kind, HK_FACTOR_PANELS, sparse, &a->factor, error);
  if (status >= 0) status = hk_factor_compute(a->factor, values, &positive, error);
  if (status >= 0) status = hk_factor_solve(a->factor, a->x, 3, error);
  HkSupernodes view = hk_factor_view(a->factor);
  if (status >= 0) status = hk_packed_create(&context, &view, at, &a->packed, error);
  if (status >= 0) status = hk_packed_fill(a->packed, &view, 8, error);
  free(at);
  return status;
}

/* |z - x| / |x| of the packed solution and the double one. */
static double solve_error(Pair *a, int threads) {
  double off = 0, size = 0;
  hk_packed_solve(a->packed, threads, 1, a->b, a->z);
  for (int64_t q = 0; q < 3 * a->n; q++) {
    double x = a->x[3 * (a->n - 1 - q / 3) + q % 3];
    off += (a->z[q] - x) * (a->z[q] - x);
    size += x * x;
  }
  return a->n > 0 ? sqrt(off / size) : 0;
}

static void check(HkFactorKind kind, const HkSparse *sparse, const double *values, double most) {
  Pair a;
  MUST(make(kind, sparse, values, &a, error));
  CHECK_NEAR(solve_error(&a, 2), 0, most);
  destroy(&a);
}

TEST(packed_solves_random_systems) {
  FOR_ALL_KINDS for (int64_t n = 1; n <= 200; n += n < 36 ? 1 : 41) {
    for (int density = 0; density < 4; density++) {
      static const double chances[] = {0, 0.02, 0.2, 1};
      Matrix a = matrix_random(n, chances[density], (uint64_t)(100 * n + density));
      HkSparse sparse = matrix_sparse(&a);
      check(kind, &sparse, a.values, 2e-5);
      matrix_destroy(&a);
    }
  }
}

TEST(packed_solves_nothing) {
  FOR_ALL_KINDS {
    Matrix none = matrix_of_zeros(0);
    HkSparse sparse = matrix_sparse(&none);
    check(kind, &sparse, none.values, 0);
    matrix_destroy(&none);
  }
}

TEST(packed_solves_grids_of_every_size) {
  FOR_ALL_KINDS for (int64_t side = 2; side <= 120; side += side < 30 ? 7 : 45) {
    Matrix a = matrix_grid(side, 1);
    HkSparse sparse = {a.n, a.start, a.row};
    check(kind, &sparse, a.values, 1e-6);
    matrix_destroy(&a);
  }
}

/* A chain, a star, many chains, and vertices that have no neighbor. */
TEST(packed_solves_trees_and_pieces) {
  enum { COUNT = 5000 };
  FOR_ALL_KINDS for (int shape = 0; shape < 4; shape++) {
    int64_t *start = matrix_alloc(COUNT + 1, sizeof *start);
    int64_t *row = matrix_alloc(2 * COUNT, sizeof *row), count = 0;
    double *values = matrix_alloc(2 * COUNT, sizeof *values);
    for (int64_t q = 0; q < COUNT; q++) {
      bool linked = q + 1 < COUNT && (shape == 0 || shape == 1 || (shape == 2 && q % 7 > 0));
      row[count] = q;
      values[count++] = shape == 1 && q == COUNT - 1 ? COUNT : 2.1;
      if (linked) {
        row[count] = shape == 1 ? COUNT - 1 : q + 1;
        values[count++] = -1;
      }
      start[q + 1] = count;
    }
    HkSparse sparse = {COUNT, start, row};
    check(kind, &sparse, values, 1e-5);
    free(start);
    free(row);
    free(values);
  }
}

TEST(packed_solves_with_every_instruction_set) {
  Matrix a = matrix_grid(90, 1);
  HkSparse sparse = {a.n, a.start, a.row};
  const char *before = getenv("HOOKE_SIMD");
  for (int isa = HK_ISA_PORTABLE; isa <= (int)hk_isa_best(); isa++) {
    setenv("HOOKE_SIMD", hk_isa_name((HkIsa)isa), 1);
    FOR_ALL_KINDS check(kind, &sparse, a.values, 1e-6);
  }
  if (before)
    setenv("HOOKE_SIMD", before, 1);
  else
    unsetenv("HOOKE_SIMD");
  matrix_destroy(&a);
}

TEST(packed_gives_the_same_bits_for_every_thread_count) {
  static const int threads[] = {8, 3, 2};
  Matrix a = matrix_grid(110, 1);
  HkSparse sparse = {a.n, a.start, a.row};
  FOR_ALL_KINDS {
    Pair p;
    MUST(make(kind, &sparse, a.values, &p, error));
    size_t bytes = (size_t)(3 * p.n) * sizeof *p.z;
    double *one = matrix_alloc(3 * p.n, sizeof *one);
    hk_packed_solve(p.packed, 1, 1, p.b, one);
    for (int q = 0; q < 3; q++) {
      hk_packed_solve(p.packed, threads[q], 1, p.b, p.z);
      CHECK(memcmp(one, p.z, bytes) == 0);
    }
    hk_packed_solve(p.packed, 2, 1, p.b, p.b); /* in place */
    CHECK(memcmp(one, p.b, bytes) == 0);
    free(one);
    destroy(&p);
  }
  matrix_destroy(&a);
}

/* Floats end at 1e38 and lose digits below 1e-38. */
TEST(packed_solves_in_any_units) {
  Matrix a = matrix_grid(20, 1);
  HkSparse sparse = {a.n, a.start, a.row};
  FOR_ALL_KINDS for (int power = -60; power <= 60; power += 30) {
    double *values = matrix_alloc(a.start[a.n], sizeof *values), scale = pow(10, power);
    for (int64_t e = 0; e < a.start[a.n]; e++) values[e] = scale * a.values[e];
    Pair p;
    MUST(make(kind, &sparse, values, &p, error));
    for (int64_t q = 0; q < 3 * a.n; q++) {
      p.b[q] *= scale;
      p.x[q] *= scale;
    }
    CHECK_NEAR(solve_error(&p, 1), 0, 1e-6);
    destroy(&p);
    free(values);
  }
  matrix_destroy(&a);
}

/* Zeros behind the last row of a panel are multiplied with something: that must stay a number. */
TEST(packed_forgets_a_right_hand_side_without_numbers) {
  Matrix a = matrix_grid(30, 1);
  HkSparse sparse = {a.n, a.start, a.row};
  FOR_ALL_KINDS {
    Pair p;
    MUST(make(kind, &sparse, a.values, &p, error));
    double good = p.b[7];
    p.b[7] = INFINITY;
    hk_packed_solve(p.packed, 1, 1, p.b, p.z);
    CHECK(!isfinite(p.z[7]));
    p.b[7] = good;
    CHECK_NEAR(solve_error(&p, 1), 0, 1e-6);
    destroy(&p);
  }
  matrix_destroy(&a);
}

TEST(a_released_factor_can_be_computed_again) {
  Matrix a = matrix_grid(40, 1);
  HkSparse sparse = {a.n, a.start, a.row};
  FOR_ALL_KINDS {
    Pair p;
    bool positive = false;
    MUST(make(kind, &sparse, a.values, &p, error));
    size_t full = hk_factor_bytes(p.factor), packed = hk_packed_bytes(p.packed);
    hk_factor_release(p.factor);
    CHECK(hk_factor_bytes(p.factor) + (size_t)hk_factor_entries(p.factor) * sizeof(double) <= full);
    MUST(hk_factor_compute(p.factor, a.values, &positive, error));
    CHECK(positive);
    HkSupernodes view = hk_factor_view(p.factor);
    hk_packed_release(p.packed);
    CHECK(hk_packed_bytes(p.packed) < packed / 2);
    MUST(hk_packed_fill(p.packed, &view, 1, error));
    CHECK(hk_packed_bytes(p.packed) == packed);
    CHECK_NEAR(solve_error(&p, 1), 0, 1e-6);
    CHECK(hk_factor_solve(p.factor, p.b, 3, NULL) == HK_OK);
    destroy(&p);
  }
  matrix_destroy(&a);
}

/* Not too much for one thread alone, and no part far larger than the others. */
TEST(the_tree_of_a_grid_is_cut_into_parts) {
  Matrix a = matrix_grid(100, 1);
  HkSparse sparse = {a.n, a.start, a.row};
  HkContext context = hk_context_default();
  FOR_ALL_KINDS {
    HkFactor *factor = NULL;
    double work[HK_PARTS_MAX + 1] = {0}, all = 0;
    int parts;
    MUST(hk_factor_create(&context, kind, HK_FACTOR_PANELS, &sparse, &factor, error));
    HkSupernodes v = hk_factor_view(factor);
    int32_t *owner = matrix_alloc(v.n, sizeof *owner), *part = matrix_alloc(v.count, sizeof *part);
    for (int64_t s = 0; s < v.count; s++)
      for (int64_t k = v.first[s]; k < v.first[s + 1]; k++) owner[k] = (int32_t)s;
    MUST(hk_packed_cut(&context, &v, owner, part, &parts, error));
    CHECK(parts >= 2 && parts <= HK_PARTS_MAX);
    for (int64_t s = 0; s < v.count; s++) {
      int64_t up = hk_supernodes_parent(&v, owner, s);
      CHECK(part[s] >= 0 && part[s] <= parts);
      CHECK(up < 0 || part[up] == part[s] || part[up] == parts);
      double size = (double)((v.start[s + 1] - v.start[s]) * (v.first[s + 1] - v.first[s]));
      work[part[s]] += size;
      all += size;
    }
    CHECK(work[parts] < 0.25 * all);
    for (int q = 0; q < parts; q++) CHECK(work[q] < 0.5 * all);
    free(owner);
    free(part);
    hk_factor_destroy(&factor);
  }
  matrix_destroy(&a);
}
