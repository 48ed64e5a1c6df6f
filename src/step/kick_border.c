/* Groups of rows of a part; see kick_border.h. */
#include "step/kick_border.h"

/* What a group holds. */
enum { GHOSTS, OWNED, BORDER };

/* Marks each group with the most that one of its vertices asks for. */
static void mark_groups(const HkModel *m, const HkSpringRows *rows, uint8_t *mark) {
  const HkPart *part = m->part;
  for (int64_t i = 0; i < m->n; i++)
    if (!part->ghost[i]) mark[i / rows->width] = OWNED;
  for (int64_t q = 0; q < part->border_count; q++) mark[part->border[q] / rows->width] = BORDER;
}

/* Writes the border groups and the runs of the others, or counts them where the arrays are NULL. */
static int64_t list_groups(const HkSpringRows *rows, int64_t blocks, const uint8_t *mark,
                           HkKickBorder *b) {
  int64_t in_block = HK_BLOCK / rows->width, runs = 0;
  b->groups = 0;
  for (int64_t block = 0; block < blocks; block++) {
    int64_t begin = block * in_block, end = begin + in_block;
    if (b->first_run) b->first_run[block] = runs;
    for (int64_t g = begin; g < end && g < rows->groups; g++) {
      if (mark[g] == BORDER && b->group) b->group[b->groups] = (int32_t)g;
      b->groups += mark[g] == BORDER;
      if (mark[g] != OWNED) continue;
      bool begins = g == begin || mark[g - 1] != OWNED;
      runs += begins;
      if (b->run && begins) b->run[runs - 1].begin = (int32_t)g;
      if (b->run) b->run[runs - 1].end = (int32_t)g + 1;
    }
  }
  if (b->first_run) b->first_run[blocks] = runs;
  return runs;
}

static HkStatus allocate(const HkModel *m, int64_t blocks, int64_t runs, HkKickBorder *b,
                         HkError *error) {
  const HkContext *c = &m->context;
  int64_t ghosts = m->part->ghost_count;
  HK_TRY(hk_alloc(c, &b->group, b->groups, sizeof *b->group, "the border of a part", error));
  HK_TRY(
      hk_alloc(c, &b->first_run, blocks + 1, sizeof *b->first_run, "the border of a part", error));
  HK_TRY(hk_alloc(c, &b->run, runs, sizeof *b->run, "the border of a part", error));
  HK_TRY(hk_alloc(c, &b->ghost_x, 3 * ghosts, sizeof *b->ghost_x, "the border of a part", error));
  b->bytes = sizeof *b + (size_t)b->groups * sizeof *b->group +
             (size_t)(blocks + 1) * sizeof *b->first_run + (size_t)runs * sizeof *b->run +
             (size_t)ghosts * 3 * sizeof *b->ghost_x;
  return HK_OK;
}

HkStatus hk_kick_border_create(const HkModel *m, const HkSpringRows *rows, HkKickBorder **border,
                               HkError *error) {
  const HkContext *c = &m->context;
  int64_t blocks = hk_sum_slots(m->n);
  uint8_t *mark = NULL;
  HK_TRY(hk_alloc(c, border, 1, sizeof **border, "the border of a part", error));
  HkKickBorder *b = *border;
  HK_TRY(hk_alloc(c, &mark, rows->groups, sizeof *mark, "the border of a part", error));
  mark_groups(m, rows, mark);
  int64_t runs = list_groups(rows, blocks, mark, b);
  HkStatus status = allocate(m, blocks, runs, b, error);
  if (status >= 0) list_groups(rows, blocks, mark, b);
  hk_free(c, &mark);
  return status;
}

void hk_kick_border_destroy(const HkModel *m, HkKickBorder **border) {
  const HkContext *c = &m->context;
  if (!*border) return;
  hk_free(c, &(*border)->group);
  hk_free(c, &(*border)->first_run);
  hk_free(c, &(*border)->run);
  hk_free(c, &(*border)->ghost_x);
  hk_free(c, border);
}
