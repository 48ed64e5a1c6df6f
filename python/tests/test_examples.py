"""Each example runs, and its own checks hold."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).parents[2] / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    try:
        import matplotlib  # noqa: F401

        picture = [str(tmp_path / "picture.png")]
    except ImportError:
        picture = []
    more = ["41"] if picture and path.stem == "curtain" else []  # smaller, for the time it takes
    done = subprocess.run(
        [sys.executable, str(path), *picture, *more], capture_output=True, text=True, timeout=300,
        env={**os.environ, "MPLBACKEND": "Agg"}, cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert all(os.path.getsize(name) > 5000 for name in picture)


def test_there_are_examples():
    assert len(EXAMPLES) >= 5
