"""Scenes: from files, values and arrays, changed, saved and read again."""

import json
import pickle

import hooke
import numpy as np
import pytest


def same_model(a, b):
    a, b = hooke.Model(a), hooke.Model(b)
    assert np.array_equal(a.springs.indices, b.springs.indices)
    assert np.array_equal(a.springs.k, b.springs.k) and np.array_equal(a.springs.l0, b.springs.l0)
    assert np.array_equal(a.masses, b.masses) and np.array_equal(a.pins, b.pins)
    assert np.array_equal(hooke.State(a).x, hooke.State(b).x)


def three_masses(**more):
    return hooke.Scene.from_arrays(
        [[0, 0, 0], [1, 0, 0], [2, 0.5, 0]], [[0, 1], [2, 1]], masses=[1, 2, 3], k=[10, 20],
        l0=[0.9, 1.1], damping=[0, 0.5], pins=[0], **more,
    )


def test_a_scene_from_arrays_has_their_numbers():
    model = hooke.Model(three_masses())
    assert model.springs.indices.tolist() == [[0, 1], [1, 2]]
    assert model.springs.k.tolist() == [10, 20] and model.springs.l0.tolist() == [0.9, 1.1]
    assert model.springs.damping.tolist() == [0, 0.5]
    assert model.masses.tolist() == [1, 2, 3] and model.pins.tolist() == [0]
    assert [force.name for force in model.forces] == ["springs", "gravity"]


def test_faces_beside_edges_are_no_springs():
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    scene = hooke.Scene.from_arrays(square, [[0, 2]], [[0, 1, 2, 3]], k=5.0, forces=())
    model = hooke.Model(scene)
    assert model.springs.indices.tolist() == [[0, 2]] and len(model.faces) == 2
    scene = hooke.Scene.from_arrays(square, faces=[[0, 1, 2, 3]], k=5.0)
    assert len(hooke.Model(scene).springs.k) == 4


def test_edges_between_the_same_vertices_are_springs_in_parallel():
    vertices = [[0, 0, 0], [2, 0, 0], [2, 1, 0]]
    edges = np.array([[1, 2], [0, 1], [1, 0]])
    scene = hooke.Scene.from_arrays(
        vertices, edges, k=[1, 10, 5], l0=[1, 1, 1.6], damping=[0, 0.5, 0.25], forces=()
    )
    sim = hooke.Sim(scene, h=1e-3)
    springs = sim.model.springs
    assert springs.indices.tolist() == [[0, 1], [1, 2]]
    assert springs.k.tolist() == [15, 1] and springs.damping.tolist() == [0.75, 0]
    assert springs.l0 == pytest.approx([1.2, 1])  # (10 * 1 + 5 * 1.6) / 15
    assert sim.forces()[0] == pytest.approx([10 * (2 - 1) + 5 * (2 - 1.6), 0, 0])
    assert springs.k[sim.model.find_springs(edges)].tolist() == [1, 15, 15]
    same = hooke.Scene.from_arrays(vertices, edges, k=10)  # one number stands for each edge
    assert hooke.Model(same).springs.k.tolist() == [20, 10]


def test_springs_are_found_by_their_edges(cloth):
    cloth.add_body(hooke.shapes.chain(), name="chain", springs={"k": 7})
    model = hooke.Model(cloth)
    springs = model.springs
    order = np.random.default_rng(1).permutation(len(springs.k))
    edges = springs.indices[order][:, ::-1]
    assert np.array_equal(model.find_springs(edges), order)
    assert model.find_springs(np.empty((0, 2))).shape == (0,)
    last = len(model) - 1
    for edge in ([0, last], [last, last], [0, 0]):
        with pytest.raises(hooke.InvalidError, match=r"edges\[1\]: there is no spring between"):
            model.find_springs([edges[0], edge])
    with pytest.raises(hooke.InvalidError, match="there is no vertex"):
        model.find_springs([[0, last + 1]])


def test_an_edge_that_faces_share_is_one_spring():
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    scene = hooke.Scene.from_arrays(square, faces=[[0, 1, 2], [0, 2, 3]], k=5.0)
    assert hooke.Model(scene).springs.k.tolist() == [5] * 5


def test_a_second_gravity_is_legal_and_warned_about(caplog):
    scene = three_masses()  # from_arrays adds gravity
    hooke.Model(scene)
    assert not caplog.records
    scene.add_force("gravity")
    sim = hooke.Sim(scene, h=1e-3)
    (record,) = caplog.records
    assert record.levelname == "WARNING" and record.name == "hooke"
    assert "2 gravity forces" in record.message and "19.62 m/s^2" in record.message
    sim.model.forces.append("gravity")
    assert "29.43 m/s^2" in caplog.records[-1].message


def test_explicit_integrators_get_a_stable_step_in_the_course_format(tmp_path):
    (tmp_path / "two.obj").write_text("v 0 0 0\nv 1 0 0\nl 1 2\n")
    (tmp_path / "course.json").write_text('{"obj": "two.obj", "b": [1], "k": 1e5, "m": 1}')
    scene = hooke.Scene.load(tmp_path / "course.json")
    assert hooke.Sim(scene).h == hooke.Sim(scene, integrator="bdf2").h == 1 / 30
    sim = hooke.Sim(scene, integrator="symplectic_euler")
    assert 0 < sim.h < sim.stable_step() < 0.01
    scene = hooke.Scene.load(tmp_path / "course.json", {"integrator": "verlet"})
    assert hooke.Sim(scene).h < 0.01
    scene["time.step"] = 0.02
    assert hooke.Sim(scene).h == 0.02


def test_a_saved_scene_is_the_same(tmp_path, cloth):
    for number, scene in enumerate((cloth, three_masses(), hooke.Scene.builtin("flag"))):
        path = tmp_path / f"{number}.json"
        scene.save(path)
        again = hooke.Scene.load(path)
        same_model(scene, again)
        assert hooke.Sim(again).integrator == hooke.Sim(scene).integrator


def test_files_are_found_from_where_a_scene_was_saved(tmp_path, cloth):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    hooke.Mesh.shape(hooke.shapes.grid(nx=3, ny=3)).save(tmp_path / "a" / "cloth.obj")
    (tmp_path / "a" / "scene.json").write_text('{"bodies": [{"mesh": "cloth.obj"}]}')
    scene = hooke.Scene.load(tmp_path / "a" / "scene.json")
    scene.save(tmp_path / "b" / "scene.json")
    assert len(hooke.Model(hooke.Scene.load(tmp_path / "b" / "scene.json"))) == 9


def test_errors_carry_file_line_and_column(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{\n  "bodies": [{"shape": "grid", "springs": {"EAA": 1}}]\n}\n')
    with pytest.raises(hooke.FormatError) as caught:
        hooke.Scene.load(path)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 2, 44)
    assert error.status == "HK_ERROR_FORMAT" and isinstance(error, ValueError)
    assert "did you mean 'EA'?" in str(error)
    path.write_text('{\n  "bodies": [{"shape": "grid"}],\n  "pins": [{"select": "topp"}]}\n')
    scene = hooke.Scene.load(path)
    with pytest.raises(hooke.Error) as caught:  # found when the model is made, and still has its place
        scene.compile()
    assert caught.value.line == 3
    scene["pins[0].select"] = "nowhere"
    with pytest.raises(hooke.Error) as caught:  # the file does not say that any more
        scene.compile()
    assert caught.value.line == 0 and "pins[0]" in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    for load, name in ((hooke.Scene.load, "none.json"), (hooke.Mesh.load, "none.obj")):
        with pytest.raises(hooke.MissingFileError) as caught:
            load(tmp_path / name)
        assert isinstance(caught.value, hooke.FileError) and caught.value.status == "HK_ERROR_IO"
        assert isinstance(caught.value, FileNotFoundError)
        assert caught.value.file == str(tmp_path / name) and name in str(caught.value)
    page = hooke.run("oscillator", frames=1).page
    for save in (hooke.Scene.builtin("flag").save, page.save):
        with pytest.raises(hooke.MissingFileError, match="No such file"):
            save(tmp_path / "nowhere" / "a")
    with pytest.raises(hooke.FileError, match="directory"):
        hooke.Scene.load(tmp_path)
    (tmp_path / "bad.obj").write_text("v 0 0 0\nv 1 0 zero\n")
    with pytest.raises(hooke.FormatError) as caught:
        hooke.Mesh.load(tmp_path / "bad.obj")
    assert caught.value.line == 2
    (tmp_path / "bad.json").write_bytes(b'{\n"title": "\xff"}')
    with pytest.raises(hooke.FormatError, match="bad.json:2: the text is not UTF-8") as caught:
        hooke.Scene.load(tmp_path / "bad.json")
    assert caught.value.line == 2


def test_values_are_found_and_set_by_their_path(cloth):
    assert cloth["bodies[0].springs.k"] == 50
    cloth["bodies[0].springs.k"] = np.float64(70)
    assert (hooke.Model(cloth).springs.k == 70).all()
    cloth["integrator"] = "backward_euler"
    cloth["integrator.minimizer"] = hooke.minimizers.newton(tolerance=1e-9)
    assert hooke.Sim(cloth).integrator["minimizer"]["tolerance"] == 1e-9
    for path in ("bodies[7].name", "nothing.there[0]", "", "a..b"):
        with pytest.raises(KeyError):
            cloth[path]
    with pytest.raises(KeyError):
        cloth["pins[9].release"] = 1


def test_sets_replace_values_of_a_file():
    scene = hooke.Scene.builtin("oscillator", {"time.step": 0.5, "bodies[0].springs.k": 9})
    assert scene["time.step"] == 0.5 and hooke.Model(scene).springs.k[0] == 9
    with pytest.raises(hooke.Error):
        hooke.Scene.builtin("oscillator", {"time.step": -1})
    with pytest.raises(ValueError, match="did you mean 'oscillator'"):
        hooke.Scene.builtin("oscillators")
    with pytest.raises(ValueError, match="there are oscillator"):
        hooke.Scene.builtin("zebra")
    assert "curtain" in hooke.scenes()


def test_scenes_are_given_by_name_or_path_too(tmp_path, monkeypatch):
    flag = hooke.Scene.builtin("flag")
    flag.save(tmp_path / "mine.json")
    monkeypatch.chdir(tmp_path)
    for given in ("flag", "mine.json", tmp_path / "mine.json", str(tmp_path / "mine.json")):
        sim = hooke.Sim(given)
        sim.step()
        assert len(sim.x) == len(hooke.Model(given)) == len(hooke.Model(flag))
        result = hooke.run(given, frames=1, record=False)
        with hooke.Run(given) as run:
            run.frame()
            assert np.array_equal(run.state.x, result.state.x)
        done = hooke.sweep(given, {"h": [result.progress.h]}, workers=0, frames=1)
        assert np.array_equal(done.x[0], result.state.x)
    with pytest.raises(hooke.InvalidError, match="did you mean 'flag'"):
        hooke.Sim("flga")
    for call in (hooke.Sim, hooke.Model, hooke.Run, hooke.run, lambda s: hooke.sweep(s, {"k": [1]})):
        with pytest.raises(TypeError, match="expected a hooke.Scene"):
            call(7)
        with pytest.raises(hooke.MissingFileError):
            call("none.json")


def test_selections_are_names_numbers_masks_or_dicts(cloth):
    model = hooke.Model(cloth)
    assert model.select("top").tolist() == list(range(72, 81))
    assert model.select(5).tolist() == [5] and model.select([7, 3]).tolist() == [3, 7]
    assert model.select(hooke.State(model).x[:, 0] == 0).tolist() == list(range(0, 81, 9))
    assert model.select({"nearest": [0, 0, 0]}).tolist() == [0]
    assert model.select([4], body="cloth").tolist() == [4]
    with pytest.raises(TypeError, match="select"):
        model.select(1.5)
    with pytest.raises(hooke.Error, match="81"):
        model.select([81])
    assert model.bodies[0].name == "cloth" and model.bodies[0].sets["top"] == 9


def test_masks_have_an_entry_for_each_vertex(tmp_path, cloth):
    short, right = np.ones(80, bool), np.arange(81) < 2
    model = hooke.Model(cloth)
    words = "the mask has 80 entries, but there are 81 vertices"
    calls = [
        lambda mask: cloth.add_pin(mask),
        lambda mask: cloth.add_pin(np.roll(mask, 2), body="cloth"),
        lambda mask: cloth.add_probe("tip", mask),
        lambda mask: cloth.add_force("point_load", select=mask),
        lambda mask: cloth.add_force(hooke.forces.point_load(select=mask)),
        lambda mask: model.select(mask),
        lambda mask: model.select(mask, body="cloth"),
        lambda mask: model.forces.append(hooke.forces.point_load(select=mask)),
        lambda mask: hooke.Sim(model).grab(mask),
        lambda mask: hooke.Scene.from_arrays(np.ones((81, 3)), [[0, 1]], pins=mask),
    ]
    for call in calls:
        with pytest.raises(hooke.InvalidError, match=words):
            call(short)
        call(right)
    assert hooke.Model(cloth).pins.tolist() == [0, 1, 2, 3, 72, 80]
    load = pickle.loads(pickle.dumps(hooke.forces.point_load(select=short)))
    with pytest.raises(hooke.InvalidError, match=words):
        cloth.add_force(load.replace(force=[0, 1, 0]))
    with pytest.raises(hooke.InvalidError, match="there is no body 'no'; there are cloth"):
        cloth.add_pin(right, body="no")


def test_masks_of_files_and_repaired_bodies(tmp_path):
    (tmp_path / "two.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nl 3 4\n")
    scene = hooke.Scene()
    scene.folder = str(tmp_path)
    scene.add_body("two.obj", name="two", repair={"weld": 0.0})
    scene.add_pin([True, False, False, False], body="two")  # of the file
    scene.add_pin([False, False, True])  # of the model
    assert hooke.Model(scene).pins.tolist() == [0, 2]
    with pytest.raises(hooke.InvalidError, match="3 entries, but there are 4"):
        scene.add_pin([True, False, False], body="two")
    with pytest.raises(hooke.InvalidError, match="4 entries, but there are 3"):
        scene.add_pin([True, False, False, False])


def test_obstacles_are_part_of_a_scene():
    scene = hooke.Scene()
    scene.add_body(hooke.shapes.chain(), name="rope")
    spin = hooke.motions.rotation(speed=30)
    assert scene.add_obstacle(hooke.obstacles.ball(radius=0.2), name="marble", motion=spin, friction=0.4) == 0
    assert scene.add_obstacle("plane", two_sided=True) == 1
    again = hooke.Scene.parse(scene.text())
    ball, plane = again.data["obstacles"]
    assert ball["type"] == "ball" and ball["radius"] == 0.2 and ball["name"] == "marble"
    assert ball["friction"] == 0.4 and ball["motion"]["speed"] == 30 and not ball["two_sided"]
    assert plane["two_sided"] and "friction" not in plane
    assert hooke.Model(again).bodies[0].name == "rope"
    scene.add_obstacle(hooke.obstacles.box(), name="rope")
    with pytest.raises(hooke.InvalidError, match=r"obstacles\[2\].name: there is a body 'rope'"):
        hooke.Model(scene)
    with pytest.raises(TypeError, match="is a shape"):
        scene.add_obstacle(hooke.shapes.grid())


def test_contact_has_settings_by_body_and_by_pair():
    scene = hooke.Scene(step=0.01, integrator="backward_euler")
    sheet = hooke.shapes.grid(nx=3, ny=3)
    scene.add_body(sheet, name="shirt", contact={"thickness": 2e-3, "self": False, "friction": 0.5})
    scene.add_body(sheet, name="trousers", transform={"translate": [0, 0, 1]})
    scene.add_body(sheet, name="veil", transform={"translate": [0, 0, 2]}, contact=False)
    scene.add_obstacle("ball", name="ball", friction=0.08, friction_kinetic=0.02)
    scene.add_obstacle("ball", name="air", contact=False)
    assert scene.add_pair("shirt", "ground", friction=0.25, friction_kinetic=0.2) == 0
    assert scene.add_pair("shirt", "trousers", contact=False) == 1
    scene.add_force("contact", ground=True, height=-5, friction=0.5)
    model = hooke.Model(hooke.Scene.parse(scene.text()))
    shirt, trousers, veil, ball, air, ground = model.contact
    assert shirt["thickness"] == 2e-3 and not shirt["self"] and shirt["triangles"] == 8
    assert trousers["thickness"] == 1e-3 and trousers["self"] and trousers["edge_min"] == 0.5
    assert not veil["touches"] and not air["touches"] and ground["name"] == "ground"
    assert model.friction("shirt", "ball") == pytest.approx((0.2, 0.1))
    assert model.friction("ground", "shirt") == (0.25, 0.2)
    assert model.friction("shirt", "trousers") is None and model.friction("veil", "ball") is None
    with pytest.raises(hooke.InvalidError, match="no body or obstacle 'hat'"):
        model.friction("shirt", "hat")
    scene.add_pair("shirt", "trouser")
    with pytest.raises(hooke.InvalidError, match="did you mean 'trousers'"):
        hooke.Model(scene)


def test_messages_name_what_was_written():
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    for given in ({"edges": [[0, 9]]}, {"edges": [[0, 1, 2]]}, {"faces": np.array([[0, 1, 9]])},
                  {"faces": [[0, 1, 2, 9]]}, {"lines": [[0, 9]]}, {"tets": [[0, 1, 2, 9]]}):
        with pytest.raises(hooke.InvalidError, match=f"^{next(iter(given))}: "):
            hooke.Mesh(square, **given)


def test_wrong_arguments_are_refused_with_a_sentence(cloth):
    mesh = hooke.Mesh(np.eye(3), edges=[[0, 1], [1, 2]])
    cases = [
        (ValueError, "k: expected the shape (2,)", lambda s: s.add_body(mesh, k=[1, 2, 3])),
        (ValueError, "below 0", lambda s: s.add_body(mesh, k=[1, -2])),
        (ValueError, "masses: expected the shape (3,)", lambda s: s.add_body(mesh, masses=[1, 2])),
        (ValueError, "above 0 kg", lambda s: s.add_body(mesh, masses=[1, 2, 0])),
        (TypeError, "not both", lambda s: s.add_body(mesh, masses=1, mass=2)),
        (TypeError, "need a Mesh", lambda s: s.add_body(hooke.shapes.grid(), k=[1, 2])),
        (TypeError, "is a force", lambda s: s.add_body(hooke.forces.gravity())),
        (TypeError, "expected a motion", lambda s: s.add_pin("top", motion=3)),
        (hooke.FormatError, "did you mean 'gravity'", lambda s: s.add_force("gravty")),
        (ValueError, "not a finite", lambda s: s.add_body(mesh, velocity=[0, np.nan, 0])),
    ]
    for kind, words, call in cases:
        with pytest.raises(kind) as caught:
            call(cloth)
        assert words in str(caught.value)
    with pytest.raises(TypeError, match="hooke.Scene"):
        hooke.Model(3)
    with pytest.raises(TypeError, match="hooke.Model"):
        hooke.State(cloth)


def test_data_that_makes_no_sense_is_refused_with_a_sentence(cloth):
    for bodies, kind, words in (([3], TypeError, "bodies[0]: expected a dict, got 3"),
                                (7, hooke.FormatError, "bodies: expected"),
                                ([], hooke.Error, "bod")):
        cloth.data["bodies"] = bodies
        for call in (hooke.Model, hooke.Sim, hooke.run):
            with pytest.raises(kind) as caught:
                call(cloth)
            assert words in str(caught.value)
    del cloth.data["bodies"]
    with pytest.raises(hooke.Error, match="bod"):
        hooke.run(cloth)


def test_scenes_and_meshes_can_be_pickled_and_copied():
    scene = three_masses()
    same_model(scene, pickle.loads(pickle.dumps(scene)))
    other = scene.copy()
    other["bodies[0].springs.table"][0, 2] = 99  # its own array
    assert hooke.Model(scene).springs.k[0] == 10
    mesh = hooke.Mesh(np.eye(3), edges=[[0, 1]], polygons=[[0, 1, 2, 0, 1]], sets={"a": [1]})
    again = pickle.loads(pickle.dumps(mesh))
    assert again.cells["lines"].tolist() == [[0, 1]] and again.sets["a"].tolist() == [1]
    assert again.cells["polygons"][0].tolist() == [0, 1, 2, 0, 1]


def test_the_text_of_a_scene_is_json(cloth):
    data = json.loads(cloth.text())
    assert data["bodies"][0]["shape"]["nx"] == 9
    assert hooke.Scene.parse(cloth.text()).data == data
