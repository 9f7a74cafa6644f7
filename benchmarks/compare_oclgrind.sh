#!/usr/bin/env bash
# The emulated device beside Oclgrind, on this machine: one table. Needs a finished build (BUILD,
# by default build) and Debian's oclgrind; RUNS says how often each figure is taken; where others use
# the machine, FIGURE=processor_seconds compares what is not theirs.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}

for program in oclgrind g++; do
  if ! command -v "$program" >/dev/null; then
    echo "$program is missing: apt-get install oclgrind opencl-headers ocl-icd-opencl-dev g++" >&2
    exit 1
  fi
done
if ! echo '#include <CL/cl.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
  echo "OpenCL's headers are missing: apt-get install opencl-headers ocl-icd-opencl-dev" >&2
  exit 1
fi
for file in bin/barracuda programs/device_speed plain_device/libbarracuda.plain_device.so; do
  if [ ! -e "$build/$file" ]; then
    echo "$build/$file is missing: ninja -C $build barracuda barracuda.cli barracuda.plain_device" >&2
    exit 1
  fi
done

g++ -std=c++20 -O2 -Wall -Wextra benchmarks/oclgrind/opencl_speed.cpp -lOpenCL -o "$build/opencl_speed"
oclgrind --version | sed -n '/[0-9]/{p;q}'
exec python3 benchmarks/speed/measure.py oclgrind --build "$build" --runs "${RUNS:-3}" \
  --figure "${FIGURE:-seconds}"
