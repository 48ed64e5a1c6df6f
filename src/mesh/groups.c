/* Named groups of cells; see groups.h.
 *
 * Groups are found by bisection over (dimension, tag). Cells are kept as runs, which are sorted by
 * set at the end; a mark per vertex keeps it from entering a set twice. Groups of the same name and
 * of different dimensions make one set.
 */
#include "mesh/groups.h"

#include <stdlib.h>
#include <string.h>

static int order(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

static int compare_keys(const void *a, const void *b) {
  const HkGroup *p = a, *q = b;
  int result = order(p->dimension, q->dimension);
  if (result == 0) result = order(p->tag, q->tag);
  return result ? result : order(p->set, q->set);
}

static int compare_names(const void *a, const void *b) {
  const HkGroup *p = a, *q = b;
  int result = memcmp(p->name, q->name, p->length < q->length ? p->length : q->length);
  if (result == 0) result = order((int64_t)p->length, (int64_t)q->length);
  return result ? result : order(p->set, q->set);
}

static int compare_runs(const void *a, const void *b) {
  const HkGroupRun *p = a, *q = b;
  int result = order(p->set, q->set);
  return result ? result : order(p->first, q->first);
}

HkStatus hk_groups_add(const HkContext *context, HkGroups *g, int64_t dimension, int64_t tag,
                       const char *name, size_t length, HkError *error) {
  HK_TRY(hk_grow(context, &g->groups, &g->capacity, g->count + 1, sizeof *g->groups, "named groups",
                 error));
  g->groups[g->count] = (HkGroup){dimension, tag, name, length, g->count};
  g->count++;
  return HK_OK;
}

void hk_groups_sort(HkGroups *g) {
  if (g->count == 0) return;
  qsort(g->groups, (size_t)g->count, sizeof *g->groups, compare_names);
  for (int64_t q = 1; q < g->count; q++) {
    const HkGroup *before = &g->groups[q - 1];
    HkGroup *group = &g->groups[q];
    if (group->length == before->length && memcmp(group->name, before->name, group->length) == 0)
      group->set = before->set;
  }
  qsort(g->groups, (size_t)g->count, sizeof *g->groups, compare_keys);
}

/* Returns the first group of a key, or NULL. */
static const HkGroup *find(const HkGroups *g, int64_t dimension, int64_t tag) {
  HkGroup key = {.dimension = dimension, .tag = tag, .set = -1};
  int64_t low = 0, high = g->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (compare_keys(&g->groups[middle], &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == g->count) return NULL;
  const HkGroup *group = &g->groups[low];
  return group->dimension == dimension && group->tag == tag ? group : NULL;
}

HkStatus hk_groups_add_cells(const HkContext *context, HkGroups *g, int64_t dimension, int64_t tag,
                             int64_t first, int64_t end, HkError *error) {
  const HkGroup *group = find(g, dimension, tag);
  if (!group || first == end) return HK_OK;
  HkGroupRun *last = g->run_count ? &g->runs[g->run_count - 1] : NULL;
  if (last && last->set == group->set && last->end == first) {
    last->end = end;
    return HK_OK;
  }
  HK_TRY(hk_grow(context, &g->runs, &g->run_capacity, g->run_count + 1, sizeof *g->runs,
                 "named groups", error));
  g->runs[g->run_count++] = (HkGroupRun){group->set, group - g->groups, first, end};
  return HK_OK;
}

/* Copies the name of a group; the caller frees it with hk_free. */
static HkStatus copy_name(const HkGroup *group, const HkContext *context, char **name,
                          HkError *error) {
  HK_TRY(hk_alloc(context, name, (int64_t)group->length + 1, 1, "a vertex set", error));
  memcpy(*name, group->name, group->length);
  return HK_OK;
}

/* Collects the vertices of the runs from *run on that belong to one set, each once. */
static int64_t gather(const HkGroups *g, const HkMesh *mesh, int64_t *run, int64_t *mark,
                      int32_t *vertices) {
  int64_t count = 0, set = g->runs[*run].set;
  for (; *run < g->run_count && g->runs[*run].set == set; (*run)++) {
    int64_t begin = mesh->cell_start[g->runs[*run].first];
    int64_t end = mesh->cell_start[g->runs[*run].end];
    for (int64_t q = begin; q < end; q++) {
      int32_t v = mesh->cell_vertex[q];
      if (mark[v] == set + 1) continue;
      mark[v] = set + 1;
      vertices[count++] = v;
    }
  }
  return count;
}

HkStatus hk_groups_make_sets(HkGroups *g, HkMesh *mesh, HkError *error) {
  if (g->run_count == 0) return HK_OK;
  const HkContext *c = &mesh->context;
  qsort(g->runs, (size_t)g->run_count, sizeof *g->runs, compare_runs);
  int64_t *mark = NULL;
  int32_t *vertices = NULL;
  HkStatus status = hk_alloc(c, &mark, mesh->vertex_count, sizeof *mark, "vertex sets", error);
  if (status >= 0)
    status = hk_alloc(c, &vertices, mesh->vertex_count, sizeof *vertices, "vertex sets", error);
  for (int64_t run = 0; status >= 0 && run < g->run_count;) {
    char *name;
    status = copy_name(&g->groups[g->runs[run].group], c, &name, error);
    if (status < 0) break;
    int64_t count = gather(g, mesh, &run, mark, vertices);
    status = hk_mesh_add_set(mesh, name, vertices, count, error);
    hk_free(c, &name);
  }
  hk_free(c, &mark);
  hk_free(c, &vertices);
  return status;
}

void hk_groups_clear(const HkContext *context, HkGroups *g) {
  hk_free(context, &g->groups);
  hk_free(context, &g->runs);
  *g = (HkGroups){0};
}
