/* Level 0 of multigrid: springs and weights by slots of four rows; see HkFine in multigrid.h. */
#include "linear/multigrid.h"

static const char WHAT[] = "multigrid";

/* The longest of a group of lists. */
static int32_t longest(const int32_t *begin, const int32_t *end, int32_t group) {
  int32_t most = 0;
  for (int32_t i = HK_LANES * group; i < HK_LANES * (group + 1); i++)
    if (end[i] - begin[i] > most) most = end[i] - begin[i];
  return most;
}

/* ---- Springs ---- */

/* The place of the spring between two vertices of the model, in the springs by rows. */
static int32_t find_record(const HkModel *m, const int64_t *first_slot, int32_t i, int32_t j) {
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++)
    if (m->adj_vertex[e] == j)
      return (int32_t)((first_slot[i / HK_ROW_GROUP] + (e - m->adj_start[i])) * HK_ROW_GROUP +
                       i % HK_ROW_GROUP);
  return -1;
}

/* The columns begin[i] .. end[i] - 1 of the rows i of a group, into slots from `slot` on. */
static void place_springs(HkMultigrid *m, const int64_t *first_slot, int32_t group,
                          const int32_t *begin, const int32_t *end, int32_t slot) {
  HkFine *f = &m->fine;
  const int32_t *column = m->level[0].graph.column;
  int32_t count = longest(begin, end, group), any = -1;
  for (int32_t s = 0; s < count; s++)
    for (int32_t l = 0; l < HK_LANES; l++) {
      int32_t i = HK_LANES * group + l;
      if (begin[i] + s < end[i]) any = column[begin[i] + s];
    }
  for (int32_t s = 0; s < count; s++)
    for (int32_t l = 0; l < HK_LANES; l++) {
      int32_t i = HK_LANES * group + l, e = begin[i] + s;
      int64_t to = HK_LANES * (int64_t)(slot + s) + l;
      f->neighbor[to] = e < end[i] ? column[e] : any;
      f->record[to] = -1;
      if (e < end[i])
        f->record[to] = find_record(m->model, first_slot, m->vertex[i], m->vertex[column[e]]);
    }
}

/* Where the rows of spring_rows.h begin, which depends on nothing but the model. */
static HkStatus row_slots(const HkModel *m, int64_t **first, HkError *error) {
  int64_t groups = (m->n + HK_ROW_GROUP - 1) / HK_ROW_GROUP;
  HK_TRY(hk_alloc(&m->context, first, groups + 1, sizeof **first, WHAT, error));
  for (int64_t g = 0; g < groups; g++)
    (*first)[g + 1] = (*first)[g] + hk_spring_rows_longest(m, HK_ROW_GROUP, g);
  return HK_OK;
}

/* behind: one after the diagonal of each row. */
static HkStatus make_springs(HkMultigrid *m, const int32_t *behind, HkError *error) {
  const HkContext *c = &m->model->context;
  const HkLevel *l = &m->level[0];
  HkFine *f = &m->fine;
  HK_TRY(hk_alloc(c, &f->lower, (int64_t)f->groups + 1, sizeof *f->lower, WHAT, error));
  HK_TRY(hk_alloc(c, &f->upper, f->groups, sizeof *f->upper, WHAT, error));
  for (int32_t g = 0; g < f->groups; g++) {
    f->upper[g] = f->lower[g] + longest(l->graph.start, l->diagonal, g);
    f->lower[g + 1] = f->upper[g] + longest(behind, l->graph.start + 1, g);
  }
  int64_t entries = HK_LANES * (int64_t)f->lower[f->groups], *first_slot = NULL;
  HK_TRY(hk_alloc(c, &f->neighbor, entries, sizeof *f->neighbor, WHAT, error));
  HK_TRY(hk_alloc(c, &f->record, entries, sizeof *f->record, WHAT, error));
  HK_TRY(
      hk_alloc_aligned(c, &f->memory[0], &f->spring, 4 * entries, sizeof *f->spring, WHAT, error));
  m->bytes += (size_t)(2 * entries + 2 * f->groups + 1) * sizeof(int32_t);
  m->bytes += hk_aligned_bytes(4 * entries, sizeof *f->spring);
  HK_TRY(row_slots(m->model, &first_slot, error));
  for (int32_t g = 0; g < f->groups; g++) {
    place_springs(m, first_slot, g, l->graph.start, l->diagonal, f->lower[g]);
    place_springs(m, first_slot, g, behind, l->graph.start + 1, f->upper[g]);
  }
  m->slots = first_slot[(m->model->n + HK_ROW_GROUP - 1) / HK_ROW_GROUP];
  hk_free(c, &first_slot);
  return HK_OK;
}

/* ---- Weights ---- */

static void place_weights(HkFine *f, const HkWeights *P, int32_t group) {
  for (int32_t s = f->follows[group]; s < f->follows[group + 1]; s++)
    for (int32_t l = 0; l < HK_LANES; l++) {
      int32_t i = HK_LANES * group + l, e = P->start[i] + s - f->follows[group];
      int64_t to = HK_LANES * (int64_t)s + l;
      bool is_there = e < P->start[i + 1];
      f->coarse[to] = is_there ? P->column[e] : 0;
      f->weight[to] = is_there ? P->weight[e] : 0;
    }
}

static HkStatus make_weights(HkMultigrid *m, HkError *error) {
  const HkContext *c = &m->model->context;
  const HkWeights *P = &m->level[0].P;
  HkFine *f = &m->fine;
  HK_TRY(hk_alloc(c, &f->follows, (int64_t)f->groups + 1, sizeof *f->follows, WHAT, error));
  for (int32_t g = 0; g < f->groups && P->start; g++)
    f->follows[g + 1] = f->follows[g] + longest(P->start, P->start + 1, g);
  int64_t entries = HK_LANES * (int64_t)f->follows[f->groups];
  HK_TRY(hk_alloc(c, &f->coarse, entries, sizeof *f->coarse, WHAT, error));
  HK_TRY(hk_alloc_aligned(c, &f->memory[1], &f->weight, entries, sizeof *f->weight, WHAT, error));
  m->bytes += (size_t)(entries + f->groups + 1) * sizeof(int32_t);
  m->bytes += hk_aligned_bytes(entries, sizeof *f->weight);
  for (int32_t g = 0; g < f->groups && P->start; g++) place_weights(f, P, g);
  return HK_OK;
}

/* ---- Both ---- */

HkStatus hk_fine_create(HkMultigrid *m, HkError *error) {
  const HkContext *c = &m->model->context;
  const HkLevel *l = &m->level[0];
  int32_t *behind = NULL;
  m->fine.groups = l->n / HK_LANES;
  HkStatus status = hk_alloc(c, &behind, l->n, sizeof *behind, WHAT, error);
  if (status >= 0) {
    for (int32_t i = 0; i < l->n; i++) behind[i] = l->diagonal[i] + 1;
    status = make_springs(m, behind, error);
  }
  hk_free(c, &behind);
  return status >= 0 ? make_weights(m, error) : status;
}

void hk_fine_destroy(const HkContext *c, HkFine *f) {
  hk_free(c, &f->lower);
  hk_free(c, &f->upper);
  hk_free(c, &f->neighbor);
  hk_free(c, &f->record);
  hk_free(c, &f->follows);
  hk_free(c, &f->coarse);
  for (int k = 0; k < 2; k++) hk_free(c, &f->memory[k]);
}
