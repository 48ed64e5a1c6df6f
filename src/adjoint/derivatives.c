/* Derivatives of a model; see derivatives.h. */
#include "adjoint/derivatives.h"

#include <math.h>
#include <string.h>

/* ---- Numbers of methods ---- */

static int columns_of(const HkParam *p) {
  return p->kind == HK_PARAM_TABLE ? p->columns : p->kind == HK_PARAM_VECTOR ? 3 : 1;
}

/* The numbers of a parameter, and how many there are; NULL: it has none. */
static double *numbers_of(const HkParam *p, void *params, int64_t *count) {
  void *at = (char *)params + p->offset;
  *count = columns_of(p);
  if (p->kind == HK_PARAM_NUMBER || p->kind == HK_PARAM_VECTOR) return at;
  if (p->kind != HK_PARAM_TABLE) return NULL;
  *count *= ((HkTable *)at)->rows;
  return ((HkTable *)at)->values;
}

double *hk_derivative_of(const HkMethod *method, const HkMethod *derivative, const double *number) {
  const HkSchema *schema = method->schema;
  const char *params = method->params, *at = (const char *)number;
  if (at >= params && at < params + schema->size)
    return (double *)(void *)((char *)derivative->params + (at - params));
  for (int k = 0; k < schema->param_count; k++) {
    const HkParam *p = &schema->params[k];
    int64_t count;
    if (p->kind != HK_PARAM_TABLE) continue;
    const double *from = numbers_of(p, method->params, &count);
    if (number >= from && number < from + count)
      return numbers_of(p, derivative->params, &count) + (number - from);
  }
  HK_ASSERT(false);
  return NULL;
}

/* Whether a name is one of the words of "a|b|c". */
static bool is_word(const char *words, const char *name) {
  size_t length = strlen(name);
  for (const char *at = words; at; at = strchr(at, '|')) {
    if (*at == '|') at++;
    if (strncmp(at, name, length) == 0 && (at[length] == '|' || at[length] == 0)) return true;
  }
  return false;
}

/* Times of tables are not differentiable. */
static void reset(const HkMethod *derivative, const char *differentiable) {
  for (int k = 0; derivative->schema && k < derivative->schema->param_count; k++) {
    const HkParam *p = &derivative->schema->params[k];
    bool known = differentiable && is_word(differentiable, p->name);
    int64_t count;
    double *numbers = numbers_of(p, derivative->params, &count);
    for (int64_t q = 0; numbers && q < count; q++) {
      bool time = p->kind == HK_PARAM_TABLE && q % p->columns == 0;
      numbers[q] = known && !time ? 0 : NAN;
    }
  }
}

/* ---- All of a model ---- */

static HkStatus add_methods(HkDerivatives *d, HkError *error) {
  const HkModel *m = d->model;
  const HkContext *c = &m->context;
  HK_TRY(hk_alloc(c, &d->forces, m->force_count, sizeof *d->forces, "derivatives", error));
  HK_TRY(
      hk_alloc(c, &d->force_arrays, m->force_count, sizeof *d->force_arrays, "derivatives", error));
  HK_TRY(hk_alloc(c, &d->motions, m->motion_count, sizeof *d->motions, "derivatives", error));
  HK_TRY(hk_alloc(c, &d->memory, m->force_count, sizeof *d->memory, "derivatives", error));
  HK_TRY(
      hk_alloc(c, &d->memory_next, m->force_count, sizeof *d->memory_next, "derivatives", error));
  d->force_count = m->force_count;
  d->motion_count = m->motion_count;
  for (int f = 0; f < m->force_count; f++) {
    if (hk_force_is_array(&m->forces[f]))
      HK_TRY(hk_alloc_vector(c, &d->force_arrays[f], m->n, "derivatives", error));
    else if (m->forces[f].method.params)
      HK_TRY(hk_method_copy(&m->forces[f].method, &d->forces[f], error));
  }
  for (int k = 0; k < m->motion_count; k++)
    HK_TRY(hk_method_copy(&m->motions[k].method, &d->motions[k], error));
  return HK_OK;
}

static HkStatus create(HkDerivatives *d, HkError *error) {
  const HkModel *m = d->model;
  const HkContext *c = &m->context;
  HkDerivativeArrays *a = &d->arrays;
  double **vectors[] = {&a->x, &a->v, &d->x_old, &d->v_old};
  double **springs[] = {&a->k, &a->l0, &a->damping};
  for (int k = 0; k < 4; k++) HK_TRY(hk_alloc_vector(c, vectors[k], m->n, "derivatives", error));
  for (int k = 0; k < 3; k++)
    HK_TRY(hk_alloc(c, springs[k], m->springs.count, sizeof(double), "derivatives", error));
  HK_TRY(hk_alloc(c, &a->mass, m->n, sizeof *a->mass, "derivatives", error));
  HK_TRY(hk_alloc(c, &a->places, 3 * m->pin_count, sizeof *a->places, "derivatives", error));
  HK_TRY(add_methods(d, error));
  hk_derivatives_zero(d);
  return HK_OK;
}

HkStatus hk_derivatives_create(const HkModel *model, HkDerivatives **derivatives, HkError *error) {
  HK_TRY(hk_alloc(&model->context, derivatives, 1, sizeof **derivatives, "derivatives", error));
  (*derivatives)->model = model;
  HkStatus status = create(*derivatives, error);
  if (status < 0) hk_derivatives_destroy(derivatives);
  return status;
}

void hk_derivatives_destroy(HkDerivatives **derivatives) {
  HkDerivatives *d = *derivatives;
  if (!d) return;
  HkContext c = d->model->context;
  HkDerivativeArrays *a = &d->arrays;
  double **arrays[] = {&a->x,       &a->v,      &a->mass,  &a->k,    &a->l0,
                       &a->damping, &a->places, &d->x_old, &d->v_old};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(&c, arrays[k]);
  for (int f = 0; f < d->force_count; f++) {
    hk_method_clear(&d->forces[f]);
    hk_free(&c, &d->force_arrays[f]);
    hk_free(&c, &d->memory[f].values);
    hk_free(&c, &d->memory_next[f].values);
  }
  for (int k = 0; k < d->motion_count; k++) hk_method_clear(&d->motions[k]);
  hk_free(&c, &d->forces);
  hk_free(&c, &d->force_arrays);
  hk_free(&c, &d->motions);
  hk_free(&c, &d->memory);
  hk_free(&c, &d->memory_next);
  hk_free(&c, derivatives);
}

/* ---- Checks ---- */

/* Whether each number of a method has its place in a copy of what the method was. */
static bool fits(const HkMethod *method, const HkMethod *copy) {
  if (method->schema != copy->schema) return false;
  for (int k = 0; method->schema && k < method->schema->param_count; k++) {
    const HkParam *p = &method->schema->params[k];
    int64_t now = 0, then = 0;
    if (p->kind != HK_PARAM_TABLE) continue;
    numbers_of(p, method->params, &now);
    numbers_of(p, copy->params, &then);
    if (now != then) return false;
  }
  return true;
}

HkStatus hk_derivatives_check(const HkDerivatives *d, const HkModel *m, HkError *error) {
  if (d->model != m)
    return hk_fail(error, HK_ERROR_INVALID, "the derivatives belong to another model");
  bool same = d->force_count == m->force_count && d->motion_count == m->motion_count;
  for (int f = 0; same && f < m->force_count; f++) {
    bool array = hk_force_is_array(&m->forces[f]);
    same = array == (d->force_arrays[f] != NULL);
    if (same && !array && m->forces[f].method.params)
      same = fits(&m->forces[f].method, &d->forces[f]);
  }
  for (int k = 0; same && k < m->motion_count; k++)
    same = fits(&m->motions[k].method, &d->motions[k]);
  if (same) return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID,
                 "the forces or motions of the model have changed since the derivatives were made; "
                 "make new ones");
}

static void zero(double *values, int64_t count) {
  if (count) memset(values, 0, (size_t)count * sizeof *values);
}

void hk_derivatives_zero_history(HkDerivatives *d) {
  zero(d->x_old, 3 * d->model->n);
  zero(d->v_old, 3 * d->model->n);
  for (int f = 0; f < d->force_count; f++) d->memory[f].count = d->memory_next[f].count = 0;
}

void hk_derivatives_zero_parameters(HkDerivatives *d) {
  const HkModel *m = d->model;
  HkDerivativeArrays *a = &d->arrays;
  zero(a->mass, m->n);
  zero(a->k, m->springs.count);
  zero(a->l0, m->springs.count);
  for (int64_t q = 0; q < m->springs.count; q++) a->damping[q] = m->springs.damping ? 0 : NAN;
  zero(a->places, 3 * m->pin_count);
  for (int f = 0; f < d->force_count; f++) {
    reset(&d->forces[f], m->forces[f].type->differentiable);
    if (d->force_arrays[f]) zero(d->force_arrays[f], 3 * m->n);
  }
  for (int k = 0; k < d->motion_count; k++)
    reset(&d->motions[k], m->motions[k].type->differentiable);
}

void hk_derivatives_zero(HkDerivatives *d) {
  zero(d->arrays.x, 3 * d->model->n);
  zero(d->arrays.v, 3 * d->model->n);
  hk_derivatives_zero_history(d);
  hk_derivatives_zero_parameters(d);
}

HkDerivativeArrays hk_derivatives_arrays(HkDerivatives *d) {
  return d->arrays;
}

const HkMethod *hk_derivatives_force(const HkDerivatives *d, int index) {
  bool known = index >= 0 && index < d->force_count && d->forces[index].schema;
  return known ? &d->forces[index] : NULL;
}

double *hk_derivatives_force_array(const HkDerivatives *d, int index) {
  return index >= 0 && index < d->force_count ? d->force_arrays[index] : NULL;
}

const HkMethod *hk_derivatives_motion(const HkDerivatives *d, int pin) {
  return pin >= 0 && pin < d->motion_count ? &d->motions[pin] : NULL;
}
