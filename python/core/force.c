/* Forces of the caller: functions of Python, and arrays that are read in each step.
 *
 * The library owns a PythonForce with functions by its destroy callback. The handle of the model
 * lists them, so that the garbage collector sees what their functions refer to, such as the
 * simulation itself. An array is the library's own kind of force (hk_model_add_force_array), which
 * can be differentiated and has no such callback: the handle of the model owns its PythonForce.
 *
 * An exception of a function stays the pending exception of the thread that steps. From then on no
 * function is called, cancel_on_signal ends the minimizer and end_step the step; whoever called the
 * library then raises the exception (has_raised).
 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Calling Python ---- */

/* Calls a method of the target with arguments as of Py_BuildValue. NULL after an exception, also
 * after an earlier one. The caller holds the lock. */
static PyObject *call(const PythonForce *force, const char *method, const char *format, ...) {
  va_list list;
  va_start(list, format);
  PyObject *result = call_target(force->target, method, format, list);
  va_end(list);
  return result;
}

/* The status of a callback: an exception ends the step. */
static HkStatus finish(PyObject *result, HkError *error) {
  Py_XDECREF(result);
  return status_of_call("a force", error);
}

/* ---- The functions that the library calls ---- */

static double energy(void *user, const HkForceAt *at) {
  double E = 0;
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *result = call(user, "_energy", "(dO&)", at->t, AS_INT(at->x));
  if (result) E = PyFloat_AsDouble(result);
  Py_XDECREF(result);
  PyGILState_Release(lock);
  return E;
}

static void add(void *user, const HkForceAt *at, double *f) {
  PyGILState_STATE lock = PyGILState_Ensure();
  Py_XDECREF(call(user, "_add", "(dO&O&O&)", at->t, AS_INT(at->x), AS_INT(at->v), AS_INT(f)));
  PyGILState_Release(lock);
}

static void hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  PyGILState_STATE lock = PyGILState_Ensure();
  Py_XDECREF(
      call(user, "_hessian", "(dO&iO&)", at->t, AS_INT(at->x), (int)at->projected, AS_INT(sink)));
  PyGILState_Release(lock);
}

static void damping(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  PyGILState_STATE lock = PyGILState_Ensure();
  Py_XDECREF(
      call(user, "_damping", "(dO&O&O&)", at->t, AS_INT(at->x), AS_INT(at->v), AS_INT(sink)));
  PyGILState_Release(lock);
}

static HkStatus begin_step(void *user, const HkForceAt *at, double h, HkError *error) {
  PyGILState_STATE lock = PyGILState_Ensure();
  HkStatus status =
      finish(call(user, "_begin_step", "(dO&O&d)", at->t, AS_INT(at->x), AS_INT(at->v), h), error);
  PyGILState_Release(lock);
  return status;
}

/* Every force with functions has it: it is where exceptions of functions without a status end an
 * explicit step. */
static HkStatus end_step(void *user, const HkForceAt *at, double h, HkError *error) {
  const PythonForce *force = user;
  PyObject *result = NULL;
  PyGILState_STATE lock = PyGILState_Ensure();
  if (force->has_end_step)
    result = call(force, "_end_step", "(dO&O&d)", at->t, AS_INT(at->x), AS_INT(at->v), h);
  HkStatus status = finish(result, error);
  PyGILState_Release(lock);
  return status;
}

static HkStatus begin_iterate(void *user, const HkForceAt *at, HkError *error) {
  PyGILState_STATE lock = PyGILState_Ensure();
  HkStatus status = finish(call(user, "_begin_iterate", "(dO&)", at->t, AS_INT(at->x)), error);
  PyGILState_Release(lock);
  return status;
}

static bool filter(void *user, const HkForceAt *at, double *to) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *result = call(user, "_filter", "(dO&O&)", at->t, AS_INT(at->x), AS_INT(to));
  bool changed = result == Py_True;
  Py_XDECREF(result);
  PyGILState_Release(lock);
  return changed;
}

/* An exception leaves nothing to be saved; the caller of the step restores the state. */
static size_t save(void *user, const HkForceAt *at, void *bytes, size_t capacity) {
  char *data = NULL;
  Py_ssize_t length = 0;
  (void)at;
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *result = call(user, "_save", "()");
  if (result && PyBytes_AsStringAndSize(result, &data, &length) < 0) length = 0;
  if (length > 0 && (size_t)length <= capacity) memcpy(bytes, data, (size_t)length);
  Py_XDECREF(result);
  PyGILState_Release(lock);
  return (size_t)length;
}

static HkStatus load(void *user, const HkForceAt *at, const void *bytes, size_t size,
                     HkError *error) {
  (void)at;
  PyGILState_STATE lock = PyGILState_Ensure();
  HkStatus status =
      finish(call(user, "_load", "(y#)", size > 0 ? bytes : "", (Py_ssize_t)size), error);
  PyGILState_Release(lock);
  return status;
}

/* Takes the force at a link of a list out of the list and releases it. */
static void drop_at(PythonForce **link) {
  PythonForce *force = *link;
  PyObject *target = force->target;
  *link = force->next;
  free(force);
  Py_XDECREF(target);
}

/* Takes a force out of the list of its model and releases it. */
static void drop(const PythonForce *force) {
  PythonForce **link = &force->model->forces;
  while (*link && *link != force) link = &(*link)->next;
  if (*link) drop_at(link);
}

static void destroy(void *user) {
  PyGILState_STATE lock = PyGILState_Ensure();
  drop(user);
  PyGILState_Release(lock);
}

/* ---- Adding forces to a model ---- */

/* Whether a name is in a tuple of names; -1 after an exception. */
static int is_given(PyObject *names, const char *name) {
  PyObject *text = PyUnicode_FromString(name);
  int found = text ? PySequence_Contains(names, text) : -1;
  Py_XDECREF(text);
  return found;
}

static HkForceFunctions functions_of(PythonForce *force, PyObject *names) {
  HkForceFunctions f = hk_force_functions_default();
  force->has_end_step = is_given(names, "end_step") > 0;
  f.add = add;
  f.end_step = end_step;
  f.destroy = destroy;
  if (is_given(names, "energy") > 0) f.energy = energy;
  if (is_given(names, "hessian") > 0) f.hessian = hessian;
  if (is_given(names, "damping") > 0) f.damping = damping;
  if (is_given(names, "filter") > 0) f.filter = filter;
  if (is_given(names, "begin_step") > 0) f.begin_step = begin_step;
  if (is_given(names, "begin_iterate") > 0) f.begin_iterate = begin_iterate;
  if (is_given(names, "save") > 0) f.save = save;
  if (is_given(names, "load") > 0) f.load = load;
  return f;
}

/* A force in the list of its model; NULL after an exception. */
static PythonForce *create_force(Handle *model, PyObject *target) {
  PythonForce *force = calloc(1, sizeof *force);
  if (!force) {
    PyErr_NoMemory();
    return NULL;
  }
  Py_INCREF(target);
  force->target = target;
  force->model = model;
  force->next = model->forces;
  model->forces = force;
  return force;
}

/* Hands the force to the library, which destroys it after an error, too. -> its number */
static PyObject *give_force(Handle *model, PythonForce *force, const HkForceFunctions *functions) {
  int index = 0;
  HkError error;
  if (hk_model_add_custom_force(model->object, functions, force, &index, &error) < 0)
    return raise_error(&error);
  force->schema = hk_model_force(model->object, index)->schema;
  return PyLong_FromLong(index);
}

/* Adds the array of a force to the model. -> its number */
static PyObject *give_array(Handle *model, PythonForce *force, const double *array) {
  int index = 0;
  HkError error;
  force->array = array;
  if (hk_model_add_force_array(model->object, array, &index, &error) < 0) {
    drop(force);
    return raise_error(&error);
  }
  force->schema = hk_model_force(model->object, index)->schema;
  return PyLong_FromLong(index);
}

/* The model of a run is part of what is resumed from files; those of a batch are used by threads
 * that Python does not know. */
static bool claim_own_model(Handle *model) {
  if (!model->borrowed) return handle_claim(model);
  HkError error = {.status = HK_ERROR_UNSUPPORTED};
  bool is_world = ((const Handle *)model->owner)->kind == KIND_BATCH;
  snprintf(error.text, sizeof error.text, "%s",
           is_world
               ? "a world of a batch cannot have forces of Python, since several threads would "
                 "call them at once; use a Sim"
               : "a run cannot have forces of Python, since it is resumed from files; use a "
                 "Sim");
  raise_error(&error);
  return false;
}

/* force_add(model, target, name, names of the functions, uses_velocity) -> its number. The target
 * has a method for each name, such as _energy(t, x), with addresses in place of arrays. */
static PyObject *force_add(PyObject *module, PyObject *arguments) {
  Handle *model;
  PyObject *target, *names, *result = NULL;
  const char *name;
  int uses_velocity;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&OsOp", to_model, &model, &target, &name, &names,
                        &uses_velocity))
    return NULL;
  if (!claim_own_model(model)) return NULL;
  PythonForce *force = create_force(model, target);
  if (force) {
    HkForceFunctions functions = functions_of(force, names);
    functions.name = name;
    functions.uses_velocity = uses_velocity;
    result = give_force(model, force, &functions);
  }
  handle_release(model);
  return result;
}

/* force_add_array(model, target, address) -> its number; the target keeps the array alive */
static PyObject *force_add_array(PyObject *module, PyObject *arguments) {
  Handle *model;
  PyObject *target, *result = NULL;
  const double *array;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&OO&", to_model, &model, &target, to_address, &array))
    return NULL;
  if (!claim_own_model(model)) return NULL;
  PythonForce *force = create_force(model, target);
  if (force) result = give_array(model, force, array);
  handle_release(model);
  return result;
}

/* force_add_blocks(sink, i, j, blocks, count): addresses; of use while the library asks for blocks
 */
static PyObject *force_add_blocks(PyObject *module, PyObject *arguments) {
  HkForceBlockSink *sink;
  const int32_t *i, *j;
  const double *blocks;
  Py_ssize_t count;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&O&O&n", to_address, &sink, to_address, &i, to_address, &j,
                        to_address, &blocks, &count))
    return NULL;
  for (Py_ssize_t b = 0; b < count; b++) hk_force_add_block(sink, i[b], j[b], blocks + 9 * b);
  Py_RETURN_NONE;
}

/* ---- What a model has ---- */

PyObject *force_target(const Handle *model, const HkMethod *method) {
  for (const PythonForce *f = model->forces; f; f = f->next)
    if (f->schema == method->schema) return f->target;
  return NULL;
}

static bool is_in_model(const Handle *model, const PythonForce *force) {
  for (int q = 0; model->object && q < hk_model_force_count(model->object); q++)
    if (hk_model_force(model->object, q)->schema == force->schema) return true;
  return false;
}

/* The list may change while a target is released, so the search starts again from its head. */
void forces_release_arrays(Handle *model) {
  PythonForce **link = &model->forces;
  while (*link) {
    bool stays = !(*link)->array || is_in_model(model, *link);
    if (!stays) drop_at(link);
    link = stays ? &(*link)->next : &model->forces;
  }
}

bool forces_call_python(const Handle *model) {
  for (const PythonForce *f = model->forces; f; f = f->next)
    if (!f->array) return true;
  return false;
}

PyMethodDef force_methods[] = {
    {"force_add", force_add, METH_VARARGS, NULL},
    {"force_add_array", force_add_array, METH_VARARGS, NULL},
    {"force_add_blocks", force_add_blocks, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
