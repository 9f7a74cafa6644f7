#!/usr/bin/env python3
"""Prints what tiny launches cost under `barracuda run` on the emulated device, by their number.

    launches.py --barracuda FILE [--check] [--kind KIND] PROGRAM COUNT...

PROGRAM is many_launches. CPU time is that of all threads, user and system, and the memory that of the
largest process. With --check the status is 1 where a launch was not checked, where the launches
beyond the second count cost more than half as much again as those between the first two, or took
more than a hundred bytes each beyond what is in flight.
"""
import argparse
import os
import subprocess
import sys
import tempfile

IN_FLIGHT_BYTES = 32 << 20
KINDS = ["kernels", "streams", "copies", "values"]


def measure(arguments, kind, count):
    """The CPU seconds and the bytes of one run; ends this script if it is not as it should be."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as log:
        child = subprocess.Popen([arguments.barracuda, "run", "--device", "cpu", "--",
                                  arguments.program, kind, str(count)], stdout=out, stderr=log)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        text = log.read().decode()
    if child.returncode != 0 or "coverage complete" not in text:
        sys.exit("%s %d: status %d\n%s" % (kind, count, child.returncode, text))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def check(kind, counts, results):
    """What is wrong with the last of the counts by the first two."""
    (first_time, _), (second_time, second_bytes), (last_time, last_bytes) = results
    cost = (second_time - first_time) / (counts[1] - counts[0])
    late_cost = (last_time - second_time) / (counts[2] - counts[1])
    problems = []
    if late_cost > 1.5 * cost:
        problems.append("%s: a late launch costs %.1f us, an early one %.1f" %
                        (kind, late_cost * 1e6, cost * 1e6))
    # What is in flight takes more or less as detection is behind.
    if last_bytes - second_bytes > IN_FLIGHT_BYTES + 100 * (counts[2] - counts[1]):
        problems.append("%s: %.1f MiB more for %d launches" %
                        (kind, (last_bytes - second_bytes) / 2**20, counts[2] - counts[1]))
    return problems


def check_once(arguments, kind):
    """Measures all counts; with --check, what is wrong with them."""
    results = []
    for count in arguments.count:
        results.append(measure(arguments, kind, count))
        seconds, size = results[-1]
        print("%-8s %8d launches: %7.2f CPU s, %6.2f us each, %6.0f MiB" %
              (kind, count, seconds, seconds / max(count, 1) * 1e6, size / 2**20), flush=True)
    return check(kind, arguments.count, results) if arguments.check else []


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--barracuda", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("program")
    parser.add_argument("count", type=int, nargs="+")
    arguments = parser.parse_args()
    if arguments.check and len(arguments.count) != 3:
        parser.error("--check needs three counts")
    problems = []
    for kind in arguments.kind or KINDS:
        for _ in range(2):  # other processes take a part of the caches: what is wrong is so twice
            wrong = check_once(arguments, kind)
            if not wrong:
                break
        problems += wrong
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
