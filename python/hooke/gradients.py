"""Gradients of motions: record, Tape, Gradients.

    tape = hooke.record(sim, 100)                       # 100 steps
    grads = tape.backward(dL_dx=tape.x - target)        # of L = 1/2 |x - target|^2
    grads.springs.k, grads.x0, grads.masses ...

A loss L is any function of the positions and velocities at some steps, the frames of the tape. backward
goes back through the steps and returns dL/dp for every number p that the motion depends on, at the cost of
about one linear solve a step (adjoint mode); tangent goes forward with a direction of these numbers. Units
are those of L over that of p.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Floats, address, floats, view
from .custom import ControlArray
from .errors import InvalidError
from .model import Model
from .sim import Sim

__all__ = ["ControlGradients", "GradientInfo", "Gradients", "SpringGradients", "Tape", "record"]

#: Derivatives by the parameters of a force or a motion.
Parameters = dict[str, Union[float, Floats]]

#: A control from the state before each step: controller(step, x, v) -> (M,) or, for forces, (N, 3).
Controller = Callable[[int, Floats, Floats], npt.ArrayLike]

_CONTROLS = ("k", "l0", "damping", "forces")  # in the order of HkControlKind


class SpringGradients(NamedTuple):
    """dL/dp by the springs, in the order of model.springs; 0 for what a control gives in each step."""

    k: Floats  #: (M,) by stiffness [L m/N]
    l0: Floats  #: (M,) by rest length [L/m]
    damping: Floats | None  #: (M,) by damping [L m/(N s)]; None: the model has none


class ControlGradients(NamedTuple):
    """dL/dp by the values of each step; None for what is not controlled."""

    k: Floats | None  #: (steps, M) [L m/N]
    l0: Floats | None  #: (steps, M) [L/m]
    damping: Floats | None  #: (steps, M) [L m/(N s)]
    forces: Floats | None  #: (steps, N, 3) [L/N]


class GradientInfo(NamedTuple):
    """How gradients were computed, summed over steps."""

    steps: int
    linear_iterations: int  #: of implicit steps; a direct solve counts as one
    indefinite: int  #: steps that are not known to have led to a minimum
    unsolved: int  #: steps whose linear system was not solved to the accuracy
    residual: float  #: the largest |b - A x| / |b| of these linear systems
    loss_error: float  #: [L] what solving implicit steps to rounding would change the loss by, about
    relative_error: float  #: the same relative to what the motion of these steps changes the loss by
    repeated: int  #: steps made again, since their states were not kept


class Gradients(NamedTuple):
    """dL/dp for every number p that a motion depends on."""

    x0: Floats  #: (N, 3) by the positions at the start [L/m]
    v0: Floats  #: (N, 3) by the velocities at the start [L s/m]
    masses: Floats  #: (N,) [L/kg]
    springs: SpringGradients
    pins: Floats  #: (P, 3) by the positions of model.pins at time 0, where their motions begin [L/m]
    #: One entry for each of model.forces: {parameter: number, (3,) or (rows, columns)} of what is
    #: differentiable; (N, 3) for an array of forces. NaN in the column of times of a table.
    forces: list[Parameters | Floats]
    motions: list[Parameters]  #: the same for the motion of each pin of the scene
    controls: ControlGradients
    info: GradientInfo


class Tape:
    """The steps of a motion, made by hooke.record. It keeps the simulation and its model alive.

    As long as the tape is in use, the model and the step h of the simulation must not change; after that,
    its methods raise InvalidError. States may be changed: the tape has copies. Several tapes of one
    simulation may be in use. They belong to one thread at a time, as the simulation does.
    """

    def __init__(
        self, sim: Sim, steps: int, frames: npt.NDArray[np.int64], single: bool, memory: int,
        accuracy: float, projected: bool, controls: dict[str, Floats],
        controllers: dict[str, Controller],
    ) -> None:
        model, state = sim.model, sim.state
        self._sim = sim
        self._steps = steps
        self._frames = frames
        self._single = single  # x and v have no axis of frames
        self._shape = (len(frames), len(model), 3)
        self._gradients = {name: np.zeros_like(values) for name, values in controls.items()}
        self._lock = threading.Lock()  # of the gradients
        index, array = _control_array(model) if "forces" in controls else (0, np.empty((0, 3)))
        entries = tuple(
            (_CONTROLS.index(name), index, address(array), address(values), address(self._gradients[name]))
            for name, values in controls.items()
        )
        kept = (array, *controls.values(), *self._gradients.values())
        self._handle = _core.tape_create(
            sim._handle, state._handle, model._handle, memory, accuracy, projected, entries, steps, kept
        )
        x, v = np.empty(self._shape), np.empty(self._shape)
        made = self._record_controlled(x, v, controls, controllers) if controllers else self._record(steps, x, v)
        #: Whether every step met its tolerance.
        self.converged: bool = made
        self._x: Floats = x[0] if single else x
        self._v: Floats = v[0] if single else v

    def _record(self, steps: int, x: Floats | None = None, v: Floats | None = None) -> bool:
        """Makes the steps up to a number of them, with the frames if there are arrays for them."""
        return _core.tape_record(
            self._handle, self._sim.state._handle, steps, address(self._frames),
            0 if x is None else len(self._frames), 0 if x is None else address(x), 0 if v is None else address(v),
        )

    def _record_controlled(
        self, x: Floats, v: Floats, controls: dict[str, Floats], controllers: dict[str, Controller]
    ) -> bool:
        """Makes the steps one by one, each with what the controllers say of the state before it."""
        state, start, converged = self._sim.state, self._sim.state.copy(), True
        frames = {int(step): index for index, step in enumerate(self._frames)}
        try:
            for step in range(self._steps + 1):
                if step in frames:
                    x[frames[step]], v[frames[step]] = state.x, state.v
                if step == self._steps:
                    break
                for name, controller in controllers.items():
                    row = controls[name][step]
                    row[...] = floats(controller(step, state.x.copy(), state.v.copy()), name, row.shape)
                converged &= self._record(step + 1)
        except BaseException:
            state.assign(start)
            raise
        return converged

    @property
    def sim(self) -> Sim:
        """The simulation that has made the steps."""
        return self._sim

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self._steps

    @property
    def frames(self) -> npt.NDArray[np.int64]:
        """(F,) the steps after which x and v are kept; 0 is the start."""
        return self._frames

    @property
    def x(self) -> Floats:
        """(F, N, 3) positions at the frames [m]; (N, 3), those after the last step, where no frames were
        given."""
        return self._x

    @property
    def v(self) -> Floats:
        """(F, N, 3) or (N, 3) velocities at the frames [m/s]."""
        return self._v

    @property
    def bytes(self) -> int:
        """Memory of the states that the tape keeps."""
        return _core.tape_info(self._handle)[0]

    def backward(
        self,
        dL_dx: npt.ArrayLike | None = None,
        dL_dv: npt.ArrayLike | None = None,
        feedback: Callable[[int, ControlGradients], tuple[npt.ArrayLike, npt.ArrayLike]] | None = None,
    ) -> Gradients:
        """The gradient of a loss L from its derivatives by x [L/m] and by v [L s/m], in the shapes of
        tape.x and tape.v; None stands for zeros. It may be called again with those of another loss.

        Where controls were computed from the state before each step, feedback(step, controls) is called
        for each step from the last to the first, with the gradients by its controls, and returns what
        they give to those by x and v of that state, (N, 3) each."""
        dx, dv = self._at_frames(dL_dx, "dL_dx"), self._at_frames(dL_dv, "dL_dv")
        model = self._sim.model
        arrays = [np.zeros(shape) for shape in _shapes(model).values()]
        x, v, masses, k, l0, damping, pins = arrays
        with self._lock:
            before = _core.tape_info(self._handle)[1]
            for gradient in self._gradients.values():
                gradient[...] = 0
            (forces, motions), info = _core.tape_backward(
                self._handle, address(self._frames), len(self._frames), address(dx), address(dv),
                _addresses(arrays), self._adds(feedback) if feedback else None,
            )
            controls = {name: gradient.copy() for name, gradient in self._gradients.items()}
            repeated = _core.tape_info(self._handle)[1] - before
        springs = SpringGradients(k, l0, None if model.springs.damping is None else damping)
        return Gradients(
            x, v, masses, springs, pins, _described(forces), _described(motions),
            ControlGradients(*(controls.get(name) for name in _CONTROLS)), GradientInfo(*info, repeated),
        )

    def tangent(
        self,
        x0: npt.ArrayLike | None = None,
        v0: npt.ArrayLike | None = None,
        *,
        masses: npt.ArrayLike | None = None,
        k: npt.ArrayLike | None = None,
        l0: npt.ArrayLike | None = None,
        damping: npt.ArrayLike | None = None,
        pins: npt.ArrayLike | None = None,
        forces: Mapping[int, Mapping[str, npt.ArrayLike] | npt.ArrayLike] | None = None,
        motions: Mapping[int, Mapping[str, npt.ArrayLike]] | None = None,
    ) -> tuple[Floats, Floats]:
        """How x [m] and v [m/s] at the frames follow a direction of all numbers: (dx, dv) in the shapes of
        tape.x and tape.v.

        Directions have the shapes and units of the numbers themselves, None stands for no change: x0, v0
        (N, 3), masses (N,), k, l0, damping (M,), pins (P, 3), {number of the force: {parameter: value}},
        an array (N, 3) for an array of forces, {pin of the scene: {parameter: value}} of motions. A tape
        with controls raises UnsupportedError."""
        given = {"x0": x0, "v0": v0, "masses": masses, "k": k, "l0": l0, "damping": damping, "pins": pins}
        model = self._sim.model
        if damping is not None and model.springs.damping is None:
            raise InvalidError("damping: the springs of the model have none")
        shapes = _shapes(model)
        arrays = [
            None if value is None else floats(value, name, shapes[name]) for name, value in given.items()
        ]
        known_forces, known_motions = map(_described, _core.tape_parameters(self._handle))
        force_entries = _entries(forces, known_forces, "forces")
        motion_entries = _entries(motions, known_motions, "motions")
        dx, dv = np.zeros(self._shape), np.zeros(self._shape)
        _core.tape_tangent(
            self._handle, address(self._frames), len(self._frames), address(dx), address(dv),
            _addresses(arrays), _with_addresses(force_entries), _with_addresses(motion_entries),
        )
        if not (np.isfinite(dx).all() and np.isfinite(dv).all()):
            raise InvalidError("the motion is not differentiable in this direction: it has no finite derivative")
        return (dx[0], dv[0]) if self._single else (dx, dv)

    def _adds(
        self, feedback: Callable[[int, ControlGradients], tuple[npt.ArrayLike, npt.ArrayLike]]
    ) -> Callable[[int, int, int], None]:
        """What the library calls at the start of each step on the way back, with its dL/dx and dL/dv."""
        shape = self._shape[1:]

        def add(step: int, *addresses: int) -> None:
            rows = (self._gradients.get(name) for name in _CONTROLS)
            given = feedback(step, ControlGradients(*(None if row is None else row[step].copy() for row in rows)))
            for to, value, name in zip(addresses, given, ("dL_dx", "dL_dv")):
                view(self, to, shape, writable=True)[...] += floats(value, f"{name} of feedback", shape)

        return add

    def _at_frames(self, value: npt.ArrayLike | None, name: str) -> Floats:
        if value is None:
            return np.zeros(self._shape)
        return floats(value, name, self._x.shape)

    def __len__(self) -> int:
        return self._steps

    def __repr__(self) -> str:
        return f"<hooke.Tape: {self._steps} steps, {len(self._frames)} frames, {self.bytes} bytes>"


def record(
    sim: Sim,
    steps: int,
    *,
    frames: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
    memory: float = 1e9,
    accuracy: float | None = None,
    projected: bool = False,
    k: npt.ArrayLike | Controller | None = None,
    l0: npt.ArrayLike | Controller | None = None,
    damping: npt.ArrayLike | Controller | None = None,
    forces: npt.ArrayLike | Controller | None = None,
) -> Tape:
    """Makes steps of a simulation, without Python's lock, and records them on a tape.

    The state of the simulation moves on as sim.step(steps) would move it, with the same bits. After an
    exception, such as BlowupError or KeyboardInterrupt, it is the state of before. The CPU in double
    precision and fixed steps are supported; contact, devices and forces that are not differentiable raise
    UnsupportedError.

    Parameters
    ----------
    steps : int
    frames : numbers of steps, rising, from 0 (the start) to steps
        After which positions and velocities are kept in tape.x and tape.v for the loss; the last step
        alone if not given.
    memory : float [bytes]
        For states; where it does not hold all of them, backward makes steps again.
    accuracy : float
        The largest relative residual of the linear systems of backward and tangent; 1e-8 if not given.
    projected : bool
        Linear systems of implicit steps have the projected Hessian in place of the true one: gradients are
        approximate, and defined also where cloth buckles or a step is far from solved.
    k, l0, damping : (steps, M) [N/m, m, N s/m]
        Controls: the springs of each step, in the order of model.springs. The state then has those of the
        last step (state.reset_springs returns to those of the model).
    forces : (steps, N, 3) [N]
        A control: forces of each step in addition to those of the model. The first time, a force array is
        added to model.forces, which is 0 outside of such steps; earlier tapes of the model end by that.
        While steps are made, the model belongs to this simulation alone.

    A control may also be a function (step, x, v) -> (M,) or (N, 3), which is called before each step with
    copies of positions and velocities; see Tape.backward for its derivative.
    """
    if not isinstance(sim, Sim):
        raise TypeError(f"expected a hooke.Sim, got {sim!r}")
    count = operator.index(steps)
    if count < 0:
        raise InvalidError(f"steps: {count} steps are not possible; give 0 or more")
    if not 0 <= memory < 2**62:
        raise InvalidError(f"memory: {memory} is no number of bytes")
    springs, vertices = len(sim.model.springs.k), len(sim.model)
    given: dict[str, Any] = {"k": k, "l0": l0, "damping": damping, "forces": forces}
    controls: dict[str, Floats] = {}
    controllers: dict[str, Controller] = {}
    for name, value in given.items():
        shape = (count, vertices, 3) if name == "forces" else (count, springs)
        if callable(value):
            controllers[name], controls[name] = value, np.zeros(shape)
        elif value is not None:
            controls[name] = floats(value, name, shape).copy()
    if "damping" in controls and sim.model.springs.damping is None:
        raise InvalidError("damping: the springs of the model have none; give them a damping above 0")
    single = frames is None
    numbers = np.array([count]) if frames is None else _frame_numbers(frames, count)
    return Tape(
        sim, count, numbers.astype(np.int64), single, int(memory),
        0.0 if accuracy is None else float(accuracy), bool(projected), controls, controllers,
    )


def _frame_numbers(
    frames: Sequence[int] | npt.NDArray[np.integer[Any]], steps: int
) -> npt.NDArray[Any]:
    numbers = np.asarray(frames)
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
        raise TypeError(f"frames: expected numbers of steps, got {frames!r}")
    if numbers.min() < 0 or numbers.max() > steps or (np.diff(numbers.astype(np.int64)) <= 0).any():
        raise InvalidError(f"frames: expected rising numbers from 0 to {steps}, got {frames!r}")
    return numbers


def _control_array(model: Model) -> tuple[int, Floats]:
    """The force array of a model that controls write: its number and itself."""
    for index, force in enumerate(model.forces._described()):
        if isinstance(force, ControlArray):
            return index, force.array
    model.forces.append(ControlArray(len(model)))
    return _control_array(model)


def _shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """The arrays of derivatives in the order of HkDerivativeArrays."""
    n, m = len(model), len(model.springs.k)
    return {"x0": (n, 3), "v0": (n, 3), "masses": (n,), "k": (m,), "l0": (m,), "damping": (m,),
            "pins": (len(model.pins), 3)}


def _addresses(arrays: Sequence[Floats | None]) -> tuple[int, int, int, int, int, int, int]:
    x, v, masses, k, l0, damping, pins = (0 if array is None else address(array) for array in arrays)
    return x, v, masses, k, l0, damping, pins


def _numbers(shape: tuple[int, ...], data: bytearray) -> float | Floats:
    array: Floats = np.frombuffer(data).reshape(shape)
    return array if shape else float(array)


def _described(entries: list[Any]) -> list[Any]:
    """What the library says of forces or motions, with arrays in place of bytes."""
    return [
        np.frombuffer(entry).reshape(-1, 3) if isinstance(entry, bytearray)
        else {name: _numbers(*value) for name, value in entry.items()}
        for entry in entries
    ]


_Entry = tuple[int, Union[str, None], Floats]


def _entries(given: Mapping[int, Any] | None, known: list[Any], kind: str) -> list[_Entry]:
    """The directions of forces or motions that were given, checked: number, parameter, numbers."""
    entries: list[_Entry] = []
    for index, values in (given or {}).items():
        if not 0 <= index < len(known):
            raise InvalidError(f"{kind}: there is no number {index}; they are 0 to {len(known) - 1}")
        place, fit = f"{kind}[{index}]", known[index]
        if not isinstance(fit, dict):
            entries.append((index, None, floats(values, place, fit.shape)))
            continue
        if not isinstance(values, Mapping):
            raise TypeError(f"{place}: expected a dict of parameters, got {values!r}")
        entries += [(index, name, _parameter(place, fit, name, value)) for name, value in values.items()]
    return entries


def _parameter(place: str, known: Parameters, name: str, value: npt.ArrayLike) -> Floats:
    """The direction of a parameter. Times of tables have none: whatever stands there counts as 0."""
    if name not in known:
        raise InvalidError(f"{place}: '{name}' is not differentiable; {', '.join(known) or 'nothing'} is")
    fit = np.asarray(known[name])
    array = np.array(value)
    if array.shape == fit.shape and array.dtype.kind == "f":
        array[np.isnan(fit)] = 0
    return floats(array, f"{place}.{name}", fit.shape)


def _with_addresses(entries: list[_Entry]) -> tuple[tuple[int, str | None, int], ...]:
    return tuple((index, name, address(array)) for index, name, array in entries)
