"""One mass on a spring against the exact solution x(t) = 1 + 0.2 cos(10 t) m, in three lines each.

    python3 oscillator.py [PICTURE]
"""

import sys

import numpy as np

import hooke

scene = hooke.Scene("One mass on a spring", integrator="verlet", step=1e-3, duration=5, fps=50)
scene.add_body(hooke.shapes.spring(length=1.2), k=100.0, l0=1.0, masses=1.0)  # N/m, m, kg
scene.add_pin("start")
result = hooke.run(scene)

x = result.x[:, 1, 0]  # frames, the second vertex, x in m
exact = 1 + 0.2 * np.cos(10 * result.time)
print(f"largest error in 8 periods: {np.abs(x - exact).max():.2e} m")
print(f"largest change of energy: {result.energies.drift:.2e} of the kinetic energy")
assert np.abs(x - exact).max() < 1e-3 and result.energies.drift < 1e-3

if len(sys.argv) > 1:
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(2, sharex=True)
    above.plot(result.time, x, label="Hooke")
    above.plot(result.time, exact, ":", label="exact")
    above.set_ylabel("x (m)")
    above.legend()
    result.energies.plot(below)
    figure.savefig(sys.argv[1])
