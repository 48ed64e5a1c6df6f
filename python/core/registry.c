/* The registries as dicts: what shapes, forces, integrators ... there are, and what can be set. */
#include "core.h"

static const char *const kinds[] = {"number", "integer", "boolean", "vector", "choice",
                                    "text",   "table",   "select",  "method"};

static PyObject *param_dict(const HkParam *p) {
  return Py_BuildValue("{ss ss ss ss s(ddd) sd sd sz si ss}", "name", p->name, "unit", p->unit,
                       "help", p->help, "kind", kinds[p->kind], "default", p->default_value[0],
                       p->default_value[1], p->default_value[2], "min", p->min, "max", p->max,
                       "choices", p->choices, "columns", p->columns, "family",
                       p->kind == HK_PARAM_METHOD ? hk_family_name(p->family) : "");
}

static PyObject *schema_dict(const HkSchema *schema) {
  PyObject *params = PyList_New(0);
  for (int q = 0; params && q < schema->param_count; q++) {
    PyObject *param = param_dict(&schema->params[q]);
    if (!param || PyList_Append(params, param) < 0) Py_CLEAR(params);
    Py_XDECREF(param);
  }
  if (!params) return NULL;
  return Py_BuildValue("{ss ss sz sN}", "name", schema->name, "summary", schema->summary, "formula",
                       schema->formula, "params", params);
}

/* schemas(family: int) -> list of dicts */
static PyObject *schemas(PyObject *module, PyObject *arguments) {
  int family;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "i", &family)) return NULL;
  PyObject *list = PyList_New(0);
  const HkSchema *schema;
  for (int q = 0; list && (schema = hk_schema_at((HkFamily)family, q)); q++) {
    PyObject *dict = schema_dict(schema);
    if (!dict || PyList_Append(list, dict) < 0) Py_CLEAR(list);
    Py_XDECREF(dict);
  }
  return list;
}

/* families() -> names, by number */
static PyObject *families(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  PyObject *names = PyTuple_New(HK_FAMILY_COUNT);
  for (int q = 0; names && q < HK_FAMILY_COUNT; q++)
    PyTuple_SetItem(names, q, PyUnicode_FromString(hk_family_name((HkFamily)q)));
  return names;
}

/* builtin_scenes() -> list of (name, title, text) */
static PyObject *builtin_scenes(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  PyObject *list = PyList_New(0);
  const char *text, *name, *title;
  for (int q = 0; list && (text = hk_scene_builtin(q, &name, &title)); q++) {
    PyObject *entry = Py_BuildValue("sss", name, title, text);
    if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
    Py_XDECREF(entry);
  }
  return list;
}

/* method(family: int, text: str) -> text with every value in it */
static PyObject *method(PyObject *module, PyObject *arguments) {
  int family;
  const char *text;
  char *whole = NULL;
  Py_ssize_t size;
  HkMethod chosen = {0};
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "is#", &family, &text, &size)) return NULL;
  HkStatus status = hk_method_parse(&chosen, (HkFamily)family, text, (size_t)size, NULL, &error);
  if (status >= 0) status = hk_method_format(&chosen, &whole, &error);
  hk_method_clear(&chosen);
  return status < 0 ? raise_error(&error) : take_text(whole);
}

/* version() -> "0.2.0" */
static PyObject *version(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  return PyUnicode_FromString(hk_version());
}

PyMethodDef registry_methods[] = {
    {"schemas", schemas, METH_VARARGS, NULL},
    {"families", families, METH_NOARGS, NULL},
    {"builtin_scenes", builtin_scenes, METH_NOARGS, NULL},
    {"method", method, METH_VARARGS, NULL},
    {"version", version, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
