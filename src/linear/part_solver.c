/* Solvers of PETSc for models in parts; see part_solver.h.
 *
 * The pattern is that of the first assembled matrix. Rows of held vertices hold their mass alone;
 * what a coarse level adds to them is left out, so that held vertices rest.
 */
#include "linear/part_solver.h"

#include "linear/part_levels.h"
#include "model/proportions.h"

#include <string.h>

static const char WHAT[] = "a solver of PETSc";

/* Levels of PCMG end where the last one is solved directly on every rank. */
enum { LAST_LEVEL_MAX_VERTICES = 150 };

typedef struct PartSolver {
  HkRanksSolverKind kind;
  HkRanksSolver *solver; /* NULL until the first prepare */
  HkPartLevels levels;
  HkRanksLevel *level; /* as the plug-in takes them */
  uint64_t pattern;    /* hash */
} PartSolver;

HkStatus hk_part_solver_create(HkPrecondition *p, HkRanksSolverKind kind, HkError *error) {
  PartSolver *s = NULL;
  HK_TRY(hk_alloc(&p->setup.model->context, &s, 1, sizeof *s, WHAT, error));
  s->kind = kind;
  p->data = s;
  p->bytes = sizeof *s;
  return HK_OK;
}

static void release(HkPrecondition *p) {
  const HkModel *m = p->setup.model;
  PartSolver *s = p->data;
  if (s->solver) m->part->ranks->type->solver_destroy(&s->solver);
  hk_part_levels_destroy(&s->levels);
  hk_free(&m->context, &s->level);
}

void hk_part_solver_destroy(HkPrecondition *p) {
  release(p);
  hk_free(&p->setup.model->context, &p->data);
}

static HkRanksLevel level_of(const HkPartLevels *h, int k, const int32_t *column) {
  const HkPartLevel *l = &h->level[k];
  HkRanksLevel to = {.matrix = {.n = l->n,
                                .ghost = l->ghost,
                                .number = l->number,
                                .start = l->start,
                                .column = k == 0 ? column : l->graph.column}};
  if (l->P.start) to.weights = (HkRanksWeights){l->P.start, l->P.column, l->P.weight};
  return to;
}

/* Finds the levels for the pattern of A and makes the solver. */
static HkStatus make(HkPrecondition *p, HkError *error) {
  const HkModel *m = p->setup.model;
  const HkPattern *pattern = p->A->matrix->pattern;
  PartSolver *s = p->data;
  int64_t least = s->kind == HK_RANKS_MULTIGRID ? LAST_LEVEL_MAX_VERTICES : INT64_MAX;
  release(p);
  s->pattern = pattern->hash;
  HK_TRY(hk_part_levels_create(m, pattern->start, pattern->column, least, &s->levels, error));
  HkStatus status =
      hk_alloc(&m->context, &s->level, s->levels.count, sizeof *s->level, WHAT, error);
  HK_TRY(hk_model_agree(m, status, error));
  for (int k = 0; k < s->levels.count; k++) s->level[k] = level_of(&s->levels, k, pattern->column);
  const HkPartLevel *last = &s->levels.level[s->levels.count - 1];
  HkRanksSolverSetup setup = {.kind = s->kind,
                              .levels = s->levels.count,
                              .level = s->level,
                              .solves_last = last->total <= LAST_LEVEL_MAX_VERTICES,
                              .rest = m->x0,
                              .solid = hk_model_any(m, hk_model_is_solid(m))};
  p->bytes = sizeof *s + hk_part_levels_bytes(&s->levels);
  status = m->part->ranks->type->solver_create(m->part->ranks, &setup, &s->solver, error);
  return hk_model_agree(m, status, error);
}

HkStatus hk_part_solver_prepare(HkPrecondition *p, HkError *error) {
  const HkModel *m = p->setup.model;
  const HkRanksType *ranks = m->part->ranks->type;
  PartSolver *s = p->data;
  bool other = !s->solver || s->pattern != p->A->matrix->pattern->hash;
  if (hk_model_any(m, other)) HK_TRY(make(p, error));
  hk_part_levels_fill(&s->levels, p->A->matrix->value);
  HkStatus status = HK_OK;
  for (int k = 0; k < s->levels.count && status >= 0; k++)
    status = ranks->solver_set(s->solver, k,
                               k == 0 ? p->A->matrix->value : s->levels.level[k].value, error);
  if (status >= 0) status = ranks->solver_prepare(s->solver, error);
  return hk_model_agree(m, status, error);
}

/* Held vertices rest. */
static void rest(const HkPrecondition *p, double *z) {
  const HkModel *m = p->setup.model;
  const HkHeld *held = p->setup.held;
  for (int64_t k = 0; held && k < m->pin_count; k++)
    if (held->mask[m->pin_vertex[k]]) memset(z + 3 * (int64_t)m->pin_vertex[k], 0, 3 * sizeof *z);
}

HkStatus hk_part_solver_apply(HkPrecondition *p, const double *r, double *z, HkError *error) {
  PartSolver *s = p->data;
  HK_TRY(p->setup.model->part->ranks->type->solver_apply(s->solver, r, z, error));
  rest(p, z);
  return HK_OK;
}

bool hk_is_part_solver(const HkPrecondition *p) {
  return p->type->prepare == hk_part_solver_prepare;
}

HkStatus hk_part_solver_solve(HkPrecondition *p, const double *b, double *x, double tolerance,
                              int most, int *iterations, bool *indefinite, HkError *error) {
  PartSolver *s = p->data;
  const HkModel *m = p->setup.model;
  HkStatus status = m->part->ranks->type->solver_solve(s->solver, b, x, tolerance, most, iterations,
                                                       indefinite, error);
  hk_part_exchange(m, x);
  return status;
}
