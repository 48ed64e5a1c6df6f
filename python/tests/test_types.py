"""The types that the build writes from the registries, as a type checker sees them."""

import ast
import inspect
import os
import pathlib
import shutil
import subprocess

import hooke
import pytest

STUB = pathlib.Path(hooke.__file__).parent / "_registry.pyi"
FAMILIES = {"Shape": hooke.shapes, "Force": hooke.forces, "Motion": hooke.motions,
            "Obstacle": hooke.obstacles,
            "Integrator": hooke.integrators, "Minimizer": hooke.minimizers,
            "Linear": hooke.linear_solvers, "Preconditioner": hooke.preconditioners,
            "Output": hooke.outputs}


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """A function: what mypy says of code, with the package as it is imported here."""
    if not shutil.which("mypy"):
        pytest.skip("mypy is not installed")
    folder = tmp_path_factory.mktemp("types")  # one for all, so that mypy reads numpy once
    package = str(pathlib.Path(hooke.__file__).parents[1])

    def output(code):
        (folder / "code.py").write_text(code)
        done = subprocess.run(
            ["mypy", "--strict", "--no-error-summary", "--cache-dir", "cache", "code.py"],
            cwd=folder, capture_output=True, text=True, env={**os.environ, "MYPYPATH": package},
        )
        assert not done.stderr, done.stderr
        return done.stdout

    return output


def test_every_method_has_its_signature():
    classes = {node.name: node for node in ast.parse(STUB.read_text()).body
               if isinstance(node, ast.ClassDef)}
    for name, family in FAMILIES.items():
        found = {node.name: node for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        assert list(found) == list(family)
        for method, node in found.items():
            params = inspect.signature(getattr(family, method)).parameters
            assert [arg.arg for arg in node.args.kwonlyargs] == list(params)
            assert ast.get_docstring(node) == inspect.getdoc(getattr(family, method))


def test_right_calls_have_no_type_errors(check):
    assert check("""
from __future__ import annotations
import hooke
import numpy as np
import numpy.typing as npt

shape = hooke.shapes.grid(nx=np.int64(3), ny=4, plane="xz", width=2, height=np.float32(1.5))
newton = hooke.minimizers.newton(linear=hooke.linear_solvers.ldlt())
sim = hooke.Sim("flag", integrator=hooke.integrators.bdf2(minimizer=newton))
hooke.forces.point_load(select=np.arange(3), force=[0, 1, 0])
for name in hooke.linear_solvers:
    hooke.minimizers.newton(linear=name)
number: int = sim.model.add_force(lambda t, x, v: -0.1 * v, energy=lambda t, x: 0.0)
sim.model.add_force(hooke.forces.gravity())
sim.model.add_force_array(np.zeros((3, 3)))

class Solver:
    direct = True

    def prepare(self, A: hooke.SystemMatrix) -> bool:
        return bool(A.data.min() > 0) and A.shape[0] == len(A.indptr) - 1

    def solve(self, A: hooke.SystemMatrix, b: npt.NDArray[np.float64], tolerance: float) -> npt.ArrayLike:
        return A @ b

hooke.Sim("flag", linear_solver=Solver())
hooke.Sim("flag", linear_solver=lambda A, b, tolerance: A.matvec(b))
solver: hooke.LinearSolver | None = sim.linear_solver
sim.model.masses = 0.1 * sim.model.masses
sim.state.set_springs(k=2 * sim.state.springs.k, broken=[True, False])
tape: hooke.Tape = hooke.record(sim, 3, frames=range(1, 4), k=np.ones((3, 2)))
grads: hooke.Gradients = tape.backward(dL_dx=2 * tape.x)
stiffness: npt.NDArray[np.float64] = grads.springs.k
dx, dv = tape.tangent(masses=grads.masses, forces={1: {"g": 1.0}, 2: np.zeros((3, 3))}, motions={0: {"phase": 3}})
""") == ""


def test_wrong_calls_are_type_errors(check):
    wrong = {"hooke.Model('flag').add_force(abs, energy=3)": "energy",
             "hooke.Model('flag').add_force_array([1])": "add_force_array",
             "hooke.record('flag', 3)": "record", "hooke.record(hooke.Sim('flag'), 3, frames=0.5)": "frames",
             "hooke.Sim('flag', linear_solver=3)": "linear_solver",
             "hooke.Sim('flag', linear_solver=lambda A: A)": "linear_solver",
             "hooke.shapes.gird()": "gird", "hooke.shapes.grid(nxx=3)": "nxx",
             "hooke.shapes.grid(nx='a')": "nx", "hooke.shapes.grid(plane='ab')": "plane",
             "hooke.shapes.grid(3)": "positional", "hooke.integrators.bdf2(minimizer=3)": "minimizer"}
    lines = check("import hooke\n" + "\n".join(wrong) + "\n").splitlines()
    for number, word in enumerate(wrong.values(), 2):
        assert any(line.startswith(f"code.py:{number}: error:") and word in line for line in lines)


def test_signatures_are_no_any(check):
    revealed = check("import hooke\nreveal_type(hooke.shapes.grid)\n")
    assert "nx: Union[" in revealed and "*Any" not in revealed
