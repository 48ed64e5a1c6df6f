"""K, M and the gradient of the energy against an assembly with numpy alone."""

import sys

import hooke
import numpy as np
import pytest

VERTICES = np.array([[0, 0, 0], [1, 0.1, 0], [1.2, 1, 0.3], [0, 0.9, -0.2]])
EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
K = np.array([10.0, 20, 30, 40, 50])
L0 = np.array([0.7, 1.4, 1, 0.5, 2.0])  # some stretched, some compressed
HANDLE, TARGET, G = 7.0, np.array([2, 2, 2]), 9.81


def make_sim():
    scene = hooke.Scene.from_arrays(
        VERTICES, EDGES, masses=[1, 2, 3, 4], k=K, l0=L0, damping=0.5, pins=[0],
        forces=["gravity", hooke.forces.handle(select=[1], target=TARGET, k=HANDLE)],
    )
    sim = hooke.Sim(scene, h=1e-3)
    sim.v[:] = 0.3  # counts neither in K nor in the gradient
    return sim


def dense(matrix, size):
    if isinstance(matrix, hooke.Triplets):
        full = np.zeros((size, size))
        full[matrix.rows, matrix.columns] = matrix.values
        return full
    return matrix.toarray()


def expected(x, masses):
    """K and dE/dx from the formulas, spring by spring."""
    stiffness, gradient = np.zeros((12, 12)), np.zeros((4, 3))
    for (i, j), k, l0 in zip(EDGES, K, L0):
        d = x[i] - x[j]
        length = np.linalg.norm(d)
        u = d / length
        block = k * (np.outer(u, u) + (1 - l0 / length) * (np.eye(3) - np.outer(u, u)))
        for a, b, sign in ((i, i, -1), (j, j, -1), (i, j, 1), (j, i, 1)):
            stiffness[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
        gradient[i] += k * (length - l0) * u
        gradient[j] -= k * (length - l0) * u
    stiffness[3:6, 3:6] -= HANDLE * np.eye(3)
    gradient[1] += HANDLE * (x[1] - TARGET)
    gradient[:, 1] += masses * G
    return stiffness, gradient


def test_stiffness_mass_and_gradient_are_those_of_the_formulas():
    sim = make_sim()
    assert (np.linalg.norm(VERTICES[EDGES[:, 0]] - VERTICES[EDGES[:, 1]], axis=1) < L0).any()
    stiffness, gradient = expected(sim.x, sim.model.masses)
    assert np.linalg.eigvalsh(stiffness).max() > 1  # a compressed spring is not projected
    assert dense(sim.stiffness(), 12) == pytest.approx(stiffness, abs=1e-12)
    assert sim.energy_gradient() == pytest.approx(gradient, abs=1e-12)
    assert dense(sim.mass_matrix(), 12) == pytest.approx(np.diag(np.repeat([1.0, 2, 3, 4], 3)))
    sim.x[2] += 0.1
    assert dense(sim.stiffness(), 12) == pytest.approx(expected(sim.x, sim.model.masses)[0])


def test_without_scipy_the_matrices_are_triplets(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    sim = make_sim()
    triplets = sim.stiffness()
    assert isinstance(triplets, hooke.Triplets) and triplets.values.dtype == np.float64
    assert dense(triplets, 12) == pytest.approx(expected(sim.x, sim.model.masses)[0])
    assert isinstance(sim.mass_matrix(), hooke.Triplets)


def test_a_linearly_implicit_step_by_hand_is_that_of_the_library():
    sparse = pytest.importorskip("scipy.sparse.linalg")
    scene = hooke.Scene.builtin("oscillator", {"integrator": "linear_implicit_euler"})
    h = 0.01
    sim = hooke.Sim(scene, h=h)
    sim.x[:] += 0.01 * np.arange(sim.x.size).reshape(sim.x.shape) * [1, 0, 0]
    free = np.repeat(~np.isin(np.arange(len(sim.x)), sim.model.pins), 3)
    stiffness, mass = sim.stiffness()[free][:, free], sim.mass_matrix()[free][:, free]
    v, f = sim.v.ravel()[free], -sim.energy_gradient().ravel()[free]
    v = sparse.spsolve((mass - h * h * stiffness).tocsc(), mass @ v + h * f)
    sim.step()
    assert sim.v.ravel()[free] == pytest.approx(v, abs=1e-12)
