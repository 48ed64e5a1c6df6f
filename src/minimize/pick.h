/* What an implicit step is solved with where nobody has said it. */
#ifndef HK_MINIMIZE_PICK_H
#define HK_MINIMIZE_PICK_H

#include "model/model.h"

/* By the size of the model; the log tells what it is. The method is none before. */
HkStatus hk_pick_minimizer(const HkModel *model, HkMethod *method, HkError *error);
/* A linear solver for H, accurate to its own tolerance. */
HkStatus hk_pick_linear(const HkModel *model, HkMethod *method, HkError *error);
/* The same for so many vertices, without a word and for a model that multigrid is made for. */
HkStatus hk_pick_linear_for(int64_t n, HkMethod *method, HkError *error);

#endif
