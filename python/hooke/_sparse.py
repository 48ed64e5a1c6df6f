"""Sparse matrices: for scipy where it is installed, else as triplets."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import Floats, Ints

__all__ = ["Triplets", "as_sparse"]


class Triplets(NamedTuple):
    """A sparse matrix: values[q] stands at rows[q], columns[q], sorted by row and then column."""

    rows: Ints
    columns: Ints
    values: Floats


def as_sparse(triplets: Triplets, size: int) -> Any:
    """A square matrix as a scipy.sparse array in CSR; the triplets where there is no scipy."""
    try:
        from scipy import sparse
    except ImportError:
        return triplets
    rows, columns, values = triplets
    return sparse.csr_array((values, (rows, columns)), shape=(size, size))
