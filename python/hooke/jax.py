"""Motions as functions of JAX: simulate. Imported on demand, by `import hooke.jax`."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import Floats
from ._motions import MotionFunction
from .gradients import Tape
from .sim import Sim
from .state import State

try:
    jax: Any = importlib.import_module("jax")
except ModuleNotFoundError as error:
    raise ImportError("hooke.jax needs JAX, which is not installed: pip install jax") from error

__all__ = ["simulate"]


def simulate(
    sim: Sim,
    steps: int,
    *,
    x0: Any = None,
    v0: Any = None,
    masses: Any = None,
    k: Any = None,
    l0: Any = None,
    damping: Any = None,
    forces: Any = None,
    frames: Sequence[int] | None = None,
    start: State | None = None,
    memory: float = 1e9,
    accuracy: float | None = None,
    projected: bool = False,
) -> tuple[Any, Any]:
    """Positions [m] and velocities [m/s] as arrays (F, N, 3) at the frames, or (N, 3) after the last step.
    jax.grad, jax.vjp and jax.jit work through it. The steps are made on the CPU in double precision; arrays
    are of float64 where jax_enable_x64 is set, else of float32.

    x0, v0 (N, 3) [m, m/s]: the start. masses (N,) [kg]. k, l0, damping [N/m, m, N s/m]: (M,) springs, or
    (steps, M) for each step. forces (steps, N, 3) [N]: forces of each step. One number stands for all
    masses or springs.

    Each call begins at a copy of the state `start`, or at the start of the model, and moves sim.state from
    there. jax may make calls again or leave them out, and makes those of one simulation one after the
    other. steps, frames, memory, accuracy and projected as for hooke.record. Needs JAX 0.4.34 or later.
    """
    given = {"x0": x0, "v0": v0, "masses": masses, "k": k, "l0": l0, "damping": damping, "forces": forces}
    kind = jax.numpy.result_type(float)
    inputs = {name: jax.numpy.asarray(value, kind) for name, value in given.items() if value is not None}
    motion = MotionFunction(
        sim, steps, start, frames=frames, memory=memory, accuracy=accuracy, projected=projected
    )
    motion.check_shapes({name: array.shape for name, array in inputs.items()})
    n = len(sim.model)
    shape = (n, 3) if frames is None else (len(frames), n, 3)
    x, v = _differentiable(_Calls(motion, kind), jax.ShapeDtypeStruct(shape, kind))(inputs)
    return x, v


_Arrays = dict[str, npt.NDArray[Any]]


class _Calls:
    """What jax calls with arrays. The way back uses the tape of the way forward if its inputs are the same."""

    def __init__(self, motion: MotionFunction, kind: Any) -> None:
        self._motion = motion
        self._kind = kind
        self._last: tuple[_Arrays, Tape] | None = None

    def forward(self, inputs: Any, keep: bool = True) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        arrays = _as_arrays(inputs)
        tape = self._motion.record(arrays)
        if keep:
            self._last = (arrays, tape)
        return tape.x.astype(self._kind), tape.v.astype(self._kind)

    def backward(self, inputs: Any, cotangents: Any) -> _Arrays:
        arrays = _as_arrays(inputs)
        last, self._last = self._last, None
        same = last is not None and all(np.array_equal(last[0][name], arrays[name]) for name in arrays)
        tape = last[1] if last is not None and same else self._motion.record(arrays)
        dL_dx, dL_dv = (np.asarray(value, np.float64) for value in cotangents)
        shapes = {name: array.shape for name, array in arrays.items()}
        found = self._motion.backward(tape, shapes, dL_dx, dL_dv)
        return {name: gradient.astype(self._kind) for name, gradient in found.items()}


def _as_arrays(inputs: Any) -> dict[str, Floats]:
    return {name: np.array(value, np.float64) for name, value in inputs.items()}


def _differentiable(calls: _Calls, result: Any) -> Any:
    """The function of jax, with the way back."""

    def ask(function: Any, shapes: Any, *arrays: Any) -> Any:
        return jax.pure_callback(function, shapes, *arrays, vmap_method="sequential")

    def call(inputs: Any) -> Any:
        return ask(functools.partial(calls.forward, keep=False), (result, result), inputs)

    def forward(inputs: Any) -> Any:
        return ask(calls.forward, (result, result), inputs), inputs

    def backward(inputs: Any, cotangents: Any) -> Any:
        shapes = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in inputs.items()}
        return (ask(calls.backward, shapes, inputs, cotangents),)

    function = jax.custom_vjp(call)
    function.defvjp(forward, backward)
    return function
