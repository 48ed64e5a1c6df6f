"""The velocity with which a net has to be thrown so that it hits a target, and opens on it.

The net flies through air, in pleats at first. The throw of the middle knot onto the target has 3 unknowns,
one velocity of all knots: Newton's method with dx/dv forward through the steps, one tangent for each. A net
that arrives spread out around the target has 3 for each knot: L-BFGS with dL/dv of all, by one way back.

    python3 throw_net.py [PICTURE [KNOTS A SIDE]]
"""

import sys

import numpy as np
from scipy.optimize import minimize

import hooke

side = int(sys.argv[2]) if len(sys.argv) > 2 else 21  # odd: there is a knot in the middle
target, h, steps = np.array([4.0, 0.5, 1.0]), 1 / 400, 280  # m, s: it has to be there after 0.7 s

scene = hooke.Scene("A thrown net", integrator="verlet", step=h)
scene.add_body(hooke.shapes.grid(nx=side, ny=side, plane="yz", centered=True), mass=0.5,
               springs={"k": 20, "shear": True, "damping": 0.02})
scene.add_force("gravity")
scene.add_force(hooke.forces.drag(quadratic=0.05 / side**2))  # N s^2/m^2, of each knot
sim = hooke.Sim(scene)
spread = sim.x.copy()  # m, around the origin
column = np.rint((spread[:, 1] + 0.5) * (side - 1))
sim.x[:, 1] *= 0.25  # folded into pleats, in which no string is stretched
sim.x[:, 0] = np.sqrt(1 - 0.25**2) / (side - 1) * (column % 2)
middle, start = side**2 // 2, sim.state.copy()


def throw(v: np.ndarray, frames: range | None = None) -> hooke.Tape:
    sim.state.assign(start)
    sim.v[...] = v
    return hooke.record(sim, steps, frames=frames)


v = target / (steps * h)  # m/s: without air and gravity it would be there
for _ in range(8):
    tape = throw(v)
    miss = target - tape.x[middle]
    print(f"the middle misses by {np.linalg.norm(miss) * 1e3:9.4f} mm at ({v[0]:.3f}, {v[1]:.3f}, {v[2]:.3f}) m/s")
    if np.linalg.norm(miss) < 1e-6:
        break
    by_v = [tape.tangent(v0=np.tile(axis, (side**2, 1)))[0][middle] for axis in np.eye(3)]
    v = v + np.linalg.solve(np.transpose(by_v), miss)
assert np.linalg.norm(miss) < 1e-6


def loss(numbers: np.ndarray) -> tuple[float, np.ndarray]:
    tape = throw(numbers.reshape(-1, 3))
    difference = tape.x - (target + spread)
    return 0.5 * np.sum(difference**2), tape.backward(dL_dx=difference).v0.ravel()


before = throw(v).x
found = minimize(loss, np.tile(v, side**2), jac=True, method="L-BFGS-B", options={"maxiter": 100, "maxcor": 20})
each = found.x.reshape(-1, 3)
after = throw(each).x
errors = [np.linalg.norm(x - target - spread, axis=1).max() * 1e3 for x in (before, after)]
print(f"knots miss their places by up to {errors[0]:.0f} mm; with a velocity for each, {errors[1]:.2f} mm")
assert errors[1] < 0.02 * errors[0]

if len(sys.argv) > 1:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 1, figsize=(7, 5), dpi=72, layout="constrained")
    for axis, velocity, title in ((axes[0], v, "one velocity"), (axes[1], each, "a velocity for each knot")):
        for x in throw(velocity, range(0, steps + 1, steps // 5)).x:
            across, up = (x[:, [0, 2]] + x[:, 1:2] * [0.6, 0.3]).T.reshape(2, side, side)  # seen from the side
            for lines in ((across, up), (across.T, up.T)):
                axis.plot(*lines, color=pyplot.cm.viridis(0.9 * x[:, 0].mean() / target[0]), linewidth=0.5)
        axis.plot(*(target[[0, 2]] + np.array([0.6, 0.3]) * target[1]), "r*", markersize=10)
        axis.set(title=title, aspect="equal", xlabel="m")
    figure.savefig(sys.argv[1])
