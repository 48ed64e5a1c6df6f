/* hooke._core: the C library as Python sees it. Objects of the library are Handles; everything that
 * is comfortable stands in Python, in ../hooke.
 *
 * Only the limited API of Python 3.9 is used, so that one binary serves all later versions. That
 * API has no buffers yet: arrays come and go as addresses, and the Python side keeps them alive.
 * Each function says in its comment what Python passes and gets.
 */
#ifndef HOOKE_PYTHON_CORE_H
#define HOOKE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <hooke/adjoint.h>
#include <hooke/batch.h>
#include <hooke/device.h>
#include <hooke/extend.h>
#include <hooke/ranks.h>
#include <hooke/run.h>
#include <stddef.h>

/* ---- Handles: handle.c ---- */

typedef enum Kind {
  KIND_MESH,
  KIND_SCENE,
  KIND_MODEL,
  KIND_STATE,
  KIND_SIM,
  KIND_RUN,
  KIND_VIEWER,
  KIND_ARRAY,
  KIND_BATCH,
  KIND_RANKS,
  KIND_TAPE,
  KIND_COUNT
} Kind;

/* A force of the caller that is in a model: see force.c. */
typedef struct PythonForce {
  PyObject *target; /* what computes it; NULL once the garbage collector has cleared it */
  struct Handle *model;
  struct PythonForce *next; /* of the same model */
  const HkSchema *schema;   /* by which the model names it */
  const double *array;      /* of the target, N; NULL: the target has functions. The library owns
                             * forces with functions, the handle of the model those with arrays */
  bool has_end_step;
} PythonForce;

/* A linear solver of the caller, which a simulation uses: see linear.c. */
typedef struct PythonSolver {
  PyObject *target; /* what solves; NULL once the garbage collector has cleared it */
  HkLinearFunctions functions;
  char name[]; /* for messages */
} PythonSolver;

typedef struct Handle {
  PyObject ob_base; /* as PyObject_HEAD */
  Kind kind;
  bool borrowed; /* the object belongs to that of the owner */
  int users;     /* calls that are at work on it without the lock of the interpreter */
  bool claimed;  /* one of them has it for itself */
  void *object;
  PyObject *owner;      /* what must live as long as the object; NULL: nothing */
  struct Handle *state; /* of a simulation: what it steps; NULL: nothing yet */
  PyObject *trace;      /* of a simulation: called after each iteration; NULL: none */
  PythonForce *forces;  /* of a model: those of Python; NULL: none */
  PythonSolver *solver; /* of a simulation: its linear solver in Python, owned; NULL: none */
  struct Handle *ranks; /* with which the object was made, which they outlive; NULL: none */
  struct Handle *next;  /* of ranks: others that are open */
} Handle;

_Static_assert(offsetof(Handle, ob_base) == 0, "a Handle is a PyObject");

/* Takes the object over, unless borrowed, also when it fails; keeps a reference to owner, and to
 * the ranks of an owner that is a handle. */
PyObject *handle_new(Kind kind, void *object, PyObject *owner, bool borrowed);
/* Keeps a reference to ranks, too, and returns the handle; NULL is allowed for both. */
PyObject *handle_with_ranks(PyObject *handle, Handle *ranks);
/* The handle of that kind, or NULL and a TypeError. */
Handle *handle_of(PyObject *value, Kind kind);
/* Sets up the type. */
int handle_ready(PyObject *module);

/* For PyArg_ParseTuple's "O&": a handle of that kind. */
int to_mesh(PyObject *value, void *handle);
int to_scene(PyObject *value, void *handle);
int to_model(PyObject *value, void *handle);
int to_state(PyObject *value, void *handle);
int to_sim(PyObject *value, void *handle);
int to_run(PyObject *value, void *handle);
int to_viewer(PyObject *value, void *handle);
int to_array(PyObject *value, void *handle);
int to_batch(PyObject *value, void *handle);
int to_tape(PyObject *value, void *handle);
/* None: NULL. */
int to_ranks(PyObject *value, void *handle);

/* Claims a handle for a call that leaves the lock: false, with a RuntimeError, where another thread
 * has it, or the batch that it belongs to. A model may have many who read it, while nobody changes
 * it: handle_share, which fails with a RuntimeError where another thread has claimed the model. */
bool handle_claim(Handle *h);
bool handle_share(Handle *h);
void handle_release(Handle *h);
/* A simulation and a state, and the model that both must belong to. */
bool handle_claim_pair(Handle *sim, Handle *state);
void handle_release_pair(Handle *sim, Handle *state);

/* ---- Forces of Python: force.c ---- */

/* The Python object of a force of a model, borrowed; NULL: it is a force of the library. */
PyObject *force_target(const Handle *model, const HkMethod *method);
/* Whether steps of a model call functions of Python. */
bool forces_call_python(const Handle *model);
/* Releases the arrays of forces that the model no longer has; of a handle without a model: all. */
void forces_release_arrays(Handle *model);

/* ---- Linear solvers of Python: linear.c ---- */

/* A solver from (target, name, needs_matrix, direct, has_prepare), or NULL and an exception. */
PythonSolver *solver_create(PyObject *parts);
/* Releases the solver; NULL is allowed. No simulation may use it any more. */
void solver_destroy(PythonSolver *solver);

/* ---- Derivatives: derivatives.c ---- */

/* Arrays with one number for each of a model, as in HkDerivativeArrays, of Python; NULL: none. */
typedef struct DerivativeArrays {
  double *x, *v, *mass, *k, *l0, *damping, *places;
} DerivativeArrays;

/* For PyArg_ParseTuple's "O&": a tuple of seven addresses in the order of DerivativeArrays. */
int to_derivative_arrays(PyObject *value, void *arrays);
/* Copies arrays from derivatives, and into them. */
void derivatives_read(HkDerivatives *d, const HkModel *model, const DerivativeArrays *to);
void derivatives_write(HkDerivatives *d, const HkModel *model, const DerivativeArrays *from);
/* (forces, motions): lists of {name: (shape, bytearray)} for the differentiable parameters of each
 * force of the model and of the motion of each of its pins; the bytearray alone for an array of
 * forces. NULL after an exception. */
PyObject *derivatives_describe(const HkDerivatives *d, const HkModel *model);
/* Sets the numbers of parameters from two tuples, for forces and motions, of (number, name or None
 * for an array of forces, address): as many numbers as derivatives_describe has. False after an
 * exception. */
bool derivatives_set_methods(HkDerivatives *d, const HkModel *model, PyObject *forces,
                             PyObject *motions);

/* ---- Tapes: tape.c ---- */

/* A tape, and what it needs of Python. */
typedef struct PythonTape PythonTape;
void tape_destroy(PythonTape *tape);

/* ---- Ranks: ranks.c ---- */

/* Takes a handle that is about to be closed out of the list of those that are open. */
void ranks_forget(Handle *ranks);

/* ---- Errors, log, paths: support.c ---- */

/* Raises the exception of hooke.errors that belongs to the error; always NULL. */
PyObject *raise_error(const HkError *error);
/* Whether a function of Python that the library called has raised an exception, which is pending.
 */
bool has_raised(void);
/* Ends the step under way soon, since the exception that is pending belongs to it. */
void note_exception(void);
/* Two arguments for "O&" of Py_BuildValue: an address as an int, 0 for NULL. The int is created
 * only where the value is built. */
#define AS_INT(address) PyLong_FromVoidPtr, (void *)(address)
/* Calls a method of the target with arguments as of Py_VaBuildValue. NULL after an exception, also
 * after an earlier one, and where the target is NULL. The caller holds the lock. */
PyObject *call_target(PyObject *target, const char *method, const char *format, va_list list);
/* The status of a callback of the library that has called Python: HK_ERROR_CANCELLED, which ends
 * the step, where an exception is pending. `whose` names the owner of the function. */
HkStatus status_of_call(const char *whose, HkError *error);
/* None, or the exception. */
PyObject *none_or_raise(HkStatus status, const HkError *error);
/* The C library's memory, so many threads, a device, and a log that goes to Python's. */
HkContext python_context(int threads, HkDeviceKind device);
/* Wall time in s of the monotonic clock. */
double wall_time(void);
/* HkCancelFn: ends a step where a signal handler of Python raises an exception, as for Ctrl-C. */
bool cancel_on_signal(void *user);
/* For PyArg_ParseTuple's "O&": a path as bytes, a new reference; NULL for None. */
int to_path(PyObject *value, void *bytes);
/* The characters of such a path; NULL for none. */
const char *path_text(PyObject *bytes);
/* For PyArg_ParseTuple's "O&": an address as an int, into a pointer to anything. */
int to_address(PyObject *value, void *pointer);
/* The texts of a tuple of str, which live as long as *kept, a new reference; free the array. NULL
 * after an exception. */
const char **texts_of(PyObject *tuple, PyObject **kept);
/* (address, count) of an array; (0, 0) where there is none. */
PyObject *array_pair(const void *array, int64_t count);
/* A text of the library as str; the text is released. */
PyObject *take_text(char *text);
/* configure(make_error, log): functions for errors and log lines. */
PyObject *core_configure(PyObject *module, PyObject *arguments);

/* ---- Functions of the module ---- */

extern PyMethodDef registry_methods[], mesh_methods[], scene_methods[], model_methods[],
    force_methods[], linear_methods[], state_methods[], sim_methods[], device_methods[],
    run_methods[], batch_methods[], ranks_methods[], tape_methods[];

#endif
