/* Runs into files, and viewers. */
#include "core.h"

/* run_create(scene, folder or None, resume, force, halve, checkpoint_seconds, report) */
static PyObject *run_create(PyObject *module, PyObject *arguments) {
  Handle *scene;
  PyObject *folder;
  int resume, force, halve, report;
  HkRunOptions options = hk_run_options_default();
  HkRun *run = NULL;
  HkError error;
  HkStatus status = HK_OK;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&pppdp", to_scene, &scene, to_path, &folder, &resume, &force,
                        &halve, &options.checkpoint_seconds, &report))
    return NULL;
  options.folder = path_text(folder);
  options.resume = resume;
  options.force = force;
  options.on_blowup = halve ? HK_BLOWUP_HALVE : HK_BLOWUP_STOP;
  options.report = report && folder;
  if (!scene->ranks) options.cancel = cancel_on_signal;
  bool mine = handle_claim(scene);
  if (mine) {
    Py_BEGIN_ALLOW_THREADS;
    status = hk_run_create(scene->object, &options, &run, &error);
    Py_END_ALLOW_THREADS;
    handle_release(scene);
  }
  Py_XDECREF(folder);
  if (!mine) return NULL;
  if (status < 0) return raise_error(&error);
  return handle_with_ranks(handle_new(KIND_RUN, run, NULL, false), scene->ranks);
}

/* run_frame(run) -> whether there was a frame left */
static PyObject *run_frame(PyObject *module, PyObject *value) {
  Handle *run = handle_of(value, KIND_RUN);
  HkError error;
  HkStatus status;
  (void)module;
  if (!run || !handle_claim(run)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = hk_run_frame(run->object, &error);
  Py_END_ALLOW_THREADS;
  handle_release(run);
  if (status < 0) return raise_error(&error);
  return PyBool_FromLong(status != HK_DONE);
}

/* run_write(run, report: bool): the checkpoint, after which the folder is released, or the report
 */
static PyObject *run_write(PyObject *module, PyObject *arguments) {
  Handle *run;
  int report;
  HkError error;
  HkStatus status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&p", to_run, &run, &report)) return NULL;
  if (!handle_claim(run)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = report ? hk_run_report(run->object, &error) : hk_run_close(run->object, &error);
  Py_END_ALLOW_THREADS;
  handle_release(run);
  return none_or_raise(status, &error);
}

/* run_progress(run) -> tuple in the order of HkProgress */
static PyObject *run_progress(PyObject *module, PyObject *value) {
  Handle *run = handle_of(value, KIND_RUN);
  (void)module;
  if (!run) return NULL;
  HkProgress p = hk_run_progress(run->object);
  return Py_BuildValue("LLLLLLLiddddddd", (long long)p.frame, (long long)p.frames,
                       (long long)p.step, (long long)p.substeps, (long long)p.steps,
                       (long long)p.stationary, (long long)p.unconverged, p.halvings, p.time,
                       p.duration, p.part, p.h, p.stable_h, p.stepping, p.writing);
}

/* run_model(run), run_sim(run): handles that keep the run alive */
static PyObject *run_model(PyObject *module, PyObject *value) {
  Handle *run = handle_of(value, KIND_RUN);
  (void)module;
  if (!run) return NULL;
  return handle_new(KIND_MODEL, (HkModel *)hk_run_model(run->object), value, true);
}

static PyObject *run_sim(PyObject *module, PyObject *value) {
  Handle *run = handle_of(value, KIND_RUN);
  (void)module;
  return run ? handle_new(KIND_SIM, hk_run_sim(run->object), value, true) : NULL;
}

/* run_state(run) -> a copy of the state as it is now */
static PyObject *run_state(PyObject *module, PyObject *value) {
  Handle *run = handle_of(value, KIND_RUN);
  HkState *state = NULL;
  HkError error;
  (void)module;
  if (!run || !handle_claim(run)) return NULL;
  HkStatus status = hk_state_create(hk_run_model(run->object), &state, &error);
  if (status >= 0) status = hk_state_copy(hk_run_state(run->object), state, &error);
  if (status < 0) hk_state_destroy(&state);
  handle_release(run);
  if (status < 0) return raise_error(&error);
  return handle_with_ranks(handle_new(KIND_STATE, state, NULL, false), run->ranks);
}

/* viewer_create(scene, model, frames, bytes) */
static PyObject *viewer_create(PyObject *module, PyObject *arguments) {
  Handle *scene, *model;
  long long frames;
  double bytes;
  HkViewer *viewer = NULL;
  HkError error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&Ld", to_scene, &scene, to_model, &model, &frames, &bytes))
    return NULL;
  HkStatus status = hk_viewer_create(scene->object, model->object, frames, bytes, &viewer, &error);
  if (status < 0) return raise_error(&error);
  return handle_new(KIND_VIEWER, viewer, (PyObject *)model, false);
}

/* viewer_add(viewer, sim, state) */
static PyObject *viewer_add(PyObject *module, PyObject *arguments) {
  Handle *viewer, *sim, *state;
  HkError error;
  HkStatus status = HK_OK;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&O&", to_viewer, &viewer, to_sim, &sim, to_state, &state))
    return NULL;
  if (!handle_claim_pair(sim, state)) return NULL;
  bool mine = handle_claim(viewer);
  if (mine) {
    Py_BEGIN_ALLOW_THREADS;
    status = hk_viewer_add(viewer->object, sim->object, state->object, &error);
    Py_END_ALLOW_THREADS;
    handle_release(viewer);
  }
  handle_release_pair(sim, state);
  return mine ? none_or_raise(status, &error) : NULL;
}

/* viewer_write(viewer, sim, path) */
static PyObject *viewer_write(PyObject *module, PyObject *arguments) {
  Handle *viewer, *sim;
  PyObject *path;
  HkError error;
  HkStatus status = HK_OK;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&O&", to_viewer, &viewer, to_sim, &sim, to_path, &path))
    return NULL;
  const char *name = path_text(path);
  bool mine = handle_claim(viewer);
  if (mine) {
    Py_BEGIN_ALLOW_THREADS;
    status = hk_viewer_write(viewer->object, sim->object, name, &error);
    Py_END_ALLOW_THREADS;
    handle_release(viewer);
  }
  Py_XDECREF(path);
  return mine ? none_or_raise(status, &error) : NULL;
}

PyMethodDef run_methods[] = {
    {"run_create", run_create, METH_VARARGS, NULL},
    {"run_frame", run_frame, METH_O, NULL},
    {"run_write", run_write, METH_VARARGS, NULL},
    {"run_progress", run_progress, METH_O, NULL},
    {"run_model", run_model, METH_O, NULL},
    {"run_sim", run_sim, METH_O, NULL},
    {"run_state", run_state, METH_O, NULL},
    {"viewer_create", viewer_create, METH_VARARGS, NULL},
    {"viewer_add", viewer_add, METH_VARARGS, NULL},
    {"viewer_write", viewer_write, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
