"""Orders of convergence: the error of every integrator after 1 s for steps from 20 to 2.5 ms.

A pendulum of one spring swings and stretches at once, so that nothing is linear; what all are compared
with is rk4 at a step of 0.1 ms.

    python3 convergence.py [PICTURE]
"""

import sys

import numpy as np

import hooke

ORDERS = {"symplectic_euler": 1, "verlet": 2, "rk4": 4, "backward_euler": 1, "bdf2": 2,
          "implicit_midpoint": 2, "trapezoidal": 2}
STEPS = 0.02 / 2 ** np.arange(4)  # s

scene = hooke.Scene("A springy pendulum", dimension=2)
scene.add_body(hooke.shapes.spring(length=1.1), k=40.0, l0=1.0, masses=1.0)
scene.add_pin("start")
scene.add_force("gravity")
model = hooke.Model(scene)


def end(integrator: str, h: float) -> np.ndarray:
    sim = hooke.Sim(model, integrator=integrator, h=h)
    sim.step(round(1 / h))
    return sim.x[1].copy()


exact = end("rk4", 1e-4)
errors = {name: [np.linalg.norm(end(name, h) - exact) for h in STEPS] for name in ORDERS}
for name, values in errors.items():
    order = np.polyfit(np.log(STEPS), np.log(values), 1)[0]
    print(f"{name:20} order {order:5.2f}   error at {STEPS[-1] * 1e3:g} ms: {values[-1]:.1e} m")
    assert abs(order - ORDERS[name]) < 0.35, f"{name} should have order {ORDERS[name]}"

if len(sys.argv) > 1:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    for name, values in errors.items():
        axes.loglog(STEPS, values, "o-", label=name)
    axes.set_xlabel("step (s)")
    axes.set_ylabel("error after 1 s (m)")
    axes.legend()
    figure.savefig(sys.argv[1])
