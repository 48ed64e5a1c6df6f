/* Batches: worlds of one model. Model, state and simulation of a world are handles that belong to
 * the batch. */
#include "core.h"

/* batch_create(model, count, text of the integrator or None, h) */
static PyObject *batch_create(PyObject *module, PyObject *arguments) {
  Handle *model;
  const char *text;
  Py_ssize_t size;
  long long count;
  double h;
  HkMethod step = {0};
  HkBatch *batch = NULL;
  HkError error;
  HkStatus status = HK_OK;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&Lz#d", to_model, &model, &count, &text, &size, &h))
    return NULL;
  if (!handle_share(model)) return NULL;
  if (text) status = hk_method_parse(&step, HK_STEP, text, (size_t)size, NULL, &error);
  Py_BEGIN_ALLOW_THREADS;
  if (status >= 0)
    status = hk_batch_create(model->object, count, text ? &step : NULL, h, &batch, &error);
  Py_END_ALLOW_THREADS;
  handle_release(model);
  hk_method_clear(&step);
  if (status < 0) return raise_error(&error);
  hk_batch_set_cancel(batch, cancel_on_signal, NULL);
  return handle_new(KIND_BATCH, batch, (PyObject *)model, false);
}

/* batch_world(batch, number) -> (model, state, simulation) of a world that exists */
static PyObject *batch_world(PyObject *module, PyObject *arguments) {
  Handle *batch;
  long long w;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&L", to_batch, &batch, &w)) return NULL;
  PyObject *owner = (PyObject *)batch;
  return Py_BuildValue("NNN", handle_new(KIND_MODEL, hk_batch_model(batch->object, w), owner, true),
                       handle_new(KIND_STATE, hk_batch_state(batch->object, w), owner, true),
                       handle_new(KIND_SIM, hk_batch_sim(batch->object, w), owner, true));
}

/* batch_arrays(batch) -> (address of x, address of v, doubles from one world to the next) */
static PyObject *batch_arrays(PyObject *module, PyObject *value) {
  Handle *batch = handle_of(value, KIND_BATCH);
  int64_t stride;
  double *x, *v;
  (void)module;
  if (!batch || !handle_claim(batch)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  x = hk_batch_x(batch->object, &stride);
  v = hk_batch_v(batch->object, &stride);
  Py_END_ALLOW_THREADS;
  handle_release(batch);
  return Py_BuildValue("NNL", PyLong_FromVoidPtr(x), PyLong_FromVoidPtr(v), (long long)stride);
}

/* batch_steps(batch, count): moves all worlds; errors of worlds are in batch_world_info */
static PyObject *batch_steps(PyObject *module, PyObject *arguments) {
  Handle *batch;
  long long count;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&L", to_batch, &batch, &count)) return NULL;
  if (!handle_claim(batch)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_batch_steps(batch->object, count, &error);
  Py_END_ALLOW_THREADS;
  handle_release(batch);
  bool refused = count < 0 || status == HK_ERROR_CANCELLED;
  return refused || has_raised() ? raise_error(&error) : Py_BuildValue("");
}

/* batch_world_info(batch, world) -> (name of the status, text of its error, steps, how the last
 * step was solved: fields of sim_step_info) */
static PyObject *batch_world_info(PyObject *module, PyObject *arguments) {
  Handle *batch;
  long long w;
  HkWorldInfo info;
  HkError error = {0};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&L", to_batch, &batch, &w)) return NULL;
  if (!handle_claim(batch)) return NULL;
  hk_batch_world_info(batch->object, w, &info, &error);
  handle_release(batch);
  const HkStepInfo *s = &info.last;
  return Py_BuildValue("ssL(iiiiiidds)", hk_status_name(info.status), error.text,
                       (long long)info.steps, s->substeps, s->rejected, s->iterations,
                       s->linear_iterations, s->evaluations, s->projections, s->gradient,
                       s->residual, hk_stop_name(s->reason));
}

_Static_assert(sizeof(HkStateInfo) == 16 * sizeof(double), "Python reads it as 16 numbers");

/* batch_state_info(batch, to: address), into 16 numbers a world in the order of HkStateInfo */
static PyObject *batch_state_info(PyObject *module, PyObject *arguments) {
  Handle *batch;
  HkStateInfo *to;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_batch, &batch, to_address, &to)) return NULL;
  if (!handle_claim(batch)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  hk_batch_state_info(batch->object, to);
  Py_END_ALLOW_THREADS;
  handle_release(batch);
  return has_raised() ? NULL : Py_BuildValue("");
}

/* batch_probe(batch, vertices: address, count, x: address, v: address) */
static PyObject *batch_probe(PyObject *module, PyObject *arguments) {
  Handle *batch;
  const int32_t *vertices;
  long long count;
  double *x, *v;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&LO&O&", to_batch, &batch, to_address, &vertices, &count,
                        to_address, &x, to_address, &v))
    return NULL;
  if (!handle_claim(batch)) return NULL;
  HkStatus status = hk_batch_probe(batch->object, vertices, count, x, v, &error);
  handle_release(batch);
  return none_or_raise(status, &error);
}

/* batch_read_device(batch, kind, array or None) -> array, a new one for None */
static PyObject *batch_read_device(PyObject *module, PyObject *arguments) {
  Handle *batch, *old = NULL;
  PyObject *given;
  int kind;
  HkDeviceArray *array = NULL;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&iO", to_batch, &batch, &kind, &given)) return NULL;
  if (given != Py_None && !(old = handle_of(given, KIND_ARRAY))) return NULL;
  if (!handle_claim(batch)) return NULL;
  if (old) array = old->object;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_batch_read_device(batch->object, (HkArrayKind)kind, &array, &error);
  Py_END_ALLOW_THREADS;
  handle_release(batch);
  if (status < 0) return raise_error(&error);
  if (!old) return handle_new(KIND_ARRAY, array, NULL, false);
  Py_INCREF(given);
  return given;
}

/* batch_write_device(batch, kind, address on the device) */
static PyObject *batch_write_device(PyObject *module, PyObject *arguments) {
  Handle *batch;
  int kind;
  const void *data;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&iO&", to_batch, &batch, &kind, to_address, &data))
    return NULL;
  if (!handle_claim(batch)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_batch_write_device(batch->object, (HkArrayKind)kind, data, &error);
  Py_END_ALLOW_THREADS;
  handle_release(batch);
  return none_or_raise(status, &error);
}

/* batch_bytes(batch) */
static PyObject *batch_bytes(PyObject *module, PyObject *value) {
  Handle *batch = handle_of(value, KIND_BATCH);
  (void)module;
  return batch ? PyLong_FromSize_t(hk_batch_bytes(batch->object)) : NULL;
}

/* batch_device(batch) -> number of the device that moves its worlds */
static PyObject *batch_device(PyObject *module, PyObject *value) {
  Handle *batch = handle_of(value, KIND_BATCH);
  (void)module;
  return batch ? PyLong_FromLong(hk_batch_device(batch->object)) : NULL;
}

PyMethodDef batch_methods[] = {
    {"batch_device", batch_device, METH_O, NULL},
    {"batch_create", batch_create, METH_VARARGS, NULL},
    {"batch_world", batch_world, METH_VARARGS, NULL},
    {"batch_arrays", batch_arrays, METH_O, NULL},
    {"batch_steps", batch_steps, METH_VARARGS, NULL},
    {"batch_world_info", batch_world_info, METH_VARARGS, NULL},
    {"batch_state_info", batch_state_info, METH_VARARGS, NULL},
    {"batch_probe", batch_probe, METH_VARARGS, NULL},
    {"batch_read_device", batch_read_device, METH_VARARGS, NULL},
    {"batch_write_device", batch_write_device, METH_VARARGS, NULL},
    {"batch_bytes", batch_bytes, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
