/* The springs that a force changes or limits, each once; not a force by itself. */
#ifndef HK_FORCE_CHOSEN_SPRINGS_H
#define HK_FORCE_CHOSEN_SPRINGS_H

#include "force/force.h"

struct HkChosenSprings {
  int32_t *spring; /* in rising order */
  int64_t count;
};

/* Which kinds of springs: an index into HK_SPRING_KINDS. */
enum { HK_KINDS_ALL, HK_KINDS_EDGES, HK_KINDS_SHEAR, HK_KINDS_BENDING, HK_KINDS_LISTED };

/* Two parameters of a force: fields `select` and `springs` of its parameter struct. */
#define HK_CHOSEN_SPRINGS(S)                                                                       \
  HK_SELECT(S, select, "springs with both ends among these vertices; all if not given"),           \
      HK_CHOICE(S, springs, HK_KINDS_ALL, "all|edges|shear|bending|listed",                        \
                "which of them: edges of cells, diagonals, bending springs, rows of a springs "    \
                "file or table")

/* Finds the springs into a new HkChosenSprings at *data; an error if there are none. */
HkStatus hk_chosen_springs_create(HkModel *model, const HkSelect *select, int kinds, void **data,
                                  HkError *error);
/* HkForceType.destroy, HkForceType.bytes and HkForceType.changed_springs of such forces. */
void hk_chosen_springs_destroy(const HkModel *model, void *data);
size_t hk_chosen_springs_bytes(const void *data);
const HkChosenSprings *hk_chosen_springs(const void *data);
/* Returns a spring that both have, or -1. */
int32_t hk_chosen_springs_common(const HkChosenSprings *a, const HkChosenSprings *b);

#endif
