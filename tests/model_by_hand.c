/* Models made by hand; see model_by_hand.h. */
#include "model_by_hand.h"

#include "base/text.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

double test_random(uint64_t *seed) {
  uint64_t z = *seed += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1;
}

ByHand by_hand(void) {
  return (ByHand){.dimension = 3, .up = 1, .threads = 1, .seed = 1};
}

/* Tests have no way on without memory. */
static void *take(int64_t count, size_t size) {
  void *p = calloc((size_t)count + 1, size);
  if (!p) abort();
  return p;
}

static int compare_pairs(const void *a, const void *b) {
  const int32_t *p = a, *q = b;
  if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
  return (p[1] > q[1]) - (p[1] < q[1]);
}

/* The unique edges of the triangles as pairs i < j in rising order. */
static int32_t *unique_edges(int64_t count, const int32_t *triangles, int64_t *edges) {
  int32_t *pairs = take(6 * count, sizeof *pairs);
  for (int64_t q = 0; q < 3 * count; q++) {
    int32_t a = triangles[q], b = triangles[q % 3 == 2 ? q - 2 : q + 1];
    pairs[2 * q] = a < b ? a : b;
    pairs[2 * q + 1] = a < b ? b : a;
  }
  qsort(pairs, (size_t)(3 * count), 2 * sizeof *pairs, compare_pairs);
  *edges = 0;
  for (int64_t q = 0; q < 3 * count; q++) {
    if (*edges > 0 && compare_pairs(pairs + 2 * q, pairs + 2 * (*edges - 1)) == 0) continue;
    memmove(pairs + 2 * *edges, pairs + 2 * q, 2 * sizeof *pairs);
    (*edges)++;
  }
  return pairs;
}

/* Neighbors of every vertex by rising number: first those before it, then those behind it, since
 * the springs are sorted. */
static void make_adjacency(HkModel *m) {
  m->adj_start = take(m->n + 1, sizeof *m->adj_start);
  m->adj_vertex = take(2 * m->springs.count, sizeof *m->adj_vertex);
  m->adj_spring = take(2 * m->springs.count, sizeof *m->adj_spring);
  int64_t *next = take(m->n, sizeof *next);
  for (int64_t s = 0; s < m->springs.count; s++) {
    m->adj_start[m->springs.i[s] + 1]++;
    m->adj_start[m->springs.j[s] + 1]++;
  }
  for (int64_t q = 0; q < m->n; q++) m->adj_start[q + 1] += m->adj_start[q];
  memcpy(next, m->adj_start, (size_t)m->n * sizeof *next);
  for (int end = 0; end < 2; end++)
    for (int64_t s = 0; s < m->springs.count; s++) {
      int32_t here = end ? m->springs.i[s] : m->springs.j[s],
              there = end ? m->springs.j[s] : m->springs.i[s];
      m->adj_vertex[next[here]] = there;
      m->adj_spring[next[here]++] = (int32_t)s;
    }
  free(next);
}

static void make_springs(HkModel *m, ByHand *by, const int32_t *pairs) {
  int64_t count = m->springs.count;
  m->springs.i = take(count, sizeof *m->springs.i);
  m->springs.j = take(count, sizeof *m->springs.j);
  m->springs.k = take(count, sizeof *m->springs.k);
  m->springs.l0 = take(count, sizeof *m->springs.l0);
  m->springs.kind = take(count, sizeof *m->springs.kind);
  if (by->damping) m->springs.damping = take(count, sizeof *m->springs.damping);
  if (by->tension) m->springs.tension = take(count, sizeof *m->springs.tension);
  for (int64_t s = 0; s < count; s++) {
    m->springs.i[s] = pairs[2 * s];
    m->springs.j[s] = pairs[2 * s + 1];
    double l =
        hk_distance(m->x0 + 3 * (int64_t)m->springs.i[s], m->x0 + 3 * (int64_t)m->springs.j[s]);
    m->springs.k[s] = 100 + 50 * test_random(&by->seed);
    m->springs.l0[s] = l * (1 + 0.3 * test_random(&by->seed));
    double damping = test_random(&by->seed), tension = test_random(&by->seed);
    if (by->damping) m->springs.damping[s] = damping > 0 ? 3 * damping : 0;
    if (by->tension) m->springs.tension[s] = tension > 0;
  }
  make_adjacency(m);
}

static HkModel *make_vertices(const ByHand *by, int64_t n, const double *x) {
  HkModel *m = take(1, sizeof *m);
  m->context = hk_context_default();
  m->dimension = by->dimension;
  m->up = by->up;
  m->threads = by->threads;
  m->n = n;
  m->x0 = take(3 * n, sizeof *m->x0);
  m->v0 = take(3 * n, sizeof *m->v0);
  m->mass = take(n, sizeof *m->mass);
  memcpy(m->x0, x, (size_t)n * 3 * sizeof *x);
  if (m->dimension == 2)
    for (int64_t q = 0; q < n; q++) m->x0[3 * q + 2] = 0;
  m->bodies = take(1, sizeof *m->bodies);
  m->bodies[0] =
      (HkBodyRange){.name = hk_strdup("body"), .count = n, .contact = hk_body_default().contact};
  if (hk_mesh_create(NULL, &m->bodies[0].names, NULL) < 0) abort();
  if (hk_mesh_add_vertices(m->bodies[0].names, m->x0, n, NULL) < 0) abort();
  m->body_count = 1;
  m->time.energy_bound = NAN;
  return m;
}

static void use_method(HkModel *m, const char *name) {
  HkError error;
  if (model_add_default_force(m, name, &error) < 0) abort();
}

HkModel *model_of_triangles(ByHand by, int64_t n, const double *x, int64_t count,
                            const int32_t *triangles) {
  HkModel *m = make_vertices(&by, n, x);
  for (int64_t q = 0; q < n; q++) m->total_mass += m->mass[q] = 1 + 0.5 * test_random(&by.seed);
  int32_t *pairs = unique_edges(count, triangles, &m->springs.count);
  make_springs(m, &by, pairs);
  free(pairs);
  m->face_count = count;
  m->face = take(3 * count, sizeof *m->face);
  memcpy(m->face, triangles, (size_t)(3 * count) * sizeof *m->face);
  use_method(m, "springs");
  return m;
}

HkModel *model_of_sheet(ByHand by, int nx, int ny) {
  int64_t n = (int64_t)nx * ny, count = 0;
  double *x = take(3 * n, sizeof *x);
  int32_t *triangles = take(6 * n, sizeof *triangles);
  for (int32_t q = 0; q < n; q++) {
    int column = q % nx, row = q / nx;
    x[3 * q] = column + 0.2 * test_random(&by.seed);
    x[3 * q + 1] = row + 0.2 * test_random(&by.seed);
    x[3 * q + 2] = 0.5 * test_random(&by.seed);
    if (column + 1 == nx || row + 1 == ny) continue;
    int32_t corner[6] = {q, q + 1, q + nx + 1, q, q + nx + 1, q + nx};
    memcpy(triangles + 3 * count, corner, sizeof corner);
    count += 2;
  }
  HkModel *m = model_of_triangles(by, n, x, count, triangles);
  free(x);
  free(triangles);
  return m;
}

HkModel *model_of_tets(ByHand by) {
  double x[15] = {0, 0, 0, 1, 0, 0.1, 0.2, 1.1, 0, 0.3, 0.2, 0.9, 0.9, 1, 1.2};
  static const int32_t triangles[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4, 2, 3, 4, 3, 1, 4};
  for (int q = 0; q < 15; q++) x[q] += 0.1 * test_random(&by.seed);
  return model_of_triangles(by, 5, x, 6, triangles);
}

HkModel *model_of_spring(const double x[3], double k, double l0) {
  ByHand by = by_hand();
  double both[6] = {0, 0, 0, x[0], x[1], x[2]};
  HkModel *m = make_vertices(&by, 2, both);
  m->mass[0] = m->mass[1] = 1;
  m->total_mass = 2;
  m->springs.count = 1;
  make_springs(m, &by, (int32_t[]){0, 1});
  m->springs.k[0] = k;
  m->springs.l0[0] = l0;
  use_method(m, "springs");
  return m;
}

HkStatus model_add_force(HkModel *model, HkMethod *method, HkError *error) {
  HkCompiledForce force = {.type = hk_force_type(method->schema), .method = *method};
  *method = (HkMethod){0};
  HkStatus status = HK_OK;
  if (force.type->compile)
    status = force.type->compile(model, force.method.params, &force.data, error);
  if (status < 0) {
    hk_method_clear(&force.method);
    return status;
  }
  size_t bytes = (size_t)(model->force_count + 1) * sizeof *model->forces;
  model->forces = realloc(model->forces, bytes);
  if (!model->forces) abort();
  model->forces[model->force_count++] = force;
  return HK_OK;
}

HkStatus model_add_default_force(HkModel *model, const char *name, HkError *error) {
  HkMethod method = {0};
  HK_TRY(hk_method_choose(&method, HK_FORCE, name, error));
  return model_add_force(model, &method, error);
}

void model_by_hand_destroy(HkModel **model) {
  HkModel *m = *model;
  if (!m) return;
  for (int q = 0; q < m->force_count; q++) {
    if (m->forces[q].type->destroy) m->forces[q].type->destroy(m, m->forces[q].data);
    hk_method_clear(&m->forces[q].method);
  }
  hk_method_clear(&m->step);
  hk_free(&m->context, &m->face_start);
  hk_free(&m->context, &m->face_at);
  hk_mesh_destroy(&m->bodies[0].names);
  void *all[] = {m->x0,
                 m->v0,
                 m->mass,
                 m->springs.i,
                 m->springs.j,
                 m->springs.k,
                 m->springs.l0,
                 m->springs.kind,
                 m->springs.damping,
                 m->springs.tension,
                 m->face,
                 m->forces,
                 m->adj_start,
                 m->adj_vertex,
                 m->adj_spring,
                 m->bodies[0].name,
                 m->bodies};
  for (size_t q = 0; q < sizeof all / sizeof all[0]; q++) free(all[q]);
  free(m);
  *model = NULL;
}

static HkForceWork take_work(const HkModel *m) {
  HkForceWork work;
  if (hk_force_work_create(m, &work, NULL) < 0) abort();
  return work;
}

/* A copy with HK_PAD more doubles, which forces require of their vectors; NULL for NULL. */
static double *padded(const HkModel *m, const double *x) {
  if (!x) return NULL;
  double *copy = take(3 * m->n + HK_PAD, sizeof *copy);
  memcpy(copy, x, (size_t)m->n * 3 * sizeof *x);
  return copy;
}

void model_force(const HkModel *m, int index, double t, const double *x, const double *v,
                 double *f) {
  HkForceWork work = take_work(m);
  double *own_x = padded(m, x), *own_v = padded(m, v);
  HkForceArgs a = hk_force_args(m, index, &work, t, own_x, own_v);
  memset(f, 0, (size_t)m->n * 3 * sizeof *f);
  m->forces[index].type->add(&a, f);
  hk_force_work_destroy(m, &work);
  free(own_x);
  free(own_v);
}

void model_forces(const HkModel *m, double t, const double *x, const double *v, double *f) {
  HkForceWork work = take_work(m);
  double *own_x = padded(m, x), *own_v = padded(m, v);
  hk_forces_sum(m, &work, t, own_x, own_v, f);
  hk_force_work_destroy(m, &work);
  free(own_x);
  free(own_v);
}

double model_energy(const HkModel *m, int index, double t, const double *x, const double *v) {
  if (!m->forces[index].type->energy) return 0;
  HkForceWork work = take_work(m);
  HkForceArgs a = hk_force_args(m, index, &work, t, x, v);
  double e = m->forces[index].type->energy(&a);
  hk_force_work_destroy(m, &work);
  return e;
}

typedef struct Dense {
  HkJacobianSink sink;
  int64_t n;
  double *dfdx, *dfdv;
} Dense;

static void add_block(double *matrix, int64_t n, int32_t i, int32_t j, const double block[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) matrix[(3 * i + r) * 3 * n + 3 * j + c] += block[3 * r + c];
}

static void add_dfdx(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  Dense *dense = (Dense *)sink;
  add_block(dense->dfdx, dense->n, i, j, block);
}

static void add_dfdv(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  Dense *dense = (Dense *)sink;
  add_block(dense->dfdv, dense->n, i, j, block);
}

void model_jacobian(const HkModel *m, int index, double t, const double *x, const double *v,
                    double **dfdx, double **dfdv) {
  Dense dense = {.sink = {.dfdx = add_dfdx, .dfdv = add_dfdv}, .n = m->n};
  *dfdx = dense.dfdx = take(9 * m->n * m->n, sizeof(double));
  *dfdv = dense.dfdv = take(9 * m->n * m->n, sizeof(double));
  HkForceArgs a = hk_force_args(m, index, &(HkForceWork){.springs = &m->springs}, t, x, v);
  if (m->forces[index].type->jacobian) m->forces[index].type->jacobian(&a, &dense.sink);
}

void model_move(const HkModel *m, double t, double h, int steps, double *x, double *v) {
  double *f = take(3 * m->n, sizeof *f);
  for (int s = 0; s < steps; s++) {
    model_forces(m, t + s * h, x, v, f);
    for (int64_t q = 0; q < 3 * m->n; q++) {
      v[q] += h * f[q] / m->mass[q / 3];
      x[q] += h * v[q];
    }
  }
  free(f);
}

double test_largest(const double *values, int64_t count) {
  double most = 0;
  for (int64_t q = 0; q < count; q++) most = fmax(most, fabs(values[q]));
  return most;
}

HkSelect select_box(double x0, double y0, double z0, double x1, double y1, double z1) {
  return (HkSelect){.kind = HK_SELECT_BOX, .point = {x0, y0, z0}, .other = {x1, y1, z1}};
}
