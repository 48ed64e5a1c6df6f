"""Hooke: mass-spring systems.

    import hooke
    result = hooke.run(hooke.Scene.builtin("flag"), frames=90)
    result.energies.plot()

The road is that of the C library: Scene -> Model -> Sim + State. Units are SI. Arrays are views of the
library's memory wherever they can be. See docs/python.md.
"""

from __future__ import annotations

import logging as _logging
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any, cast as _cast

from . import _core
from .errors import (
    BlowupError,
    Error,
    FileError,
    FormatError,
    InvalidError,
    MissingFileError,
    OutOfMemoryError,
    UnsupportedError,
    make_error as _make_error,
)

_logger = _logging.getLogger("hooke")


def _log(warning: int, text: str) -> None:
    _logger.log(_logging.WARNING if warning else _logging.INFO, "%s", text)


_core.configure(_make_error, _log)

from ._deprecated import deprecated as _deprecated  # noqa: E402
from ._sparse import Triplets  # noqa: E402
from .batch import Batch  # noqa: E402
from .contacts import Contacts  # noqa: E402
from .custom import CustomForce, ForceArray  # noqa: E402
from .device import DeviceArray  # noqa: E402
from .energies import Energies, StateInfo  # noqa: E402
from .gradients import Gradients, Tape, record  # noqa: E402
from .linear import LinearSolver, SystemMatrix  # noqa: E402
from .mesh import Mesh  # noqa: E402
from .methods import Method, Namespace as _Namespace  # noqa: E402
from .model import Body, Forces, Model, Springs  # noqa: E402
from .ranks import Part, Ranks  # noqa: E402
from .run import Result, Run, RunProgress, run  # noqa: E402
from .scene import Scene, scenes  # noqa: E402
from .sim import Grip, Motion, Sim, StepInfo, Trace  # noqa: E402
from .state import State  # noqa: E402
from .sweep import Sweep, sweep  # noqa: E402
from .view import Page, picture  # noqa: E402

if _TYPE_CHECKING:
    import hooke._registry as _registry  # types alone, written by the build (python/make_stubs.py)
else:

    def __getattr__(name: str) -> _Any:
        new = {"Report": "StateInfo", "StepReport": "StepInfo"}.get(name)
        if new is None:
            raise AttributeError(f"module 'hooke' has no attribute '{name}'")
        _deprecated(f"hooke.{name}", f"hooke.{new}")
        return globals()[new]


__version__: str = _core.version()

shapes = _cast("_registry.Shape", _Namespace("shape", "Procedural meshes"))
forces = _cast("_registry.Force", _Namespace("force", "What pulls at the masses"))
motions = _cast("_registry.Motion", _Namespace("motion", "How a pin or an obstacle moves"))
obstacles = _cast("_registry.Obstacle", _Namespace("obstacle", "What bodies touch"))
integrators = _cast("_registry.Integrator", _Namespace("integrator", "Time integrators"))
minimizers = _cast("_registry.Minimizer", _Namespace("minimizer", "Minimizers that solve an implicit step"))
linear_solvers = _cast("_registry.Linear", _Namespace("linear", "Solvers of linear systems"))
preconditioners = _cast("_registry.Preconditioner", _Namespace("preconditioner", "Preconditioners of pcg"))
outputs = _cast("_registry.Output", _Namespace("output", "Exporters of runs into a folder"))


def formats() -> dict[str, str]:
    """The mesh formats: ending and summary."""
    return {name: summary for name, summary, _ in _core.mesh_formats()}


__all__ = [
    "Batch",
    "BlowupError",
    "Body",
    "Contacts",
    "CustomForce",
    "DeviceArray",
    "Energies",
    "Error",
    "FileError",
    "ForceArray",
    "Forces",
    "FormatError",
    "Gradients",
    "Grip",
    "InvalidError",
    "LinearSolver",
    "Mesh",
    "Method",
    "MissingFileError",
    "Model",
    "Motion",
    "OutOfMemoryError",
    "Page",
    "Part",
    "Ranks",
    "Result",
    "Run",
    "RunProgress",
    "Scene",
    "Sim",
    "Springs",
    "State",
    "StateInfo",
    "StepInfo",
    "Sweep",
    "SystemMatrix",
    "Tape",
    "Trace",
    "Triplets",
    "UnsupportedError",
    "forces",
    "formats",
    "integrators",
    "linear_solvers",
    "minimizers",
    "motions",
    "obstacles",
    "outputs",
    "picture",
    "preconditioners",
    "record",
    "run",
    "scenes",
    "shapes",
    "sweep",
]
