"""What hooke.torch and hooke.jax share: a motion as a function of arrays, with its derivative."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import Floats, floats, per_item
from .errors import InvalidError
from .gradients import Tape, record
from .sim import Sim
from .state import State

__all__ = ["MotionFunction"]

_SPRINGS = ("k", "l0", "damping")

# Threads of jax may ask for motions of one simulation at the same time: they wait for each other.
_locks: weakref.WeakKeyDictionary[Sim, threading.Lock] = weakref.WeakKeyDictionary()


class MotionFunction:
    """Positions and velocities at some frames as a function of x0, v0, masses, k, l0, damping, forces.

    Each call begins at a copy of the state `start`, or at the start of the model where that is None."""

    def __init__(self, sim: Sim, steps: int, start: State | None, **options: Any) -> None:
        if not isinstance(sim, Sim):
            raise TypeError(f"expected a hooke.Sim, got {sim!r}")
        self._sim = sim
        self._steps = steps
        self._start = None if start is None else start.copy()
        self._options = options
        self._lock = _locks.setdefault(sim, threading.Lock())

    def check_shapes(self, shapes: dict[str, tuple[int, ...]]) -> None:
        """Refuses arrays whose shapes do not fit."""
        n, m = len(self._sim.model), len(self._sim.model.springs.k)
        springs = [(), (m,), (self._steps, m)]
        allowed: dict[str, list[tuple[int, ...]]] = {
            "x0": [(n, 3)], "v0": [(n, 3)], "masses": [(), (n,)], "k": springs, "l0": springs,
            "damping": springs, "forces": [(self._steps, n, 3)],
        }
        for name, shape in shapes.items():
            if shape not in allowed[name]:
                known = " or ".join(map(str, allowed[name]))
                raise InvalidError(f"{name}: expected the shape {known}, got {shape}")

    def record(self, inputs: dict[str, npt.NDArray[Any]]) -> Tape:
        """The tape of the motion of these inputs."""
        self.check_shapes({name: array.shape for name, array in inputs.items()})
        with self._lock:
            self._reset(inputs)
            options: dict[str, Any] = dict(self._options)
            options.update({name: array for name, array in inputs.items() if _is_control(name, array.shape)})
            return record(self._sim, self._steps, **options)

    def _reset(self, inputs: dict[str, npt.NDArray[Any]]) -> None:
        model, state = self._sim.model, self._sim.state
        state.assign(State(model) if self._start is None else self._start)
        if "masses" in inputs:
            masses = per_item(inputs["masses"], "masses", len(model))
            if not np.array_equal(masses, model.masses):  # which ends earlier tapes
                model.masses = masses
        for name, array in (("x0", state.x), ("v0", state.v)):
            if name in inputs:
                array[...] = floats(inputs[name], name, array.shape)
                state.time = state.time  # bdf2 starts again
        springs = {
            name: array for name, array in inputs.items()
            if name in _SPRINGS and not _is_control(name, array.shape)
        }
        if springs:
            state.set_springs(**springs)

    def backward(
        self, tape: Tape, shapes: dict[str, tuple[int, ...]], dL_dx: npt.ArrayLike, dL_dv: npt.ArrayLike
    ) -> dict[str, Floats]:
        """The gradients by the inputs of these shapes."""
        with self._lock:
            found = tape.backward(dL_dx, dL_dv)
        gradients = {}
        for name, shape in shapes.items():
            group: Any = found
            if _is_control(name, shape):
                group = found.controls
            elif name in _SPRINGS:
                group = found.springs
            gradient = getattr(group, name)
            gradients[name] = gradient if shape else np.asarray(gradient.sum())
        return gradients


def _is_control(name: str, shape: tuple[int, ...]) -> bool:
    return name == "forces" or (name in _SPRINGS and len(shape) == 2)
