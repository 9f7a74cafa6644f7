#!/usr/bin/env python3
"""Compares the text reports of racy programs with tests/e2e/golden: what a user reads is a format too. Those of the
examples, and one of each kind that these do not have.

    tests/e2e/golden_reports.py [--update]

A seed fixes the schedule of a kernel, and so threads and counts; addresses and folders are masked.
Another compiler makes other instructions of the examples, so they are compared under the one that
golden/toolkit names (exit status 77: another one is here; NVCC says which). --update writes what the
tool says now: read the diff.
"""
import argparse
import difflib
import glob
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
EXAMPLES = os.path.join(ROOT, "examples")
GOLDEN = os.path.join(FOLDER, "golden")
TOOLKIT = os.path.join(GOLDEN, "toolkit")
OF_OTHER_KINDS = [
    "advice_volatile_barrier_race", "block_reduce_race", "graph_nodes_race", "half_warp_divergence",
    "litmus_bulk_store_no_proxy_fence_race", "litmus_cluster_exit_too_early_race", "litmus_cp_async_no_wait_race",
    "litmus_grid_sync_once_race", "litmus_pool_free_other_stream_race",
    "litmus_tile_sync_other_tile_race", "litmus_wgmma_register_early_race"]


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def toolkit():
    """The compiler's last line: "Build cuda_13.0.r13.0/compiler.…"."""
    result = subprocess.run([os.environ.get("NVCC", "nvcc"), "--version"], capture_output=True, text=True,
                            check=True)
    return result.stdout.strip().splitlines()[-1] + "\n"


def masked(text):
    text = re.sub(r"0x[0-9a-f]+", "0x…", text)
    return re.sub(r"/[^\n ]*?/(examples|litmus_suite|tests)/", r"\1/", text)


def report_of(arguments, name):
    # In the tree: file names are shown, and lines folded, from there.
    result = subprocess.run([os.path.abspath(arguments.barracuda), "run", "--device", "cpu", "--seed", "1", "--",
                             os.path.abspath(os.path.join(arguments.programs, name))], cwd=ROOT,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", timeout=100, check=False)
    return masked(result.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if not arguments.update and toolkit() != read(TOOLKIT):
        print("skipped: the reports are those of %snot of %s" % (read(TOOLKIT), toolkit()))
        return 77
    names = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(EXAMPLES, "*_race.cu")))
    names += OF_OTHER_KINDS
    has_changed = False
    for name in names:
        golden = os.path.join(GOLDEN, name + ".txt")
        report = report_of(arguments, name)
        if arguments.update:
            write(golden, report)
        elif report != read(golden):
            has_changed = True
            sys.stdout.writelines(difflib.unified_diff(
                read(golden).splitlines(True), report.splitlines(True), golden, "now"))
    if arguments.update:
        write(TOOLKIT, toolkit())
    elif has_changed:
        print("if that is meant: tests/e2e/golden_reports.py --update")
    else:
        print("%d reports as they were" % len(names))
    return 1 if has_changed else 0


if __name__ == "__main__":
    sys.exit(main())
