/* Arrays on a device, and how others take them over: DLPack.
 *
 * DLPack is an agreement between libraries about a few structs in memory, of which those here are
 * written after its specification; its names are kept in the comments. They come in a capsule named
 * "dltensor", or "dltensor_versioned" from version 1.0 on. Who takes one over renames it by
 * "used_", and calls the deleter when it is done, in any thread, with or without Python's lock; of
 * a capsule that nobody took, its own destructor does.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- The structs of DLPack ---- */

typedef struct Tensor { /* DLTensor */
  void *data;
  int32_t device, number; /* DLDevice */
  int32_t dimensions;
  uint8_t code, bits; /* DLDataType; code 2: floating point */
  uint16_t lanes;
  int64_t *shape, *strides; /* strides in numbers, not in bytes */
  uint64_t byte_offset;
} Tensor;

typedef struct Plain { /* DLManagedTensor */
  Tensor tensor;
  void *manager;
  void (*deleter)(struct Plain *self);
} Plain;

typedef struct Versioned { /* DLManagedTensorVersioned */
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct Versioned *self);
  uint64_t flags; /* bit 0: read only */
  Tensor tensor;
} Versioned;

static const char plain_name[] = "dltensor", versioned_name[] = "dltensor_versioned";

/* What a capsule holds; the manager of the structs. */
typedef struct Export {
  Plain plain;
  Versioned versioned;
  int64_t shape[3], strides[3];
  PyObject *array; /* the handle, which keeps the memory */
} Export;

/* ---- Lifetime ---- */

static void release(Export *e) {
  /* After the interpreter has ended there is nobody to give the memory back to. */
  if (Py_IsInitialized()) {
    PyGILState_STATE lock = PyGILState_Ensure();
    Py_DECREF(e->array);
    PyGILState_Release(lock);
  }
  free(e);
}

static void delete_plain(Plain *self) {
  release(self->manager);
}

static void delete_versioned(Versioned *self) {
  release(self->manager);
}

/* Of a capsule: what was taken over has another name and is left alone. */
static void drop_capsule(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, plain_name))
    delete_plain(PyCapsule_GetPointer(capsule, plain_name));
  else if (PyCapsule_IsValid(capsule, versioned_name))
    delete_versioned(PyCapsule_GetPointer(capsule, versioned_name));
}

/* ---- Functions ---- */

/* array_dlpack(array, worlds, versioned: bool) -> capsule of the shape (vertices, 3), or with
 * worlds above 0 (worlds, vertices of each, 3) */
static PyObject *array_dlpack(PyObject *module, PyObject *arguments) {
  Handle *array;
  int versioned;
  long long worlds;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&Lp", to_array, &array, &worlds, &versioned)) return NULL;
  const HkDeviceArray *a = array->object;
  Export *e = calloc(1, sizeof *e);
  if (!e) return PyErr_NoMemory();
  int64_t each = worlds > 0 ? a->count / worlds : a->count;
  int skip = worlds > 0 ? 0 : 1; /* the first dimension */
  memcpy(e->shape, (const int64_t[]){worlds, each, 3}, sizeof e->shape);
  memcpy(e->strides, (const int64_t[]){3 * each, 3, 1}, sizeof e->strides);
  Tensor tensor = {.data = a->data,
                   .device = (int)a->memory,
                   .number = a->device,
                   .dimensions = 3 - skip,
                   .code = 2,
                   .bits = (uint8_t)(8 * a->bytes),
                   .lanes = 1,
                   .shape = e->shape + skip,
                   .strides = e->strides + skip};
  e->plain = (Plain){tensor, e, delete_plain};
  e->versioned = (Versioned){1, 0, e, delete_versioned, 0, tensor};
  e->array = (PyObject *)array;
  Py_INCREF(e->array);
  PyObject *capsule = versioned ? PyCapsule_New(&e->versioned, versioned_name, drop_capsule)
                                : PyCapsule_New(&e->plain, plain_name, drop_capsule);
  if (!capsule) release(e);
  return capsule;
}

/* array_info(array) -> (address, vertices, bytes of a number, kind of device, number of device) */
static PyObject *array_info(PyObject *module, PyObject *value) {
  Handle *array = handle_of(value, KIND_ARRAY);
  (void)module;
  if (!array) return NULL;
  const HkDeviceArray *a = array->object;
  return Py_BuildValue("NLiii", PyLong_FromVoidPtr(a->data), (long long)a->count, a->bytes,
                       (int)a->memory, a->device);
}

/* sim_read_device(sim, state, kind, array or None) -> array, a new one for None */
static PyObject *sim_read_device(PyObject *module, PyObject *arguments) {
  Handle *sim, *state, *old = NULL;
  PyObject *given;
  int kind;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&iO", to_sim, &sim, to_state, &state, &kind, &given))
    return NULL;
  if (given != Py_None && !(old = handle_of(given, KIND_ARRAY))) return NULL;
  HkDeviceArray *array = old ? old->object : NULL;
  if (!handle_claim_pair(sim, state)) return NULL; /* the array is of this simulation alone */
  Py_BEGIN_ALLOW_THREADS;
  status = hk_sim_read_device(sim->object, state->object, (HkArrayKind)kind, &array, &error);
  Py_END_ALLOW_THREADS;
  handle_release_pair(sim, state);
  if (status < 0) return raise_error(&error);
  if (!old) return handle_new(KIND_ARRAY, array, NULL, false);
  Py_INCREF(given);
  return given;
}

/* sim_write_device(sim, state, kind, address there) */
static PyObject *sim_write_device(PyObject *module, PyObject *arguments) {
  Handle *sim, *state;
  const void *data;
  int kind;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&iO&", to_sim, &sim, to_state, &state, &kind, to_address,
                        &data))
    return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_sim_write_device(sim->object, state->object, (HkArrayKind)kind, data, &error);
  Py_END_ALLOW_THREADS;
  handle_release_pair(sim, state);
  return none_or_raise(status, &error);
}

PyMethodDef device_methods[] = {
    {"array_dlpack", array_dlpack, METH_VARARGS, NULL},
    {"array_info", array_info, METH_O, NULL},
    {"sim_read_device", sim_read_device, METH_VARARGS, NULL},
    {"sim_write_device", sim_write_device, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
