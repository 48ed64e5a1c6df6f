/* What is left of the cells and springs that an output draws when springs have broken. */
#ifndef HK_OUTPUT_TORN_H
#define HK_OUTPUT_TORN_H

#include "output/drawn.h"

typedef struct HkTorn {
  HkDrawn drawn;       /* cells without a broken spring along their edges */
  HkEdgeSprings edges; /* of them */
  int32_t *spring;     /* springs that are not broken */
  int64_t spring_count;
} HkTorn;

/* Finds what is left; broken: 1 a spring. The arrays stay for the next call. Not for parts. */
HkStatus hk_torn_update(const HkContext *context, const HkDrawn *all, const HkEdgeSprings *edges,
                        const uint8_t *broken, HkTorn *torn, HkError *error);
void hk_torn_destroy(const HkContext *context, HkTorn *torn);

#endif
