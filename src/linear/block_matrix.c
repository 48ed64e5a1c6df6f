/* Sparse symmetric matrices of 3x3 blocks; see block_matrix.h. */
#include "linear/block_matrix.h"

#include "base/file.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- Pattern ---- */

/* Sorts a list of columns and keeps each once; returns how many there are. */
static int64_t sort_columns(int32_t *list, int64_t count) {
  int64_t unique = 0;
  hk_sort_int32(list, count);
  for (int64_t c = 0; c < count; c++)
    if (c == 0 || list[c] != list[unique - 1]) list[unique++] = list[c];
  return unique;
}

/* What a pattern is made from: the neighbors in a model, or another pattern and blocks of forces.
 */
typedef struct Source {
  const HkModel *model;
  const HkPattern *pattern; /* NULL: the model's neighbors */
  const HkForceBlocks *blocks;
  int64_t row; /* of blocks: the one that comes next */
} Source;

static int64_t list_neighbors(const HkModel *m, int64_t i, int32_t *list) {
  int64_t count = 0;
  list[count++] = (int32_t)i;
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) list[count++] = m->adj_vertex[e];
  for (int64_t at = m->face_start ? m->face_start[i] : 0;
       m->face_start && at < m->face_start[i + 1]; at++) {
    const int32_t *face = m->face + m->face_at[at] / 3 * 3;
    for (int c = 0; c < 3; c++) list[count++] = face[c];
  }
  return count;
}

/* The number of entries that list_columns writes for a row before it sorts them. */
static int64_t count_listed(const Source *s, int64_t i) {
  const HkModel *m = s->model;
  if (s->pattern) {
    int64_t listed = s->pattern->start[i + 1] - s->pattern->start[i];
    const HkForceBlocks *b = s->blocks;
    bool has_blocks = s->row < b->row_count && b->block[b->row_start[s->row]].row == i;
    return has_blocks ? listed + b->row_start[s->row + 1] - b->row_start[s->row] : listed;
  }
  int64_t faces = m->face_start ? m->face_start[i + 1] - m->face_start[i] : 0;
  return 1 + m->adj_start[i + 1] - m->adj_start[i] + 3 * faces;
}

/* The columns of row i into list, sorted and each once; returns how many. Rows are asked for by
 * rising number. */
static int64_t list_columns(Source *s, int64_t i, int32_t *list) {
  const HkPattern *p = s->pattern;
  const HkForceBlocks *b = s->blocks;
  if (!p) return sort_columns(list, list_neighbors(s->model, i, list));
  int64_t count = p->start[i + 1] - p->start[i];
  memcpy(list, p->column + p->start[i], (size_t)count * sizeof *list);
  if (s->row >= b->row_count || b->block[b->row_start[s->row]].row != i) return count;
  for (int64_t e = b->row_start[s->row]; e < b->row_start[s->row + 1]; e++)
    list[count++] = b->block[e].column;
  s->row++;
  return sort_columns(list, count);
}

static int64_t widest_row(Source s) {
  int64_t widest = 1;
  for (int64_t i = 0; i < s.model->n; i++) {
    int64_t width = count_listed(&s, i);
    if (width > widest) widest = width;
    if (s.pattern && width > s.pattern->start[i + 1] - s.pattern->start[i]) s.row++;
  }
  return widest;
}

static HkStatus fill_pattern(const Source *source, HkPattern *p, int32_t *list, HkError *error) {
  const HkModel *m = source->model;
  Source counted = *source, filled = *source;
  for (int64_t i = 0; i < m->n; i++)
    p->start[i + 1] = p->start[i] + list_columns(&counted, i, list);
  HK_TRY(hk_alloc(&m->context, &p->column, p->start[m->n], sizeof *p->column, "a matrix", error));
  for (int64_t i = 0; i < m->n; i++) {
    int64_t count = list_columns(&filled, i, list);
    memcpy(p->column + p->start[i], list, (size_t)count * sizeof *list);
    p->diagonal[i] = hk_pattern_find(p, i, i);
  }
  p->hash = hk_hash(HK_HASH_START, p->start, (size_t)(m->n + 1) * sizeof *p->start);
  p->hash = hk_hash(p->hash, p->column, (size_t)p->start[m->n] * sizeof *p->column);
  return HK_OK;
}

static HkStatus create_pattern(const Source *source, HkPattern *p, HkError *error) {
  const HkModel *m = source->model;
  const HkContext *c = &m->context;
  int32_t *list = NULL;
  *p = (HkPattern){.n = m->n};
  HkStatus status = hk_alloc(c, &p->start, m->n + 1, sizeof *p->start, "a matrix", error);
  if (status >= 0) status = hk_alloc(c, &p->diagonal, m->n, sizeof *p->diagonal, "a matrix", error);
  if (status >= 0)
    status = hk_alloc(c, &list, widest_row(*source), sizeof *list, "a matrix", error);
  if (status >= 0) status = fill_pattern(source, p, list, error);
  hk_free(c, &list);
  if (status < 0) hk_pattern_destroy(m, p);
  return status;
}

HkStatus hk_pattern_create(const HkModel *m, HkPattern *p, size_t *bytes, HkError *error) {
  Source source = {.model = m};
  HK_TRY(create_pattern(&source, p, error));
  if (bytes) *bytes += hk_pattern_bytes(p);
  return HK_OK;
}

HkStatus hk_pattern_extend(const HkModel *m, const HkPattern *pattern, const HkForceBlocks *blocks,
                           HkPattern *extended, HkError *error) {
  Source source = {.model = m, .pattern = pattern, .blocks = blocks};
  return create_pattern(&source, extended, error);
}

int64_t hk_pattern_count_missing(const HkPattern *p, const HkForceBlocks *blocks) {
  int64_t missing = 0;
  for (int64_t e = 0; e < blocks->count; e++)
    missing += hk_pattern_find(p, blocks->block[e].row, blocks->block[e].column) < 0;
  return missing;
}

size_t hk_pattern_bytes(const HkPattern *p) {
  if (!p->start) return 0;
  return (size_t)(2 * p->n + 1) * sizeof *p->start + (size_t)p->start[p->n] * sizeof *p->column;
}

void hk_pattern_destroy(const HkModel *m, HkPattern *p) {
  hk_free(&m->context, &p->start);
  hk_free(&m->context, &p->column);
  hk_free(&m->context, &p->diagonal);
  p->n = 0;
}

int64_t hk_pattern_find(const HkPattern *p, int64_t i, int64_t j) {
  HK_ASSERT(i >= 0 && i < p->n && j >= 0 && j < p->n);
  int64_t low = p->start[i], high = p->start[i + 1];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (p->column[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < p->start[i + 1] && p->column[low] == j ? low : -1;
}

/* ---- Matrix ---- */

HkStatus hk_block_matrix_create(const HkModel *m, const HkPattern *pattern, HkBlockMatrix *A,
                                size_t *bytes, HkError *error) {
  int64_t blocks = pattern->start[pattern->n];
  *A = (HkBlockMatrix){.pattern = pattern, .threads = m->threads};
  HK_TRY(hk_alloc(&m->context, &A->value, blocks, 9 * sizeof *A->value, "a matrix", error));
  if (bytes) *bytes += (size_t)blocks * 9 * sizeof *A->value;
  return HK_OK;
}

void hk_block_matrix_destroy(const HkModel *m, HkBlockMatrix *A) {
  hk_free(&m->context, &A->value);
}

void hk_block_matrix_zero(HkBlockMatrix *A) {
  const HkPattern *p = A->pattern;
  if (A->only_diagonal) {
    for (int64_t i = 0; i < p->n; i++)
      memset(A->value + 9 * p->diagonal[i], 0, 9 * sizeof *A->value);
    return;
  }
  memset(A->value, 0, (size_t)p->start[p->n] * 9 * sizeof *A->value);
}

void hk_block_matrix_scale(HkBlockMatrix *A, double s) {
  for (int64_t k = 0; k < 9 * A->pattern->start[A->pattern->n]; k++) A->value[k] *= s;
}

typedef struct Product {
  const HkBlockMatrix *A;
  const double *p;
  double *out;
} Product;

static void product_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  for (int64_t i = begin; i < end; i++) {
    double sum[3];
    int64_t first, last;
    hk_block_row(a->A, i, &first, &last);
    hk_block_row_product(a->A, first, last, a->p, sum);
    memcpy(a->out + 3 * i, sum, sizeof sum);
  }
}

void hk_block_matrix_product(const HkBlockMatrix *A, const double *p, double *out) {
  Product a = {A, p, out};
  HK_ASSERT(A->value && p != out);
  hk_parallel_for(A->threads, A->pattern->n, product_range, &a);
}
