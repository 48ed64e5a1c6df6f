/* The kinds of factorizations; see factor.h. */
#include "linear/factor.h"

#include "linear/factor_type.h"

#ifdef HK_WITH_CHOLMOD
static const HkFactorType *const cholmod = &hk_factor_cholmod;
#else
static const HkFactorType *const cholmod = NULL;
#endif

HkFactorKind hk_factor_default(void) {
  return cholmod ? HK_FACTOR_CHOLMOD : HK_FACTOR_LDLT;
}

HkStatus hk_factor_check(HkFactorKind kind, HkError *error) {
  if (kind != HK_FACTOR_CHOLMOD || cholmod) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "this Hooke was built without SuiteSparse CHOLMOD, which cholesky stands for; "
                 "choose ldlt, or build with libsuitesparse-dev installed");
}

HkStatus hk_factor_create(const HkContext *context, HkFactorKind kind, HkFactorUse use,
                          const HkSparse *pattern, HkFactor **factor, HkError *error) {
  HkContext c = hk_context_or_default(context);
  *factor = NULL;
  HK_TRY(hk_factor_check(kind, error));
  HK_TRY(hk_alloc(&c, factor, 1, sizeof **factor, "a factorization", error));
  HkFactor *f = *factor;
  f->type = kind == HK_FACTOR_CHOLMOD ? cholmod : &hk_factor_ldlt;
  f->use = use;
  f->context = c;
  f->n = pattern->n;
  HkStatus status = f->type->create(f, pattern, error);
  if (status < 0) hk_factor_destroy(factor);
  return status;
}

void hk_factor_destroy(HkFactor **factor) {
  HkFactor *f = *factor;
  if (!f) return;
  HkContext c = f->context;
  if (f->data) f->type->destroy(f);
  hk_free(&c, factor);
}

HkStatus hk_factor_compute(HkFactor *factor, const double *values, bool *positive, HkError *error) {
  return factor->type->compute(factor, values, positive, error);
}

HkStatus hk_factor_solve(HkFactor *factor, double *b, int columns, HkError *error) {
  return factor->type->solve(factor, b, columns, error);
}

HkSupernodes hk_factor_view(const HkFactor *factor) {
  return factor->type->view(factor);
}

void hk_factor_release(HkFactor *factor) {
  factor->type->release(factor);
}

double hk_factor_need(const HkFactor *factor) {
  return factor->n > 0 ? factor->type->need(factor) : 0;
}

void hk_factor_set_cancel(HkFactor *f, HkCancel *cancel) {
  f->cancel = cancel;
}

void hk_factor_log(const HkFactor *f) {
  enum { MIN_LOGGED_UNKNOWNS = 1000 };
  if (f->n < MIN_LOGGED_UNKNOWNS) return;
  hk_log(&f->context, HK_LOG_INFO,
         "factorizes %lld unknowns with %s, ordered by %s: %.0f entries each", (long long)f->n,
         f->type->name, f->ordering, (double)f->entries / (double)f->n);
}

int64_t hk_factor_entries(const HkFactor *factor) {
  return factor->entries;
}

size_t hk_factor_bytes(const HkFactor *factor) {
  return sizeof *factor + factor->bytes;
}
