"""Each example runs, and its own checks hold."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).parents[2] / "examples" / "python").glob("*.py"))
#: Vertices a side, or iterations, fewer than those of the picture, for the time they take.
SMALLER = {
    "curtain": ["41"], "fit_stiffness": ["13"], "rest_shape": ["9"], "throw_net": ["9"], "walker": ["3"], "wind_from_flag": ["7"],
}


def launcher(path):
    """What starts an example, and variables for it: that of ranks runs on two processes."""
    if path.stem != "ranks":
        return [], {}
    pytest.importorskip("mpi4py")
    if "HOOKE_TEST_PETSC" not in os.environ or shutil.which("mpirun") is None:
        pytest.skip("no plug-in libhooke_petsc was built, or there is no mpirun")
    more = {"HOOKE_PLUGINS": os.environ["HOOKE_TEST_PETSC"], "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "2"], more


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    start, variables = launcher(path)
    if "import scipy" in path.read_text() or "from scipy" in path.read_text():
        pytest.importorskip("scipy", reason="scipy is not installed, whose optimizers the example uses")
    try:
        import matplotlib  # noqa: F401

        picture = [str(tmp_path / "picture.png")]
    except ImportError:
        picture = []
    more = SMALLER.get(path.stem, []) if picture else []
    done = subprocess.run(
        [*start, sys.executable, str(path), *picture, *more], capture_output=True, text=True, timeout=300,
        env={**os.environ, "MPLBACKEND": "Agg", **variables}, cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert all(os.path.getsize(name) > 5000 for name in picture)


def test_there_are_examples():
    assert len(EXAMPLES) >= 10
