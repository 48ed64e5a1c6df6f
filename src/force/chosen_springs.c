/* The springs that a force changes or limits; see chosen_springs.h. */
#include "force/chosen_springs.h"

#include "model/part.h"

static bool is_of_kind(uint8_t kind, int kinds) {
  static const uint8_t kind_of[] = {
      [HK_KINDS_EDGES] = HK_SPRING_EDGE,
      [HK_KINDS_SHEAR] = HK_SPRING_SHEAR,
      [HK_KINDS_BENDING] = HK_SPRING_BENDING,
      [HK_KINDS_LISTED] = HK_SPRING_LISTED,
  };
  return kinds == HK_KINDS_ALL || kind == kind_of[kinds];
}

/* Marks the selected vertices in a new array; NULL where all are. */
static HkStatus mark(const HkModel *m, const HkSelect *select, uint8_t **mask, HkError *error) {
  int32_t *vertices = NULL;
  int64_t count = 0;
  *mask = NULL;
  if (select->kind == HK_SELECT_NONE) return HK_OK;
  HK_TRY(hk_model_select(m, select, &vertices, &count, error));
  HkStatus status = hk_alloc(&m->context, mask, m->n, sizeof **mask, "a selection", error);
  for (int64_t k = 0; k < count && status >= 0; k++) (*mask)[vertices[k]] = 1;
  hk_selection_destroy(m, &vertices);
  return status;
}

/* Counts the springs, and lists them unless `list` is NULL. */
static int64_t find(const HkModel *m, const uint8_t *mask, int kinds, int32_t *list) {
  const HkSpringArrays *springs = &m->springs;
  int64_t count = 0;
  for (int64_t s = 0; s < springs->count; s++) {
    if (mask && !(mask[springs->i[s]] && mask[springs->j[s]])) continue;
    if (!is_of_kind(springs->kind[s], kinds)) continue;
    if (list) list[count] = (int32_t)s;
    count++;
  }
  return count;
}

static HkStatus create(HkModel *m, const uint8_t *mask, int kinds, HkChosenSprings **chosen,
                       HkError *error) {
  int64_t count = find(m, mask, kinds, NULL);
  if (count == 0)
    return hk_fail(error, HK_ERROR_INVALID,
                   "no spring of the model is chosen; see \"select\" and \"springs\"");
  HK_TRY(hk_alloc(&m->context, chosen, 1, sizeof **chosen, "a selection", error));
  (*chosen)->count = count;
  HK_TRY(hk_alloc(&m->context, &(*chosen)->spring, count, sizeof *(*chosen)->spring, "a selection",
                  error));
  find(m, mask, kinds, (*chosen)->spring);
  return HK_OK;
}

HkStatus hk_chosen_springs_create(HkModel *m, const HkSelect *select, int kinds, void **data,
                                  HkError *error) {
  HkChosenSprings *chosen = NULL;
  uint8_t *mask = NULL;
  if (m->part) /* on all ranks, before they select together */
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the device petsc does not support forces that act on single springs; remove "
                   "it, or choose the device cpu");
  HkStatus status = mark(m, select, &mask, error);
  if (status >= 0) status = create(m, mask, kinds, &chosen, error);
  hk_free(&m->context, &mask);
  if (status < 0) {
    hk_chosen_springs_destroy(m, chosen);
    return status;
  }
  *data = chosen;
  return HK_OK;
}

void hk_chosen_springs_destroy(const HkModel *m, void *data) {
  HkChosenSprings *chosen = data;
  if (!chosen) return;
  hk_free(&m->context, &chosen->spring);
  hk_free(&m->context, &chosen);
}

size_t hk_chosen_springs_bytes(const void *data) {
  const HkChosenSprings *chosen = data;
  return sizeof *chosen + (size_t)chosen->count * sizeof *chosen->spring;
}

const HkChosenSprings *hk_chosen_springs(const void *data) {
  return data;
}

int32_t hk_chosen_springs_common(const HkChosenSprings *a, const HkChosenSprings *b) {
  int64_t p = 0, q = 0;
  while (p < a->count && q < b->count) {
    if (a->spring[p] == b->spring[q]) return a->spring[p];
    if (a->spring[p] < b->spring[q])
      p++;
    else
      q++;
  }
  return -1;
}
