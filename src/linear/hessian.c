/* The Hessian of an implicit step; see hessian.h.
 *
 * Springs are gathered per row: each block is computed twice, once for each end, and written by the
 * row's own thread. The blocks of other forces are evaluated once (force/blocks.h).
 */
#include "linear/hessian.h"

#include "base/vec.h"
#include "force/springs.h"

#include <string.h>

void hk_hessian_destroy(HkHessian *H) {
  const HkModel *m = H->model;
  if (!m) return;
  hk_block_matrix_destroy(m, &H->matrix);
  hk_pattern_destroy(m, &H->extended);
  hk_force_blocks_destroy(m, &H->blocks);
  hk_term_rows_destroy(m, &H->term_rows);
  hk_free(&m->context, &H->memory);
  H->springs = NULL;
}

size_t hk_hessian_bytes(const HkHessian *H) {
  return H->bytes + hk_force_blocks_bytes(&H->blocks) + hk_term_rows_bytes(&H->term_rows) +
         hk_pattern_bytes(&H->extended);
}

/* ---- The springs by rows ---- */

HkStatus hk_hessian_need_springs(HkHessian *H, HkError *error) {
  const HkSpringRows *rows = H->work->rows;
  int64_t count = 4 * HK_ROW_GROUP * rows->start[rows->groups];
  if (H->springs) return HK_OK;
  HK_TRY(hk_alloc_aligned(&H->model->context, &H->memory, &H->springs, count, sizeof *H->springs,
                          "the Hessian", error));
  H->bytes += hk_aligned_bytes(count, sizeof *H->springs);
  return HK_OK;
}

typedef struct Coefficients {
  const HkHessian *H;
  const double *x;
} Coefficients;

static void coefficients_range(void *user, int64_t begin, int64_t end) {
  const Coefficients *c = user;
  const HkHessian *H = c->H;
  HkSpringRowsArgs a = {.rows = H->work->rows,
                        .x = c->x,
                        .coefficients = H->springs,
                        .single = H->at.single,
                        .projection = H->at.projection};
  H->work->kernels->hessian(&a, begin, end);
}

static void evaluate_springs(const HkHessian *H, const double *x) {
  Coefficients c = {H, x};
  hk_parallel_work(H->model->threads, H->work->rows->groups, HK_ROW_GRAIN, coefficients_range, &c);
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
                        .single = H->at.single,
                        .records = r->records,
                        .tau = H->at.tau,
                        .damped = H->at.damping != NULL,
                        .flat = H->model->dimension == 2};
  H->work->kernels->records(&a, begin, end);
}

/* For an x other than that of H the coefficients are evaluated at x and then restored. */
static void records(void *user, const double *x, float *records) {
  const HkHessian *H = user;
  Records r = {H, records};
  if (x != H->at.x) evaluate_springs(H, x);
  hk_parallel_work(H->model->threads, H->work->rows->groups, HK_ROW_GRAIN, records_range, &r);
  if (x != H->at.x) evaluate_springs(H, H->at.x);
}

/* ---- Blocks ---- */

static inline bool is_held(const HkHessian *H, int64_t i) {
  return H->held && H->held->mask[i];
}

/* Whether a block of a force counts: rows and columns of held vertices hold their mass alone. */
static inline bool counts(const HkHessian *H, const HkForceBlock *b) {
  return !is_held(H, b->row) && !is_held(H, b->column);
}

static inline void spring_block(const HkHessian *H, int64_t s, double projection, double B[9]) {
  if (H->at.taut && H->at.taut[s])
    hk_spring_along(H->work->springs, s, H->at.x, B);
  else
    hk_spring_hessian(H->work->springs, s, H->at.x, projection, B);
}

/* In two dimensions nothing couples to z. */
static void flatten(double B[9]) {
  B[2] = B[5] = B[6] = B[7] = B[8] = 0;
}

/* at -= tau^2 df/dx */
static void subtract_block(const HkHessian *H, const HkForceBlock *b, double *at) {
  double B[9], square = H->at.tau * H->at.tau;
  memcpy(B, b->dfdx, sizeof B);
  if (H->model->dimension == 2) flatten(B);
  for (int c = 0; c < 9; c++) at[c] -= square * B[c];
}

/* ---- Assembled ---- */

/* The mass of a vertex on the diagonal, where nothing else may be. */
static void put_mass(const HkModel *m, int64_t i, double B[9]) {
  hk_mat_identity(m->mass[i], B);
}

/* z of a free row in two dimensions: its mass alone. */
static void flatten_row(const HkHessian *H, int64_t i, double *values, int64_t count,
                        double *diagonal) {
  for (int64_t e = 0; e < count; e++) flatten(values + 9 * e);
  diagonal[8] = H->model->mass[i];
}

/* Adds tau times row i of C, which may have fewer blocks. */
static void add_damping_row(const HkHessian *H, int64_t i, double *values) {
  const HkPattern *p = H->matrix.pattern, *own = H->at.damping->pattern;
  int64_t slot = p->start[i];
  for (int64_t e = own->start[i]; e < own->start[i + 1]; e++) {
    while (p->column[slot] != own->column[e]) slot++;
    HK_ASSERT(slot < p->start[i + 1]);
    for (int c = 0; c < 9 && !is_held(H, own->column[e]); c++)
      values[9 * slot + c] += H->at.tau * H->at.damping->value[9 * e + c];
  }
}

static void assemble_row(const HkHessian *H, int64_t i) {
  const HkModel *m = H->model;
  const HkPattern *p = H->matrix.pattern;
  double *values = H->matrix.value, *diagonal = values + 9 * p->diagonal[i];
  double square = H->at.tau * H->at.tau;
  int64_t slot = p->start[i], count = p->start[i + 1] - p->start[i];
  memset(values + 9 * slot, 0, (size_t)count * 9 * sizeof *values);
  put_mass(m, i, diagonal);
  if (is_held(H, i)) return;
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
    double B[9];
    int32_t j = m->adj_vertex[e];
    spring_block(H, m->adj_spring[e], H->at.preconditions ? 1 : H->at.projection, B);
    while (p->column[slot] != j) slot++;
    HK_ASSERT(slot < p->start[i + 1]);
    for (int c = 0; c < 9; c++) diagonal[c] += square * B[c];
    if (is_held(H, j)) continue;
    for (int c = 0; c < 9; c++) values[9 * slot + c] -= square * B[c];
  }
  if (H->at.damping) add_damping_row(H, i, values);
  if (m->dimension == 2) flatten_row(H, i, values + 9 * p->start[i], count, diagonal);
}

static void assemble_range(void *user, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) assemble_row(user, i);
}

static void assemble(HkHessian *H) {
  hk_parallel_for(H->model->threads, H->model->n, assemble_range, H);
  for (int64_t e = 0; e < H->blocks.count; e++) {
    const HkForceBlock *b = &H->blocks.block[e];
    if (!counts(H, b)) continue;
    int64_t at = hk_pattern_find(H->matrix.pattern, b->row, b->column);
    HK_ASSERT(at >= 0);
    subtract_block(H, b, H->matrix.value + 9 * at);
  }
}

/* The pattern of the matrix contains all blocks of the forces. In a step it is extended when new
 * blocks appear, and keeps unused ones until they are many: a new pattern requires a new analysis.
 * Each step begins with the blocks that it finds, since the order of elimination, and so the
 * rounding, must not depend on the steps before it. */
static HkStatus extend_pattern(HkHessian *H, const HkPattern **pattern, HkError *error) {
  enum { UNUSED_FACTOR = 4 };
  const HkModel *m = H->model;
  const HkPattern *base = H->at.damping ? H->at.damping->pattern : H->pattern, *from = base;
  HkPattern *extended = &H->extended, next;
  bool fits = extended->n && H->extended_base == base->hash;
  if (fits && !H->begins) {
    int64_t extra = extended->start[m->n] - base->start[m->n];
    int64_t used = hk_pattern_count_missing(base, &H->blocks);
    if (extra <= UNUSED_FACTOR * (used + m->n)) from = extended;
  }
  H->begins = false;
  *pattern = from;
  if (hk_pattern_count_missing(from, &H->blocks) == 0) {
    if (from == base) hk_pattern_destroy(m, extended);
    return HK_OK;
  }
  HK_TRY(hk_pattern_extend(m, from, &H->blocks, &next, error));
  *pattern = extended;
  if (fits && next.hash == extended->hash) {
    hk_pattern_destroy(m, &next);
    return HK_OK;
  }
  hk_pattern_destroy(m, extended);
  *extended = next;
  H->extended_base = base->hash;
  return HK_OK;
}

static HkStatus need_matrix(HkHessian *H, HkError *error) {
  const HkPattern *pattern;
  HK_TRY(extend_pattern(H, &pattern, error));
  if (H->matrix.value && H->matrix_hash == pattern->hash) {
    H->matrix.pattern = pattern;
    return HK_OK;
  }
  if (H->matrix.value) H->bytes -= H->matrix_bytes;
  hk_block_matrix_destroy(H->model, &H->matrix);
  H->matrix_bytes = 0;
  HK_TRY(hk_block_matrix_create(H->model, pattern, &H->matrix, &H->matrix_bytes, error));
  H->matrix_hash = pattern->hash;
  H->bytes += H->matrix_bytes;
  return HK_OK;
}

/* ---- As a product ---- */

typedef struct Product {
  const HkHessian *H;
  const double *p;
  double *out;
} Product;

static void product_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkModel *m = H->model;
  double square = H->at.tau * H->at.tau;
  for (int64_t i = begin; i < end; i++) {
    const double *p = a->p + 3 * i;
    double sum[3] = {0, 0, 0};
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1] && !is_held(H, i); e++) {
      int64_t j = m->adj_vertex[e];
      double B[9], d[3];
      spring_block(H, m->adj_spring[e], H->at.projection, B);
      memcpy(d, p, sizeof d);
      if (!is_held(H, j)) hk_sub(p, a->p + 3 * j, d);
      hk_mat_add_product(B, d, sum);
    }
    for (int c = 0; c < 3; c++) a->out[3 * i + c] = m->mass[i] * p[c] + square * sum[c];
  }
}

/* The same with the coefficients: the sum over the springs, then mass and tau^2, a piece at a time
 * while it is near. p is 0 at held vertices. */
static void rows_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkModel *m = H->model;
  double square = H->at.tau * H->at.tau;
  HkSpringRowsArgs rows = {.rows = H->work->rows,
                           .hessian = H->springs,
                           .single = H->at.single,
                           .p = a->p,
                           .out = a->out};
  H->work->kernels->product(&rows, begin, end);
  int64_t last = end * HK_ROW_GROUP < m->n ? end * HK_ROW_GROUP : m->n;
  for (int64_t i = begin * HK_ROW_GROUP; i < last; i++) {
    double scale = is_held(H, i) ? 0 : square;
    for (int64_t c = 3 * i; c < 3 * i + 3; c++)
      a->out[c] = m->mass[i] * a->p[c] + scale * a->out[c];
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
  return H->springs && !H->at.taut && rests_where_held(H, p);
}

/* out += tau C p. */
static void damping_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkPattern *pattern = H->at.damping->pattern;
  for (int64_t i = begin; i < end; i++) {
    double sum[3] = {0, 0, 0};
    int64_t first, last;
    if (is_held(H, i)) continue;
    hk_block_row(H->at.damping, i, &first, &last);
    for (int64_t e = first; e < last; e++)
      if (!is_held(H, pattern->column[e]))
        hk_mat_add_product(H->at.damping->value + 9 * e, a->p + 3 * (int64_t)pattern->column[e],
                           sum);
    hk_axpy(H->at.tau, sum, a->out + 3 * i);
  }
}

/* out -= tau^2 df/dx p of all forces but the springs. */
static void blocks_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkForceBlocks *blocks = &H->blocks;
  for (int64_t e = blocks->row_start[begin]; e < blocks->row_start[end]; e++) {
    const HkForceBlock *b = &blocks->block[e];
    double sum[3] = {0, 0, 0};
    if (!counts(H, b)) continue;
    hk_mat_add_product(b->dfdx, a->p + 3 * (int64_t)b->column, sum);
    hk_axpy(-H->at.tau * H->at.tau, sum, a->out + 3 * (int64_t)b->row);
  }
}

/* out += tau^2 times the terms times p. */
static void add_terms_product(const HkHessian *H, const double *p, double *out) {
  const HkWeightedTerms *w = &H->blocks.terms;
  double square = H->at.tau * H->at.tau;
  if (w->count == 0) return;
  if (H->at.single && !w->curved && H->springs)
    hk_term_rows_product(&H->term_rows, H->model->threads, square, p, out);
  else
    hk_weighted_product(w, H->model->threads, H->held ? H->held->mask : NULL, square, p, out);
}

static void product(void *user, const double *p, double *out) {
  const HkHessian *H = user;
  const HkModel *m = H->model;
  Product a = {H, p, out};
  if (is_fast(H, p))
    hk_parallel_work(m->threads, H->work->rows->groups, HK_ROW_GRAIN, rows_range, &a);
  else
    hk_parallel_for(m->threads, m->n, product_range, &a);
  if (H->at.damping) hk_parallel_for(m->threads, m->n, damping_range, &a);
  if (H->blocks.count) hk_parallel_for(m->threads, H->blocks.row_count, blocks_range, &a);
  add_terms_product(H, p, out);
  for (int64_t i = 0; m->dimension == 2 && i < m->n; i++)
    out[3 * i + 2] = m->mass[i] * p[3 * i + 2];
}

static void matrix_product(void *user, const double *p, double *out) {
  hk_block_matrix_product(&((const HkHessian *)user)->matrix, p, out);
}

static void diagonal_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkHessian *H = a->H;
  const HkModel *m = H->model;
  double square = H->at.tau * H->at.tau;
  for (int64_t i = begin; i < end; i++) {
    double B[9], *out = a->out + 9 * i;
    put_mass(m, i, out);
    if (is_held(H, i)) continue;
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      spring_block(H, m->adj_spring[e], H->at.projection, B);
      for (int c = 0; c < 9; c++) out[c] += square * B[c];
    }
    const double *damping =
        H->at.damping ? H->at.damping->value + 9 * H->at.damping->pattern->diagonal[i] : NULL;
    for (int c = 0; damping && c < 9; c++) out[c] += H->at.tau * damping[c];
    if (m->dimension == 2) {
      flatten(out);
      out[8] = m->mass[i];
    }
  }
}

/* blocks += tau^2 times the diagonal blocks of all terms. */
static void add_terms(const HkHessian *H, double *blocks) {
  const HkWeightedTerms *w = &H->blocks.terms;
  for (int64_t t = 0; t < w->count; t++)
    for (int a = 0; a < 4; a++) {
      int64_t i = w->term[t].vertex[a];
      HkForceBlock b = {.row = (int32_t)i, .column = (int32_t)i};
      if (w->term[t].weight[a] == 0 || is_held(H, i)) continue;
      hk_weighted_block(w, t, a, a, b.dfdx);
      for (int c = 0; c < 9; c++) b.dfdx[c] = -b.dfdx[c];
      subtract_block(H, &b, blocks + 9 * i);
    }
}

static void diagonal(void *user, double *blocks) {
  const HkHessian *H = user;
  Product a = {H, NULL, blocks};
  hk_parallel_for(H->model->threads, H->model->n, diagonal_range, &a);
  add_terms(H, blocks);
  for (int64_t e = 0; e < H->blocks.count; e++) {
    const HkForceBlock *b = &H->blocks.block[e];
    if (b->row == b->column && counts(H, b)) subtract_block(H, b, blocks + 9 * (int64_t)b->row);
  }
}

static void matrix_diagonal(void *user, double *blocks) {
  const HkBlockMatrix *A = &((const HkHessian *)user)->matrix;
  for (int64_t i = 0; i < A->pattern->n; i++)
    memcpy(blocks + 9 * i, A->value + 9 * A->pattern->diagonal[i], 9 * sizeof *blocks);
}

/* ---- For multigrid ---- */

typedef struct Lump {
  const HkHessian *H;
  double *blocks;
} Lump;

/* Adds the rows of tau C, and leaves the positive part of each sum. */
static void lump_range(void *user, int64_t begin, int64_t end) {
  const Lump *a = user;
  const HkHessian *H = a->H;
  for (int64_t i = begin; i < end; i++) {
    double *sum = a->blocks + 9 * i, size = 0;
    int64_t first = 0, last = 0;
    if (is_held(H, i)) continue;
    if (H->at.damping) hk_block_row(H->at.damping, i, &first, &last);
    for (int64_t e = first; e < last; e++)
      for (int c = 0; c < 9; c++) sum[c] += H->at.tau * H->at.damping->value[9 * e + c];
    for (int c = 0; c < 9; c++) size += fabs(sum[c]);
    if (size > 0) hk_mat_project_positive(sum);
  }
}

static bool lump(void *user, double *blocks) {
  const HkHessian *H = user;
  const HkModel *m = H->model;
  Lump a = {H, blocks};
  if (!H->at.damping && H->blocks.count == 0) return false;
  memset(blocks, 0, (size_t)m->n * 9 * sizeof *blocks);
  for (int64_t e = 0; e < H->blocks.count; e++) {
    const HkForceBlock *b = &H->blocks.block[e];
    double *at = blocks + 9 * (int64_t)b->row, square = H->at.tau * H->at.tau;
    if (b->row != b->column) continue;
    for (int c = 0; c < 9 && counts(H, b); c++) at[c] -= square * b->dfdx[c];
  }
  hk_parallel_for(m->threads, m->n, lump_range, &a);
  return true;
}

/* ---- Evaluating ---- */

HkStatus hk_hessian_evaluate(HkHessian *H, const HkHessianAt *at, bool assembled, HkOperator *A,
                             HkError *error) {
  HK_ASSERT(at->x && at->tau >= 0 && at->projection >= 0 && at->projection <= 1);
  H->at = *at;
  bool solves = assembled && !at->preconditions; /* products are by the matrix */
  HkForceBlocksChoice choice = {.curvature =
                                    at->projection > 0 ? HK_CURVATURE_PROJECTED : HK_CURVATURE_TRUE,
                                .terms = !assembled};
  HK_TRY(hk_force_blocks_evaluate(&H->blocks, H->model, H->work, at->t, at->x, &choice, error));
  if (assembled) {
    HK_TRY(need_matrix(H, error));
    assemble(H);
  }
  if (!solves && H->springs) {
    evaluate_springs(H, at->x);
    HK_TRY(hk_term_rows_make(&H->term_rows, &H->blocks.terms, H->model,
                             H->held ? H->held->mask : NULL, error));
  }
  H->view = (HkOperatorSprings){.user = H,
                                .x = at->x,
                                .tau = at->tau,
                                .held = H->held,
                                .version = H->work->springs->version,
                                .records = records,
                                .blocks = &H->blocks,
                                .term_rows = &H->term_rows,
                                .lump = lump};
  *A = (HkOperator){.product = solves ? matrix_product : product,
                    .diagonal = solves ? matrix_diagonal : diagonal,
                    .user = H,
                    .matrix = assembled ? &H->matrix : NULL,
                    .springs = !solves && H->springs ? &H->view : NULL};
  return HK_OK;
}

/* out -= tau^2 times what the terms give for displacements d of held vertices. */
static void lift_terms(const HkHessian *H, const double *d, double *out) {
  const HkWeightedTerms *w = &H->blocks.terms;
  for (int64_t t = 0; t < w->count; t++)
    for (int k = 0; k < 16; k++) {
      int64_t i = w->term[t].vertex[k / 4], j = w->term[t].vertex[k % 4];
      double B[9], sum[3] = {0, 0, 0};
      if (w->term[t].weight[k / 4] == 0 || w->term[t].weight[k % 4] == 0) continue;
      if (is_held(H, i) || !is_held(H, j)) continue;
      hk_weighted_block(w, t, k / 4, k % 4, B);
      hk_mat_add_product(B, d + 3 * j, sum);
      if (H->model->dimension == 2) sum[2] = 0;
      hk_axpy(-H->at.tau * H->at.tau, sum, out + 3 * i);
    }
}

void hk_hessian_lift(const HkHessian *H, const double *d, double *out) {
  const HkModel *m = H->model;
  lift_terms(H, d, out);
  double square = H->at.tau * H->at.tau;
  for (int64_t k = 0; k < m->pin_count; k++) {
    int64_t j = m->pin_vertex[k];
    if (!is_held(H, j)) continue;
    for (int64_t e = m->adj_start[j]; e < m->adj_start[j + 1]; e++) {
      int64_t i = m->adj_vertex[e];
      double B[9], sum[3] = {0, 0, 0};
      if (is_held(H, i)) continue;
      spring_block(H, m->adj_spring[e], H->at.projection, B);
      hk_mat_add_product(B, d + 3 * j, sum);
      hk_axpy(square, sum, out + 3 * i); /* the block is -B */
    }
    for (int64_t e = H->at.damping ? H->at.damping->pattern->start[j] : 0;
         H->at.damping && e < H->at.damping->pattern->start[j + 1]; e++) {
      int64_t i = H->at.damping->pattern->column[e];
      double sum[3] = {0, 0, 0};
      if (is_held(H, i)) continue;
      hk_mat_add_product(H->at.damping->value + 9 * e, d + 3 * j, sum); /* C is symmetric */
      hk_axpy(-H->at.tau, sum, out + 3 * i);
    }
    if (m->dimension == 2)
      for (int64_t e = m->adj_start[j]; e < m->adj_start[j + 1]; e++)
        out[3 * (int64_t)m->adj_vertex[e] + 2] = 0;
  }
  for (int64_t e = 0; e < H->blocks.count; e++) {
    const HkForceBlock *b = &H->blocks.block[e];
    double sum[3] = {0, 0, 0};
    if (is_held(H, b->row) || !is_held(H, b->column)) continue;
    hk_mat_add_product(b->dfdx, d + 3 * (int64_t)b->column, sum);
    if (m->dimension == 2) sum[2] = 0;
    hk_axpy(square, sum, out + 3 * (int64_t)b->row); /* the block is -tau^2 df/dx */
  }
}
