"""Gradients: backward against central differences of the motion, tangent against backward, controls,
errors, threads, memory, and the functions of torch and jax."""

import concurrent.futures
import gc
import importlib.util
import subprocess
import sys
import threading
import time
import weakref

import hooke
import numpy as np
import pytest

STEPS = 12
FRAMES = [0, 5, 12]
INTEGRATORS = ["symplectic_euler", "rk4", "backward_euler", "bdf2"]
RANDOM = np.random.default_rng(7)


def exact(integrator):
    """The integrator with implicit steps that are solved to rounding: differences have no other digits."""
    method = getattr(hooke.integrators, integrator)
    if integrator in ("symplectic_euler", "rk4"):
        return method()
    return method(minimizer=hooke.minimizers.newton(tolerance=1e-13))


def make_scene(**options):
    scene = hooke.Scene(**{"step": 0.01, **options})
    springs = {"k": 40, "shear": True, "damping": 0.2}
    scene.add_body(hooke.shapes.grid(nx=4, ny=3), springs=springs, stretch=[1.1, 0.95, 1], mass=0.6)
    scene.add_pin({"indices": [0]}, motion=hooke.motions.oscillation(amplitude=[0.05, 0.1, 0.02], frequency=3))
    scene.add_pin({"indices": [3]})
    scene.add_force("gravity")
    scene.add_force(hooke.forces.drag(linear=0.01, quadratic=0.05))
    return scene


def make_sim(integrator="backward_euler", **options):
    sim = hooke.Sim(make_scene(**options), integrator=exact(integrator), threads=1)
    sim.v[...] = 0.3 * np.random.default_rng(1).standard_normal(sim.v.shape)
    return sim


WEIGHTS = {name: RANDOM.standard_normal((len(FRAMES), 12, 3)) for name in ("x", "v", "xx")}


def loss(x, v):
    return (WEIGHTS["x"] * x + 0.1 * WEIGHTS["v"] * v + 0.3 * WEIGHTS["xx"] * x**2).sum()


def loss_gradients(tape):
    return WEIGHTS["x"] + 0.6 * WEIGHTS["xx"] * tape.x, 0.1 * WEIGHTS["v"]


def moved(sim, **controls):
    """The loss of the steps that a simulation makes from here."""
    tape = hooke.record(sim, STEPS, frames=FRAMES, **controls)
    return loss(tape.x, tape.v)


def difference(function, size=1e-4):
    """Richardson's extrapolation of two central differences at 0."""
    def central(h):
        return (function(h) - function(-h)) / (2 * h)

    return (4 * central(size / 2) - central(size)) / 3


def check(found, function, size=1e-4):
    assert found == pytest.approx(difference(function, size), rel=2e-6, abs=1e-6)


# ---- Gradients against differences ---------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_gradients_are_those_of_differences(integrator):
    sim = make_sim(integrator)
    grads = hooke.record(sim, STEPS, frames=FRAMES).backward(*loss_gradients(recorded(integrator)))
    d = {name: RANDOM.standard_normal(shape) for name, shape in
         [("x0", (12, 3)), ("v0", (12, 3)), ("masses", 12), ("k", 29), ("l0", 29), ("damping", 29)]}

    def loss_after(change):
        def function(h):
            other = make_sim(integrator)
            change(other, h)
            return moved(other)
        return function

    def springs(name):
        def change(s, h):
            values = getattr(s.model.springs, name)
            s.state.set_springs(**{name: values * (1 + 0.1 * h * d[name])})
        return change

    def place(array, direction):
        def change(s, h):
            getattr(s, array)[...] += h * direction
        return change

    def masses(s, h):
        s.model.masses = s.model.masses * (1 + 0.1 * h * d["masses"])

    model = sim.model
    check((grads.x0 * d["x0"]).sum(), loss_after(place("x", d["x0"])))
    check((grads.v0 * d["v0"]).sum(), loss_after(place("v", d["v0"])))
    check((grads.masses * 0.1 * model.masses * d["masses"]).sum(), loss_after(masses))
    for name in ("k", "l0", "damping"):
        direction = 0.1 * getattr(model.springs, name) * d[name]
        check((getattr(grads.springs, name) * direction).sum(), loss_after(springs(name)))


def recorded(integrator):
    return hooke.record(make_sim(integrator), STEPS, frames=FRAMES)


@pytest.mark.parametrize("integrator", ["symplectic_euler", "backward_euler"])
def test_gradients_by_forces_and_motions_are_those_of_differences(integrator):
    tape = recorded(integrator)
    grads = tape.backward(*loss_gradients(tape))
    assert [sorted(force) for force in grads.forces] == [[], ["g"], ["linear", "quadratic"]]
    assert grads.motions[1] == {} and grads.motions[0]["amplitude"].shape == (3,)

    def gravity(h):
        sim = make_sim(integrator)
        sim.model.forces[1] = hooke.forces.gravity(g=9.81 + h)
        return moved(sim)

    def drag(h):
        sim = make_sim(integrator)
        sim.model.forces[2] = hooke.forces.drag(linear=0.01, quadratic=0.05 + h)
        return moved(sim)

    def motion(h):
        sim = make_sim(integrator)
        sim.model.set_motion(0, hooke.motions.oscillation(amplitude=[0.05, 0.1 + h, 0.02], frequency=3))
        return moved(sim)

    check(grads.forces[1]["g"], gravity, 1e-3)
    check(grads.forces[2]["quadratic"], drag)
    check(grads.motions[0]["amplitude"][1], motion)


def test_tables_and_arrays_of_forces_have_gradients():
    table = [[0, 0.4, 1, 0], [0.05, 0.5, 1.1, 0.1], [0.2, 0.5, 1.2, 0]]
    push = 0.1 * RANDOM.standard_normal((12, 3))

    def sim_of(dt=0.0, dp=0.0):
        sim, changed = make_sim(), np.array(table)
        changed[1, 2] += dt
        sim.model.add_force(hooke.forces.handle(select=[5], table=changed, k=12, damping=0.3))
        sim.model.add_force_array(push + dp)
        return sim

    tape = hooke.record(sim_of(), STEPS, frames=FRAMES)
    grads = tape.backward(*loss_gradients(tape))
    assert sorted(grads.forces[3]) == ["damping", "k", "table", "target"]
    assert np.isnan(grads.forces[3]["table"][:, 0]).all()
    check(grads.forces[3]["table"][1, 2], lambda h: moved(sim_of(dt=h)))
    d = RANDOM.standard_normal((12, 3))
    check((grads.forces[4] * d).sum(), lambda h: moved(sim_of(dp=h * d)))
    dx, dv = tape.tangent(forces={3: {"table": grads.forces[3]["table"]}, 4: d})
    gx, gv = loss_gradients(tape)
    norm = np.nansum(np.square(grads.forces[3]["table"]))
    assert (dx * gx + dv * gv).sum() == pytest.approx(norm + (grads.forces[4] * d).sum(), rel=1e-8)


@pytest.mark.parametrize("integrator", ["symplectic_euler", "backward_euler"])
def test_gradients_by_controls_are_those_of_differences(integrator):
    sim = make_sim(integrator)
    springs = sim.model.springs
    values = {name: getattr(springs, name) * (1 + 0.2 * RANDOM.random((STEPS, 29)))
              for name in ("k", "l0", "damping")}
    values["forces"] = 0.3 * RANDOM.standard_normal((STEPS, 12, 3))
    tape = hooke.record(sim, STEPS, frames=FRAMES, **values)
    grads = tape.backward(*loss_gradients(tape))
    assert not grads.springs.k.any() and not grads.forces[3].any()
    for name, array in values.items():
        d = 0.1 * RANDOM.standard_normal(array.shape) * array

        def function(h, name=name, d=d):
            return moved(make_sim(integrator), **{**values, name: values[name] + h * d})

        check((getattr(grads.controls, name) * d).sum(), function)
    again = tape.backward(*loss_gradients(tape))
    assert all(np.array_equal(a, b) for a, b in zip(grads.controls, again.controls))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_tangent_is_the_transpose_of_backward(integrator):
    tape = recorded(integrator)
    gx, gv = (RANDOM.standard_normal(tape.x.shape) for _ in range(2))
    grads = tape.backward(gx, gv)
    d = {"x0": grads.x0, "v0": grads.v0, "masses": grads.masses, "k": grads.springs.k, "l0": grads.springs.l0,
         "damping": grads.springs.damping, "pins": grads.pins}
    dx, dv = tape.tangent(
        **d, forces={1: grads.forces[1], 2: grads.forces[2]}, motions={0: grads.motions[0]})
    others = [*grads.forces[1].values(), *grads.forces[2].values(), *grads.motions[0].values()]
    norm = sum(np.square(part).sum() for part in [*d.values(), *others])
    assert (gx * dx + gv * dv).sum() == pytest.approx(norm, rel=1e-8)


def test_a_force_in_python_with_a_hessian_is_differentiated():
    def sim_of(stiffness=5.0):
        sim = make_sim()
        block = stiffness * np.eye(3)
        sim.model.add_force(
            lambda t, x, v: np.where(np.arange(12)[:, None] == 7, -stiffness * x, 0),
            energy=lambda t, x: 0.5 * stiffness * (x[7] ** 2).sum(),
            hessian=lambda t, x: ([7], [7], [block]))
        return sim

    d = RANDOM.standard_normal((12, 3))
    tape = hooke.record(sim_of(), STEPS, frames=FRAMES)
    grads = tape.backward(*loss_gradients(tape))

    def function(h):
        sim = sim_of()
        sim.x[...] += h * d
        return moved(sim)

    check((grads.x0 * d).sum(), function)


# ---- Recording -----------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_recorded_steps_are_those_of_step(integrator):
    sim, other = make_sim(integrator), make_sim(integrator)
    tape = hooke.record(sim, STEPS, frames=FRAMES)
    start = other.x.copy()
    other.step(5)
    assert np.array_equal(tape.x[0], start) and np.array_equal(tape.x[1], other.x)
    other.step(7)
    assert np.array_equal(tape.x[2], other.x) and np.array_equal(tape.v[2], other.v)
    assert np.array_equal(sim.x, other.x) and sim.time == other.time
    assert tape.converged and len(tape) == tape.steps == STEPS and tape.frames.tolist() == FRAMES
    sim.step(3), other.step(3)
    assert np.array_equal(sim.x, other.x)  # with its history


def test_without_frames_the_last_step_is_kept():
    sim = make_sim()
    tape = hooke.record(sim, 3)
    assert tape.x.shape == (12, 3) and np.array_equal(tape.x, sim.x)
    first = tape.backward(dL_dv=tape.v)
    assert np.array_equal(first.x0, tape.backward(np.zeros((12, 3)), tape.v).x0)
    assert tape.tangent(x0=np.ones((12, 3)))[0].shape == (12, 3)
    empty = hooke.record(sim, 0)
    assert np.array_equal(empty.backward(empty.x).x0, empty.x)


def test_states_that_are_not_kept_are_made_again():
    grads = []
    for memory in (1e9, 0):
        tape = hooke.record(make_sim("bdf2"), 60, memory=memory)
        grads.append(tape.backward(tape.x))
    assert grads[0].info.repeated == 0 < grads[1].info.repeated
    assert grads[0].info.steps == 60 and grads[0].info.linear_iterations >= 60
    assert np.array_equal(grads[0].springs.k, grads[1].springs.k)


def test_the_projected_hessian_changes_implicit_steps_alone():
    for integrator, same in [("symplectic_euler", True), ("backward_euler", False)]:
        tapes = [hooke.record(make_sim(integrator), 20, projected=projected) for projected in (False, True)]
        k = [tape.backward(tape.x).springs.k for tape in tapes]
        assert np.array_equal(*k) == same and np.allclose(*k, atol=0.1 * np.abs(k[0]).max())


def test_forces_of_controls_end_with_the_steps():
    sim, other = make_sim(), make_sim()
    forces = np.ones((STEPS, 12, 3))
    tape = hooke.record(sim, STEPS, forces=forces)
    assert [force.name for force in sim.model.forces] == ["springs", "gravity", "drag", "array"]
    other.state.assign(sim.state)
    tape.backward(tape.x)
    sim.step(5), other.step(5)
    assert np.array_equal(sim.x, other.x)
    array = sim.model.forces[3].array
    hooke.record(sim, STEPS, forces=forces)
    assert len(sim.model.forces) == 4 and sim.model.forces[3].array is array
    copied = sim.model.copy()
    assert copied.forces[3].array is not array


def test_a_tape_keeps_what_it_needs():
    tape = recorded("backward_euler")
    gc.collect()
    sim = weakref.ref(tape.sim)
    assert np.isfinite(tape.backward(tape.x).x0).all()
    del tape
    gc.collect()
    assert sim() is None
    controls = np.full((STEPS, 29), 40.0)
    tape = hooke.record(make_sim(), STEPS, k=controls)
    expected = tape.backward(tape.x)
    controls[...] = 0  # the tape has a copy
    assert np.array_equal(tape.backward(tape.x).controls.k, expected.controls.k)


# ---- Errors --------------------------------------------------------------------------------------


def test_wrong_arrays_are_refused():
    tape = hooke.record(make_sim(), 3, frames=[1, 3])
    for wrong, error, text in [
        (np.zeros((12, 3)), ValueError, r"dL_dx: expected the shape \(2, 12, 3\), got \(12, 3\)"),
        (np.zeros((2, 12, 3), complex), TypeError, "dL_dx: expected numbers, got an array of complex128"),
        ([["a"]], TypeError, "dL_dx: expected numbers"),
        (np.full((2, 12, 3), np.nan), ValueError, "dL_dx: holds numbers that are not finite"),
        (np.full((2, 12, 3), np.inf), ValueError, "dL_dx: holds numbers that are not finite"),
    ]:
        with pytest.raises(error, match=text):
            tape.backward(wrong)
    with pytest.raises(hooke.InvalidError, match="dL_dv: expected the shape"):
        tape.backward(dL_dv=1.0)
    with pytest.raises(hooke.InvalidError, match=r"masses: expected the shape \(12,\)"):
        tape.tangent(masses=np.ones(5))
    with pytest.raises(hooke.InvalidError, match=r"forces\[2\]: 'area' is not differentiable; linear, quadratic is"):
        tape.tangent(forces={2: {"area": 1.0}})
    with pytest.raises(hooke.InvalidError, match="not differentiable in this direction"):
        tape.tangent(forces={1: {"direction": [1, 0, 0]}})  # of a gravity without a direction
    with pytest.raises(hooke.InvalidError, match=r"forces\[1\].g: expected the shape \(\)"):
        tape.tangent(forces={1: {"g": [1, 2]}})
    with pytest.raises(hooke.InvalidError, match="motions: there is no number 7"):
        tape.tangent(motions={7: {}})
    with pytest.raises(TypeError, match=r"forces\[1\]: expected a dict"):
        tape.tangent(forces={1: 3.0})


def test_wrong_recordings_are_refused():
    sim = make_sim()
    for frames, error in [([3, 1], ValueError), ([0, 4], ValueError), ([1, 1], ValueError), ([-1], ValueError),
                          ([0.5], TypeError), ([], TypeError)]:
        with pytest.raises(error, match="frames: expected"):
            hooke.record(sim, 3, frames=frames)
    with pytest.raises(hooke.InvalidError, match=r"k: expected the shape \(4, 29\), got \(3, 29\)"):
        hooke.record(sim, 4, k=np.ones((3, 29)))
    with pytest.raises(hooke.InvalidError, match="l0: holds numbers that are not finite"):
        hooke.record(sim, 1, l0=np.full((1, 29), np.nan))
    with pytest.raises(hooke.InvalidError, match="-1 steps"):
        hooke.record(sim, -1)
    with pytest.raises(hooke.InvalidError, match="memory: nan"):
        hooke.record(sim, 1, memory=np.nan)
    with pytest.raises(hooke.InvalidError, match="accuracy 2"):
        hooke.record(sim, 1, accuracy=2)
    with pytest.raises(TypeError):
        hooke.record(sim, 1.5)
    with pytest.raises(TypeError, match="expected a hooke.Sim"):
        hooke.record(sim.model, 1)
    before = sim.x.copy()
    with pytest.raises(hooke.InvalidError):
        hooke.record(sim, 2, k=[[40.0] * 29, [-1.0] * 29])
    assert np.array_equal(sim.x, before) and sim.time == 0
    undamped = hooke.Scene(step=0.01)
    undamped.add_body(hooke.shapes.grid(nx=3, ny=3), springs={"k": 40}, mass=0.3)
    tape = hooke.record(hooke.Sim(undamped), 1)
    assert tape.backward(tape.x).springs.damping is None
    with pytest.raises(hooke.InvalidError, match="damping: the springs of the model have none"):
        tape.tangent(damping=np.ones(12))
    with pytest.raises(hooke.InvalidError, match="damping: the springs of the model have none"):
        hooke.record(hooke.Sim(undamped), 1, damping=np.ones((1, 12)))


def test_what_is_not_supported_is_refused_by_name():
    sim = make_sim()
    tape = hooke.record(sim, 3, k=np.full((3, 29), 40.0))
    with pytest.raises(hooke.UnsupportedError, match="controls"):
        tape.tangent(x0=np.ones((12, 3)))
    sim.model.add_force(lambda t, x, v: -v, name="brake")
    with pytest.raises(hooke.UnsupportedError, match="'brake' cannot be differentiated"):
        hooke.record(sim, 3)


@pytest.mark.parametrize("change", [
    lambda sim: sim.model.scale_stiffness(2.0), lambda sim: setattr(sim, "h", 0.005),
    lambda sim: sim.model.forces.append("wind"), lambda sim: sim.model.forces.__delitem__(1),
    lambda sim: setattr(sim.model, "masses", 0.1), lambda sim: sim.model.set_motion(0, None),
])
def test_a_tape_ends_when_its_model_or_step_changes(change):
    tape = hooke.record(make_sim(), 3)
    tape.sim.state.v[...] = 1  # states may change
    tape.backward(tape.x)
    change(tape.sim)
    for go in (lambda: tape.backward(tape.x), lambda: tape.tangent(x0=np.ones((12, 3)))):
        with pytest.raises(hooke.InvalidError, match="has changed since the tape was made"):
            go()


def test_an_exception_of_a_force_ends_recording_and_backward():
    fails = False

    def hessian(t, x):
        if fails:
            raise KeyError("on purpose")
        return [7], [7], [np.eye(3)]

    sim = make_sim()
    sim.model.add_force(lambda t, x, v: np.where(np.arange(12)[:, None] == 7, -x, 0),
                        energy=lambda t, x: 0.5 * (x[7] ** 2).sum(), hessian=hessian)
    tape = hooke.record(sim, 3)
    before, fails = sim.x.copy(), True
    with pytest.raises(KeyError, match="on purpose"):
        hooke.record(sim, 3)
    assert np.array_equal(sim.x, before)
    with pytest.raises(KeyError, match="on purpose"):
        tape.backward(tape.x)
    fails = False
    assert np.isfinite(tape.backward(tape.x).x0).all()


# ---- Threads and memory --------------------------------------------------------------------------


def make_large(n=40):
    scene = hooke.Scene(integrator="backward_euler", step=0.01)
    scene.add_body(hooke.shapes.grid(nx=n, ny=n), springs={"k": 100, "shear": True}, mass=0.3)
    scene.add_pin("top_left")
    scene.add_force("gravity")
    return scene


def test_tapes_in_threads_have_the_bits_of_one_after_the_other():
    model = hooke.Model(make_large(12), threads=1)
    sims = [hooke.Sim(model) for _ in range(4)]
    for q, sim in enumerate(sims):
        sim.v[:, 2] = 0.1 * q

    def gradient(sim):
        tape = hooke.record(sim, 20)
        return tape.backward(tape.x).springs.k

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(gradient, sims))
    for q, k in enumerate(found):
        alone = hooke.Sim(model)
        alone.v[:, 2] = 0.1 * q
        assert np.array_equal(gradient(alone), k)


def test_a_simulation_that_records_belongs_to_its_thread():
    sim = hooke.Sim(make_large(30), threads=1)
    other = hooke.Sim(sim.model)
    forces = np.zeros((100, 900, 3))
    tape = hooke.record(sim, 0, forces=forces[:0])  # adds the array
    done, refused = threading.Event(), set()

    def is_refused(call, *values, **options):
        try:
            call(*values, **options)
        except RuntimeError as error:
            assert "another thread is using this" in str(error)
            return True
        return False

    def make_steps():
        while not done.is_set():
            is_refused(hooke.record, sim, 100, forces=forces)

    thread = threading.Thread(target=make_steps)
    thread.start()
    deadline = time.monotonic() + 60
    while len(refused) < 3 and time.monotonic() < deadline:
        for name, call in enumerate([other.step, sim.state_info, lambda: tape.backward(tape.x)]):
            if is_refused(call):
                refused.add(name)
            time.sleep(0.001)  # hands the interpreter to the other thread
    done.set()
    thread.join()
    assert len(refused) == 3


def test_tapes_do_not_leak():
    import resource

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    model = hooke.Model(make_large(), threads=1)
    control = np.full((40, len(model.springs.k)), 100.0)

    def go():
        tape = hooke.record(hooke.Sim(model), 40, k=control)  # 10 MB and more
        tape.backward(tape.x)

    for _ in range(3):
        go()
    before = peak()
    for _ in range(15):
        go()
    assert peak() - before < 40_000  # kB


def test_removed_force_arrays_are_released():
    class Watched(np.ndarray):
        pass

    model = make_sim().model
    alive = []
    for _ in range(3):
        array = np.zeros((12, 3)).view(Watched)
        alive.append(weakref.ref(array))
        model.add_force_array(array)
        del array
    del model.forces[4]
    model.forces[4] = hooke.forces.gravity(g=1.0)
    gc.collect()
    assert [ref() is None for ref in alive] == [False, True, True]
    del model
    gc.collect()
    assert alive[0]() is None


# ---- Warnings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("iterations, error, warned", [(1, 0.01, True), (60, 1e-4, False)])
def test_steps_that_are_not_solved_are_warned_about(caplog, iterations, error, warned):
    minimizer = hooke.minimizers.local_global(iterations=iterations, tolerance=1e-12)
    sim = hooke.Sim(make_scene(), integrator=hooke.integrators.backward_euler(minimizer=minimizer))
    sim.v[...] = np.random.default_rng(1).standard_normal(sim.v.shape)
    tape = hooke.record(sim, STEPS)
    info = tape.backward(tape.x).info
    assert (info.relative_error > error) == warned
    assert ("the steps are not solved well enough for their derivatives" in caplog.text) == warned
    assert len(caplog.records) == warned


def test_linear_systems_that_are_not_solved_are_warned_about(caplog):
    scene = hooke.Scene(step=0.01)
    scene.add_body(hooke.shapes.grid(nx=34, ny=34), springs={"k": 40, "shear": True}, mass=0.6)
    scene.add_pin("top_left")
    scene.add_force("gravity")
    sim = hooke.Sim(scene, integrator=hooke.integrators.backward_euler(minimizer=hooke.minimizers.newton(linear="cg")))
    tape = hooke.record(sim, 2)
    assert tape.backward(tape.x).info.unsolved == 0
    tape.tangent(v0=np.ones_like(sim.v))
    assert not caplog.records
    too_accurate = hooke.record(sim, 2, accuracy=1e-18)
    assert too_accurate.backward(tape.x).info.unsolved == 2
    too_accurate.tangent(v0=np.ones_like(sim.v))
    assert [record.message[:26] for record in caplog.records] == ["2 of 2 linear systems of d"] * 2


# ---- torch and jax -------------------------------------------------------------------------------


def without(package):
    """What `import hooke.torch` or `import hooke.jax` prints where that package is not installed."""
    code = f"import sys\nsys.modules['{package}'] = None\ntry:\n    import hooke.{package}\n" \
           "except ImportError as error:\n    print(error)"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("package", ["torch", "jax"])
def test_a_package_that_is_missing_is_named(package):
    assert f"hooke.{package} needs" in without(package)
    assert f"hooke.{package}" not in sys.modules or importlib.util.find_spec(package)


def inputs_of(sim):
    springs = sim.model.springs
    return {"x0": sim.x.copy(), "v0": sim.v.copy(), "masses": sim.model.masses * 1.1, "k": springs.k * 1.2,
            "l0": np.tile(springs.l0, (STEPS, 1)), "damping": np.asarray(0.3),
            "forces": 0.1 * np.ones((STEPS, 12, 3))}


def expected_gradients(values):
    """The loss and its gradients, by a tape."""
    sim = make_sim()
    sim.model.masses = values["masses"]
    sim.x[...], sim.v[...] = values["x0"], values["v0"]
    sim.state.set_springs(k=values["k"], damping=values["damping"])
    tape = hooke.record(sim, STEPS, frames=FRAMES, l0=values["l0"], forces=values["forces"])
    grads = tape.backward(*loss_gradients(tape))
    return loss(tape.x, tape.v), {
        "x0": grads.x0, "v0": grads.v0, "masses": grads.masses, "k": grads.springs.k, "l0": grads.controls.l0,
        "damping": grads.springs.damping.sum(), "forces": grads.controls.forces}


def test_torch_gradients_are_those_of_the_tape():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from hooke.torch import simulate

    sim = make_sim()
    values = inputs_of(sim)
    expected, gradients = expected_gradients(values)
    weights = {name: torch.from_numpy(array) for name, array in WEIGHTS.items()}
    for _ in range(2):  # each call begins at the start
        tensors = {name: torch.tensor(value, requires_grad=True) for name, value in values.items()}
        x, v = simulate(sim, STEPS, frames=FRAMES, **tensors)
        L = (weights["x"] * x + 0.1 * weights["v"] * v + 0.3 * weights["xx"] * x**2).sum()
        L.backward()
        assert x.dtype == torch.float64 and L.item() == pytest.approx(expected, rel=1e-12)
        for name, gradient in gradients.items():
            assert np.allclose(tensors[name].grad.numpy(), gradient, rtol=1e-9, atol=1e-12), name


def test_torch_passes_gradcheck_and_casts():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from hooke.torch import simulate

    sim = make_sim()
    k = torch.tensor(sim.model.springs.k, requires_grad=True)
    v0 = torch.tensor(sim.v, requires_grad=True)
    assert torch.autograd.gradcheck(lambda k, v0: simulate(sim, 5, k=k, v0=v0), (k, v0), eps=1e-5, atol=1e-5)
    k32 = k.detach().float().requires_grad_()
    x, _ = simulate(sim, 5, k=k32)
    y, _ = simulate(sim, 5, k=2 * k32)  # two calls in one loss
    (x.sum() + y.sum()).backward()
    assert x.dtype == torch.float64 and k32.grad.dtype == torch.float32 and k32.grad.abs().sum() > 0
    start = hooke.State(sim.model)
    start.x[:, 2] += 1
    assert simulate(sim, 0, start=start)[0][0, 2].item() == start.x[0, 2]
    with pytest.raises(hooke.InvalidError, match=r"k: expected the shape \(\) or \(29,\) or \(5, 29\), got \(4,\)"):
        simulate(sim, 5, k=torch.ones(4))
    with pytest.raises(TypeError, match="complex"):
        simulate(sim, 5, k=torch.ones(29, dtype=torch.complex128))


def test_jax_gradients_are_those_of_the_tape():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from hooke.jax import simulate

    jax.config.update("jax_enable_x64", True)
    sim = make_sim()
    values = inputs_of(sim)
    expected, gradients = expected_gradients(values)

    def loss_of(inputs):
        return loss(*simulate(sim, STEPS, frames=FRAMES, **inputs))

    for function in (jax.value_and_grad(loss_of), jax.jit(jax.value_and_grad(loss_of))):
        for _ in range(2):
            L, found = function(values)
            assert float(L) == pytest.approx(expected, rel=1e-12)
            for name, gradient in gradients.items():
                assert np.allclose(np.asarray(found[name]), gradient, rtol=1e-9, atol=1e-12), name
    with pytest.raises(hooke.InvalidError, match="k: expected the shape"):
        simulate(sim, 5, k=np.ones(4))


def test_jax_maps_and_jits():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from hooke.jax import simulate

    jax.config.update("jax_enable_x64", True)
    sim = make_sim()
    k = np.outer([1.0, 1.5], sim.model.springs.k)

    def height(k):
        return simulate(sim, 5, k=k)[0][:, 1].sum()

    each = [jax.grad(height)(row) for row in k]
    assert np.allclose(jax.jit(jax.vmap(jax.grad(height)))(k), each, rtol=1e-12)
    assert np.isfinite(jax.jit(height)(k[0]))
