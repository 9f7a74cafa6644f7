#!/usr/bin/env python3
"""Table IV of Bugaroo (Islam, Muzahid) on the emulated device: how often the programs of
litmus_suite/weak fail when stores are delayed, beside the paper's figures.

    benchmarks/weak/run_table4.py --runs 200    200 runs of each program at each probability
    benchmarks/weak/run_table4.py --quick       3 runs, and then the check
    benchmarks/weak/run_table4.py ct_octree     the rows with one of the words in their name

Each run has a seed of its own. The second table is cbe_dot with stale reads as well: its lock's
fence, which the paper calls not needed, is. The third is of the paper's programs that have barriers
alone, with a quarter of the runs.
With --quick or --check, status 1 says that a build with the paper's fences failed, or that one
without any fence did not.
"""
import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROBABILITIES = [1, 0.75, 0.5, 0.25]

# The build, what the paper calls it, its figures and its verdict. must: what --check demands.
Row = collections.namedtuple("Row", "program name paper verdict must")
TABLE4 = [
    Row("weak_cbe_dot", "cbe_dot, 2 fences", "0 0 0 0", "overfenced", "never"),
    Row("weak_cbe_dot_unlock_fence", "cbe_dot, unlock's fence", "0 0 0 0", "optimal", "never"),
    Row("weak_cbe_dot_no_fence", "cbe_dot, none", "1 1 1 1", "underfenced", "fails"),
    Row("weak_ct_octree_no_fence", "ct_octree, none", "1 1 1 1", "underfenced", "fails"),
    Row("weak_ct_octree_push_fence", "ct_octree, 1 fence", "0 0 0 0", "optimal", "never"),
    Row("weak_sdk_red_ticket_fence", "sdk_red, 1 fence", "0 0 0 0", "optimal", "never"),
    Row("weak_sdk_red_no_fence", "sdk_red, none", "1 1 1 1", "underfenced", "fails"),
    Row("weak_cub_scan_f1_f2_f3", "cub_scan, all 3", "0 0 0 0", "optimal", "never"),
    Row("weak_cub_scan_f1_f2", "cub_scan, f1 f2", "0.002 0 0 0", "underfenced", ""),
    Row("weak_cub_scan_f1_f3", "cub_scan, f1 f3", "0.857 0.714 0.29 0", "underfenced", ""),
    Row("weak_cub_scan_f2_f3", "cub_scan, f2 f3", "0.001 0 0 0", "underfenced", ""),
    Row("weak_cub_scan_no_fence", "cub_scan, none", "0.861 0.51 0.285 0", "underfenced", "fails"),
]
# Programs whose blocks have barriers alone, which suffice; and hotspot without one of its three.
BARRIERS = [
    Row("bench_kmeans", "kmeans", "", "optimal", "never"),
    Row("bench_hotspot", "hotspot", "", "optimal", "never"),
    Row("bench_streamcluster", "streamcluster", "", "optimal", "never"),
    Row("bench_hotspot_barriers_6", "hotspot without its first barrier", "", "race", "fails"),
    Row("bench_hotspot_barriers_5", "hotspot without its second", "", "race", "fails"),
    Row("bench_hotspot_barriers_3", "hotspot without its third", "", "race", "fails"),
]
# The same with stale reads: whether PTX allows the build to fail, not the paper's figures.
STALE = [
    Row("weak_cbe_dot", "cbe_dot, 2 fences", "", "fenced", "never"),
    Row("weak_cbe_dot_unlock_fence", "cbe_dot, unlock's fence", "", "underfenced", "fails"),
    Row("weak_cbe_dot_no_fence", "cbe_dot, none", "", "underfenced", "fails"),
]


def run_once(arguments, program, options):
    """Whether the program's own check says that the run failed."""
    command = [arguments.barracuda, "run", "--device", "cpu"] + ["--" + option for option in options]
    command += ["--", os.path.join(arguments.programs, program)]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=arguments.seconds, check=False)
    except subprocess.TimeoutExpired:
        return True
    if "BARRACUDA SUMMARY" not in result.stderr:
        sys.exit("%s: %s%s" % (" ".join(command), result.stdout, result.stderr))
    return result.stdout != "ok\n"


def share(pool, arguments, program, count, options):
    runs = pool.map(lambda seed: run_once(arguments, program, options + ["seed=%d" % seed]),
                    range(1, count + 1))
    return sum(runs) / count


def figure(value):
    return ("%.3f" % value).rstrip("0").rstrip(".")


def is_as_demanded(row, shares):
    if row.must == "never":
        return all(value == 0 for value in shares)
    return row.must != "fails" or any(value > 0 for value in shares)


def print_row(cells):
    print("|", " | ".join(cells), "|", flush=True)


def print_table(pool, arguments, rows, count, stale_reads):
    """Prints the share of `count` runs that fail, ours beside the paper's; the rows that are not as they must be."""
    rows = [row for row in rows
            if not arguments.words or any(word in row.program for word in arguments.words)]
    wrong = []
    with_paper = any(row.paper for row in rows)
    header = ["program"] + ["p = %s" % figure(p) for p in PROBABILITIES]
    header += (["the paper's"] if with_paper else []) + ["verdict"]
    print_row(header)
    print("|" + " --- |" * len(header))
    for row in rows:
        shares = [share(pool, arguments, row.program, count,
                        ["delay-stores=%s" % p] + (["stale-reads=%s" % p] if stale_reads else []))
                  for p in PROBABILITIES]
        cells = [row.name] + [figure(value) for value in shares]
        cells += ([" / ".join(row.paper.split())] if with_paper else []) + [row.verdict]
        print_row(cells)
        if not is_as_demanded(row, shares):
            wrong.append(row.name)
    return wrong


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="rows with one of them in their name; all")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    parser.add_argument("--runs", type=int, default=200, help="of each program at each probability")
    parser.add_argument("--quick", action="store_true", help="3 runs, and --check")
    parser.add_argument("--check", action="store_true", help="status 1 where a row is not as it must be")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--seconds", type=int, default=60, help="a run that takes longer hangs: it failed")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.runs, arguments.check = 3, True
    return arguments


def main():
    arguments = parse_arguments()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        print("Share of %d runs that fail, stores delayed with probability p:\n" % arguments.runs)
        wrong = print_table(pool, arguments, TABLE4, arguments.runs, stale_reads=False)
        print("\nThe same with reads stale with probability p:\n")
        wrong += print_table(pool, arguments, STALE, arguments.runs, stale_reads=True)
        fewer = max(1, arguments.runs // 4)
        print("\nBarriers of a block, %d runs, stores delayed with probability p:\n" % fewer)
        wrong += print_table(pool, arguments, BARRIERS, fewer, stale_reads=False)
    if arguments.check and wrong:
        print("not as they must be: %s" % ", ".join(wrong), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
