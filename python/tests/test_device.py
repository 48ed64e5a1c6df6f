"""Arrays on the device that makes the steps. Most tests use the plug-in that emulates a GPU on
the CPU; those of a GPU need HOOKE_PLUGINS to name the folder of the CUDA plug-in, and skip without it."""

import ctypes
import gc
import os
import sys
import threading

import hooke
import numpy as np
import pytest
from conftest import make_cloth

played = pytest.mark.skipif("HOOKE_TEST_PLUGINS" not in os.environ, reason="no plug-in was built")
exchange = pytest.mark.skipif(not hasattr(np, "from_dlpack"), reason="numpy has no from_dlpack")


@pytest.fixture
def plugin(monkeypatch):
    monkeypatch.setenv("HOOKE_PLUGINS", os.environ["HOOKE_TEST_PLUGINS"])


def test_without_a_device_there_are_no_arrays_on_it(cloth):
    sim = hooke.Sim(cloth)
    with pytest.raises(hooke.UnsupportedError, match="on the CPU"):
        sim.device_x
    with pytest.raises(hooke.UnsupportedError, match="on the CPU"):
        sim.device_v = np.zeros((81, 3))


@played
@exchange
@pytest.mark.parametrize("device, dtype", [("cuda", np.float32), ("cuda_double", np.float64)])
def test_arrays_are_looked_at_without_a_copy(cloth, plugin, device, dtype):
    sim = hooke.Sim(cloth, device=device)
    array = sim.device_x
    x, v = np.from_dlpack(array), np.from_dlpack(sim.device_v)
    assert array.shape == x.shape == (81, 3) and array.dtype == x.dtype == dtype and len(array) == 81
    assert x.flags.c_contiguous and "(81, 3)" in repr(array) and array.device == "cpu"
    sim.step(50)
    before = x.copy()
    assert np.array_equal(x, before)  # of the start, until they are asked for again
    assert sim.device_x is array and not np.array_equal(x, before)
    assert np.shares_memory(x, np.from_dlpack(sim.device_x))
    assert not v.any() and np.from_dlpack(sim.device_v) is not None and v.any()
    assert np.allclose(x, sim.x, rtol=0, atol=1e-7) and np.allclose(v, sim.v, rtol=0, atol=1e-7)
    sim.x[5] += 0.5  # written here, seen there
    assert np.allclose(np.from_dlpack(sim.device_x), sim.x, rtol=0, atol=1e-7)


def mine(array):
    """To write: the view itself where numpy lets it be written, from 2.1 on."""
    return array if array.flags.writeable else array.copy()


@played
@exchange
def test_what_is_written_there_moves_on(cloth, plugin):
    there, here = hooke.Sim(cloth, device="cuda_double"), hooke.Sim(cloth)
    free = np.setdiff1d(np.arange(81), here.model.pins)
    for _ in range(3):
        x, v = (mine(np.from_dlpack(a)) for a in (there.device_x, there.device_v))
        x += 0.01 * np.sin(np.arange(81))[:, None]
        v *= 0.5
        there.device_x, there.device_v = x, v
        here.x[free] += 0.01 * np.sin(free)[:, None]  # pins that are held stay there, too
        here.v[free] *= 0.5
        assert np.allclose(there.x, here.x, rtol=0, atol=1e-14)
        there.step(20), here.step(20)
        assert np.allclose(there.x, here.x, rtol=0, atol=1e-12)
    there.device_v = there.device_v  # as it is
    assert np.allclose(there.v, here.v, rtol=0, atol=1e-10)


@played
@exchange
def test_views_outlive_their_simulation(plugin):
    def view():
        sim = hooke.Sim(make_cloth(40), device="cuda")
        sim.step(3)
        return np.from_dlpack(sim.device_x), sim.x.copy()

    x, copy = view()
    gc.collect()
    for _ in range(5):  # would take the memory that was freed
        assert len(np.from_dlpack(hooke.Sim(make_cloth(40), device="cuda").device_x)) == 1600
    assert np.allclose(x, copy, rtol=0, atol=1e-6)


@played
def test_views_stay_when_the_model_is_laid_out_anew(cloth, plugin):
    sim = hooke.Sim(cloth, device="cuda")
    array = sim.device_x
    address = array._address
    sim.model.scale_stiffness(2)
    sim.step(3)
    assert sim.device_x is array and array._address == address
    sim.state = hooke.State(sim.model)
    assert sim.device_x is array


@played
def test_values_that_do_not_fit_are_refused_with_a_sentence(cloth, plugin):
    sim = hooke.Sim(cloth, device="cuda")
    right = np.zeros((81, 3), np.float32)
    for kind, words, value in [
        (TypeError, "numbers of float32, got float64", right.astype(float)),
        (ValueError, r"shape \(81, 3\), got \(80, 3\)", right[:80]),
        (ValueError, "contiguous", np.zeros((3, 81), np.float32).T),
        (TypeError, "array on cpu, got list", [[0, 0, 0]] * 81),
    ]:
        with pytest.raises(kind, match=words):
            sim.device_v = value
    array = sim.device_x
    with pytest.raises(BufferError, match="another device"):
        array.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="no copies"):
        array.__dlpack__(copy=True)
    with pytest.raises(TypeError, match="sim.x"):
        np.asarray(array)
    assert not hasattr(array, "__cuda_array_interface__")  # only on a GPU


# ---- Capsules -------------------------------------------------------------------------------------

python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32),
        ("dimensions", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]


class Plain(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]


def holders(array):
    return sys.getrefcount(array._handle)


@played
@pytest.mark.parametrize("name, kind", [(b"dltensor", Plain), (b"dltensor_versioned", Versioned)])
def test_capsules_keep_the_memory_until_their_deleter_is_called(cloth, plugin, name, kind):
    array = hooke.Sim(cloth, device="cuda").device_x
    version = (1, 0) if kind is Versioned else None
    alone = holders(array)
    capsule = array.__dlpack__(max_version=version)
    assert holders(array) == alone + 1
    del capsule  # nobody took it
    assert holders(array) == alone
    capsule = array.__dlpack__(stream=1, max_version=version)
    address = python.PyCapsule_GetPointer(capsule, name)
    held = kind.from_address(address)
    tensor = held.tensor
    assert (tensor.device, tensor.number) == array.__dlpack_device__() == (1, 0)
    assert (tensor.dimensions, tensor.code, tensor.bits, tensor.lanes) == (2, 2, 32, 1)
    assert tensor.shape[:2] == [81, 3] and tensor.strides[:2] == [3, 1] and tensor.byte_offset == 0
    assert tensor.data == array._address
    if kind is Versioned:
        assert (held.major, held.minor, held.flags) == (1, 0, 0)
    used = b"used_" + name
    python.PyCapsule_SetName(capsule, used)
    del capsule  # somebody took it, and lives on
    assert holders(array) == alone + 1
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(held.deleter)  # called without Python's lock
    thread = threading.Thread(target=deleter, args=(address,))
    thread.start()
    thread.join()
    assert holders(array) == alone


# ---- On a GPU -------------------------------------------------------------------------------------


@pytest.fixture
def gpu():
    """A simulation on a GPU."""
    if "HOOKE_PLUGINS" not in os.environ:
        pytest.skip("needs a GPU: HOOKE_PLUGINS names the folder of its plug-in")
    try:
        sim = hooke.Sim(make_cloth(), device="cuda")
        if sim.device_x.__dlpack_device__()[0] != 2:
            pytest.skip("this plug-in emulates a GPU on the CPU")
    except hooke.UnsupportedError as error:
        pytest.skip(str(error))
    return sim


def copy_of(array):
    """A copy of the GPU's memory at the address of the array, made by the driver."""
    interface = array.__cuda_array_interface__
    assert interface["version"] == 3 and interface["strides"] is None
    here = np.empty(interface["shape"], interface["typestr"])
    driver = ctypes.CDLL("libcuda.so.1")
    status = driver.cuMemcpyDtoH_v2(
        ctypes.c_void_p(here.ctypes.data), ctypes.c_uint64(interface["data"][0]),
        ctypes.c_size_t(here.nbytes),
    )
    assert status == 0
    return here


def test_a_gpu_reads_and_writes_arrays(gpu):
    array = gpu.device_x
    gpu.step(100)
    before = copy_of(array)
    after = copy_of(gpu.device_x)
    assert array.device.startswith("cuda:") and not np.array_equal(before, after)
    v = copy_of(gpu.device_v)
    here = hooke.Sim(make_cloth())
    here.step(100)
    assert np.allclose(after, here.x, rtol=0, atol=1e-5) and np.allclose(v, here.v, rtol=0, atol=1e-3)
    assert np.allclose(after, gpu.x, rtol=0, atol=1e-7)
    # Velocities of another simulation, from one array of the GPU to the other.
    other = hooke.Sim(gpu.model)
    other.device_x, other.device_v = gpu.device_x, gpu.device_v
    other.step(50), gpu.step(50)
    assert np.array_equal(copy_of(other.device_x), copy_of(gpu.device_x))
    with pytest.raises(TypeError, match="array on cuda"):
        gpu.device_x = np.zeros((81, 3), np.float32)


def test_a_gpu_takes_no_addresses_of_this_machine(gpu):
    class Lie:
        __cuda_array_interface__ = {
            "version": 3, "shape": (81, 3), "typestr": "<f4", "strides": None,
            "data": (np.zeros((81, 3), np.float32).ctypes.data, False),
        }

    with pytest.raises(hooke.InvalidError, match="no array of floats"):
        gpu.device_x = Lie()
    gpu.step()


def test_arrays_of_a_card_outlive_their_simulation(gpu):
    array = gpu.device_x
    copy = copy_of(array)
    interface = array.__cuda_array_interface__
    capsule = array.__dlpack__()
    assert python.PyCapsule_GetPointer(capsule, b"dltensor")
    del gpu
    gc.collect()
    assert np.array_equal(copy_of(array), copy) and array.__cuda_array_interface__ == interface


def test_torch_reads_and_writes_a_gpu(gpu):
    torch = pytest.importorskip("torch")
    gpu.step(10)
    x = torch.from_dlpack(gpu.device_x)
    assert x.is_cuda and x.data_ptr() == gpu.device_x._address
    assert np.allclose(x.cpu().numpy(), gpu.x, rtol=0, atol=1e-7)
    v = torch.ones_like(x)
    gpu.device_v = v
    assert np.allclose(np.delete(gpu.v, gpu.model.pins, 0), 1)


def test_cupy_reads_and_writes_a_gpu(gpu):
    cupy = pytest.importorskip("cupy")
    gpu.step(10)
    for x in (cupy.asarray(gpu.device_x), cupy.from_dlpack(gpu.device_x)):
        assert x.data.ptr == gpu.device_x._address
        assert np.allclose(cupy.asnumpy(x), gpu.x, rtol=0, atol=1e-7)
    gpu.device_v = cupy.ones_like(x)
    assert np.allclose(np.delete(gpu.v, gpu.model.pins, 0), 1)
