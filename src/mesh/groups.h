/* Named groups of cells, as Gmsh's physical groups, that become vertex sets. */
#ifndef HK_MESH_GROUPS_H
#define HK_MESH_GROUPS_H

#include "mesh/mesh.h"

typedef struct HkGroup {
  int64_t dimension, tag; /* together the key */
  const char *name;       /* borrowed, length bytes */
  size_t length;
  int64_t set; /* the first group of that name, in the order they were added */
} HkGroup;

/* Cells first .. end - 1 belong to the set of a group. */
typedef struct HkGroupRun {
  int64_t set, group, first, end;
} HkGroupRun;

/* Start with {0}; add groups, sort, add cells, make sets, clear. */
typedef struct HkGroups {
  HkGroup *groups;
  int64_t count, capacity;
  HkGroupRun *runs;
  int64_t run_count, run_capacity;
} HkGroups;

HkStatus hk_groups_add(const HkContext *context, HkGroups *groups, int64_t dimension, int64_t tag,
                       const char *name, size_t length, HkError *error);
/* Sorts the groups after all are added. */
void hk_groups_sort(HkGroups *groups);
/* Adds cells first .. end - 1 to the group of that key; a key without a name is ignored. */
HkStatus hk_groups_add_cells(const HkContext *context, HkGroups *groups, int64_t dimension,
                             int64_t tag, int64_t first, int64_t end, HkError *error);
/* Makes a vertex set for each name, with each vertex once, in the order of the cells. */
HkStatus hk_groups_make_sets(HkGroups *groups, HkMesh *mesh, HkError *error);
void hk_groups_clear(const HkContext *context, HkGroups *groups);

#endif
