"""A robot of springs learns to walk: a neural network sets the rest lengths of its legs in each step, and its
weights follow the gradient of how far it has come, through 682 steps with contact and friction.

The task is the walking robot of DiffTaichi (Hu et al. 2020): 46 springs in nine squares, 8 of them muscles, 2.7 s
in steps of 4 ms, a hidden layer of 32 behind ten sines and the robot's own positions and velocities.

    python3 walker.py [PICTURE [ITERATIONS]]
"""

import sys
import time

import numpy as np

import hooke

iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 100
STEPS = 682
H, SIDE, STRENGTH = 0.004, 0.05, 0.15  # s, m, the largest change of a rest length relative to it

# ---- The robot: squares at (column, row), whose upright sides are muscles where the third number is 1 ----

corners, springs = {}, {}
for i, j, actuated in [(2, 0, 1), (0, 0, 1), (0, 1, 1), (0, 2, 0), (1, 2, 0), (2, 1, 1), (2, 2, 0), (2, 3, 0), (2, 4, 0)]:
    a, b, c, d = (corners.setdefault(at, len(corners)) for at in [(i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1)])
    for side in [(a, b), (c, d)]:
        springs.setdefault(side, actuated * STRENGTH)
    for side in [(a, c), (b, d), (a, d), (b, c)]:
        springs.setdefault(side, 0.0)
x0 = 0.1 + SIDE * np.array(list(corners))  # m

scene = hooke.Scene.from_arrays(x0, list(springs), masses=1.0, k=3e4, forces=())
scene["dimension"] = 2
scene["time.step"] = H
scene["integrator"] = {"type": "backward_euler", "minimizer": {"type": "newton", "tolerance": 1e-6}}
scene.add_force(hooke.forces.gravity(g=4.8))
scene.add_force(hooke.forces.drag(linear=15.0))  # N s/m
scene.add_force(hooke.forces.contact(ground=True, height=0.0986, friction=2.5, self=False))
sim = hooke.Sim(scene, threads=1)
start, l0 = sim.state.copy(), sim.model.springs.l0.copy()
reach = np.zeros(len(l0))  # in the order of the model
reach[sim.model.find_springs(list(springs))] = list(springs.values())

# ---- The network ----

N, M, WAVES, HIDDEN = len(x0), len(l0), 10, 32
INPUTS = WAVES + 4 * N + 2
rng = np.random.default_rng(0)
W1 = 2 * np.sqrt(2 / (HIDDEN + INPUTS)) * rng.standard_normal((HIDDEN, INPUTS))
W2 = 3 * np.sqrt(2 / (HIDDEN + M)) * rng.standard_normal((M, HIDDEN))
b1, b2 = np.zeros(HIDDEN), np.zeros(M)
phases, goal = 2 * np.pi / WAVES * np.arange(WAVES), np.array([0.9, 0.2])


def walk(shots=()):
    """How far the foot comes (m), the gradient of that by W1, b1, W2, b2, and positions after some steps."""
    layers = []  # of each step: inputs, hidden layer, muscles
    gradients = [np.zeros_like(values) for values in (W1, b1, W2, b2)]

    def muscles(step, x, v):
        center = x[:, :2].mean(axis=0)
        seen = 0.05 * np.hstack([x[:, :2] - center, v[:, :2]])
        inputs = np.concatenate([np.sin(10 * step * H + phases), seen.ravel(), goal - center])
        hidden = np.tanh(W1 @ inputs + b1)
        layers.append((inputs, hidden, np.tanh(W2 @ hidden + b2)))
        return l0 * (1 + reach * layers[-1][2])

    def feedback(step, controls):
        inputs, hidden, u = layers[step]
        by_u = controls.l0 * l0 * reach * (1 - u**2)
        by_hidden = W2.T @ by_u * (1 - hidden**2)
        for total, part in zip(gradients, [np.outer(by_hidden, inputs), by_hidden, np.outer(by_u, hidden), by_u]):
            total += part
        by_inputs = W1.T @ by_hidden
        seen = 0.05 * by_inputs[WAVES:-2].reshape(N, 4)
        by_x, by_v = np.zeros((N, 3)), np.zeros((N, 3))
        by_x[:, :2] = seen[:, :2] - (seen[:, :2].sum(axis=0) + by_inputs[-2:]) / N
        by_v[:, :2] = seen[:, 2:]
        return by_x, by_v

    sim.state.assign(start)
    tape = hooke.record(sim, STEPS, l0=muscles, frames=[*shots, STEPS])
    by_x = np.zeros_like(tape.x)
    by_x[-1, 0, 0] = 1
    tape.backward(dL_dx=by_x, feedback=feedback)
    return tape.x[-1, 0, 0] - start.x[0, 0], gradients, tape.x


ways, best, begin = [], None, time.perf_counter()
for iteration in range(iterations):
    way, gradients, shots = walk([0, 170, 340, 510])
    if not ways or way > max(ways):
        best = shots
    ways.append(way)
    norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients))
    for values, gradient in zip((W1, b1, W2, b2), gradients):
        values += 0.2 / norm * gradient
    if iteration % 10 == 0 or iteration == iterations - 1:
        print(f"walk {iteration + 1:3}: {way:6.3f} m in {STEPS * H:.1f} s")
print(f"{time.perf_counter() - begin:.0f} s; the best walk is {max(ways):.3f} m")
assert iterations < 50 or max(ways) > 0.2

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=[2, 1])
    for number, x in enumerate(best):
        for (a, b), strength in springs.items():
            color = "tab:red" if strength else "0.3"
            left.plot(x[[a, b], 0], x[[a, b], 1], color=color, alpha=0.2 + 0.2 * number)
    left.axhline(0.0986, color="0.5")
    left.set(aspect="equal", xlabel="m", title="the best walk")
    right.plot(ways)
    right.set(xlabel="walks", ylabel="way of a foot (m)")
    figure.tight_layout()
    figure.savefig(sys.argv[1], dpi=90)
