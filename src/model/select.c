/* Selections of vertices, by their positions at the start. */
#include "model/model.h"

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

/* Converts a vertex number of the body's file to that of the model. */
static HkStatus find_index(const HkBodyRange *body, int64_t index, int32_t *found, HkError *error) {
  const HkMesh *names = body->names;
  int64_t count = names->vertex_map ? names->file_vertex_count : body->count;
  if (index < 0 || index >= count)
    return hk_fail(error, HK_ERROR_INVALID,
                   "vertex %lld of body '%s' is not there: it has the vertices 0 to %lld",
                   (long long)index, body->name, (long long)count - 1);
  int64_t vertex = names->vertex_map ? names->vertex_map[index] : index;
  if (vertex < 0)
    return hk_fail(error, HK_ERROR_INVALID, "vertex %lld of body '%s' was dropped by the repair",
                   (long long)index, body->name);
  *found = (int32_t)(body->first + vertex);
  return HK_OK;
}

static HkStatus find_vertex(const HkModel *m, int64_t vertex, int32_t *found, HkError *error) {
  if (vertex < 0 || vertex >= m->n)
    return hk_fail(error, HK_ERROR_INVALID,
                   "vertex %lld is not there: all bodies together have the vertices 0 to %lld",
                   (long long)vertex, (long long)m->n - 1);
  *found = (int32_t)vertex;
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

static HkStatus choose_set(const HkModel *m, const HkBodyRange *only, const char *name,
                           uint8_t *is_chosen, HkError *error) {
  bool found = false;
  for (int b = 0; b < m->body_count; b++) {
    const HkBodyRange *body = &m->bodies[b];
    if (only && body != only) continue;
    int64_t count;
    const int32_t *set = hk_mesh_set(body->names, name, &count);
    found |= set != NULL;
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
  double limit = badness(s, m->x0 + 3 * best) + s->value;
  if (s->kind == HK_SELECT_NEAREST) {
    is_chosen[best] = 1;
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
  HK_TRY(hk_alloc(&m->context, &is_chosen, m->n, 1, "a selection", error));
  HkStatus status = choose(m, select, is_chosen, error);
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
  for (int64_t k = 0; k < s->count; k++)
    HK_TRY(whole ? find_vertex(m, s->indices[k], *vertices + k, error)
                 : find_index(body, s->indices[k], *vertices + k, error));
  *count = s->count;
  if (*count > 0) tidy(*vertices, count);
  return HK_OK;
}

HkStatus hk_model_select(const HkModel *m, const HkSelect *select, int32_t **vertices,
                         int64_t *count, HkError *error) {
  bool numbers = select->kind == HK_SELECT_INDICES || select->kind == HK_SELECT_VERTICES;
  *vertices = NULL;
  *count = 0;
  HK_TRY(hk_select_check(select, error));
  if (m->body_count == 0)
    return hk_fail(error, HK_ERROR_INVALID, "there is no body to select from");
  HkStatus status = numbers ? list_numbers(m, select, vertices, count, error)
                            : choose_list(m, select, vertices, count, error);
  if (status >= 0 && *count == 0)
    status = hk_fail(error, HK_ERROR_INVALID, "the selection holds no vertex");
  if (status < 0) hk_selection_destroy(m, vertices);
  return status;
}

void hk_selection_destroy(const HkModel *model, int32_t **vertices) {
  hk_free(&model->context, vertices);
}
