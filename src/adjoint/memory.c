/* Memory of forces in the state, and the steps in which it changes; see memory.h.
 *
 * With the memory m, a step is F(z, x, m) = 0 and m+ = G(z, x, m). Backward, the gradients by m+
 * first join those by z, which the linear system of the step takes to l, and then
 *
 *     m' = l . dF/dm + m+' . dG/dm,   x' += l . dF/dx + m+' . dG/dx
 */
#include "adjoint/memory.h"

#include <string.h>

bool hk_memory_is_needed(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->step_product) return true;
  return false;
}

/* ---- The step ---- */

static HkStatus check_same(const HkAdjoint *a, HkError *error) {
  size_t bytes = (size_t)a->sim->model->n * 3 * sizeof *a->after->x;
  if (memcmp(a->again->x, a->after->x, bytes) == 0 && memcmp(a->again->v, a->after->v, bytes) == 0)
    return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID,
                 "the step from the first state does not lead to the second one");
}

HkStatus hk_memory_make_step(HkAdjoint *a, const HkState *before, HkError *error) {
  const HkModel *m = a->sim->model;
  if (!a->again) HK_TRY(hk_state_create(m, &a->again, error));
  HK_TRY(hk_state_copy(before, a->again, error));
  HkStatus status = hk_sim_step(a->sim, a->again, error);
  if (status < 0) return status;
  HK_TRY(check_same(a, error));
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs args = hk_force_args(m, f, &a->sim->work, a->after->time, a->after->x, a->after->v);
    if (m->forces[f].type->resume_step) m->forces[f].type->resume_step(&args);
  }
  return HK_OK;
}

/* ---- Products ---- */

/* Has so many values, which are 0 if there were none. */
static HkStatus fit(const HkAdjoint *a, HkMemoryNumbers *numbers, int64_t count, HkError *error) {
  if (numbers->count == count) return HK_OK;
  if (numbers->count > 0)
    return hk_fail(error, HK_ERROR_INVALID, "the derivatives belong to another state");
  HK_TRY(hk_grow(&a->sim->model->context, &numbers->values, &numbers->capacity, count,
                 sizeof *numbers->values, "derivatives", error));
  if (count) memset(numbers->values, 0, (size_t)count * sizeof *numbers->values);
  numbers->count = count;
  return HK_OK;
}

typedef struct Product {
  HkStepProduct base;
  const HkAdjoint *a;
  int force;
} Product;

static double *number(const HkStepProduct *product, const double *number) {
  const Product *p = (const Product *)product;
  return hk_derivative_of(&p->a->sim->model->forces[p->force].method, &p->a->d->forces[p->force],
                          number);
}

/* Multiplies for each force that has such products. Those of its memory are d->memory, of the state
 * that the product comes from, and d->memory_next. */
static HkStatus multiply(HkAdjoint *a, const HkStepProduct *product, HkError *error) {
  const HkModel *m = a->sim->model;
  HkDerivatives *d = a->d;
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (!type->step_product) continue;
    HkForceMemory from = hk_force_memory_of(a->before, &m->forces[f]);
    HkForceMemory to = hk_force_memory_of(a->after, &m->forces[f]);
    int64_t from_count = type->memory_numbers(&from), to_count = type->memory_numbers(&to);
    HK_TRY(fit(a, &d->memory[f], product->back ? to_count : from_count, error));
    HK_TRY(fit(a, &d->memory_next[f], product->back ? from_count : to_count, error));
    Product p = {.base = *product, .a = a, .force = f};
    p.base.from = &from;
    p.base.to = &to;
    p.base.from_numbers = (product->back ? d->memory_next : d->memory)[f].values;
    p.base.to_numbers = (product->back ? d->memory : d->memory_next)[f].values;
    HkForceArgs args = hk_force_args(m, f, &a->sim->work, a->after->time, a->after->x, a->after->v);
    HK_TRY(type->step_product(&args, &p.base, error));
  }
  return HK_OK;
}

static HkStepProduct product_of(const HkAdjoint *a, bool back) {
  const HkDerivativeArrays *d = &a->d->arrays;
  return (HkStepProduct){.back = back,
                         .start = a->before->x,
                         .mass = d->mass,
                         .k = d->k,
                         .l0 = d->l0,
                         .number = number};
}

/* The state of the derivatives changes to the other end of the step. */
static void change_ends(HkDerivatives *d) {
  for (int f = 0; f < d->force_count; f++) {
    HkMemoryNumbers numbers = d->memory[f];
    d->memory[f] = d->memory_next[f];
    d->memory_next[f] = numbers;
    d->memory_next[f].count = 0;
  }
}

HkStatus hk_memory_pull_end(HkAdjoint *a, double *x_end, HkError *error) {
  HkStepProduct p = product_of(a, true);
  p.memory = p.end = true;
  p.x_end = x_end;
  return multiply(a, &p, error);
}

HkStatus hk_memory_pull_start(HkAdjoint *a, double scale, double *l, double *x_start,
                              HkError *error) {
  HkStepProduct p = product_of(a, true);
  p.forces = p.memory = p.rest = true;
  p.scale = scale;
  p.f = l;
  p.x_start = x_start;
  HK_TRY(multiply(a, &p, error));
  change_ends(a->d);
  return HK_OK;
}

HkStatus hk_memory_push_forces(HkAdjoint *a, double scale, double *x_start, double *out,
                               HkError *error) {
  HkStepProduct p = product_of(a, false);
  p.forces = p.rest = true;
  p.scale = scale;
  p.f = out;
  p.x_start = x_start;
  return multiply(a, &p, error);
}

HkStatus hk_memory_push_end(HkAdjoint *a, double *x_start, double *x_end, HkError *error) {
  HkStepProduct p = product_of(a, false);
  p.memory = p.end = p.rest = true;
  p.x_start = x_start;
  p.x_end = x_end;
  HK_TRY(multiply(a, &p, error));
  change_ends(a->d);
  return HK_OK;
}
