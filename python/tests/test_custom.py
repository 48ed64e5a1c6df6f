"""Forces by functions and arrays, masses that are set, and springs of a state."""

import copy
import gc
import pickle
import sys
import threading
import weakref

import hooke
import numpy as np
import pytest
from conftest import make_cloth, make_pendulum

TIE = (7, 40, 50.0)  # a spring without length between two vertices that nothing else connects: i, j, N/m


def implicit(minimizer):
    return {"type": "backward_euler", "minimizer": {"tolerance": 1e-10, **minimizer}}


INTEGRATORS = [
    "verlet",
    implicit({"type": "newton", "linear": "ldlt"}),
    implicit({"type": "newton", "linear": {"type": "pcg", "preconditioner": "multigrid"}}),
    implicit({"type": "local_global", "iterations": 100000}),
    implicit({"type": "lbfgs", "iterations": 100000}),
    {"type": "bdf2", "minimizer": {"type": "newton", "tolerance": 1e-10}},
]


def taut_cloth(integrator="verlet", table=(), **mass):
    """A cloth under tension, so that each step has one minimum."""
    scene = hooke.Scene(integrator=integrator, step=1e-3)
    springs = {"k": 50, "shear": True, "rest_scale": 0.5, "table": list(table)}
    scene.add_body(hooke.shapes.grid(nx=9, ny=9), springs=springs, **(mass or {"mass": 0.3}))
    scene.add_pin("corners")
    scene.add_force("gravity")
    return scene


def tie_energy(t, x):
    i, j, k = TIE
    return 0.5 * k * np.sum((x[i] - x[j]) ** 2)


def tie_force(t, x, v):
    i, j, k = TIE
    f = np.zeros_like(x)
    f[i] = k * (x[j] - x[i])
    f[j] = -f[i]
    return f


def pair_blocks(value):
    i, j, _ = TIE
    B = value * np.eye(3)
    return [i, i, j, j], [i, j, i, j], np.array([B, -B, -B, B])


def tie_hessian(t, x):
    return pair_blocks(TIE[2])


TIE_FUNCTIONS = {"energy": tie_energy, "hessian": tie_hessian}


def no_force(t, x, v):
    return None


class Problem(Exception):
    """What functions of the tests raise."""


# ---- Forces by functions -------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=str)
def test_a_force_by_functions_moves_as_a_spring_of_the_scene(integrator):
    sim = hooke.Sim(taut_cloth(integrator))
    expected = hooke.Sim(taut_cloth(integrator, [[*TIE, 0, 0]]))
    assert sim.model.add_force(tie_force, name="tie", **TIE_FUNCTIONS) == 2
    assert [force.name for force in sim.model.forces] == ["springs", "gravity", "tie"]
    sim.step(20), expected.step(20)
    assert np.abs(sim.x - expected.x).max() < 1e-8
    assert sim.state_info().total == pytest.approx(expected.state_info().total, abs=1e-6)
    assert sim.state_info().other == pytest.approx(tie_energy(0, sim.x)) and sim.state_info().other > 0.1
    assert sim.forces() == pytest.approx(expected.forces(), abs=1e-5)
    assert sim.energy_gradient() == pytest.approx(expected.energy_gradient(), abs=1e-5)


def test_the_stiffness_matrix_has_the_blocks_of_functions():
    sparse = pytest.importorskip("scipy.sparse")
    sim = hooke.Sim(taut_cloth())
    before = sim.stiffness()
    sim.model.add_force(tie_force, **TIE_FUNCTIONS)
    difference = (sim.stiffness() - before).toarray()
    expected = np.zeros_like(difference)
    for i, j, block in zip(*tie_hessian(0, None)):
        expected[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] -= block
    assert sparse.issparse(before) and difference == pytest.approx(expected)


@pytest.mark.parametrize("with_energy", [False, True])
def test_damping_by_functions_is_implicit(with_energy):
    c, (i, j, _) = 20.0, TIE

    def force(t, x, v):
        f = tie_force(t, x, v) if with_energy else np.zeros_like(x)
        if v is not None:
            f[i] += c * (v[j] - v[i])
            f[j] += c * (v[i] - v[j])
        return f

    sim = hooke.Sim(taut_cloth(INTEGRATORS[1]), h=0.02)
    sim.model.add_force(force, damping=lambda t, x, v: pair_blocks(c), **(TIE_FUNCTIONS if with_energy else {}))
    free = np.setdiff1d(np.arange(len(sim.x)), sim.model.pins)
    for _ in range(3):
        v = sim.v.copy()
        sim.step()
        off = sim.model.masses[:, None] * (sim.v - v) / sim.h - sim.forces()
        assert np.abs(off[free]).max() < 1e-5


def test_a_force_with_an_energy_gets_v_only_if_it_uses_it():
    seen = []
    sim = hooke.Sim(taut_cloth())
    sim.model.add_force(lambda t, x, v: seen.append(v), energy=lambda t, x: 0.0)
    sim.model.add_force(lambda t, x, v: seen.append(v), energy=lambda t, x: 0.0, uses_velocity=True)
    sim.forces()
    assert seen[0] is None and seen[1].shape == (81, 3)


def test_a_filter_keeps_vertices_above_the_floor():
    floor = -0.02

    def keep_above(t, x, to):
        below = to[:, 1] < floor
        to[below] = x[below]
        return bool(below.any())

    # Nothing but the filter holds the vertices there, so that no number of iterations meets the tolerance.
    for integrator in ("verlet", implicit({"type": "newton", "iterations": 5})):
        free, kept = (hooke.Sim(make_cloth(), integrator=integrator, h=2e-3) for _ in range(2))
        kept.model.add_force(no_force, filter=keep_above)
        free.step(60), kept.step(60)
        assert free.x[:, 1].min() < floor - 0.001 <= floor <= kept.x[:, 1].min() < floor + 0.01


def test_hooks_are_called_around_steps_and_iterates():
    calls = []
    sim = hooke.Sim(taut_cloth(INTEGRATORS[1]))
    sim.model.add_force(
        no_force,
        begin_step=lambda t, x, v, h: calls.append(("begin", t, x, v, h)),
        end_step=lambda t, x, v, h: calls.append(("end", t, x, v, h)),
        begin_iterate=lambda t, x: calls.append(("iterate", t, x)),
    )
    before = sim.x.copy()
    sim.step()
    names = [call[0] for call in calls]
    assert names[0] == "begin" and names[-1] == "end" and set(names[1:-1]) == {"iterate"}
    assert calls[0][1] == 0 and calls[0][4] == sim.h and calls[-1][1] == sim.time
    assert np.array_equal(calls[0][2], before) and np.array_equal(calls[-1][2], sim.x)
    assert np.array_equal(calls[-1][3], sim.v)


class Pusher:
    """A force that counts steps and pushes by their number."""

    def __init__(self):
        self.steps = 0

    def force(self, t, x, v):
        return np.full(x.shape, [0, 1e-3 * self.steps, 0])

    def end_step(self, t, x, v, h):
        self.steps += 1

    def save(self):
        return self.steps.to_bytes(8, "little")

    def load(self, data):
        self.steps = int.from_bytes(data, "little")

    def functions(self):
        return {"force": self.force, "end_step": self.end_step, "save": self.save, "load": self.load}


def test_memory_of_a_force_goes_with_its_state(tmp_path):
    sim = hooke.Sim(taut_cloth(INTEGRATORS[1]))
    sim.model.add_force(**Pusher().functions())
    sim.step(5)
    sim.state.save(tmp_path / "state")
    copied, packed = sim.state.copy(), pickle.loads(pickle.dumps(sim.state))
    others = [sim.copy(), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    sim.step(5)
    x, start = sim.x.copy(), hooke.State(sim.model)
    for other in others:
        other.step(5)
        assert np.array_equal(other.x, x)
    start.load(tmp_path / "state")
    for state in (copied, packed, start):
        sim.state = state
        sim.step(5)
        assert np.array_equal(sim.x, x)
    sim.state = hooke.State(sim.model)
    sim.step(10)
    assert np.array_equal(sim.x, x)  # from its beginning


def test_memory_that_is_not_bytes_is_refused():
    sim = hooke.Sim(taut_cloth(INTEGRATORS[1]))
    sim.model.add_force(no_force, save=lambda: 7, load=lambda data: None)
    with pytest.raises(TypeError, match=r"save\(\) of force 'no_force': expected bytes, got 7"):
        sim.step()
    with pytest.raises(hooke.InvalidError, match="needs the function load, too"):
        sim.model.add_force(no_force, save=bytes)


def test_positions_of_a_call_are_read_only_and_may_be_kept():
    kept = []

    def force(t, x, v):
        kept.append(x[3:5])
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            v[0] = 0

    sim = hooke.Sim(make_cloth())
    sim.model.add_force(force)
    start = sim.x[3:5].copy()
    sim.step(3)
    del sim
    gc.collect()
    assert np.array_equal(kept[0], start)


# ---- Exceptions ----------------------------------------------------------------------------------

FUNCTIONS = (
    "force", "energy", "hessian", "damping", "filter", "begin_step", "end_step", "begin_iterate", "save", "load",
)


class Failing:
    """A force that does nothing, one function of which fails while `fails` is set."""

    def __init__(self, name):
        self.name, self.fails, self.failed = name, False, 0

    def functions(self):
        answers = {"energy": 0.0, "filter": False, "save": b"abc"}

        def function(name):
            def called(*args):
                if name == self.name and self.fails:
                    self.failed += 1
                    raise Problem(name)
                return answers.get(name)

            return called

        return {name: function(name) for name in FUNCTIONS}


@pytest.mark.parametrize("integrator", ["verlet", INTEGRATORS[1], INTEGRATORS[3], INTEGRATORS[5]], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_exception_of_a_function_is_that_of_the_step(name, integrator):
    sims = [hooke.Sim(taut_cloth(integrator)) for _ in range(2)]
    failing = Failing(name)
    sims[0].model.add_force(**failing.functions())
    sims[1].model.add_force(**Failing("nothing").functions())
    for sim in sims:
        sim.step(5)
    before, time = sims[0].x.copy(), sims[0].time
    failing.fails = True
    try:
        sims[0].step(3)
    except Problem as problem:
        assert str(problem) == name and failing.failed == 1  # nothing is called any more
        assert sims[0].time == time and np.array_equal(sims[0].x, before)
    else:
        explicit = integrator == "verlet"
        assert failing.failed == 0 and (explicit or name in ("hessian", "begin_iterate"))  # not needed
        sims[1].step(3)
    failing.fails = False
    for sim in sims:
        sim.step(5)
    assert np.array_equal(sims[0].x, sims[1].x) and np.array_equal(sims[0].v, sims[1].v)
    assert sims[0].time == sims[1].time


def test_an_exception_ends_an_adaptive_step():
    calls = []

    def force(t, x, v):
        calls.append(t)
        if len(calls) > 40:
            raise Problem

    sim = hooke.Sim(make_cloth(tolerance=1e-6), h=0.01)
    sim.model.add_force(force)
    with pytest.raises(Problem):
        sim.step(1000)
    before, time = sim.x.copy(), sim.time
    assert len(calls) == 41
    with pytest.raises(Problem):
        sim.step()
    assert np.array_equal(sim.x, before) and sim.time == time
    del sim.model.forces[2]
    assert sim.step() and sim.time == pytest.approx(time + 0.01)


def test_exceptions_outside_of_steps_are_raised_too():
    sim = hooke.Sim(taut_cloth(INTEGRATORS[1]))
    calls = {"state_info": "energy", "forces": "force", "reactions": "force", "energy_gradient": "force",
             "stiffness": "hessian", "trace_step": "energy", "page": "energy"}
    for call, name in calls.items():
        failing = Failing(name)
        index = sim.model.add_force(**failing.functions())
        failing.fails = True
        with pytest.raises(Problem, match=name):
            getattr(sim, call)()
        del sim.model.forces[index]
        sim.step()
    failing = Failing("hessian")
    sim.model.add_force(**failing.functions())
    failing.fails = True
    with pytest.raises(Problem):
        hooke.Sim(sim.model, integrator="verlet").stable_step()
    failing.fails = False
    assert hooke.Sim(sim.model, integrator="verlet").stable_step() > 0


WRONG = {
    "shape": ({"force": lambda t, x, v: x[:3]}, "force.. of force 'wrong': expected the shape .81, 3., got .3, 3."),
    "kind": ({"force": lambda t, x, v: "up"}, "expected numbers"),
    "nan": ({"force": lambda t, x, v: x * np.nan}, "not finite"),
    "energy": ({"energy": lambda t, x: None}, "energy.. of force 'wrong': expected a number, got None"),
    "nan energy": ({"energy": lambda t, x: np.nan}, "is not a number"),
    "no tuple": ({"hessian": lambda t, x: np.eye(3)}, r"hessian.. of force 'wrong': expected \(i, j, blocks\)"),
    "out of range": ({"hessian": lambda t, x: ([0], [81], np.zeros((1, 3, 3)))}, "j: there is no vertex 81"),
    "negative": ({"hessian": lambda t, x: ([-1], [0], np.zeros((1, 3, 3)))}, "i: there is no vertex -1"),
    "lengths": ({"hessian": lambda t, x: ([1], [], np.zeros((1, 3, 3)))}, "i has 1 entries, j has 0"),
    "blocks": ({"hessian": lambda t, x: ([1], [1], np.zeros((3, 3)))}, r"blocks: expected the shape \(1, 3, 3\)"),
    "damping": ({"damping": lambda t, x, v: ([1], [99], np.zeros((1, 3, 3)))}, "damping.. .*no vertex 99"),
    "filter": ({"filter": lambda t, x, to: None}, "filter.. of force 'wrong': expected True or False, got None"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_answers_of_functions_are_refused(case):
    functions, message = WRONG[case]
    sim = hooke.Sim(taut_cloth(INTEGRATORS[1]))
    base = {"force": no_force, "energy": lambda t, x: 0.0}
    sim.model.add_force(**{**base, **functions}, name="wrong")
    with pytest.raises((hooke.InvalidError, TypeError), match=message):
        sim.step()
    assert sim.time == 0


def test_wrong_forces_are_refused():
    model = hooke.Model(make_cloth())
    with pytest.raises(TypeError, match="force: expected a function"):
        model.add_force(3)
    with pytest.raises(TypeError, match="energy: expected a function, got 3"):
        model.add_force(no_force, energy=3)
    with pytest.raises(TypeError, match="energy: belongs to a force that is a function"):
        model.add_force("gravity", energy=tie_energy)
    with pytest.raises(hooke.InvalidError, match="a force with a Hessian needs the function energy"):
        model.add_force(no_force, hessian=tie_hessian)
    with pytest.raises(TypeError, match="cannot replace"):
        model.forces[1] = hooke.CustomForce(no_force)
    assert len(model.forces) == 2
    assert model.add_force("drag") == 2 and model.forces[2].name == "drag"
    with hooke.Run(make_cloth()) as run, pytest.raises(hooke.UnsupportedError, match="use a Sim"):
        run.model.add_force(no_force)


def test_a_model_cannot_be_changed_from_within_a_step():
    sim = hooke.Sim(make_cloth())

    def force(t, x, v):
        with pytest.raises(RuntimeError):
            del sim.model.forces[2]
        sim.step()

    sim.model.add_force(force)
    with pytest.raises(RuntimeError, match="another thread is using this simulation"):
        sim.step()
    del sim.model.forces[2]
    assert sim.step()


def test_functions_are_called_from_threads():
    model = hooke.Model(make_cloth())
    model.add_force(lambda t, x, v: 0.01 * np.sin(x))
    sims = [hooke.Sim(model) for _ in range(3)]
    sims[0].step(50)
    threads = [threading.Thread(target=sim.step, args=(50,)) for sim in sims[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(sims[0].x, sims[1].x) and np.array_equal(sims[0].x, sims[2].x)


# ---- Lifetimes -----------------------------------------------------------------------------------


def test_functions_are_released_with_the_force():
    class Force:
        def __call__(self, t, x, v):
            return None

    for way in ("remove", "drop the model", "refuse"):
        model, force = hooke.Model(make_cloth()), Force()
        alive = weakref.ref(force)
        if way == "refuse":
            with pytest.raises(hooke.InvalidError):
                model.add_force(force, hessian=tie_hessian)
        else:
            model.add_force(force)
        del force
        assert alive() is None or way != "refuse"
        if way == "remove":
            del model.forces[2]
        elif way == "drop the model":
            assert alive() is not None
            hooke.Sim(model).step()
            del model
        assert alive() is None, way


def test_a_function_that_holds_its_simulation_is_collected():
    sim = hooke.Sim(make_cloth())
    sim.model.add_force(lambda t, x, v: 0 * sim.v)
    sim.step()
    alive = weakref.ref(sim)
    del sim
    gc.collect()
    assert alive() is None


def test_calls_and_exceptions_do_not_leak():
    def work(count):
        for _ in range(count):
            failing = Failing("force")
            sim = hooke.Sim(taut_cloth(INTEGRATORS[1]))
            sim.model.add_force(**failing.functions())
            sim.model.add_force(tie_force, **TIE_FUNCTIONS)
            sim.step(2)
            failing.fails = True
            for call in (sim.step, sim.forces):
                with pytest.raises(Problem):
                    call()
        gc.collect()
        return sys.getallocatedblocks()

    count = 30
    blocks = [work(count) for _ in range(12)]
    assert min(np.diff(blocks)) < count  # less than one block each; caches fill up in the first rounds


# ---- Force arrays --------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS[:2], ids=str)
def test_a_force_array_is_read_in_each_step(integrator):
    array, load = np.zeros((81, 3)), [0.1, 0.2, -0.3]
    sim, expected = hooke.Sim(taut_cloth(integrator)), hooke.Sim(taut_cloth(integrator))
    assert sim.model.add_force_array(array) == 2
    sim.step(5), expected.step(5)
    assert np.array_equal(sim.x, expected.x)
    array[40] = load
    expected.model.add_force(hooke.forces.point_load(select=[40], force=load))
    sim.step(5), expected.step(5)
    assert sim.x == pytest.approx(expected.x, abs=1e-9) and sim.x[40, 2] < -1e-5
    assert sim.model.forces[2].array is array and repr(sim.model.forces) == "<hooke forces: springs, gravity, array>"
    alive = weakref.ref(array)
    del array
    gc.collect()
    sim.step()  # the model keeps it
    del sim.model.forces[2]
    assert alive() is None


def test_wrong_force_arrays_are_refused():
    model = hooke.Model(make_cloth())
    for wrong in (np.zeros((81, 3), np.float32), [[0.0] * 3] * 81, np.zeros((81, 3), ">f8")):
        with pytest.raises(TypeError, match="array: expected a numpy array of float64"):
            model.add_force_array(wrong)
    for wrong, message in ((np.zeros((80, 3)), "shape"), (np.zeros((3, 81)).T, "C-contiguous")):
        with pytest.raises(hooke.InvalidError, match=message):
            model.add_force_array(wrong)
    assert len(model.forces) == 2


# ---- Masses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS[:2], ids=str)
def test_masses_are_set_between_steps(integrator):
    masses = np.linspace(0.01, 0.02, 81)
    sim = hooke.Sim(taut_cloth(integrator))
    view = sim.model.masses
    sim.step(3)
    sim.model.masses = masses
    assert np.array_equal(view, masses) and sim.model.info["mass"] == pytest.approx(masses.sum())
    expected = hooke.Sim(taut_cloth(integrator, masses=masses))
    expected.state.x, expected.state.v, expected.state.time = sim.x, sim.v, sim.time
    sim.step(5), expected.step(5)
    assert np.array_equal(sim.x, expected.x)
    sim.model.masses = 0.5
    assert (view == 0.5).all()
    for wrong, message in ((masses[1:], "shape"), (-masses, "vertex 0: mass = -0.01"), (np.nan, "not finite")):
        with pytest.raises(hooke.InvalidError, match=message):
            sim.model.masses = wrong
    assert (view == 0.5).all()


# ---- Springs of a state --------------------------------------------------------------------------


def test_a_state_with_other_springs_moves_as_another_model():
    edges = np.array([[2, 1], [0, 1], [3, 2]])  # neither sorted, nor the lower vertex first
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0.1, 0], [3, 0, 0]])

    def sim_of(k, l0):
        scene = hooke.Scene.from_arrays(vertices, edges, masses=1.0, k=k, l0=l0, damping=0.1, pins=[0])
        return hooke.Sim(scene, integrator="verlet", h=1e-3)

    k, l0 = np.array([10.0, 20.0, 30.0]), np.array([0.9, 1.0, 1.1])
    sim, expected = sim_of(5.0, 1.0), sim_of(k, l0)
    place = sim.model.find_springs(edges)
    own = sim.state.springs.k.copy()
    own[place] = k
    lengths = np.empty(3)
    lengths[place] = l0
    sim.state.set_springs(k=own, l0=lengths)
    assert np.array_equal(sim.state.springs.k[place], k) and np.array_equal(sim.state.springs.l0[place], l0)
    assert (sim.model.springs.k == 5).all()  # as before
    sim.step(100), expected.step(100)
    assert np.array_equal(sim.x, expected.x)
    sim.state.reset_springs()
    assert (sim.state.springs.k == 5).all()


def test_springs_of_a_state_are_copies_that_cannot_be_written():
    state = hooke.State(hooke.Model(make_cloth()))
    springs = state.springs
    assert springs.damping is None and not springs.broken.any()
    assert springs.indices is hooke.Springs._make(springs).indices and len(springs.k) == len(springs.broken)
    for array in (springs.k, springs.l0, springs.broken):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    state.set_springs(k=7.0)
    state.set_springs(k=8.0)
    assert (springs.k == 50).all() and (state.springs.k == 8).all()


def test_broken_springs_pull_at_nothing():
    sim = hooke.Sim(make_pendulum())
    sim.state.set_springs(broken=[True])
    assert sim.state.springs.broken.tolist() == [True] and sim.state_info().spring == 0
    start = sim.x[1].copy()
    sim.step(100)
    assert sim.x[1] - start == pytest.approx([0, -0.5 * 9.81 * sim.time**2, 0], abs=1e-3)
    sim.state.set_springs(broken=False)
    assert sim.state_info().spring > 0


def test_wrong_springs_of_a_state_are_refused():
    state = hooke.State(hooke.Model(make_cloth()))
    count = len(state.springs.k)
    wrong = [({"k": np.ones(3)}, rf"k: expected the shape \({count},\)"), ({"l0": -1.0}, "spring 0: l0 = -1"),
             ({"k": np.nan}, "k: holds numbers"), ({"broken": np.full(count, 2)}, "broken: expected a mask"),
             ({"damping": 1.0}, "not damped")]
    for springs, message in wrong:
        with pytest.raises(hooke.InvalidError, match=message):
            state.set_springs(**springs)
    assert (state.springs.k == 50).all()


def test_states_with_springs_are_copied_pickled_and_saved(tmp_path):
    scene = make_cloth()
    sim = hooke.Sim(scene)
    count = len(sim.model.springs.k)
    sim.state.set_springs(k=np.linspace(20, 60, count), broken=np.arange(count) % 7 == 0)
    sim.step(5)
    sim.state.save(tmp_path / "state")
    packed = pickle.loads(pickle.dumps(sim.state))
    with pytest.raises(hooke.InvalidError, match="once a simulation uses it"):
        packed.springs
    loaded = hooke.State(sim.model)
    loaded.load(tmp_path / "state")
    others = [hooke.Sim(scene, state=state) for state in (packed, loaded, sim.state.copy())]
    others += [sim.copy(), pickle.loads(pickle.dumps(sim))]
    sim.step(20)
    for other in others:
        assert np.array_equal(other.state.springs.k, sim.state.springs.k)
        assert np.array_equal(other.state.springs.broken, sim.state.springs.broken)
        other.step(20)
        assert np.array_equal(other.x, sim.x)


# ---- Copies --------------------------------------------------------------------------------------


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled, hooke.Model.copy])
def test_copies_of_models_have_forces_of_python_and_masses(again):
    model, array = hooke.Model(taut_cloth()), np.full((81, 3), 0.01)
    model.add_force(tie_force, name="tie", **TIE_FUNCTIONS)
    model.add_force_array(array)
    model.masses = np.linspace(0.01, 0.02, 81)
    other = again(model)
    assert [force.name for force in other.forces] == [force.name for force in model.forces]
    sims = [hooke.Sim(m) for m in (model, other)]
    for sim in sims:
        sim.step(20)
    assert np.array_equal(sims[0].x, sims[1].x)
    array[...] = 0
    assert (other.forces[3].array[0, 0] == 0) == (again in (copy.copy, hooke.Model.copy))


class HoldsItsModel:
    """A force that refers to the model that it is in."""

    def __init__(self, model):
        self.model = model

    def force(self, t, x, v):
        return 0.01 * self.model.masses[:, None] * v


def test_a_force_that_holds_its_model_is_copied_and_not_pickled():
    model = hooke.Model(make_cloth())
    model.add_force(HoldsItsModel(model).force)
    with pytest.raises(hooke.InvalidError, match="cannot be pickled") as caught:
        pickle.dumps(model)
    assert len(str(caught.value)) < 500
    sims = [hooke.Sim(m) for m in (model, model.copy(), copy.deepcopy(model))]
    for sim in sims:
        sim.step(5)
    assert np.array_equal(sims[0].x, sims[1].x) and np.array_equal(sims[0].x, sims[2].x)


def test_what_cannot_be_pickled_says_so():
    model = hooke.Model(make_cloth())
    model.add_force(no_force, end_step=lambda t, x, v, h: None, name="local")
    for value in (model, hooke.Sim(model)):
        with pytest.raises(hooke.InvalidError, match="force 'local', and so its model, cannot be pickled: its function end_step"):
            pickle.dumps(value)
    pickle.dumps(hooke.Sim(model).state)
    assert hooke.Sim(copy.deepcopy(model)).step() and hooke.Sim(model.copy()).step()


def test_a_hessian_is_asked_for_as_true_or_projected():
    """E = 1/4 k (|d|^2 - r^2)^2 / r^2 is concave at d = 0, where the step starts: the projected Hessian is asked for."""
    asked = []
    k, r = 500.0, 0.1

    def hessian(t, x, projected):
        asked.append(projected)
        d = x[24] - center
        across = d @ d - r**2
        H = k / r**2 * ((max(across, 0.0) if projected else across) * np.eye(3) + 2 * np.outer(d, d))
        return [24], [24], [H]

    def force(t, x, v):
        d = x[24] - center
        f = np.zeros_like(x)
        f[24] = -k / r**2 * (d @ d - r**2) * d
        return f

    def energy(t, x):
        d = x[24] - center
        return 0.25 * k / r**2 * (d @ d - r**2) ** 2

    scene = hooke.Scene.parse("""{"bodies": [{"shape": {"type": "grid", "nx": 7, "ny": 7}, "springs": {"k": 20},
        "mass": 0.05}], "pins": [{"select": "corners"}], "forces": ["gravity"]}""")
    sim = hooke.Sim(scene, integrator="backward_euler", h=0.1)
    center = sim.x[24].copy()
    sim.model.add_force(force, energy=energy, hessian=hessian)
    assert sim.step()
    assert False in asked and True in asked
    asked.clear()
    sim.stiffness()
    assert asked and not any(asked)
