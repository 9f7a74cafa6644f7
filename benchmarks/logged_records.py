#!/usr/bin/env python3
"""How many records the benchmark programs log on the emulated device, without and with the filter: a count,
which a GPU would log as well. What it is worth in time, benchmarks/overhead/filter_cost.py measures on a GPU."""
import argparse
import glob
import os
import re
import subprocess
import sys


def records(build, program, filter_option):
    """The records of one run; None if it does not end well."""
    barracuda = os.path.join(build, "bin", "barracuda")
    try:
        run = subprocess.run([barracuda, "run", "--device", "cpu", "--filter", filter_option, "--log",
                              "session/info", "--print-limit", "1", "--", program],
                             capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return None
    said = re.search(r"(\d+) records in", run.stderr)
    return int(said.group(1)) if said and "ok" in run.stdout else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", default="", help="a regular expression of program names")
    arguments = parser.parse_args()
    print("| program | records, filter=off | filter=auto | left |")
    print("| --- | ---: | ---: | ---: |")
    totals = [0, 0]
    failed = []
    for program in sorted(glob.glob(os.path.join(arguments.build, "programs", "bench_*"))):
        name = os.path.basename(program)[len("bench_"):]
        if not re.search(arguments.only, name) or not os.access(program, os.X_OK):
            continue
        counts = [records(arguments.build, program, option) for option in ("off", "auto")]
        if None in counts or counts[0] == 0:
            failed.append(name)
            continue
        totals = [sum(pair) for pair in zip(totals, counts)]
        print("| %s | %d | %d | %.0f %% |" % (name, *counts, 100 * counts[1] / counts[0]), flush=True)
    if totals[0]:
        print("| all | %d | %d | %.0f %% |" % (*totals, 100 * totals[1] / totals[0]))
    if failed:
        print("not counted: " + " ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
