/* Scenes: JSON text, and arrays that would be too long as text. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* A copy of rows x columns numbers in the place of a table of the scene. */
static int put_table(HkScene *scene, HkTable *table, const double *values, int rows, int columns) {
  HkError error;
  if (!values) return 0;
  size_t size = (size_t)rows * (size_t)columns * sizeof *values;
  const void *copy = hk_scene_keep(scene, values, size, &error);
  if (!copy) {
    raise_error(&error);
    return -1;
  }
  *table = (HkTable){(double *)copy, rows};
  return 0;
}

/* One entry (body, mesh or None, springs: address, rows, masses: address, rows): the text has any
 * name in the place of the mesh, which stays that of its handle: the scene holds the entries. */
static int put_arrays(HkScene *scene, PyObject *entry) {
  PyObject *mesh;
  const double *springs, *masses;
  int body, spring_rows, mass_rows;
  if (!PyArg_ParseTuple(entry, "iOO&iO&i", &body, &mesh, to_address, &springs, &spring_rows,
                        to_address, &masses, &mass_rows))
    return -1;
  Handle *handle = mesh == Py_None ? NULL : handle_of(mesh, KIND_MESH);
  if (body < 0 || body >= scene->body_count) {
    PyErr_Format(PyExc_IndexError, "there is no body %d", body);
    return -1;
  }
  if (mesh != Py_None && !handle) return -1;
  HkBody *b = &scene->bodies[body];
  if (handle) {
    b->mesh_file = NULL;
    b->mesh = handle->object;
  }
  if (put_table(scene, &b->springs.table, springs, spring_rows, 5) < 0) return -1;
  return put_table(scene, &b->mass.added, masses, mass_rows, 2);
}

/* scene_create(text, name or None, folder or None, sets: tuple of str, threads, device: number,
 * libraries: bool, arrays: tuple of entries, ranks or None) */
static PyObject *scene_create(PyObject *module, PyObject *arguments) {
  const char *text, *name;
  Py_ssize_t size;
  PyObject *folder, *sets, *arrays, *kept = NULL;
  int threads, device, libraries;
  Handle *ranks;
  HkScene *scene = NULL;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "s#zO&O!iipO!O&", &text, &size, &name, to_path, &folder,
                        &PyTuple_Type, &sets, &threads, &device, &libraries, &PyTuple_Type, &arrays,
                        to_ranks, &ranks))
    return NULL;
  HkContext context = python_context(threads, (HkDeviceKind)device);
  context.libraries = libraries;
  context.ranks = ranks ? ranks->object : NULL;
  const char **texts = texts_of(sets, &kept);
  HkStatus status = HK_ERROR_MEMORY;
  if (texts)
    status = hk_scene_parse(&context, text, (size_t)size, name, path_text(folder), texts,
                            (int)PyTuple_Size(sets), &scene, &error);
  if (texts && status < 0) raise_error(&error);
  free(texts);
  Py_XDECREF(kept);
  Py_XDECREF(folder);
  if (status < 0) return NULL;
  PyObject *handle = handle_with_ranks(handle_new(KIND_SCENE, scene, NULL, false), ranks);
  Py_ssize_t count = PyTuple_Size(arrays), done = 0;
  while (handle && done < count && put_arrays(scene, PyTuple_GetItem(arrays, done)) == 0) done++;
  if (!handle) return NULL;
  PyObject *lent = PyTuple_GetSlice(arrays, 0, done);
  ((Handle *)handle)->owner = lent;
  if (lent && done == count) return handle;
  Py_DECREF(handle);
  return NULL;
}

/* scene_format(scene) -> text with every value in it */
static PyObject *scene_format(PyObject *module, PyObject *value) {
  Handle *scene = handle_of(value, KIND_SCENE);
  char *text = NULL;
  HkError error;
  (void)module;
  if (!scene) return NULL;
  if (hk_scene_format(scene->object, &text, &error) < 0) return raise_error(&error);
  return take_text(text);
}

PyMethodDef scene_methods[] = {
    {"scene_create", scene_create, METH_VARARGS, NULL},
    {"scene_format", scene_format, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
