/* The Hessian of an implicit step; see hessian.h.
 *
 * Springs are gathered per row: each block is computed twice, once for each end, and written by the
 * row's own thread. The blocks of other forces are few; they are poured in one after the other.
 */
#include "linear/hessian.h"

#include "base/vec.h"
#include "force/springs.h"

#include <string.h>

HkStatus hk_hessian_allocate(HkHessian *H, const HkPattern *pattern, size_t *bytes,
                             HkError *error) {
  if (H->matrix.value) return HK_OK;
  return hk_block_matrix_create(H->model, pattern, &H->matrix, bytes, error);
}

void hk_hessian_destroy(HkHessian *H) {
  if (!H->model) return;
  hk_block_matrix_destroy(H->model, &H->matrix);
  hk_free(&H->model->context, &H->memory);
  H->springs = NULL;
}

/* ---- The springs by rows ---- */

HkStatus hk_hessian_need_springs(HkHessian *H, size_t *bytes, HkError *error) {
  const HkSpringRows *rows = H->work->rows;
  int64_t count = 4 * HK_ROW_GROUP * rows->start[rows->groups];
  if (H->springs) return HK_OK;
  HK_TRY(hk_alloc_aligned(&H->model->context, &H->memory, &H->springs, count, sizeof *H->springs,
                          "the Hessian", error));
  if (bytes) *bytes += hk_aligned_bytes(count, sizeof *H->springs);
  return HK_OK;
}

static void springs_range(void *user, int64_t begin, int64_t end) {
  const HkHessian *H = user;
  HkSpringRowsArgs a = {.rows = H->work->rows,
                        .x = H->x,
                        .coefficients = H->springs,
                        .single = H->single,
                        .projection = H->projection};
  H->work->kernels->hessian(&a, begin, end);
}

/* The coefficients at x, if they are not there yet. */
static void refresh(HkHessian *H) {
  if (!H->fresh)
    hk_parallel_work(H->model->threads, H->work->rows->groups, HK_ROW_GRAIN, springs_range, H);
  H->fresh = true;
}

typedef struct Records {
  const HkHessian *H;
  float *records;
} Records;

static void records_range(void *user, int64_t begin, int64_t end) {
  const Records *r = user;
  const HkHessian *H = r->H;
  HkSpringRowsArgs a = {.rows = H->work->rows,
                        .hessian = H->springs,
                        .single = H->single,
                        .records = r->records,
                        .tau = H->tau,
                        .damped = H->damping != NULL,
                        .flat = H->model->dimension == 2};
  H->work->kernels->records(&a, begin, end);
}

void hk_hessian_move(HkHessian *H, const double *x) {
  H->x = x;
  H->fresh = false;
}

void hk_hessian_records(HkHessian *H, float *records) {
  Records r = {H, records};
  refresh(H);
  hk_parallel_work(H->model->threads, H->work->rows->groups, HK_ROW_GRAIN, records_range, &r);
}

/* ---- Other forces: their Jacobians, block by block ---- */

typedef struct Pour {
  HkJacobianSink sink;
  HkHessian *H;
  double *blocks; /* 9 n, of the diagonal alone; NULL: into the matrix */
  const double *p;
  double *out; /* of a product */
} Pour;

static inline bool is_held(const HkHessian *H, int64_t q) {
  return H->held && H->held->mask[q];
}

static inline void spring_block(const HkHessian *H, int64_t s, double B[9]) {
  if (H->taut && H->taut[s])
    hk_spring_along(H->model, s, H->x, B);
  else
    hk_spring_hessian(H->model, s, H->x, H->projection, B);
}

/* In two dimensions nothing couples to z. */
static void flatten(double B[9]) {
  B[2] = B[5] = B[6] = B[7] = B[8] = 0;
}

static void pour_matrix(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  Pour *pour = (Pour *)sink;
  HkHessian *H = pour->H;
  double B[9], square = H->tau * H->tau;
  if (is_held(H, i) || is_held(H, j)) return;
  memcpy(B, block, sizeof B);
  if (H->model->dimension == 2) flatten(B);
  double *at = NULL;
  if (pour->blocks)
    at = i == j ? pour->blocks + 9 * (int64_t)i : NULL;
  else
    at = H->matrix.value + 9 * hk_pattern_find(H->matrix.pattern, i, j);
  for (int q = 0; at && q < 9; q++) at[q] -= square * B[q];
}

static void pour_product(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  Pour *pour = (Pour *)sink;
  const HkHessian *H = pour->H;
  if (is_held(H, i) || is_held(H, j)) return;
  double sum[3] = {0, 0, 0};
  hk_mat_add_product(block, pour->p + 3 * (int64_t)j, sum);
  hk_axpy(-H->tau * H->tau, sum, pour->out + 3 * (int64_t)i);
}

/* Those with an energy, but for the springs. */
static void pour_others(HkHessian *H, HkJacobianSink *sink) {
  const HkModel *m = H->model;
  for (int q = 1; q < m->force_count; q++) {
    if (!hk_force_is_stiff(m, q)) continue;
    HkForceArgs a = hk_force_args(m, q, H->work, H->t, H->x, NULL);
    m->forces[q].type->jacobian(&a, sink);
  }
}

/* ---- Assembled ---- */

/* The mass of a vertex on the diagonal, where nothing else may be. */
static void put_mass(const HkModel *m, int64_t q, double B[9]) {
  hk_mat_identity(m->mass[q], B);
}

/* z of a free row in two dimensions: its mass alone. */
static void flatten_row(const HkHessian *H, int64_t q, double *values, int64_t count,
                        double *diagonal) {
  for (int64_t e = 0; e < count; e++) flatten(values + 9 * e);
  diagonal[8] = H->model->mass[q];
}

static void assemble_row(HkHessian *H, int64_t q) {
  const HkModel *m = H->model;
  const HkPattern *p = H->matrix.pattern;
  double *values = H->matrix.value, *diagonal = values + 9 * p->diagonal[q];
  double square = H->tau * H->tau;
  int64_t slot = p->start[q], count = p->start[q + 1] - p->start[q];
  memset(values + 9 * slot, 0, (size_t)count * 9 * sizeof *values);
  put_mass(m, q, diagonal);
  if (is_held(H, q)) return;
  for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
    double B[9];
    int32_t j = m->adj_vertex[e];
    spring_block(H, m->adj_spring[e], B);
    while (p->column[slot] != j) slot++;
    for (int c = 0; c < 9; c++) diagonal[c] += square * B[c];
    if (is_held(H, j)) continue;
    for (int c = 0; c < 9; c++) values[9 * slot + c] -= square * B[c];
  }
  if (H->damping)
    for (int64_t e = p->start[q]; e < p->start[q + 1]; e++)
      for (int c = 0; c < 9 && !is_held(H, p->column[e]); c++)
        values[9 * e + c] += H->tau * H->damping->value[9 * e + c];
  if (m->dimension == 2) flatten_row(H, q, values + 9 * p->start[q], count, diagonal);
}

static void assemble_range(void *user, int64_t begin, int64_t end) {
  for (int64_t q = begin; q < end; q++) assemble_row(user, q);
}

void hk_hessian_assemble(HkHessian *H) {
  hk_parallel_for(H->model->threads, H->model->n, assemble_range, H);
  Pour pour = {.sink = {pour_matrix, hk_jacobian_skip}, .H = H};
  pour_others(H, &pour.sink);
}

/* ---- As a product ---- */

typedef struct Product {
  HkHessian *H;
  const double *p;
  double *out;
} Product;

static void product_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkModel *m = H->model;
  double square = H->tau * H->tau;
  for (int64_t q = begin; q < end; q++) {
    const double *p = a->p + 3 * q;
    double sum[3] = {0, 0, 0};
    for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1] && !is_held(H, q); e++) {
      int64_t j = m->adj_vertex[e];
      double B[9], d[3];
      spring_block(H, m->adj_spring[e], B);
      memcpy(d, p, sizeof d);
      if (!is_held(H, j)) hk_sub(p, a->p + 3 * j, d);
      hk_mat_add_product(B, d, sum);
    }
    for (int c = 0; c < 3; c++) a->out[3 * q + c] = m->mass[q] * p[c] + square * sum[c];
  }
}

/* The same with the coefficients: the sum over the springs, then mass and tau^2, a piece at a time
 * while it is near. p is 0 at held vertices. */
static void rows_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkModel *m = H->model;
  double square = H->tau * H->tau;
  HkSpringRowsArgs rows = {
      .rows = H->work->rows, .hessian = H->springs, .single = H->single, .p = a->p, .out = a->out};
  H->work->kernels->product(&rows, begin, end);
  int64_t last = end * HK_ROW_GROUP < m->n ? end * HK_ROW_GROUP : m->n;
  for (int64_t q = begin * HK_ROW_GROUP; q < last; q++) {
    double scale = is_held(H, q) ? 0 : square;
    for (int64_t c = 3 * q; c < 3 * q + 3; c++)
      a->out[c] = m->mass[q] * a->p[c] + scale * a->out[c];
  }
}

/* True if p is 0 at all held vertices: then their columns do not matter. */
static bool rests_where_held(const HkHessian *H, const double *p) {
  const uint8_t *mask = H->held ? H->held->mask : NULL;
  const uint8_t *end = mask ? mask + H->model->n : NULL;
  for (const uint8_t *at = mask; at && (at = memchr(at, 1, (size_t)(end - at))); at++) {
    const double *held = p + 3 * (at - mask);
    if (held[0] != 0 || held[1] != 0 || held[2] != 0) return false;
  }
  return true;
}

static bool is_fast(const HkHessian *H, const double *p) {
  return H->springs && !H->taut && rests_where_held(H, p);
}

/* out += tau C p. */
static void damping_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkPattern *pattern = H->damping->pattern;
  for (int64_t q = begin; q < end; q++) {
    double sum[3] = {0, 0, 0};
    int64_t first, last;
    if (is_held(H, q)) continue;
    hk_block_row(H->damping, q, &first, &last);
    for (int64_t e = first; e < last; e++)
      if (!is_held(H, pattern->column[e]))
        hk_mat_add_product(H->damping->value + 9 * e, a->p + 3 * (int64_t)pattern->column[e], sum);
    hk_axpy(H->tau, sum, a->out + 3 * q);
  }
}

static void product(void *user, const double *p, double *out) {
  HkHessian *H = user;
  const HkModel *m = H->model;
  Product a = {H, p, out};
  if (is_fast(H, p)) {
    refresh(H);
    hk_parallel_work(m->threads, H->work->rows->groups, HK_ROW_GRAIN, rows_range, &a);
  } else {
    hk_parallel_for(m->threads, m->n, product_range, &a);
  }
  if (H->damping) hk_parallel_for(m->threads, m->n, damping_range, &a);
  Pour pour = {.sink = {pour_product, hk_jacobian_skip}, .H = H, .p = p, .out = out};
  pour_others(H, &pour.sink);
  for (int64_t q = 0; m->dimension == 2 && q < m->n; q++)
    out[3 * q + 2] = m->mass[q] * p[3 * q + 2];
}

static void matrix_product(void *user, const double *p, double *out) {
  hk_block_matrix_product(&((HkHessian *)user)->matrix, p, out);
}

static void diagonal_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkModel *m = H->model;
  double square = H->tau * H->tau;
  for (int64_t q = begin; q < end; q++) {
    double B[9], *out = a->out + 9 * q;
    put_mass(m, q, out);
    if (is_held(H, q)) continue;
    for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
      spring_block(H, m->adj_spring[e], B);
      for (int c = 0; c < 9; c++) out[c] += square * B[c];
    }
    const double *damping =
        H->damping ? H->damping->value + 9 * H->damping->pattern->diagonal[q] : NULL;
    for (int c = 0; damping && c < 9; c++) out[c] += H->tau * damping[c];
    if (m->dimension == 2) {
      flatten(out);
      out[8] = m->mass[q];
    }
  }
}

static void diagonal(void *user, double *blocks) {
  HkHessian *H = user;
  Product a = {H, NULL, blocks};
  hk_parallel_for(H->model->threads, H->model->n, diagonal_range, &a);
  Pour pour = {.sink = {pour_matrix, hk_jacobian_skip}, .H = H, .blocks = blocks};
  pour_others(H, &pour.sink);
}

static void matrix_diagonal(void *user, double *blocks) {
  const HkBlockMatrix *A = &((HkHessian *)user)->matrix;
  for (int64_t q = 0; q < A->pattern->n; q++)
    memcpy(blocks + 9 * q, A->value + 9 * A->pattern->diagonal[q], 9 * sizeof *blocks);
}

HkOperator hk_hessian_operator(HkHessian *H, bool assembled) {
  H->fresh = false;
  return (HkOperator){.product = assembled ? matrix_product : product,
                      .diagonal = assembled ? matrix_diagonal : diagonal,
                      .user = H,
                      .matrix = assembled ? &H->matrix : NULL,
                      .hessian = H};
}

static void pour_lump(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  Pour *pour = (Pour *)sink;
  const HkHessian *H = pour->H;
  if (is_held(H, i) || is_held(H, j)) return;
  for (int q = 0; q < 9; q++) pour->blocks[9 * (int64_t)i + q] -= H->tau * H->tau * block[q];
}

/* Adds the rows of tau C, and leaves the positive part of each sum. */
static void lump_range(void *user, int64_t begin, int64_t end) {
  const Pour *pour = user;
  const HkHessian *H = pour->H;
  for (int64_t q = begin; q < end; q++) {
    double *sum = pour->blocks + 9 * q, size = 0;
    int64_t first = 0, last = 0;
    if (is_held(H, q)) continue;
    if (H->damping) hk_block_row(H->damping, q, &first, &last);
    for (int64_t e = first; e < last; e++)
      for (int c = 0; c < 9; c++) sum[c] += H->tau * H->damping->value[9 * e + c];
    for (int c = 0; c < 9; c++) size += fabs(sum[c]);
    if (size > 0) hk_mat_project_positive(sum);
  }
}

bool hk_hessian_lump(HkHessian *H, double *blocks) {
  const HkModel *m = H->model;
  bool any = H->damping != NULL;
  for (int q = 1; q < m->force_count; q++) any |= hk_force_is_stiff(m, q);
  if (!any) return false;
  memset(blocks, 0, (size_t)m->n * 9 * sizeof *blocks);
  Pour pour = {.sink = {pour_lump, hk_jacobian_skip}, .H = H, .blocks = blocks};
  pour_others(H, &pour.sink);
  hk_parallel_for(m->threads, m->n, lump_range, &pour);
  return true;
}

void hk_hessian_lift(HkHessian *H, const double *d, double *out) {
  const HkModel *m = H->model;
  double square = H->tau * H->tau;
  for (int64_t k = 0; k < m->pin_count; k++) {
    int64_t j = m->pin_vertex[k];
    if (!is_held(H, j)) continue;
    for (int64_t e = m->adj_start[j]; e < m->adj_start[j + 1]; e++) {
      int64_t i = m->adj_vertex[e];
      double B[9], sum[3] = {0, 0, 0};
      if (is_held(H, i)) continue;
      spring_block(H, m->adj_spring[e], B);
      hk_mat_add_product(B, d + 3 * j, sum);
      hk_axpy(square, sum, out + 3 * i); /* the block is -B */
    }
    for (int64_t e = H->damping ? H->damping->pattern->start[j] : 0;
         H->damping && e < H->damping->pattern->start[j + 1]; e++) {
      int64_t i = H->damping->pattern->column[e];
      double sum[3] = {0, 0, 0};
      if (is_held(H, i)) continue;
      hk_mat_add_product(H->damping->value + 9 * e, d + 3 * j, sum); /* C is symmetric */
      hk_axpy(-H->tau, sum, out + 3 * i);
    }
    if (m->dimension == 2)
      for (int64_t e = m->adj_start[j]; e < m->adj_start[j + 1]; e++)
        out[3 * (int64_t)m->adj_vertex[e] + 2] = 0;
  }
}
