"""Batches: worlds of one model, their arrays, parameters and errors."""

import gc
import os
import signal
import threading
import time

import hooke
import numpy as np
import pytest
from conftest import make_cloth


def test_worlds_move_as_simulations_do_alone(cloth):
    stiffness = np.logspace(0, 3, 4)
    batch = hooke.Batch(cloth, 4, h=5e-4)
    batch.set(k=stiffness)
    assert batch.step(20).all()
    for world, k in enumerate(stiffness):
        alone = hooke.Sim(cloth, h=5e-4)
        alone.model.set_stiffness(k)
        alone.step(20)
        assert np.array_equal(batch.x[world], alone.x) and np.array_equal(batch.v[world], alone.v)
        assert batch.energies.total[world] == alone.state_info().total
        assert batch[world].time == alone.time
    assert batch.x.shape == (4, 81, 3) and len(batch) == 4 and "4 worlds of 81 vertices" in repr(batch)
    assert len({total for total in batch.energies.total}) == 4 and batch.energies.momentum.shape == (4, 3)


def test_implicit_worlds_say_how_they_were_solved(cloth):
    batch = hooke.Batch(cloth, 3, integrator="backward_euler", h=0.02, threads=2)
    batch.step(3)
    alone = hooke.Sim(cloth, integrator="backward_euler", h=0.02)
    alone.step(3)
    assert batch.step_info == [alone.step_info] * 3
    assert np.array_equal(batch.x[2], alone.x) and batch.steps.tolist() == [3, 3, 3]


def test_arrays_are_views_that_move_the_masses(cloth):
    batch = hooke.Batch(cloth, 3)
    batch.x[1, 40] += 0.1, 0, 0
    batch.v = np.linspace(0, 1, 3)[:, None, None]
    assert batch[1].x[40, 0] == batch.x[1, 40, 0] and batch[2].v[7].tolist() == [1, 1, 1]
    batch[0].x[3, 2] = 0.25
    assert batch.x[0, 3, 2] == 0.25
    x = batch.x
    before = x.copy()
    batch.step()
    assert not np.array_equal(x, before)
    with pytest.raises(hooke.InvalidError, match="not finite"):
        batch.x = np.nan
    if hasattr(np, "from_dlpack"):
        seen = np.from_dlpack(batch.x)
        assert np.shares_memory(seen, batch.x) and seen.shape == (3, 81, 3)
    places, speeds = batch.probe([40, 3])
    assert np.array_equal(places, batch.x[:, [3, 40]]) or np.array_equal(places, batch.x[:, [40, 3]])
    assert speeds.shape == (3, 2, 3)


def test_views_live_longer_than_the_batch(cloth):
    batch = hooke.Batch(cloth, 2)
    x, world = batch.x, batch[1]
    del batch
    gc.collect()
    world.step(5)
    assert np.array_equal(x[1], world.x) and not np.array_equal(x[0], x[1])


def test_parameters_are_set_world_by_world(cloth):
    cloth.add_force(hooke.forces.wind(velocity=[0, 0, 0], drag=0.1))
    batch = hooke.Batch(cloth, 3)
    springs = len(batch.model.springs.k)
    batch.set({"gravity.g": [0, 1.62, 9.81], "wind.velocity": np.eye(3)}, mass=[0.1, 0.2, 0.3], h=[1e-3, 2e-3, 1e-3])
    assert [world.model.forces[1]["g"] for world in batch] == [0, 1.62, 9.81]
    assert list(batch[2].model.forces[2]["velocity"]) == [0, 0, 1]
    assert [round(world.model.masses.sum(), 12) for world in batch] == [0.1, 0.2, 0.3]
    assert [world.h for world in batch] == [1e-3, 2e-3, 1e-3]
    k = np.random.default_rng(1).uniform(10, 60, (3, springs))
    batch.set(k=k, l0=0.12)
    assert np.array_equal(batch[1].state.springs.k, k[1]) and batch[0].state.springs.l0[5] == 0.12
    batch.set(k=[7, 8, 9])  # also of springs that belong to the state
    assert [world.state.springs.k[3] for world in batch] == [7, 8, 9]
    batch.set(mass=np.full((3, 81), 0.01))
    batch.step(2)
    assert batch.time.tolist() == [2e-3, 4e-3, 2e-3]
    assert batch.model.forces[1]["g"] == 9.81  # the model that it was made from stays


@pytest.mark.parametrize(
    "given, text",
    [
        ({"k": [1, 2]}, r"k: expected the shape \(3,\) or \(3, \d+\), got \(2,\)"),
        ({"k": -1}, "k: -1 makes no sense"),
        ({"mass": [1, 0, 1]}, "mass: 0 makes no sense; it must be above 0"),
        ({"k": np.nan}, "not finite"),
        ({"stiffness": 1}, "stiffness: there is no such parameter; there are k, l0"),
        ({"gravity.q": 1}, "gravity.q: the force 'gravity' has no parameter 'q'"),
        ({"k": 10, "h": 0}, "h: 0 makes no sense"),
        ({"k": 10, "wind.gust": [1, 1, -2]}, "gust"),
    ],
)
def test_parameters_that_make_no_sense_change_nothing(cloth, given, text):
    cloth.add_force("wind")
    batch = hooke.Batch(cloth, 3)
    with pytest.raises(ValueError, match=text):
        batch.set(given)
    assert all(world.model.springs.k[0] == 50 for world in batch)


def test_a_world_that_blows_up_does_not_stop_the_others(cloth):
    batch = hooke.Batch(cloth, 4)
    batch.set(k=[50, 1e9, 50, 1e9])
    good = batch.step(40, errors="keep")
    assert good.tolist() == [True, False, True, False]
    assert list(batch.errors) == [1, 3] and isinstance(batch.errors[1], hooke.BlowupError)
    assert batch.steps[0] == 40 and batch.steps[1] < 40
    batch[1].model.set_stiffness(50)
    batch[1].state.assign(batch[0].state)
    with pytest.raises(hooke.BlowupError, match="world 3: "):
        batch.step(10)
    assert np.array_equal(batch.x[1], batch.x[0]) and batch.errors.keys() == {3}


def test_what_makes_no_sense_is_refused(cloth):
    with pytest.raises(hooke.InvalidError, match="0 worlds"):
        hooke.Batch(cloth, 0)
    batch = hooke.Batch(cloth, 2)
    with pytest.raises(hooke.InvalidError, match="-1 steps"):
        batch.step(-1)
    with pytest.raises(IndexError, match="no world 2"):
        batch[2]
    with pytest.raises(hooke.InvalidError, match="errors"):
        batch.step(errors="ignore")
    with pytest.raises(hooke.UnsupportedError, match="world of a batch"):
        batch[0].model.add_force(lambda t, x, v: 0 * x)
    model = hooke.Model(cloth)
    model.add_force(lambda t, x, v: 0 * x)
    with pytest.raises(hooke.UnsupportedError, match="cannot be copied"):
        hooke.Batch(model, 2)


def test_pins_are_released_in_one_world(cloth):
    batch = hooke.Batch(cloth, 2)
    batch[1].release_pin("top_left")
    batch.step(30)
    pin = int(batch.model.select("top_left")[0])
    assert batch.x[1, pin, 1] < batch.x[0, pin, 1]


def test_a_second_thread_gets_an_error_and_interrupts_end_steps():
    batch = hooke.Batch(make_cloth(31), 8)
    caught = []

    def use():
        time.sleep(0.3)
        for call in (batch.step, batch[0].step, lambda: batch.energies):
            try:
                call()
            except RuntimeError as error:
                caught.append(str(error))
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=use)
    batch[0]
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        batch.step(1_000_000)
    thread.join()
    assert len(caught) == 3 and all("another thread is using" in text for text in caught)
    assert (batch.steps > 0).all()
    batch.step()


@pytest.mark.skipif("HOOKE_TEST_PLUGINS" not in os.environ, reason="no plug-in was built")
@pytest.mark.parametrize("integrator, h", [("symplectic_euler", 1e-3), ("backward_euler", 0.01)])
def test_worlds_on_a_device_move_as_here(cloth, monkeypatch, integrator, h):
    monkeypatch.setenv("HOOKE_PLUGINS", os.environ["HOOKE_TEST_PLUGINS"])
    there = hooke.Batch(cloth, 3, integrator=integrator, h=h, device="cuda_double")
    here = hooke.Batch(cloth, 3, integrator=integrator, h=h)
    for batch in (there, here):
        batch.set(k=[30, 50, 70])
        batch.step(5)
        batch.v[1, 40] += 0, 0, 1
        batch.step(5)
    tolerance = 1e-12 if integrator == "symplectic_euler" else 2e-3
    assert np.abs(there.x - here.x).max() < tolerance
    assert there.device == "cuda_double" and there.step(1).all()
    assert np.allclose(there.energies.time, 11 * h) and there[2].x is not None
    with pytest.raises(hooke.UnsupportedError, match="face_wind"):
        cloth.add_force("face_wind")
        hooke.Batch(cloth, 2, device="cuda")


@pytest.mark.skipif("HOOKE_TEST_PLUGINS" not in os.environ, reason="no plug-in was built")
@pytest.mark.skipif(not hasattr(np, "from_dlpack"), reason="numpy has no from_dlpack")
def test_arrays_of_worlds_on_a_device_are_looked_at_without_a_copy(cloth, monkeypatch):
    monkeypatch.setenv("HOOKE_PLUGINS", os.environ["HOOKE_TEST_PLUGINS"])
    with pytest.raises(hooke.UnsupportedError, match="on the CPU"):
        hooke.Batch(cloth, 2).device_x
    batch = hooke.Batch(cloth, 3, device="cuda")
    batch.step(5)
    x, v = np.from_dlpack(batch.device_x), np.from_dlpack(batch.device_v)
    assert x.shape == v.shape == batch.device_x.shape == (3, 81, 3) and x.dtype == np.float64
    assert np.allclose(x, batch.x, atol=1e-7)
    pushed = v.copy()
    pushed[2, :, 2] += 1
    batch.device_v = pushed
    batch.step(1)
    assert np.abs(batch.v[2, 40, 2] - 1) < 0.1 and abs(batch.v[1, 40, 2]) < 1e-3
    assert np.shares_memory(x, np.from_dlpack(batch.device_x)) and np.allclose(x, batch.x, atol=1e-7)
    with pytest.raises(hooke.InvalidError, match="shape"):
        batch.device_x = np.zeros((81, 3))
    del batch
    gc.collect()
    assert np.isfinite(x).all()
