/* Ways to solve an implicit step; see candidates.h. */
#include "candidates.h"

#include "command.h"
#include "describe.h"
#include "text.h"

#include <math.h>
#include <string.h>

/* The linear solvers that are compared by default; the others are compared on request. */
static const char *const usual_linear[] = {
    "cholesky", "ldlt", "pcg+block_jacobi", "pcg+ic0", "pcg+prefactored", "pcg+multigrid"};

enum { USUAL_LINEAR = sizeof usual_linear / sizeof usual_linear[0] };

static const double USUAL_STEP = 1.0 / 30; /* s */

/* Returns the parameter that holds a method of a family, or NULL. */
static const HkParam *find_nested(const HkSchema *schema, HkFamily family) {
  for (int q = 0; schema && q < schema->param_count; q++)
    if (schema->params[q].kind == HK_PARAM_METHOD && schema->params[q].family == family)
      return &schema->params[q];
  return NULL;
}

static const HkParam *find_acceleration(const HkSchema *schema) {
  for (int q = 0; q < schema->param_count; q++)
    if (schema->params[q].kind == HK_PARAM_CHOICE &&
        strcmp(schema->params[q].name, "acceleration") == 0)
      return &schema->params[q];
  return NULL;
}

/* ---- All candidates
 * --------------------------------------------------------------------------- */

static Candidate *append(Candidates *all, const HkSchema *minimizer, bool usual) {
  if (all->count == MAX_CANDIDATES) all->count--; /* further candidates overwrite the last one */
  Candidate *c = &all->list[all->count++];
  *c = (Candidate){.minimizer = minimizer, .usual = usual};
  snprintf(c->name, sizeof c->name, "%s", minimizer->name);
  return c;
}

static bool is_usual(const char *name) {
  for (int q = 0; q < USUAL_LINEAR; q++)
    if (strcmp(usual_linear[q], name) == 0) return true;
  return false;
}

/* Appends a minimizer with a linear solver; name: of the solver, with its preconditioner. */
static void append_linear(Candidates *all, const HkSchema *minimizer, const HkSchema *linear,
                          const HkSchema *preconditioner) {
  char name[64];
  snprintf(name, sizeof name, "%s%s%s", linear->name, preconditioner ? "+" : "",
           preconditioner ? preconditioner->name : "");
  Candidate *c = append(all, minimizer, is_usual(name));
  c->linear = linear;
  c->preconditioner = preconditioner;
  snprintf(c->name, sizeof c->name, "%s+%s", minimizer->name, name);
}

static void append_solvers(Candidates *all, const HkSchema *minimizer) {
  const HkSchema *linear, *preconditioner;
  for (int q = 0; (linear = hk_schema_at(HK_LINEAR, q)); q++) {
    if (linear->needs_ranks) continue;
    if (!find_nested(linear, HK_PRECONDITION)) append_linear(all, minimizer, linear, NULL);
    for (int p = 0; find_nested(linear, HK_PRECONDITION) &&
                    (preconditioner = hk_schema_at(HK_PRECONDITION, p));
         p++)
      if (!preconditioner->needs_ranks) append_linear(all, minimizer, linear, preconditioner);
  }
}

static void collect(Candidates *all) {
  const HkSchema *minimizer;
  all->count = 0;
  for (int q = 0; (minimizer = hk_schema_at(HK_MINIMIZE, q)); q++) {
    const HkParam *acceleration = find_acceleration(minimizer);
    char word[32];
    if (find_nested(minimizer, HK_LINEAR)) {
      append_solvers(all, minimizer);
      continue;
    }
    if (!acceleration) append(all, minimizer, true);
    for (int k = 0; acceleration && text_choice(acceleration->choices, k, word, sizeof word); k++) {
      Candidate *c = append(all, minimizer, true);
      snprintf(c->acceleration, sizeof c->acceleration, "%s", word);
      snprintf(c->name, sizeof c->name, "%s+%s", minimizer->name, word);
    }
  }
}

/* Returns whether a word is the name of a candidate, or its first parts. */
static bool means(const char *word, size_t length, const char *name) {
  return strncmp(word, name, length) == 0 && (name[length] == 0 || name[length] == '+');
}

/* ---- Selection ------------------------------------------------------------------------------- */

static int unknown(const Candidates *all, const char *word, size_t length) {
  const char *names[MAX_CANDIDATES + 16];
  char given[96];
  int count = 0;
  const HkSchema *minimizer;
  snprintf(given, sizeof given, "%.*s", (int)length, word);
  for (; count < all->count; count++) names[count] = all->list[count].name;
  for (int q = 0; q < 15 && (minimizer = hk_schema_at(HK_MINIMIZE, q)); q++)
    names[count++] = minimizer->name;
  names[count++] = "all";
  const char *near = hk_text_nearest(given, names, count);
  if (near)
    return complain(EXIT_USAGE, "--methods: there is no '%s'; did you mean '%s'?", given, near);
  return complain(
      EXIT_USAGE,
      "--methods: there is no '%s'; 'hooke methods' lists minimizers, linear solvers and "
      "preconditioners, joined here as in newton+pcg+ic0",
      given);
}

/* Marks the candidates that a list of words selects. */
static int mark(const Candidates *all, const char *methods, bool *wanted) {
  for (const char *word = methods; *word;) {
    size_t length = strcspn(word, ",");
    bool whole = length == 3 && strncmp(word, "all", 3) == 0, any = whole;
    for (int q = 0; q < all->count; q++)
      if (whole || (length > 0 && means(word, length, all->list[q].name))) any = wanted[q] = true;
    if (!any && length > 0) return unknown(all, word, length);
    word += length;
    word += *word == ',';
  }
  return 0;
}

int candidates_choose(Candidates *all, const char *methods) {
  bool wanted[MAX_CANDIDATES] = {false};
  int kept = 0;
  collect(all);
  for (int q = 0; q < all->count && !methods; q++) wanted[q] = all->list[q].usual;
  int code = methods ? mark(all, methods, wanted) : 0;
  if (code) return code;
  for (int q = 0; q < all->count; q++)
    if (wanted[q]) all->list[kept++] = all->list[q];
  all->count = kept;
  return kept ? 0 : complain(EXIT_USAGE, "--methods: give one method or more, or 'all'");
}

double candidate_step(const HkScene *scene) {
  const HkTime *time = &scene->time;
  double frame = 1 / time->frames_per_second,
         step = time->step > 0 ? time->step : time->default_step;
  if (!describe_is_implicit(scene->step.schema)) return USUAL_STEP;
  return step > 0 ? frame / fmax(1, ceil(frame / step - 0.02)) : frame;
}

/* ---- As a method ----------------------------------------------------------------------------- */

static HkStatus fill(const Candidate *c, int iterations, double tolerance, HkMethod *step,
                     HkError *error) {
  HkStatus status = hk_method_choose(step, HK_STEP, "backward_euler", error);
  if (status < 0) return status;
  HkMethod *m = hk_method_set_method(step, "minimizer", c->minimizer->name, error);
  if (!m) return error->status;
  if (iterations > 0) status = hk_method_set_number(m, "iterations", iterations, error);
  if (iterations > 0 && status >= 0)
    status = hk_method_set_number(m, "tolerance", tolerance, error);
  if (status >= 0 && c->acceleration[0])
    status = hk_method_set_text(m, "acceleration", c->acceleration, error);
  if (status < 0 || !c->linear) return status;
  HkMethod *linear =
      hk_method_set_method(m, find_nested(c->minimizer, HK_LINEAR)->name, c->linear->name, error);
  if (!linear) return error->status;
  if (!c->preconditioner) return HK_OK;
  const HkParam *inner = find_nested(c->linear, HK_PRECONDITION);
  return hk_method_set_method(linear, inner->name, c->preconditioner->name, error) ? HK_OK
                                                                                   : error->status;
}

HkStatus candidate_method(const Candidate *c, int iterations, double tolerance, HkMethod *step,
                          HkError *error) {
  HkStatus status = fill(c, iterations, tolerance, step, error);
  if (status < 0) hk_method_clear(step);
  return status;
}
