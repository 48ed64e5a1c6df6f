/* The numbers of `hooke fit`; see fit_numbers.h. */
#include "fit_numbers.h"

#include "command.h"
#include "text.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Bounds where none are given, as factors of the start. */
static const double RANGE = 1000;
static const double RANGE_OF_LENGTHS = 2;
static const double DIFFERENCE = 1e-5; /* of central differences, relative to the size */

static const char *const spring_names[FIT_SPRINGS] = {"springs.k", "springs.l0", "springs.damping"};
static const char *const spring_units[FIT_SPRINGS] = {"N/m", "m", "N s/m"};

/* ---- Paths ----------------------------------------------------------------------------------- */

/* A path such as bodies[0].springs.k in its words. */
typedef struct Path {
  char list[32], index[64], part[64], field[64];
  int component; /* of [0] behind the last word; -1: all */
} Path;

static int no_such(const char *name, const char *why) {
  return complain(
      EXIT_USAGE,
      "--parameters %s: %s; give springs.k, springs.l0, springs.damping, or a number of "
      "the scene such as bodies[0].springs.k, forces[0].g, pins[0].motion.amplitude",
      name, why);
}

/* Reads "list[index].part.field[component]", in which part and component may be missing. */
static bool read_path(const char *name, Path *path) {
  int used = 0;
  *path = (Path){.component = -1};
  if (sscanf(name, "%31[a-z][%63[^]]].%n", path->list, path->index, &used) < 2 || used == 0)
    return false;
  const char *rest = name + used, *dot = strchr(rest, '.'), *bracket = strchr(rest, '[');
  const char *field = dot ? dot + 1 : rest;
  size_t length = bracket ? (size_t)(bracket - field) : strlen(field);
  if (dot && (bracket ? dot > bracket : false)) return false;
  if (dot && (size_t)(dot - rest) >= sizeof path->part) return false;
  if (length == 0 || length >= sizeof path->field) return false;
  if (dot) snprintf(path->part, sizeof path->part, "%.*s", (int)(dot - rest), rest);
  snprintf(path->field, sizeof path->field, "%.*s", (int)length, field);
  if (!bracket) return true;
  bool digit = bracket[1] >= '0' && bracket[1] <= '2' && strcmp(bracket + 2, "]") == 0;
  path->component = bracket[1] - '0';
  return digit;
}

/* The struct that a path leads into, with its schema. */
typedef struct Struct {
  const HkSchema *schema;
  char *base;
} Struct;

static Struct of_body(HkBody *body, const Path *path) {
  const struct {
    const char *part;
    void *base;
  } parts[] = {{"body", body},
               {"springs", &body->springs},
               {"mass", &body->mass},
               {"transform", &body->transform}};
  const char *part = path->part[0] ? path->part : "body";
  for (size_t q = 0; q < sizeof parts / sizeof parts[0]; q++)
    if (strcmp(part, parts[q].part) == 0)
      return (Struct){hk_schema_find(HK_PART, part), parts[q].base};
  return (Struct){NULL, NULL};
}

static Struct of_method(HkMethod *method) {
  return (Struct){method->schema, method->params};
}

static Struct find_struct(HkScene *scene, FitOwner owner, int index, const Path *path) {
  bool is_motion = strcmp(path->part, "motion") == 0;
  switch (owner) {
  case FIT_BODY: return of_body(&scene->bodies[index], path);
  case FIT_FORCE: return path->part[0] ? (Struct){NULL, NULL} : of_method(&scene->forces[index]);
  case FIT_MOTION: return is_motion ? of_method(&scene->pins[index].motion) : (Struct){NULL, NULL};
  }
  return (Struct){NULL, NULL};
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* What an entry of a list is called, besides its number. */
static const char *name_of(const HkScene *scene, FitOwner owner, int index) {
  if (owner == FIT_BODY) return scene->bodies[index].name;
  return owner == FIT_FORCE && scene->forces[index].schema ? scene->forces[index].schema->name
                                                           : NULL;
}

static bool is_meant(const HkScene *scene, const Path *path, FitOwner owner, int index) {
  char number[16];
  const char *name = name_of(scene, owner, index);
  snprintf(number, sizeof number, "%d", index);
  if (owner == FIT_BODY && strcmp(path->index, "*") == 0) return true;
  return strcmp(path->index, number) == 0 || (name && strcmp(path->index, name) == 0);
}

static const HkParam *find_param(const HkSchema *schema, const char *field) {
  for (int q = 0; schema && q < schema->param_count; q++)
    if (strcmp(schema->params[q].name, field) == 0) return &schema->params[q];
  return NULL;
}

static int no_field(const char *name, const HkSchema *schema, const char *field) {
  enum { MOST = 32 };
  const char *known[MOST];
  int count = 0;
  for (int q = 0; q < schema->param_count && count < MOST; q++)
    if (schema->params[q].kind == HK_PARAM_NUMBER || schema->params[q].kind == HK_PARAM_VECTOR)
      known[count++] = schema->params[q].name;
  const char *near = hk_text_nearest(field, known, count);
  return complain(EXIT_USAGE, "--parameters %s: '%s' has no number '%s'%s%s%s", name, schema->name,
                  field, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Appends a place of the scene to a name. */
static int add_place(FitNumbers *numbers, FitName *name, const Path *path, FitOwner owner,
                     int index) {
  Struct in = find_struct(numbers->scene, owner, index, path);
  if (!in.schema) return no_such(name->text, "there is no such part of the scene");
  const HkParam *param = find_param(in.schema, path->field);
  bool vector = param && param->kind == HK_PARAM_VECTOR;
  if (!param || (!vector && param->kind != HK_PARAM_NUMBER))
    return no_field(name->text, in.schema, path->field);
  if (path->component >= 0 && !vector) return no_such(name->text, "it is no vector");
  size_t offset =
      param->offset + (path->component > 0 ? (size_t)path->component : 0) * sizeof(double);
  void *value = in.base + offset;
  FitPlace place = {owner, index, offset, value};
  FitPlace *grown = realloc(name->places, ((size_t)name->place_count + 1) * sizeof *grown);
  if (!grown) return complain(EXIT_MEMORY, "no memory for the parameters");
  name->places = grown;
  name->places[name->place_count++] = place;
  name->components = vector && path->component < 0 ? 3 : 1;
  name->unit = param->unit;
  for (int c = 0; c < name->components; c++)
    if (!isfinite(place.value[c]))
      return complain(EXIT_INPUT,
                      "--parameters %s: the scene has no value to begin with; set one in the scene "
                      "or with --set",
                      name->text);
  if (!name->bounded && !vector && param->min > -1e100) name->min = param->min;
  if (!name->bounded && !vector && param->max < 1e100) name->max = param->max;
  return EXIT_GOOD;
}

static int add_places(FitNumbers *numbers, FitName *name) {
  const HkScene *scene = numbers->scene;
  static const struct {
    const char *list;
    FitOwner owner;
  } lists[] = {{"bodies", FIT_BODY}, {"forces", FIT_FORCE}, {"pins", FIT_MOTION}};
  const int counts[] = {scene->body_count, scene->force_count, scene->pin_count};
  Path path;
  if (!read_path(name->text, &path)) return no_such(name->text, "is no path to a number");
  for (size_t q = 0; q < sizeof lists / sizeof lists[0]; q++) {
    if (strcmp(path.list, lists[q].list) != 0) continue;
    for (int k = 0; k < counts[q]; k++) {
      if (!is_meant(scene, &path, lists[q].owner, k)) continue;
      int code = add_place(numbers, name, &path, lists[q].owner, k);
      if (code != EXIT_GOOD) return code;
    }
  }
  if (name->place_count == 0) return no_such(name->text, "there is no such place in the scene");
  numbers->compiles = true;
  return EXIT_GOOD;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static int read_bounds(FitNumbers *numbers, const char *text) {
  const char *equals = strrchr(text, '=');
  double min, max;
  char more;
  if (!equals || sscanf(equals + 1, "%lf,%lf%c", &min, &max, &more) != 2 || !(min < max))
    return complain(EXIT_USAGE, "--bounds %s: give NAME=MIN,MAX, such as springs.k=10,1000", text);
  for (int q = 0; q < numbers->name_count; q++) {
    FitName *name = &numbers->names[q];
    if (strlen(name->text) != (size_t)(equals - text) ||
        strncmp(name->text, text, (size_t)(equals - text)) != 0)
      continue;
    name->min = min;
    name->max = max;
    name->bounded = true;
    return EXIT_GOOD;
  }
  return complain(EXIT_USAGE, "--bounds %s: no word of --parameters has this name", text);
}

/* The bounds and the size of a number; `size`: of the largest component. */
static int set_range(FitNumbers *numbers, const FitName *name, int64_t k, double size) {
  double p = numbers->start[k], min = name->min, max = name->max;
  double range = name->springs == FIT_L0 ? RANGE_OF_LENGTHS : RANGE;
  bool positive = p > 0 && (name->springs >= 0 || min >= 0); /* it cannot be negative */
  if (!name->bounded && positive) min = fmax(isnan(min) ? 0 : min, p / range);
  if (!name->bounded && positive) max = fmin(isnan(max) ? INFINITY : max, p * range);
  if (isnan(min)) min = -INFINITY;
  if (isnan(max)) max = INFINITY;
  if (!(p >= min && p <= max))
    return complain(EXIT_INPUT,
                    "--bounds %s=%g,%g: the scene begins with %g, which is not between them",
                    name->text, min, max, p);
  numbers->min[k] = min;
  numbers->max[k] = max;
  numbers->size[k] = min > 0 ? 0 : size > 0 ? size : 1;
  return EXIT_GOOD;
}

static int set_ranges(FitNumbers *numbers) {
  for (int q = 0; q < numbers->name_count; q++) {
    const FitName *name = &numbers->names[q];
    double size = 0;
    for (int64_t k = name->first; k < name->first + name->count; k++)
      size = fmax(size, fabs(numbers->start[k]));
    for (int64_t k = name->first; k < name->first + name->count; k++) {
      int code = set_range(numbers, name, k, size);
      if (code != EXIT_GOOD) return code;
    }
  }
  return EXIT_GOOD;
}

/* ---- Parsing --------------------------------------------------------------------------------- */

static int add_name(FitNumbers *numbers, const char *word, size_t length) {
  FitName *grown = realloc(numbers->names, ((size_t)numbers->name_count + 1) * sizeof *grown);
  if (!grown) return complain(EXIT_MEMORY, "no memory for the parameters");
  numbers->names = grown;
  FitName *name = &grown[numbers->name_count];
  *name = (FitName){.springs = -1, .weight = 1, .min = NAN, .max = NAN, .unit = ""};
  if (length == 0 || length >= sizeof name->text)
    return complain(EXIT_USAGE, "--parameters: give names with commas between them");
  snprintf(name->text, sizeof name->text, "%.*s", (int)length, word);
  for (int q = 0; q < numbers->name_count; q++)
    if (strcmp(numbers->names[q].text, name->text) == 0)
      return complain(EXIT_USAGE, "--parameters: %s is given twice", name->text);
  numbers->name_count++;
  for (int s = 0; s < FIT_SPRINGS; s++)
    if (strcmp(name->text, spring_names[s]) == 0) {
      name->springs = s;
      name->unit = spring_units[s];
    }
  return EXIT_GOOD;
}

static int add_names(FitNumbers *numbers, const char *parameters) {
  for (const char *at = parameters;; at++) {
    size_t length = strcspn(at, ",");
    int code = add_name(numbers, at, length);
    if (code != EXIT_GOOD) return code;
    at += length;
    if (!*at) return EXIT_GOOD;
  }
}

static const double *model_springs(const HkSpringView *view, int s) {
  return s == FIT_K ? view->k : s == FIT_L0 ? view->l0 : view->damping;
}

static int look_at_springs(FitNumbers *numbers, FitName *name, const HkModel *model) {
  HkSpringView view = hk_model_springs(model);
  const HkScene *scene = numbers->scene;
  const double *values = model_springs(&view, name->springs);
  name->count = view.count;
  if (view.count == 0) return complain(EXIT_INPUT, "the scene has no springs to fit");
  if (!values)
    return complain(
        EXIT_INPUT,
        "--parameters springs.damping: no spring is damped; give them a damping above 0 "
        "to begin with");
  for (int b = 0; b < scene->body_count; b++)
    if (scene->bodies[b].repair.weld >= 0 || scene->bodies[b].repair.unused)
      return complain(EXIT_INPUT,
                      "--parameters %s: body %d welds or drops vertices, so that springs cannot be "
                      "written by the numbers of its mesh; save the mended mesh first",
                      name->text, b);
  for (int64_t s = 0; s < view.count; s++)
    if (!(values[s] > 0))
      return complain(EXIT_INPUT,
                      "--parameters %s: spring %lld begins with %g; all must be above 0",
                      name->text, (long long)s, values[s]);
  return EXIT_GOOD;
}

static bool allocate(FitNumbers *numbers, int64_t springs) {
  double **arrays[] = {&numbers->p, &numbers->start, &numbers->min, &numbers->max, &numbers->size};
  bool good = true;
  for (int q = 0; q < 5; q++) {
    *arrays[q] = calloc((size_t)numbers->count, sizeof **arrays[q]);
    good = good && *arrays[q];
  }
  for (int q = 0; q < numbers->name_count && good; q++) {
    int s = numbers->names[q].springs;
    if (s < 0) continue;
    numbers->springs[s] = calloc((size_t)springs, sizeof *numbers->springs[s]);
    good = numbers->springs[s] != NULL;
  }
  return good;
}

static void read_start(FitNumbers *numbers, const HkModel *model) {
  HkSpringView view = hk_model_springs(model);
  for (int q = 0; q < numbers->name_count; q++) {
    const FitName *name = &numbers->names[q];
    const double *values =
        name->springs >= 0 ? model_springs(&view, name->springs) : name->places[0].value;
    memcpy(numbers->start + name->first, values, (size_t)name->count * sizeof *values);
    if (name->springs >= 0)
      memcpy(numbers->springs[name->springs], values, (size_t)name->count * sizeof *values);
  }
  memcpy(numbers->p, numbers->start, (size_t)numbers->count * sizeof *numbers->p);
}

int fit_numbers_parse(FitNumbers *numbers, HkScene *scene, const HkModel *model,
                      const char *parameters, const TextList *bounds) {
  *numbers = (FitNumbers){.scene = scene};
  int code = add_names(numbers, parameters);
  for (int q = 0; q < bounds->count && code == EXIT_GOOD; q++)
    code = read_bounds(numbers, bounds->texts[q]);
  for (int q = 0; q < numbers->name_count && code == EXIT_GOOD; q++) {
    FitName *name = &numbers->names[q];
    code = name->springs >= 0 ? look_at_springs(numbers, name, model) : add_places(numbers, name);
    if (name->springs < 0) name->count = name->components;
    name->first = numbers->count;
    numbers->count += name->count;
  }
  if (code != EXIT_GOOD) return code;
  if (!allocate(numbers, hk_model_springs(model).count))
    return complain(EXIT_MEMORY, "no memory for the parameters");
  read_start(numbers, model);
  return set_ranges(numbers);
}

void fit_numbers_release(FitNumbers *numbers) {
  double *const arrays[] = {numbers->p, numbers->start, numbers->min, numbers->max, numbers->size};
  for (int q = 0; q < numbers->name_count; q++) free(numbers->names[q].places);
  free(numbers->names);
  for (int q = 0; q < 5; q++) free(arrays[q]);
  for (int s = 0; s < FIT_SPRINGS; s++) free(numbers->springs[s]);
  *numbers = (FitNumbers){.scene = numbers->scene};
}

/* ---- Values ---------------------------------------------------------------------------------- */

void fit_numbers_balance(FitNumbers *numbers, const double *gradient) {
  const double WEIGHT_MIN = 1e-4;
  double least = INFINITY;
  for (int f = 0; f < 2 * numbers->name_count; f++) { /* the least of all, then the weights */
    FitName *name = &numbers->names[f % numbers->name_count];
    double sum = 0;
    for (int64_t k = name->first; k < name->first + name->count; k++)
      sum += gradient[k] * gradient[k];
    double size = sqrt(sum / (double)name->count);
    if (f < numbers->name_count && size > 0) least = fmin(least, size);
    if (f >= numbers->name_count && size > 0) name->weight = fmax(least / size, WEIGHT_MIN);
  }
}

/* p, or its logarithm, by which it is fitted. */
static double value_of(const FitNumbers *numbers, const FitName *name, int64_t k, double p) {
  double size = numbers->size[k];
  return (size > 0 ? p / size : log(p)) / name->weight;
}

void fit_numbers_begin(const FitNumbers *numbers, double *q, double *min, double *max) {
  for (int f = 0; f < numbers->name_count; f++) {
    const FitName *name = &numbers->names[f];
    for (int64_t k = name->first; k < name->first + name->count; k++) {
      min[k] = value_of(numbers, name, k, numbers->min[k]);
      max[k] = value_of(numbers, name, k, numbers->max[k]);
      q[k] = fmin(fmax(value_of(numbers, name, k, numbers->p[k]), min[k]), max[k]);
    }
  }
}

static void put(const FitName *name, int64_t k, double value) {
  for (int at = 0; at < name->place_count; at++) name->places[at].value[k - name->first] = value;
}

void fit_numbers_set(FitNumbers *numbers, const double *q) {
  for (int f = 0; f < numbers->name_count; f++) {
    const FitName *name = &numbers->names[f];
    for (int64_t k = name->first; k < name->first + name->count; k++) {
      double size = numbers->size[k], part = name->weight * q[k];
      double p = size > 0 ? size * part : exp(part);
      numbers->p[k] = fmin(fmax(p, numbers->min[k]), numbers->max[k]);
      if (name->springs >= 0)
        numbers->springs[name->springs][k - name->first] = numbers->p[k];
      else
        put(name, k, numbers->p[k]);
    }
  }
}

/* ---- Gradients ------------------------------------------------------------------------------- */

/* The numbers of a model that bodies decide. */
typedef struct Arrays {
  HkModel *model;
  HkState *state;
} Arrays;

static HkStatus compile(const FitNumbers *numbers, Arrays *a, HkError *error) {
  HkStatus status = hk_model_compile(numbers->scene, &a->model, error);
  return status < 0 ? status : hk_state_create(a->model, &a->state, error);
}

static void release(Arrays *a) {
  hk_state_destroy(&a->state);
  hk_model_destroy(&a->model);
}

static double contract(const double *by, const double *more, const double *less, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; k++)
    if (by[k] != 0) sum += by[k] * (more[k] - less[k]);
  return sum;
}

/* dL/da (a of `more` - a of `less`), over all arrays a that are not fitted by themselves. */
static double change_of_loss(const FitNumbers *numbers, HkDerivatives *by, const Arrays *more,
                             const Arrays *less) {
  HkDerivativeArrays d = hk_derivatives_arrays(by);
  HkSpringView up = hk_model_springs(more->model), down = hk_model_springs(less->model);
  int64_t n = hk_state_vertex_count(more->state), pins;
  const double *x = hk_state_positions(more->state), *x_less = hk_state_positions(less->state);
  const int32_t *pin = hk_model_pins(more->model, &pins);
  const double *const arrays[] = {d.k, d.l0, d.damping};
  double sum = contract(d.x, x, x_less, 3 * n);
  sum += contract(d.v, hk_state_velocities(more->state), hk_state_velocities(less->state), 3 * n);
  sum += contract(d.mass, hk_model_masses(more->model), hk_model_masses(less->model), n);
  for (int64_t p = 0; p < pins; p++)
    sum += contract(d.places + 3 * p, x + 3 * (int64_t)pin[p], x_less + 3 * (int64_t)pin[p], 3);
  for (int s = 0; s < FIT_SPRINGS; s++) {
    const double *values = model_springs(&up, s), *values_less = model_springs(&down, s);
    if (!numbers->springs[s] && values && values_less)
      sum += contract(arrays[s], values, values_less, up.count);
  }
  return sum;
}

/* dL/dp of a number of bodies. */
static HkStatus difference(const FitNumbers *numbers, const FitName *name, int64_t k,
                           HkDerivatives *by, double *slope, HkError *error) {
  double p = numbers->p[k], size = numbers->size[k] > 0 ? numbers->size[k] : p;
  double up = p + DIFFERENCE * size, down = p - DIFFERENCE * size;
  Arrays more = {NULL, NULL}, less = {NULL, NULL};
  put(name, k, up);
  HkStatus status = compile(numbers, &more, error);
  put(name, k, down);
  if (status >= 0) status = compile(numbers, &less, error);
  put(name, k, p);
  if (status >= 0) *slope = change_of_loss(numbers, by, &more, &less) / (up - down);
  release(&more);
  release(&less);
  return status;
}

static double at_place(const FitPlace *place, int64_t component, HkDerivatives *by) {
  const HkMethod *method = place->owner == FIT_FORCE
                               ? hk_derivatives_force(by, place->index + 1) /* 0: the springs */
                               : hk_derivatives_motion(by, place->index);
  if (!method || !method->params) return NAN;
  const void *at = (const char *)method->params + place->offset;
  return ((const double *)at)[component];
}

static HkStatus slope_of(const FitNumbers *numbers, const FitName *name, int64_t k,
                         HkDerivatives *by, double *slope, HkError *error) {
  int64_t component = k - name->first;
  HkDerivativeArrays d = hk_derivatives_arrays(by);
  const double *const arrays[] = {d.k, d.l0, d.damping};
  if (name->springs >= 0)
    *slope = arrays[name->springs][component];
  else if (name->places[0].owner == FIT_BODY)
    return difference(numbers, name, k, by, slope, error);
  else
    *slope = at_place(&name->places[0], component, by);
  if (isnan(*slope))
    return text_fail(error, HK_ERROR_UNSUPPORTED,
                     "%s: motions have no derivative by it (docs/gradients.md lists what they have "
                     "one by)",
                     name->text);
  return HK_OK;
}

HkStatus fit_numbers_gradient(const FitNumbers *numbers, HkDerivatives *by, double *gradient,
                              HkError *error) {
  for (int f = 0; f < numbers->name_count; f++) {
    const FitName *name = &numbers->names[f];
    for (int64_t k = name->first; k < name->first + name->count; k++) {
      double slope = 0, size = numbers->size[k];
      HkStatus status = slope_of(numbers, name, k, by, &slope, error);
      if (status < 0) return status;
      gradient[k] = name->weight * slope * (size > 0 ? size : numbers->p[k]);
    }
  }
  return HK_OK;
}
