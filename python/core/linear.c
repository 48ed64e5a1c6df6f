/* Linear solvers of the caller: objects of Python that solve the systems of implicit steps.
 *
 * The handle of a simulation owns the PythonSolver, so that the garbage collector sees what the
 * solver refers to, and destroys it after the simulation that calls it.
 *
 * An exception stays the pending exception of the thread that steps. The callback returns
 * HK_ERROR_CANCELLED, with which the library ends the step and leaves the state of the last whole
 * one; whoever called the library then raises the exception (has_raised).
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- The functions that the library calls ---- */

/* Calls a method of the solver, which returns whether the matrix is positive definite. */
static HkStatus ask(const PythonSolver *solver, bool *indefinite, HkError *error,
                    const char *method, const char *format, ...) {
  va_list list;
  PyGILState_STATE lock = PyGILState_Ensure();
  if (!solver->target && !PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, "the garbage collector has released the linear solver");
  va_start(list, format);
  PyObject *definite = call_target(solver->target, method, format, list);
  va_end(list);
  if (definite) *indefinite = definite == Py_False;
  Py_XDECREF(definite);
  HkStatus status = status_of_call("a linear solver", error);
  PyGILState_Release(lock);
  return status;
}

/* The matrix as Python gets it: address of the system, rows, entries, addresses of row_start,
 * column and value (0 where the solver needs no matrix), number of the pattern. */
#define SYSTEM_FORMAT "(O&LLO&O&O&L)"
#define SYSTEM_ARGUMENTS(A)                                                                        \
  AS_INT(A), (long long)(A)->size, (long long)((A)->row_start ? (A)->row_start[(A)->size] : 0),    \
      AS_INT((A)->row_start), AS_INT((A)->column), AS_INT((A)->value), (long long)(A)->pattern

static HkStatus prepare(void *user, const HkLinearSystem *A, bool *indefinite, HkError *error) {
  return ask(user, indefinite, error, "_prepare", "(" SYSTEM_FORMAT ")", SYSTEM_ARGUMENTS(A));
}

static HkStatus solve(void *user, const HkLinearSystem *A, const double *b, double *x,
                      double tolerance, HkLinearOutcome *outcome, HkError *error) {
  return ask(user, &outcome->indefinite, error, "_solve", "(" SYSTEM_FORMAT "O&O&d)",
             SYSTEM_ARGUMENTS(A), AS_INT(b), AS_INT(x), tolerance);
}

/* ---- Lifetime ---- */

PythonSolver *solver_create(PyObject *parts) {
  PyObject *target;
  const char *name;
  int needs_matrix, direct, has_prepare;
  if (!PyArg_ParseTuple(parts, "Osppp", &target, &name, &needs_matrix, &direct, &has_prepare))
    return NULL;
  PythonSolver *solver = calloc(1, sizeof *solver + strlen(name) + 1);
  if (!solver) {
    PyErr_NoMemory();
    return NULL;
  }
  memcpy(solver->name, name, strlen(name) + 1);
  solver->functions = hk_linear_functions_default();
  solver->functions.name = solver->name;
  solver->functions.needs_matrix = needs_matrix;
  solver->functions.direct = direct;
  solver->functions.solve = solve;
  if (has_prepare) solver->functions.prepare = prepare;
  Py_INCREF(target);
  solver->target = target;
  return solver;
}

void solver_destroy(PythonSolver *solver) {
  if (!solver) return;
  Py_XDECREF(solver->target);
  free(solver);
}

/* ---- Products ---- */

/* linear_product(system, p, out): addresses; out = A p. Valid while the library calls the solver
 * with that system, from the same thread. */
static PyObject *linear_product(PyObject *module, PyObject *arguments) {
  const HkLinearSystem *A;
  const double *p;
  double *out;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&O&O&", to_address, &A, to_address, &p, to_address, &out))
    return NULL;
  Py_BEGIN_ALLOW_THREADS;
  A->product(A, p, out);
  Py_END_ALLOW_THREADS;
  return has_raised() ? NULL : Py_BuildValue("");
}

PyMethodDef linear_methods[] = {
    {"linear_product", linear_product, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
