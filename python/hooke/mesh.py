"""Mesh: vertices and cells."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Floats, Ints, address, floats, indices, to_json, view
from ._foreign import arrays_of
from .errors import InvalidError
from .methods import Method, as_method

__all__ = ["Mesh"]

#: Cell types in the order of the library, and their corners (0: any number).
CELLS: dict[str, int] = {
    "points": 1,
    "lines": 2,
    "triangles": 3,
    "quads": 4,
    "polygons": 0,
    "tets": 4,
    "pyramids": 5,
    "wedges": 6,
    "hexes": 8,
}


class Mesh:
    """Vertices (m) and cells: from arrays, a file or a shape.

    Parameters
    ----------
    vertices : (N, 3) or (N, 2) numbers [m]
        z is 0 where it is not given.
    edges : (E, 2) whole numbers
        The same as `lines`.
    faces : (F, 3) or (F, 4) whole numbers, or a list of both and of longer ones
        The same as `triangles`, `quads` and `polygons`.
    points, lines, triangles, quads, polygons, tets, pyramids, wedges, hexes
        Cells by their type, corners in the order of Gmsh, vertices counted from 0.
    sets : {name: whole numbers}
        Named sets of vertices, for pins and other selections.
    """

    __slots__ = ("_handle", "vertices")

    #: (N, 3) positions [m]: a writable view, without a copy.
    vertices: Floats

    def __init__(
        self,
        vertices: npt.ArrayLike,
        *,
        edges: npt.ArrayLike | None = None,
        faces: Any = None,
        sets: Mapping[str, npt.ArrayLike] | None = None,
        **cells: Any,
    ) -> None:
        x = np.asarray(vertices)
        if x.ndim == 2 and x.shape[1] == 2:
            x = np.column_stack([x, np.zeros(len(x))])
        x = floats(x, "vertices", (None, 3))
        unknown = [name for name in cells if name not in CELLS]
        if unknown:
            raise TypeError(f"there are no cells '{unknown[0]}'; there are {', '.join(CELLS)}")
        if edges is not None:
            if "lines" in cells:
                raise TypeError("give edges or lines, not both: they are the same")
            cells["lines"] = edges
        given = {name: name for name in cells}  # cell type: its argument, for messages
        if edges is not None:
            given["lines"] = "edges"
        for name, more in _sorted_faces(faces, len(x)).items():
            if name in cells:
                raise TypeError(f"give faces or {name}, not both")
            cells[name], given[name] = more, "faces"
        self._handle = _core.mesh_create(address(x), len(x))
        for number, (name, corners) in enumerate(CELLS.items()):
            if cells.get(name) is None:
                continue
            for one in cells[name] if corners == 0 else [cells[name]]:
                self._add(number, given[name], corners, one, len(x))
        for name, chosen in (sets or {}).items():
            numbers = indices(chosen, f"sets[{name!r}]", (None,), len(x))
            _core.mesh_add_set(self._handle, name, address(numbers), len(numbers))
        self._attach()

    def _add(self, number: int, name: str, corners: int, cells: npt.ArrayLike, count: int) -> None:
        if corners == 0:
            polygon = indices(cells, name, (None,), count)
            _core.mesh_add_cells(self._handle, number, address(polygon), 1, len(polygon))
            return
        array = np.asarray(cells)
        if corners == 1 and array.ndim == 1:
            array = array[:, None]
        array = indices(array, name, (None, corners), count)
        _core.mesh_add_cells(self._handle, number, address(array), len(array), corners)

    def _attach(self) -> None:
        at, count = _core.mesh_vertices(self._handle)
        self.vertices = view(self._handle, at, (count, 3), writable=True)

    @classmethod
    def _of(cls, handle: _core.Handle) -> Mesh:
        mesh = cls.__new__(cls)
        mesh._handle = handle
        mesh._attach()
        return mesh

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mesh:
        """Reads a mesh file: .obj .ply .stl .off .mesh .msh .node .tet."""
        return cls._of(_core.mesh_read(path))

    @classmethod
    def shape(cls, shape: Method | str | dict[str, Any]) -> Mesh:
        """Makes the mesh of a shape, such as hooke.shapes.grid(nx=3)."""
        return cls._of(_core.mesh_shape(to_json(as_method(shape, "shape", "shape"))))

    @classmethod
    def convert(cls, mesh: Any) -> Mesh:
        """Copies a mesh of meshio, trimesh or pyvista, and its point sets where it has some."""
        if isinstance(mesh, Mesh):
            return mesh
        arrays = arrays_of(mesh)
        if arrays is None:
            raise TypeError(f"expected a mesh of meshio, trimesh or pyvista, got {mesh!r}")
        return cls(**arrays)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a mesh file; the format is known by the ending."""
        _core.mesh_write(self._handle, path)

    @property
    def cells(self) -> dict[str, Any]:
        """The cells by type, (count, corners) arrays; polygons are a list of arrays. Copies."""
        found: dict[str, Any] = {}
        for number, (name, corners) in enumerate(CELLS.items()):
            count, total = _core.mesh_counts(self._handle)[number]
            if count == 0:
                continue
            flat, sizes = np.empty(total, np.int32), np.empty(count, np.int32)
            _core.mesh_copy_cells(self._handle, number, address(flat), address(sizes))
            if corners:
                found[name] = flat.reshape(count, corners)
            else:
                found[name] = np.split(flat, np.cumsum(sizes)[:-1])
        return found

    @property
    def sets(self) -> dict[str, Ints]:
        """Named sets of vertices. Copies."""
        return {
            name: view(self._handle, at, (count,), "i4").copy()
            for name, (at, count) in _core.mesh_sets(self._handle).items()
        }

    def __len__(self) -> int:
        return len(self.vertices)

    def __repr__(self) -> str:
        cells = ", ".join(f"{len(c)} {name}" for name, c in self.cells.items())
        return f"<hooke.Mesh: {len(self)} vertices, {cells or 'no cells'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.vertices.copy(), self.cells, self.sets)


def _restore(vertices: Floats, cells: dict[str, Any], sets: dict[str, Ints]) -> Mesh:
    return Mesh(vertices, sets=sets, **cells)


def _sorted_faces(faces: Any, count: int) -> dict[str, Any]:
    """Triangles, quads and polygons of a list of faces, or of an array of them."""
    if faces is None:
        return {}
    if isinstance(faces, np.ndarray):
        if faces.ndim != 2 or faces.shape[1] < 3:
            raise InvalidError(f"faces: expected the shape (N, 3) or (N, 4), got {faces.shape}")
        rows: Sequence[Any] = [faces] if faces.shape[1] < 5 else list(faces)
        names = {3: "triangles", 4: "quads"}
        name = names.get(faces.shape[1], "polygons")
        return {name: rows[0] if name != "polygons" else rows}
    found: dict[str, Any] = {}
    for face in faces:
        if len(face) < 3:
            raise InvalidError(f"faces: {face!r} has fewer than 3 corners")
        name = {3: "triangles", 4: "quads"}.get(len(face), "polygons")
        found.setdefault(name, []).append(indices(face, "faces", (None,), count))
    return found
