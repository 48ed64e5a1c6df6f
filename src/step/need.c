/* Lower bound of the memory of a simulation; see need.h.
 *
 * Most of it is arrays of known lengths, with a number of bytes for each vertex and each spring, as
 * the parts allocate them. Arrays whose size depends on the irregularity of a model count as for a
 * regular one. The factor L of a matrix, one row a vertex, has about
 *
 *     6 to 13 sqrt(w)      entries a vertex in solids (10^3 to 64 000 vertices: blocks, bars,
 * balls) 4.6 to 12 log2(w)    in surfaces (3600 to 250 000 vertices, 2 to 6 springs each)
 *
 * in the best orderings that CHOLMOD and METIS find, w being the vertices of a cut across the
 * model; a little less is counted here. The exact number is known, and checked, after the analysis
 * of the matrix, which takes minutes for a large one.
 */
#include "step/need.h"

#include "minimize/choose_methods.h"
#include "step/implicit.h"
#include "step/kick.h"

#include <stdio.h>

enum { VECTOR = 3 * sizeof(double), BLOCK = 9 * sizeof(double) };

/* ---- Parameters by name ---- */

static const void *find(const HkMethod *method, const char *name, HkParamKind kind) {
  const HkParam *p = method->schema ? hk_param_find(method->schema, name) : NULL;
  return p && p->kind == kind ? (const char *)method->params + p->offset : NULL;
}

/* Returns an integer parameter or the index of a choice; 0 if there is no such parameter. */
static int number_of(const HkMethod *method, const char *name, HkParamKind kind) {
  const int *value = find(method, name, kind);
  return value ? *value : 0;
}

/* ---- Factors ---- */

/* Estimates the entries of L, with one row a vertex. */
static double count_fill(const HkProportions *p) {
  if (p->width <= 1) return p->core;
  return p->core * (p->solid ? 4 * sqrt(p->width) : 4 * log2(p->width));
}

/* Bytes of the prefactor: in double precision, and also in single precision if it is packed. */
static double of_prefactor(const HkProportions *p, int precision) {
  double entry = sizeof(double) + (precision == HK_PRECISION_DOUBLE ? 0 : sizeof(float));
  return 2 * sizeof(int64_t) * p->n + entry * count_fill(p);
}

/* ---- Linear solvers ---- */

static double of_preconditioner(const HkProportions *p, const HkMethod *method) {
  const HkSchema *schema = method->schema;
  if (!schema) schema = hk_schema_find(HK_PRECONDITION, hk_family_default(HK_PRECONDITION));
  const HkPreconditionType *type = hk_precondition_type(schema);
  if (!type) return 0;
  double bytes = type->vertex_bytes * p->n + type->spring_bytes * p->springs;
  return type->uses_prefactor ? bytes + of_prefactor(p, HK_PRECISION_AUTO) : bytes;
}

/* Bytes of a direct solver: lower triangle and row indices, twice, and the factor. */
static double of_direct(const HkProportions *p) {
  double width = p->dimension == 2 ? 2 : 3, free = p->core;
  double entries = width * (width + 1) / 2 * p->n + width * width * p->springs;
  return 2 * VECTOR * free + 3 * sizeof(double) * entries +
         sizeof(double) * width * width * count_fill(p);
}

static double of_linear(const HkProportions *p, const HkMethod *given) {
  HkMethod picked = {0};
  if (!given->schema && hk_choose_linear_solver((int64_t)p->n, &picked, NULL) < 0) return 0;
  const HkMethod *method = given->schema ? given : &picked;
  const HkLinearType *type = hk_linear_type(method->schema);
  const HkMethod *preconditioner = find(method, "preconditioner", HK_PARAM_METHOD);
  double bytes = (type && type->direct ? 6 : 4) * VECTOR * p->n;
  if (preconditioner) bytes += VECTOR * p->n + of_preconditioner(p, preconditioner);
  if (type && type->needs_matrix(method->params))
    bytes += BLOCK * (p->n + 2 * p->springs);
  else
    bytes += 2 * 4 * sizeof(double) * p->springs; /* coefficients by rows */
  if (type && type->direct) bytes += of_direct(p);
  hk_method_clear(&picked);
  return bytes;
}

/* ---- Minimizers ---- */

static double of_minimizer(const HkProportions *p, const HkMethod *given) {
  HkMethod picked = {0};
  const char *usual = hk_family_default(HK_MINIMIZE);
  if (!given->schema && hk_method_choose(&picked, HK_MINIMIZE, usual, NULL) < 0) return 0;
  const HkMethod *method = given->schema ? given : &picked;
  const HkMinimizeType *type = hk_minimize_type(method->schema);
  const HkMethod *linear = find(method, "linear", HK_PARAM_METHOD);
  const int *factor = find(method, "factor", HK_PARAM_CHOICE);
  const int *memory = find(method, "memory", HK_PARAM_INTEGER);
  double vectors = type ? type->vectors : 0, bytes = 0;
  if (linear) bytes += of_linear(p, linear);
  if (factor) bytes += of_prefactor(p, number_of(method, "precision", HK_PARAM_CHOICE));
  if (memory) vectors += 2 * *memory + 2;
  if (number_of(method, "acceleration", HK_PARAM_CHOICE) == 1) /* anderson */
    vectors += 2 * number_of(method, "window", HK_PARAM_INTEGER) + 2;
  hk_method_clear(&picked);
  return bytes + vectors * VECTOR * p->n;
}

/* Bytes of the problem of a step: vectors, and the pattern of its matrix. */
static double of_problem(const HkProportions *p) {
  double vertex = 7 * VECTOR + 2 * sizeof(double) + 2 * sizeof(int64_t) + sizeof(int32_t);
  double spring = 2 * sizeof(int32_t);
  if (p->damped) {
    vertex += 2 * VECTOR + BLOCK;
    spring += 2 * BLOCK;
  }
  return vertex * p->n + spring * p->springs;
}

/* ---- All together ---- */

double hk_step_need(const HkProportions *p, const HkMethod *step) {
  const HkStepType *type = hk_step_type(step->schema);
  const HkMethod *minimizer = find(step, "minimizer", HK_PARAM_METHOD);
  const HkMethod *linear = find(step, "linear", HK_PARAM_METHOD);
  if (!type) return 0;
  double bytes = (type->vectors + 1) * VECTOR * p->n;
  if (type->implicit) bytes += of_problem(p);
  if (number_of(step, "precision", HK_PARAM_CHOICE) == HK_KICK_SINGLE)
    bytes += 7 * sizeof(float) * p->n;
  if (minimizer) bytes += of_minimizer(p, minimizer);
  if (linear) bytes += of_linear(p, linear);
  return bytes;
}

bool hk_step_factorizes(const HkProportions *p, const HkMethod *step) {
  HkProportions none = *p, all = *p;
  none.core = none.width = 0;
  all.core = all.width = p->n;
  return hk_step_need(&all, step) > hk_step_need(&none, step);
}

HkStatus hk_step_check(const HkContext *context, const HkProportions *p, const HkMethod *step,
                       double bytes, HkError *error) {
  char what[160];
  HkProportions thin = *p; /* the same with a negligible factor */
  thin.width = 0;
  bool factor = hk_step_need(p, step) > 1.5 * hk_step_need(&thin, step);
  snprintf(what, sizeof what, "%.0f vertices by %s", p->n,
           step->schema ? step->schema->name : "nothing");
  return hk_memory_check(context, bytes, what,
                         factor ? "most of it is a factorized matrix: choose \"newton\" with the "
                                  "linear solver \"pcg\", or ask for fewer vertices"
                                : "ask for fewer vertices, or for a method that takes less",
                         error);
}
