/* How large a system is and how it hangs together: what memory depends on, known of a model, and of
 * a scene of shapes before there is one. */
#ifndef HK_MODEL_PROPORTIONS_H
#define HK_MODEL_PROPORTIONS_H

#include "model/model.h"

typedef struct HkProportions {
  double n, springs;
  double core;  /* vertices of its largest connected part */
  double width; /* vertices of a cut through that, across its longest way; 0: unknown */
  bool solid;   /* neighbors all around, not along a line or a surface */
  bool damped;  /* a force depends on v */
  int dimension;
} HkProportions;

/* Walks over the whole model. */
HkStatus hk_model_proportions(const HkModel *model, HkProportions *p, HkError *error);
/* Looks at some of its vertices. */
bool hk_model_is_solid(const HkModel *model);

#endif
