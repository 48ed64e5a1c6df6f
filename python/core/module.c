/* The module hooke._core. */
#include "core.h"

static PyMethodDef own_methods[] = {
    {"configure", core_configure, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
  PyMethodDef *const all[] = {own_methods,   registry_methods, mesh_methods,   scene_methods,
                              model_methods, force_methods,    linear_methods, state_methods,
                              sim_methods,   device_methods,   run_methods,    batch_methods,
                              ranks_methods, tape_methods};
  for (size_t q = 0; q < sizeof all / sizeof all[0]; q++)
    if (PyModule_AddFunctions(module, all[q]) < 0) return -1;
  return handle_ready(module);
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "hooke._core",
    .m_doc = "The C library behind the package hooke; use that.", .m_size = -1};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module && fill(module) < 0) Py_CLEAR(module);
  return module;
}
