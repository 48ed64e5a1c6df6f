/* The springs by rows: every instruction set gives what plain loops over neighbors give. */
#include "model_by_hand.h"
#include "world.h"

#include "base/vec.h"
#include "force/springs.h"

/* Scenes whose springs are along lattices, and others whose are not; none has a number of vertices
 * that is a multiple of HK_ROW_GROUP but the first. */
static const char *const scenes[] = {
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 24, 'ny': 8}, 'springs': {'shear': true, "
    "'bending': true}}], 'outputs': []}",
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 61, 'ny': 19, 'width': 1.1}, 'springs': "
    "{'EA': 30, 'shear': true, 'bending': true, 'damping': 0.3}}], 'outputs': []}",
    "{'bodies': [{'shape': {'type': 'block', 'nx': 21, 'ny': 5, 'nz': 3}, 'springs': "
    "{'tension_only': true}}], 'outputs': []}",
    "{'bodies': [{'shape': {'type': 'tet_block', 'nx': 9, 'ny': 5, 'nz': 3}}, {'shape': {'type': "
    "'chain', 'n': 77}, 'springs': {'bending': true, 'damping': 2}}, {'shape': {'type': 'net', "
    "'n': 11}, 'springs': {'k': 7, 'tension_only': true}}], 'outputs': []}",
    "{'bodies': [{'shape': {'type': 'ball', 'shells': 5}}], 'outputs': []}",
    "{'bodies': [{'shape': {'type': 'chain', 'n': 3}}, {'shape': {'type': 'grid', 'nx': "
    "301, 'ny': 7}, 'springs': {'rest_length': 0.02}}], 'outputs': []}",
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

/* ---- Plain loops, with the operations of force/springs.c ---- */

static double push_of(const HkModel *m, int64_t s, const double d[3], const double w[3], double l) {
  double push = m->springs.k[s] * (m->springs.l0[s] - l);
  if (m->springs.damping && w) push = push - m->springs.damping[s] * hk_dot(w, d) / l;
  return m->springs.tension && m->springs.tension[s] && l < m->springs.l0[s] ? 0 : push;
}

static void plain_pull(const HkModel *m, const double *x, const double *v, double *f) {
  for (int64_t q = 0; q < m->n; q++) {
    double sum[3] = {0, 0, 0};
    for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
      int64_t j = m->adj_vertex[e];
      double d[3], w[3] = {0, 0, 0};
      hk_sub(x + 3 * q, x + 3 * j, d);
      if (v) hk_sub(v + 3 * q, v + 3 * j, w);
      double l = fmax(hk_norm(d), HK_SPRING_TINY);
      hk_axpy(push_of(m, m->adj_spring[e], d, v ? w : NULL, l) / l, d, sum);
    }
    for (int c = 0; c < 3; c++) f[3 * q + c] = sum[c] + f[3 * q + c];
  }
}

/* out = sum over the springs of B (p_i - p_j) */
static void plain_product(const HkModel *m, const double *x, const double *p, double *out) {
  memset(out, 0, (size_t)m->n * 3 * sizeof *out);
  for (int64_t s = 0; s < m->springs.count; s++) {
    int64_t i = 3 * (int64_t)m->springs.i[s], j = 3 * (int64_t)m->springs.j[s];
    double B[9], d[3], minus[3];
    hk_spring_hessian(&m->springs, s, x, 0, B);
    hk_sub(p + i, p + j, d);
    hk_sub(p + j, p + i, minus);
    hk_mat_add_product(B, d, out + i);
    hk_mat_add_product(B, minus, out + j);
  }
}

/* ---- Comparing ---- */

/* Vectors of one model: places near the start, velocities, and what is made of them. */
typedef struct Arrays {
  double *x, *v, *p, *f, *expected;
} Arrays;

static double *vector_of(const HkModel *m) {
  double *a = NULL;
  if (hk_alloc_vector(&m->context, &a, m->n, "a test", NULL) < 0) abort();
  return a;
}

static Arrays arrays_of(const HkModel *m, double noise) {
  Arrays a = {vector_of(m), vector_of(m), vector_of(m), vector_of(m), vector_of(m)};
  uint64_t seed = 7;
  for (int64_t q = 0; q < 3 * m->n; q++) {
    a.x[q] = m->x0[q] + noise * test_random(&seed);
    a.v[q] = test_random(&seed);
    a.p[q] = test_random(&seed);
  }
  return a;
}

static void arrays_free(const HkModel *m, Arrays *a) {
  double **all[] = {&a->x, &a->v, &a->p, &a->f, &a->expected};
  for (int q = 0; q < 5; q++) hk_free(&m->context, all[q]);
}

static void start_at_one(const HkModel *m, double *f) {
  for (int64_t q = 0; q < 3 * m->n; q++) f[q] = 1 + (double)(q % 5);
}

static bool same(const HkModel *m, const Arrays *a) {
  for (int64_t q = 0; q < 3 * m->n; q++)
    if (a->f[q] != a->expected[q]) return false;
  return true;
}

/* pull in two pieces, pull_energy in one; at rest and moving. */
static void check_pull(const HkModel *m, HkIsa isa, const HkSpringRows *rows, const Arrays *a,
                       const char *what) {
  const HkSpringRowsKernels *kernels = hk_spring_rows_kernels(isa);
  HkSpringRowsArgs args = {.rows = rows, .x = a->x, .f = a->f};
  int64_t middle = rows->groups / 3;
  for (int moving = 0; moving < 2; moving++) {
    args.v = moving ? a->v : NULL;
    start_at_one(m, a->expected);
    plain_pull(m, a->x, args.v, a->expected);
    start_at_one(m, a->f);
    kernels->pull(&args, 0, middle);
    kernels->pull(&args, middle, rows->groups);
    if (!same(m, a)) test_fail(what, moving, "%s: pull differs", hk_isa_name(isa));
  }
  args.v = NULL;
  start_at_one(m, a->expected);
  plain_pull(m, a->x, NULL, a->expected);
  start_at_one(m, a->f);
  double energy = kernels->pull_energy(&args, 0, rows->groups),
         expected = model_energy(m, 0, 0, a->x, NULL);
  if (!same(m, a)) test_fail(what, 0, "%s: pull_energy differs", hk_isa_name(isa));
  CHECK_NEAR(energy, expected, 1e-12 * fabs(expected));
}

/* The energy of a few groups is the same number from every instruction set. */
static void check_energy_bits(const HkModel *m, const HkSpringRows *rows, const Arrays *a) {
  HkSpringRowsArgs args = {.rows = rows, .x = a->x, .f = a->f};
  double first = 0;
  for (int isa = HK_ISA_PORTABLE; isa <= (int)hk_isa_best(); isa++) {
    start_at_one(m, a->f);
    double e = hk_spring_rows_kernels((HkIsa)isa)->pull_energy(&args, 0, rows->groups);
    if (isa == HK_ISA_PORTABLE) first = e;
    CHECK(e == first);
  }
}

static void check_product(const HkModel *m, HkIsa isa, const HkSpringRows *rows, const Arrays *a,
                          const char *what) {
  const HkSpringRowsKernels *kernels = hk_spring_rows_kernels(isa);
  int64_t entries = 4 * HK_ROW_GROUP * rows->start[rows->groups];
  double *H = calloc((size_t)entries + 1, sizeof *H);
  if (!H) abort();
  plain_product(m, a->x, a->p, a->expected);
  for (int single = 0; single < 2; single++) {
    HkSpringRowsArgs args = {.rows = rows,
                             .x = a->x,
                             .coefficients = H,
                             .single = single == 1,
                             .hessian = H,
                             .p = a->p,
                             .out = a->f};
    kernels->hessian(&args, 0, rows->groups);
    kernels->product(&args, 0, rows->groups);
    double most = test_largest(a->expected, 3 * m->n), worst = 0;
    for (int64_t q = 0; q < 3 * m->n; q++) worst = fmax(worst, fabs(a->f[q] - a->expected[q]));
    if (!(worst <= (single ? 1e-6 : 1e-12) * most))
      test_fail(what, 0, "%s: product is off by %g of %g", hk_isa_name(isa), worst, most);
  }
  free(H);
}

static void check_model(const HkModel *m, double noise, const char *what) {
  HkSpringRows *rows = NULL;
  Arrays a = arrays_of(m, noise);
  MUST(hk_spring_rows_create(m, &rows, error));
  for (int isa = HK_ISA_PORTABLE; isa <= (int)hk_isa_best(); isa++) {
    check_pull(m, (HkIsa)isa, rows, &a, what);
    check_product(m, (HkIsa)isa, rows, &a, what);
  }
  check_energy_bits(m, rows, &a);
  hk_spring_rows_destroy(m, &rows);
  CHECK(rows == NULL);
  arrays_free(m, &a);
}

TEST(rows_give_the_forces_of_plain_loops_on_every_shape) {
  for (int q = 0; q < SCENES; q++) {
    World w = world_parse(scenes[q]);
    if (!w.model) return;
    check_model(w.model, 0.01, scenes[q]);
    world_destroy(&w);
  }
}

TEST(rows_give_the_forces_of_plain_loops_with_damping_and_threads) {
  for (int q = 0; q < 4; q++) {
    ByHand by = by_hand();
    by.damping = q & 1;
    by.tension = q & 2;
    by.seed = 5;
    HkModel *m = model_of_sheet(by, 13, 11);
    check_model(m, 0.4, "a sheet made by hand");
    model_by_hand_destroy(&m);
  }
}

TEST(rows_leave_vertices_without_springs_alone) {
  const char *alone = "{'bodies': [{'shape': {'type': 'chain', 'n': 2}, 'springs': {'edges': "
                      "false}}], 'outputs': []}";
  const char *edges_off =
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 7, 'ny': 3}, 'springs': "
      "{'edges': false}}, {'shape': {'type': 'chain', 'n': 2}}], 'outputs': []}";
  const char *both[] = {alone, edges_off};
  for (int q = 0; q < 2; q++) {
    World w = world_parse(both[q]);
    if (!w.model) return;
    check_model(w.model, 0.1, both[q]);
    world_destroy(&w);
  }
}

TEST(rows_give_no_force_where_ends_meet) {
  World w = world_parse(scenes[0]);
  if (!w.model) return;
  memset(w.model->x0, 0, (size_t)w.model->n * 3 * sizeof *w.model->x0);
  check_model(w.model, 0, "all at one place");
  world_destroy(&w);
}

TEST(rows_follow_live_changes_of_the_stiffness) {
  for (int q = 0; q < SCENES; q++) {
    World w = world_parse(scenes[q]);
    if (!w.model) return;
    Arrays a = arrays_of(w.model, 0.01);
    HkSpringRows *rows = NULL;
    MUST(hk_spring_rows_create(w.model, &rows, error));
    MUST(hk_model_scale_stiffness(w.model, 3, error));
    hk_spring_rows_update(w.model, rows);
    check_pull(w.model, hk_isa_best(), rows, &a, "scaled");
    MUST(hk_model_set_stiffness(w.model, 12.5, error));
    hk_spring_rows_update(w.model, rows);
    check_pull(w.model, hk_isa_best(), rows, &a, "set");
    hk_spring_rows_destroy(w.model, &rows);
    arrays_free(w.model, &a);
    world_destroy(&w);
  }
}

typedef HkStatus CreateFn(const HkModel *model, HkSpringRows **rows, HkError *error);

static double regular_of(const char *text, CreateFn *create, double *bytes) {
  World w = world_parse(text);
  HkSpringRows *rows = NULL;
  if (!w.model || create(w.model, &rows, NULL) < 0) return NAN;
  double regular = rows->regular;
  *bytes = (double)rows->bytes / (double)w.model->n;
  hk_spring_rows_destroy(w.model, &rows);
  world_destroy(&w);
  return regular;
}

TEST(rows_of_lattices_are_stored_once) {
  const char *lattices[] = {
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 301, 'ny': 217, 'width': 1.7}, 'springs': "
      "{'shear': true, 'bending': true, 'EA': 3}, 'transform': {'translate': [1000, -300, 0.1], "
      "'axis': [1, 2, 3], 'angle': 40}}], 'pins': [{'select': {'box': {'min': [999, -301, -1], "
      "'max': [1001, -299.9, 1]}}}], 'outputs': []}",
      "{'bodies': [{'shape': {'type': 'block', 'nx': 50, 'ny': 41, 'nz': 33}}, {'shape': {'type': "
      "'ball', 'shells': 4}}], 'outputs': []}",
      "{'bodies': [{'shape': {'type': 'chain', 'n': 30001}, 'springs': {'bending': true}}], "
      "'outputs': []}",
      "{'bodies': [{'shape': {'type': 'net', 'n': 180}}], 'outputs': []}"};
  for (int q = 0; q < 4; q++) {
    double bytes = 0, regular = regular_of(lattices[q], hk_spring_rows_create, &bytes);
    if (!(regular > 0.75 && bytes < 25))
      test_fail(lattices[q], 0, "only %.3f of it is regular, %g bytes a vertex", regular, bytes);
    regular = regular_of(lattices[q], hk_spring_rows_create_single, &bytes);
    if (!(regular > 0.8 && bytes < 25))
      test_fail(lattices[q], 1, "only %.3f of it is regular, %g bytes a vertex", regular, bytes);
  }
  double bytes = 0;
  CHECK(regular_of(scenes[4], hk_spring_rows_create, &bytes) < 0.2);
}

/* Entry e of vertex q is that of its e-th neighbor, whatever is shared. */
TEST(coefficients_stand_in_the_order_of_the_neighbors) {
  for (int shape = 0; shape < SCENES; shape++) {
    World w = world_parse(scenes[shape]);
    if (!w.model) return;
    const HkModel *m = w.model;
    HkSpringRows *rows = NULL;
    Arrays a = arrays_of(m, 0.01);
    MUST(hk_spring_rows_create(m, &rows, error));
    double *H = calloc((size_t)(4 * HK_ROW_GROUP * rows->start[rows->groups]), sizeof *H);
    HkSpringRowsArgs args = {.rows = rows, .x = a.x, .coefficients = H, .projection = 1};
    hk_spring_rows_kernels(hk_isa_best())->hessian(&args, 0, rows->groups);
    for (int64_t q = 0; q < m->n; q++)
      for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
        int64_t slot = rows->start[q / HK_ROW_GROUP] + e - m->adj_start[q];
        double d[3], c = H[4 * slot * HK_ROW_GROUP + q % HK_ROW_GROUP];
        int64_t s = m->adj_spring[e];
        hk_sub(a.x + 3 * q, a.x + 3 * (int64_t)m->adj_vertex[e], d);
        double l = hk_norm(d), expected = fmax(m->springs.k[s] * (1 - m->springs.l0[s] / l), 0);
        if (m->springs.tension && m->springs.tension[s] && l < m->springs.l0[s]) expected = 0;
        CHECK_NEAR(c, expected, 1e-12 * m->springs.k[s]);
      }
    free(H);
    hk_spring_rows_destroy(m, &rows);
    arrays_free(m, &a);
    world_destroy(&w);
  }
}

/* ---- The choice of instructions ---- */

TEST(hooke_simd_chooses_the_instructions) {
  HkIsa isa;
  for (int q = HK_ISA_PORTABLE; q <= (int)hk_isa_best(); q++) {
    setenv("HOOKE_SIMD", hk_isa_name((HkIsa)q), 1);
    MUST(hk_isa_pick(&isa, error));
    CHECK(isa == (HkIsa)q);
  }
  setenv("HOOKE_SIMD", "", 1);
  MUST(hk_isa_pick(&isa, error));
  CHECK(isa == hk_isa_best());
  unsetenv("HOOKE_SIMD");
  MUST(hk_isa_pick(&isa, error));
  CHECK(isa == hk_isa_best());
}

TEST(a_wrong_hooke_simd_is_one_clear_error) {
  World w = world_parse(scenes[0]);
  HkSim *sim = NULL;
  setenv("HOOKE_SIMD", "mmx", 1);
  FAILS(hk_sim_create(w.model, NULL, 1e-4, &sim, error), HK_ERROR_INVALID,
        "HOOKE_SIMD is 'mmx'; give portable, avx2 or avx512");
  CHECK(sim == NULL);
  unsetenv("HOOKE_SIMD");
  world_destroy(&w);
}
