/* Ranks: processes that simulate one model together, and the part of a model that one holds.
 *
 * What is made with ranks keeps their handle, so that they are closed after it, in whatever order
 * Python drops the handles. At the end of the interpreter those that are still open are closed
 * first, while MPI is there; objects that are released later are not destroyed any more.
 */
#include "core.h"

#include <stdlib.h>

/* Handles of ranks that are open. */
static Handle *open_ranks;

void ranks_forget(Handle *ranks) {
  Handle **place = &open_ranks;
  while (*place && *place != ranks) place = &(*place)->next;
  if (*place) *place = ranks->next;
}

/* ranks_open(address of an MPI_Comm or 0, options: tuple of str) */
static PyObject *ranks_open(PyObject *module, PyObject *arguments) {
  const void *communicator;
  PyObject *options, *kept = NULL;
  HkRanks *ranks = NULL;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O!", to_address, &communicator, &PyTuple_Type, &options))
    return NULL;
  const char **texts = texts_of(options, &kept);
  if (!texts) return NULL;
  int count = (int)PyTuple_Size(options);
  Py_BEGIN_ALLOW_THREADS;
  status = hk_ranks_open(communicator, count, (char **)texts, &ranks, &error);
  Py_END_ALLOW_THREADS;
  free(texts);
  Py_XDECREF(kept);
  if (status < 0) return raise_error(&error);
  PyObject *handle = handle_new(KIND_RANKS, ranks, NULL, false);
  if (!handle) return NULL;
  ((Handle *)handle)->next = open_ranks;
  open_ranks = (Handle *)handle;
  return handle;
}

/* ranks_place(ranks) -> (number of this process, number of all) */
static PyObject *ranks_place(PyObject *module, PyObject *value) {
  Handle *ranks = handle_of(value, KIND_RANKS);
  (void)module;
  if (!ranks) return NULL;
  return Py_BuildValue("ii", hk_ranks_rank(ranks->object), hk_ranks_count(ranks->object));
}

/* ranks_end(closes: bool): at the end of the interpreter. Closes all ranks, or leaves them where
 * this process has failed: waiting for the others would be waiting for ever. */
static PyObject *ranks_end(PyObject *module, PyObject *value) {
  int closes = PyObject_IsTrue(value);
  (void)module;
  if (closes < 0) return NULL;
  while (open_ranks) {
    HkRanks *ranks = open_ranks->object;
    open_ranks->object = NULL;
    open_ranks = open_ranks->next;
    if (closes) hk_ranks_close(&ranks);
  }
  Py_RETURN_NONE;
}

/* model_part(model) -> (vertices of the whole model, own ones, address of numbers, of ghosts), or
 * None for a model that is not made in parts */
static PyObject *model_part(PyObject *module, PyObject *value) {
  Handle *model = handle_of(value, KIND_MODEL);
  HkPartView part;
  (void)module;
  if (!model) return NULL;
  if (!hk_model_part(model->object, &part)) Py_RETURN_NONE;
  return Py_BuildValue("LLO&O&", (long long)part.total, (long long)part.owned, AS_INT(part.number),
                       AS_INT(part.ghost));
}

PyMethodDef ranks_methods[] = {
    {"ranks_open", ranks_open, METH_VARARGS, NULL},
    {"ranks_place", ranks_place, METH_O, NULL},
    {"ranks_end", ranks_end, METH_O, NULL},
    {"model_part", model_part, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
