"""Energies, momenta and extremes, of one state and over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Energies", "StateInfo"]


class StateInfo(NamedTuple):
    """Energies [J], momenta and extremes of a state."""

    time: float  #: s
    kinetic: float  #: J
    spring: float  #: J
    gravity: float  #: J
    other: float  #: J, of point loads, handles, buoyancy
    total: float  #: J
    momentum: tuple[float, float, float]  #: kg m/s
    angular_momentum: tuple[float, float, float]  #: kg m^2/s, about the origin
    strain_min: float  #: (l - l0) / l0 over springs with l0 > 0
    strain_max: float
    speed_max: float  #: m/s
    dissipated: float = 0.0  #: J, taken from springs by plasticity and tearing since the start

    @classmethod
    def _of(cls, flat: tuple[float, ...]) -> StateInfo:
        time, kinetic, spring, gravity, other, total, px, py, pz, Lx, Ly, Lz, low, high, speed, lost = flat
        return cls(
            time, kinetic, spring, gravity, other, total, (px, py, pz), (Lx, Ly, Lz), low, high, speed, lost
        )


class Energies:
    """The values of StateInfo over time as arrays: `energies.total` [J], `energies.time` [s], `energies.momentum` ...

    Each has one entry a frame; momentum and angular_momentum have three.
    """

    time: Floats
    kinetic: Floats
    spring: Floats
    gravity: Floats
    other: Floats
    total: Floats
    momentum: Floats
    angular_momentum: Floats
    strain_min: Floats
    strain_max: Floats
    speed_max: Floats
    dissipated: Floats

    def __init__(self, infos: Iterable[StateInfo]) -> None:
        rows = list(infos)
        for name in StateInfo._fields:
            values = [getattr(row, name) for row in rows]
            shape = (len(rows), 3) if "momentum" in name else (len(rows),)
            setattr(self, name, np.array(values, dtype=np.float64).reshape(shape))

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, name: str) -> Floats:
        if name not in StateInfo._fields:
            raise KeyError(f"there is no '{name}'; there are {', '.join(StateInfo._fields)}")
        values: Floats = getattr(self, name)
        return values

    @property
    def drift(self) -> float:
        """The largest change of the total energy, as a part of the largest kinetic energy."""
        if len(self) == 0:
            return 0.0
        scale = float(np.max(np.abs(self.kinetic))) or 1.0
        return float(np.max(np.abs(self.total - self.total[0]))) / scale

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws the energies [J] over time [s] with matplotlib, and returns the axes."""
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError("energies.plot() needs matplotlib: pip install matplotlib") from None
        axes: Axes = pyplot.subplots()[1] if ax is None else ax
        for name in ("kinetic", "spring", "gravity", "other", "total"):
            values = self[name]
            if name == "total" or np.any(values != 0):
                color = {"color": "black"} if name == "total" else {}
                axes.plot(self.time, values, label=name, **{**color, **style})
        axes.set_xlabel("time (s)")
        axes.set_ylabel("energy (J)")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        return f"<hooke.Energies: {len(self)} frames{span}>"
