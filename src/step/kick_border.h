/* Groups of rows of a part by what other ranks need of them (model/part.h): those with border
 * vertices are kicked first, those of ghosts alone not at all.
 */
#ifndef HK_STEP_KICK_BORDER_H
#define HK_STEP_KICK_BORDER_H

#include "force/spring_rows.h"
#include "model/part.h"

/* Groups begin .. end - 1. */
typedef struct HkGroupRun {
  int32_t begin, end;
} HkGroupRun;

typedef struct HkKickBorder {
  int64_t groups;
  int32_t *group;     /* groups with border vertices, rising */
  int64_t *first_run; /* of each block of HK_BLOCK vertices, and behind the last one */
  HkGroupRun *run;    /* the groups of a block with owned vertices, but none of the border */
  double *ghost_x;    /* positions of ghosts at the start of a pass, 3 each */
  size_t bytes;
} HkKickBorder;

HkStatus hk_kick_border_create(const HkModel *model, const HkSpringRows *rows,
                               HkKickBorder **border, HkError *error);
/* Sets the pointer to NULL. */
void hk_kick_border_destroy(const HkModel *model, HkKickBorder **border);

#endif
