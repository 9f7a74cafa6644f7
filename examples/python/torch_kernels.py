"""Kernels of PyTorch programs, each right and wrong: torch_kernels.py compiled|extension race|fixed."""
import sys

import torch

SIZE = 1 << 14


def compiled(verdict):
    """torch.compile: elements stored at places of which some are the same, or at places of their own."""
    @torch.compile
    def place(to, places, values):
        to[places] = values * 2 + 1
        return to

    places = torch.arange(SIZE, device="cuda")
    places = places // 2 if verdict == "race" else places.flip(0)
    values = torch.arange(SIZE, device="cuda", dtype=torch.float32)
    to = place(torch.zeros(SIZE, device="cuda"), places, values)
    return verdict == "race" or torch.equal(to, values.flip(0) * 2 + 1)


CUDA = r"""
#include <torch/extension.h>
__global__ void count_%(name)s(int* counters) {
  %(line)s
}
torch::Tensor count(torch::Tensor counters) {
  count_%(name)s<<<16, 64>>>(counters.data_ptr<int>());
  return counters;
}
"""
LINES = {"race": "counters[threadIdx.x % 8] += 1;  // RACE", "fixed": "atomicAdd(&counters[threadIdx.x % 8], 1);"}


def extension(verdict):
    from torch.utils.cpp_extension import load_inline
    module = load_inline("count_" + verdict, "torch::Tensor count(torch::Tensor counters);",
                         CUDA % {"name": verdict, "line": LINES[verdict]}, functions=["count"],
                         extra_cuda_cflags=["-lineinfo"])
    counters = module.count(torch.zeros(8, dtype=torch.int32, device="cuda"))
    return verdict == "race" or bool((counters == 128).all())


if __name__ == "__main__":
    print("ok" if {"compiled": compiled, "extension": extension}[sys.argv[1]](sys.argv[2]) else "WRONG")
