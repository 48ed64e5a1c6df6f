/* Anderson acceleration; see anderson.h.
 *
 * The least-squares problem is solved by its normal equations, (dF^T dF) gamma = dF^T f. Their
 * matrix, window x window, is kept and gets one new row an iteration. Its condition is the square
 * of that of dF, and differences of late iterates are nearly parallel: so each column is scaled to
 * length 1, and a column that the newer ones already span to MIN_NEW_PART_SQUARED of its length is
 * left out. What is left has a Cholesky factor whose pivots are far above rounding.
 */
#include "minimize/anderson.h"

#include <math.h>
#include <string.h>

/* Square of the part of a column that must be new. */
#define MIN_NEW_PART_SQUARED 1e-10

struct HkAnderson {
  HkContext context;
  const HkVectors *space;
  int window, count, next; /* columns next - count .. next - 1 count, modulo window */
  bool started;            /* f and G are those of the last iterate */
  double *f, *G;           /* 3 n */
  double *dF[HK_ANDERSON_WINDOW_MAX], *dG[HK_ANDERSON_WINDOW_MAX];
  double gram[HK_ANDERSON_WINDOW_MAX][HK_ANDERSON_WINDOW_MAX]; /* dF_i . dF_j */
};

/* ---- Creating ---- */

static HkStatus allocate(HkAnderson *a, int64_t n, HkError *error) {
  const char *what = "an acceleration";
  HK_TRY(hk_alloc(&a->context, &a->f, 3 * n, sizeof *a->f, what, error));
  HK_TRY(hk_alloc(&a->context, &a->G, 3 * n, sizeof *a->G, what, error));
  for (int slot = 0; slot < a->window; slot++) {
    HK_TRY(hk_alloc(&a->context, &a->dF[slot], 3 * n, sizeof *a->f, what, error));
    HK_TRY(hk_alloc(&a->context, &a->dG[slot], 3 * n, sizeof *a->f, what, error));
  }
  return HK_OK;
}

HkStatus hk_anderson_create(const HkModel *model, const HkVectors *space, int window,
                            HkAnderson **anderson, size_t *bytes, HkError *error) {
  HK_TRY(hk_alloc(&model->context, anderson, 1, sizeof **anderson, "an acceleration", error));
  HkAnderson *a = *anderson;
  a->context = model->context;
  a->space = space;
  a->window = window;
  HkStatus status = allocate(a, model->n, error);
  if (status < 0)
    hk_anderson_destroy(anderson);
  else
    *bytes += sizeof *a + (size_t)(2 * window + 2) * (size_t)model->n * 3 * sizeof(double);
  return status;
}

void hk_anderson_destroy(HkAnderson **anderson) {
  HkAnderson *a = *anderson;
  if (!a) return;
  HkContext c = a->context;
  hk_free(&c, &a->f);
  hk_free(&c, &a->G);
  for (int slot = 0; slot < a->window; slot++) {
    hk_free(&c, &a->dF[slot]);
    hk_free(&c, &a->dG[slot]);
  }
  hk_free(&c, anderson);
}

void hk_anderson_restart(HkAnderson *a) {
  a->started = false;
  a->count = a->next = 0;
}

/* ---- The past ---- */

typedef struct Columns {
  const HkAnderson *a;
  const double *x, *f;
  double *dF, *dG; /* the new column, or NULL */
  const int *column;
  const double *gamma;
  int count;
  double *out;
} Columns;

/* The new column, and f and G of this iterate for the next one. */
static void take_range(void *user, int64_t begin, int64_t end) {
  const Columns *c = user;
  double *f = c->a->f, *G = c->a->G;
  for (int64_t k = 3 * begin; k < 3 * end; k++) {
    double to = c->x[k] + c->f[k];
    if (c->dF) {
      c->dF[k] = c->f[k] - f[k];
      c->dG[k] = to - G[k];
    }
    f[k] = c->f[k];
    G[k] = to;
  }
}

static void take(HkAnderson *a, const double *x, const double *f) {
  Columns c = {.a = a, .x = x, .f = f};
  int slot = a->next;
  if (a->started) {
    c.dF = a->dF[slot];
    c.dG = a->dG[slot];
  }
  hk_parallel_for(a->space->threads, a->space->n, take_range, &c);
  if (a->started) {
    a->next = (slot + 1) % a->window;
    if (a->count < a->window) a->count++;
    for (int j = 0; j < a->count; j++)
      a->gram[slot][j] = a->gram[j][slot] = hk_vectors_dot(a->space, a->dF[slot], a->dF[j]);
  }
  a->started = true;
}

/* ---- The small problem ---- */

/* The Cholesky factor of the scaled matrix over the columns that bring something new, newest first;
 * returns how many there are. */
static int factorize(const HkAnderson *a, int column[HK_ANDERSON_WINDOW_MAX],
                     double L[HK_ANDERSON_WINDOW_MAX][HK_ANDERSON_WINDOW_MAX]) {
  int used = 0;
  for (int age = 0; age < a->count; age++) {
    int slot = (a->next - 1 - age + a->window) % a->window;
    double pivot = 1;
    for (int j = 0; j < used; j++) {
      double sum =
          a->gram[slot][column[j]] / sqrt(a->gram[slot][slot] * a->gram[column[j]][column[j]]);
      for (int r = 0; r < j; r++) sum -= L[used][r] * L[j][r];
      L[used][j] = sum / L[j][j];
      pivot -= L[used][j] * L[used][j];
    }
    if (!(pivot > MIN_NEW_PART_SQUARED) || !(a->gram[slot][slot] > 0)) continue;
    L[used][used] = sqrt(pivot);
    column[used++] = slot;
  }
  return used;
}

/* gamma of the chosen columns. */
static void solve(const HkAnderson *a, const double *f, int used, const int *column,
                  double L[HK_ANDERSON_WINDOW_MAX][HK_ANDERSON_WINDOW_MAX], double *gamma) {
  for (int i = 0; i < used; i++) {
    int slot = column[i];
    double sum = hk_vectors_dot(a->space, a->dF[slot], f) / sqrt(a->gram[slot][slot]);
    for (int r = 0; r < i; r++) sum -= L[i][r] * gamma[r];
    gamma[i] = sum / L[i][i];
  }
  for (int i = used - 1; i >= 0; i--) {
    for (int r = i + 1; r < used; r++) gamma[i] -= L[r][i] * gamma[r];
    gamma[i] /= L[i][i];
  }
  for (int i = 0; i < used; i++) gamma[i] /= sqrt(a->gram[column[i]][column[i]]);
}

/* out = G - sum gamma_j dG_j. */
static void combine_range(void *user, int64_t begin, int64_t end) {
  const Columns *c = user;
  memcpy(c->out + 3 * begin, c->a->G + 3 * begin, (size_t)(end - begin) * 3 * sizeof *c->out);
  for (int j = 0; j < c->count; j++) {
    const double *restrict dG = c->a->dG[c->column[j]];
    double *restrict out = c->out, gamma = c->gamma[j];
    for (int64_t k = 3 * begin; k < 3 * end; k++) out[k] -= gamma * dG[k];
  }
}

bool hk_anderson_next(HkAnderson *a, const double *x, const double *f, double *next) {
  double L[HK_ANDERSON_WINDOW_MAX][HK_ANDERSON_WINDOW_MAX], gamma[HK_ANDERSON_WINDOW_MAX];
  int column[HK_ANDERSON_WINDOW_MAX];
  take(a, x, f);
  int used = factorize(a, column, L);
  if (used == 0) return false;
  solve(a, f, used, column, L, gamma);
  Columns c = {.a = a, .column = column, .gamma = gamma, .count = used, .out = next};
  hk_parallel_for(a->space->threads, a->space->n, combine_range, &c);
  return true;
}
