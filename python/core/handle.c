/* Handles: objects of the library with the lifetimes of Python, and the one fast call, steps.
 *
 * A handle destroys its object when the last reference goes, and holds what the object points to
 * until then: a simulation its model, the arrays of a state that state. Calls that may take long
 * leave the lock of the interpreter; meanwhile a handle is claimed, and another thread that uses
 * it gets a RuntimeError instead of a race.
 */
#include "core.h"

static PyTypeObject *handle_type;

static const char *const kind_names[KIND_COUNT] = {
    "mesh",  "scene",          "model", "state", "simulation", "run", "viewer", "array on a device",
    "batch", "group of ranks", "tape"};

/* ---- Lifetime ---- */

static void destroy_object(Handle *h) {
  void *object = h->object;
  h->object = NULL;
  if (!object || h->borrowed) return;
  if (h->ranks && !h->ranks->object) return; /* closed at the end of the interpreter */
  switch (h->kind) {
  case KIND_MESH: hk_mesh_destroy(&(HkMesh *){object}); break;
  case KIND_SCENE: hk_scene_destroy(&(HkScene *){object}); break;
  case KIND_MODEL: hk_model_destroy(&(HkModel *){object}); break;
  case KIND_STATE: hk_state_destroy(&(HkState *){object}); break;
  case KIND_SIM: hk_sim_destroy(&(HkSim *){object}); break;
  case KIND_RUN: hk_run_destroy(&(HkRun *){object}); break;
  case KIND_VIEWER: hk_viewer_destroy(&(HkViewer *){object}); break;
  case KIND_ARRAY: hk_device_array_destroy(&(HkDeviceArray *){object}); break;
  case KIND_BATCH: hk_batch_destroy(&(HkBatch *){object}); break;
  case KIND_TAPE: tape_destroy(object); break;
  case KIND_RANKS:
    ranks_forget(h);
    hk_ranks_close(&(HkRanks *){object});
    break;
  case KIND_COUNT: break;
  }
}

static int handle_traverse(PyObject *self, visitproc visit, void *arg) {
  Handle *h = (Handle *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(h->owner);
  Py_VISIT((PyObject *)h->ranks);
  Py_VISIT(h->state);
  Py_VISIT(h->trace);
  for (const PythonForce *f = h->forces; f; f = f->next) Py_VISIT(f->target);
  if (h->solver) Py_VISIT(h->solver->target);
  return 0;
}

/* Releases the functions of forces. The list may change while an object is released, so each search
 * starts from its head. */
static void clear_forces(Handle *h) {
  PythonForce *f = h->forces;
  while (f) {
    for (f = h->forces; f && !f->target;) f = f->next;
    if (f) Py_CLEAR(f->target);
  }
}

/* A trace, the functions of a force and a linear solver can close a circle: they may hold the
 * simulation that holds them. */
static int handle_clear(PyObject *self) {
  Handle *h = (Handle *)self;
  if (h->trace && h->object) hk_sim_set_trace(h->object, NULL, NULL, NULL);
  Py_CLEAR(h->trace);
  if (h->solver) Py_CLEAR(h->solver->target);
  clear_forces(h);
  return 0;
}

static void handle_dealloc(PyObject *self) {
  Handle *h = (Handle *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  destroy_object(h);
  forces_release_arrays(h);
  solver_destroy(h->solver);
  Py_CLEAR(h->trace);
  Py_CLEAR(h->state);
  Py_CLEAR(h->owner);
  Py_XDECREF((PyObject *)h->ranks);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

PyObject *handle_new(Kind kind, void *object, PyObject *owner, bool borrowed) {
  Handle *h = (Handle *)PyType_GenericAlloc(handle_type, 0);
  Handle failed = {.kind = kind, .object = object, .owner = owner, .borrowed = borrowed};
  if (!h) {
    destroy_object(&failed);
    return NULL;
  }
  h->kind = kind;
  h->object = object;
  h->borrowed = borrowed;
  Py_XINCREF(owner);
  h->owner = owner;
  const Handle *from = owner && Py_TYPE(owner) == handle_type ? (const Handle *)owner : NULL;
  return handle_with_ranks((PyObject *)h, from ? from->ranks : NULL);
}

PyObject *handle_with_ranks(PyObject *handle, Handle *ranks) {
  Handle *h = (Handle *)handle;
  if (!h || !ranks) return handle;
  Py_INCREF((PyObject *)ranks);
  h->ranks = ranks;
  return handle;
}

Handle *handle_of(PyObject *value, Kind kind) {
  Handle *h = (Handle *)value;
  if (Py_TYPE(value) == handle_type && h->kind == kind && h->object) return h;
  PyErr_Format(PyExc_TypeError, "expected the handle of a %s", kind_names[kind]);
  return NULL;
}

static int convert(PyObject *value, void *handle, Kind kind) {
  *(Handle **)handle = handle_of(value, kind);
  return *(Handle **)handle != NULL;
}

int to_mesh(PyObject *value, void *handle) {
  return convert(value, handle, KIND_MESH);
}

int to_scene(PyObject *value, void *handle) {
  return convert(value, handle, KIND_SCENE);
}

int to_model(PyObject *value, void *handle) {
  return convert(value, handle, KIND_MODEL);
}

int to_state(PyObject *value, void *handle) {
  return convert(value, handle, KIND_STATE);
}

int to_sim(PyObject *value, void *handle) {
  return convert(value, handle, KIND_SIM);
}

int to_run(PyObject *value, void *handle) {
  return convert(value, handle, KIND_RUN);
}

int to_viewer(PyObject *value, void *handle) {
  return convert(value, handle, KIND_VIEWER);
}

int to_array(PyObject *value, void *handle) {
  return convert(value, handle, KIND_ARRAY);
}

int to_batch(PyObject *value, void *handle) {
  return convert(value, handle, KIND_BATCH);
}

int to_tape(PyObject *value, void *handle) {
  return convert(value, handle, KIND_TAPE);
}

int to_ranks(PyObject *value, void *handle) {
  if (value != Py_None) return convert(value, handle, KIND_RANKS);
  *(Handle **)handle = NULL;
  return 1;
}

/* ---- One at a time ---- */

/* Whether a thread has the batch that a handle belongs to for itself. */
static bool batch_is_claimed(const Handle *h) {
  const Handle *owner = (const Handle *)h->owner;
  return owner && Py_TYPE(h->owner) == handle_type && owner->kind == KIND_BATCH && owner->claimed;
}

/* Raises a RuntimeError; always false. */
static bool refuse(const Handle *h) {
  PyErr_Format(PyExc_RuntimeError,
               "another thread is using this %s; wait for it, or give each thread its own",
               kind_names[h->kind]);
  return false;
}

bool handle_claim(Handle *h) {
  if (h->users > 0 || batch_is_claimed(h)) return refuse(h);
  h->users = 1;
  h->claimed = true;
  return true;
}

bool handle_share(Handle *h) {
  if (h->kind == KIND_MODEL && h->claimed) return refuse(h);
  h->users++;
  return true;
}

void handle_release(Handle *h) {
  if (--h->users == 0) h->claimed = false;
}

/* The owner of a simulation is its model, or the run or batch that it belongs to. */
static bool claim_both(Handle *sim, Handle *state) {
  if (!handle_claim(sim)) return false;
  if (handle_claim(state)) {
    if (handle_share((Handle *)sim->owner)) return true;
    handle_release(state);
  }
  handle_release(sim);
  return false;
}

/* No step at all is refused, too, where the state is that of another model. */
bool handle_claim_pair(Handle *sim, Handle *state) {
  HkError error;
  if (!claim_both(sim, state)) return false;
  HkStatus status = hk_sim_steps(sim->object, state->object, 0, &error);
  if (status >= 0 && !has_raised()) return true;
  handle_release_pair(sim, state);
  raise_error(&error);
  return false;
}

void handle_release_pair(Handle *sim, Handle *state) {
  handle_release((Handle *)sim->owner);
  handle_release(state);
  handle_release(sim);
}

/* ---- Steps ---- */

/* Some steps, without the lock of the interpreter. */
static HkStatus step_unlocked(Handle *sim, int64_t count, HkError *error) {
  HkStatus status;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_sim_steps(sim->object, sim->state->object, count, error);
  Py_END_ALLOW_THREADS;
  return status;
}

/* Many steps in pieces of some hundredths of a second, so that Ctrl-C is noticed between them: the
 * bits do not depend on the pieces. On ranks in one piece, since their clocks differ. False after
 * an exception. */
static bool make_steps(Handle *sim, int64_t count, HkStatus *worst) {
  HkError error;
  int64_t piece = sim->ranks && count > 0 ? count : 1;
  while (count > 0) {
    int64_t size = piece < count ? piece : count;
    double before = count > 1 ? wall_time() : 0;
    HkStatus status = step_unlocked(sim, size, &error);
    if (status != HK_OK) *worst = status;
    if (status < 0) raise_error(&error);
    if (status < 0 || has_raised() || PyErr_CheckSignals() < 0) return false;
    count -= size;
    if (count == 0) break;
    double seconds = wall_time() - before;
    if (seconds < 0.02 && piece < INT64_MAX / 2) piece *= 2;
    if (seconds > 0.1 && piece > 1) piece /= 2;
  }
  return true;
}

/* One step. Where a function of Python raises an exception in it, the state becomes that of before;
 * errors of the library leave the state as they do without such functions. */
static HkStatus step_or_restore(Handle *sim, HkState *before, HkError *error) {
  HkState *state = sim->state->object;
  HkStatus status = hk_state_copy(state, before, error);
  if (status >= 0) status = step_unlocked(sim, 1, error);
  if (has_raised()) hk_state_copy(before, state, NULL);
  return status;
}

/* One step after the other, for forces that call Python. False after an exception. */
static bool make_single_steps(Handle *sim, int64_t count, HkStatus *worst) {
  HkState *before = NULL;
  HkError error;
  HkStatus status = hk_state_create(((const Handle *)sim->owner)->object, &before, &error);
  bool good = status >= 0;
  for (int64_t q = 0; q < count && good; q++) {
    status = step_or_restore(sim, before, &error);
    if (status != HK_OK) *worst = status;
    good = status >= 0 && !has_raised() && PyErr_CheckSignals() == 0;
  }
  if (status < 0) raise_error(&error);
  hk_state_destroy(&before);
  return good;
}

/* steps(count): moves the state of a simulation; False where a step was not solved to its
 * tolerance.
 */
static PyObject *handle_steps(PyObject *self, PyObject *value) {
  Handle *sim = (Handle *)self;
  HkStatus worst = HK_OK;
  PyObject *whole = PyNumber_Index(value); /* Python 3.9 would take 1.5 for 1 */
  long long count = whole ? PyLong_AsLongLong(whole) : -1;
  Py_XDECREF(whole);
  if (count == -1 && PyErr_Occurred()) return NULL;
  if (sim->kind != KIND_SIM || !sim->state) {
    PyErr_SetString(PyExc_TypeError, "this is no simulation with a state");
    return NULL;
  }
  if (count < 0) {
    PyErr_Format(PyExc_ValueError, "%lld steps are not possible; give 0 or more", count);
    return NULL;
  }
  if (!claim_both(sim, sim->state)) return NULL;
  bool singly = forces_call_python((const Handle *)sim->owner);
  bool good = singly ? make_single_steps(sim, count, &worst) : make_steps(sim, count, &worst);
  handle_release_pair(sim, sim->state);
  return good ? PyBool_FromLong(worst != HK_NOT_CONVERGED) : NULL;
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    {"steps", handle_steps, METH_O, "steps(count) -> bool"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)handle_dealloc},
    {Py_tp_traverse, (void *)handle_traverse},
    {Py_tp_clear, (void *)handle_clear},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)"An object of the C library."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "hooke._core.Handle",
    .basicsize = sizeof(Handle),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

int handle_ready(PyObject *module) {
  PyObject *type = PyType_FromSpec(&spec);
  if (!type) return -1;
  handle_type = (PyTypeObject *)type;
  Py_INCREF(type);
  if (PyModule_AddObject(module, "Handle", type) == 0) return 0;
  Py_DECREF(type);
  return -1;
}
