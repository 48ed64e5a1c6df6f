/* P^T A P; see galerkin.c. */
#ifndef HK_LINEAR_GALERKIN_H
#define HK_LINEAR_GALERKIN_H

#include "linear/multigrid.h"

HkStatus hk_weights_transpose(const HkContext *context, const HkWeights *P, HkWeights *T,
                              HkError *error);
/* The graph of P^T A P for an A with the graph g. */
HkStatus hk_galerkin_pattern(const HkContext *context, int threads, const HkGraph *g,
                             const HkWeights *P, HkGraph *coarse, HkError *error);
/* coarse: of that graph, in the order of P's columns. */
HkStatus hk_galerkin_create(const HkContext *context, int threads, const HkGraph *g,
                            const HkWeights *P, const HkGraph *coarse, HkGalerkin *galerkin,
                            HkError *error);
void hk_galerkin_destroy(const HkContext *context, HkGalerkin *galerkin);
size_t hk_galerkin_bytes(const HkGraph *g, const HkGraph *coarse, const HkGalerkin *galerkin);

#endif
