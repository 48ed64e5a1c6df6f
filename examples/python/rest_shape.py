"""Rest lengths with which a heavy banner on five hooks hangs as the square of a drawing.

Cut to the lengths of the drawing, it sags. The lengths to cut it to are found with L = 1/2 sum |x - drawing|^2
of the equilibrium. Five steps of 10 s of backward Euler lead there: in each, inertia is next to nothing, so the
way back over them gives dL/dl0 of the equilibrium.

    python3 rest_shape.py [PICTURE [VERTICES A SIDE]]
"""

import sys

import numpy as np
from scipy.optimize import minimize

import hooke

side = int(sys.argv[2]) if len(sys.argv) > 2 else 21
newton = hooke.minimizers.newton(tolerance=1e-10)
integrator = hooke.integrators.backward_euler(minimizer=newton)

scene = hooke.Scene("A banner on five hooks", dimension=2, integrator=integrator, step=10)
scene.add_body(hooke.shapes.grid(nx=side, ny=side), springs={"k": 60, "shear": True}, mass=1)  # m, N/m, kg
scene.add_pin(side * (side - 1) + np.linspace(0, side - 1, 5).astype(int))
scene.add_force("gravity")
sim = hooke.Sim(scene)
start = sim.state.copy()
drawing = start.x.copy()  # m
uncut = sim.model.springs.l0.copy()  # m


def hang(l0: np.ndarray) -> hooke.Tape:
    sim.state.assign(start)
    sim.state.set_springs(l0=l0)
    return hooke.record(sim, 5)


def loss(l0: np.ndarray) -> tuple[float, np.ndarray]:
    tape = hang(l0)
    difference = tape.x - drawing
    return 0.5 * np.sum(difference**2), tape.backward(dL_dx=difference).springs.l0


found = minimize(loss, uncut, jac=True, method="L-BFGS-B", bounds=np.outer(uncut, [0.5, 1.5]),
                 options={"maxiter": 100, "maxcor": 20, "ftol": 0, "gtol": 1e-10})
before, after = hang(uncut).x, hang(found.x).x
errors = [1e3 * np.linalg.norm(x - drawing, axis=1).max() for x in (before, after)]  # mm
print(f"cut as drawn, it is off by up to {errors[0]:.1f} mm; cut to {(found.x / uncut).min():.2f} to "
      f"{(found.x / uncut).max():.2f} of the drawing, by {errors[1]:.4f} mm ({found.nfev} gradients)")
assert errors[1] < 0.01 * errors[0]

if len(sys.argv) > 1:
    from matplotlib import collections, pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(7, 3.4), dpi=58, sharey=True, layout="constrained")
    for axis, x, l0, title in ((axes[0], before, uncut, "cut as drawn"), (axes[1], after, found.x, "cut as found")):
        lines = x[sim.model.springs.indices][:, :, :2]
        springs = collections.LineCollection(lines, array=l0 / uncut, cmap="viridis", linewidths=1.2, clim=(0.8, 1.1))
        axis.add_collection(springs)
        axis.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], "k:")
        axis.set(title=title, aspect="equal", xticks=[], yticks=[])
    figure.colorbar(springs, ax=axes, label="rest length / drawn length")
    figure.savefig(sys.argv[1])
