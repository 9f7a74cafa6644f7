#!/usr/bin/env python3
"""Runs the concurrency suite and prints a table and the score.

    litmus_suite/run_suite.py                    core and modern, round robin and 20 seeds
    litmus_suite/run_suite.py --seeds 3 lock     programs whose name matches a pattern
    litmus_suite/run_suite.py --model paper      under the rules of the paper (docs/RACES.md)
    litmus_suite/run_suite.py --option shuffle=blocks     with an option of barracuda run
    litmus_suite/run_suite.py --device gpu       on a GPU; racecheck beside, where it is installed

A program is right when every schedule's verdict is: the expectation of its first lines, nothing
outside its marked lines, its result where it has one (tests/e2e/program_runner.py says how a source
says it). One wrong program is exit status 1.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

SUITE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SUITE)
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import program_runner as runner  # noqa: E402

FOLDERS = ["suite", "modern"]
MODELS = ["ptx", "paper"]
TITLES = {"suite": "core", "modern": "modern"}
RACECHECK_SECONDS = 60

Program = collections.namedtuple("Program", "name folder source binary")
# One run: what the schedule is called, what was seen, and what is wrong with it.
Run = collections.namedtuple("Run", "schedule verdict problems")


def find_programs(arguments):
    programs = []
    for folder in FOLDERS:
        for file in sorted(os.listdir(os.path.join(SUITE, folder))):
            name, extension = os.path.splitext(file)
            if (extension != ".cu" or not re.search(arguments.pattern, name)
                    or not runner.runs_on(os.path.join(SUITE, folder, file), arguments.device)):
                continue
            binary = os.path.join(arguments.programs, "litmus_" + name)
            if not os.path.exists(binary):
                sys.exit("%s is not built (ninja -C build barracuda.programs)" % binary)
            programs.append(Program(name, folder, os.path.join(SUITE, folder, file), binary))
    if not programs:
        sys.exit("no program matches %s" % arguments.pattern)
    return programs


def schedules(arguments):
    """The name and the options of each schedule."""
    if arguments.device == "gpu":
        return [("gpu", [])]
    return [("round robin", ["workers=1"])] + [
        ("seed %d" % seed, ["seed=%d" % seed]) for seed in range(1, arguments.seeds + 1)]


def verdict_of(lines):
    if not lines or lines[-1]["type"] != "summary":
        return "no report"
    types = {line["type"] for line in lines[:-1]}
    for kind in ("race", "barrier-divergence", "memory-error", "timeout", "deadlock", "async-register"):
        if kind in types:
            return kind
    return "none" if lines[-1]["coverage"] == "complete" else "incomplete"


def run_once(arguments, program, schedule, options):
    expectation, _ = runner.read_expectation([program.source], arguments.model)
    options = options + runner.device_options(arguments.device, expectation) + arguments.option
    if arguments.model != "ptx":
        options = options + ["model=" + arguments.model]
    tool = runner.tool_command(arguments.barracuda, arguments.device, options)
    try:
        result, lines = runner.run_under_tool(tool, [program.binary])
    except subprocess.TimeoutExpired:
        return Run(schedule, "timeout", ["it does not end"])
    problems = runner.judge(result, lines, [program.source], arguments.model)
    return Run(schedule, verdict_of(lines), problems)


def run_program(arguments, program):
    runs = [run_once(arguments, program, name, options) for name, options in schedules(arguments)]
    expectation, _ = runner.read_expectation([program.source], arguments.model)
    # A race that only some schedules show must be shown by one of several.
    if len(runs) > 5 and expectation[0] not in {run.verdict for run in runs}:
        runs[0].problems.append("no schedule shows it")
    return runs


def verdict_cell(runs):
    """How often each verdict was reached, and where it was not the same on every schedule, when."""
    by_verdict = collections.defaultdict(list)
    for run in runs:
        by_verdict[run.verdict].append(run.schedule.replace("seed ", ""))
    if len(by_verdict) == 1:
        return next(iter(by_verdict))
    return "; ".join("%s: %s" % (verdict, ", ".join(names))
                     for verdict, names in by_verdict.items())


def racecheck(program):
    """What compute-sanitizer's racecheck says of the program; it sees shared memory only."""
    command = ["compute-sanitizer", "--tool", "racecheck", "--racecheck-report", "hazard",
               program.binary]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, timeout=RACECHECK_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "timeout"
    match = re.search(r"RACECHECK SUMMARY: (\d+) hazard", result.stdout)
    if not match:
        return "no report"
    return "race" if int(match.group(1)) else "none"


def with_racecheck(arguments):
    return (arguments.device == "gpu" and not arguments.without_racecheck
            and shutil.which("compute-sanitizer") is not None)


def examine(arguments, program):
    """The row of the table, whether the program is right, and whether racecheck is."""
    expectation, _ = runner.read_expectation([program.source], arguments.model)
    runs = run_program(arguments, program)
    schedules_of = collections.defaultdict(list)
    for run in runs:
        for problem in dict.fromkeys(run.problems):
            schedules_of[problem].append(run.schedule.replace("seed ", ""))
    problems = ["%s: %s (%s)" % (program.name, problem, ", ".join(names))
                for problem, names in schedules_of.items()]
    cells = [program.name, " ".join(expectation), verdict_cell(runs),
             "WRONG" if problems else "right"]
    racecheck_right = False
    if with_racecheck(arguments):
        verdict = racecheck(program)
        racecheck_right = verdict == expectation[0]
        cells.append(verdict)
    return cells, problems, racecheck_right


def print_row(cells):
    print("| %-50s |" % cells[0], " | ".join(cells[1:]), "|", flush=True)


def print_header(arguments):
    header = ["program", "expected", "verdict on %d schedules" % len(schedules(arguments)), ""]
    header += ["racecheck"] if with_racecheck(arguments) else []
    print_row(header)
    print("|" + " --- |" * len(header))


def print_progress(done, programs):
    if sys.stderr.isatty():
        end = "\r" if done < len(programs) else "\n"
        print("%d of %d" % (done, len(programs)), end=end, file=sys.stderr, flush=True)


def print_scores(arguments, programs, right, racecheck_right):
    for folder in FOLDERS:
        names = [program.name for program in programs if program.folder == folder]
        if not names:
            continue
        print("%s: %d of %d right" % (TITLES[folder], len(right & set(names)), len(names)))
        if with_racecheck(arguments):
            print("%s, racecheck: %d of %d right" %
                  (TITLES[folder], len(racecheck_right & set(names)), len(names)))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default=".", help="programs whose name matches it")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "gpu"])
    parser.add_argument("--model", default="ptx", choices=MODELS)
    parser.add_argument("--seeds", type=int, default=20, help="the seeds 1 to N (0: none)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="of barracuda run, for each run: shuffle=blocks changes no verdict")
    parser.add_argument("--without-racecheck", action="store_true",
                        help="on a GPU: without compute-sanitizer beside, which takes most of the time")
    parser.add_argument("--jobs", type=int, default=2, help="programs at the same time")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    programs = find_programs(arguments)
    jobs = 1 if arguments.device == "gpu" else arguments.jobs
    right, racecheck_right, wrong = set(), set(), []
    print_header(arguments)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        rows = pool.map(lambda program: examine(arguments, program), programs)
        for done, (program, row) in enumerate(zip(programs, rows), 1):
            cells, problems, by_racecheck = row
            print_row(cells)
            print_progress(done, programs)
            wrong += problems
            right |= set() if problems else {program.name}
            racecheck_right |= {program.name} if by_racecheck else set()
    print_scores(arguments, programs, right, racecheck_right)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
