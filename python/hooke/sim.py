"""Sim: a model moved step by step."""

from __future__ import annotations

import copy
import json
import os
from types import TracebackType
from typing import Any, Callable, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Floats, address, point
from ._deprecated import deprecated
from ._progress import Progress, bar
from ._sparse import Triplets, as_sparse
from .contacts import Contacts
from .device import DeviceArray
from .energies import Energies, StateInfo
from .errors import InvalidError, UnsupportedError
from .linear import LinearSolver, SolverCalls, check_pickles, without_solver
from .methods import Method, as_method, method_text
from .model import Model
from .ranks import Ranks
from .scene import DEVICES, Scene
from .state import State
from .view import Film, Page, show

__all__ = ["Grip", "Motion", "Sim", "StepInfo", "Trace"]

_KINDS = ("device_x", "device_v")  # in the order of HkArrayKind


class StepInfo(NamedTuple):
    """How the last step was solved; see the output solver in docs/outputs.md."""

    substeps: int
    rejected: int
    iterations: int
    linear_iterations: int
    evaluations: int
    projections: int
    gradient: float  #: relative gradient |M^-1 dg/dx|_M / |x - x_n|_M, without unit
    residual: float  #: of the last linear solve, relative
    reason: str  #: converged, rounding, stationary, iterations, stalled or limits; none: explicit


class Trace(NamedTuple):
    """The iterations of one step: arrays with one entry each, the starting guess first."""

    change: Floats  #: kg m^2: g(x) - g(start), what an implicit step minimizes
    gradient: Floats  #: as in StepInfo
    seconds: Floats  #: s, since the start


class Motion(NamedTuple):
    """Frames of a motion."""

    time: Floats  #: (F,) s
    x: Floats  #: (F, N, 3) m; empty where it was not asked for
    energies: Energies


class Grip:
    """A hand that drags vertices: a spring without length to a target. Also a context manager."""

    def __init__(self, model: Model, force: Method) -> None:
        self._model = model
        self._force = force
        model.forces.append(force)

    def _index(self) -> int:
        for index, force in enumerate(self._model.forces):
            if force == self._force:
                return index
        raise InvalidError("the hand was let go already")

    def move_to(self, target: npt.ArrayLike) -> None:
        """Drags on to another place [m]."""
        index = self._index()
        self._force = self._force.replace(target=point(target, "target"))
        self._model.forces[index] = self._force

    def let_go(self) -> None:
        """Takes the hand away."""
        del self._model.forces[self._index()]

    def __enter__(self) -> Grip:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.let_go()


class Sim:
    """An integrator with its workspace, and the state that it moves.

    Parameters
    ----------
    scene : Scene or Model, the name of a built-in scene, or the path of a scene file
        A model may have several simulations; give each thread one of its own.
    integrator
        Such as "verlet" or hooke.integrators.bdf2(); that of the scene if not given.
    h : float [s]
        The step; that of the scene, or one picked by stability, if not given.
    state : State
        To go on from; the start if not given. It is used itself, not a copy.
    threads : int
        That work on it, 0 for all cores; of a new model.
    ranks : Ranks
        Processes that hold a part of a new model each and make the steps together.
    device : "cpu", "cuda", "cuda_double" or "auto"
        Where the steps are made: that of the model, else "cpu". "cuda" needs the plug-in of docs/gpu.md;
        its steps are asynchronous, and a blow-up is raised once x or v is read.
        "cuda_double" does the same in double precision, slowly: to check with. "auto": "cuda" where
        that is there, supports the model and pays by its size, else "cpu"; sim.device says which.
    linear_solver
        Solves the linear systems A x = b of implicit steps in place of a built-in solver: a function
        solve(A, b, tolerance) -> x (3 N,) with |b - A x| <= tolerance |b|, or an object with such a method.
        A is a SystemMatrix. The object may have

        - prepare(A), called when A has new values, to factorize them. It returns False, or raises
          numpy.linalg.LinAlgError, where A is not positive definite; solve may raise that, too. Hooke then
          projects A, and calls prepare again.
        - direct (False): the solver solves to rounding and finds every A that is not positive definite.
        - needs_matrix (True): the solver reads the entries of A. With False A has products alone, and is
          not assembled.

        Newton's method becomes the minimizer where none is chosen. An exception ends the step, and the
        state is that of before. A solver that keeps a factorization is for one thread at a time. By SuperLU
        of scipy:

            from scipy.sparse.linalg import splu

            class SuperLU:
                def prepare(self, A):
                    self.factor = splu(A.tocsr().tocsc())

                def solve(self, A, b, tolerance):
                    return self.factor.solve(b)

            sim = hooke.Sim("curtain", integrator="backward_euler", linear_solver=SuperLU())
    """

    def __init__(
        self,
        scene: Scene | Model | str | os.PathLike[str],
        *,
        integrator: Method | str | dict[str, Any] | None = None,
        h: float | None = None,
        state: State | None = None,
        threads: int = 0,
        device: str | None = None,
        ranks: Ranks | None = None,
        linear_solver: LinearSolver | None = None,
    ) -> None:
        if not isinstance(scene, (Scene, Model, str, os.PathLike)):
            raise TypeError(
                "expected a hooke.Scene or a hooke.Model, the name of a built-in scene or the path "
                f"of a file, got {scene!r}"
            )
        if isinstance(scene, Model):
            if device not in (None, scene.device):
                raise InvalidError(f"device: the model was made for {scene.device}, not for {device}")
            if ranks not in (None, scene.ranks):
                raise InvalidError("ranks: the model was made with others; leave them out")
            self.model = scene
        else:
            self.model = Model(scene, threads=threads, device=device or "cpu", ranks=ranks)
        text = method_text(integrator, "integrator", "integrator")
        parts = None if linear_solver is None else SolverCalls(linear_solver).parts()
        self._linear_solver = linear_solver
        self._handle = _core.sim_create(self.model._handle, text, 0.0 if h is None else h, parts)
        self._device = DEVICES[_core.sim_device(self._handle)]
        self._steps = self._handle.steps
        self._film: Film | None = None
        self._arrays: dict[str, DeviceArray] = {}
        self.state = State(self.model) if state is None else state

    @classmethod
    def _of_world(
        cls, model: _core.Handle, state: _core.Handle, sim: _core.Handle, base: Model, device: str
    ) -> Sim:
        """A world of a batch that was made from the model `base`; the device moves it."""
        world = cls.__new__(cls)
        world.model = Model._of_world(model, base)
        world._linear_solver = None
        world._handle = sim
        world._device = device
        world._steps = sim.steps
        world._film = None
        world._arrays = {}
        world.state = State._of(state, world.model)
        world.state._away = device != "cpu"
        return world

    # ---- What it moves -------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The state that steps move. Another one of the same model may be put in its place."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise TypeError(f"expected a hooke.State, got {state!r}")
        _core.sim_use(self._handle, state._handle)
        state._away = self.device not in ("cpu", "petsc")
        state._model = self.model
        self._state = state

    @property
    def device(self) -> str:
        """Where the steps are made."""
        return self._device

    @property
    def x(self) -> Floats:
        """(N, 3) positions [m], a writable view."""
        return self._state.x

    @property
    def v(self) -> Floats:
        """(N, 3) velocities [m/s], a writable view."""
        return self._state.v

    @property
    def device_x(self) -> DeviceArray:
        """(N, 3) positions [m] in the memory of the device that makes the steps; with the CPU there
        are none, and this raises UnsupportedError.

        The array is one for all of the simulation: what torch, cupy or another library sees of it
        is brought up to date, on the device, each time that this is asked for. Setting it takes
        positions from an array there; held pins stay."""
        return self._read_device("device_x")

    @device_x.setter
    def device_x(self, value: Any) -> None:
        self._write_device("device_x", value)

    @property
    def device_v(self) -> DeviceArray:
        """(N, 3) velocities [m/s] there, likewise."""
        return self._read_device("device_v")

    @device_v.setter
    def device_v(self, value: Any) -> None:
        self._write_device("device_v", value)

    def _read_device(self, name: str) -> DeviceArray:
        array = self._arrays.get(name)
        handle = _core.sim_read_device(
            self._handle, self._state._handle, _KINDS.index(name), None if array is None else array._handle
        )
        if array is None:
            array = self._arrays[name] = DeviceArray(handle)
        return array

    def _write_device(self, name: str, value: Any) -> None:
        array = self._arrays.get(name)
        if array is None:
            array = self._read_device(name)
        address = array._address_of(value, name)
        _core.sim_write_device(self._handle, self._state._handle, _KINDS.index(name), address)

    @property
    def time(self) -> float:
        """The time [s]."""
        return self._state.time

    @property
    def h(self) -> float:
        """The step [s]; it may be changed between steps."""
        return _core.sim_h(self._handle)

    @h.setter
    def h(self, value: float) -> None:
        _core.sim_set_h(self._handle, value)

    @property
    def integrator(self) -> Method:
        """The integrator with all that was picked for this model; without the linear_solver of Python."""
        method = without_solver(json.loads(_core.sim_method(self._handle)))
        return as_method(method, "integrator", "integrator")

    @property
    def linear_solver(self) -> LinearSolver | None:
        """The linear solver of Python that was given; None: the solver is a built-in one."""
        return self._linear_solver

    @property
    def bytes(self) -> int:
        """Memory that it holds now."""
        return _core.sim_bytes(self._handle)

    # ---- Moving --------------------------------------------------------------------------------

    def step(self, count: int = 1) -> bool:
        """Makes steps, without Python's lock. False where an implicit one was not solved to its
        tolerance; BlowupError where the motion is no longer finite. Ctrl-C ends the step
        under way; the state is then that of the last whole one."""
        return self._steps(count)

    def advance(
        self,
        seconds: float,
        *,
        fps: float = 30.0,
        record: bool = False,
        progress: Progress = None,
        each: Callable[[Sim], object] | None = None,
    ) -> Motion:
        """Moves on by some seconds, in whole steps of h, and gathers energies at fps frames a second.

        record: the positions of each frame, too. each: is called with the simulation at each frame,
        and may change it. The frames are those that show() plays.
        """
        if not (seconds >= 0 and fps > 0):
            raise InvalidError(f"seconds = {seconds} and fps = {fps} make no sense")
        frames = max(1, round(seconds * fps)) if seconds > 0 else 0
        begin = self.time
        infos, shapes, times = [self.state_info()], [], [begin]
        film = None if self.model.ranks else self._need_film(frames + 1)
        if film is not None and film.last != begin:
            film.add(self)
        if record:
            shapes.append(self.x.copy())
        with bar(progress, frames, "simulating") as notify:
            for frame in range(1, frames + 1):
                left = begin + seconds * frame / frames - self.time
                self.step(max(0, round(left / self.h)))
                if each is not None:
                    each(self)
                if film is not None:
                    film.add(self)
                infos.append(self.state_info())
                times.append(self.time)
                if record:
                    shapes.append(self.x.copy())
                notify(frame)
        x = np.array(shapes) if record else np.empty((0, len(self.x), 3))
        return Motion(np.array(times), x, Energies(infos))

    def trace_step(self) -> Trace:
        """Makes one implicit step and returns how its iterations went."""
        rows: list[tuple[float, float, float]] = []

        def keep(_: int, change: float, gradient: float, seconds: float) -> bool:
            rows.append((change, gradient, seconds))
            return True

        _core.sim_set_trace(self._handle, keep)
        try:
            self.step()
        finally:
            _core.sim_set_trace(self._handle, None)
        table = np.array(rows, dtype=np.float64).reshape(-1, 3)
        return Trace(table[:, 0], table[:, 1], table[:, 2])

    # ---- Looking -------------------------------------------------------------------------------

    def state_info(self) -> StateInfo:
        """Energies [J], momenta and extremes of the state now."""
        return StateInfo._of(_core.sim_state_info(self._handle, self._state._handle))

    @property
    def step_info(self) -> StepInfo:
        """How the last step was solved."""
        return StepInfo(*_core.sim_step_info(self._handle))

    def report(self) -> StateInfo:
        """Deprecated name of state_info."""
        deprecated("sim.report()", "sim.state_info()")
        return self.state_info()

    @property
    def step_report(self) -> StepInfo:
        """Deprecated name of step_info."""
        deprecated("sim.step_report", "sim.step_info")
        return self.step_info

    def stable_step(self) -> float:
        """The largest stable step near the state [s]; inf if any is, 0 if none is."""
        return _core.sim_stable_step(self._handle, self._state._handle)

    def forces(self) -> Floats:
        """(N, 3) all forces on all vertices [N], without what holds pins."""
        f = np.empty_like(self.x)
        _core.sim_forces(self._handle, self._state._handle, address(f), False)
        return f

    def energy_gradient(self) -> Floats:
        """(N, 3) the gradient dE/dx of the potential energy [N]: minus the force at rest of all forces
        that have a potential (springs, gravity, buoyancy, point_load, handle). Pinned vertices count
        as free."""
        gradient = np.empty_like(self.x)
        _core.sim_gradient(self._handle, self._state._handle, address(gradient))
        return gradient

    def stiffness(self) -> Any:
        """The stiffness matrix K = df/dx = -d2E/dx2 [N/m] of all forces that have a potential, at the
        state now: (3 N, 3 N), coordinate c of vertex i at 3 i + c, as `f.ravel()` has it.

        It is the true derivative: compressed springs are not projected, so that -K may be indefinite.
        Rows and columns of pinned vertices are included as if they were free; remove them before
        solving. A scipy.sparse array in CSR where scipy is installed, else Triplets."""
        rows, columns, values = _core.sim_stiffness(self._handle, self._state._handle)
        return as_sparse(
            Triplets(np.frombuffer(rows, np.int32), np.frombuffer(columns, np.int32),
                     np.frombuffer(values, np.float64)), 3 * len(self.model))

    def mass_matrix(self) -> Any:
        """The mass matrix M [kg]: (3 N, 3 N), diagonal, the mass of vertex i at 3 i + c. A scipy.sparse
        array in CSR where scipy is installed, else Triplets. model.masses holds the masses alone."""
        masses = np.repeat(self.model.masses, 3)
        place = np.arange(len(masses), dtype=np.int32)
        return as_sparse(Triplets(place, place, masses), len(masses))

    def reactions(self) -> Floats:
        """(P, 3) what holds each pinned vertex [N], in the order of model.pins."""
        f = np.empty((len(self.model.pins), 3))
        _core.sim_forces(self._handle, self._state._handle, address(f), True)
        return f

    def contacts(self) -> Contacts:
        """What touches at the state now, with forces, and the reactions of obstacles and ground.

        The forces are those of the step that led to the state; see hooke.Contacts."""
        return Contacts._of(_core.sim_contacts(self._handle, self._state._handle))

    # ---- Live changes --------------------------------------------------------------------------

    def grab(
        self, select: Any, target: npt.ArrayLike | None = None, *, k: float = 100.0,
        damping: float = 0.0,
    ) -> Grip:
        """Takes hold of vertices with a hand of stiffness k [N/m], at target [m] or where they are:
        then grip.move_to(...) drags and grip.let_go() ends it."""
        vertices = self.model.select(select)
        place = self.x[vertices].mean(axis=0) if target is None else point(target, "target")
        force = Method("force", "handle", select=vertices, target=place, k=k, damping=damping)
        return Grip(self.model, force)

    def release_pin(self, select: Any) -> None:
        """Lets pinned vertices go; they keep their velocity."""
        for vertex in self.model.select(select):
            _core.state_pin(self._state._handle, self.model._handle, int(vertex), False)

    def hold_pin(self, select: Any) -> None:
        """Holds pinned vertices again, where their motion has them now."""
        for vertex in self.model.select(select):
            _core.state_pin(self._state._handle, self.model._handle, int(vertex), True)

    # ---- Copies --------------------------------------------------------------------------------

    def copy(self) -> Sim:
        """Another simulation of the same model, with a copy of the state: it goes on with the same
        bits. copy.deepcopy copies the model, too; a pickled simulation brings its own. Copies share the
        linear_solver of Python."""
        return _restore(self.model, self.integrator, self.h, self.state.copy(), self._linear_solver)

    def __copy__(self) -> Sim:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Sim:
        model = copy.deepcopy(self.model, memo)
        return _restore(model, self.integrator, self.h, self.state.copy(), self._linear_solver)

    def __reduce__(self) -> tuple[Any, ...]:
        check_pickles(self._linear_solver)
        return _restore, (self.model, self.integrator, self.h, self.state, self._linear_solver)

    # ---- Showing -------------------------------------------------------------------------------

    def _need_film(self, frames: int) -> Film:
        if self.model.ranks:
            raise UnsupportedError("a page needs the whole motion; on ranks write it to files by hooke.Run")
        if self._film is None:
            self._film = Film(self.model, frames)
        return self._film

    def page(self) -> Page:
        """One page of HTML that plays the frames of advance(), or shows the state as it is."""
        film = self._need_film(1)
        if film.last != self.time:
            film.add(self)
        return film.page(self)

    def show(self, height: int = 520) -> None:
        """Shows the motion so far: in a notebook the page of page(), so many pixels high, elsewhere a
        picture."""
        show(self.page(), self.model, self.x, height)

    def __enter__(self) -> Sim:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._film = None

    def __repr__(self) -> str:
        name = json.loads(_core.sim_method(self._handle))["type"]
        return f"<hooke.Sim: {len(self.x)} vertices, {name}, h = {self.h:g} s, at {self.time:g} s>"


def _restore(
    model: Model, integrator: Method, h: float, state: State, linear_solver: LinearSolver | None = None
) -> Sim:
    return Sim(model, integrator=integrator, h=h, state=state, linear_solver=linear_solver)
