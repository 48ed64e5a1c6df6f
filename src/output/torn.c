/* What is left of the cells and springs that an output draws; see torn.h. */
#include "output/torn.h"

#include "base/memory.h"

static HkStatus allocate(const HkContext *c, const HkDrawn *all, const HkEdgeSprings *edges,
                         HkTorn *t, HkError *error) {
  const char *what = "torn cells";
  int64_t corners = edges->start[all->count];
  if (t->edges.start) return HK_OK;
  HK_TRY(hk_alloc(c, &t->drawn.item, all->count, sizeof *t->drawn.item, what, error));
  HK_TRY(hk_alloc(c, &t->edges.spring, corners, sizeof *t->edges.spring, what, error));
  HK_TRY(hk_alloc(c, &t->spring, all->model->springs.count, sizeof *t->spring, what, error));
  return hk_alloc(c, &t->edges.start, all->count + 1, sizeof *t->edges.start, what, error);
}

static bool is_torn(const HkEdgeSprings *edges, int64_t q, const uint8_t *broken) {
  for (int64_t p = edges->start[q]; p < edges->start[q + 1]; p++)
    if (broken[edges->spring[p]]) return true;
  return false;
}

/* Appends cell q of all. */
static void keep(const HkDrawn *all, const HkEdgeSprings *edges, int64_t q, HkTorn *t) {
  HkDrawn *d = &t->drawn;
  int64_t used = t->edges.start[d->count];
  for (int64_t p = edges->start[q]; p < edges->start[q + 1]; p++)
    t->edges.spring[used++] = edges->spring[p];
  d->item[d->count++] = all->item[q];
  t->edges.start[d->count] = used;
  d->corners += hk_drawn_cell(all, q).count;
  d->line_count += q < all->line_count;
  d->face_count += q >= all->line_count && q < all->line_count + all->face_count;
  d->solid_count += q >= all->line_count + all->face_count;
}

HkStatus hk_torn_update(const HkContext *c, const HkDrawn *all, const HkEdgeSprings *edges,
                        const uint8_t *broken, HkTorn *t, HkError *error) {
  HK_TRY(allocate(c, all, edges, t, error));
  t->drawn = (HkDrawn){.model = all->model, .item = t->drawn.item};
  t->edges.start[0] = t->spring_count = 0;
  for (int64_t q = 0; q < all->count; q++)
    if (!is_torn(edges, q, broken)) keep(all, edges, q, t);
  for (int64_t s = 0; s < all->model->springs.count; s++)
    if (!broken[s]) t->spring[t->spring_count++] = (int32_t)s;
  return HK_OK;
}

void hk_torn_destroy(const HkContext *c, HkTorn *t) {
  hk_free(c, &t->drawn.item);
  hk_free(c, &t->edges.start);
  hk_free(c, &t->edges.spring);
  hk_free(c, &t->spring);
}
