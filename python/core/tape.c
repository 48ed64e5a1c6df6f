/* Tapes: steps of a simulation that are recorded, the way back through them and the way forward.
 *
 * The handle of a tape holds its simulation, and by it the model. Recording and passes leave the
 * lock of the interpreter; meanwhile the simulation is claimed. A tape whose controls are forces
 * writes into an array of the model, which it then has for itself.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { CONTROLS_MAX = 4 };

struct PythonTape {
  HkTape *tape;
  const HkModel *model; /* of the simulation */
  PyObject *kept;       /* arrays of the controls */
  double *forces;       /* of the model, which a control writes; NULL: no control is a force */
};

void tape_destroy(PythonTape *t) {
  hk_tape_destroy(&t->tape);
  Py_XDECREF(t->kept);
  free(t);
}

/* ---- Frames ---- */

/* Steps at which positions and velocities come and go, three numbers a vertex. */
typedef struct Frames {
  const int64_t *steps; /* rising */
  Py_ssize_t count;
  Py_ssize_t at;      /* of the next frame */
  int64_t size;       /* numbers of one frame */
  double *x, *v;      /* count x size numbers each */
  PyObject *feedback; /* called at the start of each step on the way back; NULL: nothing */
  int64_t last;       /* the number of steps */
} Frames;

static bool is_frame(const Frames *f, int64_t step) {
  return f->at >= 0 && f->at < f->count && f->steps[f->at] == step;
}

static void copy_to_frame(Frames *f, const double *x, const double *v) {
  size_t bytes = (size_t)f->size * sizeof *x;
  memcpy(f->x + f->at * f->size, x, bytes);
  memcpy(f->v + f->at * f->size, v, bytes);
  f->at++;
}

/* Controls that were made from the state before a step have a gradient by it, which Python adds. */
static void add_feedback(const Frames *f, int64_t step, double *x, double *v) {
  PyGILState_STATE lock = PyGILState_Ensure();
  if (!has_raised())
    Py_XDECREF(PyObject_CallFunction(f->feedback, "LKK", (long long)step,
                                     (unsigned long long)(uintptr_t)x,
                                     (unsigned long long)(uintptr_t)v));
  PyGILState_Release(lock);
}

/* HkLossFn: the caller has the gradients by the frames. */
static void add_loss(void *user, int64_t step, const HkState *state, double *x, double *v) {
  Frames *f = user;
  (void)state;
  if (f->feedback && step < f->last) add_feedback(f, step, x, v);
  if (!is_frame(f, step)) return;
  const double *dx = f->x + f->at * f->size, *dv = f->v + f->at * f->size;
  for (int64_t c = 0; c < f->size; c++) {
    x[c] += dx[c];
    v[c] += dv[c];
  }
  f->at--;
}

/* HkTangentFn */
static void copy_direction(void *user, int64_t step, const HkState *state, const double *x,
                           const double *v) {
  (void)state;
  if (is_frame(user, step)) copy_to_frame(user, x, v);
}

/* ---- Claims ---- */

static int64_t numbers_of_vertices(const HkModel *model) {
  return 3 * hk_model_info(model).vertices;
}

/* Claims a simulation and its model, which is the simulation's alone where forces are controlled;
 * see handle_claim. */
static bool claim(Handle *sim, bool alone) {
  Handle *owner = (Handle *)sim->owner;
  if (!handle_claim(sim)) return false;
  if (alone ? handle_claim(owner) : handle_share(owner)) return true;
  handle_release(sim);
  return false;
}

/* Controls leave no forces behind. */
static void release(const PythonTape *t, Handle *sim) {
  if (t->forces) memset(t->forces, 0, (size_t)numbers_of_vertices(t->model) * sizeof *t->forces);
  handle_release((Handle *)sim->owner);
  handle_release(sim);
}

/* ---- Creating and recording ---- */

/* Controls from a tuple of (kind, number of the force, addresses of its array, of values, of
 * gradients); their number, or -1 and an exception. */
static int read_controls(PyObject *tuple, HkControl controls[CONTROLS_MAX]) {
  Py_ssize_t count = PyTuple_Size(tuple);
  if (count > CONTROLS_MAX) count = CONTROLS_MAX;
  for (Py_ssize_t q = 0; q < count; q++) {
    HkControl *c = &controls[q];
    int kind;
    if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, q), "iiO&O&O&", &kind, &c->force, to_address,
                          &c->array, to_address, &c->values, to_address, &c->gradient))
      return -1;
    c->kind = (HkControlKind)kind;
  }
  return (int)count;
}

/* A handle that owns what it gets, also when it fails. */
static PyObject *make_handle(HkTape *tape, Handle *sim, const HkModel *model, PyObject *kept,
                             double *forces) {
  PythonTape *t = malloc(sizeof *t);
  if (!t) {
    hk_tape_destroy(&tape);
    return PyErr_NoMemory();
  }
  Py_INCREF(kept);
  *t = (PythonTape){.tape = tape, .model = model, .kept = kept, .forces = forces};
  return handle_new(KIND_TAPE, t, (PyObject *)sim, false);
}

/* tape_create(sim, state, model, bytes, accuracy, projected: bool, controls, steps of the controls,
 * what to keep) */
static PyObject *tape_create(PyObject *module, PyObject *arguments) {
  Handle *sim, *state, *model;
  Py_ssize_t bytes;
  int projected;
  long long control_steps;
  PyObject *tuple, *kept;
  HkControl controls[CONTROLS_MAX] = {{0}};
  HkTapeSettings settings = hk_tape_settings_default();
  HkTape *tape = NULL;
  HkError error;
  HkStatus status;
  double *forces = NULL;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&O&ndpO!LO", to_sim, &sim, to_state, &state, to_model,
                        &model, &bytes, &settings.adjoint.accuracy, &projected, &PyTuple_Type,
                        &tuple, &control_steps, &kept))
    return NULL;
  settings.bytes = (size_t)bytes;
  settings.adjoint.projected = projected;
  settings.controls = controls;
  settings.control_count = read_controls(tuple, controls);
  settings.control_steps = control_steps;
  if (settings.control_count < 0 || !handle_claim_pair(sim, state)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_tape_create(sim->object, state->object, &settings, &tape, &error);
  Py_END_ALLOW_THREADS;
  handle_release_pair(sim, state);
  if (status < 0) return raise_error(&error);
  for (int k = 0; k < settings.control_count; k++)
    if (controls[k].kind == HK_CONTROL_FORCE) forces = controls[k].array;
  return make_handle(tape, sim, model->object, kept, forces);
}

/* Makes steps, keeps the frames, and moves the state on at the end. */
static HkStatus record(HkTape *tape, int64_t steps, Frames *f, HkState *state, HkError *error) {
  HkStatus worst = HK_OK;
  for (bool more = true; more;) {
    more = f->at < f->count;
    int64_t until = more ? f->steps[f->at] : steps;
    HkStatus status = hk_tape_steps(tape, until - hk_tape_count(tape), error);
    if (status < 0) return status;
    if (status > 0) worst = status;
    const HkState *now = hk_tape_state(tape);
    if (more) copy_to_frame(f, hk_state_positions(now), hk_state_velocities(now));
  }
  HkStatus status = hk_state_copy(hk_tape_state(tape), state, error);
  return status < 0 ? status : worst;
}

/* tape_record(tape, state, steps, frames, count, x, v) -> bool: makes the steps of a tape up to a
 * number of them, with positions and velocities at the frames. After an error, the state is that of
 * before. False where a step was not solved to its tolerance. */
static PyObject *tape_record(PyObject *module, PyObject *arguments) {
  Handle *tape, *state;
  long long steps;
  Frames f = {0};
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&LO&nO&O&", to_tape, &tape, to_state, &state, &steps,
                        to_address, &f.steps, &f.count, to_address, &f.x, to_address, &f.v))
    return NULL;
  PythonTape *t = tape->object;
  Handle *sim = (Handle *)tape->owner;
  f.size = numbers_of_vertices(t->model);
  if (!claim(sim, t->forces)) return NULL;
  if (!handle_claim(state)) {
    release(t, sim);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  status = record(t->tape, steps, &f, state->object, &error);
  Py_END_ALLOW_THREADS;
  handle_release(state);
  release(t, sim);
  if (status < 0 || has_raised()) return raise_error(&error);
  return PyBool_FromLong(status != HK_NOT_CONVERGED);
}

/* ---- Passes ---- */

/* (steps, linear_iterations, indefinite, unsolved, residual, loss_error, relative_error) */
static PyObject *info_tuple(const HkAdjointInfo *i) {
  return Py_BuildValue("LLLLddd", (long long)i->steps, (long long)i->linear_iterations,
                       (long long)i->indefinite, (long long)i->unsolved, i->residual, i->loss_error,
                       i->relative_error);
}

/* tape_backward(tape, frames, count, dL/dx, dL/dv, to, feedback) -> ((forces, motions), info):
 * addresses of gradients by the frames, and for those by all numbers (see derivatives_describe);
 * feedback(step, addresses of dL/dx and dL/dv) or None */
static PyObject *tape_backward(PyObject *module, PyObject *arguments) {
  Handle *tape;
  Frames f = {0};
  DerivativeArrays to;
  HkDerivatives *d = NULL;
  HkAdjointInfo info = {0};
  HkError error;
  PyObject *result = NULL;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&nO&O&O&O", to_tape, &tape, to_address, &f.steps, &f.count,
                        to_address, &f.x, to_address, &f.v, to_derivative_arrays, &to, &f.feedback))
    return NULL;
  const PythonTape *t = tape->object;
  if (f.feedback == Py_None) f.feedback = NULL;
  f.last = hk_tape_count(t->tape);
  Handle *sim = (Handle *)tape->owner;
  const HkModel *model = t->model;
  f.size = numbers_of_vertices(t->model);
  f.at = f.count - 1;
  if (!claim(sim, t->forces)) return NULL;
  HkStatus status = hk_derivatives_create(model, &d, &error);
  Py_BEGIN_ALLOW_THREADS;
  if (status >= 0) status = hk_tape_backward(t->tape, add_loss, &f, d, &info, &error);
  Py_END_ALLOW_THREADS;
  if (status < 0 || has_raised()) {
    raise_error(&error);
  } else {
    derivatives_read(d, model, &to);
    result = Py_BuildValue("NN", derivatives_describe(d, model), info_tuple(&info));
  }
  hk_derivatives_destroy(&d);
  release(t, sim);
  return result;
}

/* tape_tangent(tape, frames, count, dx, dv, from, forces, motions) -> info: addresses of the
 * directions at the frames, which are written, and of those of all numbers, 0 for none; see
 * derivatives_set_methods */
static PyObject *tape_tangent(PyObject *module, PyObject *arguments) {
  Handle *tape;
  Frames f = {0};
  DerivativeArrays from;
  PyObject *forces, *motions;
  HkDerivatives *d = NULL;
  HkAdjointInfo info = {0};
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&nO&O&O&O!O!", to_tape, &tape, to_address, &f.steps,
                        &f.count, to_address, &f.x, to_address, &f.v, to_derivative_arrays, &from,
                        &PyTuple_Type, &forces, &PyTuple_Type, &motions))
    return NULL;
  const PythonTape *t = tape->object;
  Handle *sim = (Handle *)tape->owner;
  const HkModel *model = t->model;
  f.size = numbers_of_vertices(t->model);
  if (!claim(sim, t->forces)) return NULL;
  HkStatus status = hk_derivatives_create(model, &d, &error);
  if (status >= 0) derivatives_write(d, model, &from);
  bool good = status >= 0 && derivatives_set_methods(d, model, forces, motions);
  Py_BEGIN_ALLOW_THREADS;
  if (good) status = hk_tape_tangent(t->tape, copy_direction, &f, d, &info, &error);
  Py_END_ALLOW_THREADS;
  hk_derivatives_destroy(&d);
  release(t, sim);
  return status < 0 || has_raised() ? raise_error(&error) : info_tuple(&info);
}

/* tape_parameters(tape) -> (forces, motions) as tape_backward returns them, all 0 */
static PyObject *tape_parameters(PyObject *module, PyObject *value) {
  Handle *tape = handle_of(value, KIND_TAPE);
  HkDerivatives *d = NULL;
  HkError error;
  (void)module;
  if (!tape) return NULL;
  const HkModel *model = ((const PythonTape *)tape->object)->model;
  if (hk_derivatives_create(model, &d, &error) < 0) return raise_error(&error);
  PyObject *result = derivatives_describe(d, model);
  hk_derivatives_destroy(&d);
  return result;
}

/* tape_info(tape) -> (bytes of the states that it keeps, steps made again so far) */
static PyObject *tape_info(PyObject *module, PyObject *value) {
  Handle *tape = handle_of(value, KIND_TAPE);
  (void)module;
  if (!tape) return NULL;
  const HkTape *t = ((const PythonTape *)tape->object)->tape;
  return Py_BuildValue("nL", (Py_ssize_t)hk_tape_bytes(t), (long long)hk_tape_repeated(t));
}

PyMethodDef tape_methods[] = {
    {"tape_create", tape_create, METH_VARARGS, NULL},
    {"tape_record", tape_record, METH_VARARGS, NULL},
    {"tape_backward", tape_backward, METH_VARARGS, NULL},
    {"tape_tangent", tape_tangent, METH_VARARGS, NULL},
    {"tape_parameters", tape_parameters, METH_O, NULL},
    {"tape_info", tape_info, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
