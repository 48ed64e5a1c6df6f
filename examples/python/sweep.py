"""A sweep over stiffness and step: how far a hanging chain sags, and where the motion blows up.

    python3 sweep.py [PICTURE]
"""

import sys

import numpy as np

import hooke

scene = hooke.Scene("A chain between two hands", duration=2, integrator="verlet")
scene.add_body(hooke.shapes.chain(n=21, end=[1, 0, 0]), mass=0.1, springs={"damping": 0.05})
scene.add_pin("ends")
scene.add_force("gravity")
stiffness = np.logspace(2, 5, 4)  # N/m
steps = [2e-3, 5e-4, 1e-4]  # s

result = hooke.sweep(scene, {"k": stiffness, "h": steps}, workers=2,
                     measure=lambda run: -run.state.x[:, 1].min())
print("sag in m, a row for each k, a column for each step:")
for k, row in zip(stiffness, result.value):
    print(f"{k:8.0f} N/m  " + "  ".join("blew up " if np.isnan(v) else f"{v:.6f}" for v in row))
for place, why in result.errors.items():
    print(f"k = {stiffness[place[0]]:g}, h = {steps[place[1]]:g}: {why}")
assert np.isfinite(result.value[:, -1]).all() and result.errors

if len(sys.argv) > 1:
    from matplotlib import pyplot

    pyplot.loglog(stiffness, result.value, "o-")
    pyplot.xlabel("k (N/m)")
    pyplot.ylabel("sag (m)")
    pyplot.legend([f"h = {h:g} s" for h in steps])
    pyplot.savefig(sys.argv[1])
