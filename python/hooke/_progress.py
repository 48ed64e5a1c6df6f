"""A bar of progress: HTML in a notebook; on a terminal tqdm's where it is installed, else a plain one."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, Union

#: True, False, None (on a terminal or in a notebook), or a function that is called with (done, total).
Progress = Union[bool, Callable[[int, int], object], None]


def in_notebook() -> bool:
    """Whether what is displayed shows up as HTML."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell: Any = get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def bar(progress: Progress, total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A function to call with how many of total are done."""
    if callable(progress):
        notify = progress
        yield lambda done: (notify(done, total), None)[1]
        return
    if progress is False or (progress is None and not (in_notebook() or sys.stderr.isatty())):
        yield lambda done: None
        return
    if in_notebook():
        shown = _Notebook(total, what)
        try:
            yield shown
        finally:
            shown.vanish()
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield _Plain(total, what)
        print(file=sys.stderr)
        return
    with tqdm(total=total, desc=what, leave=False) as line:
        yield lambda done: (line.update(done - line.n), None)[1]


class _Bar:
    """Called at every step, drawn ten times a second at most."""

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what, self.last = total, what, 0.0

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now - self.last < 0.1 and done < self.total:
            return
        self.last = now
        self.draw(done)

    def draw(self, done: int) -> None:
        raise NotImplementedError


class _Plain(_Bar):
    """hooke [#####-----] 12/24."""

    WIDTH = 30

    def draw(self, done: int) -> None:
        full = self.WIDTH * done // max(1, self.total)
        marks = "#" * full + "-" * (self.WIDTH - full)
        print(f"\r{self.what} [{marks}] {done}/{self.total}", end="", file=sys.stderr, flush=True)


class _Notebook(_Bar):
    """A bar that needs no widgets, and the seconds that are left; it is removed at the end."""

    def __init__(self, total: int, what: str) -> None:
        from IPython.display import HTML, display

        super().__init__(total, what)
        self._html = HTML
        self._begin = time.monotonic()
        self._shown: Any = display(HTML(self._text(0)), display_id=True)

    def _text(self, done: int) -> str:
        left = ""
        if done > 0:
            seconds = (time.monotonic() - self._begin) * (self.total - done) / done
            left = f" · {seconds:.0f} s left"
        return (
            f'<progress max="{self.total}" value="{done}"></progress> '
            f"{html.escape(self.what)} {done}/{self.total}{left}"
        )

    def draw(self, done: int) -> None:
        self._shown.update(self._html(self._text(done)))

    def vanish(self) -> None:
        self._shown.update(self._html(""))
