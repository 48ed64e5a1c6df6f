"""Ranks: processes that simulate one model together, by MPI and PETSc."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import InvalidError

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["Part", "Ranks"]


class Part(NamedTuple):
    """What a rank holds of a model: its own vertices, and ghosts of vertices that other ranks own."""

    total: int  #: vertices of the whole model
    owned: int  #: vertices that this rank owns
    number: npt.NDArray[np.int64]  #: (N,) of each vertex here its number in the whole model, rising; read-only
    ghost: npt.NDArray[np.bool_]  #: (N,) whether another rank owns it; read-only


class Ranks:
    """The processes that mpirun has started, or those of a communicator, as one machine for a model.

        with hooke.Ranks() as ranks:
            sim = hooke.Sim("curtain", integrator="verlet", ranks=ranks)
            sim.step(1000)

    Every rank makes the same calls in the same order: models, simulations, steps, state_info and all else of
    objects on ranks wait for the others. Needs the plug-in libhooke_petsc of docs/cluster.md.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Its processes take part; it is duplicated. mpi4py must be built with the MPI of the plug-in. None: all
        processes of mpirun, without mpi4py, too.
    options : sequence of str
        For PETSc, such as ["-log_view"].
    """

    def __init__(self, comm: MPI.Comm | None = None, options: Sequence[str] = ()) -> None:
        address = 0
        if comm is not None:
            from mpi4py import MPI

            if not isinstance(comm, MPI.Comm):
                raise TypeError(f"comm: expected a communicator of mpi4py, got {comm!r}")
            if comm == MPI.COMM_NULL:
                raise InvalidError("comm: this process is none of the communicator")
            address = int(MPI._addressof(comm))
        if isinstance(options, str):
            raise TypeError("options: expected a sequence of texts, not one text")
        _leave_at_exit()
        self._handle: _core.Handle | None = _core.ranks_open(address, tuple(options))
        if not _first:
            _first.append(self._handle)
        self._rank, self._size = _core.ranks_place(self._handle)

    @property
    def rank(self) -> int:
        """Number of this process, from 0."""
        return self._rank

    @property
    def size(self) -> int:
        """Number of all processes."""
        return self._size

    def close(self) -> None:
        """No more models are made with the ranks. They are left once the last object that was made with
        them goes."""
        self._handle = None

    def _use(self) -> _core.Handle:
        if self._handle is None:
            raise InvalidError("these ranks are closed; open others with hooke.Ranks()")
        return self._handle

    def __enter__(self) -> Ranks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __copy__(self) -> Ranks:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Ranks:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("ranks, and what is made with them, cannot be pickled: they are processes")

    def __repr__(self) -> str:
        closed = ", closed" if self._handle is None else ""
        return f"<hooke.Ranks: {self.rank} of {self.size}{closed}>"


def device_of(device: str, ranks: Ranks | None) -> str:
    """The device of a model: ranks are those of "petsc"."""
    if ranks is None and device == "petsc":
        raise InvalidError('device: "petsc" needs ranks=hooke.Ranks()')
    if ranks is not None and device not in ("cpu", "petsc"):
        raise InvalidError(f"device: a model on ranks is moved by petsc, not by {device}")
    return device if ranks is None else "petsc"


_first: list[_core.Handle] = []  # the one that has begun MPI, which cannot begin again, is kept to the end
_registered = False


def _leave_at_exit() -> None:
    """Ranks are left before mpi4py ends MPI, which it does after all functions of atexit."""
    global _registered
    if not _registered:
        atexit.register(_end)
    _registered = True


def _end() -> None:
    gc.collect()
    # A process that an exception ends must not wait for others, which may wait for it: mpirun ends them.
    _core.ranks_end(getattr(sys, "last_type", None) is None)
