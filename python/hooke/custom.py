"""Forces of the caller: functions of Python, and arrays that are read in each step."""

from __future__ import annotations

import inspect
import pickle
from typing import Any, Callable, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Floats, address, floats, indices, view
from .errors import InvalidError

__all__ = ["CustomForce", "ForceArray"]

#: What hessian and damping return: (M,) rows i, (M,) columns j, (M, 3, 3) blocks.
Blocks = Optional[tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]]

# v may be None, and what is computed from Any is Any, which strict type checkers refuse as an array.
_ForceFn = Callable[[float, Floats, Any], Any]
_EnergyFn = Callable[[float, Floats], float]
_HessianFn = Callable[..., Blocks]
_DampingFn = Callable[[float, Floats, Floats], Blocks]
_FilterFn = Callable[[float, Floats, Floats], bool]
_StepFn = Callable[[float, Floats, Floats, float], object]
_IterateFn = Callable[[float, Floats], object]
_SaveFn = Callable[[], Union[bytes, bytearray, memoryview]]
_LoadFn = Callable[[bytes], object]

_FUNCTIONS = (
    "force", "energy", "hessian", "damping", "filter", "begin_step", "end_step", "begin_iterate", "save", "load",
)


class CustomForce:
    """A force that functions of Python compute; model.add_force makes one and adds it.

    Times t are in s, x are positions [m] and v velocities [m/s], (N, 3), read-only and made for the call:
    they may be kept. Forces take part in every integrator, minimizer and linear solver; devices refuse
    them.

    Parameters
    ----------
    force : force(t, x, v) -> (N, 3) [N], or None for no force
        -dE/dx where there is an energy, and whatever depends on v if v is not None.
    energy : energy(t, x) -> float [J]
        The potential energy E; inf forbids x. Without it the force is constant within an implicit step.
    hessian : hessian(t, x) -> (i, j, blocks)
        All blocks [N/m] of the Hessian d2E/dx_i dx_j, which is symmetric: (M,), (M,) and (M, 3, 3).
        Blocks at the same vertices add up. Needs the energy. A function that also takes `projected` gives
        a positive semidefinite Hessian where that is True, else the true one, by which a minimizer finds
        out whether it is at a minimum.
    damping : damping(t, x, v) -> (i, j, blocks)
        Blocks [N s/m] of a symmetric, positive semidefinite C near -df_i/dv_j, by which implicit steps damp.
    filter : filter(t, x, to) -> bool
        Shortens the move from x to `to` in place, so that the straight path between the two is allowed;
        returns whether it has changed `to`.
    begin_step, end_step : function(t, x, v, h)
        Before and after a step by h [s].
    begin_iterate : begin_iterate(t, x)
        Before a minimizer evaluates anything at a new iterate.
    save : save() -> bytes
        After each step and its end_step: what the force has to know in the next one. It belongs to the
        state, with which it is copied, pickled and saved. Needs load. May be called twice a step.
    load : load(data)
        Before each step and its begin_step, and before energies, forces and matrices of a state: takes
        over what save returned for that state; b"" if it has nothing of this force, which then starts
        from its beginning. Needs save.
    uses_velocity : bool
        Whether a force with an energy depends on v, too; yes if there is a damping. Else v is None.
    name : str
        For messages; that of the function if not given.
    """

    __slots__ = (*_FUNCTIONS, "name", "uses_velocity")

    def __init__(
        self,
        force: _ForceFn,
        *,
        energy: _EnergyFn | None = None,
        hessian: _HessianFn | None = None,
        damping: _DampingFn | None = None,
        filter: _FilterFn | None = None,
        begin_step: _StepFn | None = None,
        end_step: _StepFn | None = None,
        begin_iterate: _IterateFn | None = None,
        save: _SaveFn | None = None,
        load: _LoadFn | None = None,
        uses_velocity: bool = False,
        name: str | None = None,
    ) -> None:
        self.force = force
        self.energy = energy
        self.hessian = hessian
        self.damping = damping
        self.filter = filter
        self.begin_step = begin_step
        self.end_step = end_step
        self.begin_iterate = begin_iterate
        self.save = save
        self.load = load
        for key in _FUNCTIONS:
            function = getattr(self, key)
            if not callable(function) and (function is not None or key == "force"):
                raise TypeError(f"{key}: expected a function, got {function!r}")
        self.uses_velocity = uses_velocity or damping is not None
        self.name = name or str(getattr(force, "__name__", type(force).__name__))

    def _given(self) -> dict[str, Any]:
        """The functions that there are."""
        return {key: getattr(self, key) for key in _FUNCTIONS if getattr(self, key) is not None}

    def _add_to(self, model: _core.Handle, vertices: int) -> int:
        names = tuple(self._given())
        return _core.force_add(model, _Calls(self, vertices), self.name, names, self.uses_velocity)

    def __deepcopy__(self, memo: dict[int, Any]) -> CustomForce:
        return self  # functions are shared: what they belong to may hold the model that is being copied

    def __reduce__(self) -> tuple[Any, ...]:
        for key, function in self._given().items():
            try:
                pickle.dumps(function)
            except InvalidError:  # of a function that holds its own model
                raise
            except Exception as error:
                raise InvalidError(
                    f"force '{self.name}', and so its model, cannot be pickled: its function {key} "
                    f"cannot ({error}); use a function at the top level of a module"
                ) from error
        return _restore, (self._given(), self.uses_velocity, self.name)

    def __repr__(self) -> str:
        return f"<hooke.CustomForce {self.name}: {', '.join(self._given())}>"


class ForceArray:
    """A force on each vertex that is an array [N], read whenever forces are evaluated: what is written
    into `array` counts from the next step on. Implicit steps take it as constant."""

    __slots__ = ("_array",)

    name = "array"

    def __init__(self, array: Floats) -> None:
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            raise TypeError(f"array: expected a numpy array of float64, got {_kind_of(array)}")
        if not array.flags.c_contiguous:
            raise InvalidError("array: expected a C-contiguous array; give numpy.ascontiguousarray(array)")
        self._array: Floats = array

    @property
    def array(self) -> Floats:
        """(N, 3) N: the array itself, to write into."""
        return self._array

    def _add_to(self, model: _core.Handle, vertices: int) -> int:
        if self.array.shape != (vertices, 3):
            raise InvalidError(f"array: expected the shape ({vertices}, 3), got {self.array.shape}")
        return _core.force_add_array(model, _Kept(self), address(self.array))

    def __reduce__(self) -> tuple[Any, ...]:
        return ForceArray, (self.array,)

    def __repr__(self) -> str:
        return f"<hooke.ForceArray: {len(self.array)} vertices>"


class ControlArray(ForceArray):
    """The array that hooke.record writes the forces of each step into; 0 between steps. Each model has its
    own, copies of a model, too."""

    __slots__ = ()

    def __init__(self, vertices: int) -> None:
        super().__init__(np.zeros((vertices, 3)))

    def _add_to(self, model: _core.Handle, vertices: int) -> int:
        return ForceArray._add_to(ControlArray(vertices), model, vertices)

    def __reduce__(self) -> tuple[Any, ...]:
        return ControlArray, (len(self.array),)


CallerForce = Union[CustomForce, ForceArray]


class _Kept:
    """What the library keeps of a force array, so that the memory stays."""

    def __init__(self, force: ForceArray) -> None:
        self.force = force


def _takes(function: Callable[..., Any] | None, name: str) -> bool:
    """Whether a function has a parameter of that name."""
    try:
        return function is not None and name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # functions of C may have no signature
        return False


class _Calls:
    """What the library calls: turns addresses into arrays, and checks what functions return."""

    def __init__(self, force: CustomForce, vertices: int) -> None:
        self.force = force
        self._shape = (vertices, 3)
        self._projects = _takes(force.hessian, "projected")

    def _vectors(self, at: int) -> Any:
        """A read-only copy, since the library's memory may be freed while the caller keeps x."""
        if at == 0:
            return None
        copied = view(None, at, self._shape).copy()
        copied.flags.writeable = False
        return copied

    def _named(self, function: str) -> str:
        return f"{function}() of force '{self.force.name}'"

    def _add(self, t: float, x: int, v: int, f: int) -> None:
        has_v = self.force.uses_velocity or self.force.energy is None
        value = self.force.force(t, self._vectors(x), self._vectors(v) if has_v else None)
        if value is not None:
            view(None, f, self._shape, writable=True)[...] += floats(value, self._named("force"), self._shape)

    def _energy(self, t: float, x: int) -> float:
        assert self.force.energy is not None
        value = self.force.energy(t, self._vectors(x))
        try:
            E = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"{self._named('energy')}: expected a number, got {_kind_of(value)}") from None
        if np.isnan(E):
            raise InvalidError(f"{self._named('energy')}: is not a number (nan)")
        return E

    def _hessian(self, t: float, x: int, projected: int, sink: int) -> None:
        assert self.force.hessian is not None
        more = {"projected": bool(projected)} if self._projects else {}
        self._add_blocks(self.force.hessian(t, self._vectors(x), **more), "hessian", sink)

    def _damping(self, t: float, x: int, v: int, sink: int) -> None:
        assert self.force.damping is not None
        self._add_blocks(self.force.damping(t, self._vectors(x), self._vectors(v)), "damping", sink)

    def _add_blocks(self, value: Blocks, function: str, sink: int) -> None:
        name = self._named(function)
        if value is None:
            return
        if not isinstance(value, (tuple, list)) or len(value) != 3:
            raise TypeError(f"{name}: expected (i, j, blocks), got {_kind_of(value)}")
        i = indices(value[0], f"{name}: i", (None,), self._shape[0])
        j = indices(value[1], f"{name}: j", (None,), self._shape[0])
        if len(i) != len(j):
            raise InvalidError(f"{name}: i has {len(i)} entries, j has {len(j)}; give one of each a block")
        if len(i) == 0:
            return
        blocks = floats(value[2], f"{name}: blocks", (len(i), 3, 3))
        _core.force_add_blocks(sink, address(i), address(j), address(blocks), len(i))

    def _filter(self, t: float, x: int, to: int) -> bool:
        assert self.force.filter is not None
        place = view(None, to, self._shape, writable=True)
        target = place.copy()
        changed = self.force.filter(t, self._vectors(x), target)
        if not isinstance(changed, (bool, np.bool_)):
            raise TypeError(f"{self._named('filter')}: expected True or False, got {_kind_of(changed)}")
        if changed:
            place[...] = floats(target, f"{self._named('filter')}: to", self._shape)
        return bool(changed)

    def _begin_step(self, t: float, x: int, v: int, h: float) -> None:
        assert self.force.begin_step is not None
        self.force.begin_step(t, self._vectors(x), self._vectors(v), h)

    def _end_step(self, t: float, x: int, v: int, h: float) -> None:
        assert self.force.end_step is not None
        self.force.end_step(t, self._vectors(x), self._vectors(v), h)

    def _begin_iterate(self, t: float, x: int) -> None:
        assert self.force.begin_iterate is not None
        self.force.begin_iterate(t, self._vectors(x))

    def _save(self) -> bytes:
        assert self.force.save is not None
        value = self.force.save()
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise TypeError(f"{self._named('save')}: expected bytes, got {_kind_of(value)}")
        return bytes(value)

    def _load(self, data: bytes) -> None:
        assert self.force.load is not None
        self.force.load(data)


def _kind_of(value: object) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else repr(value)


def _restore(functions: dict[str, Any], uses_velocity: bool, name: str) -> CustomForce:
    return CustomForce(**functions, uses_velocity=uses_velocity, name=name)
