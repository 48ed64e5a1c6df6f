/* What a kind of factorization is made of; see factor.h for what its functions do. */
#ifndef HK_LINEAR_FACTOR_TYPE_H
#define HK_LINEAR_FACTOR_TYPE_H

#include "linear/factor.h"

typedef struct HkFactorType {
  const char *name;
  /* Sets factor->data, ->entries, ->ordering and ->bytes. */
  HkStatus (*create)(HkFactor *factor, const HkSparse *pattern, HkError *error);
  void (*destroy)(HkFactor *factor);
  HkStatus (*compute)(HkFactor *factor, const double *values, bool *positive, HkError *error);
  HkStatus (*solve)(HkFactor *factor, double *b, int columns, HkError *error);
  HkSupernodes (*view)(const HkFactor *factor);
  void (*release)(HkFactor *factor);
  double (*need)(const HkFactor *factor);
} HkFactorType;

struct HkFactor {
  const HkFactorType *type;
  HkFactorUse use;
  HkContext context;
  int64_t n, entries;
  const char *ordering; /* of the unknowns: "amd" or "metis" */
  size_t bytes;         /* of data */
  void *data;           /* of the kind */
  HkCancel *cancel;     /* checked during a numeric factorization; NULL: never */
};

extern const HkFactorType hk_factor_ldlt;
#ifdef HK_WITH_CHOLMOD
extern const HkFactorType hk_factor_cholmod;
#endif

#endif
