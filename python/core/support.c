/* Errors become exceptions, log lines go to Python's logging, paths become bytes. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Python functions that make exceptions and log; set once, when the package is imported. */
static struct { PyObject *make_error, *log; } listeners;

PyObject *core_configure(PyObject *module, PyObject *arguments) {
  PyObject *make_error, *log;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO", &make_error, &log)) return NULL;
  Py_INCREF(make_error);
  Py_INCREF(log);
  Py_XDECREF(listeners.make_error);
  Py_XDECREF(listeners.log);
  listeners.make_error = make_error;
  listeners.log = log;
  Py_RETURN_NONE;
}

/* Bytes of the library as str: file names need not be UTF-8. */
static PyObject *text_of(const char *text) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

PyObject *raise_error(const HkError *error) {
  if (PyErr_Occurred()) return NULL; /* what a callback has raised comes first */
  if (!listeners.make_error) {
    PyErr_SetString(PyExc_RuntimeError, error->text);
    return NULL;
  }
  PyObject *made =
      PyObject_CallFunction(listeners.make_error, "sNNii", hk_status_name(error->status),
                            text_of(error->text), text_of(error->file), error->line, error->column);
  if (made) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_XDECREF(made);
  return NULL;
}

bool has_raised(void) {
  return PyErr_Occurred() != NULL;
}

PyObject *none_or_raise(HkStatus status, const HkError *error) {
  if (status < 0 || PyErr_Occurred()) return raise_error(error);
  Py_INCREF(Py_None);
  return Py_None;
}

/* Called with and without the lock of the interpreter, from the thread that called the library. */
static void log_line(void *user, HkLogLevel level, const char *text) {
  (void)user;
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (listeners.log) {
    PyObject *result =
        PyObject_CallFunction(listeners.log, "iN", level == HK_LOG_WARNING, text_of(text));
    if (!result && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
      PyErr_Clear();
      PyErr_SetInterrupt(); /* again, where it ends the step: no exception can leave a log callback
                             */
    } else if (!result) {
      PyErr_WriteUnraisable(listeners.log);
    }
    Py_XDECREF(result);
  }
  PyErr_Restore(type, value, trace);
  PyGILState_Release(lock);
}

HkContext python_context(int threads, HkDeviceKind device) {
  HkContext context = hk_context_default();
  context.log = log_line;
  context.threads = threads;
  context.device = device;
  return context;
}

double wall_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Set while an exception may be pending: the lock of the interpreter costs more than a look. */
static _Thread_local bool may_have_raised;

void note_exception(void) {
  may_have_raised = true;
}

PyObject *call_target(PyObject *target, const char *method, const char *format, va_list list) {
  if (PyErr_Occurred() || !target) return NULL;
  PyObject *arguments = Py_VaBuildValue(format, list);
  PyObject *function = arguments ? PyObject_GetAttrString(target, method) : NULL;
  PyObject *result = function ? PyObject_CallObject(function, arguments) : NULL;
  Py_XDECREF(function);
  Py_XDECREF(arguments);
  if (!result) note_exception();
  return result;
}

HkStatus status_of_call(const char *whose, HkError *error) {
  if (!PyErr_Occurred()) return HK_OK;
  if (error) {
    *error = (HkError){.status = HK_ERROR_CANCELLED};
    snprintf(error->text, sizeof error->text, "a function of %s has raised an exception", whose);
  }
  return HK_ERROR_CANCELLED;
}

bool cancel_on_signal(void *user) {
  static const double INTERVAL = 0.1; /* s: the lock of the interpreter costs more than a look */
  static _Thread_local double last;
  (void)user;
  double now = wall_time();
  if (now - last < INTERVAL && !may_have_raised) return false;
  last = now;
  PyGILState_STATE lock = PyGILState_Ensure();
  bool raised = PyErr_Occurred() ? may_have_raised : PyErr_CheckSignals() < 0;
  may_have_raised = may_have_raised && raised;
  PyGILState_Release(lock);
  return raised;
}

int to_path(PyObject *value, void *bytes) {
  if (value == Py_None) {
    *(PyObject **)bytes = NULL;
    return 1;
  }
  return PyUnicode_FSConverter(value, bytes) ? 1 : 0;
}

const char *path_text(PyObject *bytes) {
  return bytes ? PyBytes_AsString(bytes) : NULL;
}

int to_address(PyObject *value, void *pointer) {
  void *address = PyLong_AsVoidPtr(value);
  memcpy(pointer, &address, sizeof address);
  return !PyErr_Occurred();
}

const char **texts_of(PyObject *tuple, PyObject **kept) {
  Py_ssize_t count = PyTuple_Size(tuple);
  const char **texts = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *texts);
  *kept = texts ? PyTuple_New(count) : NULL;
  for (Py_ssize_t q = 0; *kept && q < count; q++) {
    PyObject *bytes = PyUnicode_AsUTF8String(PyTuple_GetItem(tuple, q));
    if (bytes) texts[q] = PyBytes_AsString(bytes);
    if (!bytes || PyTuple_SetItem(*kept, q, bytes) < 0) Py_CLEAR(*kept);
  }
  if (*kept) return texts;
  free(texts);
  if (!PyErr_Occurred()) PyErr_NoMemory();
  return NULL;
}

PyObject *array_pair(const void *array, int64_t count) {
  return Py_BuildValue("NL", PyLong_FromVoidPtr((void *)array), array ? (long long)count : 0LL);
}

PyObject *take_text(char *text) {
  PyObject *result = text_of(text);
  hk_text_destroy(&text);
  return result;
}
