"""A bar of progress: tqdm's where it is installed, a plain one on a terminal otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Callable, Union

#: True, False, None (where somebody looks), or a function that is told (done, total).
Progress = Union[bool, Callable[[int, int], object], None]


def _somebody_looks() -> bool:
    return "ipykernel" in sys.modules or sys.stderr.isatty()


@contextmanager
def bar(progress: Progress, total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A function to be told how many of total are done."""
    if callable(progress):
        told = progress
        yield lambda done: (told(done, total), None)[1]
        return
    if progress is False or (progress is None and not _somebody_looks()):
        yield lambda done: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _Plain(total, what)
        print(file=sys.stderr)
        return
    with tqdm(total=total, desc=what, leave=False) as shown:
        yield lambda done: (shown.update(done - shown.n), None)[1]


class _Plain:
    """hooke [#####-----] 12/24, ten times a second at most."""

    WIDTH = 30

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what, self.last = total, what, 0.0

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now - self.last < 0.1 and done < self.total:
            return
        self.last = now
        full = self.WIDTH * done // max(1, self.total)
        marks = "#" * full + "-" * (self.WIDTH - full)
        print(f"\r{self.what} [{marks}] {done}/{self.total}", end="", file=sys.stderr, flush=True)
