"""Small scenes that many tests use."""

import hooke
import pytest


def make_pendulum(**scene):
    scene = hooke.Scene(**{"integrator": "verlet", "step": 1e-3, **scene})
    scene.add_body(hooke.shapes.spring(length=1.1), k=100.0, l0=1.0, masses=1.0)
    scene.add_pin("start")
    scene.add_force("gravity")
    return scene


def make_cloth(n=9, **scene):
    step = 1e-3 if n < 20 else 2e-4  # both are stable
    scene = hooke.Scene(**{"integrator": "symplectic_euler", "step": step, **scene})
    springs = {"k": 50, "shear": True, "bending": True}
    scene.add_body(hooke.shapes.grid(nx=n, ny=n), name="cloth", springs=springs, mass=0.3)
    scene.add_pin("top_left")
    scene.add_pin("top_right")
    scene.add_force("gravity")
    return scene


@pytest.fixture
def pendulum():
    return make_pendulum()


@pytest.fixture
def cloth():
    return make_cloth()
