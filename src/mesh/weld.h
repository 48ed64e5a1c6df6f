/* Finds vertices at the same position, and renumbers a mesh. */
#ifndef HK_MESH_WELD_H
#define HK_MESH_WELD_H

#include "mesh/mesh.h"

/* target[v] becomes the lowest-numbered vertex that stays and is at most tolerance (m) away from v;
 * v itself if v stays. Tolerance 0: at exactly the same position. Linear in count. */
HkStatus hk_weld(const HkContext *context, const double *x, int64_t count, double tolerance,
                 int32_t *target, HkError *error);

/* From targets to new numbers in the old order: number[v] = target[v] on entry. Returns how many
 * vertices stay. */
int64_t hk_weld_numbers(int32_t *number, int64_t count);

/* Gives vertex v the number number[v] (-1: it is removed; no cell may use it) in positions and
 * cells; of vertices with the same number the first one's position stays. Sets and vertex_map do
 * not change. */
void hk_mesh_renumber(HkMesh *mesh, const int32_t *number, int64_t new_count);

#endif
