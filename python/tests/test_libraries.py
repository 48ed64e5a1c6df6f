"""Forces from shared libraries, by the example of examples/force_library."""

import os
import pickle
import shutil

import hooke
import numpy as np
import pytest

FOLDER = os.environ.get("HOOKE_TEST_FORCE_LIBRARY", "")
SETTINGS = "strength=0.05 at=0.4,0.3,0.3 distance=0.25"

pytestmark = pytest.mark.skipif(not FOLDER, reason="the example of a force library is not built")


@pytest.fixture
def library():
    return os.path.join(FOLDER, "magnet.so")


def make_scene(**options):
    scene = hooke.Scene(integrator={"type": "backward_euler", "minimizer": "newton"}, step=0.01, **options)
    scene.add_body(hooke.shapes.grid(nx=6, ny=5), springs={"k": 300, "shear": True}, mass=0.8)
    scene.add_pin("corners")
    scene.add_force("gravity")
    return scene


def moved(model, steps=10):
    sim = hooke.Sim(model)
    sim.step(steps)
    return sim.x.copy()


def magnet(t, x):
    """The energy of each vertex, its force and its projected Hessian, as magnet.c has them."""
    d = x - np.array([0.4, 0.3, 0.3])
    r2 = (d * d).sum(axis=1)
    q = np.sqrt(r2 + 0.25**2)
    across = 0.05 / q**3
    along = np.maximum(across * (1 - 3 * r2 / q**2), 0)
    outer = ((along - across) / r2)[:, None, None] * d[:, :, None] * d[:, None, :]
    return -0.05 / q, -across[:, None] * d, outer + across[:, None, None] * np.eye(3)


def test_a_library_force_moves_as_the_same_force_in_python(library):
    scene = make_scene(libraries=True)
    scene.add_force("library", file=library, name="magnet", settings=SETTINGS)
    by_functions = make_scene().compile()
    numbers = np.arange(len(by_functions), dtype=np.int32)
    by_functions.add_force(
        lambda t, x, v: magnet(t, x)[1],
        energy=lambda t, x: magnet(t, x)[0].sum(),
        hessian=lambda t, x: (numbers, numbers, magnet(t, x)[2]),
    )
    expected = moved(by_functions)
    assert np.abs(moved(scene.compile()) - expected).max() < 1e-9
    assert np.abs(moved(make_scene().compile()) - expected).max() > 1e-4


def test_live_scene_and_copies_have_the_same_bits(library):
    force = hooke.forces.library(file=library, name="magnet", settings=SETTINGS)
    scene = make_scene(libraries=True)
    model = scene.compile()
    assert model.add_force(force) == 2
    assert model.forces[2] == force
    scene.add_force(force)
    expected = moved(scene.compile())
    assert (moved(model) == expected).all()
    assert (moved(model.copy()) == expected).all()
    assert (moved(pickle.loads(pickle.dumps(model))) == expected).all()
    assert scene.copy().libraries


def test_a_scene_loads_no_library_by_default(library):
    scene = make_scene()
    scene.add_force("library", file=library, name="magnet", settings=SETTINGS)
    with pytest.raises(hooke.UnsupportedError, match="only where the option 'libraries' allows it"):
        scene.compile()
    with pytest.raises(hooke.UnsupportedError, match="libraries"):
        make_scene().compile().forces.append(hooke.forces.library(file=library, name="magnet"))
    scene.libraries = True
    scene.compile()


def test_a_scene_file_of_another_folder_finds_its_library(library, tmp_path):
    shutil.copy(library, tmp_path)
    shutil.copy(os.path.join(FOLDER, "magnet.json"), tmp_path)
    path = tmp_path / "magnet.json"
    with pytest.raises(hooke.UnsupportedError, match=r"magnet.json:15:33: forces\[1\].file"):
        hooke.Model(path)
    scene = hooke.Scene.load(path, libraries=True)
    expected = moved(scene.compile())
    (tmp_path / "inner").mkdir()
    scene.save(tmp_path / "inner" / "saved.json")
    again = hooke.Scene.load(tmp_path / "inner" / "saved.json", libraries=True)
    assert again["forces[1].file"] == os.path.join("..", "magnet.so")
    assert (moved(again.compile()) == expected).all()
    parsed = hooke.Scene.parse(path.read_text(), folder=tmp_path, libraries=True)
    assert (moved(parsed.compile()) == expected).all()


def test_a_run_with_a_library_is_resumed(library, tmp_path):
    def run(folder, duration, **options):
        scene = make_scene(libraries=True, duration=duration, fps=50)
        scene.add_force("library", file=library, name="magnet", settings=SETTINGS)
        return hooke.run(scene, folder=tmp_path / folder, progress=False, **options).state.x.copy()

    whole = run("whole", 0.4)
    run("parts", 0.2)
    assert (run("parts", 0.4, resume=True) == whole).all()


def test_errors_of_the_library_are_exceptions(library):
    scene = make_scene(libraries=True)
    with pytest.raises(hooke.InvalidError, match="did you mean 'magnet'"):
        scene.compile().add_force(hooke.forces.library(file=library, name="magnett"))
    with pytest.raises(hooke.InvalidError, match="expected \"strength=S"):
        scene.compile().add_force(hooke.forces.library(file=library, name="magnet", settings="no"))
    with pytest.raises(hooke.FileError, match="cannot load the force library"):
        scene.compile().add_force(hooke.forces.library(file="/missing.so", name="magnet"))
