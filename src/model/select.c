/* Selections of vertices, by their positions at the start. */
#include "model/part.h"

#include "base/sort.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const HkBodyRange *find_body(const HkModel *m, const char *name) {
  for (int b = 0; b < m->body_count; b++)
    if (strcmp(m->bodies[b].name, name) == 0) return &m->bodies[b];
  return NULL;
}

/* Writes the names to choose from: "'a', 'b', 'c'". */
static void list_names(char *text, size_t size, int count, const char *(*name)(const void *, int),
                       const void *user) {
  text[0] = 0;
  for (int k = 0; k < count; k++) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s'%s'", k ? ", " : "", name(user, k));
  }
}

static const char *body_name(const void *model, int index) {
  return ((const HkModel *)model)->bodies[index].name;
}

static const char *set_name(const void *mesh, int index) {
  return hk_mesh_set_name(mesh, index);
}

/* Converts a vertex number of the body's file to that of the whole model. */
static HkStatus find_index(const HkBodyRange *body, int64_t index, int64_t *found, HkError *error) {
  const HkMesh *names = body->names;
  int64_t count = names->vertex_map ? names->file_vertex_count : body->total;
  if (index < 0 || index >= count)
    return hk_fail(error, HK_ERROR_INVALID,
                   "vertex %lld of body '%s' is not there: it has the vertices 0 to %lld",
                   (long long)index, body->name, (long long)count - 1);
  int64_t vertex = names->vertex_map ? names->vertex_map[index] : index;
  if (vertex < 0)
    return hk_fail(error, HK_ERROR_INVALID, "vertex %lld of body '%s' was dropped by the repair",
                   (long long)index, body->name);
  *found = body->first_number + vertex;
  return HK_OK;
}

static HkStatus find_vertex(const HkModel *m, int64_t vertex, int64_t *found, HkError *error) {
  if (vertex < 0 || vertex >= hk_model_total(m))
    return hk_fail(error, HK_ERROR_INVALID,
                   "vertex %lld is not there: all bodies together have the vertices 0 to %lld",
                   (long long)vertex, (long long)hk_model_total(m) - 1);
  *found = vertex;
  return HK_OK;
}

/* Sorts a list and removes duplicates. */
static void tidy(int32_t *list, int64_t *count) {
  int64_t unique = 0;
  hk_sort_int32(list, *count);
  for (int64_t k = 0; k < *count; k++)
    if (k == 0 || list[k] != list[unique - 1]) list[unique++] = list[k];
  *count = unique;
}

static bool has_set(const HkMesh *names, const char *name) {
  for (int s = 0; s < hk_mesh_set_count(names); s++)
    if (strcmp(hk_mesh_set_name(names, s), name) == 0) return true;
  return false;
}

/* Sets of a part have the vertices that are in the part: possibly none. */
static HkStatus choose_set(const HkModel *m, const HkBodyRange *only, const char *name,
                           uint8_t *is_chosen, HkError *error) {
  bool found = false;
  for (int b = 0; b < m->body_count; b++) {
    const HkBodyRange *body = &m->bodies[b];
    if (only && body != only) continue;
    int64_t count;
    const int32_t *set = hk_mesh_set(body->names, name, &count);
    found |= has_set(body->names, name);
    for (int64_t k = 0; set && k < count; k++) is_chosen[body->first + set[k]] = 1;
  }
  if (found) return HK_OK;
  char known[512];
  const HkBodyRange *body = only ? only : &m->bodies[0];
  list_names(known, sizeof known, hk_mesh_set_count(body->names), set_name, body->names);
  return hk_fail(error, HK_ERROR_INVALID, "there is no vertex set '%s'; body '%s' has %s", name,
                 body->name, known[0] ? known : "none");
}

static bool is_inside(const HkSelect *s, const double *x) {
  if (s->kind == HK_SELECT_SPHERE) return hk_distance(x, s->point) <= s->value;
  for (int c = 0; c < 3; c++)
    if (x[c] < s->point[c] || x[c] > s->other[c]) return false;
  return true;
}

/* Extreme and nearest vertices: the first pass finds the least value, the second one all vertices
 * that have it. */
static double badness(const HkSelect *s, const double *x) {
  if (s->kind == HK_SELECT_LOWEST) return x[s->axis];
  if (s->kind == HK_SELECT_HIGHEST) return -x[s->axis];
  return hk_distance(x, s->point);
}

static void choose_best(const HkModel *m, const HkSelect *s, int64_t begin, int64_t end,
                        uint8_t *is_chosen) {
  int64_t best = begin;
  for (int64_t i = begin; i < end; i++)
    if (badness(s, m->x0 + 3 * i) < badness(s, m->x0 + 3 * best)) best = i;
  double mine = begin < end ? badness(s, m->x0 + 3 * best) : INFINITY;
  double least = -hk_model_most(m, -mine), limit = least + s->value;
  if (s->kind == HK_SELECT_NEAREST) {
    /* Of several ranks with vertices as near, the one with the lowest number. */
    int64_t number = m->part && begin < end ? m->part->number[best] : best;
    double first = -hk_model_most(m, mine == least ? -(double)number : -INFINITY);
    if (mine == least && (double)number == first) is_chosen[best] = 1;
    return;
  }
  for (int64_t i = begin; i < end; i++)
    if (badness(s, m->x0 + 3 * i) <= limit) is_chosen[i] = 1;
}

/* The body that a selection names, or NULL where it names none. */
static HkStatus named_body(const HkModel *m, const HkSelect *s, const HkBodyRange **body,
                           HkError *error) {
  *body = s->body ? find_body(m, s->body) : NULL;
  if (!s->body || *body) return HK_OK;
  char known[512];
  list_names(known, sizeof known, m->body_count, body_name, m);
  return hk_fail(error, HK_ERROR_INVALID, "there is no body '%s'; there is %s", s->body, known);
}

static HkStatus choose(const HkModel *m, const HkSelect *s, uint8_t *is_chosen, HkError *error) {
  const HkBodyRange *body;
  HK_TRY(named_body(m, s, &body, error));
  int64_t begin = body ? body->first : 0, end = body ? body->first + body->count : m->n;
  switch (s->kind) {
  case HK_SELECT_NONE: return hk_fail(error, HK_ERROR_INVALID, "nothing is selected");
  case HK_SELECT_ALL: memset(is_chosen + begin, 1, (size_t)(end - begin)); return HK_OK;
  case HK_SELECT_SET: return choose_set(m, body, s->set, is_chosen, error);
  case HK_SELECT_INDICES:
  case HK_SELECT_VERTICES: return HK_OK; /* see list_numbers */
  case HK_SELECT_BOX:
  case HK_SELECT_SPHERE:
    for (int64_t i = begin; i < end; i++)
      if (is_inside(s, m->x0 + 3 * i)) is_chosen[i] = 1;
    return HK_OK;
  case HK_SELECT_LOWEST:
  case HK_SELECT_HIGHEST:
  case HK_SELECT_NEAREST: choose_best(m, s, begin, end, is_chosen); return HK_OK;
  }
  return HK_OK;
}

static HkStatus choose_list(const HkModel *m, const HkSelect *select, int32_t **vertices,
                            int64_t *count, HkError *error) {
  uint8_t *is_chosen = NULL;
  HkStatus status = hk_alloc(&m->context, &is_chosen, m->n, 1, "a selection", error);
  status = hk_model_agree(m, status, error); /* choosing may be collective */
  if (status >= 0) status = choose(m, select, is_chosen, error);
  for (int64_t i = 0; status >= 0 && i < m->n; i++) *count += is_chosen[i];
  if (status >= 0)
    status = hk_alloc(&m->context, vertices, *count, sizeof **vertices, "a selection", error);
  for (int64_t i = 0, at = 0; status >= 0 && i < m->n; i++)
    if (is_chosen[i]) (*vertices)[at++] = (int32_t)i;
  hk_free(&m->context, &is_chosen);
  return status;
}

/* Lists vertices that are given by number, in time that grows with the list only: a handle that
 * drags one vertex of a million is replaced at each frame. */
static HkStatus list_numbers(const HkModel *m, const HkSelect *s, int32_t **vertices,
                             int64_t *count, HkError *error) {
  const HkBodyRange *body;
  bool whole = s->kind == HK_SELECT_VERTICES;
  HK_TRY(named_body(m, s, &body, error));
  if (body && whole)
    return hk_fail(error, HK_ERROR_INVALID,
                   "\"vertices\" are counted over all bodies; give \"indices\" with \"body\"");
  if (!body && !whole && m->body_count > 1)
    return hk_fail(error, HK_ERROR_INVALID,
                   "vertices by number need \"body\", since there are %d bodies", m->body_count);
  if (!body) body = &m->bodies[0];
  HK_TRY(hk_alloc(&m->context, vertices, s->count, sizeof **vertices, "a selection", error));
  for (int64_t k = 0; k < s->count; k++) {
    int64_t number = -1;
    HK_TRY(whole ? find_vertex(m, s->indices[k], &number, error)
                 : find_index(body, s->indices[k], &number, error));
    int64_t vertex = m->part ? hk_part_find(m->part, number) : number;
    if (vertex >= 0) (*vertices)[(*count)++] = (int32_t)vertex;
  }
  if (*count > 0) tidy(*vertices, count);
  return HK_OK;
}

/* Makes a list of vertices by number, of which this part has some, its own list. */
static HkStatus keep_own(const HkModel *m, const int64_t *numbers, int64_t total,
                         int32_t **vertices, int64_t *count, HkError *error) {
  HK_TRY(hk_alloc(&m->context, vertices, total, sizeof **vertices, "a selection", error));
  for (int64_t k = 0; k < total; k++) {
    int64_t vertex = hk_part_find(m->part, numbers[k]);
    if (vertex >= 0) (*vertices)[(*count)++] = (int32_t)vertex;
  }
  return HK_OK;
}

/* A selection of a part while its model is compiled: rank 0 selects from the whole model. */
static HkStatus select_gathered(const HkModel *m, const HkSelect *select, int32_t **vertices,
                                int64_t *count, HkError *error) {
  HkRanks *ranks = m->part->ranks;
  const HkModel *whole = m->part->source;
  int64_t total = 0, *numbers = NULL;
  int32_t *found = NULL;
  HkStatus status = whole ? hk_model_select(whole, select, &found, &total, error) : HK_OK;
  HK_TRY(hk_ranks_agree(ranks, status, error));
  ranks->type->broadcast(ranks, 0, &total, sizeof total);
  status = hk_alloc(&m->context, &numbers, total, sizeof *numbers, "a selection", error);
  for (int64_t k = 0; k < total && found && status >= 0; k++) numbers[k] = found[k];
  if (whole) hk_selection_destroy(whole, &found);
  status = hk_ranks_agree(ranks, status, error);
  if (status >= 0) {
    ranks->type->broadcast(ranks, 0, numbers, (size_t)total * sizeof *numbers);
    status = keep_own(m, numbers, total, vertices, count, error);
    status = hk_ranks_agree(ranks, status, error);
  }
  hk_free(&m->context, &numbers);
  return status;
}

/* Selects from the vertices of a part; no vertex at all is an error where no rank has one. */
static HkStatus select_own(const HkModel *m, const HkSelect *select, int32_t **vertices,
                           int64_t *count, HkError *error) {
  bool numbers = select->kind == HK_SELECT_INDICES || select->kind == HK_SELECT_VERTICES;
  HkStatus status = numbers ? list_numbers(m, select, vertices, count, error)
                            : choose_list(m, select, vertices, count, error);
  status = hk_model_agree(m, status, error);
  if (status >= 0 && hk_model_most(m, (double)*count) == 0)
    status = hk_fail(error, HK_ERROR_INVALID, "the selection holds no vertex");
  return status;
}

HkStatus hk_model_select_owned(const HkModel *m, const HkSelect *select, int32_t **vertices,
                               int64_t *count, HkError *error) {
  HK_TRY(hk_model_select(m, select, vertices, count, error));
  int64_t kept = 0;
  for (int64_t k = 0; k < *count; k++)
    if (!hk_model_is_ghost(m, (*vertices)[k])) (*vertices)[kept++] = (*vertices)[k];
  *count = kept;
  return HK_OK;
}

HkStatus hk_model_select(const HkModel *m, const HkSelect *select, int32_t **vertices,
                         int64_t *count, HkError *error) {
  *vertices = NULL;
  *count = 0;
  HK_TRY(hk_select_check(select, error));
  if (m->body_count == 0)
    return hk_fail(error, HK_ERROR_INVALID, "there is no body to select from");
  HkStatus status;
  if (m->part && m->part->gathered)
    status = select_gathered(m, select, vertices, count, error);
  else
    status = select_own(m, select, vertices, count, error);
  if (status < 0) hk_selection_destroy(m, vertices);
  return status;
}

void hk_selection_destroy(const HkModel *model, int32_t **vertices) {
  hk_free(&model->context, vertices);
}
