"""A field of taichi whose elements move down by one, with and without a copy: fields.py shift race|fixed."""
import sys

import taichi as ti

ti.init(arch=ti.cuda, offline_cache=False, device_memory_GB=0.2)
SIZE = 1024
field = ti.field(ti.i32, SIZE)
copy = ti.field(ti.i32, SIZE)


@ti.kernel
def fill():
    for i in field:
        field[i] = i
        copy[i] = i


@ti.kernel
def shift_in_place():
    for i in range(SIZE - 1):
        field[i] = field[i + 1]


@ti.kernel
def shift_from_copy():
    for i in range(SIZE - 1):
        field[i] = copy[i + 1]


fill()
if sys.argv[2] == "race":
    shift_in_place()
else:
    shift_from_copy()
values = field.to_numpy()
print("ok" if all(values[i] == i + 1 for i in range(SIZE - 1)) else "WRONG")
