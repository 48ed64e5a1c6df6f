"""Meshes of other packages, known by their attributes: meshio, trimesh, pyvista.

None of these packages is imported. Names and orders of cells are those of VTK, whose linear cells have
their corners in the same order as here, but for pixels and voxels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InvalidError

__all__ = ["arrays_of"]

#: Cells by their names in meshio.
NAMES = {
    "vertex": "points",
    "line": "lines",
    "triangle": "triangles",
    "quad": "quads",
    "polygon": "polygons",
    "tetra": "tets",
    "pyramid": "pyramids",
    "wedge": "wedges",
    "hexahedron": "hexes",
}

#: Cells by their numbers in VTK, and the order in which their corners are taken.
NUMBERS: dict[int, tuple[str, list[int] | None]] = {
    1: ("points", None),
    3: ("lines", None),
    5: ("triangles", None),
    7: ("polygons", None),
    8: ("quads", [0, 1, 3, 2]),  # pixel
    9: ("quads", None),
    10: ("tets", None),
    11: ("hexes", [0, 1, 3, 2, 4, 5, 7, 6]),  # voxel
    12: ("hexes", None),
    13: ("wedges", None),
    14: ("pyramids", None),
}
POLY_LINE = 4


def arrays_of(value: Any) -> dict[str, Any] | None:
    """The arguments of hooke.Mesh for a mesh of another package; None for anything else."""
    points, cells = getattr(value, "points", None), getattr(value, "cells", None)
    if points is not None and isinstance(cells, (list, tuple)):
        return _of_meshio(value)
    if points is not None and hasattr(value, "celltypes"):
        return _of_grid(value)
    if points is not None and hasattr(value, "faces") and hasattr(value, "lines"):
        return _of_surface(value)
    if points is not None and hasattr(value, "cast_to_unstructured_grid"):
        return _of_grid(value.cast_to_unstructured_grid())
    if hasattr(value, "vertices") and hasattr(value, "faces"):  # trimesh
        return {"vertices": np.asarray(value.vertices), "faces": np.asarray(value.faces)}
    return None


def _of_meshio(mesh: Any) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for block in mesh.cells:
        kind = "polygon" if block.type.startswith("polygon") else block.type
        if kind not in NAMES:
            raise _unknown(repr(block.type))
        found.setdefault(NAMES[kind], []).extend(block.data)
    sets = {name: np.asarray(chosen, dtype=np.int64)
            for name, chosen in (getattr(mesh, "point_sets", None) or {}).items()}
    return {"vertices": np.asarray(mesh.points), "sets": sets, **_stacked(found)}


def _of_grid(grid: Any) -> dict[str, Any]:
    """An unstructured grid: (count, corners ...) of all cells in one array."""
    found: dict[str, list[Any]] = {}
    for number, cell in zip(np.asarray(grid.celltypes).tolist(), _split(grid.cells)):
        if number == POLY_LINE:
            found.setdefault("lines", []).extend(np.stack([cell[:-1], cell[1:]], axis=1))
            continue
        if number not in NUMBERS:
            raise _unknown(f"VTK number {number}")
        name, order = NUMBERS[number]
        found.setdefault(name, []).append(cell if order is None else cell[order])
    return {"vertices": np.asarray(grid.points), **_stacked(found)}


def _of_surface(surface: Any) -> dict[str, Any]:
    """Polygons, lines and vertices, (count, corners ...) of all in an array each."""
    if len(np.asarray(getattr(surface, "strips", ()))):
        raise _unknown("'triangle strip'; triangulate() makes triangles of them")
    found: dict[str, list[Any]] = {}
    names = {3: "triangles", 4: "quads"}
    for face in _split(surface.faces):
        found.setdefault(names.get(len(face), "polygons"), []).append(face)
    for line in _split(surface.lines):
        found.setdefault("lines", []).extend(np.stack([line[:-1], line[1:]], axis=1))
    return {"vertices": np.asarray(surface.points), **_stacked(found)}


def _split(flat: npt.ArrayLike) -> list[npt.NDArray[Any]]:
    array = np.asarray(flat)
    cells, at = [], 0
    while at < len(array):
        count = int(array[at])
        cells.append(array[at + 1 : at + 1 + count])
        at += 1 + count
    return cells


def _stacked(found: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: cells if name == "polygons" else np.array(cells) for name, cells in found.items()}


def _unknown(kind: str) -> InvalidError:
    known = ", ".join(NAMES)
    return InvalidError(f"the mesh has cells of the type {kind}; Hooke has {known}")
