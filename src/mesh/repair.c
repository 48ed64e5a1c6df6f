/* Repair of a mesh: vertices at the same position are welded, vertices that no cell uses are
 * removed.
 *
 * Both are a map old number -> new number (or -1), applied to positions, cells and sets; the maps
 * of all repairs, one after another, are kept in vertex_map as number in the file -> number now.
 * Welding can leave cells that contain a vertex twice; they stay, and the model handles springs of
 * length 0. All memory is allocated before the first change, so that an error leaves the mesh
 * unchanged.
 */
#include "mesh/weld.h"

#include <math.h>

static void number_used(const HkMesh *mesh, int32_t *number, int64_t *kept) {
  for (int64_t v = 0; v < mesh->vertex_count; v++) number[v] = -1;
  for (int64_t q = 0; q < mesh->corner_count; q++) number[mesh->cell_vertex[q]] = 0;
  *kept = 0;
  for (int64_t v = 0; v < mesh->vertex_count; v++)
    if (number[v] == 0) number[v] = (int32_t)(*kept)++;
}

/* Renumbers a set without removed vertices and duplicates, for which seen[v] == stamp. */
static void renumber_set(HkVertexSet *set, const int32_t *number, int32_t *seen, int32_t stamp) {
  int64_t count = 0;
  for (int64_t q = 0; q < set->count; q++) {
    int32_t v = number[set->vertices[q]];
    if (v < 0 || seen[v] == stamp) continue;
    seen[v] = stamp;
    set->vertices[count++] = v;
  }
  set->count = count;
}

/* Composes the map from the file's numbers with `number`. */
static void compose_map(HkMesh *mesh, const int32_t *number) {
  for (int64_t f = 0; f < mesh->file_vertex_count; f++) {
    int32_t v = mesh->vertex_map[f];
    mesh->vertex_map[f] = v < 0 ? -1 : number[v];
  }
}

/* Creates the identity map if there is none yet. */
static HkStatus start_map(HkMesh *mesh, HkError *error) {
  if (mesh->vertex_map) return HK_OK;
  HK_TRY(hk_alloc(&mesh->context, &mesh->vertex_map, mesh->vertex_count, sizeof *mesh->vertex_map,
                  "the numbers of the vertices", error));
  mesh->file_vertex_count = mesh->vertex_count;
  for (int64_t v = 0; v < mesh->vertex_count; v++) mesh->vertex_map[v] = (int32_t)v;
  return HK_OK;
}

/* Applies a map to everything in the mesh; number and seen hold vertex_count entries. */
static HkStatus apply(HkMesh *mesh, const int32_t *number, int64_t kept, int32_t *seen,
                      HkError *error) {
  HK_TRY(start_map(mesh, error));
  for (int64_t v = 0; v < kept; v++) seen[v] = -1;
  for (int64_t s = 0; s < mesh->set_count; s++)
    renumber_set(&mesh->sets[s], number, seen, (int32_t)s);
  compose_map(mesh, number);
  hk_mesh_renumber(mesh, number, kept);
  return HK_OK;
}

static HkStatus repair_with(HkMesh *mesh, const HkRepair *repair, int32_t *number, int32_t *seen,
                            HkRepairCounts *counts, HkError *error) {
  if (repair->weld >= 0) {
    HK_TRY(hk_weld(&mesh->context, mesh->x, mesh->vertex_count, repair->weld, number, error));
    int64_t kept = hk_weld_numbers(number, mesh->vertex_count);
    counts->welded = mesh->vertex_count - kept;
    if (counts->welded) HK_TRY(apply(mesh, number, kept, seen, error));
  }
  if (repair->unused) {
    int64_t kept;
    number_used(mesh, number, &kept);
    counts->unused = mesh->vertex_count - kept;
    if (counts->unused) HK_TRY(apply(mesh, number, kept, seen, error));
  }
  return HK_OK;
}

HkStatus hk_mesh_repair(HkMesh *mesh, const HkRepair *repair, HkRepairCounts *counts,
                        HkError *error) {
  HkRepairCounts done = {0};
  if (isnan(repair->weld))
    return hk_fail(error, HK_ERROR_INVALID,
                   "the tolerance for welding is not a number; a negative one welds nothing");
  const HkContext *c = &mesh->context;
  int32_t *number = NULL, *seen = NULL;
  HkStatus status = hk_alloc(c, &number, mesh->vertex_count, sizeof *number, "a repair", error);
  if (status >= 0) status = hk_alloc(c, &seen, mesh->vertex_count, sizeof *seen, "a repair", error);
  if (status >= 0) status = repair_with(mesh, repair, number, seen, &done, error);
  hk_free(c, &number);
  hk_free(c, &seen);
  if (counts) *counts = done;
  if (done.welded)
    hk_log(c, HK_LOG_INFO, "repair: %lld vertices welded to others at most %g m away",
           (long long)done.welded, repair->weld);
  if (done.unused)
    hk_log(c, HK_LOG_INFO, "repair: %lld vertices dropped that no cell uses",
           (long long)done.unused);
  return status;
}
