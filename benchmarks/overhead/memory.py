#!/usr/bin/env python3
"""How much memory detection takes for each byte that a program touches: records every benchmark
program (on the GPU where there is one) and prints a table from barracuda.benchmark.memory, with
the geometric mean and the ratio of the sums. Fails where the mean is over --most."""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

from overhead import SIZES

LINE = re.compile(r": ([\d.]+) MB for ([\d.]+) MB of global and ([\d.]+) MB of shared memory: ")


def measure(build, device, name, folder):
    """Megabytes held, and touched of global and of shared memory; None if the run left no trace."""
    trace = os.path.join(folder, name)
    binaries = os.path.join(build, "bin")
    subprocess.run([os.path.join(binaries, "barracuda"), "run", "--device", device, "--record", trace,
                    os.path.join(build, "programs", "bench_" + name), str(SIZES[name])],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    benchmark = os.path.join(binaries, "barracuda.benchmark.memory")
    measured = subprocess.run([benchmark, trace], stdout=subprocess.PIPE, text=True, check=False)
    os.remove(trace)
    found = LINE.search(measured.stdout)
    return tuple(float(number) for number in found.groups()) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--device", default="auto", choices=["auto", "gpu", "cpu"])
    parser.add_argument("--only", default="", help="a regular expression of program names")
    parser.add_argument("--most", type=float, default=math.inf)
    arguments = parser.parse_args()

    print("| program (size) | held, MB | global, MB | shared, MB | held a byte touched |")
    print("| --- | --- | --- | --- | --- |")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(re.compile(arguments.only).search, SIZES):
            result = measure(arguments.build, arguments.device, name, folder)
            if result is None:
                sys.exit("%s left no trace" % name)
            held, of_global, of_shared = result
            results.append((held, of_global + of_shared))
            print("| %s (%d) | %.1f | %.2f | %.2f | %.1f |" % (
                name, SIZES[name], held, of_global, of_shared, held / (of_global + of_shared)),
                flush=True)
    ratios = [held / touched for held, touched in results]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print("geometric mean: %.1f; of the sums: %.1f; at most 8: %d of %d" % (
        mean,
        sum(held for held, _ in results) / sum(touched for _, touched in results),
        sum(ratio <= 8 for ratio in ratios), len(ratios)))
    return 0 if mean <= arguments.most else 1


if __name__ == "__main__":
    sys.exit(main())
