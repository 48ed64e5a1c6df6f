"""Every Python snippet of the documents runs: fenced blocks, and code in the tables of the cheat sheet.

A document is one session: its snippets run in their order, in one namespace. Those that need a
package which is not installed, a GPU, or several processes, are only parsed."""

import ast
import copy
import importlib.util
import pathlib
import pickle
import re

import hooke
import pytest

ROOT = pathlib.Path(__file__).parents[2]
DOCUMENTS = ["README.md", "docs/python.md", "docs/python_from_others.md", "docs/gradients.md"]
TABLES = ["docs/python.md"]  # whose tables have snippets, too
OPTIONAL = {"cupy", "jax", "matplotlib", "mpi4py", "mujoco", "newton", "scipy", "taichi", "torch", "warp"}
GPU_SECTION = "## On a GPU"
RANKS_SECTION = "## On several processes"  # which mpirun starts: test_ranks.py runs its program


def find_snippets(text, tables):
    """(line, section, code) of each snippet."""
    section, fence = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if fence is not None:
            if line.startswith("```"):
                yield fence[0], section, "\n".join(fence[1])
                fence = None
            else:
                fence[1].append(line)
        elif line.startswith("```python"):
            fence = (number + 1, [])
        elif line.startswith("## "):
            section = line
        elif tables and line.startswith("|"):
            for code in re.findall(r"`([^`]+)`", line):
                if re.search(r"[(.=\[]", code):
                    yield number, section, code


def missing_packages(code):
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.split(".")[0])
    missing = {name for name in names if importlib.util.find_spec(name) is None}
    assert missing <= OPTIONAL, missing
    return missing


def has_gpu():
    try:
        hooke.Sim("oscillator", device="cuda", integrator="verlet")
    except hooke.Error:
        return False
    return True


@pytest.mark.parametrize("name", DOCUMENTS)
def test_snippets_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    hooke.Scene.builtin("flag").save("cloth.json")  # files that the cheat sheet reads
    hooke.Mesh.shape(hooke.shapes.grid(nx=5, ny=5)).save("shirt.obj")
    scene = hooke.Scene.builtin("flag")
    space = {"hooke": hooke, "copy": copy, "pickle": pickle, "scene": scene, "__name__": "snippet"}
    space.update({key: getattr(hooke, key) for key in hooke.__all__})
    ran = 0
    for line, section, code in find_snippets((ROOT / name).read_text(), name in TABLES):
        compiled = compile(code, f"{name}:{line}", "exec")
        if missing_packages(code) or section == RANKS_SECTION or (section == GPU_SECTION and not has_gpu()):
            continue
        try:
            exec(compiled, space)
        except ImportError as error:  # of plots
            assert importlib.util.find_spec("matplotlib") is None, error
        except Exception as error:
            raise AssertionError(f"{name}:{line}: {code}\n{type(error).__name__}: {error}") from error
        if "sim" in space:
            space["model"] = space["sim"].model
        ran += 1
    assert ran > 0
