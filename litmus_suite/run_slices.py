#!/usr/bin/env python3
"""Slices the races of the suite's racy programs into litmus tests, and asks the PTX model of each.

    litmus_suite/run_slices.py              the programs of core and modern that race
    litmus_suite/run_slices.py '^flag'      those whose name matches a pattern

Each program is recorded on the emulated device, `barracuda replay --litmus` writes a slice of each
race that lies between two or three threads, and `barracuda explore --races` says whether the model
has the race in it. A program is shown if one of its slices is: that one is its idiom. Where a slice
does not show it a reason must stand in DIFFERENCES. Exit status 1: one does not show it without, a
reason is there for one that does, or fewer than 95 % of the sliced programs are shown.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

SUITE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SUITE)
FOLDERS = ["suite", "modern"]
SECONDS = 60
MOST_SEEDS = 20
FINDINGS = 66
GOAL = 0.95

# Programs whose slices do not show the race that the detector reports, and why.
DIFFERENCES = {}

Row = collections.namedtuple("Row", "name races sliced shown why")


def find_programs(arguments):
    found = []
    for folder in FOLDERS:
        for file in sorted(os.listdir(os.path.join(SUITE, folder))):
            name = os.path.splitext(file)[0]
            if not file.endswith("_race.cu") or not re.search(arguments.pattern, name):
                continue
            binary = os.path.join(arguments.programs, "litmus_" + name)
            if not os.path.exists(binary):
                sys.exit("%s is not built (ninja -C build barracuda.programs)" % binary)
            found.append(name)
    if not found:
        sys.exit("no program matches %s" % arguments.pattern)
    return found


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def explored(arguments, file):
    result = run([arguments.barracuda, "explore", "--races", file])
    race = re.search(r"data race: (reachable|not reachable)", result.stdout)
    if race is None:
        sys.exit("%s: explore says %s%s" % (file, result.stdout, result.stderr))
    return race.group(1) == "reachable"


def record(arguments, name, trace):
    """Under the first schedule in which it races: `schedule: some` is not all of them."""
    program = os.path.join(arguments.programs, "litmus_" + name)
    for seed in range(1, MOST_SEEDS + 1):
        if os.path.exists(trace):
            os.remove(trace)
        ended = run([arguments.barracuda, "run", "--device", "cpu", "--seed", str(seed),
                     "--record", trace, "--", program])
        if ended.returncode == FINDINGS:
            break
    return os.path.exists(trace)


def judge(arguments, name):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        if not record(arguments, name, trace):
            return Row(name, 0, 0, 0, "no trace was recorded")
        slices = os.path.join(folder, "slices", "")
        said = run([arguments.barracuda, "replay", "--log-file", os.path.join(folder, "report"),
                    "--litmus", slices, trace]).stderr
        lines = re.findall(r"race of .*?: (.*)", said)
        files = sorted(glob.glob(os.path.join(glob.escape(slices), "*.litmus")))
        shown = sum(explored(arguments, file) for file in files)
        why = ""
        if shown == 0:
            why = re.sub(r"^.*/", "", lines[0]) if lines else "no race in this run"
        if arguments.keep and files:
            kept = os.path.join(arguments.keep, name)
            os.makedirs(kept, exist_ok=True)
            for file in files:
                os.replace(file, os.path.join(kept, os.path.basename(file)))
        return Row(name, len(lines), len(files), shown, why)


def print_table(rows):
    wrong = 0
    print("| program | races | sliced | shown | |")
    print("| --- | ---: | ---: | ---: | --- |")
    for row in rows:
        why = row.why
        if row.sliced and not row.shown:
            why = "NOT SHOWN: " + DIFFERENCES.get(row.name, why)
        differs = row.sliced and not row.shown
        if not differs and row.name in DIFFERENCES:
            why = "shown, but DIFFERENCES has a reason"
        wrong += bool(differs) != (row.name in DIFFERENCES)
        print("| %s | %d | %d | %d | %s |" % (row.name, row.races, row.sliced, row.shown,
                                              why.replace("|", "\\|")))
    sliced = sum(row.sliced > 0 for row in rows)
    shown = sum(row.shown > 0 for row in rows)
    print("%d programs, %d sliced, %d shown, %d not shown; %d races, %d sliced, %d shown" %
          (len(rows), sliced, shown, sliced - shown, sum(row.races for row in rows),
           sum(row.sliced for row in rows), sum(row.shown for row in rows)))
    return wrong or shown < GOAL * sliced


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pattern", nargs="?", default="", help="of program names")
    build = os.path.join(ROOT, "build")
    parser.add_argument("--barracuda", default=os.path.join(build, "bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(build, "programs"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="a folder that the slices are kept in")
    arguments = parser.parse_args()
    programs = find_programs(arguments)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(lambda name: judge(arguments, name), programs))
    return 1 if print_table(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
