/* Models: compiling, their arrays, and live changes. */
#include "core.h"

/* model_compile(scene) */
static PyObject *model_compile(PyObject *module, PyObject *value) {
  Handle *scene = handle_of(value, KIND_SCENE);
  HkModel *model = NULL;
  HkError error;
  HkStatus status;
  (void)module;
  if (!scene || !handle_claim(scene)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_model_compile(scene->object, &model, &error);
  Py_END_ALLOW_THREADS;
  handle_release(scene);
  if (status < 0) return raise_error(&error);
  return handle_with_ranks(handle_new(KIND_MODEL, model, NULL, false), scene->ranks);
}

/* model_info(model) -> dict */
static PyObject *model_info(PyObject *module, PyObject *value) {
  Handle *model = handle_of(value, KIND_MODEL);
  (void)module;
  if (!model) return NULL;
  HkModelInfo i = hk_model_info(model->object);
  return Py_BuildValue("{sL sL sL sL si si sd sd sd sd sd sd sd s(ddd) s(ddd) sn si ss}",
                       "vertices", (long long)i.vertices, "springs", (long long)i.springs, "faces",
                       (long long)i.faces, "pinned", (long long)i.pinned, "bodies", i.bodies,
                       "dimension", i.dimension, "mass", i.mass, "mass_min", i.mass_min, "mass_max",
                       i.mass_max, "k_min", i.k_min, "k_max", i.k_max, "length_min", i.length_min,
                       "length_max", i.length_max, "box_min", i.box_min[0], i.box_min[1],
                       i.box_min[2], "box_max", i.box_max[0], i.box_max[1], i.box_max[2], "bytes",
                       (Py_ssize_t)i.bytes, "threads", i.threads, "vectors", i.vectors);
}

/* Vertices whose arrays a model has: of a part its own, since hk_model_info counts the whole model.
 */
static int64_t count_vertices(const HkModel *model) {
  HkPartView part;
  return hk_model_part(model, &part) ? part.count : hk_model_info(model).vertices;
}

/* model_arrays(model) -> {name: (address, count)}; count 0 where there is none */
static PyObject *model_arrays(PyObject *module, PyObject *value) {
  Handle *model = handle_of(value, KIND_MODEL);
  int64_t pins = 0, faces = 0;
  (void)module;
  if (!model) return NULL;
  const HkModel *m = model->object;
  HkSpringView s = hk_model_springs(m);
  const int32_t *pin = hk_model_pins(m, &pins), *face = hk_model_faces(m, &faces);
  int64_t n = count_vertices(m);
  return Py_BuildValue("{sN sN sN sN sN sN sN sN sN sN}", "i", array_pair(s.i, s.count), "j",
                       array_pair(s.j, s.count), "k", array_pair(s.k, s.count), "l0",
                       array_pair(s.l0, s.count), "damping", array_pair(s.damping, s.count), "kind",
                       array_pair(s.kind, s.count), "tension", array_pair(s.tension, s.count),
                       "masses", array_pair(hk_model_masses(m), n), "pins", array_pair(pin, pins),
                       "faces", array_pair(face, faces));
}

/* model_bodies(model) -> list of (name, first, count, {set: count}) */
static PyObject *model_bodies(PyObject *module, PyObject *value) {
  Handle *model = handle_of(value, KIND_MODEL);
  int64_t first, count, vertices;
  const char *name, *set;
  (void)module;
  if (!model) return NULL;
  PyObject *list = PyList_New(0);
  for (int q = 0; list && (name = hk_model_body(model->object, q, &first, &count)); q++) {
    PyObject *sets = PyDict_New();
    for (int s = 0; sets && (set = hk_model_set_name(model->object, q, s, &vertices)); s++) {
      PyObject *size = PyLong_FromLongLong(vertices);
      if (!size || PyDict_SetItemString(sets, set, size) < 0) Py_CLEAR(sets);
      Py_XDECREF(size);
    }
    PyObject *entry =
        sets ? Py_BuildValue("sLLN", name, (long long)first, (long long)count, sets) : NULL;
    if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
    Py_XDECREF(entry);
  }
  return list;
}

/* model_contact(model) -> list of dicts: bodies, obstacles, the ground; empty without contact */
static PyObject *model_contact(PyObject *module, PyObject *value) {
  Handle *model = handle_of(value, KIND_MODEL);
  HkContactInfo c;
  (void)module;
  if (!model) return NULL;
  PyObject *list = PyList_New(0);
  for (int q = 0; list && hk_model_contact(model->object, q, &c); q++) {
    PyObject *entry = Py_BuildValue("{ss sN sN sd sd sd sL sL sL sd sd}", "name", c.name, "touches",
                                    PyBool_FromLong(c.touches), "self", PyBool_FromLong(c.self),
                                    "thickness", c.thickness, "edge_min", c.edge_min, "edge_mean",
                                    c.edge_mean, "points", (long long)c.points, "edges",
                                    (long long)c.edges, "triangles", (long long)c.triangles,
                                    "friction", c.friction, "friction_kinetic", c.friction_kinetic);
    if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
    Py_XDECREF(entry);
  }
  return list;
}

/* model_obstacles(model) -> list of names */
static PyObject *model_obstacles(PyObject *module, PyObject *value) {
  Handle *model = handle_of(value, KIND_MODEL);
  const char *name;
  (void)module;
  if (!model) return NULL;
  PyObject *list = PyList_New(0);
  for (int q = 0; list && (name = hk_model_obstacle(model->object, q)); q++) {
    PyObject *text = PyUnicode_FromString(name);
    if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}

/* model_friction(model, first, second) -> (touch, friction, friction_kinetic) */
static PyObject *model_friction(PyObject *module, PyObject *args) {
  PyObject *value;
  int first, second;
  double rest, slide;
  (void)module;
  if (!PyArg_ParseTuple(args, "Oii", &value, &first, &second)) return NULL;
  Handle *model = handle_of(value, KIND_MODEL);
  if (!model) return NULL;
  bool touch = hk_model_friction(model->object, first, second, &rest, &slide);
  return Py_BuildValue("Ndd", PyBool_FromLong(touch), rest, slide);
}

static const HkSelect *select_of(const HkMethod *method) {
  for (int q = 0; q < method->schema->param_count; q++)
    if (method->schema->params[q].kind == HK_PARAM_SELECT)
      return (const HkSelect *)((const char *)method->params + method->schema->params[q].offset);
  return NULL;
}

/* model_select(model, text: the JSON of a force with a selection) -> bytes of 32-bit numbers */
static PyObject *model_select(PyObject *module, PyObject *arguments) {
  Handle *model;
  const char *text;
  Py_ssize_t size;
  int32_t *vertices = NULL;
  int64_t count = 0;
  HkMethod force = {0};
  HkError error;
  PyObject *bytes = NULL;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&s#", to_model, &model, &text, &size)) return NULL;
  HkStatus status = hk_method_parse(&force, HK_FORCE, text, (size_t)size, NULL, &error);
  if (status >= 0)
    status = hk_model_select(model->object, select_of(&force), &vertices, &count, &error);
  if (status < 0)
    raise_error(&error);
  else
    bytes = PyBytes_FromStringAndSize((const char *)vertices,
                                      (Py_ssize_t)count * (Py_ssize_t)sizeof *vertices);
  hk_selection_destroy(model->object, &vertices);
  hk_method_clear(&force);
  return bytes;
}

/* ---- Live changes: nobody may be at work on the model ---- */

/* model_stiffness(model, value, scale: bool) */
static PyObject *model_stiffness(PyObject *module, PyObject *arguments) {
  Handle *model;
  double value;
  int scale;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&dp", to_model, &model, &value, &scale)) return NULL;
  if (!handle_claim(model)) return NULL;
  HkStatus status = scale ? hk_model_scale_stiffness(model->object, value, &error)
                          : hk_model_set_stiffness(model->object, value, &error);
  handle_release(model);
  return none_or_raise(status, &error);
}

/* The text of a force of the library, or the target of one of Python: a new reference. */
static PyObject *describe_force(const Handle *model, const HkMethod *force) {
  PyObject *target = force_target(model, force);
  char *text = NULL;
  HkError error;
  Py_XINCREF(target);
  if (target) return target;
  return hk_method_format(force, &text, &error) < 0 ? raise_error(&error) : take_text(text);
}

/* model_set_masses(model, address of a number a vertex) */
static PyObject *model_set_masses(PyObject *module, PyObject *arguments) {
  Handle *model;
  const double *masses;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_model, &model, to_address, &masses)) return NULL;
  if (!handle_claim(model)) return NULL;
  HkStatus status = hk_model_set_masses(model->object, masses, &error);
  handle_release(model);
  return none_or_raise(status, &error);
}

/* model_forces(model) -> list, the springs first: texts, and targets of forces of Python */
static PyObject *model_forces(PyObject *module, PyObject *value) {
  Handle *model = handle_of(value, KIND_MODEL);
  (void)module;
  if (!model) return NULL;
  PyObject *list = PyList_New(0);
  for (int f = 0; list && f < hk_model_force_count(model->object); f++) {
    PyObject *entry = describe_force(model, hk_model_force(model->object, f));
    if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
    Py_XDECREF(entry);
  }
  return list;
}

/* model_put_force(model, index, text): index -1 appends; -> its number */
static PyObject *model_put_force(PyObject *module, PyObject *arguments) {
  Handle *model;
  int index;
  const char *text;
  Py_ssize_t size;
  HkMethod force = {0};
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&is#", to_model, &model, &index, &text, &size)) return NULL;
  if (!handle_claim(model)) return NULL;
  HkStatus status = hk_method_parse(&force, HK_FORCE, text, (size_t)size, NULL, &error);
  if (status >= 0 && index >= 0)
    status = hk_model_set_force(model->object, index, &force, &error);
  else if (status >= 0)
    status = hk_model_add_force(model->object, &force, &index, &error);
  hk_method_clear(&force);
  handle_release(model);
  if (status < 0) return raise_error(&error);
  forces_release_arrays(model);
  return PyLong_FromLong(index);
}

/* model_remove_force(model, index) */
static PyObject *model_remove_force(PyObject *module, PyObject *arguments) {
  Handle *model;
  int index;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&i", to_model, &model, &index)) return NULL;
  if (!handle_claim(model)) return NULL;
  HkStatus status = hk_model_remove_force(model->object, index, &error);
  handle_release(model);
  if (status >= 0) forces_release_arrays(model);
  return none_or_raise(status, &error);
}

/* model_set_motion(model, pin, text or None) */
static PyObject *model_set_motion(PyObject *module, PyObject *arguments) {
  Handle *model;
  int pin;
  const char *text;
  Py_ssize_t size;
  HkMethod motion = {0};
  HkError error;
  HkStatus status = HK_OK;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&iz#", to_model, &model, &pin, &text, &size)) return NULL;
  if (!handle_claim(model)) return NULL;
  if (text) status = hk_method_parse(&motion, HK_MOTION, text, (size_t)size, NULL, &error);
  if (status >= 0) status = hk_model_set_motion(model->object, pin, text ? &motion : NULL, &error);
  hk_method_clear(&motion);
  handle_release(model);
  return none_or_raise(status, &error);
}

PyMethodDef model_methods[] = {
    {"model_compile", model_compile, METH_O, NULL},
    {"model_info", model_info, METH_O, NULL},
    {"model_arrays", model_arrays, METH_O, NULL},
    {"model_bodies", model_bodies, METH_O, NULL},
    {"model_contact", model_contact, METH_O, NULL},
    {"model_friction", model_friction, METH_VARARGS, NULL},
    {"model_obstacles", model_obstacles, METH_O, NULL},
    {"model_select", model_select, METH_VARARGS, NULL},
    {"model_stiffness", model_stiffness, METH_VARARGS, NULL},
    {"model_set_masses", model_set_masses, METH_VARARGS, NULL},
    {"model_forces", model_forces, METH_O, NULL},
    {"model_put_force", model_put_force, METH_VARARGS, NULL},
    {"model_remove_force", model_remove_force, METH_VARARGS, NULL},
    {"model_set_motion", model_set_motion, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
