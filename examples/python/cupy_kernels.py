"""Kernels of CuPy, each right and wrong: cupy_kernels.py raw|elementwise race|fixed."""
import sys

import cupy

BLOCKS, THREADS = 16, 64
RAW = r"""extern "C" __global__ void count(int* counters) {
  %s
}"""
LINES = {"race": "counters[threadIdx.x % 8] += 1;  // RACE", "fixed": "atomicAdd(&counters[threadIdx.x % 8], 1);"}


def raw(verdict):
    kernel = cupy.RawKernel(RAW % LINES[verdict], "count")
    counters = cupy.zeros(8, cupy.int32)
    kernel((BLOCKS,), (THREADS,), (counters,))
    return verdict == "race" or (counters == BLOCKS * THREADS // 8).all()


def elementwise(verdict):
    """Each element moves down by one: in place, or into another array."""
    move = cupy.ElementwiseKernel("raw int32 from", "raw int32 to", "if (i + 1 < _ind.size()) to[i] = from[i + 1];",
                                  "move_" + verdict)
    first = cupy.arange(4096, dtype=cupy.int32)
    second = first if verdict == "race" else cupy.arange(4096, dtype=cupy.int32)
    move(first, second, size=4096)
    return verdict == "race" or (second[:-1] == cupy.arange(1, 4096)).all()


if __name__ == "__main__":
    print("ok" if {"raw": raw, "elementwise": elementwise}[sys.argv[1]](sys.argv[2]) else "WRONG")
