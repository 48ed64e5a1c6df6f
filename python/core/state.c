/* States: their arrays, bytes, files and pins. */
#include "core.h"

static PyObject *state_or_raise(HkStatus status, HkState *state, const HkError *error) {
  return status < 0 ? raise_error(error) : handle_new(KIND_STATE, state, NULL, false);
}

/* state_create(model) */
static PyObject *state_create(PyObject *module, PyObject *value) {
  Handle *model = handle_of(value, KIND_MODEL);
  HkState *state = NULL;
  HkError error;
  (void)module;
  if (!model) return NULL;
  HkStatus status = hk_state_create(model->object, &state, &error);
  PyObject *handle = state_or_raise(status, state, &error);
  return handle_with_ranks(handle, model->ranks);
}

/* state_arrays(state) -> (address of x, address of v, count) */
static PyObject *state_arrays(PyObject *module, PyObject *value) {
  Handle *state = handle_of(value, KIND_STATE);
  (void)module;
  if (!state) return NULL;
  return Py_BuildValue("NNL", PyLong_FromVoidPtr(hk_state_x(state->object)),
                       PyLong_FromVoidPtr(hk_state_v(state->object)),
                       (long long)hk_state_vertex_count(state->object));
}

/* state_copy(from, to) */
static PyObject *state_copy(PyObject *module, PyObject *arguments) {
  Handle *from, *to;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_state, &from, to_state, &to)) return NULL;
  if (from == to) Py_RETURN_NONE;
  if (!handle_claim(from)) return NULL;
  HkStatus status = HK_OK;
  bool mine = handle_claim(to);
  if (mine) {
    status = hk_state_copy(from->object, to->object, &error);
    handle_release(to);
  }
  handle_release(from);
  return mine ? none_or_raise(status, &error) : NULL;
}

/* state_time(state) -> s */
static PyObject *state_time(PyObject *module, PyObject *value) {
  Handle *state = handle_of(value, KIND_STATE);
  (void)module;
  return state ? PyFloat_FromDouble(hk_state_time(state->object)) : NULL;
}

/* state_set_time(state, s) */
static PyObject *state_set_time(PyObject *module, PyObject *arguments) {
  Handle *state;
  double time;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&d", to_state, &state, &time)) return NULL;
  if (!handle_claim(state)) return NULL;
  hk_state_set_time(state->object, time);
  handle_release(state);
  Py_RETURN_NONE;
}

/* state_pack(state) -> bytes */
static PyObject *state_pack(PyObject *module, PyObject *value) {
  Handle *state = handle_of(value, KIND_STATE);
  (void)module;
  if (!state || !handle_claim(state)) return NULL;
  PyObject *bytes =
      PyBytes_FromStringAndSize(NULL, (Py_ssize_t)hk_state_packed_size(state->object));
  if (bytes) hk_state_pack(state->object, PyBytes_AsString(bytes));
  handle_release(state);
  return bytes;
}

/* state_unpack(bytes) -> state */
static PyObject *state_unpack(PyObject *module, PyObject *value) {
  HkState *state = NULL;
  HkError error;
  char *bytes;
  Py_ssize_t size;
  (void)module;
  if (PyBytes_AsStringAndSize(value, &bytes, &size) < 0) return NULL;
  HkContext context = python_context(0, HK_CPU);
  HkStatus status = hk_state_from_bytes(&context, bytes, (size_t)size, &state, &error);
  return state_or_raise(status, state, &error);
}

/* state_file(state, path, write: bool) */
static PyObject *state_file(PyObject *module, PyObject *arguments) {
  Handle *state;
  PyObject *path;
  int write;
  HkError error;
  HkStatus status = HK_OK;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&p", to_state, &state, to_path, &path, &write)) return NULL;
  const char *name = path_text(path);
  bool mine = handle_claim(state);
  if (mine) {
    Py_BEGIN_ALLOW_THREADS;
    status = write ? hk_state_save(state->object, name, &error)
                   : hk_state_load(state->object, name, &error);
    Py_END_ALLOW_THREADS;
    handle_release(state);
  }
  Py_XDECREF(path);
  return mine ? none_or_raise(status, &error) : NULL;
}

/* state_pin(state, model, vertex, hold: bool) */
static PyObject *state_pin(PyObject *module, PyObject *arguments) {
  Handle *state, *model;
  int vertex, hold;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&ip", to_state, &state, to_model, &model, &vertex, &hold))
    return NULL;
  if (!handle_claim(state)) return NULL;
  HkStatus status = hold ? hk_state_hold_pin(state->object, model->object, vertex, &error)
                         : hk_state_release_pin(state->object, model->object, vertex, &error);
  handle_release(state);
  return none_or_raise(status, &error);
}

/* state_springs(state, model) -> {name: (address, count)}, valid until they are set again; count 0
 * where there is none */
static PyObject *state_springs(PyObject *module, PyObject *arguments) {
  Handle *state, *model;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_state, &state, to_model, &model)) return NULL;
  HkSpringView s = hk_state_springs(state->object, model->object);
  return Py_BuildValue("{sN sN sN sN}", "k", array_pair(s.k, s.count), "l0",
                       array_pair(s.l0, s.count), "damping", array_pair(s.damping, s.count),
                       "broken", array_pair(s.broken, s.count));
}

/* state_set_springs(state, model, k, l0, damping, broken): addresses, 0 for what stays */
static PyObject *state_set_springs(PyObject *module, PyObject *arguments) {
  Handle *state, *model;
  const double *k, *l0, *damping;
  const uint8_t *broken;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&", to_state, &state, to_model, &model, to_address,
                        &k, to_address, &l0, to_address, &damping, to_address, &broken))
    return NULL;
  if (!handle_claim(state)) return NULL;
  HkStatus status =
      hk_state_set_springs(state->object, model->object, k, l0, damping, broken, &error);
  handle_release(state);
  return none_or_raise(status, &error);
}

/* state_reset_springs(state) */
static PyObject *state_reset_springs(PyObject *module, PyObject *value) {
  Handle *state = handle_of(value, KIND_STATE);
  (void)module;
  if (!state || !handle_claim(state)) return NULL;
  hk_state_reset_springs(state->object);
  handle_release(state);
  Py_RETURN_NONE;
}

/* state_nearest(state, point) -> (vertex, distance) */
static PyObject *state_nearest(PyObject *module, PyObject *arguments) {
  Handle *state;
  double point[3], distance = 0;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&(ddd)", to_state, &state, &point[0], &point[1], &point[2]))
    return NULL;
  int32_t vertex = hk_state_nearest(state->object, point, &distance);
  return Py_BuildValue("id", (int)vertex, distance);
}

/* state_nearest_to_ray(state, origin, direction, radius) -> (vertex, along) */
static PyObject *state_nearest_to_ray(PyObject *module, PyObject *arguments) {
  Handle *state;
  double o[3], d[3], radius, along = 0;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&(ddd)(ddd)d", to_state, &state, &o[0], &o[1], &o[2], &d[0],
                        &d[1], &d[2], &radius))
    return NULL;
  int32_t vertex = hk_state_nearest_to_ray(state->object, o, d, radius, &along);
  return Py_BuildValue("id", (int)vertex, along);
}

PyMethodDef state_methods[] = {
    {"state_create", state_create, METH_O, NULL},
    {"state_arrays", state_arrays, METH_O, NULL},
    {"state_copy", state_copy, METH_VARARGS, NULL},
    {"state_time", state_time, METH_O, NULL},
    {"state_set_time", state_set_time, METH_VARARGS, NULL},
    {"state_pack", state_pack, METH_O, NULL},
    {"state_unpack", state_unpack, METH_O, NULL},
    {"state_file", state_file, METH_VARARGS, NULL},
    {"state_pin", state_pin, METH_VARARGS, NULL},
    {"state_springs", state_springs, METH_VARARGS, NULL},
    {"state_set_springs", state_set_springs, METH_VARARGS, NULL},
    {"state_reset_springs", state_reset_springs, METH_O, NULL},
    {"state_nearest", state_nearest, METH_VARARGS, NULL},
    {"state_nearest_to_ray", state_nearest_to_ray, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
