"""Simulations: what they compute, live changes, threads, interruptions, pickling."""

import copy
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import hooke
import numpy as np
import pytest
from conftest import make_cloth, make_pendulum


def test_an_oscillator_follows_the_exact_solution():
    scene = hooke.Scene(integrator="rk4", step=1e-3)
    scene.add_body(hooke.shapes.spring(length=1.2), k=100.0, l0=1.0, masses=1.0)
    scene.add_pin("start")
    sim = hooke.Sim(scene)
    sim.step(777)
    assert sim.time == pytest.approx(0.777)
    assert sim.x[1, 0] == pytest.approx(1 + 0.2 * np.cos(7.77), abs=1e-8)
    assert sim.v[1, 0] == pytest.approx(-2 * np.sin(7.77), abs=1e-7)


def test_one_call_of_many_steps_is_many_calls_of_one(cloth):
    a, b = hooke.Sim(cloth), hooke.Sim(cloth)
    a.step(100)
    for _ in range(100):
        b.step()
    assert np.array_equal(a.x, b.x) and np.array_equal(a.v, b.v)


def test_threads_do_not_change_a_bit():
    a, b = (hooke.Sim(make_cloth(60), threads=q) for q in (1, 2))
    a.step(20), b.step(20)
    assert np.array_equal(a.x, b.x)


def test_steps_that_make_no_sense(cloth):
    sim = hooke.Sim(cloth)
    with pytest.raises(ValueError, match="-1 steps"):
        sim.step(-1)
    with pytest.raises(TypeError):
        sim.step(1.5)
    with pytest.raises(hooke.InvalidError):
        sim.h = 0
    with pytest.raises(TypeError, match="hooke.Scene or a hooke.Model"):
        hooke.Sim(3)


def test_devices_that_are_not_there_are_refused(cloth, monkeypatch):
    with pytest.raises(hooke.UnsupportedError, match="none of cpu, cuda"):
        hooke.Sim(cloth, device="tpu")
    with pytest.raises(ValueError, match="made for cpu"):
        hooke.Sim(hooke.Model(cloth), device="cuda")
    assert hooke.Sim(cloth).device == "cpu"
    monkeypatch.setenv("HOOKE_PLUGINS", "/nowhere")
    try:
        hooke.Sim(cloth, device="cuda")
    except hooke.UnsupportedError as error:  # where there is a GPU, it works
        assert "cuda" in str(error) and error.status == "HK_ERROR_UNSUPPORTED"


@pytest.mark.skipif("HOOKE_TEST_PLUGINS" not in os.environ, reason="no plug-in was built")
def test_a_device_moves_what_is_seen_here(cloth, monkeypatch):
    monkeypatch.setenv("HOOKE_PLUGINS", os.environ["HOOKE_TEST_PLUGINS"])
    there, here = hooke.Sim(cloth, device="cuda"), hooke.Sim(cloth)
    for _ in range(2):
        there.step(50), here.step(50)
        assert there.time == pytest.approx(here.time)
        assert np.allclose(there.x, here.x, rtol=0, atol=1e-5)  # a GPU computes in single precision
        there.x[5] += 0.01
        here.x[5] += 0.01
    assert there.state_info().total == pytest.approx(here.state_info().total, abs=1e-4)
    kept, state = there.x, there.state.copy()
    del there
    assert np.array_equal(kept, state.x)
    assert np.allclose(hooke.run(cloth, frames=3, device="cuda").x, hooke.run(cloth, frames=3).x, atol=1e-5)


def test_a_blow_up_is_an_exception(cloth):
    sim = hooke.Sim(cloth, h=0.5)
    assert sim.stable_step() < 0.5
    with pytest.raises(hooke.BlowupError) as caught:
        sim.step(1000)
    assert isinstance(caught.value, ArithmeticError)


def test_names_of_version_0_1_warn_and_still_work(cloth):
    sim = hooke.Sim(cloth)
    sim.step()
    with pytest.warns(DeprecationWarning, match=r"use sim\.state_info\(\)"):
        assert sim.report() == sim.state_info()
    with pytest.warns(DeprecationWarning, match=r"use sim\.step_info"):
        assert sim.step_report == sim.step_info
    with pytest.warns(DeprecationWarning, match=r"use run\.state_info\(\)"):
        run = hooke.Run(cloth)
        assert run.report() == run.state_info()
    with pytest.warns(DeprecationWarning, match=r"use hooke\.StateInfo"):
        assert hooke.Report is hooke.StateInfo
    with pytest.warns(DeprecationWarning, match=r"use hooke\.StepInfo"):
        assert hooke.StepReport is hooke.StepInfo
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        hooke.Nothing


def test_implicit_steps_say_whether_they_converged(cloth):
    loose = hooke.minimizers.newton(iterations=1, tolerance=1e-14)
    sim = hooke.Sim(cloth, integrator=hooke.integrators.backward_euler(minimizer=loose), h=0.03)
    assert sim.step() is False and sim.step_info.reason == "iterations"
    sim = hooke.Sim(cloth, integrator="backward_euler", h=0.03)
    assert sim.step() is True and sim.step_info.reason == "converged"
    trace = sim.trace_step()
    assert len(trace.change) == sim.step_info.iterations + 1
    assert trace.change[0] == 0 and (np.diff(trace.change) < 1e-12 * -trace.change[-1]).all()


def test_an_exception_in_a_callback_comes_out(cloth):
    sim = hooke.Sim(cloth, integrator="backward_euler", h=0.03)

    def each(_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        sim.advance(0.1, each=each)


def test_forces_and_reactions_balance_at_rest():
    sim = hooke.Sim(make_pendulum(integrator="backward_euler"), h=0.05)
    sim.model.forces.append(hooke.forces.drag(linear=5.0))
    sim.step(2000)
    assert sim.reactions()[0] == pytest.approx([0, 2 * 9.81, 0], rel=1e-3, abs=1e-3)
    assert sim.forces()[1] == pytest.approx([0, 0, 0], abs=1e-3)


def test_forces_change_between_steps(cloth):
    sim = hooke.Sim(cloth)
    forces = sim.model.forces
    assert len(forces) == 2 and forces[1].name == "gravity"
    forces[1] = hooke.forces.gravity(g=0.0)
    sim.step(50)
    assert np.abs(sim.v).max() == 0  # nothing pulls
    forces.append("gravity")
    sim.step(50)
    assert sim.v[0, 1] < 0
    del forces[-1]
    assert [force.name for force in forces] == ["springs", "gravity"]
    with pytest.raises(IndexError):
        forces[5]
    with pytest.raises(hooke.InvalidError, match="springs"):
        del forces[0]


def test_pins_are_let_go_and_held_again(cloth):
    sim = hooke.Sim(cloth)
    sim.step(100)
    sim.release_pin(72)
    sim.step(100)
    assert sim.x[72, 1] < 1 and sim.x[80, 1] == 1
    sim.hold_pin([72])
    assert sim.x[72].tolist() == [0, 1, 0]
    with pytest.raises(hooke.InvalidError, match="has no pin"):
        sim.release_pin(3)
    sim.model.set_motion(1, hooke.motions.oscillation(amplitude=[0, 0, 0.1], frequency=1))
    sim.step(100)
    assert sim.x[80, 2] != 0


def test_a_hand_drags(cloth):
    sim = hooke.Sim(cloth, integrator="backward_euler", h=0.02)
    with sim.grab(0, k=1000) as hand:
        for z in (0.1, 0.2, 0.3):
            hand.move_to([0, 0, z])
            sim.step(10)
        assert sim.x[0, 2] == pytest.approx(0.3, abs=0.05)
    assert len(sim.model.forces) == 2
    with pytest.raises(ValueError, match="let go"):
        hand.move_to([0, 0, 0])


def test_stiffness_and_step_change(cloth):
    sim = hooke.Sim(cloth)
    sim.model.set_stiffness(80)
    assert (sim.model.springs.k == 80).all()
    sim.h = 5e-4
    sim.step()
    assert sim.time == 5e-4
    with pytest.raises(hooke.InvalidError):
        sim.model.scale_stiffness(-1)


def test_states_are_swapped_and_copied(cloth):
    sim = hooke.Sim(cloth)
    start = sim.state.copy()
    sim.step(10)
    moved = sim.state
    sim.state = start
    assert sim.time == 0 and sim.x is start.x
    sim.step(10)
    assert np.array_equal(start.x, moved.x)
    start.assign(hooke.State(sim.model))
    assert start.time == 0
    with pytest.raises(hooke.InvalidError, match="another model"):
        sim.state = hooke.State(hooke.Model(make_cloth(5)))
    with pytest.raises(hooke.InvalidError):
        start.assign(hooke.State(hooke.Model(make_cloth(5))))
    assert sim.state is start


def test_a_pickled_state_goes_on_bit_for_bit(tmp_path):
    scene = make_cloth(integrator="bdf2", step=0.01)
    sim = hooke.Sim(scene)
    sim.step(5)
    again = pickle.loads(pickle.dumps(sim.state))
    sim.state.save(tmp_path / "state")
    other = hooke.Sim(scene, state=again)
    sim.step(5), other.step(5)
    assert np.array_equal(sim.x, other.x) and sim.time == other.time
    other.state.load(tmp_path / "state")
    assert other.time == pytest.approx(0.05)
    with pytest.raises(hooke.FormatError, match="no state"):
        hooke.state._restore(b"something else")


def test_simulations_run_in_threads():
    models = [hooke.Model(make_cloth(30), threads=1) for _ in range(3)]
    alone = hooke.Sim(models[0])
    alone.step(50)
    sims = [hooke.Sim(model) for model in models] + [hooke.Sim(models[0])]  # two share a model
    threads = [threading.Thread(target=sim.step, args=(50,)) for sim in sims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for sim in sims:
        assert np.array_equal(sim.x, alone.x)


def test_python_goes_on_while_steps_are_made():
    sim = hooke.Sim(make_cloth(40), threads=1)
    done = threading.Event()

    def refused(call, *values):
        try:
            call(*values)
        except RuntimeError as error:
            return "another thread" in str(error)
        return False

    def make_steps():
        while not done.is_set():
            refused(sim.step, 300)

    thread = threading.Thread(target=make_steps)
    thread.start()
    steps = changes = 0
    deadline = time.monotonic() + 60
    while (steps <= 5 or changes <= 5) and time.monotonic() < deadline:
        steps += refused(sim.step)
        changes += refused(sim.model.scale_stiffness, 1.0)
        time.sleep(0.001)  # hands the interpreter to the other thread
    done.set()
    thread.join()
    assert steps > 5 and changes > 5  # and nothing was torn
    assert np.isfinite(sim.x).all()


# Prints 'ready' once the main thread has been seen within sim.step() and the positions have had the given
# number of different values.
WATCH = """
import faulthandler, sys, threading
faulthandler.dump_traceback_later(60, exit=True)  # in place of waiting for ever
sys.path.insert(0, sys.argv[1])
from conftest import make_cloth
import hooke

def watch(sim, x, positions):
    seen, busy = set(), False
    while not busy or len(seen) < positions:
        seen.add(float(x[:, 1].sum()))
        try:
            sim.model.scale_stiffness(1.0)
        except RuntimeError:
            busy = True
    print('ready', flush=True)
"""


def interrupted(code):
    """What the code prints after WATCH has printed 'ready' and SIGINT has come."""
    folder = __file__.rsplit("/", 1)[0]
    process = subprocess.Popen([sys.executable, "-c", WATCH + code, folder], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=30)[0]
    assert process.returncode == 0
    return output


def test_ctrl_c_stops_between_steps():
    code = (
        "sim = hooke.Sim(make_cloth(30))\n"
        "threading.Thread(target=watch, args=(sim, sim.x, 5), daemon=True).start()\n"
        "try:\n    sim.step(10**12)\n"
        "except KeyboardInterrupt:\n    print('stopped', sim.time > 0)\n"
    )
    assert interrupted(code) == "stopped True\n"


def test_ctrl_c_ends_a_long_step_and_leaves_the_state():
    code = (
        "sim = hooke.Sim(make_cloth(30, tolerance=1e-13, integrator='backward_euler', step=0.1))\nx = sim.x.copy()\n"
        "threading.Thread(target=watch, args=(sim, sim.x, 1), daemon=True).start()\n"
        "try:\n    sim.step()\n"
        "except KeyboardInterrupt:\n    print('stopped', sim.time, (sim.x == x).all())\n"
    )
    assert interrupted(code) == "stopped 0.0 True\n"


def test_log_lines_go_to_logging(caplog):
    scene = hooke.Scene()
    scene.add_body(hooke.Mesh(np.eye(3), edges=[[0, 1]]), k=1.0)
    with caplog.at_level("WARNING", "hooke"):
        hooke.Model(scene)
    assert "1 of 3 vertices have no spring" in caplog.text


def test_ctrl_c_while_a_line_is_logged_is_not_lost():
    class Interrupting(logging.Handler):
        def emit(self, record):
            os.kill(os.getpid(), signal.SIGINT)

    scene = hooke.Scene()
    scene.add_body(hooke.Mesh(np.eye(3), edges=[[0, 1]]), k=1.0)
    handler = Interrupting()
    logging.getLogger("hooke").addHandler(handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            hooke.Model(scene)  # logs that a vertex has no spring
            time.sleep(1)
    finally:
        logging.getLogger("hooke").removeHandler(handler)


def test_simulations_do_not_leak():
    import resource

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    scene = make_cloth(60)
    for _ in range(5):
        hooke.Sim(scene).step(2)
    before = peak()
    for _ in range(60):
        hooke.Sim(scene).step(2)  # 4 MB and more each
    assert peak() - before < 40_000  # kB


@pytest.mark.parametrize("integrator", hooke.integrators)
def test_a_state_that_is_not_finite_is_not_blamed_on_the_step(integrator):
    for value in (np.nan, np.inf):
        sim = hooke.Sim(make_cloth(), integrator=integrator, h=1e-4)
        sim.step()
        sim.x[40] = value
        with pytest.raises(hooke.BlowupError) as caught:
            sim.step(2)
        assert "check what was written into the state" in str(caught.value)
        assert "smaller step" not in str(caught.value)
        with pytest.raises(hooke.InvalidError, match="x: holds numbers that are not finite"):
            sim.state.x = value
        with pytest.raises(hooke.InvalidError, match="v: holds numbers that are not finite"):
            sim.state.v = np.full(sim.v.shape, value)


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled, lambda value: value.copy()])
@pytest.mark.parametrize("integrator", ["verlet", "backward_euler", "bdf2"])
def test_copies_of_simulations_go_on_with_the_same_bits(integrator, again):
    sim = hooke.Sim(make_cloth(), integrator=integrator, h=2e-3)
    sim.step(5)
    sim.release_pin("top_left")
    other = again(sim)
    assert other.time == sim.time and other.h == sim.h and other.integrator == sim.integrator
    assert (other.model is sim.model) == (again is not copy.deepcopy and again is not pickled)
    sim.step(5)
    assert not np.array_equal(other.x, sim.x)  # a state of its own
    other.step(5)
    assert np.array_equal(other.x, sim.x) and np.array_equal(other.v, sim.v)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled, hooke.Model.copy])
def test_copies_of_models_have_their_live_changes(again):
    vertices = np.random.default_rng(3).random((6, 3))
    mesh = hooke.Mesh(vertices, edges=[[q, q + 1] for q in range(5)])
    scene = hooke.Scene(integrator="backward_euler")
    scene.add_body(mesh, k=[10.0, 20.0, 30.0, 40.0, 50.0], masses=np.arange(1.0, 7.0))
    scene.add_pin([0])
    scene.add_force("gravity")
    model = hooke.Model(scene)
    model.set_stiffness(300.0)
    model.scale_stiffness(1.1)
    model.scale_stiffness(1 / 3)
    model.forces[1] = hooke.forces.gravity(g=1.62)
    model.forces.append(hooke.forces.point_load(select=[3], force=[0.1, 0.2, 0.3]))
    model.set_motion(0, hooke.motions.oscillation(frequency=2, amplitude=[0, 0.1, 0]))
    scene["bodies[0].mass"] = 1  # the scene may change after the model was made of it
    other = again(model)
    assert np.array_equal(other.springs.k, model.springs.k) and model.springs.k[0] != 300
    assert np.array_equal(other.masses, model.masses) and list(other.forces) == list(model.forces)
    sims = [hooke.Sim(m, h=0.01) for m in (model, other, again(other))]
    for sim in sims:
        sim.step(20)
    assert np.array_equal(sims[0].x, sims[1].x) and np.array_equal(sims[0].x, sims[2].x)
    other.scale_stiffness(2.0)
    assert np.array_equal(2 * model.springs.k, other.springs.k)
    if again is not copy.deepcopy:  # which has a mesh of its own
        mesh.vertices[2] += 1
        with pytest.raises(hooke.InvalidError, match="were changed after the model was made"):
            again(model)
