"""Runs: a scene from its first to its last frame, in memory or into files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core
from ._arrays import Floats
from ._deprecated import deprecated
from ._progress import Progress, bar
from .contacts import Contacts
from .energies import Energies, StateInfo
from .errors import InvalidError
from .methods import Method
from .model import Model
from .ranks import Ranks, device_of
from .scene import Scene, as_scene
from .state import State
from .view import Film, Page, show

__all__ = ["Result", "Run", "RunProgress", "run"]


class RunProgress(NamedTuple):
    """How far a run is."""

    frame: int  #: written so far without the first
    frames: int  #: to write in all
    step: int
    substeps: int  #: steps in each frame
    steps: int
    stationary: int  #: steps that meet the tolerance and are not known to be minima
    unconverged: int  #: steps whose equations are not met to the tolerance
    halvings: int  #: of the step, after blow-ups
    time: float  #: s
    duration: float  #: s
    part: float  #: of the present step that an adaptive one has done so far, 0 to 1
    h: float  #: s, the step
    stable_h: float  #: s, the largest stable step at the start
    stepping: float  #: s of the clock in steps, or in waiting for those of a device
    writing: float  #: s of the clock in outputs and checkpoints


class Result:
    """What a run leaves: times, positions, energies, the last state."""

    def __init__(
        self, scene: Scene, model: Model, state: State, times: Floats, x: Floats | None,
        energies: Energies, progress: RunProgress, seconds: float, page: Page | None,
    ) -> None:
        self.scene = scene
        self.model: Model | None = model
        self.state = state  #: the last one
        self.time = times  #: (F,) s
        self.x = x  #: (F, N, 3) m; None where it was not recorded
        self.energies = energies
        self.progress = progress
        self.seconds = seconds  #: s of the clock
        self._page = page

    @property
    def page(self) -> Page:
        """One page of HTML that plays the motion."""
        if self._page is None:
            raise InvalidError("the run was made with record=False or on ranks, so there is no motion to show")
        return self._page

    def show(self, height: int = 520) -> None:
        """Shows the motion: in a notebook the page, so many pixels high, elsewhere a picture of the
        end."""
        if self.model is None:
            self.model = Model(self.scene, threads=1)
        show(self.page, self.model, self.state.x, height)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "model": None, "_page": None}

    def __repr__(self) -> str:
        return (
            f"<hooke.Result: {len(self.time) - 1} frames to {self.time[-1]:g} s, "
            f"{self.progress.steps} steps in {self.seconds:.3g} s>"
        )


class Run:
    """A scene on its way, frame by frame, with the files that it asks for in a folder.

        with hooke.Run(scene, folder="out") as run:
            for frame in run:
                print(run.state_info().total)

    Ctrl-C ends the step under way and leaves a checkpoint of the last whole one; resume=True goes on from it with the same bytes.

    Parameters
    ----------
    scene : Scene, the name of a built-in one, or the path of a scene file
    folder : path
        Made where it is not there; nothing is written without it.
    resume, force : bool
        Go on with, or replace, an earlier run in the folder.
    on_blowup : "stop" or "halve"
        Raise BlowupError, or start over with half the step.
    report : bool
        Leave a page report.html in the folder.
    ranks : Ranks
        Processes that hold a part of the model each and make the run together.
    """

    def __init__(
        self,
        scene: Scene | str | os.PathLike[str],
        *,
        folder: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        on_blowup: str = "stop",
        checkpoint_seconds: float = 5.0,
        report: bool = False,
        threads: int = 0,
        device: str = "cpu",
        ranks: Ranks | None = None,
    ) -> None:
        if on_blowup not in ("stop", "halve"):
            raise InvalidError(f"on_blowup: {on_blowup!r} is neither 'stop' nor 'halve'")
        if report and folder is None:
            raise InvalidError("report: a report needs a folder to be written into")
        self.scene = as_scene(scene).copy()
        self._report = report
        device = device_of(device, ranks)
        self._handle = _core.run_create(
            self.scene._create(threads, device, ranks), folder, resume, force, on_blowup == "halve",
            checkpoint_seconds, report,
        )
        self._sim = _core.run_sim(self._handle)
        self.model = Model._of(_core.run_model(self._handle), self.scene, device, ranks)

    def frame(self) -> bool:
        """Simulates and writes one frame; False when there is none left."""
        return _core.run_frame(self._handle)

    def __iter__(self) -> Iterator[int]:
        while self.frame():
            yield self.progress.frame

    @property
    def progress(self) -> RunProgress:
        """How far the run is."""
        return RunProgress(*_core.run_progress(self._handle))

    @property
    def state(self) -> State:
        """The state as it is now, as a copy."""
        return State._of(_core.run_state(self._handle), self.model)

    def state_info(self, state: State | None = None) -> StateInfo:
        """Energies [J], momenta and extremes of the state now, or of a state of this run."""
        state = self.state if state is None else state
        return StateInfo._of(_core.sim_state_info(self._sim, state._handle))

    def contacts(self, state: State | None = None) -> Contacts:
        """What touches at the state now, or at a state of this run."""
        state = self.state if state is None else state
        return Contacts._of(_core.sim_contacts(self._sim, state._handle))

    def report(self, state: State | None = None) -> StateInfo:
        """Deprecated name of state_info."""
        deprecated("run.report()", "run.state_info()")
        return self.state_info(state)

    def close(self) -> None:
        """Leaves the checkpoint, and the report if one was asked for; the run makes no more frames."""
        _core.run_write(self._handle, False)
        if self._report:
            _core.run_write(self._handle, True)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def run(
    scene: Scene | str | os.PathLike[str],
    frames: int | None = None,
    *,
    duration: float | None = None,
    fps: float | None = None,
    step: float | None = None,
    integrator: Method | str | dict[str, Any] | None = None,
    record: bool = True,
    progress: Progress = None,
    each: Callable[[Run], object] | None = None,
    **options: Any,
) -> Result:
    """Runs a scene and returns what came out.

    Parameters
    ----------
    scene : Scene, the name of a built-in one, or the path of a scene file
    frames : int
        How many; or duration [s]; that of the scene if neither is given.
    fps [1/s], step [s], integrator
        In the place of those of the scene.
    record : bool
        Keep the positions of all frames, 24 bytes a vertex each, and what show() plays.
    progress
        True, False, None (a bar where somebody looks), or a function of (done, total).
    each
        Is called with the run after each frame.
    options
        What Run takes: folder, resume, force, on_blowup, report, threads, device, ranks. With ranks no page
        is kept, and positions are those of the part.
    """
    if frames is not None and duration is not None:
        raise TypeError("give frames or duration, not both")
    scene = as_scene(scene).copy()
    changes = {"frames_per_second": fps, "duration": duration, "step": step}
    for key, value in changes.items():
        if value is not None:
            scene[f"time.{key}"] = value
    if frames is not None:
        scene["time.duration"] = frames / scene.data["time"].get("frames_per_second", 30.0)
    if integrator is not None:
        scene["integrator"] = integrator
    begin = time.perf_counter()
    with Run(scene, **options) as going:
        return _gather(going, record, progress, each, begin)


class _Frames:
    """What is kept of a run's frames; all is forgotten where the run starts over."""

    def __init__(self, going: Run, record: bool) -> None:
        self.going, self.record = going, record
        self.begin(going.state)

    def begin(self, state: State) -> None:
        progress = self.going.progress
        self.halvings = progress.halvings
        self.times: list[float] = []
        self.shapes: list[Floats] = []
        self.infos: list[StateInfo] = []
        films = self.record and not self.going.model.ranks
        self.film = Film(self.going.model, progress.frames + 1) if films else None
        self.keep(state)

    def keep(self, state: State) -> None:
        self.state = state
        self.times.append(state.time)
        self.infos.append(self.going.state_info(state))
        if self.record:
            self.shapes.append(state.x.copy())
        if self.film is not None:
            self.film._add(self.going._sim, state._handle, state.time)

    def add(self) -> None:
        if self.going.progress.halvings != self.halvings:  # back to the start with a smaller step
            self.begin(State(self.going.model))
        self.keep(self.going.state)


def _gather(
    going: Run, record: bool, progress: Progress, each: Callable[[Run], object] | None, begin: float
) -> Result:
    frames = _Frames(going, record)
    with bar(progress, going.progress.frames, going.scene.title or "running") as notify:
        for frame in going:
            frames.add()
            if each is not None:
                each(going)
            notify(frame)
    return Result(
        going.scene, going.model, frames.state, np.array(frames.times),
        np.array(frames.shapes) if record else None, Energies(frames.infos), going.progress,
        time.perf_counter() - begin,
        None if frames.film is None else frames.film._page(going._sim),
    )
