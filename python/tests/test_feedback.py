"""Controls that are computed from the state before each step, and their gradients."""

import numpy as np
import pytest

import hooke

STEPS, N, M = 12, 12, 29
rng = np.random.default_rng(0)
WEIGHTS = 0.01 * rng.standard_normal((M, 3 * N))
PUSH = 0.02 * rng.standard_normal((3 * N, 3 * N))


def make_sim():
    scene = hooke.Scene(integrator="backward_euler", step=0.01)
    scene.add_body(hooke.shapes.grid(nx=3, ny=4), springs={"k": 40, "shear": True}, mass=0.3)
    scene.add_pin("top_left")
    sim = hooke.Sim(scene)
    sim.v[...] = 0.1 * np.random.default_rng(1).standard_normal(sim.v.shape)
    return sim


class Network:
    """l0 by the positions, forces by the velocities, and what backward needs of them."""

    def __init__(self, sim, weights, push):
        self.l0, self.weights, self.push = sim.model.springs.l0.copy(), weights, push
        self.inputs = []
        self.gradients = [np.zeros_like(weights), np.zeros_like(push)]

    def lengths(self, step, x, v):
        self.inputs.append((x.ravel(), v.ravel()))
        return self.l0 * (1 + 0.1 * np.tanh(self.weights @ x.ravel()))

    def forces(self, step, x, v):
        return (self.push @ v.ravel()).reshape(-1, 3)

    def feedback(self, step, controls):
        x, v = self.inputs[step]
        slope = 0.1 * controls.l0 * self.l0 * (1 - np.tanh(self.weights @ x) ** 2)
        self.gradients[0] += np.outer(slope, x)
        self.gradients[1] += np.outer(controls.forces.ravel(), v)
        by_x, by_v = self.weights.T @ slope, self.push.T @ controls.forces.ravel()
        return by_x.reshape(-1, 3), by_v.reshape(-1, 3)


def recorded(weights=WEIGHTS, push=PUSH, **options):
    sim = make_sim()
    network = Network(sim, weights, push)
    return hooke.record(sim, STEPS, l0=network.lengths, forces=network.forces, **options), network


def test_gradients_of_a_controller_are_those_of_differences():
    tape, network = recorded()
    tape.backward(2 * tape.x, feedback=network.feedback)

    def change(direction, which, step):
        values = [WEIGHTS, PUSH]
        values[which] = values[which] + step * direction
        tape, _ = recorded(*values)
        return (tape.x**2).sum()

    for which, gradient in enumerate(network.gradients):
        direction = np.random.default_rng(2).standard_normal(gradient.shape)
        each = [(change(direction, which, h) - change(direction, which, -h)) / (2 * h) for h in (1e-4, 5e-5)]
        assert (gradient * direction).sum() == pytest.approx((4 * each[1] - each[0]) / 3, rel=1e-6)


def test_feedback_is_called_from_the_last_step_to_the_first():
    tape, _ = recorded()
    steps = []

    def feedback(step, controls):
        steps.append(step)
        assert controls.l0.shape == (M,) and controls.forces.shape == (N, 3) and controls.k is None
        return np.zeros((N, 3)), np.zeros((N, 3))

    with_zeros = tape.backward(tape.x, feedback=feedback)
    assert steps == list(range(STEPS))[::-1]
    assert np.array_equal(with_zeros.x0, tape.backward(tape.x).x0)


def test_controllers_make_the_motion_of_their_values():
    tape, network = recorded(frames=range(STEPS + 1))
    sim = make_sim()
    l0 = np.array([network.lengths(0, *at) for at in zip(tape.x[:-1], tape.v[:-1])])
    forces = np.array([network.forces(0, *at) for at in zip(tape.x[:-1], tape.v[:-1])])
    given = hooke.record(sim, STEPS, l0=l0, forces=forces)
    assert np.array_equal(given.x, tape.x[-1]) and np.array_equal(sim.x, tape.sim.x)
    assert np.array_equal(given.backward(given.x).controls.l0, tape.backward(np.r_[0 * tape.x[:-1], tape.x[-1:]]).controls.l0)


def test_what_fails_leaves_the_state():
    sim = make_sim()
    before = sim.x.copy()

    def fails(step, x, v):
        if step == 3:
            raise KeyError("on purpose")
        return np.ones(M)

    with pytest.raises(KeyError, match="on purpose"):
        hooke.record(sim, STEPS, k=fails)
    with pytest.raises(hooke.InvalidError, match=r"k: expected the shape \(29,\), got \(3,\)"):
        hooke.record(sim, STEPS, k=lambda step, x, v: np.ones(3))
    with pytest.raises(hooke.InvalidError, match="k: holds numbers that are not finite"):
        hooke.record(sim, STEPS, k=lambda step, x, v: np.full(M, np.nan))
    with pytest.raises(hooke.InvalidError):
        hooke.record(sim, STEPS, k=lambda step, x, v: np.full(M, -1.0))
    assert np.array_equal(sim.x, before) and sim.time == 0


def test_what_fails_in_feedback_is_raised():
    tape, network = recorded()

    def fails(step, controls):
        raise KeyError("on purpose")

    with pytest.raises(KeyError, match="on purpose"):
        tape.backward(tape.x, feedback=fails)
    with pytest.raises(hooke.InvalidError, match=r"dL_dx of feedback: expected the shape \(12, 3\)"):
        tape.backward(tape.x, feedback=lambda step, controls: (np.zeros(3), np.zeros((N, 3))))
    with pytest.raises(TypeError):
        tape.backward(tape.x, feedback=lambda step, controls: None)
    assert np.isfinite(tape.backward(tape.x, feedback=network.feedback).x0).all()
