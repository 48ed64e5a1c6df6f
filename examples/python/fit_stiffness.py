"""The stiffness of every spring of a cloth, from its positions in 60 frames of a camera.

The cloth hangs by two corners and is kicked at random, so that every spring stretches; the camera sees each
vertex to 5 micrometers. All stiffnesses are found at once: L = 1/2 sum |x - x_measured|^2, with dL/dk of all
springs by one way back over the steps. Over many frames L has many valleys, since masses swing out of step;
over few frames it has one. So the first 2 frames are fitted, then 4 from there, and so on up to 60. Known is
that no k is off by a factor of 3.

    python3 fit_stiffness.py [PICTURE [VERTICES A SIDE]]
"""

import sys
import time

import numpy as np
from scipy.optimize import minimize

import hooke

FRAMES, RATE, SUBSTEPS = 60, 240, 4  # frames a second, steps a frame
GUESS = 10.0  # N/m
side = int(sys.argv[2]) if len(sys.argv) > 2 else 41
random = np.random.default_rng(0)

scene = hooke.Scene("A kicked cloth", integrator="verlet", step=1 / (RATE * SUBSTEPS))
scene.add_body(hooke.shapes.grid(nx=side, ny=side), springs={"k": GUESS, "shear": True}, mass=2e-4 * side**2)
scene.add_pin("top_left")
scene.add_pin("top_right")
scene.add_force("gravity")
sim = hooke.Sim(scene)
sim.v[...] = random.normal(0, 0.5, sim.v.shape)  # m/s
start = sim.state.copy()


def record(k: np.ndarray, frames: int) -> hooke.Tape:
    sim.state.assign(start)
    sim.state.set_springs(k=k)
    return hooke.record(sim, frames * SUBSTEPS, frames=SUBSTEPS * np.arange(1, frames + 1))


middles = sim.x[sim.model.springs.indices].mean(axis=1) - [0.5, 0.5, 0]  # m, of the springs
rings = np.cos(16 * np.linalg.norm(middles, axis=1))
true = GUESS * np.exp(0.5 * rings + random.uniform(-0.3, 0.3, len(rings)))  # N/m
measured = record(true, FRAMES).x
measured += random.normal(0, 5e-6, measured.shape)  # m: what the camera is off by

log_k = np.full(len(true), np.log(GUESS))
bounds = np.log([(GUESS / 3, GUESS * 3)] * len(true))
began, history = time.perf_counter(), []
for frames in (2, 4, 8, 16, 32, FRAMES):

    def loss(log_k: np.ndarray) -> tuple[float, np.ndarray]:
        k = np.exp(log_k)  # stays above 0
        tape = record(k, frames)
        difference = tape.x - measured[:frames]
        return 0.5 * np.sum(difference**2), k * tape.backward(dL_dx=difference).springs.k

    log_k = minimize(loss, log_k, jac=True, method="L-BFGS-B", bounds=bounds,
                     options={"maxiter": 100, "ftol": 0, "gtol": 1e-15, "maxcor": 20}).x
    error = np.abs(np.exp(log_k) / true - 1)
    history.append((frames, np.median(error), np.quantile(error, 0.99), error.max()))
    print("{:3} frames: error of k {:.1e} (median), {:.1e} (99 of 100 springs), {:.1e} (all)".format(*history[-1]),
          f"  {time.perf_counter() - began:.1f} s")
assert error.max() < 0.01, "every stiffness should be found within 1 %"

if len(sys.argv) > 1:
    from matplotlib import collections, pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(9, 3), dpi=64, layout="constrained")
    lines = start.x[sim.model.springs.indices][:, :, :2]
    for axis, k, title in ((axes[0], true, "k (N/m)"), (axes[1], np.exp(log_k), "found")):
        springs = collections.LineCollection(lines, array=k, cmap="viridis", linewidths=60 / side, clim=(5, 20))
        axis.add_collection(springs)
        axis.autoscale()
        axis.set(title=title, aspect="equal", xticks=[], yticks=[])
    figure.colorbar(springs, ax=axes[1])
    axes[2].semilogy([row[0] for row in history], [row[1:] for row in history], "o-",
                   label=["median", "99 %", "all springs"])
    axes[2].set(xlabel="frames", title="error of k")
    axes[2].legend()
    figure.savefig(sys.argv[1])
