#!/usr/bin/env python3
"""Runs the programs of the litmus suite, the examples and the benchmarks with filter=off and with another
filter, and compares what is found: the verdict, every finding with its kind, its severity and all its places, and
the coverage. One difference is exit status 1. What differs in one schedule is compared by all that is found in
SCHEDULES of them, but for severities: what the device executes depends on the filter, and with it who meets whom,
and whether the value of a write is known that was kept (docs/decisions/device-filter.md).

    tools/compare_filter.py                     all programs that are built, filter=auto
    tools/compare_filter.py --filter on         what filter=on names as not checked need not be found
    tools/compare_filter.py --every 10          every tenth program
    tools/compare_filter.py --seeds 3           by what is found in three more schedules as well
    tools/compare_filter.py --device gpu lock   on a GPU; programs whose name matches a pattern
"""
import argparse
import concurrent.futures
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import program_runner as runner  # noqa: E402

FOLDERS = [("litmus_suite/suite", "litmus_"), ("litmus_suite/modern", "litmus_"), ("examples", ""),
           ("benchmarks/programs", "bench_"), ("tests/e2e/programs", "")]
NOT_CHECKED = re.compile(r"filter=off checks it")
ALL_CHECKED = (0, runner.FINDINGS_STATUS)
SCHEDULES = 24


def find_programs(arguments):
    """(name, source, binary) of those that are built and say what is expected of them."""
    programs = []
    for folder, prefix in FOLDERS:
        for file in sorted(os.listdir(os.path.join(ROOT, folder))):
            name, extension = os.path.splitext(file)
            source = os.path.join(ROOT, folder, file)
            binary = os.path.join(arguments.programs, prefix + name)
            if (extension == ".cu" and re.search(arguments.pattern, name) and os.path.isfile(binary)
                    and runner.read_note(source, "expect")):
                programs.append((name, source, binary))
    return programs[::arguments.every]


def variants_of(finding):
    """What a finding says but for how often, and which of its threads and bytes it shows."""
    places = tuple(sorted(runner.place(access) for access in finding.get("accesses", [])))
    return {(finding["type"], variant.get("kind"), variant.get("severity"), variant.get("space"), places)
            for variant in [finding] + finding.get("variants", [])}


class Outcome:
    """One run: its exit status, its findings, its coverage, what the program printed."""

    def __init__(self, arguments, program, filter_option, seed=None):
        _, source, binary = program
        expectation, _ = runner.read_expectation([source], "")
        options = runner.device_options(arguments.device, expectation)
        options += ["filter=" + filter_option, "log=session/info"]
        options += ["workers=1", "detector-threads=1"] if arguments.device == "cpu" else []
        options += ["seed=%d" % seed] if seed is not None and arguments.device == "cpu" else []
        tool = runner.tool_command(arguments.barracuda, arguments.device, options)
        result, lines = runner.run_under_tool(tool, [binary])
        summary = lines[-1] if lines and lines[-1]["type"] == "summary" else {}
        self.status = result.returncode
        self.printed = result.stdout
        self.findings = set().union(*(variants_of(line) for line in lines[:-1]))
        self.gaps = {gap for gap in summary.get("not_covered", ["no report"])
                     if not NOT_CHECKED.search(gap)}
        self.said_not_checked = any(NOT_CHECKED.search(gap) for gap in summary.get("not_covered", []))
        records = re.search(r"(\d+) records in", result.stderr)
        self.records = int(records.group(1)) if records else 0

    def add(self, other):
        self.status = max(self.status, other.status)
        self.findings |= other.findings
        self.gaps |= other.gaps
        self.said_not_checked = self.said_not_checked or other.said_not_checked


def without_severity(findings):
    return {(finding, kind, places) for finding, kind, _, _, places in findings}


def differences(off, other, severities=True):
    """What is not as it is with filter=off."""
    ours, theirs = ((off.findings, other.findings) if severities else
                    (without_severity(off.findings), without_severity(other.findings)))
    wrong = ["invented: %s" % (each,) for each in sorted(theirs - ours, key=str)]
    if other.said_not_checked:
        return wrong
    wrong += ["missed: %s" % (each,) for each in sorted(ours - theirs, key=str)]
    if other.status != off.status:
        wrong.append("exit status %d, not %d" % (other.status, off.status))
    if other.gaps != off.gaps:
        wrong.append("gaps %s, not %s" % (sorted(other.gaps), sorted(off.gaps)))
    return wrong


def compare(arguments, program):
    off = Outcome(arguments, program, "off")
    if off.status not in ALL_CHECKED and not off.findings:
        return off, None, []  # it fails by itself, or this device has not what it needs
    other = Outcome(arguments, program, arguments.filter)
    wrong = differences(off, other)
    for seed in range(1, SCHEDULES + 1):
        if seed > arguments.seeds and not wrong:
            break
        off.add(Outcome(arguments, program, "off", seed))
        other.add(Outcome(arguments, program, arguments.filter, seed))
        wrong = differences(off, other, severities=False)
    return off, other, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default=".", help="programs whose name matches it")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "gpu"])
    parser.add_argument("--filter", default="auto", choices=["auto", "on"])
    parser.add_argument("--every", type=int, default=1, help="every N-th program alone")
    parser.add_argument("--seeds", type=int, default=0, help="compare the findings of N schedules more")
    parser.add_argument("--jobs", type=int, default=2, help="programs at the same time")
    arguments = parser.parse_args()

    programs = find_programs(arguments)
    if not programs:
        sys.exit("no program that is built matches %s" % arguments.pattern)
    jobs = 1 if arguments.device == "gpu" else arguments.jobs
    equal, told, left_out, wrong_ones, fewer = 0, [], [], [], 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        rows = pool.map(lambda program: compare(arguments, program), programs)
        for (name, _, _), (off, other, wrong) in zip(programs, rows):
            if other is None:
                left_out.append(name)
                continue
            print("%-50s %9d records, %9d with filter=%s%s" %
                  (name, off.records, other.records, arguments.filter,
                   "; says that it does not check all" if other.said_not_checked else ""), flush=True)
            for problem in wrong:
                print("    %s" % problem, flush=True)
            equal += not wrong
            fewer += other.records < off.records
            told += [name] if other.said_not_checked else []
            wrong_ones += [name] if wrong else []
    print("%d of %d equal; %d with fewer records; %d say that they do not check all%s; "
          "not compared: %s" % (equal, len(programs) - len(left_out), fewer, len(told),
                                "".join(" " + name for name in told), " ".join(left_out) or "none"))
    if wrong_ones:
        print("different: " + " ".join(wrong_ones))
    return 1 if wrong_ones else 0


if __name__ == "__main__":
    sys.exit(main())
