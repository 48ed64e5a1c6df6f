/* Size and connectivity of a system, which determine its memory: of a model, or of a scene of
 * shapes before its model is made. */
#ifndef HK_MODEL_PROPORTIONS_H
#define HK_MODEL_PROPORTIONS_H

#include "model/model.h"

typedef struct HkProportions {
  double n, springs;
  double core;  /* vertices of its largest connected part */
  double width; /* vertices of a cross section of that part; 0: unknown */
  bool solid;   /* a volume, not a line or a surface */
  bool damped;  /* a force depends on v */
  int dimension;
} HkProportions;

/* Returns the proportions without core and width, which are 0. */
HkProportions hk_model_sizes(const HkModel *model);
/* Computes all proportions; visits the whole model. */
HkStatus hk_model_proportions(const HkModel *model, HkProportions *p, HkError *error);
/* Returns whether the model is a volume, from a sample of its vertices. */
bool hk_model_is_solid(const HkModel *model);

#endif
