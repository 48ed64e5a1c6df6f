"""Sweeps: one scene with many values of its parameters, over processes."""

from __future__ import annotations

import itertools
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from ._arrays import plain
from ._progress import Progress, bar
from .energies import StateInfo
from .run import Result
from .scene import Scene, as_scene

__all__ = ["Sweep", "sweep"]

#: Short names of what is varied most.
SHORT = {
    "h": "time.step",
    "step": "time.step",
    "duration": "time.duration",
    "k": "bodies[*].springs.k",
    "EA": "bodies[*].springs.EA",
    "damping": "bodies[*].springs.damping",
    "mass": "bodies[*].mass.total",
}

#: Where a spring's own value stands in the table of a body's springs; -1 there: as all others.
COLUMN = {"k": 2, "EA": 2, "damping": 4}

#: The ways to give the mass of a body; a scene has one of them.
MASS_KEYS = ("per_vertex", "total", "length_density", "area_density", "volume_density")
ADDED_COLUMNS = 2  # vertex, mass [kg]

Job = "tuple[int, Scene, dict[str, Any]]"


class Sweep:
    """Results over the grid of all combinations: arrays with one axis a parameter, in their order.

    `sweep["total"]` are the last total energies [J], and so all fields of hooke.StateInfo;
    `sweep.value` what `measure` returned; `sweep.x` the last positions [m]; `sweep.seconds` the time
    of each [s]. What failed is NaN, and `sweep.errors` says why.
    """

    def __init__(self, parameters: Mapping[str, Sequence[Any]]) -> None:
        self.parameters = {name: list(values) for name, values in parameters.items()}
        self.shape = tuple(len(values) for values in self.parameters.values())
        self.errors: dict[tuple[int, ...], str] = {}
        self.results: npt.NDArray[Any] = np.full(self.shape, None, dtype=object)
        self._values: npt.NDArray[Any] = np.full(self.shape, None, dtype=object)

    def __getitem__(self, field: str) -> npt.NDArray[Any]:
        if field not in StateInfo._fields:
            raise KeyError(f"there is no '{field}'; there are {', '.join(StateInfo._fields)}")
        return self._array(lambda result: result.energies[field][-1])

    @property
    def value(self) -> npt.NDArray[Any]:
        """What measure returned."""
        return _stacked(self._values)

    @property
    def x(self) -> npt.NDArray[Any]:
        """The last positions [m], (..., N, 3); of scenes with different meshes an array of arrays."""
        return self._array(lambda result: result.state.x)

    @property
    def seconds(self) -> npt.NDArray[Any]:
        """Time of the clock that each took [s]."""
        return self._array(lambda result: result.seconds)

    def _array(self, of: Callable[[Result], Any]) -> npt.NDArray[Any]:
        values = np.full(self.shape, None, dtype=object)
        for at, result in np.ndenumerate(self.results):
            values[at] = None if result is None else of(result)
        return _stacked(values)

    def __repr__(self) -> str:
        axes = " x ".join(f"{len(v)} {name}" for name, v in self.parameters.items())
        failed = f", {len(self.errors)} failed" if self.errors else ""
        return f"<hooke.Sweep: {axes}{failed}>"


def sweep(
    scene: Scene | str | os.PathLike[str],
    parameters: Mapping[str, Sequence[Any]],
    *,
    workers: int | None = None,
    threads: int = 1,
    measure: Callable[[Result], Any] | None = None,
    progress: Progress = None,
    **options: Any,
) -> Sweep:
    """Runs a scene with every combination of values.

        s = hooke.sweep(scene, {"k": [10, 100, 1000], "h": [0.01, 0.005]}, workers=2, frames=30)
        s["total"]          # (3, 2) energies at the end

    Parameters
    ----------
    parameters : {name: values}
        A path into the scene, such as "bodies[0].springs.k" (bodies[*]: of all), "integrator", or
        short: k, EA, damping, mass (the total of each body), h, duration.
    workers : int
        Processes beside each other; as many as there are cores if not given, 0: none, all is done
        here. One that dies fails its combination only.
    threads : int
        Of each.
    measure : function of a Result
        What to keep of each in `value`; it is called in this process.
    options
        What hooke.run takes: frames, duration, record (False if not given), on_blowup ...
    """
    scene = as_scene(scene)
    done = Sweep(parameters)
    options = {"record": False, "threads": threads, "progress": False, **options}
    jobs: list[tuple[tuple[int, ...], Scene]] = []
    places = list(np.ndindex(done.shape))
    for place, values in zip(places, itertools.product(*done.parameters.values())):
        changed = scene.copy()
        try:
            for name, value in zip(done.parameters, values):
                _apply(changed, name, value)
        except (KeyError, TypeError, ValueError) as error:
            done.errors[place] = str(error.args[0] if error.args else error)
            continue
        jobs.append((place, changed))
    count = min(len(jobs), os.cpu_count() or 1 if workers is None else workers)
    outcomes = _alone(jobs, options) if count < 1 else _beside(jobs, options, count)
    with bar(progress, len(jobs), "sweep") as notify:
        for finished, (place, result, why) in enumerate(outcomes, 1):
            if why is None and measure is not None and result is not None:
                try:
                    done._values[place] = measure(result)
                except Exception as error:  # of the user's function: kept in the result, not fatal
                    why = f"measure: {error}"
            if why is not None:
                done.errors[place] = why
            done.results[place] = result
            notify(finished)
    return done


def _apply(scene: Scene, name: str, value: Any) -> None:
    path = SHORT.get(name, name)
    if "[*]" not in path:
        scene[path] = value
        return
    part = path[: path.index("[*]")]
    for number in range(len(scene[part])):
        body = scene[f"{part}[{number}]"]
        if name == "mass":
            body["mass"] = _mass(body.get("mass"), value)
            continue
        scene[path.replace("[*]", f"[{number}]")] = value
        if name in ("k", "EA"):  # one or the other
            body["springs"].pop("EA" if name == "k" else "k", None)
        if name in COLUMN:
            _reset_column(body["springs"], COLUMN[name])


def _reset_column(springs: dict[str, Any], column: int) -> None:
    """Springs that were given one by one take the value of the body."""
    if len(springs.get("table", ())) == 0:
        return
    springs["table"] = np.array(springs["table"], dtype=np.float64)
    springs["table"][:, column] = -1


def _mass(given: Any, total: Any) -> dict[str, Any]:
    """A body's mass with another total [kg]. It is distributed as before where each vertex has a mass
    of its own; masses that a scene adds at single vertices stay, beside the total."""
    given = dict(given) if isinstance(given, Mapping) else {}
    if given.get("per_vertex") == 0.0:
        rows = np.array(given["added"], dtype=np.float64).reshape(-1, ADDED_COLUMNS)
        rows[:, 1] *= float(total) / rows[:, 1].sum()
        return {**given, "added": rows}
    kept = {key: item for key, item in given.items() if key not in MASS_KEYS}
    return {**kept, "total": plain(total, "mass")}


def _stacked(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers or arrays of one shape as one array, NaN where there is none; else as they are."""
    there = [np.asarray(value) for value in values.flat if value is not None]
    if not there or any(a.shape != there[0].shape or a.dtype.kind not in "fiub" for a in there):
        return values
    whole = np.full(values.shape + there[0].shape, np.nan)
    for at, value in np.ndenumerate(values):
        if value is not None:
            whole[at] = value
    return whole


# ---- Here, or in other processes ---------------------------------------------------------------

Outcome = "tuple[tuple[int, ...], Result | None, str | None]"


def _alone(
    jobs: list[tuple[tuple[int, ...], Scene]], options: dict[str, Any]
) -> Iterator[tuple[tuple[int, ...], Result | None, str | None]]:
    from ._worker import work

    for place, scene in jobs:
        result, why = work(scene, options)
        yield place, result, why


def _beside(
    jobs: list[tuple[tuple[int, ...], Scene]], options: dict[str, Any], count: int
) -> Iterator[tuple[tuple[int, ...], Result | None, str | None]]:
    """Each worker is a fresh interpreter, so that neither a lock nor a thread of this one is in it,
    and no script has to guard its main part. A thread here feeds each."""
    todo: queue.SimpleQueue[tuple[tuple[int, ...], Scene] | None] = queue.SimpleQueue()
    ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for job in jobs:
        todo.put(job)
    workers = [_Worker() for _ in range(count)]

    def feed(worker: _Worker) -> None:
        while True:
            try:
                place, scene = todo.get_nowait() or ((), None)
            except queue.Empty:
                return
            assert scene is not None
            try:
                ready.put((place, *worker.ask((scene, options))))
            except Exception as error:  # the worker died, or something cannot be sent
                ready.put((place, None, f"{type(error).__name__}: {error}"))

    threads = [threading.Thread(target=feed, args=(w,), daemon=True) for w in workers]
    try:
        for thread in threads:
            thread.start()
        for _ in jobs:
            yield ready.get()
    finally:
        while not todo.empty():
            try:
                todo.get_nowait()
            except queue.Empty:
                break
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that runs hooke._worker; a dead one is started anew with the next job."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def ask(self, job: tuple[Scene, dict[str, Any]]) -> tuple[Result | None, str | None]:
        if self._process is None:
            self._process = _start()
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            send(process.stdin, job)
            answer: tuple[Result | None, str | None] = receive(process.stdout)
            return answer
        except (EOFError, OSError):
            self._process = None
            code = process.wait()
            if self._stopped:
                return None, "the sweep was stopped"
            return None, f"the process that ran it ended with status {code}"

    def stop(self) -> None:
        self._stopped = True
        process = self._process
        if process is None:
            return
        process.kill()
        process.wait()


def _start() -> subprocess.Popen[bytes]:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join([folder, *(p for p in sys.path if p)])
    return subprocess.Popen(
        [sys.executable, "-m", "hooke._worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def send(pipe: Any, value: Any) -> None:
    """Writes a pickled value with its length before it."""
    data = pickle.dumps(value)
    pipe.write(struct.pack("<Q", len(data)) + data)
    pipe.flush()


def receive(pipe: Any) -> Any:
    """Reads what send wrote; EOFError where the other side has ended."""
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError
    size = struct.unpack("<Q", head)[0]
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)
