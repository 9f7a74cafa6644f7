"""Small kernels for numba-cuda, each right and wrong: kernels.py NAME race|fixed.

Each prints "ok" or "WRONG" and returns; tools/try_python.py runs them under the tool and checks the
verdict. A line that races ends in "# RACE".
"""
import sys

import numpy as np
from numba import config, cuda, int32

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
THREADS = 128
BLOCKS = 8


def vector_add(_race):
    @cuda.jit(lineinfo=True)
    def add(a, b, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + b[i]

    a = np.arange(1000, dtype=np.float32)
    c = cuda.device_array_like(a)
    add[BLOCKS, THREADS](cuda.to_device(a), cuda.to_device(2 * a), c)
    return np.array_equal(c.copy_to_host(), 3 * a)


def block_sum(race):
    @cuda.jit(lineinfo=True)
    def sum_up(data, sums):
        part = cuda.shared.array(THREADS, int32)
        thread = cuda.threadIdx.x
        part[thread] = data[cuda.grid(1)]
        cuda.syncthreads()
        step = THREADS // 2
        while step > 0:
            if thread < step:
                part[thread] += part[thread + step]  # RACE
            if not race:
                cuda.syncthreads()
            step //= 2
        if thread == 0:
            sums[cuda.blockIdx.x] = part[0]

    data = np.arange(BLOCKS * THREADS, dtype=np.int32)
    sums = cuda.device_array(BLOCKS, np.int32)
    sum_up[BLOCKS, THREADS](cuda.to_device(data), sums)
    return np.array_equal(sums.copy_to_host(), data.reshape(BLOCKS, THREADS).sum(1))


def histogram(race):
    @cuda.jit(lineinfo=True)
    def count(data, bins):
        i = cuda.grid(1)
        if i < data.size:
            if race:
                bins[data[i]] += 1  # RACE
            else:
                cuda.atomic.add(bins, data[i], 1)

    data = np.arange(1000, dtype=np.int32) * 7 % 16
    bins = cuda.to_device(np.zeros(16, np.int32))
    count[BLOCKS, THREADS](cuda.to_device(data), bins)
    return np.array_equal(bins.copy_to_host(), np.bincount(data, minlength=16))


def grid_rows(race):
    @cuda.jit(lineinfo=True)
    def fill(rows):
        grid = cuda.cg.this_grid()
        column = cuda.grid(1)
        for row in range(1, rows.shape[0]):
            rows[row, column] = rows[row - 1, rows.shape[1] - column - 1] + 1  # RACE
            if not race:
                grid.sync()

    rows = cuda.to_device(np.zeros((8, 4 * 64), np.int32))
    fill[4, 64](rows)
    return all((row == i).all() for i, row in enumerate(rows.copy_to_host()))


def two_streams(race):
    @cuda.jit(lineinfo=True)
    def increment(data):
        i = cuda.grid(1)
        data[i] += 1  # RACE

    first, second = cuda.stream(), cuda.stream()
    data = cuda.to_device(np.zeros(THREADS, np.int32))
    increment[1, THREADS, first](data)
    if not race:
        first.synchronize()
    increment[1, THREADS, second](data)
    cuda.synchronize()
    return (data.copy_to_host() == 2).all()


PROGRAMS = {f.__name__: f for f in (vector_add, block_sum, histogram, grid_rows, two_streams)}

if __name__ == "__main__":
    print("ok" if PROGRAMS[sys.argv[1]](sys.argv[2] == "race") else "WRONG")
