"""Batch: many worlds of one model, stepped together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Floats, address, floats, view
from .device import DeviceArray
from .energies import Energies, StateInfo
from .errors import Error, InvalidError, make_error
from .methods import Method, method_text
from .model import Model
from .scene import DEVICES, Scene
from .sim import _KINDS, Sim, StepInfo

__all__ = ["Batch"]

_INFO_FIELDS = 16  # numbers of a StateInfo


class Batch:
    """Worlds of one model that are stepped together, each with its own parameters, pins, forces and
    state. They have the vertices, springs and pins of the scene in common.

        batch = hooke.Batch("flag", 100, integrator="backward_euler", h=1 / 60)
        batch.set(k=np.logspace(1, 4, 100))      # N/m, one number a world
        batch.step(60)
        batch.x[7], batch.energies.total         # (n, 3) m; (100,) J

    `batch[7]` is a hooke.Sim of that world: its model, its state, live changes, pins, reactions. On the
    CPU worker threads share the worlds; a world moves as the same scene does alone, bit for bit.

    Parameters
    ----------
    scene : Scene or Model, the name of a built-in scene, or the path of a scene file
        A model is copied with its live changes so far; forces of Python are refused.
    count : int
        Of worlds.
    integrator, h, threads, device
        As of hooke.Sim. The step h [s] is one for all worlds until batch.set(h=...).
    """

    def __init__(
        self,
        scene: Scene | Model | str | os.PathLike[str],
        count: int,
        *,
        integrator: Method | str | dict[str, Any] | None = None,
        h: float | None = None,
        threads: int = 0,
        device: str | None = None,
    ) -> None:
        if isinstance(scene, Model):
            if device not in (None, scene.device):
                raise InvalidError(f"device: the model was made for {scene.device}, not for {device}")
            self.model = scene  #: what the worlds were made from
        else:
            self.model = Model(scene, threads=threads, device=device or "cpu")
        text = method_text(integrator, "integrator", "integrator")
        self._handle = _core.batch_create(self.model._handle, count, text, 0.0 if h is None else h)
        self._device = DEVICES[_core.batch_device(self._handle)]
        self._count = count
        self._worlds: dict[int, Sim] = {}
        self._arrays: dict[str, DeviceArray] = {}
        x, v, stride = _core.batch_arrays(self._handle)
        shape, strides = (count, len(self.model), 3), (8 * stride, 24, 8)
        self._x: Floats = view(self._handle, x, shape, writable=True, strides=strides)
        self._v: Floats = view(self._handle, v, shape, writable=True, strides=strides)

    # ---- Worlds --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, world: int) -> Sim:
        if not -self._count <= world < self._count:
            raise IndexError(f"there is no world {world}; there are {self._count}")
        number = int(world) % self._count
        if number not in self._worlds:
            self._worlds[number] = Sim._of_world(
                *_core.batch_world(self._handle, number), self.model, self.device
            )
        return self._worlds[number]

    def __iter__(self) -> Iterator[Sim]:
        return (self[world] for world in range(self._count))

    @property
    def device(self) -> str:
        """Where the steps are made."""
        return self._device

    @property
    def x(self) -> Floats:
        """(N, n, 3) positions [m] of all worlds, a writable view of the library's memory."""
        self._fetch()
        return self._x

    @x.setter
    def x(self, value: npt.ArrayLike) -> None:
        self._assign(self.x, value, "x")

    @property
    def v(self) -> Floats:
        """(N, n, 3) velocities [m/s] of all worlds, a writable view of the library's memory."""
        self._fetch()
        return self._v

    @v.setter
    def v(self, value: npt.ArrayLike) -> None:
        self._assign(self.v, value, "v")

    @property
    def device_x(self) -> DeviceArray:
        """(N, n, 3) positions [m] in the memory of the device that moves the worlds, as Sim.device_x has
        them; float64. Setting it takes positions from an array there; held pins stay."""
        return self._read_device("device_x")

    @device_x.setter
    def device_x(self, value: Any) -> None:
        self._write_device("device_x", value)

    @property
    def device_v(self) -> DeviceArray:
        """(N, n, 3) velocities [m/s] there; setting it is as for device_x."""
        return self._read_device("device_v")

    @device_v.setter
    def device_v(self, value: Any) -> None:
        self._write_device("device_v", value)

    def _read_device(self, name: str) -> DeviceArray:
        array = self._arrays.get(name)
        handle = _core.batch_read_device(
            self._handle, _KINDS.index(name), None if array is None else array._handle
        )
        if array is None:
            array = self._arrays[name] = DeviceArray(handle, self._count)
        return array

    def _write_device(self, name: str, value: Any) -> None:
        array = self._arrays.get(name) or self._read_device(name)
        _core.batch_write_device(self._handle, _KINDS.index(name), array._address_of(value, name))

    def _fetch(self) -> None:
        if self.device != "cpu":
            _core.batch_arrays(self._handle)

    def _assign(self, array: Floats, value: npt.ArrayLike, name: str) -> None:
        if not np.isfinite(value).all():
            raise InvalidError(f"{name}: holds numbers that are not finite")
        array[...] = value

    @property
    def time(self) -> Floats:
        """(N,) the time of each world [s]."""
        return np.array([world.time for world in self])

    @property
    def bytes(self) -> int:
        """Memory that it holds now."""
        return _core.batch_bytes(self._handle)

    # ---- Moving --------------------------------------------------------------------------------

    def step(self, count: int = 1, *, errors: str = "raise") -> npt.NDArray[np.bool_]:
        """Moves every world by `count` steps, without Python's lock. A world that fails stops there, and
        the others continue. (N,): True where all steps were made and met their tolerance.

        errors: "raise" raises the error of the first world that failed, after all others have been
        moved; "keep" only keeps it in batch.errors. Ctrl-C ends the steps under way; each world is then at
        the end of its last whole one."""
        if errors not in ("raise", "keep"):
            raise InvalidError(f'errors: "raise" or "keep", not {errors!r}')
        _core.batch_steps(self._handle, count)
        statuses = [_core.batch_world_info(self._handle, world)[:2] for world in range(self._count)]
        if errors == "raise":
            for world, (status, text) in enumerate(statuses):
                if text:
                    raise make_error(status, f"world {world}: {text}", "", 0, 0)
        return np.array([status == "HK_OK" for status, _ in statuses])

    @property
    def errors(self) -> dict[int, Error]:
        """The worlds that the last step() could not move to its end, and why."""
        failed: dict[int, Error] = {}
        for world in range(self._count):
            status, text, _, _ = _core.batch_world_info(self._handle, world)
            if text:
                failed[world] = make_error(status, text, "", 0, 0)
        return failed

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """(N,) how many steps the last step() made of each world."""
        return np.array(
            [_core.batch_world_info(self._handle, world)[2] for world in range(self._count)], np.int64
        )

    # ---- Looking -------------------------------------------------------------------------------

    @property
    def energies(self) -> Energies:
        """Energies [J], momenta and extremes of all worlds now: arrays with one entry a world."""
        rows = np.empty((self._count, _INFO_FIELDS))
        _core.batch_state_info(self._handle, address(rows))
        return Energies(StateInfo._of(tuple(row)) for row in rows.tolist())

    @property
    def step_info(self) -> list[StepInfo]:
        """How the last step of each world was solved."""
        infos = (_core.batch_world_info(self._handle, world)[3] for world in range(self._count))
        return [StepInfo(*info) for info in infos]

    def probe(self, select: Any) -> tuple[Floats, Floats]:
        """Positions [m] and velocities [m/s] of chosen vertices of all worlds, (N, V, 3) each: numbers,
        a mask, the name of a set, or a dict as in scene files."""
        vertices = self.model.select(select)
        shape = (self._count, len(vertices), 3)
        x, v = np.empty(shape), np.empty(shape)
        _core.batch_probe(self._handle, address(vertices), len(vertices), address(x), address(v))
        return x, v

    # ---- Parameters ----------------------------------------------------------------------------

    def set(self, parameters: Mapping[str, npt.ArrayLike] | None = None, /, **named: npt.ArrayLike) -> None:
        """Gives worlds parameters of their own: one value for all, or an array with one entry a world.

            batch.set(k=[10, 100, 1000], h=0.01)
            batch.set({"gravity.g": np.linspace(0, 9.81, 3), "wind.velocity": velocities})

        ==================  =========================================================================
        k                   stiffness [N/m]: (N,) of all springs, or (N, M) of each spring
        l0, damping         of springs [m], [N s/m]: (N,) or (N, M)
        mass                [kg]: (N,) the total of each body, or (N, n) of each vertex
        h                   the step [s]: (N,)
        "force.parameter"   of the first force of that name: (N,), or (N, 3) for vectors
        ==================  =========================================================================

        k of single springs, l0 and damping belong to the state (State.set_springs). Shapes
        and ranges of all values are checked before anything is changed."""
        given = {**(parameters or {}), **named}
        rows = {name: self._rows(value, name) for name, value in given.items()}
        changes = [
            _prepared(sim, name, values[world]) for name, values in rows.items()
            for world, sim in enumerate(self)
        ]
        for change in changes:
            change()

    def _rows(self, value: npt.ArrayLike, name: str) -> Floats:
        """The value of a parameter for each world, checked before any world is changed."""
        array = np.asarray(value)
        if array.ndim == 0:
            array = np.full(self._count, array)
        sizes = _entries(self.model, name)
        shape = (self._count,) if array.ndim == 1 and 1 in sizes else (self._count, *array.shape[1:2])
        if array.shape == shape and (array.ndim == 1 or array.shape[1] in sizes):
            return _checked(floats(array, name, shape), name)
        shapes = " or ".join(f"({self._count},)" if s == 1 else f"({self._count}, {s})" for s in sizes)
        raise InvalidError(f"{name}: expected the shape {shapes}, got {array.shape}")

    def __repr__(self) -> str:
        return f"<hooke.Batch: {self._count} worlds of {len(self.model)} vertices>"


def _entries(model: Model, name: str) -> tuple[int, ...]:
    """How many numbers a world may have of a parameter."""
    springs = len(model.springs.k)
    sizes = {"k": (1, springs), "l0": (1, springs), "damping": (1, springs), "mass": (1, len(model)), "h": (1,)}
    if name in sizes:
        return sizes[name]
    value = _force(model, name)[2]
    return (len(value),) if isinstance(value, (list, tuple)) else (1,)


def _force(model: Model, name: str) -> tuple[int, str, Any]:
    """The number of the force that "force.parameter" names, the parameter, and its value now."""
    force_name, _, key = name.partition(".")
    for index, force in enumerate(model.forces):
        if force.name != force_name or not isinstance(force, Method):
            continue
        if key not in force.params:
            raise InvalidError(f"{name}: the force '{force_name}' has no parameter '{key}'")
        return index, key, force.params[key]
    known = "k, l0, damping, mass, h"
    raise InvalidError(f"{name}: there is no such parameter; there are {known}, and force.parameter of "
                       f"the forces {', '.join(force.name for force in model.forces)}")


def _checked(values: Floats, name: str) -> Floats:
    least = {"k": 0.0, "l0": 0.0, "damping": 0.0}.get(name, -np.inf)
    wrong = values < least if name not in ("mass", "h") else values <= 0
    if wrong.any():
        bound = "above 0" if name in ("mass", "h") else "at least 0"
        raise InvalidError(f"{name}: {values[wrong][0]:g} makes no sense; it must be {bound}")
    return values


def _prepared(sim: Sim, name: str, value: Any) -> Callable[[], None]:
    """The change of a parameter of one world, checked as far as it can be before it is made."""
    single = np.ndim(value) == 0
    if name == "h":
        return lambda: setattr(sim, "h", float(value))
    if name == "k" and single:
        return lambda: _set_stiffness(sim, float(value))
    if name in ("k", "l0", "damping"):
        return lambda: sim.state.set_springs(**{name: value})
    if name == "mass":
        masses = _masses(sim.model, float(value)) if single else value
        return lambda: setattr(sim.model, "masses", masses)
    index, key, _ = _force(sim.model, name)
    force = sim.model.forces[index]
    assert isinstance(force, Method)
    changed = force.replace(**{key: float(value) if single else value.tolist()})
    return lambda: sim.model.forces.__setitem__(index, changed)


def _set_stiffness(sim: Sim, k: float) -> None:
    """Of all springs of a world [N/m], also where its state has springs of its own."""
    sim.model.set_stiffness(k)
    if (sim.state.springs.k != k).any():
        sim.state.set_springs(k=k)


def _masses(model: Model, total: float) -> Floats:
    """Masses with another total [kg] of each body."""
    masses = model.masses.copy()
    for body in model.bodies:
        part = slice(body.first, body.first + body.count)
        masses[part] *= total / masses[part].sum()
    return masses
