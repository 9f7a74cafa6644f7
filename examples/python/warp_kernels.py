"""A kernel of NVIDIA's Warp, right and wrong: warp_kernels.py count race|fixed."""
import sys

import warp as wp


@wp.kernel
def count_plainly(counters: wp.array(dtype=wp.int32)):
    i = wp.tid() % 8
    counters[i] = counters[i] + 1  # RACE


@wp.kernel
def count_atomically(counters: wp.array(dtype=wp.int32)):
    wp.atomic_add(counters, wp.tid() % 8, 1)


if __name__ == "__main__":
    wp.init()
    counts = wp.zeros(8, dtype=wp.int32, device="cuda")
    race = sys.argv[2] == "race"
    wp.launch(count_plainly if race else count_atomically, dim=1024, inputs=[counts], device="cuda")
    print("ok" if race or (counts.numpy() == 128).all() else "WRONG")
