"""Arrays in and out: views of the library's memory, and checked conversions of what users pass."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InvalidError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


class _Memory:
    """Memory of the library as numpy's array interface; keeps its owner alive."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, owner: object, interface: dict[str, Any]) -> None:
        self._owner = owner
        self.__array_interface__ = interface


def view(
    owner: object,
    address: int,
    shape: tuple[int, ...],
    kind: str = "f8",
    *,
    writable: bool = False,
    strides: tuple[int, ...] | None = None,
) -> npt.NDArray[Any]:
    """An array over memory of the library, without a copy; owner lives as long as the array does."""
    if address == 0 or 0 in shape:
        empty: npt.NDArray[Any] = np.empty(shape, dtype=kind)
        empty.flags.writeable = writable
        return empty
    interface = {
        "version": 3,
        "shape": shape,
        "typestr": np.dtype(kind).str,
        "data": (address, not writable),
        "strides": strides,
    }
    return np.asarray(_Memory(owner, interface))


def floats(value: npt.ArrayLike, name: str, shape: tuple[int | None, ...]) -> Floats:
    """The value as contiguous 64-bit floats of a shape, where None is any size."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected numbers, got {_described(value, array)}")
    _check_shape(array, name, shape)
    result: Floats = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(result).all():
        raise InvalidError(f"{name}: holds numbers that are not finite")
    return result


def indices(value: npt.ArrayLike, name: str, shape: tuple[int | None, ...], count: int) -> Ints:
    """The value as contiguous 32-bit numbers of vertices, from 0 to count - 1."""
    array = np.asarray(value)
    if array.size == 0:
        array = array.astype(np.int32).reshape([0 if s is None else s for s in shape])
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected whole numbers, got {_described(value, array)}")
    _check_shape(array, name, shape)
    if array.size and (array.min() < 0 or array.max() >= count):
        wrong = int(array.min() if array.min() < 0 else array.max())
        raise InvalidError(f"{name}: there is no vertex {wrong}; they are 0 to {count - 1}")
    return np.ascontiguousarray(array, dtype=np.int32)


def per_item(value: npt.ArrayLike, name: str, count: int) -> Floats:
    """One number for each of count items; a single number stands for all of them."""
    array = np.asarray(value)
    if array.ndim == 0:
        array = np.full(count, array)
    return floats(array, name, (count,))


def address(array: npt.NDArray[Any]) -> int:
    """Where the numbers of a contiguous array stand."""
    return int(array.ctypes.data)


def point(value: npt.ArrayLike, name: str) -> tuple[float, float, float]:
    """Three numbers."""
    x, y, z = floats(value, name, (3,))
    return float(x), float(y), float(z)


def to_json(value: object) -> str:
    """JSON text of plain values, numpy's numbers and arrays, and methods."""
    return json.dumps(plain(value), allow_nan=False)


def plain(value: Any, name: str = "value") -> Any:
    """The value as what JSON knows: dict, list, str, int, float, bool, None."""
    described = getattr(value, "_as_json", None)
    if described is not None:
        return described()
    if isinstance(value, dict):
        return {str(key): plain(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, name) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist(), name)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidError(f"{name}: {value} is not a finite number")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    raise TypeError(f"{name}: {type(value).__name__} cannot be part of a scene")


def _described(value: object, array: npt.NDArray[Any]) -> str:
    return f"an array of {array.dtype}" if array.ndim else repr(value)


def _check_shape(array: npt.NDArray[Any], name: str, shape: tuple[int | None, ...]) -> None:
    fits = array.ndim == len(shape) and all(
        wanted is None or wanted == size for wanted, size in zip(shape, array.shape)
    )
    if not fits:
        wanted = ", ".join("N" if size is None else str(size) for size in shape)
        comma = "," if len(shape) == 1 else ""
        raise InvalidError(f"{name}: expected the shape ({wanted}{comma}), got {array.shape}")
