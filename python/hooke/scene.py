"""Scene: what is to be simulated, as plain data."""

from __future__ import annotations

import copy
import difflib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import address, floats, indices, per_item, plain
from .errors import FormatError, InvalidError, UnsupportedError, file_errors
from .mesh import Mesh
from .methods import MaskSelection, Method, as_method, check_masks, selection

if TYPE_CHECKING:
    from .model import Model
    from .ranks import Ranks

__all__ = ["Scene"]

#: Who can make steps, by the number of the library. cuda needs its plug-in.
DEVICES = ("cpu", "cuda", "cuda_double", "auto", "petsc")

Path = Union[str, "os.PathLike[str]"]


class Scene:
    """Bodies, pins, forces, time and integrator. Units are SI.

    `data` is a dict with the keys of scene files (docs/scene.md), to be edited freely; what is in it
    is checked when a model is made of it. A body's "mesh" may be a hooke.Mesh, its springs' "table"
    and its mass's "added" may be arrays. Values deep inside have a short way:

        scene["bodies[0].springs.k"] = 500

    Parameters
    ----------
    title : str
        One sentence.
    duration, step : float [s]
        Length of the motion; time step, 0 picks a stable one.
    fps : float [1/s]
        Frames a second.
    tolerance : float [m]
        Error of a step; steps are halved until it is met.
    integrator
        Such as "verlet" or hooke.integrators.bdf2(); hooke.integrators lists them.
    dimension : 3 or 2
        2 removes z from the unknowns.
    up : "x", "y" or "z"
        The axis that points up.
    libraries : bool
        Whether the scene may load forces of the type "library" from shared libraries, whose code runs
        with all rights of the process. Scene files are data: only files that you trust should get it.
    """

    def __init__(
        self,
        title: str | None = None,
        *,
        duration: float | None = None,
        step: float | None = None,
        fps: float | None = None,
        tolerance: float | None = None,
        integrator: Method | str | dict[str, Any] | None = None,
        dimension: int = 3,
        up: str = "y",
        libraries: bool = False,
    ) -> None:
        time = {
            "duration": duration,
            "step": step,
            "frames_per_second": fps,
            "tolerance": tolerance,
        }
        self.folder: str | None = None
        self.libraries = libraries  #: whether it may load forces from shared libraries
        self._source: tuple[str, str, str] | None = None
        self.data: dict[str, Any] = {
            "dimension": dimension,
            "up": up,
            "time": {key: plain(value, key) for key, value in time.items() if value is not None},
            "bodies": [],
            "pins": [],
            "forces": [],
        }
        if title is not None:
            self.data["title"] = title
        if integrator is not None:
            self.data["integrator"] = as_method(integrator, "integrator", "integrator")._as_json()

    # ---- From files, texts and arrays --------------------------------------------------------------

    @classmethod
    def load(
        cls, path: Path, sets: Mapping[str, Any] | None = None, *, libraries: bool = False
    ) -> Scene:
        """Reads a scene file. sets: values that replace those of the file, {"time.step": 0.01};
        libraries: whether it may load forces from shared libraries."""
        name = os.fspath(path)
        with file_errors(name), open(name, "rb") as file:
            data = file.read()
        return cls._parse(_decoded(data, name), name, os.path.dirname(name), sets, libraries)

    @classmethod
    def parse(
        cls, text: str, *, name: str = "scene", folder: Path | None = None,
        sets: Mapping[str, Any] | None = None, libraries: bool = False,
    ) -> Scene:
        """Reads a scene from JSON text; name stands in messages, folder is where file names start;
        libraries: whether it may load forces from shared libraries."""
        return cls._parse(text, name, None if folder is None else os.fspath(folder), sets, libraries)

    @classmethod
    def builtin(cls, name: str, sets: Mapping[str, Any] | None = None) -> Scene:
        """One of the built-in scenes; hooke.scenes() lists them."""
        scenes = {key: text for key, _, text in _core.builtin_scenes()}
        if name not in scenes:
            near = difflib.get_close_matches(name, scenes, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(scenes)}"
            raise InvalidError(f"there is no built-in scene '{name}'; {hint}")
        return cls._parse(scenes[name], name, None, sets, False)

    @classmethod
    def _parse(
        cls, text: str, name: str, folder: str | None, sets: Mapping[str, Any] | None, libraries: bool
    ) -> Scene:
        handle = _core.scene_create(text, name, folder, (), 0, 0, False, (), None)
        whole = _core.scene_format(handle)
        scene = cls(libraries=libraries)
        scene.folder = folder
        scene.data = json.loads(whole)
        scene._source = (text, name, json.dumps(scene.data))
        for path, value in (sets or {}).items():
            scene[path] = value
        if sets:
            scene._create(0)  # says at once what is wrong
        return scene

    @classmethod
    def from_arrays(
        cls,
        vertices: npt.ArrayLike,
        edges: npt.ArrayLike | None = None,
        faces: Any = None,
        *,
        masses: npt.ArrayLike | None = None,
        k: npt.ArrayLike | None = None,
        l0: npt.ArrayLike | None = None,
        damping: npt.ArrayLike | None = None,
        pins: Any = None,
        sets: Mapping[str, npt.ArrayLike] | None = None,
        forces: Iterable[Method | str | dict[str, Any]] = ("gravity",),
        springs: Mapping[str, Any] | None = None,
        **scene: Any,
    ) -> Scene:
        """A scene of one body from arrays alone.

        Springs are the edges, or the edges of the faces where no edges are given; faces with edges
        are there for wind, area and drawing.

        Parameters
        ----------
        vertices : (N, 3) or (N, 2) [m]
        edges : (E, 2) whole numbers
        faces : (F, 3) or (F, 4) whole numbers
        masses : number or (N,) [kg]
            Of each vertex. 1 kg in all where it is not given.
        k : number or (E,) [N/m], l0 : number or (E,) [m], damping : number or (E,) [N s/m]
            Of the springs. l0 is the length in the mesh where it is not given. Edges between the
            same two vertices are springs in parallel: k and damping add up.
        pins : vertex numbers, a mask of vertices, the name of a set, or a dict
        forces
            Gravity where nothing is said; () for none. A gravity that is added later acts beside
            it, and the log warns.
        scene
            What Scene takes: duration, step, fps, integrator ...
        """
        made = cls(**scene)
        lines = edges if faces is None else None
        made.add_body(
            Mesh(vertices, edges=lines, faces=faces, sets=sets),
            edges=edges, masses=masses, k=k, l0=l0, damping=damping, springs=springs,
        )
        if pins is not None:
            made.add_pin(pins)
        for force in forces:
            made.add_force(force)
        return made

    # ---- Parts ---------------------------------------------------------------------------------

    def add_body(
        self,
        geometry: Mesh | Method | Path | dict[str, Any] | Any,
        *,
        name: str | None = None,
        springs: Mapping[str, Any] | None = None,
        mass: float | Mapping[str, Any] | None = None,
        masses: npt.ArrayLike | None = None,
        edges: npt.ArrayLike | None = None,
        k: npt.ArrayLike | None = None,
        l0: npt.ArrayLike | None = None,
        damping: npt.ArrayLike | None = None,
        **more: Any,
    ) -> int:
        """Appends a body and returns its number.

        Parameters
        ----------
        geometry
            A Mesh, a shape such as hooke.shapes.grid(nx=41), the path of a mesh file, or a mesh of
            meshio, trimesh or pyvista.
        springs : dict
            As in scene files: {"EA": 20, "shear": True, "bending": True}.
        mass : number [kg] or dict
            The total, or as in scene files: {"area_density": 0.2}.
        masses : number or (N,) [kg]
            Of each vertex.
        edges : (E, 2) whole numbers
            The springs, instead of the edges of the cells. Edges between the same two vertices
            are springs in parallel: k and damping add up.
        k [N/m], l0 [m], damping [N s/m] : number, or (E,) for each of the edges
        more
            transform, velocity [m/s], spin [rad/s], stretch, repair, contact, as in scene files:
            contact={"thickness": 2e-3, "self": False, "friction": 0.5}, or contact=False for a
            body that touches nothing.
        """
        body: dict[str, Any] = {key: plain(value, key) for key, value in more.items()}
        count: int | None = None
        if name is not None:
            body["name"] = name
        if not isinstance(geometry, (Mesh, Method, dict, str, os.PathLike)):
            geometry = _converted(geometry)
        if isinstance(geometry, Mesh):
            body["mesh"] = geometry
            count = len(geometry)
        elif isinstance(geometry, Method):
            body["shape"] = as_method(geometry, "shape", "geometry")._as_json()
        elif isinstance(geometry, dict):
            body["shape" if "type" in geometry else "mesh"] = plain(geometry)
        else:
            body["mesh"] = os.fspath(geometry)
        body["springs"] = _springs(geometry, springs, edges, k, l0, damping)
        if mass is not None:
            body["mass"] = dict(mass) if isinstance(mass, Mapping) else {"total": plain(mass)}
        if masses is not None:
            if mass is not None:
                raise TypeError("give mass, the total, or masses, those of the vertices, not both")
            body["mass"] = _masses(masses, count)
        self.data["bodies"].append(body)
        return len(self.data["bodies"]) - 1

    def add_pin(
        self,
        select: Any,
        *,
        body: str | None = None,
        motion: Method | str | dict[str, Any] | None = None,
        release: float | None = None,
    ) -> int:
        """Holds vertices, and returns the number of the pin.

        select: the name of a set, vertex numbers, a mask, or a dict as in scene files; numbers count
        over all bodies, or within the one that is named. motion: how they move, hooke.motions;
        release [s]: from then on they are free.
        """
        pin: dict[str, Any] = {"select": self._selection(select, body)}
        if motion is not None:
            pin["motion"] = as_method(motion, "motion", "motion")._as_json()
        if release is not None and release != float("inf"):
            pin["release"] = plain(release, "release")
        pins = self.data.setdefault("pins", [])
        pins = pins["list"] if isinstance(pins, dict) else pins
        pins.append(pin)
        return len(pins) - 1

    def add_obstacle(
        self,
        obstacle: Method | str | dict[str, Any],
        *,
        name: str | None = None,
        motion: Method | str | dict[str, Any] | None = None,
        friction: float | None = None,
        friction_kinetic: float | None = None,
        two_sided: bool = False,
        contact: bool = True,
    ) -> int:
        """Appends an obstacle, such as hooke.obstacles.ball(radius=0.2), and returns its number.

        name: unlike those of all other obstacles and bodies; motion: how it moves, hooke.motions;
        friction: coefficient, that of the contact force if not given; friction_kinetic: that of a
        contact that slides, friction if not given; two_sided: a plane or grid pushes a vertex to the
        side where it stands; contact=False: bodies pass through it.
        """
        made: dict[str, Any] = dict(as_method(obstacle, "obstacle", "obstacle")._as_json())
        if name is not None:
            made["name"] = name
        if motion is not None:
            made["motion"] = as_method(motion, "motion", "motion")._as_json()
        if friction is not None:
            made["friction"] = plain(friction, "friction")
        if friction_kinetic is not None:
            made["friction_kinetic"] = plain(friction_kinetic, "friction_kinetic")
        if not contact:
            made["contact"] = False
        if two_sided:
            made["two_sided"] = True
        obstacles: list[Any] = self.data.setdefault("obstacles", [])
        obstacles.append(made)
        return len(obstacles) - 1

    def add_pair(
        self,
        first: str,
        second: str,
        *,
        friction: float | None = None,
        friction_kinetic: float | None = None,
        contact: bool = True,
    ) -> int:
        """Says what holds between two bodies or obstacles of these names, and returns the number of the
        pair; "ground" is the ground of the contact force.

        friction, friction_kinetic: static and kinetic coefficient, sqrt(a b) of those of the two if
        not given; contact=False: they pass through each other.
        """
        pair: dict[str, Any] = {"between": [first, second]}
        if friction is not None:
            pair["friction"] = plain(friction, "friction")
        if friction_kinetic is not None:
            pair["friction_kinetic"] = plain(friction_kinetic, "friction_kinetic")
        if not contact:
            pair["contact"] = False
        pairs: list[Any] = self.data.setdefault("pairs", [])
        pairs.append(pair)
        return len(pairs) - 1

    def add_force(self, force: Method | str | dict[str, Any], **params: Any) -> int:
        """Appends a force, such as "gravity" or hooke.forces.wind(...), and returns its number."""
        made = as_method(force, "force", "force")
        made = made.replace(**params) if params else made
        if made._has_mask:
            check_masks(made, self._vertex_count())
        forces: list[Any] = self.data.setdefault("forces", [])
        forces.append(made._as_json())
        return len(forces) - 1

    def add_output(self, output: Method | str | dict[str, Any], **params: Any) -> None:
        """Appends an output of runs into a folder, such as "vtp" or hooke.outputs.obj(every=2)."""
        made = as_method(output, "output", "output")
        self.data.setdefault("outputs", []).append(
            (made.replace(**params) if params else made)._as_json()
        )

    def add_probe(self, name: str, select: Any, *, body: str | None = None) -> None:
        """Appends a probe: vertices whose motion is written to probes.csv."""
        probe = {"name": name, "select": self._selection(select, body)}
        self.data.setdefault("probes", []).append(probe)

    def _selection(self, select: Any, body: str | None) -> Any:
        chosen = selection(select, body)
        if isinstance(chosen, MaskSelection):
            chosen.check(self._vertex_count(body), "select")
        return chosen

    def _vertex_count(self, body: str | None = None) -> int:
        """The number of vertices of all bodies, or of the one of that name, to which numbers of
        vertices refer: those of the model, or those of the body's mesh as it was before repair."""
        bodies = _dicts(self.data.get("bodies"))
        named = [b for b in bodies if body is not None and b.get("name") == body]
        if named or not (body or any(b.get("repair") for b in bodies)):
            return sum(len(self._mesh_of(b)) for b in named or bodies)
        whole = self.copy()
        whole.data.update(pins=[], obstacles=[], pairs=[], forces=[], probes=[])
        model = whole.compile()
        if body is None:
            return len(model)
        counts = {entry.name: entry.count for entry in model.bodies}
        if body not in counts:
            raise InvalidError(f"there is no body '{body}'; there are {', '.join(counts)}")
        return counts[body]

    def _mesh_of(self, body: dict[str, Any]) -> Mesh:
        if isinstance(body.get("mesh"), Mesh):
            mesh: Mesh = body["mesh"]
            return mesh
        if "shape" in body:
            return Mesh.shape(body["shape"])
        return Mesh.load(os.path.join(self.folder or "", body["mesh"]))

    # ---- Values by their path ------------------------------------------------------------------

    def __getitem__(self, path: str) -> Any:
        at: Any = self.data
        for part in _parts(path):
            at = _enter(at, part, path)
        return at

    def __setitem__(self, path: str, value: Any) -> None:
        *way, last = _parts(path)
        at: Any = self.data
        for part in way:
            if isinstance(at, dict) and isinstance(part, str):
                if isinstance(at.get(part), str) and part != "mesh":
                    at[part] = {"type": at[part]}  # a method by its name takes parameters
                at.setdefault(part, {})
            at = _enter(at, part, path)
        at = at["list"] if isinstance(at, dict) and isinstance(last, int) and "list" in at else at
        if isinstance(at, list):
            _enter(at, last, path)
        elif not isinstance(at, dict):
            raise KeyError(f"{path}: there is nothing of that name to go into")
        at[last] = value if isinstance(value, (Mesh, np.ndarray)) else plain(value, path)

    # ---- Onwards -------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """One sentence about the scene."""
        return str(self.data.get("title", ""))

    def copy(self) -> Scene:
        """Another scene with the same content; meshes are shared."""
        other = Scene(libraries=self.libraries)
        other.folder, other._source = self.folder, self._source
        other.data = copy.deepcopy(self.data, {id(mesh): mesh for mesh in self._meshes()})
        return other

    def _meshes(self) -> list[Mesh]:
        """The meshes that are bodies; data that makes no sense is found when a model is made."""
        bodies = self.data.get("bodies")
        given = [body.get("mesh") for body in _dicts(bodies)]
        return [mesh for mesh in given if isinstance(mesh, Mesh)]

    def compile(
        self, *, threads: int = 0, device: str = "cpu", ranks: Ranks | None = None
    ) -> Model:
        """The model of the scene; all that is wrong shows now."""
        from .model import Model

        return Model(self, threads=threads, device=device, ranks=ranks)

    def text(self) -> str:
        """The scene as JSON with every value in it; arrays and meshes too."""
        return _core.scene_format(self._create(0))

    def save(self, path: Path) -> None:
        """Writes a scene file, which `hooke run` and Scene.load read. Meshes and arrays go into it;
        names of other files are kept, relative to where the scene is written."""
        name = os.fspath(path)
        moved = self.copy()
        moved.folder = os.path.dirname(name)
        parts = [(force, "file") for force in _dicts(moved.data.get("forces"))]
        for body in moved.data["bodies"]:
            parts += [(body, "mesh"), (body.get("springs", {}), "file")]
        for part, key in parts:
            if isinstance(part.get(key), str) and not os.path.isabs(part[key]):
                whole = os.path.join(self.folder or "", part[key])
                part[key] = os.path.relpath(whole, moved.folder or ".")
        text = moved.text()
        with file_errors(name):
            with open(name + ".tmp", "w", encoding="utf-8") as file:
                file.write(text + "\n")
            os.replace(name + ".tmp", name)

    def _create(self, threads: int, device: str = "cpu", ranks: Ranks | None = None) -> _core.Handle:
        """The scene of the library. Its text is that of the file as long as nothing was changed, so
        that messages name line and column."""
        if device not in DEVICES:
            raise UnsupportedError(f"device: {device!r} is none of {', '.join(DEVICES)}")
        number = DEVICES.index(device)
        handle = None if ranks is None else ranks._use()
        data, arrays = _split(self.data)
        text = json.dumps(data, allow_nan=False)
        if self._source and not arrays and text == self._source[2]:
            return _core.scene_create(
                self._source[0], self._source[1], self.folder, (), threads, number, self.libraries, (),
                handle,
            )
        entries = tuple(
            (body, mesh, address(table) if len(table) else 0, len(table),
             address(added) if len(added) else 0, len(added))
            for body, mesh, table, added in arrays
        )
        return _core.scene_create(
            text, None, self.folder, (), threads, number, self.libraries, entries, handle
        )

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __repr__(self) -> str:
        bodies = self.data.get("bodies", [])
        title = f" '{self.title}'" if self.title else ""
        return f"<hooke.Scene{title}: {len(bodies)} {'body' if len(bodies) == 1 else 'bodies'}>"


def as_scene(value: Scene | Path) -> Scene:
    """What a user gave for a scene: itself, the name of a built-in one, or the path of a file."""
    if isinstance(value, Scene):
        return value
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(
            f"expected a hooke.Scene, the name of a built-in scene or the path of a file, got {value!r}"
        )
    is_name = isinstance(value, str) and os.path.basename(value) == value and "." not in value
    return Scene.builtin(str(value)) if is_name else Scene.load(value)


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        error = FormatError(f"{name}:{line}: the text is not UTF-8")
        error.status, error.file, error.line = "HK_ERROR_FORMAT", name, line
        raise error from None


def scenes() -> dict[str, str]:
    """The built-in scenes: name and title."""
    return {name: title for name, title, _ in _core.builtin_scenes()}


# ---- Bodies from arrays ------------------------------------------------------------------------


def _converted(geometry: Any) -> Mesh:
    try:
        return Mesh.convert(geometry)
    except TypeError:
        raise TypeError(
            "geometry: expected a Mesh, a shape, the path of a mesh file, or a mesh of meshio, trimesh "
            f"or pyvista, got {geometry!r}"
        ) from None


def _springs(
    geometry: Any,
    springs: Mapping[str, Any] | None,
    edges: npt.ArrayLike | None,
    k: npt.ArrayLike | None,
    l0: npt.ArrayLike | None,
    damping: npt.ArrayLike | None,
) -> dict[str, Any]:
    part = dict(springs or {})
    given = {"k": k, "rest_length": l0, "damping": damping}
    rows = {key: value for key, value in given.items() if value is not None and np.ndim(value) > 0}
    for key, value in given.items():
        if value is not None and key not in rows:
            part[key] = plain(value, key)
    if edges is None and not rows:
        return part
    mesh = geometry if isinstance(geometry, Mesh) else None
    if mesh is None:
        raise TypeError("edges, and k, l0 or damping of each spring, need a Mesh")
    lines = mesh.cells.get("lines")
    chosen: Any = lines if edges is None else edges
    if chosen is None:
        raise InvalidError("k, l0 and damping of each spring need the edges that they belong to")
    pairs = indices(chosen, "edges", (None, 2), len(mesh))
    table = np.full((len(pairs), 5), -1.0)
    table[:, :2] = pairs
    for column, (key, name) in enumerate((("k", "k"), ("rest_length", "l0"), ("damping", "damping"))):
        if key in rows:
            values = per_item(rows[key], name, len(pairs))
            if (values < 0).any():
                raise InvalidError(f"{name}: holds numbers below 0")
            table[:, 2 + column] = values
    if lines is None:
        part.setdefault("edges", False)  # the springs are those of the table alone
    part["table"] = table
    return part


def _masses(masses: npt.ArrayLike, count: int | None) -> dict[str, Any]:
    if np.ndim(masses) == 0:
        return {"per_vertex": plain(masses, "masses")}
    values = floats(masses, "masses", (count,))
    if (values <= 0).any():
        raise InvalidError("masses: each must be above 0 kg")
    return {"per_vertex": 0.0, "added": np.column_stack([np.arange(len(values)), values])}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _split(data: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[int, Any, Any, Any]]]:
    """What JSON can say, and (body, mesh, springs table, masses) for what stays arrays."""
    none = np.empty((0, 0))
    arrays: list[tuple[int, Any, Any, Any]] = []
    bodies: list[Any] = []
    given = data.get("bodies", [])
    for number, body in enumerate(given if isinstance(given, list) else []):
        if not isinstance(body, dict):
            raise TypeError(f"bodies[{number}]: expected a dict, got {body!r}")
        body = dict(body)
        mesh, table, added = None, none, none
        if isinstance(body.get("mesh"), Mesh):
            mesh = body["mesh"]._handle
            body["mesh"] = "mesh"
        for key, inner, columns in (("springs", "table", 5), ("mass", "added", 2)):
            part = body.get(key)
            if isinstance(part, dict) and isinstance(part.get(inner), np.ndarray):
                array = floats(part[inner], f"bodies[{number}].{key}.{inner}", (None, columns))
                body[key] = {name: value for name, value in part.items() if name != inner}
                table, added = (array, added) if columns == 5 else (table, array)
        if mesh is not None or len(table) or len(added):
            arrays.append((number, mesh, table, added))
        bodies.append(body)
    rest = dict(data)
    if isinstance(given, list):
        rest["bodies"] = bodies
    whole: dict[str, Any] = plain(rest, "scene")
    return whole, arrays


# ---- Paths ---------------------------------------------------------------------------------------

_PART = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


def _parts(path: str) -> list[str | int]:
    parts: list[str | int] = []
    at = 0
    while at < len(path):
        match = _PART.match(path, at)
        if not match:
            break
        parts.append(match[1] if match[1] is not None else int(match[2]))
        at = match.end()
    if not parts or at < len(path):
        raise KeyError(f"{path}: the path makes no sense, expected such as bodies[0].springs.k")
    return parts


def _enter(at: Any, part: str | int, path: str) -> Any:
    if isinstance(at, dict) and isinstance(part, int) and isinstance(at.get("list"), list):
        at = at["list"]  # pins with a method
    try:
        return at[part]
    except (KeyError, IndexError, TypeError):
        raise KeyError(f"{path}: there is no '{part}' in the scene") from None
