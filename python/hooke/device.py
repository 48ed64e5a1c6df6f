"""Arrays in the memory of the device that makes the steps, for torch, cupy and all that speak DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .errors import InvalidError

__all__ = ["DeviceArray"]

_CPU, _CUDA = 1, 2  # DLPack's numbers of kinds of devices


class DeviceArray:
    """(N, 3) positions [m] or velocities [m/s] of a state on a device, in the order of the model; of a
    batch (worlds, N, 3).

    Made by `sim.device_x`, `sim.device_v`, `batch.device_x` and `batch.device_v`. `torch.from_dlpack(array)`, `cupy.asarray(array)`,
    `jax.dlpack.from_dlpack(array)` and the like look at its memory without a copy, may write it, and
    keep it alive when the simulation is destroyed. Its content is that of the last time that the
    simulation was asked for it.
    """

    __slots__ = ("_address", "_handle", "_kind", "_number", "_worlds", "dtype", "shape")

    def __init__(self, handle: _core.Handle, worlds: int = 0) -> None:
        self._handle = handle
        self._worlds = worlds  # of a batch; 0: of a simulation
        self._address, count, size, self._kind, self._number = _core.array_info(handle)
        self.shape: tuple[int, ...] = (worlds, count // worlds, 3) if worlds else (count, 3)
        self.dtype: np.dtype[Any] = np.dtype(f"f{size}")

    @property
    def device(self) -> str:
        """Where it is, as torch calls it: "cuda:0"; "cpu" where the CPU emulates the device."""
        return f"cuda:{self._number}" if self._kind == _CUDA else "cpu"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._kind != _CUDA:
            raise AttributeError("the array is not on a CUDA device")
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._address if self.shape[0] else 0, False),
            "strides": None,
            "stream": None,  # all is written when the array is handed out
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind, self._number

    def __dlpack__(
        self,
        stream: object = None,
        *,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A capsule for from_dlpack. The array is complete whatever the stream is."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is on {self.device} and does not go to another device by itself")
        if copy:
            raise BufferError("the array makes no copies of itself; copy what from_dlpack gives")
        versioned = max_version is not None and max_version[0] >= 1
        return _core.array_dlpack(self._handle, self._worlds, versioned)

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError(
            f"this array is on {self.device}; sim.x and sim.v are here, and numpy.from_dlpack looks at one "
            "that is on cpu"
        )

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<hooke.DeviceArray: {self.shape} {self.dtype} on {self.device}>"

    def _address_of(self, value: Any, name: str) -> int:
        """Where the numbers of another array stand, if it is like this one."""
        place: tuple[int, int, tuple[int, ...], Any, Any]
        if isinstance(value, DeviceArray):
            place = (value._kind, value._address, value.shape, value.dtype, None)
        elif self._kind == _CUDA:
            found = getattr(value, "__cuda_array_interface__", None)
            if found is None or found.get("mask") is not None:
                raise self._refused(value, name)
            place = (_CUDA, found["data"][0], tuple(found["shape"]), np.dtype(found["typestr"]),
                     found.get("strides"))
        elif isinstance(value, np.ndarray):
            place = (_CPU, value.ctypes.data, value.shape, value.dtype, value.strides)
        else:
            raise self._refused(value, name)
        kind, address, shape, dtype, strides = place
        if kind != self._kind:
            raise self._refused(value, name)
        if dtype != self.dtype:
            raise TypeError(f"{name}: expected numbers of {self.dtype}, got {dtype}")
        if shape != self.shape:
            raise InvalidError(f"{name}: expected the shape {self.shape}, got {shape}")
        number = self.dtype.itemsize
        contiguous = [number * int(np.prod(self.shape[k + 1 :])) for k in range(len(self.shape))]
        if strides is not None and list(strides) != contiguous:
            raise InvalidError(f"{name}: expected a contiguous array, got one with strides {strides}")
        return int(address)

    def _refused(self, value: object, name: str) -> TypeError:
        return TypeError(
            f"{name}: expected an array on {self.device}, got {type(value).__name__}; "
            f"for arrays of numpy there is sim.{name[-1]}"
        )
