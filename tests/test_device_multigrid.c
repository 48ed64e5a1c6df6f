/* Multigrid on a device: its levels against the CPU's operator, its cycle against the CPU's
 * preconditioner, and steps by newton with pcg and multigrid. */
#define HK_REAL double
#include "plugin/host_levels.h"

#include "device_world.h"
#include "linear/multigrid.h"
#include "system_by_hand.h"

/* ---- Levels ---- */

/* A hierarchy with the values of a system; rows of level 0 stand in an order of their own. */
typedef struct Built {
  System *system;
  HkGpuHierarchy *hierarchy;
  HostLevels levels;
  int32_t *place; /* of a vertex: its row */
} Built;

static void fill_row(const Built *b, int64_t vertex) {
  const HkModel *m = b->system->model;
  const HkGpuMatrix *A = &b->levels.level[0].A;
  const double *x = b->system->x;
  const uint8_t *held = b->system->held.mask;
  double tau2 = b->system->tau * b->system->tau, scale = b->hierarchy->scale;
  int64_t row = b->place[vertex];
  HkGpuGathered g = {0};
  HkGpuBlock own = {m->mass[vertex], m->mass[vertex], m->mass[vertex], 0, 0, 0};
  hk_gpu_add_block(&own, &g.H);
  for (int64_t e = m->adj_start[vertex]; e < m->adj_start[vertex + 1]; e++) {
    int64_t j = m->adj_vertex[e], s = m->adj_spring[e], slot = e - m->adj_start[vertex];
    HkGpuVector d = {x[3 * j] - x[3 * vertex], x[3 * j + 1] - x[3 * vertex + 1],
                     x[3 * j + 2] - x[3 * vertex + 2]};
    HkGpuSpring p = {m->springs.k[s], m->springs.k[s] * m->springs.l0[s], 0, -1};
    HkGpuFour spring = hk_gpu_gather_spring(d, p, tau2, scale, held[j], &g);
    int64_t at = HK_GPU_SLICE * (A->start[row / HK_GPU_SLICE] + slot) + row % HK_GPU_SLICE;
    CHECK(A->column[at] == b->place[j]);
    A->spring[at] = held[vertex] ? (HkGpuFour){0, 0, 0, 0} : spring;
  }
  hk_gpu_store_fine_row(A, row, !held[vertex], &g, &own, scale);
}

static Built build(HkModel *model, double stretch, double tau, int held) {
  Built b = {.system = system_of(model, stretch, tau, held)};
  HkError error = {0};
  b.place = calloc((size_t)model->n, sizeof *b.place);
  for (int64_t v = 0; v < model->n; v++) /* every 13th vertex, one round after the other */
    b.place[v] = (int32_t)(v * 13 % model->n);
  CHECK(model->n % 13 != 0);
  if (hk_gpu_hierarchy_create(model, b.place, &b.hierarchy, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  host_levels_create(b.hierarchy, &b.levels);
  for (int64_t v = 0; v < model->n; v++) fill_row(&b, v);
  host_levels_prepare(&b.levels, true);
  return b;
}

static void built_destroy(Built *b) {
  host_levels_destroy(&b->levels);
  hk_gpu_hierarchy_destroy(&b->hierarchy);
  system_destroy(&b->system);
  free(b->place);
}

static void fill_random(HkGpuFour *x, int64_t n, uint64_t *seed) {
  for (int64_t i = 0; i < n; i++)
    x[i] =
        hk_gpu_four((float)test_random(seed), (float)test_random(seed), (float)test_random(seed));
}

static double apart(const HkGpuFour *a, const HkGpuFour *b, int64_t n) {
  double difference = 0, size = 0;
  for (int64_t i = 0; i < n; i++) {
    difference += hk_gpu_four_square(hk_gpu_four_sub(a[i], b[i]));
    size += hk_gpu_four_square(b[i]);
  }
  return sqrt(difference / size);
}

/* The product of level 0 is that of the CPU's assembled matrix, but for the rows and columns of
 * constrained vertices, which hold nothing here. */
static void compare_fine(Built *b) {
  const System *s = b->system;
  int64_t n = s->model->n;
  HostLevel *l = &b->levels.level[0];
  double *x = calloc((size_t)(6 * n), sizeof *x), *Ax = x + 3 * n;
  uint64_t seed = 5;
  for (int64_t v = 0; v < n; v++) {
    HkGpuFour *to = &l->x[b->place[v]];
    fill_random(to, 1, &seed);
    if (s->held.mask[v]) *to = hk_gpu_four(0, 0, 0);
    for (int c = 0; c < 3; c++) x[3 * v + c] = (double)component(*to, c);
  }
  s->A.product(s->A.user, x, Ax);
  for (int64_t v = 0; v < n; v++) {
    int64_t row = b->place[v];
    double scale = s->held.mask[v] ? 0 : b->hierarchy->scale;
    l->r[row] = level_product(&b->levels, 0, l->x, row);
    l->b[row] = hk_gpu_four((float)(scale * Ax[3 * v]), (float)(scale * Ax[3 * v + 1]),
                            (float)(scale * Ax[3 * v + 2]));
  }
  CHECK(apart(l->r, l->b, n) < 1e-5);
  free(x);
}

/* A' e = P^T A P e, by the lists of P and of P^T, for a random e of the next level. */
static void compare_next(Built *b, int k) {
  HostLevel *l = &b->levels.level[k], *next = l + 1;
  HkGpuListsAt P = lists_at(&l->lists[PROLONG]), T = lists_at(&l->lists[RESTRICT]);
  uint64_t seed = (uint64_t)k + 17;
  fill_random(next->x, next->A.n, &seed);
  for (int64_t i = 0; i < l->A.n; i++) {
    l->x[i] = hk_gpu_list_sum(&P, next->x, i);
    if (!hk_gpu_row_moves(&l->A, i)) l->x[i] = hk_gpu_four(0, 0, 0);
  }
  for (int64_t i = 0; i < l->A.n; i++) l->r[i] = level_product(&b->levels, k, l->x, i);
  for (int64_t i = 0; i < next->A.n; i++) {
    next->b[i] = hk_gpu_list_sum(&T, l->r, i);
    next->r[i] = level_product(&b->levels, k + 1, next->x, i);
  }
  if (!(apart(next->r, next->b, next->A.n) < 2e-5))
    test_fail(__FILE__, __LINE__, "level %d: |A' e - P^T A P e| = %g |P^T A P e|", k,
              apart(next->r, next->b, next->A.n));
}

TEST(levels_on_a_device_are_products_of_the_operator_of_the_cpu) {
  for (int held = 0; held <= 3; held += 3) {
    Built b = build(model_of_sheet(by_hand(), 33, 21), 1.5, 0.1, held);
    CHECK(b.levels.count >= 3);
    compare_fine(&b);
    for (int k = 0; k + 1 < b.levels.count; k++) compare_next(&b, k);
    built_destroy(&b);
  }
}

/* P^T A P reads a spring at its lower end alone. */
TEST(levels_on_a_device_need_springs_at_their_lower_ends_only) {
  Built b = build(model_of_sheet(by_hand(), 33, 21), 1.5, 0.1, 3);
  HostLevel *l = &b.levels.level[0], *next = l + 1;
  int64_t entries = hk_gpu_level_entries(&b.hierarchy->level[1]);
  HkGpuFour *before = calloc((size_t)entries, sizeof *before);
  memcpy(before, next->A.block, (size_t)entries * sizeof *before);
  for (int64_t i = 0; i < l->A.n; i++)
    for (int32_t s = l->A.start[i / HK_GPU_SLICE]; s < l->A.start[i / HK_GPU_SLICE + 1]; s++) {
      int64_t e = HK_GPU_SLICE * (int64_t)s + i % HK_GPU_SLICE;
      if (l->A.column[e] < i) l->A.spring[e] = (HkGpuFour){NAN, NAN, NAN, NAN};
    }
  project(&b.levels, 0);
  CHECK(memcmp(before, next->A.block, (size_t)entries * sizeof *before) == 0);
  free(before);
  built_destroy(&b);
}

/* Where the entry s of a row stands. */
static int64_t entry_at(const int32_t *start, int64_t row, int64_t s) {
  return HK_GPU_SLICE * (start[row / HK_GPU_SLICE] + s) + row % HK_GPU_SLICE;
}

/* P has the same weights to the same rows of the next level. rows[i] is the row of the device that
 * row i of the CPU is, or -1; returns the same for the next level. The caller frees it. */
static int32_t *compare_weights(const HkWeights *P, const HkGpuLists *to, const int32_t *rows) {
  int32_t *next = malloc((size_t)P->columns * sizeof *next), found = 0;
  int32_t *back = malloc((size_t)P->columns * sizeof *back);
  for (int32_t I = 0; I < P->columns; I++) next[I] = back[I] = -1;
  for (int32_t i = 0; i < P->rows; i++) {
    if (rows[i] < 0) continue;
    for (int32_t e = P->start[i]; e < P->start[i + 1]; e++) {
      int64_t at = entry_at(to->start, rows[i], e - P->start[i]);
      int32_t I = P->column[e], J = to->index[at];
      CHECK(to->weight[at] == P->weight[e]);
      CHECK(J >= 0 && J < P->columns);
      if (next[I] < 0 && back[J] < 0) {
        next[I] = J;
        back[J] = I;
        found++;
      }
      CHECK(next[I] == J && back[J] == I);
    }
  }
  CHECK(found == P->columns);
  free(back);
  return next;
}

/* The rows of a level have the neighbors of the CPU, each once, and are padded by themselves. */
static void compare_columns(const HkGraph *graph, const HkGpuLevel *level, const int32_t *rows) {
  for (int32_t i = 0; i < graph->n; i++) {
    int32_t row = rows[i], width = level->start[row / HK_GPU_SLICE + 1];
    int64_t others = 0;
    width -= level->start[row / HK_GPU_SLICE];
    for (int32_t s = 0; s < width; s++)
      others += level->column[entry_at(level->start, row, s)] != row;
    CHECK(others == graph->start[i + 1] - graph->start[i] - 1);
    for (int32_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
      int64_t times = 0;
      for (int32_t s = 0; s < width && graph->column[e] != i; s++)
        times += level->column[entry_at(level->start, row, s)] == rows[graph->column[e]];
      CHECK(times == (graph->column[e] != i));
    }
  }
}

/* The levels have the rows, the weights and the columns of those of the CPU, up to their order. */
static void compare_with_cpu(Built *b) {
  HkMultigrid *cpu = NULL;
  const HkGpuHierarchy *h = b->hierarchy;
  MUST(hk_multigrid_create(b->system->model, &cpu, error));
  CHECK(cpu->count == h->count && cpu->exact == h->exact);
  int32_t *rows = malloc((size_t)cpu->level[0].P.rows * sizeof *rows);
  for (int32_t i = 0; i < cpu->level[0].P.rows; i++)
    rows[i] = cpu->vertex[i] < 0 ? -1 : b->place[cpu->vertex[i]];
  for (int k = 0; k + 1 < cpu->count; k++) {
    CHECK(cpu->level[k + 1].n == h->level[k + 1].n);
    int32_t *next = compare_weights(&cpu->level[k].P, &h->level[k].prolong, rows);
    compare_columns(&cpu->level[k + 1].graph, &h->level[k + 1], next);
    free(rows);
    rows = next;
  }
  free(rows);
  hk_multigrid_destroy(&cpu);
}

TEST(levels_on_a_device_are_those_of_the_cpu) {
  Built b = build(model_of_sheet(by_hand(), 33, 21), 1.5, 0.1, 0);
  compare_with_cpu(&b);
  built_destroy(&b);
}

/* Triangles without a neighbor: each becomes one row of the next level, which has no entries but
 * its row sums. */
TEST(a_level_without_pairs_has_row_sums_alone) {
  enum { TRIANGLES = 40 };
  double x[9 * TRIANGLES];
  int32_t corner[3 * TRIANGLES];
  for (int q = 0; q < 3 * TRIANGLES; q++) {
    corner[q] = q;
    x[3 * q] = 3 * (q / 3) + (q % 3 == 1);
    x[3 * q + 1] = q % 3 == 2;
    x[3 * q + 2] = 0;
  }
  Built b = build(model_of_triangles(by_hand(), 3 * TRIANGLES, x, TRIANGLES, corner), 1.5, 0.1, 0);
  CHECK(b.levels.count == 2 && b.levels.level[0].pair_count == 0);
  CHECK(b.levels.level[1].A.n == TRIANGLES && hk_gpu_level_entries(&b.hierarchy->level[1]) == 0);
  compare_fine(&b);
  compare_next(&b, 0);
  compare_with_cpu(&b);
  built_destroy(&b);
}

/* Pairs of masses with a spring between them, which swing by themselves. */
TEST(separate_springs_move_by_multigrid_on_a_device_as_on_the_host) {
  enum { MASSES = 80 };
  char text[8000];
  int at = snprintf(text, sizeof text,
                    "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'chain', 'n': %d}, "
                    "'springs': {'k': 100, 'edges': false, 'table': [",
                    MASSES);
  for (int q = 0; q < MASSES; q += 2)
    at += snprintf(text + at, sizeof text - (size_t)at, "%s[%d, %d, %d, 0.005, 0]", q ? ", " : "",
                   q, q + 1, 100 + q);
  snprintf(text + at, sizeof text - (size_t)at,
           "]}, 'mass': {'per_vertex': 1}}], 'pins': [{'select': {'indices': [0, 7]}}], 'forces': "
           "['gravity', {'type': 'wind', 'velocity': [3, 0, 1], 'per_mass': 0.5}]}");
  device_use_plugin();
  device_compare("separate springs", test_json(text), NULL, "multigrid", HK_CUDA, 6, 1e-9);
}

/* ---- Positions in fixed point ---- */

/* Differences of the ends of springs are exact to 2^-30 of the longest spring and to the rounding
 * of the coordinates, also where the coordinates exceed 2^32 units. */
TEST(differences_of_positions_in_fixed_point_are_exact) {
  const double LONGEST = 2e-3, places[] = {0, 1e-3, 1, -7, 1e3, -1e6};
  uint64_t seed = 11;
  for (int q = 0; q < 6; q++) {
    double unit = hk_gpu_fixed_unit(LONGEST, fabs(places[q]) + LONGEST), per_meter = 1 / unit;
    double allowed = LONGEST * 0x1p-30 + fabs(places[q]) * 0x1p-50 + LONGEST * 0x1p-23;
    for (int trial = 0; trial < 1000; trial++) {
      double a = places[q] + 1e-3 * test_random(&seed);
      double b = a + LONGEST * test_random(&seed);
      double d = unit * (double)hk_gpu_fixed_difference(hk_gpu_fixed_coordinate(b, per_meter),
                                                        hk_gpu_fixed_coordinate(a, per_meter));
      CHECK(fabs(d - (b - a)) <= allowed);
    }
  }
  CHECK(hk_gpu_fixed_unit(0, 0) == 1 && hk_gpu_fixed_unit(INFINITY, 1) == 1);
  CHECK(hk_gpu_fixed_unit(NAN, NAN) == 1);
  CHECK(hk_gpu_fixed_coordinate(INFINITY, 1) == 0 && hk_gpu_fixed_coordinate(NAN, 1) == 0);
}

/* Returns the length of the longest spring if `springs`, else the largest coordinate. */
static double sheet_reach(const Built *b, bool springs) {
  const HkModel *m = b->system->model;
  double most = 0;
  for (int64_t v = 0; v < m->n; v++)
    for (int64_t e = m->adj_start[v]; e < m->adj_start[v + 1]; e++) {
      const double *x = b->system->x + 3 * v, *y = b->system->x + 3 * m->adj_vertex[e];
      double l = hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
      most = fmax(most, springs ? l : fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2]))));
    }
  return most;
}

/* Returns a vertex of the system in fixed point. */
static HkGpuFixed fixed_at(const Built *b, int64_t vertex, double unit) {
  const double *x = b->system->x + 3 * vertex;
  bool held = b->system->held.mask[vertex];
  return (HkGpuFixed){hk_gpu_fixed_coordinate(x[0], 1 / unit),
                      hk_gpu_fixed_coordinate(x[1], 1 / unit),
                      hk_gpu_fixed_coordinate(x[2], 1 / unit),
                      hk_gpu_fixed_own(&b->levels.level[0].A, b->place[vertex], !held)};
}

/* Returns (A x)_i of level 0 from positions in fixed point. */
static HkGpuFour fixed_product(const Built *b, int64_t vertex, double unit) {
  const System *s = b->system;
  const HkModel *m = s->model;
  const HostLevel *l = &b->levels.level[0];
  double factor = s->tau * s->tau * b->hierarchy->scale;
  HkGpuFixed at = fixed_at(b, vertex, unit);
  HkGpuFour xi = l->x[b->place[vertex]];
  HkGpuFour q = hk_gpu_fixed_row_sum_product(&l->A, b->place[vertex], at.own, xi);
  for (int64_t e = m->adj_start[vertex]; e < m->adj_start[vertex + 1]; e++) {
    int64_t j = m->adj_vertex[e], spring = m->adj_spring[e];
    double k = factor * m->springs.k[spring];
    HkGpuFixed near = fixed_at(b, j, unit);
    HkGpuFixedSpring p = {(float)k, (float)(k * m->springs.l0[spring] / unit)};
    if (near.own == 0) p = (HkGpuFixedSpring){0, 0};
    hk_gpu_fixed_spring_product(at, near, p, 0, hk_gpu_four_sub(xi, l->x[b->place[j]]), &q);
  }
  return at.own == 0 ? hk_gpu_four(0, 0, 0) : q;
}

TEST(products_from_positions_in_fixed_point_are_those_of_stored_springs) {
  for (int held = 0; held <= 3; held += 3) {
    Built b = build(model_of_sheet(by_hand(), 33, 21), 1.5, 0.1, held);
    HostLevel *l = &b.levels.level[0];
    const HkModel *m = b.system->model;
    uint64_t seed = 7;
    int64_t others = 0;
    double unit = hk_gpu_fixed_unit(sheet_reach(&b, true), sheet_reach(&b, false));
    fill_random(l->x, m->n, &seed);
    for (int64_t v = 0; v < m->n; v++) {
      l->b[b.place[v]] = level_product(&b.levels, 0, l->x, b.place[v]);
      l->r[b.place[v]] = fixed_product(&b, v, unit);
      others += fixed_at(&b, v, unit).own < 0;
    }
    CHECK(apart(l->r, l->b, m->n) < 2e-6);
    CHECK((others > 0) == (held > 0)); /* neighbors of constrained vertices */
    built_destroy(&b);
  }
}

/* Products of springs near their rest length, where the tension is a difference of nearly equal
 * numbers, against double precision: across the spring the error is that of a float, relative to
 * the strain. */
TEST(tensions_in_fixed_point_are_exact_near_the_rest_length) {
  const double L0 = 1e-3, K = 3, strains[] = {-0.3, -1e-4, -1e-6, 0, 1e-7, 1e-5, 1e-2, 1};
  const float parts[] = {0, 0.5f, 1};
  double unit = hk_gpu_fixed_unit(2.5 * L0, 5);
  HkGpuExactSpring p = hk_gpu_exact_spring(K, L0, unit);
  HkGpuSpring same = {K, K * L0, 0, -1};
  uint64_t seed = 5;
  for (int q = 0; q < 8 * 3 * 20; q++) {
    double u[3], e[3], size = 0, strain = strains[q % 8];
    float kept = parts[q / 8 % 3];
    int32_t x[3], y[3];
    for (int c = 0; c < 3; c++) {
      e[c] = test_random(&seed);
      u[c] = (double)(float)test_random(&seed);
      size += e[c] * e[c];
    }
    HkGpuVector d, sum = {0, 0, 0};
    double place[] = {4, -3, 2}, to[3];
    for (int c = 0; c < 3; c++) {
      x[c] = hk_gpu_fixed_coordinate(place[c], 1 / unit);
      y[c] = hk_gpu_fixed_coordinate(place[c] + L0 * (1 + strain) * e[c] / sqrt(size), 1 / unit);
      to[c] = unit * (double)(int32_t)((uint32_t)y[c] - (uint32_t)x[c]);
    }
    d = hk_gpu_vector(to[0], to[1], to[2]); /* without the rounding of the positions */
    double across = fabs(u[0] * d.x + u[1] * d.y + u[2] * d.z), l = sqrt(hk_gpu_dot(d, d));
    HkGpuFixed from = {x[0], x[1], x[2], 1}, near = {y[0], y[1], y[2], 1};
    HkGpuFour moved = hk_gpu_four((float)u[0], (float)u[1], (float)u[2]), product = {0, 0, 0, 0};
    hk_gpu_exact_spring_product(from, near, p, kept, moved, &product);
    hk_gpu_spring_product(d, same, 1, (double)kept, hk_gpu_vector(u[0], u[1], u[2]), &sum);
    HkGpuVector error = {(double)product.x - sum.x, (double)product.y - sum.y,
                         (double)product.z - sum.z};
    double off = hk_gpu_dot(error, d) / l;
    CHECK(fabs(off) <= 1e-6 * K);
    hk_gpu_axpy(-off / l, d, &error);
    double tension = fabs(1 - L0 / l);
    CHECK(sqrt(hk_gpu_dot(error, error)) <= 2e-6 * K * (tension + across / l) + 1e-12 * K);
  }
}

/* ---- The cycle ---- */

/* z = one cycle on r, both in the model's vertex order. */
static void apply_cycle(Built *b, const double *r, double *z) {
  HostLevel *l = &b->levels.level[0];
  const System *s = b->system;
  for (int64_t v = 0; v < s->model->n; v++) {
    double scale = s->held.mask[v] ? 0 : b->hierarchy->scale;
    l->b[b->place[v]] = hk_gpu_four((float)(scale * r[3 * v]), (float)(scale * r[3 * v + 1]),
                                    (float)(scale * r[3 * v + 2]));
  }
  host_cycle(&b->levels);
  for (int64_t v = 0; v < s->model->n; v++)
    for (int c = 0; c < 3; c++) z[3 * v + c] = (double)component(l->x[b->place[v]], c);
}

/* Iterations of conjugate gradients with the cycle until the residual is 1e-4 of b. */
static int count_iterations(Built *b) {
  const System *s = b->system;
  int64_t size = 3 * s->model->n;
  double *r = calloc((size_t)(4 * size), sizeof *r), *z = r + size, *p = z + size, *q = p + size;
  double rz = 0, goal = 1e-4 * sqrt(system_dot(s, s->b, s->b));
  int it = 0;
  memcpy(r, s->b, (size_t)size * sizeof *r);
  for (; it < 100 && sqrt(system_dot(s, r, r)) > goal; it++) {
    apply_cycle(b, r, z);
    double next = system_dot(s, r, z);
    for (int64_t c = 0; c < size; c++) p[c] = z[c] + (it > 0 ? next / rz : 0) * p[c];
    rz = next;
    s->A.product(s->A.user, p, q);
    double alpha = rz / system_dot(s, p, q);
    for (int64_t c = 0; c < size; c++) r[c] -= alpha * q[c];
  }
  free(r);
  return it;
}

TEST(the_cycle_on_a_device_is_symmetric_and_nearly_as_good_as_that_of_the_cpu) {
  for (int held = 0; held <= 3; held += 3) {
    Built b = build(model_of_sheet(by_hand(), 61, 43), 1.5, 1, held);
    const System *s = b.system;
    int64_t size = 3 * s->model->n;
    double *one = system_random(s, 3), *other = system_random(s, 4);
    double *z = calloc((size_t)(2 * size), sizeof *z);
    HkLinear *solver = NULL;
    HkLinearResult result = {0};
    for (int64_t v = 0; v < s->model->n; v++)
      for (int c = 0; c < 3 && s->held.mask[v]; c++) one[3 * v + c] = other[3 * v + c] = 0;
    apply_cycle(&b, one, z);
    apply_cycle(&b, other, z + size);
    double there = system_dot(s, other, z), back = system_dot(s, one, z + size);
    double size_of_both = sqrt(system_dot(s, one, z) * system_dot(s, other, z + size));
    CHECK(system_dot(s, one, z) > 0 && fabs(there - back) < 1e-5 * size_of_both);
    MUST(system_solver(s, "pcg", "multigrid", &solver, error));
    MUST(hk_linear_prepare(solver, &s->A, error));
    MUST(hk_linear_solve(solver, s->b, z, 1e-4, &result, error));
    int iterations = count_iterations(&b);
    if (iterations > result.iterations + result.iterations / 2 + 2)
      test_fail(__FILE__, __LINE__, "%d iterations, on the CPU %d", iterations, result.iterations);
    hk_linear_destroy(&solver);
    free(one);
    free(other);
    free(z);
    built_destroy(&b);
  }
}

/* q = A p in single precision with the scale of the hierarchy, by rows of level 0. */
static void single_product(const Built *b, double unit, const HkGpuFour *p, HkGpuFour *q) {
  const System *s = b->system;
  const HkModel *m = s->model;
  double factor = s->tau * s->tau * b->hierarchy->scale;
  for (int64_t v = 0; v < m->n; v++) {
    int64_t row = b->place[v];
    HkGpuFixed at = fixed_at(b, v, unit);
    float weight = at.own < 0 ? (float)(b->hierarchy->scale * m->mass[v]) : at.own;
    q[row] = hk_gpu_four(weight * p[row].x, weight * p[row].y, weight * p[row].z);
    for (int64_t e = m->adj_start[v]; e < m->adj_start[v + 1]; e++) {
      int64_t spring = m->adj_spring[e], j = m->adj_vertex[e];
      HkGpuExactSpring k =
          hk_gpu_exact_spring(factor * m->springs.k[spring], m->springs.l0[spring], unit);
      hk_gpu_exact_spring_product(at, fixed_at(b, j, unit), k, 0,
                                  hk_gpu_four_sub(p[row], p[b->place[j]]), &q[row]);
    }
    if (at.own == 0) q[row] = hk_gpu_four(0, 0, 0);
  }
}

/* Solves the system with vectors in single precision but for the solution d, in the model's vertex
 * order, until the residual is 1e-4 of b; returns the iterations. */
static int solve_in_single(Built *b, double unit, double *d) {
  const System *s = b->system;
  int64_t n = s->model->n;
  HostLevel *l = &b->levels.level[0];
  HkGpuFour *p = calloc((size_t)(2 * n), sizeof *p), *q = p + n;
  double rz = 0, size = 0, rr = INFINITY;
  int it = 0;
  for (int64_t v = 0; v < n; v++) {
    double scale = s->held.mask[v] ? 0 : b->hierarchy->scale;
    const double *r = s->b + 3 * v;
    HkGpuFour *to = &l->b[b->place[v]];
    *to = hk_gpu_four((float)(scale * r[0]), (float)(scale * r[1]), (float)(scale * r[2]));
    size += hk_gpu_four_square(*to);
  }
  for (; it < 100 && rr > 1e-8 * size; it++) {
    double next = 0, pq = 0;
    host_cycle(&b->levels);
    for (int64_t i = 0; i < n; i++) next += hk_gpu_four_dot(l->b[i], l->x[i]);
    float beta = it > 0 ? (float)(next / rz) : 0;
    for (int64_t i = 0; i < n; i++) {
      HkGpuFour z = l->x[i];
      hk_gpu_four_axpy(beta, p[i], &z);
      p[i] = z;
    }
    rz = next;
    single_product(b, unit, p, q);
    for (int64_t i = 0; i < n; i++) pq += hk_gpu_four_dot(p[i], q[i]);
    rr = 0;
    for (int64_t v = 0; v < n; v++) {
      int64_t i = b->place[v];
      for (int c = 0; c < 3; c++) d[3 * v + c] += rz / pq * (double)component(p[i], c);
      hk_gpu_four_axpy(-(float)(rz / pq), q[i], &l->b[i]);
      rr += hk_gpu_four_square(l->b[i]);
    }
  }
  free(p);
  return it;
}

TEST(conjugate_gradients_in_single_precision_solve_as_those_in_double_precision) {
  for (int held = 0; held <= 3; held += 3) {
    Built b = build(model_of_sheet(by_hand(), 61, 43), 1.5, 1, held);
    const System *s = b.system;
    int64_t size = 3 * s->model->n;
    double *d = calloc((size_t)(2 * size), sizeof *d), *left = d + size, rr = 0, bb = 0;
    double unit = hk_gpu_fixed_unit(sheet_reach(&b, true), sheet_reach(&b, false));
    int iterations = count_iterations(&b), single = solve_in_single(&b, unit, d);
    CHECK(abs(iterations - single) <= 1);
    s->A.product(s->A.user, d, left);
    for (int64_t c = 0; c < size; c++) {
      if (s->held.mask[c / 3]) {
        CHECK(d[c] == 0);
        continue;
      }
      rr += (s->b[c] - left[c]) * (s->b[c] - left[c]);
      bb += s->b[c] * s->b[c];
    }
    CHECK(sqrt(rr) <= 2e-4 * sqrt(bb)); /* the residual itself, not that of the recursion */
    free(d);
    built_destroy(&b);
  }
}

/* ---- Steps ---- */

#define CLOTH                                                                                      \
  "{'dimension': %d, 'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 17, "     \
  "'ny': 13}, 'springs': {'k': 200, 'shear': true, 'bending': true, 'damping': %g, "               \
  "'tension_only': %s}, 'mass': {'total': 1}}], 'pins': [{'select': 'top_left', 'motion': "        \
  "{'type': 'oscillation', 'amplitude': [0.1, 0, 0], 'frequency': 3}}, {'select': 'bottom_left', " \
  "'release': 0.02}], 'forces': ['gravity', {'type': 'drag', 'per_mass': 2, 'linear': 0.1}, "      \
  "{'type': 'wind', 'velocity': [1, 0, 0]}, {'type': 'handle', 'select': 'top_right', 'target': "  \
  "[2, 2, 0], 'k': 20, 'damping': 1}]}"

TEST(steps_by_multigrid_on_a_device_end_where_they_do_on_the_host) {
  device_use_plugin();
  for (int q = 0; q < 4; q++) {
    char one[1100];
    snprintf(one, sizeof one, CLOTH, q == 3 ? 2 : 3, q == 1 ? 0.5 : 0.0, q == 2 ? "true" : "false");
    device_compare(one, test_json(one), NULL, "multigrid", HK_CUDA_DOUBLE, 5, 1e-9);
    device_compare(one, test_json(one), NULL, "multigrid", HK_CUDA, 5, 1e-9);
  }
}

/* A cloth that flies and turns, partly in the water. */
TEST(media_in_steps_by_multigrid_on_a_device_act_as_on_the_host) {
  static const char text[] =
      "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 13, 'ny': 11}, "
      "'springs': {'k': 200, 'shear': true}, 'mass': {'total': 0.3}, 'velocity': [1, -2, 0.5], "
      "'spin': [1, 2, -1]}], 'pins': [{'select': 'top_left'}], 'forces': ['gravity', %s]}";
  static const char wind[] =
      "{'type': 'face_wind', 'velocity': [4, 1, 3], 'gust': 0.5, 'turbulence': 0.4, 'drag': 1.2, "
      "'lift': 1.5}";
  static const char *const forces[] = {wind, "{'type': 'drag', 'quadratic': 0.02}",
                                       "{'type': 'buoyancy', 'level': 0.1, 'thickness': 0.05}"};
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    char one[900];
    snprintf(one, sizeof one, text, forces[q]);
    device_compare(forces[q], test_json(one), NULL, "multigrid", HK_CUDA, 4, 1e-9);
  }
}

TEST(a_solid_moves_by_multigrid_on_a_device_as_on_the_host) {
  static const char text[] =
      "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'block', 'nx': 6, 'ny': 5, 'nz': "
      "6}, 'springs': {'k': 500}, 'mass': {'total': 1}, 'spin': [1, 2, 3]}], 'forces': "
      "['gravity']}";
  device_use_plugin();
  device_compare("block", test_json(text), NULL, "multigrid", HK_CUDA, 5, 1e-9);
}

/* A cloth large enough for bricks, which have kernels of their own. */
TEST(multigrid_in_bricks_moves_as_the_host) {
  static const char cloth[] =
      "{'time': {'step': 5e-4}, 'bodies': [{'shape': {'type': 'grid', 'nx': 301, 'ny': 211}, "
      "'springs': {'k': 1000, 'shear': true, 'bending': true%s}, 'mass': {'total': 1}, 'spin': [1, "
      "2, 3]}], 'pins': [{'select': 'top_left'}], 'forces': ['gravity', {'type': 'drag', "
      "'per_mass': 2, 'quadratic': 0.001}]}";
  static const char *const kinds[] = {", 'damping': 0.003", ", 'tension_only': true", ""};
  if (!device_is_gpu()) SKIP("requires a GPU: HOOKE_PLUGINS");
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    char text[800];
    snprintf(text, sizeof text, cloth, kinds[q]);
    device_compare(kinds[q], test_json(text), NULL, "multigrid", HK_CUDA, 1, 1e-9);
  }
}

/* A cloth that hangs from two corners, with the methods that are picked by themselves. */
static const char falling[] =
    "{'time': {'step': 0.0166666666666667, 'duration': 1}, 'bodies': [{'shape': {'type': 'grid', "
    "'plane': 'xz', 'nx': 41, 'ny': 41, 'width': 1, 'height': 1}, 'springs': {'k': 10000, "
    "'shear': true, 'bending': true}, "
    "'mass': {'total': 1}}], 'pins': [{'select': 'top_left'}, {'select': 'top_right'}], 'forces': "
    "['gravity']%s}";

TEST(multigrid_is_picked_on_a_device_and_its_steps_converge) {
  World w;
  char text[700];
  DeviceWish remote = {NULL, HK_CUDA};
  device_use_plugin();
  snprintf(text, sizeof text, falling, ", 'integrator': 'backward_euler'");
  MUST(device_make(test_json(text), NULL, &remote, &w, error));
  for (int q = 0; q < 8; q++) {
    CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);
    HkStepInfo r = hk_sim_step_info(w.sim);
    CHECK(r.gradient <= 1e-2 && r.iterations <= 25);
    CHECK(r.reason == HK_STOP_CONVERGED || r.reason == HK_STOP_STATIONARY);
    CHECK(r.linear_iterations <= 10 * r.iterations); /* hundreds with block_jacobi */
  }
  world_destroy(&w);
}

/* The tolerance decides how far a step is from its minimum. */
TEST(the_tolerance_has_effect_on_a_device) {
  double errors[2];
  device_use_plugin();
  for (int q = 0; q < 2; q++) {
    World exact, w;
    char text[900], method[200];
    DeviceWish local = {NULL, HK_CPU}, remote = {NULL, HK_CUDA};
    snprintf(method, sizeof method,
             ", 'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', "
             "'tolerance': %g}}",
             q == 0 ? 1.0 : 1e-4);
    snprintf(text, sizeof text, falling, method);
    MUST(device_make(test_json(text), NULL, &remote, &w, error));
    snprintf(method, sizeof method,
             ", 'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', "
             "'tolerance': 1e-9}}");
    snprintf(text, sizeof text, falling, method);
    MUST(device_make(test_json(text), NULL, &local, &exact, error));
    MUST(hk_sim_step(exact.sim, exact.state, error));
    MUST(hk_sim_step(w.sim, w.state, error));
    errors[q] = device_difference(&exact, &w);
    world_destroy(&exact);
    world_destroy(&w);
  }
  CHECK(errors[1] < 1e-9 && errors[1] < 1e-2 * errors[0]);
}

/* A state that was fetched and uploaded again goes on with the same bits. */
TEST(a_resumed_run_on_a_device_by_multigrid_has_the_same_bits) {
  World whole, parts;
  char text[700];
  DeviceWish remote = {NULL, HK_CUDA};
  device_use_plugin();
  snprintf(text, sizeof text, falling, ", 'integrator': 'backward_euler'");
  MUST(device_make(test_json(text), NULL, &remote, &whole, error));
  MUST(device_make(test_json(text), NULL, &remote, &parts, error));
  MUST(hk_sim_steps(whole.sim, whole.state, 6, error));
  MUST(hk_sim_steps(parts.sim, parts.state, 3, error));
  hk_state_x(parts.state); /* the device's copy is given up */
  MUST(hk_sim_steps(parts.sim, parts.state, 3, error));
  CHECK(device_difference(&whole, &parts) == 0);
  world_destroy(&whole);
  world_destroy(&parts);
}

static const char row_of_masses[] =
    "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'chain', 'n': %d}, 'springs': {'k': "
    "100, 'edges': %s}, 'mass': {'per_vertex': 1}}], 'pins': [{'select': {'indices': [0]}}], "
    "'forces': ['gravity']%s}";

TEST(two_masses_with_a_spring_have_one_level_on_a_device) {
  char text[600];
  device_use_plugin();
  snprintf(text, sizeof text, row_of_masses, 2, "true", "");
  device_compare("two masses", test_json(text), NULL, "multigrid", HK_CUDA, 3, 1e-9);
}

/* Asked for, multigrid is refused where there are no springs; it is not picked there. */
TEST(multigrid_on_a_device_needs_springs) {
  World w;
  HkError error = {0};
  char text[600];
  DeviceWish asked = {"multigrid", HK_CUDA}, picked = {NULL, HK_CUDA};
  device_use_plugin();
  snprintf(text, sizeof text, row_of_masses, 2000, "false", ", 'integrator': 'backward_euler'");
  CHECK(device_make(test_json(text), NULL, &asked, &w, &error) == HK_ERROR_UNSUPPORTED);
  CHECK(strstr(error.text, "'multigrid' needs springs"));
  world_destroy(&w);
  CHECK(device_make(test_json(text), NULL, &picked, &w, &error) == HK_OK);
  CHECK(hk_sim_step(w.sim, w.state, &error) == HK_OK);
  world_destroy(&w);
}
