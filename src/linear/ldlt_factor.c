/* The built-in factorization A = L D L^T of sparse symmetric positive definite matrices.
 *
 * Left-looking by supernodes (symbolic.h): each panel is filled with the values of A, then with
 * what the supernodes before it do to it,
 *
 *     A_s -= L_d D_d L_d^T        over the rows that panels d and s have in common,
 *
 * and is then factorized as a dense one. A supernode d waits in the list of the next supernode that
 * it reaches into. One thread; all memory is there after the analysis.
 */
#include "base/isa.h"
#include "linear/factor_type.h"
#include "linear/panel.h"
#include "linear/symbolic.h"

#include <string.h>

HK_KERNEL_TABLE(HkPanelKernels, hk_panel_kernels)

typedef struct Ldlt {
  const HkPanelKernels *kernels;
  HkSymbolic symbolic;
  double *value;        /* of all panels; NULL: released */
  double *d;            /* n */
  double *work;         /* an update, or the right-hand sides of one panel */
  double *x;            /* 3 n: right-hand sides in the new order */
  int64_t *where;       /* n: place of a row in the present panel */
  int64_t *head, *next; /* lists of the supernodes that reach into one */
  int64_t *at;          /* the first row of a supernode that is in the present one or behind it */
} Ldlt;

static HkStatus allocate(HkFactor *f, Ldlt *l, HkError *error) {
  const HkContext *c = &f->context;
  const HkSymbolic *s = &l->symbolic;
  int64_t work = 3 * s->tallest > s->update ? 3 * s->tallest : s->update;
  HK_TRY(hk_alloc(c, &l->d, s->n, sizeof *l->d, "a factorization", error));
  HK_TRY(hk_alloc(c, &l->work, work, sizeof *l->work, "a factorization", error));
  HK_TRY(hk_alloc(c, &l->x, 3 * s->n, sizeof *l->x, "a factorization", error));
  HK_TRY(hk_alloc(c, &l->where, s->n, sizeof *l->where, "a factorization", error));
  HK_TRY(hk_alloc(c, &l->head, s->count, sizeof *l->head, "a factorization", error));
  HK_TRY(hk_alloc(c, &l->next, s->count, sizeof *l->next, "a factorization", error));
  HK_TRY(hk_alloc(c, &l->at, s->count, sizeof *l->at, "a factorization", error));
  f->entries = s->entries;
  f->ordering = "amd";
  f->bytes = sizeof *l + s->bytes + (size_t)(work + 5 * s->n + 3 * s->count) * sizeof *l->value;
  return HK_OK;
}

/* The panels, unless they are there. */
static HkStatus make_panels(HkFactor *f, Ldlt *l, HkError *error) {
  int64_t values = l->symbolic.panel[l->symbolic.count];
  if (l->value || values == 0) return HK_OK;
  HK_TRY(hk_alloc(&f->context, &l->value, values, sizeof *l->value, "a factorization", error));
  f->bytes += (size_t)values * sizeof *l->value;
  return HK_OK;
}

static double need(const HkFactor *f) {
  const Ldlt *l = f->data;
  return l->value ? 0 : (double)l->symbolic.panel[l->symbolic.count] * sizeof *l->value;
}

static void release(HkFactor *f) {
  Ldlt *l = f->data;
  if (l->value) f->bytes -= (size_t)l->symbolic.panel[l->symbolic.count] * sizeof *l->value;
  hk_free(&f->context, &l->value);
}

static HkStatus create(HkFactor *f, const HkSparse *pattern, HkError *error) {
  Ldlt *l = NULL;
  HkIsa isa;
  HK_TRY(hk_isa_pick(&isa, error));
  HK_TRY(hk_alloc(&f->context, &l, 1, sizeof *l, "a factorization", error));
  f->data = l;
  l->kernels = hk_panel_kernels_of(isa);
  HK_TRY(hk_symbolic_create(&f->context, pattern, &l->symbolic, error));
  HK_TRY(allocate(f, l, error));
  return HK_OK;
}

static void destroy(HkFactor *f) {
  const HkContext *c = &f->context;
  Ldlt *l = f->data;
  hk_symbolic_destroy(c, &l->symbolic);
  hk_free(c, &l->value);
  hk_free(c, &l->d);
  hk_free(c, &l->work);
  hk_free(c, &l->x);
  hk_free(c, &l->where);
  hk_free(c, &l->head);
  hk_free(c, &l->next);
  hk_free(c, &l->at);
  hk_free(c, &f->data);
}

/* ---- Values ---- */

/* Puts a supernode, whose rows before its at are done with, into the list of the next one. */
static void send_on(Ldlt *l, int64_t node) {
  const HkSymbolic *s = &l->symbolic;
  if (l->at[node] == s->start[node + 1]) return;
  int64_t up = s->owner[s->row[l->at[node]]];
  l->next[node] = l->head[up];
  l->head[up] = node;
}

/* Does to panel `to` what supernode `from` does to it. */
static void apply_update(Ldlt *l, int64_t from, int64_t to) {
  const HkSymbolic *s = &l->symbolic;
  int64_t begin = l->at[from], end = s->start[from + 1], middle = begin;
  while (middle < end && s->row[middle] < s->first[to + 1]) middle++;
  l->at[from] = middle;
  int64_t rows = end - begin, columns = middle - begin;
  int64_t stride = end - s->start[from], depth = s->first[from + 1] - s->first[from];
  const double *panel = l->value + s->panel[from] + (begin - s->start[from]);
  memset(l->work, 0, (size_t)(rows * columns) * sizeof *l->work);
  l->kernels->update(rows, columns, depth, panel, stride, l->d + s->first[from], l->work, rows);
  int64_t height = s->start[to + 1] - s->start[to];
  for (int64_t j = 0; j < columns; j++) {
    double *column = l->value + s->panel[to] + (s->row[begin + j] - s->first[to]) * height;
    const double *update = l->work + j * rows;
    for (int64_t i = j; i < rows; i++) column[l->where[s->row[begin + i]]] += update[i];
  }
}

static HkStatus compute(HkFactor *f, const double *values, bool *positive, HkError *error) {
  Ldlt *l = f->data;
  const HkSymbolic *s = &l->symbolic;
  *positive = true;
  if (s->n == 0) return HK_OK;
  HK_TRY(make_panels(f, l, error));
  memset(l->value, 0, (size_t)s->panel[s->count] * sizeof *l->value);
  for (int64_t e = 0; e < s->given; e++) l->value[s->target[e]] = values[e];
  for (int64_t node = 0; node < s->count; node++) l->head[node] = -1;
  for (int64_t node = 0; node < s->count; node++) {
    HK_TRY(hk_cancel_check(f->cancel, error));
    int64_t rows = s->start[node + 1] - s->start[node],
            columns = s->first[node + 1] - s->first[node];
    for (int64_t i = 0; i < rows; i++) l->where[s->row[s->start[node] + i]] = i;
    for (int64_t from = l->head[node], next; from >= 0; from = next) {
      HK_TRY(hk_cancel_check(f->cancel, error));
      next = l->next[from];
      apply_update(l, from, node);
      send_on(l, from);
    }
    if (!l->kernels->factorize(rows, columns, l->value + s->panel[node], l->d + s->first[node])) {
      *positive = false;
      return HK_OK;
    }
    l->at[node] = s->start[node] + columns;
    send_on(l, node);
  }
  return HK_OK;
}

/* ---- Right-hand sides ---- */

static void forward(Ldlt *l, int64_t node, int sides) {
  const HkSymbolic *s = &l->symbolic;
  int64_t rows = s->start[node + 1] - s->start[node], columns = s->first[node + 1] - s->first[node];
  double *own = l->x + s->first[node] * sides, *y = l->work;
  memcpy(y, own, (size_t)(columns * sides) * sizeof *y);
  memset(y + columns * sides, 0, (size_t)((rows - columns) * sides) * sizeof *y);
  l->kernels->forward(rows, columns, l->value + s->panel[node], y, sides);
  memcpy(own, y, (size_t)(columns * sides) * sizeof *y);
  for (int64_t i = columns; i < rows; i++)
    for (int c = 0; c < sides; c++)
      l->x[s->row[s->start[node] + i] * sides + c] += y[i * sides + c];
}

static void backward(Ldlt *l, int64_t node, int sides) {
  const HkSymbolic *s = &l->symbolic;
  int64_t rows = s->start[node + 1] - s->start[node], columns = s->first[node + 1] - s->first[node];
  double *y = l->work;
  for (int64_t i = 0; i < rows; i++)
    for (int c = 0; c < sides; c++) y[i * sides + c] = l->x[s->row[s->start[node] + i] * sides + c];
  l->kernels->backward(rows, columns, l->value + s->panel[node], y, sides);
  memcpy(l->x + s->first[node] * sides, y, (size_t)(columns * sides) * sizeof *y);
}

static HkStatus solve(HkFactor *f, double *b, int sides, HkError *error) {
  (void)error;
  Ldlt *l = f->data;
  const HkSymbolic *s = &l->symbolic;
  for (int64_t k = 0; k < s->n; k++)
    for (int c = 0; c < sides; c++) l->x[k * sides + c] = b[s->order[k] * sides + c];
  for (int64_t node = 0; node < s->count; node++) forward(l, node, sides);
  for (int64_t k = 0; k < s->n; k++)
    for (int c = 0; c < sides; c++) l->x[k * sides + c] /= l->d[k];
  for (int64_t node = s->count - 1; node >= 0; node--) backward(l, node, sides);
  for (int64_t k = 0; k < s->n; k++)
    for (int c = 0; c < sides; c++) b[s->order[k] * sides + c] = l->x[k * sides + c];
  return HK_OK;
}

static HkSupernodes view(const HkFactor *f) {
  const Ldlt *l = f->data;
  const HkSymbolic *s = &l->symbolic;
  return (HkSupernodes){.n = s->n,
                        .count = s->count,
                        .order = s->order,
                        .first = s->first,
                        .start = s->start,
                        .row = s->row,
                        .panel = s->panel,
                        .value = l->value,
                        .d = l->d};
}

const HkFactorType hk_factor_ldlt = {"ldlt", create, destroy, compute, solve, view, release, need};
