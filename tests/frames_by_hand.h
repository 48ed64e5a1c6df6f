/* Models, states and frames made by hand, with values in closed form, for the tests of outputs.
 *
 * In frame k every x coordinate is (1 + k/4) times that at rest: springs along x have the strain
 * k/4, springs along y and z none. Vertex q has the velocity (k + 1) (q, -q, 1/2) and the force
 * (q + k/8, 2 q, -k). All these numbers are exact in a float as well.
 */
#ifndef HOOKE_FRAMES_BY_HAND_H
#define HOOKE_FRAMES_BY_HAND_H

#include "base/vec.h"
#include "output/output.h"
#include "test.h"

typedef struct Hand {
  HkModel model;
  HkState state;
  HkStateInfo info;
  double *force;
  const HkContactView *contacts; /* NULL: there are none; not owned */
  int64_t i_capacity, j_capacity, kind_capacity, type_capacity, start_capacity, corner_capacity,
      face_capacity;
} Hand;

/* Memory that must be there. */
static inline void hand_grow(void *array, int64_t *capacity, int64_t count, size_t size) {
  HkContext c = hk_context_default();
  if (hk_grow(&c, array, capacity, count, size, "a test", NULL) < 0) abort();
}

static inline void *hand_alloc(int64_t count, size_t size) {
  void *block = calloc(count > 0 ? (size_t)count : 1, size);
  if (!block) abort();
  return block;
}

static inline Hand *hand_create(int64_t n, const double *x) {
  Hand *h = hand_alloc(1, sizeof *h);
  HkModel *m = &h->model;
  m->context = h->state.context = hk_context_default();
  m->threads = 1;
  m->dimension = 3;
  m->up = 1;
  m->n = h->state.n = n;
  m->x0 = hand_alloc(3 * n, sizeof(double));
  h->state.x = hand_alloc(3 * n, sizeof(double));
  h->state.v = hand_alloc(3 * n, sizeof(double));
  h->force = hand_alloc(3 * n, sizeof(double));
  memcpy(m->x0, x, (size_t)(3 * n) * sizeof *x);
  return h;
}

static inline void hand_spring(Hand *h, int32_t i, int32_t j, int kind) {
  HkModel *m = &h->model;
  int64_t s = m->springs.count++;
  hand_grow(&m->springs.i, &h->i_capacity, s + 1, sizeof *m->springs.i);
  hand_grow(&m->springs.j, &h->j_capacity, s + 1, sizeof *m->springs.j);
  hand_grow(&m->springs.kind, &h->kind_capacity, s + 1, sizeof *m->springs.kind);
  m->springs.i[s] = i < j ? i : j;
  m->springs.j[s] = i < j ? j : i;
  m->springs.kind[s] = (uint8_t)kind;
}

static inline void hand_cell(Hand *h, HkCellType type, int count, const int32_t *vertices) {
  HkModel *m = &h->model;
  int64_t c = m->cell_count++;
  hand_grow(&m->cell_type, &h->type_capacity, c + 1, sizeof *m->cell_type);
  hand_grow(&m->cell_start, &h->start_capacity, c + 2, sizeof *m->cell_start);
  if (c == 0) m->cell_start[0] = 0;
  int64_t start = m->cell_start[c];
  hand_grow(&m->cell_vertex, &h->corner_capacity, start + count, sizeof *m->cell_vertex);
  m->cell_type[c] = (uint8_t)type;
  memcpy(m->cell_vertex + start, vertices, (size_t)count * sizeof *vertices);
  m->cell_start[c + 1] = start + count;
}

static inline void hand_face(Hand *h, int32_t a, int32_t b, int32_t c) {
  HkModel *m = &h->model;
  int64_t f = m->face_count++;
  hand_grow(&m->face, &h->face_capacity, 3 * (f + 1), sizeof *m->face);
  memcpy(m->face + 3 * f, (int32_t[]){a, b, c}, 3 * sizeof *m->face);
}

typedef struct HandPair {
  int32_t i, j;
  uint8_t kind;
} HandPair;

static inline int hand_compare(const void *a, const void *b) {
  const HandPair *p = a, *q = b;
  return p->i != q->i ? (p->i < q->i ? -1 : 1) : (p->j > q->j) - (p->j < q->j);
}

static inline void hand_sort_springs(HkModel *m) {
  HandPair *pairs = hand_alloc(m->springs.count, sizeof *pairs);
  for (int64_t s = 0; s < m->springs.count; s++)
    pairs[s] = (HandPair){m->springs.i[s], m->springs.j[s], m->springs.kind[s]};
  qsort(pairs, (size_t)m->springs.count, sizeof *pairs, hand_compare);
  for (int64_t s = 0; s < m->springs.count; s++) {
    m->springs.i[s] = pairs[s].i;
    m->springs.j[s] = pairs[s].j;
    m->springs.kind[s] = pairs[s].kind;
  }
  free(pairs);
}

/* Sorted springs, rest lengths and the adjacency, from what was added. */
static inline void hand_finish(Hand *h) {
  HkModel *m = &h->model;
  hand_sort_springs(m);
  m->springs.l0 = hand_alloc(m->springs.count, sizeof(double));
  m->adj_start = hand_alloc(m->n + 2, sizeof *m->adj_start);
  m->adj_vertex = hand_alloc(2 * m->springs.count, sizeof *m->adj_vertex);
  m->adj_spring = hand_alloc(2 * m->springs.count, sizeof *m->adj_spring);
  int64_t *next = m->adj_start + 1; /* ends up as adj_start itself */
  for (int64_t s = 0; s < m->springs.count; s++) {
    m->springs.l0[s] = hk_distance(m->x0 + 3 * m->springs.i[s], m->x0 + 3 * m->springs.j[s]);
    next[m->springs.i[s] + 1]++;
    next[m->springs.j[s] + 1]++;
  }
  for (int64_t q = 0; q < m->n; q++) next[q + 1] += next[q];
  /* Smaller neighbors of every vertex first, then larger ones: both rise with the springs. */
  for (int side = 0; side < 2; side++)
    for (int64_t s = 0; s < m->springs.count; s++) {
      int32_t from = side ? m->springs.i[s] : m->springs.j[s],
              to = side ? m->springs.j[s] : m->springs.i[s];
      m->adj_vertex[next[from]] = to;
      m->adj_spring[next[from]++] = (int32_t)s;
    }
}

static inline void hand_destroy(Hand *h) {
  HkModel *m = &h->model;
  for (int q = 0; q < m->probe_count; q++) free(m->probes[q].vertices);
  void *blocks[] = {m->x0,         m->springs.i,  m->springs.j, m->springs.l0, m->springs.kind,
                    m->adj_start,  m->adj_vertex, m->cell_type, m->cell_start, m->cell_vertex,
                    m->adj_spring, m->face,       m->probes,    m->bodies,     h->state.x,
                    h->state.v,    h->force};
  for (size_t q = 0; q < sizeof blocks / sizeof blocks[0]; q++) free(blocks[q]);
  free(h);
}

/* Puts the state of frame k into place. */
static inline HkFrame hand_frame(Hand *h, int64_t k) {
  const HkModel *m = &h->model;
  for (int64_t q = 0; q < m->n; q++) {
    double *x = h->state.x + 3 * q, *v = h->state.v + 3 * q, *f = h->force + 3 * q;
    memcpy(x, m->x0 + 3 * q, 3 * sizeof *x);
    x[0] *= 1 + 0.25 * (double)k;
    v[0] = (double)((k + 1) * q);
    v[1] = -v[0];
    v[2] = 0.5 * (double)(k + 1);
    f[0] = (double)q + 0.125 * (double)k;
    f[1] = 2 * (double)q;
    f[2] = -(double)k;
  }
  h->state.time = 0.1 * (double)k;
  h->info = (HkStateInfo){.time = h->state.time, .kinetic = (double)k, .total = 1.0 / 3};
  return (HkFrame){m, &h->state, k, h->force, &h->info, NULL, h->contacts};
}

/* Contacts by hand: `count` of them, the k-th with numbers of k that are exact in a float; one
 * obstacle. They are valid until the next call. */
static inline const HkContactView *hand_contacts(int64_t count, const double *force) {
  static HkContact contacts[8];
  static HkContactReaction obstacle;
  static HkContactView view;
  for (int k = 0; k < 8; k++) {
    double a = 0.25 * k;
    contacts[k] = (HkContact){.side = {{HK_CONTACT_BODY, k}, {(HkContactKind)(k % 3), 10 + k}},
                              .vertex = {k, k + 1, k + 2, k % 2 ? -1 : k + 3},
                              .split = 1 + k % 3,
                              .weight = {1, -a, a - 0.5, -0.5},
                              .point = {a, 2 * a, 3 * a},
                              .normal = {0, k % 2, 1 - k % 2},
                              .gap = 0.001 * k,
                              .normal_force = 4 * a,
                              .friction = {a, 0, 0}};
  }
  obstacle = (HkContactReaction){{1, 2.5, -3}, {0.5, 0, 4}};
  view = (HkContactView){.count = count,
                         .contact = contacts,
                         .force = force,
                         .obstacle_count = 1,
                         .obstacle = &obstacle,
                         .ground = {{0, 9.5, 0}, {-1, 0, 1}},
                         .least_gap = count ? 0 : INFINITY,
                         .energy = 0.125,
                         .friction_work = 0.75};
  return &view;
}

/* nx x ny vertices 1 m apart in the plane z = 0: quads, their edges and diagonals as springs. */
static inline Hand *hand_grid(int nx, int ny) {
  int64_t n = (int64_t)nx * ny;
  double *x = hand_alloc(3 * n, sizeof *x);
  for (int64_t q = 0; q < n; q++) {
    int64_t row = q / nx;
    x[3 * q] = (double)(q - row * nx);
    x[3 * q + 1] = (double)row;
  }
  Hand *h = hand_create(n, x);
  free(x);
  for (int32_t q = 0; q < n; q++) {
    bool right = q % nx + 1 < nx, up = q / nx + 1 < ny;
    if (right) hand_spring(h, q, q + 1, HK_SPRING_EDGE);
    if (up) hand_spring(h, q, q + nx, HK_SPRING_EDGE);
    if (!right || !up) continue;
    hand_spring(h, q, q + nx + 1, HK_SPRING_SHEAR);
    hand_spring(h, q + 1, q + nx, HK_SPRING_SHEAR);
    hand_cell(h, HK_CELL_QUAD, 4, (int32_t[]){q, q + 1, q + nx + 1, q + nx});
    hand_face(h, q, q + 1, q + nx + 1);
    hand_face(h, q, q + nx + 1, q + nx);
  }
  hand_finish(h);
  return h;
}

/* A tetrahedron with legs of 1 m along the axes and its boundary, no face cells. */
static inline Hand *hand_tet(void) {
  Hand *h = hand_create(4, (double[]){0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
  for (int32_t i = 0; i < 4; i++)
    for (int32_t j = i + 1; j < 4; j++) hand_spring(h, i, j, HK_SPRING_EDGE);
  hand_cell(h, HK_CELL_TET, 4, (int32_t[]){0, 1, 2, 3});
  hand_face(h, 0, 2, 1);
  hand_face(h, 0, 1, 3);
  hand_face(h, 0, 3, 2);
  hand_face(h, 1, 2, 3);
  hand_finish(h);
  return h;
}

/* Two bodies. The first has a line, a triangle and a pentagon; the second a hexahedron, a wedge, a
 * pyramid and a tetrahedron, one triangle of its boundary, a vertex on one spring and a vertex on
 * none. Every edge has a spring, most of them a strain of their own. */
static inline Hand *hand_zoo(void) {
  static const double x[] = {
      0,      0, 0, 1, 0,    0, 2,   1,   0,    1,     2, 0, 0, 2, 0, -1, 1, 0, /* 0 .. 5 */
      0,      0, 4, 1, 0,    4, 1.5, 1,   4,    0.125, 1, 4,                    /* 6 .. 9 */
      0.0625, 0, 5, 1, 0.25, 5, 1.5, 1,   5.25, -0.25, 1, 5,                    /* 10 .. 13 */
      2,      0, 4, 3, 0,    5, 0.5, 0.5, 6.5,  3,     3, 3, 4, 4, 4};          /* 14 .. 18 */
  static const int32_t pairs[][2] = {
      {0, 1},   {1, 5},   {5, 0},   {1, 2},   {2, 3},   {3, 4},   {4, 5},             /* faces */
      {6, 7},   {8, 7},   {8, 9},   {9, 6},   {10, 11}, {11, 12}, {12, 13}, {13, 10}, /* hex */
      {6, 10},  {7, 11},  {8, 12},  {9, 13},                                          /* hex */
      {7, 14},  {14, 8},  {11, 15}, {15, 12}, {14, 15},                               /* wedge */
      {16, 10}, {16, 11}, {16, 12}, {16, 13}, {15, 16}, {17, 8}};
  Hand *h = hand_create(19, x);
  hand_cell(h, HK_CELL_HEX, 8, (int32_t[]){6, 7, 8, 9, 10, 11, 12, 13});
  hand_cell(h, HK_CELL_LINE, 2, (int32_t[]){4, 5});
  hand_cell(h, HK_CELL_WEDGE, 6, (int32_t[]){7, 14, 8, 11, 15, 12});
  hand_cell(h, HK_CELL_TRIANGLE, 3, (int32_t[]){0, 1, 5});
  hand_cell(h, HK_CELL_PYRAMID, 5, (int32_t[]){10, 11, 12, 13, 16});
  hand_cell(h, HK_CELL_POLYGON, 5, (int32_t[]){1, 2, 3, 4, 5});
  hand_cell(h, HK_CELL_TET, 4, (int32_t[]){11, 15, 12, 16});
  hand_face(h, 0, 1, 5);
  hand_face(h, 7, 14, 11);
  for (size_t q = 0; q < sizeof pairs / sizeof pairs[0]; q++)
    hand_spring(h, pairs[q][0], pairs[q][1], (int)(q % 4));
  h->model.body_count = 2;
  h->model.bodies = hand_alloc(2, sizeof *h->model.bodies);
  h->model.bodies[0] = (HkBodyRange){.first = 0, .count = 6};
  h->model.bodies[1] = (HkBodyRange){.first = 6, .count = 13};
  hand_finish(h);
  return h;
}

/* ---- Outputs ---- */

/* An output of that name into a folder, not yet opened; its method is cleared by hand_close. */
typedef struct HandOutput {
  HkMethod method;
  HkOutput o;
} HandOutput;

static inline HkStatus hand_choose(HandOutput *h, const char *name, const char *folder,
                                   HkError *error) {
  *h = (HandOutput){0};
  HK_TRY(hk_method_choose(&h->method, HK_OUTPUT, name, error));
  h->o.context = hk_context_default();
  h->o.type = hk_output_type(h->method.schema);
  h->o.folder = folder;
  h->o.params = h->method.params;
  return HK_OK;
}

static inline HkStatus hand_write(HandOutput *h, Hand *hand, int64_t k, HkError *error) {
  HkFrame frame = hand_frame(hand, k);
  HkStatus status = h->o.type->write(&h->o, &frame, error);
  h->o.written += status >= 0;
  return status;
}

static inline HkStatus hand_close(HandOutput *h, HkError *error) {
  HkStatus status = h->o.type->close(&h->o, error);
  hk_method_clear(&h->method);
  return status;
}

/* Opens, writes frames 0 .. count - 1, closes. */
static inline HkStatus hand_run(const char *name, const char *folder, Hand *hand, int count,
                                HkError *error) {
  HandOutput h;
  HK_TRY(hand_choose(&h, name, folder, error));
  HkStatus status = h.o.type->open(&h.o, &hand->model, error);
  for (int k = 0; k < count && status >= 0; k++) status = hand_write(&h, hand, k, error);
  HkStatus closed = hand_close(&h, status < 0 ? NULL : error);
  return status < 0 ? status : closed;
}

/* A whole file with a 0 behind it, freed with free; "" if it cannot be read. */
static inline char *hand_read(const char *folder, const char *name, size_t *size) {
  char path[700];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file) test_fail(path, 0, "cannot be read");
  if (file) fseek(file, 0, SEEK_END);
  size_t length = file ? (size_t)ftell(file) : 0;
  char *bytes = hand_alloc((int64_t)length + 1, 1);
  if (file) rewind(file);
  if (file && fread(bytes, 1, length, file) != length) test_fail(path, 0, "cannot be read");
  if (file) fclose(file);
  if (size) *size = length;
  return bytes;
}

#endif
