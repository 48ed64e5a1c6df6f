"""Model: the compiled system."""

from __future__ import annotations

import copy
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Floats, Ints, address, indices, per_item, to_json, view
from .custom import (
    CallerForce, CustomForce, ForceArray,
    _DampingFn, _EnergyFn, _FilterFn, _ForceFn, _HessianFn, _IterateFn, _LoadFn, _SaveFn, _StepFn,
)
from .errors import InvalidError
from .methods import MaskSelection, Method, as_method, check_masks, method_text, selection
from .ranks import Part, Ranks, device_of
from .scene import Scene, as_scene

__all__ = ["Body", "Forces", "Model", "Springs"]

Force = Union[Method, CallerForce]
_AnyForce = Union[Force, str, dict[str, Any]]


class Springs(NamedTuple):
    """The springs of a model, read-only views without a copy, or of a state, sorted by the lower and
    then the higher vertex; model.find_springs gives the number of the spring of each edge.

    Two vertices have one spring: what was given between them in parallel is merged, k and damping
    added up, with the rest length sum(k l0) / sum(k).
    """

    indices: Ints  #: (M, 2) end vertices, the lower one first
    k: Floats  #: (M,) stiffness [N/m]
    l0: Floats  #: (M,) rest length [m]
    damping: Floats | None  #: (M,) along the spring [N s/m]; None: there is none
    kind: npt.NDArray[np.uint8]  #: (M,) 0 edge, 1 shear, 2 bending, 3 given one by one
    tension_only: npt.NDArray[np.bool_] | None  #: (M,); None: there is none such
    broken: npt.NDArray[np.bool_] | None = None  #: (M,) of a state: pulls at nothing; None: of a model


@dataclass(frozen=True)
class Body:
    """One body of a model: its vertices are first .. first + count - 1."""

    name: str
    first: int
    count: int
    sets: dict[str, int]  #: names of vertex sets, and how many vertices each holds


class Forces:
    """The forces of a model as a list: number 0 are the springs, which stay.

    Each is a hooke.Method, or a CustomForce or ForceArray of the caller. `model.forces[1] = hooke.forces.gravity(g=1.62)` replaces one between
    steps, append and del add and remove; those behind a removed one move up.
    """

    def __init__(self, handle: _core.Handle, vertices: int) -> None:
        self._handle = handle
        self._vertices = vertices

    def _text(self, force: Method | str | dict[str, Any]) -> str:
        made = as_method(force, "force", "force")
        check_masks(made, self._vertices)
        return to_json(made)

    def _described(self) -> list[str | CallerForce]:
        """Texts of forces of the library, and forces of the caller."""
        entries = _core.model_forces(self._handle)
        return [entry if isinstance(entry, str) else entry.force for entry in entries]

    def _all(self) -> list[Force]:
        return [
            as_method(json.loads(entry), "force", "force") if isinstance(entry, str) else entry
            for entry in self._described()
        ]

    def __len__(self) -> int:
        return len(_core.model_forces(self._handle))

    def __iter__(self) -> Iterator[Force]:
        return iter(self._all())

    def __getitem__(self, index: int) -> Force:
        return self._all()[self._number(index)]

    def __setitem__(self, index: int, force: Method | str | dict[str, Any]) -> None:
        if isinstance(force, (CustomForce, ForceArray)):
            raise TypeError("forces of Python cannot replace another one; remove that and append this")
        _core.model_put_force(self._handle, self._number(index), self._text(force))

    def __delitem__(self, index: int) -> None:
        _core.model_remove_force(self._handle, self._number(index))

    def append(self, force: _AnyForce) -> int:
        """Adds a force and returns its number."""
        if isinstance(force, (CustomForce, ForceArray)):
            return force._add_to(self._handle, self._vertices)
        return _core.model_put_force(self._handle, -1, self._text(force))

    def _number(self, index: int) -> int:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"there is no force {index}; there are {count}, the springs included")
        return index % count

    def __repr__(self) -> str:
        return f"<hooke forces: {', '.join(force.name for force in self)}>"


class Model:
    """A scene made ready: masses, springs, faces, pins. Constant but for the live changes below,
    which are made between steps; simulations notice at their next one.

    scene: a Scene, the name of a built-in one, or the path of a scene file.
    threads: that work on it; 0 takes all cores. The result does not depend on it, bit for bit.
    device: where its simulations make their steps, "cpu", or "cuda" with the plug-in of docs/gpu.md.
    ranks: processes that hold a part of the model each (hooke.Ranks); the device is then "petsc". The
    arrays are those of the part.
    """

    def __init__(
        self, scene: Scene | str | os.PathLike[str], *, threads: int = 0, device: str = "cpu",
        ranks: Ranks | None = None,
    ) -> None:
        scene = as_scene(scene).copy()
        device = device_of(device, ranks)
        self._threads = threads
        handle = _core.model_compile(scene._create(threads, device, ranks))
        self._setup(handle, scene, device, ranks)

    def _setup(
        self, handle: _core.Handle, scene: Scene, device: str, ranks: Ranks | None = None
    ) -> None:
        self._handle = handle
        self.scene = scene  #: what it was made from
        self.device = device
        self.ranks = ranks  #: processes that hold a part each; None: this one holds all
        self._checks = _mesh_checks(scene)
        self._stiffness: list[tuple[float, bool]] = []  # live changes: value, whether it is a factor
        self._motions: dict[int, str | None] = {}  # live changes by pin
        self._has_masses = False  # a live change has set them
        arrays = _core.model_arrays(handle)

        def array(name: str, kind: str, columns: int = 0) -> npt.NDArray[Any]:
            at, count = arrays[name]
            shape = (count, columns) if columns else (count,)
            return view(handle, at, shape, kind)

        i, j, count = arrays["i"][0], arrays["j"][0], arrays["i"][1]
        self._springs = Springs(
            # Both ends stand in arrays of their own; as one array the second column is that far off.
            indices=view(handle, i, (count, 2), "i4", strides=(4, j - i)),
            k=array("k", "f8"),
            l0=array("l0", "f8"),
            damping=array("damping", "f8") if arrays["damping"][1] else None,
            kind=array("kind", "u1"),
            tension_only=array("tension", "?") if arrays["tension"][1] else None,
        )
        self._masses = array("masses", "f8")
        self._pins = array("pins", "i4")
        self._faces = array("faces", "i4", 3)
        self.forces = Forces(handle, len(self._masses))

    @classmethod
    def _of(
        cls, handle: _core.Handle, scene: Scene, device: str, ranks: Ranks | None = None
    ) -> Model:
        model = cls.__new__(cls)
        model._threads = 0
        model._setup(handle, scene, device, ranks)
        return model

    @classmethod
    def _of_world(cls, handle: _core.Handle, base: Model) -> Model:
        """The model of a world of a batch, a copy of the model `base` with its live changes."""
        model = cls._of(handle, base.scene, "cpu")
        model._stiffness, model._motions = list(base._stiffness), dict(base._motions)
        model._has_masses = base._has_masses
        model._checks = base._checks
        return model

    @property
    def part(self) -> Part | None:
        """What this process holds of a model on ranks; None: all of it."""
        found = _core.model_part(self._handle)
        if found is None:
            return None
        total, owned, number, ghost = found
        shape = (len(self),)
        return Part(total, owned, view(self._handle, number, shape, "i8"), view(self._handle, ghost, shape, "?"))

    @property
    def springs(self) -> Springs:
        """The springs: indices, k [N/m], l0 [m], damping [N s/m], kind, tension_only. Read-only views.
        set_stiffness and scale_stiffness change k; state.set_springs changes single springs."""
        return self._springs

    @property
    def masses(self) -> Floats:
        """(N,) masses [kg], a read-only view. Setting it, to one number or (N,), is a live change."""
        return self._masses

    @masses.setter
    def masses(self, value: npt.ArrayLike) -> None:
        masses = per_item(value, "masses", len(self))
        _core.model_set_masses(self._handle, address(masses))
        self._has_masses = True

    @property
    def pins(self) -> Ints:
        """The pinned vertices in rising order, a read-only view."""
        return self._pins

    @property
    def faces(self) -> Ints:
        """(F, 3) triangles for drawing and the wind, a read-only view."""
        return self._faces

    @property
    def info(self) -> dict[str, Any]:
        """Counts, sizes and ranges: vertices, springs, mass [kg], k_min, k_max [N/m], bytes ..."""
        return dict(_core.model_info(self._handle))

    @property
    def bodies(self) -> list[Body]:
        """The bodies with their vertices and sets."""
        return [Body(*entry) for entry in _core.model_bodies(self._handle)]

    @property
    def contact(self) -> list[dict[str, Any]]:
        """How bodies, obstacles and the ground touch, in this order: thickness [m], edge_min and
        edge_mean [m] of bodies, points, edges, triangles, friction ...; [] without contact."""
        return _core.model_contact(self._handle)

    def friction(self, first: str, second: str) -> tuple[float, float] | None:
        """The static and the kinetic coefficient of friction between two bodies or obstacles;
        "ground" is the ground. None: the two do not touch each other."""
        names = [str(entry["name"]) for entry in self.contact]
        for name in (first, second):
            if name not in names:
                raise InvalidError(f"there is no body or obstacle '{name}' that contact knows; there are "
                                   f"{', '.join(names) or 'none'}")
        touch, rest, slide = _core.model_friction(
            self._handle, names.index(first), names.index(second)
        )
        return (rest, slide) if touch else None

    @property
    def obstacles(self) -> list[str]:
        """The names of the obstacles, in the order of Contacts.obstacle_forces."""
        return _core.model_obstacles(self._handle)

    def select(self, select: Any, *, body: str | None = None) -> Ints:
        """The numbers of chosen vertices: the name of a set, a mask, or a dict as in scene files."""
        chosen = selection(select, body)
        if isinstance(chosen, MaskSelection):
            vertices = len(self) if body is None else self.scene._vertex_count(body)
            chosen.check(vertices, "select")
        text = to_json({"type": "handle", "select": chosen})
        return np.frombuffer(_core.model_select(self._handle, text), np.int32)

    def find_springs(self, edges: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """(E,) the number in model.springs of each edge: the spring between its two vertices, in
        whichever order it names them. Edges in parallel have the same number.

            model.springs.k[model.find_springs(edges)]      # N/m, in the order of edges
        """
        ends = np.sort(indices(edges, "edges", (None, 2), len(self)), axis=1).astype(np.int64)
        lower, higher = self._springs.indices.T.astype(np.int64)
        keys, wanted = lower * len(self) + higher, ends[:, 0] * len(self) + ends[:, 1]
        found = np.searchsorted(keys, wanted)
        there = np.append(keys, -1)[found] == wanted
        if not there.all():
            row = int(np.argmin(there))
            raise InvalidError(
                f"edges[{row}]: there is no spring between vertices {ends[row, 0]} and {ends[row, 1]}"
            )
        return found

    # ---- Live changes --------------------------------------------------------------------------

    def scale_stiffness(self, factor: float) -> None:
        """Makes every spring factor (above 0) times as stiff."""
        _core.model_stiffness(self._handle, factor, True)
        self._stiffness.append((factor, True))

    def set_stiffness(self, k: float) -> None:
        """Gives every spring the stiffness k [N/m]."""
        _core.model_stiffness(self._handle, k, False)
        self._stiffness = [(k, False)]

    def set_motion(self, pin: int, motion: Method | str | dict[str, Any] | None) -> None:
        """Gives a pin of the scene (from 0) another motion; None: fixed."""
        text = method_text(motion, "motion", "motion")
        _core.model_set_motion(self._handle, pin, text)
        self._motions[pin] = text

    def add_force(
        self,
        force: _AnyForce | _ForceFn,
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
    ) -> int:
        """Adds a force and returns its number in model.forces: a force of the library, or functions of
        Python, force(t, x, v) and what hooke.CustomForce lists.

        A function that raises an exception ends the step, which raises it; the state is then that of
        the last whole step."""
        functions: dict[str, Any] = {
            "energy": energy, "hessian": hessian, "damping": damping, "filter": filter,
            "begin_step": begin_step, "end_step": end_step, "begin_iterate": begin_iterate, "save": save,
            "load": load, "name": name,
        }
        if not isinstance(force, (Method, str, dict, CustomForce, ForceArray)):
            return self.forces.append(CustomForce(force, uses_velocity=uses_velocity, **functions))
        extra = [key for key, value in functions.items() if value is not None]
        if extra or uses_velocity:
            key = extra[0] if extra else "uses_velocity"
            raise TypeError(f"{key}: belongs to a force that is a function, not to {force!r}")
        return self.forces.append(force)

    def add_force_array(self, array: Floats) -> int:
        """Adds a force that is an array, (N, 3) float64 in N, and returns its number in model.forces. The
        array is kept, not copied, and read in each step: what is written into it counts from then on."""
        return self.forces.append(ForceArray(array))

    # ---- Copies --------------------------------------------------------------------------------

    def copy(self) -> Model:
        """Another model of the same scene, with all live changes so far. It shares functions and arrays
        of forces; copy.deepcopy copies the arrays."""
        return copy.copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """The scene is compiled anew, and the live changes are made again."""
        if self._checks != _mesh_checks(self.scene):
            raise InvalidError(
                "the vertices of a mesh were changed after the model was made of it, so that it "
                "cannot be copied or pickled; make another model"
            )
        masses = self._masses.copy() if self._has_masses else None
        changes = (self.forces._described(), self._stiffness, self._motions, masses)
        return _restore, (self.scene, self._threads, self.device, *changes, self.ranks)

    def __len__(self) -> int:
        return len(self._masses)

    def __repr__(self) -> str:
        return (
            f"<hooke.Model: {len(self)} vertices, {len(self._springs.k)} springs, "
            f"{len(self._pins)} pinned>"
        )


def _mesh_checks(scene: Scene) -> list[int]:
    """A checksum of the vertices of each mesh, which the scene shares with the user."""
    return [zlib.crc32(mesh.vertices.data) for mesh in scene._meshes()]


def _restore(
    scene: Scene, threads: int, device: str, forces: list[str | CallerForce],
    stiffness: list[tuple[float, bool]], motions: dict[int, str | None], masses: Floats | None,
    ranks: Ranks | None = None,
) -> Model:
    model = Model(scene, threads=threads, device=device, ranks=ranks)
    handle = model._handle
    made = _core.model_forces(handle)
    same = 1  # the springs; a force that is not added again keeps its memory in states
    while same < min(len(made), len(forces)) and made[same] == forces[same]:
        same += 1
    for index in range(len(made) - 1, same - 1, -1):
        _core.model_remove_force(handle, index)
    for force in forces[same:]:
        if isinstance(force, str):
            _core.model_put_force(handle, -1, force)
        else:
            model.forces.append(force)
    if masses is not None:
        model.masses = masses
    for value, is_factor in stiffness:
        _core.model_stiffness(handle, value, is_factor)
    for pin, motion in motions.items():
        _core.model_set_motion(handle, pin, motion)
    model._stiffness, model._motions = list(stiffness), dict(motions)
    return model
