"""Small Triton kernels, each right and wrong: triton_kernels.py NAME race|fixed.

Each prints "ok" or "WRONG"; tools/try_python.py runs them under the tool and checks the verdict. A line
that races ends in "# RACE". Memory is CUDA's managed memory, so that PyTorch is not needed.
"""
import ctypes
import sys

import numpy as np
import triton
import triton.language as tl

BLOCK = 128
cuda = ctypes.CDLL("libcuda.so.1")


def checked(status):
    if status != 0:
        sys.exit(f"the driver answered {status}")


def begin():
    context = ctypes.c_void_p()
    checked(cuda.cuInit(0))
    checked(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    checked(cuda.cuCtxSetCurrent(context))


class Array:
    """What Triton takes for a tensor: an address and a type; with its elements as NumPy's."""

    def __init__(self, values):
        values = np.asarray(values)
        address = ctypes.c_uint64()
        checked(cuda.cuMemAllocManaged(ctypes.byref(address), ctypes.c_size_t(values.nbytes), 1))
        self.address = address.value
        self.dtype = values.dtype.name  # as Triton spells it
        self.values = np.ctypeslib.as_array(
            (ctypes.c_byte * values.nbytes).from_address(self.address)).view(values.dtype)
        self.values[:] = values

    def data_ptr(self):
        return self.address


@triton.jit
def add_overlapping(x, out, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * STEP + tl.arange(0, BLOCK)
    mask = at < n
    value = tl.load(x + at, mask=mask)
    tl.store(out + at, value + tl.program_id(0), mask=mask)  # RACE


@triton.jit
def shift_in_place(data, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(data + at + 1, mask=at + 1 < n)  # RACE
    tl.store(data + at, value, mask=at + 1 < n)  # RACE


@triton.jit
def shift_from_copy(data, copy, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(copy + at + 1, mask=at + 1 < n)
    tl.store(data + at, value, mask=at + 1 < n)


@triton.jit
def count_narrowly(total):
    tl.atomic_add(total, 1, scope="cta")  # RACE


@triton.jit
def count(total):
    tl.atomic_add(total, 1)


def overlapping_stores(race):
    n = 4 * BLOCK
    x, out = Array(np.zeros(n, np.int32)), Array(np.zeros(n, np.int32))
    step = BLOCK // 2 if race else BLOCK
    add_overlapping[(n // BLOCK,)](x, out, n, STEP=step, BLOCK=BLOCK)
    checked(cuda.cuCtxSynchronize())
    return race or np.array_equal(out.values, np.arange(n) // BLOCK)


def in_place_update(race):
    n = 4 * BLOCK
    data, copy = Array(np.arange(n, dtype=np.int32)), Array(np.arange(n, dtype=np.int32))
    if race:
        shift_in_place[(n // BLOCK,)](data, n, BLOCK=BLOCK)
    else:
        shift_from_copy[(n // BLOCK,)](data, copy, n, BLOCK=BLOCK)
    checked(cuda.cuCtxSynchronize())
    return race or np.array_equal(data.values[:-1], np.arange(1, n))


def narrow_atomic(race):
    total = Array(np.zeros(1, np.int32))
    (count_narrowly if race else count)[(32,)](total)
    checked(cuda.cuCtxSynchronize())
    return total.values[0] == 32


PROGRAMS = {f.__name__: f for f in (overlapping_stores, in_place_update, narrow_atomic)}

if __name__ == "__main__":
    begin()
    print("ok" if PROGRAMS[sys.argv[1]](sys.argv[2] == "race") else "WRONG")
