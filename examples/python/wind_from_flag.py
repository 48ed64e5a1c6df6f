"""The wind that blows a flag, from its motion: velocity, strength of the gusts, and density of the air.

A camera has seen every vertex in 45 frames, to 2 mm. Unknown are five parameters of one force, face_wind, whose
derivatives the way back over the steps gives as it does those of springs. The first frames say about where the
wind comes from; from there, more and more frames are fitted.

    python3 wind_from_flag.py [PICTURE [VERTICES ALONG THE POLE]]
"""

import sys

import numpy as np
from scipy.optimize import minimize

import hooke

FRAMES, SUBSTEPS = 45, 12  # at 60 frames a second
NAMES = ["wind x (m/s)", "wind y (m/s)", "wind z (m/s)", "gust", "density (kg/m^3)"]
BOUNDS = [(-20, 20)] * 3 + [(0, 1), (0.3, 4)]
side = int(sys.argv[2]) if len(sys.argv) > 2 else 13

scene = hooke.Scene("A flag", integrator="verlet", step=1 / (60 * SUBSTEPS))
scene.add_body(hooke.shapes.grid(nx=3 * side // 2, ny=side, width=1.5), mass=0.2,  # m, kg
               springs={"k": 50, "shear": True, "bending": True, "damping": 0.002})
scene.add_pin("left")
scene.add_force("gravity")
scene.add_force("face_wind")
sim = hooke.Sim(scene)
start = sim.state.copy()


def record(wind: np.ndarray, frames: int) -> hooke.Tape:
    sim.model.forces[2] = hooke.forces.face_wind(velocity=wind[:3], gust=wind[3], gust_period=0.5, density=wind[4])
    sim.state.assign(start)
    return hooke.record(sim, frames * SUBSTEPS, frames=SUBSTEPS * np.arange(1, frames + 1))


true = np.array([6.0, -0.5, 1.5, 0.3, 1.2])
seen = record(true, FRAMES).x
seen += np.random.default_rng(0).normal(0, 0.002, seen.shape)  # m

wind, history = np.array([3.0, 0, 3, 0.1, 1]), []
for frames in (4, 10, 20, FRAMES):

    def loss(wind: np.ndarray) -> tuple[float, np.ndarray]:
        tape = record(wind, frames)
        difference = tape.x - seen[:frames]
        by = tape.backward(dL_dx=difference).forces[2]
        return 0.5 * np.sum(difference**2), np.array([*by["velocity"], by["gust"], by["density"]])

    wind = minimize(loss, wind, jac=True, method="L-BFGS-B", bounds=BOUNDS, options={"maxiter": 60, "ftol": 1e-9}).x
    history.append((frames, *wind))
    print(f"{frames:3} frames: " + ", ".join(f"{name} {value:.4f}" for name, value in zip(NAMES, wind)))
print("    really: " + ", ".join(f"{name} {value:.4f}" for name, value in zip(NAMES, true)))
assert np.abs(wind - true).max() < 0.02

if len(sys.argv) > 1:
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(8, 3.4), dpi=72, layout="constrained")
    flag = figure.add_subplot(1, 2, 1, projection="3d")
    rows = seen[-1].reshape(side, -1, 3)
    flag.plot_wireframe(rows[..., 0], rows[..., 2], rows[..., 1], linewidth=0.7)
    flag.quiver(0, -0.6, 1, *(0.1 * true[[0, 2, 1]]), color="r")
    flag.set(xlabel="x (m)", ylabel="z (m)", zlabel="y (m)", aspect="equal")
    plot = figure.add_subplot(1, 2, 2)
    plot.semilogy([row[0] for row in history], [np.abs(row[1:] - true) for row in history], "o-", label=NAMES)
    plot.set(xlabel="frames", title="error")
    plot.legend()
    figure.savefig(sys.argv[1])
