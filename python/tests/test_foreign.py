"""Meshes of meshio, trimesh and pyvista as bodies. Stand-ins have the attributes of their meshes; the
packages themselves are used where they are installed."""

import types

import hooke
import numpy as np
import pytest

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
CUBE = np.array([[q & 1, q >> 1 & 1, q >> 2] for q in range(8)], float)
HEX = [0, 1, 3, 2, 4, 5, 7, 6]  # corners of the cube in the order of VTK and Gmsh
CUBE_EDGES = 12


def stand_in(**attributes):
    return types.SimpleNamespace(**attributes)


def block(kind, data):
    return stand_in(type=kind, data=np.array(data))


def meshio_square():
    cells = [block("triangle", [[0, 1, 2]]), block("line", [[0, 3]]), block("triangle", [[0, 2, 3]])]
    return stand_in(points=SQUARE[:, :2], cells=cells, point_sets={"left": [0, 3]})


def surface(faces=(), lines=(), strips=()):
    return stand_in(points=SQUARE, faces=np.array(faces, int), lines=np.array(lines, int),
                    strips=np.array(strips, int))


def grid(cells, types, points=CUBE):
    return stand_in(points=points, cells=np.array(cells), celltypes=np.array(types, np.uint8))


def count_springs(mesh, **more):
    scene = hooke.Scene()
    scene.add_body(mesh, k=5.0, **more)
    return len(hooke.Model(scene).springs.k)


def test_meshio_meshes_are_bodies():
    scene = hooke.Scene()
    scene.add_body(meshio_square(), k=[1.0], edges=[[0, 2]], springs={"edges": True})
    scene.add_pin("left")
    model = hooke.Model(scene)
    assert len(model.springs.k) == 5 and model.pins.tolist() == [0, 3] and len(model.faces) == 2
    cells = [block("wedge", [[0, 1, 2, 4, 5, 6]]), block("polygon", [[0, 1, 3, 2, 4]]),
             block("hexahedron", [HEX])]
    mesh = hooke.Mesh.convert(stand_in(points=CUBE, cells=cells))
    assert {name: len(found) for name, found in mesh.cells.items()} == {
        "polygons": 1, "wedges": 1, "hexes": 1}
    with pytest.raises(hooke.InvalidError, match="cells of the type 'triangle6'"):
        hooke.Mesh.convert(stand_in(points=np.zeros((6, 3)), cells=[block("triangle6", [range(6)])]))


def test_trimesh_meshes_are_bodies():
    mesh = stand_in(vertices=SQUARE, faces=np.array([[0, 1, 2], [0, 2, 3]]))
    assert count_springs(mesh) == 5
    assert count_springs(mesh, masses=[1.0, 2.0, 3.0, 4.0]) == 5


def test_surfaces_of_pyvista_are_bodies():
    mesh = hooke.Mesh.convert(surface([3, 0, 1, 2, 4, 0, 1, 2, 3], [3, 0, 2, 3, 2, 1, 3]))
    assert mesh.cells["triangles"].tolist() == [[0, 1, 2]]
    assert mesh.cells["quads"].tolist() == [[0, 1, 2, 3]]
    assert mesh.cells["lines"].tolist() == [[0, 2], [2, 3], [1, 3]]
    assert count_springs(surface([4, 0, 1, 2, 3])) == 4
    with pytest.raises(hooke.InvalidError, match="triangulate"):
        hooke.Mesh.convert(surface(strips=[4, 0, 1, 2, 3]))


def test_grids_of_pyvista_are_bodies():
    assert count_springs(grid([8, *HEX], [12])) == CUBE_EDGES
    assert count_springs(grid([8, *range(8)], [11])) == CUBE_EDGES  # a voxel
    assert count_springs(grid([4, 0, 1, 2, 3], [8])) == 4  # a pixel
    assert count_springs(grid([3, 0, 1, 2, 2, 5, 6], [4, 3])) == 3  # a line of lines, and a line
    structured = stand_in(points=CUBE, cast_to_unstructured_grid=lambda: grid([8, *HEX], [12]))
    assert count_springs(structured) == CUBE_EDGES
    with pytest.raises(hooke.InvalidError, match="VTK number 22"):
        hooke.Mesh.convert(grid([6, *range(6)], [22]))


def test_what_is_no_mesh_is_refused():
    for wrong in (7, None, np.eye(3), stand_in(points=SQUARE)):
        with pytest.raises(TypeError, match="meshio, trimesh or pyvista"):
            hooke.Mesh.convert(wrong)
        with pytest.raises(TypeError, match="geometry: expected a Mesh, a shape"):
            hooke.Scene().add_body(wrong)


def test_meshio_itself(tmp_path):
    meshio = pytest.importorskip("meshio")
    for shape in (hooke.shapes.grid(nx=4, ny=5), hooke.shapes.ball()):
        mesh = hooke.Mesh.shape(shape)
        mesh.save(tmp_path / "mesh.msh")
        again = hooke.Mesh.convert(meshio.read(tmp_path / "mesh.msh"))
        assert np.array_equal(again.vertices, mesh.vertices)
        assert list(again.cells) == list(mesh.cells)
        assert all(np.array_equal(again.cells[name], cells) for name, cells in mesh.cells.items())


def test_trimesh_itself():
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box()
    assert len(hooke.Mesh.convert(box).cells["triangles"]) == len(box.faces)
    assert count_springs(box) == len(box.edges_unique)


def test_pyvista_itself():
    pyvista = pytest.importorskip("pyvista")
    sphere = pyvista.Sphere()
    mesh = hooke.Mesh.convert(sphere)
    assert len(mesh) == sphere.n_points and len(mesh.cells["triangles"]) == sphere.n_cells
    assert count_springs(pyvista.ImageData(dimensions=(2, 2, 2))) == CUBE_EDGES
    assert count_springs(pyvista.Box().cast_to_unstructured_grid()) == CUBE_EDGES
