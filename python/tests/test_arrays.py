"""Arrays alias the memory of the library, and live as long as somebody looks at them."""

import gc

import hooke
import numpy as np
import pytest
from conftest import make_cloth


def test_positions_are_those_of_the_library(cloth):
    sim = hooke.Sim(cloth)
    x, v = sim.state.x, sim.state.v
    before = x.copy()
    sim.step(5)
    assert x is sim.x and not np.array_equal(x, before)  # the same array has moved
    assert x.shape == v.shape == (81, 3) and x.dtype == np.float64
    assert x.flags.c_contiguous and x.flags.writeable and not x.flags.owndata


def test_what_is_written_is_what_the_library_reads(pendulum):
    sim = hooke.Sim(pendulum)
    sim.x[1] = 3, 0, 0
    assert sim.state_info().spring == pytest.approx(0.5 * 100 * (3 - 1) ** 2)
    sim.v[1] = 0, 0, 2
    assert sim.state_info().kinetic == pytest.approx(2)
    sim.state.x = np.zeros((2, 3))  # into the same memory
    sim.state.x += 1
    assert sim.x[0, 0] == 1


def test_two_views_share_their_memory(cloth):
    state = hooke.State(hooke.Model(cloth))
    column = state.x[:, 1]
    column[:] = 7
    assert (state.x[:, 1] == 7).all() and np.shares_memory(column, state.x)


def test_springs_are_views_that_cannot_be_written(cloth):
    model = hooke.Model(cloth)
    springs = model.springs
    assert springs.indices.shape == (len(springs.k), 2) and springs.indices.dtype == np.int32
    assert (springs.indices[:, 0] < springs.indices[:, 1]).all()
    place = hooke.State(model).x
    ends = place[springs.indices]
    assert np.allclose(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1), springs.l0)
    for array in (springs.indices, springs.k, springs.l0, model.masses, model.pins, model.faces):
        assert not array.flags.owndata and not array.flags.writeable
        with pytest.raises(ValueError):
            array[0] = 0
    model.scale_stiffness(3)
    assert (springs.k == 150).all()  # the view sees it


def test_masses_pins_and_faces_are_those_of_the_scene(cloth):
    model = hooke.Model(cloth)
    assert model.masses.sum() == pytest.approx(0.3)
    assert list(model.pins) == [72, 80]
    assert model.faces.shape == (128, 3) and model.faces.max() == 80
    assert model.info["springs"] == len(model.springs.k)


def test_views_outlive_everything_else():
    def views():
        sim = hooke.Sim(make_cloth(40))
        sim.step(3)
        return sim.x, sim.v, sim.model.springs.k, sim.model.springs.indices, sim.model.masses

    kept = views()
    copies = [array.copy() for array in kept]
    gc.collect()
    junk = [hooke.Sim(make_cloth(40)) for _ in range(5)]  # would take the memory that was freed
    for sim in junk:
        sim.x[:] = 123.0
    for array, copy in zip(kept, copies):
        assert np.array_equal(array, copy)
    kept[0][:] = 5
    assert (kept[0] == 5).all()


def test_a_mesh_is_an_array_too():
    mesh = hooke.Mesh([[0, 0], [1, 0], [0, 1]], faces=[[0, 1, 2]], sets={"tip": [2]})
    assert mesh.vertices.shape == (3, 3) and mesh.vertices.flags.writeable
    mesh.vertices[2, 1] = 5
    scene = hooke.Scene()
    scene.add_body(mesh, k=1.0)
    assert hooke.State(hooke.Model(scene)).x[2, 1] == 5
    vertices = mesh.vertices
    del mesh, scene
    gc.collect()
    assert vertices[2, 1] == 5


def test_wrong_arrays_are_refused_with_a_sentence():
    cases = [
        (ValueError, "shape (N, 3)", lambda: hooke.Mesh([0, 1, 2])),
        (ValueError, "shape (N, 3)", lambda: hooke.Mesh(np.zeros((4, 5)))),
        (TypeError, "expected numbers", lambda: hooke.Mesh([["a", "b", "c"]])),
        (ValueError, "not finite", lambda: hooke.Mesh([[0, 0, np.nan]])),
        (ValueError, "no vertex 3", lambda: hooke.Mesh(np.eye(3), edges=[[0, 3]])),
        (ValueError, "no vertex -1", lambda: hooke.Mesh(np.eye(3), edges=[[0, -1]])),
        (TypeError, "whole numbers", lambda: hooke.Mesh(np.eye(3), edges=[[0, 1.5]])),
        (ValueError, "shape (N, 2)", lambda: hooke.Mesh(np.eye(3), edges=[[0, 1, 2]])),
        (TypeError, "no cells 'edge'", lambda: hooke.Mesh(np.eye(3), edge=[[0, 1]])),
        (ValueError, "corners", lambda: hooke.Mesh(np.eye(3), faces=[[0, 1]])),
    ]
    for kind, words, call in cases:
        with pytest.raises(kind) as caught:
            call()
        assert words in str(caught.value)


def test_wrong_values_in_a_state_are_refused_by_numpy(pendulum):
    sim = hooke.Sim(pendulum)
    with pytest.raises(ValueError):
        sim.state.x = np.zeros((5, 3))
    with pytest.raises(ValueError):
        sim.state.nearest([0, 0])
    assert sim.state.nearest([2, 0, 0])[0] == 1
    assert sim.state.nearest_to_ray([0, 0, 5], [0, 0, -1], 0.1) == (0, 5.0)
