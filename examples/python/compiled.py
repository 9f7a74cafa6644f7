"""A kernel in CUDA C++, compiled by cuda.core with NVRTC to machine code: compiled.py count race|fixed."""
import ctypes
import sys

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core import LegacyPinnedMemoryResource

RACE = """extern "C" __global__ void count(int* counters) {
  counters[threadIdx.x % 8] += 1;  // RACE
}"""
FIXED = """extern "C" __global__ void count(int* counters) {
  atomicAdd(&counters[threadIdx.x % 8], 1);
}"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(arch=f"sm_{device.arch}", name="count.cu")
module = Program(RACE if sys.argv[2] == "race" else FIXED, "c++", options).compile("cubin")
memory = LegacyPinnedMemoryResource().allocate(8 * 4)
counters = (ctypes.c_int * 8).from_address(int(memory.handle))
counters[:] = [0] * 8
launch(stream, LaunchConfig(grid=2, block=64), module.get_kernel("count"), int(memory.handle))
stream.sync()
print("ok" if list(counters) == [16] * 8 else "WRONG")
