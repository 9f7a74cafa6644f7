#!/usr/bin/env python3
"""The examples as clang compiles them: their verdicts are those of nvcc's.

Usage: clang_examples.py BARRACUDA TOOLKIT NVCC [NAME…]. TOOLKIT is one whose headers clang 19 reads
(12.9); NVCC has fatbinary beside it, and the headers of CCCL. Without clang 19 nothing is run.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples")
SECONDS = 300


def compile_example(clang, toolkit, nvcc, source, folder):
    """The program: clang's PTX in a fat binary, its own driver's of later toolkits being unknown."""
    bin_folder = os.path.dirname(os.path.realpath(nvcc))
    name = os.path.join(folder, os.path.basename(source)[:-len(".cu")])
    common = [clang, "-x", "cuda", "--cuda-path=" + toolkit, "-Wno-unknown-cuda-version", "-O2",
              "-std=c++17", "-I" + os.path.join(os.path.dirname(bin_folder), "include", "cccl")]
    steps = [
        common + ["--cuda-device-only", "--cuda-gpu-arch=sm_75", "-gline-tables-only", "-S", "-o",
                  name + ".ptx", source],
        [os.path.join(bin_folder, "fatbinary"), "-64", "--create=" + name + ".fatbin",
         "--image3=kind=ptx,sm=75,file=" + name + ".ptx"],
        common + ["--cuda-host-only", "-gline-tables-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang",
                  name + ".fatbin", "-c", "-o", name + ".o", source],
        [clang, "-o", name, name + ".o", "-L" + os.path.join(toolkit, "lib64"), "-lcudart",
         "-Wl,-rpath," + os.path.join(toolkit, "lib64")],
    ]
    for step in steps:
        subprocess.run(step, check=True, timeout=SECONDS)
    return name


def main():
    barracuda, toolkit, nvcc = sys.argv[1:4]
    clang = shutil.which("clang++-19")
    if clang is None or not os.path.exists(os.path.join(toolkit, "include", "cuda_runtime.h")):
        print("no clang 19, or no toolkit that it reads: nothing was run")
        return
    sources = sorted(glob.glob(os.path.join(EXAMPLES, "*.cu")))
    sources = [source for source in sources
               if not sys.argv[4:] or os.path.basename(source)[:-len(".cu")] in sys.argv[4:]]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            program = compile_example(clang, toolkit, nvcc, source, folder)
            run = subprocess.run(
                [sys.executable, "-B", os.path.join(HERE, "program_runner.py"), "--barracuda",
                 barracuda, "--source", source, program], timeout=SECONDS, check=False)
            if run.returncode != 0:
                wrong.append(os.path.basename(source))
    print(f"{len(sources) - len(wrong)} of {len(sources)} examples have the verdict of nvcc's")
    sys.exit(f"wrong: {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
