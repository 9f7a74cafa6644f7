#!/usr/bin/env python3
"""Runs a load program under `barracuda run` and prints what it cost and what was found.

    run_load.py [options] PROGRAM [argument ...]

Status 1 if a record was lost (coverage incomplete), if the races are not as many as --races says, if
the occurrences of the first are not --count, or if the program took more than --seconds or
--mebibytes.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time


def run(arguments):
    """The lines of the report, the seconds, and the largest process in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "findings.jsonl")
        command = [arguments.barracuda, "run", "--device", arguments.device, "--json", report]
        for option in arguments.option:
            name, _, value = option.partition("=")
            command += ["--" + name, value]
        begin = time.monotonic()
        result = subprocess.run(command + ["--"] + arguments.program, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, check=False)
        seconds = time.monotonic() - begin
        if not os.path.exists(report):
            sys.exit("no report was written (status %d):\n%s" % (result.returncode, result.stderr))
        with open(report, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    mebibytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return lines, seconds, mebibytes


def judge(arguments, lines, seconds, mebibytes):
    races = [line for line in lines if line["type"] == "race"]
    summary = lines[-1]
    problems = []
    if len(races) + 1 != len(lines):
        problems.append("other findings than races: %s" % lines)
    if summary["coverage"] != "complete":
        problems.append("coverage incomplete: %s" % summary["not_covered"])
    if arguments.races is not None and len(races) != arguments.races:
        problems.append("%d races, not %d" % (len(races), arguments.races))
    if arguments.count is not None and races and races[0]["count"] != arguments.count:
        problems.append("%d occurrences, not %d" % (races[0]["count"], arguments.count))
    if seconds > arguments.seconds:
        problems.append("%.0f s are more than %.0f" % (seconds, arguments.seconds))
    if mebibytes > arguments.mebibytes:
        problems.append("%.0f MiB are more than %.0f" % (mebibytes, arguments.mebibytes))
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--barracuda", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE for run")
    parser.add_argument("--races", type=int)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--mebibytes", type=float, default=float("inf"))
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    lines, seconds, mebibytes = run(arguments)
    races = [line for line in lines if line["type"] == "race"]
    print("%s: %.1f s, %.0f MiB, %d races (%s occurrences)" %
          (" ".join([os.path.basename(arguments.program[0])] + arguments.program[1:]), seconds,
           mebibytes, len(races), ", ".join(str(race["count"]) for race in races)))
    problems = judge(arguments, lines, seconds, mebibytes)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
