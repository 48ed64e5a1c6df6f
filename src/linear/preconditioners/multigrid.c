/* One cycle of multigrid on H, for any mesh.
 *
 *     z = sweep forward on A z = r from 0;   on the next level, A' e = P^T (r - A z) likewise;
 *     z += P e;   sweep back
 *
 * The next level is visited twice where that costs little (a W-cycle there), the second time from
 * the e of the first. With one visit the error of small levels decides how many iterations are
 * needed: 13 instead of 7 for a ball of 21,000 vertices.
 *
 * A is H without the negative directions of springs under pressure, in single precision; a sweep is
 * Gauss-Seidel with 3x3 blocks, forward on the way down and backward on the way up, so that z is a
 * symmetric positive definite function of r. The last level is solved exactly. Long waves, for
 * which the other preconditioners need hundreds of iterations, are short ones on a coarse level:
 * the number of iterations is nearly independent of the mesh size. Damping of springs counts along
 * their present direction; other forces count by their blocks, between any vertices (coupling.h).
 *
 * Cost: a new H is worth about three cycles, a cycle about ten products with H. The hierarchy is
 * found once (multigrid.h).
 *
 * A solid that is rotated and deformed little from its first shape keeps the hierarchy of the H of
 * that shape for all steps, since this H is close to A. The decision depends on x only, so that a
 * step does not depend on the steps before it. Cloth, whose stiffness across its plane changes with
 * the slightest pressure or tension, gets a new H each time.
 */
#include "base/vec.h"

#include "force/springs.h"
#include "linear/coupling.h"
#include "linear/fine_terms.h"
#include "linear/level_terms.h"
#include "linear/multigrid_kernels.h"
#include "linear/part_solver.h"
#include "model/proportions.h"

#include <string.h>

HK_KERNEL_TABLE(HkFineKernels, hk_fine_kernels)
HK_KERNEL_TABLE(HkMultigridKernels, hk_multigrid_kernels)

const HkFineKernels *hk_fine_kernels(HkIsa isa) {
  return hk_fine_kernels_of(isa);
}

const HkMultigridKernels *hk_multigrid_kernels(HkIsa isa) {
  return hk_multigrid_kernels_of(isa);
}

typedef struct Data {
  HkMultigrid *multigrid;
  const HkFineKernels *fine;
  const HkMultigridKernels *kernels;
  float *records; /* of the springs by rows */
  void *memory;   /* of records */
  double *extra;  /* 9 n: of the other forces, made when there are any */
  int threads;
  bool solid;
  size_t couplings_bytes;
  bool kept;                     /* the hierarchy is that of the first shape, ... */
  double kept_tau;               /* ... of these */
  int64_t kept_model, kept_held; /* versions */
} Data;

/* Rows that one thread takes at a time, and the least number of rows in a stage of a sweep that
 * several threads share. */
enum { GRAIN = 256, MIN_THREADED_ROWS = 200 };

/* Allocates the blocks of the other forces; called again, since live changes may add forces. */
static HkStatus need_extra(HkPrecondition *p, HkError *error) {
  const HkModel *m = p->setup.model;
  Data *data = p->data;
  bool others = m->velocity_dependent;
  for (int f = 0; f < m->force_count; f++) others |= hk_force_has_blocks(m, f);
  if (data->extra || !others) return HK_OK;
  HK_TRY(hk_alloc(&m->context, &data->extra, 9 * m->n, sizeof *data->extra, "multigrid", error));
  p->bytes += (size_t)m->n * 9 * sizeof *data->extra;
  return HK_OK;
}

static HkStatus create(HkPrecondition *p, HkError *error) {
  const HkContext *c = &p->setup.model->context;
  Data *data = NULL;
  HK_TRY(hk_alloc(c, &data, 1, sizeof *data, "multigrid", error));
  p->data = data;
  HK_TRY(hk_multigrid_create(p->setup.model, &data->multigrid, error));
  int64_t entries = 4 * HK_ROW_GROUP * data->multigrid->slots;
  HK_TRY(hk_alloc_aligned(c, &data->memory, &data->records, entries, sizeof *data->records,
                          "multigrid", error));
  HK_TRY(need_extra(p, error));
  data->fine = hk_fine_kernels(data->multigrid->isa);
  data->kernels = hk_multigrid_kernels(data->multigrid->isa);
  data->solid = hk_model_is_solid(p->setup.model);
  data->threads = p->space.threads;
  p->bytes += sizeof *data + data->multigrid->bytes;
  p->bytes += hk_aligned_bytes(entries, sizeof *data->records);
  return HK_OK;
}

static void destroy(HkPrecondition *p) {
  const HkContext *c = &p->setup.model->context;
  Data *data = p->data;
  hk_multigrid_destroy(&data->multigrid);
  hk_free(c, &data->memory);
  hk_free(c, &data->extra);
  hk_free(c, &p->data);
}

/* ---- Loops over the rows of a level ---- */

/* From 0, from the x that there is, or the latter in falling order. */
typedef enum Sweep { FIRST, AGAIN, BACK } Sweep;

typedef struct Loop {
  const Data *data;
  const HkMultigrid *multigrid;
  const HkLevel *level, *coarse;
  const HkFineValues *values;
  const double *r;
  double *z;
  Sweep sweep;
  int first_range; /* of the stage that is swept */
} Loop;

#define LOOP(name, call)                                                                           \
  static void name(void *user, int64_t begin, int64_t end) {                                       \
    const Loop *a = user;                                                                          \
    a->data->call;                                                                                 \
  }

LOOP(fill_range, fine->fill(a->values, begin, end))
LOOP(take_range, fine->take(a->multigrid, a->r, begin, end))
LOOP(give_range, fine->give(a->multigrid, a->r, a->z, begin, end))
LOOP(multiply_fine_range, fine->multiply(a->multigrid, begin, end))
LOOP(invert_fine_range, fine->invert(a->multigrid, begin, end))
LOOP(residual_fine_range, fine->residual(a->multigrid, begin, end))
LOOP(prolong_fine_range, fine->prolong(a->multigrid, begin, end))
LOOP(multiply_range, kernels->multiply(a->level, begin, end))
LOOP(project_range, kernels->project(a->level, a->coarse, begin, end))
LOOP(invert_range, kernels->invert(a->level, begin, end))
LOOP(residual_range, kernels->residual(a->level, begin, end))
LOOP(residual_again_range, kernels->residual_again(a->level, begin, end))
LOOP(restrict_range, kernels->restrict_to(a->level, a->coarse, begin, end))
LOOP(prolong_range, kernels->prolong(a->level, a->coarse, begin, end))

static void run(Loop *a, int64_t rows, HkRangeFn *fn) {
  hk_parallel_work(a->data->threads, rows, GRAIN, fn, a);
}

static void run_groups(Loop *a, HkRangeFn *fn) {
  hk_parallel_work(a->data->threads, a->multigrid->fine.groups, GRAIN / HK_LANES, fn, a);
}

static Loop loop_of(const Data *data, int k) {
  const HkMultigrid *m = data->multigrid;
  return (Loop){.data = data,
                .multigrid = m,
                .level = &m->level[k],
                .coarse = k + 1 < m->count ? &m->level[k + 1] : NULL};
}

/* ---- A new Hessian ---- */

/* The inverse of the last level's matrix. */
static void invert_last(const Data *data) {
  HkMultigrid *m = data->multigrid;
  const HkLevel *l = &m->level[m->count - 1];
  int size = 3 * l->n;
  memset(m->dense, 0, (size_t)size * (size_t)size * sizeof *m->dense);
  for (int32_t i = 0; i < l->n; i++)
    for (int32_t e = l->graph.start[i]; e < l->graph.start[i + 1]; e++)
      for (int k = 0; k < 9; k++) {
        size_t row = (size_t)(3 * i + k % 3), column = (size_t)(3 * l->graph.column[e] + k / 3);
        m->dense[row * (size_t)size + column] = l->A[12 * (int64_t)e + 4 * (k / 3) + k % 3];
      }
  hk_couplings_add_dense(&l->couplings, size, m->dense);
  hk_level_terms_add_dense(&l->terms, size, m->dense);
  for (size_t i = 0; i < (size_t)size; i++) {
    double *d = &m->dense[i * (size_t)size + i];
    *d = *d > 0 ? *d * (1 + 1e-5) : 1;
  }
  data->kernels->invert_dense(size, m->dense);
  for (size_t r = 0; r < (size_t)size; r++)
    for (size_t c = 0; c < (size_t)size; c++) /* symmetric in spite of rounding */
      m->coarsest[r * (size_t)size + c] =
          (float)(0.5 * (m->dense[r * (size_t)size + c] + m->dense[c * (size_t)size + r]));
}

static HkStatus project_all(const Data *data, const uint8_t *held, HkError *error) {
  HkMultigrid *m = data->multigrid;
  const HkContext *c = &m->model->context;
  for (int k = 0; k < m->count; k++) {
    Loop a = loop_of(data, k);
    if (a.coarse) {
      run(&a, a.level->n, k == 0 ? multiply_fine_range : multiply_range);
      run(&a, a.coarse->n, project_range);
      HK_TRY(hk_couplings_project(c, a.level, &m->level[k].couplings, a.coarse,
                                  &m->level[k + 1].couplings, error));
      HK_TRY(hk_level_terms_project(m, k, held, data->threads, error));
    }
    hk_couplings_add_diagonal(&a.level->couplings, a.level->D);
    if (k == 0)
      hk_fine_terms_add_diagonal(m, data->threads);
    else
      hk_level_terms_add_diagonal(&a.level->terms, data->threads, a.level->D);
    if (k == 0)
      run_groups(&a, invert_fine_range);
    else
      run(&a, a.level->n, invert_range);
  }
  if (m->exact) invert_last(data);
  return HK_OK;
}

/* hk_springs_turn of a rotation by two degrees: up to it the hierarchy of the first shape is kept.
 */
static const double MAX_KEPT_ROTATION = 1e-3;

/* The couplings of level 0, and from them and from the blocks of level 0 all other levels. */
static HkStatus couple(const HkPrecondition *p, const HkFineValues *values, HkError *error) {
  const Data *data = p->data;
  const HkOperatorSprings *H = p->A->springs;
  HkMultigrid *m = data->multigrid;
  HK_TRY(hk_couplings_set(m, &m->level[0].couplings, H->blocks, values->held, H->tau, error));
  HK_TRY(hk_fine_terms_set(m, H->term_rows, H->tau, data->threads, error));
  return project_all(data, values->held, error);
}

/* The hierarchy of the operator with the springs as they pull at x. */
static HkStatus fill_hierarchy(HkPrecondition *p, const double *x, HkError *error) {
  Data *data = p->data;
  const HkOperatorSprings *H = p->A->springs;
  bool lumps = data->extra && H->lump(H->user, data->extra);
  HkFineValues values = {.multigrid = data->multigrid,
                         .records = data->records,
                         .extra = lumps ? data->extra : NULL,
                         .held = H->held ? H->held->mask : NULL};
  H->records(H->user, x, data->records);
  Loop a = loop_of(data, 0);
  a.values = &values;
  run(&a, a.level->n, fill_range);
  HkStatus status = couple(p, &values, error);
  p->bytes -= data->couplings_bytes;
  data->couplings_bytes = hk_fine_terms_bytes(&data->multigrid->fine_terms);
  for (int k = 0; k < data->multigrid->count; k++)
    data->couplings_bytes += hk_couplings_bytes(&data->multigrid->level[k].couplings) +
                             hk_level_terms_bytes(&data->multigrid->level[k].terms);
  p->bytes += data->couplings_bytes;
  return status;
}

static HkStatus prepare(HkPrecondition *p, HkError *error) {
  const HkModel *m = p->setup.model;
  Data *data = p->data;
  const HkOperatorSprings *H = p->A->springs;
  if (!H)
    return hk_fail(
        error, HK_ERROR_INVALID,
        "the preconditioner 'multigrid' needs springs, not a matrix alone; choose 'ic0'");
  HK_TRY(need_extra(p, error));
  if (!data->solid || data->extra || m->springs.tension ||
      !(hk_springs_turn(m, H->x) < MAX_KEPT_ROTATION)) {
    data->kept = false;
    return fill_hierarchy(p, H->x, error);
  }
  int64_t model = H->version + m->forces_version + m->motions_version + m->masses_version,
          held = H->held ? H->held->version : 0;
  if (data->kept && data->kept_tau == H->tau && data->kept_model == model &&
      data->kept_held == held)
    return HK_OK;
  HK_TRY(fill_hierarchy(p, m->x0, error));
  data->kept = true;
  data->kept_tau = H->tau;
  data->kept_model = model;
  data->kept_held = held;
  return HK_OK;
}

/* ---- The cycle ---- */

/* Rows begin .. end - 1 of a level. */
static void sweep_rows(const Loop *a, int32_t begin, int32_t end) {
  const HkMultigridKernels *k = a->data->kernels;
  const HkFineKernels *fine = a->data->fine;
  if (a->level == a->multigrid->level)
    (a->sweep == BACK ? fine->sweep_back : fine->sweep_first)(a->multigrid, begin / HK_LANES,
                                                              end / HK_LANES);
  else if (a->sweep == FIRST)
    k->sweep_first(a->level, begin, end);
  else if (a->sweep == AGAIN)
    k->sweep_again(a->level, begin, end);
  else
    k->sweep_back(a->level, begin, end);
}

static void sweep_ranges(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const int32_t *at = a->level->sweep.begin + a->first_range;
  for (int64_t range = begin; range < end; range++) sweep_rows(a, at[range], at[range + 1]);
}

/* Weighted terms around a sweep that is not the first, and in a residual. */
static void begin_terms(const Loop *a) {
  const HkLevel *l = a->level;
  if (l == a->multigrid->level)
    hk_fine_terms_begin_sweep(a->multigrid, a->data->threads);
  else
    hk_level_terms_begin_sweep(&l->terms, a->data->threads, l->x, l->b);
}

static void end_terms(const Loop *a) {
  const HkLevel *l = a->level;
  if (l == a->multigrid->level)
    hk_fine_terms_end_sweep(a->multigrid, a->data->threads);
  else
    hk_level_terms_end_sweep(&l->terms, a->data->threads, l->b);
}

static void subtract_terms(const Loop *a, bool first) {
  const HkLevel *l = a->level;
  if (l == a->multigrid->level)
    hk_fine_terms_residual(a->multigrid, a->data->threads);
  else
    hk_level_terms_residual(&l->terms, a->data->threads, first, l->x, l->r);
}

/* Stage after stage, or the other way round. */
static void sweep(Loop *a, Sweep way) {
  const HkSweepOrder *s = &a->level->sweep;
  HkLevel *level = &a->data->multigrid->level[a->level - a->multigrid->level];
  bool couples = level->couplings.count > 0 && way != FIRST;
  a->sweep = way;
  if (way != FIRST) begin_terms(a);
  if (couples) hk_couplings_begin_sweep(&level->couplings, level->x, level->b);
  for (int k = 0; k < s->stages; k++) {
    int stage = way == BACK ? s->stages - 1 - k : k, first = s->first[stage];
    int count = s->first[stage + 1] - first;
    bool few = s->begin[first + count] - s->begin[first] < MIN_THREADED_ROWS;
    a->first_range = first;
    hk_parallel_work(few ? 1 : a->data->threads, count, 1, sweep_ranges, a);
  }
  if (couples) hk_couplings_end_sweep(&level->couplings, level->b);
  if (way != FIRST) end_terms(a);
}

static void solve_last(const Data *data) {
  const HkMultigrid *m = data->multigrid;
  const HkLevel *l = &m->level[m->count - 1];
  float b[3 * 64], x[3 * 64];
  for (int32_t i = 0; i < l->n; i++)
    for (int c = 0; c < 3; c++) b[3 * i + c] = l->b[4 * i + c];
  data->kernels->apply_dense(3 * l->n, m->coarsest, b, x);
  for (int32_t i = 0; i < l->n; i++)
    for (int c = 0; c < 3; c++) l->x[4 * i + c] = x[3 * i + c];
}

/* x of level k nearer to A^-1 b: from 0 at the first visit, then from where the last one left it.
 */
static void visit(const Data *data, int k, bool first) {
  const HkMultigrid *m = data->multigrid;
  Loop a = loop_of(data, k);
  if (!a.coarse && m->exact) {
    solve_last(data);
    return;
  }
  sweep(&a, first ? FIRST : AGAIN);
  if (a.coarse) {
    if (k == 0)
      run_groups(&a, residual_fine_range);
    else
      run(&a, a.level->n, first ? residual_range : residual_again_range);
    hk_couplings_residual(&a.level->couplings, first, a.level->x, a.level->r);
    subtract_terms(&a, first);
    run(&a, a.coarse->n, restrict_range);
    /* Terms of coarse levels are sums of groups, softer than P^T C P. One visit is positive
     * definite all the same; a second one need not be. */
    int visits = a.coarse->terms.count > 0 ? 1 : a.coarse->visits;
    for (int pass = 0; pass < visits; pass++) visit(data, k + 1, pass == 0);
    if (k == 0)
      run_groups(&a, prolong_fine_range);
    else
      run(&a, a.level->n, prolong_range);
  }
  sweep(&a, BACK);
}

static HkStatus apply(HkPrecondition *p, const double *r, double *z, HkError *error) {
  (void)error;
  Loop a = loop_of(p->data, 0);
  a.r = r;
  a.z = z;
  run(&a, a.level->n, take_range);
  visit(p->data, 0, true);
  run(&a, p->space.n, give_range);
  return HK_OK;
}

const HkPreconditionType hk_precondition_multigrid = {
    .schema = {.name = "multigrid",
               .summary = "a cycle through ever coarser meshes; few iterations at any size",
               .formula = "z = Z r,  I - Z A = (I - S^T A) (I - P A'^-1 P^T A) (I - S A)"},
    .on_ranks = &hk_precondition_part_multigrid,
    .on_device = HK_DEVICE_MULTIGRID,
    /* A little less than what was found on grids, discs, blocks and balls. */
    .vertex_bytes = 400,
    .spring_bytes = 200,
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .apply = apply,
};
