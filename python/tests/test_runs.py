"""Runs, sweeps, pages and pictures."""

import os
import signal
import sys
import types

import hooke
import numpy as np
import pytest
from conftest import make_cloth, make_pendulum


def test_a_run_has_its_frames(pendulum):
    result = hooke.run(pendulum, frames=12, fps=60)
    assert result.time == pytest.approx(np.arange(13) / 60)
    assert result.x.shape == (13, 2, 3) and len(result.energies) == 13
    assert np.array_equal(result.x[-1], result.state.x)
    assert result.energies.drift < 1e-3
    assert result.energies["total"] == pytest.approx(
        result.energies.kinetic + result.energies.spring + result.energies.gravity
    )
    assert hooke.run(pendulum, duration=0.1, record=False).x is None
    with pytest.raises(TypeError, match="not both"):
        hooke.run(pendulum, frames=2, duration=1)
    with pytest.raises(KeyError, match="there are time"):
        result.energies["heat"]


def test_a_run_is_what_the_same_steps_are(cloth):
    result = hooke.run(cloth, frames=6)
    sim = hooke.Sim(cloth, h=result.progress.h)
    sim.step(result.progress.steps)
    assert np.allclose(sim.x, result.state.x, rtol=0, atol=1e-12)


def test_a_run_writes_files_and_goes_on(tmp_path, cloth):
    cloth.add_output("energies")
    cloth["time.duration"] = 0.2
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    hooke.run(cloth, folder=whole, report=True)
    assert (whole / "energies.csv").exists() and (whole / "report.html").stat().st_size > 1e4
    with hooke.Run(cloth, folder=parts) as run:
        assert run.frame() and run.progress.frame == 1
        assert run.state_info().time == pytest.approx(1 / 30)
    with hooke.Run(cloth, folder=parts, resume=True) as run:
        assert list(run) == [2, 3, 4, 5, 6]
    assert (whole / "energies.csv").read_bytes() == (parts / "energies.csv").read_bytes()
    with pytest.raises(hooke.InvalidError, match="holds a run already"):
        hooke.run(cloth, folder=whole)
    with pytest.raises(ValueError, match="needs a folder"):
        hooke.run(cloth, report=True)


def test_ctrl_c_ends_a_run_after_its_frame(tmp_path, cloth):
    cloth["time.duration"] = 2

    def each(run):
        if run.progress.frame == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        hooke.run(cloth, folder=tmp_path / "out", each=each)
    with hooke.Run(cloth, folder=tmp_path / "out", resume=True) as run:
        assert run.progress.frame == 2


def test_a_run_that_blows_up_starts_over_if_asked():
    scene = make_cloth(step=0.03)
    with pytest.raises(hooke.BlowupError):
        hooke.run(scene, frames=60)
    result = hooke.run(scene, frames=60, on_blowup="halve")
    assert result.progress.halvings > 0 and len(result.time) == len(result.x) == 61
    assert result.time == pytest.approx(np.arange(61) / 30)


def test_progress_is_called_after_each_frame(pendulum):
    calls = []
    hooke.run(pendulum, frames=3, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_progress_without_tqdm_is_a_plain_bar(pendulum, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)  # as if it were not installed
    hooke.run(pendulum, frames=3, progress=True)
    assert "3/3" in capsys.readouterr().err


def test_progress_with_tqdm_is_its_bar(pendulum, capsys, monkeypatch):
    class Bar:
        def __init__(self, total, desc, leave):
            self.total, self.n, self.drawn = total, 0, []
            bars.append(self)

        def update(self, count):
            self.n += count
            self.drawn.append(self.n)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.closed = True

    bars, fake = [], types.ModuleType("tqdm")
    fake.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", fake)
    hooke.run(pendulum, frames=3, progress=True)
    (bar,) = bars
    assert bar.total == 3 and bar.drawn == [1, 2, 3] and bar.closed
    assert capsys.readouterr().err == ""
    monkeypatch.undo()
    pytest.importorskip("tqdm")  # tqdm itself draws at its own pace and is removed at the end
    hooke.run(pendulum, frames=3, progress=True)
    assert "/3" in capsys.readouterr().err


def test_a_sweep_is_the_runs_one_by_one():
    scene = make_pendulum()
    values = {"k": [50.0, 200.0], "integrator": ["verlet", "rk4", "no such thing"]}
    done = hooke.sweep(scene, values, workers=2, frames=5)
    assert done["total"].shape == (2, 3) and done.x.shape == (2, 3, 2, 3)
    assert np.isnan(done["total"][:, 2]).all() and np.isfinite(done["total"][:, :2]).all()
    assert set(done.errors) == {(0, 2), (1, 2)} and "no such thing" in done.errors[0, 2]
    here = hooke.sweep(scene, values, workers=0, frames=5)
    assert np.array_equal(done.x, here.x, equal_nan=True)
    scene["bodies[0].springs.k"] = 200.0
    assert np.array_equal(done.x[1, 1], hooke.run(scene, frames=5, integrator="rk4").state.x)


def test_a_sweep_gives_all_springs_its_stiffness():
    place = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    made = dict(edges=[[0, 1], [1, 2]], masses=1.0, pins=[0])
    scene = hooke.Scene.from_arrays(place, k=[30.0, 40.0], damping=[0.1, 0.2], **made)
    done = hooke.sweep(scene, {"k": [50.0, 200.0], "damping": [0.0, 0.5]}, workers=0, frames=5)
    assert not done.errors
    for at, k in enumerate((50.0, 200.0)):
        for to, damping in enumerate((0.0, 0.5)):
            one = hooke.Scene.from_arrays(place, k=k, damping=damping, **made)
            assert np.array_equal(done.x[at, to], hooke.run(one, frames=5).state.x)
    assert scene["bodies[0].springs.table"][0, 2] == 30  # what was given stays


@pytest.mark.parametrize("name", hooke.scenes())
def test_built_in_scenes_are_swept_by_short_names(name):
    scene = hooke.Scene.builtin(name)
    parameters = {"k": [90.0, 120.0], "EA": [5.0, 9.0], "damping": [0.0, 0.01], "mass": [2.0, 3.0]}
    for short, values in parameters.items():
        done = hooke.sweep(scene, {short: values}, workers=0, frames=1)
        assert not done.errors
        assert not np.array_equal(done.x[0], done.x[1])
        assert scene.data == hooke.Scene.builtin(name).data  # what was given stays


def test_a_sweep_over_the_mass_keeps_its_distribution():
    edges = [[0, 1], [1, 2]]
    scene = hooke.Scene.from_arrays(np.eye(3), edges, masses=[1.0, 2.0, 5.0], pins=[0])
    done = hooke.sweep(scene, {"mass": [8.0, 16.0]}, workers=0, frames=3)
    assert not done.errors
    for at, masses in enumerate(([1.0, 2.0, 5.0], [2.0, 4.0, 10.0])):
        one = hooke.Scene.from_arrays(np.eye(3), edges, masses=masses, pins=[0])
        assert np.array_equal(done.x[at], hooke.run(one, frames=3).state.x)
    single = hooke.Scene.builtin("flag", {"bodies[0].mass.added": [[3, 0.5]]})
    done = hooke.sweep(single, {"mass": [2.0]}, workers=0, frames=1)
    assert not done.errors and done.results[0].model.info["mass"] == pytest.approx(2.5)


def test_a_sweep_survives_blow_ups_and_measures():
    done = hooke.sweep(
        make_cloth(), {"h": [0.001, 0.03]}, workers=1, frames=40,
        measure=lambda result: result.state.x[:, 1].min(),
    )
    assert np.isfinite(done.value[0]) and np.isnan(done.value[1])
    assert "Blowup" in done.errors[1,]
    done = hooke.sweep(make_cloth(), {"h": [0.001]}, workers=0, frames=2, measure=lambda r: 1 / 0)
    assert "measure" in done.errors[0,]


def test_a_worker_that_dies_fails_its_combination_only(monkeypatch):
    from hooke import sweep as _  # noqa: F401

    module = sys.modules["hooke.sweep"]
    start = module._start

    def dying():
        process = start()
        if not started:
            process.kill()
        started.append(process)
        return process

    started = []
    monkeypatch.setattr(module, "_start", dying)
    done = hooke.sweep(make_pendulum(), {"k": [10.0, 20.0, 30.0]}, workers=1, frames=2)
    assert list(done.errors) == [(0,)] and "ended with status" in done.errors[0,]
    assert np.isfinite(done["total"][1:]).all() and len(started) == 2


def test_pages_hold_the_motion(tmp_path, cloth):
    result = hooke.run(cloth, frames=4)
    page = result.page
    assert '"frames":{"count":5,' in page.html and page.html.lstrip().startswith("<!DOCTYPE html>")
    assert page._repr_html_().startswith("<iframe srcdoc=") and "<script" not in page._repr_html_()
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1e4
    sim = hooke.Sim(cloth)
    sim.advance(0.1)
    sim.advance(0.1)
    assert '"frames":{"count":7,' in sim.page().html
    with pytest.raises(ValueError, match="record"):
        hooke.run(cloth, frames=2, record=False).page


def test_advance_gathers_frames(cloth):
    sim = hooke.Sim(cloth)
    seen = []
    motion = sim.advance(0.5, fps=20, record=True, each=lambda s: seen.append(s.time))
    assert len(motion.time) == 11 and motion.time[-1] == pytest.approx(0.5)
    assert np.array_equal(motion.x[-1], sim.x) and seen == list(motion.time[1:])
    assert len(motion.energies) == 11 and sim.advance(0).time.tolist() == [sim.time]


def test_pictures_and_plots(tmp_path, cloth, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    sim = hooke.Sim(cloth)
    motion = sim.advance(0.1)
    hooke.picture(sim.model, sim.x).savefig(tmp_path / "a.png")
    axes = motion.energies.plot()
    assert [line.get_label() for line in axes.get_lines()] == ["kinetic", "spring", "gravity", "total"]
    axes.figure.savefig(tmp_path / "b.png")
    assert (tmp_path / "a.png").stat().st_size > 5000 and (tmp_path / "b.png").stat().st_size > 5000
    sim.show()
    assert pytest.importorskip("matplotlib.pyplot").get_fignums()


@pytest.fixture
def notebook(monkeypatch):
    """As if in a notebook; what it would show, and later in the place of that."""
    shown, fake, display = [], types.ModuleType("IPython"), types.ModuleType("IPython.display")

    def show(what, display_id=False):
        shown.append(what)
        return types.SimpleNamespace(update=shown.append) if display_id else None

    fake.get_ipython = lambda: types.SimpleNamespace(kernel=True)
    display.display, display.HTML = show, str
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_notebooks_show_the_page_once(cloth, notebook):
    result = hooke.run(cloth, frames=2, progress=False)
    assert result.show(height=300) is None  # or the cell would show what it returns, too
    assert notebook == [result.page] and 'height="300"' in result.page._repr_html_()


def test_notebooks_show_the_progress_until_the_end(pendulum, notebook):
    hooke.run(pendulum, frames=3)
    assert '<progress max="3" value="0">' in notebook[0] and "3/3" in notebook[-2]
    assert notebook[-1] == ""
    del notebook[:]
    with pytest.raises(ZeroDivisionError):
        hooke.Sim(pendulum).advance(0.1, each=lambda _: 1 / 0)
    assert notebook[-1] == ""
