/* Forces from elements; see element.h.
 *
 * Gradients of all elements are computed first, each once, then gathered per vertex in the order of
 * the elements: threads never write to one place, and the result does not depend on their number.
 */
#include "force/element.h"

#include <math.h>
#include <string.h>

typedef struct Loop {
  const HkElements *e;
  const double *x, *to;
  double *gradients, *f;
} Loop;

static int size_of(const HkElements *e) {
  return 3 * e->functions.vertices;
}

static const void *record_of(const HkElements *e, int64_t k) {
  return e->records + k * (int64_t)e->functions.record;
}

/* The positions of the vertices of element k. */
static void collect(const HkElements *e, int64_t k, const double *x, double *local) {
  const int32_t *vertex = e->vertices + k * e->functions.vertices;
  for (int a = 0; a < e->functions.vertices; a++)
    memcpy(local + 3 * a, x + 3 * (int64_t)vertex[a], 3 * sizeof *local);
}

int64_t hk_elements_scratch(const HkElements *e) {
  int64_t gradients = e->count * size_of(e), sums = hk_sum_slots(e->count);
  return gradients > sums ? gradients : sums;
}

/* ---- Energy ---- */

static double energy_at(const HkElements *e, int64_t k, const double *local) {
  return e->functions.energy(e->user, record_of(e, k), local);
}

static double energy_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  double local[HK_ELEMENT_SIZE_MAX], sum = 0;
  for (int64_t k = begin; k < end; k++) {
    collect(loop->e, k, loop->x, local);
    sum += energy_at(loop->e, k, local);
  }
  return sum;
}

double hk_elements_energy(const HkElements *e, const HkForceArgs *a) {
  Loop loop = {.e = e, .x = a->x};
  return hk_parallel_sum(a->model->threads, e->count, energy_range, &loop, a->work.scratch);
}

/* E(to) - E(x) of an element by subtraction where that leaves enough digits. Otherwise the two are
 * close, and it is g . (to - x) with the gradient at the middle, which is off by the third power of
 * the distance only: minimizers compare changes far below the rounding of E. */
static double change_of(const HkElements *e, int64_t k, const double *x, const double *to) {
  const double DIGITS_LEFT = 1e-6;
  double before[HK_ELEMENT_SIZE_MAX], after[HK_ELEMENT_SIZE_MAX], middle[HK_ELEMENT_SIZE_MAX];
  double gradient[HK_ELEMENT_SIZE_MAX] = {0}, sum = 0;
  collect(e, k, x, before);
  collect(e, k, to, after);
  double E = energy_at(e, k, before), E_to = energy_at(e, k, after);
  if (fabs(E_to - E) > DIGITS_LEFT * (fabs(E) + fabs(E_to))) return E_to - E;
  for (int c = 0; c < size_of(e); c++) middle[c] = before[c] + 0.5 * (after[c] - before[c]);
  e->functions.gradient(e->user, record_of(e, k), middle, gradient);
  for (int c = 0; c < size_of(e); c++) sum += gradient[c] * (after[c] - before[c]);
  return sum;
}

static double change_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  double sum = 0;
  for (int64_t k = begin; k < end; k++) sum += change_of(loop->e, k, loop->x, loop->to);
  return sum;
}

double hk_elements_energy_change(const HkElements *e, const HkForceArgs *a, const double *to) {
  Loop loop = {.e = e, .x = a->x, .to = to};
  return hk_parallel_sum(a->model->threads, e->count, change_range, &loop, a->work.scratch);
}

/* ---- Force ---- */

static void gradient_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  int size = size_of(loop->e);
  for (int64_t k = begin; k < end; k++) {
    double local[HK_ELEMENT_SIZE_MAX], *gradient = loop->gradients + k * size;
    collect(loop->e, k, loop->x, local);
    memset(gradient, 0, (size_t)size * sizeof *gradient);
    loop->e->functions.gradient(loop->e->user, record_of(loop->e, k), local, gradient);
  }
}

static void gather_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  for (int64_t i = begin; i < end; i++)
    for (int64_t p = loop->e->start[i]; p < loop->e->start[i + 1]; p++)
      for (int c = 0; c < 3; c++) loop->f[3 * i + c] -= loop->gradients[3 * loop->e->place[p] + c];
}

void hk_elements_add(const HkElements *e, const HkForceArgs *a, double *f) {
  Loop loop = {.e = e, .x = a->x, .f = f, .gradients = a->work.scratch};
  hk_parallel_for(a->model->threads, e->count, gradient_range, &loop);
  hk_parallel_for(a->model->threads, a->model->n, gather_range, &loop);
}

/* ---- Hessian ---- */

void hk_elements_jacobian(const HkElements *e, const HkForceArgs *a, HkJacobianSink *sink) {
  double H[HK_ELEMENT_SIZE_MAX * HK_ELEMENT_SIZE_MAX], local[HK_ELEMENT_SIZE_MAX], block[9];
  int count = e->functions.vertices, size = size_of(e);
  for (int64_t k = 0; k < e->count; k++) {
    const int32_t *vertex = e->vertices + k * count;
    collect(e, k, a->x, local);
    memset(H, 0, sizeof H);
    e->functions.hessian(e->user, record_of(e, k), local, H);
    if (a->curvature != HK_CURVATURE_TRUE) hk_project_semidefinite(size, H);
    for (int i = 0; i < count; i++)
      for (int j = 0; j < count; j++) {
        for (int c = 0; c < 9; c++) block[c] = -H[(3 * i + c / 3) * size + 3 * j + c % 3];
        sink->dfdx(sink, vertex[i], vertex[j], block);
      }
  }
}

/* ---- Places ---- */

HkStatus hk_elements_index(HkElements *e, const HkModel *m, HkError *error) {
  int64_t places = e->count * e->functions.vertices;
  HK_TRY(hk_alloc(&m->context, &e->start, m->n + 1, sizeof *e->start, "elements", error));
  HK_TRY(hk_alloc(&m->context, &e->place, places, sizeof *e->place, "elements", error));
  memset(e->start, 0, (size_t)(m->n + 1) * sizeof *e->start);
  for (int64_t p = 0; p < places; p++) e->start[e->vertices[p] + 1]++;
  for (int64_t i = 0; i < m->n; i++) e->start[i + 1] += e->start[i];
  for (int64_t p = 0; p < places; p++) e->place[e->start[e->vertices[p]]++] = p;
  for (int64_t i = m->n; i > 0; i--) e->start[i] = e->start[i - 1];
  e->start[0] = 0;
  return HK_OK;
}

void hk_elements_clear(HkElements *e, const HkModel *m) {
  hk_free(&m->context, &e->start);
  hk_free(&m->context, &e->place);
}

/* ---- Elements of the caller --------------------------------------------------------------------
 */

typedef struct Custom {
  HkForceType type;
  HkElements elements;
  char *name, *records;
  int32_t *vertices;
} Custom;

static const HkElements *elements_of(const HkForceArgs *a) {
  return &((const Custom *)a->data)->elements;
}

static double energy(const HkForceArgs *a) {
  return hk_elements_energy(elements_of(a), a);
}

static double energy_change(const HkForceArgs *a, const double *to) {
  return hk_elements_energy_change(elements_of(a), a, to);
}

static void add(const HkForceArgs *a, double *f) {
  hk_elements_add(elements_of(a), a, f);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  hk_elements_jacobian(elements_of(a), a, sink);
}

static int64_t scratch(const HkModel *model, const void *data) {
  (void)model;
  return hk_elements_scratch(&((const Custom *)data)->elements);
}

static size_t bytes(const void *data) {
  const Custom *c = data;
  const HkElements *e = &c->elements;
  size_t each = (size_t)e->functions.vertices * (sizeof *e->vertices + sizeof *e->place);
  return sizeof *c + strlen(c->name) + 1 + (size_t)e->count * (each + e->functions.record);
}

static void release(const HkModel *m, Custom *c) {
  hk_elements_clear(&c->elements, m);
  hk_free(&m->context, &c->name);
  hk_free(&m->context, &c->records);
  hk_free(&m->context, &c->vertices);
  hk_free(&m->context, &c);
}

static void destroy(const HkModel *m, void *data) {
  Custom *c = data;
  if (c->elements.functions.destroy) c->elements.functions.destroy(c->elements.user);
  release(m, c);
}

HkElementFunctions hk_element_functions_default(void) {
  return (HkElementFunctions){.size = sizeof(HkElementFunctions), .name = "elements"};
}

static HkStatus check(const HkElements *e, const HkModel *m, HkError *error) {
  const HkElementFunctions *f = &e->functions;
  if (f->size != sizeof *f || !f->name || !f->energy || !f->gradient || !f->hessian)
    return hk_fail(error, HK_ERROR_INVALID,
                   "elements need a name, energy, gradient, hessian and the size of the struct: "
                   "start from hk_element_functions_default");
  if (f->vertices < 1 || f->vertices > HK_ELEMENT_VERTICES_MAX)
    return hk_fail(error, HK_ERROR_INVALID,
                   "an element of '%s' has %d vertices; it may have 1 to 4", f->name, f->vertices);
  if (e->count < 0 || (e->count > 0 && (!e->vertices || (f->record > 0 && !e->records))))
    return hk_fail(error, HK_ERROR_INVALID, "%lld elements of '%s' without vertices or records",
                   (long long)e->count, f->name);
  for (int64_t p = 0; p < e->count * f->vertices; p++)
    if (e->vertices[p] < 0 || e->vertices[p] >= m->n)
      return hk_fail(error, HK_ERROR_INVALID,
                     "element %lld of '%s' has vertex %d; there are the vertices 0 to %lld",
                     (long long)(p / f->vertices), f->name, e->vertices[p], (long long)m->n - 1);
  return HK_OK;
}

static HkStatus copy(const HkElements *from, const HkModel *m, Custom *c, HkError *error) {
  const HkContext *context = &m->context;
  const HkElementFunctions *f = &from->functions;
  int64_t places = from->count * f->vertices, letters = (int64_t)strlen(f->name) + 1;
  int64_t records = from->count * (int64_t)f->record;
  c->elements = *from;
  HK_TRY(hk_alloc(context, &c->name, letters, 1, "elements", error));
  HK_TRY(hk_alloc(context, &c->vertices, places, sizeof *c->vertices, "elements", error));
  HK_TRY(hk_alloc(context, &c->records, records, 1, "elements", error));
  memcpy(c->name, f->name, (size_t)letters);
  if (places > 0) memcpy(c->vertices, from->vertices, (size_t)places * sizeof *c->vertices);
  if (records > 0) memcpy(c->records, from->records, (size_t)records);
  c->elements.functions.name = c->name;
  c->elements.vertices = c->vertices;
  c->elements.records = c->records;
  return hk_elements_index(&c->elements, m, error);
}

HkStatus hk_force_compile_elements(HkModel *m, const HkElements *elements, HkCompiledForce *force,
                                   HkError *error) {
  Custom *c = NULL;
  *force = (HkCompiledForce){0};
  HkStatus status = check(elements, m, error);
  if (status >= 0) status = hk_alloc(&m->context, &c, 1, sizeof *c, "elements", error);
  if (status >= 0) status = copy(elements, m, c, error);
  if (status < 0) {
    if (c) release(m, c);
    if (elements->functions.destroy) elements->functions.destroy(elements->user);
    return status;
  }
  c->type = (HkForceType){.schema = {.name = c->name, .summary = "elements of the caller"},
                          .slot = HK_ENERGY_OTHER,
                          .destroy = destroy,
                          .bytes = bytes,
                          .scratch = scratch,
                          .energy = energy,
                          .energy_change = energy_change,
                          .add = add,
                          .jacobian = jacobian};
  force->type = &c->type;
  force->method.schema = &c->type.schema;
  force->data = c;
  force->id = ++m->force_ids;
  return HK_OK;
}
