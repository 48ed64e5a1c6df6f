"""Linear solvers of the caller: functions and objects of Python that solve the systems of implicit steps."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, Protocol, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Floats, Ints, address, floats, view
from .errors import InvalidError

__all__ = ["LinearSolver", "SystemMatrix"]

# Address of the system, rows, entries, addresses of indptr, indices and data, number of the pattern.
_System = tuple[int, int, int, int, int, int, int]


class SystemMatrix:
    """The matrix A of a linear system A x = b: symmetric, mostly positive definite, with three rows a
    vertex: coordinate c of vertex i at 3 i + c, as `sim.x.ravel()` has it. Rows and columns of pinned
    vertices hold a positive diagonal alone.

    `A @ p` is the product with a vector. `indptr`, `indices` and `data` are the entries in the format
    CSR, both triangles, with rising columns in each row; some entries may be 0. They are read-only
    views of the library's memory, which is reused: a solver that keeps one of them beyond the call ends
    the step with InvalidError. `tocsr()` makes a copy. After the call the matrix cannot be used any more.

    scipy.sparse.linalg takes a SystemMatrix as a linear operator.
    """

    __slots__ = ("__weakref__", "_entries", "_places", "_system", "_thread", "_views", "pattern", "shape")

    dtype = np.dtype(np.float64)

    def __init__(self, system: _System) -> None:
        self._system, size, self._entries, *self._places, self.pattern = system
        #: (3 N, 3 N)
        self.shape = (size, size)
        self._thread = threading.get_ident()
        self._views: dict[str, npt.NDArray[Any]] = {}

    def _check_open(self) -> None:
        if self._system == 0:
            raise InvalidError(
                "the matrix is valid only during the call of prepare() or solve() that it was given to; "
                "use the A of this call, or keep a copy such as A.tocsr()"
            )
        if threading.get_ident() != self._thread:
            raise RuntimeError("the matrix is for the thread that the solver was called by")

    def _view(self, name: str, place: int, count: int, kind: str) -> npt.NDArray[Any]:
        self._check_open()
        if self._places[place] == 0:
            raise InvalidError(f"A.{name}: the solver has needs_matrix = False, so that there are products alone")
        if name not in self._views:
            self._views[name] = view(None, self._places[place], (count,), kind)
        return self._views[name]

    @property
    def indptr(self) -> npt.NDArray[np.int64]:
        """(3 N + 1,) the entries of row r are indptr[r] to indptr[r + 1] - 1."""
        return self._view("indptr", 0, self.shape[0] + 1, "i8")

    @property
    def indices(self) -> Ints:
        """Column of each entry."""
        return self._view("indices", 1, self._entries, "i4")

    @property
    def data(self) -> Floats:
        """Value of each entry."""
        return self._view("data", 2, self._entries, "f8")

    def tocsr(self) -> Any:
        """A copy as a scipy.sparse.csr_matrix; requires scipy."""
        from scipy import sparse

        return sparse.csr_matrix((self.data, self.indices, self.indptr), shape=self.shape, copy=True)

    def matvec(self, p: npt.ArrayLike) -> Floats:
        """The product A p with a vector (3 N,)."""
        self._check_open()
        vector, out = floats(p, "A @ p", self.shape[:1]), np.empty(self.shape[0])
        _core.linear_product(self._system, address(vector), address(out))
        return out

    __matmul__ = matvec

    def _close(self) -> list[weakref.ref[npt.NDArray[Any]]]:
        """Ends the use of the matrix; returns references to the views that were given out."""
        given = [weakref.ref(array) for array in self._views.values()]
        self._system = 0
        self._views.clear()
        return given

    def __repr__(self) -> str:
        state = "" if self._system else ", no longer valid"
        return f"<hooke.SystemMatrix: {self.shape[0]} rows, pattern {self.pattern}{state}>"


class _HasSolve(Protocol):
    def solve(self, A: SystemMatrix, b: Floats, tolerance: float, /) -> npt.ArrayLike: ...


#: A function solve(A, b, tolerance) -> x, or an object with such a method; see Sim.
LinearSolver = Union[Callable[[SystemMatrix, Floats, float], npt.ArrayLike], _HasSolve]


class SolverCalls:
    """What the library calls: makes arrays of addresses, and checks what a solver returns."""

    def __init__(self, solver: LinearSolver) -> None:
        method = getattr(solver, "solve", None)
        if isinstance(solver, type):
            raise TypeError(f"linear_solver: expected an object, got the class {solver.__name__}; make one of it")
        if method is None and not callable(solver):
            raise TypeError(
                "linear_solver: expected a function solve(A, b, tolerance) or an object with such a "
                f"method, got {solver!r}"
            )
        self._solve_system: Any = solver if method is None else method
        self._prepare_system: Any = getattr(solver, "prepare", None)
        self.name = str(getattr(solver, "__name__", type(solver).__name__))
        for key, function in (("solve", self._solve_system), ("prepare", self._prepare_system)):
            if not callable(function) and not (key == "prepare" and function is None):
                raise TypeError(f"{self._named(key)}: expected a function, got {function!r}")
        self._needs_matrix = self._flag(solver, "needs_matrix", True)
        self._direct = self._flag(solver, "direct", False)

    def _named(self, function: str) -> str:
        return f"{function}() of linear solver '{self.name}'"

    def _flag(self, solver: LinearSolver, key: str, default: bool) -> bool:
        value = getattr(solver, key, default)
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{key} of linear solver '{self.name}': expected True or False, got {value!r}")
        return bool(value)

    def parts(self) -> tuple[object, str, bool, bool, bool]:
        """What _core.sim_create takes."""
        return self, self.name, self._needs_matrix, self._direct, self._prepare_system is not None

    def _prepare(self, system: _System) -> bool:
        """Whether the matrix is positive definite, as far as the solver knows."""
        try:
            with _lent(system, self._named("prepare")) as A:
                value = self._prepare_system(A)
        except np.linalg.LinAlgError:
            return False
        if value is not None and not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{self._named('prepare')}: expected True, False or None, got {value!r}")
        return value is None or bool(value)

    def _solve(self, system: _System, b: int, x: int, tolerance: float) -> bool:
        """Solves into x; whether the matrix is positive definite, as far as the solver knows."""
        name, shape = self._named("solve"), (system[1],)
        right = view(None, b, shape).copy()  # the caller may keep it
        right.flags.writeable = False
        try:
            with _lent(system, name) as A:
                view(None, x, shape, writable=True)[...] = floats(
                    self._solve_system(A, right, tolerance), name, shape
                )
        except np.linalg.LinAlgError:
            return False
        return True


@contextmanager
def _lent(system: _System, name: str) -> Iterator[SystemMatrix]:
    """A matrix for one call of a solver, which must not keep views of it."""
    A = SystemMatrix(system)
    try:
        yield A
    finally:
        given = A._close()
    if any(array() is not None for array in given):
        gc.collect()  # cycles of the solver may hold what it does not keep
    if any(array() is not None for array in given):
        raise InvalidError(f"{name}: keeps arrays of A that are valid only during the call; keep copies of them")


def check_pickles(solver: LinearSolver | None) -> None:
    """Raises InvalidError where a simulation with the solver cannot be pickled."""
    try:
        pickle.dumps(solver)
    except InvalidError:  # of a solver that holds its own simulation
        raise
    except Exception as error:
        raise InvalidError(
            f"the linear solver {solver!r}, and so its simulation, cannot be pickled ({error}); use a function "
            "at the top level of a module, or an object whose attributes can be pickled"
        ) from error


def without_solver(method: dict[str, Any]) -> dict[str, Any]:
    """An integrator as in scene files, without the linear solver of the caller, which no scene can name."""
    result = {}
    for key, value in method.items():
        if isinstance(value, dict) and value.get("type") == "custom":
            continue
        result[key] = without_solver(value) if isinstance(value, dict) else value
    return result
