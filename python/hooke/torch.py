"""Motions as functions of PyTorch: simulate. Imported on demand, by `import hooke.torch`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from ._arrays import Floats
from ._motions import MotionFunction
from .sim import Sim
from .state import State

try:
    torch: Any = importlib.import_module("torch")
except ModuleNotFoundError as error:
    raise ImportError("hooke.torch needs PyTorch, which is not installed: pip install torch") from error

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
    """Positions [m] and velocities [m/s] as tensors (F, N, 3) at the frames, or (N, 3) after the last step,
    float64 on the CPU. Gradients flow back to the tensors that are given.

    x0, v0 (N, 3) [m, m/s]: the start. masses (N,) [kg]. k, l0, damping [N/m, m, N s/m]: (M,) springs, or
    (steps, M) for each step. forces (steps, N, 3) [N]: forces of each step. One number stands for all
    masses or springs. Other floating types are cast, and their gradients cast back.

    Each call begins at a copy of the state `start`, or at the start of the model, and moves sim.state from
    there. Different masses are a live change of the model: go back first, since gradients of earlier calls
    then raise InvalidError. steps, frames, memory, accuracy and projected as for hooke.record.
    """
    given = {"x0": x0, "v0": v0, "masses": masses, "k": k, "l0": l0, "damping": damping, "forces": forces}
    tensors = {name: torch.as_tensor(value) for name, value in given.items() if value is not None}
    motion = MotionFunction(
        sim, steps, start, frames=frames, memory=memory, accuracy=accuracy, projected=projected
    )
    x, v = _Simulate.apply(motion, tuple(tensors), *tensors.values())
    return x, v


def _array(name: str, tensor: Any) -> Floats:
    if tensor.device.type != "cpu":
        raise TypeError(f"{name}: expected a tensor on the CPU, got one on {tensor.device}; give {name}.cpu()")
    array: Floats = (tensor.double() if tensor.is_floating_point() else tensor).detach().numpy()
    return array


def _forward(context: Any, motion: MotionFunction, names: tuple[str, ...], *tensors: Any) -> tuple[Any, Any]:
    inputs = {name: _array(name, tensor) for name, tensor in zip(names, tensors)}
    tape = motion.record(inputs)
    context.motion, context.tape = motion, tape
    context.shapes = {name: array.shape for name, array in inputs.items()}
    context.types = [tensor.dtype for tensor in tensors]
    return torch.from_numpy(tape.x), torch.from_numpy(tape.v)


def _backward(context: Any, dL_dx: Any, dL_dv: Any) -> tuple[Any, ...]:
    found = context.motion.backward(context.tape, context.shapes, dL_dx.numpy(), dL_dv.numpy())
    inputs = zip(context.shapes, context.types, context.needs_input_grad[2:])
    gradients = [torch.from_numpy(found[name]).to(kind) if need else None for name, kind, need in inputs]
    return None, None, *gradients


class _Simulate(torch.autograd.Function):  # type: ignore[misc]
    forward = staticmethod(_forward)
    backward = staticmethod(torch.autograd.function.once_differentiable(_backward))
