"""Runs the tests of the package in a build folder: run_tests.py BUILD/python [pytest's arguments].

Where pytest or numpy is not there it says so and ends with 77, which CTest takes for skipped."""

import os
import sys

folder = os.path.dirname(os.path.abspath(__file__))
package = os.path.abspath(sys.argv[1])
sys.path.insert(0, package)
os.environ["PYTHONPATH"] = package  # of the processes that tests start
plugins = os.path.join(os.path.dirname(package), "tests", "plugin")  # a device that needs no GPU
if os.path.exists(os.path.join(plugins, "libhooke_cuda.so")):
    os.environ["HOOKE_TEST_PLUGINS"] = plugins
if os.path.exists(os.path.join(os.path.dirname(package), "libhooke_petsc.so")):
    os.environ["HOOKE_TEST_PETSC"] = os.path.dirname(package)
library = os.path.join(os.path.dirname(package), "examples", "force_library")
if os.path.exists(os.path.join(library, "magnet.so")):
    os.environ["HOOKE_TEST_FORCE_LIBRARY"] = library
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
try:
    import numpy  # noqa: F401
    import pytest
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
sys.exit(pytest.main([folder, "-q", "-p", "no:cacheprovider", *sys.argv[2:]]))
