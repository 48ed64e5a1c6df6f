"""The coefficient of friction from a slide: a block of springs is thrown onto the ground and watched until it
rests; the coefficient and the velocity of the throw follow from its path.

    python3 friction_from_slide.py [PICTURE]
"""

import sys

import numpy as np

import hooke

STEPS, H = 60, 0.01  # s


def make(friction):
    scene = hooke.Scene(integrator="backward_euler", step=H)
    scene.add_body(hooke.shapes.block(nx=3, ny=3, nz=3, size=[0.2, 0.2, 0.2]), springs={"k": 500, "damping": 0.5},
                   mass=1, transform={"translate": [0, 0.002, 0]})
    scene.add_force("gravity")
    scene.add_force(hooke.forces.contact(ground=True, self=False, friction=friction))
    scene["integrator"] = {"type": "backward_euler", "minimizer": {"type": "newton", "tolerance": 1e-8}}
    return hooke.Sim(scene)


def slide(friction, speed):
    """The tape of a throw along x."""
    sim = make(friction)
    sim.v[:, 0] = speed
    return hooke.record(sim, STEPS, frames=range(1, STEPS + 1))


watched = slide(0.37, 1.4).x  # m
guess = np.array([0.2, 1.0])  # coefficient, m/s
for _ in range(5):
    tape = slide(*guess)
    off = (tape.x - watched).ravel()
    columns = [tape.tangent(forces={2: {"friction": 1.0}})[0], tape.tangent(v0=np.tile([1.0, 0, 0], (27, 1)))[0]]
    J = np.stack([column.ravel() for column in columns], axis=1)
    print(f"friction {guess[0]:.6f}, speed {guess[1]:.6f} m/s: off by {1000 * np.sqrt((off**2).mean()):.4f} mm")
    guess = np.maximum(guess - np.linalg.lstsq(J, off, rcond=None)[0], 0.01)  # Gauss and Newton
assert abs(guess[0] - 0.37) < 1e-4 and abs(guess[1] - 1.4) < 1e-4

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    time = H * np.arange(1, STEPS + 1)
    for name, x in [("watched", watched), ("first guess", slide(0.2, 1.0).x), ("found", slide(*guess).x)]:
        plt.plot(time, x[:, :, 0].mean(axis=1) - 0.1, "--" if name == "found" else "-", label=name)
    plt.xlabel("s")
    plt.ylabel("way of the block (m)")
    plt.legend()
    plt.gcf().set_size_inches(5, 3)
    plt.tight_layout()
    plt.savefig(sys.argv[1], dpi=90)
