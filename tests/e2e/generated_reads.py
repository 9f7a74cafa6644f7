#!/usr/bin/env python3
"""Kernels in which one thread stores a word and, by conditions of many kinds, threads read it.

    tests/e2e/generated_reads.py [--kernels N] [--seed N] [--filter F] [--arch A]

nvcc loads for all threads what the source reads in one, and masks the value later. So each kernel is
written in two forms, one in which only the thread that stores reads and one in which another thread
does: races must be reported of the latter, all of them, and of no other. Prints the kernels that are
judged wrongly, and how many are not.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

THREADS = 64
# {k}: whether the thread reads, {m}: what it reads then, whatever the values are.
READS = [
    "if ({k}) acc += {m};",
    "acc = ({k}) ? {m} : acc;",
    "if ({k}) acc = {m} * 3 + 1;",
    "if ({k}) {{ if ({m} > acc) acc = 7; }}",
    "if ({k}) acc = acc > {m} ? acc : {m};",
    "if ({k} && {m} > acc) acc = {m};",
    "if ({k} && {m} != 0) ++n;",
    "if ({k} && {m} != 0) acc = acc / {m};",
    "n += ({k}) ? ({m} != 0) : 0;",
    "if (!({k})) ++n; else acc += {m};",
    "const bool above = ({k}) && {m} > acc; if (above) n += 5;",
    "const T w = ({k}) ? {m} : T(1); acc += w * T(2);",
    "if ({k}) {{ n += int({m}); acc = T(n); }}",
    "for (int i = 0; i < 2 + zero; ++i) if ({k}) acc += {m};",
    "if (({k}) || zero) n += ({k}) ? int({m}) : 2;",
    "n = __syncthreads_count(int({k} && {m} > 2));",
    "switch (({k}) ? 1 + zero : zero) {{ case 1: acc = {m}; break; default: ++n; }}",
    "if ({k} && in[t] > 2) acc += {m}; acc = ({k}) ? acc : T(1);",
    "bool keep = false; if ({k}) keep = in[t] > 2; if (keep) acc += {m};",
    "for (int i = 0; i < 2 + zero; ++i) {{ bool keep = false; if ({k}) keep = in[i] > 2; if (keep) acc += {m}; }}",
    "for (int i = 0; i < 5 + zero; ++i) {{ const T top = T(in[i]); if ({k} && top >= {m}) acc = top; }}",
    "for (int i = 0; i < 5 + zero; ++i) if ({k} && T(in[i]) > {m}) m[0] = T(in[i]);",
]
CONDITIONS = ["t == {own}", "lead", "unsigned(t - {own}) < 1u", "!(t != {own})", "t < {own} + 1 && t > {own} - 1"]
OTHERS = ["t == {own} || t == {other}", "lead || t == {other}", "t == {other}"]
TYPES = ["int", "unsigned", "float", "double", "short", "unsigned char", "long long"]


class Kernel:
    def __init__(self, chance, number):
        self.name = "k%d" % number
        self.is_racy = number % 2 == 1
        own, other = chance.sample([0, 1, 31, 32, 63], 2)
        condition = chance.choice(OTHERS if self.is_racy else CONDITIONS).format(own=own, other=other)
        type_name = chance.choice(TYPES)
        in_block = chance.random() < 0.75
        place = chance.choice(["m[0]", "m[1]", "m[zero]", "(m[0] + m[1])"])
        loops = chance.random() < 0.3
        read = chance.choice(READS).format(k=condition, m=place)
        store = "if (%s) { m[0] = T(in[64]); m[1] = T(in[65] + 3); }" % chance.choice(["t == %d" % own, "lead"])
        self.lines = [
            "__device__ %s g%d[2];" % (type_name, number),
            "__global__ void k%d(const int* in, int* out, int zero) {" % number,
            "  using T = %s;" % type_name,
            "  __shared__ T s[2]; T* const m = %s;" % ("s" if in_block else "g%d" % number),
            "  const int t = threadIdx.x; const bool lead = t == %d; T acc = T(in[t]); int n = 0;" % own,
            "  for (int round = 0; round < 3; ++round) {" if loops else "  {",
            "    " + store,
            "    " + read,
            "  }",
            "  out[t] = int(acc) + n;",
            "}",
        ]


def program(kernels):
    lines = ["#include <cuda_runtime.h>"]
    for kernel in kernels:
        lines += kernel.lines
    lines += ["int main() {", "  int *in = nullptr, *out = nullptr;"]
    lines += ["  cudaMalloc(&in, 512); cudaMemset(in, 1, 512); cudaMalloc(&out, 512);"]
    for kernel in kernels:
        lines.append("  %s<<<1, %d>>>(in, out, 0); cudaDeviceSynchronize();" % (kernel.name, THREADS))
    return "\n".join(lines + ["  return cudaGetLastError();", "}", ""])


def racing_kernels(options, executable, report):
    subprocess.run([options.barracuda, "run", "--device", "cpu", "--filter", options.filter, "--json", report, "--",
                    executable], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    with open(report, encoding="utf-8") as file:
        findings = [json.loads(line) for line in file]
    if findings[-1]["type"] != "summary" or findings[-1]["coverage"] != "complete":
        sys.exit("not all was checked: %s" % findings[-1])
    return {finding["accesses"][0]["kernel"].split("(")[0]: finding["severity"]
            for finding in findings if finding["type"] == "race"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--barracuda", default="build/bin/barracuda")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--kernels", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--filter", default="off")
    parser.add_argument("--arch", default="compute_90", help="nvcc compiles compute_100 with another code generator")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    kernels = [Kernel(chance, number) for number in range(options.kernels)]
    with tempfile.TemporaryDirectory() as folder:
        source, executable = os.path.join(folder, "reads.cu"), os.path.join(folder, "reads")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program(kernels))
        subprocess.run([options.nvcc, "-std=c++17", "-O3", "-diag-suppress=177", "-lineinfo", "-cudart", "shared", "-gencode",
                        "arch=%s,code=%s" % (options.arch, options.arch), "-o", executable, source], check=True)
        racing = racing_kernels(options, executable, os.path.join(folder, "report.json"))
    wrong = 0
    for kernel in kernels:
        if (kernel.name in racing) != kernel.is_racy:
            wrong += 1
            print("%s: %s\n%s" % (kernel.name, "missed" if kernel.is_racy else "no race", "\n".join(kernel.lines)))
    print("%d kernels judged rightly, %d wrongly" % (len(kernels) - wrong, wrong))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
