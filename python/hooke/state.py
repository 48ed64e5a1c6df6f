"""State: time, positions and velocities."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Floats, address, per_item, point, view
from .errors import InvalidError
from .model import Model, Springs

__all__ = ["State"]


class State:
    """Where a system is. With the model and the settings it is all that a step depends on.

    x and v are views of the library's memory: writing `state.x[3] = 0, 1, 0` moves the vertex. They
    stay valid when the state and its simulation are destroyed. Where a device makes the steps, asking for
    state.x or state.v brings them here: ask again after a step. A state can be pickled, and goes on
    elsewhere with a model of the same scene.
    """

    __slots__ = ("_away", "_handle", "_model", "_v", "_x")

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"expected a hooke.Model, got {model!r}")
        self._attach(_core.state_create(model._handle), model)

    def _attach(self, handle: _core.Handle, model: Model | None) -> None:
        self._model = model  # None: not known yet, after unpickling
        self._away = False  # a device may hold it
        x, v, count = _core.state_arrays(handle)
        self._handle = handle
        self._x: Floats = view(handle, x, (count, 3), writable=True)
        self._v: Floats = view(handle, v, (count, 3), writable=True)

    @classmethod
    def _of(cls, handle: _core.Handle, model: Model | None = None) -> State:
        state = cls.__new__(cls)
        state._attach(handle, model)
        return state

    @property
    def x(self) -> Floats:
        """(N, 3) positions [m], a writable view."""
        if self._away:
            _core.state_arrays(self._handle)
        return self._x

    @x.setter
    def x(self, value: npt.ArrayLike) -> None:
        self.x[...] = _finite(value, "x")

    @property
    def v(self) -> Floats:
        """(N, 3) velocities [m/s], a writable view."""
        if self._away:
            _core.state_arrays(self._handle)
        return self._v

    @v.setter
    def v(self, value: npt.ArrayLike) -> None:
        self.v[...] = _finite(value, "v")

    @property
    def time(self) -> float:
        """The time [s]. Setting it has bdf2 start anew, which remembers the step before: set it, to
        the same value, too, after writing x or v between steps of bdf2."""
        return _core.state_time(self._handle)

    @time.setter
    def time(self, value: float) -> None:
        _core.state_set_time(self._handle, value)

    # ---- Springs that change in time -------------------------------------------------------------

    def _need_model(self) -> Model:
        if self._model is None:
            raise InvalidError(
                "the springs of a state that was unpickled are known once a simulation uses it: "
                "Sim(scene, state=state)"
            )
        return self._model

    @property
    def springs(self) -> Springs:
        """The springs that count for this state, those of the model unless set_springs has given it its
        own: indices, k [N/m], l0 [m], damping [N s/m], kind, tension_only, broken. Read-only copies."""
        model = self._need_model()
        arrays = _core.state_springs(self._handle, model._handle)

        def copied(name: str, kind: str) -> npt.NDArray[Any]:
            at, count = arrays[name]
            array = view(None, at, (count,), kind).copy()
            array.flags.writeable = False
            return array

        has_broken = arrays["broken"][1] > 0
        none_broken = np.zeros(len(model.springs.k), np.bool_)
        none_broken.flags.writeable = False
        return model.springs._replace(
            k=copied("k", "f8"),
            l0=copied("l0", "f8"),
            damping=copied("damping", "f8") if arrays["damping"][1] else None,
            broken=copied("broken", "?") if has_broken else none_broken,
        )

    def set_springs(
        self,
        *,
        k: npt.ArrayLike | None = None,
        l0: npt.ArrayLike | None = None,
        damping: npt.ArrayLike | None = None,
        broken: npt.ArrayLike | None = None,
    ) -> None:
        """Gives this state springs of its own from now on: k [N/m], l0 [m], damping [N s/m] and which are
        broken, one value or (M,) in the order of model.springs; None leaves what it is. They may be set
        again between steps, and are saved, copied and pickled with the state. Steps in single precision
        and on devices refuse such a state, except in worlds of a batch."""
        model = self._need_model()
        count = len(model.springs.k)
        given = {"k": k, "l0": l0, "damping": damping}
        arrays = {key: per_item(value, key, count) for key, value in given.items() if value is not None}
        mask = None if broken is None else _mask(broken, count)
        at = {key: address(array) for key, array in arrays.items()}
        _core.state_set_springs(
            self._handle, model._handle, at.get("k", 0), at.get("l0", 0), at.get("damping", 0),
            0 if mask is None else address(mask),
        )

    def reset_springs(self) -> None:
        """The springs of the model count again."""
        _core.state_reset_springs(self._handle)

    # ---- Copies --------------------------------------------------------------------------------

    def copy(self) -> State:
        """Another state with the same content."""
        return State._of(_core.state_unpack(_core.state_pack(self._handle)), self._model)

    def assign(self, other: State) -> None:
        """Takes over the content of another state of the same model."""
        _core.state_copy(other._handle, self._handle)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the state to a file."""
        _core.state_file(self._handle, path, True)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Reads what save wrote, for the same model."""
        _core.state_file(self._handle, path, False)

    def nearest(self, place: npt.ArrayLike) -> tuple[int, float]:
        """The vertex nearest to a point [m], and its distance [m]."""
        return _core.state_nearest(self._handle, point(place, "point"))

    def nearest_to_ray(
        self, origin: npt.ArrayLike, direction: npt.ArrayLike, radius: float
    ) -> tuple[int, float]:
        """Of the vertices within a radius [m] of a ray the first one along it, else the one nearest
        to the ray; and how far it is from the origin [m]. -1 if there is none."""
        return _core.state_nearest_to_ray(
            self._handle, point(origin, "origin"), point(direction, "direction"), radius
        )

    def __len__(self) -> int:
        return len(self._x)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (_core.state_pack(self._handle),)

    def __repr__(self) -> str:
        return f"<hooke.State: {len(self)} vertices at {self.time:g} s>"


def _finite(value: npt.ArrayLike, name: str) -> npt.ArrayLike:
    if not np.isfinite(value).all():
        raise InvalidError(f"{name}: holds numbers that are not finite")
    return value


def _mask(broken: npt.ArrayLike, count: int) -> npt.NDArray[np.uint8]:
    """One byte a spring, 1 where it is broken."""
    values = per_item(broken, "broken", count)
    if not np.isin(values, (0, 1)).all():
        raise InvalidError("broken: expected a mask, True or False for each spring")
    return values.astype(np.uint8)


def _restore(packed: bytes) -> State:
    return State._of(_core.state_unpack(packed))
