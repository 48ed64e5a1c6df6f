/* The springs by rows; see spring_rows.h. */
#include "force/spring_rows.h"

HK_KERNEL_TABLE(HkSpringRowsKernels, hk_spring_rows_kernels)

const HkSpringRowsKernels *hk_spring_rows_kernels(HkIsa isa) {
  return hk_spring_rows_kernels_of(isa);
}

static int64_t degree(const HkModel *m, int64_t q) {
  return m->adj_start[q + 1] - m->adj_start[q];
}

static HkStatus allocate(const HkModel *m, HkSpringRows *r, HkError *error) {
  const HkContext *c = &m->context;
  const char *what = "springs by rows";
  r->n = m->n;
  r->groups = (m->n + HK_ROW_GROUP - 1) / HK_ROW_GROUP;
  HK_TRY(hk_alloc(c, &r->start, r->groups + 1, sizeof *r->start, what, error));
  for (int64_t b = 0; b < r->groups; b++) {
    int64_t most = 0;
    for (int64_t q = b * HK_ROW_GROUP; q < (b + 1) * HK_ROW_GROUP && q < m->n; q++)
      if (degree(m, q) > most) most = degree(m, q);
    r->start[b + 1] = r->start[b] + most;
  }
  int64_t entries = r->start[r->groups] * HK_ROW_GROUP;
  HK_TRY(hk_alloc_aligned(c, &r->blocks[0], &r->neighbour, entries, sizeof *r->neighbour, what,
                          error));
  double **numbers[] = {&r->k, &r->l0, m->damping ? &r->damping : NULL,
                        m->tension ? &r->least : NULL};
  int arrays = 0;
  for (int q = 0; q < 4; q++) {
    if (!numbers[q]) continue;
    HK_TRY(
        hk_alloc_aligned(c, &r->blocks[1 + q], numbers[q], entries, sizeof(double), what, error));
    arrays++;
  }
  r->bytes = sizeof *r + (size_t)(r->groups + 1) * sizeof *r->start +
             (size_t)entries * (sizeof *r->neighbour + (size_t)arrays * sizeof(double));
  return HK_OK;
}

typedef struct Fill {
  const HkModel *model;
  HkSpringRows *rows;
} Fill;

static void fill_range(void *user, int64_t begin, int64_t end) {
  const HkModel *m = ((Fill *)user)->model;
  HkSpringRows *r = ((Fill *)user)->rows;
  for (int64_t v = begin * HK_ROW_GROUP; v < end * HK_ROW_GROUP; v++) {
    int64_t b = v / HK_ROW_GROUP, q = v < m->n ? v : m->n - 1;
    int64_t count = v < m->n ? degree(m, q) : 0, first = m->adj_start[q];
    for (int64_t slot = r->start[b]; slot < r->start[b + 1]; slot++) {
      int64_t to = slot * HK_ROW_GROUP + v % HK_ROW_GROUP, at = slot - r->start[b];
      bool real = at < count;
      int64_t s = real ? m->adj_spring[first + at] : 0;
      r->neighbour[to] = real ? m->adj_vertex[first + at] : (int32_t)q;
      r->k[to] = real ? m->k[s] : 0;
      r->l0[to] = real ? m->l0[s] : 0;
      if (r->damping) r->damping[to] = real ? m->damping[s] : 0;
      if (r->least) r->least[to] = real && m->tension[s] ? m->l0[s] : -1;
    }
  }
}

static void fill(const HkModel *m, HkSpringRows *r) {
  Fill f = {m, r};
  hk_parallel_work(m->threads, r->groups, HK_ROW_GRAIN, fill_range, &f);
  r->version = m->stiffness_version;
}

HkStatus hk_spring_rows_create(const HkModel *model, HkSpringRows **rows, HkError *error) {
  HK_TRY(hk_alloc(&model->context, rows, 1, sizeof **rows, "springs by rows", error));
  HkStatus status = allocate(model, *rows, error);
  if (status < 0)
    hk_spring_rows_destroy(model, rows);
  else
    fill(model, *rows);
  return status;
}

void hk_spring_rows_destroy(const HkModel *model, HkSpringRows **rows) {
  HkSpringRows *r = *rows;
  if (!r) return;
  for (size_t q = 0; q < sizeof r->blocks / sizeof r->blocks[0]; q++)
    hk_free(&model->context, &r->blocks[q]);
  hk_free(&model->context, &r->start);
  hk_free(&model->context, rows);
}

void hk_spring_rows_update(const HkModel *model, HkSpringRows *rows) {
  if (rows->version != model->stiffness_version) fill(model, rows);
}
