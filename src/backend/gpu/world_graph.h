/* The graph of the springs that all worlds of a batch have in common, and the types of springs.
 *
 * Two springs have one type if their numbers are the same in every world: cloth with one material
 * has a handful of types, whatever its stiffness in each world. The words are those of world.h.
 */
#ifndef HK_BACKEND_GPU_WORLD_GRAPH_H
#define HK_BACKEND_GPU_WORLD_GRAPH_H

#include "force/force.h"

enum { HK_WORLD_TYPE_REALS = 4 }; /* k, k l0, c, least */

/* Numbers of the springs of a world, in the order of the model. */
typedef struct HkWorldSprings {
  const double *k, *l0, *damping;  /* damping NULL: 0 */
  const uint8_t *tension, *broken; /* NULL: none */
} HkWorldSprings;

typedef struct HkWorldGraph {
  int32_t *row_start; /* slices + 1 */
  uint32_t *word;
  uint16_t *neighbor; /* the lower half of each word */
  int64_t words;
  int32_t *type;    /* of each spring, from 1 */
  int32_t *example; /* a spring of each type; example[0] is unused */
  int types;        /* with type 0, which has no stiffness */
  int64_t vertices, springs;
  HkContext context;
} HkWorldGraph;

/* The springs of a world: those of its state if it has any, else those of its model. */
HkWorldSprings hk_world_springs(const HkModel *model, const HkState *state);

/* Makes the graph of a model with the types of `count` worlds. */
HkStatus hk_world_graph_create(const HkModel *model, const HkWorldSprings *worlds, int64_t count,
                               HkWorldGraph **graph, HkError *error);
void hk_world_graph_destroy(HkWorldGraph **graph);
size_t hk_world_graph_bytes(const HkWorldGraph *graph);
/* Returns whether the springs of a world have one row of numbers for each type. */
bool hk_world_graph_fits(const HkWorldGraph *graph, int64_t springs, const HkWorldSprings *world);
/* Writes the table of a world. */
void hk_world_graph_table(const HkWorldGraph *graph, const HkWorldSprings *world, double *table);

#endif
