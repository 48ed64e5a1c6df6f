"""The record of contacts: weights, sums and names, from Python."""

import json

import hooke
import numpy as np
import pytest

G = 9.81


def scene(**more):
    return hooke.Scene.parse(json.dumps({
        "bodies": [{"name": "cloth", "shape": {"type": "grid", "nx": 6, "ny": 6, "width": 0.3,
                                               "height": 0.3, "plane": "xz", "centered": True},
                    "transform": {"translate": [0.01, 0.0025, 0]},
                    "springs": {"EA": 5, "shear": True, "damping": 0.01}, "mass": 0.2}],
        "obstacles": [{"name": "plate", "type": "plane", "point": [0, 0.001, 0]},
                      {"name": "far", "type": "ball", "center": [0, 3, 0], "radius": 0.1}],
        "forces": ["gravity", {"type": "contact", "ground": True, "height": -1}],
        "time": {"duration": 0.5, "step": 0.01, "frames_per_second": 20},
        "integrator": "backward_euler", **more,
    }))


def test_a_scale_reads_the_weight():
    sim = hooke.Sim(scene())
    sim.step(100)
    contacts = sim.contacts()
    weight = G * sim.model.masses.sum()
    assert sim.model.obstacles == ["plate", "far"]
    assert contacts.obstacle_forces[0] == pytest.approx([0, weight, 0], rel=1e-6, abs=1e-9)
    center = sim.model.masses @ sim.x / sim.model.masses.sum()
    torque = np.cross(center, [0, weight, 0])
    assert contacts.obstacle_torques[0] == pytest.approx(torque, abs=1e-6)
    assert not contacts.obstacle_forces[1].any()
    assert not contacts.ground_force.any() and not contacts.ground_torque.any()
    assert contacts.forces.sum(axis=0) == pytest.approx([0, weight, 0], rel=1e-6, abs=1e-9)
    assert contacts.vertex_forces.sum(axis=0) == pytest.approx([0, weight, 0], rel=1e-6, abs=1e-9)
    assert contacts.energy == pytest.approx(sim.state_info().other)


def test_arrays_have_one_entry_a_contact():
    sim = hooke.Sim(scene())
    sim.step(100)
    contacts = sim.contacts()
    count = len(contacts)
    assert count == len(sim.x)  # every vertex lies on the plate
    assert sorted(contacts.vertices[:, 0]) == list(range(count))
    assert (contacts.vertices[:, 1:] == -1).all() and (contacts.split == 1).all()
    assert (contacts.weights == [1, 0, 0, 0]).all()
    assert contacts.other_kind == ["obstacle"] * count and not contacts.other.any()
    assert not contacts.body.any() and not contacts.friction.any()
    assert (contacts.normals == [0, 1, 0]).all()
    assert contacts.gaps.min() == contacts.least_gap > 0
    heights = sim.x[contacts.vertices[:, 0], 1]
    assert contacts.gaps == pytest.approx(heights - 0.001 - 0.0005, abs=1e-12)
    assert contacts.points[:, 1] == pytest.approx(0.001 + 0.5 * contacts.gaps, abs=1e-12)
    assert contacts.searches > 0 and contacts.friction_work == 0


def test_nothing_touches_before_and_without_contact():
    sim = hooke.Sim(scene(forces=["gravity"]))
    contacts = sim.contacts()
    assert len(contacts) == 0 and contacts.least_gap == np.inf
    assert contacts.vertex_forces.shape == (0, 3) and contacts.obstacle_forces.shape == (0, 3)
    above = scene()
    above["bodies[0].transform.translate"] = [0, 1, 0]
    contacts = hooke.Sim(above).contacts()
    assert len(contacts) == 0 and contacts.vertex_forces.shape == (36, 3)
    assert not contacts.vertex_forces.any() and contacts.obstacle_forces.shape == (2, 3)


def test_a_run_has_contacts_and_writes_them(tmp_path):
    run = hooke.Run(scene(outputs=["reactions", "contacts"]), folder=tmp_path / "out")
    for _ in run:
        pass
    fy = run.contacts().obstacle_forces[0, 1]
    run.close()
    rows = (tmp_path / "out" / "reactions.csv").read_text().splitlines()
    column = rows[0].split(",").index("obstacles[plate].fy")
    assert float(rows[-1].split(",")[column]) == fy
    assert (tmp_path / "out" / "contacts" / "frame_000010.vtu").exists()
