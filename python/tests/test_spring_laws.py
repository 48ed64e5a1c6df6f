"""Forces that act on single springs: plasticity, tearing, muscle, strain_limit."""

import hooke
import numpy as np
import pytest


def chain(forces, **more):
    vertices = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], float)
    edges = np.array([[0, 1], [1, 2]])
    scene = hooke.Scene.from_arrays(vertices, edges, masses=1.0, k=100.0, pins=[0], forces=forces)
    return hooke.Sim(scene, **more)


def test_springs_yield_and_break_and_the_state_says_so():
    sim = chain(
        [hooke.forces.gravity(), hooke.forces.plasticity(yield_strain=0.05), hooke.forces.tearing(strain=0.2)],
        integrator="verlet",
        h=1e-3,
    )
    for _ in range(1000):
        sim.step()
    springs = sim.state.springs
    assert springs.l0[0] > 1.1
    assert sim.state_info().dissipated > 0
    copy = sim.state.copy()
    assert np.array_equal(copy.springs.l0, springs.l0) and np.array_equal(copy.springs.broken, springs.broken)


def test_limits_hold_and_are_refused_by_name():
    sim = chain([hooke.forces.gravity(), hooke.forces.strain_limit(max=1.01)], integrator="backward_euler", h=1 / 60)
    for _ in range(60):
        sim.step()
        assert sim.state_info().strain_max < 0.01
    with pytest.raises(hooke.InvalidError, match="give more"):
        chain([hooke.forces.strain_limit(max=1.0)])


def test_a_muscle_pulls():
    sim = chain([hooke.forces.muscle(amplitude=-0.5, frequency=0, phase=90)], integrator="backward_euler", h=0.1)
    for _ in range(100):
        sim.step()
    assert np.allclose(sim.state.x[1:, 0], [0.5, 1.0], atol=1e-3)

