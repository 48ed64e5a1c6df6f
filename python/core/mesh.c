/* Meshes: from arrays, files and shapes, and back into arrays. */
#include "core.h"

#include <string.h>

static PyObject *mesh_or_raise(HkStatus status, HkMesh *mesh, const HkError *error) {
  return status < 0 ? raise_error(error) : handle_new(KIND_MESH, mesh, NULL, false);
}

/* mesh_create(vertices: address, count) */
static PyObject *mesh_create(PyObject *module, PyObject *arguments) {
  const double *vertices;
  long long count;
  HkMesh *mesh = NULL;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&L", to_address, &vertices, &count)) return NULL;
  HkContext context = python_context(0, HK_CPU);
  HkStatus status = hk_mesh_create(&context, &mesh, &error);
  if (status >= 0) status = hk_mesh_add_vertices(mesh, vertices, count, &error);
  if (status < 0) hk_mesh_destroy(&mesh);
  return mesh_or_raise(status, mesh, &error);
}

/* mesh_add_cells(mesh, type, vertices: address, cells, corners of each) */
static PyObject *mesh_add_cells(PyObject *module, PyObject *arguments) {
  Handle *mesh;
  const int32_t *at;
  int type, corners;
  long long cells;
  HkError error;
  HkStatus status = HK_OK;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&iO&Li", to_mesh, &mesh, &type, to_address, &at, &cells,
                        &corners))
    return NULL;
  for (long long q = 0; q < cells && status >= 0; q++, at += corners)
    status = hk_mesh_add_cell(mesh->object, (HkCellType)type, at, corners, &error);
  return none_or_raise(status, &error);
}

/* mesh_add_set(mesh, name, vertices: address, count) */
static PyObject *mesh_add_set(PyObject *module, PyObject *arguments) {
  Handle *mesh;
  const char *name;
  const int32_t *vertices;
  long long count;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&sO&L", to_mesh, &mesh, &name, to_address, &vertices, &count))
    return NULL;
  HkStatus status = hk_mesh_add_set(mesh->object, name, vertices, count, &error);
  return none_or_raise(status, &error);
}

/* mesh_read(path) */
static PyObject *mesh_read(PyObject *module, PyObject *arguments) {
  PyObject *path;
  HkMesh *mesh = NULL;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&", to_path, &path)) return NULL;
  HkContext context = python_context(0, HK_CPU);
  const char *name = path_text(path);
  Py_BEGIN_ALLOW_THREADS;
  status = hk_mesh_read(&context, name, &mesh, &error);
  Py_END_ALLOW_THREADS;
  Py_XDECREF(path);
  return mesh_or_raise(status, mesh, &error);
}

/* mesh_write(mesh, path) */
static PyObject *mesh_write(PyObject *module, PyObject *arguments) {
  Handle *mesh;
  PyObject *path;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_mesh, &mesh, to_path, &path)) return NULL;
  const char *name = path_text(path);
  Py_BEGIN_ALLOW_THREADS;
  status = hk_mesh_write(mesh->object, name, &error);
  Py_END_ALLOW_THREADS;
  Py_XDECREF(path);
  return none_or_raise(status, &error);
}

/* mesh_shape(text: the JSON of a shape) */
static PyObject *mesh_shape(PyObject *module, PyObject *arguments) {
  const char *text;
  Py_ssize_t size;
  HkMethod shape = {0};
  HkMesh *mesh = NULL;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "s#", &text, &size)) return NULL;
  HkContext context = python_context(0, HK_CPU);
  HkStatus status = hk_method_parse(&shape, HK_SHAPE, text, (size_t)size, NULL, &error);
  if (status >= 0) status = hk_mesh_shape(&context, &shape, &mesh, &error);
  hk_method_clear(&shape);
  return mesh_or_raise(status, mesh, &error);
}

/* mesh_vertices(mesh) -> (address, count); they stay where they are while no more are added */
static PyObject *mesh_vertices(PyObject *module, PyObject *value) {
  Handle *mesh = handle_of(value, KIND_MESH);
  (void)module;
  if (!mesh) return NULL;
  return array_pair(hk_mesh_vertices(mesh->object), hk_mesh_vertex_count(mesh->object));
}

/* mesh_counts(mesh) -> a list of (cells, corners in all), by type */
static PyObject *mesh_counts(PyObject *module, PyObject *value) {
  long long cells[HK_CELL_HEX + 1] = {0}, corners[HK_CELL_HEX + 1] = {0};
  Handle *mesh = handle_of(value, KIND_MESH);
  (void)module;
  if (!mesh) return NULL;
  for (int64_t q = 0; q < hk_mesh_cell_count(mesh->object); q++) {
    HkCell cell = hk_mesh_cell(mesh->object, q);
    cells[cell.type]++;
    corners[cell.type] += cell.count;
  }
  PyObject *list = PyList_New(HK_CELL_HEX + 1);
  for (int type = 0; list && type <= HK_CELL_HEX; type++)
    PyList_SetItem(list, type, Py_BuildValue("LL", cells[type], corners[type]));
  return list;
}

/* mesh_copy_cells(mesh, type, vertices: address, sizes: address), into arrays of the sizes
 * that mesh_counts returns */
static PyObject *mesh_copy_cells(PyObject *module, PyObject *arguments) {
  Handle *mesh;
  int type;
  int32_t *to, *size;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&iO&O&", to_mesh, &mesh, &type, to_address, &to, to_address,
                        &size))
    return NULL;
  for (int64_t q = 0; q < hk_mesh_cell_count(mesh->object); q++) {
    HkCell cell = hk_mesh_cell(mesh->object, q);
    if ((int)cell.type != type) continue;
    memcpy(to, cell.vertices, (size_t)cell.count * sizeof *to);
    to += cell.count;
    *size++ = cell.count;
  }
  Py_RETURN_NONE;
}

/* mesh_sets(mesh) -> {name: (address, count)} */
static PyObject *mesh_sets(PyObject *module, PyObject *value) {
  Handle *mesh = handle_of(value, KIND_MESH);
  (void)module;
  if (!mesh) return NULL;
  PyObject *sets = PyDict_New();
  for (int q = 0; sets && q < hk_mesh_set_count(mesh->object); q++) {
    const char *name = hk_mesh_set_name(mesh->object, q);
    int64_t count = 0;
    const int32_t *vertices = hk_mesh_set(mesh->object, name, &count);
    PyObject *pair = array_pair(vertices, count);
    if (!pair || PyDict_SetItemString(sets, name, pair) < 0) Py_CLEAR(sets);
    Py_XDECREF(pair);
  }
  return sets;
}

/* mesh_formats() -> list of (ending, summary, can be written) */
static PyObject *mesh_formats(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  PyObject *list = PyList_New(0);
  const char *name, *summary;
  bool writes;
  for (int q = 0; list && (name = hk_mesh_format(q, &summary, &writes)); q++) {
    PyObject *entry = Py_BuildValue("ssN", name, summary, PyBool_FromLong(writes));
    if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
    Py_XDECREF(entry);
  }
  return list;
}

PyMethodDef mesh_methods[] = {
    {"mesh_create", mesh_create, METH_VARARGS, NULL},
    {"mesh_add_cells", mesh_add_cells, METH_VARARGS, NULL},
    {"mesh_add_set", mesh_add_set, METH_VARARGS, NULL},
    {"mesh_read", mesh_read, METH_VARARGS, NULL},
    {"mesh_write", mesh_write, METH_VARARGS, NULL},
    {"mesh_shape", mesh_shape, METH_VARARGS, NULL},
    {"mesh_vertices", mesh_vertices, METH_O, NULL},
    {"mesh_counts", mesh_counts, METH_O, NULL},
    {"mesh_copy_cells", mesh_copy_cells, METH_VARARGS, NULL},
    {"mesh_sets", mesh_sets, METH_O, NULL},
    {"mesh_formats", mesh_formats, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
