"""The cost of a gradient by the stiffness of every spring: Hooke's tape, Warp's tape, JAX and finite differences.

    gradients.py [--side N [N ...]] [--steps N] [--rounds N] [--mixed] [--rows NAME [NAME ...]]

The problem: a cloth of N x N vertices (41 and 81), 1 m and 1 kg, with structural, shear and bending springs of 50 to 200 N/m, random
for each spring, starts from the flat rest shape with random velocities of up to 0.5 m/s, which stretch every spring, and falls under
gravity; two corners are pinned. With --mixed its vertices are numbered at random within every 64, in all programs. The explicit rows
make 300 steps of symplectic Euler with h = 0.02 s / (N - 1), the same equations in every program: v += h f(x) / m, x += h v. The loss
is L = 1/2 sum |x|^2 at the end [m^2], and the gradient is dL/dk of every spring.

| row | what computes the gradient |
|---|---|
| hooke | symplectic_euler, state.set_springs, hooke.record and tape.backward |
| hooke_model | hooke without set_springs: the stiffness is in the model, whose compilation is not measured |
| warp_float, warp_double | wp.Tape on the CPU, one kernel over springs (atomic_add to both ends) and one over vertices |
| warp_graph | Warp in double, forward and backward captured once as a CPU graph that is launched again |
| jax | jax.value_and_grad through jax.lax.scan of an explicit step with .at[].add, jitted; jax_enable_x64 is set |
| jax_checkpoint | jax with jax.checkpoint around the step, which is evaluated again on the way back |
| differences | Hooke's symplectic_euler without a tape, two motions for each spring: extrapolated from measured motions |
| hooke_implicit | backward_euler with 20 h over the same time, newton with pcg and multigrid, and its tape; another motion |

Every row is a process of its own, which shares one core with the others, and the rows take turns. Times are medians of the CPU time
of a process, all its threads included; compilation is not part of them. The backward time of JAX is the time of value_and_grad less
that of the jitted forward motion. The backward time of Warp includes setting its gradients to zero, which each gradient requires.
Memory is the growth of the largest resident set in the first gradient, from the process with imported packages and compiled code.
"difference" is |g - g_hooke| / |g_hooke| of the gradients g; for the rows of Hooke it is |s - d| / |s| of the slope s of L along one
random direction and the central difference d.

A package that is not installed is named and its rows are left out; exit status 77 where that is Hooke. The pinned versions are in
gradients_requirements.txt.
"""

import argparse
import multiprocessing
import os
import sys
import time
from typing import Any, Callable

try:
    import numpy as np

    import hooke
except ImportError as problem:
    print(f"The comparison of gradients is left out: {problem}", file=sys.stderr)
    sys.exit(77)

STIFFNESS, SPEED, H_OF_SPACING, GRAVITY = 100.0, 0.5, 0.02, 9.81  # N/m, m/s, s, m/s^2
IMPLICIT = 20  # explicit steps in the time of one implicit step
NEWTON = {
    "type": "newton",
    "tolerance": 1e-6,
    "linear": {"type": "pcg", "tolerance": 1e-5, "preconditioner": "multigrid"},
}


class Problem:
    """The cloth as arrays, from Hooke's model of it."""

    def __init__(self, side: int, steps: int, mixed: bool, implicit: bool = False, own_k: bool = False) -> None:
        self.steps = steps // IMPLICIT if implicit else steps
        self.h = H_OF_SPACING / (side - 1) * (IMPLICIT if implicit else 1)
        self.integrator: Any = {"type": "backward_euler", "minimizer": NEWTON} if implicit else "symplectic_euler"
        scene = hooke.Scene(integrator=self.integrator, step=self.h)
        scene.add_body(
            hooke.shapes.grid(nx=side, ny=side, plane="xz"),
            springs={"k": STIFFNESS, "shear": True, "bending": True},
            mass=1.0,
        )
        scene.add_pin("top_left")
        scene.add_pin("top_right")
        scene.add_force(hooke.forces.gravity(g=GRAVITY))
        model = hooke.Model(scene, threads=1)
        if mixed:
            model = self.renumbered(model)
        rng, n = np.random.default_rng(0), len(model)
        self.ends, self.l0 = model.springs.indices.copy(), model.springs.l0.copy()
        self.k = STIFFNESS * rng.uniform(0.5, 2, len(self.l0))
        self.free = np.ones(n)
        self.free[model.pins] = 0
        self.inverse_masses = self.free / model.masses
        self.gravity = GRAVITY * self.free[:, None] * np.array([0.0, -1.0, 0.0])  # m/s^2, for each vertex
        if own_k:
            model = self.model_of(model, np.arange(n), self.k)
            assert np.array_equal(model.springs.indices, self.ends)
        self.sim = hooke.Sim(model)
        self.sim.v[...] = SPEED * rng.uniform(-1, 1, (n, 3)) * self.free[:, None]
        self.x0, self.v0 = self.sim.x.copy(), self.sim.v.copy()

    def renumbered(self, model: Any) -> Any:
        """Returns a model of the same cloth whose vertices are numbered at random within every 64."""
        n, rng = len(model), np.random.default_rng(2)
        order = np.concatenate([start + rng.permutation(min(64, n - start)) for start in range(0, n, 64)])
        return self.model_of(model, order, model.springs.k)

    def model_of(self, model: Any, order: Any, k: Any) -> Any:
        """Returns a model of the vertices and springs of another one in another order, with the stiffness k."""
        number = np.argsort(order)  # of each vertex of the other model
        scene = hooke.Scene.from_arrays(
            hooke.State(model).x[order],
            number[model.springs.indices],
            masses=model.masses[order],
            k=k,
            l0=model.springs.l0,
            pins=number[model.pins],
            forces=[hooke.forces.gravity(g=GRAVITY)],
            integrator=self.integrator,
            step=self.h,
        )
        return hooke.Model(scene, threads=1)


class Hooke:
    """Hooke's tape."""

    precision, version, implicit, own_k = "double", hooke.__version__, False, False

    def __init__(self, side: int, steps: int, mixed: bool) -> None:
        self.problem = Problem(side, steps, mixed, self.implicit, self.own_k)
        self.sim, self.start = self.problem.sim, self.problem.sim.state.copy()

    def allocate(self) -> None:
        """Allocates what outlives a gradient: nothing."""

    def gradient(self) -> "tuple[float, float, Any]":
        """Returns seconds forward, seconds backward and dL/dk of every spring."""
        self.sim.state.assign(self.start)
        begin = time.process_time()
        if not self.own_k:
            self.sim.state.set_springs(k=self.problem.k)
        tape = hooke.record(self.sim, self.problem.steps)
        middle = time.process_time()
        gradients = tape.backward(dL_dx=tape.x)
        seconds = middle - begin, time.process_time() - middle
        self.info = gradients.info
        return seconds[0], seconds[1], gradients.springs.k

    def loss(self, k: Any) -> float:
        self.sim.state.assign(self.start)
        self.sim.state.set_springs(k=k)
        self.sim.step(self.problem.steps)
        return 0.5 * float((self.sim.x**2).sum())

    def difference(self) -> float:
        """Returns |s - d| / |s| of the slope s along a random direction and the central difference d of the loss."""
        k, relative = self.problem.k, 1e-5
        direction = k * np.random.default_rng(1).uniform(-1, 1, len(k))
        slope = float(self.gradient()[2] @ direction)
        change = self.loss(k + relative * direction) - self.loss(k - relative * direction)
        return abs(slope - change / (2 * relative)) / abs(slope)


class HookeImplicit(Hooke):
    """Hooke's tape of implicit steps."""

    implicit = True


class HookeModel(Hooke):
    """Hooke's tape, with the stiffness in the model."""

    own_k = True


class Differences(Hooke):
    """Central differences for every spring, extrapolated from measured motions."""

    def gradient(self) -> "tuple[float, float, Any]":
        self.sim.state.assign(self.start)
        begin = time.process_time()
        self.sim.state.set_springs(k=self.problem.k)
        self.sim.step(self.problem.steps)
        forward = time.process_time() - begin
        return forward, (2 * len(self.problem.k) - 1) * forward, None


class Warp:
    """Warp's tape on the CPU."""

    precision = "float"

    def __init__(self, side: int, steps: int, mixed: bool) -> None:
        import warp as wp

        wp.config.log_level = wp.LOG_ERROR
        wp.init()
        self.wp, self.problem, self.version = wp, Problem(side, steps, mixed), wp.__version__
        double = self.precision == "double"
        real = wp.float64 if double else wp.float32
        vec = wp.vec3d if double else wp.vec3f
        self.real, self.vec = real, vec

        @wp.kernel
        def add_spring_forces(
            x: wp.array(dtype=vec), ends: wp.array(dtype=wp.vec2i), k: wp.array(dtype=real), l0: wp.array(dtype=real),
            f: wp.array(dtype=vec),
        ):
            s = wp.tid()
            i = ends[s][0]
            j = ends[s][1]
            d = x[j] - x[i]
            length = wp.length(d)
            force = (k[s] * (length - l0[s]) / length) * d
            wp.atomic_add(f, i, force)
            wp.atomic_add(f, j, -force)

        @wp.kernel
        def move(
            x: wp.array(dtype=vec), v: wp.array(dtype=vec), f: wp.array(dtype=vec), gravity: wp.array(dtype=vec),
            inverse_masses: wp.array(dtype=real), h: real, x_new: wp.array(dtype=vec), v_new: wp.array(dtype=vec),
        ):
            i = wp.tid()
            v_end = v[i] + h * (inverse_masses[i] * f[i] + gravity[i])
            v_new[i] = v_end
            x_new[i] = x[i] + h * v_end

        @wp.kernel
        def add_loss(x: wp.array(dtype=vec), loss: wp.array(dtype=real)):
            i = wp.tid()
            wp.atomic_add(loss, 0, real(0.5) * wp.dot(x[i], x[i]))

        self.add_spring_forces, self.move, self.add_loss = add_spring_forces, move, add_loss
        for module in {kernel.module for kernel in (add_spring_forces, move, add_loss)}:
            module.load(wp.get_device("cpu"))

    def allocate(self) -> None:
        """Allocates the states of all steps with their gradients, as programs with Warp do."""
        p, wp = self.problem, self.wp
        n = len(p.x0)

        def array(values: Any, dtype: Any, requires_grad: bool = False) -> Any:
            return wp.array(values, dtype=dtype, device="cpu", requires_grad=requires_grad)

        def vectors() -> Any:
            return wp.zeros(n, dtype=self.vec, device="cpu", requires_grad=True)

        self.ends, self.l0 = array(p.ends, wp.vec2i), array(p.l0, self.real)
        self.k = array(p.k, self.real, True)
        self.gravity, self.inverse_masses = array(p.gravity, self.vec), array(p.inverse_masses, self.real)
        self.x = [array(p.x0, self.vec, True)] + [vectors() for _ in range(p.steps)]
        self.v = [array(p.v0, self.vec, True)] + [vectors() for _ in range(p.steps)]
        self.f = [vectors() for _ in range(p.steps)]
        self.loss = wp.zeros(1, dtype=self.real, device="cpu", requires_grad=True)

    def forward(self) -> None:
        wp, n = self.wp, len(self.problem.x0)
        self.loss.zero_()
        for step in range(self.problem.steps):
            x, v, f = self.x[step], self.v[step], self.f[step]
            f.zero_()
            wp.launch(self.add_spring_forces, len(self.problem.k), [x, self.ends, self.k, self.l0], [f], device="cpu")
            wp.launch(
                self.move, n, [x, v, f, self.gravity, self.inverse_masses, self.real(self.problem.h)],
                [self.x[step + 1], self.v[step + 1]], device="cpu",
            )
        wp.launch(self.add_loss, n, [self.x[-1]], [self.loss], device="cpu")

    def gradient(self) -> "tuple[float, float, Any]":
        begin = time.process_time()
        with self.wp.Tape() as tape:
            self.forward()
        middle = time.process_time()
        tape.backward(self.loss)
        k = self.k.grad.numpy().astype(float)
        tape.zero()
        return middle - begin, time.process_time() - middle, k


class WarpDouble(Warp):
    """Warp's tape on the CPU, in double."""

    precision = "double"


class WarpGraph(WarpDouble):
    """Warp's tape on the CPU, captured as two graphs: forward, backward."""

    def allocate(self) -> None:
        super().allocate()
        with self.wp.Tape() as tape:
            with self.wp.ScopedCapture(device="cpu") as forward:
                self.forward()
        with self.wp.ScopedCapture(device="cpu") as backward:
            tape.backward(self.loss)
        self.tape, self.graphs = tape, (forward.graph, backward.graph)

    def gradient(self) -> "tuple[float, float, Any]":
        begin = time.process_time()
        self.wp.capture_launch(self.graphs[0])
        middle = time.process_time()
        self.tape.zero()
        self.loss.grad.fill_(1)
        self.wp.capture_launch(self.graphs[1])
        k = self.k.grad.numpy().astype(float)
        return middle - begin, time.process_time() - middle, k


class Jax:
    """jax.value_and_grad through jax.lax.scan."""

    precision, checkpoint = "double", False

    def __init__(self, side: int, steps: int, mixed: bool) -> None:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_platforms", "cpu")
        self.jax, self.problem, self.version = jax, Problem(side, steps, mixed), jax.__version__
        p = self.problem
        i, j, l0 = jnp.asarray(p.ends[:, 0]), jnp.asarray(p.ends[:, 1]), jnp.asarray(p.l0)
        inverse_masses, gravity = jnp.asarray(p.inverse_masses[:, None]), jnp.asarray(p.gravity)
        x0, v0 = jnp.asarray(p.x0), jnp.asarray(p.v0)

        def loss(k: Any) -> Any:
            def step(state: Any, _: Any) -> Any:
                x, v = state
                d = x[j] - x[i]
                length = jnp.sqrt((d * d).sum(axis=1))
                force = (k * (length - l0) / length)[:, None] * d
                f = jnp.zeros_like(x).at[i].add(force).at[j].add(-force)
                v = v + p.h * (inverse_masses * f + gravity)
                return (x + p.h * v, v), None

            step = jax.checkpoint(step) if self.checkpoint else step
            (x, _), _ = jax.lax.scan(step, (x0, v0), None, length=p.steps)
            return 0.5 * (x * x).sum()

        self.k = jnp.asarray(p.k)
        self.forward = jax.jit(loss).lower(self.k).compile()
        self.both = jax.jit(jax.value_and_grad(loss)).lower(self.k).compile()

    def allocate(self) -> None:
        """Allocates what outlives a gradient: nothing."""

    def gradient(self) -> "tuple[float, float, Any]":
        begin = time.process_time()
        self.forward(self.k).block_until_ready()
        middle = time.process_time()
        _, k = self.both(self.k)
        k.block_until_ready()
        forward, total = middle - begin, time.process_time() - middle
        return forward, total - forward, np.asarray(k)


class JaxCheckpoint(Jax):
    """jax.value_and_grad through jax.lax.scan of a step that is evaluated again on the way back."""

    checkpoint = True


ROWS: "dict[str, Callable[[int, int, bool], Any]]" = {
    "hooke": Hooke,
    "hooke_model": HookeModel,
    "warp_float": Warp,
    "warp_double": WarpDouble,
    "warp_graph": WarpGraph,
    "jax": Jax,
    "jax_checkpoint": JaxCheckpoint,
    "differences": Differences,
    "hooke_implicit": HookeImplicit,
}


def resident(key: str) -> float:
    """Returns the resident set (VmRSS) or the largest one (VmHWM) of this process in MB; NaN outside of Linux."""
    try:
        with open("/proc/self/status") as file:
            return next(float(line.split()[1]) for line in file if line.startswith(key)) / 1024
    except (OSError, StopIteration):
        return float("nan")


def forget_largest_resident_set() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def work(pipe: Any, name: str, side: int, steps: int, mixed: bool) -> None:
    """Makes one row in a process: sends its facts, then (seconds forward, seconds backward) for each request."""
    try:
        row = ROWS[name](side, steps, mixed)
    except ImportError as problem:
        pipe.send(f"{name} is left out: {problem}")
        return
    forget_largest_resident_set()
    before = resident("VmRSS")
    row.allocate()
    _, _, k = row.gradient()
    memory = resident("VmHWM") - before
    facts = {"memory": memory, "k": k, "precision": row.precision, "version": row.version, "steps": row.problem.steps}
    if isinstance(row, Hooke) and k is not None:
        facts["difference"], facts["info"] = row.difference(), row.info
    pipe.send(facts)
    while pipe.recv():
        pipe.send(row.gradient()[:2])


def compare(side: int, options: argparse.Namespace) -> None:
    """Prints the table of one size."""
    context = multiprocessing.get_context("spawn")
    pipes, facts, processes = {}, {}, []
    for name in options.rows:
        pipe, other = context.Pipe()
        process = context.Process(target=work, args=(other, name, side, options.steps, options.mixed))
        process.start()
        other.close()
        processes.append(process)
        try:
            answer = pipe.recv()
        except EOFError:
            answer = f"{name} is left out: its process has ended"
        if isinstance(answer, str):
            print(answer, file=sys.stderr)
        else:
            pipes[name], facts[name] = pipe, answer
    seconds: "dict[str, list[tuple[float, float]]]" = {name: [] for name in pipes}
    for _ in range(options.rounds):
        for name, pipe in pipes.items():
            pipe.send(True)
            seconds[name].append(pipe.recv())
    for pipe in pipes.values():
        pipe.send(False)
    for process in processes:
        process.join()
    n = side * side
    springs = len(facts["hooke"]["k"])
    print(f"{side} x {side} vertices, {springs} springs, {options.steps} steps, {options.rounds} rounds{', mixed' if options.mixed else ''}")
    print(
        "| | precision | forward, ms a step | backward, ms a step | backward / forward | gradient, ms | over hooke | memory, MB "
        "| bytes a vertex and step | difference |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    reference = facts["hooke"]["k"]
    totals = np.array(seconds["hooke"]).sum(axis=1)
    for name, values in seconds.items():
        fact, times = facts[name], 1e3 * np.array(values)
        forward, backward = np.median(times, axis=0)
        total = np.median(times.sum(axis=1))
        ratio = np.median(times.sum(axis=1) / (1e3 * totals))
        difference = fact.get("difference")
        if difference is None and fact["k"] is not None:
            difference = np.linalg.norm(fact["k"] - reference) / np.linalg.norm(reference)
        print(
            f"| {name} {fact['version']}{', extrapolated' if fact['k'] is None else ''} | {fact['precision']} "
            f"| {forward / fact['steps']:.3f} | {backward / fact['steps']:.3f} "
            f"| {np.median(times[:, 1] / times[:, 0]):.2f} | {total:.4g} | {ratio:.3g} | {fact['memory']:.1f} "
            f"| {fact['memory'] * 2**20 / (n * fact['steps']):.0f} "
            f"| {'' if difference is None else f'{difference:.1e}'} |"
        )
    if "hooke_implicit" in facts:
        info = facts["hooke_implicit"]["info"]
        print(
            f"hooke_implicit: the way back through {info.steps} steps took {info.linear_iterations} linear iterations; "
            f"{info.indefinite} steps were not known to be at a minimum, {info.unsolved} linear systems were not solved"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description="The cost of a gradient by every stiffness: Hooke, Warp, JAX, differences.")
    parser.add_argument("--side", type=int, nargs="+", default=[41, 81])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mixed", action="store_true", help="number the vertices at random within every 64")
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS), help="the row hooke is always made")
    options = parser.parse_args()
    options.rows = ["hooke"] + [name for name in options.rows if name != "hooke"]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if hasattr(os, "getloadavg"):
        print(f"load of the machine before: {os.getloadavg()[0]:.2f}")
    for side in options.side:
        compare(side, options)
    if hasattr(os, "getloadavg"):
        print(f"load of the machine after: {os.getloadavg()[0]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
