"""A cloth from arrays alone: heavier at its hem, stiffer along its threads, held by two corners; then a
hand drags it, a pin is let go, and the scene is saved for the program.

    python3 cloth_from_numpy.py [PICTURE]
"""

import os
import sys
import tempfile

import numpy as np

import hooke

N = 21
number = np.arange(N * N).reshape(N, N)  # rows from the bottom to the top
grid = np.linspace(0, 1, N)
vertices = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)  # m, z is 0


def pairs(a, b):
    return np.stack([a.ravel(), b.ravel()], axis=1)


threads = np.vstack([pairs(number[:, :-1], number[:, 1:]), pairs(number[:-1], number[1:])])
diagonals = np.vstack([pairs(number[:-1, :-1], number[1:, 1:]), pairs(number[1:, :-1], number[:-1, 1:])])
edges = np.vstack([threads, diagonals])
k = np.r_[np.full(len(threads), 400.0), np.full(len(diagonals), 40.0)]  # N/m
l0 = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1) * 0.98  # m
masses = np.full(N * N, 0.2 / N**2)  # kg
masses[number[0]] *= 3  # a hem

scene = hooke.Scene.from_arrays(
    vertices, edges, masses=masses, k=k, l0=l0, damping=0.01, pins=number[-1, [0, -1]],
    integrator="backward_euler", step=1 / 60,
)
sim = hooke.Sim(scene)
sim.advance(1)
print(f"after {sim.time:.2f} s the hem hangs at y = {sim.x[number[0], 1].mean():.3f} m")

with sim.grab(number[0, N // 2], k=50) as hand:  # N/m
    for z in np.linspace(0, 0.5, 30):
        hand.move_to([0.5, 0.2, z])
        sim.step(2)
print(f"dragged: z = {sim.x[number[0, N // 2], 2]:.3f} m")
sim.release_pin(number[-1, 0])
sim.x[number[-1, -1]] += 0  # arrays are views: whatever is written here moves the cloth
energies = sim.advance(0.5).energies
print(f"released: {energies.total[0]:.3f} J -> {energies.total[-1]:.3f} J")
assert sim.x[number[-1, 0], 1] < 0.9

path = os.path.join(tempfile.mkdtemp(), "cloth.json")
scene.save(path)
print(f"{path} holds {len(hooke.Model(hooke.Scene.load(path)).springs.k)} springs: hooke run {path}")
if len(sys.argv) > 1:
    hooke.picture(sim.model, sim.x).savefig(sys.argv[1])
