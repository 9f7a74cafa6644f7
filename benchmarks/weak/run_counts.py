#!/usr/bin/env python3
"""What the programs of Bugaroo's Tables II and III execute, and what delaying their stores costs, on
the emulated device, beside the paper's figures (K80, CUDA 7, SASS).

    benchmarks/weak/run_counts.py                 all rows; each time the median of 5 runs
    benchmarks/weak/run_counts.py --times 1 cub   rows with one of the words, one run

Instructions are PTX's, those of threads (one of a whole warp counts 32); the static fences are the
places that executed one. Nothing is logged for the race detector; in the counting run next to no
store is delayed, for delays change how often a loop polls. Whole programs are timed.
"""
import argparse
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNINSTRUMENTED = ["--device", "cpu", "--seed", "1", "--kernel-name", "kne=none"]

# The paper's: instructions, fences executed and in the text, stores to shared and to global memory,
# seconds without and with delays.
Row = collections.namedtuple("Row", "program name instructions fences places shared stored plain delayed")
ROWS = [
    Row("weak_cbe_dot", "cbe_dot, 2 fences", 1076216, 64, 2, 16352, 32, 2.760, 3.009),
    Row("weak_cbe_dot_unlock_fence", "cbe_dot, 1 fence", 1075828, 32, 1, 16352, 32, 2.447, 2.546),
    Row("weak_ct_octree_push_fence", "ct_octree", 31362438, 41, 1, 1372676, 15623, 2.792, 3.117),
    Row("weak_sdk_red_ticket_fence", "sdk_red", 999846, 8192, 1, 49600, 130, 2.335, 2.658),
    Row("weak_cub_scan_f1_f2_f3", "cub_scan", 2769764, 10529, 3, 83185, 62435, 2.761, 3.024),
    Row("bench_kmeans", "kmeans", 306772, 0, 0, 0, 3600, 2.765, 2.907),
    Row("bench_streamcluster", "streamcluster", 2294132736, 0, 0, 0, 5519623, 3.623, 7.895),
    Row("bench_hotspot", "hotspot", 1841064, 0, 0, 29160, 4096, 2.654, 3.004),
]
Counts = collections.namedtuple("Counts", "instructions fences places shared stored")


def run(arguments, program, options):
    """The seconds that the whole program took."""
    command = [arguments.barracuda, "run"] + UNINSTRUMENTED + options
    command += ["--", os.path.join(arguments.programs, program)]
    start = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if "BARRACUDA SUMMARY" not in result.stderr:
        sys.exit("%s: %s%s" % (" ".join(command), result.stdout, result.stderr))
    return seconds


def counts_of(log):
    """The sums of a log's lines; a line may come in pieces, one for each part of a launch."""
    sums, fences = collections.Counter(), collections.Counter()
    for line in log.splitlines():
        match = re.match(r"(instructions|stores|fences)(?: space=(\w+)| at=(\S+))? count=(\d+)$", line)
        if match:
            word, space, place, count = match.groups()
            (fences if place else sums)[place or space or word] += int(count)
    return Counts(sums["instructions"], sum(fences.values()), len(fences), sums["shared"], sums["global"])


def count(arguments, program):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        run(arguments, program, ["--delay-stores", "0.000000001", "--weak-log", log])
        with open(log, encoding="utf-8") as file:
            return counts_of(file.read())


def median_seconds(arguments, program, options):
    return statistics.median(run(arguments, program, options) for _ in range(arguments.times))


def overhead(plain, delayed):
    return "%+.0f %%" % ((delayed / plain - 1) * 100)


def beside(ours, paper):
    return "{:,} / {:,}".format(ours, paper)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="rows with one of them in their name; all")
    parser.add_argument("--times", type=int, default=5, help="runs behind each time")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    rows = [row for row in ROWS
            if not arguments.words or any(word in row.program for word in arguments.words)]
    if not rows:
        sys.exit("no row has %s in its name" % " or ".join(arguments.words))
    print("Ours / the paper's; seconds on the emulated device without and with all stores delayed.\n")
    print("| program | instructions | fences | in the text | shared st | global st | seconds | overhead |")
    print("|" + " --- |" * 8)
    ratios = []
    for row in rows:
        seen = count(arguments, row.program)
        plain = median_seconds(arguments, row.program, [])
        delayed = median_seconds(arguments, row.program, ["--delay-stores", "1"])
        ratios.append(delayed / plain)
        cells = [row.name] + [beside(getattr(seen, field), getattr(row, field)) for field in Counts._fields]
        cells += ["%.2f, %.2f / %.2f, %.2f" % (plain, delayed, row.plain, row.delayed),
                  "%s / %s" % (overhead(plain, delayed), overhead(row.plain, row.delayed))]
        print("|", " | ".join(cells), "|", flush=True)
    print("\noverhead: geometric mean %.2f x, median %.2f x" %
          (statistics.geometric_mean(ratios), statistics.median(ratios)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
