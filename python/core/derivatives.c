/* Derivatives of a model (HkDerivatives) as Python sees them: copies of arrays, and the numbers of
 * forces and motions by name. */
#include "core.h"

#include <math.h>
#include <string.h>

/* ---- Arrays ---- */

int to_derivative_arrays(PyObject *value, void *arrays) {
  DerivativeArrays *a = arrays;
  return PyArg_ParseTuple(value, "O&O&O&O&O&O&O&", to_address, &a->x, to_address, &a->v, to_address,
                          &a->mass, to_address, &a->k, to_address, &a->l0, to_address, &a->damping,
                          to_address, &a->places);
}

enum { ARRAYS = 7 };

/* An array of the library beside that of Python. */
typedef struct Pair {
  double *library, *python;
  int64_t count;
} Pair;

static void pair_arrays(HkDerivatives *d, const HkModel *model, const DerivativeArrays *p,
                        Pair pairs[ARRAYS]) {
  HkDerivativeArrays a = hk_derivatives_arrays(d);
  int64_t n = hk_model_info(model).vertices, springs = hk_model_springs(model).count, pins = 0;
  hk_model_pins(model, &pins);
  const Pair all[ARRAYS] = {{a.x, p->x, 3 * n},
                            {a.v, p->v, 3 * n},
                            {a.mass, p->mass, n},
                            {a.k, p->k, springs},
                            {a.l0, p->l0, springs},
                            {a.damping, p->damping, springs},
                            {a.places, p->places, 3 * pins}};
  memcpy(pairs, all, sizeof all);
}

void derivatives_read(HkDerivatives *d, const HkModel *model, const DerivativeArrays *to) {
  Pair pairs[ARRAYS];
  pair_arrays(d, model, to, pairs);
  for (int q = 0; q < ARRAYS; q++)
    if (pairs[q].python && pairs[q].count)
      memcpy(pairs[q].python, pairs[q].library, (size_t)pairs[q].count * sizeof(double));
}

void derivatives_write(HkDerivatives *d, const HkModel *model, const DerivativeArrays *from) {
  Pair pairs[ARRAYS];
  pair_arrays(d, model, from, pairs);
  for (int q = 0; q < ARRAYS; q++)
    if (pairs[q].python && pairs[q].count)
      memcpy(pairs[q].library, pairs[q].python, (size_t)pairs[q].count * sizeof(double));
}

/* ---- Numbers of methods ---- */

/* The numbers of a parameter. */
typedef struct Numbers {
  double *values; /* NULL: the parameter has none */
  int axes;       /* of their shape: 0 a number, 1 a vector, 2 a table */
  int shape[2];
} Numbers;

static Numbers numbers_of(const HkMethod *method, const HkParam *p) {
  void *at = (char *)method->params + p->offset;
  switch (p->kind) {
  case HK_PARAM_NUMBER: return (Numbers){at, 0, {1, 1}};
  case HK_PARAM_VECTOR: return (Numbers){at, 1, {3, 1}};
  case HK_PARAM_TABLE: {
    const HkTable *table = at;
    return (Numbers){table->rows ? table->values : NULL, 2, {table->rows, p->columns}};
  }
  default: return (Numbers){0};
  }
}

static Py_ssize_t count_of(const Numbers *n) {
  return (Py_ssize_t)n->shape[0] * n->shape[1];
}

/* Whether any of the numbers is one. */
static bool is_known(const Numbers *n) {
  for (Py_ssize_t q = 0; n->values && q < count_of(n); q++)
    if (!isnan(n->values[q])) return true;
  return false;
}

static PyObject *bytes_of(const double *values, Py_ssize_t count) {
  return PyByteArray_FromStringAndSize((const char *)values, count * (Py_ssize_t)sizeof *values);
}

/* (shape, bytearray) */
static PyObject *describe_numbers(const Numbers *n) {
  PyObject *bytes = bytes_of(n->values, count_of(n));
  if (n->axes == 0) return Py_BuildValue("()N", bytes);
  if (n->axes == 1) return Py_BuildValue("(i)N", n->shape[0], bytes);
  return Py_BuildValue("(ii)N", n->shape[0], n->shape[1], bytes);
}

/* {name: (shape, bytearray)} of what is differentiable, and given in the method of the model, which
 * may be NULL. */
static PyObject *describe_method(const HkMethod *derivative, const HkMethod *given) {
  PyObject *dict = PyDict_New();
  int count = derivative && derivative->schema ? derivative->schema->param_count : 0;
  for (int k = 0; dict && k < count; k++) {
    const HkParam *p = &derivative->schema->params[k];
    Numbers numbers = numbers_of(derivative, p);
    Numbers value = given && given->schema ? numbers_of(given, p) : numbers;
    if (!is_known(&numbers) || !is_known(&value)) continue;
    PyObject *entry = describe_numbers(&numbers);
    if (!entry || PyDict_SetItemString(dict, p->name, entry) < 0) Py_CLEAR(dict);
    Py_XDECREF(entry);
  }
  return dict;
}

static PyObject *describe_force(const HkDerivatives *d, const HkModel *model, int f) {
  const double *array = hk_derivatives_force_array(d, f);
  if (array) return bytes_of(array, 3 * (Py_ssize_t)hk_model_info(model).vertices);
  return describe_method(hk_derivatives_force(d, f), hk_model_force(model, f));
}

/* Appends a new reference to a list, which is released after an exception. */
static void append(PyObject **list, PyObject *entry) {
  if (!entry || PyList_Append(*list, entry) < 0) Py_CLEAR(*list);
  Py_XDECREF(entry);
}

PyObject *derivatives_describe(const HkDerivatives *d, const HkModel *model) {
  PyObject *forces = PyList_New(0), *motions = PyList_New(0);
  const HkMethod *motion;
  for (int f = 0; forces && f < hk_model_force_count(model); f++)
    append(&forces, describe_force(d, model, f));
  for (int k = 0; motions && (motion = hk_derivatives_motion(d, k)); k++)
    append(&motions, describe_method(motion, NULL));
  if (forces && motions) return Py_BuildValue("NN", forces, motions);
  Py_XDECREF(forces);
  Py_XDECREF(motions);
  return NULL;
}

/* ---- Directions ---- */

/* What is not differentiable stays NAN. */
static void set_numbers(double *to, const double *from, int64_t count) {
  for (int64_t q = 0; q < count; q++)
    if (!isnan(to[q])) to[q] = from[q];
}

static const HkParam *find_parameter(const HkSchema *schema, const char *name) {
  for (int k = 0; k < schema->param_count; k++)
    if (strcmp(schema->params[k].name, name) == 0) return &schema->params[k];
  return NULL;
}

/* An entry of derivatives_set_methods. Python has checked it; what does not exist raises. */
static bool set_entry(HkDerivatives *d, const HkModel *model, bool is_force, PyObject *entry) {
  int index;
  const char *name;
  const double *from;
  if (!PyArg_ParseTuple(entry, "izO&", &index, &name, to_address, &from)) return false;
  double *array = is_force && !name ? hk_derivatives_force_array(d, index) : NULL;
  if (array) {
    set_numbers(array, from, 3 * hk_model_info(model).vertices);
    return true;
  }
  const HkMethod *method =
      is_force ? hk_derivatives_force(d, index) : hk_derivatives_motion(d, index);
  const HkParam *p = name && method && method->schema ? find_parameter(method->schema, name) : NULL;
  Numbers numbers = p ? numbers_of(method, p) : (Numbers){0};
  if (numbers.values) {
    set_numbers(numbers.values, from, count_of(&numbers));
    return true;
  }
  PyErr_Format(PyExc_ValueError, "%s %d of the model has no numbers '%s'",
               is_force ? "force" : "the motion of pin", index, name ? name : "array");
  return false;
}

static bool set_entries(HkDerivatives *d, const HkModel *model, bool is_force, PyObject *entries) {
  for (Py_ssize_t q = 0; q < PyTuple_Size(entries); q++)
    if (!set_entry(d, model, is_force, PyTuple_GetItem(entries, q))) return false;
  return true;
}

bool derivatives_set_methods(HkDerivatives *d, const HkModel *model, PyObject *forces,
                             PyObject *motions) {
  return set_entries(d, model, true, forces) && set_entries(d, model, false, motions);
}
