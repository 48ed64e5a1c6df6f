/* The registry of forces, compiling one, and their sum. */
#include "base/assert.h"
#include "base/file.h"
#include "force/springs.h"

#include <string.h>

#define HK_FORCE_TYPE(name) extern const HkForceType hk_force_##name;
#include "force/force.def"
#undef HK_FORCE_TYPE

static const HkForceType *const types[] = {
#define HK_FORCE_TYPE(name) &hk_force_##name,
#include "force/force.def"
#undef HK_FORCE_TYPE
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const HkSchema *hk_force_schema(int index) {
  return index >= 0 && index < TYPE_COUNT ? &types[index]->schema : NULL;
}

const HkForceType *hk_force_type(const HkSchema *schema) {
  for (int k = 0; k < TYPE_COUNT; k++)
    if (&types[k]->schema == schema) return types[k];
  return NULL;
}

/* ---- Compiling ---- */

static HkStatus compile(HkModel *m, const HkMethod *method, HkCompiledForce *force,
                        HkError *error) {
  HK_TRY(hk_method_copy(method, &force->method, error));
  force->type = hk_force_type(method->schema);
  if (!force->type)
    return hk_fail(error, HK_ERROR_INVALID, "'%s' is not a force",
                   method->schema ? method->schema->name : "nothing");
  if (force->type->slot == HK_ENERGY_SPRING && m->force_count > 0)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the springs are there already; set them in each body's \"springs\"");
  HK_TRY(hk_method_check(method, HK_FORCE, "", error));
  if (force->type->resolve) return force->type->resolve(m, force, error);
  if (!force->type->compile) return HK_OK;
  return force->type->compile(m, force->method.params, &force->data, error);
}

HkStatus hk_force_compile(HkModel *m, const HkMethod *method, HkCompiledForce *force,
                          HkError *error) {
  *force = (HkCompiledForce){0};
  HkStatus status = compile(m, method, force, error);
  force->id = ++m->force_ids;
  if (status < 0) hk_force_release(m, force);
  return status;
}

void hk_force_release(const HkModel *m, HkCompiledForce *force) {
  hk_method_clear(&force->method); /* before its schema, which data may hold */
  if (force->data && force->type->destroy) force->type->destroy(m, force->data);
  *force = (HkCompiledForce){0};
}

static bool uses_velocity(const HkCompiledForce *force, const HkSpringArrays *springs) {
  return force->type->uses_velocity && force->type->uses_velocity(springs, force->method.params);
}

bool hk_force_uses_velocity(const HkModel *m, const HkForceWork *work, int index) {
  return uses_velocity(&m->forces[index], work->springs);
}

bool hk_forces_use_velocity(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (uses_velocity(&m->forces[f], &m->springs)) return true;
  return false;
}

void hk_jacobian_skip(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  (void)sink;
  (void)i;
  (void)j;
  (void)block;
}

void hk_jacobian_add_term(HkJacobianSink *sink, int count, const int32_t *vertex,
                          const double *weight, const double K[6], bool curved) {
  HK_ASSERT(count >= 1 && count <= 4);
  HkWeightedTerm own, *term = &own;
  HkWeightedCurvature *curvature = NULL;
  if (sink->terms && !(term = sink->terms(sink, 1, curved, &curvature))) return;
  for (int a = 0; a < 4; a++) {
    term->vertex[a] = vertex[a < count ? a : 0];
    term->weight[a] = a < count ? weight[a] : 0;
  }
  memcpy(term->K, K, sizeof term->K);
  if (curvature) *curvature = (HkWeightedCurvature){0};
  if (!sink->terms) hk_jacobian_expand(sink, term, NULL);
}

void hk_jacobian_expand(HkJacobianSink *sink, HkWeightedTerm *term,
                        HkWeightedCurvature *curvature) {
  HkWeightedTerms one = {.term = term, .curvature = curvature, .curved = curvature, .count = 1};
  double block[9];
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) {
      if (term->weight[a] == 0 || term->weight[b] == 0) continue;
      hk_weighted_block(&one, 0, a, b, block);
      for (int q = 0; q < 9; q++) block[q] = -block[q];
      sink->dfdx(sink, term->vertex[a], term->vertex[b], block);
    }
}

/* ---- Workspace ---- */

/* Returns the number of partial sums over vertices, springs or faces. */
static int64_t count_sums(const HkModel *m) {
  int64_t longest = m->n > m->springs.count ? m->n : m->springs.count;
  return hk_sum_slots(m->face_count > longest ? m->face_count : longest);
}

HkStatus hk_force_work_create(const HkModel *m, HkForceWork *work, HkError *error) {
  int64_t sums = count_sums(m);
  HkIsa isa;
  *work = (HkForceWork){.springs = &m->springs};
  HK_TRY(hk_isa_pick(&isa, error));
  work->kernels = hk_spring_rows_kernels(isa);
  HkStatus status = hk_alloc(&m->context, &work->sums, sums, sizeof *work->sums, "sums", error);
  if (status >= 0) status = hk_spring_rows_create(m, &work->rows, error);
  if (status >= 0) status = hk_force_work_fit(m, work, error);
  if (status < 0) hk_force_work_destroy(m, work);
  return status;
}

size_t hk_force_work_bytes(const HkModel *m, const HkForceWork *work) {
  size_t bytes = (size_t)(count_sums(m) + work->scratch_size) * sizeof *work->sums;
  for (int f = 0; f < work->state_count; f++) {
    const HkForceState *s = &work->states[f];
    if (s->state && s->bytes) bytes += s->bytes(s->state);
  }
  return bytes + (size_t)work->state_capacity * sizeof *work->states +
         (work->rows ? work->rows->bytes : 0);
}

static void release_state(const HkModel *m, HkForceState *s) {
  if (s->state && s->destroy) s->destroy(m, s->state);
  *s = (HkForceState){0};
}

static void swap_states(HkForceState *a, HkForceState *b) {
  HkForceState kept = *a;
  *a = *b;
  *b = kept;
}

/* Sorts the states into the order of the forces; states of removed forces come last. */
static void sort_states(const HkModel *m, HkForceWork *work) {
  for (int f = 0; f < m->force_count; f++) {
    int k = f;
    while (k < work->state_count && work->states[k].id != m->forces[f].id) k++;
    if (k == work->state_count) work->states[work->state_count++] = (HkForceState){0};
    swap_states(&work->states[f], &work->states[k]);
  }
}

/* Makes one state for each force of the model; states of forces that stay are kept. */
static HkStatus fit_states(const HkModel *m, HkForceWork *work, HkError *error) {
  int64_t most = (int64_t)work->state_count + m->force_count;
  HK_TRY(hk_grow(&m->context, &work->states, &work->state_capacity, most, sizeof *work->states,
                 "forces", error));
  sort_states(m, work);
  while (work->state_count > m->force_count) release_state(m, &work->states[--work->state_count]);
  for (int f = 0; f < m->force_count; f++) {
    const HkCompiledForce *force = &m->forces[f];
    HkForceState *s = &work->states[f];
    if (s->id == force->id) continue;
    *s = (HkForceState){.destroy = force->type->destroy_state, .bytes = force->type->state_bytes};
    if (force->type->create_state)
      HK_TRY(force->type->create_state(m, force->method.params, force->data, &s->state, error));
    s->id = force->id;
  }
  return HK_OK;
}

HkStatus hk_force_work_fit(const HkModel *m, HkForceWork *work, HkError *error) {
  int64_t most = 0;
  hk_spring_rows_update(m, work->rows);
  HK_TRY(fit_states(m, work, error));
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    int64_t needed = type->scratch ? type->scratch(m, m->forces[f].data) : 0;
    if (needed > most) most = needed;
  }
  if (most <= work->scratch_size) return HK_OK;
  double *scratch = NULL;
  HK_TRY(hk_alloc(&m->context, &scratch, most, sizeof *scratch, "forces", error));
  hk_free(&m->context, &work->scratch);
  work->scratch = scratch;
  work->scratch_size = most;
  return HK_OK;
}

void hk_force_work_destroy(const HkModel *m, HkForceWork *work) {
  hk_free(&m->context, &work->sums);
  hk_free(&m->context, &work->scratch);
  for (int f = 0; f < work->state_count; f++) release_state(m, &work->states[f]);
  hk_free(&m->context, &work->states);
  work->state_count = 0;
  work->state_capacity = 0;
  hk_spring_rows_destroy(m, &work->rows);
  work->scratch_size = 0;
}

HkForceArgs hk_force_args(const HkModel *model, int index, const HkForceWork *work, double t,
                          const double *x, const double *v) {
  HK_ASSERT(index >= 0 && index < model->force_count && work->springs);
  const HkCompiledForce *force = &model->forces[index];
  void *state = index < work->state_count ? work->states[index].state : NULL;
  return (HkForceArgs){.model = model,
                       .params = force->method.params,
                       .data = force->data,
                       .state = state,
                       .t = t,
                       .x = x,
                       .v = v,
                       .curvature = HK_CURVATURE_TRUE,
                       .work = *work};
}

/* ---- Memory ---- */

/* The key of a force's memory. Its id, which no later force of the model has, keeps the memory of a
 * removed force from all others; ids count the forces in the order in which they were added, so
 * that another model of the same scene has the same ones. The name distinguishes forces where a
 * model with other forces reads a saved state. */
static uint64_t memory_key(const HkCompiledForce *force) {
  const char *name = force->type->schema.name;
  uint64_t key = hk_hash(HK_HASH_START, name, strlen(name));
  return hk_hash(key, &force->id, sizeof force->id);
}

HkForceMemory hk_force_memory_of(const HkState *state, const HkCompiledForce *force) {
  const HkForceMemory *memory = hk_state_memory(state, memory_key(force));
  return memory ? *memory : (HkForceMemory){0};
}

static HkStatus load(const HkForceType *type, const HkForceArgs *a, HkError *error) {
  return type->load ? type->load(a, error) : HK_OK;
}

HkStatus hk_forces_load(const HkModel *m, const HkForceWork *work, const HkState *state,
                        HkError *error) {
  for (int f = 0; f < m->force_count; f++) {
    if (!m->forces[f].type->remembers) continue;
    HkForceArgs a = hk_force_args(m, f, work, state->time, state->x, state->v);
    HkForceMemory memory = hk_force_memory_of(state, &m->forces[f]);
    a.memory = &memory;
    HK_TRY(load(m->forces[f].type, &a, error));
  }
  return HK_OK;
}

HkStatus hk_forces_prepare(const HkModel *m, const HkForceWork *work, HkState *state,
                           HkError *error) {
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, work, state->time, state->x, state->v);
    if (m->forces[f].type->prepare) HK_TRY(m->forces[f].type->prepare(&a, state, error));
  }
  return HK_OK;
}

static bool has_memory(const HkModel *m, uint64_t key) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->remembers && memory_key(&m->forces[f]) == key) return true;
  return false;
}

void hk_forces_drop_memory(const HkModel *m, HkState *state) {
  for (int k = state->memory_count - 1; k >= 0; k--)
    if (!has_memory(m, state->memory[k].key)) hk_state_remove_memory(state, k);
}

/* ---- Hooks ---- */

HkStatus hk_forces_begin_step(const HkModel *m, const HkForceWork *work, const HkState *state,
                              double h, HkError *error) {
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    HkForceArgs a = hk_force_args(m, f, work, state->time, state->x, state->v);
    HkForceMemory memory = {0};
    if (type->remembers) {
      memory = hk_force_memory_of(state, &m->forces[f]);
      a.memory = &memory;
      HK_TRY(load(type, &a, error));
    }
    if (type->begin_step) HK_TRY(type->begin_step(&a, h, error));
  }
  return HK_OK;
}

HkStatus hk_forces_end_step(const HkModel *m, const HkForceWork *work, HkState *state, double h,
                            HkError *error) {
  HkStatus worst = HK_OK;
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (!type->end_step) continue;
    HkForceArgs a = hk_force_args(m, f, work, state->time, state->x, state->v);
    if (type->remembers)
      HK_TRY(hk_state_need_memory(state, memory_key(&m->forces[f]), &a.memory, error));
    HkStatus status = type->end_step(&a, h, error);
    if (status < 0) return status;
    if (status == HK_NOT_CONVERGED) worst = status;
  }
  return worst;
}

HkStatus hk_forces_begin_iterate(const HkModel *m, const HkForceWork *work, double t,
                                 const double *x, HkError *error) {
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, work, t, x, NULL);
    if (m->forces[f].type->begin_iterate) HK_TRY(m->forces[f].type->begin_iterate(&a, error));
  }
  return HK_OK;
}

bool hk_forces_filter(const HkModel *m, const HkForceWork *work, double t, const double *x,
                      double *to) {
  bool changed = false;
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, work, t, x, NULL);
    if (m->forces[f].type->filter) changed |= m->forces[f].type->filter(&a, to);
  }
  return changed;
}

HkStatus hk_forces_correct(const HkModel *m, const HkForceWork *work, double t, HkStepEnd *end,
                           HkError *error) {
  HkStatus worst = HK_OK;
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, work, t, end->x, end->v);
    if (!m->forces[f].type->correct) continue;
    HkStatus status = m->forces[f].type->correct(&a, end, error);
    if (status < 0) return status;
    if (status == HK_NOT_CONVERGED) worst = status;
  }
  return worst;
}

void hk_forces_begin_stage(const HkModel *m, const HkForceWork *work, double t, const double *x) {
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, work, t, x, NULL);
    if (m->forces[f].type->begin_stage) m->forces[f].type->begin_stage(&a);
  }
}

double hk_forces_reach(const HkModel *m, const HkForceWork *work, double t, const double *x,
                       const double *to, HkError *why) {
  double least = 1;
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, work, t, x, NULL);
    HkError inner = {0};
    double part = m->forces[f].type->reach ? m->forces[f].type->reach(&a, to, &inner) : 1;
    if (!(part < least)) continue;
    least = part;
    *why = inner;
  }
  return least;
}

void hk_forces_advance(const HkModel *m, const HkForceWork *work, double t, const double *x,
                       double part) {
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, work, t, x, NULL);
    if (m->forces[f].type->advance) m->forces[f].type->advance(&a, part);
  }
}

void hk_forces_carry(const HkModel *m, const HkForceWork *work, double t, const double *x,
                     double *to) {
  for (int f = 0; f < m->force_count; f++) {
    HkForceArgs a = hk_force_args(m, f, work, t, x, NULL);
    if (m->forces[f].type->carry) m->forces[f].type->carry(&a, to);
  }
}

bool hk_forces_have_filter(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->filter) return true;
  return false;
}

HkStatus hk_forces_begin_query(const HkModel *m, const HkForceWork *work, const HkState *state,
                               double h, HkError *error) {
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (!type->begin_query) continue;
    HkForceArgs a = hk_force_args(m, f, work, state->time, state->x, state->v);
    HK_TRY(type->begin_query(&a, h, error));
  }
  return HK_OK;
}

bool hk_forces_have_contacts(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->contacts) return true;
  return false;
}

bool hk_forces_have_correction(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->correct) return true;
  return false;
}

bool hk_forces_change_springs(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->changed_springs) return true;
  return false;
}

bool hk_forces_lose(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type->lost) return true;
  return false;
}

bool hk_forces_have_hooks(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (type->filter || type->begin_step || type->end_step || type->begin_iterate ||
        type->remembers || type->changed_springs)
      return true;
  }
  return false;
}

/* ---- Sums ---- */

/* Adds the force to f, or sets f to it if it is the first one. */
static void add_force(const HkForceType *type, const HkForceArgs *a, bool *first, double *f) {
  if (!type->add) return;
  if (*first && type->set) {
    type->set(a, f);
  } else {
    if (*first) memset(f, 0, (size_t)a->model->n * 3 * sizeof *f);
    type->add(a, f);
  }
  *first = false;
}

void hk_forces_sum(const HkModel *model, const HkForceWork *work, double t, const double *x,
                   const double *v, double *f) {
  bool first = true;
  for (int k = 0; k < model->force_count; k++) {
    HkForceArgs a = hk_force_args(model, k, work, t, x, v);
    add_force(model->forces[k].type, &a, &first, f);
  }
  if (first) memset(f, 0, (size_t)model->n * 3 * sizeof *f);
}

bool hk_forces_have_rest(const HkModel *model) {
  for (int f = 0; f < model->force_count; f++)
    if (model->forces[f].type->add && !model->forces[f].type->has_rows &&
        !model->forces[f].type->accelerate)
      return true;
  return false;
}

bool hk_forces_rest(const HkModel *model, const HkForceWork *work, double t, const double *x,
                    const double *v, double *f, double g[3]) {
  bool first = true;
  for (int c = 0; c < 3; c++) g[c] = 0;
  for (int k = 0; k < model->force_count; k++) {
    const HkForceType *type = model->forces[k].type;
    HkForceArgs a = hk_force_args(model, k, work, t, x, v);
    if (type->has_rows) continue;
    if (type->accelerate)
      type->accelerate(&a, g);
    else
      add_force(type, &a, &first, f);
  }
  return !first;
}

void hk_forces_potential(const HkModel *model, const HkForceWork *work, double t, const double *x,
                         double *f, double g[3]) {
  bool first = true;
  for (int c = 0; c < 3; c++) g[c] = 0;
  for (int k = 0; k < model->force_count; k++) {
    const HkForceType *type = model->forces[k].type;
    HkForceArgs a = hk_force_args(model, k, work, t, x, NULL);
    if (type->energy && type->accelerate)
      type->accelerate(&a, g);
    else if (type->energy)
      add_force(type, &a, &first, f);
  }
  if (first) memset(f, 0, (size_t)model->n * 3 * sizeof *f);
}

double hk_forces_energy_change(const HkModel *model, const HkForceWork *work, double t,
                               const double *x, const double *to) {
  double sum = 0;
  for (int f = 0; f < model->force_count; f++) {
    const HkForceType *type = model->forces[f].type;
    HkForceArgs a = hk_force_args(model, f, work, t, x, NULL), b = a;
    b.x = to;
    if (type->energy_change)
      sum += type->energy_change(&a, to);
    else if (type->energy)
      sum += type->energy(&b) - type->energy(&a);
  }
  return sum;
}
