"""Showing a motion: the page of a report in a notebook, or a picture."""

from __future__ import annotations

import html
import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from . import _core
from ._arrays import Floats
from ._progress import in_notebook
from .errors import file_errors
from .model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .sim import Sim

__all__ = ["Film", "Page", "picture", "show"]

#: What a page may take [bytes]: notebooks keep it in their file.
PAGE_BYTES = 12e6


class Page:
    """One page of HTML that plays a motion, with plots and facts; it asks no server for anything.

    In a notebook it shows itself. `save` writes it, to be opened or mailed.
    """

    def __init__(self, text: str, height: int = 520) -> None:
        self.html = text
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        with file_errors(os.fspath(path)), open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="{self.height}" '
            'style="border: 0" allowfullscreen></iframe>'
        )

    def __repr__(self) -> str:
        return f"<hooke.Page: {len(self.html) / 1e6:.2g} MB; save(path) writes it>"


class Film:
    """Gathers states for a page in bounded memory."""

    def __init__(self, model: Model, frames: int) -> None:
        scene = model.scene._create(1)
        capacity = max(frames, 256)  # more may come
        self._handle = _core.viewer_create(scene, model._handle, capacity, PAGE_BYTES)
        self.last: float | None = None  #: time of the last state [s]

    def add(self, sim: Sim) -> None:
        """Appends the state of a simulation."""
        self._add(sim._handle, sim.state._handle, sim.time)

    def _add(self, sim: _core.Handle, state: _core.Handle, time: float) -> None:
        _core.viewer_add(self._handle, sim, state)
        self.last = time

    def page(self, sim: Sim) -> Page:
        """The page of all states so far."""
        return self._page(sim._handle)

    def _page(self, sim: _core.Handle) -> Page:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            _core.viewer_write(self._handle, sim, path)
            with open(path, encoding="utf-8") as file:
                return Page(file.read())


def picture(model: Model, x: Floats, ax: Any = None) -> Figure:
    """Springs and pins of a model at positions x [m] as a matplotlib figure."""
    from matplotlib import pyplot
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    up = "xyz".index(str(model.scene.data.get("up", "y")))
    order = [(up + 1) % 3, (up + 2) % 3, up]  # matplotlib's z points up
    place = x[:, order]
    if ax is None:
        ax = pyplot.figure().add_subplot(projection="3d")
    ends = model.springs.indices
    if len(ends):
        ax.add_collection3d(Line3DCollection(place[ends], linewidths=0.5))
    else:
        ax.scatter(*place.T, s=4)
    if len(model.pins):
        ax.scatter(*place[model.pins].T, s=12, color="black")
    low, high = place.min(axis=0), place.max(axis=0)
    middle, reach = (low + high) / 2, max(float((high - low).max()) / 2, 1e-9)
    for axis, name in enumerate(("xyz"[q] for q in order)):
        getattr(ax, f"set_{'xyz'[axis]}lim")(middle[axis] - reach, middle[axis] + reach)
        getattr(ax, f"set_{'xyz'[axis]}label")(f"{name} (m)")
    figure: Figure = ax.figure
    return figure


def show(page: Page, model: Model, x: Floats, height: int) -> None:
    """Displays the page in a notebook, a picture where there is matplotlib, else says where to look."""
    page.height = height
    if in_notebook():
        from IPython.display import display

        display(page)
        return
    try:
        picture(model, x)
    except ImportError:
        descriptor, path = tempfile.mkstemp(prefix="hooke-", suffix=".html")
        os.close(descriptor)
        page.save(path)
        print(f"The motion is in {path}: open it in a browser.", file=sys.stderr)
        return
    from matplotlib import pyplot

    if pyplot.isinteractive() or "agg" not in pyplot.get_backend().lower():
        pyplot.show()
