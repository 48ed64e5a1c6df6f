/* Simulations: all but their steps, which stand in handle.c. */
#include "core.h"

/* The integrator: that of the text, or that of the scene, with the linear solver of Python. */
static HkStatus choose_step(const Handle *model, const char *text, size_t size,
                            PythonSolver *solver, HkMethod *step, HkError *error) {
  HkStatus status = text ? hk_method_parse(step, HK_STEP, text, size, NULL, error)
                         : hk_method_copy(hk_model_method(model->object), step, error);
  if (status < 0 || !solver) return status;
  return hk_method_set_linear_solver(step, &solver->functions, solver, error);
}

/* sim_create(model, text of the integrator or None, h, parts of a linear solver or None); see
 * solver_create for the parts */
static PyObject *sim_create(PyObject *module, PyObject *arguments) {
  Handle *model;
  PythonSolver *solver = NULL;
  PyObject *parts;
  const char *text;
  Py_ssize_t size;
  double h;
  HkMethod step = {0};
  HkSim *sim = NULL;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&z#dO", to_model, &model, &text, &size, &h, &parts))
    return NULL;
  if (parts != Py_None && !(solver = solver_create(parts))) return NULL;
  if (!handle_share(model)) {
    solver_destroy(solver);
    return NULL;
  }
  HkStatus status = choose_step(model, text, (size_t)size, solver, &step, &error);
  Py_BEGIN_ALLOW_THREADS;
  if (status >= 0) status = hk_sim_create(model->object, &step, h, &sim, &error);
  Py_END_ALLOW_THREADS;
  handle_release(model);
  hk_method_clear(&step);
  /* Ranks make the same steps: a signal of one of them must not end its own alone. */
  if (status >= 0 && !model->ranks) hk_sim_set_cancel(sim, cancel_on_signal, NULL);
  if (has_raised()) hk_sim_destroy(&sim);
  PyObject *result =
      sim ? handle_new(KIND_SIM, sim, (PyObject *)model, false) : raise_error(&error);
  if (result)
    ((Handle *)result)->solver = solver;
  else
    solver_destroy(solver);
  return result;
}

/* sim_use(sim, state): what steps() moves from now on */
static PyObject *sim_use(PyObject *module, PyObject *arguments) {
  Handle *sim, *state;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_sim, &sim, to_state, &state)) return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  Handle *old = sim->state;
  Py_INCREF((PyObject *)state);
  sim->state = state;
  handle_release_pair(sim, state);
  Py_XDECREF((PyObject *)old);
  Py_RETURN_NONE;
}

/* sim_h(sim) -> s */
static PyObject *sim_h(PyObject *module, PyObject *value) {
  Handle *sim = handle_of(value, KIND_SIM);
  (void)module;
  return sim ? PyFloat_FromDouble(hk_sim_h(sim->object)) : NULL;
}

/* sim_set_h(sim, s) */
static PyObject *sim_set_h(PyObject *module, PyObject *arguments) {
  Handle *sim;
  double h;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&d", to_sim, &sim, &h)) return NULL;
  if (!handle_claim(sim)) return NULL;
  HkStatus status = hk_sim_set_h(sim->object, h, &error);
  handle_release(sim);
  return none_or_raise(status, &error);
}

/* sim_device(sim) -> number of the device that makes its steps */
static PyObject *sim_device(PyObject *module, PyObject *value) {
  Handle *sim = handle_of(value, KIND_SIM);
  (void)module;
  return sim ? PyLong_FromLong(hk_sim_device(sim->object)) : NULL;
}

/* sim_method(sim) -> text of the integrator with all that was picked */
static PyObject *sim_method(PyObject *module, PyObject *value) {
  Handle *sim = handle_of(value, KIND_SIM);
  char *text = NULL;
  HkError error;
  (void)module;
  if (!sim) return NULL;
  if (hk_method_format(hk_sim_method(sim->object), &text, &error) < 0) return raise_error(&error);
  return take_text(text);
}

/* sim_bytes(sim) */
static PyObject *sim_bytes(PyObject *module, PyObject *value) {
  Handle *sim = handle_of(value, KIND_SIM);
  (void)module;
  return sim ? PyLong_FromSize_t(hk_sim_bytes(sim->object)) : NULL;
}

/* sim_stable_step(sim, state) -> s */
static PyObject *sim_stable_step(PyObject *module, PyObject *arguments) {
  Handle *sim, *state;
  double h = 0;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_sim, &sim, to_state, &state)) return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_sim_stable_step(sim->object, state->object, &h, &error);
  Py_END_ALLOW_THREADS;
  handle_release_pair(sim, state);
  return status < 0 || has_raised() ? raise_error(&error) : PyFloat_FromDouble(h);
}

/* sim_step_info(sim) -> tuple in the order of HkStepInfo */
static PyObject *sim_step_info(PyObject *module, PyObject *value) {
  Handle *sim = handle_of(value, KIND_SIM);
  (void)module;
  if (!sim) return NULL;
  HkStepInfo r = hk_sim_step_info(sim->object);
  return Py_BuildValue("iiiiiidds", r.substeps, r.rejected, r.iterations, r.linear_iterations,
                       r.evaluations, r.projections, r.gradient, r.residual,
                       hk_stop_name(r.reason));
}

/* sim_state_info(sim, state) -> tuple in the order of HkStateInfo, vectors flat */
static PyObject *sim_state_info(PyObject *module, PyObject *arguments) {
  Handle *sim, *state;
  HkStateInfo r;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_sim, &sim, to_state, &state)) return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  hk_sim_state_info(sim->object, state->object, &r);
  Py_END_ALLOW_THREADS;
  handle_release_pair(sim, state);
  if (has_raised()) return NULL;
  const double *p = r.momentum, *L = r.angular_momentum;
  return Py_BuildValue("dddddddddddddddd", r.time, r.kinetic, r.spring, r.gravity, r.other, r.total,
                       p[0], p[1], p[2], L[0], L[1], L[2], r.strain_min, r.strain_max, r.speed_max,
                       r.dissipated);
}

/* sim_gradient(sim, state, to: address), into three numbers a vertex */
static PyObject *sim_gradient(PyObject *module, PyObject *arguments) {
  Handle *sim, *state;
  double *to;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&O&", to_sim, &sim, to_state, &state, to_address, &to))
    return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  hk_sim_energy_gradient(sim->object, state->object, to);
  Py_END_ALLOW_THREADS;
  handle_release_pair(sim, state);
  return has_raised() ? NULL : Py_BuildValue("");
}

/* A copy of an array as bytes. */
static PyObject *bytes_of(const void *array, int64_t count, size_t size) {
  return PyBytes_FromStringAndSize(array, (Py_ssize_t)count * (Py_ssize_t)size);
}

/* sim_stiffness(sim, state) -> bytes of 32-bit rows, of 32-bit columns, of 64-bit values */
static PyObject *sim_stiffness(PyObject *module, PyObject *arguments) {
  Handle *sim, *state;
  HkTriplets *K = NULL;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_sim, &sim, to_state, &state)) return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_sim_stiffness(sim->object, state->object, &K, &error);
  Py_END_ALLOW_THREADS;
  handle_release_pair(sim, state);
  if (status < 0 || has_raised()) {
    hk_triplets_destroy(&K);
    return raise_error(&error);
  }
  PyObject *result = Py_BuildValue("NNN", bytes_of(K->row, K->count, sizeof *K->row),
                                   bytes_of(K->column, K->count, sizeof *K->column),
                                   bytes_of(K->value, K->count, sizeof *K->value));
  hk_triplets_destroy(&K);
  return result;
}

/* A member of all contacts as bytes. */
static PyObject *member(const HkContactView *view, size_t offset, size_t size) {
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)view->count * (Py_ssize_t)size);
  char *to = bytes ? PyBytes_AsString(bytes) : NULL;
  for (int64_t k = 0; to && k < view->count; k++)
    memcpy(to + (size_t)k * size, (const char *)&view->contact[k] + offset, size);
  return bytes;
}

#define MEMBER(view, name) member(view, offsetof(HkContact, name), sizeof((HkContact *)0)->name)

/* The view as a tuple of bytes of arrays and of numbers, in the order of contacts.py. */
static PyObject *copy_contacts(const HkContactView *v, int64_t vertices) {
  return Py_BuildValue("NNNNNNNNNNNNdddL", MEMBER(v, side), MEMBER(v, vertex), MEMBER(v, split),
                       MEMBER(v, weight), MEMBER(v, point), MEMBER(v, normal), MEMBER(v, gap),
                       MEMBER(v, normal_force), MEMBER(v, friction),
                       bytes_of(v->force, v->force ? 3 * vertices : 0, sizeof *v->force),
                       bytes_of(v->obstacle, v->obstacle_count, sizeof *v->obstacle),
                       bytes_of(&v->ground, 1, sizeof v->ground), v->least_gap, v->energy,
                       v->friction_work, (long long)v->searches);
}

/* sim_contacts(sim, state) -> tuple of copy_contacts */
static PyObject *sim_contacts(PyObject *module, PyObject *arguments) {
  Handle *sim, *state;
  HkContactView view;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&", to_sim, &sim, to_state, &state)) return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_sim_contacts(sim->object, state->object, &view, &error);
  Py_END_ALLOW_THREADS;
  /* The arrays of the view belong to the simulation: they are copied before it is released. */
  PyObject *result = status < 0 ? NULL : copy_contacts(&view, hk_state_vertex_count(state->object));
  handle_release_pair(sim, state);
  if (status >= 0 && !has_raised()) return result;
  Py_XDECREF(result);
  return raise_error(&error);
}

/* sim_forces(sim, state, to: address, reactions: bool), into three numbers a vertex or pin */
static PyObject *sim_forces(PyObject *module, PyObject *arguments) {
  Handle *sim, *state;
  double *to;
  int reactions;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&O&p", to_sim, &sim, to_state, &state, to_address, &to,
                        &reactions))
    return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  if (reactions)
    hk_sim_reactions(sim->object, state->object, to);
  else
    hk_sim_forces(sim->object, state->object, to);
  Py_END_ALLOW_THREADS;
  handle_release_pair(sim, state);
  return has_raised() ? NULL : Py_BuildValue("");
}

/* HkTraceFn, called without the lock. An exception ends the iterations; handle.c raises it.
 */
static bool call_trace(void *user, const HkIteration *i) {
  Handle *sim = user;
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *answer = NULL;
  if (!PyErr_Occurred())
    answer =
        PyObject_CallFunction(sim->trace, "iddd", i->iteration, i->change, i->gradient, i->seconds);
  bool go_on = answer != NULL && answer != Py_False;
  Py_XDECREF(answer);
  PyGILState_Release(lock);
  return go_on;
}

/* sim_set_trace(sim, function or None): function(iteration, change, gradient, seconds), False ends
 * the iterations */
static PyObject *sim_set_trace(PyObject *module, PyObject *arguments) {
  Handle *sim;
  PyObject *trace;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O", to_sim, &sim, &trace)) return NULL;
  if (!handle_claim(sim)) return NULL;
  bool none = trace == Py_None;
  HkStatus status =
      hk_sim_set_trace(sim->object, none ? NULL : call_trace, none ? NULL : sim, &error);
  handle_release(sim);
  if (status < 0) return raise_error(&error);
  PyObject *old = sim->trace;
  if (!none) Py_INCREF(trace);
  sim->trace = none ? NULL : trace;
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

PyMethodDef sim_methods[] = {
    {"sim_create", sim_create, METH_VARARGS, NULL},
    {"sim_use", sim_use, METH_VARARGS, NULL},
    {"sim_device", sim_device, METH_O, NULL},
    {"sim_h", sim_h, METH_O, NULL},
    {"sim_set_h", sim_set_h, METH_VARARGS, NULL},
    {"sim_method", sim_method, METH_O, NULL},
    {"sim_bytes", sim_bytes, METH_O, NULL},
    {"sim_stable_step", sim_stable_step, METH_VARARGS, NULL},
    {"sim_step_info", sim_step_info, METH_O, NULL},
    {"sim_state_info", sim_state_info, METH_VARARGS, NULL},
    {"sim_forces", sim_forces, METH_VARARGS, NULL},
    {"sim_gradient", sim_gradient, METH_VARARGS, NULL},
    {"sim_stiffness", sim_stiffness, METH_VARARGS, NULL},
    {"sim_contacts", sim_contacts, METH_VARARGS, NULL},
    {"sim_set_trace", sim_set_trace, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
