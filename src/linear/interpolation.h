/* Picking the vertices of a coarser level one by one, and the weights by which the others follow
 * them; interpolation.c has the rules. hk_interpolation_find (multigrid.h) does all of it. */
#ifndef HK_LINEAR_INTERPOLATION_H
#define HK_LINEAR_INTERPOLATION_H

#include "linear/multigrid.h"

typedef struct HkCoarsening HkCoarsening;

/* The sum of the distances of the vertices 0 .. rows - 1 to their nearest neighbors, and how many
 * of them have one. */
double hk_coarsening_spacing(const HkGraph *graph, const double *X, int32_t rows, int32_t *count);

/* spacing: mean distance (m) of a vertex to its nearest neighbor. graph and X outlive the result,
 * which is destroyed also after an error. */
HkStatus hk_coarsening_create(const HkContext *context, const HkGraph *graph, const double *X,
                              double spacing, HkCoarsening **coarsening, HkError *error);
void hk_coarsening_destroy(HkCoarsening **coarsening);
/* Whether a vertex is to become coarse: it has neighbors, and no coarse vertex is near. */
bool hk_coarsening_is_open(const HkCoarsening *coarsening, int32_t vertex);
/* Makes a vertex coarse and adds it to the candidates of the vertices around it, along edges. */
void hk_coarsening_choose(HkCoarsening *coarsening, int32_t vertex);
/* The coarse vertices in the order in which they were chosen; owned by the coarsening. */
const int32_t *hk_coarsening_chosen(const HkCoarsening *coarsening, int32_t *count);
/* P = the weights of the vertices 0 .. rows - 1; its columns are numbers of coarse vertices in the
 * order of hk_coarsening_chosen. */
HkStatus hk_coarsening_weights(const HkCoarsening *coarsening, int threads, int32_t rows,
                               HkWeights *P, HkError *error);

#endif
