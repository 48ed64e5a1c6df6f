"""The curtain of Liu et al. 2013, 81 x 81 vertices: one step of 1/30 s by four minimizers.

Each minimizes g(x) = 1/2 (x - y)^T M (x - y) + h^2 E(x); shown is the error that is left,
(g(x_i) - g*) / (g(x_0) - g*), after each iteration and over time.

    python3 curtain.py [PICTURE [VERTICES A SIDE]]
"""

import sys

import numpy as np

import hooke

MINIMIZERS = {
    "newton": {"iterations": 8, "linear": "ldlt"},
    "local_global": {"iterations": 100},
    "lbfgs": {"iterations": 60},
    "vertex_block_descent": {"iterations": 60},
}

side = int(sys.argv[2]) if len(sys.argv) > 2 else 81
size = {"bodies[0].shape.nx": side, "bodies[0].shape.ny": side}
model = hooke.Model(hooke.Scene.builtin("curtain", size))


def step_by(name: str, **params: object) -> hooke.Trace:
    """The iterations of the second step, when the curtain has begun to fall."""
    minimizer = getattr(hooke.minimizers, name)(**params)
    integrator = hooke.integrators.backward_euler(minimizer=minimizer)
    sim = hooke.Sim(model, integrator=integrator, h=1 / 30)
    sim.state.assign(begin)
    return sim.trace_step()


first = hooke.Sim(model, integrator="backward_euler", h=1 / 30)
first.step()
begin = first.state
best = step_by("newton", linear="ldlt", iterations=20, tolerance=1e-12).change.min()
errors = {}
for name, params in MINIMIZERS.items():
    trace = step_by(name, tolerance=0.0, **params)
    seconds, error = errors[name] = trace.seconds, 1 - trace.change / best
    print(f"{name:22} {len(error) - 1:4} iterations, error {max(error[-1], 0):.1e}, "
          f"{seconds[-1] * 1e3:.0f} ms")
    assert error[-1] < 0.5

if len(sys.argv) > 1:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, sharey=True, figsize=(9, 4))
    for name, (seconds, error) in errors.items():
        error = np.maximum(error, 1e-15)
        axes[0].semilogy(error, label=name)
        axes[1].semilogy(seconds * 1e3, error)
    axes[0].set_xlabel("iteration")
    axes[1].set_xlabel("time (ms)")
    axes[0].set_ylabel("error of g")
    axes[0].legend()
    figure.savefig(sys.argv[1])
